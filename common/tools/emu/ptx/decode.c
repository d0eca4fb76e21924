/* decode.c — decodes a kernel: its functions, registers, memory, source lines and constants. */
#include "decode.h"
#include "common/files/visible.h"
#include <stdarg.h>
#include <string.h>

static size_t align_up(size_t value, size_t alignment);

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
    if (callee->builtin == builtin_malloc || callee->builtin == builtin_free ||
        callee->builtin == builtin_host_call)
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

/* Fills d->bodies and the kernel's callees with all functions that the kernel calls, directly or
 * not, and with one other (NULL: none) and all that it calls. If one of them calls by pointer,
 * these are all functions of the module. */
static void collect_bodies(struct decoder *d, const struct ptx_function *other)
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
    *(body->callee ? &body->callee->variable_offset : &d->kernel->variable_offset) =
        body->variable_offset;
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
static void lay_out_memory(struct decoder *d)
{
    const struct ptx_text *text = &d->module->text;
    size_t shared = 0, constant = 0, align = 16;
    bool has_dynamic = false;
    bool *used = decode_take(d, text->variable_count + 1);
    for (size_t k = 0; k < d->body_count; k++) note_body(d, d->bodies[k].function, used);
    d->shared_offset = decode_take(d, (text->variable_count + 1) * sizeof *d->shared_offset);
    d->kernel->shared_offset = d->shared_offset;
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

/* ---- decodes a whole kernel: registers, parameters, source lines, constants ------------------ */

_Noreturn void decode_fail(struct decoder *d, int error, const char *format, ...)
{
    char text[300], opcode[128] = "", path[300], place[400] = "", kernel[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const char *unit = d->module->text.units[d->function->unit].name;
    kernel_whole_name(d->function->name, kernel, sizeof kernel);
    if (d->at) {
        size_t used = 0;
        for (unsigned i = 0; i < d->at->word_count && used < sizeof opcode; i++)
            used += (size_t)snprintf(opcode + used, sizeof opcode - used, "%s%s", i ? "." : "",
                                     d->at->words[i]);
        const char *file =
            d->at->file < d->module->text.file_count ? d->module->text.files[d->at->file] : NULL;
        visible(path, sizeof path, file ? file : "");
        if (d->at->source_line && file)
            snprintf(place, sizeof place, ", %s:%u", path, d->at->source_line);
        snprintf(d->message, d->size, "instruction '%s' in %s %s (%s, line %u%s): %s", opcode,
                 d->function->is_entry ? "kernel" : "function", kernel, unit, d->at->line, place,
                 text);
    } else {
        snprintf(d->message, d->size, "kernel %s (%s, line %u): %s", kernel, unit,
                 d->function->line, text);
    }
    d->error = error;
    longjmp(d->failed, 1);
}

void *decode_take(struct decoder *d, size_t bytes)
{
    return arena_take(&d->module->text.arena, bytes);
}

static size_t align_up(size_t value, size_t alignment)
{
    return alignment ? (value + alignment - 1) / alignment * alignment : value;
}

/* ---- layout ---------------------------------------------------------------------------------- */

static void lay_out_params(struct decoder *d)
{
    struct emu_kernel *kernel = d->kernel;
    size_t count = d->function->param_count, offset = 0;
    unsigned *offsets = decode_take(d, (count + 1) * sizeof *offsets);
    unsigned *sizes = decode_take(d, (count + 1) * sizeof *sizes);
    for (size_t i = 0; i < count; i++) {
        const struct ptx_variable *param = &d->function->params[i];
        offset = align_up(offset, param->align);
        offsets[i] = (unsigned)offset;
        sizes[i] = (unsigned)param->bytes;
        offset += param->bytes;
    }
    kernel->info.params = (unsigned)count;
    kernel->info.param_offset = offsets;
    kernel->info.param_size = sizes;
    kernel->param_bytes = offset;
}

static void lay_out_registers(struct decoder *d)
{
    size_t count = d->function->register_count;
    d->registers = decode_take(d, (count + 1) * sizeof *d->registers);
    d->lane_bytes = decode_take(d, count + 1);
    d->register_bytes = 0;
    for (size_t i = 0; i < count; i++) {
        enum ptx_type type = d->function->registers[i].type;
        size_t bytes = ptx_type_size(type);
        d->lane_bytes[i] = type == PTX_PRED ? 0 : bytes >= 8 ? (uint8_t)bytes : 4;
        d->registers[i] = register_take(d, d->lane_bytes[i]);
    }
}

/* ---- what the kernel tells about itself ------------------------------------------------------ */

static void note_use(const struct ptx_operand *operand, size_t at, size_t *first, size_t *last)
{
    if (operand->kind == PTX_REGISTER) {
        if (first[operand->index] == SIZE_MAX) first[operand->index] = at;
        last[operand->index] = at;
    }
    if (operand->kind == PTX_ADDRESS) note_use(operand->base, at, first, last);
    for (unsigned i = 0; operand->kind == PTX_VECTOR && i < operand->count; i++)
        note_use(operand->items[i], at, first, last);
    if (operand->other) note_use(operand->other, at, first, last);
}

/* The limit of registers per thread that __launch_bounds__ implies: with it, the promised number of
 * blocks, or one, fits on a multiprocessor. ptxas keeps to it, and spills registers if necessary. A
 * multiprocessor has four parts with a quarter of the registers each, and a warp is in one of
 * them. */
static unsigned registers_that_fit(const struct ptx_function *f, const struct emu_gpu *gpu)
{
    enum { UNIT = 8, PARTS = 4 }; /* registers are allocated in multiples of 8 */
    uint64_t warp = (uint64_t)gpu->warp_size, warps = (f->max_threads + warp - 1) / warp;
    uint64_t blocks = f->min_blocks ? f->min_blocks : 1;
    uint64_t of_part = (warps * blocks + PARTS - 1) / PARTS;
    uint64_t registers = (uint64_t)gpu->registers_per_sm / PARTS;
    uint64_t fit = of_part ? registers / (of_part * warp) / UNIT * UNIT : 0;
    return fit ? (unsigned)fit : UINT_MAX;
}

/* An estimate of the registers per thread. A value is live between its first and its last mention;
 * the estimate is the largest number of 32-bit values that are live at one instruction. ptxas
 * reorders instructions and reuses registers, so the number on a GPU differs. */
static unsigned estimate_registers(struct decoder *d)
{
    enum { OVERHEAD = 4, MAXIMUM = 255 };
    const struct ptx_function *function = d->function;
    size_t count = function->register_count, length = function->instruction_count;
    size_t *first = decode_take(d, (count + 1) * sizeof *first),
           *last = decode_take(d, (count + 1) * sizeof *last);
    int *change = decode_take(d, (length + 2) * sizeof *change);
    for (size_t i = 0; i < count; i++) first[i] = SIZE_MAX;
    for (size_t i = 0; i < length; i++)
        for (unsigned k = 0; k < function->instructions[i].operand_count; k++)
            note_use(&function->instructions[i].operands[k], i, first, last);
    for (size_t i = 0; i < count; i++) {
        if (first[i] == SIZE_MAX) continue;
        change[first[i]] += d->lane_bytes[i] / 4;
        change[last[i] + 1] -= d->lane_bytes[i] / 4;
    }
    int live = 0, most = 0;
    for (size_t i = 0; i < length; i++) {
        live += change[i];
        if (live > most) most = live;
    }
    return (unsigned)(most + OVERHEAD > MAXIMUM ? MAXIMUM : most + OVERHEAD);
}

static int compare_lines(const void *a, const void *b)
{
    const struct source_line *x = a, *y = b;
    if (x->file != y->file) return x->file < y->file ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* Makes the sorted table of distinct source lines, and gives each instruction its index there. Line
 * 0:0 is "unknown". */
static void collect_lines(struct decoder *d)
{
    struct emu_kernel *kernel = d->kernel;
    size_t count = 0;
    struct source_line *lines = decode_take(d, kernel->code_count * sizeof *lines);
    for (size_t i = 0; i < kernel->code_count; i++) {
        const struct ptx_instruction *source = kernel->code[i].source;
        lines[i] = source ? (struct source_line){source->file, source->source_line}
                          : (struct source_line){0, 0};
    }
    struct source_line *sorted = decode_take(d, kernel->code_count * sizeof *sorted);
    memcpy(sorted, lines, kernel->code_count * sizeof *sorted);
    qsort(sorted, kernel->code_count, sizeof *sorted, compare_lines);
    for (size_t i = 0; i < kernel->code_count; i++)
        if (!count || compare_lines(&sorted[count - 1], &sorted[i])) sorted[count++] = sorted[i];
    for (size_t i = 0; i < kernel->code_count; i++) {
        struct source_line *found =
            bsearch(&lines[i], sorted, count, sizeof *sorted, compare_lines);
        kernel->code[i].line = (uint32_t)(found - sorted);
    }
    kernel->lines = sorted;
    kernel->line_count = count;
}

/* Writes every constant into all 32 lanes of its slot. */
static void fill_constants(struct decoder *d)
{
    struct emu_kernel *kernel = d->kernel;
    uint8_t *bytes = decode_take(d, d->constant_bytes + SLOT_ALIGNMENT);
    kernel->constants =
        bytes + (SLOT_ALIGNMENT - (uintptr_t)bytes % SLOT_ALIGNMENT) % SLOT_ALIGNMENT;
    kernel->constant_bytes = d->constant_bytes;
    for (size_t i = 0; i < d->constant_count; i++) {
        const struct constant *c = &d->constants[i];
        uint8_t *lanes = kernel->constants + (c->slot & SLOT_OFFSET);
        size_t size = c->bytes ? c->bytes : sizeof(uint32_t), copies = c->bytes ? WARP : 1;
        for (size_t l = 0; l < copies; l++) memcpy(lanes + l * size, &c->value, size);
    }
}

/* ---- the kernel ------------------------------------------------------------------------------ */

/* Decodes one function's instructions into kernel->code[body->base] and the elements behind it. */
static void decode_body(struct decoder *d, const struct body *body)
{
    struct emu_kernel *kernel = d->kernel;
    slot always = constant_slot(d, ALL_LANES, 0);
    d->function = body->function;
    d->callee = body->callee;
    d->variable_offset = body->variable_offset;
    d->base = body->base;
    lay_out_registers(d);
    for (size_t n = 0; n < d->function->instruction_count; n++) {
        const struct ptx_instruction *source = &d->function->instructions[n];
        struct insn *insn = &kernel->code[d->base + n];
        d->at = source;
        insn->source = source;
        insn->d = insn->a = insn->b = insn->c = NO_SLOT;
        insn->guard = always;
        if (source->guard >= 0) {
            if (d->lane_bytes[source->guard])
                decode_fail(d, EMU_INVALID_PTX, "the guard is not a predicate");
            insn->guard = d->registers[source->guard];
            insn->guard_flip = source->guard_negated ? ALL_LANES : 0;
        }
        decode_instruction(d, source, insn);
    }
    d->at = NULL;
    decode_fuse(d, kernel->code, d->base, d->function->instruction_count);
    /* A function that ends without ret or exit returns. */
    struct insn *end = &kernel->code[d->base + d->function->instruction_count];
    *end = (struct insn){.guard = always, .control = d->callee ? CONTROL_RETURN : CONTROL_EXIT};
    if (d->function->instruction_count) end->source = end[-1].source;
    decode_rejoin(kernel->code, d->base, d->base + d->function->instruction_count);
    decode_spins(kernel->code, d->base, d->base + d->function->instruction_count);
    size_t bytes = align_up(d->register_bytes, SLOT_ALIGNMENT);
    if (d->callee)
        d->callee->register_bytes = bytes;
    else
        kernel->register_bytes = bytes;
}

static void decode_bodies(struct decoder *d)
{
    struct emu_kernel *kernel = d->kernel;
    for (size_t k = 0; k < d->body_count; k++) {
        d->bodies[k].base = (uint32_t)kernel->code_count;
        if (d->bodies[k].callee) d->bodies[k].callee->entry = d->bodies[k].base;
        kernel->code_count += d->bodies[k].function->instruction_count + 1;
    }
    kernel->code = decode_take(d, kernel->code_count * sizeof *kernel->code);
    for (size_t k = 0; k < d->body_count; k++) {
        decode_body(d, &d->bodies[k]);
        if (k == 0) kernel->info.registers = estimate_registers(d);
    }
    kernel->specials = d->specials;
    kernel->special_count = d->special_count;
    kernel->special_bytes = align_up(d->special_bytes, SLOT_ALIGNMENT);
    enum { CALL_STACK = 8192 }; /* bytes per thread, beyond the kernel's own variables */
    kernel->stack_bytes = kernel->info.local_bytes + (d->has_calls ? CALL_STACK : 0);
}

/* Decodes a kernel, and a function that it need not call; NULL: none. */
static int decode(const struct emu_gpu *gpu, struct emu_module *module,
                  const struct ptx_function *function, const struct ptx_function *other,
                  struct emu_kernel **out, char *message, size_t size)
{
    struct decoder *d = allocated(calloc(1, sizeof *d));
    d->module = module;
    d->capability = (unsigned)(10 * gpu->major + gpu->minor);
    d->function = function;
    d->message = message;
    d->size = size;
    if (setjmp(d->failed)) {
        int error = d->error;
        free(d);
        return error;
    }
    struct emu_kernel *kernel = d->kernel = decode_take(d, sizeof *kernel);
    kernel->module = module;
    kernel->function = function;
    kernel->stack_top = NO_SLOT;
    kernel->info.name = function->name;
    kernel->info.cluster = function->exact_cluster;
    kernel->info.max_threads =
        function->max_threads && function->max_threads < (unsigned)gpu->threads_per_block
            ? function->max_threads
            : (unsigned)gpu->threads_per_block;
    lay_out_params(d);
    collect_bodies(d, other);
    lay_out_memory(d);
    decode_bodies(d);
    unsigned fit = registers_that_fit(function, gpu);
    if (kernel->info.registers > fit) kernel->info.registers = fit;
    if (function->max_registers) emu_limit_registers(kernel, function->max_registers);
    collect_lines(d);
    fill_constants(d);
    free(d);
    *out = kernel;
    return 0;
}

int decode_kernel(const struct emu_gpu *gpu, struct emu_module *module,
                  const struct ptx_function *function, struct emu_kernel **out, char *message,
                  size_t size)
{
    return decode(gpu, module, function, NULL, out, message, size);
}

int decode_function(const struct emu_gpu *gpu, struct emu_module *module,
                    const struct ptx_function *function, char *message, size_t size)
{
    const struct ptx_function empty = {.name = "", .is_entry = true, .is_parsed = true};
    struct emu_kernel *kernel;
    return decode(gpu, module, &empty, function, &kernel, message, size);
}
