/* decode_control.c — decodes branches, calls, barriers, clusters, collectives, alloca. */
#include "decode.h"
#include <string.h>

/* ---- decodes alloca, stacksave, stackrestore and createpolicy -------------------------------- */

/* alloca.u64 pointer, bytes, alignment; */
void decode_alloca(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    enum { ALIGNMENT = 8 };
    struct words words = all_words(source);
    if (take_type(&words) != PTX_U64)
        decode_fail(d, EMU_UNSUPPORTED_PTX, "only 64-bit addresses are supported");
    refuse_rest(d, &words);
    need_operands(d, source, 2, 3);
    i->d = destination_slot(d, &source->operands[0], 8);
    i->family = FAMILY_ALLOCA;
    i->alloca.bytes = source_slot(d, &source->operands[1], 8);
    i->alloca.top = stack_top(d);
    i->alloca.alignment =
        source->operand_count == 3 ? immediate(d, &source->operands[2]) : ALIGNMENT;
    if (i->alloca.alignment < 1) decode_fail(d, EMU_INVALID_PTX, "an alignment of 0");
    i->fn = op_alloca;
    d->has_calls = true; /* alloca needs a stack */
}

/* stacksave.u64 d; and stackrestore.u64 a; */
void decode_stack_move(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    bool save = !strcmp(source->words[0], "stacksave");
    struct words words = all_words(source);
    if (take_type(&words) != PTX_U64)
        decode_fail(d, EMU_UNSUPPORTED_PTX, "only 64-bit addresses are supported");
    refuse_rest(d, &words);
    need_operands(d, source, 1, 1);
    i->d = save ? destination_slot(d, &source->operands[0], 8) : stack_top(d);
    i->a = save ? stack_top(d) : source_slot(d, &source->operands[0], 8);
    i->fn = op_find("mov.u64")->fn;
}

/* createpolicy makes a number for accesses with .L2::cache_hint, which ignore it here. */
void decode_policy(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    need_operands(d, source, 1, 4);
    i->d = destination_slot(d, &source->operands[0], 8);
    i->a = constant_slot(d, 0, 8);
    i->fn = op_find("mov.u64")->fn;
}

/* ---- decodes the instructions for blocks of a cluster ---------------------------------------- */

/* barrier.cluster.arrive{.release|.relaxed}{.aligned}; barrier.cluster.wait{.acquire}{.aligned} */
static void decode_cluster_barrier(struct decoder *d, const struct ptx_instruction *source,
                                   struct insn *i)
{
    static const char *const dropped[] = {"cluster", "aligned", "release",
                                          "relaxed", "acquire", NULL};
    struct words words = all_words(source);
    drop_words(&words, dropped);
    bool arrive = take_word(&words, "arrive"), wait = take_word(&words, "wait");
    refuse_rest(d, &words);
    need_operands(d, source, 0, 0);
    if (arrive == wait)
        decode_fail(d, EMU_INVALID_PTX, "a barrier.cluster is either .arrive or .wait");
    i->tally = TALLY_BARRIER;
    if (arrive) {
        i->order = has_word(source, "relaxed") ? 0 : ORDER_RELEASE;
        i->fn = op_cluster_arrive;
        return;
    }
    i->control = CONTROL_WAIT_CLUSTER;
}

/* mapa{.shared::cluster}.type d, address, rank; getctarank{.shared::cluster}.type d, address; */
void decode_cluster_address(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    static const char *const dropped[] = {"shared::cluster", NULL};
    struct words words = all_words(source);
    bool map = !strcmp(source->words[0], "mapa");
    drop_words(&words, dropped);
    enum ptx_type type = take_type(&words);
    refuse_rest(d, &words);
    need_operands(d, source, map ? 3 : 2, map ? 3 : 2);
    if (type != PTX_U32 && type != PTX_U64)
        decode_fail(d, EMU_INVALID_PTX, "it is for .u32 and .u64");
    i->lane_bytes = (uint8_t)ptx_type_size(type);
    i->d = destination_slot(d, &source->operands[0], map ? i->lane_bytes : 4);
    i->a = source_slot(d, &source->operands[1], i->lane_bytes);
    if (map) i->b = source_slot(d, &source->operands[2], 4);
    i->fn = map ? op_mapa : op_getctarank;
}

/* ---- decodes the operations by which lanes of a warp exchange values ------------------------- */

