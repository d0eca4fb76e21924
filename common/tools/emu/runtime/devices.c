/* devices.c — the devices: opening and choosing one, and access between them. */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "graph.h"
#include "common/files/visible.h"
#include "common/tools/emu/debug/debug.h"
#include <unistd.h>

/* ---- the devices that the program runs on, as the settings describe them --------------------- */

_Static_assert(MAX_DEVICES == 16, "the range of EMU_DEVICES in settings.inc");
static struct device devices[MAX_DEVICES];
static int device_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local int current; /* the thread's device */

_Noreturn void cudart_refuse(enum setting_id id, const char *value, const char *takes)
{
    fprintf(stderr, "emu: %s=", settings[id].variable);
    visible_print(stderr, value, strlen(value));
    fprintf(stderr, " is not understood; it takes %s\n", takes);
    cudart_exit(EXIT_USAGE);
}

static void read_settings(void)
{
    char takes[200];
    const struct setting *wrong = settings_read();
    if (wrong == NULL) return;
    setting_takes(wrong, takes, sizeof takes);
    enum setting_id id = (enum setting_id)(wrong - settings);
    cudart_refuse(id, setting_text(id), takes);
}

const char *cudart_environment(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static const struct emu_gpu *read_gpu(void)
{
    const char *key = setting_text(SETTING_GPU);
    const struct emu_gpu *gpu = key != NULL ? emu_gpu_find(key) : emu_gpu_at(0);
    if (gpu != NULL) return gpu;

    char keys[200] = "one of";
    for (size_t i = 0; emu_gpu_at(i) != NULL; i++) {
        size_t used = strlen(keys);
        snprintf(keys + used, sizeof keys - used, " %s", emu_gpu_at(i)->key);
    }
    cudart_refuse(SETTING_GPU, key, keys);
}

const struct emu_model *cudart_model(void)
{
    const char *key = setting_text(SETTING_MODEL);
    const struct emu_model *model = key != NULL ? emu_model_find(key) : NULL;
    if (key != NULL && model == NULL)
        cudart_refuse(SETTING_MODEL, key, settings[SETTING_MODEL].takes);
    return model;
}

unsigned cudart_newest_code(void)
{
    const struct emu_gpu *gpu = read_gpu();
    unsigned own = (unsigned)(10 * gpu->major + gpu->minor);
    unsigned most = (unsigned)setting_number(SETTING_PTX);
    return most && most < own ? most : own;
}

/* How many processes mpirun has started on this host, as Open MPI and MPICH say it; 1: none. */
static unsigned local_ranks(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"};
    enum { MOST = 1 << 16 };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = cudart_environment(names[i]);
        unsigned long number = value != NULL ? strtoul(value, NULL, 10) : 0;
        if (number > 0 && number < MOST) return (unsigned)number;
    }
    return 1;
}

static void open_device(struct device *device, const struct emu_config *config)
{
    char message[256];
    device->emu = emu_open(config, message, sizeof message);
    if (device->emu == NULL) {
        cudart_print(message);
        cudart_exit(EXIT_DEVICE);
    }
    if (setting_text(SETTING_DEBUG) != NULL)
        debug_attach(device->emu, atoi(setting_text(SETTING_DEBUG)),
                     setting_number(SETTING_HISTORY) << 20);
    device->number = (int)config->number;
    pthread_mutex_init(&device->report, NULL);
    pthread_mutex_init(&device->going_on, NULL);
    cudart_default_limits(device);
}

/* Makes the devices peers without access, so that messages can name the owner of an address. */
static void introduce(void)
{
    for (int i = 0; i < device_count; i++)
        for (int k = 0; k < device_count; k++)
            if (i != k) emu_set_peer(devices[i].emu, devices[k].emu, false);
}

static struct emu_config read_config(void)
{
    return (struct emu_config){
        .gpu = read_gpu(),
        .model = cudart_model(),
        .threads = (unsigned)setting_number(SETTING_THREADS),
        .memory = (size_t)setting_number(SETTING_MEMORY),
        .processes = local_ranks(),
        .patience = (unsigned)setting_number(SETTING_TIMEOUT),
        .limit = (unsigned)setting_number(SETTING_KERNEL_TIMEOUT),
        .instruction_limit = setting_number(SETTING_KERNEL_INSTRUCTIONS),
        .clock_seed = setting_number(SETTING_CLOCK_SEED),
        .lenient = setting_is(SETTING_LENIENT, "1"),
    };
}

