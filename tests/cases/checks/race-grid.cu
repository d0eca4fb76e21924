/* race-grid.cu — pairs: hazards between blocks, by flags, locks, tickets and atomics. pair.h says
 * how a pair is written. */
#include "pair.h"
#include <cooperative_groups.h>

/* A look-back in which status and sum of a tile are two words. */
static __device__ unsigned load_relaxed(const int *from)
{
    unsigned x;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(from));
    return x;
}

static __device__ void store_relaxed(int *to, unsigned x)
{
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(x));
}

enum order { STATUS_FIRST, SUM_FIRST, FENCED };

/* The words of tile t are tiles[2 t], its sum, and tiles[2 t + 1], its status. */
template <enum order order> static __device__ void look_back_at_two_words(int *tiles, int *out)
{
    int *own = tiles + 2 * blockIdx.x, lane = threadIdx.x, before = 0;
    for (int nearest = (int)blockIdx.x - 1; nearest >= 0;) {
        unsigned long long state = 2ull << 32;
        if (lane <= nearest) {
            const int *tile = tiles + 2 * (nearest - lane);
            unsigned sum = order == SUM_FIRST ? load_relaxed(tile) : 0;
            unsigned status = load_relaxed(tile + 1);
            if (order == FENCED) __threadfence();
            if (order != SUM_FIRST) sum = load_relaxed(tile);
            state = (unsigned long long)status << 32 | sum;
        }
        if (__any_sync(~0u, state >> 32 == 0)) continue;
        before += (int)state;
        nearest -= 32;
    }
    before = __reduce_add_sync(~0u, before);
    if (lane == 0) {
        store_relaxed(own, blockIdx.x);
        if (order == FENCED) __threadfence();
        store_relaxed(own + 1, 1);
    }
    out[blockIdx.x * 32 + lane] = before;
}

/* race-blocks-neighbour — each thread adds its right neighbour's word. The last one of a block
 * reads what the next block stores. */
template <bool right> __global__ void race_blocks_neighbour(int *data, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    (right ? out : data)[i] = data[i] + data[i + 1]; /* racecheck: write to another array */
}
PAIR(race_blocks_neighbour<right>, 4, 256, numbers<int>(1025), zeros<int>(1024))

/* race-blocks-order — a block reads what another block writes: two launches are ordered, two blocks
 * of one are not. */
__global__ void write(int *words) { words[blockIdx.x] = blockIdx.x; }
__global__ void take(const int *words, int *out)
{
    out[blockIdx.x] = words[(blockIdx.x + 1) % gridDim.x];
}
__global__ void both(int *words, int *out)
{
    words[blockIdx.x] = blockIdx.x;
    out[blockIdx.x] = words[(blockIdx.x + 1) % gridDim.x];
}
HOST(race_blocks_order)
{
    int *words = zeros<int>(64), *out = zeros<int>(64);
    if (right) {
        write<<<64, 1>>>(words);
        take<<<64, 1>>>(words, out);
    } else {
        both<<<64, 1>>>(words, out);
    }
}

/* race-blocks-sum — blocks add to one word of global memory: only atomics do that. */
template <bool right> __global__ void race_blocks_sum(int *sum)
{
    if (threadIdx.x > 0) return;
    if (right)
        atomicAdd(sum, 1);
    else
        /* racecheck: WAW hazard at __global__ */
        *sum += 1;
}
PAIR(race_blocks_sum<right>, 64, 32, zeros<int>(1))

/* race-cas-discard — a sum by compare and swap. If another block has stored in between, nothing is
 * swapped: the addition must be tried again, or it is lost. */
template <bool right> __global__ void race_cas_discard(int *sum)
{
    int old = *sum, assumed;
    do {
        assumed = old;
        old = atomicCAS(sum, assumed, assumed + 1);
    } while (right && old != assumed);
}
PAIR(race_cas_discard<right>, 8, 1, zeros<int>(1))

/* race-cas-double — a sum of doubles by compare and swap, as in the CUDA programming guide. The
 * wrong version compares and stores in two steps. */
template <bool right>
__device__ bool swap(unsigned long long *word, unsigned long long assumed, unsigned long long value,
                     unsigned long long *old)
{
    if (right) {
        *old = atomicCAS(word, assumed, value);
    } else {
        *old = *(volatile unsigned long long *)word;
        if (*old == assumed) *word = value;
    }
    return *old == assumed;
}
template <bool right> __global__ void race_cas_double(double *sum)
{
    unsigned long long *word = (unsigned long long *)sum, old = *word, assumed;
    do {
        assumed = old;
    } while (
        !swap<right>(word, assumed, __double_as_longlong(1 + __longlong_as_double(assumed)), &old));
}
PAIR(race_cas_double<right>, 8, 32, zeros<double>(1))

/* race-cas-max — a maximum by compare and swap, tried for as long as the thread's own value is the
 * larger one. The wrong version stores it without looking again. */
template <bool right> __global__ void race_cas_max(int *most)
{
    int mine = blockIdx.x * 7 % 32, old = *most;
    while (mine > old) {
        int assumed = old;
        if (right)
            old = atomicCAS(most, assumed, mine);
        else
            *most = old = mine;
        if (old == assumed) break;
    }
}
PAIR(race_cas_max<right>, 32, 1, zeros<int>(1))

/* race-cas-result — the value that compare and swap returns is stored, but not compared: an
 * addition is lost if another block has added before. */
template <bool right> __global__ void race_cas_result(int *sum, int *out)
{
    int old, seen;
    do {
        old = *sum;
        seen = atomicCAS(sum, old, old + 1);
    } while (right && seen != old);
    out[blockIdx.x] = seen;
}
PAIR(race_cas_result<right>, 8, 1, zeros<int>(1), zeros<int>(8))

/* race-cas-stored — a sum by compare and swap, which also returns the value before. Only atomicCAS
 * says which value that was: the plain load before the loop may have found any. */
template <bool right> __global__ void race_cas_stored(int *sum, int *before)
{
    int first = *sum, old = first, assumed;
    do {
        assumed = old;
        old = atomicCAS(sum, assumed, assumed * 2 + 1);
    } while (old != assumed);
    before[blockIdx.x] = right ? old : first;
}
PAIR(race_cas_stored<right>, 8, 1, zeros<int>(1), zeros<int>(8))

