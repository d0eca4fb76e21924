/*
 * selects: the time of a compaction compared with CUB's and with a copy.
 *
 * What it shows: for each number of elements and each fraction that is kept, the times of the three
 * variants of step 13, of CUB's DeviceSelect::If and of the best copy, measured in turns in one
 * process with a cold L2. `floor` is the time in which the copy would move the words that any
 * compaction must move: all elements once, and the kept elements once more.
 * In README: fast and cub at n=16777216 kept=50: 2²⁴ int32, one half kept.
 * How to run it: make experiment-13-selects
 */
#include "common/experiment/experiment.h"
#include "common/harness/run/device.h"
#include "steps/13-compaction/compact.h"
#include "steps/13-compaction/step13.h"

#include <cub/device/device_select.cuh>
#include <stdlib.h>

#define THREADS       256
#define FIRST         10 /* 2^10 elements */
#define LAST          28
#define LAST_EMULATED 12
#define FINELY        24 /* 2^24 elements are measured with all fractions */

static const int percents[] = {0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100};
/* Is the fraction one that is measured for every n? */
static bool is_coarse(int percent) { return percent <= 10 || percent == 50 || percent == 100; }

/* Element i is pseudo-random, so a threshold can keep any fraction. */
static __global__ void fill(int32_t *in, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint32_t z = (uint32_t)i * 0x9E3779B9u; // splitmix's last step, in 32 bits
    z = (z ^ (z >> 16)) * 0x85EBCA6Bu;
    z = (z ^ (z >> 13)) * 0xC2B2AE35u;
    in[i] = (int32_t)(z ^ (z >> 16));
}

/* Counts the elements that differ. */
static __global__ void compare(const int32_t *a, const int32_t *b, size_t n, unsigned *differ)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && a[i] != b[i]) atomicAdd(differ, 1u);
}

/* x < limit; 64 bits, so that a limit can keep all elements. */
struct below {
    int64_t limit;
    __device__ bool operator()(int32_t x) const { return x < limit; }
};

struct job {
    int32_t *in, *out, *other; /* other: CUB's result */
    uint64_t *kept, *cub_kept;
    size_t n;
    struct below below;
    struct predicate predicate;
    void *workspace, *document, *cub;
    size_t workspace_bytes, document_bytes, cub_bytes;
    unsigned *differ;
};

static cudaError_t run_fast(void *context, cudaStream_t stream)
{
    struct job *j = (struct job *)context;
    return compact_i32(j->workspace, &j->workspace_bytes, j->out, j->kept, j->in, j->n,
                       &j->predicate, stream);
}

static struct compaction compaction_of(struct job *j, cudaStream_t stream)
{
    return {ELEMENT_I32,   j->out,  j->kept,     j->in,           j->n,
            &j->predicate, nullptr, j->document, j->document_bytes, stream};
}

static cudaError_t run_document(void *context, cudaStream_t stream)
{
    struct compaction c = compaction_of((struct job *)context, stream);
    return compact_document(&c);
}

static cudaError_t run_atomic(void *context, cudaStream_t stream)
{
    struct compaction c = compaction_of((struct job *)context, stream);
    return compact_atomic(&c);
}

static cudaError_t run_cub(void *context, cudaStream_t stream)
{
    struct job *j = (struct job *)context;
    return cub::DeviceSelect::If(j->cub, j->cub_bytes, j->in, j->other, j->cub_kept, (int64_t)j->n,
                                 j->below, stream);
}

static cudaError_t run_copy(void *context, cudaStream_t stream)
{
    struct job *j = (struct job *)context;
    return roof_copy_kernel(j->out, j->in, j->n * sizeof *j->in, stream);
}

static int open_job(struct job *j, size_t n, struct fault *fault)
{
    *j = {};
    compact_i32(NULL, &j->workspace_bytes, NULL, NULL, NULL, n, NULL, NULL);
    j->document_bytes = document_workspace(n);
    j->n = n;
    CUDA_CHECK(fault, run_cub(j, NULL)); // returns the size of its workspace
    CUDA_CHECK(fault, cudaMalloc(&j->in, n * sizeof *j->in));
    CUDA_CHECK(fault, cudaMalloc(&j->out, n * sizeof *j->out));
    CUDA_CHECK(fault, cudaMalloc(&j->other, n * sizeof *j->other));
    CUDA_CHECK(fault, cudaMalloc(&j->kept, 2 * sizeof *j->kept));
    CUDA_CHECK(fault, cudaMalloc(&j->differ, sizeof *j->differ));
    CUDA_CHECK(fault, cudaMalloc(&j->workspace, j->workspace_bytes));
    CUDA_CHECK(fault, cudaMalloc(&j->document, j->document_bytes));
    CUDA_CHECK(fault, cudaMalloc(&j->cub, j->cub_bytes));
    CUDA_CHECK(fault, cudaMemset(j->document, 0, j->document_bytes));
    CUDA_CHECK(fault, compact_workspace_init(j->workspace, j->workspace_bytes, NULL));
    CUDA_CHECK(fault, cudaMemset(j->other, 0, n * sizeof *j->other));
    j->cub_kept = j->kept + 1;
    fill<<<(unsigned)((n - 1) / THREADS + 1), THREADS>>>(j->in, n);
    CUDA_CHECK(fault, cudaGetLastError());
    return 0;
}

