/*
 * async.c — asynchronous copies and stores.
 */
#include "ptx_run.h"
#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- st.async and red.async ------------------------------------------------------------------ */

/*
 * St.async and red.async: stores and atomics on the memory of a block of the
 * cluster that arrive at an mbarrier there.
 */

enum { LANES = 32, BLOCKS = 2, WORDS = BLOCKS * LANES };

/* A cluster of two blocks. s: 16 bytes for each thread; bar: an mbarrier of one arrival. %r20 and
 * %r21: their addresses in the other block. %r22: this thread's 16 bytes there. %r23 and %r24: bar
 * and this thread's bytes in the own block. %r1 to %r4: four words from `in`. */
#define STORING_KERNEL(body)                                                                       \
    PTX_HEADER ".visible .entry k(.param .u64 p_out, .param .u64 p_in)\n"                          \
               ".reqnctapercluster 2, 1, 1\n{\n"                                                   \
               ".shared .align 16 .b8 s[512];\n.shared .align 8 .b64 bar;\n"                       \
               ".reg .pred %p<16>;\n.reg .b32 %r<40>;\n.reg .f32 %f<4>;\n.reg .b64 %l<16>;\n"      \
               "ld.param.u64 %l1, [p_out];\nld.param.u64 %l2, [p_in];\n"                           \
               "mov.u32 %r10, %tid.x;\nmov.u32 %r11, %ctaid.x;\n"                                  \
               "mad.lo.u32 %r12, %r11, 32, %r10;\nmul.wide.u32 %l3, %r12, 16;\n"                   \
               "add.u64 %l2, %l2, %l3;\nld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%l2];\n"           \
               "mul.wide.u32 %l3, %r12, 4;\nadd.u64 %l1, %l1, %l3;\n"                              \
               "shl.b32 %r13, %r10, 4;\nmov.u32 %r24, s;\nmov.u32 %r23, bar;\n"                    \
               "xor.b32 %r14, %r11, 1;\nmapa.shared::cluster.u32 %r20, %r24, %r14;\n"              \
               "mapa.shared::cluster.u32 %r21, %r23, %r14;\nadd.u32 %r22, %r20, %r13;\n"           \
               "add.u32 %r24, %r24, %r13;\nsetp.eq.u32 %p9, %r10, 0;\n" body "\n}\n"

#define STORE "st.async.shared::cluster.mbarrier::complete_tx::bytes"
#define READY                                                                                      \
    "st.shared.v4.u32 [%r24], {7, 7, 7, 7};\n"                                                     \
    "@%p9 mbarrier.init.shared.b64 [%r23], 1;\nfence.mbarrier_init.release.cluster;\n"             \
    "barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;\n"
#define EXPECT(bytes) "@%p9 mbarrier.arrive.expect_tx.shared.b64 _, [%r23], " bytes ";\n"
#define WAIT                                                                                       \
    "W: mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p1, [%r23], 0;\n@!%p1 bra W;\n"
#define OUT                                                                                        \
    "ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r24];\n"                                             \
    "add.u32 %r5, %r5, %r6;\nadd.u32 %r5, %r5, %r7;\nadd.u32 %r5, %r5, %r8;\n"                     \
    "st.global.u32 [%l1], %r5;\n"
#define END "barrier.cluster.arrive;\nbarrier.cluster.wait;\nret;\n"

static int run_storing(struct emu *emu, const char *text, uint32_t *out)
{
    uint32_t in[4 * WORDS];
    for (unsigned i = 0; i < 4 * WORDS; i++) in[i] = 1000 * (i / 4) + (i % 4 == 0);
    struct emu_kernel *kernel = load_kernel(emu, text, "k");
    emu_addr from = device_copy(emu, in, sizeof in);
    emu_addr to = device_copy(emu, NULL, WORDS * sizeof *out);
    int e = launch(emu, kernel, BLOCKS, LANES, 0, 2, (uint64_t[]){to, from});
    if (!e) cr_assert(!emu_read(emu, out, to, WORDS * sizeof *out));
    return e;
}

/* Thread t of a block gets `words` words of thread t of the other block: 1000 i + 1, 1000 i, …;
 * the rest of its four words are still 7. */
