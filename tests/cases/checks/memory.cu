/* memory.cu — pairs: accesses outside of allocations, wrong frees, leaks. pair.h says how a pair is
 * written. */
#include "bulk.h"
#include "matrix.cuh"
#include <cuda_pipeline.h>

/* What several pairs launch. */
__global__ void fill(int *out) { out[threadIdx.x] = 1; }
__global__ void fill_strided(int *out, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = i;
}

struct vector {
    int *data;
    int n;
};
__device__ int table[64];

/* memory-atomic — a histogram whose bins are one too few. */
__global__ void memory_atomic(const int *in, int *bins, int limit)
{
    /* memcheck: Invalid __global__ atomic */
    atomicAdd(&bins[in[threadIdx.x] + threadIdx.x % limit], 1);
}
PAIR(memory_atomic, 1, 64, zeros<int>(64), zeros<int>(16), right ? 16 : 17)

/* memory-atomic-aligned — a counter of 8 bytes begins at an address that is not a multiple of 8. */
template <bool right> __global__ void memory_atomic_aligned(char *counters)
{
    unsigned long long *wide = (unsigned long long *)(counters + (right ? 8 : 4));
    atomicAdd((int *)counters, 1);
    atomicAdd(wide, 1ull); /* memcheck: Invalid __global__ atomic of size 8 bytes */
}
PAIR(memory_atomic_aligned<right>, 1, 32, zeros<char>(16))

/* memory-blocks — the number of blocks is rounded up, but the number of their sums is rounded
 * down. */
__global__ void memory_blocks(const int *in, int *sums, int n)
{
    __shared__ int sum;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    if (i < n) atomicAdd(&sum, in[i]);
    __syncthreads();
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum; /* memcheck: Invalid __global__ write of size 4 bytes */
}
HOST(memory_blocks)
{
    enum { N = 1000, THREADS = 128 };
    int blocks = (N + THREADS - 1) / THREADS;
    int *in = zeros<int>(N), *sums = zeros<int>(right ? blocks : N / THREADS);
    memory_blocks<<<blocks, THREADS>>>(in, sums, N);
}

/* memory-bulk — a bulk copy takes a whole tile from an array that ends before. */
__global__ void memory_bulk(const int *in, int *out, int n)
{
    __shared__ __align__(16) int words[128];
    __shared__ barrier full;
    words[threadIdx.x] = 0;
    make_barriers(&full, 1, 1);
    if (threadIdx.x == 0) {
        asm volatile("fence.proxy.async;" ::: "memory");
        /* memcheck: a bulk copy of 512 bytes in barrier.cuh */
        bulk_fetch(words, in, n * sizeof(int), &full);
    }
    barrier_wait(&full, 0);
    out[threadIdx.x] = words[threadIdx.x];
}
PAIR(memory_bulk, 1, 128, zeros<int>(100), zeros<int>(128), right ? 100 : 128)

/* memory-constant — a filter of radius 3 uses weights for radius 2. */
__constant__ int weights[5];
__global__ void memory_constant(const int *in, int *out, int radius)
{
    int sum = 0;
    for (int d = -radius; d <= radius; d++)
        sum += in[threadIdx.x + d + 3] * weights[d + 2]; /* memcheck: Invalid __constant__ read */
    out[threadIdx.x] = sum;
}
PAIR(memory_constant, 1, 64, zeros<int>(70), zeros<int>(64), right ? 2 : 3)

/* memory-copy-async — an asynchronous copy of 16 bytes begins 8 bytes before the end of an
 * array. */
template <bool right> __global__ void memory_copy_async(const int *in, int *out)
{
    __shared__ int4 tile[16];
    int *words = (int *)tile, i = 4 * threadIdx.x;
    if (!right || threadIdx.x < 15)
        __pipeline_memcpy_async(words + i, in + i, 16); /* memcheck: Invalid __global__ read */
    else
        for (int j = 0; j < 4; j++) words[i + j] = j < 2 ? in[i + j] : 0;
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[threadIdx.x] = words[i] + words[i + 3];
}
PAIR(memory_copy_async<right>, 1, 16, zeros<int>(62), zeros<int>(16))

