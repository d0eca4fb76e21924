/* race_flags.c — racecheck: flags, locks and counters, by which threads order themselves. */
#include "race.h"

/* ---- words that carry clocks ----------------------------------------------------------------- */

/* Words of memory that carry clocks from a release to an acquire.
 *
 * A strong store releases the clock of its thread's last fence, and nothing newer. So a store of
 * data and then a store of a flag, without a __threadfence() in between, are not ordered for a
 * thread that reads the flag. A store replaces the word's clock; an atomic joins into it. Acquires
 * are more generous than PTX: every strong load and every atomic acquires the word's clock, with or
 * without a fence behind it. Much code that works on every GPU spins on a volatile flag and reads
 * on (for example CUDA's sample threadFenceReduction).
 *
 * With strict readers (emu --strict-readers) they are as in PTX: an acquire takes the word's clock
 * at once, and any other strong read only keeps it, as READ_BLOCK or READ_DEVICE, until a fence of
 * that scope. Barriers pass on what is kept, since a fence.sc in another thread that is ordered
 * after the read orders as well. (A fence.acq_rel there does not, and is taken for one.)
 *
 * A word also keeps its values and clocks from before its last stores (below). In a kernel with
 * tracks_observed, a strong store also releases, as OBSERVED, all that its thread has done,
 * acquired or observed. This orders nothing. race.c uses it to find out which order the code
 * relies on. */

enum { FIRST_SIZE = 64 };

