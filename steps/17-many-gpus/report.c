/* report.c — prints what rank 0 has to say: the screen, or a record of --json and --csv. */
#include "program.h"

#include "common/files/visible.h"
#include "common/harness/print/print.h"
#include "common/harness/report/report.h"

#include <math.h>

#define NAME_SHOWN 120

/* What both forms of the report are made of. */
struct facts17 {
    const struct step *step;
    const struct device *device;
    const struct part_runs *runs;
    const struct outcome17 *o;
    struct many_shape shape;
    size_t least, most; /* elements of parts */
    double words, bytes;
    bool depends; /* the bits depend on the number of ranks */
};

static const char *exchange_name(enum many_exchange exchange)
{
    static const enum exchange_choice of[] = {[EXCHANGE_MPI] = CHOOSE_MPI,
                                              [EXCHANGE_NCCL] = CHOOSE_NCCL,
                                              [EXCHANGE_PEER] = CHOOSE_PEER,
                                              [EXCHANGE_EXSCAN] = CHOOSE_EXSCAN};
    return exchange_names[of[exchange]];
}

static struct facts17 facts_of_runs(const struct step *step, const struct device *device,
                                    const struct part_runs *r, const struct outcome17 *o)
{
    struct facts17 f = {step, device, r, o, many_shape_of(r->n), r->n, 0, 0, 0, false};
    enum many_op op = r->request->op;
    for (int rank = 0; rank < r->ranks->count; rank++) {
        size_t count = many_part_of(r->n, r->ranks->count, rank).count;
        if (count < f.least) f.least = count;
        if (count > f.most) f.most = count;
    }
    f.words = op == MANY_AFFINE_F32 ? 5 : 3; /* each input twice, the result once */
    f.bytes = f.words * (double)r->n * (double)many_element_bytes(op);
    f.depends = r->exchange == EXCHANGE_EXSCAN && element_is_real(many_element(op));
    return f;
}

/* ---- the screen ------------------------------------------------------------------------------ */

static void row_ranks(FILE *to, const struct facts17 *f)
{
    const struct ranks *r = f->runs->ranks;
    char where[60] = "one machine", gpus[80];
    if (r->machines > 1) snprintf(where, sizeof where, "%d machines", r->machines);
    if (r->gpus == r->count)
        snprintf(gpus, sizeof gpus, r->count > 1 ? "each with %s GPU of its own" : "with %s GPU",
                 r->emulated ? "an emulated" : "a");
    else
        snprintf(gpus, sizeof gpus, "which share %d GPU%s", r->gpus, plural((uint64_t)r->gpus));
    report_row(to, "ranks", "%d on %s, %s%s", r->count, where, gpus,
               r->alike ? "" : ", not all like rank 0's");
}

static void rows_parts(FILE *to, const struct facts17 *f)
{
    const struct many_shape *s = &f->shape;
    char sizes[100];
    snprintf(sizes, sizeof sizes, "%s", format_count(f->least).s);
    if (f->most > f->least)
        snprintf(sizes, sizeof sizes, "%s to %s", format_count(f->least).s,
                 format_count(f->most).s);
    report_row(to, "parts", "%s element%s per rank; the tree has %s node%s of %s%s", sizes,
               plural(f->most), format_count(s->nodes).s, plural(s->nodes),
               s->nodes == 1 ? "at most " : "", format_count(s->node_tiles * MANY_TILE).s);
    report_row(to, "launch",
               "%d kernels per scan on each rank; a block of %d threads for each tile of %s",
               many_launches(f->runs->exchange), MANY_SEGMENTS * 32, format_count(MANY_TILE).s);
}

static void row_exchange(FILE *to, const struct facts17 *f)
{
    static const char *const how[] = {
        [EXCHANGE_MPI] = "MPI_Allgather of the nodes' sums, through the host's memory",
        [EXCHANGE_NCCL] = "ncclAllGather of the nodes' sums, from GPU to GPU",
        [EXCHANGE_PEER] = "GPUs store the nodes' sums into each other's memory",
        [EXCHANGE_EXSCAN] = "MPI_Exscan of one sum per rank, through the host's memory"};
    report_row(to, "exchange", "%s: %s", exchange_name(f->runs->exchange), how[f->runs->exchange]);
}

