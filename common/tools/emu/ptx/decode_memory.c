/* decode_memory.c — decodes loads, stores, atomics, textures and surfaces. */
#include "decode.h"
#include <string.h>

/* ---- decodes loads, stores, atomics and conversions of addresses ----------------------------- */

/* Modifiers for caches and ordering. They have no effect in the emulator, where all accesses go to
 * one memory and the accesses of one host thread happen in order. order_of() reads those that
 * racecheck needs. */
/* clang-format off */
static const char *const hints[] = {
    "weak", "relaxed", "acquire", "release", "acq_rel", "cta", "cluster", "gpu", "sys", "nc",
    "ca", "cg", "cs", "lu", "cv", "wb", "wt", "mmio", "L1::evict_normal", "L1::evict_unchanged",
    "L1::evict_first", "L1::evict_last", "L1::no_allocate", "L2::64B", "L2::128B", "L2::256B",
    "L2::evict_normal", "L2::evict_first", "L2::evict_last", "unified", "L2::cache_hint",
    "L2::evict_unchanged", NULL,
};
/* clang-format on */

enum ptx_space take_space(struct words *words)
{
    static const struct {
        const char *word;
        enum ptx_space space;
    } names[] = {{"global", PTX_GLOBAL},      {"shared", PTX_SHARED},
                 {"shared::cta", PTX_SHARED}, {"shared::cluster", PTX_SHARED_CLUSTER},
                 {"local", PTX_LOCAL},        {"const", PTX_CONST},
                 {"param", PTX_PARAM},        {"param::entry", PTX_PARAM},
                 {"param::func", PTX_PARAM}};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (take_word(words, names[k].word)) return names[k].space;
    return PTX_GENERIC;
}

/* The enum order of an instruction. Accesses that bypass every cache (.cv, .wt) count as volatile.
 * */
static uint8_t order_of(const struct ptx_instruction *source, bool atomic)
{
    bool both = has_word(source, "acq_rel"), releases = both || has_word(source, "release");
    bool acquires = both || has_word(source, "acquire");
    bool strong = releases || acquires || has_word(source, "relaxed");
    bool is_volatile =
        has_word(source, "volatile") || has_word(source, "cv") || has_word(source, "wt");
    unsigned order = atomic        ? ORDER_ATOMIC
                     : strong      ? ORDER_STRONG
                     : is_volatile ? ORDER_VOLATILE
                                   : ORDER_WEAK;
    if (releases) order |= ORDER_RELEASE;
    if (acquires) order |= ORDER_ACQUIRE;
    if (has_word(source, "cta") && (strong || atomic)) order |= ORDER_BLOCK;
    if (has_word(source, "nc") || has_word(source, "const")) order = ORDER_CONSTANT;
    return (uint8_t)order;
}

/* Fails unless the number of operands is `count`. With .L2::cache_hint there is one more: the last
 * is a cache policy, which the emulator ignores. */
static void need_operands_and_policy(struct decoder *d, const struct ptx_instruction *source,
                                     unsigned count)
{
    if (has_word(source, "L2::cache_hint")) count++;
    need_operands(d, source, count, count);
}

static uint8_t take_elements(struct words *words)
{
    return take_word(words, "v2") ? 2 : take_word(words, "v4") ? 4 : take_word(words, "v8") ? 8 : 1;
}

/* Decodes a 128-bit register as a vector of two 64-bit registers. */
static void decode_wide_values(struct decoder *d, const struct ptx_operand *value, bool load,
                               struct insn *i)
{
    slot s = load ? destination_slot(d, value, 16) : source_slot(d, value, 16);
    i->elements = 2;
    i->element_bytes = i->lane_bytes = 8;
    i->memory.value[0] = s;
    i->memory.value[1] = s + SLOT_64;
}

/* Decodes the registers of i->elements elements, to be written (`load`) or read; value[k] becomes
 * NO_SLOT for a sink. Sets i->lane_bytes. */
