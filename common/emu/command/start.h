/*
 * start.h — what the files of command/ share.
 */
#ifndef EMU_AUDIT_START_H
#define EMU_AUDIT_START_H

#include <stdint.h>

/* audit.c: prints a sentence on stderr, behind "emu: ". */
void audit_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* audit.c: a path's last part. */
const char *audit_last_part(const char *path);

/* audit.c: the command emu, which has started the program by way of another one, need not say that
 * there was none. */
void audit_tell_of_refusal(void);

/* start.c: the function to be called in place of this one of the C library, which is at `real`. It
 * is `real` itself, except for functions that start programs. */
uintptr_t start_replaced(const char *function, uintptr_t real);

#endif
