/*
 * instruction.c — what is one PTX instruction, or a few: shuffles, votes, atomic operations,
 * fences, functions of bits, and inline assembly. A row has the text that is written for a call.
 */
#include "parser.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ARGUMENTS = 4 };

/* A call of `count` arguments as instructions. */
static struct expr *instructions(struct parser *p, struct expr *call, const struct type *type,
                                 const char *text, enum ptx_effect effect)
{
    struct ptx *ptx = ARENA_NEW(p->arena, struct ptx);
    *ptx = (struct ptx){.text = text, .effect = effect, .has_place = strstr(text, "%a") != NULL};
    for (int i = 0; i < call->argument_count; i++)
        if (is_unknown(call->arguments[i])) return call->arguments[i];
    call->type = type;
    call->ptx = ptx;
    return call;
}

/* A call whose arguments are read, and are from `least` to `most`; NULL after an error. */
static struct expr *read_ptx_call(struct parser *p, struct token *name, int least, int most)
{
    struct expr *call = new_expr(p, EXPR_PTX, type_basic(TYPE_VOID), name->at);
    read_arguments(p, call);
    if (p->stumbled_at != NULL) return NULL;
    for (int i = 0; i < call->argument_count; i++)
        if (is_unknown(call->arguments[i])) return NULL;
    if (call->argument_count >= least && call->argument_count <= most) return call;
    wrong_count(p, call, text_of(p, name), most);
    return NULL;
}

/* ---- instructions of fixed types ------------------------------------------------------------- */

/* `types`: those of the result and of the arguments. An argument after | may be left out, and is -1
 * then. A result `b` is an int that is 0 or 1. */
static const struct row {
    const char *name, *types, *text;
    enum ptx_effect effect;
} ROWS[] = {
    {"__popc", "iu", "popc.b32 \t%0, %1;", PTX_NONE},
    {"__popcll", "iL", "popc.b64 \t%0, %1;", PTX_NONE},
    {"__clz", "ii", "clz.b32 \t%0, %1;", PTX_NONE},
    {"__clzll", "il", "clz.b64 \t%0, %1;", PTX_NONE},
    {"__brev", "uu", "brev.b32 \t%0, %1;", PTX_NONE},
    {"__brevll", "LL", "brev.b64 \t%0, %1;", PTX_NONE},
    {"__ffs", "ii",
     "{\n\t.reg .b32 found;\n\tbrev.b32 \tfound, %1;\n\tbfind.shiftamt.u32 \tfound, found;\n\t"
     "add.s32 \t%0, found, 1;\n\t}",
     PTX_NONE},
    {"__ffsll", "il",
     "{\n\t.reg .b64 bits;\n\t.reg .b32 found;\n\tbrev.b64 \tbits, %1;\n\t"
     "bfind.shiftamt.u64 \tfound, bits;\n\tadd.s32 \t%0, found, 1;\n\t}",
     PTX_NONE},
    {"__umulhi", "uuu", "mul.hi.u32 \t%0, %1, %2;", PTX_NONE},
    {"__mulhi", "iii", "mul.hi.s32 \t%0, %1, %2;", PTX_NONE},
    {"__fadd_rn", "fff", "add.rn.f32 \t%0, %1, %2;", PTX_NONE},
    {"__fmul_rn", "fff", "mul.rn.f32 \t%0, %1, %2;", PTX_NONE},
    {"__float_as_int", "if", "mov.b32 \t%0, %1;", PTX_NONE},
    {"__float_as_uint", "uf", "mov.b32 \t%0, %1;", PTX_NONE},
    {"__int_as_float", "fi", "mov.b32 \t%0, %1;", PTX_NONE},
    {"__uint_as_float", "fu", "mov.b32 \t%0, %1;", PTX_NONE},
    {"__double_as_longlong", "ld", "mov.b64 \t%0, %1;", PTX_NONE},
    {"__longlong_as_double", "dl", "mov.b64 \t%0, %1;", PTX_NONE},
    {"__ballot_sync", "uuB", "vote.sync.ballot.b32 \t%0, %2, %1;", PTX_LANES},
    {"__any_sync", "buB", "vote.sync.any.pred \t%0, %2, %1;", PTX_LANES},
    {"__all_sync", "buB", "vote.sync.all.pred \t%0, %2, %1;", PTX_LANES},
    {"__activemask", "u", "activemask.b32 \t%0;", PTX_LANES},
    {"__syncwarp", "v|u", "bar.warp.sync \t%1;", PTX_MEMORY},
    {"__syncthreads_count", "iB", "bar.red.popc.u32 \t%0, 0, %1;", PTX_MEMORY},
    {"__syncthreads_and", "bB", "bar.red.and.pred \t%0, 0, %1;", PTX_MEMORY},
    {"__syncthreads_or", "bB", "bar.red.or.pred \t%0, 0, %1;", PTX_MEMORY},
    {"__threadfence_block", "v", "membar.cta;", PTX_MEMORY},
    {"__threadfence", "v", "membar.gl;", PTX_MEMORY},
    {"__threadfence_system", "v", "membar.sys;", PTX_MEMORY},
    {"__nanosleep", "vu", "nanosleep.u32 \t%1;", PTX_LANES},
    {"__trap", "v", "trap;", PTX_LANES},
};

