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

#define LINE       "\n========= "
#define IN_WARP    LINE "Barrier error detected. Divergent thread(s) in warp."
#define IN_BLOCK   LINE "Barrier error detected. Divergent thread(s) in block."
#define ARGUMENTS  LINE "Barrier error detected. Invalid arguments."
#define FIRST_LANE LINE "    by thread (0,0,0) in block (0,0,0)"
#define SECOND     LINE "    by thread (32,0,0) in block (0,0,0)"
#define ALL_SYNC   "################################"
#define WARNING    "0 errors, 1 warning"

/* Wrong versions of pairs, which go on to their ends; the end of the summary, and lines. */
static const struct {
    const char *pair, *counts, *says[8];
} reports[] = {
    {"arms", "2 errors", {IN_WARP LINE "    at void sync_arms<false>(int*) in ",
                          LINE "    while others wait at another __syncthreads,"}},
    {"roles", "1 error", {IN_BLOCK LINE "    at void sync_roles<false>(int*) in ", SECOND,
                          FIRST_LANE}},
    {"exit",
     "1 error",
     {IN_BLOCK LINE "    at void sync_exit<false>(int const*, int*, int) in ",
      LINE "    a barrier that not all threads reach: 100 of 128 threads wait here, 28 have exited",
      LINE "    block (0,0,0):" LINE "      warps 0-2    " ALL_SYNC "  sync.cu:",
      "  waits at barrier 0 (100 of 128 threads)\n",
      LINE "                   ....xxxxxxxxxxxxxxxxxxxxxxxxxxxx  exited\n"}},
    {"against-shuffle",
     "1 error",
     {IN_WARP,
      LINE "    deadlock: lanes 0xfffffffe wait here for lanes 0x00000001 of their member mask",
      LINE "      warp 0       #...............................  sync.cu:",
      "  waits at barrier 0 (1 of 256 threads)\n",
      LINE "                   .###############################  sync.cu:",
      "  waits for lanes 0x00000001 of its member mask 0xffffffff\n",
      LINE "      warps 1-7    xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx  exited\n"}},
    {"count", "1 error",
     {ARGUMENTS LINE "    at meet_at_one(int*, int) in ",
      LINE "    barrier 1 waits for 48 threads, which is not a multiple of 32\n"}},
    {"count-large", "1 error", {LINE "    barrier 1 waits for 64 threads, and the block has 32\n"}},
    {"counts-fewer",
     "1 error",
     {ARGUMENTS, LINE "    barrier 1 is waited for by 32 threads here and 64 elsewhere\n"}},
    {"counts", "1 error",
     {LINE "    barrier 1 is waited for by 96 threads here and 64 elsewhere\n"}},
    {"reduce", "1 error", {ARGUMENTS LINE "    at void sync_reduce<false>(int*) in ",
                           LINE "    Lane 16 is not in its own member mask 0x0000ffff\n"}},
    {"masks-full", "2 errors, 1 warning", /* lanes 16-31 go on, and exit, first */
     {LINE "    Lane 16 has the member mask 0xffff0000, and lane 0 0xffffffff"}},
    {"shuffle", WARNING,
     {LINE "    The member mask 0xffffffff names lanes 0xffff0000, which have exited"}},
    /* The line belongs to the program itself, although the shuffle is inlined from a header,
     * through two functions. */
    {"source", "1 error",
     {LINE "Undefined value from a shuffle" LINE "    at void sync_source<false>(int*)",
      "sync.cu:", LINE "    Lane 11 takes the value of lane 12, which does not take part"}},
};

Test(synccheck, reports)
{
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
        expect_status(7, "$emu --tool synccheck $pairs/sync sync-%s wrong 7 2>&1", reports[i].pair);
        for (const char *const *text = reports[i].says; *text; text++) expect(*text);
        expect_not("hpp");
        const char *counts = strstr(output, LINE "ERROR SUMMARY: ");
        cr_assert(counts && !strncmp(counts + strlen(LINE "ERROR SUMMARY: "), reports[i].counts,
                                     strlen(reports[i].counts)),
                  "%s: %s", reports[i].pair, output);
    }
}

