/* threads.cu — programs whose threads work together: tiles in shared memory, votes, shuffles,
 * atomics, locks and cooperative groups. */
#include "check.cuh"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda_fp16.h>

/* C = A·B, once from global memory alone and once with tiles in shared memory; no size is a
 * multiple of the tile. */
namespace matrix_multiply
{
static const int TILE = 16;

static __global__ void multiply_naive(const float *a, const float *b, float *c, int m, int n, int k)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n) return;
    float sum = 0;
    for (int i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}

static __global__ void multiply_tiled(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0;
    for (int start = 0; start < k; start += TILE) {
        tile_a[y][x] = row < m && start + x < k ? a[row * k + start + x] : 0;
        tile_b[y][x] = start + y < k && column < n ? b[(start + y) * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += tile_a[y][i] * tile_b[i][x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

static int run()
{
    const int M = 67, N = 93, K = 45;
    std::vector<float> a = random_values<float>(M * K, 16), b = random_values<float>(K * N, 16);
    std::vector<float> expected(M * N, 0.0f); /* small integers: exact in any order */
    for (int row = 0; row < M; row++)
        for (int column = 0; column < N; column++)
            for (int i = 0; i < K; i++)
                expected[row * N + column] += a[row * K + i] * b[i * N + column];

    float *device_a = device_copy(a), *device_b = device_copy(b);
    float *device_c = device_array<float>(M * N);
    dim3 block(TILE, TILE), grid(blocks_for(N, TILE), blocks_for(M, TILE));
    multiply_naive<<<grid, block>>>(device_a, device_b, device_c, M, N, K);
    CUDA_LAUNCHED();
    expect_same("naive", host_copy(device_c, M * N), expected);

    CUDA(cudaMemset(device_c, 0, M * N * sizeof(float)));
    multiply_tiled<<<grid, block>>>(device_a, device_b, device_c, M, N, K);
    CUDA_LAUNCHED();
    expect_same("tiled", host_copy(device_c, M * N), expected);
    return right("matrix multiply %dx%d by %dx%d, naive and tiled", M, K, K, N);
}
} // namespace matrix_multiply

/* Votes of a warp's lanes: any, all, ballot, match; also of the lanes that remain active when
 * others take another branch. */
namespace votes
{
static const unsigned ALL = 0xffffffff;

struct answers {
    int any, all;
    unsigned ballot, match_any, match_all, active, among_odd;
    int count_before, all_same;
};

static __global__ void ask(answers *out, const int *value)
{
    int lane = threadIdx.x % 32;
    int mine = value[threadIdx.x];
    answers a;
    a.any = __any_sync(ALL, mine > 90);
    a.all = __all_sync(ALL, mine < 90);
    a.ballot = __ballot_sync(ALL, mine % 3 == 0);
    a.match_any = __match_any_sync(ALL, mine % 5);
    a.match_all = __match_all_sync(ALL, mine / 100, &a.all_same);
    a.count_before = __popc(a.ballot & ((1u << lane) - 1));
    a.active = ALL;
    a.among_odd = 0;
    if (lane & 1) {
        a.active = __activemask();
        a.among_odd = __ballot_sync(0xaaaaaaaa, mine > 50);
    }
    out[threadIdx.x] = a;
}

static int run()
{
    const int N = 256;
    std::vector<int> value = random_values<int>(N, 100);
    value[40] = 100; /* one warp does not agree */
    answers *device = device_array<answers>(N);
    ask<<<1, N>>>(device, device_copy(value));
    CUDA_LAUNCHED();
    std::vector<answers> got = host_copy(device, N);

    for (int i = 0; i < N; i++) {
        answers e = {0, 1, 0, 0, ALL, 0, 0, 0, 1};
        for (int lane = 0, first = i / 32 * 32; lane < 32; lane++) {
            int v = value[first + lane];
            e.any |= v > 90;
            e.all &= v < 90;
            e.ballot |= (v % 3 == 0 ? 1u : 0) << lane;
            e.match_any |= (v % 5 == value[i] % 5 ? 1u : 0) << lane;
            e.all_same &= v / 100 == value[first] / 100;
            e.among_odd |= (i & lane & 1 && v > 50 ? 1u : 0) << lane;
        }
        for (int lane = 0; lane < i % 32; lane++) e.count_before += e.ballot >> lane & 1;
        EXPECT(!got[i].any == !e.any && !got[i].all == !e.all);
        EXPECT(got[i].ballot == e.ballot && got[i].count_before == e.count_before);
        EXPECT(got[i].match_any == e.match_any);
        EXPECT(!got[i].all_same == !e.all_same);
        EXPECT(got[i].match_all == (e.all_same ? ALL : 0));
        EXPECT(got[i].among_odd == e.among_odd);
        EXPECT(got[i].active >> i % 32 & 1); /* the other active lanes are not defined */
    }
    return right("votes of %d lanes", N);
}
} // namespace votes

/* All four shuffles with all widths, for types of every size, redux on the GPUs that have it, and a
 * broadcast by ballot. */
namespace warp_shuffles
{
static const unsigned ALL = 0xffffffff;
static const int KINDS = 4;

template <typename T> static __global__ void shuffle(const T *in, T *out, int delta, int width)
{
    int lane = threadIdx.x;
    T value = in[lane];
    out[lane] = __shfl_up_sync(ALL, value, delta, width);
    out[32 + lane] = __shfl_down_sync(ALL, value, delta, width);
    out[64 + lane] = __shfl_xor_sync(ALL, value, delta, width);
    out[96 + lane] = __shfl_sync(ALL, value, delta, width);
}

/* The lane that a lane's value comes from: the lane itself if that lane is outside its part. */
static int source(int kind, int lane, int delta, int width)
{
    int first = lane / width * width, from = lane;
    if (kind == 0 && lane - delta >= first) from = lane - delta;
    if (kind == 1 && lane + delta < first + width) from = lane + delta;
    if (kind == 2 && (lane ^ delta) < first + width) from = lane ^ delta;
    if (kind == 3) from = first + delta % width;
    return from;
}

template <typename T> static void try_type(const char *name)
{
    std::vector<T> in(32), expected(KINDS * 32);
    for (T &value : in) value = (T)(next_random() * 1.25);
    T *device_in = device_copy(in), *out = device_array<T>(KINDS * 32);
    for (int width = 1; width <= 32; width *= 2)
        for (int delta = 0; delta < 32; delta += 3) {
            shuffle<T><<<1, 32>>>(device_in, out, delta, width);
            CUDA_LAUNCHED();
            for (int i = 0; i < KINDS * 32; i++)
                expected[i] = in[source(i / 32, i % 32, delta, width)];
            expect_same(name, host_copy(out, KINDS * 32), expected);
        }
}

static __global__ void reduce(const int *in, int *out)
{
    int value = in[threadIdx.x], lane = threadIdx.x % 32;
#if __CUDA_ARCH__ >= 800
    int sum = __reduce_add_sync(ALL, value), least = __reduce_min_sync(ALL, value);
    unsigned both = __reduce_xor_sync(ALL, (unsigned)value);
#else
    int sum = value, least = value;
    unsigned both = value;
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_xor_sync(ALL, sum, step);
        least = min(least, __shfl_xor_sync(ALL, least, step));
        both ^= __shfl_xor_sync(ALL, both, step);
    }
#endif
    /* The value of the last lane that has an odd one. */
    int last = 31 - __clz(__ballot_sync(ALL, value & 1));
    int odd = __shfl_sync(ALL, value, last);
    if (lane == 0) out[0] = sum, out[1] = least, out[2] = both, out[3] = odd;
}

static int run()
{
    try_type<int>("int");
    try_type<unsigned long long>("unsigned long long");
    try_type<float>("float");
    try_type<double>("double");

    std::vector<int> in = random_values<int>(32, 1000), expected = {0, 1000, 0, 0};
    for (int &value : in) {
        value -= 400;
        expected[0] += value;
        expected[1] = value < expected[1] ? value : expected[1];
        expected[2] ^= value;
        if (value & 1) expected[3] = value;
    }
    int *out = device_array<int>(4);
    reduce<<<1, 32>>>(device_copy(in), out);
    CUDA_LAUNCHED();
    expect_same("reduction", host_copy(out, 4), expected);
    return right("shuffles of four types, all widths");
}
} // namespace warp_shuffles

/* Every atomic function on integers, in global and in shared memory, by many threads on one word
 * each. The results do not depend on the order of the threads. */
namespace atomics
{
static const int BLOCKS = 4, THREADS = 160;
enum { ADD, SUB, MAX, MIN, AND, OR, XOR, INC, DEC, EXCHANGE, SWAP, WORDS };

static __device__ void all_kinds(int *word, int i)
{
    atomicAdd(&word[ADD], i);
    atomicSub(&word[SUB], i);
    atomicMax(&word[MAX], i);
    atomicMin(&word[MIN], -i);
    atomicAnd(&word[AND], ~(1 << i % 31));
    atomicOr(&word[OR], 1 << i % 31);
    atomicXor(&word[XOR], i * 77);
    atomicInc((unsigned *)&word[INC], 16);                  /* 0, 1, … 16, 0, 1, … */
    atomicDec((unsigned *)&word[DEC], 16);                  /* 0, 16, 15, … 0, 16, … */
    atomicAdd(&word[EXCHANGE], atomicExch(&word[SWAP], i)); /* all i but the last add up */
}

static __global__ void in_global(int *word)
{
    all_kinds(word, blockIdx.x * blockDim.x + threadIdx.x);
}

static __global__ void in_shared(int *word)
{
    __shared__ int mine[WORDS];
    if (threadIdx.x < WORDS) mine[threadIdx.x] = threadIdx.x == AND ? -1 : 0;
    __syncthreads();
    all_kinds(mine, threadIdx.x);
    __syncthreads();
    if (threadIdx.x < WORDS) word[threadIdx.x] = mine[threadIdx.x];
}

/* A maximum of doubles, for which CUDA has no atomic: compare and swap until no other thread was
 * faster. */
static __global__ void max_by_cas(double *max, unsigned long long *sum)
{
    double mine = (threadIdx.x * 37 + blockIdx.x * 11) % 101 * 0.5;
    unsigned long long *word = (unsigned long long *)max, old = *word, seen;
    do {
        seen = old;
        if (__longlong_as_double(seen) >= mine) break;
        old = atomicCAS(word, seen, __double_as_longlong(mine));
    } while (old != seen);
    atomicAdd(sum, 0x100000001ull);
}

static std::vector<int> expected(int threads)
{
    std::vector<int> word(WORDS, 0);
    word[AND] = -1;
    for (int i = 0; i < threads; i++) {
        word[ADD] += i, word[SUB] -= i, word[MAX] = i, word[MIN] = -i;
        word[AND] &= ~(1 << i % 31), word[OR] |= 1 << i % 31, word[XOR] ^= i * 77;
    }
    word[INC] = threads % 17;
    word[DEC] = (17 - threads % 17) % 17;
    return word;
}

static void check(const char *what, std::vector<int> got, int threads)
{
    std::vector<int> word = expected(threads);
    got[EXCHANGE] += got[SWAP]; /* each i occurs once, in any order */
    got[SWAP] = 0;
    word[EXCHANGE] = word[ADD];
    expect_same(what, got, word);
}

static int run()
{
    std::vector<int> start(WORDS, 0);
    start[AND] = -1;
    int *word = device_copy(start);
    in_global<<<BLOCKS, THREADS>>>(word);
    CUDA_LAUNCHED();
    check("global", host_copy(word, WORDS), BLOCKS * THREADS);
    in_shared<<<1, THREADS>>>(word);
    CUDA_LAUNCHED();
    check("shared", host_copy(word, WORDS), THREADS);

    double *max = device_copy(std::vector<double>(1, 0.0));
    unsigned long long *sum = device_copy(std::vector<unsigned long long>(1, 0));
    max_by_cas<<<BLOCKS, THREADS>>>(max, sum);
    CUDA_LAUNCHED();
    EXPECT(host_copy(max, 1)[0] == 50);
    EXPECT(host_copy(sum, 1)[0] == 0x100000001ull * BLOCKS * THREADS);
    return right("eleven atomic functions in global and shared memory");
}
} // namespace atomics

/* Atomic sums of float, double, half2 and pairs of words; the scopes _block and _system;
 * cuda::atomic_ref. The elements are small integers, so sums are exact in any order. */
namespace atomics_float
{
struct sums {
    float floats;
    double doubles;
    __half2 halves;
    float of_block;
    unsigned long long of_system;
    unsigned relaxed;
    int largest;
};

static __global__ void add_up(sums *sum)
{
    __shared__ float of_block;
    if (threadIdx.x == 0) of_block = 0;
    __syncthreads();
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&sum->floats, (float)(i % 8));
    atomicAdd(&sum->doubles, i * 0.25);
    atomicAdd(&sum->halves, __floats2half2_rn(1, i % 2));
    atomicAdd_block(&of_block, 2.0f);
    atomicAdd_system(&sum->of_system, (unsigned long long)i << 20);
    cuda::atomic_ref<unsigned, cuda::thread_scope_device>(sum->relaxed)
        .fetch_add(i, cuda::std::memory_order_relaxed);
    cuda::atomic_ref<int, cuda::thread_scope_device>(sum->largest).fetch_max((int)(i ^ 85));
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&sum->of_block, of_block);
}

static int run()
{
    const unsigned BLOCKS = 3, THREADS = 200, N = BLOCKS * THREADS;
    sums *device = device_array<sums>(1);
    CUDA(cudaMemset(device, 0, sizeof(sums)));
    add_up<<<BLOCKS, THREADS>>>(device);
    CUDA_LAUNCHED();
    sums got = host_copy(device, 1)[0];

    float floats = 0;
    double doubles = 0;
    unsigned total = 0;
    int largest = 0;
    for (unsigned i = 0; i < N; i++) {
        floats += i % 8;
        doubles += i * 0.25;
        total += i;
        largest = (int)(i ^ 85) > largest ? (int)(i ^ 85) : largest;
    }
    EXPECT(got.floats == floats);
    EXPECT(got.doubles == doubles);
    EXPECT(__low2float(got.halves) == N && __high2float(got.halves) == N / 2);
    EXPECT(got.of_block == 2.0f * N);
    EXPECT(got.of_system == (unsigned long long)total << 20);
    EXPECT(got.relaxed == total);
    EXPECT(got.largest == largest);
    return right("atomic sums of float, double, half2, and with scopes");
}
} // namespace atomics_float

