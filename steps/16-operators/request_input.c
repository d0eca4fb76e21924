/*
 * request_input.c — the inputs of step 16: files, or random numbers.
 *
 * The harness's input is the first one. A second input, such as b of affine, and the array of heads
 * lie in device memory of the step's own. They stay the same when the harness reverses its input.
 */
#include "common/files/visible.h"
#include "common/harness/print/print.h"
#include "common/step/cuda_check.h"
#include "request.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_SEED 0x2ED /* b is independent of a */

/* ---- random numbers -------------------------------------------------------------------------- */

/* The upper bits of element i, which is of random bits, as a number from -1 to 1. */
static double unit(const struct input *input, size_t i)
{
    uint32_t bits = element_size(input->element) == 8
                        ? (uint32_t)(((const uint64_t *)input->data)[i] >> 32)
                        : ((const uint32_t *)input->data)[i];
    return (double)(bits >> 8) * 0x1p-23 - 1;
}

/* Real numbers from -most to most. */
static void make_reals(struct input *input, double most)
{
    for (size_t i = 0; i < input->n; i++)
        element_store_real(input->element, input->data, i, most * unit(input, i));
}

#define EXPONENT_MOST 30

/* Factors 1/2, 1 and 2 of either sign. The product of any neighbours of a sequence, which may be a
 * column, is a power of two from 2^-60 to 2^60. Floats hold these exactly. */
static void make_factors(const struct request *r, struct input *input)
{
    size_t columns = r->rows && r->along == 0 ? r->columns : 1;
    for (size_t column = 0; column < columns; column++) {
        int exponent = 0;
        for (size_t i = column; i < input->n; i += columns) {
            double u = unit(input, i);
            int step = fabs(u) < 0.25 ? 0 : fabs(u) < 0.625 ? 1 : -1;
            if (abs(exponent + step) > EXPONENT_MOST) step = 0;
            exponent += step;
            element_store_real(input->element, input->data, i, copysign(ldexp(1, step), u));
        }
    }
}

/* Odd factors: a product of them is never 0. */
static void make_odd(struct input *input)
{
    for (size_t i = 0; i < input->n; i++) ((uint64_t *)input->data)[i] |= 1;
}

/* The running sums of random integers, which stay below 2^22. */
static void make_walk(struct input *input)
{
#define WALK(element, type, sum)                                                                   \
    case element:                                                                                  \
        for (size_t i = 1; i < input->n; i++)                                                      \
            ((type *)input->data)[i] =                                                             \
                (type)(((type *)input->data)[i] + ((type *)input->data)[i - 1]);                   \
        break;
    switch (input->element) {
        ELEMENT_TYPES(WALK)
    }
#undef WALK
}

#define DEPTH_MOST 40

/* Characters of a text whose brackets match. */
static void make_text(struct input *input)
{
    static const char opening[] = "([{", closing[] = ")]}", letters[] = "abcdefghijklmno ";
    unsigned char *text = input->data;
    size_t depth = 0;
    for (size_t i = 0; i < input->n; i++) {
        unsigned bits = text[i];
        size_t left = input->n - i;
        bool opens = depth == 0 || (bits & 1 && depth < DEPTH_MOST);
        if (depth == left || (bits >= 0xB0 && !opens))
            text[i] = (unsigned char)closing[--depth % 3];
        else if (bits >= 0xB0 && depth + 1 < left)
            text[i] = (unsigned char)opening[depth++ % 3];
        else
            text[i] = (unsigned char)(bits == 0 ? '\n' : letters[bits % 16]);
    }
}

/* Random numbers that suit the operator: operator_facts.random. */
static int generate(const struct request *r, struct input *input, size_t n, uint64_t seed,
                    struct fault *fault)
{
    enum operator_kind op = r->plain;
    enum element element = r->element;
    bool integers = op == OP_SUM || op == OP_MAX || op == OP_MIN || op == OP_SIGHT;
    int code = integers ? input_generate(input, element, n, false, seed, fault)
                        : input_generate_bits(input, element, n, seed, fault);
    if (code) return code;
    if (op == OP_MAX || op == OP_MIN || op == OP_SIGHT) make_walk(input);
    if (op == OP_PRODUCT && element_is_real(element)) make_factors(r, input);
    if (op == OP_PRODUCT && !element_is_real(element)) make_odd(input);
    if (op == OP_LOGSUMEXP) make_reals(input, 8);
    if (op == OP_AFFINE || op == OP_EMA || op == OP_DISCOUNT) make_reals(input, 1);
    if (op == OP_BRACKETS) make_text(input);
    return 0;
}

