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

/* ---- threads of one warp that diverge and converge ------------------------------------------- */

/*
 * Each shape is a kernel and a C function with the result of one thread. Where the number of lanes
 * that execute a statement is known, the counters of its line (.loc) are checked.
 */

enum { LANES = 32, THREADS = 64 };

/* The result of thread t from the whole input: in[0 … THREADS). */
typedef uint32_t result_of(unsigned t, const uint32_t *in);

static unsigned lane(unsigned t) { return t % LANES; }

/* A line of the kernel, how often a warp executes it, and the number of lanes over all
 * executions. */
struct mark {
    unsigned line;
    uint64_t instructions, lanes;
};

struct shape {
    const char *name, *ptx;
    result_of *want;
    struct mark marks[4]; /* over both warps; line 0 ends the list */
};

/* Every body finds its input in %r0 and leaves its result in %r1. */
#define BODY(text)                                                                                 \
    PTX_KERNEL("k", "ld.global.u32 %r0, [%in];\nmov.u32 %r2, %laneid;\n" text                      \
                    "st.global.u32 [%out], %r1;\nret;\n")                                          \
    ".file 1 \"shape.cu\"\n"
#define LINE(n) ".loc 1 " #n " 0\n"

/* ---- structured ------------------------------------------------------------------------------ */

static uint32_t if_else(unsigned t, const uint32_t *in)
{
    return (in[t] & 1 ? in[t] * 3 : in[t] + 7) + 1;
}

static uint32_t nested(unsigned t, const uint32_t *in)
{
    uint32_t x = in[t];
    if (x & 1) {
        if (x & 2)
            x += 10;
        else
            x += 20;
        x *= 2;
    } else if (x & 4) {
        x += 30;
    }
    return x ^ 0x100;
}

static uint32_t counted_loop(unsigned t, const uint32_t *in)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < in[t]; i++) sum += i * i;
    return sum + 5;
}

static uint32_t nested_loops(unsigned t, const uint32_t *in)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < in[t] % 5; i++)
        for (uint32_t j = 0; j <= (in[t] + i) % 4; j++) sum += i + j;
    return sum;
}

static uint32_t break_continue(unsigned t, const uint32_t *in)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 20; i++) {
        if (i == in[t]) break;
        if ((i ^ in[t]) & 1) continue;
        sum += i;
    }
    return sum * 2;
}

static uint32_t if_ends_loop(unsigned t, const uint32_t *in)
{
    uint32_t sum = 0;
    for (uint32_t i = 1; i <= 6; i++) {
        sum += i;
        if (i < 6 && ((in[t] ^ i) & 1) == 0) sum += 100;
    }
    return sum;
}

static uint32_t early_exit(unsigned t, const uint32_t *in)
{
    return in[t] < 10 ? 0 : in[t] + lane(t); /* the others never store: the zero stays */
}

static uint32_t switch_(unsigned t, const uint32_t *in)
{
    static const uint32_t results[] = {100, 201, 302, 403};
    return in[t] < 4 ? results[in[t]] : 999;
}

/* ---- unstructured ---------------------------------------------------------------------------- */

/* (a && b) || c with jumps into the same two blocks. */
static uint32_t short_circuit(unsigned t, const uint32_t *in)
{
    uint32_t x = in[t];
    return (((x & 1) && (x & 2)) || (x & 4) ? 1000 : 2000) + x;
}

/* A loop that is entered at its head or in its middle. */
static uint32_t two_entries(unsigned t, const uint32_t *in)
{
    uint32_t x = in[t], sum = 0;
    bool skip = x & 1;
    for (uint32_t i = 0; i < 6; i++) {
        if (!skip) sum += 10;
        skip = false;
        sum += x;
    }
    return sum;
}

/* Exits from inside two loops to a shared end. */
static uint32_t shared_exit(unsigned t, const uint32_t *in)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 8; i++)
        for (uint32_t j = 0; j < 8; j++) {
            if (i * j == in[t]) return sum + 100000;
            sum += j;
        }
    return sum;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* clang-format off: the lines of PTX stand as they are executed */
