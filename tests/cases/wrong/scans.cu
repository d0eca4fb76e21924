/*
 * scans.cu — scans that are wrong on purpose. Most take the right sum from sum_between() and spoil
 * it in one way; macros define a kernel and the function that launches it.
 */
#include "common/step/cuda_check.h"
#include "wrong.h"

#include <math_constants.h>

/* in[first] + … + in[end-1] */
static __device__ float sum_between(const float *in, size_t first, size_t end)
{
    float sum = 0;
    for (size_t j = first; j < end; j++) sum += in[j];
    return sum;
}

static __device__ size_t index_of_thread(void)
{
    return (size_t)blockIdx.x * blockDim.x + threadIdx.x;
}

/* Block k takes the elements from k * WRONG_BLOCK on. */
#define BLOCK_START(i) ((i) / WRONG_BLOCK * WRONG_BLOCK)
#define IN_BLOCK(i, k) ((i) / WRONG_BLOCK == (k))
#define BLOCKS(n)      (((n) + WRONG_BLOCK - 1) / WRONG_BLOCK)

/* Defines the scan `name`, whose element i (of n) is computed by `body` from in, i and n, and
 * stored by a thread of its own. */
#define ELEMENTWISE(name, body) TYPED(name, float, float, body)

/* The same for elements of one type and sums of another. */
#define TYPED(name, element, sum, body)                                                            \
    static __global__ void name##_kernel(sum *out, const element *in, size_t n)                    \
    {                                                                                              \
        size_t i = index_of_thread();                                                              \
        if (i < n) out[i] = (body);                                                                \
    }                                                                                              \
    TYPED_SCAN(name, element, sum, BLOCKS(n), WRONG_BLOCK)

/* Defines the scan `name` as one launch of name_kernel. */
#define SCAN(name, blocks, threads) TYPED_SCAN(name, float, float, blocks, threads)

#define TYPED_SCAN(name, element, sum, blocks, threads)                                            \
    extern "C" cudaError_t name(void *out, const void *in, size_t n, int variant, void *workspace, \
                                cudaStream_t stream)                                               \
    {                                                                                              \
        (void)variant, (void)workspace;                                                            \
        name##_kernel<<<(unsigned)(blocks), (unsigned)(threads), 0, stream>>>(                     \
            (sum *)out, (const element *)in, n);                                                   \
        return cudaGetLastError();                                                                 \
    }

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

/* ---- wrong at a boundary: the first and the last elements ------------------------------------ */

static __global__ void first_unwritten_kernel(float *out, const float *in, size_t n)
{
    size_t i = index_of_thread();
    if (i > 0 && i < n) out[i] = sum_between(in, 0, i);
}
SCAN(first_unwritten, BLOCKS(n), WRONG_BLOCK)

/* ---- of blocks and warps --------------------------------------------------------------------- */

/* The first element of each block gets the value of the last element of the block before. */
ELEMENTWISE(first_of_each_block, sum_between(in, 0, i > 0 && i % WRONG_BLOCK == 0 ? i - 1 : i))

/* Blocks 1 and 2 are exchanged, or 2 is a copy of 1. */
ELEMENTWISE(blocks_swapped, sum_between(in, 0,
                                        IN_BLOCK(i, 1)   ? i + WRONG_BLOCK
                                        : IN_BLOCK(i, 2) ? i - WRONG_BLOCK
                                                         : i))

/* ---- of a tile that is not full -------------------------------------------------------------- */

#define FULL(n) ((n) / WRONG_BLOCK * WRONG_BLOCK)

static __global__ void tail_unwritten_kernel(float *out, const float *in, size_t n)
{
    size_t i = index_of_thread();
    if (i < FULL(n)) out[i] = sum_between(in, 0, i);
}
SCAN(tail_unwritten, BLOCKS(n), WRONG_BLOCK)

ELEMENTWISE(tail_without_carry, sum_between(in, i < FULL(n) ? 0 : FULL(n), i))

/* ---- of a number type that is too narrow ----------------------------------------------------- */

ELEMENTWISE(index_of_8_bits, sum_between(in, 0, (unsigned char)i))

