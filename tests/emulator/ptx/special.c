/*
 * special.c — the special registers of every thread of a grid, by their definitions (PTX ISA,
 * "Special Registers"), in a launch that has three dimensions and clusters.
 */
#define _GNU_SOURCE
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

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