static const struct shape shapes[] = {
    {"if and else",
     BODY("and.b32 %r3, %r0, 1;\nsetp.eq.u32 %p0, %r3, 0;\n@%p0 bra EVEN;\n" LINE(10) //
          "mul.lo.u32 %r1, %r0, 3;\n" LINE(1) "bra JOIN;\n" LINE(20)                  //
          "EVEN: add.u32 %r1, %r0, 7;\n" LINE(30)                                     //
          "JOIN: add.u32 %r1, %r1, 1;\n" LINE(1)),
     if_else, {{10, 2, 32}, {20, 2, 32}, {30, 2, 64}}},
    {"nested if",
     BODY("and.b32 %r3, %r0, 1;\nsetp.eq.u32 %p0, %r3, 0;\nand.b32 %r3, %r0, 2;\n"
          "setp.eq.u32 %p1, %r3, 0;\nand.b32 %r3, %r0, 4;\nsetp.eq.u32 %p2, %r3, 0;\n"
          "mov.u32 %r1, %r0;\n@%p0 bra EVEN;\n@%p1 bra LOW;\n" LINE(10) "add.u32 %r1, %r1, 10;\n"
          LINE(1) "bra BOTH;\nLOW: add.u32 %r1, %r1, 20;\n" LINE(20)
          "BOTH: shl.b32 %r1, %r1, 1;\n" LINE(1) "bra JOIN;\n"
          "EVEN: @%p2 bra JOIN;\nadd.u32 %r1, %r1, 30;\n" LINE(30)
          "JOIN: xor.b32 %r1, %r1, 256;\n" LINE(1)),
     nested, {{10, 2, 16}, {20, 2, 32}, {30, 2, 64}}},
    {"loop with its own number of rounds in each lane",
     BODY("mov.u32 %r1, 0;\nmov.u32 %r3, 0;\n"
          "HEAD: setp.ge.u32 %p0, %r3, %r0;\n@%p0 bra DONE;\n" LINE(10)
          "mad.lo.u32 %r1, %r3, %r3, %r1;\n" LINE(1) "add.u32 %r3, %r3, 1;\nbra HEAD;\n" LINE(20)
          "DONE: add.u32 %r1, %r1, 5;\n" LINE(1)),
     counted_loop, {{10, 62 + 63, 2016}, {20, 2, 64}}},
    {"loops in loops",
     BODY("mov.u32 %r1, 0;\nrem.u32 %r5, %r0, 5;\nmov.u32 %r3, 0;\n"
          "OUTER: setp.ge.u32 %p0, %r3, %r5;\n@%p0 bra DONE;\n"
          "add.u32 %r6, %r0, %r3;\nand.b32 %r6, %r6, 3;\nmov.u32 %r4, 0;\n"
          "INNER: add.u32 %r1, %r1, %r3;\nadd.u32 %r1, %r1, %r4;\nadd.u32 %r4, %r4, 1;\n"
          "setp.le.u32 %p1, %r4, %r6;\n@%p1 bra INNER;\n"
          "add.u32 %r3, %r3, 1;\nbra.uni OUTER;\n" LINE(20) "DONE: add.u32 %r1, %r1, 0;\n" LINE(1)),
     nested_loops, {{20, 2, 64}}},
    {"break and continue",
     BODY("mov.u32 %r1, 0;\nmov.u32 %r3, 0;\n"
          "HEAD: setp.eq.u32 %p0, %r3, %r0;\n@%p0 bra DONE;\n"
          "xor.b32 %r4, %r3, %r0;\nand.b32 %r4, %r4, 1;\nsetp.ne.u32 %p1, %r4, 0;\n@%p1 bra NEXT;\n"
          "add.u32 %r1, %r1, %r3;\n"
          "NEXT: add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p2, %r3, 20;\n@%p2 bra HEAD;\n" LINE(20)
          "DONE: shl.b32 %r1, %r1, 1;\n" LINE(1)),
     break_continue, {{20, 2, 64}}},
    {"an if at the end of a loop, which those who skip it leave backwards",
     BODY("mov.u32 %r1, 0;\nmov.u32 %r3, 1;\n" LINE(10) //
          "HEAD: add.u32 %r1, %r1, %r3;\n" LINE(1)      //
          "setp.ge.u32 %p0, %r3, 6;\n@%p0 bra DONE;\n"
          "xor.b32 %r4, %r3, %r0;\nand.b32 %r4, %r4, 1;\nadd.u32 %r3, %r3, 1;\n"
          "setp.ne.u32 %p1, %r4, 0;\n@%p1 bra HEAD;\n" LINE(20)
          "add.u32 %r1, %r1, 100;\n" LINE(1) "bra.uni HEAD;\n"
          "DONE: add.u32 %r1, %r1, 0;\n" LINE(1)),
     if_ends_loop, {{10, 2 * 6, 64 * 6}, {20, 2 * 5, 32 * 5}}},
    {"early return of some lanes",
     BODY("setp.lt.u32 %p0, %r0, 10;\n@%p0 ret;\n" LINE(10) "add.u32 %r1, %r0, %r2;\n" LINE(1)),
     early_exit, {{10, 2, 54}}},
    {"early exit in one of two branches",
     BODY("setp.lt.u32 %p0, %r0, 10;\n@!%p0 bra GO;\nexit;\n"
          "GO: add.u32 %r1, %r0, %r2;\n" LINE(10) "add.u32 %r1, %r1, 0;\n" LINE(1)),
     early_exit, {{10, 2, 54}}},
    {"switch by table (brx.idx)",
     BODY("min.u32 %r3, %r0, 4;\n"
          "TABLE: .branchtargets C0, C1, C2, C3, OTHER;\nbrx.idx %r3, TABLE;\n"
          "C0: mov.u32 %r1, 100;\nbra JOIN;\nC1: mov.u32 %r1, 201;\nbra JOIN;\n"
          "C2: mov.u32 %r1, 302;\nbra JOIN;\nC3: mov.u32 %r1, 403;\nbra JOIN;\n"
          "OTHER: mov.u32 %r1, 999;\n" LINE(20) "JOIN: add.u32 %r1, %r1, 0;\n" LINE(1)),
     switch_, {{20, 2, 64}}},
    {"switch by comparisons",
     BODY("setp.gt.u32 %p0, %r0, 1;\n@%p0 bra HIGH;\nsetp.eq.u32 %p1, %r0, 0;\n@%p1 bra C0;\n"
          "mov.u32 %r1, 201;\nbra JOIN;\nC0: mov.u32 %r1, 100;\nbra JOIN;\n"
          "HIGH: setp.eq.u32 %p2, %r0, 2;\n@%p2 bra C2;\nsetp.eq.u32 %p3, %r0, 3;\n@%p3 bra C3;\n"
          "mov.u32 %r1, 999;\nbra JOIN;\nC2: mov.u32 %r1, 302;\nbra JOIN;\n"
          "C3: mov.u32 %r1, 403;\n" LINE(20) "JOIN: add.u32 %r1, %r1, 0;\n" LINE(1)),
     switch_, {{20, 2, 64}}},
    {"conditions that share their targets",
     BODY("and.b32 %r3, %r0, 1;\nsetp.eq.u32 %p0, %r3, 0;\nand.b32 %r3, %r0, 2;\n"
          "setp.ne.u32 %p1, %r3, 0;\nand.b32 %r3, %r0, 4;\nsetp.eq.u32 %p2, %r3, 0;\n"
          "@%p0 bra TEST;\n@%p1 bra YES;\nTEST: @%p2 bra NO;\n"
          "YES: mov.u32 %r1, 1000;\nbra JOIN;\nNO: mov.u32 %r1, 2000;\n" LINE(20)
          "JOIN: add.u32 %r1, %r1, %r0;\n" LINE(1)),
     short_circuit, {{20, 2, 64}}},
    {"loop with two entries",
     BODY("mov.u32 %r1, 0;\nmov.u32 %r3, 0;\nand.b32 %r4, %r0, 1;\nsetp.ne.u32 %p0, %r4, 0;\n"
          "@%p0 bra MIDDLE;\nHEAD: add.u32 %r1, %r1, 10;\nMIDDLE: add.u32 %r1, %r1, %r0;\n"
          "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 6;\n@%p1 bra HEAD;\n" LINE(20)
          "add.u32 %r1, %r1, 0;\n" LINE(1)),
     two_entries, {{20, 2, 64}}},
    {"exit from two loops to a shared end",
     BODY("mov.u32 %r1, 0;\nmov.u32 %r3, 0;\n"
          "OUTER: mov.u32 %r4, 0;\n"
          "INNER: mul.lo.u32 %r5, %r3, %r4;\nsetp.eq.u32 %p0, %r5, %r0;\n@%p0 bra FOUND;\n"
          "add.u32 %r1, %r1, %r4;\nadd.u32 %r4, %r4, 1;\n"
          "setp.lt.u32 %p1, %r4, 8;\n@%p1 bra INNER;\n"
          "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p2, %r3, 8;\n@%p2 bra OUTER;\nbra END;\n"
          "FOUND: add.u32 %r1, %r1, 100000;\n" LINE(20) "END: add.u32 %r1, %r1, 0;\n" LINE(1)),
     shared_exit, {{20, 2, 64}}},
};
/* clang-format on */

