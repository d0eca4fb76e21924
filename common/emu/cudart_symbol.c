/*
 * cudart_symbol.c — __device__ and __constant__ variables, which the program names by the address
 * of their host shadows.
 */
#include "cudart.h"

/* The device address `offset` bytes into a variable that has room for `bytes` there. */
static int locate(const void *symbol, size_t bytes, size_t offset, void **address)
{
    emu_addr base;
    size_t size;
    cudaError_t error = cudart_variable(symbol, &base, &size);
    if (error != cudaSuccess) return error;
    if (offset > size || bytes > size - offset) return cudaErrorInvalidValue;
    *address = (void *)(base + offset);
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes,
                                         size_t offset, enum cudaMemcpyKind kind)
{
    RETURN_IF_FAULTY();
    void *to;
    int error = locate(symbol, bytes, offset, &to);
    if (error == cudaSuccess) error = cudart_copy(to, from, bytes, kind);
    return cudart_done(error);
}

cudaError_t CUDARTAPI cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes,
                                           size_t offset, enum cudaMemcpyKind kind)
{
    RETURN_IF_FAULTY();
    void *from;
    int error = locate(symbol, bytes, offset, &from);
    if (error == cudaSuccess) error = cudart_copy(to, from, bytes, kind);
    return cudart_done(error);
}

cudaError_t CUDARTAPI cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes,
                                              size_t offset, enum cudaMemcpyKind kind,
                                              cudaStream_t stream)
{
    RETURN_IF_FAULTY();
    if (!cudart_is_stream(stream)) return cudart_done(cudaErrorInvalidResourceHandle);
    return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
}

cudaError_t CUDARTAPI cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes,
                                                size_t offset, enum cudaMemcpyKind kind,
                                                cudaStream_t stream)
{
    RETURN_IF_FAULTY();
    if (!cudart_is_stream(stream)) return cudart_done(cudaErrorInvalidResourceHandle);
    return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind);
}

cudaError_t CUDARTAPI cudaGetSymbolAddress(void **address, const void *symbol)
{
    RETURN_IF_FAULTY();
    if (address == NULL) return cudart_done(cudaErrorInvalidValue);
    return cudart_done(locate(symbol, 0, 0, address));
}

cudaError_t CUDARTAPI cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
    RETURN_IF_FAULTY();
    emu_addr address;
    if (bytes == NULL) return cudart_done(cudaErrorInvalidValue);
    return cudart_done(cudart_variable(symbol, &address, bytes));
}

ALSO_PTDS(cudaMemcpyToSymbol);
ALSO_PTDS(cudaMemcpyFromSymbol);
ALSO_PTSZ(cudaMemcpyToSymbolAsync);
ALSO_PTSZ(cudaMemcpyFromSymbolAsync);
