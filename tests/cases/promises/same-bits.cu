/*
 * same-bits: are step 12's sums of real numbers the same in every bit, and how far off are they?
 *
 * What it shows: the GPU's result is that of the same tree of additions on the CPU, and a hundred
 * runs give one result. Its error, beside the bound and beside CUB's, is in units of 2^-24 (of
 * 2^-53 for double) times |x0| + … + |xi|: this is the error that one addition of that magnitude
 * can have. How to run it: make promises && build/promises/12-same-bits
 */
#include "common/bench/baseline/cub.h"
#include "common/experiment/experiment.h"
#include "common/harness/input/input.h"
#include "known.cuh"
#include "steps/12-pipeline/reference.h"

#include <math.h>
#include <stdlib.h>

#define RUNS 100

/* Linked into build/promises/12-same-bits-cub only: CUB takes long to compile. */
extern "C" cub_fn cub_f32 __attribute__((weak));

/* Counts the words of b that differ from those of a. */
static __global__ void compare(const unsigned *a, const unsigned *b, size_t words,
                               unsigned long long *differ)
{
    size_t threads = (size_t)gridDim.x * KNOWN_THREADS;
    unsigned long long found = 0;
    for (size_t i = (size_t)blockIdx.x * KNOWN_THREADS + threadIdx.x; i < words; i += threads)
        found += a[i] != b[i];
    if (found > 0) atomicAdd(differ, found);
}

/* One array, on the GPU and on the host. */
template <typename T> struct arrays {
    size_t n, bytes; // of the array; of the workspace
    struct input input;
    T *x, *got, *want;   // on the host: elements, sums of the GPU, of the CPU
    T *in, *out, *again; // on the GPU
    void *workspace;
    unsigned long long *differ;
};

template <typename T> static int begin(struct arrays<T> *a, size_t n, struct fault *fault)
{
    enum element element = sizeof(T) == 4 ? ELEMENT_F32 : ELEMENT_F64;
    a->n = n;
    if (input_generate(&a->input, element, n, RANDOM_UNIFORM, 1, fault)) return fault->code;
    a->x = (T *)a->input.data;
    // They are multiples of 2^-23: doubles would add them exactly, in any order.
    for (size_t i = 0; i < n && sizeof(T) == 8; i++) a->x[i] /= 3;
    a->got = (T *)malloc(n * sizeof(T));
    a->want = (T *)malloc(n * sizeof(T));
    if (!a->got || !a->want)
        return fail(fault, EXIT_USAGE, "no room on the host for three times %zu elements.", n);
    CUDA_CHECK(fault, cudaMalloc(&a->in, n * sizeof(T)));
    CUDA_CHECK(fault, cudaMalloc(&a->out, n * sizeof(T)));
    CUDA_CHECK(fault, cudaMalloc(&a->again, n * sizeof(T)));
    CUDA_CHECK(fault, cudaMalloc(&a->differ, sizeof *a->differ));
    CUDA_CHECK(fault, (make_workspace<T, T>(&a->workspace, &a->bytes, n)));
    return 0;
}

template <typename T> static int end(struct arrays<T> *a, struct fault *fault)
{
    CUDA_CHECK(fault, cudaFree(a->in));
    CUDA_CHECK(fault, cudaFree(a->out));
    CUDA_CHECK(fault, cudaFree(a->again));
    CUDA_CHECK(fault, cudaFree(a->differ));
    CUDA_CHECK(fault, cudaFree(a->workspace));
    free(a->got);
    free(a->want);
    input_free(&a->input);
    return 0;
}

static void reference(float *out, const float *in, size_t n, enum kernel kernel)
{
    reference_f32(out, in, n, false, kernel);
}

static void reference(double *out, const double *in, size_t n, enum kernel kernel)
{
    reference_f64(out, in, n, false, kernel);
}

/* The greatest error of a->got, as a number of additions with the largest possible rounding: of all
 * sums, and of the second half of them, which have many elements. */
struct errors {
    double all, second_half;
};
template <typename T> static struct errors errors_of(const struct arrays<T> *a)
{
    const double u = sizeof(T) == 4 ? 0x1p-24 : 0x1p-53;
    struct errors errors = {0, 0};
    long double sum = 0, magnitude = 0;
    for (size_t i = 0; i < a->n; i++) {
        double *worst = i < a->n / 2 ? &errors.all : &errors.second_half;
        double error = fabs((double)(a->got[i] - sum)), unit = u * (double)magnitude;
        if (error > *worst * unit) *worst = unit > 0 ? error / unit : INFINITY;
        sum += a->x[i];
        magnitude += fabs(a->x[i]);
    }
    errors.all = fmax(errors.all, errors.second_half);
    return errors;
}

/* Does the GPU add as the CPU does? Its result stays in a->out and a->got. */
template <typename T>
static int run_reference(struct experiment *e, struct arrays<T> *a, enum kernel kernel,
                         struct fault *fault)
{
    size_t differ = 0, size = a->n * sizeof(T);
    CUDA_CHECK(fault, cudaMemcpy(a->in, a->x, size, cudaMemcpyHostToDevice));
    CUDA_CHECK(fault, scan(false, a->workspace, &a->bytes, a->out, a->in, a->n, e->timer.stream));
    CUDA_CHECK(fault, cudaStreamSynchronize(e->timer.stream));
    CUDA_CHECK(fault, cudaMemcpy(a->got, a->out, size, cudaMemcpyDeviceToHost));
    reference(a->want, a->x, a->n, kernel);
    for (size_t i = 0; i < a->n; i++) differ += memcmp(&a->got[i], &a->want[i], sizeof(T)) != 0;
    experiment_value(e, "differ from the CPU", (double)differ, "");
    if (differ > 0)
        return fail(fault, EXIT_WRONG, "%zu of %zu sums are not those of the CPU.", differ, a->n);
    return 0;
}

