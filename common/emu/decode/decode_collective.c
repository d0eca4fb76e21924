/* decode_collective.c — operations in which lanes of a warp exchange values. */
#include "decode_words.h"
#include "common/emu/machine/warp_ops.h"
#include <string.h>

void take_members(struct decoder *d, const struct ptx_operand *mask, struct insn *i)
{
    i->family = FAMILY_WARP;
    i->warp.members = source_slot(d, mask, 4);
    i->warp.predicate = NO_SLOT;
}

void decode_collective(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    struct words words = all_words(source);
    const char *opcode = source->words[0];
    unsigned mask_at = source->operand_count - 1;
    if (!take_word(&words, "sync"))
        decode_fail(d, EMU_UNSUPPORTED_PTX, "without .sync it does not exist on today's GPUs");
    need_operands(d, source, !strcmp(opcode, "elect") ? 2 : 3, 5);
    const struct ptx_operand *result = &source->operands[0], *value = &source->operands[1];
    i->control = CONTROL_CONVERGE;
    take_members(d, &source->operands[mask_at], i);

    static const struct {
        const char *opcode, *word;
        op_fn fn;
        uint8_t kind, operands;
        bool predicate_result, predicate_value;
    } kinds[] = {
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
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (strcmp(kinds[k].opcode, opcode) || !take_word(&words, kinds[k].word)) continue;
        enum ptx_type type = take_type(&words);
        refuse_rest(d, &words);
        need_operands(d, source, kinds[k].operands, kinds[k].operands);
        i->fn = kinds[k].fn;
        i->warp.shuffle = kinds[k].kind; /* or vote, or reduction: they share a byte */
        i->is_signed = ptx_type_is_signed(type);
        bool predicate = type == PTX_PRED;
        i->lane_bytes = predicate ? 0 : ptx_type_size(type) == 8 ? 8 : 4;
        if (predicate != kinds[k].predicate_result ||
            (i->lane_bytes == 8 && strcmp(opcode, "match")) || ptx_type_is_float(type))
            decode_fail(d, EMU_UNSUPPORTED_PTX, "it is not supported for .%s", ptx_type_name(type));
        i->d = destination_slot(d, result, kinds[k].predicate_result ? 0 : 4);
        if (result->other) i->warp.predicate = destination_slot(d, result->other, 0);
        i->a = source_slot(d, value, kinds[k].predicate_value ? 0 : i->lane_bytes);
        i->warp.negated = value->negated;
        if (kinds[k].operands == 5) {
            i->b = source_slot(d, &source->operands[2], 4);
            i->c = source_slot(d, &source->operands[3], 4);
        }
        return;
    }
    if (!strcmp(opcode, "elect")) {
        refuse_rest(d, &words);
        need_operands(d, source, 2, 2);
        i->d = destination_slot(d, result, 4);
        if (result->other) i->warp.predicate = destination_slot(d, result->other, 0);
        i->fn = op_elect;
        return;
    }
    decode_fail(d, EMU_UNSUPPORTED_PTX, "the emulator does not know this operation");
}