static const struct emu_line *find_line(const struct emu_launch_record *record, unsigned line)
{
    for (size_t i = 0; i < record->line_count; i++)
        if (record->lines[i].line == line) return &record->lines[i];
    return NULL;
}

Test(emu_divergence, shapes)
{
    struct emu *emu = open_emu();
    uint32_t in[THREADS], out[THREADS];
    for (unsigned t = 0; t < THREADS; t++) in[t] = (t * 37 + 5) % THREADS; /* each value once */

    emu_count(emu, true);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const struct shape *s = &shapes[i];
        emu_forget(emu);
        run_kernel(emu, s->ptx, THREADS, THREADS, out, in);
        for (unsigned t = 0; t < THREADS; t++)
            cr_expect(out[t] == s->want(t, in), "%s: thread %u, in %u: got %u, want %u", s->name, t,
                      in[t], out[t], s->want(t, in));

        cr_assert(emu_records(emu) == 1);
        for (const struct mark *m = s->marks; m->line; m++) {
            const struct emu_line *line = find_line(emu_record(emu, 0), m->line);
            cr_assert(line, "%s: nothing counted for line %u", s->name, m->line);
            cr_expect(line->counts.instructions == m->instructions &&
                          line->counts.lanes == m->lanes,
                      "%s: line %u: %llu instructions by %llu lanes, want %llu by %llu", s->name,
                      m->line, (unsigned long long)line->counts.instructions,
                      (unsigned long long)line->counts.lanes, (unsigned long long)m->instructions,
                      (unsigned long long)m->lanes);
        }
    }
    emu_close(emu);
}

