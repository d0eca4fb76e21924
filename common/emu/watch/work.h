/*
 * work.h — what work an instruction is: its operation, type and class, by PTX's words.
 *
 * Nothing is counted here. An instruction's kind is found once for each kernel, when the kernel is
 * first counted; a launch's numbers are then sums over its instructions (records.c). So a kernel
 * cannot hide its work in an operation that has not been thought of: an opcode that is not in the
 * table of classes is still a row of its own, under its own name.
 */
#ifndef EMU_WORK_H
#define EMU_WORK_H

#include "common/emu/machine/machine.h"

enum { WORK_NAME = 64, WORK_TYPE = 32 };

struct work_kind {
    char name[WORK_NAME], type[WORK_TYPE]; /* as emu_operation has them */
    enum emu_class work_class;
    unsigned elements; /* of a lane */
};

/* The kinds of a kernel's instructions, in order of class, name and type. */
struct kernel_kinds {
    struct kernel_kinds *next; /* in the list of its owner */
    size_t kind_count;
    struct work_kind *kinds;
    uint32_t *of_insn; /* index into kinds, by instruction */
};

/* NULL: out of memory. */
struct kernel_kinds *work_new(const struct emu_kernel *);
/* Frees a list of them. */
void work_free(struct kernel_kinds *);

#endif
