/*
 * ptx.c — the parser: one function for each rule of the grammar, from ptx_parse downward (read it
 * from the end).
 */
#include "ptx_parser.h"
#include <string.h>

/* ---- directives ------------------------------------------------------------------------------ */

/* .loc FILE LINE COLUMN [, function_name SYMBOL[+n], inlined_at FILE LINE COLUMN] Code inlined from
 * another file (a toolkit header such as __ldg's) is counted under the line that called it. */
static void parse_loc(struct parser *p)
{
    unsigned file = (unsigned)expect_integer(p), line = (unsigned)expect_integer(p);
    expect_integer(p);
    if (!p->home_file) p->home_file = file;
    if (accept(p, ",")) {
        expect(p, "function_name");
        expect_word(p, "a name");
        if (accept(p, "+")) expect_integer(p);
        expect(p, ",");
        expect(p, "inlined_at");
        unsigned caller_file = (unsigned)expect_integer(p),
                 caller_line = (unsigned)expect_integer(p);
        expect_integer(p);
        if (file != p->home_file) {
            file = caller_file;
            line = caller_line;
        }
    }
    if (!line) return; /* made by the compiler: stay with the line before */
    p->file = file;
    p->source_line = line;
}

static void parse_file(struct parser *p)
{
    uint64_t number = expect_integer(p);
    if (number > 1 << 16) fail(p, p->token.line, EMU_INVALID_PTX, "file number too large");
    if (p->token.kind != TOKEN_STRING) fail_expected(p, "a file's name in quotes");
    const char *name = copy_text(p, p->token.start, p->token.length);
    advance(p);
    if (accept(p, ",")) { /* time stamp and size */
        expect_integer(p);
        expect(p, ",");
        expect_integer(p);
    }
    while (p->files.count <= number) *(const char **)list_add(p, &p->files) = NULL;
    ((const char **)p->files.items)[number] = name;
}

static void skip_braces(struct parser *p)
{
    unsigned depth = 0;
    do {
        if (p->token.kind == TOKEN_END) fail_expected(p, "}");
        if (at(p, "{")) depth++;
        if (at(p, "}")) depth--;
        advance(p);
    } while (depth);
}

/* .pragma "used_bytes_mask 4095" says which bytes of the widened load that follows matter. */
static void parse_pragma(struct parser *p)
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

/* ---- variables ------------------------------------------------------------------------------- */

static void store_initial(struct parser *p, struct ptx_variable *variable, size_t index)
{
    size_t size = ptx_type_size(variable->type), offset = index * size;
    if (offset + size > variable->bytes)
        fail(p, p->token.line, EMU_INVALID_PTX, "'%s' has more initial values than elements",
             variable->name);
    uint64_t bits = 0;
    bool negative = accept(p, "-");
    if (p->token.kind == TOKEN_INTEGER || p->token.kind == TOKEN_FLOAT32 ||
        p->token.kind == TOKEN_FLOAT64) {
        bits = negative ? 0 - p->token.bits : p->token.bits;
        advance(p);
    } else {
        /* a symbol, or generic(symbol), + offset: known when the module is loaded */
        const char *symbol = expect_word(p, "an initial value");
        if (accept(p, "(")) {
            symbol = expect_word(p, "a symbol");
            expect(p, ")");
        }
        struct ptx_address_of *grown = take(p, (variable->address_ofs + 1) * sizeof *grown);
        if (variable->address_ofs)
            memcpy(grown, variable->address_of, variable->address_ofs * sizeof *grown);
        grown[variable->address_ofs++] = (struct ptx_address_of){offset, symbol, parse_offset(p)};
        variable->address_of = grown;
    }
    memcpy(variable->initial + offset, &bits, size); /* PTX and the host are both little endian */
}

static size_t parse_initial(struct parser *p, struct ptx_variable *variable, size_t index,
                            unsigned depth)
{
    if (depth > MAX_NESTING)
        fail(p, p->token.line, EMU_INVALID_PTX, "initial values nested too deeply");
    if (!accept(p, "{")) {
        store_initial(p, variable, index);
        return index + 1;
    }
    if (!at(p, "}")) do
            index = parse_initial(p, variable, index, depth + 1);
        while (accept(p, ","));
    expect(p, "}");
    return index;
}

