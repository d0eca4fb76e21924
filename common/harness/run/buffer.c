#include "buffer.h"

#include "counters.h"
#include "common/step/cuda_check.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT ((size_t)256) /* what cudaMalloc promises */

static size_t round_up(size_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static size_t guard_for(size_t bytes, bool on_host)
{
    if (!on_host && !cuda_emulated()) return BUFFER_GUARD_MOST;
    if (!on_host && counters_checks() & EMU_CHECK_MEMORY) return 0;
    size_t guard = round_up(bytes);
    if (guard < BUFFER_GUARD_LEAST) return BUFFER_GUARD_LEAST;
    return guard < BUFFER_GUARD_MOST ? guard : BUFFER_GUARD_MOST;
}

size_t buffer_room(size_t bytes, size_t offset)
{
    return round_up(bytes + offset) + 2 * BUFFER_GUARD_MOST;
}

static int allocate(struct buffer *buffer, const char *what, struct fault *fault)
{
    if (buffer->on_host) {
        buffer->base = aligned_alloc(ALIGNMENT, round_up(buffer->whole));
        if (buffer->base) return 0;
        return fail(fault, EXIT_USAGE, "%zu bytes for %s do not fit into host memory.",
                    buffer->whole, what);
    }
    cudaError_t error = cudaMalloc((void **)&buffer->base, buffer->whole);
    if (error == cudaErrorMemoryAllocation)
        return fail(fault, EXIT_USAGE, "%zu bytes for %s do not fit into device memory.",
                    buffer->whole, what);
    CUDA_CHECK(fault, error);
    return 0;
}

int buffer_make(struct buffer *buffer, size_t bytes, size_t offset, bool on_host, const char *what,
                struct fault *fault)
{
    size_t guard = guard_for(bytes, on_host);
    *buffer = (struct buffer){.bytes = bytes, .front = guard + offset, .on_host = on_host};
    buffer->whole = guard ? round_up(buffer->front + bytes + guard) : offset + bytes;
    int code = allocate(buffer, what, fault);
    if (code) return code;
    CUDA_CHECK(fault, buffer_renew(buffer));
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

cudaError_t buffer_renew(const struct buffer *buffer)
{
    if (!buffer->on_host) {
        CUDA_TRY(cudaMemset(buffer->base, BUFFER_POISON, buffer->whole));
        return cudaDeviceSynchronize();
    }
    memset(buffer->base, BUFFER_POISON, buffer->whole);
    return cudaSuccess;
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

/* Copies the allocation, from byte `at` on, to host memory. */
static cudaError_t look(const struct buffer *buffer, size_t at, void *to, size_t bytes)
{
    if (!buffer->on_host) return cudaMemcpy(to, buffer->base + at, bytes, cudaMemcpyDeviceToHost);
    memcpy(to, buffer->base + at, bytes);
    return cudaSuccess;
}

/* The number of bytes, from the data on, that are still poison. */
static size_t poisoned(const unsigned char *guard, size_t bytes, bool is_front)
{
    size_t i = 0;
    /* Are all equal? memcmp compares many at a time. */
    if (guard[0] == BUFFER_POISON && !memcmp(guard, guard + 1, bytes - 1)) return bytes;
    while (i < bytes && guard[is_front ? bytes - 1 - i : i] == BUFFER_POISON) i++;
    return i;
}

/* The same of the guard that begins at byte `at` of the allocation. */
static size_t intact(const struct buffer *buffer, size_t at, size_t bytes, cudaError_t *error)
{
    if (*error || bytes == 0) return bytes;
    size_t count = bytes;
    unsigned char *guard = allocated(malloc(bytes));
    *error = look(buffer, at, guard, bytes);
    if (!*error) count = poisoned(guard, bytes, at == 0);
    free(guard);
    return count;
}

long buffer_damage(const struct buffer *buffer, cudaError_t *error)
{
    size_t end = buffer->front + buffer->bytes, rear = buffer->whole - end;
    *error = cudaSuccess;
    size_t left = intact(buffer, 0, buffer->front, error);
    size_t right = intact(buffer, end, rear, error);
    if (left == buffer->front && right == rear) return 0;
    if (right == rear || (left < buffer->front && left < right)) return -(long)(left + 1);
    return (long)(right + 1);
}
