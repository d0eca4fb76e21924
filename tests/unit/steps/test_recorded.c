/*
 * test_recorded.c — what ncu counted on an H200 (profiles/h200/counters.csv) and what the emulator
 * counts are exactly the same, for every launch and every source line of every scan in that file,
 * except for the differences that stand here with their reasons.
 */
#define _GNU_SOURCE
#include "common/tools/emu/emu.h"
#include "common/step/step.h"
#include "common/harness/run/runs.h"
#include "common/harness/report/report.h"
#include "steps/12-pipeline/parts/shape.h"
#include "tests/support/recording.h"
#include "tests/support/scan_once.h"
#include "common/step/cuda_check.h"
#include "common/step/element.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define RECORDED "profiles/h200/counters.csv"

/* A number: a total of a launch, or a count of one source line, whose text is SOURCE. Its row has
 * the fields before METRIC, and then a column for each metric. */
enum { STEP, VARIANT, N, KERNEL, LAUNCH, LINE, SOURCE, METRIC, VALUE, FIELDS };
struct number {
    const char *fields[FIELDS];
};

/* ncu's counters of shared and global memory, of op ld or st, and of additions. */
#define CONFLICTS(op)           "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_" op ".sum"
#define WAVEFRONTS(op)          "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_" op ".sum"
#define SHARED_INSTRUCTIONS(op) "smsp__sass_inst_executed_op_shared_" op ".sum"
#define REQUESTS(op)            "l1tex__t_requests_pipe_lsu_mem_global_op_" op ".sum"
#define SECTORS(op)             "l1tex__t_sectors_pipe_lsu_mem_global_op_" op ".sum"
#define FADD                    "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"

/*
 * Lines whose counts are compared by their sum, because nvcc and ptxas do not agree to which of
 * them an access belongs. Or lines in which threads poll; the number of polls varies from run to
 * run.
 */
struct line_group {
    const char *step, *kernel; /* kernel NULL: any */
    const char *counts;        /* how the metrics end; others are compared line by line */
    bool polls;
    struct place {
        const char *file, *text; /* where, and how the line begins; NULL: any */
    } lines[4];
};

/* The range of ncu's counts that is accepted where the emulator has counted `counted`, of which
 * `polled` in lines that poll: from least to most. If grain is not 0: least plus a multiple of
 * grain. */
struct expected {
    double least, most, grain;
};

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

enum { SOURCE_LINE = 512 }; /* bytes of a line of source */

/* The emulator's value of a metric of ncu, or of a sum that profiles/measure/ncu.py
 * makes. */
static double metric_of(const struct emu_counts *counts, const char *name)
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

/* The emulator's counts of a source line: `name` is its file and its place among the lines of that
 * file with the same text, as in "scan.cu#1". NULL: the launch has no such line. */
static const struct emu_counts *counts_of_line(const struct emu_launch_record *record,
                                               const char *name, const char *wanted)
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

/* ---- differences ----------------------------------------------------------------------------- */

static bool is(const char *a, const char *b) { return strcmp(a, b) == 0; }
static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}
static bool ends(const char *text, const char *with)
{
    size_t length = strlen(text), tail = strlen(with);
    return length >= tail && is(text + length - tail, with);
}

/* ---- lines that are compared together -------------------------------------------------------- */

