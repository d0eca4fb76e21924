/* module.h — a loaded module: its parsed text, the addresses of its variables, its decoded
 * kernels. */
#ifndef EMU_MODULE_H
#define EMU_MODULE_H

#include "arena.h"
#include "kernel.h"

struct machine_code; /* machine_code.c */

struct emu_module {
    struct ptx_text text;
    char *name;
    emu_addr *addresses;        /* by index in text.variables; 0 for all but .global and .const */
    struct emu_kernel *kernels; /* decoded so far */
    struct arena *arena;        /* holds the decoded kernels */
    struct machine_code *machine_code; /* what ptxas made of the text; NULL: unknown */
    bool never_fuses; /* ptxas made no fma of a product and a sum */
    struct emu_module *next;
};

/* The address of the function that a unit calls `name`, which is the same in every kernel of the
 * module. 0: the module has no such function. */
uint64_t module_function_address(const struct ptx_text *, unsigned unit, const char *name);

/*
 * Decodes one .entry of a module into module->arena. Returns 0, or an enum emu_error and one
 * sentence that names the instruction, the kernel, the PTX line and the source line. (decode.c)
 */
int decode_kernel(const struct emu_gpu *, struct emu_module *, const struct ptx_function *,
                  struct emu_kernel **kernel, char *message, size_t size);
/* Decodes a function that no kernel calls, to find what is wrong in it. Returns the same. */
int decode_function(const struct emu_gpu *, struct emu_module *, const struct ptx_function *,
                    char *message, size_t size);

#endif
