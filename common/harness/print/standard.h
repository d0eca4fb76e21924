/*
 * standard.h — stdin, stdout and stderr: no other file takes the place of a closed one, and a scan,
 * which runs in the harness's process, has not redirected stdout or stderr, so that the report is
 * lost.
 */
#ifndef STANDARD_H
#define STANDARD_H

#include "common/command/fault.h"

#include <stdbool.h>
#include <sys/stat.h>

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

/* The files of both; is_open: false for one that was closed when the program began. */
struct standard {
    struct {
        bool is_open;
        struct stat status;
    } file[2];
};

struct standard standard_now(void);

/* A fault if stdout or stderr has another file than at the beginning, or is written to another
 * descriptor. */
int standard_check(const struct standard *then, struct fault *);

#ifdef __cplusplus
}
#endif

#endif
