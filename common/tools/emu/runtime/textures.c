/* textures.c — arrays, textures and surfaces. */
#include "graph.h"

/* ---- the table of CUDA arrays, and what elements a GPU has ----------------------------------- */

static struct handles arrays = NO_HANDLES;

const struct cudaArray *cudart_array(cudaArray_const_t handle)
{
    return cudart_handles_find(&arrays, handle);
}

static bool drop_array(void *kept, const void *device)
{
    struct cudaArray *array = kept;
    bool is_its = array->device == *(const int *)device;
    if (is_its) free(array);
    return is_its;
}

void cudart_drop_arrays(void)
{
    cudart_handles_each(&arrays, drop_array, &cudart_device()->number);
}

static size_t at_least_one(size_t size) { return size > 0 ? size : 1; }

struct cudaExtent cudart_array_size(const struct cudaArray *array)
{
    return (struct cudaExtent){array->extent.width, at_least_one(array->extent.height),
                               at_least_one(array->extent.depth)};
}

/* The channels of an element, as a texture has them. cudaErrorInvalidChannelDescriptor: a GPU has
 * no such elements. */
static cudaError_t take_format(const struct cudaChannelFormatDesc *f, struct emu_texture *t)
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

/* ---- allocating CUDA arrays ------------------------------------------------------------------ */

/* The shape that an extent and flags ask for. False: no array has it. */
static bool shape_of(const struct cudaExtent *e, unsigned flags, enum emu_texture_shape *shape)
{
    enum { FACES = 6 };
    bool is_layered = flags & cudaArrayLayered;
    if (flags & cudaArrayCubemap) {
        *shape = is_layered ? EMU_TEXTURE_CUBE_LAYERED : EMU_TEXTURE_CUBE;
        return e->width == e->height && e->depth > 0 && e->depth % FACES == 0 &&
               (is_layered || e->depth == FACES);
    }
    if (is_layered) {
        *shape = e->height > 0 ? EMU_TEXTURE_2D_LAYERED : EMU_TEXTURE_1D_LAYERED;
        return e->depth > 0;
    }
    *shape = e->depth > 0 ? EMU_TEXTURE_3D : e->height > 0 ? EMU_TEXTURE_2D : EMU_TEXTURE_1D;
    return e->depth == 0 || e->height > 0;
}

/* Does an array of this shape have at most the sizes that the device's properties tell? */
static bool is_small_enough(const struct cudaArray *array)
{
    struct cudaDeviceProp p;
    struct cudaExtent size = cudart_array_size(array);
    if (cudaGetDeviceProperties(&p, cudart_device()->number) != cudaSuccess) return false;
    bool is_surface = array->flags & cudaArraySurfaceLoadStore;
    const int most[EMU_TEXTURE_SHAPES][3] = {
        [EMU_TEXTURE_1D] = {is_surface ? p.maxSurface1D : p.maxTexture1D, 1, 1},
        [EMU_TEXTURE_2D] = {p.maxTexture2D[0], p.maxTexture2D[1], 1},
        [EMU_TEXTURE_3D] = {p.maxTexture3D[0], p.maxTexture3D[1], p.maxTexture3D[2]},
        [EMU_TEXTURE_1D_LAYERED] = {p.maxTexture1DLayered[0], 1, p.maxTexture1DLayered[1]},
        [EMU_TEXTURE_2D_LAYERED] = {p.maxTexture2DLayered[0], p.maxTexture2DLayered[1],
                                    p.maxTexture2DLayered[2]},
        [EMU_TEXTURE_CUBE] = {p.maxTextureCubemap, p.maxTextureCubemap, 6},
        [EMU_TEXTURE_CUBE_LAYERED] = {p.maxTextureCubemapLayered[0], p.maxTextureCubemapLayered[0],
                                      p.maxTextureCubemapLayered[1]},
    };
    const int *of_shape = most[array->shape];
    return size.width <= (size_t)of_shape[0] && size.height <= (size_t)of_shape[1] &&
           size.depth <= (size_t)of_shape[2];
}

