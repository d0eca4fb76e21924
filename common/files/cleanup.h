/*
 * cleanup.h — removes temporary files if a signal ends the program.
 */
#ifndef CLEANUP_H
#define CLEANUP_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* From cleanup_begin() to cleanup_end(), a signal that would end the program, or that has a
 * handler, first removes the files of replacement.h. Then it does what it would have done
 * otherwise. Ignored signals stay ignored. SIGKILL leaves files that have a name. Pairs of calls
 * may be nested: the outermost one counts. */
void cleanup_begin(void);
void cleanup_end(void);

/* Does the signal end the program by default, and can it be caught? */
bool cleanup_ends_program(int number);

#ifdef __cplusplus
}
#endif

#endif
