/*
 * test_emu_command.c — the command build/emu/emu, run on programs made of
 * kernels.cu.
 *
 * That program prints one line and launches two kernels, `strided` with one bank conflict, and
 * `twice`.
 */
#define _GNU_SOURCE
#include "common/tools/emu/ptx/ptx.h"
#include "tests/support/command.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(emu_command, .init = command_init, .fini = command_fini);

/* ---- running programs ------------------------------------------------------------------------ */

#define LAST "last value 124\n"

/* `strided` writes 0, 2, …, 62, and `twice` doubles them. A program with the emulator's runtime in
 * it needs no command. nvcc -rdc=true gives the PTX of each generation's compiler. */
Test(emu_command, output_and_exit_code_are_the_programs)
{
    RUNS({7, "{ " QUIET "$p/shared 7 2>/dev/null; }", {"=" LAST}},
         {0, "{ $emu --log-file stderr $p/shared 2>/dev/null; }", {"=" LAST}},
         {0, QUIET "$p/shared --help", {"=" LAST}},
         {0, "PATH=$PATH:$(realpath $p) " QUIET "shared", {"=" LAST}},
         {3, "env -u LD_LIBRARY_PATH $p/emulated 3", {"=" LAST}},
         {3, "$emu --csv $p/emulated 3", {"\"strided\""}},
         {0, "$emu --csv $p/per-thread", {LAST, "\"twice\""}},
         {0, "EMU_GPU=t4 " QUIET "$p/linked", {"=0 wrong, counter 39, no error\n"}},
         {0, "EMU_GPU=h200 " QUIET "$p/linked", {"=0 wrong, counter 39, no error\n"}},
         {0, "EMU_GPU=b200 " QUIET "$p/linked", {"=0 wrong, counter 39, no error\n"}});
}

Test(emu_command, other_models)
{
    RUNS({0, "$emu --gpu h200 --csv $p/shared", {LAST, "\"9.0\""}},
         {0, "$emu --gpu h100 --csv $p/shared", {LAST, "\"9.0\""}},
         {0, "$emu --gpu a100 --csv $p/shared", {LAST, "\"8.0\""}},
         {0, "$emu --gpu t4 --csv $p/shared", {LAST, "\"7.5\""}},
         {0, "$emu --gpu rtx4090 --csv $p/shared", {LAST, "\"8.9\""}},
         {0, "$emu --gpu b200 --csv $p/shared", {LAST, "\"10.0\""}});
}

/* ---- the report ------------------------------------------------------------------------------ */

#define LEADING                                                                                    \
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\"," \
    "\"Block Size\",\"Grid Size\",\"Device\",\"CC\""
#define CONFLICTS_LD  "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"
#define WAVEFRONTS_LD "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
#define WAVEFRONTS_ST "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"
#define SECTORS_ST    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"

/* The exact layout of ncu --csv --page raw. Only the process differs from run to run. */
Test(emu_command, csv)
{
    expect_status(0, "$emu --csv --metrics " CONFLICTS_LD "," WAVEFRONTS_LD "," WAVEFRONTS_ST
                     "," SECTORS_ST " --log-file $t/csv $p/shared >/dev/null &&"
                     " sed 's/\"[0-9]*\",\"shared\"/\"PID\",\"shared\"/' $t/csv");
    cr_assert_str_eq(
        output, LEADING
        ",\"" CONFLICTS_LD "\",\"" WAVEFRONTS_LD "\",\"" WAVEFRONTS_ST "\",\"" SECTORS_ST "\"\n"
        "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"sector\"\n"
        "\"0\",\"PID\",\"shared\",\"127.0.0.1\",\"strided\",\"1\",\"7\",\"(32, 1, 1)\","
        "\"(1, 1, 1)\",\"0\",\"9.0\",\"1\",\"2\",\"2\",\"4\"\n"
        "\"1\",\"PID\",\"shared\",\"127.0.0.1\",\"twice\",\"1\",\"7\",\"(32, 1, 1)\","
        "\"(1, 1, 1)\",\"0\",\"9.0\",\"0\",\"0\",\"0\",\"4\"\n");
}

Test(emu_command, the_report_follows_the_programs_output)
{
    expect_status(0, "$emu --csv $p/shared");
    cr_assert(strncmp(output, "last value 124\n" LEADING, strlen("last value 124\n" LEADING)) == 0,
              "%s", output);
}

#define HINT "nothing has been stored holds them; --tool all says where\n"

/* Fresh memory that is copied to the host names the checkers. Kernels are numbered among those that
 * are shown. */
