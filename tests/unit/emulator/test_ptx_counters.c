/*
 * test_ptx_counters.c — bank conflicts, sectors and the other counts, compared with a model that
 * examines every byte of every lane; clocks that are computed from a seed; the trace of accesses.
 *
 * The model restates the rule measured on an H200: a group of lanes needs as many wavefronts as its
 * busiest bank has distinct words; groups are the warp, its halves (8 bytes a lane) or its quarters
 * (16); loads whose neighbouring lanes agree merge their groups in pairs; stores never do.
 */
#define _GNU_SOURCE
#include "tests/cases/ptx/ptx_run.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 32, BANKS = 32, WORD = 4, SECTOR = 32 };

/* ---- the model ------------------------------------------------------------------------------- */

static bool active(uint32_t mask, unsigned lane) { return mask >> lane & 1; }

/* Whether every active lane's partner, `distance` away, is inactive or has the same address. */
static bool partners_agree(uint32_t mask, const uint64_t *address, unsigned distance)
{
    for (unsigned n = 0; n < LANES; n++)
        if (active(mask, n) && active(mask, n ^ distance) && address[n] != address[n ^ distance])
            return false;
    return true;
}

/* Wavefronts of the lanes first … first + count - 1; 0 if none is active. */
static unsigned group_wavefronts(uint32_t mask, const uint64_t *address, unsigned bytes,
                                 unsigned first, unsigned count)
{
    unsigned busiest = 0;
    for (unsigned bank = 0; bank < BANKS; bank++) {
        uint64_t words[LANES * 16];
        unsigned distinct = 0;
        for (unsigned n = first; n < first + count; n++)
            for (unsigned b = 0; active(mask, n) && b < bytes; b++) {
                uint64_t word = (address[n] + b) / WORD;
                bool known = word % BANKS != bank;
                for (unsigned i = 0; i < distinct; i++) known |= words[i] == word;
                if (!known) words[distinct++] = word;
            }
        if (distinct > busiest) busiest = distinct;
    }
    return busiest;
}

/* Are there several active lanes, and all at one address? */
static bool has_one_address(uint32_t mask, const uint64_t *address)
{
    uint64_t first = 0;
    unsigned lanes = 0;
    for (unsigned n = 0; n < LANES; n++) {
        if (!active(mask, n)) continue;
        if (lanes++ == 0) first = address[n];
        if (address[n] != first) return false;
    }
    return lanes > 1;
}

static struct emu_shared model_shared(uint32_t mask, const uint64_t *address, unsigned bytes,
                                      bool load)
{
    struct emu_shared want = {.instructions = mask != 0};
    unsigned groups = bytes <= 4 ? 1 : bytes / 4;
    if (load && groups > 1 &&
        (partners_agree(mask, address, 1) || partners_agree(mask, address, 2)))
        groups /= 2;
    for (unsigned g = 0; g < groups; g++) {
        unsigned lanes = LANES / groups;
        unsigned wavefronts = group_wavefronts(mask, address, bytes, g * lanes, lanes);
        want.wavefronts += wavefronts;
        want.ideal += wavefronts > 0;
    }
    want.one_address = has_one_address(mask, address);
    return want;
}

static struct emu_global model_global(uint32_t mask, const uint64_t *address, unsigned bytes)
{
    struct emu_global want = {.requests = mask != 0};
    uint64_t sectors[LANES * 16];
    for (unsigned n = 0; n < LANES; n++)
        for (unsigned b = 0; active(mask, n) && b < bytes; b++) {
            uint64_t sector = (address[n] + b) / SECTOR;
            bool known = false;
            for (unsigned i = 0; i < want.sectors; i++) known |= sectors[i] == sector;
            if (!known) sectors[want.sectors++] = sector;
            want.bytes++;
        }
    return want;
}

