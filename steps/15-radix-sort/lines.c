/*
 * lines.c — sorts the lines of a text file: the GPU by their first 8 bytes, then the host exactly,
 * among lines that have these 8 bytes in common. The order is that of `LC_ALL=C sort`: by bytes,
 * and a line that is the beginning of another comes first.
 */
#define _GNU_SOURCE /* qsort_r */
#include "step15.h"

#include "common/harness/input/input.h"
#include "common/harness/print/print.h"

#include <stdlib.h>
#include <string.h>

#define KEY_BYTES  8
#define TEXT_MOST  ((size_t)1 << 30) /* bytes of a file */

/* ---- reading --------------------------------------------------------------------------------- */

/* The first 8 bytes as a number in which the first byte weighs most; zeros after the end. */
static uint64_t key_of(const struct line *line)
{
    uint64_t key = 0;
    for (size_t i = 0; i < KEY_BYTES; i++)
        key = key << 8 | (i + 1 < line->length ? (unsigned char)line->text[i] : 0);
    return key;
}

static int split(struct text_lines *t, struct input *input, const char *name, struct fault *fault)
{
    size_t n = 0;
    for (size_t i = 0; i < t->length; i++) n += t->bytes[i] == '\n';
    *input = (struct input){.element = ELEMENT_U64, .n = n};
    if (n > UINT32_MAX)
        return fail(fault, EXIT_USAGE, "%s has %zu lines; 2^32 - 1 is the most.", name, n);
    t->line = malloc(n * sizeof *t->line);
    uint64_t *keys = input->data = malloc(n * sizeof *keys);
    if (!t->line || !keys) return fail(fault, EXIT_USAGE, "%s does not fit into memory.", name);
    const char *at = t->bytes;
    for (size_t i = 0; i < n; i++, at += t->line[i - 1].length) {
        const char *newline = memchr(at, '\n', (size_t)(t->bytes + t->length - at));
        t->line[i] = (struct line){at, (size_t)(newline + 1 - at)};
        keys[i] = key_of(&t->line[i]);
    }
    return 0;
}

void sort_text_free(struct text_lines *t)
{
    free(t->bytes);
    free(t->line);
    *t = (struct text_lines){0};
}

int sort_text_read(struct text_lines *t, struct input *input, const char *path, struct fault *fault)
{
    int code =
        input_read_lines(input, path, TEXT_MOST, "--lines", "there is nothing to sort", fault);
    if (code) return code;
    *t = (struct text_lines){.bytes = input->data, .length = input->n};
    code = split(t, input, strcmp(path, "-") ? path : "stdin", fault);
    if (!code) return 0;
    sort_text_free(t);
    input_free(input);
    return code;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* By all bytes. */
static int compare(const void *left, const void *right, void *text)
{
    const struct line *lines = ((const struct text_lines *)text)->line;
    const struct line *a = &lines[*(const uint32_t *)left], *b = &lines[*(const uint32_t *)right];
    size_t length = a->length < b->length ? a->length : b->length;
    int order = memcmp(a->text, b->text, length - 1); /* without the newlines */
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

static int compare_descending(const void *left, const void *right, void *text)
{
    return compare(right, left, text);
}

/* Sorts each run of lines with the same key. */
static void sort_runs(const struct text_lines *t, bool descending, uint32_t *index, size_t n)
{
    for (size_t begin = 0, end; begin < n; begin = end) {
        uint64_t key = key_of(&t->line[index[begin]]);
        for (end = begin + 1; end < n && key_of(&t->line[index[end]]) == key;) end++;
        if (end - begin > 1)
            qsort_r(index + begin, end - begin, sizeof *index,
                    descending ? compare_descending : compare, (void *)(uintptr_t)t);
    }
}

/* Lines are written as they are, whatever the file's name is. */
int sort_text_write(const struct text_lines *t, bool descending, const uint32_t *index, size_t n,
                    const char *path, struct fault *fault)
{
    uint32_t *sorted = allocated(malloc(n * sizeof *sorted));
    struct output output;
    memcpy(sorted, index, n * sizeof *sorted);
    sort_runs(t, descending, sorted, n);
    int code = output_begin_bytes(&output, path, fault);
    for (size_t i = 0; i < n && !code; i++)
        code = output_add(&output, t->line[sorted[i]].text, t->line[sorted[i]].length, fault);
    free(sorted);
    return code ? code : output_end(&output, fault);
}
