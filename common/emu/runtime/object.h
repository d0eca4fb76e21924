/*
 * object.h — streams and events.
 *
 * One table holds them all, so invalid handles and handles of the wrong kind are noticed.
 */
#ifndef CUDART_OBJECT_H
#define CUDART_OBJECT_H

#include "cudart.h"
#include "node_list.h"

#include <time.h>

enum { STREAM_ATTRIBUTES = cudaLaunchAttributeMemSyncDomain + 1 };

struct object {
    enum object_kind { STREAM, EVENT } kind;
    unsigned flags;
    int device;                    /* the device that was current */
    const struct context *context; /* that owns it; NULL: it is a default stream */
    /* of a stream */
    unsigned long long id;
    int priority;
    cudaStreamAttrValue attributes[STREAM_ATTRIBUTES];
    /* of an event */
    bool recorded;
    /* of one that other processes use (ipc_event.c) */
    _Atomic int *word; /* NULL: none does */
    emu_addr shared;   /* the word's device address; 0: none */
    bool is_imported;
    /* of both: the operation after which later work comes; 0: none (order.c) */
    _Atomic uint64_t last;
    struct timespec at; /* when */
    bool is_behind;     /* a kernel came before it that waited for the host (cuda_launch.c) */
    /* For a stream that is being captured, and for an event recorded in one: the number of the
     * capture, and the nodes on which later work depends (stream_capture.c). 0, or the number of a
     * capture that has ended, means none. */
    unsigned long long capture;
    struct node_list tail;
};

/* Makes an object and writes its handle into *handle. */
cudaError_t cudart_create(void *handle, enum object_kind, unsigned flags, int priority);
/* The object of a handle; NULL if the handle is not valid. The default streams have no object here.
 * */
struct object *cudart_find(const void *handle, enum object_kind);
cudaError_t cudart_destroy(const void *handle, enum object_kind);
/* Calls `visit` for each object of this kind. It must not make or destroy objects. */
void cudart_each(enum object_kind, void (*visit)(struct object *));

/* Does the stream NULL mean the calling thread's own default stream, and not the legacy one? */
extern _Thread_local bool cudart_default_is_per_thread;
/* The calling thread's own default stream. */
struct object *cudart_per_thread_stream(void);
/* The object of a stream; NULL for the legacy default stream. */
struct object *cudart_stream_object(cudaStream_t);
/* Is the stream the legacy default stream, which has several names? */
bool cudart_is_legacy(cudaStream_t);

#endif
