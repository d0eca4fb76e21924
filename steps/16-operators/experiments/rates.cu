/*
 * rates: the times of scans with different operators, compared with CUB's, step 12's and a copy's.
 *
 * What it shows: for each operator and shape, and each number of elements, the times of step 16, of
 * CUB's scan with the same operator where it has one, of step 12's sum, and of the best copy,
 * measured in turns in one process with a cold L2. `of_floor` is the part of the time of step 16 in
 * which the copy would move the bytes that any such scan must move.
 * In README: ours and cub at affine n=16777216: 2²⁴ steps of h = a h + b, float.
 * How to run it: make experiment-16-rates
 */
#include "common/experiment/experiment.h"
#include "common/harness/run/device.h"
#include "steps/12-pipeline/scan.h"
#include "common/tools/library/scan/scan.h"

#include <cub/device/device_scan.cuh>
#include <stdlib.h>

#define THREADS       256
#define LAST_EMULATED 12  /* 2^12 elements */
#define RUN           100 /* elements of a sequence of keys or flags, on average */

/* The arrays of all scans. */
struct arrays {
    size_t n;
    float *a, *b, *out, *other;
    float2 *pairs, *pairs_out; // for CUB's affine scan
    uint8_t *flags, *text;
    int32_t *keys;
    uint32_t *bits;
    void *workspace, *step12, *cub;
    size_t workspace_bytes, step12_bytes, cub_bytes;
    unsigned *differ;
};

static __device__ uint32_t mixed(uint32_t z)
{
    z = (z ^ (z >> 16)) * 0x85EBCA6Bu; // MurmurHash3's last step
    z = (z ^ (z >> 13)) * 0xC2B2AE35u;
    return z ^ (z >> 16);
}

/* Small integers as floats, so that sums of a sequence are exact; factors of 1 and -1. The keys are
 * the number of flags so far, which fill_keys adds up. */
static __global__ void fill(struct arrays x)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= x.n) return;
    uint32_t z = mixed((uint32_t)i * 0x9E3779B9u);
    bool head = mixed(z) % RUN == 0;
    x.b[i] = (float)(int)(z % 5) - 2;
    x.a[i] = z >> 31 ? 1.0f : -1.0f;
    x.pairs[i] = {x.a[i], x.b[i]};
    x.flags[i] = head;
    x.keys[i] = head;
    x.text[i] = "(a)[b]{}"[z % 8];
    if (head) atomicOr(&x.bits[i / 32], 1u << i % 32);
}

static __global__ void compare(const float *a, const float *b, size_t n, unsigned *differ)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n && __float_as_uint(a[i]) != __float_as_uint(b[i]) && a[i] != b[i])
        atomicAdd(differ, 1u);
}

struct larger_of {
    __device__ int operator()(int a, int b) const { return a > b ? a : b; }
};
struct smaller_of {
    __device__ int operator()(int a, int b) const { return a < b ? a : b; }
};
struct applied {
    __device__ float2 operator()(float2 l, float2 r) const
    {
        return {r.x * l.x, fmaf(r.x, l.y, r.y)};
    }
};

static const struct upsweep_scan_options
    INCLUSIVE = {true, false, false, 0, 0, UPSWEEP_HEADS_NONE, NULL, 0, NULL},
    REVERSED = {true, true, false, 0, 0, UPSWEEP_HEADS_NONE, NULL, 0, NULL};
#define WORKSPACE x->workspace, &x->workspace_bytes

/* One scan that is measured. */
#define RUN_OF(name, call)                                                                         \
    static cudaError_t name(void *context, cudaStream_t stream)                                    \
    {                                                                                              \
        struct arrays *x = (struct arrays *)context;                                               \
        return call;                                                                               \
    }
RUN_OF(max_ours, scan_max_i32(WORKSPACE, (int *)x->out, x->keys, x->n, &INCLUSIVE, stream))
RUN_OF(max_cub, cub::DeviceScan::InclusiveScan(x->cub, x->cub_bytes, x->keys, (int *)x->other,
                                               larger_of(), (int64_t)x->n, stream))
RUN_OF(min_ours, scan_min_i32(WORKSPACE, (int *)x->out, x->keys, x->n, &INCLUSIVE, stream))
RUN_OF(min_cub, cub::DeviceScan::InclusiveScan(x->cub, x->cub_bytes, x->keys, (int *)x->other,
                                               smaller_of(), (int64_t)x->n, stream))
