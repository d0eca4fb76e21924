/* matrix_move.c — moves matrices: which lane holds which element. */
#include "ops.h"
#include "common/tools/emu/machine/events.h"

/* ---- which lane holds which element of a matrix (PTX ISA, "matrix fragments for mma.…") ------ */

/* The fragments of wmma, which PTX leaves open, are those of an H200. */

enum { WORD = 32, GROUP = 4, TILE = 8 }; /* bits; lanes of a row of a; rows of a tile */

/* A register holds one part or several: elements, or a word of single bits. The bits of a part. */
static unsigned part_bits(const struct matrix_fragment *f)
{
    return f->element == ELEMENT_B1 ? WORD : element_bits((enum element)f->element);
}

unsigned elements_of_register(const struct matrix_fragment *f)
{
    unsigned bits = part_bits(f);
    return bits < WORD ? WORD / bits : 1;
}

/* How many registers a fragment needs, if it holds no element twice. */
static unsigned own_registers(const struct matrix_fragment *f)
{
    unsigned bits = part_bits(f), size = bits > WORD ? bits : WORD;
    unsigned parts = f->element == ELEMENT_B1 ? WORD : 1; /* elements of a part */
    return (unsigned)f->rows * f->columns / parts * bits / size / WARP;
}

/* The place in eight rows of a, or in eight columns of b with rows and columns exchanged. `step`
 * counts the registers that hold these rows. */
static struct place along_k(unsigned lane, unsigned step, unsigned parts, unsigned part)
{
    return (struct place){lane / GROUP, (lane % GROUP + step * GROUP) * parts + part};
}

/* The place in c: each lane has two neighbours of a row. */
static struct place pair_of_row(unsigned lane, unsigned tile, unsigned part)
{
    return (struct place){lane / GROUP + tile * TILE, lane % GROUP * 2 + part};
}

static struct place transposed(struct place s) { return (struct place){s.column, s.row}; }

/* The place in an a of 8 or 16 rows. */
static struct place spot_of_a(unsigned rows, unsigned parts, unsigned lane, unsigned reg,
                              unsigned part)
{
    unsigned tiles = rows / TILE;
    struct place spot = along_k(lane, reg / tiles, parts, part);
    spot.row += reg % tiles * TILE;
    return spot;
}

/* The place in a c of eight columns. */
static struct place spot_of_c(unsigned parts, unsigned lane, unsigned reg, unsigned part)
{
    return parts == 2 ? pair_of_row(lane, reg, part) : pair_of_row(lane, reg / 2, reg % 2);
}

static struct place spot_of_mma(const struct matrix_fragment *f, unsigned lane, unsigned reg,
                                unsigned part)
{
    unsigned parts = elements_of_register(f);
    if (f->use == USE_A) return spot_of_a(f->rows, parts, lane, reg, part);
    if (f->use == USE_B) return transposed(along_k(lane, reg, parts, part));
    return spot_of_c(parts, lane, reg, part);
}

/* mma.m8n8k4 computes four products. Lanes 4q to 4q + 3 and 4q + 16 to 4q + 19 hold product q. */
static struct place spot_of_quads(const struct matrix_fragment *f, unsigned lane, unsigned reg,
                                  unsigned part)
{
    unsigned upper = lane / 16 * 4, own = lane % 4, element = reg * 2 + part;
    bool holds_k = f->use == USE_A ? !f->by_columns : f->by_columns;
    if (f->use == USE_C && f->element == ELEMENT_F32)
        return (struct place){(lane & 1) + (reg & 2) + upper, (reg & 4) + (lane & 2) + (reg & 1)};
    if (f->use == USE_C) return (struct place){own + upper, element};
    struct place of_a =
        holds_k ? (struct place){own + upper, element} : (struct place){element + upper, own};
    return f->use == USE_A ? of_a : transposed(of_a);
}

/* A fragment of wmma consists of tiles, which are fragments of mma. The tiles of a, with up to 16
 * rows each, lie below each other; those of b and c, with 8 columns each, side by side; those of a
 * tall c below each other. If b and c have 32 columns, the transposed product is computed. */
static struct place spot_of_wmma(const struct matrix_fragment *f, unsigned lane, unsigned reg,
                                 unsigned part)
{
    enum { TALL = 16, WIDE = 32 };
    if (f->use != USE_A && f->columns == WIDE) {
        struct matrix_fragment exchanged = *f;
        exchanged.use = f->use == USE_B ? USE_A : USE_C;
        exchanged.rows = f->columns, exchanged.columns = f->rows;
        return transposed(spot_of_wmma(&exchanged, lane, reg, part));
    }
    bool is_below = f->use == USE_A || (f->use == USE_C && f->rows > TALL);
    struct matrix_fragment tile = *f;
    if (is_below && f->rows > TALL)
        tile.rows = TALL;
    else if (!is_below)
        tile.columns = TILE;
    unsigned each = own_registers(&tile), all = own_registers(f), at = reg % all; /* f16: twice */
    struct place spot = spot_of_mma(&tile, lane, at % each, part);
    if (is_below)
        spot.row += at / each * TALL;
    else
        spot.column += at / each * TILE;
    return spot;
}

