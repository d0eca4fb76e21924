/*
 * test_predictions.c — the formulas by which the notes predict bank conflicts, level by level of
 * the tree (predictions.h), against the emulator's trace of the kernels; and their sums against
 * what ncu counted on an H200.
 */
#define _GNU_SOURCE
#include "predictions.h"
#include "common/harness/traced/traced.h"
#include "tests/support/recording.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORDED "profiles/h200/counters.csv"

/* ---- the trace ------------------------------------------------------------------------------- */

enum { LAUNCHES = 3, BLOCKS = 4, EPOCHS = 24, LINE = 4096 };
static struct level traced_levels[LAUNCHES][BLOCKS][EPOCHS];

static void take_access(const struct access *a, unsigned banks)
{
    cr_assert(a->launch < LAUNCHES && a->block < BLOCKS && a->epoch < EPOCHS);
    /* A warp's float4 are 512 bytes: in sectors of 32, or in the G80's transactions of 128. */
    if (!strcmp(a->space, "global") && a->bytes == 16)
        cr_expect(a->mask == UINT32_MAX && a->sectors == 512 / (banks == WARP_LANES ? 32 : 128),
                  "a warp's float4, mask %x: %u sectors", a->mask, a->sectors);
    if (strcmp(a->space, "shared") != 0) return;
    struct level *l = &traced_levels[a->launch][a->block][a->epoch];
    unsigned lanes = access_lanes(a), met = a->wavefronts - a->ideal;
    if (access_is(a, "ld", "shared"))
        l->loads++, l->load_lanes += lanes, l->load_conflicts += met;
    else
        l->stores++, l->store_lanes += lanes, l->store_conflicts += met;
}

static void trace(const struct plan *p, size_t n, unsigned banks)
{
    static char line[LINE];
    char command[256];
    bool variant = strcmp(p->variant, "-") != 0;
    snprintf(command, sizeof command,
             "EMU_MODEL=%s ./step%s --device emu --verify none --n %zu %s %s "
             "--trace /dev/fd/3 3>&1 >/dev/null",
             banks == WARP_LANES ? "hopper" : "g80", p->step, n, variant ? "--variant" : "",
             variant ? p->variant : "");
    memset(traced_levels, 0, sizeof traced_levels);
    struct access a;
    FILE *rows = popen(command, "r");
    cr_assert(rows != NULL && fgets(line, sizeof line, rows) != NULL, "no trace of: %s", command);
    while (fgets(line, sizeof line, rows) != NULL)
        if (access_read(line, &a)) take_access(&a, banks);
    cr_assert(pclose(rows) == 0, "%s", command);
}

static void expect_level(const struct block *b, unsigned epoch, const struct level *found)
{
    struct level want = predict(b, epoch);
    cr_expect(!memcmp(&want, found, sizeof want),
              "step %s %s, tree of %u, %u banks, after %u barriers: loads, stores %u %u (%u %u "
              "lanes), conflicts %u %u; predicted %u %u (%u %u), %u %u",
              b->plan->step, b->plan->variant, b->size, b->banks, epoch, found->loads,
              found->stores, found->load_lanes, found->store_lanes, found->load_conflicts,
              found->store_conflicts, want.loads, want.stores, want.load_lanes, want.store_lanes,
              want.load_conflicts, want.store_conflicts);
}

/* Traces a scan and compares it level by level. */
static void expect_as_predicted(const struct plan *p, size_t n, unsigned banks)
{
    trace(p, n, banks);
    unsigned launch = 0;
    for (size_t count = n; count > 0; launch++) {
        size_t each = block_elements(p, count), blocks = (count + each - 1) / each;
        for (unsigned j = 0; j < blocks; j++) {
            struct block b = block_at(p, count, j, banks);
            static const struct level none;
            for (unsigned epoch = 0; epoch <= barriers(&b); epoch++)
                expect_level(&b, epoch, &traced_levels[launch][j][epoch]);
            cr_expect(!memcmp(&traced_levels[launch][j][barriers(&b) + 1], &none, sizeof none),
                      "step %s %s, n = %zu: there are more than %u barriers", p->step, p->variant,
                      n, barriers(&b));
        }
        count = blocks > 1 ? blocks : 0;
    }
}