/* Reads from behind the state space: [.align n] .type [.ptr …] name [dimensions] */
static struct ptx_variable parse_variable(struct parser *p, enum ptx_space space)
{
    struct ptx_variable variable = {.space = space, .line = p->token.line};
    size_t elements = 1, lanes = 1;
    while (p->token.kind == TOKEN_WORD && p->token.start[0] == '.') {
        enum ptx_type type = type_of_directive(&p->token);
        if (accept(p, ".align")) {
            variable.align = expect_integer(p);
            if (!variable.align) fail(p, variable.line, EMU_INVALID_PTX, "an alignment of 0");
        } else if (accept(p, ".attribute")) {
            expect(p, "(");
            while (!at(p, ")") && p->token.kind != TOKEN_END) advance(p);
            expect(p, ")");
        } else if (type != PTX_NONE) {
            variable.type = type;
            advance(p);
        } else if (accept(p, ".ptr")) {
            /* a hint about what the parameter points to: .global .align 4 */
            while (p->token.kind == TOKEN_WORD && p->token.start[0] == '.') {
                bool align = at(p, ".align");
                advance(p);
                if (align) expect_integer(p);
            }
        } else if (at(p, ".v2") || at(p, ".v4")) {
            lanes = (size_t)(p->token.start[2] - '0');
            advance(p);
        } else {
            fail_expected(p, "a type");
        }
    }
    if (!ptx_type_size(variable.type)) fail_expected(p, "a type");
    variable.name = expect_word(p, "a variable's name");
    while (accept(p, "[")) {
        uint64_t count = at(p, "]") ? 0 : expect_integer(p);
        if (count > MAX_STATIC_BYTES || elements * count > MAX_STATIC_BYTES)
            fail(p, variable.line, EMU_INVALID_PTX, "'%s' is larger than %d bytes", variable.name,
                 MAX_STATIC_BYTES);
        elements *= count;
        expect(p, "]");
    }
    variable.bytes = elements * lanes * ptx_type_size(variable.type);
    if (!variable.align) variable.align = lanes * ptx_type_size(variable.type);
    if (variable.align > 4096 || (variable.align & (variable.align - 1)))
        fail(p, variable.line, EMU_INVALID_PTX,
             "the alignment of '%s' is not a power of two up to 4096", variable.name);
    return variable;
}

static void parse_variable_declaration(struct parser *p, struct list *list, enum ptx_space space,
                                       bool is_extern)
{
    struct ptx_variable variable = parse_variable(p, space);
    variable.is_extern = is_extern;
    if (accept(p, "=")) {
        variable.initial = take(p, variable.bytes);
        parse_initial(p, &variable, 0, 0);
    }
    expect(p, ";");
    const struct ptx_variable *others = list->items;
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(others[i].name, variable.name) && !others[i].is_extern && !is_extern &&
            space != PTX_PARAM &&
            (list == &p->variables || !p->scope)) /* inner scopes may use a name again */
            fail(p, variable.line, EMU_INVALID_PTX, "variable '%s' is declared a second time",
                 variable.name);
    *(struct ptx_variable *)list_add(p, list) = variable;
}

static bool space_of_directive(struct parser *p, enum ptx_space *space)
{
    for (int s = PTX_GLOBAL; s < PTX_SPACES; s++) {
        const char *name = ptx_space_name(s);
        if (p->token.kind == TOKEN_WORD && p->token.start[0] == '.' &&
            same(p->token.start + 1, p->token.length - 1, name, strlen(name))) {
            *space = s;
            return true;
        }
    }
    return false;
}

/* ---- functions ------------------------------------------------------------------------------- */

static void parse_parameters(struct parser *p, struct list *parameters)
{
    expect(p, "(");
    if (!at(p, ")")) do {
            enum ptx_space space = PTX_PARAM;
            if (!space_of_directive(p, &space) && !at(p, ".reg")) fail_expected(p, ".param");
            advance(p);
            *(struct ptx_variable *)list_add(p, parameters) = parse_variable(p, PTX_PARAM);
        } while (accept(p, ","));
    expect(p, ")");
}

static void parse_statement(struct parser *p, unsigned depth);

static void parse_block(struct parser *p, unsigned depth)
{
    if (depth > MAX_NESTING) fail(p, p->token.line, EMU_INVALID_PTX, "scopes nested too deeply");
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
    } else if (space_of_directive(p, &space)) {
        advance(p);
        parse_variable_declaration(p, &p->locals, space, false);
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

static void parse_body(struct parser *p)
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

    open_scope(p);
    parse_block(p, 0);
    resolve_labels(p);

    struct ptx_function *function = p->function;
    function->has_body = true;
    function->instructions = p->instructions.items;
    function->instruction_count = p->instructions.count;
    function->registers = p->registers.items;
    function->register_count = p->registers.count;
    function->variables = p->locals.items;
    function->variable_count = p->locals.count;
    function->tables = p->tables.items;
    function->table_count = p->tables.count;
}