/* race-chain — each block passes a number to the next one. The fence before the flag makes the
 * number visible first. */
template <bool right> __global__ void race_chain(int *data, int *flags)
{
    if (threadIdx.x > 0) return;
    int before = 0;
    if (blockIdx.x > 0) {
        while (atomicAdd(&flags[blockIdx.x - 1], 0) == 0) continue;
        /* racecheck: RAW hazard at __global__; racecheck: second launch; strict readers: hazard */
        before = data[blockIdx.x - 1];
    }
    data[blockIdx.x] = before + 1;
    if (right) __threadfence();
    *(volatile int *)&flags[blockIdx.x] = 1;
}
PAIR(race_chain<right>, 20, 32, numbers<int>(20), zeros<int>(20))

/* race-chain-last — a chain of flags: the last block sees what all others have stored, since each
 * has a fence between its wait and its flag. */
template <bool right> __global__ void race_chain_last(int *data, volatile int *flags)
{
    if (threadIdx.x > 0) return;
    data[blockIdx.x] = blockIdx.x;
    if (blockIdx.x > 0)
        while (flags[blockIdx.x - 1] == 0) continue;
    if (right) __threadfence();
    flags[blockIdx.x] = 1;
    if (blockIdx.x < gridDim.x - 1) return;
    int sum = 0;
    for (int i = 0; i < gridDim.x; i++) sum += data[i];
    data[blockIdx.x] = sum;
}
PAIR(race_chain_last<right>, 300, 32, zeros<int>(300), zeros<int>(300))

/* race-chain-scope — each block passes a number to the next one: a fence for the threads of one
 * block is not enough. */
template <bool right> __global__ void race_chain_scope(int *data, int *flags)
{
    if (threadIdx.x > 0) return;
    int before = 0;
    if (blockIdx.x > 0) {
        while (atomicAdd(&flags[blockIdx.x - 1], 0) == 0) continue;
        __threadfence();
        /* racecheck: RAW hazard at __global__; racecheck: second launch */
        before = data[blockIdx.x - 1];
    }
    data[blockIdx.x] = before + 1;
    if (right)
        __threadfence();
    else
        __threadfence_block();
    *(volatile int *)&flags[blockIdx.x] = 1;
}
PAIR(race_chain_scope<right>, 20, 32, numbers<int>(20), zeros<int>(20))

/* race-constant — __ldg() takes memory for constant while the kernel runs. Its value may be older
 * than a store before the barrier. */
template <bool right> __global__ void race_constant(int *data, int *out)
{
    data[threadIdx.x] = threadIdx.x;
    __syncthreads();
    const int *from = &data[threadIdx.x ^ 1];
    out[threadIdx.x] = right ? *from : __ldg(from); /* racecheck: RAW hazard; racecheck: constant */
}
PAIR(race_constant<right>, 1, 64, zeros<int>(64), zeros<int>(64))

/* race-constant-after — a thread loads by __ldg() the word that it has just stored. */
template <bool right> __global__ void race_constant_after(int *data, int *out)
{
    int *own = &data[threadIdx.x];
    *own = threadIdx.x;
    out[threadIdx.x] = right ? *own : __ldg(own); /* racecheck: RAW hazard; racecheck: constant */
}
PAIR(race_constant_after<right>, 1, 64, zeros<int>(64), zeros<int>(64))

/* race-constant-atomic — counters that atomics change, and that __ldg() reads behind a barrier. */
template <bool right> __global__ void race_constant_atomic(int *bins, int *out)
{
    atomicAdd(&bins[threadIdx.x / 2], 1);
    __syncthreads();
    /* racecheck: RAW hazard at __global__; racecheck: barrier does not help */
    out[threadIdx.x] = right ? bins[threadIdx.x] : __ldg(&bins[threadIdx.x]);
}
PAIR(race_constant_atomic<right>, 1, 64, zeros<int>(64), zeros<int>(64))

/* race-constant-grid — no barrier of the grid helps a load by __ldg(), but a second launch does. */
template <bool is_one> __global__ void twice(int *data, int *out, int first)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (is_one || first) data[i] = i;
    if (is_one) cooperative_groups::this_grid().sync();
    if (is_one || !first) out[i] = __ldg(&data[i ^ 64]); /* racecheck: RAW hazard at __global__ */
}
HOST(race_constant_grid)
{
    int *data = zeros<int>(128), *out = zeros<int>(128);
    for (int first = 1; right && first >= 0; first--) twice<false><<<2, 64>>>(data, out, first);
    if (!right) launch_together{twice<true>, 2, 64, data, out, 1};
}

/* race-constant-last — the last block adds up the sums of all blocks. What they have made is not
 * constant, unlike their input. */
template <bool right>
__global__ void race_constant_last(const int *in, int *sums, int *tickets, int *out)
{
    int lane = threadIdx.x, ticket = 0;
    int sum = __reduce_add_sync(~0u, __ldg(&in[blockIdx.x * 32 + lane]));
    if (lane == 0) {
        sums[blockIdx.x] = sum;
        __threadfence();
        ticket = atomicAdd(tickets, 1);
        __threadfence();
    }
    __syncwarp();
    if (__shfl_sync(~0u, ticket, 0) < gridDim.x - 1) return;
    /* racecheck: RAW hazard at __global__; racecheck: constant */
    sum = __reduce_add_sync(~0u, right ? __ldcg(&sums[lane]) : __ldg(&sums[lane]));
    if (lane == 0) *out = sum;
}
PAIR(race_constant_last<right>, 32, 32, numbers<int>(1024), zeros<int>(32), zeros<int>(1),
     zeros<int>(1))

/* race-constant-own — the words are loaded by __ldg(), and replaced behind a barrier. A thread may
 * replace the word that it alone has loaded. A neighbour's load may be moved behind the barrier. */
template <bool right> __global__ void race_constant_own(int *data)
{
    int value = __ldg(&data[right ? threadIdx.x : threadIdx.x ^ 1]);
    __syncthreads();
    data[threadIdx.x] = 2 * value; /* racecheck: WAR hazard at __global__; racecheck: constant */
}
PAIR(race_constant_own<right>, 1, 64, numbers<int>(64))

