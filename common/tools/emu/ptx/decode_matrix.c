/* decode_matrix.c — decodes the instructions of tensor cores, and bulk copies of tensors. */
#include "decode.h"
#include <fenv.h>
#include <string.h>

/* ---- decodes the instructions of tensor cores: mma, wmma, ldmatrix, stmatrix, movmatrix ------ */

/* Takes the first word that is a type of elements. */
static bool take_element(struct words *words, enum element *element)
{
    static const char *const names[ELEMENTS] = {"f16", "bf16", "tf32", "f32", "f64", "e4m3", "e5m2",
                                                "s8",  "u8",   "s4",   "u4",  "b1",  "s32"};
    for (unsigned i = 1; i < words->source->word_count; i++)
        for (unsigned e = 0; e < ELEMENTS && !words->used[i]; e++)
            if (!strcmp(words->source->words[i], names[e])) {
                *element = (enum element)e;
                return words->used[i] = true;
            }
    return false;
}

/* Takes .row or .col, the first of those that are left. */
static bool take_layout(struct words *words, bool *by_columns)
{
    for (unsigned i = 1; i < words->source->word_count; i++) {
        const char *word = words->source->words[i];
        *by_columns = !strcmp(word, "col");
        if (!words->used[i] && (*by_columns || !strcmp(word, "row"))) return words->used[i] = true;
    }
    return false;
}

static void need(struct decoder *d, bool found, const char *what)
{
    if (!found) decode_fail(d, EMU_UNSUPPORTED_PTX, "it needs %s", what);
}

