/* copy.c — copies: of memory, of arrays, of variables. */
#include "graph.h"

/* ---- copies ---------------------------------------------------------------------------------- */

/* Every copy is carried out as a three-dimensional one; most have one row. */

static bool is_device(const void *pointer) { return cudart_owner(pointer) != NULL; }

bool cudart_is_reachable(const void *pointer, size_t bytes)
{
    const struct device *owner = cudart_owner(pointer);
    struct emu *emu = owner != NULL ? owner->emu : emu_runtime();
    emu_addr base, address = (emu_addr)pointer;
    size_t size;
    return emu_find(emu, address, &base, &size) && bytes <= size - (address - base);
}

/* One side of a copy: its first byte, and the distances from one row and from one slice to the
 * next. */
struct side {
    char *first;
    size_t row, slice;
};

static struct side side_of(const struct cudaPitchedPtr *area, const struct cudaPos *at)
{
    size_t slice = area->pitch * area->ysize;
    return (struct side){(char *)area->ptr + at->z * slice + at->y * area->pitch + at->x,
                         area->pitch, slice};
}

/* The number of bytes from the first to the last byte of a side, without gaps at the end. */
static size_t span(const struct side *side, const struct cudaExtent *e)
{
    return (e->depth - 1) * side->slice + (e->height - 1) * side->row + e->width;
}

static bool is_empty(const struct cudaExtent *e)
{
    return e->width == 0 || e->height == 0 || e->depth == 0;
}

/* Memory of a device must be inside an allocation. Host memory is not checked. */
static bool is_allowed(const struct side *side, const struct cudaExtent *extent)
{
    return !is_device(side->first) || cudart_is_reachable(side->first, span(side, extent));
}

/* Does `kind` fit the two sides? Mapped and managed memory may be called host or device memory. */
static bool kind_fits(const struct side *to, const struct side *from,
                      const struct cudaExtent *extent, enum cudaMemcpyKind kind)
{
    bool to_device = cudart_is_reachable(to->first, span(to, extent)),
         from_device = cudart_is_reachable(from->first, span(from, extent));
    switch (kind) {
    case cudaMemcpyHostToHost: return !is_device(to->first) && !is_device(from->first);
    case cudaMemcpyHostToDevice: return to_device && !is_device(from->first);
    case cudaMemcpyDeviceToHost: return !is_device(to->first) && from_device;
    case cudaMemcpyDeviceToDevice: return to_device && from_device;
    default: return is_allowed(to, extent) && is_allowed(from, extent);
    }
}

