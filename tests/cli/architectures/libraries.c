/*
 * libraries.c — runs the kernels of steps 12 to 16 that differ by architecture, and a bulk copy, on
 * the GPU that is there. make test-architectures builds it with libraries that were compiled for
 * one architecture each, and runs it on GPUs of others.
 *
 *     build/architectures/sm_80/run 80     80: the libraries hold no code for a GPU below 8.0
 *     build/architectures/sm_80/run        prints the GPU's name
 *
 * Each result must be right; on a GPU below that capability each call must return an error. The
 * last line says which it was. Exit code 0; 1: a result was wrong, or an error was not expected;
 * 3: there is no GPU.
 */
#include "common/step/cuda_check.h"
#include "common/harness/run/device.h"
#include "steps/12-pipeline/parts/shape.h"
#include "steps/12-pipeline/scan.h"
#include "steps/13-compaction/compact.h"
#include "steps/14-summed-area-table/sat.h"
#include "steps/15-radix-sort/sort.h"
#include "common/tools/library/scan/scan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The fewest elements for each kernel. */
#define ONCHIP_FROM   (WAVE_MAX(sizeof(float)) + 1)
#define PIPELINE_FROM (ONCHIP_MAX(sizeof(float)) + 1)
#define LIST_FROM     ((size_t)128 * 8192 + 1) /* select_list: fast.cu of step 13 */
#define SELECT_FROM   ((size_t)512 * 8192 + 1) /* select_pipeline */
#define OPERATOR_FROM ((size_t)128 * 8192 + 1) /* scan_pipeline: shape.h of step 16 */
#define SWEEPS_FROM   (((size_t)1 << 20) + 1)  /* sort_by_digit: shape.h of step 15 */

#define MEMORY ((size_t)48 << 20) /* bytes of each array: enough for all cases */

/* The memory of a case. */
struct memory {
    void *in, *out, *values, *workspace; /* of the device */
    void *host_in, *host_out;
};

static int get_memory(struct memory *m, struct fault *fault)
{
    CUDA_CHECK(fault, cudaMalloc(&m->in, MEMORY));
    CUDA_CHECK(fault, cudaMalloc(&m->out, MEMORY));
    CUDA_CHECK(fault, cudaMalloc(&m->values, MEMORY));
    CUDA_CHECK(fault, cudaMalloc(&m->workspace, MEMORY));
    m->host_in = malloc(MEMORY);
    m->host_out = malloc(MEMORY);
    return m->host_in && m->host_out ? 0 : fail(fault, EXIT_DEVICE, "no memory of the host.");
}

static uint32_t hash(size_t i) { return (uint32_t)(((uint64_t)i + 1) * 0x9E3779B97F4A7C15u >> 32); }

static int upload(struct memory *m, size_t bytes, struct fault *fault)
{
    CUDA_CHECK(fault, cudaMemset(m->out, 0xff, MEMORY));
    CUDA_CHECK(fault, cudaMemcpy(m->in, m->host_in, bytes, cudaMemcpyHostToDevice));
    return 0;
}

static int download(const struct memory *m, size_t bytes, struct fault *fault)
{
    CUDA_CHECK(fault, cudaDeviceSynchronize());
    CUDA_CHECK(fault, cudaMemcpy(m->host_out, m->out, bytes, cudaMemcpyDeviceToHost));
    return 0;
}

static int wrong(size_t i, struct fault *fault)
{
    return fail(fault, EXIT_WRONG, "element %zu of the result is wrong.", i);
}

/* Zeros and ones: all sums of floats are exact. */
static int zeros_and_ones(struct memory *m, size_t n, struct fault *fault)
{
    float *x = m->host_in;
    for (size_t i = 0; i < n; i++) x[i] = (float)(hash(i) & 1);
    return upload(m, n * sizeof *x, fault);
}

/* Are these the sums of the elements before, in this direction? */
static int expect_sums(const struct memory *m, size_t n, bool reverse, struct fault *fault)
{
    const float *x = m->host_in, *y = m->host_out;
    float sum = 0;
    if (download(m, n * sizeof *y, fault)) return fault->code;
    for (size_t k = 0; k < n; k++) {
        size_t i = reverse ? n - 1 - k : k;
        if (y[i] != sum) return wrong(i, fault);
        sum += x[i];
    }
    return 0;
}

