/*
 * scans.cu — scans that are wrong on purpose. Most take the right sum from sum_between() and spoil
 * it in one way; macros define a kernel and the function that launches it.
 */
#include "common/step/cuda_check.h"
#include "wrong.h"

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
    WRONG_SCAN(name)                                                                               \
    {                                                                                              \
        name##_kernel<<<(unsigned)(blocks), (unsigned)(threads), 0, stream>>>(                     \
            (sum *)out, (const element *)in, n);                                                   \
        return cudaGetLastError();                                                                 \
    }

ELEMENTWISE(right_scan, sum_between(in, 0, i))

/* ---- wrong values ---------------------------------------------------------------------------- */

ELEMENTWISE(swapped_neighbours, sum_between(in, 0, (i ^ 1) < n ? i ^ 1 : i))
ELEMENTWISE(one_carry_dropped, sum_between(in, IN_BLOCK(i, 3) ? BLOCK_START(i) : 0, i))
ELEMENTWISE(all_carries_dropped, sum_between(in, BLOCK_START(i), i))

static __global__ void nothing_written_kernel(float *, const float *, size_t) {}
SCAN(nothing_written, 1, 1)

template <typename sum, typename element> static __device__ sum sum_of(const element *in, size_t n)
{
    sum total = 0;
    for (size_t j = 0; j < n; j++) total += (sum)in[j];
    return total;
}

TYPED(bytes_in_8_bits, int8_t, int32_t, (sum_of<int8_t>(in, i)))
TYPED(doubles_in_float, double, double, (double)(sum_of<float>(in, i)))

/* Real numbers, a million: step 9's scan, without one element of the input. */
extern "C" scan_fn step09_scan;

static __global__ void leave_out(float *out, const float *in, size_t n)
{
    size_t i = index_of_thread();
    if (i >= n / 2 && i < n) out[i] -= in[n / 2 - 1];
}

WRONG_SCAN(input_left_out)
{
    CUDA_TRY(step09_scan(out, in, n, variant, workspace, stream));
    leave_out<<<(unsigned)BLOCKS(n), WRONG_BLOCK, 0, stream>>>((float *)out, (const float *)in, n);
    return cudaGetLastError();
}

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

/* ---- wrong in place, and where the arrays are displaced -------------------------------------- */

/* If `out` is `in`, element 0 is overwritten before the other elements need it. */
static __global__ void wrong_in_place_kernel(float *out, const float *in, size_t n)
{
    out[0] = 0;
    for (size_t i = 1; i < n; i++) out[i] = out[i - 1] + in[i - 1];
}
SCAN(wrong_in_place, 1, 1)

/* Pairs are loaded from the multiple of 8 at or before the array's start. */
#define ALIGNED(in) ((const float *)((uintptr_t)(in) / sizeof(float2) * sizeof(float2)))
ELEMENTWISE(misaligned_loads, sum_between(ALIGNED(in), 0, i))

/* ---- memory that is not the scan's, or was never written ------------------------------------- */

/* A CUDA error, not a wrong result. */
ELEMENTWISE(writes_far_away, (out[i + ((size_t)1 << 40)] = in[i]))

/* Does not change the result. */
ELEMENTWISE(loads_beyond_the_input, sum_between(in, 0, i) + (in[i + 1] == 12345.5f ? 1 : 0))

ELEMENTWISE(adds_to_the_output, out[i] + sum_between(in, 0, i))

/* Assumes that the workspace holds zeros. */
static __global__ void add_to_workspace(float *out, const float *in, size_t n, float *workspace)
{
    size_t i = index_of_thread();
    if (i >= n) return;
    workspace[i] += sum_between(in, 0, i);
    out[i] = workspace[i];
}

WRONG_SCAN(adds_to_the_workspace)
{
    add_to_workspace<<<(unsigned)BLOCKS(n), WRONG_BLOCK, 0, stream>>>(
        (float *)out, (const float *)in, n, (float *)workspace);
    return cudaGetLastError();
}

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

#define BEFORE_THE_FIRST (-1) /* call 0 is captured and never runs, to see what it launches */

/* Defines a scan that is right and writes one element elsewhere, in those of its calls number
 * `call` (1, 2, …) for which `condition` holds. */
#define WRITES(name, condition, place)                                                             \
    WRONG_SCAN(name)                                                                               \
    {                                                                                              \
        static int call = BEFORE_THE_FIRST;                                                        \
        call++;                                                                                    \
        sequential_scan<<<1, 1, 0, stream>>>((float *)out, (const float *)in, n);                  \
        if (condition) write<<<1, 1, 0, stream>>>(place);                                          \
        return cudaGetLastError();                                                                 \
    }

#define FAR ((256 << 10) / (int)sizeof(float)) /* 256 KiB, in elements */

WRITES(one_past_the_end, true, (float *)out + n)
WRITES(far_past_the_end, true, (float *)out + n + FAR)
WRITES(before_the_input, true, (float *)in - 1)
WRITES(before_the_workspace, true, (float *)workspace - 1)
WRITES(beyond_the_workspace, true, (float *)workspace + n)
WRITES(modifies_input, true, (float *)in + 7)
WRITES(in_third_call_past_the_end, call == 3, (float *)out + n)
WRITES(in_third_call_into_the_workspaces_guard, call == 3, (float *)workspace - 1)
WRITES(in_third_call_modifies_input, call == 3, (float *)in + n - 1)

