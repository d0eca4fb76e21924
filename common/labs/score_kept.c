/* score_kept.c — are the elements of an output those that should be kept, and is their number? */
#include "common/harness/verify/verify.h"
#include "score_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_TEXT = 40 };
#define NEVER_WRITTEN (VERIFY_POISON * 0x01010101u)   /* a word of the output before a run */
#define NEVER_STORED  (VERIFY_UNSTORED * 0x01010101u) /* a word of other memory before a store */

static float value_of(uint32_t word)
{
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

/* The elements greater than 0, in their order. Returns how many there are. */
static size_t keep(const float *in, size_t n, float *kept)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (in[i] > 0) kept[count++] = in[i];
    return count;
}

static void value_text(uint32_t word, char text[NUMBER_TEXT])
{
    if (word == NEVER_WRITTEN)
        snprintf(text, NUMBER_TEXT, "was never written");
    else if (word == NEVER_STORED)
        snprintf(text, NUMBER_TEXT, "is a value that was never stored");
    else
        snprintf(text, NUMBER_TEXT, "is %.9g", (double)value_of(word));
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Are the same elements there, in whatever order? Sorts both. */
static bool is_permutation(const uint32_t *out, float *kept, size_t count)
{
    float *own = malloc(count * sizeof *own);
    if (!own) return false;
    memcpy(own, out, count * sizeof *own);
    qsort(own, count, sizeof *own, by_value);
    qsort(kept, count, sizeof *kept, by_value);
    bool same = !memcmp(own, kept, count * sizeof *own);
    free(own);
    return same;
}

/* `first` is the first wrong element. */
static const char *cause_of(const struct lab_case_result *r, const float *in, float *kept,
                            size_t count, size_t first)
{
    size_t n = r->is.n;
    if (count < n && !memcmp(r->out, in, n * sizeof *in))
        return "every element is kept, at its own place";
    if (value_of(r->out[first]) == 0) return "0 is kept, and is not greater than 0";
    if (count > 1 && r->out[0] == NEVER_WRITTEN &&
        !memcmp(r->out + 1, kept, (count - 1) * sizeof *kept))
        return "every kept element is one place too far: is the scan inclusive?";
    if (is_permutation(r->out, kept, count)) return "the right elements are in another order";
    return "";
}

/* The first element that is not the right one. */
static bool elements_are_right(const struct lab_case_result *r, const float *in, float *kept,
                               size_t count, struct wrong_output *wrong)
{
    char got[NUMBER_TEXT];
    size_t i = 0;
    while (i < count && !memcmp(&r->out[i], &kept[i], sizeof *kept)) i++;
    if (i == count) return true;
    value_text(r->out[i], got);
    snprintf(wrong->text, sizeof wrong->text, "kept element %zu of %zu %s; it should be %.9g", i,
             count, got, (double)kept[i]);
    snprintf(wrong->cause, sizeof wrong->cause, "%s", cause_of(r, in, kept, count, i));
    return false;
}

static bool count_is_right(const struct lab_case_result *r, size_t count,
                           struct wrong_output *wrong)
{
    uint32_t got = r->out[r->is.n];
    if (got == count) return true;
    if (got == NEVER_WRITTEN)
        snprintf(wrong->text, sizeof wrong->text,
                 "the number of kept elements was never written; it should be %zu", count);
    else if (got == NEVER_STORED)
        snprintf(wrong->text, sizeof wrong->text,
                 "the number of kept elements is a value that was never stored; it should be %zu",
                 count);
    else
        snprintf(wrong->text, sizeof wrong->text,
                 "the number of kept elements is %u; it should be %zu", got, count);
    return false;
}

static bool rest_is_unwritten(const struct lab_case_result *r, size_t count,
                              struct wrong_output *wrong)
{
    size_t i = count;
    while (i < r->is.n && r->out[i] == NEVER_WRITTEN) i++;
    if (i == r->is.n) return true;
    snprintf(wrong->text, sizeof wrong->text, "element %zu was written, although only %zu are kept",
             i, count);
    return false;
}

bool kept_is_right(const struct lab *lab, const struct lab_case_result *r, const float *in,
                   struct wrong_output *wrong)
{
    (void)lab;
    float *kept = malloc(r->is.n * sizeof *kept);
    if (!kept) return false; /* the text says so already */
    size_t count = keep(in, r->is.n, kept);
    bool right = elements_are_right(r, in, kept, count, wrong) && count_is_right(r, count, wrong) &&
                 rest_is_unwritten(r, count, wrong);
    free(kept);
    return right;
}
