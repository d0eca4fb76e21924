/*
 * test_files.c — the files that programs write are complete or not written at all. Runs in the top
 * folder of a built tree.
 */
#define _GNU_SOURCE
#include "common/harness/input/input.h"
#include "common/harness/print/print.h"
#include "tests/support/command.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the result as a file -------------------------------------------------------------------- */

static int count_files(void)
{
    int count = 0;
    DIR *here = opendir(".");
    for (struct dirent *entry; (entry = readdir(here));) count += entry->d_name[0] != '.';
    closedir(here);
    return count;
}

static void enter_folder(void)
{
    command_init();
    cr_assert_eq(chdir(folder), 0);
}

TestSuite(output, .init = enter_folder, .fini = command_fini);

static struct fault fault;

static int write_floats(const char *path, const float *elements, size_t n)
{
    struct output output;
    fault = (struct fault){0};
    int code = output_check(path, &fault);
    if (!code) code = output_begin(&output, path, ELEMENT_F32, n, &fault);
    if (!code) code = output_add(&output, elements, n / 2, &fault);
    if (!code) code = output_add(&output, elements + n / 2, n - n / 2, &fault);
    return code ? code : output_end(&output, &fault);
}

static void expect_content(const char *path, const char *want)
{
    char got[200] = "";
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s is not there", path);
    got[fread(got, 1, sizeof got - 1, file)] = '\0';
    fclose(file);
    cr_expect_str_eq(got, want);
}

static const float floats[] = {0, 1, -2.5f, 0.1f, 16777216};

Test(output, text)
{
    cr_assert_eq(write_floats("a.txt", floats, 5), 0, "%s", fault.text);
    expect_content("a.txt", "0\n1\n-2.5\n0.100000001\n16777216\n");
    cr_expect_eq(count_files(), 1);
}

Test(output, npy_can_be_read_again)
{
    struct input input;
    cr_assert_eq(write_floats("a.npy", floats, 5), 0, "%s", fault.text);
    cr_assert_eq(input_read(&input, ELEMENT_F32, "a.npy", 0, &fault), 0, "%s", fault.text);
    cr_expect_eq(input.n, 5);
    cr_expect_eq(memcmp(input.data, floats, sizeof floats), 0);
    input_free(&input);

    struct stat status;
    cr_assert_eq(stat("a.npy", &status), 0);
    cr_expect_eq((size_t)status.st_size, 128 + sizeof floats, "the elements begin at 128");
    FILE *file = fopen("a.npy", "rb");
    char header[129] = "";
    cr_assert_eq(fread(header, 1, 128, file), 128);
    fclose(file);
    cr_expect_eq(header[127], '\n');
    cr_expect(strstr(header + 10, "'descr': '<f4', 'fortran_order': False, 'shape': (5,), }"));
}

/* An unsigned integer beyond the range of signed ones, as text and as .npy. */
Test(output, unsigned_integers)
{
    static const uint64_t large[] = {UINT64_MAX, 7};
    static const char *const paths[] = {"u.txt", "u.npy"};
    for (size_t i = 0; i < 2; i++) {
        struct output output;
        struct input input;
        cr_assert_eq(output_begin(&output, paths[i], ELEMENT_U64, 2, &fault), 0);
        cr_assert_eq(output_add(&output, large, 2, &fault), 0);
        cr_assert_eq(output_end(&output, &fault), 0);
        cr_assert_eq(input_read(&input, ELEMENT_U64, paths[i], 0, &fault), 0);
        cr_expect(input.n == 2 && memcmp(input.data, large, sizeof large) == 0, "%s", paths[i]);
        input_free(&input);
    }
    expect_content("u.txt", "18446744073709551615\n7\n");
    enum element element = ELEMENT_F32;
    cr_expect(input_npy_type("u.npy", &element) && element == ELEMENT_U64);
    cr_expect(!input_npy_type("u.txt", &element) && !input_npy_type("none.npy", &element));
}

/* The old file stays until the new one is complete, which then has the permissions of the old
 * one. */
Test(output, a_file_is_replaced_as_a_whole)
{
    struct output output;
    struct stat status;
    cr_assert_eq(write_floats("a.txt", floats, 1), 0);
    cr_assert_eq(chmod("a.txt", 0600), 0);
    cr_assert_eq(output_begin(&output, "a.txt", ELEMENT_F32, 2, &fault), 0);
    cr_assert_eq(output_add(&output, floats + 1, 2, &fault), 0);
    expect_content("a.txt", "0\n");
    cr_assert_eq(output_end(&output, &fault), 0);
    expect_content("a.txt", "1\n-2.5\n");
    cr_assert_eq(stat("a.txt", &status), 0);
    cr_expect_eq(status.st_mode & 0777, 0600);
    cr_expect_eq(count_files(), 1);
}

