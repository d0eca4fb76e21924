/*
 * reverse.h — reverses an array, so that a scan has other numbers to add at the same place.
 */
#ifndef REVERSE_H
#define REVERSE_H

#include <cuda_runtime.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* reverse.cu: element i of n changes places with element n-1-i, on the device, in the stream.
 * Elements are of 1, 2, 4 or 8 bytes and aligned to their size; otherwise cudaErrorInvalidValue. */
cudaError_t reverse_on_device(void *array, size_t element_bytes, size_t n, cudaStream_t);

/* Writes the elements of one host array into another, in reverse. */
void reverse_on_host(void *to, const void *from, size_t element_bytes, size_t n);

#ifdef __cplusplus
}
#endif

#endif
