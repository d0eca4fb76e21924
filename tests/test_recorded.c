/*
 * test_recorded.c — what ncu counted on an H200 (profiles/h200/counters.csv) and what the emulator
 * counts are the same, to the last unit, for every launch and every source line of every scan in
 * that file, but for the arbitration that the hardware's counters hold.
 */
#define _GNU_SOURCE
#include "scan_once.h"

#include "common/counters.h"
#include "common/source_line.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define RECORDED      "profiles/h200/counters.csv" /* tests run in the top folder */
#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* Steps up to this one have rows there; the others have not been recorded yet. */
enum { LAST_RECORDED = 7 };

enum { ONE_BLOCK = 2048, LARGE = 65537 };

/* The hardware's counters of shared memory, of op ld or st. */
#define CONFLICTS(op)  "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_" op ".sum"
#define WAVEFRONTS(op) "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_" op ".sum"

/*
 * Two differences, both in the hardware's counters of shared memory and not on the Source page
 * (profiles/README.md). In step 7's scan_block ncu counts this many wavefronts of loads more in each
 * block, all of them conflicts. And where many blocks share the SMs, accesses wait for each other:
 * of the wavefronts up to this part more, another number in each run.
 */
#define STEP7_CONFLICTS 4
#define FEW_BLOCKS      128
#define ARBITRATION     0.10

/*
 * `if (lane >= d) x += y` after a shuffle is in PTX an addition in all lanes, of which the first d
 * keep what they had; ptxas makes of both one addition under a predicate. Here are the additions
 * that a GPU so spares in each block: of the 5 sweeps of a warp's scan 1 + 2 + 4 + 8 + 16.
 */
#define FADD      "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"
#define WARP_SCAN (1 + 2 + 4 + 8 + 16)
static const struct {
    const char *step, *variant, *kernel;
    int a_block;
} spared_adds[] = {{"9", "shfl", "scan_block", 17 * WARP_SCAN}};

/* One row: a total of a launch, or a count of one source line, whose text is the last field. */
enum { STEP, VARIANT, N, KERNEL, LAUNCH, LINE, METRIC, VALUE, UNIT, SOURCE, COLUMNS };
static const char header[] = "step,variant,n,kernel,launch,line,metric,value,unit,source\n";
struct row {
    char *fields[COLUMNS];
};

/* Takes one CSV field off *line, in place; "" inside quotes is one quote. NULL: there is none. */
static char *take_field(char **line)
{
    char *field = *line, *to = field, *from = field;
    if (field == NULL) return NULL;
    bool quoted = *from == '"';
    from += quoted;
    while (*from != '\0' && (quoted || *from != ',')) {
        if (quoted && *from == '"' && *++from != '"')
            quoted = false;
        else
            *to++ = *from++;
    }
    *line = *from == ',' ? from + 1 : NULL;
    *to = '\0';
    return field;
}

static bool split(char *line, struct row *row)
{
    size_t count = 0;
    line[strcspn(line, "\n")] = '\0';
    while (count < COLUMNS && (row->fields[count] = take_field(&line)) != NULL) count++;
    return count == COLUMNS && line == NULL;
}

