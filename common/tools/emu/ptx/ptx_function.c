/* ptx_function.c — parses functions and their instructions. */
#include "parser.h"
#include <string.h>

/* ---- operands -------------------------------------------------------------------------------- */

static void parse_operand(struct parser *p, struct ptx_operand *out, unsigned depth);

static void parse_items(struct parser *p, struct ptx_operand *out, const char *close,
                        unsigned depth)
{
    struct list items = {.size = sizeof(struct ptx_operand *)};
    out->kind = PTX_VECTOR;
    if (!at(p, close)) do {
            /* Items must not move: a reference may keep a pointer to one until the function
             * ends. */
            struct ptx_operand *item = take(p, sizeof *item);
            parse_operand(p, item, depth + 1);
            *(struct ptx_operand **)list_add(p, &items) = item;
        } while (accept(p, ","));
    expect(p, close);
    out->items = items.items;
    out->count = (unsigned)items.count;
}

/* A number or a constant expression. */
static void parse_constant_operand(struct parser *p, struct ptx_operand *out)
{
    enum token_kind kind = parse_constant(p, &out->bits);
    out->kind = kind == TOKEN_FLOAT32   ? PTX_FLOAT32
                : kind == TOKEN_FLOAT64 ? PTX_FLOAT64
                                        : PTX_INTEGER;
}

static bool at_constant(struct parser *p)
{
    return p->token.kind == TOKEN_INTEGER || p->token.kind == TOKEN_FLOAT32 ||
           p->token.kind == TOKEN_FLOAT64 || at(p, "-") || at(p, "+") || at(p, "~") ||
           at(p, "WARP_SZ") || (at(p, "(") && !p->in_call);
}

/* What is added to an address: [a+4], [a+-4]. */
static int64_t parse_added(struct parser *p)
{
    if (at(p, "-")) fail_expected(p, "+ before an offset");
    return parse_offset(p);
}

/* Reads the i] of name[i]; returns the offset of element i. As in ptxas, the elements of vectors
 * are scalars, those of an array without a size are bytes, and the offset has 32 bits. */
static int64_t parse_index(struct parser *p, const char *name)
{
    const struct ptx_function *f = p->function;
    const struct ptx_variable *v = NULL, *local = p->locals.items;
    const struct ptx_symbol *symbol = p->text ? ptx_find(p->text, f->unit, name) : NULL;
    uint64_t index;
    if (symbol && !symbol->is_function) v = &p->text->variables[symbol->index];
    for (size_t i = 0; i < f->param_count; i++)
        if (!strcmp(f->params[i].name, name)) v = &f->params[i];
    for (size_t i = 0; i < p->locals.count; i++)
        if (!strcmp(local[i].name, name)) v = &local[i];
    if (!v) parse_fail(p, p->token.line, EMU_INVALID_PTX, "'%s' is no variable", name);
    if (parse_constant(p, &index) != TOKEN_INTEGER) fail_expected(p, "an integer");
    expect(p, "]");
    return (uint32_t)(index * (v->bytes ? ptx_type_size(v->type) : 1));
}

static void parse_word_operand(struct parser *p, struct ptx_operand *out, unsigned depth)
{
    const char *name = p->token.start;
    size_t length = p->token.length;
    unsigned line = p->token.line;
    int reg = find_register(p, name, length);
    advance(p);
    if (reg >= 0) {
        /* Components of vector registers (%v.x) do not occur in nvcc's output and are not
         * supported. */
        out->kind = PTX_REGISTER;
        out->index = (unsigned)reg;
    } else if (same(name, length, "_", 1)) {
        out->kind = PTX_SINK;
    } else if (name[0] == '%') {
        out->kind = PTX_SPECIAL;
        out->name = copy_text(p, name + 1, length - 1);
    } else {
        out->kind = PTX_SYMBOL;
        out->name = copy_text(p, name, length);
        if (!depth && accept(p, "[")) {
            out->offset = parse_index(p, out->name);
            if (!p->in_access) return;
            out->base = take(p, sizeof *out);
            *out->base = *out;
            out->kind = PTX_ADDRESS;
            return;
        }
        struct reference *reference = list_add(p, &p->references);
        *reference = (struct reference){out, name, length, p->scope, line};
        out->offset = parse_added(p);
    }
}

