/* place.c — which lane holds which element of a matrix (PTX ISA, "matrix fragments for mma.…"). The
 * fragments of wmma, which PTX leaves open, are those of an H200. */
#include "matrix_ops.h"

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
