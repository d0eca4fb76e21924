/*
 * warp.c — special registers, schedules, and operations of a warp.
 */
#define _GNU_SOURCE /* open_memstream */
#include "pairs.h"
#include "ptx_run.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- random scheduling ----------------------------------------------------------------------- */

/*
 * Random scheduling: a seed repeats a run, shows the effects of races, and does not
 * change the results of kernels without races.
 */

enum { SEEDS = 40 };
typedef int memory[PAIR_ARGUMENTS][PAIR_WORDS];

static struct pair read_pair(const char *name)
{
    struct pair pair;
    cr_assert(pair_read(&pair, name), "%s", name);
    return pair;
}

static void run(const char *name, bool right, uint64_t seed, memory result)
{
    struct pair pair = read_pair(name);
    struct emu *emu =
        open_emu_with(&(struct emu_config){.memory = 64 << 20, .threads = 1, .schedule = seed});
    int e = pair_result(emu, &pair, right, result);
    cr_assert(!e, "%s: seed %llu: error %d: %s", name, (unsigned long long)seed, e,
              emu_message(emu));
    emu_close(emu);
}

static char *trace_of(const char *name, bool right, uint64_t seed)
{
    char *text;
    size_t size;
    struct pair pair = read_pair(name);
    FILE *trace = open_memstream(&text, &size);
    struct emu *emu =
        open_emu_with(&(struct emu_config){.memory = 64 << 20, .trace = trace, .schedule = seed});
    cr_assert(!pair_run(emu, &pair, right), "%s", emu_message(emu));
    emu_close(emu);
    fclose(trace);
    return text;
}

/* Blocks of one thread record the order in which they run. */
Test(schedule, blocks_run_in_order)
{
    enum { BLOCKS = 200 };
    static const char text[] =
        PTX_KERNEL("k", "sub.u64 %in, %in, %offset;\natom.global.add.u32 %r1, [%in], 1;\n"
                        "st.global.u32 [%out], %r1;\nret;");
    for (int descending = 0; descending < 2; descending++) {
        uint32_t at[BLOCKS];
        struct emu *emu = open_emu_with(
            &(struct emu_config){.memory = 64 << 20, .threads = 1, .descending = descending});
        emu_addr out = device_copy(emu, NULL, sizeof at), count = device_copy(emu, NULL, 4);
        cr_assert(
            !launch(emu, load_kernel(emu, text, "k"), BLOCKS, 1, 0, 2, (uint64_t[]){out, count}),
            "%s", emu_message(emu));
        cr_assert(!emu_read(emu, at, out, sizeof at));
        for (uint32_t b = 0; b < BLOCKS; b++)
            cr_expect_eq(at[b], descending ? BLOCKS - 1 - b : b, "block %u runs as number %u", b,
                         at[b]);
        emu_close(emu);
    }
}

/* The first blocks end at once. Each of the others waits for the next one, which the same host
 * thread may have taken together with it. */
Test(schedule, small_blocks_wait_for_later_ones, .timeout = 30)
{
    enum { BLOCKS = 300, SMALL = 100, MOST_THREADS = 3 };
    char *text = ptx_kernel("setp.lt.u32 %%p0, %%cta, %d;\n@%%p0 ret;\n"
                            "setp.eq.u32 %%p0, %%cta, %d;\n@%%p0 bra GO;\n"
                            "WAIT:\nld.volatile.global.u32 %%r1, [%%out+4];\n"
                            "setp.eq.u32 %%p0, %%r1, 0;\n@%%p0 bra WAIT;\n"
                            "GO:\nst.volatile.global.u32 [%%out], 1;\nret;",
                            SMALL, BLOCKS - 1);
    for (unsigned threads = 1; threads <= MOST_THREADS; threads++) {
        uint32_t done[BLOCKS];
        struct emu *emu =
            open_emu_with(&(struct emu_config){.memory = 64 << 20, .threads = threads});
        uint64_t out = device_copy(emu, NULL, sizeof done);
        cr_assert(!launch(emu, load_kernel(emu, text, "k"), BLOCKS, 1, 0, 2, (uint64_t[]){out, 0}),
                  "%u threads: %s", threads, emu_message(emu));
        cr_assert(!emu_read(emu, done, out, sizeof done));
        for (uint32_t b = 0; b < BLOCKS; b++) cr_expect_eq(done[b], b >= SMALL, "block %u", b);
        emu_close(emu);
    }
    free(text);
}

