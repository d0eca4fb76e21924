/*
 * test_pipeline.c — what step 12 and its scan.h promise: right for each type, n, and way to call
 * it; floats equal the CPU's bit by bit, for any order of blocks, any number of blocks, and any
 * GPU; errors as documented. On a GPU, at full size: tests/cases/promises.
 */
#define _GNU_SOURCE
#include "common/step/element.h"
#include "common/harness/input/input.h"
#include "common/harness/verify/verify.h"
#include "tests/support/cudart_check.h"
#include "tests/cases/fixtures/fixtures.h"
#include "steps/12-pipeline/reference.h"
#include "steps/12-pipeline/scan.h"

#include <math.h>
#include <stdlib.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* Memory that lasts as long as the test. */
static void *kept[512];
static size_t kept_count;

static void *keep(void *memory)
{
    cr_assert(memory != NULL && kept_count < LENGTH(kept));
    return kept[kept_count++] = memory;
}

static void free_kept(void)
{
    for (size_t i = 0; i < kept_count; i++) free(kept[i]);
}

TestSuite(pipeline, .fini = free_kept, .timeout = 240);

/* ---- scan.h by type -------------------------------------------------------------------------- */

typedef cudaError_t any_scan(void *workspace, size_t *bytes, void *out, const void *in, size_t n,
                             cudaStream_t);

#define ANY_SCANS(name)                                                                            \
    static cudaError_t exclusive_##name(void *w, size_t *bytes, void *out, const void *in,         \
                                        size_t n, cudaStream_t stream)                             \
    {                                                                                              \
        return scan_exclusive_##name(w, bytes, out, in, n, stream);                                \
    }                                                                                              \
    static cudaError_t inclusive_##name(void *w, size_t *bytes, void *out, const void *in,         \
                                        size_t n, cudaStream_t stream)                             \
    {                                                                                              \
        return scan_inclusive_##name(w, bytes, out, in, n, stream);                                \
    }
ANY_SCANS(f32)
ANY_SCANS(f64)
ANY_SCANS(i32)
ANY_SCANS(u64)
ANY_SCANS(i16)
ANY_SCANS(i8)

enum { F32, F64, I32, U64, I16, I8, TYPES };
static const struct type {
    const char *name;
    enum element element;
    size_t in_bytes, sum_bytes;
    any_scan *scan[2]; /* exclusive, inclusive */
} types[TYPES] = {{"f32", ELEMENT_F32, 4, 4, {exclusive_f32, inclusive_f32}},
                  {"f64", ELEMENT_F64, 8, 8, {exclusive_f64, inclusive_f64}},
                  {"i32", ELEMENT_I32, 4, 4, {exclusive_i32, inclusive_i32}},
                  {"u64", ELEMENT_I64, 8, 8, {exclusive_u64, inclusive_u64}},
                  {"i16", ELEMENT_I16, 2, 4, {exclusive_i16, inclusive_i16}},
                  {"i8", ELEMENT_I8, 1, 4, {exclusive_i8, inclusive_i8}}};

/* One scan: buffers `offset` elements off their alignment. */
struct job {
    int type;
    size_t n;
    bool inclusive, in_place;
    size_t offset;
};
#define JOB_FORMAT "%s %s, n = %zu, offset %zu%s: "
#define JOB_ARGS(j)                                                                                \
    types[(j)->type].name, (j)->inclusive ? "inclusive" : "exclusive", (j)->n, (j)->offset,        \
        (j)->in_place ? ", in place" : ""

static const struct type *type_of(const struct job *job) { return &types[job->type]; }

static any_scan *scan_of(const struct job *job) { return type_of(job)->scan[job->inclusive]; }

static size_t workspace_bytes(const struct job *job)
{
    size_t bytes = 0;
    ok(scan_of(job)(NULL, &bytes, NULL, NULL, job->n, NULL));
    return bytes;
}

static struct guarded make_workspace(size_t bytes)
{
    struct guarded workspace = guarded(NULL, bytes, 0);
    ok(scan_workspace_init(workspace.data, bytes, NULL));
    return workspace;
}

