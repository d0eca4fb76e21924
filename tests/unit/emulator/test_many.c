/*
 * test_many.c — calls of the runtime library take no longer when very many streams, events, graphs
 * or nodes exist.
 *
 * Most tests make COUNT of something and name each one in the order in which they were made. A
 * search through all the others takes COUNT² / 2 steps, on the machine where this was written 10 to
 * 80 s of processor time; without one each test takes less than 0.5 s. SECONDS lies in between.
 */
#include "tests/support/cudart_check.h"

#include <stdlib.h>
#include <time.h>

enum { COUNT = 60000, SECONDS = 4 };

static void in_time(void)
{
    double took = (double)clock() / CLOCKS_PER_SEC;
    cr_expect_lt(took, SECONDS, "%.1f s for %d", took, COUNT);
}

TestSuite(many, .fini = in_time, .timeout = 120);

static void *many(size_t size)
{
    void *memory = calloc(COUNT, size);
    cr_assert(memory != NULL);
    return memory;
}

static void nothing(void *data) { (void)data; }

static void add_host_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *needs,
                          size_t count)
{
    struct cudaHostNodeParams params = {nothing, NULL};
    ok(cudaGraphAddHostNode(node, graph, needs, count, &params));
}

/* A graph of COUNT nodes in a row, made by hand: `nodes` has room for them. */
static cudaGraph_t chain(cudaGraphNode_t *nodes)
{
    cudaGraph_t graph = given(cudaGraph_t, cudaGraphCreate, 0);
    for (int i = 0; i < COUNT; i++) add_host_node(&nodes[i], graph, &nodes[i - (i > 0)], i > 0);
    return graph;
}

Test(many, events)
{
    cudaEvent_t *events = many(sizeof *events);
    for (int i = 0; i < COUNT; i++) ok(cudaEventCreate(&events[i]));
    for (int i = 0; i < COUNT; i++) ok(cudaEventRecord(events[i], NULL));
    for (int i = 0; i < COUNT; i++) ok(cudaEventDestroy(events[i]));
    is(cudaEventRecord(events[0], NULL), cudaErrorInvalidResourceHandle);
    free(events);
}

Test(many, streams)
{
    cudaStream_t *streams = many(sizeof *streams);
    for (int i = 0; i < COUNT; i++) ok(cudaStreamCreate(&streams[i]));
    for (int i = 0; i < COUNT; i++) ok(cudaStreamSynchronize(streams[i]));
    for (int i = 0; i < COUNT; i++) ok(cudaStreamDestroy(streams[i]));
    is(cudaStreamSynchronize(streams[0]), cudaErrorInvalidResourceHandle);
    for (int i = 0; i < COUNT; i++) ok(cudaStreamCreate(&streams[i]));
    ok(cudaDeviceReset());
    is(cudaStreamSynchronize(streams[COUNT - 1]), cudaErrorInvalidResourceHandle);
    free(streams);
}

