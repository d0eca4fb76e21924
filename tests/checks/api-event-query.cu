/* api-event-query.cu — an event that has not happened may be asked for. A destroyed one may not. */
#include "pair.h"

HOST
{
    cudaEvent_t event = new_event();
    if (!right) cudaEventDestroy(event);
    cudaEventQuery(event); /* memcheck: Program hit cudaError */
    if (right) cudaEventDestroy(event);
}
