/*
 * count.h — does a kernel's machine code access memory as its PTX does?
 *
 * The emulator runs and counts PTX; a GPU runs what ptxas made of it. For each source line, the
 * access instructions of both are counted by operation, space and width, and compared. ptxas may
 * repeat code (unrolled loops, copied ends of paths), which multiplies all accesses of a line.
 * Anything else is a difference:
 *
 *   merged    two neighbouring 4-byte accesses of a thread became one of 8 bytes
 *   changed   an access was left out or shared between two paths, or became a loop (atomics)
 *
 * The comparison does not notice when more lanes execute an access than in PTX (a load moved up
 * before an `if`).
 */
#ifndef EMU_EXACT_H
#define EMU_EXACT_H

#include "common/emu/ptx/binary.h"
#include "common/emu/machine/machine.h"
#include "sass.h"

enum code { CODE_PTX, CODE_SASS, CODES };

/* The number of accesses of one kind on a source line. */
struct line_access {
    const char *file; /* "" and line 0: unknown */
    unsigned line;
    struct sass_access kind;
    unsigned count[CODES];
    unsigned reductions; /* how many of the machine code's are */
};

/* In order of file, line and kind. */
struct line_accesses {
    struct line_access *item;
    size_t count, room;
    bool lost; /* incomplete: out of host memory */
};

/* The item of a line and kind; NULL: not in the list. */
struct line_access *find_line_access(const struct line_accesses *, const char *file, unsigned line,
                                     struct sass_access);

/* The access that a PTX instruction makes; ACCESS_NONE: no access that is counted. */
struct sass_access ptx_access(const struct insn *);
const char *insn_file(const struct emu_kernel *, const struct insn *);
unsigned insn_line(const struct emu_kernel *, const struct insn *);

/* line_length: the number of items of the line that begins at item `first`. line_agrees: do PTX and
 * machine code agree on these items? */
size_t line_length(const struct line_accesses *, size_t first);
bool line_agrees(const struct line_access *, size_t count);

/* Makes instructions count as the merged accesses of the machine code, on the lines where both then
 * agree, and changes these lines of the list. (merge.c) */
void merge_accesses(struct emu_kernel *, struct line_accesses *);

/* A kernel's agreement as emu_agreement() tells it; never NULL. (machine_code.c) */
const struct emu_agreement *kernel_agreement(struct emu_kernel *);

/* Compares a kernel with machine code; the result lies in the arena of the kernel's module. NULL:
 * out of host memory. */
struct emu_agreement *compare_code(struct emu_kernel *, const struct cubin *, unsigned arch);

#endif
