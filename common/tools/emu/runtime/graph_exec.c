/* graph_exec.c — executable graphs, conditional nodes, memory of graphs, and data that they
 * keep. */
#include "graph.h"

/* ---- user objects: data of the program that a graph keeps alive ------------------------------ */

/* When the last reference is released, a function of the program is called. */

struct user_object {
    void *data;
    cudaHostFn_t destroy;
    unsigned references; /* the program's and the graphs' together */
};

/* The number of references that a graph holds to an object. */
struct user_reference {
    struct user_object *object;
    unsigned count;
};

static pthread_mutex_t object_mutex = PTHREAD_MUTEX_INITIALIZER; /* of all counts */

static void change(struct user_object *object, unsigned more, unsigned less)
{
    pthread_mutex_lock(&object_mutex);
    object->references += more;
    object->references -= less;
    bool is_last = object->references == 0;
    pthread_mutex_unlock(&object_mutex);
    if (!is_last) return;
    cudart_run_host(&(struct cudaHostNodeParams){object->destroy, object->data});
    free(object);
}

WORK_OF(RUNTIME, cudaUserObjectCreate, (cudaUserObject_t *handle, void *data, cudaHostFn_t destroy,
        unsigned references, unsigned flags), (handle, data, destroy, references, flags))
{
    if (handle == NULL || destroy == NULL || references == 0 ||
        flags != cudaUserObjectNoDestructorSync)
        return cudaErrorInvalidValue;
    struct user_object *object = allocated(malloc(sizeof *object));
    *object = (struct user_object){data, destroy, references};
    *handle = (cudaUserObject_t)object;
    return cudaSuccess;
}

RUNTIME(cudaUserObjectRetain, (cudaUserObject_t object, unsigned count),
        IF(object != NULL && count > 0, cudaErrorInvalidValue,
           (change((struct user_object *)object, count, 0), cudaSuccess)))
RUNTIME(cudaUserObjectRelease, (cudaUserObject_t object, unsigned count),
        IF(object != NULL && count > 0 && count <= ((struct user_object *)object)->references,
           cudaErrorInvalidValue, (change((struct user_object *)object, 0, count), cudaSuccess)))

/* ---- references of graphs -------------------------------------------------------------------- */

static struct user_reference *find(const struct graph *graph, const struct user_object *object)
{
    return address_table_find(&graph->users, (uint64_t)object);
}

static void refer(struct graph *graph, struct user_object *object, unsigned count)
{
    struct user_reference *reference = find(graph, object);
    if (reference != NULL) {
        reference->count += count;
        return;
    }
    reference = allocated(malloc(sizeof *reference));
    *reference = (struct user_reference){object, count};
    address_table_set(&graph->users, (uint64_t)object, reference);
}

WORK_OF(RUNTIME, cudaGraphRetainUserObject, (cudaGraph_t handle, cudaUserObject_t object,
        unsigned count, unsigned flags), (handle, object, count, flags))
{
    struct graph *graph = cudart_graph(handle);
    if (graph == NULL || object == NULL || count == 0 || flags & ~(unsigned)cudaGraphUserObjectMove)
        return cudaErrorInvalidValue;
    refer(graph, (struct user_object *)object, count);
    bool is_moved = flags & cudaGraphUserObjectMove; /* from the program */
    if (!is_moved) change((struct user_object *)object, count, 0);
    return cudaSuccess;
}

WORK_OF(RUNTIME, cudaGraphReleaseUserObject, (cudaGraph_t handle, cudaUserObject_t object,
        unsigned count), (handle, object, count))
{
    struct graph *graph = cudart_graph(handle);
    if (graph == NULL || object == NULL || count == 0) return cudaErrorInvalidValue;
    struct user_reference *reference = find(graph, (struct user_object *)object);
    if (reference == NULL || reference->count < count) return cudaErrorInvalidValue;
    reference->count -= count;
    if (reference->count == 0) {
        address_table_remove(&graph->users, (uint64_t)object);
        free(reference);
    }
    change((struct user_object *)object, 0, count);
    return cudaSuccess;
}

void cudart_copy_users(struct graph *to, const struct graph *from)
{
    for (size_t i = 0; i < from->users.size; i++) {
        const struct user_reference *r = from->users.entries[i].kept;
        if (r == NULL) continue;
        refer(to, r->object, r->count);
        change(r->object, r->count, 0);
    }
}