static cudaError_t check_array(struct cudaArray *array)
{
    const unsigned known =
        cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather;
    const unsigned refused = cudaArraySparse | cudaArrayDeferredMapping | 0x100; /* for video */
    const struct cudaExtent *e = &array->extent;
    if (array->flags & ~(known | refused)) return cudaErrorInvalidValue;
    if (array->flags & refused)
        return cudart_not_supported("an array that is sparse, mapped later or for video",
                                    "allocate it with cudaArrayDefault instead");
    if (e->width == 0 || !shape_of(e, array->flags, &array->shape)) return cudaErrorInvalidValue;
    if (array->flags & cudaArrayTextureGather && array->shape != EMU_TEXTURE_2D)
        return cudaErrorInvalidValue;
    return is_small_enough(array) ? cudaSuccess : cudaErrorInvalidValue;
}

/* ---- allocating ------------------------------------------------------------------------------ */

/* Fills in the rest of an array and keeps it. */
static cudaError_t allocate(struct cudaArray *array)
{
    struct emu_texture format = {0};
    cudaError_t error = take_format(&array->format, &format);
    if (error == cudaSuccess) error = check_array(array);
    if (error != cudaSuccess) return error;
    struct cudaExtent size = cudart_array_size(array);
    array->element = (size_t)format.channels * format.channel_bytes;
    array->row = size.width * array->element;
    array->slice = size.height * array->row;
    array->device = cudart_device()->number;
    error = cudart_allocate(&array->memory, size.depth * array->slice, NULL);
    if (error != cudaSuccess) return error;
    cudart_handles_set(&arrays, array, array);
    return cudaSuccess;
}

WORK_OF(RUNTIME_WAITS, cudaMalloc3DArray, (cudaArray_t *handle,
        const struct cudaChannelFormatDesc *format, struct cudaExtent extent, unsigned flags),
        (handle, format, extent, flags))
{
    if (handle == NULL || format == NULL) return cudaErrorInvalidValue;
    struct cudaArray *array = allocated(malloc(sizeof *array));
    *array = (struct cudaArray){.format = *format, .extent = extent, .flags = flags};
    cudaError_t error = allocate(array);
    *handle = error == cudaSuccess ? array : NULL;
    if (error != cudaSuccess) free(array);
    return error;
}

RUNTIME_ANYWHERE(cudaMallocArray, (cudaArray_t *handle, const struct cudaChannelFormatDesc *format,
                 size_t width, size_t height, unsigned flags),
                 IF(!(flags & (cudaArrayLayered | cudaArrayCubemap)), cudaErrorInvalidValue,
                    cudaMalloc3DArray(handle, format, (struct cudaExtent){width, height, 0},
                                      flags)))

WORK_OF(RUNTIME_WAITS, cudaFreeArray, (cudaArray_t handle), (handle))
{
    if (handle == NULL) return cudaSuccess;
    if (cudart_handles_take(&arrays, handle) == NULL)
        return cudart_done_free(cudaErrorInvalidValue, handle);
    cudart_order_free_now(handle->memory);
    int error = cudart_forget(handle->memory, 1u << DEVICE);
    free(handle);
    return error;
}

/* ---- queries --------------------------------------------------------------------------------- */

WORK_OF(RUNTIME, cudaArrayGetInfo, (struct cudaChannelFormatDesc *format, struct cudaExtent *extent,
        unsigned *flags, cudaArray_t handle), (format, extent, flags, handle))
{
    const struct cudaArray *array = cudart_array(handle);
    if (array == NULL) return cudaErrorInvalidResourceHandle;
    if (format != NULL) *format = array->format;
    if (extent != NULL) *extent = array->extent;
    if (flags != NULL) *flags = array->flags;
    return cudaSuccess;
}

RUNTIME(cudaGetChannelDesc, (struct cudaChannelFormatDesc *format, cudaArray_const_t array),
        IF(format == NULL || cudart_array(array) != NULL, cudaErrorInvalidResourceHandle,
           TELL(format, cudart_array(array)->format)))

/* Describing a texture's elements needs no device. */
struct cudaChannelFormatDesc CUDARTAPI cudaCreateChannelDesc(int x, int y, int z, int w,
                                                             enum cudaChannelFormatKind kind)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}

/* ---- texture and surface objects ------------------------------------------------------------- */

