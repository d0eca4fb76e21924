/* driver_jit.h — the options with which a program loads or links code: where messages go. Those
 * that tell a compiler how to compile are ignored, since nothing is compiled, but for the most
 * registers. */
#ifndef EMU_DRIVER_JIT_H
#define EMU_DRIVER_JIT_H

#include "driver.h"

struct jit_log {
    char *text; /* the program's buffer for errors; NULL: it has given none */
    size_t size;
    void **used; /* where the number of bytes in it is told; may be NULL */
    void **info_used;
    unsigned registers; /* the most that a thread may have; 0: any number */
};

/* Reads the options. False: there are options, and no array of them. */
bool jit_read(struct jit_log *, unsigned count, const CUjit_option *, void **values);
/* Writes an error into the program's buffer, or else on stderr. "": there was none. */
void jit_write(const struct jit_log *, const char *message);

#endif
