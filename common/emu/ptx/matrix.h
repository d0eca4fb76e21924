/*
 * matrix.h — instructions of tensor cores, decoded: mma, wmma, ldmatrix, stmatrix, movmatrix.
 *
 * A warp holds a matrix in registers, a part in each lane: a fragment (PTX ISA, "matrix
 * fragments"). ops/ knows which lane holds which element.
 */
#ifndef EMU_MATRIX_H
#define EMU_MATRIX_H

#include "insn.h"

enum { MOST_FRAGMENT_REGISTERS = 8 };

enum element {
    ELEMENT_F16,
    ELEMENT_BF16,
    ELEMENT_TF32,
    ELEMENT_F32,
    ELEMENT_F64,
    ELEMENT_E4M3,
    ELEMENT_E5M2,
    ELEMENT_S8,
    ELEMENT_U8,
    ELEMENT_S4,
    ELEMENT_U4,
    ELEMENT_B1,
    ELEMENT_S32,
    ELEMENTS,
};

/* The place of a matrix in d = a·b + c. */
enum matrix_use { USE_A, USE_B, USE_C };

/* The rule by which elements are distributed. QUADS: of mma.m8n8k4, four products at once. */
enum fragment_order { DISTRIBUTION_MMA, DISTRIBUTION_WMMA, DISTRIBUTION_QUADS };

struct matrix_fragment {
    uint8_t use, element, distribution; /* enums of these names */
    bool by_columns;                    /* the layout that PTX names, .col */
    uint8_t registers;
    uint16_t rows, columns;
    slot slot[MOST_FRAGMENT_REGISTERS];
};

/* One instruction. A product has all fragments; a load or store of wmma has one, d. */
struct matrix_insn {
    uint16_t k;
    struct matrix_fragment a, b, c, d;
    bool saturates;         /* .satfinite */
    bool is_and;            /* of single bits: .and, not .xor */
    int rounding;           /* of doubles: FE_… of <fenv.h> */
    struct address address; /* of loads and stores; base is NO_SLOT: it accesses no memory */
    slot stride;            /* 32-bit register: elements from row to row, or column to column */
    bool is_transposed;     /* .trans; of wmma: not is_own */
    bool stores;
    /* It moves rows of 16 bytes of 8x8 matrices, of each register one: LDSM or STSM. ptxas also
     * makes it of some loads of wmma. */
    bool moves_rows;
    bool is_own; /* of wmma: memory has the elements of a register side by side */
    uint8_t access_bytes, accesses; /* of each access in the machine code, and their number */
};

/* The bits of an element. */
static inline unsigned element_bits(enum element e)
{
    static const uint8_t bits[ELEMENTS] = {16, 16, 32, 32, 64, 8, 8, 8, 8, 4, 4, 1, 32};
    return bits[e];
}

#endif