/* The rule as the facts give it: 32 lanes on one 8-byte word; even lanes on consecutive ones. */
Test(emu_counters, the_model_gives_the_measured_values)
{
    uint64_t address[LANES];
    for (unsigned n = 0; n < LANES; n++) address[n] = 0;
    struct emu_shared s = model_shared(0xffffffff, address, 8, true);
    cr_expect(s.wavefronts == 1 && s.ideal == 1);
    for (unsigned n = 0; n < LANES; n++) address[n] = n * 8;
    s = model_shared(0x55555555, address, 8, true);
    cr_expect(s.wavefronts == 2 && s.ideal == 1);
    s = model_shared(0xffffffff, address, 8, true);
    cr_expect(s.wavefronts == 2 && s.ideal == 2);
    s = model_shared(0xffffffff, address, 8, false);
    cr_expect(s.wavefronts == 2 && s.ideal == 2);
}

/* ---- the kernel ------------------------------------------------------------------------------ */

/* Each access has its own source line: 10, 11, … in this order. */
static const struct access {
    const char *text;
    unsigned bytes;
    bool load;
} accesses[] = {
    {"ld.%s.u8 %%h0, [%%a1];", 1, true},
    {"ld.%s.u16 %%h0, [%%a2];", 2, true},
    {"ld.%s.f32 %%f0, [%%a4];", 4, true},
    {"ld.%s.v2.u16 {%%h0, %%h1}, [%%a4];", 4, true},
    {"ld.%s.u64 %%l0, [%%a8];", 8, true},
    {"ld.%s.v2.u32 {%%r0, %%r1}, [%%a8];", 8, true},
    {"ld.%s.v4.f32 {%%f0, %%f1, %%f2, %%f3}, [%%a16];", 16, true},
    {"ld.%s.v2.u64 {%%l0, %%l1}, [%%a16];", 16, true},
    {"st.%s.u8 [%%a1], %%h0;", 1, false},
    {"st.%s.u16 [%%a2], %%h0;", 2, false},
    {"st.%s.f32 [%%a4], %%f0;", 4, false},
    {"st.%s.u64 [%%a8], %%l0;", 8, false},
    {"st.%s.v2.u32 [%%a8], {%%r0, %%r1};", 8, false},
    {"st.%s.v4.u32 [%%a16], {%%r0, %%r1, %%r2, %%r3};", 16, false},
    {"st.%s.v2.f64 [%%a16], {%%d0, %%d1};", 16, false},
};

enum {
    ACCESSES = sizeof accesses / sizeof *accesses,
    FIRST_LINE = 10,
    ELEMENTS = 256, /* a pattern's indices lie below */
    SPACE_BYTES = ELEMENTS * 16,
};

/* Lane n accesses element pattern[n] of its width, if bit n of pattern[32] is set. `space` is
 * shared, global, or empty for a generic address of shared memory. */
static char *pattern_kernel(const char *space)
{
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    cr_assert(f);
    bool global = !strcmp(space, "global");
    fprintf(f, "%s%s\n.visible .entry k(.param .u64 p_area, .param .u64 p_pattern) {\n", PTX_HEADER,
            ".shared .align 128 .b8 area[4096];");
    fputs(".reg .pred %p<2>;\n.reg .b16 %h<4>;\n.reg .b32 %r<8>;\n.reg .f32 %f<4>;\n"
          ".reg .f64 %d<2>;\n.reg .b64 %l<4>, %base, %pattern, %a1, %a2, %a4, %a8, %a16;\n"
          ".reg .b32 %index, %mask, %lane;\n.loc 1 1 0\n",
          f);
    fprintf(f, "ld.param.u64 %%pattern, [p_pattern];\n%s\n",
            global ? "ld.param.u64 %base, [p_area];" : "mov.u64 %base, area;");
    if (!*space) fputs("cvta.shared.u64 %base, %base;\n", f);
    fputs("mov.u32 %lane, %laneid;\nld.global.u32 %mask, [%pattern+128];\n"
          "mad.wide.u32 %pattern, %lane, 4, %pattern;\nld.global.u32 %index, [%pattern];\n"
          "shr.u32 %mask, %mask, %lane;\nand.b32 %mask, %mask, 1;\nsetp.ne.u32 %p0, %mask, 0;\n",
          f);
    for (unsigned bytes = 1; bytes <= 16; bytes *= 2)
        fprintf(f, "mad.wide.u32 %%a%u, %%index, %u, %%base;\n", bytes, bytes);
    for (unsigned i = 0; i < ACCESSES; i++) {
        fprintf(f, ".loc 1 %u 0\n@%%p0 ", FIRST_LINE + i);
        /* "ld.%s.u8": without a space the dot before it goes as well. */
        const char *t = accesses[i].text;
        if (*space) {
            fprintf(f, t, space); /* the texts of the table are formats on purpose */
        } else {
            fprintf(f, "%.2s", t);
            fprintf(f, t + 5, "");
        }
        fputc('\n', f);
    }
    fputs(".loc 1 1 0\nret;\n}\n.file 1 \"pattern.cu\"\n", f);
    fclose(f);
    return text;
}