void cudart_drop_users(struct graph *graph)
{
    for (size_t i = 0; i < graph->users.size; i++) {
        struct user_reference *reference = graph->users.entries[i].kept;
        if (reference == NULL) continue;
        change(reference->object, 0, reference->count);
        free(reference);
    }
    address_table_close(&graph->users);
}

/* ---- memory that graphs allocate and free ---------------------------------------------------- */

/* The address is fixed when the allocation node is made. So the memory is allocated then, and freed
 * when the last graph that refers to it is destroyed. Between a free node and the next allocation
 * node it only keeps its address: an access is one to freed memory. */

struct graph_memory {
    void *address;
    size_t bytes;
    unsigned references; /* nodes */
    bool is_live;        /* allocated by a launch, and not freed yet */
    int device;
};

static struct emu *emu_of(const struct graph_memory *memory)
{
    return cudart_device_at(memory->device)->emu;
}

static struct handles memories = NO_HANDLES; /* by address; its mutex protects what is in it, too */

struct graph_memory *cudart_graph_memory_new(size_t bytes)
{
    emu_addr address;
    if (emu_alloc(emu_runtime(), bytes, &address) != EMU_OK) return NULL;
    struct graph_memory *memory = allocated(malloc(sizeof *memory));
    *memory = (struct graph_memory){.address = (void *)address,
                                    .bytes = bytes,
                                    .references = 1,
                                    .device = cudart_device()->number};
    cudart_handles_set(&memories, memory->address, memory);
    emu_hide(emu_runtime(), address, true);
    return memory;
}

struct graph_memory *cudart_graph_memory_at(const void *address)
{
    return cudart_handles_find(&memories, address);
}

void *cudart_graph_memory_address(const struct graph_memory *memory) { return memory->address; }

size_t cudart_graph_memory_bytes(const struct graph_memory *memory) { return memory->bytes; }

void cudart_graph_memory_share(struct graph_memory *memory)
{
    pthread_mutex_lock(&memories.mutex);
    memory->references++;
    pthread_mutex_unlock(&memories.mutex);
}

/* Frees the memory if no graph refers to it and the program has freed it. */
static void end_if_unused(struct graph_memory *memory)
{
    if (memory->references > 0 || memory->is_live) return;
    address_table_remove(&memories.table, (uint64_t)memory->address);
    emu_hide(emu_of(memory), (emu_addr)memory->address, false);
    emu_free(emu_of(memory), (emu_addr)memory->address);
    free(memory);
}

void cudart_graph_memory_drop(struct graph_memory *memory)
{
    pthread_mutex_lock(&memories.mutex);
    memory->references--;
    end_if_unused(memory);
    pthread_mutex_unlock(&memories.mutex);
}

/* A second launch must not allocate memory that the first launch has not freed. */
cudaError_t cudart_graph_memory_take(struct graph_memory *memory)
{
    pthread_mutex_lock(&memories.mutex);
    cudaError_t error = memory->is_live ? cudaErrorInvalidValue : cudaSuccess;
    memory->is_live = true;
    if (error == cudaSuccess) emu_hide(emu_of(memory), (emu_addr)memory->address, false);
    pthread_mutex_unlock(&memories.mutex);
    return error;
}

cudaError_t cudart_graph_memory_give(struct graph_memory *memory)
{
    pthread_mutex_lock(&memories.mutex);
    cudaError_t error = memory->is_live ? cudaSuccess : cudaErrorInvalidValue;
    memory->is_live = false;
    if (error == cudaSuccess) emu_hide(emu_of(memory), (emu_addr)memory->address, true);
    end_if_unused(memory);
    pthread_mutex_unlock(&memories.mutex);
    return error;
}

/* ---- attributes of a device ------------------------------------------------------------------ */

WORK_OF(RUNTIME_ANYWHERE, cudaDeviceGetGraphMemAttribute, (int device,
        enum cudaGraphMemAttributeType attribute, void *value), (device, attribute, value))
{
    if (!cudart_is_device(device)) return cudaErrorInvalidDevice;
    if (value == NULL || (unsigned)attribute > cudaGraphMemAttrReservedMemHigh)
        return cudaErrorInvalidValue;
    uint64_t used = 0, reserved = 0;
    pthread_mutex_lock(&memories.mutex);
    for (size_t i = 0; i < memories.table.size; i++) {
        const struct graph_memory *m = memories.table.entries[i].kept;
        if (m == NULL || m->device != device) continue;
        reserved += m->bytes;
        if (m->is_live) used += m->bytes;
    }
    pthread_mutex_unlock(&memories.mutex);
    bool is_used = attribute == cudaGraphMemAttrUsedMemCurrent ||
                   attribute == cudaGraphMemAttrUsedMemHigh; /* high-water marks are not kept */
    *(uint64_t *)value = is_used ? used : reserved;
    return cudaSuccess;
}

