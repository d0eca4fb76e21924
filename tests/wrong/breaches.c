/*
 * breaches.c — scans whose results are right and which break the contract of step.h in another way:
 * their work is not timed, or not on the stream, or it ends the program.
 */
#include "common/step/cuda_check.h"
#include "scans.h"

#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- on the CPU ------------------------------------------------------------------------------ */

static void scan_on_cpu(float *numbers, size_t n)
{
    float sum = 0;
    for (size_t i = 0; i < n; i++) {
        float x = numbers[i];
        numbers[i] = sum;
        sum += x;
    }
}

static cudaError_t copy_and_scan(float *host, void *out, const void *in, size_t n)
{
    size_t bytes = n * sizeof *host;
    CUDA_TRY(cudaMemcpy(host, in, bytes, cudaMemcpyDeviceToHost));
    scan_on_cpu(host, n);
    return cudaMemcpy(out, host, bytes, cudaMemcpyHostToDevice);
}

cudaError_t on_cpu(void *out, const void *in, size_t n, int variant, void *workspace,
                   cudaStream_t stream)
{
    (void)variant, (void)workspace, (void)stream;
    float *host = malloc(n * sizeof *host);
    if (!host) return cudaErrorMemoryAllocation;
    cudaError_t error = copy_and_scan(host, out, in, n);
    free(host);
    return error;
}

/* The same by copies in the given stream. */
static cudaError_t copy_and_scan_in(float *host, void *out, const void *in, size_t n,
                                    cudaStream_t stream)
{
    size_t bytes = n * sizeof *host;
    CUDA_TRY(cudaMemcpyAsync(host, in, bytes, cudaMemcpyDeviceToHost, stream));
    CUDA_TRY(cudaStreamSynchronize(stream));
    scan_on_cpu(host, n);
    CUDA_TRY(cudaMemcpyAsync(out, host, bytes, cudaMemcpyHostToDevice, stream));
    return cudaStreamSynchronize(stream);
}

cudaError_t on_cpu_in_stream(void *out, const void *in, size_t n, int variant, void *workspace,
                             cudaStream_t stream)
{
    (void)variant, (void)workspace;
    float *host = malloc(n * sizeof *host);
    if (!host) return cudaErrorMemoryAllocation;
    cudaError_t error = copy_and_scan_in(host, out, in, n, stream);
    free(host);
    return error;
}

/* The same, with a host function in the stream. */
static float *pinned;
static size_t pinned_n;

static void scan_pinned(void *unused)
{
    (void)unused;
    scan_on_cpu(pinned, pinned_n);
}

cudaError_t on_cpu_by_host_function(void *out, const void *in, size_t n, int variant,
                                    void *workspace, cudaStream_t stream)
{
    (void)variant, (void)workspace;
    size_t bytes = n * sizeof *pinned;
    if (!pinned) CUDA_TRY(cudaMallocHost((void **)&pinned, bytes));
    pinned_n = n;
    CUDA_TRY(cudaMemcpyAsync(pinned, in, bytes, cudaMemcpyDeviceToHost, stream));
    CUDA_TRY(cudaLaunchHostFunc(stream, scan_pinned, NULL));
    return cudaMemcpyAsync(out, pinned, bytes, cudaMemcpyHostToDevice, stream);
}

/* A copy to the host and back that changes nothing. */
cudaError_t detour_over_host(void *out, const void *in, size_t n, int variant, void *workspace,
                             cudaStream_t stream)
{
    size_t bytes = n * sizeof *pinned;
    if (!pinned) CUDA_TRY(cudaMallocHost((void **)&pinned, bytes));
    CUDA_TRY(cudaMemcpyAsync(pinned, in, bytes, cudaMemcpyDeviceToHost, stream));
    CUDA_TRY(cudaMemcpyAsync(workspace, pinned, bytes, cudaMemcpyHostToDevice, stream));
    return right_scan(out, workspace, n, variant, NULL, stream);
}

/* ---- allocation and waiting ------------------------------------------------------------------ */

cudaError_t allocates(void *out, const void *in, size_t n, int variant, void *workspace,
                      cudaStream_t stream)
{
    (void)workspace;
    void *mine;
    CUDA_TRY(cudaMalloc(&mine, n * sizeof(float)));
    CUDA_TRY(cudaMemcpyAsync(mine, in, n * sizeof(float), cudaMemcpyDeviceToDevice, stream));
    CUDA_TRY(right_scan(out, mine, n, variant, NULL, stream));
    return cudaFree(mine);
}

cudaError_t allocates_in_stream(void *out, const void *in, size_t n, int variant, void *workspace,
                                cudaStream_t stream)
{
    (void)workspace;
    void *mine;
    CUDA_TRY(cudaMallocAsync(&mine, n * sizeof(float), stream));
    CUDA_TRY(cudaMemcpyAsync(mine, in, n * sizeof(float), cudaMemcpyDeviceToDevice, stream));
    CUDA_TRY(right_scan(out, mine, n, variant, NULL, stream));
    return cudaFreeAsync(mine, stream);
}