/* ---- patterns -------------------------------------------------------------------------------- */

static const uint32_t masks[] = {0xffffffff, 0x55555555, 0xaaaaaaaa, 0x33333333, 0xcccccccc,
                                 0x0000ffff, 0xffff0000, 0x00ff00ff, 0x000000ff, 0x11111111,
                                 0x00000001, 0x80000000, 0x80000001, 0x0f0f0f0f};

enum { KINDS = 10, PATTERNS = 600 };

/* pattern[0 … 31] indices, pattern[32] the mask (never empty). */
static void make_pattern(unsigned number, uint64_t *seed, uint32_t pattern[LANES + 1])
{
    uint32_t a = (uint32_t)(next_random(seed) % 8), b = (uint32_t)(next_random(seed) % 64);
    uint32_t range = 1u << next_random(seed) % 9;
    for (unsigned n = 0; n < LANES; n++) {
        uint32_t random = (uint32_t)next_random(seed), i = 0;
        switch (number % KINDS) {
        case 0: i = b + n * a; break;                      /* strided */
        case 1: i = random % range; break;                 /* random, in a small or large range */
        case 2: i = b; break;                              /* broadcast */
        case 3: i = b + n / 2; break;                      /* neighbours agree */
        case 4: i = b + (n & ~2u); break;                  /* second neighbours agree */
        case 5: i = b + (n ^ a); break;                    /* permuted */
        case 6: i = (n * 32 + a) % ELEMENTS; break;        /* one bank, or few */
        case 7: i = b + (LANES - n) * 2; break;            /* backwards, by two */
        case 8: i = b + (n & ~1u) * a; break;              /* pairs, strided */
        case 9: i = n % 4 ? b + n : random % range; break; /* nearly in order */
        }
        pattern[n] = i % ELEMENTS;
    }
    uint64_t choice = next_random(seed);
    unsigned known = sizeof masks / sizeof *masks;
    pattern[LANES] = choice % 3 ? masks[choice / 3 % known] : (uint32_t)(choice >> 32) | 1;
}

static const struct emu_counts *line_counts(struct emu *emu, unsigned line)
{
    static const struct emu_counts none;
    const struct emu_launch_record *record = emu_record(emu, emu_records(emu) - 1);
    for (size_t i = 0; i < record->line_count; i++)
        if (record->lines[i].line == line) return &record->lines[i].counts;
    return &none;
}

static bool same_shared(const struct emu_shared *a, const struct emu_shared *b)
{
    return a->instructions == b->instructions && a->wavefronts == b->wavefronts &&
           a->ideal == b->ideal && a->one_address == b->one_address;
}

static bool same_global(const struct emu_global *a, const struct emu_global *b)
{
    return a->requests == b->requests && a->sectors == b->sectors && a->bytes == b->bytes;
}

