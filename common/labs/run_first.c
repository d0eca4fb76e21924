/*
 * run_first.c — runs one of the first puzzles from PTX, since the host code of its file needs nvcc:
 *
 *     run-first NAME FILE.ptx
 *
 * It does what main() of steps/first-kernel/NAME.cu does, with all checkers on. The exit code is 0
 * if the numbers are right and no checker found anything, and 1 if not.
 */
#include "run_entry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 1024, MEMORY = 16 << 20 };
static const uint64_t instruction_limit = 1 << 24; /* the puzzles execute a few hundred */

/* As the file launches its kernel: (out, in), or with the number of elements besides. */
struct puzzle {
    const char *name, *kernel;
    int numbers;
    unsigned blocks, threads;
    bool takes_number;
    int (*given)(int i), (*wanted)(int i);
};

static int from_minus_500(int i) { return i - 500; }
static int square(int i) { return (i - 500) * (i - 500); }
static int threefold(int i) { return 3 * i + 1; }
static int with_neighbour(int i) { return threefold(i) + (i > 0 ? threefold(i - 1) : 0); }

static const struct puzzle puzzles[] = {
    {"first1", "square", 1024, 4, 256, false, from_minus_500, square},
    {"first2", "square", 1000, 4, 256, true, from_minus_500, square},
    {"first3", "add_neighbours", 256, 1, 256, false, threefold, with_neighbour},
};

struct bench {
    const struct puzzle *puzzle;
    struct lab_ptx ptx;
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
    int error = emu_load(b->emu, b->ptx.text, b->ptx.length, "the PTX", &module);
    if (error) return error;
    if (!next_entry(&b->ptx, &at, b->puzzle->kernel, name))
        snprintf(name, sizeof name, "%s", b->puzzle->kernel);
    return emu_kernel(b->emu, module, name, &b->kernel);
}

static int launch(struct bench *b)
{
    const struct puzzle *p = b->puzzle;
    int number = p->numbers;
    void *arguments[] = {&b->out, &b->in, &number};
    if (emu_kernel_info(b->kernel)->params != 2U + p->takes_number)
        return puts("The kernel has other parameters than the puzzle; put back its own."), -1;
    return emu_launch(b->emu, b->kernel, (struct emu_dim){p->blocks, 1, 1},
                      (struct emu_dim){p->threads, 1, 1}, 0, arguments, false);
}

/* Says whether the numbers are right, as the puzzle's own main() does. */
static bool is_right(struct bench *b)
{
    int out[NUMBERS];
    if (emu_read(b->emu, out, b->out, (size_t)b->puzzle->numbers * sizeof *out)) return false;
    for (int i = 0; i < b->puzzle->numbers; i++) {
        if (out[i] == b->puzzle->wanted(i)) continue;
        printf("out[%d] is %d, and should be %d\n", i, out[i], b->puzzle->wanted(i));
        return false;
    }
    printf("all %d numbers are right\n", b->puzzle->numbers);
    return true;
}

static bool has_findings(const struct bench *b)
{
    if (emu_findings(b->emu) == 0) return false;
    const struct emu_finding *first = emu_finding(b->emu, 0);
    printf("The emulator's checkers found a mistake. This is the first one:\n%s\n", first->head);
    return true;
}

static int run(struct bench *b, struct fault *fault)
{
    struct emu_config config = {.threads = 1,
                                .memory = MEMORY,
                                .checks = EMU_CHECK_ALL,
                                .instruction_limit = instruction_limit};
    char why[EMU_NAME_SIZE];
    b->emu = emu_open(&config, why, sizeof why);
    if (!b->emu) return fail(fault, EXIT_DEVICE, "%s", why);
    int error = put_numbers(b);
    if (!error) error = find(b);
    if (!error) error = launch(b);
    if (error > 0 && emu_findings(b->emu) == 0)
        printf("%.*s\n", (int)strcspn(emu_message(b->emu), "\n"), emu_message(b->emu));
    bool right = !error && is_right(b);
    return has_findings(b) || !right;
}

int main(int count, char **argument)
{
    struct bench b = {0};
    struct fault fault = {0};
    for (size_t i = 0; count == 3 && i < sizeof puzzles / sizeof *puzzles; i++)
        if (!strcmp(puzzles[i].name, argument[1])) b.puzzle = &puzzles[i];
    int code = b.puzzle ? ptx_read(argument[2], &b.ptx, &fault)
                        : fail(&fault, EXIT_USAGE, "Give first1, first2 or first3, and PTX.");
    if (!code) code = run(&b, &fault);
    emu_close(b.emu);
    free(b.ptx.text);
    return *fault.text ? fault_say(&fault) : code;
}
