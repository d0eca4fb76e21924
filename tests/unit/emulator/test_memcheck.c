/*
 * test_memcheck.c — memcheck, initcheck and synccheck on programs.
 */
#include "tests/support/command.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- initcheck on an array of which a part is unwritten, unwritten.cu ------------------------ */

/* For every type, and every way to write and read. */

TestSuite(unwritten, .init = command_init, .fini = command_fini, .timeout = 120);

/* The 1000 elements of the array, and the elements of the part that is written: whole blocks of 64
 * threads. */
enum { ALL = 1000, WRITTEN = 960 };

static const struct type {
    const char *name;
    int bytes;
} types[] = {
    {"char", 1},  {"short", 2}, {"int", 4},   {"int64", 8},  {"double", 8}, {"float4", 16},
    {"pair", 16}, {"flag", 8},  {"small", 4}, {"mixed", 24}, {"large", 32}, {"vector3", 16},
};
enum { PLAIN_TYPES = 6, TYPES = sizeof types / sizeof *types };

static void initcheck(const char *tool, const char *type, const char *way, int written, int status)
{
    expect_status(status,
                  "$emu --devices 2 --tool %s --error-exitcode 9 $p/unwritten %s %s %d 2>&1", tool,
                  type, way, written);
    if (status == 0) expect("ERROR SUMMARY: 0 errors\n"); /* and no warnings */
}

static void expect_format(const char *format, int a, int b)
{
    char text[200];
    snprintf(text, sizeof text, format, a, b);
    expect(text);
}

Test(unwritten, a_copy_of_every_type_slow)
{
    for (int i = 0; i < TYPES; i++) {
        const struct type *t = &types[i];
        initcheck("initcheck", t->name, "kernel", ALL, 0);
        initcheck("initcheck", t->name, "kernel", WRITTEN, 9);
        expect_format("%d of its %d bytes have not been written\n", (ALL - WRITTEN) * t->bytes,
                      ALL * t->bytes);
        expect_format("The first is at offset %d", WRITTEN * t->bytes, 0);
        if (i < PLAIN_TYPES) expect_format(", in element %d of %d bytes: ", WRITTEN, t->bytes);
        expect("tests/cases/fixtures/programs/unwritten.cu:");
        initcheck("initcheck", t->name, "kernel", ALL - 1, 9);
        expect_format("%d of its %d bytes", t->bytes, ALL * t->bytes);
    }
}

Test(unwritten, a_load_of_every_type)
{
    for (int i = 0; i < TYPES; i++) {
        initcheck("initcheck", types[i].name, "load", ALL, 0);
        initcheck("initcheck", types[i].name, "load", WRITTEN, 9);
        expect("Uninitialized __global__ memory read");
        expect("has not been written\n");
        if (i < PLAIN_TYPES - 1) /* each element of a float4 is a read */
            expect_format("element %d of %d bytes,", WRITTEN, types[i].bytes);
        initcheck("initcheck", types[i].name, "load", ALL - 1, 9);
    }
}

static const char *const ways[] = {"memset", "copy",       "device", "overlap", "peer",
                                   "async",  "managed",    "rows",   "slices",  "graph",
                                   "pool",   "async-load", "heap"};
enum { WAYS = sizeof ways / sizeof *ways };

static void in_way(const char *type, const char *way)
{
    initcheck("initcheck", type, way, ALL, 0);
    initcheck("initcheck", type, way, WRITTEN, 9);
}

static void in_every_way(const char *type)
{
    for (int i = 0; i < WAYS; i++) in_way(type, ways[i]);
}

Test(unwritten, atomics_read) { in_way("int", "atomics"); }
Test(unwritten, ints_in_every_way) { in_every_way("int"); }
Test(unwritten, characters_in_every_way) { in_every_way("char"); }
Test(unwritten, structures_in_every_way) { in_every_way("pair"); }
Test(unwritten, vectors_in_every_way) { in_every_way("vector3"); }

Test(unwritten, rows_of_a_copy_are_told)
{
    initcheck("initcheck", "int", "rows", WRITTEN, 9);
    expect("The first is at offset 340 of row 7, in element 85 of 4 bytes: ");
    initcheck("initcheck", "int", "slices", WRITTEN, 9);
    expect("The first is at offset 340 of row 7, in element 85 of 4 bytes: ");
    expect("ERROR SUMMARY: 1 error\n");
}

Test(unwritten, variables_and_the_hosts_memory_are_written)
{
    initcheck("all", "int", "variable", 0, 0);
}

Test(unwritten, is_found_with_all_tools)
{
    for (int i = 0; i < PLAIN_TYPES; i++) {
        initcheck("all", types[i].name, "kernel", ALL, 0);
        initcheck("all", types[i].name, "kernel", WRITTEN, 9);
        expect("have not been written\n");
        initcheck("all", types[i].name, "memset", WRITTEN, 9);
    }
}