static void take_members(struct decoder *d, const struct ptx_operand *mask, struct insn *i)
{
    check_operand(d, mask, PTX_U32, false);
    i->family = FAMILY_WARP;
    i->warp.members = source_slot(d, mask, 4);
    i->warp.predicate = NO_SLOT;
}

struct collective {
    const char *opcode, *word;
    op_fn fn;
    uint8_t kind; /* enum shuffle, enum vote or enum reduction */
    uint8_t operands;
    bool predicate_result, predicate_value;
};

static const struct collective collectives[] = {
    {"shfl", "up", op_shuffle, SHUFFLE_UP, 5, false, false},
    {"shfl", "down", op_shuffle, SHUFFLE_DOWN, 5, false, false},
    {"shfl", "bfly", op_shuffle, SHUFFLE_BUTTERFLY, 5, false, false},
    {"shfl", "idx", op_shuffle, SHUFFLE_INDEX, 5, false, false},
    {"vote", "all", op_vote, VOTE_ALL, 3, true, true},
    {"vote", "any", op_vote, VOTE_ANY, 3, true, true},
    {"vote", "uni", op_vote, VOTE_UNIFORM, 3, true, true},
    {"vote", "ballot", op_vote, VOTE_BALLOT, 3, false, true},
    {"match", "any", op_match_any, 0, 3, false, false},
    {"match", "all", op_match_all, 0, 3, false, false},
    {"redux", "add", op_reduce, REDUCE_ADD, 3, false, false},
    {"redux", "min", op_reduce, REDUCE_MIN, 3, false, false},
    {"redux", "max", op_reduce, REDUCE_MAX, 3, false, false},
    {"redux", "and", op_reduce, REDUCE_AND, 3, false, false},
    {"redux", "or", op_reduce, REDUCE_OR, 3, false, false},
    {"redux", "xor", op_reduce, REDUCE_XOR, 3, false, false},
};

static void set_kind(struct insn *i, const struct collective *c)
{
    i->fn = c->fn;
    if (c->fn == op_shuffle) i->warp.shuffle = c->kind;
    if (c->fn == op_vote) i->warp.vote = c->kind;
    if (c->fn == op_reduce) i->warp.reduction = c->kind;
}

/* d{|p}, a{, b, c}, members */
static void decode_exchange(struct decoder *d, const struct ptx_instruction *source, struct insn *i,
                            struct words *words, const struct collective *c)
{
    enum ptx_type type = take_type(words);
    bool predicate = type == PTX_PRED;
    refuse_rest(d, words);
    need_operands(d, source, c->operands, c->operands);
    set_kind(i, c);
    i->is_signed = ptx_type_is_signed(type);
    i->lane_bytes = predicate ? 0 : ptx_type_size(type) == 8 ? 8 : 4;
    bool is_number = c->fn == op_reduce && c->kind <= REDUCE_MAX;
    bool has_type =
        predicate || (ptx_type_is_bits(type) != is_number && ptx_type_size(type) == i->lane_bytes);
    if (predicate != c->predicate_result || (i->lane_bytes == 8 && strcmp(c->opcode, "match")) ||
        ptx_type_is_float(type) || !has_type)
        decode_fail(d, unknown_error(d), "it is not supported for .%s", ptx_type_name(type));
    if (source->operands[0].other && c->fn != op_shuffle && c->fn != op_match_all)
        decode_fail(d, EMU_INVALID_PTX, "it has no second result");
    /* ptxas lets shfl and vote write a register of type .f32, but neither match nor redux. */
    bool takes_floats = c->fn == op_shuffle || c->fn == op_vote;
    enum ptx_type result = takes_floats ? PTX_B32 : PTX_U32;
    if (!c->predicate_result) check_operand(d, &source->operands[0], result, false);
    if (!c->predicate_value)
        check_operand(d, &source->operands[1], c->fn == op_reduce ? result : type, false);
    i->d = destination_slot(d, &source->operands[0], c->predicate_result ? 0 : 4);
    i->warp.predicate = second_destination_slot(d, &source->operands[0]);
    i->a = source_slot(d, &source->operands[1], c->predicate_value ? 0 : i->lane_bytes);
    i->warp.negated = source->operands[1].negated;
    if (c->operands < 5) return;
    for (unsigned k = 2; k < 4; k++) check_operand(d, &source->operands[k], PTX_B32, false);
    i->b = source_slot(d, &source->operands[2], 4);
    i->c = source_slot(d, &source->operands[3], 4);
}