/* race-constant-plain — a word is loaded by __ldg(), by plain loads, and then replaced. */
template <bool right> __global__ void race_constant_plain(int *data, int *out)
{
    int i = threadIdx.x, first = right ? data[i ^ 32] : __ldg(&data[i ^ 32]);
    __syncthreads();
    out[i] = first + data[i];
    __syncthreads();
    data[i] = out[i]; /* racecheck: WAR hazard at __global__; racecheck: constant */
}
PAIR(race_constant_plain<right>, 1, 64, numbers<int>(64), zeros<int>(64))

/* race-constant-restrict — `const int *__restrict__` makes nvcc load like __ldg(). Each block works
 * on its own words, with a barrier, but not in place. */
__global__ void add_pairs(const int *__restrict__ in, int *__restrict__ out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = in[i] + in[i ^ 1];
    __syncthreads();
    out[i] = sum; /* racecheck: WAR hazard at __global__; racecheck: constant */
}
HOST(race_constant_restrict)
{
    int *in = numbers<int>(128);
    add_pairs<<<2, 64>>>(in, right ? zeros<int>(128) : in);
}

/* race-constant-surface — a kernel stores to an image by a surface, and reads it by a texture. */
__global__ void blur(cudaSurfaceObject_t to, cudaTextureObject_t from)
{
    int x = threadIdx.x, sum = tex2D<int>(from, x, 0) + tex2D<int>(from, x + 1, 0);
    __syncthreads();
    /* racecheck: WAR hazard at __global__; racecheck: constant */
    surf2Dwrite(sum, to, x * (int)sizeof sum, 0);
}
HOST(race_constant_surface)
{
    static int zeros[64];
    cudaChannelFormatDesc words = cudaCreateChannelDesc<int>();
    cudaTextureDesc reads = {};
    cudaSurfaceObject_t surfaces[2];
    cudaTextureObject_t textures[2];
    for (int i = 0; i < 2; i++) {
        cudaResourceDesc image = {cudaResourceTypeArray};
        cudaArray_t *array = &image.res.array.array;
        cudaMallocArray(array, &words, 64, 1, cudaArraySurfaceLoadStore);
        keep(*array, [](void *it) { return cudaFreeArray((cudaArray_t)it); });
        cudaMemcpy2DToArray(*array, 0, 0, zeros, sizeof zeros, sizeof zeros, 1,
                            cudaMemcpyHostToDevice);
        cudaCreateSurfaceObject(&surfaces[i], &image);
        cudaCreateTextureObject(&textures[i], &image, &reads, nullptr);
    }
    for (int round = 0; round < 2; round++)
        blur<<<1, 64>>>(surfaces[right && round == 0], textures[right && round == 1]);
}

/* race-constant-symbol — a block stores __constant__ numbers by their address, and reads them after
 * a barrier. */
__constant__ int factors[64];
template <bool is_one> __global__ void set_and_use(int *to, int *out, bool first)
{
    if (is_one || first) to[threadIdx.x] = 3 * threadIdx.x;
    __syncthreads();
    /* racecheck: RAW hazard at __global__; racecheck: constant */
    if (is_one || !first) out[threadIdx.x] = factors[threadIdx.x ^ 1];
}
HOST(race_constant_symbol)
{
    int *to, *out = zeros<int>(64);
    cudaGetSymbolAddress((void **)&to, factors);
    for (int first = 1; right && first >= 0; first--) set_and_use<false><<<1, 64>>>(to, out, first);
    if (!right) set_and_use<true><<<1, 64>>>(to, out, 1);
}

/* race-constant-symbol-next — a block stores the __constant__ factor for the next launch, which
 * other blocks may still read. */
__constant__ int factor;
__global__ void multiply(int *data, int *next)
{
    data[blockIdx.x] *= factor;
    if (blockIdx.x == 0) *next = data[0]; /* racecheck: RAW hazard at __global__ */
}
HOST(race_constant_symbol_next)
{
    int *data = numbers<int>(4), *next = zeros<int>(1);
    if (!right) cudaGetSymbolAddress((void **)&next, factor);
    multiply<<<4, 1>>>(data, next);
    if (right) cudaMemcpyToSymbol(factor, next, sizeof *next, 0, cudaMemcpyDeviceToDevice);
}

/* race-constant-texture — a kernel reads by a texture what it has stored. It sees what an earlier
 * kernel has stored. */
__global__ void store_and_fetch(cudaTextureObject_t words, int *data, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (data) data[i] = i;
    __syncthreads();
    if (out) out[i] = tex1Dfetch<int>(words, i ^ 1); /* racecheck: RAW hazard at __global__ */
}
HOST(race_constant_texture)
{
    int *data = zeros<int>(128), *out = zeros<int>(128), *none = nullptr;
    cudaResourceDesc resource = {cudaResourceTypeLinear};
    resource.res.linear = {data, cudaCreateChannelDesc<int>(), 128 * sizeof(int)};
    cudaTextureDesc reads = {};
    cudaTextureObject_t words;
    cudaCreateTextureObject(&words, &resource, &reads, nullptr);
    if (right) store_and_fetch<<<2, 64>>>(words, data, none);
    store_and_fetch<<<2, 64>>>(words, right ? none : data, out);
    cudaDestroyTextureObject(words);
}

/* race-constant-vector — points are loaded by __ldg(), each as a vector. Its last word is a
 * counter, which changes. */
template <bool right> __global__ void race_constant_vector(int4 *points, int *out)
{
    int4 *own = &points[threadIdx.x], p = {};
    if (right) p.x = __ldg(&own->x), p.y = __ldg(&own->y);
    if (!right) p = __ldg(own); /* racecheck: WAR hazard at __global__; racecheck: constant */
    atomicAdd(&points[p.x % 64].w, 1);
    out[blockIdx.x * 64 + threadIdx.x] = p.x + p.y;
}
PAIR(race_constant_vector<right>, 2, 64, (int4 *)numbers<int>(256), zeros<int>(128))

/* race-flag-block — thread 0 sets the flag for its block. A barrier must lie between the other
 * threads' stores and its fence. */
