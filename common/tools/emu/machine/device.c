/* device.c — opening and closing a device, its memory as the host sees it, and models of GPUs. */
#define _POSIX_C_SOURCE 200809L
#include "device.h"
#include "events.h"
#include <inttypes.h>
#include <stdarg.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

/* ---- the models of GPUs that the emulator can take the place of ------------------------------ */

/* The limits of a block and of a multiprocessor (SM) come from the compute capability: CUDA C++
 * Programming Guide, "Compute Capabilities", table "Technical Specifications". The numbers of SMs,
 * clocks, buses and caches come from NVIDIA's data sheets and architecture white papers; the L2
 * sizes of the H200 and the B200 are those that cudaGetDeviceProperties returned on one. `memory`
 * is the total that nvidia-smi shows, which is slightly less than the advertised capacity. */

#define KIB ((size_t)1024)
#define MIB (1024 * KIB)

/* Every GPU of compute capability 7.5 to 10.x has these. */
#define COMMON_LIMITS                                                                              \
    .threads_per_block = 1024, .warp_size = 32, .registers_per_sm = 65536,                         \
    .registers_per_block = 65536, .constant = 64 * KIB, .shared_per_block = 48 * KIB

static const struct emu_gpu models[] = {
    {COMMON_LIMITS, .key = "h200", .name = "NVIDIA H200", .major = 9, .minor = 0, .sms = 132,
     .threads_per_sm = 2048, .blocks_per_sm = 32, .shared_per_block_optin = 227 * KIB,
     .shared_per_sm = 228 * KIB, .shared_reserved = 1 * KIB, .memory = 143771 * MIB, .l2 = 60 * MIB,
     .clock_khz = 1980000, .memory_clock_khz = 3201000, .memory_bus_bits = 6016},
    {COMMON_LIMITS, .key = "h100", .name = "NVIDIA H100 80GB HBM3", .major = 9, .minor = 0,
     .sms = 132, .threads_per_sm = 2048, .blocks_per_sm = 32, .shared_per_block_optin = 227 * KIB,
     .shared_per_sm = 228 * KIB, .shared_reserved = 1 * KIB, .memory = 81559 * MIB, .l2 = 50 * MIB,
     .clock_khz = 1980000, .memory_clock_khz = 2619000, .memory_bus_bits = 5120},
    {COMMON_LIMITS, .key = "a100", .name = "NVIDIA A100-SXM4-80GB", .major = 8, .minor = 0,
     .sms = 108, .threads_per_sm = 2048, .blocks_per_sm = 32, .shared_per_block_optin = 163 * KIB,
     .shared_per_sm = 164 * KIB, .shared_reserved = 1 * KIB, .memory = 81920 * MIB, .l2 = 40 * MIB,
     .clock_khz = 1410000, .memory_clock_khz = 1593000, .memory_bus_bits = 5120},
    {COMMON_LIMITS, .key = "t4", .name = "Tesla T4", .major = 7, .minor = 5, .sms = 40,
     .threads_per_sm = 1024, .blocks_per_sm = 16, .shared_per_block_optin = 64 * KIB,
     .shared_per_sm = 64 * KIB, .shared_reserved = 0, .memory = 15360 * MIB, .l2 = 4 * MIB,
     .clock_khz = 1590000, .memory_clock_khz = 5001000, .memory_bus_bits = 256},
    {COMMON_LIMITS, .key = "rtx4090", .name = "NVIDIA GeForce RTX 4090", .major = 8, .minor = 9,
     .sms = 128, .threads_per_sm = 1536, .blocks_per_sm = 24, .shared_per_block_optin = 99 * KIB,
     .shared_per_sm = 100 * KIB, .shared_reserved = 1 * KIB, .memory = 24564 * MIB, .l2 = 72 * MIB,
     .clock_khz = 2520000, .memory_clock_khz = 10501000, .memory_bus_bits = 384},
    {COMMON_LIMITS, .key = "b200", .name = "NVIDIA B200", .major = 10, .minor = 0, .sms = 148,
     .threads_per_sm = 2048, .blocks_per_sm = 32, .shared_per_block_optin = 227 * KIB,
     .shared_per_sm = 228 * KIB, .shared_reserved = 1 * KIB, .memory = 183359 * MIB,
     .l2 = 126 * MIB + 512 * KIB, .clock_khz = 1965000, .memory_clock_khz = 3996000,
     .memory_bus_bits = 7680},
};

