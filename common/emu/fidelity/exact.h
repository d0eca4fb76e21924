/*
 * exact.h — does a kernel's machine code access memory as its PTX does?
 *
 * The emulator runs and counts PTX; a GPU runs what ptxas made of it. For each source line the
 * accesses of both are counted as they stand in the code, by operation, space and width, and
 * compared. ptxas may repeat code (unrolled loops, copied ends of paths), and then all accesses of a
 * line are there so many times more; anything else is a difference:
 *
 *   merged    two neighbouring 4-byte accesses of a thread became one of 8 bytes
 *   changed   an access was left out or shared between two paths, or became a loop (atomics)
 *
 * Not seen are accesses that a wider set of lanes makes than in PTX (a load moved up before an
 * `if`).
 */
#ifndef EMU_EXACT_H
#define EMU_EXACT_H

#include "common/emu/binary/cubin.h"
#include "common/emu/machine/machine.h"
#include "sass.h"

enum code { CODE_PTX, CODE_SASS, CODES };

/* How often a source line has an access of one kind. */
struct line_access {
    const char *file; /* "" and line 0: unknown */
    unsigned line;
    struct sass_access kind;
    unsigned count[CODES];
};

/* In order of file, line and kind. */
struct line_accesses {
    struct line_access *item;
    size_t count, room;
    bool lost; /* for want of host memory */
};

/* The item; NULL: there is none. */
struct line_access *find_line_access(const struct line_accesses *, const char *file, unsigned line,
                                     struct sass_access);

/* The access that an instruction of PTX makes; ACCESS_NONE: none that is counted. */
struct sass_access ptx_access(const struct insn *);
const char *insn_file(const struct emu_kernel *, const struct insn *);
unsigned insn_line(const struct emu_kernel *, const struct insn *);

/* The items of one line, from `first` on: how many, and do PTX and machine code agree on it? */
size_t line_length(const struct line_accesses *, size_t first);
bool line_agrees(const struct line_access *, size_t count);

/* Makes instructions count as the merged accesses of the machine code, on those lines where both
 * then agree, and changes those lines of the list. (merge.c) */
void merge_accesses(struct emu_kernel *, struct line_accesses *);

/* As emu_agreement(); never NULL. (machine_code.c) */
const struct emu_agreement *kernel_agreement(struct emu_kernel *);

/* What emu_agreement() says of a kernel, in the arena of its module. NULL: no host memory. */
struct emu_agreement *compare_code(struct emu_kernel *, const struct cubin *, unsigned arch);

#endif
