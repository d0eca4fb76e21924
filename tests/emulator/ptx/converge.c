/* converge.c — warp-wide instructions that lanes reach with different masks, or at different
 * places. */
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 32, HALF = 16 };

/* %r0 = in[lane], %r1 = lane; the result is the value of %r9 at the end. */
#define BODY(text)                                                                                 \
    PTX_KERNEL("k", "ld.global.u32 %r0, [%in];\nmov.u32 %r1, %laneid;\n" text                      \
                    "\nst.global.u32 [%out], %r9;\nret;\n")
/* The lower half of the lanes executes the first text, the upper half the second one. */
#define ARMS(low, high)                                                                            \
    "setp.lt.u32 %p0, %r1, 16;\n@%p0 bra LOW;\n" high "\nbra JOIN;\nLOW:\n" low "\nJOIN:\n"
/* The same in both arms, with the result and the operand in other registers. */
#define TWICE(operation, operands)                                                                 \
    ARMS(operation " %r9, %r0" operands,                                                           \
         "mov.u32 %r7, %r0;\n" operation " %r8, %r7" operands "\nmov.u32 %r9, %r8;")
#define TILE_MASK "and.b32 %r2, %r1, 24;\nshl.b32 %r3, 255, %r2;\n" /* eight lanes */
#define SUM_OF_TILE                                                                                \
    "mov.u32 %r9, %r0;\n"                                                                          \
    "shfl.sync.bfly.b32 %r4, %r9, 4, 31, %r3;\nadd.u32 %r9, %r9, %r4;\n"                           \
    "shfl.sync.bfly.b32 %r4, %r9, 2, 31, %r3;\nadd.u32 %r9, %r9, %r4;\n"                           \
    "shfl.sync.bfly.b32 %r4, %r9, 1, 31, %r3;\nadd.u32 %r9, %r9, %r4;\n"

typedef uint32_t result(unsigned lane, const uint32_t *in);

static uint32_t partner(unsigned lane, const uint32_t *in) { return in[lane ^ HALF]; }
static uint32_t three_down(unsigned lane, const uint32_t *in)
{
    return in[lane + 3 < LANES ? lane + 3 : lane];
}
static uint32_t odd_lanes(unsigned lane, const uint32_t *in)
{
    uint32_t mask = 0;
    (void)lane;
    for (unsigned l = 0; l < LANES; l++) mask |= (in[l] & 1) << l;
    return mask;
}
static uint32_t equal_lanes(unsigned lane, const uint32_t *in)
{
    uint32_t mask = 0;
    for (unsigned l = 0; l < LANES; l++) mask |= (uint32_t)(in[l] % 5 == in[lane] % 5) << l;
    return mask;
}
static uint32_t sum_of(unsigned first, unsigned count, const uint32_t *in)
{
    uint32_t sum = 0;
    for (unsigned l = first; l < first + count; l++) sum += in[l];
    return sum;
}
static uint32_t sum_of_all(unsigned lane, const uint32_t *in)
{
    (void)lane;
    return sum_of(0, LANES, in);
}
static uint32_t sum_of_tile(unsigned lane, const uint32_t *in) { return sum_of(lane & 24, 8, in); }
static uint32_t odd_in_tile(unsigned lane, const uint32_t *in)
{
    return odd_lanes(lane, in) & 255u << (lane & 24);
}
static uint32_t equal_in_tile(unsigned lane, const uint32_t *in)
{
    return equal_lanes(lane, in) & 255u << (lane & 24);
}
static uint32_t any_three_in_tile(unsigned lane, const uint32_t *in)
{
    for (unsigned l = lane & 24; l < (lane & 24) + 8; l++)
        if (in[l] % 5 == 3) return 1;
    return 0;
}
static uint32_t first_of_tile(unsigned lane, const uint32_t *in)
{
    (void)in;
    return lane & 24;
}
static uint32_t two(unsigned lane, const uint32_t *in)
{
    (void)lane, (void)in;
    return 2;
}

