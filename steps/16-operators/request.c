/*
 * request.c — the options that only step 16 has, which of them go together, and where sequences
 * begin.
 */
#include "common/files/option_table.h"
#include "common/step/element.h"
#include "request.h"

#include <math.h>
#include <string.h>

#define KEEP_DEFAULT 0.9

const struct operator_facts operator_facts[OPERATORS] = {
    [OP_SUM] = {"sum", OP_SUM, "sum", "random integers"},
    [OP_PRODUCT] = {"product", OP_PRODUCT, "product", "random factors"},
    [OP_MAX] = {"max", OP_MAX, "max", "a random walk"},
    [OP_MIN] = {"min", OP_MIN, "min", "a random walk"},
    [OP_XOR] = {"xor", OP_XOR, "xor", "random bits"},
    [OP_LOGSUMEXP] = {"logsumexp", OP_LOGSUMEXP, "logsumexp", "random, from -8 to 8"},
    [OP_AFFINE] = {"affine", OP_AFFINE, "affine", "random, from -1 to 1"},
    [OP_EMA] = {"ema", OP_EMA, "decay", "random, from -1 to 1"},
    [OP_DISCOUNT] = {"discount", OP_DISCOUNT, "decay", "random, from -1 to 1"},
    [OP_SEGMENTED_SUM] = {"segmented-sum", OP_SUM, "sum", "random integers"},
    [OP_SEGMENTED_MAX] = {"segmented-max", OP_MAX, "max", "a random walk"},
    [OP_BRACKETS] = {"brackets", OP_BRACKETS, "brackets", "a random text"},
    [OP_SIGHT] = {"line-of-sight", OP_SIGHT, "sight", "a random walk"},
};

const char *const head_names[] = {[UPSWEEP_HEADS_BYTES] = "bytes",
                                  [UPSWEEP_HEADS_BITS] = "bits",
                                  [UPSWEEP_HEADS_KEYS] = "keys",
                                  [UPSWEEP_HEADS_OFFSETS] = "offsets"};

/* ---- options --------------------------------------------------------------------------------- */

static const char *set_op(void *self, const char *value)
{
    for (int op = 0; op < OPERATORS; op++)
        if (strcmp(value, operator_facts[op].name) == 0) {
            ((struct request *)self)->op = (enum operator_kind)op;
            return NULL;
        }
    return "this operator is unknown; choose sum, product, max, min, xor, logsumexp, affine, ema, "
           "discount, segmented-sum, segmented-max, brackets or line-of-sight.";
}

static const char *set_keep(void *self, const char *value)
{
    struct request *r = self;
    r->keep_given = true;
    bool right = option_real(value, &r->keep) && r->keep >= 0 && r->keep <= 1;
    return right ? NULL : "give a number from 0 to 1.";
}

static const char *set_shape(void *self, const char *value)
{
    struct request *r = self;
    size_t n;
    bool right = size_pair(value, &r->rows, &r->columns) &&
                 !__builtin_mul_overflow(r->rows, r->columns, &n);
    return right ? NULL : "give the numbers of rows and columns, such as 1000x64.";
}

static const char *set_along(void *self, const char *value)
{
    uint64_t axis;
    if (!option_whole(value, 1, &axis)) return "choose 0, down the columns, or 1, along the rows.";
    ((struct request *)self)->along = (int)axis;
    return NULL;
}

static const char *set_heads(void *self, const char *value)
{
    for (int kind = UPSWEEP_HEADS_BYTES; kind <= UPSWEEP_HEADS_OFFSETS; kind++)
        if (strcmp(value, head_names[kind]) == 0) {
            ((struct request *)self)->kind = (enum upsweep_heads)kind;
            return NULL;
        }
    return "this kind is unknown; choose bytes, bits, keys or offsets.";
}

static const char *set_every(void *self, const char *value)
{
    bool right = size_whole(value, &((struct request *)self)->every);
    return right ? NULL : "give a number of elements, from 1 on.";
}

#define MEMBER(name) .member = offsetof(struct request, name)
const struct step_option operators_options[] = {
    {"op", "NAME", "the operator: one of those below (default max)", .set = set_op},
    {"type", "T", "f32, f64, i32, i64, u32 or u64 (default: a .npy file's, or f32; xor: u32)",
     MEMBER(type)},
    {"keep", "X", "h = X h + take x; take is 1 - X for ema and 1 for discount (default 0.9)",
     .set = set_keep},
    {"reverse", NULL, "scan from the last element to the first", MEMBER(reverse)},
    {"initial", "X", "a result that comes before each sequence", MEMBER(initial)},
    {"shape", "RxC", "R rows of C elements, one row after the other", .set = set_shape},
    {"along", "AXIS", "with --shape: 0 scans each column, 1 (default) each row", .set = set_along},
    {"heads", "KIND", "random sequences, given by bytes, bits, keys or offsets", .set = set_heads},
    {"every", "N", "with heads: about every N-th element begins a sequence (default 100)",
     .set = set_every},
    {"second", "FILE", "affine: b, where --input has a; line-of-sight: the distances",
     MEMBER(second)},
    {"partners", NULL, "brackets: the index of each bracket's partner, in place of the depth",
     MEMBER(partners)},
    {.name = NULL}};