static void decode_values(struct decoder *d, const struct ptx_operand *values, bool load,
                          struct insn *i, slot *value)
{
    bool vector = values->kind == PTX_VECTOR;
    if ((vector ? values->count : 1) != i->elements)
        decode_fail(d, EMU_INVALID_PTX, "%u values for %u elements", vector ? values->count : 1,
                    i->elements);
    const struct ptx_operand *const *each =
        vector ? (const struct ptx_operand *const *)values->items : &values;
    /* All elements of a vector have registers of the same size, which may be wider than the
     * element. */
    i->lane_bytes = i->element_bytes == 8 ? 8 : 4;
    for (unsigned k = 0; k < i->elements; k++)
        if (each[k]->kind == PTX_REGISTER)
            i->lane_bytes = (uint8_t)operand_lane_bytes(d, each[k], 4);
    if (i->lane_bytes < i->element_bytes)
        decode_fail(d, EMU_INVALID_PTX, "the register is too small");
    for (unsigned k = 0; k < i->elements; k++) {
        if (!load)
            value[k] = source_slot(d, each[k], i->lane_bytes);
        else
            value[k] =
                each[k]->kind == PTX_SINK ? NO_SLOT : destination_slot(d, each[k], i->lane_bytes);
    }
}

/* The number of bytes of an access that must be inside of memory. Bytes behind the last used one
 * may lie outside if the compiler has widened the load. */
static uint8_t checked_bytes(const struct insn *i)
{
    unsigned all = (unsigned)i->element_bytes * i->elements, last = 0;
    for (unsigned k = 0; k < all && k < 32; k++)
        if (i->memory.used_bytes >> k & 1) last = k + 1;
    return (uint8_t)(last ? last : all);
}

static void take_memory(struct insn *i)
{
    i->family = FAMILY_MEMORY;
    for (unsigned k = 0; k < MAX_VECTOR; k++) i->memory.value[k] = NO_SLOT;
}

/* Two or four words, each in a register of its size, and none of them a sink? */
static bool is_vector_of_words(const struct insn *i)
{
    bool words = i->element_bytes == 4 && i->lane_bytes == 4;
    for (unsigned k = 0; k < i->elements; k++) words = words && i->memory.value[k] != NO_SLOT;
    return words && (i->elements == 2 || i->elements == 4);
}

/* The space, if the address has the usual size; else NULL. */
static const char *usual_space(const struct insn *i)
{
    switch ((enum ptx_space)i->address.space) {
    case PTX_SHARED: return i->address.bytes == 4 ? "shared" : NULL;
    case PTX_GLOBAL: return i->address.bytes == 8 ? "global" : NULL;
    case PTX_LOCAL: return i->address.bytes == 8 ? "local" : NULL;
    default: return NULL;
    }
}

/* The operation in ops_access.c or ops_door.c, where usual accesses have functions of their own:
 * those of one element of the register's size, of a part of a word, and of vectors of words. */
static const struct op *access_operation(const struct insn *i, bool load, bool polls)
{
    char key[32];
    const char *space = usual_space(i), *name = load ? "ld" : "st";
    bool is_part = i->elements == 1 && i->element_bytes < 4 && i->lane_bytes == 4 &&
                   i->memory.value[0] != NO_SLOT;
    if (load && i->address.space == PTX_PARAM) return op_find("ld.param");
    if (load && polls) return op_find("ld.polled");
    if (!space) return op_find(name);
    if (i->elements == 1 && i->element_bytes == i->lane_bytes)
        snprintf(key, sizeof key, "%s.%s_%d", name, space, i->lane_bytes == 4 ? 4 : 8);
    else if (is_part && i->address.space == PTX_LOCAL)
        snprintf(key, sizeof key, "%s.local_part", name);
    else if (is_part)
        snprintf(key, sizeof key, "%s.%s_%d", name, space, i->element_bytes);
    else if (is_vector_of_words(i))
        snprintf(key, sizeof key, "%s.%s_v%d", name, space, i->elements);
    else
        return op_find(name);
    return op_find(key);
}

