/*
 * breaches.c — scans whose results are right and which break the contract of step.h in another way:
 * they end the program.
 */
#include "scans.h"

#include <pthread.h>
#include <stdlib.h>

/* ---- ends of the program --------------------------------------------------------------------- */

#define ENDS(name, end)                                                                            \
    cudaError_t name(void *out, const void *in, size_t n, int variant, void *workspace,            \
                     cudaStream_t stream)                                                          \
    {                                                                                              \
        (void)out, (void)in, (void)n, (void)variant, (void)workspace, (void)stream;                \
        end;                                                                                       \
        return cudaSuccess;                                                                        \
    }

ENDS(exits, exit(0))
ENDS(exits_quickly, quick_exit(0))
ENDS(aborts, abort())
ENDS(ends_its_thread, pthread_exit(NULL))

static void *exit_in_thread(void *unused)
{
    (void)unused;
    exit(0);
}

static void begin_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, exit_in_thread, NULL) == 0) pthread_join(thread, NULL);
}
ENDS(exits_in_a_thread, begin_thread())

cudaError_t exits_in_third_call(void *out, const void *in, size_t n, int variant, void *workspace,
                                cudaStream_t stream)
{
    static unsigned call;
    if (++call == 3) exit(0);
    return right_scan(out, in, n, variant, workspace, stream);
}
