/*
 * memory.cu — scans with right results but wrong accesses: they write outside of their buffers or
 * read memory that was never written.
 */
#include "elementwise.cuh"

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
