/*
 * counters.c — bank conflicts, sectors and the other counts, compared with a model that examines
 * every byte of every lane.
 *
 * The model restates the rule measured on an H200: a group of lanes needs as many wavefronts as its
 * busiest bank has distinct words; groups are the warp, its halves (8 bytes a lane) or its quarters
 * (16); loads whose neighbouring lanes agree merge their groups in pairs; stores never do.
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "ptx_run.h"

#include <criterion/criterion.h>
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

static void launch_pattern(struct emu *emu, struct emu_kernel *kernel, emu_addr area,
                           emu_addr pattern_device, const uint32_t pattern[LANES + 1])
{
    emu_forget(emu);
    cr_assert(!emu_write(emu, pattern_device, pattern, (LANES + 1) * sizeof *pattern));
    cr_assert(!launch(emu, kernel, 1, LANES, 0, 2, (uint64_t[]){area, pattern_device}), "%s",
              emu_message(emu));
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

static void check_shared(const char *space)
{
    struct emu *emu = open_emu();
    char *text = pattern_kernel(space);
    struct emu_kernel *kernel = load_kernel(emu, text, "k");
    emu_addr pattern_device = device_copy(emu, NULL, (LANES + 1) * 4);
    uint64_t seed = 42;
    emu_count(emu, true);
    for (unsigned p = 0; p < PATTERNS; p++) {
        uint32_t pattern[LANES + 1];
        make_pattern(p, &seed, pattern);
        launch_pattern(emu, kernel, 0, pattern_device, pattern);
        for (unsigned i = 0; i < ACCESSES; i++) {
            uint64_t address[LANES];
            for (unsigned n = 0; n < LANES; n++) address[n] = pattern[n] * accesses[i].bytes;
            struct emu_shared want =
                model_shared(pattern[LANES], address, accesses[i].bytes, accesses[i].load);
            const struct emu_counts *counts = line_counts(emu, FIRST_LINE + i);
            const struct emu_shared *got =
                accesses[i].load ? &counts->shared_ld : &counts->shared_st;
            const struct emu_shared *other =
                accesses[i].load ? &counts->shared_st : &counts->shared_ld;
            cr_expect(same_shared(got, &want),
                      "%s, pattern %u (kind %u, mask %08x): %llu wavefronts, ideal %llu, "
                      "want %llu, ideal %llu",
                      accesses[i].text, p, p % KINDS, pattern[LANES],
                      (unsigned long long)got->wavefronts, (unsigned long long)got->ideal,
                      (unsigned long long)want.wavefronts, (unsigned long long)want.ideal);
            cr_expect(other->instructions == 0 && counts->global_ld.requests == 0 &&
                          counts->global_st.requests == 0,
                      "%s is also counted elsewhere", accesses[i].text);
        }
    }
    free(text);
    emu_close(emu);
}

Test(emu_counters, shared_wavefronts) { check_shared("shared"); }
Test(emu_counters, shared_wavefronts_of_generic_addresses) { check_shared(""); }

Test(emu_counters, global_sectors)
{
    struct emu *emu = open_emu();
    char *text = pattern_kernel("global");
    struct emu_kernel *kernel = load_kernel(emu, text, "k");
    emu_addr area = device_copy(emu, NULL, SPACE_BYTES + 16);
    emu_addr pattern_device = device_copy(emu, NULL, (LANES + 1) * 4);
    uint64_t seed = 43;
    emu_count(emu, true);
    for (unsigned p = 0; p < PATTERNS; p++) {
        uint32_t pattern[LANES + 1];
        make_pattern(p, &seed, pattern);
        uint64_t base = area + p % 2 * 16; /* aligned for all widths, but not to a sector */
        launch_pattern(emu, kernel, base, pattern_device, pattern);
        for (unsigned i = 0; i < ACCESSES; i++) {
            uint64_t address[LANES];
            for (unsigned n = 0; n < LANES; n++) address[n] = base + pattern[n] * accesses[i].bytes;
            struct emu_global want = model_global(pattern[LANES], address, accesses[i].bytes);
            const struct emu_counts *counts = line_counts(emu, FIRST_LINE + i);
            const struct emu_global *got =
                accesses[i].load ? &counts->global_ld : &counts->global_st;
            const struct emu_global *other =
                accesses[i].load ? &counts->global_st : &counts->global_ld;
            cr_expect(
                same_global(got, &want),
                "%s, pattern %u (kind %u, mask %08x): %llu requests, %llu sectors, %llu bytes, "
                "want %llu, %llu, %llu",
                accesses[i].text, p, p % KINDS, pattern[LANES], (unsigned long long)got->requests,
                (unsigned long long)got->sectors, (unsigned long long)got->bytes,
                (unsigned long long)want.requests, (unsigned long long)want.sectors,
                (unsigned long long)want.bytes);
            cr_expect(other->requests == 0 && counts->shared_ld.instructions == 0 &&
                          counts->shared_st.instructions == 0,
                      "%s is also counted elsewhere", accesses[i].text);
        }
    }
    free(text);
    emu_close(emu);
}