static void expect_sums(const char *text, unsigned words)
{
    uint32_t out[WORDS];
    struct emu *emu = open_emu_with(&(struct emu_config){
        .memory = 64 << 20, .checks = EMU_CHECK_RACE | EMU_CHECK_INIT | EMU_CHECK_SYNC});
    cr_assert(!run_storing(emu, text, out), "%s", emu_message(emu));
    cr_expect_eq(emu_findings(emu), 0, "%s", emu_findings(emu) ? emu_finding(emu, 0)->detail : "");
    for (unsigned i = 0; i < WORDS; i++) {
        unsigned other = (i + LANES) % WORDS;
        uint32_t want = words ? words * 1000 * other + 1 + (4 - words) * 7 : 4 * 7;
        cr_expect_eq(out[i], want, "%u: %u, want %u", i, out[i], want);
    }
    emu_close(emu);
}

Test(store_async, words_of_all_sizes_arrive)
{
    expect_sums(
        STORING_KERNEL(READY EXPECT("128") STORE ".u32 [%r22], %r1, [%r21];\n" WAIT OUT END), 1);
    expect_sums(STORING_KERNEL(READY EXPECT("128") "mov.b32 %f1, %r1;\n" STORE
                                                   ".f32 [%r22], %f1, [%r21];\n" WAIT OUT END),
                1);
    expect_sums(STORING_KERNEL(READY EXPECT("256") "mov.b64 %l5, {%r1, %r2};\n" STORE
                                                   ".b64 [%r22], %l5, [%r21];\n" WAIT OUT END),
                2);
    expect_sums(STORING_KERNEL(READY EXPECT("256") STORE
                               ".v2.s32 [%r22], {%r1, %r2}, [%r21];\n" WAIT OUT END),
                2);
    expect_sums(STORING_KERNEL(READY EXPECT("512") "st.async.weak.shared::cluster."
                                                   "mbarrier::complete_tx::bytes.v4.b32 [%r22], "
                                                   "{%r1, %r2, %r3, %r4}, [%r21];\n" WAIT OUT END),
                4);
}

#define REDUCE "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes"

/* What an atomic on this thread's 16 bytes in the other block leaves, which were 7, 7, 7, 7. The
 * sum of the four words is `fixed`, and besides `times` the 1000 i of thread i of the other
 * block. */
static void expect_reduced(const char *text, unsigned times, unsigned fixed)
{
    uint32_t out[WORDS];
    struct emu *emu = open_emu_with(&(struct emu_config){
        .memory = 64 << 20, .checks = EMU_CHECK_RACE | EMU_CHECK_INIT | EMU_CHECK_SYNC});
    cr_assert(!run_storing(emu, text, out), "%s", emu_message(emu));
    cr_expect_eq(emu_findings(emu), 0, "%s", emu_findings(emu) ? emu_finding(emu, 0)->detail : "");
    for (unsigned i = 0; i < WORDS; i++) {
        uint32_t want = times * 1000 * ((i + LANES) % WORDS) + fixed;
        cr_expect_eq(out[i], want, "%u: %u, want %u", i, out[i], want);
    }
    emu_close(emu);
}

Test(store_async, atomics_arrive)
{
    expect_reduced(
        STORING_KERNEL(READY EXPECT("128") REDUCE ".add.u32 [%r22], %r1, [%r21];\n" WAIT OUT END),
        1, 29);
    expect_reduced(
        STORING_KERNEL(READY EXPECT("128") REDUCE ".min.s32 [%r22], -2, [%r21];\n" WAIT OUT END), 0,
        19);
    expect_reduced(
        STORING_KERNEL(READY EXPECT("128") REDUCE ".or.b32 [%r22], 8, [%r21];\n" WAIT OUT END), 0,
        36);
    expect_reduced(
        STORING_KERNEL(READY EXPECT("128") REDUCE ".inc.u32 [%r22], 6, [%r21];\n" WAIT OUT END), 0,
        21);
    expect_reduced(
        STORING_KERNEL(READY EXPECT("256") "mov.b64 %l5, {%r1, %r2};\n" REDUCE
                                           ".add.u64 [%r22], %l5, [%r21];\n" WAIT OUT END),
        2, 29);
}

