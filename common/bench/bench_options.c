/* bench_options.c — options, and what is printed. */
#include "bench.h"
#include "common/files/option_table.h"
#include "common/harness/print/print.h"
#include "common/step/element.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---------------------------------------------------------------------------------- */

/* Copies the next item of a list with commas, and moves behind it. False: no item is left. */
static bool next_item(const char **list, char *item, size_t size)
{
    if (!*list) return false;
    size_t length = strcspn(*list, ",");
    snprintf(item, size, "%.*s", (int)length, *list);
    *list = (*list)[length] ? *list + length + 1 : NULL;
    return true;
}

static int add_size(struct bench_options *o, size_t n, struct fault *fault)
{
    if (n == 0) return fail(fault, EXIT_USAGE, "--n: every n has to be at least 1.");
    if (o->size_count == BENCH_SIZES)
        return fail(fault, EXIT_USAGE, "--n lists more than %d sizes.", BENCH_SIZES);
    o->sizes[o->size_count++] = n;
    return 0;
}

/* "2^20", or "2^10..2^30": the first, twice that, and so on. */
static int set_n(void *to, const char *value, struct fault *fault)
{
    struct bench_options *o = to;
    char item[80];
    int code = 0;
    while (!code && next_item(&value, item, sizeof item)) {
        size_t from, to;
        char *dots = strstr(item, "..");
        if (dots) *dots = '\0';
        code = size_parse(item, "--n", &from, fault);
        to = from;
        if (!code && dots) code = size_parse(dots + 2, "--n", &to, fault);
        if (!code && from > to)
            code =
                fail(fault, EXIT_USAGE, "--n: the range %s..%s has no size in it.", item, dots + 2);
        for (size_t n = from; !code && n <= to; n *= 2) {
            code = add_size(o, n, fault);
            if (n > SIZE_MAX / 2) break;
        }
    }
    return code;
}

static int set_types(void *to, const char *value, struct fault *fault)
{
    struct bench_options *o = to;
    char item[80];
    o->type_count = 0;
    while (next_item(&value, item, sizeof item)) {
        static const enum element types[] = {ELEMENT_F32, ELEMENT_I32, ELEMENT_I64, ELEMENT_U64,
                                             ELEMENT_F64, ELEMENT_I8,  ELEMENT_I16};
        enum element type;
        bool listed = false;
        if (!element_choose(item, types, sizeof types / sizeof *types, &type))
            return fail(fault, EXIT_USAGE,
                        "--types: \"%.60s\" is unknown; there are f32, i32, i64, u64, f64, i8, "
                        "i16.",
                        item);
        if (type == ELEMENT_U64) type = ELEMENT_I64; /* the same bits, and so have their sums */
        for (size_t k = 0; k < o->type_count; k++) listed |= o->types[k] == type;
        if (!listed) o->types[o->type_count++] = type;
    }
    return 0;
}

static int set_reps(void *to, const char *value, struct fault *fault)
{
    struct bench_options *o = to;
    uint64_t reps = 0;
    if (!option_whole(value, REPS_MAX, &reps) || reps < 1)
        return fail(fault, EXIT_USAGE, "--reps \"%.60s\" is not a whole number from 1 to %d.",
                    value, REPS_MAX);
    o->reps = (int)reps;
    return 0;
}

static int set_flush(void *to, const char *value, struct fault *fault)
{
    struct bench_options *o = to;
    if (strcmp(value, "read") != 0 && strcmp(value, "memset") != 0)
        return fail(fault, EXIT_USAGE, "--flush \"%.60s\" is unknown; choose read or memset.",
                    value);
    o->flush = strcmp(value, "read") == 0 ? FLUSH_READ : FLUSH_WRITE;
    return 0;
}

static int set_device(void *to, const char *value, struct fault *fault)
{
    return options_device(&((struct bench_options *)to)->device, "--device ", value, fault);
}

static int set_csv(void *to, const char *value, struct fault *fault)
{
    (void)value, (void)fault;
    ((struct bench_options *)to)->format = REPORT_CSV;
    return 0;
}

/* ---- the table, in the order of --help ------------------------------------------------------- */

static const struct option_row rows[] = {
    OPTION("n", "LIST", "sizes: 1000,2^20+1 or 2^10..2^30, each twice the one before", set_n),
    OPTION_FLAG("near", "n - 1 and n + 1 as well as each n",
                struct bench_options, near),
    OPTION_TEXT("steps", "LIST",
                "all, cub, roof, 7, 5-9, 5:naive, 5:all (default: all); applications or 13 alone",
                struct bench_options, steps),
    OPTION("types", "LIST", "f32 (default), i32, i64, u64, f64, i8, i16", set_types),
    OPTION("reps", "R", "rounds (default: 31 on a GPU, 3 on the emulator); fewer of what is slow",
           set_reps),
    OPTION("flush", "HOW", "what empties the L2: read (default), or memset as ./stepN does",
           set_flush),
    OPTION("device", "WHERE", "cuda or emu (default: cuda if there is a usable GPU)", set_device),
    OPTION("csv", NULL, "a row for each contender, size and mode", set_csv),
    OPTION_FLAG("help", "this text", struct bench_options, help),
    OPTION_FLAG("version", "the version", struct bench_options, version),
};
static const struct option_table table = {rows, sizeof rows / sizeof *rows};

