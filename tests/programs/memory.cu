/*
 * memory.cu — one wrong access or call of each kind, and a right one beside it, for the tests of
 * memcheck.
 *
 * usage: memory CASE [exit code]
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>

enum { THREADS = 32, BYTES = THREADS * sizeof(int) };

__global__ void write_at(int *p, int offset) { p[(int)threadIdx.x + offset] = 1; }
__global__ void read_at(int *p, int *out, int offset) { *out = p[(int)threadIdx.x + offset]; }
__global__ void add_at(int *p, int offset) { atomicAdd(&p[(int)threadIdx.x + offset], 1); }
__global__ void write_bytes(char *p) { *(int *)(p + 2 * threadIdx.x) = 1; }
__global__ void write_vector(char *p) { *(int4 *)p = make_int4(1, 2, 3, 4); }

__global__ void write_shared(int offset)
{
    extern __shared__ int words[];
    words[(int)threadIdx.x + offset] = 1;
}

__global__ void read_local(int *out, int index)
{
    volatile int array[8];
    for (int i = 0; i < 8; i++) array[i] = i;
    *out = array[index];
}

/* A pointer to a kernel's parameter: it can be read, but not behind the last one. */
struct many {
    int values[16];
};
__global__ void read_param(const __grid_constant__ many parameter, int *out, int index)
{
    const int *p = parameter.values;
    *out = p[index];
}

__constant__ int constants[8];
__global__ void read_constant(int *out, int index) { *out = constants[index]; }

__global__ void allocate(bool frees)
{
    void *p = malloc(24);
    if (frees) free(p);
}

static int *make(void)
{
    int *p;
    cudaMalloc(&p, BYTES);
    return p;
}

static void run(const char *name)
{
    auto is = [name](const char *other) { return strcmp(name, other) == 0; };
    int *p = make(), *out = make();
    if (is("right")) {
        write_at<<<1, THREADS>>>(p, 0);
        read_at<<<1, THREADS>>>(p, out, 0);
        add_at<<<1, THREADS>>>(p, 0);
        write_bytes<<<1, 1>>>((char *)p);
        write_vector<<<1, 1>>>((char *)p + 16);
        write_shared<<<1, THREADS, BYTES>>>(0);
        read_local<<<1, 1>>>(out, 7);
        read_param<<<1, 1>>>(many(), out, 15);
        read_constant<<<1, 1>>>(out, 7);
        allocate<<<1, THREADS>>>(true);
        cudaDeviceSynchronize();
        cudaFree(p);
        cudaFree(out);
        cudaFree(nullptr);
        cudaDeviceReset();
    } else if (is("write"))
        write_at<<<1, THREADS>>>(p, 2);
    else if (is("read"))
        read_at<<<1, THREADS>>>(p, out, -3);
    else if (is("atomic"))
        add_at<<<1, THREADS>>>(p, 1);
    else if (is("null"))
        write_at<<<1, 1>>>(nullptr, 0);
    else if (is("misaligned"))
        write_bytes<<<1, THREADS>>>((char *)p);
    else if (is("misaligned vector"))
        write_vector<<<1, 1>>>((char *)p + 8);
    else if (is("shared"))
        write_shared<<<1, THREADS, BYTES>>>(1);
    else if (is("local"))
        read_local<<<1, 1>>>(out, 1000);
    else if (is("param"))
        read_param<<<1, 1>>>(many(), out, 1000);
    else if (is("constant"))
        read_constant<<<1, 1>>>(out, 8);
    else if (is("freed")) {
        cudaFree(p);
        for (int i = 0; i < 100; i++) make(); /* they do not take its addresses */
        write_at<<<1, 1>>>(p, 1);
    } else if (is("double free")) {
        cudaFree(p);
        cudaFree(p);
    } else if (is("invalid free"))
        cudaFree(p + 1);
    else if (is("host free"))
        cudaFree(&p);
    else if (is("leaks"))
        cudaFree(p);
    else if (is("heap leaks")) {
        allocate<<<1, 2>>>(false);
        allocate<<<1, 2>>>(true);
        cudaDeviceSynchronize();
        cudaFree(p);
        cudaFree(out);
    } else if (is("leaks before reset")) {
        cudaDeviceReset();
        make();
    } else if (is("configuration"))
        write_at<<<1, 1025>>>(p, 0);
    else if (is("copy"))
        cudaMemcpy(p, p, 2 * BYTES, cudaMemcpyDeviceToDevice);
    else if (is("not ready")) {
        cudaEvent_t event;
        cudaEventCreate(&event);
        cudaEventQuery(event);
    } else {
        fprintf(stderr, "memory: there is no case %s\n", name);
        exit(98);
    }
}

int main(int argc, char **argv)
{
    run(argc > 1 ? argv[1] : "");
    cudaDeviceSynchronize();
    printf("end\n");
    return argc > 2 ? atoi(argv[2]) : 0;
}