/* Runs when the program is loaded, so a wrong setting ends the program before it does anything. */
__attribute__((constructor)) static void begin(void)
{
    read_settings();
    cudart_check_settings();
    cudart_document_settings();
    read_config();
    cudart_check_trace();
    cudart_parent_tell(OUTCOME_LOADED);
    cudart_progress_settings();
    cudart_tables_settings();
}

/* The program may have changed its environment since it was loaded. */
static void open_devices(void)
{
    read_settings();
    struct emu_config config = read_config();
    int count = (int)setting_number(SETTING_DEVICES);
    cudart_claim();
    cudart_observe_status();
    config.counters = cudart_report_wanted();
    config.trace = cudart_open_trace();
    config.pictures = cudart_document_has_pictures();
    cudart_check_config(&config);
    config.host_side = cudart_host_side();
    config.host_side.devices = (unsigned)count;
    for (; (int)config.number < count; config.number++) {
        config.more = (unsigned)count - 1 - config.number;
        open_device(&devices[config.number], &config);
    }
    device_count = count;
    introduce();
    cudart_catch_interrupt();
    cudart_progress_watch();
}

int cudart_device_count(void)
{
    pthread_once(&once, open_devices);
    return device_count;
}

struct device *cudart_device_at(int number)
{
    pthread_once(&once, open_devices);
    return &devices[number];
}

struct device *cudart_device(void) { return cudart_device_at(current); }

int cudart_use_device(int number)
{
    int was = current;
    current = number;
    return was;
}

struct device *cudart_owner(const void *address)
{
    for (int i = 0; i < cudart_device_count(); i++)
        if (emu_is_device(devices[i].emu, (emu_addr)address)) return &devices[i];
    return NULL;
}

struct emu *emu_runtime(void) { return cudart_device()->emu; }

/* ---- which device ---------------------------------------------------------------------------- */

RUNTIME_ANYWHERE(cudaGetDeviceCount, (int *count),
                 IF(!cudart_is_forked_too_late(), cudaErrorInitializationError,
                    TELL(count, cudart_device_count())))

RUNTIME_ANYWHERE(cudaGetDevice, (int *device),
                 TELL(device, (cudart_bind_context(), cudart_device()->number)))

RUNTIME_ANYWHERE(cudaSetDevice, (int device),
                 IF(!cudart_is_forked_too_late(), cudaErrorInitializationError,
                    IF_DEVICE(device, (cudart_set_context(cudart_primary_context(device)),
                                       cudaSuccess))))

/* Does not change the thread's device. */
WORK_OF(RUNTIME_ANYWHERE, cudaInitDevice, (int device, unsigned device_flags, unsigned flags),
        (device, device_flags, flags))
{
    if (!cudart_is_device(device)) return cudaErrorInvalidDevice;
    if (flags & cudaInitDeviceFlagsAreValid) cudart_device_at(device)->flags = device_flags;
    return cudaSuccess;
}

/* The flags say how to wait for the device, by one bit at most. They are kept without effect. */
WORK_OF(RUNTIME, cudaSetDeviceFlags, (unsigned flags), (flags))
{
    unsigned way = flags & cudaDeviceScheduleMask;
    if (flags & ~(unsigned)cudaDeviceMask || way & (way - 1)) return cudaErrorInvalidValue;
    cudart_device()->flags = flags;
    return cudaSuccess;
}

/* Memory can be mapped wherever addresses are unified. */
RUNTIME(cudaGetDeviceFlags, (unsigned *flags),
        TELL(flags, cudart_device()->flags | cudaDeviceMapHost))

/* Takes the first device of the list, which is in order of preference: all devices are available.
 * */
WORK_OF(RUNTIME_ANYWHERE, cudaSetValidDevices, (int *devices, int count), (devices, count))
{
    if (count < 0 || (count > 0 && devices == NULL)) return cudaErrorInvalidValue;
    for (int i = 0; i < count; i++)
        if (!cudart_is_device(devices[i])) return cudaErrorInvalidDevice;
    return count > 0 ? cudaSetDevice(devices[0]) : cudaSuccess;
}

/* ---- synchronise, reset ---------------------------------------------------------------------- */

RUNTIME_WAITS(cudaDeviceSynchronize, (void), (cudart_order_wait_device(), cudaSuccess))

