/*
 * test_make.c — the Makefile and the scripts of common/build, as far as they can be tested
 * quickly and without a network. Each test works in a copy of them in a temporary folder, with
 * programs put into PATH that stand for another machine: without a compiler, without root, without
 * Linux.
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OUTPUT_SIZE = 1 << 16, COMMAND_SIZE = 1 << 12 };

static char folder[] = "/tmp/upsweep-make-XXXXXX";
static char output[OUTPUT_SIZE]; /* what the last command wrote, stdout and stderr */

/* Runs a shell command in the temporary folder, as if by hand: without what a make above has put
 * into the environment. Returns its exit status; what it wrote is in `output`. */
static int run(const char *format, ...)
{
    char command[COMMAND_SIZE];
    int length = snprintf(command, sizeof command,
                          "exec 2>&1; unset MAKEFLAGS MAKELEVEL MFLAGS CI V; cd %s; ", folder);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command + length, sizeof command - (size_t)length, format, arguments);
    va_end(arguments);

    FILE *pipe = popen(command, "r");
    cr_assert(pipe, "cannot run a shell");
    size_t read = fread(output, 1, sizeof output - 1, pipe);
    output[read] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void expect(const char *text)
{
    cr_assert(strstr(output, text), "expected \"%s\" in:\n%s", text, output);
}

static void expect_not(const char *text)
{
    cr_assert(!strstr(output, text), "did not expect \"%s\" in:\n%s", text, output);
}

/* Puts a program into bin/ (which `bare` makes the whole PATH): a shell script of one line. */
static void program(const char *name, const char *script)
{
    cr_assert(run("rm -f bin/%s; printf '#!/bin/sh\\n%%s\\n' '%s' >bin/%s && chmod +x bin/%s", name,
                  script, name, name) == 0,
              "%s", output);
}

/* A toolkit of that release, as far as toolkit.sh looks at it. */
static void toolkit(const char *path, const char *release)
{
    cr_assert(run("mkdir -p %s/bin %s/include/crt %s/lib64 && cd %s &&"
                  "echo '#if __GNUC__ > 15' >include/crt/host_config.h &&"
                  "touch include/cuda_runtime.h lib64/libcudart.so &&"
                  "echo '#!/bin/sh\necho release %s, V%s.1' >bin/nvcc && chmod +x bin/nvcc",
                  path, path, path, path, release, release) == 0,
              "%s", output);
}

/* Without a toolkit, whatever this machine has in /usr/local. */
static void no_toolkit(void)
{
    cr_assert(run("printf '#!/bin/sh\\nexit 1\\n' >common/build/toolkit.sh") == 0);
}

/* bin/ holds what every Debian has, and neither a compiler nor a way to get packages. */
static const char *bare = "PATH=$PWD/bin CUDA_HOME=$PWD/cuda CUDA_PATH=";

static void setup(void)
{
    cr_assert(mkdtemp(folder), "cannot make a folder in /tmp");
    char top[COMMAND_SIZE / 2];
    cr_assert(getcwd(top, sizeof top), "no current folder");
    cr_assert(
        run("mkdir common bin steps && cp -rL '%s/common/build' common/ && here=$PWD && cd '%s' && "
            "cp -L --parents Makefile */*.mk common/*/*.mk $here",
            top, top) == 0,
        "%s", output);
    cr_assert(
        run("for tool in make sh cat cp mv rm ln ls mkdir mktemp chmod touch head tail cut paste "
            "tr wc df sed grep awk find sort env dirname readlink uname nproc id sha256sum; do "
            "ln -s $(command -v $tool) bin/$tool || exit; done") == 0,
        "%s", output);
    toolkit("cuda", "13.0");
}

static void teardown(void) { run("cd /; rm -rf %s", folder); }

TestSuite(make, .init = setup, .fini = teardown);