/* ---- the reports of emu --tool synccheck on pairs sync-* of tests/cases/checks --------------- */

/* The lines that each kind of error must print, and the picture of a deadlock. test_checks.c runs
 * all pairs. */

TestSuite(synccheck, .init = command_init, .fini = command_fini, .timeout = 60);

/* Runs a version of a pair; `counts` is the end of the summary. The program goes on to its end. */
static void synccheck(const char *pair, const char *counts)
{
    char summary[80];
    snprintf(summary, sizeof summary, "\n========= ERROR SUMMARY: %s\n", counts);
    expect_status(7, "$emu --tool synccheck $pairs/sync sync-%s 7 2>&1", pair);
    expect(summary);
}

#define LINE       "\n========= "
#define IN_WARP    LINE "Barrier error detected. Divergent thread(s) in warp."
#define IN_BLOCK   LINE "Barrier error detected. Divergent thread(s) in block."
#define ARGUMENTS  LINE "Barrier error detected. Invalid arguments."
#define FIRST_LANE LINE "    by thread (0,0,0) in block (0,0,0)"
#define SECOND     LINE "    by thread (32,0,0) in block (0,0,0)"
#define ALL_SYNC   "################################"

Test(synccheck, barriers_in_divergent_code)
{
    synccheck("arms wrong", "2 errors");
    expect(IN_WARP LINE "    at void sync_arms<false>(int*) in ");
    expect(LINE "    while others wait at another __syncthreads,");
    synccheck("roles wrong", "1 error");
    expect(IN_BLOCK LINE "    at void sync_roles<false>(int*) in ");
    expect(SECOND);
    expect(FIRST_LANE);
}

/* Two barriers of one source line are different barriers, whether the line is inlined twice or has
 * two calls. */
