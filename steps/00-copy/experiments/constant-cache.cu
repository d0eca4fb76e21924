/*
 * constant-cache: tables in constant memory, and tables read through the read-only path.
 *
 * What it shows: the constant cache delivers one word to all lanes of a warp at a time. Lanes that
 * read different words are served one word after the other. The read-only path (__ldg) serves a
 * line of 128 bytes at a time: different words of one line cost as much as one word, but each
 * further line costs time.
 * From: Kepler tuning guide, 1.4.4.3; lecture (CS 380, lecture 25), "Constants".
 * How to run it: make experiment-00-constant-cache
 */
#include "common/experiment/experiment.h"

#include <stdlib.h>

#define THREADS 256
#define WARP    32
#define WORDS   1024 // in the table
#define ROUNDS  1024 // look-ups per thread
#define LINE    32   // floats per line of the cache

static __constant__ float constant_table[WORDS];

// The index that a lane reads in a round if its warp reads `words` different words: either
// neighbours, or words of different lines.
static __host__ __device__ int place(int lane, int round, int words, bool spread)
{
    return spread ? (lane % words * LINE + round % LINE) % WORDS
                  : (lane % words + round * WARP) % WORDS;
}

template <bool CONSTANT, bool SPREAD>
static __global__ void look_up(float *out, const float *table, int words)
{
    float sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int i = place(threadIdx.x % WARP, round, words, SPREAD);
        sum += CONSTANT ? constant_table[i] : __ldg(&table[i]);
    }
    out[(size_t)blockIdx.x * THREADS + threadIdx.x] = sum;
}

static const struct {
    const char *name;
    void (*run)(float *, const float *, int);
    bool spread;
} tables[] = {
    {"constant", look_up<true, false>, false},
    {"constant-spread", look_up<true, true>, true},
    {"read-only", look_up<false, false>, false},
    {"read-only-spread", look_up<false, true>, true},
};

struct work {
    int table, words, blocks;
    float *out, *global_table;
};

static cudaError_t launch(void *context, cudaStream_t stream)
{
    struct work *w = (struct work *)context;
    tables[w->table].run<<<w->blocks, THREADS, 0, stream>>>(w->out, w->global_table, w->words);
    return cudaGetLastError();
}

// Checks the sum of the words that each thread has read.
static int check(const struct work *w, const float *out, struct fault *fault)
{
    for (int i = 0; i < w->blocks * THREADS; i++) {
        float want = 0;
        for (int round = 0; round < ROUNDS && i < THREADS; round++)
            want += place(i % WARP, round, w->words, tables[w->table].spread);
        if (i >= THREADS) want = out[i % THREADS]; // all blocks read the same words
        if (out[i] != want)
            return fail(fault, EXIT_WRONG, "%s, %d words: out[%d] is %g and should be %g.",
                        tables[w->table].name, w->words, i, out[i], want);
    }
    return 0;
}

static int run(struct experiment *e, struct fault *fault)
{
    e->lesson = "on a GPU, the time in constant memory grows with the number of words "
                "that a warp reads.";
    struct work w = {};
    w.blocks = e->emulated ? 1 : 8 * e->device.sms;
    size_t bytes = w.blocks * THREADS * sizeof(float);
    float *out = (float *)malloc(bytes), values[WORDS];
    for (int i = 0; i < WORDS; i++) values[i] = i;
    CUDA_CHECK(fault, cudaMalloc(&w.out, bytes));
    CUDA_CHECK(fault, cudaMalloc(&w.global_table, sizeof values));
    CUDA_CHECK(fault, cudaMemcpyToSymbol(constant_table, values, sizeof values));
    CUDA_CHECK(fault, cudaMemcpy(w.global_table, values, sizeof values, cudaMemcpyHostToDevice));

    for (w.table = 0; w.table < 4; w.table++)
        for (w.words = 1; w.words <= WARP; w.words *= 2) {
            experiment_at(e, tables[w.table].name, "%d", w.words);
            if (experiment_measure(e, launch, &w, NULL, fault)) return fault->code;
            CUDA_CHECK(fault, cudaMemcpy(out, w.out, bytes, cudaMemcpyDeviceToHost));
            if (check(&w, out, fault)) return fault->code;
        }
    free(out);
    CUDA_CHECK(fault, cudaFree(w.out));
    CUDA_CHECK(fault, cudaFree(w.global_table));
    return 0;
}

int main(int argc, char **argv)
{
    return experiment_main("00-constant-cache",
                           "Tables in constant memory, and through the read-only path", run, argc,
                           argv);
}
