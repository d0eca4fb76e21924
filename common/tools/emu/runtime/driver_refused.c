/* driver_refused.c — the functions of the driver that are not supported: all of cuda.h, and of
 * the headers for graphics, that no other file here defines.
 *
 * Each of their functions is defined here, weakly: the linker takes the definition in another file
 * instead, if there is one. The definitions have no parameters, since arguments are ignored; so the
 * compiler must not see their declarations. */
#include "cudart.h"
#include "driver_names.h"

enum { NOT_SUPPORTED = 801 }; /* CUDA_ERROR_NOT_SUPPORTED */

#define NO_GRAPHICS \
    "there is no OpenGL, EGL or VDPAU to share with; copy through host memory instead"

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

const struct driver_name driver_names[] = {
#define FUNCTION(name, base, version) {#name, base, version, (void (*)(void))name},
#include <functions.inc>
};
const size_t driver_name_count = sizeof driver_names / sizeof *driver_names;