/* What an object was made of, for the functions that tell it. */
struct texture_object {
    struct cudaResourceDesc resource;
    struct cudaTextureDesc description; /* of a texture */
    bool is_surface;
    int device; /* the device that was current */
    uint64_t number;
};

static struct handles objects = NO_HANDLES; /* struct texture_object by number, owned */

/* ---- what an object reads -------------------------------------------------------------------- */

static cudaError_t take_array(const struct cudaResourceDesc *r, bool is_surface,
                              struct emu_texture *t)
{
    const struct cudaArray *array = cudart_array(r->res.array.array);
    if (array == NULL || array->device != cudart_device()->number)
        return cudaErrorInvalidResourceHandle;
    if (is_surface && !(array->flags & cudaArraySurfaceLoadStore)) return cudaErrorInvalidValue;
    struct cudaExtent size = cudart_array_size(array);
    t->shape = array->shape;
    t->base = (emu_addr)array->memory;
    t->size[0] = size.width;
    t->size[1] = size.height;
    t->size[2] = size.depth;
    t->row = array->row;
    t->slice = array->slice;
    return take_format(&array->format, t);
}

/* Memory of cudaMalloc: its address is aligned, counted from the start of the allocation, and all
 * of it is allocated. */
static bool is_fit(const void *memory, size_t bytes)
{
    emu_addr base;
    size_t size;
    return memory != NULL && bytes > 0 && cudart_is_reachable(memory, bytes) &&
           emu_find(emu_runtime(), (emu_addr)memory, &base, &size) &&
           ((emu_addr)memory - base) % TEXTURE_ALIGNMENT == 0;
}

static cudaError_t take_linear(const struct cudaResourceDesc *r, struct emu_texture *t)
{
    cudaError_t error = take_format(&r->res.linear.desc, t);
    if (error != cudaSuccess) return error;
    t->shape = EMU_TEXTURE_LINEAR;
    t->base = (emu_addr)r->res.linear.devPtr;
    t->size[0] = r->res.linear.sizeInBytes / (t->channels * t->channel_bytes);
    t->size[1] = t->size[2] = 1;
    bool fits = t->size[0] > 0 && t->size[0] <= LARGEST_LINEAR_TEXTURE;
    return fits && is_fit(r->res.linear.devPtr, r->res.linear.sizeInBytes) ? cudaSuccess
                                                                           : cudaErrorInvalidValue;
}

static cudaError_t take_pitch(const struct cudaResourceDesc *r, struct emu_texture *t)
{
    size_t width = r->res.pitch2D.width, height = r->res.pitch2D.height;
    size_t pitch = r->res.pitch2D.pitchInBytes;
    cudaError_t error = take_format(&r->res.pitch2D.desc, t);
    if (error != cudaSuccess) return error;
    if (width == 0 || height == 0 || width > LARGEST_PITCH_WIDTH || height > LARGEST_PITCH_HEIGHT ||
        pitch > LARGEST_PITCH || pitch % TEXTURE_PITCH_ALIGNMENT != 0)
        return cudaErrorInvalidValue;
    size_t bytes = width * t->channels * t->channel_bytes;
    if (bytes > pitch || !is_fit(r->res.pitch2D.devPtr, (height - 1) * pitch + bytes))
        return cudaErrorInvalidValue;
    t->shape = EMU_TEXTURE_2D;
    t->base = (emu_addr)r->res.pitch2D.devPtr;
    t->size[0] = width;
    t->size[1] = height;
    t->size[2] = 1;
    t->row = pitch;
    return cudaSuccess;
}

static cudaError_t take_resource(const struct cudaResourceDesc *r, bool is_surface,
                                 struct emu_texture *t)
{
    t->is_surface = is_surface;
    if (is_surface && r->resType != cudaResourceTypeArray) return cudaErrorInvalidValue;
    switch (r->resType) {
    case cudaResourceTypeArray: return take_array(r, is_surface, t);
    case cudaResourceTypeLinear: return take_linear(r, t);
    case cudaResourceTypePitch2D: return take_pitch(r, t);
    case cudaResourceTypeMipmappedArray:
        return cudart_not_supported("a texture of a mipmapped array",
                                    "there are no mipmaps; make a texture of an array for each "
                                    "level instead");
    default: return cudaErrorInvalidValue;
    }
}