/* Random numbers: real ones where the type has them. */
static void *numbers(int type, size_t n)
{
    struct input input;
    struct fault fault;
    cr_assert(input_generate(&input, types[type].element, n, RANDOM_REALS, 12, &fault) == 0);
    return keep(input.data);
}

/* The expected result: of floats that of the reference, of integers the sums. */
static void *wanted(const struct job *job, const void *in, int capability)
{
    size_t bytes = type_of(job)->sum_bytes;
    bool aligned = job->offset * type_of(job)->in_bytes % 16 == 0 && job->offset * bytes % 16 == 0;
    enum kernel kernel = kernel_for(job->n, bytes, capability, aligned);
    void *want = keep(malloc(job->n * bytes + 1));
    uint64_t sum = 0, element = 0;
    switch (job->type) {
    case F32: reference_f32(want, in, job->n, job->inclusive, kernel); return want;
    case F64: reference_f64(want, in, job->n, job->inclusive, kernel); return want;
    }
    for (size_t i = 0; i < job->n; i++) {
        switch (job->type) {
        case I32: element = (uint64_t)((const int32_t *)in)[i]; break;
        case U64: element = ((const uint64_t *)in)[i]; break;
        case I16: element = (uint64_t)((const int16_t *)in)[i]; break;
        case I8: element = (uint64_t)((const int8_t *)in)[i]; break;
        }
        uint64_t out = job->inclusive ? sum + element : sum;
        memcpy((char *)want + i * bytes, &out, bytes); /* its lower half, if sums have 32 bits */
        sum += element;
    }
    return want;
}

