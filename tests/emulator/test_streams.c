/*
 * test_streams.c — functions of the host in streams, and the data that the runtime keeps for a
 * stream.
 */
#include "tests/support/cudart_check.h"

#include <pthread.h>

static void call_the_runtime(void *error)
{
    void *memory;
    *(cudaError_t *)error = cudaMalloc(&memory, 4);
}

static void CUDART_CB callback(cudaStream_t stream, cudaError_t status, void *data)
{
    (void)stream;
    *(int *)data = status == cudaSuccess ? 1 : -1;
}

/* "The host function must not make any CUDA API calls", which may give cudaErrorNotPermitted. */
Test(streams, host_functions_may_not_call_the_runtime)
{
    cudaError_t error = cudaSuccess;
    int called = 0;
    cudaStream_t stream;
    ok(cudaStreamCreate(&stream));
    ok(cudaLaunchHostFunc(stream, call_the_runtime, &error));
    ok(cudaStreamAddCallback(stream, callback, &called, 0));
    ok(cudaStreamSynchronize(stream));
    is(error, cudaErrorNotPermitted);
    cr_assert(called == 1);
    is(cudaLaunchHostFunc(stream, NULL, NULL), cudaErrorInvalidValue);
}

static void *own_number(void *number)
{
    cudaStreamGetId(cudaStreamPerThread, number);
    return NULL;
}

/* Each thread's default stream is one of its own. */
Test(streams, have_different_numbers)
{
    unsigned long long legacy, mine, again, others;
    pthread_t thread;
    ok(cudaStreamGetId(cudaStreamLegacy, &legacy));
    ok(cudaStreamGetId(cudaStreamPerThread, &mine));
    ok(cudaStreamGetId(cudaStreamPerThread, &again));
    pthread_create(&thread, NULL, own_number, &others);
    pthread_join(thread, NULL);
    cr_expect_eq(mine, again);
    cr_expect(legacy != mine && legacy != others && mine != others);
}

Test(streams, attributes_of_streams_are_kept)
{
    cudaStream_t one, two;
    cudaStreamAttrValue value = {0}, got;
    ok(cudaStreamCreate(&one));
    ok(cudaStreamCreate(&two));
    value.accessPolicyWindow.num_bytes = 4096;
    ok(cudaStreamSetAttribute(one, cudaStreamAttributeAccessPolicyWindow, &value));
    ok(cudaStreamCopyAttributes(two, one));
    ok(cudaStreamGetAttribute(two, cudaStreamAttributeAccessPolicyWindow, &got));
    cr_assert(got.accessPolicyWindow.num_bytes == 4096);
    is(cudaStreamSetAttribute(one, cudaLaunchAttributeCooperative, &value), cudaErrorInvalidValue);
}
