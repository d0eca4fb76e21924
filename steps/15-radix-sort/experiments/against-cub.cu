/*
 * against-cub: the time of a sort compared with CUB's and with a copy.
 *
 * What it shows: for each number of keys, the time of a single call of the fast variant of step 15,
 * of CUB's DeviceRadixSort and of the best copy of the same bytes, measured in turns in one process
 * with a cold L2. There are keys of 32 bits, of 64 bits, and of 32 bits with values of 32 bits, all
 * random. The results must be the same. For few keys, also the time of a sort in a graph of sorts.
 * In README: fast and cub at u32 n=16777216: 2²⁴ keys of 32 bits.
 * How to run it: make experiment-15-against-cub
 */
#include "common/experiment/experiment.h"
#include "common/harness/run/device.h"
#include "steps/15-radix-sort/sort.h"

#include <cub/device/device_radix_sort.cuh>

#define THREADS       256
#define FIRST         10 /* 2^10 keys */
#define LAST          28
#define LAST_EMULATED 13
#define LAST_IN_GRAPH 18

/* The last step of MurmurHash3, which gives pseudo-random numbers. */
static __device__ uint32_t mix(uint32_t z)
{
    z = (z ^ (z >> 16)) * 0x85EBCA6Bu;
    z = (z ^ (z >> 13)) * 0xC2B2AE35u;
    return z ^ (z >> 16);
}

static __global__ void fill(uint32_t *words, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) words[i] = mix((uint32_t)i * 0x9E3779B9u + (uint32_t)(i >> 32));
}

/* Counts the words that differ. */
static __global__ void compare(const uint32_t *a, const uint32_t *b, size_t n, unsigned *differ)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && a[i] != b[i]) atomicAdd(differ, 1u);
}

/* Three arrays of n keys, each followed by n values if the sort has values. */
struct job {
    void *in, *out, *other; /* other: CUB's result */
    size_t n, key_bytes, bytes;
    bool pairs;
    void *workspace, *cub;
    size_t workspace_bytes, cub_bytes;
    unsigned *differ;
};

static uint32_t *values_of(const struct job *j, void *array)
{
    return array == NULL ? NULL : (uint32_t *)((char *)array + j->n * j->key_bytes);
}

static cudaError_t run_fast(void *context, cudaStream_t stream)
{
    struct job *j = (struct job *)context;
    if (j->pairs)
        return sort_pairs_u32(j->workspace, &j->workspace_bytes, (uint32_t *)j->out,
                              values_of(j, j->out), (const uint32_t *)j->in, values_of(j, j->in),
                              j->n, SORT_ASCENDING, stream);
    if (j->key_bytes == 8)
        return sort_keys_u64(j->workspace, &j->workspace_bytes, (uint64_t *)j->out,
                             (const uint64_t *)j->in, j->n, SORT_ASCENDING, stream);
    return sort_keys_u32(j->workspace, &j->workspace_bytes, (uint32_t *)j->out,
                         (const uint32_t *)j->in, j->n, SORT_ASCENDING, stream);
}

static cudaError_t run_cub(void *context, cudaStream_t stream)
{
    struct job *j = (struct job *)context;
    const uint32_t *in = (const uint32_t *)j->in;
    uint32_t *other = (uint32_t *)j->other;
    if (j->pairs)
        return cub::DeviceRadixSort::SortPairs(j->cub, j->cub_bytes, in, other,
                                               (const uint32_t *)values_of(j, j->in),
                                               values_of(j, other), (int64_t)j->n, 0, 32, stream);
    if (j->key_bytes == 8)
        return cub::DeviceRadixSort::SortKeys(j->cub, j->cub_bytes, (const uint64_t *)in,
                                              (uint64_t *)other, (int64_t)j->n, 0, 64, stream);
    return cub::DeviceRadixSort::SortKeys(j->cub, j->cub_bytes, in, other, (int64_t)j->n, 0, 32,
                                          stream);
}

static cudaError_t run_copy(void *context, cudaStream_t stream)
{
    struct job *j = (struct job *)context;
    return roof_copy_kernel(j->out, j->in, j->bytes, stream);
}