Test(emu_command, tables)
{
    RUNS({0, "$emu $p/shared",
          {"] shared: 2 launches on an emulated NVIDIA H200; 1 bank conflicts, 12 sectors of "}},
         {0, "$emu --page raw $p/shared",
          {"emulated: NVIDIA H200\n", "strided (1, 1, 1)x(32, 1, 1)", CONFLICTS_LD, "!\""}},
         {0, "$emu $pairs/init init-tail wrong", {HINT}},
         {0, "$emu --tool all $pairs/init init-tail wrong", {"!" HINT}},
         {0, "$emu $pairs/init init-tail right", {"!" HINT}},
         {0, "$emu --csv --kernel-name twice $p/shared", {"\"0\",", "\"twice\"", "!\"strided\""}},
         {0, "$emu --csv -k 'regex:^st.*d$' $p/shared", {"\"strided\"", "!\"twice\""}},
         {0, "$emu -k nothing $p/shared", {"no kernel"}});
}

Test(emu_command, counts_of_each_line)
{
    expect_status(0, "$emu --csv --page source --metrics " CONFLICTS_LD "," WAVEFRONTS_LD
                     " -k strided $p/shared");
    expect("\"ID\",\"Kernel Name\",\"File\",\"Line\",\"" CONFLICTS_LD "\"");
    /* The one line that loads from shared memory. */
    FILE *source = fopen("tests/cases/fixtures/programs/kernels.cu", "r");
    cr_assert(source != NULL);
    char line[256], row[64] = "";
    for (int number = 1; fgets(line, sizeof line, source) != NULL; number++)
        if (strstr(line, "= words[2 *") != NULL)
            snprintf(row, sizeof row, "kernels.cu\",\"%d\",\"1\",\"2\"\n", number);
    fclose(source);
    cr_assert(row[0] != '\0');
    expect(row);
    expect_status(0, "$emu --per-line -k strided $p/shared");
    expect("kernels.cu:");
}

/* Stride 8 has 7 conflicts, 4 has 3, and 2 and 6 have 1 each. Launches count from 0. */
Test(emu_command, the_launches_of_a_kernel_are_one_table)
{
    expect_status(0, "$emu --metrics " CONFLICTS_LD " $p/launches often 8 | tail -n +4");
    cr_assert_str_eq(output, "  strided (1, 1, 1)x(32, 1, 1), 8 launches, Device 0, CC 9.0\n"
                             "    counters: exact (sm_90)\n"
                             "                                                              "
                             "                all launches       largest  in launch\n"
                             "    " CONFLICTS_LD "                            12             7"
                             "          7\n"
                             "  once (2, 1, 1)x(32, 1, 1), Context 1, Stream 7, Device 0, CC 9.0\n"
                             "    counters: exact (sm_90)\n"
                             "    " CONFLICTS_LD "                             0\n"
                             "  each launch by itself: emu --launches, or EMU_LAUNCHES=1\n");
    expect_status(0, "$emu $p/launches often 20000 | wc -l");
    cr_assert_lt(atoi(output), 40, "%s", output);
}

Test(emu_command, each_launch_by_itself)
{
#define EIGHT " $p/launches often 8 | grep -c 'strided (1, 1, 1)x(32, 1, 1), C'"
    RUNS({0, "$emu --launches" EIGHT, {"=8\n"}}, {0, "EMU_LAUNCHES=1 $emu" EIGHT, {"=8\n"}},
         {0, "$emu --csv $p/launches often 8 | grep -c '\"strided\"'", {"=8\n"}}); /* as ncu does */
}

Test(emu_command, the_lines_of_all_launches)
{
    expect_status(0, "$emu --per-line --metrics " CONFLICTS_LD " $p/launches often 8 |"
                     " grep -A 2 \"launches.cu:$(grep -n 'words.stride' "
                     "tests/cases/fixtures/programs/launches.cu | cut -d: -f1)\" | tail -n 1");
    cr_assert_str_eq(output, "    " CONFLICTS_LD
                             "                            12             7          7\n");
}

/* The launch is in the report, but its counts are not. */
Test(emu_command, a_kernel_that_fails_was_launched)
{
    RUNS({1, "$emu $p/launches assert",
          {"] launches: 2 launches (1 failed) on an emulated NVIDIA H200; ",
           "!--tool all"}}, /* the message has said why */
         {1, "{ $emu --page raw $p/launches assert 2>/dev/null; }",
          {"  checked (1, 1, 1)x(32, 1, 1), Context 1, Stream 7, Device 0, CC 9.0\n"
           "    the kernel failed: device-side assert triggered; what it counted until then is not "
           "kept\n",
           "!no kernel"}},
         {1, "{ $emu -k checked $p/launches assert 2>/dev/null; }",
          {"the kernel failed: device-side assert triggered"}},
         {1, "{ $emu --csv $p/launches assert 2>/dev/null; }", {"!checked"}});
}

#define FULL "emu: stdout cannot be written: No space left on device\n"