/* memory-copy-back — the host copies more than the device's array holds. */
MAIN(memory_copy_back)
{
    size_t n = 1 << 24, bytes = (right ? 1 : 4) * n;
    char *out = zeros<char>(n), *host = (char *)malloc(4 * n);
    cudaMemcpy(host, out, bytes, cudaMemcpyDeviceToHost); /* memcheck: cudaErrorInvalidValue */
    cudaFree(out);
    free(host);
}

/* memory-double-free — memory is freed once. */
MAIN(memory_double_free)
{
    int *out = zeros<int>(64);
    cudaFree(out);
    if (!right) cudaFree(out); /* memcheck: cudaErrorInvalidValue */
}

/* memory-end — a loop over n elements reads element n. */
template <bool right> __global__ void memory_end(const int *in, int *out, int n)
{
    int sum = 0;
    for (int i = 0; right ? i < n : i <= n; i++)
        sum += in[i]; /* memcheck: Invalid __global__ read of size 4 bytes */
    *out = sum;
}
PAIR(memory_end<right>, 1, 1, zeros<int>(64), zeros<int>(1), 64)

/* memory-fill — the number of bytes of a cudaMemset is multiplied by the size of an element
 * twice. */
MAIN(memory_fill)
{
    size_t bytes = (1 << 22) * sizeof(int);
    int *out;
    cudaMalloc(&out, bytes);
    cudaMemset(out, 0, /* memcheck: cudaErrorInvalidValue */
               right ? bytes : bytes * sizeof(int));
    cudaFree(out);
}

/* memory-free-async — memory is freed by cudaFreeAsync, and by cudaFree again. */
MAIN(memory_free_async)
{
    cudaStream_t stream = new_stream(cudaStreamDefault);
    int *out;
    cudaMallocAsync(&out, 64 * sizeof(int), stream);
    cudaFreeAsync(out, stream);
    cudaStreamSynchronize(stream);
    if (!right) cudaFree(out); /* memcheck: cudaErrorInvalidValue */
    cudaStreamDestroy(stream);
}

/* memory-free-host — memory of malloc is freed by cudaFreeHost. */
MAIN(memory_free_host)
{
    int *host = (int *)malloc(64 * sizeof(int));
    if (!right) cudaFreeHost(host); /* memcheck: cudaErrorInvalidValue */
    free(host);
}

/* memory-free-kind — memory of cudaHostAlloc is freed by cudaFree. */
MAIN(memory_free_kind)
{
    int *host;
    cudaHostAlloc(&host, 64 * sizeof(int), cudaHostAllocDefault);
    if (!right) cudaFree(host); /* memcheck: cudaErrorInvalidValue */
    cudaFreeHost(host);
}

/* memory-free-local — cudaFree() takes a pointer to device memory, not the pointer's address. */
MAIN(memory_free_local)
{
    int *out = zeros<int>(64);
    if (!right) cudaFree(&out); /* memcheck: cudaErrorInvalidValue */
    cudaFree(out);
}

/* memory-freed — a kernel must not use freed memory. */
MAIN(memory_freed)
{
    int *out = zeros<int>(1 << 20);
    if (!right) cudaFree(out);
    fill<<<1, 64>>>(out); /* memcheck: Invalid __global__ write in fill() */
    cudaDeviceSynchronize();
    if (right) cudaFree(out);
}

/* memory-freed-async — a kernel uses memory that its stream has freed before. */
MAIN(memory_freed_async)
{
    cudaStream_t stream = new_stream(cudaStreamDefault);
    int *out;
    cudaMallocAsync(&out, 64 * sizeof(int), stream);
    if (!right) cudaFreeAsync(out, stream);
    fill<<<1, 64, 0, stream>>>(out); /* memcheck: Invalid __global__ write in fill() */
    if (right) cudaFreeAsync(out, stream);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
}

/* memory-half — a load of 8 bytes begins 4 bytes before the end of an array. */
template <bool right> __global__ void memory_half(const int *in, int *out, int n)
{
    int i = 2 * threadIdx.x;
    if (right && i + 1 == n) {
        out[threadIdx.x] = in[i];
        return;
    }
    int2 pair = *(const int2 *)(in + i); /* memcheck: Invalid __global__ read of size 8 */
    out[threadIdx.x] = pair.x + pair.y;
}
PAIR(memory_half<right>, 1, 32, zeros<int>(63), zeros<int>(32), 63)