enum { LONG_SINCE = 100 }; /* the least .target with accesses of 32 bytes a lane */

/* ld{.…}.type d, [a] and st{.…}.type [a], b; with .v2, .v4 and .v8, d or b is a vector in braces */
void decode_access(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    struct words words = all_words(source);
    bool load = !strcmp(source->words[0], "ld") || !strcmp(source->words[0], "ldu");
    bool polls = take_word(&words, "volatile") || has_word(source, "acquire") ||
                 has_word(source, "relaxed"); /* without them, too, memory is read */
    drop_words(&words, hints);
    enum ptx_space space = take_space(&words);
    i->elements = take_elements(&words);
    enum ptx_type type = take_type(&words);
    refuse_rest(d, &words);
    i->element_bytes = (uint8_t)ptx_type_size(type);
    i->is_signed = ptx_type_is_signed(type);
    i->order = order_of(source, false);
    size_t bytes = (size_t)i->element_bytes * i->elements;
    if (!i->element_bytes || (type == PTX_B128 && i->elements > 1))
        decode_fail(d, unknown_error(d), "accesses of type .%s are not supported",
                    ptx_type_name(type));
    if (bytes > 32 || (bytes > 16 && space != PTX_GLOBAL))
        decode_fail(d, unknown_error(d), "there are no accesses of %zu bytes a lane here", bytes);
    if (bytes > 16) need_target(d, LONG_SINCE);
    need_operands_and_policy(d, source, 2);
    const struct ptx_operand *values = &source->operands[load ? 0 : 1];
    take_memory(i);
    i->memory.used_bytes = source->used_bytes;
    i->address = address_operand(d, &source->operands[load ? 1 : 0], space);
    need_long_address(d, &i->address);
    check_operand(d, values, type, true);
    if (type == PTX_B128)
        decode_wide_values(d, values, load, i);
    else
        decode_values(d, values, load, i, i->memory.value);
    i->memory.checked_bytes = checked_bytes(i);
    if (load && i->memory.checked_bytes < bytes) /* unused bytes may be outside of memory */
        for (unsigned k = 0; k < i->elements; k++)
            if (k * i->element_bytes >= i->memory.checked_bytes) i->memory.value[k] = NO_SLOT;
    size_t area_bytes;
    if (space == PTX_PARAM && names_area(d, &source->operands[load ? 1 : 0], &area_bytes)) {
        i->fn = op_find(load ? "ld.area" : "st.area")->fn;
        int64_t inside = source->operands[load ? 1 : 0].offset;
        if (inside < 0 || (uint64_t)inside + i->element_bytes * i->elements > area_bytes)
            decode_fail(d, EMU_INVALID_PTX, "it is outside of the parameter's %zu bytes",
                        area_bytes);
        return;
    }
    if (space == PTX_PARAM && d->callee) /* a parameter whose address is taken */
        i->address.space = (uint8_t)(space = PTX_LOCAL);
    i->fn = access_operation(i, load, polls)->fn;
    if (!load && space == PTX_PARAM)
        decode_fail(d, EMU_UNSUPPORTED_PTX, "parameters cannot be written");
    if (space != PTX_PARAM && space != PTX_CONST) i->tally = load ? TALLY_LOAD : TALLY_STORE;
}

/* st.async{.weak}{.shared::cluster}.mbarrier::complete_tx::bytes{.v2|.v4}.type [a], b,
 * [mbarrier]; */