static const struct {
    const char *name, *ptx;
    result *want;
} kernels[] = {
    {"a shuffle in both arms", BODY(TWICE("shfl.sync.bfly.b32", ", 16, 31, -1;")), partner},
    {"shuffles of different distances meet",
     BODY(ARMS("shfl.sync.idx.b32 %r9, %r0, 31, 31, -1;",
               "mov.u32 %r2, 0;\n"
               "shfl.sync.idx.b32 %r9, %r0, %r2, 31, -1;")),
     NULL},
    {"shuffle down across the arms", BODY(TWICE("shfl.sync.down.b32", ", 3, 31, -1;")), three_down},
    {"a ballot in both arms",
     BODY("and.b32 %r2, %r0, 1;\nsetp.ne.u32 %p1, %r2, 0;\nnot.pred %p2, %p1;\n" ARMS(
         "vote.sync.ballot.b32 %r9, %p1, -1;", "vote.sync.ballot.b32 %r9, !%p2, -1;")),
     odd_lanes},
    {"vote.any in both arms",
     BODY("setp.eq.u32 %p1, %r1, 3;\n" ARMS("vote.sync.any.pred %p3, %p1, -1;",
                                            "vote.sync.any.pred %p3, %p1, -1;") "selp.u32 %r9, 2, "
                                                                                "1, %p3;"),
     two},
    {"a match in both arms", BODY("rem.u32 %r0, %r0, 5;\n" TWICE("match.any.sync.b32", ", -1;")),
     equal_lanes},
    {"a match of 64 bits in both arms",
     BODY("rem.u32 %r0, %r0, 5;\ncvt.u64.u32 %l1, %r0;\nshl.b64 %l1, %l1, 40;\nmov.u64 %l2, "
          "%l1;\n" ARMS("match.any.sync.b64 %r9, %l1, -1;", "match.any.sync.b64 %r9, %l2, -1;")),
     equal_lanes},
    {"a reduction in both arms", BODY(TWICE("redux.sync.add.u32", ", -1;")), sum_of_all},
    {"__syncwarp in both arms, twice",
     BODY("mov.u32 %r9, 2;\n" ARMS("bar.warp.sync -1;\nbar.warp.sync -1;",
                                   "bar.warp.sync -1;\nnot.b32 %r2, %r1;\nbar.warp.sync -1;")),
     two},
    {"tiles of one shuffle", BODY(TILE_MASK SUM_OF_TILE), sum_of_tile},
    {"tiles of one reduction", BODY(TILE_MASK "redux.sync.add.u32 %r9, %r0, %r3;"), sum_of_tile},
    {"tiles of one ballot",
     BODY(TILE_MASK "and.b32 %r2, %r0, 1;\nsetp.ne.u32 %p1, %r2, 0;\n"
                    "vote.sync.ballot.b32 %r9, %p1, %r3;"),
     odd_in_tile},
    {"tiles of one match",
     BODY(TILE_MASK "rem.u32 %r0, %r0, 5;\nmatch.any.sync.b32 %r9, %r0, %r3;"), equal_in_tile},
    {"tiles of one vote",
     BODY(TILE_MASK "rem.u32 %r0, %r0, 5;\nsetp.eq.u32 %p1, %r0, 3;\n"
                    "vote.sync.any.pred %p2, %p1, %r3;\nselp.u32 %r9, 1, 0, %p2;"),
     any_three_in_tile},
    {"tiles of one election", BODY(TILE_MASK "elect.sync %r9|%p1, %r3;"), first_of_tile},
    /* The tiles arrive one after the other, and each continues without the others. */
    {"tiles in a loop of different length",
     BODY(
         TILE_MASK
         "shr.u32 %r5, %r1, 3;\nLOOP: setp.eq.u32 %p3, %r5, 0;\n@%p3 bra DONE;\n"
         "redux.sync.add.u32 %r6, %r0, %r3;\nsub.u32 %r5, %r5, 1;\nbra LOOP;\nDONE:\n" SUM_OF_TILE),
     sum_of_tile},
    {"half of a tile in each arm",
     BODY("and.b32 %r2, %r1, 7;\nshl.b32 %r3, 0x01010101, %r2;\n" TWICE("redux.sync.add.u32",
                                                                        ", %r3;")),
     NULL},
};

static uint32_t ends(unsigned lane, const uint32_t *in) { return lane < HALF ? in[31] : in[0]; }
static uint32_t sum_of_column(unsigned lane, const uint32_t *in)
{
    return in[lane & 7] + in[(lane & 7) + 8] + in[(lane & 7) + 16] + in[(lane & 7) + 24];
}

Test(emu_converge, masks_and_places, .timeout = 20)
{
    struct emu *emu = open_emu();
    uint32_t in[LANES], out[LANES];
    for (unsigned l = 0; l < LANES; l++) in[l] = (l * 37 + 5) % 101;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        result *want = kernels[i].want                        ? kernels[i].want
                       : strstr(kernels[i].name, "distances") ? ends
                                                              : sum_of_column;
        run_kernel(emu, kernels[i].ptx, LANES, LANES, out, in);
        for (unsigned l = 0; l < LANES; l++)
            cr_expect(out[l] == want(l, in), "%s: lane %u: got 0x%x, want 0x%x", kernels[i].name, l,
                      out[l], want(l, in));
    }
    emu_close(emu);
}