Test(schedule, a_seed_repeats_every_access, .timeout = 30)
{
    static const struct {
        const char *name;
        bool right;
    } kernels[] = {
        {"race-scan", true}, {"race-scan", false}, {"race-blocks-sum", false}, {"race-lock", true}};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        char *first = trace_of(kernels[i].name, kernels[i].right, 7),
             *again = trace_of(kernels[i].name, kernels[i].right, 7),
             *other = trace_of(kernels[i].name, kernels[i].right, 8);
        cr_expect(!strcmp(first, again), "%s: seed 7 does not repeat", kernels[i].name);
        cr_expect(strcmp(first, other), "%s: seeds 7 and 8 do the same", kernels[i].name);
        free(first), free(again), free(other);
    }
}

/* Kernels with races that are right in the emulator's usual order by chance, or because lanes run
 * in lockstep. */
Test(schedule, some_seed_shows_a_race, .timeout = 60)
{
    static const char *const wrong[] = {
        "race-scan",          "race-warp",      "race-warp-values",
        "race-loop-warp",     "race-up-sweep",  "race-blocks-neighbour",
        "race-blocks-sum",    "race-bytes",     "race-tile-sum",
        "race-named",         "race-flag-load", "race-named-full",
        "race-histogram-zero"};
    static memory want, got;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        unsigned differ = 0;
        run(wrong[i], false, 1, want);
        for (uint64_t seed = 2; seed <= SEEDS; seed++) {
            run(wrong[i], false, seed, got);
            differ += memcmp(want, got, sizeof want) != 0;
        }
        cr_expect(differ, "%s: all of %d seeds give one result", wrong[i], SEEDS);
    }
}

Test(schedule, right_kernels_stay_right_slow, .timeout = 60)
{
    static const char *const right[] = {
        "race-warp-values", "race-loop-warp",      "race-tile-sum", "race-scan",
        "race-up-sweep",    "race-histogram-zero", "race-named",    "race-named-full",
        "race-flag-shared", "race-blocks-sum",     "race-chain",    "race-flag-relaxed",
        "race-last-inc",    "race-grid-fences",    "race-lock",     "race-look-back-warp",
        "race-chain-last",  "race-bytes"};
    static memory want, got;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        run(right[i], true, 0, want);
        for (uint64_t seed = 1; seed <= SEEDS / 2; seed++) {
            run(right[i], true, seed, got);
            cr_expect(!memcmp(want, got, sizeof want), "%s: seed %llu", right[i],
                      (unsigned long long)seed);
        }
    }
}

/* ---- the special registers of every thread of a grid ----------------------------------------- */

/*
 * The special registers of every thread of a grid, by their definitions (PTX ISA,
 * "Special Registers"), in a launch that has three dimensions and clusters.
 */

enum { WARP = 32, STATIC_BYTES = 48, DYNAMIC_BYTES = 512, RESERVED_BYTES = 1024 };

static const struct emu_dim grid = {4, 6, 2}, block = {8, 3, 3}, cluster = {2, 3, 1};

static unsigned size_of(struct emu_dim d) { return d.x * d.y * d.z; }
static unsigned index_in(struct emu_dim d, struct emu_dim at)
{
    return at.x + d.x * (at.y + d.y * at.z);
}
static struct emu_dim place_in(struct emu_dim d, unsigned index)
{
    return (struct emu_dim){index % d.x, index / d.x % d.y, index / d.x / d.y};
}

/* A thread, and what its registers must hold. */
struct place {
    struct emu_dim cta, tid;
};

static unsigned thread_of(const struct place *p) { return index_in(block, p->tid); }
static uint32_t lane_bit(const struct place *p) { return UINT32_C(1) << thread_of(p) % WARP; }
static struct emu_dim in_cluster(const struct place *p)
{
    return (struct emu_dim){p->cta.x % cluster.x, p->cta.y % cluster.y, p->cta.z % cluster.z};
}

