/*
 * symbol.c — copies from and to __device__ and __constant__ variables. The program names a variable
 * by the address of its host shadow.
 */
#include "cudart.h"

cudaError_t cudart_locate(const void *symbol, size_t bytes, size_t offset, void **address)
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
    cudaError_t error = cudart_locate(symbol, bytes, offset, &to);
    if (error != cudaSuccess) return cudart_done(error);
    return cudaMemcpy(to, from, bytes, kind);
}

cudaError_t CUDARTAPI cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes,
                                           size_t offset, enum cudaMemcpyKind kind)
{
    RETURN_IF_FAULTY();
    void *from;
    cudaError_t error = cudart_locate(symbol, bytes, offset, &from);
    if (error != cudaSuccess) return cudart_done(error);
    return cudaMemcpy(to, from, bytes, kind);
}

cudaError_t CUDARTAPI cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes,
                                              size_t offset, enum cudaMemcpyKind kind,
                                              cudaStream_t stream)
{
    RETURN_IF_FAULTY();
    void *to;
    cudaError_t error = cudart_locate(symbol, bytes, offset, &to);
    if (error != cudaSuccess) return cudart_done(error);
    return cudaMemcpyAsync(to, from, bytes, kind, stream);
}

cudaError_t CUDARTAPI cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes,
                                                size_t offset, enum cudaMemcpyKind kind,
                                                cudaStream_t stream)
{
    RETURN_IF_FAULTY();
    void *from;
    cudaError_t error = cudart_locate(symbol, bytes, offset, &from);
    if (error != cudaSuccess) return cudart_done(error);
    return cudaMemcpyAsync(to, from, bytes, kind, stream);
}

cudaError_t CUDARTAPI cudaGetSymbolAddress(void **address, const void *symbol)
{
    RETURN_IF_FAULTY();
    if (address == NULL) return cudart_done(cudaErrorInvalidValue);
    return cudart_done(cudart_locate(symbol, 0, 0, address));
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
