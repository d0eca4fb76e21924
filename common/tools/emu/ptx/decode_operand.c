/* decode_operand.c — the words of an opcode, operands, and special registers by name. */
#include "decode.h"
#include "half.h"

/* ---- the words of an opcode ------------------------------------------------------------------ */

struct words all_words(const struct ptx_instruction *source)
{
    return (struct words){.source = source, .used = {true}};
}

bool take_word(struct words *words, const char *word)
{
    for (unsigned i = 1; i < words->source->word_count; i++)
        if (!words->used[i] && !strcmp(words->source->words[i], word)) return words->used[i] = true;
    return false;
}

bool has_word(const struct ptx_instruction *source, const char *word)
{
    for (unsigned i = 1; i < source->word_count; i++)
        if (!strcmp(source->words[i], word)) return true;
    return false;
}

void drop_words(struct words *words, const char *const *list)
{
    for (; *list; list++)
        while (take_word(words, *list)) continue;
}

enum ptx_type take_type(struct words *words)
{
    for (unsigned i = 1; i < words->source->word_count; i++) {
        enum ptx_type type = words->used[i] ? PTX_NONE : ptx_type_named(words->source->words[i]);
        if (type != PTX_NONE) {
            words->used[i] = true;
            return type;
        }
    }
    return PTX_NONE;
}

/* All that ptxas accepts for GPUs up to this one is known, but for what has a name in
 * decode_insn.c, and for these. */
enum { NEWEST_KNOWN = 90 };
static const char *const rare[][2] = {
    {"fma", "oob"},  {"cvt", "satfinite"}, {"addc", "u16"}, {"addc", "s16"},
    {"subc", "u16"}, {"subc", "s16"},      {"madc", "u16"}, {"madc", "s16"},
};

int unknown_error(const struct decoder *d)
{
    if (d->function->target > NEWEST_KNOWN) return EMU_UNSUPPORTED_PTX;
    for (size_t k = 0; k < sizeof rare / sizeof *rare; k++)
        if (!strcmp(d->at->words[0], rare[k][0]) && has_word(d->at, rare[k][1]))
            return EMU_UNSUPPORTED_PTX;
    return EMU_INVALID_PTX;
}

void unknown_operation(struct decoder *d)
{
    int error = unknown_error(d);
    decode_fail(d, error,
                error == EMU_INVALID_PTX ? "PTX has no such operation"
                                         : "the emulator does not know this operation");
}

void refuse_rest(struct decoder *d, struct words *words)
{
    for (unsigned i = 1; i < words->source->word_count; i++)
        if (!words->used[i])
            decode_fail(d, unknown_error(d), "modifier '.%s' is not supported",
                        words->source->words[i]);
}

void refuse_words_but(struct decoder *d, const struct ptx_instruction *source,
                      const char *const *list)
{
    struct words words = all_words(source);
    drop_words(&words, list);
    refuse_rest(d, &words);
}

void need_operands(struct decoder *d, const struct ptx_instruction *source, unsigned least,
                   unsigned most)
{
    if (source->operand_count < least || source->operand_count > most)
        decode_fail(d, EMU_INVALID_PTX, "%u operands, but %u%s expected", source->operand_count,
                    least, least == most ? " are" : " or more are");
}

/* ---- finds special registers by their names -------------------------------------------------- */