static void parse_operand(struct parser *p, struct ptx_operand *out, unsigned depth)
{
    if (depth > MAX_NESTING)
        parse_fail(p, p->token.line, EMU_INVALID_PTX, "operands nested too deeply");
    if (at_constant(p)) {
        parse_constant_operand(p, out);
    } else if (accept(p, "{")) {
        parse_items(p, out, "}", depth);
    } else if (accept(p, "(")) {
        parse_items(p, out, ")", depth);
    } else if (accept(p, "[")) {
        out->kind = PTX_ADDRESS;
        out->base = take(p, sizeof *out->base);
        parse_operand(p, out->base, depth + 1);
        out->offset = out->base->kind == PTX_SYMBOL ? out->base->offset : parse_added(p);
        if (accept(p, ",")) { /* the coordinates of a texture */
            out->base->other = take(p, sizeof *out->base->other);
            parse_operand(p, out->base->other, depth + 1);
        }
        expect(p, "]");
    } else if (accept(p, "!")) {
        parse_operand(p, out, depth + 1);
        out->negated = true;
    } else if (p->token.kind == TOKEN_WORD) {
        parse_word_operand(p, out, depth);
    } else {
        fail_expected(p, "an operand");
    }
    if (accept(p, "|")) {
        out->other = take(p, sizeof *out->other);
        parse_operand(p, out->other, depth + 1);
    }
}

/* ---- instructions ---------------------------------------------------------------------------- */

/* "ld.global.f32" → "ld", "global", "f32" */
static void split_opcode(struct parser *p, struct ptx_instruction *instruction)
{
    const char *start = p->token.start, *end = start + p->token.length;
    while (start < end) {
        const char *dot = memchr(start, '.', (size_t)(end - start));
        const char *stop = dot ? dot : end;
        if (instruction->word_count == PTX_MAX_WORDS)
            parse_fail(p, p->token.line, EMU_INVALID_PTX, "an opcode of more than %d parts",
                       PTX_MAX_WORDS);
        instruction->words[instruction->word_count++] = copy_text(p, start, (size_t)(stop - start));
        start = stop + 1;
    }
}

static void parse_instruction(struct parser *p)
{
    struct ptx_instruction *instruction = list_add(p, &p->instructions);
    memset(instruction, 0, sizeof *instruction);
    instruction->guard = -1;
    instruction->line = p->token.line;
    instruction->file = p->file;
    instruction->source_line = p->source_line;
    instruction->location = p->location;
    if (accept(p, "@")) {
        instruction->guard_negated = accept(p, "!");
        if (p->token.kind != TOKEN_WORD) fail_expected(p, "a guard predicate");
        instruction->guard = find_register(p, p->token.start, p->token.length);
        if (instruction->guard < 0)
            parse_fail(p, p->token.line, EMU_INVALID_PTX, "register '%.*s' is not declared",
                       (int)p->token.length, p->token.start);
        advance(p);
    }
    if (p->token.kind != TOKEN_WORD || p->token.start[0] < 'a' || p->token.start[0] > 'z')
        fail_expected(p, "an instruction");
    split_opcode(p, instruction);
    if (!strcmp(instruction->words[0], "ld")) {
        instruction->used_bytes = p->used_bytes;
        p->used_bytes = 0;
    }
    p->in_call = !strcmp(instruction->words[0], "call");
    p->in_access = !strncmp(instruction->words[0], "ld", 2) || !strcmp(instruction->words[0], "st");
    advance(p);
    /* References keep pointers to operands, so operands must not move when the list of instructions
     * grows. */
    struct ptx_operand *operands = take(p, PTX_MAX_OPERANDS * sizeof *operands);
    instruction->operands = operands;
    if (!at(p, ";")) do {
            if (instruction->operand_count == PTX_MAX_OPERANDS)
                parse_fail(p, p->token.line, EMU_INVALID_PTX, "more than %d operands",
                           PTX_MAX_OPERANDS);
            parse_operand(p, &operands[instruction->operand_count++], 0);
        } while (accept(p, ","));
    expect(p, ";");
}

