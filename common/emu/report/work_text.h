/* work_text.h — the PTX instructions of a launch, or of several, in two short lines for people. */
#ifndef EMU_WORK_TEXT_H
#define EMU_WORK_TEXT_H

#include "common/emu/emu.h"

#include <stdio.h>

/* Sums of operations. Begins as zeros; `all` is malloc'd, and the caller frees it. */
struct work_sum {
    struct emu_operation *all; /* names and types are those of the records */
    size_t count;
};

/* Adds the operations of a launch. False: out of memory. */
bool work_sum_add(struct work_sum *, const struct emu_operation *, size_t count);

/* "PTX instructions by class: …" and "arithmetic, in elements of all threads: …", without what is
 * zero, in lines of at most 100 columns with an indentation of 4. */
void work_text_print(FILE *, const struct work_sum *);

#endif
