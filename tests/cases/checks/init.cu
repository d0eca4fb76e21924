/* init.cu — pairs: reads of memory that nothing has been written to. pair.h says how a pair is
 * written. */
#include "matrix.cuh"
#include <cuda_pipeline.h>

/* What several pairs launch. */
__global__ void twice(const int *in, int *out) { out[threadIdx.x] = 2 * in[threadIdx.x]; }
__global__ void increment(int *counters) { counters[threadIdx.x]++; }

/* init-block-sums — 32 lanes load the sums of 20 blocks. */
__global__ void add_blocks(const int *in, int *sums)
{
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}
template <bool right> __global__ void scan_sums(int *sums, int n)
{
    int value = 0;
    if (!right || threadIdx.x < n)
        value = sums[threadIdx.x]; /* initcheck: Uninitialized __global__ memory read */
    for (int d = 1; d < 32; d *= 2) {
        int before = __shfl_up_sync(0xffffffff, value, d);
        if (threadIdx.x >= d) value += before;
    }
    if (threadIdx.x < n) sums[threadIdx.x] = value;
}
HOST(init_block_sums)
{
    enum { BLOCKS = 20, THREADS = 64 };
    int *in = zeros<int>(BLOCKS * THREADS), *sums = unwritten<int>(32);
    add_blocks<<<BLOCKS, THREADS>>>(in, sums);
    scan_sums<right><<<1, 32>>>(sums, BLOCKS);
}

/* init-branch — a kernel writes its result in one of two cases only. */
template <bool right> __global__ void pick(const int *in, int *flags)
{
    if (in[threadIdx.x] > 0) flags[threadIdx.x] = 1;
    if (right && in[threadIdx.x] <= 0) flags[threadIdx.x] = 0;
}
__global__ void count(const int *flags, int *sum)
{
    atomicAdd(sum, flags[threadIdx.x]); /* initcheck: Uninitialized __global__ memory read */
}
HOST(init_branch)
{
    int *in = zeros<int>(64), *sum = zeros<int>(1), *flags = unwritten<int>(64);
    pick<right><<<1, 64>>>(in, flags);
    count<<<1, 64>>>(flags, sum);
}

/* init-buffers — a scan from one buffer to the other does not copy the elements that need no
 * addition. */
template <bool right> __global__ void init_buffers(const int *in, int *out, int d)
{
    int i = threadIdx.x;
    if (i >= d)
        out[i] = in[i] + in[i - d]; /* initcheck: Uninitialized __global__ memory read */
    else if (right)
        out[i] = in[i];
}
HOST(init_buffers)
{
    int *a = zeros<int>(64), *b = unwritten<int>(64);
    for (int d = 1; d < 64; d *= 2) {
        init_buffers<right><<<1, 64>>>(a, b, d);
        int *other = a;
        a = b;
        b = other;
    }
}

/* init-bytes — one byte of each word is written, and all four are read. */
__global__ void pack(unsigned char *bytes)
{
    if (threadIdx.x % 4 == 0) bytes[threadIdx.x] = threadIdx.x;
}
__global__ void read_words(const int *words, int *out)
{
    out[threadIdx.x] = words[threadIdx.x]; /* initcheck: Uninitialized __global__ memory read */
}
HOST(init_bytes)
{
    unsigned char *bytes = unwritten<unsigned char>(64);
    int *out = zeros<int>(16);
    if (right) cudaMemset(bytes, 0, 64);
    pack<<<1, 64>>>(bytes);
    read_words<<<1, 16>>>((const int *)bytes, out);
}

/* init-carry — each block loads a carry, but that of the first block is never set. */
template <bool right> __global__ void carries(const int *sums, int *carry, int blocks)
{
    int sum = 0;
    if (right) carry[0] = 0;
    for (int b = 0; b + 1 < blocks; b++) carry[b + 1] = sum += sums[b];
}
__global__ void add(int *out, const int *carry)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] += carry[blockIdx.x]; /* initcheck: Uninitialized __global__ memory read of size 4 */
}
HOST(init_carry)
{
    int *out = zeros<int>(4 * 64), *sums = zeros<int>(4), *carry = unwritten<int>(4);
    carries<right><<<1, 1>>>(sums, carry, 4);
    add<<<4, 64>>>(out, carry);
}

