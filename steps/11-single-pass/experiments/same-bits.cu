/*
 * same-bits: does the same scan always give the same bits?
 *
 * What it shows: how far a tile looks back depends on the progress of other tiles, and so does the
 * order in which sums are added. Integers (with sums below 2^24) give the same result in any order.
 * Real numbers are rounded, so runs differ in their last bits. All results are within the bound of
 * the error, which counts additions: |got - want| <= additions * 2^-24 * the sum of all |x| before.
 * From: Merrill and Garland (2016); CUB says of its scan that floats may vary from run to run.
 * How to run it: make experiment-11-same-bits
 */
#include "common/experiment/experiment.h"
#include "common/harness/input/input.h"
#include "steps/11-single-pass/scan.cu"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RUNS 100

struct scans {
    size_t n;
    struct input input;
    float *in, *out; // on the device
    void *workspace;
    float *first, *result;    // on the host: results of the first and of the last run
    unsigned long hash[RUNS]; // of each run's result
};

static unsigned long hash_of(const float *result, size_t n)
{
    unsigned long hash = 14695981039346656037u; // FNV-1a, a word at a time
    for (size_t i = 0; i < n; i++) {
        unsigned bits;
        memcpy(&bits, &result[i], sizeof bits);
        hash = (hash ^ bits) * 1099511628211u;
    }
    return hash;
}

static int begin(struct scans *s, size_t n, bool real, struct fault *fault)
{
    size_t bytes = n * sizeof(float);
    memset(s, 0, sizeof *s);
    s->n = n;
    int code = input_generate(&s->input, ELEMENT_F32, n, real ? RANDOM_UNIFORM : RANDOM_INTEGERS, 1,
                              fault);
    if (code) return code;
    s->first = (float *)malloc(bytes);
    s->result = (float *)malloc(bytes);
    CUDA_CHECK(fault, cudaMalloc(&s->in, bytes));
    CUDA_CHECK(fault, cudaMalloc(&s->out, bytes));
    CUDA_CHECK(fault, cudaMalloc(&s->workspace, (n / TILE(2) + 2) * sizeof(uint64_t)));
    CUDA_CHECK(fault, cudaMemcpy(s->in, s->input.data, bytes, cudaMemcpyHostToDevice));
    return 0;
}

static int end(struct scans *s, struct fault *fault)
{
    CUDA_CHECK(fault, cudaFree(s->in));
    CUDA_CHECK(fault, cudaFree(s->out));
    CUDA_CHECK(fault, cudaFree(s->workspace));
    free(s->first);
    free(s->result);
    input_free(&s->input);
    return 0;
}

// The largest error, as the number of additions with the largest rounding error that cause it.
static double error_of(const struct scans *s)
{
    const float *in = (const float *)s->input.data;
    double want = 0, magnitude = 0, worst = 0;
    for (size_t i = 0; i < s->n; i++) {
        double error = fabs(s->result[i] - want);
        if (error > worst * magnitude * 0x1p-24) worst = error / (magnitude * 0x1p-24);
        want += in[i];
        magnitude += fabs(in[i]);
    }
    return worst;
}

static int run_numbers(struct experiment *e, const char *name, bool real, struct fault *fault)
{
    struct scans s;
    int runs = e->emulated ? RUNS / 10 : RUNS, distinct = 0;
    size_t n = e->emulated ? 100003 : 1 << 22, differ = 0;
    double worst = 0;

    if (begin(&s, n, real, fault)) return fault->code;
    for (int run = 0; run < runs; run++) {
        CUDA_CHECK(fault, step11_scan(s.out, s.in, n, TILE_2048, s.workspace, e->timer.stream));
        CUDA_CHECK(fault, cudaStreamSynchronize(e->timer.stream));
        CUDA_CHECK(fault, cudaMemcpy(s.result, s.out, n * sizeof(float), cudaMemcpyDeviceToHost));
        if (run == 0) memcpy(s.first, s.result, n * sizeof(float));

        bool is_new = true;
        s.hash[run] = hash_of(s.result, n);
        for (int before = 0; before < run; before++) is_new &= s.hash[before] != s.hash[run];
        distinct += is_new;
        if (!is_new) continue;

        double error = error_of(&s);
        if (error > worst) worst = error;
        size_t different = 0;
        for (size_t i = 0; i < n; i++) different += s.result[i] != s.first[i];
        if (different > differ) differ = different;
    }

    experiment_at(e, name, "n=%zu", n);
    experiment_value(e, "runs", runs, "");
    experiment_value(e, "distinct", distinct, "");
    experiment_value(e, "differ", differ, "");
    experiment_value(e, "error", worst, "");
    if (!real && (distinct > 1 || worst > 0))
        return fail(fault, EXIT_WRONG, "integers have %d results, with an error of %g.", distinct,
                    worst);
    return end(&s, fault);
}

static int run(struct experiment *e, struct fault *fault)
{
    e->lesson = "integers give the same result in each run, real numbers do not.";
    int code = run_numbers(e, "integers", false, fault);
    return code ? code : run_numbers(e, "real numbers", true, fault);
}

int main(int argc, char **argv)
{
    return experiment_main("11-same-bits", "Does the same scan always give the same bits?", run,
                           argc, argv);
}