#define REGISTERS(X)                                                                               \
    X("tid.x", p->tid.x)                                                                           \
    X("tid.y", p->tid.y)                                                                           \
    X("tid.z", p->tid.z)                                                                           \
    X("ntid.x", block.x)                                                                           \
    X("ntid.y", block.y)                                                                           \
    X("ntid.z", block.z)                                                                           \
    X("ctaid.x", p->cta.x)                                                                         \
    X("ctaid.y", p->cta.y)                                                                         \
    X("ctaid.z", p->cta.z)                                                                         \
    X("nctaid.x", grid.x)                                                                          \
    X("nctaid.y", grid.y)                                                                          \
    X("nctaid.z", grid.z)                                                                          \
    X("clusterid.x", p->cta.x / cluster.x)                                                         \
    X("clusterid.y", p->cta.y / cluster.y)                                                         \
    X("clusterid.z", p->cta.z / cluster.z)                                                         \
    X("nclusterid.x", grid.x / cluster.x)                                                          \
    X("nclusterid.y", grid.y / cluster.y)                                                          \
    X("nclusterid.z", grid.z / cluster.z)                                                          \
    X("cluster_ctaid.x", in_cluster(p).x)                                                          \
    X("cluster_ctaid.y", in_cluster(p).y)                                                          \
    X("cluster_ctaid.z", in_cluster(p).z)                                                          \
    X("cluster_nctaid.x", cluster.x)                                                               \
    X("cluster_nctaid.y", cluster.y)                                                               \
    X("cluster_nctaid.z", cluster.z)                                                               \
    X("cluster_ctarank", index_in(cluster, in_cluster(p)))                                         \
    X("cluster_nctarank", size_of(cluster))                                                        \
    X("laneid", thread_of(p) % WARP)                                                               \
    X("warpid", thread_of(p) / WARP)                                                               \
    X("nwarpid", 2048 / WARP)                                                                      \
    X("lanemask_eq", lane_bit(p))                                                                  \
    X("lanemask_le", lane_bit(p) | (lane_bit(p) - 1))                                              \
    X("lanemask_lt", lane_bit(p) - 1)                                                              \
    X("lanemask_ge", ~(lane_bit(p) - 1))                                                           \
    X("lanemask_gt", ~(lane_bit(p) | (lane_bit(p) - 1)))                                           \
    X("nsmid", 132)                                                                                \
    X("dynamic_smem_size", DYNAMIC_BYTES)                                                          \
    X("total_smem_size", STATIC_BYTES + DYNAMIC_BYTES)                                             \
    X("aggr_smem_size", STATIC_BYTES + DYNAMIC_BYTES + RESERVED_BYTES)                             \
    X("envreg7", 0)

#define NAME(name, value)  name,
#define VALUE(name, value) value,
static const char *const names[] = {REGISTERS(NAME)};
enum { COUNT = sizeof names / sizeof *names };

static uint32_t expected(const struct place *p, unsigned which)
{
    const uint32_t values[] = {REGISTERS(VALUE)};
    return values[which];
}

/* A kernel that stores the register for each thread at `out`. */
static struct emu_kernel *kernel_of(struct emu *emu, const char *name)
{
    char text[2000];
    snprintf(text, sizeof text,
             PTX_HEADER ".visible .entry k(.param .u64 out) {\n.shared .b8 own[%d];\n"
                        ".reg .b32 %%r<16>;\n.reg .b64 %%l<4>;\nld.param.u64 %%l0, [out];\n"
                        "mov.u32 %%r0, %%ctaid.z;\nmov.u32 %%r1, %%nctaid.y;\n"
                        "mov.u32 %%r2, %%ctaid.y;\nmad.lo.u32 %%r0, %%r0, %%r1, %%r2;\n"
                        "mov.u32 %%r1, %%nctaid.x;\nmov.u32 %%r2, %%ctaid.x;\n"
                        "mad.lo.u32 %%r0, %%r0, %%r1, %%r2;\n"
                        "mov.u32 %%r1, %%ntid.z;\nmov.u32 %%r2, %%tid.z;\n"
                        "mad.lo.u32 %%r0, %%r0, %%r1, %%r2;\n"
                        "mov.u32 %%r1, %%ntid.y;\nmov.u32 %%r2, %%tid.y;\n"
                        "mad.lo.u32 %%r0, %%r0, %%r1, %%r2;\n"
                        "mov.u32 %%r1, %%ntid.x;\nmov.u32 %%r2, %%tid.x;\n"
                        "mad.lo.u32 %%r0, %%r0, %%r1, %%r2;\n"
                        "mov.u32 %%r3, own;\nst.shared.u8 [%%r3], %%r0;\n"
                        "mad.wide.u32 %%l0, %%r0, 4, %%l0;\nmov.u32 %%r4, %%%s;\n"
                        "st.global.u32 [%%l0], %%r4;\nret;\n}\n",
             STATIC_BYTES, name);
    return load_kernel(emu, text, "k");
}

