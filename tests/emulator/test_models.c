/*
 * test_models.c — the rules of older generations give the numbers in the documents.
 *
 * GPU Gems 3, chapter 39 (G80: 16 banks); CUDA C Programming Guide 4.2, appendix F; Kepler tuning
 * guide, 1.4.3.1; the lecture on memory: caching loads are Fermi's, non-caching ones Kepler's.
 */
#include "tests/support/command.h"
#include "common/emu/machine/device.h"
#include "tests/fixtures/programs/programs.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { N = 512 };

static struct insn_counts shared(const char *model, const uint64_t *address, uint32_t mask,
                                 unsigned bytes)
{
    struct insn_counts counts = {0};
    model_shared(emu_model_find(model), &counts, address, mask, bytes);
    return counts;
}

static struct insn_counts global(const char *model, const uint64_t *address, unsigned bytes)
{
    struct insn_counts counts = {0};
    model_global(emu_model_find(model), &counts, address, ALL_LANES, bytes, true);
    return counts;
}

/* How many ways the busiest half-warp conflicts on G80 when the tree's threads read element
 * offset * (2 * thread + 1) - 1, at its padded place. */
static unsigned degree(int offset, int (*padding)(int))
{
    unsigned most = 0;
    for (int first = 0; first < N / 2 / offset; first += 16) {
        uint64_t address[WARP] = {0};
        uint32_t mask = 0;
        for (int lane = 0; lane < 16 && first + lane < N / 2 / offset; lane++) {
            int element = offset * (2 * (first + lane) + 1) - 1;
            address[lane] = 4 * (uint64_t)(element + padding(element));
            mask |= UINT32_C(1) << lane;
        }
        unsigned passes = (unsigned)shared("g80", address, mask, 4).wavefronts;
        if (passes > most) most = passes;
    }
    return most;
}

static int no_padding(int i) { return (void)i, 0; }
static int default_padding(int i) { return i >> 4; }
static int corrected_padding(int i) { return (i >> 4) + (i >> 8); }

/* The degree doubles from level to level, up to 16, while enough threads are left. */
Test(models, g80_tree)
{
    static const unsigned degrees[] = {2, 4, 8, 16, 16, 8, 4, 2, 1};
    for (int level = 0; level < 9; level++)
        cr_expect(degree(1 << level, no_padding) == degrees[level], "level %d: %u-way", level,
                  degree(1 << level, no_padding));
}

/* One element of padding in 16 leaves two-way conflicts at offsets 16 to 128. */
Test(models, g80_padding)
{
    for (int offset = 1; offset < N; offset *= 2) {
        unsigned left = offset >= 16 && offset <= 128 ? 2 : 1;
        cr_expect(degree(offset, default_padding) == left, "offset %d: %u-way", offset,
                  degree(offset, default_padding));
        cr_expect(degree(offset, corrected_padding) == 1, "offset %d, corrected: %u-way", offset,
                  degree(offset, corrected_padding));
    }
}

/* The guide's examples: one word for all lanes; char, double and strides. */
Test(models, g80_banks)
{
    uint64_t address[WARP] = {0};
    struct insn_counts counts = shared("g80", address, ALL_LANES, 4);
    cr_expect(counts.wavefronts == 2 && counts.ideal == 2);
    for (int lane = 0; lane < WARP; lane++) address[lane] = (uint64_t)lane;
    counts = shared("g80", address, ALL_LANES, 1);
    cr_expect(counts.wavefronts == 8 && counts.ideal == 2, "chars: 4-way");
    for (int lane = 0; lane < WARP; lane++) address[lane] = 8 * (uint64_t)lane;
    counts = shared("g80", address, ALL_LANES, 8);
    cr_expect(counts.wavefronts == 8 && counts.ideal == 4, "doubles: 2-way");
    counts = shared("g80", address, 0x0000ffff, 4);
    cr_expect(counts.wavefronts == 2 && counts.ideal == 1, "stride 2: 2-way");
    counts = shared("fermi", address, ALL_LANES, 8);
    cr_expect(counts.wavefronts == 2 && counts.ideal == 2, "doubles on Fermi: none");
    for (int lane = 0; lane < WARP; lane++) address[lane] = 16 * (uint64_t)lane;
    counts = shared("fermi", address, ALL_LANES, 16);
    cr_expect(counts.wavefronts == 8 && counts.ideal == 4, "16 bytes on Fermi: 2-way");
}

/* Stride 2 of 4-byte words: two-way on Fermi, none on Kepler. A stride of 32 words, all in one
 * bank, is two words a row in 4-byte mode; in 8-byte mode every other one is in another bank. */
Test(models, kepler_modes)
{
    static const struct {
        unsigned stride, fermi, mode4, mode8;
    } cases[] = {{1, 1, 1, 1},     {2, 2, 1, 1},  {4, 4, 2, 2},
                 {32, 32, 16, 16}, {33, 1, 1, 1}, {64, 32, 32, 32}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t address[WARP];
        for (int lane = 0; lane < WARP; lane++)
            address[lane] = 4 * (uint64_t)cases[i].stride * (uint64_t)lane;
        unsigned fermi = (unsigned)shared("fermi", address, ALL_LANES, 4).wavefronts,
                 mode4 = (unsigned)shared("kepler4", address, ALL_LANES, 4).wavefronts,
                 mode8 = (unsigned)shared("kepler8", address, ALL_LANES, 4).wavefronts;
        cr_expect(fermi == cases[i].fermi && mode4 == cases[i].mode4 && mode8 == cases[i].mode8,
                  "stride %u: %u, %u, %u", cases[i].stride, fermi, mode4, mode8);
    }
    uint64_t doubles[WARP];
    for (int lane = 0; lane < WARP; lane++) doubles[lane] = 8 * (uint64_t)lane;
    cr_expect(shared("kepler8", doubles, ALL_LANES, 8).wavefronts == 1);
}

