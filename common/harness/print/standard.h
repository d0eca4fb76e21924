/*
 * standard.h — stdin, stdout and stderr: no other file takes the place of a closed one, and output
 * that cannot be written is noticed.
 */
#ifndef STANDARD_H
#define STANDARD_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where stdin, stdout or stderr is closed, puts a file there that can neither be read nor written
 * as this stream. Otherwise the next file that is opened would take its place: the report would go
 * into a file of the user's. A reader of stdout that has enough is no error: SIGPIPE ends the
 * program silently, as it ends filters. To be called before any file is opened. */
void standard_hold(void);

/* Has all that was printed to stdout been written? If its reader has gone, ends the program by
 * SIGPIPE. */
bool standard_written(void);

#ifdef __cplusplus
}
#endif

#endif
