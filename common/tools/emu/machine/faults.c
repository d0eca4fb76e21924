/* faults.c — the messages of faults, and accesses outside of memory. */
#include "device.h"
#include "events.h"
#include "common/files/visible.h"
#include <inttypes.h>
#include <stdarg.h>

/* Does a GPU let an access to a global address pass? *range: the allocation that holds the address;
 * if none does, one of 0 bytes, with the memory's delta. */
static bool stray_passes(const struct emu *, uint64_t address, struct range *);

/* ---- the message of a fault: what happened, the source line, the kernel, block and thread ---- */

enum { PATH = 450 }; /* what is shown of a path */

void describe_source(const char *file, unsigned line, unsigned ptx_line, char *text, size_t size)
{
    char shown[PATH];
    visible(shown, sizeof shown, file ? file : "");
    if (file)
        snprintf(text, size, "%s:%u (PTX line %u)", shown, line, ptx_line);
    else if (ptx_line)
        snprintf(text, size, "PTX line %u (compile with -lineinfo for the source line)", ptx_line);
    else
        snprintf(text, size, "the end of the kernel");
}

void describe_place(const struct emu_kernel *kernel, const struct insn *insn, char *text,
                    size_t size)
{
    const struct ptx_text *ptx = &kernel->module->text;
    const struct ptx_instruction *source = insn ? insn->source : NULL;
    const char *file = source && source->file < ptx->file_count ? ptx->files[source->file] : NULL;
    describe_source(source && source->source_line ? file : NULL, source ? source->source_line : 0,
                    source ? source->line : 0, text, size);
}

/* Keeps the launch's first fault, and stops the warp. True: this is the first one. */
static bool stop(struct warp *w, const struct insn *i, int lane, int error, const char *what)
{
    struct launch *launch = w->block->launch;
    struct emu_dim block = w->block->id, thread = thread_of(w, lane);
    char place[500], kernel[200];
    describe_place(launch->kernel, i, place, sizeof place);
    kernel_base_name(launch->kernel->info.name, kernel, sizeof kernel);
    pthread_mutex_lock(&launch->lock);
    bool is_first = !launch->error;
    if (is_first) {
        snprintf(launch->message, sizeof launch->message,
                 "%s, at %s in kernel %s, block (%u,%u,%u), thread (%u,%u,%u)", what, place, kernel,
                 block.x, block.y, block.z, thread.x, thread.y, thread.z);
        launch->error = error;
    }
    pthread_mutex_unlock(&launch->lock);
    if (is_first && launch->emu->debugger && !launch->checks) /* or the checkers announce it */
        launch->emu->debugger->finding(
            launch,
            &(struct found){.text = launch->message, .block = block, .thread = thread});
    w->fuel = 0; /* the interpreter stops now */
    w->slice = 0;
    return is_first;
}

static int chosen_lane(const struct warp *w, int lane)
{
    return lane >= 0 ? lane : w->live ? __builtin_ctz(w->live) : 0;
}

#define SENTENCE_SIZE 1000

/* Ends the launch, and announces the fault if it is the first one. */
static void end(struct warp *w, const struct insn *i, int lane, int error, enum fault_kind kind,
                const char *format, va_list arguments)
{
    char what[SENTENCE_SIZE];
    vsnprintf(what, sizeof what, format, arguments);
    lane = chosen_lane(w, lane);
    if (stop(w, i, lane, error, what))
        event_fault(w->block->launch, &(struct fault_event){.warp = w,
                                                            .insn = i,
                                                            .lane = lane,
                                                            .error = error,
                                                            .kind = kind,
                                                            .what = what,
                                                            .picture = ""});
}

void fault(struct warp *w, const struct insn *i, int lane, int error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    end(w, i, lane, error, FAULT_OTHER, format, arguments);
    va_end(arguments);
}

void fault_arguments(struct warp *w, const struct insn *i, int lane, int error, const char *format,
                     ...)
{
    va_list arguments;
    va_start(arguments, format);
    end(w, i, lane, error, FAULT_ARGUMENTS, format, arguments);
    va_end(arguments);
}