/* `shift` elements off the alignment that a pipeline needs: then scan_direct takes its place. */
static int scan(struct memory *m, size_t n, size_t shift, struct fault *fault)
{
    size_t bytes = MEMORY;
    float *out = m->out, *in = m->in;
    if (zeros_and_ones(m, n + shift, fault)) return fault->code;
    m->host_in = (float *)m->host_in + shift;
    m->out = out + shift;
    CUDA_CHECK(fault, scan_workspace_init(m->workspace, bytes, NULL));
    CUDA_CHECK(fault, scan_exclusive_f32(m->workspace, &bytes, out + shift, in + shift, n, NULL));
    return expect_sums(m, n, false, fault);
}

/* Numbers below 2^24 from 0 on, and every third one is -1, which is not kept. */
static int compact(struct memory *m, size_t n, size_t shift, struct fault *fault)
{
    struct predicate keep = predicate_between(key_of_f32(0), key_of_f32(INFINITY));
    size_t bytes = MEMORY, at = 0;
    uint64_t kept;
    float *x = m->host_in, *y = m->host_out;
    for (size_t i = 0; i < n + shift; i++) x[i] = hash(i) % 3 ? (float)(i % (1 << 24)) : -1;
    if (upload(m, (n + shift) * sizeof *x, fault)) return fault->code;
    CUDA_CHECK(fault, compact_workspace_init(m->workspace, bytes, NULL));
    CUDA_CHECK(fault, compact_f32(m->workspace, &bytes, m->out, m->values, (float *)m->in + shift,
                                  n, &keep, NULL));
    if (download(m, n * sizeof *y, fault)) return fault->code;
    CUDA_CHECK(fault, cudaMemcpy(&kept, m->values, sizeof kept, cudaMemcpyDeviceToHost));
    for (size_t i = shift; i < n + shift; i++)
        if (x[i] >= 0 && y[at++] != x[i]) return wrong(at - 1, fault);
    return kept == at ? 0 : fail(fault, EXIT_WRONG, "%zu elements were not kept.", at);
}

/* A picture with three channels and n rows. */
static int table(struct memory *m, size_t n, size_t shift, struct fault *fault)
{
    enum { CHANNELS = 3, WIDTH = 300, ROW_SAMPLES = WIDTH * CHANNELS };
    size_t bytes = MEMORY, samples = n * ROW_SAMPLES;
    uint8_t *x = m->host_in;
    uint32_t *y = m->host_out;
    for (size_t i = 0; i < samples; i++) x[i] = (uint8_t)hash(i);
    if (upload(m, samples, fault)) return fault->code;
    CUDA_CHECK(fault, sat_u8(m->workspace, &bytes, (uint32_t *)m->out + shift, m->in,
                             (struct sat_size){WIDTH, n, CHANNELS}, NULL));
    m->out = (uint32_t *)m->out + shift;
    if (download(m, samples * sizeof *y, fault)) return fault->code;
    for (size_t i = 0; i < samples; i++) {
        bool left = i % ROW_SAMPLES >= CHANNELS, above = i >= ROW_SAMPLES;
        uint32_t sum = x[i] + (left ? y[i - CHANNELS] : 0) + (above ? y[i - ROW_SAMPLES] : 0) -
                       (left && above ? y[i - ROW_SAMPLES - CHANNELS] : 0);
        if (y[i] != sum) return wrong(i, fault);
    }
    return 0;
}

/* Pairs of keys and their indices: sorted, equal keys in the order of their indices, and each key
 * with its own index. */
static int sort(struct memory *m, size_t n, size_t shift, struct fault *fault)
{
    size_t bytes = MEMORY;
    uint32_t *x = m->host_in, *y = m->host_out, *from = y + n;
    for (size_t i = 0; i < n; i++) x[i] = hash(i) % (uint32_t)n;
    if (upload(m, n * sizeof *x, fault)) return fault->code;
    CUDA_CHECK(fault, sort_workspace_init(m->workspace, bytes, NULL));
    CUDA_CHECK(fault, sort_pairs_u32(m->workspace, &bytes, m->out, (uint32_t *)m->out + n, m->in,
                                     NULL, n, shift ? SORT_DESCENDING : SORT_ASCENDING, NULL));
    if (download(m, 2 * n * sizeof *y, fault)) return fault->code;
    for (size_t i = 0; i < n; i++) {
        if (from[i] >= n || x[from[i]] != y[i]) return wrong(i, fault);
        if (i > 0 && y[i] == y[i - 1] && from[i] <= from[i - 1]) return wrong(i, fault);
        if (i > 0 && (shift ? y[i] > y[i - 1] : y[i] < y[i - 1])) return wrong(i, fault);
    }
    return 0;
}

