/* request.c — step 13's options and its input: numbers, or the lines of a text. */
#include "request.h"

#include "common/files/visible.h"
#include "common/harness/host/host.h"
#include "expression.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- options --------------------------------------------------------------------------------- */

static const char *set_type(void *self, const char *value)
{
    struct request *r = self;
    static const struct {
        const char *name;
        enum element element;
    } types[] = {
        {"f32", ELEMENT_F32}, {"f64", ELEMENT_F64}, {"i32", ELEMENT_I32}, {"i64", ELEMENT_I64}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(value, types[i].name) == 0) {
            r->element = types[i].element;
            r->typed = true;
            return NULL;
        }
    return "the type must be f32, f64, i32 or i64.";
}

static const char *set_grep(void *self, const char *value)
{
    struct request *r = self;
    size_t length = strlen(value);
    if (length > TEXT_MOST) return "the text has more than 256 bytes; search for a part of it.";
    if (strchr(value, '\n'))
        return "the text must not contain a newline; lines are searched one by one.";
    r->grep = value;
    memcpy(r->search.text, value, length);
    r->search.length = (unsigned)length;
    return NULL;
}

#define MEMBER(name) offsetof(struct request, name)

const struct step_option request_options[] = {
    {.name = "keep",
     .argument = "EXPRESSION",
     .help = "keep the numbers for which it is true (default: \"x > 0\")",
     .member = MEMBER(keep)},
    {.name = "type",
     .argument = "TYPE",
     .help = "type of the numbers: f32 (default), f64, i32 or i64",
     .set = set_type},
    {.name = "grep",
     .argument = "TEXT",
     .help = "keep the lines of the input file that contain TEXT",
     .set = set_grep},
    {.name = "ignore-case",
     .help = "with --grep: ignore the case of the letters a to z",
     .member = MEMBER(search.ignore_case),
     .letter = 'i'},
    {.name = "invert",
     .help = "with --grep: keep the lines without TEXT",
     .member = MEMBER(search.invert),
     .letter = 'v'},
    {.name = NULL}};

static int check_together(const struct request *r, const struct options *o, struct fault *fault)
{
    const struct search *s = &r->search;
    if (r->grep && r->keep) return fail(fault, EXIT_USAGE, "--grep and --keep exclude each other.");
    if (r->grep && !o->input)
        return fail(fault, EXIT_USAGE, "--grep searches a file; name it with --input.");
    if (r->grep && o->variant == ATOMIC)
        return fail(
            fault, EXIT_USAGE,
            "--grep: variant atomic does not keep the order of bytes; use fast or document.");
    if (r->grep && r->typed)
        return fail(fault, EXIT_USAGE, "--type is about numbers; leave it or --grep out.");
    if (!r->grep && (s->ignore_case || s->invert))
        return fail(fault, EXIT_USAGE, "--%s is about lines; add --grep TEXT.",
                    s->ignore_case ? "ignore-case" : "invert");
    bool real = r->element == ELEMENT_F32 || r->element == ELEMENT_F64;
    if (o->real && !real)
        return fail(fault, EXIT_USAGE, "--real: --type %s is a type of integers.",
                    r->element == ELEMENT_I32 ? "i32" : "i64");
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

static int read_predicate(struct request *r, struct fault *fault)
{
    int place;
    const char *expression = r->keep ? r->keep : "x > 0";
    int code = predicate_parse(&r->predicate, expression, r->element, &place, fault);
    if (code) show_place(expression, place);
    return code;
}

/* Places are of 32 bits in the document. */
static int check_count(size_t n, const struct options *o, struct fault *fault)
{
    if (o->variant != DOCUMENT || n <= UINT32_MAX) return 0;
    return fail(fault, EXIT_USAGE,
                "%zu elements are more than variant document takes; use --variant fast.", n);
}

int request_plan(const struct subject *s, struct input *input, struct fault *fault)
{
    struct request *r = s->self;
    *input = (struct input){.element = r->element, .n = s->options->n};
    int code = check_together(r, s->options, fault);
    if (!code && !r->grep) code = read_predicate(r, fault);
    return code ? code : check_count(input->n, s->options, fault);
}

static int get(const struct request *r, struct input *input, const struct options *o,
               struct fault *fault)
{
    if (r->grep) return read_text(input, o->input, fault);
    if (o->input) return input_read(input, r->element, o->input, 0, fault);
    return input_generate(input, r->element, o->n, o->real, o->seed, fault);
}

int request_input(const struct subject *s, struct input *input, struct fault *fault)
{
    struct request *r = s->self;
    const struct options *o = s->options;
    int code = request_plan(s, input, fault);
    if (!code) code = get(r, input, o, fault);
    if (code) return code;
    r->element = input->element;
    r->offset = o->offset * element_size(input->element);
    code = check_count(input->n, o, fault);
    if (code) input_free(input);
    return code;
}

void *request_open(void)
{
    struct request *r = calloc(1, sizeof *r);
    if (r) r->element = ELEMENT_F32;
    return r;
}