/* Each stream's work follows the origin's, and the origin's end follows all of theirs. */
Test(many, streams_that_are_captured_together)
{
    cudaStream_t origin, *streams = many(sizeof *streams);
    ok(cudaStreamCreate(&origin));
    cudaEvent_t event = given(cudaEvent_t, cudaEventCreate);
    for (int i = 0; i < COUNT; i++)
        ok(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
    ok(cudaStreamBeginCapture(origin, cudaStreamCaptureModeRelaxed));
    ok(cudaEventRecord(event, origin));
    for (int i = 0; i < COUNT; i++) ok(cudaStreamWaitEvent(streams[i], event, 0));
    for (int i = 0; i < COUNT; i++) {
        ok(cudaLaunchHostFunc(streams[i], nothing, NULL));
        ok(cudaEventRecord(event, streams[i]));
        ok(cudaStreamWaitEvent(origin, event, 0));
    }
    ok(cudaLaunchHostFunc(origin, nothing, NULL));
    cudaGraph_t graph = given_last(cudaGraph_t, cudaStreamEndCapture, origin);
    ok(cudaGraphDestroy(graph));
    for (int i = 0; i < COUNT; i++) ok(cudaStreamDestroy(streams[i]));
    free(streams);
}

Test(many, captures)
{
    cudaGraph_t graph;
    cudaStream_t *streams = many(sizeof *streams);
    for (int i = 0; i < COUNT; i++) ok(cudaStreamCreate(&streams[i]));
    for (int i = 0; i < COUNT; i++)
        ok(cudaStreamBeginCapture(streams[i], cudaStreamCaptureModeRelaxed));
    for (int i = 0; i < COUNT; i++) ok(cudaLaunchHostFunc(streams[i], nothing, NULL));
    for (int i = 0; i < COUNT; i++) {
        ok(cudaStreamEndCapture(streams[i], &graph));
        ok(cudaGraphDestroy(graph));
    }
    free(streams);
}

Test(many, nodes_that_are_captured)
{
    cudaStream_t stream = given(cudaStream_t, cudaStreamCreate);
    ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < COUNT; i++) ok(cudaLaunchHostFunc(stream, nothing, NULL));
    cudaGraph_t graph = given_last(cudaGraph_t, cudaStreamEndCapture, stream);
    cudaGraphExec_t exec = given(cudaGraphExec_t, cudaGraphInstantiate, graph, 0);
    ok(cudaGraphLaunch(exec, stream));
    ok(cudaGraphExecDestroy(exec));
    ok(cudaGraphDestroy(graph));
}

/* The last node depends on all others, which were added in the opposite order of their
 * dependencies. */
Test(many, nodes_that_are_added)
{
    cudaGraphNode_t last, *nodes = many(sizeof *nodes);
    cudaGraph_t graph = given(cudaGraph_t, cudaGraphCreate, 0);
    for (int i = 0; i < COUNT; i++) add_host_node(&nodes[i], graph, NULL, 0);
    ok(cudaGraphAddDependencies(graph, &nodes[1], &nodes[0], NULL, COUNT - 1));
    add_host_node(&last, graph, nodes, COUNT);
    given(cudaGraphExec_t, cudaGraphInstantiate, graph, 0);
    size_t needed = 0;
    for (int i = 0; i < COUNT; i++)
        ok(cudaGraphNodeGetDependentNodes(nodes[i], NULL, NULL, &needed));
    cr_assert(needed == 2, "%zu", needed);
    ok(cudaGraphRemoveDependencies(graph, &nodes[1], &nodes[0], NULL, COUNT - 1));
    for (int i = 0; i < COUNT; i++) ok(cudaGraphDestroyNode(nodes[i]));
    free(nodes);
}

/* A list that was long and has been shortened is as correct as one that was never long. */
Test(many, edges_come_and_go)
{
    enum { EDGES = 40 };
    cudaGraphNode_t last, nodes[EDGES];
    size_t count = 0;
    cudaGraph_t graph = given(cudaGraph_t, cudaGraphCreate, 0);
    for (int i = 0; i < EDGES; i++) add_host_node(&nodes[i], graph, NULL, 0);
    add_host_node(&last, graph, nodes, EDGES);
    for (int round = 0; round < 3; round++) {
        int kept = round; /* the number of edges that stay */
        for (int i = kept; i < EDGES; i++)
            ok(cudaGraphRemoveDependencies(graph, &nodes[i], &last, NULL, 1));
        ok(cudaGraphNodeGetDependencies(last, NULL, NULL, &count));
        cr_assert(count == (size_t)kept, "%zu", count);
        for (int i = 0; i < EDGES; i++)
            is(cudaGraphAddDependencies(graph, &nodes[i], &last, NULL, 1),
               i < kept ? cudaErrorInvalidValue : cudaSuccess);
        for (int i = 0; i < EDGES; i++)
            is(cudaGraphAddDependencies(graph, &nodes[i], &last, NULL, 1), cudaErrorInvalidValue);
        ok(cudaGraphNodeGetDependentNodes(nodes[EDGES - 1], NULL, NULL, &count));
        cr_assert(count == 1, "%zu", count);
    }
}