Test(make, help_lists_every_target)
{
    cr_assert(run("sed -n 's/^.PHONY: //p' Makefile */*.mk */*/*.mk") == 0);
    char targets[OUTPUT_SIZE];
    strcpy(targets, output);
    cr_assert(run("make help") == 0, "%s", output);
    int count = 0;
    for (char *target = strtok(targets, " \n"); target; target = strtok(NULL, " \n"), count++) {
        char line[COMMAND_SIZE];
        snprintf(line, sizeof line, "make %s ", target);
        expect(line);
    }
    cr_assert(count >= 8, "only %d targets are .PHONY", count);
    expect("make stepN ");
    expect("make V=1 ");
}

Test(make, fuzz_says_what_it_needs)
{
    program("gcc", "exit 0");
    program("g++", "exit 0");
    cr_assert(run("%s make fuzz", bare) != 0);
    expect("make fuzz needs clang with libFuzzer");
    expect("apt-get install clang libclang-rt-dev");
    cr_assert(run("%s FUZZ_SECONDS=soon make fuzz", bare) != 0);
    expect("FUZZ_SECONDS=soon is not a number");
}

Test(make, a_step_needs_exactly_one_folder)
{
    cr_assert(run("CUDA_HOME=$PWD/cuda make step7") == 2, "%s", output);
    expect("step7 needs exactly one folder steps/07-*, and there is none");
    cr_assert(run("CUDA_HOME=$PWD/cuda make step03") == 2, "%s", output);
    expect("step03 needs exactly one folder steps/003-*, and there is none");

    cr_assert(run("mkdir steps/07-one steps/07-two && CUDA_HOME=$PWD/cuda make step7") == 2, "%s",
              output);
    expect("step7 needs exactly one folder steps/07-*, and there are 2: ");
    expect("steps/07-one/");
    expect("steps/07-two/");
    cr_assert(run("ls step7 build") != 0, "something was built: %s", output);
}

/* A folder is all that a step needs; make -n tells what would be built. */
Test(make, a_new_step_adds_no_line_to_the_makefile)
{
    cr_assert(run("mkdir -p common/emu common/harness steps/08-new steps/12-newer &&"
                  "touch common/harness/main.c common/emu/emu_main.c common/emu/cudart.map &&"
                  "for s in 08-new 12-newer; do touch steps/$s/scan.cu steps/$s/driver.c; done") ==
              0);
    cr_assert(run("CUDA_HOME=$PWD/cuda make -n step8") == 0, "%s", output);
    expect("-c steps/08-new/scan.cu -o build/steps/08-new/scan.cu.o");
    expect("-c steps/08-new/driver.c -o build/steps/08-new/driver.o");
    expect("-DSTEP=step08");
    expect(".new step8\n");
    expect(".new build/emu/libcudart.so.13\n");
    expect_not("12-newer");

    cr_assert(run("CUDA_HOME=$PWD/cuda make -n") == 0, "%s", output);
    expect(".new step8\n");
    expect("-DSTEP=step12");
    expect(".new step12\n");
}

/* make brings the .d files that it reads up to date: it must not compile main.c for them. */
Test(make, dependency_files_are_not_targets)
{
    cr_assert(
        run("mkdir -p common/emu common/harness steps/08-new build/main && touch -d yesterday "
            "build/main/step08.d &&"
            "touch common/harness/main.c common/emu/emu_main.c common/emu/cudart.map") == 0);
    cr_assert(run("CUDA_HOME=$PWD/cuda make -n step8") == 0, "%s", output);
    expect_not("-DSTEP=step08.d");
}

/* A compiler and a linker that take their time. What they make is complete with its second word,
 * and they fail if what they are given is not. */