/* clang-format off: a line each */
static const struct line_group groups[] = {
    /* Both arms of the naive sweep's `if` load the same element. nvcc makes one load of the two and
     * gives it no line, so the emulator counts it under the line before, ncu under the first
     * arm. */
    {"2", NULL, "_ld",
     .lines = {{NULL, "temp[pout * n + thid] = temp[pin"},
               {NULL, "pout = 1 - pout; // swap the buffers"}}},
    {"5", NULL, "_ld",
     .lines = {{NULL, "temp[pout * size + thid] = temp[pin"},
               {NULL, "pout = 1 - pout; // swap the buffers"}}},

    /* ptxas gives the load of the ticket the line of a function that is inlined near it. */
    {"12", "scan_wave", "_ld", .lines = {{"sm_20_intrinsics.hpp", NULL}, {NULL, "t = drawn;"}}},

    /* Only the left element of the pair is used: ptxas makes one load of the loads in the two arms
     * of load_pair. */
    {"8", "down_step", "sectors_ld", .lines = {{"pair.cuh", NULL}}},

    /* In PTX an instruction of `asm` has the line on which it begins; ptxas gives it the line of an
     * operand or of the code around it. */
    {"11", "scan_tiles", "sectors_st", .lines = {{"look_back.cuh", NULL}}},
    {"12", NULL, "sectors_st", .lines = {{"states.cuh", NULL}}},
    {"12", NULL, "sectors_st", .lines = {{"segment.cuh", NULL}, {"barrier.cuh", NULL}}},

    /* A thread of each block polls until the last block has arrived. The emulator counts this in
     * the line of the call, ncu in a header of the toolkit. */
    {"10", "scan_grid", "sectors_ld", .polls = true,
     .lines = {{NULL, "grid.sync();"}, {NULL, "details::grid::sync("}}},
    /* A tile reads the states of the tiles before it until it finds a prefix. */
    {"11", "scan_tiles", "sectors_ld", .polls = true, .lines = {{"look_back.cuh", NULL}}},
    /* A tile reads the states of the tiles before it until all their sums are published. */
    {"12", NULL, "sectors_ld", .polls = true,
     .lines = {{"states.cuh", NULL}, {"prefix.cuh", NULL}, {"wave.cuh", NULL}}},
};
/* clang-format on */

static bool of_kernel(const struct line_group *group, const struct number *number)
{
    return is(group->step, number->fields[STEP]) &&
           (group->kernel == NULL || is(group->kernel, number->fields[KERNEL]));
}

/* Does a line of the source belong to it? */
static bool in_group(const struct line_group *group, const char *path, const char *text)
{
    const char *slash = strrchr(path, '/'), *file = slash != NULL ? slash + 1 : path;
    for (size_t i = 0; i < LENGTH(group->lines); i++) {
        const struct place *place = &group->lines[i];
        if (place->file == NULL && place->text == NULL) break;
        if ((place->file == NULL || is(place->file, file)) &&
            (place->text == NULL || begins(text, place->text)))
            return true;
    }
    return false;
}

/* The group of a number, or the group in which a kernel's threads poll; NULL: none. */
static const struct line_group *group_of(const struct number *number)
{
    const char *const *f = number->fields;
    char file[256];
    snprintf(file, sizeof file, "%.*s", (int)strcspn(f[LINE], "#"), f[LINE]);
    for (size_t i = 0; i < LENGTH(groups) && f[LINE][0]; i++)
        if (of_kernel(&groups[i], number) && ends(f[METRIC], groups[i].counts) &&
            in_group(&groups[i], file, f[SOURCE]))
            return &groups[i];
    return NULL;
}

static const struct line_group *polls_of(const struct number *number)
{
    for (size_t i = 0; i < LENGTH(groups); i++)
        if (groups[i].polls && of_kernel(&groups[i], number)) return &groups[i];
    return NULL;
}

/* ---- work that ptxas removes ----------------------------------------------------------------- */

/*
 * `if (lane >= d) x += y` after a shuffle is in PTX an addition in all lanes and a selection, with
 * which the first d lanes keep their value. ptxas makes one predicated addition of both. In the 5
 * sweeps of a warp's scan a GPU thus saves 1 + 2 + 4 + 8 + 16 additions.
 */
#define WARP_SCAN (1 + 2 + 4 + 8 + 16)

/* Blocks of steps 9 to 11 have 8 warps. Each warp scans the totals of each of its vectors; the
 * first warp scans the warps' totals, 32 at a time. */
#define WARPS          8
#define TILE_OF_STEP10 2048
static int vectors_of_step11(const struct number *number)
{
    return atoi(number->fields[VARIANT] + strlen("tile")) / (WARPS * 32 * 4);
}

/* In step 12 a warp scans the rows of its segment. For one row, its first lane does not add the sum
 * of the rows before. The segments' sums are scanned in scan_wave by each warp, in sweeps that end
 * when all segments are added up. In scan_pipeline one warp scans them, in all five sweeps. */