/* Checks a copy without arrays. */
static cudaError_t check_flat(const struct cudaMemcpy3DParms *p)
{
    if (p->kind < cudaMemcpyHostToHost || p->kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    if (is_empty(&p->extent)) return cudaSuccess;
    if (p->dstPtr.ptr == NULL || p->srcPtr.ptr == NULL) return cudaErrorInvalidValue;
    bool many = p->extent.height > 1 || p->extent.depth > 1;
    if (many && (p->srcPos.x + p->extent.width > p->srcPtr.pitch ||
                 p->dstPos.x + p->extent.width > p->dstPtr.pitch))
        return cudaErrorInvalidPitchValue;
    if (p->extent.depth > 1 && (p->srcPos.y + p->extent.height > p->srcPtr.ysize ||
                                p->dstPos.y + p->extent.height > p->dstPtr.ysize))
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

cudaError_t cudart_check_copy(const struct cudaMemcpy3DParms *copy)
{
    struct cudaMemcpy3DParms flat;
    cudaError_t error = cudart_flatten_copy(copy, &flat);
    return error != cudaSuccess ? error : check_flat(&flat);
}

/* Tells racecheck of one side. */
static void note(const struct side *side, const struct cudaExtent *extent, bool writes)
{
    cudart_order_access(side->first,
                        &(struct emu_rows){.bytes = extent->width,
                                           .rows = extent->height,
                                           .slices = extent->depth,
                                           .from_row = side->row,
                                           .from_slice = side->slice},
                        writes);
}

/* Does a row look as if nothing had been stored there? All bytes of fresh memory are 0xCD. Words
 * computed from it are not counted: they were stored. Other words may look so by chance. */
static bool looks_fresh(const char *row, size_t bytes)
{
    enum { PER_CHANCE = 1000 };
    size_t words = bytes / sizeof(uint32_t), fresh = 0;
    for (size_t i = 0; i < words; i++) {
        uint32_t word;
        memcpy(&word, row + i * sizeof word, sizeof word);
        fresh += word == UINT32_C(0xCDCDCDCD);
    }
    return fresh > words / PER_CHANCE;
}

/* A copy to the host. */
static cudaError_t read_all(const struct side *to, const struct side *from,
                            const struct cudaExtent *extent)
{
    struct emu_rows rows = {.bytes = extent->width,
                            .rows = extent->height,
                            .slices = extent->depth,
                            .to_row = to->row,
                            .to_slice = to->slice,
                            .from_row = from->row,
                            .from_slice = from->slice};
    int error = emu_read_rows(cudart_owner(from->first)->emu, to->first, (emu_addr)from->first,
                              &rows);
    if (error == 0 && setting_text(SETTING_OUTCOME) != NULL && !cudart_check_wanted() &&
        looks_fresh(to->first, extent->width))
        cudart_parent_tell(OUTCOME_FRESH);
    return (cudaError_t)error;
}

/* Any other copy. */
static int copy_row(char *to, const char *from, size_t bytes)
{
    const struct device *target = cudart_owner(to), *source = cudart_owner(from);
    if (target != NULL && source != NULL)
        return emu_copy_peer(target->emu, (emu_addr)to, source->emu, (emu_addr)from, bytes);
    if (target != NULL) return emu_write(target->emu, (emu_addr)to, from, bytes);
    memmove(to, from, bytes);
    return cudaSuccess;
}

static cudaError_t run_flat(const struct cudaMemcpy3DParms *p)
{
    int error = check_flat(p);
    if (error != cudaSuccess || is_empty(&p->extent)) return (cudaError_t)error;
    struct side to = side_of(&p->dstPtr, &p->dstPos), from = side_of(&p->srcPtr, &p->srcPos);
    if (!kind_fits(&to, &from, &p->extent, p->kind)) return cudaErrorInvalidValue;
    note(&to, &p->extent, true);
    note(&from, &p->extent, false);
    if (is_device(from.first) && !is_device(to.first)) return read_all(&to, &from, &p->extent);
    for (size_t z = 0; z < p->extent.depth; z++)
        for (size_t y = 0; y < p->extent.height && error == cudaSuccess; y++)
            error = copy_row(to.first + z * to.slice + y * to.row,
                             from.first + z * from.slice + y * from.row, p->extent.width);
    return (cudaError_t)error;
}

cudaError_t cudart_run_copy(const struct cudaMemcpy3DParms *copy)
{
    struct cudaMemcpy3DParms flat;
    cudaError_t error = cudart_flatten_copy(copy, &flat);
    return error != cudaSuccess ? error : run_flat(&flat);
}

/* ---- in one dimension ------------------------------------------------------------------------ */

struct cudaMemcpy3DParms cudart_plain_copy(void *to, const void *from, size_t bytes,
                                           enum cudaMemcpyKind kind)
{
    return (struct cudaMemcpy3DParms){
        .srcPtr = {(void *)from, bytes, bytes, 1},
        .dstPtr = {to, bytes, bytes, 1},
        .extent = {bytes, 1, 1},
        .kind = kind,
    };
}

/* Carry out a copy: in a stream, and before the function returns. */
static cudaError_t submit_copy(struct cudaMemcpy3DParms copy, cudaStream_t stream)
{
    struct work work = {.type = cudaGraphNodeTypeMemcpy, .copy = copy};
    cudaError_t error = cudart_submit(stream, &work);
    if (error == cudaSuccess && !cudart_is_capturing(stream))
        cudart_order_return(copy.dstPtr.ptr, copy.srcPtr.ptr, false);
    return error;
}

static cudaError_t copy_now(struct cudaMemcpy3DParms copy)
{
    RETURN_IF_FAULTY();
    cudaError_t error = cudart_check_wait(NULL);
    if (error != cudaSuccess) return error;
    cudart_order_peers(copy.dstPtr.ptr, copy.srcPtr.ptr);
    cudart_order_begin(NULL, &(struct work){.type = cudaGraphNodeTypeMemcpy});
    cudart_work_begins(cudart_device()->number);
    error = cudart_run_copy(&copy);
    cudart_work_ends(cudart_device()->number);
    cudart_order_return(copy.dstPtr.ptr, copy.srcPtr.ptr, true);
    return error;
}

static cudaError_t copy(struct cudaMemcpy3DParms flat, struct when when)
{
    return when.now ? copy_now(flat) : submit_copy(flat, when.stream);
}

/* clang-format off */
NOW_OR_IN_STREAM(RUNTIME_ANYWHERE, cudaMemcpy, copy(cudart_plain_copy(to, from, bytes, kind), when),
                 void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
/* clang-format on */

/* ---- in two ---------------------------------------------------------------------------------- */

static struct cudaMemcpy3DParms copy_2d(void *to, size_t to_pitch, const void *from,
                                        size_t from_pitch, size_t width, size_t height,
                                        enum cudaMemcpyKind kind)
{
    return (struct cudaMemcpy3DParms){
        .srcPtr = {(void *)from, from_pitch, width, height},
        .dstPtr = {to, to_pitch, width, height},
        .extent = {width, height, 1},
        .kind = kind,
    };
}

/* clang-format off */
NOW_OR_IN_STREAM(RUNTIME_ANYWHERE, cudaMemcpy2D,
                 IF(width <= to_pitch && width <= from_pitch, cudaErrorInvalidPitchValue,
                    copy(copy_2d(to, to_pitch, from, from_pitch, width, height, kind), when)),
                 void *to, size_t to_pitch, const void *from, size_t from_pitch,
                 size_t width, size_t height, enum cudaMemcpyKind kind)
/* clang-format on */

/* ---- in three -------------------------------------------------------------------------------- */

static cudaError_t copy_3d(const struct cudaMemcpy3DParms *p, struct when when)
{
    struct cudaMemcpy3DParms flat;
    cudaError_t error = p != NULL ? cudart_flatten_copy(p, &flat) : cudaErrorInvalidValue;
    return error != cudaSuccess ? error : copy(flat, when);
}

NOW_OR_IN_STREAM(RUNTIME_ANYWHERE, cudaMemcpy3D, copy_3d(p, when),
                 const struct cudaMemcpy3DParms *p)

/* ---- copies from and to arrays --------------------------------------------------------------- */

static bool is_inside(size_t from, size_t count, size_t size)
{
    return from <= size && count <= size - from;
}

/* The memory of an array. */
static struct cudaPitchedPtr memory_of(const struct cudaArray *array)
{
    size_t height = cudart_array_size(array).height;
    return (struct cudaPitchedPtr){array->memory, array->row, array->row, height};
}

/* Turns a side that is an array into memory, if the copy is inside of it. *element becomes the
 * bytes of its element. */
static cudaError_t flatten(cudaArray_t handle, struct cudaPitchedPtr *memory, struct cudaPos *at,
                           const struct cudaExtent *extent, size_t *element)
{
    if (handle == NULL) return cudaSuccess;
    const struct cudaArray *array = cudart_array(handle);
    if (array == NULL || memory->ptr != NULL) return cudaErrorInvalidValue;
    struct cudaExtent size = cudart_array_size(array);
    if (!is_inside(at->x, extent->width, size.width) ||
        !is_inside(at->y, extent->height, size.height) ||
        !is_inside(at->z, extent->depth, size.depth) ||
        (*element != 0 && *element != array->element))
        return cudaErrorInvalidValue;
    *memory = memory_of(array);
    *element = array->element;
    at->x *= array->element;
    return cudaSuccess;
}

cudaError_t cudart_flatten_copy(const struct cudaMemcpy3DParms *p, struct cudaMemcpy3DParms *flat)
{
    size_t element = 0;
    *flat = *p;
    cudaError_t error = flatten(p->srcArray, &flat->srcPtr, &flat->srcPos, &p->extent, &element);
    if (error == cudaSuccess)
        error = flatten(p->dstArray, &flat->dstPtr, &flat->dstPos, &p->extent, &element);
    if (error != cudaSuccess) return error;
    flat->srcArray = flat->dstArray = NULL;
    if (element != 0) flat->extent.width *= element;
    return cudaSuccess;
}

/* ---- two-dimensional copies ------------------------------------------------------------------ */

/* One side of a copy of rows: an array, from a byte of a row on at which an element begins, or
 * memory. */
struct rows {
    bool is_array;
    cudaArray_const_t array;
    size_t x, y;
    void *memory;
    size_t pitch;
};

static cudaError_t take_rows(const struct rows *rows, size_t width, size_t height,
                             struct cudaPitchedPtr *memory, struct cudaPos *at)
{
    *memory = (struct cudaPitchedPtr){rows->memory, rows->pitch, width, height};
    if (!rows->is_array) return rows->memory != NULL ? cudaSuccess : cudaErrorInvalidValue;
    const struct cudaArray *array = cudart_array(rows->array);
    if (array == NULL) return cudaErrorInvalidResourceHandle;
    if (array->extent.depth > 0 || !is_inside(rows->x, width, array->row) ||
        !is_inside(rows->y, height, cudart_array_size(array).height))
        return cudaErrorInvalidValue;
    *memory = memory_of(array);
    *at = (struct cudaPos){rows->x, rows->y, 0};
    return cudaSuccess;
}

static cudaError_t copy_of_rows(const struct rows *to, const struct rows *from, size_t width,
                                size_t height, enum cudaMemcpyKind kind,
                                struct cudaMemcpy3DParms *copy)
{
    *copy = (struct cudaMemcpy3DParms){.extent = {width, height, 1}, .kind = kind};
    if ((!to->is_array && width > to->pitch) || (!from->is_array && width > from->pitch))
        return cudaErrorInvalidPitchValue;
    cudaError_t error = take_rows(to, width, height, &copy->dstPtr, &copy->dstPos);
    return error != cudaSuccess ? error
                                : take_rows(from, width, height, &copy->srcPtr, &copy->srcPos);
}

static cudaError_t copy_rows(struct rows to, struct rows from, size_t width, size_t height,
                             enum cudaMemcpyKind kind, struct when when)
{
    struct cudaMemcpy3DParms flat;
    cudaError_t error = copy_of_rows(&to, &from, width, height, kind, &flat);
    return error != cudaSuccess ? error : copy(flat, when);
}

#define ARRAY(from, x, y)        ((struct rows){true, .array = from, x, y})
#define MEMORY(first, row_bytes) ((struct rows){.memory = (void *)(first), .pitch = row_bytes})

/* clang-format off */
NOW_OR_IN_STREAM(RUNTIME_ANYWHERE, cudaMemcpy2DToArray,
                 copy_rows(ARRAY(to, x, y), MEMORY(from, pitch), width, height, kind, when),
                 cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                 size_t height, enum cudaMemcpyKind kind)
NOW_OR_IN_STREAM(RUNTIME_ANYWHERE, cudaMemcpy2DFromArray,
                 copy_rows(MEMORY(to, pitch), ARRAY(from, x, y), width, height, kind, when),
                 void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                 size_t height, enum cudaMemcpyKind kind)
RUNTIME_ANYWHERE(cudaMemcpy2DArrayToArray, (cudaArray_t to, size_t to_x, size_t to_y,
                 cudaArray_const_t from, size_t from_x, size_t from_y, size_t width,
                 size_t height, enum cudaMemcpyKind kind),
                 copy_rows(ARRAY(to, to_x, to_y), ARRAY(from, from_x, from_y), width, height, kind,
                           (struct when){.now = true}))
/* clang-format on */

ALSO_PTDS(cudaMemcpy2DArrayToArray);

/* ---- copies of bytes, which go on in the next row -------------------------------------------- */

/* The headers call these functions deprecated. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* The memory of `count` bytes of an array. NULL: they are not inside of it. */
static void *bytes_of(cudaArray_const_t handle, size_t x, size_t y, size_t count)
{
    const struct cudaArray *array = cudart_array(handle);
    if (array == NULL || array->extent.depth > 0 || x >= array->row ||
        y >= cudart_array_size(array).height || !is_inside(y * array->row + x, count, array->slice))
        return NULL;
    return (char *)array->memory + y * array->row + x;
}

/* clang-format off */
NOW_OR_IN_STREAM(RUNTIME_ANYWHERE, cudaMemcpyToArray,
                 copy(cudart_plain_copy(bytes_of(to, x, y, count), from, count, kind), when),
                 cudaArray_t to, size_t x, size_t y, const void *from, size_t count,
                 enum cudaMemcpyKind kind)
NOW_OR_IN_STREAM(RUNTIME_ANYWHERE, cudaMemcpyFromArray,
                 copy(cudart_plain_copy(to, bytes_of(from, x, y, count), count, kind), when),
                 void *to, cudaArray_const_t from, size_t x, size_t y, size_t count,
                 enum cudaMemcpyKind kind)
RUNTIME_ANYWHERE(cudaMemcpyArrayToArray, (cudaArray_t to, size_t to_x, size_t to_y,
                 cudaArray_const_t from, size_t from_x, size_t from_y, size_t count,
                 enum cudaMemcpyKind kind),
                 cudaMemcpy(bytes_of(to, to_x, to_y, count), bytes_of(from, from_x, from_y, count),
                            count, kind))
/* clang-format on */

ALSO_PTDS(cudaMemcpyArrayToArray);

/* ---- copies from and to __device__ and __constant__ variables -------------------------------- */

/* The program names a variable by the address of its host shadow. */

cudaError_t cudart_locate(const void *symbol, size_t bytes, size_t offset, void **address)
{
    emu_addr base;
    size_t size;
    cudaError_t error = cudart_variable(symbol, &base, &size);
    if (error != cudaSuccess) return error;
    if (offset > size || bytes > size - offset) return cudaErrorInvalidValue;
    *address = (void *)(base + offset);
    return cudaSuccess;
}

/* The work with `there`, the address at `offset` of a variable. */
#define AT_SYMBOL(symbol, bytes, offset, work)                                                     \
    ({                                                                                             \
        void *there;                                                                               \
        cudaError_t error = cudart_locate(symbol, bytes, offset, &there);                          \
        IF(error == cudaSuccess, error, work);                                                     \
    })

/* clang-format off */
NOW_OR_IN_STREAM(RUNTIME, cudaMemcpyToSymbol,
                 AT_SYMBOL(symbol, bytes, offset,
                           copy(cudart_plain_copy(there, from, bytes, kind), when)),
                 const void *symbol, const void *from, size_t bytes, size_t offset,
                 enum cudaMemcpyKind kind)
NOW_OR_IN_STREAM(RUNTIME, cudaMemcpyFromSymbol,
                 AT_SYMBOL(symbol, bytes, offset,
                           copy(cudart_plain_copy(to, there, bytes, kind), when)),
                 void *to, const void *symbol, size_t bytes, size_t offset,
                 enum cudaMemcpyKind kind)
RUNTIME(cudaGetSymbolAddress, (void **address, const void *symbol),
        IF(address != NULL, cudaErrorInvalidValue, cudart_locate(symbol, 0, 0, address)))
RUNTIME(cudaGetSymbolSize, (size_t *bytes, const void *symbol),
        IF(bytes != NULL, cudaErrorInvalidValue, cudart_variable(symbol, &(emu_addr){0}, bytes)))
/* clang-format on */