/* The register in every thread of a launch, in the order of threads and blocks. malloc'd. */
static uint32_t *values_of(struct emu *emu, const char *name, const struct emu_shape *shape)
{
    size_t bytes = size_of(shape->grid) * size_of(shape->block) * sizeof(uint32_t);
    emu_addr out = device_copy(emu, NULL, bytes);
    cr_assert(!emu_launch_shape(emu, kernel_of(emu, name), shape, (void *[]){&out}), "%s",
              emu_message(emu));
    uint32_t *values = malloc(bytes);
    cr_assert(values && !emu_read(emu, values, out, bytes));
    emu_free(emu, out);
    return values;
}

Test(emu_special, in_three_dimensions_and_clusters)
{
    struct emu *emu = open_emu();
    const struct emu_shape shape = {
        .grid = grid, .block = block, .cluster = cluster, .dynamic_shared = DYNAMIC_BYTES};
    for (unsigned r = 0; r < COUNT; r++) {
        uint32_t *got = values_of(emu, names[r], &shape);
        for (unsigned i = 0; i < size_of(grid) * size_of(block); i++) {
            struct place p = {.cta = place_in(grid, i / size_of(block)),
                              .tid = place_in(block, i % size_of(block))};
            cr_assert_eq(got[i], expected(&p, r), "%%%s of thread %u: 0x%x, not 0x%x", names[r], i,
                         got[i], expected(&p, r));
        }
        free(got);
    }
    emu_close(emu);
}

/* Blocks are assigned to the multiprocessors in turn. */
Test(emu_special, every_multiprocessor_has_blocks)
{
    enum { BLOCKS = 300, SMS = 132 };
    struct emu *emu = open_emu();
    const struct emu_shape shape = {.grid = {BLOCKS, 1, 1}, .block = {2, 1, 1}};
    uint32_t *got = values_of(emu, "smid", &shape);
    for (unsigned i = 0; i < 2 * BLOCKS; i++) cr_expect_eq(got[i], i / 2 % SMS, "thread %u", i);
    free(got);
    emu_close(emu);
}

Test(emu_special, each_grid_has_its_number)
{
    struct emu *emu = open_emu();
    const struct emu_shape shape = {.grid = {2, 1, 1}, .block = {2, 1, 1}};
    uint32_t *first = values_of(emu, "gridid", &shape), *second = values_of(emu, "gridid", &shape);
    for (unsigned i = 0; i < 4; i++) {
        cr_expect_eq(first[i], first[0]);
        cr_expect_eq(second[i], first[0] + 1);
    }
    free(first);
    free(second);
    emu_close(emu);
}

/* The memory that the system reserves is one range behind the block's own memory, in two halves. */
Test(emu_special, reserved_shared_memory)
{
    static const char *const offsets[] = {"begin", "end", "cap", "0", "1"};
    uint32_t value[5];
    struct emu *emu = open_emu();
    const struct emu_shape shape = {
        .grid = {1, 1, 1}, .block = {1, 1, 1}, .dynamic_shared = DYNAMIC_BYTES};
    for (int i = 0; i < 5; i++) {
        char name[40];
        snprintf(name, sizeof name, "reserved_smem_offset_%s", offsets[i]);
        uint32_t *got = values_of(emu, name, &shape);
        value[i] = got[0];
        free(got);
    }
    cr_expect_geq(value[0], STATIC_BYTES + DYNAMIC_BYTES);
    cr_expect_eq(value[1] - value[0], value[2]);
    cr_expect_gt(value[2], 0);
    cr_expect_eq(value[3], value[0]);
    cr_expect_eq(value[4], value[0] + value[2] / 2);
    emu_close(emu);
}

