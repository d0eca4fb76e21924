/*
 * arrays.c — the table of CUDA arrays, and what elements a GPU has.
 */
#include "arrays.h"
#include "handles.h"

#include <stdlib.h>

static struct handles arrays = NO_HANDLES;

const struct cudaArray *cudart_array(cudaArray_const_t handle)
{
    return cudart_handles_have(&arrays, handle) ? handle : NULL;
}

bool cudart_add_array(struct cudaArray *array) { return cudart_handles_add(&arrays, array); }

bool cudart_take_array(cudaArray_t handle) { return cudart_handles_remove(&arrays, handle); }

void cudart_drop_arrays(void)
{
    int device = cudart_device()->number;
    pthread_mutex_lock(&arrays.mutex);
    for (size_t i = 0; i < arrays.table.size;) {
        struct cudaArray *array = arrays.table.entries[i].kept;
        if (array == NULL || array->device != device) {
            i++;
            continue;
        }
        address_table_remove(&arrays.table, (uint64_t)array); /* another entry may move to i */
        free(array);
    }
    pthread_mutex_unlock(&arrays.mutex);
}

static size_t at_least_one(size_t size) { return size > 0 ? size : 1; }

struct cudaExtent cudart_array_size(const struct cudaArray *array)
{
    return (struct cudaExtent){array->extent.width, at_least_one(array->extent.height),
                               at_least_one(array->extent.depth)};
}

cudaError_t cudart_take_format(const struct cudaChannelFormatDesc *f, struct emu_texture *t)
{
    static const enum emu_channel channels[] = {
        [cudaChannelFormatKindSigned] = EMU_CHANNEL_SIGNED,
        [cudaChannelFormatKindUnsigned] = EMU_CHANNEL_UNSIGNED,
        [cudaChannelFormatKindFloat] = EMU_CHANNEL_FLOAT,
    };
    const int bits[] = {f->x, f->y, f->z, f->w};
    if (f->f > cudaChannelFormatKindNone)
        return cudart_not_supported("a channel format other than signed, unsigned and float",
                                    "its elements are compressed or of a video; store them as "
                                    "integers or floats");
    if (f->f == cudaChannelFormatKindNone || (int)f->f < 0)
        return cudaErrorInvalidChannelDescriptor;
    t->channel = channels[f->f];
    t->channels = 0;
    while (t->channels < 4 && bits[t->channels] != 0) t->channels++;
    for (unsigned k = 0; k < 4; k++)
        if (bits[k] != (k < t->channels ? f->x : 0)) return cudaErrorInvalidChannelDescriptor;
    bool is_size = f->x == 32 || f->x == 16 || (f->x == 8 && t->channel != EMU_CHANNEL_FLOAT);
    if (!is_size || t->channels == 3) return cudaErrorInvalidChannelDescriptor;
    t->channel_bytes = (unsigned)f->x / 8;
    return cudaSuccess;
}
