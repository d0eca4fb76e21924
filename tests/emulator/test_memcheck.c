/*
 * test_memcheck.c — the reports of emu --tool memcheck on pairs of tests/checks: the lines that
 * each kind of error must print, exit codes, the log, and limits. test_checks.c runs all pairs.
 */
#include "tests/support/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(memcheck, .init = command_init, .fini = command_fini, .timeout = 60);

#define MEMCHECK "$emu --tool memcheck "

/* Runs a version of a pair, "NAME wrong", which must have this number of errors. The program goes
 * on to its end. */
static void check(const char *options, const char *version, unsigned errors)
{
    char summary[80];
    snprintf(summary, sizeof summary, "\n========= ERROR SUMMARY: %u error%s\n", errors,
             errors == 1 ? "" : "s");
    expect_status(7, MEMCHECK "%s $pairs/%.*s %s 7 2>&1", options, (int)strcspn(version, "-"),
                  version, version);
    expect(summary);
}

/* The last argument of a list of lines is NULL. */
static void expect_lines(const char *const *lines)
{
    for (; *lines; lines++) {
        char line[300];
        snprintf(line, sizeof line, "\n========= %s", *lines);
        expect(line);
    }
}
#define LINES(...) expect_lines((const char *const[]){__VA_ARGS__, NULL})

static unsigned count(const char *text)
{
    unsigned times = 0;
    for (const char *at = output; (at = strstr(at, text)); at++) times++;
    return times;
}

#define AT          "    at "
#define SOURCE      "/tests/checks/memory.cu:"
#define WRITE       "$pairs/memory memory-write"
#define HOST        "        Host Frame: "
#define SYNCHRONIZE " on CUDA API call to cudaDeviceSynchronize.\n"

Test(memcheck, what_is_right)
{
    static const char *const right[] = {
        "memory-write right",   "memory-read right",       "memory-atomic right",
        "memory-local right",   "memory-shared-end right", "memory-misaligned-vector right",
        "memory-heap right",    "memory-parameter right",  "memory-constant right",
        "memory-freed right",   "memory-leak-reset right", "memory-free-local right",
        "api-event-query right"};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        check("--leak-check full", right[i], 0);
        expect("\n========= LEAK SUMMARY: 0 bytes leaked in 0 allocations\n");
    }
    check("", "memory-leak wrong", 0); /* leaks are not asked for */
    expect_not("LEAK");
}

/* The pointer is wrong for all threads alike, which is one finding for a warp. */
Test(memcheck, a_pointer_to_memory_of_the_host)
{
    check("", "memory-host wrong", 3);
    LINES("Invalid __global__ write of size 4 bytes\n",
          "    by thread (0,0,0) in block (0,0,0) [32 threads]\n",
          "    and is not in device memory; is it a pointer to memory of the host?\n");
    cr_assert_eq(count("Invalid __global__ write"), 1);
    expect_status(0, "$emu --log-file /dev/null $pairs/memory memory-host wrong 2>&1");
    expect("is out of bounds (not in device memory; is it a pointer to memory of the host?), at ");
}

/* Threads 122 to 127 of the second block write behind 1000 bytes. Each is an error, as are the
 * calls that return it. */
Test(memcheck, a_write_behind_the_end)
{
    check("", "memory-write wrong", 8);
    LINES("Invalid __global__ write of size 4 bytes\n",
          AT "void memory_write<false>(int*, int) in ",
          "    by thread (122,0,0) in block (1,0,0)\n",
          "    Access to 0x3000000013e8 is out of bounds",
          "    and is 1 bytes after the nearest allocation at 0x300000001000 of size 1000 bytes "
          "(index 250 of 250 elements of 4 bytes)\n",
          "    by thread (123,0,0) in block (1,0,0)\n",
          "    and is 5 bytes after the nearest allocation",
          "Program hit cudaErrorIllegalAddress (error 700) due to \"an illegal memory access was "
          "encountered\"" SYNCHRONIZE);
    cr_assert_eq(count("Invalid __global__ write"), 6);
    expect(SOURCE);
}