/* An instruction that no lane executes moves nothing. */
Test(emu_counters, an_empty_mask_counts_nothing)
{
    struct emu *emu = open_emu();
    char *text = pattern_kernel("shared");
    struct emu_kernel *kernel = load_kernel(emu, text, "k");
    emu_addr pattern_device = device_copy(emu, NULL, (LANES + 1) * 4);
    uint32_t pattern[LANES + 1] = {0};
    emu_count(emu, true);
    launch_pattern(emu, kernel, 0, pattern_device, pattern);
    const struct emu_counts *total = &emu_record(emu, 0)->total;
    cr_expect(total->shared_ld.wavefronts == 0 && total->shared_ld.ideal == 0);
    cr_expect(total->shared_st.wavefronts == 0 && total->shared_st.ideal == 0);
    free(text);
    emu_close(emu);
}

/* ---- operations and classes ------------------------------------------------------------------ */

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

/* The lines' counts add up to the total, and come in order. */
Test(emu_counters, lines_add_up)
{
    struct emu *emu = open_emu();
    char *text = pattern_kernel("shared");
    struct emu_kernel *kernel = load_kernel(emu, text, "k");
    emu_addr pattern_device = device_copy(emu, NULL, (LANES + 1) * 4);
    uint32_t pattern[LANES + 1];
    uint64_t seed = 3;
    make_pattern(6, &seed, pattern);
    emu_count(emu, true);
    launch_pattern(emu, kernel, 0, pattern_device, pattern);
    const struct emu_launch_record *r = emu_record(emu, 0);
    struct emu_counts sum = {0};
    for (size_t i = 0; i < r->line_count; i++) {
        cr_expect(!strcmp(r->lines[i].file, "pattern.cu"), "file %s", r->lines[i].file);
        cr_expect(i == 0 || r->lines[i].line > r->lines[i - 1].line, "out of order");
        sum.instructions += r->lines[i].counts.instructions;
        sum.lanes += r->lines[i].counts.lanes;
        sum.shared_ld.wavefronts += r->lines[i].counts.shared_ld.wavefronts;
        sum.shared_st.ideal += r->lines[i].counts.shared_st.ideal;
        sum.global_ld.sectors += r->lines[i].counts.global_ld.sectors;
    }
    cr_expect(r->line_count == ACCESSES + 1, "%zu lines", r->line_count);
    cr_expect(sum.instructions == r->total.instructions && sum.lanes == r->total.lanes);
    cr_expect(sum.shared_ld.wavefronts == r->total.shared_ld.wavefronts);
    cr_expect(sum.shared_st.ideal == r->total.shared_st.ideal);
    cr_expect(sum.global_ld.sectors == r->total.global_ld.sectors && sum.global_ld.sectors > 0);
    free(text);
    emu_close(emu);
}
