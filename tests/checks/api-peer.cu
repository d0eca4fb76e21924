/* api-peer.cu — a device is made a peer of itself. */
#include "pair.h"

int main(int argc, char **argv)
{
    /* memcheck: cudaErrorPeerAccessUnsupported */
    if (!is_right(argc, argv)) cudaDeviceEnablePeerAccess(0, 0);
    cudaFree(zeros<int>(64));
}
