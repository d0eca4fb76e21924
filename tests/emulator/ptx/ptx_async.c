/*
 * ptx_async.c — mbarriers and asynchronous copies as PTX has them: the forms that CUDA C++ seldom
 * uses, and the messages for wrong ones.
 */
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

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
