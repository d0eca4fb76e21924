/* decode_forms.c — the forms that instructions have, and the least .target of each. */
#include "decode.h"
#include <string.h>

/* ---- the least .target ----------------------------------------------------------------------- */

/* The least .target that instructions need: with a lower one, the text is wrong
 * PTX. As in ptxas, this does not depend on the GPU that runs the text. The shapes of mma and wmma
 * have a table of their own (decode_matrix.c). */

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

/* ---- forms ----------------------------------------------------------------------------------- */

/* The forms that PTX's operations on registers have: which types, which modifiers
 * with each of them, and the types of the operands (PTX ISA, "Instruction Set"). As in ptxas, any
 * other form is wrong, even if its meaning could be guessed.
 *
 * An opcode without a row is not looked at here: the decoder of its family knows its forms. */

#define BITS      "b16 b32 b64"
#define UNSIGNED  "u16 u32 u64"
#define SIGNED    "s16 s32 s64"
#define INTEGERS  UNSIGNED " " SIGNED
#define PAIRS     " u16x2 s16x2"
#define ROUNDINGS "rn rz rm rp"
#define ORDERED   "eq ne lt le gt ge"
#define COMPARES  ORDERED " equ neu ltu leu gtu geu num nan"
#define COMBINES  "and or xor"
#define SCOPES    "cta cluster gpu sys"
#define HALVES    "f16 f16x2 bf16 bf16x2"
#define SHARED    "shared shared::cta shared::cluster"
#define READ_ONLY "const param param::entry"
#define OWN       "local " READ_ONLY
#define SPACES    "global " SHARED " " OWN
#define OPERATORS "ca cg cs lu cv wb wt"
#define L1_HINTS                                                                                   \
    "L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate"
#define PREFETCHES "L2::64B L2::128B L2::256B"

/* Each text is a list of words. The instruction needs one of `needs`, unless that is empty, and may
 * have each of `may`. `operands` has a letter for each operand, the destination first; NULL: all
 * have the form's type.
 *   t  the form's type          w  the same, but twice as wide with .wide
 *   o  the other type           u  a number of 32 bits           .  not looked at here */
