/*
 * test_recorded.c — what ncu counted on an H200 (profiles/h200/counters.csv) and what the emulator
 * counts are the same, to the last unit, for every launch of every scan in that file.
 */
#define _GNU_SOURCE
#include "scan_once.h"

#include "common/counters.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define RECORDED      "profiles/h200/counters.csv" /* tests run in the top folder */
#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* The one difference (profiles/README.md): in step 7's scan_block, ncu counts this many wavefronts
 * more in each block, all of them bank conflicts of loads. */
#define STEP7_CONFLICTS 4

static const char *const step7_differs[] = {
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
};

/* One row: step,variant,n,launch,kernel,metric,value,unit. Quotes around the kernel are gone. */
enum { STEP, VARIANT, N, LAUNCH, KERNEL, METRIC, VALUE, UNIT, COLUMNS };
struct row {
    char *fields[COLUMNS];
};

/* Splits a CSV line in place; fields that begin with a quote end with one. */
static bool split(char *line, struct row *row)
{
    size_t count = 0;
    line[strcspn(line, "\n")] = '\0';
    while (line != NULL && count < COLUMNS) {
        bool quoted = *line == '"';
        char *end = strpbrk(line + quoted, quoted ? "\"" : ",");
        row->fields[count++] = line + quoted;
        if (quoted && end != NULL) *end++ = '\0';
        if (end != NULL && *end == ',') *end++ = '\0';
        line = end;
    }
    return count == COLUMNS && line == NULL;
}

/* The emulator's value of a metric: of ncu's, or of the sums that profiles/ncu_source.py makes. */
static uint64_t metric(const struct emu_counts *counts, const char *name)
{
    const struct emu_shared *ld = &counts->shared_ld, *st = &counts->shared_st;
    const struct {
        const char *name;
        uint64_t value;
    } known[] = {
        {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", counters_conflicts(ld)},
        {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", counters_conflicts(st)},
        {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", ld->wavefronts},
        {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", st->wavefronts},
        {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", counts->global_ld.requests},
        {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", counts->global_st.requests},
        {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", counts->global_ld.sectors},
        {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", counts->global_st.sectors},
        {"source_wavefronts_ld", ld->wavefronts},
        {"source_wavefronts_st", st->wavefronts},
        {"source_ideal_ld", ld->ideal},
        {"source_ideal_st", st->ideal},
    };
    for (size_t i = 0; i < LENGTH(known); i++)
        if (strcmp(name, known[i].name) == 0) return known[i].value;
    cr_assert(false, "%s: this test does not know the metric %s", RECORDED, name);
    return 0;
}

/* By how much ncu's value is greater. */
static uint64_t difference(const struct row *row, const struct emu_launch_record *record)
{
    if (strcmp(row->fields[STEP], "7") != 0 || strcmp(row->fields[KERNEL], "scan_block") != 0)
        return 0;
    for (size_t i = 0; i < LENGTH(step7_differs); i++)
        if (strcmp(row->fields[METRIC], step7_differs[i]) == 0)
            return STEP7_CONFLICTS * (uint64_t)record->grid.x * record->grid.y;
    return 0;
}

/* Runs the row's scan under the emulator, which keeps a record of each launch. */
static void run(const struct row *row)
{
    const struct step *step = scan_steps[atoi(row->fields[STEP]) - 1];
    size_t n = strtoul(row->fields[N], NULL, 10);
    int variant = 0;
    while (strcmp(row->fields[VARIANT], "-") != 0 &&
           strcmp(row->fields[VARIANT], variant_name(step, variant)) != 0)
        cr_assert(++variant < variant_count(step), "step %d has no variant %s", step->number,
                  row->fields[VARIANT]);

    struct emu *emu = counters_emulator();
    float *out = malloc(n * sizeof *out);
    struct scan scan = {step, variant, n, 0, false};
    emu_forget(emu);
    emu_count(emu, true);
    cr_assert(out != NULL && scan_once(&scan, random_floats(n, false), out) == cudaSuccess);
    emu_count(emu, false);
    free(out);
}

static void compare(const struct row *row)
{
    struct emu *emu = counters_emulator();
    char *const *f = row->fields;
    size_t launch = strtoul(f[LAUNCH], NULL, 10);
    cr_assert(launch < emu_records(emu), "step %s %s, n = %s: no launch %s", f[STEP], f[VARIANT],
              f[N], f[LAUNCH]);

    const struct emu_launch_record *record = emu_record(emu, launch);
    uint64_t counted = metric(&record->total, f[METRIC]) + difference(row, record);
    cr_expect(counted == strtoull(f[VALUE], NULL, 10),
              "step %s %s, n = %s, launch %s (%s): %s is %s on the GPU and %llu here", f[STEP],
              f[VARIANT], f[N], f[LAUNCH], f[KERNEL], f[METRIC], f[VALUE],
              (unsigned long long)counted);
}

Test(recorded, emulator_counts_as_ncu_did)
{
    static const char header[] = "step,variant,n,launch,kernel,metric,value,unit\n";
    char line[512], last[128] = "", scan[128];
    size_t rows = 0;
    bool headed = false, steps[LENGTH(scan_steps)] = {false};
    FILE *file = fopen(RECORDED, "r");

    cr_assert(counters_emulated(), "these tests need the emulator");
    cr_assert(file != NULL, "cannot read %s", RECORDED);
    while (fgets(line, sizeof line, file) != NULL) {
        if (line[0] == '#') continue;
        if (!headed) {
            cr_assert_str_eq(line, header);
            headed = true;
            continue;
        }
        struct row row;
        cr_assert(split(line, &row), "%s: not a row of %d fields: %s", RECORDED, COLUMNS, line);
        int step = atoi(row.fields[STEP]);
        cr_assert(step >= 2 && step <= (int)LENGTH(scan_steps), "step %d", step);
        steps[step - 1] = true;

        /* Rows of one scan follow each other. */
        snprintf(scan, sizeof scan, "%s %s %s", row.fields[STEP], row.fields[VARIANT],
                 row.fields[N]);
        if (strcmp(scan, last) != 0) run(&row);
        strcpy(last, scan);
        compare(&row);
        rows++;
    }
    fclose(file);
    for (size_t i = 1; i < LENGTH(scan_steps); i++) /* step 1 runs on the CPU */
        cr_expect(steps[i], "%s has no row of step %d", RECORDED, scan_steps[i]->number);
    cr_expect(rows > 0);
}
