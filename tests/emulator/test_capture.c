/*
 * test_capture.c — streams that are captured as graphs: which calls become nodes, which streams
 * join, and which calls are forbidden meanwhile (Programming Guide, "Creating a Graph Using Stream
 * Capture").
 */
#include "tests/support/cudart_check.h"

#include <pthread.h>

static cudaStream_t new_stream(unsigned flags)
{
    cudaStream_t stream;
    ok(cudaStreamCreateWithFlags(&stream, flags));
    return stream;
}

static cudaEvent_t new_event(void)
{
    cudaEvent_t event;
    ok(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    return event;
}

static int *zero(void)
{
    int *memory = device_memory(sizeof *memory);
    ok(cudaMemset(memory, 0, sizeof *memory));
    return memory;
}

static enum cudaStreamCaptureStatus status_of(cudaStream_t stream)
{
    enum cudaStreamCaptureStatus status;
    ok(cudaStreamIsCapturing(stream, &status));
    return status;
}

static size_t node_count(cudaGraph_t graph)
{
    size_t count;
    ok(cudaGraphGetNodes(graph, NULL, &count));
    return count;
}

static void run(cudaGraph_t graph, int times)
{
    cudaGraphExec_t exec;
    ok(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < times; i++) ok(cudaGraphLaunch(exec, NULL));
    ok(cudaDeviceSynchronize());
    ok(cudaGraphExecDestroy(exec));
}

/* Begins a capture in a stream, and forks to another one. */
static void begin_fork(cudaStream_t origin, cudaStream_t other)
{
    cudaEvent_t fork = new_event();
    ok(cudaStreamBeginCapture(origin, cudaStreamCaptureModeGlobal));
    ok(cudaEventRecord(fork, origin));
    ok(cudaStreamWaitEvent(other, fork, 0));
}

static void add_one(void *number) { ++*(int *)number; }

/* The memory of a fill has to be there, although nothing is written yet. */
Test(capture, a_fill_of_memory_that_is_not_there)
{
    int *device = zero();
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    cudaGraph_t graph;
    ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    ok(cudaMemsetAsync(device, 1, sizeof *device, stream));
    ok(cudaStreamEndCapture(stream, &graph));
    ok(cudaGraphDestroy(graph));
    ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    is(cudaMemsetAsync((void *)((size_t)1 << 20), 1, 4, stream), cudaErrorInvalidValue);
    is(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    is(cudaMemsetAsync(device, 1, (size_t)1 << 30, stream), cudaErrorInvalidValue);
    is(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    ok(cudaStreamDestroy(stream));
    ok(cudaFree(device));
}

Test(capture, work_is_kept_and_not_done)
{
    int *device = zero(), host = -1, calls = 0;
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    cudaGraph_t graph;
    ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    cr_assert(status_of(stream) == cudaStreamCaptureStatusActive);
    for (int i = 1; i <= 3; i++) ok(launch_add(device, i, stream)); /* arguments are copied */
    ok(cudaMemcpyAsync(&host, device, sizeof host, cudaMemcpyDeviceToHost, stream));
    ok(cudaLaunchHostFunc(stream, add_one, &calls));
    ok(cudaMemsetAsync(device, 0, sizeof host, stream));
    ok(cudaStreamEndCapture(stream, &graph));
    cr_assert(status_of(stream) == cudaStreamCaptureStatusNone);
    cr_assert(host == -1 && calls == 0 && value_at(device) == 0);
    cr_assert(node_count(graph) == 6);
    run(graph, 2);
    cr_assert(host == 6 && calls == 2, "%d, %d calls", host, calls);
}

/* fork by an event, work in two streams, join by another event */
Test(capture, forks_and_joins)
{
    int *a = zero(), *b = zero(), *sum = zero();
    cudaStream_t origin = new_stream(cudaStreamDefault), other = new_stream(cudaStreamDefault);
    cudaEvent_t fork = new_event(), join = new_event();
    cudaGraph_t graph;
    for (int is_right = 0; is_right < 2; is_right++) {
        ok(cudaStreamBeginCapture(origin, cudaStreamCaptureModeGlobal));
        ok(launch_add(sum, 1, origin));
        ok(cudaEventRecord(fork, origin));
        ok(cudaStreamWaitEvent(other, fork, 0));
        cr_assert(status_of(other) == cudaStreamCaptureStatusActive);
        ok(launch_add(a, 2, origin));
        ok(launch_add(b, 3, other));
        ok(cudaEventRecord(join, other));
        ok(cudaStreamWaitEvent(origin, join, 0));
        ok(launch_add(sum, 4, origin));
        if (is_right) break;
        is(cudaStreamEndCapture(other, &graph), cudaErrorStreamCaptureUnmatched);
        is(cudaStreamEndCapture(origin, &graph), cudaErrorStreamCaptureInvalidated);
        cr_assert(graph == NULL);
        cudaGetLastError();
    }
    ok(cudaStreamEndCapture(origin, &graph));
    cr_assert(status_of(other) == cudaStreamCaptureStatusNone);
    size_t count;
    cudaGraphNode_t nodes[4];
    ok(cudaGraphGetEdges(graph, NULL, NULL, NULL, &count));
    cr_assert(node_count(graph) == 4 && count == 4, "%zu edges", count);
    count = 4;
    ok(cudaGraphGetNodes(graph, nodes, &count));
    ok(cudaGraphNodeGetDependencies(nodes[3], NULL, NULL, &count));
    cr_assert(count == 2);
    run(graph, 1);
    cr_assert(value_at(sum) == 5 && value_at(a) == 2 && value_at(b) == 3);
}

Test(capture, what_is_not_joined_is_an_error)
{
    int *device = zero();
    cudaStream_t origin = new_stream(cudaStreamDefault), other = new_stream(cudaStreamDefault);
    cudaGraph_t graph;
    begin_fork(origin, other);
    ok(launch_add(device, 1, other));
    is(cudaStreamEndCapture(origin, &graph), cudaErrorStreamCaptureUnjoined);
    cr_assert(status_of(origin) == cudaStreamCaptureStatusNone);
    cudaGetLastError();
    ok(launch_add(device, 1, other)); /* free again */
    cr_assert(value_at(device) == 1);
}

/* Its work is in the graph already. */
Test(capture, a_joined_stream_may_be_destroyed)
{
    int *device = zero();
    cudaStream_t origin = new_stream(cudaStreamDefault), other = new_stream(cudaStreamDefault);
    cudaEvent_t join = new_event();
    cudaGraph_t graph;
    begin_fork(origin, other);
    ok(launch_add(device, 1, other));
    ok(cudaEventRecord(join, other));
    ok(cudaStreamWaitEvent(origin, join, 0));
    ok(cudaStreamDestroy(other));
    ok(cudaEventDestroy(join));
    cr_assert(status_of(origin) == cudaStreamCaptureStatusActive);
    ok(launch_add(device, 2, origin));
    ok(cudaStreamEndCapture(origin, &graph));
    cr_assert(node_count(graph) == 2);
    run(graph, 1);
    cr_assert(value_at(device) == 3);
}

/* An event that the stream has recorded can still join its work. Without the join the capture
 * cannot be ended. */
Test(capture, a_stream_may_be_destroyed_before_it_is_joined)
{
    for (int is_joined = 0; is_joined <= 1; is_joined++) {
        int *device = zero();
        cudaStream_t origin = new_stream(cudaStreamDefault), other = new_stream(cudaStreamDefault);
        cudaEvent_t join = new_event();
        cudaGraph_t graph;
        begin_fork(origin, other);
        ok(launch_add(device, 1, other));
        ok(cudaEventRecord(join, other));
        ok(cudaStreamDestroy(other));
        if (is_joined) ok(cudaStreamWaitEvent(origin, join, 0));
        is(cudaStreamEndCapture(origin, &graph),
           is_joined ? cudaSuccess : cudaErrorStreamCaptureUnjoined);
        cudaGetLastError();
    }
}

/* The capture ends with the stream that it began in; another one is free again. */
Test(capture, the_origin_is_destroyed)
{
    int *device = zero();
    cudaStream_t origin = new_stream(cudaStreamDefault), other = new_stream(cudaStreamDefault);
    begin_fork(origin, other);
    ok(cudaStreamDestroy(origin));
    cr_assert(status_of(other) == cudaStreamCaptureStatusNone);
    ok(launch_add(device, 1, other));
    cr_assert(value_at(device) == 1);
}

/* Each of these calls invalidates the capture, and the call that ends it returns that error. */
static void expect_spoiled(cudaStream_t stream)
{
    cudaGraph_t graph;
    cr_assert(status_of(stream) == cudaStreamCaptureStatusInvalidated);
    is(launch_add(NULL, 1, stream), cudaErrorStreamCaptureInvalidated);
    is(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    cudaGetLastError();
    ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
}
#define SPOILS(call, error)                                                                        \
    do {                                                                                           \
        is(call, error);                                                                           \
        expect_spoiled(stream);                                                                    \
    } while (0)

Test(capture, what_may_wait_is_forbidden)
{
    int host = 0, *device = zero();
    void *memory;
    cudaStream_t stream = new_stream(cudaStreamNonBlocking), other = new_stream(0);
    cudaEvent_t event = new_event(), outside = new_event();
    ok(cudaEventRecord(outside, other));
    ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    SPOILS(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
    SPOILS(cudaStreamQuery(stream), cudaErrorStreamCaptureUnsupported);
    SPOILS(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
    SPOILS(cudaMalloc(&memory, 4), cudaErrorStreamCaptureUnsupported);
    SPOILS(cudaMemcpy(&host, device, 4, cudaMemcpyDeviceToHost), cudaErrorStreamCaptureUnsupported);
    SPOILS(cudaEventQuery(outside), cudaErrorStreamCaptureUnsupported);
    ok(cudaEventRecord(event, stream));
    SPOILS(cudaEventSynchronize(event), cudaErrorCapturedEvent);
    SPOILS(cudaStreamWaitEvent(stream, outside, 0), cudaErrorStreamCaptureIsolation);
    SPOILS(cudaStreamAddCallback(stream, (cudaStreamCallback_t)(void (*)(void))add_one, &host, 0),
           cudaErrorStreamCaptureUnsupported);
    is(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaErrorIllegalState);
}

Test(capture, the_legacy_stream_waits_for_blocking_ones)
{
    int *device = zero();
    cudaStream_t stream = new_stream(cudaStreamDefault),
                 free_one = new_stream(cudaStreamNonBlocking);
    cudaGraph_t graph;
    is(cudaStreamBeginCapture(NULL, cudaStreamCaptureModeGlobal),
       cudaErrorStreamCaptureUnsupported);
    is(cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState);
    cudaGetLastError();
    ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    is(launch_add(device, 1, NULL), cudaErrorStreamCaptureImplicit);
    expect_spoiled(stream);
    is(cudaMemset(device, 0, 4), cudaErrorStreamCaptureImplicit);
    is(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    cudaGetLastError();
    ok(cudaStreamBeginCapture(free_one, cudaStreamCaptureModeRelaxed));
    ok(launch_add(device, 1, NULL));
    ok(cudaStreamEndCapture(free_one, &graph));
    cr_assert(value_at(device) == 1);
}

/* Of the three modes, only the relaxed one allows the thread of the capture to make calls that may
 * wait. */
static void *allocate(void *result)
{
    void *memory;
    *(cudaError_t *)result = cudaMalloc(&memory, 4);
    return NULL;
}

static cudaError_t allocate_in_another_thread(void)
{
    cudaError_t error;
    pthread_t thread;
    cr_assert(pthread_create(&thread, NULL, allocate, &error) == 0);
    pthread_join(thread, NULL);
    return error;
}

Test(capture, modes)
{
    void *memory;
    cudaGraph_t graph;
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    is(allocate_in_another_thread(), cudaErrorStreamCaptureUnsupported);
    is(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);

    ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    ok(allocate_in_another_thread());
    is(cudaMalloc(&memory, 4), cudaErrorStreamCaptureUnsupported);
    is(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);

    ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    ok(cudaMalloc(&memory, 4));
    ok(cudaStreamEndCapture(stream, &graph));

    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    ok(cudaThreadExchangeStreamCaptureMode(&mode));
    cr_assert(mode == cudaStreamCaptureModeGlobal);
    ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    ok(cudaMalloc(&memory, 4));
    ok(cudaStreamEndCapture(stream, &graph));
}

static void *end_capture(void *context)
{
    cudaGraph_t graph;
    return (void *)(size_t)cudaStreamEndCapture(context, &graph);
}

Test(capture, ends_in_its_own_thread)
{
    pthread_t thread;
    void *error;
    cudaGraph_t graph;
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    cr_assert(pthread_create(&thread, NULL, end_capture, stream) == 0);
    pthread_join(thread, &error);
    is((cudaError_t)(size_t)error, cudaErrorStreamCaptureWrongThread);
    ok(cudaStreamEndCapture(stream, &graph));
}

Test(capture, two_captures_do_not_mix)
{
    cudaStream_t one = new_stream(0), two = new_stream(0);
    cudaEvent_t event = new_event();
    ok(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    ok(cudaStreamBeginCapture(two, cudaStreamCaptureModeGlobal));
    ok(cudaEventRecord(event, one));
    is(cudaStreamWaitEvent(two, event, 0), cudaErrorStreamCaptureMerge);
    cr_assert(status_of(one) == cudaStreamCaptureStatusInvalidated);
    cr_assert(status_of(two) == cudaStreamCaptureStatusInvalidated);
}

Test(capture, allocations_and_graphs_inside)
{
    int *memory, out = 0;
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    cudaGraph_t inner, outer;
    cudaGraphExec_t exec;
    ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    ok(cudaMallocAsync((void **)&memory, sizeof *memory, stream));
    ok(cudaMemsetAsync(memory, 0, sizeof *memory, stream));
    ok(launch_add(memory, 8, stream));
    ok(cudaMemcpyAsync(&out, memory, sizeof out, cudaMemcpyDeviceToHost, stream));
    ok(cudaFreeAsync(memory, stream));
    ok(cudaStreamEndCapture(stream, &inner));
    cr_assert(node_count(inner) == 5);
    ok(cudaGraphInstantiate(&exec, inner, 0));

    ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    ok(cudaGraphLaunch(exec, stream)); /* becomes a child */
    ok(cudaStreamEndCapture(stream, &outer));
    cr_assert(node_count(outer) == 1 && out == 0);
    run(outer, 2);
    cr_assert(out == 8);
}

Test(capture, can_be_asked_and_steered)
{
    int *device = zero();
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    enum cudaStreamCaptureStatus status;
    unsigned long long id = 0;
    cudaGraph_t graph, ended;
    const cudaGraphNode_t *needs;
    cudaGraphNode_t added;
    size_t count;
    ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    ok(launch_add(device, 1, stream));
    ok(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &needs, NULL, &count));
    cr_assert(status == cudaStreamCaptureStatusActive && id != 0 && count == 1);
    ok(cudaGraphAddEmptyNode(&added, graph, needs, count));
    ok(cudaStreamUpdateCaptureDependencies(stream, &added, NULL, 1,
                                           cudaStreamSetCaptureDependencies));
    ok(launch_add(device, 1, stream));
    ok(cudaStreamEndCapture(stream, &ended));
    cr_assert(ended == graph && node_count(graph) == 3);
    size_t edges;
    ok(cudaGraphGetEdges(graph, NULL, NULL, NULL, &edges));
    cr_assert(edges == 2);

    ok(cudaStreamBeginCaptureToGraph(stream, graph, &added, NULL, 1, cudaStreamCaptureModeGlobal));
    ok(launch_add(device, 10, stream));
    ok(cudaStreamEndCapture(stream, &ended));
    cr_assert(ended == graph && node_count(graph) == 4);
    run(graph, 1);
    cr_assert(value_at(device) == 12);
}

/* An external event becomes a node of the graph, and is recorded when the graph runs. */
Test(capture, external_events)
{
    float milliseconds;
    cudaEvent_t start, stop;
    cudaGraph_t graph;
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    int *device = zero();
    ok(cudaEventCreate(&start));
    ok(cudaEventCreate(&stop));
    ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    ok(cudaEventRecordWithFlags(start, stream, cudaEventRecordExternal));
    ok(launch_add(device, 1, stream));
    ok(cudaEventRecordWithFlags(stop, stream, cudaEventRecordExternal));
    ok(cudaStreamEndCapture(stream, &graph));
    cr_assert(node_count(graph) == 3);
    run(graph, 1);
    ok(cudaEventElapsedTime(&milliseconds, start, stop));
    cr_assert(milliseconds > 0);
}