/* Fails in a text for a GPU that is older than the instruction, and on such a GPU. */
static void need_capability(struct decoder *d, unsigned since)
{
    need_target(d, since);
    if (d->capability < since)
        decode_fail(
            d, EMU_UNSUPPORTED_PTX,
            "GPUs have it from compute capability %u.%u on, and the emulated one has %u.%u; "
            "choose a newer GPU by emu --gpu",
            since / 10, since % 10, d->capability / 10, d->capability % 10);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* The elements of a and b that share shapes; SUM: those that only c and d have. */
enum kind { HALF, BRAIN, TENSOR, DOUBLE, EIGHTH, BYTE, NIBBLE, BIT, SUM };

static enum kind kind_of(enum element e)
{
    static const uint8_t kinds[ELEMENTS] = {HALF, BRAIN, TENSOR, SUM,    DOUBLE, EIGHTH, EIGHTH,
                                            BYTE, BYTE,  NIBBLE, NIBBLE, BIT,    SUM};
    return (enum kind)kinds[e];
}

struct matrix_shape {
    const char *name;
    uint16_t m, n, k;
    uint8_t kind, since; /* compute capability */
};

/* clang-format off */
static const struct matrix_shape mma_shapes[] = {
    {"m8n8k4", 8, 8, 4, HALF, 70},         {"m16n8k8", 16, 8, 8, HALF, 75},
    {"m16n8k16", 16, 8, 16, HALF, 80},     {"m16n8k8", 16, 8, 8, BRAIN, 80},
    {"m16n8k16", 16, 8, 16, BRAIN, 80},    {"m16n8k4", 16, 8, 4, TENSOR, 80},
    {"m16n8k8", 16, 8, 8, TENSOR, 80},     {"m8n8k4", 8, 8, 4, DOUBLE, 80},
    {"m16n8k4", 16, 8, 4, DOUBLE, 90},     {"m16n8k8", 16, 8, 8, DOUBLE, 90},
    {"m16n8k16", 16, 8, 16, DOUBLE, 90},   {"m16n8k32", 16, 8, 32, EIGHTH, 89},
    {"m8n8k16", 8, 8, 16, BYTE, 75},       {"m16n8k16", 16, 8, 16, BYTE, 80},
    {"m16n8k32", 16, 8, 32, BYTE, 80},     {"m8n8k32", 8, 8, 32, NIBBLE, 75},
    {"m16n8k32", 16, 8, 32, NIBBLE, 80},   {"m16n8k64", 16, 8, 64, NIBBLE, 80},
    {"m8n8k128", 8, 8, 128, BIT, 75},      {"m16n8k128", 16, 8, 128, BIT, 80},
    {"m16n8k256", 16, 8, 256, BIT, 80},
};
static const struct matrix_shape wmma_shapes[] = {
    {"m16n16k16", 16, 16, 16, HALF, 70},   {"m32n8k16", 32, 8, 16, HALF, 70},
    {"m8n32k16", 8, 32, 16, HALF, 70},     {"m16n16k16", 16, 16, 16, BRAIN, 80},
    {"m32n8k16", 32, 8, 16, BRAIN, 80},    {"m8n32k16", 8, 32, 16, BRAIN, 80},
    {"m16n16k8", 16, 16, 8, TENSOR, 80},   {"m8n8k4", 8, 8, 4, DOUBLE, 80},
    {"m16n16k16", 16, 16, 16, BYTE, 72},   {"m32n8k16", 32, 8, 16, BYTE, 72},
    {"m8n32k16", 8, 32, 16, BYTE, 72},     {"m8n8k32", 8, 8, 32, NIBBLE, 75},
    {"m8n8k128", 8, 8, 128, BIT, 75},
};
/* clang-format on */

/* Can products of this kind be added up in such elements? */
static bool adds_up(enum kind kind, enum element sum)
{
    switch (kind) {
    case HALF: return sum == ELEMENT_F16 || sum == ELEMENT_F32;
    case BRAIN:
    case TENSOR:
    case EIGHTH: return sum == ELEMENT_F32;
    case DOUBLE: return sum == ELEMENT_F64;
    default: return sum == ELEMENT_S32;
    }
}

/* The shape that the opcode names, for elements of a and b, or of c and d (`is_sum`). */
static const struct matrix_shape *take_shape(struct decoder *d, struct words *words, bool is_wmma,
                                             enum element e, bool is_sum)
{
    const struct matrix_shape *all = is_wmma ? wmma_shapes : mma_shapes;
    size_t count = is_wmma ? sizeof wmma_shapes / sizeof *all : sizeof mma_shapes / sizeof *all;
    for (size_t s = 0; s < count; s++)
        if ((is_sum ? adds_up(all[s].kind, e) : all[s].kind == kind_of(e)) &&
            take_word(words, all[s].name))
            return &all[s];
    bool is_wrong = is_sum && e != ELEMENT_F32; /* which ptxas loads in shapes of integers, too */
    decode_fail(d, is_wrong ? unknown_error(d) : EMU_UNSUPPORTED_PTX,
                "it has no such shape for elements of this type");
}

/* ---- fragments ------------------------------------------------------------------------------- */

/* The registers of a fragment. For an a or b of f16 wmma always has 8: if the elements fill fewer,
 * the others hold them again. */
static unsigned registers_of(const struct matrix_fragment *f)
{
    enum { WORD = 32 };
    unsigned bits = element_bits((enum element)f->element), size = bits == 64 ? 64 : WORD;
    unsigned elements = (unsigned)f->rows * f->columns;
    if (f->distribution == DISTRIBUTION_WMMA && f->use != USE_C && f->element == ELEMENT_F16)
        return MOST_FRAGMENT_REGISTERS;
    if (f->distribution == DISTRIBUTION_QUADS)
        return f->use != USE_C ? 2 : f->element == ELEMENT_F16 ? 4 : 8;
    return elements * bits / size / WARP;
}

static void make_fragment(struct matrix_fragment *f, const struct matrix_shape *shape,
                          enum matrix_use use, enum element element,
                          enum fragment_order distribution, bool by_columns)
{
    f->use = (uint8_t)use;
    f->element = (uint8_t)element;
    f->distribution = (uint8_t)distribution;
    f->by_columns = by_columns;
    f->rows = use == USE_B ? shape->k : shape->m;
    f->columns = use == USE_A ? shape->k : shape->n;
    f->registers = (uint8_t)registers_of(f);
}

/* May a register of this type hold a part of the fragment? As ptxas has it, which takes any 32 bits
 * for the small elements of mma, and for others what has their kind of number. */
static bool holds(const struct matrix_fragment *f, enum ptx_type type)
{
    bool is_small = element_bits((enum element)f->element) <= 8;
    bool is_wmma = f->distribution == DISTRIBUTION_WMMA;
    switch (type) {
    case PTX_B32: return true;
    case PTX_U32:
    case PTX_S32: return f->element == ELEMENT_S32 || is_small;
    case PTX_F32: return f->element == ELEMENT_F32 || (is_small && !is_wmma);
    case PTX_F16X2:
        return f->element == ELEMENT_F16 || (is_small && !is_wmma) ||
               (is_wmma && (f->element == ELEMENT_BF16 || f->element == ELEMENT_TF32));
    default: return f->element == ELEMENT_F64 && ptx_type_size(type) == sizeof(double);
    }
}

/* May a constant stand for registers? */
static bool takes_constants(const struct matrix_fragment *f)
{
    bool is_small = element_bits((enum element)f->element) <= 8;
    return f->element == ELEMENT_F32 || f->element == ELEMENT_F64 || f->element == ELEMENT_S32 ||
           (is_small && f->distribution == DISTRIBUTION_WMMA);
}

static void check_type(struct decoder *d, const struct matrix_fragment *f,
                       const struct ptx_operand *operand)
{
    if (operand->kind != PTX_REGISTER) {
        if (operand->kind != PTX_SINK && !takes_constants(f))
            decode_fail(d, EMU_INVALID_PTX, "a fragment of these elements needs registers");
        return;
    }
    const struct ptx_register *reg = &d->function->registers[operand->index];
    if (!holds(f, reg->type))
        decode_fail(d, EMU_INVALID_PTX, "register %s is of type .%s, which does not fit here",
                    reg->name, ptx_type_name(reg->type));
}

/* Takes the registers of a fragment. */
static void take_registers(struct decoder *d, struct ptx_operand *const *registers, unsigned count,
                           bool are_results, struct matrix_fragment *f)
{
    unsigned lane_bytes = f->element == ELEMENT_F64 ? 8 : 4;
    if (count != f->registers)
        decode_fail(d, EMU_INVALID_PTX, "%u registers, but a fragment has %u", count, f->registers);
    for (unsigned k = 0; k < count; k++) {
        f->slot[k] = are_results ? destination_slot(d, registers[k], lane_bytes)
                                 : source_slot(d, registers[k], lane_bytes);
        check_type(d, f, registers[k]);
    }
}

static void take_fragment(struct decoder *d, struct ptx_operand *operand, bool are_results,
                          struct matrix_fragment *f)
{
    if (operand->kind != PTX_VECTOR)
        decode_fail(d, EMU_INVALID_PTX, "a fragment's registers stand in { }");
    take_registers(d, operand->items, operand->count, are_results, f);
}

/* All lanes of the warp come to the instruction together. */
static struct matrix_insn *begin(struct decoder *d, struct words *words, struct insn *i)
{
    struct matrix_insn *m = decode_take(d, sizeof *m);
    need(d, take_word(words, "sync") && take_word(words, "aligned"), ".sync.aligned");
    i->family = FAMILY_MATRIX;
    i->control = CONTROL_MEMBER_MASK;
    i->warp.members = constant_slot(d, ALL_LANES, 4);
    i->warp.predicate = NO_SLOT;
    i->matrix = m;
    m->stride = NO_SLOT;
    m->address.base = NO_SLOT;
    return m;
}

/* ---- products -------------------------------------------------------------------------------- */

/* Takes the types of d, a, b and c. Those of a and b are not written where both are f16. */
static void take_elements(struct decoder *d, struct words *words, bool is_wmma,
                          enum element element[4])
{
    unsigned count = 0;
    while (count < 4 && take_element(words, &element[count])) count++;
    if (is_wmma && count == 2) {
        element[3] = element[1];
        element[1] = element[2] = ELEMENT_F16;
        count = 4;
    }
    need(d, count == 4, "the types of d, a, b and c");
}

/* Do these types go together? */
static bool fit_together(enum fragment_order distribution, const enum element e[4])
{
    enum kind kind = kind_of(e[1]);
    bool can_mix = distribution != DISTRIBUTION_MMA;
    bool are_equal = e[1] == e[2] || kind == BYTE || kind == NIBBLE || kind == EIGHTH;
    if (kind != kind_of(e[2]) || !are_equal) return false;
    if (distribution == DISTRIBUTION_QUADS && e[3] == ELEMENT_F32 && e[0] != e[3]) return false;
    return (e[0] == e[3] || can_mix) && adds_up(kind, e[0]) && adds_up(kind, e[3]);
}

static void take_rounding(struct words *words, struct matrix_insn *m)
{
    m->rounding = take_word(words, "rz")   ? FE_TOWARDZERO
                  : take_word(words, "rm") ? FE_DOWNWARD
                  : take_word(words, "rp") ? FE_UPWARD
                                           : FE_TONEAREST;
    take_word(words, "rn");
}

/* What only single bits have: .xor or .and, and .popc. */
static void take_bit_operation(struct decoder *d, struct words *words, struct matrix_insn *m)
{
    m->is_and = take_word(words, "and");
    need(d, (m->is_and || take_word(words, "xor")) && take_word(words, "popc"),
         ".xor.popc or .and.popc");
    if (m->is_and) need_capability(d, 80);
}

/* mma.sync.aligned.shape.row.col{.satfinite}.types d, a, b, c, and wmma.mma.… */
static void decode_product(struct decoder *d, const struct ptx_instruction *source, struct insn *i,
                           bool is_wmma)
{
    struct words words = all_words(source);
    struct matrix_insn *m = begin(d, &words, i);
    enum element e[4];
    bool a_columns, b_columns;
    if (is_wmma) take_word(&words, "mma");
    need(d, take_layout(&words, &a_columns) && take_layout(&words, &b_columns),
         "the layouts of a and b");
    take_elements(d, &words, is_wmma, e);
    const struct matrix_shape *shape = take_shape(d, &words, is_wmma, e[1], false);
    bool quads = !is_wmma && shape->k == 4 && kind_of(e[1]) == HALF;
    enum fragment_order how = is_wmma ? DISTRIBUTION_WMMA
                              : quads ? DISTRIBUTION_QUADS
                                      : DISTRIBUTION_MMA;
    need_capability(d, shape->since);
    bool only_row_col = how == DISTRIBUTION_MMA || kind_of(e[1]) == NIBBLE || kind_of(e[1]) == BIT;
    need(d, !only_row_col || (!a_columns && b_columns), ".row.col for this shape and type");
    need(d, fit_together(how, e), "types that go together");
    if (e[0] == ELEMENT_F64) take_rounding(&words, m);
    if (e[1] == ELEMENT_B1) take_bit_operation(d, &words, m);
    m->saturates = e[0] == ELEMENT_S32 && take_word(&words, "satfinite");
    refuse_rest(d, &words);
    need_operands(d, source, 4, 4);
    m->k = shape->k;
    make_fragment(&m->d, shape, USE_C, e[0], how, false);
    make_fragment(&m->a, shape, USE_A, e[1], how, a_columns);
    make_fragment(&m->b, shape, USE_B, e[2], how, b_columns);
    make_fragment(&m->c, shape, USE_C, e[3], how, false);
    take_fragment(d, &source->operands[0], true, &m->d);
    take_fragment(d, &source->operands[1], false, &m->a);
    take_fragment(d, &source->operands[2], false, &m->b);
    take_fragment(d, &source->operands[3], false, &m->c);
    i->fn = op_matrix_product;
}

/* ---- moves ----------------------------------------------------------------------------------- */

/* Notes which accesses ptxas makes of a load or store of wmma. The elements of a register, or of
 * two registers of c, are neighbours in a row, but of b, and of c in a product of 32 columns, in a
 * column. A matrix of 16-bit elements that memory has the other way round is transposed after its
 * loads (MOVM). */
static void note_accesses(struct matrix_insn *m)
{
    enum { WIDE = 32, BYTE = 8, HALF_WORD = 16, WORD_BYTES = 4, ROW_BYTES = 16, MOST_ROWS = 4 };
    const struct matrix_fragment *f = &m->d;
    bool is_column = f->use == USE_B || (f->use == USE_C && f->columns == WIDE);
    unsigned bits = element_bits((enum element)f->element), size = bits > 32 ? 8 : WORD_BYTES;
    unsigned own = (unsigned)f->rows * f->columns * bits / BYTE / WARP / size, bytes = size;
    m->is_own = f->by_columns == is_column;
    m->is_transposed = !m->is_own;
    bool has_rows = bits == HALF_WORD || (bits <= BYTE && m->is_own);
    m->moves_rows = m->address.space == PTX_SHARED && f->use != USE_C && has_rows;
    if (m->moves_rows)
        bytes = ROW_BYTES;
    else if (f->use == USE_C && bits > HALF_WORD)
        bytes = m->is_own ? 2 * size : size;
    else if (bits == BYTE && !m->is_own)
        bytes = 1;
    m->access_bytes = (uint8_t)bytes;
    m->accesses = (uint8_t)(m->moves_rows ? (own + MOST_ROWS - 1) / MOST_ROWS : own * size / bytes);
}

/* wmma.load.{a|b|c}.sync.aligned.layout.shape{.space}.type r, [p]{, stride}, and
 * wmma.store.d.… [p], r{, stride} */
static void decode_wmma_move(struct decoder *d, const struct ptx_instruction *source,
                             struct insn *i, bool stores)
{
    struct words words = all_words(source);
    struct matrix_insn *m = begin(d, &words, i);
    enum element element = ELEMENTS;
    bool by_columns = false;
    take_word(&words, stores ? "store" : "load");
    enum matrix_use use = take_word(&words, "a") ? USE_A : take_word(&words, "b") ? USE_B : USE_C;
    if (use == USE_C) need(d, take_word(&words, stores ? "d" : "c"), "a matrix: a, b, c or d");
    enum ptx_space space = take_space(&words);
    need(d, take_layout(&words, &by_columns) && take_element(&words, &element),
         "a layout and a type");
    const struct matrix_shape *shape = take_shape(d, &words, true, element, use == USE_C);
    refuse_rest(d, &words);
    bool is_small = use != USE_C && (kind_of(element) == NIBBLE || kind_of(element) == BIT);
    if (is_small && by_columns != (use == USE_B))
        decode_fail(d, EMU_INVALID_PTX, "of this type, a is .row and b is .col");
    need_capability(d, shape->since);
    need_operands(d, source, 2, 3);
    make_fragment(&m->d, shape, use, element, DISTRIBUTION_WMMA, by_columns);
    take_fragment(d, &source->operands[stores ? 1 : 0], !stores, &m->d);
    m->address = address_operand(d, &source->operands[stores ? 0 : 1], space);
    if (source->operand_count == 3) m->stride = source_slot(d, &source->operands[2], 4);
    m->stores = stores;
    note_accesses(m);
    i->fn = op_matrix_access;
}

static void decode_wmma(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    bool loads = has_word(source, "load"), stores = has_word(source, "store");
    if (loads || stores)
        decode_wmma_move(d, source, i, stores);
    else
        decode_product(d, source, i, true);
}

/* Rows of elements whose type only their size counts for. */
static void make_rows(struct matrix_fragment *f, unsigned registers)
{
    f->element = ELEMENT_B1; /* any 32-bit register holds it */
    f->registers = (uint8_t)registers;
}

/* ldmatrix.sync.aligned.m8n8.num{.trans}{.space}.b16 r, [p], and stmatrix.… [p], r */
static void decode_rows(struct decoder *d, const struct ptx_instruction *source, struct insn *i,
                        bool stores)
{
    struct words words = all_words(source);
    struct matrix_insn *m = begin(d, &words, i);
    need_capability(d, stores ? 90 : 75);
    unsigned count = take_word(&words, "x1") ? 1 : take_word(&words, "x2") ? 2 : 4;
    if (count == 4) need(d, take_word(&words, "x4"), ".x1, .x2 or .x4");
    m->is_transposed = take_word(&words, "trans");
    m->stores = stores;
    enum ptx_space space = take_space(&words);
    need(d, take_word(&words, "m8n8") && take_word(&words, "b16"), ".m8n8 and .b16");
    need(d, space == PTX_SHARED || space == PTX_GENERIC, "an address in .shared");
    refuse_rest(d, &words);
    need_operands(d, source, 2, 2);
    make_rows(&m->d, count);
    take_fragment(d, &source->operands[stores ? 1 : 0], !stores, &m->d);
    m->address = address_operand(d, &source->operands[stores ? 0 : 1], space);
    m->moves_rows = true;
    m->access_bytes = 16;
    m->accesses = 1;
    i->fn = op_matrix_rows;
}

/* movmatrix.sync.aligned.m8n8.trans.b16 d, a */
static void decode_transpose(struct decoder *d, const struct ptx_instruction *source,
                             struct insn *i)
{
    struct words words = all_words(source);
    struct matrix_insn *m = begin(d, &words, i);
    need_capability(d, 75);
    need(d, take_word(&words, "m8n8") && take_word(&words, "trans") && take_word(&words, "b16"),
         ".m8n8.trans.b16");
    refuse_rest(d, &words);
    need_operands(d, source, 2, 2);
    make_rows(&m->d, 1);
    make_rows(&m->a, 1);
    struct ptx_operand *to = &source->operands[0], *from = &source->operands[1];
    take_registers(d, &to, 1, true, &m->d);
    take_registers(d, &from, 1, false, &m->a);
    i->fn = op_matrix_transpose;
}

void decode_matrix(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    const char *opcode = source->words[0];
    if (!strcmp(opcode, "mma"))
        decode_product(d, source, i, false);
    else if (!strcmp(opcode, "wmma"))
        decode_wmma(d, source, i);
    else if (!strcmp(opcode, "movmatrix"))
        decode_transpose(d, source, i);
    else
        decode_rows(d, source, i, !strcmp(opcode, "stmatrix"));
}

/* ---- bulk copies of tensors ------------------------------------------------------------------ */

/* Bulk copies of tensors (TMA with a tensor map): decodes what other bulk copies
 * do not have. The rest is in decode_copy.c. */

/* All modes but .tile have further operands. */
static void refuse_modes(struct decoder *d, const struct ptx_instruction *source)
{
    static const char *const modes[] = {"im2col", "tile::"};
    for (unsigned n = 1; n < source->word_count; n++)
        for (size_t k = 0; k < sizeof modes / sizeof *modes; k++)
            if (!strncmp(source->words[n], modes[k], strlen(modes[k])))
                decode_fail(d, EMU_UNSUPPORTED_PTX,
                            "the emulator has no copies of tensors by .%s; copy tiles (.tile) "
                            "instead",
                            source->words[n]);
}

/* The operand [tensor map, {coordinates}]: the first one, or the second if the first is an address
 * of shared memory. */
static const struct ptx_operand *map_operand(struct decoder *d,
                                             const struct ptx_instruction *source)
{
    for (unsigned n = 0; n < 2 && n < source->operand_count; n++) {
        const struct ptx_operand *operand = &source->operands[n];
        const struct ptx_operand *base = operand->kind == PTX_ADDRESS ? operand->base : NULL;
        if (base && base->other && !operand->offset &&
            (base->kind == PTX_REGISTER || base->kind == PTX_SYMBOL))
            return operand;
    }
    decode_fail(d, EMU_INVALID_PTX, "[tensor map, {coordinates}] is missing");
}

void take_tensor(struct decoder *d, struct words *words, struct insn *i)
{
    static const char *const ranks[] = {"1d", "2d", "3d", "4d", "5d"};
    const struct ptx_instruction *source = words->source;
    refuse_modes(d, source);
    take_word(words, "tensor");
    take_word(words, "tile");
    for (unsigned k = 0; k < sizeof ranks / sizeof *ranks; k++)
        if (take_word(words, ranks[k])) i->bulk.rank = (uint8_t)(k + 1);
    const struct ptx_operand *all = map_operand(d, source)->base->other;
    check_operand(d, all, PTX_S32, false);
    if (!i->bulk.rank || all->kind != PTX_VECTOR || all->count != i->bulk.rank)
        decode_fail(d, EMU_INVALID_PTX, "it is .1d to .5d, with a coordinate for each dimension");
    slot *coordinates = decode_take(d, all->count * sizeof *coordinates);
    for (unsigned k = 0; k < all->count; k++) coordinates[k] = source_slot(d, all->items[k], 4);
    i->bulk.coordinates = coordinates;
    if (strcmp(source->words[1], "reduce")) return;
    take_atomic_operation(d, words, i);
    if (i->atomic.operation == ATOMIC_EXCHANGE || i->atomic.operation == ATOMIC_CAS)
        decode_fail(d, EMU_INVALID_PTX, "it does not exchange");
    i->element_bytes = 1; /* what a record counts as an element: see event_bulk_issued() */
}

/* cp.async.bulk.prefetch.tensor.dim.L2.global{.tile}{.L2::cache_hint} [map, {…}]{, policy} */
void decode_tensor_prefetch(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    static const char *const others[] = {"async",  "bulk", "prefetch",       "L2",
                                         "global", "tile", "L2::cache_hint", NULL};
    struct words words = all_words(source);
    unsigned operands = has_word(source, "L2::cache_hint") ? 2 : 1;
    drop_words(&words, others);
    take_tensor(d, &words, i);
    refuse_rest(d, &words);
    need_operands(d, source, operands, operands);
    i->family = FAMILY_BULK;
    i->bulk.to = address_operand(d, map_operand(d, source), PTX_GLOBAL);
    i->bulk.blocks = NO_SLOT;
    i->fn = op_tensor_prefetch;
}

/* prefetch{.space}{.level} [a] has no effect. prefetch.tensormap [a], with a generic address,
 * checks the map. */
void decode_prefetch(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    if (source->word_count != 2 || strcmp(source->words[1], "tensormap")) {
        decode_nothing(d, source, i);
        return;
    }
    need_operands(d, source, 1, 1);
    i->family = FAMILY_BULK;
    i->bulk.to = address_operand(d, &source->operands[0], PTX_GLOBAL);
    need_long_address(d, &i->bulk.to);
    i->bulk.blocks = NO_SLOT;
    i->fn = op_tensor_prefetch;
}