/* memory-hash — a product overflows an int, and its remainder is a negative index. */
template <bool right> __global__ void memory_hash(int *table, int size)
{
    int key = threadIdx.x * 40503;
    int place = right ? (int)((unsigned)key * 40503u % size) : key * 40503 % size;
    table[place] = 1; /* memcheck: Invalid __global__ write of size 4 bytes */
}
PAIR(memory_hash<right>, 1, 4, zeros<int>(101), 101)

/* memory-heap — memory that a kernel allocates itself has bounds, too. */
template <bool right> __global__ void memory_heap(int *out)
{
    int *own = (int *)malloc(16 * sizeof(int));
    if (!own) return;
    for (int i = 0; i < (right ? 16 : 20); i++) own[i] = i; /* memcheck: Invalid __global__ write */
    out[threadIdx.x] = own[threadIdx.x % 16];
    free(own);
}
PAIR(memory_heap<right>, 1, 32, zeros<int>(32))

/* memory-heap-freed — a thread reads memory of the device's heap after it has freed it. */
template <bool right> __global__ void memory_heap_freed(int *out)
{
    int *own = (int *)malloc(16 * sizeof(int));
    if (!own) return;
    own[0] = threadIdx.x;
    if (!right) free(own);
    out[threadIdx.x] = own[0]; /* memcheck: Invalid __global__ read of size 4 bytes */
    if (right) free(own);
}
PAIR(memory_heap_freed<right>, 1, 32, zeros<int>(32))

/* memory-heap-full — a kernel does not check whether malloc has returned a null pointer. */
template <bool right> __global__ void memory_heap_full(int *out, size_t bytes)
{
    int *own = (int *)malloc(bytes);
    if (right && !own) return;
    own[0] = 1; /* memcheck: a null pointer */
    out[threadIdx.x] = own[0];
    free(own);
}
PAIR(memory_heap_full<right>, 1, 32, zeros<int>(32), (size_t)1 << 30)

/* memory-heap-leak — a kernel does not free what it has allocated. */
template <bool right> __global__ void memory_heap_leak(int *out)
{
    int *own = (int *)malloc(16 * sizeof(int)); /* memcheck: Leaked 64 bytes (no line) */
    if (!own) return;
    own[0] = threadIdx.x;
    out[threadIdx.x] = own[0];
    if (right) free(own);
}
MAIN(memory_heap_leak)
{
    int *out = zeros<int>(32);
    launch{right ? memory_heap_leak<true> : memory_heap_leak<false>, 1, 32, out};
    cudaDeviceSynchronize();
    cudaFree(out);
    cudaDeviceReset();
}

/* memory-heap-twice — every thread of a block frees memory that one thread has allocated. */
template <bool right> __global__ void memory_heap_twice(int *out)
{
    __shared__ int *words;
    if (threadIdx.x == 0) words = (int *)malloc(32 * sizeof(int));
    __syncthreads();
    if (!words) return;
    words[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = words[threadIdx.x];
    __syncthreads();
    if (!right || threadIdx.x == 0) free(words); /* memcheck: free */
}
PAIR(memory_heap_twice<right>, 1, 32, zeros<int>(32))

/* memory-host — a kernel writes memory that malloc has given to the host. */
MAIN(memory_host)
{
    int *host = (int *)malloc(64 * sizeof(int)), *out = zeros<int>(64);
    fill<<<1, 64>>>(right ? out : host); /* memcheck: Invalid __global__ write in fill() */
    cudaDeviceSynchronize();
    cudaFree(out);
    free(host);
}

/* memory-inner-free — cudaFree takes the address that cudaMalloc returned. */
MAIN(memory_inner_free)
{
    int *out = zeros<int>(64);
    if (!right) cudaFree(out + 1); /* memcheck: cudaErrorInvalidValue */
    cudaFree(out);
}

/* memory-ldmatrix — a tile has 8 rows of 8 elements, one matrix, and ldmatrix loads four. For one
 * matrix only the addresses of lanes 0 to 7 count. */
template <bool right> __global__ void memory_ldmatrix(int *out)
{
    __shared__ __align__(16) __half tile[8 * ROW];
    unsigned a[4] = {0};
    const __half *row = &tile[threadIdx.x * ROW];
    ((unsigned *)tile)[threadIdx.x] = threadIdx.x;
    __syncwarp();
    if (right)
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                     : "=r"(a[0])
                     : "r"((unsigned)__cvta_generic_to_shared(row))
                     : "memory");
    else
        LOAD_MATRICES(a, row); /* memcheck: Invalid __shared__ read of size 16 bytes */
    put(out, a);
}
PAIR(memory_ldmatrix<right>, 1, 32, zeros<int>(128))

