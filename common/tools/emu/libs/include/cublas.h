/* cublas.h — the interface of cuBLAS without handles, which the emulator does not offer. */
#error "cublas.h, the interface without handles, is not offered by the emulator: use cublas_v2.h"