static const struct {
    const char *name;
    enum special_register which;
} names[] = {
    {"tid.x", SPECIAL_TID_X},
    {"tid.y", SPECIAL_TID_Y},
    {"tid.z", SPECIAL_TID_Z},
    {"ntid.x", SPECIAL_NTID_X},
    {"ntid.y", SPECIAL_NTID_Y},
    {"ntid.z", SPECIAL_NTID_Z},
    {"ctaid.x", SPECIAL_CTAID_X},
    {"ctaid.y", SPECIAL_CTAID_Y},
    {"ctaid.z", SPECIAL_CTAID_Z},
    {"nctaid.x", SPECIAL_NCTAID_X},
    {"nctaid.y", SPECIAL_NCTAID_Y},
    {"nctaid.z", SPECIAL_NCTAID_Z},
    {"clusterid.x", SPECIAL_CLUSTERID_X},
    {"clusterid.y", SPECIAL_CLUSTERID_Y},
    {"clusterid.z", SPECIAL_CLUSTERID_Z},
    {"nclusterid.x", SPECIAL_NCLUSTERID_X},
    {"nclusterid.y", SPECIAL_NCLUSTERID_Y},
    {"nclusterid.z", SPECIAL_NCLUSTERID_Z},
    {"cluster_ctaid.x", SPECIAL_CLUSTER_CTAID_X},
    {"cluster_ctaid.y", SPECIAL_CLUSTER_CTAID_Y},
    {"cluster_ctaid.z", SPECIAL_CLUSTER_CTAID_Z},
    {"cluster_nctaid.x", SPECIAL_CLUSTER_NCTAID_X},
    {"cluster_nctaid.y", SPECIAL_CLUSTER_NCTAID_Y},
    {"cluster_nctaid.z", SPECIAL_CLUSTER_NCTAID_Z},
    {"cluster_ctarank", SPECIAL_CLUSTER_CTARANK},
    {"cluster_nctarank", SPECIAL_CLUSTER_NCTARANK},
    {"is_explicit_cluster", SPECIAL_IS_EXPLICIT_CLUSTER},
    {"laneid", SPECIAL_LANEID},
    {"warpid", SPECIAL_WARPID},
    {"nwarpid", SPECIAL_NWARPID},
    {"lanemask_eq", SPECIAL_LANEMASK_EQ},
    {"lanemask_le", SPECIAL_LANEMASK_LE},
    {"lanemask_lt", SPECIAL_LANEMASK_LT},
    {"lanemask_ge", SPECIAL_LANEMASK_GE},
    {"lanemask_gt", SPECIAL_LANEMASK_GT},
    {"smid", SPECIAL_SMID},
    {"nsmid", SPECIAL_NSMID},
    {"gridid", SPECIAL_GRIDID},
    {"dynamic_smem_size", SPECIAL_DYNAMIC_SHARED},
    {"total_smem_size", SPECIAL_TOTAL_SHARED},
    {"aggr_smem_size", SPECIAL_AGGREGATE_SHARED},
    {"reserved_smem_offset_begin", SPECIAL_RESERVED_BEGIN},
    {"reserved_smem_offset_end", SPECIAL_RESERVED_END},
    {"reserved_smem_offset_cap", SPECIAL_RESERVED_CAP},
    {"reserved_smem_offset_0", SPECIAL_RESERVED_0},
    {"reserved_smem_offset_1", SPECIAL_RESERVED_1},
    {"envreg0", SPECIAL_ENVIRONMENT_0},
    {"envreg1", SPECIAL_WORKSPACE_HIGH},
    {"envreg2", SPECIAL_WORKSPACE_LOW},
};

/* "tid.x" → SPECIAL_TID_X. False: no special register has this name. */
static bool special_named(const char *name, enum special_register *which)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i].name, name)) {
            *which = names[i].which;
            return true;
        }
    /* What the driver writes into the other 29 is not documented; here they are 0. */
    enum { ENVIRONMENT_REGISTERS = 32 };
    char *end;
    *which = SPECIAL_ENVIRONMENT_0;
    if (strncmp(name, "envreg", 6) || name[6] < '0' || name[6] > '9') return false;
    return strtoul(name + 6, &end, 10) < ENVIRONMENT_REGISTERS && !*end;
}

/* Is this a special register of PTX that the emulator does not have? */
static bool special_is_left_out(const char *name)
{
    bool is_profilers = !strncmp(name, "pm", 2) && name[2] >= '0' && name[2] <= '9';
    return is_profilers || !strcmp(name, "current_graph_exec");
}

/* ---- decodes one operand: a register, a constant, a symbol or an address --------------------- */

slot register_take(struct decoder *d, unsigned lane_bytes)
{
    size_t bytes = lane_bytes == 16  ? 2 * SLOT_64
                   : lane_bytes == 8 ? SLOT_64
                   : lane_bytes == 4 ? SLOT_32
                                     : sizeof(uint32_t);
    if (lane_bytes)
        d->register_bytes =
            (d->register_bytes + SLOT_ALIGNMENT - 1) / SLOT_ALIGNMENT * SLOT_ALIGNMENT;
    if (d->register_bytes + bytes >= SLOT_OFFSET)
        decode_fail(d, EMU_UNSUPPORTED_PTX, "the kernel has too many registers");
    slot taken = (slot)d->register_bytes;
    d->register_bytes += bytes;
    return taken;
}