/* d{|p}, members */
static void decode_elect(struct decoder *d, const struct ptx_instruction *source, struct insn *i,
                         struct words *words)
{
    refuse_rest(d, words);
    need_operands(d, source, 2, 2);
    if (!source->operands[0].other)
        decode_fail(d, EMU_INVALID_PTX, "the predicate behind | is missing");
    i->d = destination_slot(d, &source->operands[0], 4);
    i->warp.predicate = second_destination_slot(d, &source->operands[0]);
    i->fn = op_elect;
}

void decode_collective(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    struct words words = all_words(source);
    const char *opcode = source->words[0];
    bool elects = !strcmp(opcode, "elect");
    if (!take_word(&words, "sync"))
        decode_fail(d, EMU_UNSUPPORTED_PTX, "without .sync it does not exist on today's GPUs");
    need_operands(d, source, elects ? 2 : 3, 5);
    i->control = CONTROL_MEMBER_MASK;
    take_members(d, &source->operands[source->operand_count - 1], i);
    if (elects) {
        decode_elect(d, source, i, &words);
        return;
    }
    for (size_t k = 0; k < sizeof collectives / sizeof *collectives; k++)
        if (!strcmp(collectives[k].opcode, opcode) && take_word(&words, collectives[k].word)) {
            decode_exchange(d, source, i, &words, &collectives[k]);
            return;
        }
    unknown_operation(d);
}

/* ---- decodes branches, calls, exits, barriers and fences ------------------------------------- */

/* .uni promises that all lanes take the same way. The emulator does not need that. */
static const char *const uniform[] = {"uni", NULL}, *const indexed[] = {"idx", "uni", NULL};

void decode_branch(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    refuse_words_but(d, source, uniform);
    need_operands(d, source, 1, 1);
    if (source->operands[0].kind != PTX_LABEL)
        decode_fail(d, EMU_INVALID_PTX, "label '%s' is not defined",
                    source->operands[0].name ? source->operands[0].name : "?");
    i->control = CONTROL_BRANCH;
    i->family = FAMILY_BRANCH;
    i->target = d->base + source->operands[0].index;
}

/* Where an `if` ends a loop, nvcc writes two jumps back: one in front of the `if`, for the lanes
 * that skip it, and one behind it, for the other lanes. ptxas joins all lanes before they jump
 * back. In the emulator the lanes that skip the `if` would begin the next round alone, because the
 * lowest instruction runs first (machine/machine.h). So the first jump is sent to the second,
 * which has the same target. */
void decode_rejoin(struct insn *code, size_t from, size_t end)
{
    for (size_t n = from; n < end; n++) {
        struct insn *skips = &code[n];
        if (skips->control != CONTROL_BRANCH || skips->source->guard < 0 || skips->target > n)
            continue;
        size_t jump = n + 1;
        while (jump < end && code[jump].control == CONTROL_NONE) jump++;
        if (jump < end && code[jump].control == CONTROL_BRANCH && code[jump].source->guard < 0 &&
            code[jump].target == skips->target)
            skips->target = (uint32_t)jump;
    }
}

/* brx.idx index, TABLE; */
void decode_branch_table(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    refuse_words_but(d, source, indexed);
    need_operands(d, source, 2, 2);
    const char *name = source->operands[1].name;
    for (size_t t = 0; name && t < d->function->table_count; t++) {
        const struct ptx_branch_table *table = &d->function->tables[t];
        if (strcmp(table->name, name)) continue;
        uint32_t *targets = decode_take(d, (table->targets->count + 1) * sizeof *targets);
        for (unsigned k = 0; k < table->targets->count; k++) {
            if (table->targets->items[k]->kind != PTX_LABEL)
                decode_fail(d, EMU_INVALID_PTX, "a target in table '%s' is no label", name);
            targets[k] = d->base + table->targets->items[k]->index;
        }
        i->control = CONTROL_TABLE;
        i->family = FAMILY_TABLE;
        i->table.targets = targets;
        i->table.count = table->targets->count;
        i->table.index = source_slot(d, &source->operands[0], 4);
        return;
    }
    decode_fail(d, EMU_INVALID_PTX, "table '%s' is not defined", name ? name : "?");
}

