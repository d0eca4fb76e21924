/* decode_arithmetic.c — decodes operations on registers. */
#include "decode.h"
#include <fenv.h>
#include <stdarg.h>
#include <string.h>

/* ---- decodes lop3 with a predicate as a second result ---------------------------------------- */

/* lop3.or.b32 d|p, a, b, c, table, q: p = (d != 0) or q */
void decode_lop3(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    struct words words = all_words(source);
    enum combine combine = take_word(&words, "and")  ? COMBINE_AND
                           : take_word(&words, "or") ? COMBINE_OR
                                                     : COMBINE_NONE;
    i->logic.predicate = i->logic.other = NO_SLOT;
    if (combine == COMBINE_NONE) {
        decode_arithmetic(d, source, i);
        i->family = FAMILY_LOGIC;
        return;
    }
    take_type(&words);
    refuse_rest(d, &words);
    need_operands(d, source, 6, 6);
    const struct ptx_operand *result = &source->operands[0], *q = &source->operands[5];
    if (!result->other) decode_fail(d, EMU_INVALID_PTX, "the predicate behind | is missing");
    i->d = destination_slot(d, result, 4);
    i->logic.predicate = second_destination_slot(d, result);
    i->a = source_slot(d, &source->operands[1], 4);
    i->b = source_slot(d, &source->operands[2], 4);
    i->c = source_slot(d, &source->operands[3], 4);
    i->family = FAMILY_LOGIC;
    i->logic.table = (uint8_t)immediate(d, &source->operands[4]);
    i->logic.combine = (uint8_t)combine;
    i->logic.other = predicate_slot(d, q, &i->logic.negated);
    i->fn = op_find("lop3.predicate")->fn;
}

/* ---- operations on registers: arithmetic, comparison, conversion, moves ---------------------- */

/* An operation is looked up by a key: its opcode, its types, and the modifiers that choose the
 * operation. Modifiers that any floating-point operation may have (rounding, .ftz, .sat) are not
 * part of the key; a wrapper around the operation handles them. */

struct key {
    char text[128];
    size_t length;
};

