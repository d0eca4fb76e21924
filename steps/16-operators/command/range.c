/*
 * range.c — refuses a file, or an initial value, if a combination of neighbours may leave the range
 * of the type of the results.
 *
 * A scan combines neighbours in another order than a loop does. A loop may stay in range where a
 * sum of neighbours overflows, so the results would depend on the order. The tests below hold for
 * any order, any sequences and both directions. max, min and logsumexp cannot leave the range, and
 * integers wrap.
 */
#include "request.h"

#include <float.h>
#include <math.h>
#include <string.h>

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
