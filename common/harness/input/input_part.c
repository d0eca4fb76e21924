/*
 * input_part.c — reads a part of a .npy file, so that no program needs memory for all of it.
 */
#define _POSIX_C_SOURCE 200809L /* fseeko, st_mtim */
#include "input.h"

#include "common/harness/print/format.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define NPY_FIRST_BYTE 0x93 /* of "\x93NUMPY" */

static long long changed_ns(const struct stat *status)
{
    return status->st_mtim.tv_sec * 1000000000LL + status->st_mtim.tv_nsec;
}

static void note_state(struct npy_file *f, const struct stat *status)
{
    f->length = status->st_size;
    f->changed_ns = changed_ns(status);
    f->device = status->st_dev;
    f->number = status->st_ino;
}

static int check_unchanged(const struct npy_file *f, struct fault *fault)
{
    struct stat status;
    if (fstat(fileno(f->file), &status) == 0 && status.st_size == f->length &&
        changed_ns(&status) == f->changed_ns)
        return 0;
    return fail(fault, EXIT_USAGE,
                "%s was changed while it was read; run again when no other program writes to it.",
                f->path);
}

/* Before it is opened: to open a pipe would wait for a writer. */
static int check_regular(const char *path, struct fault *fault)
{
    struct stat status;
    if (stat(path, &status) != 0 || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) return 0;
    return fail(fault, EXIT_USAGE,
                "%s is no regular file, and cannot be read by parts; copy it into one.", path);
}

/* Only a .npy file has its elements at places that are known. */
static int check_kind(struct npy_file *f, struct fault *fault)
{
    struct stat status;
    if (fstat(fileno(f->file), &status) != 0)
        return fail(fault, EXIT_USAGE, "cannot read %s: %s.", f->path, strerror(errno));
    if (S_ISDIR(status.st_mode))
        return fail(fault, EXIT_USAGE, "cannot read %s: %s.", f->path, strerror(EISDIR));
    note_state(f, &status);
    int first = getc(f->file);
    if (first == EOF)
        return fail(fault, EXIT_USAGE, "%s is empty; there is nothing to scan.", f->path);
    ungetc(first, f->file);
    if (first != NPY_FIRST_BYTE)
        return fail(fault, EXIT_USAGE,
                    "%s is no .npy file, and text cannot be read by parts; numpy.save() makes a "
                    ".npy file.",
                    f->path);
    return 0;
}

/* Has the file as many elements as its header promises? */
static int check_length(const struct npy_file *f, struct fault *fault)
{
    size_t promised = f->header.n, size = element_size(npy_file_type(f)), bytes;
    if (promised == 0)
        return fail(fault, EXIT_USAGE, "%s has no elements; there is nothing to scan.", f->path);
    size_t there = (size_t)(f->length - f->start);
    if (__builtin_mul_overflow(promised, size, &bytes) || there < bytes)
        return fail(fault, EXIT_USAGE,
                    "%s is truncated: its header promises %zu element%s, but the file has %zu.",
                    f->path, promised, plural(promised), there / size);
    if (there > bytes)
        return fail(fault, EXIT_USAGE,
                    "%s goes on after the %zu element%s that its header promises.", f->path,
                    promised, plural(promised));
    return 0;
}

int npy_file_open(struct npy_file *f, const char *path, struct fault *fault)
{
    *f = (struct npy_file){.path = path, .header = {.most = 1}};
    if (check_regular(path, fault)) return fault->code;
    f->file = fopen(path, "rb");
    if (!f->file) return fail(fault, EXIT_USAGE, "cannot open %s: %s.", path, strerror(errno));
    int code = check_kind(f, fault);
    if (!code) code = npy_header_read(&f->header, f->file, path, fault);
    if (!code) {
        f->start = ftell(f->file);
        code = check_length(f, fault);
    }
    if (code) npy_file_close(f);
    return code;
}

enum element npy_file_type(const struct npy_file *f) { return input_npy_element(&f->header); }

int npy_file_read(struct npy_file *f, struct input *input, enum element element,
                  struct input_part part, struct fault *fault)
{
    struct reader reader = {.file = f->file, .name = f->path, .element = element};
    off_t at = f->start + (off_t)(part.first * element_size(npy_file_type(f)));
    *input = (struct input){.element = element, .n = part.count};
    int code = input_reserve(&reader, input, part.count, fault);
    if (!code && fseeko(f->file, at, SEEK_SET) != 0)
        code = fail(fault, EXIT_USAGE, "cannot read %s: %s.", f->path, strerror(errno));
    if (!code)
        code = input_read_npy_elements(&reader, &f->header, part.first, part.count, input, fault);
    if (!code) code = check_unchanged(f, fault);
    input->rounded = reader.has_rounded;
    if (code) input_free(input);
    return code;
}

void npy_file_close(struct npy_file *f)
{
    if (f->file) fclose(f->file);
    *f = (struct npy_file){0};
}
