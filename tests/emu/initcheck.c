/* initcheck.c — reads of memory that nothing wrote. */
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <string.h>

enum { N = 64 };

static struct emu *open_checking(void)
{
    return open_emu_with(&(struct emu_config){.memory = 64 << 20, .checks = EMU_CHECK_INIT});
}

/* Runs a kernel "k" of N threads; returns how many findings there are then. */
static size_t findings_of(struct emu *emu, const char *text, emu_addr out, emu_addr in)
{
    struct emu_kernel *kernel = load_kernel(emu, text, "k");
    cr_assert(!launch(emu, kernel, 1, N, 0, 2, (uint64_t[]){out, in}), "%s", emu_message(emu));
    return emu_findings(emu);
}

static emu_addr new_memory(struct emu *emu, size_t bytes)
{
    emu_addr address;
    cr_assert(!emu_alloc(emu, bytes, &address));
    return address;
}

static const char copies[] =
    PTX_KERNEL("k", "ld.global.u32 %r0, [%in];\nst.global.u32 [%out], %r0;\nret;");

Test(initcheck, a_read_of_new_memory_is_found)
{
    struct emu *emu = open_checking();
    emu_addr in = new_memory(emu, N * 4), out = new_memory(emu, N * 4);
    cr_assert(!emu_fill(emu, in, 0, N * 4 - 8));
    cr_assert_eq(findings_of(emu, copies, out, in), 1);
    const struct emu_finding *f = emu_finding(emu, 0);
    cr_expect(f->tool == EMU_CHECK_INIT && f->severity == EMU_FINDING_ERROR);
    cr_expect_eq(f->count, 2, "the last two threads");
    cr_expect(strstr(f->head, "Uninitialized __global__ memory read of size 4 bytes"), "%s",
              f->head);
    cr_expect(strstr(f->head, "by thread (62,0,0) in block (0,0,0)"), "%s", f->head);
    cr_expect(strstr(f->detail, "8 bytes before the end of the allocation of 256 bytes"), "%s",
              f->detail);
    emu_close(emu);
}

Test(initcheck, what_was_written_may_be_read)
{
    struct emu *emu = open_checking();
    emu_addr a = device_copy(emu, NULL, N * 4), b = new_memory(emu, N * 4),
             c = new_memory(emu, N * 4);
    char host[N * 4];
    cr_expect_eq(findings_of(emu, copies, b, a), 0);
    cr_expect_eq(findings_of(emu, copies, c, b), 0, "a kernel wrote it");
    cr_expect(!emu_read(emu, host, c, sizeof host));
    cr_expect_eq(emu_findings(emu), 0);
    emu_close(emu);
}

Test(initcheck, memory_that_was_freed_is_new_again)
{
    struct emu *emu =
        open_emu_with(&(struct emu_config){.memory = 1 << 20, .checks = EMU_CHECK_INIT});
    emu_addr out = new_memory(emu, N * 4), first = device_copy(emu, NULL, 700 << 10), again;
    cr_assert(!emu_free(emu, first));
    for (int i = 0; i < 100; i++) { /* until the addresses come round again */
        again = new_memory(emu, 700 << 10);
        if (again == first) break;
        cr_assert(!emu_free(emu, again));
    }
    cr_expect_eq(findings_of(emu, copies, out, again), 1);
    emu_close(emu);
}

Test(initcheck, a_copy_on_the_device_copies_what_is_known)
{
    struct emu *emu = open_checking();
    emu_addr a = new_memory(emu, N * 4), b = device_copy(emu, NULL, N * 4),
             out = new_memory(emu, N * 4);
    cr_assert(!emu_fill(emu, a, 0, N * 4 - 4));
    cr_assert(!emu_copy(emu, b, a, N * 4));
    cr_assert_eq(findings_of(emu, copies, out, b), 1);
    cr_expect_eq(emu_finding(emu, 0)->count, 1);
    emu_close(emu);
}

Test(initcheck, a_copy_to_the_host_is_a_read)
{
    struct emu *emu = open_checking();
    emu_addr a = new_memory(emu, N * 4);
    char host[N * 4];
    cr_assert(!emu_read(emu, host, a, sizeof host));
    cr_assert_eq(emu_findings(emu), 1);
    cr_expect(strstr(emu_finding(emu, 0)->head, "Host API uninitialized memory access"), "%s",
              emu_finding(emu, 0)->head);
    cr_assert(!emu_fill(emu, a + 16, 0, 1)); /* a structure's padding may stay unwritten */
    cr_assert(!emu_read(emu, host, a, sizeof host));
    cr_expect_eq(emu_findings(emu), 1);
    emu_close(emu);
}

