/*
 * standard.h — are stdout and stderr still the files that they were? A scan runs in the harness's
 * process and may redirect them, so that the report is lost.
 */
#ifndef STANDARD_H
#define STANDARD_H

#include <stdbool.h>
#include <sys/stat.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The files of both; is_open: false for one that was closed when the program began. */
struct standard {
    struct {
        bool is_open;
        struct stat status;
    } file[2];
};

struct standard standard_now(void);

/* Returns "stdout" or "stderr" if that has another file than at the beginning, or is written to
 * another descriptor. NULL: neither has changed. */
const char *standard_changed(const struct standard *then);

#ifdef __cplusplus
}
#endif

#endif
