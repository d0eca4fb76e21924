/* sort.c — a program that uses sort.h: names in the order of their points. make example builds
 * it, build/example15 runs it on a GPU, and build/emu/emu build/example15 without one. */
#include "check.h"
#include "steps/15-radix-sort/sort.h"

#include <stdio.h>

int main(void)
{
    enum { N = 4 };
    static const char *const name[N] = {"Ada", "Ben", "Cho", "Dee"};
    float points[N] = {7.5f, -1, 9.25f, 7.5f}, *in, *out;
    uint32_t place[N], *values;
    void *workspace;
    size_t bytes;

    CHECK(cudaMalloc((void **)&in, sizeof points));
    CHECK(cudaMalloc((void **)&out, sizeof points));
    CHECK(cudaMalloc((void **)&values, sizeof place));
    CHECK(cudaMemcpy(in, points, sizeof points, cudaMemcpyHostToDevice));
    CHECK(sort_pairs_f32(NULL, &bytes, NULL, NULL, NULL, NULL, N, SORT_DESCENDING, NULL));
    CHECK(cudaMalloc(&workspace, bytes));
    CHECK(sort_workspace_init(workspace, bytes, NULL)); /* once */
    CHECK(sort_pairs_f32(workspace, &bytes, out, values, in, NULL, N, SORT_DESCENDING, NULL));
    CHECK(cudaMemcpy(points, out, sizeof points, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(place, values, sizeof place, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) printf("%s %g\n", name[place[i]], (double)points[i]);
    CHECK(cudaFree(workspace));
    CHECK(cudaFree(values));
    CHECK(cudaFree(out));
    CHECK(cudaFree(in));
    return 0;
}
