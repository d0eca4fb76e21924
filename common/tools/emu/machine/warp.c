/* warp.c — a warp's lanes: how they part and meet, call functions, and wait for each other. */
#include "machine.h"

/* Looks for lanes at different instructions that together complete a mask, and carries out their
 * operation. Returns whether there were any. */
static bool member_mask_run_joint(struct warp *);

static void frame_hold(struct frame *);

/* ---- areas of frames ------------------------------------------------------------------------- */

static uint8_t *byte_at(const struct frame *frame, int lane, size_t offset)
{
    return (uint8_t *)area_row(frame, offset) + (size_t)lane * AREA_WORD + offset % AREA_WORD;
}

void area_read(const struct frame *frame, int lane, size_t offset, void *to, size_t bytes)
{
    for (size_t k = 0; k < bytes; k++) ((uint8_t *)to)[k] = *byte_at(frame, lane, offset + k);
}

void area_write(const struct frame *frame, int lane, size_t offset, const void *from, size_t bytes)
{
    for (size_t k = 0; k < bytes; k++)
        *byte_at(frame, lane, offset + k) = ((const uint8_t *)from)[k];
}

/* Four lanes of a row. */
typedef uint32_t quad __attribute__((vector_size(16), aligned(4), may_alias));
enum { QUAD = 4 };

static void copy_row(void *to, const void *from, uint32_t lanes)
{
    if (lanes == ALL_LANES) {
        memcpy(to, from, AREA_WORD * WARP);
        return;
    }
    const quad *source = from, bits = {1, 2, 4, 8};
    quad *target = to;
    for (int k = 0; k < WARP / QUAD; k++) {
        quad keep = (quad)((bits << QUAD * k & lanes) == 0);
        target[k] = (target[k] & keep) | (source[k] & ~keep);
    }
}

/* Copies the bytes of the lanes from one area to another one. */
static void area_copy(const struct frame *to, size_t to_offset, const struct frame *from,
                      size_t from_offset, size_t bytes, uint32_t lanes)
{
    size_t copied = 0;
    if (to_offset % AREA_WORD == 0 && from_offset % AREA_WORD == 0)
        for (; bytes - copied >= AREA_WORD; copied += AREA_WORD)
            copy_row(area_row(to, to_offset + copied), area_row(from, from_offset + copied), lanes);
    for (uint32_t left = copied < bytes ? lanes : 0; left; left &= left - 1)
        for (size_t k = copied; k < bytes; k++)
            *byte_at(to, __builtin_ctz(left), to_offset + k) =
                *byte_at(from, __builtin_ctz(left), from_offset + k);
}

/* ---- fragments ------------------------------------------------------------------------------- */

struct fragment *fragment_split(struct warp *w, struct fragment *f, uint32_t lanes, uint32_t pc)
{
    struct fragment *other = &w->fragments[w->fragment_count++];
    *other = (struct fragment){
        .frame = f->frame, .pc = pc, .mask = lanes, .state = FRAGMENT_READY, .turn = f->turn};
    frame_hold(f->frame);
    f->mask &= ~lanes;
    return other;
}

/* Fragments at a barrier do not merge: each has arrived separately. */
static bool stays_apart(const struct fragment *f)
{
    return f->state == FRAGMENT_AT_BARRIER || f->state == FRAGMENT_WAITING_FOR_PHASE;
}

static bool can_merge(const struct fragment *a, const struct fragment *b)
{
    return a->pc == b->pc && a->frame == b->frame && !stays_apart(a) && !stays_apart(b);
}

static void merge_all(struct warp *w)
{
    for (unsigned i = 0; i < w->fragment_count; i++)
        for (unsigned k = w->fragment_count; k-- > i + 1;)
            if (can_merge(&w->fragments[i], &w->fragments[k])) {
                w->fragments[i].mask |= w->fragments[k].mask;
                w->fragments[i].state =
                    FRAGMENT_READY; /* a waiting fragment checks its masks again */
                fragment_remove(w, &w->fragments[k]);
            }
}

/* Wakes the fragments in which a member mask is complete: all its live lanes have come. Returns how
 * many fragments still wait. */
