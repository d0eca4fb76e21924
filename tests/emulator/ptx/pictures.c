/* pictures.c — what is kept of a run for pictures (emu_bank_picture, emu_timeline). */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 32, WARPS = 2, MOST_LINES = 256, MOST_TURNS = 2000 };

#define FILES ".file 1 \"pictures.cu\"\n"

/* Runs it with two warps in each block. */
static struct emu *run_pictured(const char *text, unsigned threads, unsigned blocks)
{
    struct emu *emu = open_emu_with(
        &(struct emu_config){.threads = threads, .memory = 16 << 20, .pictures = true});
    emu_addr memory = device_copy(emu, NULL, 1 << 16);
    cr_assert(!launch(emu, load_kernel(emu, text, "k"), blocks, WARPS * LANES, 0, 2,
                      (uint64_t[]){memory, memory}),
              "%s", emu_message(emu));
    return emu;
}

/* ---- timelines ------------------------------------------------------------------------------- */

/* Parts follow each other without gaps; returns how many there are of a warp with this end. */
static unsigned count_ends(const struct emu_timeline *t, unsigned warp, enum emu_turn_end end)
{
    unsigned count = 0;
    uint64_t at = 0;
    for (size_t i = 0; i < t->turn_count; i++) {
        const struct emu_turn *turn = &t->turns[i];
        cr_expect(turn->from == at && turn->to > turn->from, "part %zu", i);
        at = turn->to;
        count += turn->warp == warp && turn->end == end;
    }
    if (!t->is_cut) cr_expect_eq(at, t->steps);
    return count;
}

/* In warp 1 the odd lanes execute 3 instructions by themselves. */
Test(emu_pictures, turns_of_warps)
{
    struct emu *emu = run_pictured(
        PTX_KERNEL("k", "mov.u32 %r0, %tid.x;\nand.b32 %r1, %r0, 33;\nsetp.ne.u32 %p0, %r1, 33;\n"
                        "@%p0 bra even;\nadd.u32 %r2, %r2, 1;\nadd.u32 %r2, %r2, 1;\n"
                        "add.u32 %r2, %r2, 1;\neven:\nbar.sync 0;\nst.global.u32 [%out], %r0;\n"
                        "ret;"),
        1, 2);
    cr_assert_eq(emu_timelines(emu), 1);
    const struct emu_timeline *t = emu_timeline(emu, 0);
    cr_expect(!strcmp(t->kernel, "k") && t->warps == WARPS && !t->is_cut);
    for (unsigned w = 0; w < WARPS; w++) cr_expect_eq(count_ends(t, w, EMU_TURN_EXITED), 1);
    cr_expect_eq(count_ends(t, 0, EMU_TURN_AT_BARRIER), 1); /* warp 1 comes last, and goes on */
    unsigned divergent = 0;
    for (size_t i = 0; i < t->turn_count; i++) {
        if (!t->turns[i].is_divergent) continue;
        divergent++;
        cr_expect(t->turns[i].warp == 1 && t->turns[i].to - t->turns[i].from == 3);
    }
    cr_expect_eq(divergent, 1);
    cr_expect_null(emu_timeline(emu, 1));
    emu_close(emu);
}

Test(emu_pictures, long_timelines_are_cut)
{
    struct emu *emu =
        run_pictured(PTX_KERNEL("k", "mov.u32 %r0, 0;\nagain:\nbar.sync 0;\nadd.u32 %r0, %r0, 1;\n"
                                     "setp.lt.u32 %p0, %r0, 3000;\n@%p0 bra again;\nret;"),
                     1, 1);
    const struct emu_timeline *t = emu_timeline(emu, 0);
    cr_expect(t->is_cut && t->turn_count == MOST_TURNS, "%zu turns", t->turn_count);
    emu_close(emu);
}

/* ---- banks ----------------------------------------------------------------------------------- */

/* Each block loads at strides of 2, 8 and 4 words in one line, and at none in another. */
Test(emu_pictures, the_worst_access_of_a_line)
{
    static const char text[] =
        PTX_KERNEL("k", ".shared .align 4 .b8 s[4096];\nmov.u32 %r0, %laneid;\nmov.u64 %l0, s;\n"
                        "mad.wide.u32 %l1, %r0, 8, %l0;\nmad.wide.u32 %l2, %r0, 32, %l0;\n"
                        "mad.wide.u32 %l3, %r0, 16, %l0;\nmad.wide.u32 %l4, %r0, 4, %l0;\n"
                        ".loc 1 7 0\nld.shared.u32 %r1, [%l1];\nst.shared.u32 [%l2], %r0;\n"
                        "ld.shared.u32 %r3, [%l3];\n.loc 1 8 0\nld.shared.u32 %r4, [%l4];\nret;")
            FILES;
    for (unsigned threads = 1; threads <= 4; threads += 3) {
        struct emu *emu = run_pictured(text, threads, 9);
        cr_assert_eq(emu_bank_pictures(emu), 1);
        const struct emu_bank_picture *p = emu_bank_picture(emu, 0);
        cr_expect(!strcmp(p->file, "pictures.cu") && p->line == 7 && !strcmp(p->kernel, "k"));
        cr_expect(p->wavefronts == 8 && p->ideal == 1 && !p->is_load && !p->is_atomic);
        cr_expect(p->block == 0 && p->warp == 0 && p->bytes == 4 && p->mask == UINT32_MAX);
        for (unsigned l = 0; l < LANES; l++) cr_expect_eq(p->address[l] - p->address[0], 32 * l);
        emu_close(emu);
    }
}

Test(emu_pictures, many_lines)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fputs(PTX_PROLOGUE("k") ".shared .align 4 .b8 s[4096];\nmov.u32 %r0, %laneid;\n"
                            "mov.u64 %l0, s;\nmad.wide.u32 %l1, %r0, 8, %l0;\n",
          out);
    for (unsigned line = 1; line <= MOST_LINES + 20; line++)
        fprintf(out, ".loc 1 %u 0\nld.shared.u32 %%r1, [%%l1];\n", line);
    fputs("ret;\n}\n" FILES, out);
    fclose(out);
    struct emu *emu = run_pictured(text, 1, 1);
    cr_expect_eq(emu_bank_pictures(emu), MOST_LINES);
    cr_expect_eq(emu_bank_picture(emu, MOST_LINES - 1)->line, MOST_LINES);
    cr_expect_null(emu_bank_picture(emu, MOST_LINES));
    emu_close(emu);
    free(text);
}

/* Nothing is kept unless it is asked for. */
Test(emu_pictures, off)
{
    struct emu *emu = open_emu();
    cr_expect(emu_bank_pictures(emu) == 0 && emu_timelines(emu) == 0);
    cr_expect(!emu_bank_picture(emu, 0) && !emu_timeline(emu, 0));
    emu_close(emu);
}
