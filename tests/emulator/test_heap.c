/* test_heap.c — malloc and free in kernels. */
#include "tests/fixtures/fixtures.h"

#include "common/emu/emu.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { HEAP_THREADS = 100, BLOCKS = 20 };

static int *heap_ints(size_t count)
{
    void *out;
    cr_assert(cudaMalloc(&out, count * sizeof(int)) == cudaSuccess);
    return out;
}

static void read_ints(int *to, const int *from, size_t count)
{
    cr_assert(cudaMemcpy(to, from, count * sizeof *to, cudaMemcpyDeviceToHost) == cudaSuccess, "%s",
              emu_message(emu_runtime()));
}

Test(heap, threads_of_many_blocks_at_once)
{
    enum { COUNT = BLOCKS * HEAP_THREADS };
    int *out = heap_ints(COUNT), host[COUNT];
    cr_assert(launch_lists(out, BLOCKS, HEAP_THREADS) == cudaSuccess);
    read_ints(host, out, COUNT);
    for (int t = 0; t < COUNT; t++) {
        int n = t % 7, want = (n + 1) * t + n * (n + 1) / 2;
        cr_expect(host[t] == want, "thread %d: got %d, want %d", t, host[t], want);
    }
}

Test(heap, blocks_outlive_the_kernel_and_the_host_cannot_reach_them)
{
    int *out = heap_ints(HEAP_THREADS), host[HEAP_THREADS];
    void *address;
    cr_assert(launch_keep(out, HEAP_THREADS) == cudaSuccess);
    read_ints(host, out, HEAP_THREADS);
    for (int t = 0; t < HEAP_THREADS; t++) cr_expect(host[t] == 1, "thread %d", t);
    cr_assert(address_of_kept(&address) == cudaSuccess);
    cr_expect(cudaMemcpy(host, address, 4, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    cr_expect(cudaFree(address) == cudaErrorInvalidValue);
    cudaGetLastError();
    cr_assert(launch_look_and_free(out, HEAP_THREADS) == cudaSuccess);
    read_ints(host, out, HEAP_THREADS);
    for (int t = 0; t < HEAP_THREADS; t++) {
        int other = HEAP_THREADS - 1 - t;
        cr_expect(host[t] == other * other, "thread %d: got %d", t, host[t]);
    }
}

Test(heap, an_exhausted_heap_gives_null)
{
    int *out = heap_ints(2), host[2];
    cr_assert(launch_exhaust(out, 1 << 20) == cudaSuccess);
    read_ints(host, out, 2);
    cr_expect(host[0] == 7 && host[1] == 1, "%d blocks of a MiB in 8 MiB, %d", host[0], host[1]);
    cr_expect(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20) == cudaErrorInvalidValue);
    cr_expect(strstr(emu_message(emu_runtime()), "a kernel has used it"));
}

Test(heap, its_size_is_set_before_it_is_used)
{
    size_t bytes;
    cr_assert(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 40 << 20) == cudaSuccess);
    cr_assert(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize) == cudaSuccess);
    cr_expect(bytes == 40 << 20);
    int *out = heap_ints(2), host[2];
    cr_assert(launch_exhaust(out, 1 << 20) == cudaSuccess);
    read_ints(host, out, 2);
    cr_expect(host[0] == 39, "%d blocks", host[0]);
    cr_assert(cudaDeviceReset() == cudaSuccess);
    out = heap_ints(2);
    cr_assert(launch_exhaust(out, 1 << 20) == cudaSuccess);
    read_ints(host, out, 2);
    cr_expect(host[0] == 7, "%d blocks after a reset", host[0]);
}

static const struct {
    int what;
    cudaError_t error;
    const char *says;
} mistakes[] = {
    {HEAP_TWICE, cudaErrorLaunchFailure, "which has been freed already"},
    {HEAP_INSIDE, cudaErrorLaunchFailure, "which is inside of a block, not at its start"},
    {HEAP_FOREIGN, cudaErrorLaunchFailure, "which malloc in a kernel has never given"},
    {HEAP_BEHIND, cudaErrorIllegalAddress, "0 bytes past the end of the block of 20 bytes"},
    {HEAP_FREED, cudaErrorIllegalAddress, "7 bytes into the block of 20 bytes"},
};

Test(heap, mistakes_are_faults)
{
    FILE *nowhere = fopen("/dev/null", "w"), *before = stderr;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        int *out = heap_ints(1);
        stderr = nowhere; /* the runtime prints the fault, too */
        cudaError_t launched = launch_wrong_heap(out, mistakes[i].what);
        cudaError_t error = cudaDeviceSynchronize();
        stderr = before;
        const char *message = emu_message(emu_runtime());
        cr_expect(launched == cudaSuccess);
        cr_expect(error == mistakes[i].error && strstr(message, mistakes[i].says), "error %d: %s",
                  error, message);
        cr_expect(strstr(message, "heap.cu:"), "%s", message);
        cudaDeviceReset();
        cudaGetLastError();
    }
    fclose(nowhere);
}
