/*
 * wrong.cu — typical mistakes of a course, one per run. Prints the error of the next
 * synchronisation and exits with 1.
 *
 * usage: wrong WAY, or wrong list
 */
#undef NDEBUG
#include <cassert>
#include <cooperative_groups.h>
#include <cstdio>
#include <cstring>

static __global__ void asserts(int *value) { assert(value[threadIdx.x] == 0 && threadIdx.x < 3); }

static __global__ void traps(int *value)
{
    if (value[threadIdx.x] == 0 && threadIdx.x == 5) __trap();
}

static __global__ void past_the_end(int *value) { value[threadIdx.x + 32] = 1; }

static __global__ void null_pointer(int *) { *(volatile int *)NULL = 1; }

static __global__ void misaligned(int *value) { *(volatile int *)((char *)value + 2) = 1; }

static __global__ void past_shared(int *value)
{
    extern __shared__ int s[];
    s[threadIdx.x * 4096] = 1;
    value[threadIdx.x] = s[0];
}

static __global__ void host_pointer(int *value) { *value = 1; }

static __device__ int descend(volatile int *value, int depth)
{
    volatile int room[64];
    room[depth % 64] = depth;
    return *value == 0 ? descend(value, depth + 1) + room[depth % 64] : depth;
}
static __global__ void endless_recursion(int *value) { value[1] = descend(value, 0); }

/* In an ordinary launch. */
static __global__ void grid_sync(int *) { cooperative_groups::this_grid().sync(); }

static __global__ void ordinary(int *value) { value[threadIdx.x] = 1; }

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*kernel)(int *);
        int threads;
        size_t shared;
    } ways[] = {
        {"assert", asserts, 4, 0},
        {"trap", traps, 32, 0},
        {"past-the-end", past_the_end, 32, 0},
        {"null-pointer", null_pointer, 1, 0},
        {"misaligned", misaligned, 1, 0},
        {"past-shared", past_shared, 32, 1024},
        {"host-pointer", host_pointer, 1, 0},
        {"endless-recursion", endless_recursion, 1, 0},
        {"grid-sync", grid_sync, 32, 0},
        {"too-much-shared", ordinary, 32, 1 << 20},
    };
    const char *name = argc > 1 ? argv[1] : "";
    for (auto &way : ways) {
        if (!strcmp(name, "list")) printf("%s\n", way.name);
        if (strcmp(name, way.name)) continue;
        int *value, host = 0;
        cudaMalloc((void **)&value, 32 * sizeof(int));
        cudaMemset(value, 0, 32 * sizeof(int));
        way.kernel<<<1, way.threads, way.shared>>>(way.kernel == host_pointer ? &host : value);
        cudaError_t launch = cudaGetLastError(), error = cudaDeviceSynchronize();
        printf("launch: %s; then: %s\n", cudaGetErrorName(launch), cudaGetErrorName(error));
        return launch != cudaSuccess || error != cudaSuccess;
    }
    return strcmp(name, "list") ? 2 : 0;
}