static void decode_async_store(struct decoder *d, const struct ptx_instruction *source,
                               struct insn *i)
{
    struct words words = all_words(source);
    bool async = take_word(&words, "async");
    bool arrives = take_word(&words, "mbarrier::complete_tx::bytes");
    take_word(&words, "weak");
    enum ptx_space space = take_space(&words);
    i->elements = take_elements(&words);
    enum ptx_type type = take_type(&words);
    refuse_rest(d, &words);
    i->element_bytes = (uint8_t)ptx_type_size(type);
    if (!async || !arrives || (space != PTX_GENERIC && space != PTX_SHARED_CLUSTER))
        decode_fail(d, EMU_INVALID_PTX,
                    "it stores to .shared::cluster and is .mbarrier::complete_tx::bytes");
    if (i->elements > MAX_ATOMIC_VECTOR || (i->element_bytes != 4 && i->element_bytes != 8) ||
        i->elements * i->element_bytes > 16)
        decode_fail(d, EMU_INVALID_PTX, "%u elements of type .%s; it stores 4, 8 or 16 bytes",
                    i->elements, ptx_type_name(type));
    need_operands(d, source, 3, 3);
    i->family = FAMILY_STORE_ASYNC;
    i->address = address_operand(d, &source->operands[0], space);
    decode_values(d, &source->operands[1], false, i, i->store_async.value);
    i->store_async.mbarrier = address_operand(d, &source->operands[2], space);
    i->tally = TALLY_STORE;
    i->fn = op_store_async;
}

void decode_store(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    if (has_word(source, "async"))
        decode_async_store(d, source, i);
    else
        decode_access(d, source, i);
}

/* Is the atomic one that atomic_wide.c carries out? */
static bool is_wide_atomic(const struct insn *i, enum ptx_type type)
{
    return i->elements > 1 || ptx_type_size(type) == 2 || type == PTX_F16X2 || type == PTX_BF16X2 ||
           type == PTX_B128;
}

/* Atomics on vectors and on 16-bit numbers. Results and sources are vectors in braces, or one
 * register each. */
static void decode_wide_atomic(struct decoder *d, const struct ptx_instruction *source,
                               struct insn *i, enum ptx_space space, bool has_result)
{
    bool is_half = i->atomic.type == PTX_F16 || i->atomic.type == PTX_BF16 ||
                   i->atomic.type == PTX_F16X2 || i->atomic.type == PTX_BF16X2;
    bool adds = i->atomic.operation == ATOMIC_ADD || i->atomic.operation == ATOMIC_MIN ||
                i->atomic.operation == ATOMIC_MAX;
    bool is_cas = i->atomic.operation == ATOMIC_CAS, is_128 = i->atomic.type == PTX_B128;
    unsigned first = has_result ? 1 : 0, count = first + 2 + (is_cas ? 1 : 0);
    if (!(is_half && adds) && !(i->atomic.type == PTX_F32 && i->atomic.operation == ATOMIC_ADD) &&
        !(is_128 && (is_cas || i->atomic.operation == ATOMIC_EXCHANGE)) &&
        !(i->atomic.type == PTX_B16 && is_cas))
        decode_fail(d, unknown_error(d), "this atomic operation is not supported for .%s",
                    ptx_type_name(i->atomic.type));
    if (i->elements > MAX_ATOMIC_VECTOR)
        decode_fail(d, EMU_UNSUPPORTED_PTX, "vectors of more than %d elements are not supported",
                    MAX_ATOMIC_VECTOR);
    need_operands_and_policy(d, source, count);
    const struct ptx_operand *values = &source->operands[first + 1];
    i->address = address_operand(d, &source->operands[first], space);
    need_long_address(d, &i->address);
    i->tally = TALLY_ATOMIC;
    if (is_128) {
        i->family = FAMILY_ATOMIC;
        i->fn = op_atomic_128;
        if (has_result) i->d = destination_slot(d, &source->operands[0], 16);
        i->b = source_slot(d, values, 16);
        if (is_cas) i->c = source_slot(d, &values[1], 16);
        return;
    }
    i->family = FAMILY_VECTOR_ATOMIC;
    for (unsigned k = 0; k < MAX_ATOMIC_VECTOR; k++)
        i->vector.source[k] = i->vector.result[k] = NO_SLOT;
    if (has_result) decode_values(d, &source->operands[0], true, i, i->vector.result);
    decode_values(d, values, false, i, i->vector.source);
    if (is_cas) i->c = source_slot(d, &values[1], 4);
    i->fn = op_atomic_elements;
}