/* clang-format off */
static const struct form {
    const char *opcodes, *types, *needs, *may, *operands;
} forms[] = {
    {"add sub",       INTEGERS PAIRS,      "",                 "sat cc",            NULL},
    {"addc subc",     INTEGERS,            "",                 "cc",                NULL},
    {"mul mad",       INTEGERS,            "lo hi wide",       "sat cc",            "wttw"},
    {"madc",          INTEGERS,            "lo hi",            "cc",                NULL},
    {"mul24 mad24",   "u32 s32",           "lo hi",            "sat",               NULL},
    {"div rem sad",   INTEGERS,            "",                 "",                  NULL},
    {"min max",       INTEGERS PAIRS,      "",                 "relu",              NULL},
    {"abs neg",       SIGNED,              "",                 "",                  NULL},
    {"popc clz",      "b32 b64",           "",                 "",                  "ut"},
    {"bfind",         "u32 u64 s32 s64",   "",                 "shiftamt",          "ut"},
    {"brev",          "b32 b64",           "",                 "",                  NULL},
    {"bfe",           "u32 u64 s32 s64",   "",                 "",                  "ttuu"},
    {"bfi",           "b32 b64",           "",                 "",                  "tttuu"},
    {"szext",         "u32 s32",           "wrap clamp",       "",                  "ttu"},
    {"bmsk",          "b32",               "wrap clamp",       "",                  "tuu"},
    {"shf",           "b32",               "wrap clamp",       "l r",               "tttu"},
    {"fns",           "b32",               "",                 "",                  NULL},
    {"dp4a",          "u32 s32",           "",                 "",                  "ttot"},
    {"dp2a",          "u32 s32",           "lo hi",            "",                  "ttot"},
    {"prmt",          "b32",               "",   "f4e b4e rc8 ecl ecr rc16",        NULL},
    {"lop3",          "b32",               "",                 "",                  NULL},
    {"and or xor not", BITS " pred",       "",                 "",                  NULL},
    {"cnot",          BITS,                "",                 "",                  NULL},
    {"shl",           BITS,                "",                 "",                  "ttu"},
    {"shr",           BITS " " INTEGERS,   "",                 "",                  "ttu"},
    {"mov",           BITS " " INTEGERS " f32 f64 pred", "",   "",                  NULL},
    {"selp",          BITS " " INTEGERS " f32 f64",      "",   "",                  "ttt."},
    {"slct",          BITS " " INTEGERS " f32 f64",      "",   "ftz",               "ttto"},
    {"set setp",      BITS,                "eq ne",            COMBINES,            "ott."},
    {"set setp",      UNSIGNED,            ORDERED " lo ls hi hs", COMBINES,        "ott."},
    {"set setp",      SIGNED,              ORDERED,            COMBINES,            "ott."},
    {"set setp",      "f32 f16 f16x2",     COMPARES,           COMBINES " ftz",     "ott."},
    {"set setp",      "f64 bf16 bf16x2",   COMPARES,           COMBINES,            "ott."},
    {"add sub mul",   "f32",               "",                 ROUNDINGS " ftz sat", NULL},
    {"add sub mul",   "f64",               "",                 ROUNDINGS,           NULL},
    {"add sub mul",   "f16 f16x2",         "",                 "rn ftz sat",        NULL},
    {"add sub mul",   "bf16 bf16x2",       "",                 "rn",                NULL},
    {"fma mad",       "f32",               ROUNDINGS,          "ftz sat",           NULL},
    {"fma mad",       "f64",               ROUNDINGS,          "",                  NULL},
    {"fma",           "f16 f16x2",         "rn",               "ftz sat relu",      NULL},
    {"fma",           "bf16 bf16x2",       "rn",               "relu",              NULL},
    {"div",           "f32",               ROUNDINGS " approx full", "ftz",         NULL},
    {"rcp sqrt",      "f32",               ROUNDINGS " approx", "ftz",              NULL},
    {"rcp",           "f64",               ROUNDINGS " approx", "ftz",              NULL},
    {"div sqrt",      "f64",               ROUNDINGS,          "",                  NULL},
    {"rsqrt",         "f32 f64",           "approx",           "ftz",               NULL},
    {"sin cos lg2 ex2", "f32",             "approx",           "ftz",               NULL},
    {"ex2",           "f16 f16x2",         "approx",           "",                  NULL},
    {"ex2",           "bf16 bf16x2",       "ftz",              "approx",            NULL},
    {"tanh",          "f32 f16 f16x2 bf16 bf16x2", "approx",   "",                  NULL},
    {"abs neg",       "f32 f16 f16x2",     "",                 "ftz",               NULL},
    {"abs neg",       "f64 bf16 bf16x2",   "",                 "",                  NULL},
    {"min max",       "f32 f16 f16x2",     "",                 "ftz NaN xorsign abs", NULL},
    {"min max",       "bf16 bf16x2",       "",                 "NaN xorsign abs",   NULL},
    {"min max",       "f64",               "",                 "",                  NULL},
    {"copysign",      "f32 f64",           "",                 "",                  NULL},
    {"testp",         "f32 f64", "finite infinite number notanumber normal subnormal", "", ".t"},
};

/* The sources of a set whose result has one of these types. */
static const struct set_result {
    const char *results, *types;
} set_results[] = {
    {"u16 s16", "f16 bf16"},
    {"f32",     BITS " " INTEGERS " f32 f64"},
    {"f16",     BITS " " INTEGERS " f32 f64 f16"},
    {"bf16",    BITS " " INTEGERS " f32 f64 f16 bf16"},
    {"f16x2",   "f16x2"},
    {"bf16x2",  "bf16x2"},
};

/* With one of `words` (NULL: always), an instruction needs one of `needs`, unless that is empty,
 * and has none of `excludes`. */