/* init-copy — a copy that counts elements, not bytes, leaves most of them unwritten. */
HOST(init_copy)
{
    int host[64] = {0}, *in = unwritten<int>(64), *out = zeros<int>(64);
    cudaMemcpy(in, host, right ? sizeof host : 64, cudaMemcpyHostToDevice);
    twice<<<1, 64>>>(in, out); /* initcheck: Uninitialized __global__ memory read in twice() */
}

/* init-copy-tail — an asynchronous copy fills a part of the tile, and the kernel reads all of
 * it. */
template <bool right> __global__ void init_copy_tail(const int *in, int *out, int n)
{
    __shared__ int tile[64];
    int i = threadIdx.x;
    if (i < n)
        __pipeline_memcpy_async(&tile[i], &in[i], sizeof(int));
    else if (right)
        tile[i] = 0;
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[i] = tile[63 - i]; /* initcheck: Uninitialized __shared__ memory read of size 4 bytes */
}
PAIR(init_copy_tail<right>, 1, 64, zeros<int>(50), zeros<int>(64), 50)

/* init-device-copy — a kernel reads the unwritten half of a buffer. Copying that half, as the right
 * version does, is not a mistake. */
__global__ void init_device_copy(const int *in, int *out, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += in[i]; /* initcheck: Uninitialized __global__ memory read of size 4 bytes */
    *out = sum;
}
HOST(init_device_copy)
{
    enum { SIZE = 64, USED = 32 };
    int *a = unwritten<int>(SIZE), *b = unwritten<int>(SIZE), *out = zeros<int>(1);
    cudaMemset(a, 0, USED * sizeof(int));
    cudaMemcpy(b, a, SIZE * sizeof(int), cudaMemcpyDeviceToDevice);
    init_device_copy<<<1, 1>>>(b, out, right ? USED : SIZE);
}

/* init-global — fresh memory holds anything: it is written before it is read. */
HOST(init_global)
{
    int *in = unwritten<int>(64), *out = zeros<int>(64);
    if (right) cudaMemset(in, 0, 64 * sizeof(int));
    twice<<<1, 64>>>(in, out); /* initcheck: Uninitialized __global__ memory read in twice() */
}

/* init-heap — a kernel counts up memory from malloc, which is not cleared. */
template <bool right> __global__ void init_heap(int *out)
{
    int *own = (int *)malloc(16 * sizeof(int));
    if (!own) return;
    for (int i = 0; right && i < 16; i++) own[i] = 0;
    own[threadIdx.x % 16] += 1; /* initcheck: Uninitialized __global__ memory read of size 4 */
    out[threadIdx.x] = own[threadIdx.x % 16];
    free(own);
}
PAIR(init_heap<right>, 1, 32, zeros<int>(32))

/* init-last — a loop leaves the last element out. */
template <bool right> __global__ void init_last(int *out, int n)
{
    for (int i = threadIdx.x; right ? i < n : i < n - 1; i += blockDim.x) out[i] = i;
}
HOST(init_last)
{
    int *in = unwritten<int>(64), *out = zeros<int>(64);
    init_last<right><<<1, 32>>>(in, 64);
    twice<<<1, 64>>>(in, out); /* initcheck: Uninitialized __global__ memory read in twice() */
}

/* init-ldmatrix — a matrix has 12 rows, and a tile 16: nothing is stored to the last four. */
enum { ROWS = 12 };
template <bool right> __global__ void init_ldmatrix(int *out, const __half *in)
{
    __shared__ __align__(16) __half tile[TILE];
    unsigned a[4];
    bool is_inside = own_row() / SIDE < ROWS;
    if (is_inside)
        *(uint4 *)&tile[own_row()] = *(const uint4 *)&in[own_row()];
    else if (right)
        *(uint4 *)&tile[own_row()] = make_uint4(0, 0, 0, 0);
    __syncwarp();
    LOAD_MATRICES(a, &tile[own_row()]); /* initcheck: Uninitialized __shared__ */
    put(out, a);
}
PAIR(init_ldmatrix<right>, 1, 32, zeros<int>(128), zeros<__half>(ROWS *SIDE))

