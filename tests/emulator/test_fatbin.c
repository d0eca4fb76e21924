/*
 * test_fatbin.c — taking PTX out of fat binaries that nvcc wrote, and out of damaged ones.
 *
 * Each one lies at the end of a page, before a page that must not be touched: reading a byte too
 * many is a crash.
 */
#define _GNU_SOURCE
#include "common/emu/ptx/binary.h"
#include "tests/fixtures/programs/programs.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MALFORMED = 218, NO_KERNEL_IMAGE = 209, OUT_OF_MEMORY = 2 };

/* Memory whose last byte is followed by a page that cannot be read. */
struct guarded {
    unsigned char *pages;
    size_t bytes; /* of the readable pages */
};

static struct guarded guarded_new(size_t at_least)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct guarded g = {.bytes = (at_least + page - 1) / page * page};
    g.pages =
        mmap(NULL, g.bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(g.pages != MAP_FAILED);
    cr_assert(mprotect(g.pages + g.bytes, page, PROT_NONE) == 0);
    return g;
}

/* Copies data to the end of the memory and returns where it begins there. */
static unsigned char *guarded_put(const struct guarded *g, const void *data, size_t size)
{
    return memcpy(g->pages + g->bytes - size, data, size);
}

/* A file of build/tests/programs. */
static unsigned char *read_file(const char *name, size_t *size)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", PROGRAMS, name);
    FILE *file = fopen(path, "rb");
    cr_assert(file != NULL, "cannot read %s", path);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *data = malloc(*size);
    cr_assert(fread(data, 1, *size, file) == *size);
    fclose(file);
    return data;
}

static const char *const files[] = {"zstd.fatbin", "lz4.fatbin", "stored.fatbin"};
enum { FILES = sizeof files / sizeof *files };

static int extract(const void *data, size_t size, unsigned arch, struct fatbin_ptx *ptx,
                   char message[256])
{
    message[0] = '\0';
    *ptx = (struct fatbin_ptx){0};
    return fatbin_extract(data, size, arch, ptx, message, 256);
}

Test(fatbin, every_compression_gives_the_same_text)
{
    char *first = NULL;
    for (int i = 0; i < FILES; i++) {
        size_t size;
        unsigned char *data = read_file(files[i], &size);
        struct fatbin_ptx ptx;
        char message[256];
        cr_assert(extract(data, size, 90, &ptx, message) == 0, "%s: %s", files[i], message);
        cr_assert(ptx.arch == 90);
        cr_assert(strlen(ptx.text) == ptx.length);
        cr_assert(strstr(ptx.text, ".target sm_90") != NULL);
        cr_assert(strstr(ptx.text, "twice") != NULL);
        /* Stored text begins with empty lines that compressed text does not have. */
        const char *text = ptx.text + strspn(ptx.text, "\n");
        if (first == NULL) first = strdup(text);
        cr_assert(strcmp(text, first) == 0, "%s differs", files[i]);
        free(ptx.text);
        free(data);
    }
    free(first);
}

/* The files hold PTX for 7.5 and for 9.0. */
Test(fatbin, takes_the_highest_that_runs)
{
    static const struct {
        unsigned model, taken;
    } cases[] = {{75, 75}, {80, 75}, {89, 75}, {90, 90}, {100, 90}};
    size_t size;
    unsigned char *data = read_file("zstd.fatbin", &size);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fatbin_ptx ptx;
        char message[256];
        cr_assert(extract(data, size, cases[i].model, &ptx, message) == 0, "%s", message);
        cr_assert(ptx.arch == cases[i].taken, "sm_%u takes %u", cases[i].model, ptx.arch);
        free(ptx.text);
    }
    free(data);
}

Test(fatbin, says_what_is_there_when_nothing_runs)
{
    size_t size;
    unsigned char *data = read_file("zstd.fatbin", &size);
    struct fatbin_ptx ptx;
    char message[256];
    cr_assert(extract(data, size, 70, &ptx, message) == NO_KERNEL_IMAGE);
    cr_assert(strstr(message, "compute_75") && strstr(message, "compute_90") &&
                  strstr(message, "sm_70"),
              "%s", message);
    free(data);
}

Test(fatbin, code_for_one_architecture_runs_on_no_other)
{
    size_t size;
    unsigned char *data = read_file("only90a.fatbin", &size);
    struct fatbin_ptx ptx;
    char message[256];
    cr_assert(extract(data, size, 90, &ptx, message) == 0, "%s", message);
    free(ptx.text);
    cr_assert(extract(data, size, 100, &ptx, message) == NO_KERNEL_IMAGE);
    cr_assert(strstr(message, "compute_90a"), "%s", message);
    free(data);
}

Test(fatbin, machine_code_alone_is_no_kernel_image)
{
    size_t size;
    unsigned char *data = read_file("cubin.fatbin", &size);
    struct fatbin_ptx ptx;
    char message[256];
    cr_assert(extract(data, size, 90, &ptx, message) == NO_KERNEL_IMAGE);
    cr_assert(strstr(message, "sm_90"), "%s", message);
    free(data);
}

/* A container that is cut at any byte is shorter than its header says. */
Test(fatbin, every_truncation_is_an_error)
{
    for (int i = 0; i < FILES; i++) {
        size_t size;
        unsigned char *data = read_file(files[i], &size);
        struct guarded memory = guarded_new(size);
        for (size_t cut = 0; cut < size; cut++) {
            struct fatbin_ptx ptx;
            char message[256];
            const unsigned char *part = guarded_put(&memory, data, cut);
            cr_assert(extract(part, cut, 90, &ptx, message) == MALFORMED, "%s cut at %zu", files[i],
                      cut);
            cr_assert(message[0] != '\0');
        }
        free(data);
    }
}