/* Atomics of all lanes on one word do not race, and none is lost. */
Test(store_async, atomics_on_one_word_add_up)
{
    uint32_t out[WORDS];
    struct emu *emu =
        open_emu_with(&(struct emu_config){.memory = 64 << 20, .checks = EMU_CHECK_RACE});
    int e = run_storing(
        emu,
        STORING_KERNEL(READY EXPECT("128") REDUCE ".add.u32 [%r20], 2, [%r21];\n" WAIT OUT END),
        out);
    cr_assert(!e, "%s", emu_message(emu));
    cr_expect_eq(emu_findings(emu), 0, "%s", emu_findings(emu) ? emu_finding(emu, 0)->detail : "");
    cr_expect_eq(out[0], 4 * 7 + 2 * LANES, "%u", out[0]);
    cr_expect_eq(out[1], 4 * 7, "%u", out[1]);
    emu_close(emu);
}

/* The register may change behind the instruction. */
Test(store_async, the_value_is_taken_at_once)
{
    expect_sums(STORING_KERNEL(READY EXPECT("128") STORE
                               ".u32 [%r22], %r1, [%r21];\nmov.u32 %r1, 3;\n"
                               "mov.u32 %r22, 0;\n" WAIT OUT END),
                1);
}

/* An asynchronous store is behind all that its thread did before: here, a plain store there. */
Test(store_async, earlier_stores_of_the_thread_are_there)
{
    uint32_t out[WORDS];
    struct emu *emu =
        open_emu_with(&(struct emu_config){.memory = 64 << 20, .checks = EMU_CHECK_RACE});
    int e =
        run_storing(emu,
                    STORING_KERNEL(READY EXPECT("128") "st.shared::cluster.u32 [%r22+4], 9;\n" STORE
                                                       ".u32 [%r22], %r1, [%r21];\n" WAIT OUT END),
                    out);
    cr_assert(!e, "%s", emu_message(emu));
    cr_expect_eq(emu_findings(emu), 0, "%s", emu_findings(emu) ? emu_finding(emu, 0)->detail : "");
    cr_expect_eq(out[0], 1000 * LANES + 1 + 9 + 14, "%u", out[0]);
    emu_close(emu);
}

/* Bytes may arrive before they are expected: the phase lacks an arrival until then. */
Test(store_async, bytes_before_they_are_expected)
{
    expect_sums(STORING_KERNEL(READY STORE
                               ".u32 [%r22], %r1, [%r21];\n"
                               "barrier.cluster.arrive;\nbarrier.cluster.wait;\n" EXPECT("128")
                                   WAIT OUT END),
                1);
}

/* Lanes go to two blocks: even lanes to their own, odd lanes to the other. All get 1000 i + 1. */
Test(store_async, lanes_may_go_to_different_blocks)
{
    uint32_t out[WORDS];
    struct emu *emu = open_emu();
    int e = run_storing(emu,
                        STORING_KERNEL(READY EXPECT(
                            "128") "and.b32 %r15, %r10, 1;\nsetp.eq.u32 %p2, %r15, 0;\n"
                                   "@%p2 mov.u32 %r22, %r24;\n@%p2 mov.u32 %r21, %r23;\n" STORE
                                   ".u32 [%r22], %r1, [%r21];\n" WAIT OUT END),
                        out);
    cr_assert(!e, "%s", emu_message(emu));
    for (unsigned i = 0; i < WORDS; i++) {
        unsigned from = i % 2 ? (i + LANES) % WORDS : i;
        cr_expect_eq(out[i], 1000 * from + 1 + 21, "%u: %u", i, out[i]);
    }
    emu_close(emu);
}

/* Without a wait, the old words are there, and racecheck says so. */
Test(store_async, what_is_not_waited_for_is_not_there)
{
    uint32_t out[WORDS];
    struct emu *emu =
        open_emu_with(&(struct emu_config){.memory = 64 << 20, .checks = EMU_CHECK_RACE});
    int e = run_storing(
        emu, STORING_KERNEL(READY EXPECT("128") STORE ".u32 [%r22], %r1, [%r21];\n" OUT WAIT END),
        out);
    cr_assert(!e, "%s", emu_message(emu));
    for (unsigned i = 0; i < WORDS; i++) cr_expect_eq(out[i], 28, "%u: %u", i, out[i]);
    cr_assert_gt(emu_findings(emu), 0);
    cr_expect(strstr(emu_finding(emu, 0)->detail, "hazard at __shared__"), "%s",
              emu_finding(emu, 0)->detail);
    emu_close(emu);
}

