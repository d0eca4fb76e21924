/* place.c — which lane holds which element of a matrix (PTX ISA, "matrix fragments for mma.…"). The
 * fragments of wmma, which PTX leaves open, are those of an H200. */
#include "matrix_ops.h"

enum { WORD = 32, GROUP = 4, TILE = 8 }; /* bits; lanes of a row of a; rows of a tile */

/* The bits of what a register holds one or more of. */
static unsigned part_bits(const struct matrix_fragment *f)
{
    return f->element == ELEMENT_B1 ? WORD : element_bits((enum element)f->element);
}

unsigned elements_of_register(const struct matrix_fragment *f)
{
    unsigned bits = part_bits(f);
    return bits < WORD ? WORD / bits : 1;
}

/* The registers that a fragment takes. */
static unsigned own_registers(const struct matrix_fragment *f)
{
    unsigned bits = part_bits(f), size = bits > WORD ? bits : WORD;
    unsigned parts = f->element == ELEMENT_B1 ? WORD : 1; /* elements of a part */
    return (unsigned)f->rows * f->columns / parts * bits / size / WARP;
}

/* Of a, and of b if rows and columns are exchanged: `step` is the number of a register of the same
 * eight rows. */
static struct place along_k(unsigned lane, unsigned step, unsigned parts, unsigned part)
{
    return (struct place){lane / GROUP, (lane % GROUP + step * GROUP) * parts + part};
}

/* Of c: each lane has two neighbours of a row. */
static struct place pair_of_row(unsigned lane, unsigned tile, unsigned part)
{
    return (struct place){lane / GROUP + tile * TILE, lane % GROUP * 2 + part};
}

static struct place transposed(struct place s) { return (struct place){s.column, s.row}; }

/* Of a matrix with 8 or 16 rows. */
static struct place spot_of_a(unsigned rows, unsigned parts, unsigned lane, unsigned reg,
                              unsigned part)
{
    unsigned tiles = rows / TILE;
    struct place spot = along_k(lane, reg / tiles, parts, part);
    spot.row += reg % tiles * TILE;
    return spot;
}

/* A matrix of eight columns. */
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

/* Lanes 4q to 4q + 3 and 4q + 16 to 4q + 19 form the product q of four. */
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

/* Fragments of mma, tiles: those of a below each other, with up to 16 rows each; those of b and c
 * side by side, with 8 columns each, or of a tall c below each other. A product of 32 columns is
 * carried out with a and b exchanged. */
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
    unsigned each = own_registers(&tile), all = own_registers(f), at = reg % all; /* some repeat */
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
