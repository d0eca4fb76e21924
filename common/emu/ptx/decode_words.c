#include "decode_words.h"
#include <string.h>

struct words all_words(const struct ptx_instruction *source)
{
    return (struct words){.source = source, .used = {true}};
}

bool take_word(struct words *words, const char *word)
{
    for (unsigned i = 1; i < words->source->word_count; i++)
        if (!words->used[i] && !strcmp(words->source->words[i], word)) return words->used[i] = true;
    return false;
}

bool has_word(const struct ptx_instruction *source, const char *word)
{
    for (unsigned i = 1; i < source->word_count; i++)
        if (!strcmp(source->words[i], word)) return true;
    return false;
}

void drop_words(struct words *words, const char *const *list)
{
    for (; *list; list++)
        while (take_word(words, *list)) continue;
}

enum ptx_type take_type(struct words *words)
{
    for (unsigned i = 1; i < words->source->word_count; i++) {
        enum ptx_type type = words->used[i] ? PTX_NONE : ptx_type_named(words->source->words[i]);
        if (type != PTX_NONE) {
            words->used[i] = true;
            return type;
        }
    }
    return PTX_NONE;
}

/* All that ptxas accepts for GPUs up to this one is known, but for what has a name in
 * decode_insn.c, and for these. */
enum { NEWEST_KNOWN = 90 };
static const char *const rare[][2] = {
    {"fma", "oob"},  {"cvt", "satfinite"}, {"addc", "u16"}, {"addc", "s16"},
    {"subc", "u16"}, {"subc", "s16"},      {"madc", "u16"}, {"madc", "s16"},
};

int unknown_error(const struct decoder *d)
{
    if (d->function->target > NEWEST_KNOWN) return EMU_UNSUPPORTED_PTX;
    for (size_t k = 0; k < sizeof rare / sizeof *rare; k++)
        if (!strcmp(d->at->words[0], rare[k][0]) && has_word(d->at, rare[k][1]))
            return EMU_UNSUPPORTED_PTX;
    return EMU_INVALID_PTX;
}

void unknown_operation(struct decoder *d)
{
    int error = unknown_error(d);
    decode_fail(d, error,
                error == EMU_INVALID_PTX ? "PTX has no such operation"
                                         : "the emulator does not know this operation");
}

void refuse_rest(struct decoder *d, struct words *words)
{
    for (unsigned i = 1; i < words->source->word_count; i++)
        if (!words->used[i])
            decode_fail(d, unknown_error(d), "modifier '.%s' is not supported",
                        words->source->words[i]);
}

void refuse_words_but(struct decoder *d, const struct ptx_instruction *source,
                      const char *const *list)
{
    struct words words = all_words(source);
    drop_words(&words, list);
    refuse_rest(d, &words);
}

void need_operands(struct decoder *d, const struct ptx_instruction *source, unsigned least,
                   unsigned most)
{
    if (source->operand_count < least || source->operand_count > most)
        decode_fail(d, EMU_INVALID_PTX, "%u operands, but %u%s expected", source->operand_count,
                    least, least == most ? " are" : " or more are");
}
