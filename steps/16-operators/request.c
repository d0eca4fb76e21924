/*
 * request.c — the options that only step 16 has, and which of them go together.
 */
#include "common/files/option_table.h"
#include "common/step/element.h"
#include "request.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KEEP_DEFAULT 0.9

#define REALS    {ELEMENT_F32, ELEMENT_F64}, 2
#define SIGNED   {ELEMENT_F32, ELEMENT_F64, ELEMENT_I32, ELEMENT_I64}, 4
#define NO_INT32 {ELEMENT_F32, ELEMENT_F64, ELEMENT_I64}, 3
#define UNSIGNED {ELEMENT_U32, ELEMENT_U64}, 2
#define TEXT     {ELEMENT_I8}, 1
#define HEIGHTS  {ELEMENT_F32}, 1
const struct operator_facts operator_facts[OPERATORS] = {
    [OP_SUM] = {"sum", OP_SUM, SIGNED, true, false, "random integers"},
    [OP_PRODUCT] = {"product", OP_PRODUCT, NO_INT32, false, false, "random factors"},
    [OP_MAX] = {"max", OP_MAX, SIGNED, true, false, "a random walk"},
    [OP_MIN] = {"min", OP_MIN, SIGNED, false, false, "a random walk"},
    [OP_XOR] = {"xor", OP_XOR, UNSIGNED, false, false, "random bits"},
    [OP_LOGSUMEXP] = {"logsumexp", OP_LOGSUMEXP, REALS, false, false, "random, from -8 to 8"},
    [OP_AFFINE] = {"affine", OP_AFFINE, REALS, false, true, "random, from -1 to 1"},
    [OP_EMA] = {"ema", OP_EMA, REALS, false, false, "random, from -1 to 1"},
    [OP_DISCOUNT] = {"discount", OP_DISCOUNT, REALS, false, false, "random, from -1 to 1"},
    [OP_SEGMENTED_SUM] = {"segmented-sum", OP_SUM, SIGNED, true, false, "random integers"},
    [OP_SEGMENTED_MAX] = {"segmented-max", OP_MAX, SIGNED, true, false, "a random walk"},
    [OP_BRACKETS] = {"brackets", OP_BRACKETS, TEXT, false, false, "a random text"},
    [OP_SIGHT] = {"line-of-sight", OP_SIGHT, HEIGHTS, false, true, "a random walk"},
};

static const enum element types[] = {ELEMENT_F32, ELEMENT_F64, ELEMENT_I32,
                                     ELEMENT_I64, ELEMENT_U32, ELEMENT_U64};
enum { TYPES = sizeof types / sizeof *types };

const char *const head_names[] = {[SCAN_HEADS_BYTES] = "bytes",
                                  [SCAN_HEADS_BITS] = "bits",
                                  [SCAN_HEADS_KEYS] = "keys",
                                  [SCAN_HEADS_OFFSETS] = "offsets"};

/* ---- options --------------------------------------------------------------------------------- */

static const char *set_op(void *self, const char *value)
{
    struct request *r = self;
    for (int op = 0; op < OPERATORS; op++)
        if (strcmp(value, operator_facts[op].name) == 0) {
            r->op = (enum operator_kind)op;
            return NULL;
        }
    return "this operator is unknown; choose sum, product, max, min, xor, logsumexp, affine, ema, "
           "discount, segmented-sum, segmented-max, brackets or line-of-sight.";
}

