/* warp_shuffles.cu — all four shuffles with all widths, for types of every size, redux on the GPUs
 * that have it, and a broadcast by ballot. */
#include "check.cuh"

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

int main()
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