static const struct type *type_of_letter(char letter)
{
    switch (letter) {
    case 'v': return type_basic(TYPE_VOID);
    case 'i': return type_basic(TYPE_INT);
    case 'u': return type_basic(TYPE_UNSIGNED);
    case 'l': return type_basic(TYPE_LONG_LONG);
    case 'L': return type_basic(TYPE_UNSIGNED_LONG_LONG);
    case 'f': return type_basic(TYPE_FLOAT);
    case 'd': return type_basic(TYPE_DOUBLE);
    default: return type_basic(TYPE_BOOL);
    }
}

static struct expr *read_row(struct parser *p, struct token *name, const struct row *row)
{
    const char *types = row->types + 1, *optional = strchr(types, '|');
    int most = (int)strlen(types) - (optional != NULL);
    int least = optional != NULL ? (int)(optional - types) : most;
    struct expr *call = read_ptx_call(p, name, least, most);
    if (call == NULL) return unknown(p, name->at);
    if (call->argument_count < most) {
        call->arguments = cc_grow(p->arena, call->arguments, (size_t)call->argument_count,
                                  sizeof(*call->arguments));
        call->arguments[call->argument_count++] =
            integer(p, type_basic(TYPE_UNSIGNED), -1, name->at);
    }
    for (int i = 0; i < call->argument_count; i++) {
        const struct type *type = type_of_letter(types[i + (optional == types + i)]);
        struct expr *e = call->arguments[i];
        call->arguments[i] =
            type->kind == TYPE_BOOL ? condition(p, e) : fit(p, e, type, "this argument");
    }
    call = instructions(p, call, type_of_letter(*row->types), row->text, row->effect);
    return *row->types == 'b' ? promote(p, call) : call;
}

/* ---- shuffles -------------------------------------------------------------------------------- */

/* How shfl.sync names the kind, and the lane beyond which it does not reach. */
static const struct {
    const char *name, *kind;
    int clamp;
} SHUFFLES[] = {{"__shfl_sync", "idx", 31},
                {"__shfl_up_sync", "up", 0},
                {"__shfl_down_sync", "down", 31},
                {"__shfl_xor_sync", "bfly", 31}};

/* Values of 8 bytes take two shuffles. */
static const char *shuffle_text(struct parser *p, const char *kind, bool is_wide)
{
    if (!is_wide) return cc_format(p->arena, "shfl.sync.%s.b32 \t%%0, %%2, %%3, %%4, %%1;", kind);
    return cc_format(p->arena,
                     "{\n\t.reg .b32 low, high;\n\tmov.b64 \t{low, high}, %%2;\n\t"
                     "shfl.sync.%s.b32 \tlow, low, %%3, %%4, %%1;\n\t"
                     "shfl.sync.%s.b32 \thigh, high, %%3, %%4, %%1;\n\t"
                     "mov.b64 \t%%0, {low, high};\n\t}",
                     kind, kind);
}

