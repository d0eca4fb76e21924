/*
 * scans.cu — scans that are wrong on purpose. Most take the right sum from sum_between()
 * (elementwise.cuh) and spoil it in one way.
 */
#include "elementwise.cuh"

ELEMENTWISE(right_scan, sum_between(in, 0, i))

/* ---- the wrong element ----------------------------------------------------------------------- */

ELEMENTWISE(shifted_right, sum_between(in, 0, i ? i - 1 : 0))
ELEMENTWISE(shifted_left, i + 1 < n ? sum_between(in, 0, i + 1) : sum_between(in, 0, i))
ELEMENTWISE(inclusive, sum_between(in, 0, i + 1))
ELEMENTWISE(swapped_neighbours, sum_between(in, 0, (i ^ 1) < n ? i ^ 1 : i))
ELEMENTWISE(zeros, 0 * in[i])
ELEMENTWISE(copied, in[i])

/* The total is right, as is the result of every input that reads the same backwards. */
ELEMENTWISE(wrong_order, sum_between(in, n - i, n))

/* ---- wrong in a few places ------------------------------------------------------------------- */

#define AT 99 /* where */

ELEMENTWISE(last_element, sum_between(in, 0, i) + (i == n - 1))
ELEMENTWISE(nan_at_one, i == AT ? nanf("") : sum_between(in, 0, i))
ELEMENTWISE(element_left_out, sum_between(in, 0, i) - (i > AT ? in[AT] : 0))

/* A verifier that adds signed differences finds zero. */
ELEMENTWISE(errors_that_cancel, sum_between(in, 0, i) + (i == AT) - (i == AT + 1))

/* Right in every 64th element. */
ELEMENTWISE(right_where_sampled, i % 64 ? sum_between(in, 0, i) + 1 : sum_between(in, 0, i))

ELEMENTWISE(minus_zero, sum_between(in, 0, i) == 0 ? -0.0f : sum_between(in, 0, i))

/* ---- blocks and carries; block k has the elements from k * WRONG_BLOCK on -------------------- */

ELEMENTWISE(one_carry_dropped, sum_between(in, IN_BLOCK(i, 3) ? BLOCK_START(i) : 0, i))
ELEMENTWISE(all_carries_dropped, sum_between(in, BLOCK_START(i), i))
ELEMENTWISE(carry_added_twice,
            sum_between(in, 0, i) + (IN_BLOCK(i, 2) ? sum_between(in, 0, BLOCK_START(i)) : 0))

/* The sum of block 2 is missing from block 3 on. */
ELEMENTWISE(one_block_sum_dropped, i < 3 * WRONG_BLOCK ? sum_between(in, 0, i)
                                                       : sum_between(in, 0, 2 * WRONG_BLOCK) +
                                                             sum_between(in, 3 * WRONG_BLOCK, i))

/* The error has nothing to do with the block's carry. */
ELEMENTWISE(one_block_raised, sum_between(in, 0, i) + (IN_BLOCK(i, 3) ? 1 : 0))

/* ---- real numbers, a million: wrong by an element or less ------------------------------------ */

extern "C" scan_fn step09_scan;

#define SPOILED_BLOCK 2048 /* elements of step 9's blocks */
#define HALF          (n / 2)

/* Defines the scan `name`: step 9's, and then `body` spoils out[i] for each i. */
#define SPOILED(name, body)                                                                        \
    static __global__ void name##_kernel(float *out, const float *in, size_t n)                    \
    {                                                                                              \
        size_t i = index_of_thread();                                                              \
        if (i < n) body;                                                                           \
    }                                                                                              \
    extern "C" cudaError_t name(void *out, const void *in, size_t n, int variant, void *workspace, \
                                cudaStream_t stream)                                               \
    {                                                                                              \
        CUDA_TRY(step09_scan(out, in, n, variant, workspace, stream));                             \
        name##_kernel<<<(unsigned)(n / WRONG_BLOCK), WRONG_BLOCK, 0, stream>>>(                    \
            (float *)out, (const float *)in, n);                                                   \
        return cudaGetLastError();                                                                 \
    }

SPOILED(input_left_out, out[i] -= i >= HALF ? in[HALF - 1] : 0)
SPOILED(block_raised, out[i] += i / SPOILED_BLOCK == 20 ? 0.3f : 0)

/* ---- right for some inputs ------------------------------------------------------------------- */