/* ---- shared memory, atomics, vectors ------------------------------------------------------- */

#define SHARED_KERNEL(first)                                                                       \
    PTX_KERNEL("k", ".shared .align 4 .b8 s[256];\nmov.u32 %r0, s;\nmov.u32 %r1, %tid.x;\n"        \
                    "shl.b32 %r1, %r1, 2;\nadd.u32 %r0, %r0, %r1;\n" first                         \
                    "ld.shared.u32 %r2, [%r0];\nst.global.u32 [%out], %r2;\nret;")

Test(initcheck, shared_memory_is_new_in_every_block)
{
    struct emu *emu = open_checking();
    emu_addr out = new_memory(emu, N * 4);
    cr_expect_eq(findings_of(emu, SHARED_KERNEL("st.shared.u32 [%r0], %r1;\n"), out, out), 0);
    cr_assert_eq(findings_of(emu, SHARED_KERNEL(""), out, out), 1);
    cr_expect_eq(emu_finding(emu, 0)->count, N);
    cr_expect(strstr(emu_finding(emu, 0)->head, "__shared__"), "%s", emu_finding(emu, 0)->head);
    cr_expect(emu_finding(emu, 0)->severity == EMU_FINDING_WARNING);
    emu_close(emu);
}

Test(initcheck, an_atomic_reads_and_writes)
{
    static const char text[] =
        PTX_KERNEL("k", "red.global.add.u32 [%in], 1;\nld.global.u32 %r0, [%in];\n"
                        "st.global.u32 [%out], %r0;\nret;");
    struct emu *emu = open_checking();
    emu_addr in = new_memory(emu, N * 4), out = new_memory(emu, N * 4);
    cr_expect_eq(findings_of(emu, text, out, in), 1, "the atomic, and not the load behind it");
    emu_close(emu);
}

/* Elements of a wide load that nobody uses: the compiler says so, or throws them away. */
Test(initcheck, only_elements_that_are_used_count, .timeout = 20)
{
    static const struct {
        const char *load;
        size_t findings;
    } cases[] = {
        {"ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%l0];\n", 1},
        {"ld.global.v4.u32 {%r0, %r1, %r2, _}, [%l0];\n", 0},
        {".pragma \"used_bytes_mask 4095\";\nld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%l0];\n", 0},
        {".pragma \"used_bytes_mask 65535\";\nld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%l0];\n", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct emu *emu = open_checking();
        emu_addr in = new_memory(emu, 16), out = new_memory(emu, N * 4);
        cr_assert(!emu_fill(emu, in, 0, 12));
        char text[4000];
        snprintf(text, sizeof text, "%s%s%s", PTX_PROLOGUE("k") "ld.param.u64 %l0, [p_in];\n",
                 cases[i].load, "st.global.u32 [%out], %r0;\nret;\n}\n");
        cr_expect_eq(findings_of(emu, text, out, in), cases[i].findings, "case %zu", i);
        emu_close(emu);
    }
}

/* A structure with padding is copied in words: a word is new only if none of its bytes is known. */
Test(initcheck, padding_inside_an_element_is_no_finding)
{
    struct emu *emu = open_checking();
    emu_addr in = new_memory(emu, N * 4), out = new_memory(emu, N * 4);
    for (unsigned i = 0; i < N; i++) cr_assert(!emu_fill(emu, in + 4 * i, 1, 1));
    cr_expect_eq(findings_of(emu, copies, out, in), 0);
    emu_close(emu);
}

Test(initcheck, variables_and_mapped_memory_count_as_written)
{
    static const char text[] =
        PTX_HEADER ".global .align 4 .u32 g;\n.visible .entry k(.param .u64 o, .param .u64 i) {\n"
                   ".reg .b32 %r<4>;\n.reg .b64 %l<4>;\nld.param.u64 %l0, [i];\n"
                   "ld.global.u32 %r0, [g];\nld.global.u32 %r1, [%l0];\nret;\n}\n";
    static uint32_t host[N];
    struct emu *emu = open_checking();
    cr_assert(!emu_map_host(emu, host, sizeof host));
    cr_expect_eq(findings_of(emu, text, 0, (emu_addr)(uintptr_t)host), 0);
    emu_close(emu);
}
