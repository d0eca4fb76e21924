/*
 * request_input.c — the inputs of step 16: files, or random numbers.
 *
 * The harness's input is the first one. A second input, such as b of affine, and the array of heads
 * lie in device memory of the step's own. They stay the same when the harness reverses its input.
 */
#include "common/files/allocated.h"
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
    bool walk = op == OP_MAX || op == OP_MIN || op == OP_SIGHT, real = element_is_real(r->element);
    enum random kind = walk || op == OP_SUM ? RANDOM_INTEGERS : RANDOM_BITS;
    int code = input_generate(input, r->element, n, kind, seed, fault);
    if (code || op == OP_SUM || op == OP_XOR) return code;
    if (walk)
        make_walk(input);
    else if (op == OP_BRACKETS)
        make_text(input);
    else if (op != OP_PRODUCT)
        make_reals(input, op == OP_LOGSUMEXP ? 8 : 1);
    else if (real)
        make_factors(r, input);
    else
        make_odd(input);
    return 0;
}

/* ---- both inputs ----------------------------------------------------------------------------- */

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

/* How far the points are from the first one of their sequence: 0, 1, 2, … */
static int make_distances(const struct request *r, struct input *distances, size_t n)
{
    float *to = distances->data = allocated(malloc(n * sizeof *to));
    size_t distance = 0;
    for (size_t q = 0; q < n; q++) {
        size_t i = r->reverse ? n - 1 - q : q;
        distance = operators_is_first(r, i, n) ? 0 : distance + 1;
        to[i] = (float)(r->rows && r->along == 0 ? q / r->columns : distance);
    }
    return 0;
}

static int second_input(const struct request *r, struct input *second, size_t n,
                        const struct options *o, struct fault *fault)
{
    *second = (struct input){.element = r->element, .n = n};
    if (!r->second && r->plain == OP_AFFINE)
        return generate(r, second, n, o->seed ^ SECOND_SEED, fault);
    if (!r->second) return make_distances(r, second, n);
    int code = input_read(second, r->element, r->second, 0, fault);
    if (!code) code = check_length(r->second, second->n, n, "--input", fault);
    if (code) input_free(second);
    return code;
}

/* ---- heads ----------------------------------------------------------------------------------- */

/* Bytes of an element of the array of heads, and the array's elements and bytes for n elements. */
static size_t head_size(enum upsweep_heads kind)
{
    static const size_t sizes[] = {[UPSWEEP_HEADS_BYTES] = 1,
                                   [UPSWEEP_HEADS_BITS] = 4,
                                   [UPSWEEP_HEADS_KEYS] = 4,
                                   [UPSWEEP_HEADS_OFFSETS] = 8};
    return sizes[kind];
}

void *operators_heads(const struct request *r, size_t n, size_t *count, size_t *bytes)
{
    *count = r->kind == UPSWEEP_HEADS_BITS ? n / 32 + (n % 32 > 0) : n;
    if (r->kind == UPSWEEP_HEADS_OFFSETS) {
        *count = 0;
        for (size_t i = 0; i < n; i++) *count += operators_begins(r, i);
    }
    *bytes = *count * head_size(r->kind);
    void *heads = calloc(*bytes, 1);
    int32_t key = 0;
    int64_t *offset = heads;
    for (size_t i = 0; i < n && heads; i++) {
        bool begins = operators_begins(r, i);
        key += begins;
        switch (r->kind) {
        case UPSWEEP_HEADS_BYTES: ((uint8_t *)heads)[i] = begins; break;
        case UPSWEEP_HEADS_BITS: ((uint32_t *)heads)[i / 32] |= (uint32_t)begins << i % 32; break;
        case UPSWEEP_HEADS_KEYS: ((int32_t *)heads)[i] = key; break;
        default:
            if (begins) *offset++ = (int64_t)i;
        }
    }
    return heads;
}

/* Of offsets, about as many. */
size_t operators_own_bytes(const struct request *r, size_t n)
{
    size_t heads = r->kind == UPSWEEP_HEADS_OFFSETS ? n / (r->every ? r->every : EVERY_DEFAULT) + 1
                   : r->kind == UPSWEEP_HEADS_BITS  ? n / 32 + 1
                                                 : n;
    return n * r->function->second + heads * head_size(r->kind);
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
    if (!r->function->second) return 0;
    int code = second_input(r, &second, first->n, o, fault);
    if (code) return code;
    r->second_input = second.data;
    size_t size = r->function->second;
    return upload(r, &r->second_on_device, second.data, first->n * size, size, fault);
}

