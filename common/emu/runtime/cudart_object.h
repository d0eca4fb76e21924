/*
 * cudart_object.h — streams and events as the library keeps them.
 *
 * They are in one table, so that a handle that is no longer one, or of the wrong kind, is noticed.
 */
#ifndef CUDART_OBJECT_H
#define CUDART_OBJECT_H

#include "cudart.h"
#include "cudart_node_list.h"

#include <time.h>

enum { STREAM_ATTRIBUTES = cudaLaunchAttributeMemSyncDomain + 1 };

struct object {
    enum object_kind { STREAM, EVENT } kind;
    unsigned flags;
    int device; /* the one that was current */
    /* of a stream */
    unsigned long long id;
    int priority;
    cudaStreamAttrValue attributes[STREAM_ATTRIBUTES];
    /* of an event */
    bool recorded;
    struct timespec at; /* when */
    /* of a stream that is being captured, or an event recorded in one: which capture, and the nodes
     * that what follows depends on (cudart_capture.c). 0, or the number of a capture that has ended:
     * none */
    unsigned long long capture;
    struct node_list tail;
};

/* A new one, in *handle. */
cudaError_t cudart_create(void *handle, enum object_kind, unsigned flags, int priority);
/* The object of a handle; NULL if it is none that lives. NULL, as a stream, is none either. */
struct object *cudart_find(const void *handle, enum object_kind);
cudaError_t cudart_destroy(const void *handle, enum object_kind);

/* Is NULL the calling thread's own default stream, rather than the legacy one? */
extern _Thread_local bool cudart_default_is_per_thread;
/* The calling thread's own default stream. */
struct object *cudart_per_thread_stream(void);
/* The object of a stream that is not the legacy default stream; NULL for that one. */
struct object *cudart_stream_object(cudaStream_t);
/* Is a stream the legacy default stream, by one of its names? */
bool cudart_is_legacy(cudaStream_t);

#endif