/* Mutual exclusion on a GPU: a lock that every thread of every warp takes (threads of one warp too,
 * which needs independent scheduling), a ticket lock, and a barrier between blocks. */
namespace spin_lock
{
static const int THREADS = 64, BLOCKS = 8;

struct account {
    int lock, balance;
    unsigned next_ticket, serving;
    int total;
    unsigned arrived;
};

static __global__ void deposit(account *a)
{
    while (atomicCAS(&a->lock, 0, 1) != 0) __nanosleep(20);
    __threadfence();
    *(volatile int *)&a->balance = *(volatile int *)&a->balance + threadIdx.x % 4;
    __threadfence();
    atomicExch(&a->lock, 0);
}

static __global__ void with_tickets(account *a)
{
    if (threadIdx.x % 32) return;
    unsigned ticket = atomicAdd(&a->next_ticket, 1);
    while (*(volatile unsigned *)&a->serving != ticket) continue;
    __threadfence();
    a->total = a->total * 3 + 1; /* any order is right, but no update may be lost */
    __threadfence();
    *(volatile unsigned *)&a->serving = ticket + 1;
}

/* All blocks are on the GPU at once: they may wait for each other. */
static __device__ void wait_for_all(account *a, unsigned round)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&a->arrived, 1);
        while (*(volatile unsigned *)&a->arrived < round * gridDim.x) continue;
        __threadfence();
    }
    __syncthreads();
}

