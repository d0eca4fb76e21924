/* backward.c — a program that uses scan.h: the backward pass of a linear recurrence. `make
 * example` builds it, build/example16-backward runs it on a GPU, and `build/emu/emu
 * build/example16-backward` without one.
 *
 * Forward: h = a h + b, and the loss is the sum of all h. Backward: the derivative of the loss by
 * h[i] is g[i] = a[i + 1] g[i + 1] + 1: a scan in reverse, with a shifted by one element. Then the
 * derivative by a[i] is g[i] h[i - 1], and that by b[i] is g[i]. */
#include "check.h"
#include "common/tools/library/scan/scan.h"

#include <stdio.h>

enum { N = 6 };

/* The loss if a[i] is larger by `more`. */
static double loss(const double *a, const double *b, int i, double more)
{
    double h = 0, sum = 0;
    for (int k = 0; k < N; k++) sum += h = (a[k] + (k == i ? more : 0)) * h + b[k];
    return sum;
}

int main(void)
{
    const double STEP = 1e-4;
    const struct upsweep_scan_options forward = {.inclusive = true},
                              backward = {.inclusive = true, .reverse = true};
    double *a, *b, *h, *g, *one;
    void *workspace;
    size_t bytes;

    CHECK(cudaMallocManaged((void **)&a, 5 * (N + 1) * sizeof *a, cudaMemAttachGlobal));
    b = a + N + 1, h = b + N + 1, g = h + N + 1, one = g + N + 1;
    for (int i = 0; i <= N; i++) a[i] = i < N ? 0.9 - 0.3 * i : 0, b[i] = 1 + i, one[i] = 1;
    CHECK(scan_affine_f64(NULL, &bytes, NULL, NULL, NULL, N, &forward, NULL));
    CHECK(cudaMalloc(&workspace, bytes));
    CHECK(scan_operators_init(workspace, bytes, NULL)); /* once */
    CHECK(scan_affine_f64(workspace, &bytes, h, a, b, N, &forward, NULL));
    CHECK(scan_affine_f64(workspace, &bytes, g, a + 1, one, N, &backward, NULL));
    CHECK(cudaDeviceSynchronize());
    printf("i  derivative  difference\n");
    for (int i = 0; i < N; i++) {
        double difference = (loss(a, b, i, STEP) - loss(a, b, i, -STEP)) / (2 * STEP);
        printf("%d  %10.5f  %10.5f\n", i, i > 0 ? g[i] * h[i - 1] : 0, difference);
    }
    CHECK(cudaFree(workspace));
    CHECK(cudaFree(a));
    return 0;
}