/* A block whose last warp is not full. */
Test(emu_divergence, half_empty_warp)
{
    struct emu *emu = open_emu();
    uint32_t in[45], out[45];
    for (unsigned t = 0; t < 45; t++) in[t] = t;
    emu_count(emu, true);
    run_kernel(emu, BODY(LINE(10) "activemask.b32 %r1;\n" LINE(1)), 45, 45, out, in);
    for (unsigned t = 0; t < 45; t++)
        cr_expect(out[t] == (t < 32 ? 0xffffffff : 0x1fff), "thread %u: 0x%x", t, out[t]);
    const struct emu_line *line = find_line(emu_record(emu, 0), 10);
    cr_assert(line);
    cr_expect(line->counts.instructions == 2 && line->counts.lanes == 45);
    emu_close(emu);
}

/* ---- progress of lanes that wait for lanes of their own warp --------------------------------- */

/* p_in is the same for the whole grid here: a lock at [%l0], and what it protects at [%l0+4]. */
#define LOCK_KERNEL(text)                                                                          \
    PTX_KERNEL("k", "ld.param.u64 %l0, [p_in];\n" text "st.global.u32 [%out], %r1;\nret;\n")

/* Reads the counter, adds one and writes it back in two steps: lost updates would show. */
#define CRITICAL                                                                                   \
    "ld.volatile.global.u32 %r1, [%l0+4];\nadd.u32 %r5, %r1, 1;\n"                                 \
    "st.volatile.global.u32 [%l0+4], %r5;\nmembar.gl;\natom.global.exch.b32 %r6, [%l0], 0;\n"