static const char *set_type(void *self, const char *value)
{
    struct request *r = self;
    enum element element;
    if (!element_choose(value, types, TYPES, &element))
        return "this type is unknown; choose f32, f64, i32, i64, u32 or u64.";
    r->type = element_short(element);
    return NULL;
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
    struct request *r = self;
    if (strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
        return "choose 0, down the columns, or 1, along the rows.";
    r->along = *value - '0';
    return NULL;
}

static const char *set_heads(void *self, const char *value)
{
    struct request *r = self;
    for (int kind = SCAN_HEADS_BYTES; kind <= SCAN_HEADS_OFFSETS; kind++)
        if (strcmp(value, head_names[kind]) == 0) {
            r->kind = (enum scan_heads)kind;
            return NULL;
        }
    return "this kind is unknown; choose bytes, bits, keys or offsets.";
}

static const char *set_every(void *self, const char *value)
{
    struct request *r = self;
    return size_whole(value, &r->every) ? NULL : "give a number of elements, from 1 on.";
}

static const char *set_second(void *self, const char *value)
{
    struct request *r = self;
    r->second = value;
    return *value ? NULL : "the file name is empty.";
}

#define MEMBER(name) offsetof(struct request, name)

const struct step_option operators_options[] = {
    {.name = "op",
     .argument = "NAME",
     .help = "the operator: one of those below (default max)",
     .set = set_op},
    {.name = "type",
     .argument = "T",
     .help = "f32, f64, i32, i64, u32 or u64 (default: a .npy file's, or f32; xor: u32)",
     .set = set_type},
    {.name = "keep",
     .argument = "X",
     .help = "h = X h + take x; take is 1 - X for ema and 1 for discount (default 0.9)",
     .set = set_keep},
    {.name = "reverse",
     .help = "scan from the last element to the first",
     .member = MEMBER(reverse)},
    {.name = "initial",
     .argument = "X",
     .help = "a result that comes before each sequence",
     .member = MEMBER(initial)},
    {.name = "shape",
     .argument = "RxC",
     .help = "R rows of C elements, one row after the other",
     .set = set_shape},
    {.name = "along",
     .argument = "AXIS",
     .help = "with --shape: 0 scans each column, 1 (default) each row",
     .set = set_along},
    {.name = "heads",
     .argument = "KIND",
     .help = "random sequences, given by bytes, bits, keys or offsets",
     .set = set_heads},
    {.name = "every",
     .argument = "N",
     .help = "with heads: about every N-th element begins a sequence (default 100)",
     .set = set_every},
    {.name = "second",
     .argument = "FILE",
     .help = "affine: b, where --input has a; line-of-sight: the distances",
     .set = set_second},
    {.name = "partners",
     .help = "brackets: the index of each bracket's partner, in place of the depth",
     .member = MEMBER(partners)},
    {.name = NULL}};

/* ---- types ----------------------------------------------------------------------------------- */

/* Characters have 8 bits without a sign. */
static const char *short_name(enum element element)
{
    return element == ELEMENT_I8 ? "u8" : element_short(element);
}

static bool takes_type(const struct operator_facts *op, enum element element)
{
    for (int i = 0; i < op->type_count; i++)
        if (op->types[i] == element) return true;
    return false;
}

/* "f32, f64 or i64" */
static void list_types(const struct operator_facts *op, char *text, size_t size)
{
    *text = '\0';
    for (int i = 0; i < op->type_count; i++) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s",
                 i == 0                   ? ""
                 : i + 1 < op->type_count ? ", "
                                          : " or ",
                 short_name(op->types[i]));
    }
}

/* That of --type, or that of a .npy file, or the operator's first. */
static int choose_type(struct request *r, const struct options *o, struct fault *fault)
{
    const struct operator_facts *op = &operator_facts[r->op];
    char list[60];
    enum element element = op->types[0];
    list_types(op, list, sizeof list);
    if (r->type && op->plain == OP_BRACKETS)
        return fail(fault, EXIT_USAGE, "--type: --op brackets takes characters; leave it out.");
    if (r->type) {
        element_choose(r->type, types, TYPES, &element);
        if (!takes_type(op, element))
            return fail(fault, EXIT_USAGE, "--type %s: --op %s does not have it; %s %s.", r->type,
                        op->name, op->type_count > 1 ? "choose" : "it has", list);
    } else if (o->input && op->plain != OP_BRACKETS && input_npy_type(o->input, &element) &&
               !takes_type(op, element)) {
        return fail(fault, EXIT_USAGE, "%s has elements of %s, and --op %s has %s; add --type.",
                    o->input, short_name(element), op->name, list);
    }
    r->element = element;
    r->result = op->plain == OP_BRACKETS || op->plain == OP_SIGHT ? ELEMENT_I32 : element;
    return 0;
}

/* ---- the initial value ----------------------------------------------------------------------- */

static bool read_initial(struct request *r, enum element element, const char *text,
                         enum conversion *how)
{
    bool negative = *text == '-';
    uint64_t value;
    if (element_is_real(element)) {
        double real;
        if (!option_real(text, &real)) return false;
        *how = element_store_real(element, &r->initial_value, 0, real);
    } else if (element == ELEMENT_U32 || element == ELEMENT_U64) {
        if (!option_whole(text, UINT64_MAX, &value)) return false;
        *how = element_store_unsigned(element, &r->initial_value, 0, value);
    } else {
        if (!option_whole(text + negative, (uint64_t)INT64_MAX + negative, &value)) return false;
        *how = element_store_integer(element, &r->initial_value, 0,
                                     (int64_t)(negative ? -value : value));
    }
    return true;
}