static unsigned wake_complete(struct warp *w)
{
    unsigned waiting = 0;
    for (unsigned i = 0; i < w->fragment_count; i++) {
        struct fragment *f = &w->fragments[i];
        if (f->state != FRAGMENT_WAITING_FOR_LANES) continue;
        if (member_mask_complete(w, f, member_mask_active(w, f)))
            f->state = FRAGMENT_READY;
        else
            waiting++;
    }
    return waiting;
}

/* The deeper call runs first; in the same depth, the lower instruction. */
static bool comes_before(const struct fragment *a, const struct fragment *b)
{
    if (a->frame->depth != b->frame->depth) return a->frame->depth > b->frame->depth;
    return a->pc < b->pc;
}

static bool is_better(const struct warp *w, const struct fragment *f, const struct fragment *than,
                      unsigned ready)
{
    if (w->block->launch->random) return !random_below(w->block->launch, ready);
    return w->fair ? f->turn < than->turn : comes_before(f, than);
}

struct fragment *fragment_choose(struct warp *w, uint32_t *limit, bool *others)
{
    struct fragment *chosen = NULL;
    unsigned ready = 0;
    merge_all(w);
    unsigned waiting_for_lanes = wake_complete(w);
    for (unsigned i = 0; i < w->fragment_count; i++) {
        struct fragment *f = &w->fragments[i];
        if (f->state != FRAGMENT_READY) continue;
        ready++;
        if (!chosen || is_better(w, f, chosen, ready)) chosen = f;
    }
    /* Lanes may still come to the same instruction. Only if they cannot, lanes at two instructions
     * may complete a mask together. */
    if ((!chosen || w->fair) && waiting_for_lanes > 1 && member_mask_run_joint(w))
        return fragment_choose(w, limit, others);
    w->fair = false;
    *others = ready > 1;
    *limit = UINT32_MAX;
    for (unsigned i = 0; chosen && i < w->fragment_count; i++) {
        const struct fragment *f = &w->fragments[i];
        if (!stays_apart(f) && f->frame == chosen->frame && f->pc > chosen->pc && f->pc < *limit)
            *limit = f->pc;
    }
    return chosen;
}

/* ---- frames ---------------------------------------------------------------------------------- */

enum { MAX_DEPTH = 1024 };

static void frame_hold(struct frame *frame) { frame->references++; }

void frame_release_call(struct frame *frame)
{
    while (frame->caller && --frame->references == 0) {
        struct frame *caller = frame->caller, **unused = frame->unused;
        frame->caller = *unused;
        *unused = frame;
        frame = caller;
    }
}

void frame_free_unused(struct warp *w)
{
    for (struct frame *frame = w->unused_frames, *next; frame; frame = next) {
        next = frame->caller;
        free(frame->registers);
        free(frame);
    }
    w->unused_frames = NULL;
}

/* A frame with `bytes` zeros at `registers`: one that a call has left, if it is large enough. */
static struct frame *frame_take(struct warp *w, size_t bytes)
{
    struct frame *frame = w->unused_frames;
    if (frame) w->unused_frames = frame->caller;
    if (frame && frame->capacity >= bytes) {
        memset(frame->registers, 0, bytes);
        return frame;
    }
    if (frame)
        free(frame->registers);
    else
        frame = allocated(malloc(sizeof *frame));
    uint8_t *memory = allocated(calloc(1, bytes));
    *frame = (struct frame){.registers = memory, .capacity = bytes, .unused = &w->unused_frames};
    return frame;
}

void *frame_slot(const struct warp *w, const struct fragment *f, slot s)
{
    return s >> 30 == BANK_REGISTERS ? f->frame->registers + s : slot_at(w, s);
}

static void set_lanes(uint8_t *registers, slot s, uint64_t value)
{
    for (int l = 0; s != NO_SLOT && l < WARP; l++)
        ((uint64_t *)(registers + (s & SLOT_OFFSET)))[l] = value;
}

void frame_start(struct warp *w)
{
    set_lanes(w->root.registers, w->block->launch->kernel->stack_top, w->root.local_end);
}

