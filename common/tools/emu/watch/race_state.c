/* race_state.c — racecheck: its state of a device, a launch and a block, and blocks that exit. */
#include "race.h"
#include "common/tools/emu/machine/async.h"

/* For another block */
static void race_exit_reset(struct race_block *);

/* ---- the state, made and freed --------------------------------------------------------------- */

struct race *race_open(void)
{
    struct race *race = allocated(calloc(1, sizeof *race));
    shadow_open(&race->shadow, &race->rows);
    race->reports = race_reports_open();
    return race;
}

void race_close(struct race *race)
{
    if (!race) return;
    race_ops_leave(race);
    shadow_close(&race->shadow);
    record_rows_free(&race->rows);
    race_reports_close(race->reports);
    free(race->uses);
    free(race->places);
    free(race->conditions);
    free(race->early);
    free(race);
}

void race_forget(struct race *race, uint64_t address, uint64_t bytes)
{
    if (race->ops)
        race_ops_forget(race, address, bytes);
    else
        shadow_forget(&race->shadow, address, bytes);
}

/* Some checks cost time and are needed only for some instructions. Does the kernel have any of
 * these? */
static void look_at_code(struct race *race, const struct emu_kernel *kernel)
{
    bool loads = false, stores = false;
    race->has_inval = race->has_atomics = false;
    for (const struct insn *i = kernel->code; i < kernel->code + kernel->code_count; i++) {
        bool is_strong = (i->order & ORDER_KIND) != ORDER_WEAK;
        if (i->tally == TALLY_LOAD && is_strong) loads = true;
        if (i->tally == TALLY_STORE && is_strong) stores = true;
        if (i->tally == TALLY_ATOMIC) race->has_atomics = true;
        if (i->family == FAMILY_MBARRIER && i->mbarrier.operation == MBARRIER_INVAL)
            race->has_inval = true;
    }
    race->has_flags = loads && stores;
    race->tracks_observed = false;
    for (size_t n = 0; n < kernel->code_count && race->has_flags && !race->tracks_observed; n++) {
        const struct insn *i = &kernel->code[n];
        race->tracks_observed = i->tally == TALLY_LOAD && (i->order & ORDER_KIND) != ORDER_WEAK &&
                                !race_tries_again(race, kernel, n);
    }
}

bool race_tries_again(struct race *race, const struct emu_kernel *kernel, size_t place)
{
    if (place == UNKNOWN_PLACE) return true;
    uint8_t *answer = &race->uses[place].tries_again;
    if (!*answer) *answer = uses_tries_again(kernel, place) ? 2 : 1;
    return *answer == 2;
}

bool race_compares(struct race *race, const struct emu_kernel *kernel, size_t place)
{
    if (place == UNKNOWN_PLACE) return true;
    uint8_t *answer = &race->uses[place].compares;
    if (!*answer) *answer = uses_compares(kernel, place) ? 2 : 1;
    return *answer == 2;
}

/* The answers for the access at `to`; drops answers that are about another load. */
static struct code_uses *uses_from(struct race *race, size_t from, size_t to)
{
    struct code_uses *uses = &race->uses[to];
    if (uses->source != from) uses->is_fed = uses->is_decided = uses->is_repeated = 0;
    uses->source = (uint32_t)from;
    return uses;
}

bool race_feeds(struct race *race, const struct emu_kernel *kernel, size_t from, size_t to)
{
    uint8_t *answer = &uses_from(race, from, to)->is_fed;
    if (!*answer) *answer = uses_feeds(kernel, from, to) ? 2 : 1;
    return *answer == 2;
}

bool race_decides(struct race *race, const struct emu_kernel *kernel, size_t from, size_t to)
{
    uint8_t *answer = &uses_from(race, from, to)->is_decided;
    if (!*answer) *answer = uses_decides(kernel, from, to) ? 2 : 1;
    return *answer == 2;
}

bool race_repeats(struct race *race, const struct emu_kernel *kernel, size_t from, size_t to)
{
    uint8_t *answer = &uses_from(race, from, to)->is_repeated;
    if (!*answer) *answer = uses_repeats(kernel, from, to) ? 2 : 1;
    return *answer == 2;
}

