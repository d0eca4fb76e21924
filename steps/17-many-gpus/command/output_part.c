/* output_part.c — writes the result into one .npy file, each rank its part. */
#define _POSIX_C_SOURCE 200809L /* pwrite, fileno */
#include "output_part.h"

#include "steps/17-many-gpus/parts/agree.h"
#include "common/harness/print/print.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE ((size_t)1 << 20) /* elements written at a time */

/* The new file, as all ranks know it. */
struct place {
    char name[PATH_MAX];
    off_t start; /* the first element's place */
};

static int cannot_write(const char *path, int error, struct fault *fault)
{
    return fail(fault, EXIT_USAGE, "cannot write %s: %s.", path, strerror(error));
}

int output_parts_check(const char *path, struct fault *fault)
{
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
        return fail(fault, EXIT_USAGE,
                    "%s is no regular file, and cannot be written by parts; give --output the "
                    "name of a .npy file.",
                    path);
    return output_check(path, fault);
}

/* On rank 0: begins the file, with its header and its whole length. */
static int begin(struct output *output, const struct part_runs *r, const char *path,
                 struct place *place, struct fault *fault)
{
    enum element element = many_element(r->request->op);
    int code = output_begin(output, path, element, r->n, fault);
    if (code) return code;
    const char *name = replacement_name(&output->replacement);
    if (!name) {
        output_abandon(output);
        return output_parts_check(path, fault);
    }
    snprintf(place->name, sizeof place->name, "%s", name);
    place->start = ftell(output->file);
    off_t length = place->start + (off_t)(r->n * element_size(element));
    if (fflush(output->file) == 0 && ftruncate(fileno(output->file), length) == 0) return 0;
    return output_failed(output, fault);
}

/* pwrite, as often as it takes. Returns 0 or an errno. */
static int write_all(int file, const char *from, size_t bytes, off_t at)
{
    while (bytes > 0) {
        ssize_t written = pwrite(file, from, bytes, at);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        from += written;
        bytes -= (size_t)written;
        at += written;
    }
    return 0;
}

static int write_pieces(const struct part_runs *r, const char *path, int file, off_t start,
                        struct fault *fault)
{
    size_t size = many_element_bytes(r->request->op), count = r->part.count;
    char *piece = allocated(malloc((count < PIECE ? count : PIECE) * size));
    int code = 0;
    for (size_t at = 0; at < count && !code; at += PIECE) {
        size_t some = count - at < PIECE ? count - at : PIECE;
        code = part_runs_result(r, at, some, piece, fault);
        if (code) break;
        off_t place = start + (off_t)((r->part.begin + at) * size);
        int error = write_all(file, piece, some * size, place);
        if (error) code = cannot_write(path, error, fault);
    }
    free(piece);
    return code;
}

/* On every rank: writes its part. */
static int write_part(const struct part_runs *r, const char *path, const struct place *place,
                      struct fault *fault)
{
    if (r->part.count == 0) return 0;
    int file = open(place->name, O_WRONLY | O_CLOEXEC);
    if (file < 0) return cannot_write(path, errno, fault);
    int code = write_pieces(r, path, file, place->start, fault);
    if (!code && fsync(file) != 0) code = cannot_write(path, errno, fault);
    if (close(file) != 0 && !code) code = cannot_write(path, errno, fault);
    return code;
}

int output_parts(const struct part_runs *r, const char *path, struct fault *fault)
{
    MPI_Comm comm = r->ranks->comm;
    struct output output;
    struct place place = {.start = 0};
    bool first = r->ranks->rank == 0;
    int code = first ? begin(&output, r, path, &place, fault) : 0;
    code = agree(comm, code, fault);
    if (code) return code;
    MPI_Bcast(&place, (int)sizeof place, MPI_BYTE, 0, comm);
    code = agree(comm, write_part(r, path, &place, fault), fault);
    if (first && code) output_abandon(&output);
    if (first && !code) code = output_end(&output, fault);
    return agree(comm, code, fault);
}
