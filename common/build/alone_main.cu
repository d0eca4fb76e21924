
// ---- the program: what ./step@K@ does at large --------------------------------------------------

#include <cstdio>
#include <cstdlib>

// Every call of CUDA can fail: then the program says which one, and ends.
#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ == cudaSuccess) break;                                                          \
        fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error_));                    \
        exit(1);                                                                                   \
    } while (0)

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : @N@, bytes = n * sizeof(float);
    float *in = (float *)malloc(bytes + 1), *out = (float *)malloc(bytes + 1), milliseconds;
    if (!in || !out) return fprintf(stderr, "no memory for %zu elements\n", n), 1;

    // Small integers: a float holds each of their sums, so that any order of additions is exact.
    for (size_t i = 0; i < n; i++) in[i] = (float)(i * 7 % 11) - 5;

    // The device has a memory of its own. What no kernel writes must not look right: it is NaN.
    float *d_in, *d_out;
    void *workspace;
    CHECK(cudaMalloc(&d_in, bytes + 1));
    CHECK(cudaMalloc(&d_out, bytes + 1));
    CHECK(cudaMalloc(&workspace, @WORKSPACE@ + 1));
    CHECK(cudaMemset(workspace, 0, @WORKSPACE@ + 1));
    CHECK(cudaMemcpy(d_in, in, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_out, 0xFF, bytes));

    // The first call also loads the kernels; the second one is timed between two events.
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(@CALL@);
    CHECK(cudaEventRecord(begin));
    CHECK(@CALL@);
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end)); // errors of the kernels come to light here
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    CHECK(cudaMemcpy(out, d_out, bytes, cudaMemcpyDeviceToHost));

    float want = 0;
    for (size_t i = 0; i < n; i++) {
        if (out[i] != want)
            return printf("wrong: element %zu is %g, not %g\n", i, out[i], want), 1;
        want += in[i];
    }
    printf("right: %zu elements, %.3f ms\n", n, milliseconds);
}
