/* ptx.c — parses a module, and resolves its names: in one text, and across several. */
#include "parser.h"
#include <string.h>

/* ---- registers and labels, and the scopes in which their names hold -------------------------- */

static unsigned parent(struct parser *p, unsigned scope)
{
    return ((unsigned *)p->scopes.items)[scope];
}

void open_scope(struct parser *p)
{
    if (p->scopes.count > 1 << 20)
        parse_fail(p, p->token.line, EMU_INVALID_PTX, "too many { } scopes");
    unsigned *outer = list_add(p, &p->scopes);
    *outer = p->scope;
    p->scope = (unsigned)p->scopes.count - 1;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static unsigned hash(const char *name, size_t length)
{
    unsigned h = 5381;
    for (size_t i = 0; i < length; i++) h = h * 33 + (unsigned char)name[i];
    return h % REGISTER_BUCKETS;
}

/* The index of a name in a range of registers, such as 12 of %r12 in %r<20>; UINT64_MAX: it is not
 * in one of this name. As in ptxas, a range whose own name ends with a digit has no registers. */
static uint64_t index_in(const char *range, size_t range_length, const char *name, size_t length)
{
    enum { MOST_DIGITS = 9 };
    uint64_t index = 0;
    if (length <= range_length || length - range_length > MOST_DIGITS ||
        memcmp(name, range, range_length) || is_digit(range[range_length - 1]))
        return UINT64_MAX;
    for (size_t k = range_length; k < length; k++) {
        if (!is_digit(name[k])) return UINT64_MAX;
        index = index * 10 + (uint64_t)(name[k] - '0');
    }
    return index;
}

/* Finds the declaration that covers a register's name, in this scope or one around it. */
static const struct declaration *find_declaration(struct parser *p, const char *name, size_t length)
{
    for (unsigned scope = p->scope;; scope = parent(p, scope)) {
        const struct declaration *d = p->declarations.items;
        for (size_t i = p->declarations.count; i-- > 0;) {
            if (d[i].scope != scope) continue;
            if (d[i].count ? index_in(d[i].name, d[i].length, name, length) < d[i].count
                           : same(d[i].name, d[i].length, name, length))
                return &d[i];
        }
        if (!scope) return NULL;
    }
}

int find_register(struct parser *p, const char *name, size_t length)
{
    /* Most functions have one scope, so first search the registers that were used there. */
    const struct used_register *used = p->used.items;
    unsigned bucket = hash(name, length);
    if (p->scopes.count == 1)
        for (int i = p->buckets[bucket]; i >= 0; i = used[i].next)
            if (same(used[i].name, used[i].length, name, length)) return (int)used[i].index;

    const struct declaration *declaration = find_declaration(p, name, length);
    if (!declaration) return -1;
    for (int i = p->buckets[bucket]; i >= 0; i = used[i].next)
        if (used[i].scope == declaration->scope && same(used[i].name, used[i].length, name, length))
            return (int)used[i].index;

    enum ptx_type type = declaration->type;
    unsigned scope = declaration->scope;
    struct ptx_register *reg = list_add(p, &p->registers);
    reg->name = copy_text(p, name, length);
    reg->type = type;
    struct used_register *entry = list_add(p, &p->used);
    *entry = (struct used_register){name, length, scope, (unsigned)p->registers.count - 1,
                                    p->buckets[bucket]};
    p->buckets[bucket] = (int)p->used.count - 1;
    return (int)entry->index;
}

/* ---- each name once in a scope --------------------------------------------------------------- */

static const struct label *find_name(const struct list *list, unsigned scope, const char *name,
                                     size_t length)
{
    const struct label *names = list->items;
    for (size_t i = 0; i < list->count; i++)
        if (names[i].scope == scope && same(names[i].name, names[i].length, name, length))
            return &names[i];
    return NULL;
}

/* Adds a name to the labels, or to the other names, of this scope. */
static void add_name(struct parser *p, struct list *list, const char *what, struct label added)
{
    const struct label *first = find_name(&p->labels, p->scope, added.name, added.length);
    if (!first) first = find_name(&p->names, p->scope, added.name, added.length);
    if (first)
        parse_fail(p, added.line, EMU_INVALID_PTX,
                   "%s '%.*s' is declared a second time (first on line %u)", what,
                   (int)added.length, added.name, first->line);
    *(struct label *)list_add(p, list) = added;
}

static _Noreturn void refuse_second(struct parser *p, const char *what, const char *name,
                                    size_t length, unsigned line)
{
    parse_fail(p, line, EMU_INVALID_PTX, "%s '%.*s' is declared a second time", what, (int)length,
               name);
}

void declare_name(struct parser *p, const char *what, const char *name, size_t length,
                  unsigned line)
{
    const struct declaration *range = find_declaration(p, name, length);
    if (range && range->count && range->scope == p->scope)
        refuse_second(p, what, name, length, line);
    add_name(p, &p->names, what, (struct label){name, length, p->scope, 0, line});
}

/* A range may not have a name that has been declared. As in ptxas, its first register, and one with
 * a 0 before its number, may. */
static void check_range(struct parser *p, const struct token *range, uint64_t count)
{
    const struct declaration *d = p->declarations.items;
    const struct label *names = p->names.items;
    for (size_t i = 0; i < p->declarations.count; i++)
        if (d[i].scope == p->scope && d[i].count &&
            same(d[i].name, d[i].length, range->start, range->length))
            refuse_second(p, "register", range->start, range->length, range->line);
    for (size_t i = 0; i < p->names.count; i++)
        if (names[i].scope == p->scope && names[i].length > range->length &&
            names[i].name[range->length] != '0' &&
            index_in(range->start, range->length, names[i].name, names[i].length) < count)
            refuse_second(p, "register", names[i].name, names[i].length, range->line);
}

static void parse_register(struct parser *p, enum ptx_type type)
{
    struct token name = p->token;
    uint64_t count = 0;
    if (name.kind != TOKEN_WORD) fail_expected(p, "a register's name");
    advance(p);
    if (accept(p, "<")) {
        count = expect_integer(p);
        if (!count || count > MAX_REGISTERS)
            parse_fail(p, p->token.line, EMU_INVALID_PTX,
                       "%llu registers in one declaration; at most %d", (unsigned long long)count,
                       MAX_REGISTERS);
        expect(p, ">");
        check_range(p, &name, count);
    } else {
        declare_name(p, "register", name.start, name.length, name.line);
    }
    *(struct declaration *)list_add(p, &p->declarations) =
        (struct declaration){name.start, name.length, (unsigned)count, p->scope, type};
}

void parse_register_declaration(struct parser *p)
{
    enum ptx_type type = type_of_directive(&p->token);
    if (type == PTX_NONE || !ptx_type_has_registers(type)) fail_expected(p, "a register's type");
    advance(p);
    do parse_register(p, type);
    while (accept(p, ","));
    expect(p, ";");
}

void define_label(struct parser *p, const char *name, size_t length)
{
    unsigned position = (unsigned)p->instructions.count;
    struct label label = {name, length, p->scope, position, p->token.line};
    add_name(p, &p->labels, "label", label);
}

void resolve_labels(struct parser *p)
{
    const struct reference *references = p->references.items;
    for (size_t r = 0; r < p->references.count; r++) {
        const struct reference *of = &references[r];
        for (unsigned scope = of->scope;; scope = parent(p, scope)) {
            const struct label *label = find_name(&p->labels, scope, of->name, of->length);
            if (label) {
                of->operand->kind = PTX_LABEL;
                of->operand->index = label->position;
            }
            if (label || !scope) break;
        }
    }
}

/* ---- resolves names across texts, as nvlink does for the objects of nvcc -rdc=true ----------- */

/* A local name belongs to its unit. All other names are shared and have one definition for all
 * units: the first of several weak ones, the largest of several common ones. A name that is only
 * declared .extern stays without a definition, which is an error only where it is used. */

static size_t hash_in_unit(const char *name, int unit)
{
    size_t h = 5381 + (size_t)unit;
    for (; *name; name++) h = h * 33 + (unsigned char)*name;
    return h;
}

static struct ptx_symbol *find_in(const struct ptx_text *text, int unit, const char *name)
{
    size_t bucket = hash_in_unit(name, unit) % text->bucket_count;
    for (int i = text->buckets[bucket]; i >= 0; i = text->symbols[i].next)
        if (text->symbols[i].unit == unit && !strcmp(text->symbols[i].name, name))
            return &text->symbols[i];
    return NULL;
}

const struct ptx_symbol *ptx_find(const struct ptx_text *text, unsigned unit, const char *name)
{
    const struct ptx_symbol *own = find_in(text, (int)unit, name), *shared;
    if (own && (!own->is_function || text->functions[own->index].has_body)) return own;
    shared = find_in(text, PTX_ALL_UNITS, name);
    return shared ? shared : own;
}

/* A definition or declaration of a name. */
struct occurrence {
    const char *name;
    unsigned unit, line;
    enum ptx_linkage linkage;
    bool is_function, is_definition;
    size_t index, bytes;
};

static struct occurrence of_variable(const struct ptx_text *out, size_t index)
{
    const struct ptx_variable *v = &out->variables[index];
    /* The launch gives `.extern .shared x[]` its size; no other unit defines it. */
    bool by_launch = v->space == PTX_SHARED && !v->bytes;
    return (struct occurrence){.name = v->name,
                               .unit = v->unit,
                               .line = v->line,
                               .linkage = by_launch ? PTX_PRIVATE : v->linkage,
                               .is_definition = by_launch || v->linkage != PTX_EXTERN,
                               .index = index,
                               .bytes = v->bytes};
}

static struct occurrence of_function(const struct ptx_text *out, size_t index)
{
    const struct ptx_function *f = &out->functions[index];
    return (struct occurrence){.name = f->name,
                               .unit = f->unit,
                               .line = f->line,
                               .linkage = f->linkage,
                               .is_function = true,
                               .is_definition = f->has_body,
                               .index = index};
}

static struct occurrence of_symbol(const struct ptx_text *out, const struct ptx_symbol *symbol)
{
    return symbol->is_function ? of_function(out, symbol->index) : of_variable(out, symbol->index);
}

/* Does the second definition or declaration of a name replace the first? */
static bool replaces(struct parser *p, const struct ptx_text *out, const struct occurrence *first,
                     const struct occurrence *second)
{
    const char *kind = second->is_function ? "function" : "variable";
    p->name = out->units[second->unit].name;
    if (first->is_function != second->is_function)
        parse_fail(p, second->line, EMU_INVALID_PTX,
                   "'%s' is a %s here, and something else in %s, line %u", second->name, kind,
                   out->units[first->unit].name, first->line);
    if (!first->is_definition || !second->is_definition) return second->is_definition;
    if (second->linkage == PTX_WEAK) return false;
    if (first->linkage == PTX_WEAK) return true;
    if (first->linkage == PTX_COMMON && second->linkage == PTX_COMMON)
        return second->bytes > first->bytes;
    if (second->linkage == PTX_COMMON || first->linkage == PTX_COMMON)
        return first->linkage == PTX_COMMON;
    parse_fail(p, second->line, EMU_INVALID_PTX,
               "%s '%s' is defined a second time (first in %s, line %u)", kind, second->name,
               out->units[first->unit].name, first->line);
}

static void add(struct parser *p, struct ptx_text *out, const struct occurrence *new)
{
    int unit = new->linkage == PTX_PRIVATE ? (int)new->unit : PTX_ALL_UNITS;
    struct ptx_symbol *known = find_in(out, unit, new->name);
    if (known) {
        struct occurrence first = of_symbol(out, known);
        if (replaces(p, out, &first, new)) known->index = new->index;
        return;
    }
    size_t bucket = hash_in_unit(new->name, unit) % out->bucket_count;
    out->symbols[out->symbol_count] =
        (struct ptx_symbol){new->name, unit, new->is_function, new->index, out->buckets[bucket]};
    out->buckets[bucket] = (int)out->symbol_count++;
}

/* Builds out->symbols. Fails if a name is defined twice. */
static void link_names(struct parser *p, struct ptx_text *out)
{
    size_t most = out->variable_count + out->function_count;
    out->symbols = take(p, (most + 1) * sizeof *out->symbols);
    out->bucket_count = 2 * most + 1;
    out->buckets = take(p, out->bucket_count * sizeof *out->buckets);
    for (size_t i = 0; i < out->bucket_count; i++) out->buckets[i] = -1;
    for (size_t i = 0; i < out->variable_count; i++) {
        struct occurrence variable = of_variable(out, i);
        add(p, out, &variable);
    }
    for (size_t i = 0; i < out->function_count; i++) {
        struct occurrence function = of_function(out, i);
        add(p, out, &function);
    }
}

/* ---- a module -------------------------------------------------------------------------------- */

/* Parses a module: one function for each rule of the grammar. The parts of a module are
 * parsed in the files that parser.h lists. */

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
    parser.arena = &out->arena;
    if (setjmp(parser.failed)) {
        ptx_free(out);
        return parser.error;
    }
    copy_sources(&parser, sources, count, out);
    parse_units(&parser, out);
    return 0;
}

int ptx_parse_body(struct ptx_text *text, struct ptx_function *function, char *message, size_t size)
{
    if (function->is_parsed || !function->has_body) return 0;
    struct parser parser = {
        .lexer = {function->body, function->body_end, function->body_line},
        .arena = &text->arena,
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
    arena_free(&text->arena);
    memset(text, 0, sizeof *text);
}