/* The lines' counts add up to the total, and come in order. */
static void expect_lines(const struct emu_launch_record *r)
{
    struct emu_counts sum = {0};
    for (size_t i = 0; i < r->line_count; i++) {
        const struct emu_counts *c = &r->lines[i].counts;
        cr_expect(!strcmp(r->lines[i].file, "pattern.cu"), "file %s", r->lines[i].file);
        cr_expect(i == 0 || r->lines[i].line > r->lines[i - 1].line, "out of order");
        sum.instructions += c->instructions;
        sum.lanes += c->lanes;
        sum.shared_ld.wavefronts += c->shared_ld.wavefronts;
        sum.shared_st.ideal += c->shared_st.ideal;
        sum.global_ld.sectors += c->global_ld.sectors;
    }
    cr_expect(r->line_count == ACCESSES + 1, "%zu lines", r->line_count);
    cr_expect(sum.instructions == r->total.instructions && sum.lanes == r->total.lanes);
    cr_expect(sum.shared_ld.wavefronts == r->total.shared_ld.wavefronts);
    cr_expect(sum.shared_st.ideal == r->total.shared_st.ideal);
    cr_expect(sum.global_ld.sectors == r->total.global_ld.sectors && sum.global_ld.sectors > 0);
}

/* Every access of every pattern is counted as the model counts it, and nowhere else. */
static void check_patterns(const char *space)
{
    struct emu *emu = open_emu();
    bool is_global = !strcmp(space, "global");
    char *text = pattern_kernel(space);
    struct emu_kernel *kernel = load_kernel(emu, text, "k");
    emu_addr area = device_copy(emu, NULL, SPACE_BYTES + 16);
    emu_addr pattern_device = device_copy(emu, NULL, (LANES + 1) * 4);
    uint64_t seed = is_global ? 43 : 42;
    emu_count(emu, true);
    for (unsigned p = 0; p < PATTERNS; p++) {
        uint32_t pattern[LANES + 1];
        make_pattern(p, &seed, pattern);
        /* aligned for all widths, but not to a sector */
        uint64_t base = is_global ? area + p % 2 * 16 : 0;
        emu_forget(emu);
        cr_assert(!emu_write(emu, pattern_device, pattern, sizeof pattern));
        cr_assert(!launch(emu, kernel, 1, LANES, 0, 2, (uint64_t[]){base, pattern_device}), "%s",
                  emu_message(emu));
        expect_lines(emu_record(emu, 0));
        for (unsigned i = 0; i < ACCESSES; i++) {
            const struct access *a = &accesses[i];
            uint64_t address[LANES];
            for (unsigned n = 0; n < LANES; n++) address[n] = base + pattern[n] * a->bytes;
            struct emu_counts want = {0};
            if (is_global)
                *(a->load ? &want.global_ld : &want.global_st) =
                    model_global(pattern[LANES], address, a->bytes);
            else
                *(a->load ? &want.shared_ld : &want.shared_st) =
                    model_shared(pattern[LANES], address, a->bytes, a->load);
            const struct emu_counts *got = line_counts(emu, FIRST_LINE + i);
            cr_expect(same_shared(&got->shared_ld, &want.shared_ld) &&
                          same_shared(&got->shared_st, &want.shared_st),
                      "%s, pattern %u (kind %u, mask %08x): %llu wavefronts, want %llu", a->text, p,
                      p % KINDS, pattern[LANES],
                      (unsigned long long)(got->shared_ld.wavefronts + got->shared_st.wavefronts),
                      (unsigned long long)(want.shared_ld.wavefronts + want.shared_st.wavefronts));
            cr_expect(same_global(&got->global_ld, &want.global_ld) &&
                          same_global(&got->global_st, &want.global_st),
                      "%s, pattern %u (kind %u, mask %08x): %llu sectors, want %llu", a->text, p,
                      p % KINDS, pattern[LANES],
                      (unsigned long long)(got->global_ld.sectors + got->global_st.sectors),
                      (unsigned long long)(want.global_ld.sectors + want.global_st.sectors));
        }
    }
    free(text);
    emu_close(emu);
}

