/* scan_kogge_stone.cu — Kogge and Stone's circuit in place: each step reads, waits, and writes. An
 * inclusive scan of sections, one per block, with any associative operator. */
#include "check.cuh"

static const int SECTION = 256;

struct sum_of {
    static const int neutral = 0;
    __host__ __device__ int operator()(int a, int b) const { return a + b; }
};
struct larger_of {
    static const int neutral = INT32_MIN;
    __host__ __device__ int operator()(int a, int b) const { return a > b ? a : b; }
};
/* Not commutative: permutations of four items, two bits each. The right operand acts first. */
struct product_of {
    static const int neutral = 0xe4; /* 3 2 1 0 */
    __host__ __device__ int operator()(int a, int b) const
    {
        int product = 0;
        for (int i = 0; i < 4; i++) product |= (a >> 2 * (b >> 2 * i & 3) & 3) << 2 * i;
        return product;
    }
};

template <typename Operator> static __global__ void scan(const int *in, int *out, int n)
{
    __shared__ int s[SECTION];
    Operator combine;
    int t = threadIdx.x, i = blockIdx.x * SECTION + t;
    s[t] = i < n ? in[i] : Operator::neutral;
    for (int distance = 1; distance < SECTION; distance *= 2) {
        __syncthreads();
        int before = t >= distance ? s[t - distance] : Operator::neutral;
        __syncthreads();
        s[t] = combine(before, s[t]);
    }
    if (i < n) out[i] = s[t];
}

template <typename Operator> static void try_operator(const char *name, const std::vector<int> &in)
{
    int n = (int)in.size();
    std::vector<int> expected = in;
    for (int i = 0; i < n; i++)
        if (i % SECTION) expected[i] = Operator()(expected[i - 1], in[i]);
    int *device_in = device_copy(in), *out = device_array<int>(n);
    scan<Operator><<<blocks_for(n, SECTION), SECTION>>>(device_in, out, n);
    CUDA_LAUNCHED();
    expect_same(name, host_copy(out, n), expected);
}

int main()
{
    const int N = 5000;
    std::vector<int> in = random_values<int>(N, 1000);
    try_operator<sum_of>("sum", in);
    for (int &value : in) value -= 500;
    try_operator<larger_of>("maximum", in);
    const int generators[] = {0xe4, 0xe1, 0x39, 0xb4}; /* some permutations */
    for (int &value : in) value = generators[next_random() % 4];
    try_operator<product_of>("product of permutations", in);
    return right("Kogge-Stone scans with three operators");
}