RUN_OF(sum_ours, scan_sum_f32(WORKSPACE, x->out, x->b, x->n, NULL, stream))
RUN_OF(sum_step12, scan_exclusive_f32(x->step12, &x->step12_bytes, x->other, x->b, x->n, stream))
RUN_OF(reverse_ours, scan_sum_f32(WORKSPACE, x->out, x->b, x->n, &REVERSED, stream))
RUN_OF(affine_ours, scan_affine_f32(WORKSPACE, x->out, x->a, x->b, x->n, &INCLUSIVE, stream))
RUN_OF(affine_reverse, scan_affine_f32(WORKSPACE, x->out, x->a, x->b, x->n, &REVERSED, stream))
RUN_OF(affine_cub, cub::DeviceScan::InclusiveScan(x->cub, x->cub_bytes, x->pairs, x->pairs_out,
                                                  applied(), (int64_t)x->n, stream))
RUN_OF(decay_ours, scan_decay_f32(WORKSPACE, x->out, x->b, 0.9f, 0.1f, x->n, &INCLUSIVE, stream))
RUN_OF(logsumexp_ours, scan_logsumexp_f32(WORKSPACE, x->out, x->b, x->n, &INCLUSIVE, stream))
RUN_OF(brackets_ours, scan_brackets(WORKSPACE, (int *)x->out, x->text, x->n, &INCLUSIVE, stream))

static cudaError_t with_heads(struct arrays *x, enum upsweep_heads kind, const void *heads,
                              cudaStream_t stream)
{
    struct upsweep_scan_options o = {};
    o.kind = kind, o.heads = heads;
    return scan_sum_f32(WORKSPACE, x->out, x->b, x->n, &o, stream);
}
RUN_OF(flags_ours, with_heads(x, UPSWEEP_HEADS_BYTES, x->flags, stream))
RUN_OF(bits_ours, with_heads(x, UPSWEEP_HEADS_BITS, x->bits, stream))
RUN_OF(keys_ours, with_heads(x, UPSWEEP_HEADS_KEYS, x->keys, stream))
RUN_OF(keys_cub, cub::DeviceScan::ExclusiveSumByKey(x->cub, x->cub_bytes, x->keys, x->b, x->other,
                                                    (int64_t)x->n, cuda::std::equal_to<>(), stream))
RUN_OF(copy_run, roof_copy_kernel(x->out, x->b, x->n * sizeof(float), stream))

static cudaError_t in_rows(struct arrays *x, size_t row, cudaStream_t stream)
{
    struct upsweep_scan_options o = INCLUSIVE;
    o.row = row;
    return scan_sum_f32(WORKSPACE, x->out, x->b, x->n, &o, stream);
}
static cudaError_t in_columns(struct arrays *x, size_t columns, cudaStream_t stream)
{
    struct upsweep_scan_options o = INCLUSIVE;
    o.columns = columns;
    return scan_sum_f32(WORKSPACE, x->out, x->b, x->n, &o, stream);
}
static cudaError_t affine_rows(struct arrays *x, size_t row, cudaStream_t stream)
{
    struct upsweep_scan_options o = INCLUSIVE;
    o.row = row;
    return scan_affine_f32(WORKSPACE, x->out, x->a, x->b, x->n, &o, stream);
}
static cudaError_t affine_columns(struct arrays *x, size_t columns, cudaStream_t stream)
{
    struct upsweep_scan_options o = INCLUSIVE;
    o.columns = columns;
    return scan_affine_f32(WORKSPACE, x->out, x->a, x->b, x->n, &o, stream);
}
RUN_OF(rows_32, in_rows(x, 32, stream))
RUN_OF(rows_1000, in_rows(x, 1000, stream))
RUN_OF(rows_5001, in_rows(x, 5001, stream))
RUN_OF(rows_8192, in_rows(x, 8192, stream))
RUN_OF(rows_65536, in_rows(x, 65536, stream))
RUN_OF(columns_2, in_columns(x, 2, stream))
RUN_OF(columns_32, in_columns(x, 32, stream))
RUN_OF(columns_1024, in_columns(x, 1024, stream))
RUN_OF(columns_1000, in_columns(x, 1000, stream))
RUN_OF(rows_affine, affine_rows(x, 65536, stream))
RUN_OF(columns_affine, affine_columns(x, 1536, stream))