void decode_exit(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    refuse_words_but(d, source, uniform);
    need_operands(d, source, 0, 0);
    i->control = d->callee && !strcmp(source->words[0], "ret") ? CONTROL_RETURN : CONTROL_EXIT;
}

/* The operands n[, threads] of a barrier of the block. */
static void take_barrier(struct decoder *d, const struct ptx_operand *operands, unsigned count,
                         struct insn *i)
{
    enum { BARRIERS = 16 };
    if (operands[0].kind == PTX_INTEGER && operands[0].bits >= BARRIERS)
        decode_fail(d, EMU_INVALID_PTX, "a block has the barriers 0 to %d", BARRIERS - 1);
    if (count > 1 && operands[1].kind == PTX_INTEGER && operands[1].bits % WARP)
        decode_fail(d, EMU_INVALID_PTX, "the number of threads is not a multiple of %d", WARP);
    for (unsigned k = 0; k < count; k++) check_operand(d, &operands[k], PTX_U32, false);
    i->family = FAMILY_BARRIER;
    i->tally = TALLY_BARRIER;
    i->barrier.number = source_slot(d, &operands[0], 4);
    i->barrier.threads = count > 1 ? source_slot(d, &operands[1], 4) : NO_SLOT;
}

/* bar.red.popc.u32 d, n[, threads], p; bar.red.and.pred q, n[, threads], p; or */
static void decode_barrier_reduction(struct decoder *d, const struct ptx_instruction *source,
                                     struct insn *i, struct words *words)
{
    enum barrier_result result = take_word(words, "popc")  ? BARRIER_COUNT
                                 : take_word(words, "and") ? BARRIER_AND
                                 : take_word(words, "or")  ? BARRIER_OR
                                                           : BARRIER_NOTHING;
    enum ptx_type type = take_type(words);
    refuse_rest(d, words);
    if (result == BARRIER_NOTHING || (result == BARRIER_COUNT) != (type == PTX_U32))
        decode_fail(d, unknown_error(d), "this kind of barrier is not supported");
    need_operands(d, source, 3, 4);
    i->d = destination_slot(d, &source->operands[0], type == PTX_U32 ? 4 : 0);
    take_barrier(d, &source->operands[1], source->operand_count - 2, i);
    const struct ptx_operand *predicate = &source->operands[source->operand_count - 1];
    i->barrier.result = (uint8_t)result;
    i->barrier.predicate = predicate_slot(d, predicate, &i->barrier.negated);
    i->control = CONTROL_BARRIER;
}

/* bar.sync n[, threads]; barrier.sync; bar.arrive n, threads; bar.warp.sync mask */
void decode_barrier(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    static const char *const dropped[] = {"cta", "aligned", NULL};
    struct words words = all_words(source);
    if (has_word(source, "cluster")) {
        decode_cluster_barrier(d, source, i);
        return;
    }
    drop_words(&words, dropped);
    if (take_word(&words, "warp")) {
        take_word(&words, "sync");
        refuse_rest(d, &words);
        need_operands(d, source, 1, 1);
        i->control = CONTROL_WARP_SYNC;
        take_members(d, &source->operands[0], i);
        i->fn = op_warp_sync;
        return;
    }
    bool arrive = take_word(&words, "arrive");
    if (!arrive && take_word(&words, "red")) {
        decode_barrier_reduction(d, source, i, &words);
        return;
    }
    if (!arrive && !take_word(&words, "sync"))
        decode_fail(d, unknown_error(d), "this kind of barrier is not supported");
    refuse_rest(d, &words);
    need_operands(d, source, arrive ? 2 : 1, 2);
    i->control = arrive ? CONTROL_ARRIVE : CONTROL_BARRIER;
    take_barrier(d, source->operands, source->operand_count, i);
}

/* Fences order memory accesses, which the emulator always keeps in order. Only racecheck needs
 * fences, and it needs none that only acquire: see watch/race_flags.c. */
/* The kinds: .alias, .async{.space}, .async::generic.acquire|release.sync_restrict::….cluster,
 * .tensormap::generic.release.scope, and the same with .acquire and an operand [map], 128. */
