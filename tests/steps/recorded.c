/* recorded.c — reads profiles/h200/counters.csv, and compares counters with it. */
#define _GNU_SOURCE
#include "recorded.h"

#include "common/harness/run/runs.h"
#include "common/harness/report/report.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

enum { SOURCE_LINE = 512 }; /* bytes of a line of source */

double metric_of(const struct emu_counts *counts, const char *name)
{
    const struct emu_shared *ld = &counts->shared_ld, *st = &counts->shared_st;
    const struct emu_global *from = &counts->global_ld, *to = &counts->global_st;
    const struct {
        const char *name;
        uint64_t value;
    } known[] = {
        {CONFLICTS("ld"), counters_conflicts(ld)},
        {CONFLICTS("st"), counters_conflicts(st)},
        {WAVEFRONTS("ld"), ld->wavefronts},
        {WAVEFRONTS("st"), st->wavefronts},
        {WAVEFRONTS("atom"), counts->shared_atom.wavefronts},
        {SHARED_INSTRUCTIONS("ld"), ld->instructions},
        {SHARED_INSTRUCTIONS("st"), st->instructions},
        {REQUESTS("ld"), from->requests},
        {REQUESTS("st"), to->requests},
        {SECTORS("ld"), from->sectors},
        {SECTORS("st"), to->sectors},
        {FADD, counts->adds[EMU_ADD_F32]},
        {"source_wavefronts_ld", ld->wavefronts},
        {"source_wavefronts_st", st->wavefronts},
        {"source_ideal_ld", ld->ideal},
        {"source_ideal_st", st->ideal},
        {"source_sectors_ld", from->sectors},
        {"source_sectors_st", to->sectors},
    };
    for (size_t i = 0; i < LENGTH(known); i++)
        if (strcmp(name, known[i].name) == 0) return (double)known[i].value;
    cr_assert(false, "%s: this test does not know the metric %s", RECORDED, name);
    return 0;
}

/* How many lines of a file up to `last` have a text. */
static unsigned equal_lines(const char *file, const char *wanted, unsigned last)
{
    unsigned equal = 0;
    for (unsigned line = 1; line <= last; line++) {
        char text[SOURCE_LINE];
        source_text(file, line, text, sizeof text);
        equal += strcmp(text, wanted) == 0;
    }
    return equal;
}

const struct emu_counts *counts_of_line(const struct emu_launch_record *record, const char *name,
                                        const char *wanted)
{
    size_t length = strcspn(name, "#");
    unsigned place = (unsigned)atoi(name + length + 1);
    for (size_t i = 0; i < record->line_count; i++) {
        char text[SOURCE_LINE];
        const struct emu_line *line = &record->lines[i];
        const char *slash = strrchr(line->file, '/'), *file = slash ? slash + 1 : line->file;
        if (strlen(file) != length || strncmp(file, name, length) != 0) continue;
        source_text(line->file, line->line, text, sizeof text);
        if (strcmp(text, wanted) == 0 && equal_lines(line->file, text, line->line) == place)
            return &line->counts;
    }
    return NULL;
}

double counts_of_group(const struct line_group *group, const struct emu_launch_record *record,
                       const char *name)
{
    double sum = 0;
    for (size_t i = 0; i < record->line_count; i++) {
        char text[SOURCE_LINE];
        const struct emu_line *line = &record->lines[i];
        source_text(line->file, line->line, text, sizeof text);
        if (in_group(group, line->file, text)) sum += metric_of(&line->counts, name);
    }
    return sum;
}
