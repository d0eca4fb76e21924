/*
 * ptx.c — the parser: one function for each rule of the grammar, from ptx_parse downward (read it
 * from the end). An error anywhere jumps back to ptx_parse with a sentence in parser->message.
 */
#include "ptx.h"
#include "arena.h"
#include "emu.h"
#include "ptx_lexer.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

enum {
    MAX_NESTING = 64,           /* of operands and of scopes */
    MAX_REGISTERS = 1 << 20,    /* in one declaration */
    MAX_STATIC_BYTES = 1 << 30, /* of one variable */
};

/* A list that grows inside the arena. */
struct list {
    void *items;
    size_t count, room, size;
};

/* `.reg .b32 %r<75>;` declares 75 registers by prefix; `.reg .pred p;` one by its whole name. A
 * register gets its index when it is first used, so that declared but unused ones cost nothing. */
struct declaration {
    const char *name;
    size_t length;
    unsigned count, scope;
    enum ptx_type type;
};
struct used_register {
    const char *name;
    size_t length;
    unsigned scope, index;
    int next;
};
struct label {
    const char *name;
    size_t length;
    unsigned scope, position, line;
};
/* A label used before it is defined: patched at the end of the function. */
struct reference {
    struct ptx_operand *operand;
    const char *name;
    size_t length;
    unsigned scope, line;
};

enum { REGISTER_BUCKETS = 1024 };

struct parser {
    struct lexer lexer;
    struct token token; /* the one that is looked at */
    struct arena *arena;
    jmp_buf failed;
    int error;
    char *message;
    size_t message_size;
    const char *name;

    struct list variables, functions, files; /* of the module */

    /* of the function being read */
    struct ptx_function *function;
    struct list instructions, registers, locals, declarations, used, labels, references, scopes,
        tables;
    int buckets[REGISTER_BUCKETS]; /* of `used`, -1: empty */
    unsigned scope;                /* scopes[i] is the index of the enclosing one */
    unsigned file, source_line, home_file, used_bytes;
};

static _Noreturn void fail(struct parser *p, unsigned line, int error, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(p->message, p->message_size, "%s, line %u: %s", p->name, line, text);
    p->error = error;
    longjmp(p->failed, 1);
}

static void *take(struct parser *p, size_t bytes)
{
    void *memory = arena_take(p->arena, bytes);
    if (!memory) fail(p, p->token.line, EMU_OUT_OF_MEMORY, "out of memory while reading the PTX");
    return memory;
}

static const char *copy_text(struct parser *p, const char *text, size_t length)
{
    const char *copy = arena_text(p->arena, text, length);
    if (!copy) fail(p, p->token.line, EMU_OUT_OF_MEMORY, "out of memory while reading the PTX");
    return copy;
}

static void *list_add(struct parser *p, struct list *list)
{
    if (list->count == list->room) {
        size_t room = list->room ? list->room * 2 : 16;
        void *items = take(p, room * list->size);
        if (list->count) memcpy(items, list->items, list->count * list->size);
        list->items = items;
        list->room = room;
    }
    return (char *)list->items + list->size * list->count++;
}

/* ---- tokens -------------------------------------------------------------------------------- */

static void advance(struct parser *p)
{
    p->token = lexer_next(&p->lexer);
    if (p->token.kind == TOKEN_BAD)
        fail(p, p->token.line, EMU_INVALID_PTX,
             "this is not PTX: a stray byte, a malformed number or one of more than 64 bits, or a "
             "string or "
             "comment that does not end");
}

static _Noreturn void fail_expected(struct parser *p, const char *what)
{
    int length = p->token.length > 40 ? 40 : (int)p->token.length;
    if (p->token.kind == TOKEN_END)
        fail(p, p->token.line, EMU_INVALID_PTX, "expected %s, but the text ends here", what);
    fail(p, p->token.line, EMU_INVALID_PTX, "expected %s, not '%.*s'", what, length,
         p->token.start);
}

static bool at(struct parser *p, const char *text) { return token_is(&p->token, text); }

