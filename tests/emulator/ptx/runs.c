/*
 * runs.c — loads and stores by the addresses of the lanes: runs (all lanes at one address, or at
 * consecutive ones), which the emulator executes with vector instructions, and patterns that look
 * like runs but are not. A model moves the bytes lane by lane.
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 32, SIZE = 4096 };
#define ALL UINT32_MAX /* lanes */

/* ---- addresses, in elements from the beginning ---------------------------------------------- */

static unsigned broadcast(unsigned lane) { return lane < LANES ? 7 : 0; }
static unsigned consecutive(unsigned lane) { return 5 + lane; }
static unsigned at_the_end(unsigned lane) { return 1000 - LANES + lane; } /* see place() */
static unsigned backwards(unsigned lane) { return 40 - lane; }
static unsigned strided(unsigned lane) { return 3 * lane; }
static unsigned scattered(unsigned lane) { return lane * 37 % 64; }
static unsigned in_halves(unsigned lane) { return lane % 16; }
static unsigned one_astray(unsigned lane) { return lane == 13 ? 50 : lane; }
static unsigned one_apart(unsigned lane) { return lane == 13 ? 50 : 2; }
static unsigned last_astray(unsigned lane) { return lane == 31 ? 2 : lane; }
static unsigned two_places(unsigned lane) { return lane < 2 ? 9 : 10; }

static const struct shape {
    const char *name;
    unsigned (*element)(unsigned lane);
} shapes[] = {
    {"broadcast", broadcast},     {"consecutive", consecutive}, {"at the end", at_the_end},
    {"backwards", backwards},     {"strided", strided},         {"scattered", scattered},
    {"in halves", in_halves},     {"one astray", one_astray},   {"one apart", one_apart},
    {"last astray", last_astray}, {"two places", two_places},
};

static const uint32_t masks[] = {0xffffffff, 0x7fffffff, 0xfffffffe, 0x0000ffff,
                                 0xaaaaaaaa, 0x80000001, 0x00002000, 0xffffdfff};

static const struct run_access {
    const char *type;
    char letter; /* of the registers, as in ptx_run.h */
    unsigned bytes, elements;
    bool is_signed;
} accesses[] = {
    {"u8", 'r', 1, 1, false},  {"s8", 'r', 1, 1, true},   {"s16", 'r', 2, 1, true},
    {"u16", 'l', 2, 1, false}, {"u32", 'r', 4, 1, false}, {"s32", 'l', 4, 1, true},
    {"u64", 'l', 8, 1, false}, {"s8", 'l', 1, 1, true},   {"u32", 'r', 4, 2, false},
    {"u32", 'r', 4, 4, false}, {"u64", 'l', 8, 2, false}, {"u16", 'r', 2, 4, false},
    {"u32", 'l', 4, 2, false},
};

/* The PTX that loads the address of byte `%o` of the memory into a register, and the suffix of the
 * instruction. */
static const struct space {
    const char *suffix, *address, *name;
    bool is_shared;
} spaces[] = {
    {".global", "add.s64 %a, %data, %o;\n", "[%a]", false},
    {"", "add.s64 %a, %data, %o;\n", "[%a]", false},
    {".shared", "mov.u64 %a, buf;\nadd.s64 %a, %a, %o;\ncvt.u32.u64 %b, %a;\n", "[%b]", true},
    {".shared", "mov.u64 %a, buf;\nadd.s64 %a, %a, %o;\n", "[%a]", true},
    {"", "mov.u64 %a, buf;\ncvta.shared.u64 %a, %a;\nadd.s64 %a, %a, %o;\n", "[%a]", true},
};

/* ---- the kernel ------------------------------------------------------------------------------ */

