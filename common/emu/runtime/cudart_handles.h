/*
 * cudart_handles.h — which handles of one kind live, so that one that does not is noticed. Each
 * function takes the same time however many there are.
 */
#ifndef CUDART_HANDLES_H
#define CUDART_HANDLES_H

#include "common/emu/machine/address_table.h"

#include <pthread.h>

struct handles {
    struct address_table table;
    pthread_mutex_t mutex; /* of the table */
};

#define NO_HANDLES                                                                                 \
    {                                                                                              \
        .mutex = PTHREAD_MUTEX_INITIALIZER                                                         \
    }

/* From now on the object's address is a handle that lives. False: out of memory. */
bool cudart_handles_add(struct handles *, void *object);
/* Does the handle live? */
bool cudart_handles_have(struct handles *, const void *handle);
/* The handle lives no longer. False: it did not live. */
bool cudart_handles_remove(struct handles *, const void *handle);

#endif