/* An array with room for one more. */
static void *with_room(struct decoder *d, void *items, size_t count, size_t *room, size_t size)
{
    enum { FIRST_ROOM = 16 };
    if (count < *room) return items;
    *room = *room ? 2 * *room : FIRST_ROOM;
    void *grown = decode_take(d, *room * size);
    if (count) memcpy(grown, items, count * size);
    return grown;
}

slot constant_slot(struct decoder *d, uint64_t value, unsigned lane_bytes)
{
    if (lane_bytes == 4) value = (uint32_t)value;
    for (size_t i = 0; i < d->constant_count; i++)
        if (d->constants[i].value == value && d->constants[i].bytes == lane_bytes)
            return d->constants[i].slot;
    d->constants =
        with_room(d, d->constants, d->constant_count, &d->constant_room, sizeof *d->constants);
    size_t bytes = lane_bytes == 8 ? SLOT_64 : lane_bytes == 4 ? SLOT_32 : SLOT_ALIGNMENT;
    slot taken = (slot)d->constant_bytes | SLOT_CONSTANT;
    d->constants[d->constant_count++] = (struct constant){value, (uint8_t)lane_bytes, taken};
    d->constant_bytes += bytes;
    return taken;
}

/* ---- special registers ----------------------------------------------------------------------- */

static slot add_special(struct decoder *d, enum special_register which, unsigned lane_bytes,
                        uint64_t offset)
{
    for (size_t i = 0; i < d->special_count; i++) {
        const struct special *known = &d->specials[i];
        if (known->which == which && known->lane_bytes == lane_bytes && known->offset == offset)
            return known->slot;
    }
    d->specials =
        with_room(d, d->specials, d->special_count, &d->special_room, sizeof *d->specials);
    slot taken = (slot)d->special_bytes | SLOT_SPECIAL;
    d->specials[d->special_count++] =
        (struct special){(uint8_t)which, (uint8_t)lane_bytes, taken, offset};
    d->special_bytes += lane_bytes == 8 ? SLOT_64 : SLOT_32;
    return taken;
}

enum { CLUSTERS_SINCE = 90, RESERVED_SINCE = 80 }; /* the .target */

static slot special_slot(struct decoder *d, const char *name, unsigned lane_bytes)
{
    enum special_register which;
    if (!special_named(name, &which))
        decode_fail(d, special_is_left_out(name) ? EMU_UNSUPPORTED_PTX : unknown_error(d),
                    "%%%s is neither a declared register nor a special register that is supported",
                    name);
    bool is_reserved = which >= SPECIAL_RESERVED_BEGIN && which <= SPECIAL_RESERVED_1;
    if ((which >= SPECIAL_CLUSTERID_X && which <= SPECIAL_IS_EXPLICIT_CLUSTER) ||
        which == SPECIAL_AGGREGATE_SHARED)
        need_target(d, CLUSTERS_SINCE);
    if (is_reserved) need_target(d, RESERVED_SINCE);
    bool fits = which == SPECIAL_IS_EXPLICIT_CLUSTER ? lane_bytes == 0
                : which == SPECIAL_GRIDID            ? lane_bytes != 0
                                                     : lane_bytes == 4;
    if (!fits)
        decode_fail(d, EMU_INVALID_PTX, "special register %%%s is read as %u bytes", name,
                    lane_bytes);
    if (is_reserved) d->kernel->reads_reserved = true;
    return add_special(d, which, lane_bytes, 0);
}

/* ---- symbols --------------------------------------------------------------------------------- */

/* The variable of this name, or NULL; sets *index to its index in the list. */
static const struct ptx_variable *find_variable(const struct ptx_variable *list, size_t count,
                                                const char *name, size_t *index)
{
    for (*index = 0; *index < count; ++*index)
        if (!strcmp(list[*index].name, name)) return &list[*index];
    return NULL;
}

/* The place from which the address of a symbol is counted. */
enum origin {
    FROM_ZERO,
    FROM_FRAME, /* the frame's local memory */
    FROM_BLOCK, /* the block's shared memory: its rank is part of the address */
};

