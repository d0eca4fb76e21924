/*
 * test_fatbin_made.c — fat binaries made by the test: which entry is taken, the messages for the
 * others, and each field of a header at its limit.
 */
#include "common/emu/ptx/binary.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PTX = 1, CUBIN = 2, LTO = 8, UNKNOWN = 5 };
enum { THIS_ARCH = 0x100000, THIS_FAMILY = 0x200000, LZ4 = 0x2000, ZSTD = 0x8000 };
enum { CONTAINER_HEADER = 16, ENTRY_HEADER = 64, PAYLOAD = 16, MOST = 4096 };

struct entry {
    unsigned kind, arch;
    uint64_t flags;
};

static unsigned char made[MOST];
static size_t made_size;

static void put(size_t at, uint64_t value, size_t bytes) { memcpy(made + at, &value, bytes); }

/* Where an entry begins: all have the same size. */
static size_t at_entry(size_t index) { return CONTAINER_HEADER + index * (ENTRY_HEADER + PAYLOAD); }

static void put_container(size_t entries)
{
    memset(made, 0, sizeof made);
    made_size = at_entry(entries);
    put(0, 0xBA55ED50, 4);
    put(6, CONTAINER_HEADER, 2);
    put(8, made_size - CONTAINER_HEADER, 8);
}

/* Stored text is "text 90" and zeros behind it. */
static void put_entry(size_t index, struct entry e)
{
    size_t at = at_entry(index);
    put(at, e.kind, 2);
    put(at + 4, ENTRY_HEADER, 4);
    put(at + 8, PAYLOAD, 8);
    put(at + 28, e.arch, 4);
    put(at + 40, e.flags, 8);
    snprintf((char *)made + at + ENTRY_HEADER, PAYLOAD, "text %u", e.arch);
}

static void make(const struct entry *entries, size_t count)
{
    put_container(count);
    for (size_t i = 0; i < count; i++) put_entry(i, entries[i]);
}

static char message[256];

/* The caller frees the text. */
static int extract_made(size_t limit, unsigned arch, struct fatbin_ptx *ptx)
{
    *message = '\0';
    *ptx = (struct fatbin_ptx){0};
    return fatbin_extract(made, limit, arch, ptx, message, sizeof message);
}

static void expect_damaged(const char *what)
{
    struct fatbin_ptx ptx;
    char sentence[200];
    snprintf(sentence, sizeof sentence, "the program's fat binary is damaged: %s", what);
    cr_expect_eq(extract_made(made_size, 90, &ptx), MALFORMED, "%s", what);
    cr_expect_str_eq(message, sentence);
}

/* ---- the choice of an entry ------------------------------------------------------------------ */

Test(fatbin_made, the_highest_that_runs_is_taken)
{
    static const struct entry entries[] = {
        {PTX, 75, 0},          {PTX, 90, THIS_ARCH},    {PTX, 80, 0},   {PTX, 100, THIS_FAMILY},
        {PTX, 103, THIS_ARCH}, {PTX, 120, THIS_FAMILY}, {CUBIN, 89, 0}, {LTO, 90, 0},
        {UNKNOWN, 90, 0},
    };
    static const struct {
        unsigned arch, taken; /* 0: none */
    } cases[] = {{70, 0},    {75, 75},  {79, 75},  {80, 80},   {89, 80},
                 {90, 90},   {91, 80},  {99, 80},  {100, 100}, {103, 103},
                 {104, 100}, {110, 80}, {119, 80}, {120, 120}, {129, 120}};
    make(entries, sizeof entries / sizeof *entries);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fatbin_ptx ptx;
        char text[20];
        int error = extract_made(made_size, cases[i].arch, &ptx);
        cr_expect_eq(error, cases[i].taken ? 0 : NO_KERNEL_IMAGE, "sm_%u", cases[i].arch);
        if (error) continue;
        snprintf(text, sizeof text, "text %u", cases[i].taken);
        cr_expect_str_eq(ptx.text, text, "sm_%u", cases[i].arch);
        cr_expect_eq(ptx.length, strlen(text), "the zeros behind it are no text");
        cr_expect_eq(ptx.arch, cases[i].taken);
        free(ptx.text);
    }
}

