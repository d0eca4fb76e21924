/*
 * compare.c — runs random kernels from the PTX of two compilers, on the same memory:
 *
 *     compare PREFIX...
 *
 * PREFIX stands before the names of three files: what tests/cc/random_kernels.py has printed
 * (.cu), and what the compilers made of it (.nvcc.ptx, .own.ptx). A line says what differs, and the
 * last one what was found altogether. The exit code is 1 if a result differs in a bit, if a kernel
 * cannot be run, or if a checker finds something.
 */
#include "common/labs/run_case.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As in random_kernels.py: words that a thread owns, and words of a table. */
enum { OWN = 4, TABLE = 1024, THREADS = 3 * 128, MEMORY = 16 << 20, PATH = 4096 };
enum { INTS, FLOATS, GIVEN, REALS, BUFFERS };
static const size_t words[BUFFERS] = {OWN * THREADS, OWN *THREADS, TABLE, TABLE};
static const uint64_t instruction_limit = 1 << 24; /* of a kernel: its loops end long before */

/* How a kernel is launched. */
struct launch {
    char name[EMU_NAME_SIZE];
    unsigned blocks, threads, dynamic;
    int n, is_redundant, has_constant_loop;
};

/* The kernels of one compiler on a device. */
struct side {
    const char *compiler;
    struct lab_ptx ptx;
    struct emu *emu;
    struct emu_module *module;
    emu_addr address[BUFFERS];
    uint32_t out[2][OWN * THREADS];
    struct emu_counts counts;
};

/* What is compared of the counters, by groups that a line of the output names. */
enum { SHARED, GLOBAL, LOCAL, ADDITIONS, BARRIERS, GROUPS };
static const char *const group_names[GROUPS] = {"shared", "global", "local", "additions",
                                                "barriers"};

struct totals {
    unsigned kernels, wrong, equal, plain, plain_equal, loops, loops_equal, differing[GROUPS];
};

/* ---- a device -------------------------------------------------------------------------------- */

/* Words of a table: integers below TABLE, or reals of which most are no sums of few powers of 2. */
static void fill(uint32_t *to, size_t count, bool is_real)
{
    uint32_t state = 1;
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525 + 1013904223; /* Numerical Recipes' generator */
        float real = ((float)(state >> 16 & (TABLE - 1)) - TABLE / 2) / 300.0f;
        if (is_real)
            memcpy(&to[i], &real, sizeof real);
        else
            to[i] = state >> 16 & (TABLE - 1);
    }
}

static int write_buffers(struct side *s)
{
    static uint32_t values[OWN * THREADS];
    int error = 0;
    for (int i = 0; !error && i < BUFFERS; i++) {
        fill(values, words[i], i == FLOATS || i == REALS);
        error = emu_write(s->emu, s->address[i], values, words[i] * sizeof *values);
    }
    return error;
}

static bool open_side(struct side *s, const char *prefix)
{
    char path[PATH], why[PATH];
    struct fault fault = {0};
    struct emu_config config = {.threads = 1,
                                .memory = MEMORY,
                                .counters = true,
                                .checks = EMU_CHECK_ALL,
                                .instruction_limit = instruction_limit};
    snprintf(path, sizeof path, "%s.%s.ptx", prefix, s->compiler);
    if (ptx_read(path, &s->ptx, &fault)) return fault_say(&fault), false;
    s->emu = emu_open(&config, why, sizeof why);
    if (!s->emu) return fprintf(stderr, "compare: %s\n", why), false;
    int error = emu_load(s->emu, s->ptx.text, s->ptx.length, path, &s->module);
    for (int i = 0; !error && i < BUFFERS; i++)
        error = emu_alloc(s->emu, words[i] * sizeof(uint32_t), &s->address[i]);
    return !error || (printf("%s: %s\n", path, emu_message(s->emu)), false);
}

static void close_side(struct side *s)
{
    emu_close(s->emu);
    free(s->ptx.text);
    s->emu = NULL;
    s->ptx.text = NULL;
}

/* ---- a kernel -------------------------------------------------------------------------------- */

static bool say(const struct launch *l, const struct side *s, const char *what)
{
    printf("%s by %s: %.*s\n", l->name, s->compiler, (int)strcspn(what, "\n"), what);
    return false;
}

static int launch_kernel(struct side *s, const struct launch *l, struct emu_kernel *kernel)
{
    void *arguments[] = {&s->address[INTS], &s->address[FLOATS], &s->address[GIVEN],
                         &s->address[REALS], (void *)&l->n};
    int error = write_buffers(s);
    if (error) return error;
    return emu_launch(s->emu, kernel, (struct emu_dim){l->blocks, 1, 1},
                      (struct emu_dim){l->threads, 1, 1}, l->dynamic, arguments, false);
}

/* Runs a kernel and keeps its output and its counters. */
static bool run_kernel(struct side *s, const struct launch *l)
{
    char mangled[EMU_NAME_SIZE];
    struct emu_kernel *kernel;
    size_t at = 0, findings = emu_findings(s->emu);
    if (!next_entry(&s->ptx, &at, l->name, mangled)) return say(l, s, "there is no such kernel");
    int error = emu_kernel(s->emu, s->module, mangled, &kernel);
    if (!error) error = launch_kernel(s, l, kernel);
    for (int i = INTS; !error && i <= FLOATS; i++)
        error = emu_read(s->emu, s->out[i], s->address[i], sizeof s->out[i]);
    if (error) return say(l, s, emu_message(s->emu));
    s->counts = emu_record(s->emu, 0)->total;
    emu_forget(s->emu);
    if (emu_findings(s->emu) == findings) return true;
    return say(l, s, emu_finding(s->emu, findings)->head);
}