static void slow_tools(void)
{
    static const char slow[] =
        "case \"$* \" in \"--version \") echo release 13.0, V13.0.1; exit;; "
        "*\" -E \"*|\"-E \"*) exit;; "
        "*-print*) echo z.a; exit;; esac; "
        "for word; do case $before in -o) out=$word;; -MF) echo >$word;; -MT) ;; "
        "*) case $word in *.o|*.a) inputs=\"$inputs $word\";; esac;; esac; before=$word; done; "
        "for input in $inputs; do [ $input = z.a ] || grep -q \"^first second$\" $input || "
        "{ echo $input is not complete; exit 1; }; done; "
        "printf \"first \" >$out; sleep 0.02; echo second >>$out";
    static const char *const names[] = {"gcc", "g++", "ld", "nvcc"};
    for (int i = 0; i < 4; i++) program(names[i], slow);
    program("ar", "shift; out=$1; shift; exec ld -o $out $*");
    program("objcopy", "exit 0");
    cr_assert(run("cp bin/nvcc cuda/bin/nvcc; mkdir -p common/emu/part common/harness steps/03-x; "
                  "touch common/harness/main.c common/harness/one.c common/harness/two.cu "
                  "common/emu/emu_main.c "
                  "common/emu/cudart.map common/emu/part/one.c common/emu/part/two.c "
                  "steps/03-x/scan.cu steps/03-x/driver.c") == 0);
}

/* From two terminals, say: both build the same things at the same time. */
Test(make, two_at_once)
{
    slow_tools();
    for (int i = 0; i < 5; i++) {
        cr_assert(run("export PATH=$PWD/bin:$PATH CUDA_HOME=$PWD/cuda; rm -rf build step3; "
                      "make step3 >one & make -j3 step3 emu >two; code=$?; wait $!; "
                      "[ $? = 0 ] && [ $code = 0 ] || { cat one two; exit 1; }") == 0,
                  "%s", output);
        cr_assert(run("for file in step3 build/emu/libcudart.so build/emu/libcudart_static.a "
                      "build/emu/emu build/common/harness/one.o; do "
                      "grep -q '^first second$' $file || { echo $file; exit 1; }; done") == 0,
                  "%s is not complete", output);
        cr_assert(run("find . -name '*.new*' | grep .") != 0, "left over: %s", output);
    }
}

/* The user's CFLAGS come last, and leave the language and what the emulator needs as they are. */
Test(make, flags_of_the_user)
{
    cr_assert(run("mkdir -p common/emu/operations common/harness steps/03-x; touch "
                  "common/harness/main.c common/emu/cudart.map "
                  "common/emu/emu_main.c common/emu/operations/ops_x.c steps/03-x/driver.c;"
                  "CUDA_HOME=$PWD/cuda make -n step3 CFLAGS='-O0 -DX=1' LDFLAGS=-Wl,-z,now") == 0,
              "%s", output);
    for (char *line = strtok(output, "\n"); line; line = strtok(NULL, "\n")) {
        bool compiles = strstr(line, " -c ") != NULL, links = strncmp(line, "g++ ", 4) == 0;
        if (compiles) cr_expect(strstr(line, " -std=c11 -Wall ") && strstr(line, " -O0 -DX=1 -c "));
        if (compiles) cr_expect(!strstr(line, "-O2") && !strstr(line, "-O3"), "%s", line);
        if (compiles && strstr(line, "ops_x"))
            cr_expect(strstr(line, "-fPIC") && strstr(line, "-frounding-math"), "%s", line);
        if (links) cr_expect(strstr(line, "-Wl,-z,now"), "%s", line);
    }
    cr_assert(run("CUDA_HOME=$PWD/cuda make -n step3") == 0, "%s", output);
    expect(" -O2 -g -O3 -c common/emu/operations/ops_x.c");
    expect(" -O2 -g -c steps/03-x/driver.c");
}

/* Of compilers only those are asked for that are used. */
Test(make, other_compilers)
{
    no_toolkit();
    program("clang", "exit 0");
    cr_assert(run("mkdir steps/03-x && %s make step3 CC=clang CXX=clang++", bare) == 2, "%s",
              output);
    expect("Missing: clang++ (nvcc's host compiler), nvcc of");
    expect_not("gcc");
    cr_assert(run("%s make doctor CC=clang", bare) == 0, "%s", output);
    expect("\nclang ");
    expect_not("\ngcc ");
}