/* memory-ldmatrix-misaligned — two elements of padding after each row avoid bank conflicts of other
 * loads. For ldmatrix each row must begin at a multiple of 16 bytes. */
template <bool right> __global__ void memory_ldmatrix_misaligned(int *out, const __half *in)
{
    const int pitch = SIDE + (right ? ROW : 2);
    __shared__ __align__(16) __half tile[SIDE * pitch];
    unsigned a[4];
    for (int i = threadIdx.x; i < TILE; i += 32) tile[i / SIDE * pitch + i % SIDE] = in[i];
    __syncwarp();
    const __half *row = &tile[own_row() / SIDE * pitch + own_row() % SIDE];
    LOAD_MATRICES(a, row); /* memcheck: is misaligned */
    put(out, a);
}
PAIR(memory_ldmatrix_misaligned<right>, 1, 32, zeros<int>(128), zeros<__half>(TILE))

/* memory-leak — memory that is allocated must be freed. */
MAIN(memory_leak)
{
    int *out = zeros<int>(64); /* memcheck: Leaked */
    if (right) cudaFree(out);
    cudaDeviceReset();
}

/* memory-leak-async — memory of cudaMallocAsync is not freed. */
MAIN(memory_leak_async)
{
    int *out;
    cudaMallocAsync(&out, 64 * sizeof(int), 0); /* memcheck: Leaked */
    cudaMemsetAsync(out, 0, 64 * sizeof(int), 0);
    if (right) cudaFreeAsync(out, 0);
    cudaDeviceSynchronize();
    cudaDeviceReset();
}

/* memory-leak-host — managed and pinned memory that is allocated must be freed. */
MAIN(memory_leak_host)
{
    int *managed, *host;
    cudaMallocManaged(&managed, 64 * sizeof(int)); /* memcheck: Leaked 256 bytes */
    cudaMallocHost(&host, 32 * sizeof(int));       /* memcheck: Leaked 128 bytes */
    if (right) {
        cudaFree(managed);
        cudaFreeHost(host);
    }
    cudaDeviceReset();
}

/* memory-leak-loop — each round of a loop allocates a buffer, and only the last one is freed. */
__global__ void memory_leak_loop(int *out, int round) { out[threadIdx.x] = round; }
MAIN(memory_leak_loop)
{
    int *out = nullptr;
    for (int round = 0; round < 3; round++) {
        if (right) cudaFree(out);
        cudaMalloc(&out, 64 * sizeof(int)); /* memcheck: Leaked 256 bytes */
        memory_leak_loop<<<1, 64>>>(out, round);
    }
    cudaDeviceSynchronize();
    cudaFree(out);
    cudaDeviceReset();
}

/* memory-leak-reset — what a program allocates must be freed before cudaDeviceReset(), too. */
MAIN(memory_leak_reset)
{
    int *before = zeros<int>(32); /* memcheck: Leaked 128 bytes (no line) */
    if (right) cudaFree(before);
    cudaDeviceReset();
    int *after = zeros<int>(32);
    if (right) cudaFree(after);
    cudaDeviceSynchronize();
}

/* memory-list — a thread reads a member of the node behind the last one of a list. */
struct node {
    long padding;
    int value;
    struct node *next;
};
template <bool right> __global__ void memory_list(struct node *nodes, int *out, int n)
{
    for (int i = 0; i < n; i++) nodes[i] = {0, i, i + 1 < n ? &nodes[i + 1] : nullptr};
    int sum = 0;
    struct node *node = nodes;
    for (int i = 0; right ? node != nullptr : i <= n; i++, node = node->next)
        sum += node->value; /* memcheck: 0x8 is out of bounds: 8 bytes from a null pointer */
    *out = sum;
}
PAIR(memory_list<right>, 1, 1, zeros<struct node>(16), zeros<int>(1), 16)

/* memory-local — an index beyond a thread's own array. */
__global__ void memory_local(const int *index, int *out)
{
    int array[16];
    for (int i = 0; i < 16; i++) array[i] = i * i;
    array[index[0]] = 1;
    out[0] = array[index[1]]; /* memcheck: Invalid __local__ read */
}
HOST(memory_local)
{
    int host[2] = {3, right ? 15 : 1 << 20}, *index = unwritten<int>(2), *out = zeros<int>(1);
    cudaMemcpy(index, host, sizeof host, cudaMemcpyHostToDevice);
    memory_local<<<1, 1>>>(index, out);
}