template <bool right> __global__ void race_flag_block(volatile int *flag, int *values, int *out)
{
    if (blockIdx.x == 0) {
        values[threadIdx.x] = threadIdx.x;
        if (right) __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            *flag = 1;
        }
    } else {
        if (threadIdx.x == 0) {
            while (*flag == 0) continue;
            __threadfence();
        }
        __syncthreads();
        out[threadIdx.x] = values[127 - threadIdx.x];
    }
}
PAIR(race_flag_block<right>, 2, 128, zeros<int>(1), zeros<int>(128), zeros<int>(128))

/* race-flag-early — the flag is set before the value is stored. */
template <bool right> __global__ void race_flag_early(volatile int *flag, int *value, int *out)
{
    if (blockIdx.x == 0) {
        if (right) *value = 42;
        __threadfence();
        *flag = 1;
        if (!right) *value = 42;
    } else {
        while (*flag == 0) continue;
        __threadfence();
        *out = *value;
    }
}
PAIR(race_flag_early<right>, 2, 1, zeros<int>(1), zeros<int>(1), zeros<int>(1))

/* race-flag-load — a flag that an atomic sets is read by an atomic, too, and not by a plain
 * load. */
template <bool right> __global__ void race_flag_load(int *data, int *flag)
{
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0)
        atomicExch(flag, 1);
    else if (right)
        data[blockIdx.x] = atomicAdd(flag, 0);
    else
        /* racecheck: RAW hazard at __global__; racecheck: second launch */
        data[blockIdx.x] = *flag;
}
PAIR(race_flag_load<right>, 4, 32, numbers<int>(4), zeros<int>(1))

/* race-flag-plain — a flag is polled by volatile loads. The store must be volatile, too. */
template <bool right> __global__ void race_flag_plain(int *flag, int *value, int *out)
{
    if (blockIdx.x == 0) {
        *value = 42;
        __threadfence();
        if (right)
            *(volatile int *)flag = 1;
        else
            *flag = 1;
    } else {
        while (*(volatile int *)flag == 0) continue;
        __threadfence();
        *out = *value;
    }
}
PAIR(race_flag_plain<right>, 2, 1, zeros<int>(1), zeros<int>(1), zeros<int>(1))

/* race-flag-readers — thread 0 waits for the flag. The other threads of its block may read the
 * value only behind a barrier. */
template <bool right> __global__ void race_flag_readers(volatile int *flag, int *value, int *out)
{
    if (blockIdx.x == 0) {
        if (threadIdx.x > 0) return;
        *value = 42;
        __threadfence();
        *flag = 1;
    } else {
        if (threadIdx.x == 0) {
            while (*flag == 0) continue;
            __threadfence();
        }
        if (right) __syncthreads();
        out[threadIdx.x] = *value;
    }
}
PAIR(race_flag_readers<right>, 2, 128, zeros<int>(1), zeros<int>(1), zeros<int>(128))

/* race-grid-counter — a barrier of the grid by a counter. It needs fences before a block is counted
 * and behind its wait. */
template <bool right> __device__ void meet(int *count)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        if (right) __threadfence();
        atomicAdd(count, 1);
        while (*(volatile int *)count < gridDim.x) continue;
        if (right) __threadfence();
    }
    __syncthreads();
}
template <bool right> __global__ void race_grid_counter(int *count, int *words, int *out)
{
    int own = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    words[own] = own;
    meet<right>(count);
    out[own] = words[all - 1 - own];
}
PAIR(race_grid_counter<right>, 4, 64, zeros<int>(1), zeros<int>(256), zeros<int>(256))

/* race-grid-fences — a barrier of the grid as in CUB: every thread has a fence after its stores,
 * and then one thread signals for its block. */
template <bool right> __global__ void race_grid_fences(int *data, int *count, int *out)
{
    int own = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    data[own] = threadIdx.x;
    if (right) __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(count, 1);
        while (*(volatile int *)count < (int)gridDim.x) continue;
    }
    __syncthreads();
    /* racecheck: RAW hazard at __global__; racecheck: second launch; strict readers: hazard */
    out[own] = data[(own + blockDim.x) % all];
}
PAIR(race_grid_fences<right>, 8, 256, numbers<int>(2048), zeros<int>(1), zeros<int>(2048))

/* race-hint — blocks load and store a volatile word. That is no mistake while the stored value does
 * not depend on the loaded one. */
template <bool right> __global__ void race_hint(volatile int *hint, int *out)
{
    int good = 0;
    for (int i = 0; i < 5; i++) {
        int seen = *hint;
        good += seen >= 0;
        *hint = right ? blockIdx.x * 10 + i : seen + 1; /* racecheck: has read it, and writes it */
    }
    out[blockIdx.x] = good;
}
PAIR(race_hint<right>, 16, 1, zeros<int>(1), zeros<int>(16))

/* race-last-array — the ticket lies in an array in shared memory and reaches the other threads by a
 * shuffle. The first ticket does not say that the other blocks have drawn theirs. */
template <bool right> __global__ void race_last_array(unsigned *done, const int *data)
{
    __shared__ unsigned tickets[64];
    if (threadIdx.x == 0) {
        __threadfence();
        tickets[data[1]] = atomicInc(done, gridDim.x);
    }
    __syncthreads();
    unsigned ticket = __shfl_sync(~0u, threadIdx.x % 32 == 1 ? tickets[1] : 0, 1);
    /* racecheck: WAW hazard at __global__ */
    if (threadIdx.x == 32 && ticket == (right ? gridDim.x - 1 : 0)) *done = 0;
}
PAIR(race_last_array<right>, 8, 64, zeros<unsigned>(1), numbers<int>(2))

/* race-last-barrier — thread 0 draws the ticket for its block. A barrier must lie before that, so
 * that the stores of all its threads come first. */
