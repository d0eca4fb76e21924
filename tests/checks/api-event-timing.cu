/* api-event-timing.cu — the host asks for the time between events that were created without
 * timing. */
#include "pair.h"

int main(int argc, char **argv)
{
    unsigned flags = is_right(argc, argv) ? cudaEventDefault : cudaEventDisableTiming;
    float ms;
    cudaEvent_t begin, end;
    cudaEventCreateWithFlags(&begin, flags);
    cudaEventCreateWithFlags(&end, flags);
    cudaEventRecord(begin);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&ms, begin, end); /* memcheck: cudaErrorInvalidResourceHandle */
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
}
