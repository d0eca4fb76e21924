/*
 * unwritten.cu — memory of which a part was never written: `unwritten TYPE WAY N` writes, of 1000
 * elements of a type, the first N in one way, and reads all of them in that way.
 */
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

enum { ALL = 1000, PER_BLOCK = 64, BLOCKS = (ALL + PER_BLOCK - 1) / PER_BLOCK };

static int n; /* elements that are written */

static void check(cudaError_t error)
{
    if (error == cudaSuccess) return;
    printf("%s\n", cudaGetErrorName(error));
    exit(1);
}

template <typename T> __device__ T value_of(int i) { return (T)i; }
template <> __device__ float4 value_of(int i) { return make_float4(i, i, i, i); }

template <typename T> __global__ void fill(T *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = value_of<T>(i);
}

/* Structures with padding, which stays as it was: member by member, or in one value. */
struct pair {
    double key;
    int index;
};
struct flag {
    char set;
    int value;
};
struct small {
    char a;
    short b;
};
struct mixed {
    int a;
    long long b;
    char c;
};
struct large {
    double a;
    int b[5];
};
struct alignas(16) vector3 {
    float x, y, z;
};
template <> __device__ pair value_of(int i) { return {i * 0.5, i}; }
template <> __device__ flag value_of(int i) { return {(char)i, i}; }
template <> __device__ small value_of(int i) { return {(char)i, (short)i}; }
template <> __device__ mixed value_of(int i) { return {i, i, (char)i}; }
template <> __device__ large value_of(int i) { return {i * 0.5, {i, i, i, i, i}}; }
template <> __device__ vector3 value_of(int i) { return {i * 1.f, i * 2.f, i * 3.f}; }

template <typename T> static T *device_memory(int elements)
{
    T *p;
    check(cudaMalloc(&p, elements * sizeof(T)));
    return p;
}

/* The first n of them written. */
template <typename T> static T *partly_filled()
{
    T *p = device_memory<T>(ALL);
    fill<<<BLOCKS, PER_BLOCK>>>(p, n);
    return p;
}

template <typename T> static T *host_memory() { return (T *)calloc(ALL, sizeof(T)); }

template <typename T> static void to_host(const T *p)
{
    check(cudaMemcpy(host_memory<T>(), p, ALL * sizeof(T), cudaMemcpyDeviceToHost));
}

/* ---- ways to write a part, and to copy all of it to the host ---------------------------------- */

template <typename T> static void by_kernel() { to_host(partly_filled<T>()); }

template <typename T> static void by_memset()
{
    T *p = device_memory<T>(ALL);
    check(cudaMemset(p, 0, n * sizeof(T)));
    to_host(p);
}

template <typename T> static void by_copy()
{
    T *p = device_memory<T>(ALL);
    check(cudaMemcpy(p, host_memory<T>(), n * sizeof(T), cudaMemcpyHostToDevice));
    to_host(p);
}

/* A copy on the device copies what was not written, too. */
template <typename T> static void by_device()
{
    T *p = device_memory<T>(ALL);
    check(cudaMemset(p, 0, ALL * sizeof(T)));
    check(cudaMemcpy(p, partly_filled<T>(), ALL * sizeof(T), cudaMemcpyDeviceToDevice));
    to_host(p);
}

/* Onto itself, a few elements on. */
template <typename T> static void by_overlap()
{
    T *p = device_memory<T>(ALL);
    fill<<<BLOCKS, PER_BLOCK>>>(p, n - 8);
    check(cudaMemcpy(p + 8, p, (ALL - 8) * sizeof(T), cudaMemcpyDefault));
    to_host(p);
}

template <typename T> static void by_peer()
{
    const T *from = partly_filled<T>();
    check(cudaSetDevice(1));
    T *p = device_memory<T>(ALL);
    check(cudaMemcpyPeer(p, 1, from, 0, ALL * sizeof(T)));
    to_host(p);
}

template <typename T> static void by_async()
{
    cudaStream_t stream;
    T *host;
    check(cudaStreamCreate(&stream));
    check(cudaMallocHost(&host, ALL * sizeof(T)));
    check(cudaMemcpyAsync(host, partly_filled<T>(), ALL * sizeof(T), cudaMemcpyDefault, stream));
    check(cudaStreamSynchronize(stream));
}

template <typename T> static void by_managed()
{
    T *to;
    check(cudaMallocManaged(&to, ALL * sizeof(T)));
    check(cudaMemcpy(to, partly_filled<T>(), ALL * sizeof(T), cudaMemcpyDefault));
}

/* 8 rows of 125. */
template <typename T> static void by_rows()
{
    size_t row = ALL / 8 * sizeof(T);
    check(cudaMemcpy2D(host_memory<T>(), row, partly_filled<T>(), row, row, 8,
                       cudaMemcpyDeviceToHost));
}

/* 2 slices of 4 rows of 125. */
template <typename T> static void by_slices()
{
    size_t row = ALL / 8 * sizeof(T);
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(partly_filled<T>(), row, row, 4);
    p.dstPtr = make_cudaPitchedPtr(host_memory<T>(), row, row, 4);
    p.extent = make_cudaExtent(row, 4, 2);
    p.kind = cudaMemcpyDeviceToHost;
    check(cudaMemcpy3D(&p));
}