static bool is_affine(const struct request *r)
{
    enum operator_kind op = r->plain;
    return op == OP_AFFINE || op == OP_EMA || op == OP_DISCOUNT;
}

/* Of a real type. */
static bool initial_is_finite(const struct request *r)
{
    double value;
    element_to_doubles(r->result, &r->initial_value, 0, 1, &value);
    return isfinite(value);
}

static int check_initial(struct request *r, struct fault *fault)
{
    const char *text = r->initial;
    enum conversion how = CONVERT_EXACT;
    if (!text) return 0;
    if (r->plain == OP_SIGHT)
        return fail(fault, EXIT_USAGE,
                    "--initial: --op line-of-sight has no initial value; leave it out.");
    if (!read_initial(r, r->result, text, &how) || how == CONVERT_OUT_OF_RANGE)
        return fail(fault, EXIT_USAGE, "--initial \"%.60s\" is no number of type %s.", text,
                    short_name(r->result));
    if (is_affine(r) && !initial_is_finite(r))
        return fail(fault, EXIT_USAGE, "--initial %.60s: --op %s needs a finite one.", text,
                    operator_facts[r->op].name);
    if (r->plain == OP_BRACKETS && (int32_t)r->initial_value < 0)
        return fail(fault, EXIT_USAGE, "--initial %.60s: a depth is 0 or more.", text);
    return 0;
}

/* ---- options together ------------------------------------------------------------------------ */

static int check_operator(const struct request *r, const struct options *o, struct fault *fault)
{
    const struct operator_facts *op = &operator_facts[r->op];
    if (r->keep_given && op->plain != OP_EMA && op->plain != OP_DISCOUNT)
        return fail(fault, EXIT_USAGE, "--keep goes with --op ema and --op discount.");
    if (op->plain == OP_SIGHT && o->inclusive)
        return fail(fault, EXIT_USAGE,
                    "--inclusive: --op line-of-sight is always exclusive; leave it out.");
    if (r->second && !op->second)
        return fail(fault, EXIT_USAGE, "--second goes with --op affine and --op line-of-sight.");
    if (r->second && !o->input)
        return fail(fault, EXIT_USAGE, "--second goes with the first input; add --input FILE.");
    if (r->second && !strcmp(r->second, "-") && !strcmp(o->input, "-"))
        return fail(fault, EXIT_USAGE, "--input and --second cannot both be stdin.");
    if (op->plain == OP_AFFINE && o->input && !r->second)
        return fail(fault, EXIT_USAGE,
                    "--op affine has two inputs: --input has a; add --second FILE, which has b.");
    return 0;
}

static int check_shape(struct request *r, const struct options *o, struct fault *fault)
{
    const struct operator_facts *op = &operator_facts[r->op];
    enum scan_heads kind = r->kind;
    bool segmented = op->plain != r->op;
    if (r->along >= 0 && !r->rows) return fail(fault, EXIT_USAGE, "--along goes with --shape RxC.");
    if (r->rows && o->n_given)
        return fail(fault, EXIT_USAGE, "--n and --shape exclude each other; both say how many.");
    if (r->rows && (kind != SCAN_HEADS_NONE || segmented))
        return fail(fault, EXIT_USAGE,
                    "--shape and %s exclude each other; both say where sequences begin.",
                    segmented ? "a segmented operator" : "--heads");
    if ((kind == SCAN_HEADS_BYTES || kind == SCAN_HEADS_KEYS) && !op->all_heads)
        return fail(fault, EXIT_USAGE, "--heads %s: --op %s takes bits and offsets.",
                    head_names[kind], op->name);
    if (r->every && kind == SCAN_HEADS_NONE && !segmented)
        return fail(fault, EXIT_USAGE, "--every goes with --heads or a segmented operator.");
    if (segmented && kind == SCAN_HEADS_NONE) r->kind = SCAN_HEADS_BYTES;
    if (r->rows && r->along < 0) r->along = 1;
    return 0;
}

