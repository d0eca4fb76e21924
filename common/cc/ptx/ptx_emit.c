/* ptx_emit.c — a PTX text: its variables, strings and kernels, and the names of its files. */
#include "emit.h"
#include "common/cc/ir/lower.h"
#include "common/cc/ir/passes.h"
#include <string.h>

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

int emit_function_name(struct emit *e, const struct function *function)
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
        unsigned char *bytes = cc_take(e->unit->arena, (size_t)size);
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
    text_add(&out, "//\n// Compiled by the compiler of this book (common/cc)\n//\n\n"
                   ".version 9.0\n.target sm_90\n.address_size 64\n\n");
    bool has_print = e.string_count > 0;
    if (has_print)
        text_add(&out, ".extern .func (.param .b32 func_retval0) vprintf\n(\n"
                       "\t.param .b64 vprintf_param_0,\n\t.param .b64 vprintf_param_1\n)\n;\n");
    text_add(&out, "%s%s", text_bytes(&e.variables), text_bytes(&e.kernels));
    write_names(&e, &out);
    return text_bytes(&out);
}
