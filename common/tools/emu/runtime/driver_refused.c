/* driver_refused.c — the functions of the driver and of the runtime that are not supported: all of
 * the toolkit's headers, also those for graphics, that no other file here defines.
 *
 * A program that is linked with one of them starts. A call returns an error, and the first call of
 * each function prints a message: where it was called, and what to do instead.
 *
 * Each function is defined here, weakly: the linker takes the definition in another file instead,
 * if there is one. The definitions have no parameters, since arguments are ignored. */
#include "cudart.h"

enum { NOT_SUPPORTED = 801 }; /* CUDA_ERROR_NOT_SUPPORTED */

#define NO_GRAPHICS                                                                                \
    "there is no OpenGL, EGL or VDPAU to share with; copy through host memory instead"
#define NO_OTHER_DRIVERS                                                                           \
    "there are no other drivers to share memory and semaphores with; use memory of cudaMalloc, "   \
    "and events of this runtime"
#define NO_MIPMAPS                                                                                 \
    "arrays have no mipmaps, planes and unmapped tiles; use an array of cudaMallocArray for each " \
    "level instead"

/* What to do instead, by the first letters of a function's name. The first row that fits counts. */
static const struct {
    const char *begin, *why;
} reasons[] = {
    {"cuGraphics", NO_GRAPHICS},
    {"cuGL", NO_GRAPHICS},
    {"cuEGL", NO_GRAPHICS},
    {"cuVDPAU", NO_GRAPHICS},
    {"cuEventCreateFromEGLSync", NO_GRAPHICS},
    {"cuGraph", "use the runtime's functions of the same names (cudaGraph…), which take the same "
                "handles"},
    {"cuUserObject", "use the runtime's cudaUserObject… instead"},
    {"cuArray", "use the runtime's arrays (cudaMallocArray) instead"},
    {"cuMipmapped", "there are no mipmaps; use an array of cudaMallocArray for each level"},
    {"cuTexObject", "use the runtime's cudaCreateTextureObject instead"},
    {"cuSurfObject", "use the runtime's cudaCreateSurfaceObject instead"},
    {"cuTexRef", "CUDA 12 removed texture references; use cudaCreateTextureObject instead"},
    {"cuSurfRef", "CUDA 12 removed surface references; use cudaCreateSurfaceObject instead"},
    {"cuModuleGetTexRef", "CUDA 12 removed texture references"},
    {"cuModuleGetSurfRef", "CUDA 12 removed surface references"},
    {"cuTensorMap", "there are no copies by im2col; encode tiles by cuTensorMapEncodeTiled "
                    "instead"},
    {"cuMulticast", "there is no multicast memory; write to each device instead"},
    {"cuMemCreate", "there is no virtual memory management; use cuMemAlloc instead"},
    {"cuMemAddress", "there is no virtual memory management; use cuMemAlloc instead"},
    {"cuMemMap", "there is no virtual memory management; use cuMemAlloc instead"},
};

static const char *reason(const char *name)
{
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (strncmp(name, reasons[i].begin, strlen(reasons[i].begin)) == 0) return reasons[i].why;
    return "the emulator's driver API has no such function; notes/more/driver.md lists those that "
           "it has. Use these, the runtime's, or a GPU";
}

/* Works without cuInit, and without a context. */
static int refuse(const char *name)
{
    cudart_in_driver = true;
    cudart_done(cudart_not_supported(name, reason(name)));
    cudart_in_driver = false;
    return NOT_SUPPORTED;
}

#define FUNCTION(name, base, version)                                                              \
    __attribute__((weak)) int name(void);                                                          \
    int name(void) { return refuse(#name); }
#include <functions.inc>
#undef FUNCTION

/* ---- the runtime's functions ----------------------------------------------------------------- */

/* The same by a part of the name. */
static const struct {
    const char *part, *why;
} runtime_reasons[] = {
    {"Graphics", NO_GRAPHICS},
    {"GL", NO_GRAPHICS}, /* also EGL */
    {"VDPAU", NO_GRAPHICS},
    {"External", NO_OTHER_DRIVERS},
    {"GPUDirect", NO_OTHER_DRIVERS},
    {"NvSciSync", NO_OTHER_DRIVERS},
    {"MemPool", "memory of pools cannot be shared with other processes; share memory of cudaMalloc "
                "by cudaIpcGetMemHandle"},
    {"Library", "use the driver API's functions of the same names, such as cuLibraryLoadData, or "
                "link the kernels by nvcc"},
    {"Mipmap", NO_MIPMAPS},
    {"Array", NO_MIPMAPS},
    {"Batch", "there are no batches; call the function for one copy or range for each instead"},
    {"Atomic", "it is not known which atomics would work; those of kernels work on all memory"},
};

static cudaError_t refuse_runtimes(const char *name)
{
    const char *why = "the driver behind this runtime has no such part; run what needs it on a GPU";
    for (size_t i = sizeof runtime_reasons / sizeof *runtime_reasons; i-- > 0;)
        if (strstr(name, runtime_reasons[i].part) != NULL) why = runtime_reasons[i].why;
    return cudart_done(cudart_not_supported(name, why));
}

/* The compiler gets another name than the assembler, because it has seen the real declaration. */
#define RUNTIME_FUNCTION(name, base)                                                               \
    __attribute__((weak)) int refused_##name(void) __asm__(#name);                                 \
    int refused_##name(void) { return (int)refuse_runtimes(base); }
#include <runtime.inc>
RUNTIME_FUNCTION(__cudaGetProcAddress, "__cudaGetProcAddress")
RUNTIME_FUNCTION(__cudaRegisterHostVar, "__cudaRegisterHostVar")
RUNTIME_FUNCTION(__cudaRegisterUnifiedTable, "__cudaRegisterUnifiedTable")

/* ---- names ----------------------------------------------------------------------------------- */

const struct driver_name driver_names[] = {
#define FUNCTION(name, base, version) {#name, base, version, (void (*)(void))name},
#include <functions.inc>
};
const size_t driver_name_count = sizeof driver_names / sizeof *driver_names;
