/*
 * user_object.c — user objects: data of the program that a graph keeps alive. When the last
 * reference is released, a function of the program is called.
 */
#include "graph.h"

#include <stdlib.h>

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

cudaError_t CUDARTAPI cudaUserObjectCreate(cudaUserObject_t *handle, void *data,
                                           cudaHostFn_t destroy, unsigned references,
                                           unsigned flags)
{
    RETURN_IF_FAULTY();
    if (handle == NULL || destroy == NULL || references == 0 ||
        flags != cudaUserObjectNoDestructorSync)
        return cudart_done(cudaErrorInvalidValue);
    struct user_object *object = malloc(sizeof *object);
    if (object == NULL) return cudart_done(cudaErrorMemoryAllocation);
    *object = (struct user_object){data, destroy, references};
    *handle = (cudaUserObject_t)object;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaUserObjectRetain(cudaUserObject_t object, unsigned count)
{
    RETURN_IF_FAULTY();
    if (object == NULL || count == 0) return cudart_done(cudaErrorInvalidValue);
    change((struct user_object *)object, count, 0);
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaUserObjectRelease(cudaUserObject_t object, unsigned count)
{
    RETURN_IF_FAULTY();
    if (object == NULL || count == 0 || count > ((struct user_object *)object)->references)
        return cudart_done(cudaErrorInvalidValue);
    change((struct user_object *)object, 0, count);
    return cudaSuccess;
}

/* ---- references of graphs -------------------------------------------------------------------- */

static struct user_reference *find(const struct graph *graph, const struct user_object *object)
{
    return address_table_find(&graph->users, (uint64_t)object);
}

static cudaError_t refer(struct graph *graph, struct user_object *object, unsigned count)
{
    struct user_reference *reference = find(graph, object);
    if (reference != NULL) {
        reference->count += count;
        return cudaSuccess;
    }
    reference = malloc(sizeof *reference);
    if (reference == NULL) return cudaErrorMemoryAllocation;
    *reference = (struct user_reference){object, count};
    if (address_table_set(&graph->users, (uint64_t)object, reference)) return cudaSuccess;
    free(reference);
    return cudaErrorMemoryAllocation;
}

cudaError_t CUDARTAPI cudaGraphRetainUserObject(cudaGraph_t handle, cudaUserObject_t object,
                                                unsigned count, unsigned flags)
{
    RETURN_IF_FAULTY();
    struct graph *graph = cudart_graph(handle);
    if (graph == NULL || object == NULL || count == 0 || flags & ~(unsigned)cudaGraphUserObjectMove)
        return cudart_done(cudaErrorInvalidValue);
    cudaError_t error = refer(graph, (struct user_object *)object, count);
    bool is_moved = flags & cudaGraphUserObjectMove; /* from the program */
    if (error == cudaSuccess && !is_moved) change((struct user_object *)object, count, 0);
    return cudart_done(error);
}

cudaError_t CUDARTAPI cudaGraphReleaseUserObject(cudaGraph_t handle, cudaUserObject_t object,
                                                 unsigned count)
{
    RETURN_IF_FAULTY();
    struct graph *graph = cudart_graph(handle);
    if (graph == NULL || object == NULL || count == 0) return cudart_done(cudaErrorInvalidValue);
    struct user_reference *reference = find(graph, (struct user_object *)object);
    if (reference == NULL || reference->count < count) return cudart_done(cudaErrorInvalidValue);
    reference->count -= count;
    if (reference->count == 0) {
        address_table_remove(&graph->users, (uint64_t)object);
        free(reference);
    }
    change((struct user_object *)object, 0, count);
    return cudaSuccess;
}

/* If host memory is short, the copy has no reference, and only the original keeps the object alive.
 * */
void cudart_copy_users(struct graph *to, const struct graph *from)
{
    for (size_t i = 0; i < from->users.size; i++) {
        const struct user_reference *r = from->users.entries[i].kept;
        if (r != NULL && refer(to, r->object, r->count) == cudaSuccess)
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
