/* cub.cuh — for the programs that call CUB's device-wide functions. */
#ifndef CUB_CUH
#define CUB_CUH

#include "check.cuh"

/* CUB's two calls: the first only returns how much temporary memory the second one needs. `call`
 * names them `temporary` and `bytes`. */
#define WITH_TEMPORARY(call)                                                                       \
    do {                                                                                           \
        void *temporary = NULL;                                                                    \
        size_t bytes = 0;                                                                          \
        CUDA(call);                                                                                \
        CUDA(cudaMalloc(&temporary, bytes));                                                       \
        CUDA(call);                                                                                \
        CUDA_LAUNCHED();                                                                           \
        CUDA(cudaFree(temporary));                                                                 \
    } while (0)

#endif