static struct expr *read_shuffle(struct parser *p, struct token *name, const char *kind, int clamp)
{
    const struct type *number = type_basic(TYPE_INT);
    struct expr *call = read_ptx_call(p, name, 3, 4);
    if (call == NULL) return unknown(p, name->at);
    struct expr **a = arena_take(p->arena, MOST_ARGUMENTS * sizeof(*a));
    memcpy(a, call->arguments, (size_t)call->argument_count * sizeof(*a));
    a[0] = fit(p, a[0], type_basic(TYPE_UNSIGNED), "the mask of lanes");
    a[1] = promote(p, a[1]);
    a[2] = fit(p, a[2], number, "the lane");
    if (call->argument_count < 4) a[3] = integer(p, number, 32, name->at);
    a[3] = fit(p, a[3], number, "the width");
    const struct type *type = a[1]->type;
    if (!type_is_arithmetic(type)) {
        complain(p, a[1]->at, NULL, "a shuffle takes a number, and this is of type `%s`",
                 type_text(p->arena, type));
        return unknown(p, name->at);
    }
    /* segments of `width` lanes: PTX ISA, shfl.sync, operand c */
    a[3] = build_binary(p, OP_SUBTRACT, integer(p, number, 32, name->at), a[3], name->at);
    a[3] = build_binary(p, OP_SHIFT_LEFT, a[3], integer(p, number, 8, name->at), name->at);
    a[3] = build_binary(p, OP_OR, a[3], integer(p, number, clamp, name->at), name->at);
    call->arguments = a;
    call->argument_count = 4;
    /* nvcc, too, lets no load pass a shuffle. */
    return instructions(p, call, type, shuffle_text(p, kind, type_size(type) == 8), PTX_MEMORY);
}

/* ---- atomic operations ----------------------------------------------------------------------- */

/* The types that CUDA has the operation for, as the letters of type_of_letter. */
static const struct atomic {
    const char *name, *operation, *types;
} ATOMICS[] = {
    {"atomicAdd", "add", "iuLfd"}, {"atomicSub", "add", "iu"},   {"atomicExch", "exch", "iuLf"},
    {"atomicMin", "min", "iulL"},  {"atomicMax", "max", "iulL"}, {"atomicAnd", "and", "iulL"},
    {"atomicOr", "or", "iulL"},    {"atomicXor", "xor", "iulL"}, {"atomicInc", "inc", "u"},
    {"atomicDec", "dec", "u"},     {"atomicCAS", "cas", "iuL"}};

/* u32, s64, f32, b32: as the operation takes it. */
static const char *atomic_type(struct parser *p, const char *operation, const struct type *type)
{
    bool is_bits = strchr("aoxce", *operation) != NULL && strcmp(operation, "add") != 0;
    bool is_ordered = *operation == 'm';
    char letter = is_bits                              ? 'b'
                  : type_is_real(type)                 ? 'f'
                  : is_ordered && type_is_signed(type) ? 's'
                                                       : 'u';
    return cc_format(p->arena, "%c%d", letter, 8 * (int)type_size(type));
}

static struct expr *read_atomic(struct parser *p, struct token *name, const struct atomic *atomic)
{
    bool is_cas = strcmp(atomic->operation, "cas") == 0;
    struct expr *call = read_ptx_call(p, name, 2 + is_cas, 2 + is_cas);
    if (call == NULL) return unknown(p, name->at);
    struct expr *place = call->arguments[0];
    const struct type *type = type_is_pointer(place->type) ? place->type->base : place->type;
    bool is_right = false;
    for (const char *t = atomic->types; *t != 0; t++)
        is_right |= type_is_pointer(place->type) && type_same(type, type_of_letter(*t));
    if (!is_right || type->is_const) {
        complain(p, place->at, NULL, "`%s` takes no `%s`", atomic->name,
                 type_text(p->arena, place->type));
        return unknown(p, name->at);
    }
    type = type_plain(p->arena, type);
    for (int i = 1; i < call->argument_count; i++)
        call->arguments[i] = fit(p, call->arguments[i], type, "this argument");
    if (strcmp(atomic->name, "atomicSub") == 0)
        call->arguments[1] = build_binary(p, OP_SUBTRACT, integer(p, type, 0, name->at),
                                          call->arguments[1], name->at);
    const char *text = cc_format(p->arena, "atom%%s.%s.%s \t%%0, %%a, %%2%s;", atomic->operation,
                                 atomic_type(p, atomic->operation, type), is_cas ? ", %3" : "");
    return instructions(p, call, type, text, PTX_PLACE);
}

