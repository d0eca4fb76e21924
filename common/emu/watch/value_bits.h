/*
 * value_bits.h — which bits of an instruction's result may depend on a value, if these bits of its
 * operands do.
 *
 * Two words are often put into one register, such as a status above a sum. A test of the status
 * then does not depend on the sum. Shifts, masks, packing and comparisons with constants are
 * followed bit by bit. After any other instruction, all bits may depend on the value.
 */
#ifndef EMU_VALUE_BITS_H
#define EMU_VALUE_BITS_H

#include "common/emu/ptx/ptx.h"

#define ALL_BITS UINT64_MAX

/* `bits`, by register of the function: those that may depend on the value. */
struct value_bits {
    uint64_t *bits;
    const struct ptx_function *function;
};

/* Those of an operand. An address has none: the memory that a value points to is another value. */
uint64_t value_bits_of(const struct value_bits *, const struct ptx_operand *);
/* Those of an instruction's first operand, its result. */
uint64_t value_bits_result(const struct value_bits *, const struct ptx_instruction *);
/* The bits that a load or an atomic fills in each of its results. */
uint64_t value_bits_loaded(const struct ptx_instruction *);
/* Adds bits to those of an operand. If it is a vector, `each` adds them to each part, and otherwise
 * the vector's parts share them. Have they become more? */
bool value_bits_add(struct value_bits *, const struct ptx_operand *, uint64_t bits, bool each);

#endif