/* A grid of at most 16 blocks, and no loop over the rest. */
static __global__ void grid_too_small_kernel(float *out, const float *in, size_t n)
{
    size_t i = index_of_thread();
    if (i < n) out[i] = sum_between(in, 0, i);
}
SCAN(grid_too_small, BLOCKS(n) < 16 ? BLOCKS(n) : 16, WRONG_BLOCK)

/* ---- of an alignment ------------------------------------------------------------------------- */

/* Pairs are loaded from the multiple of 8 at or before the array's start. */
static __global__ void misaligned_loads_kernel(float *out, const float *in, size_t n)
{
    const float *aligned = (const float *)((uintptr_t)in / sizeof(float2) * sizeof(float2));
    size_t i = index_of_thread();
    if (i < n) out[i] = sum_between(aligned, 0, i);
}
SCAN(misaligned_loads, BLOCKS(n), WRONG_BLOCK)

static __global__ void misaligned_stores_kernel(float *out, const float *in, size_t n)
{
    float *aligned = (float *)((uintptr_t)out / sizeof(float2) * sizeof(float2));
    size_t i = index_of_thread();
    if (i < n) aligned[i] = sum_between(in, 0, i);
}
SCAN(misaligned_stores, BLOCKS(n), WRONG_BLOCK)

/* ---- in place -------------------------------------------------------------------------------- */

static __global__ void scan_blocks(float *out, const float *in, size_t n)
{
    size_t first = (size_t)blockIdx.x * WRONG_BLOCK;
    float sum = 0;
    for (size_t i = first; i < n && i < first + WRONG_BLOCK; i++) {
        float x = in[i];
        out[i] = sum;
        sum += x;
    }
}

static __global__ void add_carries(float *out, const float *in, size_t n)
{
    for (size_t i = n; i-- > 0;) out[i] += sum_between(in, 0, BLOCK_START(i));
}

/* The second kernel sums the input again, which the first kernel has overwritten if the scan is in
 * place. */
extern "C" cudaError_t carries_in_place(void *out, const void *in, size_t n, int, void *,
                                        cudaStream_t stream)
{
    scan_blocks<<<(unsigned)BLOCKS(n), 1, 0, stream>>>((float *)out, (const float *)in, n);
    add_carries<<<1, 1, 0, stream>>>((float *)out, (const float *)in, n);
    return cudaGetLastError();
}

/* ---- wrong in how they convert numbers ------------------------------------------------------- */

ELEMENTWISE(sums_in_8_bits, (float)(signed char)(int)sum_between(in, 0, i))

template <typename sum, typename element> static __device__ sum sum_of(const element *in, size_t n)
{
    sum total = 0;
    for (size_t j = 0; j < n; j++) total += (sum)in[j];
    return total;
}

TYPED(bytes_in_8_bits, int8_t, int32_t, (sum_of<int8_t>(in, i)))
TYPED(longs_zero_extended, int64_t, int64_t, (int64_t)(uint32_t)(sum_of<int64_t>(in, i)))
TYPED(doubles_in_float, double, double, (double)(sum_of<float>(in, i)))

/* ---- numbers of one kind --------------------------------------------------------------------- */

static __device__ float sum_of_numbers(const float *in, size_t end)
{
    float sum = 0;
    for (size_t j = 0; j < end; j++) sum += isnan(in[j]) ? 0 : in[j];
    return sum;
}
ELEMENTWISE(nan_skipped, sum_of_numbers(in, i))

ELEMENTWISE(infinity_clamped, fminf(sum_between(in, 0, i), CUDART_MAX_NORMAL_F))

/* ---- right results, but accesses outside of their buffers or of memory that was never written  */

#define FAR ((256 << 10) / (int)sizeof(float)) /* 256 KiB, in elements */

/* ---- writes ---------------------------------------------------------------------------------- */

/* Right, in one thread and so also for large n. */
static __global__ void sequential_scan(float *out, const float *in, size_t n)
{
    float sum = 0;
    for (size_t i = 0; i < n; i++) {
        float x = in[i];
        out[i] = sum;
        sum += x;
    }
}

