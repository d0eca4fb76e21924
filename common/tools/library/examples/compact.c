/* compact.c — a program that uses compact.h: of 1 … 1000, those from 42 to 45. `make example`
 * builds it, build/example13 runs it on a GPU, and build/emu/emu build/example13 without one. */
#include "check.h"
#include "steps/13-compaction/compact.h"

#include <stdio.h>

int main(void)
{
    enum { N = 1000 };
    int32_t host[N], *in, *out;
    uint64_t count, *kept;
    void *workspace;
    size_t bytes;
    struct predicate wanted = predicate_between(key_of_i32(42), key_of_i32(45));
    for (int i = 0; i < N; i++) host[i] = i + 1;

    CHECK(cudaMalloc((void **)&in, sizeof host));
    CHECK(cudaMalloc((void **)&out, sizeof host));
    CHECK(cudaMalloc((void **)&kept, sizeof count));
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(compact_i32(NULL, &bytes, NULL, NULL, NULL, N, NULL, NULL)); /* how large a workspace? */
    CHECK(cudaMalloc(&workspace, bytes));
    CHECK(compact_workspace_init(workspace, bytes, NULL)); /* once */
    CHECK(compact_i32(workspace, &bytes, out, kept, in, N, &wanted, NULL));
    CHECK(cudaMemcpy(&count, kept, sizeof count, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(host, out, count * sizeof *host, cudaMemcpyDeviceToHost));
    for (uint64_t i = 0; i < count; i++) printf("%d\n", (int)host[i]);
    CHECK(cudaFree(workspace));
    CHECK(cudaFree(kept));
    CHECK(cudaFree(out));
    CHECK(cudaFree(in));
    return 0;
}