Test(emu_counters, shared_wavefronts) { check_patterns("shared"); }
Test(emu_counters, shared_wavefronts_of_generic_addresses) { check_patterns(""); }
Test(emu_counters, global_sectors) { check_patterns("global"); }

/* ---- records --------------------------------------------------------------------------------- */

Test(emu_counters, records)
{
    struct emu *emu = open_emu();
    struct emu_kernel *kernel = load_kernel(
        emu,
        PTX_KERNEL("k", ".shared .align 4 .b8 s[40];\nmov.u64 %l0, s;\nst.shared.u32 [%l0], 1;\n"
                        "ret;\n"),
        "k");
    uint64_t args[] = {0, 0};
    cr_expect(!emu_count(emu, false));
    cr_assert(!launch(emu, kernel, 1, 32, 0, 2, args), "%s", emu_message(emu));
    cr_expect(emu_records(emu) == 0, "a launch that was not to be counted is");
    cr_expect(!emu_count(emu, true) && emu_count(emu, true));
    cr_assert(!launch(emu, kernel, 3, 33, 100, 2, args));
    cr_assert(!launch(emu, kernel, 1, 1, 0, 2, args));
    cr_assert(emu_records(emu) == 2);

    const struct emu_launch_record *r = emu_record(emu, 0);
    cr_expect(!strcmp(r->kernel, "k") && r->grid.x == 3 && r->grid.y == 1 && r->grid.z == 1);
    cr_expect(r->block.x == 33 && r->dynamic_shared == 100 && r->static_shared == 40);
    cr_expect(r->seconds >= 0 && r->seconds < 60);
    cr_expect(r->total.shared_st.instructions == 3 * 2);
    cr_expect(r->line_count == 0, "lines without -lineinfo");
    cr_expect(emu_record(emu, 1)->id == r->id + 1);
    emu_forget(emu);
    cr_expect(emu_records(emu) == 0);
    emu_close(emu);
}

/* ---- the limit on instructions --------------------------------------------------------------- */

/* Block 1 waits for block 0, which has no place. It is a deadlock, and no loop without an end. */
Test(emu_limits, instructions_of_blocks_that_only_wait_are_a_deadlock)
{
    static const char waits[] = PTX_KERNEL(
        "waits",
        "mov.u32 %r0, %ctaid.x;\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 bra STORE;\nNEXT:\n"
        "ld.param.u64 %in, [p_in];\nld.volatile.global.u32 %r1, [%in];\nsetp.eq.u32 %p1, %r1, 0;\n"
        "@%p1 bra NEXT;\nret;\nSTORE:\nld.param.u64 %in, [p_in];\nst.volatile.global.u32 [%in], "
        "1;\nret;\n");
    struct emu_gpu gpu = *emu_gpu_at(0);
    gpu.sms = gpu.blocks_per_sm = 1;
    struct emu_config config = {.gpu = &gpu,
                                .memory = 1 << 20,
                                .threads = 1,
                                .instruction_limit = 1000000,
                                .descending = true};
    struct emu *emu = open_emu_with(&config);
    struct emu_kernel *kernel = load_kernel(emu, waits, "waits");
    emu_addr out = device_copy(emu, NULL, 4);
    uint64_t args[] = {out, out};
    cr_assert_eq(emu_fill(emu, out, 0, 4), 0);
    cr_expect_eq(launch(emu, kernel, 2, 1, 0, 2, args), EMU_LAUNCH_TIMEOUT);
    cr_expect(strstr(emu_message(emu), "deadlock: the GPU is full, 1 of 2 blocks have begun"), "%s",
              emu_message(emu));
    emu_close(emu);
}

/* ---- clocks and multiprocessor numbers from a seed ------------------------------------------- */