static __global__ void write(float *at) { *at = 7; }

/* Defines a scan that is right and writes one element elsewhere. */
#define WRITES(name, place)                                                                        \
    extern "C" cudaError_t name(void *out, const void *in, size_t n, int, void *workspace,         \
                                cudaStream_t stream)                                               \
    {                                                                                              \
        (void)workspace;                                                                           \
        sequential_scan<<<1, 1, 0, stream>>>((float *)out, (const float *)in, n);                  \
        write<<<1, 1, 0, stream>>>(place);                                                         \
        return cudaGetLastError();                                                                 \
    }

WRITES(far_past_the_end, (float *)out + n + FAR)
WRITES(before_the_input, (float *)in - 1)
WRITES(before_the_workspace, (float *)workspace - 1)

/* Writes that change nothing: the poison again, and a word that is written and restored. */
static __global__ void write_poison(float *at) { *(unsigned *)at = 0xFFFFFFFF; }

extern "C" cudaError_t rewrites_a_guard(void *out, const void *in, size_t n, int, void *,
                                        cudaStream_t stream)
{
    sequential_scan<<<1, 1, 0, stream>>>((float *)out, (const float *)in, n);
    write_poison<<<1, 1, 0, stream>>>((float *)out + n);
    return cudaGetLastError();
}

/* Memory beyond the input is loaded, but does not change the result. */
ELEMENTWISE(loads_beyond_the_input, sum_between(in, 0, i) + (in[i + 1] == 12345.5f ? 1 : 0))

/* ---- reads ----------------------------------------------------------------------------------- */

ELEMENTWISE(reads_beyond_the_input, sum_between(in, 1, i + 1) + in[0] - in[i] + 0 * in[n])
ELEMENTWISE(adds_to_the_output, out[i] + sum_between(in, 0, i))

/* Assumes that the workspace holds zeros. */
static __global__ void adds_to_the_workspace_kernel(float *out, const float *in, size_t n,
                                                    float *workspace)
{
    size_t i = index_of_thread();
    if (i >= n) return;
    workspace[i] += sum_between(in, 0, i);
    out[i] = workspace[i];
}

extern "C" cudaError_t adds_to_the_workspace(void *out, const void *in, size_t n, int,
                                             void *workspace, cudaStream_t stream)
{
    adds_to_the_workspace_kernel<<<(unsigned)BLOCKS(n), WRONG_BLOCK, 0, stream>>>(
        (float *)out, (const float *)in, n, (float *)workspace);
    return cudaGetLastError();
}

/* ---- right in some calls and wrong in others ------------------------------------------------- */

#define BEFORE_THE_FIRST (-1) /* call 0 is captured and never runs, to see what it launches */

/* Defines a scan whose call number `call` (1, 2, …) leaves out the first element where `condition`
 * holds. */
#define IN_CALLS(name, condition)                                                                  \
    extern "C" cudaError_t name(void *out, const void *in, size_t n, int variant, void *workspace, \
                                cudaStream_t stream)                                               \
    {                                                                                              \
        static int call = BEFORE_THE_FIRST;                                                        \
        call++;                                                                                    \
        scan_fn *scan = (condition) ? without_first : right_scan;                                  \
        return scan(out, in, n, variant, workspace, stream);                                       \
    }

ELEMENTWISE(without_first, sum_between(in, i ? 1 : 0, i))

IN_CALLS(in_first_call, call == 1)
IN_CALLS(in_second_call, call == 2)
IN_CALLS(in_third_call, call == 3)

/* The device counts the runs itself; one of them loses a race. */
static __device__ unsigned runs;

static __global__ void lose_race(float *out, const float *in, size_t n, unsigned period)
{
    size_t i = index_of_thread();
    bool lost = runs % period == period - 1 && i == n / 2;
    if (i < n) out[i] = sum_between(in, 0, lost ? i - 1 : i);
}

static __global__ void count_run(void) { runs++; }

