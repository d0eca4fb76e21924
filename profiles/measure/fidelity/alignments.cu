/*
 * alignments.cu — to how many bytes allocations are aligned, by kind of memory and size. 1000
 * allocations of mixed sizes are made, and some are freed in between. A row has the largest power
 * of two that divides all addresses of one size.
 *
 *   build/fidelity/alignments     the table, which fidelity.sh records
 */
#include <cstdint>
#include <cstdio>

enum { ALLOCATIONS = 1000, KEPT = 5 };
static const size_t SIZES[] = {1,       255,     513,     4096,     65537,    1 << 19,
                               1000000, 1 << 20, 1048577, 2 << 20, 2097153, 33 << 20};
enum { COUNT = sizeof SIZES / sizeof *SIZES };

static cudaError_t pinned(void **memory, size_t bytes) { return cudaHostAlloc(memory, bytes, 0); }
static cudaError_t managed(void **memory, size_t bytes)
{
    return cudaMallocManaged(memory, bytes, cudaMemAttachGlobal);
}
static cudaError_t pool(void **memory, size_t bytes) { return cudaMallocAsync(memory, bytes, 0); }
static cudaError_t device(void **memory, size_t bytes) { return cudaMalloc(memory, bytes); }
static cudaError_t free_pool(void *memory) { return cudaFreeAsync(memory, 0); }

static const struct {
    const char *name;
    cudaError_t (*allocate)(void **, size_t);
    cudaError_t (*release)(void *);
} kinds[] = {{"device", device, cudaFree},
             {"managed", managed, cudaFree},
             {"pool", pool, free_pool},
             {"pinned", pinned, cudaFreeHost}};

int main()
{
    static void *memory[ALLOCATIONS];
    unsigned random = 1;
    puts("memory,bytes,alignment");
    for (auto &kind : kinds) {
        uint64_t all[COUNT] = {};
        for (int i = 0; i < ALLOCATIONS; i++) {
            random = random * 1664525 + 1013904223;
            int size = random >> 16 & 0xff, place = size % COUNT;
            if (kind.allocate(&memory[i], SIZES[place]) != cudaSuccess) return 1;
            all[place] |= (uint64_t)memory[i];
            if (size % KEPT || i < KEPT) continue;
            if (kind.release(memory[i - KEPT]) != cudaSuccess) return 1;
            memory[i - KEPT] = NULL;
        }
        for (void *one : memory)
            if (one != NULL && kind.release(one) != cudaSuccess) return 1;
        for (int k = 0; k < COUNT; k++)
            printf("%s,%zu,%llu\n", kind.name, SIZES[k], (unsigned long long)(all[k] & -all[k]));
    }
}