struct place spot_of_element(const struct matrix_fragment *f, unsigned lane, unsigned reg,
                             unsigned part)
{
    switch ((enum fragment_order)f->distribution) {
    case DISTRIBUTION_MMA: return spot_of_mma(f, lane, reg, part);
    case DISTRIBUTION_WMMA: return spot_of_wmma(f, lane, reg, part);
    default: return spot_of_quads(f, lane, reg, part);
    }
}

/* ---- moves matrices between memory and registers --------------------------------------------- */

/* Moves matrices between memory and registers: ldmatrix, stmatrix, movmatrix, wmma.load and
 * wmma.store. Each access of memory passes the door, as those of other instructions do. */

/* The sizes of an 8x8 matrix of 16-bit elements. Each lane has a word of it. */
enum { ROWS = 8, ROW_BYTES = 16, WORD_BYTES = 4, LANES_OF_ROW = ROW_BYTES / WORD_BYTES };

bool has_all_lanes(struct warp *w, const struct insn *i, uint32_t mask)
{
    if (mask == ALL_LANES) return true;
    fault_arguments(w, i, __builtin_ctz(mask), EMU_LAUNCH_FAILURE,
                    "only lanes 0x%08x of the warp execute %s, which needs all 32", mask,
                    i->source->words[0]);
    return false;
}

/* Takes an access of the lanes in mask through the door. at[l] becomes the host's address of lane
 * l's bytes. Of a store, values + l * bytes are these bytes; NULL: of stmatrix. False: a fault. */
static bool enter(struct warp *w, const struct insn *i, uint32_t mask, unsigned bytes,
                  const uint64_t *address, const char *values, char **at)
{
    const struct matrix_insn *m = i->matrix;
    struct access access;
    while (mask) {
        access_make(&access, m->stores ? OPERATION_STORE : OPERATION_LOAD,
                    (enum ptx_space)m->address.space, mask, bytes);
        if (m->stores) access.stored = (struct stored_values){values, bytes};
        for (int l = 0; l < WARP; l++)
            access.address[l] = address[mask >> l & 1 ? l : __builtin_ctz(mask)];
        if (!access_door_any(w, i, &access)) return false;
        for (uint32_t left = access.mask; left; left &= left - 1) {
            int l = __builtin_ctz(left);
            at[l] = (char *)(uintptr_t)(access.host + access.address[l]);
        }
        mask &= ~access.mask;
    }
    if (m->stores) w->block->changed = true;
    return true;
}

/* ---- 8x8 matrices of 16-bit elements --------------------------------------------------------- */

/* Copies a matrix from its rows to a register of each lane, or the other way if it stores. */
static void move_matrix(const struct warp *w, slot s, char *const rows[ROWS], bool is_transposed,
                        bool stores)
{
    for (unsigned l = 0; l < WARP; l++)
        for (unsigned part = 0; part < 2; part++) {
            unsigned row = l / LANES_OF_ROW, column = l % LANES_OF_ROW * 2 + part;
            if (is_transposed) row = column, column = l / LANES_OF_ROW;
            char *there = rows[row] + column * sizeof(uint16_t);
            char *here = (char *)slot_at(w, s) + l * WORD_BYTES + part * sizeof(uint16_t);
            memcpy(stores ? there : here, stores ? here : there, sizeof(uint16_t));
        }
}

/* Moves matrices. Lanes 8k to 8k + 7 have the addresses of the rows of matrix k. */
static bool move_rows(struct warp *w, const struct insn *i, const uint64_t *address,
                      const slot *slots, unsigned count, bool is_transposed)
{
    char *at[WARP];
    if (!enter(w, i, ALL_LANES >> (WARP - ROWS * count), ROW_BYTES, address, NULL, at))
        return false;
    for (unsigned k = 0; k < count; k++)
        move_matrix(w, slots[k], at + k * ROWS, is_transposed, i->matrix->stores);
    return true;
}

/* Rows are in shared memory, also where a generic address says where. False: a fault, and the error
 * is that of an H200. */