#define LOSES_RACE(name, period)                                                                   \
    extern "C" cudaError_t name(void *out, const void *in, size_t n, int, void *,                  \
                                cudaStream_t stream)                                               \
    {                                                                                              \
        lose_race<<<(unsigned)BLOCKS(n), WRONG_BLOCK, 0, stream>>>((float *)out,                   \
                                                                   (const float *)in, n, period);  \
        count_run<<<1, 1, 0, stream>>>();                                                          \
        return cudaGetLastError();                                                                 \
    }

LOSES_RACE(loses_fourth_race, 4)
LOSES_RACE(loses_twelfth_race, 12)

/* The third call also writes before the output, or into the input. */
#define IN_THIRD_CALL_WRITES(name, place)                                                          \
    extern "C" cudaError_t name(void *out, const void *in, size_t n, int variant, void *workspace, \
                                cudaStream_t stream)                                               \
    {                                                                                              \
        static int call = BEFORE_THE_FIRST;                                                        \
        if (++call == 3) write<<<1, 1, 0, stream>>>((place));                                      \
        return right_scan(out, in, n, variant, workspace, stream);                                 \
    }

IN_THIRD_CALL_WRITES(in_third_call_past_the_end, (float *)out + n)
IN_THIRD_CALL_WRITES(in_third_call_into_the_workspaces_guard, (float *)workspace - 1)

/* After it has read the input. */
extern "C" cudaError_t in_third_call_modifies_input(void *out, const void *in, size_t n,
                                                    int variant, void *workspace,
                                                    cudaStream_t stream)
{
    static int call = BEFORE_THE_FIRST;
    CUDA_TRY(right_scan(out, in, n, variant, workspace, stream));
    if (++call == 3) write<<<1, 1, 0, stream>>>((float *)in + n - 1);
    return cudaGetLastError();
}

/* ---- by data of an earlier call -------------------------------------------------------------- */

/* The carries in the workspace are those of the first call. */
static __global__ void fill_carries(float *carries, const float *in, size_t n)
{
    size_t k = threadIdx.x;
    carries[k] = sum_between(in, 0, k * WRONG_BLOCK < n ? k * WRONG_BLOCK : n);
}

static __global__ void add_old_carries(float *out, const float *in, size_t n, const float *carries)
{
    size_t i = index_of_thread();
    if (i < n) out[i] = carries[i / WRONG_BLOCK] + sum_between(in, BLOCK_START(i), i);
}

extern "C" cudaError_t stale_workspace(void *out, const void *in, size_t n, int, void *workspace,
                                       cudaStream_t stream)
{
    static bool is_filled;
    unsigned blocks = (unsigned)BLOCKS(n);
    if (!is_filled)
        fill_carries<<<1, blocks, 0, stream>>>((float *)workspace, (const float *)in, n);
    is_filled = true;
    add_old_carries<<<blocks, WRONG_BLOCK, 0, stream>>>((float *)out, (const float *)in, n,
                                                    (const float *)workspace);
    return cudaGetLastError();
}

/* ---- launches that fail ---------------------------------------------------------------------- */

#define TOO_MANY_THREADS 4096

static __global__ void nothing(void) {}

/* Makes a call that the scan does not need, and which fails. */
extern "C" cudaError_t failure_unreported(void *out, const void *in, size_t n, int variant,
                                          void *workspace, cudaStream_t stream)
{
    CUDA_TRY(right_scan(out, in, n, variant, workspace, stream));
    nothing<<<1, TOO_MANY_THREADS, 0, stream>>>();
    return cudaSuccess;
}

extern "C" cudaError_t failure_unreported_in_third_call(void *out, const void *in, size_t n,
                                                        int variant, void *workspace,
                                                        cudaStream_t stream)
{
    static int call = BEFORE_THE_FIRST;
    CUDA_TRY(right_scan(out, in, n, variant, workspace, stream));
    if (++call == 3) nothing<<<1, TOO_MANY_THREADS, 0, stream>>>();
    return cudaSuccess;
}

/* Its launch fails, and it clears the error. */
extern "C" cudaError_t failure_taken_back(void *, const void *, size_t, int, void *,
                                          cudaStream_t stream)
{
    nothing<<<1, TOO_MANY_THREADS, 0, stream>>>();
    (void)cudaGetLastError();
    return cudaSuccess;
}
