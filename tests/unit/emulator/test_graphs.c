/*
 * test_graphs.c — graphs: made by hand, instantiated, launched, changed; and streams that are
 * captured as graphs: which calls become nodes, which streams join, and which calls are forbidden
 * meanwhile (Programming Guide, "Creating a Graph Using Stream Capture").
 */
#define _GNU_SOURCE /* mkstemp */
#include "tests/support/cudart_check.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

static struct cudaKernelNodeParams kernel(const void *function, void **args)
{
    return (struct cudaKernelNodeParams){.func = (void *)function,
                                         .gridDim = {1, 1, 1},
                                         .blockDim = {1, 1, 1},
                                         .kernelParams = args};
}

/* An int on the device that is 0. */
static int *zero(void)
{
    int *memory = device_memory(sizeof *memory);
    ok(cudaMemset(memory, 0, sizeof *memory));
    return memory;
}

static cudaGraph_t new_graph(void) { return given(cudaGraph_t, cudaGraphCreate, 0); }

/* Adds a node for *to += value. */
static cudaGraphNode_t add_node(cudaGraph_t graph, cudaGraphNode_t needs, int *to, int value)
{
    cudaGraphNode_t node;
    struct cudaKernelNodeParams params = kernel(add_kernel(), (void *[]){&to, &value});
    ok(cudaGraphAddKernelNode(&node, graph, &needs, needs != NULL, &params));
    return node;
}

static cudaGraphExec_t instantiate(cudaGraph_t graph)
{
    return given(cudaGraphExec_t, cudaGraphInstantiate, graph, 0);
}

static struct cudaMemsetParams fill_of(int *word, unsigned value)
{
    return (struct cudaMemsetParams){
        .dst = word, .value = value, .elementSize = 4, .width = 1, .height = 1};
}

static struct cudaMemAllocNodeParams four_bytes(void)
{
    return (struct cudaMemAllocNodeParams){
        .poolProps = {.allocType = cudaMemAllocationTypePinned,
                      .location = {.type = cudaMemLocationTypeDevice}},
        .bytesize = 4};
}

static void launch(cudaGraphExec_t exec)
{
    ok(cudaGraphLaunch(exec, NULL));
    ok(cudaDeviceSynchronize());
}

static void square(void *number) { *(int *)number *= *(int *)number; }

/* memset → kernel → copy → host function: every kind of node. They run in the order of their
 * dependencies, not in the order in which they were added. */
Test(graphs, nodes_run_in_the_order_of_their_needs)
{
    int host = 0, *device = zero();
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t fill, run, copy, call, empty;
    struct cudaHostNodeParams function = {square, &host};
    ok(cudaGraphAddHostNode(&call, graph, NULL, 0, &function));
    ok(cudaGraphAddMemcpyNode1D(&copy, graph, NULL, 0, &host, device, 4, cudaMemcpyDeviceToHost));
    run = add_node(graph, NULL, device, 5);
    ok(cudaGraphAddEmptyNode(&empty, graph, &run, 1));
    struct cudaMemsetParams two = fill_of(device, 2);
    ok(cudaGraphAddMemsetNode(&fill, graph, NULL, 0, &two));
    cudaGraphNode_t from[] = {copy, empty, fill}, to[] = {call, copy, run};
    ok(cudaGraphAddDependencies(graph, from, to, NULL, 3));

    cudaGraphExec_t exec = instantiate(graph);
    for (int i = 0; i < 2; i++) {
        host = 0;
        launch(exec);
        cr_assert(host == 49, "%d", host);
    }
    ok(cudaGraphExecDestroy(exec));
    is(cudaGraphLaunch(exec, NULL), cudaErrorInvalidValue);
    ok(cudaGraphDestroy(graph));
    is(cudaGraphDestroy(graph), cudaErrorInvalidValue);
}