Test(emu_command, a_log_file_is_whole_or_not_there)
{
    expect_status(0, "$emu --csv --log-file $t/log $p/shared && wc -l <$t/log && ls $t");
    expect("last value 124\n4\n");
    expect("log");
    expect_not("log."); /* no temporary file stays */
    RUNS({2, "{ $emu --help 2>&1 >/dev/full; }", {FULL}},
         {2, "{ $emu --version 2>&1 >/dev/full; }", {FULL}},
         {2, "{ $emu --nvcc-flags 2>&1 >/dev/full; }", {FULL}},
         {2, "echo old >$t/log; $emu --log-file /dev/full $p/shared",
          {"emu: the report is not written to /dev/full: No space left on device\n"}});
    expect_status(2, "$emu --log-file $t/none/log $p/shared 2>&1");
    expect_one_sentence();
    expect_status(2, "$emu --log-file $t $p/shared 2>&1");
    expect_one_sentence();
    expect_status(0, "cat $t/log");
    cr_assert_str_eq(output, "old\n");
}

Test(emu_command, a_trace)
{
    expect_status(0, "$emu --log-file /dev/null --trace $t/trace $p/shared && cat $t/trace");
    expect("strided");
    expect_status(2, "$emu --trace $t/none/trace $p/shared 2>&1");
    expect_one_sentence();
    expect_status(2, "$emu --log-file /dev/null --trace /dev/full $p/shared 2>&1");
    expect("emu: the trace is not complete: No space left on device\n");
}

/* Without the command, the variables do the same. */
Test(emu_command, variables_alone)
{
    expect_status(0, "EMU_CSV=1 EMU_METRICS=" CONFLICTS_LD " $p/emulated");
    expect(LEADING ",\"" CONFLICTS_LD "\"\n");
    expect_status(0, "EMU_COUNTERS=0 $p/emulated");
    cr_assert_str_eq(output, "last value 124\n");
    static const char *const wrong[] = {"EMU_COUNTERS=yes", "EMU_CSV=2", "EMU_METRICS=flops",
                                        "EMU_CSV=1 EMU_KERNEL_NAME='regex:('",
                                        "EMU_CSV=1 EMU_LENIENT=maybe"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        expect_status(2, "%s $p/emulated 2>&1", wrong[i]);
        expect_one_sentence();
    }
}

/* ---- kernels that run for a long time -------------------------------------------------------- */

/* The lines that a program which runs for three seconds writes. */
static void expect_lines_of(const char *settings, const char *arguments)
{
    expect_status(1, "%s EMU_KERNEL_TIMEOUT=3 $emu --log-file /dev/null $p/launches %s 2>&1",
                  settings, arguments);
    expect("the launch timed out");
}

Test(emu_command, a_long_kernel_says_how_far_it_is_slow, .timeout = 60)
{
    expect_lines_of("EMU_THREADS=1 EMU_PROGRESS=1", "long 10000");
    expect("emu: kernel work: ");
    expect(" of 65536 blocks are done after 1 s, about ");
    expect(" are left; faster: a smaller problem");
    expect("(EMU_PROGRESS=0: no such lines)\n");
    expect(" of 65536 blocks are done after 2 s, about ");
    expect_not("after 3 s");
    expect_not("\r");
    expect_lines_of("EMU_THREADS=1 EMU_PROGRESS=1 EMU_TOOL=synccheck EMU_SCHEDULE=3", "endless");
    expect("emu: kernel endless: 0 of 1 blocks are done after 1 s, 1 have begun; faster: a smaller "
           "problem, no --tool, no --schedule (EMU_PROGRESS=0: no such lines)\n");
}

Test(emu_command, progress_is_silent_when_asked_slow, .timeout = 60)
{
    expect_lines_of("EMU_PROGRESS=0", "endless");
    expect_not("blocks are done");
    expect_lines_of("EMU_PROGRESS=4", "endless");
    expect_not("blocks are done");
}

/* ---- commands that start programs ------------------------------------------------------------ */

/* Makes $t/script of these lines. */
static void make_script(const char *lines)
{
    expect_status(0, "printf '#!/bin/sh\n%%s\n' \"%s\" >$t/script && chmod +x $t/script", lines);
}

Test(emu_command, reports_of_a_scripts_programs_follow_its_output)
{
    make_script("$p/shared >$t/redirected; echo between; $p/launches often 2; exit 5");
    expect_status(5, "$emu --metrics " CONFLICTS_LD " $t/script | sed 's/^.[0-9]*]/PID/'; exit 5");
    const char *between = strstr(output, "between\nno error\nPID shared\n");
    cr_assert(between == output, "%s", output);
    cr_assert(strstr(output, "PID launches\n") > strstr(output, "twice (1, 1, 1)"), "%s", output);
    expect_status(5, "$emu --log-file $t/log $t/script && cat $t/log; exit 5");
    expect_status(0, "cat $t/redirected; grep -c strided $t/log");
    cr_assert_str_eq(output, "last value 124\n2\n");
}

