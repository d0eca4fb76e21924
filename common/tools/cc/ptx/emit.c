/*
 * emit.c — a PTX text: variables, kernels, blocks, registers.
 */
#include "emit.h"
#include "common/tools/cc/ir/ir.h"
#include "common/tools/cc/ir/lower.h"
#include <stdio.h>
#include <string.h>

/* The number of a function's name, for .loc. */
static int emit_function_name(struct emit *, const struct function *);

/* ---- a text that grows ----------------------------------------------------------------------- */

static void make_room(struct text *t, size_t more)
{
    if (t->used + more < t->room) return;
    t->room = 2 * (t->used + more) + 1000;
    char *bytes = arena_take(t->arena, t->room);
    if (t->used) memcpy(bytes, t->bytes, t->used);
    t->bytes = bytes;
}

void text_add(struct text *t, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    make_room(t, (size_t)length + 1);
    va_start(list, format);
    vsnprintf(t->bytes + t->used, (size_t)length + 1, format, list);
    va_end(list);
    t->used += (size_t)length;
}

/* "" if nothing was added */
static const char *text_bytes(const struct text *t) { return t->bytes ? t->bytes : ""; }

/* ---- a kernel's blocks, jumps and registers as PTX ------------------------------------------- */

/*
 * Each value has a register of its own; ptxas, and the emulator, do not mind how many there are. A
 * phi's register gets its value at the end of the blocks before:
 *
 *     a: jump c    b: jump c    c: %3 = phi(a: %1, b: %2)
 *     a: mov %3, %1; bra c      b: mov %3, %2; bra c
 */

static const char *const PREFIX[] = {
    [IR_BOOL] = "p", [IR_I32] = "r", [IR_I64] = "rd", [IR_F32] = "f", [IR_F64] = "fd"};
static const char *const MOVED[] = {
    [IR_BOOL] = "pred", [IR_I32] = "u32", [IR_I64] = "u64", [IR_F32] = "f32", [IR_F64] = "f64"};

/* ---- registers ------------------------------------------------------------------------------- */

struct operand emit_register(struct emit_kernel *k, enum ir_type type)
{
    struct operand operand;
    snprintf(operand.text, sizeof operand.text, "%%%s%d", PREFIX[type], ++k->registers[type]);
    return operand;
}

struct operand emit_operand(struct emit_kernel *k, struct ir_value *v)
{
    struct operand o;
    v = ir_resolve(v);
    (void)k;
    if (!ir_is_constant(v))
        snprintf(o.text, sizeof o.text, "%%%s%d", PREFIX[v->type], v->id);
    else if (v->type == IR_F32)
        snprintf(o.text, sizeof o.text, "0f%08X", (unsigned)v->bits);
    else if (v->type == IR_F64)
        snprintf(o.text, sizeof o.text, "0d%016llX", (unsigned long long)v->bits);
    else if (v->type == IR_BOOL)
        snprintf(o.text, sizeof o.text, "%d", v->bits ? -1 : 0);
    else
        snprintf(o.text, sizeof o.text, "%lld", (long long)ir_signed(v));
    return o;
}

/* Gives registers to all values, but the parameter of mul.wide that nothing else uses. */
static void give_registers(struct emit_kernel *k)
{
    for (int b = 0; b < k->f->block_count; b++)
        for (struct ir_value *v = k->f->order[b]->first; v; v = v->next)
            if (v->type != IR_VOID && (v->op != IR_LOAD || v->parts == 1))
                v->id = ++k->registers[v->type];
}

/* (long)i * 4 is one instruction in PTX: then `scratch` of the product is the conversion, which may
 * no longer be needed. */
static void count_wide(struct ir_function *f)
{
    ir_count_uses(f);
    for (int b = 0; b < f->block_count; b++)
        for (struct ir_value *v = f->order[b]->first; v; v = v->next) {
            v->scratch = NULL;
            if (v->op != IR_MULTIPLY || v->type != IR_I64) continue;
            struct ir_value *left = ir_operand(v, 0), *right = ir_operand(v, 1);
            if (left->op != IR_CONVERT || ir_operand(left, 0)->type != IR_I32) continue;
            if (!ir_is_constant(right)) continue;
            int64_t factor = ir_signed(right);
            bool fits = left->is_signed ? factor == (int32_t)factor : factor == (uint32_t)factor;
            if (!fits || ir_is_constant(ir_operand(left, 0))) continue;
            v->scratch = left;
            left->uses--;
        }
}