static bool accept(struct parser *p, const char *text)
{
    if (!at(p, text)) return false;
    advance(p);
    return true;
}

static void expect(struct parser *p, const char *text)
{
    if (!accept(p, text)) fail_expected(p, text);
}

static uint64_t expect_integer(struct parser *p)
{
    if (p->token.kind != TOKEN_INTEGER) fail_expected(p, "a number");
    uint64_t bits = p->token.bits;
    advance(p);
    return bits;
}

static const char *expect_word(struct parser *p, const char *what)
{
    if (p->token.kind != TOKEN_WORD) fail_expected(p, what);
    const char *word = copy_text(p, p->token.start, p->token.length);
    advance(p);
    return word;
}

static bool same(const char *a, size_t a_length, const char *b, size_t b_length)
{
    return a_length == b_length && !memcmp(a, b, a_length);
}

/* ".u32" → PTX_U32 */
static enum ptx_type type_of_directive(const struct token *token)
{
    char word[8];
    if (token->kind != TOKEN_WORD || token->length < 2 || token->length > sizeof word ||
        token->start[0] != '.')
        return PTX_NONE;
    memcpy(word, token->start + 1, token->length - 1);
    word[token->length - 1] = '\0';
    return ptx_type_named(word);
}

/* ---- registers, labels, scopes ------------------------------------------------------------- */

static unsigned parent(struct parser *p, unsigned scope)
{
    return ((unsigned *)p->scopes.items)[scope];
}

static void open_scope(struct parser *p)
{
    if (p->scopes.count > 1 << 20) fail(p, p->token.line, EMU_INVALID_PTX, "too many { } scopes");
    unsigned *outer = list_add(p, &p->scopes);
    *outer = p->scope;
    p->scope = (unsigned)p->scopes.count - 1;
}

static unsigned hash(const char *name, size_t length)
{
    unsigned h = 5381;
    for (size_t i = 0; i < length; i++) h = h * 33 + (unsigned char)name[i];
    return h % REGISTER_BUCKETS;
}

/* The declaration that a register's name falls under, in this scope or one around it. */
static const struct declaration *find_declaration(struct parser *p, const char *name, size_t length)
{
    size_t digits = 0;
    uint64_t number = 0, power = 1;
    while (digits < length && digits < 9 && name[length - digits - 1] >= '0' &&
           name[length - digits - 1] <= '9') {
        number += power * (uint64_t)(name[length - digits - 1] - '0');
        power *= 10;
        digits++;
    }
    for (unsigned scope = p->scope;; scope = parent(p, scope)) {
        const struct declaration *d = p->declarations.items;
        for (size_t i = p->declarations.count; i-- > 0;) {
            if (d[i].scope != scope) continue;
            if (!d[i].count && same(d[i].name, d[i].length, name, length)) return &d[i];
            if (d[i].count && d[i].length < length && length - d[i].length <= digits &&
                !memcmp(d[i].name, name, d[i].length)) {
                uint64_t index = 0;
                for (size_t k = d[i].length; k < length; k++)
                    index = index * 10 + (uint64_t)(name[k] - '0');
                if (index < d[i].count) return &d[i];
            }
        }
        if (!scope) return NULL;
    }
}