/* ---- the first input ------------------------------------------------------------------------- */

static int check_length(const char *path, size_t n, size_t want, const char *of,
                        struct fault *fault)
{
    if (n == want) return 0;
    return fail(fault, EXIT_USAGE, "%s has %zu element%s, and %s %zu; they have to agree.",
                strcmp(path, "-") ? path : "stdin", n, plural(n), of, want);
}

static size_t count_asked(const struct request *r, const struct options *o)
{
    return r->rows ? r->rows * r->columns : o->n;
}

static int first_input(const struct request *r, struct input *input, const struct options *o,
                       struct fault *fault)
{
    size_t n = count_asked(r, o);
    if (!o->input) return generate(r, input, n, o->seed, fault);
    int code = r->plain == OP_BRACKETS
                   ? input_read_bytes(input, o->input, SIZE_MAX, "", "there is nothing to scan",
                                      fault)
                   : input_read(input, r->element, o->input, 0, fault);
    if (code) return code;
    code = operators_check_count(r, input->n, fault);
    if (!code && r->rows) code = check_length(o->input, input->n, n, "--shape", fault);
    if (code) input_free(input);
    return code;
}

/* ---- the second input ------------------------------------------------------------------------ */

/* How far the points are from the first one of their sequence: 0, 1, 2, … */
static void make_distances(const struct request *r, struct input *distances)
{
    size_t n = distances->n, distance = 0;
    float *to = distances->data;
    bool columns = r->rows && r->along == 0;
    for (size_t q = 0; q < n; q++) {
        size_t i = r->reverse ? n - 1 - q : q;
        if (columns)
            distance = q / r->columns;
        else
            distance = operators_is_first(r, i, n) ? 0 : distance + 1;
        to[i] = (float)distance;
    }
}

static int second_input(const struct request *r, struct input *second, size_t n,
                        const struct options *o, struct fault *fault)
{
    *second = (struct input){.element = r->element, .n = n};
    if (r->second) {
        int code = input_read(second, r->element, r->second, 0, fault);
        if (!code) code = check_length(r->second, second->n, n, "--input", fault);
        if (code) input_free(second);
        return code;
    }
    if (r->plain == OP_AFFINE) return generate(r, second, n, o->seed ^ SECOND_SEED, fault);
    second->data = malloc(n * sizeof(float));
    if (!second->data)
        return fail(fault, EXIT_USAGE, "%zu distances do not fit into host memory.", n);
    make_distances(r, second);
    return 0;
}

/* ---- device memory --------------------------------------------------------------------------- */

static int upload(const struct request *r, struct own_array *array, const void *from, size_t bytes,
                  size_t element, struct fault *fault)
{
    size_t displaced = r->offset * element;
    CUDA_CHECK(fault, cudaFree(array->memory));
    array->memory = array->data = NULL;
    CUDA_CHECK(fault, cudaMalloc((void **)&array->memory, bytes + displaced));
    array->data = array->memory + displaced;
    CUDA_CHECK(fault, cudaMemcpy(array->data, from, bytes, cudaMemcpyHostToDevice));
    return 0;
}

static int upload_second(struct request *r, const struct input *first, const struct options *o,
                         struct fault *fault)
{
    struct input second;
    free(r->second_input);
    r->second_input = NULL;
    if (!operator_facts[r->plain].second) return 0;
    int code = second_input(r, &second, first->n, o, fault);
    if (code) return code;
    r->second_input = second.data;
    size_t size = element_size(r->element);
    return upload(r, &r->second_on_device, second.data, first->n * size, size, fault);
}

static int upload_heads(struct request *r, size_t n, struct fault *fault)
{
    static const size_t sizes[] = {[SCAN_HEADS_BYTES] = 1,
                                   [SCAN_HEADS_BITS] = 4,
                                   [SCAN_HEADS_KEYS] = 4,
                                   [SCAN_HEADS_OFFSETS] = 8};
    r->head_count = r->head_bytes = 0;
    if (r->kind == SCAN_HEADS_NONE) return 0;
    void *heads = operators_heads(r, n, &r->head_count, &r->head_bytes);
    if (!heads) return fail(fault, EXIT_USAGE, "the heads of %zu elements do not fit.", n);
    int code = upload(r, &r->heads_on_device, heads, r->head_bytes, sizes[r->kind], fault);
    free(heads);
    return code;
}