RUNTIME_ANYWHERE(cudaDeviceReset, (void),
                 (cudart_end_context(cudart_primary_context(cudart_device()->number)), cudaSuccess))

/* ---- limits and preferences: kept, most of them without effect ------------------------------- */

/* The limits of an H200 (profiles/h200/answers.csv): a value is raised to the least one and rounded
 * up to a multiple of the unit. In bytes, except for the number of launches. */
static const struct {
    size_t initial, unit, least, most;
    bool is_clamped; /* a larger value counts as the most, and is no error */
} limits[LIMITS] = {
    [cudaLimitStackSize] = {1024, 16, 0, 511 << 10, false},
    [cudaLimitPrintfFifoSize] = {(8 << 20) + (256 << 10), 256, 512 << 10, SIZE_MAX, false},
    [cudaLimitMallocHeapSize] = {8 << 20, 64 << 10, 4 << 20, SIZE_MAX, false},
    [cudaLimitDevRuntimeSyncDepth] = {2, 1, 0, SIZE_MAX, false},
    [cudaLimitDevRuntimePendingLaunchCount] = {2048, 1, 32, 599186, true},
    [cudaLimitMaxL2FetchGranularity] = {64, 1, 0, 128, false},
    [cudaLimitPersistingL2CacheSize] = {0, 1, 0, SIZE_MAX, false}, /* see below */
};

/* One way of 16 of the L2 cache. Accesses can be made to stay in 10 of them. */
static size_t persisting_unit(const struct device *device)
{
    const struct emu_gpu *gpu = emu_gpu(device->emu);
    return gpu->major >= 8 ? gpu->l2 / 16 : 0;
}

void cudart_default_limits(struct device *device)
{
    for (int i = 0; i < LIMITS; i++) device->limits[i] = limits[i].initial;
    device->limits[cudaLimitPersistingL2CacheSize] = 3 * persisting_unit(device);
    device->cache = cudaFuncCachePreferNone;
}

/* Hopper has no depth at which kernels wait for each other. */
static bool has_limit(enum cudaLimit limit)
{
    return (unsigned)limit < LIMITS &&
           (limit != cudaLimitDevRuntimeSyncDepth || emu_gpu(emu_runtime())->major < 9);
}

WORK_OF(RUNTIME, cudaDeviceSetLimit, (enum cudaLimit limit, size_t value), (limit, value))
{
    if (!has_limit(limit)) return cudaErrorUnsupportedLimit;
    size_t unit = limits[limit].unit, most = limits[limit].most;
    if (limit == cudaLimitPersistingL2CacheSize) {
        unit = persisting_unit(cudart_device());
        most = 10 * unit;
    }
    if (value > most && !limits[limit].is_clamped) return cudaErrorInvalidValue;
    if (value > most) value = most;
    if (value < limits[limit].least) value = limits[limit].least;
    if (value % (unit + !unit)) value += unit - value % unit;
    int error = limit == cudaLimitMallocHeapSize ? emu_heap_limit(emu_runtime(), value)
                : limit == cudaLimitDevRuntimePendingLaunchCount
                    ? emu_pending_limit(emu_runtime(), value)
                    : EMU_OK;
    if (error) return error;
    cudart_device()->limits[limit] = value;
    return cudaSuccess;
}

RUNTIME(cudaDeviceGetLimit, (size_t *value, enum cudaLimit limit),
        IF(value == NULL || has_limit(limit), cudaErrorUnsupportedLimit,
           TELL(value, cudart_device()->limits[limit])))

/* ---- several devices: access to each other's memory, and copies between them ----------------- */

/* Addresses are unified: each device has its own range, and host memory has the same address
 * everywhere. Kernels need permission to access another device's memory; copies do not. */

RUNTIME_ANYWHERE(cudaDeviceCanAccessPeer, (int *can, int device, int peer),
                 IF(can == NULL || (cudart_is_device(device) && cudart_is_device(peer)),
                    cudaErrorInvalidDevice, TELL(can, device != peer)))