/* Each thread stores clock64, globaltimer, clock64 again, and smid. */
enum { BLOCKS = 64, VALUES = 4 };
static const char clocks[] = PTX_KERNEL(
    "clocks", "sub.u64 %l0, %out, %offset;\nmul.lo.u64 %l1, %offset, 8;\nadd.u64 %l0, %l0, %l1;\n"
              "mov.u64 %l1, %clock64;\nmov.u64 %l2, %globaltimer;\nmov.u64 %l3, %clock64;\n"
              "mov.u32 %r0, %smid;\ncvt.u64.u32 %l4, %r0;\nst.global.u64 [%l0], %l1;\n"
              "st.global.u64 [%l0+8], %l2;\nst.global.u64 [%l0+16], %l3;\n"
              "st.global.u64 [%l0+24], %l4;\nret;\n");

static void read_clocks(uint64_t seed, unsigned threads, uint64_t values[2][BLOCKS][VALUES])
{
    struct emu_config config = {.memory = 1 << 20, .threads = threads, .clock_seed = seed};
    struct emu *emu = open_emu_with(&config);
    struct emu_kernel *kernel = load_kernel(emu, clocks, "clocks");
    emu_addr out = device_copy(emu, NULL, BLOCKS * VALUES * 8);
    uint64_t args[] = {out, out};
    for (int k = 0; k < 2; k++) {
        cr_assert(!launch(emu, kernel, BLOCKS, 1, 0, 2, args), "%s", emu_message(emu));
        cr_assert(!emu_read(emu, values[k], out, sizeof values[k]));
    }
    emu_close(emu);
}

static uint64_t first[2][BLOCKS][VALUES], second[2][BLOCKS][VALUES];

Test(emu_clocks, repeat_with_a_seed)
{
    read_clocks(7, 1, first);
    read_clocks(7, 4, second);
    cr_expect(!memcmp(first, second, sizeof first), "the same seed gives other clocks");
    read_clocks(8, 1, second);
    for (int b = 0; b < BLOCKS; b++)
        for (int v = 0; v < 2; v++)
            cr_expect(first[0][b][v] != second[0][b][v], "block %d, value %d", b, v);
}

/* Blocks run one after the other here, so that later ones must see later times. */
Test(emu_clocks, never_run_backwards)
{
    uint64_t last = 0;
    read_clocks(7, 1, first);
    for (int k = 0; k < 2; k++)
        for (int b = 0; b < BLOCKS; b++) {
            const uint64_t *v = first[k][b];
            cr_expect(v[2] == v[0] + 2, "block %d: clock64 %llu, then %llu", b,
                      (unsigned long long)v[0], (unsigned long long)v[2]);
            cr_expect(v[1] > last, "block %d: globaltimer", b);
            last = v[1];
        }
}

/* Multiprocessors exist, each has one of the 64 blocks at most, and another seed changes them. */
Test(emu_clocks, multiprocessors_are_loaded_evenly)
{
    unsigned blocks_of[132] = {0}, others = 0;
    read_clocks(7, 1, first);
    read_clocks(9, 1, second);
    for (int b = 0; b < BLOCKS; b++) {
        cr_assert(first[0][b][3] < 132);
        cr_expect(++blocks_of[first[0][b][3]] == 1);
        others += first[0][b][3] != second[0][b][3];
    }
    cr_expect(others > BLOCKS / 2, "%u blocks are elsewhere", others);
}

Test(emu_clocks, count_instructions_without_a_seed)
{
    read_clocks(0, 4, first);
    for (int b = 0; b < BLOCKS; b++) {
        cr_expect(first[1][b][0] == first[0][0][0] && first[1][b][2] == first[0][0][0] + 2);
        cr_expect(first[1][b][3] == (uint64_t)b);
    }
}

/* ---- the source lines that counts belong to, in modules with several functions --------------- */

#define STORE "ld.param.u64 %l, [p];\ncvta.to.global.u64 %l, %l;\nst.global.u32 [%l], 1;\n"
#define FUNCTION(name, body)                                                                       \
    ".visible .entry " name "(.param .u64 p) {\n.reg .b64 %l;\n" body "ret;\n}\n"
#define FILES ".file 1 \"one.cu\"\n.file 2 \"two.cu\"\n"

