/* run_puzzle.c — does what main() of steps/first-kernel/firstN.cu does. */
#include "run_case.h"

#include <stdio.h>
#include <string.h>

enum { NUMBERS = 1024, MEMORY = 16 << 20 };
static const uint64_t instruction_limit = 1 << 24; /* the puzzles execute a few hundred */

/* As the file launches its kernel: (out, in), or with the number of elements besides. */
struct puzzle {
    const char *name, *kernel;
    int numbers;
    struct emu_dim grid, block;
    bool takes_number;
    int (*given)(int i), (*wanted)(int i);
};

static int from_minus_500(int i) { return i - 500; }
static int same(int i) { return i; }
static int square(int i) { return (i - 500) * (i - 500); }
static int threefold(int i) { return 3 * i + 1; }
static int with_neighbour(int i) { return threefold(i) + (i > 0 ? threefold(i - 1) : 0); }
static int transposed(int i) { return i % 24 * 40 + i / 24; }

static const struct puzzle puzzles[] = {
    {"first1", "square", 1024, {4, 1, 1}, {256, 1, 1}, false, from_minus_500, square},
    {"first2", "square", 1000, {4, 1, 1}, {256, 1, 1}, true, from_minus_500, square},
    {"first3", "add_neighbours", 256, {1, 1, 1}, {256, 1, 1}, false, threefold, with_neighbour},
    {"first4", "transpose", 960, {5, 3, 1}, {8, 8, 1}, false, same, transposed},
    {"first5", "square", 1000, {2, 1, 1}, {128, 1, 1}, true, from_minus_500, square},
};

const struct puzzle *puzzle_named(const char *name)
{
    for (size_t i = 0; i < sizeof puzzles / sizeof *puzzles; i++)
        if (!strcmp(puzzles[i].name, name)) return &puzzles[i];
    return NULL;
}

struct bench {
    const struct puzzle *puzzle;
    const struct lab_ptx *ptx;
    FILE *say;
    struct emu *emu;
    struct emu_kernel *kernel;
    emu_addr in, out;
};

static int put_numbers(struct bench *b)
{
    int in[NUMBERS];
    size_t bytes = (size_t)b->puzzle->numbers * sizeof *in;
    for (int i = 0; i < b->puzzle->numbers; i++) in[i] = b->puzzle->given(i);
    int error = emu_alloc(b->emu, bytes, &b->in);
    if (!error) error = emu_alloc(b->emu, bytes, &b->out);
    if (!error) error = emu_write(b->emu, b->in, in, bytes);
    return error ? error : emu_fill(b->emu, b->out, 0, bytes);
}

static int find(struct bench *b)
{
    char name[EMU_NAME_SIZE];
    struct emu_module *module;
    size_t at = 0;
    int error = emu_load(b->emu, b->ptx->text, b->ptx->length, "the PTX", &module);
    if (error) return error;
    if (!next_entry(b->ptx, &at, b->puzzle->kernel, name))
        snprintf(name, sizeof name, "%s", b->puzzle->kernel);
    return emu_kernel(b->emu, module, name, &b->kernel);
}

static int launch(struct bench *b)
{
    const struct puzzle *p = b->puzzle;
    int number = p->numbers;
    void *arguments[] = {&b->out, &b->in, &number};
    if (emu_kernel_info(b->kernel)->params != 2U + p->takes_number)
        return fputs("The kernel has other parameters than the puzzle; put back its own.\n",
                     b->say),
               -1;
    return emu_launch(b->emu, b->kernel, p->grid, p->block, 0, arguments, false);
}

/* Says whether the numbers are right, as the puzzle's own main() does. */
static bool is_right(struct bench *b)
{
    int out[NUMBERS];
    if (emu_read(b->emu, out, b->out, (size_t)b->puzzle->numbers * sizeof *out)) return false;
    for (int i = 0; i < b->puzzle->numbers; i++) {
        if (out[i] == b->puzzle->wanted(i)) continue;
        fprintf(b->say, "out[%d] is %d, and should be %d\n", i, out[i], b->puzzle->wanted(i));
        return false;
    }
    fprintf(b->say, "all %d numbers are right\n", b->puzzle->numbers);
    return true;
}

static bool has_findings(const struct bench *b)
{
    if (emu_findings(b->emu) == 0) return false;
    const struct emu_finding *first = emu_finding(b->emu, 0);
    fprintf(b->say, "The emulator's checkers found a mistake. This is the first one:\n%s\n",
            first->head);
    return true;
}

static bool launch_is_right(struct bench *b)
{
    int error = put_numbers(b);
    if (!error) error = find(b);
    if (!error) error = launch(b);
    if (error > 0 && emu_findings(b->emu) == 0)
        fprintf(b->say, "%.*s\n", (int)strcspn(emu_message(b->emu), "\n"), emu_message(b->emu));
    bool right = !error && is_right(b);
    return !has_findings(b) && right;
}

int run_puzzle(const struct puzzle *puzzle, const struct lab_ptx *ptx, FILE *out,
               struct fault *fault)
{
    struct bench b = {.puzzle = puzzle, .ptx = ptx, .say = out};
    struct emu_config config = {.threads = 1,
                                .memory = MEMORY,
                                .checks = EMU_CHECK_ALL,
                                .instruction_limit = instruction_limit};
    char why[EMU_NAME_SIZE];
    b.emu = emu_open(&config, why, sizeof why);
    if (!b.emu) return fail(fault, EXIT_DEVICE, "%s", why);
    bool right = launch_is_right(&b);
    emu_close(b.emu);
    return right ? EXIT_RIGHT : EXIT_WRONG;
}
