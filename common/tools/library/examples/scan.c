/* scan.c — a program that uses scan.h: the sums of 1 + 2 + 3 + … + 1000. make example builds it,
 * build/example runs it on a GPU, and build/emu/emu build/example without one. */
#include "check.h"
#include "steps/12-pipeline/scan.h"

#include <stdio.h>

int main(void)
{
    enum { N = 1000 };
    int32_t host[N], *device;
    void *workspace;
    size_t bytes;
    for (int i = 0; i < N; i++) host[i] = i + 1;

    CHECK(cudaMalloc((void **)&device, sizeof host));
    CHECK(cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(scan_inclusive_i32(NULL, &bytes, NULL, NULL, N, NULL)); /* sets bytes */
    CHECK(cudaMalloc(&workspace, bytes));
    CHECK(scan_workspace_init(workspace, bytes, NULL)); /* once */
    CHECK(scan_inclusive_i32(workspace, &bytes, device, device, N, NULL));
    CHECK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(workspace));
    CHECK(cudaFree(device));
    printf("1 + 2 + 3 + … + %d = %d\n", N, (int)host[N - 1]);
    return 0;
}