#define DEADLOCK "$pairs/sync sync-against-shuffle wrong"

/* The same picture without the tool, behind the sentence. An error that is an illegal instruction
 * on an H200 is one without the tool, too. */
Test(synccheck, faults_without_the_tool)
{
    RUNS({0, QUIET DEADLOCK,
          {"emu: deadlock: lanes 0xfffffffe wait here", "\nemu:     block (0,0,0):\n",
           "\nemu:       warp 0       #...............................  "}},
         {0,
          "EMU_TOOL=memcheck LD_LIBRARY_PATH=$(dirname $emu) " DEADLOCK,
          {LINE "      warp 0       #...............................  ",
           "ERROR SUMMARY: 3 errors"}}, /* and the calls that return it */
         {0, QUIET "$pairs/sync sync-count wrong",
          {"emu: barrier 1 waits for 48 threads, which is not a multiple of 32, at "}},
         {0, QUIET "$pairs/sync sync-counts wrong",
          {"emu: barrier 1 is waited for by 96 threads here and 64 elsewhere, at "}},
         {0, "$emu --tool memcheck $pairs/sync sync-counts wrong", {"cudaErrorIllegalInstruction"}},
         {0, QUIET "$pairs/sync sync-mask wrong",
          {"emu: lane 16 is not in its own member mask 0x0000ffff, at "}});
}

/* ---- the reports of emu --tool memcheck on pairs of tests/cases/checks ----------------------- */

/* The lines that each kind of error must print, exit codes, the log, and limits. test_checks.c runs
 * all pairs. */

TestSuite(memcheck, .init = command_init, .fini = command_fini, .timeout = 60);

#define MEMCHECK "$emu --tool memcheck "

#define FULL        "--leak-check full"
#define AT          LINE "    at "
#define WRITE       "$pairs/memory memory-write"
#define FRAME       "\n=========         Host Frame: "
#define INVALID(w)  LINE "Invalid " w " of size 4 bytes\n"
#define HIT         "Program hit cudaErrorInvalidValue (error 1) due to \"invalid argument\""
#define PROGRAM_HIT LINE HIT " on CUDA API call to "
#define LEAKED(n)   LINE "LEAK SUMMARY: " n " allocations\n"
#define BEHIND_HOST " of 4 bytes), unless it is a pointer to other memory of the host\n"
#define NEXT_TO     LINE "    and is 1 bytes after the nearest allocation at 0x"