/* The emulator's value of a metric: of ncu's, or of the sums that profiles/ncu_source.py makes. */
static double metric(const struct emu_counts *counts, const char *name)
{
    const struct emu_shared *ld = &counts->shared_ld, *st = &counts->shared_st;
    const struct emu_global *from = &counts->global_ld, *to = &counts->global_st;
    const struct {
        const char *name;
        uint64_t value, of;
    } known[] = {
        {CONFLICTS("ld"), counters_conflicts(ld), 1},
        {CONFLICTS("st"), counters_conflicts(st), 1},
        {WAVEFRONTS("ld"), ld->wavefronts, 1},
        {WAVEFRONTS("st"), st->wavefronts, 1},
        {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum", counts->shared_atom.wavefronts,
         1},
        {"smsp__sass_inst_executed_op_shared_ld.sum", ld->instructions, 1},
        {"smsp__sass_inst_executed_op_shared_st.sum", st->instructions, 1},
        {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", from->requests, 1},
        {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", to->requests, 1},
        {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", from->sectors, 1},
        {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", to->sectors, 1},
        {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", from->sectors,
         from->requests},
        {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", to->sectors,
         to->requests},
        {FADD, counts->adds[EMU_ADD_F32], 1},
        {"source_wavefronts_ld", ld->wavefronts, 1},
        {"source_wavefronts_st", st->wavefronts, 1},
        {"source_ideal_ld", ld->ideal, 1},
        {"source_ideal_st", st->ideal, 1},
        {"source_sectors_ld", from->sectors, 1},
        {"source_sectors_st", to->sectors, 1},
    };
    for (size_t i = 0; i < LENGTH(known); i++)
        if (strcmp(name, known[i].name) == 0)
            return known[i].of ? (double)known[i].value / (double)known[i].of : 0;
    cr_assert(false, "%s: this test does not know the metric %s", RECORDED, name);
    return 0;
}

/* By how much ncu's value may be greater than the emulator's: see the top of this file. */
static double arbitration(const struct row *row, const struct emu_launch_record *record)
{
    const char *name = row->fields[METRIC];
    uint64_t blocks = (uint64_t)record->grid.x * record->grid.y;
    bool loads = !strcmp(name, CONFLICTS("ld")) || !strcmp(name, WAVEFRONTS("ld"));
    bool stores = !strcmp(name, CONFLICTS("st")) || !strcmp(name, WAVEFRONTS("st"));
    bool step7 = !strcmp(row->fields[STEP], "7") && !strcmp(row->fields[KERNEL], "scan_block");
    const struct emu_shared *shared = loads ? &record->total.shared_ld : &record->total.shared_st;
    if (!loads && !stores) return 0;
    return (step7 && loads ? STEP7_CONFLICTS * (double)blocks : 0) +
           (blocks > FEW_BLOCKS ? ARBITRATION * (double)shared->wavefronts : 0);
}

/* How many additions fewer than the emulator ncu counts: see the top of this file. */
static double spared(const struct row *row, const struct emu_launch_record *record)
{
    char *const *f = row->fields;
    uint64_t blocks = (uint64_t)record->grid.x * record->grid.y;
    if (strcmp(f[METRIC], FADD) != 0) return 0;
    for (size_t i = 0; i < LENGTH(spared_adds); i++)
        if (!strcmp(f[STEP], spared_adds[i].step) && !strcmp(f[VARIANT], spared_adds[i].variant) &&
            !strcmp(f[KERNEL], spared_adds[i].kernel))
            return spared_adds[i].a_block * (double)blocks;
    return 0;
}

/*
 * In the naive sweep both arms of the `if` load the same element. nvcc makes one load of the two and
 * gives it no line, so that the emulator counts it under the line before; ptxas gives it that of
 * the first arm.
 */
static const char *const shared_load[] = {
    "temp[pout * n + thid] = temp[pin * n + thid] + temp[pin * n + thid - offset];",
    "temp[pout * size + thid] = temp[pin * size + thid] + temp[pin * size + thid - offset];"};
static const char line_before[] = "pout = 1 - pout; // swap the buffers";

/* The counts of the source line with a text: if several have it, of that with the number. NULL:
 * there is none. */
static const struct emu_counts *line_counts(const struct emu_launch_record *record,
                                            const char *wanted, unsigned number)
{
    const struct emu_counts *found = NULL;
    unsigned matches = 0;
    for (size_t i = 0; i < record->line_count; i++) {
        char text[256];
        const struct emu_line *line = &record->lines[i];
        source_text(line->file, line->line, text, sizeof text);
        if (strncmp(text, wanted, sizeof text - 1) != 0) continue;
        if (line->line == number) return &line->counts;
        found = &line->counts;
        matches++;
    }
    return matches == 1 ? found : NULL;
}

/* What the emulator has counted for a row. False: the row's line is not there any more. */
static bool counted_for(const struct row *row, const struct emu_launch_record *record,
                        double *value)
{
    const char *name = row->fields[METRIC], *text = row->fields[SOURCE], *line = row->fields[LINE];
    *value = 0;
    if (!line[0]) {
        *value = metric(&record->total, name);
        return true;
    }
    const struct emu_counts *counts =
        line_counts(record, text, (unsigned)atoi(strchr(line, ':') + 1));
    if (counts != NULL) *value = metric(counts, name);
    for (size_t i = 0; i < LENGTH(shared_load); i++) {
        if (strcmp(text, shared_load[i]) != 0 || strstr(name, "_ld") == NULL) continue;
        const struct emu_counts *before = line_counts(record, line_before, 0);
        if (before != NULL) *value += metric(before, name);
    }
    return counts != NULL;
}

/* Runs the row's scan under the emulator, which keeps a record of each launch. */
static void run(const struct row *row)
{
    const struct step *step = scan_step(atoi(row->fields[STEP]));
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

/*
 * What threads do while they wait for another block is chance, and differs from run to run: their
 * loads of a barrier (step 10: grid.sync, in a header of cooperative groups) or of states (11 and
 * 12), and in step 11, which looks back as far as it has to, the additions, too. Stores are not, nor
 * shared memory, nor the lines that load the elements.
 */
static const struct {
    const char *step;
    bool adds;
    const char *lines[4]; /* parts of the names of files in which threads wait */
} waits[] = {{"10", false, {"cooperative_groups", "sync.h", "grid.h"}},
             {"11", true, {"look_back.cuh"}},
             {"12", true, {"states.cuh", "prefix.cuh", "barrier.cuh"}}};

static bool by_chance(const struct row *row)
{
    const char *name = row->fields[METRIC], *line = row->fields[LINE];
    for (size_t i = 0; i < LENGTH(waits); i++) {
        if (strcmp(row->fields[STEP], waits[i].step) != 0) continue;
        if (!line[0])
            return strstr(name, "mem_global_op_ld") != NULL ||
                   (waits[i].adds && strcmp(name, FADD) == 0);
        for (size_t k = 0; k < LENGTH(waits[i].lines) && waits[i].lines[k] != NULL; k++)
            if (strstr(line, waits[i].lines[k]) != NULL) return true;
    }
    return false;
}

/* These tests scan floats; step 12 has variants of other types. */
static bool scans_floats(const struct row *row)
{
    const struct step *step = scan_step(atoi(row->fields[STEP]));
    for (int i = 0; step->elements != NULL && i < variant_count(step); i++)
        if (strcmp(row->fields[VARIANT], variant_name(step, i)) == 0)
            return step->elements[i] == ELEMENT_F32;
    return true;
}

static void compare(const struct row *row)
{
    struct emu *emu = counters_emulator();
    char *const *f = row->fields;
    size_t launch = strtoul(f[LAUNCH], NULL, 10);
    cr_assert(launch < emu_records(emu), "step %s %s, n = %s: no launch %s", f[STEP], f[VARIANT],
              f[N], f[LAUNCH]);

    const struct emu_launch_record *record = emu_record(emu, launch);
    double recorded = strtod(f[VALUE], NULL), counted;
    bool known = counted_for(row, record, &counted);
    counted -= spared(row, record);
    double more = arbitration(row, record);
    bool is_ratio = strstr(f[METRIC], ".ratio") != NULL; /* ncu gives two digits */
    cr_expect(known || recorded == 0, "step %s %s: '%s' is no line of scan.cu any more", f[STEP],
              f[VARIANT], f[SOURCE]);
    cr_expect(recorded >= counted - (is_ratio ? 0.005 : 0) &&
                  recorded <= counted + more + (is_ratio ? 0.005 : 0),
              "step %s %s, n = %s, launch %s (%s) %s: %s is %s on the GPU and %.15g here", f[STEP],
              f[VARIANT], f[N], f[LAUNCH], f[KERNEL], f[LINE], f[METRIC], f[VALUE], counted);
}

/* Compares the rows of scans of at least `least` and less than `below` elements. */
static void compare_all(size_t least, size_t below)
{
    char line[1024], last[128] = "", scan[128];
    size_t rows = 0;
    bool headed = false, steps[100] = {false};
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
        size_t n = strtoul(row.fields[N], NULL, 10);
        cr_assert(step >= 2 && step < (int)LENGTH(steps), "step %d", step);
        if (n < least || n >= below || !scans_floats(&row)) continue;
        steps[step] = true;

        /* Rows of one scan follow each other. */
        snprintf(scan, sizeof scan, "%s %s %s", row.fields[STEP], row.fields[VARIANT],
                 row.fields[N]);
        if (strcmp(scan, last) != 0) run(&row);
        strcpy(last, scan);
        if (!by_chance(&row)) compare(&row);
        rows++;
    }
    fclose(file);
    for (int i = least > ONE_BLOCK ? 5 : 2; i <= LAST_RECORDED; i++) /* 1 runs on the CPU */
        cr_expect(steps[i], "%s has no row of step %d", RECORDED, i);
    cr_expect(rows > 0);
}

Test(recorded, emulator_counts_as_ncu_did_up_to_64_Ki) { compare_all(0, LARGE); }

Test(recorded, emulator_counts_as_ncu_did_for_large_scans, .timeout = 600)
{
    if (getenv("TEST_ALL") == NULL) cr_skip_test("it takes a minute: make test-all has it");
    compare_all(LARGE, SIZE_MAX);
}
