/* api-attribute.cu — the host asks for an attribute that does not exist, and uses the variable
 * that was not set. */
#include "pair.h"

int main(int argc, char **argv)
{
    int processors = 0;
    cudaDeviceAttr asked =
        is_right(argc, argv) ? cudaDevAttrMultiProcessorCount : (cudaDeviceAttr)9999;
    cudaDeviceGetAttribute(&processors, asked, 0); /* memcheck: cudaErrorInvalidValue */
}
