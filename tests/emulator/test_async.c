/*
 * test_async.c — asynchronous copies and barriers of CUDA C++, from the PTX of three
 * architectures. For compute_75 the same sources become plain loads and stores.
 */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "tests/fixtures/fixtures.h"

#include "common/emu/emu.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 128, TILES = 7, ALL = THREADS * TILES };

typedef cudaError_t launch_fn(int *out, const int *in, int threads, int tiles);

static void run(launch_fn *launch, int *got)
{
    int in[ALL], *from, *out;
    for (int i = 0; i < ALL; i++) in[i] = 3 * i + 1;
    cr_assert(cudaMalloc((void **)&from, sizeof in) == cudaSuccess);
    cr_assert(cudaMalloc((void **)&out, sizeof in) == cudaSuccess);
    cudaMemcpy(from, in, sizeof in, cudaMemcpyHostToDevice);
    cr_assert(launch(out, from, THREADS, TILES) == cudaSuccess, "%s", emu_message(emu_runtime()));
    cr_assert(cudaMemcpy(got, out, sizeof in, cudaMemcpyDeviceToHost) == cudaSuccess, "%s",
              emu_message(emu_runtime()));
}

static void reverses(launch_fn *launch)
{
    int got[ALL];
    run(launch, got);
    for (int i = 0; i < ALL; i++) {
        int tile = i / THREADS, want = 3 * (tile * THREADS + THREADS - 1 - i % THREADS) + 1;
        cr_assert(got[i] == want, "element %d: %d, want %d", i, got[i], want);
    }
}

/* The model decides which PTX of the fat binary runs: compute_75, compute_90 or compute_100. */
#define ON(arch, model, name, check)                                                               \
    Test(async, name##_compute_##arch, .timeout = 60)                                              \
    {                                                                                              \
        setenv("EMU_GPU", model, 1);                                                               \
        check;                                                                                     \
    }
#define ON_ASYNC(name, check) ON(90, "h200", name, check) ON(100_slow, "b200", name, check)
#define ON_ALL(name, check)   ON(75_slow, "t4", name, check) ON_ASYNC(name, check)

ON_ALL(pipeline_primitives, reverses(launch_pipeline_primitives))
ON_ALL(group_memcpy, reverses(launch_group_memcpy))
ON_ALL(barrier_memcpy, reverses(launch_barrier_memcpy))
ON_ALL(pipeline, reverses(launch_pipeline))
ON_ALL(producer_warp, reverses(launch_producer_warp))
ON_ASYNC(bulk, reverses(launch_bulk))
ON_ASYNC(bulk_ring, reverses(launch_bulk_ring))

static void drops(void)
{
    int got[ALL];
    run(launch_drop, got);
    for (int t = 0; t < THREADS; t++) cr_expect(got[t] == t % TILES + 1, "%d: %d", t, got[t]);
}
ON_ALL(threads_leave_a_barrier, drops())

/* On a GPU the result may be right. */
static void reads_old_bytes(void)
{
    int got[ALL];
    run(launch_forgotten_wait, got);
    for (int t = 0; t < THREADS; t++) cr_expect(got[t] == -1, "%d: %d", t, got[t]);
}
ON_ASYNC(a_forgotten_wait_is_seen, reads_old_bytes())

Test(async, a_barrier_that_lacks_a_thread_is_found, .timeout = 60)
{
    int *out;
    setenv("EMU_GPU", "h200", 1);
    setenv("EMU_TIMEOUT", "1", 1);
    cr_assert(cudaMalloc((void **)&out, 1000) == cudaSuccess);
    cr_assert(launch_barrier_that_lacks_one(out, NULL, 64, 0) == cudaSuccess);
    cudaError_t error = cudaDeviceSynchronize();
    const char *message = emu_message(emu_runtime());
    cr_expect(error == cudaErrorLaunchFailure || error == cudaErrorLaunchTimeout, "%d", error);
    cr_expect(strstr(message, "lacks 1 of 65 arrivals"), "%s", message);
}
