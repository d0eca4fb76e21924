/*
 * test_ptx_schedules.c — the kernels of the pairs in cases/checks, in random order; grids on
 * several host threads; random programs of jumps.
 */
#define _GNU_SOURCE
#include "common/tools/emu/machine/device.h"
#include "common/tools/emu/ptx/binary.h"
#include "tests/cases/ptx/ptx_run.h"
#include "tests/support/command.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the line of a pair ---------------------------------------------------------------------- */

/* Reads an argument and moves behind its comma; false if it is of another kind. */
static bool read_argument(struct pair *pair, char **at)
{
    unsigned n = pair->arguments++;
    cr_assert(n < PAIR_ARGUMENTS, "%s has too many arguments", pair->name);
    *at += strspn(*at, " \n");
    pair->argument[n].has_numbers = strncmp(*at, "numbers<", strlen("numbers<")) == 0;
    pair->argument[n].is_memory =
        pair->argument[n].has_numbers || strncmp(*at, "zeros<", strlen("zeros<")) == 0;
    if (pair->argument[n].is_memory)
        *at = strchr(*at, ')') + 1;
    else
        pair->argument[n].value = (int)strtol(*at, at, 10);
    if (**at == ',') ++*at;
    return **at == ' ' || **at == '\n' || **at == ')';
}

bool pair_read(struct pair *pair, const char *name)
{
    char text[1 << 14], *line;
    *pair = (struct pair){.name = name, .text = find_pair(name)};
    FILE *file = open_pair(&pair->text);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    if ((line = strstr(text, "\n\n"))) *line = '\0';
    if (!(line = strstr(text, "\nPAIR(")) && !(line = strstr(text, "\nCOOPERATIVE("))) return false;
    int begin = 0;
    sscanf(line, "\n%*[A-Z](%59[a-z_]<right>, %u, %u,%n", pair->kernel, &pair->blocks,
           &pair->threads, &begin);
    for (line += begin; begin && *line && *line != ')';)
        if (!read_argument(pair, &line)) return false;
    return begin > 0;
}

/* ---- its kernel ------------------------------------------------------------------------------ */

/* The text of the container in a program that has PTX; nvcc puts empty ones before it. */
static char *ptx_of(const char *catalogue)
{
    struct elf elf;
    struct fatbin_ptx ptx;
    char path[200], message[300];
    size_t left;
    snprintf(path, sizeof path, "%s/pairs/%s", ORDINARY_BUILD, catalogue);
    cr_assert(elf_open(path, &elf) == RUNTIME_NONE);
    const char *at = elf_section(&elf, ".nv_fatbin", &left);
    while (at && fatbin_extract(at, left, 90, &ptx, message, sizeof message)) {
        size_t bytes = (fatbin_size(at, left) + 7) / 8 * 8;
        cr_assert(bytes > 0 && bytes < left, "%s", message);
        at += bytes;
        left -= bytes;
    }
    elf_close(&elf);
    return ptx.text;
}

/* It is kept for the next pair: to decompress it takes longer than to run a pair. */
static const char *ptx_of_all(const char *catalogue)
{
    static char kept[30], *text;
    if (strcmp(kept, catalogue) == 0) return text;
    free(text);
    snprintf(kept, sizeof kept, "%s", catalogue);
    return text = ptx_of(catalogue);
}

/* The mangled name, up to the template's argument. */
static void name_of(const struct pair *pair, bool right, char *name, size_t size)
{
    snprintf(name, size, ".entry _Z%zu%sILb%dE", strlen(pair->kernel), pair->kernel, right);
}

/* The brace that ends the first body in a text. */
static const char *end_of_body(const char *text)
{
    const char *at = strchr(text, '{');
    for (int depth = 1; depth > 0; depth += *at == '{' ? 1 : -1) at = strpbrk(at + 1, "{}");
    return at;
}

/* Copies a text without the kernels, but for the one whose line has this beginning, and writes that
 * kernel's name. To parse one kernel is much quicker. */
