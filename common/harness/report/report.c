/* report.c — the screen, lines of source, and the records of --json and --csv. */
#define _GNU_SOURCE
#include "common/files/visible.h"
#include "common/harness/print/print.h"
#include "report.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- source line ----------------------------------------------------------------------------- */

/* Writes this program's folder with a slash at its end; returns its length, or 0 if it is not
 * known. */
static size_t program_folder(char path[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (length < 0) return 0;
    path[length] = '\0';
    char *name = strrchr(path, '/') + 1;
    *name = '\0';
    return (size_t)(name - path);
}

/* Appends `name` to a folder of this length. Returns whether there is such a file. */
static bool is_file_in(char path[PATH_MAX], size_t folder, const char *name)
{
    int length = snprintf(path + folder, PATH_MAX - folder, "%s", name);
    return length >= 0 && (size_t)length < PATH_MAX - folder && access(path, R_OK) == 0;
}

/* The file's path without the folder that this program lies in: "steps/03-work-efficient/scan.cu".
 * The tree may have been moved since it was built. */
static const char *source_name(const char *file)
{
    char path[PATH_MAX];
    size_t folder = program_folder(path);
    if (folder && strncmp(file, path, folder) == 0) return file + folder;
    for (const char *end = file; folder && (end = strchr(end, '/')) && strchr(end + 1, '/');)
        if (is_file_in(path, folder, ++end)) return end;
    return file;
}

/* Opens the file in this program's tree or, if it lies elsewhere, where it was compiled. */
static FILE *open_source(const char *file)
{
    char path[PATH_MAX];
    size_t folder = program_folder(path);
    return folder && is_file_in(path, folder, source_name(file)) ? fopen(path, "r")
                                                                 : fopen(file, "r");
}

void source_text(const char *file, unsigned line, char *text, size_t size)
{
    text[0] = '\0';
    FILE *source = open_source(file);
    if (!source) return;
    char row[512];
    for (unsigned at = 1; fgets(row, sizeof row, source); at++) {
        if (at != line) continue;
        const char *start = row;
        while (isspace((unsigned char)*start)) start++;
        row[strcspn(row, "\n")] = '\0';
        for (char *tab = row; (tab = strchr(tab, '\t'));) *tab = ' ';
        visible(text, size, start);
        break;
    }
    fclose(source);
}

/* ---- the screen ------------------------------------------------------------------------------ */

#define LABEL_WIDTH     10
#define SOURCE_WIDTH    80 /* of a source line's text */
#define SOURCE_IN_TABLE 44
#define NAME_SHOWN      120 /* bytes of a file's name */

void report_row(FILE *to, const char *label, const char *format, ...)
{
    struct style style = style_of(to);
    fprintf(to, "  %s%-*s%s  ", style.quiet, LABEL_WIDTH, label, style.end);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(to, format, arguments);
    va_end(arguments);
    putc('\n', to);
}

static const char *shown_name(const char *file, char name[NAME_SHOWN])
{
    visible(name, NAME_SHOWN, source_name(file));
    return name;
}

/* ---- heading and last line ------------------------------------------------------------------- */

void report_heading(FILE *to, const struct step *step, const struct device *device)
{
    struct style style = style_of(to);
    fprintf(to, "%s", style.strong);
    if (step->program)
        fprintf(to, "Baseline · ");
    else
        fprintf(to, "Step %d · ", step->number);
    fprintf(to, "%s%s\n", step->title, style.end);
    if (step->teaches) fprintf(to, "%s\n", step->teaches);
    fprintf(to, "\n");
    char cpu[DEVICE_NAME];
    device_cpu_name(cpu, sizeof cpu);
    if (!device)
        report_row(to, "device", "%s, one thread", cpu);
    else if (!device->emulated)
        report_row(to, "device", "%s (%d SMs, compute capability %d.%d)", device->name, device->sms,
                   device->major, device->minor);
    else
        report_row(to, "device", "%s on the CPU%s%s", device->name, *device->why ? ": " : "",
                   device->why);
}

void report_still_bad(FILE *to, const struct step *step)
{
    struct style style = style_of(to);
    if (step->still_bad)
        fprintf(to, "\n%sStill bad:%s %s\n", style.strong, style.end, step->still_bad);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The threads of all blocks that fit on a multiprocessor, in whole warps, as a share of the threads
 * that it can hold. */
static double report_occupancy(const struct device *device, const struct launch *launch)
{
    unsigned warp = (unsigned)device->warp_size, warps = (launch->block + warp - 1) / warp;
    return (double)launch->blocks_per_sm * warps * warp / device->threads_per_sm;
}

static void rows_launch(FILE *to, const struct device *device, const struct launches *launches)
{
    for (unsigned k = 0; k < launches->kinds; k++) {
        const struct launch *one = &launches->of[k];
        char times[40] = "", shared[80] = "";
        if (one->shared_bytes > 0)
            snprintf(shared, sizeof shared, " and %s of shared memory",
                     format_bytes(one->shared_bytes).s);
        if (one->times > 1)
            snprintf(times, sizeof times, "; the largest of %u launches", one->times);
        report_row(to, k ? "" : "launch", "%s: %s block%s of %u thread%s%s%s%s", one->kernel,
                   format_count(one->grid).s, plural(one->grid), one->block, plural(one->block),
                   shared, one->shared_bytes > 0 && one->grid > 1 ? " each" : "", times);
    }
    for (unsigned k = 0; device && k < launches->kinds; k++) {
        const struct launch *one = &launches->of[k];
        report_row(to, k ? "" : "occupancy", "%s%s%s (theoretical): %d block%s per SM%s",
                   launches->kinds > 1 ? one->kernel : "", launches->kinds > 1 ? ": " : "",
                   format_percent(report_occupancy(device, one)).s, one->blocks_per_sm,
                   plural((uint64_t)one->blocks_per_sm),
                   device->emulated ? "; registers estimated" : "");
    }
}

static void row_input(FILE *to, const struct subject *s, const struct outcome *o)
{
    const struct options *options = s->options;
    const struct description *d = &o->description;
    char from[NAME_SHOWN + 40], name[NAME_SHOWN], how[160] = "";
    visible(name, sizeof name, options->input ? options->input : "");
    if (options->input)
        snprintf(from, sizeof from, "from %s", strcmp(name, "-") ? name : "stdin");
    else
        snprintf(from, sizeof from, "random %s, seed %llu", options->real ? "reals" : "integers",
                 (unsigned long long)options->seed);
    if (options->input_rounded) strcat(how, ", rounded to the nearest");
    if (options->in_place) strcat(how, ", in place");
    if (subject_shifts(s)) strcat(how, ", made inclusive");
    size_t used = strlen(how);
    if (options->offset)
        snprintf(how + used, sizeof how - used, ", displaced by %zu", options->offset);
    if (*d->input)
        report_row(to, "input", "%s%s", d->input, how);
    else
        report_row(to, "input", "%s %s, %s%s", format_count(o->n).s,
                   element_words(s->element, o->n).s, from, how);
    if (s->step->variants) report_row(to, "variant", "%s", s->step->variants[options->variant]);
    if (*d->variant) report_row(to, "", "%s", d->variant);
}

/* What the subject says of its result, and of its memory traffic. */
static void rows_result(FILE *to, const struct outcome *o)
{
    const struct description *d = &o->description;
    if (d->moved_bytes == 0) return;
    if (*d->result) report_row(to, "result", "%s", d->result);
    report_row(to, "traffic", "%s read and written, %.2f times the least possible, %s",
               format_bytes((uint64_t)d->moved_bytes).s, d->moved_bytes / d->least_bytes,
               format_bytes((uint64_t)d->least_bytes).s);
}

/* The bound hides errors up to its size. An element that is left out is found for certain only if
 * its magnitude is more than twice the bound, because the error of a right result and that of a
 * wrong one may cancel. */
static void row_bound(FILE *to, const struct verdict *v)
{
    bool shows = v->least > 2 * v->bound;
    report_row(to, "", "the bound is at most %.2g, the smallest |input| is %.3g%s", v->bound,
               v->least, shows ? "" : ": one left out may not show");
}

static void row_verified(FILE *to, const struct outcome *o)
{
    struct style style = style_of(to);
    const struct verdict *v = &o->verdict;
    if (!o->verified) {
        report_row(to, "verified", "not at all (--verify none)");
        return;
    }
    const char *which = v->checked == 1 ? "the one element" : "every element";
    const char *when = o->timing.reps ? ", in each timed run, too" : "";
    if (!o->right)
        report_row(to, "verified", "%sWRONG%s%s%s", style.bad, style.end, *o->run ? " in " : "",
                   o->run);
    else if (v->exact)
        report_row(to, "verified", "%sright%s: %s, exactly%s", style.good, style.end, which, when);
    else
        report_row(to, "verified", "%sright%s: %s, worst error %s of the bound%s", style.good,
                   style.end, which, format_percent(v->worst).s, when);
    if (o->right && !v->exact) row_bound(to, v);
}

/* Only what runs on the GPU has hazards and accesses that a checker finds. */
static void row_advice(FILE *to, const struct step *step)
{
    if (!step->on_host)
        report_row(to, "", "to look for hazards and bad accesses: build/emu/emu --tool all ./%s",
                   step_program(step).name);
}

static void rows_mismatches(FILE *to, const struct step *step, const struct outcome *o)
{
    const struct verdict *v = &o->verdict;
    if (o->right) return;
    if (*o->damage) report_row(to, "", "%s", o->damage);
    if (v->right) {
        row_advice(to, step);
        return;
    }
    report_row(to, "", "%s of %s element%s", format_count(v->wrong).s, format_count(v->checked).s,
               plural(v->checked));
    report_row(to, "", "%12s  %18s  %18s", "index", "got", "expected");
    for (size_t i = 0; i < v->shown; i++)
        report_row(to, "", "%12zu  %18s  %18s", v->first[i].index, v->first[i].got,
                   v->first[i].want);
    if (*v->cause) report_row(to, "", "likely cause: %s", v->cause);
    row_advice(to, step);
}

/* The additions that the emulator's lanes executed in the first run. False: not known. */
static bool report_adds_counted(const struct subject *, const struct outcome *, uint64_t *adds);

static void row_adds(FILE *to, const struct subject *s, const struct outcome *o)
{
    double sequential = (double)o->n - 1;
    uint64_t counted;
    char times[48] = "";
    if (!s->verbs->sums || !report_adds_counted(s, o, &counted)) return;
    if (sequential > 0)
        snprintf(times, sizeof times, " (%.2f times as many)", (double)counted / sequential);
    report_row(to, "additions", "%s counted, %s sequentially%s", format_count(counted).s,
               format_count(o->n - 1).s, times);
}

static void rows_time(FILE *to, const struct subject *s, const struct device *device,
                      const struct outcome *o)
{
    const struct timing *t = &o->timing;
    if (t->reps == 0) return;
    char spread[120] = "";
    if (t->reps > 1)
        snprintf(spread, sizeof spread, ", median of %d (quartiles %s to %s)", t->reps,
                 format_seconds(t->lower).s, format_seconds(t->upper).s);
    if (device && device->emulated) {
        report_row(to, "time", "%s%s: the emulator's own, not a GPU's", format_seconds(t->median).s,
                   spread);
        return;
    }
    double rate = o->description.least_bytes / t->median;
    report_row(to, "time", "%s%s", format_seconds(t->median).s, spread);
    if (!o->roofed) {
        report_row(to, "speed", "%s%s", format_rate(rate).s, device ? "" : ", caches warm");
        return;
    }
    double roof = 2 * (double)o->roof.bytes / o->roof.timing.median;
    report_row(to, "speed", "%s%s, %s of the roof (copy: %s, %s, %s)", format_rate(rate).s,
               s->verbs->sums ? "" : " of the least traffic", format_percent(rate / roof).s,
               format_seconds(o->roof.timing.median).s, format_rate(roof).s, o->roof.how);
}

static void rows_counters(FILE *to, const struct options *options, const struct device *device,
                          const struct outcome *o)
{
    if (!device && options->counters)
        report_row(to, "counters", "none: this step runs on the CPU itself");
    if (!device) return;
    if (!o->counted) {
        report_row(to, "counters", "run this under ncu, or with --device emu");
        return;
    }
    const struct emu_counts *c = &o->counters.total;
    if (c->shared_ld.instructions || c->shared_st.instructions)
        report_row(to, "conflicts", "%s in loads, %s in stores (of %s and %s wavefronts)",
                   format_count(counters_conflicts(&c->shared_ld)).s,
                   format_count(counters_conflicts(&c->shared_st)).s,
                   format_count(c->shared_ld.wavefronts).s,
                   format_count(c->shared_st.wavefronts).s);
    if (c->shared_copy.instructions)
        report_row(to, "copies", "conflicts: %s of %s wavefronts of asynchronous copies",
                   format_count(counters_conflicts(&c->shared_copy)).s,
                   format_count(c->shared_copy.wavefronts).s);
    const struct counter_line *worst = counters_worst_line(&o->counters);
    if (worst) {
        char text[SOURCE_WIDTH + 1], name[NAME_SHOWN];
        source_text(worst->file, worst->line, text, sizeof text);
        report_row(to, "", "most in %s:%u: %s + %s", shown_name(worst->file, name), worst->line,
                   format_count(counters_conflicts(&worst->counts.shared_ld)).s,
                   format_count(counters_conflicts(&worst->counts.shared_st)).s);
        if (*text) report_row(to, "", "    %s", text);
    }
    report_row(to, "sectors", "%.2f per request for loads, %.2f for stores",
               counters_sectors_per_request(&c->global_ld),
               counters_sectors_per_request(&c->global_st));
}

void report_outcome(FILE *to, const struct subject *s, const struct device *device,
                    const struct outcome *o)
{
    if (s->verbs->report) s->verbs->report(s, to, NULL);
    rows_launch(to, device, &o->launches);
    row_input(to, s, o);
    row_verified(to, o);
    rows_mismatches(to, s->step, o);
    rows_result(to, o);
    row_adds(to, s, o);
    rows_time(to, s, device, o);
    rows_counters(to, s->options, device, o);
}

/* ---- counters by line ------------------------------------------------------------------------ */

/* A column: the number, or a dot for none, so that the eye finds the others. */
static void column(FILE *to, int width, uint64_t count)
{
    struct style style = style_of(to);
    if (count)
        fprintf(to, "%*llu", width, (unsigned long long)count);
    else
        fprintf(to, "%s%*s%s", style.quiet, width, ".", style.end);
}

static void shared_columns(FILE *to, const struct emu_shared *shared)
{
    column(to, 9, shared->wavefronts);
    column(to, 9, counters_conflicts(shared));
}

static void global_columns(FILE *to, const struct emu_global *global)
{
    column(to, 9, global->sectors);
    if (global->requests)
        fprintf(to, "%7.2f", counters_sectors_per_request(global));
    else
        column(to, 7, 0);
}

static uint64_t real_adds(const struct emu_counts *c)
{
    return c->adds[EMU_ADD_F32] + c->adds[EMU_ADD_F64] + c->adds[EMU_ADD_F16];
}

void report_lines(FILE *to, const struct counters *counters)
{
    struct style style = style_of(to);
    const char *file = "";
    char text[SOURCE_WIDTH + 1], name[NAME_SHOWN];
    fprintf(to, "\n%s%5s%18s%18s%16s%16s\n", style.quiet, "", "shared loads", "shared stores",
            "global loads", "global stores");
    fprintf(to, "%5s%9s%9s%9s%9s%9s%7s%9s%7s%11s%s\n", "line", "wavefr.", "conflict", "wavefr.",
            "conflict", "sectors", "/req.", "sectors", "/req.", "adds", style.end);
    for (size_t i = 0; i < counters->line_count; i++) {
        const struct counter_line *line = &counters->lines[i];
        const struct emu_counts *c = &line->counts;
        uint64_t adds = real_adds(c);
        if (!c->shared_ld.wavefronts && !c->shared_st.wavefronts && !c->global_ld.requests &&
            !c->global_st.requests && !adds)
            continue;
        if (strcmp(file, line->file) != 0)
            fprintf(to, "%s%s%s\n", style.strong, shown_name(line->file, name), style.end);
        file = line->file;
        source_text(line->file, line->line, text, sizeof text);
        fprintf(to, "%5u", line->line);
        shared_columns(to, &c->shared_ld);
        shared_columns(to, &c->shared_st);
        global_columns(to, &c->global_ld);
        global_columns(to, &c->global_st);
        column(to, 11, adds);
        fprintf(to, "  %s%.*s%s\n", style.quiet, SOURCE_IN_TABLE, text, style.end);
    }
}

/* ---- records --------------------------------------------------------------------------------- */

static bool report_adds_counted(const struct subject *s, const struct outcome *o, uint64_t *adds)
{
    /* Integer additions also compute addresses, so only those of real types say something. */
    enum element sum = element_of_sum(s->element);
    if (!o->counted || !s->verbs->sums || !element_is_real(sum)) return false;
    *adds = o->counters.total.adds[sum == ELEMENT_F32 ? EMU_ADD_F32 : EMU_ADD_F64];
    return true;
}

static void record_what(struct record *r, const struct subject *s, const struct outcome *o)
{
    const struct step *step = s->step;
    const struct options *options = s->options;
    record_integer(r, "step", (uint64_t)step->number);
    record_text(r, "name", "%s", step->name);
    record_known_text(r, step->variants, "variant",
                      step->variants ? step->variants[options->variant] : NULL);
    record_integer(r, "n", o->n);
    record_text(r, "element", "%s", element_name(s->element));
    record_text(r, "input", "%s",
                options->input  ? options->input
                : options->real ? "random reals"
                                : "random integers");
    record_known_integer(r, !options->input, "seed", options->seed);
    record_bool(r, "inclusive", step->inclusive || options->inclusive);
    record_bool(r, "in_place", options->in_place);
    record_integer(r, "offset", options->offset);
}

static void record_where(struct record *r, const struct device *device, const struct outcome *o)
{
    char cpu[DEVICE_NAME];
    device_cpu_name(cpu, sizeof cpu);
    record_text(r, "device", "%s", device ? device->name : cpu);
    record_bool(r, "emulated", device && device->emulated);
    static const struct launch none;
    const struct launch *largest = launches_largest(&o->launches), *l = largest ? largest : &none;
    record_known_text(r, largest, "kernel", l->kernel);
    record_known_integer(r, largest, "grid", l->grid);
    record_known_integer(r, largest, "block", l->block);
    record_known_integer(r, largest, "shared_bytes", l->shared_bytes);
    record_known_integer(r, largest, "launches", o->launches.all);
    record_number(r, "occupancy", largest ? report_occupancy(device, l) : NAN);
}

static void record_verdict(struct record *r, const struct options *options, const struct outcome *o)
{
    static const char *const modes[] = {[VERIFY_FULL] = "full", [VERIFY_NONE] = "none"};
    const struct verdict *v = &o->verdict;
    record_text(r, "verify", "%s", modes[options->verify]);
    record_known_bool(r, o->verified, "right", o->right);
    record_known_bool(r, o->verified, "exact", v->exact);
    record_known_integer(r, o->verified, "checked", v->checked);
    record_known_integer(r, o->verified, "wrong", v->wrong);
    record_known_integer(r, v->shown, "first_wrong", v->first[0].index);
    record_known_text(r, v->shown, "got", v->first[0].got);
    record_known_text(r, v->shown, "expected", v->first[0].want);
    const char *cause = *o->damage ? o->damage : v->cause;
    if (*cause || *o->run)
        record_text(r, "cause", "%s%s%s", o->run, *o->run && *cause ? ": " : "", cause);
    else
        record_null(r, "cause");
    record_number(r, "worst_of_bound", o->verified && !v->exact ? v->worst : NAN);
    record_number(r, "widest_bound", o->verified ? v->bound : NAN);
    record_number(r, "least_input", o->verified && !v->exact ? v->least : NAN);
}

static void record_adds(struct record *r, const struct subject *s, const struct outcome *o)
{
    uint64_t counted = 0;
    bool known = report_adds_counted(s, o, &counted);
    record_known_integer(r, known, "adds_counted", counted);
    record_known_integer(r, s->verbs->sums, "adds_sequential", o->n - 1);
}

static void record_time(struct record *r, const struct device *device, const struct outcome *o)
{
    const struct timing *t = &o->timing;
    double bytes = o->description.least_bytes;
    const double nothing = NAN; /* becomes null */
    record_integer(r, "reps", (uint64_t)t->reps);
    record_number(r, "seconds", t->reps ? t->median : nothing);
    record_number(r, "seconds_lower", t->reps ? t->lower : nothing);
    record_number(r, "seconds_upper", t->reps ? t->upper : nothing);
    record_integer(r, "bytes_moved", (uint64_t)bytes);
    bool rated = t->reps && !(device && device->emulated);
    double rate = rated ? bytes / t->median / 1e9 : nothing;
    record_number(r, "gb_per_s", rate);
    double roof = o->roofed ? 2e-9 * (double)o->roof.bytes / o->roof.timing.median : nothing;
    record_number(r, "roof_gb_per_s", roof);
    record_number(r, "roof_fraction", rate / roof);
    record_known_text(r, o->roofed, "roof_how", o->roof.how);
}

/* What a record and a line of it have of the counters. */
struct field {
    const char *key;
    uint64_t value;
};
enum { SHARED_FIELDS = 4, FIELDS = 8 };

static void fill_fields(struct field fields[FIELDS], const struct emu_counts *c)
{
    const struct field all[FIELDS] = {{"conflicts_ld", counters_conflicts(&c->shared_ld)},
                                      {"conflicts_st", counters_conflicts(&c->shared_st)},
                                      {"wavefronts_ld", c->shared_ld.wavefronts},
                                      {"wavefronts_st", c->shared_st.wavefronts},
                                      {"requests_ld", c->global_ld.requests},
                                      {"sectors_ld", c->global_ld.sectors},
                                      {"requests_st", c->global_st.requests},
                                      {"sectors_st", c->global_st.sectors}};
    memcpy(fields, all, sizeof all);
}

static void record_counters(struct record *r, const struct outcome *o)
{
    const struct counter_line *worst = o->counted ? counters_worst_line(&o->counters) : NULL;
    struct field fields[FIELDS];
    fill_fields(fields, &o->counters.total);
    for (int i = 0; i < FIELDS; i++) {
        if (i == SHARED_FIELDS && worst)
            record_text(r, "worst_line", "%s:%u", source_name(worst->file), worst->line);
        else if (i == SHARED_FIELDS)
            record_null(r, "worst_line");
        record_known_integer(r, o->counted, fields[i].key, fields[i].value);
    }
    record_known_integer(r, o->counted, "barriers", o->counters.total.barriers);
}

void report_record(struct record *r, const struct subject *s, const struct device *device,
                   const struct outcome *o)
{
    *r = (struct record){0};
    record_what(r, s, o);
    record_where(r, device, o);
    record_verdict(r, s->options, o);
    record_adds(r, s, o);
    record_time(r, device, o);
    record_known_text(r, *o->description.variant, "variant_remark", o->description.variant);
    record_counters(r, o);
    if (s->verbs->report) s->verbs->report(s, NULL, r);
}

static void print_lines(FILE *to, const struct counters *counters)
{
    struct field fields[FIELDS];
    fputs(",\n  \"lines\": [", to);
    for (size_t i = 0; i < counters->line_count; i++) {
        const struct counter_line *line = &counters->lines[i];
        fprintf(to, "%s\n    {\"file\": ", i ? "," : "");
        record_json_string(to, source_name(line->file));
        fprintf(to, ", \"line\": %u", line->line);
        fill_fields(fields, &line->counts);
        for (int k = 0; k < FIELDS; k++)
            fprintf(to, ", \"%s\": %llu", fields[k].key, (unsigned long long)fields[k].value);
        fprintf(to, ", \"adds\": %llu}", (unsigned long long)real_adds(&line->counts));
    }
    fputs("\n  ]", to);
}

void report_print_record(FILE *to, const struct record *record, const struct options *options,
                         const struct outcome *o, size_t index)
{
    if (options->format != REPORT_JSON || !options->counters || !o->counted) {
        record_print(to, options->format, record, index);
        return;
    }
    if (index) fputs(",\n", to);
    record_print_json(to, record);
    print_lines(to, &o->counters);
    fputs("\n}", to);
}