/* What is measured. */
struct scan_kind {
    const char *name;
    double bytes; // that any such scan moves for an element
    run_fn *ours, *cub;
    bool comparable; // the results are equal floats
    size_t n;        // 0: powers of two
    size_t emulated; // n on the emulator
};
static const struct scan_kind kinds[] = {
    {"sum", 8, sum_ours, sum_step12, true, 0, 0},
    {"max", 8, max_ours, max_cub, true, 0, 0},
    {"min", 8, min_ours, min_cub, true, 0, 0},
    {"reverse-sum", 8, reverse_ours, NULL, false, 0, 0},
    {"affine", 12, affine_ours, affine_cub, false, 0, 0},
    {"reverse-affine", 12, affine_reverse, NULL, false, 0, 0},
    {"decay", 8, decay_ours, NULL, false, 0, 0},
    {"logsumexp", 8, logsumexp_ours, NULL, false, 0, 0},
    {"brackets", 5, brackets_ours, NULL, false, 0, 0},
    {"flags", 9, flags_ours, NULL, false, 0, 0},
    {"bits", 8.125, bits_ours, NULL, false, 0, 0},
    {"keys", 12, keys_ours, keys_cub, true, 0, 0},
    {"rows-32", 8, rows_32, NULL, false, (size_t)32 << 20, 4096},
    {"rows-32", 8, rows_32, NULL, false, (size_t)1 << 28, 8192},
    {"rows-1000", 8, rows_1000, NULL, false, (size_t)100000 * 1000, 3000},
    {"rows-5001", 8, rows_5001, NULL, false, (size_t)10000 * 5001, 5001},
    {"rows-8192", 8, rows_8192, NULL, false, (size_t)32 << 20, 8192},
    {"rows-65536", 8, rows_65536, NULL, false, (size_t)1 << 20, 65536},
    {"rows-65536", 8, rows_65536, NULL, false, (size_t)1 << 22, 131072},
    {"rows-65536", 8, rows_65536, NULL, false, (size_t)1 << 24, 196608},
    {"columns-2", 8, columns_2, NULL, false, (size_t)2 << 20, 5000},
    {"columns-2", 8, columns_2, NULL, false, (size_t)1 << 26, 8000},
    {"columns-32", 8, columns_32, NULL, false, (size_t)32 << 20, 4096},
    {"columns-32", 8, columns_32, NULL, false, (size_t)1 << 26, 8192},
    {"columns-1024", 8, columns_1024, NULL, false, (size_t)1 << 26, 8192},
    {"columns-1000", 8, columns_1000, NULL, false, (size_t)100000 * 1000, 3000},
    {"affine-rows-65536", 12, rows_affine, NULL, false, (size_t)1536 * 65536, 65536},
    {"affine-columns-1536", 12, columns_affine, NULL, false, (size_t)1536 * 65536, 15360},
};

static cudaError_t room_for_cub(struct arrays *x)
{
    run_fn *const runs[] = {max_cub, affine_cub, keys_cub};
    size_t most = 1;
    for (run_fn *run : runs) {
        x->cub = NULL, x->cub_bytes = 0;
        cudaError_t error = run(x, NULL);
        if (error) return error;
        if (x->cub_bytes > most) most = x->cub_bytes;
    }
    x->cub_bytes = most;
    return cudaMalloc(&x->cub, most);
}

static int open_arrays(struct arrays *x, size_t n, struct fault *fault)
{
    *x = {};
    x->n = n;
    // States of 16 bytes for a tile of 2048, columns' states, and room.
    x->workspace_bytes = n * sizeof(float) + (8 << 20);
    CUDA_CHECK(fault, cudaMalloc(&x->a, n * sizeof(float)));
    CUDA_CHECK(fault, cudaMalloc(&x->b, n * sizeof(float)));
    CUDA_CHECK(fault, cudaMalloc(&x->out, n * sizeof(float)));
    CUDA_CHECK(fault, cudaMalloc(&x->other, n * sizeof(float)));
    CUDA_CHECK(fault, cudaMalloc(&x->pairs, n * sizeof(float2)));
    CUDA_CHECK(fault, cudaMalloc(&x->pairs_out, n * sizeof(float2)));
    CUDA_CHECK(fault, cudaMalloc(&x->flags, n));
    CUDA_CHECK(fault, cudaMalloc(&x->text, n));
    CUDA_CHECK(fault, cudaMalloc(&x->keys, n * sizeof(int32_t)));
    CUDA_CHECK(fault, cudaMalloc(&x->bits, n / 8 + 4));
    CUDA_CHECK(fault, cudaMalloc(&x->differ, sizeof *x->differ));
    CUDA_CHECK(fault, cudaMalloc(&x->workspace, x->workspace_bytes));
    CUDA_CHECK(fault, scan_exclusive_f32(NULL, &x->step12_bytes, NULL, NULL, n, NULL));
    CUDA_CHECK(fault, cudaMalloc(&x->step12, x->step12_bytes));
    CUDA_CHECK(fault, scan_workspace_init(x->step12, x->step12_bytes, NULL));
    CUDA_CHECK(fault, cudaMemset(x->bits, 0, n / 8 + 4));
    CUDA_CHECK(fault, scan_operators_init(x->workspace, x->workspace_bytes, NULL));
    CUDA_CHECK(fault, room_for_cub(x));
    fill<<<(unsigned)((n - 1) / THREADS + 1), THREADS>>>(*x);
    CUDA_CHECK(fault, cudaGetLastError());
    // Keys ascend: the number of flags up to the element.
    CUDA_CHECK(fault, scan_sum_i32(x->workspace, &x->workspace_bytes, x->keys, x->keys, n,
                                   &INCLUSIVE, NULL));
    return 0;
}