/* The blocks of a cluster run in one of the GPU's processing clusters (GPCs). These are the numbers
 * of SMs per GPC of an H200, derived from what cudaOccupancyMaxActiveClusters returned for clusters
 * of 2, 4, 8 and 16 blocks. For other GPUs they are unknown: SMS_PER_GPC for each GPC is
 * assumed. */
static const int h200_gpcs[] = {18, 18, 18, 16, 16, 16, 16, 14};
enum { H200_SMS = 132, SMS_PER_GPC = 16 };

unsigned emu_active_clusters(const struct emu_gpu *gpu, unsigned cluster_blocks, unsigned per_sm)
{
    unsigned clusters = 0;
    if (cluster_blocks <= 1) return (unsigned)gpu->sms * per_sm;
    if (gpu->major == 9 && gpu->sms == H200_SMS) {
        for (size_t k = 0; k < sizeof h200_gpcs / sizeof *h200_gpcs; k++)
            clusters += (unsigned)h200_gpcs[k] / cluster_blocks;
        return clusters * per_sm;
    }
    for (int left = gpu->sms; left > 0; left -= SMS_PER_GPC)
        clusters += (unsigned)(left < SMS_PER_GPC ? left : SMS_PER_GPC) / cluster_blocks;
    return clusters * per_sm;
}

const struct emu_gpu *emu_gpu_at(size_t index)
{
    return index < sizeof models / sizeof *models ? &models[index] : NULL;
}

const struct emu_gpu *emu_gpu_find(const char *key)
{
    const struct emu_gpu *gpu;
    for (size_t i = 0; (gpu = emu_gpu_at(i)) != NULL; i++)
        if (strcasecmp(gpu->key, key) == 0) return gpu;
    return NULL;
}

/* ---- opening and closing a device, and the host's access to its memory ----------------------- */

int device_failed(struct emu *emu, int error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(emu->message, sizeof emu->message, format, arguments);
    va_end(arguments);
    return error;
}

/* ---- opening --------------------------------------------------------------------------------- */

static unsigned processes_of(const struct emu_config *config)
{
    return config->processes ? config->processes : 1;
}

static size_t memory_size(const struct emu_gpu *gpu, const struct emu_config *config)
{
    if (config->memory) return config->memory;
    size_t pages = (size_t)sysconf(_SC_PHYS_PAGES) / 2 / processes_of(config);
    size_t most = pages * (size_t)sysconf(_SC_PAGESIZE);
    return gpu->memory < most ? gpu->memory : most;
}

static unsigned thread_count(const struct emu_config *config)
{
    if (config->threads) return config->threads;
    long cores = sysconf(_SC_NPROCESSORS_ONLN) / (long)processes_of(config);
    return cores > 0 ? (unsigned)cores : 1;
}

/* Opens the memory. If the program did not ask for a size, the default size is halved until the
 * host has enough addresses: for this device's memory, the other devices', and as many again for
 * the program, the running blocks and the checkers. */
static bool open_memory(struct emu *emu, const struct emu_config *config)
{
    enum { LEAST = 1 << 20, STRETCHES = 4 }; /* device addresses and their bytes, both doubled */
    size_t bytes = memory_size(emu->gpu, config);
    if (config->memory) return memory_open(&emu->memory, bytes, config->number, 0);
    for (; bytes >= LEAST; bytes /= 2)
        if (memory_open(&emu->memory, bytes, config->number,
                        bytes * STRETCHES * (1 + config->more)))
            return true;
    return false;
}

