/*
 * arrays.h — the table of CUDA arrays, the memory that textures and surfaces read.
 *
 * An array is ordinary device memory, whose rows and slices follow each other without gaps.
 * Programs do not get its address.
 */
#ifndef CUDART_ARRAYS_H
#define CUDART_ARRAYS_H

#include "cudart.h"

struct cudaArray {
    struct cudaChannelFormatDesc format;
    struct cudaExtent extent; /* in elements, as asked for: 0 in an axis that it does not have */
    unsigned flags;
    int device; /* the device that was current */
    enum emu_texture_shape shape;
    void *memory;
    size_t element, row, slice; /* bytes */
};

/* The array of a handle; NULL if the handle is not valid. */
const struct cudaArray *cudart_array(cudaArray_const_t);
/* Its size in elements, with 1 in an axis that it does not have. */
struct cudaExtent cudart_array_size(const struct cudaArray *);
/* Adds an array to the table, which then owns it, and takes one out. False: out of memory; there is
 * no such array. */
bool cudart_add_array(struct cudaArray *);
bool cudart_take_array(cudaArray_t);
/* Removes the calling thread's device's arrays, without their memory. */
void cudart_drop_arrays(void);

/* The channels of an element, as a texture has them. cudaErrorInvalidChannelDescriptor: a GPU has
 * no such elements. */
cudaError_t cudart_take_format(const struct cudaChannelFormatDesc *, struct emu_texture *);

/* The most elements of linear memory that a texture reads (CUDA C++ Programming Guide, "Technical
 * Specifications per Compute Capability"). */
enum { LARGEST_LINEAR_TEXTURE = 1 << 28 };
/* Of a texture of rows at a pitch: elements, rows, and bytes of the pitch. */
enum { LARGEST_PITCH_WIDTH = 131072, LARGEST_PITCH_HEIGHT = 65000, LARGEST_PITCH = 2097120 };
/* What the address of such memory, and its pitch, must be a multiple of, in bytes. */
enum { TEXTURE_ALIGNMENT = 512, TEXTURE_PITCH_ALIGNMENT = 32 };

/* textures.c: destroys the calling thread's device's texture and surface objects. */
void cudart_drop_textures(void);

/* array_copy.c: the copy in bytes, without arrays. */
cudaError_t cudart_flatten_copy(const struct cudaMemcpy3DParms *, struct cudaMemcpy3DParms *flat);

#endif