/* memory-local-end — a thread pushes 17 numbers to its stack of 16. */
__global__ void memory_local_end(const int *in, int *out, int n)
{
    int stack[16], top = 0;
    for (int i = 0; i < n; i++)
        stack[top++] = in[i]; /* memcheck: Invalid __local__ write of size 4 bytes */
    for (int sum = 0; top > 0; *out = sum) sum = 3 * sum + stack[--top + in[top]];
}
PAIR(memory_local_end, 1, 1, zeros<int>(17), zeros<int>(1), right ? 16 : 17)

/* memory-managed — a kernel writes behind the end of managed memory. */
HOST(memory_managed)
{
    int *out;
    cudaMallocManaged(&out, 64 * sizeof(int));
    /* memcheck: Invalid __global__ write of size 4 bytes in fill_strided() */
    fill_strided<<<1, 32>>>(keep(out, cudaFree), right ? 64 : 65);
}

/* memory-managed-twice — managed memory is freed once. */
MAIN(memory_managed_twice)
{
    int *out;
    cudaMallocManaged(&out, 64 * sizeof(int));
    cudaFree(out);
    if (!right) cudaFree(out); /* memcheck: cudaErrorInvalidValue */
}

/* memory-mapped — a kernel writes behind the end of mapped memory of the host. */
MAIN(memory_mapped)
{
    int *host, *out;
    cudaHostAlloc(&host, 64 * sizeof(int), cudaHostAllocMapped);
    cudaHostGetDevicePointer(&out, host, 0);
    /* memcheck: Invalid __global__ write of size 4 bytes in fill_strided() */
    fill_strided<<<1, 32>>>(out, right ? 64 : 65);
    cudaDeviceSynchronize();
    cudaFreeHost(host);
}

/* memory-member — a structure is copied to the device, but its member points to memory of the
 * host. */
__global__ void memory_member(const struct vector *v)
{
    if (threadIdx.x < v->n) v->data[threadIdx.x] = 1; /* memcheck: Invalid __global__ write */
}
MAIN(memory_member)
{
    int *host = (int *)malloc(64 * sizeof(int)), *data = zeros<int>(64);
    struct vector v = {right ? data : host, 64}, *copy = zeros<struct vector>(1);
    cudaMemcpy(copy, &v, sizeof v, cudaMemcpyHostToDevice);
    memory_member<<<1, 64>>>(copy);
    cudaDeviceSynchronize();
    cudaFree(data);
    cudaFree(copy);
    free(host);
}

/* memory-misaligned — a float4 begins at a multiple of 16 bytes. */
/* memcheck: Invalid __global__ read */
__global__ void memory_misaligned(const float *in, float4 *out) { *out = *(const float4 *)in; }
HOST(memory_misaligned)
{
    float *in = zeros<float>(8);
    float4 *out = zeros<float4>(1);
    memory_misaligned<<<1, 1>>>(in + (right ? 4 : 1), out);
}

/* memory-misaligned-vector — a thread stores 16 bytes at an address that is a multiple of 8. */
__global__ void memory_misaligned_vector(char *out)
{
    *(int4 *)out = make_int4(1, 2, 3, 4); /* memcheck: Invalid __global__ write of size 16 bytes */
}
HOST(memory_misaligned_vector)
{
    char *out = zeros<char>(64);
    memory_misaligned_vector<<<1, 1>>>(out + (right ? 16 : 8));
}

/* memory-null — cudaMalloc failed, and its error is not looked at. */
MAIN(memory_null)
{
    int *out = nullptr;
    cudaMalloc(&out, right ? 1024 : (size_t)1 << 60);
    fill<<<1, 64>>>(out); /* memcheck: Invalid __global__ write in fill() */
    cudaDeviceSynchronize();
    cudaFree(out);
}

/* memory-parameter — a kernel reads an array among its own parameters by an index that is beyond
 * all parameters. */
