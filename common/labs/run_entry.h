/*
 * run_entry.h — a submission's PTX, and where its kernels begin.
 */
#ifndef LAB_RUN_ENTRY_H
#define LAB_RUN_ENTRY_H

#include "common/command/fault.h"
#include "common/emu/emu.h"

/* A submission's PTX. The text ends with NUL, but may hold others. */
struct lab_ptx {
    char *text;
    size_t length;
};

/* Reads a file. The text is malloc'd. Returns 0 or an exit code. */
int ptx_read(const char *path, struct lab_ptx *, struct fault *);

/* Finds the next entry from *at on that is called `kernel` in the source, and moves *at behind it.
 * `name` is its mangled name. An entry that stands in a comment of the PTX is found, too. */
bool next_entry(const struct lab_ptx *, size_t *at, const char *kernel, char name[EMU_NAME_SIZE]);

#endif
