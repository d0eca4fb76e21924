/* emit_value.c — one value as PTX instructions. */
#include "emit.h"
#include "common/tools/cc/ir/lower.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const INTEGER[] = {[IR_BOOL] = "pred", [IR_I32] = "b32", [IR_I64] = "b64"};
static const char *const SIGNED[] = {
    [IR_BOOL] = "pred", [IR_I32] = "s32", [IR_I64] = "s64", [IR_F32] = "f32", [IR_F64] = "f64"};
static const char *const UNSIGNED[] = {
    [IR_BOOL] = "pred", [IR_I32] = "u32", [IR_I64] = "u64", [IR_F32] = "f32", [IR_F64] = "f64"};

static const char *type_name(const struct ir_value *v, enum ir_type type)
{
    return v->is_signed ? SIGNED[type] : UNSIGNED[type];
}

/* name d, a, b: as many operands as there are. */
static void write_plain(struct emit_kernel *k, struct ir_value *v, const char *name,
                        const char *type)
{
    text_add(&k->body, "\t%s.%s \t%s", name, type, emit_operand(k, v).text);
    for (int n = 0; n < IR_OPERANDS && ir_operand(v, n); n++)
        text_add(&k->body, ", %s", emit_operand(k, v->operand[n]).text);
    text_add(&k->body, ";\n");
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

/* A factor 2 is a sum for real numbers, as nvcc writes it, and a shift for integers. */
static void write_product(struct emit_kernel *k, struct ir_value *v)
{
    struct ir_value *left = ir_operand(v, 0), *right = ir_operand(v, 1);
    struct operand to = emit_operand(k, v), a = emit_operand(k, left);
    bool is_power = ir_is_constant(right) && right->bits && !(right->bits & (right->bits - 1));
    if (ir_is_real(v->type)) {
        if (ir_is_constant(right) && ir_real(right) == 2)
            text_add(&k->body, "\tadd.%s \t%s, %s, %s;\n", SIGNED[v->type], to.text, a.text,
                     a.text);
        else
            write_plain(k, v, "mul", SIGNED[v->type]);
        return;
    }
    // The product of an extended integer and a constant: see count_wide in emit.c.
    if (v->scratch) {
        text_add(&k->body, "\tmul.wide.%s \t%s, %s, %s;\n", type_name(v->scratch, IR_I32), to.text,
                 emit_operand(k, ir_operand(v->scratch, 0)).text, emit_operand(k, right).text);
    } else if (is_power) {
        text_add(&k->body, "\tshl.%s \t%s, %s, %d;\n", INTEGER[v->type], to.text, a.text,
                 __builtin_ctzll(right->bits));
    } else {
        write_plain(k, v, "mul.lo", SIGNED[v->type]);
    }
}

static void write_convert(struct emit_kernel *k, struct ir_value *v)
{
    struct ir_value *from = ir_operand(v, 0);
    struct operand to = emit_operand(k, v), a = emit_operand(k, from);
    const char *to_type = type_name(v, v->type), *from_type = type_name(v, from->type);
    const char *rounding = "";
    if (from->type == IR_BOOL) {
        text_add(&k->body, "\tselp.u32 \t%s, 1, 0, %s;\n", to.text, a.text);
        return;
    }
    if (ir_is_real(v->type) && !(from->type == IR_F32 && v->type == IR_F64)) rounding = ".rn";
    if (ir_is_real(from->type) && !ir_is_real(v->type)) rounding = ".rzi";
    if (v->type == IR_I32 && from->type == IR_I64) to_type = "u32", from_type = "u64";
    if (v->type == IR_F64 && from->type == IR_I32) rounding = ".rn";
    text_add(&k->body, "\tcvt%s.%s.%s \t%s, %s;\n", rounding, to_type, from_type, to.text, a.text);
}

static void write_compare(struct emit_kernel *k, struct ir_value *v)
{
    static const char *const names[] = {
        [IR_EQUAL] = "eq",      [IR_NOT_EQUAL] = "ne", [IR_LESS] = "lt",
        [IR_LESS_EQUAL] = "le", [IR_GREATER] = "gt",   [IR_GREATER_EQUAL] = "ge",
    };
    enum ir_type type = ir_operand(v, 0)->type;
    char name[16];
    if (type == IR_BOOL) {
        write_plain(k, v, "xor", "pred");
        if (v->op == IR_EQUAL)
            text_add(&k->body, "\tnot.pred \t%s, %s;\n", emit_operand(k, v).text,
                     emit_operand(k, v).text);
        return;
    }
    bool is_unordered = v->op == IR_NOT_EQUAL && ir_is_real(type); // NaN != NaN
    snprintf(name, sizeof name, "setp.%s%s", names[v->op], is_unordered ? "u" : "");
    write_plain(k, v, name, type_name(v, type));
}

static void write_select(struct emit_kernel *k, struct ir_value *v)
{
    text_add(&k->body, "\tselp.%s \t%s, %s, %s, %s;\n",
             ir_is_real(v->type) ? SIGNED[v->type] : INTEGER[v->type], emit_operand(k, v).text,
             emit_operand(k, ir_operand(v, 1)).text, emit_operand(k, ir_operand(v, 2)).text,
             emit_operand(k, ir_operand(v, 0)).text);
}

/* ---- what is known to the kernel ------------------------------------------------------------- */

static void write_special(struct emit_kernel *k, struct ir_value *v)
{
    static const char *const names[] = {
        [SPECIAL_THREAD_X] = "%tid.x",      [SPECIAL_THREAD_Y] = "%tid.y",
        [SPECIAL_THREAD_Z] = "%tid.z",      [SPECIAL_BLOCK_X] = "%ctaid.x",
        [SPECIAL_BLOCK_Y] = "%ctaid.y",     [SPECIAL_BLOCK_Z] = "%ctaid.z",
        [SPECIAL_BLOCK_SIZE_X] = "%ntid.x", [SPECIAL_BLOCK_SIZE_Y] = "%ntid.y",
        [SPECIAL_BLOCK_SIZE_Z] = "%ntid.z", [SPECIAL_GRID_X] = "%nctaid.x",
        [SPECIAL_GRID_Y] = "%nctaid.y",     [SPECIAL_GRID_Z] = "%nctaid.z",
        [SPECIAL_WARP_SIZE] = "WARP_SZ",
    };
    text_add(&k->body, "\tmov.u32 \t%s, %s;\n", emit_operand(k, v).text, names[v->bits]);
}

static void write_parameter(struct emit_kernel *k, struct ir_value *v)
{
    struct operand to = emit_operand(k, v), small = to;
    const char *name = k->f->source->mangled;
    char type[8];
    if (v->type == IR_BOOL) small = emit_register(k, IR_I32);
    snprintf(type, sizeof type, "%c%d",
             ir_is_real(v->type) ? 'f'
             : v->is_signed      ? 's'
                                 : 'u',
             8 * v->bytes);
    text_add(&k->body, "\tld.param.%s \t%s, [%s_param_%d", type, small.text, name, (int)v->bits);
    text_add(&k->body, v->offset ? "+%d];\n" : "];\n", (int)v->offset);
    if (v->type == IR_BOOL) text_add(&k->body, "\tsetp.ne.s32 \t%s, %s, 0;\n", to.text, small.text);
}

static const char *const SPACES[] = {[IR_GENERIC] = "",
                                     [IR_GLOBAL] = ".global",
                                     [IR_SHARED] = ".shared",
                                     [IR_LOCAL] = ".local",
                                     [IR_CONST] = ".const"};

/* The address of a name: in its space, and generic if that is asked for. */
static void write_name(struct emit_kernel *k, struct ir_value *v)
{
    struct operand to = emit_operand(k, v);
    char slot[32];
    const char *name = slot;
    snprintf(slot, sizeof slot, "__local_depot%d", (int)v->bits);
    if (v->op == IR_TEXT) name = emit_string(k->module, v->text);
    if (v->op == IR_SYMBOL) name = v->symbol->mangled;
    text_add(&k->body, "\tmov.u%d \t%s, %s;\n", v->type == IR_I32 ? 32 : 64, to.text, name);
    enum ir_space space = v->op == IR_SLOT   ? IR_LOCAL
                          : v->op == IR_TEXT ? IR_GLOBAL
                                             : ir_space_of(v->symbol);
    if (v->space == IR_GENERIC)
        text_add(&k->body, "\tcvta%s.u64 \t%s, %s;\n", SPACES[space], to.text, to.text);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static const char *access_type(const struct ir_value *v, enum ir_type type, char name[8])
{
    snprintf(name, 8, "%c%d", ir_is_real(type) ? 'f' : v->is_signed ? 's' : 'u', 8 * v->bytes);
    return name;
}

static void write_values(struct emit_kernel *k, const struct ir_value *v, struct operand *values)
{
    if (v->parts > 1) text_add(&k->body, "{");
    for (int n = 0; n < v->parts; n++) text_add(&k->body, "%s%s", n ? ", " : "", values[n].text);
    if (v->parts > 1) text_add(&k->body, "}");
}

static void write_place(struct emit_kernel *k, struct ir_value *v)
{
    text_add(&k->body, "[%s", emit_operand(k, ir_operand(v, 0)).text);
    if (v->offset) text_add(&k->body, "+%lld", (long long)v->offset);
    text_add(&k->body, "]");
}

static const char *vector_name(const struct ir_value *v)
{
    return v->parts == 4 ? ".v4" : v->parts == 2 ? ".v2" : "";
}

static void write_load(struct emit_kernel *k, struct ir_value *v)
{
    struct operand values[4];
    char type[8];
    for (int n = 0; n < v->parts; n++)
        values[n] = v->parts > 1 ? emit_register(k, v->type) : emit_operand(k, v);
    for (struct ir_value *p = v->next; p && v->parts > 1; p = p->next)
        if (p->op == IR_PART && ir_operand(p, 0) == v) values[p->bits] = emit_operand(k, p);
    text_add(&k->body, "\tld%s%s.%s \t", SPACES[v->space], vector_name(v),
             access_type(v, v->type, type));
    write_values(k, v, values);
    text_add(&k->body, ", ");
    write_place(k, v);
    text_add(&k->body, ";\n");
}

/* A constant is put into a register first. */
static struct operand stored(struct emit_kernel *k, struct ir_value *value)
{
    struct operand constant = emit_operand(k, value);
    if (!ir_is_constant(value)) return constant;
    struct operand to = emit_register(k, value->type);
    text_add(&k->body, "\tmov.%s \t%s, %s;\n", UNSIGNED[value->type], to.text, constant.text);
    return to;
}

static void write_store(struct emit_kernel *k, struct ir_value *v)
{
    struct operand values[4];
    char type[8];
    for (int n = 0; n < v->parts; n++) values[n] = stored(k, ir_operand(v, n + 1));
    text_add(&k->body, "\tst%s%s.%s \t", SPACES[v->space], vector_name(v),
             access_type(v, ir_operand(v, 1)->type, type));
    write_place(k, v);
    text_add(&k->body, ", ");
    write_values(k, v, values);
    text_add(&k->body, ";\n");
}

/* ---- instructions of their own text ---------------------------------------------------------- */

/* The registers of what %0, %1 … stand for; returns how many are results. */
static int find_operands(struct emit_kernel *k, struct ir_value *v, struct operand *operands)
{
    const struct ptx *ptx = v->ptx;
    int results = ptx->is_inline ? ptx->result_count : 1;
    if (!ptx->is_inline && v->type != IR_VOID) operands[0] = emit_operand(k, v);
    for (int n = 0; n < ptx->result_count; n++)
        operands[n] = emit_register(k, lower_type(ptx->results[n]->type));
    for (struct ir_value *p = v->next; p && ptx->result_count; p = p->next)
        if (p->op == IR_PART && ir_operand(p, 0) == v) operands[p->bits] = emit_operand(k, p);
    for (int n = 0; n < IR_OPERANDS && ir_operand(v, n); n++) {
        struct ir_value *value = ir_operand(v, n);
        bool is_number = value->type == IR_I32 || value->type == IR_I64;
        operands[results + n] =
            is_number && !ptx->is_inline ? emit_operand(k, value) : stored(k, value);
    }
    return results;
}

static void write_ptx(struct emit_kernel *k, struct ir_value *v)
{
    struct operand operands[2 * IR_OPERANDS];
    int results = find_operands(k, v, operands);
    for (int n = 0; n < v->ptx->result_count; n++) {
        int first = v->ptx->first[n], bits = 8 * (int)type_size(v->ptx->results[n]->type);
        if (first >= 0)
            text_add(&k->body, "\tmov.b%d \t%s, %s;\n", bits, operands[n].text,
                     operands[results + first].text);
    }
    text_add(&k->body, "\t");
    for (const char *at = v->ptx->text; *at != 0;) {
        size_t plain = strcspn(at, "%");
        text_add(&k->body, "%.*s", (int)plain, at);
        at += plain;
        if (*at == 0) break;
        char what = at[1];
        at += 2;
        if (what == '%') text_add(&k->body, "%%");
        if (what == 's') text_add(&k->body, "%s", SPACES[v->space]);
        if (what == 'a') write_place(k, v);
        if (!isdigit((unsigned char)what)) continue;
        char *end;
        long number = strtol(at - 1, &end, 10);
        text_add(&k->body, "%s", operands[number].text);
        at = end;
    }
    text_add(&k->body, "\n");
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void write_print(struct emit_kernel *k, struct ir_value *v)
{
    struct ir_value *arguments = ir_operand(v, 1);
    struct operand format = emit_operand(k, ir_operand(v, 0)), none = emit_register(k, IR_I64);
    if (!arguments) text_add(&k->body, "\tmov.u64 \t%s, 0;\n", none.text);
    text_add(&k->body,
             "\t{ // callseq %d, 0\n\t.reg .b32 temp_param_reg;\n"
             "\t.param .b64 param0;\n\tst.param.b64 \t[param0+0], %s;\n"
             "\t.param .b64 param1;\n\tst.param.b64 \t[param1+0], %s;\n"
             "\t.param .b%d retval0;\n"
             "\tcall.uni (retval0), \n\t%s, \n\t(\n\tparam0, \n\tparam1\n\t);\n",
             k->call_count, format.text, arguments ? emit_operand(k, arguments).text : none.text,
             v->bits ? 64 : 32, v->bits ? "host_call" : "vprintf");
    k->module->has_host |= v->bits != 0;
    if (v->type != IR_VOID)
        text_add(&k->body, "\tld.param.b%d \t%s, [retval0+0];\n", v->type == IR_I64 ? 64 : 32,
                 emit_operand(k, v).text);
    text_add(&k->body, "\t} // callseq %d\n%s", k->call_count++,
             v->bits == IR_CALL_EXIT ? "\texit;\n" : "");
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void write_arithmetic(struct emit_kernel *k, struct ir_value *v)
{
    const char *type = ir_is_real(v->type) ? SIGNED[v->type] : type_name(v, v->type);
    const char *bits = ir_is_real(v->type) ? SIGNED[v->type] : INTEGER[v->type];
    switch (v->op) {
    case IR_ADD: write_plain(k, v, "add", SIGNED[v->type]); break;
    case IR_SUBTRACT: write_plain(k, v, "sub", SIGNED[v->type]); break;
    case IR_MULTIPLY: write_product(k, v); break;
    case IR_DIVIDE: write_plain(k, v, ir_is_real(v->type) ? "div.rn" : "div", type); break;
    case IR_REMAINDER: write_plain(k, v, "rem", type); break;
    case IR_AND: write_plain(k, v, "and", bits); break;
    case IR_OR: write_plain(k, v, "or", bits); break;
    case IR_XOR: write_plain(k, v, "xor", bits); break;
    case IR_SHIFT_LEFT: write_plain(k, v, "shl", bits); break;
    case IR_SHIFT_RIGHT: write_plain(k, v, "shr", type); break;
    case IR_MIN: write_plain(k, v, "min", type); break;
    case IR_MAX: write_plain(k, v, "max", type); break;
    case IR_ABS: write_plain(k, v, "abs", SIGNED[v->type]); break;
    case IR_NEGATE: write_plain(k, v, "neg", SIGNED[v->type]); break;
    case IR_COMPLEMENT: write_plain(k, v, "not", bits); break;
    case IR_SQRT: write_plain(k, v, "sqrt.rn", type); break;
    case IR_FMA: write_plain(k, v, "fma.rn", type); break;
    default: write_compare(k, v); break;
    }
}

void emit_value(struct emit_kernel *k, struct ir_value *v)
{
    char type[8];
    switch (v->op) {
    case IR_CONSTANT:
    case IR_PHI:
    case IR_STRUCT:
    case IR_PART: break;
    case IR_PTX: write_ptx(k, v); break;
    case IR_PARAMETER: write_parameter(k, v); break;
    case IR_SPECIAL: write_special(k, v); break;
    case IR_SYMBOL:
    case IR_SLOT:
    case IR_TEXT: write_name(k, v); break;
    case IR_TO_SPACE:
        text_add(&k->body, "\tcvta.to%s.u64 \t%s, %s;\n", SPACES[v->space], emit_operand(k, v).text,
                 emit_operand(k, ir_operand(v, 0)).text);
        break;
    case IR_SELECT: write_select(k, v); break;
    case IR_CONVERT: write_convert(k, v); break;
    case IR_EXTEND:
        snprintf(type, sizeof type, "%c%d", v->is_signed ? 's' : 'u', 8 * v->bytes);
        text_add(&k->body, "\tcvt.%s.%s \t%s, %s;\n", v->is_signed ? "s32" : "u32", type,
                 emit_operand(k, v).text, emit_operand(k, ir_operand(v, 0)).text);
        break;
    case IR_LOAD: write_load(k, v); break;
    case IR_STORE: write_store(k, v); break;
    case IR_BARRIER: text_add(&k->body, "\tbar.sync \t0;\n"); break;
    case IR_PRINTF: write_print(k, v); break;
    default: write_arithmetic(k, v); break;
    }
}