const struct decision *race_decision(struct race *race, const struct emu_kernel *kernel,
                                     size_t place)
{
    static const struct decision none;
    if (place == UNKNOWN_PLACE) return &none;
    struct code_uses *uses = &race->uses[place];
    if (!uses->has_decision) {
        uses->has_decision = true;
        uses->decision = uses_decision(kernel, place);
    }
    return &uses->decision;
}

unsigned race_number_of_place(struct race *race, unsigned place)
{
    if (place == UNKNOWN_PLACE) return 0;
    uint16_t *number = &race->uses[place].number;
    if (!*number && race->place_count < race->layout.last_place) {
        *number = (uint16_t)++race->place_count;
        race->places[*number] = (uint16_t)place;
    }
    return *number;
}

/* Numbers are for the places of this launch's accesses: places have fewer bits than the indices of
 * instructions. */
static void open_places(struct race *race, const struct emu_kernel *kernel, uint64_t blocks)
{
    size_t count = 0;
    for (size_t n = 0; n < kernel->code_count && n < UNKNOWN_PLACE; n++)
        count += kernel->code[n].family >= FAMILY_MEMORY;
    race->layout = record_layout(blocks, count);
    race->place_count = 0;
    free(race->places);
    race->places = allocated(calloc((size_t)race->layout.last_place + 1, sizeof *race->places));
    race->places[0] = UNKNOWN_PLACE;
}

void race_begin(struct launch *launch)
{
    struct race *race = launch->emu->checkers->race;
    uint64_t blocks = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z;
    if (race->ops) race_ops_begin_launch(race);
    race->condition_count = 0;
    shadow_new_launch(&race->shadow);
    record_rows_clear(&race->rows);
    vclock_open(&race->space, blocks);
    free(race->uses);
    race->uses = allocated(calloc(launch->kernel->code_count, sizeof *race->uses));
    race->strict_readers = launch->emu->strict_readers;
    race->fences = race->strict_readers ? FENCES : READ_BLOCK;
    open_places(race, launch->kernel, blocks);
    look_at_code(race, launch->kernel);
    if (race->ops) race_early_begin(race, launch);
}

void race_end(struct launch *launch)
{
    struct race *race = launch->emu->checkers->race;
    sync_clear(&race->space, &race->words);
    race_reports_flush(race->reports, launch);
    if (race->ops) race_ops_end_launch(race, launch);
    if (race->ops) race_ops_end_conditions(race, launch);
}

struct race_block *race_block_new(const struct block *block)
{
    struct race_block *race = allocated(calloc(1, sizeof *race));
    race->device = block->launch->emu->checkers->race;
    race->warp_count = block->warp_count;
    race->planes.granules = (block->shared_bytes + GRANULE - 1) / GRANULE;
    race->warps = allocated(calloc(race->warp_count, sizeof *race->warps));
    return race;
}

void race_block_start(struct block *block)
{
    struct race_block *race = block->racecheck;
    race_clock_reset(race);
    race_exit_reset(race);
    sync_clear(&race->device->space, &race->words);
    shadow_page_clear(&race->planes, &race->shared);
    race->copies.mbarrier_count = 0;
    for (unsigned i = 0; i < race->warp_count && race->device->has_flags; i++)
        memset(race->warps[i].recent, 0, sizeof race->warps[i].recent);
}

void race_block_free(struct race_block *race)
{
    if (!race) return;
    race_clock_reset(race);
    sync_clear(&race->device->space, &race->words);
    race_exit_reset(race);
    shadow_page_clear(&race->planes, &race->shared);
    planes_free(&race->planes);
    free(race->warps);
    free(race->copies.mbarriers);
    free(race);
}

/* ---- blocks that exit ------------------------------------------------------------------------ */

