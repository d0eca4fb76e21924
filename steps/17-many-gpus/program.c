/* program.c — what ./step17 does between MPI_Init and MPI_Finalize. */
#define _POSIX_C_SOURCE 200809L /* pwrite, fileno */
#include "common/harness/host/host.h"
#include "common/harness/print/print.h"
#include "parts/exchange.h"
#include "program.h"
#include "request.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct program {
    struct start *start;
    struct ranks ranks;
    struct source source;
    struct part_runs runs;
    struct fault fault;
};

static bool first(const struct program *p) { return p->ranks.rank == 0; }

static const struct request *request_of(const struct program *p) { return p->start->subject.self; }

/* ---- before the runs ------------------------------------------------------------------------- */

/* A command line as text, which may have been cut, and a number made of all of it. */
struct words {
    char text[FAULT_TEXT / 3];
    uint64_t sum;
};

static struct words words_of(char *const *argv)
{
    struct words words = {.sum = 0};
    size_t used = 0, room = sizeof words.text;
    for (argv++; *argv; argv++) {
        if (used < room)
            used +=
                (size_t)snprintf(words.text + used, room - used, "%s%s", used ? " " : "", *argv);
        for (const char *c = *argv; *c; c++) words.sum = words.sum * 0x100000001B3 + (size_t)*c;
        words.sum = words.sum * 0x100000001B3 + 1; /* a word ends */
    }
    return words;
}

/* Have all ranks the same options? */
static int compare_options(struct program *p)
{
    struct words own = words_of(p->start->options.argv), of_rank_0 = own;
    MPI_Bcast(&of_rank_0, (int)sizeof of_rank_0, MPI_BYTE, 0, p->ranks.comm);
    int code = 0;
    if (own.sum != of_rank_0.sum)
        code = fail(&p->fault, EXIT_USAGE,
                    "the options are \"%s\", but on rank 0 \"%s\"; give all ranks the same.",
                    own.text, of_rank_0.text);
    return agree(p->ranks.comm, code, &p->fault);
}

/* The need of all ranks of a machine together, in bytes. */
static size_t sum_here(const struct ranks *r, size_t own)
{
    unsigned long long one = own, all;
    MPI_Allreduce(&one, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, r->here);
    return (size_t)all;
}

static int check_memory(struct program *p, size_t n, enum many_exchange exchange)
{
    const struct device *device = &p->start->device;
    size_t flush = timing_flush_bytes(device->emulated, device->l2), device_needs = 0, host_needs;
    bool fits = part_runs_memory(&p->ranks, request_of(p)->op, exchange, n, flush, &device_needs,
                                 &host_needs);
    if (!fits)
        return fail(&p->fault, EXIT_USAGE, "%zu elements are more than any memory holds.", n);
    size_t host_has = host_memory(), all = sum_here(&p->ranks, host_needs);
    size_t elements = many_part_of(n, p->ranks.count, p->ranks.rank).count;
    size_t device_has = device->memory_free / (size_t)p->ranks.sharers;
    if (device_needs > device_has)
        return fail(&p->fault, EXIT_USAGE,
                    "a part of %zu elements needs %s of device memory, but %s are free; take "
                    "fewer elements or more GPUs.",
                    elements, format_bytes(device_needs).s, format_bytes(device_has).s);
    if (all > host_has)
        return fail(&p->fault, EXIT_USAGE,
                    "the ranks of this machine need %s of host memory%s for %zu elements, but %s "
                    "are available; take fewer elements.",
                    format_bytes(all).s, p->ranks.emulated ? " under the emulator" : "", n,
                    format_bytes(host_has).s);
    return 0;
}

/* What a rank has found in the files, which it has opened itself. */
struct found_files {
    size_t n;
    enum element element;
    unsigned long long places[4]; /* device and number of each file */
};

/* Have all ranks found the same? Machines may have copies of a file at different places. */
static int compare_files(struct program *p)
{
    const struct npy_file *in = &p->source.input, *second = &p->source.second;
    const struct found_files own = {
        p->source.n,
        request_of(p)->element,
        {in->device, in->number, second->device, second->number},
    };
    struct found_files of_rank_0 = own;
    MPI_Bcast(&of_rank_0, (int)sizeof of_rank_0, MPI_BYTE, 0, p->ranks.comm);
    int code = 0, first_differs = memcmp(own.places, of_rank_0.places, sizeof own.places / 2);
    if (own.n != of_rank_0.n || own.element != of_rank_0.element)
        code = fail(&p->fault, EXIT_USAGE,
                    "%s has %zu %s, but on rank 0 it has %zu %s; all ranks need the same file.",
                    in->path, own.n, element_words(own.element, own.n).s, of_rank_0.n,
                    element_words(of_rank_0.element, of_rank_0.n).s);
    else if (p->ranks.machines == 1 && memcmp(own.places, of_rank_0.places, sizeof own.places) != 0)
        code = fail(&p->fault, EXIT_USAGE,
                    "%s is another file than on rank 0; all ranks need the same file.",
                    first_differs ? in->path : second->path);
    return agree(p->ranks.comm, code, &p->fault);
}