/* They are of a whole text. */
static int check_partners(const struct request *r, const struct options *o, struct fault *fault)
{
    const char *other = r->rows                      ? "--shape"
                        : r->kind != SCAN_HEADS_NONE ? "--heads"
                        : r->reverse                 ? "--reverse"
                        : r->initial                 ? "--initial"
                        : o->inclusive               ? "--inclusive"
                                                     : NULL;
    if (!r->partners) return 0;
    if (r->plain != OP_BRACKETS)
        return fail(fault, EXIT_USAGE, "--partners goes with --op brackets.");
    if (other)
        return fail(fault, EXIT_USAGE, "%s: --partners takes a whole text; leave it out.", other);
    return o->input ? 0 : operators_check_count(r, o->n, fault);
}

int operators_check_count(const struct request *r, size_t n, struct fault *fault)
{
    if (!r->partners || n <= INT32_MAX) return 0;
    return fail(fault, EXIT_USAGE, "--partners takes at most 2^31 - 1 characters; these are %zu.",
                n);
}

int operators_check(struct request *r, const struct options *o, struct fault *fault)
{
    r->inclusive = o->inclusive;
    r->seed = o->seed;
    r->offset = o->offset;
    r->plain = operator_facts[r->op].plain;
    if (!r->keep_given) r->keep = KEEP_DEFAULT;
    int code = check_operator(r, o, fault);
    if (!code) code = check_partners(r, o, fault);
    if (!code) code = choose_type(r, o, fault);
    if (!code) code = check_initial(r, fault);
    return code ? code : check_shape(r, o, fault);
}

/* 1 - keep is exact for the keep that the type holds, if keep is 1/2 or more. */
struct decay operators_decay(const struct request *r)
{
    bool single = r->element == ELEMENT_F32;
    double keep = single ? (double)(float)r->keep : r->keep;
    double take = r->plain == OP_EMA ? 1 - keep : 1;
    return (struct decay){keep, single ? (double)(float)take : take};
}

/* ---- where sequences begin ------------------------------------------------------------------- */

/*
 * Where the sequences of --heads and --shape begin.
 *
 * Each element but the first begins a sequence with the probability 1 / every. That of element i
 * depends on the seed and i alone, so heads need no memory until an array of them is asked for.
 */

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
    if (r->kind == SCAN_HEADS_NONE) return false;
    return random_bits(r->seed, i) % (r->every ? r->every : EVERY_DEFAULT) == 0;
}

bool operators_is_first(const struct request *r, size_t i, size_t n)
{
    if (!r->reverse) return operators_begins(r, i);
    return i + 1 == n || operators_begins(r, i + 1);
}

static size_t count_begins(const struct request *r, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += operators_begins(r, i);
    return count;
}

static void fill(const struct request *r, void *heads, size_t n)
{
    int32_t key = 0;
    size_t offset = 0;
    for (size_t i = 0; i < n; i++) {
        bool begins = operators_begins(r, i);
        key += begins;
        switch (r->kind) {
        case SCAN_HEADS_BYTES: ((uint8_t *)heads)[i] = begins; break;
        case SCAN_HEADS_BITS: ((uint32_t *)heads)[i / 32] |= (uint32_t)begins << i % 32; break;
        case SCAN_HEADS_KEYS: ((int32_t *)heads)[i] = key; break;
        default:
            if (begins) ((int64_t *)heads)[offset++] = (int64_t)i;
        }
    }
}

size_t operators_heads_bytes(const struct request *r, size_t n)
{
    switch (r->kind) {
    case SCAN_HEADS_NONE: return 0;
    case SCAN_HEADS_BYTES: return n;
    case SCAN_HEADS_BITS: return (n / 32 + (n % 32 > 0)) * 4;
    case SCAN_HEADS_KEYS: return n * 4;
    default: return (n / (r->every ? r->every : EVERY_DEFAULT) + 1) * 8;
    }
}

void *operators_heads(const struct request *r, size_t n, size_t *count, size_t *bytes)
{
    switch (r->kind) {
    case SCAN_HEADS_BITS: *count = n / 32 + (n % 32 > 0); break;
    case SCAN_HEADS_OFFSETS: *count = count_begins(r, n); break;
    default: *count = n;
    }
    bool offsets = r->kind == SCAN_HEADS_OFFSETS;
    *bytes = offsets ? *count * 8 : operators_heads_bytes(r, n);
    void *heads = calloc(*bytes, 1);
    if (heads) fill(r, heads, n);
    return heads;
}
