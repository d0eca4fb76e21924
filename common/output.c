#define _GNU_SOURCE
#include "output.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NPY_ALIGNMENT 64 /* the elements begin at a multiple of it */

static bool is_stdout(const char *path) { return strcmp(path, "-") == 0; }

static bool ends_in_npy(const char *path)
{
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".npy") == 0;
}

static int cannot_write(const char *path, int error, struct fault *fault)
{
    return fail(fault, EXIT_USAGE, "cannot write %s: %s.", is_stdout(path) ? "stdout" : path,
                strerror(error));
}

/* The path without symbolic links, also if the last part does not exist yet; NULL and errno if its
 * directory does not. The caller frees it. */
static char *resolve(const char *path)
{
    char *whole = realpath(path, NULL);
    if (whole || errno != ENOENT) return whole;
    char *copy_of_path = strdup(path), *copy_again = strdup(path), *result = NULL;
    if (copy_of_path && copy_again) {
        char *folder = realpath(dirname(copy_of_path), NULL);
        if (folder && asprintf(&result, "%s/%s", folder, basename(copy_again)) < 0) result = NULL;
        free(folder);
    }
    free(copy_of_path);
    free(copy_again);
    return result;
}

/* Is it (or will it be) a regular file, which is to be replaced as a whole? */
static bool is_replaced(const char *path)
{
    struct stat status;
    return stat(path, &status) != 0 || S_ISREG(status.st_mode);
}

int output_check(const char *path, struct fault *fault)
{
    if (is_stdout(path)) return 0;
    struct stat status;
    bool exists = stat(path, &status) == 0;
    size_t length = strlen(path);
    if (exists ? S_ISDIR(status.st_mode) : path[length - 1] == '/')
        return cannot_write(path, EISDIR, fault);
    if (exists && access(path, W_OK) != 0) return cannot_write(path, errno, fault);
    if (!is_replaced(path)) return 0;
    char *target = resolve(path);
    if (!target) return cannot_write(path, errno, fault);
    int code = access(dirname(target), W_OK | X_OK) ? cannot_write(path, errno, fault) : 0;
    free(target);
    return code;
}

/* Opens target.XXXXXX beside the target, with the permissions that the target has or would get. */
static FILE *open_beside(struct output *output)
{
    if (asprintf(&output->temporary, "%s.XXXXXX", output->target) < 0) {
        output->temporary = NULL;
        return NULL;
    }
    int descriptor = mkstemp(output->temporary);
    if (descriptor < 0) {
        free(output->temporary);
        output->temporary = NULL;
        return NULL;
    }
    struct stat status;
    mode_t mask = umask(0);
    umask(mask);
    mode_t mode = stat(output->target, &status) == 0 ? status.st_mode & 07777 : 0666 & ~mask;
    if (fchmod(descriptor, mode) != 0) { /* some file systems know no permissions; never mind */
    }
    return fdopen(descriptor, "wb");
}

/* NumPy's format version 1: see input_npy.c. */
static bool write_npy_header(FILE *file, enum element element, size_t n)
{
    static const char *const descr[] = {
        [ELEMENT_F32] = "<f4", [ELEMENT_F64] = "<f8", [ELEMENT_I32] = "<i4",
        [ELEMENT_I64] = "<i8", [ELEMENT_I16] = "<i2", [ELEMENT_I8] = "|i1",
    };
    char header[2 * NPY_ALIGNMENT];
    int used =
        snprintf(header, sizeof header,
                 "{'descr': '%s', 'fortran_order': False, 'shape': (%zu,), }", descr[element], n);
    unsigned length = 2 * NPY_ALIGNMENT - 10; /* what stands before the dictionary has 10 bytes */
    return fprintf(file, "\x93NUMPY%c%c%c%c", 1, 0, (char)length, 0) == 10 &&
           fprintf(file, "%s%*s\n", header, (int)length - used - 1, "") == (int)length;
}

int output_begin(struct output *output, const char *path, enum element element, size_t n,
                 struct fault *fault)
{
    *output = (struct output){.path = path, .npy = ends_in_npy(path), .element = element};
    if (is_stdout(path)) {
        output->file = stdout;
    } else if (is_replaced(path)) {
        output->target = resolve(path);
        output->file = output->target ? open_beside(output) : NULL;
    } else {
        output->file = fopen(path, "wb");
    }
    bool fine = output->file && (!output->npy || write_npy_header(output->file, element, n));
    if (fine) return 0;
    int error = errno;
    output_abandon(output);
    return cannot_write(path, error, fault);
}

int output_add(struct output *output, const void *elements, size_t count, struct fault *fault)
{
    bool fine = true;
    if (output->npy) {
        fine = fwrite(elements, element_size(output->element), count, output->file) == count;
    } else {
        char text[48];
        for (size_t i = 0; i < count && fine; i++) {
            element_text(output->element, elements, i, text, sizeof text);
            fine = fputs(text, output->file) >= 0 && putc('\n', output->file) != EOF;
        }
    }
    if (fine) return 0;
    int error = errno;
    output_abandon(output);
    return cannot_write(output->path, error, fault);
}

static void forget(struct output *output)
{
    free(output->temporary);
    free(output->target);
    output->temporary = output->target = NULL;
    output->file = NULL;
}

int output_end(struct output *output, struct fault *fault)
{
    bool fine = fflush(output->file) == 0;
    if (fine && output->temporary) fine = fsync(fileno(output->file)) == 0;
    int error = errno;
    if (output->file != stdout && fclose(output->file) != 0 && fine) {
        error = errno;
        fine = false;
    }
    output->file = NULL;
    if (fine && output->temporary && rename(output->temporary, output->target) != 0) {
        error = errno;
        fine = false;
    }
    if (!fine) {
        output_abandon(output);
        return cannot_write(output->path, error, fault);
    }
    forget(output);
    return 0;
}

void output_abandon(struct output *output)
{
    if (output->file && output->file != stdout) fclose(output->file);
    if (output->temporary) unlink(output->temporary);
    forget(output);
}