Test(emu_command, a_command_has_its_own_exit_code)
{
    make_script("$p/shared 7");
    RUNS({7, QUIET "$t/script", {NULL}}, {7, QUIET "sh $t/script", {NULL}},
         {7, QUIET "env $p/shared 7", {NULL}},
         {143, "env --default-signal=TERM " QUIET "sh -c \"$p/shared; kill -TERM \\$\\$\"",
          {NULL}},
         {9, "env --default-signal=TERM $emu sh -c 'trap \"exit 9\" TERM; sleep 5 & wait'"
             " 2>/dev/null & sleep 0.3; kill -TERM $!; wait $!", {NULL}},
         {7, "printf 'exec %s 7' $p/shared >$t/plain; chmod +x $t/plain;" QUIET "$t/plain",
          {NULL}}); /* without #! */
}

Test(emu_command, rows_of_several_programs_have_one_head)
{
    make_script("$p/shared; $p/shared");
    expect_status(0,
                  "$emu --csv --log-file $t/csv $t/script && wc -l <$t/csv && grep -c ID $t/csv");
    expect("last value 124\nlast value 124\n6\n1\n");
}

Test(emu_command, a_check_log_has_the_findings_of_all_programs)
{
    make_script("$p/shared; $pairs/memory memory-write wrong; $p/shared");
    expect_status(0, "echo old >$t/log; $emu --tool memcheck --log-file $t/log $t/script;"
                     " grep -c 'ERROR SUMMARY' $t/log; grep -c 'Invalid __global__ write' $t/log");
    expect("\n3\n");
    expect_status(1, "grep -x old $t/log");
}

#define RANK(mpi, rank) mpi "_RANK=" #rank " " mpi "_SIZE=2 "
#define OPEN_MPI        "OMPI_COMM_WORLD"
#define MPICH           "PMI"

Test(emu_command, each_rank_writes_files_of_its_own)
{
    expect_status(0, "mkdir $t/a.b; for rank in 0 1; do export " OPEN_MPI "_RANK=$rank " OPEN_MPI
                     "_SIZE=2; $emu --trace $t/a.b/t --html $t/p.q.html --sarif $t/.s --csv "
                     "--log-file $t/r.csv $p/shared; EMU_TOOL=all EMU_CHECK_LOG=$t/c.log $emu "
                     "$p/shared >/dev/null; done; cd $t; ls -A a.b .");
    expect(".:\n.s.0\n.s.1\na.b\nc.0.log\nc.1.log\np.q.0.html\np.q.1.html\nr.0.csv\nr.1.csv\n");
    expect("a.b:\nt.0\nt.1\n");
    expect_status(0, "cd $t; grep -c strided a.b/t.0 p.q.0.html .s.0 r.0.csv; cat c.1.log");
    expect("ERROR SUMMARY: 0 errors");
    expect_status(0, RANK(MPICH, 1) "$emu --trace $t/m $p/shared && cat $t/m.1");
    expect("strided");
}

Test(emu_command, a_command_that_starts_no_program)
{
    static const char *const commands[] = {"/bin/ls", "sh -c :", "/usr/bin/env true"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        expect_status(0, "$emu %s 2>&1 >/dev/null", commands[i]);
        expect_one_sentence();
        expect(" started no program that uses CUDA's runtime, so nothing was emulated (");
    }
    expect_status(3, "$emu --tool all sh -c 'exit 3' 2>&1");
    expect_one_sentence();
}

/* As a lab's Makefile links: an RPATH comes before LD_LIBRARY_PATH. */
Test(emu_command, a_program_linked_by_gxx_with_an_rpath)
{
    RUNS({3, "$emu --csv $p/rpath 3", {"last value 124\n", "\"twice\""}},
         {3, "$emu --csv sh -c \"$p/rpath 3\"", {"\"twice\""}});
}

Test(emu_command, python_finds_the_emulator)
{
    if (run("command -v python3 >/dev/null") != 0) cr_skip_test("there is no python3");
    expect_status(0, "$emu python3 -c 'import ctypes; n = ctypes.c_int(); "
                     "print(ctypes.CDLL(\"libcudart.so.13\").cudaGetDeviceCount(ctypes.byref(n)),"
                     " n.value)' 2>&1");
    expect("0 1\n");
    expect("no kernel was launched");
    /* Some look into folders by themselves, and compute on the CPU if there is no driver. */
    expect_status(0, "$emu --tool all python3 -c 'import ctypes, glob, os; print(*[ctypes.CDLL(f)"
                     ".cuInit(0) for d in os.environ[\"LD_LIBRARY_PATH\"].split(\":\")"
                     " for f in glob.glob(d + \"/libcuda.so*\")], \"found\")' 2>&1");
    expect("0 found\n");
    expect("no kernel was launched by ");
    expect_status(3, "$emu --csv $p/shared 3 2>&1");
    expect_not("no kernel");
}

