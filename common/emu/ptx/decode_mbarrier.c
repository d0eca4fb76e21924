/* decode_mbarrier.c — decodes the instructions mbarrier.… */
#include "decode_words.h"
#include "warp_ops.h"
#include <string.h>

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