void take_atomic_operation(struct decoder *d, struct words *words, struct insn *i)
{
    static const struct {
        const char *word;
        enum atomic operation;
    } names[] = {{"add", ATOMIC_ADD},       {"min", ATOMIC_MIN}, {"max", ATOMIC_MAX},
                 {"and", ATOMIC_AND},       {"or", ATOMIC_OR},   {"xor", ATOMIC_XOR},
                 {"exch", ATOMIC_EXCHANGE}, {"cas", ATOMIC_CAS}, {"inc", ATOMIC_INC},
                 {"dec", ATOMIC_DEC}};
    bool known = false;
    for (size_t k = 0; k < sizeof names / sizeof *names && !known; k++)
        if ((known = take_word(words, names[k].word)))
            i->atomic.operation = (uint8_t)names[k].operation;
    if (!known) decode_fail(d, unknown_error(d), "this atomic operation is not supported");
}

/* Takes the operation and its type. Fails if any other word is left. */
static enum ptx_type take_operation(struct decoder *d, struct words *words, struct insn *i)
{
    static const char *const dropped[] = {"noftz", NULL};
    drop_words(words, dropped);
    take_atomic_operation(d, words, i);
    i->elements = take_elements(words);
    enum ptx_type type = take_type(words);
    refuse_rest(d, words);
    i->atomic.type = (uint8_t)type;
    i->atomic.is_float = ptx_type_is_float(type);
    i->element_bytes = (uint8_t)ptx_type_size(type);
    return type;
}

/* Fails unless the atomic has one element of 4 or 8 bytes per lane. */
static void check_scalar_atomic(struct decoder *d, struct insn *i, enum ptx_type type)
{
    bool is_float = ptx_type_is_float(type);
    if (is_float && i->atomic.operation != ATOMIC_ADD && i->atomic.operation != ATOMIC_EXCHANGE)
        decode_fail(d, unknown_error(d), "this atomic operation is not supported for .%s",
                    ptx_type_name(type));
    if (type != PTX_F32 && type != PTX_F64 &&
        (is_float || ptx_type_size(type) < 4 || ptx_type_size(type) > 8))
        decode_fail(d, unknown_error(d), "atomics on .%s are not supported", ptx_type_name(type));
    i->lane_bytes = i->element_bytes;
    i->is_signed = ptx_type_is_signed(type);
}

void take_atomic(struct decoder *d, struct words *words, struct insn *i)
{
    enum ptx_type type = take_operation(d, words, i);
    if (is_wide_atomic(i, type))
        decode_fail(d, EMU_UNSUPPORTED_PTX, "reductions of .%s are not supported",
                    ptx_type_name(type));
    check_scalar_atomic(d, i, type);
}

/* red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.op.type [a], b,
 * [mbarrier]; */
