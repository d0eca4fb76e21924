/*
 * test_files.c — the files that programs write are complete or not written at all. Runs in the top
 * folder of a built tree.
 */
#include "tests/support/command.h"

#include <stdio.h>
#include <string.h>

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

/* As with --output: test_output.c. */
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

/* By any path that leads to stdout. Numbers before the JSON on stdout would make it invalid. */
Test(files, numbers_on_stdout_send_the_report_to_stderr)
{
    static const char *const paths[] = {"-", "/dev/stdout", "/proc/self/fd/1", "$t/link"};
    expect_status(0, "seq 8 >$t/in; seq 0 7 | awk '{ print s + 0; s += $1 + 1 }' >$t/want; "
                     "ln -s /dev/stdout $t/link");
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        expect_status(0,
                      "./step5 --input $t/in --output %s --json 2>$t/report | cmp - $t/want && "
                      "head -n 1 $t/report | grep -qx {",
                      paths[i]);
}

Test(files, a_trace_goes_to_stdout_as_an_output_does)
{
    static const char *const paths[] = {"-", "/dev/stdout", "//dev/stdout"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        expect_status(0,
                      "cd $t && $OLDPWD/step5 --n 8 --trace %s --json 2>report | grep -c scan.cu: "
                      "&& head -n 1 report | grep -qx { && ls",
                      paths[i]);
        expect("\nreport\n");
        expect_not("-\n");
        expect_status(2, "./step5 --n 8 --trace %s --output - 2>&1", paths[i]);
        expect("both go to stdout");
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
