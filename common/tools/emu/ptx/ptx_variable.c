/* ptx_variable.c — parses declarations of variables, initial values and constant expressions. */
#include "parser.h"
#include <string.h>

/* ---- computes constant expressions ----------------------------------------------------------- */

/* Computes constant expressions, which occur in inline assembly: `(2 << 4) | 1`
 * (PTX ISA, "Constant Expressions").
 *
 * They are computed in 64 bits, signed or unsigned, or in double precision. A single number keeps
 * its kind, because 0f3F800000 must stay a float. */

enum number_kind { SIGNED, UNSIGNED, REAL };

struct value {
    enum number_kind kind;
    uint64_t bits; /* value of an integer */
    double real;
};

enum infix_operator {
    OR_ELSE,
    AND_ALSO,
    OR,
    XOR,
    AND,
    EQUAL,
    UNEQUAL,
    AT_MOST,
    AT_LEAST,
    LEFT,
    RIGHT,
    LESS,
    GREATER,
    PLUS,
    MINUS,
    TIMES,
    OVER,
    MODULO
};

/* The precedence of operators; a higher level binds tighter. */
enum { LOOSEST = 1, PRODUCT = 10 };

/* Of two operators with the same beginning the longer comes first. */
static const struct infix {
    const char *text;
    enum infix_operator operation;
    int level;
} operators[] = {{"||", OR_ELSE, 1}, {"&&", AND_ALSO, 2}, {"==", EQUAL, 6}, {"!=", UNEQUAL, 6},
                 {"<=", AT_MOST, 7}, {">=", AT_LEAST, 7}, {"<<", LEFT, 8},  {">>", RIGHT, 8},
                 {"|", OR, 3},       {"^", XOR, 4},       {"&", AND, 5},    {"<", LESS, 7},
                 {">", GREATER, 7},  {"+", PLUS, 9},      {"-", MINUS, 9},  {"*", TIMES, 10},
                 {"/", OVER, 10},    {"%", MODULO, 10}};

static struct value whole(uint64_t bits, enum number_kind kind)
{
    return (struct value){.kind = kind, .bits = bits};
}

static struct value real(double value) { return (struct value){.kind = REAL, .real = value}; }

static double as_real(struct value v)
{
    return v.kind == REAL ? v.real : v.kind == SIGNED ? (double)(int64_t)v.bits : (double)v.bits;
}

static bool is_true(struct value v) { return v.kind == REAL ? v.real != 0 : v.bits != 0; }

/* The operator at the current token, if its level is at least `level`; else NULL. It is read from
 * the text, because the lexer splits punctuation into single bytes and takes %3 in 7%3 for a
 * register. */
static const struct infix *find_operator(struct parser *p, int level)
{
    if (p->token.kind != TOKEN_PUNCTUATION && p->token.kind != TOKEN_WORD) return NULL;
    size_t left = (size_t)(p->lexer.end - p->token.start);
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        size_t length = strlen(operators[i].text);
        if (length <= left && !memcmp(operators[i].text, p->token.start, length))
            return operators[i].level >= level ? &operators[i] : NULL;
    }
    return NULL;
}

static struct value compute_reals(struct parser *p, const struct infix *op, double a, double b)
{
    switch (op->operation) {
    case PLUS: return real(a + b);
    case MINUS: return real(a - b);
    case TIMES: return real(a * b);
    case OVER: return real(a / b);
    case LESS: return whole(a < b, SIGNED);
    case GREATER: return whole(a > b, SIGNED);
    case AT_MOST: return whole(a <= b, SIGNED);
    case AT_LEAST: return whole(a >= b, SIGNED);
    case EQUAL: return whole(a == b, SIGNED);
    case UNEQUAL: return whole(a != b, SIGNED);
    default: break;
    }
    parse_fail(p, p->token.line, EMU_INVALID_PTX, "operator %s is not for floating-point numbers",
               op->text);
}

/* The result of a shift has the kind of `a`. */
static struct value shift(enum infix_operator operation, struct value a, uint64_t by)
{
    if (operation == LEFT) return whole(by > 63 ? 0 : a.bits << by, a.kind);
    if (a.kind == UNSIGNED) return whole(by > 63 ? 0 : a.bits >> by, UNSIGNED);
    return whole((uint64_t)((int64_t)a.bits >> (by > 63 ? 63 : by)), SIGNED);
}

static struct value compute_signed(enum infix_operator operation, int64_t a, int64_t b)
{
    switch (operation) {
    case LESS: return whole(a < b, SIGNED);
    case GREATER: return whole(a > b, SIGNED);
    case AT_MOST: return whole(a <= b, SIGNED);
    case AT_LEAST: return whole(a >= b, SIGNED);
    /* The smallest number divided by -1 wraps around. */
    case OVER: return whole(b == -1 ? 0 - (uint64_t)a : (uint64_t)(a / b), SIGNED);
    default: return whole(b == -1 ? 0 : (uint64_t)(a % b), SIGNED);
    }
}

static struct value compute(struct parser *p, const struct infix *op, struct value x,
                            struct value y)
{
    enum infix_operator operation = op->operation;
    if (operation == OR_ELSE) return whole(is_true(x) || is_true(y), SIGNED);
    if (operation == AND_ALSO) return whole(is_true(x) && is_true(y), SIGNED);
    if (x.kind == REAL || y.kind == REAL) return compute_reals(p, op, as_real(x), as_real(y));

