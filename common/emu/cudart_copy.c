/*
 * cudart_copy.c — copies and fills. The Async forms are the same: work is done at the call.
 */
#include "cudart.h"

#include <string.h>

static bool is_device(const void *pointer) { return cudart_owner(pointer) != NULL; }

/* Is all of [pointer, pointer+bytes) memory that belongs to a device or is mapped into all? */
static bool is_reachable(const void *pointer, size_t bytes)
{
    const struct device *owner = cudart_owner(pointer);
    struct emu *emu = owner != NULL ? owner->emu : emu_runtime();
    emu_addr base, address = (emu_addr)pointer;
    size_t size;
    return emu_find(emu, address, &base, &size) && bytes <= size - (address - base);
}

/* Is `kind` true of the two pointers? Mapped and managed memory passes as either side. */
static bool kind_fits(const void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    switch (kind) {
    case cudaMemcpyHostToHost: return !is_device(to) && !is_device(from);
    case cudaMemcpyHostToDevice: return is_reachable(to, bytes) && !is_device(from);
    case cudaMemcpyDeviceToHost: return !is_device(to) && is_reachable(from, bytes);
    case cudaMemcpyDeviceToDevice: return is_reachable(to, bytes) && is_reachable(from, bytes);
    case cudaMemcpyDefault: return true;
    default: return false;
    }
}

int cudart_copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    if (bytes == 0) return cudaSuccess;
    if (to == NULL || from == NULL || !kind_fits(to, from, bytes, kind))
        return cudaErrorInvalidValue;

    const struct device *target = cudart_owner(to), *source = cudart_owner(from);
    if (target != NULL && source != NULL)
        return emu_copy_peer(target->emu, (emu_addr)to, source->emu, (emu_addr)from, bytes);
    if (target != NULL) return emu_write(target->emu, (emu_addr)to, from, bytes);
    if (source != NULL) return emu_read(source->emu, to, (emu_addr)from, bytes);
    memmove(to, from, bytes);
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    RETURN_IF_FAULTY();
    return cudart_done(cudart_copy(to, from, bytes, kind));
}

cudaError_t CUDARTAPI cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                                      enum cudaMemcpyKind kind, cudaStream_t stream)
{
    RETURN_IF_FAULTY();
    if (!cudart_is_stream(stream)) return cudart_done(cudaErrorInvalidResourceHandle);
    return cudart_done(cudart_copy(to, from, bytes, kind));
}

cudaError_t CUDARTAPI cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                   size_t width, size_t height, enum cudaMemcpyKind kind)
{
    RETURN_IF_FAULTY();
    if (width > to_pitch || width > from_pitch) return cudart_done(cudaErrorInvalidPitchValue);
    int error = cudaSuccess;
    for (size_t row = 0; row < height && error == cudaSuccess; row++)
        error = cudart_copy((char *)to + row * to_pitch, (const char *)from + row * from_pitch,
                            width, kind);
    return cudart_done(error);
}

cudaError_t CUDARTAPI cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from,
                                        size_t from_pitch, size_t width, size_t height,
                                        enum cudaMemcpyKind kind, cudaStream_t stream)
{
    RETURN_IF_FAULTY();
    if (!cudart_is_stream(stream)) return cudart_done(cudaErrorInvalidResourceHandle);
    return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}

static int fill(void *to, int value, size_t bytes)
{
    if (bytes == 0) return cudaSuccess;
    if (!is_reachable(to, bytes)) return cudaErrorInvalidValue;
    const struct device *owner = cudart_owner(to);
    if (owner != NULL) return emu_fill(owner->emu, (emu_addr)to, (unsigned char)value, bytes);
    memset(to, value, bytes);
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaMemset(void *to, int value, size_t bytes)
{
    RETURN_IF_FAULTY();
    return cudart_done(fill(to, value, bytes));
}

cudaError_t CUDARTAPI cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    RETURN_IF_FAULTY();
    if (!cudart_is_stream(stream)) return cudart_done(cudaErrorInvalidResourceHandle);
    return cudart_done(fill(to, value, bytes));
}

cudaError_t CUDARTAPI cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
    RETURN_IF_FAULTY();
    if (width > pitch) return cudart_done(cudaErrorInvalidValue);
    int error = cudaSuccess;
    for (size_t row = 0; row < height && error == cudaSuccess; row++)
        error = fill((char *)to + row * pitch, value, width);
    return cudart_done(error);
}

cudaError_t CUDARTAPI cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width,
                                        size_t height, cudaStream_t stream)
{
    RETURN_IF_FAULTY();
    if (!cudart_is_stream(stream)) return cudart_done(cudaErrorInvalidResourceHandle);
    return cudaMemset2D(to, pitch, value, width, height);
}

ALSO_PTDS(cudaMemcpy);
ALSO_PTSZ(cudaMemcpyAsync);
ALSO_PTDS(cudaMemcpy2D);
ALSO_PTSZ(cudaMemcpy2DAsync);
ALSO_PTDS(cudaMemset);
ALSO_PTSZ(cudaMemsetAsync);
ALSO_PTDS(cudaMemset2D);
ALSO_PTSZ(cudaMemset2DAsync);
