/* api.cu — pairs: calls of the CUDA runtime that fail. pair.h says how a pair is written. */
#include "pair.h"
#include <cassert>

/* What several pairs launch. */
__global__ void fill(int *out) { out[threadIdx.x] = 1; }
__global__ void reverse(int *out)
{
    extern __shared__ int words[];
    words[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = words[63 - threadIdx.x];
}

/* What host functions in a stream write. */
static int *written;

/* api-assert — the host never looks at the error that an assertion of a kernel leaves. */
__global__ void api_assert(const int *in, int limit)
{
    assert(in[threadIdx.x] < limit); /* initcheck racecheck synccheck: assertion */
}
MAIN(api_assert)
{
    int *in = zeros<int>(64);
    api_assert<<<1, 64>>>(in, right ? 1 : 0);
    cudaDeviceSynchronize(); /* memcheck: cudaErrorAssert */
    cudaFree(in);
}

/* api-attribute — the host asks for an attribute that does not exist, and uses the variable that
 * was not set. */
MAIN(api_attribute)
{
    int processors = 0;
    cudaDeviceAttr asked = right ? cudaDevAttrMultiProcessorCount : (cudaDeviceAttr)9999;
    cudaDeviceGetAttribute(&processors, asked, 0); /* memcheck: cudaErrorInvalidValue */
}

/* api-block-depth — a block has at most 64 threads in z, although it may have 1024 in x and y. */
__global__ void api_block_depth(int *out) { out[threadIdx.x + threadIdx.z] = 1; }
HOST(api_block_depth)
{
    int *out = zeros<int>(128);
    dim3 threads = right ? dim3(128) : dim3(1, 1, 128);
    api_block_depth<<<1, threads>>>(out); /* memcheck: cudaErrorInvalid */
}

/* api-callback — a host function that a stream calls must not call the runtime. */
/* memcheck: cudaErrorNotPermitted */
static void CUDART_CB clear_in_stream(void *) { cudaMemset(written, 0, 4); }
static void CUDART_CB note(void *done) { *(int *)done = 1; }
HOST(api_callback)
{
    int done = 0;
    written = zeros<int>(64);
    cudaLaunchHostFunc(0, right ? note : clear_in_stream, &done);
}

/* api-capture-legacy — a launch in the default stream waits for all others, and one of them is
 * being captured. */
HOST(api_capture_legacy)
{
    int *out = zeros<int>(64);
    cudaStream_t stream = new_stream(cudaStreamDefault);
    cudaGraph_t graph;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    fill<<<1, 64, 0, stream>>>(out);
    cudaStream_t second = right ? stream : 0;
    fill<<<1, 64, 0, second>>>(out); /* memcheck: cudaErrorStreamCaptureImplicit */
    cudaStreamEndCapture(stream, &graph);
    if (right) cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
}

/* api-capture-unjoined — a capture ends before the second stream has been joined to the first
 * again. */
HOST(api_capture_unjoined)
{
    int *out = zeros<int>(64);
    cudaStream_t stream = new_stream(cudaStreamDefault), other = new_stream(cudaStreamDefault);
    cudaEvent_t fork = new_event(), join = new_event();
    cudaGraph_t graph;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaEventRecord(fork, stream);
    cudaStreamWaitEvent(other, fork);
    fill<<<1, 64, 0, other>>>(out);
    cudaEventRecord(join, other);
    if (right) cudaStreamWaitEvent(stream, join);
    cudaStreamEndCapture(stream, &graph); /* memcheck: cudaErrorStreamCaptureUnjoined */
    if (right) cudaGraphDestroy(graph);
    cudaEventDestroy(fork);
    cudaEventDestroy(join);
    cudaStreamDestroy(stream);
    cudaStreamDestroy(other);
}

/* api-capture-wait — the host waits for a stream that is being captured. */
HOST(api_capture_wait)
{
    int *out = zeros<int>(64);
    cudaStream_t stream = new_stream(cudaStreamDefault);
    cudaGraph_t graph;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    fill<<<1, 64, 0, stream>>>(out);
    if (!right) cudaStreamSynchronize(stream); /* memcheck: cudaErrorStreamCaptureUnsupported */
    cudaStreamEndCapture(stream, &graph);
    if (right) cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
}

/* api-cluster — the number of blocks is not a multiple of the size of a cluster. */
__global__ void __cluster_dims__(4) api_cluster(int *out) { out[blockIdx.x] = 1; }
HOST(api_cluster)
{
    int *out = zeros<int>(8);
    api_cluster<<<right ? 8 : 6, 1>>>(out); /* memcheck: Program hit cudaError */
}

/* api-copy — a copy stays inside its allocations. */
HOST(api_copy)
{
    int *from = zeros<int>(64), *to = zeros<int>(64);
    size_t n = right ? 64 : 1 << 24;
    /* memcheck: cudaErrorInvalidValue */
    cudaMemcpy(to, from, n * sizeof(int), cudaMemcpyDeviceToDevice);
}

/* api-device — devices are counted from 0, so their count is not a device's number. */
MAIN(api_device)
{
    int devices;
    cudaGetDeviceCount(&devices);
    int last = right ? devices - 1 : devices;
    cudaSetDevice(last); /* memcheck: cudaErrorInvalidDevice */
    cudaFree(zeros<int>(64));
}

/* api-direction — a copy to the host is called a copy to the device. */
HOST(api_direction)
{
    int host[64], *in = zeros<int>(64);
    cudaMemcpyKind kind = right ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
    cudaMemcpy(host, in, sizeof host, kind); /* memcheck: cudaErrorInvalidValue */
}

/* api-event — the host asks for the time between two events, of which one was never recorded. */
HOST(api_event)
{
    int *out = zeros<int>(64);
    float ms;
    cudaEvent_t begin = new_event(), end = new_event();
    cudaEventRecord(begin);
    fill<<<1, 64>>>(out);
    if (right) cudaEventRecord(end);
    cudaDeviceSynchronize();
    cudaEventElapsedTime(&ms, begin, end); /* memcheck: cudaErrorInvalidResourceHandle */
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
}

/* api-event-early — the host asks for the time between two events before the second has
 * happened. */
__global__ void api_event_early(long long cycles)
{
    for (long long begin = clock64(); clock64() - begin < cycles;) continue;
}
HOST(api_event_early)
{
    float ms;
    cudaEvent_t begin = new_event(), end = new_event();
    cudaEventRecord(begin);
    api_event_early<<<1, 1>>>(1000000);
    cudaEventRecord(end);
    if (right) cudaEventSynchronize(end);
    cudaEventElapsedTime(&ms, begin, end); /* nothing: the emulator runs work at once */
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
}

/* api-event-query — an event that has not happened may be asked for. A destroyed one may not. */
HOST(api_event_query)
{
    cudaEvent_t event = new_event();
    if (!right) cudaEventDestroy(event);
    cudaEventQuery(event); /* memcheck: Program hit cudaError */
    if (right) cudaEventDestroy(event);
}

/* api-event-timing — the host asks for the time between events that were created without timing. */
MAIN(api_event_timing)
{
    unsigned flags = right ? cudaEventDefault : cudaEventDisableTiming;
    float ms;
    cudaEvent_t begin, end;
    cudaEventCreateWithFlags(&begin, flags);
    cudaEventCreateWithFlags(&end, flags);
    cudaEventRecord(begin);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&ms, begin, end); /* memcheck: cudaErrorInvalidResourceHandle */
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
}