static void check_lock(const char *name, const char *ptx)
{
    enum { BLOCKS = 4, BLOCK = 64, ALL = BLOCKS * BLOCK };
    struct emu *emu = open_emu();
    struct emu_kernel *kernel = load_kernel(emu, ptx, "k");
    emu_addr out = device_copy(emu, NULL, ALL * 4), lock = device_copy(emu, NULL, 8);
    cr_assert(!launch(emu, kernel, BLOCKS, BLOCK, 0, 2, (uint64_t[]){out, lock}), "%s: %s", name,
              emu_message(emu));
    uint32_t tickets[ALL], words[2];
    cr_assert(!emu_read(emu, tickets, out, sizeof tickets));
    cr_assert(!emu_read(emu, words, lock, sizeof words));
    bool seen[ALL] = {false};
    for (unsigned t = 0; t < ALL; t++) {
        cr_assert(tickets[t] < ALL && !seen[tickets[t]], "%s: ticket %u twice", name, tickets[t]);
        seen[tickets[t]] = true;
    }
    cr_expect(words[0] == 0 && words[1] == ALL, "%s: lock %u, counter %u", name, words[0],
              words[1]);
    emu_close(emu);
}

Test(emu_divergence, spin_lock_with_the_critical_section_inside, .timeout = 20)
{
    check_lock("inside", LOCK_KERNEL("TRY: atom.global.cas.b32 %r4, [%l0], 0, 1;\n"
                                     "setp.ne.u32 %p0, %r4, 0;\n@%p0 bra AGAIN;\n" CRITICAL
                                     "mov.u32 %r7, 1;\nbra CHECK;\nAGAIN: mov.u32 %r7, 0;\n"
                                     "CHECK: setp.eq.u32 %p1, %r7, 0;\n@%p1 bra TRY;\n"));
}

/* while (atomicCAS(lock, 0, 1)); — the lane that leaves the loop holds the lock that the others
 * spin for, so reconvergence must not make it wait for them. */
Test(emu_divergence, spin_lock_with_the_critical_section_after, .timeout = 20)
{
    check_lock("after", LOCK_KERNEL("TRY: atom.global.cas.b32 %r4, [%l0], 0, 1;\n"
                                    "setp.ne.u32 %p0, %r4, 0;\n@%p0 bra TRY;\n" CRITICAL));
}

/* Lane 0 waits in one branch for a store of lane 1 in the other. Either branch may be executed
 * first. */