/* ---- how it reads it ------------------------------------------------------------------------- */

static cudaError_t refuse_description(const struct cudaTextureDesc *d, const struct emu_texture *t)
{
    bool is_border = false;
    for (int k = 0; k < 3; k++)
        is_border = is_border || (d->addressMode[k] == cudaAddressModeBorder);
    for (int k = 0; k < 4 && is_border && t->channel != EMU_CHANNEL_FLOAT; k++)
        if (d->borderColor[k] != 0)
            return cudart_not_supported("a texture of integers with a border color other than 0",
                                        "test the coordinates in the kernel instead");
    if (d->sRGB)
        return cudart_not_supported("a texture that converts sRGB",
                                    "convert the colors in the kernel instead");
    if (d->seamlessCubemap)
        return cudart_not_supported("a seamless cube texture",
                                    "filtering ends at the edge of a face; set seamlessCubemap to "
                                    "0");
    return cudaSuccess;
}

/* Errors of values that do not go together. */
static cudaError_t check_description(const struct cudaTextureDesc *d, const struct emu_texture *t)
{
    bool is_integer = t->channel != EMU_CHANNEL_FLOAT;
    for (int k = 0; k < 3; k++)
        if ((unsigned)d->addressMode[k] > cudaAddressModeBorder) return cudaErrorInvalidValue;
    if ((unsigned)d->filterMode > cudaFilterModeLinear ||
        (unsigned)d->readMode > cudaReadModeNormalizedFloat)
        return cudaErrorInvalidValue;
    bool reads_fractions = d->readMode == cudaReadModeNormalizedFloat;
    if (reads_fractions && t->channel_bytes == 4) return cudaErrorInvalidNormSetting;
    if (d->filterMode == cudaFilterModeLinear && is_integer && !reads_fractions &&
        t->shape != EMU_TEXTURE_LINEAR)
        return cudaErrorInvalidFilterSetting;
    return refuse_description(d, t);
}

/* The address mode that is in use: wrapping and mirroring need normalised coordinates. Outside,
 * linear memory reads 0. */
static enum emu_outside outside(const struct cudaTextureDesc *d, const struct emu_texture *t,
                                int axis)
{
    enum cudaTextureAddressMode mode = d->addressMode[axis];
    if (t->shape == EMU_TEXTURE_LINEAR) return EMU_OUTSIDE_BORDER;
    if (mode == cudaAddressModeBorder) return EMU_OUTSIDE_BORDER;
    return d->normalizedCoords || t->shape >= EMU_TEXTURE_CUBE ? (enum emu_outside)mode
                                                               : EMU_OUTSIDE_CLAMP;
}

static void take_description(const struct cudaTextureDesc *d, struct emu_texture *t)
{
    bool is_linear = t->shape == EMU_TEXTURE_LINEAR;
    t->is_filtered = d->filterMode == cudaFilterModeLinear && !is_linear;
    t->is_normalized = (d->normalizedCoords || t->shape >= EMU_TEXTURE_CUBE) && !is_linear;
    t->reads_fractions = d->readMode == cudaReadModeNormalizedFloat;
    for (int k = 0; k < 3; k++) t->outside[k] = outside(d, t, k);
    for (int k = 0; k < 4; k++) t->border[k] = is_linear ? 0 : d->borderColor[k];
}

/* ---- objects --------------------------------------------------------------------------------- */

static cudaError_t open_object(struct texture_object *object, const struct emu_texture *t,
                               unsigned long long *handle)
{
    object->device = cudart_device()->number;
    int error = emu_texture_open(emu_runtime(), t, &object->number);
    if (error != EMU_OK) return (cudaError_t)error;
    struct texture_object *kept = allocated(malloc(sizeof *kept));
    *kept = *object;
    cudart_handles_set(&objects, (void *)kept->number, kept);
    *handle = kept->number;
    return cudaSuccess;
}

