/*
 * cleanup.h — removes temporary files if a signal ends the program.
 */
#ifndef CLEANUP_H
#define CLEANUP_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* From cleanup_begin() to cleanup_end(), a signal that ends the program unless it is caught first
 * removes the files of replacement.h, and then does what it would have done: it ends the program,
 * or calls the handler that was there before. Signals that were ignored stay so, and SIGKILL leaves
 * the files. Not to be nested. */
void cleanup_begin(void);
void cleanup_end(void);

/* Does a signal end the program where nothing else is said, and can it be caught? */
bool cleanup_ends_program(int number);

#ifdef __cplusplus
}
#endif

#endif