static void take_proxies(struct decoder *d, struct words *words)
{
    static const char *const generic[] = {"acquire",
                                          "release",
                                          "sync_restrict::shared::cta",
                                          "sync_restrict::shared::cluster",
                                          "cluster",
                                          NULL},
                             *const scopes[] = {"cta", "cluster", "gpu", "sys", NULL},
                             *const spaces[] = {"global", "shared::cta", "shared::cluster", NULL};
    enum { MAP_BYTES = 128 };
    const struct ptx_instruction *source = words->source;
    bool maps = take_word(words, "tensormap::generic");
    bool acquires = maps && take_word(words, "acquire");
    if (maps && !acquires && !take_word(words, "release"))
        decode_fail(d, EMU_INVALID_PTX, "it needs .acquire or .release");
    if (maps)
        drop_words(words, scopes);
    else if (take_word(words, "async::generic"))
        drop_words(words, generic);
    else if (take_word(words, "async"))
        drop_words(words, spaces);
    else if (!take_word(words, "alias"))
        decode_fail(d, unknown_error(d), "these proxies are not supported");
    refuse_rest(d, words);
    need_operands(d, source, acquires ? 2 : 0, acquires ? 2 : 0);
    if (!acquires) return;
    struct address map = place_operand(d, &source->operands[0], PTX_GENERIC);
    need_long_address(d, &map);
    if (immediate(d, &source->operands[1]) != MAP_BYTES)
        decode_fail(d, EMU_INVALID_PTX, "a tensor map has %d bytes", MAP_BYTES);
}

/* Orders a thread's accesses and asynchronous copies, which the emulator always keeps in order.
 * Only racecheck needs it. */
static void decode_proxy_fence(struct decoder *d, const struct ptx_instruction *source,
                               struct insn *i)
{
    bool async = has_word(source, "async") || has_word(source, "async::generic");
    struct words words = all_words(source);
    take_word(&words, "proxy");
    take_proxies(d, &words);
    bool shared = has_word(source, "shared::cta") || has_word(source, "shared::cluster");
    i->address.space = has_word(source, "global") ? PTX_GLOBAL : shared ? PTX_SHARED : PTX_GENERIC;
    i->fn = async ? op_proxy_fence : op_find("nothing")->fn;
}

void decode_fence(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    static const char *const dropped[] = {"sc", "acq_rel", "cluster", "gpu", "gl", "sys", NULL};
    struct words words = all_words(source);
    if (has_word(source, "proxy")) {
        decode_proxy_fence(d, source, i);
        return;
    }
    /* Fences for mbarriers or shared memory alone are treated as fences for all memory. */
    take_word(&words, "mbarrier_init");
    take_word(&words, "sync_restrict::shared::cta");
    take_word(&words, "sync_restrict::shared::cluster");
    if (take_word(&words, "acquire")) i->order |= ORDER_ACQUIRE;
    if (take_word(&words, "release")) i->order |= ORDER_RELEASE;
    if (take_word(&words, "cta")) i->order |= ORDER_BLOCK;
    drop_words(&words, dropped);
    refuse_rest(d, &words);
    need_operands(d, source, 0, 0);
    i->fn = op_fence;
}

void decode_spin(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    (void)d, (void)source;
    i->control = CONTROL_SPIN;
}

void decode_trap(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    need_operands(d, source, 0, 0);
    i->fn = op_trap;
}

/* The offset of an argument or result in the caller's area; *size is its size. */
static unsigned area_offset(struct decoder *d, const struct ptx_operand *operand, unsigned *size)
{
    size_t bytes;
    if (operand->kind != PTX_SYMBOL || !names_area(d, operand, &bytes))
        decode_fail(d, EMU_UNSUPPORTED_PTX,
                    "an argument that is not a .param variable is not supported");
    struct ptx_operand address = {.kind = PTX_ADDRESS, .base = (struct ptx_operand *)operand};
    *size = (unsigned)bytes;
    return (unsigned)address_operand(d, &address, PTX_PARAM).offset;
}

/* Refuses a function of the runtime that NVIDIA's libcudadevrt supplies for kernels. nvcc gives it
 * a name that begins with __cudaCDP2. */