/* "Instantiation failed due to invalid structure, such as cycles" */
Test(graphs, a_circle_is_refused)
{
    cr_redirect_stderr();
    int *device = zero();
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t a = add_node(graph, NULL, device, 1), b = add_node(graph, a, device, 1);
    is(cudaGraphAddDependencies(graph, &a, &a, NULL, 1), cudaErrorInvalidValue);
    is(cudaGraphAddDependencies(graph, &a, &b, NULL, 1), cudaErrorInvalidValue); /* it exists */
    ok(cudaGraphAddDependencies(graph, &b, &a, NULL, 1));
    cudaGraphExec_t exec;
    cudaGraphInstantiateParams params = {0};
    is(cudaGraphInstantiateWithParams(&exec, graph, &params), cudaErrorInvalidValue);
    cr_assert(params.result_out == cudaGraphInstantiateInvalidStructure);
    is(cudaGraphInstantiateWithFlags(&exec, graph, 0), cudaErrorInvalidValue);
    ok(cudaGraphRemoveDependencies(graph, &b, &a, NULL, 1));
    is(cudaGraphRemoveDependencies(graph, &b, &a, NULL, 1), cudaErrorInvalidValue);
    ok(cudaGraphInstantiateWithParams(&exec, graph, &params));
    cr_assert(params.result_out == cudaGraphInstantiateSuccess);
    cr_assert(strstr(read_stderr(), "in a circle") != NULL);
}

Test(graphs, tell_what_is_in_them)
{
    int *device = zero();
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t a = add_node(graph, NULL, device, 1), b = add_node(graph, a, device, 1),
                    c = add_node(graph, a, device, 1), list[8], other[8];
    size_t count = given_last(size_t, cudaGraphGetNodes, graph, NULL);
    cr_assert(count == 3);
    count = 8;
    ok(cudaGraphGetNodes(graph, list, &count));
    cr_assert(count == 3 && list[0] == a && list[2] == c && list[3] == NULL);
    count = 8;
    ok(cudaGraphGetRootNodes(graph, list, &count));
    cr_assert(count == 1 && list[0] == a);
    count = 8;
    ok(cudaGraphGetEdges(graph, list, other, NULL, &count));
    cr_assert(count == 2 && list[0] == a && list[1] == a && other[0] == b && other[1] == c);
    count = 8;
    ok(cudaGraphNodeGetDependencies(b, list, NULL, &count));
    cr_assert(count == 1 && list[0] == a);
    ok(cudaGraphNodeGetDependentNodes(a, NULL, NULL, &count));
    cr_assert(count == 2);
    enum cudaGraphNodeType type = given_last(enum cudaGraphNodeType, cudaGraphNodeGetType, a);
    cr_assert(type == cudaGraphNodeTypeKernel);
    ok(cudaGraphDestroyNode(a)); /* its edges go with it */
    ok(cudaGraphGetEdges(graph, NULL, NULL, NULL, &count));
    cr_assert(count == 0);
}

Test(graphs, parameters_are_copied_and_can_be_changed)
{
    int *device = zero(), *target = device, value = 3;
    cudaGraph_t graph = new_graph();
    void *args[] = {&target, &value};
    struct cudaKernelNodeParams params = kernel(add_kernel(), args), asked;
    cudaGraphNode_t node = given(cudaGraphNode_t, cudaGraphAddKernelNode, graph, NULL, 0, &params);
    value = 1000;
    target = NULL;
    cudaGraphExec_t exec = instantiate(graph);
    launch(exec);
    cr_assert(value_at(device) == 3);
    ok(cudaGraphKernelNodeGetParams(node, &asked));
    cr_assert(asked.func == add_kernel() && *(int *)asked.kernelParams[1] == 3);

    target = device;
    value = 10;
    ok(cudaGraphExecKernelNodeSetParams(exec, node, &params)); /* only in the executable graph */
    launch(exec);
    cr_assert(value_at(device) == 13);
    ok(cudaGraphKernelNodeGetParams(node, &asked));
    cr_assert(*(int *)asked.kernelParams[1] == 3);
    value = 100;
    ok(cudaGraphKernelNodeSetParams(node, &params)); /* only in the graph */
    launch(exec);
    cr_assert(value_at(device) == 23);
    cudaGraphExecUpdateResultInfo info;
    ok(cudaGraphExecUpdate(exec, graph, &info));
    cr_assert(info.result == cudaGraphExecUpdateSuccess);
    launch(exec);
    cr_assert(value_at(device) == 123);

    ok(cudaGraphNodeSetEnabled(exec, node, 0));
    launch(exec);
    cr_assert(value_at(device) == 123);
    struct cudaMemsetParams fill = {.dst = device, .elementSize = 1, .width = 4, .height = 1};
    is(cudaGraphExecMemsetNodeSetParams(exec, node, &fill), cudaErrorInvalidValue);
    params.func = (void *)&fill;
    is(cudaGraphAddKernelNode(&node, graph, NULL, 0, &params), cudaErrorInvalidResourceHandle);
}