/* ---- loads by the read-only path ------------------------------------------------------------- */

static struct expr *read_ldg(struct parser *p, struct token *name)
{
    struct expr *call = read_ptx_call(p, name, 1, 1);
    if (call == NULL) return unknown(p, name->at);
    const struct type *pointer = call->arguments[0]->type;
    if (!type_is_pointer(pointer) || type_size(pointer->base) == 0) {
        complain(p, call->arguments[0]->at, NULL, "`__ldg` takes a pointer, and this is a `%s`",
                 type_text(p->arena, pointer));
        return unknown(p, name->at);
    }
    const struct type *type = type_plain(p->arena, pointer->base);
    bool is_number = type_is_arithmetic(type) && type_size(type) >= 4;
    if (!is_number) return value_of(p, dereference(p, call->arguments[0], name->at));
    const char *text = cc_format(p->arena, "ld.global.nc.%c%d \t%%0, %%a;",
                                 type_is_real(type) ? 'f' : 'u', 8 * (int)type_size(type));
    return instructions(p, call, type, text, PTX_LANES);
}

struct expr *read_instruction(struct parser *p, struct token *name)
{
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++)
        if (is_token(name, ROWS[i].name)) return read_row(p, name, &ROWS[i]);
    for (size_t i = 0; i < sizeof(SHUFFLES) / sizeof(SHUFFLES[0]); i++)
        if (is_token(name, SHUFFLES[i].name))
            return read_shuffle(p, name, SHUFFLES[i].kind, SHUFFLES[i].clamp);
    for (size_t i = 0; i < sizeof(ATOMICS) / sizeof(ATOMICS[0]); i++)
        if (is_token(name, ATOMICS[i].name)) return read_atomic(p, name, &ATOMICS[i]);
    return is_token(name, "__ldg") ? read_ldg(p, name) : NULL;
}

/* ---- inline assembly ------------------------------------------------------------------------- */

enum { MOST_RESULTS = 4, MOST_INPUTS = 8 };

struct assembly {
    struct ptx *ptx;
    struct expr *e; /* its arguments are the inputs */
    int count;      /* of all operands that %N may name */
};

static bool is_of_letter(const struct expr *e, char letter)
{
    const struct type *type = e->type;
    switch (letter) {
    case 'r': return type_is_integer(type) && type_size(type) == 4;
    case 'l': return type_size(type) == 8 && type->kind != TYPE_DOUBLE && type->kind != TYPE_STRUCT;
    case 'f': return type->kind == TYPE_FLOAT;
    case 'd': return type->kind == TYPE_DOUBLE;
    case 'n': return e->kind == EXPR_INTEGER;
    default: return false;
    }
}

static void add_input(struct parser *p, struct assembly *a, struct expr *value)
{
    if (a->e->argument_count == MOST_INPUTS)
        refuse(p, p->previous, cc_format(p->arena, "assembly of more than %d inputs", MOST_INPUTS));
    else
        a->e->arguments[a->e->argument_count++] = value;
}

static void add_result(struct parser *p, struct assembly *a, struct expr *place, bool is_input)
{
    struct ptx *ptx = a->ptx;
    if (ptx->result_count == MOST_RESULTS) {
        refuse(p, p->previous,
               cc_format(p->arena, "assembly of more than %d results", MOST_RESULTS));
        return;
    }
    if (is_unknown(build_assignment(p, place, value_of(p, place), place->at))) return;
    ptx->first[ptx->result_count] = is_input ? MOST_INPUTS : -1; /* see read_assembly */
    ptx->results[ptx->result_count++] = place;
}