static void row_input(FILE *to, const struct facts17 *f)
{
    const struct options *o = f->runs->options;
    const struct request *request = f->runs->request;
    char from[2 * NAME_SHOWN + 40], name[NAME_SHOWN], second[NAME_SHOWN];
    visible(name, sizeof name, o->input ? o->input : "");
    visible(second, sizeof second, request->second ? request->second : "");
    if (o->input)
        snprintf(from, sizeof from, "from %s%s%s%s", name, *second ? " and " : "", second,
                 o->input_rounded ? ", rounded to the nearest" : "");
    else
        snprintf(from, sizeof from, "random %s, seed %llu",
                 o->real || request->affine ? "reals" : "integers", (unsigned long long)o->seed);
    size_t n = f->runs->n;
    enum element element = many_element(request->op);
    if (request->affine)
        report_row(to, "input", "%s pair%s of %s, %s", format_count(n).s, plural(n),
                   element_plural(element), from);
    else
        report_row(to, "input", "%s %s, %s", format_count(n).s, element_words(element, n).s, from);
    report_row(to, "operator", "%s, %s", request->affine ? "affine (h = a h + b)" : "sum",
               o->inclusive ? "inclusive" : "exclusive");
}

static void rows_wrong(FILE *to, const struct facts17 *f)
{
    const struct verdict *v = &f->o->verdict;
    if (*f->o->damage) report_row(to, "", "rank %d: %s", f->o->wrong_rank, f->o->damage);
    if (v->right) return;
    report_row(to, "", "%s of %s element%s, rank %d is the first to have one",
               format_count(v->wrong).s, format_count(v->checked).s, plural(v->checked),
               f->o->wrong_rank);
    report_row(to, "", "%12s  %18s  %18s", "index", "got", "expected");
    for (size_t i = 0; i < v->shown; i++)
        report_row(to, "", "%12zu  %18s  %18s", v->first[i].index, v->first[i].got,
                   v->first[i].want);
}

static void row_verified(FILE *to, const struct facts17 *f)
{
    struct style style = style_of(to);
    const struct verdict *v = &f->o->verdict;
    const char *when = f->o->timing.reps ? ", the same bits in each timed run" : "";
    if (f->runs->options->verify == VERIFY_NONE)
        report_row(to, "verified", "not at all (--verify none)");
    else if (!f->o->right)
        report_row(to, "verified", "%sWRONG%s", style.bad, style.end);
    else if (v->exact)
        report_row(to, "verified", "%sright%s: every element, exactly%s", style.good, style.end,
                   when);
    else
        report_row(to, "verified", "%sright%s: every element, worst error %s of the bound%s",
                   style.good, style.end, format_percent(v->worst).s, when);
    rows_wrong(to, f);
}

static void row_checksum(FILE *to, const struct facts17 *f)
{
    report_row(to, "checksum", "%016llx, %s", (unsigned long long)f->o->checksum,
               f->depends ? "of bits that depend on the number of ranks"
                          : "the same for any number of ranks");
}

static void rows_time(FILE *to, const struct facts17 *f)
{
    const struct timing *t = &f->o->timing;
    report_row(to, "traffic", "%s read and written, %g words per element",
               format_bytes((uint64_t)f->bytes).s, f->words);
    if (t->reps == 0) return;
    char spread[120] = "";
    if (t->reps > 1)
        snprintf(spread, sizeof spread, ", median of %d (quartiles %s to %s)", t->reps,
                 format_seconds(t->lower).s, format_seconds(t->upper).s);
    bool emulated = f->runs->ranks->emulated;
    report_row(to, "time", "%s%s%s%s", format_seconds(t->median).s, spread,
               f->runs->ranks->count > 1 ? ", of the slowest rank" : "",
               emulated ? ": the emulator's own, not a GPU's" : "");
    if (!emulated)
        report_row(to, "speed", "%s of all GPUs, %s per GPU", format_rate(f->bytes / t->median).s,
                   format_rate(f->bytes / t->median / f->runs->ranks->gpus).s);
}

static void print_text(FILE *to, const struct facts17 *f)
{
    report_heading(to, f->step, f->device);
    row_ranks(to, f);
    rows_parts(to, f);
    row_exchange(to, f);
    row_input(to, f);
    row_verified(to, f);
    row_checksum(to, f);
    rows_time(to, f);
}

