/*
 * test_fatbin.c — containers of machine code and PTX.
 */
#define _GNU_SOURCE
#include "common/tools/emu/ptx/binary.h"
#include "tests/support/command.h"
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- taking PTX out of fat binaries that nvcc wrote, and out of damaged ones ----------------- */

/* Each one lies at the end of a page, before a page that must not be touched: reading a byte too
 * many is a crash. */

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
static unsigned char *data;
static size_t size;

static void read_file(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", PROGRAMS, name);
    FILE *file = fopen(path, "rb");
    cr_assert(file != NULL, "cannot read %s", path);
    fseek(file, 0, SEEK_END);
    size = (size_t)ftell(file);
    rewind(file);
    free(data);
    data = malloc(size);
    cr_assert(fread(data, 1, size, file) == size);
    fclose(file);
}

static const char *const files[] = {"zstd.fatbin", "lz4.fatbin", "stored.fatbin"};
enum { FILES = sizeof files / sizeof *files };

/* What the last extraction gave. */
static struct fatbin_ptx ptx;
static char message[256];

static int extract(const void *from, size_t bytes, unsigned arch)
{
    free(ptx.text);
    ptx = (struct fatbin_ptx){0};
    message[0] = '\0';
    return fatbin_extract(from, bytes, arch, &ptx, message, sizeof message);
}

Test(fatbin, every_compression_gives_the_same_text)
{
    char *first = NULL;
    for (int i = 0; i < FILES; i++) {
        read_file(files[i]);
        cr_assert(extract(data, size, 90) == 0, "%s: %s", files[i], message);
        cr_assert(ptx.arch == 90);
        cr_assert(strlen(ptx.text) == ptx.length);
        cr_assert(strstr(ptx.text, ".target sm_90") != NULL);
        cr_assert(strstr(ptx.text, "twice") != NULL);
        /* Stored text begins with empty lines that compressed text does not have. */
        const char *text = ptx.text + strspn(ptx.text, "\n");
        if (first == NULL) first = strdup(text);
        cr_assert(strcmp(text, first) == 0, "%s differs", files[i]);
    }
    free(first);
}

Test(fatbin, what_is_taken_or_said)
{
    static const struct {
        const char *file;
        unsigned arch;
        int error;
        unsigned taken;
        const char *says[3];
    } cases[] = {
        {"zstd.fatbin", 70, NO_KERNEL_IMAGE, 0, {"compute_75", "compute_90", "sm_70"}},
        {"zstd.fatbin", 89, 0, 75, {"", "", ""}},
        {"zstd.fatbin", 100, 0, 90, {"", "", ""}},
        {"only90a.fatbin", 90, 0, 90, {"", "", ""}},
        {"only90a.fatbin", 100, NO_KERNEL_IMAGE, 0, {"compute_90a", "", ""}},
        {"cubin.fatbin", 90, NO_KERNEL_IMAGE, 0, {"sm_90", "", ""}}, /* machine code alone */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        read_file(cases[i].file);
        cr_expect_eq(extract(data, size, cases[i].arch), cases[i].error, "%s", cases[i].file);
        for (int k = 0; k < 3; k++) cr_expect(strstr(message, cases[i].says[k]), "%s", message);
        cr_expect_eq(ptx.arch, cases[i].taken, "%s", cases[i].file);
    }
}

/* A container that is cut at any byte is shorter than its header says. */
Test(fatbin, every_truncation_is_an_error)
{
    for (int i = 0; i < FILES; i++) {
        read_file(files[i]);
        struct guarded memory = guarded_new(size);
        for (size_t cut = 0; cut < size; cut++) {
            const unsigned char *part = guarded_put(&memory, data, cut);
            cr_assert(extract(part, cut, 90) == MALFORMED, "%s cut at %zu", files[i], cut);
            cr_assert(message[0] != '\0');
        }
    }
}