static double spared_in_step12(const struct number *number, size_t n,
                               const struct emu_launch_record *record)
{
    bool wave = is(number->fields[KERNEL], "scan_wave");
    struct division pipeline = {TILE_SEGMENTS, TILE_ROWS};
    struct division d = wave ? wave_division(n, sizeof(float)) : pipeline;
    double tiles = wave ? record->grid.x : (double)tiles_of(n, sizeof(float));
    double sums = wave ? (double)d.segments * (d.segments - 1) : WARP_SCAN;
    return tiles * (d.segments * (d.rows * WARP_SCAN + 1) + sums);
}

static double spared_additions(const struct number *number, size_t n,
                               const struct emu_launch_record *record)
{
    double blocks = (double)record->grid.x * record->grid.y;
    const char *const *f = number->fields;
    if (is(f[STEP], "9") && is(f[VARIANT], "shfl") && is(f[KERNEL], "scan_block"))
        return (2 * WARPS + 1) * WARP_SCAN * blocks;
    if (is(f[STEP], "10"))
        return (2 * WARPS + 1) * WARP_SCAN * (double)((n + TILE_OF_STEP10 - 1) / TILE_OF_STEP10);
    if (is(f[STEP], "11")) {
        int vectors = vectors_of_step11(number), totals = (WARPS * vectors + 31) / 32;
        return (WARPS * vectors + totals) * WARP_SCAN * blocks;
    }
    if (is(f[STEP], "12") && is(f[VARIANT], "f32")) return spared_in_step12(number, n, record);
    return 0;
}

/* In step 11 a thread adds `prefix` to all of its vectors. PTX loads it from shared memory for each
 * vector, a GPU once. */
static double spared_loads(const struct number *number, double blocks)
{
    const char *const *f = number->fields;
    bool total = is(f[METRIC], WAVEFRONTS("ld")) || is(f[METRIC], SHARED_INSTRUCTIONS("ld"));
    bool of_line = begins(f[SOURCE], "float before = prefix + totals[") && strstr(f[METRIC], "_ld");
    if (!is(f[STEP], "11") || !(f[LINE][0] ? of_line : total)) return 0;
    return (vectors_of_step11(number) - 1) * WARPS * blocks;
}

/* ---- wavefronts that the hardware adds ------------------------------------------------------- */

/*
 * Two kinds of wavefronts are in the hardware's counters of shared memory and not on the Source
 * page (profiles/README.md). In step 7's scan_block ncu counts this number of additional wavefronts
 * of loads in each block, all of them conflicts. And where many blocks share the SMs, accesses wait
 * for each other: up to this fraction of additional wavefronts, which varies from run to run.
 */
#define STEP7_CONFLICTS  4
#define STEP11_CONFLICTS 1 /* in some blocks of tile8192 */
#define FEW_BLOCKS       128
#define ARBITRATION      0.10

/* In step 12 the fraction is larger: up to 17 % have been seen, even with few blocks. There the
 * accesses do not wait for those of other blocks, since each of 32 blocks has its own SM. */
#define STEP12_ARBITRATION 0.20

/*
 * grid.sync() adds 1 to a counter in global memory, a thread of each block. The address is generic
 * (ATOM, not ATOMG as in step 11), and the hardware counts a wavefront of an atomic in shared
 * memory. Where many blocks run, it counts up to this fraction more.
 */
#define GENERIC_ATOMICS 0.25

static struct expected of_the_hardware(const struct number *number,
                                       const struct emu_launch_record *record)
{
    const char *const *f = number->fields;
    double blocks = (double)record->grid.x * record->grid.y;
    bool loads = is(f[METRIC], CONFLICTS("ld")) || is(f[METRIC], WAVEFRONTS("ld"));
    bool stores = is(f[METRIC], CONFLICTS("st")) || is(f[METRIC], WAVEFRONTS("st"));
    bool atomics = is(f[METRIC], WAVEFRONTS("atom"));
    const struct emu_shared *shared = loads ? &record->total.shared_ld : &record->total.shared_st;
    struct expected more = {0, 0, 0};

    if (is(f[STEP], "7") && is(f[KERNEL], "scan_block") && loads)
        more.most += STEP7_CONFLICTS * blocks;
    if (is(f[VARIANT], "tile8192") && loads) more.most += STEP11_CONFLICTS * blocks;
    if (is(f[STEP], "12") && (loads || stores))
        more.most += STEP12_ARBITRATION * (double)shared->wavefronts;
    else if ((loads || stores) && blocks > FEW_BLOCKS)
        more.most += ARBITRATION * (double)shared->wavefronts;
    if (is(f[STEP], "10") && atomics) {
        more.least = blocks;
        more.most = blocks * (blocks > FEW_BLOCKS ? 1 + GENERIC_ATOMICS : 1);
    }
    return more;
}