/* init-local — a thread counts up the elements of a local array, which was not cleared. */
template <bool right> __global__ void init_local(const int *in, int *out, int n)
{
    int bins[8];
    for (int b = 0; right && b < 8; b++) bins[b] = 0;
    for (int i = 0; i < n; i++) bins[in[i]]++; /* nothing: a thread's own memory is not watched */
    *out = bins[in[n - 1]];
}
PAIR(init_local<right>, 1, 1, zeros<int>(64), zeros<int>(1), 64)

/* init-managed — a kernel reads managed memory that neither host nor device has written. */
HOST(init_managed)
{
    int *in, *out = zeros<int>(64);
    cudaMallocManaged(&in, 64 * sizeof(int));
    keep(in, cudaFree);
    if (right) cudaMemset(in, 0, 64 * sizeof(int));
    twice<<<1, 64>>>(in, out); /* nothing: the host may have written it */
}

/* init-member — a kernel reads a member that was never set. The right version does not set the
 * padding, which is not a mistake. */
struct item {
    char kind; // 3 bytes of padding follow
    int weight;
    short rank; // and 2 here
};
template <bool right> __global__ void make(struct item *items)
{
    struct item *item = &items[threadIdx.x];
    item->kind = 'a';
    item->rank = threadIdx.x;
    if (right) item->weight = 1;
}
__global__ void weigh(const struct item *items, int *out)
{
    struct item item = items[threadIdx.x]; /* initcheck: Uninitialized __global__ memory read */
    out[threadIdx.x] = item.kind + item.weight + item.rank;
}
HOST(init_member)
{
    struct item *items = unwritten<struct item>(32);
    int *out = zeros<int>(32);
    make<right><<<1, 32>>>(items);
    weigh<<<1, 32>>>(items, out);
}

/* init-memset — cudaMemset gets the number of elements in place of the number of bytes. */
HOST(init_memset)
{
    enum { N = 64 };
    int *counters = unwritten<int>(N);
    cudaMemset(counters, 0, right ? N * sizeof(int) : N);
    /* initcheck: Uninitialized __global__ memory read of size 4 in increment() */
    increment<<<1, N>>>(counters);
}

/* init-padding — the host gets a member that was never set. The right version does not set the
 * padding, which is not a mistake. */
struct pair_item {
    char kind; // 3 bytes of padding follow
    int weight;
};
template <bool right> __global__ void init_padding(struct pair_item *items)
{
    items[threadIdx.x].kind = 'a';
    if (right || threadIdx.x % 2) items[threadIdx.x].weight = 1;
}
HOST(init_padding)
{
    struct pair_item *items = unwritten<struct pair_item>(32), host[32];
    init_padding<right><<<1, 32>>>(items);
    cudaMemcpy(host, items, /* initcheck: Host API uninitialized memory access */
               sizeof host, cudaMemcpyDeviceToHost);
}

/* init-pitch — the host copies the bytes between the rows of an image, too. */
__global__ void init_pitch(char *image, size_t pitch)
{
    ((int *)(image + threadIdx.y * pitch))[threadIdx.x] = 1;
}
MAIN(init_pitch)
{
    enum { WIDTH = 32, HEIGHT = 4 };
    static char host[HEIGHT << 12];
    size_t pitch, width = WIDTH * sizeof(int);
    char *image;
    cudaMallocPitch(&image, &pitch, width, HEIGHT);
    init_pitch<<<1, dim3(WIDTH, HEIGHT)>>>(image, pitch);
    if (right)
        cudaMemcpy2D(host, width, image, pitch, width, HEIGHT, cudaMemcpyDeviceToHost);
    else
        cudaMemcpy(host, image, /* initcheck: Host API uninitialized memory access */
                   HEIGHT * pitch, cudaMemcpyDeviceToHost);
    cudaFree(image);
}

