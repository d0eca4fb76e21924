/*
 * test_memcheck.c — emu --tool memcheck on memory.cu: each kind of error with the
 * lines that it must print, right neighbours without a finding, exit codes, the log, and limits.
 */
#include "tests/support/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(memcheck, .init = command_init, .fini = command_fini, .timeout = 60);

#define MEMCHECK "$emu --tool memcheck "

/* Runs one case of memory.cu, which must have this number of errors. */
static void check(const char *options, const char *name, unsigned errors)
{
    char summary[80];
    snprintf(summary, sizeof summary, "\n========= ERROR SUMMARY: %u error%s\n", errors,
             errors == 1 ? "" : "s");
    expect_status(7, MEMCHECK "%s $p/memory '%s' 7 2>&1", options, name);
    expect(summary);
    expect("end\n");
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
#define SOURCE      "/tests/fixtures/programs/memory.cu:"
#define HOST        "        Host Frame: "
#define SYNCHRONIZE " on CUDA API call to cudaDeviceSynchronize.\n"

Test(memcheck, what_is_right)
{
    check("--leak-check full", "right", 0);
    expect("\n========= LEAK SUMMARY: 0 bytes leaked in 0 allocations\n");
    check("", "not ready", 0);
    check("", "leaks", 0); /* leaks are not asked for */
    expect_not("LEAK");
}

/* The pointer is wrong for all 32 threads alike, which is one finding. */
Test(memcheck, a_pointer_to_memory_of_the_host)
{
    check("", "host", 2);
    LINES("Invalid __global__ write of size 4 bytes\n",
          "    by thread (0,0,0) in block (0,0,0) [32 threads]\n",
          "    and is not in device memory; is it a pointer to memory of the host?\n");
    cr_assert_eq(count("Invalid __global__ write"), 1);
    expect_status(7, "$emu --log-file /dev/null $p/memory host 7 2>&1");
    expect("is out of bounds (not in device memory; is it a pointer to memory of the host?), at ");
}

/* Threads 30 and 31 write behind 128 bytes. Each is an error, as is the call that returns it. */
Test(memcheck, a_write_behind_the_end)
{
    check("", "write", 3);
    LINES("Invalid __global__ write of size 4 bytes\n", AT "write_at(int*, int) in ",
          "    by thread (30,0,0) in block (0,0,0)\n",
          "    Access to 0x300000001080 is out of bounds",
          "    and is 1 bytes after the nearest allocation at 0x300000001000 of size 128 bytes\n",
          "    by thread (31,0,0) in block (0,0,0)\n",
          "    and is 5 bytes after the nearest allocation",
          "Program hit cudaErrorIllegalAddress (error 700) due to \"an illegal memory access was "
          "encountered\"" SYNCHRONIZE);
    cr_assert_eq(count("Invalid __global__ write"), 2);
    expect(SOURCE);
}

Test(memcheck, accesses_of_each_kind)
{
    static const struct {
        const char *name;
        unsigned errors;
        const char *lines[4];
    } cases[] = {
        {"read",
         4,
         {"Invalid __global__ read of size 4 bytes\n", AT "read_at(int*, int*, int) in ",
          "    and is 12 bytes before the nearest allocation at 0x300000001000 of"}},
        {"atomic",
         2,
         {"Invalid __global__ atomic of size 4 bytes\n", AT "add_at(int*, int) in ",
          "    by thread (31,0,0) in block (0,0,0)\n"}},
        {"null",
         2,
         {"Invalid __global__ write of size 4 bytes\n",
          "    Access to 0x0 is out of bounds: a null pointer\n"}},
        {"misaligned",
         17,
         {"Invalid __global__ write of size 4 bytes\n", "    by thread (1,0,0) in block (0,0,0)\n",
          "    Access to 0x300000001002 is misaligned\n"}},
        {"misaligned vector",
         2,
         {"Invalid __global__ write of size 16 bytes\n",
          "    Access to 0x300000001008 is misaligned\n"}},
        {"shared",
         2,
         {"Invalid __shared__ write of size 4 bytes\n", "    by thread (31,0,0) in block (0,0,0)\n",
          "    Access to 0x80 is out of bounds\n",
          "    of the 128 bytes of shared memory a block\n"}},
        {"local",
         2,
         {"Invalid __local__ read of size 4 bytes\n",
          "    of the 32 bytes of local memory a thread\n"}},
        {"param",
         2,
         {"Invalid parameter read of size 4 bytes\n",
          "    of the 76 bytes of parameters of the kernel\n"}},
        {"constant",
         2,
         {"Invalid __constant__ read of size 4 bytes\n",
          "    and is 1 bytes after the nearest allocation"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check("", cases[i].name, cases[i].errors);
        for (size_t k = 0; k < 4 && cases[i].lines[k]; k++) LINES(cases[i].lines[k]);
    }
}

/* A finding names where memory was allocated and freed; with addr2line, these are lines of
 * memory.cu. */
Test(memcheck, memory_that_was_freed)
{
    check("", "freed", 2);
    LINES("    and is 4 bytes inside of a freed allocation at 0x300000001000 of size 128 bytes\n",
          "    It was freed at\n"
          "========= " HOST,
          "    It had been allocated at\n"
          "========= " HOST,
          "    The kernel was launched at\n"
          "========= " HOST);
    check("", "double free", 1);
    LINES(
        "Program hit cudaErrorInvalidValue (error 1) due to \"invalid argument\" on CUDA API call "
        "to cudaFree.\n",
        "    Address 0x300000001000 was freed before: a double free\n", "    It was freed at\n",
        "    The call was made at\n");
    check("", "invalid free", 1);
    LINES("    Address 0x300000001004 is not the start of an allocation\n",
          "    and is inside the nearest allocation at 0x300000001000 of size 128 bytes\n");
    check("", "host free", 1);
    if (system("command -v addr2line >/dev/null") == 0) {
        expect("Host Frame: main in ");
        expect(SOURCE);
    }
    expect_status(0, "PATH=/nowhere " MEMCHECK "$p/memory 'double free' 2>&1");
    expect("] in memory\n");
}

Test(memcheck, leaks)
{
    check("--leak-check full", "leaks", 1);
    LINES("Leaked 128 bytes at 0x300000002100\n", "    Allocated at\n",
          "LEAK SUMMARY: 128 bytes leaked in 1 allocations\n");
    check("--leak-check full", "leaks before reset", 3);
    LINES("Leaked 128 bytes at 0x300000001000\n", "Leaked 128 bytes at 0x300000002100\n",
          "LEAK SUMMARY: 384 bytes leaked in 3 allocations\n");
}

/* Between it and main lie the emulator's own functions. */
Test(memcheck, a_call_in_a_function_of_the_host)
{
    check("", "host function", 1);
    expect(" on CUDA API call to cudaMemset.\n");
    expect_not("cudart_");
}

/* It is known as memory of the device is. */
Test(memcheck, managed_and_pinned_memory)
{
    static const char *const kinds[] = {"managed", "pinned"};
    for (int i = 0; i < 2; i++) {
        check("", kinds[i], 2);
        expect("\n=========     and is 1 bytes after the nearest allocation at 0x");
        expect(" of size 128 bytes, unless it is a pointer to other memory of the host\n");
        LINES("    It was allocated at\n");
    }
    check("", "double free of managed memory", 1);
    expect(" was freed before: a double free\n");
    check("", "free of pinned memory", 1);
    expect(" is of a kind that this function does not free\n");
    check("--devices 2 --leak-check full", "leaks of the host", 2);
    LINES("LEAK SUMMARY: 256 bytes leaked in 2 allocations\n");
}

Test(memcheck, leaks_of_malloc_in_kernels)
{
    check("--leak-check full", "heap leaks", 2);
    LINES("Leaked 24 bytes at 0x");
    expect(", of malloc in a kernel\n");
    expect("LEAK SUMMARY: 48 bytes leaked in 2 allocations\n");
}

Test(memcheck, errors_of_the_runtime)
{
    check("", "configuration", 1);
    LINES(
        "Program hit cudaErrorInvalidValue (error 1) due to \"invalid argument\" on CUDA API call "
        "to cudaLaunchKernel.\n");
    check("", "copy", 1);
    LINES(
        "Program hit cudaErrorInvalidValue (error 1) due to \"invalid argument\" on CUDA API call "
        "to cudaMemcpy.\n");
    check("--report-api-errors no", "copy", 0);
    /* Linked into the program, the library finds its own functions, too. */
    expect_status(0, "EMU_TOOL=memcheck EMU_LEAK_CHECK=full $p/emulated 2>&1");
    LINES("LEAK SUMMARY: 0 bytes leaked in 0 allocations\n");
}

/* Without the tool an error is one sentence. */
Test(memcheck, is_off_unless_asked_for)
{
    expect_status(0, "$emu --log-file /dev/null $p/memory write 2>&1");
    expect("emu: a store of 4 bytes at global address 0x300000001080 is out of bounds");
    expect_not("=========");
}

Test(memcheck, exit_codes)
{
    expect_status(9, MEMCHECK "--error-exitcode 9 $p/memory write 3 2>&1");
    expect_status(3, MEMCHECK "--error-exitcode 0 $p/memory write 3 2>&1");
    expect_status(3, MEMCHECK "--error-exitcode 9 $p/memory right 3 2>&1");
    expect_status(9, MEMCHECK "--error-exitcode 9 --leak-check full $p/memory leaks 2>&1");
}

Test(memcheck, print_limit)
{
    check("--print-limit 2", "misaligned", 17);
    cr_assert_eq(count("is misaligned\n"), 2);
    expect("\n========= ERROR SUMMARY: 15 errors were not printed. Use --print-limit option to "
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
    expect_status(0, MEMCHECK "--log-file $t/log $p/memory write 2>&1");
    cr_assert_str_eq(output, "end\n");
    expect_status(0, "cat $t/log");
    expect("========= ERROR SUMMARY: 3 errors\n");
    expect_status(0, MEMCHECK "--log-file stdout $p/memory write 2>/dev/null");
    expect("========= ERROR SUMMARY: 3 errors\n");
    expect_status(2, MEMCHECK "--log-file $t/none/log $p/memory write 2>&1");
    expect_one_sentence();
    expect_status(2, MEMCHECK "--log-file /dev/full $p/memory right 2>&1");
    expect("emu: the report is not complete: No space left on device\n");
}

/* On a terminal the report has colours, unless NO_COLOR is set. In a pipe it has no colours. */
Test(memcheck, colours)
{
    if (system("command -v script >/dev/null") != 0) cr_skip("script is not installed");
    static const char terminal[] = MEMCHECK "$p/memory write";
    expect_status(0, "script -qec \"%s\" /dev/null 2>&1", terminal);
    expect("\033[31mInvalid __global__ write");
    expect_status(0, "NO_COLOR=1 script -qec \"%s\" /dev/null 2>&1", terminal);
    expect_not("\033");
    expect_status(0, "%s 2>&1", terminal);
    expect_not("\033");
}