static const struct pair {
    const char *opcodes, *words, *needs, *excludes;
} pairs[] = {
    {"ld st",       "relaxed",               SCOPES,             ""},
    {"ld",          "acquire",               SCOPES,             ""},
    {"st",          "release",               SCOPES,             ""},
    {"fence",       "sc acq_rel acquire release", SCOPES,        ""},
    {"fence",       NULL,                    SCOPES " proxy",    ""},
    {"fence", "mbarrier_init sync_restrict::shared::cta", "release",
                                             "sc acq_rel acquire cta gpu sys"},
    {"fence",       "sync_restrict::shared::cluster", "acquire",
                                             "sc acq_rel release cta gpu sys"},
    {"fence",       "async::generic",        "cluster",          ""},
    {"ld st",       "relaxed acquire release", "",               OPERATORS " " OWN},
    {"ld st",       "volatile",              "",                 OPERATORS " " READ_ONLY},
    {"ld st",       "volatile mmio",         "",                 L1_HINTS " L2::cache_hint"},
    {"ld st",       "mmio",                  "",                 SHARED " " PREFETCHES},
    {"ld st",       SHARED " " OWN,          "",  L1_HINTS " L2::cache_hint " PREFETCHES},
    {"ld",          "nc",                    "global",           ""},
    {"ld",          NULL,                    "",                 "release acq_rel wb wt " HALVES},
    {"st",          NULL, "", "acquire acq_rel const nc ca lu cv " PREFETCHES " " HALVES},
    {"ldu",         NULL, "", "volatile relaxed acquire weak nc " SHARED " " OWN " " HALVES},
    {"ldu",         NULL, "", OPERATORS " " L1_HINTS " L2::cache_hint " PREFETCHES},
    {"set",         "bf16 bf16x2",           "",                 "ftz"},
    {"atom red",    NULL,                    "",                 "local const param"},
    {"red",         NULL,                    "",                 "acquire acq_rel exch cas"},
    {"atom red",    HALVES,                  "noftz",            ""},
    {"atom red",    "inc dec",               "u32",              ""},
    {"atom red",    "add",                   "",                 "s64 b16 b32 b64"},
    {"atom red",    "min max",               "",                 "b16 b32 b64"},
    {"atom red",    "and or xor",            "b32 b64",          ""},
    {"atom",        "exch cas",              "b16 b32 b64 b128", ""},
    {"cvta",        NULL,                    SPACES,             ""},
    {"barrier",     "wait",                  "",                 "release relaxed"},
    {"barrier",     "arrive",                "",                 "acquire"},
    {"membar",      NULL,                    "cta gl sys proxy", "cluster gpu sc acq_rel async"},
    {"mbarrier",    NULL,                    "",                 "global local"},
    {"mbarrier",    "init inval test_wait try_wait", "",         "shared::cluster"},
    {"mbarrier",    "test_wait try_wait",    "",                 "release"},
    {"mbarrier",    "arrive arrive_drop",    "",                 "acquire"},
    {"mbarrier",    "noComplete",            "",                 "relaxed cluster"},
    {"mbarrier",    "acquire release relaxed", "cta cluster",    ""},
    {"exit",        NULL,                    "",                 "uni"},
    {"nanosleep",   NULL,                    "u32",              ""},
};
/* clang-format on */

/* ---- lists of words -------------------------------------------------------------------------- */

/* Does a list have a word? */
static bool lists(const char *list, const char *word)
{
    while (*list) {
        const char *rest = word;
        while (*rest && *list == *rest) list++, rest++;
        if (!*rest && (*list == ' ' || !*list)) return true;
        while (*list && *list++ != ' ') continue;
    }
    return false;
}

/* The first modifier that is in a list; NULL: none is. */
static const char *one_of(const struct ptx_instruction *source, const char *list)
{
    for (unsigned k = 1; k < source->word_count; k++)
        if (lists(list, source->words[k])) return source->words[k];
    return NULL;
}

/* ---- what is refused ------------------------------------------------------------------------- */

/* Fails because a form is wrong, or is one of a newer GPU. */
static _Noreturn void refuse(struct decoder *d, const char *says, const char *word,
                             const char *with)
{
    if (unknown_error(d) != EMU_INVALID_PTX) unknown_operation(d);
    decode_fail(d, EMU_INVALID_PTX, "it %s .%s%s%s", says, word, *with ? " with ." : "", with);
}

