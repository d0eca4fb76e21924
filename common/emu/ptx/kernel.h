/*
 * kernel.h — a kernel's decoded code: its instructions, the functions that it calls, its source
 * lines, and the sizes that a launch needs.
 */
#ifndef EMU_KERNEL_H
#define EMU_KERNEL_H

#include "insn.h"

/* A special register that keeps one value for the whole life of a warp. The machine writes its
 * value into a register when the warp starts. */
struct special {
    uint8_t which, lane_bytes; /* 0: a predicate */
    slot slot;
    uint64_t offset; /* for SPECIAL_SHARED_ADDRESS */
};

#define NOT_LOCAL UINT32_MAX

struct kernel_kinds;

/* A function of the module as part of one kernel's code. Its parameters, its results and the .param
 * variables of its calls lie in one area of the frame, which has area_bytes bytes per lane. */
struct callee {
    const struct ptx_function *function;
    uint32_t entry; /* index of its first instruction */
    size_t register_bytes, area_bytes, local_bytes;
    unsigned params;
    const unsigned *param_offset, *param_size;
    unsigned result_offset, result_size; /* size 0: no result */
    slot local_base; /* 64-bit register: start of its local memory; NO_SLOT: unused */
    slot stack_top;  /* 64-bit register: the place of the next alloca; NO_SLOT: unused */
    /* The offset in local memory of each parameter whose address is taken; NOT_LOCAL for the
     * others. */
    const unsigned *param_local;
    /* The emulator's own code for a function that PTX only declares (operations_builtin.c); else
     * NULL. */
    void (*builtin)(struct warp *, const struct insn *, uint32_t mask);
};

/* A call: the places of the arguments and of the result in the caller's area. */
struct call {
    const struct callee *callee; /* NULL: the call is by address */
    slot address;                /* 64-bit register that holds that address */
    unsigned arguments;
    const unsigned *argument_offset, *argument_size;
    unsigned result_offset, result_size; /* size 0: the result is not used */
};

struct source_line {
    unsigned file, line;
};

struct emu_kernel {
    struct emu_kernel_info info; /* must be first: see emu_kernel_info() */
    struct emu_module *module;
    const struct ptx_function *function;
    struct insn *code; /* the last instruction is an exit */
    size_t code_count;
    size_t register_bytes, area_bytes, special_bytes; /* of one warp; area_bytes: of a lane */
    size_t function_count;
    const struct callee *
        *callees;       /* by the function's index in the module; NULL: not in this code */
    size_t stack_bytes; /* local memory per thread, for all frames together */
    slot stack_top;     /* as in struct callee */
    bool uses_heap;     /* it may call malloc or free */
    bool uses_runtime;  /* it may call functions of the CUDA runtime */
    size_t most_dynamic_shared; /* bytes that a launch may ask for; 0: the default */
    uint8_t *constants;
    size_t constant_bytes;
    struct special *specials;
    size_t special_count;
    bool reads_reserved; /* the kernel reads the address of the system's shared memory */
    struct source_line *lines;
    size_t line_count;
    size_t param_bytes, dynamic_shared_offset;
    const struct emu_agreement *agreement; /* with the machine code; NULL: not compared yet */
    struct kernel_kinds *work; /* what its instructions are (watch/work.h); NULL: not asked yet */
    struct emu_kernel *next;
};

#endif