Test(memcheck, accesses_of_each_kind)
{
    static const struct {
        const char *version;
        unsigned errors;
        const char *lines[4];
    } cases[] = {
        {"memory-read wrong",
         4,
         {"Invalid __global__ read of size 4 bytes\n",
          AT "void memory_read<false>(int const*, int*) in ",
          "    and is 4 bytes before the nearest allocation at 0x300000001000 of"}},
        {"memory-atomic wrong",
         4,
         {"Invalid __global__ atomic of size 4 bytes\n",
          AT "memory_atomic(int const*, int*, int) in ",
          "    by thread (16,0,0) in block (0,0,0)\n"}},
        {"memory-null wrong",
         35,
         {"Invalid __global__ write of size 4 bytes\n",
          "    Access to 0x0 is out of bounds: a null pointer\n"}},
        {"memory-misaligned wrong",
         4,
         {"Invalid __global__ read of size 16 bytes\n", "    by thread (0,0,0) in block (0,0,0)\n",
          "    Access to 0x300000001004 is misaligned\n"}},
        {"memory-misaligned-vector wrong",
         3,
         {"Invalid __global__ write of size 16 bytes\n",
          "    Access to 0x300000001008 is misaligned\n"}},
        {"memory-shared-end wrong",
         4,
         {"Invalid __shared__ read of size 4 bytes\n", "    by thread (63,0,0) in block (0,0,0)\n",
          "    Access to 0x100 is out of bounds\n",
          "    of the 256 bytes of shared memory a block\n"}},
        {"memory-local wrong",
         4,
         {"Invalid __local__ read of size 4 bytes\n",
          "    of the 64 bytes of local memory a thread\n"}},
        {"memory-parameter wrong",
         3,
         {"Invalid parameter read of size 4 bytes\n",
          "    of the 76 bytes of parameters of the kernel\n"}},
        {"memory-constant wrong",
         35,
         {"Invalid __constant__ read of size 4 bytes\n",
          "    and is 4 bytes before the nearest allocation"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check("", cases[i].version, cases[i].errors);
        for (size_t k = 0; k < 4 && cases[i].lines[k]; k++) LINES(cases[i].lines[k]);
    }
}

/* A finding names where memory was allocated and freed; with addr2line, these are lines of the
 * program. */
Test(memcheck, memory_that_was_freed)
{
    check("", "memory-freed wrong", 33);
    LINES(
        "    and is 4 bytes inside of a freed allocation at 0x300000200000 of size 4194304 bytes\n",
        "    It was freed at\n"
        "========= " HOST,
        "    It had been allocated at\n"
        "========= " HOST,
        "    The kernel was launched at\n"
        "========= " HOST);
    check("", "memory-double-free wrong", 1);
    LINES(
        "Program hit cudaErrorInvalidValue (error 1) due to \"invalid argument\" on CUDA API call "
        "to cudaFree.\n",
        "    Address 0x300000001000 was freed before: a double free\n", "    It was freed at\n",
        "    The call was made at\n");
    check("", "memory-inner-free wrong", 1);
    LINES("    Address 0x300000001004 is not the start of an allocation\n",
          "    and is inside the nearest allocation at 0x300000001000 of size 256 bytes\n");
    check("", "memory-free-local wrong", 1);
    if (system("command -v addr2line >/dev/null") == 0) {
        expect("Host Frame: main in ");
        expect("/tests/checks/memory.cu:");
    }
    expect_status(0, "PATH=/nowhere " MEMCHECK "$pairs/memory memory-double-free wrong 2>&1");
    expect("] in memory\n");
}

Test(memcheck, leaks)
{
    check("--leak-check full", "memory-leak wrong", 1);
    LINES("Leaked 256 bytes at 0x300000001000\n", "    Allocated at\n",
          "LEAK SUMMARY: 256 bytes leaked in 1 allocations\n");
    check("--leak-check full", "memory-leak-reset wrong", 2);
    LINES("Leaked 128 bytes at 0x300000001000\n", "Leaked 128 bytes at 0x300000002200\n",
          "LEAK SUMMARY: 256 bytes leaked in 2 allocations\n");
}

/* Between it and main lie the emulator's own functions. */
Test(memcheck, a_call_in_a_function_of_the_host)
{
    check("", "api-host-function wrong", 1);
    expect(" on CUDA API call to cudaMemset.\n");
    expect_not("cudart_");
}

/* It is known as memory of the device is. */
Test(memcheck, managed_and_pinned_memory)
{
    static const char *const versions[] = {"memory-managed wrong", "memory-mapped wrong"};
    for (int i = 0; i < 2; i++) {
        check("", versions[i], 3);
        expect("\n=========     and is 1 bytes after the nearest allocation at 0x");
        expect(" of 4 bytes), unless it is a pointer to other memory of the host\n");
        LINES("    It was allocated at\n");
    }
    check("", "memory-managed-twice wrong", 1);
    expect(" was freed before: a double free\n");
    check("", "memory-free-kind wrong", 1);
    expect(" is of a kind that this function does not free\n");
    check("--devices 2 --leak-check full", "memory-leak-host wrong", 2);
    LINES("LEAK SUMMARY: 384 bytes leaked in 2 allocations\n");
}

Test(memcheck, leaks_of_malloc_in_kernels)
{
    check("--leak-check full", "memory-heap-leak wrong", 32);
    LINES("Leaked 64 bytes at 0x");
    expect(", of malloc in a kernel\n");
    expect("LEAK SUMMARY: 2048 bytes leaked in 32 allocations\n");
}

Test(memcheck, errors_of_the_runtime)
{
    check("", "api-launch wrong", 1);
    LINES(
        "Program hit cudaErrorInvalidValue (error 1) due to \"invalid argument\" on CUDA API call "
        "to cudaLaunchKernel.\n");
    check("", "api-copy wrong", 1);
    LINES(
        "Program hit cudaErrorInvalidValue (error 1) due to \"invalid argument\" on CUDA API call "
        "to cudaMemcpy.\n");
    check("--report-api-errors no", "api-copy wrong", 0);
    /* Linked into the program, the library finds its own functions, too. */
    expect_status(0, "EMU_TOOL=memcheck EMU_LEAK_CHECK=full $p/emulated 2>&1");
    LINES("LEAK SUMMARY: 0 bytes leaked in 0 allocations\n");
}

/* Without the tool an error is one sentence. */
Test(memcheck, is_off_unless_asked_for)
{
    expect_status(0, "$emu --log-file /dev/null " WRITE " wrong 2>&1");
    expect("emu: a store of 4 bytes at global address 0x3000000013e8 is out of bounds");
    expect_not("=========");
}

Test(memcheck, exit_codes)
{
    expect_status(9, MEMCHECK "--error-exitcode 9 " WRITE " wrong 3 2>&1");
    expect_status(3, MEMCHECK "--error-exitcode 0 " WRITE " wrong 3 2>&1");
    expect_status(3, MEMCHECK "--error-exitcode 9 " WRITE " right 3 2>&1");
    expect_status(9, MEMCHECK
                  "--error-exitcode 9 --leak-check full $pairs/memory memory-leak wrong 2>&1");
    /* An atomic operation on shared memory that is not written, and a shuffle from outside. */
    static const char *const warned[] = {"init init-shared-bins", "sync sync-source"};
    for (int i = 0; i < 2; i++) {
        const char *check = "$emu --tool all --error-exitcode 9";
        expect_status(0, "%s $pairs/%s wrong 2>&1", check, warned[i]);
        expect(" 0 errors, 1 warning\n");
        expect_status(9, "%s --warnings-count $pairs/%s wrong 2>&1", check, warned[i]);
        expect_status(0, "%s --warnings-count $pairs/%s right 2>&1", check, warned[i]);
    }
}

Test(memcheck, print_limit)
{
    check("--print-limit 2", "memory-atomic-aligned wrong", 34);
    cr_assert_eq(count("is misaligned\n"), 2);
    expect("\n========= ERROR SUMMARY: 32 errors were not printed. Use --print-limit option to "
           "adjust the number of printed errors\n");
}

Test(memcheck, no_print_limit)
{
    static const char *const options[] = {"", "--print-limit 120", "--print-limit 0"};
    static const int printed[] = {100, 120, 150};
    for (int i = 0; i < 3; i++) {
        expect_status(0, MEMCHECK "--leak-check full %s $p/limits 150 leak 2>&1", options[i]);
        cr_assert_eq(count("========= Leaked "), printed[i], "%s", output);
        expect("========= ERROR SUMMARY: 150 errors\n");
    }
    expect_not("not printed");
}

Test(memcheck, log_file)
{
    expect_status(0, MEMCHECK "--log-file $t/log " WRITE " wrong 2>&1");
    cr_assert_str_eq(output, "");
    expect_status(0, "cat $t/log");
    expect("========= ERROR SUMMARY: 8 errors\n");
    expect_status(0, MEMCHECK "--log-file stdout " WRITE " wrong 2>/dev/null");
    expect("========= ERROR SUMMARY: 8 errors\n");
    expect_status(2, MEMCHECK "--log-file $t/none/log " WRITE " wrong 2>&1");
    expect_one_sentence();
    expect_status(2, MEMCHECK "--log-file /dev/full " WRITE " right 2>&1");
    expect("emu: the report is not complete: No space left on device\n");
}

/* On a terminal the report has colours, unless NO_COLOR is set. In a pipe it has no colours. */
Test(memcheck, colours)
{
    if (system("command -v script >/dev/null") != 0) cr_skip("script is not installed");
    static const char terminal[] = MEMCHECK WRITE " wrong";
    expect_status(0, "script -qec \"%s\" /dev/null 2>&1", terminal);
    expect("\033[31mInvalid __global__ write");
    expect_status(0, "NO_COLOR=1 script -qec \"%s\" /dev/null 2>&1", terminal);
    expect_not("\033");
    expect_status(0, "%s 2>&1", terminal);
    expect_not("\033");
}