static const struct {
    const char *body, *says;
} wrong[] = {
    {STORING_KERNEL(READY EXPECT("128") STORE ".u32 [%r22], %r1, [%r20];\n" WAIT END),
     "holds no mbarrier"},
    {STORING_KERNEL(READY EXPECT("128") STORE ".u32 [%r22+2], %r1, [%r21];\n" WAIT END),
     "is not a multiple of the 4 bytes accessed"},
    {STORING_KERNEL(READY EXPECT("128") STORE ".u32 [%r22+4096], %r1, [%r21];\n" WAIT END),
     "out of bounds"},
    {STORING_KERNEL(READY EXPECT("128") STORE ".u32 [%r22], %r1, [%r23];\n" WAIT END),
     "both have to be in one block"},
    {STORING_KERNEL(
         READY EXPECT("128") "mov.u32 %r15, 5;\nmapa.shared::cluster.u32 %r16, %r20, %r15;\n" STORE
                             ".u32 [%r16], %r1, [%r21];\n" WAIT END),
     "rank 5"},
    {STORING_KERNEL(READY EXPECT("192") STORE ".u32 [%r22], %r1, [%r21];\n" WAIT END),
     "lacks 0 of 1 arrivals and 64 bytes"},
    {STORING_KERNEL(READY EXPECT(
         "128") "st.async.mbarrier::complete_tx::bytes.u32 [%l1], %r1, [%l1];\n" WAIT END),
     "is not in shared memory"},
};

Test(store_async, what_is_wrong_is_said)
{
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        uint32_t out[WORDS];
        struct emu *emu = open_emu();
        int e = run_storing(emu, wrong[k].body, out);
        cr_expect(e && strstr(emu_message(emu), wrong[k].says), "%zu: error %d, %s instead of %s",
                  k, e, emu_message(emu), wrong[k].says);
        emu_close(emu);
    }
}

static const struct {
    const char *body, *says;
} refused[] = {
    {STORING_KERNEL("st.async.shared::cluster.u32 [%r22], %r1, [%r21];\n"), "complete_tx::bytes"},
    {STORING_KERNEL("st.async.global.mbarrier::complete_tx::bytes.u32 [%l1], %r1, [%r21];\n"),
     "it stores to .shared::cluster"},
    {STORING_KERNEL(STORE ".u16 [%r22], %r1, [%r21];\n"), "4, 8 or 16 bytes"},
    {STORING_KERNEL(STORE ".v4.b64 [%r22], {%l1, %l1, %l1, %l1}, [%r21];\n"), "4, 8 or 16 bytes"},
    {STORING_KERNEL(STORE ".u32 [%r22], %r1;\n"), "2 operands, but 3 are expected"},
    {STORING_KERNEL(
         "st.async.release.gpu.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r22], %r1, "
         "[%r21];\n"),
     "'.release' is not supported"},
};

Test(store_async, other_forms_are_refused)
{
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
        struct emu *emu = open_emu();
        struct emu_module *module;
        struct emu_kernel *kernel;
        const char *text = refused[k].body;
        int e = emu_load(emu, text, strlen(text), "t.ptx", &module);
        if (!e) e = emu_kernel(emu, module, "k", &kernel);
        cr_expect(e && strstr(emu_message(emu), refused[k].says), "%zu: error %d, %s", k, e,
                  emu_message(emu));
        emu_close(emu);
    }
}

/* ---- mbarriers and asynchronous copies as PTX has them --------------------------------------- */

/*
 * Mbarriers and asynchronous copies as PTX has them: the forms that CUDA C++ seldom
 * uses, and the messages for wrong ones.
 */

enum { THREADS = 32 };

/* s: shared memory for the copies, at an offset that only 16 divides; bar: an mbarrier. */
#define KERNEL(body)                                                                               \
    PTX_KERNEL("k", ".shared .align 16 .b8 s[1024];\n.shared .align 8 .b64 bar;\n"                 \
                    "mov.u32 %r20, s;\nmov.u32 %r21, bar;\nmov.u32 %r22, %tid.x;\n"                \
                    "setp.eq.u32 %p9, %r22, 0;\nshl.b32 %r23, %r22, 4;\n"                          \
                    "add.u32 %r24, %r20, %r23;\n" body)

static int run(struct emu *emu, const char *text, uint32_t *out, const uint32_t *in, size_t words)
{
    struct emu_kernel *kernel = load_kernel(emu, text, "k");
    emu_addr to = device_copy(emu, NULL, words * 4), from = device_copy(emu, in, words * 4);
    int e = launch(emu, kernel, 1, THREADS, 0, 2, (uint64_t[]){to, from});
    if (!e) cr_assert(!emu_read(emu, out, to, words * 4));
    return e;
}

