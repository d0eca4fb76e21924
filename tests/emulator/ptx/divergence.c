/*
 * divergence.c — lanes that part and meet again.
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "ptx_run.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* ---- random programs of jumps, most of which no compiler would write ------------------------- */

/*
 * A program consists of a few basic blocks. Each computes, uses up fuel and jumps to one of two
 * blocks, chosen by what the lane has computed. A C loop runs the program for one lane at a time,
 * the emulator for the whole warp.
 */

enum { PROGRAMS = 400, MAX_BLOCKS = 10, TWO_WARPS = 64, FUEL = 60 };

struct block {
    uint32_t factor, addend, mask; /* x = x * factor + addend; jump to `then` if !(x & mask) */
    unsigned then, otherwise;      /* block numbers; the program's number of blocks means the end */
};

struct program {
    unsigned blocks;
    struct block block[MAX_BLOCKS];
};

static void make_program(struct program *p, uint64_t *seed)
{
    p->blocks = 2 + (unsigned)(next_random(seed) % (MAX_BLOCKS - 1));
    for (unsigned b = 0; b < p->blocks; b++) {
        uint64_t random = next_random(seed);
        p->block[b] = (struct block){
            .factor = (uint32_t)random | 1,
            .addend = (uint32_t)(random >> 32),
            .mask = 0x10000u << random % 3 * 4, /* about one half of the lanes each way */
            .then = (unsigned)(next_random(seed) % (p->blocks + 1)),
            .otherwise = (unsigned)(next_random(seed) % (p->blocks + 1)),
        };
    }
}

static uint32_t run_lane(const struct program *p, uint32_t x)
{
    unsigned at = 0;
    for (int fuel = FUEL; fuel > 0 && at < p->blocks; fuel--) {
        const struct block *b = &p->block[at];
        x = x * b->factor + b->addend;
        at = x & b->mask ? b->otherwise : b->then;
    }
    return x;
}

/* The blocks in order, so that most jumps go to the next one or over a few. At the end all lanes of
 * the warp must converge: the vote counts them. */
static char *program_text(const struct program *p)
{
    char *body;
    size_t size;
    FILE *f = open_memstream(&body, &size);
    cr_assert(f);
    fprintf(f, "ld.global.u32 %%r0, [%%in];\nmov.u32 %%r1, %d;\n", FUEL);
    for (unsigned b = 0; b < p->blocks; b++) {
        const struct block *k = &p->block[b];
        fprintf(f,
                "B%u: setp.eq.u32 %%p0, %%r1, 0;\n@%%p0 bra B%u;\nsub.u32 %%r1, %%r1, 1;\n"
                "mad.lo.u32 %%r0, %%r0, %u, %u;\nand.b32 %%r2, %%r0, %u;\n"
                "setp.eq.u32 %%p1, %%r2, 0;\n@%%p1 bra B%u;\nbra B%u;\n",
                b, p->blocks, k->factor, k->addend, k->mask, k->then, k->otherwise);
    }
    fprintf(f,
            "B%u: setp.eq.u32 %%p2, %%r2, %%r2;\nvote.sync.ballot.b32 %%r3, %%p2, -1;\n"
            "not.b32 %%r3, %%r3;\nadd.u32 %%r0, %%r0, %%r3;\n" /* adds 0 if all lanes vote */
            "st.global.u32 [%%out], %%r0;\nret;\n",
            p->blocks);
    fclose(f);
    char *text = ptx_kernel("%s", body);
    free(body);
    return text;
}

Test(emu_divergence, random_programs, .timeout = 60)
{
    struct emu *emu = open_emu();
    uint64_t seed = 2024;
    for (int n = 0; n < PROGRAMS; n++) {
        struct program program;
        make_program(&program, &seed);
        uint32_t in[TWO_WARPS], out[TWO_WARPS];
        for (unsigned t = 0; t < TWO_WARPS; t++) in[t] = (uint32_t)next_random(&seed);
        char *text = program_text(&program);
        run_kernel(emu, text, TWO_WARPS, TWO_WARPS, out, in);
        for (unsigned t = 0; t < TWO_WARPS; t++) {
            uint32_t want = run_lane(&program, in[t]);
            if (out[t] == want) continue;
            cr_expect(false, "program %d, thread %u: got 0x%x, want 0x%x\n%s", n, t, out[t], want,
                      text);
            break;
        }
        free(text);
    }
    emu_close(emu);
}