static bool are_shared(struct warp *w, const struct insn *i, const uint64_t *address)
{
    const struct matrix_insn *m = i->matrix;
    if (m->address.space != PTX_GENERIC) return true;
    for (int l = 0; l < ROWS * m->d.registers; l++)
        if (address[l] - SHARED_WINDOW >= WINDOW_BYTES) {
            fault_arguments(w, i, l, EMU_ILLEGAL_INSTRUCTION,
                            "generic address 0x%llx is not in shared memory, as that of a row in "
                            "%s must be",
                            (unsigned long long)address[l], i->source->words[0]);
            return false;
        }
    return true;
}

void op_matrix_rows(struct warp *w, const struct insn *i, uint32_t mask)
{
    const struct matrix_insn *m = i->matrix;
    uint64_t address[WARP];
    if (!has_all_lanes(w, i, mask)) return;
    for (int l = 0; l < WARP; l++) address[l] = address_of(w, &m->address, l);
    if (!are_shared(w, i, address)) return;
    move_rows(w, i, address, m->d.slot, m->d.registers, m->is_transposed);
}

void op_matrix_transpose(struct warp *w, const struct insn *i, uint32_t mask)
{
    const struct matrix_insn *m = i->matrix;
    char from[WARP * WORD_BYTES], *rows[ROWS];
    if (!has_all_lanes(w, i, mask)) return;
    memcpy(from, slot_at(w, m->a.slot[0]), sizeof from);
    for (unsigned r = 0; r < ROWS; r++) rows[r] = from + r * ROW_BYTES;
    move_matrix(w, m->d.slot[0], rows, true, false);
}

/* ---- wmma: the accesses that ptxas makes of a load or store ---------------------------------- */

/* The distance of neighbouring rows, or with .col of neighbouring columns, in elements. */
static uint64_t stride_of(const struct warp *w, const struct matrix_insn *m, unsigned lane)
{
    if (m->stride != NO_SLOT) return ((const uint32_t *)slot_at(w, m->stride))[lane];
    return m->d.by_columns ? m->d.rows : m->d.columns;
}

/* The address of a part of a register. */
static uint64_t place_of(const struct warp *w, const struct matrix_insn *m, unsigned lane,
                         unsigned reg, unsigned part)
{
    struct place s = spot_of_element(&m->d, lane, reg, part);
    unsigned bits = element_bits((enum element)m->d.element);
    unsigned unit = m->d.element == ELEMENT_B1 ? 32 : 1; /* what a spot's column counts */
    uint64_t outer = m->d.by_columns ? s.column : s.row, inner = m->d.by_columns ? s.row : s.column;
    return address_of(w, &m->address, (int)lane) +
           (outer * stride_of(w, m, lane) + inner * unit) * bits / 8;
}

/* Each register holds an 8x8 matrix of 16-bit elements, or of pairs of bytes. Where a row of this
 * matrix begins in memory; a column, if memory holds columns where the register holds rows. */
static uint64_t row_of(const struct warp *w, const struct matrix_insn *m, unsigned reg,
                       unsigned row)
{
    return m->is_own ? place_of(w, m, row * LANES_OF_ROW, reg, 0)
                     : place_of(w, m, row / 2, reg, row % 2);
}

/* Loads what ptxas loads by LDSM, four registers at once. */
static bool load_rows(struct warp *w, const struct insn *i, unsigned registers)
{
    enum { AT_ONCE = WARP / ROWS };
    const struct matrix_insn *m = i->matrix;
    for (unsigned first = 0, count; first < registers; first += count) {
        uint64_t address[WARP];
        count = registers - first < AT_ONCE ? registers - first : AT_ONCE;
        for (unsigned l = 0; l < WARP; l++)
            address[l] = row_of(w, m, first + l / ROWS % count, l % ROWS);
        if (!move_rows(w, i, address, &m->d.slot[first], count, m->is_transposed)) return false;
    }
    return true;
}

/* Copies the lanes' bytes, which stand side by side, to memory or from it. */
static void copy_lanes(char *const at[WARP], char *values, unsigned bytes, bool stores)
{
    for (unsigned l = 0; l < WARP; l++, values += bytes)
        memcpy(stores ? at[l] : values, stores ? values : at[l], bytes);
}

/* Other fragments of 16-bit elements: an access of a word for each register. If memory holds
 * columns where the register holds rows, they are transposed, as by MOVM. */
