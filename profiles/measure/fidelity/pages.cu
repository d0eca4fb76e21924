/*
 * pages.cu — which accesses outside of an array pass on a GPU, and which end the kernel; whether a
 * store arrives is not looked at. fidelity.sh runs it.
 *
 * Prints CSV: the memory, the array's bytes, a place, and the error of a load and of a store there
 * ("-": no error). Places are bytes from the array's first byte; from "end", the end of the 2 MiB
 * page in which the array's last byte is; or from "begin", where the page of its first begins. Each
 * access is made by a process of its own, because an error ends all work of its process.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

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

int main()
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