/* Fails because one of the words of a list is missing. */
static _Noreturn void refuse_without(struct decoder *d, const char *list)
{
    char words[128] = "";
    for (size_t n = 0; *list && n + sizeof ", ." <= sizeof words; list++) {
        bool gap = *list == ' ';
        n += (size_t)snprintf(words + n, sizeof words - n, "%.*s", gap ? 3 : 1, gap ? ", ." : list);
    }
    refuse(d, strchr(words, ',') ? "needs one of" : "needs", words, "");
}

void check_pairs(struct decoder *d, const struct ptx_instruction *source)
{
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        const struct pair *p = &pairs[k];
        if (!lists(p->opcodes, source->words[0])) continue;
        const char *word = p->words ? one_of(source, p->words) : "";
        if (!word) continue;
        if (*p->needs && !one_of(source, p->needs)) refuse_without(d, p->needs);
        const char *wrong = one_of(source, p->excludes);
        if (wrong) refuse(d, "has no", wrong, word);
    }
}

void check_sink(struct decoder *d, const struct ptx_instruction *source)
{
    if (!source->operand_count || source->operands[0].kind != PTX_SINK) return;
    if (!lists("setp lop3 atom elect match mbarrier", source->words[0]) ||
        one_of(source, "any test_wait try_wait pending_count"))
        decode_fail(d, EMU_INVALID_PTX, "its result needs a register, not _");
}

/* The form of an opcode for a type; NULL: the opcode has no row. */
static const struct form *find_form(struct decoder *d, const char *opcode, enum ptx_type type)
{
    bool is_known = false;
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        if (!lists(forms[k].opcodes, opcode)) continue;
        if (lists(forms[k].types, ptx_type_name(type))) return &forms[k];
        is_known = true;
    }
    if (is_known) unknown_operation(d);
    return NULL;
}

static enum ptx_type twice_as_wide(enum ptx_type type)
{
    return ptx_type_size(type) == 8 ? PTX_B128 : type + 1;
}

static void check_operands(struct decoder *d, const struct ptx_instruction *source,
                           const struct form *form, enum ptx_type type, enum ptx_type other)
{
    size_t letters = form->operands ? strlen(form->operands) : SIZE_MAX;
    for (unsigned k = 0; k < source->operand_count && k < letters; k++) {
        char letter = form->operands ? form->operands[k] : 't';
        bool is_wide = letter == 'w' && has_word(source, "wide");
        enum ptx_type wanted = is_wide         ? twice_as_wide(type)
                               : letter == 'u' ? PTX_U32
                               : letter == 'o' ? other
                               : letter == '.' ? PTX_NONE
                                               : type;
        if (wanted != PTX_NONE) check_operand(d, &source->operands[k], wanted, false);
    }
}

static void check_set(struct decoder *d, enum ptx_type result, enum ptx_type type)
{
    const char *to = ptx_type_name(result), *from = ptx_type_name(type);
    for (size_t k = 0; k < sizeof set_results / sizeof *set_results; k++)
        if (lists(set_results[k].results, to) && !lists(set_results[k].types, from))
            refuse(d, "has no result", to, from);
}

void check_form(struct decoder *d, const struct ptx_instruction *source)
{
    struct words words = all_words(source);
    enum ptx_type type = take_type(&words), other = take_type(&words);
    if (!strcmp(source->words[0], "set")) { /* set.compare.result.type */
        enum ptx_type result = type;
        type = other;
        other = result;
        check_set(d, result, type);
    }
    const struct form *form = find_form(d, source->words[0], type);
    if (!form) return;
    bool has_other = form->operands && strchr(form->operands, 'o');
    if (other != PTX_NONE && !has_other) unknown_operation(d);
    for (unsigned k = 1; k < source->word_count; k++)
        if (!words.used[k] && !lists(form->needs, source->words[k]) &&
            !lists(form->may, source->words[k]))
            refuse(d, "has no", source->words[k], ptx_type_name(type));
    if (*form->needs && !one_of(source, form->needs)) refuse_without(d, form->needs);
    check_operands(d, source, form, type, other);
}

