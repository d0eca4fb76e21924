/* decode_stack.c — decodes alloca, stacksave, stackrestore and createpolicy. */
#include "decode_words.h"
#include "operations.h"
#include "warp_ops.h"

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
static void decode_stack_move(struct decoder *d, const struct ptx_instruction *source,
                              struct insn *i, bool save)
{
    struct words words = all_words(source);
    if (take_type(&words) != PTX_U64)
        decode_fail(d, EMU_UNSUPPORTED_PTX, "only 64-bit addresses are supported");
    refuse_rest(d, &words);
    need_operands(d, source, 1, 1);
    i->d = save ? destination_slot(d, &source->operands[0], 8) : stack_top(d);
    i->a = save ? stack_top(d) : source_slot(d, &source->operands[0], 8);
    i->fn = op_find("mov.u64")->fn;
}

void decode_stack_save(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    decode_stack_move(d, source, i, true);
}

void decode_stack_restore(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    decode_stack_move(d, source, i, false);
}

/* createpolicy makes a number for accesses with .L2::cache_hint, which ignore it in the emulator.
 * */
void decode_policy(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    need_operands(d, source, 1, 4);
    i->d = destination_slot(d, &source->operands[0], 8);
    i->a = constant_slot(d, 0, 8);
    i->fn = op_find("mov.u64")->fn;
}