static int sum(struct memory *m, size_t n, size_t reverse, struct fault *fault)
{
    struct upsweep_scan_options options = {.reverse = reverse};
    size_t bytes = MEMORY;
    if (zeros_and_ones(m, n, fault)) return fault->code;
    CUDA_CHECK(fault, scan_operators_init(m->workspace, bytes, NULL));
    CUDA_CHECK(fault, scan_sum_f32(m->workspace, &bytes, m->out, m->in, n, &options, NULL));
    return expect_sums(m, n, reverse, fault);
}

static int copy(struct memory *m, size_t n, size_t shift, struct fault *fault)
{
    (void)shift;
    if (zeros_and_ones(m, n, fault)) return fault->code;
    CUDA_CHECK(fault, roof_copy_bulk(m->out, m->in, n * sizeof(float), NULL));
    if (download(m, n * sizeof(float), fault)) return fault->code;
    return memcmp(m->host_in, m->host_out, n * sizeof(float)) ? wrong(0, fault) : 0;
}

static const struct test {
    const char *name;
    int (*run)(struct memory *, size_t n, size_t, struct fault *);
    size_t n, last; /* the last argument: a shift, or a direction */
} tests[] = {
    {"scan_wave", scan, 100000, 0},
    {"scan_onchip", scan, ONCHIP_FROM, 0},
    {"scan_pipeline", scan, PIPELINE_FROM, 0},
    {"scan_pipeline, not aligned", scan, PIPELINE_FROM, 1},
    {"select_wave", compact, 100000, 0},
    {"select_list", compact, LIST_FROM, 0},
    {"select_list, not aligned", compact, LIST_FROM, 1},
    {"select_pipeline", compact, SELECT_FROM, 0},
    {"select_pipeline, not aligned", compact, SELECT_FROM, 1},
    {"write_table", table, 200, 0},
    {"write_table, not aligned", table, 200, 1},
    {"sort_resident, one block", sort, 2048, 0},
    {"sort_resident, 8 blocks", sort, 4096, 1},
    {"sort_resident, 16 blocks", sort, 40000, 0},
    {"sort_wave", sort, 70000, 1},
    {"sort_by_digit", sort, SWEEPS_FROM, 0},
    {"scan_wave of step 16", sum, 100000, 0},
    {"scan_pipeline of step 16", sum, OPERATOR_FROM, 0},
    {"scan_pipeline, reverse", sum, OPERATOR_FROM, 1},
    {"copy_bulk", copy, 100003, 0},
};

static int compare(const struct test *t, const struct memory *memory, bool may_run)
{
    struct memory m = *memory;
    struct fault fault = {0};
    int code = t->run(&m, t->n, t->last, &fault);
    (void)cudaGetLastError();
    bool is_expected = code == (may_run ? EXIT_RIGHT : EXIT_DEVICE);
    printf("%-30s %9zu  %s%s%s\n", t->name, t->n, code ? fault.text : "right",
           is_expected ? "" : "  <-- ",
           is_expected ? ""
           : code      ? "wrong"
                       : "no error");
    return !is_expected;
}

int main(int argc, char **argv)
{
    struct memory m;
    struct fault fault;
    struct cudaDeviceProp gpu;
    int errors = 0;
    if (cudaGetDeviceProperties(&gpu, 0)) return EXIT_DEVICE;
    if (argc < 2) return puts(gpu.name) < 0;
    if (get_memory(&m, &fault)) return fault_say(&fault);
    bool may_run = 10 * gpu.major + gpu.minor >= atoi(argv[1]);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        errors += compare(&tests[i], &m, may_run);
    printf("%s\n", errors ? "WRONG" : may_run ? "right" : "refused");
    return errors ? EXIT_WRONG : EXIT_RIGHT;
}
