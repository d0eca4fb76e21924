/* decode_control.c — branches, exits, barriers, fences. */
#include "decode_words.h"
#include "operations.h"
#include "warp_ops.h"
#include <string.h>

void decode_branch(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    static const char *const dropped[] = {"uni", NULL};
    struct words words = all_words(source);
    drop_words(&words, dropped);
    refuse_rest(d, &words);
    need_operands(d, source, 1, 1);
    if (source->operands[0].kind != PTX_LABEL)
        decode_fail(d, EMU_INVALID_PTX, "label '%s' is not defined",
                    source->operands[0].name ? source->operands[0].name : "?");
    i->control = CONTROL_BRANCH;
    i->target = source->operands[0].index;
}

/* brx.idx index, TABLE; */
void decode_branch_table(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    static const char *const dropped[] = {"idx", "uni", NULL};
    struct words words = all_words(source);
    drop_words(&words, dropped);
    refuse_rest(d, &words);
    need_operands(d, source, 2, 2);
    const char *name = source->operands[1].name;
    for (size_t t = 0; name && t < d->function->table_count; t++) {
        const struct ptx_branch_table *table = &d->function->tables[t];
        if (strcmp(table->name, name)) continue;
        uint32_t *targets = decode_take(d, (table->targets->count + 1) * sizeof *targets);
        for (unsigned k = 0; k < table->targets->count; k++) {
            if (table->targets->items[k]->kind != PTX_LABEL)
                decode_fail(d, EMU_INVALID_PTX, "a target in table '%s' is no label", name);
            targets[k] = table->targets->items[k]->index;
        }
        i->control = CONTROL_TABLE;
        i->targets = targets;
        i->target = table->targets->count;
        i->a = source_slot(d, &source->operands[0], 4);
        return;
    }
    decode_fail(d, EMU_INVALID_PTX, "table '%s' is not defined", name ? name : "?");
}

void decode_exit(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    static const char *const dropped[] = {"uni", NULL};
    struct words words = all_words(source);
    drop_words(&words, dropped);
    refuse_rest(d, &words);
    need_operands(d, source, 0, 0);
    i->control = CONTROL_EXIT;
}

/* bar.red.popc.u32 d, n[, threads], p; bar.red.and.pred q, n[, threads], p; or */
static void decode_barrier_reduction(struct decoder *d, const struct ptx_instruction *source,
                                     struct insn *i, struct words *words)
{
    i->function = take_word(words, "popc")  ? BARRIER_COUNT
                  : take_word(words, "and") ? BARRIER_AND
                  : take_word(words, "or")  ? BARRIER_OR
                                            : BARRIER_NOTHING;
    enum ptx_type type = take_type(words);
    refuse_rest(d, words);
    if (i->function == BARRIER_NOTHING || (i->function == BARRIER_COUNT) != (type == PTX_U32))
        decode_fail(d, EMU_UNSUPPORTED_PTX, "this kind of barrier is not supported");
    need_operands(d, source, 3, 4);
    i->control = CONTROL_BARRIER;
    i->tally = TALLY_BARRIER;
    i->d = destination_slot(d, &source->operands[0], type == PTX_U32 ? 4 : 0);
    i->a = source_slot(d, &source->operands[1], 4);
    if (source->operand_count == 4) i->b = source_slot(d, &source->operands[2], 4);
    const struct ptx_operand *predicate = &source->operands[source->operand_count - 1];
    i->c = source_slot(d, predicate, 0);
    i->flip_c = predicate->negated;
}

/* bar.sync n[, threads]; barrier.sync; bar.arrive n, threads; bar.warp.sync mask */
void decode_barrier(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    static const char *const dropped[] = {"cta", "aligned", NULL};
    struct words words = all_words(source);
    drop_words(&words, dropped);
    if (take_word(&words, "warp")) {
        take_word(&words, "sync");
        refuse_rest(d, &words);
        need_operands(d, source, 1, 1);
        i->control = CONTROL_WARP_SYNC;
        i->members = source_slot(d, &source->operands[0], 4);
        i->fn = op_find("nothing")->fn;
        return;
    }
    bool arrive = take_word(&words, "arrive");
    if (!arrive && take_word(&words, "red")) {
        decode_barrier_reduction(d, source, i, &words);
        return;
    }
    if (!arrive && !take_word(&words, "sync")) /* barrier.cluster */
        decode_fail(d, EMU_UNSUPPORTED_PTX, "this kind of barrier is not supported");
    refuse_rest(d, &words);
    need_operands(d, source, arrive ? 2 : 1, 2);
    i->control = arrive ? CONTROL_ARRIVE : CONTROL_BARRIER;
    i->a = source_slot(d, &source->operands[0], 4);
    if (source->operand_count == 2) i->b = source_slot(d, &source->operands[1], 4);
    i->tally = TALLY_BARRIER;
}

/* Fences order memory accesses; here they are in order already. */
void decode_fence(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    static const char *const dropped[] = {"sc",      "acq_rel", "acquire", "release", "cta",
                                          "cluster", "gpu",     "gl",      "sys",     NULL};
    struct words words = all_words(source);
    drop_words(&words, dropped);
    refuse_rest(d, &words);
    need_operands(d, source, 0, 0);
    i->fn = op_find("nothing")->fn;
}

void decode_nothing(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    (void)source;
    i->fn = op_find("nothing")->fn;
    (void)d;
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

void decode_call(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    const struct ptx_operand *name = NULL;
    for (unsigned k = 0; k < source->operand_count; k++)
        if (source->operands[k].kind == PTX_SYMBOL && !name) name = &source->operands[k];
    (void)i;
    decode_fail(d, EMU_UNSUPPORTED_PTX,
                "calls of functions that were not inlined ('%s') are not supported",
                name ? name->name : "by pointer");
}
