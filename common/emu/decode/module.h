/* module.h — a loaded module: its parsed text, the addresses of its variables, its decoded
 * kernels. */
#ifndef EMU_MODULE_H
#define EMU_MODULE_H

#include "common/emu/ptx/arena.h"
#include "common/emu/binary/cubin.h"
#include "common/emu/machine/machine.h"

/* What ptxas made of a module's PTX (machine_code.c). */
struct machine_code {
    const void *data; /* NULL: there is none */
    size_t size;
    unsigned arch; /* 90 for sm_90 */
    bool opened;
    struct cubin cubin;  /* if opened */
    const char *problem; /* why it cannot be read; NULL: it can */
};

struct emu_module {
    struct ptx_text text;
    char *name;
    emu_addr *addresses;        /* of text.variables, 0 for those that are not .global or .const */
    struct emu_kernel *kernels; /* decoded so far */
    struct arena *arena;        /* holds the decoded kernels */
    struct machine_code machine_code;
    struct emu_module *next;
};

void machine_code_close(struct machine_code *);
/* As emu_agreement(); never NULL. */
const struct emu_agreement *kernel_agreement(struct emu_kernel *);

/* The address of a function as a unit names it: the same in every kernel of the module. 0: there is
 * none of that name. */
uint64_t module_function_address(const struct ptx_text *, unsigned unit, const char *name);
void module_free(struct emu_module *);

/*
 * Decodes one .entry of a module into module->arena. Returns 0 or an enum emu_error, with one
 * sentence that names the instruction, the kernel, the PTX line and the source line. (decode.c)
 */
int decode_kernel(const struct emu_gpu *, struct emu_module *, const struct ptx_function *,
                  struct emu_kernel **kernel, char *message, size_t size);

#endif