/* ---- places ---------------------------------------------------------------------------------- */

static bool same_place(struct ir_place a, struct ir_place b)
{
    return a.at.file == b.at.file && a.at.line == b.at.line && a.at.column == b.at.column &&
           a.call == b.call;
}

static void emit_place(struct emit_kernel *k, struct ir_place place)
{
    if (!place.at.line || same_place(place, k->place)) return;
    if (place.call && place.call != k->place.call) emit_place(k, place.call->from); // for ptxas
    k->place = place;
    text_add(&k->body, "\t.loc\t%d %d %d", place.at.file + 1, place.at.line, place.at.column);
    if (place.call) {
        struct position from = place.call->from.at;
        text_add(&k->body, ", function_name $L__info_string%d, inlined_at %d %d %d",
                 emit_function_name(k->module, place.call->callee), from.file + 1, from.line,
                 from.column);
    }
    text_add(&k->body, "\n");
}

/* ---- jumps ----------------------------------------------------------------------------------- */

/* One assignment to a phi's register. All of an edge happen at once. */
struct move {
    struct ir_value *to, *from;
    struct operand source;
};

static int moves_of(struct emit_kernel *k, struct ir_block *from, struct ir_block *to, int edge,
                    struct move **moves)
{
    int count = 0, which = 0, place = 0;
    for (struct ir_value *v = to->first; v && v->op == IR_PHI; v = v->next) count++;
    *moves = arena_take(k->f->arena, (count + 1) * sizeof **moves);
    // A block that jumps twice to the same block stands twice in `before`.
    for (int j = 0; j < to->before_count; j++)
        if (to->before[j] == from && which++ <= edge) place = j;
    count = 0;
    for (struct ir_value *v = to->first; v && v->op == IR_PHI; v = v->next) {
        struct ir_value *source = ir_resolve(v->incoming[place]);
        if (source == v) continue;
        (*moves)[count++] = (struct move){v, source, emit_operand(k, source)};
    }
    return count;
}

static bool is_still_read(const struct move *moves, int count, const struct ir_value *value)
{
    for (int j = 0; j < count; j++)
        if (moves[j].from == value) return true;
    return false;
}

static void write_move(struct emit_kernel *k, const char *guard, enum ir_type type, const char *to,
                       const char *from)
{
    text_add(&k->body, "\t%smov.%s \t%s, %s;\n", guard, MOVED[type], to, from);
}

/* A register is written after its old value has been read; in a circle, one value waits aside. */
static void write_moves(struct emit_kernel *k, const char *guard, struct move *moves, int count)
{
    while (count) {
        int next = 0;
        while (next < count) {
            struct move move = moves[next];
            moves[next].from = NULL;
            bool waits = is_still_read(moves, count, move.to);
            moves[next] = move;
            if (!waits) break;
            next++;
        }
        if (next == count) {
            struct operand aside = emit_register(k, moves[0].from->type);
            write_move(k, guard, moves[0].from->type, aside.text, moves[0].source.text);
            struct ir_value *from = moves[0].from;
            for (int j = 0; j < count; j++)
                if (moves[j].from == from) moves[j].from = NULL, moves[j].source = aside;
            continue;
        }
        write_move(k, guard, moves[next].to->type, emit_operand(k, moves[next].to).text,
                   moves[next].source.text);
        moves[next] = moves[--count];
    }
}

static void write_edge(struct emit_kernel *k, struct ir_block *from, int edge, const char *guard)
{
    struct move *moves;
    bool is_second = edge == 1 && from->next[0] == from->next[1];
    int count = moves_of(k, from, from->next[edge], is_second, &moves);
    write_moves(k, guard, moves, count);
}

