/* events.c — events that several observers use: which of them get an event, and in which order. See
 * machine/events.h. */
#include "race.h"
#include "count.h"
#include "trace.h"

static struct race *race_of(const struct emu *emu) { return emu->checkers->race; }
static struct init *init_of(const struct emu *emu) { return emu->checkers->init; }

/* ---- a device -------------------------------------------------------------------------------- */

/* The checkers of emu->checks. */
static void open_checkers(struct emu *emu, size_t limit)
{
    struct checkers *checkers = emu->checkers = allocated(calloc(1, sizeof *checkers));
    check_open(&checkers->findings, limit);
    if (emu->checks & EMU_CHECK_RACE) checkers->race = race_open();
    if (emu->checks & EMU_CHECK_ORDER) checkers->order = order_open();
    if (emu->checks & EMU_CHECK_INIT) checkers->init = init_open();
}

static void close_checkers(struct emu *emu)
{
    order_close(emu->checkers->order);
    race_close(emu->checkers->race);
    init_close(emu->checkers->init);
    check_close(&emu->checkers->findings);
    alloc_log_close(&emu->checkers->allocations);
    address_table_close(&emu->checkers->said);
    free(emu->checkers);
    emu->checkers = NULL;
}

/* With a trace, one host thread runs all blocks, so that the trace has them in their order; and
 * with racecheck or initcheck, which are not safe for several threads. */
void event_device_open(struct emu *emu, const struct emu_config *config)
{
    open_checkers(emu, config->finding_limit);
    records_open(emu);
    if (race_of(emu)) race_ops_join(race_of(emu), config->stream_ops);
    if (config->trace) emu->trace = trace_open(config->trace, config->trace_limit);
    emu->trace_steps = emu->trace && config->trace_steps;
    if (config->pictures) emu->pictures = pictures_open();
    if (emu->trace || race_of(emu) || init_of(emu)) emu->threads = 1;
}

void event_device_close(struct emu *emu)
{
    close_checkers(emu);
    records_close(emu);
    trace_close(emu->trace);
    pictures_close(emu->pictures);
}

void event_alloc(struct emu *emu, uint64_t address, uint64_t bytes)
{
    alloc_log_add(emu, address, bytes);
    event_renew(emu, address, bytes);
}

void event_free(struct emu *emu, uint64_t address, uint64_t bytes)
{
    alloc_log_free(emu, address);
    event_drop(emu, address, bytes);
}

void event_renew(struct emu *emu, uint64_t address, uint64_t bytes)
{
    if (init_of(emu)) init_forget(init_of(emu), address, bytes);
}

void event_drop(struct emu *emu, uint64_t address, uint64_t bytes)
{
    if (race_of(emu)) race_forget(race_of(emu), address, bytes);
    if (init_of(emu)) init_forget(init_of(emu), address, bytes);
}

/* Mapped host memory counts as written: the host's stores to it are not observed. */
static bool is_mapped(const struct emu *emu, uint64_t address)
{
    return !emu_is_device(emu, address);
}

void event_host_write(struct emu *emu, uint64_t address, uint64_t bytes)
{
    if (init_of(emu) && !is_mapped(emu, address)) init_write(init_of(emu), address, bytes);
}

void event_host_read(struct emu *emu, uint64_t address, const struct emu_rows *rows,
                     const char *reader)
{
    if (init_of(emu) && !is_mapped(emu, address)) init_read(emu, address, rows, reader);
}

void event_host_copy(struct emu *to, uint64_t to_address, struct emu *from, uint64_t from_address,
                     uint64_t bytes)
{
    const struct emu_rows row = {.bytes = bytes, .rows = 1, .slices = 1};
    if (is_mapped(to, to_address))
        event_host_read(from, from_address, &row, NULL);
    else if (is_mapped(from, from_address) || !init_of(from))
        event_host_write(to, to_address, bytes);
    else if (init_of(to))
        init_copy(init_of(to), to_address, init_of(from), from_address, bytes);
}

/* ---- a launch -------------------------------------------------------------------------------- */

static unsigned wanted(const struct emu *emu)
{
    bool accesses = emu->trace || emu->pictures || race_of(emu) || init_of(emu);
    return (accesses ? ANNOUNCE_ACCESSES : 0) | (emu->pictures ? ANNOUNCE_TURNS : 0) |
           (race_of(emu) ? ANNOUNCE_ORDER : 0) |
           (emu->checks & EMU_CHECK_SYNC || emu->trace_steps ? ANNOUNCE_ARGUMENTS : 0);
}

void event_launch_begin(struct launch *launch)
{
    struct emu *emu = launch->emu;
    launch->announced = wanted(emu);
    check_host_place(emu, &launch->host_place);
    if (race_of(emu)) race_begin(launch);
    if (emu->pictures) picture_launch(emu->pictures, launch);
    records_begin(launch);
    if (init_of(emu)) init_begin(launch);
    if (emu->debugger) emu->debugger->launch_begin(launch);
    if (emu->checkers->order) order_begin(launch);
}

void event_launch_end(struct launch *launch, double seconds)
{
    if (launch->emu->debugger) launch->emu->debugger->launch_end(launch);
    if (race_of(launch->emu)) race_end(launch);
    if (launch->emu->checkers->order) order_end(launch);
    if (launch->emu->pictures) picture_launch_end(launch->emu->pictures);
    records_end(launch, seconds);
}

void event_block_new(struct block *block)
{
    const struct emu *emu = block->launch->emu;
    if (race_of(emu)) block->racecheck = race_block_new(block);
    if (init_of(emu)) block->initcheck = init_block_new(block);
}

void event_block_free(struct block *block)
{
    race_block_free(block->racecheck);
    init_block_free(block->initcheck);
    sync_forget(block);
}