/* The address of a variable or parameter in its own state space. */
static uint64_t symbol_address(struct decoder *d, const char *name, enum origin *origin)
{
    size_t i;
    const struct ptx_function *f = d->function;
    const struct ptx_text *text = &d->module->text;
    const struct ptx_variable *v = find_variable(f->variables, f->variable_count, name, &i);
    *origin = v && v->space == PTX_LOCAL && d->callee ? FROM_FRAME
              : v && v->space == PTX_SHARED           ? FROM_BLOCK
                                                      : FROM_ZERO;
    if (v) return d->variable_offset[i];
    if (find_variable(f->params, f->param_count, name, &i)) {
        if (!d->callee) return d->kernel->info.param_offset[i];
        if (d->callee->param_local[i] == NOT_LOCAL) return d->callee->param_offset[i];
        *origin = FROM_FRAME;
        return d->callee->param_local[i];
    }
    if (find_variable(f->results, f->result_count, name, &i)) return d->callee->result_offset;
    const struct ptx_symbol *symbol = ptx_find(text, f->unit, name);
    if (!symbol) decode_fail(d, EMU_INVALID_PTX, "'%s' is not declared", name);
    if (symbol->is_function) return module_function_address(text, f->unit, name);
    v = &text->variables[symbol->index];
    if (v->space == PTX_SHARED) {
        *origin = FROM_BLOCK;
        return d->shared_offset[symbol->index];
    }
    uint64_t address = d->module->addresses[symbol->index];
    if (!address)
        decode_fail(d, EMU_SYMBOL_NOT_FOUND,
                    "variable '%s' is declared, but no object of the program defines it", name);
    return address;
}

/* Fails if an access is to another space than that of what it names. Of a generic access, ptxas
 * makes one to .global, .shared or .local, but not to .const or .param. */
static void check_space(struct decoder *d, const struct ptx_operand *base, enum ptx_space space)
{
    size_t i;
    const struct ptx_function *f = d->function;
    if (base->kind == PTX_INTEGER && space != PTX_LOCAL)
        decode_fail(d, EMU_INVALID_PTX, "only addresses in .local can be constants");
    if (base->kind != PTX_SYMBOL) return;
    const char *name = base->name;
    const struct ptx_variable *v = find_variable(f->variables, f->variable_count, name, &i);
    const struct ptx_symbol *symbol = ptx_find(&d->module->text, f->unit, name);
    if (space == PTX_SHARED_CLUSTER) space = PTX_SHARED;
    if (!v) v = find_variable(f->params, f->param_count, name, &i);
    if (!v) v = find_variable(f->results, f->result_count, name, &i);
    if (!v && symbol && symbol->is_function)
        decode_fail(d, EMU_INVALID_PTX, "'%s' is a function, not a variable", name);
    if (!v && symbol) v = &d->module->text.variables[symbol->index];
    if (!v || (space == PTX_GENERIC && v->space != PTX_CONST && v->space != PTX_PARAM)) return;
    if (v->space != space)
        decode_fail(d, EMU_INVALID_PTX, "'%s' is in .%s, not in .%s", name,
                    ptx_space_name(v->space),
                    space == PTX_GENERIC ? "global, .shared or .local" : ptx_space_name(space));
}

bool names_area(const struct decoder *d, const struct ptx_operand *operand, size_t *bytes)
{
    size_t i;
    const struct ptx_function *f = d->function;
    const char *name = operand->kind == PTX_ADDRESS ? operand->base->name : operand->name;
    if (!name) return false;
    const struct ptx_variable *v = find_variable(f->variables, f->variable_count, name, &i);
    if (v && v->space != PTX_PARAM) return false;
    if (!v && d->callee) {
        v = find_variable(f->params, f->param_count, name, &i);
        if (v && d->callee->param_local[i] != NOT_LOCAL) return false;
    }
    if (!v && d->callee) v = find_variable(f->results, f->result_count, name, &i);
    if (!v) return false;
    *bytes = v->bytes;
    for (; i < f->variable_count; i++) /* equal names share one place of the largest size */
        if (!strcmp(f->variables[i].name, name) && f->variables[i].bytes > *bytes)
            *bytes = f->variables[i].bytes;
    return true;
}

void refuse_area(struct decoder *d, const struct ptx_operand *operand)
{
    size_t bytes;
    if (names_area(d, operand, &bytes))
        decode_fail(d, EMU_UNSUPPORTED_PTX,
                    "the address of '%s', a function's result or an argument, is not supported",
                    operand->name);
}

