/*
 * output.c — the result as a file, and standard streams.
 */
#define _GNU_SOURCE
#include "print.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- standard -------------------------------------------------------------------------------- */

void standard_hold(void)
{
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
        if (fcntl(i, F_GETFD) < 0) open("/dev/null", i == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    struct sigaction broken;
    bool is_ignored = sigaction(SIGPIPE, NULL, &broken) == 0 && broken.sa_handler == SIG_IGN;
    if (is_ignored) signal(SIGPIPE, SIG_DFL); /* the caller has ignored it */
}

bool standard_written(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO};
    if (fflush(stdout) == 0 && !ferror(stdout)) return true;
    if (poll(&out, 1, 0) < 1 || !(out.revents & (POLLERR | POLLHUP))) return false;
    signal(SIGPIPE, SIG_DFL);
    return raise(SIGPIPE) != 0;
}

/* ---- output ---------------------------------------------------------------------------------- */

#define NPY_ALIGNMENT 64 /* the elements begin at a multiple of it */

/* Does the path lead to the pipe that stdout is? */
static bool is_pipe_of_stdout(const char *path)
{
    struct stat status, own;
    return stat(path, &status) == 0 && S_ISFIFO(status.st_mode) &&
           fstat(STDOUT_FILENO, &own) == 0 && status.st_dev == own.st_dev &&
           status.st_ino == own.st_ino;
}

bool output_is_stdout(const char *path)
{
    return strcmp(path, "-") == 0 || replacement_descriptor(path) == STDOUT_FILENO ||
           is_pipe_of_stdout(path);
}

static bool ends_in_npy(const char *path)
{
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".npy") == 0;
}

static int cannot_write(const char *path, int error, struct fault *fault)
{
    return fail(fault, EXIT_USAGE, "cannot write %s: %s.", output_is_stdout(path) ? "stdout" : path,
                strerror(error));
}

int output_check(const char *path, struct fault *fault)
{
    struct stat status;
    if (output_is_stdout(path)) return 0;
    int error = replacement_check(path);
    bool writable = stat(path, &status) == 0 && access(path, W_OK) == 0;
    if (error == EACCES && writable)
        return fail(fault, EXIT_USAGE,
                    "cannot write %s: no new file can be made in its folder: %s.", path,
                    strerror(error));
    return error ? cannot_write(path, error, fault) : 0;
}

/* ---- the content of the file ----------------------------------------------------------------- */

/* NumPy's format version 1: see input_npy.c. */
static bool write_npy_header(FILE *file, enum element element, size_t n)
{
    static const char *const descr[] = {
        [ELEMENT_F32] = "<f4", [ELEMENT_F64] = "<f8", [ELEMENT_I32] = "<i4", [ELEMENT_I64] = "<i8",
        [ELEMENT_I16] = "<i2", [ELEMENT_I8] = "|i1",  [ELEMENT_U32] = "<u4", [ELEMENT_U64] = "<u8",
    };
    char header[2 * NPY_ALIGNMENT];
    int used =
        snprintf(header, sizeof header,
                 "{'descr': '%s', 'fortran_order': False, 'shape': (%zu,), }", descr[element], n);
    unsigned length = 2 * NPY_ALIGNMENT - 10; /* what stands before the dictionary has 10 bytes */
    return fprintf(file, "\x93NUMPY%c%c%c%c", 1, 0, (char)length, 0) == 10 &&
           fprintf(file, "%s%*s\n", header, (int)length - used - 1, "") == (int)length;
}

/* The elements, as text or as they are in memory. */
static bool write_elements(struct output *output, const void *elements, size_t count)
{
    FILE *file = output->file;
    char text[48];
    if (output->as_it_is)
        return fwrite(elements, element_size(output->element), count, file) == count;
    for (size_t i = 0; i < count; i++) {
        element_text(output->element, elements, i, text, sizeof text);
        if (fputs(text, file) < 0 || putc('\n', file) == EOF) return false;
    }
    return true;
}

/* ---- from beginning to end ------------------------------------------------------------------- */

static int give_up(struct output *output, int error, struct fault *fault)
{
    output_abandon(output);
    return cannot_write(output->path, error, fault);
}

/* Opens the file that output->path names. Returns 0 or an errno. */
static int begin(struct output *output)
{
    int error = 0;
    if (!output_is_stdout(output->path))
        error = replacement_begin(&output->replacement, output->path);
    output->file = output_is_stdout(output->path) ? stdout : output->replacement.file;
    return error;
}

int output_begin(struct output *output, const char *path, enum element element, size_t n,
                 struct fault *fault)
{
    *output = (struct output){.path = path, .npy = ends_in_npy(path), .element = element};
    output->as_it_is = output->npy;
    int error = begin(output);
    if (!error && output->npy && !write_npy_header(output->file, element, n)) error = errno;
    return error ? give_up(output, error, fault) : 0;
}

int output_begin_bytes(struct output *output, const char *path, struct fault *fault)
{
    *output = (struct output){.path = path, .element = ELEMENT_I8, .as_it_is = true};
    int error = begin(output);
    return error ? give_up(output, error, fault) : 0;
}

int output_failed(struct output *output, struct fault *fault)
{
    return give_up(output, errno, fault);
}

int output_add(struct output *output, const void *elements, size_t count, struct fault *fault)
{
    return write_elements(output, elements, count) ? 0 : give_up(output, errno, fault);
}

/* Files that are complete, and wait for output_release(). */
static struct {
    bool holds;
    size_t count;
    struct output output[OUTPUT_HELD];
} held;

/* Completes the file, but not in its place. Returns 0 or an errno. */
static int hold(struct output *output)
{
    if (held.count == OUTPUT_HELD) return EMFILE;
    int error = replacement_close(&output->replacement);
    if (!error) held.output[held.count++] = *output;
    return error;
}

int output_end(struct output *output, struct fault *fault)
{
    int error = 0;
    if (output->file == stdout)
        error = fflush(stdout) != 0 ? errno : 0;
    else
        error = held.holds ? hold(output) : replacement_end(&output->replacement);
    if (error) return give_up(output, error, fault);
    return 0;
}

int output_array(const char *path, enum element element, const void *elements, size_t n,
                 struct fault *fault)
{
    struct output output;
    int code = output_begin(&output, path, element, n, fault);
    if (!code) code = output_add(&output, elements, n, fault);
    return code ? code : output_end(&output, fault);
}

void output_hold(void) { held.holds = true; }

int output_release(int code, struct fault *fault)
{
    for (size_t i = 0; i < held.count; i++) {
        struct output *output = &held.output[i];
        if (code) {
            replacement_drop(&output->replacement);
            continue;
        }
        int error = replacement_end(&output->replacement);
        if (error) code = cannot_write(output->path, error, fault);
    }
    held.count = 0;
    held.holds = false;
    return code;
}

void output_abandon(struct output *output)
{
    if (output->replacement.file) replacement_drop(&output->replacement);
}