struct many {
    int values[16];
};
__global__ void memory_parameter(const __grid_constant__ many all, int *out, int index)
{
    const int *from = all.values;
    *out = from[index]; /* memcheck: Invalid parameter read of size 4 bytes */
}
PAIR(memory_parameter, 1, 1, many(), zeros<int>(1), right ? 15 : 1000)

/* memory-parse — a kernel loads 4 bytes at once from an address that is not a multiple of 4. */
template <bool right> __global__ void memory_parse(const unsigned char *bytes, int *out)
{
    const unsigned char *at = bytes + 5 * threadIdx.x + 1; // a byte of kind, and 4 of a number
    if (right)
        out[threadIdx.x] = at[0] | at[1] << 8 | at[2] << 16 | at[3] << 24;
    else
        out[threadIdx.x] = *(const int *)at; /* memcheck: is misaligned */
}
PAIR(memory_parse<right>, 1, 32, zeros<unsigned char>(5 * 32), zeros<int>(32))

/* memory-pitch — a kernel uses the pitch of rows, which is in bytes, as a number of elements. */
template <bool right> __global__ void memory_pitch(int *image, size_t pitch)
{
    int *row = right ? (int *)((char *)image + threadIdx.y * pitch) : image + threadIdx.y * pitch;
    row[threadIdx.x] = 1; /* memcheck: Invalid __global__ write of size 4 bytes */
}
HOST(memory_pitch)
{
    enum { WIDTH = 32, HEIGHT = 8 };
    int *image;
    size_t pitch;
    cudaMallocPitch(&image, &pitch, WIDTH * sizeof(int), HEIGHT);
    memory_pitch<right><<<1, dim3(WIDTH, HEIGHT)>>>(keep(image, cudaFree), pitch);
}

/* memory-pool — a kernel writes behind the end of memory from cudaMallocAsync. */
MAIN(memory_pool)
{
    int *out;
    cudaMallocAsync(&out, 64 * sizeof(int), 0);
    /* memcheck: Invalid __global__ write of size 4 bytes in fill_strided() */
    fill_strided<<<1, 32>>>(out, right ? 64 : 65);
    cudaFreeAsync(out, 0);
    cudaDeviceSynchronize();
}

/* memory-read — a stencil whose first thread has no left neighbour. */
template <bool right> __global__ void memory_read(const int *in, int *out)
{
    /* memcheck: Invalid __global__ read */
    int i = threadIdx.x, before = right && i == 0 ? 0 : in[i - 1];
    out[i] = in[i] - before;
}
PAIR(memory_read<right>, 1, 64, zeros<int>(64), zeros<int>(64))

/* memory-reverse — in reverse order element i goes to n - 1 - i, not to n - i. */
template <bool right> __global__ void memory_reverse(const short *in, short *out, int n)
{
    int i = threadIdx.x;
    out[right ? n - 1 - i : n - i] = in[i]; /* memcheck: Invalid __global__ write of size 2 */
}
PAIR(memory_reverse<right>, 1, 64, zeros<short>(64), zeros<short>(64), 64)

/* memory-rows — a kernel exchanges the row and the column of a matrix that is not square. */
template <bool right> __global__ void memory_rows(int *matrix, int width)
{
    int x = threadIdx.x, y = threadIdx.y;
    int i = right ? y * width + x : x * width + y;
    matrix[i] = i; /* memcheck: Invalid __global__ write of size 4 bytes */
}
HOST(memory_rows)
{
    enum { WIDTH = 32, HEIGHT = 8 };
    int *matrix = zeros<int>(WIDTH * HEIGHT);
    memory_rows<right><<<1, dim3(WIDTH, HEIGHT)>>>(matrix, WIDTH);
}

/* memory-shared — the launch asks for too little dynamic shared memory. */
__global__ void memory_shared(int *out)
{
    extern __shared__ int words[];
    words[threadIdx.x] = threadIdx.x; /* memcheck: Invalid __shared__ write */
    __syncthreads();
    out[threadIdx.x] = words[63 - threadIdx.x];
}
HOST(memory_shared)
{
    int *out = zeros<int>(64);
    memory_shared<<<1, 64, right ? 64 * sizeof(int) : 64>>>(out);
}

