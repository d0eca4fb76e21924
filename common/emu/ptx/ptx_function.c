/* ptx_function.c — functions: their heads when the text is loaded, their bodies when wanted. */
#include "ptx_parser.h"
#include <string.h>

/* ---- heads --- */

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

/* Notes where the body is. What it says is read when somebody asks for it. */
static void skip_body(struct parser *p, struct ptx_function *function)
{
    if (!at(p, "{")) fail_expected(p, "a function's body or ;");
    function->has_body = true;
    function->body = p->token.start;
    function->body_line = p->token.line;
    struct lexer start = p->lexer;
    if (!lexer_skip_braces(&p->lexer)) { /* reading it now tells where it goes wrong */
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
    struct ptx_function function = {
        .unit = p->unit, .linkage = linkage, .is_entry = is_entry, .line = p->token.line};
    if (at(p, "(")) parse_parameters(p, &results);
    function.name = expect_word(p, "a function's name");
    if (at(p, "(")) parse_parameters(p, &parameters);
    function.params = parameters.items;
    function.param_count = parameters.count;
    function.results = results.items;
    function.result_count = results.count;

    while (p->token.kind == TOKEN_WORD && p->token.start[0] == '.') {
        bool exact = at(p, ".reqntid"), limit = at(p, ".maxntid") || exact;
        bool blocks = at(p, ".minnctapersm");
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
            if (rank) function.max_cluster = size[0];
        }
    }
    if (!accept(p, ";")) skip_body(p, &function);
    *(struct ptx_function *)list_add(p, &p->functions) = function;
}

/* ---- bodies --- */

/* A place given by a .loc. */
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

static bool counts_at_caller(const struct parser *p, struct ptx_place place)
{
    return ptx_counts_at_caller(file_path(p, place.file), file_path(p, p->home_file));
}

/* The user's line that led to a place in a toolkit header: for calls inlined into inlined calls,
 * that is found from .loc to .loc. */
static struct ptx_place find_home(const struct parser *p, struct ptx_place place)
{
    for (unsigned n = 1; counts_at_caller(p, place) && n <= PTX_RECENT_LOCS; n++) {
        const struct ptx_inlined *recent = &p->recent[(p->recent_next - n) % PTX_RECENT_LOCS];
        if (recent->own.file == place.file && recent->own.line == place.line &&
            recent->own.column == place.column)
            return recent->home;
    }
    return place;
}

/* .loc FILE LINE COLUMN [, function_name SYMBOL[+n], inlined_at FILE LINE COLUMN] */
static void parse_loc(struct parser *p)
{
    struct ptx_place own = parse_place(p), home = own;
    if (!p->home_file) p->home_file = own.file;
    if (accept(p, ",")) {
        expect(p, "function_name");
        expect_word(p, "a name");
        if (accept(p, "+")) expect_integer(p);
        expect(p, ",");
        expect(p, "inlined_at");
        struct ptx_place caller = parse_place(p);
        if (counts_at_caller(p, own)) {
            home = find_home(p, caller);
            p->recent[p->recent_next++ % PTX_RECENT_LOCS] = (struct ptx_inlined){own, home};
        }
    }
    if (!home.line) return; /* made by the compiler: stay with the line before */
    p->file = home.file;
    p->source_line = home.line;
}

/* .pragma "used_bytes_mask 4095" says which bytes of the widened load that follows matter. */
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

void parse_body(struct parser *p)
{
    p->instructions = (struct list){.size = sizeof(struct ptx_instruction)};
    p->registers = (struct list){.size = sizeof(struct ptx_register)};
    p->locals = (struct list){.size = sizeof(struct ptx_variable)};
    p->declarations = (struct list){.size = sizeof(struct declaration)};
    p->used = (struct list){.size = sizeof(struct used_register)};
    p->labels = (struct list){.size = sizeof(struct label)};
    p->references = (struct list){.size = sizeof(struct reference)};
    p->scopes = (struct list){.size = sizeof(unsigned)};
    p->tables = (struct list){.size = sizeof(struct ptx_branch_table)};
    memset(p->buckets, -1, sizeof p->buckets);
    p->scope = 0;
    p->file = p->source_line = p->home_file = p->used_bytes = 0;
    memset(p->recent, 0, sizeof p->recent);

    open_scope(p);
    parse_block(p, 0);
    resolve_labels(p);

    struct ptx_function *function = p->function;
    function->is_parsed = true;
    function->home_file = p->home_file;
    function->instructions = p->instructions.items;
    function->instruction_count = p->instructions.count;
    function->registers = p->registers.items;
    function->register_count = p->registers.count;
    function->variables = p->locals.items;
    function->variable_count = p->locals.count;
    function->tables = p->tables.items;
    function->table_count = p->tables.count;
}
