/* decode_copy.c — decodes asynchronous copies and mbarriers. */
#include "decode.h"
#include <string.h>

/* ---- decodes the instructions mbarrier.… ----------------------------------------------------- */

/* In the emulator every operation has the effect of these modifiers. Only racecheck needs to know
 * whether an arrival releases, and an arrival does unless it is .relaxed. */
static const char *const mbarrier_hints[] = {"release", "relaxed", "acquire",
                                             "cta",     "cluster", NULL};

/* Sets the fields that all operations on the mbarrier of an operand have. */
static void take_mbarrier(struct decoder *d, const struct ptx_operand *operand,
                          enum ptx_space space, enum mbarrier operation, struct insn *i)
{
    i->family = FAMILY_MBARRIER;
    i->address = address_operand(d, operand, space);
    i->mbarrier.operation = (uint8_t)operation;
    i->mbarrier.arrivals = i->mbarrier.bytes = i->mbarrier.phase = NO_SLOT;
    i->fn = op_mbarrier;
}

enum { COUNT_SINCE = 90 }; /* arrivals of more than one thread */

/* d, [address]{, count}; with .expect_tx, the number of bytes is in the place of the count */
static void decode_arrive(struct decoder *d, const struct ptx_instruction *source, struct insn *i,
                          struct words *words, enum ptx_space space, bool drop)
{
    bool expects = take_word(words, "expect_tx");
    bool no_complete = take_word(words, "noComplete");
    refuse_rest(d, words);
    need_operands(d, source, expects || no_complete ? 3 : 2, 3);
    if (source->operands[0].kind != PTX_SINK) {
        if (space == PTX_SHARED_CLUSTER)
            decode_fail(d, EMU_INVALID_PTX, "an arrival in .shared::cluster has no result but _");
        i->d = destination_slot(d, &source->operands[0], 8);
    }
    take_mbarrier(d, &source->operands[1], space, MBARRIER_ARRIVE, i);
    i->order = has_word(source, "relaxed") ? 0 : ORDER_RELEASE;
    i->mbarrier.arrival =
        (uint8_t)((drop ? ARRIVAL_DROP : 0) | (no_complete ? ARRIVAL_NO_COMPLETE : 0));
    if (source->operand_count < 3) return;
    if (!no_complete) need_target(d, COUNT_SINCE);
    *(expects ? &i->mbarrier.bytes : &i->mbarrier.arrivals) =
        source_slot(d, &source->operands[2], 4);
}

/* p, [address], state or parity{, time}: the emulator ignores the time limit */
static void decode_test(struct decoder *d, const struct ptx_instruction *source, struct insn *i,
                        struct words *words, enum ptx_space space, bool waits)
{
    bool is_parity = take_word(words, "parity");
    refuse_rest(d, words);
    need_operands(d, source, 3, waits ? 4 : 3);
    i->d = destination_slot(d, &source->operands[0], 0);
    take_mbarrier(d, &source->operands[1], space, MBARRIER_TEST, i);
    i->mbarrier.is_parity = is_parity;
    i->mbarrier.phase = source_slot(d, &source->operands[2], is_parity ? 4 : 8);
    i->control = waits ? CONTROL_WAIT_MBARRIER : CONTROL_NONE;
    i->fn = waits ? NULL : op_mbarrier_test;
}

/* d, state */
static void decode_pending_count(struct decoder *d, const struct ptx_instruction *source,
                                 struct insn *i, struct words *words)
{
    refuse_rest(d, words);
    need_operands(d, source, 2, 2);
    i->d = destination_slot(d, &source->operands[0], 4);
    i->a = source_slot(d, &source->operands[1], 8);
    i->fn = op_mbarrier_pending;
}

/* [address]{, value}: an operation without a result. False: another instruction. */
static bool decode_plain(struct decoder *d, const struct ptx_instruction *source, struct insn *i,
                         struct words *words, enum ptx_space space)
{
    static const struct {
        const char *word;
        enum mbarrier operation;
        unsigned operands;
    } plain[] = {{"init", MBARRIER_INIT, 2},
                 {"inval", MBARRIER_INVAL, 1},
                 {"expect_tx", MBARRIER_EXPECT, 2},
                 {"complete_tx", MBARRIER_COMPLETE, 2}};
    for (size_t k = 0; k < sizeof plain / sizeof *plain; k++) {
        if (!take_word(words, plain[k].word)) continue;
        refuse_rest(d, words);
        need_operands(d, source, plain[k].operands, plain[k].operands);
        take_mbarrier(d, &source->operands[0], space, plain[k].operation, i);
        if (plain[k].operands == 2) check_operand(d, &source->operands[1], PTX_U32, false);
        if (plain[k].operands == 2)
            *(plain[k].operation == MBARRIER_INIT ? &i->mbarrier.arrivals : &i->mbarrier.bytes) =
                source_slot(d, &source->operands[1], 4);
        return true;
    }
    return false;
}