/* "=r"(x), "l"(p), … up to the next colon or parenthesis. */
static void read_operands(struct parser *p, struct assembly *a, bool are_results)
{
    while (p->token->kind == TOKEN_STRING && p->stumbled_at == NULL) {
        struct token *token = p->token;
        const char *letters = read_string(p)->string;
        bool changes = *letters == '+', is_result = changes || *letters == '=';
        char letter = letters[is_result];
        needs(p, "(");
        struct expr *e = are_results ? read_expression(p) : value_of(p, read_expression(p));
        needs(p, ")");
        if (p->stumbled_at != NULL) return;
        if (is_result != are_results || letters[is_result] == 0 || letters[is_result + 1] != 0 ||
            strchr("rlfdn", letter) == NULL) {
            refuse(p, token, cc_format(p->arena, "the constraint \"%s\" here", letters));
        } else if (!is_unknown(e) && !is_of_letter(e, letter)) {
            complain(p, e->at, NULL, "\"%s\" stands for %s, and this is of type `%s`", letters,
                     letter == 'r'   ? "an integer of 4 bytes"
                     : letter == 'l' ? "an integer or pointer of 8 bytes"
                     : letter == 'f' ? "a float"
                     : letter == 'd' ? "a double"
                                     : "a constant",
                     type_text(p->arena, e->type));
        } else if (are_results) {
            add_result(p, a, e, changes);
        } else {
            add_input(p, a, e);
        }
        if (!takes(p, ",")) return;
    }
}

/* %0 … %N of the text are operands, and %% is a %. */
static void check_text(struct parser *p, const struct assembly *a, const struct token *token)
{
    for (const char *at = a->ptx->text; (at = strchr(at, '%')) != NULL; at += 2) {
        int number = isdigit((unsigned char)at[1]) ? (int)strtol(at + 1, NULL, 10) : -1;
        if (at[1] == '%' || (number >= 0 && number < a->count)) continue;
        complain(p, token->at, number < 0 ? "write %% for the sign itself" : NULL,
                 number < 0 ? "a %% in assembly is followed by the number of an operand"
                            : "%%%d in the assembly: it has %d operands",
                 number, a->count);
        return;
    }
}

struct stmt *read_assembly(struct parser *p)
{
    struct stmt *stmt = ARENA_NEW(p->arena, struct stmt);
    struct ptx *ptx = ARENA_NEW(p->arena, struct ptx);
    struct expr *e = new_expr(p, EXPR_PTX, type_basic(TYPE_VOID), p->token->at);
    struct assembly a = {.ptx = ptx, .e = e};
    *stmt = (struct stmt){.kind = STMT_EXPR, .at = p->token->at, .value = e};
    *ptx = (struct ptx){.effect = PTX_LANES, .is_inline = true};
    ptx->results = arena_take(p->arena, MOST_RESULTS * sizeof(*ptx->results));
    ptx->first = arena_take(p->arena, MOST_RESULTS * sizeof(*ptx->first));
    e->arguments = arena_take(p->arena, MOST_INPUTS * sizeof(*e->arguments));
    e->ptx = ptx;
    go_past(p);
    if (!takes(p, "volatile")) takes(p, "__volatile__");
    needs(p, "(");
    struct token *token = p->token;
    if (token->kind != TOKEN_STRING)
        stumble(p, token->at, NULL, "assembly begins with a string");
    else
        ptx->text = read_string(p)->string;
    for (int part = 0; (sees(p, ":") || sees(p, "::")) && p->stumbled_at == NULL;) {
        part += sees(p, "::") ? 2 : 1;
        go_past(p);
        if (part <= 2) read_operands(p, &a, part == 1);
        while (part == 3 && p->token->kind == TOKEN_STRING) {
            if (strcmp(read_string(p)->string, "memory") == 0) ptx->effect = PTX_MEMORY;
            if (!takes(p, ",")) break;
        }
    }
    needs(p, ")");
    needs(p, ";");
    if (p->stumbled_at != NULL) return stmt;
    a.count = ptx->result_count + e->argument_count;
    check_text(p, &a, token);
    /* What a result begins with is one more input, behind those that have numbers. */
    for (int k = 0; k < ptx->result_count; k++) {
        if (ptx->first[k] < 0) continue;
        ptx->first[k] = e->argument_count;
        add_input(p, &a, value_of(p, ptx->results[k]));
    }
    return stmt;
}
