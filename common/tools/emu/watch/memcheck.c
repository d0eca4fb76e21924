/* memcheck.c — memcheck: allocations, and errors of calls in kernels. */
#include "check.h"
#include "common/tools/emu/machine/events.h"
#include <inttypes.h>

/* ---- allocations ----------------------------------------------------------------------------- */

void alloc_log_close(struct alloc_log *log)
{
    free(log->all);
    address_table_close(&log->newest);
}

static bool is_on(const struct emu *emu) { return emu->checks & EMU_CHECK_MEMORY; }

void alloc_log_add(struct emu *emu, uint64_t base, uint64_t bytes)
{
    struct alloc_log *log = &emu->checkers->allocations;
    if (!is_on(emu)) return;
    log->all = grown(log->all, log->count, sizeof *log->all);
    address_table_set(&log->newest, base, (void *)(uintptr_t)(log->count + 1));
    struct allocation *a = &log->all[log->count++];
    *a = (struct allocation){.base = base, .bytes = bytes};
    check_host_place(emu, &a->made);
}

/* The newest allocation that began at an address. */
static struct allocation *find_base(struct alloc_log *log, uint64_t base)
{
    size_t number = (size_t)(uintptr_t)address_table_find(&log->newest, base);
    return number ? &log->all[number - 1] : NULL;
}

/* The newest allocation that held an address. */
static struct allocation *find(struct alloc_log *log, uint64_t address)
{
    for (size_t i = log->count; i-- > 0;)
        if (address - log->all[i].base < log->all[i].bytes) return &log->all[i];
    return NULL;
}

void alloc_log_free(struct emu *emu, uint64_t base)
{
    struct allocation *a = is_on(emu) ? find_base(&emu->checkers->allocations, base) : NULL;
    if (!a) return;
    a->is_freed = true;
    check_host_place(emu, &a->freed);
}

void emu_log_host(struct emu *emu, const void *memory, size_t bytes)
{
    pthread_mutex_lock(&emu->lock);
    if (bytes)
        alloc_log_add(emu, (uint64_t)(uintptr_t)memory, bytes);
    else
        alloc_log_free(emu, (uint64_t)(uintptr_t)memory);
    pthread_mutex_unlock(&emu->lock);
}

/* ---- describing ------------------------------------------------------------------------------ */

static void describe_freed(const struct emu *emu, const struct allocation *a, uint64_t address,
                           char *text, size_t size)
{
    device_append(text, size,
                  "\n    and is %" PRIu64 " bytes inside of a freed allocation at 0x%" PRIx64
                  " of size %" PRIu64 " bytes",
                  address - a->base, a->base, a->bytes);
    check_append_host_place(emu, &a->freed, "It was freed at", text, size);
    check_append_host_place(emu, &a->made, "It had been allocated at", text, size);
}

/* Counts as compute-sanitizer does: the byte just behind an allocation is 1 byte after it. An array
 * of what is accessed at once would begin where the allocation does. */
static void describe_nearest(struct emu *emu, const struct range *range, uint64_t address,
                             uint64_t bytes, char *text, size_t size)
{
    uint64_t offset = address - range->base;
    if (address < range->base)
        device_append(text, size, "\n    and is %" PRIu64 " bytes before", range->base - address);
    else if (offset >= range->bytes)
        device_append(text, size, "\n    and is %" PRIu64 " bytes after",
                      offset - range->bytes + 1);
    else
        device_append(text, size, "\n    and is inside");
    device_append(text, size, " the nearest allocation at 0x%" PRIx64 " of size %" PRIu64 " bytes",
                  range->base, range->bytes);
    if (bytes && offset % bytes == 0 && range->bytes % bytes == 0)
        device_append(text, size,
                      " (index %" PRId64 " of %" PRIu64 " elements of %" PRIu64 " bytes)",
                      (int64_t)offset / (int64_t)bytes, range->bytes / bytes, bytes);
    if (!range->delta && offset >= range->bytes)
        device_append(text, size, ", unless it is a pointer to other memory of the host");
    const struct allocation *a = find_base(&emu->checkers->allocations, range->base);
    if (a) check_append_host_place(emu, &a->made, "It was allocated at", text, size);
}

