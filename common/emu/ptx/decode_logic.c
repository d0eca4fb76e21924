/* decode_logic.c — decodes lop3 with a predicate as a second result. */
#include "decode_words.h"
#include "operations.h"

/* lop3.or.b32 d|p, a, b, c, table, q: p = (d != 0) or q */
void decode_lop3(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    struct words words = all_words(source);
    enum combine combine = take_word(&words, "and")  ? COMBINE_AND
                           : take_word(&words, "or") ? COMBINE_OR
                                                     : COMBINE_NONE;
    i->logic.predicate = i->logic.other = NO_SLOT;
    if (combine == COMBINE_NONE) {
        decode_arithmetic(d, source, i);
        i->family = FAMILY_LOGIC;
        return;
    }
    take_type(&words);
    refuse_rest(d, &words);
    need_operands(d, source, 6, 6);
    const struct ptx_operand *result = &source->operands[0], *q = &source->operands[5];
    if (!result->other) decode_fail(d, EMU_INVALID_PTX, "the predicate behind | is missing");
    i->d = destination_slot(d, result, 4);
    i->logic.predicate = second_destination_slot(d, result);
    i->a = source_slot(d, &source->operands[1], 4);
    i->b = source_slot(d, &source->operands[2], 4);
    i->c = source_slot(d, &source->operands[3], 4);
    i->family = FAMILY_LOGIC;
    i->logic.table = (uint8_t)immediate(d, &source->operands[4]);
    i->logic.combine = (uint8_t)combine;
    i->logic.other = predicate_slot(d, q, &i->logic.negated);
    i->fn = op_find("lop3.predicate")->fn;
}