static void close_job(struct job *j)
{
    void *const memory[] = {j->in,     j->out,       j->other,    j->kept,
                            j->differ, j->workspace, j->document, j->cub};
    for (void *m : memory) cudaFree(m);
}

/* Runs fast and CUB once more: are the results the same? */
static int check(struct job *j, uint64_t *kept, struct fault *fault)
{
    uint64_t counts[2];
    unsigned differ;
    CUDA_CHECK(fault, cudaMemset(j->differ, 0, sizeof *j->differ));
    CUDA_CHECK(fault, run_cub(j, NULL));
    CUDA_CHECK(fault, run_fast(j, NULL));
    CUDA_CHECK(fault, cudaMemcpy(counts, j->kept, sizeof counts, cudaMemcpyDeviceToHost));
    *kept = counts[1];
    if (*kept > 0)
        compare<<<(unsigned)((*kept - 1) / THREADS + 1), THREADS>>>(j->out, j->other, *kept,
                                                                   j->differ);
    CUDA_CHECK(fault, cudaGetLastError());
    CUDA_CHECK(fault, cudaMemcpy(&differ, j->differ, sizeof differ, cudaMemcpyDeviceToHost));
    if (counts[0] == counts[1] && differ == 0) return 0;
    return fail(fault, EXIT_WRONG, "n = %zu: fast keeps %llu, CUB %llu; %u differ.", j->n,
                (unsigned long long)counts[0], (unsigned long long)counts[1], differ);
}

enum { FAST_AT, CUB_AT, COPY_AT, DOCUMENT_AT, ATOMIC_AT, WORKS };

static int measure(struct experiment *e, struct job *j, int percent, struct fault *fault)
{
    uint64_t kept = 0;
    uint64_t keys = percent == 0 ? 1 : ((uint64_t)1 << 32) * (uint64_t)percent / 100;
    j->below.limit = INT32_MIN + (int64_t)keys;
    j->predicate = predicate_between(0, keys - 1); // for 0 %: keeps one value, which hardly occurs
    int code = check(j, &kept, fault);
    if (code) return code;
    experiment_at(e, "", "n=%zu kept=%d", j->n, percent);
    struct experiment_work works[WORKS] = {
        [FAST_AT] = {"fast", NULL, run_fast, j, 0},
        [CUB_AT] = {"cub", NULL, run_cub, j, 0},
        [COPY_AT] = {"copy", NULL, run_copy, j, 0},
        [DOCUMENT_AT] = {"document", NULL, run_document, j, 0},
        [ATOMIC_AT] = {"atomic", NULL, run_atomic, j, 0},
    };
    code = experiment_side_by_side(e, works, WORKS, fault);
    if (code || e->emulated) return code;
    double words = 1 + (double)kept / (double)j->n, floor = works[COPY_AT].seconds / 2 * words;
    experiment_at(e, "fast", "n=%zu kept=%d", j->n, percent);
    experiment_value(e, "kept", (double)kept, "");
    experiment_value(e, "times_cub", works[CUB_AT].seconds / works[FAST_AT].seconds, "");
    experiment_value(e, "of_floor", floor / works[FAST_AT].seconds, "");
    return 0;
}

static int run(struct experiment *e, struct fault *fault)
{
    e->lesson = "`fast` is as fast as CUB or faster, and near the copy; one counter "
                "for all (`atomic`) is slow.";
    int code = 0, last = e->emulated ? LAST_EMULATED : LAST;
    for (int power = FIRST; power <= last && !code; power++) {
        struct job job;
        code = open_job(&job, (size_t)1 << power, fault);
        for (int percent : percents)
            if (!code && (power == FINELY || is_coarse(percent)))
                code = measure(e, &job, percent, fault);
        close_job(&job);
    }
    return code;
}

int main(int argc, char **argv)
{
    return experiment_main("13-selects", "Compaction compared with CUB's and with a copy", run,
                           argc, argv);
}
