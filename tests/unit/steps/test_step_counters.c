/*
 * test_step_counters.c — statements of the notes about a step, counted by the emulator: additions,
 * launches, bank conflicts, sectors.
 */
#define _GNU_SOURCE
#include "tests/support/scan_once.h"

#include "common/harness/run/runs.h"
#include "steps/00-copy/patterns.h"
#include "steps/04-conflict-free/variants.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* Runs one scan of n elements, whose result does not matter, and counts. */
static struct emu_counts count(const struct step *step, int variant, size_t n)
{
    struct counters counters;
    void *out = malloc(n * sizeof(double)); /* no type is larger */
    struct scan scan = {step, variant, n, 0, false};

    cr_assert(counters_begin(), "these tests need the emulator");
    cr_assert(scan_once(&scan, random_input(step, variant, n, false), out) == cudaSuccess);
    counters_end(&counters);
    struct emu_counts total = counters.total;
    counters_free(&counters);
    free(out);
    return total;
}

/* The documents' counts. */
Test(step_counters, adds_of_the_documents)
{
    static const struct {
        const struct step *step;
        uint64_t adds;
    } counts[] = {{&step02, 512 * 9 - 511}, {&step03, 2 * 511}, {&step04, 2 * 511}};
    for (size_t i = 0; i < LENGTH(counts); i++) {
        struct emu_counts counters = count(counts[i].step, 0, 512);
        cr_expect_eq(counters.adds[EMU_ADD_F32], counts[i].adds);
    }
}

/* ---- launches -------------------------------------------------------------------------------- */

struct one {
    const struct step *step;
    int variant;
    size_t n;
    char *in, *out, *workspace;
};

static cudaError_t call(void *context, cudaStream_t stream)
{
    const struct one *c = context;
    return c->step->scan(c->out, c->in, c->n, c->variant, c->workspace, stream);
}

/* The launches that the report names, found by capturing a call, are those of a call that runs. */
static void expect_launches(const struct step *step, int variant, size_t n, size_t offset)
{
    struct emu *emu = counters_emulator();
    size_t displaced = offset * sizeof(double), bytes = n * sizeof(double) + displaced + 1;
    size_t workspace = step->workspace ? step->workspace(n, variant) : 0;
    char *arrays;
    cr_assert(cudaMalloc((void **)&arrays, 2 * bytes + workspace + 256) == cudaSuccess);
    cr_assert(cudaMemset(arrays, 0, 2 * bytes + workspace) == cudaSuccess);
    char *out = arrays + (workspace + 255) / 256 * 256;
    struct one one = {step, variant, n, out + displaced, out + displaced, arrays};
    const struct launches said = launches_of(call, &one);

    emu_forget(emu);
    emu_count(emu, true);
    cr_assert(call(&one, NULL) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess);
    struct launches ran = {.kinds = said.kinds, .all = (unsigned)emu_records(emu)};
    for (size_t i = 0; i < ran.all; i++) {
        const struct emu_launch_record *r = emu_record(emu, i);
        unsigned k = 0;
        while (k < said.kinds && !strstr(r->kernel, said.of[k].kernel)) k++;
        cr_assert(k < said.kinds, "step %d: %s is not named", step->number, r->kernel);
        struct launch *launch = &ran.of[k];
        size_t grid = (size_t)r->grid.x * r->grid.y * r->grid.z;
        strcpy(launch->kernel, said.of[k].kernel);
        launch->blocks_per_sm = said.of[k].blocks_per_sm;
        if (launch->times++ && launch->grid >= grid) continue;
        launch->grid = grid;
        launch->block = r->block.x * r->block.y * r->block.z;
        launch->shared_bytes = r->dynamic_shared + r->static_shared;
    }
    emu_count(emu, false);
    cr_expect(ran.all == said.all, "step %d: %u launches, not %u", step->number, ran.all, said.all);
    for (unsigned k = 0; k < said.kinds; k++) {
        const struct launch *s = &said.of[k], *r = &ran.of[k];
        cr_expect(s->times == r->times && s->grid == r->grid && s->block == r->block &&
                      s->shared_bytes == r->shared_bytes && s->blocks_per_sm > 0,
                  "step %d %s, n = %zu: %s", step->number, variant_name(step, variant), n,
                  s->kernel);
    }
    cudaFree(arrays);
}

static void expect_all_launches(const char *gpu, size_t most)
{
    static const size_t sizes[] = {1, 512, 5000, 70000, (4 << 20) + 1, (9 << 20) + 1};
    setenv("EMU_GPU", gpu, 1);
    for (size_t s = 0; s < SCAN_STEPS; s++) {
        const struct step *step = s ? scan_steps[s] : &step00;
        for (int variant = 0; variant < variant_count(step); variant++)
            for (size_t i = 0; i < LENGTH(sizes) && sizes[i] <= most; i++) {
                if (step->max_n && sizes[i] > step->max_n) continue;
                if (sizes[i] > 70000 && step != &step12) continue;
                for (size_t offset = 0; offset < 2; offset++)
                    expect_launches(step, variant, sizes[i], offset);
            }
    }
}