/* ---- global memory --------------------------------------------------------------------------- */

static double utilization(const char *model, const uint64_t *address)
{
    struct insn_counts counts = global(model, address, 4);
    return (double)counts.needed / (double)counts.moved;
}

/* The slides: 32 words aligned, permuted, misaligned, one word, scattered over 32 places. */
Test(models, bus_utilization)
{
    uint64_t aligned[WARP], permuted[WARP], misaligned[WARP], same[WARP], scattered[WARP];
    for (int lane = 0; lane < WARP; lane++) {
        aligned[lane] = 1024 + 4 * (uint64_t)lane;
        permuted[lane] = 1024 + 4 * (uint64_t)(lane * 13 % WARP);
        misaligned[lane] = aligned[lane] + 4;
        same[lane] = 1024;
        scattered[lane] = 4096 * (uint64_t)lane;
    }
    cr_expect(utilization("fermi", aligned) == 1 && utilization("kepler4", aligned) == 1);
    cr_expect(utilization("fermi", permuted) == 1 && utilization("kepler4", permuted) == 1);
    cr_expect(utilization("fermi", misaligned) == 0.5);
    cr_expect(utilization("kepler4", misaligned) == 0.8);
    cr_expect(utilization("fermi", same) == 0.03125);
    cr_expect(utilization("kepler4", same) == 0.125);
    cr_expect(utilization("fermi", scattered) == 128.0 / (WARP * 128));
    cr_expect(utilization("kepler4", scattered) == 128.0 / (WARP * 32));
}

/* The slides: a caching load of N transactions is replayed N - 1 times. */
Test(models, replays)
{
    uint64_t aligned[WARP], misaligned[WARP], same[WARP], scattered[WARP];
    for (int lane = 0; lane < WARP; lane++) {
        aligned[lane] = 1024 + 4 * (uint64_t)(WARP - 1 - lane);
        misaligned[lane] = aligned[lane] + 4;
        same[lane] = 1024;
        scattered[lane] = 4096 * (uint64_t)lane;
    }
    cr_expect(global("fermi", aligned, 4).sectors - 1 == 0);
    cr_expect(global("fermi", misaligned, 4).sectors - 1 == 1);
    cr_expect(global("fermi", same, 4).sectors - 1 == 0);
    cr_expect(global("fermi", scattered, 4).sectors - 1 == WARP - 1);
}

/* On a G80 the k-th thread must access the k-th word: otherwise a half-warp needs 16 transactions.
 * A GT200 accesses segments, which it makes as small as possible. */
Test(models, coalescing)
{
    static const struct {
        const char *model;
        unsigned first, bytes, transactions, moved;
        bool reversed;
    } cases[] = {
        {"g80", 0, 4, 2, 128, false},    {"g80", 0, 8, 2, 256, false},
        {"g80", 0, 16, 4, 512, false},   {"g80", 0, 4, 32, 1024, true},
        {"g80", 4, 4, 32, 1024, false},  {"gt200", 0, 4, 2, 128, false},
        {"gt200", 0, 4, 2, 128, true},   {"gt200", 4, 4, 3, 224, false},
        {"gt200", 0, 16, 4, 512, false}, {"gt200", 0, 1, 2, 64, false},
        {"gt200", 0, 2, 2, 64, false},   {"fermi", 4, 4, 2, 256, false},
        {"fermi", 0, 8, 2, 256, false},  {"kepler4", 4, 4, 5, 160, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t address[WARP];
        for (int lane = 0; lane < WARP; lane++)
            address[lane] = 4096 + cases[i].first +
                            cases[i].bytes * (uint64_t)(cases[i].reversed ? WARP - 1 - lane : lane);
        struct insn_counts counts = global(cases[i].model, address, cases[i].bytes);
        cr_expect(counts.sectors == cases[i].transactions && counts.moved == cases[i].moved,
                  "case %zu, %s: %llu transactions, %llu bytes", i, cases[i].model,
                  (unsigned long long)counts.sectors, (unsigned long long)counts.moved);
    }
}

/* ---- the command ----------------------------------------------------------------------------- */

Test(models, command)
{
    cr_assert(
        run_command(
            EMU
            " --model G80 --kernel-name reverse --metrics memory_l1_wavefronts_shared,"
            "emu__bytes_moved_global_op_ld.sum,emu__bus_utilization_global_op_ld.ratio " PROGRAMS
            "/merged") == 0);
    cr_expect(strstr(output, "  rules: G80 (2006)") != NULL, "%s", output);
    cr_expect(strstr(output, " unchecked: by another generation's rules") != NULL, "%s", output);
    cr_expect(strstr(output, "                   8\n") != NULL, "4 half-warps, twice: %s", output);
    cr_expect(strstr(output, " 256\n") != NULL && strstr(output, " 1.00\n") != NULL, "%s", output);
    cr_expect(run_command(EMU " --model g81 " PROGRAMS "/merged 2>&1") != 0);
    cr_expect_str_eq(output, "emu: there is no set of rules \"g81\"; see emu --help\n");
    cr_expect(run_command("EMU_MODEL=g81 EMU_CSV=1 " PROGRAMS "/emulated 2>&1") != 0);
    cr_expect(strstr(output, "EMU_MODEL") != NULL, "%s", output);
}