/* Runs the job with this workspace; the result must equal `want` bit by bit. */
static void expect_bits(const struct job *job, const void *in, const void *want,
                        struct guarded *workspace)
{
    size_t size = type_of(job)->in_bytes, sum = type_of(job)->sum_bytes, bytes = job->n * sum;
    struct guarded from = guarded(in, job->n * size, job->offset * size), out = from;
    unsigned char *got = malloc(bytes + 1);
    cr_assert(got != NULL);
    if (!job->in_place) out = guarded(NULL, bytes, job->offset * sum);
    cudaError_t error =
        scan_of(job)(workspace->data, &workspace->bytes, out.data, from.data, job->n, NULL);
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    cr_assert(error == cudaSuccess, JOB_FORMAT "%s", JOB_ARGS(job), cudaGetErrorString(error));
    ok(cudaMemcpy(got, out.data, bytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; memcmp(got, want, bytes) != 0; i++)
        cr_assert(memcmp(got + i * sum, (const char *)want + i * sum, sum) == 0,
                  JOB_FORMAT "out[%zu] is another", JOB_ARGS(job), i);
    release(&out, NULL, "the result");
    if (!job->in_place) release(&from, in, "the input");
    free(got);
}

/* Does the same with its own workspace, result and numbers. */
static void expect_right(const struct job *job, const void *in, int capability)
{
    struct guarded workspace = make_workspace(workspace_bytes(job));
    void *want = wanted(job, in, capability);
    expect_bits(job, in, want, &workspace);
    release(&workspace, NULL, "the workspace");
}

/* ---- every n and way to call ----------------------------------------------------------------- */

/* Values of n at which another kernel, block, tile, segment or row begins, and some in between. The
 * largest comes last. */
struct sizes {
    size_t n[64];
    int count;
};

static void add_around(struct sizes *sizes, size_t n)
{
    for (size_t near = n - 1; near <= n + 1; near++) sizes->n[sizes->count++] = near;
}

static struct sizes sizes_of(size_t sum_bytes)
{
    struct sizes sizes = {.n = {0, 1, 2, 3, 5}, .count = 5};
    size_t row = ROW(sum_bytes);
    add_around(&sizes, row);
    add_around(&sizes, (size_t)TILE(sum_bytes));
    size_t fine = (size_t)FINE_SEGMENTS(sum_bytes) * FINE_ROWS(sum_bytes) * row;
    size_t medium = (size_t)MEDIUM_SEGMENTS * MEDIUM_ROWS * row;
    add_around(&sizes, fine);
    add_around(&sizes, FINE_MAX_TILES * fine);
    add_around(&sizes, MEDIUM_MAX_TILES * medium);
    return sizes;
}

static void expect_all_right(int type, const struct sizes *sizes)
{
    void *in = numbers(type, sizes->n[sizes->count - 1]);
    for (int i = 0; i < sizes->count; i++)
        for (int way = 0; way < 2; way++) {
            bool may_be_in_place = types[type].in_bytes == types[type].sum_bytes;
            expect_right(&(struct job){type, sizes->n[i], way == 1, may_be_in_place && i % 2 == way,
                                       (size_t)((i + way) % 5)},
                         in, 90);
        }
}

/* scan_wave, of each type. */
static void expect_type(int type)
{
    struct sizes sizes = sizes_of(types[type].sum_bytes);
    expect_all_right(type, &sizes);
}
Test(pipeline, f32_at_every_edge) { expect_type(F32); }
Test(pipeline, f64_at_every_edge) { expect_type(F64); }
Test(pipeline, i32_at_every_edge) { expect_type(I32); }
Test(pipeline, u64_at_every_edge) { expect_type(U64); }
Test(pipeline, i16_at_every_edge) { expect_type(I16); }
Test(pipeline, i8_at_every_edge) { expect_type(I8); }

/* The n at which scan_onchip and scan_pipeline begin. */
static size_t onchip_from(size_t sum_bytes) { return WAVE_MAX(sum_bytes) + 1; }
static size_t pipeline_from(size_t sum_bytes) { return ONCHIP_MAX(sum_bytes) + 1; }

/* scan_onchip: at its first n, with the most rows, and where its last segment, or its last tile,
 * has a few elements only. Elements are aligned to 16 bytes or not. */
static void expect_onchip(int type)
{
    size_t bytes = types[type].sum_bytes, first = onchip_from(bytes),
           last = pipeline_from(bytes) - 1;
    size_t n[] = {first, last - 12345, last};
    bool may_be_in_place = types[type].in_bytes == types[type].sum_bytes;
    void *in = numbers(type, last);
    for (size_t i = 0; i < LENGTH(n); i++) {
        cr_expect_eq(kernel_for(n[i], bytes, 90, i != 1), KERNEL_ONCHIP);
        expect_right(&(struct job){type, n[i], i != 0, may_be_in_place && i == 1, i % 2}, in, 90);
    }
    cr_expect_eq(onchip_division(last, bytes).rows, ONCHIP_MAX_ROWS);
}
Test(pipeline, f32_on_the_chip_slow) { expect_onchip(F32); }
Test(pipeline, f64_on_the_chip_slow) { expect_onchip(F64); }
Test(pipeline, i32_on_the_chip_slow) { expect_onchip(I32); }
Test(pipeline, u64_on_the_chip_slow) { expect_onchip(U64); }
Test(pipeline, i16_on_the_chip_slow) { expect_onchip(I16); }
Test(pipeline, i8_on_the_chip_slow) { expect_onchip(I8); }

/* scan_pipeline, from its first n on; and at 16 bytes off their alignment, elements of its size. */
Test(pipeline, large_n_slow)
{
    for (int type = 0; type < TYPES; type++) {
        size_t n = pipeline_from(types[type].sum_bytes);
        bool may_be_in_place = types[type].in_bytes == types[type].sum_bytes;
        void *in = numbers(type, n + 20011);
        cr_expect_eq(kernel_for(n - 1, types[type].sum_bytes, 90, true), KERNEL_ONCHIP);
        cr_expect_eq(kernel_for(n, types[type].sum_bytes, 90, true), KERNEL_PIPELINE);
        if (type == F64) /* whose first n is the smallest */
            expect_right(&(struct job){type, n, false, true, 0}, in, 90);
        expect_right(&(struct job){type, n + 20011, type % 2 == 0, may_be_in_place, 16}, in, 90);
    }
}

/* Elements that are not aligned to 16 bytes are copied in another way, and added in the same
 * order. */
Test(pipeline, large_n_misaligned_slow)
{
    size_t n = pipeline_from(4) + 12345;
    float *in = numbers(F32, n);
    cr_expect_eq(kernel_for(n, 4, 90, false), KERNEL_DIRECT);
    expect_right(&(struct job){F32, n, false, true, 1}, in, 90);
    expect_right(&(struct job){F32, n, true, false, 3}, in, 90);
}

/* ---- the same bits --------------------------------------------------------------------------- */

/* Zeros have a sign: a sum of only -0 equals that of the reference. */
Test(pipeline, signs_of_zeros)
{
    enum { N = 3000 };
    static float in[N];
    for (size_t i = 0; i < N; i++) in[i] = -0.0f;
    expect_right(&(struct job){F32, N, false, false, 0}, in, 90);
    expect_right(&(struct job){F32, N, true, false, 0}, in, 90);
}

/* Any number of blocks, from one to more than there are tiles. */
Test(pipeline, any_number_of_blocks)
{
    static const unsigned blocks[] = {1, 2, 3, 7, 40};
    enum { TILES = 37 };
    size_t n[] = {(TILES - 1) * (size_t)TILE(4) + 999, (TILES - 1) * (size_t)TILE(8) + 999};
    void *in[] = {numbers(F32, n[0]), numbers(F64, n[1])};
    for (int type = F32; type <= F64; type++) {
        struct job job = {type, n[type], false, false, 0};
        size_t bytes = n[type] * types[type].sum_bytes;
        struct guarded workspace = make_workspace(workspace_bytes(&job));
        struct guarded out = guarded(NULL, bytes, 0), from = guarded(in[type], bytes, 0);
        void *got = keep(malloc(bytes)), *want = keep(malloc(bytes)), *w = workspace.data;
        if (type == F32)
            reference_f32(want, in[type], n[type], false, KERNEL_PIPELINE);
        else
            reference_f64(want, in[type], n[type], false, KERNEL_PIPELINE);
        for (size_t i = 0; i < 2 * LENGTH(blocks); i++) {
            unsigned count = blocks[i / 2];
            void *to = out.data, *x = from.data;
            ok(cudaMemset(to, 0xA5, bytes));
            if (type == F32)
                ok((i % 2 ? launch_direct_f32 : launch_pipeline_f32)(to, x, n[type], w, count));
            else
                ok((i % 2 ? launch_direct_f64 : launch_pipeline_f64)(to, x, n[type], w, count));
            ok(cudaMemcpy(got, to, bytes, cudaMemcpyDeviceToHost));
            cr_assert(memcmp(got, want, bytes) == 0, "%s by %u blocks of scan_%s", types[type].name,
                      count, i % 2 ? "direct" : "pipeline");
        }
        release(&workspace, NULL, "the workspace");
        release(&out, NULL, "the result");
        release(&from, in[type], "the input");
    }
}

/* Other GPUs hold other numbers of blocks, and GPUs before Hopper use another kernel for small
 * n. */
static void expect_same_bits_on(const char *gpu, int capability)
{
    setenv("EMU_GPU", gpu, 1);
    for (int type = F32; type <= F64; type++) {
        size_t n = pipeline_from(types[type].sum_bytes) + 4321;
        void *in = numbers(type, n);
        expect_right(&(struct job){type, n, false, true, 0}, in, capability);
        expect_right(
            &(struct job){type, onchip_from(types[type].sum_bytes) + 4321, type == F64, true, 0},
            in, capability);
        expect_right(&(struct job){type, 33333, true, false, 1}, in, capability);
    }
}
Test(pipeline, same_bits_on_a_t4_slow) { expect_same_bits_on("t4", 75); }
Test(pipeline, same_bits_on_an_a100_slow) { expect_same_bits_on("a100", 80); }
Test(pipeline, same_bits_on_a_b200_slow) { expect_same_bits_on("b200", 100); }

/* A hundred runs, each with another random order of lanes, warps and blocks. (Each launch of a
 * process has its own order.) */
static void expect_a_hundred_times(const char *order, int type)
{
    cr_redirect_stderr(); /* the emulator says how to repeat it */
    setenv("EMU_SCHEDULE", "12", 1);
    setenv("EMU_BLOCKS", order, 1);
    size_t small = TILE(types[type].sum_bytes);
    const struct job jobs[] = {{type, small - 99, false, false, 0},
                               {type, 5 * small + 99, false, false, 0}};
    void *in = numbers(type, jobs[1].n);
    for (size_t i = 0; i < LENGTH(jobs); i++) {
        struct guarded workspace = make_workspace(workspace_bytes(&jobs[i]));
        void *want = wanted(&jobs[i], in, 90);
        for (int run = 0; run < 50; run++) expect_bits(&jobs[i], in, want, &workspace);
        release(&workspace, NULL, "the workspace");
    }
}
Test(pipeline, a_hundred_runs) { expect_a_hundred_times("ascending", F32); }
Test(pipeline, a_hundred_runs_in_descending_order) { expect_a_hundred_times("descending", F64); }

/* The kernels of larger n, in several orders. */
static void expect_in_other_orders(struct job job)
{
    cr_redirect_stderr();
    setenv("EMU_SCHEDULE", "7", 1);
    setenv("EMU_BLOCKS", "descending", 1);
    void *in = numbers(job.type, job.n), *want = wanted(&job, in, 90);
    struct guarded workspace = make_workspace(workspace_bytes(&job));
    for (int run = 0; run < 3; run++) expect_bits(&job, in, want, &workspace);
    release(&workspace, NULL, "the workspace");
}
Test(pipeline, on_the_chip_in_other_orders_slow)
{
    expect_in_other_orders((struct job){F64, onchip_from(8) + 77, false, false, 0});
}
/* In descending order, the blocks that fit on a T4 wait for sums of blocks that begin only when
 * they have ended. */
static void expect_without_the_first_blocks(struct job job)
{
    setenv("EMU_GPU", "t4", 1);
    setenv("EMU_BLOCKS", "descending", 1);
    void *in = numbers(job.type, job.n);
    expect_right(&job, in, 75);
}
Test(pipeline, floats_of_blocks_that_have_not_begun_slow)
{
    expect_without_the_first_blocks((struct job){F32, 200 * TILE(4) - 5, false, false, 0});
}
Test(pipeline, bytes_of_blocks_that_have_not_begun_slow)
{
    expect_without_the_first_blocks((struct job){I8, 200 * TILE(4) - 5, true, false, 1});
}
/* In place such a sum cannot be made up for: its block may overwrite the tile meanwhile. */
Test(pipeline, in_place_of_blocks_that_have_not_begun_slow)
{
    cr_redirect_stderr(); /* the emulator may say how to repeat it */
    setenv("EMU_SCHEDULE", "1", 1);
    expect_without_the_first_blocks((struct job){I32, 200 * TILE(4) - 5, true, true, 0});
}
Test(pipeline, large_n_in_other_orders_slow)
{
    expect_in_other_orders((struct job){F32, pipeline_from(4) + 77, false, false, 0});
}

/* ---- the bound of the error ------------------------------------------------------------------ */

/* The largest error divided by its bound, |x0| + … + |xi| times the factor: at most 1. */
static double of_bound(const float *out, const float *in, size_t n)
{
    enum kernel kernel = kernel_for(n, 4, 90, true);
    double bound = reference_bound(n, 4, kernel), worst = 0;
    long double sum = 0, magnitude = 0;
    for (size_t i = 0; i < n; i++) {
        double error = fabs((double)(out[i] - sum)), may = bound * (double)magnitude;
        if (error > 0) worst = fmax(worst, may > 0 ? error / may : INFINITY);
        sum += in[i];
        magnitude += fabsf(in[i]);
    }
    return worst;
}

/* The bound is that of the tree: adding positive numbers one after the other exceeds it. The
 * reference stands for the kernels, which give the same bits. */
Test(pipeline, error_is_within_the_bound_slow)
{
    size_t sizes[] = {5000, 8192, onchip_from(4) + 3, (size_t)1 << 23, pipeline_from(4) + 3};
    float *out = keep(malloc(sizeof(float) << 24));
    for (size_t s = 0; s < LENGTH(sizes); s++) {
        size_t n = sizes[s];
        float *in = numbers(F32, n);
        for (int kind = 0; kind < 3; kind++) { /* with a sign, without a sign, all equal */
            for (size_t i = 0; i < n && kind > 0; i++) in[i] = kind == 1 ? fabsf(in[i]) : 0.1f;
            reference_f32(out, in, n, false, kernel_for(n, 4, 90, true));
            double worst = of_bound(out, in, n);
            cr_expect(worst > 0 && worst <= 1, "n = %zu: %g of the bound", n, worst);
            float sum = 0;
            for (size_t i = 0; i < n; i++) out[i] = sum, sum += in[i];
            if (kind == 2 && n > 1 << 20) cr_expect_gt(of_bound(out, in, n), 1);
        }
    }
}

/* The error grows with log n within a tile, and beyond only in the type of the carry. */
Test(pipeline, depth_of_floats_does_not_grow)
{
    struct reference_depth million = reference_depth(1 << 20, 4, KERNEL_PIPELINE);
    struct reference_depth billion = reference_depth(1 << 30, 4, KERNEL_PIPELINE);
    cr_expect_eq(million.sums, billion.sums);
    cr_expect_leq(million.sums, 2 * log2(TILE(4)));
    cr_expect_eq(billion.carries - million.carries,
                 (double)((1 << 30) - (1 << 20)) / TILE(4) / LANES);
    cr_expect_lt(billion.carries * 0x1p-53, 1e-4 * billion.sums * 0x1p-24);
    /* As notes/12e-library.md adds them up. */
    cr_expect_eq(million.sums, 3 + 7 + 5 + 3 + 1 + 1);
    for (size_t n = 1; n <= WAVE_MAX(4); n *= 2)
        cr_expect_leq(reference_depth(n, 4, KERNEL_WAVE).sums, million.sums);
    /* 18 rows, or 12, and 32 segments in place of 8 and 8. */
    cr_expect_eq(reference_depth(ONCHIP_MAX(4), 4, KERNEL_ONCHIP).sums, million.sums + 10 + 2);
    cr_expect_eq(reference_depth(WAVE_MAX(4) + 1, 4, KERNEL_ONCHIP).sums, million.sums + 4 + 2);
    cr_expect_eq(billion.carries, (double)(1 << 30) / (1 << 18) + 5);
    cr_expect_lt(billion.carries * 0x1p-29, 1e-5);
}

/* ---- streams, graphs, workspaces ------------------------------------------------------------- */

/* A workspace is cleared once; then it serves every type and n for which it is large enough. The
 * next scan ignores the data that a scan leaves there, in states of another form. */
Test(pipeline, one_workspace_for_all_slow)
{
    size_t large = pipeline_from(8) + 55;
    const struct job jobs[] = {{F32, 99999, false, false, 0}, {F64, large, true, false, 0},
                               {I8, 300001, false, false, 0}, {U64, 200002, true, true, 0},
                               {F32, 77, false, false, 0},    {I16, 131072, true, false, 1},
                               {F64, 99999, true, false, 0},  {U64, 1200000, false, true, 0}};
    struct guarded workspace = make_workspace(workspace_bytes(&jobs[1]) + 4096);
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < LENGTH(jobs); i++) {
            void *in = numbers(jobs[i].type, jobs[i].n), *want = wanted(&jobs[i], in, 90);
            expect_bits(&jobs[i], in, want, &workspace);
        }
    release(&workspace, NULL, "the workspace");
}

