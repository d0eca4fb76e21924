/*
 * surroundings.h — what a scan may change in the harness's process, and what then changes where and
 * how files are written, or what verifies. A scan that does so is not wrong: it is put back.
 *
 * These stay as the scan leaves them: limits (setrlimit), variables of the environment, timers,
 * descriptors from 3 on, and what other libraries keep. Most of them end the program with a
 * sentence if they matter; stdout and stderr are compared (report/standard.h).
 */
#ifndef SURROUNDINGS_H
#define SURROUNDINGS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Notes the working directory, the mask of permissions, the locale, how floats are rounded, and
 * which signals are ignored. */
void surroundings_note(void);
/* Puts them back. */
void surroundings_restore(void);

#ifdef __cplusplus
}
#endif

#endif
