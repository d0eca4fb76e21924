/*
 * context.h — the contexts of devices. A context owns memory, streams and modules, which end with
 * it. Each device has a primary one, which the runtime uses; the driver API makes others.
 *
 * A thread has a stack of contexts. The top one is current: its device is the thread's.
 */
#ifndef CUDART_CONTEXT_H
#define CUDART_CONTEXT_H

#include "cudart.h"

struct context {
    struct device *device;
    unsigned flags;
    unsigned long long id;
    /* Of a primary context: how often it is retained, by the driver API and once by the runtime. Of
     * another one: 1 until it is destroyed. With 0 it is dead, and owns nothing. */
    atomic_uint references;
    atomic_bool held;     /* of a primary one: by the runtime */
    struct context *next; /* the one that was made before it */
};

/* Contexts are never freed, so a dead one's handle stays invalid. NULL: no host memory. */
struct context *cudart_new_context(struct device *, unsigned flags);
/* Is this the handle of a context, dead or not? */
bool cudart_is_context(const struct context *);
struct context *cudart_primary_context(int device);
/* Frees all that a context owns. It is dead afterwards. With the primary one a fault of its device
 * is forgotten. */
void cudart_end_context(struct context *);

/* The calling thread's current context; NULL: it has none. */
struct context *cudart_current_context(void);
/* Makes a context current. Push: in front of the others; false: there are too many. Otherwise in
 * place of the current one, if there is one; NULL takes it away. */
bool cudart_push_context(struct context *);
void cudart_set_context(struct context *);
#endif