/* Without a GPU its results would be wrong. */
Test(emu_command, a_program_that_cannot_be_emulated_is_ended_below_a_command)
{
    RUNS({0, "$emu sh -c \"$p/nvidia; echo status \\$?\"",
          {"nvidia has NVIDIA's runtime linked into it (libcudart_static.a), which needs a GPU; ",
           "\nstatus 2\n", "!last value", "!started no program"}});
}

/* The dynamic linker, by which emu looks at programs, has no part in it. */
Test(emu_command, a_static_program_is_named_below_a_command)
{
    const char *source = "#include <stdio.h>\n"
                         "__attribute__((section(\".nv_fatbin\"), used)) char fat[8] = {1};"
                         "int main(void) { return puts(\"it runs\") < 0; }";
    expect_status(
        0,
        "printf 'all:\\n\\t%%s\\n' $t/static >$t/Makefile; cat >$t/static.c <<'END'\n%s\nEND\n"
        "gcc -static $t/static.c -o $t/static",
        source);
    static const char said[] =
        "/static is linked statically with the C library and has NVIDIA's runtime linked into "
        "it: it runs without the emulator, and needs a GPU; ";
    RUNS({0, "$emu env $t/static", {"it runs\n", said, "!started no program"}},
         {0, "$emu make -s -f $t/Makefile", {"it runs\n", said, "!started no program"}},
         {0, "$emu python3 -c 'import subprocess as s; s.run([\"'$t'/static\"])'",
          {"it runs\n", said, "!started no program"}},
         {0, "gcc -static -x c - -o $t/plain <<'END'\nint main(void) { return 0; }\nEND\n"
             "$emu sh -c '$t/plain; exit 0'", {"!it runs without the emulator"}});
}

Test(emu_command, libraries_that_need_a_gpu_are_named)
{
    /* A library that is not called, or is called by linking, or by dlsym. */
    expect_status(
        0, "cd $t; echo '__attribute__((section(\".nv_fatbin\"), used)) char fat[8] = {1};"
           "int half(int n) { return n / 2; }' >half.c; gcc -shared -fPIC half.c -o half.so;"
           "echo 'int half(int); int main(int count, char **words) { (void)words;"
           "return count > 1 ? half(2 * count) : 1; }' >main.c;"
           "gcc main.c -Wl,-z,lazy $t/half.so -o main;"
           "echo 'import ctypes, sys; f = ctypes.CDLL(sys.argv[1]).half; exit(f(4))' >main.py");
    expect_status(0, "cd $t; { echo '#include <dlfcn.h>'; cat half.c;"
                     "echo '__attribute__((constructor)) static void f(void)"
                     "{ dlopen(\"libcuda.so.1\", RTLD_LAZY); }'; } >load.c;"
                     "gcc -shared -fPIC load.c -o load.so");
    static const char part[] = ", a part of CUDA's driver, which needs a GPU: ";
    static const char calls[] =
        " calls, has NVIDIA's runtime linked into it, and that needs a GPU: ";
    RUNS(
        {0, QUIET "env LD_PRELOAD=$p/needs_gpu.so $p/shared", {"=" LAST}}, /* it is not called */
        {1, "$emu $t/main", {"!needs a GPU"}},
        {2, "$emu $t/main x", {"emu: half.so, which ", calls}},
        {2, "$emu python3 $t/main.py $t/half.so", {"emu: half.so, which ", calls}},
        {0, QUIET "env LD_PRELOAD=libnvidia-ml.so.1 $p/shared",
         {"/shared loads libnvidia-ml.so.1", part}},
        /* The emulator has libcuda.so.1, but not for NVIDIA's runtime. */
        {0, QUIET "env LD_PRELOAD=libcuda.so.1 $p/shared", {"!needs a GPU"}},
        {0, QUIET "env LD_PRELOAD=$t/load.so $p/shared", {"emu: load.so loads libcuda.so.1", part}},
        {0, QUIET "env LD_PRELOAD=$p/needs_cudart.so $p/shared", {"!needs a GPU"}});
}

/* ---- commands that are refused --------------------------------------------------------------- */

Test(emu_command, nvidias_static_runtime_is_refused_with_the_cure)
{
    expect_status(2, "$emu $p/nvidia 2>&1");
    expect_one_sentence();
    expect("-cudart shared");
    expect("--nvcc-flags");
    /* Also if the program's symbols have been removed. */
    expect_status(2, "strip -o $t/stripped $p/nvidia && $emu $t/stripped 2>&1");
    expect("-cudart shared");
    expect_status(0, "strip -o $t/ours $p/emulated && $emu --log-file /dev/null $t/ours 2>&1");
    cr_assert_str_eq(output, "last value 124\n");
}