/* ---- everything ------------------------------------------------------------------------------ */

int operators_plan(const struct subject *s, struct input *input, struct fault *fault)
{
    struct request *r = s->self;
    int code = operators_check(r, s->options, fault);
    *input = (struct input){.element = r->element, .n = count_asked(r, s->options)};
    return code;
}

size_t operators_own_bytes(const struct request *r, size_t n)
{
    size_t second = operator_facts[r->plain].second ? n * element_size(r->element) : 0;
    return second + operators_heads_bytes(r, n);
}

int operators_input(const struct subject *s, struct input *input, struct fault *fault)
{
    struct request *r = s->self;
    const struct options *o = s->options;
    int code = operators_check(r, o, fault);
    if (!code) code = first_input(r, input, o, fault);
    if (code) return code;
    r->n = input->n;
    if (r->plain == OP_SIGHT) r->eye = ((const float *)input->data)[r->reverse ? input->n - 1 : 0];
    code = upload_second(r, input, o, fault);
    if (!code) code = upload_heads(r, input->n, fault);
    if (!code && (o->input || r->initial)) code = operators_check_range(r, input, o->input, fault);
    if (code) input_free(input);
    return code;
}

void *operators_open(void)
{
    struct request *r = calloc(1, sizeof *r);
    if (r) *r = (struct request){.op = OP_MAX, .along = -1};
    return r;
}

void operators_close(void *self)
{
    struct request *r = self;
    /* Without arrays there may be no device that could be asked to free them. */
    if (r->second_on_device.memory) cudaFree(r->second_on_device.memory);
    if (r->heads_on_device.memory) cudaFree(r->heads_on_device.memory);
    free(r->second_input);
    free(r);
}

void operators_about_input(const struct request *r, char *text, size_t size,
                           const struct options *o)
{
    const struct operator_facts *op = &operator_facts[r->op];
    size_t n = r->n;
    struct element_words elements = element_words(r->element, n);
    if (op->plain == OP_BRACKETS) snprintf(elements.s, sizeof elements.s, "character%s", plural(n));
    char name[120];
    *text = '\0';
    if (!o->input) {
        snprintf(text, size, "%s %s: %s, seed %llu", format_count(n).s, elements.s, op->random,
                 (unsigned long long)o->seed);
    } else if (op->plain == OP_BRACKETS || r->second) {
        visible(name, sizeof name, strcmp(o->input, "-") ? o->input : "stdin");
        int used = snprintf(text, size, "%s %s from %s", format_count(n).s, elements.s, name);
        if (r->second && used >= 0 && (size_t)used < size) {
            visible(name, sizeof name, strcmp(r->second, "-") ? r->second : "stdin");
            snprintf(text + used, size - (size_t)used, " and %s", name);
        }
    }
}

/* ---- the range of a type --------------------------------------------------------------------- */

/*
 * Refuses a file, or an initial value, if a combination of neighbours may leave the range
 * of the type of the results.
 *
 * A scan combines neighbours in another order than a loop does. A loop may stay in range where a
 * sum of neighbours overflows, so the results would depend on the order. The tests below hold for
 * any order, any sequences and both directions. max, min and logsumexp cannot leave the range, and
 * integers wrap.
 */

/* Powers of two: results stay below the largest number by a factor of 2, and products of factors
 * above the smallest normal one. */
struct limits {
    double most;
    int highest, lowest;
};

static struct limits limits_of(enum element element)
{
    if (element == ELEMENT_F32) return (struct limits){FLT_MAX / 2, FLT_MAX_EXP - 2, FLT_MIN_EXP};
    return (struct limits){DBL_MAX / 2, DBL_MAX_EXP - 2, DBL_MIN_EXP};
}

static double number(enum element element, const void *array, size_t i)
{
    return element == ELEMENT_F32 ? (double)((const float *)array)[i] : ((const double *)array)[i];
}

/* 0 without an initial value, or with one that makes no result finite in any order. */
static double initial_magnitude(const struct request *r, enum element element)
{
    double x = number(element, &r->initial_value, 0);
    return r->initial && isfinite(x) ? fabs(x) : 0;
}

/* The sum of all magnitudes that are finite. */
static double magnitudes(enum element element, const void *array, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double x = fabs(number(element, array, i));
        if (isfinite(x)) sum += x;
    }
    return sum;
}