slot stack_top(struct decoder *d)
{
    slot *top = d->callee ? &d->callee->stack_top : &d->kernel->stack_top;
    if (*top == NO_SLOT) *top = register_take(d, 8);
    return *top;
}

/* The 64-bit register that holds the start of the frame's local memory. */
static slot local_base(struct decoder *d)
{
    if (d->callee->local_base == NO_SLOT) d->callee->local_base = register_take(d, 8);
    return d->callee->local_base;
}

/* ---- operands -------------------------------------------------------------------------------- */

unsigned operand_lane_bytes(struct decoder *d, const struct ptx_operand *operand,
                            unsigned otherwise)
{
    return operand->kind == PTX_REGISTER ? d->lane_bytes[operand->index] : otherwise;
}

static _Noreturn void refuse_register(struct decoder *d, const struct ptx_register *reg)
{
    decode_fail(d, EMU_INVALID_PTX, "register %s is of type .%s, which does not fit here",
                reg->name, ptx_type_name(reg->type));
}

static slot register_slot(struct decoder *d, const struct ptx_operand *operand, unsigned lane_bytes)
{
    if (d->lane_bytes[operand->index] != lane_bytes)
        refuse_register(d, &d->function->registers[operand->index]);
    return d->registers[operand->index];
}

/* Bits fit any type of their size, and signed and unsigned numbers each other (PTX ISA, "Operand
 * Type Checking"). To ptxas a register of type .f16x2 is one of bits. */
static bool register_fits(enum ptx_type reg, enum ptx_type type, bool wider)
{
    size_t has = ptx_type_size(reg), needs = ptx_type_size(type);
    if (type == PTX_PRED || reg == PTX_PRED) return reg == type;
    if (has < needs || (has > needs && (!wider || type == PTX_BF16))) return false;
    if (ptx_type_is_bits(type) || ptx_type_is_bits(reg) || reg == type) return true;
    return !ptx_type_is_float(type) && (!ptx_type_is_float(reg) || reg == PTX_F16X2);
}

/* Only .f32 and .f64 have floating-point constants; bits take those of their size. */
static bool constant_fits(enum ptx_operand_kind kind, enum ptx_type type)
{
    if (kind == PTX_INTEGER) return !ptx_type_is_float(type);
    return type == PTX_F32 || type == PTX_F64 || type == (kind == PTX_FLOAT32 ? PTX_B32 : PTX_B64);
}

void check_operand(struct decoder *d, const struct ptx_operand *operand, enum ptx_type type,
                   bool wider)
{
    const struct ptx_register *registers = d->function->registers;
    switch (operand->kind) {
    case PTX_REGISTER:
        if (!register_fits(registers[operand->index].type, type, wider))
            refuse_register(d, &registers[operand->index]);
        break;
    case PTX_INTEGER:
    case PTX_FLOAT32:
    case PTX_FLOAT64:
        if (!constant_fits(operand->kind, type))
            decode_fail(d, EMU_INVALID_PTX, "%s constant does not fit type .%s",
                        operand->kind == PTX_INTEGER ? "an integer" : "a floating-point",
                        ptx_type_name(type));
        break;
    case PTX_VECTOR: /* an .f32 in a vector may be in any register of its size */
        for (unsigned k = 0; k < operand->count; k++) {
            bool is_bits = type == PTX_F32 && operand->items[k]->kind == PTX_REGISTER;
            check_operand(d, operand->items[k], is_bits ? PTX_B32 : type, wider);
        }
        break;
    default: break;
    }
}

static uint32_t float_bits(uint64_t bits_of_double)
{
    double value;
    memcpy(&value, &bits_of_double, sizeof value);
    return bits_of_f32((float)value);
}

