/* decode_function.c — the functions that a kernel calls, and the place of every variable. */
#include "warp_ops.h"
#include "decode.h"
#include <string.h>

/* ---- which functions ------------------------------------------------------------------------- */

/* Puts the parameters and results of a function at the start of its area. Returns their end. */
static size_t lay_out_callee(struct decoder *d, struct callee *callee)
{
    const struct ptx_function *function = callee->function;
    unsigned *offsets = decode_take(d, (function->param_count + 1) * sizeof *offsets);
    unsigned *sizes = decode_take(d, (function->param_count + 1) * sizeof *sizes);
    size_t end = 0;
    for (size_t i = 0; i < function->param_count; i++) {
        const struct ptx_variable *param = &function->params[i];
        offsets[i] = (unsigned)align_up(end, param->align);
        sizes[i] = (unsigned)param->bytes;
        end = offsets[i] + param->bytes;
    }
    callee->params = (unsigned)function->param_count;
    callee->param_offset = offsets;
    callee->param_size = sizes;
    if (function->result_count) {
        callee->result_offset = (unsigned)align_up(end, function->results[0].align);
        callee->result_size = (unsigned)function->results[0].bytes;
        end = callee->result_offset + callee->result_size;
    }
    return end;
}

/* The emulator's own code for a function, if it has some. */
static void find_builtin(struct decoder *d, struct callee *callee)
{
    const char *name = callee->function->name;
    struct emu_kernel *kernel = d->kernel;
    callee->builtin = builtin_find(name);
    if (callee->builtin == builtin_malloc || callee->builtin == builtin_free)
        kernel->uses_heap = true;
    if (callee->builtin || !(callee->builtin = runtime_find(name))) return;
    kernel->uses_runtime = true;
    if (strstr(name, "Malloc") || strstr(name, "Free")) kernel->uses_heap = true;
}

static void add_body(struct decoder *d, size_t index)
{
    struct ptx_function *function = &d->module->text.functions[index];
    if (d->callees[index] || function->is_entry) return;
    struct callee *callee = d->callees[index] = decode_take(d, sizeof *callee);
    callee->function = function;
    callee->local_base = callee->stack_top = NO_SLOT;
    if (!function->has_body) find_builtin(d, callee);
    callee->area_bytes = lay_out_callee(d, callee);
    if (function->has_body)
        d->bodies[d->body_count++] = (struct body){.function = function, .callee = callee};
}

/* Adds every function of the module that has a definition. */
static void add_all(struct decoder *d)
{
    const struct ptx_text *text = &d->module->text;
    for (size_t i = 0; i < text->symbol_count; i++)
        if (text->symbols[i].is_function) add_body(d, text->symbols[i].index);
}

/* Adds the functions that a body calls by name. Returns whether it calls one by pointer. */
static bool add_called(struct decoder *d, const struct ptx_function *function)
{
    bool by_pointer = false;
    for (size_t n = 0; n < function->instruction_count; n++) {
        const struct ptx_instruction *insn = &function->instructions[n];
        if (strcmp(insn->words[0], "call")) continue;
        d->has_calls = true;
        for (unsigned k = 0; k < insn->operand_count; k++) {
            if (insn->operands[k].kind == PTX_REGISTER) by_pointer = true;
            if (insn->operands[k].kind != PTX_SYMBOL) continue;
            const struct ptx_symbol *symbol =
                ptx_find(&d->module->text, function->unit, insn->operands[k].name);
            if (symbol && symbol->is_function) add_body(d, symbol->index);
        }
    }
    return by_pointer;
}

static void parse_body(struct decoder *d, const struct ptx_function *function)
{
    struct ptx_text *text = &d->module->text;
    if (function->is_parsed) return;
    struct ptx_function *own = &text->functions[function - text->functions];
    int error = ptx_parse_body(text, own, d->message, d->size);
    if (!error) return;
    d->error = error; /* the parser has written the message */
    longjmp(d->failed, 1);
}

void collect_bodies(struct decoder *d, const struct ptx_function *other)
{
    size_t count = d->module->text.function_count;
    d->callees = decode_take(d, (count + 1) * sizeof *d->callees);
    d->bodies = decode_take(d, (count + 1) * sizeof *d->bodies);
    d->bodies[d->body_count++] = (struct body){.function = d->function};
    if (other) add_body(d, (size_t)(other - d->module->text.functions));
    for (size_t k = 0; k < d->body_count; k++) { /* add_called() makes the list longer */
        parse_body(d, d->bodies[k].function);
        if (add_called(d, d->bodies[k].function)) add_all(d);
    }
    d->kernel->function_count = count;
    d->kernel->callees = (const struct callee **)d->callees;
}

/* ---- where variables are --------------------------------------------------------------------- */

/* Puts .param variables into the area. Parameters of two calls may have the same name in two
 * scopes; then they share one place with room for the larger one. */
static void lay_out_area(struct body *body, size_t *end)
{
    const struct ptx_function *f = body->function;
    for (size_t i = 0; i < f->variable_count; i++) {
        const struct ptx_variable *v = &f->variables[i];
        if (v->space != PTX_PARAM) continue;
        size_t bytes = 0, align = 1, first = i;
        for (size_t k = f->variable_count; k-- > 0;) {
            const struct ptx_variable *other = &f->variables[k];
            if (other->space != PTX_PARAM || strcmp(other->name, v->name)) continue;
            first = k;
            if (other->bytes > bytes) bytes = other->bytes;
            if (other->align > align) align = other->align;
        }
        if (first < i) {
            body->variable_offset[i] = body->variable_offset[first];
            continue;
        }
        body->variable_offset[i] = *end = align_up(*end, align);
        *end += bytes;
    }
    *end = align_up(*end, 16);
}