Test(make, missing_tools_are_named_with_the_cure)
{
    no_toolkit();
    cr_assert(run("mkdir steps/03-x && %s make step3", bare) == 2, "%s", output);
    expect("gcc (");
    expect("g++ (");
    expect("nvcc of a CUDA 13 toolkit (");
    expect("`make setup` installs what is missing");
    expect_not("criterion");
    cr_assert(run("ls build") != 0, "something was built: %s", output);
}

Test(make, what_compiles_nothing_needs_no_tool)
{
    no_toolkit();
    cr_assert(run("%s make help", bare) == 0, "%s", output);
    cr_assert(run("%s make clean", bare) == 0, "%s", output);
    cr_assert(run("%s make doctor", bare) == 0, "%s", output);
}

Test(make, clean_keeps_the_toolkit)
{
    cr_assert(
        run("mkdir -p build/cuda build/common && touch step3 step12 stepping && make clean") == 0);
    cr_assert(run("ls -d step* build/*") == 0);
    cr_assert(strcmp(output, "build/cuda\nstepping\nsteps\n") == 0, "%s", output);
}

Test(make, toolkit_of_release_13_only)
{
    toolkit("old", "12.9");
    toolkit("new", "13.1");
    cr_assert(run("CUDA_HOME=$PWD/old CUDA_PATH=$PWD/new common/build/toolkit.sh") == 0, "%s",
              output);
    expect("/new\n");
    cr_assert(run("CUDA_HOME=$PWD/cuda CUDA_PATH=$PWD/new common/build/toolkit.sh") == 0, "%s",
              output);
    expect("/cuda\n");
    cr_assert(run("rm cuda/lib64/libcudart.so;"
                  "CUDA_HOME=$PWD/cuda CUDA_PATH=$PWD/new common/build/toolkit.sh") == 0);
    expect("/new\n");
}

Test(make, doctor_has_a_line_for_each_tool)
{
    static const char *const tools[] = {"make", "gcc", "g++",    "toolkit", "zstd",    "Criterion",
                                        "bats", "GPU", "driver", "ncu",     "counters"};
    for (int machine = 0; machine < 2; machine++) { /* this one, then one without anything */
        if (machine == 1) no_toolkit();
        cr_assert(run("%s make doctor", machine == 0 ? "CUDA_HOME=$PWD/cuda" : bare) == 0, "%s",
                  output);
        for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
            char line[COMMAND_SIZE];
            snprintf(line, sizeof line, "%s%-10s ", i == 0 ? "" : "\n", tools[i]);
            expect(line);
        }
        expect(machine == 0 ? "toolkit    13.0 in " : "toolkit    not found");
    }
    expect("make setup installs what is missing");
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* These tests were compiled, so nothing is missing here. */
Test(make, setup_with_everything_there_is_quick_and_changes_nothing)
{
    double start = seconds();
    cr_assert(run("CUDA_HOME=$PWD/cuda make setup") == 0, "%s", output);
    double took = seconds() - start;
    cr_assert(strcmp(output, "Nothing is missing (make doctor lists what was found).\n") == 0, "%s",
              output);
    cr_assert(took < 2, "took %g s", took); /* it takes less than 0.1 s on an idle machine */
    cr_assert(run("ls build") != 0, "%s", output);
}

Test(make, setup_lists_then_installs_what_is_missing_and_nothing_else)
{
    program("id", "echo 0");
    program("apt-get",
            "case \"$*\" in *--print-uris*) echo uri file 2000000 sum; echo uri file 3000000 sum;;"
            " *) echo \"$@\" >>called;; esac");
    program("apt-cache", "echo Package: x; echo Size: 123000");
    cr_assert(run("%s make setup", bare) == 0, "%s", output);
    expect("  gcc                           123 kB\n");
    expect("  g++                           123 kB\n");
    expect("with what they need: 2          5 MB to fetch");
    cr_assert(strstr(output, "  gcc ") < strstr(output, "Installing"), "listed too late:\n%s",
              output);
    expect_not("CUDA");
    cr_assert(run("cat called") == 0);
    cr_assert(strcmp(output, "install -y --no-install-recommends gcc g++ bats\n") == 0, "%s",
              output);
}