template <bool right> __global__ void race_last_barrier(int *parts, unsigned *done, int *sum)
{
    __shared__ bool is_last;
    parts[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
    __threadfence();
    if (right) __syncthreads();
    if (threadIdx.x == 0) is_last = atomicAdd(done, 1) == gridDim.x - 1;
    __syncthreads();
    if (!is_last) return;
    __threadfence();
    int total = 0;
    for (int i = 0; i < gridDim.x; i++) total += parts[i * blockDim.x + threadIdx.x];
    atomicAdd(sum, total);
}
PAIR(race_last_barrier<right>, 8, 64, zeros<int>(8 * 64), zeros<unsigned>(1), zeros<int>(1))

/* race-last-block — the last block adds up the words of all blocks. A fence must lie between a
 * block's stores and its ticket, and between the last ticket and the loads. */
template <bool right> __global__ void race_last_block(int *parts, unsigned *done, int *sum)
{
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = blockIdx.x;
        if (right) __threadfence();
        is_last = atomicAdd(done, 1) == gridDim.x - 1;
        if (right) __threadfence();
    }
    __syncthreads();
    if (!is_last || threadIdx.x > 0) return;
    int total = 0;
    for (int i = 0; i < gridDim.x; i++) total += parts[i];
    *sum = total;
}
PAIR(race_last_block<right>, 64, 32, zeros<int>(64), zeros<unsigned>(1), zeros<int>(1))