Test(emu_command, what_is_no_program)
{
    static const char *const commands[] = {
        ": >$t/empty; chmod +x $t/empty; $emu $t/empty",
        "head -c 100 $p/shared >$t/cut; chmod +x $t/cut; $emu $t/cut",
        "head -c 9000 $p/shared >$t/half; chmod +x $t/half; $emu $t/half",
        "$emu",
        "$emu --csv",
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        expect_status(2, "{ %s; } 2>&1", commands[i]);
        expect_one_sentence();
    }
}

#define COUNTS                                                                                     \
    "--tool checks and does not count: leave --csv, --launches, --metrics, --page, --per-line "    \
    "and "                                                                                         \
    "--kernel-name away"

Test(emu_command, wrong_options_and_programs_that_are_none)
{
    static const char *const rows[][2] = {
        {"--model voodoo", "there is no set of rules \"voodoo\"; see emu --help"},
        {"--page details", "--page takes raw or source, not \"details\""},
        {"--kernel-name 'regex:('",
         "--kernel-name regex:( is not a regular expression: Unmatched ( or \\("},
        {"--no-such-option", "there is no option --no-such-option; see emu --help"},
        {"--csv -q", "there is no option -q; see emu --help"},
        {"--csv=1", "--csv takes no value, but was given \"1\"."},
        {"--json --csv", "--json and --csv are two forms of one report; choose one"},
        {"--csv --annotate Makefile", "--annotate prints source text; leave --json and --csv away"},
        {"--json --annotate Makefile",
         "--annotate prints source text; leave --json and --csv away"},
        {"--annotate none", "cannot read none: No such file or directory"},
        {"--budget none", "cannot read none: No such file or directory"},
        {"--log-file /no/x", "cannot write the log file /no/x: No such file or directory"},
        {"--sarif /no/x", "cannot write /no/x: No such file or directory"},
        {"--tool all --metrics emu__ptx_inst_executed.sum", COUNTS},
        {"--kernel-name x --tool all", COUNTS},
        {"run", "which file? usage: emu [options] run FILE.cu [arguments]"},
        {"run --csv x.cu",
         "emu run takes a file first, not --csv; options of emu stand before run"},
        {"run x", "emu run compiles a file FILE.cu, not x; a program that is called run is ./run"},
        {"run x/.cu",
         "emu run compiles a file FILE.cu, not x/.cu; a program that is called run is ./run"},
        {"run none.cu", "cannot read none.cu: No such file or directory"},
        {"./none", "cannot run ./none: No such file or directory"},
        {"no-such-program", "there is no program no-such-program in PATH"},
        {"tests/cases/fixtures/programs/kernels.cu",
         "tests/cases/fixtures/programs/kernels.cu is a source file: emu run tests/"
         "cases/fixtures/programs/kernels.cu"},
        {"/tmp", "/tmp is not a program (ELF) for this machine, nor a script"},
        {"--report common/build/setup.sh",
         "common/build/setup.sh is not a program (ELF) for this machine"},
        {"--report /bin/ls", "/bin/ls holds no PTX that an emulated NVIDIA H200 could run"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char said[1000];
        bool is_option = *rows[i][0] == '-' && strncmp(rows[i][0], "--report", 8) != 0;
        snprintf(said, sizeof said, "emu: %s\n", rows[i][1]);
        expect_status(2, "$emu %s %s </dev/null 2>&1", rows[i][0], is_option ? "$p/shared" : "");
        cr_expect_str_eq(output, said, "emu %s", rows[i][0]);
    }
    expect_status(2, "cd $t && cp /bin/ls mine && $OLDPWD/$emu mine 2>&1");
    expect("emu: mine is not in PATH; for the one in this folder say ./mine\n");
    expect_status(2, "$emu --metrics " CONFLICTS_LD ",nonsense $p/shared 2>&1");
    expect("emu: there is no metric \"nonsense\"; these are known:\n");
    expect("  " CONFLICTS_LD "\n");
    expect_not("last value");
}

/* Every variable, with the values that it takes, and the options that set it. A variable is checked
 * even if no other variable turns on the tool that it belongs to. */
Test(emu_command, every_wrong_setting_is_told, .timeout = 60)
{
    static const struct {
        const char *variable, *option, *accepted, *wrong[8]; /* the last one NULL */
    } settings[] = {
        {"EMU_GPU", "--gpu", "one of h200", {"voodoo2", "H-200"}},
        {"EMU_MODEL", "--model", "g80, gt200", {"volta", "0"}},
        {"EMU_PTX", NULL, "such as 75", {"0", "sm_75", "7.5", "1000", "-1"}},
        {"EMU_DEVICES", "--devices", "1 to 16", {"0", "17", "two", "-1", "+2", " 2", "2x"}},
        {"EMU_PROGRESS", "--progress", "0 to 1000000", {"-1", "soon", "1000001", "+1"}},
        {"EMU_THREADS", "--threads", "1 to 1024", {"0", "1025", "x", "-1", "+2", " 2", "0x4"}},
        {"EMU_MEMORY", NULL, "a number of bytes", {"0", "lots", "1T", "2GB", "-1", "1.5G", "G"}},
        {"EMU_MEMORY", NULL, "a number of bytes", {"99999999999999999999", "9999999999999G"}},
        {"EMU_TIMEOUT", NULL, "1 to 1000000", {"0", "1000001", "1s", "-5", "never"}},
        {"EMU_KERNEL_TIMEOUT", NULL, "1 to 1000000", {"0", "1000001", "1s", "-5", "never"}},
        {"EMU_LENIENT", NULL, "0 or 1", {"yes", "2", "-1"}},
        {"EMU_COUNTERS", NULL, "0, 1, lines or summary", {"yes", "2", "line"}},
        {"EMU_CSV", NULL, "0 or 1", {"yes", "2"}},
        {"EMU_LAUNCHES", NULL, "0 or 1", {"all", "2"}},
        {"EMU_METRICS", "--metrics", NULL, {"flops"}},
        {"EMU_KERNEL_NAME", "--kernel-name", "regular expression", {"regex:(", "regex:["}},
        {"EMU_TOOL", "--tool", "memcheck, racecheck", {"leakcheck", "memcheck,", "1", "ALL"}},
        {"EMU_PRINT_LIMIT", "--print-limit", "0 to 1000000", {"-1", "x", "1000001", "1e3", "+1"}},
        {"EMU_ERROR_EXITCODE", "--error-exitcode", "0 to 255", {"-1", "256", "one", "9x", " 9"}},
        {"EMU_LEAK_CHECK", "--leak-check", "full or no", {"yes", "1", "Full"}},
        {"EMU_API_ERRORS", "--report-api-errors", "explicit or no", {"all", "yes", "0"}},
        {"EMU_SCHEDULE", "--schedule", "number", {"x", "-1", "1.5", "99999999999999999999", "+7"}},
        {"EMU_BLOCKS", "--blocks", "ascending or descending", {"up", "1", "desc"}},
        {"EMU_LOG_FILE", "--log-file", NULL, {"/no/such/folder/log", "/"}},
        {"EMU_TRACE", "--trace", NULL, {"/no/such/folder/trace", "/"}},
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        for (size_t k = 0; settings[i].wrong[k]; k++) {
            const char *variable = settings[i].variable, *wrong = settings[i].wrong[k];
            expect_status(2, "EMU_COUNTERS=1 %s='%s' $p/emulated 2>&1", variable, wrong);
            expect_one_sentence();
            expect(variable);
            expect(wrong);
            expect_not("last value");
            if (settings[i].accepted) expect(settings[i].accepted);
            if (!settings[i].option) continue;
            expect_status(2, "$emu %s '%s' $p/shared 2>&1", settings[i].option, wrong);
            expect("emu: ");
            expect(wrong);
            expect_not("last value");
        }
}

/* ---- outputs that would destroy something ---------------------------------------------------- */

/* Runs a command that must be refused and must not change the file. */
static void expect_kept(const char *file, const char *command)
{
    char before[64];
    expect_status(0, "cksum <$t/%s", file);
    snprintf(before, sizeof before, "%s", output);
    expect_status(2, "cd $t; { %s; } 2>&1", command);
    expect_one_sentence();
    expect_not("last value");
    expect_status(0, "cksum <$t/%s", file);
    cr_assert_str_eq(output, before, "%s", command);
}

Test(emu_command, a_log_that_is_the_program_a_library_or_an_argument_is_refused)
{
    static const char *const rows[][2] = {
        {"prog", "$emu --log-file ./prog ./prog"},
        {"prog", "$emu --log-file ../$(basename $t)/prog ./prog"},
        {"prog", "$emu --log-file symbolic ./prog"},
        {"prog", "$emu --log-file prog ./symbolic"},
        {"prog", "$emu --trace ./prog ./prog"},
        {"prog", "$emu --tool memcheck --log-file hard ./prog"},
        {"prog", "PATH=$t:$PATH $emu --log-file prog prog"},
        {"prog", "EMU_COUNTERS=1 EMU_LOG_FILE=prog ./prog"},
        {"prog", "EMU_TOOL=memcheck EMU_CHECK_LOG=symbolic ./prog"},
        {"other", "$emu --log-file other ./prog"},
        {"input", "$emu --log-file input ./prog input"},
        {"input", "$emu --log-file input ./prog --input=link"},
        {"input", "$emu --trace input ./prog 5 input"},
        {"input", "$emu --log-file new ./prog --output ./new"},
        {"input", "$emu --log-file input --trace link ./prog"},
    };
    expect_status(0, "cp $p/emulated $t/prog; ln $t/prog $t/hard; ln -s prog $t/symbolic; "
                     "cp $p/shared $t/other; echo text >$t/input; ln -s input $t/link");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char command[300];
        snprintf(command, sizeof command, "emu=$OLDPWD/" EMU "; %s", rows[i][1]);
        expect_kept(rows[i][0], command);
    }
    expect_status(0, "cd $t; $OLDPWD/" EMU " --log-file input --trace new ./prog; cat input");
    expect("strided");
    expect_status(7, "$emu --log-file /dev/null --trace /dev/null $p/shared 7 /dev/null");
    expect_status(7, "$emu --log-file stderr $p/shared 7 stderr 2>/dev/null");
}

/* ---- flags for nvcc, and help --------------------------------------------------------------- */

Test(emu_command, nvcc_flags)
{
    expect_status(0, "f=$($emu --nvcc-flags) && test -f ${f#-L}/libcudart_static.a && echo $f");
    cr_assert(strncmp(output, "-L/", 3) == 0, "%s", output);
    expect_status(0,
                  "mkdir \"$t/a b\" '%s/a`b' && for d in \"$t/a b\" '%s/a`b'; do"
                  " cp $emu \"$d\"; done; \"$t/a b/emu\" --nvcc-flags",
                  folder, folder);
    expect("-L\"/");
    expect("/a b\"\n");
    expect_status(2, "'%s/a`b/emu' --nvcc-flags 2>&1", folder);
    expect("emu: nvcc misreads \", $, ` and \\ in these flags, and the emulator is in /");
    expect_one_sentence();
}

Test(emu_command, help)
{
    expect_status(0, "$emu --help");
    expect("--log-file");
    expect(CONFLICTS_LD);
    expect("rtx4090");
    expect("  h200       NVIDIA H200, compute capability 9.0 (default)\n");
    cr_expect(!strstr(strstr(output, "(default)") + 1, "capability 9.0 (default)"));
    expect_status(0, "$emu --version");
    expect("emu");
}

Test(emu_command, names_of_kernels)
{
    static const char *const names[][2] = {
        {"_Z4scanPfPKfi", "scan"},
        {"_ZN36_GLOBAL__N__26547037_4_s_cu_255137054anonEPi", "anon"},
        {"_Z4tmplIfLi3EEvPT_", "tmpl"},
        {"_ZN3foo3nskENS_1SEPi", "nsk"},
        {"_Z5byval3Vec", "byval"},
        {"_ZL5byval3VecPi", "byval"},
        {"_ZN2ns5byvalE3Vec", "byval"},
        {"_ZL4scanPf", "scan"},
        {"plain_c", "plain_c"},
        {"", ""},
        {"_Z", "_Z"},
        {"_Z99short", "_Z99short"},
        {"_Z99999999999999999999999x", "_Z99999999999999999999999x"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[64];
        kernel_base_name(names[i][0], name, sizeof name);
        cr_assert_str_eq(name, names[i][1]);
    }
}

/* ---- the checkers ---------------------------------------------------------------------------- */

Test(emu_command, a_program_without_errors_is_checked)
{
    static const char *const tools[] = {"memcheck",  "racecheck",          "initcheck",
                                        "synccheck", "memcheck,synccheck", "all"};
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        expect_status(5, "$emu --tool %s --error-exitcode 9 $p/shared 5 2>&1", tools[i]);
        expect("last value 124\n");
        expect(strcmp(tools[i], "racecheck") == 0
                   ? "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n"
                   : "========= ERROR SUMMARY: 0 errors\n");
    }
}

/* The seed is printed, whether given or chosen, and the program computes the same. */
Test(emu_command, turns_by_chance)
{
    RUNS({5, "$emu --schedule 12 $p/shared 5",
          {"emu: random scheduling; --schedule 12 repeats it\n", "last value 124\n"}},
         {5, "$emu --tool racecheck --schedule random $p/shared 5",
          {" repeats it\n", "RACECHECK SUMMARY: 0 hazards"}});
}

/* notes/00: by Fermi's rules lines of 128 bytes move, two where a warp is misaligned. */
Test(emu_command, step_0_counts_by_an_older_gpus_rules)
{
    expect_status(0, "$emu --model fermi --log-file /dev/null "
                     "./step0 --variant misaligned --reps 0");
    expect("4 MiB      8 MiB   50.0 %         2.00");
}

/* The greatest and the smallest value that each option takes. */
Test(emu_command, limits_are_taken)
{
    static const char *const options[] = {
        "--threads 1",        "--threads 1024",
        "--devices 16",       "--error-exitcode 255",
        "--error-exitcode 0", "--tool all --print-limit 1000000",
        "--leak-check full",  "--schedule 18446744073709551615",
        "--blocks ascending", "--report-api-errors explicit",
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        expect_status(0, "$emu %s --log-file $t/log $p/shared 2>&1", options[i]);
}
