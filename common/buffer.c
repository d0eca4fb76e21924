#include "buffer.h"

#include "cuda_check.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 256 /* what cudaMalloc promises */

static size_t allocation_bytes(const struct buffer *buffer)
{
    return buffer->front + buffer->bytes + BUFFER_GUARD;
}

int buffer_make(struct buffer *buffer, size_t bytes, size_t offset, bool on_host, const char *what,
                struct fault *fault)
{
    *buffer = (struct buffer){.bytes = bytes, .front = BUFFER_GUARD + offset, .on_host = on_host};
    size_t whole = (allocation_bytes(buffer) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (on_host) {
        buffer->base = aligned_alloc(ALIGNMENT, whole);
        if (!buffer->base)
            return fail(fault, EXIT_USAGE, "%zu bytes for %s do not fit into host memory.", whole,
                        what);
        memset(buffer->base, BUFFER_POISON, allocation_bytes(buffer));
    } else {
        cudaError_t error = cudaMalloc((void **)&buffer->base, whole);
        if (error == cudaErrorMemoryAllocation)
            return fail(fault, EXIT_USAGE, "%zu bytes for %s do not fit into device memory.", whole,
                        what);
        CUDA_CHECK(fault, error);
        CUDA_CHECK(fault, cudaMemset(buffer->base, BUFFER_POISON, allocation_bytes(buffer)));
    }
    buffer->data = buffer->base + buffer->front;
    return 0;
}

void buffer_free(struct buffer *buffer)
{
    if (buffer->on_host)
        free(buffer->base);
    else if (buffer->base)
        cudaFree(buffer->base); /* nothing could be done about an error here */
    *buffer = (struct buffer){0};
}

cudaError_t buffer_poison(const struct buffer *buffer, cudaStream_t stream)
{
    if (!buffer->on_host)
        return cudaMemsetAsync(buffer->data, BUFFER_POISON, buffer->bytes, stream);
    memset(buffer->data, BUFFER_POISON, buffer->bytes);
    return cudaSuccess;
}

cudaError_t buffer_upload(const struct buffer *buffer, size_t at, const void *from, size_t bytes)
{
    unsigned char *to = (unsigned char *)buffer->data + at;
    if (!buffer->on_host) return cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice);
    memcpy(to, from, bytes);
    return cudaSuccess;
}

cudaError_t buffer_download(const struct buffer *buffer, size_t at, void *to, size_t bytes)
{
    const unsigned char *from = (const unsigned char *)buffer->data + at;
    if (!buffer->on_host) return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost);
    memcpy(to, from, bytes);
    return cudaSuccess;
}

long buffer_damage(const struct buffer *buffer, cudaError_t *error)
{
    unsigned char before[BUFFER_GUARD], behind[BUFFER_GUARD];
    const unsigned char *data = buffer->data;
    if (buffer->on_host) {
        memcpy(before, data - BUFFER_GUARD, BUFFER_GUARD);
        memcpy(behind, data + buffer->bytes, BUFFER_GUARD);
        *error = cudaSuccess;
    } else {
        *error = cudaMemcpy(before, data - BUFFER_GUARD, BUFFER_GUARD, cudaMemcpyDeviceToHost);
        if (!*error)
            *error = cudaMemcpy(behind, data + buffer->bytes, BUFFER_GUARD, cudaMemcpyDeviceToHost);
        if (*error) return 0;
    }
    for (long i = 0; i < BUFFER_GUARD; i++) {
        if (behind[i] != BUFFER_POISON) return i + 1;
        if (before[BUFFER_GUARD - 1 - i] != BUFFER_POISON) return -(i + 1);
    }
    return 0;
}