/* api-graph — an instantiated graph cannot take over a graph with another number of nodes. */
static cudaGraph_t chain(int *out, int kernels)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    for (int i = 0; i < kernels; i++) fill<<<1, 64, 0, stream>>>(out);
    cudaStreamEndCapture(stream, &graph);
    cudaStreamDestroy(stream);
    return graph;
}
HOST(api_graph)
{
    int *out = zeros<int>(64);
    cudaGraph_t one = chain(out, 1), more = chain(out, right ? 1 : 2);
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info;
    cudaGraphInstantiate(&exec, one, 0);
    cudaGraphExecUpdate(exec, more, &info); /* memcheck: cudaErrorGraphExecUpdateFailure */
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(one);
    cudaGraphDestroy(more);
}

/* api-grid-height — a grid has at most 65 535 blocks in y. */
__global__ void api_grid_height(int *out) { out[blockIdx.x + blockIdx.y] = 1; }
HOST(api_grid_height)
{
    enum { BLOCKS = 1 << 16 };
    int *out = zeros<int>(BLOCKS);
    dim3 blocks = right ? dim3(BLOCKS) : dim3(1, BLOCKS);
    api_grid_height<<<blocks, 1>>>(out); /* memcheck: cudaErrorInvalid */
}

/* api-heap-limit — the heap of malloc in kernels gets its size after a kernel has used it. */
__global__ void api_heap_limit(int *out)
{
    int *own = (int *)malloc(sizeof(int));
    if (!own) return;
    *own = threadIdx.x;
    out[threadIdx.x] = *own;
    free(own);
}
HOST(api_heap_limit)
{
    int *out = zeros<int>(32);
    if (right) cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20);
    api_heap_limit<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    if (!right)
        cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20); /* memcheck: Program hit cudaError */
}