static void close_arrays(struct arrays *x)
{
    void *const memory[] = {x->a,         x->b,      x->out,  x->other, x->pairs,
                            x->pairs_out, x->flags,  x->text, x->keys,  x->bits,
                            x->workspace, x->step12, x->cub,  x->differ};
    for (void *m : memory) cudaFree(m);
}

/* Do step 16 and the other one give the same? */
static int check(const struct scan_kind *kind, struct arrays *x, struct fault *fault)
{
    unsigned differ;
    CUDA_CHECK(fault, cudaMemset(x->differ, 0, sizeof *x->differ));
    CUDA_CHECK(fault, kind->cub(x, NULL));
    CUDA_CHECK(fault, kind->ours(x, NULL));
    compare<<<(unsigned)((x->n - 1) / THREADS + 1), THREADS>>>(x->out, x->other, x->n, x->differ);
    CUDA_CHECK(fault, cudaGetLastError());
    CUDA_CHECK(fault, cudaMemcpy(&differ, x->differ, sizeof differ, cudaMemcpyDeviceToHost));
    if (differ == 0) return 0;
    return fail(fault, EXIT_WRONG, "%s, n = %zu: %u elements differ.", kind->name, x->n, differ);
}

enum { OURS_AT, COPY_AT, OTHER_AT, WORKS };

static int measure(struct experiment *e, const struct scan_kind *kind, struct arrays *x,
                   struct fault *fault)
{
    int code = kind->comparable ? check(kind, x, fault) : 0;
    if (code) return code;
    const char *other = kind->cub == sum_step12 ? "step12" : "cub";
    struct experiment_work works[WORKS] = {[OURS_AT] = {"ours", NULL, kind->ours, x, 0},
                                           [COPY_AT] = {"copy", NULL, copy_run, x, 0},
                                           [OTHER_AT] = {other, NULL, kind->cub, x, 0}};
    experiment_at(e, "", "%s n=%zu", kind->name, x->n);
    code = experiment_side_by_side(e, works, kind->cub ? WORKS : WORKS - 1, fault);
    if (code || e->emulated) return code;
    double floor = works[COPY_AT].seconds / 8 * kind->bytes;
    experiment_at(e, "ours", "%s n=%zu", kind->name, x->n);
    experiment_value(e, "of_floor", floor / works[OURS_AT].seconds, "");
    if (kind->cub)
        experiment_value(e, "times_other", works[OTHER_AT].seconds / works[OURS_AT].seconds, "");
    return 0;
}

static int run(struct experiment *e, struct fault *fault)
{
    e->lesson = "Every operator that needs few instructions is as fast as the sum: memory decides.";
    static const int powers[] = {10, 12, 14, 16, 17, 18, 20, 22, 24, 26, 28};
    int code = 0;
    struct arrays x;
    for (int power : powers) {
        if (code || (e->emulated && power > LAST_EMULATED)) break;
        code = open_arrays(&x, (size_t)1 << power, fault);
        for (const struct scan_kind &kind : kinds)
            if (!code && kind.n == 0) code = measure(e, &kind, &x, fault);
        close_arrays(&x);
    }
    for (const struct scan_kind &kind : kinds) {
        if (code || kind.n == 0) continue;
        code = open_arrays(&x, e->emulated ? kind.emulated : kind.n, fault);
        if (!code) code = measure(e, &kind, &x, fault);
        close_arrays(&x);
    }
    return code;
}

int main(int argc, char **argv)
{
    return experiment_main("16-rates", "Operators compared with CUB's and with a copy", run, argc,
                           argv);
}
