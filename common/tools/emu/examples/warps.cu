/* warps.cu — what lanes of a warp do together. Run: emu run warps.cu NAME, such as sum. */
#include "example.cuh"

#define ALL 0xffffffffu

/* The sum of a warp's 32 numbers, in five exchanges. */
__global__ void sum(int *out, const int *in)
{
    int value = in[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(ALL, value, d);
    out[threadIdx.x] = value;
}

/* How many lanes before this one have an odd number? */
__global__ void count_odd(int *out, const int *in)
{
    unsigned odd = __ballot_sync(ALL, in[threadIdx.x] % 2), lane = threadIdx.x % 32;
    out[threadIdx.x] = __popc(odd & ((1u << lane) - 1));
}

/* Lanes part, and meet again. */
__global__ void branch(int *out, const int *in)
{
    int value = in[threadIdx.x];
    if (value % 3 == 0) value *= 2;
    else value += 1;
    out[threadIdx.x] = value;
}

/* The running sums of a warp. */
__global__ void scan(int *out, const int *in)
{
    int value = in[threadIdx.x], lane = threadIdx.x % 32;
    for (int d = 1; d < 32; d *= 2) {
        int left = __shfl_up_sync(ALL, value, d);
        if (lane >= d) value += left;
    }
    out[threadIdx.x] = value;
}

PROGRAM(sum, i / 32 * 32 * 32 + 31 * 16)
PROGRAM(count_odd, i % 32 / 2)
PROGRAM(branch, i % 3 == 0 ? 2 * i : i + 1)
PROGRAM(scan, (i % 32 + 1) * (i / 32 * 32) + i % 32 * (i % 32 + 1) / 2)

int main(int argc, char **argv)
{
    static const struct program programs[] = {{"sum", run_sum},
                                              {"count_odd", run_count_odd},
                                              {"branch", run_branch},
                                              {"scan", run_scan}};
    return choose(argc, argv, programs, 4);
}