static void print_copy(FILE *f, const char *label, const char *from, const char *to)
{
    fprintf(f,
            "mov.u32 %%i, 0;\n%s:\nmad.lo.u32 %%r0, %%i, 4, %%tx4;\ncvt.u64.u32 %%l0, %%r0;\n"
            "add.s64 %%l1, %%data, %%l0;\nmov.u64 %%l2, buf;\nadd.s64 %%l2, %%l2, %%l0;\n"
            "ld.%s.u32 %%r1, [%s];\nst.%s.u32 [%s], %%r1;\nadd.s32 %%i, %%i, %d;\n"
            "setp.lt.u32 %%q, %%i, %d;\n@%%q bra %s;\n",
            label, from, !strcmp(from, "global") ? "%l1" : "%l2", to,
            !strcmp(to, "global") ? "%l1" : "%l2", LANES, SIZE / 4, label);
}

/* Each lane of the mask loads into registers that held its value, or stores from them; the loaded
 * or stored content becomes its value. */
static char *kernel_text(const struct run_access *a, const struct space *space, bool store)
{
    char *text, list[64] = "";
    size_t size, length = 0;
    FILE *f = open_memstream(&text, &size);
    for (unsigned k = 0; k < a->elements; k++)
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%%%c%u", k ? ", " : "",
                                   a->letter, k + 4);
    unsigned lane_bytes = a->letter == 'l' ? 8 : 4;
    fputs(PTX_HEADER ".visible .entry k(.param .u64 p_data, .param .u64 p_offsets,\n"
                     ".param .u64 p_values, .param .u32 p_mask) {\n"
                     ".reg .b32 %r<9>, %i, %b, %tx4;\n.reg .b64 %l<9>, %a, %o, %data, %v;\n"
                     ".reg .pred %p, %q;\n",
          f);
    fprintf(f, ".shared .align 16 .b8 buf[%d];\n", SIZE);
    fputs(
        "ld.param.u64 %data, [p_data];\nmov.u32 %r0, %tid.x;\nshl.b32 %tx4, %r0, 2;\n"
        "ld.param.u64 %l0, [p_offsets];\nmad.wide.u32 %l0, %r0, 8, %l0;\nld.global.u64 %o, [%l0];\n"
        "ld.param.u64 %v, [p_values];\nmad.wide.u32 %v, %r0, 32, %v;\n"
        "ld.param.u32 %r1, [p_mask];\nshr.u32 %r1, %r1, %r0;\nand.b32 %r1, %r1, 1;\n"
        "setp.ne.u32 %p, %r1, 0;\n",
        f);
    if (space->is_shared) print_copy(f, "in", "global", "shared");
    for (unsigned k = 0; k < a->elements; k++)
        fprintf(f, "ld.global.b%u %%%c%u, [%%v+%u];\n", 8 * lane_bytes, a->letter, k + 4,
                k * lane_bytes);
    fputs(space->address, f);
    const char *vector = a->elements == 1 ? "" : a->elements == 2 ? ".v2" : ".v4";
    const char *open = a->elements == 1 ? "" : "{", *close = a->elements == 1 ? "" : "}";
    if (store)
        fprintf(f, "@%%p st%s%s.%s %s, %s%s%s;\n", space->suffix, vector, a->type, space->name,
                open, list, close);
    else
        fprintf(f, "@%%p ld%s%s.%s %s%s%s, %s;\n", space->suffix, vector, a->type, open, list,
                close, space->name);
    for (unsigned k = 0; k < a->elements; k++)
        fprintf(f, "st.global.b%u [%%v+%u], %%%c%u;\n", 8 * lane_bytes, k * lane_bytes, a->letter,
                k + 4);
    if (space->is_shared) print_copy(f, "out", "shared", "global");
    fputs("ret;\n}\n", f);
    fclose(f);
    return text;
}

/* ---- the model ------------------------------------------------------------------------------- */

struct state {
    uint8_t data[SIZE];
    uint8_t values[LANES][32];
};

