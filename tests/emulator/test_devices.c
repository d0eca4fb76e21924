/*
 * test_devices.c — several devices, EMU_DEVICES=N: each has its own memory, code, streams and
 * faults.
 */
#define _GNU_SOURCE
#include "tests/support/cudart_check.h"

#include <pthread.h>
#include <stdlib.h>

enum { DEVICES = 4 };

static void have_four(void) { setenv("EMU_DEVICES", "4", 1); }

TestSuite(devices, .init = have_four);

static int *memory_on(int device)
{
    ok(cudaSetDevice(device));
    int *memory = device_memory(sizeof *memory);
    ok(cudaMemset(memory, 0, sizeof *memory));
    return memory;
}

Test(devices, are_counted)
{
    int count, device, can;
    struct cudaDeviceProp p;
    ok(cudaGetDeviceCount(&count));
    cr_assert(count == DEVICES);
    ok(cudaSetDevice(3));
    ok(cudaGetDevice(&device));
    cr_assert(device == 3);
    ok(cudaGetDeviceProperties(&p, 3));
    is(cudaGetDeviceProperties(&p, DEVICES), cudaErrorInvalidDevice);
    is(cudaSetDevice(DEVICES), cudaErrorInvalidDevice);
    is(cudaSetDevice(-1), cudaErrorInvalidDevice);
    ok(cudaGetDevice(&device));
    cr_assert(device == 3);
    ok(cudaDeviceCanAccessPeer(&can, 0, 3));
    cr_assert(can == 1);
    ok(cudaDeviceCanAccessPeer(&can, 2, 2));
    cr_assert(can == 0);
    is(cudaDeviceCanAccessPeer(&can, 0, DEVICES), cudaErrorInvalidDevice);
}

static void *device_of_new_thread(void *device)
{
    cudaGetDevice(device);
    return NULL;
}

Test(devices, every_thread_begins_with_the_first)
{
    int device = -1;
    pthread_t thread;
    ok(cudaSetDevice(2));
    cr_assert(pthread_create(&thread, NULL, device_of_new_thread, &device) == 0);
    pthread_join(thread, NULL);
    cr_assert(device == 0);
}

Test(devices, have_variables_of_their_own)
{
    for (int d = 0; d < DEVICES; d++) {
        ok(cudaSetDevice(d));
        int *out = device_memory(sizeof *out), table[4] = {d, 0, 0, 0}, value;
        ok(cudaMemcpyToSymbol(table_symbol(), table, sizeof table, 0, cudaMemcpyHostToDevice));
        ok(launch_variables(out));
        cr_assert(value_at(out) == 5);
        ok(cudaMemcpyFromSymbol(&value, device_value_symbol(), 4, 0, cudaMemcpyDeviceToHost));
        cr_assert(value == 5 + d, "device %d: %d", d, value);
    }
}

Test(devices, have_addresses_and_streams_of_their_own)
{
    int *zero = memory_on(0), *one = memory_on(1), device;
    struct cudaPointerAttributes attributes;
    ok(cudaPointerGetAttributes(&attributes, zero));
    cr_assert(attributes.device == 0 && attributes.type == cudaMemoryTypeDevice);
    ok(cudaPointerGetAttributes(&attributes, one));
    cr_assert(attributes.device == 1);

    cudaStream_t stream;
    cudaEvent_t event;
    ok(cudaStreamCreate(&stream));
    ok(cudaStreamGetDevice(stream, &device));
    cr_assert(device == 1);
    ok(cudaSetDevice(0));
    is(launch_add(zero, 1, stream), cudaErrorInvalidResourceHandle);
    ok(cudaMemsetAsync(one, 0, 4, stream)); /* copies and fills may */
    ok(cudaEventCreate(&event));
    is(cudaEventRecord(event, stream), cudaErrorInvalidResourceHandle);
    ok(cudaEventRecord(event, NULL));
    ok(cudaStreamWaitEvent(stream, event, 0)); /* so may waiting */
    ok(cudaFree(one));                         /* and freeing */
}

