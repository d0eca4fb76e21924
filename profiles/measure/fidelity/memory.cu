/*
 * memory.cu — how the runtime lays out memory. It has no memory of its own, which would be part of
 * the layout.
 *
 *   build/fidelity/memory alignments    to how many bytes allocations are aligned
 *   build/fidelity/memory pages         which accesses outside of an array end a kernel
 *
 * Each prints a table, which fidelity.py records.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

/* ---- alignments ------------------------------------------------------------------------------ */

/* 1000 allocations of mixed sizes are made, and some are freed in between. A row has a kind of
 * memory, a size, and the largest power of two that divides all its addresses. */
namespace alignments
{
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

static int print_alignments()
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
    return 0;
}

} // namespace alignments

/* ---- accesses outside of an array ------------------------------------------------------------ */

/* Whether a store arrives is not looked at. A row: the memory, the array's bytes, a place, and the
 * error of a load and of a store there ("-": no error). Places are bytes from the array's first
 * byte; from "end", the end of the 2 MiB page in which the array's last byte is; or from "begin",
 * where the page of its first begins. Each access is made by a process of its own, because an error
 * ends all work of its process. */
namespace pages
{
static const long long PAGE = 2 << 20;

struct place {
    const char *memory; /* device, pinned, managed or shared */
    long long bytes;
    const char *from; /* "": the array; "end", "begin": of its pages */
    long long distance;
};

__global__ void access_global(char *at, bool store, char *to)
{
    if (store)
        *at = 1;
    else
        *to = *(volatile char *)at;
}

extern __shared__ char array[];
__global__ void access_shared(long long at, bool store, char *to)
{
    if (store)
        ((volatile char *)array)[at] = 1;
    else
        *to = ((volatile char *)array)[at];
}

static void check(cudaError_t error, const char *what)
{
    if (!error) return;
    fprintf(stderr, "pages: %s: %s\n", what, cudaGetErrorString(error));
    exit(EXIT_FAILURE);
}

static void try_place(const place &p, bool store)
{
    char *array = NULL, *to;
    check(cudaMalloc(&to, 1), "cudaMalloc");
    if (strcmp(p.memory, "device") == 0)
        check(cudaMalloc(&array, p.bytes), "cudaMalloc");
    else if (strcmp(p.memory, "pinned") == 0)
        check(cudaMallocHost(&array, p.bytes), "cudaMallocHost");
    else if (strcmp(p.memory, "managed") == 0)
        check(cudaMallocManaged(&array, p.bytes), "cudaMallocManaged");
    char *from = array;
    if (strcmp(p.from, "end") == 0)
        from = (char *)(((long long)array + p.bytes + PAGE - 1) / PAGE * PAGE);
    else if (strcmp(p.from, "begin") == 0)
        from = (char *)((long long)array / PAGE * PAGE);
    if (array)
        access_global<<<1, 1>>>(from + p.distance, store, to);
    else
        access_shared<<<1, 1, p.bytes>>>(p.distance, store, to);
    check(cudaGetLastError(), "launch");
    cudaError_t error = cudaDeviceSynchronize();
    printf(",%s", error ? cudaGetErrorName(error) : "-");
}

/* True if the child ended well. */
static bool in_a_child(const place &p, bool store)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        try_place(p, store);
        exit(EXIT_SUCCESS);
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static bool print_row(const place &p)
{
    printf("%s,%lld,%s,%lld", p.memory, p.bytes, p.from, p.distance);
    bool well = in_a_child(p, false) & in_a_child(p, true);
    putchar('\n');
    return well;
}

static int print_pages()
{
    static const long long device_bytes[] = {1, 512, 1 << 20, PAGE, PAGE + 1, 3 * PAGE / 2};
    static const long long shared_bytes[] = {4, 400, 1024, 2000};
    bool well = true;

    puts("memory,bytes,from,distance,load,store");
    for (long long bytes : device_bytes) {
        const place places[] = {
            {"device", bytes, "", bytes}, {"device", bytes, "end", -1},
            {"device", bytes, "end", 0},  {"device", bytes, "end", PAGE},
            {"device", bytes, "", -1},    {"device", bytes, "begin", 0},
            {"device", bytes, "begin", -PAGE},
        };
        for (const place &p : places) well &= print_row(p);
    }
    for (const char *memory : {"pinned", "managed"})
        for (long long distance : {-4096, -1, 4, 4095, 4096, 65536, 2 << 20, 64 << 20})
            well &= print_row({memory, 4, "", distance});
    for (long long bytes : shared_bytes)
        for (long long past : {0, 124, 128, 256, 1023, 1024, 2048, 8192})
            well &= print_row({"shared", bytes, "", bytes + past});
    return well ? EXIT_SUCCESS : EXIT_FAILURE;
}

} // namespace pages

int main(int argc, char **argv)
{
    return argc > 1 && !strcmp(argv[1], "pages") ? pages::print_pages()
                                                 : alignments::print_alignments();
}