Test(step_counters, launches_are_those_that_the_report_names) { expect_all_launches("h200", 5000); }

Test(step_counters, launches_of_large_scans_slow) { expect_all_launches("h200", SIZE_MAX); }

Test(step_counters, launches_before_hopper_slow) { expect_all_launches("a100", SIZE_MAX); }

/* ---- bank conflicts -------------------------------------------------------------------------- */

/* Measured with ncu on an H200 (notes/04-conflict-free.md), for 512 elements; and for 2048 by the
 * same rule. */
Test(step_counters, bank_conflicts)
{
    static const struct {
        const struct step *step;
        int variant;
        size_t n;
        uint64_t ld_conflicts, st_conflicts, ld_wavefronts, st_wavefronts;
    } known[] = {
        {&step02, 0, 512, 0, 0, 289, 160},        {&step03, 0, 512, 375, 225, 491, 302},
        {&step04, PAD16, 512, 86, 58, 202, 135},  {&step04, PAD32, 512, 0, 0, 116, 77},
        {&step04, PAD32X2, 512, 0, 0, 116, 77},   {&step04, PAD32, 1024, 0, 0, 212, 141},
        {&step04, PAD32, 2048, 25, 15, 429, 284}, {&step04, PAD32X2, 2048, 0, 0, 404, 269},
    };

    for (size_t i = 0; i < LENGTH(known); i++) {
        struct emu_counts counters = count(known[i].step, known[i].variant, known[i].n);
        const struct emu_shared *ld = &counters.shared_ld, *st = &counters.shared_st;

        cr_expect(counters_conflicts(ld) == known[i].ld_conflicts &&
                      counters_conflicts(st) == known[i].st_conflicts &&
                      ld->wavefronts == known[i].ld_wavefronts &&
                      st->wavefronts == known[i].st_wavefronts,
                  "step %d %s, n = %zu: conflicts %llu + %llu, wavefronts %llu + %llu",
                  known[i].step->number, variant_name(known[i].step, known[i].variant), known[i].n,
                  (unsigned long long)counters_conflicts(ld),
                  (unsigned long long)counters_conflicts(st), (unsigned long long)ld->wavefronts,
                  (unsigned long long)st->wavefronts);
    }
}

static void expect_no_bank_conflicts(const struct step *step, int variant, size_t n)
{
    struct emu_counts counters = count(step, variant, n);
    const struct emu_shared *loads = &counters.shared_ld, *stores = &counters.shared_st;
    cr_expect(counters_conflicts(loads) == 0 && counters_conflicts(stores) == 0,
              "step %d %s, n = %zu: conflicts %llu + %llu", step->number,
              variant_name(step, variant), n, (unsigned long long)counters_conflicts(loads),
              (unsigned long long)counters_conflicts(stores));
    cr_expect(loads->wavefronts > 0 && stores->wavefronts > 0);
}

/* The blocks of steps 5 to 7 are small enough for one level of padding. */
Test(step_counters, no_bank_conflicts_in_blocks)
{
    static const struct step *const steps[] = {&step05, &step06, &step07};
    for (size_t s = 0; s < LENGTH(steps); s++) expect_no_bank_conflicts(steps[s], 0, 100003);
}

/* From step 9 on there are no conflicts, in all variants, types and kernels, since there is no
 * tree. */
Test(step_counters, no_bank_conflicts_without_a_tree)
{
    static const struct step *const steps[] = {&step09, &step10, &step11, &step12};
    static const size_t sizes[] = {1000, 65537};
    static const struct {
        const char *name;
        size_t n;
    } pipeline[] = {{"f32", (1 << 22) + 1}, {"f64", (1 << 20) + 1}, {"i8", (1 << 22) + 1}};

    for (size_t s = 0; s < LENGTH(steps); s++)
        for (int variant = 0; variant < variant_count(steps[s]); variant++) {
            for (size_t i = 0; i < LENGTH(sizes); i++)
                expect_no_bank_conflicts(steps[s], variant, sizes[i]);
            for (size_t i = 0; i < LENGTH(pipeline); i++)
                if (!strcmp(pipeline[i].name, variant_name(steps[s], variant)))
                    expect_no_bank_conflicts(steps[s], variant, pipeline[i].n);
        }
}

/* ---- sectors --------------------------------------------------------------------------------- */