static bool has_phis(const struct ir_block *block)
{
    return block->first && block->first->op == IR_PHI;
}

/* The condition in a register that moves to phis do not change. */
static struct operand condition_of(struct emit_kernel *k, struct ir_block *block, bool *is_opposite)
{
    struct ir_value *condition = ir_resolve(block->condition);
    *is_opposite = condition->op == IR_COMPLEMENT;
    if (*is_opposite) condition = ir_operand(condition, 0);
    struct operand operand = emit_operand(k, condition);
    if (condition->op != IR_PHI) return operand;
    struct operand copy = emit_register(k, IR_BOOL);
    write_move(k, "", IR_BOOL, copy.text, operand.text);
    return copy;
}

static void jump_to(struct emit_kernel *k, const char *guard, int number)
{
    text_add(&k->body, "\t%sbra%s \t$L__BB%d_%d;\n", guard, *guard ? "" : ".uni", k->number,
             number);
}

static void write_branch(struct emit_kernel *k, struct ir_block *block)
{
    bool is_opposite;
    char guards[2][48]; // of next[0] and of next[1]
    struct operand condition = condition_of(k, block, &is_opposite);
    snprintf(guards[0], sizeof guards[0], "@%s%s ", is_opposite ? "!" : "", condition.text);
    snprintf(guards[1], sizeof guards[1], "@%s%s ", is_opposite ? "" : "!", condition.text);
    for (int n = 0; n < 2; n++)
        if (has_phis(block->next[n])) write_edge(k, block, n, guards[n]);
    int follows = block->number + 1, first = block->next[0]->number,
        second = block->next[1]->number;
    if (first != follows) jump_to(k, guards[0], first);
    if (second != follows) jump_to(k, first == follows ? guards[1] : "", second);
}