/* A lane's first byte. The memory's end is where element 1000 would be. */
static uint64_t place(const struct run_access *a, const struct shape *shape, unsigned lane)
{
    unsigned bytes = a->bytes * a->elements, element = shape->element(lane);
    if (shape->element == at_the_end) return SIZE - (1000 - element) * bytes;
    return element * bytes;
}

static void model(struct state *s, const struct run_access *a, const struct shape *shape,
                  uint32_t mask, bool store)
{
    unsigned lane_bytes = a->letter == 'l' ? 8 : 4;
    for (unsigned l = 0; l < LANES; l++)
        for (unsigned k = 0; mask >> l & 1 && k < a->elements; k++) {
            uint8_t *memory = s->data + place(a, shape, l) + k * a->bytes;
            uint8_t *value = s->values[l] + k * lane_bytes;
            if (store) {
                memcpy(memory, value, a->bytes);
                continue;
            }
            memcpy(value, memory, a->bytes);
            bool negative = a->is_signed && memory[a->bytes - 1] & 0x80;
            memset(value + a->bytes, negative ? 0xff : 0, lane_bytes - a->bytes);
        }
}

static void fill(struct state *s)
{
    uint32_t random = 12345;
    for (size_t i = 0; i < sizeof *s; i++) {
        random = random * 1664525 + 1013904223;
        ((uint8_t *)s)[i] = (uint8_t)(random >> 24);
    }
}

/* ---- all accesses ---------------------------------------------------------------------------- */

struct device {
    struct emu *emu;
    emu_addr data, offsets, values; /* data is an allocation of SIZE bytes */
};

static struct device open_device(const struct emu_config *config)
{
    struct device d = {.emu = open_emu_with(config)};
    cr_assert(!emu_alloc(d.emu, SIZE, &d.data));
    cr_assert(!emu_alloc(d.emu, LANES * sizeof(uint64_t), &d.offsets));
    cr_assert(!emu_alloc(d.emu, sizeof(((struct state *)NULL)->values), &d.values));
    return d;
}

static int run_lanes(const struct device *d, struct emu_kernel *kernel, const uint64_t *offsets,
                     uint32_t mask)
{
    void *args[] = {(void *)&d->data, (void *)&d->offsets, (void *)&d->values, &mask};
    cr_assert(!emu_write(d->emu, d->offsets, offsets, LANES * sizeof *offsets));
    return emu_launch(d->emu, kernel, (struct emu_dim){1, 1, 1}, (struct emu_dim){LANES, 1, 1}, 0,
                      args, false);
}

static void check(const struct device *d, struct emu_kernel *kernel, const struct run_access *a,
                  const struct space *space, const struct shape *shape, uint32_t mask, bool store)
{
    struct state want, got;
    uint64_t offsets[LANES];
    fill(&want);
    for (unsigned l = 0; l < LANES; l++) offsets[l] = place(a, shape, l);
    cr_assert(!emu_write(d->emu, d->data, want.data, sizeof want.data));
    cr_assert(!emu_write(d->emu, d->values, want.values, sizeof want.values));
    cr_assert(!run_lanes(d, kernel, offsets, mask), "%s", emu_message(d->emu));
    cr_assert(!emu_read(d->emu, got.data, d->data, sizeof got.data));
    cr_assert(!emu_read(d->emu, got.values, d->values, sizeof got.values));
    model(&want, a, shape, mask, store);
    cr_assert(!memcmp(&want, &got, sizeof want), "%s%s.%s of %u, address %s: %s, mask 0x%08x",
              store ? "st" : "ld", space->suffix, a->type, a->elements, space->name, shape->name,
              mask);
}

static void check_access(const struct device *d, const struct run_access *a,
                         const struct space *space, bool store)
{
    char *text = kernel_text(a, space, store);
    struct emu_kernel *kernel = load_kernel(d->emu, text, "k");
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (size_t m = 0; m < sizeof masks / sizeof *masks; m++)
            check(d, kernel, a, space, &shapes[s], masks[m], store);
    free(text);
}