ELEMENTWISE(double_add, 2 * sum_between(in, 0, i))

/* Does not write the elements beyond the largest power of two within n. */
static __global__ void right_for_powers_of_two_kernel(float *out, const float *in, size_t n)
{
    size_t i = index_of_thread(), power = 1;
    while (2 * power <= n) power *= 2;
    if (i < power) out[i] = sum_between(in, 0, i);
}
SCAN(right_for_powers_of_two, (n + WRONG_BLOCK - 1) / WRONG_BLOCK, WRONG_BLOCK)

/* The sums keep 8 bits of their 24, as bfloat16 does: too few for the bound of a float scan. */
ELEMENTWISE(few_bits, __uint_as_float(__float_as_uint(sum_between(in, 0, i)) & 0xFFFF0000u))

/* ---- memory that is not the scan's ----------------------------------------------------------- */

static __global__ void nothing_written_kernel(float *, const float *, size_t) {}
SCAN(nothing_written, 1, 1)

static __global__ void one_past_the_end_kernel(float *out, const float *in, size_t n)
{
    size_t i = index_of_thread();
    if (i <= n) out[i] = sum_between(in, 0, i);
}
SCAN(one_past_the_end, n / WRONG_BLOCK + 1, WRONG_BLOCK)

static __global__ void one_before_the_start_kernel(float *out, const float *in, size_t n)
{
    size_t i = index_of_thread();
    if (i < n) out[i] = sum_between(in, 0, i);
    if (i == 0) out[-1] = 0;
}
SCAN(one_before_the_start, n / WRONG_BLOCK + 1, WRONG_BLOCK)

/* Writes far beyond any guard: a CUDA error, not a wrong result. */
ELEMENTWISE(writes_far_away, (out[i + ((size_t)1 << 40)] = in[i]))

/* Right, but then element `at` of the input is changed. */
static __global__ void modifies_input_kernel(float *out, float *in, size_t n, size_t at)
{
    for (size_t i = 0; i < n; i++) out[i] = i ? out[i - 1] + in[i - 1] : 0;
    in[at]++;
}

extern "C" cudaError_t modifies_input(void *out, const void *in, size_t n, int, void *,
                                      cudaStream_t stream)
{
    modifies_input_kernel<<<1, 1, 0, stream>>>((float *)out, (float *)in, n, 7);
    return cudaGetLastError();
}

extern "C" cudaError_t beyond_the_workspace(void *out, const void *in, size_t n, int variant,
                                            void *workspace, cudaStream_t stream)
{
    CUDA_TRY(right_scan(workspace, in, n + 1, variant, NULL, stream));
    return cudaMemcpyAsync(out, workspace, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
}

/* ---- barriers and buffers -------------------------------------------------------------------- */

#define WARP 32

/*
 * No barrier between the threads' writes and their reads. Under some schedules the result is right.
 * Here it is wrong, because each warp writes later than the next warp: a long loop stands for other
 * work.
 */
static __global__ void missing_barrier_kernel(float *out, const float *in, size_t n)
{
    __shared__ volatile float temp[WRONG_BLOCK];
    unsigned i = threadIdx.x, mirrored = WRONG_BLOCK - 1 - i;
    temp[i] = 0;
    __syncthreads();
    for (volatile unsigned wait = 0; wait < 100 * (i / WARP); wait++) {}
    temp[mirrored] = mirrored < n ? in[mirrored] : 0;
    /* __syncthreads() is missing here */
    float sum = 0;
    for (unsigned j = 0; j < i; j++) sum += temp[j];
    if (i < n) out[i] = sum;
}
SCAN(missing_barrier, 1, WRONG_BLOCK)

/* Right, unless `out` is `in`: then element 0 is overwritten before the other elements need it. */
static __global__ void wrong_in_place_kernel(float *out, const float *in, size_t n)
{
    out[0] = 0;
    for (size_t i = 1; i < n; i++) out[i] = out[i - 1] + in[i - 1];
}
SCAN(wrong_in_place, 1, 1)

/* Writes in its first call and never again: the timed calls do nothing. */
extern "C" cudaError_t first_run_only(void *out, const void *in, size_t n, int variant,
                                      void *workspace, cudaStream_t stream)
{
    static int call = -1; // call 0 is captured and never runs
    if (++call > 1) return cudaSuccess;
    return right_scan(out, in, n, variant, workspace, stream);
}