/* ---- types ----------------------------------------------------------------------------------- */

/* Characters have 8 bits without a sign. */
static const char *short_name(enum element element)
{
    return element == ELEMENT_I8 ? "u8" : element_short(element);
}

/* The type of a function of the operator, "f32"; NULL: it belongs to another one. */
static const char *type_of(const struct scan_function *f, const char *functions)
{
    size_t length = strlen(functions);
    bool own = strncmp(f->name, functions, length) == 0 && f->name[length] == '_';
    return own ? f->name + length + 1 : NULL;
}

/* The operator's function for a type; NULL: its first one. Otherwise puts its types into `list`:
 * "f32, f64 or i64". */
static const struct scan_function *find(const char *functions, const char *type, char list[60])
{
    const char *types[8];
    int count = 0;
    for (const struct scan_function *f = scan_functions; f->name; f++) {
        const char *own = type_of(f, functions);
        if (own && (!type || strcmp(own, type) == 0)) return f;
        if (own) types[count++] = own;
    }
    *list = '\0';
    for (int i = 0; i < count; i++)
        strcat(strcat(list, i == 0 ? "" : i + 1 < count ? ", " : " or "), types[i]);
    return NULL;
}

/* That of --type, or that of a .npy file, or the operator's first. */
static int choose_type(struct request *r, const struct options *o, struct fault *fault)
{
    static const enum element types[] = {ELEMENT_F32, ELEMENT_F64, ELEMENT_I32,
                                         ELEMENT_I64, ELEMENT_U32, ELEMENT_U64};
    const struct operator_facts *op = &operator_facts[r->op];
    const char *type = r->type;
    char list[60];
    enum element in_file;
    if (op->plain == OP_BRACKETS) {
        if (r->type)
            return fail(fault, EXIT_USAGE, "--type: --op brackets takes characters; leave it out.");
        for (r->function = scan_functions; strcmp(r->function->name, "brackets");) r->function++;
        r->element = ELEMENT_I8, r->result = ELEMENT_I32;
        return 0;
    }
    if (!type && o->input && input_npy_type(o->input, &in_file)) type = element_short(in_file);
    r->function = find(op->functions, type, list);
    if (!r->function && r->type)
        return fail(fault, EXIT_USAGE, "--type %.20s: --op %s does not have it; %s %s.", type,
                    op->name, strchr(list, ' ') ? "choose" : "it has", list);
    if (!r->function)
        return fail(fault, EXIT_USAGE, "%s has elements of %s, and --op %s has %s; add --type.",
                    o->input, type, op->name, list);
    element_choose(type_of(r->function, op->functions), types, 6, &r->element);
    r->result = op->plain == OP_SIGHT ? ELEMENT_I32 : r->element;
    return 0;
}

/* ---- the initial value ----------------------------------------------------------------------- */

/* Is the text a number of the type? */
static bool read_initial(uint64_t *to, enum element element, const char *text)
{
    bool negative = *text == '-';
    uint64_t value;
    double real;
    if (element_is_real(element))
        return option_real(text, &real) &&
               element_store_real(element, to, 0, real) != CONVERT_OUT_OF_RANGE;
    if (element == ELEMENT_U32 || element == ELEMENT_U64)
        return option_whole(text, UINT64_MAX, &value) &&
               element_store_unsigned(element, to, 0, value) != CONVERT_OUT_OF_RANGE;
    return option_whole(text + negative, (uint64_t)INT64_MAX + negative, &value) &&
           element_store_integer(element, to, 0, (int64_t)(negative ? -value : value)) !=
               CONVERT_OUT_OF_RANGE;
}

static int check_initial(struct request *r, struct fault *fault)
{
    const char *text = r->initial;
    double value;
    if (!text) return 0;
    if (!read_initial(&r->initial_value, r->result, text))
        return fail(fault, EXIT_USAGE, "--initial \"%.60s\" is no number of type %s.", text,
                    short_name(r->result));
    if (r->plain == OP_BRACKETS && (int32_t)r->initial_value < 0)
        return fail(fault, EXIT_USAGE, "--initial %.60s: a depth is 0 or more.", text);
    if (r->plain != OP_AFFINE && r->plain != OP_EMA && r->plain != OP_DISCOUNT) return 0;
    element_to_doubles(r->result, &r->initial_value, 0, 1, &value);
    if (isfinite(value)) return 0;
    return fail(fault, EXIT_USAGE, "--initial %.60s: --op %s needs a finite one.", text,
                operator_facts[r->op].name);
}

/* ---- options together ------------------------------------------------------------------------ */