/* api-host-function — a function that a stream calls on the host calls CUDA itself. */
/* The call is not the last thing that it does, so its frame stays. */
static void clear(void *calls)
{
    if (!calls) return;
    cudaError_t error = cudaMemset(written, 0, 64); /* memcheck: cudaErrorNotPermitted */
    if (!error) printf("cleared\n");
}
HOST(api_host_function)
{
    static bool calls = true;
    written = zeros<int>(64);
    cudaLaunchHostFunc(0, clear, right ? nullptr : &calls);
}

/* api-launch — a block has at most 1024 threads. */
HOST(api_launch)
{
    int *out = zeros<int>(2048);
    fill<<<1, right ? 1024 : 2048>>>(out); /* memcheck: cudaErrorInvalid */
}

/* api-launch-bounds — a kernel that was compiled for at most 128 threads a block is launched with
 * 256. */
__global__ void __launch_bounds__(128) api_launch_bounds(int *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
HOST(api_launch_bounds)
{
    int *out = zeros<int>(256), threads = right ? 128 : 256;
    api_launch_bounds<<<256 / threads, threads>>>(out); /* memcheck: Program hit cudaError */
}

/* api-mapped — the host asks for the device's address of memory that is not mapped. */
MAIN(api_mapped)
{
    int *host, *device, *pageable = (int *)malloc(64 * sizeof(int));
    cudaHostAlloc(&host, 64 * sizeof(int), cudaHostAllocMapped);
    cudaHostGetDevicePointer(&device, /* memcheck: cudaErrorInvalidValue */
                             right ? host : pageable, 0);
    cudaFreeHost(host);
    free(pageable);
}

/* api-memory — the host asks for more memory than the device has. */
MAIN(api_memory)
{
    size_t free_bytes, all;
    void *buffer = nullptr;
    cudaMemGetInfo(&free_bytes, &all);
    cudaMalloc(&buffer, /* memcheck: cudaErrorMemoryAllocation */
               right ? free_bytes / 64 : all + 1);
    cudaFree(buffer);
}

/* api-no-blocks — the number of blocks is rounded down, which makes 0 for few elements. */
__global__ void api_no_blocks(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i;
}
HOST(api_no_blocks)
{
    enum { N = 100, THREADS = 256 };
    int blocks = right ? (N + THREADS - 1) / THREADS : N / THREADS;
    int *out = zeros<int>(N);
    api_no_blocks<<<blocks, THREADS>>>(out, N); /* memcheck: cudaErrorInvalidValue */
}

/* api-peer — a device is made a peer of itself. */
MAIN(api_peer)
{
    /* memcheck: cudaErrorPeerAccessUnsupported */
    if (!right) cudaDeviceEnablePeerAccess(0, 0);
    cudaFree(zeros<int>(64));
}

/* api-pitch — the pitch of an image is smaller than the width of its rows. */
MAIN(api_pitch)
{
    enum { WIDTH = 256, HEIGHT = 4 };
    static char host[WIDTH * HEIGHT];
    size_t pitch;
    char *image;
    cudaMallocPitch(&image, &pitch, WIDTH, HEIGHT);
    cudaMemset2D(image, pitch, 0, WIDTH, HEIGHT);
    cudaMemcpy2D(host, /* memcheck: cudaErrorInvalidPitchValue */
                 right ? WIDTH : WIDTH / 4, image, pitch, WIDTH, HEIGHT, cudaMemcpyDeviceToHost);
    cudaFree(image);
}

/* api-prefetch — memory of cudaMalloc cannot be prefetched: only managed memory can. */
MAIN(api_prefetch)
{
    size_t bytes = 1 << 20;
    void *plain, *managed;
    cudaMemLocation device;
    device.type = cudaMemLocationTypeDevice;
    device.id = 0;
    cudaMalloc(&plain, bytes);
    cudaMallocManaged(&managed, bytes);
    cudaMemPrefetchAsync(/* memcheck: cudaErrorInvalidValue */
                         right ? managed : plain, bytes, device, 0, 0);
    cudaDeviceSynchronize();
    cudaFree(plain);
    cudaFree(managed);
}

/* api-register — the same memory of the host is registered twice. */
MAIN(api_register)
{
    size_t bytes = 1 << 16;
    void *host = aligned_alloc(4096, bytes);
    cudaHostRegister(host, bytes, cudaHostRegisterDefault);
    if (!right)
        cudaHostRegister(host, bytes, /* memcheck: cudaErrorHostMemoryAlreadyRegistered */
                         cudaHostRegisterDefault);
    cudaHostUnregister(host);
    free(host);
}

/* api-shared — a block uses more than 48 KiB of dynamic shared memory, which was not allowed
 * before. */
HOST(api_shared)
{
    enum { BYTES = 64 << 10 };
    int *out = zeros<int>(64);
    if (right) cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES);
    reverse<<<1, 64, BYTES>>>(out); /* memcheck: cudaErrorInvalidValue */
}