Test(graphs, copies_of_variables)
{
    static const enum cudaMemcpyKind to = cudaMemcpyHostToDevice, from = cudaMemcpyDeviceToHost;
    const void *table = table_symbol();
    int values[] = {500005, 600006, 700007}, got = 0, other = 0;
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t in, out;
    ok(cudaGraphAddMemcpyNodeToSymbol(&in, graph, NULL, 0, table, &values[0], 4, 4, to));
    ok(cudaGraphAddMemcpyNodeFromSymbol(&out, graph, &in, 1, &got, table, 4, 4, from));
    is(cudaGraphAddMemcpyNodeToSymbol(&in, graph, NULL, 0, &got, values, 4, 0, to),
       cudaErrorInvalidSymbol);
    is(cudaGraphAddMemcpyNodeFromSymbol(&out, graph, NULL, 0, values, table, 8, 12, from),
       cudaErrorInvalidValue);
    cudaGraphExec_t exec = instantiate(graph);
    launch(exec);
    cr_assert(got == values[0], "%d", got);

    ok(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, in, table, &values[1], 4, 8, to));
    ok(cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, out, &other, table, 4, 8, from));
    is(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, in, &got, values, 4, 0, to),
       cudaErrorInvalidSymbol);
    is(cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, out, &other, &got, 4, 0, from),
       cudaErrorInvalidSymbol);
    launch(exec);
    cr_assert(got == values[0] && other == values[1], "%d %d", got, other);

    ok(cudaGraphMemcpyNodeSetParamsToSymbol(in, table, &values[2], 4, 0, to));
    ok(cudaGraphMemcpyNodeSetParamsFromSymbol(out, &got, table, 4, 0, from));
    is(cudaGraphMemcpyNodeSetParamsToSymbol(in, &got, values, 4, 0, to), cudaErrorInvalidSymbol);
    is(cudaGraphMemcpyNodeSetParamsFromSymbol(out, &got, &got, 4, 0, from), cudaErrorInvalidSymbol);
    launch(instantiate(graph));
    cr_assert(got == values[2] && other == values[1], "%d %d", got, other);
}

/* Fills, host functions and events: what a node was given, and something else. */
Test(graphs, parameters_of_other_nodes)
{
    int number = 3, other = 4, *memory = zero();
    struct cudaMemsetParams seven = fill_of(memory, 7), fill;
    struct cudaHostNodeParams squares = {square, &number}, host;
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t fills, calls, records, waits;
    cudaEvent_t first = given(cudaEvent_t, cudaEventCreate),
                second = given(cudaEvent_t, cudaEventCreate), event;
    ok(cudaGraphAddMemsetNode(&fills, graph, NULL, 0, &seven));
    ok(cudaGraphAddHostNode(&calls, graph, NULL, 0, &squares));
    ok(cudaGraphAddEventRecordNode(&records, graph, NULL, 0, first));
    ok(cudaGraphAddEventWaitNode(&waits, graph, NULL, 0, first));

    ok(cudaGraphMemsetNodeGetParams(fills, &fill));
    cr_assert(fill.dst == memory && fill.value == 7 && fill.width == 1);
    is(cudaGraphMemsetNodeGetParams(calls, &fill), cudaErrorInvalidValue);
    fill.value = 9;
    ok(cudaGraphMemsetNodeSetParams(fills, &fill));
    ok(cudaGraphHostNodeGetParams(calls, &host));
    cr_assert(host.fn == square && host.userData == &number);
    host.userData = &other;
    ok(cudaGraphHostNodeSetParams(calls, &host));
    is(cudaGraphHostNodeSetParams(fills, &host), cudaErrorInvalidValue);
    cr_assert(given_last(cudaEvent_t, cudaGraphEventRecordNodeGetEvent, records) == first);
    ok(cudaGraphEventRecordNodeSetEvent(records, second));
    cr_assert(given_last(cudaEvent_t, cudaGraphEventRecordNodeGetEvent, records) == second);
    ok(cudaGraphEventWaitNodeSetEvent(waits, second));
    ok(cudaGraphEventWaitNodeGetEvent(waits, &event));
    cr_assert(event == second);
    is(cudaGraphEventWaitNodeGetEvent(records, &event), cudaErrorInvalidValue);
    launch(instantiate(graph));
    cr_assert(value_at(memory) == 9 && number == 3 && other == 16, "%d %d", number, other);
}