void event_block_begin(struct block *block)
{
    if (block->racecheck) race_block_start(block);
    if (block->initcheck) init_block_start(block);
}

void event_turn(struct warp *w) { picture_turn(w->block->launch->emu->pictures, w); }

void event_turn_lanes(struct warp *w) { picture_lanes(w->block->launch->emu->pictures, w); }

void event_turn_end(struct warp *w) { picture_turn_end(w->block->launch->emu->pictures, w); }

void event_step(struct warp *w, const struct fragment *f)
{
    w->block->launch->emu->debugger->step(w, f);
}

/* ---- accesses -------------------------------------------------------------------------------- */

static void check_access(struct warp *w, const struct insn *i, const struct access *access)
{
    if (access->owner->initcheck) init_access(w, i, access);
    if (access->owner->racecheck) race_access(w, i, access);
}

/* The same for the lanes that are in an allocation. */
static void check_inside(struct warp *w, const struct insn *i, const struct access *access)
{
    struct access inside = *access;
    inside.mask &= ~access->outside;
    if (!inside.mask) return;
    for (int l = 0; l < WARP; l++)
        if (access->outside >> l & 1)
            inside.address[l] = inside.address[__builtin_ctz(inside.mask)];
    check_access(w, i, &inside);
}

/* The accesses of copies are counted elsewhere (event_copy_issued), and reads of tensor maps are
 * not. Accesses to another block's shared memory are not counted, as by ncu on an H200. Those of
 * textures and surfaces are neither counted nor traced: how the texture unit groups them is not
 * known. */
void event_access(struct warp *w, const struct insn *i, const struct access *access)
{
    const struct block *owner = access->owner;
    struct emu_trace *trace = w->block->launch->emu->trace;
    bool is_own = owner == w->block && i->family != FAMILY_TEXTURE;
    if (w->counts && is_own && access->agent == BY_THREAD && i->family != FAMILY_BULK)
        count_access(counts_of(w, i), w, i, access);
    if (!announces(w->block, ANNOUNCE_ACCESSES)) return;
    struct pictures *pictures = w->block->launch->emu->pictures;
    const struct debugger *debugger = w->block->launch->emu->debugger;
    if (debugger) debugger->access(w, i, access);
    if (trace && is_own) trace_access(trace, w, i, access);
    if (pictures && is_own && access->agent == BY_THREAD) picture_access(pictures, w, i, access);
    if (access->outside)
        check_inside(w, i, access);
    else
        check_access(w, i, access);
}

/* For racecheck it is a part of global memory, since kernels and copies can store there. Where all
 * lanes load one word, two of them are enough: a thread that stores there is not both. */
void event_constant_access(struct warp *w, const struct insn *i, const struct access *access)
{
    struct access global = *access;
    uint64_t differ = 0;
    if (w->counts) event_private_access(w, i, access);
    if (!access->owner->racecheck || access->outside) return;
    for (int l = 1; l < WARP; l++) differ |= access->address[l] ^ access->address[0];
    if (!differ)
        global.mask = (access->mask & -access->mask) |
                      UINT32_C(1) << (WARP - 1 - __builtin_clz(access->mask));
    global.space = PTX_GLOBAL;
    race_access(w, i, &global);
}

/* A run as an access of single lanes. */
static void spread_run(struct access *access, struct warp *w, const struct insn *i,
                       const struct access_run *run)
{
    uint64_t first = run->first + (uint64_t)__builtin_ctz(run->mask) * run->stride;
    access_make(access, run->operation, run->space, run->mask, run->bytes);
    if (run->operation == OPERATION_LOAD) access->checked = i->memory.checked_bytes;
    for (unsigned l = 0; l < WARP; l++)
        access->address[l] = run->mask >> l & 1 ? run->first + (uint64_t)l * run->stride : first;
    access->owner = w->block;
    access->host = run->host;
}

static __attribute__((noinline)) void access_of_run(struct warp *w, const struct insn *i,
                                                    const struct access_run *run)
{
    struct access access;
    spread_run(&access, w, i, run);
    event_access(w, i, &access);
}

void event_access_run(struct warp *w, const struct insn *i, const struct access_run *run)
{
    bool others = announces(w->block, ANNOUNCE_ACCESSES);
    if (others || !count_run(counts_of(w, i), w, i, run)) access_of_run(w, i, run);
}

/* ---- barriers and warp-wide operations ------------------------------------------------------- */

static bool has_synccheck(const struct warp *w)
{
    return w->block->launch->emu->checks & EMU_CHECK_SYNC;
}

void event_barrier_arguments(struct warp *w, const struct fragment *f, const struct insn *i,
                             unsigned number, unsigned threads)
{
    const struct emu *emu = w->block->launch->emu;
    if (emu->trace_steps) trace_step(emu->trace, w, i, f->mask);
    if (has_synccheck(w)) sync_barrier_arguments(w, f, i, number, threads);
}

void event_barrier_exited(struct warp *w, const struct insn *i, unsigned waiting, unsigned exited,
                          bool parted)
{
    if (parted)
        sync_barrier_parted(w, i, waiting, exited);
    else if (has_synccheck(w))
        sync_barrier_exited(w, i, waiting, exited);
}

void event_member_masks(struct warp *w, const struct insn *i, uint32_t lanes)
{
    const struct emu *emu = w->block->launch->emu;
    if (emu->trace_steps) trace_step(emu->trace, w, i, lanes);
    if (has_synccheck(w)) sync_member_masks(w, i, lanes);
}

void event_exchange(struct warp *w, const struct insn *i, const struct exchange *e)
{
    const struct emu *emu = w->block->launch->emu;
    if (emu->trace_steps) trace_exchange(emu->trace, w, i, e);
    if (has_synccheck(w)) sync_exchange(w, e);
}
