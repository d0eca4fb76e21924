/*
 * decode.h — what the parts of the decoder share.
 *
 *   decode.c           a kernel as a whole: layout of registers, memory, parameters; source lines
 *   decode_insn.c      one instruction, by the family its opcode belongs to: decode_arithmetic.c,
 *                      decode_memory.c, decode_control.c, decode_collective.c
 *   insn.h, insn.c     the decoded instruction: a union, with a member for each family
 *   decode_stack.c     alloca
 *   decode_words.c     an opcode's modifiers
 *   decode_function.c  which functions a kernel calls, and where variables are
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

/* A function that becomes part of the kernel's code: the kernel itself first, then all it may
 * call. */
struct body {
    const struct ptx_function *function;
    struct callee *callee;   /* NULL: the kernel itself */
    size_t *variable_offset; /* of function->variables, each in its space */
    uint32_t base;           /* index of the first instruction */
};

struct decoder {
    struct emu_module *module;
    const struct ptx_function *function;
    struct emu_kernel *kernel;
    struct callee *callee;   /* the function being decoded; NULL: the kernel itself */
    struct callee **callees; /* by index in the module, as kernel->callees */
    struct body *bodies;
    size_t body_count;
    uint32_t base; /* of the function being decoded */
    bool has_calls;
    const struct ptx_instruction *at; /* the instruction being decoded */

    slot *registers;     /* by PTX register index */
    uint8_t *lane_bytes; /* of each: 4, 8, 0 for a predicate */
    size_t register_bytes;

    struct constant *constants;
    size_t constant_count, constant_room, constant_bytes;
    struct special *specials;
    size_t special_count, special_room, special_bytes;

    size_t *shared_offset;         /* of text.variables; SIZE_MAX: not used by this kernel */
    const size_t *variable_offset; /* of function->variables */

    jmp_buf failed;
    int error;
    char *message;
    size_t size;
};

_Noreturn void decode_fail(struct decoder *, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void *decode_take(struct decoder *, size_t bytes);

size_t align_up(size_t value, size_t alignment);

/* ---- functions (decode_function.c) */

/* Fills d->bodies and the kernel's callees: what the kernel calls, directly or not; every function
 * of the module if it calls by pointer. */
void collect_bodies(struct decoder *);
/* Gives every variable its place: shared and local memory, the area for parameters. */
void lay_out_memory(struct decoder *);

/* ---- operands */

/* New lanes; 0: a predicate; 16: two slots of 64 bits, one behind the other. */
slot register_take(struct decoder *, unsigned lane_bytes);
slot constant_slot(struct decoder *, uint64_t value, unsigned lane_bytes); /* 0: a predicate mask */
/* The slot of a source or destination. It fails if a register is not of lane_bytes bytes a lane (0:
 * a predicate). */
slot source_slot(struct decoder *, const struct ptx_operand *, unsigned lane_bytes);
slot destination_slot(struct decoder *, const struct ptx_operand *, unsigned lane_bytes);
/* A predicate as a source, and whether it stands behind a "!". */
slot predicate_slot(struct decoder *, const struct ptx_operand *, bool *negated);
/* The predicate behind the | of a destination; NO_SLOT: there is none. */
slot second_destination_slot(struct decoder *, const struct ptx_operand *);
/* A register's bytes a lane; `otherwise` for an operand that is not a register. */
unsigned operand_lane_bytes(struct decoder *, const struct ptx_operand *, unsigned otherwise);
/* [base + offset], in a state space. */
struct address address_operand(struct decoder *, const struct ptx_operand *, enum ptx_space);
/* Does an operand name a parameter or result that lies in the frame's area? *bytes is its size. */
bool names_area(const struct decoder *, const struct ptx_operand *, size_t *bytes);
/* Fails if it does: such a parameter has no address. */
void refuse_area(struct decoder *, const struct ptx_operand *);
/* The 64-bit register that holds the address where the next alloca begins. */
slot stack_top(struct decoder *);
int64_t immediate(struct decoder *, const struct ptx_operand *);

/* ---- instructions */

void decode_instruction(struct decoder *, const struct ptx_instruction *, struct insn *);
/* Makes lanes meet before they jump back, in the decoded instructions from `from` to before `end`,
 * which are one function. (decode_control.c) */
void decode_rejoin(struct insn *code, size_t from, size_t end);

#endif
