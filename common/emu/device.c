#define _POSIX_C_SOURCE 200809L
#include "device.h"
#include "sched.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Sets the message and passes the error on. */
static int failed(struct emu *emu, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int failed(struct emu *emu, int error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(emu->message, sizeof emu->message, format, arguments);
    va_end(arguments);
    return error;
}

/* ---- opening ------------------------------------------------------------------------------- */

static size_t memory_size(const struct emu_gpu *gpu, size_t wanted)
{
    if (wanted) return wanted;
    size_t half = (size_t)sysconf(_SC_PHYS_PAGES) / 2 * (size_t)sysconf(_SC_PAGESIZE);
    return gpu->memory < half ? gpu->memory : half;
}

struct emu *emu_open(const struct emu_config *config, char *message, size_t size)
{
    static const struct emu_config defaults;
    if (!config) config = &defaults;
    struct emu *emu = calloc(1, sizeof *emu);
    if (!emu) {
        snprintf(message, size, "out of memory");
        return NULL;
    }
    emu->gpu = config->gpu ? config->gpu : emu_gpu_at(0);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    emu->threads = config->threads ? config->threads : cores > 0 ? (unsigned)cores : 1;
    emu->counting = config->counters;
    emu->allow_exited = config->allow_exited;
    emu->tracing = config->trace != NULL;
    emu->trace.file = config->trace;
    if (emu->tracing) emu->threads = 1; /* so that lines come in the order of blocks */
    size_t bytes = memory_size(emu->gpu, config->memory);
    if (!memory_open(&emu->memory, bytes)) {
        snprintf(message, size,
                 "the host gives no addresses for %zu bytes of device memory; ask for less", bytes);
        free(emu);
        return NULL;
    }
    pthread_mutex_init(&emu->lock, NULL);
    return emu;
}

static void module_free(struct emu_module *module)
{
    ptx_free(&module->text);
    arena_free(module->arena);
    free(module);
}

void emu_close(struct emu *emu)
{
    if (!emu) return;
    emu_forget(emu);
    for (struct emu_module *module = emu->modules, *next; module; module = next) {
        next = module->next;
        module_free(module);
    }
    memory_close(&emu->memory);
    pthread_mutex_destroy(&emu->lock);
    free(emu->records);
    free(emu);
}

const struct emu_gpu *emu_gpu(const struct emu *emu) { return emu->gpu; }
const char *emu_message(const struct emu *emu) { return emu->message; }

/* ---- memory -------------------------------------------------------------------------------- */

int emu_alloc(struct emu *emu, size_t bytes, emu_addr *address)
{
    pthread_mutex_lock(&emu->lock);
    int error = memory_alloc(&emu->memory, bytes, address);
    if (error)
        failed(emu, error, "cannot allocate %zu bytes of device memory: %zu of %zu are free", bytes,
               emu->memory.capacity - emu->memory.used, emu->memory.capacity);
    pthread_mutex_unlock(&emu->lock);
    return error;
}

int emu_free(struct emu *emu, emu_addr address)
{
    pthread_mutex_lock(&emu->lock);
    int error = memory_free(&emu->memory, address);
    if (error) failed(emu, error, "0x%" PRIx64 " is not the start of an allocation", address);
    pthread_mutex_unlock(&emu->lock);
    return error;
}

int emu_map_host(struct emu *emu, void *host, size_t bytes)
{
    pthread_mutex_lock(&emu->lock);
    int error = memory_map(&emu->memory, host, bytes);
    if (error) failed(emu, error, "cannot map %zu bytes of host memory at %p", bytes, host);
    pthread_mutex_unlock(&emu->lock);
    return error;
}

int emu_unmap_host(struct emu *emu, void *host)
{
    pthread_mutex_lock(&emu->lock);
    int error = memory_unmap(&emu->memory, host);
    if (error) failed(emu, error, "no host memory is mapped at %p", host);
    pthread_mutex_unlock(&emu->lock);
    return error;
}

bool emu_find(struct emu *emu, emu_addr address, emu_addr *base, size_t *bytes)
{
    pthread_mutex_lock(&emu->lock);
    const struct range *range = memory_find(&emu->memory, address);
    if (range) {
        *base = range->base;
        *bytes = range->bytes;
    }
    pthread_mutex_unlock(&emu->lock);
    return range != NULL;
}

bool emu_is_device(const struct emu *emu, emu_addr address)
{
    return address - emu->memory.base < emu->memory.reserved;
}

void emu_memory_info(struct emu *emu, size_t *free_bytes, size_t *total_bytes)
{
    pthread_mutex_lock(&emu->lock);
    *total_bytes = emu->memory.capacity;
    *free_bytes = emu->memory.capacity - emu->memory.used;
    pthread_mutex_unlock(&emu->lock);
}

/* The host's view of a device range; NULL after setting the message. A copy of nothing may name any
 * address. */
static void *view(struct emu *emu, emu_addr address, size_t bytes)
{
    char nearest[200];
    void *bytes_there = memory_view(&emu->memory, address, bytes);
    if (bytes_there) return bytes_there;
    device_describe_address(emu, address, nearest, sizeof nearest);
    failed(emu, EMU_INVALID_VALUE,
           "%zu bytes from device address 0x%" PRIx64 " on are not inside one allocation (%s)",
           bytes, address, nearest);
    return NULL;
}

int emu_write(struct emu *emu, emu_addr to, const void *from, size_t bytes)
{
    if (!bytes) return EMU_OK;
    pthread_mutex_lock(&emu->lock);
    void *there = view(emu, to, bytes);
    if (there) memcpy(there, from, bytes);
    pthread_mutex_unlock(&emu->lock);
    return there ? EMU_OK : EMU_INVALID_VALUE;
}

int emu_read(struct emu *emu, void *to, emu_addr from, size_t bytes)
{
    if (!bytes) return EMU_OK;
    pthread_mutex_lock(&emu->lock);
    void *there = view(emu, from, bytes);
    if (there) memcpy(to, there, bytes);
    pthread_mutex_unlock(&emu->lock);
    return there ? EMU_OK : EMU_INVALID_VALUE;
}

int emu_copy(struct emu *emu, emu_addr to, emu_addr from, size_t bytes)
{
    if (!bytes) return EMU_OK;
    pthread_mutex_lock(&emu->lock);
    void *target = view(emu, to, bytes), *source = target ? view(emu, from, bytes) : NULL;
    if (source) memmove(target, source, bytes);
    pthread_mutex_unlock(&emu->lock);
    return source ? EMU_OK : EMU_INVALID_VALUE;
}

int emu_fill(struct emu *emu, emu_addr address, unsigned char value, size_t bytes)
{
    if (!bytes) return EMU_OK;
    pthread_mutex_lock(&emu->lock);
    void *there = view(emu, address, bytes);
    if (there) memset(there, value, bytes);
    pthread_mutex_unlock(&emu->lock);
    return there ? EMU_OK : EMU_INVALID_VALUE;
}

const struct range *device_range(const struct emu *emu, uint64_t address)
{
    return memory_find(&emu->memory, address);
}

void device_describe_address(const struct emu *emu, uint64_t address, char *text, size_t size)
{
    const struct range *nearest = NULL;
    uint64_t distance = UINT64_MAX;
    for (size_t i = 0; i < emu->memory.range_count; i++) {
        const struct range *range = &emu->memory.ranges[i];
        uint64_t end = range->base + range->bytes;
        uint64_t away = address < range->base ? range->base - address
                        : address >= end      ? address - end
                                              : 0;
        if (away < distance) {
            distance = away;
            nearest = range;
        }
    }
    if (!address)
        snprintf(text, size, "a null pointer");
    else if (!nearest)
        snprintf(text, size, "no memory is allocated");
    else if (address < nearest->base)
        snprintf(text, size,
                 "%" PRIu64 " bytes before the allocation of %" PRIu64 " bytes at 0x%" PRIx64,
                 distance, nearest->bytes, nearest->base);
    else if (address >= nearest->base + nearest->bytes)
        snprintf(text, size,
                 "%" PRIu64 " bytes past the end of the allocation of %" PRIu64
                 " bytes at 0x%" PRIx64,
                 distance, nearest->bytes, nearest->base);
    else
        snprintf(text, size,
                 "%" PRIu64 " bytes before the end of the allocation of %" PRIu64
                 " bytes at 0x%" PRIx64,
                 nearest->base + nearest->bytes - address, nearest->bytes, nearest->base);
}

/* ---- modules ------------------------------------------------------------------------------- */

/* Where a variable's address is wanted in another one's initial value. */
static int resolve_symbol(struct emu *emu, struct emu_module *module, const char *name,
                          emu_addr *address)
{
    for (size_t i = 0; i < module->text.variable_count; i++)
        if (!strcmp(module->text.variables[i].name, name) && module->addresses[i]) {
            *address = module->addresses[i];
            return EMU_OK;
        }
    return failed(emu, EMU_UNSUPPORTED_PTX,
                  "%s: the address of '%s' in an initial value is not supported", module->name,
                  name);
}

static int place_variables(struct emu *emu, struct emu_module *module)
{
    const struct ptx_text *text = &module->text;
    for (size_t i = 0; i < text->variable_count; i++) {
        const struct ptx_variable *v = &text->variables[i];
        if (v->space != PTX_GLOBAL && v->space != PTX_CONST) continue;
        if (v->is_extern)
            return failed(
                emu, EMU_UNSUPPORTED_PTX,
                "%s:%u: variable '%s' is defined in another module; linking is not supported",
                module->name, v->line, v->name);
        int error = memory_alloc(&emu->memory, v->bytes ? v->bytes : 1, &module->addresses[i]);
        if (error)
            return failed(emu, error, "%s: no device memory for the %zu bytes of '%s'",
                          module->name, v->bytes, v->name);
        void *there = memory_view(&emu->memory, module->addresses[i], v->bytes ? v->bytes : 1);
        if (v->initial)
            memcpy(there, v->initial, v->bytes);
        else
            memset(there, 0, v->bytes);
    }
    for (size_t i = 0; i < text->variable_count; i++)
        for (size_t k = 0; k < text->variables[i].address_ofs; k++) {
            const struct ptx_address_of *of = &text->variables[i].address_of[k];
            emu_addr address = 0;
            int error = resolve_symbol(emu, module, of->symbol, &address);
            if (error) return error;
            address += (uint64_t)of->addend;
            void *there =
                memory_view(&emu->memory, module->addresses[i] + of->offset, sizeof address);
            if (there) memcpy(there, &address, sizeof address);
        }
    return EMU_OK;
}

static void free_variables(struct emu *emu, struct emu_module *module)
{
    for (size_t i = 0; i < module->text.variable_count; i++)
        if (module->addresses[i]) memory_free(&emu->memory, module->addresses[i]);
}

int emu_load(struct emu *emu, const char *ptx, size_t length, const char *name,
             struct emu_module **out)
{
    struct emu_module *module = calloc(1, sizeof *module);
    if (!module) return failed(emu, EMU_OUT_OF_MEMORY, "out of memory");
    pthread_mutex_lock(&emu->lock);
    int error = ptx_parse(ptx, length, name, &module->text, emu->message, sizeof emu->message);
    if (!error) {
        module->arena = arena_new();
        module->name = module->arena ? arena_text(module->arena, name ? name : "PTX",
                                                  strlen(name ? name : "PTX"))
                                     : NULL;
        module->addresses =
            module->name
                ? arena_take(module->arena, (module->text.variable_count + 1) * sizeof(emu_addr))
                : NULL;
        if (!module->addresses) {
            error = failed(emu, EMU_OUT_OF_MEMORY, "out of memory");
        } else {
            error = place_variables(emu, module);
            if (error) free_variables(emu, module);
        }
    }
    if (error) {
        module_free(module);
    } else {
        module->next = emu->modules;
        emu->modules = module;
        *out = module;
    }
    pthread_mutex_unlock(&emu->lock);
    return error;
}

void emu_unload(struct emu *emu, struct emu_module *module)
{
    pthread_mutex_lock(&emu->lock);
    struct emu_module **link = &emu->modules;
    while (*link && *link != module) link = &(*link)->next;
    if (*link) {
        *link = module->next;
        free_variables(emu, module);
        module_free(module);
    }
    pthread_mutex_unlock(&emu->lock);
}

static int find_kernel(struct emu *emu, struct emu_module *module, const char *name,
                       struct emu_kernel **kernel)
{
    for (struct emu_kernel *k = module->kernels; k; k = k->next)
        if (!strcmp(k->info.name, name)) {
            *kernel = k;
            return EMU_OK;
        }
    for (size_t i = 0; i < module->text.function_count; i++) {
        const struct ptx_function *function = &module->text.functions[i];
        if (!function->is_entry || !function->has_body || strcmp(function->name, name)) continue;
        int error =
            decode_kernel(emu->gpu, module, function, kernel, emu->message, sizeof emu->message);
        if (error) return error;
        (*kernel)->next = module->kernels;
        module->kernels = *kernel;
        return EMU_OK;
    }
    return failed(emu, EMU_INVALID_DEVICE_FUNCTION, "%s has no kernel '%s'", module->name, name);
}

int emu_kernel(struct emu *emu, struct emu_module *module, const char *name,
               struct emu_kernel **kernel)
{
    pthread_mutex_lock(&emu->lock);
    int error = find_kernel(emu, module, name, kernel);
    pthread_mutex_unlock(&emu->lock);
    return error;
}

int emu_symbol(struct emu *emu, struct emu_module *module, const char *name, emu_addr *address,
               size_t *bytes)
{
    for (size_t i = 0; i < module->text.variable_count; i++)
        if (module->addresses[i] && !strcmp(module->text.variables[i].name, name)) {
            *address = module->addresses[i];
            *bytes = module->text.variables[i].bytes;
            return EMU_OK;
        }
    return failed(emu, EMU_SYMBOL_NOT_FOUND, "%s has no variable '%s'", module->name, name);
}

const struct emu_kernel_info *emu_kernel_info(const struct emu_kernel *kernel)
{
    return &kernel->info;
}

/* ---- launches ------------------------------------------------------------------------------ */

static int check_launch(struct emu *emu, const struct emu_kernel *kernel, struct emu_dim grid,
                        struct emu_dim block, size_t shared, bool cooperative)
{
    enum { MAX_BLOCK_Z = 64, MAX_GRID_YZ = 65535 };
    const struct emu_gpu *gpu = emu->gpu;
    const char *name = kernel->info.name;
    uint64_t threads = (uint64_t)block.x * block.y * block.z;
    if (!threads || !grid.x || !grid.y || !grid.z)
        return failed(emu, EMU_INVALID_CONFIGURATION,
                      "kernel %s: the grid (%u,%u,%u) of blocks (%u,%u,%u) is empty", name, grid.x,
                      grid.y, grid.z, block.x, block.y, block.z);
    if (grid.x > INT32_MAX || grid.y > MAX_GRID_YZ || grid.z > MAX_GRID_YZ)
        return failed(emu, EMU_INVALID_CONFIGURATION,
                      "kernel %s: the grid (%u,%u,%u) is beyond (%d,%d,%d)", name, grid.x, grid.y,
                      grid.z, INT32_MAX, MAX_GRID_YZ, MAX_GRID_YZ);
    if (block.x > (unsigned)gpu->threads_per_block || block.y > (unsigned)gpu->threads_per_block ||
        block.z > MAX_BLOCK_Z || threads > (unsigned)gpu->threads_per_block)
        return failed(emu, EMU_INVALID_CONFIGURATION,
                      "kernel %s: a block of (%u,%u,%u) threads; at most %d fit", name, block.x,
                      block.y, block.z, gpu->threads_per_block);
    if (threads > kernel->info.max_threads)
        return failed(emu, EMU_LAUNCH_OUT_OF_RESOURCES,
                      "kernel %s: a block of %llu threads; it was compiled for at most %u", name,
                      (unsigned long long)threads, kernel->info.max_threads);
    const unsigned *exact = kernel->function->exact_block;
    if (exact[0] && (block.x != exact[0] || block.y != exact[1] || block.z != exact[2]))
        return failed(emu, EMU_INVALID_VALUE,
                      "kernel %s: a block of (%u,%u,%u) threads; it was compiled for (%u,%u,%u)",
                      name, block.x, block.y, block.z, exact[0], exact[1], exact[2]);
    if (shared > gpu->shared_per_block_optin)
        return failed(emu, EMU_INVALID_VALUE,
                      "kernel %s: %zu bytes of shared memory a block; at most %zu fit", name,
                      shared, gpu->shared_per_block_optin);
    uint64_t resident =
        (uint64_t)blocks_per_sm(gpu, (unsigned)threads, shared) * (unsigned)gpu->sms;
    if (cooperative && (uint64_t)grid.x * grid.y * grid.z > resident)
        return failed(emu, EMU_COOPERATIVE_TOO_LARGE,
                      "kernel %s: a cooperative grid of %llu blocks; at most %llu are resident",
                      name, (unsigned long long)grid.x * grid.y * grid.z,
                      (unsigned long long)resident);
    return EMU_OK;
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void keep_record(struct emu *emu, const struct launch *launch, double seconds)
{
    if (emu->record_count == emu->record_room) {
        size_t room = emu->record_room ? 2 * emu->record_room : 16;
        struct emu_launch_record **grown = realloc(emu->records, room * sizeof *grown);
        if (!grown) return;
        emu->records = grown;
        emu->record_room = room;
    }
    struct emu_launch_record *record = record_make(launch, seconds);
    if (record) emu->records[emu->record_count++] = record;
}

static int run(struct emu *emu, struct emu_kernel *kernel, struct emu_dim grid,
               struct emu_dim block, size_t dynamic_shared, void *const *args, bool cooperative)
{
    size_t shared =
        dynamic_shared ? kernel->dynamic_shared_offset + dynamic_shared : kernel->info.shared_bytes;
    int error = check_launch(emu, kernel, grid, block, shared, cooperative);
    if (error) return error;
    struct launch *launch = calloc(1, sizeof *launch);
    uint8_t *params =
        calloc(1, kernel->param_bytes + 8); /* 8: an element may be loaded beyond a short end */
    struct insn_counts *total = emu->counting ? calloc(kernel->code_count, sizeof *total) : NULL;
    if (!launch || !params || (emu->counting && !total)) {
        free(launch), free(params), free(total);
        return failed(emu, EMU_OUT_OF_MEMORY, "out of host memory");
    }
    for (unsigned i = 0; i < kernel->info.params; i++)
        memcpy(params + kernel->info.param_offset[i], args[i], kernel->info.param_size[i]);
    unsigned threads = block.x * block.y * block.z,
             per_sm = blocks_per_sm(emu->gpu, threads, shared);
    *launch = (struct launch){.emu = emu,
                              .kernel = kernel,
                              .id = emu->launches++,
                              .grid = grid,
                              .block = block,
                              .block_count = (uint64_t)grid.x * grid.y * grid.z,
                              .dynamic_shared = dynamic_shared,
                              .shared_bytes = shared,
                              .params = params,
                              .counting = emu->counting,
                              .allow_exited = emu->allow_exited,
                              .trace = emu->tracing ? &emu->trace : NULL,
                              .total = total,
                              .resident_limit =
                                  (uint64_t)(per_sm ? per_sm : 1) * (unsigned)emu->gpu->sms};
    pthread_mutex_init(&launch->lock, NULL);

    double start = seconds_now();
    launch_run(launch);
    double seconds = seconds_now() - start;

    error = launch->error;
    if (error)
        failed(emu, error, "%s", launch->message);
    else if (emu->counting)
        keep_record(emu, launch, seconds);
    pthread_mutex_destroy(&launch->lock);
    free(total);
    free(params);
    free(launch);
    return error;
}

int emu_launch(struct emu *emu, struct emu_kernel *kernel, struct emu_dim grid,
               struct emu_dim block, size_t dynamic_shared, void *const *args, bool cooperative)
{
    pthread_mutex_lock(&emu->lock);
    int error = run(emu, kernel, grid, block, dynamic_shared, args, cooperative);
    pthread_mutex_unlock(&emu->lock);
    return error;
}

/* ---- records ------------------------------------------------------------------------------- */

bool emu_count(struct emu *emu, bool on)
{
    pthread_mutex_lock(&emu->lock);
    bool was = emu->counting;
    emu->counting = on;
    pthread_mutex_unlock(&emu->lock);
    return was;
}

size_t emu_records(const struct emu *emu) { return emu->record_count; }

const struct emu_launch_record *emu_record(const struct emu *emu, size_t index)
{
    return index < emu->record_count ? emu->records[index] : NULL;
}

void emu_forget(struct emu *emu)
{
    for (size_t i = 0; i < emu->record_count; i++) record_free(emu->records[i]);
    emu->record_count = 0;
}