/* memory-shared-atomic — a histogram in shared memory has one bin too few. */
template <bool right> __global__ void memory_shared_atomic(const int *in, int *out)
{
    __shared__ int bins[right ? 17 : 16];
    if (threadIdx.x < 16 + right) bins[threadIdx.x] = 0;
    __syncthreads();
    int bin = in[threadIdx.x] + threadIdx.x % 17;
    atomicAdd(&bins[bin], 1); /* memcheck: Invalid __shared__ atomic of size 4 bytes */
    __syncthreads();
    if (threadIdx.x < 16) out[threadIdx.x] = bins[threadIdx.x];
}
PAIR(memory_shared_atomic<right>, 1, 64, zeros<int>(64), zeros<int>(16))

/* memory-shared-begin — the first thread reads its left neighbour's element of a __shared__
 * array. */
template <bool right> __global__ void memory_shared_begin(const int *in, int *out)
{
    __shared__ int tile[64];
    int i = threadIdx.x;
    tile[i] = in[i];
    __syncthreads();
    int before = right && i == 0 ? 0 : tile[i - 1]; /* memcheck: beginning: index -1 */
    out[i] = tile[i] - before;
}
PAIR(memory_shared_begin<right>, 1, 64, zeros<int>(64), zeros<int>(64))

/* memory-shared-end — the last thread reads its right neighbour's element of a __shared__ array. */
template <bool right> __global__ void memory_shared_end(const int *in, int *out)
{
    __shared__ int tile[64];
    int i = threadIdx.x;
    tile[i] = in[i];
    __syncthreads();
    int after = right && i == 63 ? 0 : tile[i + 1]; /* memcheck: Invalid __shared__ read */
    out[i] = after - tile[i];
}
PAIR(memory_shared_end<right>, 1, 64, zeros<int>(64), zeros<int>(64))

/* memory-shared-next — an index beyond a __shared__ array leads into the next one. */
template <bool right> __global__ void memory_shared_next(const int *in, int *out)
{
    __shared__ struct {
        int tile[64], other[64];
    } s;
    int i = threadIdx.x;
    s.tile[i] = in[i];
    s.other[i] = 0;
    __syncthreads();
    int after = right && i == 63 ? 0 : s.tile[i + 1]; /* nothing: it stays in the block's memory */
    out[i] = after - s.tile[i] + s.other[i];
}
PAIR(memory_shared_next<right>, 1, 64, zeros<int>(64), zeros<int>(64))

/* memory-shared-parts — a part of dynamic shared memory for doubles begins at a multiple of 4 bytes
 * only. */
template <bool right> __global__ void memory_shared_parts(double *out)
{
    extern __shared__ __align__(8) char parts[];
    int *counts = (int *)parts;
    double *sums = (double *)(parts + (right ? 4 : 3) * sizeof(int));
    if (threadIdx.x < 3) counts[threadIdx.x] = threadIdx.x;
    sums[threadIdx.x] = threadIdx.x; /* memcheck: Invalid __shared__ write of size 8 bytes */
    __syncthreads();
    out[threadIdx.x] = sums[31 - threadIdx.x] + counts[threadIdx.x % 3];
}
HOST(memory_shared_parts)
{
    double *out = zeros<double>(32);
    int bytes = 4 * sizeof(int) + 32 * sizeof(double);
    (right ? memory_shared_parts<true> : memory_shared_parts<false>)<<<1, 32, bytes>>>(out);
}

/* memory-shared-pointer — a kernel uses a pointer to the shared memory of an earlier kernel. */
__device__ int *saved;
__global__ void produce(int *out)
{
    __shared__ int words[64];
    words[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 0) saved = words;
}
template <bool right> __global__ void consume(int *out)
{
    int *from = right ? out : saved;
    out[threadIdx.x] = from[threadIdx.x] + 1; /* memcheck: it is an address of shared memory */
}
HOST(memory_shared_pointer)
{
    int *out = zeros<int>(64);
    produce<<<1, 64>>>(out);
    consume<right><<<1, 64>>>(out);
}

/* memory-stack — a recursion needs more than the stack of a thread. */
__device__ __noinline__ int depth(volatile int *n, int level)
{
    volatile int frame[16];
    frame[level % 16] = level;
    if (level >= *n) return frame[level % 16];
    return depth(n, level + 1) + frame[level % 16]; /* memcheck: stack overflow */
}
__global__ void memory_stack(int *n, int *out) { *out = depth(n, 0); }
HOST(memory_stack)
{
    int levels = right ? 2 : 100000, *n = zeros<int>(1), *out = zeros<int>(1);
    cudaMemcpy(n, &levels, sizeof levels, cudaMemcpyHostToDevice);
    memory_stack<<<1, 1>>>(n, out);
}