/* ---- the record ------------------------------------------------------------------------------ */

static void record_input(struct record *r, const struct facts17 *f)
{
    const struct options *o = f->runs->options;
    const struct request *request = f->runs->request;
    record_integer(r, "step", (uint64_t)f->step->number);
    record_text(r, "name", "%s", f->step->name);
    record_text(r, "op", "%s", request->affine ? "affine" : "sum");
    record_integer(r, "n", f->runs->n);
    record_text(r, "element", "%s", element_name(many_element(request->op)));
    record_text(r, "input", "%s",
                o->input                     ? o->input
                : o->real || request->affine ? "random reals"
                                             : "random integers");
    record_known_text(r, request->second, "second", request->second);
    record_known_integer(r, !o->input, "seed", o->seed);
    record_bool(r, "inclusive", o->inclusive);
}

static void record_ranks(struct record *r, const struct facts17 *f)
{
    const struct ranks *ranks = f->runs->ranks;
    record_text(r, "device", "%s%s", f->device->name, ranks->alike ? "" : ", and others");
    record_bool(r, "emulated", ranks->emulated);
    record_integer(r, "ranks", (uint64_t)ranks->count);
    record_integer(r, "machines", (uint64_t)ranks->machines);
    record_integer(r, "gpus", (uint64_t)ranks->gpus);
    record_text(r, "exchange", "%s", exchange_name(f->runs->exchange));
    record_integer(r, "part_least", f->least);
    record_integer(r, "part_most", f->most);
    record_integer(r, "nodes", f->shape.nodes);
    record_integer(r, "node_elements", f->shape.node_tiles * MANY_TILE);
    record_integer(r, "launches", (uint64_t)many_launches(f->runs->exchange));
}

static void record_verdict(struct record *r, const struct facts17 *f)
{
    const struct verdict *v = &f->o->verdict;
    bool verified = f->runs->options->verify == VERIFY_FULL, wrong = verified && !f->o->right;
    record_text(r, "verify", "%s", verified ? "full" : "none");
    record_known_bool(r, verified, "right", f->o->right);
    record_known_bool(r, verified, "exact", v->exact);
    record_known_integer(r, verified, "checked", v->checked);
    record_known_integer(r, verified, "wrong", v->wrong);
    record_known_integer(r, wrong, "wrong_rank", (uint64_t)f->o->wrong_rank);
    record_known_integer(r, v->shown, "first_wrong", v->first[0].index);
    record_known_text(r, v->shown, "got", v->first[0].got);
    record_known_text(r, v->shown, "expected", v->first[0].want);
    record_known_text(r, *f->o->damage, "cause", f->o->damage);
    record_number(r, "worst_of_bound", verified ? v->worst : NAN);
}

static void record_times(struct record *r, const struct facts17 *f)
{
    const struct timing *t = &f->o->timing;
    record_integer(r, "reps", (uint64_t)t->reps);
    record_number(r, "seconds", t->reps ? t->median : NAN);
    record_number(r, "seconds_lower", t->reps ? t->lower : NAN);
    record_number(r, "seconds_upper", t->reps ? t->upper : NAN);
    record_number(r, "words_per_element", f->words);
    record_number(r, "bytes_moved", f->bytes);
    bool rated = t->reps && !f->runs->ranks->emulated;
    record_number(r, "gb_per_s", rated ? f->bytes / t->median / 1e9 : NAN);
    record_text(r, "checksum", "%016llx", (unsigned long long)f->o->checksum);
    record_bool(r, "checksum_of_ranks", f->depends);
}

void report17(FILE *to, const struct step *step, const struct device *device,
              const struct part_runs *runs, const struct outcome17 *outcome)
{
    struct facts17 f = facts_of_runs(step, device, runs, outcome);
    enum report_format format = runs->options->format;
    if (format == REPORT_TEXT) {
        print_text(to, &f);
        return;
    }
    struct record record = {0};
    record_input(&record, &f);
    record_ranks(&record, &f);
    record_verdict(&record, &f);
    record_times(&record, &f);
    record_open(to, format, true);
    record_print(to, format, &record, 0);
    record_close(to, format, true);
}