static void decode_async_atomic(struct decoder *d, const struct ptx_instruction *source,
                                struct insn *i)
{
    static const char *const dropped[] = {"async", "relaxed", "cluster", NULL};
    struct words words = all_words(source);
    bool arrives = take_word(&words, "mbarrier::complete_tx::bytes");
    drop_words(&words, dropped);
    enum ptx_space space = take_space(&words);
    take_atomic(d, &words, i);
    bool is_add = i->atomic.operation == ATOMIC_ADD && i->atomic.type == PTX_U64;
    if (!arrives || (space != PTX_GENERIC && space != PTX_SHARED_CLUSTER))
        decode_fail(d, EMU_INVALID_PTX,
                    "it changes .shared::cluster and is .mbarrier::complete_tx::bytes");
    if (i->atomic.is_float || i->elements > 1 || (i->element_bytes != 4 && !is_add) ||
        i->atomic.operation == ATOMIC_CAS || i->atomic.operation == ATOMIC_EXCHANGE)
        decode_fail(d, EMU_INVALID_PTX,
                    "only operations on one integer of 32 bits, and .add.u64, are asynchronous");
    need_operands(d, source, 3, 3);
    i->order = ORDER_ATOMIC;
    i->family = FAMILY_STORE_ASYNC;
    i->address = address_operand(d, &source->operands[0], space);
    i->store_async.value[0] = source_slot(d, &source->operands[1], i->lane_bytes);
    i->store_async.mbarrier = address_operand(d, &source->operands[2], space);
    i->store_async.reduces = true;
    i->tally = TALLY_STORE;
    i->fn = op_store_async;
}

void decode_atomic(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    if (has_word(source, "async")) {
        decode_async_atomic(d, source, i);
        return;
    }
    struct words words = all_words(source);
    bool has_result = !strcmp(source->words[0], "atom");
    drop_words(&words, hints);
    enum ptx_space space = take_space(&words);
    enum ptx_type type = take_operation(d, &words, i);
    i->order = order_of(source, true);
    for (unsigned k = 0; k < source->operand_count; k++) { /* addresses pass, a policy is last */
        bool is_policy = has_word(source, "L2::cache_hint") && k + 1 == source->operand_count;
        if (!is_policy) check_operand(d, &source->operands[k], type, false);
    }
    if (is_wide_atomic(i, type)) {
        decode_wide_atomic(d, source, i, space, has_result);
        return;
    }
    check_scalar_atomic(d, i, type);
    unsigned first = has_result ? 1 : 0, values = i->atomic.operation == ATOMIC_CAS ? 2 : 1;
    need_operands_and_policy(d, source, first + 1 + values);
    if (has_result && source->operands[0].kind != PTX_SINK)
        i->d = destination_slot(d, &source->operands[0], i->lane_bytes);
    i->family = FAMILY_ATOMIC;
    i->address = address_operand(d, &source->operands[first], space);
    need_long_address(d, &i->address);
    i->b = source_slot(d, &source->operands[first + 1], i->lane_bytes);
    if (values == 2) i->c = source_slot(d, &source->operands[first + 2], i->lane_bytes);
    i->fn = op_find("atom")->fn;
    i->tally = TALLY_ATOMIC;
    if (!has_result && space == PTX_GLOBAL) i->counted_bytes = COUNTED_AS_REDUCTION;
}

/* What makes an address of a space generic. Global and constant addresses already are. */
static int64_t window_of(enum ptx_space space)
{
    return (int64_t)(space == PTX_SHARED || space == PTX_SHARED_CLUSTER ? SHARED_WINDOW
                     : space == PTX_LOCAL                               ? LOCAL_WINDOW
                     : space == PTX_PARAM                               ? PARAM_WINDOW
                                                                        : 0);
}

/* cvta.space makes an address of a space generic; cvta.to.space does the opposite */
void decode_address_conversion(struct decoder *d, const struct ptx_instruction *source,
                               struct insn *i)
{
    struct words words = all_words(source);
    bool to = take_word(&words, "to");
    enum ptx_space space = take_space(&words);
    if (take_type(&words) != PTX_U64)
        decode_fail(d, EMU_UNSUPPORTED_PTX, "only 64-bit addresses are supported");
    refuse_rest(d, &words);
    need_operands(d, source, 2, 2);
    for (unsigned k = 0; k < 2; k++) check_operand(d, &source->operands[k], PTX_U64, false);
    if (space == PTX_PARAM && d->callee) space = PTX_LOCAL;
    i->d = destination_slot(d, &source->operands[0], 8);
    i->a = source_slot(d, &source->operands[1], 8);
    i->family = FAMILY_CVTA;
    i->cvta.distance = to ? -window_of(space) : window_of(space);
    i->fn = op_find("cvta")->fn;
}

