/* refused.c — the functions of NVIDIA's library that this one does not support.
 *
 * A program that is linked with one of them starts. A call returns cudaErrorNotSupported, and the
 * first call of each function prints a message: where it was called, and what to do instead. */
#include "cudart.h"

/* clang-format off */
#define GRAPHICS(R)                                                                                \
    R(cudaEGLStreamConsumerAcquireFrame) R(cudaEGLStreamConsumerConnect)                           \
    R(cudaEGLStreamConsumerConnectWithFlags) R(cudaEGLStreamConsumerDisconnect)                    \
    R(cudaEGLStreamConsumerReleaseFrame) R(cudaEGLStreamProducerConnect)                           \
    R(cudaEGLStreamProducerDisconnect) R(cudaEGLStreamProducerPresentFrame)                        \
    R(cudaEGLStreamProducerReturnFrame) R(cudaEventCreateFromEGLSync) R(cudaGLGetDevices)          \
    R(cudaGLMapBufferObject) R(cudaGLMapBufferObjectAsync) R(cudaGLRegisterBufferObject)           \
    R(cudaGLSetBufferObjectMapFlags) R(cudaGLSetGLDevice) R(cudaGLUnmapBufferObject)               \
    R(cudaGLUnmapBufferObjectAsync) R(cudaGLUnregisterBufferObject)                                \
    R(cudaGraphicsEGLRegisterImage) R(cudaGraphicsGLRegisterBuffer)                                \
    R(cudaGraphicsGLRegisterImage) R(cudaGraphicsMapResources)                                     \
    R(cudaGraphicsResourceGetMappedEglFrame) R(cudaGraphicsResourceGetMappedMipmappedArray)        \
    R(cudaGraphicsResourceGetMappedPointer) R(cudaGraphicsResourceSetMapFlags)                     \
    R(cudaGraphicsSubResourceGetMappedArray) R(cudaGraphicsUnmapResources)                         \
    R(cudaGraphicsUnregisterResource) R(cudaGraphicsVDPAURegisterOutputSurface)                    \
    R(cudaGraphicsVDPAURegisterVideoSurface) R(cudaVDPAUGetDevice) R(cudaVDPAUSetVDPAUDevice)

#define EXTERNAL(R)                                                                                \
    R(cudaDestroyExternalMemory) R(cudaDestroyExternalSemaphore)                                   \
    R(cudaDeviceFlushGPUDirectRDMAWrites) R(cudaDeviceGetNvSciSyncAttributes)                      \
    R(cudaExternalMemoryGetMappedBuffer) R(cudaExternalMemoryGetMappedMipmappedArray)              \
    R(cudaGraphAddExternalSemaphoresSignalNode) R(cudaGraphAddExternalSemaphoresWaitNode)          \
    R(cudaGraphExecExternalSemaphoresSignalNodeSetParams)                                          \
    R(cudaGraphExecExternalSemaphoresWaitNodeSetParams)                                            \
    R(cudaGraphExternalSemaphoresSignalNodeGetParams)                                              \
    R(cudaGraphExternalSemaphoresSignalNodeSetParams)                                              \
    R(cudaGraphExternalSemaphoresWaitNodeGetParams)                                                \
    R(cudaGraphExternalSemaphoresWaitNodeSetParams) R(cudaImportExternalMemory)                    \
    R(cudaImportExternalSemaphore) R(cudaSignalExternalSemaphoresAsync)                            \
    R(cudaWaitExternalSemaphoresAsync)

#define SHARED_POOLS(R)                                                                            \
    R(cudaMemPoolExportPointer) R(cudaMemPoolExportToShareableHandle)                              \
    R(cudaMemPoolImportFromShareableHandle) R(cudaMemPoolImportPointer)

#define LIBRARIES(R)                                                                               \
    R(cudaLibraryEnumerateKernels) R(cudaLibraryGetGlobal) R(cudaLibraryGetKernel)                 \
    R(cudaLibraryGetKernelCount) R(cudaLibraryGetManaged) R(cudaLibraryGetUnifiedFunction)         \
    R(cudaLibraryLoadData) R(cudaLibraryLoadFromFile) R(cudaLibraryUnload)

#define DRIVER(R)                                                                                  \
    R(__cudaGetProcAddress) R(__cudaRegisterHostVar) R(__cudaRegisterUnifiedTable)                 \
    R(cudaDeviceRegisterAsyncNotification) R(cudaDeviceUnregisterAsyncNotification)                \
    R(cudaGetExportTable) R(cudaLogsCurrent) R(cudaLogsDumpToFile) R(cudaLogsDumpToMemory)         \
    R(cudaLogsRegisterCallback) R(cudaLogsUnregisterCallback)

#define MIPMAPS(R)                                                                                 \
    R(cudaArrayGetMemoryRequirements) R(cudaArrayGetPlane) R(cudaArrayGetSparseProperties)         \
    R(cudaFreeMipmappedArray) R(cudaGetMipmappedArrayLevel) R(cudaMallocMipmappedArray)            \
    R(cudaMipmappedArrayGetMemoryRequirements) R(cudaMipmappedArrayGetSparseProperties)