WORK_OF(RUNTIME_ANYWHERE, cudaDeviceGetP2PAttribute, (int *value, enum cudaDeviceP2PAttr attribute,
        int from, int to), (value, attribute, from, to))
{
    if (value == NULL) return cudaErrorInvalidValue;
    if (!cudart_is_device(from) || !cudart_is_device(to) || from == to)
        return cudaErrorInvalidDevice;
    switch (attribute) {
    case cudaDevP2PAttrPerformanceRank: *value = 0; break; /* all links are alike */
    case cudaDevP2PAttrAccessSupported: *value = 1; break;
    case cudaDevP2PAttrNativeAtomicSupported: *value = 1; break;
    case cudaDevP2PAttrCudaArrayAccessSupported: *value = 0; break;
    case cudaDevP2PAttrOnlyPartialNativeAtomicSupported: *value = 0; break;
    default: return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

WORK_OF(RUNTIME, cudaDeviceEnablePeerAccess, (int peer, unsigned flags), (peer, flags))
{
    struct device *device = cudart_device();
    if (flags != 0) return cudaErrorInvalidValue;
    if (!cudart_is_device(peer)) return cudaErrorInvalidDevice;
    if (peer == device->number) return cudaErrorPeerAccessUnsupported;
    if (device->peer_enabled[peer]) return cudaErrorPeerAccessAlreadyEnabled;
    device->peer_enabled[peer] = true;
    return emu_set_peer(device->emu, cudart_device_at(peer)->emu, true);
}

WORK_OF(RUNTIME, cudaDeviceDisablePeerAccess, (int peer), (peer))
{
    struct device *device = cudart_device();
    if (!cudart_is_device(peer)) return cudaErrorInvalidDevice;
    if (!device->peer_enabled[peer]) return cudaErrorPeerAccessNotEnabled;
    device->peer_enabled[peer] = false;
    return emu_set_peer(device->emu, cudart_device_at(peer)->emu, false);
}

void cudart_drop_peers(void)
{
    struct device *device = cudart_device();
    for (int i = 0; i < cudart_device_count(); i++) {
        if (!device->peer_enabled[i]) continue;
        device->peer_enabled[i] = false;
        emu_set_peer(device->emu, cudart_device_at(i)->emu, false);
    }
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* Is it memory of that device, or mapped host memory? */
static bool lies_on(const void *pointer, int device)
{
    const struct device *owner = cudart_owner(pointer);
    return owner == NULL || owner->number == device;
}

#define BETWEEN(checked, work)                                                                     \
    ({                                                                                             \
        cudaError_t error = checked;                                                               \
        IF(error == cudaSuccess, error, work);                                                     \
    })

static cudaError_t check_peers(const void *to, int to_device, const void *from, int from_device)
{
    if (!cudart_is_device(to_device) || !cudart_is_device(from_device))
        return cudaErrorInvalidDevice;
    if (!lies_on(to, to_device) || !lies_on(from, from_device)) return cudaErrorInvalidValue;
    return cudaSuccess;
}

/* clang-format off */
RUNTIME(cudaMemcpyPeer, (void *to, int to_device, const void *from, int from_device, size_t bytes),
        BETWEEN(check_peers(to, to_device, from, from_device),
                cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice)))
RUNTIME(cudaMemcpyPeerAsync, (void *to, int to_device, const void *from, int from_device,
        size_t bytes, cudaStream_t stream),
        BETWEEN(check_peers(to, to_device, from, from_device),
                cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream)))
/* clang-format on */

static cudaError_t check_3d(const struct cudaMemcpy3DPeerParms *p, struct cudaMemcpy3DParms *copy)
{
    if (p == NULL) return cudaErrorInvalidValue;
    *copy = (struct cudaMemcpy3DParms){.srcArray = p->srcArray,
                                       .srcPos = p->srcPos,
                                       .srcPtr = p->srcPtr,
                                       .dstArray = p->dstArray,
                                       .dstPos = p->dstPos,
                                       .dstPtr = p->dstPtr,
                                       .extent = p->extent,
                                       .kind = cudaMemcpyDeviceToDevice};
    cudaError_t error = cudart_flatten_copy(copy, copy);
    if (error != cudaSuccess) return error;
    return check_peers(copy->dstPtr.ptr, p->dstDevice, copy->srcPtr.ptr, p->srcDevice);
}

static cudaError_t copy_3d(const struct cudaMemcpy3DPeerParms *params, struct when when)
{
    struct cudaMemcpy3DParms copy;
    cudaError_t error = check_3d(params, &copy);
    if (error != cudaSuccess) return error;
    return when.now ? cudaMemcpy3D(&copy) : cudaMemcpy3DAsync(&copy, when.stream);
}

NOW_OR_IN_STREAM(RUNTIME, cudaMemcpy3DPeer, copy_3d(p, when),
                 const struct cudaMemcpy3DPeerParms *p)