/* Opens the files, and fills in everything of the runs but the part's elements. */
static int prepare(struct program *p)
{
    const struct options *o = &p->start->options;
    MPI_Comm comm = p->ranks.comm;
    struct part_runs *r = &p->runs;
    int code = source_open(&p->source, request_of(p), o, &p->fault);
    code = agree(comm, code, &p->fault);
    if (!code) code = compare_files(p);
    if (code) return code;
    *r = (struct part_runs){
        .ranks = &p->ranks, .request = request_of(p), .options = o, .n = p->source.n};
    code = ranks_exchange(&p->ranks, request_of(p)->exchange, &r->exchange, &p->fault);
    code = agree(comm, code, &p->fault);
    if (!code) code = agree(comm, check_memory(p, r->n, r->exchange), &p->fault);
    if (!code && o->output) code = output_parts_check(o->output, &p->fault);
    return agree(comm, code, &p->fault);
}

/* ---- the runs -------------------------------------------------------------------------------- */

static int report(struct program *p, const struct outcome17 *outcome)
{
    int code = 0;
    if (first(p)) {
        report17(stdout, p->start->subject.step, &p->start->device, &p->runs, outcome);
        if (!standard_written())
            code = fail(&p->fault, EXIT_USAGE, "cannot write the report to stdout.");
    }
    return agree(p->ranks.comm, code, &p->fault);
}

static int run(struct program *p)
{
    const char *output = p->start->options.output;
    struct outcome17 outcome;
    int code = part_runs_open(&p->runs, &p->fault);
    if (code) return code;
    code = part_runs_do(&p->runs, &outcome, &p->fault);
    /* A wrong result is reported, not written. */
    if (!code && output && outcome.right) code = output_parts(&p->runs, output, &p->fault);
    if (!code) code = report(p, &outcome);
    part_runs_close(&p->runs);
    if (code) return code;
    return outcome.right ? EXIT_RIGHT : EXIT_WRONG;
}

static int read_and_run(struct program *p)
{
    struct part_runs *r = &p->runs;
    r->part = many_part_of(r->n, p->ranks.count, p->ranks.rank);
    int code = source_read(&p->source, r->part, &r->in, &r->second, &p->fault);
    int rounded = r->in.rounded || r->second.rounded, any;
    code = agree(p->ranks.comm, code, &p->fault);
    MPI_Allreduce(&rounded, &any, 1, MPI_INT, MPI_LOR, p->ranks.comm);
    p->start->options.input_rounded = any;
    if (!code) code = run(p);
    input_free(&r->in);
    input_free(&r->second);
    return code;
}

/* ---- everything ------------------------------------------------------------------------------ */

static void print_version(const struct step *step)
{
    printf("%s (%s), Upsweep %s, CUDA %d.%d, MPI %d.%d\n", step_program(step).name, step->name,
           PROGRAM_VERSION, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10, MPI_VERSION,
           MPI_SUBVERSION);
}

/* --help and --version, on rank 0. */
static int inform(struct program *p)
{
    const struct step *step = p->start->subject.step;
    if (first(p) && p->start->options.help) options_help(step, stdout);
    if (first(p) && !p->start->options.help) print_version(step);
    if (!standard_written())
        return fail(&p->fault, EXIT_USAGE, "cannot write the report to stdout.");
    return 0;
}

static int scan_and_report(struct program *p)
{
    int code = ranks_open(&p->ranks, &p->start->device, &p->fault);
    code = agree(p->ranks.comm, code, &p->fault);
    if (!code) code = prepare(p);
    if (!code) code = read_and_run(p);
    source_close(&p->source);
    ranks_close(&p->ranks);
    return code;
}

int program_run(struct start *start)
{
    static struct program program;
    struct program *p = &program;
    const struct options *o = &start->options;
    p->start = start;
    p->fault = start->fault;
    p->ranks.comm = MPI_COMM_WORLD;
    MPI_Comm_rank(p->ranks.comm, &p->ranks.rank);
    watch_begin(p->ranks.rank, request_of(p)->wait);
    int code = agree(p->ranks.comm, start->code, &p->fault);
    if (!code) code = compare_options(p);
    if (!code && (o->help || o->version))
        code = agree(p->ranks.comm, inform(p), &p->fault);
    else if (!code)
        code = scan_and_report(p);
    if (code > EXIT_WRONG && first(p)) fault_say(&p->fault);
    return code;
}

/* ---- the result as a file -------------------------------------------------------------------- */

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