Test(graphs, an_update_needs_the_same_shape)
{
    int *device = zero();
    cudaGraph_t graph = new_graph(), other = new_graph();
    cudaGraphNode_t a = add_node(graph, NULL, device, 1), node;
    cudaGraphExec_t exec = instantiate(graph);
    cudaGraphExecUpdateResultInfo info;
    ok(cudaGraphAddEmptyNode(&node, other, NULL, 0));
    is(cudaGraphExecUpdate(exec, other, &info), cudaErrorGraphExecUpdateFailure);
    cr_assert(info.result == cudaGraphExecUpdateErrorNodeTypeChanged && info.errorNode == node);
    add_node(graph, a, device, 1);
    is(cudaGraphExecUpdate(exec, graph, &info), cudaErrorGraphExecUpdateFailure);
    cr_assert(info.result == cudaGraphExecUpdateErrorTopologyChanged);
}

Test(graphs, child_graphs_and_clones)
{
    int *device = zero();
    cudaGraph_t inner = new_graph(), outer = new_graph(), clone, inside;
    cudaGraphNode_t add = add_node(inner, NULL, device, 1), child, first, found;
    first = add_node(outer, NULL, device, 10);
    ok(cudaGraphAddChildGraphNode(&child, outer, &first, 1, inner));
    add_node(inner, add, device, 1000); /* the child is a copy made before */
    ok(cudaGraphClone(&clone, outer));
    ok(cudaGraphNodeFindInClone(&found, first, clone));
    cr_assert(found != first);
    is(cudaGraphNodeFindInClone(&found, first, inner), cudaErrorInvalidValue);
    ok(cudaGraphChildGraphNodeGetGraph(child, &inside));
    is(cudaGraphDestroy(inside), cudaErrorInvalidValue); /* the node's own */
    ok(cudaGraphDestroy(outer));
    ok(cudaGraphDestroy(inner));
    cudaGraphExec_t exec = instantiate(clone);
    ok(cudaGraphDestroy(clone)); /* the executable one is a copy, too */
    launch(exec);
    cr_assert(value_at(device) == 11);
}

/* Programming Guide, "Graph Memory Nodes": an allocation is valid from its node on, in every graph
 * or stream that is ordered behind the node, until one of these frees it. */
Test(graphs, memory_of_graphs)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t allocate, fill, give;
    struct cudaMemAllocNodeParams params = four_bytes();
    ok(cudaGraphAddMemAllocNode(&allocate, graph, NULL, 0, &params));
    int *memory = params.dptr;
    struct cudaMemsetParams seven = fill_of(memory, 7);
    ok(cudaGraphAddMemsetNode(&fill, graph, &allocate, 1, &seven));
    cudaGraphExec_t leaves = instantiate(graph);
    launch(leaves);
    cr_assert(value_at(memory) == 7);
    is(cudaGraphLaunch(leaves, NULL), cudaErrorInvalidValue); /* still allocated */
    ok(cudaFree(memory));
    launch(leaves);
    ok(cudaFreeAsync(memory, NULL));

    ok(cudaGraphAddMemFreeNode(&give, graph, &fill, 1, memory));
    struct cudaMemAllocNodeParams told;
    void *given;
    ok(cudaGraphMemAllocNodeGetParams(allocate, &told));
    ok(cudaGraphMemFreeNodeGetParams(give, &given));
    cr_assert(told.dptr == memory && told.bytesize == 4 && given == memory);
    is(cudaGraphAddMemFreeNode(&give, graph, &fill, 1, &seven), cudaErrorInvalidValue);
    cudaGraphExec_t whole = instantiate(graph);
    launch(whole);
    launch(whole);
    uint64_t used, reserved;
    ok(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
    ok(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &reserved));
    cr_assert(used == 0 && reserved == 4);
    ok(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &used));
    is(cudaDeviceSetGraphMemAttribute(1, cudaGraphMemAttrUsedMemHigh, &used),
       cudaErrorInvalidDevice);
    ok(cudaDeviceGraphMemTrim(0));
    is(cudaDeviceGraphMemTrim(1), cudaErrorInvalidDevice);
    ok(cudaGraphExecDestroy(leaves));
    ok(cudaGraphExecDestroy(whole));
    ok(cudaGraphDestroy(graph));
    ok(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &reserved));
    cr_assert(reserved == 0);
}

