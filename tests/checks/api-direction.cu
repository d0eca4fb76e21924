/* api-direction.cu — a copy to the host is called a copy to the device. */
#include "pair.h"

int main(int argc, char **argv)
{
    int host[64], *in = zeros<int>(64);
    cudaMemcpyKind kind = is_right(argc, argv) ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
    cudaMemcpy(host, in, sizeof host, kind); /* memcheck: cudaErrorInvalidValue */
    cudaFree(in);
}