/* Programming Guide, "Peer-to-Peer Memory Access". */
Test(devices, a_kernel_needs_peer_access)
{
    cr_redirect_stderr();
    int *zero = memory_on(0), *one = memory_on(1);
    ok(cudaSetDevice(0));
    ok(cudaDeviceEnablePeerAccess(1, 0));
    is(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
    is(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessUnsupported);
    cudaGetLastError();
    ok(launch_add(one, 5, NULL));
    cr_assert(value_at(one) == 5);

    ok(cudaSetDevice(1)); /* access is one-way */
    ok(launch_add(zero, 5, NULL));
    is(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    ok(cudaSetDevice(0)); /* the fault is device 1's */
    ok(cudaDeviceSynchronize());
    cr_assert(value_at(zero) == 0);
    ok(cudaDeviceDisablePeerAccess(1));
    is(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
    cudaGetLastError();
    ok(launch_add(one, 5, NULL));
    is(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    const char *text = read_stderr();
    cr_assert(strstr(text, "memory of device 0, which a kernel on device 1 may touch only after "
                           "cudaDeviceEnablePeerAccess") != NULL,
              "%s", text);
}

/* The message names the other device's memory, not this one's. */
Test(devices, a_fault_behind_memory_of_a_peer)
{
    cr_redirect_stderr();
    int *one = memory_on(1);
    ok(cudaSetDevice(0));
    ok(cudaDeviceEnablePeerAccess(1, 0));
    ok(launch_add(one + 1, 5, NULL));
    is(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    char place[80];
    snprintf(place, sizeof place, "(0 bytes past the end of the allocation of 4 bytes at %p;",
             (void *)one);
    const char *text = read_stderr();
    cr_assert(strstr(text, place) != NULL, "%s", text);
}

Test(devices, copies_need_none)
{
    int value = 42, *zero = memory_on(0), *one = memory_on(1);
    ok(cudaMemcpy(zero, &value, sizeof value, cudaMemcpyHostToDevice)); /* device 1 is current */
    ok(cudaMemcpyPeer(one, 1, zero, 0, sizeof value));
    cr_assert(value_at(one) == 42);
    ok(cudaMemset(zero, 0, sizeof value));
    ok(cudaMemcpyPeerAsync(zero, 0, one, 1, sizeof value, NULL));
    cr_assert(value_at(zero) == 42);
    is(cudaMemcpyPeer(one, 0, zero, 0, sizeof value), cudaErrorInvalidValue);
    is(cudaMemcpyPeer(one, 1, zero, DEVICES, sizeof value), cudaErrorInvalidDevice);
    is(cudaMemcpyPeer(one, 1, zero, 0, 2 * sizeof value), cudaErrorInvalidValue);
}

Test(devices, all_reach_pinned_and_managed_memory)
{
    int *pinned, *managed;
    ok(cudaMallocHost((void **)&pinned, sizeof *pinned));
    ok(cudaMallocManaged((void **)&managed, sizeof *managed, cudaMemAttachGlobal));
    *pinned = *managed = 0;
    for (int d = 0; d < DEVICES; d++) {
        ok(cudaSetDevice(d));
        ok(launch_add(pinned, 1, NULL));
        ok(launch_add(managed, 1, NULL));
        ok(launch_managed());
        ok(cudaDeviceSynchronize());
    }
    cr_assert(*pinned == DEVICES && *managed == DEVICES);
    cr_assert(*managed_value_address() == 7 + DEVICES);
}

Test(devices, a_reset_is_of_one)
{
    int *zero = memory_on(0), *one = memory_on(1), value;
    ok(cudaDeviceReset());
    is(cudaMemcpy(&value, one, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    ok(cudaMemcpy(&value, zero, 4, cudaMemcpyDeviceToHost));
}

static void *count_on(void *device)
{
    static cudaError_t errors[DEVICES];
    int d = *(int *)device, out[8] = {0}, *memory;
    cudaError_t *error = &errors[d];
    *error = cudaSetDevice(d);
    if (*error == cudaSuccess) *error = cudaMalloc((void **)&memory, sizeof out);
    for (int i = 0; i < 50 && *error == cudaSuccess; i++)
        *error = launch_count(memory, one_dimension(1), one_dimension(8), 0, NULL);
    if (*error == cudaSuccess) *error = cudaMemcpy(out, memory, sizeof out, cudaMemcpyDeviceToHost);
    if (*error == cudaSuccess && out[7] != 7) *error = cudaErrorUnknown;
    return error;
}

Test(devices, work_for_a_host_thread_each)
{
    pthread_t threads[DEVICES];
    int numbers[DEVICES];
    for (int d = 0; d < DEVICES; d++) {
        numbers[d] = d;
        cr_assert(pthread_create(&threads[d], NULL, count_on, &numbers[d]) == 0);
    }
    for (int d = 0; d < DEVICES; d++) {
        void *error;
        pthread_join(threads[d], &error);
        ok(*(cudaError_t *)error);
    }
}

Test(devices, too_many, .exit_code = 2)
{
    cr_redirect_stderr();
    setenv("EMU_DEVICES", "17", 1);
    cudaFree(NULL);
}