/* The same when the container's own length is cut too, so that entries are. */
Test(fatbin, every_truncated_entry_is_an_error)
{
    enum { LENGTH_FIELD = 8, HEADER = 16 };
    read_file("zstd.fatbin");
    struct guarded memory = guarded_new(size);
    int failures = 0;
    for (size_t cut = HEADER + 1; cut < size; cut++) {
        uint64_t entries = cut - HEADER;
        memcpy(data + LENGTH_FIELD, &entries, sizeof entries);
        int error = extract(guarded_put(&memory, data, cut), cut, 90);
        /* 0: cut between two entries; the first is whole */
        cr_assert(error == MALFORMED || error == 0, "cut at %zu: %d", cut, error);
        failures += error != 0;
    }
    cr_assert(failures >= (int)size - HEADER - 3, "%d of %zu", failures, size);
}

Test(fatbin, no_flipped_bit_does_harm)
{
    for (int i = 0; i < FILES; i++) {
        read_file(files[i]);
        struct guarded memory = guarded_new(size);
        unsigned char *copy = guarded_put(&memory, data, size);
        int errors = 0;
        for (size_t bit = 0; bit < 8 * size; bit++) {
            copy[bit / 8] ^= (unsigned char)(1 << bit % 8);
            int error = extract(copy, size, 90);
            copy[bit / 8] ^= (unsigned char)(1 << bit % 8);
            cr_assert(error == 0 || error == MALFORMED || error == NO_KERNEL_IMAGE ||
                          error == OUT_OF_MEMORY,
                      "%s, bit %zu: %d", files[i], bit, error);
            cr_assert((error == 0) == (ptx.text != NULL), "%s, bit %zu", files[i], bit);
            cr_assert((error == 0) == (message[0] == '\0'), "%s, bit %zu", files[i], bit);
            errors += error != 0;
        }
        cr_assert(errors > 0, "%s: no flipped bit is noticed", files[i]);
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

/* ---- fat binaries made by the test ----------------------------------------------------------- */

/* Which entry is taken, the messages for the others, and each field of a header at its limit. */

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

static void expect_damaged(const char *what)
{
    char sentence[200];
    snprintf(sentence, sizeof sentence, "the program's fat binary is damaged: %s", what);
    cr_expect_eq(extract(made, made_size, 90), MALFORMED, "%s", what);
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
        char text[20];
        int error = extract(made, made_size, cases[i].arch);
        cr_expect_eq(error, cases[i].taken ? 0 : NO_KERNEL_IMAGE, "sm_%u", cases[i].arch);
        if (error) continue;
        snprintf(text, sizeof text, "text %u", cases[i].taken);
        cr_expect_str_eq(ptx.text, text, "sm_%u", cases[i].arch);
        cr_expect_eq(ptx.length, strlen(text), "the zeros behind it are no text");
        cr_expect_eq(ptx.arch, cases[i].taken);
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
    make(entries, 5);
    cr_expect_eq(extract(made, made_size, 89), NO_KERNEL_IMAGE);
    cr_expect_str_eq(message,
                     "the program holds no PTX for sm_89, but: compute_90a compute_100f sm_90 "
                     "other_75 compute_120" MACHINE_CODE "; compile it with -gencode "
                     "arch=compute_89,code=compute_89, or choose another model with "
                     "EMU_GPU");
    make(&lto, 1);
    cr_expect_eq(extract(made, made_size, 90), NO_KERNEL_IMAGE);
    cr_expect_str_eq(message, "the program holds no PTX for sm_90, but: lto_90" MACHINE_CODE
                              "; compile it without -dlto, with -gencode "
                              "arch=compute_90,code=compute_90, or choose another model with "
                              "EMU_GPU");
    put_container(0);
    cr_expect_eq(extract(made, made_size, 90), NO_KERNEL_IMAGE);
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

/* Fields that are changed, one after the other; some rows begin with a right file. */
Test(fatbin_made, headers)
{
    enum { SIZE = CONTAINER_HEADER + ENTRY_HEADER + PAYLOAD, AT = CONTAINER_HEADER };
    static const char no_container[] = "it does not begin as one",
                      beyond[] = "it goes beyond its end",
                      impossible[] = "an entry's header has an impossible size",
                      entry_beyond[] = "an entry goes beyond the end";
    static const struct {
        bool begins;
        size_t at;
        uint64_t value;
        size_t bytes;
        const char *says;
    } fields[] = {
        {true, 0, 0xBA55ED51, 4, no_container},
        {true, 6, CONTAINER_HEADER - 1, 2, beyond},
        {true, 8, SIZE - CONTAINER_HEADER + 1, 8, beyond},
        {false, 8, UINT64_MAX, 8, beyond},
        {false, 6, SIZE + 1, 2, NULL},
        {false, 8, 0, 8, beyond},
        {false, 8, ENTRY_HEADER - 1, 8, NULL},
        {false, 6, CONTAINER_HEADER, 2, "an entry's header is cut off"},
        {true, AT + 4, ENTRY_HEADER - 1, 4, impossible},
        {false, AT + 4, ENTRY_HEADER + PAYLOAD + 1, 4, impossible},
        {false, AT + 4, ENTRY_HEADER + 1, 4, entry_beyond},
        {true, AT + 8, PAYLOAD + 1, 8, entry_beyond},
        {false, AT + 8, UINT64_MAX, 8, entry_beyond},
        {true, AT + 16, PAYLOAD + 1, 4, "an entry is larger than its room"},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (fields[i].begins) make(&one, 1);
        put(fields[i].at, fields[i].value, fields[i].bytes);
        if (fields[i].says) expect_damaged(fields[i].says);
    }
    made_size = CONTAINER_HEADER - 1;
    expect_damaged(no_container);
}

/* A header may be longer than its known fields; the text follows it. */
Test(fatbin_made, a_longer_header_is_skipped)
{
    enum { MORE = 8 };
    make(&one, 1);
    put(at_entry(0) + 4, ENTRY_HEADER + MORE, 4);
    put(at_entry(0) + 8, PAYLOAD - MORE, 8);
    memcpy(made + at_entry(0) + ENTRY_HEADER + MORE, "a text", sizeof "a text");
    cr_assert_eq(extract(made, made_size, 90), 0, "%s", message);
    cr_expect_str_eq(ptx.text, "a text");
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
    put_packed(LZ4, abc, 4, 3);
    cr_assert_eq(extract(made, made_size, 90), 0, "%s", message);
    cr_expect(ptx.length == 3 && !strcmp(ptx.text, "abc"));
    /* 255 letters of a byte are the most that LZ4 can make; zstd can make 43 690. An entry that
     * promises more is refused before anything is allocated for it. */
    static const struct {
        uint64_t flags, text_size;
        const char *says;
    } damaged[] = {
        {LZ4, 4, "its PTX does not decompress (LZ4)"},
        {ZSTD, 3, "its PTX does not decompress (zstd)"},
        {0, 3, "its PTX is compressed in an unknown way"},
        {LZ4, 4 * 255 + 254, "its PTX does not decompress (LZ4)"},
        {LZ4, 5 * 255, "its PTX has an impossible size"},
        {ZSTD, 5 * 43690 - 1, "its PTX does not decompress (zstd)"},
        {ZSTD, 5 * 43690, "its PTX has an impossible size"},
    };
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        put_packed(damaged[i].flags, abc, 4, damaged[i].text_size);
        expect_damaged(damaged[i].says);
    }
}

/* ---- the reader of ELF files, on small files made here, whole and damaged -------------------- */

/* A file with the sections "", ".names", ".text.scan", ".bss" and one whose name has no end. */
enum { NAMES = 1, TEXT, BSS, ENDLESS, SECTIONS };
static const char names[] = "\0.names\0.text.scan\0.bss\0endless";
enum { AT_TEXT_NAME = 8, AT_BSS_NAME = 19, AT_ENDLESS_NAME = 24 };

static struct {
    Elf64_Ehdr header;
    Elf64_Shdr sections[SECTIONS];
    char names[sizeof names - 1]; /* without the last one's end */
    char code[16];
} file;

#define OFFSET(member) ((size_t)((char *)&file.member - (char *)&file))

static void make_file(void)
{
    memcpy(file.header.e_ident, ELFMAG, SELFMAG);
    file.header.e_ident[EI_CLASS] = ELFCLASS64;
    file.header.e_type = ET_DYN;
    file.header.e_machine = EM_X86_64;
    file.header.e_shentsize = sizeof(Elf64_Shdr);
    file.header.e_shnum = SECTIONS;
    file.header.e_shoff = OFFSET(sections);
    file.header.e_shstrndx = NAMES;
    file.sections[NAMES] =
        (Elf64_Shdr){.sh_name = 1, .sh_offset = OFFSET(names), .sh_size = sizeof file.names};
    file.sections[TEXT] = (Elf64_Shdr){
        .sh_name = AT_TEXT_NAME, .sh_offset = OFFSET(code), .sh_size = sizeof file.code};
    file.sections[BSS] =
        (Elf64_Shdr){.sh_name = AT_BSS_NAME, .sh_type = SHT_NOBITS, .sh_size = sizeof file.code};
    file.sections[ENDLESS] = (Elf64_Shdr){.sh_name = AT_ENDLESS_NAME};
    memcpy(file.names, names, sizeof file.names);
}

TestSuite(elf_file, .init = make_file);

static struct elf read_elf(void)
{
    struct elf elf;
    cr_assert_eq(elf_read(&elf, &file, sizeof file), ELF_FINE);
    return elf;
}

/* Also at an odd address. */
Test(elf_file, sections_by_name)
{
    char *moved = malloc(sizeof file + 1);
    memcpy(moved + 1, &file, sizeof file);
    const void *const places[] = {&file, moved + 1};
    for (int i = 0; i < 2; i++) {
        struct elf elf;
        size_t size;
        cr_assert_eq(elf_read(&elf, places[i], sizeof file), ELF_FINE);
        cr_expect(elf.type == ET_DYN && elf.machine == EM_X86_64);
        cr_expect_eq(elf_find(&elf, ".text.", "scan"), TEXT);
        cr_expect_eq(elf_find(&elf, "", ".text.scan"), TEXT);
        cr_expect_eq(elf_find(&elf, ".text.", "sca"), 0);
        cr_expect_eq(elf_content(&elf, TEXT, &size), elf.data + OFFSET(code));
        cr_expect_eq(size, sizeof file.code);
        cr_expect_eq(elf_header(&elf, TEXT).sh_name, AT_TEXT_NAME);
        cr_expect_str_eq(elf_string(&elf, NAMES, AT_BSS_NAME), ".bss");
    }
    free(moved);
}

Test(elf_file, what_has_no_content_is_not_found)
{
    struct elf elf = read_elf();
    size_t size = 1;
    cr_expect_null(elf_content(&elf, BSS, &size));
    cr_expect_eq(size, 0);
    cr_expect_eq(elf_find(&elf, "", ".bss"), 0);
    cr_expect_null(elf_content(&elf, 0, &size));
    cr_expect_null(elf_content(&elf, SECTIONS, &size));
    cr_expect_str_empty(elf_string(&elf, NAMES, sizeof file.names));
    cr_expect_str_empty(elf_string(&elf, NAMES, AT_ENDLESS_NAME), "a string without an end");
    cr_expect_str_empty(elf_string(&elf, SECTIONS, 0));
}

Test(elf_file, contents_beyond_the_end_are_not_found)
{
    static const Elf64_Off offsets[] = {sizeof file - 15, sizeof file + 1, UINT64_MAX - 3};
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        file.sections[TEXT].sh_offset = offsets[i];
        struct elf elf = read_elf();
        cr_expect_eq(elf_find(&elf, ".text.", "scan"), 0, "case %zu", i);
    }
}

Test(elf_file, what_is_no_elf_file)
{
    struct elf elf;
    cr_expect_eq(elf_read(&elf, &file, sizeof file.header - 1), ELF_TOO_SHORT);
    size_t all = OFFSET(sections) + sizeof file.sections;
    cr_expect_eq(elf_read(&elf, &file, all), ELF_FINE);
    cr_expect_eq(elf_read(&elf, &file, all - 1), ELF_DAMAGED_TABLE);
    file.header.e_shentsize--;
    cr_expect_eq(elf_read(&elf, &file, sizeof file), ELF_DAMAGED_TABLE);
    file.header.e_ident[EI_CLASS] = ELFCLASS32;
    cr_expect_eq(elf_read(&elf, &file, sizeof file), ELF_OTHER_FORMAT);
    file.header.e_ident[EI_CLASS] = ELFCLASS64;
    file.header.e_ident[0] = 0;
    cr_expect_eq(elf_read(&elf, &file, sizeof file), ELF_OTHER_FORMAT);
}