static void copy_one(char *to, const char *ptx, const char *beginning, char *kernel, size_t size)
{
    const char *entry = strstr(ptx, ".entry "), *end;
    kernel[0] = '\0';
    for (const char *from = ptx; *from; from = end) {
        end = strchr(from, '\n') + 1;
        if (entry && entry < end) {
            bool wanted = strncmp(entry, beginning, strlen(beginning)) == 0;
            end = strchr(end_of_body(entry), '\n') + 1;
            entry += strlen(".entry ");
            if (wanted) snprintf(kernel, size, "%.*s", (int)strcspn(entry, "("), entry);
            entry = strstr(end, ".entry ");
            if (!wanted) continue;
        }
        memcpy(to, from, (size_t)(end - from));
        to += end - from;
    }
    *to = '\0';
}

/* The text of one kernel, which is kept until another one is asked for, and the kernel's name. */
static const char *text_of(const struct pair *pair, bool right, const char **kernel)
{
    static char kept[200], name[300], *text;
    char beginning[sizeof kept];
    name_of(pair, right, beginning, sizeof beginning);
    *kernel = name;
    if (strcmp(kept, beginning) == 0) return text;
    const char *all = ptx_of_all(pair->text.catalogue);
    free(text);
    text = malloc(strlen(all) + 1);
    cr_assert(text);
    copy_one(text, all, beginning, name, sizeof name);
    cr_assert(name[0], "build/pairs/%s has no %s", pair->text.catalogue, beginning);
    memcpy(kept, beginning, sizeof kept);
    return text;
}

/* ---- its launch ------------------------------------------------------------------------------ */

int pair_result(struct emu *emu, const struct pair *pair, bool right,
                int memory[PAIR_ARGUMENTS][PAIR_WORDS])
{
    const char *name, *text = text_of(pair, right, &name);
    static int numbers[PAIR_WORDS];
    for (int i = 0; i < PAIR_WORDS; i++) numbers[i] = i;
    uint64_t values[PAIR_ARGUMENTS];
    void *pointers[PAIR_ARGUMENTS];
    struct emu_kernel *kernel = load_kernel(emu, text, name);
    for (unsigned i = 0; i < pair->arguments; i++) {
        values[i] = (uint64_t)pair->argument[i].value;
        if (pair->argument[i].is_memory)
            values[i] =
                device_copy(emu, pair->argument[i].has_numbers ? numbers : NULL, sizeof numbers);
        pointers[i] = &values[i];
    }
    int e = emu_launch(emu, kernel, (struct emu_dim){pair->blocks, 1, 1},
                       (struct emu_dim){pair->threads, 1, 1}, 0, pointers, true);
    for (unsigned i = 0; i < pair->arguments && !e && memory; i++)
        if (pair->argument[i].is_memory)
            cr_assert(!emu_read(emu, memory[i], values[i], sizeof numbers));
    return e;
}

int pair_run(struct emu *emu, const struct pair *pair, bool right)
{
    return pair_result(emu, pair, right, NULL);
}

/* ---- grids on several host threads ----------------------------------------------------------- */

/*
 * Grids on several host threads, which wait for the next launch and do not exist after
 * fork() in the child.
 */

enum { BLOCK = 32, MOST = 64 * BLOCK };

static struct emu *open_with_threads(unsigned threads)
{
    struct emu_config config = {.threads = threads, .memory = 1 << 20};
    return open_emu_with(&config);
}

/* out = 2 in + 1, by this many threads */
static void expect_right(struct emu *emu, unsigned threads)
{
    static uint32_t in[MOST], out[MOST];
    char *ptx = ptx_kernel("ld.global.u32 %%r1, [%%in];\nadd.u32 %%r1, %%r1, %%r1;\n"
                           "add.u32 %%r1, %%r1, 1;\nst.global.u32 [%%out], %%r1;\nret;");
    for (unsigned i = 0; i < threads; i++) in[i] = i ^ threads;
    run_kernel(emu, ptx, threads, BLOCK, out, in);
    for (unsigned i = 0; i < threads; i++)
        cr_assert(out[i] == 2 * in[i] + 1, "thread %u of %u: %u", i, threads, out[i]);
    free(ptx);
}