/* ---- conversions ----------------------------------------------------------------------------- */

/* A rounding is needed, or wrong, by what a conversion can lose; between .f16 and .bf16, and from
 * .bf16 to more bits, it is neither. */
static void check_rounding(struct decoder *d, enum ptx_type to, enum ptx_type from, bool is_rounded)
{
    size_t before = ptx_type_size(from), after = ptx_type_size(to);
    bool from_8_bits = from == PTX_E4M3X2 || from == PTX_E5M2X2;
    bool keeps_all = !ptx_type_is_float(to) || to == from ||
                     (ptx_type_is_float(from) && after > before && !from_8_bits);
    if (is_rounded && keeps_all && (from != PTX_BF16 || after == before))
        decode_fail(d, EMU_INVALID_PTX, "a conversion that loses nothing has no rounding");
    if (is_rounded || keeps_all) return;
    if (!ptx_type_is_float(from))
        decode_fail(d, EMU_INVALID_PTX, "a conversion from an integer needs .rn, .rz, .rm or .rp");
    if (before != 2 || after != 2)
        decode_fail(d, EMU_INVALID_PTX, "a conversion to fewer bits needs a rounding, such as .rn");
}

/* Does an integer type have all numbers of another? */
static bool has_all(enum ptx_type type, enum ptx_type of)
{
    if (ptx_type_is_float(type) || ptx_type_is_float(of)) return false;
    size_t bytes = ptx_type_size(type), needs = ptx_type_size(of);
    if (ptx_type_is_signed(type) != ptx_type_is_signed(of))
        return ptx_type_is_signed(type) && bytes > needs;
    return bytes >= needs;
}

/* .sat is wrong where nothing can be out of range; .relu follows a rounding of .f32 or pairs. */
static void check_clamp(struct decoder *d, const struct ptx_instruction *source, enum ptx_type to,
                        enum ptx_type from)
{
    const char *result = ptx_type_name(to), *type = ptx_type_name(from);
    bool has_sat = from != PTX_BF16 && !lists("bf16 bf16x2 f16x2 tf32", result);
    if (has_word(source, "sat") && (!has_sat || has_all(to, from)))
        refuse(d, "has no", "sat", type);
    if (!has_word(source, "relu")) return;
    if (!lists("f32 f16x2 e4m3x2 e5m2x2", type)) refuse(d, "has no", "relu", type);
    if (!one_of(source, "rn rz")) refuse_without(d, "rn rz");
}

void check_conversion(struct decoder *d, const struct ptx_instruction *source, enum ptx_type to,
                      enum ptx_type from)
{
    enum { FINITE_SINCE = 100 };
    enum { ALL_SINCE = 90 }; /* older GPUs convert .bf16 only from and to .f32, and round by .rna */
    bool is_bf16 = (to == PTX_BF16 && from != PTX_F32) || (from == PTX_BF16 && to != PTX_F32);
    bool to_tf32 = to == PTX_TF32, to_8_bits = to == PTX_E4M3X2 || to == PTX_E5M2X2;
    if (is_bf16 || (to_tf32 && !has_word(source, "rna"))) need_target(d, ALL_SINCE);
    check_clamp(d, source, to, from);
    if (to_tf32 && !has_word(source, "rna") && has_word(source, "satfinite"))
        need_target(d, FINITE_SINCE);
    if (to_8_bits && !has_word(source, "satfinite")) refuse_without(d, "satfinite");
    if (has_word(source, "ftz") && to != PTX_F32 && from != PTX_F32)
        decode_fail(d, EMU_INVALID_PTX, "only conversions from or to .f32 have .ftz");
    if (!one_of(source, "rni rzi rmi rpi"))
        check_rounding(d, to, from, one_of(source, ROUNDINGS " rna") != NULL);
    for (unsigned k = 0; k < source->operand_count; k++)
        check_operand(d, &source->operands[k], k == 0 ? to : from, !is_bf16);
}
