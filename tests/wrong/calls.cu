/*
 * calls.cu — scans that are right in some calls and wrong in others, and scans that need what an
 * earlier call has left in the workspace.
 */
#include "elementwise.cuh"

#define BEFORE_THE_FIRST (-1) /* call 0 is captured and never runs, to see what it launches */

/* ---- by the number of the call --------------------------------------------------------------- */

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
static __global__ void write(float *at) { *at = 7; }

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

static __global__ void add_carries(float *out, const float *in, size_t n, const float *carries)
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
    add_carries<<<blocks, WRONG_BLOCK, 0, stream>>>((float *)out, (const float *)in, n,
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