Test(many, nodes_that_are_changed)
{
    cudaGraphExecUpdateResultInfo info;
    struct cudaHostNodeParams params = {nothing, NULL};
    cudaGraphNode_t *nodes = many(sizeof *nodes);
    cudaGraph_t graph = chain(nodes);
    cudaGraphExec_t exec = given(cudaGraphExec_t, cudaGraphInstantiate, graph, 0);
    for (int i = 0; i < COUNT; i++) ok(cudaGraphExecHostNodeSetParams(exec, nodes[i], &params));
    ok(cudaGraphExecUpdate(exec, graph, &info));
    free(nodes);
}

Test(many, graphs)
{
    cudaGraph_t *graphs = many(sizeof *graphs);
    cudaGraphExec_t *execs = many(sizeof *execs);
    for (int i = 0; i < COUNT; i++) {
        ok(cudaGraphCreate(&graphs[i], 0));
        ok(cudaGraphInstantiate(&execs[i], graphs[i], 0));
    }
    for (int i = 0; i < COUNT; i++) ok(cudaGraphLaunch(execs[i], NULL));
    for (int i = 0; i < COUNT; i++) {
        ok(cudaGraphExecDestroy(execs[i]));
        ok(cudaGraphDestroy(graphs[i]));
    }
    is(cudaGraphDestroy(graphs[0]), cudaErrorInvalidValue);
    is(cudaGraphLaunch(execs[0], NULL), cudaErrorInvalidValue);
    free(graphs);
    free(execs);
}

Test(many, allocations_of_graphs)
{
    enum { BYTES = 16 };
    cudaGraphNode_t node;
    void **memory = many(sizeof *memory);
    struct cudaMemAllocNodeParams params = {
        .poolProps = {.allocType = cudaMemAllocationTypePinned,
                      .location = {.type = cudaMemLocationTypeDevice}},
        .bytesize = BYTES};
    cudaGraph_t graph = given(cudaGraph_t, cudaGraphCreate, 0);
    for (int i = 0; i < COUNT; i++) {
        ok(cudaGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
        memory[i] = params.dptr;
    }
    for (int i = 0; i < COUNT; i++) ok(cudaGraphAddMemFreeNode(&node, graph, NULL, 0, memory[i]));
    ok(cudaGraphDestroy(graph));
    free(memory);
}

Test(many, user_objects_of_a_graph)
{
    cudaUserObject_t *objects = many(sizeof *objects);
    cudaGraph_t graph = given(cudaGraph_t, cudaGraphCreate, 0);
    for (int i = 0; i < COUNT; i++) {
        ok(cudaUserObjectCreate(&objects[i], NULL, nothing, 1, cudaUserObjectNoDestructorSync));
        ok(cudaGraphRetainUserObject(graph, objects[i], 1, cudaGraphUserObjectMove));
    }
    for (int i = 0; i < COUNT; i++) ok(cudaGraphReleaseUserObject(graph, objects[i], 1));
    free(objects);
}

Test(many, pools)
{
    struct cudaMemPoolProps params = {.allocType = cudaMemAllocationTypePinned,
                                      .location = {.type = cudaMemLocationTypeDevice}};
    cudaMemPool_t *made = many(sizeof *made);
    for (int i = 0; i < COUNT; i++) ok(cudaMemPoolCreate(&made[i], &params));
    for (int i = 0; i < COUNT; i++) ok(cudaMemPoolTrimTo(made[i], 0));
    for (int i = 0; i < COUNT; i++) ok(cudaMemPoolDestroy(made[i]));
    is(cudaMemPoolTrimTo(made[0], 0), cudaErrorInvalidValue);
    free(made);
}
