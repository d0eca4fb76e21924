/*
 * test_cli.c — ./stepN as a user runs it: exit codes, sentences, files and records. Runs in the top
 * folder of a built tree.
 */
#define _GNU_SOURCE
#include "common/harness/run/runs.h"
#include "common/harness/report/report.h"
#include "tests/cases/wrong/wrong.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <dirent.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEXT   65536
#define SCREEN 30 /* lines */

static char folder[] = "/tmp/upsweep-cli-XXXXXX"; /* $t in commands */

static void make_folder(void)
{
    cr_assert_not_null(mkdtemp(folder));
    setenv("t", folder, 1);
    unsetenv("DEVICE");
}

static void remove_folder(void)
{
    char command[80];
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_expect_eq(system(command), 0);
}

TestSuite(cli, .init = make_folder, .fini = remove_folder);

struct answer {
    int code;
    char out[TEXT], err[TEXT];
};

static void slurp(const char *name, char *text)
{
    char path[80];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file);
    text[fread(text, 1, TEXT - 1, file)] = '\0';
    fclose(file);
    unlink(path);
}

/* Runs a shell command; stdout and stderr apart. */
static struct answer *run(const char *format, ...)
{
    static struct answer result;
    char command[2000], whole[2200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    snprintf(whole, sizeof whole, "{ %s; } >$t/.out 2>$t/.err </dev/null", command);
    int status = system(whole);
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    slurp(".out", result.out);
    slurp(".err", result.err);
    return &result;
}

static size_t count_lines(const char *text)
{
    size_t lines = 0;
    for (; *text; text++) lines += *text == '\n';
    return lines;
}

static size_t count_files(void)
{
    size_t count = 0;
    DIR *directory = opendir(folder);
    for (struct dirent *entry; (entry = readdir(directory));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(directory);
    return count;
}

/* One sentence on stderr, nothing on stdout, the exit code, and no file. */
static void expect_refused(const char *command, int code, const char *part)
{
    size_t files = count_files();
    struct answer *r = run("%s", command);
    cr_expect_eq(r->code, code, "%s: exit code %d: %s", command, r->code, r->err);
    cr_expect_eq(count_lines(r->err), 1, "%s: %s", command, r->err);
    cr_expect(strstr(r->err, part), "%s: %s", command, r->err);
    cr_expect_str_empty(r->out, "%s: %s", command, r->out);
    cr_expect_eq(count_files(), files, "%s left a file", command);
}

/* ---- bad input is normal input --------------------------------------------------------------- */

Test(cli, limits_are_named_with_the_step_that_lifts_them)
{
    expect_refused("./step2 --n 1Mi", EXIT_USAGE, "step 5");
    expect_refused("./step3 --n 500", EXIT_USAGE, "power of two");
    expect_refused("./step3 --n 4096", EXIT_USAGE, "step 5");
    expect_refused("./step4 --n 4096", EXIT_USAGE, "2048");
    expect_refused("seq 3000 | ./step3 --input -", EXIT_USAGE, "the length of stdin");
    expect_refused("seq 3 | ./step3 --input -", EXIT_USAGE, "power of two");
}

Test(cli, larger_than_memory)
{
    expect_refused("./step5 --n 1000T", EXIT_USAGE, "memory");
    expect_refused("./step1 --n 1000T", EXIT_USAGE, "memory");
    expect_refused("./step5 --n 2^63", EXIT_USAGE, "memory");
    expect_refused("./step1 --n 2^62", EXIT_USAGE, "memory");
    expect_refused("EMU_MEMORY=1M ./step5 --n 1 --device emu", EXIT_USAGE,
                   ": 1 element needs 6.0 MiB of device memory, but 1 MiB are free; take fewer.");
}

Test(cli, bad_files)
{
    run("printf '' >$t/empty; printf 'x' >$t/closed; chmod 0 $t/closed;"
        "./step1 --n 10 --output $t/good.npy; head -c 140 $t/good.npy >$t/truncated.npy");
    expect_refused("./step1 --input $t/nothing", EXIT_USAGE, "No such file");
    expect_refused("./step1 --input $t", EXIT_USAGE, "Is a directory");
    expect_refused("./step1 --input $t/empty", EXIT_USAGE, "is empty");
    expect_refused("./step1 --input $t/truncated.npy", EXIT_USAGE, "truncated");
    expect_refused("./step1 --input -", EXIT_USAGE, "stdin is empty");
    if (geteuid() != 0) expect_refused("./step1 --input $t/closed", EXIT_USAGE, "Permission");
}

Test(cli, output_that_cannot_be_written)
{
    expect_refused("./step1 --n 10 --output /dev/full", EXIT_USAGE, "No space left");
    expect_refused("./step1 --n 1Mi --output /dev/full", EXIT_USAGE, "No space left");
    expect_refused("./step3 --output /dev/full", EXIT_USAGE, "No space left");
    expect_refused("./step1 --n 10 --output $t/none/x.npy", EXIT_USAGE, "No such file");
    expect_refused("./step1 --n 10 --output $t", EXIT_USAGE, "Is a directory");
    expect_refused("./step1 --n 10 --output $t/", EXIT_USAGE, "Is a directory");
    expect_refused("./step3 --trace $t/none/trace", EXIT_USAGE, "No such file");
    expect_refused("(ulimit -f 16; ./step1 --n 1Mi --output $t/big)", EXIT_USAGE, "too large");
    expect_refused("./step1 --n 10 >/dev/full", EXIT_USAGE, "stdout");
    expect_refused("./step1 --help >/dev/full", EXIT_USAGE, "stdout");
}

/* SIGPIPE ends a filter in silence, also where its caller ignores this signal. */
Test(cli, a_reader_of_stdout_that_has_enough_slow)
{
    static const char *const commands[] = {"./step0 --n 1000 --reps 0",
                                           "./step1 --n 1Mi --output -",
                                           "./step3 --help",
                                           "./step3 --quiz x",
                                           "./step3 --trace -",
                                           "./step5 --json",
                                           "./step14 --size 20x9 --box 3 --output -"};
    for (size_t i = 0; i < 2 * sizeof commands / sizeof *commands; i++) {
        struct answer *r = run("trap %s PIPE; mkfifo $t/p; exec 3<>$t/p 4>$t/p 3>&-; rm $t/p;"
                               "%s >&4 4>&-",
                               i % 2 ? "-" : "''", commands[i / 2]);
        cr_expect(r->code == 141 && !*r->out && !*r->err, "%s: %d\n%s%s", commands[i / 2], r->code,
                  r->out, r->err);
    }
}

/* A file that is opened does not take the place of a closed stdin, stdout or stderr. */
Test(cli, closed_standard_streams)
{
    cr_expect_eq(run("./step3 --trace $t/trace <&- 2>&-")->code, 0);
    expect_refused("./step3 --trace $t/trace >&-", EXIT_USAGE, "stdout");
    expect_refused("./step3 --trace $t/trace <&- >&-", EXIT_USAGE, "stdout");
    expect_refused("./step1 --input - <&-", EXIT_USAGE, "cannot read stdin: Bad file descriptor.");
    cr_expect_eq(run("grep -q 'Step 3' $t/trace")->code, 1);
}

/* ---- devices --------------------------------------------------------------------------------- */

static bool driver_is_there(void) { return access("/dev/nvidiactl", F_OK) == 0; }

Test(cli, no_gpu)
{
    if (driver_is_there()) cr_skip("this machine has an NVIDIA driver");
    expect_refused("./step3 --device cuda", EXIT_DEVICE,
                   "no NVIDIA driver is installed; --device emu");
    expect_refused("DEVICE=cuda ./step3", EXIT_DEVICE, "no NVIDIA driver");
    cr_expect_eq(run("DEVICE=cuda ./step3 --device emu")->code, EXIT_RIGHT);
    struct answer *r = run("./step3");
    cr_expect_eq(r->code, EXIT_RIGHT);
    cr_expect(strstr(r->out, "(emulated) on the CPU: no NVIDIA driver is installed"), "%s", r->out);
}

Test(cli, emulated_if_asked_for)
{
    struct answer *r = run("./step3 --device emu");
    cr_expect_eq(r->code, EXIT_RIGHT, "%s", r->err);
    cr_expect(strstr(r->out, "emulated"));
    cr_expect(strstr(r->out, "the emulator's own, not a GPU's"), "%s", r->out);
    cr_expect_null(strstr(r->out, "GB/s"), "an emulated time gives no rate: %s", r->out);
    cr_expect(strstr(r->out, "375 in loads, 225 in stores"), "%s", r->out);
}

/* A program in a folder without build/emu. */
Test(cli, no_emulator)
{
    struct answer *r = run("cp step3 $t; $t/step3 --device emu");
    if (r->code == 127) cr_skip("the copy of step3 does not find CUDA's runtime");
    cr_expect_eq(r->code, EXIT_DEVICE, "%s", r->err);
    cr_expect_eq(count_lines(r->err), 1);
    cr_expect(strstr(r->err, "build/emu/libcudart.so.13 is missing; `make emu` builds it"), "%s",
              r->err);
}

/* ---- files ----------------------------------------------------------------------------------- */

Test(cli, the_documents_example)
{
    for (int step = 1; step <= 7; step++) {
        struct answer *r = run("echo 3 1 7 0 4 1 6 3 | ./step%d --input - --output -", step);
        cr_expect_eq(r->code, EXIT_RIGHT, "step %d: %s", step, r->err);
        cr_expect_str_eq(r->out, "0\n3\n4\n11\n11\n15\n16\n22\n", "step %d", step);
        cr_expect(strstr(r->err, "Step"), "the report goes to stderr");
        r = run("echo 3 1 7 0 4 1 6 3 | ./step%d --input - --output - --inclusive", step);
        cr_expect_str_eq(r->out, "3\n4\n11\n11\n15\n16\n22\n25\n", "step %d, inclusive", step);
    }
}

Test(cli, what_is_written_can_be_read)
{
    struct answer *r =
        run("./step1 --n 1000 --output $t/a.npy && ./step1 --n 1000 --output $t/a.txt "
            "&& ./step1 --input $t/a.npy --output $t/b.npy"
            "&& ./step1 --input $t/a.txt --output $t/c.npy && cmp $t/b.npy $t/c.npy");
    cr_expect_eq(r->code, 0, "%s%s", r->out, r->err);
    r = run("./step1 --n 100 --real --output $t/r.txt && ./step1 --input $t/r.txt");
    cr_expect_eq(r->code, 0, "%s", r->err);
}

Test(cli, ways_to_run_give_the_same)
{
    static const char *const ways[] = {"--in-place",    "--offset 1",      "--offset 3 --in-place",
                                       "--verify none", "--reps 0",        "--reps 1"};
    cr_assert_eq(run("./step1 --n 512 --output $t/want.txt")->code, 0);
    for (int step = 1; step <= 7; step++)
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            struct answer *r = run("./step%d --n 512 %s --output $t/got.txt && "
                                   "cmp $t/want.txt $t/got.txt",
                                   step, ways[i]);
            cr_expect_eq(r->code, 0, "step %d %s: %s%s", step, ways[i], r->out, r->err);
        }
}

/* ---- reports --------------------------------------------------------------------------------- */

/* The keys of the JSON on stdin, which Python has to understand. */
#define KEYS                                                                                       \
    " | python3 -c 'import json, sys;"                                                             \
    " print(*json.load(sys.stdin, parse_constant=exit), sep=\",\")'"

Test(cli, json_and_csv_have_the_same_documented_keys)
{
    if (run("command -v python3")->code) cr_skip("python3 is missing: make setup installs it");
    for (int step = 1; step <= 7; step++) {
        struct answer *r = run("./step%d --n 64 --json" KEYS " >$t/json && "
                               "./step%d --n 64 --csv >$t/csv && wc -l <$t/csv && "
                               "head -n 1 $t/csv | cmp - $t/json",
                               step, step);
        cr_expect(r->code == 0 && !*r->err, "step %d: %s%s", step, r->out, r->err);
        cr_expect_str_eq(r->out, "2\n");
    }
    struct answer *r = run("for key in $(tr , ' ' <$t/json); do grep -qE \" $key(,| |$)\""
                           " common/harness/report/report.h || echo $key; done;"
                           " test $(wc -c <$t/json) -gt 200");
    cr_expect(r->code == 0 && !*r->out, "common/harness/report/report.h does not explain %s",
              r->out);
}

Test(cli, json_of_lines)
{
    struct answer *r = run("./step3 --json --counters --device emu");
    cr_expect(strstr(r->out, "\"lines\": ["));
    cr_expect(strstr(r->out, "\"conflicts_ld\": 375,"), "%s", r->out);
    cr_expect(strstr(r->out, "\"conflicts_st\": 225,"));
    cr_expect(strstr(r->out, "\"gb_per_s\": null"));
}

Test(cli, the_report_fits_a_screen_and_has_no_colour_in_a_file_slow)
{
    for (int step = 0; step <= 7; step++) {
        struct answer *r = run("./step%d", step);
        cr_expect_eq(r->code, EXIT_RIGHT, "%s", r->err);
        cr_expect_str_empty(r->err);
        cr_expect_leq(count_lines(r->out), SCREEN, "step %d has %zu lines", step,
                      count_lines(r->out));
        cr_expect_null(strchr(r->out, '\033'));
    }
}

Test(cli, colour_on_a_terminal_unless_no_color)
{
    struct answer *r = run("command -v script >/dev/null");
    if (r->code != 0) cr_skip("there is no script(1) to make a terminal with");
    r = run("TERM=xterm script -qec './step1 --n 10' /dev/null");
    cr_expect(strchr(r->out, '\033'), "%s", r->out);
    r = run("NO_COLOR=1 TERM=xterm script -qec './step1 --n 10' /dev/null");
    cr_expect_null(strchr(r->out, '\033'), "%s", r->out);
}

Test(cli, help_and_version)
{
    for (int step = 0; step <= 7; step++) {
        struct answer *r = run("./step%d --help", step);
        cr_expect_eq(r->code, EXIT_RIGHT);
        cr_expect(strstr(r->out, "--n N") && strstr(r->out, "Exit code: 0 right, 1 wrong result"));
        r = run("./step%d --version", step);
        cr_expect(strstr(r->out, "Upsweep " PROGRAM_VERSION), "%s", r->out);
        cr_expect_eq(count_lines(r->out), 1);
    }
}

/* ---- a wrong result -------------------------------------------------------------------------- */

Test(cli, a_wrong_result_is_exit_code_1_and_is_not_written)
{
    char output[100];
    snprintf(output, sizeof output, "--output=%s/out.txt", folder);
    char *argv[] = {"./step9", "--n=1000", output, NULL};
    cr_redirect_stdout();
    int code = harness_main(wrong_find("swapped_neighbours"), 3, argv);
    fflush(stdout);
    cr_expect_eq(code, EXIT_WRONG);
    cr_expect_eq(count_files(), 0);
    char text[TEXT];
    FILE *report = cr_get_redirected_stdout();
    text[fread(text, 1, sizeof text - 1, report)] = '\0';
    cr_expect(strstr(text, "WRONG"), "%s", text);
    cr_expect(strstr(text, "likely cause: neighbours were swapped, first 0 and 1"), "%s", text);
    cr_expect_null(strstr(text, "median"), "a wrong result's time means nothing");
}

/* The emulator's findings become a sentence and exit code 3. */
Test(cli, a_fault_in_a_kernel_is_exit_code_3)
{
    char *argv[] = {"./step9", "--n=16", NULL};
    cr_redirect_stderr();
    int code = harness_main(wrong_find("writes_far_away"), 2, argv);
    fflush(stderr);
    char text[TEXT];
    FILE *said = cr_get_redirected_stderr();
    text[fread(text, 1, sizeof text - 1, said)] = '\0';
    cr_expect_eq(code, EXIT_DEVICE);
    cr_expect(strstr(text, "writes_far_away"), "the kernel is named: %s", text);
    cr_expect(strstr(text, "(cudaErrorIllegalAddress)"), "%s", text);
}
