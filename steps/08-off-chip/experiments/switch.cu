/*
 * switch: the number of elements at which the double-buffered scan should replace the tree.
 *
 * What it shows: for m elements, the double-buffered algorithm takes log2 m launches and moves
 * about 3m log2 m words; the tree takes 2 log2 m launches and moves 8m words. So the
 * double-buffered algorithm is faster for the few elements at the top of the tree, where the number
 * of launches decides, and slower for many elements. The experiment runs step 8 with the switch at
 * every power of two.
 * From: GPU Gems 3, 39.2.6 ("a configurable number of reduce steps").
 * How to run it: make experiment-08-switch
 */
#include "common/experiment/experiment.h"

#include "steps/08-off-chip/scan.cu" // its scan_levels takes the number of elements

struct scan {
    float *out, *in, *workspace;
    size_t n, most; // elements; the most that the double-buffered scan takes
};

static cudaError_t launch(void *context, cudaStream_t stream)
{
    struct scan *s = (struct scan *)context;
    return scan_levels(s->out, s->in, s->n, s->most, s->workspace, stream);
}

// Is out the exclusive scan of 0, 1, 0, 1, …? All sums are exact in float.
static bool is_right(const float *out, size_t n)
{
    float sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (out[i] != sum) return false;
        sum += i % 2;
    }
    return true;
}

static int measure(struct experiment *e, int log2_n, struct fault *fault)
{
    size_t n = (size_t)1 << log2_n, bytes = n * sizeof(float);
    struct scan scan = {.out = NULL, .in = NULL, .workspace = NULL, .n = n, .most = 1};
    float *host = (float *)malloc(bytes);
    CUDA_CHECK(fault, cudaMalloc(&scan.out, bytes));
    CUDA_CHECK(fault, cudaMalloc(&scan.in, bytes));
    CUDA_CHECK(fault, cudaMalloc(&scan.workspace, 2 * bytes)); // room for all levels
    for (size_t i = 0; i < n; i++) host[i] = i % 2;
    CUDA_CHECK(fault, cudaMemcpy(scan.in, host, bytes, cudaMemcpyHostToDevice));

    for (int k = 0; k < log2_n; k++, scan.most *= 2) {
        CUDA_CHECK(fault, cudaMemset(scan.out, 0xff, bytes));
        char size[16];
        snprintf(size, sizeof size, "n=2^%d", log2_n);
        experiment_at(e, size, "most=2^%d", k);
        if (experiment_measure(e, launch, &scan, NULL, fault)) return fault->code;
        CUDA_CHECK(fault, cudaMemcpy(host, scan.out, bytes, cudaMemcpyDeviceToHost));
        if (!is_right(host, n))
            return fail(fault, EXIT_WRONG, "n = %zu, most = %zu: not the scan.", n, scan.most);
    }
    free(host);
    CUDA_CHECK(fault, cudaFree(scan.out));
    CUDA_CHECK(fault, cudaFree(scan.in));
    CUDA_CHECK(fault, cudaFree(scan.workspace));
    return 0;
}

static int run(struct experiment *e, struct fault *fault)
{
    e->lesson = "fewer launches win as long as few sums are left; then the words of "
                "the sweeps cost more.";
    if (e->emulated) return measure(e, 12, fault);
    if (measure(e, 20, fault)) return fault->code;
    return measure(e, 24, fault);
}

int main(int argc, char **argv)
{
    return experiment_main("08-switch", "When the double-buffered scan should take over", run, argc,
                           argv);
}