enum { HELP_COLUMN = 19 };

/* Does an experiment that times an application take this option, too? */
static bool is_for_all(const char *argument)
{
    static const char *const names[] = {"--steps", "--device", "--csv"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(argument, names[i], length) == 0 && strchr("=", argument[length])) return true;
    }
    return false;
}

/* Replaces n by n - 1, n and n + 1. A size that is in the list already is not added again. */
static int add_neighbours(struct bench_options *o, struct fault *fault)
{
    size_t given[BENCH_SIZES], count = o->size_count;
    memcpy(given, o->sizes, sizeof given);
    o->size_count = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t n = given[i] - 1; n <= given[i] + 1; n++) {
            bool there = n == 0;
            for (size_t k = 0; k < o->size_count; k++) there |= o->sizes[k] == n;
            int code = there ? 0 : add_size(o, n, fault);
            if (code) return code;
        }
    return 0;
}

int bench_options_parse(struct bench_options *o, int argc, char *const *argv, struct fault *fault)
{
    *o = (struct bench_options){.steps = "all",
                                .types = {ELEMENT_F32},
                                .type_count = 1,
                                .reps = REPS_DEFAULT,
                                .flush = FLUSH_READ};
    const char *device = getenv("DEVICE");
    int code = device && *device ? set_device(o, device, fault) : 0;
    struct command_line line = {.count = argc, .arguments = argv, .at = 1};
    bool taken = true;
    while (!code && taken && line.at < argc) {
        if (!is_for_all(argv[line.at])) o->for_scans = argv[line.at];
        code = option_take(table, &line, o, &taken, fault);
    }
    if (!taken)
        return fail(fault, EXIT_USAGE, "\"%.60s\" is no option; --help lists them.", argv[line.at]);
    if (!code && o->near) code = add_neighbours(o, fault);
    return code;
}

void bench_options_help(FILE *to)
{
    fprintf(to, "bench: the steps, CUB and the roof side by side\n\nUsage: ./bench [options]\n\n");
    option_print(table, HELP_COLUMN, to);
    fprintf(
        to,
        "\nEvery contender is verified element by element before and after it is timed. In\n"
        "each round every one runs once, with an empty L2. Where runs are short, many are\n"
        "also timed together in a CUDA graph, each on numbers of its own.\n"
        "Steps that apply scan are timed beside CUB and NPP by experiments, one at a time, which\n"
        "take --device and --csv as well:\n");
    contenders_print_applications(to);
    fprintf(to, "Exit code: 0 all right, 1 a wrong result, 2 usage, 3 device.\n");
}

/* ---- show ------------------------------------------------------------------------------------ */

static const char *flush_name(enum flush flush) { return flush == FLUSH_READ ? "read" : "memset"; }

/* ---- for people ------------------------------------------------------------------------------ */

static double ratio(double of, double by) { return of > 0 && by > 0 ? of / by : NAN; }

static void cell(FILE *to, int width, const char *format, double value)
{
    char text[32] = "";
    if (!isnan(value)) snprintf(text, sizeof text, format, value);
    fprintf(to, "  %*s", width, text);
}

/* The width of a column counts letters, but printf counts bytes, and "µ" has two. */
static void time_cell(FILE *to, double seconds)
{
    struct text text = format_seconds(seconds);
    fprintf(to, "  %*s", strstr(text.s, "µ") ? 10 : 9, text.s);
}

static void show_row(FILE *to, const struct side_by_side *s, const struct entry *e, bool emulated)
{
    const struct timing *t = e->graph.reps ? &e->graph : &e->cold;
    const struct entry *roof = side_by_side_roof(s), *cub = side_by_side_cub(s);
    double seconds = entry_seconds(e);
    char name[64];
    snprintf(name, sizeof name, "%s %s", contender_name(&e->contender).name,
             contender_variant(&e->contender));
    fprintf(to, "  %-30s", name);
    if (seconds > 0) {
        time_cell(to, seconds);
        time_cell(to, t->lower);
        time_cell(to, t->upper);
        if (!emulated) {
            cell(to, 7, "%.0f", side_by_side_bytes(s) / seconds / 1e9);
            cell(to, 7, "%.1f %%", 100 * ratio(roof ? entry_seconds(roof) : 0, seconds));
            cell(to, 6, "%.2f", ratio(cub ? entry_seconds(cub) : 0, seconds));
        }
        fprintf(to, "  %s", e->graph.reps ? "graph" : "cold");
    }
    fprintf(to, "%s%s\n", *e->wrong ? (e->right ? "  " : "  WRONG: ") : "", e->wrong);
}

