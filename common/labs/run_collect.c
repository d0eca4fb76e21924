/* run_collect.c — copies what the emulator has counted and found into a result. */
#include "common/emu/ptx/ptx.h"
#include "run_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every member of emu_counts is a uint64_t. */
static void add_counts(struct emu_counts *to, const struct emu_counts *from)
{
    _Static_assert(sizeof *to % sizeof(uint64_t) == 0, "a member of another type");
    uint64_t *sum = (uint64_t *)to;
    const uint64_t *addend = (const uint64_t *)from;
    for (size_t i = 0; i < sizeof *to / sizeof *sum; i++) sum[i] += addend[i];
}

static const char *last_part(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "";
}

/* The place for one more item of an array that grows; zeroed. NULL: out of memory or too many. */
static void *grow(void **array, size_t *count, size_t most, size_t size)
{
    if (*count >= most) return NULL;
    void *grown = realloc(*array, (*count + 1) * size);
    if (!grown) return NULL;
    *array = grown;
    return memset((char *)grown + (*count)++ * size, 0, size);
}

static struct lab_line *line_of(struct lab_case_result *r, const char *kernel,
                                const struct emu_line *line)
{
    const char *file = last_part(line->file);
    for (size_t i = 0; i < r->line_count; i++) {
        struct lab_line *l = &r->lines[i];
        if (l->line == line->line && !strcmp(l->file, file) && !strcmp(l->kernel, kernel)) return l;
    }
    struct lab_line *l = grow((void **)&r->lines, &r->line_count, RESULTS_LINES, sizeof *l);
    if (!l) return NULL;
    snprintf(l->kernel, sizeof l->kernel, "%s", kernel);
    snprintf(l->file, sizeof l->file, "%s", file);
    l->line = line->line;
    return l;
}

static void collect_lines(struct lab_case_result *r, const struct emu_launch_record *record)
{
    char kernel[RESULTS_NAME];
    kernel_base_name(record->kernel, kernel, sizeof kernel);
    for (size_t i = 0; i < record->line_count; i++) {
        struct lab_line *line = line_of(r, kernel, &record->lines[i]);
        if (line) add_counts(&line->counts, &record->lines[i].counts);
    }
}

static struct lab_operation *operation_of(struct lab_case_result *r, const char *name,
                                          uint32_t work_class)
{
    for (size_t i = 0; i < r->operation_count; i++) {
        struct lab_operation *o = &r->operations[i];
        if (o->work_class == work_class && !strcmp(o->name, name)) return o;
    }
    struct lab_operation *o =
        grow((void **)&r->operations, &r->operation_count, RESULTS_OPERATIONS, sizeof *o);
    if (!o) return NULL;
    snprintf(o->name, sizeof o->name, "%s", name);
    o->work_class = work_class;
    return o;
}

static void collect_operations(struct lab_case_result *r, const struct emu_launch_record *record)
{
    char name[RESULTS_NAME];
    for (size_t i = 0; i < record->operation_count; i++) {
        const struct emu_operation *from = &record->operations[i];
        snprintf(name, sizeof name, "%s%s%s", from->name, *from->type ? "." : "", from->type);
        struct lab_operation *o = operation_of(r, name, (uint32_t)from->work_class);
        if (!o) {
            r->dropped += from->elements > from->lanes ? from->elements : from->lanes;
            continue;
        }
        o->instructions += from->instructions;
        o->lanes += from->lanes;
        o->elements += from->elements;
    }
}

void collect_counters(struct emu *emu, struct lab_case_result *result)
{
    for (size_t i = 0; i < emu_records(emu); i++) {
        const struct emu_launch_record *record = emu_record(emu, i);
        add_counts(&result->total, &record->total);
        result->longest_warps += record->longest_warp;
        collect_lines(result, record);
        collect_operations(result, record);
    }
}

static void collect_finding(struct lab_case_result *r, const struct emu_finding *from)
{
    struct lab_finding *to =
        grow((void **)&r->findings, &r->finding_count, RESULTS_FINDINGS, sizeof *to);
    if (!to) return;
    to->tool = (uint32_t)from->tool;
    to->severity = (uint32_t)from->severity;
    to->count = from->count;
    snprintf(to->kind, sizeof to->kind, "%s", from->kind);
    snprintf(to->text, sizeof to->text, "%s", from->title ? from->title : from->kind);
    if (from->place.is_known) {
        snprintf(to->file, sizeof to->file, "%s", last_part(from->place.file));
        to->line = from->place.line;
        to->caller_line = from->place.caller_line;
    }
    if (from->other.is_known) to->other_line = from->other.line;
}

void collect_findings(struct emu *emu, struct lab_case_result *result)
{
    for (size_t i = 0; i < emu_findings(emu); i++) collect_finding(result, emu_finding(emu, i));
    result->errors = emu_finding_count(emu, EMU_FINDING_ERROR);
    result->warnings = emu_finding_count(emu, EMU_FINDING_WARNING);
}