static void describe_no_memory(const struct emu_config *config, char *message, size_t size)
{
    if (config->memory)
        snprintf(
            message, size,
            "the host has no addresses for %zu bytes of device memory: set EMU_MEMORY to fewer,"
            " or raise the limit that ulimit -v shows",
            config->memory);
    else
        snprintf(message, size,
                 "the host has no addresses for device memory: raise the limit that ulimit -v"
                 " shows, or set EMU_MEMORY to less than 1M");
}

/* Opens the observers and the memory. False: a message is set. */
static bool open_parts(struct emu *emu, const struct emu_config *config, char *message, size_t size)
{
    event_device_open(emu, config);
    if (open_memory(emu, config)) return true;
    describe_no_memory(config, message, size);
    return false;
}

struct emu *emu_open(const struct emu_config *config, char *message, size_t size)
{
    static const struct emu_config defaults;
    if (!config) config = &defaults;
    struct emu *emu = allocated(calloc(1, sizeof *emu));
    emu->gpu = config->gpu ? config->gpu : emu_gpu_at(0);
    emu->threads = thread_count(config);
    emu->counting = config->counters;
    enum { DEFAULT_PATIENCE = 60 };
    emu->model = config->model && config->model->shared.count ? config->model : NULL;
    emu->patience = config->patience ? config->patience : DEFAULT_PATIENCE;
    emu->limit = config->limit;
    emu->instruction_limit = config->instruction_limit;
    emu->lenient = config->lenient;
    emu->checks = config->checks;
    emu->schedule = config->schedule;
    emu->clock_seed = config->clock_seed;
    emu->descending = config->descending;
    emu->strict_readers = config->strict_readers;
    emu->unordered = config->unordered;
    emu->host_place = config->host_place;
    emu->describe_host_place = config->describe_host_place;
    emu->host_side = config->host_side;
    emu->number = config->number;
    /* One host thread, so that runs are reproducible. */
    if (emu->schedule || emu->clock_seed) emu->threads = 1;
    if (!open_parts(emu, config, message, size)) {
        event_device_close(emu);
        free(emu);
        return NULL;
    }
    emu->memory.fresh = FRESH_BYTE(emu);
    pthread_mutex_init(&emu->lock, NULL);
    pthread_mutex_init(&emu->running_lock, NULL);
    pool_open(&emu->pool);
    return emu;
}

void emu_close(struct emu *emu)
{
    if (!emu) return;
    pool_close(&emu->pool);
    for (struct emu_module *module = emu->modules, *next; module; module = next) {
        next = module->next;
        module_free(module);
    }
    descendants_close(emu);
    heap_close(&emu->heap, &emu->memory);
    device_close_textures(emu);
    memory_close(&emu->memory);
    event_device_close(emu);
    pthread_mutex_destroy(&emu->lock);
    pthread_mutex_destroy(&emu->running_lock);
    free(emu);
}

const struct emu_gpu *emu_gpu(const struct emu *emu) { return emu->gpu; }
const char *emu_message(const struct emu *emu) { return emu->message; }

static double (*own_clock)(void);
void device_set_clock(double (*seconds)(void)) { own_clock = seconds; }