/* The program can only reset the high-water marks. */
RUNTIME_ANYWHERE(cudaDeviceSetGraphMemAttribute, (int device,
                 enum cudaGraphMemAttributeType attribute, void *value),
                 ((void)attribute, (void)value, IF_DEVICE(device, cudaSuccess)))

/* The emulator keeps no unused memory of graphs. */
RUNTIME_ANYWHERE(cudaDeviceGraphMemTrim, (int device), IF_DEVICE(device, cudaSuccess))

/* ---- conditional nodes ----------------------------------------------------------------------- */

/* Conditional nodes of graphs: a node that carries out a graph, its body, if the
 * value of a condition is not 0 (IF), as long as it is not 0 (WHILE), or the body with that number
 * (SWITCH). Kernels set the value, by cudaGraphSetConditional. */

/* A handle is the place of its condition, counted from 1. Conditions are never freed: a handle of
 * a graph that has been destroyed stays its own. */
struct condition {
    uint64_t graph; /* the id of the graph that it was made for */
    _Atomic unsigned value;
    unsigned first; /* the value at a launch, if the program has given one */
    bool has_first, has_node;
};
enum { MOST_CONDITIONS = 1 << 16 };
static struct condition *conditions[MOST_CONDITIONS];
static size_t condition_count;
static pthread_mutex_t condition_mutex = PTHREAD_MUTEX_INITIALIZER; /* of both */

/* NULL: there is no such handle. */
static struct condition *condition_of(cudaGraphConditionalHandle handle)
{
    return LOCKED(condition_mutex,
                  handle > 0 && handle <= condition_count ? conditions[handle - 1] : NULL);
}

WORK_OF(RUNTIME, cudaGraphConditionalHandleCreate, (cudaGraphConditionalHandle *handle,
        cudaGraph_t graph, unsigned value, unsigned flags), (handle, graph, value, flags))
{
    const struct graph *its = cudart_graph(graph);
    if (handle == NULL || its == NULL || flags & ~(unsigned)cudaGraphCondAssignDefault)
        return cudaErrorInvalidValue;
    pthread_mutex_lock(&condition_mutex);
    bool has_room = condition_count < MOST_CONDITIONS;
    if (has_room) {
        struct condition *new = allocated(calloc(1, sizeof *new));
        new->graph = its->id;
        new->first = value;
        new->has_first = flags & cudaGraphCondAssignDefault;
        conditions[condition_count++] = new;
        *handle = condition_count;
    }
    pthread_mutex_unlock(&condition_mutex);
    return has_room ? cudaSuccess : cudaErrorMemoryAllocation;
}