/* Does each run give these bits? */
template <typename T>
static int run_again(struct experiment *e, struct arrays<T> *a, struct fault *fault)
{
    cudaStream_t stream = e->timer.stream;
    size_t words = a->n * (sizeof(T) / sizeof(unsigned));
    int runs = e->emulated ? 2 : RUNS;
    unsigned long long differ = 0;
    CUDA_CHECK(fault, cudaMemsetAsync(a->differ, 0, sizeof differ, stream));
    for (int run = 1; run < runs; run++) {
        CUDA_CHECK(fault, cudaMemsetAsync(a->again, 0xFF, a->n * sizeof(T), stream));
        CUDA_CHECK(fault, scan(false, a->workspace, &a->bytes, a->again, a->in, a->n, stream));
        compare<<<known_blocks(words), KNOWN_THREADS, 0, stream>>>(
            (const unsigned *)a->out, (const unsigned *)a->again, words, a->differ);
        CUDA_CHECK(fault, cudaGetLastError());
    }
    CUDA_CHECK(fault, cudaStreamSynchronize(stream));
    CUDA_CHECK(fault, cudaMemcpy(&differ, a->differ, sizeof differ, cudaMemcpyDeviceToHost));
    experiment_value(e, "runs", runs, "");
    experiment_value(e, "differ from the first", (double)differ, "");
    if (differ > 0)
        return fail(fault, EXIT_WRONG, "%d runs of %zu elements differ in %llu words.", runs, a->n,
                    differ);
    return 0;
}

static int run_cub(struct experiment *e, struct arrays<float> *a, struct fault *fault)
{
    size_t bytes = 0;
    void *workspace;
    if (!cub_f32) return 0;
    CUDA_CHECK(fault, cub_f32(NULL, &bytes, a->again, a->in, a->n, NULL));
    CUDA_CHECK(fault, cudaMalloc(&workspace, bytes));
    CUDA_CHECK(fault, cub_f32(workspace, &bytes, a->again, a->in, a->n, NULL));
    CUDA_CHECK(fault, cudaMemcpy(a->got, a->again, a->n * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_CHECK(fault, cudaFree(workspace));
    struct errors errors = errors_of(a);
    experiment_value(e, "error of CUB", errors.all, "");
    experiment_value(e, "error of CUB in the second half", errors.second_half, "");
    return 0;
}

static int run_cub(struct experiment *, struct arrays<double> *, struct fault *) { return 0; }

template <typename T>
static int run_numbers(struct experiment *e, const char *type, size_t n, struct fault *fault)
{
    const double u = sizeof(T) == 4 ? 0x1p-24 : 0x1p-53;
    int capability = 10 * e->device.major + e->device.minor;
    enum kernel kernel = kernel_for(n, sizeof(T), capability, true);
    struct arrays<T> a;

    if (begin(&a, n, fault)) return fault->code;
    for (int positive = 0; positive < 2; positive++) {
        char variant[EXPERIMENT_TEXT];
        snprintf(variant, sizeof variant, "%s %s", type, positive ? "0 to 1" : "-1 to 1");
        experiment_at(e, variant, "%zu", n);
        for (size_t i = 0; i < n && positive; i++) a.x[i] = fabs(a.x[i]);
        if (run_reference(e, &a, kernel, fault) || run_again(e, &a, fault)) return fault->code;
        struct errors errors = errors_of(&a);
        double bound = reference_bound(n, sizeof(T), kernel) / u;
        experiment_value(e, "error", errors.all, "");
        experiment_value(e, "error in the second half", errors.second_half, "");
        experiment_value(e, "bound", bound, "");
        if (run_cub(e, &a, fault)) return fault->code;
        if (errors.all > bound)
            return fail(fault, EXIT_WRONG, "%s, %zu elements: the error is %g, the bound %g.",
                        variant, n, errors.all, bound);
    }
    return end(&a, fault);
}

static int run(struct experiment *e, struct fault *fault)
{
    static const size_t on_gpu[] = {1 << 13, 1 << 16, 1 << 20, 1 << 28};
    static const size_t on_emulator[] = {5000, 70000};
    const size_t *sizes = e->emulated ? on_emulator : on_gpu;
    size_t count = (e->emulated ? sizeof on_emulator : sizeof on_gpu) / sizeof *sizes;
    for (size_t i = 0; i < count; i++) {
        if (run_numbers<float>(e, "f32", sizes[i], fault)) return fault->code;
        if (run_numbers<double>(e, "f64", sizes[i] / 2, fault)) return fault->code;
    }
    // On the emulator a smaller n of this type is enough for scan_pipeline.
    return e->emulated ? run_numbers<double>(e, "f64", WAVE_MAX(8) + 9, fault) : 0;
}

int main(int argc, char **argv)
{
    return experiment_main("12-same-bits", "Step 12's sums: the same bits each time; their error",
                           run, argc, argv);
}