/* For each way in which scan_wave divides its elements, there is a state for each tile. */
Test(pipeline, a_state_for_each_tile)
{
    for (size_t bytes = 4; bytes <= 8; bytes += 4)
        for (size_t n = 1; n <= WAVE_MAX(bytes); n += 97)
            cr_assert_leq(tiles_in(n, wave_division(n, bytes), bytes), states_for(n, bytes),
                          "%zu sums of %zu bytes", n, bytes);
    for (size_t bytes = 4; bytes <= 8; bytes += 4)
        for (size_t n = WAVE_MAX(bytes) + 1; n <= ONCHIP_MAX(bytes); n += 997) {
            struct division d = onchip_division(n, bytes);
            cr_assert_leq(tiles_in(n, d, bytes), ONCHIP_MAX_TILES);
            cr_assert_leq(ONCHIP_MAX_TILES, states_for(n, bytes));
            cr_assert(d.rows % PART_ROWS == 0 && d.rows <= ONCHIP_MAX_ROWS, "%d rows", d.rows);
        }
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* Calls that are refused, or have nothing to do, write nothing and launch nothing. */
struct refused {
    struct guarded workspace, in, out;
};

static struct refused begin_refusal(const struct job *job)
{
    return (struct refused){guarded(NULL, workspace_bytes(job) + 64, 0),
                            guarded(NULL, job->n * type_of(job)->in_bytes, 0),
                            guarded(NULL, job->n * type_of(job)->sum_bytes, 0)};
}

static void end_refusal(struct refused *r)
{
    struct guarded *all[] = {&r->workspace, &r->in, &r->out};
    ok(cudaGetLastError());
    ok(cudaDeviceSynchronize());
    for (size_t i = 0; i < LENGTH(all); i++) {
        void *untouched = memset(keep(malloc(all[i]->bytes)), 0xA5, all[i]->bytes);
        release(all[i], untouched, "an array");
    }
}

/* Without a workspace the call stores the size that is needed: more for more tiles, never 0. */
Test(pipeline, tells_how_large_a_workspace_it_needs)
{
    for (int type = 0; type < TYPES; type++) {
        struct job job = {type, 100000, false, false, 0};
        struct refused r = begin_refusal(&job);
        size_t bytes = 0, before = 0;
        for (size_t n = 0; n < (size_t)1 << 40; n = 3 * n + 1) {
            ok(scan_of(&job)(NULL, &bytes, r.out.data, r.in.data, n, NULL));
            cr_expect(bytes > 0 && bytes >= before && bytes <= 4096 + n / 100);
            before = bytes;
        }
        end_refusal(&r);
    }
}

/* Tickets have 32 bits, so 2^31 tiles and more are refused. No memory of that size exists, so the
 * call must not access any. */
Test(pipeline, refuses_too_many_tiles)
{
    /* n + TILE - 1 overflows to 0, so the number of tiles would be 0. */
    cr_expect_eq(tiles_of(SIZE_MAX, 4), SIZE_MAX / TILE(4) + 1);
    cr_expect_eq(tiles_of(2 * TILE(4), 4), 2);
    cr_expect_eq(tiles_of(2 * TILE(4) + 1, 4), 3);
    for (int type = 0; type < TYPES; type++)
        for (int inclusive = 0; inclusive < 2; inclusive++) {
            size_t tile = TILE(types[type].sum_bytes), most = tile * INT32_MAX, all = SIZE_MAX;
            struct job job = {type, 10, inclusive, false, 0};
            struct refused r = begin_refusal(&job);
            any_scan *scan = scan_of(&job);
            void *w = r.workspace.data, *out = r.out.data, *in = r.in.data;
            is(scan(w, &all, out, in, most + 1, NULL), cudaErrorInvalidValue);
            is(scan(w, &all, out, in, SIZE_MAX, NULL), cudaErrorInvalidValue);
            is(scan(w, &r.workspace.bytes, out, in, most, NULL), cudaErrorInvalidValue);
            end_refusal(&r);
        }
}