Test(synccheck, barriers_of_one_source_line)
{
    static const struct {
        const char *pair, *counts, *kind;
    } cases[] = {
        {"line-arms wrong", "2 errors", IN_WARP},
        {"line-halves wrong", "2 errors", IN_WARP},
        {"line-warps wrong", "1 error", IN_BLOCK},
        {"line-loop wrong", "1 error", IN_WARP},
        {"inlined-arms wrong", "2 errors", IN_WARP},
        {"inlined-warps wrong", "1 error", IN_BLOCK},
        {"inlined-turn wrong", "1 error", IN_WARP},
        {"inlined-turn-warps wrong", "1 error", IN_BLOCK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        synccheck(cases[i].pair, cases[i].counts);
        expect(cases[i].kind);
    }
}

Test(synccheck, a_thread_that_exits)
{
    synccheck("exit wrong", "1 error");
    expect(IN_BLOCK LINE "    at void sync_exit<false>(int const*, int*, int) in ");
    expect(
        LINE
        "    a barrier that not all threads reach: 100 of 128 threads wait here, 28 have exited");
    expect(LINE "    block (0,0,0):" LINE "      warps 0-2    " ALL_SYNC "  sync.cu:");
    expect("  waits at barrier 0 (100 of 128 threads)\n");
    expect(LINE "                   ....xxxxxxxxxxxxxxxxxxxxxxxxxxxx  exited\n");
}

#define DEADLOCK "$pairs/sync sync-against-shuffle wrong"

Test(synccheck, who_waits_where)
{
    synccheck("against-shuffle wrong", "1 error");
    expect(IN_WARP);
    expect(LINE
           "    deadlock: lanes 0xfffffffe wait here for lanes 0x00000001 of their member mask");
    expect(LINE "      warp 0       #...............................  sync.cu:");
    expect("  waits at barrier 0 (1 of 256 threads)\n");
    expect(LINE "                   .###############################  sync.cu:");
    expect("  waits for lanes 0x00000001 of its member mask 0xffffffff\n");
    expect(LINE "      warps 1-7    "
                "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx  exited\n");
}

/* The same picture without the tool, behind the sentence. */
Test(synccheck, deadlocks_without_the_tool)
{
    expect_status(0, "$emu --log-file /dev/null " DEADLOCK " 2>&1");
    expect("emu: deadlock: lanes 0xfffffffe wait here");
    expect("\nemu:     block (0,0,0):\nemu:       warp 0       #...............................  ");
    expect_status(0, "EMU_TOOL=memcheck LD_LIBRARY_PATH=$(dirname $emu) " DEADLOCK " 2>&1");
    expect(LINE "      warp 0       #...............................  ");
    expect("ERROR SUMMARY: 3 errors"); /* and the calls that return it */
}

Test(synccheck, numbers_of_threads)
{
    synccheck("count wrong", "1 error");
    expect(ARGUMENTS LINE "    at meet_at_one(int*, int) in ");
    expect(LINE "    barrier 1 waits for 48 threads, which is not a multiple of 32\n");
    synccheck("count-large wrong", "1 error");
    expect(LINE "    barrier 1 waits for 64 threads, and the block has 32\n");
    synccheck("counts-fewer wrong", "1 error");
    expect(ARGUMENTS);
    expect(LINE "    barrier 1 is waited for by 32 threads here and 64 elsewhere\n");
    synccheck("counts wrong", "1 error");
    expect(LINE "    barrier 1 is waited for by 96 threads here and 64 elsewhere\n");
}

/* Runs a wrong version without synccheck. */
static void run_without(const char *options, const char *pair)
{
    expect_status(0, "$emu %s $pairs/sync sync-%s wrong 2>&1", options, pair);
}

/* An error that is an illegal instruction on an H200 is one without the tool, too. */
Test(synccheck, faults_without_the_tool)
{
    run_without("--log-file /dev/null", "count");
    expect("emu: barrier 1 waits for 48 threads, which is not a multiple of 32, at ");
    run_without("--log-file /dev/null", "counts");
    expect("emu: barrier 1 is waited for by 96 threads here and 64 elsewhere, at ");
    run_without("--tool memcheck", "counts");
    expect("cudaErrorIllegalInstruction");
    run_without("--log-file /dev/null", "mask");
    expect("emu: lane 16 is not in its own member mask 0x0000ffff, at ");
    synccheck("mask wrong", "1 error");
    expect(ARGUMENTS);
}

Test(synccheck, member_masks)
{
    synccheck("reduce wrong", "1 error");
    expect(ARGUMENTS LINE "    at void sync_reduce<false>(int*) in ");
    expect(LINE "    Lane 16 is not in its own member mask 0x0000ffff\n");
    synccheck("masks-full wrong", "1 error, 2 warnings"); /* lanes 16-31 go on, and exit, first */
    expect(LINE "    Lane 16 has the member mask 0xffff0000, and lane 0 0xffffffff");
    synccheck("shuffle wrong", "0 errors, 1 warning");
    expect(LINE "    The member mask 0xffffffff names lanes 0xffff0000, which have exited");
}

/* The line belongs to the program itself, although the shuffle is inlined from a header, through
 * two functions. */
Test(synccheck, shuffles_from_lanes_that_do_not_take_part)
{
    synccheck("source wrong", "0 errors, 1 warning");
    expect(LINE "Undefined value from a shuffle" LINE "    at void sync_source<false>(int*)");
    expect("sync.cu:");
    expect_not("hpp");
    expect(LINE "    Lane 11 takes the value of lane 12, which does not take part");
}

/* ---- the reports of emu --tool memcheck on pairs of tests/cases/checks ----------------------- */

/* The lines that each kind of error must print, exit codes, the log, and limits. test_checks.c runs
 * all pairs. */

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
#define SOURCE      "/tests/cases/checks/memory.cu:"
#define WRITE       "$pairs/memory memory-write"
#define HOST        "        Host Frame: "
#define SYNCHRONIZE " on CUDA API call to cudaDeviceSynchronize.\n"

Test(memcheck, leaks_that_are_not_asked_for)
{
    check("--leak-check full", "memory-heap right", 0);
    expect("\n========= LEAK SUMMARY: 0 bytes leaked in 0 allocations\n");
    check("", "memory-leak wrong", 0);
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
 * calls that return it, but the text has them once. */
Test(memcheck, a_write_behind_the_end)
{
    check("", "memory-write wrong", 8);
    LINES("Invalid __global__ write of size 4 bytes\n",
          AT "void memory_write<false>(int*, int) in ",
          "    by thread (122,0,0) in block (1,0,0) [6 threads]\n",
          "    Access to 0x3000000013e8 is out of bounds",
          "    and is 1 bytes after the nearest allocation at 0x300000001000 of size 1000 bytes "
          "(index 250 of 250 elements of 4 bytes)\n",
          "Program hit cudaErrorIllegalAddress (error 700) due to \"an illegal memory access was "
          "encountered\"" SYNCHRONIZE);
    cr_assert_eq(count("Invalid __global__ write"), 1);
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
        "    and is 0 bytes inside of a freed allocation at 0x300000200000 of size 4194304 bytes\n",
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
        expect("/tests/cases/checks/memory.cu:");
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
    expect(" [2 threads]\n");
    expect("\n========= ERROR SUMMARY: 32 errors were not printed. Use --print-limit option to "
           "adjust the number of printed errors\n");
}

Test(memcheck, no_print_limit)
{
    static const char *const options[] = {"", "--print-limit 120", "--print-limit 0"};
    static const int printed[] = {100, 120, 150};
    for (int i = 0; i < 3; i++) {
        expect_status(0, MEMCHECK "--leak-check full %s $p/launches memory 150 leak 2>&1",
                      options[i]);
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