/* The index of a register of the function, or -1 if none of that name is declared. */
static int find_register(struct parser *p, const char *name, size_t length)
{
    /* Most functions have one scope: look the name up as used there before searching
     * declarations. */
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

static void refuse_second_declaration(struct parser *p)
{
    const struct declaration *d = p->declarations.items;
    for (size_t i = 0; i < p->declarations.count; i++)
        if (d[i].scope == p->scope && same(d[i].name, d[i].length, p->token.start, p->token.length))
            fail(p, p->token.line, EMU_INVALID_PTX, "register '%.*s' is declared a second time",
                 (int)p->token.length, p->token.start);
}

static void parse_register_declaration(struct parser *p)
{
    enum ptx_type type = type_of_directive(&p->token);
    if (type == PTX_NONE) fail_expected(p, "a register's type");
    advance(p);
    do {
        if (p->token.kind != TOKEN_WORD) fail_expected(p, "a register's name");
        refuse_second_declaration(p);
        struct declaration *declaration = list_add(p, &p->declarations);
        *declaration = (struct declaration){
            .name = p->token.start, .length = p->token.length, .scope = p->scope, .type = type};
        advance(p);
        if (accept(p, "<")) {
            uint64_t count = expect_integer(p);
            if (!count || count > MAX_REGISTERS)
                fail(p, p->token.line, EMU_INVALID_PTX,
                     "%llu registers in one declaration; at most %d", (unsigned long long)count,
                     MAX_REGISTERS);
            declaration->count = (unsigned)count;
            expect(p, ">");
        }
    } while (accept(p, ","));
    expect(p, ";");
}

static void define_label(struct parser *p, const char *name, size_t length)
{
    const struct label *labels = p->labels.items;
    for (size_t i = 0; i < p->labels.count; i++)
        if (labels[i].scope == p->scope && same(labels[i].name, labels[i].length, name, length))
            fail(p, p->token.line, EMU_INVALID_PTX,
                 "label '%.*s' is defined a second time (first on line %u)", (int)length, name,
                 labels[i].line);
    struct label *label = list_add(p, &p->labels);
    *label = (struct label){name, length, p->scope, (unsigned)p->instructions.count, p->token.line};
}

/* Turns the symbols that are labels into PTX_LABEL; the others are variables or functions. */
static void resolve_labels(struct parser *p)
{
    const struct label *labels = p->labels.items;
    const struct reference *references = p->references.items;
    for (size_t r = 0; r < p->references.count; r++) {
        bool found = false;
        for (unsigned scope = references[r].scope; !found; scope = parent(p, scope)) {
            for (size_t i = 0; i < p->labels.count && !found; i++)
                if (labels[i].scope == scope && same(labels[i].name, labels[i].length,
                                                     references[r].name, references[r].length)) {
                    references[r].operand->kind = PTX_LABEL;
                    references[r].operand->index = labels[i].position;
                    found = true;
                }
            if (!scope) break;
        }
    }
}

/* ---- operands ------------------------------------------------------------------------------ */

static void parse_operand(struct parser *p, struct ptx_operand *out, unsigned depth);

static void parse_items(struct parser *p, struct ptx_operand *out, const char *close,
                        unsigned depth)
{
    struct list items = {.size = sizeof(struct ptx_operand *)};
    out->kind = PTX_VECTOR;
    if (!at(p, close)) do {
            /* Each stays where it is, because a reference may keep a pointer to it until the
             * function ends. */
            struct ptx_operand *item = take(p, sizeof *item);
            parse_operand(p, item, depth + 1);
            *(struct ptx_operand **)list_add(p, &items) = item;
        } while (accept(p, ","));
    expect(p, close);
    out->items = items.items;
    out->count = (unsigned)items.count;
}

/* + 4, +-4, - 4 behind a base; 0 if nothing stands there. */
static int64_t parse_offset(struct parser *p)
{
    bool negative;
    if (accept(p, "+"))
        negative = accept(p, "-");
    else if (accept(p, "-"))
        negative = true;
    else
        return 0;
    int64_t offset = (int64_t)expect_integer(p);
    return negative ? (int64_t)(0 - (uint64_t)offset) : offset;
}

static void parse_word_operand(struct parser *p, struct ptx_operand *out)
{
    const char *name = p->token.start;
    size_t length = p->token.length;
    unsigned line = p->token.line;
    int reg = find_register(p, name, length);
    advance(p);
    if (reg >= 0) {
        /* A vector register's component (%v.x) does not occur in nvcc's output and is not read
         * here. */
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
        struct reference *reference = list_add(p, &p->references);
        *reference = (struct reference){out, name, length, p->scope, line};
        out->offset = parse_offset(p);
    }
}

static void parse_operand(struct parser *p, struct ptx_operand *out, unsigned depth)
{
    if (depth > MAX_NESTING) fail(p, p->token.line, EMU_INVALID_PTX, "operands nested too deeply");
    if (accept(p, "{")) {
        parse_items(p, out, "}", depth);
    } else if (accept(p, "(")) {
        parse_items(p, out, ")", depth);
    } else if (accept(p, "[")) {
        out->kind = PTX_ADDRESS;
        out->base = take(p, sizeof *out->base);
        parse_operand(p, out->base, depth + 1);
        out->offset = out->base->kind == PTX_SYMBOL ? out->base->offset : parse_offset(p);
        if (accept(p, ",")) { /* the coordinates of a texture */
            out->base->other = take(p, sizeof *out->base->other);
            parse_operand(p, out->base->other, depth + 1);
        }
        expect(p, "]");
    } else if (accept(p, "!")) {
        parse_operand(p, out, depth + 1);
        out->negated = true;
    } else if (at(p, "-") || p->token.kind == TOKEN_INTEGER || p->token.kind == TOKEN_FLOAT32 ||
               p->token.kind == TOKEN_FLOAT64) {
        bool negative = accept(p, "-");
        out->kind = p->token.kind == TOKEN_FLOAT32   ? PTX_FLOAT32
                    : p->token.kind == TOKEN_FLOAT64 ? PTX_FLOAT64
                                                     : PTX_INTEGER;
        if (p->token.kind != TOKEN_INTEGER && out->kind == PTX_INTEGER)
            fail_expected(p, "a number");
        uint64_t sign = out->kind == PTX_FLOAT64 ? UINT64_C(1) << 63 : UINT64_C(1) << 31;
        out->bits = !negative                  ? p->token.bits
                    : out->kind == PTX_INTEGER ? 0 - p->token.bits
                                               : p->token.bits ^ sign;
        advance(p);
    } else if (p->token.kind == TOKEN_WORD) {
        parse_word_operand(p, out);
    } else {
        fail_expected(p, "an operand");
    }
    if (accept(p, "|")) {
        out->other = take(p, sizeof *out->other);
        parse_operand(p, out->other, depth + 1);
    }
}

/* ---- instructions -------------------------------------------------------------------------- */

/* "ld.global.f32" → "ld", "global", "f32" */
static void split_opcode(struct parser *p, struct ptx_instruction *instruction)
{
    const char *start = p->token.start, *end = start + p->token.length;
    while (start < end) {
        const char *dot = memchr(start, '.', (size_t)(end - start));
        const char *stop = dot ? dot : end;
        if (instruction->word_count == PTX_MAX_WORDS)
            fail(p, p->token.line, EMU_INVALID_PTX, "an opcode of more than %d parts",
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
    if (accept(p, "@")) {
        instruction->guard_negated = accept(p, "!");
        if (p->token.kind != TOKEN_WORD) fail_expected(p, "a guard predicate");
        instruction->guard = find_register(p, p->token.start, p->token.length);
        if (instruction->guard < 0)
            fail(p, p->token.line, EMU_INVALID_PTX, "register '%.*s' is not declared",
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
    advance(p);
    /* References keep pointers to operands, so these must not move as the list of instructions
     * grows. */
    struct ptx_operand *operands = take(p, PTX_MAX_OPERANDS * sizeof *operands);
    instruction->operands = operands;
    if (!at(p, ";")) do {
            if (instruction->operand_count == PTX_MAX_OPERANDS)
                fail(p, p->token.line, EMU_INVALID_PTX, "more than %d operands", PTX_MAX_OPERANDS);
            parse_operand(p, &operands[instruction->operand_count++], 0);
        } while (accept(p, ","));
    expect(p, ";");
}

/* ---- directives ---------------------------------------------------------------------------- */

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

/* ---- variables ----------------------------------------------------------------------------- */

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

/* ---- functions ----------------------------------------------------------------------------- */

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

/* TABLE: .branchtargets A, B, C; */
static void parse_branch_targets(struct parser *p, const char *name)
{
    struct ptx_branch_table *table = list_add(p, &p->tables);
    struct ptx_operand *targets = take(p, sizeof *targets);
    table->name = name;
    parse_items(p, targets, ";", 0);
    table->targets = targets;
}

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

/* ---- the module ---------------------------------------------------------------------------- */

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
