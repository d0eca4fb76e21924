/* initcheck.c — reads of memory that was never written. */
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <string.h>

enum { N = 64 };

static struct emu *open_checking(void)
{
    return open_emu_with(&(struct emu_config){.memory = 64 << 20, .checks = EMU_CHECK_INIT});
}

/* Runs a kernel "k" of N threads; returns the number of findings afterwards. */
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
    for (int i = 0; i < 100; i++) { /* until the addresses are used again */
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
    cr_assert(!emu_fill(emu, a, 0, N * 4 - 3)); /* all but three bytes, */
    cr_assert(!emu_fill(emu, a + 17, 0, 100));
    cr_assert(!emu_read(emu, host, a, sizeof host));
    cr_assert_eq(emu_findings(emu), 2);
    const char *text = emu_finding(emu, 1)->head;
    cr_expect(strstr(text, "3 of its 256 bytes have not been written"), "%s", text);
    cr_expect(strstr(text, "The first is at offset 253: address"), "%s", text);
    cr_assert(!emu_read(emu, host, a, N * 4 - 3));
    cr_expect_eq(emu_findings(emu), 2, "what is not read does not matter");
    emu_close(emu);
}

/* Rows with gaps between them, which are not read. */
Test(initcheck, rows_are_one_copy)
{
    enum { ROW = 10, PITCH = 64, ROWS = 3, SLICES = 2, SLICE = 4 * PITCH };
    struct emu *emu = open_checking();
    emu_addr a = new_memory(emu, SLICES * SLICE);
    char host[SLICES * ROWS * ROW];
    const struct emu_rows rows = {ROW, ROWS, SLICES, ROW, ROWS * ROW, PITCH, SLICE};
    for (unsigned z = 0; z < SLICES; z++)
        for (unsigned y = 0; y < ROWS; y++)
            cr_assert(!emu_fill(emu, a + z * SLICE + y * PITCH, 1, ROW));
    cr_assert(!emu_read_rows(emu, host, a, &rows));
    cr_expect_eq(emu_findings(emu), 0);
    emu_renew(emu, a + SLICE + PITCH + 7, 2);
    emu_renew(emu, a + SLICE + 2 * PITCH, 1);
    cr_assert(!emu_read_rows(emu, host, a, &rows));
    cr_assert_eq(emu_findings(emu), 1);
    const char *text = emu_finding(emu, 0)->head;
    cr_expect(strstr(text, "3 of its 60 bytes have not been written"), "%s", text);
    cr_expect(strstr(text, "offset 7 of row 4: address"), "%s", text);
    emu_close(emu);
}

/* Every part of a copy, with edges in every place of a word. */
Test(initcheck, a_copy_on_the_device_copies_every_byte)
{
    enum { BYTES = 3 * 4096 };
    uint64_t state = 7;
    char host;
    for (int round = 0; round < 60; round++) {
        struct emu *emu = open_checking();
        emu_addr a = new_memory(emu, BYTES), b = device_copy(emu, NULL, BYTES);
        bool is_set[BYTES] = {0};
        bool overlaps = round % 3 == 0;
        for (int k = 0; k < 20; k++) {
            size_t at = next_random(&state) % BYTES, length = next_random(&state) % (BYTES - at);
            length >>= next_random(&state) % 12;
            cr_assert(!emu_fill(emu, a + at, 1, length));
            memset(is_set + at, 1, length);
        }
        size_t from = next_random(&state) % 300, to = next_random(&state) % 300,
               bytes = BYTES - 300;
        if (overlaps) b = a;
        cr_assert(!emu_copy(emu, b + to, a + from, bytes));
        size_t findings = 0;
        for (int k = 0; k < 400; k++) {
            size_t at = k < 4 ? (size_t)k * (bytes - 1) / 3 : next_random(&state) % bytes;
            findings += !is_set[from + at];
            cr_assert(!emu_read(emu, &host, b + to + at, 1));
            cr_assert(emu_finding_count(emu, EMU_FINDING_ERROR) == findings,
                      "round %d: byte %zu of a copy from %zu to %zu", round, at, from, to);
        }
        emu_close(emu);
    }
}

/* ---- elements of which a part is written ----------------------------------------------------- */

/* The last element of an array is not written. The others were stored in vectors, except the last
 * of them. */
Test(initcheck, the_last_element_behind_vectors_is_no_padding)
{
    static const char stores[] =
        PTX_KERNEL("k", "and.b32 %r0, %id, 1;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 ret;\n"
                        "setp.eq.u32 %p1, %id, 62;\n@!%p1 st.global.v2.u32 [%out], {%id, %id};\n"
                        "@%p1 st.global.u32 [%out], %id;\nret;");
    char host[N * 4];
    struct emu *emu = open_checking();
    emu_addr out = new_memory(emu, N * 4);
    cr_assert_eq(findings_of(emu, stores, out, out), 0);
    cr_assert(!emu_read(emu, host, out, sizeof host));
    cr_assert_eq(emu_findings(emu), 1);
    const char *text = emu_finding(emu, 0)->head;
    cr_expect(strstr(text, "4 of its 256 bytes") && strstr(text, "offset 252: "), "%s", text);
    emu_close(emu);
}

Test(initcheck, a_copy_to_another_device_copies_what_is_known)
{
    struct emu *emu = open_checking(),
               *peer = open_emu_with(
                   &(struct emu_config){.memory = 64 << 20, .checks = EMU_CHECK_INIT, .number = 1});
    emu_addr from = new_memory(emu, N), to = device_copy(peer, NULL, N);
    char host[N];
    cr_assert(!emu_fill(emu, from, 1, N - 1));
    cr_assert(!emu_copy_peer(peer, to, emu, from, N));
    cr_expect_eq(emu_findings(emu) + emu_findings(peer), 0);
    cr_assert(!emu_read(peer, host, to, N - 1));
    cr_expect_eq(emu_findings(peer), 0);
    cr_assert(!emu_read(peer, host, to, N));
    cr_expect_eq(emu_findings(peer), 1);
    emu_close(emu);
    emu_close(peer);
}

/* Mapped memory belongs to the host: a copy to it is a copy to the host. */
Test(initcheck, a_copy_to_mapped_memory_is_a_read)
{
    static char host[N];
    struct emu *emu = open_checking();
    emu_addr from = new_memory(emu, N);
    cr_assert(!emu_map_host(emu, host, N));
    cr_assert(!emu_copy(emu, (emu_addr)(uintptr_t)host, from, N));
    cr_expect_eq(emu_findings(emu), 1);
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