/* .entry name (params) [.maxntid x, y, z] { … }, or .func (result) name (params) { … } or ; */
static void parse_function(struct parser *p, bool is_entry)
{
    struct list parameters = {.size = sizeof(struct ptx_variable)};
    struct list results = {.size = sizeof(struct ptx_variable)};
    struct ptx_function function = {.is_entry = is_entry, .line = p->token.line};
    if (at(p, "(")) parse_parameters(p, &results);
    function.name = expect_word(p, "a function's name");
    if (at(p, "(")) parse_parameters(p, &parameters);
    function.params = parameters.items;
    function.param_count = parameters.count;
    function.results = results.items;
    function.result_count = results.count;

    while (p->token.kind == TOKEN_WORD && p->token.start[0] == '.') {
        bool exact = at(p, ".reqntid"), limit = at(p, ".maxntid") || exact;
        unsigned size[3] = {1, 1, 1}, dimension = 0;
        advance(p);
        if (p->token.kind == TOKEN_INTEGER) {
            do {
                uint64_t threads = expect_integer(p);
                if (dimension < 3) size[dimension++] = (unsigned)threads;
            } while (accept(p, ","));
            if (limit) function.max_threads = size[0] * size[1] * size[2];
            for (int k = 0; exact && k < 3; k++) function.exact_block[k] = size[k];
        }
    }
    bool declared_only = accept(p, ";");
    const struct ptx_function *others = p->functions.items;
    for (size_t i = 0; i < p->functions.count; i++)
        if (!strcmp(others[i].name, function.name) && others[i].has_body && !declared_only)
            fail(p, function.line, EMU_INVALID_PTX, "function '%s' is defined a second time",
                 function.name);
    p->function = list_add(p, &p->functions);
    *p->function = function;
    if (!declared_only) parse_body(p);
}

/* ---- the module ------------------------------------------------------------------------------ */

static void parse_header(struct parser *p, struct ptx_text *out)
{
    if (!at(p, ".version")) fail_expected(p, ".version at the start");
    const char *number = p->lexer.next; /* "9.0": not one of the lexer's numbers */
    while (number < p->lexer.end && (*number == ' ' || *number == '\t')) number++;
    if (number + 2 >= p->lexer.end || number[0] < '0' || number[0] > '9' || number[1] != '.' ||
        number[2] < '0' || number[2] > '9')
        fail(p, p->token.line, EMU_INVALID_PTX, ".version is followed by no version");
    out->version_major = (unsigned)(number[0] - '0');
    out->version_minor = (unsigned)(number[2] - '0');
    p->lexer.next = number + 3;
    advance(p);
    expect(p, ".target");
    const char *target = expect_word(p, "a target such as sm_90");
    if (strncmp(target, "sm_", 3))
        fail(p, p->token.line, EMU_INVALID_PTX, "unknown target '%s'", target);
    for (const char *c = target + 3; *c >= '0' && *c <= '9' && out->target < 10000; c++)
        out->target = out->target * 10 + (unsigned)(*c - '0');
    while (accept(p, ",")) expect_word(p, "a target option");
}

static void parse_module(struct parser *p, struct ptx_text *out)
{
    enum ptx_space space;
    advance(p);
    parse_header(p, out);
    while (p->token.kind != TOKEN_END) {
        bool is_extern = false;
        while (at(p, ".visible") || at(p, ".extern") || at(p, ".weak") || at(p, ".common")) {
            is_extern = is_extern || at(p, ".extern");
            advance(p);
        }
        if (accept(p, ".entry")) {
            parse_function(p, true);
        } else if (accept(p, ".func")) {
            parse_function(p, false);
        } else if (space_of_directive(p, &space)) {
            advance(p);
            parse_variable_declaration(p, &p->variables, space, is_extern);
        } else if (at(p, ".address_size")) {
            unsigned line = p->token.line;
            advance(p);
            if (expect_integer(p) != 64)
                fail(p, line, EMU_UNSUPPORTED_PTX, "only .address_size 64 is supported");
        } else if (accept(p, ".file")) {
            parse_file(p);
        } else if (accept(p, ".section")) {
            expect_word(p, "a section's name");
            skip_braces(p);
        } else if (accept(p, ".pragma")) {
            parse_pragma(p);
        } else {
            fail_expected(p, "a directive");
        }
    }
    out->variables = p->variables.items;
    out->variable_count = p->variables.count;
    out->functions = p->functions.items;
    out->function_count = p->functions.count;
    out->files = p->files.items;
    out->file_count = p->files.count;
}

int ptx_parse(const char *text, size_t length, const char *name, struct ptx_text *out,
              char *message, size_t size)
{
    struct parser parser = {
        .lexer = {text, text + length, 1},
        .message = message,
        .message_size = size,
        .name = name ? name : "PTX",
        .variables = {.size = sizeof(struct ptx_variable)},
        .functions = {.size = sizeof(struct ptx_function)},
        .files = {.size = sizeof(const char *)},
    };
    memset(out, 0, sizeof *out);
    parser.arena = arena_new();
    if (!parser.arena) {
        snprintf(message, size, "%s: out of memory while reading the PTX", parser.name);
        return EMU_OUT_OF_MEMORY;
    }
    if (setjmp(parser.failed)) {
        arena_free(parser.arena);
        memset(out, 0, sizeof *out);
        return parser.error;
    }
    parse_module(&parser, out);
    out->arena = parser.arena;
    return 0;
}

void ptx_free(struct ptx_text *text)
{
    arena_free(text->arena);
    memset(text, 0, sizeof *text);
}
