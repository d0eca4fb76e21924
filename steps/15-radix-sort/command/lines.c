/*
 * lines.c — sorts the lines of a text file: the GPU by their first 8 bytes, then the host exactly,
 * among lines that have these 8 bytes in common. The order is that of `LC_ALL=C sort`: by bytes,
 * and a line that is the beginning of another comes first.
 */
#include "request.h"

#include "common/harness/host/memory.h"
#include "common/harness/input/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KEY_BYTES  8
#define FIRST_ROOM ((size_t)1 << 16)
#define TEXT_MOST  ((size_t)1 << 30) /* bytes of a file */

struct line {
    const char *text; /* without the '\n' */
    size_t length;
};

static struct {
    char *text; /* the whole file */
    size_t length;
    struct line *line;
} file;

/* ---- reading --------------------------------------------------------------------------------- */

static int too_large(const char *name, struct fault *fault)
{
    return fail(fault, EXIT_USAGE, "%s does not fit into memory.", name);
}

/* Reads all of it. Returns 0, or EXIT_USAGE. */
static int read_all(FILE *from, const char *name, struct fault *fault)
{
    size_t room = 0;
    for (;;) {
        if (file.length == room) {
            room = room ? 2 * room : FIRST_ROOM;
            char *larger = room <= host_memory() ? realloc(file.text, room) : NULL;
            if (!larger) return too_large(name, fault);
            file.text = larger;
        }
        size_t got = fread(file.text + file.length, 1, room - file.length, from);
        file.length += got;
        if (file.length > TEXT_MOST)
            return fail(fault, EXIT_USAGE, "%s has more than %zu bytes; --lines takes no more.",
                        name, TEXT_MOST);
        if (got > 0) continue;
        if (ferror(from))
            return fail(fault, EXIT_USAGE, "cannot read %s: %s.", name, strerror(errno));
        return 0;
    }
}

/* The first 8 bytes as a number in which the first byte weighs most; zeros after the end. */
static uint64_t key_of(const struct line *line)
{
    uint64_t key = 0;
    for (size_t i = 0; i < KEY_BYTES; i++)
        key = key << 8 | (i < line->length ? (unsigned char)line->text[i] : 0);
    return key;
}

static size_t count_lines(void)
{
    size_t n = 0;
    for (const char *at = file.text, *end = at + file.length; at < end; n++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        at = newline ? newline + 1 : end;
    }
    return n;
}

static int split(struct input *input, const char *name, struct fault *fault)
{
    size_t n = count_lines();
    *input = (struct input){.element = ELEMENT_U64, .n = n};
    if (n > UINT32_MAX)
        return fail(fault, EXIT_USAGE, "%s has %zu lines; 2^32 - 1 is the most.", name, n);
    file.line = malloc(n * sizeof *file.line);
    uint64_t *keys = input->data = malloc(n * sizeof *keys);
    if (!file.line || !keys) return too_large(name, fault);
    const char *at = file.text, *end = at + file.length;
    for (size_t i = 0; i < n; i++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        file.line[i] = (struct line){at, (size_t)((newline ? newline : end) - at)};
        keys[i] = key_of(&file.line[i]);
        at = newline + 1;
    }
    return 0;
}

static void forget_file(void)
{
    free(file.text);
    free(file.line);
    file.text = NULL, file.line = NULL, file.length = 0;
}

int sort_lines_read(struct input *input, const char *path, struct fault *fault)
{
    bool is_stdin = strcmp(path, "-") == 0;
    const char *name = is_stdin ? "stdin" : path;
    FILE *from = is_stdin ? stdin : fopen(path, "rb");
    *input = (struct input){.element = ELEMENT_U64};
    if (!from) return fail(fault, EXIT_USAGE, "cannot open %s: %s.", path, strerror(errno));
    int code = read_all(from, name, fault);
    if (!is_stdin) fclose(from);
    if (!code && file.length == 0)
        code = fail(fault, EXIT_USAGE, "%s is empty; there is nothing to sort.", name);
    if (!code) code = split(input, name, fault);
    if (!code) return 0;
    forget_file();
    input_free(input);
    return code;
}

/* ---- writing --------------------------------------------------------------------------------- */

static int compare(const void *left, const void *right)
{
    const struct line *a = &file.line[*(const uint32_t *)left];
    const struct line *b = &file.line[*(const uint32_t *)right];
    int order = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);
    if (order == 0) order = (a->length > b->length) - (a->length < b->length);
    return sort_request.descending ? -order : order;
}

/* Sorts each run of lines with the same key. */
static void sort_runs(uint32_t *index, size_t n)
{
    for (size_t begin = 0, end; begin < n; begin = end) {
        uint64_t key = key_of(&file.line[index[begin]]);
        for (end = begin + 1; end < n && key_of(&file.line[index[end]]) == key;) end++;
        if (end - begin > 1) qsort(index + begin, end - begin, sizeof *index, compare);
    }
}

/* Adds a line. Returns 0 or EXIT_USAGE. */
static int write_line(struct output *output, const struct line *line, struct fault *fault)
{
    int code = output_add(output, line->text, line->length, fault);
    return code ? code : output_add(output, "\n", 1, fault);
}

/* Lines are written as they are, whatever the file's name is. */
static int write_lines(const char *path, const uint32_t *index, size_t n, struct fault *fault)
{
    struct output output;
    int code = output_begin_bytes(&output, path, fault);
    for (size_t i = 0; i < n && !code; i++) code = write_line(&output, &file.line[index[i]], fault);
    return code ? code : output_end(&output, fault);
}

int sort_lines_write(const struct options *options, const uint32_t *index, size_t n,
                     struct fault *fault)
{
    uint32_t *sorted = malloc(n * sizeof *sorted);
    if (!sorted) return fail(fault, EXIT_USAGE, "no memory left to sort %zu lines.", n);
    memcpy(sorted, index, n * sizeof *sorted);
    sort_runs(sorted, n);
    int code = write_lines(options->output, sorted, n, fault);
    free(sorted);
    forget_file();
    return code;
}
