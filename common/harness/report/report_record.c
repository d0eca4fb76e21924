/*
 * report_record.c — the keys of --json and --csv, which report.h explains.
 */
#include "report.h"


#include <math.h>
#include <string.h>

bool report_adds_counted(const struct subject *s, const struct outcome *o, uint64_t *adds)
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
    if (step->variants)
        record_text(r, "variant", "%s", step->variants[options->variant]);
    else
        record_null(r, "variant");
    record_integer(r, "n", o->n);
    record_text(r, "element", "%s", element_name(s->element));
    if (options->input) {
        record_text(r, "input", "%s", options->input);
        record_null(r, "seed");
    } else {
        record_text(r, "input", options->real ? "random reals" : "random integers");
        record_integer(r, "seed", options->seed);
    }
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
    const struct launch *largest = launches_largest(&o->launches);
    if (!largest) {
        static const char *const keys[] = {"kernel", "grid", "block", "shared_bytes", "launches",
                                           "occupancy"};
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) record_null(r, keys[i]);
        return;
    }
    record_text(r, "kernel", "%s", largest->kernel);
    record_integer(r, "grid", largest->grid);
    record_integer(r, "block", largest->block);
    record_integer(r, "shared_bytes", largest->shared_bytes);
    record_integer(r, "launches", o->launches.all);
    record_number(r, "occupancy", report_occupancy(device, largest));
}

static void record_verdict(struct record *r, const struct options *options, const struct outcome *o)
{
    static const char *const modes[] = {[VERIFY_FULL] = "full", [VERIFY_NONE] = "none"};
    static const char *const keys[] = {"right", "exact", "checked", "wrong"};
    const struct verdict *v = &o->verdict;
    record_text(r, "verify", "%s", modes[options->verify]);
    if (o->verified) {
        record_bool(r, keys[0], o->right);
        record_bool(r, keys[1], v->exact);
        record_integer(r, keys[2], v->checked);
        record_integer(r, keys[3], v->wrong);
    } else {
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) record_null(r, keys[i]);
    }
    if (v->shown) {
        record_integer(r, "first_wrong", v->first[0].index);
        record_text(r, "got", "%s", v->first[0].got);
        record_text(r, "expected", "%s", v->first[0].want);
    } else {
        record_null(r, "first_wrong");
        record_null(r, "got");
        record_null(r, "expected");
    }
    const char *cause = *o->damage ? o->damage : v->cause;
    if (*cause || *o->run)
        record_text(r, "cause", "%s%s%s", o->run, *o->run && *cause ? ": " : "", cause);
    else
        record_null(r, "cause");
    if (o->verified && !v->exact)
        record_number(r, "worst_of_bound", v->worst);
    else
        record_null(r, "worst_of_bound");
    record_number(r, "widest_bound", o->verified ? v->bound : NAN);
    record_number(r, "least_input", o->verified && !v->exact ? v->least : NAN);
}

static void record_adds(struct record *r, const struct subject *s, const struct outcome *o)
{
    uint64_t counted;
    if (report_adds_counted(s, o, &counted))
        record_integer(r, "adds_counted", counted);
    else
        record_null(r, "adds_counted");
    if (s->verbs->sums)
        record_integer(r, "adds_sequential", o->n - 1);
    else
        record_null(r, "adds_sequential");
}

static void record_time(struct record *r, const struct device *device, const struct outcome *o)
{
    const struct timing *t = &o->timing;
    double bytes = o->description.least_bytes;
    const double nothing = 0.0 / 0.0; /* becomes null */
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
    if (o->roofed)
        record_text(r, "roof_how", "%s", o->roof.how);
    else
        record_null(r, "roof_how");
}

static void record_counters(struct record *r, const struct outcome *o)
{
    const struct emu_counts *c = &o->counters.total;
    const struct {
        const char *key;
        uint64_t value;
    } shared[] = {{"conflicts_ld", counters_conflicts(&c->shared_ld)},
                  {"conflicts_st", counters_conflicts(&c->shared_st)},
                  {"wavefronts_ld", c->shared_ld.wavefronts},
                  {"wavefronts_st", c->shared_st.wavefronts}},
      global[] = {{"requests_ld", c->global_ld.requests},
                  {"sectors_ld", c->global_ld.sectors},
                  {"requests_st", c->global_st.requests},
                  {"sectors_st", c->global_st.sectors},
                  {"barriers", c->barriers}};
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
        if (o->counted)
            record_integer(r, shared[i].key, shared[i].value);
        else
            record_null(r, shared[i].key);
    }
    const struct counter_line *worst = o->counted ? counters_worst_line(&o->counters) : NULL;
    if (worst)
        record_text(r, "worst_line", "%s:%u", source_name(worst->file), worst->line);
    else
        record_null(r, "worst_line");
    for (size_t i = 0; i < sizeof global / sizeof *global; i++) {
        if (o->counted)
            record_integer(r, global[i].key, global[i].value);
        else
            record_null(r, global[i].key);
    }
}

static void record_remark(struct record *r, const struct description *d)
{
    if (*d->variant)
        record_text(r, "variant_remark", "%s", d->variant);
    else
        record_null(r, "variant_remark");
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
    record_remark(r, &o->description);
    record_counters(r, o);
}

static void print_lines(FILE *to, const struct counters *counters)
{
    fputs(",\n  \"lines\": [", to);
    for (size_t i = 0; i < counters->line_count; i++) {
        const struct counter_line *line = &counters->lines[i];
        const struct emu_counts *c = &line->counts;
        const struct {
            const char *key;
            uint64_t value;
        } fields[] = {{"conflicts_ld", counters_conflicts(&c->shared_ld)},
                      {"conflicts_st", counters_conflicts(&c->shared_st)},
                      {"wavefronts_ld", c->shared_ld.wavefronts},
                      {"wavefronts_st", c->shared_st.wavefronts},
                      {"requests_ld", c->global_ld.requests},
                      {"sectors_ld", c->global_ld.sectors},
                      {"requests_st", c->global_st.requests},
                      {"sectors_st", c->global_st.sectors},
                      {"adds", c->adds[EMU_ADD_F32] + c->adds[EMU_ADD_F64] + c->adds[EMU_ADD_F16]}};
        fprintf(to, "%s\n    {\"file\": ", i ? "," : "");
        record_json_string(to, source_name(line->file));
        fprintf(to, ", \"line\": %u", line->line);
        for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
            fprintf(to, ", \"%s\": %llu", fields[k].key, (unsigned long long)fields[k].value);
        putc('}', to);
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