/* Its addresses stay those of the graph's next launch. */
Test(graphs, memory_that_a_graph_has_freed_is_not_accessible)
{
    cr_redirect_stderr();
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t allocate, give;
    struct cudaMemAllocNodeParams params = four_bytes();
    int value = 4, *memory;
    ok(cudaGraphAddMemAllocNode(&allocate, graph, NULL, 0, &params));
    memory = params.dptr;
    cudaGraphNode_t added = add_node(graph, allocate, memory, value);
    ok(cudaGraphAddMemFreeNode(&give, graph, &added, 1, memory));
    cudaGraphExec_t exec = instantiate(graph);
    launch(exec);
    is(cudaMemcpy(&value, memory, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    launch(exec);
    add_node(graph, give, memory, value);
    cudaGraphExec_t behind = instantiate(graph);
    ok(cudaGraphLaunch(behind, NULL));
    is(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

Test(graphs, of_nodes_with_general_parameters)
{
    int *device = zero(), value = 4, host = 0;
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t run, copy;
    void *args[] = {&device, &value};
    struct cudaGraphNodeParams params = {.type = cudaGraphNodeTypeKernel};
    params.kernel.func = (void *)add_kernel();
    params.kernel.gridDim = params.kernel.blockDim = (dim3){1, 1, 1};
    params.kernel.kernelParams = args;
    ok(cudaGraphAddNode(&run, graph, NULL, NULL, 0, &params));
    struct cudaGraphNodeParams back = {.type = cudaGraphNodeTypeMemcpy};
    back.memcpy.copyParams = (struct cudaMemcpy3DParms){.srcPtr = {device, 4, 4, 1},
                                                        .dstPtr = {&host, 4, 4, 1},
                                                        .extent = {4, 1, 1},
                                                        .kind = cudaMemcpyDeviceToHost};
    ok(cudaGraphAddNode(&copy, graph, &run, NULL, 1, &back));
    cudaGraphExec_t exec = instantiate(graph);
    launch(exec);
    cr_assert(host == 4);
    value = 5;
    ok(cudaGraphExecNodeSetParams(exec, run, &params));
    launch(exec);
    cr_assert(host == 9);
    struct cudaGraphNodeParams loop = {.type = cudaGraphNodeTypeConditional};
    cr_redirect_stderr();
    is(cudaGraphAddNode(&copy, graph, &run, NULL, 1, &loop), cudaErrorInvalidValue); /* no handle */
}

/* Adds a conditional node, and returns its first body. */
static cudaGraph_t new_body(cudaGraph_t graph, cudaGraphConditionalHandle handle,
                            enum cudaGraphConditionalNodeType type)
{
    struct cudaGraphNodeParams params = {.type = cudaGraphNodeTypeConditional,
                                         .conditional = {handle, type, 1, NULL}};
    given(cudaGraphNode_t, cudaGraphAddNode, graph, NULL, NULL, 0, &params);
    return params.conditional.phGraph_out[0];
}

static cudaGraphConditionalHandle new_condition(cudaGraph_t graph)
{
    cudaGraphConditionalHandle handle;
    ok(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    return handle;
}

/* Host functions and events an H200 refuses with the same error. */
static void refuses(cudaGraph_t body, cudaGraph_t with_host_function)
{
    cudaGraphNode_t node;
    cudaEvent_t event = given(cudaEvent_t, cudaEventCreate);
    struct cudaHostNodeParams function = {square, &event};
    is(cudaGraphAddHostNode(&node, body, NULL, 0, &function), cudaErrorInvalidValue);
    is(cudaGraphAddEventRecordNode(&node, body, NULL, 0, event), cudaErrorInvalidValue);
    is(cudaGraphAddEventWaitNode(&node, body, NULL, 0, event), cudaErrorInvalidValue);
    is(cudaGraphAddChildGraphNode(&node, body, NULL, 0, with_host_function), cudaErrorInvalidValue);
    struct cudaMemAllocNodeParams memory = four_bytes();
    is(cudaGraphAddMemAllocNode(&node, body, NULL, 0, &memory), cudaErrorInvalidValue);
    ok(cudaGraphAddEmptyNode(&node, body, NULL, 0));
}

Test(graphs, a_body_has_only_some_kinds_of_nodes)
{
    cr_redirect_stderr();
    cudaGraph_t graph = new_graph(), other = new_graph(), empty = new_graph(), child;
    struct cudaHostNodeParams function = {square, NULL};
    cudaGraphNode_t node = given(cudaGraphNode_t, cudaGraphAddHostNode, other, NULL, 0, &function);
    cudaGraph_t body = new_body(graph, new_condition(graph), cudaGraphCondTypeIf);
    refuses(body, other);
    refuses(new_body(graph, new_condition(graph), cudaGraphCondTypeSwitch), other);
    ok(cudaGraphAddChildGraphNode(&node, body, NULL, 0, empty));
    ok(cudaGraphChildGraphNodeGetGraph(node, &child));
    refuses(child, other);
    refuses(new_body(child, new_condition(child), cudaGraphCondTypeWhile), other);
    cr_assert(strstr(read_stderr(), "put host functions, events and allocations") != NULL);
}

/* Streams make a body, too: a host function ends the capture. */
Test(graphs, a_captured_body_has_no_host_function)
{
    cr_redirect_stderr();
    cudaGraph_t graph = new_graph(), body;
    cudaStream_t stream = given(cudaStream_t, cudaStreamCreate);
    body = new_body(graph, new_condition(graph), cudaGraphCondTypeIf);
    ok(cudaStreamBeginCaptureToGraph(stream, body, NULL, NULL, 0, cudaStreamCaptureModeGlobal));
    is(cudaLaunchHostFunc(stream, square, NULL), cudaErrorInvalidValue);
    is(cudaStreamEndCapture(stream, NULL), cudaErrorStreamCaptureInvalidated);
}

Test(graphs, a_condition_belongs_to_a_graph)
{
    cr_redirect_stderr();
    cudaGraph_t graph = new_graph(), other = new_graph();
    cudaGraphConditionalHandle foreign = new_condition(other), outer = new_condition(graph);
    cudaGraphNode_t node;
    struct cudaGraphNodeParams params = {.type = cudaGraphNodeTypeConditional,
                                         .conditional = {foreign, cudaGraphCondTypeIf, 1, NULL}};
    is(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &params), cudaErrorInvalidValue);
    cudaGraph_t body = new_body(graph, new_condition(graph), cudaGraphCondTypeIf);
    is(cudaGraphAddNode(&node, body, NULL, NULL, 0, &params), cudaErrorInvalidValue);
    new_body(body, outer, cudaGraphCondTypeIf); /* the body is a part of the handle's graph */
    params.conditional.handle = new_condition(body);
    is(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &params), cudaErrorInvalidValue);
    ok(cudaGraphDestroy(other));
    params.conditional.handle = foreign; /* a new graph may have the address of the old one */
    is(cudaGraphAddNode(&node, new_graph(), NULL, NULL, 0, &params), cudaErrorInvalidValue);
    cr_assert(strstr(read_stderr(), "was made for another graph") != NULL);
}

Test(graphs, a_fault_ends_a_launch)
{
    cr_redirect_stderr();
    int *device = zero(), host = 0;
    float *nowhere = NULL;
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t fault, call;
    struct cudaKernelNodeParams params = kernel(store_kernel(), (void *[]){&nowhere});
    ok(cudaGraphAddKernelNode(&fault, graph, NULL, 0, &params));
    struct cudaHostNodeParams function = {square, &host};
    host = 3;
    ok(cudaGraphAddHostNode(&call, graph, &fault, 1, &function));
    add_node(graph, call, device, 1);
    cudaGraphExec_t exec = instantiate(graph);
    ok(cudaGraphLaunch(exec, NULL));
    is(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    cr_assert(host == 3);
}

Test(graphs, as_a_picture)
{
    char path[] = "/tmp/upsweep-graph-XXXXXX", text[1000] = "";
    close(mkstemp(path));
    int *device = zero();
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t empty, a = add_node(graph, NULL, device, 1);
    ok(cudaGraphAddEmptyNode(&empty, graph, &a, 1));
    ok(cudaGraphDebugDotPrint(graph, path, 0));
    FILE *file = fopen(path, "r");
    cr_assert(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    unlink(path);
    cr_assert(strstr(text, "digraph {") == text && strstr(text, "0\\nadd\\n<<<(1,1,1)") != NULL &&
                  strstr(text, "1\\nempty") != NULL && strstr(text, "->") != NULL,
              "%s", text);
    is(cudaGraphDebugDotPrint(graph, "/no/such/folder/graph", 0), cudaErrorInvalidValue);
}

static int destroyed;
static void destroy(void *data) { destroyed += *(int *)data; }

Test(graphs, keep_objects_of_the_program)
{
    int one = 1;
    cudaUserObject_t object;
    cudaGraph_t graph = new_graph();
    ok(cudaUserObjectCreate(&object, &one, destroy, 1, cudaUserObjectNoDestructorSync));
    ok(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
    cudaGraphExec_t exec = instantiate(graph);
    ok(cudaGraphDestroy(graph));
    cr_assert(destroyed == 0);
    ok(cudaGraphExecDestroy(exec));
    cr_assert(destroyed == 1);
}

/* ---- capture --------------------------------------------------------------------------------- */

static cudaStream_t new_stream(unsigned flags)
{
    return given(cudaStream_t, cudaStreamCreateWithFlags, flags);
}

static cudaEvent_t new_event(void)
{
    return given(cudaEvent_t, cudaEventCreateWithFlags, cudaEventDisableTiming);
}

static enum cudaStreamCaptureStatus status_of(cudaStream_t stream)
{
    return given_last(enum cudaStreamCaptureStatus, cudaStreamIsCapturing, stream);
}

static size_t node_count(cudaGraph_t graph)
{
    return given_last(size_t, cudaGraphGetNodes, graph, NULL);
}

static void run(cudaGraph_t graph, int times)
{
    cudaGraphExec_t exec = instantiate(graph);
    for (int i = 0; i < times; i++) launch(exec);
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
    ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    ok(cudaMemsetAsync(device, 1, sizeof *device, stream));
    cudaGraph_t graph = given_last(cudaGraph_t, cudaStreamEndCapture, stream);
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
    ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    cr_assert(status_of(stream) == cudaStreamCaptureStatusActive);
    for (int i = 1; i <= 3; i++) ok(launch_add(device, i, stream)); /* arguments are copied */
    ok(cudaMemcpyAsync(&host, device, sizeof host, cudaMemcpyDeviceToHost, stream));
    ok(cudaLaunchHostFunc(stream, add_one, &calls));
    ok(cudaMemsetAsync(device, 0, sizeof host, stream));
    cudaGraph_t graph = given_last(cudaGraph_t, cudaStreamEndCapture, stream);
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
    cudaGraphNode_t nodes[4];
    size_t count = given_last(size_t, cudaGraphGetEdges, graph, NULL, NULL, NULL);
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

/* When the stream is destroyed, its work is in the graph already. An event that it has recorded can
 * still join its work. Without the join the capture cannot be ended. */
Test(capture, a_stream_may_be_destroyed_before_and_after_it_is_joined)
{
    enum { NEVER, BEFORE, AFTER };
    for (int joined = NEVER; joined <= AFTER; joined++) {
        int *device = zero();
        cudaStream_t origin = new_stream(cudaStreamDefault), other = new_stream(cudaStreamDefault);
        cudaEvent_t join = new_event();
        cudaGraph_t graph;
        begin_fork(origin, other);
        ok(launch_add(device, 1, other));
        ok(cudaEventRecord(join, other));
        if (joined == BEFORE) ok(cudaStreamWaitEvent(origin, join, 0));
        ok(cudaStreamDestroy(other));
        if (joined == AFTER) ok(cudaStreamWaitEvent(origin, join, 0));
        ok(cudaEventDestroy(join));
        cr_assert(status_of(origin) == cudaStreamCaptureStatusActive);
        ok(launch_add(device, 2, origin));
        is(cudaStreamEndCapture(origin, &graph),
           joined == NEVER ? cudaErrorStreamCaptureUnjoined : cudaSuccess);
        cudaGetLastError();
        if (joined == NEVER) continue;
        cr_assert(node_count(graph) == 2);
        run(graph, 1);
        cr_assert(value_at(device) == 3);
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

/* An allocation in a thread while a stream is captured in this mode. */
static void allocate_in_capture(enum cudaStreamCaptureMode mode, bool in_another, bool is_allowed)
{
    void *memory;
    cudaGraph_t graph;
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    ok(cudaStreamBeginCapture(stream, mode));
    is(in_another ? allocate_in_another_thread() : cudaMalloc(&memory, 4),
       is_allowed ? cudaSuccess : cudaErrorStreamCaptureUnsupported);
    is(cudaStreamEndCapture(stream, &graph),
       is_allowed ? cudaSuccess : cudaErrorStreamCaptureInvalidated);
}

Test(capture, modes)
{
    allocate_in_capture(cudaStreamCaptureModeGlobal, true, false);
    allocate_in_capture(cudaStreamCaptureModeThreadLocal, true, true);
    allocate_in_capture(cudaStreamCaptureModeThreadLocal, false, false);
    allocate_in_capture(cudaStreamCaptureModeRelaxed, false, true);
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    ok(cudaThreadExchangeStreamCaptureMode(&mode));
    cr_assert(mode == cudaStreamCaptureModeGlobal);
    allocate_in_capture(cudaStreamCaptureModeGlobal, false, true);
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
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    cr_assert(pthread_create(&thread, NULL, end_capture, stream) == 0);
    pthread_join(thread, &error);
    is((cudaError_t)(size_t)error, cudaErrorStreamCaptureWrongThread);
    given_last(cudaGraph_t, cudaStreamEndCapture, stream);
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
    ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    ok(cudaMallocAsync((void **)&memory, sizeof *memory, stream));
    ok(cudaMemsetAsync(memory, 0, sizeof *memory, stream));
    ok(launch_add(memory, 8, stream));
    ok(cudaMemcpyAsync(&out, memory, sizeof out, cudaMemcpyDeviceToHost, stream));
    ok(cudaFreeAsync(memory, stream));
    ok(cudaStreamEndCapture(stream, &inner));
    cr_assert(node_count(inner) == 5);
    cudaGraphExec_t exec = instantiate(inner);

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
    size_t count;
    ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    ok(launch_add(device, 1, stream));
    ok(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &needs, NULL, &count));
    cr_assert(status == cudaStreamCaptureStatusActive && id != 0 && count == 1);
    cudaGraphNode_t added = given(cudaGraphNode_t, cudaGraphAddEmptyNode, graph, needs, count);
    ok(cudaStreamUpdateCaptureDependencies(stream, &added, NULL, 1,
                                           cudaStreamSetCaptureDependencies));
    ok(launch_add(device, 1, stream));
    ok(cudaStreamEndCapture(stream, &ended));
    cr_assert(ended == graph && node_count(graph) == 3);
    cr_assert(given_last(size_t, cudaGraphGetEdges, graph, NULL, NULL, NULL) == 2);

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
    cudaEvent_t start = given(cudaEvent_t, cudaEventCreate),
                stop = given(cudaEvent_t, cudaEventCreate);
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    int *device = zero();
    ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    ok(cudaEventRecordWithFlags(start, stream, cudaEventRecordExternal));
    ok(launch_add(device, 1, stream));
    ok(cudaEventRecordWithFlags(stop, stream, cudaEventRecordExternal));
    cudaGraph_t graph = given_last(cudaGraph_t, cudaStreamEndCapture, stream);
    cr_assert(node_count(graph) == 3);
    run(graph, 1);
    cr_assert(given(float, cudaEventElapsedTime, start, stop) > 0);
}