/* ---- right in some calls and wrong in others ------------------------------------------------- */

/* Defines a scan that is `wrong` in some of its calls. */
#define IN_CALLS(name, condition, wrong)                                                           \
    WRONG_SCAN(name)                                                                               \
    {                                                                                              \
        static int call = BEFORE_THE_FIRST;                                                        \
        call++;                                                                                    \
        scan_fn *scan = (condition) ? wrong : right_scan;                                          \
        return scan(out, in, n, variant, workspace, stream);                                       \
    }

ELEMENTWISE(without_first, sum_between(in, i ? 1 : 0, i))

IN_CALLS(in_first_call, call == 1, without_first)
IN_CALLS(in_second_call, call == 2, without_first)
IN_CALLS(in_third_call, call == 3, without_first)
IN_CALLS(first_run_only, call > 1, nothing_written)

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
    WRONG_SCAN(name)                                                                               \
    {                                                                                              \
        lose_race<<<(unsigned)BLOCKS(n), WRONG_BLOCK, 0, stream>>>((float *)out,                   \
                                                                   (const float *)in, n, period);  \
        count_run<<<1, 1, 0, stream>>>();                                                          \
        return cudaGetLastError();                                                                 \
    }

LOSES_RACE(loses_fourth_race, 4)
LOSES_RACE(loses_twelfth_race, 12)

/* ---- launches that fail ---------------------------------------------------------------------- */

#define TOO_MANY_THREADS 4096

static __global__ void nothing(void) {}

/* Defines a scan that makes a call, in some of its own calls, that it does not need, and which
 * fails. */
#define FAILS(name, condition)                                                                     \
    WRONG_SCAN(name)                                                                               \
    {                                                                                              \
        static int call = BEFORE_THE_FIRST;                                                        \
        call++;                                                                                    \
        CUDA_TRY(right_scan(out, in, n, variant, workspace, stream));                              \
        if (condition) nothing<<<1, TOO_MANY_THREADS, 0, stream>>>();                              \
        return cudaSuccess;                                                                        \
    }

FAILS(failure_unreported, true)
FAILS(failure_unreported_in_third_call, call == 3)

/* ---- right results, but work that is not timed, or not on the stream: on the CPU ------------- */

static float *pinned;
static size_t pinned_n;

static void scan_pinned(void *unused)
{
    float sum = 0;
    (void)unused;
    for (size_t i = 0; i < pinned_n; i++) {
        float x = pinned[i];
        pinned[i] = sum;
        sum += x;
    }
}

static cudaError_t allocate_pinned(size_t n)
{
    pinned_n = n;
    return pinned ? cudaSuccess : cudaMallocHost((void **)&pinned, n * sizeof *pinned);
}

WRONG_SCAN(on_cpu)
{
    CUDA_TRY(allocate_pinned(n));
    CUDA_TRY(cudaMemcpy(pinned, in, n * sizeof *pinned, cudaMemcpyDeviceToHost));
    scan_pinned(NULL);
    return cudaMemcpy(out, pinned, n * sizeof *pinned, cudaMemcpyHostToDevice);
}

/* The same, with a host function in the stream. */
WRONG_SCAN(on_cpu_by_host_function)
{
    size_t bytes = n * sizeof *pinned;
    CUDA_TRY(allocate_pinned(n));
    CUDA_TRY(cudaMemcpyAsync(pinned, in, bytes, cudaMemcpyDeviceToHost, stream));
    CUDA_TRY(cudaLaunchHostFunc(stream, scan_pinned, NULL));
    return cudaMemcpyAsync(out, pinned, bytes, cudaMemcpyHostToDevice, stream);
}

/* ---- allocation and waiting ------------------------------------------------------------------ */

WRONG_SCAN(allocates)
{
    void *mine;
    CUDA_TRY(cudaMalloc(&mine, n * sizeof(float)));
    CUDA_TRY(cudaMemcpyAsync(mine, in, n * sizeof(float), cudaMemcpyDeviceToDevice, stream));
    CUDA_TRY(right_scan(out, mine, n, variant, NULL, stream));
    return cudaFree(mine);
}

WRONG_SCAN(waits_for_the_stream)
{
    CUDA_TRY(right_scan(out, in, n, variant, workspace, stream));
    return cudaStreamSynchronize(stream);
}

/* ---- other streams --------------------------------------------------------------------------- */

WRONG_SCAN(in_default_stream)
{
    return right_scan(out, in, n, variant, workspace, cudaStreamLegacy);
}

static cudaStream_t own_stream(void)
{
    static cudaStream_t own;
    if (!own) (void)cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    return own;
}

WRONG_SCAN(in_own_stream) { return right_scan(out, in, n, variant, workspace, own_stream()); }

/* The first of two parts has its own stream: only the workspace shows it. */
WRONG_SCAN(part_in_own_stream)
{
    CUDA_TRY(right_scan(workspace, in, n, variant, NULL, own_stream()));
    return cudaMemcpyAsync(out, workspace, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
}
