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

/* ---- shared memory, atomics, vectors ------------------------------------------------------- */

#define SHARED_KERNEL(first)                                                                       \
    PTX_KERNEL("k", ".shared .align 4 .b8 s[512];\nmov.u32 %r0, s;\nmov.u32 %r1, %tid.x;\n"        \
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

/* Elements of a wide load that are not used: the compiler says so, or discards them. */
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

/* ---- elements of which a part is written ----------------------------------------------------- */

/* Each thread stores into its own 16 bytes of `in`; then each loads from there. */
#define STORE_THEN_LOAD                                                                            \
    PTX_HEADER                                                                                     \
    ".visible .entry k(.param .u64 p_out, .param .u64 p_in) {\n"                                   \
    ".reg .b16 %%h<8>;\n.reg .b32 %%r<8>;\n.reg .b64 %%l<8>;\n.reg .b32 %%id;\n.reg .b64 %%in;\n"  \
    "ld.param.u64 %%in, [p_in];\nmov.u32 %%id, %%tid.x;\nmad.wide.u32 %%in, %%id, 16, %%in;\n"     \
    "%s%sret;\n}\n"

#define STORE(width, register, offset) "st.global.u" #width " [%in+" #offset "], %" #register "0;\n"

static const struct partial {
    const char *stores, *loads;
    size_t findings; /* findings of the loads, by lines; and those of a copy of all to the host */
    bool copy_is_found;
} partials[] = {
    /* structures: a byte and an int; a short in front; an int behind a double; an array in it */
    {STORE(8, h, 0) STORE(32, r, 4) STORE(64, l, 8), "ld.global.u32 %r1, [%in];\n", 0, false},
    {STORE(8, h, 0) STORE(32, r, 4) STORE(64, l, 8), "ld.global.v2.u32 {%r1, %r2}, [%in];\n", 0,
     false},
    {STORE(8, h, 0) STORE(16, h, 2) STORE(32, r, 4) STORE(64, l, 8),
     "ld.global.v2.u16 {%h1, %h2}, [%in];\n", 0, false},
    {STORE(64, l, 0) STORE(32, r, 8), "ld.global.v2.u64 {%l1, %l2}, [%in];\n", 0, false},
    {STORE(64, l, 0) STORE(32, r, 8), "ld.global.v4.u8 {%h1, %h2, %h3, %h4}, [%in+12];\n", 0,
     false},
    {STORE(64, l, 0) STORE(8, h, 8), "ld.global.u64 %l1, [%in+8];\n", 0, false},
    /* three floats in 16 bytes, stored as a vector and one more */
    {"st.global.v2.u32 [%in], {%r0, %r0};\n" STORE(32, r, 8),
     "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%in];\n", 0, false},
    /* arrays of one type, of which some elements are not written */
    {STORE(8, h, 0) STORE(8, h, 1) STORE(8, h, 2), "ld.global.u32 %r1, [%in];\n", 1, true},
    {STORE(8, h, 0), "ld.global.u16 %h1, [%in];\n", 1, true},
    {STORE(16, h, 0), "ld.global.u32 %r1, [%in];\n", 1, true},
    {STORE(32, r, 0) STORE(32, r, 4) STORE(32, r, 8),
     "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%in];\n", 1, true},
    {STORE(32, r, 0) STORE(32, r, 8) STORE(32, r, 12), "ld.global.u64 %l1, [%in];\n", 1, true},
    {STORE(64, l, 0), "ld.global.v2.u64 {%l1, %l2}, [%in];\n", 1, true},
    {STORE(64, l, 8), "ld.global.v2.u64 {%l1, %l2}, [%in];\n", 1, true},
    /* the gap is in front of the stored element, so it is not padding */
    {STORE(32, r, 4) STORE(64, l, 8), "ld.global.u32 %r1, [%in];\n", 1, true},
    {STORE(8, h, 1) STORE(16, h, 2) STORE(32, r, 4) STORE(64, l, 8), "ld.global.u16 %h1, [%in];\n",
     1, true},
    /* a gap as large as the element behind it */
    {STORE(8, h, 0) STORE(64, l, 8), "ld.global.u64 %l1, [%in];\n", 0, false},
    {STORE(32, r, 12) STORE(64, l, 0), "ld.global.u32 %r1, [%in+8];\n", 1, true},
};

Test(initcheck, part_of_an_element_may_be_padding_or_forgotten)
{
    static char host[N * 16];
    for (size_t i = 0; i < sizeof partials / sizeof *partials; i++) {
        struct emu *emu = open_checking();
        emu_addr in = new_memory(emu, N * 16);
        char text[4000];
        snprintf(text, sizeof text, STORE_THEN_LOAD, partials[i].stores, partials[i].loads);
        size_t found = findings_of(emu, text, in, in);
        cr_expect_eq(found, partials[i].findings, "case %zu: %zu", i, found);
        cr_assert(!emu_read(emu, host, in, sizeof host));
        cr_expect_eq(emu_findings(emu) - found, partials[i].copy_is_found, "case %zu", i);
        emu_close(emu);
    }
}

Test(initcheck, a_part_is_described)
{
    struct emu *emu = open_checking();
    emu_addr in = new_memory(emu, N * 4), out = new_memory(emu, N * 4);
    cr_assert(!emu_fill(emu, in, 0, 4 * 5 + 3));
    cr_assert(!emu_fill(emu, in + 4 * 6, 0, 4 * (N - 6)));
    cr_assert_eq(findings_of(emu, copies, out, in), 1);
    const struct emu_finding *f = emu_finding(emu, 0);
    cr_expect_eq(f->count, 1);
    cr_expect(strstr(f->detail, "element 5 of 4 bytes: 1 of its 4 bytes have not been written, the"
                                " first at offset 3"),
              "%s", f->detail);
    emu_close(emu);
}

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

/* A copy in 4, 8 or 16 bytes by cp.async, in 16 by cp.async.bulk, and a 16-byte atomic. */
Test(initcheck, asynchronous_copies_read_every_byte)
{
    static const char text[] =
        PTX_KERNEL("k", ".shared .align 16 .b8 s[1024];\nmov.u32 %r0, s;\n"
                        "mad.lo.u32 %r0, %id, 16, %r0;\nmul.wide.u32 %l0, %id, 12;\n"
                        "add.u64 %l0, %l0, %in;\n" /* 16 bytes a thread */
                        "cp.async.cg.shared.global [%r0], [%l0], 16;\n"
                        "cp.async.wait_all;\nret;");
    struct emu *emu = open_checking();
    emu_addr in = new_memory(emu, N * 16);
    cr_assert(!emu_fill(emu, in, 0, N * 16 - 2));
    cr_assert_eq(findings_of(emu, text, in, in), 1);
    cr_expect(strstr(emu_finding(emu, 0)->head, "read of size 16 bytes"), "%s",
              emu_finding(emu, 0)->head);
    cr_expect(strstr(emu_finding(emu, 0)->detail, "2 of its 16 bytes"), "%s",
              emu_finding(emu, 0)->detail);
    emu_close(emu);
}

Test(initcheck, part_of_a_word_of_shared_memory)
{
    struct emu *emu = open_checking();
    emu_addr out = new_memory(emu, N * 4);
    cr_expect_eq(findings_of(emu, SHARED_KERNEL("st.shared.u8 [%r0], %r1;\n"), out, out), 1);
    cr_expect_eq(emu_finding(emu, 0)->severity, EMU_FINDING_WARNING);
    cr_expect_eq(findings_of(emu,
                             SHARED_KERNEL("st.shared.u8 [%r0], %r1;\n"
                                           "st.shared.u32 [%r0+256], %r1;\n"),
                             out, out),
                 1, "padding, where there is a word too");
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
