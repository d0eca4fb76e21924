/*
 * ptx.c — parses a module: one function for each rule of the grammar. The parts of a module are
 * parsed in the files that parser.h lists.
 */
#include "parser.h"
#include <stdlib.h>
#include <string.h>

/* Puts a pointer at an index of a list of such; those before it that are new are NULL. */
static void put_at(struct parser *p, struct list *list, uint64_t index, const char *text)
{
    while (list->count <= index) *(const char **)list_add(p, list) = NULL;
    ((const char **)list->items)[index] = text;
}

/* ptxas does not replace escapes, and takes their \ for the end of a folder's name. So the name in
 * machine code begins behind the last escape. */
static const char *name_in_code(struct parser *p)
{
    const char *end = p->token.start + p->token.length, *start = end;
    while (start > p->token.start && start[-1] != '/' && start[-1] != '\\') start--;
    return copy_text(p, start, (size_t)(end - start));
}

static void parse_file(struct parser *p)
{
    uint64_t number = expect_integer(p);
    if (number > 1 << 16) parse_fail(p, p->token.line, EMU_INVALID_PTX, "file number too large");
    if (p->token.kind != TOKEN_STRING) fail_expected(p, "a file's name in quotes");
    const char *name = copy_string(p), *in_code = name_in_code(p);
    advance(p);
    if (accept(p, ",")) { /* time stamp and size, ignored */
        expect_integer(p);
        expect(p, ",");
        expect_integer(p);
    }
    number += p->file_base;
    put_at(p, &p->files, number, name);
    put_at(p, &p->code_files, number, in_code);
}

/* .section .debug_info { … } */
static void skip_section(struct parser *p)
{
    expect_word(p, "a section's name");
    if (!at(p, "{")) fail_expected(p, "{");
    if (!lexer_skip_braces(&p->lexer))
        parse_fail(p, p->lexer.line, EMU_INVALID_PTX, "a section does not end: a } is missing");
    advance(p);
}

/* Fails if the version, times 10, does not have the target yet. Targets that are not in the table
 * pass. */
static void check_version(struct parser *p, unsigned version)
{
    static const struct {
        uint8_t target, version;
    } first[] = {{50, 40},  {52, 41},  {53, 42},  {60, 50},  {61, 50}, {62, 50}, {70, 60},
                 {72, 61},  {75, 63},  {80, 70},  {86, 71},  {87, 74}, {89, 78}, {90, 78},
                 {100, 86}, {103, 88}, {110, 90}, {120, 87}, {121, 88}};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        if (first[i].target == p->target && version < first[i].version)
            parse_fail(p, p->token.line, EMU_INVALID_PTX,
                       "target sm_%u needs .version %u.%u or higher", p->target,
                       first[i].version / 10, first[i].version % 10);
}

static void parse_header(struct parser *p)
{
    if (!at(p, ".version")) fail_expected(p, ".version at the start");
    const char *number = p->lexer.next; /* "9.0" is not a number to the lexer */
    while (number < p->lexer.end && (*number == ' ' || *number == '\t')) number++;
    const char *point = number;
    while (point < p->lexer.end && *point >= '0' && *point <= '9') point++;
    if (point == number || point + 1 >= p->lexer.end || *point != '.' || point[1] < '0' ||
        point[1] > '9')
        parse_fail(p, p->token.line, EMU_INVALID_PTX, ".version is followed by no version");
    unsigned version = (unsigned)strtoul(number, NULL, 10) * 10 + (unsigned)(point[1] - '0');
    p->lexer.next = point + 2;
    advance(p);
    expect(p, ".target");
    const char *target = expect_word(p, "a target such as sm_90");
    if (strncmp(target, "sm_", 3))
        parse_fail(p, p->token.line, EMU_INVALID_PTX, "unknown target '%s'", target);
    char *rest;
    p->target = (unsigned)strtoul(target + 3, &rest, 10);
    p->is_specific = *rest == 'a' || *rest == 'f';
    check_version(p, version);
    p->is_debug = false;
    while (accept(p, ","))
        if (!strcmp(expect_word(p, "a target option"), "debug")) p->is_debug = true;
}