WORK_OF(RUNTIME, cudaCreateTextureObject, (cudaTextureObject_t *handle,
        const struct cudaResourceDesc *resource, const struct cudaTextureDesc *description,
        const struct cudaResourceViewDesc *view), (handle, resource, description, view))
{
    struct emu_texture t = {0};
    if (handle == NULL || resource == NULL || description == NULL) return cudaErrorInvalidValue;
    if (view != NULL)
        return cudart_not_supported(
"a resource view",
"make a texture of the whole array instead, with NULL for the view");
    cudaError_t error = take_resource(resource, false, &t);
    if (error == cudaSuccess) error = check_description(description, &t);
    if (error != cudaSuccess) return error;
    take_description(description, &t);
    struct texture_object object = {.resource = *resource, .description = *description};
    return open_object(&object, &t, handle);
}

WORK_OF(RUNTIME, cudaCreateSurfaceObject, (cudaSurfaceObject_t *handle,
        const struct cudaResourceDesc *resource), (handle, resource))
{
    struct emu_texture t = {0};
    if (handle == NULL || resource == NULL) return cudaErrorInvalidValue;
    cudaError_t error = take_resource(resource, true, &t);
    if (error != cudaSuccess) return error;
    struct texture_object object = {.resource = *resource, .is_surface = true};
    return open_object(&object, &t, handle);
}

/* Copies what is known of an object. False: there is no such texture or surface. */
static bool find(uint64_t handle, bool is_surface, struct texture_object *found)
{
    pthread_mutex_lock(&objects.mutex);
    const struct texture_object *object = address_table_find(&objects.table, handle);
    if (object != NULL) *found = *object;
    pthread_mutex_unlock(&objects.mutex);
    return object != NULL && found->is_surface == is_surface;
}

static cudaError_t destroy_object(uint64_t handle, bool is_surface)
{
    struct texture_object object;
    if (handle == 0) return cudaSuccess;
    if (!find(handle, is_surface, &object)) return cudaErrorInvalidValue;
    free(cudart_handles_take(&objects, (void *)handle));
    emu_texture_close(cudart_device_at(object.device)->emu, handle);
    return cudaSuccess;
}

RUNTIME(cudaDestroyTextureObject, (cudaTextureObject_t handle), destroy_object(handle, false))
RUNTIME(cudaDestroySurfaceObject, (cudaSurfaceObject_t handle), destroy_object(handle, true))

static bool drop(void *kept, const void *device)
{
    struct texture_object *object = kept;
    if (object->device != ((const struct device *)device)->number) return false;
    emu_texture_close(((const struct device *)device)->emu, object->number);
    free(object);
    return true;
}

void cudart_drop_textures(void) { cudart_handles_each(&objects, drop, cudart_device()); }

/* ---- queries --------------------------------------------------------------------------------- */

/* The work with `object`, what is known of it. */
#define OF_OBJECT(handle, is_surface, work)                                                        \
    ({                                                                                             \
        struct texture_object object;                                                              \
        IF(find(handle, is_surface, &object), cudaErrorInvalidValue, work);                        \
    })

/* clang-format off */
RUNTIME(cudaGetTextureObjectResourceDesc, (struct cudaResourceDesc *resource,
        cudaTextureObject_t handle),
        OF_OBJECT(handle, false, TELL(resource, object.resource)))
RUNTIME(cudaGetSurfaceObjectResourceDesc, (struct cudaResourceDesc *resource,
        cudaSurfaceObject_t handle),
        OF_OBJECT(handle, true, TELL(resource, object.resource)))
RUNTIME(cudaGetTextureObjectTextureDesc, (struct cudaTextureDesc *description,
        cudaTextureObject_t handle),
        OF_OBJECT(handle, false, TELL(description, object.description)))
/* No object has a view. */
RUNTIME(cudaGetTextureObjectResourceViewDesc, (struct cudaResourceViewDesc *view,
        cudaTextureObject_t handle),
        ((void)view, (void)handle, cudaErrorInvalidValue))
/* clang-format on */

WORK_OF(RUNTIME_ANYWHERE, cudaDeviceGetTexture1DLinearMaxWidth, (size_t *elements,
        const struct cudaChannelFormatDesc *format, int device), (elements, format, device))
{
    struct emu_texture t;
    if (elements == NULL || format == NULL) return cudaErrorInvalidValue;
    if (!cudart_is_device(device)) return cudaErrorInvalidDevice;
    cudaError_t error = take_format(format, &t);
    if (error == cudaSuccess) *elements = LARGEST_LINEAR_TEXTURE;
    return error;
}