/* ---- counts that vary from run to run -------------------------------------------------------- */

/* The most polls of a block. Up to 9 have been seen (80 sectors), and up to 100 at grid.sync() for
 * the Source page, for which ncu makes kernels slower. */
#define MOST_LOOKS 200

/* In step 11 a warp that reads 32 more states computes a sum over 32 lanes, and one addition per
 * lane. */
#define LOOK_BACK (5 * 32 + 32)

/* Sectors of 32 bytes that a poll can touch: step 10 polls one word, the others 32 or more
 * states. */
static double sectors_of_a_look(const struct number *number)
{
    return is(number->fields[STEP], "10") ? 1 : 9;
}

/*
 * The fewest additions of step 11. A tile that looks at more than 32 states makes one more for each
 * further 32. A warp's scan or sum makes five additions in every lane. For each tile: the scans
 * over its float4, and over the totals, with two more in each lane of these; and for each float4
 * three to scan it, two for the tiles and warps before, and three to add the sum of all before it.
 * Each tile but the first also looks back and adds the sum to its own, in all lanes.
 */
static double adds_of_step_11(size_t n, int variant)
{
    const double lanes = 32, threads = 256, vectors = 2 << variant; /* its scan.h: of each thread */
    double tile = 4 * vectors * threads, tiles = floor(((double)n - 1) / tile) + 1;
    double warps = vectors * threads / lanes, passes = warps <= lanes ? 1 : vectors / 4;
    double sweeps = 5 * lanes;
    double a_tile = (warps + passes) * sweeps + passes * lanes + warps + 8 * vectors * threads;
    return tiles * (a_tile + 1) + (tiles - 1) * (sweeps + lanes);
}

static struct expected expect_of(const struct number *number, const struct step *step, int variant,
                                 const struct emu_launch_record *record, double counted,
                                 double polled)
{
    const char *name = number->fields[METRIC];
    size_t n = strtoul(number->fields[N], NULL, 10);
    double blocks = (double)record->grid.x * record->grid.y;

    if (is(name, FADD)) {
        bool by_chance = step->number == 11;
        double least = by_chance ? adds_of_step_11(n, variant) : counted;
        least -= spared_additions(number, n, record);
        return (struct expected){least, least + by_chance * MOST_LOOKS * blocks * LOOK_BACK,
                                 by_chance * LOOK_BACK};
    }
    if (polled > 0) {
        bool sectors = strstr(name, "sectors") != NULL;
        double least = step->number == 10 ? blocks : step->number == 11 ? blocks - 1 : 1;
        double most = MOST_LOOKS * blocks * (sectors ? sectors_of_a_look(number) : 1);
        return (struct expected){counted - polled + least, counted - polled + most, 0};
    }
    struct expected more = of_the_hardware(number, record);
    counted -= spared_loads(number, blocks);
    return (struct expected){counted + more.least, counted + more.most, 0};
}

/* Steps that apply scan are recorded, too: tests/docs/test_fidelity.py compares them. */
enum { LAST_RECORDED = 12 };

enum { ONE_BLOCK = 2048, LARGE = 65537 };

/* The emulator's counts in the lines of a group. */
static double counts_of_group(const struct line_group *group,
                              const struct emu_launch_record *record, const char *name)
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

/* ---- one scan -------------------------------------------------------------------------------- */

/* The scan whose rows are being compared. */
static struct {
    const struct step *step;
    int variant;
    size_t n;
} scan;