Test(emu_special, a_cluster_says_whether_it_was_asked_for)
{
    struct emu *emu = open_emu();
    const char *text =
        PTX_KERNEL("k", "mov.pred %p0, %is_explicit_cluster;\n"
                        "selp.b32 %r0, 1, 0, %p0;\nst.global.u32 [%out], %r0;\nret;");
    for (unsigned explicitly = 0; explicitly < 2; explicitly++) {
        struct emu_shape shape = {.grid = {2, 1, 1}, .block = {1, 1, 1}};
        if (explicitly) shape.cluster = (struct emu_dim){2, 1, 1};
        uint32_t got[2];
        emu_addr out = device_copy(emu, NULL, sizeof got);
        cr_assert(
            !emu_launch_shape(emu, load_kernel(emu, text, "k"), &shape, (void *[]){&out, &out}),
            "%s", emu_message(emu));
        cr_assert(!emu_read(emu, got, out, sizeof got));
        cr_expect(got[0] == explicitly && got[1] == explicitly, "%u, %u", got[0], got[1]);
    }
    emu_close(emu);
}

Test(emu_special, names_that_are_none)
{
    static const char *const wrong[] = {"tid.w", "envreg", "envregx", "lanemask", "smidx"};
    struct emu *emu = open_emu();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char body[80];
        struct emu_module *module;
        snprintf(body, sizeof body, "mov.u32 %%%%r0, %%%%%s;\nret;", wrong[i]);
        char *text = ptx_kernel(body, 0);
        cr_expect(emu_load(emu, text, strlen(text), "t", &module) == EMU_OK, "%s", text);
        struct emu_kernel *kernel;
        cr_expect(emu_kernel(emu, module, "k", &kernel) != 0, "%%%s", wrong[i]);
        free(text);
    }
    emu_close(emu);
}

/* ---- instructions that exchange values among the lanes of a warp ----------------------------- */

/*
 * Instructions that exchange values among the lanes of a warp, and those that read a
 * lane's own properties: shfl, vote, match, redux, special registers.
 */

enum { LANES = 32 };

static bool member(uint32_t mask, unsigned lane) { return mask >> lane & 1; }

/* Runs a body on one warp with in[lane] in %r0, result in %r1. */
static void run_warp(struct emu *emu, const char *body, const uint32_t in[LANES],
                     uint32_t out[LANES])
{
    char *text =
        ptx_kernel("ld.global.u32 %%r0, [%%in];\nmov.u32 %%r1, 0;\nmov.u32 %%r2, %%laneid;\n"
                   "%s\nst.global.u32 [%%out], %%r1;\nret;\n",
                   body);
    run_kernel(emu, text, LANES, LANES, out, in);
    free(text);
}

static void fill(uint32_t in[LANES], uint64_t seed)
{
    for (unsigned n = 0; n < LANES; n++) in[n] = (uint32_t)next_random(&seed);
}

/* ---- shfl ------------------------------------------------------------------------------------ */

/* PTX ISA, shfl.sync: the low five bits of c clamp, bits 8 to 12 cut the warp into segments. */
static unsigned source_lane(char mode, unsigned lane, uint32_t b, uint32_t c, bool *in_range)
{
    int clamp = (int)(c & 31), segment = (int)(c >> 8 & 31), value = (int)(b & 31), at = (int)lane;
    int highest = (at & segment) | (clamp & ~segment), lowest = at & segment;
    int j = mode == 'u'   ? at - value
            : mode == 'd' ? at + value
            : mode == 'b' ? at ^ value
                          : lowest | (value & ~segment);
    *in_range = mode == 'u' ? j >= highest : j <= highest;
    return *in_range ? (unsigned)j : lane;
}