/* Sectors a request, where n fills all warps: 3 * 2^15 floats. */
Test(step_counters, sectors_of_the_patterns)
{
    static const struct {
        enum pattern pattern;
        uint64_t ld_sectors, ld_requests, st_sectors, st_requests; /* a warp's */
    } known[] = {
        {SCALAR, 4, 1, 4, 1},
        {FLOAT2, 8, 1, 8, 1},
        {FLOAT4, 16, 1, 16, 1},
        {STRIDED, 32, 1, 4, 1},
        {PERMUTED, 4, 1, 4, 1},
        {SAME_WORD, 1, 1, 4, 1},
        {STRUCTURES, 36, 3, 36, 3},
        {STRUCTURES_SOA, 12, 3, 12, 3},
        {STRUCTURES_READ_ONLY, 36, 3, 36, 3},
        {STRUCTURES_STAGED, 12, 3, 12, 3},
    };
    const size_t n = 3 << 15;

    for (size_t i = 0; i < LENGTH(known); i++) {
        struct emu_counts counters = count(&step00, known[i].pattern, n);
        const struct emu_global *ld = &counters.global_ld, *st = &counters.global_st;
        const char *name = variant_name(&step00, known[i].pattern);

        cr_expect(ld->sectors * known[i].ld_requests == ld->requests * known[i].ld_sectors &&
                      st->sectors * known[i].st_requests == st->requests * known[i].st_sectors,
                  "%s: loads %llu / %llu, stores %llu / %llu", name,
                  (unsigned long long)ld->sectors, (unsigned long long)ld->requests,
                  (unsigned long long)st->sectors, (unsigned long long)st->requests);
    }

    /* One float further: a fifth sector for every warp but the last, which wraps around. */
    struct emu_counts counters = count(&step00, MISALIGNED, n);
    cr_expect(counters.global_ld.sectors == 5 * (n / 32));
}

/* Four floats in one request, and a quarter of the barriers. */
Test(step_counters, vectors_save_requests)
{
    const size_t n = 1 << 14;
    struct emu_counts scalar = count(&step05, 0, n), vector = count(&step06, 0, n);

    cr_assert(scalar.global_ld.requests > 2 * vector.global_ld.requests);
    cr_assert(scalar.barriers > 2 * vector.barriers);
}

/* Words that a scan moves for each element, by its sectors of eight. */
static double words(const struct step *step, int variant, size_t n)
{
    struct emu_counts counters = count(step, variant, n);
    uint64_t sectors = counters.global_ld.sectors + counters.global_st.sectors;
    return 8.0 * (double)sectors / (double)n;
}

/* The tree of step 8 moves 8n words through device memory: it loads 5n and stores 3n. Scans in
 * blocks move 4n, and a little more for sums and increments. Step 10 moves 3n, and a few words more
 * while blocks poll in grid.sync(). */
Test(step_counters, words_that_move)
{
    enum { N = 1 << 18, TREE_OF_STEP_8 = 1 };
    setenv("EMU_THREADS", "1", 1); // blocks poll more, the more host threads share a processor
    double tree = words(&step08, TREE_OF_STEP_8, N);
    double blocks = words(&step07, 0, N), cooperative = words(&step10, 0, N);
    cr_assert_str_eq(variant_name(&step08, TREE_OF_STEP_8), "tree");
    cr_expect(tree >= 8 && tree < 8.01, "%g", tree);
    cr_expect(blocks >= 4 && blocks < 4.1, "%g", blocks);
    cr_expect(cooperative > 2.9 && cooperative < 3.9, "%g", cooperative);
}

/* Step 12 stores n words and its sums: each 16 bytes of a lane with one access. */
Test(step_counters, vectors_stay_whole)
{
    static const size_t sizes[] = {1 << 13, 1 << 20,
                                   (1 << 22) + (1 << 16)}; /* the last: scan_pipeline */

    for (size_t i = 0; i < LENGTH(sizes); i++) {
        struct emu_counts counters = count(&step12, 0, sizes[i]);
        const struct emu_global *stores = &counters.global_st;
        cr_expect(stores->sectors >= sizes[i] / 8 && stores->sectors < 1.01 * (double)sizes[i] / 8,
                  "%zu floats: %llu sectors", sizes[i], (unsigned long long)stores->sectors);
    }
}

/* Unrolling takes away instructions. It changes no store, no addition and no barrier. It removes
 * some loads from shared memory, where constants show the compiler that temp[bi] has not
 * changed. */
Test(step_counters, unrolling_saves_instructions_only)
{
    const size_t n = 1 << 14;
    struct emu_counts loops = count(&step06, 0, n), unrolled = count(&step07, 0, n);

    cr_assert(unrolled.instructions < loops.instructions);
    cr_assert(unrolled.barriers == loops.barriers);
    cr_assert(unrolled.shared_ld.wavefronts <= loops.shared_ld.wavefronts);
    cr_assert(unrolled.shared_st.wavefronts == loops.shared_st.wavefronts);
    cr_assert(unrolled.global_ld.sectors == loops.global_ld.sectors);
    cr_assert(unrolled.adds[EMU_ADD_F32] == loops.adds[EMU_ADD_F32]);
}

/* A block of step 7 passes a barrier at each level, up and down, and one more. A block of step 9
 * passes two. */
Test(step_counters, shuffles_spare_barriers)
{
    const size_t n = 2048, warps = 8;
    struct emu_counts tree = count(&step07, 0, n);

    cr_assert(tree.barriers == 19 * warps);
    for (int variant = 0; variant < variant_count(&step09); variant++) {
        struct emu_counts shuffles = count(&step09, variant, n);
        cr_assert(shuffles.barriers == 2 * warps);
        cr_assert(shuffles.shared_ld.wavefronts < tree.shared_ld.wavefronts);
    }
}