/* init-pool — memory from cudaMallocAsync may have been used before, and is not cleared. */
MAIN(init_pool)
{
    for (int round = 0; round < 2; round++) {
        int *counters;
        cudaMallocAsync(&counters, 64 * sizeof(int), 0);
        if (right || round == 0) cudaMemsetAsync(counters, 0, 64 * sizeof(int), 0);
        /* initcheck: Uninitialized __global__ memory read of size 4 in increment() */
        increment<<<1, 64>>>(counters);
        cudaFreeAsync(counters, 0);
    }
    cudaDeviceSynchronize();
}

/* init-shared — a tile with a border, of which one side is never filled. */
template <bool right> __global__ void init_shared(const int *in, int *out)
{
    __shared__ int tile[66];
    tile[threadIdx.x + 1] = in[threadIdx.x];
    if (threadIdx.x == 0) tile[0] = 0;
    if (right && threadIdx.x == 63) tile[65] = 0;
    __syncthreads();
    /* initcheck: Uninitialized __shared__ */
    out[threadIdx.x] = tile[threadIdx.x] + tile[threadIdx.x + 1] + tile[threadIdx.x + 2];
}
PAIR(init_shared<right>, 1, 64, zeros<int>(64), zeros<int>(64))

/* init-shared-bins — the bins of a histogram in shared memory are not cleared. */
template <bool right> __global__ void init_shared_bins(const int *in, int *out)
{
    __shared__ int bins[16];
    if (right && threadIdx.x < 16) bins[threadIdx.x] = 0;
    __syncthreads();
    int bin = (in[threadIdx.x] + threadIdx.x) % 16;
    atomicAdd(&bins[bin], 1); /* initcheck: the atomic stores */
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}
PAIR(init_shared_bins<right>, 1, 64, zeros<int>(64), zeros<int>(16))

/* init-shared-counter — a counter in shared memory is not set to 0. The right version sets only the
 * counters that it uses. */
template <bool right> __global__ void init_shared_counter(int *out)
{
    __shared__ int counter[8];
    if (right && threadIdx.x < 2) counter[threadIdx.x] = 0;
    __syncthreads();
    int i = atomicMax(&counter[threadIdx.x % 2], threadIdx.x); /* initcheck: the atomic stores */
    out[threadIdx.x] = i;
}
PAIR(init_shared_counter<right>, 1, 64, zeros<int>(64))

/* init-shared-dynamic — dynamic shared memory holds two arrays, and the second is never written. */
template <bool right> __global__ void init_shared_dynamic(const int *in, int *out)
{
    extern __shared__ int words[];
    int *first = words, *second = words + blockDim.x;
    first[threadIdx.x] = in[threadIdx.x];
    if (right) second[threadIdx.x] = 0;
    __syncthreads();
    int other = blockDim.x - 1 - threadIdx.x;
    out[threadIdx.x] = first[other] + second[other]; /* initcheck: Uninitialized __shared__ */
}
HOST(init_shared_dynamic)
{
    int *in = zeros<int>(64), *out = zeros<int>(64);
    (right ? init_shared_dynamic<true>
           : init_shared_dynamic<false>)<<<1, 64, 2 * 64 * sizeof(int)>>>(in, out);
}

/* init-shared-few — a block clears one bin a thread, but has more bins than threads. */
template <bool right> __global__ void init_shared_few(const int *in, int *out)
{
    __shared__ int bins[128];
    for (int i = threadIdx.x; i < (right ? 128 : 64); i += 64) bins[i] = 0;
    __syncthreads();
    atomicAdd(&bins[2 * in[threadIdx.x]], 1); /* initcheck: the atomic stores */
    __syncthreads();
    out[threadIdx.x] = bins[threadIdx.x];
}
PAIR(init_shared_few<right>, 1, 64, numbers<int>(64), zeros<int>(64))

/* init-shared-table — a hash table in shared memory, of which only a half is empty at first. */
template <bool right> __global__ void init_shared_table(const int *in, int *out)
{
    enum { SLOTS = 128, EMPTY = -1 };
    __shared__ int keys[SLOTS];
    keys[threadIdx.x] = EMPTY;
    if (right) keys[SLOTS / 2 + threadIdx.x] = EMPTY;
    __syncthreads();
    int key = in[threadIdx.x], slot = key * 5 % SLOTS;
    for (int tries = 0; tries < SLOTS; tries++, slot = (slot + 1) % SLOTS)
        if (atomicCAS(&keys[slot], EMPTY, key) == EMPTY) break; /* initcheck: the atomic stores */
    out[threadIdx.x] = slot;
}
PAIR(init_shared_table<right>, 1, 64, numbers<int>(64), zeros<int>(64))