int cudart_set_condition(uint64_t handle, unsigned value)
{
    struct condition *condition = condition_of(handle);
    if (condition == NULL) return cudaErrorInvalidValue;
    condition->value = value;
    return cudaSuccess;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

void cudart_free_conditional(struct conditional *node)
{
    for (unsigned i = 0; i < node->size; i++)
        if (node->bodies[i] != NULL) cudart_free_graph(node->bodies[i]);
    free(node);
}

static struct conditional *node_new(cudaGraphConditionalHandle handle,
                                    enum cudaGraphConditionalNodeType type, unsigned size)
{
    struct conditional *node = allocated(calloc(1, sizeof *node + size * sizeof *node->bodies));
    node->handle = handle;
    node->type = type;
    node->size = size;
    return node;
}

cudaError_t cudart_clone_conditional(struct conditional **copy, const struct conditional *node)
{
    cudaError_t error = cudaSuccess;
    *copy = node_new(node->handle, node->type, node->size);
    for (unsigned i = 0; i < node->size && error == cudaSuccess; i++)
        if (node->bodies[i] != NULL)
            error = cudart_clone_graph(&(*copy)->bodies[i], node->bodies[i]);
        else
            (*copy)->bodies[i] = cudart_new_graph();
    if (error != cudaSuccess) cudart_free_conditional(*copy);
    return error;
}

void cudart_own_bodies(const struct conditional *node, const struct graph *graph)
{
    for (unsigned i = 0; i < node->size; i++) {
        node->bodies[i]->is_child = node->bodies[i]->is_body = true;
        node->bodies[i]->parent = graph;
    }
}

/* Of child graphs, the nodes decide. */
static bool may_be_in_body(const struct work *work)
{
    switch (work->type) {
    case cudaGraphNodeTypeKernel:
    case cudaGraphNodeTypeMemcpy:
    case cudaGraphNodeTypeMemset:
    case cudaGraphNodeTypeEmpty:
    case cudaGraphNodeTypeConditional: return true;
    case cudaGraphNodeTypeGraph: break;
    default: return false;
    }
    for (const struct node *node = work->child->first; node != NULL; node = node->next)
        if (!may_be_in_body(&node->work)) return false;
    return true;
}

bool cudart_graph_may_have(const struct graph *graph, const struct work *work)
{
    while (graph != NULL && !graph->is_body) graph = graph->parent;
    if (graph == NULL || may_be_in_body(work)) return true;
    cudart_print("the body of a conditional node may have kernels, copies, fills, empty nodes, "
                 "child graphs and conditional nodes only: put host functions, events and "
                 "allocations into the graph before or after that node");
    return false;
}

/* A condition serves the graph that it was made for, and the graphs that belong to its nodes. */
static bool is_for(const struct condition *condition, const struct graph *graph)
{
    while (graph != NULL && graph->id != condition->graph) graph = graph->parent;
    if (graph == NULL)
        cudart_print("the handle of a conditional node was made for another graph: give "
                     "cudaGraphConditionalHandleCreate the graph of the node");
    return graph != NULL;
}

static bool is_size_right(enum cudaGraphConditionalNodeType type, unsigned size)
{
    enum { MOST_BODIES = 1 << 16 };
    switch (type) {
    case cudaGraphCondTypeIf: return size == 1 || size == 2;
    case cudaGraphCondTypeWhile: return size == 1;
    case cudaGraphCondTypeSwitch: return size >= 1 && size <= MOST_BODIES;
    default: return false;
    }
}

/* The bodies are empty, and the program fills them. */
cudaError_t cudart_add_conditional(cudaGraphNode_t *node, struct graph *graph,
                                   struct node *const *needs, size_t count,
                                   struct cudaConditionalNodeParams *params)
{
    struct condition *condition = condition_of(params->handle);
    if (condition == NULL || condition->has_node || !is_size_right(params->type, params->size) ||
        !is_for(condition, graph))
        return cudaErrorInvalidValue;
    struct work work = {.type = cudaGraphNodeTypeConditional, .device = cudart_device()->number};
    work.conditional = node_new(params->handle, params->type, params->size);
    cudaError_t error = cudart_add_node(graph, &work, needs, count, (struct node **)node);
    free(work.conditional); /* the node has a copy */
    if (error != cudaSuccess) return error;
    condition->has_node = true;
    params->phGraph_out = (cudaGraph_t *)((struct node *)*node)->work.conditional->bodies;
    return cudaSuccess;
}

/* ---- launches -------------------------------------------------------------------------------- */

/* A graph is launched: gives its conditions their first values. */
static void cudart_begin_conditions(const struct graph *graph)
{
    for (const struct node *node = graph->first; node != NULL; node = node->next) {
        const struct conditional *conditional = node->work.conditional;
        if (node->work.type == cudaGraphNodeTypeGraph) cudart_begin_conditions(node->work.child);
        if (node->work.type != cudaGraphNodeTypeConditional) continue;
        struct condition *condition = condition_of(conditional->handle);
        if (condition->has_first) condition->value = condition->first;
        for (unsigned i = 0; i < conditional->size; i++)
            cudart_begin_conditions(conditional->bodies[i]);
    }
}

struct graph *cudart_next_body(const struct conditional *node, bool is_first)
{
    unsigned value = condition_of(node->handle)->value;
    switch (node->type) {
    case cudaGraphCondTypeWhile: return value != 0 ? node->bodies[0] : NULL;
    case cudaGraphCondTypeIf: value = value != 0 ? 0 : 1; break;
    default: break;
    }
    return is_first && value < node->size ? node->bodies[value] : NULL;
}

/* ---- executable graphs: instantiating and launching them ------------------------------------- */

static struct handles executables = NO_HANDLES;

struct executable *cudart_executable(cudaGraphExec_t handle)
{
    return cudart_handles_find(&executables, handle);
}

/* ---- instantiating --------------------------------------------------------------------------- */

/* A sorted copy of a graph. */
static cudaError_t sorted_copy(struct graph **copy, const struct graph *graph)
{
    cudaError_t error = cudart_clone_graph(copy, graph);
    if (error != cudaSuccess) return error;
    error = cudart_sort_graph(*copy);
    if (error == cudaErrorInvalidValue)
        cudart_print("a graph is not instantiated, for nodes of it wait for each other in a"
                     " circle");
    if (error != cudaSuccess) cudart_free_graph(*copy);
    return error;
}

cudaError_t cudart_instantiate(struct executable **made, const struct graph *graph,
                               unsigned long long flags)
{
    struct executable *exec = allocated(calloc(1, sizeof *exec));
    exec->flags = flags;
    cudaError_t error = sorted_copy(&exec->graph, graph);
    if (error != cudaSuccess) {
        free(exec);
        return error;
    }
    cudart_handles_set(&executables, exec, exec);
    exec->graph->is_child = true; /* cudaGraphDestroy must refuse it */
    *made = exec;
    return cudaSuccess;
}

WORK_OF(RUNTIME_PTSZ, cudaGraphInstantiateWithParams, (cudaGraphExec_t *exec, cudaGraph_t handle,
        cudaGraphInstantiateParams *params), (exec, handle, params))
{
    enum { KNOWN = 0xF }; /* cudaGraphInstantiateFlag… */
    struct graph *graph = cudart_graph(handle);
    if (exec == NULL || graph == NULL || params == NULL ||
        params->flags & ~(unsigned long long)KNOWN)
        return cudaErrorInvalidValue;
    params->errNode_out = NULL;
    params->result_out = cudaGraphInstantiateError;
    if (params->flags & cudaGraphInstantiateFlagDeviceLaunch)
        return cudart_not_supported("a graph that kernels launch",
                                    "launch the graph from the host instead");
    cudaError_t error = cudart_instantiate((struct executable **)exec, graph, params->flags);
    params->result_out = error == cudaSuccess             ? cudaGraphInstantiateSuccess
                         : error == cudaErrorInvalidValue ? cudaGraphInstantiateInvalidStructure
                                                          : cudaGraphInstantiateError;
    return error;
}

/* clang-format off */
RUNTIME_ANYWHERE(cudaGraphInstantiateWithFlags, (cudaGraphExec_t *exec, cudaGraph_t graph,
                 unsigned long long flags),
                 cudaGraphInstantiateWithParams(exec, graph,
                                                &(cudaGraphInstantiateParams){.flags = flags}))
RUNTIME_ANYWHERE(cudaGraphInstantiate, (cudaGraphExec_t *exec, cudaGraph_t graph,
                 unsigned long long flags),
                 cudaGraphInstantiateWithFlags(exec, graph, flags))
/* clang-format on */

WORK_OF(RUNTIME, cudaGraphExecDestroy, (cudaGraphExec_t handle), (handle))
{
    struct executable *exec = cudart_handles_take(&executables, handle);
    if (exec == NULL) return cudaErrorInvalidValue;
    cudart_free_graph(exec->graph);
    free(exec);
    return cudaSuccess;
}

RUNTIME_ANYWHERE(cudaGraphExecGetFlags, (cudaGraphExec_t exec, unsigned long long *flags),
                 IF(cudart_executable(exec) != NULL, cudaErrorInvalidValue,
                    TELL(flags, cudart_executable(exec)->flags)))

/* ---- launching ------------------------------------------------------------------------------- */

/* Frees what the last launch has left allocated, if the graph was instantiated with that flag. */
static void free_for_launch(const struct graph *graph)
{
    for (const struct node *node = graph->first; node != NULL; node = node->next) {
        const struct work *work = &node->work;
        if (work->type == cudaGraphNodeTypeMemAlloc) cudart_graph_memory_give(work->memory);
        if (work->type == cudaGraphNodeTypeGraph) free_for_launch(work->child);
    }
}

/* In a stream that is being captured, the launched graph becomes a child graph. */
WORK_OF(RUNTIME_PTSZ, cudaGraphLaunch, (cudaGraphExec_t handle, cudaStream_t stream),
        (handle, stream))
{
    struct executable *exec = cudart_executable(handle);
    if (exec == NULL) return cudaErrorInvalidValue;
    if (exec->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) free_for_launch(exec->graph);
    cudart_begin_conditions(exec->graph);
    struct work work = {.type = cudaGraphNodeTypeGraph, .child = exec->graph};
    return cudart_submit(stream, &work);
}

/* A GPU would load the graph now. The emulator need not. */
RUNTIME_PTSZ(cudaGraphUpload, (cudaGraphExec_t exec, cudaStream_t stream),
        IF(cudart_executable(exec) != NULL, cudaErrorInvalidValue, IF_STREAM(stream, cudaSuccess)))