static void check_all(const struct emu_config *config)
{
    struct device d = open_device(config);
    for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++)
        for (size_t k = 0; k < sizeof spaces / sizeof *spaces; k++) {
            check_access(&d, &accesses[i], &spaces[k], false);
            check_access(&d, &accesses[i], &spaces[k], true);
        }
    emu_close(d.emu);
}

Test(emu_runs, every_shape_moves_the_same_bytes) { check_all(&(struct emu_config){.threads = 1}); }

Test(emu_runs, every_shape_moves_the_same_bytes_when_observed_slow)
{
    check_all(&(struct emu_config){
        .threads = 1, .counters = true, .checks = EMU_CHECK_RACE | EMU_CHECK_INIT});
}

/* ---- the edges ------------------------------------------------------------------------------- */

/* Loads from `first` on, with `stride` bytes from one lane to the next. */
static int run_at(const struct device *d, const struct run_access *a, const struct space *space,
                  uint64_t first, unsigned stride, uint32_t mask)
{
    char *text = kernel_text(a, space, false);
    uint64_t offsets[LANES];
    for (unsigned l = 0; l < LANES; l++) offsets[l] = first + (uint64_t)l * stride;
    int error = run_lanes(d, load_kernel(d->emu, text, "k"), offsets, mask);
    free(text);
    return error;
}

static void check_edge(const struct run_access *a, const struct space *space, uint64_t first,
                       unsigned stride, uint32_t mask, int error, const char *thread)
{
    struct device d = open_device(&(struct emu_config){.threads = 1});
    cr_expect_eq(run_at(&d, a, space, first, stride, mask), error, "%s at %llu, %u apart: %s",
                 a->type, (unsigned long long)first, stride, emu_message(d.emu));
    if (error) cr_expect(strstr(emu_message(d.emu), thread), "%s: %s", thread, emu_message(d.emu));
    emu_close(d.emu);
}

Test(emu_runs, a_run_that_leaves_its_memory_is_a_fault_of_the_lane_that_does)
{
    static const struct run_access word = {"u32", 'r', 4, 1, false},
                                   four = {"u32", 'r', 4, 4, false};
    for (size_t k = 0; k < sizeof spaces / sizeof *spaces; k++) {
        const struct space *s = &spaces[k];
        check_edge(&word, s, SIZE - 128, 4, ALL, 0, "");
        check_edge(&word, s, SIZE - 124, 4, ALL, EMU_ILLEGAL_ADDRESS, "thread (31,0,0)");
        check_edge(&word, s, SIZE - 124, 4, ALL >> 1, 0, ""); /* lane 31 does not load */
        check_edge(&word, s, SIZE - 4, 0, ALL, 0, "");
        check_edge(&word, s, SIZE, 0, ALL, EMU_ILLEGAL_ADDRESS, "thread (0,0,0)");
        check_edge(&four, s, SIZE - 512, 16, ALL, 0, "");
        check_edge(&four, s, SIZE - 496, 16, ALL, EMU_ILLEGAL_ADDRESS, "thread (31,0,0)");
    }
}

Test(emu_runs, a_misaligned_run_is_a_fault)
{
    static const struct run_access word = {"u32", 'r', 4, 1, false},
                                   pair = {"u32", 'r', 4, 2, false};
    for (size_t k = 0; k < sizeof spaces / sizeof *spaces; k++) {
        check_edge(&word, &spaces[k], 2, 4, ALL, EMU_MISALIGNED_ADDRESS, "thread (0,0,0)");
        check_edge(&word, &spaces[k], 1, 0, ALL, EMU_MISALIGNED_ADDRESS, "thread (0,0,0)");
        check_edge(&pair, &spaces[k], 4, 8, ALL, EMU_MISALIGNED_ADDRESS, "thread (0,0,0)");
    }
}