Test(emu_warp, shuffles)
{
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    static const uint32_t clamps[] = {0, 31, 0x1c1f, 0x181f, 0x101f, 0x1e00, 0x1000, 15, 0x0f07};
    static const uint32_t amounts[] = {0, 1, 2, 3, 5, 8, 16, 31, 32, 33};
    struct emu *emu = open_emu();
    uint32_t in[LANES], out[LANES];
    fill(in, 11);
    for (size_t m = 0; m < 4; m++)
        for (size_t c = 0; c < sizeof clamps / sizeof *clamps; c++)
            for (size_t b = 0; b < sizeof amounts / sizeof *amounts; b++) {
                char body[256];
                /* The predicate replaces the lowest bit of the data. */
                snprintf(body, sizeof body,
                         "shfl.sync.%s.b32 %%r1|%%p0, %%r0, %u, 0x%x, 0xffffffff;\n"
                         "and.b32 %%r1, %%r1, 0xfffffffe;\nselp.b32 %%r3, 1, 0, %%p0;\n"
                         "or.b32 %%r1, %%r1, %%r3;",
                         modes[m], amounts[b], clamps[c]);
                run_warp(emu, body, in, out);
                for (unsigned n = 0; n < LANES; n++) {
                    bool in_range;
                    unsigned from = source_lane(modes[m][0], n, amounts[b], clamps[c], &in_range);
                    uint32_t want = (in[from] & ~1u) | in_range;
                    cr_expect(out[n] == want, "shfl.%s %u, 0x%x: lane %u: got 0x%x, want 0x%x",
                              modes[m], amounts[b], clamps[c], n, out[n], want);
                }
            }
    emu_close(emu);
}

/* Every lane with its own source, operands in registers; and the form without a predicate. */
Test(emu_warp, shuffle_operands_in_registers)
{
    struct emu *emu = open_emu();
    uint32_t in[LANES], out[LANES];
    fill(in, 12);
    run_warp(emu,
             "xor.b32 %r3, %r2, 21;\nmov.u32 %r4, 31;\nmov.u32 %r5, -1;\n"
             "shfl.sync.idx.b32 %r1, %r0, %r3, %r4, %r5;",
             in, out);
    for (unsigned n = 0; n < LANES; n++) cr_expect(out[n] == in[n ^ 21], "lane %u", n);
    run_warp(emu, "mov.b32 %f0, %r0;\nshfl.sync.down.b32 %f1, %f0, 4, 31, -1;\nmov.b32 %r1, %f1;",
             in, out);
    for (unsigned n = 0; n < LANES; n++) cr_expect(out[n] == in[n < 28 ? n + 4 : n], "lane %u", n);
    run_warp(emu, "shfl.sync.bfly.b32 %r0, %r0, 1, 31, -1;\nmov.b32 %r1, %r0;", in, out);
    for (unsigned n = 0; n < LANES; n++) cr_expect(out[n] == in[n ^ 1], "in place, lane %u", n);
    emu_close(emu);
}

/* ---- vote, match, redux ---------------------------------------------------------------------- */

/* Only the lanes of a mask take part; the others are in another branch. */
#define AMONG(mask, text)                                                                          \
    "mov.u32 %r9, " mask ";\nshr.u32 %r8, %r9, %r2;\nand.b32 %r8, %r8, 1;\n"                       \
    "setp.eq.u32 %p9, %r8, 0;\n@%p9 bra OUTSIDE;\n" text "\nOUTSIDE:"

static uint32_t ballot(const uint32_t in[LANES], uint32_t mask)
{
    uint32_t result = 0;
    for (unsigned n = 0; n < LANES; n++) result |= (member(mask, n) && in[n] & 1) ? 1u << n : 0;
    return result;
}

