/*
 * findings.c — the fields of findings: the values that programs read must equal those in the text.
 */
#define _GNU_SOURCE /* asprintf */
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES ".file 1 \"one.cu\"\n.file 2 \"two.cu\"\n"

/* A kernel whose first line is 3 and whose last is 9, and what a checker finds in it. */
static const struct kernel {
    const char *name, *body;
    unsigned check;
    const char *kind, *title, *space;
    unsigned bytes, line, other_line;
    struct emu_dim thread;
    const char *access, *other_access;
} kernels[] = {
    {"outside", ".loc 1 3 1\nmov.u64 %l1, 64;\n.loc 2 4 1\nst.global.u32 [%l1], %r1;\n",
     EMU_CHECK_MEMORY, "out-of-bounds", "Invalid __global__ write of size 4 bytes", "global", 4, 4,
     0, {0, 0, 0}, NULL, NULL},
    {"misaligned", ".loc 2 5 1\nld.global.u64 %l1, [%out+4];\n", EMU_CHECK_MEMORY, "misaligned",
     "Invalid __global__ read of size 8 bytes", "global", 8, 5, 0, {0, 0, 0}, NULL, NULL},
    {"shared_end",
     ".shared .align 4 .b8 s[8];\nmov.u64 %l1, s;\n.loc 2 6 1\nst.shared.u32 [%l1+64], 1;\n",
     EMU_CHECK_MEMORY, "out-of-bounds", "Invalid __shared__ write of size 4 bytes", "shared", 4, 6,
     0, {0, 0, 0}, NULL, NULL},
    {"hazard",
     ".shared .align 4 .b8 s[4];\nmov.u64 %l1, s;\nmov.u32 %r0, %tid.x;\n"
     "setp.eq.u32 %p0, %r0, 0;\nsetp.eq.u32 %p1, %r0, 33;\n.loc 2 7 1\n"
     "@%p0 st.shared.u32 [%l1], 1;\n.loc 2 8 1\n@%p1 ld.shared.u32 %r1, [%l1];\n",
     EMU_CHECK_RACE, "read-after-write", "RAW hazard at __shared__ address", "shared", 0, 8, 7,
     {33, 0, 0}, "Read access", "Write access"},
    {"unwritten",
     ".shared .align 4 .b8 s[8];\nmov.u64 %l1, s;\n.loc 2 9 1\nld.shared.u32 %r1, [%l1];\n",
     EMU_CHECK_INIT, "uninitialized-read", "Uninitialized __shared__ memory read of size 4 bytes",
     "shared", 4, 9, 0, {0, 0, 0}, NULL, NULL},
    {"divergent", "mov.u32 %r0, %tid.x;\nsetp.lt.u32 %p0, %r0, 7;\n.loc 2 9 1\n@%p0 bar.sync 0;\n",
     EMU_CHECK_SYNC, "divergent-in-block", "Barrier error detected. Divergent thread(s) in block.",
     NULL, 0, 9, 0, {0, 0, 0}, NULL, NULL},
    {"_Z4trapPi", ".loc 2 4 1\ntrap;\n", EMU_CHECK_MEMORY, "fault", NULL, NULL, 0, 4, 0, {0, 0, 0},
     NULL, NULL},
};

static const char before_name[] = PTX_HEADER ".visible .entry ";
static const char behind_name[] = "(.param .u64 p_out, .param .u64 p_in) {\n.reg .pred %p<4>;\n"
                                  ".reg .b32 %r<4>;\n.reg .b64 %l<4>;\n.reg .b64 %out;\n"
                                  "ld.param.u64 %out, [p_out];\n";

static void expect_place(const struct kernel *k, const struct emu_finding *f,
                         const struct emu_place *place, unsigned line)
{
    char text[300];
    cr_assert(place->is_known && place->file, "%s", k->name);
    cr_expect(!strcmp(place->file, "two.cu") && place->line == line, "%s: %s:%u", k->name,
              place->file, place->line);
    cr_expect(place->ptx_line > 0);
    snprintf(text, sizeof text, " in two.cu:%u (PTX line %u)", place->line, place->ptx_line);
    cr_expect(strstr(f->head, text), "%s is not in %s", text, f->head);
}