/* A block that exits while other blocks of its cluster use its shared memory.
 *
 * A block may exit if the last use by each thread of the other blocks happens before one of the
 * block's own threads. A strong store, such as an arrival at the block's mbarrier, may also have
 * been observed by a strong load or a wait of the block. To know this, uses are numbered, and a
 * word keeps the number at which it was last read (struct sync_word). Strict readers need no fence
 * here: the exit cannot come before a read that decides when the thread goes on. */

/* A thread's last use of the memory, and its last strong store there. */
struct use {
    record record;
    uint64_t serial; /* counts the uses of remote shared memory */
    uint32_t offset;
    uint16_t place;
};
struct remote_use {
    struct use last, strong;
};

static void race_exit_reset(struct race_block *race)
{
    free(race->remote);
    race->remote = NULL;
}

static size_t count_of(const struct block *block)
{
    return (size_t)block->cluster->size * block->threads;
}

void race_note_remote(const struct lane_access *t, uint64_t offset)
{
    const struct block *block = t->w->block;
    struct race_block *owner = t->owner;
    unsigned thread = t->w->index * WARP + (unsigned)t->lane;
    if (agent_of(t->kind) != BY_THREAD) return;
    if (!owner->remote) owner->remote = allocated(calloc(count_of(block), sizeof *owner->remote));
    bool is_strong = t->writes && (t->kind & KIND_MASK) != KIND_WEAK;
    struct remote_use *remote = &owner->remote[block->rank * block->threads + thread];
    *(is_strong ? &remote->strong : &remote->last) = (struct use){
        lane_record(t, 1), ++owner->device->serial, (uint32_t)offset, (uint16_t)t->place};
}

static bool is_over(const struct block *block, record last)
{
    for (unsigned i = 0; i < block->warp_count; i++)
        for (int lane = 0; lane < WARP; lane++) {
            uint32_t more = block->racecheck->warps[i].has_acquired;
            if ((!lane || more & bit_of(lane)) && lane_is_after(&block->warps[i], lane, last))
                return true;
        }
    return false;
}

static bool was_read(const struct block *block, const struct use *use)
{
    const struct sync_word *word =
        sync_word_at(&block->racecheck->words, use->offset / GRANULE + 1);
    return word && word->last_read >= use->serial;
}

static unsigned exit_place(const struct emu_kernel *kernel)
{
    size_t place = kernel->function->instruction_count;
    return place < UNKNOWN_PLACE ? (unsigned)place : UNKNOWN_PLACE;
}

static void check_use(struct block *block, const struct use *use, bool is_strong)
{
    const struct emu_kernel *kernel = block->launch->kernel;
    if (!record_bytes(use->record) || is_over(block, use->record) ||
        (is_strong && was_read(block, use)))
        return;
    race_report(&block->warps[0], &kernel->code[kernel->function->instruction_count], 0,
                &(struct conflict){.hazard = USE_BEFORE_EXIT,
                                   .before = use->record,
                                   .before_place = use->place,
                                   .space = PTX_SHARED,
                                   .address = use->offset});
}

void event_block_end(struct block *block)
{
    const struct race_block *race = block->racecheck;
    if (!race->remote) return;
    for (unsigned i = 0; i < block->warp_count; i++)
        race_reader_fence(&block->warps[i], ALL_LANES, SCOPE_DEVICE);
    for (size_t k = 0; k < count_of(block); k++) {
        check_use(block, &race->remote[k].last, false);
        check_use(block, &race->remote[k].strong, true);
    }
}

void event_use_after_end(struct warp *w, const struct insn *i, int lane, const struct block *owner,
                         uint64_t offset)
{
    bool is_copy = i->fn == op_copy || i->fn == op_bulk;
    struct record_parts before = {.block = owner->index, .time = AT_ONCE, .bytes = 1};
    race_report(w, i, lane,
                &(struct conflict){.hazard = USE_AFTER_EXIT,
                                   .agent = is_copy ? BY_COPY : BY_THREAD,
                                   .before = record_of(layout_of(w), before),
                                   .before_place = exit_place(w->block->launch->kernel),
                                   .space = PTX_SHARED,
                                   .address = offset});
}