static void show_table(FILE *to, const struct bench_options *o, const struct side_by_side *s,
                       bool emulated)
{
    struct style style = style_of(to);
    fprintf(to, "%sn = %s, %s%s", style.strong, format_count(s->n).s,
            element_short(s->data->element), style.end);
    fprintf(to, "%s; %d rounds, L2 emptied by %s%s\n", style.quiet, s->rounds, flush_name(o->flush),
            style.end);
    fprintf(to, "  %-30s  %9s  %9s  %9s", "", "median", "lower", "upper");
    if (!emulated) fprintf(to, "  %7s  %7s  %6s", "GB/s", "of roof", "x CUB");
    fprintf(to, "\n");
    for (size_t i = 0; i < s->count; i++) show_row(to, s, &s->entries[i], emulated);
    fprintf(to, "\n");
}

/* ---- records --------------------------------------------------------------------------------- */

/* The time of another contender divided by this one's, in the same mode. */
static void record_ratio(struct record *r, const char *key, const struct entry *other, bool graph,
                         double seconds)
{
    double of = other ? (graph ? other->graph.median : other->cold.median) : 0;
    record_number(r, key, ratio(of, seconds));
}

/* The fastest way to copy in this mode. */
static const struct entry *roof_in(const struct side_by_side *s, bool graph)
{
    const struct entry *best = NULL;
    for (size_t i = 0; i < s->count; i++) {
        const struct entry *e = &s->entries[i];
        const struct timing *t = graph ? &e->graph : &e->cold;
        if (!e->contender.way || t->reps == 0) continue;
        if (!best || t->median < (graph ? &best->graph : &best->cold)->median) best = e;
    }
    return best;
}

static void fill(struct record *r, const struct bench_options *o, const struct device *device,
                 const struct side_by_side *s, const struct entry *e, bool graph)
{
    const struct timing *t = graph ? &e->graph : &e->cold;
    const struct contender *contender = &e->contender;
    bool has_number = contender->step && !contender_is_cub(contender),
         rated = t->reps && !device->emulated;
    record_text(r, "contender", "%s", contender_name(contender).name);
    record_known_integer(r, has_number, "step",
                         has_number ? (uint64_t)contender->step->number : 0);
    record_text(r, "variant", "%s", contender_variant(contender));
    record_text(r, "element", "%s", element_short(s->data->element));
    record_integer(r, "n", s->n);
    record_text(r, "mode", "%s", graph ? "graph" : "cold");
    record_text(r, "flush", "%s", flush_name(o->flush));
    record_integer(r, "launches", graph ? s->runs : 1);
    record_integer(r, "reps", (uint64_t)t->reps);
    record_number(r, "seconds", t->reps ? t->median : NAN);
    record_number(r, "seconds_lower", t->reps ? t->lower : NAN);
    record_number(r, "seconds_upper", t->reps ? t->upper : NAN);
    record_number(r, "seconds_least", t->reps ? t->least : NAN);
    record_number(r, "bytes_moved", side_by_side_bytes(s));
    record_number(r, "gb_per_s", rated ? side_by_side_bytes(s) / t->median / 1e9 : NAN);
    record_ratio(r, "roof_fraction", roof_in(s, graph), graph, rated ? t->median : 0);
    record_ratio(r, "times_cub", side_by_side_cub(s), graph, rated ? t->median : 0);
    record_bool(r, "right", e->right);
    record_text(r, "wrong", "%s", e->wrong);
    record_text(r, "device", "%s", device->name);
    record_text(r, "cub", "%s", contender_cub_version().name);
}

static void show_records(FILE *to, const struct bench_options *o, const struct device *device,
                         const struct side_by_side *s, size_t *records)
{
    for (size_t i = 0; i < s->count; i++)
        for (int graph = 0; graph < 2; graph++) {
            const struct entry *e = &s->entries[i];
            if (graph && e->graph.reps == 0) continue;
            struct record record = {0};
            fill(&record, o, device, s, e, graph);
            record_print(to, o->format, &record, (*records)++);
        }
}

/* ---- tables and records ---------------------------------------------------------------------- */

void show_head(FILE *to, const struct bench_options *o, const struct device *device)
{
    if (o->format != REPORT_TEXT) {
        record_open(to, o->format, false);
        return;
    }
    struct contender_name cub = contender_cub_version();
    fprintf(to, "The steps%s%s side by side on %s%s%s", *cub.name ? " and CUB " : "", cub.name,
            device->name, device->emulated ? ": times are the emulator's own" : "",
            *device->why ? ", " : "");
    fprintf(to, "%s%s\n\n", *device->why ? "because " : "", device->why);
}

void show_side_by_side(FILE *to, const struct bench_options *o, const struct device *device,
                       const struct side_by_side *s, size_t *records)
{
    if (o->format == REPORT_TEXT)
        show_table(to, o, s, device->emulated);
    else
        show_records(to, o, device, s, records);
    fflush(to);
}

void show_end(FILE *to, const struct bench_options *o)
{
    if (o->format != REPORT_TEXT) record_close(to, o->format, false);
}