/* init-shared-tail — the last tile is not full, and a block adds up all of it. */
template <bool right> __global__ void init_shared_tail(const int *in, int *sum, int n)
{
    __shared__ int tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        tile[threadIdx.x] = in[i];
    else if (right)
        tile[threadIdx.x] = 0;
    for (int d = 32; d > 0; d /= 2) {
        __syncthreads();
        if (threadIdx.x < d)
            tile[threadIdx.x] += tile[threadIdx.x + d]; /* initcheck: Uninitialized __shared__ */
    }
    if (threadIdx.x == 0) atomicAdd(sum, tile[0]);
}
PAIR(init_shared_tail<right>, 2, 64, zeros<int>(100), zeros<int>(1), 100)

/* init-sum — blocks add to a sum that was not cleared. */
__global__ void init_sum(const int *in, int *sum)
{
    atomicAdd(sum, in[threadIdx.x]); /* initcheck: Uninitialized __global__ memory read */
}
HOST(init_sum)
{
    int *in = zeros<int>(64), *sum = unwritten<int>(1);
    if (right) cudaMemset(sum, 0, sizeof(int));
    init_sum<<<1, 64>>>(in, sum);
}

/* init-tail — a kernel writes whole blocks of 64 elements, and the host copies the rest, too. */
template <bool right> __global__ void init_tail(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (right ? i < n : i < n / 64 * 64) out[i] = i;
}
HOST(init_tail)
{
    enum { N = 1000 };
    static int host[N];
    int *out = unwritten<int>(N);
    init_tail<right><<<(N + 63) / 64, 64>>>(out, N);
    cudaMemcpy(host, out, /* initcheck: Host API uninitialized memory access */
               sizeof host, cudaMemcpyDeviceToHost);
}

/* init-vector — a kernel writes three floats of each float4, and another loads all four. */
template <bool right> __global__ void fill(float *points)
{
    float *point = points + 4 * threadIdx.x;
    for (int d = 0; d < (right ? 4 : 3); d++) point[d] = d;
}
__global__ void lengths(const float4 *points, float *out)
{
    float4 p = points[threadIdx.x]; /* initcheck: Uninitialized __global__ memory read */
    out[threadIdx.x] = p.x * p.x + p.y * p.y + p.z * p.z + p.w * p.w;
}
HOST(init_vector)
{
    float *points = unwritten<float>(4 * 32), *out = zeros<float>(32);
    fill<right><<<1, 32>>>(points);
    lengths<<<1, 32>>>((const float4 *)points, out);
}

/* init-warp-sums — 32 lanes load the sums of the block's four warps. */
template <bool right> __global__ void init_warp_sums(const int *in, int *out)
{
    __shared__ int sums[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    int sum = __reduce_add_sync(0xffffffff, in[threadIdx.x]);
    if (lane == 0) sums[warp] = sum;
    __syncthreads();
    if (warp > 0) return;
    int value = right && lane >= warps ? 0 : sums[lane]; /* initcheck: Uninitialized __shared__ */
    sum = __reduce_add_sync(0xffffffff, value);
    if (lane == 0) *out = sum;
}
PAIR(init_warp_sums<right>, 1, 128, zeros<int>(128), zeros<int>(1))

/* init-workspace — the workspace is cleared for a small call, and then used for a larger one. */
__global__ void init_workspace(const int *in, int *bins)
{
    int bin = in[threadIdx.x] + threadIdx.x % blockDim.x;
    atomicAdd(&bins[bin], 1); /* initcheck: Uninitialized __global__ memory read of size 4 */
}
HOST(init_workspace)
{
    int *in = zeros<int>(64), *bins = unwritten<int>(64);
    for (int n = 32; n <= 64; n *= 2) {
        if (right || n == 32) cudaMemset(bins, 0, n * sizeof(int));
        init_workspace<<<1, n>>>(in, bins);
    }
}