double device_seconds(void)
{
    struct timespec now;
    if (own_clock) return own_clock();
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void device_append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    if (used < size) vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

/* ---- memory ---------------------------------------------------------------------------------- */

int emu_alloc(struct emu *emu, size_t bytes, emu_addr *address)
{
    pthread_mutex_lock(&emu->lock);
    int error = memory_alloc(&emu->memory, bytes, address);
    size_t left = emu->memory.capacity - emu->memory.used;
    if (error)
        device_failed(
            emu, error, "cannot allocate %zu bytes of device memory: %zu of %zu are free%s", bytes,
            left, emu->memory.capacity,
            bytes > left || !bytes ? "" : ", but not in one piece; set EMU_MEMORY to more");
    else
        event_alloc(emu, *address, bytes);
    pthread_mutex_unlock(&emu->lock);
    return error;
}

int emu_free(struct emu *emu, emu_addr address)
{
    pthread_mutex_lock(&emu->lock);
    const struct range *range = memory_find(&emu->memory, address);
    uint64_t bytes = range ? range->bytes : 0;
    int error = memory_free(&emu->memory, address);
    if (error)
        device_failed(emu, error, "0x%" PRIx64 " is not the start of an allocation", address);
    else
        event_free(emu, address, bytes);
    pthread_mutex_unlock(&emu->lock);
    return error;
}

int emu_map_host(struct emu *emu, void *host, size_t bytes)
{
    pthread_mutex_lock(&emu->lock);
    int error = memory_map(&emu->memory, host, bytes);
    if (error) device_failed(emu, error, "cannot map %zu bytes of host memory at %p", bytes, host);
    emu->maps_host = emu->maps_host || !error;
    pthread_mutex_unlock(&emu->lock);
    return error;
}

int emu_unmap_host(struct emu *emu, void *host)
{
    pthread_mutex_lock(&emu->lock);
    const struct range *range = memory_find(&emu->memory, (emu_addr)(uintptr_t)host);
    uint64_t bytes = range ? range->bytes : 0;
    int error = memory_unmap(&emu->memory, host);
    if (error)
        device_failed(emu, error, "no host memory is mapped at %p", host);
    else
        event_drop(emu, (emu_addr)(uintptr_t)host, bytes);
    pthread_mutex_unlock(&emu->lock);
    return error;
}

bool emu_find(struct emu *emu, emu_addr address, emu_addr *base, size_t *bytes)
{
    pthread_mutex_lock(&emu->lock);
    const struct range *range = memory_find_hidden(&emu->memory, address);
    if (range) {
        *base = range->base;
        *bytes = range->bytes;
    }
    pthread_mutex_unlock(&emu->lock);
    return range != NULL;
}

bool emu_is_device(const struct emu *emu, emu_addr address)
{
    return address - emu->memory.space.base < emu->memory.space.bytes;
}

void emu_memory_info(struct emu *emu, size_t *free_bytes, size_t *total_bytes)
{
    pthread_mutex_lock(&emu->lock);
    *total_bytes = emu->memory.capacity;
    *free_bytes = emu->memory.capacity - emu->memory.used;
    pthread_mutex_unlock(&emu->lock);
}

/* The host's address of a device range; NULL: the message is set. A copy of 0 bytes may name any
 * address. */
static void *view(struct emu *emu, emu_addr address, size_t bytes)
{
    char nearest[200];
    void *bytes_there = memory_view(&emu->memory, address, bytes);
    if (bytes_there) return bytes_there;
    device_describe_address(emu, address, nearest, sizeof nearest);
    device_failed(emu, EMU_INVALID_VALUE,
                  "%zu bytes from device address 0x%" PRIx64
                  " on are not inside one allocation (%s)",
                  bytes, address, nearest);
    return NULL;
}

int emu_write(struct emu *emu, emu_addr to, const void *from, size_t bytes)
{
    if (!bytes) return EMU_OK;
    pthread_mutex_lock(&emu->lock);
    void *there = view(emu, to, bytes);
    if (there) memcpy(there, from, bytes);
    if (there) event_host_write(emu, to, bytes);
    pthread_mutex_unlock(&emu->lock);
    return there ? EMU_OK : EMU_INVALID_VALUE;
}

int emu_read(struct emu *emu, void *to, emu_addr from, size_t bytes)
{
    return emu_read_rows(emu, to, from, &(struct emu_rows){.bytes = bytes, .rows = 1, .slices = 1});
}

int emu_read_rows(struct emu *emu, void *to, emu_addr from, const struct emu_rows *rows)
{
    const void *there = NULL;
    if (!rows->bytes || !rows->rows || !rows->slices) return EMU_OK;
    pthread_mutex_lock(&emu->lock);
    for (size_t k = 0; k < rows->rows * rows->slices; k++) {
        size_t z = k / rows->rows, y = k % rows->rows;
        there = view(emu, from + z * rows->from_slice + y * rows->from_row, rows->bytes);
        if (!there) break;
        memcpy((char *)to + z * rows->to_slice + y * rows->to_row, there, rows->bytes);
    }
    if (there) event_host_read(emu, from, rows, NULL);
    pthread_mutex_unlock(&emu->lock);
    return there ? EMU_OK : EMU_INVALID_VALUE;
}

/* The bytes from the first to the last of the rows. */
static size_t span(const struct emu_rows *rows)
{
    return (rows->slices - 1) * rows->from_slice + (rows->rows - 1) * rows->from_row + rows->bytes;
}

void *emu_view(struct emu *emu, emu_addr address, const struct emu_rows *rows, bool reads,
               bool writes, const char *reader)
{
    pthread_mutex_lock(&emu->lock);
    void *there = view(emu, address, span(rows));
    if (there && reads) event_host_read(emu, address, rows, reader);
    for (size_t k = 0; there && writes && k < rows->rows * rows->slices; k++)
        event_host_write(
            emu, address + k / rows->rows * rows->from_slice + k % rows->rows * rows->from_row,
            rows->bytes);
    pthread_mutex_unlock(&emu->lock);
    return there;
}

int emu_copy(struct emu *emu, emu_addr to, emu_addr from, size_t bytes)
{
    if (!bytes) return EMU_OK;
    pthread_mutex_lock(&emu->lock);
    void *target = view(emu, to, bytes), *source = target ? view(emu, from, bytes) : NULL;
    if (source) memmove(target, source, bytes);
    if (source) event_host_copy(emu, to, emu, from, bytes);
    pthread_mutex_unlock(&emu->lock);
    return source ? EMU_OK : EMU_INVALID_VALUE;
}

int emu_fill(struct emu *emu, emu_addr address, unsigned char value, size_t bytes)
{
    if (!bytes) return EMU_OK;
    pthread_mutex_lock(&emu->lock);
    void *there = view(emu, address, bytes);
    if (there) memset(there, value, bytes);
    if (there) event_host_write(emu, address, bytes);
    pthread_mutex_unlock(&emu->lock);
    return there ? EMU_OK : EMU_INVALID_VALUE;
}

void emu_renew(struct emu *emu, emu_addr address, size_t bytes)
{
    pthread_mutex_lock(&emu->lock);
    event_renew(emu, address, bytes);
    pthread_mutex_unlock(&emu->lock);
}

void emu_hide(struct emu *emu, emu_addr address, bool hidden)
{
    pthread_mutex_lock(&emu->lock);
    size_t bytes = memory_hide(&emu->memory, address, hidden);
    if (bytes && hidden)
        event_free(emu, address, bytes);
    else if (bytes)
        event_alloc(emu, address, bytes);
    pthread_mutex_unlock(&emu->lock);
}

/* ---- peers ----------------------------------------------------------------------------------- */

static struct peer *find_peer(struct emu *emu, const struct emu *peer)
{
    for (unsigned i = 0; i < emu->peer_count; i++)
        if (emu->peers[i].emu == peer) return &emu->peers[i];
    return NULL;
}

int emu_set_peer(struct emu *emu, struct emu *peer, bool may_access)
{
    int error = EMU_OK;
    pthread_mutex_lock(&emu->lock);
    struct peer *known = find_peer(emu, peer);
    if (known)
        known->may_access = may_access;
    else if (emu->peer_count < EMU_MAX_PEERS)
        emu->peers[emu->peer_count++] = (struct peer){peer, may_access};
    else
        error =
            device_failed(emu, EMU_OUT_OF_MEMORY, "a device has at most %d peers", EMU_MAX_PEERS);
    pthread_mutex_unlock(&emu->lock);
    return error;
}

int emu_copy_peer(struct emu *to, emu_addr to_address, struct emu *from, emu_addr from_address,
                  size_t bytes)
{
    if (!bytes) return EMU_OK;
    if (to == from) return emu_copy(to, to_address, from_address, bytes);
    /* The locks are always taken in the same order: otherwise two copies could deadlock. */
    struct emu *first = to->number < from->number ? to : from, *second = first == to ? from : to;
    pthread_mutex_lock(&first->lock);
    pthread_mutex_lock(&second->lock);
    void *source = view(from, from_address, bytes);
    if (!source) device_failed(to, EMU_INVALID_VALUE, "%s", from->message);
    void *target = source ? view(to, to_address, bytes) : NULL;
    if (target) memcpy(target, source, bytes);
    if (target) event_host_copy(to, to_address, from, from_address, bytes);
    pthread_mutex_unlock(&second->lock);
    pthread_mutex_unlock(&first->lock);
    return target ? EMU_OK : EMU_INVALID_VALUE;
}

/* ---- for kernels ----------------------------------------------------------------------------- */

int emu_heap_limit(struct emu *emu, size_t bytes)
{
    pthread_mutex_lock(&emu->lock);
    int error = emu->heap.base && bytes ? EMU_INVALID_VALUE : EMU_OK;
    if (error)
        device_failed(emu, error, "the heap of malloc has its size: a kernel has used it");
    else
        emu->heap.wanted = bytes;
    if (!bytes) heap_close(&emu->heap, &emu->memory);
    pthread_mutex_unlock(&emu->lock);
    return error;
}

bool device_range(const struct emu *emu, uint64_t address, struct range *range)
{
    const struct range *own = memory_find(&emu->memory, address);
    if (own) {
        *range = *own;
        return !range->is_heap || heap_find((struct heap *)&emu->heap, address, range);
    }
    for (unsigned i = 0; i < emu->peer_count; i++)
        if (emu->peers[i].may_access && emu_is_device(emu->peers[i].emu, address))
            return memory_look(&emu->peers[i].emu->memory, address, range) && !range->is_heap;
    return false;
}

bool device_shares_memory(const struct emu *emu)
{
    bool shares = emu->memory.area_count > 0;
    for (unsigned i = 0; i < emu->peer_count; i++)
        shares = shares || (emu->peers[i].may_access && emu->peers[i].emu->memory.area_count > 0);
    return shares;
}

bool device_is_odd_address(uint64_t address, char *text, size_t size)
{
    enum { NULL_REACH = 1 << 12 }; /* offsets below it are taken for members of a null pointer */
    uint64_t window = address & ~(WINDOW_BYTES - 1);
    if (!address)
        snprintf(text, size, "a null pointer");
    else if (address < NULL_REACH)
        snprintf(text, size, "%" PRIu64 " bytes from a null pointer", address);
    else if (window == SHARED_WINDOW || window == LOCAL_WINDOW)
        snprintf(text, size, "it is an address of %s memory",
                 window == SHARED_WINDOW ? "shared" : "a thread's local");
    else
        return false;
    return true;
}

/* An address near mapped memory of the host is one beyond its end rather than a wrong pointer. */
static bool is_near_mapped(const struct emu *emu, uint64_t address)
{
    enum { NEAR = 4096 };
    const struct range *nearest = memory_nearest(&emu->memory, address);
    return nearest && !nearest->delta && address + NEAR > nearest->base &&
           address < nearest->base + nearest->bytes + NEAR;
}

/* Does the program have memory at an address of the host? It does not know the store's. */
static bool is_of_program(const struct emu *emu, uint64_t address)
{
    const struct address_space *own = &emu->memory.space;
    bool in_store = address - (uint64_t)(uintptr_t)own->store < own->bytes;
    for (unsigned i = 0; i < emu->peer_count; i++) {
        const struct address_space *other = &emu->peers[i].emu->memory.space;
        in_store = in_store || address - (uint64_t)(uintptr_t)other->store < other->bytes;
    }
    return !in_store && address_space_host_has(address);
}

bool device_is_of_peer(const struct emu *emu, uint64_t address)
{
    for (unsigned i = 0; i < emu->peer_count; i++)
        if (emu_is_device(emu->peers[i].emu, address)) return true;
    return false;
}

/* How far an index of 32 bits leads that has overflowed, for elements of up to 16 bytes. */
#define INDEX_REACH (UINT64_C(16) << 32)

const char *device_foreign_address(const struct emu *emu, uint64_t address)
{
    char odd[80];
    const struct range *nearest = memory_nearest(&emu->memory, address);
    if (device_is_odd_address(address, odd, sizeof odd) || emu_is_device(emu, address) ||
        is_near_mapped(emu, address) || device_is_of_peer(emu, address))
        return NULL;
    if (emu->program && emu_is_device(emu->program->gpu, address))
        return "memory of the GPU, which the host cannot access";
    if (is_of_program(emu, address))
        return "not in device memory; is it a pointer to memory of the host?";
    if (nearest && address + INDEX_REACH - nearest->base < 2 * INDEX_REACH) return NULL;
    return "in no memory of the device or the host; has the pointer been set?";
}

/* "…; has an index overflowed?", if 31 bits were too few for it. */
static const char *guess_of_index(const struct range *nearest, uint64_t address)
{
    uint64_t before = nearest->base - address, behind = address - nearest->base;
    return (before < behind ? before : behind) >> 31 ? "; has an index overflowed?" : "";
}

static void describe_in_peer(const struct emu *emu, const struct peer *peer, uint64_t address,
                             char *text, size_t size)
{
    if (!peer->may_access) {
        snprintf(text, size,
                 "memory of device %u, which a kernel on device %u may touch only after "
                 "cudaDeviceEnablePeerAccess",
                 peer->emu->number, emu->number);
        return;
    }
    pthread_mutex_lock(&peer->emu->memory.lock);
    device_describe_address(peer->emu, address, text, size);
    pthread_mutex_unlock(&peer->emu->memory.lock);
}

void device_describe_address(const struct emu *emu, uint64_t address, char *text, size_t size)
{
    const struct range *nearest = memory_nearest(&emu->memory, address);
    if (device_is_odd_address(address, text, size)) return;
    const struct range *own = memory_find(&emu->memory, address);
    if (own && own->is_heap) {
        heap_describe((struct heap *)&emu->heap, address, text, size);
        return;
    }
    for (unsigned i = 0; i < emu->peer_count; i++) {
        if (!emu_is_device(emu->peers[i].emu, address)) continue;
        describe_in_peer(emu, &emu->peers[i], address, text, size);
        return;
    }
    const char *foreign = device_foreign_address(emu, address);
    if (foreign)
        snprintf(text, size, "%s", foreign);
    else if (!nearest)
        snprintf(text, size, "no memory is allocated");
    else if (address < nearest->base)
        snprintf(text, size,
                 "%" PRIu64 " bytes before the allocation of %" PRIu64 " bytes at 0x%" PRIx64 "%s",
                 nearest->base - address, nearest->bytes, nearest->base,
                 guess_of_index(nearest, address));
    else if (address == nearest->base + nearest->bytes)
        snprintf(text, size,
                 "just past the end of the allocation of %" PRIu64 " bytes at 0x%" PRIx64,
                 nearest->bytes, nearest->base);
    else if (address > nearest->base + nearest->bytes)
        snprintf(text, size,
                 "%" PRIu64 " bytes past the end of the allocation of %" PRIu64
                 " bytes at 0x%" PRIx64 "%s",
                 address - nearest->base - nearest->bytes, nearest->bytes, nearest->base,
                 guess_of_index(nearest, address));
    else if (nearest->is_hidden)
        snprintf(text, size, "in the %" PRIu64 " bytes at 0x%" PRIx64 " that a graph has freed",
                 nearest->bytes, nearest->base);
    else
        snprintf(text, size,
                 "%" PRIu64 " bytes before the end of the allocation of %" PRIu64
                 " bytes at 0x%" PRIx64,
                 nearest->base + nearest->bytes - address, nearest->bytes, nearest->base);
}