static int open_job(struct job *j, size_t n, size_t key_bytes, bool pairs, struct fault *fault)
{
    *j = {};
    j->n = n, j->key_bytes = key_bytes, j->pairs = pairs;
    j->bytes = n * (key_bytes + (pairs ? sizeof(uint32_t) : 0));
    CUDA_CHECK(fault, run_fast(j, NULL)); // returns the size of its workspace
    CUDA_CHECK(fault, run_cub(j, NULL));
    CUDA_CHECK(fault, cudaMalloc(&j->in, j->bytes));
    CUDA_CHECK(fault, cudaMalloc(&j->out, j->bytes));
    CUDA_CHECK(fault, cudaMalloc(&j->other, j->bytes));
    CUDA_CHECK(fault, cudaMalloc(&j->differ, sizeof *j->differ));
    CUDA_CHECK(fault, cudaMalloc(&j->workspace, j->workspace_bytes));
    CUDA_CHECK(fault, cudaMalloc(&j->cub, j->cub_bytes));
    CUDA_CHECK(fault, sort_workspace_init(j->workspace, j->workspace_bytes, NULL));
    size_t words = j->bytes / sizeof(uint32_t);
    fill<<<(unsigned)((words - 1) / THREADS + 1), THREADS>>>((uint32_t *)j->in, words);
    CUDA_CHECK(fault, cudaGetLastError());
    return 0;
}

static void close_job(struct job *j)
{
    void *const memory[] = {j->in, j->out, j->other, j->differ, j->workspace, j->cub};
    for (void *m : memory) cudaFree(m);
}

/* Runs both sorts once more and compares the results. */
static int check(struct job *j, struct fault *fault)
{
    size_t words = j->bytes / sizeof(uint32_t);
    unsigned differ;
    CUDA_CHECK(fault, cudaMemset(j->differ, 0, sizeof *j->differ));
    CUDA_CHECK(fault, run_cub(j, NULL));
    CUDA_CHECK(fault, run_fast(j, NULL));
    compare<<<(unsigned)((words - 1) / THREADS + 1), THREADS>>>(
        (const uint32_t *)j->out, (const uint32_t *)j->other, words, j->differ);
    CUDA_CHECK(fault, cudaGetLastError());
    CUDA_CHECK(fault, cudaMemcpy(&differ, j->differ, sizeof differ, cudaMemcpyDeviceToHost));
    if (differ == 0) return 0;
    return fail(fault, EXIT_WRONG, "n = %zu: %u words of the result are not those of CUB.", j->n,
                differ);
}

/* Measures one number of keys of one kind. */
static int run_size(struct experiment *e, const char *kind, struct job *j, struct fault *fault)
{
    enum { FAST_AT, CUB_AT, COPY_AT, WORKS };
    struct experiment_work works[WORKS] = {};
    works[FAST_AT] = {"fast", NULL, run_fast, j, 0};
    works[CUB_AT] = {"cub", NULL, run_cub, j, 0};
    works[COPY_AT] = {"copy", NULL, run_copy, j, 0};
    experiment_at(e, "", "%s n=%zu", kind, j->n);
    int code = experiment_side_by_side(e, works, WORKS, fault);
    for (int i = 0; i < COPY_AT && j->n <= (size_t)1 << LAST_IN_GRAPH && !code; i++)
        code = experiment_in_graph(e, &works[i], fault);
    if (!code) code = check(j, fault);
    if (code || e->emulated) return code;
    experiment_at(e, "fast", "%s n=%zu", kind, j->n);
    experiment_value(e, "times_cub", works[CUB_AT].seconds / works[FAST_AT].seconds, "");
    experiment_value(e, "of_copy", works[COPY_AT].seconds / works[FAST_AT].seconds, "");
    experiment_value(e, "rate", (double)j->n / works[FAST_AT].seconds, "keys/s");
    return 0;
}

static int run(struct experiment *e, struct fault *fault)
{
    e->lesson = "`fast` is faster than CUB for most numbers of keys.";
    static const struct {
        const char *name;
        size_t key_bytes;
        bool pairs;
    } kinds[] = {{"u32", 4, false}, {"u64", 8, false}, {"u32 pairs", 4, true}};
    int last = e->emulated ? LAST_EMULATED : LAST, code = 0;
    for (const auto &kind : kinds)
        for (int power = FIRST; power <= last && !code; power += e->emulated ? 3 : 1) {
            struct job job;
            code = open_job(&job, (size_t)1 << power, kind.key_bytes, kind.pairs, fault);
            if (!code) code = run_size(e, kind.name, &job, fault);
            close_job(&job);
        }
    return code;
}

int main(int argc, char **argv)
{
    return experiment_main("15-against-cub", "Sorts compared with CUB's and with a copy", run, argc,
                           argv);
}