#define MACHINE_CODE " (sm_NN is machine code, which the emulator does not execute)"

Test(fatbin_made, what_there_is_instead)
{
    static const struct entry entries[] = {{PTX, 90, THIS_ARCH},
                                           {PTX, 100, THIS_FAMILY},
                                           {CUBIN, 90, 0},
                                           {UNKNOWN, 75, 0},
                                           {PTX, 120, 0}};
    static const struct entry lto = {LTO, 90, 0};
    struct fatbin_ptx ptx;
    make(entries, 5);
    cr_expect_eq(extract_made(made_size, 89, &ptx), NO_KERNEL_IMAGE);
    cr_expect_str_eq(message,
                     "the program holds no PTX for sm_89, but: compute_90a compute_100f sm_90 "
                     "other_75 compute_120" MACHINE_CODE "; compile it with -gencode "
                     "arch=compute_89,code=compute_89, or choose another model with "
                     "EMU_GPU");
    make(&lto, 1);
    cr_expect_eq(extract_made(made_size, 90, &ptx), NO_KERNEL_IMAGE);
    cr_expect_str_eq(message, "the program holds no PTX for sm_90, but: lto_90" MACHINE_CODE
                              "; compile it without -dlto, with -gencode "
                              "arch=compute_90,code=compute_90, or choose another model with "
                              "EMU_GPU");
    put_container(0);
    cr_expect_eq(extract_made(made_size, 90, &ptx), NO_KERNEL_IMAGE);
    cr_expect(strstr(message, "PTX for sm_90, but: no code" MACHINE_CODE "; compile it"), "%s",
              message);
}

Test(fatbin_made, machine_code)
{
    static const struct entry entries[] = {{CUBIN, 80, 0}, {PTX, 90, 0}, {CUBIN, 86, 0}};
    struct fatbin_code code;
    make(entries, 3);
    cr_assert(fatbin_machine_code(made, made_size, 90, &code));
    cr_expect(code.data == (const void *)(made + at_entry(2) + ENTRY_HEADER));
    cr_expect(code.size == PAYLOAD && code.arch == 86 && !code.allocated);
    cr_expect(fatbin_machine_code(made, made_size, 85, &code) && code.arch == 80);
    cr_expect(!fatbin_machine_code(made, made_size, 75, &code) && !code.data);
    cr_expect(!fatbin_machine_code(made, made_size - 1, 90, &code));
}

/* ---- headers --------------------------------------------------------------------------------- */

static const struct entry one = {PTX, 90, 0};

Test(fatbin_made, size)
{
    make(&one, 1);
    memset(made + made_size, 1, 100);
    cr_expect_eq(fatbin_size(made, made_size + 100), made_size);
    cr_expect_eq(fatbin_size(made, made_size), made_size);
    cr_expect_eq(fatbin_size(made, made_size - 1), 0);
    put_container(0);
    cr_expect_eq(fatbin_size(made, CONTAINER_HEADER), CONTAINER_HEADER);
    cr_expect_eq(fatbin_size(made, CONTAINER_HEADER - 1), 0);
}

Test(fatbin_made, headers_of_a_container)
{
    make(&one, 1);
    put(0, 0xBA55ED51, 4);
    expect_damaged("it does not begin as one");
    make(&one, 1);
    put(6, CONTAINER_HEADER - 1, 2);
    expect_damaged("it goes beyond its end");
    make(&one, 1);
    put(8, made_size - CONTAINER_HEADER + 1, 8);
    expect_damaged("it goes beyond its end");
    put(8, UINT64_MAX, 8);
    expect_damaged("it goes beyond its end");
    put(6, made_size + 1, 2);
    put(8, 0, 8);
    expect_damaged("it goes beyond its end");
    put(8, ENTRY_HEADER - 1, 8);
    put(6, CONTAINER_HEADER, 2);
    expect_damaged("an entry's header is cut off");
    made_size = CONTAINER_HEADER - 1;
    expect_damaged("it does not begin as one");
}