static __global__ void rotate(account *a, volatile int *values, int *out)
{
    int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned round = 1; round <= 3; round++) {
        int value = values[(i + 70) % n];
        wait_for_all(a, 2 * round - 1);
        values[i] = value;
        wait_for_all(a, 2 * round);
    }
    out[i] = values[i];
}

static int run()
{
    const int N = BLOCKS * THREADS;
    account *device = device_array<account>(1);
    CUDA(cudaMemset(device, 0, sizeof(account)));
    deposit<<<BLOCKS, THREADS>>>(device);
    CUDA_LAUNCHED();
    EXPECT(host_copy(device, 1)[0].balance == N / 4 * (0 + 1 + 2 + 3));

    with_tickets<<<BLOCKS, THREADS>>>(device);
    CUDA_LAUNCHED();
    int total = 0;
    for (int i = 0; i < N / 32; i++) total = total * 3 + 1;
    EXPECT(host_copy(device, 1)[0].total == total);

    std::vector<int> values = random_values<int>(N, 1000), expected(N);
    for (int i = 0; i < N; i++) expected[i] = values[(i + 3 * 70) % N];
    int *out = device_array<int>(N);
    rotate<<<BLOCKS, THREADS>>>(device, device_copy(values), out);
    CUDA_LAUNCHED();
    expect_same("rotated", host_copy(out, N), expected);
    return right("locks taken by %d threads, and a barrier of %d blocks", N, BLOCKS);
}
} // namespace spin_lock