Test(make, setup_asks_for_the_list_of_packages_on_a_fresh_machine)
{
    program("id", "echo 0");
    program("apt-get", "echo \"$@\" >>called; case $1 in update) touch updated;; esac");
    program("apt-cache", "test -e updated && echo Size: 1");
    cr_assert(run("%s make setup", bare) == 0, "%s", output);
    cr_assert(run("head -n 1 called") == 0 && strcmp(output, "update -qq\n") == 0, "%s", output);
}

Test(make, setup_tries_again_with_a_new_list_of_packages)
{
    program("id", "echo 0");
    program("apt-get",
            "case \"$*\" in update*) touch updated;; *--print-uris*) ;; *) test -e updated;; esac");
    program("apt-cache", "echo Size: 1");
    cr_assert(run("%s make setup", bare) == 0, "%s", output);
}

Test(make, setup_shows_why_apt_get_failed)
{
    program("id", "echo 0");
    program("apt-get", "case \"$1\" in install) echo E: no room; exit 100;; esac");
    program("apt-cache", "echo Size: 1");
    cr_assert(run("%s make setup", bare) == 2, "%s", output);
    expect("E: no room");
    expect("setup: apt-get failed, for the reason above");
}

Test(make, setup_without_root_tells_the_administrators_command)
{
    program("id", "echo 1000");
    program("apt-get", "echo \"$@\" >>called");
    cr_assert(run("%s make setup", bare) == 2, "%s", output);
    expect("ask an administrator to run "
           "'apt-get update && apt-get install -y --no-install-recommends gcc g++ bats'");
    cr_assert(run("ls called") != 0, "apt-get was called");
}

Test(make, setup_on_other_systems_is_one_sentence)
{
    cr_assert(run("%s make setup", bare) == 2, "%s", output);
    expect("setup: this is neither Debian nor Ubuntu: install what Debian calls gcc g++ bats");

    program("uname", "case $1 in -s) echo Darwin;; *) echo arm64;; esac");
    cr_assert(run("%s make setup", bare) == 2, "%s", output);
    expect("setup: this is Darwin on arm64, and setup knows only Linux on x86-64;");
}

/* A machine that lacks only the toolkit; its curl is the script given. */
static void fetching(const char *curl)
{
    no_toolkit();
    program("gcc", "exit 0");
    program("g++", "exit 0");
    program("bats", "exit 0");
    program("unzip", "exit 0");
    program("curl", curl);
}

/* Where certificates are, so that they are not missing. */
static const char *certified = "SSL_CERT_FILE=/dev/null";

Test(make, setup_without_network_leaves_nothing_half_done)
{
    fetching("exit 7");
    cr_assert(run("%s %s make setup", bare, certified) == 2, "%s", output);
    expect("CUDA 13.0 (nvcc, runtime)");
    expect("could not be fetched; check the network");
    cr_assert(run("ls build/cuda") != 0, "%s", output);
}

Test(make, setup_refuses_a_file_with_another_checksum)
{
    fetching("while [ \"$1\" != -o ]; do shift; done; echo other >\"$2\"");
    cr_assert(run("%s %s make setup", bare, certified) == 2, "%s", output);
    expect("its sha256 differs");
    cr_assert(run("ls build/cuda build/download/*") != 0, "%s", output);
}

/* The second run goes on behind the first bytes: they are still there when curl starts again. */
Test(make, setup_goes_on_where_it_was_interrupted)
{
    fetching("echo \"$*\" >>called;"
             "while [ \"$1\" != -o ]; do shift; done; printf x >>\"$2\"; exit 18");
    cr_assert(run("%s %s make setup", bare, certified) == 2, "%s", output);
    cr_assert(run("%s %s make setup", bare, certified) == 2, "%s", output);
    cr_assert(run("cat build/download/*.part") == 0 && strcmp(output, "xx") == 0, "%s", output);
    cr_assert(run("grep -c -e \" -C - \" called") == 0 && strcmp(output, "2\n") == 0, "%s", output);
}
