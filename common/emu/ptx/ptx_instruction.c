/* ptx_instruction.c — reads instructions and their operands. */
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

void parse_instruction(struct parser *p)
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

void parse_branch_targets(struct parser *p, const char *name)
{
    struct ptx_branch_table *table = list_add(p, &p->tables);
    struct ptx_operand *targets = take(p, sizeof *targets);
    table->name = name;
    parse_items(p, targets, ";", 0);
    table->targets = targets;
}