/* Launches a kernel of one thread, and returns its record. */
static const struct emu_launch_record *record_of(struct emu *emu, const char *text,
                                                 const char *name)
{
    emu_addr out = device_copy(emu, NULL, 4);
    emu_forget(emu);
    cr_assert(!launch(emu, load_kernel(emu, text, name), 1, 1, 0, 1, (uint64_t[]){out}), "%s",
              emu_message(emu));
    return emu_record(emu, 0);
}

/* nvcc writes bytes that are not ASCII as octal numbers, and others as C does. */
Test(emu_lines, names_of_files_have_escapes)
{
    static const char *const cases[][2] = {{"/d\\303\\251/\\303\\261.cu", "/d\303\251/\303\261.cu"},
                                           {"a\\\\b.cu", "a\\b.cu"},
                                           {"a\\\"b.cu", "a\"b.cu"},
                                           {"a\\tb\\n\\0011.cu", "a\tb\n\0011.cu"},
                                           {"a\\", NULL}};
    char text[500];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct emu *emu = open_emu();
        struct emu_module *module;
        emu_count(emu, true);
        snprintf(text, sizeof text, PTX_HEADER "%s.file 1 \"%s\"\n",
                 FUNCTION("k", ".loc 1 7 3\n" STORE), cases[i][0]);
        if (cases[i][1])
            cr_expect_str_eq(record_of(emu, text, "k")->lines[0].file, cases[i][1]);
        else
            cr_expect_eq(emu_load(emu, text, strlen(text), "k", &module), EMU_INVALID_PTX);
        emu_close(emu);
    }
}

/* ---- the trace has a line for every access to shared and global memory (trace.h) ------------- */

static const char header[] = "launch\tkernel\tblock\twarp\tepoch\tline\toperation\tspace\tbytes\t"
                             "mask\twavefronts\tideal\tsectors\taddresses\tvalues\n";

enum { FIRST_VALUE = 1000, TRACED = 2 * LANES };

/* Every access has its own line; odd lanes make the last two. */
static const char traced[] = PTX_KERNEL(
    "traced",
    ".shared .align 16 .b8 s[1024];\n.local .align 4 .b8 v[8];\n.loc 1 1 0\n"
    "mov.u32 %r0, %tid.x;\nmov.u64 %l0, s;\nmad.wide.u32 %l1, %r0, 4, %l0;\nand.b32 %r1, %r0, 1;\n"
    "setp.ne.u32 %p0, %r1, 0;\nmov.u64 %l2, v;\nst.local.u32 [%l2], %r0;\n"
    ".loc 1 10 0\nld.global.u32 %r2, [%in];\n"
    ".loc 1 11 0\nst.shared.u32 [%l1], %r2;\n.loc 1 1 0\nbar.sync 0;\n"
    ".loc 1 12 0\nld.shared.v2.u32 {%r3, %r4}, [%l0+8];\n"
    ".loc 1 13 0\natom.shared.add.u32 %r5, [%l0], 1;\n.loc 1 1 0\nbar.sync 0;\n"
    "cvta.shared.u64 %l3, %l1;\n.loc 1 14 0\n@%p0 ld.u32 %r6, [%l3];\n"
    ".loc 1 15 0\n@%p0 st.global.u32 [%out], %r6;\n.loc 1 1 0\nret;\n")
    ".file 1 \"/some/where/traced.cu\"\n";

/* The rows of a block in order, up to the addresses: lane n's is base + step * n. Each loads or
 * stores its thread's own input; those of line 12 two words, and atomics see the first input. */
static const struct want {
    const char *columns;
    bool is_odd;
    enum { SHARED, IN, OUT } base;
    unsigned offset, step;
} wants[] = {
    {"0\ttraced.cu:10\tld\tglobal\t4\tffffffff\t-\t-\t4", false, IN, 0, 4},
    {"0\ttraced.cu:11\tst\tshared\t4\tffffffff\t1\t1\t-", false, SHARED, 0, 4},
    {"1\ttraced.cu:12\tld\tshared\t8\tffffffff\t1\t1\t-", false, SHARED, 8, 0},
    {"1\ttraced.cu:13\tatom\tshared\t4\tffffffff\t32\t1\t-", false, SHARED, 0, 0},
    {"2\ttraced.cu:14\tld\tshared\t4\taaaaaaaa\t1\t1\t-", true, SHARED, 0, 4},
    {"2\ttraced.cu:15\tst\tglobal\t4\taaaaaaaa\t-\t-\t4", true, OUT, 0, 4},
};

