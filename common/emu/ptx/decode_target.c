/*
 * decode_target.c — the least .target that instructions need: with a lower one, the text is wrong
 * PTX. As in ptxas, this does not depend on the GPU that runs the text. The shapes of mma and wmma
 * have a table of their own (decode_matrix.c).
 */
#include "decode_words.h"
#include <string.h>

/* A word is a modifier. NULL: the row is for every opcode, or for every form of the opcode. */
/* clang-format off */
static const struct {
    const char *opcode, *word;
    unsigned target;
} least[] = {
    {"dp4a", NULL, 61},              {"dp2a", NULL, 61},
    {"fence", NULL, 70},             {"match", NULL, 70},
    {"nanosleep", NULL, 70},         {"bmsk", NULL, 70},
    {"szext", NULL, 70},             {NULL, "relaxed", 70},
    {NULL, "acquire", 70},           {NULL, "release", 70},
    {NULL, "acq_rel", 70},           {"tanh", NULL, 75},
    {"cp", NULL, 80},                {"mbarrier", NULL, 80},
    {"redux", NULL, 80},             {"createpolicy", NULL, 80},
    {"discard", NULL, 80},           {"applypriority", NULL, 80},
    {NULL, "L2::cache_hint", 80},    {NULL, "NaN", 80},
    {NULL, "bf16", 80},              {NULL, "bf16x2", 80},
    {NULL, "tf32", 80},              {NULL, "e4m3x2", 89},
    {NULL, "e5m2x2", 89},            {"add", "bf16", 90},
    {"sub", "bf16", 90},             {"mul", "bf16", 90},
    {NULL, "bulk", 90},              {NULL, "try_wait", 90},
    {NULL, "expect_tx", 90},         {NULL, "complete_tx", 90},
    {NULL, "cluster", 90},           {NULL, "shared::cluster", 90},
    {"mapa", NULL, 90},              {"getctarank", NULL, 90},
    {"elect", NULL, 90},             {"griddepcontrol", NULL, 90},
    {"st", "async", 90},             {"red", "async", 90},
    {"fence", "async", 90},          {"fence", "mbarrier_init", 90},
    {NULL, "u16x2", 90},             {NULL, "s16x2", 90},
    {"add", "bf16x2", 90},           {"sub", "bf16x2", 90},
    {"mul", "bf16x2", 90},           {"atom", "bf16", 90},
    {"red", "bf16", 90},             {"atom", "bf16x2", 90},
    {"red", "bf16x2", 90},           {"atom", "b128", 90},
    {"atom", "v2", 90},              {"atom", "v4", 90},
    {"red", "v2", 90},               {"red", "v4", 90},
    {"min", "f16", 80},              {"max", "f16", 80},
    {"min", "f16x2", 80},            {"max", "f16x2", 80},
    {"ex2", "f16", 75},              {"ex2", "f16x2", 75},
    {"cvt", "f16x2", 80},            {NULL, "L2::64B", 75},
    {NULL, "L2::128B", 75},          {NULL, "L2::256B", 80},
    {NULL, "relu", 80},              {NULL, "xorsign", 86},
    {"min", "relu", 90},             {"max", "relu", 90},
    {"ex2", "bf16", 90},             {"ex2", "bf16x2", 90},
    {"tanh", "bf16", 90},            {"tanh", "bf16x2", 90},
    {"set", "bf16", 90},             {"set", "bf16x2", 90},
    {"setp", "bf16", 90},            {"setp", "bf16x2", 90},
    {"mbarrier", "relaxed", 90},     {"fence", "tensormap::generic", 90},
    {"prefetch", "tensormap", 90},   {"prefetch", "L2::evict_last", 80},
    {"prefetch", "L2::evict_normal", 80},
};
/* clang-format on */
enum { GREATEST = 90 }; /* of the table: with this .target nothing is missing */

void need_target(struct decoder *d, unsigned target)
{
    if (d->function->target < target)
        decode_fail(d, EMU_INVALID_PTX,
                    "it needs .target sm_%u or higher, and the text has .target sm_%u", target,
                    d->function->target);
}

void check_target(struct decoder *d, const struct ptx_instruction *source)
{
    if (d->function->target >= GREATEST) return;
    for (size_t k = 0; k < sizeof least / sizeof *least; k++) {
        bool is_it = !least[k].opcode || !strcmp(least[k].opcode, source->words[0]);
        if (is_it && (!least[k].word || has_word(source, least[k].word)))
            need_target(d, least[k].target);
    }
}