cudaError_t waits_for_the_device(void *out, const void *in, size_t n, int variant, void *workspace,
                                 cudaStream_t stream)
{
    CUDA_TRY(right_scan(out, in, n, variant, workspace, stream));
    return cudaDeviceSynchronize();
}

cudaError_t waits_for_the_stream(void *out, const void *in, size_t n, int variant, void *workspace,
                                 cudaStream_t stream)
{
    CUDA_TRY(right_scan(out, in, n, variant, workspace, stream));
    return cudaStreamSynchronize(stream);
}

/* Ignores its arguments. */
cudaError_t waits_and_hides_it(void *out, const void *in, size_t n, int variant, void *workspace,
                               cudaStream_t stream)
{
    CUDA_TRY(right_scan(out, in, n, variant, workspace, stream));
    (void)cudaStreamSynchronize(stream);
    (void)cudaGetLastError();
    return cudaSuccess;
}

/* ---- other streams --------------------------------------------------------------------------- */

cudaError_t in_default_stream(void *out, const void *in, size_t n, int variant, void *workspace,
                              cudaStream_t stream)
{
    (void)stream;
    return right_scan(out, in, n, variant, workspace, cudaStreamLegacy);
}

cudaError_t in_threads_default_stream(void *out, const void *in, size_t n, int variant,
                                      void *workspace, cudaStream_t stream)
{
    (void)stream;
    return right_scan(out, in, n, variant, workspace, cudaStreamPerThread);
}

static cudaStream_t own_stream(void)
{
    static cudaStream_t own;
    if (!own) (void)cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    return own;
}

cudaError_t in_own_stream(void *out, const void *in, size_t n, int variant, void *workspace,
                          cudaStream_t stream)
{
    (void)stream;
    return right_scan(out, in, n, variant, workspace, own_stream());
}

/* The first of two parts has its own stream: only the workspace shows it. */
cudaError_t part_in_own_stream(void *out, const void *in, size_t n, int variant, void *workspace,
                               cudaStream_t stream)
{
    CUDA_TRY(right_scan(workspace, in, n, variant, NULL, own_stream()));
    return cudaMemcpyAsync(out, workspace, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
}

/* ---- from the third call on, the first that is timed ----------------------------------------- */

#define FROM_THIRD_CALL_ON(name)                                                                   \
    cudaError_t from_third_call_on_##name(void *out, const void *in, size_t n, int variant,        \
                                          void *workspace, cudaStream_t stream)                    \
    {                                                                                              \
        static int call = -1; /* call 0 is captured and never runs */                              \
        scan_fn *scan = ++call >= 3 ? name : right_scan;                                           \
        return scan(out, in, n, variant, workspace, stream);                                       \
    }

FROM_THIRD_CALL_ON(in_own_stream)
FROM_THIRD_CALL_ON(allocates)
FROM_THIRD_CALL_ON(waits_for_the_device)

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

static volatile int *volatile nowhere;
static volatile int zero;

static int deeper(volatile int *above)
{
    volatile int here[1024];
    here[0] = *above;
    return here[0] ? 0 : deeper(here) + here[0];
}

ENDS(writes_nowhere, *nowhere = 1)
ENDS(divides_by_zero, zero = 7 / zero)
ENDS(overflows_the_stack, deeper(&zero))
ENDS(forks, fork())
ENDS(terminates_itself, kill(getpid(), SIGTERM))
ENDS(signals_itself, raise(SIGUSR1))
ENDS(breaks, raise(SIGTRAP))
ENDS(calls_what_is_not_allowed, raise(SIGSYS))
ENDS(pauses, pause())

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

/* Where and how files and numbers are written must not depend on it. */
cudaError_t moves_away(void *out, const void *in, size_t n, int variant, void *workspace,
                       cudaStream_t stream)
{
    signal(SIGPIPE, SIG_IGN);
    umask(0777);
    fesetround(FE_UPWARD);
    if (chdir("/") != 0) return cudaErrorUnknown;
    return right_scan(out, in, n, variant, workspace, stream);
}

/* Its report goes nowhere. */
static cudaError_t scan_and_redirect(bool is_moved, void *out, const void *in, size_t n,
                                     void *workspace, cudaStream_t stream)
{
    bool done = is_moved ? dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO) >= 0
                         : freopen("/dev/null", "w", stdout) != NULL;
    return done ? right_scan(out, in, n, 0, workspace, stream) : cudaErrorUnknown;
}

cudaError_t reopens_stdout(void *out, const void *in, size_t n, int variant, void *workspace,
                           cudaStream_t stream)
{
    (void)variant;
    return scan_and_redirect(false, out, in, n, workspace, stream);
}

cudaError_t moves_stdout(void *out, const void *in, size_t n, int variant, void *workspace,
                         cudaStream_t stream)
{
    (void)variant;
    return scan_and_redirect(true, out, in, n, workspace, stream);
}

cudaError_t exits_in_third_call(void *out, const void *in, size_t n, int variant, void *workspace,
                                cudaStream_t stream)
{
    static int call = -1; // call 0 is captured and never runs
    if (++call == 3) exit(0);
    return right_scan(out, in, n, variant, workspace, stream);
}
