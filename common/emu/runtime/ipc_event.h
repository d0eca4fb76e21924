/* ipc_event.h — events that several processes use. */
#ifndef CUDART_IPC_EVENT_H
#define CUDART_IPC_EVENT_H

#include "object.h"

/* The event was recorded by this process. */
void cudart_ipc_record(struct object *event);
/* Is the work of another process before the event done? With `waits`, returns when it is. */
bool cudart_ipc_is_done(const struct object *event, bool waits);
/* The suspended kernel of the thread's device has ended. */
void cudart_ipc_kernel_ended(void);

#endif
