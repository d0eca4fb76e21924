#include "handles.h"

bool cudart_handles_add(struct handles *handles, void *object)
{
    pthread_mutex_lock(&handles->mutex);
    bool added = address_table_set(&handles->table, (uint64_t)object, object);
    pthread_mutex_unlock(&handles->mutex);
    return added;
}

bool cudart_handles_have(struct handles *handles, const void *handle)
{
    pthread_mutex_lock(&handles->mutex);
    bool found = address_table_find(&handles->table, (uint64_t)handle) != NULL;
    pthread_mutex_unlock(&handles->mutex);
    return found;
}

bool cudart_handles_remove(struct handles *handles, const void *handle)
{
    pthread_mutex_lock(&handles->mutex);
    bool found = address_table_find(&handles->table, (uint64_t)handle) != NULL;
    address_table_remove(&handles->table, (uint64_t)handle);
    pthread_mutex_unlock(&handles->mutex);
    return found;
}