/* memory-stale — a kernel gets a pointer to a buffer that has been replaced by a larger one. */
__global__ void memory_stale(struct vector v)
{
    for (int i = threadIdx.x; i < v.n; i += blockDim.x)
        v.data[i] = i; /* memcheck: Invalid __global__ write of size 4 bytes */
}
static void grow(struct vector *v, int n)
{
    int *larger = zeros<int>(n);
    cudaMemcpy(larger, v->data, v->n * sizeof(int), cudaMemcpyDeviceToDevice);
    cudaFree(v->data);
    v->data = larger;
    v->n = n;
}
MAIN(memory_stale)
{
    struct vector v = {zeros<int>(32), 32}, before = v;
    grow(&v, 64);
    memory_stale<<<1, 32>>>(right ? v : before);
    cudaDeviceSynchronize();
    cudaFree(v.data);
}

/* memory-symbol — a copy to a __constant__ array is larger than the array. */
__constant__ int factors[16];
__global__ void memory_symbol(int *out) { out[threadIdx.x] = factors[threadIdx.x]; }
HOST(memory_symbol)
{
    int host[32] = {0}, *out = zeros<int>(16);
    cudaMemcpyToSymbol(factors, host, /* memcheck: cudaErrorInvalidValue */
                       right ? sizeof(factors) : sizeof host);
    memory_symbol<<<1, 16>>>(out);
}

/* memory-symbol-address — the host passes a __device__ array's name, not its address. */
MAIN(memory_symbol_address)
{
    int *out = table;
    if (right) cudaGetSymbolAddress((void **)&out, table);
    fill<<<1, 64>>>(out); /* memcheck: Invalid __global__ write in fill() */
    cudaDeviceSynchronize();
}

/* memory-text — a text of 16 characters and its '\0' are stored in 16 bytes. */
__global__ void memory_text(char *text, int n)
{
    text[threadIdx.x] = 'a' + threadIdx.x;
    if (threadIdx.x == 0) text[n] = '\0'; /* memcheck: Invalid __global__ write of size 1 */
}
HOST(memory_text)
{
    enum { N = 16 };
    char *text = zeros<char>(right ? N + 1 : N);
    memory_text<<<1, N>>>(text, N);
}

/* memory-vector-tail — a copy by float4 has a number of elements that is not a multiple of 4. */
template <bool right> __global__ void memory_vector_tail(const float *in, float *out, int n)
{
    int i = 4 * threadIdx.x;
    if (!right || i + 4 <= n)
        *(float4 *)(out + i) = *(const float4 *)(in + i); /* memcheck: Invalid __global__ read */
    else
        for (; i < n; i++) out[i] = in[i];
}
PAIR(memory_vector_tail<right>, 1, 16, zeros<float>(62), zeros<float>(62), 62)

/* memory-wmma-misaligned — a tile of a wider matrix begins at column 8, a multiple of 16 bytes.
 * wmma asks for 32. */
template <bool right> __global__ void memory_wmma_misaligned(float *out, const __half *in)
{
    fragment_a a;
    fragment_c sum;
    wmma::load_matrix_sync(a, in + (right ? 16 : 8), 2 * SIDE); /* memcheck: Misaligned matrix */
    for (int i = 0; i < 8; i++) sum.x[i] = __half2float(a.x[i]);
    wmma::store_matrix_sync(out, sum, SIDE, wmma::mem_row_major);
}
PAIR(memory_wmma_misaligned<right>, 1, 32, zeros<float>(TILE), zeros<__half>(2 * TILE))

/* memory-wrap — an unsigned index below 0 is 4 294 967 295. */
template <bool right> __global__ void memory_wrap(const int *in, int *out)
{
    unsigned i = threadIdx.x;
    int before = right && i == 0 ? 0 : in[i - 1]; /* memcheck: Invalid __global__ read */
    out[i] = in[i] - before;
}
PAIR(memory_wrap<right>, 1, 64, zeros<int>(64), zeros<int>(64))

/* memory-write — more threads than elements: the last ones must do nothing. */
template <bool right> __global__ void memory_write(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (!right || i < n) out[i] = i; /* memcheck: Invalid __global__ write */
}
PAIR(memory_write<right>, 2, 128, zeros<int>(250), 250)