static enum ptx_linkage parse_linkage(struct parser *p)
{
    if (accept(p, ".visible")) return PTX_VISIBLE;
    if (accept(p, ".extern")) return PTX_EXTERN;
    if (accept(p, ".weak")) return PTX_WEAK;
    return accept(p, ".common") ? PTX_COMMON : PTX_PRIVATE;
}

static void parse_unit(struct parser *p)
{
    enum ptx_space space;
    advance(p);
    parse_header(p);
    while (p->token.kind != TOKEN_END) {
        enum ptx_linkage linkage = parse_linkage(p);
        if (accept(p, ".entry")) {
            parse_function(p, true, linkage);
        } else if (accept(p, ".func")) {
            parse_function(p, false, linkage);
        } else if (accept_space(p, &space)) {
            parse_variable_declaration(p, &p->variables, space, linkage);
        } else if (at(p, ".address_size")) {
            unsigned line = p->token.line;
            advance(p);
            if (expect_integer(p) != 64)
                parse_fail(p, line, EMU_UNSUPPORTED_PTX, "only .address_size 64 is supported");
        } else if (accept(p, ".file")) {
            parse_file(p);
        } else if (accept(p, ".section")) {
            skip_section(p);
        } else if (accept(p, ".pragma")) {
            parse_pragma(p);
        } else {
            fail_expected(p, "a directive");
        }
    }
}

/* Copies the texts, which the caller may free before a body is parsed. */
static void copy_sources(struct parser *p, const struct ptx_source *sources, size_t count,
                         struct ptx_text *out)
{
    out->units = take(p, count * sizeof *out->units);
    out->file_base = take(p, count * sizeof *out->file_base);
    out->unit_count = count;
    for (size_t u = 0; u < count; u++) {
        const struct ptx_source *from = &sources[u];
        const char *name = from->name ? from->name : "PTX";
        out->units[u] = (struct ptx_source){copy_text(p, from->text, from->length), from->length,
                                            copy_text(p, name, strlen(name))};
    }
}

static void parse_units(struct parser *p, struct ptx_text *out)
{
    for (size_t u = 0; u < out->unit_count; u++) {
        const struct ptx_source *source = &out->units[u];
        p->unit = (unsigned)u;
        p->name = source->name;
        p->lexer = (struct lexer){source->text, source->text + source->length, 1};
        p->file_base = out->file_base[u] = (unsigned)p->files.count;
        parse_unit(p);
    }
    out->variables = p->variables.items;
    out->variable_count = p->variables.count;
    out->functions = p->functions.items;
    out->function_count = p->functions.count;
    out->files = p->files.items;
    out->code_files = p->code_files.items;
    out->file_count = p->files.count;
    link_names(p, out);
}

int ptx_parse(const struct ptx_source *sources, size_t count, struct ptx_text *out, char *message,
              size_t size)
{
    struct parser parser = {
        .message = message,
        .message_size = size,
        .name = "PTX",
        .variables = {.size = sizeof(struct ptx_variable)},
        .functions = {.size = sizeof(struct ptx_function)},
        .files = {.size = sizeof(const char *)},
        .code_files = {.size = sizeof(const char *)},
    };
    memset(out, 0, sizeof *out);
    parser.arena = arena_new();
    if (!parser.arena) {
        snprintf(message, size, "out of memory while reading the PTX");
        return EMU_OUT_OF_MEMORY;
    }
    if (setjmp(parser.failed)) {
        arena_free(parser.arena);
        memset(out, 0, sizeof *out);
        return parser.error;
    }
    copy_sources(&parser, sources, count, out);
    parse_units(&parser, out);
    out->arena = parser.arena;
    return 0;
}

int ptx_parse_body(struct ptx_text *text, struct ptx_function *function, char *message, size_t size)
{
    if (function->is_parsed || !function->has_body) return 0;
    struct parser parser = {
        .lexer = {function->body, function->body_end, function->body_line},
        .arena = text->arena,
        .message = message,
        .message_size = size,
        .name = text->units[function->unit].name,
        .function = function,
        .unit = function->unit,
        .file_base = text->file_base[function->unit],
        .files = {.items = (void *)text->files, .count = text->file_count},
        .text = text,
    };
    if (setjmp(parser.failed)) return parser.error;
    advance(&parser);
    parse_body(&parser);
    return 0;
}

void ptx_free(struct ptx_text *text)
{
    arena_free(text->arena);
    memset(text, 0, sizeof *text);
}
