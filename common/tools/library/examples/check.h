/* check.h — CHECK(call) ends a program with a sentence if a call of CUDA or the library fails. */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call) check(call, #call)
static void check(cudaError_t error, const char *call)
{
    if (error == cudaSuccess) return;
    fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(error));
    exit(1);
}