void alloc_log_append(struct emu *emu, uint64_t address, uint64_t bytes, char *text, size_t size)
{
    const struct range *own = memory_find(&emu->memory, address);
    if ((own && own->is_heap) || device_is_of_peer(emu, address)) {
        char where[200];
        device_describe_address(emu, address, where, sizeof where);
        device_append(text, size, "\n    and is %s", where);
        return;
    }
    const struct allocation *a = find(&emu->checkers->allocations, address);
    const struct range *range = memory_nearest(&emu->memory, address);
    if (a && a->is_freed)
        describe_freed(emu, a, address, text, size);
    else if (range && address)
        describe_nearest(emu, range, address, bytes, text, size);
    else if (address)
        device_append(text, size, "\n    and no memory is allocated");
}

void emu_describe_bad_free(struct emu *emu, emu_addr address, char *text, size_t size)
{
    pthread_mutex_lock(&emu->lock);
    const struct allocation *a = find(&emu->checkers->allocations, address);
    bool starts = a && a->base == address;
    snprintf(text, size, "    Address 0x%" PRIx64 " %s", address,
             !starts       ? "is not the start of an allocation"
             : a->is_freed ? "was freed before: a double free"
                           : "is of a kind that this function does not free");
    alloc_log_append(emu, address, 0, text, size);
    pthread_mutex_unlock(&emu->lock);
}

/* ---- leaks ----------------------------------------------------------------------------------- */

static void report_leak(struct emu *emu, uint64_t base, uint64_t bytes, const char *where,
                        const char *detail)
{
    char title[100];
    snprintf(title, sizeof title, "Leaked %" PRIu64 " bytes at 0x%" PRIx64 "%s", bytes, base,
             where);
    emu_add_finding(emu, EMU_CHECK_MEMORY, EMU_FINDING_ERROR, "leak", title, detail);
}

size_t emu_report_leaks(struct emu *emu, uint64_t *bytes)
{
    size_t count = 0, granule = 0;
    struct range block;
    *bytes = 0;
    pthread_mutex_lock(&emu->lock);
    for (size_t i = 0; i < emu->checkers->allocations.count; i++) {
        const struct allocation *a = &emu->checkers->allocations.all[i];
        char detail[CHECK_TEXT] = "";
        bool is_of_host =
            !emu_is_device(emu, a->base); // all devices list it, and the first reports
        if (a->is_freed || (is_of_host && emu->number > 0)) continue;
        count++;
        *bytes += a->bytes;
        check_append_host_place(emu, &a->made, "Allocated at", detail, sizeof detail);
        report_leak(emu, a->base, a->bytes, "", *detail ? detail + 1 : NULL);
    }
    while (heap_walk(&emu->heap, &granule, &block)) {
        count++;
        *bytes += block.bytes;
        report_leak(emu, block.base, block.bytes, ", of malloc in a kernel", NULL);
    }
    pthread_mutex_unlock(&emu->lock);
    return count;
}

/* ---- errors of calls in kernels -------------------------------------------------------------- */

/* A call of the CUDA runtime in a kernel returns an error. Kernels seldom look at it. */

/* "a launch", or "cudaMalloc" */
static void describe_call(const struct insn *i, char *text, size_t size)
{
    static const char prefix[] = "__cudaCDP2";
    const char *name = i->call->callee ? i->call->callee->function->name : "a function";
    bool is_prefixed = !strncmp(name, prefix, strlen(prefix));
    if (strstr(name, "LaunchDevice") || strstr(name, "GetParameterBuffer"))
        snprintf(text, size, "a launch in a kernel");
    else
        snprintf(text, size, "a call of %s%s in a kernel", is_prefixed ? "cuda" : "",
                 is_prefixed ? name + strlen(prefix) : name);
}

void event_host_error(struct warp *w, const struct insn *i, int lane, const char *title)
{
    struct launch *launch = w->block->launch;
    if (launch->checks & EMU_CHECK_MEMORY)
        check_report(launch->emu, launch,
                     &(struct check_report){.tool = EMU_CHECK_MEMORY,
                                            .kind = "api-error",
                                            .title = title,
                                            .place = check_place(w, i, lane)});
}

void event_runtime_error(struct warp *w, const struct insn *i, int lane, int error)
{
    struct launch *launch = w->block->launch;
    const struct emu_host_side *side = &launch->emu->host_side;
    char call[200], title[500];
    if (!(launch->checks & EMU_CHECK_MEMORY)) return;
    describe_call(i, call, sizeof call);
    snprintf(title, sizeof title, "Program hit %s (error %d) due to \"%s\" on %s",
             side->error_name ? side->error_name(error) : "an error", error,
             side->error_text ? side->error_text(error) : "unknown", call);
    event_host_error(w, i, lane, title);
}
