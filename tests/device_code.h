/* device_code.h — kernels with functions that stay functions, as device_code.cu launches them. */
#ifndef DEVICE_CODE_H
#define DEVICE_CODE_H

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Each launches one block of `threads` threads, which write out[thread], and returns the launch's error. */
cudaError_t launch_recursion(int *out, int threads);           /* fibonacci(thread % 12) */
cudaError_t launch_pointers(int *out, int threads);            /* by thread: t + 1, 2 t, t * t */
cudaError_t launch_virtual(int *out, int threads);             /* even: 3 t; odd: 100 - t */
cudaError_t launch_structures(int *out, int threads);          /* 10 t + 6 */
cudaError_t launch_barrier_in_function(int *out, int threads); /* the right neighbour's number */
cudaError_t launch_deep_recursion(int *out, int depth);        /* one thread */
/* Threads 0, 2, 4 … of `threads` print a line each; those whose number is `wrong` fail an assertion. */
cudaError_t launch_printing(int threads);
cudaError_t launch_assertion(int threads, int wrong);

#ifdef __cplusplus
}
#endif

#endif
