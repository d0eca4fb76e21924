/*
 * recorded_differences.c — the counters of ncu on an H200 that differ from the emulator's, and why.
 * All other counters are exactly equal.
 *
 * The emulator runs PTX, and the GPU runs the machine code that ptxas makes of it. On both, the
 * number of times that threads poll words of other blocks varies from run to run.
 */
#include "recorded.h"

#include "steps/12-pipeline/parts/shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

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
    {"12", NULL, "sectors_st", .lines = {{"memory.cuh", NULL}, {"barrier.cuh", NULL}}},

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

bool in_group(const struct line_group *group, const char *path, const char *text)
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

const struct line_group *group_of(const struct number *number)
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

const struct line_group *polls_of(const struct number *number)
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

struct expected expect_of(const struct number *number, const struct step *step, int variant,
                          const struct emu_launch_record *record, double counted, double polled)
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