static void refuse_device_runtime(struct decoder *d, const char *name)
{
    static const char prefix[] = "__cudaCDP2";
    size_t skipped = strncmp(name, prefix, strlen(prefix)) ? 0 : strlen(prefix);
    const char *function = name + skipped;
    if (!skipped && strncmp(name, "cuda", strlen("cuda"))) return;
    if (!skipped) function += strlen("cuda");
    if (strstr(function, "GraphLaunch"))
        decode_fail(d, EMU_UNSUPPORTED_PTX,
                    "the emulator has no graphs that kernels launch; "
                    "launch the graph from the host instead");
    if (strstr(function, "DeviceSynchronize"))
        decode_fail(d, EMU_UNSUPPORTED_PTX,
                    "CUDA 12 has removed cudaDeviceSynchronize from kernels: launch what needs the "
                    "results of other grids into cudaStreamTailLaunch");
    decode_fail(d, EMU_UNSUPPORTED_PTX,
                "the emulator does not have this function of the CUDA runtime in kernels "
                "(cuda%s); call it on the host instead",
                function);
}

/* A call by name must fit the function. */
static void check_call(struct decoder *d, const struct call *call)
{
    const struct callee *callee = call->callee;
    const char *name = callee->function->name;
    if (!callee->function->has_body && !callee->builtin) {
        refuse_device_runtime(d, name);
        decode_fail(d, EMU_SYMBOL_NOT_FOUND,
                    "function '%s' is defined elsewhere, and the emulator does not supply it; "
                    "link the object that defines it (nvcc -rdc=true)",
                    name);
    }
    if (call->arguments != callee->params)
        decode_fail(d, EMU_INVALID_PTX, "%u arguments for the %u parameters of '%s'",
                    call->arguments, callee->params, name);
    for (unsigned k = 0; k < call->arguments; k++)
        if (call->argument_size[k] < callee->param_size[k])
            decode_fail(d, EMU_INVALID_PTX, "argument %u of '%s' has %u bytes, not %u", k, name,
                        call->argument_size[k], callee->param_size[k]);
    if (!call->result_size && callee->result_size)
        decode_fail(d, EMU_INVALID_PTX, "no place for the result of '%s'", name);
    if (call->result_size < callee->result_size)
        decode_fail(d, EMU_INVALID_PTX, "the result of '%s' has %u bytes, not %u", name,
                    callee->result_size, call->result_size);
}

/* call (result), function, (arguments), prototype; the result and the arguments may be missing. The
 * prototype follows a function that is given by its address. */
void decode_call(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    refuse_words_but(d, source, uniform);
    unsigned at = source->operand_count && source->operands[0].kind == PTX_VECTOR ? 1 : 0;
    if (at >= source->operand_count) decode_fail(d, EMU_INVALID_PTX, "a call of nothing");
    const struct ptx_operand *result = at ? &source->operands[0] : NULL,
                             *target = &source->operands[at];
    const struct ptx_operand *arguments =
        at + 1 < source->operand_count && source->operands[at + 1].kind == PTX_VECTOR
            ? &source->operands[at + 1]
            : NULL;

    struct call *call = decode_take(d, sizeof *call);
    unsigned count = arguments ? arguments->count : 0;
    unsigned *offsets = decode_take(d, (count + 1) * sizeof *offsets);
    unsigned *sizes = decode_take(d, (count + 1) * sizeof *sizes);
    for (unsigned k = 0; k < count; k++)
        offsets[k] = area_offset(d, arguments->items[k], &sizes[k]);
    call->arguments = count;
    call->argument_offset = offsets;
    call->argument_size = sizes;
    if (result && result->count)
        call->result_offset = area_offset(d, result->items[0], &call->result_size);
    i->family = FAMILY_CALL;
    i->call = call;
    i->control = CONTROL_CALL;
    if (target->kind == PTX_REGISTER) {
        const struct ptx_operand *last = &source->operands[source->operand_count - 1];
        if (last == target || last == arguments)
            decode_fail(d, EMU_INVALID_PTX, "a call by address needs a prototype");
        call->address = source_slot(d, target, 8);
        return;
    }
    if (target->kind != PTX_SYMBOL)
        decode_fail(d, EMU_INVALID_PTX, "a call of something that is no function");
    const struct ptx_symbol *symbol = ptx_find(&d->module->text, d->function->unit, target->name);
    if (!symbol || !symbol->is_function)
        decode_fail(d, EMU_INVALID_PTX, "function '%s' is not declared", target->name);
    call->callee = d->callees[symbol->index];
    if (!call->callee)
        decode_fail(d, EMU_INVALID_PTX, "'%s' is a kernel, which has no calls", target->name);
    check_call(d, call);
}
