/*
 * cudart_capture.h — capturing what is put into streams as a graph, seen from streams and events.
 *
 * As long as nothing is being captured, each of these costs a look at one number.
 */
#ifndef CUDART_CAPTURE_H
#define CUDART_CAPTURE_H

#include "cudart_object.h"
#include "cudart_work.h"

struct capture {
    unsigned long long id;
    struct graph *graph;
    bool is_own; /* the graph was made for it, not given */
    enum cudaStreamCaptureMode mode;
    bool is_invalid;
    bool has_blocking; /* a stream takes part that was not made non-blocking */
    pthread_t thread;  /* that began it */
    struct object *origin;
    struct capture *next, *previous;
};

/* All that last. */
struct captures {
    struct capture *first;
    struct address_table by_id;
    atomic_uint count;
    unsigned long long next_id;
    pthread_mutex_t mutex; /* of all that concerns capturing */
};
extern struct captures cudart_captures;
extern _Thread_local enum cudaStreamCaptureMode cudart_capture_mode;

/* The capture that a stream or event takes part in; NULL: none that lasts. The mutex is held. */
struct capture *cudart_capture_of(const struct object *);
/* The legacy default stream waits for all streams but those made non-blocking, and they for it:
 * spoils their captures, and says so. The mutex is held. */
cudaError_t cudart_check_legacy(void);
/* From now on a stream takes part in a capture, and nothing has come last in it yet. The mutex is
 * held. */
void cudart_join_capture(struct object *stream, struct capture *);

/* Adds work to the graph if the stream is being captured, and says so in *captured. */
cudaError_t cudart_capture(cudaStream_t, const struct work *, bool *captured);
/* The same for an event that is recorded, and for a stream that is to wait for one: it joins the
 * capture. */
cudaError_t cudart_capture_record(struct object *event, cudaStream_t, bool *captured);
cudaError_t cudart_capture_wait(cudaStream_t, struct object *event, bool *captured);

bool cudart_is_capturing(cudaStream_t);
/* Of calls that wait for the device, or might, by the thread's capture mode: may they? If not, what
 * is being captured is spoiled. RETURN_IF_UNSAFE asks it. */
cudaError_t cudart_check_unsafe(void);
/* Of calls that wait for one stream, or for an event. */
cudaError_t cudart_check_wait(cudaStream_t);
cudaError_t cudart_check_event_wait(const struct object *event);
/* A stream goes: what it captures is spoiled. */
void cudart_capture_forget(struct object *stream);

#endif
