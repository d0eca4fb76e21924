/*
 * driver_link.c — joins several PTX texts. The result, which on a GPU is a cubin, is here an image
 * that holds the texts; cuModuleLoadData links them again.
 */
#define _POSIX_C_SOURCE 200809L /* strdup, strndup */
#include "driver_jit.h"
#include "module.h"
#include "handles.h"

#include <stdlib.h>
#include <string.h>

struct link {
    struct jit_log log;
    struct emu_ptx *texts; /* each text and name owned */
    size_t count;
    void *image; /* the result; NULL: not complete */
    size_t bytes;
};

static struct handles links = NO_HANDLES;

static struct link *find(CUlinkState state)
{
    return cudart_handles_have(&links, state) ? (struct link *)state : NULL;
}

static int create(unsigned count, CUjit_option *options, void **values, CUlinkState *state)
{
    struct jit_log log;
    if (state == NULL || !jit_read(&log, count, options, values))
        return driver_failed(CUDA_ERROR_INVALID_VALUE);
    struct link *link = calloc(1, sizeof *link);
    if (link == NULL || !cudart_handles_add(&links, link)) {
        free(link);
        return driver_failed(CUDA_ERROR_OUT_OF_MEMORY);
    }
    link->log = log;
    *state = (CUlinkState)link;
    return CUDA_SUCCESS;
}

