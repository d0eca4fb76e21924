/*
 * test_cudart.c — the runtime library: the errors that it returns, when it returns them, and its
 * effects. The expected behaviour is that of NVIDIA's runtime, unless a comment says otherwise. And
 * the properties of the emulated GPUs, with the values that the harness takes from them.
 */
#define _GNU_SOURCE
#include "tests/support/cudart_check.h"

#include "common/harness/input/input.h"
#include "common/harness/run/device.h"
#include "common/tools/emu/emu.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 64 };

static cudaError_t count(int *out, unsigned grid, unsigned block)
{
    return launch_count(out, one_dimension(grid), one_dimension(block), 0, NULL);
}

/* ---- errors ---------------------------------------------------------------------------------- */

Test(cudart, errors_have_names_and_texts)
{
    cr_assert_str_eq(cudaGetErrorName(cudaSuccess), "cudaSuccess");
    cr_assert_str_eq(cudaGetErrorString(cudaSuccess), "no error");
    cr_assert_str_eq(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue");
    cr_assert_str_eq(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument");
    cr_assert_str_eq(cudaGetErrorString(cudaErrorIllegalAddress),
                     "an illegal memory access was encountered");
    cr_assert_str_eq(cudaGetErrorName(cudaErrorUnknown), "cudaErrorUnknown");
    cr_assert_str_eq(cudaGetErrorName((cudaError_t)12345), "unrecognized error code");
    cr_assert_str_eq(cudaGetErrorString((cudaError_t)-1), "unrecognized error code");
}

Test(cudart, the_last_error_stays_until_it_is_asked_for)
{
    void *memory;
    ok(cudaGetLastError());
    is(cudaMalloc(NULL, 4), cudaErrorInvalidValue);
    ok(cudaMalloc(&memory, 4)); /* a success does not clear it */
    is(cudaPeekAtLastError(), cudaErrorInvalidValue);
    is(cudaGetLastError(), cudaErrorInvalidValue);
    ok(cudaGetLastError());
}

static void *last_error_of_this_thread(void *result)
{
    *(cudaError_t *)result = cudaGetLastError();
    return NULL;
}

Test(cudart, every_thread_has_its_own_last_error)
{
    cudaError_t other;
    pthread_t thread;
    is(cudaMalloc(NULL, 4), cudaErrorInvalidValue);
    cr_assert(pthread_create(&thread, NULL, last_error_of_this_thread, &other) == 0);
    pthread_join(thread, NULL);
    ok(other);
    is(cudaGetLastError(), cudaErrorInvalidValue);
}

/* ---- memory ---------------------------------------------------------------------------------- */

Test(cudart, allocation)
{
    void *memory = &memory;
    ok(cudaMalloc(&memory, 0));
    cr_assert(memory == NULL);
    ok(cudaFree(NULL));
    is(cudaMalloc(&memory, (size_t)1 << 50), cudaErrorMemoryAllocation);
    is(cudaGetLastError(), cudaErrorMemoryAllocation);
    cr_assert(memory == NULL);

    ok(cudaMalloc(&memory, 100));
    cr_assert((size_t)memory % 256 == 0, "%p", memory);
    is(cudaFree((char *)memory + 4), cudaErrorInvalidValue);
    ok(cudaFree(memory));
    is(cudaFree(memory), cudaErrorInvalidValue);
    is(cudaFree(&memory), cudaErrorInvalidValue);

    size_t before, after, total;
    ok(cudaMemGetInfo(&before, &total));
    cr_assert(before <= total && total > 0);
    ok(cudaMalloc(&memory, 1 << 20));
    ok(cudaMemGetInfo(&after, &total));
    cr_assert(before - after >= 1 << 20);
    ok(cudaFree(memory));
    ok(cudaMemGetInfo(&after, &total));
    cr_assert(after == before);
}

static enum cudaMemoryType type_of(const void *pointer)
{
    struct cudaPointerAttributes attributes;
    ok(cudaPointerGetAttributes(&attributes, pointer));
    return attributes.type;
}

Test(cudart, host_memory_that_kernels_reach)
{
    int *pinned, *managed, *alias, plain[N];
    ok(cudaMallocHost((void **)&pinned, N * sizeof(int)));
    ok(cudaMallocManaged((void **)&managed, N * sizeof(int), cudaMemAttachGlobal));
    ok(cudaHostRegister(plain, sizeof plain, cudaHostRegisterDefault));
    ok(cudaHostGetDevicePointer((void **)&alias, pinned, 0));
    ok(count(alias, 1, N));
    ok(count(managed, 1, N));
    ok(count(plain, 1, N));
    ok(cudaDeviceSynchronize());
    for (int i = 0; i < N; i++)
        cr_assert(pinned[i] == i && managed[i] == i && plain[i] == i, "%d", i);

    int *device = device_memory(4);
    cr_assert(type_of(device) == cudaMemoryTypeDevice);
    cr_assert(type_of(pinned + 1) == cudaMemoryTypeHost);
    cr_assert(type_of(managed) == cudaMemoryTypeManaged);
    cr_assert(type_of(plain) == cudaMemoryTypeHost);
    ok(cudaHostUnregister(plain));
    cr_assert(type_of(plain) == cudaMemoryTypeUnregistered);

    is(cudaFree(pinned), cudaErrorInvalidValue);
    is(cudaFreeHost(device), cudaErrorInvalidValue);
    is(cudaHostUnregister(plain), cudaErrorHostMemoryNotRegistered);
    ok(cudaFreeHost(pinned));
    ok(cudaFree(managed));
    is(cudaFreeHost(pinned), cudaErrorInvalidValue);
}

#ifndef __SANITIZE_ADDRESS__ /* which would take the signal for a finding */
/* On a GPU the host must not dereference a device pointer either. */
Test(cudart, the_host_cannot_read_device_memory, .signal = SIGSEGV)
{
    volatile int *device = device_memory(4);
    *device = 1;
}
#endif

/* ---- launches -------------------------------------------------------------------------------- */

Test(cudart, a_launch_passes_every_kind_of_argument)
{
    double out, *device = device_memory(sizeof out);
    struct pair p = {0.5, 1000};
    float4 f = {1e4f, 2e4f, 3e4f, 4e4f};
    ok(launch_arguments(device, -1, -300, p, f, 1LL << 40, 250));
    ok(cudaMemcpy(&out, device, sizeof out, cudaMemcpyDeviceToHost));
    double expected = -1 - 300 + 0.5 + 1000 + 1e5 + (double)(1LL << 40) + 250;
    cr_assert(out == expected, "%f, not %f", out, expected);
}

Test(cudart, launches_beyond_the_limits)
{
    cr_redirect_stderr(); /* the emulator says what is wrong */
    int *device = device_memory(4096 * sizeof(int));
    dim3 one = {1, 1, 1};
    is(count(device, 0, 32), cudaErrorInvalidValue); /* n = 0, a common mistake */
    is(count(device, 1, 0), cudaErrorInvalidValue);
    is(count(device, 1, 1025), cudaErrorInvalidValue);
    is(launch_count(device, one, (dim3){32, 33, 1}, 0, NULL), cudaErrorInvalidValue);
    is(launch_count(device, one, (dim3){1, 1, 65}, 0, NULL), cudaErrorInvalidValue);
    is(launch_count(device, (dim3){1, 65536, 1}, one, 0, NULL), cudaErrorInvalidValue);
    is(launch_count(device, one, one, (48 << 10) + 1, NULL), cudaErrorInvalidValue);
    is(launch_count(device, one, one, 0, (cudaStream_t)&one), cudaErrorInvalidResourceHandle);
    ok(count(device, 1, 1024));
    ok(launch_bounded(device, 64));
    cr_assert(launch_bounded(device, 65) != cudaSuccess);
    ok(cudaDeviceSynchronize()); /* none of them spoiled the device */
}

Test(cudart, the_other_ways_to_launch)
{
    int out[2], *device = device_memory(sizeof out);
    void *args[] = {&device};
    dim3 one = {1, 1, 1}, two = {2, 1, 1};
    ok(cudaMemset(device, 0xFF, sizeof out));
    ok(cudaLaunchKernel(count_kernel(), one, one, args, 0, NULL));
    ok(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
    cr_assert(out[0] == 0 && out[1] == -1);

    cudaKernel_t handle = given(cudaKernel_t, cudaGetKernel, count_kernel());
    cudaLaunchConfig_t config = {.gridDim = one, .blockDim = two};
    ok(cudaLaunchKernelExC(&config, (const void *)handle, args));
    ok(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
    cr_assert(out[1] == 1);

    ok(cudaMemset(device, 0xFF, sizeof out));
    ok(cudaLaunchCooperativeKernel(count_kernel(), one, two, args, 0, NULL));
    ok(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
    cr_assert(out[0] == 0 && out[1] == 1);
}

static int launch_with(cudaLaunchAttribute *attributes, unsigned count, int *device)
{
    void *args[] = {&device};
    cudaLaunchConfig_t config = {
        .gridDim = {1, 1, 1}, .blockDim = {1, 1, 1}, .attrs = attributes, .numAttrs = count};
    return cudaLaunchKernelExC(&config, count_kernel(), args);
}

Test(cudart, attributes_of_launches)
{
    cr_redirect_stderr();
    int *device = device_memory(sizeof *device);
    cudaEvent_t before, after;
    float ms;
    ok(cudaEventCreate(&before));
    ok(cudaEventCreate(&after));
    ok(cudaEventRecord(before, NULL));
    cudaLaunchAttribute known[] = {
        {.id = cudaLaunchAttributeIgnore},
        {.id = cudaLaunchAttributePreferredSharedMemoryCarveout, .val.sharedMemCarveout = 50},
        {.id = cudaLaunchAttributeLaunchCompletionEvent, .val.launchCompletionEvent.event = after},
    };
    ok(launch_with(known, 3, device));
    ok(cudaEventElapsedTime(&ms, before, after)); /* it has been recorded */
    cudaLaunchAttribute unknown[] = {{.id = cudaLaunchAttributeCooperative, .val.cooperative = 1},
                                     {.id = (cudaLaunchAttributeID)999}};
    is(launch_with(unknown, 2, device), cudaErrorInvalidValue);
    cudaLaunchAttribute updatable = {.id = cudaLaunchAttributeDeviceUpdatableKernelNode,
                                     .val.deviceUpdatableKernelNode.deviceUpdatable = 1};
    is(launch_with(&updatable, 1, device), cudaErrorNotSupported);
    cr_assert(strstr(read_stderr(), "emu: 999 is no attribute of a launch"), "%s", read_stderr());
}

Test(cudart, more_than_48_KiB_of_shared_memory_must_be_allowed)
{
    cr_redirect_stderr();
    enum { ORDINARY = 48 << 10, MOST = 227 << 10 };
    float sum, *device = device_memory(sizeof sum);
    is(launch_shared(device, ORDINARY + 4), cudaErrorInvalidValue);
    is(cudaFuncSetAttribute(shared_kernel(), cudaFuncAttributeMaxDynamicSharedMemorySize, MOST + 4),
       cudaErrorInvalidValue);
    cudaGetLastError();
    ok(cudaFuncSetAttribute(shared_kernel(), cudaFuncAttributeMaxDynamicSharedMemorySize, MOST));
    ok(launch_shared(device, MOST));
    ok(cudaMemcpy(&sum, device, sizeof sum, cudaMemcpyDeviceToHost));
    cr_assert(sum == MOST / sizeof(float), "%f", sum);
    is(launch_shared(device, MOST + 4), cudaErrorInvalidValue);
    const char *said = read_stderr();
    cr_assert(strstr(said, "may have 49152; cudaFuncSetAttribute("), "%s", said);
    cr_assert(strstr(said, "be allowed 232452 bytes of dynamic shared memory: the limit of this "
                           "GPU is 232448 bytes"),
              "%s", said);
    cr_assert(strstr(said, "may have 232448; the limit of this GPU is 232448 bytes"), "%s", said);
}

/* ---- faults ---------------------------------------------------------------------------------- */

static _Atomic bool over;

/* Calls whatever needs a kernel, memory or a stream, and takes any error. */
static void *work(void *nothing)
{
    while (!over) {
        int value, *device = NULL;
        void *args[] = {&device};
        struct cudaFuncAttributes attributes;
        cudaStream_t stream;
        cudaMalloc((void **)&device, sizeof value);
        cudaStreamCreate(&stream);
        cudaLaunchKernel(count_kernel(), (dim3){1, 1, 1}, (dim3){1, 1, 1}, args, 0, stream);
        cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost);
        cudaFuncGetAttributes(&attributes, count_kernel());
        cudaStreamDestroy(stream);
        cudaFree(device);
    }
    return nothing;
}

Test(cudart, a_reset_waits_for_the_work_of_other_threads, .timeout = 60)
{
    enum { THREADS = 3, RESETS = 300 };
    pthread_t threads[THREADS];
    cr_redirect_stderr();
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < RESETS; i++) {
        nanosleep(&(struct timespec){0, 1000000}, NULL);
        ok(cudaDeviceReset());
    }
    over = true;
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    ok(cudaDeviceReset());
    int *device = device_memory(sizeof *device);
    ok(cudaLaunchKernel(count_kernel(), (dim3){1, 1, 1}, (dim3){1, 1, 1}, (void *[]){&device}, 0,
                        NULL));
    ok(cudaDeviceSynchronize());
}

Test(cudart, a_fault_stays_until_reset)
{
    cr_redirect_stderr();
    int out, *device = device_memory(sizeof out);
    ok(launch_store(NULL));    /* the launch itself has not failed */
    ok(cudaPeekAtLastError()); /* the host has not waited for the kernel yet */
    ok(count(device, 1, 1));   /* dropped */
    is(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    is(cudaGetLastError(), cudaErrorIllegalAddress);
    ok(cudaGetLastError());
    is(cudaMalloc((void **)&device, 4), cudaErrorIllegalAddress);
    is(cudaMemcpy(&out, device, 4, cudaMemcpyDeviceToHost), cudaErrorIllegalAddress);
    is(cudaStreamSynchronize(NULL), cudaErrorIllegalAddress);

    ok(cudaDeviceReset());
    is(cudaGetLastError(), cudaErrorIllegalAddress);
    device = device_memory(sizeof out);
    ok(count(device, 1, 1));
    ok(cudaMemcpy(&out, device, sizeof out, cudaMemcpyDeviceToHost));
    cr_assert(out == 0);
}

Test(cudart, a_copy_finds_a_fault_too)
{
    cr_redirect_stderr();
    float host, *device = device_memory(sizeof host);
    ok(launch_store(device + 1)); /* one beyond the end */
    is(cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost), cudaErrorIllegalAddress);
}

Test(cudart, a_fault_is_explained_once)
{
    cr_redirect_stderr();
    launch_store(NULL);
    cudaDeviceSynchronize();
    cudaDeviceSynchronize();
    cudaGetLastError();
    const char *text = read_stderr(), *first = strstr(text, "emu: ");
    cr_assert(first == text, "%s", text);
    cr_assert(strstr(text, "store") != NULL, "%s", text);
    cr_assert(strstr(text, "cudart_kernels.cu") != NULL, "%s", text);
    const char *again = strstr(first + 1, "store");
    cr_assert(again == NULL || strstr(again + 1, "illegal") == NULL, "%s", text);
}

/* ---- functions without effect ---------------------------------------------------------------- */

Test(cudart, hints)
{
    enum cudaFuncCache cache = cudaFuncCachePreferL1;
    ok(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
    ok(cudaDeviceGetCacheConfig(&cache));
    cr_assert(cache == cudaFuncCachePreferShared);
    is(cudaDeviceGetCacheConfig(NULL), cudaErrorInvalidValue);
    size_t value;
    is(cudaDeviceGetLimit(&value, (enum cudaLimit)99), cudaErrorUnsupportedLimit);
    ok(cudaFuncSetCacheConfig(add_kernel(), cudaFuncCachePreferL1));
    ok(cudaCtxResetPersistingL2Cache());
}

Test(cudart, flags_and_choice_of_devices)
{
    static const unsigned spin = cudaDeviceScheduleSpin, yield = cudaDeviceScheduleYield;
    int device = 7, one[] = {0}, two[] = {0, 1};
    ok(cudaSetDeviceFlags(spin));
    ok(cudaInitDevice(0, yield, 0));
    unsigned flags = given(unsigned, cudaGetDeviceFlags);
    cr_assert(flags == (spin | cudaDeviceMapHost), "%x", flags);
    ok(cudaInitDevice(0, yield, cudaInitDeviceFlagsAreValid));
    ok(cudaGetDeviceFlags(&flags));
    cr_assert(flags == (yield | cudaDeviceMapHost), "%x", flags);
    is(cudaGetDeviceFlags(NULL), cudaErrorInvalidValue);
    is(cudaSetDeviceFlags(1u << 30), cudaErrorInvalidValue);
    is(cudaInitDevice(1, 0, 0), cudaErrorInvalidDevice);

    ok(cudaChooseDevice(&device, &(struct cudaDeviceProp){0}));
    cr_assert(device == 0);
    is(cudaChooseDevice(&device, NULL), cudaErrorInvalidValue);
    is(cudaChooseDevice(NULL, &(struct cudaDeviceProp){0}), cudaErrorInvalidValue);
    ok(cudaSetValidDevices(one, 1));
    ok(cudaSetValidDevices(NULL, 0));
    is(cudaSetValidDevices(NULL, 1), cudaErrorInvalidValue);
    is(cudaSetValidDevices(one, -1), cudaErrorInvalidValue);
    is(cudaSetValidDevices(two, 2), cudaErrorInvalidDevice);
}

/* ---- variables ------------------------------------------------------------------------------- */

Test(cudart, variables)
{
    int value, table[4] = {1, 2, 3, 4}, *device = device_memory(sizeof value);
    ok(cudaMemcpyToSymbol(table_symbol(), table, sizeof table, 0, cudaMemcpyHostToDevice));
    ok(launch_variables(device));
    ok(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
    cr_assert(value == 5, "the initial value: %d", value);
    ok(cudaMemcpyFromSymbol(&value, device_value_symbol(), 4, 0, cudaMemcpyDeviceToHost));
    cr_assert(value == 15, "%d", value);
    ok(cudaMemcpyFromSymbol(&value, table_symbol(), 4, 8, cudaMemcpyDeviceToHost));
    cr_assert(value == 3, "%d", value);

    void *address;
    ok(cudaGetSymbolAddress(&address, table_symbol()));
    cr_assert(given(size_t, cudaGetSymbolSize, table_symbol()) == sizeof table);
    ok(cudaMemcpy(&value, (int *)address + 3, 4, cudaMemcpyDeviceToHost));
    cr_assert(value == 4, "%d", value);

    is(cudaMemcpyToSymbol(table_symbol(), table, sizeof table, 4, cudaMemcpyHostToDevice),
       cudaErrorInvalidValue);
    is(cudaMemcpyToSymbol(&value, table, 4, 0, cudaMemcpyHostToDevice), cudaErrorInvalidSymbol);

    ok(cudaDeviceReset()); /* the device is as at the beginning */
    ok(cudaMemcpyFromSymbol(&value, device_value_symbol(), 4, 0, cudaMemcpyDeviceToHost));
    cr_assert(value == 5, "%d", value);
}

/* ---- streams and events ---------------------------------------------------------------------- */

static void set_flag(void *flag) { *(int *)flag = 1; }

Test(cudart, streams)
{
    cudaStream_t stream, urgent;
    int lowest, highest, priority, flag = 0, *device = device_memory(N * sizeof(int));
    ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    ok(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    cr_assert(lowest == 0 && highest < 0);
    ok(cudaStreamCreateWithPriority(&urgent, cudaStreamDefault, highest));
    ok(cudaStreamGetPriority(urgent, &priority));
    cr_assert(priority == highest);

    ok(launch_count(device, one_dimension(1), one_dimension(N), 0, stream));
    ok(cudaMemsetAsync(device, 0, 4, stream));
    ok(cudaLaunchHostFunc(stream, set_flag, &flag));
    ok(cudaStreamSynchronize(stream));
    ok(cudaStreamQuery(stream));
    ok(cudaStreamQuery(cudaStreamPerThread));
    cr_assert(flag == 1);

    ok(cudaStreamDestroy(stream));
    is(cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle);
    is(cudaMemsetAsync(device, 0, 4, stream), cudaErrorInvalidResourceHandle);
    ok(cudaStreamDestroy(urgent));
}

Test(cudart, events)
{
    cudaEvent_t start, stop, untimed;
    float milliseconds = -1;
    int *device = device_memory(N * sizeof(int));
    ok(cudaEventCreate(&start));
    ok(cudaEventCreate(&stop));
    ok(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    ok(cudaEventQuery(start));
    is(cudaEventElapsedTime(&milliseconds, start, stop), cudaErrorInvalidResourceHandle);
    is(cudaGetLastError(), cudaErrorInvalidResourceHandle);

    ok(cudaEventRecord(start, NULL));
    ok(count(device, 1, N));
    ok(cudaEventRecord(stop, NULL));
    ok(cudaEventRecord(untimed, NULL));
    ok(cudaEventSynchronize(stop));
    ok(cudaStreamWaitEvent(NULL, stop, 0));
    ok(cudaEventElapsedTime(&milliseconds, start, stop));
    cr_assert(milliseconds > 0 && milliseconds < 1e4f, "%f", (double)milliseconds);
    is(cudaEventElapsedTime(&milliseconds, start, untimed), cudaErrorInvalidResourceHandle);

    ok(cudaEventDestroy(stop));
    is(cudaEventRecord(stop, NULL), cudaErrorInvalidResourceHandle);
    is(cudaEventDestroy(stop), cudaErrorInvalidResourceHandle);
}

/* ---- properties of the device ---------------------------------------------------------------- */

static int attribute(enum cudaDeviceAttr which)
{
    return given(int, cudaDeviceGetAttribute, which, 0);
}

Test(cudart, devices_and_versions)
{
    cr_assert(given(int, cudaGetDeviceCount) == 1);
    ok(cudaSetDevice(0));
    is(cudaSetDevice(1), cudaErrorInvalidDevice);
    cr_assert(given(int, cudaGetDevice) == 0);
    int version = given(int, cudaRuntimeGetVersion);
    cr_assert(version >= 13000 && version < 14000);
    ok(cudaDriverGetVersion(&version));
    cr_assert(version >= 13000);
}

/* ---- attributes and occupancy ---------------------------------------------------------------- */

Test(cudart, attributes_of_a_kernel)
{
    struct cudaFuncAttributes a;
    ok(cudaFuncGetAttributes(&a, shared_kernel()));
    cr_assert(a.sharedSizeBytes == 0 && a.maxDynamicSharedSizeBytes == 48 << 10);
    cr_assert(a.maxThreadsPerBlock == 1024 && a.numRegs > 0 && a.numRegs <= 255);
    cr_assert(a.ptxVersion == 90 && a.binaryVersion == 90);
    ok(cudaFuncSetAttribute(shared_kernel(), cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 17));
    ok(cudaFuncGetAttributes(&a, shared_kernel()));
    cr_assert(a.maxDynamicSharedSizeBytes == 1 << 17);
}

static int blocks_per_sm(const void *kernel, int block, size_t shared)
{
    return given(int, cudaOccupancyMaxActiveBlocksPerMultiprocessor, kernel, block, shared);
}

/* An H200's SM holds 2048 threads, 32 blocks and 228 KiB of shared memory, and each block takes 1
 * KiB more than it asks for. */
Test(cudart, occupancy)
{
    cr_assert(blocks_per_sm(count_kernel(), 1024, 0) == 2);
    cr_assert(blocks_per_sm(count_kernel(), 256, 0) == 8);
    cr_assert(blocks_per_sm(count_kernel(), 32, 0) == 32);
    cr_assert(blocks_per_sm(count_kernel(), 64, 16 << 10) == 13);
    ok(cudaFuncSetAttribute(shared_kernel(), cudaFuncAttributeMaxDynamicSharedMemorySize,
                            100 << 10));
    cr_assert(blocks_per_sm(shared_kernel(), 32, 100 << 10) == 2);
    cr_assert(blocks_per_sm(shared_kernel(), 32, 20 << 10) == 10);

    int grid, block;
    ok(potential_block_size(&grid, &block));
    cr_assert(block == 1024 && grid == 2 * 132, "%d blocks of %d", grid, block);
    is(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&grid, count_kernel(), 0, 0),
       cudaErrorInvalidValue);
}

/* ---- the emulated GPUs ----------------------------------------------------------------------- */

/* NVIDIA's data sheets and the CUDA C++ Programming Guide, "Compute Capabilities". */
static const struct {
    const char *key, *name;
    int major, minor, sms, threads_per_sm, blocks_per_sm;
    unsigned shared_kib, reserved_kib, memory_mib, l2_kib;
    int clock_mhz, memory_clock_mhz, bus_bits;
} gpus[] = {
    {"h200", "NVIDIA H200", 9, 0, 132, 2048, 32, 228, 1, 143771, 61440, 1980, 3201, 6016},
    {"h100", "NVIDIA H100 80GB HBM3", 9, 0, 132, 2048, 32, 228, 1, 81559, 51200, 1980, 2619, 5120},
    {"a100", "NVIDIA A100-SXM4-80GB", 8, 0, 108, 2048, 32, 164, 1, 81920, 40960, 1410, 1593, 5120},
    {"t4", "Tesla T4", 7, 5, 40, 1024, 16, 64, 0, 15360, 4096, 1590, 5001, 256},
    {"rtx4090", "NVIDIA GeForce RTX 4090", 8, 9, 128, 1536, 24, 100, 1, 24564, 73728, 2520, 10501,
     384},
    {"b200", "NVIDIA B200", 10, 0, 148, 2048, 32, 228, 1, 183359, 129536, 1965, 3996, 7680},
};
enum { GPUS = sizeof gpus / sizeof *gpus, KIB = 1024 };

Test(gpus, data_sheets)
{
    for (size_t i = 0; i < GPUS; i++) {
        const struct emu_gpu *g = emu_gpu_at(i);
        cr_assert(g && g == emu_gpu_find(gpus[i].key), "%s", gpus[i].key);
        cr_expect_str_eq(g->name, gpus[i].name);
        cr_expect(g->major == gpus[i].major && g->minor == gpus[i].minor, "%s", g->name);
        cr_expect_eq(g->sms, gpus[i].sms, "%s", g->name);
        cr_expect_eq(g->threads_per_sm, gpus[i].threads_per_sm, "%s", g->name);
        cr_expect_eq(g->blocks_per_sm, gpus[i].blocks_per_sm, "%s", g->name);
        cr_expect_eq(g->shared_per_sm, gpus[i].shared_kib * KIB, "%s", g->name);
        cr_expect_eq(g->shared_reserved, gpus[i].reserved_kib * KIB, "%s", g->name);
        cr_expect_eq(g->shared_per_block_optin, (gpus[i].shared_kib - gpus[i].reserved_kib) * KIB,
                     "%s", g->name);
        cr_expect_eq(g->memory, (size_t)gpus[i].memory_mib * KIB * KIB, "%s", g->name);
        cr_expect_eq(g->l2, gpus[i].l2_kib * KIB, "%s", g->name);
        cr_expect_eq(g->clock_khz, gpus[i].clock_mhz * 1000, "%s", g->name);
        cr_expect_eq(g->memory_clock_khz, gpus[i].memory_clock_mhz * 1000, "%s", g->name);
        cr_expect_eq(g->memory_bus_bits, gpus[i].bus_bits, "%s", g->name);
        cr_expect(g->threads_per_block == 1024 && g->warp_size == 32);
        cr_expect(g->registers_per_sm == 65536 && g->registers_per_block == 65536);
        cr_expect(g->constant == 64 * KIB && g->shared_per_block == 48 * KIB);
    }
    cr_expect(!emu_gpu_at(GPUS) && !emu_gpu_find("voodoo2") && emu_gpu_find("H200"));
}

/* The numbers of clusters of 2, 4, 8 and 16 blocks were measured on an H200. The other numbers are
 * computed. */
Test(gpus, clusters_at_once)
{
    static const struct {
        const char *key;
        unsigned blocks, per_sm, clusters;
    } cases[] = {
        {"h200", 1, 1, 132}, {"h200", 0, 2, 264}, {"h200", 2, 1, 66}, {"h200", 4, 1, 31},
        {"h200", 8, 1, 15},  {"h200", 16, 1, 7},  {"h200", 8, 3, 45}, {"b200", 8, 1, 18},
        {"b200", 16, 1, 9},  {"b200", 4, 1, 37},  {"b200", 3, 2, 92},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(
            emu_active_clusters(emu_gpu_find(cases[i].key), cases[i].blocks, cases[i].per_sm),
            cases[i].clusters, "%s: %u x %u", cases[i].key, cases[i].blocks, cases[i].per_sm);
}

Test(gpus, properties_of_an_h200)
{
    struct cudaDeviceProp p = given(struct cudaDeviceProp, cudaGetDeviceProperties, 0);
    cr_expect_str_eq(p.name, "NVIDIA H200 (emulated)");
    cr_expect(p.major == 9 && p.minor == 0 && p.multiProcessorCount == 132 && p.warpSize == 32);
    cr_expect(p.sharedMemPerBlock == 48 * KIB && p.sharedMemPerBlockOptin == 227 * KIB);
    cr_expect_eq(attribute(cudaDevAttrMaxThreadsPerMultiProcessor), 2048);
    cr_expect(!memcmp(p.uuid.bytes, "emulated GPU\0\0\0\0", sizeof p.uuid.bytes));
    cr_expect(p.maxThreadsDim[0] == 1024 && p.maxThreadsDim[1] == 1024 && p.maxThreadsDim[2] == 64);
    cr_expect(p.maxGridSize[0] == 2147483647 && p.maxGridSize[1] == 65535 &&
              p.maxGridSize[2] == 65535);
    cr_expect_eq(p.totalConstMem, 64 * KIB);
    cr_expect_eq(p.memPitch, 2147483647);
    cr_expect(p.textureAlignment == 512 && p.texturePitchAlignment == 32 &&
              p.surfaceAlignment == 512);
    cr_expect_eq(p.persistingL2CacheMaxSize, 60 * KIB * KIB / 8 * 5);
    cr_expect_eq(p.accessPolicyMaxWindowSize, 128 * KIB * KIB);
}

/* Properties that differ between generations. */
static void expect_generation(const char *key, int clusters, int ratio, bool has_persisting)
{
    setenv("EMU_GPU", key, 1);
    cr_expect_eq(attribute(cudaDevAttrClusterLaunch), clusters, "%s", key);
    cr_expect_eq(attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio), ratio, "%s", key);
    cr_expect_eq(attribute(cudaDevAttrMaxPersistingL2CacheSize) > 0, has_persisting, "%s", key);
    cr_expect_eq(attribute(cudaDevAttrMaxAccessPolicyWindowSize) > 0, has_persisting, "%s", key);
}
Test(gpus, of_turing) { expect_generation("t4", 0, 32, false); }
Test(gpus, of_ampere) { expect_generation("a100", 0, 2, true); }
Test(gpus, of_ada) { expect_generation("rtx4090", 0, 64, true); }
Test(gpus, of_blackwell) { expect_generation("b200", 1, 2, true); }

Test(gpus, several_are_numbered)
{
    setenv("EMU_DEVICES", "2", 1);
    struct cudaDeviceProp p = given(struct cudaDeviceProp, cudaGetDeviceProperties, 1);
    cr_expect(p.pciBusID == 1 && p.multiGpuBoardGroupID == 1);
    cr_expect_eq(p.uuid.bytes[sizeof p.uuid.bytes - 1], 1);
    is(cudaGetDeviceProperties(&p, 2), cudaErrorInvalidDevice);
    is(cudaGetDeviceProperties(&p, -1), cudaErrorInvalidDevice);
    is(cudaGetDeviceProperties(NULL, 0), cudaErrorInvalidValue);
}

/* ---- the harness ----------------------------------------------------------------------------- */

Test(gpus, the_harness_takes_what_the_device_says)
{
    struct device d;
    struct fault fault;
    struct options options = {.device = DEVICE_EMU};
    size_t total, available;
    setenv("EMU_GPU", "rtx4090", 1);
    cr_assert_eq(device_choose(&options, &d, &fault), 0);
    cr_expect(d.emulated && !*d.why);
    cr_expect_str_eq(d.name, "NVIDIA GeForce RTX 4090 (emulated)");
    cr_expect(d.major == 8 && d.minor == 9 && d.sms == 128);
    cr_expect(d.threads_per_sm == 1536 && d.warp_size == 32);
    cr_expect_eq(d.l2, 72 * KIB * KIB);
    ok(cudaMemGetInfo(&available, &total));
    cr_expect_eq(d.memory_free, available);
}

Test(gpus, a_gpu_is_not_to_be_had_here)
{
    struct device d;
    struct fault fault;
    struct options options = {.device = DEVICE_CUDA};
    cr_expect_eq(device_choose(&options, &d, &fault), EXIT_DEVICE);
    cr_expect_str_eq(fault.text, "a GPU was asked for, but the emulator stands in for CUDA's "
                                 "runtime; start the program without build/emu in "
                                 "LD_LIBRARY_PATH.");
}

/* The value that the system reports. */
Test(gpus, processor_and_memory_of_the_host)
{
    char name[DEVICE_NAME], line[DEVICE_NAME] = "", wanted[DEVICE_NAME] = "CPU";
    device_cpu_name(name, sizeof name);
    FILE *file = popen("sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1", "r");
    cr_assert(file);
    if (fgets(line, sizeof line, file)) strcpy(wanted, strtok(line, "\n"));
    pclose(file);
    cr_expect_str_eq(name, wanted);
    size_t pages = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    cr_expect(host_memory() > pages / 1000 && host_memory() <= pages);
}

/* ---- the library itself ---------------------------------------------------------------------- */

/* The names that `nvcc -default-stream per-thread` calls. */
Test(cudart, functions_for_per_thread_default_streams)
{
    static const char *const names[] = {
        "__cudaLaunchKernel_ptsz", "cudaLaunchKernel_ptsz", "cudaLaunchKernelExC_ptsz",
        "cudaMemcpy_ptds", "cudaMemcpyAsync_ptsz", "cudaMemset_ptds", "cudaMemsetAsync_ptsz",
        "cudaMemcpyToSymbol_ptds", "cudaMemcpyFromSymbol_ptds", "cudaEventRecord_ptsz",
        "cudaStreamSynchronize_ptsz", "cudaStreamQuery_ptsz", "cudaStreamWaitEvent_ptsz",
        "cudaMallocAsync_ptsz", "cudaFreeAsync_ptsz", "cudaLaunchHostFunc_ptsz",
        "cudaMemcpy2D_ptds", "cudaLaunchCooperativeKernel_ptsz",
        "cudaEventRecordWithFlags_ptsz"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        cr_assert(dlvsym(RTLD_DEFAULT, names[i], "libcudart.so.13") != NULL, "%s", names[i]);
}

/* No other name of the library may clash with the program's own names. */
Test(cudart, the_rest_is_hidden)
{
    void *library = dlopen("libcudart.so.13", RTLD_NOW | RTLD_NOLOAD);
    cr_assert(library != NULL);
    static const char *const names[] = {"cudart_done", "whole_file_write", "ptx_parse"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        cr_assert(dlsym(library, names[i]) == NULL, "%s", names[i]);
    cr_assert(dlsym(library, "emu_runtime") == (void *)emu_runtime);
}