Test(emu_warp, votes)
{
    static const struct {
        const char *mask;
        uint32_t value;
    } masks[] = {
        {"0xffffffff", 0xffffffff}, {"0x0000ffff", 0xffff}, {"0x55555555", 0x55555555},
        {"0x80000001", 0x80000001}, {"0x00000010", 0x10},
    };
    static const char *const bodies[] = {
        "vote.sync.ballot.b32 %r1, %p0, %r9;",
        "vote.ballot.sync.b32 %r1, %p0, %r9;", /* the order that CUB writes */
        "vote.sync.any.pred %p1, %p0, %r9;\nselp.b32 %r1, 1, 0, %p1;",
        "vote.sync.all.pred %p1, %p0, %r9;\nselp.b32 %r1, 1, 0, %p1;",
        "vote.sync.uni.pred %p1, %p0, %r9;\nselp.b32 %r1, 1, 0, %p1;",
        "vote.sync.all.pred %p1, !%p0, %r9;\nselp.b32 %r1, 1, 0, %p1;",
    };
    struct emu *emu = open_emu();
    for (size_t kind = 0; kind < 4; kind++) /* random, all, none, one */
        for (size_t m = 0; m < sizeof masks / sizeof *masks; m++)
            for (size_t b = 0; b < sizeof bodies / sizeof *bodies; b++) {
                uint32_t in[LANES], out[LANES], mask = masks[m].value;
                fill(in, 13);
                for (unsigned n = 0; n < LANES && kind; n++)
                    in[n] = kind == 1 || (kind == 3 && n == 16);
                char body[512];
                snprintf(body, sizeof body,
                         "and.b32 %%r3, %%r0, 1;\nsetp.ne.u32 %%p0, %%r3, 0;\nmov.u32 %%r9, %s;\n"
                         "shr.u32 %%r8, %%r9, %%r2;\nand.b32 %%r8, %%r8, 1;\nsetp.eq.u32 %%p9, "
                         "%%r8, 0;\n"
                         "@%%p9 bra OUTSIDE;\n%s\nOUTSIDE:",
                         masks[m].mask, bodies[b]);
                run_warp(emu, body, in, out);
                uint32_t yes = ballot(in, mask);
                uint32_t wants[] = {yes,     yes, yes != 0, yes == mask, yes == 0 || yes == mask,
                                    yes == 0};
                for (unsigned n = 0; n < LANES; n++)
                    cr_expect(out[n] == (member(mask, n) ? wants[b] : 0),
                              "%s mask %s, lane %u: got 0x%x, want 0x%x", bodies[b], masks[m].mask,
                              n, out[n], wants[b]);
            }
    emu_close(emu);
}

Test(emu_warp, matches)
{
    struct emu *emu = open_emu();
    for (unsigned values = 1; values <= 8; values++) {
        uint32_t in[LANES], out[LANES];
        fill(in, values);
        for (unsigned n = 0; n < LANES; n++) in[n] %= values;
        run_warp(emu, "match.any.sync.b32 %r1, %r0, 0xffffffff;", in, out);
        for (unsigned n = 0; n < LANES; n++) {
            uint32_t want = 0;
            for (unsigned i = 0; i < LANES; i++) want |= in[i] == in[n] ? 1u << i : 0;
            cr_expect(out[n] == want, "any of %u, lane %u: got 0x%x, want 0x%x", values, n, out[n],
                      want);
        }
        run_warp(
            emu,
            "mov.b64 %l0, {%r0, %r0};\n" AMONG("0x00ffff00", "match.any.sync.b64 %r1, %l0, %r9;"),
            in, out);
        for (unsigned n = 0; n < LANES; n++) {
            uint32_t want = 0;
            for (unsigned i = 8; i < 24; i++) want |= in[i] == in[n] ? 1u << i : 0;
            if (n < 8 || n >= 24) want = 0;
            cr_expect(out[n] == want, "any of %u in 64 bits, lane %u: 0x%x", values, n, out[n]);
        }
        run_warp(emu,
                 "match.all.sync.b32 %r1|%p0, %r0, 0xffffffff;\nselp.b32 %r3, 1, 0, %p0;\n"
                 "xor.b32 %r1, %r1, %r3;",
                 in, out);
        bool same = true;
        for (unsigned n = 0; n < LANES; n++) same &= in[n] == in[0];
        for (unsigned n = 0; n < LANES; n++)
            cr_expect(out[n] == (same ? 0xfffffffe : 0), "all of %u: lane %u: 0x%x", values, n,
                      out[n]);
    }
    emu_close(emu);
}

static uint32_t reduce(const char *op, const uint32_t in[LANES], uint32_t mask)
{
    uint32_t r = 0;
    bool first = true;
    for (unsigned n = 0; n < LANES; n++) {
        if (!member(mask, n)) continue;
        uint32_t x = in[n];
        if (first)
            r = x;
        else if (!strncmp(op, "add", 3))
            r += x;
        else if (!strcmp(op, "min.u32"))
            r = x < r ? x : r;
        else if (!strcmp(op, "max.u32"))
            r = x > r ? x : r;
        else if (!strcmp(op, "min.s32"))
            r = (int32_t)x < (int32_t)r ? x : r;
        else if (!strcmp(op, "max.s32"))
            r = (int32_t)x > (int32_t)r ? x : r;
        else if (!strcmp(op, "and.b32"))
            r &= x;
        else if (!strcmp(op, "or.b32"))
            r |= x;
        else if (!strcmp(op, "xor.b32"))
            r ^= x;
        else
            cr_assert_fail("no reduction '%s'", op);
        first = false;
    }
    return r;
}