/* Cooperative groups within a block: tiles of every size, scans and reductions over them, groups of
 * the active lanes, and of lanes with the same value. */
namespace cg_groups
{
namespace cg = cooperative_groups;

static const int THREADS = 128;

/* Generic over the group: a tile, or a coalesced group. */
template <typename Group> static __device__ int sum_of(Group group, int value)
{
    for (int step = group.size() / 2; step > 0; step /= 2) value += group.shfl_down(value, step);
    return group.shfl(value, 0);
}

template <int SIZE>
static __global__ void tiles(const int *in, int *sum, int *scan, int *most, unsigned *ballot)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<SIZE> tile = cg::tiled_partition<SIZE>(block);
    int i = block.thread_rank(), value = in[i];
    sum[i] = sum_of(tile, value);
    scan[i] = cg::inclusive_scan(tile, value);
    most[i] = cg::reduce(tile, value, cg::greater<int>());
    ballot[i] = tile.ballot(value % 2) |
                (tile.any(value > 95) ? 1u << 31 : 0) ^ (tile.all(value > 5) ? 1u << 30 : 0);
    block.sync();
}

template <int SIZE> static void try_tiles(const std::vector<int> &in, const int *device_in)
{
    int *out[3];
    for (int *&array : out) array = device_array<int>(THREADS);
    unsigned *device_ballot = device_array<unsigned>(THREADS);
    tiles<SIZE><<<1, THREADS>>>(device_in, out[0], out[1], out[2], device_ballot);
    CUDA_LAUNCHED();
    std::vector<int> sum(THREADS), scan(THREADS), most(THREADS);
    std::vector<unsigned> ballot(THREADS);
    for (int first = 0; first < THREADS; first += SIZE) {
        int total = 0, largest = 0;
        unsigned odd = 0, any = 0, all = 1u << 30;
        for (int i = first; i < first + SIZE; i++) {
            scan[i] = total += in[i];
            largest = in[i] > largest ? in[i] : largest;
            odd |= (unsigned)(in[i] % 2) << (i - first);
            if (in[i] > 95) any = 1u << 31;
            if (in[i] <= 5) all = 0;
        }
        for (int i = first; i < first + SIZE; i++) {
            sum[i] = total;
            most[i] = largest;
            ballot[i] = odd | any ^ all;
        }
    }
    expect_same("sum of a tile", host_copy(out[0], THREADS), sum);
    expect_same("scan of a tile", host_copy(out[1], THREADS), scan);
    expect_same("maximum of a tile", host_copy(out[2], THREADS), most);
    expect_same("ballot of a tile", host_copy(device_ballot, THREADS), ballot);
}