/* Versions of pairs, which go on to their ends: how many errors they have, and lines. */
static const struct {
    const char *options, *version;
    unsigned errors;
    const char *says[7];
} findings[] = {
    {FULL, "memory-heap right", 0, {LEAKED("0 bytes leaked in 0")}},
    /* The pointer is wrong for all threads alike, which is one finding for a warp. */
    {"", "memory-host wrong", 3,
     {INVALID("__global__ write"), LINE "    by thread (0,0,0) in block (0,0,0) [32 threads]\n",
      LINE "    and is not in device memory; is it a pointer to memory of the host?\n"}},
    /* Threads 122 to 127 of the second block write behind 1000 bytes. Each is an error, as are the
     * calls that return it, but the text has them once. */
    {"", "memory-write wrong", 8,
     {INVALID("__global__ write"), AT "void memory_write<false>(int*, int) in ",
      LINE "    by thread (122,0,0) in block (1,0,0) [6 threads]\n",
      LINE "    Access to 0x3000000013e8 is out of bounds",
      LINE "    and is 1 bytes after the nearest allocation at 0x300000001000 of size 1000 bytes "
           "(index 250 of 250 elements of 4 bytes)\n",
      LINE "Program hit cudaErrorIllegalAddress (error 700) due to \"an illegal memory access was "
           "encountered\" on CUDA API call to cudaDeviceSynchronize.\n"}},
    {"", "memory-read wrong", 4,
     {INVALID("__global__ read"), AT "void memory_read<false>(int const*, int*) in ",
      LINE "    and is 4 bytes before the nearest allocation at 0x300000001000 of"}},
    {"", "memory-atomic wrong", 4,
     {INVALID("__global__ atomic"), AT "memory_atomic(int const*, int*, int) in ",
      LINE "    by thread (16,0,0) in block (0,0,0)\n"}},
    {"", "memory-null wrong", 35,
     {INVALID("__global__ write"), LINE "    Access to 0x0 is out of bounds: a null pointer\n"}},
    {"", "memory-misaligned wrong", 4,
     {LINE "Invalid __global__ read of size 16 bytes\n",
      LINE "    by thread (0,0,0) in block (0,0,0)\n",
      LINE "    Access to 0x300000001004 is misaligned\n"}},
    {"", "memory-misaligned-vector wrong", 3,
     {LINE "Invalid __global__ write of size 16 bytes\n",
      LINE "    Access to 0x300000001008 is misaligned\n"}},
    {"", "memory-shared-end wrong", 4,
     {INVALID("__shared__ read"), LINE "    by thread (63,0,0) in block (0,0,0)\n",
      LINE "    Access to 0x100 is out of bounds\n",
      LINE "    of the 256 bytes of shared memory a block\n"}},
    {"", "memory-local wrong", 4,
     {INVALID("__local__ read"), LINE "    of the 64 bytes of local memory a thread\n"}},
    {"", "memory-parameter wrong", 3,
     {INVALID("parameter read"), LINE "    of the 76 bytes of parameters of the kernel\n"}},
    {"", "memory-constant wrong", 35,
     {INVALID("__constant__ read"), LINE "    and is 4 bytes before the nearest allocation"}},
    /* A finding names where memory was allocated and freed. */
    {"", "memory-freed wrong", 33,
     {LINE "    and is 0 bytes inside of a freed allocation at 0x300000200000 of size 4194304 "
           "bytes\n",
      LINE "    It was freed at" FRAME, LINE "    It had been allocated at" FRAME,
      LINE "    The kernel was launched at" FRAME}},
    {"", "memory-double-free wrong", 1,
     {PROGRAM_HIT "cudaFree.\n",
      LINE "    Address 0x300000001000 was freed before: a double free\n",
      LINE "    It was freed at\n", LINE "    The call was made at\n"}},
    {"", "memory-inner-free wrong", 1,
     {LINE "    Address 0x300000001004 is not the start of an allocation\n",
      LINE "    and is inside the nearest allocation at 0x300000001000 of size 256 bytes\n"}},
    {FULL, "memory-leak wrong", 1,
     {LINE "Leaked 256 bytes at 0x300000001000\n", LINE "    Allocated at\n",
      LEAKED("256 bytes leaked in 1")}},
    {FULL, "memory-leak-reset wrong", 2,
     {LINE "Leaked 128 bytes at 0x300000001000\n", LINE "Leaked 128 bytes at 0x300000002200\n",
      LEAKED("256 bytes leaked in 2")}},
    /* Managed and pinned memory is known as memory of the device is. */
    {"", "memory-managed wrong", 3, {NEXT_TO, BEHIND_HOST, LINE "    It was allocated at\n"}},
    {"", "memory-mapped wrong", 3, {NEXT_TO, BEHIND_HOST, LINE "    It was allocated at\n"}},
    {"", "memory-managed-twice wrong", 1, {" was freed before: a double free\n"}},
    {"", "memory-free-kind wrong", 1, {" is of a kind that this function does not free\n"}},
    {"--devices 2 " FULL, "memory-leak-host wrong", 2, {LEAKED("384 bytes leaked in 2")}},
    {FULL, "memory-heap-leak wrong", 32,
     {LINE "Leaked 64 bytes at 0x", ", of malloc in a kernel\n",
      LEAKED("2048 bytes leaked in 32")}},
    {"", "api-host-function wrong", 1, {" on CUDA API call to cudaMemset.\n"}},
    {"", "api-launch wrong", 1, {PROGRAM_HIT "cudaLaunchKernel.\n"}},
    {"", "api-copy wrong", 1, {PROGRAM_HIT "cudaMemcpy.\n"}},
    {"--report-api-errors no", "api-copy wrong", 0, {""}},
    {"--print-limit 2", "memory-atomic-aligned wrong", 34,
     {" [2 threads]\n",
      LINE "ERROR SUMMARY: 32 errors were not printed. Use --print-limit option to adjust the "
           "number of printed errors\n"}},
};