static unsigned mode_of(const char *path)
{
    struct stat status;
    cr_assert_eq(stat(path, &status), 0, "%s is not there", path);
    return status.st_mode & 07777;
}

/* A new file has the permissions that any program's new file has. A file that is replaced keeps its
 * permissions, for any umask. */
Test(output, permissions_are_those_of_the_umask_or_of_the_old_file)
{
    static const mode_t masks[] = {0, 022, 027, 077, 0137, 0777};
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        umask(masks[i]);
        cr_assert_eq(write_floats("new.npy", floats, 5), 0, "%s", fault.text);
        cr_expect_eq(mode_of("new.npy"), 0666 & ~masks[i], "umask %o", masks[i]);
        cr_expect_eq(umask(masks[i]), masks[i], "the umask is another one afterwards");
        cr_assert_eq(unlink("new.npy"), 0);

        static const mode_t modes[] = {0600, 0666, 0640, 0755};
        for (size_t k = 0; k < sizeof modes / sizeof *modes; k++) {
            int old = open("old.txt", O_WRONLY | O_CREAT, 0600);
            cr_assert(old >= 0 && fchmod(old, modes[k]) == 0 && close(old) == 0);
            cr_assert_eq(write_floats("old.txt", floats, 1), 0, "%s", fault.text);
            cr_expect_eq(mode_of("old.txt"), modes[k], "umask %o", masks[i]);
            cr_assert_eq(unlink("old.txt"), 0);
        }
    }
    umask(022);
}

Test(output, what_is_abandoned_leaves_nothing)
{
    struct output output;
    cr_assert_eq(write_floats("a.txt", floats, 1), 0);
    cr_assert_eq(output_begin(&output, "a.txt", ELEMENT_F32, 2, &fault), 0);
    cr_assert_eq(output_add(&output, floats, 1, &fault), 0);
    output_abandon(&output);
    expect_content("a.txt", "0\n");
    cr_expect_eq(count_files(), 1);
}

/* ---- programs -------------------------------------------------------------------------------- */

TestSuite(files, .init = command_init, .fini = command_fini, .timeout = 120);

/* ---- old files stay until the end ------------------------------------------------------------ */

Test(files, a_refused_run_leaves_the_old_files)
{
    static const char *const commands[] = {
        "./step3 --trace $t/old --input $t/none",
        "./step3 --trace $t/old --n 500",
        "./step3 --trace $t/old --device cuda",
        "./step3 --trace $t/old --output $t/none/x",
        "./step3 --trace $t/old --input $t/letters",
        "./step3 --output $t/old --input $t/letters",
        "./step3 --trace $t/old --output $t/old2 --n 3",
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        expect_status(2,
                      "echo old >$t/old; echo x >$t/letters; ls $t >$t/../$$.ls; %s 2>&1; "
                      "code=$?; ls $t | cmp - $t/../$$.ls; rm $t/../$$.ls; exit $code",
                      commands[i]);
        cr_expect(strchr(output, '\n') == output + strlen(output) - 1, "%s: %s", commands[i],
                  output);
        expect_status(0, "echo old | cmp - $t/old");
    }
}

/* As with --output. */
Test(files, a_trace_is_replaced_as_a_whole)
{
    expect_status(0, "umask 027; ./step3 --n 8 --trace $t/new >/dev/null && stat -c %%a $t/new");
    cr_expect_str_eq(output, "640\n");
    expect_status(0, "echo old >$t/a; chmod 604 $t/a; ln -s a $t/link; ln $t/a $t/kept; "
                     "./step3 --n 8 --trace $t/link >/dev/null && stat -c '%%a %%F' $t/a $t/link "
                     "&& cat $t/kept && ls $t && grep -c scan.cu: $t/a");
    expect("604 regular file\n777 symbolic link\nold\na\nkept\nlink\nnew\n");
}

/* A trace is kept after a kernel's fault: it is needed to find the cause. */
Test(files, a_trace_of_what_failed_is_kept)
{
    expect_status(1, "$emu --log-file /dev/null --trace $t/trace $p/launches fault >/dev/null "
                     "2>&1; code=$?; ls $t; grep -c launches.cu: $t/trace; exit $code");
    expect("trace\n1\n");
    expect_status(9,
                  "rm $t/trace; $emu --tool memcheck --error-exitcode 9 --log-file $t/log "
                  "--trace $t/trace $p/launches fault >/dev/null 2>&1; code=$?; ls $t; exit $code");
    cr_expect_str_eq(output, "log\ntrace\n");
}

