/*
 * trace_file.c — the file of EMU_TRACE, to which the devices write (common/emu/watch/trace.h).
 *
 * The trace is a temporary file that replaces the named file when the program ends. This also
 * happens after an error, because the trace shows what led to it. If the program failed before the
 * first access of a kernel, the named file stays as it was.
 */
#define _POSIX_C_SOURCE 200809L /* ftello */
#include "process.h"
#include "common/files/replacement.h"
#include "common/files/visible.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct replacement trace;
static pid_t process; /* that began it */

_Noreturn static void refuse_trace(const char *path, const char *reason)
{
    fputs("emu: cannot write the trace, EMU_TRACE=", stderr);
    visible_print(stderr, path, strlen(path));
    fprintf(stderr, ": %s\n", reason);
    cudart_exit(EXIT_USAGE);
}

void cudart_check_trace(void)
{
    const char *path = cudart_output(SETTING_TRACE);
    int error = path != NULL ? replacement_check(path) : 0;
    if (error != 0) refuse_trace(path, strerror(error));
    cudart_keep_apart(SETTING_TRACE, SETTING_LOG_FILE);
    cudart_keep_apart(SETTING_TRACE, SETTING_CHECK_LOG);
    cudart_keep_apart(SETTING_TRACE, SETTING_BUDGET);
    cudart_keep_apart(SETTING_TRACE, SETTING_BASELINE);
}

FILE *cudart_open_trace(void)
{
    const char *path = cudart_output(SETTING_TRACE);
    if (path == NULL) return NULL;
    cudart_check_trace();
    process = getpid();
    cudart_catch_end();
    int error = replacement_begin(&trace, path);
    if (error != 0) refuse_trace(path, strerror(error));
    return trace.file;
}

void cudart_end_trace(int status)
{
    if (trace.file == NULL) return;
    bool unused = ftello(trace.file) == 0 && (status != 0 || cudart_has_forked());
    if (getpid() != process || unused) {
        replacement_drop(&trace);
        return;
    }
    int error = replacement_end(&trace);
    if (error == 0) return;
    fprintf(stderr, "emu: the trace is not complete: %s\n", strerror(error));
    cudart_exit(EXIT_USAGE);
}