/* How many of the warp's threads took my branch, and which of them I am; how many share
 * my value. */
static __global__ void together(const int *in, int *size, int *rank, int *same)
{
    int i = threadIdx.x;
    cg::coalesced_group warp = cg::coalesced_threads();
    cg::coalesced_group agreeing = cg::labeled_partition(warp, in[i] % 3);
    same[i] = cg::reduce(agreeing, 1, cg::plus<int>());
    if (in[i] % 2) {
        cg::coalesced_group odd = cg::coalesced_threads();
        size[i] = odd.size();
        rank[i] = odd.thread_rank();
    }
}

static void try_together(const std::vector<int> &in, const int *device_in)
{
    int *out[3];
    for (int *&array : out) array = device_copy(std::vector<int>(THREADS, -1));
    together<<<1, THREADS>>>(device_in, out[0], out[1], out[2]);
    CUDA_LAUNCHED();
    std::vector<int> size(THREADS, -1), rank(THREADS, -1), same(THREADS, 0);
    for (int i = 0; i < THREADS; i++)
        for (int j = i / 32 * 32; j < i / 32 * 32 + 32; j++) {
            same[i] += in[j] % 3 == in[i] % 3;
            if (in[i] % 2 == 0) continue;
            size[i] += in[j] % 2 + (j == i);
            rank[i] += j < i ? in[j] % 2 : j == i;
        }
    expect_same("size", host_copy(out[0], THREADS), size);
    expect_same("rank", host_copy(out[1], THREADS), rank);
    expect_same("same", host_copy(out[2], THREADS), same);
}

static int run()
{
    std::vector<int> in = random_values<int>(THREADS, 100);
    int *device_in = device_copy(in);
    try_tiles<2>(in, device_in);
    try_tiles<8>(in, device_in);
    try_tiles<16>(in, device_in);
    try_together(in, device_in);
    return right("groups of threads within a block");
}
} // namespace cg_groups

PROGRAMS({"matrix_multiply", matrix_multiply::run}, {"votes", votes::run},
        {"warp_shuffles", warp_shuffles::run}, {"atomics", atomics::run},
        {"atomics_float", atomics_float::run}, {"spin_lock", spin_lock::run},
        {"cg_groups", cg_groups::run})