static void choose(const struct recording *r)
{
    scan.step = scan_step(atoi(r->cells[STEP]));
    scan.n = strtoul(r->cells[N], NULL, 10);
    scan.variant = 0;
    while (strcmp(r->cells[VARIANT], "-") != 0 &&
           strcmp(r->cells[VARIANT], variant_name(scan.step, scan.variant)) != 0)
        cr_assert(++scan.variant < variant_count(scan.step), "step %s has no variant %s",
                  r->cells[STEP], r->cells[VARIANT]);
}

/* Allocates this number of bytes on the device and clears them. */
static void *zeros(size_t bytes)
{
    void *room = NULL;
    cr_assert(cudaMalloc(&room, bytes) == cudaSuccess && cudaMemset(room, 0, bytes) == cudaSuccess);
    return room;
}

/* Runs it under the emulator, which keeps a record of each launch. The elements are zeros: no
 * count depends on them. */
static void run(void)
{
    const struct step *step = scan.step;
    enum element element = step->elements ? step->elements[scan.variant] : step->element;
    void *in = zeros(scan.n * element_size(element));
    void *out = zeros(scan.n * element_size(element_of_sum(element)));
    void *workspace = step->workspace ? zeros(step->workspace(scan.n, scan.variant) + 1) : NULL;
    struct emu *emu = counters_emulator();

    emu_forget(emu);
    emu_count(emu, true);
    cr_assert(step->scan(out, in, scan.n, scan.variant, workspace, NULL) == cudaSuccess);
    cr_assert(cudaDeviceSynchronize() == cudaSuccess);
    emu_count(emu, false);
    cudaFree(in);
    cudaFree(out);
    cudaFree(workspace);
}