static void expect_hazard(const struct kernel *k, const struct emu_finding *f)
{
    char both[200];
    cr_expect(!strcmp(f->place.access, k->access) && !strcmp(f->other.access, k->other_access));
    cr_expect(!f->place.is_copy && !f->other.is_copy && f->other.has_thread);
    expect_place(k, f, &f->other, k->other_line);
    snprintf(both, sizeof both, "between %s at ", k->other_access);
    cr_expect(strstr(f->head, both), "%s", f->head);
    snprintf(both, sizeof both, "and %s at ", k->access);
    cr_expect(strstr(f->head, both), "%s", f->head);
    snprintf(both, sizeof both, "thread (%u,0,0) in block (0,0,0) reads it", f->place.thread.x);
    cr_expect(strstr(f->detail, both), "%s", f->detail);
}

static void expect_fields(const struct kernel *k, const struct emu_finding *f)
{
    char text[300];
    cr_expect(f->tool == k->check && !strcmp(f->kind, k->kind), "%s: %s", k->name, f->kind);
    cr_expect(!k->title || !strcmp(f->title, k->title), "%s: %s", k->name, f->title);
    cr_expect(!strcmp(f->kernel, k->name) && f->launch == 1);
    cr_expect(k->space ? f->space && !strcmp(f->space, k->space) : !f->space, "%s", k->name);
    cr_expect(f->bytes == k->bytes, "%s: %u bytes", k->name, f->bytes);
    cr_expect(f->place.thread.x == k->thread.x && f->place.has_thread && !f->place.block.x);
    expect_place(k, f, &f->place, k->line);
    if (k->other_line) {
        expect_hazard(k, f);
        return;
    }
    cr_expect(!f->other.is_known && !f->place.access);
    cr_expect(!strncmp(f->head, f->title, strlen(f->title)));
    snprintf(text, sizeof text, "    by thread (%u,0,0) in block (0,0,0)", f->place.thread.x);
    cr_expect(strstr(f->head, text), "%s", f->head);
}

/* The second launch of the device has the finding. The module is gone when its fields are read. */
Test(emu_findings, fields_are_what_the_text_says)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        const struct kernel *k = &kernels[i];
        struct emu_config config = {.memory = 64 << 20, .threads = 1, .checks = k->check};
        struct emu *emu = open_emu_with(&config);
        char *text;
        if (asprintf(&text, "%s%s%s%sret;\n}\n" FILES, before_name, k->name, behind_name, k->body) <
            0)
            abort();
        emu_addr out = device_copy(emu, NULL, 4096);
        uint64_t args[] = {out, out};
        struct emu_kernel *right = load_kernel(emu, PTX_KERNEL("right", "ret;\n"), "right");
        cr_assert(!launch(emu, right, 1, 32, 0, 2, args));
        struct emu_module *module;
        struct emu_kernel *kernel;
        cr_assert(!emu_load(emu, text, strlen(text), "text", &module), "%s", emu_message(emu));
        cr_assert(!emu_kernel(emu, module, k->name, &kernel), "%s", emu_message(emu));
        launch(emu, kernel, 1, 64, 0, 2, args);
        emu_unload(emu, module);
        cr_assert(emu_findings(emu) >= 1, "%s: nothing was found", k->name);
        expect_fields(k, emu_finding(emu, 0));
        emu_close(emu);
        free(text);
    }
}

/* A finding on the host has no kernel and no source line. */
Test(emu_findings, of_the_host)
{
    struct emu_config config = {.memory = 64 << 20, .checks = EMU_CHECK_MEMORY | EMU_CHECK_INIT};
    struct emu *emu = open_emu_with(&config);
    emu_addr address;
    uint64_t bytes;
    char host[64];
    cr_assert(!emu_alloc(emu, sizeof host, &address));
    cr_assert(!emu_read(emu, host, address, sizeof host));
    cr_assert(emu_report_leaks(emu, &bytes) == 1);
    cr_assert(emu_findings(emu) == 2);
    static const char *const kinds[] = {"uninitialized-copy", "leak"};
    for (size_t i = 0; i < 2; i++) {
        const struct emu_finding *f = emu_finding(emu, i);
        cr_expect(!strcmp(f->kind, kinds[i]), "%s", f->kind);
        cr_expect(!f->kernel && !f->place.is_known && !f->other.is_known);
        cr_expect(f->launch == EMU_NO_LAUNCH && !strcmp(f->head, f->title));
    }
    cr_expect(emu_finding(emu, 0)->address == address && emu_finding(emu, 0)->space);
    emu_close(emu);
}
