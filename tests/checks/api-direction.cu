/* api-direction.cu — a copy to the host is called a copy to the device. */
#include "pair.h"

HOST
{
    int host[64], *in = zeros<int>(64);
    cudaMemcpyKind kind = right ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
    cudaMemcpy(host, in, sizeof host, kind); /* memcheck: cudaErrorInvalidValue */
}