/* TABLE: .branchtargets A, B, C; */
static void parse_branch_targets(struct parser *p, const char *name)
{
    struct ptx_branch_table *table = list_add(p, &p->tables);
    struct ptx_operand *targets = take(p, sizeof *targets);
    table->name = name;
    parse_items(p, targets, ";", 0);
    table->targets = targets;
}

/* ---- heads ----------------------------------------------------------------------------------- */

static void parse_parameters(struct parser *p, struct list *parameters)
{
    expect(p, "(");
    if (!at(p, ")")) do {
            enum ptx_space space = PTX_PARAM;
            if (!accept_space(p, &space) && !accept(p, ".reg")) fail_expected(p, ".param");
            *(struct ptx_variable *)list_add(p, parameters) = parse_variable(p, PTX_PARAM);
        } while (accept(p, ","));
    expect(p, ")");
}

/* Notes the place of the body, which is parsed when it is needed. */
static void skip_body(struct parser *p, struct ptx_function *function)
{
    if (!at(p, "{")) fail_expected(p, "a function's body or ;");
    function->has_body = true;
    function->body = p->token.start;
    function->body_line = p->token.line;
    struct lexer start = p->lexer;
    if (!lexer_skip_braces(&p->lexer)) { /* parse the body now, for a message that names the line */
        p->lexer = start;
        p->function = function;
        parse_body(p);
        parse_fail(p, p->token.line, EMU_INVALID_PTX, "the body of '%s' does not end",
                   function->name);
    }
    function->body_end = p->lexer.next;
    advance(p);
}

