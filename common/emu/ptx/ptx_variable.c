/*
 * ptx_variable.c — computes constant expressions, which occur in inline assembly: `(2 << 4) | 1`
 * (PTX ISA, "Constant Expressions").
 *
 * They are computed in 64 bits, signed or unsigned, or in double precision. A single number keeps
 * its kind, because 0f3F800000 must stay a float.
 */
#include "parser.h"
#include <string.h>

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