void decode_mbarrier(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    struct words words = all_words(source);
    if (take_type(&words) != PTX_B64) decode_fail(d, EMU_INVALID_PTX, "it is for .b64");
    if (take_word(&words, "pending_count")) {
        decode_pending_count(d, source, i, &words);
        return;
    }
    drop_words(&words, mbarrier_hints);
    enum ptx_space space = take_space(&words);
    bool arrives = take_word(&words, "arrive");
    bool waits = !arrives && take_word(&words, "try_wait");
    if (arrives || (!waits && take_word(&words, "arrive_drop")))
        decode_arrive(d, source, i, &words, space, !arrives);
    else if (waits || take_word(&words, "test_wait"))
        decode_test(d, source, i, &words, space, waits);
    else if (!decode_plain(d, source, i, &words, space))
        decode_fail(d, unknown_error(d), "this operation on an mbarrier is not supported");
}

/* ---- decodes asynchronous copies ------------------------------------------------------------- */

/* Decodes asynchronous copies: cp.async.…, cp.async.bulk.…, cp.reduce.async.bulk.…
 * What tensors add is in decode_matrix.c. */

/* Modifiers for caches and ordering, which the emulator does not need. */
static const char *const hints[] = {"L2::64B", "L2::128B", "L2::256B",       "relaxed",
                                    "cluster", "weak",     "L2::cache_hint", NULL};

/* ---- cp.async -------------------------------------------------------------------------------- */

/* Is .shared written before .global? The target is written before the source. */
static bool is_into_shared(const struct ptx_instruction *source)
{
    for (unsigned n = 1; n < source->word_count; n++) {
        if (!strncmp(source->words[n], "shared", strlen("shared"))) return true;
        if (!strcmp(source->words[n], "global")) return false;
    }
    return false;
}

/* cp.async.ca|cg.shared.global [to], [from], size{, bytes of the source | predicate}{, policy}; */
static void decode_copy_itself(struct decoder *d, const struct ptx_instruction *source,
                               struct insn *i, struct words *words)
{
    bool hint = has_word(source, "L2::cache_hint"), bypass = take_word(words, "cg");
    if (!bypass && !take_word(words, "ca"))
        decode_fail(d, unknown_error(d), "this asynchronous copy is not supported");
    drop_words(words, hints);
    bool shared = take_word(words, "shared") || take_word(words, "shared::cta");
    bool global = take_word(words, "global");
    refuse_rest(d, words);
    if (!shared || !global || !is_into_shared(source))
        decode_fail(d, EMU_INVALID_PTX, "it goes from .global to .shared");
    unsigned most = hint ? 5 : 4, least = hint ? 4 : 3;
    need_operands(d, source, least, most);
    i->family = FAMILY_COPY;
    i->copy.to = address_operand(d, &source->operands[0], PTX_SHARED);
    i->copy.from = address_operand(d, &source->operands[1], PTX_GLOBAL);
    int64_t bytes = immediate(d, &source->operands[2]);
    if (bytes != 16 && (bypass || (bytes != 4 && bytes != 8)))
        decode_fail(d, EMU_INVALID_PTX, "a copy of %lld bytes; it can be %s", (long long)bytes,
                    bypass ? "16" : "4, 8 or 16");
    i->element_bytes = (uint8_t)bytes;
    i->elements = 1;
    i->copy.bypass = bypass;
    i->copy.source_bytes = i->copy.ignore = NO_SLOT;
    if (source->operand_count == most) {
        const struct ptx_operand *last = &source->operands[3];
        i->copy.fills = last->kind == PTX_REGISTER;
        bool is_predicate = last->kind == PTX_REGISTER && !operand_lane_bytes(d, last, 4);
        if (is_predicate)
            i->copy.ignore = source_slot(d, last, 0);
        else
            i->copy.source_bytes = source_slot(d, last, 4);
    }
    i->tally = TALLY_COPY;
    i->fn = op_copy;
}

/* cp.async.mbarrier.arrive{.noinc}{.shared}.b64 [mbarrier]; */
static void decode_copy_arrival(struct decoder *d, const struct ptx_instruction *source,
                                struct insn *i, struct words *words)
{
    bool arrives = take_word(words, "arrive");
    i->family = FAMILY_COPY_ARRIVAL;
    i->copy_arrival.noinc = take_word(words, "noinc");
    enum ptx_space space = take_space(words);
    if (!arrives || take_type(words) != PTX_B64)
        decode_fail(d, EMU_INVALID_PTX, "it is .arrive and .b64");
    refuse_rest(d, words);
    need_operands(d, source, 1, 1);
    i->address = address_operand(d, &source->operands[0], space);
    i->fn = op_copy_arrive;
}

/* commit_group; wait_group n; wait_all. False: another instruction. */
static bool decode_groups(struct decoder *d, const struct ptx_instruction *source, struct insn *i,
                          struct words *words, bool bulk)
{
    bool commit = take_word(words, "commit_group"), all = take_word(words, "wait_all");
    bool wait = take_word(words, "wait_group");
    if (!commit && !all && !wait) return false;
    bool read = bulk && take_word(words, "read");
    refuse_rest(d, words);
    need_operands(d, source, wait ? 1 : 0, wait ? 1 : 0);
    if (!commit) {
        i->family = FAMILY_GROUP;
        i->group.read = read;
        i->group.pending = wait ? immediate(d, &source->operands[0]) : WAIT_FOR_ALL;
    }
    if (commit)
        i->fn = bulk ? op_bulk_commit : op_copy_commit;
    else
        i->fn = bulk ? op_bulk_wait : op_copy_wait;
    return true;
}

