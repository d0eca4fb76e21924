/* decode_mbarrier.c — mbarrier.… */
#include "decode_words.h"
#include "common/emu/machine/mbarrier.h"
#include <string.h>

/* What the emulator's order of things gives to every operation; but racecheck asks whether an arrival
 * releases, as it does if nothing is said. */
static const char *const hints[] = {"release", "relaxed", "acquire", "cta", "cluster", NULL};

/* d, [address]{, count}: expect_tx has bytes in its place */
static void decode_arrive(struct decoder *d, const struct ptx_instruction *source, struct insn *i,
                          struct words *words, bool drop)
{
    bool expects = take_word(words, "expect_tx");
    bool no_complete = take_word(words, "noComplete");
    refuse_rest(d, words);
    need_operands(d, source, expects || no_complete ? 3 : 2, 3);
    i->function = MBARRIER_ARRIVE;
    i->order = has_word(source, "relaxed") ? 0 : ORDER_RELEASE;
    i->result = (uint8_t)((drop ? ARRIVAL_DROP : 0) | (no_complete ? ARRIVAL_NO_COMPLETE : 0));
    if (source->operands[0].kind != PTX_SINK) i->d = destination_slot(d, &source->operands[0], 8);
    i->address = address_operand(d, &source->operands[1], i->address.space);
    if (source->operand_count == 3) {
        slot count = source_slot(d, &source->operands[2], 4);
        if (expects)
            i->c = count;
        else
            i->b = count;
    }
    i->fn = op_mbarrier;
}

/* p, [address], state or parity{, time}: the time limit is as good as any */
static void decode_test(struct decoder *d, const struct ptx_instruction *source, struct insn *i,
                        struct words *words, bool waits)
{
    i->flip_c = take_word(words, "parity");
    refuse_rest(d, words);
    need_operands(d, source, 3, waits ? 4 : 3);
    i->d = destination_slot(d, &source->operands[0], 0);
    i->address = address_operand(d, &source->operands[1], i->address.space);
    i->b = source_slot(d, &source->operands[2], i->flip_c ? 4 : 8);
    if (!waits) {
        i->fn = op_mbarrier_test;
        return;
    }
    i->control = CONTROL_WAIT_MBARRIER;
}

void decode_mbarrier(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    static const struct {
        const char *word;
        uint8_t function, values;
    } plain[] = {{"init", MBARRIER_INIT, 1},
                 {"inval", MBARRIER_INVAL, 0},
                 {"expect_tx", MBARRIER_EXPECT, 1},
                 {"complete_tx", MBARRIER_COMPLETE, 1}};
    struct words words = all_words(source);
    if (take_type(&words) != PTX_B64) decode_fail(d, EMU_INVALID_PTX, "it is for .b64");
    if (take_word(&words, "pending_count")) {
        refuse_rest(d, &words);
        need_operands(d, source, 2, 2);
        i->d = destination_slot(d, &source->operands[0], 4);
        i->a = source_slot(d, &source->operands[1], 8);
        i->fn = op_mbarrier_pending;
        return;
    }
    drop_words(&words, hints);
    i->address.space = (uint8_t)take_space(&words);
    if (take_word(&words, "arrive")) {
        decode_arrive(d, source, i, &words, false);
        return;
    }
    if (take_word(&words, "arrive_drop")) {
        decode_arrive(d, source, i, &words, true);
        return;
    }
    bool waits = take_word(&words, "try_wait");
    if (waits || take_word(&words, "test_wait")) {
        decode_test(d, source, i, &words, waits);
        return;
    }
    for (size_t k = 0; k < sizeof plain / sizeof *plain; k++) {
        if (!take_word(&words, plain[k].word)) continue;
        refuse_rest(d, &words);
        need_operands(d, source, 1u + plain[k].values, 1u + plain[k].values);
        i->address = address_operand(d, &source->operands[0], i->address.space);
        i->function = plain[k].function;
        if (plain[k].values) {
            slot value = source_slot(d, &source->operands[1], 4);
            if (i->function == MBARRIER_INIT)
                i->b = value;
            else
                i->c = value;
        }
        i->fn = op_mbarrier;
        return;
    }
    decode_fail(d, EMU_UNSUPPORTED_PTX, "this operation on an mbarrier is not supported");
}