/* The same when the container's own length is cut too, so that entries are. */
Test(fatbin, every_truncated_entry_is_an_error)
{
    enum { LENGTH_FIELD = 8, HEADER = 16 };
    size_t size;
    unsigned char *data = read_file("zstd.fatbin", &size);
    struct guarded memory = guarded_new(size);
    int failures = 0;
    for (size_t cut = HEADER + 1; cut < size; cut++) {
        uint64_t entries = cut - HEADER;
        memcpy(data + LENGTH_FIELD, &entries, sizeof entries);
        struct fatbin_ptx ptx;
        char message[256];
        int error = extract(guarded_put(&memory, data, cut), cut, 90, &ptx, message);
        cr_assert(error == MALFORMED || error == 0, "cut at %zu: %d", cut, error);
        if (error == 0) free(ptx.text); /* cut between two entries: the first is whole */
        failures += error != 0;
    }
    cr_assert(failures >= (int)size - HEADER - 3, "%d of %zu", failures, size);
    free(data);
}

/* An entry of 500 bytes that promises 512 MiB is refused before anything is allocated for it. */
Test(fatbin, an_impossible_ratio_is_an_error)
{
    enum { FIRST_ENTRY = 16, TEXT_SIZE_FIELD = 56 };
    static const char *const packed[] = {"zstd.fatbin", "lz4.fatbin"};
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
        size_t size;
        unsigned char *data = read_file(packed[i], &size);
        uint64_t promised = UINT64_C(512) << 20;
        memcpy(data + FIRST_ENTRY + TEXT_SIZE_FIELD, &promised, sizeof promised);
        struct fatbin_ptx ptx;
        char message[256];
        cr_assert(extract(data, size, 75, &ptx, message) == MALFORMED, "%s", packed[i]);
        cr_assert(strstr(message, "impossible size"), "%s", message);
        free(data);
    }
}

Test(fatbin, no_flipped_bit_does_harm)
{
    for (int i = 0; i < FILES; i++) {
        size_t size;
        unsigned char *data = read_file(files[i], &size);
        struct guarded memory = guarded_new(size);
        unsigned char *copy = guarded_put(&memory, data, size);
        int errors = 0;
        for (size_t bit = 0; bit < 8 * size; bit++) {
            struct fatbin_ptx ptx;
            char message[256];
            copy[bit / 8] ^= (unsigned char)(1 << bit % 8);
            int error = extract(copy, size, 90, &ptx, message);
            copy[bit / 8] ^= (unsigned char)(1 << bit % 8);
            cr_assert(error == 0 || error == MALFORMED || error == NO_KERNEL_IMAGE ||
                          error == OUT_OF_MEMORY,
                      "%s, bit %zu: %d", files[i], bit, error);
            cr_assert((error == 0) == (ptx.text != NULL), "%s, bit %zu", files[i], bit);
            cr_assert((error == 0) == (message[0] == '\0'), "%s, bit %zu", files[i], bit);
            errors += error != 0;
            free(ptx.text);
        }
        cr_assert(errors > 0, "%s: no flipped bit is noticed", files[i]);
        free(data);
    }
}

/* ---- the LZ4 decoder alone ------------------------------------------------------------------- */

/* An LZ4 block, and the text that it becomes; NULL: the block is malformed. */
struct block {
    const char *what;
    size_t size;
    unsigned char bytes[24];
    const char *text;
};

static const struct block blocks[] = {
    {"literals only", 4, {0x30, 'a', 'b', 'c'}, "abc"},
    {"nothing", 1, {0x00}, ""},
    {"a match that repeats one byte", 6, {0x10, 'a', 1, 0, 0x10, 'b'}, "aaaaab"},
    {"a match of two bytes back", 7, {0x21, 'a', 'b', 2, 0, 0x10, 'c'}, "abababac"},
    {"a long match", 7, {0x1F, 'a', 1, 0, 3, 0x10, 'b'}, "aaaaaaaaaaaaaaaaaaaaaaab"},
    {"offset 0", 6, {0x10, 'a', 0, 0, 0x10, 'b'}, NULL},
    {"an offset before the beginning", 6, {0x10, 'a', 2, 0, 0x10, 'b'}, NULL},
    {"literals beyond the end", 3, {0x50, 'a', 'b'}, NULL},
    {"half an offset", 3, {0x10, 'a', 1}, NULL},
    {"a literal length without an end", 3, {0xF0, 0xFF, 0xFF}, NULL},
    {"a match length without an end", 5, {0x1F, 'a', 1, 0, 0xFF}, NULL},
};

Test(lz4, blocks)
{
    struct guarded from = guarded_new(1), to = guarded_new(1);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        const struct block *b = &blocks[i];
        size_t length = b->text != NULL ? strlen(b->text) : 64;
        unsigned char *in = guarded_put(&from, b->bytes, b->size);
        unsigned char *out = to.pages + to.bytes - length;
        bool good = lz4_decode(out, length, in, b->size);
        cr_assert(good == (b->text != NULL), "%s", b->what);
        cr_assert(!good || memcmp(out, b->text, length) == 0, "%s", b->what);
    }
}

/* The output must be filled exactly. */
Test(lz4, wrong_size)
{
    const struct block *b = &blocks[2];
    size_t length = strlen(b->text);
    struct guarded from = guarded_new(1), to = guarded_new(1);
    unsigned char *in = guarded_put(&from, b->bytes, b->size);
    for (size_t room = 0; room < 2 * length; room++)
        cr_assert(lz4_decode(to.pages + to.bytes - room, room, in, b->size) == (room == length),
                  "%zu", room);
}