#define ATOMICS(R)                                                                                 \
    R(cudaDeviceGetHostAtomicCapabilities) R(cudaDeviceGetP2PAtomicCapabilities)

#define BATCHES(R)                                                                                 \
    R(cudaMemDiscardAndPrefetchBatchAsync) R(cudaMemDiscardBatchAsync)                             \
    R(cudaMemPrefetchBatchAsync) R(cudaMemcpy3DBatchAsync) R(cudaMemcpyBatchAsync)

/* Functions with a second name, for per-thread default streams. */
#define ALSO_PTSZ_REFUSED(R)                                                                       \
    R(cudaMemDiscardAndPrefetchBatchAsync) R(cudaMemDiscardBatchAsync)                             \
    R(cudaMemPrefetchBatchAsync) R(cudaMemcpy3DBatchAsync) R(cudaMemcpyBatchAsync)                 \
    R(cudaSignalExternalSemaphoresAsync) R(cudaWaitExternalSemaphoresAsync)
/* clang-format on */

/* ---- what is said ---------------------------------------------------------------------------- */

/* Where the program is, as " (called by main in my.cu:3)", or by a file in which it has no name;
 * empty if that is not known. */
static void describe_caller(char *text, size_t size)
{
    struct emu_host_place place;
    char where[512];
    text[0] = '\0';
    cudart_place(&place);
    cudart_describe_place(&place, where, sizeof where);
    where[strcspn(where, "\n")] = '\0';
    char *file = strstr(where, "] in "), *end = strstr(where, " [0x"); /* the address */
    if (file == NULL) return;
    if (end != NULL) *end = '\0';
    snprintf(text, size, " (called by %s)", end != NULL ? where : file + strlen("] in "));
}

/* Has this been said before? If not, notes it. */
static bool is_told(const char *feature)
{
    enum { MOST = 64 };
    static char told[MOST][80];
    static size_t count;
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    bool found = false;
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < count && !found; i++)
        found = strncmp(told[i], feature, sizeof told[i] - 1) == 0;
    if (!found && count < MOST) snprintf(told[count++], sizeof told[0], "%s", feature);
    pthread_mutex_unlock(&mutex);
    return found;
}

cudaError_t cudart_not_supported(const char *feature, const char *why)
{
    char sentence[1024], caller[600];
    if (is_told(feature)) return cudaErrorNotSupported;
    describe_caller(caller, sizeof caller);
    snprintf(sentence, sizeof sentence, "%s is not supported%s: %s", feature, caller, why);
    cudart_print(sentence);
    return cudaErrorNotSupported;
}

/* ---- the functions --------------------------------------------------------------------------- */

/* The compiler gets another name than the assembler, because it has seen the real declaration.
 * Arguments are ignored. */
#define REFUSE(name, why)                                                                          \
    int refused_##name(void) __asm__(#name);                                                       \
    int refused_##name(void) { return cudart_done(cudart_not_supported(#name, why)); }

#define R_GRAPHICS(name)                                                                           \
    REFUSE(name, "there is no OpenGL, EGL or VDPAU to share with; copy through host memory "       \
                 "instead")
GRAPHICS(R_GRAPHICS)

#define R_EXTERNAL(name)                                                                           \
    REFUSE(name, "there are no other drivers to share memory and semaphores with; use memory of "  \
                 "cudaMalloc, and events of this runtime")
EXTERNAL(R_EXTERNAL)

#define R_SHARED_POOLS(name)                                                                       \
    REFUSE(name, "memory of pools cannot be shared with other processes; share memory of "         \
                 "cudaMalloc by cudaIpcGetMemHandle")
SHARED_POOLS(R_SHARED_POOLS)

#define R_LIBRARIES(name)                                                                          \
    REFUSE(name, "use the driver API's functions of the same names, such as cuLibraryLoadData, "   \
                 "or link the kernels by nvcc")
LIBRARIES(R_LIBRARIES)

#define R_DRIVER(name)                                                                             \
    REFUSE(name, "the driver behind this runtime has no such part; run what needs it on a GPU")
DRIVER(R_DRIVER)

#define R_MIPMAPS(name)                                                                            \
    REFUSE(name, "arrays have no mipmaps, planes and unmapped tiles; use an array of "             \
                 "cudaMallocArray for each level instead")
MIPMAPS(R_MIPMAPS)

#define R_BATCHES(name)                                                                            \
    REFUSE(name, "there are no batches; call the function for one copy or range for each instead")
BATCHES(R_BATCHES)

#define R_ATOMICS(name)                                                                            \
    REFUSE(name, "it is not known which atomics would work; those of kernels work on all memory")
ATOMICS(R_ATOMICS)

#define SECOND_NAME(name, suffix)                                                                  \
    extern int second_##name(void) __asm__(#name suffix) __attribute__((alias(#name)));
#define WITH_PTSZ(name) SECOND_NAME(name, "_ptsz")
ALSO_PTSZ_REFUSED(WITH_PTSZ)