/* race-last-inc — CUDA's threadFenceReduction: the last block adds up what all have stored. */
template <bool right>
__global__ void race_last_inc(const int *data, int *sums, unsigned *done, int *total)
{
    __shared__ bool last;
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, data[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = sum;
        if (right) __threadfence();
        last = atomicInc(done, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    /* racecheck: RAW hazard at __global__; racecheck: second launch; strict readers: hazard */
    if (last && threadIdx.x < gridDim.x) atomicAdd(total, ((volatile int *)sums)[threadIdx.x]);
}
PAIR(race_last_inc<right>, 8, 256, numbers<int>(2048), zeros<int>(8), zeros<unsigned>(1),
     zeros<int>(1))

/* race-last-index — the ticket, kept in shared memory, tells another thread that its block is the
 * last one. That a block has the last index tells nothing about the others. */
template <bool right> __global__ void race_last_index(unsigned *done, int *tickets)
{
    __shared__ unsigned ticket, last;
    if (threadIdx.x == 0) {
        last = gridDim.x - 1;
        __threadfence();
        ticket = atomicInc(done, gridDim.x);
    }
    __syncthreads();
    if (threadIdx.x != 32) return;
    tickets[blockIdx.x] = ticket;
    /* racecheck: WAW hazard at __global__; racecheck: second launch */
    if ((right ? ticket : blockIdx.x) == last) *done = 0;
}
PAIR(race_last_index<right>, 8, 64, zeros<unsigned>(1), zeros<int>(8))

/* race-last-read — the last block may read the counter by a plain load. The others may not. */
template <bool right> __global__ void race_last_read(unsigned *done, unsigned *out)
{
    __shared__ unsigned ticket;
    if (threadIdx.x == 0) {
        __threadfence();
        ticket = atomicInc(done, gridDim.x);
    }
    __syncthreads();
    /* racecheck: hazard at __global__ */
    if (threadIdx.x == 32 && (!right || ticket == gridDim.x - 1)) out[blockIdx.x] = *done;
}
PAIR(race_last_read<right>, 8, 64, zeros<unsigned>(1), zeros<unsigned>(8))

/* race-last-reset — the last block resets the counter for the next launch, by a plain store: its
 * ticket shows that all others have counted. No other block may reset it. */
template <bool right> __global__ void race_last_reset(int *parts, unsigned *done, int *sum)
{
    parts[blockIdx.x] = blockIdx.x;
    __threadfence();
    unsigned ticket = atomicInc(done, gridDim.x);
    __threadfence();
    if (ticket == gridDim.x - 1)
        for (int i = 0; i < gridDim.x; i++) *sum += parts[i];
    if (ticket == (right ? gridDim.x - 1 : gridDim.x / 2)) *done = 0;
}
PAIR(race_last_reset<right>, 16, 1, zeros<int>(16), zeros<unsigned>(1), zeros<int>(1))

/* race-last-ticket — thread 0 draws the ticket, and all threads of its block read it in shared
 * memory. A fence must lie between each thread's store and the ticket. The last block resets the
 * counter by a plain store, which its ticket allows. */
template <bool right> __global__ void race_last_ticket(int *parts, unsigned *done, int *sum)
{
    __shared__ unsigned ticket;
    parts[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
    if (right) __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) ticket = atomicInc(done, gridDim.x);
    __syncthreads();
    if (ticket != gridDim.x - 1) return;
    if (right) __threadfence();
    int total = 0;
    for (int i = 0; i < gridDim.x; i++) total += parts[i * blockDim.x + threadIdx.x];
    atomicAdd(sum, total);
    if (threadIdx.x == 0) *done = 0;
}
PAIR(race_last_ticket<right>, 8, 64, zeros<int>(8 * 64), zeros<unsigned>(1), zeros<int>(1))

/* race-last-volatile — the last block adds up the words that all have stored. The words are
 * volatile, which orders nothing: a fence must lie between a block's store and its ticket. */
template <bool right>
__global__ void race_last_volatile(volatile int *parts, unsigned *done, int *sum)
{
    parts[blockIdx.x] = blockIdx.x;
    if (right) __threadfence();
    if (atomicAdd(done, 1) != gridDim.x - 1) return;
    if (right) __threadfence();
    int total = 0;
    for (int i = 0; i < gridDim.x; i++) total += parts[i];
    *sum = total;
}
PAIR(race_last_volatile<right>, 16, 1, zeros<int>(16), zeros<unsigned>(1), zeros<int>(1))

/* race-lock — a lock. Without fences the next owner need not see what the last one has stored. */
template <bool right> __global__ void race_lock(int *lock, int *counter)
{
    if (threadIdx.x > 0) return;
    while (atomicCAS(lock, 0, 1) != 0) continue;
    if (right) __threadfence();
    /* racecheck: hazard at __global__; racecheck: lock with fences */
    *counter += 1;
    if (right) __threadfence();
    atomicExch(lock, 0);
}
PAIR(race_lock<right>, 8, 32, zeros<int>(1), zeros<int>(1))

/* race-lock-after — the counter is read again after the lock has been released. */
template <bool right> __global__ void race_lock_after(int *lock, int *counter, int *out)
{
    while (atomicCAS(lock, 0, 1) != 0) continue;
    __threadfence();
    int now = *counter += 1;
    __threadfence();
    atomicExch(lock, 0);
    out[blockIdx.x] = right ? now : *counter;
}
PAIR(race_lock_after<right>, 8, 1, zeros<int>(1), zeros<int>(1), zeros<int>(8))

/* race-lock-reader — writers take the lock. Readers must take it, too. */
template <bool right> __global__ void race_lock_reader(int *lock, int *pair, int *out)
{
    bool reads = blockIdx.x % 2, locks = right || !reads;
    while (locks && atomicCAS(lock, 0, 1) != 0) continue;
    __threadfence();
    if (reads) {
        out[blockIdx.x] = pair[0] - pair[1];
    } else {
        pair[0] += 1;
        pair[1] += 1;
    }
    __threadfence();
    if (locks) atomicExch(lock, 0);
}
PAIR(race_lock_reader<right>, 8, 1, zeros<int>(1), zeros<int>(2), zeros<int>(8))

/* race-lock-release — a lock is released by an atomic. A plain store races with the atomics that
 * try to take the lock. */
template <bool right> __global__ void race_lock_release(int *lock, int *counter)
{
    while (atomicCAS(lock, 0, 1) != 0) continue;
    __threadfence();
    *counter += 1;
    __threadfence();
    if (right)
        atomicExch(lock, 0);
    else
        *lock = 0;
}
PAIR(race_lock_release<right>, 8, 1, zeros<int>(1), zeros<int>(1))

/* race-lock-scope — a lock between blocks needs fences with the scope of the device.
 * __threadfence_block() is for the threads of one block. */
template <bool right> __device__ void fence_of()
{
    if (right)
        __threadfence();
    else
        __threadfence_block();
}
template <bool right> __global__ void race_lock_scope(int *lock, int *counter)
{
    while (atomicCAS(lock, 0, 1) != 0) continue;
    fence_of<right>();
    *counter += 1;
    fence_of<right>();
    atomicExch(lock, 0);
}
PAIR(race_lock_scope<right>, 8, 1, zeros<int>(1), zeros<int>(1))

/* race-lock-try — a thread tries to take the lock once, and changes the counter even if it does not
 * have the lock. */
template <bool right> __global__ void race_lock_try(int *lock, int *counter)
{
    bool mine = atomicCAS(lock, 0, 1) == 0;
    while (right && !mine) mine = atomicCAS(lock, 0, 1) == 0;
    __threadfence();
    *counter += 1;
    __threadfence();
    if (mine) atomicExch(lock, 0);
}
PAIR(race_lock_try<right>, 8, 32, zeros<int>(1), zeros<int>(1))

/* race-lock-two — a counter that some blocks change under one lock, and others under another lock,
 * is not guarded. */
template <bool right> __global__ void race_lock_two(int *locks, int *counter)
{
    int *lock = &locks[right ? 0 : blockIdx.x % 2];
    while (atomicCAS(lock, 0, 1) != 0) continue;
    __threadfence();
    *counter += 1;
    __threadfence();
    atomicExch(lock, 0);
}
PAIR(race_lock_two<right>, 8, 1, zeros<int>(2), zeros<int>(1))

/* race-lock-volatile — a lock without fences, around a volatile counter. Volatile accesses order
 * nothing: the next owner may still load the old value. */
template <bool right> __global__ void race_lock_volatile(int *lock, volatile int *counter)
{
    if (threadIdx.x > 0) return;
    while (atomicCAS(lock, 0, 1) != 0) continue;
    if (right) __threadfence();
    *counter = *counter + 1;
    if (right) __threadfence();
    atomicExch(lock, 0);
}
PAIR(race_lock_volatile<right>, 8, 32, zeros<int>(1), zeros<int>(1))

/* race-look-back — a chained scan: each block waits for the prefix of the one before. Value and
 * flag in one 64-bit word need no fence; in two words they do. */
template <bool right>
__global__ void race_look_back(unsigned long long *state, int *value, int *flag, int *out)
{
    int before = 0, block = blockIdx.x;
    if (right) {
        if (block > 0) {
            unsigned long long word;
            while (((word = atomicAdd(&state[block - 1], 0)) >> 32) == 0) continue;
            before = (int)word;
        }
        atomicExch(&state[block], 1ull << 32 | (unsigned)(before + block));
    } else {
        if (block > 0) {
            while (atomicAdd(&flag[block - 1], 0) == 0) continue;
            before = value[block - 1];
        }
        value[block] = before + block;
        atomicExch(&flag[block], 1);
    }
    out[block] = before;
}
PAIR(race_look_back<right>, 64, 1, zeros<unsigned long long>(64), zeros<int>(64), zeros<int>(64),
     zeros<int>(64))

/* race-look-back-warp — decoupled look-back by a warp (Merrill and Garland). A tile's state and its
 * sum are one word of 64 bits, which is stored by one atomic. */
enum { SUM = 1, PREFIX = 2 };
static __device__ unsigned long long word_of(int state, int sum)
{
    return (unsigned long long)state << 32 | (unsigned)sum;
}
template <bool right> static __device__ void publish(unsigned long long *to, int state, int sum)
{
    if (right)
        atomicExch(to, word_of(state, sum));
    else
        *to = word_of(state, sum);
}
template <bool right> __global__ void race_look_back_warp(int *data, unsigned long long *states)
{
    __shared__ int prefix;
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = __syncthreads_count(data[i] & 1);
    if (threadIdx.x < 32) {
        int exclusive = 0;
        if (threadIdx.x == 0) publish<right>(&states[blockIdx.x], blockIdx.x ? SUM : PREFIX, sum);
        for (int at = (int)(blockIdx.x - 1 - threadIdx.x); blockIdx.x > 0; at -= 32) {
            unsigned long long state = word_of(PREFIX, 0);
            while (at >= 0 && (state = *(volatile unsigned long long *)&states[at]) >> 32 == 0)
                continue;
            unsigned done = __ballot_sync(~0u, state >> 32 == PREFIX);
            int first = done ? __ffs(done) - 1 : 32;
            exclusive += __reduce_add_sync(~0u, (int)threadIdx.x <= first ? (int)state : 0);
            if (done) break;
        }
        if (threadIdx.x == 0) {
            if (blockIdx.x > 0) publish<right>(&states[blockIdx.x], PREFIX, exclusive + sum);
            prefix = exclusive;
        }
    }
    __syncthreads();
    data[i] = prefix;
}
PAIR(race_look_back_warp<right>, 60, 256, numbers<int>(60 * 256), zeros<unsigned long long>(60))

/* race-look-elsewhere — a thread that waits for a flag looks at another word meanwhile, which the
 * flag's thread stores after the flag. A plain load needs an order. */
template <bool right> __global__ void race_look_elsewhere(int *flag, int *other, int *out)
{
    unsigned seen = 0;
    if (blockIdx.x == 0) {
        if (!right) store_relaxed(other, 1);
        store_relaxed(flag, 1);
        if (right) store_relaxed(other, 1);
    } else {
        do seen += right ? load_relaxed(other) : 0;
        while (!load_relaxed(flag));
        out[blockIdx.x * blockDim.x + threadIdx.x] = right ? seen : *other; /* racecheck: hazard */
    }
}
PAIR(race_look_elsewhere<right>, 4, 32, zeros<int>(1), zeros<int>(1), zeros<int>(128))

/* race-maximum — a maximum. The stored value is not made from the loaded one, but that decides
 * whether to store. */
template <bool right> __global__ void race_maximum(int *largest)
{
    int before = *(volatile int *)largest;
    for (int lane = 0; lane < 32; lane++)
        if (lane == threadIdx.x && right)
            atomicMax(largest, lane + 1);
        else if (lane == threadIdx.x && before <= lane)
            *(volatile int *)largest = lane + 1; /* racecheck: has read it, and writes it */
}
PAIR(race_maximum<right>, 1, 32, zeros<int>(1))

/* race-mixed — some blocks add atomically, others do not. An atomic is atomic among atomics
 * only. */
template <bool right> __global__ void race_mixed(int *sum)
{
    if (right || blockIdx.x % 2 == 0)
        atomicAdd(sum, 1);
    else
        *sum += 1;
}
PAIR(race_mixed<right>, 8, 1, zeros<int>(1))

/* race-mixed-sizes — one store of 64 bits publishes a flag and a value, and two loads of 32 bits
 * read them. Accesses of different sizes do not overlap completely, so to PTX they are a race even
 * if both are volatile: the loads may find the flag and not the value. */
template <bool right> __global__ void race_mixed_sizes(unsigned long long *word, int *out)
{
    if (blockIdx.x == 0) {
        *(volatile unsigned long long *)word = 7ull << 32 | 1;
    } else if (right) {
        unsigned long long both;
        do both = *(volatile unsigned long long *)word;
        while (!(unsigned)both);
        *out = both >> 32;
    } else {
        const volatile unsigned *half = (unsigned *)word;
        while (!half[0]) continue;
        *out = half[1];
    }
}
PAIR(race_mixed_sizes<right>, 2, 1, zeros<unsigned long long>(1), zeros<int>(1))

/* race-poll-call — a thread polls a word by a function, as an unoptimised build calls a library's
 * load. The load must be volatile. */
template <typename T> static __device__ __noinline__ void load_into(int *to, T *from)
{
    *to = *from;
}
template <bool right> __global__ void race_poll_call(int *slot, volatile int *flag, int *out)
{
    if (blockIdx.x == 0) {
        *(volatile int *)slot = 1;
        *flag = 1;
    } else {
        int value;
        while (!*flag) continue;
        do
            if (right)
                load_into(&value, (volatile int *)slot);
            else
                load_into(&value, slot);
        while (!value);
        out[blockIdx.x] = value;
    }
}
PAIR(race_poll_call<right>, 4, 1, zeros<int>(1), zeros<int>(1), zeros<int>(4))

/* race-queue — blocks put work into a queue, others take it out. A word may be read when it is
 * marked as ready. It is not enough that its index has been drawn. */
template <bool right> __global__ void race_queue(int *items, int *ready, int *places, int *out)
{
    if (blockIdx.x % 2 == 0) {
        int place = atomicAdd(&places[0], 1);
        items[place] = blockIdx.x;
        __threadfence();
        atomicExch(&ready[place], 1);
    } else {
        int place = atomicAdd(&places[1], 1);
        if (right)
            while (!atomicAdd(&ready[place], 0)) continue;
        else
            while (atomicAdd(&places[0], 0) <= place) continue;
        __threadfence();
        out[place] = items[place];
    }
}
PAIR(race_queue<right>, 8, 1, zeros<int>(4), zeros<int>(4), zeros<int>(2), zeros<int>(4))

/* race-scope — an atomic with the scope of a block is atomic within its block only. */
template <bool right> __global__ void race_scope(int *sum)
{
    if (right)
        atomicAdd(sum, 1);
    else
        /* racecheck: WAW hazard at __global__; racecheck: second launch */
        atomicAdd_block(sum, 1);
}
PAIR(race_scope<right>, 8, 32, zeros<int>(1))

/* race-slot-ack — the reader signals that it has read before it reads. */
template <bool right> __global__ void race_slot_ack(int *slot, int *full, int *out)
{
    for (int i = 1; i <= 4; i++)
        if (blockIdx.x == 0) {
            while (atomicAdd(full, 0)) continue;
            __threadfence();
            *slot = i;
            __threadfence();
            atomicExch(full, 1);
        } else {
            while (!atomicAdd(full, 0)) continue;
            __threadfence();
            if (right) out[i - 1] = *slot;
            __threadfence();
            atomicExch(full, 0);
            if (!right) out[i - 1] = *slot;
        }
}
PAIR(race_slot_ack<right>, 2, 1, zeros<int>(1), zeros<int>(1), zeros<int>(4))

/* race-slot-reuse — one block passes values to another through one slot. Before it stores the next
 * value it must wait until the last one has been read. */
template <bool right>
__global__ void race_slot_reuse(int *slot, volatile int *full, volatile int *read, int *out)
{
    for (int i = 1; i <= 4; i++)
        if (blockIdx.x == 0) {
            while (right && *read < i - 1) continue;
            __threadfence();
            *slot = i;
            __threadfence();
            *full = i;
        } else {
            while (*full < i) continue;
            __threadfence();
            out[i - 1] = *slot;
            __threadfence();
            *read = i;
        }
}
PAIR(race_slot_reuse<right>, 2, 1, zeros<int>(1), zeros<int>(1), zeros<int>(1), zeros<int>(4))

/* race-slot-ring — a ring of 4 slots between two blocks. At most 4 values may be in the ring, not
 * 5. */
template <bool right>
__global__ void race_slot_ring(int *slots, volatile int *head, volatile int *tail, int *out)
{
    enum { SLOTS = 4 };
    for (int i = 0; i < 16; i++)
        if (blockIdx.x == 0) {
            while (i - *tail >= (right ? SLOTS : SLOTS + 1)) continue;
            __threadfence();
            slots[i % SLOTS] = i;
            __threadfence();
            *head = i + 1;
        } else {
            while (*head <= i) continue;
            __threadfence();
            out[i] = slots[i % SLOTS];
            __threadfence();
            *tail = i + 1;
        }
}
PAIR(race_slot_ring<right>, 2, 1, zeros<int>(4), zeros<int>(1), zeros<int>(1), zeros<int>(16))

/* race-sum-checked — an element is added to a sum, whose sign is tested before. */
template <bool right> __global__ void race_sum_checked(int *sum)
{
    volatile int *seen = sum;
    int before = *seen;
    if (*seen < 0) asm volatile("trap;");
    for (int lane = 0; lane < 32; lane++)
        if (lane == threadIdx.x && right)
            atomicAdd(sum, lane + 1);
        else if (lane == threadIdx.x)
            *seen = before + lane + 1; /* racecheck: has read it, and writes it */
}
PAIR(race_sum_checked<right>, 1, 32, zeros<int>(1))

/* race-sum-read — threads add to a sum by atomics. A plain load of the sum meanwhile is a hazard;
 * what the atomic returns is not. */
template <bool right> __global__ void race_sum_read(int *sum, int *out)
{
    int before = atomicAdd(sum, 1);
    out[threadIdx.x] = right ? before : *sum; /* racecheck: RAW hazard at __global__ */
}
PAIR(race_sum_read<right>, 1, 256, zeros<int>(1), zeros<int>(256))

/* race-ticket-lock — a lock by tickets. The block with the current number may enter. A fence must
 * order its accesses to the data. */
template <bool right> __global__ void race_ticket_lock(int *next, volatile int *shown, int *counter)
{
    int mine = atomicAdd(next, 1);
    while (*shown != mine) continue;
    if (right) __threadfence();
    *counter += 1;
    if (right) __threadfence();
    *shown = *shown + 1;
}
PAIR(race_ticket_lock<right>, 8, 1, zeros<int>(1), zeros<int>(1), zeros<int>(1))

/* race-turns — Peterson's lock of two blocks. The number of the block in turn is loaded and later
 * stored, but the stored value does not depend on the loaded one. The lock needs fences. */
template <bool right>
__global__ void race_turns(volatile int *wants, volatile int *turn, int *counter)
{
    int own = blockIdx.x, other = 1 - own;
    for (int i = 0; i < 10; i++) {
        wants[own] = 1;
        *turn = other;
        __threadfence();
        while (wants[other] && *turn == other) continue;
        if (right) __threadfence();
        *counter += 1; /* racecheck: hazard at __global__ */
        if (right) __threadfence();
        wants[own] = 0;
    }
}
PAIR(race_turns<right>, 2, 1, zeros<int>(2), zeros<int>(1), zeros<int>(1))

/* race-two-words — status and sum of a tile are two words. They are loaded in each turn, and meet
 * in one register before the status is tested. Fences order them. */
template <bool right> __global__ void race_two_words(int *tiles, int *out)
{
    /* racecheck: is a __threadfence() missing in race_two_words(); strict readers: hazard */
    look_back_at_two_words<right ? FENCED : STATUS_FIRST>(tiles, out);
}
PAIR(race_two_words<right>, 20, 32, zeros<int>(40), zeros<int>(20 * 32))

/* race-two-words-awaited — two words without a fence between them, but a thread waits for each: 0
 * is not there yet. Waiting for the second one alone is not enough. */
template <bool right> __global__ void race_two_words_awaited(int *tiles, int *out)
{
    int *own = tiles + 2 * blockIdx.x;
    unsigned long long both = 0;
    if (threadIdx.x > 0) return;
    /* racecheck: is a __threadfence() missing in race_two_words_awaited() */
    while (blockIdx.x > 0 && (right && (unsigned)both == 0 || both >> 32 == 0))
        both = (unsigned long long)load_relaxed(own - 1) << 32 | load_relaxed(own - 2);
    store_relaxed(own, (unsigned)both + 1);
    store_relaxed(own + 1, 1);
    out[blockIdx.x] = (unsigned)both;
}
PAIR(race_two_words_awaited<right>, 20, 32, zeros<int>(40), zeros<int>(20))

/* race-two-words-order — status and sum of a tile are two words, and the sum is loaded before the
 * status. */
template <bool right> __global__ void race_two_words_order(int *tiles, int *out)
{
    /* racecheck: is a __threadfence() missing in race_two_words_order(); strict readers: hazard */
    look_back_at_two_words<right ? FENCED : SUM_FIRST>(tiles, out);
}
PAIR(race_two_words_order<right>, 20, 32, zeros<int>(40), zeros<int>(20 * 32))

/* race-volatile-sum — volatile makes every load and every store happen. It does not make the two an
 * atomic addition. */
template <bool right> __global__ void race_volatile_sum(int *sum)
{
    volatile int *seen = sum;
    if (right)
        atomicAdd(sum, 1);
    else
        *seen = *seen + 1;
}
PAIR(race_volatile_sum<right>, 8, 1, zeros<int>(1))

/* race-write-global — all lanes of a warp store to one word by one instruction. */
template <bool right> __global__ void race_write_global(int *out)
{
    /* racecheck: WAW hazard at __global__; racecheck: chance */
    if (!right || threadIdx.x == 31) *out = threadIdx.x;
}
PAIR(race_write_global<right>, 1, 32, zeros<int>(1))