static int upload_heads(struct request *r, size_t n, struct fault *fault)
{
    r->head_count = r->head_bytes = 0;
    if (r->kind == UPSWEEP_HEADS_NONE) return 0;
    void *heads = allocated(operators_heads(r, n, &r->head_count, &r->head_bytes));
    int code = upload(r, &r->heads_on_device, heads, r->head_bytes, head_size(r->kind), fault);
    free(heads);
    return code;
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

/* What the elements of an array may combine to. The logarithms are binary, of the smallest and the
 * largest product of neighbours, by magnitude; factors that are 0 or not finite are passed over. */
struct extent {
    double sum; /* of all finite magnitudes */
    double smallest, largest;
    size_t infinite; /* the first element that is not finite, or n */
};

static struct extent extent_of(enum element element, const void *array, size_t n, size_t columns)
{
    struct extent e = {.infinite = n};
    size_t rows = n / columns;
    double here = 0, lowest = 0, highest = 0, x;
    for (size_t k = 0; k < n; k++) {
        size_t i = k % rows * columns + k / rows; // column by column
        if (columns > 1 && k % rows == 0) here = lowest = highest = 0;
        element_to_doubles(element, array, i, 1, &x);
        if (!isfinite(x) && e.infinite == n) e.infinite = i;
        if (!isfinite(x) || x == 0) continue;
        e.sum += fabs(x);
        here += log2(fabs(x));
        e.largest = fmax(e.largest, here - lowest);
        e.smallest = fmin(e.smallest, here - highest);
        lowest = fmin(lowest, here);
        highest = fmax(highest, here);
    }
    return e;
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

static int check_finite(const struct request *r, const struct extent *e, const void *array,
                        const char *path, struct fault *fault)
{
    double x;
    if (e->infinite == r->n) return 0;
    element_to_doubles(r->element, array, e->infinite, 1, &x);
    return fail(fault, EXIT_USAGE, "%s: element %zu is %g; --op %s needs finite ones.", path,
                e->infinite, x, operator_facts[r->op].name);
}

/* A depth is at most the initial one and all brackets that open, and at least minus all that
 * close. */
static int check_depths(const struct request *r, const char *text, const char *path,
                        struct fault *fault)
{
    size_t opening = r->initial ? (uint32_t)r->initial_value : 0, closing = 0;
    if (r->n <= INT32_MAX - opening) return 0;
    for (size_t i = 0; i < r->n; i++) {
        opening += text[i] == '(' || text[i] == '[' || text[i] == '{';
        closing += text[i] == ')' || text[i] == ']' || text[i] == '}';
    }
    if (opening <= INT32_MAX && closing <= INT32_MAX) return 0;
    return refuse(r, r->initial ? NULL : path, "depths", fault);
}

/* Results stay below the largest number by a factor of 2, and products of factors above the
 * smallest normal one. |h| of an affine recurrence is at most the largest product of neighbours of
 * a, or 1, times the sum of all |b|. */
static int check_range(const struct request *r, const void *in, const char *path,
                       struct fault *fault)
{
    enum element type = r->element;
    bool single = type == ELEMENT_F32, decays = r->plain == OP_EMA || r->plain == OP_DISCOUNT;
    double most = single ? FLT_MAX / 2 : DBL_MAX / 2;
    int highest = single ? FLT_MAX_EXP : DBL_MAX_EXP, lowest = single ? FLT_MIN_EXP : DBL_MIN_EXP;
    if (path && strcmp(path, "-") == 0) path = "stdin";
    if (r->plain == OP_BRACKETS) return check_depths(r, in, path, fault);
    if (!element_is_real(type)) return 0;

    size_t columns = r->rows && r->along == 0 ? r->columns : 1;
    struct extent a = extent_of(type, in, r->n, columns);
    struct extent initial = extent_of(type, &r->initial_value, r->initial ? 1 : 0, 1);
    int code = decays || r->plain == OP_AFFINE ? check_finite(r, &a, in, path, fault) : 0;
    if (code) return code;
    if ((decays || r->plain == OP_SUM) && !(a.sum + initial.sum < most))
        return refuse(r, path, "sums", fault);
    if (r->plain == OP_PRODUCT && !(a.largest + initial.largest < highest - 2 &&
                                    a.smallest + initial.smallest > lowest))
        return refuse(r, path, "products", fault);
    if (r->plain != OP_AFFINE) return 0;
    struct extent b = extent_of(type, r->second_input, r->n, columns);
    code = check_finite(r, &b, r->second_input, r->second, fault);
    if (code) return code;
    if (exp2(a.largest) * (b.sum + initial.sum + 1) < most) return 0;
    return refuse(r, path, "results", fault);
}

/* ---- everything ------------------------------------------------------------------------------ */

int operators_plan(const struct subject *s, struct input *input, struct fault *fault)
{
    struct request *r = s->self;
    int code = operators_check(r, s->options, fault);
    *input = (struct input){.element = r->element, .n = count_asked(r, s->options)};
    return code;
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
    if (!code && (o->input || r->initial)) code = check_range(r, input->data, o->input, fault);
    if (code) input_free(input);
    return code;
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