/* ---- cp.async.bulk --------------------------------------------------------------------------- */

/* The two state spaces, in the order in which they are written. */
static void take_spaces(struct decoder *d, const struct ptx_instruction *source,
                        struct words *words, enum ptx_space *spaces)
{
    static const struct {
        const char *word;
        enum ptx_space space;
    } names[] = {{"global", PTX_GLOBAL},
                 {"shared::cta", PTX_SHARED},
                 {"shared::cluster", PTX_SHARED_CLUSTER}};
    unsigned count = 0;
    for (unsigned n = 1; n < source->word_count; n++)
        for (size_t k = 0; k < sizeof names / sizeof *names && count < 2; k++)
            if (!strcmp(source->words[n], names[k].word)) spaces[count++] = names[k].space;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) take_word(words, names[k].word);
    if (count < 2) decode_fail(d, EMU_INVALID_PTX, "two state spaces are needed");
}

/* In shared memory there are reductions of integers of 32 bits, and sums of 64 bits. */
static void check_reduction(struct decoder *d, const struct insn *i, enum ptx_space space)
{
    enum ptx_type type = i->atomic.type;
    bool is_sum = i->atomic.operation == ATOMIC_ADD;
    if (is_sum && type == PTX_S64) unknown_operation(d);
    if (space == PTX_GLOBAL || (is_sum && type == PTX_U64)) return;
    if (ptx_type_size(type) != 4 || ptx_type_is_float(type)) unknown_operation(d);
}

/* [to], [from], size{, [mbarrier]}{, blocks of a multicast}{, policy}; of a tensor without size */
static void decode_bulk(struct decoder *d, const struct ptx_instruction *source, struct insn *i,
                        struct words *words, bool reduces)
{
    enum ptx_space spaces[2];
    bool multicast = take_word(words, "multicast::cluster");
    bool hint = has_word(source, "L2::cache_hint");
    bool group = take_word(words, "bulk_group");
    bool mbarrier = take_word(words, "mbarrier::complete_tx::bytes");
    bool tensor = has_word(source, "tensor");
    drop_words(words, hints);
    take_spaces(d, source, words, spaces);
    if (tensor) take_tensor(d, words, i);
    if (reduces) {
        if (!tensor) take_atomic(d, words, i);
        i->order = ORDER_ATOMIC;
    }
    refuse_rest(d, words);
    if (reduces && !tensor) check_reduction(d, i, spaces[0]);
    if (spaces[0] == PTX_GLOBAL && spaces[1] != PTX_SHARED)
        decode_fail(d, EMU_INVALID_PTX, "a copy to .global comes from .shared::cta");
    if (group == mbarrier || group != (spaces[0] == PTX_GLOBAL))
        decode_fail(
            d, EMU_INVALID_PTX,
            "copies to .global complete by .bulk_group, those to shared memory at an mbarrier");
    unsigned sizes = tensor ? 0 : 1, operands = 2 + sizes + mbarrier + multicast + hint;
    need_operands(d, source, operands, operands);
    i->family = FAMILY_BULK;
    i->bulk.reduces = reduces;
    i->bulk.to = address_operand(d, &source->operands[0], spaces[0]);
    i->bulk.from = address_operand(d, &source->operands[1], spaces[1]);
    if (!tensor) i->bulk.bytes = source_slot(d, &source->operands[2], 4);
    if (mbarrier) i->bulk.mbarrier = address_operand(d, &source->operands[2 + sizes], spaces[0]);
    i->bulk.blocks = NO_SLOT;
    if (multicast) {
        const struct ptx_operand *blocks = &source->operands[3 + sizes];
        i->bulk.blocks = source_slot(d, blocks, operand_lane_bytes(d, blocks, 4));
    }
    i->fn = op_bulk;
}

void decode_copy(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    struct words words = all_words(source);
    bool reduces = take_word(&words, "reduce"), async = take_word(&words, "async");
    if (!async) decode_fail(d, unknown_error(d), "only asynchronous copies are supported");
    if (take_word(&words, "bulk")) {
        if (take_word(&words, "prefetch")) { /* into L2, which the emulator does not have */
            if (take_word(&words, "tensor"))
                decode_tensor_prefetch(d, source, i);
            else
                decode_nothing(d, source, i);
            return;
        }
        if (!decode_groups(d, source, i, &words, true)) decode_bulk(d, source, i, &words, reduces);
        return;
    }
    if (take_word(&words, "mbarrier"))
        decode_copy_arrival(d, source, i, &words);
    else if (!decode_groups(d, source, i, &words, false))
        decode_copy_itself(d, source, i, &words);
}
