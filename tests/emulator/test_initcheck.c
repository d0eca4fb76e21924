/*
 * test_initcheck.c — initcheck on a program that leaves a part of an array unwritten and reads all
 * of it, unwritten.cu: for every type, and every way to write and read.
 */
#include "tests/support/command.h"

#include <stdio.h>

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
        expect("tests/fixtures/programs/unwritten.cu:");
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

static void in_every_way(const char *type)
{
    for (int i = 0; i < WAYS; i++) {
        initcheck("initcheck", type, ways[i], ALL, 0);
        initcheck("initcheck", type, ways[i], WRITTEN, 9);
    }
}

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

Test(unwritten, atomics_read)
{
    initcheck("initcheck", "int", "atomics", ALL, 0);
    initcheck("initcheck", "int", "atomics", WRITTEN, 9);
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