static bool takes_address(const struct ptx_function *function, const char *name)
{
    for (size_t n = 0; n < function->instruction_count; n++) {
        const struct ptx_instruction *insn = &function->instructions[n];
        for (unsigned k = 0; k < insn->operand_count; k++)
            if (insn->operands[k].kind == PTX_SYMBOL && !strcmp(insn->operands[k].name, name))
                return true;
    }
    return false;
}

/* Gives a place in local memory to the parameters whose address the function takes. The PTX ISA
 * says: "the parameter will be copied to the stack if necessary, and so the address will be in the
 * .local state space". */
static void lay_out_local_params(struct decoder *d, struct body *body, size_t *local)
{
    const struct ptx_function *f = body->function;
    unsigned *offsets = decode_take(d, (f->param_count + 1) * sizeof *offsets);
    for (size_t k = 0; k < f->param_count; k++) {
        offsets[k] = NOT_LOCAL;
        if (!takes_address(f, f->params[k].name)) continue;
        *local = align_up(*local, f->params[k].align);
        offsets[k] = (unsigned)*local;
        *local += f->params[k].bytes;
    }
    body->callee->param_local = offsets;
}

static void lay_out_body(struct decoder *d, struct body *body, size_t *shared)
{
    const struct ptx_function *function = body->function;
    size_t local = 0, area = body->callee ? body->callee->area_bytes : 0;
    body->variable_offset =
        decode_take(d, (function->variable_count + 1) * sizeof *body->variable_offset);
    for (size_t i = 0; i < function->variable_count; i++) {
        const struct ptx_variable *v = &function->variables[i];
        size_t *end = v->space == PTX_SHARED ? shared : &local;
        if (v->space == PTX_PARAM) continue;
        if (v->space != PTX_SHARED && v->space != PTX_LOCAL)
            decode_fail(d, EMU_UNSUPPORTED_PTX,
                        "variable '%s' on line %u is of space .%s, which inside a "
                        "function is not supported",
                        v->name, v->line, ptx_space_name(v->space));
        body->variable_offset[i] = *end = align_up(*end, v->align);
        *end += v->bytes;
    }
    if (body->callee) lay_out_local_params(d, body, &local);
    lay_out_area(body, &area);
    if (body->callee) {
        body->callee->local_bytes = align_up(local, 16);
        body->callee->area_bytes = area;
    } else {
        d->kernel->info.local_bytes = align_up(local, 16);
        d->kernel->area_bytes = area;
    }
}

/* Marks the variables that an operand names. */
static void note_variables(struct decoder *d, unsigned unit, const struct ptx_operand *operand,
                           bool *used)
{
    if (operand->kind == PTX_ADDRESS) note_variables(d, unit, operand->base, used);
    for (unsigned i = 0; operand->kind == PTX_VECTOR && i < operand->count; i++)
        note_variables(d, unit, operand->items[i], used);
    if (operand->kind != PTX_SYMBOL) return;
    const struct ptx_symbol *symbol = ptx_find(&d->module->text, unit, operand->name);
    if (symbol && !symbol->is_function) used[symbol->index] = true;
}

static void note_body(struct decoder *d, const struct ptx_function *function, bool *used)
{
    for (size_t i = 0; i < function->instruction_count; i++)
        for (unsigned k = 0; k < function->instructions[i].operand_count; k++)
            note_variables(d, function->unit, &function->instructions[i].operands[k], used);
}

/* Shared memory holds the static variables that the code names, one after the other. Behind them
 * begins dynamic shared memory, which all `extern __shared__ x[]` name. If the module has one, it
 * aligns what all kernels have (profiles/h200/answers.csv). */
void lay_out_memory(struct decoder *d)
{
    const struct ptx_text *text = &d->module->text;
    size_t shared = 0, constant = 0, align = 16;
    bool has_dynamic = false;
    bool *used = decode_take(d, text->variable_count + 1);
    for (size_t k = 0; k < d->body_count; k++) note_body(d, d->bodies[k].function, used);
    d->shared_offset = decode_take(d, (text->variable_count + 1) * sizeof *d->shared_offset);
    for (size_t i = 0; i < text->variable_count; i++) {
        const struct ptx_variable *v = &text->variables[i];
        if (v->space == PTX_CONST) constant = align_up(constant, v->align) + v->bytes;
        if (v->space == PTX_SHARED && !v->bytes) {
            has_dynamic = true;
            if (v->align > align) align = v->align;
        }
        if (v->space != PTX_SHARED || !v->bytes || !used[i]) continue;
        d->shared_offset[i] = shared = align_up(shared, v->align);
        shared += v->bytes;
    }
    for (size_t k = 0; k < d->body_count; k++) lay_out_body(d, &d->bodies[k], &shared);
    d->kernel->info.constant_bytes = constant;
    d->kernel->dynamic_shared_offset = align_up(shared, align);
    d->kernel->info.shared_bytes = has_dynamic ? d->kernel->dynamic_shared_offset : shared;
    for (size_t i = 0; i < text->variable_count; i++)
        if (text->variables[i].space == PTX_SHARED && !text->variables[i].bytes)
            d->shared_offset[i] = d->kernel->dynamic_shared_offset;
}

uint64_t module_function_address(const struct ptx_text *text, unsigned unit, const char *name)
{
    const struct ptx_symbol *symbol = ptx_find(text, unit, name);
    return symbol && symbol->is_function ? CODE_WINDOW + symbol->index * FUNCTION_BYTES : 0;
}