static void key_add(struct key *key, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void key_add(struct key *key, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int added =
        vsnprintf(key->text + key->length, sizeof key->text - key->length, format, arguments);
    va_end(arguments);
    key->length += (size_t)added;
    if (key->length >= sizeof key->text) key->length = sizeof key->text - 1;
}

static const struct op *find_op(struct decoder *d, const struct key *key)
{
    const struct op *op = op_find(key->text);
    if (!op) unknown_operation(d);
    return op;
}

/* An operation of its own that follows these rules; only frequent ones have one. */
static const struct op *find_ruled(const struct float_rules *rules, const struct key *key)
{
    bool nearest = rules->rounding == FE_TONEAREST;
    const char *rule = rules->flush ? "flushed" : nearest ? "clamped" : "rounded";
    char text[sizeof key->text + sizeof "flushed."];
    if (rules->flush && !nearest) return NULL;
    snprintf(text, sizeof text, "%s.%s", rule, key->text);
    return op_find(text);
}

/* Replaces a floating-point operation that flushes, saturates or does not round to nearest, by one
 * that does, or by the wrapper. */
static void wrap(struct insn *i, enum ptx_type result, const struct key *key)
{
    const struct float_rules *rules = &i->rules;
    i->rules.type = (uint8_t)result;
    i->rules.inner = i->fn;
    if (rules->rounding == FE_TONEAREST && !rules->flush && rules->clamp == CLAMP_NONE) return;
    const struct op *op = find_ruled(rules, key);
    i->fn = op != NULL ? op->fn : op_find("by rules")->fn;
}

/* .sat and .relu */
static void take_clamp(struct words *words, struct insn *i, enum ptx_type result)
{
    bool half = ptx_type_is_float(result) && result != PTX_F32 && result != PTX_F64;
    if (take_word(words, "sat"))
        i->rules.clamp = CLAMP_TO_UNIT;
    else if (half && take_word(words, "relu"))
        i->rules.clamp = CLAMP_TO_POSITIVE;
}

static void take_rounding(struct words *words, struct insn *i)
{
    if (take_word(words, "rz"))
        i->rules.rounding = FE_TOWARDZERO;
    else if (take_word(words, "rm"))
        i->rules.rounding = FE_DOWNWARD;
    else if (take_word(words, "rp"))
        i->rules.rounding = FE_UPWARD;
    else
        take_word(words, "rn");
}

/* ---- plain arithmetic ------------------------------------------------------------------------ */

static unsigned letter_bytes(char letter) { return letter == '8' ? 8 : letter == '4' ? 4 : 0; }

/* Decodes the operands as the operation's letters say: the destination, then up to four sources. */
static void take_operands(struct decoder *d, const struct ptx_instruction *source,
                          const struct op *op, struct insn *i)
{
    slot *const places[] = {&i->d, &i->a, &i->b, &i->c, &i->arithmetic.fourth};
    unsigned count = (unsigned)strlen(op->operands);
    need_operands(d, source, count, count);
    for (unsigned k = 0; k < count; k++) {
        const struct ptx_operand *operand = &source->operands[k];
        if (op->operands[k] == 't')
            i->logic.table = (uint8_t)immediate(d, operand);
        else if (k == 0)
            i->d = destination_slot(d, operand, letter_bytes(op->operands[k]));
        else
            *places[k] = source_slot(d, operand, letter_bytes(op->operands[k]));
        bool may_be_negated = k > 0 && op->operands[k] == 'p';
        if ((operand->negated && !may_be_negated) || operand->other)
            decode_fail(d, EMU_INVALID_PTX, "a negated or paired operand is not supported here");
        if (operand->negated) i->arithmetic.negated |= 1u << (k - 1);
    }
}

static enum ptx_type bits_of_size(size_t bytes)
{
    return bytes == 8 ? PTX_U64 : bytes == 4 ? PTX_U32 : bytes == 2 ? PTX_U16 : PTX_NONE;
}

static enum tally tally_of(const char *opcode, enum ptx_type type)
{
    if (strcmp(opcode, "add") && strcmp(opcode, "sub")) return TALLY_NONE;
    switch (type) {
    case PTX_F32: return TALLY_ADD + EMU_ADD_F32;
    case PTX_F64: return TALLY_ADD + EMU_ADD_F64;
    case PTX_F16:
    case PTX_BF16:
    case PTX_F16X2:
    case PTX_BF16X2: return TALLY_ADD + EMU_ADD_F16;
    case PTX_U64:
    case PTX_S64: return TALLY_ADD + EMU_ADD_I64;
    default: return TALLY_ADD + EMU_ADD_I32;
    }
}

enum { THREE_SINCE = 100 }; /* the least .target with min and max of three numbers */

void decode_arithmetic(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    static const char *const dropped[] = {"approx", "full", NULL};
    struct words words = all_words(source);
    check_form(d, source);
    const char *opcode = source->words[0];
    enum ptx_type type = take_type(&words), second = take_type(&words);
    bool is_float = ptx_type_is_float(type), is_slct = !strcmp(opcode, "slct");
    struct key key = {.length = 0};

    if (is_slct) { /* it copies a or b by the sign of its third source */
        i->rules.flush = take_word(&words, "ftz");
        type = bits_of_size(ptx_type_size(type));
    } else if (is_float) {
        i->rules.flush = take_word(&words, "ftz");
        take_clamp(&words, i, type);
        take_rounding(&words, i);
        if (!strcmp(opcode, "div") && take_word(&words, "approx")) opcode = "div.approx";
        drop_words(&words, dropped);
        if (!strcmp(opcode, "mad")) opcode = "fma";
        if (type == PTX_F64 && i->rules.flush) { /* approximated from the upper word */
            opcode = strcmp(opcode, "rcp") ? "rsqrt.ftz" : "rcp.ftz";
            i->rules.flush = false;
        }
    }
    /* addc, subc and madc read the carry, .cc writes it. */
    bool carry_in = !strcmp(opcode, "addc") || !strcmp(opcode, "subc") || !strcmp(opcode, "madc");
    bool carry_out = take_word(&words, "cc");
    if (is_float && source->operand_count == 4 &&
        (!strcmp(opcode, "min") || !strcmp(opcode, "max"))) {
        need_target(d, THREE_SINCE);
        opcode = !strcmp(opcode, "min") ? "min3" : "max3";
    }
    key_add(&key, "%.*s", carry_in ? (int)strlen(opcode) - 1 : (int)strlen(opcode), opcode);
    for (unsigned k = 1; k < source->word_count; k++)
        if (!words.used[k]) key_add(&key, ".%s", source->words[k]);
    if (carry_in || carry_out) key_add(&key, ".carry");
    if (type != PTX_NONE) key_add(&key, ".%s", ptx_type_name(type));
    if (second != PTX_NONE) key_add(&key, ".%s", ptx_type_name(second));

    const struct op *op = find_op(d, &key);
    i->fn = op->fn;
    i->family = FAMILY_ARITHMETIC;
    if (carry_in || carry_out) {
        i->arithmetic.carry_in = carry_in;
        i->arithmetic.carry_out = carry_out;
    }
    take_operands(d, source, op, i);
    wrap(i, is_slct ? PTX_NONE : type, &key);
    i->tally = (uint8_t)tally_of(source->words[0], type);
}

void decode_as_fma(struct decoder *d, struct insn *i, slot a, slot b, slot c)
{
    struct key key = {.length = 0};
    key_add(&key, "fma.%s", ptx_type_name(i->rules.type));
    i->fn = find_op(d, &key)->fn;
    i->a = a, i->b = b, i->c = c;
    wrap(i, i->rules.type, &key);
}

/* ---- comparison ------------------------------------------------------------------------------ */

void decode_compare(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    struct words words = all_words(source);
    bool is_set = !strcmp(source->words[0], "set");
    check_form(d, source);
    i->rules.flush = take_word(&words, "ftz");
    enum ptx_type to = is_set ? take_type(&words) : PTX_PRED, type = take_type(&words);
    enum combine combine = COMBINE_NONE;
    if (take_word(&words, "and"))
        combine = COMBINE_AND;
    else if (take_word(&words, "or"))
        combine = COMBINE_OR;
    else if (take_word(&words, "xor"))
        combine = COMBINE_XOR;

    struct key key = {.length = 0};
    key_add(&key, "compare");
    for (unsigned k = 1; k < source->word_count; k++)
        if (!words.used[k]) key_add(&key, ".%s", source->words[k]);
    key_add(&key, ".%s", ptx_type_name(type));
    const struct op *op = find_op(d, &key);

    unsigned count = combine == COMBINE_NONE ? 3 : 4;
    need_operands(d, source, count, count);
    const struct ptx_operand *result = &source->operands[0];
    i->family = FAMILY_COMPARE;
    i->compare.other = i->compare.opposite = NO_SLOT;
    i->compare.combine = (uint8_t)combine;
    i->compare.has_predicate = !is_set;
    switch (to) { /* the value that stands for true */
    case PTX_PRED:
        i->d = destination_slot(d, result, 0);
        if (result->other && (type == PTX_F16 || type == PTX_BF16))
            decode_fail(d, EMU_INVALID_PTX, "it has no second result with .%s",
                        ptx_type_name(type));
        i->compare.opposite = second_destination_slot(d, result);
        break;
    case PTX_U32:
    case PTX_S32: i->compare.yes = UINT32_MAX; break;
    case PTX_U16:
    case PTX_S16: i->compare.yes = UINT16_MAX; break;
    case PTX_F32: i->compare.yes = 0x3f800000; break; /* 1.0 in each format */
    case PTX_F16: i->compare.yes = 0x3c00; break;
    case PTX_BF16: i->compare.yes = 0x3f80; break;
    case PTX_F16X2: i->compare.yes = 0x3c00; break; /* in each half */
    case PTX_BF16X2: i->compare.yes = 0x3f80; break;
    default: decode_fail(d, EMU_INVALID_PTX, "set to .%s is not supported", ptx_type_name(to));
    }
    if (is_set) i->d = destination_slot(d, result, 4);
    bool is_pair = type == PTX_F16X2 || type == PTX_BF16X2;
    if (is_pair && i->compare.yes == UINT32_MAX)
        i->compare.yes = UINT16_MAX; /* set.u32: ones in each half */
    i->a = source_slot(d, &source->operands[1], letter_bytes(op->operands[1]));
    i->b = source_slot(d, &source->operands[2], letter_bytes(op->operands[2]));
    if (combine != COMBINE_NONE)
        i->compare.other = predicate_slot(d, &source->operands[3], &i->compare.negated);
    i->fn = op->fn;
    wrap(i, PTX_NONE, &key);
}

/* ---- conversion ------------------------------------------------------------------------------ */

static bool take_integral_rounding(struct words *words, const char **rounding)
{
    static const char *const names[] = {"rni", "rzi", "rmi", "rpi"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (take_word(words, names[k])) {
            *rounding = names[k];
            return true;
        }
    return false;
}

static const char *rounding_name(int rounding)
{
    return rounding == FE_TOWARDZERO ? "rz"
           : rounding == FE_DOWNWARD ? "rm"
           : rounding == FE_UPWARD   ? "rp"
                                     : "rn";
}

void decode_convert(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    struct words words = all_words(source);
    enum ptx_type to = take_type(&words), from = take_type(&words);
    bool to_float = ptx_type_is_float(to), from_float = ptx_type_is_float(from);
    bool to_half = to_float && to != PTX_F32 && to != PTX_F64;
    const char *integral = NULL;
    struct key key = {.length = 0};

    if (has_word(source, "pack")) {
        decode_arithmetic(d, source, i);
        return;
    }
    /* The hardware does not flush the operand of a conversion to 16 bits. */
    i->rules.flush = take_word(&words, "ftz") && !to_half;
    take_clamp(&words, i, to);
    key_add(&key, "cvt");
    if (take_integral_rounding(&words, &integral)) {
        key_add(&key, ".%s", integral);
    } else if (from_float && !to_float) {
        decode_fail(d, EMU_INVALID_PTX,
                    "a conversion to an integer needs .rni, .rzi, .rmi or .rpi");
    } else {
        take_rounding(&words, i);
        if (to_half && from != to) { /* the operation rounds; the CPU's mode does not matter */
            key_add(&key, ".%s", rounding_name(i->rules.rounding));
            i->rules.rounding = FE_TONEAREST;
        }
    }
    if (!to_float) { /* floats are always clamped to the integer's range */
        if (i->rules.clamp != CLAMP_NONE && !from_float) key_add(&key, ".sat");
        i->rules.clamp = CLAMP_NONE;
    }
    bool is_small = to == PTX_E4M3X2 || to == PTX_E5M2X2 || to == PTX_TF32;
    if (is_small && take_word(&words, "rna")) { /* in place of the rounding */
        key = (struct key){.length = 0};
        key_add(&key, "cvt.rna");
    }
    if (is_small) take_word(&words, "satfinite"); /* 8 bits: always so; tf32: ignored */
    refuse_rest(d, &words);
    check_conversion(d, source, to, from);
    bool copies = to == PTX_F32 && from == PTX_F32 && !integral && !i->rules.flush &&
                  i->rules.clamp == CLAMP_NONE; /* a NaN keeps its bits */
    key_add(&key, ".%s.%s", ptx_type_name(copies ? PTX_U32 : to),
            ptx_type_name(copies ? PTX_U32 : from));

    const struct op *op = find_op(d, &key);
    i->fn = op->fn;
    i->family = FAMILY_CONVERT;
    i->convert.wide_source = i->convert.wide_result = NO_SLOT;
    if (!strcmp(op->operands, "444")) { /* two floats into one register */
        take_operands(d, source, op, i);
        if (!is_small) wrap(i, to, &key);
        return;
    }
    if (is_small || from == PTX_E4M3X2 || from == PTX_E5M2X2) { /* the operation itself clamps */
        take_operands(d, source, op, i);
        return;
    }
    need_operands(d, source, 2, 2);
    const struct ptx_operand *destination = &source->operands[0], *value = &source->operands[1];
    unsigned to_bytes = letter_bytes(op->operands[0]), from_bytes = letter_bytes(op->operands[1]);
    /* A type of up to 32 bits may be in a 64-bit register. Then the low part of the source is read,
     * and the result is extended. */
    bool wide_source = from_bytes == 4 && operand_lane_bytes(d, value, 4) == 8;
    bool wide_result = to_bytes == 4 && operand_lane_bytes(d, destination, 4) == 8;
    i->is_signed = ptx_type_is_signed(to);
    i->a = wide_source ? register_take(d, 4) : source_slot(d, value, from_bytes);
    i->d = wide_result ? register_take(d, 4) : destination_slot(d, destination, to_bytes);
    if (wide_source) i->convert.wide_source = source_slot(d, value, 8);
    if (wide_result) i->convert.wide_result = destination_slot(d, destination, 8);
    wrap(i, to, &key);
    if (wide_source || wide_result) i->fn = op_find("resized")->fn;
}

/* ---- moves ----------------------------------------------------------------------------------- */

/* mov from %clock or %globaltimer, which are read when the instruction runs. */
static bool decode_clock(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    static const struct {
        const char *name;
        enum clock clock;
        uint8_t lane_bytes, shift;
    } clocks[] = {{"clock", CLOCK_WARP, 4, 0},
                  {"clock_hi", CLOCK_WARP, 4, 32},
                  {"clock64", CLOCK_WARP, 8, 0},
                  {"globaltimer", CLOCK_GLOBAL, 8, 0},
                  {"globaltimer_lo", CLOCK_GLOBAL, 4, 0},
                  {"globaltimer_hi", CLOCK_GLOBAL, 4, 32}};
    const struct ptx_operand *value = &source->operands[1];
    for (size_t k = 0; value->kind == PTX_SPECIAL && k < sizeof clocks / sizeof *clocks; k++) {
        if (strcmp(value->name, clocks[k].name)) continue;
        i->lane_bytes = clocks[k].lane_bytes;
        i->d = destination_slot(d, &source->operands[0], i->lane_bytes);
        i->family = FAMILY_CLOCK;
        i->clock.shift = clocks[k].shift;
        i->clock.which = (uint8_t)clocks[k].clock;
        i->fn = op_find("clock")->fn;
        return true;
    }
    return false;
}

/* The two halves of a 128-bit operand: a register, or {low, high}. */
static void wide_halves(struct decoder *d, const struct ptx_operand *operand, bool is_source,
                        slot half[2])
{
    if (operand->kind == PTX_VECTOR && operand->count == 2) {
        const struct ptx_operand *a = operand->items[0], *b = operand->items[1];
        half[0] = is_source ? source_slot(d, a, 8) : destination_slot(d, a, 8);
        half[1] = is_source ? source_slot(d, b, 8) : destination_slot(d, b, 8);
        return;
    }
    half[0] = is_source ? source_slot(d, operand, 16) : destination_slot(d, operand, 16);
    half[1] = half[0] + SLOT_64;
}

static void decode_wide_move(struct decoder *d, const struct ptx_operand *to,
                             const struct ptx_operand *from, struct insn *i)
{
    if (from->kind != PTX_REGISTER && from->kind != PTX_VECTOR)
        decode_fail(d, EMU_UNSUPPORTED_PTX, "a constant of 128 bits is not supported");
    i->family = FAMILY_WIDE_MOVE;
    wide_halves(d, from, true, i->wide_move.from);
    wide_halves(d, to, false, i->wide_move.to);
    i->fn = op_find("move.64x2")->fn;
}

void decode_move(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    need_operands(d, source, 2, 2);
    if (decode_clock(d, source, i)) return;
    const struct ptx_operand *to = &source->operands[0], *from = &source->operands[1];
    if (d->callee && from->kind == PTX_SYMBOL && operand_lane_bytes(d, to, 8) == 8) {
        refuse_area(d, from);
        struct ptx_operand address = {
            .kind = PTX_ADDRESS, .base = (struct ptx_operand *)from, .offset = from->offset};
        struct address place = place_operand(d, &address, PTX_GENERIC);
        i->a = place.base;
        i->family = FAMILY_CVTA;
        i->cvta.distance = place.offset;
        i->d = destination_slot(d, to, 8);
        i->fn = op_find("cvta")->fn; /* adds an offset to a base */
        return;
    }
    if (has_word(source, "b128")) {
        decode_wide_move(d, to, from, i);
        return;
    }
    const struct ptx_operand *vector = to->kind == PTX_VECTOR     ? to
                                       : from->kind == PTX_VECTOR ? from
                                                                  : NULL;
    if (!vector) {
        decode_arithmetic(d, source, i);
        return;
    }
    struct words words = all_words(source);
    enum ptx_type type = take_type(&words);
    size_t bytes = ptx_type_size(type);
    refuse_rest(d, &words);
    if (!ptx_type_is_bits(type)) unknown_operation(d);
    if (vector->count < 2 || vector->count > MAX_VECTOR || (bytes != 2 && bytes != 4 && bytes != 8))
        decode_fail(d, EMU_UNSUPPORTED_PTX, "this packing is not supported");
    unsigned whole = bytes == 8 ? 8 : 4; /* bytes per lane of the whole */
    size_t part_bits = bytes * 8 / vector->count;
    struct key key = {.length = 0};
    key_add(&key, "%s.%zux%u", vector == to ? "unpack" : "pack", part_bits, vector->count);
    i->fn = find_op(d, &key)->fn;
    check_operand(d, vector, part_bits == 8 ? PTX_B8 : part_bits == 16 ? PTX_B16 : PTX_B32, false);
    check_operand(d, vector == to ? from : to, type, false);
    i->family = FAMILY_PACK;
    for (unsigned k = 0; k < MAX_VECTOR; k++) i->pack.part[k] = NO_SLOT;
    for (unsigned k = 0; k < vector->count; k++) {
        const struct ptx_operand *item = vector->items[k];
        if (vector == from)
            i->pack.part[k] = source_slot(d, item, 4);
        else
            i->pack.part[k] = item->kind == PTX_SINK ? NO_SLOT : destination_slot(d, item, 4);
    }
    if (vector == to)
        i->a = source_slot(d, from, whole);
    else
        i->d = destination_slot(d, to, whole);
}