/* api-shared-most — a kernel is allowed more shared memory than a block can have. */
HOST(api_shared_most)
{
    int most, *out = zeros<int>(64);
    cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    if (!right) most += 1024;
    cudaFuncSetAttribute(reverse, /* memcheck: cudaErrorInvalidValue */
                         cudaFuncAttributeMaxDynamicSharedMemorySize, most);
    reverse<<<1, 64, 256>>>(out);
}

/* api-stream — a stream is used after it was destroyed. */
HOST(api_stream)
{
    int *out = zeros<int>(64);
    cudaStream_t stream = new_stream(cudaStreamDefault);
    if (!right) cudaStreamDestroy(stream);
    fill<<<1, 64, 0, stream>>>(out); /* memcheck: Program hit cudaError */
    cudaDeviceSynchronize();
    if (right) cudaStreamDestroy(stream);
}

/* api-symbol — a copy to a __constant__ array gets an address of the host in place of the array's
 * name. */
__constant__ int weights[16];
__global__ void api_symbol(int *out) { out[threadIdx.x] = weights[threadIdx.x]; }
HOST(api_symbol)
{
    static int host[16];
    int *out = zeros<int>(16);
    const void *symbol = right ? (const void *)weights : (const void *)host;
    cudaMemcpyToSymbol(symbol, host, sizeof host); /* memcheck: cudaErrorInvalidSymbol */
    api_symbol<<<1, 16>>>(out);
}
