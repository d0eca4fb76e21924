/*
 * whole_file.c — see whole_file.h.
 */
#define _GNU_SOURCE /* mkostemp */
#include "whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Is it something that a rename must not replace: a device, a pipe? */
static bool is_special(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

static int write_special(const char *path, const char *text, size_t length)
{
    FILE *out = fopen(path, "w");
    if (out == NULL) return errno;
    int error = write_stream(out, text, length);
    if (fclose(out) != 0 && error == 0) error = errno;
    return error;
}

/* Opens a new file beside `path`, with the permissions of any new file, and writes its name. */
static int open_beside(const char *path, char *name, size_t size)
{
    if (snprintf(name, size, "%s.XXXXXX", path) >= (int)size) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int file = mkostemp(name, O_CLOEXEC);
    if (file < 0) return -1;
    mode_t mask = umask(0);
    umask(mask);
    fchmod(file, 0666 & ~mask);
    return file;
}

static int replace_file(const char *path, const char *text, size_t length)
{
    char name[PATH_MAX];
    int file = open_beside(path, name, sizeof name);
    if (file < 0) return errno;
    FILE *out = fdopen(file, "w");
    int error = out == NULL ? errno : write_stream(out, text, length);
    if (out != NULL && fclose(out) != 0 && error == 0) error = errno;
    if (error == 0 && rename(name, path) != 0) error = errno;
    if (error != 0) unlink(name);
    return error;
}

int whole_file_write(const char *path, const char *text, size_t length)
{
    FILE *standard = standard_stream(path);
    if (standard != NULL) return write_stream(standard, text, length);
    return is_special(path) ? write_special(path, text, length) : replace_file(path, text, length);
}

int whole_file_check(const char *path)
{
    if (standard_stream(path) != NULL) return 0;
    struct stat status;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) return EISDIR;
    if (is_special(path)) return access(path, W_OK) == 0 ? 0 : errno;

    char name[PATH_MAX];
    int file = open_beside(path, name, sizeof name);
    if (file < 0) return errno;
    close(file);
    unlink(name);
    return 0;
}