Test(emu_pool, launch_after_launch, .timeout = 60)
{
    struct emu *emu = open_with_threads(5);
    for (unsigned i = 0; i < 200; i++) expect_right(emu, (1 + i % 64) * BLOCK);
    emu_close(emu);
}

static unsigned threads_of(struct emu_config config)
{
    config.memory = 1 << 20;
    struct emu *emu = open_emu_with(&config);
    unsigned threads = emu->threads;
    emu_close(emu);
    return threads;
}

/* EMU_THREADS and EMU_MEMORY are not divided. */
Test(emu_pool, processes_share_the_cores)
{
    unsigned cores = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    cr_assert_eq(threads_of((struct emu_config){0}), cores);
    cr_assert_eq(threads_of((struct emu_config){.processes = 1}), cores);
    cr_assert_eq(threads_of((struct emu_config){.processes = cores}), 1);
    cr_assert_eq(threads_of((struct emu_config){.processes = cores + 1}), 1);
    cr_assert_eq(threads_of((struct emu_config){.processes = cores, .threads = 3}), 3);
}

/* Host threads that have never had work, and a device that is closed right after it was opened. */
Test(emu_pool, idle_threads_end, .timeout = 60)
{
    for (unsigned threads = 1; threads < 6; threads++) {
        struct emu *emu = open_with_threads(threads);
        expect_right(emu, threads * BLOCK);
        emu_close(emu);
    }
}

Test(emu_pool, a_child_process_runs_grids_alone, .timeout = 60)
{
    int status;
    struct emu *emu = open_with_threads(4);
    expect_right(emu, MOST);
    pid_t child = fork();
    cr_assert(child >= 0);
    if (child == 0) {
        expect_right(emu, MOST);
        emu_close(emu);
        _exit(0);
    }
    cr_assert(waitpid(child, &status, 0) == child);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    expect_right(emu, MOST);
    emu_close(emu);
}

/* ---- random scheduling ----------------------------------------------------------------------- */

/*
 * Random scheduling: a seed repeats a run, shows the effects of races, and does not
 * change the results of kernels without races.
 */

enum { SEEDS = 40 };
typedef int memory[PAIR_ARGUMENTS][PAIR_WORDS];

static struct pair read_pair(const char *name)
{
    struct pair pair;
    cr_assert(pair_read(&pair, name), "%s", name);
    return pair;
}

static void run_pair_kernel(const char *name, bool right, uint64_t seed, memory result)
{
    struct pair pair = read_pair(name);
    struct emu *emu =
        open_emu_with(&(struct emu_config){.memory = 64 << 20, .threads = 1, .schedule = seed});
    int e = pair_result(emu, &pair, right, result);
    cr_assert(!e, "%s: seed %llu: error %d: %s", name, (unsigned long long)seed, e,
              emu_message(emu));
    emu_close(emu);
}

static char *trace_of(const char *name, bool right, uint64_t seed)
{
    char *text;
    size_t size;
    struct pair pair = read_pair(name);
    FILE *trace = open_memstream(&text, &size);
    struct emu *emu =
        open_emu_with(&(struct emu_config){.memory = 64 << 20, .trace = trace, .schedule = seed});
    cr_assert(!pair_run(emu, &pair, right), "%s", emu_message(emu));
    emu_close(emu);
    fclose(trace);
    return text;
}

Test(schedule, a_seed_repeats_every_access, .timeout = 30)
{
    static const struct {
        const char *name;
        bool right;
    } kernels[] = {
        {"race-scan", true}, {"race-scan", false}, {"race-blocks-sum", false}, {"race-lock", true}};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        char *first = trace_of(kernels[i].name, kernels[i].right, 7),
             *again = trace_of(kernels[i].name, kernels[i].right, 7),
             *other = trace_of(kernels[i].name, kernels[i].right, 8);
        cr_expect(!strcmp(first, again), "%s: seed 7 does not repeat", kernels[i].name);
        cr_expect(strcmp(first, other), "%s: seeds 7 and 8 do the same", kernels[i].name);
        free(first), free(again), free(other);
    }
}

/* Kernels with races that are right in the emulator's usual order by chance, or because lanes run
 * in lockstep. */