void decode_is_space(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    struct words words = all_words(source);
    i->family = FAMILY_ISSPACEP;
    i->isspacep.space = (uint8_t)take_space(&words);
    refuse_rest(d, &words);
    need_operands(d, source, 2, 2);
    i->d = destination_slot(d, &source->operands[0], 0);
    i->a = source_slot(d, &source->operands[1], 8);
    i->fn = op_find("isspacep")->fn;
}

/* ---- decodes reads of textures, and reads and writes of surfaces: tex, tld4, suld, sust ------ */

/* Modifiers for caches, which the emulator does not need. */
static const char *const texture_hints[] = {"ca", "cg", "cs", "cv", "wb", "wt", NULL};

/* The number of coordinates: where it is 4, PTX has one or more that mean nothing. */
struct geometry {
    const char *word;
    enum emu_texture_shape shape;
    unsigned coordinates;
};

static const struct geometry *take_geometry(struct decoder *d, struct words *words)
{
    static const struct geometry all[] = {
        {"1d", EMU_TEXTURE_1D, 1},
        {"2d", EMU_TEXTURE_2D, 2},
        {"3d", EMU_TEXTURE_3D, 4},
        {"a1d", EMU_TEXTURE_1D_LAYERED, 2},
        {"a2d", EMU_TEXTURE_2D_LAYERED, 4},
        {"cube", EMU_TEXTURE_CUBE, 4},
        {"acube", EMU_TEXTURE_CUBE_LAYERED, 4},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (take_word(words, all[k].word)) return &all[k];
    decode_fail(d, EMU_UNSUPPORTED_PTX,
                "it needs a geometry that is supported: .1d, .2d, .3d, .a1d, .a2d, .cube or "
                ".acube");
}

/* The object and the coordinates in [object, {coordinates}]. */
static void take_object(struct decoder *d, const struct ptx_operand *operand,
                        const struct geometry *geometry, struct insn *i)
{
    const struct ptx_operand *base = operand->kind == PTX_ADDRESS ? operand->base : NULL;
    if (base && base->kind == PTX_SYMBOL)
        decode_fail(d, EMU_UNSUPPORTED_PTX,
                    "the emulator has no texture and surface references; pass a texture object to "
                    "the kernel instead");
    if (!base || base->kind != PTX_REGISTER)
        decode_fail(d, EMU_INVALID_PTX, "an object in [ ] is missing");
    const struct ptx_operand *all = base->other;
    if (!all || all->kind != PTX_VECTOR || all->count != geometry->coordinates)
        decode_fail(d, EMU_INVALID_PTX, "it needs %u coordinates in { }", geometry->coordinates);
    i->family = FAMILY_TEXTURE;
    i->texture.shape = (uint8_t)geometry->shape;
    i->texture.object = source_slot(d, base, 8);
    i->texture.resident = NO_SLOT;
    for (unsigned k = 0; k < MAX_ATOMIC_VECTOR; k++) i->texture.value[k] = NO_SLOT;
    for (unsigned k = 0; k < all->count; k++)
        i->texture.coordinate[k] = source_slot(d, all->items[k], 4);
}

/* Four 32-bit results, and perhaps a predicate. */
static void take_results(struct decoder *d, const struct ptx_operand *operand, struct words *words,
                         struct insn *i)
{
    bool four = take_word(words, "v4");
    enum ptx_type result = take_type(words), coordinate = take_type(words);
    if (!four || ptx_type_size(result) != 4 || (coordinate != PTX_F32 && coordinate != PTX_S32))
        decode_fail(d, EMU_UNSUPPORTED_PTX,
                    "it is supported for four elements of 32 bits (.v4) and coordinates of type "
                    ".f32 or .s32");
    refuse_rest(d, words);
    i->elements = i->element_bytes = 4;
    decode_values(d, operand, true, i, i->texture.value);
    i->texture.resident = second_destination_slot(d, operand);
    i->texture.by_integers = coordinate == PTX_S32;
    i->order = ORDER_CONSTANT;
}

/* tex{.level|.grad}.geometry.v4.type.type d{|p}, [a, c]{, level | gradients}; without mipmaps
 * neither matters */
void decode_texture(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    struct words words = all_words(source);
    bool has_level = take_word(&words, "level"), has_gradients = take_word(&words, "grad");
    const struct geometry *geometry = take_geometry(d, &words);
    unsigned count = has_level ? 3 : has_gradients ? 4 : 2;
    need_operands(d, source, count, count);
    take_object(d, &source->operands[1], geometry, i);
    take_results(d, &source->operands[0], &words, i);
    if (i->texture.by_integers && geometry->shape >= EMU_TEXTURE_CUBE)
        decode_fail(d, EMU_INVALID_PTX, "a cube has no integer coordinates");
    i->fn = op_find("tex")->fn;
}

/* tld4.channel.2d.v4.type.f32 d{|p}, [a, c]; */
void decode_gather(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    static const char *const channels[] = {"r", "g", "b", "a"};
    enum { CHANNELS = sizeof channels / sizeof *channels };
    struct words words = all_words(source);
    unsigned channel = 0;
    while (channel < CHANNELS && !take_word(&words, channels[channel])) channel++;
    const struct geometry *geometry = take_geometry(d, &words);
    if (channel == CHANNELS || geometry->shape != EMU_TEXTURE_2D)
        decode_fail(d, EMU_UNSUPPORTED_PTX,
                    "it is supported for a channel (.r, .g, .b or .a) of a texture that is .2d");
    need_operands(d, source, 2, 2);
    take_object(d, &source->operands[1], geometry, i);
    take_results(d, &source->operands[0], &words, i);
    i->texture.channel = (uint8_t)channel;
    i->fn = op_find("tld4")->fn;
}

/* suld.b.geometry{.cop}{.vec}.type.boundary d, [a, b]; and sust.b.… [a, b], c; */
void decode_surface(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    struct words words = all_words(source);
    bool stores = !strcmp(source->words[0], "sust"), plain = take_word(&words, "b");
    bool traps = take_word(&words, "trap"), clamps = take_word(&words, "clamp");
    bool zero = take_word(&words, "zero");
    drop_words(&words, texture_hints);
    const struct geometry *geometry = take_geometry(d, &words);
    i->elements = take_word(&words, "v2") ? 2 : take_word(&words, "v4") ? 4 : 1;
    enum ptx_type type = take_type(&words);
    refuse_rest(d, &words);
    i->element_bytes = (uint8_t)ptx_type_size(type);
    if (!plain || traps + clamps + zero != 1 || geometry->shape >= EMU_TEXTURE_CUBE)
        decode_fail(d, EMU_INVALID_PTX,
                    "it is .b, has no cubes, and is one of .trap, .clamp and .zero");
    if (!i->element_bytes || i->element_bytes * i->elements > 16)
        decode_fail(d, EMU_INVALID_PTX, "%u elements of type .%s; it accesses up to 16 bytes",
                    i->elements, ptx_type_name(type));
    need_operands(d, source, 2, 2);
    take_object(d, &source->operands[stores ? 0 : 1], geometry, i);
    decode_values(d, &source->operands[stores ? 1 : 0], !stores, i, i->texture.value);
    i->texture.boundary = clamps ? BOUNDARY_CLAMP : zero ? BOUNDARY_ZERO : BOUNDARY_TRAP;
    i->texture.stores = stores;
    i->fn = op_find(stores ? "sust" : "suld")->fn;
}
