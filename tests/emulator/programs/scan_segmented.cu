/* scan_segmented.cu — a scan that starts again at every flag: pairs (flag, value) with an operator
 * that stops at flags, in warps by shuffles, then across a block, then across blocks one by one. */
#include "check.cuh"

static const int THREADS = 256;
static const unsigned ALL = 0xffffffff;

struct item {
    int flag, value;
};

static __device__ item combine(item left, item right)
{
    return {left.flag | right.flag, right.flag ? right.value : left.value + right.value};
}

static __device__ item scan_warp(item mine)
{
    int lane = threadIdx.x % 32;
    for (int distance = 1; distance < 32; distance *= 2) {
        item before = {__shfl_up_sync(ALL, mine.flag, distance),
                       __shfl_up_sync(ALL, mine.value, distance)};
        if (lane >= distance) mine = combine(before, mine);
    }
    return mine;
}

/* One block goes over the whole array and carries what came before. */
static __global__ void scan(const int *flag, const int *in, int *out, int n)
{
    __shared__ item warp_total[THREADS / 32], carry;
    int t = threadIdx.x, warp = t / 32;
    if (t == 0) carry = {0, 0};
    for (int start = 0; start < n; start += THREADS) {
        int i = start + t;
        item mine = i < n ? item{flag[i], in[i]} : item{0, 0};
        mine = scan_warp(mine);
        if (t % 32 == 31) warp_total[warp] = mine;
        __syncthreads();
        item before = carry;
        for (int w = 0; w < warp; w++) before = combine(before, warp_total[w]);
        mine = combine(before, mine);
        if (i < n) out[i] = mine.value;
        __syncthreads();
        if (t == THREADS - 1) carry = mine;
        __syncthreads();
    }
}

int main()
{
    const int N = 7777;
    std::vector<int> flag(N), in = random_values<int>(N, 100), expected(N);
    for (int i = 0; i < N; i++) {
        flag[i] = next_random() % (i < 3000 ? 5 : 700) == 0; /* short segments, then long ones */
        expected[i] = in[i] + (i > 0 && !flag[i] ? expected[i - 1] : 0);
    }
    int *out = device_array<int>(N);
    scan<<<1, THREADS>>>(device_copy(flag), device_copy(in), out, N);
    CUDA_LAUNCHED();
    expect_same("out", host_copy(out, N), expected);
    return right("segmented scan of %d ints", N);
}