Test(schedule, some_seed_shows_a_race, .timeout = 60)
{
    static const char *const wrong[] = {
        "race-scan",          "race-warp",      "race-warp-values",
        "race-loop-warp",     "race-up-sweep",  "race-blocks-neighbour",
        "race-blocks-sum",    "race-bytes",     "race-tile-sum",
        "race-named",         "race-flag-load", "race-named-full",
        "race-histogram-zero"};
    static memory want, got;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        unsigned differ = 0;
        run_pair_kernel(wrong[i], false, 1, want);
        for (uint64_t seed = 2; seed <= SEEDS; seed++) {
            run_pair_kernel(wrong[i], false, seed, got);
            differ += memcmp(want, got, sizeof want) != 0;
        }
        cr_expect(differ, "%s: all of %d seeds give one result", wrong[i], SEEDS);
    }
}

Test(schedule, right_kernels_stay_right_slow, .timeout = 60)
{
    static const char *const right[] = {
        "race-warp-values", "race-loop-warp",      "race-tile-sum", "race-scan",
        "race-up-sweep",    "race-histogram-zero", "race-named",    "race-named-full",
        "race-flag-shared", "race-blocks-sum",     "race-chain",    "race-flag-relaxed",
        "race-last-inc",    "race-grid-fences",    "race-lock",     "race-look-back-warp",
        "race-chain-last",  "race-bytes"};
    static memory want, got;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        run_pair_kernel(right[i], true, 0, want);
        for (uint64_t seed = 1; seed <= SEEDS / 2; seed++) {
            run_pair_kernel(right[i], true, seed, got);
            cr_expect(!memcmp(want, got, sizeof want), "%s: seed %llu", right[i],
                      (unsigned long long)seed);
        }
    }
}

/* ---- random programs of jumps, most of which no compiler would write ------------------------- */

/*
 * A program consists of a few basic blocks. Each computes, uses up fuel and jumps to one of two
 * blocks, chosen by what the lane has computed. A C loop runs the program for one lane at a time,
 * the emulator for the whole warp.
 */

enum { RANDOM_PROGRAMS = 400, MAX_BLOCKS = 10, TWO_WARPS = 64, FUEL = 60 };

struct jump_block {
    uint32_t factor, addend, mask; /* x = x * factor + addend; jump to `then` if !(x & mask) */
    unsigned then, otherwise;      /* block numbers; the program's number of blocks means the end */
};

struct jumps {
    unsigned blocks;
    struct jump_block block[MAX_BLOCKS];
};

static void make_program(struct jumps *p, uint64_t *seed)
{
    p->blocks = 2 + (unsigned)(next_random(seed) % (MAX_BLOCKS - 1));
    for (unsigned b = 0; b < p->blocks; b++) {
        uint64_t random = next_random(seed);
        p->block[b] = (struct jump_block){
            .factor = (uint32_t)random | 1,
            .addend = (uint32_t)(random >> 32),
            .mask = 0x10000u << random % 3 * 4, /* about one half of the lanes each way */
            .then = (unsigned)(next_random(seed) % (p->blocks + 1)),
            .otherwise = (unsigned)(next_random(seed) % (p->blocks + 1)),
        };
    }
}

static uint32_t run_lane(const struct jumps *p, uint32_t x)
{
    unsigned at = 0;
    for (int fuel = FUEL; fuel > 0 && at < p->blocks; fuel--) {
        const struct jump_block *b = &p->block[at];
        x = x * b->factor + b->addend;
        at = x & b->mask ? b->otherwise : b->then;
    }
    return x;
}

/* The blocks in order, so that most jumps go to the next one or over a few. At the end all lanes of
 * the warp must converge: the vote counts them. */
static char *program_text(const struct jumps *p)
{
    char *body;
    size_t size;
    FILE *f = open_memstream(&body, &size);
    cr_assert(f);
    fprintf(f, "ld.global.u32 %%r0, [%%in];\nmov.u32 %%r1, %d;\n", FUEL);
    for (unsigned b = 0; b < p->blocks; b++) {
        const struct jump_block *k = &p->block[b];
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
    for (int n = 0; n < RANDOM_PROGRAMS; n++) {
        struct jumps program;
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