static bool access_words(struct warp *w, const struct insn *i, unsigned registers)
{
    const struct matrix_insn *m = i->matrix;
    for (unsigned reg = 0; reg < registers; reg++) {
        uint64_t address[WARP];
        char *at[WARP], matrix[WARP * WORD_BYTES], *rows[ROWS];
        for (unsigned l = 0; l < WARP; l++)
            address[l] = row_of(w, m, reg, l / LANES_OF_ROW) + l % LANES_OF_ROW * WORD_BYTES;
        for (unsigned r = 0; r < ROWS; r++) rows[r] = matrix + r * ROW_BYTES;
        if (m->stores) move_matrix(w, m->d.slot[reg], rows, m->is_transposed, true);
        if (!enter(w, i, ALL_LANES, WORD_BYTES, address, matrix, at)) return false;
        copy_lanes(at, matrix, WORD_BYTES, m->stores);
        if (!m->stores) move_matrix(w, m->d.slot[reg], rows, m->is_transposed, false);
    }
    return true;
}

/* The bytes of one access of all lanes, side by side, from registers or to them: a part of a
 * register, or each of two registers. */
static void move_parts(const struct warp *w, const struct matrix_insn *m, unsigned reg,
                       unsigned part, unsigned pair, char *values)
{
    unsigned size = m->d.element == ELEMENT_F64 ? 8 : WORD_BYTES, bytes = m->access_bytes / pair;
    for (unsigned k = 0; k < WARP * pair; k++, values += bytes) {
        char *lanes = slot_at(w, m->d.slot[reg + k % pair]);
        char *here = lanes + k / pair * size + part * bytes;
        memcpy(m->stores ? values : here, m->stores ? here : values, bytes);
    }
}

/* All other fragments. An access moves a part of a register, a register, or two registers of c. */
static void access_elements(struct warp *w, const struct insn *i)
{
    enum { MOST_BYTES = 16 }; /* two doubles */
    const struct matrix_insn *m = i->matrix;
    unsigned size = m->d.element == ELEMENT_F64 ? 8 : WORD_BYTES;
    unsigned pair = m->access_bytes > size ? 2 : 1, pieces = size * pair / m->access_bytes;
    for (unsigned r = 0; r < m->d.registers; r += pair)
        for (unsigned p = 0; p < pieces; p++) {
            uint64_t address[WARP];
            char *at[WARP], values[WARP * MOST_BYTES];
            for (unsigned l = 0; l < WARP; l++) address[l] = place_of(w, m, l, r, p);
            if (m->stores) move_parts(w, m, r, p, pair, values);
            if (!enter(w, i, ALL_LANES, m->access_bytes, address, values, at)) return;
            copy_lanes(at, values, m->access_bytes, m->stores);
            if (!m->stores) move_parts(w, m, r, p, pair, values);
        }
}

/* f16 fragments of a and b hold each element twice. */
static void repeat_registers(const struct warp *w, const struct matrix_fragment *f, unsigned from)
{
    for (unsigned r = from; r < f->registers; r++)
        memcpy(slot_at(w, f->slot[r]), slot_at(w, f->slot[r % from]), SLOT_32);
}

/* The PTX ISA asks that the matrix and each of its rows begin at a multiple of the bytes that a
 * lane gets, the CUDA guide that rows are a multiple of 16 bytes apart. GPUs do not check that. A
 * row that is shorter may begin at a multiple of its length here. Otherwise tiles of 8 halves could
 * not stand side by side. */
static void check_alignment(struct warp *w, const struct insn *i)
{
    enum { MOST_FOR_ROWS = 16 };
    const struct matrix_insn *m = i->matrix;
    unsigned bits = element_bits((enum element)m->d.element);
    unsigned bytes = m->d.registers * (m->d.element == ELEMENT_F64 ? 8 : WORD_BYTES);
    unsigned length = (m->d.by_columns ? m->d.rows : m->d.columns) * bits / 8;
    if (length < bytes) bytes = length;
    unsigned for_rows = bytes < MOST_FOR_ROWS ? bytes : MOST_FOR_ROWS;
    uint64_t address = address_of(w, &m->address, 0), row = stride_of(w, m, 0) * bits / 8;
    if (address % bytes || row % for_rows)
        event_misaligned_matrix(w, i, &(struct misaligned_matrix){address, row, bytes, for_rows});
}

void op_matrix_access(struct warp *w, const struct insn *i, uint32_t mask)
{
    const struct matrix_insn *m = i->matrix;
    unsigned bits = element_bits((enum element)m->d.element);
    if (!has_all_lanes(w, i, mask)) return;
    check_alignment(w, i);
    if (bits != 16 && !m->moves_rows) {
        access_elements(w, i);
        return;
    }
    unsigned own = (unsigned)m->d.rows * m->d.columns * bits / 8 / (WARP * WORD_BYTES);
    bool done = m->moves_rows ? load_rows(w, i, own) : access_words(w, i, own);
    if (done && !m->stores) repeat_registers(w, &m->d, own);
}
