/*
 * decode_insn.c — one instruction.
 *
 * An opcode is taken apart into the operation, its types and its modifiers, each understood by
 * itself, so that a combination never seen before is either carried out rightly or refused.
 * Whatever is not understood ends up in the key by which the operation is looked up, is not found,
 * and is named in the error. The families are listed at the end; an opcode in none of them is plain
 * arithmetic.
 */
#include "decode.h"
#include "operations.h"
#include "warp_ops.h"
#include <fenv.h>
#include <stdarg.h>
#include <string.h>

/* The words of an opcode behind the first, as they are used up. */
struct words {
    const struct ptx_instruction *source;
    bool used[PTX_MAX_WORDS];
};

static struct words all_words(const struct ptx_instruction *source)
{
    return (struct words){.source = source, .used = {true}};
}

static bool take_word(struct words *words, const char *word)
{
    for (unsigned i = 1; i < words->source->word_count; i++)
        if (!words->used[i] && !strcmp(words->source->words[i], word)) return words->used[i] = true;
    return false;
}

/* Uses up any of the words in a NULL-terminated list, as often as they occur. */
static void drop_words(struct words *words, const char *const *list)
{
    for (; *list; list++)
        while (take_word(words, *list)) continue;
}

static enum ptx_type take_type(struct words *words)
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

static void refuse_rest(struct decoder *d, struct words *words)
{
    for (unsigned i = 1; i < words->source->word_count; i++)
        if (!words->used[i])
            decode_fail(d, EMU_UNSUPPORTED_PTX, "modifier '.%s' is not supported",
                        words->source->words[i]);
}

static void need_operands(struct decoder *d, const struct ptx_instruction *source, unsigned least,
                          unsigned most)
{
    if (source->operand_count < least || source->operand_count > most)
        decode_fail(d, EMU_INVALID_PTX, "%u operands, but %u%s expected", source->operand_count,
                    least, least == most ? " are" : " or more are");
}

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
    if (!op) decode_fail(d, EMU_UNSUPPORTED_PTX, "the emulator does not know this operation");
    return op;
}

/* Puts the wrapper around a floating-point operation that rounds otherwise, flushes or
 * saturates. */
static void wrap(struct insn *i, enum ptx_type result)
{
    if (i->rounding == FE_TONEAREST && !i->flush && i->clamp == CLAMP_NONE) return;
    i->inner = i->fn;
    i->fn = op_wrapped;
    i->type = (uint8_t)result;
}

/* .sat and .relu */
static void take_clamp(struct words *words, struct insn *i, enum ptx_type result)
{
    bool half = ptx_type_is_float(result) && result != PTX_F32 && result != PTX_F64;
    if (take_word(words, "sat"))
        i->clamp = CLAMP_TO_UNIT;
    else if (half && take_word(words, "relu"))
        i->clamp = CLAMP_TO_POSITIVE;
}

static void take_rounding(struct words *words, struct insn *i)
{
    if (take_word(words, "rz"))
        i->rounding = FE_TOWARDZERO;
    else if (take_word(words, "rm"))
        i->rounding = FE_DOWNWARD;
    else if (take_word(words, "rp"))
        i->rounding = FE_UPWARD;
    else
        take_word(words, "rn");
}

/* ---- plain arithmetic ---------------------------------------------------------------------- */

static unsigned letter_bytes(char letter) { return letter == '8' ? 8 : letter == '4' ? 4 : 0; }

/* Operands by the operation's letters: destination, then up to four sources. */
static void take_operands(struct decoder *d, const struct ptx_instruction *source,
                          const struct op *op, struct insn *i)
{
    slot *const places[] = {&i->d, &i->a, &i->b, &i->c, &i->v[0]};
    unsigned count = (unsigned)strlen(op->operands);
    need_operands(d, source, count, count);
    for (unsigned k = 0; k < count; k++) {
        const struct ptx_operand *operand = &source->operands[k];
        if (op->operands[k] == 't')
            i->offset = immediate(d, operand);
        else if (k == 0)
            i->d = destination_slot(d, operand, letter_bytes(op->operands[k]));
        else
            *places[k] = source_slot(d, operand, letter_bytes(op->operands[k]));
        if (operand->negated || operand->other)
            decode_fail(d, EMU_UNSUPPORTED_PTX,
                        "a negated or paired operand is not supported here");
    }
}