Test(emu_divergence, one_branch_waits_for_the_other, .timeout = 20)
{
    static const char *const kernels[] = {
        PTX_KERNEL("k", "ld.param.u64 %l0, [p_in];\nmov.u32 %r2, %laneid;\nmov.u32 %r1, 7;\n"
                        "setp.ne.u32 %p0, %r2, 0;\n@%p0 bra OTHER;\n"
                        "WAIT: ld.volatile.global.u32 %r3, [%l0];\nsetp.eq.u32 %p1, %r3, 0;\n"
                        "@%p1 bra WAIT;\nld.volatile.global.u32 %r1, [%l0+4];\nbra JOIN;\n"
                        "OTHER: setp.ne.u32 %p2, %r2, 1;\n@%p2 bra JOIN;\n"
                        "st.volatile.global.u32 [%l0+4], 1234;\nst.volatile.global.u32 [%l0], 1;\n"
                        "JOIN: st.global.u32 [%out], %r1;\nret;\n"),
        PTX_KERNEL("k", "ld.param.u64 %l0, [p_in];\nmov.u32 %r2, %laneid;\nmov.u32 %r1, 7;\n"
                        "setp.eq.u32 %p0, %r2, 0;\n@%p0 bra WAIT;\n"
                        "setp.ne.u32 %p2, %r2, 1;\n@%p2 bra JOIN;\n"
                        "st.volatile.global.u32 [%l0+4], 1234;\nst.volatile.global.u32 [%l0], 1;\n"
                        "bra JOIN;\n"
                        "WAIT: ld.volatile.global.u32 %r3, [%l0];\nsetp.eq.u32 %p1, %r3, 0;\n"
                        "@%p1 bra WAIT;\nld.volatile.global.u32 %r1, [%l0+4];\n"
                        "JOIN: st.global.u32 [%out], %r1;\nret;\n"),
    };
    for (size_t i = 0; i < 2; i++) {
        struct emu *emu = open_emu();
        uint32_t in[LANES] = {0}, out[LANES];
        run_kernel(emu, kernels[i], LANES, LANES, out, in);
        cr_expect(out[0] == 1234, "kernel %zu: lane 0 got %u", i, out[0]);
        cr_expect(out[1] == 7 && out[31] == 7);
        emu_close(emu);
    }
}

/* ---- warp-wide instructions with member masks ------------------------------------------------ */

/* Each half of the warp exchanges within itself, in its own branch. */
static uint32_t halves(unsigned t, const uint32_t *in)
{
    unsigned partner = (t & ~15u) + (lane(t) < 16 ? 15 - (t & 15) : ((t & 15) ^ 1));
    return in[partner];
}

static uint32_t rounds_then_all(unsigned t, const uint32_t *in)
{
    (void)in;
    unsigned base = t - lane(t);
    uint32_t partner = (base + (lane(t) ^ 1)) % THREADS;
    return partner * 3 % 7 + 1;
}

static uint32_t ballot(unsigned t, const uint32_t *in)
{
    uint32_t mask = 0;
    for (unsigned i = 0; i < LANES; i++) {
        unsigned other = t - lane(t) + i;
        if ((i & 1) == (lane(t) & 1) && in[other] > 30) mask |= 1u << i;
    }
    return mask;
}

static uint32_t full(unsigned t, const uint32_t *in)
{
    (void)t, (void)in;
    return 0xffffffff;
}

static uint32_t parity(unsigned t, const uint32_t *in)
{
    (void)in;
    return lane(t) & 1 ? 0xaaaaaaaa : 0x55555555;
}

static uint32_t neighbour(unsigned t, const uint32_t *in) { return in[t ^ 1] + 1; }

static uint32_t rotated(unsigned t, const uint32_t *in)
{
    return lane(t) < 24 ? in[t - lane(t) + (lane(t) + 1) % 24] : 0;
}

