/* race_copies.c — many bulk copies, and which of them a thread has waited for. */
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* %r1: 32 bytes for copies; %r2 and %r3: two mbarriers; %r4: the first one's parity. */
static const char head[] =
    ".shared .align 16 .b8 s[32];\n.shared .align 8 .b64 bars[2];\n"
    "setp.ne.u32 %p0, %id, 0;\n@%p0 ret;\nmov.u32 %r1, s;\nadd.u32 %r6, %r1, 16;\n"
    "mov.u32 %r2, bars;\nadd.u32 %r3, %r2, 8;\nmov.u32 %r4, 0;\nmov.u32 %r5, 1;\n"
    "mbarrier.init.shared.b64 [%r2], 1;\nmbarrier.init.shared.b64 [%r3], 1;\n";

static const char first_copy[] =
    "mbarrier.arrive.expect_tx.shared.b64 %l1, [%r2], 16;\n"
    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%in], 16, [%r2];\n";

static const char second_copy[] =
    "mbarrier.arrive.expect_tx.shared.b64 %l1, [%r3], 16;\n"
    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r6], [%in], 16, [%r3];\n"
    "SECOND: mbarrier.try_wait.parity.shared.b64 %p1, [%r3], 0;\n@!%p1 bra SECOND;\n";

#define AWAIT_FIRST(label)                                                                         \
    label ": mbarrier.try_wait.parity.shared.b64 %p1, [%r2], %r4;\n@!%p1 bra " label ";\n"

/* Thread 0 waits at one mbarrier for each of this many copies, for the last copy only with
 * `awaits`. Then it waits for a copy at another mbarrier, and reads the data of the last copy. */
static size_t hazards_after_copies(int copies, bool awaits)
{
    struct emu *emu =
        open_emu_with(&(struct emu_config){.memory = 64 << 20, .checks = EMU_CHECK_RACE});
    char *text = ptx_kernel("%sLOOP: setp.ge.u32 %%p2, %%r5, %d;\n@%%p2 bra LAST;\n%s%s"
                            "xor.b32 %%r4, %%r4, 1;\nadd.u32 %%r5, %%r5, 1;\nbra LOOP;\n"
                            "LAST:\n%s%s%sld.shared.u32 %%r8, [%%r1];\n"
                            "st.global.u32 [%%out], %%r8;\n%sret;",
                            head, copies, first_copy, AWAIT_FIRST("EACH"), first_copy, second_copy,
                            awaits ? AWAIT_FIRST("BEFORE") : "", AWAIT_FIRST("AFTER"));
    emu_addr in = device_copy(emu, NULL, 16), out = device_copy(emu, NULL, 4);
    cr_assert(!launch(emu, load_kernel(emu, text, "k"), 1, 32, 0, 2, (uint64_t[]){out, in}), "%s",
              emu_message(emu));
    size_t count = emu_findings(emu);
    if (count) cr_expect(strstr(emu_finding(emu, 0)->detail, "RAW hazard at __shared__"));
    free(text);
    emu_close(emu);
    return count;
}

/* More copies than the number of mbarriers that racecheck can distinguish, but only two
 * mbarriers. */
Test(racecheck, a_copy_is_over_when_its_own_mbarrier_was_waited_for)
{
    static const int copies[] = {1, 2, 3, 1100};
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        cr_expect_eq(hazards_after_copies(copies[i], false), 1, "%d copies", copies[i]);
        cr_expect_eq(hazards_after_copies(copies[i], true), 0, "%d copies", copies[i]);
    }
}

/* A reduction is atomic where it writes. Its source may be overwritten when it has been read. */
static size_t hazards_after_reduction(const char *wait)
{
    struct emu *emu =
        open_emu_with(&(struct emu_config){.memory = 64 << 20, .checks = EMU_CHECK_RACE});
    char *text = ptx_kernel("%sst.shared.v4.u32 [%%r1], {%%r4, %%r4, %%r4, %%r4};\n"
                            "fence.proxy.async;\n"
                            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%%out], "
                            "[%%r1], 16;\ncp.async.bulk.commit_group;\n%s"
                            "st.shared.u32 [%%r1], %%r5;\nret;",
                            head, wait);
    emu_addr out = device_copy(emu, NULL, 16);
    cr_assert(!launch(emu, load_kernel(emu, text, "k"), 1, 32, 0, 2, (uint64_t[]){out, out}), "%s",
              emu_message(emu));
    size_t count = emu_findings(emu);
    free(text);
    emu_close(emu);
    return count;
}

Test(racecheck, the_source_of_a_reduction_is_only_read)
{
    cr_expect_eq(hazards_after_reduction("cp.async.bulk.wait_group.read 0;\n"), 0);
    cr_expect_eq(hazards_after_reduction(""), 1);
}
