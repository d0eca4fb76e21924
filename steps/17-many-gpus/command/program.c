/* program.c — what ./step17 does between MPI_Init and MPI_Finalize. */
#include "program.h"

#include "common/harness/host/host.h"
#include "steps/17-many-gpus/parts/agree.h"
#include "common/harness/print/print.h"
#include "input_part.h"
#include "output_part.h"
#include "report.h"
#include "watch.h"

#include <string.h>

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

/* Have all ranks the same options? */
static int compare_settings(struct program *p)
{
    struct settings own, of_rank_0;
    settings_of(request_of(p), &p->start->options, &own);
    of_rank_0 = own;
    MPI_Bcast(&of_rank_0, (int)sizeof of_rank_0, MPI_BYTE, 0, p->ranks.comm);
    return agree(p->ranks.comm, settings_compare(&own, &of_rank_0, &p->fault), &p->fault);
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
    if (!code) code = compare_settings(p);
    if (!code && (o->help || o->version))
        code = agree(p->ranks.comm, inform(p), &p->fault);
    else if (!code)
        code = scan_and_report(p);
    if (code > EXIT_WRONG && first(p)) fault_say(&p->fault);
    return code;
}