/* Allocated, filled and copied by a graph, which is launched twice; n elements the first time, and
 * in the second half of them. */
template <typename T> static void by_graph()
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    T *p;
    check(cudaStreamCreate(&stream));
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    check(cudaMallocAsync(&p, ALL * sizeof(T), stream));
    fill<<<BLOCKS, PER_BLOCK, 0, stream>>>(p, n);
    check(cudaMemcpyAsync(host_memory<T>(), p, ALL * sizeof(T), cudaMemcpyDeviceToHost, stream));
    check(cudaFreeAsync(p, stream));
    check(cudaStreamEndCapture(stream, &graph));
    check(cudaGraphInstantiate(&executable, graph, 0));
    check(cudaGraphLaunch(executable, stream));
    check(cudaStreamSynchronize(stream));
}

/* Memory of a pool that was written, freed, and is allocated again. */
template <typename T> static void by_pool()
{
    T *p;
    for (int i = 0; i < 2; i++) {
        check(cudaMallocAsync(&p, ALL * sizeof(T), 0));
        fill<<<BLOCKS, PER_BLOCK>>>(p, i ? n : ALL);
        if (i) to_host(p);
        check(cudaFreeAsync(p, 0));
    }
}

/* ---- kernels that read all of it -------------------------------------------------------------- */

template <typename T> __global__ void copy(T *to, const T *from)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < ALL) to[i] = from[i];
}

template <typename T> static void by_load()
{
    copy<<<BLOCKS, PER_BLOCK>>>(device_memory<T>(ALL), partly_filled<T>());
}

template <typename T> __global__ void copy_async(T *to, const T *from)
{
    __shared__ alignas(16) T tile[ALL];
    auto block = cooperative_groups::this_thread_block();
    cooperative_groups::memcpy_async(block, tile, from, sizeof tile);
    cooperative_groups::wait(block);
    for (int i = threadIdx.x; i < ALL; i += blockDim.x) to[i] = tile[i];
}

template <typename T> static void by_copies_of_a_kernel()
{
    copy_async<<<1, 128>>>(device_memory<T>(ALL), partly_filled<T>());
}

/* The heap of malloc in kernels. */
template <typename T> __global__ void use_heap(T *to, int n)
{
    T *p = (T *)malloc(ALL * sizeof(T));
    for (int i = 0; i < n; i++) p[i] = value_of<T>(i);
    for (int i = 0; i < ALL; i++) to[i] = p[i];
    free(p);
}

template <typename T> static void by_heap() { use_heap<<<1, 1>>>(device_memory<T>(ALL), n); }

__global__ void add(int *p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < ALL) atomicAdd(&p[i], 1);
}

template <typename T> static void by_atomics()
{
    add<<<BLOCKS, PER_BLOCK>>>((int *)partly_filled<T>());
}

/* ---- what is initialised all the same --------------------------------------------------------- */

__device__ int variable[ALL];
__constant__ int constant[ALL];
__managed__ int managed[ALL];

template <typename T> static void by_variable()
{
    int *p;
    check(cudaMemcpyFromSymbol(host_memory<int>(), variable, sizeof variable));
    check(cudaMemcpyFromSymbol(host_memory<int>(), constant, sizeof constant));
    check(cudaGetSymbolAddress((void **)&p, variable));
    copy<<<BLOCKS, PER_BLOCK>>>(device_memory<int>(ALL), p);
    copy<<<BLOCKS, PER_BLOCK>>>(managed, p);
    check(cudaMallocManaged(&p, sizeof variable));
    copy<<<BLOCKS, PER_BLOCK>>>(device_memory<int>(ALL), p);
}

/* ---- choosing ----------------------------------------------------------------------------------- */

template <typename T> static void run(const char *way)
{
    static const struct {
        const char *name;
        void (*run)();
    } ways[] = {
        {"kernel", by_kernel<T>}, {"memset", by_memset<T>}, {"copy", by_copy<T>},
        {"device", by_device<T>}, {"overlap", by_overlap<T>}, {"peer", by_peer<T>},
        {"async", by_async<T>}, {"managed", by_managed<T>}, {"rows", by_rows<T>},
        {"slices", by_slices<T>}, {"graph", by_graph<T>}, {"pool", by_pool<T>},
        {"load", by_load<T>}, {"async-load", by_copies_of_a_kernel<T>}, {"heap", by_heap<T>},
        {"atomics", by_atomics<T>}, {"variable", by_variable<T>},
    };
    for (auto &w : ways) {
        if (strcmp(w.name, way)) continue;
        w.run();
        check(cudaDeviceSynchronize());
        exit(0);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(const char *);
    } types[] = {
        {"char", run<char>}, {"short", run<short>}, {"int", run<int>},
        {"int64", run<int64_t>}, {"double", run<double>}, {"float4", run<float4>},
        {"pair", run<pair>}, {"flag", run<flag>}, {"small", run<small>},
        {"mixed", run<mixed>}, {"large", run<large>}, {"vector3", run<vector3>},
    };
    if (argc != 4) return 2;
    n = atoi(argv[3]);
    for (auto &type : types)
        if (!strcmp(type.name, argv[1])) type.run(argv[2]);
    return 2;
}
