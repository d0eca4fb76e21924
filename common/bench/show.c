#include "show.h"

#include "common/harness/print/format.h"
#include "common/harness/print/record.h"

#include <math.h>
#include <string.h>

static const char *flush_name(enum flush flush) { return flush == FLUSH_READ ? "read" : "memset"; }

/* ---- for people ---------------------------------------------------------------------------- */

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
    fprintf(to, "%sn = %s, %s%s", style.strong, format_count(s->n).s, type_name(s->data->element),
            style.end);
    fprintf(to, "%s; %d rounds, L2 emptied by %s%s\n", style.quiet, s->rounds, flush_name(o->flush),
            style.end);
    fprintf(to, "  %-30s  %9s  %9s  %9s", "", "median", "lower", "upper");
    if (!emulated) fprintf(to, "  %7s  %7s  %6s", "GB/s", "of roof", "x CUB");
    fprintf(to, "\n");
    for (size_t i = 0; i < s->count; i++) show_row(to, s, &s->entries[i], emulated);
    fprintf(to, "\n");
}

/* ---- records ------------------------------------------------------------------------------- */

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
    if (has_number)
        record_integer(r, "step", (uint64_t)contender->step->number);
    else
        record_null(r, "step");
    record_text(r, "variant", "%s", contender_variant(contender));
    record_text(r, "element", "%s", type_name(s->data->element));
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

/* ---- tables and records -------------------------------------------------------------------- */

void show_head(FILE *to, const struct bench_options *o, const struct device *device)
{
    if (o->format != REPORT_TEXT) {
        record_open(to, o->format, false);
        return;
    }
    fprintf(to, "The steps side by side on %s%s%s", device->name,
            device->emulated ? ": times are the emulator's own" : "", *device->why ? ", " : "");
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
