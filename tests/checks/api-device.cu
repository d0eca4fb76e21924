/* api-device.cu — devices are counted from 0, so their count is not a device's
 * number. */
#include "pair.h"

int main(int argc, char **argv)
{
    int devices;
    cudaGetDeviceCount(&devices);
    int last = is_right(argc, argv) ? devices - 1 : devices;
    cudaSetDevice(last); /* memcheck: cudaErrorInvalidDevice */
    cudaFree(zeros<int>(64));
}
