/*
 * decode_nothing.c — decodes the instructions that have no effect in the emulator, such as hints
 * for caches. Their forms are checked all the same: ptxas refuses one that is misspelt.
 */
#include "decode_words.h"
#include "operations.h"
#include <string.h>

enum { MOST_WORDS = 5 };

/* An instruction with the first of `needs` has to have the others, too, and may have those of
 * `may`. `operands` has a letter for each operand: a an address, s a number of bytes, or a constant
 * of ranges[]. */
static const struct quiet {
    const char *opcode, *needs[MOST_WORDS], *may[2], *operands;
} quiet[] = {
    {"prefetch", {"L1"}, {"global", "local"}, "a"},
    {"prefetch", {"L2"}, {"global", "local"}, "a"},
    {"prefetch", {"L2::evict_last"}, {"global"}, "a"},
    {"prefetch", {"L2::evict_normal"}, {"global"}, "a"},
    {"prefetch", {"tensormap"}, {"const", "param"}, "a"},
    {"prefetchu", {"L1"}, {NULL}, "a"},
    {"applypriority", {"L2::evict_normal"}, {"global"}, "al"},
    {"discard", {"L2"}, {"global"}, "al"},
    {"pmevent", {"mask"}, {NULL}, "m"},
    {"pmevent", {NULL}, {NULL}, "e"},
    {"griddepcontrol", {"wait"}, {NULL}, ""},
    {"griddepcontrol", {"launch_dependents"}, {NULL}, ""},
    {"setmaxnreg", {"inc", "sync", "aligned", "u32"}, {NULL}, "r"},
    {"setmaxnreg", {"dec", "sync", "aligned", "u32"}, {NULL}, "r"},
    {"cp", {"prefetch", "async", "bulk", "L2", "global"}, {"L2::cache_hint"}, "as"},
};

/* A constant is least, least + step, …, most. */
static const struct constant_range {
    char letter;
    int least, most, step;
    const char *says;
} ranges[] = {
    {'l', 128, 128, 1, "the number of bytes is 128"},
    {'e', 0, 15, 1, "an event is a number from 0 to 15"},
    {'m', 0, 65535, 1, "events are bits of a number from 0 to 65535"},
    {'s', 0, 1048560, 16, "the number of bytes is a multiple of 16, up to 1048560"},
    {'r', 24, 256, 8, "the number of registers is a multiple of 8, from 24 to 256"},
};

static const struct quiet *find_quiet(struct decoder *d, const struct ptx_instruction *source)
{
    for (size_t k = 0; k < sizeof quiet / sizeof *quiet; k++) {
        const char *word = quiet[k].needs[0];
        if (strcmp(quiet[k].opcode, source->words[0])) continue;
        if (!word || has_word(source, word)) return &quiet[k];
    }
    unknown_operation(d);
}

static void check_quiet_words(struct decoder *d, const struct ptx_instruction *source,
                              const struct quiet *q)
{
    struct words words = all_words(source);
    for (size_t k = 0; k < MOST_WORDS && q->needs[k]; k++)
        if (!take_word(&words, q->needs[k]))
            decode_fail(d, EMU_INVALID_PTX, "it needs .%s", q->needs[k]);
    for (size_t k = 0; k < sizeof q->may / sizeof *q->may && q->may[k]; k++)
        take_word(&words, q->may[k]);
    refuse_rest(d, &words);
}

static void check_quiet_operand(struct decoder *d, const struct ptx_instruction *source,
                                char letter, const struct ptx_operand *operand)
{
    if (letter == 'a') {
        struct words words = all_words(source);
        enum ptx_space space = take_space(&words);
        struct address address = address_operand(d, operand, space);
        need_long_address(d, &address);
    } else if (letter == 's') {
        check_operand(d, operand, PTX_U32, false);
        source_slot(d, operand, 4);
        if (operand->kind != PTX_INTEGER) return;
    }
    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++) {
        const struct constant_range *c = &ranges[k];
        if (c->letter != letter) continue;
        int64_t value = immediate(d, operand);
        if (value < c->least || value > c->most || (value - c->least) % c->step)
            decode_fail(d, EMU_INVALID_PTX, "%s", c->says);
    }
}

void decode_nothing(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    const struct quiet *q = find_quiet(d, source);
    unsigned operands = (unsigned)strlen(q->operands), policy = has_word(source, "L2::cache_hint");
    if (!strcmp(q->opcode, "setmaxnreg") && !d->function->is_specific)
        decode_fail(d, EMU_INVALID_PTX, "it needs .target sm_%ua", d->function->target);
    check_quiet_words(d, source, q);
    need_operands(d, source, operands + policy, operands + policy);
    for (unsigned k = 0; k < operands; k++)
        check_quiet_operand(d, source, q->operands[k], &source->operands[k]);
    if (policy) source_slot(d, &source->operands[operands], 8);
    i->fn = op_find("nothing")->fn;
}
