/*
 * kernel.h — a kernel's decoded code: its instructions, the functions that they call, its source
 * lines, and what a launch needs to know of it.
 */
#ifndef EMU_KERNEL_H
#define EMU_KERNEL_H

#include "insn.h"

/* Special registers that have one value for the whole life of a warp: they are registers, filled in
 * when the warp starts. */
struct special {
    uint8_t which, lane_bytes; /* 0: a predicate */
    slot slot;
    uint64_t offset; /* of SPECIAL_SHARED_ADDRESS */
};

#define NOT_LOCAL UINT32_MAX

/* A function of the module as one kernel's code holds it. Parameters, results and the .param
 * variables of its calls share one area in a frame: this number of bytes for each lane. */
struct callee {
    const struct ptx_function *function;
    uint32_t entry; /* index of its first instruction */
    size_t register_bytes, area_bytes, local_bytes;
    unsigned params;
    const unsigned *param_offset, *param_size;
    unsigned result_offset, result_size; /* size 0: no result */
    slot local_base; /* 64-bit register: where its local memory begins; NO_SLOT: unused */
    slot stack_top;  /* 64-bit register: where alloca goes on; NO_SLOT: unused */
    /* Parameters whose address is taken: where they are in its local memory; others: NOT_LOCAL. */
    const unsigned *param_local;
    /* A function that the emulator supplies (builtin.c): area offsets of arguments and result. */
    void (*builtin)(struct warp *, const struct insn *, uint32_t mask);
};

/* One call: where in the caller's area the arguments are, and where the result goes. */
struct call {
    const struct callee *callee; /* NULL: the function at an address */
    slot address;                /* 64-bit register that holds that address */
    unsigned arguments;
    const unsigned *argument_offset, *argument_size;
    unsigned result_offset, result_size; /* size 0: the result is not wanted */
};

struct source_line {
    unsigned file, line;
};

struct emu_kernel {
    struct emu_kernel_info info; /* first: emu_kernel_info() */
    struct emu_module *module;
    const struct ptx_function *function;
    struct insn *code; /* ends with an exit */
    size_t code_count;
    size_t register_bytes, area_bytes, special_bytes; /* of one warp; area_bytes: of a lane */
    size_t function_count;
    const struct callee *
        *callees;       /* by the function's index in the module; NULL: not in this code */
    size_t stack_bytes; /* local memory a thread, of all frames together */
    slot stack_top;     /* as of a callee */
    bool uses_heap;     /* it may call malloc or free */
    uint8_t *constants;
    size_t constant_bytes;
    struct special *specials;
    size_t special_count;
    bool reads_reserved; /* where the system's own shared memory is */
    struct source_line *lines;
    size_t line_count;
    size_t param_bytes, dynamic_shared_offset;
    const struct emu_agreement *agreement; /* with the machine code; NULL: not compared yet */
    struct emu_kernel *next;
};

#endif
