/* race_places.c — which threads racecheck names, in blocks and grids of three dimensions. */
#define _GNU_SOURCE
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct emu_dim grid = {2, 3, 4}, block = {4, 5, 6};

/* A thread, by its numbers in the order of a grid and of a block. */
struct who {
    unsigned cta, thread;
};

static void name(struct who who, char *text, size_t size)
{
    snprintf(text, size, "thread (%u,%u,%u) in block (%u,%u,%u)", who.thread % block.x,
             who.thread / block.x % block.y, who.thread / block.x / block.y, who.cta % grid.x,
             who.cta / grid.x % grid.y, who.cta / grid.x / grid.y);
}

/* Two threads store their different numbers to one word. */
static char *two_stores(struct who a, struct who b)
{
    return ptx_kernel("mov.u32 %%r1, %%ctaid.z;\nmov.u32 %%r2, %%nctaid.y;\n"
                      "mov.u32 %%r3, %%ctaid.y;\nmad.lo.u32 %%r1, %%r1, %%r2, %%r3;\n"
                      "mov.u32 %%r2, %%nctaid.x;\nmov.u32 %%r3, %%ctaid.x;\n"
                      "mad.lo.u32 %%r1, %%r1, %%r2, %%r3;\n"
                      "mov.u32 %%r4, %%tid.z;\nmov.u32 %%r2, %%ntid.y;\nmov.u32 %%r3, %%tid.y;\n"
                      "mad.lo.u32 %%r4, %%r4, %%r2, %%r3;\nmov.u32 %%r2, %%ntid.x;\n"
                      "mov.u32 %%r3, %%tid.x;\nmad.lo.u32 %%r4, %%r4, %%r2, %%r3;\n"
                      "mul.lo.u32 %%r1, %%r1, 1000;\nadd.u32 %%r1, %%r1, %%r4;\n"
                      "sub.u64 %%out, %%out, %%offset;\n"
                      "setp.eq.u32 %%p0, %%r1, %u;\nsetp.eq.u32 %%p1, %%r1, %u;\n"
                      "or.pred %%p0, %%p0, %%p1;\n@%%p0 st.global.u32 [%%out], %%r1;\nret;",
                      1000 * a.cta + a.thread, 1000 * b.cta + b.thread);
}

static void expect_names(struct who first, struct who second)
{
    struct emu *emu =
        open_emu_with(&(struct emu_config){.memory = 64 << 20, .checks = EMU_CHECK_RACE});
    char *text = two_stores(first, second), one[80], other[80], sentence[200];
    emu_addr out = device_copy(emu, NULL, 4);
    cr_assert(!emu_launch_shape(emu, load_kernel(emu, text, "k"),
                                &(struct emu_shape){.grid = grid, .block = block},
                                (void *[]){&out, &out}),
              "%s", emu_message(emu));
    cr_assert_eq(emu_findings(emu), 1);
    name(first, one, sizeof one);
    name(second, other, sizeof other);
    snprintf(sentence, sizeof sentence, "0x%llx: %s wrote it, %s writes it\n",
             (unsigned long long)out, one, other);
    cr_expect(strstr(emu_finding(emu, 0)->detail, sentence), "\"%s\" is not in:\n%s", sentence,
              emu_finding(emu, 0)->detail);
    free(text);
    emu_close(emu);
}

/* The first and the last thread of a grid, and threads whose coordinates all differ. */
Test(racecheck, both_threads_are_named)
{
    expect_names((struct who){0, 0}, (struct who){23, 119});
    expect_names((struct who){3, 37}, (struct who){16, 90});
    expect_names((struct who){7, 2}, (struct who){7, 71});
    expect_names((struct who){11, 64}, (struct who){11, 65});
}

/* Pairs of lines with a hazard each, which are reported in the order in which they were found. */
Test(racecheck, many_hazards_are_told_in_order)
{
    enum { PAIRS = 150 };
    char *body, place[40];
    size_t size;
    FILE *out = open_memstream(&body, &size);
    fputs("sub.u64 %out, %out, %offset;\nsetp.eq.u32 %p0, %id, 0;\nsetp.eq.u32 %p1, %id, 40;\n",
          out);
    for (unsigned i = 0; i < PAIRS; i++)
        fprintf(out,
                ".loc 1 %u 0\n@%%p0 st.global.u32 [%%out+%u], 1;\n"
                ".loc 1 %u 0\n@%%p1 st.global.u32 [%%out+%u], 2;\n",
                2 * i + 1, 4 * i, 2 * i + 2, 4 * i);
    fputs("ret;", out);
    fclose(out);
    struct emu *emu = open_emu_with(&(struct emu_config){
        .memory = 64 << 20, .checks = EMU_CHECK_RACE, .finding_limit = 2 * PAIRS});
    char *kernel = ptx_kernel("%s", body), *text;
    cr_assert(asprintf(&text, "%s.file 1 \"pairs.cu\"\n", kernel) > 0);
    emu_addr to = device_copy(emu, NULL, 4 * PAIRS);
    cr_assert(!launch(emu, load_kernel(emu, text, "k"), 1, 64, 0, 2, (uint64_t[]){to, to}), "%s",
              emu_message(emu));
    cr_assert_eq(emu_findings(emu), PAIRS, "%zu findings", emu_findings(emu));
    for (unsigned i = 0; i < PAIRS; i++) {
        snprintf(place, sizeof place, "pairs.cu:%u ", 2 * i + 2);
        cr_expect(strstr(emu_finding(emu, i)->head, place), "%u: %s", i, emu_finding(emu, i)->head);
    }
    emu_close(emu);
    free(body), free(kernel), free(text);
}