static enum ptx_type bits_of_size(size_t bytes)
{
    return bytes == 8 ? PTX_U64 : bytes == 4 ? PTX_U32 : bytes == 2 ? PTX_U16 : PTX_NONE;
}

static unsigned count_used(const struct words *words)
{
    unsigned count = 0;
    for (unsigned i = 1; i < words->source->word_count; i++) count += words->used[i];
    return count;
}

/* Those of which PTX has no default: how exact is the result to be? */
static bool needs_rounding(const char *opcode)
{
    static const char *const names[] = {"div", "rcp", "sqrt", "rsqrt", "fma",
                                        "sin", "cos", "lg2",  "ex2",   "tanh"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(opcode, names[i])) return true;
    return false;
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

static void decode_arithmetic(struct decoder *d, const struct ptx_instruction *source,
                              struct insn *i)
{
    static const char *const dropped[] = {"approx", "full", "noftz", NULL};
    struct words words = all_words(source);
    const char *opcode = source->words[0];
    enum ptx_type type = take_type(&words), second = take_type(&words);
    bool is_float = ptx_type_is_float(type), is_slct = !strcmp(opcode, "slct");
    struct key key = {.length = 0};

    if (is_slct) { /* moves bits; only the sign of its third source is looked at */
        i->flush = take_word(&words, "ftz");
        type = bits_of_size(ptx_type_size(type));
    } else if (is_float) {
        unsigned before = count_used(&words);
        i->flush = take_word(&words, "ftz");
        take_clamp(&words, i, type);
        unsigned plain = count_used(&words) - before;
        take_rounding(&words, i);
        drop_words(&words, dropped);
        if (needs_rounding(opcode) && count_used(&words) == before + plain)
            decode_fail(d, EMU_INVALID_PTX, "it needs a rounding, such as .rn, or .approx");
        if (!strcmp(opcode, "mad")) opcode = "fma";
        if (type != PTX_F32 && type != PTX_F64 && i->rounding != FE_TONEAREST)
            decode_fail(d, EMU_UNSUPPORTED_PTX, "16-bit floats support no rounding but .rn");
    }
    /* addc and madc read the carry, .cc writes it: one operation each, with two flags. */
    i->carry_in = !strcmp(opcode, "addc") || !strcmp(opcode, "subc") || !strcmp(opcode, "madc");
    i->carry_out = take_word(&words, "cc");
    key_add(&key, "%.*s", i->carry_in ? (int)strlen(opcode) - 1 : (int)strlen(opcode), opcode);
    for (unsigned k = 1; k < source->word_count; k++)
        if (!words.used[k]) key_add(&key, ".%s", source->words[k]);
    if (i->carry_in || i->carry_out) key_add(&key, ".carry");
    if (type != PTX_NONE) key_add(&key, ".%s", ptx_type_name(type));
    if (second != PTX_NONE) key_add(&key, ".%s", ptx_type_name(second));

    const struct op *op = find_op(d, &key);
    i->fn = op->fn;
    take_operands(d, source, op, i);
    wrap(i, is_slct ? PTX_NONE : type);
    i->tally = (uint8_t)tally_of(source->words[0], type);
}

/* ---- comparison ---------------------------------------------------------------------------- */

static void decode_compare(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    struct words words = all_words(source);
    bool is_set = !strcmp(source->words[0], "set");
    i->flush = take_word(&words, "ftz");
    enum ptx_type to = is_set ? take_type(&words) : PTX_PRED, type = take_type(&words);
    if (take_word(&words, "and"))
        i->combine = COMBINE_AND;
    else if (take_word(&words, "or"))
        i->combine = COMBINE_OR;
    else if (take_word(&words, "xor"))
        i->combine = COMBINE_XOR;

    struct key key = {.length = 0};
    key_add(&key, "compare");
    for (unsigned k = 1; k < source->word_count; k++)
        if (!words.used[k]) key_add(&key, ".%s", source->words[k]);
    key_add(&key, ".%s", ptx_type_name(type));
    const struct op *op = find_op(d, &key);

    unsigned count = i->combine == COMBINE_NONE ? 3 : 4;
    need_operands(d, source, count, count);
    const struct ptx_operand *result = &source->operands[0];
    i->result = is_set ? RESULT_INTEGER : RESULT_PREDICATE;
    switch (to) { /* the value that stands for true */
    case PTX_PRED:
        i->d = destination_slot(d, result, 0);
        if (result->other) i->v[0] = destination_slot(d, result->other, 0);
        break;
    case PTX_U32:
    case PTX_S32: i->offset = UINT32_MAX; break;
    case PTX_U16:
    case PTX_S16: i->offset = UINT16_MAX; break;
    case PTX_F32: i->offset = 0x3f800000; break; /* 1.0 in each format */
    case PTX_F16: i->offset = 0x3c00; break;
    case PTX_BF16: i->offset = 0x3f80; break;
    default: decode_fail(d, EMU_UNSUPPORTED_PTX, "set to .%s is not supported", ptx_type_name(to));
    }
    if (is_set) i->d = destination_slot(d, result, 4);
    i->a = source_slot(d, &source->operands[1], letter_bytes(op->operands[1]));
    i->b = source_slot(d, &source->operands[2], letter_bytes(op->operands[2]));
    if (i->combine != COMBINE_NONE) {
        i->c = source_slot(d, &source->operands[3], 0);
        i->flip_c = source->operands[3].negated;
    }
    i->fn = op->fn;
    wrap(i, PTX_NONE);
}

/* ---- conversion ---------------------------------------------------------------------------- */

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

static void decode_convert(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    struct words words = all_words(source);
    enum ptx_type to = take_type(&words), from = take_type(&words);
    bool to_float = ptx_type_is_float(to), from_float = ptx_type_is_float(from);
    bool to_half = to_float && to != PTX_F32 && to != PTX_F64;
    const char *integral = NULL;
    struct key key = {.length = 0};

    i->flush = take_word(&words, "ftz");
    take_clamp(&words, i, to);
    key_add(&key, "cvt");
    if (take_integral_rounding(&words, &integral)) {
        key_add(&key, ".%s", integral);
    } else if (from_float && !to_float) {
        decode_fail(d, EMU_INVALID_PTX,
                    "a conversion to an integer needs .rni, .rzi, .rmi or .rpi");
    } else {
        unsigned before = count_used(&words);
        take_rounding(&words, i);
        if (to_float && !from_float && count_used(&words) == before)
            decode_fail(d, EMU_INVALID_PTX,
                        "a conversion from an integer needs .rn, .rz, .rm or .rp");
        if (to_half && from != to) { /* has its own rounding; the CPU's mode does not matter */
            key_add(&key, ".%s", rounding_name(i->rounding));
            i->rounding = FE_TONEAREST;
        }
    }
    if (!to_float) { /* floats are clamped anyway, integers only on demand */
        if (i->clamp != CLAMP_NONE && !from_float) key_add(&key, ".sat");
        i->clamp = CLAMP_NONE;
    }
    refuse_rest(d, &words);
    key_add(&key, ".%s.%s", ptx_type_name(to), ptx_type_name(from));

    const struct op *op = find_op(d, &key);
    i->fn = op->fn;
    if (!strcmp(op->operands, "444")) { /* two floats into one register */
        take_operands(d, source, op, i);
        wrap(i, to);
        return;
    }
    need_operands(d, source, 2, 2);
    const struct ptx_operand *destination = &source->operands[0], *value = &source->operands[1];
    unsigned to_bytes = letter_bytes(op->operands[0]), from_bytes = letter_bytes(op->operands[1]);
    /* A register may be wider than a type of up to 32 bits: the low part of the source counts, and
     * the result is extended. */
    bool wide_source = from_bytes == 4 && operand_lane_bytes(d, value, 4) == 8;
    bool wide_result = to_bytes == 4 && operand_lane_bytes(d, destination, 4) == 8;
    i->sign_extend = ptx_type_is_signed(to);
    i->a = wide_source ? register_take(d, 4) : source_slot(d, value, from_bytes);
    i->d = wide_result ? register_take(d, 4) : destination_slot(d, destination, to_bytes);
    if (wide_source) i->v[0] = source_slot(d, value, 8);
    if (wide_result) i->v[1] = destination_slot(d, destination, 8);
    wrap(i, to);
    if (wide_source || wide_result) {
        if (i->fn != op_wrapped) i->inner = i->fn;
        i->fn = op_resized;
    }
}

/* ---- moves --------------------------------------------------------------------------------- */

static bool decode_clock(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    const struct ptx_operand *value = &source->operands[1];
    static const char *const clocks[] = {"clock", "clock64", "globaltimer", "globaltimer_lo"};
    bool high = value->kind == PTX_SPECIAL &&
                (!strcmp(value->name, "clock_hi") || !strcmp(value->name, "globaltimer_hi"));
    bool found = high;
    for (size_t k = 0; value->kind == PTX_SPECIAL && k < sizeof clocks / sizeof *clocks; k++)
        found = found || !strcmp(value->name, clocks[k]);
    if (!found) return false;
    i->lane_bytes = (uint8_t)operand_lane_bytes(d, &source->operands[0], 4);
    i->d = destination_slot(d, &source->operands[0], i->lane_bytes);
    i->offset = high ? 32 : 0;
    i->fn = op_find("clock")->fn;
    return true;
}

static void decode_move(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    need_operands(d, source, 2, 2);
    if (decode_clock(d, source, i)) return;
    const struct ptx_operand *to = &source->operands[0], *from = &source->operands[1];
    const struct ptx_operand *vector = to->kind == PTX_VECTOR     ? to
                                       : from->kind == PTX_VECTOR ? from
                                                                  : NULL;
    if (!vector) {
        decode_arithmetic(d, source, i);
        return;
    }
    struct words words = all_words(source);
    size_t bytes = ptx_type_size(take_type(&words));
    refuse_rest(d, &words);
    if (vector->count < 2 || vector->count > MAX_VECTOR || (bytes != 4 && bytes != 8))
        decode_fail(d, EMU_UNSUPPORTED_PTX, "this packing is not supported");
    size_t part_bits = bytes * 8 / vector->count;
    struct key key = {.length = 0};
    key_add(&key, "%s.%zux%u", vector == to ? "unpack" : "pack", part_bits, vector->count);
    i->fn = find_op(d, &key)->fn;
    for (unsigned k = 0; k < vector->count; k++) {
        const struct ptx_operand *item = vector->items[k];
        if (vector == from)
            i->v[k] = source_slot(d, item, 4);
        else if (item->kind != PTX_SINK)
            i->v[k] = destination_slot(d, item, 4);
    }
    if (vector == to)
        i->a = source_slot(d, from, (unsigned)bytes);
    else
        i->d = destination_slot(d, to, (unsigned)bytes);
}

/* ---- memory -------------------------------------------------------------------------------- */

/* Words about caches and ordering, which change nothing that can be seen here: every access goes to
 * one memory, and accesses of one host thread happen in order. */
static const char *const hints[] = {"weak",
                                    "relaxed",
                                    "acquire",
                                    "release",
                                    "acq_rel",
                                    "cta",
                                    "cluster",
                                    "gpu",
                                    "sys",
                                    "nc",
                                    "ca",
                                    "cg",
                                    "cs",
                                    "lu",
                                    "cv",
                                    "wb",
                                    "wt",
                                    "mmio",
                                    "L1::evict_normal",
                                    "L1::evict_unchanged",
                                    "L1::evict_first",
                                    "L1::evict_last",
                                    "L1::no_allocate",
                                    "L2::64B",
                                    "L2::128B",
                                    "L2::256B",
                                    "L2::evict_normal",
                                    "L2::evict_first",
                                    "L2::evict_last",
                                    "unified",
                                    NULL};

static enum ptx_space take_space(struct words *words)
{
    static const struct {
        const char *word;
        enum ptx_space space;
    } names[] = {{"global", PTX_GLOBAL},     {"shared", PTX_SHARED}, {"shared::cta", PTX_SHARED},
                 {"local", PTX_LOCAL},       {"const", PTX_CONST},   {"param", PTX_PARAM},
                 {"param::entry", PTX_PARAM}};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (take_word(words, names[k].word)) return names[k].space;
    return PTX_GENERIC;
}

/* ld{.…}.type d, [a] and st{.…}.type [a], b; .v2 and .v4 with a vector in braces */
static void decode_access(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    struct words words = all_words(source);
    bool load = !strcmp(source->words[0], "ld") || !strcmp(source->words[0], "ldu");
    i->is_volatile = take_word(&words, "volatile");
    drop_words(&words, hints);
    i->space = (uint8_t)take_space(&words);
    i->elements = take_word(&words, "v2") ? 2 : take_word(&words, "v4") ? 4 : 1;
    enum ptx_type type = take_type(&words);
    refuse_rest(d, &words);
    i->element_bytes = (uint8_t)ptx_type_size(type);
    i->sign_extend = ptx_type_is_signed(type);
    i->used_bytes = (uint16_t)source->used_bytes;
    if (!i->element_bytes || i->element_bytes > 8)
        decode_fail(d, EMU_UNSUPPORTED_PTX, "accesses of type .%s are not supported",
                    ptx_type_name(type));
    if (i->element_bytes * i->elements > 16)
        decode_fail(d, EMU_UNSUPPORTED_PTX,
                    "accesses of more than 16 bytes a lane are not supported");

    need_operands(d, source, 2, 2);
    const struct ptx_operand *values = &source->operands[load ? 0 : 1];
    decode_address(d, i, &source->operands[load ? 1 : 0]);
    bool vector = values->kind == PTX_VECTOR;
    if ((vector ? values->count : 1) != i->elements)
        decode_fail(d, EMU_INVALID_PTX, "%u values for %u elements", vector ? values->count : 1,
                    i->elements);

    const struct ptx_operand *const *each =
        vector ? (const struct ptx_operand *const *)values->items : &values;
    /* All elements of a vector have registers of one size; a register may be wider than its
     * element. */
    i->lane_bytes = i->element_bytes == 8 ? 8 : 4;
    for (unsigned k = 0; k < i->elements; k++)
        if (each[k]->kind == PTX_REGISTER)
            i->lane_bytes = (uint8_t)operand_lane_bytes(d, each[k], 4);
    if (i->lane_bytes < i->element_bytes)
        decode_fail(d, EMU_INVALID_PTX, "the register is too small");
    for (unsigned k = 0; k < i->elements; k++) {
        if (!load)
            i->v[k] = source_slot(d, each[k], i->lane_bytes);
        else if (each[k]->kind != PTX_SINK)
            i->v[k] = destination_slot(d, each[k], i->lane_bytes);
    }
    i->fn = op_find(!load ? "st" : i->space == PTX_PARAM ? "ld.param" : "ld")->fn;
    if (!load && i->space == PTX_PARAM)
        decode_fail(d, EMU_UNSUPPORTED_PTX, "parameters cannot be written");
    if (i->space != PTX_PARAM && i->space != PTX_CONST) i->tally = load ? TALLY_LOAD : TALLY_STORE;
}

static void decode_atomic(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    static const struct {
        const char *word;
        enum atomic function;
    } names[] = {{"add", ATOMIC_ADD},       {"min", ATOMIC_MIN}, {"max", ATOMIC_MAX},
                 {"and", ATOMIC_AND},       {"or", ATOMIC_OR},   {"xor", ATOMIC_XOR},
                 {"exch", ATOMIC_EXCHANGE}, {"cas", ATOMIC_CAS}, {"inc", ATOMIC_INC},
                 {"dec", ATOMIC_DEC}};
    static const char *const dropped[] = {"noftz", NULL};
    struct words words = all_words(source);
    bool has_result = !strcmp(source->words[0], "atom"), known = false;
    drop_words(&words, hints);
    drop_words(&words, dropped);
    i->space = (uint8_t)take_space(&words);
    for (size_t k = 0; k < sizeof names / sizeof *names && !known; k++)
        if ((known = take_word(&words, names[k].word))) i->function = (uint8_t)names[k].function;
    if (!known) decode_fail(d, EMU_UNSUPPORTED_PTX, "this atomic operation is not supported");
    enum ptx_type type = take_type(&words);
    refuse_rest(d, &words);
    bool is_float = ptx_type_is_float(type);
    if (is_float && i->function != ATOMIC_ADD && i->function != ATOMIC_EXCHANGE)
        decode_fail(d, EMU_UNSUPPORTED_PTX, "this atomic operation is not supported for .%s",
                    ptx_type_name(type));
    if (type != PTX_F32 && type != PTX_F64 &&
        (is_float || ptx_type_size(type) < 4 || ptx_type_size(type) > 8))
        decode_fail(d, EMU_UNSUPPORTED_PTX, "atomics on .%s are not supported",
                    ptx_type_name(type));
    i->element_bytes = i->lane_bytes = (uint8_t)ptx_type_size(type);
    i->elements = 1;
    i->sign_extend = ptx_type_is_signed(type);
    i->result = is_float ? RESULT_FLOAT : RESULT_INTEGER;

    unsigned first = has_result ? 1 : 0, values = i->function == ATOMIC_CAS ? 2 : 1;
    need_operands(d, source, first + 1 + values, first + 1 + values);
    if (has_result && source->operands[0].kind != PTX_SINK)
        i->d = destination_slot(d, &source->operands[0], i->lane_bytes);
    decode_address(d, i, &source->operands[first]);
    i->b = source_slot(d, &source->operands[first + 1], i->lane_bytes);
    if (values == 2) i->c = source_slot(d, &source->operands[first + 2], i->lane_bytes);
    i->fn = op_find("atom")->fn;
    i->tally = TALLY_ATOMIC;
}

static int64_t window_of(enum ptx_space space)
{
    return (int64_t)(space == PTX_SHARED  ? SHARED_WINDOW
                     : space == PTX_LOCAL ? LOCAL_WINDOW
                     : space == PTX_PARAM ? PARAM_WINDOW
                                          : 0); /* global and constant addresses are generic ones */
}

/* cvta.space: from the space's own address to a generic one; cvta.to.space: back */
static void decode_address_conversion(struct decoder *d, const struct ptx_instruction *source,
                                      struct insn *i)
{
    struct words words = all_words(source);
    bool to = take_word(&words, "to");
    enum ptx_space space = take_space(&words);
    if (take_type(&words) != PTX_U64)
        decode_fail(d, EMU_UNSUPPORTED_PTX, "only 64-bit addresses are supported");
    refuse_rest(d, &words);
    need_operands(d, source, 2, 2);
    i->d = destination_slot(d, &source->operands[0], 8);
    i->a = source_slot(d, &source->operands[1], 8);
    i->offset = to ? -window_of(space) : window_of(space);
    i->fn = op_find("cvta")->fn;
}

static void decode_is_space(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    struct words words = all_words(source);
    i->space = (uint8_t)take_space(&words);
    refuse_rest(d, &words);
    need_operands(d, source, 2, 2);
    i->d = destination_slot(d, &source->operands[0], 0);
    i->a = source_slot(d, &source->operands[1], 8);
    i->fn = op_find("isspacep")->fn;
}

/* ---- control ------------------------------------------------------------------------------- */

static void decode_branch(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    static const char *const dropped[] = {"uni", NULL};
    struct words words = all_words(source);
    drop_words(&words, dropped);
    refuse_rest(d, &words);
    need_operands(d, source, 1, 1);
    if (source->operands[0].kind != PTX_LABEL)
        decode_fail(d, EMU_INVALID_PTX, "label '%s' is not defined",
                    source->operands[0].name ? source->operands[0].name : "?");
    i->control = CONTROL_BRANCH;
    i->target = source->operands[0].index;
}

/* brx.idx index, TABLE; */
static void decode_branch_table(struct decoder *d, const struct ptx_instruction *source,
                                struct insn *i)
{
    static const char *const dropped[] = {"idx", "uni", NULL};
    struct words words = all_words(source);
    drop_words(&words, dropped);
    refuse_rest(d, &words);
    need_operands(d, source, 2, 2);
    const char *name = source->operands[1].name;
    for (size_t t = 0; name && t < d->function->table_count; t++) {
        const struct ptx_branch_table *table = &d->function->tables[t];
        if (strcmp(table->name, name)) continue;
        uint32_t *targets = decode_take(d, (table->targets->count + 1) * sizeof *targets);
        for (unsigned k = 0; k < table->targets->count; k++) {
            if (table->targets->items[k]->kind != PTX_LABEL)
                decode_fail(d, EMU_INVALID_PTX, "a target in table '%s' is no label", name);
            targets[k] = table->targets->items[k]->index;
        }
        i->control = CONTROL_TABLE;
        i->targets = targets;
        i->target = table->targets->count;
        i->a = source_slot(d, &source->operands[0], 4);
        return;
    }
    decode_fail(d, EMU_INVALID_PTX, "table '%s' is not defined", name ? name : "?");
}

static void decode_exit(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    static const char *const dropped[] = {"uni", NULL};
    struct words words = all_words(source);
    drop_words(&words, dropped);
    refuse_rest(d, &words);
    need_operands(d, source, 0, 0);
    i->control = CONTROL_EXIT;
}

static slot member_mask(struct decoder *d, const struct ptx_operand *operand)
{
    return source_slot(d, operand, 4);
}

/* bar.red.popc.u32 d, n[, threads], p; bar.red.and.pred q, n[, threads], p; or */
static void decode_barrier_reduction(struct decoder *d, const struct ptx_instruction *source,
                                     struct insn *i, struct words *words)
{
    i->function = take_word(words, "popc")  ? BARRIER_COUNT
                  : take_word(words, "and") ? BARRIER_AND
                  : take_word(words, "or")  ? BARRIER_OR
                                            : BARRIER_NOTHING;
    enum ptx_type type = take_type(words);
    refuse_rest(d, words);
    if (i->function == BARRIER_NOTHING || (i->function == BARRIER_COUNT) != (type == PTX_U32))
        decode_fail(d, EMU_UNSUPPORTED_PTX, "this kind of barrier is not supported");
    need_operands(d, source, 3, 4);
    i->control = CONTROL_BARRIER;
    i->tally = TALLY_BARRIER;
    i->d = destination_slot(d, &source->operands[0], type == PTX_U32 ? 4 : 0);
    i->a = source_slot(d, &source->operands[1], 4);
    if (source->operand_count == 4) i->b = source_slot(d, &source->operands[2], 4);
    const struct ptx_operand *predicate = &source->operands[source->operand_count - 1];
    i->c = source_slot(d, predicate, 0);
    i->flip_c = predicate->negated;
}

/* bar.sync n[, threads]; barrier.sync; bar.arrive n, threads; bar.warp.sync mask */
static void decode_barrier(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    static const char *const dropped[] = {"cta", "aligned", NULL};
    struct words words = all_words(source);
    drop_words(&words, dropped);
    if (take_word(&words, "warp")) {
        take_word(&words, "sync");
        refuse_rest(d, &words);
        need_operands(d, source, 1, 1);
        i->control = CONTROL_WARP_SYNC;
        i->members = member_mask(d, &source->operands[0]);
        i->fn = op_find("nothing")->fn;
        return;
    }
    bool arrive = take_word(&words, "arrive");
    if (!arrive && take_word(&words, "red")) {
        decode_barrier_reduction(d, source, i, &words);
        return;
    }
    if (!arrive && !take_word(&words, "sync")) /* barrier.cluster */
        decode_fail(d, EMU_UNSUPPORTED_PTX, "this kind of barrier is not supported");
    refuse_rest(d, &words);
    need_operands(d, source, arrive ? 2 : 1, 2);
    i->control = arrive ? CONTROL_ARRIVE : CONTROL_BARRIER;
    i->a = source_slot(d, &source->operands[0], 4);
    if (source->operand_count == 2) i->b = source_slot(d, &source->operands[1], 4);
    i->tally = TALLY_BARRIER;
}

/* Fences order memory accesses; here they are in order already. */
static void decode_fence(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    static const char *const dropped[] = {"sc",      "acq_rel", "acquire", "release", "cta",
                                          "cluster", "gpu",     "gl",      "sys",     NULL};
    struct words words = all_words(source);
    drop_words(&words, dropped);
    refuse_rest(d, &words);
    need_operands(d, source, 0, 0);
    i->fn = op_find("nothing")->fn;
}

static void decode_nothing(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    (void)source;
    i->fn = op_find("nothing")->fn;
    (void)d;
}

static void decode_spin(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    (void)d, (void)source;
    i->control = CONTROL_SPIN;
}

static void decode_trap(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    need_operands(d, source, 0, 0);
    i->fn = op_trap;
}

/* ---- lanes that exchange values ------------------------------------------------------------ */

static void decode_collective(struct decoder *d, const struct ptx_instruction *source,
                              struct insn *i)
{
    struct words words = all_words(source);
    const char *opcode = source->words[0];
    unsigned mask_at = source->operand_count - 1;
    if (!take_word(&words, "sync"))
        decode_fail(d, EMU_UNSUPPORTED_PTX, "without .sync it does not exist on today's GPUs");
    need_operands(d, source, !strcmp(opcode, "elect") ? 2 : 3, 5);
    const struct ptx_operand *result = &source->operands[0], *value = &source->operands[1];
    i->control = CONTROL_CONVERGE;
    i->members = member_mask(d, &source->operands[mask_at]);

    static const struct {
        const char *opcode, *word;
        op_fn fn;
        uint8_t function, operands;
        bool predicate_result, predicate_value;
    } kinds[] = {
        {"shfl", "up", op_shuffle, SHUFFLE_UP, 5, false, false},
        {"shfl", "down", op_shuffle, SHUFFLE_DOWN, 5, false, false},
        {"shfl", "bfly", op_shuffle, SHUFFLE_BUTTERFLY, 5, false, false},
        {"shfl", "idx", op_shuffle, SHUFFLE_INDEX, 5, false, false},
        {"vote", "all", op_vote, VOTE_ALL, 3, true, true},
        {"vote", "any", op_vote, VOTE_ANY, 3, true, true},
        {"vote", "uni", op_vote, VOTE_UNIFORM, 3, true, true},
        {"vote", "ballot", op_vote, VOTE_BALLOT, 3, false, true},
        {"match", "any", op_match_any, 0, 3, false, false},
        {"match", "all", op_match_all, 0, 3, false, false},
        {"redux", "add", op_reduce, REDUCE_ADD, 3, false, false},
        {"redux", "min", op_reduce, REDUCE_MIN, 3, false, false},
        {"redux", "max", op_reduce, REDUCE_MAX, 3, false, false},
        {"redux", "and", op_reduce, REDUCE_AND, 3, false, false},
        {"redux", "or", op_reduce, REDUCE_OR, 3, false, false},
        {"redux", "xor", op_reduce, REDUCE_XOR, 3, false, false},
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (strcmp(kinds[k].opcode, opcode) || !take_word(&words, kinds[k].word)) continue;
        enum ptx_type type = take_type(&words);
        refuse_rest(d, &words);
        need_operands(d, source, kinds[k].operands, kinds[k].operands);
        i->fn = kinds[k].fn;
        i->function = kinds[k].function;
        i->sign_extend = ptx_type_is_signed(type);
        bool predicate = type == PTX_PRED;
        i->lane_bytes = predicate ? 0 : ptx_type_size(type) == 8 ? 8 : 4;
        if (predicate != kinds[k].predicate_result ||
            (i->lane_bytes == 8 && strcmp(opcode, "match")) || ptx_type_is_float(type))
            decode_fail(d, EMU_UNSUPPORTED_PTX, "it is not supported for .%s", ptx_type_name(type));
        i->d = destination_slot(d, result, kinds[k].predicate_result ? 0 : 4);
        if (result->other) i->v[0] = destination_slot(d, result->other, 0);
        i->a = source_slot(d, value, kinds[k].predicate_value ? 0 : i->lane_bytes);
        i->flip_c = value->negated;
        if (kinds[k].operands == 5) {
            i->b = source_slot(d, &source->operands[2], 4);
            i->c = source_slot(d, &source->operands[3], 4);
        }
        return;
    }
    if (!strcmp(opcode, "elect")) {
        refuse_rest(d, &words);
        need_operands(d, source, 2, 2);
        i->d = destination_slot(d, result, 4);
        if (result->other) i->v[0] = destination_slot(d, result->other, 0);
        i->fn = op_elect;
        return;
    }
    decode_fail(d, EMU_UNSUPPORTED_PTX, "the emulator does not know this operation");
}

/* ---- by opcode ----------------------------------------------------------------------------- */

static void decode_call(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    const struct ptx_operand *name = NULL;
    for (unsigned k = 0; k < source->operand_count; k++)
        if (source->operands[k].kind == PTX_SYMBOL && !name) name = &source->operands[k];
    (void)i;
    decode_fail(d, EMU_UNSUPPORTED_PTX,
                "calls of functions that were not inlined ('%s') are not supported",
                name ? name->name : "by pointer");
}

void decode_instruction(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    static const struct {
        const char *opcode;
        void (*decode)(struct decoder *, const struct ptx_instruction *, struct insn *);
    } families[] = {
        {"ld", decode_access},         {"ldu", decode_access},
        {"st", decode_access},         {"atom", decode_atomic},
        {"red", decode_atomic},        {"cvta", decode_address_conversion},
        {"isspacep", decode_is_space}, {"setp", decode_compare},
        {"set", decode_compare},       {"cvt", decode_convert},
        {"mov", decode_move},          {"bra", decode_branch},
        {"brx", decode_branch_table},  {"ret", decode_exit},
        {"exit", decode_exit},         {"call", decode_call},
        {"bar", decode_barrier},       {"barrier", decode_barrier},
        {"membar", decode_fence},      {"fence", decode_fence},
        {"prefetch", decode_nothing},  {"prefetchu", decode_nothing},
        {"brkpt", decode_nothing},     {"pmevent", decode_nothing},
        {"nanosleep", decode_spin},    {"trap", decode_trap},
        {"shfl", decode_collective},   {"vote", decode_collective},
        {"match", decode_collective},  {"redux", decode_collective},
        {"elect", decode_collective},
    };
    for (size_t k = 0; k < sizeof families / sizeof *families; k++)
        if (!strcmp(families[k].opcode, source->words[0])) {
            families[k].decode(d, source, i);
            return;
        }
    decode_arithmetic(d, source, i);
}