static const struct shape exchanges[] = {
    {"halves shuffle in different branches",
     BODY("setp.lt.u32 %p0, %r2, 16;\n@%p0 bra LOW;\n"
          "shfl.sync.bfly.b32 %r1, %r0, 1, 31, 0xffff0000;\nbra JOIN;\n"
          "LOW: shfl.sync.bfly.b32 %r1, %r0, 15, 31, 0x0000ffff;\nJOIN:\n"),
     halves,
     {{0, 0, 0}}},
    {"lanes come to the shuffle after different numbers of rounds",
     BODY("mov.u32 %r5, %tid.x;\nmul.lo.u32 %r5, %r5, 3;\nrem.u32 %r5, %r5, 7;\nmov.u32 %r3, 0;\n"
          "mov.u32 %r4, 0;\nHEAD: add.u32 %r4, %r4, 1;\nadd.u32 %r3, %r3, 1;\n"
          "setp.le.u32 %p0, %r3, %r5;\n@%p0 bra HEAD;\nbar.warp.sync 0xffffffff;\n"
          "shfl.sync.bfly.b32 %r1, %r4, 1, 31, 0xffffffff;\n"),
     rounds_then_all,
     {{0, 0, 0}}},
    {"a vote in each branch",
     BODY("setp.gt.u32 %p1, %r0, 30;\nand.b32 %r3, %r2, 1;\nsetp.eq.u32 %p0, %r3, 0;\n"
          "@%p0 bra EVEN;\nvote.sync.ballot.b32 %r1, %p1, 0xaaaaaaaa;\nbra JOIN;\n"
          "EVEN: vote.sync.ballot.b32 %r1, %p1, 0x55555555;\nJOIN:\n"),
     ballot,
     {{0, 0, 0}}},
    {"all lanes are active after the branches have met",
     BODY("and.b32 %r3, %r0, 3;\nsetp.eq.u32 %p0, %r3, 0;\n@%p0 bra SOME;\n"
          "add.u32 %r4, %r0, 1;\nbra JOIN;\nSOME: add.u32 %r4, %r0, 2;\n"
          "JOIN: bar.warp.sync 0xffffffff;\nactivemask.b32 %r1;\n"),
     full,
     {{0, 0, 0}}},
    {"only its own lanes are active in a branch",
     BODY("and.b32 %r3, %r2, 1;\nsetp.eq.u32 %p0, %r3, 0;\n@%p0 bra EVEN;\n"
          "activemask.b32 %r1;\nbra JOIN;\nEVEN: activemask.b32 %r1;\nJOIN:\n"),
     parity,
     {{0, 0, 0}}},
    {"a warp barrier in two places orders memory",
     PTX_KERNEL("k",
                ".shared .align 4 .b8 s[256];\nld.global.u32 %r0, [%in];\nmov.u32 %r2, %tid.x;\n"
                "shl.b32 %r3, %r2, 2;\nmov.u32 %r4, s;\nadd.u32 %r3, %r3, %r4;\n"
                "st.shared.u32 [%r3], %r0;\nand.b32 %r5, %r2, 1;\nsetp.eq.u32 %p0, %r5, 0;\n"
                "@%p0 bra EVEN;\nbar.warp.sync 0xffffffff;\nld.shared.u32 %r1, [%r3+-4];\n"
                "bra JOIN;\nEVEN: bar.warp.sync 0xffffffff;\nld.shared.u32 %r1, [%r3+4];\n"
                "JOIN: add.u32 %r1, %r1, 1;\nst.global.u32 [%out], %r1;\nret;\n"),
     neighbour,
     {{0, 0, 0}}},
    {"a mask may name lanes that have exited",
     BODY("mov.u32 %r1, 0;\nsetp.ge.u32 %p0, %r2, 24;\n@%p0 bra OUT;\n"
          "add.u32 %r3, %r2, 1;\nrem.u32 %r3, %r3, 24;\nbar.warp.sync 0xffffffff;\n"
          "shfl.sync.idx.b32 %r1, %r0, %r3, 31, 0xffffffff;\nst.global.u32 [%out], %r1;\nret;\n"
          "OUT: exit;\n"),
     rotated,
     {{0, 0, 0}}},
};

Test(emu_divergence, member_masks, .timeout = 20)
{
    struct emu *emu = open_emu();
    uint32_t in[THREADS], out[THREADS];
    for (unsigned t = 0; t < THREADS; t++) in[t] = (t * 37 + 5) % THREADS;
    for (size_t i = 0; i < sizeof exchanges / sizeof *exchanges; i++) {
        const struct shape *s = &exchanges[i];
        run_kernel(emu, s->ptx, THREADS, THREADS, out, in);
        for (unsigned t = 0; t < THREADS; t++)
            cr_expect(out[t] == s->want(t, in), "%s: thread %u: got 0x%x, want 0x%x", s->name, t,
                      out[t], s->want(t, in));
    }
    emu_close(emu);
}
