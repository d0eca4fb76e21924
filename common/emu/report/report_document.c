#define _POSIX_C_SOURCE 200809L /* strdup */
#include "report.h"
#include "common/emu/ptx/kernel_name.h"
#include <stdlib.h>
#include <string.h>

/* Room for one more in an array that doubles whenever its length is a power of two. NULL: out of
 * memory, and the array is as it was. */
static void *grow(void *array, size_t count, size_t size)
{
    if ((count & (count - 1)) != 0) return array;
    return realloc(array, (count == 0 ? 1 : 2 * count) * size);
}

static bool copy_lines(struct emu_launch_record *to, const struct emu_launch_record *from)
{
    struct emu_line *lines = malloc((from->line_count + 1) * sizeof *lines);
    to->lines = lines;
    for (to->line_count = 0; lines != NULL && to->line_count < from->line_count; to->line_count++) {
        struct emu_line *line = &lines[to->line_count];
        *line = from->lines[to->line_count];
        line->file = strdup(line->file);
        if (line->file == NULL) return false;
    }
    return lines != NULL;
}

static bool copy_operations(struct emu_launch_record *to, const struct emu_launch_record *from)
{
    struct emu_operation *all = malloc((from->operation_count + 1) * sizeof *all);
    if (all != NULL && from->operation_count > 0)
        memcpy(all, from->operations, from->operation_count * sizeof *all);
    to->operations = all;
    to->operation_count = all != NULL ? from->operation_count : 0;
    return all != NULL;
}

bool document_add_launch(struct document *d, const struct document_launch *launch,
                         const struct emu_launch_record *record)
{
    static const struct emu_launch_record nothing;
    struct document_launch *grown = grow(d->launches, d->launch_count, sizeof *grown);
    if (grown == NULL) return false;
    d->launches = grown;
    struct document_launch *new = &d->launches[d->launch_count++];
    *new = *launch;
    if (record != NULL) new->record = *record;
    new->record.kernel = strdup(record != NULL ? record->kernel : launch->record.kernel);
    if (new->record.kernel == NULL) d->launch_count--;
    if (record == NULL || new->record.kernel == NULL) return new->record.kernel != NULL;
    new->record.launched_by = record->launched_by ? strdup(record->launched_by) : NULL;
    new->record.agreement.text = strdup(record->agreement.text);
    bool has_lines = copy_lines(&new->record, d->omits_lines ? &nothing : record);
    bool has_operations = copy_operations(&new->record, d->omits_operations ? &nothing : record);
    return has_operations && has_lines && new->record.agreement.text != NULL;
}

bool document_add_finding(struct document *d, int device, const struct emu_finding *finding)
{
    struct document_finding *grown = grow(d->findings, d->finding_count, sizeof *grown);
    if (grown == NULL) return false;
    d->findings = grown;
    d->findings[d->finding_count++] = (struct document_finding){device, finding};
    return true;
}

void document_free(struct document *d)
{
    for (size_t i = 0; i < d->launch_count; i++) {
        struct emu_launch_record *r = &d->launches[i].record;
        for (size_t k = 0; k < r->line_count; k++) free((char *)r->lines[k].file);
        free((char *)r->kernel);
        free((char *)r->launched_by);
        free((char *)r->agreement.text);
        free((struct emu_line *)r->lines);
        free((struct emu_operation *)r->operations);
    }
    free(d->launches);
    free(d->findings);
    *d = (struct document){0};
}

/* ---- names ----------------------------------------------------------------------------------- */

const char *document_tool_name(enum emu_check tool)
{
    return tool == EMU_CHECK_MEMORY ? "memcheck"
           : tool == EMU_CHECK_RACE ? "racecheck"
           : tool == EMU_CHECK_INIT ? "initcheck"
                                    : "synccheck";
}

const char *document_severity_name(enum emu_severity severity)
{
    return severity == EMU_FINDING_ERROR ? "error" : "warning";
}
