/*
 * lines.cu — which bytes of a text belong to lines that contain a given text: what --grep keeps.
 *
 * The line of a byte is the number of newlines before it: an exclusive scan. So a thread that finds
 * the text at its byte knows which line to mark, and afterwards each byte asks for the mark of its
 * own line. Then the compaction of bytes is one of flags, like any other.
 */
#include "common/step/launch_kernel.cuh"
#include "step13.h"
#include "steps/12-pipeline/scan.h"

#define THREADS 256

static __global__ void find_newlines(int8_t *newline, const uint8_t *in, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) newline[i] = in[i] == '\n';
}

static __device__ uint8_t folded(uint8_t c, bool ignore_case)
{
    return ignore_case && c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

/* Marks the line of each place where the text begins. Several threads may mark the same line: all
 * write the same value. */
static __global__ void mark_lines(uint8_t *marks, const int32_t *line, const uint8_t *in, size_t n,
                                  struct search search)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || n - i < search.length) return;
    for (unsigned k = 0; k < search.length; k++)
        if (folded(in[i + k], search.ignore_case) != (uint8_t)search.text[k]) return;
    marks[line[i]] = 1;
}

static __global__ void flag_bytes(uint8_t *flags, const uint8_t *marks, const int32_t *line,
                                  size_t n, bool invert)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) flags[i] = (marks[line[i]] != 0) != invert;
}

static size_t scan_bytes(size_t n)
{
    size_t bytes = 0;
    scan_exclusive_i8(NULL, &bytes, NULL, NULL, n, NULL);
    return bytes;
}

/* The scan's workspace comes first, since it was cleared; then the lines, then the marks. */
size_t lines_workspace(size_t n)
{
    return padded(scan_bytes(n)) + padded(n * sizeof(int32_t)) + padded(n);
}

cudaError_t flag_lines(uint8_t *flags, const uint8_t *in, size_t n, const struct search *search,
                       void *workspace, size_t bytes, cudaStream_t stream)
{
    size_t scan = scan_bytes(n);
    int32_t *line = (int32_t *)((char *)workspace + padded(scan));
    uint8_t *marks = (uint8_t *)line + padded(n * sizeof *line);
    struct search wanted = *search;
    unsigned blocks = (unsigned)((n + THREADS - 1) / THREADS);

    if (n == 0) return cudaSuccess;
    if (n > INT32_MAX || bytes < lines_workspace(n)) return cudaErrorInvalidValue;
    if (search->ignore_case)
        for (unsigned k = 0; k < search->length; k++)
            if (search->text[k] >= 'A' && search->text[k] <= 'Z') wanted.text[k] += 'a' - 'A';

    // The flags' memory holds the newlines until they are scanned.
    CUDA_TRY(launch_kernel(find_newlines, blocks, THREADS, 0, stream, (int8_t *)flags, in, n));
    CUDA_TRY(scan_exclusive_i8(workspace, &scan, line, (const int8_t *)flags, n, stream));
    CUDA_TRY(cudaMemsetAsync(marks, 0, n, stream));
    CUDA_TRY(launch_kernel(mark_lines, blocks, THREADS, 0, stream, marks, line, in, n, wanted));
    return launch_kernel(flag_bytes, blocks, THREADS, 0, stream, flags, marks, line, n,
                         search->invert);
}