static void print_wanted(FILE *file, int launch, unsigned block, const struct want *want,
                         const emu_addr base[3])
{
    unsigned first = FIRST_VALUE + block * LANES, step = want->is_odd ? 2 : 1;
    fprintf(file, "%d\ttraced\t%u\t0\t%s", launch, block, want->columns);
    for (unsigned n = step - 1; n < LANES; n += step)
        fprintf(file, "%c%" PRIx64, n < step ? '\t' : ' ',
                base[want->base] + (want->base ? block * LANES * 4 : 0) + want->offset +
                    n * want->step);
    for (unsigned n = step - 1; n < LANES; n += step) {
        fprintf(file, "%c%08x", n < step ? '\t' : ' ', first + (want->step ? n : want->offset / 4));
        if (want->offset) fprintf(file, ",%08x", first + 3);
    }
    fputc('\n', file);
}

Test(emu_trace, every_access_in_order)
{
    char *text = NULL, *wanted = NULL;
    size_t size = 0;
    uint32_t input[TRACED];
    for (unsigned k = 0; k < TRACED; k++) input[k] = FIRST_VALUE + k;
    FILE *file = open_memstream(&text, &size), *want = open_memstream(&wanted, &size);
    cr_assert(file && want);
    struct emu *emu =
        open_emu_with(&(struct emu_config){.threads = 7, .memory = 16 << 20, .trace = file});
    struct emu_kernel *kernel = load_kernel(emu, traced, "traced");
    emu_addr out = device_copy(emu, NULL, sizeof input),
             in = device_copy(emu, input, sizeof input);
    for (int i = 0; i < 2; i++) /* the header must stand there only once */
        cr_assert(!launch(emu, kernel, 2, LANES, 0, 2, (uint64_t[]){out, in}), "%s",
                  emu_message(emu));
    emu_close(emu);
    fclose(file); /* the caller owns the trace; closing the device left it open */

    fputs(header, want);
    int first = atoi(text + strlen(header));
    for (int l = 0; l < 2; l++)
        for (unsigned block = 0; block < 2; block++)
            for (size_t k = 0; k < sizeof wants / sizeof *wants; k++)
                print_wanted(want, first + l, block, &wants[k], (emu_addr[]){0, in, out});
    fclose(want);
    cr_expect_str_eq(text, wanted);
    free(text), free(wanted);
}

/* Without any access the trace has no rows. A trace changes no result. */
Test(emu_trace, is_an_observer)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    cr_assert(file);
    struct emu *emu =
        open_emu_with(&(struct emu_config){.memory = 16 << 20, .trace = file, .counters = true});
    uint32_t in[64], out[64];
    for (unsigned t = 0; t < 64; t++) in[t] = t;
    run_kernel(emu, PTX_KERNEL("k", "ret;\n"), 64, 64, out, in);
    fflush(file);
    cr_expect(!strchr(text, '\n') || !strchr(strchr(text, '\n') + 1, '\n'), "trace: %s", text);
    run_kernel(emu,
               PTX_KERNEL("k", "ld.global.u32 %r0, [%in];\nadd.u32 %r0, %r0, 1;\n"
                               "st.global.u32 [%out], %r0;\nret;\n"),
               64, 64, out, in);
    for (unsigned t = 0; t < 64; t++) cr_expect(out[t] == t + 1);
    cr_expect(emu_records(emu) == 2 && emu_record(emu, 1)->total.global_ld.requests == 2);
    emu_close(emu);
    fclose(file);
    free(text);
}