/* Binary logarithms of the smallest and the largest product of neighbours, by magnitude. Factors
 * that are 0 or not finite are passed over. */
struct products {
    double smallest, largest;
};

static struct products products_of(enum element element, const void *array, size_t n)
{
    double here = 0, lowest = 0, highest = 0;
    struct products p = {0, 0};
    for (size_t i = 0; i < n; i++) {
        double x = fabs(number(element, array, i));
        if (x == 0 || !isfinite(x)) continue;
        here += log2(x);
        p.largest = fmax(p.largest, here - lowest);
        p.smallest = fmin(p.smallest, here - highest);
        lowest = fmin(lowest, here);
        highest = fmax(highest, here);
    }
    return p;
}

/* `path`: NULL for random numbers, whose results stay in range without an initial value. */
static int refuse(const struct request *r, const char *path, const char *what, struct fault *fault)
{
    const char *type = element_plural(r->result);
    if (!path)
        return fail(fault, EXIT_USAGE, "--initial %.60s: %s may leave the range of %s.", r->initial,
                    what, type);
    return fail(fault, EXIT_USAGE, "%s: %s of its elements may leave the range of %s; scale them.",
                path, what, type);
}

static int check_finite(const struct request *r, enum element element, const void *array, size_t n,
                        const char *path, struct fault *fault)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(number(element, array, i)))
            return fail(fault, EXIT_USAGE, "%s: element %zu is %g; --op %s needs finite ones.",
                        path, i, number(element, array, i), operator_facts[r->op].name);
    return 0;
}

/* |h| is at most the largest product of neighbours of a, or 1, times the sum of all |b|. */
static int check_affine(const struct request *r, const struct input *in, const char *path,
                        struct fault *fault)
{
    enum element e = in->element;
    const void *b = r->second_input;
    double most = limits_of(e).most;
    int code = check_finite(r, e, in->data, in->n, path, fault);
    if (!code) code = check_finite(r, e, b, in->n, r->second, fault);
    if (code) return code;
    double largest = exp2(products_of(e, in->data, in->n).largest);
    double sum = magnitudes(e, b, in->n) + initial_magnitude(r, e) + 1;
    return largest * sum < most ? 0 : refuse(r, path, "results", fault);
}

/* A depth is at most the initial one and all brackets that open, and at least minus all that
 * close. */
static int check_depths(const struct request *r, const struct input *in, const char *path,
                        struct fault *fault)
{
    size_t opening = r->initial ? (uint32_t)r->initial_value : 0;
    size_t closing = 0;
    if (in->n <= INT32_MAX - opening) return 0;
    for (size_t i = 0; i < in->n; i++) {
        char c = ((const char *)in->data)[i];
        opening += c == '(' || c == '[' || c == '{';
        closing += c == ')' || c == ']' || c == '}';
    }
    if (opening <= INT32_MAX && closing <= INT32_MAX) return 0;
    return r->initial
               ? refuse(r, NULL, "depths", fault)
               : fail(fault, EXIT_USAGE, "%s: depths may leave the range of %s; take a part.", path,
                      element_plural(r->result));
}

int operators_check_range(const struct request *r, const struct input *in, const char *path,
                          struct fault *fault)
{
    enum element e = in->element;
    struct limits limits = limits_of(e);
    if (path && strcmp(path, "-") == 0) path = "stdin";
    if (r->plain == OP_BRACKETS) return check_depths(r, in, path, fault);
    if (!element_is_real(e)) return 0;
    switch (r->plain) {
    case OP_EMA:
    case OP_DISCOUNT: {
        int code = check_finite(r, e, in->data, in->n, path, fault);
        if (code) return code;
    } /* fall through */
    case OP_SUM:
        if (magnitudes(e, in->data, in->n) + initial_magnitude(r, e) < limits.most) return 0;
        return refuse(r, path, "sums", fault);
    case OP_PRODUCT: {
        struct products p = products_of(e, in->data, in->n);
        double initial = initial_magnitude(r, e), more = initial > 0 ? log2(initial) : 0;
        if (p.largest + fmax(more, 0) < limits.highest &&
            p.smallest + fmin(more, 0) > limits.lowest)
            return 0;
        return refuse(r, path, "products", fault);
    }
    case OP_AFFINE: return check_affine(r, in, path, fault);
    default: return 0;
    }
}
