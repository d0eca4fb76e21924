/*
 * nccl.h — a stand-in for the functions of NCCL that step 17 calls, for ranks on one machine whose
 * GPUs are emulated: NCCL itself needs real ones. As in NCCL, the exchange is a kernel in the
 * stream, which waits for the other ranks without a limit until ncclCommAbort.
 */
#ifndef NCCL_H
#define NCCL_H

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { ncclSuccess, ncclSystemError } ncclResult_t;
typedef enum { ncclChar } ncclDataType_t;
typedef struct ncclComm *ncclComm_t;
typedef struct {
    char internal[128];
} ncclUniqueId;

const char *ncclGetErrorString(ncclResult_t);
ncclResult_t ncclGetUniqueId(ncclUniqueId *);
ncclResult_t ncclCommInitRank(ncclComm_t *, int ranks, ncclUniqueId, int rank);
ncclResult_t ncclAllGather(const void *from, void *to, size_t count, ncclDataType_t, ncclComm_t,
                           cudaStream_t);
ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t *);
ncclResult_t ncclCommAbort(ncclComm_t);
ncclResult_t ncclCommDestroy(ncclComm_t);

#ifdef __cplusplus
}
#endif

#endif
