/* decode_collective.c — decodes the operations by which lanes of a warp exchange values. */
#include "decode_words.h"
#include "warp_ops.h"
#include <string.h>

void take_members(struct decoder *d, const struct ptx_operand *mask, struct insn *i)
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
