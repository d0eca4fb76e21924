/* request.c — step 13's options, its input and its output: numbers, or the lines of a text. */
#include "request.h"

#include "common/files/visible.h"
#include "common/harness/host/memory.h"
#include "common/harness/print/output.h"
#include "expression.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct request request = {.element = ELEMENT_F32};

/* ---- options --------------------------------------------------------------------------------- */

static const char *set_keep(const char *value)
{
    request.keep = value;
    return NULL;
}

static const char *set_type(const char *value)
{
    static const struct {
        const char *name;
        enum element element;
    } types[] = {
        {"f32", ELEMENT_F32}, {"f64", ELEMENT_F64}, {"i32", ELEMENT_I32}, {"i64", ELEMENT_I64}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(value, types[i].name) == 0) {
            request.element = types[i].element;
            request.typed = true;
            return NULL;
        }
    return "the type must be f32, f64, i32 or i64.";
}

static const char *set_grep(const char *value)
{
    size_t length = strlen(value);
    if (length > TEXT_MOST) return "the text has more than 256 bytes; search for a part of it.";
    if (strchr(value, '\n'))
        return "the text must not contain a newline; lines are searched one by one.";
    request.grep = value;
    memcpy(request.search.text, value, length);
    request.search.length = (unsigned)length;
    return NULL;
}

static const char *set_ignore_case(const char *value)
{
    (void)value;
    request.search.ignore_case = true;
    return NULL;
}

static const char *set_invert(const char *value)
{
    (void)value;
    request.search.invert = true;
    return NULL;
}

const struct step_option request_options[] = {
    {"keep", "EXPRESSION", "keep the numbers for which it is true (default: \"x > 0\")", set_keep,
     0},
    {"type", "TYPE", "type of the numbers: f32 (default), f64, i32 or i64", set_type, 0},
    {"grep", "TEXT", "keep the lines of the input file that contain TEXT", set_grep, 0},
    {"ignore-case", NULL, "with --grep: ignore the case of the letters a to z", set_ignore_case,
     'i'},
    {"invert", NULL, "with --grep: keep the lines without TEXT", set_invert, 'v'},
    {0}};

static int check_together(const struct options *o, struct fault *fault)
{
    const struct search *s = &request.search;
    if (request.grep && request.keep)
        return fail(fault, EXIT_USAGE, "--grep and --keep exclude each other.");
    if (request.grep && !o->input)
        return fail(fault, EXIT_USAGE, "--grep searches a file; name it with --input.");
    if (request.grep && o->variant == ATOMIC)
        return fail(
            fault, EXIT_USAGE,
            "--grep: variant atomic does not keep the order of bytes; use fast or document.");
    if (request.grep && request.typed)
        return fail(fault, EXIT_USAGE, "--type is about numbers; leave it or --grep out.");
    if (request.grep && o->round)
        return fail(fault, EXIT_USAGE, "--round is about numbers; leave it or --grep out.");
    if (!request.grep && (s->ignore_case || s->invert))
        return fail(fault, EXIT_USAGE, "--%s is about lines; add --grep TEXT.",
                    s->ignore_case ? "ignore-case" : "invert");
    bool real = request.element == ELEMENT_F32 || request.element == ELEMENT_F64;
    if (o->real && !real)
        return fail(fault, EXIT_USAGE, "--real: --type %s is a type of integers.",
                    request.element == ELEMENT_I32 ? "i32" : "i64");
    return 0;
}

/* ---- a text ---------------------------------------------------------------------------------- */

#define CHUNK     ((size_t)1 << 20)
#define TEXT_SIZE ((size_t)INT32_MAX - 1) /* bytes: lines are counted in 32 bits */

static int too_large(const char *name, struct fault *fault)
{
    return fail(fault, EXIT_USAGE, "%s has more than %zu bytes; --grep takes no more.", name,
                TEXT_SIZE);
}

/* Reads to the end of the file. As grep does, a last line without a newline gets one. */
static int read_all(FILE *file, const char *name, struct input *input, struct fault *fault)
{
    char *text = NULL;
    size_t n = 0, room = 0, got = 0;
    do {
        if (room < n + CHUNK + 1) {
            room = 2 * n + CHUNK + 1;
            char *more = room < host_memory() ? realloc(text, room) : NULL;
            if (!more) {
                free(text);
                return fail(fault, EXIT_USAGE, "%s does not fit into memory.", name);
            }
            text = more;
        }
        got = fread(text + n, 1, CHUNK, file);
        n += got;
    } while (got == CHUNK && n <= TEXT_SIZE);
    int code = 0;
    if (ferror(file)) code = fail(fault, EXIT_USAGE, "cannot read %s: %s.", name, strerror(errno));
    if (!code && n == 0) code = fail(fault, EXIT_USAGE, "%s is empty; there are no lines.", name);
    if (!code && n > TEXT_SIZE) code = too_large(name, fault);
    if (code) {
        free(text);
        return code;
    }
    if (text[n - 1] != '\n') text[n++] = '\n';
    *input = (struct input){.element = ELEMENT_I8, .n = n, .data = text};
    return 0;
}

static int read_text(struct input *input, const char *path, struct fault *fault)
{
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *file = is_stdin ? stdin : fopen(path, "rb");
    if (!file) return fail(fault, EXIT_USAGE, "cannot open %s: %s.", path, strerror(errno));
    int code = read_all(file, is_stdin ? "stdin" : path, input, fault);
    if (!is_stdin) fclose(file);
    return code;
}

/* ---- the input ------------------------------------------------------------------------------- */

/* The expression, and below it a caret at the place that is wrong. */
static void show_place(const char *expression, int place)
{
    char shown[VISIBLE_GROWTH * 200 + 1], before[VISIBLE_GROWTH * 200 + 1], start[201];
    if (place < 0 || place > 200) return;
    snprintf(start, sizeof start, "%.*s", place, expression);
    visible(shown, sizeof shown, expression);
    visible(before, sizeof before, start);
    fprintf(stderr, "  %s\n  %*s^\n", shown, (int)strlen(before), "");
}

static int read_predicate(struct fault *fault)
{
    int place;
    const char *expression = request.keep ? request.keep : "x > 0";
    int code = predicate_parse(&request.predicate, expression, request.element, &place, fault);
    if (code) show_place(expression, place);
    return code;
}

static int check(const struct options *o, struct fault *fault)
{
    int code = check_together(o, fault);
    return code || request.grep ? code : read_predicate(fault);
}

int request_plan(struct input *input, const struct options *o, struct fault *fault)
{
    *input = (struct input){.element = request.element, .n = o->n};
    return check(o, fault);
}

int request_input(struct input *input, const struct options *o, struct fault *fault)
{
    int code = check(o, fault);
    if (code) return code;
    if (request.grep) return read_text(input, o->input, fault);
    if (o->input) return input_read(input, request.element, o->input, 0, o->round, fault);
    return input_generate(input, request.element, o->n, o->real, o->seed, fault);
}

/* ---- the output ------------------------------------------------------------------------------ */

int request_write(const struct options *o, const struct input *input, const void *out,
                  uint64_t kept, struct fault *fault)
{
    struct output output;
    bool bytes = input->element == ELEMENT_I8;
    int code = bytes ? output_begin_bytes(&output, o->output, fault)
                     : output_begin(&output, o->output, input->element, kept, fault);
    if (!code) code = output_add(&output, out, kept, fault);
    return code ? code : output_end(&output, fault);
}