static int destroy(CUlinkState state)
{
    struct link *link = find(state);
    if (link == NULL) return driver_failed(CUDA_ERROR_INVALID_HANDLE);
    cudart_handles_remove(&links, link);
    for (size_t i = 0; i < link->count; i++) {
        free((char *)link->texts[i].text);
        free((char *)link->texts[i].name);
    }
    free(link->texts);
    free(link->image);
    free(link);
    return CUDA_SUCCESS;
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* Loads and unloads an image, which finds mistakes. What is not defined may be in another text if
 * it is only a part. */
static cudaError_t try_image(const struct link *link, const void *image, size_t bytes,
                             const char *name, bool is_part)
{
    char message[LOAD_MESSAGE] = "";
    struct program *program;
    cudaError_t error = cudart_load_module(image, bytes, name, NULL, &program, message);
    if (error == cudaSuccess) cudart_unload_module(program);
    if (error == cudaErrorSymbolNotFound && is_part) return cudaSuccess;
    jit_write(&link->log, message);
    return error;
}

/* The text becomes the link's. */
static int keep_text(struct link *link, char *text, size_t length, char *name)
{
    struct emu_ptx *grown = realloc(link->texts, (link->count + 1) * sizeof *grown);
    if (grown == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    link->texts = grown;
    grown[link->count++] = (struct emu_ptx){text, length, name};
    return CUDA_SUCCESS;
}

static int add_text(struct link *link, char *text, size_t length, const char *name)
{
    char *own_name = strdup(name != NULL ? name : "the linked PTX");
    int error = text == NULL || own_name == NULL
                    ? CUDA_ERROR_OUT_OF_MEMORY
                    : (int)try_image(link, text, length, own_name, true);
    if (error == CUDA_SUCCESS) error = keep_text(link, text, length, own_name);
    if (error == CUDA_SUCCESS) return CUDA_SUCCESS;
    free(text);
    free(own_name);
    return driver_failed((CUresult)error);
}

static int add_ptx(struct link *link, const char *data, size_t bytes, const char *name)
{
    size_t length = strnlen(data, bytes);
    char *text = strndup(data, length);
    if (text == NULL || cudart_is_ptx(text)) return add_text(link, text, length, name);
    free(text);
    jit_write(&link->log, "what is to be linked as PTX does not begin with .version");
    return driver_failed(CUDA_ERROR_INVALID_IMAGE);
}

static int add_fat_binary(struct link *link, const void *data, size_t bytes, const char *name)
{
    char message[LOAD_MESSAGE];
    struct fatbin_ptx ptx;
    int error = fatbin_extract(data, bytes, cudart_newest_code(), &ptx, message, sizeof message);
    if (error == CUDA_SUCCESS) return add_text(link, ptx.text, ptx.length, name);
    jit_write(&link->log, message);
    return driver_failed((CUresult)error);
}

static int add(CUlinkState state, CUjitInputType type, const void *data, size_t bytes,
               const char *name)
{
    struct link *link = find(state);
    if (link == NULL) return driver_failed(CUDA_ERROR_INVALID_HANDLE);
    if (data == NULL || bytes == 0 || link->image != NULL)
        return driver_failed(CUDA_ERROR_INVALID_VALUE);
    switch (type) {
    case CU_JIT_INPUT_PTX: return add_ptx(link, data, bytes, name);
    case CU_JIT_INPUT_FATBINARY: return add_fat_binary(link, data, bytes, name);
    case CU_JIT_INPUT_CUBIN:
    case CU_JIT_INPUT_OBJECT:
    case CU_JIT_INPUT_LIBRARY:
    case CU_JIT_INPUT_NVVM:
        return (int)cudart_done(cudart_not_supported(
            "linking machine code, objects or NVVM code",
            "the emulator links PTX and fat binaries that hold PTX; compile to PTX instead"));
    default: return driver_failed(CUDA_ERROR_INVALID_VALUE);
    }
}

/* What libcudadevrt.a has for cooperative groups, as Numba calls it: the barrier that nvcc makes of
 * grid.sync(). The emulator supplies the other functions itself. */
static const char cooperative[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope) {\n"
    ".reg .b32 %r<2>; .reg .b64 %h; mov.u32 %r0, %envreg2; mov.u32 %r1, %envreg1;\n"
    "mov.b64 %h, {%r0, %r1}; st.param.b64 [handle], %h; ret; }\n"
    ".visible .func (.param .b32 error) cudaCGSynchronize(.param .b64 handle, .param .b32 f) {\n"
    ".reg .pred %p; .reg .b32 %r<5>; .reg .b64 %h; ld.param.b64 %h, [handle];\n"
    "setp.ne.u64 %p, %h, 0; @%p bra GRID; trap; GRID: barrier.sync 0;\n"
    "mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; or.b32 %r0, %r0, %r1; mov.u32 %r1, %tid.z;\n"
    "or.b32 %r0, %r0, %r1; setp.ne.u32 %p, %r0, 0; @%p bra END; mov.u32 %r0, %nctaid.x;\n"
    "mov.u32 %r1, %nctaid.y; mul.lo.u32 %r0, %r0, %r1; mov.u32 %r1, %nctaid.z;\n"
    "mul.lo.u32 %r0, %r0, %r1; sub.u32 %r2, 0x80000001, %r0; mov.u32 %r0, %ctaid.x;\n"
    "mov.u32 %r1, %ctaid.y; or.b32 %r0, %r0, %r1; mov.u32 %r1, %ctaid.z;\n"
    "or.b32 %r0, %r0, %r1; setp.eq.u32 %p, %r0, 0; selp.b32 %r2, %r2, 1, %p;\n"
    "atom.add.release.gpu.u32 %r3, [%h+4], %r2;\n"
    "POLL: ld.acquire.gpu.u32 %r4, [%h+4]; xor.b32 %r4, %r4, %r3; setp.gt.s32 %p, %r4, -1;\n"
    "@%p bra POLL; END: barrier.sync 0; st.param.b32 [error], 0; ret; }\n";

static bool is_device_runtime(const char *path)
{
    const char *name = strrchr(path, '/');
    return !strcmp(name != NULL ? name + 1 : path, "libcudadevrt.a");
}

static int add_file(CUlinkState state, CUjitInputType type, const char *path)
{
    size_t bytes;
    if (path == NULL) return driver_failed(CUDA_ERROR_INVALID_VALUE);
    if (type == CU_JIT_INPUT_LIBRARY && is_device_runtime(path))
        return add(state, CU_JIT_INPUT_PTX, cooperative, sizeof cooperative, path);
    char *data = driver_read_file(path, &bytes);
    if (data == NULL) return driver_failed(CUDA_ERROR_FILE_NOT_FOUND);
    int error = add(state, type, data, bytes, path);
    free(data);
    return error;
}

/* ---- the result ------------------------------------------------------------------------------ */

static int complete(CUlinkState state, void **image, size_t *bytes)
{
    struct link *link = find(state);
    if (link == NULL) return driver_failed(CUDA_ERROR_INVALID_HANDLE);
    if (image == NULL || link->count == 0) return driver_failed(CUDA_ERROR_INVALID_VALUE);
    if (link->image == NULL)
        link->image =
            cudart_pack_texts(link->texts, link->count, link->log.registers, &link->bytes);
    if (link->image == NULL) return driver_failed(CUDA_ERROR_OUT_OF_MEMORY);
    cudaError_t error = try_image(link, link->image, link->bytes, "the linked code", false);
    if (error == cudaErrorSymbolNotFound) error = cudaErrorUnknown; /* as on an H200 */
    if (error != cudaSuccess) return (int)cudart_done(error);
    *image = link->image;
    if (bytes != NULL) *bytes = link->bytes;
    return CUDA_SUCCESS;
}

/* The options of single inputs are ignored: those of cuLinkCreate say where messages go. */
/* clang-format off */
DRIVER(cuLinkCreate, (unsigned count, CUjit_option *options, void **values, CUlinkState *state),
       create(count, options, values, state))
DRIVER_ANYWHERE(cuLinkAddData, (CUlinkState state, CUjitInputType type, void *data, size_t bytes,
                 const char *name, unsigned count, CUjit_option *options, void **values),
                ((void)count, (void)options, (void)values, add(state, type, data, bytes, name)))
DRIVER_ANYWHERE(cuLinkAddFile, (CUlinkState state, CUjitInputType type, const char *path,
                 unsigned count, CUjit_option *options, void **values),
                ((void)count, (void)options, (void)values, add_file(state, type, path)))
DRIVER(cuLinkComplete, (CUlinkState state, void **image, size_t *bytes),
       complete(state, image, bytes))
DRIVER_ANYWHERE(cuLinkDestroy, (CUlinkState state), destroy(state))
/* clang-format on */
