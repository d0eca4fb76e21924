/*
 * command.h — running shell commands in tests of programs and of the command emu.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include <criterion/criterion.h>

/* Where the Makefile puts the programs and fat binaries that tests look at or run. `shared`,
 * `nvidia`, `emulated`, `per-thread` and `rpath` are made of kernels.cu: linked with -cudart
 * shared, with NVIDIA's static runtime as nvcc does by default, with the flags of emu --nvcc-flags,
 * with -default-stream per-thread, by g++ with an RPATH; the fat binaries are named by what they
 * hold. Tests run in the repository's root, those with sanitizers in build/asan, where programs of
 * the ordinary build are used. */
#ifdef __SANITIZE_ADDRESS__
#define ORDINARY_BUILD ".."
#else
#define ORDINARY_BUILD "build"
#endif
#define PROGRAMS ORDINARY_BUILD "/tests/programs"
#define PAIRS    ORDINARY_BUILD "/pairs" /* of tests/cases/checks */
#define EMU      ORDINARY_BUILD "/emu/emu"
#define QUIET    "$emu --log-file /dev/null " /* for run(): the command without its tables */

extern char output[]; /* of the last command: stdout, and stderr too if it says 2>&1 */
extern char folder[]; /* for files */

/* Tests with sanitizers would run the same programs. */
static inline void only_in_ordinary_build(void)
{
#ifdef __SANITIZE_ADDRESS__
    cr_skip("the ordinary build runs it, with the same programs");
#endif
}

/* Makes the folder, and removes it with all that is in it. */
void command_init(void);
void command_fini(void);

/* Runs a shell command and returns its exit status. In it, $emu is the command, $p the folder of
 * the programs, $pairs that of the pairs of tests/cases/checks, and $t a folder for files. */
int run(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Runs a shell command unchanged; otherwise does the same. */
int run_command(const char *command);

/* Runs a command that must exit with `status`. */
#define expect_status(status, ...)                                                                 \
    do {                                                                                           \
        int got = run(__VA_ARGS__);                                                                \
        cr_assert(got == (status), "exit status %d, not %d:\n%s", got, (status), output);          \
    } while (0)

/* The bench, as `make test` or as `make test-all` links it. */
#define SIDE_BY_SIDE "$(ls $PWD/side-by-side $PWD/build/tests/side-by-side 2>/dev/null | head -n 1)"

/* The output must contain a text, or must not. */
void expect(const char *text);
void expect_not(const char *text);

/* How often the output contains a text. */
unsigned count_of(const char *text);

/* Commands that must exit with `status`; their output, and stderr, must contain these texts,
 * and must not contain those after a "!"; behind a "=" is all of it. */
struct run_case {
    int status;
    const char *command, *says[9];
};
void expect_runs(const struct run_case *, size_t count);
#define RUNS(...)                                                                                  \
    expect_runs((const struct run_case[]){__VA_ARGS__},                                            \
                sizeof((const struct run_case[]){__VA_ARGS__}) / sizeof(struct run_case))
/* A refusal is one sentence on one line, which begins with "emu: ". */
void expect_one_sentence(void);

#endif