static void expect_all(unsigned banks)
{
    for (int i = 0; i < PLANS; i++)
        for (size_t n = 512; n <= 2048; n *= 2)
            if (plans[i].kernel != SWEEPS || n < 2048) /* a block has no more threads */
                expect_as_predicted(&plans[i], n, banks);
}

Test(predictions, levels_as_traced_on_32_banks) { expect_all(32); }

/* --model g80: half-warps, and the conflicts that Harris and GPU Gems describe. */
Test(predictions, levels_as_traced_on_16_banks) { expect_all(16); }

/* The numbers in the documents: ways by level of the tree over 512 elements, on the G80's banks. */
Test(predictions, ways_of_the_documents)
{
    static const unsigned unpadded[] = {2, 4, 8, 16, 16, 8, 4, 2, 1};
    static const unsigned padded[] = {1, 1, 1, 1, 2, 2, 2, 2, 1};
    for (unsigned level = 0; level < 9; level++) {
        unsigned lanes = level < 4 ? 16 : 256u >> level;
        cr_expect(ways(lanes, 2u << level, 16) == unpadded[level], "level %u", level);
        cr_expect(padded_ways(&plans[2], lanes, 2u << level, 16) == padded[level], "level %u",
                  level);
    }
}

/* ---- the recording --------------------------------------------------------------------------- */

/* Of a line: 0 without accesses to shared memory. */
static long long conflicts(const struct recording *r, const char *wavefronts, const char *ideal)
{
    return atoll(recording_cell(r, wavefronts)) - atoll(recording_cell(r, ideal));
}

/* Conflicts on ncu's Source page, loads and stores, of all recorded sizes of a scan: the largest
 * ones, too, which are too large to be traced. */
Test(predictions, sums_as_recorded_on_the_h200)
{
    enum { SIZES = 32 };
    static long long recorded[PLANS][SIZES][2]; /* [log2 n][loads, stores] */
    static bool seen[PLANS][SIZES];
    struct recording r;
    recording_open(&r, RECORDED);
    while (recording_next(&r)) {
        if (!*recording_cell(&r, "line")) continue;
        const char *step = recording_cell(&r, "step"), *variant = recording_cell(&r, "variant");
        unsigned log = log2_of(strtoul(recording_cell(&r, "n"), NULL, 10));
        for (int i = 0; i < PLANS; i++) {
            if (strcmp(plans[i].step, step) != 0 || strcmp(plans[i].variant, variant) != 0)
                continue;
            recorded[i][log][0] += conflicts(&r, "source_wavefronts_ld", "source_ideal_ld");
            recorded[i][log][1] += conflicts(&r, "source_wavefronts_st", "source_ideal_st");
            seen[i][log] = true;
        }
    }

    for (int i = 0; i < PLANS; i++) {
        unsigned sizes = 0;
        for (unsigned log = 0; log < SIZES; log++) {
            size_t sum[2];
            if (!seen[i][log]) continue;
            sizes++;
            predict_scan(&plans[i], (size_t)1 << log, sum);
            cr_expect(
                recorded[i][log][0] == (long long)sum[0] &&
                    recorded[i][log][1] == (long long)sum[1],
                "step %s %s, n = 2^%u: %lld + %lld conflicts on the H200, %zu + %zu predicted",
                plans[i].step, plans[i].variant, log, recorded[i][log][0], recorded[i][log][1],
                sum[0], sum[1]);
        }
        cr_expect(sizes >= 2, "%s: step %s %s is there at %u sizes", RECORDED, plans[i].step,
                  plans[i].variant, sizes);
    }
}
