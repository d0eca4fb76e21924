/*
 * decode.h — what the parts of the decoder share.
 *
 *   decode.c           a kernel as a whole: layout of registers, memory, parameters; source lines
 *   decode_insn.c      one instruction, by the family its opcode belongs to: decode_arithmetic.c,
 *                      decode_memory.c, decode_control.c, decode_collective.c
 *   decode_words.c     an opcode's modifiers
 *   decode_operand.c   one operand: a register's slot, a constant's slot, an address
 *
 * An error jumps back to decode_kernel, as in the parser.
 */
#ifndef EMU_DECODE_H
#define EMU_DECODE_H

#include "module.h"
#include <setjmp.h>

struct constant {
    uint64_t value;
    uint8_t bytes;
    slot slot;
};

struct decoder {
    const struct emu_gpu *gpu;
    struct emu_module *module;
    const struct ptx_function *function;
    struct emu_kernel *kernel;
    const struct ptx_instruction *at; /* the instruction being decoded */

    slot *registers;     /* by PTX register index */
    uint8_t *lane_bytes; /* of each: 4, 8, 0 for a predicate */
    size_t register_bytes;

    struct constant *constants;
    size_t constant_count, constant_room, constant_bytes;
    struct special *specials;
    size_t special_count;
    slot special_slots[SPECIAL_REGISTERS];

    size_t *shared_offset;   /* of text.variables; SIZE_MAX: not used by this kernel */
    size_t *variable_offset; /* of function->variables */

    jmp_buf failed;
    int error;
    char *message;
    size_t size;
};

_Noreturn void decode_fail(struct decoder *, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void *decode_take(struct decoder *, size_t bytes);

/* ---- operands */

slot register_take(struct decoder *, unsigned lane_bytes); /* new lanes; 0: a predicate */
slot constant_slot(struct decoder *, uint64_t value, unsigned lane_bytes); /* 0: a predicate mask */
/* A source or destination that must have so many bytes a lane (0: a predicate). */
slot source_slot(struct decoder *, const struct ptx_operand *, unsigned lane_bytes);
slot destination_slot(struct decoder *, const struct ptx_operand *, unsigned lane_bytes);
/* A register's bytes a lane; 8 or 4 as asked for anything that is not a register. */
unsigned operand_lane_bytes(struct decoder *, const struct ptx_operand *, unsigned otherwise);
/* Sets i->a, i->offset, i->address_bytes from [base + offset]. */
void decode_address(struct decoder *, struct insn *, const struct ptx_operand *);
int64_t immediate(struct decoder *, const struct ptx_operand *);

/* ---- instructions */

void decode_instruction(struct decoder *, const struct ptx_instruction *, struct insn *);

#endif
