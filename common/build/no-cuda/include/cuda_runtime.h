/*
 * cuda_runtime.h — stands in for NVIDIA's where there is no toolkit, so that the labs' programs can
 * be built for COMPILER=own. They read headers that name these types, and use neither.
 */
#ifndef NO_CUDA_RUNTIME_H
#define NO_CUDA_RUNTIME_H

typedef int cudaError_t;
typedef struct CUstream_st *cudaStream_t;

#endif