static void write_end(struct emit_kernel *k, struct ir_block *block)
{
    emit_place(k, block->place);
    if (!block->next[0]) {
        text_add(&k->body, "\tret;\n");
    } else if (block->condition) {
        write_branch(k, block);
    } else {
        write_edge(k, block, 0, "");
        if (block->next[0]->number != block->number + 1) jump_to(k, "", block->next[0]->number);
    }
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static void write_block(struct emit_kernel *k, struct ir_block *block)
{
    if (block->number) text_add(&k->body, "\n$L__BB%d_%d:\n", k->number, block->number);
    for (struct ir_value *v = block->first; v; v = v->next) {
        bool is_left_out = v->op == IR_CONVERT && v->uses <= 0;
        if (v->op == IR_PHI || is_left_out) continue;
        emit_place(k, v->place);
        emit_value(k, v);
    }
    write_end(k, block);
}

static void write_parameters(struct emit *module, const struct function *source)
{
    int number = 0;
    for (struct symbol *s = source->parameters; s; s = s->next) {
        char kind = type_is_real(s->type) ? 'f' : 'u';
        int size = (int)type_size(s->type);
        text_add(&module->kernels, "%s\n\t.param ", number ? "," : "");
        if (s->type->kind == TYPE_STRUCT)
            text_add(&module->kernels, ".align %d .b8 %s_param_%d[%d]", (int)type_align(s->type),
                     source->mangled, number, size);
        else
            text_add(&module->kernels, ".%c%d %s_param_%d", kind, 8 * size, source->mangled,
                     number);
        number++;
    }
}

/* Shared arrays of a fixed size belong to the kernel that uses them. */
static void write_shared(struct emit_kernel *k)
{
    struct text *out = &k->module->kernels;
    for (struct ir_value *v = k->f->entry->first; v; v = v->next) v->scratch = NULL;
    for (int b = 0; b < k->f->block_count; b++)
        for (struct ir_value *v = k->f->order[b]->first; v; v = v->next) {
            if (v->op != IR_SYMBOL || v->symbol->kind != SYMBOL_SHARED) continue;
            bool is_known = false;
            for (int c = 0; c <= b && !is_known; c++)
                for (struct ir_value *w = k->f->order[c]->first; w && w != v; w = w->next)
                    is_known |= w->op == IR_SYMBOL && w->symbol == v->symbol;
            if (is_known) continue;
            text_add(out, "\t.shared .align %d .b8 %s[%lld];\n", (int)v->symbol->align,
                     v->symbol->mangled, (long long)type_size(v->symbol->type));
        }
}

static void write_declarations(struct emit_kernel *k)
{
    struct text *out = &k->module->kernels;
    for (int n = 0; n < k->f->slot_count; n++)
        if (!k->f->slots[n].is_gone)
            text_add(out, "\t.local .align %d .b8 __local_depot%d[%lld];\n",
                     (int)k->f->slots[n].align, n, (long long)k->f->slots[n].size);
    for (enum ir_type type = IR_BOOL; type <= IR_F64; type++)
        if (k->registers[type])
            text_add(out, "\t.reg .%s \t%%%s<%d>;\n",
                     type == IR_BOOL  ? "pred"
                     : type == IR_I32 ? "b32"
                     : type == IR_I64 ? "b64"
                                      : MOVED[type],
                     PREFIX[type], k->registers[type] + 1);
    write_shared(k);
}

static void emit_kernel(struct emit *module, struct ir_function *f)
{
    const struct function *source = f->source;
    struct emit_kernel k = {
        .module = module, .f = f, .body = {.arena = f->arena}, .number = module->kernel_count++};
    count_wide(f);
    give_registers(&k);
    emit_place(&k, (struct ir_place){source->at, NULL});
    for (int b = 0; b < f->block_count; b++) write_block(&k, f->order[b]);
    struct text *out = &module->kernels;
    text_add(out, "\n%s.entry %s(", source->is_static ? "" : ".visible ", source->mangled);
    write_parameters(module, source);
    text_add(out, "\n)\n");
    if (source->max_threads) text_add(out, ".maxntid %d, 1, 1\n", source->max_threads);
    if (source->min_blocks) text_add(out, ".minnctapersm %d\n", source->min_blocks);
    text_add(out, "{\n");
    write_declarations(&k);
    text_add(out, "%s}\n", text_bytes(&k.body));
}

/* ---- a PTX text: its variables, strings and kernels, and the names of its files -------------- */

static void add_bytes(struct text *out, const unsigned char *bytes, int64_t size)
{
    for (int64_t k = 0; k < size; k++) text_add(out, "%s%d", k ? ", " : "", bytes[k]);
}

const char *emit_string(struct emit *e, const struct expr *string)
{
    const char *name =
        e->string_count ? cc_format(e->unit->arena, "$str$%d", e->string_count) : "$str";
    e->string_count++;
    text_add(&e->variables, ".global .align 1 .b8 %s[%lld] = {", name,
             (long long)string->length + 1);
    add_bytes(&e->variables, (const unsigned char *)string->string, string->length + 1);
    text_add(&e->variables, "};\n");
    return name;
}

static int emit_function_name(struct emit *e, const struct function *function)
{
    for (int k = 0; k < e->inlined_count; k++)
        if (e->inlined[k] == function) return k;
    e->inlined = cc_grow(e->unit->arena, e->inlined, e->inlined_count, sizeof *e->inlined);
    e->inlined[e->inlined_count] = function;
    return e->inlined_count++;
}

/* ---- variables ------------------------------------------------------------------------------- */

static bool put_value(struct emit *e, unsigned char *bytes, const struct expr *value)
{
    float single = (float)value->real;
    int64_t size = type_size(value->type);
    switch (value->kind) {
    case EXPR_INTEGER: memcpy(bytes, &value->integer, (size_t)size); return true;
    case EXPR_REAL:
        if (size == 4)
            memcpy(bytes, &single, sizeof single);
        else
            memcpy(bytes, &value->real, sizeof value->real);
        return true;
    case EXPR_NULL: return true;
    default:
        error_at(e->unit->diagnostics, value->at, NULL,
                 "the page's compiler takes only numbers as initial values here");
        return false;
    }
}

static void write_variable(struct emit *e, const struct symbol *s)
{
    struct text *out = &e->variables;
    bool is_constant = s->kind == SYMBOL_CONSTANT;
    int64_t size = type_size(s->type);
    text_add(out, "%s.%s .align %d .b8 %s[%lld]", s->is_static ? "" : ".visible ",
             is_constant ? "const" : "global", (int)s->align, s->mangled, (long long)size);
    if (s->initialized && size) {
        unsigned char *bytes = arena_take(e->unit->arena, (size_t)size);
        for (struct initial *i = s->initials; i; i = i->next)
            if (!put_value(e, bytes + i->offset, i->value)) break;
        text_add(out, " = {");
        add_bytes(out, bytes, size);
        text_add(out, "}");
    }
    text_add(out, ";\n");
}

/* Dynamic shared arrays are declared once, in whichever functions they stand. */
static void write_dynamic(struct emit *e, const struct symbol *s, struct text *known)
{
    const char *line = cc_format(e->unit->arena, ".extern .shared .align %d .b8 %s[];\n",
                                 (int)s->align, s->mangled);
    if (!strstr(text_bytes(known), line)) text_add(known, "%s", line);
}

static void write_variables(struct emit *e)
{
    struct text dynamic = {.arena = e->unit->arena};
    for (struct symbol *s = e->unit->globals; s; s = s->next) {
        if (s->kind == SYMBOL_GLOBAL || s->kind == SYMBOL_CONSTANT) write_variable(e, s);
        if (s->kind == SYMBOL_SHARED_DYNAMIC) write_dynamic(e, s, &dynamic);
    }
    for (struct function *f = e->unit->functions; f; f = f->next)
        for (struct symbol *s = f->shared; s; s = s->next)
            if (s->kind == SYMBOL_SHARED_DYNAMIC) write_dynamic(e, s, &dynamic);
    text_add(&e->variables, "%s", text_bytes(&dynamic));
}

/* ---- the text -------------------------------------------------------------------------------- */

static void write_names(struct emit *e, struct text *out)
{
    for (int k = 0; k < e->unit->sources->count; k++)
        text_add(out, "\n\t.file\t%d \"%s\"", k + 1, e->unit->sources->files[k].name);
    if (!e->inlined_count) {
        text_add(out, "\n");
        return;
    }
    text_add(out, "\n\t.section\t.debug_str\n\t{\n");
    for (int k = 0; k < e->inlined_count; k++) {
        const char *name = e->inlined[k]->mangled;
        text_add(out, "$L__info_string%d:\n.b8 ", k);
        for (const char *c = name; *c; c++) text_add(out, "%d,", (unsigned char)*c);
        text_add(out, "0\n");
    }
    text_add(out, "\n\t}\n");
}

const char *emit_unit(struct unit *unit)
{
    struct emit e = {
        .unit = unit, .variables = {.arena = unit->arena}, .kernels = {.arena = unit->arena}};
    struct text out = {.arena = unit->arena};
    write_variables(&e);
    for (struct function *f = unit->functions; f && !unit->diagnostics->errors; f = f->next) {
        if (!f->is_kernel || !f->body) continue;
        struct ir_function *ir = lower_kernel(unit, f);
        if (unit->diagnostics->errors) break;
        passes_run(ir);
        emit_kernel(&e, ir);
    }
    if (unit->diagnostics->errors) return NULL;
    text_add(&out, "//\n// Compiled by the compiler of this book (common/tools/cc)\n//\n\n"
                   ".version 9.0\n.target sm_90\n.address_size 64\n\n");
    bool has_print = e.string_count > 0;
    if (has_print)
        text_add(&out, ".extern .func (.param .b32 func_retval0) vprintf\n(\n"
                       "\t.param .b64 vprintf_param_0,\n\t.param .b64 vprintf_param_1\n)\n;\n");
    if (e.has_host)
        text_add(&out, ".extern .func (.param .b64 func_retval0) host_call\n(\n"
                       "\t.param .b64 host_call_param_0,\n\t.param .b64 host_call_param_1\n)\n;\n");
    text_add(&out, "%s%s", text_bytes(&e.variables), text_bytes(&e.kernels));
    write_names(&e, &out);
    return text_bytes(&out);
}