static int check_together(const struct request *r, const struct options *o, struct fault *fault)
{
    bool decays = r->plain == OP_EMA || r->plain == OP_DISCOUNT, sight = r->plain == OP_SIGHT;
    bool affine = r->plain == OP_AFFINE, whole = r->partners;
    bool segmented = r->plain != r->op, heads = r->kind != UPSWEEP_HEADS_NONE;
    bool keyed = r->kind == UPSWEEP_HEADS_BYTES || r->kind == UPSWEEP_HEADS_KEYS;
    const struct {
        bool asked;
        const char *sentence;
    } refused[] = {
        {r->keep_given && !decays, "--keep goes with --op ema and --op discount."},
        {sight && o->inclusive,
         "--inclusive: --op line-of-sight is always exclusive; leave it out."},
        {sight && r->initial, "--initial: --op line-of-sight has no initial value; leave it out."},
        {r->second && !*r->second, "--second: the file name is empty."},
        {r->second && !affine && !sight, "--second goes with --op affine and --op line-of-sight."},
        {r->second && !o->input, "--second goes with the first input; add --input FILE."},
        {r->second && o->input && !strcmp(r->second, "-") && !strcmp(o->input, "-"),
         "--input and --second cannot both be stdin."},
        {affine && o->input && !r->second,
         "--op affine has two inputs: --input has a; add --second FILE, which has b."},
        {whole && r->plain != OP_BRACKETS, "--partners goes with --op brackets."},
        {whole && r->rows, "--shape: --partners takes a whole text; leave it out."},
        {whole && heads, "--heads: --partners takes a whole text; leave it out."},
        {whole && r->reverse, "--reverse: --partners takes a whole text; leave it out."},
        {whole && r->initial, "--initial: --partners takes a whole text; leave it out."},
        {whole && o->inclusive, "--inclusive: --partners takes a whole text; leave it out."},
        {r->along >= 0 && !r->rows, "--along goes with --shape RxC."},
        {r->rows && o->n_given, "--n and --shape exclude each other; both say how many."},
        {r->rows && segmented, "--shape and a segmented operator exclude each other; both say "
                               "where sequences begin."},
        {r->rows && heads,
         "--shape and --heads exclude each other; both say where sequences begin."},
        {keyed && r->plain != OP_SUM && r->plain != OP_MAX,
         "--heads: bytes and keys are for sums and maxima; this operator takes bits and offsets."},
        {r->every && !heads && !segmented, "--every goes with --heads or a segmented operator."},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (refused[i].asked) return fail(fault, EXIT_USAGE, "%s", refused[i].sentence);
    return 0;
}

int operators_check_count(const struct request *r, size_t n, struct fault *fault)
{
    if (!r->partners || n <= INT32_MAX) return 0;
    return fail(fault, EXIT_USAGE, "--partners takes at most 2^31 - 1 characters; these are %zu.",
                n);
}

int operators_check(struct request *r, const struct options *o, struct fault *fault)
{
    r->inclusive = o->inclusive, r->seed = o->seed, r->offset = o->offset;
    r->plain = operator_facts[r->op].plain;
    int code = check_together(r, o, fault);
    if (!code && !o->input) code = operators_check_count(r, o->n, fault);
    if (!code) code = choose_type(r, o, fault);
    if (!code) code = check_initial(r, fault);
    if (code) return code;
    if (r->plain != r->op && r->kind == UPSWEEP_HEADS_NONE) r->kind = UPSWEEP_HEADS_BYTES;
    if (r->rows && r->along < 0) r->along = 1;
    /* 1 - keep is exact for the keep that the type holds, if keep is 1/2 or more. */
    bool single = r->element == ELEMENT_F32;
    if (!r->keep_given) r->keep = KEEP_DEFAULT;
    if (single) r->keep = (double)(float)r->keep;
    r->take = r->plain == OP_EMA ? 1 - r->keep : 1;
    if (single) r->take = (double)(float)r->take;
    return 0;
}

/* ---- where sequences begin ------------------------------------------------------------------- */

/* Each element but the first begins a sequence with the probability 1 / every. That of element i
 * depends on the seed and i alone, so heads need no memory until an array of them is asked for. */

#define OTHER_SEED 0x5CA9 /* heads are independent of the elements */

static uint64_t random_bits(uint64_t seed, uint64_t i) /* SplitMix64 */
{
    uint64_t z = (seed ^ OTHER_SEED) * 0xD1342543DE82EF95u + (i + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

bool operators_begins(const struct request *r, size_t i)
{
    if (i == 0) return true;
    if (r->rows) return i % r->columns == 0;
    if (r->kind == UPSWEEP_HEADS_NONE) return false;
    return random_bits(r->seed, i) % (r->every ? r->every : EVERY_DEFAULT) == 0;
}

bool operators_is_first(const struct request *r, size_t i, size_t n)
{
    if (!r->reverse) return operators_begins(r, i);
    return i + 1 == n || operators_begins(r, i + 1);
}
