/*
 * capture.h — capturing the work of streams as a graph: what streams and events need of it.
 *
 * While nothing is being captured, each function only reads one number.
 */
#ifndef CUDART_CAPTURE_H
#define CUDART_CAPTURE_H

#include "object.h"
#include "work.h"

struct capture {
    unsigned long long id;
    struct graph *graph;
    bool is_own; /* the capture has made the graph itself */
    enum cudaStreamCaptureMode mode;
    bool is_invalid;
    bool has_blocking; /* a stream that is not non-blocking takes part */
    pthread_t thread;  /* that began the capture */
    struct object *origin;
    struct capture *next, *previous;
};

/* All active captures. */
struct captures {
    struct capture *first;
    struct address_table by_id;
    atomic_uint count;
    unsigned long long next_id;
    pthread_mutex_t mutex; /* protects all state of captures */
};
extern struct captures cudart_captures;
extern _Thread_local enum cudaStreamCaptureMode cudart_capture_mode;

/* The active capture in which a stream or event takes part, or NULL. The mutex is held. */
struct capture *cudart_capture_of(const struct object *);
/* For work in the legacy default stream, which waits for all streams that are not non-blocking:
 * invalidates the captures of these streams and returns the error. The mutex is held. */
cudaError_t cudart_check_legacy(void);
/* Makes a stream take part in a capture, with an empty tail. The mutex is held. */
void cudart_join_capture(struct object *stream, struct capture *);

/* Adds work to the graph if the stream is being captured; sets *captured. */
cudaError_t cudart_capture(cudaStream_t, const struct work *, bool *captured);
/* Do the same for recording an event and for waiting for one. A stream that waits joins the event's
 * capture. */
cudaError_t cudart_capture_record(struct object *event, cudaStream_t, bool *captured);
cudaError_t cudart_capture_wait(cudaStream_t, struct object *event, bool *captured);

bool cudart_is_capturing(cudaStream_t);
/* For calls that may wait for the device: an error if the thread's capture mode forbids them, which
 * also invalidates the captures. RETURN_IF_UNSAFE uses it. */
cudaError_t cudart_check_unsafe(void);
/* For calls that wait for one stream or for an event: an error if it takes part in a capture. */
cudaError_t cudart_check_wait(cudaStream_t);
cudaError_t cudart_check_event_wait(const struct object *event);
/* A stream is destroyed. A capture that began in it ends without a graph. A capture that it has
 * only joined goes on: its work is in the graph, and the end says if that work was not joined. */
void cudart_capture_forget(struct object *stream);

#endif