static const struct emu_launch_record *launch_of(const struct number *number)
{
    struct emu *emu = counters_emulator();
    const char *const *f = number->fields;
    size_t launch = strtoul(f[LAUNCH], NULL, 10);
    cr_assert(launch < emu_records(emu), "step %s %s, n = %s: no launch %s", f[STEP], f[VARIANT],
              f[N], f[LAUNCH]);
    return emu_record(emu, launch);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void compare(const struct number *number, double recorded, double counted, double polled)
{
    const char *const *f = number->fields;
    struct expected expected =
        expect_of(number, scan.step, scan.variant, launch_of(number), counted, polled);
    double more = recorded - expected.least;
    cr_expect(recorded >= expected.least && recorded <= expected.most &&
                  (expected.grain == 0 || fmod(more, expected.grain) == 0),
              "step %s %s, n = %s, launch %s (%s) %s: %s is %.15g on the GPU and %.15g here (from "
              "%.15g to %.15g expected)",
              f[STEP], f[VARIANT], f[N], f[LAUNCH], f[KERNEL], f[LINE], f[METRIC], recorded,
              counted, expected.least, expected.most);
}

static void compare_total(const struct number *number)
{
    const char *name = number->fields[METRIC];
    const struct emu_launch_record *record = launch_of(number);
    const struct line_group *polls = polls_of(number);
    bool polled = strcmp(name, REQUESTS("ld")) == 0 || strcmp(name, SECTORS("ld")) == 0;
    if (strstr(name, ".ratio")) return; /* that of two counts beside it */
    compare(number, strtod(number->fields[VALUE], NULL), metric_of(&record->total, name),
            polls != NULL && polled ? counts_of_group(polls, record, name) : 0);
}

static void compare_line(const struct number *number)
{
    const char *const *f = number->fields;
    double recorded = strtod(f[VALUE], NULL);
    const struct emu_counts *counts = counts_of_line(launch_of(number), f[LINE], f[SOURCE]);
    cr_expect(counts != NULL || recorded == 0, "step %s %s: '%s' is no line any more", f[STEP],
              f[VARIANT], f[SOURCE]);
    compare(number, recorded, counts != NULL ? metric_of(counts, f[METRIC]) : 0, 0);
}

/* Recorded counts of lines that are compared together, by group, launch and metric. */
static struct sum {
    const struct line_group *group;
    struct number first; /* of them */
    char text[1024];
    double recorded;
} sums[256];
static size_t sum_count;

static void add_to_sums(const struct number *number, const struct line_group *group)
{
    size_t i = 0;
    while (i < sum_count && (sums[i].group != group ||
                             strcmp(sums[i].first.fields[LAUNCH], number->fields[LAUNCH]) != 0 ||
                             strcmp(sums[i].first.fields[METRIC], number->fields[METRIC]) != 0))
        i++;
    if (i == sum_count) {
        cr_assert(++sum_count <= LENGTH(sums));
        sums[i].group = group;
        sums[i].recorded = 0;
        char *to = sums[i].text;
        for (int k = 0; k < FIELDS; k++) {
            sums[i].first.fields[k] = to;
            to = stpcpy(to, number->fields[k]) + 1;
        }
    }
    sums[i].recorded += strtod(number->fields[VALUE], NULL);
}

static void compare_sums(void)
{
    for (size_t i = 0; i < sum_count; i++) {
        const struct sum *sum = &sums[i];
        double counted =
            counts_of_group(sum->group, launch_of(&sum->first), sum->first.fields[METRIC]);
        compare(&sum->first, sum->recorded, counted, sum->group->polls ? counted : 0);
    }
    sum_count = 0;
}

static void compare_number(const struct number *number)
{
    const struct line_group *group = group_of(number);
    if (group != NULL)
        add_to_sums(number, group);
    else if (number->fields[LINE][0])
        compare_line(number);
    else
        compare_total(number);
}

/* ---- the recording --------------------------------------------------------------------------- */

static void open_recording(struct recording *r)
{
    static const char *const first[METRIC] = {"step",   "variant", "n",     "kernel",
                                              "launch", "line",    "source"};
    recording_open(r, RECORDED);
    cr_assert(r->columns > METRIC);
    for (size_t i = 0; i < METRIC; i++) cr_assert_str_eq(r->names[i], first[i]);
}

/* Compares the numbers of the row that was read last. Returns how many there are. */
static size_t compare_row(const struct recording *r)
{
    struct number number;
    size_t numbers = 0;
    memcpy(number.fields, r->cells, METRIC * sizeof *number.fields);
    for (size_t i = METRIC; i < r->columns; i++) {
        if (!r->cells[i][0]) continue;
        number.fields[METRIC] = r->names[i];
        number.fields[VALUE] = r->cells[i];
        compare_number(&number);
        numbers++;
    }
    return numbers;
}

/* Compares the scans of at least `least` and less than `below` elements. */
static void compare_all(size_t least, size_t below)
{
    char last[128] = "", name[128];
    size_t numbers = 0;
    bool steps[100] = {false};
    struct recording r;

    cr_assert(cuda_emulated(), "these tests need the emulator");
    open_recording(&r);
    while (recording_next(&r)) {
        int step = atoi(r.cells[STEP]);
        if (step > LAST_RECORDED) continue;
        size_t n = strtoul(r.cells[N], NULL, 10);
        cr_assert(step >= 2 && step < (int)LENGTH(steps), "step %d", step);
        if (n < least || n >= below) continue;
        steps[step] = true;

        /* Rows of one scan follow each other. */
        snprintf(name, sizeof name, "%s %s %s", r.cells[STEP], r.cells[VARIANT], r.cells[N]);
        if (strcmp(name, last) != 0) {
            compare_sums();
            choose(&r);
            run();
        }
        strcpy(last, name);
        numbers += compare_row(&r);
    }
    compare_sums();
    for (int i = least > ONE_BLOCK ? 5 : 2; i <= LAST_RECORDED; i++) /* step 1 runs on the CPU */
        cr_expect(steps[i], "%s has no row of step %d", RECORDED, i);
    cr_expect(numbers > 0);
}

/* With one host thread, no block of step 12 waits so long for another that it makes up its sum. */
Test(recorded, emulator_counts_as_ncu_did_up_to_64_Ki_slow)
{
    cr_assert(setenv("EMU_THREADS", "1", 1) == 0);
    compare_all(0, LARGE);
}

Test(recorded, emulator_counts_as_ncu_did_for_large_scans_slow, .timeout = 600)
{
    if (getenv("TEST_NIGHTLY") == NULL) cr_skip_test("it takes a minute: make test-nightly has it");
    compare_all(LARGE, SIZE_MAX);
}
