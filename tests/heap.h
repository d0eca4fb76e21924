/* heap.h — launches the kernels of heap.cu. */
#ifndef HEAP_H
#define HEAP_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

cudaError_t launch_lists(int *out, int blocks, int threads);
cudaError_t launch_keep(int *out, int threads);
cudaError_t launch_look_and_free(int *out, int threads);
/* out[0]: how many blocks malloc gave; out[1]: did it give one when all were free again? */
cudaError_t launch_exhaust(int *out, size_t bytes);
enum { HEAP_TWICE, HEAP_INSIDE, HEAP_FOREIGN, HEAP_BEHIND, HEAP_FREED };
cudaError_t launch_wrong_heap(int *out, int what);
/* A pointer that malloc gave in launch_keep. */
cudaError_t address_of_kept(void **address);

#ifdef __cplusplus
}
#endif

#endif