static void expect_words(const char *body, uint32_t (*want)(unsigned))
{
    uint32_t in[4 * THREADS], out[4 * THREADS];
    struct emu *emu = open_emu();
    for (unsigned i = 0; i < 4 * THREADS; i++) in[i] = 1000 + i;
    cr_assert(!run(emu, body, out, in, 4 * THREADS), "%s", emu_message(emu));
    for (unsigned i = 0; i < THREADS; i++)
        cr_expect(out[i] == want(i), "thread %u: %u, want %u", i, out[i], want(i));
    emu_close(emu);
}

/* Bytes that are not read become zeros: thread t reads t % 5 bytes of 4. */
static uint32_t part(unsigned t)
{
    uint32_t bytes = t % 5, value = 1000 + t;
    return bytes >= 4 ? value : value & ((1u << 8 * bytes) - 1);
}
Test(emu_async, copies_fill_with_zeros)
{
    expect_words(KERNEL("rem.u32 %r1, %r22, 5;\n"
                        "cp.async.ca.shared.global [%r24], [%in], 4, %r1;\ncp.async.wait_all;\n"
                        "ld.shared.u32 %r2, [%r24];\nst.global.u32 [%out], %r2;\n"),
                 part);
}
static uint32_t odd_ones(unsigned t) { return t % 2 ? 1000 + t : 0; }
Test(emu_async, copies_ignore_their_source)
{
    expect_words(KERNEL("and.b32 %r1, %r22, 1;\nsetp.eq.u32 %p1, %r1, 0;\n"
                        "cp.async.ca.shared.global [%r24], [%in], 4, %p1;\ncp.async.wait_all;\n"
                        "ld.shared.u32 %r2, [%r24];\nst.global.u32 [%out], %r2;\n"),
                 odd_ones);
}

/* Only the first of two groups is waited for: the target of the second keeps its old word. */
static uint32_t first_only(unsigned t) { return 2 * (1000 + t) + 7; }
Test(emu_async, a_group_that_is_not_waited_for_is_not_there)
{
    expect_words(KERNEL("mov.u32 %r1, 7;\nst.shared.u32 [%r24+4], %r1;\n"
                        "cp.async.ca.shared.global [%r24], [%in], 4;\ncp.async.commit_group;\n"
                        "cp.async.ca.shared.global [%r24+4], [%in], 4;\ncp.async.commit_group;\n"
                        "cp.async.wait_group 1;\nld.shared.u32 %r2, [%r24];\n"
                        "ld.shared.u32 %r3, [%r24+4];\nmad.lo.u32 %r2, %r2, 2, %r3;\n"
                        "st.global.u32 [%out], %r2;\n"),
                 first_only);
}

/* The pending count, before each of 32 arrivals one after the other. */
static uint32_t counts_down(unsigned t) { return 32 - t; }
Test(emu_async, a_state_tells_what_is_pending)
{
    expect_words(KERNEL("@%p9 mbarrier.init.shared.b64 [%r21], 32;\nbar.sync 0;\n"
                        "mbarrier.arrive.shared.b64 %l1, [%r21];\n"
                        "mbarrier.pending_count.b64 %r1, %l1;\n"
                        "W: mbarrier.test_wait.shared.b64 %p1, [%r21], %l1;\n@!%p1 bra W;\n"
                        "st.global.u32 [%out], %r1;\n"),
                 counts_down);
}

/* A bulk copy to shared memory, and a reduction back that adds to global memory. */
static uint32_t twice(unsigned t) { return 2 * (1000 + t); }
Test(emu_async, a_bulk_reduction_adds)
{
    expect_words(
        KERNEL("ld.global.u32 %r1, [%in];\nst.global.u32 [%out], %r1;\n"
               "@%p9 mbarrier.init.shared.b64 [%r21], 1;\nbar.sync 0;\n@!%p9 bra E;\n"
               "mbarrier.arrive.expect_tx.shared.b64 _, [%r21], 128;\n"
               "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r20], "
               "[%in], 128, [%r21];\n"
               "W: mbarrier.try_wait.parity.shared.b64 %p1, [%r21], 0;\n@!%p1 bra W;\n"
               "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%out], [%r20], "
               "128;\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nE:\n"),
        twice);
}