static struct sync_word *place_of(const struct sync_table *table, uint64_t key)
{
    size_t at = (key * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (table->size - 1);
    while (table->words[at].key && table->words[at].key != key) at = (at + 1) & (table->size - 1);
    return &table->words[at];
}

static void grow(struct sync_table *table)
{
    struct sync_table old = *table;
    table->size = old.size ? 2 * old.size : FIRST_SIZE;
    table->words = allocated(calloc(table->size, sizeof *table->words));
    for (size_t i = 0; i < old.size; i++)
        if (old.words[i].key) *place_of(table, old.words[i].key) = old.words[i];
    free(old.words);
}

/* Drops a store and all earlier ones. */
static void forget_earlier(struct vclock_space *space, struct word_before **from)
{
    while (*from) {
        struct word_before *before = *from;
        *from = before->next;
        for (int s = 0; s < FENCES; s++) vclock_drop(space, &before->clock[s]);
        free(before);
    }
}

void sync_clear(struct vclock_space *space, struct sync_table *table)
{
    for (size_t i = 0; i < table->size; i++) {
        for (int s = 0; s < FENCES; s++) vclock_drop(space, &table->words[i].clock[s]);
        forget_earlier(space, &table->words[i].before);
    }
    free(table->words);
    *table = (struct sync_table){0};
}

struct sync_word *sync_word_at(const struct sync_table *table, uint64_t key)
{
    struct sync_word *word = table->count ? place_of(table, key) : NULL;
    return word && word->key ? word : NULL;
}

static void acquire(struct warp *w, int lane, enum fence scope, struct reading reading,
                    struct vclock *k)
{
    if (reading.needs_fence)
        lane_acquire_fenced(w, lane, READ_BLOCK + scope, k);
    else
        lane_acquire(w, lane, k);
}

void sync_acquire(struct warp *w, int lane, struct sync_table *table, uint64_t key,
                  struct reading reading)
{
    struct sync_word *word = sync_word_at(table, key);
    if (!word) return;
    if (table == &w->block->racecheck->words) word->last_read = w->block->racecheck->device->serial;
    struct vclock *const *clock = word->clock;
    for (struct word_before *b = word->before; b && reading.earlier--; b = b->next)
        clock = b->clock;
    acquire(w, lane, SCOPE_DEVICE, reading, clock[SCOPE_DEVICE]);
    if (word->block == w->block->index) acquire(w, lane, SCOPE_BLOCK, reading, clock[SCOPE_BLOCK]);
    for (int s = FOR_COPIES; s < w->block->racecheck->device->fences; s++)
        if (s != OBSERVED || reading.acts_on_it)
            lane_acquire_fenced(w, lane, (enum fence)s, clock[s]);
}

/* A clock for one block only is dropped when another block takes over the word. */
struct sync_word *sync_word_for(const struct block *block, struct sync_table *table, uint64_t key)
{
    struct vclock_space *space = space_of(block);
    if (2 * table->count >= table->size) grow(table);
    struct sync_word *word = place_of(table, key);
    if (!word->key) {
        word->key = key;
        word->block = block->index;
        table->count++;
    }
    if (word->block != block->index) {
        vclock_drop(space, &word->clock[SCOPE_BLOCK]);
        for (struct word_before *b = word->before; b; b = b->next)
            vclock_drop(space, &b->clock[SCOPE_BLOCK]);
    }
    word->block = block->index;
    return word;
}

void sync_keep_earlier(struct vclock_space *space, struct sync_word *word, uint32_t value,
                       record store)
{
    struct word_before *new = allocated(malloc(sizeof *new)), **end = &word->before;
    *new = (struct word_before){.next = word->before, .value = value, .store = store};
    for (int s = 0; s < FENCES; s++) new->clock[s] = vclock_hold(word->clock[s]);
    word->before = new;
    for (int k = 0; k < MOST_BEFORE && *end; k++) end = &(*end)->next;
    forget_earlier(space, end);
}

void sync_forget_earlier(struct vclock_space *space, struct sync_word *word)
{
    forget_earlier(space, &word->before);
}

void sync_release(struct warp *w, int lane, struct sync_table *table, uint64_t key,
                  struct stored stored)
{
    struct race_block *race = w->block->racecheck;
    struct vclock_space *space = &race->device->space;
    bool is_remote = table != &race->words && table != &race->device->words;
    bool has_something = lane_has_fenced(w, lane) || race->device->tracks_observed || is_remote;
    if (!has_something && !((stored.replaces || stored.changes) && sync_word_at(table, key)))
        return;
    struct sync_word *word = sync_word_for(w->block, table, key);
    struct record_parts store = {.block = w->block->index,
                                 .thread = w->index * WARP + (unsigned)lane,
                                 .time = race->now,
                                 .bytes = 1};
    if (stored.changes)
        sync_keep_earlier(space, word, stored.before, record_of(layout_of(w), store));
    for (int s = 0; s < READ_BLOCK; s++) {
        struct vclock *fenced = lane_fence_clock(w, lane, (enum fence)s);
        if (stored.replaces) vclock_drop(space, &word->clock[s]);
        vclock_join(space, &word->clock[s], fenced);
        vclock_drop(space, &fenced);
    }
}

/* ---- barriers of a cluster, whose word has no address ---------------------------------------- */

void event_cluster_arrive(struct warp *w, const struct insn *i, uint32_t lanes, uint64_t key,
                          bool releases)
{
    if (race_skips(w->block->launch, i)) return;
    struct vclock_space *space = space_of(w->block);
    struct sync_word *word = sync_word_for(w->block, &w->block->racecheck->device->words, key);
    for (; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        struct vclock *clock =
            releases ? lane_clock(w, lane) : lane_fence_clock(w, lane, SCOPE_DEVICE);
        vclock_join(space, &word->clock[SCOPE_DEVICE], clock);
        vclock_drop(space, &clock);
        for (int s = FOR_COPIES; s < w->block->racecheck->device->fences; s++) {
            if (s == OBSERVED) continue;
            clock = lane_fence_clock(w, lane, (enum fence)s);
            vclock_join(space, &word->clock[s], clock);
            vclock_drop(space, &clock);
        }
    }
    clock_tick(w->block->racecheck);
}

void event_cluster_wait(struct warp *w, const struct insn *i, uint32_t lanes, uint64_t key)
{
    if (race_skips(w->block->launch, i)) return;
    for (; lanes; lanes &= lanes - 1)
        sync_acquire(w, __builtin_ctz(lanes), &w->block->racecheck->device->words, key,
                     (struct reading){0});
}

/* ---- earlier values of a flag ---------------------------------------------------------------- */

/* Would an earlier value of a flag have taken the same branch?
 *
 * A thread that waits until a flag is at least 3 may find 7, if the storing thread has run ahead.
 * The program must be right even if the thread had found 3. So if a value only decides a branch,
 * and an earlier value would have decided the same, the thread acquires only the clocks that were
 * released with the earliest such value. This finds a slot that is used again too early, in
 * whatever order the threads run. The branch is evaluated for trial on the lane's registers, which
 * are restored afterwards.
 *
 * Only the last few stores are kept. A thread that is after a store cannot have read a value from
 * before it. */

/* ---- trying a branch ------------------------------------------------------------------------- */

enum { PARTS = 32, SAVED = 2 * PARTS + 1 };

/* A lane's part of a register: its number of bytes; 0 for a bit of a predicate. */
struct saved {
    slot slot;
    unsigned bytes;
    uint64_t value;
};

static void put(const struct warp *w, struct saved s, int lane)
{
    if (s.bytes) {
        memcpy((uint8_t *)slot_at(w, s.slot) + (size_t)lane * s.bytes, &s.value, s.bytes);
        return;
    }
    uint32_t *bits = slot_at(w, s.slot);
    *bits = (*bits & ~bit_of(lane)) | (uint32_t)s.value << lane;
}

static struct saved take(const struct warp *w, slot slot, unsigned bytes, int lane)
{
    struct saved s = {slot, bytes, 0};
    if (bytes)
        memcpy(&s.value, (const uint8_t *)slot_at(w, slot) + (size_t)lane * bytes, bytes);
    else
        s.value = *(const uint32_t *)slot_at(w, slot) >> lane & 1;
    return s;
}

static unsigned register_bytes(const struct decision *d, const struct ptx_operand *operand)
{
    enum ptx_type type = d->function->registers[operand->index].type;
    size_t bytes = ptx_type_size(type);
    return type == PTX_PRED ? 0 : bytes >= sizeof(uint64_t) ? sizeof(uint64_t) : sizeof(uint32_t);
}

/* Saves the registers that an instruction of the trial overwrites. Returns how many. */
static unsigned save(const struct lane_access *t, const struct decision *d, const struct insn *i,
                     struct saved *all)
{
    const struct ptx_operand *result = &i->source->operands[0];
    unsigned count = 0;
    slot predicate = insn_second_result(i);
    all[count++] = take(t->w, insn_result(i), register_bytes(d, result), t->lane);
    if (predicate != NO_SLOT) all[count++] = take(t->w, predicate, 0, t->lane);
    return count;
}

static bool lets_through(const struct warp *w, const struct insn *i, int lane)
{
    return ((*(const uint32_t *)slot_at(w, i->guard) ^ i->guard_flip) >> lane & 1) != 0;
}

/* Would the lane take the branch if it had read `value`? */
static bool is_taken(const struct lane_access *t, const struct decision *d, uint64_t value)
{
    struct saved all[SAVED];
    const struct insn *code = t->w->block->launch->kernel->code;
    unsigned count = 0;
    all[count++] = take(t->w, insn_result(t->insn), t->insn->lane_bytes, t->lane);
    put(t->w, (struct saved){insn_result(t->insn), t->insn->lane_bytes, value}, t->lane);
    for (uint32_t parts = d->parts; parts; parts &= parts - 1) {
        const struct insn *i = t->insn + 1 + __builtin_ctz(parts);
        if (!lets_through(t->w, i, t->lane)) continue;
        count += save(t, d, i, &all[count]);
        i->fn(t->w, i, bit_of(t->lane));
    }
    bool taken = lets_through(t->w, &code[d->branch], t->lane);
    while (count) put(t->w, all[--count], t->lane);
    return taken;
}

/* ---- which value ----------------------------------------------------------------------------- */

/* Is it a load of a word or two, or an atomic that changes nothing? */
static bool only_reads(const struct lane_access *t)
{
    const struct insn *i = t->insn;
    if (t->reads && i->lane_bytes == i->element_bytes && i->elements <= 1 &&
        insn_result(i) != NO_SLOT && i->element_bytes >= GRANULE)
        return !t->writes || !t->changes;
    return false;
}

/* The value `back` stores earlier, put together from the words that hold it. False: it is not kept,
 * or the lane is after a later store. */
static bool value_before(const struct lane_access *t, struct sync_table *table, uint64_t address,
                         unsigned back, uint64_t *value)
{
    bool any = false;
    for (unsigned at = 0; at < t->insn->element_bytes; at += GRANULE) {
        const struct sync_word *word = sync_word_at(table, (address + at) / GRANULE + 1);
        const struct word_before *b = word ? word->before : NULL;
        for (unsigned k = 1; b && k < back; k++) b = b->next;
        if (!b || lane_is_after(t->w, t->lane, b->store)) continue;
        memcpy((uint8_t *)value + at, &b->value, GRANULE);
        any = true;
    }
    return any;
}

unsigned race_stores_back(const struct lane_access *t, struct sync_table *table, uint64_t address,
                          uint64_t host)
{
    uint64_t now = 0, before;
    unsigned back = 0;
    if (!table->count || !only_reads(t)) return 0;
    memcpy(&now, (const void *)(uintptr_t)(host + address), t->insn->element_bytes);
    before = now;
    if (!value_before(t, table, address, 1, &before)) return 0;
    const struct decision *d =
        race_decision(t->w->block->racecheck->device, t->w->block->launch->kernel, t->place);
    if (!d->branch) return 0;
    bool taken = is_taken(t, d, now);
    while (value_before(t, table, address, back + 1, &before) &&
           (before == now || is_taken(t, d, before) == taken))
        back++;
    return back;
}

/* ---- a value that is loaded before its flag -------------------------------------------------- */

/* A value that is loaded before its flag.
 *
 * A thread loads a value and a flag in each turn of a loop, until the flag says that the value is
 * there. Volatile and relaxed loads may be carried out in either order, and nvcc changes their
 * order, too. If the value comes first, the flag may be there and the value be old. It is a hazard
 * if the flag decides whether the value is loaded again, and no fence lies between the two stores.
 * It is no hazard if the thread also waits for the value itself. */

static record last_store(const struct lane_access *t, const struct recent_read *read)
{
    struct shadow_page *page = shadow_page_at(&t->owner->device->shadow, read->address);
    size_t index = read->address / GRANULE & race_index_mask(PTX_GLOBAL);
    record store = page ? shadow_record(page, LAST_WRITE, index) : 0;
    unsigned kind = record_kind(store) & KIND_MASK;
    bool is_flag = kind == KIND_VOLATILE || kind == KIND_STRONG;
    return is_flag && agent_of(record_kind(store)) == BY_THREAD ? store : 0;
}

/* May the flag that is loaded now belong to a value that the lane has read? */
static bool may_be_value(const struct lane_access *t, const struct recent_read *read)
{
    struct race *race = t->owner->device;
    const struct emu_kernel *kernel = t->w->block->launch->kernel;
    return read->is_there && !read->is_atomic && read->space == PTX_GLOBAL &&
           read->place != t->place && !race_tries_again(race, kernel, read->place) &&
           race_repeats(race, kernel, t->place, read->place);
}

unsigned race_values_before(const struct lane_access *t)
{
    const struct recent_read *recent = state_of(t->w)->recent[t->lane];
    unsigned values = 0;
    if (t->writes || t->space != PTX_GLOBAL || t->place == UNKNOWN_PLACE) return 0;
    for (unsigned k = 0; k < RECENT; k++) {
        if (!may_be_value(t, &recent[k])) continue;
        record store = last_store(t, &recent[k]);
        if (store && !lane_is_fenced(t->w, t->lane, OBSERVED, store)) values |= 1u << k;
    }
    return values;
}

void race_check_values(const struct lane_access *t, unsigned values)
{
    const struct recent_read *recent = state_of(t->w)->recent[t->lane];
    const struct insn *code = t->w->block->launch->kernel->code;
    for (; values; values &= values - 1) {
        const struct recent_read *read = &recent[__builtin_ctz(values)];
        record store = last_store(t, read);
        if (!lane_is_fenced(t->w, t->lane, OBSERVED, store) || lane_is_after(t->w, t->lane, store))
            continue;
        race_report(t->w, &code[read->place], t->lane,
                    &(struct conflict){.hazard = UNFENCED_READ,
                                       .before = store,
                                       .before_place = race_place_of(t->owner->device, store),
                                       .space = PTX_GLOBAL,
                                       .address = read->address});
    }
}

/* ---- words that are loaded, changed and stored ----------------------------------------------- */

/* A word that is loaded, changed and stored again, by volatile or relaxed accesses.
 *
 * None of these accesses races with another thread's. But the three steps are not atomic together:
 * a store by another thread between them is lost. It is a hazard if this has happened. It is also a
 * hazard if the thread has observed the other store but is not after it, since the store might as
 * well have come later. It is no hazard if the thread has polled until it observed the other store:
 * then it was this thread's turn (as with a ticket lock). Nor is it one if the loaded value has
 * nothing to do with the stored one (such as a hint that any thread may overwrite). */

static bool is_flag(unsigned kind)
{
    unsigned how = kind & KIND_MASK;
    return (how == KIND_VOLATILE || how == KIND_STRONG) && agent_of(kind) == BY_THREAD;
}

void race_note_read(const struct lane_access *t, const struct granule *g)
{
    struct recent_read *recent = state_of(t->w)->recent[t->lane];
    bool is_atomic = (t->kind & KIND_MASK) == KIND_ATOMIC;
    if ((!is_flag(t->kind) && !is_atomic) || t->place == UNKNOWN_PLACE) return;
    struct recent_read new = {t->address, g->access[LAST_WRITE], t->space, (uint16_t)t->place, true,
                              is_atomic};
    unsigned k = 0;
    while (k < RECENT - 1 && (recent[k].address != new.address || recent[k].place != new.place))
        k++;
    for (; k > 0; k--) recent[k] = recent[k - 1];
    recent[0] = new;
}

/* Did it read what that store had stored? */
static bool has_read(const struct lane_access *t, const struct recent_read *read, record store)
{
    return record_equals(read->write, store, t->layout->place_mask | RECORD_KIND);
}

/* Did that read give the lane its turn? It polled for the store, or it was an atomic. */
static bool has_waited(const struct lane_access *t, const struct recent_read *read, record store)
{
    return has_read(t, read, store) &&
           (read->is_atomic || race_tries_again(t->w->block->racecheck->device,
                                                t->w->block->launch->kernel, read->place));
}

/* Does the stored value depend on that read? If the read has observed the other store, the value
 * itself must depend on it: a thread may wait for its turn by a load that only decides whether it
 * stores. */
static bool counts_on(const struct lane_access *t, const struct recent_read *read, record store)
{
    struct race *race = t->w->block->racecheck->device;
    const struct emu_kernel *kernel = t->w->block->launch->kernel;
    return race_feeds(race, kernel, read->place, t->place) ||
           (!has_read(t, read, store) && race_decides(race, kernel, read->place, t->place));
}

void race_check_update(const struct lane_access *t, const struct granule *g)
{
    const struct recent_read *recent = state_of(t->w)->recent[t->lane];
    bool is_update = false;
    record store = g->access[LAST_WRITE];
    if (!is_flag(t->kind) || !is_flag(granule_kind(g, LAST_WRITE)) || !record_bytes(store) ||
        t->place == UNKNOWN_PLACE || lane_is_after(t->w, t->lane, store))
        return;
    for (int k = 0; k < RECENT; k++) {
        if (!recent[k].is_there || recent[k].address != t->address) continue;
        if (has_waited(t, &recent[k], store)) return;
        is_update = is_update || counts_on(t, &recent[k], store);
    }
    if (!is_update || stores_same(t)) return;
    race_report(
        t->w, t->insn, t->lane,
        &(struct conflict){.hazard = LOST_UPDATE,
                           .before = store,
                           .before_place = race_place_of(t->w->block->racecheck->device, store),
                           .space = t->space,
                           .address = t->address});
}
