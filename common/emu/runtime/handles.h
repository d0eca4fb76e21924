/*
 * handles.h — the valid handles of one kind. All functions take constant time.
 */
#ifndef CUDART_HANDLES_H
#define CUDART_HANDLES_H

#include "common/emu/machine/address_table.h"

#include <pthread.h>

struct handles {
    struct address_table table;
    pthread_mutex_t mutex; /* protects the table */
};

#define NO_HANDLES                                                                                 \
    {                                                                                              \
        .mutex = PTHREAD_MUTEX_INITIALIZER                                                         \
    }

/* Makes the object's address a valid handle. False: out of memory. */
bool cudart_handles_add(struct handles *, void *object);
/* Is the handle valid? */
bool cudart_handles_have(struct handles *, const void *handle);
/* Makes the handle invalid. False: it was not valid. */
bool cudart_handles_remove(struct handles *, const void *handle);

#endif