bool fault_found(struct warp *w, const struct insn *i, int lane, int error, const char *format, ...)
{
    char what[SENTENCE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return stop(w, i, chosen_lane(w, lane), error, what);
}

/* ---- invalid accesses ------------------------------------------------------------------------ */

/* Behind the description of an access that emu --lenient lets pass. */
#define HINT "; a GPU may let this pass, and so does emu --lenient"

static const char *operation_name(const struct access *access)
{
    static const char *const names[] = {"a load", "a store", "an atomic operation"};
    return names[access->operation];
}

/* Announces an invalid access. Returns its first invalid lane. */
static int announce(struct warp *w, const struct insn *i, const struct bad_access *bad)
{
    event_bad_access(w, i, bad);
    return __builtin_ctz(bad->lanes);
}

static uint32_t misaligned_lanes(const struct access *access)
{
    uint32_t lanes = 0;
    for (int l = 0; l < WARP; l++)
        lanes |= (uint32_t)((access->address[l] & (access->bytes - 1)) != 0) << l;
    return lanes & access->mask;
}

void access_misaligned(struct warp *w, const struct insn *i, const struct access *access)
{
    int first = announce(w, i,
                         &(struct bad_access){.access = access,
                                              .wrong = ACCESS_MISALIGNED,
                                              .lanes = misaligned_lanes(access)});
    fault_found(w, i, first, EMU_MISALIGNED_ADDRESS,
                "%s address 0x%llx is not a multiple of the %u bytes accessed",
                ptx_space_name(access->space), (unsigned long long)access->address[first],
                access->bytes);
}

static bool is_outside_global(const struct emu *emu, const struct access *access, int lane)
{
    uint64_t address = access->address[lane];
    struct range range;
    return !device_range(emu, address, &range) ||
           access->checked > range.bytes - (address - range.base);
}

static uint32_t lanes_outside_global(const struct emu *emu, const struct access *access)
{
    uint32_t lanes = 0;
    for (uint32_t left = access->mask; left; left &= left - 1)
        if (is_outside_global(emu, access, __builtin_ctz(left))) lanes |= left & -left;
    return lanes;
}

void access_outside_global(struct warp *w, const struct insn *i, const struct access *access)
{
    const struct emu *emu = w->block->launch->emu;
    char nearest[200];
    int first = announce(w, i,
                         &(struct bad_access){.access = access,
                                              .wrong = ACCESS_OUTSIDE_GLOBAL,
                                              .lanes = lanes_outside_global(emu, access)});
    struct range range;
    device_describe_address(emu, access->address[first], nearest, sizeof nearest);
    fault_found(w, i, first, EMU_ILLEGAL_ADDRESS,
                "%s of %u bytes at global address 0x%llx is out of bounds (%s%s)",
                operation_name(access), access->bytes, (unsigned long long)access->address[first],
                nearest, stray_passes(emu, access->address[first], &range) ? HINT : "");
}

static uint32_t lanes_outside(const struct access *access, uint64_t size)
{
    uint32_t lanes = 0;
    for (int l = 0; l < WARP; l++)
        lanes |= (uint32_t)(size < access->checked || access->address[l] > size - access->checked)
                 << l;
    return lanes & access->mask;
}

void describe_before(uint64_t address, unsigned bytes, char text[80])
{
    uint32_t before = (uint32_t)-address; /* of a window of 32 bits */
    text[0] = '\0';
    if (address > UINT32_MAX || before > INT32_MAX || !before) return;
    int length = snprintf(text, 80, ", %" PRIu32 " bytes before its beginning", before);
    if (before % bytes == 0)
        snprintf(text + length, 80 - (size_t)length, ": index -%" PRIu32, before / bytes);
}

void access_outside(struct warp *w, const struct insn *i, const struct access *access,
                    uint64_t size)
{
    enum ptx_space space = access->space;
    const char *owner = space == PTX_SHARED  ? "of shared memory a block"
                        : space == PTX_LOCAL ? "of local memory a thread"
                                             : "of parameters of the kernel";
    int first = announce(w, i,
                         &(struct bad_access){.access = access,
                                              .wrong = ACCESS_OUTSIDE,
                                              .lanes = lanes_outside(access, size),
                                              .size = size,
                                              .of_what = owner});
    bool passes =
        space == PTX_SHARED && access->address[first] + access->checked <= stray_shared_bytes(size);
    char before[80];
    describe_before(access->address[first], access->bytes, before);
    fault_found(w, i, first, EMU_ILLEGAL_ADDRESS,
                "%s of %u bytes at %s address 0x%llx is out of bounds (%llu bytes %s%s%s)",
                operation_name(access), access->bytes, ptx_space_name(access->space),
                (unsigned long long)access->address[first], (unsigned long long)size, owner,
                before, passes ? HINT : "");
}

void access_not_allowed(struct warp *w, const struct insn *i, const struct access *access)
{
    int first = announce(
        w, i,
        &(struct bad_access){.access = access, .wrong = ACCESS_NOT_ALLOWED, .lanes = access->mask});
    if (access->space == PTX_LOCAL)
        fault_found(w, i, first, EMU_INVALID_ADDRESS_SPACE, "an atomic operation on local memory");
    else
        fault_found(w, i, first, EMU_ILLEGAL_ADDRESS,
                    "%s at 0x%llx of the kernel's parameters, which can only be read",
                    operation_name(access), (unsigned long long)access->address[first]);
}

/* ---- accesses that a GPU lets pass ----------------------------------------------------------- */

static bool stray_passes(const struct emu *emu, uint64_t address, struct range *range)
{
    if (device_range(emu, address, range)) return true;
    *range = (struct range){0};
    if (memory_passes(&emu->memory, address, &range->delta)) return true;
    for (unsigned i = 0; i < emu->peer_count; i++) {
        const struct peer *peer = &emu->peers[i];
        if (!peer->may_access || !emu_is_device(peer->emu, address)) continue;
        pthread_mutex_lock(&peer->emu->memory.lock);
        bool passes = memory_passes(&peer->emu->memory, address, &range->delta);
        pthread_mutex_unlock(&peer->emu->memory.lock);
        return passes;
    }
    return false;
}

uint64_t stray_shared_bytes(uint64_t size)
{
    enum { UNIT = 128 };
    return (size + UNIT - 1) / UNIT * UNIT;
}

/* The lanes that may go on together, and of them those that are outside, or leave an allocation in
 * the middle of an element. */
struct sorted {
    uint32_t inside, outside, leaving;
};

/* Leaves the lanes that go on now in access->mask. Returns where the addresses lead, which is
 * `host` or nowhere. */
static uint64_t go_on(struct warp *w, const struct insn *i, struct access *access,
                      const struct sorted *lanes, uint64_t host, struct bad_access *bad)
{
    bool is_load = !access_writes(access), reads_there = is_load && host;
    bool drops = !reads_there && !lanes->inside;
    access->mask = drops ? lanes->outside : lanes->inside | (reads_there ? lanes->outside : 0);
    access->outside = access->mask & lanes->outside;
    bad->access = access;
    bad->lanes = access->mask & (lanes->outside | lanes->leaving);
    bad->passes = drops     ? is_load ? "reads 0" : "is not carried out"
                  : is_load ? "reads what is there"
                            : "is carried out";
    if (bad->lanes) event_bad_access(w, i, bad);
    uint64_t first = drops ? 0 : access->address[__builtin_ctz(access->mask)];
    for (int l = 0; l < WARP; l++)
        if (drops || !(access->mask >> l & 1)) access->address[l] = first;
    if (!drops) return host;
    memset(w->block->nowhere, 0, sizeof w->block->nowhere);
    return (uint64_t)(uintptr_t)w->block->nowhere;
}

/* Sorts the lanes that access the same memory as the first: those in `own`, which is the allocation
 * of the first lane that is in any, and those in none. */
static bool sort_global(const struct emu *emu, const struct access *access, struct sorted *lanes,
                        struct range *own)
{
    bool is_known = false;
    for (uint32_t left = access->mask; left; left &= left - 1) {
        uint64_t address = access->address[__builtin_ctz(left)];
        uint32_t lane = left & -left;
        struct range range = *own;
        if (address - own->base >= own->bytes && !stray_passes(emu, address, &range)) {
            if (!is_known) return false;
            continue;
        }
        if (is_known && range.delta != own->delta) continue;
        if (!is_known || (!own->bytes && range.bytes)) *own = range;
        is_known = true;
        if (!range.bytes) {
            lanes->outside |= lane;
        } else if (range.base == own->base) {
            bool leaves = access->checked > range.bytes - (address - range.base);
            /* What lies behind an allocation is the host's, if it is the host's memory. */
            bool is_kept = !leaves || range.delta || !access_writes(access);
            lanes->leaving |= leaves ? lane : 0;
            *(is_kept ? &lanes->inside : &lanes->outside) |= lane;
        }
    }
    return true;
}

bool stray_enter_global(struct warp *w, const struct insn *i, struct access *access)
{
    struct sorted lanes = {0};
    struct range own = {0};
    if (!sort_global(w->block->launch->emu, access, &lanes, &own)) return false;
    uint64_t host = go_on(w, i, access, &lanes, (uint64_t)own.delta,
                          &(struct bad_access){.wrong = ACCESS_OUTSIDE_GLOBAL});
    bool is_elsewhere = host != (uint64_t)own.delta;
    w->near = own;
    w->near.delta = (int64_t)host;
    if (own.is_heap || is_elsewhere) w->near.bytes = 0; /* the heap: as in find_range() */
    return true;
}

bool stray_enter_shared(struct warp *w, const struct insn *i, struct access *access,
                        struct block *owner)
{
    uint64_t size = owner->shared_bytes, passing = stray_shared_bytes(size);
    struct sorted lanes = {0};
    for (uint32_t left = access->mask; left; left &= left - 1) {
        uint64_t address = access->address[__builtin_ctz(left)], end = address + access->checked;
        uint32_t lane = left & -left;
        if (end > passing && !(lanes.inside | lanes.outside)) return false;
        if (end <= passing) *(address < size ? &lanes.inside : &lanes.outside) |= lane;
        if (end <= passing && address < size && end > size) lanes.leaving |= lane;
    }
    access->host =
        go_on(w, i, access, &lanes, (uint64_t)(uintptr_t)owner->shared,
              &(struct bad_access){
                  .wrong = ACCESS_OUTSIDE, .size = size, .of_what = "of shared memory a block"});
    return true;
}