/* .entry name (params) [.maxntid x, y, z] { … }, or .func (result) name (params) { … } or ; */
void parse_function(struct parser *p, bool is_entry, enum ptx_linkage linkage)
{
    struct list parameters = {.size = sizeof(struct ptx_variable)};
    struct list results = {.size = sizeof(struct ptx_variable)};
    struct ptx_function function = {.unit = p->unit,
                                    .linkage = linkage,
                                    .is_entry = is_entry,
                                    .line = p->token.line,
                                    .target = p->target,
                                    .is_specific = p->is_specific,
                                    .is_debug = p->is_debug};
    if (at(p, "(")) parse_parameters(p, &results);
    function.name = expect_word(p, "a function's name");
    if (at(p, "(")) parse_parameters(p, &parameters);
    function.params = parameters.items;
    function.param_count = parameters.count;
    function.results = results.items;
    function.result_count = results.count;

    while (p->token.kind == TOKEN_WORD && p->token.start[0] == '.') {
        bool exact = at(p, ".reqntid"), limit = at(p, ".maxntid") || exact;
        bool blocks = at(p, ".minnctapersm"), registers = at(p, ".maxnreg");
        bool cluster = at(p, ".reqnctapercluster"), rank = at(p, ".maxclusterrank");
        unsigned size[3] = {1, 1, 1}, dimension = 0;
        advance(p);
        if (p->token.kind == TOKEN_INTEGER) {
            do {
                uint64_t threads = expect_integer(p);
                if (dimension < 3) size[dimension++] = (unsigned)threads;
            } while (accept(p, ","));
            if (limit) function.max_threads = size[0] * size[1] * size[2];
            for (int k = 0; exact && k < 3; k++) function.exact_block[k] = size[k];
            for (int k = 0; cluster && k < 3; k++) function.exact_cluster[k] = size[k];
            if (blocks) function.min_blocks = size[0];
            if (registers) function.max_registers = size[0];
            if (rank) function.max_cluster = size[0];
        }
    }
    if (!accept(p, ";")) skip_body(p, &function);
    *(struct ptx_function *)list_add(p, &p->functions) = function;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* Reads the place in a .loc. */
static struct ptx_place parse_place(struct parser *p)
{
    struct ptx_place place = {.file = p->file_base + (unsigned)expect_integer(p)};
    place.line = (unsigned)expect_integer(p);
    place.column = (unsigned)expect_integer(p);
    return place;
}

/* The path of a file; NULL if it is not declared. */
static const char *file_path(const struct parser *p, unsigned file)
{
    return file < p->files.count ? ((const char *const *)p->files.items)[file] : NULL;
}

static bool is_same_place(struct ptx_place a, struct ptx_place b)
{
    return a.file == b.file && a.line == b.line && a.column == b.column;
}

static struct ptx_location **bucket_of(struct parser *p, struct ptx_place place)
{
    enum { PRIME = 31 };
    unsigned hash = (place.line * PRIME + place.column) * PRIME + place.file;
    return &p->locations[hash % LOCATION_BUCKETS];
}

/* The number of the last .loc that names a location or one of the calls that led to it. */
static unsigned last_of(const struct ptx_location *l)
{
    unsigned last = 0;
    for (; l; l = l->caller)
        if (l->last > last) last = l->last;
    return last;
}

/* Returns the one object for a place and its caller. */
static const struct ptx_location *note_location(struct parser *p, struct ptx_place own,
                                                struct ptx_place home,
                                                const struct ptx_location *caller)
{
    struct ptx_location **first = bucket_of(p, own), *l = *first;
    while (l && (l->caller != caller || !is_same_place(l->own, own))) l = l->next;
    if (!l) {
        l = take(p, sizeof *l);
        unsigned depth = caller ? caller->depth + 1 : 0;
        *l = (struct ptx_location){own, home, caller, depth, *first, 0};
        *first = l;
    }
    l->last = ++p->loc_count;
    return l;
}

/* The location of the call through which code was inlined. nvcc names each call only once in a
 * function. If several calls lead to the same place, the one that was named last is meant. */
static const struct ptx_location *find_caller(struct parser *p, struct ptx_place place)
{
    const struct ptx_location *found = NULL;
    for (const struct ptx_location *l = *bucket_of(p, place); l; l = l->next)
        if (is_same_place(l->own, place) && last_of(l) >= last_of(found)) found = l;
    return found ? found : note_location(p, place, place, NULL);
}

/* .loc FILE LINE COLUMN [, function_name SYMBOL[+n], inlined_at FILE LINE COLUMN]
 *
 * Code of a toolkit header counts for the user's line that led to it. If the call itself was
 * inlined, the user's line is found by following the callers. */
static void parse_loc(struct parser *p)
{
    struct ptx_place own = parse_place(p), home = own;
    const struct ptx_location *caller = NULL;
    if (!p->home_file) p->home_file = own.file, p->home_line = own.line;
    if (accept(p, ",")) {
        expect(p, "function_name");
        expect_word(p, "a name");
        if (accept(p, "+")) expect_integer(p);
        expect(p, ",");
        expect(p, "inlined_at");
        caller = find_caller(p, parse_place(p));
        if (ptx_counts_at_caller(file_path(p, own.file), file_path(p, p->home_file)))
            home = caller->home;
        if (caller->depth == MAX_NESTING) caller = NULL;
    }
    const struct ptx_location *location = note_location(p, own, home, caller);
    if (!home.line) return; /* line 0, made by the compiler: keep the line before */
    p->file = home.file;
    p->source_line = home.line;
    p->location = location;
}

/* .pragma "used_bytes_mask 4095" says which bytes of the next load, which was widened, are used. */
void parse_pragma(struct parser *p)
{
    static const char mask[] = "used_bytes_mask ";
    if (p->token.kind != TOKEN_STRING) fail_expected(p, "a pragma in quotes");
    if (p->token.length > sizeof mask - 1 && !memcmp(p->token.start, mask, sizeof mask - 1)) {
        const char *digits = p->token.start + sizeof mask - 1;
        struct lexer lexer = {digits, p->token.start + p->token.length, 0};
        struct token value = lexer_next(&lexer);
        if (value.kind == TOKEN_INTEGER) p->used_bytes = (unsigned)value.bits;
    }
    advance(p);
    expect(p, ";");
}

static void parse_statement(struct parser *p, unsigned depth);

static void parse_block(struct parser *p, unsigned depth)
{
    if (depth > MAX_NESTING)
        parse_fail(p, p->token.line, EMU_INVALID_PTX, "scopes nested too deeply");
    expect(p, "{");
    while (!at(p, "}")) parse_statement(p, depth);
    advance(p);
}

static void parse_statement(struct parser *p, unsigned depth)
{
    enum ptx_space space;
    if (at(p, "{")) {
        unsigned outer = p->scope;
        open_scope(p);
        parse_block(p, depth + 1);
        p->scope = outer;
    } else if (accept(p, ".reg")) {
        parse_register_declaration(p);
    } else if (accept(p, ".loc")) {
        parse_loc(p);
    } else if (accept(p, ".pragma")) {
        parse_pragma(p);
    } else if (accept_space(p, &space)) {
        parse_variable_declaration(p, &p->locals, space, PTX_PRIVATE);
    } else if (p->token.kind == TOKEN_WORD && p->token.start[0] != '.') {
        struct token word = p->token;
        struct lexer ahead = p->lexer;
        struct token next = lexer_next(&ahead);
        if (token_is(&next, ":")) {
            define_label(p, word.start, word.length);
            advance(p);
            advance(p);
            if (accept(p, ".branchtargets"))
                parse_branch_targets(p, copy_text(p, word.start, word.length));
            else if (at(p, ".callprototype") || at(p, ".calltargets"))
                while (!accept(p, ";")) {
                    if (p->token.kind == TOKEN_END) fail_expected(p, ";");
                    advance(p);
                }
        } else {
            parse_instruction(p);
        }
    } else if (at(p, "@")) {
        parse_instruction(p);
    } else {
        fail_expected(p, "an instruction or a directive");
    }
}

static void declare_all(struct parser *p, const struct ptx_variable *parameters, size_t count)
{
    for (const struct ptx_variable *v = parameters; v < parameters + count; v++)
        declare_name(p, "parameter", v->name, strlen(v->name), v->line);
}

void parse_body(struct parser *p)
{
    p->instructions = (struct list){.size = sizeof(struct ptx_instruction)};
    p->registers = (struct list){.size = sizeof(struct ptx_register)};
    p->locals = (struct list){.size = sizeof(struct ptx_variable)};
    p->declarations = (struct list){.size = sizeof(struct declaration)};
    p->used = (struct list){.size = sizeof(struct used_register)};
    p->labels = p->names = (struct list){.size = sizeof(struct label)};
    p->references = (struct list){.size = sizeof(struct reference)};
    p->scopes = (struct list){.size = sizeof(unsigned)};
    p->tables = (struct list){.size = sizeof(struct ptx_branch_table)};
    memset(p->buckets, -1, sizeof p->buckets);
    p->scope = 0;
    p->file = p->source_line = p->home_file = p->home_line = p->used_bytes = 0;
    p->location = NULL;
    p->loc_count = 0;
    memset(p->locations, 0, sizeof p->locations);

    open_scope(p);
    declare_all(p, p->function->results, p->function->result_count);
    declare_all(p, p->function->params, p->function->param_count);
    parse_block(p, 0);
    resolve_labels(p);

    struct ptx_function *function = p->function;
    function->is_parsed = true;
    function->home_file = p->home_file;
    function->home_line = p->home_line;
    function->instructions = p->instructions.items;
    function->instruction_count = p->instructions.count;
    function->registers = p->registers.items;
    function->register_count = p->registers.count;
    function->variables = p->locals.items;
    function->variable_count = p->locals.count;
    function->tables = p->tables.items;
    function->table_count = p->tables.count;
}