Test(memcheck, findings)
{
    for (size_t i = 0; i < sizeof findings / sizeof *findings; i++) {
        char summary[80];
        const char *version = findings[i].version;
        unsigned errors = findings[i].errors;
        snprintf(summary, sizeof summary, LINE "ERROR SUMMARY: %u error%s\n", errors,
                 errors == 1 ? "" : "s");
        expect_status(7, MEMCHECK "%s $pairs/%.*s %s 7 2>&1", findings[i].options,
                      (int)strcspn(version, "-"), version, version);
        expect(summary);
        for (const char *const *text = findings[i].says; *text; text++) expect(*text);
        cr_assert_leq(count_of(INVALID("__global__ write")), 1); /* as alike in several threads */
        expect_not("cudart_"); /* between a call and main lie the emulator's own functions */
        if (!strcmp(findings[i].options, "")) expect_not("LEAK");
    }
}

/* With addr2line, places are lines of the program. */
Test(memcheck, places)
{
    expect_status(0, MEMCHECK "$pairs/memory memory-free-local wrong 2>&1");
    if (system("command -v addr2line >/dev/null") == 0) {
        expect("Host Frame: main in ");
        expect("/tests/cases/checks/memory.cu:");
    }
    RUNS({0, MEMCHECK WRITE " wrong", {"/tests/cases/checks/memory.cu:"}},
         {0, "PATH=/nowhere " MEMCHECK "$pairs/memory memory-double-free wrong", {"] in memory\n"}},
         /* Linked into the program, the library finds its own functions, too. */
         {0, "EMU_TOOL=memcheck EMU_LEAK_CHECK=full $p/emulated", {LEAKED("0 bytes leaked in 0")}});
}

/* Without the tool an error is one sentence. */
Test(memcheck, is_off_unless_asked_for)
{
    RUNS({0, QUIET "$pairs/memory memory-host wrong",
          {"is out of bounds (not in device memory; is it a pointer to memory of the host?), at "}},
         {0, QUIET WRITE " wrong",
          {"emu: a store of 4 bytes at global address 0x3000000013e8 is out of bounds"}});
    expect_not("=========");
}

Test(memcheck, exit_codes)
{
    expect_status(9, MEMCHECK "--error-exitcode 9 " WRITE " wrong 3 2>&1");
    expect_status(3, MEMCHECK "--error-exitcode 0 " WRITE " wrong 3 2>&1");
    expect_status(3, MEMCHECK "--error-exitcode 9 " WRITE " right 3 2>&1");
    expect_status(9, MEMCHECK
                  "--error-exitcode 9 --leak-check full $pairs/memory memory-leak wrong 2>&1");
    /* A load of shared memory that is not written, and a mask with lanes that have exited. */
    static const char *const warned[] = {"init init-shared", "sync sync-shuffle"};
    for (int i = 0; i < 2; i++) {
        const char *check = "$emu --tool all --error-exitcode 9";
        expect_status(0, "%s $pairs/%s wrong 2>&1", check, warned[i]);
        expect(" 0 errors, 1 warning\n");
        expect_status(9, "%s --warnings-count $pairs/%s wrong 2>&1", check, warned[i]);
        expect_status(0, "%s --warnings-count $pairs/%s right 2>&1", check, warned[i]);
    }
}

Test(memcheck, no_print_limit)
{
    static const char *const options[] = {"", "--print-limit 120", "--print-limit 0"};
    static const int printed[] = {100, 120, 150};
    for (int i = 0; i < 3; i++) {
        expect_status(0, MEMCHECK FULL " %s $p/launches memory 150 leak 2>&1",
                      options[i]);
        cr_assert_eq(count_of("========= Leaked "), printed[i], "%s", output);
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
