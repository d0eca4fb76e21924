/* decode_tensor.c — bulk copies of tensors (TMA with a tensor map): decodes what other bulk copies
 * do not have. The rest is in decode_copy.c. */
#include "decode_words.h"
#include "operations.h"
#include "warp_ops.h"
#include <string.h>

/* All modes but .tile have further operands. */
static void refuse_modes(struct decoder *d, const struct ptx_instruction *source)
{
    static const char *const modes[] = {"im2col", "tile::"};
    for (unsigned n = 1; n < source->word_count; n++)
        for (size_t k = 0; k < sizeof modes / sizeof *modes; k++)
            if (!strncmp(source->words[n], modes[k], strlen(modes[k])))
                decode_fail(d, EMU_UNSUPPORTED_PTX,
                            "the emulator has no copies of tensors by .%s; copy tiles (.tile) "
                            "instead",
                            source->words[n]);
}

/* The operand [tensor map, {coordinates}]: the first one, or the second if the first is an address
 * of shared memory. */
static const struct ptx_operand *map_operand(struct decoder *d,
                                             const struct ptx_instruction *source)
{
    for (unsigned n = 0; n < 2 && n < source->operand_count; n++) {
        const struct ptx_operand *operand = &source->operands[n];
        const struct ptx_operand *base = operand->kind == PTX_ADDRESS ? operand->base : NULL;
        if (base && base->other && !operand->offset &&
            (base->kind == PTX_REGISTER || base->kind == PTX_SYMBOL))
            return operand;
    }
    decode_fail(d, EMU_INVALID_PTX, "[tensor map, {coordinates}] is missing");
}

void take_tensor(struct decoder *d, struct words *words, struct insn *i)
{
    static const char *const ranks[] = {"1d", "2d", "3d", "4d", "5d"};
    const struct ptx_instruction *source = words->source;
    refuse_modes(d, source);
    take_word(words, "tensor");
    take_word(words, "tile");
    for (unsigned k = 0; k < sizeof ranks / sizeof *ranks; k++)
        if (take_word(words, ranks[k])) i->bulk.rank = (uint8_t)(k + 1);
    const struct ptx_operand *all = map_operand(d, source)->base->other;
    check_operand(d, all, PTX_S32, false);
    if (!i->bulk.rank || all->kind != PTX_VECTOR || all->count != i->bulk.rank)
        decode_fail(d, EMU_INVALID_PTX, "it is .1d to .5d, with a coordinate for each dimension");
    slot *coordinates = decode_take(d, all->count * sizeof *coordinates);
    for (unsigned k = 0; k < all->count; k++) coordinates[k] = source_slot(d, all->items[k], 4);
    i->bulk.coordinates = coordinates;
    if (strcmp(source->words[1], "reduce")) return;
    take_atomic_operation(d, words, i);
    if (i->atomic.operation == ATOMIC_EXCHANGE || i->atomic.operation == ATOMIC_CAS)
        decode_fail(d, EMU_INVALID_PTX, "it does not exchange");
    i->element_bytes = 1; /* what a record counts as an element: see event_bulk_issued() */
}

/* cp.async.bulk.prefetch.tensor.dim.L2.global{.tile}{.L2::cache_hint} [map, {…}]{, policy} */
void decode_tensor_prefetch(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    static const char *const others[] = {"async",  "bulk", "prefetch",       "L2",
                                         "global", "tile", "L2::cache_hint", NULL};
    struct words words = all_words(source);
    unsigned operands = has_word(source, "L2::cache_hint") ? 2 : 1;
    drop_words(&words, others);
    take_tensor(d, &words, i);
    refuse_rest(d, &words);
    need_operands(d, source, operands, operands);
    i->family = FAMILY_BULK;
    i->bulk.to = address_operand(d, map_operand(d, source), PTX_GLOBAL);
    i->bulk.blocks = NO_SLOT;
    i->fn = op_tensor_prefetch;
}

/* prefetch{.space}{.level} [a] has no effect. prefetch.tensormap [a], with a generic address,
 * checks the map. */
void decode_prefetch(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    if (source->word_count != 2 || strcmp(source->words[1], "tensormap")) {
        decode_nothing(d, source, i);
        return;
    }
    need_operands(d, source, 1, 1);
    i->family = FAMILY_BULK;
    i->bulk.to = address_operand(d, &source->operands[0], PTX_GLOBAL);
    need_long_address(d, &i->bulk.to);
    i->bulk.blocks = NO_SLOT;
    i->fn = op_tensor_prefetch;
}