/* ---- files that are not regular -------------------------------------------------------------- */

Test(files, descriptors_devices_and_pipes)
{
    expect_status(0, "seq 8 >$t/in; seq 0 7 | awk '{ print s + 0; s += $1 + 1 }' >$t/want; "
                     "scan=\"./step3 --input $t/in --output\"; "
                     "$scan /dev/stdout 2>$t/report >$t/out && cmp $t/want $t/out && "
                     "grep -q 'Step 3' $t/report && "
                     "{ echo before; $scan /dev/fd/3 3>&1 >/dev/null; } >$t/out && "
                     "tail -n +2 $t/out | cmp $t/want - && head -n 1 $t/out");
    cr_expect_str_eq(output, "before\n");
    expect_status(0, "mkfifo $t/fifo; cat $t/fifo >$t/out & $scan; "
                     "./step3 --input $t/in --output $t/fifo >/dev/null && wait && "
                     "cmp $t/want $t/out && test -p $t/fifo");
    expect_status(0, "./step3 --output /dev/null --trace /dev/null >/dev/null && "
                     "test -c /dev/null && ls $t");
    cr_expect_str_eq(output, "fifo\nin\nout\nreport\nwant\n");
    expect_status(2, "./step3 --trace /dev/full 2>&1 >/dev/null");
    expect("the trace is not complete: No space left");
    expect_status(2, "./step3 --output /dev/fd/9 2>&1");
    expect("Bad file descriptor");
}

/* By the usual names of stdout. Numbers before the JSON on stdout would make it invalid. */
Test(files, numbers_on_stdout_send_the_report_to_stderr)
{
    static const char *const paths[] = {"-", "/dev/stdout", "/proc/self/fd/1"};
    expect_status(0, "seq 8 >$t/in; seq 0 7 | awk '{ print s + 0; s += $1 + 1 }' >$t/want");
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        expect_status(0,
                      "./step5 --input $t/in --output %s --json 2>$t/report | cmp - $t/want && "
                      "head -n 1 $t/report | grep -qx {",
                      paths[i]);
}

Test(files, a_trace_goes_to_stdout_as_an_output_does)
{
    static const char *const paths[] = {"-", "/dev/stdout"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        expect_status(0,
                      "cd $t && $OLDPWD/step5 --n 8 --trace %s --json 2>report | grep -c scan.cu: "
                      "&& head -n 1 report | grep -qx { && ls",
                      paths[i]);
        expect("\nreport\n");
        expect_not("-\n");
    }
}

/* ---- signals --------------------------------------------------------------------------------- */

/* Starts a program, sends it a signal when it has written to a new file, and prints its exit status
 * and the files that are left. Shells ignore SIGINT for programs in the background, and the tests'
 * caller may ignore others, as nohup does; `env` undoes that. The sanitizers would catch faults
 * instead of the program. */
#define SANITIZERS                                                                                 \
    " ASAN_OPTIONS=$ASAN_OPTIONS:handle_segv=0:handle_sigbus=0:handle_abort=0:"                    \
    "verify_asan_link_order=0 "
#define KILL(signal, name, program)                                                                \
    "exec 2>/dev/null; ulimit -c 0; echo old >$t/" name                                            \
    "; env --default-signal" SANITIZERS program " >/dev/null 2>&1 & "                              \
    "until test -n \"$(find /proc/$!/fd -lname \"$t/*\" ! -lname \"$t/" name                       \
    "\" -exec test -s {} \\; -print)\"; do "                                                       \
    "kill -0 $! 2>/dev/null || break; sleep 0.01; "                                                \
    "done; kill -" signal " $! && wait $!; echo status $?; head -c 20 $t/" name "; ls $t"

#define STEP5 "./step5 --n 2^20 --trace $t/o.txt"

/* Ctrl-C keeps the trace so far; signals that end the program at once do not. */
Test(files, a_signal_leaves_no_temporary_file_of_a_trace)
{
    static const char *const signals[] = {"TERM", "HUP", "QUIT", "USR1", "PROF", "SEGV"};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        run(KILL("%s", "o.txt", STEP5), signals[i]);
        expect("old\no.txt\n");
    }
    run(KILL("INT", "o.txt", STEP5) "; grep -c scan.cu: $t/o.txt");
    expect("status 130\n");
    expect_not("old");
    expect_not("o.txt.");
}
