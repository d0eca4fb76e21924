/*
 * figures: the figures 39-13 to 39-15 of GPU Gems 3, with numbers.
 *
 * What it shows: eight keys of three bits after each split (figure 39-13); for the first split, the
 * scan f and the new place of each key (39-14); and two sorted sequences of 32 keys, whose 32
 * smallest keys 32 threads find and sort (39-15). The device functions are those of step 15.
 * How to run it: make experiment-15-figures
 */
#include "common/experiment/experiment.h"
#include "steps/15-radix-sort/merge.cuh"
#include "steps/15-radix-sort/split.cuh"

#define KEYS 8
#define BITS 3

/* The result of a split: the scan, and the keys. */
struct shown {
    unsigned f[KEYS], key[KEYS];
};

/* Splits the keys by each of their bits. Keys that fill up the chunk are behind them. */
static __global__ void __launch_bounds__(SPLIT_THREADS)
    show_splits(struct shown *shown, unsigned *falses, const unsigned *keys)
{
    extern __shared__ __align__(16) unsigned char memory[];
    chunk_memory<unsigned> *m = (chunk_memory<unsigned> *)memory;
    unsigned i = threadIdx.x;

    for (unsigned k = i; k < SPLIT_CHUNK; k += SPLIT_THREADS) m->key[k] = k < KEYS ? keys[k] : ~0u;
    __syncthreads(); // all keys must be stored before a thread reads one
    for (unsigned bit = 0; bit < BITS; bit++) {
        split(m, bit);
        if (i < KEYS) shown[bit].f[i] = m->f[i], shown[bit].key[i] = m->key[i];
        if (i == 0) falses[bit] = m->total_falses;
        __syncthreads(); // all keys must be shown before one moves
    }
}

struct merged {
    unsigned smaller[LANES], sorted[LANES];
    unsigned from_a;
};

/* The 32 smallest keys of two sorted sequences. */
static __global__ void show_merge(struct merged *out, const unsigned *a, const unsigned *b)
{
    unsigned lane = threadIdx.x, x = a[lane], y = b[LANES - 1 - lane];
    unsigned from_a = __popc(__ballot_sync(0xffffffffu, x <= y)), smaller = x <= y ? x : y;
    out->smaller[lane] = smaller;
    out->sorted[lane] = end_of_bitonic_sort(smaller);
    if (lane == 0) out->from_a = from_a;
}

static const unsigned keys[KEYS] = {4, 7, 2, 6, 3, 5, 1, 0};

static int check_split(const struct shown *s, const unsigned *before, unsigned bit,
                       unsigned falses, struct fault *fault)
{
    unsigned f = 0;
    for (unsigned i = 0; i < KEYS; i++) {
        unsigned b = before[i] >> bit & 1, d = b ? i - s->f[i] + falses : s->f[i];
        if (s->f[i] != f || d >= KEYS || s->key[d] != before[i])
            return fail(fault, EXIT_WRONG, "bit %u: key %u went elsewhere.", bit, i);
        f += !b;
    }
    return 0;
}

static void print_split(struct experiment *e, const struct shown *s, const unsigned *before,
                        unsigned bit, unsigned falses)
{
    for (unsigned i = 0; i < KEYS; i++) {
        unsigned b = before[i] >> bit & 1, t = i - s->f[i] + falses;
        experiment_at(e, "split", "bit=%u i=%u", bit, i);
        experiment_value(e, "key", before[i], "");
        experiment_value(e, "e", !b, "");
        experiment_value(e, "f", s->f[i], "");
        experiment_value(e, "t", t, "");
        experiment_value(e, "d", b ? t : s->f[i], "");
        experiment_value(e, "key_after", s->key[i], "");
    }
}

static int run_splits(struct experiment *e, struct fault *fault)
{
    struct shown *shown;
    unsigned *in, *falses;
    size_t shared = sizeof(chunk_memory<unsigned>);
    CUDA_CHECK(fault, cudaMallocManaged(&shown, BITS * sizeof *shown));
    CUDA_CHECK(fault, cudaMallocManaged(&falses, BITS * sizeof *falses));
    CUDA_CHECK(fault, cudaMalloc(&in, sizeof keys));
    CUDA_CHECK(fault, cudaMemcpy(in, keys, sizeof keys, cudaMemcpyHostToDevice));
    CUDA_CHECK(fault, cudaFuncSetAttribute((const void *)show_splits,
                                           cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           (int)shared));
    show_splits<<<1, SPLIT_THREADS, shared>>>(shown, falses, in);
    CUDA_CHECK(fault, cudaGetLastError());
    CUDA_CHECK(fault, cudaDeviceSynchronize());
    const unsigned *before = keys;
    int code = 0;
    for (unsigned bit = 0; bit < BITS && !code; before = shown[bit++].key) {
        print_split(e, &shown[bit], before, bit, falses[bit]);
        code = check_split(&shown[bit], before, bit, falses[bit], fault);
    }
    cudaFree(in);
    cudaFree(falses);
    cudaFree(shown);
    return code;
}

/* a: 0, 3, 6, …; b: 1, 6, 11, …. */
static int run_merge(struct experiment *e, struct fault *fault)
{
    struct merged *out;
    unsigned *a, *b;
    CUDA_CHECK(fault, cudaMallocManaged(&out, sizeof *out));
    CUDA_CHECK(fault, cudaMallocManaged(&a, LANES * sizeof *a));
    CUDA_CHECK(fault, cudaMallocManaged(&b, LANES * sizeof *b));
    for (unsigned i = 0; i < LANES; i++) a[i] = 3 * i, b[i] = 5 * i + 1;
    show_merge<<<1, LANES>>>(out, a, b);
    CUDA_CHECK(fault, cudaGetLastError());
    CUDA_CHECK(fault, cudaDeviceSynchronize());
    int code = 0;
    for (unsigned i = 0, x = 0, y = 0; i < LANES && !code; i++) {
        unsigned want = a[x] <= b[y] ? a[x++] : b[y++];
        experiment_at(e, "merge", "i=%u", i);
        experiment_value(e, "smaller", out->smaller[i], "");
        experiment_value(e, "sorted", out->sorted[i], "");
        if (out->sorted[i] != want || (i == LANES - 1 && x != out->from_a))
            code = fail(fault, EXIT_WRONG, "key %u of the merge is wrong.", i);
    }
    cudaFree(b);
    cudaFree(a);
    cudaFree(out);
    return code;
}

static int run_figures(struct experiment *e, struct fault *fault)
{
    e->lesson = "the rows are the numbers of the document's figures.";
    int code = run_splits(e, fault);
    return code ? code : run_merge(e, fault);
}

int main(int argc, char **argv)
{
    return experiment_main("15-figures", "Figures 39-13 to 39-15, with numbers", run_figures, argc,
                           argv);
}