static uint64_t round_up(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

/* alloca: takes bytes from the top of each lane's stack. A call's local memory begins behind the
 * highest top. */
void op_alloca(struct warp *w, const struct insn *i, uint32_t mask)
{
    enum { FRAME_ALIGNMENT = 16 };
    uint64_t *d = slot_at(w, i->d), *top = slot_at(w, i->alloca.top);
    const uint64_t *bytes = slot_at(w, i->alloca.bytes);
    size_t stack = w->block->launch->kernel->stack_bytes;
    for (; mask; mask &= mask - 1) {
        int l = __builtin_ctz(mask);
        uint64_t from = round_up(top[l], (uint64_t)i->alloca.alignment);
        if (from > stack || bytes[l] > stack - from) {
            fault(w, i, l, EMU_ILLEGAL_ADDRESS,
                  "stack overflow: alloca of %llu bytes, where %zu are left",
                  (unsigned long long)bytes[l], from > stack ? 0 : stack - (size_t)from);
            return;
        }
        d[l] = from;
        top[l] = from + bytes[l];
        uint64_t end = round_up(top[l], FRAME_ALIGNMENT);
        if (end > w->frame->local_end) w->frame->local_end = end;
    }
}

/* A new frame for one call. Only the begin of its local memory is set. */
static struct frame *frame_new(struct warp *w, const struct callee *callee, const struct insn *i)
{
    struct frame *caller = w->frame;
    size_t stack = w->block->launch->kernel->stack_bytes;
    const char *problem = caller->depth + 1 >= MAX_DEPTH ? "calls nested too deeply"
                          : caller->local_end + callee->local_bytes > stack ? "stack overflow"
                                                                            : NULL;
    size_t bytes = callee->register_bytes + WARP * callee->area_bytes + 1;
    if (problem) {
        char name[200];
        kernel_base_name(callee->function->name, name, sizeof name);
        fault(w, i, -1, EMU_ILLEGAL_ADDRESS,
              "%s in a call of %s (depth %u, %zu bytes of stack a thread)", problem, name,
              caller->depth + 1, stack);
        return NULL;
    }
    struct frame *frame = frame_take(w, bytes);
    frame->caller = caller;
    frame->callee = callee;
    frame->site = i;
    frame->return_pc = (uint32_t)(i - w->block->launch->kernel->code) + 1;
    frame->depth = caller->depth + 1;
    frame->references = 0;
    frame->area = frame->registers + callee->register_bytes;
    frame->area_bytes = callee->area_bytes;
    frame->local_end = caller->local_end + callee->local_bytes;
    set_lanes(frame->registers, callee->local_base, caller->local_end);
    set_lanes(frame->registers, callee->stack_top, frame->local_end);
    return frame;
}

static size_t lesser(size_t a, size_t b) { return a < b ? a : b; }

/* Passes an argument as a parameter that the function takes the address of. */
static void pass_in_local_memory(const struct warp *w, const struct frame *to, size_t place,
                                 size_t offset, size_t bytes, uint32_t lanes)
{
    size_t local = to->local_end - to->callee->local_bytes + place;
    for (; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        for (size_t k = 0; k < bytes; k++)
            area_read(w->frame, lane, offset + k, local_byte(w, local + k, lane), 1);
    }
}

/* Passes the arguments. A call by pointer may not fit the function: of each argument, the bytes
 * that both sides have are copied. */
static void pass_arguments(const struct warp *w, struct frame *to, const struct insn *i,
                           uint32_t lanes)
{
    const struct frame *from = w->frame;
    const struct callee *callee = to->callee;
    for (unsigned k = 0; k < i->call->arguments && k < callee->params; k++) {
        unsigned offset = i->call->argument_offset[k];
        size_t bytes = lesser(callee->param_size[k], i->call->argument_size[k]);
        if (callee->param_local && callee->param_local[k] != NOT_LOCAL)
            pass_in_local_memory(w, to, callee->param_local[k], offset, bytes, lanes);
        else
            area_copy(to, callee->param_offset[k], from, offset, bytes, lanes);
    }
}

static void call_one(struct warp *w, struct fragment *f, const struct insn *i,
                     const struct callee *callee, uint32_t lanes)
{
    if (callee->builtin) { /* carried out at once */
        callee->builtin(w, i, lanes);
        return;
    }
    struct frame *frame = frame_new(w, callee, i);
    if (!frame) return;
    pass_arguments(w, frame, i, lanes);
    frame_hold(w->frame); /* the new frame's reference to its caller */
    struct fragment *inside = f;
    if (lanes != f->mask) inside = fragment_split(w, f, lanes, callee->entry);
    frame_hold(frame);
    frame_release(inside->frame);
    inside->frame = frame;
    inside->pc = callee->entry;
}

/* The function at an address, if the kernel's code holds it; else NULL. */
static const struct callee *callee_at(const struct emu_kernel *kernel, uint64_t address)
{
    uint64_t index = (address - CODE_WINDOW) / FUNCTION_BYTES;
    if (index >= kernel->function_count || (address - CODE_WINDOW) % FUNCTION_BYTES) return NULL;
    const struct callee *callee = kernel->callees[index];
    return callee && (callee->function->has_body || callee->builtin) ? callee : NULL;
}

void frame_call(struct warp *w, struct fragment *f, const struct insn *i, uint32_t lanes)
{
    const struct emu_kernel *kernel = w->block->launch->kernel;
    uint32_t all = f->mask, here = f->pc;
    if (i->call->callee) {
        call_one(w, f, i, i->call->callee, lanes);
        if (i->call->callee->builtin || lanes != all) f->pc = here + 1;
        return;
    }
    const uint64_t *addresses = slot_at(w, i->call->address);
    while (lanes) { /* by pointer: lanes may call different functions */
        int first = __builtin_ctz(lanes);
        uint32_t same = 0;
        const struct callee *callee = callee_at(kernel, addresses[first]);
        if (!callee) {
            fault(w, i, first, EMU_LAUNCH_FAILURE, "a call of 0x%llx, where no function is",
                  (unsigned long long)addresses[first]);
            return;
        }
        for (int l = first; l < WARP; l++)
            same |= (uint32_t)(lanes >> l & 1 && addresses[l] == addresses[first]) << l;
        lanes &= ~same;
        bool last = same == f->mask;
        call_one(w, f, i, callee, same);
        if (last) {
            if (callee->builtin) f->pc = here + 1;
            return;
        }
    }
    f->pc = here + 1;
}

void frame_return(struct warp *w, struct fragment *f, uint32_t lanes)
{
    struct frame *frame = f->frame, *caller = frame->caller;
    const struct call *call = frame->site->call;
    const struct callee *callee = frame->callee;
    if (call->result_size)
        area_copy(caller, call->result_offset, frame, callee->result_offset, callee->result_size,
                  lanes);
    struct fragment *out = f;
    uint32_t here = f->pc, back = frame->return_pc;
    if (lanes != f->mask) {
        out = fragment_split(w, f, lanes, back);
        f->pc = here + 1;
    }
    frame_hold(caller);
    out->frame = caller;
    out->pc = back;
    frame_release(frame);
}

/* ---- member masks ---------------------------------------------------------------------------- */

/* "… will cause executing thread to wait until all non-exited threads corresponding to membermask
 * have executed shfl.sync with the same qualifiers and same membermask value" (PTX ISA). So lanes
 * at one instruction with different masks form different groups. Lanes of one mask may be at
 * different instructions, for example if both arms of an `if` call a function that reduces over the
 * warp. Their operands are in different registers, and are first copied together. */

static const struct insn *insn_at(const struct warp *w, const struct fragment *f)
{
    return &w->block->launch->kernel->code[f->pc];
}

uint32_t member_mask_active(const struct warp *w, const struct fragment *f)
{
    const struct insn *i = insn_at(w, f);
    return f->mask & (*(const uint32_t *)frame_slot(w, f, i->guard) ^ i->guard_flip);
}

uint32_t member_mask_of(const struct warp *w, const struct fragment *f, int lane)
{
    return ((const uint32_t *)frame_slot(w, f, insn_at(w, f)->warp.members))[lane];
}

/* The lanes of `lanes` with this member mask. */
static uint32_t naming(const uint32_t *members, uint32_t mask, uint32_t lanes)
{
    uint32_t gap = 0, same = 0;
    for (int l = 0; l < WARP; l++) gap |= members[l] ^ mask;
    if (!gap) return lanes; /* nearly always all lanes have it */
    for (int l = 0; l < WARP; l++) same |= (uint32_t)(members[l] == mask) << l;
    return same & lanes;
}

uint32_t member_mask_complete(const struct warp *w, const struct fragment *f, uint32_t active)
{
    const uint32_t *members = frame_slot(w, f, insn_at(w, f)->warp.members);
    /* Lanes that the guard holds back count as arrived: nvcc predicates only uniform code. */
    uint32_t held = f->mask & ~active, complete = 0;
    while (active) {
        uint32_t mask = members[__builtin_ctz(active)], group = naming(members, mask, active);
        if (!(mask & w->live & ~(group | held))) complete |= group;
        active &= ~group;
    }
    return complete;
}

void member_mask_run(struct warp *w, struct fragment *f, const struct insn *i, uint32_t lanes)
{
    const uint32_t *members = slot_at(w, i->warp.members);
    uint32_t left = lanes;
    while (left) {
        uint32_t group = naming(members, members[__builtin_ctz(left)], left);
        i->fn(w, i, group);
        left &= ~group;
    }
    if (lanes == member_mask_active(w, f)) {
        f->pc++;
    } else {
        fragment_split(w, f, lanes, f->pc + 1);
        f->state = FRAGMENT_WAITING_FOR_LANES;
    }
}

/* ---- at different places --------------------------------------------------------------------- */

/* The lanes of one fragment that have the mask in question. */
struct party {
    struct fragment *fragment;
    const struct insn *insn;
    uint32_t lanes;
};

/* Are two instructions the same operation? All forms of __syncwarp are. Those of tensor cores are
 * .aligned, and so at one place only. */
static bool is_same(const struct insn *a, const struct insn *b)
{
    const struct ptx_instruction *x = a->source, *y = b->source;
    if (a->control != b->control || a->family == FAMILY_MATRIX) return false;
    if (a->control == CONTROL_WARP_SYNC) return true;
    if (x->word_count != y->word_count) return false;
    for (unsigned k = 0; k < x->word_count; k++)
        if (strcmp(x->words[k], y->words[k])) return false;
    return true;
}

/* All waiting lanes with this mask at the same operation as `like`. */
static unsigned find_parties(struct warp *w, const struct insn *like, uint32_t mask,
                             struct party *parties)
{
    unsigned count = 0;
    for (unsigned k = 0; k < w->fragment_count; k++) {
        struct fragment *f = &w->fragments[k];
        if (f->state != FRAGMENT_WAITING_FOR_LANES || !is_same(insn_at(w, f), like)) continue;
        const struct insn *i = insn_at(w, f);
        uint32_t lanes = naming(frame_slot(w, f, i->warp.members), mask, member_mask_active(w, f));
        if (lanes) parties[count++] = (struct party){f, i, lanes};
    }
    return count;
}

/* Registers that hold the operands of all parties, and then the results. */
struct scratch {
    _Alignas(SLOT_ALIGNMENT) uint64_t a[WARP];
    _Alignas(SLOT_ALIGNMENT) uint32_t b[WARP], c[WARP], d[WARP];
    uint32_t predicate;
};

static bool has_predicate_result(const struct insn *i)
{
    return i->fn == op_vote && i->warp.vote != VOTE_BALLOT;
}

static void copy_lanes(void *to, const void *from, size_t lane_bytes, uint32_t lanes)
{
    for (; lanes; lanes &= lanes - 1) {
        size_t at = (size_t)__builtin_ctz(lanes) * lane_bytes;
        memcpy((char *)to + at, (const char *)from + at, lane_bytes);
    }
}

static void copy_bits(uint32_t *to, uint32_t from, uint32_t lanes)
{
    *to = (*to & ~lanes) | (from & lanes);
}

static void gather(const struct warp *w, const struct party *p, struct scratch *scratch)
{
    const struct insn *i = p->insn;
    if (i->a != NO_SLOT) {
        const void *a = frame_slot(w, p->fragment, i->a);
        if (i->fn == op_vote)
            copy_bits((uint32_t *)scratch->a,
                      *(const uint32_t *)a ^ (i->warp.negated ? ALL_LANES : 0), p->lanes);
        else
            copy_lanes(scratch->a, a, i->lane_bytes, p->lanes);
    }
    if (i->b != NO_SLOT)
        copy_lanes(scratch->b, frame_slot(w, p->fragment, i->b), sizeof(uint32_t), p->lanes);
    if (i->c != NO_SLOT)
        copy_lanes(scratch->c, frame_slot(w, p->fragment, i->c), sizeof(uint32_t), p->lanes);
}

static void scatter(const struct warp *w, const struct party *p, const struct scratch *scratch)
{
    const struct insn *i = p->insn;
    if (i->warp.predicate != NO_SLOT)
        copy_bits(frame_slot(w, p->fragment, i->warp.predicate), scratch->predicate, p->lanes);
    if (i->d == NO_SLOT) return;
    void *d = frame_slot(w, p->fragment, i->d);
    if (has_predicate_result(i))
        copy_bits(d, scratch->d[0], p->lanes);
    else
        copy_lanes(d, scratch->d, sizeof(uint32_t), p->lanes);
}

/* Carries out the first party's instruction once for all parties, on the scratch registers. */
static void run_together(struct warp *w, const struct party *parties, unsigned count)
{
    struct scratch scratch = {.predicate = 0};
    struct insn i = *parties[0].insn;
    uint8_t *registers = w->bank[BANK_REGISTERS];
    uint32_t lanes = 0;
    for (unsigned k = 0; k < count; k++) {
        gather(w, &parties[k], &scratch);
        lanes |= parties[k].lanes;
    }
    i.a = offsetof(struct scratch, a); /* in the bank of registers */
    i.b = offsetof(struct scratch, b);
    i.c = offsetof(struct scratch, c);
    i.d = offsetof(struct scratch, d);
    i.warp.predicate = offsetof(struct scratch, predicate);
    i.warp.negated = false;
    w->bank[BANK_REGISTERS] = (uint8_t *)&scratch;
    i.fn(w, &i, lanes);
    w->bank[BANK_REGISTERS] = registers;
    for (unsigned k = 0; k < count; k++) scatter(w, &parties[k], &scratch);
}

/* Moves the party's lanes on. Lanes of the same fragment with another mask keep waiting. */
static void move_on(struct warp *w, const struct party *p)
{
    struct fragment *f = p->fragment;
    if (w->counts) {
        w->counts[f->pc].executed++;
        w->counts[f->pc].lanes += (unsigned)__builtin_popcount(p->lanes);
    }
    if (p->lanes == member_mask_active(w, f)) {
        f->state = FRAGMENT_READY;
        f->pc++;
    } else {
        fragment_split(w, f, p->lanes, f->pc + 1);
    }
}

/* Tries each mask of the fragment's lanes. */
static bool run_joint_with(struct warp *w, const struct fragment *f)
{
    struct party parties[WARP];
    const struct insn *i = insn_at(w, f);
    for (uint32_t left = member_mask_active(w, f); left;) {
        uint32_t mask = member_mask_of(w, f, __builtin_ctz(left)), here = 0;
        unsigned count = find_parties(w, i, mask, parties);
        for (unsigned k = 0; k < count; k++) here |= parties[k].lanes;
        if (count > 1 && !(mask & w->live & ~here)) {
            run_together(w, parties, count);
            for (unsigned k = 0; k < count; k++) move_on(w, &parties[k]);
            return true;
        }
        left &= ~naming(frame_slot(w, f, i->warp.members), mask, left);
    }
    return false;
}

static bool member_mask_run_joint(struct warp *w)
{
    for (unsigned k = 0; k < w->fragment_count; k++)
        if (w->fragments[k].state == FRAGMENT_WAITING_FOR_LANES &&
            run_joint_with(w, &w->fragments[k]))
            return true;
    return false;
}
