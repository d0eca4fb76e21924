/*
 * html_timeline.c — when the warps of a kernel's block 0 run, as a picture: a row for each warp,
 * and from left to right the instructions that the block's warps execute, one after another.
 */
#include "common/emu/ptx/kernel_name.h"
#include "writers.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    WIDTH = 900,
    LEFT = 60,
    TURN_ROW = 14,
    BAR = 11,
    AXIS = 18,
    KERNEL_NAME = 256,
    TICKS = 5
}; /* pixels */

static double place_of(const struct emu_timeline *t, uint64_t step)
{
    return LEFT + (double)WIDTH * (double)step / (double)(t->steps > 0 ? t->steps : 1);
}

static void put_turn(FILE *out, const struct emu_timeline *t, const struct emu_turn *turn,
                     uint64_t from, uint64_t to, const char *colour)
{
    enum { LEAST = 1 }; /* so that short turns are seen */
    double x = place_of(t, from), width = place_of(t, to) - x;
    fprintf(out, "<rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>", x,
            turn->warp * TURN_ROW, width < LEAST ? LEAST : width, BAR, colour);
}

/* Until its warp runs again, or until the end. */
static uint64_t end_of_wait(const struct emu_timeline *t, size_t index)
{
    for (size_t i = index + 1; i < t->turn_count; i++)
        if (t->turns[i].warp == t->turns[index].warp) return t->turns[i].from;
    return t->steps;
}

static void put_turns(FILE *out, const struct emu_timeline *t)
{
    for (size_t i = 0; i < t->turn_count; i++) {
        const struct emu_turn *turn = &t->turns[i];
        if (turn->end == EMU_TURN_AT_BARRIER || turn->end == EMU_TURN_WAITS)
            put_turn(out, t, turn, turn->to, end_of_wait(t, i),
                     turn->end == EMU_TURN_AT_BARRIER ? "#ccc" : "#cbe");
    }
    for (size_t i = 0; i < t->turn_count; i++)
        put_turn(out, t, &t->turns[i], t->turns[i].from, t->turns[i].to,
                 t->turns[i].is_divergent ? "#e83" : "#38b");
}

static void put_axes(FILE *out, const struct emu_timeline *t)
{
    for (unsigned w = 0; w < t->warps; w++)
        fprintf(out, "<text x=\"0\" y=\"%u\">warp %u</text>", w * TURN_ROW + BAR - 1, w);
    for (unsigned k = 0; k < TICKS; k++) {
        uint64_t step = t->steps * k / (TICKS - 1);
        fprintf(out, "<text x=\"%.1f\" y=\"%u\" text-anchor=\"%s\">%" PRIu64 "</text>",
                place_of(t, step), t->warps * TURN_ROW + BAR, k == TICKS - 1 ? "end" : "middle",
                step);
    }
}

static void put_timeline(FILE *out, const struct emu_timeline *t)
{
    char kernel[KERNEL_NAME];
    if (t->turn_count == 0) return;
    kernel_base_name(t->kernel, kernel, sizeof kernel);
    fputs("<figure><figcaption>", out);
    html_text(out, kernel);
    fprintf(out, ", %u warp%s, %" PRIu64 " instructions%s</figcaption>", t->warps,
            t->warps == 1 ? "" : "s", t->steps,
            t->is_cut ? "; there are more, which are not shown" : "");
    fprintf(out, "<svg width=\"%d\" height=\"%u\" font-size=\"10\" fill=\"currentColor\">",
            LEFT + WIDTH, t->warps * TURN_ROW + AXIS);
    put_turns(out, t);
    put_axes(out, t);
    fputs("</svg></figure>\n", out);
}

void html_timelines(FILE *out, const struct document *d)
{
    size_t count = 0;
    for (size_t i = 0; i < d->emu_count; i++) count += emu_timelines(d->emus[i]);
    if (count == 0) return;
    fputs("<h2>Warps</h2>\n<p>Block 0 of the first launch of each kernel. From left to right: the "
          "instructions that its warps execute, one after another, in the emulator's order; a GPU "
          "has another one. Blue: the warp runs; orange: it runs, and its lanes have diverged; "
          "grey: it waits at a barrier; violet: it waits for an mbarrier.</p>\n",
          out);
    for (size_t i = 0; i < d->emu_count; i++)
        for (size_t k = 0; k < emu_timelines(d->emus[i]); k++)
            put_timeline(out, emu_timeline(d->emus[i], k));
}
