/*
 * cleanup.h — removes temporary files if a signal ends the program.
 */
#ifndef CLEANUP_H
#define CLEANUP_H

#ifdef __cplusplus
extern "C" {
#endif

/* From cleanup_begin() to cleanup_end(), a signal that asks the program to end first removes the
 * files of replacement.h, and then does what it would have done: it ends the program, or calls the
 * handler that was there before. Signals that were ignored stay so. Not to be nested. */
void cleanup_begin(void);
void cleanup_end(void);

#ifdef __cplusplus
}
#endif

#endif
