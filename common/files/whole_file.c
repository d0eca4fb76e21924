/*
 * whole_file.c — see whole_file.h.
 */
#include "whole_file.h"
#include "files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Writes to an open stream, which it leaves open. */
static int write_stream(FILE *out, const char *text, size_t length)
{
    if (fwrite(text, 1, length, out) != length || fflush(out) != 0) return errno;
    return 0;
}

static FILE *standard_stream(const char *path)
{
    if (path == NULL || strcmp(path, "stdout") == 0) return stdout;
    return strcmp(path, "stderr") == 0 ? stderr : NULL;
}

int whole_file_write(const char *path, const char *text, size_t length)
{
    FILE *standard = standard_stream(path);
    if (standard != NULL) return write_stream(standard, text, length);
    struct replacement file;
    int error = replacement_begin(&file, path);
    if (error != 0) return error;
    error = write_stream(file.file, text, length);
    if (error == 0) return replacement_end(&file);
    replacement_drop(&file);
    return error;
}

int whole_file_check(const char *path)
{
    return standard_stream(path) != NULL ? 0 : replacement_check(path);
}
