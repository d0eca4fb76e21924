/* ptx_ptx_variable.c — parses declarations of variables and parameters, and initial values. */
#include "parser.h"
#include <string.h>

/* Reads an initial value that is an address, which is known when the module is loaded: name,
 * generic(name), or 0xFF00(name) for the byte that the mask selects; each with + offset. */
static void store_address(struct parser *p, struct ptx_variable *variable, size_t offset)
{
    struct ptx_address_of of = {.offset = offset, .size = ptx_type_size(variable->type)};
    bool masked = p->token.kind == TOKEN_INTEGER;
    if (masked) {
        uint64_t mask = expect_integer(p);
        if (mask) of.shift = (unsigned)__builtin_ctzll(mask);
        expect(p, "(");
    }
    of.symbol = expect_word(p, "an initial value");
    if (same(of.symbol, strlen(of.symbol), "generic", 7) && accept(p, "(")) {
        of.symbol = expect_word(p, "a symbol");
        of.addend = parse_offset(p);
        expect(p, ")");
    }
    of.addend += parse_offset(p);
    if (masked) expect(p, ")");
    struct ptx_address_of *grown = take(p, (variable->address_ofs + 1) * sizeof *grown);
    if (variable->address_ofs)
        memcpy(grown, variable->address_of, variable->address_ofs * sizeof *grown);
    grown[variable->address_ofs++] = of;
    variable->address_of = grown;
}

/* 0xFF00 ( symbol */
static bool at_masked_address(struct parser *p)
{
    struct lexer ahead = p->lexer;
    struct token next = lexer_next(&ahead);
    return p->token.kind == TOKEN_INTEGER && token_is(&next, "(");
}

/* Converts a double, like 1.5, that initialises an f32. */
static uint64_t bits_of_type(enum ptx_type type, enum token_kind kind, uint64_t bits)
{
    double value;
    float narrow;
    if (type != PTX_F32 || kind != TOKEN_FLOAT64) return bits;
    memcpy(&value, &bits, sizeof value);
    narrow = (float)value;
    bits = 0;
    memcpy(&bits, &narrow, sizeof narrow);
    return bits;
}

static void store_initial(struct parser *p, struct ptx_variable *variable, size_t index)
{
    size_t size = ptx_type_size(variable->type), offset = index * size;
    if (offset + size > variable->bytes)
        parse_fail(p, p->token.line, EMU_INVALID_PTX, "'%s' has more initial values than elements",
                   variable->name);
    if (at_masked_address(p) || (p->token.kind == TOKEN_WORD && !at(p, "WARP_SZ"))) {
        store_address(p, variable, offset);
        return;
    }
    uint64_t bits;
    enum token_kind kind = parse_constant(p, &bits);
    bits = bits_of_type(variable->type, kind, bits);
    /* PTX and the host are both little endian. */
    memcpy(variable->initial + offset, &bits, size < sizeof bits ? size : sizeof bits);
}

static size_t parse_initial(struct parser *p, struct ptx_variable *variable, size_t index,
                            unsigned depth)
{
    if (depth > MAX_NESTING)
        parse_fail(p, p->token.line, EMU_INVALID_PTX, "initial values nested too deeply");
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

/* texture<float, 2> and surface<void, 2>, as compilers before CUDA 12 wrote them. */
static void refuse_reference(struct parser *p)
{
    if (at(p, ".texref") || at(p, ".samplerref") || at(p, ".surfref"))
        parse_fail(p, p->token.line, EMU_UNSUPPORTED_PTX,
                   "the emulator has no texture and surface references (texture<...>), which CUDA "
                   "12 removed; make a texture object by cudaCreateTextureObject and pass it to "
                   "the kernel instead");
}

struct ptx_variable parse_variable(struct parser *p, enum ptx_space space)
{
    struct ptx_variable variable = {.unit = p->unit, .space = space, .line = p->token.line};
    size_t elements = 1, lanes = 1;
    while (p->token.kind == TOKEN_WORD && p->token.start[0] == '.') {
        enum ptx_type type = type_of_directive(&p->token);
        refuse_reference(p);
        if (accept(p, ".align")) {
            variable.align = expect_integer(p);
            if (!variable.align) parse_fail(p, variable.line, EMU_INVALID_PTX, "an alignment of 0");
        } else if (accept(p, ".attribute")) {
            expect(p, "(");
            while (!at(p, ")") && p->token.kind != TOKEN_END) advance(p);
            expect(p, ")");
        } else if (type != PTX_NONE) {
            variable.type = type;
            advance(p);
        } else if (accept(p, ".ptr")) {
            /* a hint about the target of a pointer, like .global .align 4: ignored */
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
            parse_fail(p, variable.line, EMU_INVALID_PTX, "'%s' is larger than %d bytes",
                       variable.name, MAX_STATIC_BYTES);
        elements *= count;
        expect(p, "]");
    }
    variable.bytes = elements * lanes * ptx_type_size(variable.type);
    if (!variable.align) variable.align = lanes * ptx_type_size(variable.type);
    if (variable.align > 4096 || (variable.align & (variable.align - 1)))
        parse_fail(p, variable.line, EMU_INVALID_PTX,
                   "the alignment of '%s' is not a power of two up to 4096", variable.name);
    return variable;
}

/* The number of initial values, up to the ; after them. */
static size_t count_values(const struct parser *p)
{
    struct lexer ahead = p->lexer;
    struct token token = p->token;
    size_t count = 1;
    for (; token.kind != TOKEN_END && token.kind != TOKEN_BAD && !token_is(&token, ";");
         token = lexer_next(&ahead))
        count += token_is(&token, ",");
    return count;
}

void parse_variable_declaration(struct parser *p, struct list *list, enum ptx_space space,
                                enum ptx_linkage linkage)
{
    struct ptx_variable variable = parse_variable(p, space);
    variable.linkage = linkage;
    if (accept(p, "=")) {
        if (!variable.bytes) variable.bytes = count_values(p) * ptx_type_size(variable.type);
        variable.initial = take(p, variable.bytes);
        parse_initial(p, &variable, 0, 0);
    }
    expect(p, ";");
    if (list != &p->variables)
        declare_name(p, "variable", variable.name, strlen(variable.name), variable.line);
    *(struct ptx_variable *)list_add(p, list) = variable;
}

bool accept_space(struct parser *p, enum ptx_space *space)
{
    for (int s = PTX_GLOBAL; s < PTX_SPACES; s++) {
        const char *name = ptx_space_name(s);
        if (p->token.kind == TOKEN_WORD && p->token.start[0] == '.' &&
            same(p->token.start + 1, p->token.length - 1, name, strlen(name))) {
            *space = s;
            advance(p);
            return true;
        }
    }
    return false;
}