static bool are_results_equal(const struct launch *l, const struct side *a, const struct side *b)
{
    static const char *const names[] = {"ints", "floats"};
    for (int i = INTS; i <= FLOATS; i++)
        for (size_t k = 0; k < words[i]; k++)
            if (a->out[i][k] != b->out[i][k])
                return printf("%s: %s[%zu] is 0x%08" PRIx32 " by %s and 0x%08" PRIx32 " by %s\n",
                              l->name, names[i], k, a->out[i][k], a->compiler, b->out[i][k],
                              b->compiler),
                       false;
    return true;
}

/* ---- counters -------------------------------------------------------------------------------- */

static bool is_shared_equal(const struct emu_shared *a, const struct emu_shared *b)
{
    return a->instructions == b->instructions && a->wavefronts == b->wavefronts;
}

static bool is_global_equal(const struct emu_global *a, const struct emu_global *b)
{
    return a->requests == b->requests && a->sectors == b->sectors;
}

/* Sets which groups differ, and returns whether none does. */
static bool compare_counts(const struct emu_counts *a, const struct emu_counts *b,
                           bool differs[GROUPS])
{
    bool any = false;
    differs[SHARED] = !is_shared_equal(&a->shared_ld, &b->shared_ld) ||
                      !is_shared_equal(&a->shared_st, &b->shared_st);
    differs[GLOBAL] = !is_global_equal(&a->global_ld, &b->global_ld) ||
                      !is_global_equal(&a->global_st, &b->global_st);
    differs[LOCAL] = !is_global_equal(&a->local_ld, &b->local_ld) ||
                     !is_global_equal(&a->local_st, &b->local_st);
    differs[ADDITIONS] = a->adds[EMU_ADD_F32] != b->adds[EMU_ADD_F32];
    differs[BARRIERS] = a->barriers != b->barriers;
    for (int i = 0; i < GROUPS; i++) any |= differs[i];
    return !any;
}

static void say_counts(const struct launch *l, const struct side *sides)
{
    const struct emu_counts *a = &sides[0].counts, *b = &sides[1].counts;
#define SHOW(name, field)                                                                          \
    if (a->field != b->field) printf(", " name " %" PRIu64 " | %" PRIu64, a->field, b->field)
    printf("%s: %s | %s", l->name, sides[0].compiler, sides[1].compiler);
    SHOW("shared loads", shared_ld.instructions);
    SHOW("their wavefronts", shared_ld.wavefronts);
    SHOW("shared stores", shared_st.instructions);
    SHOW("their wavefronts", shared_st.wavefronts);
    SHOW("global loads", global_ld.requests);
    SHOW("their sectors", global_ld.sectors);
    SHOW("global stores", global_st.requests);
    SHOW("their sectors", global_st.sectors);
    SHOW("local loads", local_ld.requests);
    SHOW("local stores", local_st.requests);
    SHOW("additions", adds[EMU_ADD_F32]);
    SHOW("barriers", barriers);
    putchar('\n');
#undef SHOW
}

static void add(struct totals *t, const struct launch *l, struct side *sides)
{
    bool differs[GROUPS];
    bool is_equal = compare_counts(&sides[0].counts, &sides[1].counts, differs);
    t->equal += is_equal;
    t->plain += !l->is_redundant;
    t->plain_equal += !l->is_redundant && is_equal;
    t->loops += l->has_constant_loop;
    t->loops_equal += l->has_constant_loop && is_equal;
    for (int i = 0; i < GROUPS; i++) t->differing[i] += differs[i];
    if (!is_equal) say_counts(l, sides);
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool read_launch(const char *line, struct launch *l)
{
    enum { FIELDS = 7 };
    return sscanf(line, "// launch %255s %u %u %u %d %d %d", l->name, &l->blocks, &l->threads,
                  &l->dynamic, &l->n, &l->is_redundant, &l->has_constant_loop) == FIELDS;
}

static void compare_file(const char *prefix, struct totals *totals)
{
    static struct side sides[] = {{.compiler = "nvcc"}, {.compiler = "own"}};
    char line[PATH];
    struct launch l;
    snprintf(line, sizeof line, "%s.cu", prefix);
    FILE *file = fopen(line, "r");
    bool is_open = file && open_side(&sides[0], prefix) && open_side(&sides[1], prefix);
    totals->wrong += !is_open;
    printf("%s\n", prefix);
    while (is_open && fgets(line, sizeof line, file)) {
        if (!read_launch(line, &l)) continue;
        totals->kernels++;
        if (run_kernel(&sides[0], &l) && run_kernel(&sides[1], &l) &&
            are_results_equal(&l, &sides[0], &sides[1]))
            add(totals, &l, sides);
        else
            totals->wrong++;
    }
    for (int i = 0; i < 2; i++) close_side(&sides[i]);
    if (file) fclose(file);
}

int main(int count, char **argument)
{
    struct totals t = {0};
    for (int i = 1; i < count; i++) compare_file(argument[i], &t);
    printf("kernels %u, wrong %u, counters equal %u; of %u without redundancy %u; of %u with a "
           "constant loop %u; differing:",
           t.kernels, t.wrong, t.equal, t.plain, t.plain_equal, t.loops, t.loops_equal);
    for (int i = 0; i < GROUPS; i++) printf(" %s %u", group_names[i], t.differing[i]);
    putchar('\n');
    return t.wrong > 0;
}