    uint64_t a = x.bits, b = y.bits;
    enum number_kind kind = x.kind == SIGNED && y.kind == SIGNED ? SIGNED : UNSIGNED;
    if ((operation == OVER || operation == MODULO) && !b)
        parse_fail(p, p->token.line, EMU_INVALID_PTX, "a constant expression divides by zero");
    switch (operation) {
    case PLUS: return whole(a + b, kind);
    case MINUS: return whole(a - b, kind);
    case TIMES: return whole(a * b, kind);
    case AND: return whole(a & b, kind);
    case OR: return whole(a | b, kind);
    case XOR: return whole(a ^ b, kind);
    case EQUAL: return whole(a == b, SIGNED);
    case UNEQUAL: return whole(a != b, SIGNED);
    case LEFT:
    case RIGHT: return shift(operation, x, b);
    default: break;
    }
    if (kind == SIGNED) return compute_signed(operation, (int64_t)a, (int64_t)b);
    switch (operation) {
    case LESS: return whole(a < b, SIGNED);
    case GREATER: return whole(a > b, SIGNED);
    case AT_MOST: return whole(a <= b, SIGNED);
    case AT_LEAST: return whole(a >= b, SIGNED);
    case OVER: return whole(a / b, UNSIGNED);
    default: return whole(a % b, UNSIGNED);
    }
}

static struct value parse_binary(struct parser *p, int level, unsigned depth);

/* condition ? value : value */
static struct value parse_choice(struct parser *p, unsigned depth)
{
    struct value condition = parse_binary(p, LOOSEST, depth);
    if (!accept(p, "?")) return condition;
    if (depth > MAX_NESTING)
        parse_fail(p, p->token.line, EMU_INVALID_PTX, "constants nested too deeply");
    struct value yes = parse_choice(p, depth + 1);
    expect(p, ":");
    struct value no = parse_choice(p, depth + 1);
    return is_true(condition) ? yes : no;
}

static struct value parse_number(struct parser *p)
{
    struct token token = p->token;
    if (token.kind == TOKEN_WORD && same(token.start, token.length, "WARP_SZ", 7)) {
        advance(p);
        return whole(32, SIGNED);
    }
    if (token.kind != TOKEN_INTEGER && token.kind != TOKEN_FLOAT64)
        fail_expected(p, token.kind == TOKEN_FLOAT32 ? "a number that can be computed with"
                                                     : "a number");
    advance(p);
    if (token.kind == TOKEN_INTEGER) {
        bool is_unsigned = token.start[token.length - 1] == 'U' || token.bits > INT64_MAX;
        return whole(token.bits, is_unsigned ? UNSIGNED : SIGNED);
    }
    double value;
    memcpy(&value, &token.bits, sizeof value);
    return real(value);
}

static struct value parse_unary(struct parser *p, unsigned depth)
{
    if (depth > MAX_NESTING)
        parse_fail(p, p->token.line, EMU_INVALID_PTX, "constants nested too deeply");
    if (accept(p, "+")) return parse_unary(p, depth + 1);
    if (accept(p, "-")) {
        struct value v = parse_unary(p, depth + 1);
        return v.kind == REAL ? real(-v.real) : whole(0 - v.bits, v.kind);
    }
    if (accept(p, "!")) return whole(!is_true(parse_unary(p, depth + 1)), SIGNED);
    if (accept(p, "~")) {
        struct value v = parse_unary(p, depth + 1);
        if (v.kind == REAL) fail_expected(p, "an integer behind ~");
        return whole(~v.bits, v.kind);
    }
    if (!accept(p, "(")) return parse_number(p);
    bool to_signed = at(p, ".s64"), to_unsigned = at(p, ".u64"); /* a cast */
    if (to_signed || to_unsigned) {
        advance(p);
        expect(p, ")");
        struct value v = parse_unary(p, depth + 1);
        if (v.kind == REAL) v.bits = (uint64_t)(int64_t)v.real;
        return whole(v.bits, to_signed ? SIGNED : UNSIGNED);
    }
    struct value inner = parse_choice(p, depth + 1);
    expect(p, ")");
    return inner;
}

static struct value parse_binary(struct parser *p, int level, unsigned depth)
{
    struct value left = parse_unary(p, depth);
    for (const struct infix *op; (op = find_operator(p, level));) {
        p->lexer.next = p->token.start + strlen(op->text);
        advance(p);
        left = compute(p, op, left, parse_binary(p, op->level + 1, depth));
    }
    return left;
}

enum token_kind parse_constant(struct parser *p, uint64_t *bits)
{
    /* Look ahead: is it a single number, with or without a sign? */
    struct lexer ahead = p->lexer;
    bool negative = at(p, "-");
    struct token first = negative ? lexer_next(&ahead) : p->token;
    if (first.kind == TOKEN_FLOAT32) {
        if (negative) advance(p);
        advance(p);
        *bits = first.bits ^ (negative ? UINT64_C(1) << 31 : 0);
        return TOKEN_FLOAT32;
    }
    struct value value = parse_choice(p, 0);
    if (value.kind != REAL) {
        *bits = value.bits;
        return TOKEN_INTEGER;
    }
    memcpy(bits, &value.real, sizeof value.real);
    return TOKEN_FLOAT64;
}

int64_t parse_offset(struct parser *p)
{
    uint64_t sum = 0;
    while (at(p, "+") || at(p, "-")) {
        bool negative = at(p, "-");
        advance(p);
        struct value term = parse_binary(p, PRODUCT, 0);
        if (term.kind == REAL) fail_expected(p, "an integer");
        sum += negative ? 0 - term.bits : term.bits;
    }
    return (int64_t)sum;
}

/* ---- parses declarations of variables and parameters, and initial values --------------------- */

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