Test(emu_warp, reductions)
{
    static const char *const ops[] = {"add.u32", "add.s32", "min.u32", "max.u32", "min.s32",
                                      "max.s32", "and.b32", "or.b32",  "xor.b32"};
    static const struct {
        const char *mask;
        uint32_t value;
    } masks[] = {{"0xffffffff", 0xffffffff}, {"0x0f0f0f0f", 0x0f0f0f0f}, {"0x00000400", 0x400}};
    struct emu *emu = open_emu();
    uint32_t in[LANES], out[LANES];
    fill(in, 17);
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
        for (size_t m = 0; m < 3; m++) {
            char body[512];
            snprintf(
                body, sizeof body,
                "mov.u32 %%r9, %s;\nshr.u32 %%r8, %%r9, %%r2;\nand.b32 %%r8, %%r8, 1;\n"
                "setp.eq.u32 %%p9, %%r8, 0;\n@%%p9 bra OUTSIDE;\nredux.sync.%s %%r1, %%r0, %%r9;\n"
                "OUTSIDE:",
                masks[m].mask, ops[o]);
            run_warp(emu, body, in, out);
            uint32_t want = reduce(ops[o], in, masks[m].value);
            for (unsigned n = 0; n < LANES; n++)
                cr_expect(out[n] == (member(masks[m].value, n) ? want : 0),
                          "redux.%s mask %s, lane %u: got 0x%x, want 0x%x", ops[o], masks[m].mask,
                          n, out[n], want);
        }
    emu_close(emu);
}

/* ---- special registers ----------------------------------------------------------------------- */

Test(emu_warp, special_registers)
{
    struct emu *emu = open_emu();
    uint32_t in[LANES] = {0}, out[LANES];
    static const char *const masks[] = {"eq", "le", "lt", "ge", "gt"};
    for (size_t i = 0; i < 5; i++) {
        char body[64];
        snprintf(body, sizeof body, "mov.u32 %%r1, %%lanemask_%s;", masks[i]);
        run_warp(emu, body, in, out);
        for (unsigned n = 0; n < LANES; n++) {
            uint32_t below = (1u << n) - 1, self = 1u << n;
            uint32_t wants[] = {self, below | self, below, ~below, ~(below | self)};
            cr_expect(out[n] == wants[i], "%%lanemask_%s, lane %u: 0x%x", masks[i], n, out[n]);
        }
    }
    run_warp(emu, "mov.u32 %r1, %nwarpid;", in, out); /* at least the warps that there are */
    cr_expect(out[0] >= 1 && out[0] <= 64, "%%nwarpid %u", out[0]);
    run_warp(emu,
             "mov.u32 %r3, %smid;\nmov.u32 %r4, %nsmid;\nsetp.lt.u32 %p0, %r3, %r4;\n"
             "selp.b32 %r1, 1, 0, %p0;",
             in, out);
    cr_expect(out[0] == 1, "%%smid is not below %%nsmid");
    emu_close(emu);
}

/* Clocks only have to advance. */
Test(emu_warp, clocks_advance)
{
    struct emu *emu = open_emu();
    uint32_t in[LANES] = {0}, out[LANES];
    static const char *const clocks[] = {"%clock64", "%globaltimer"};
    for (size_t i = 0; i < 2; i++) {
        char body[256];
        snprintf(body, sizeof body,
                 "mov.u64 %%l0, %s;\nAGAIN: mov.u64 %%l1, %s;\nsetp.le.u64 %%p0, %%l1, %%l0;\n"
                 "@%%p0 bra AGAIN;\nmov.u32 %%r1, 1;",
                 clocks[i], clocks[i]);
        run_warp(emu, body, in, out);
        cr_expect(out[0] == 1 && out[31] == 1);
    }
    run_warp(emu, "mov.u32 %r3, %clock;\nnanosleep.u32 100;\nmov.u32 %r4, %clock;\nmov.u32 %r1, 1;",
             in, out);
    cr_expect(out[5] == 1);
    emu_close(emu);
}