#define INIT(count) "@%p9 mbarrier.init.shared.b64 [%r21], " count ";\nbar.sync 0;\n"

static const struct {
    const char *body, *says;
} wrong_copies[] = {
    {KERNEL("mbarrier.arrive.shared.b64 %l1, [%r21];\n"), "holds no mbarrier"},
    {KERNEL(INIT("32") "bar.sync 0;\n@%p9 mbarrier.inval.shared.b64 [%r21];\nbar.sync 0;\n"
                       "mbarrier.arrive.shared.b64 %l1, [%r21];\n"),
     "holds no mbarrier"},
    {KERNEL(INIT("0")), "an mbarrier for 0 arrivals"},
    {KERNEL(INIT("5") "mov.u32 %r1, 6;\nmbarrier.arrive.shared.b64 %l1, [%r21], %r1;\n"),
     "6 arrivals at the mbarrier"},
    {KERNEL(INIT("32") "mbarrier.arrive.noComplete.shared.b64 %l1, [%r21], 1;\n"), ".noComplete"},
    {KERNEL(INIT("33") "mbarrier.arrive.shared.b64 %l1, [%r21];\n"
                       "W: mbarrier.try_wait.shared.b64 %p1, [%r21], %l1;\n@!%p1 bra W;\n"),
     "lacks 1 of 33 arrivals"},
    {KERNEL(INIT("1") "@%p9 mbarrier.arrive.expect_tx.shared.b64 _, [%r21], 64;\n"
                      "W: mbarrier.try_wait.parity.shared.b64 %p1, [%r21], 0;\n@!%p1 bra W;\n"),
     "lacks 0 of 1 arrivals and 64 bytes"},
    {KERNEL("add.u32 %r1, %r21, 4;\nmbarrier.init.shared.b64 [%r1], 1;\n"), "not a multiple of 8"},
    {KERNEL(INIT("1") "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r20], "
                      "[%in], 24, [%r21];\n"),
     "24 bytes, which is not a multiple of 16"},
    {KERNEL(INIT("1") "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r20], "
                      "[%in+8], 16, [%r21];\n"),
     "not a multiple of 16"},
    {KERNEL(INIT("1") "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r20], "
                      "[%in], 65536, [%r21];\n"),
     "65536 bytes"},
    {KERNEL(INIT("1") "@%p9 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r21], 1048576;\n"),
     " gets more than 1048575 bytes beyond those it expects"},
    {KERNEL(INIT("1") "@%p9 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r21], 1048575;\n"
                      "@%p9 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r21], 2;\n"),
     " is to expect 1048577 bytes; at most 1048575 can be"},
    {KERNEL("barrier.cluster.wait;\n"), "without a barrier.cluster.arrive"},
    {KERNEL("barrier.cluster.arrive;\nbarrier.cluster.arrive;\n"),
     "a second barrier.cluster.arrive"},
    {KERNEL("mov.u32 %r1, 3;\nmapa.shared::cluster.u32 %r2, %r20, %r1;\n"
            "ld.shared::cluster.u32 %r3, [%r2];\n"),
     "out of bounds"},
};

/* The largest number of bytes, expected before or after they arrive. */
static uint32_t seven(unsigned t) { return t ? 0 : 7; }
Test(emu_async, a_phase_of_the_most_bytes)
{
    expect_words(
        KERNEL(INIT("1") "@!%p9 bra E;\n"
                         "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r21], 1048575;\n"
                         "mbarrier.arrive.expect_tx.shared.b64 _, [%r21], 1048575;\n"
                         "W: mbarrier.try_wait.parity.shared.b64 %p1, [%r21], 0;\n@!%p1 bra W;\n"
                         "st.global.u32 [%out], 7;\nE:\n"),
        seven);
}

Test(emu_async, what_is_wrong_is_said, .timeout = 120)
{
    for (size_t k = 0; k < sizeof wrong_copies / sizeof *wrong_copies; k++) {
        uint32_t in[4 * THREADS] = {0}, out[4 * THREADS];
        struct emu *emu = open_emu();
        int e = run(emu, wrong_copies[k].body, out, in, 4 * THREADS);
        cr_expect(e && strstr(emu_message(emu), wrong_copies[k].says),
                  "%zu: error %d, %s instead of %s", k, e, emu_message(emu), wrong_copies[k].says);
        emu_close(emu);
    }
}