Test(fatbin_made, headers_of_an_entry)
{
    size_t at = at_entry(0);
    make(&one, 1);
    put(at + 4, ENTRY_HEADER - 1, 4);
    expect_damaged("an entry's header has an impossible size");
    put(at + 4, ENTRY_HEADER + PAYLOAD + 1, 4);
    expect_damaged("an entry's header has an impossible size");
    put(at + 4, ENTRY_HEADER + 1, 4);
    expect_damaged("an entry goes beyond the end");
    make(&one, 1);
    put(at + 8, PAYLOAD + 1, 8);
    expect_damaged("an entry goes beyond the end");
    put(at + 8, UINT64_MAX, 8);
    expect_damaged("an entry goes beyond the end");
    make(&one, 1);
    put(at + 16, PAYLOAD + 1, 4);
    expect_damaged("an entry is larger than its room");
}

/* A header may be longer than its known fields; the text follows it. */
Test(fatbin_made, a_longer_header_is_skipped)
{
    enum { MORE = 8 };
    struct fatbin_ptx ptx;
    make(&one, 1);
    put(at_entry(0) + 4, ENTRY_HEADER + MORE, 4);
    put(at_entry(0) + 8, PAYLOAD - MORE, 8);
    memcpy(made + at_entry(0) + ENTRY_HEADER + MORE, "a text", sizeof "a text");
    cr_assert_eq(extract_made(made_size, 90, &ptx), 0, "%s", message);
    cr_expect_str_eq(ptx.text, "a text");
    free(ptx.text);
}

/* ---- compression ----------------------------------------------------------------------------- */

static void put_packed(uint64_t flags, const char *bytes, size_t count, uint64_t text_size)
{
    struct entry e = {PTX, 90, flags};
    make(&e, 1);
    memset(made + at_entry(0) + ENTRY_HEADER, 0, PAYLOAD);
    memcpy(made + at_entry(0) + ENTRY_HEADER, bytes, count);
    put(at_entry(0) + 16, count, 4);
    put(at_entry(0) + 56, text_size, 8);
}

Test(fatbin_made, compressed_text)
{
    static const char abc[] = "\x30"
                              "abc"; /* LZ4: three letters as they are */
    struct fatbin_ptx ptx;
    put_packed(LZ4, abc, 4, 3);
    cr_assert_eq(extract_made(made_size, 90, &ptx), 0, "%s", message);
    cr_expect(ptx.length == 3 && !strcmp(ptx.text, "abc"));
    free(ptx.text);
    put_packed(LZ4, abc, 4, 4);
    expect_damaged("its PTX does not decompress (LZ4)");
    put_packed(ZSTD, abc, 4, 3);
    expect_damaged("its PTX does not decompress (zstd)");
    put_packed(0, abc, 4, 3);
    expect_damaged("its PTX is compressed in an unknown way");
}

/* 255 letters of a byte are the most that LZ4 can make; zstd can make 43 690. */
Test(fatbin_made, sizes_that_no_compression_reaches)
{
    put_packed(LZ4, "1234", 4, 4 * 255 + 254);
    expect_damaged("its PTX does not decompress (LZ4)");
    put_packed(LZ4, "1234", 4, 5 * 255);
    expect_damaged("its PTX has an impossible size");
    put_packed(ZSTD, "1234", 4, 5 * 43690 - 1);
    expect_damaged("its PTX does not decompress (zstd)");
    put_packed(ZSTD, "1234", 4, 5 * 43690);
    expect_damaged("its PTX has an impossible size");
}