slot source_slot(struct decoder *d, const struct ptx_operand *operand, unsigned lane_bytes)
{
    if (operand->negated && operand->kind != PTX_REGISTER)
        decode_fail(d, EMU_INVALID_PTX, "only a predicate can be negated");
    switch (operand->kind) {
    case PTX_REGISTER: return register_slot(d, operand, lane_bytes);
    case PTX_INTEGER:
        if (lane_bytes) return constant_slot(d, operand->bits, lane_bytes);
        return constant_slot(d, operand->bits ? ALL_LANES : 0, 0);
    case PTX_FLOAT32:
        /* In an f64 operation, too, ptxas takes these as the low bits. */
        if (lane_bytes == 4 || lane_bytes == 8) return constant_slot(d, operand->bits, lane_bytes);
        break;
    case PTX_FLOAT64:
        if (lane_bytes == 8) return constant_slot(d, operand->bits, 8);
        if (lane_bytes == 4)
            return constant_slot(d, float_bits(operand->bits), 4); /* 1.5 in an f32 operation */
        break;
    case PTX_SPECIAL: return special_slot(d, operand->name, lane_bytes);
    case PTX_SYMBOL:
        if (lane_bytes) {
            refuse_area(d, operand);
            enum origin origin;
            uint64_t address =
                symbol_address(d, operand->name, &origin) + (uint64_t)operand->offset;
            if (origin == FROM_ZERO) return constant_slot(d, address, lane_bytes);
            if (origin == FROM_BLOCK)
                return add_special(d, SPECIAL_SHARED_ADDRESS, lane_bytes, address);
            decode_fail(d, EMU_UNSUPPORTED_PTX,
                        "the address of local variable '%s' is only supported in a mov",
                        operand->name);
        }
        break;
    default: break;
    }
    decode_fail(d, EMU_INVALID_PTX, "an operand is of the wrong kind");
}

slot destination_slot(struct decoder *d, const struct ptx_operand *operand, unsigned lane_bytes)
{
    if (operand->kind == PTX_SINK) return register_take(d, lane_bytes);
    if (operand->kind != PTX_REGISTER || operand->negated)
        decode_fail(d, EMU_INVALID_PTX, "the destination is not a register");
    return register_slot(d, operand, lane_bytes);
}

slot predicate_slot(struct decoder *d, const struct ptx_operand *operand, bool *negated)
{
    *negated = operand->negated;
    return source_slot(d, operand, 0);
}

slot second_destination_slot(struct decoder *d, const struct ptx_operand *operand)
{
    return operand->other ? destination_slot(d, operand->other, 0) : NO_SLOT;
}

struct address address_operand(struct decoder *d, const struct ptx_operand *operand,
                               enum ptx_space space)
{
    if (operand->kind == PTX_ADDRESS) check_space(d, operand->base, space);
    return place_operand(d, operand, space);
}

struct address place_operand(struct decoder *d, const struct ptx_operand *operand,
                             enum ptx_space space)
{
    if (operand->kind != PTX_ADDRESS)
        decode_fail(d, EMU_INVALID_PTX, "an address in [ ] is missing");
    const struct ptx_operand *base = operand->base;
    struct address address = {.bytes = 8, .space = (uint8_t)space, .offset = operand->offset};
    if (base->kind == PTX_REGISTER) {
        address.bytes = d->lane_bytes[base->index];
        enum ptx_type type = d->function->registers[base->index].type;
        if (ptx_type_is_float(type) || type == PTX_B128)
            refuse_register(d, &d->function->registers[base->index]);
        if (!address.bytes) decode_fail(d, EMU_INVALID_PTX, "a predicate is no address");
        address.base = d->registers[base->index];
    } else if (base->kind == PTX_SYMBOL) {
        enum origin origin;
        address.offset += (int64_t)symbol_address(d, base->name, &origin);
        address.base = origin == FROM_FRAME ? local_base(d)
                       : origin == FROM_BLOCK && space != PTX_SHARED
                           ? add_special(d, SPECIAL_SHARED_ADDRESS, 8, 0)
                           : constant_slot(d, 0, 8);
    } else if (base->kind == PTX_INTEGER) {
        address.base = constant_slot(d, 0, 8);
        address.offset += (int64_t)base->bits;
    } else {
        decode_fail(d, EMU_INVALID_PTX, "the address is neither a register nor a variable");
    }
    return address;
}

void need_long_address(struct decoder *d, const struct address *address)
{
    bool is_long = address->space == PTX_GLOBAL || address->space == PTX_GENERIC;
    if (is_long && address->bytes == 4)
        decode_fail(d, EMU_INVALID_PTX,
                    "an address of 32 bits, where addresses of global memory have 64");
}

int64_t immediate(struct decoder *d, const struct ptx_operand *operand)
{
    if (operand->kind != PTX_INTEGER)
        decode_fail(d, EMU_INVALID_PTX, "an operand must be a constant here");
    return (int64_t)operand->bits;
}