/* A function that nvcc has not inlined: one instruction, but a call in each arm. */
Test(emu_converge, a_sum_over_the_warp_called_in_both_arms, .timeout = 20)
{
#define STEP(distance)                                                                             \
    "shfl.sync.bfly.b32 %r1, %r0, " distance ", 31, -1;\nadd.u32 %r0, %r0, %r1;\n"
#define CALL                                                                                       \
    "{\n.param .b32 x;\n.param .b32 y;\nst.param.b32 [x], %r0;\ncall (y), sum, (x);\n"             \
    "ld.param.b32 %r9, [y];\n}\n"
    static const char function[] = ".func (.param .b32 r) sum(.param .b32 x)\n{\n.reg .b32 "
                                   "%r<2>;\nld.param.b32 %r0, [x];\n" STEP("16") STEP("8") STEP("4")
                                       STEP("2") STEP("1") "st.param.b32 [r], %r0;\nret;\n}\n";
    char text[8000];
    const char *kernel = BODY(ARMS(CALL, CALL)), *head = strstr(kernel, ".visible");
    snprintf(text, sizeof text, "%s%s%s", PTX_HEADER, function, head);
    struct emu *emu = open_emu();
    uint32_t in[LANES], out[LANES];
    for (unsigned l = 0; l < LANES; l++) in[l] = l * l;
    run_kernel(emu, text, LANES, LANES, out, in);
    for (unsigned l = 0; l < LANES; l++) cr_expect(out[l] == sum_of(0, LANES, in));
    emu_close(emu);
}

/* Each instruction has been executed once, by its own lanes. */
Test(emu_converge, every_place_counts_once)
{
    struct emu *emu = open_emu_with(&(struct emu_config){.counters = true, .threads = 1});
    uint32_t in[LANES] = {0}, out[LANES];
    run_kernel(emu, BODY(ARMS("mov.u32 %r9, 1;", "mov.u32 %r9, 1;")), LANES, LANES, out, in);
    run_kernel(emu,
               BODY(ARMS("shfl.sync.bfly.b32 %r9, %r0, 16, 31, -1;",
                         "shfl.sync.bfly.b32 %r9, %r0, 16, 31, -1;")),
               LANES, LANES, out, in);
    const struct emu_counts *plain = &emu_record(emu, 0)->total, *meet = &emu_record(emu, 1)->total;
    cr_expect(plain->instructions == meet->instructions, "%llu, not %llu",
              (unsigned long long)meet->instructions, (unsigned long long)plain->instructions);
    cr_expect(plain->lanes == meet->lanes, "%llu, not %llu", (unsigned long long)meet->lanes,
              (unsigned long long)plain->lanes);
    emu_close(emu);
}

static const struct {
    const char *name, *ptx, *says[3];
} deadlocks[] = {
    {"different operations",
     BODY(ARMS("shfl.sync.bfly.b32 %r9, %r0, 16, 31, -1;", "vote.sync.ballot.b32 %r9, %p0, -1;")),
     {"deadlock: lanes 0x", "with mask 0xffffffff", "meet only in the same operation"}},
    {"different qualifiers",
     BODY(ARMS("shfl.sync.up.b32 %r9, %r0, 1, 0, -1;", "shfl.sync.down.b32 %r9, %r0, 1, 31, -1;")),
     {"shfl.sync.", "member mask 0xffffffff", "meet only"}},
    {"different masks",
     BODY(ARMS("redux.sync.add.u32 %r9, %r0, 0x0003ffff;", "redux.sync.add.u32 %r9, %r0, -1;")),
     {"deadlock", "0x0003ffff", "0xffffffff"}},
    {"different masks at one place",
     BODY("setp.lt.u32 %p0, %r1, 16;\nselp.b32 %r2, 0x1ffff, -1, %p0;\n"
          "redux.sync.add.u32 %r9, %r0, %r2;"),
     {"deadlock", "0x0001ffff", "lane 16 waits in redux.sync.add.u32 with mask 0xffffffff"}},
};

Test(emu_converge, what_never_meets_is_a_deadlock, .timeout = 20)
{
    for (size_t i = 0; i < sizeof deadlocks / sizeof *deadlocks; i++) {
        struct emu *emu = open_emu();
        struct emu_kernel *kernel = load_kernel(emu, deadlocks[i].ptx, "k");
        emu_addr words = device_copy(emu, NULL, LANES * 4);
        int e = launch(emu, kernel, 1, LANES, 0, 2, (uint64_t[]){words, words});
        const char *message = emu_message(emu);
        cr_expect(e == EMU_LAUNCH_FAILURE, "%s: error %d", deadlocks[i].name, e);
        for (int k = 0; k < 3; k++)
            cr_expect(strstr(message, deadlocks[i].says[k]), "%s: %s", deadlocks[i].name, message);
        emu_close(emu);
    }
}
