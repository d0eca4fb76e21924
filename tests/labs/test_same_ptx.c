/* test_same_ptx.c — which PTX counts as the same. */
#define _GNU_SOURCE
#include "common/labs/grader/grader.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const char kernel[] = ".visible .entry _Z4scanPf(\n"
                             "\t.param .u64 _Z4scanPf_param_0\n)\n{\n"
                             "\t.reg .b32 %r<3>;\n"
                             "\t.loc 1 7 3\n"
                             "$L__BB0_1:\n"
                             "\tmov.u32 %r1, %tid.x;\n"
                             "\tadd.s32 %r2, %r1, 1;\n"
                             "\tbra $L__BB0_1;\n}\n";

/* The kernel with one text in place of another, everywhere. */
static char *with(const char *from, const char *to)
{
    char *text = calloc(1, 4 * sizeof kernel), *end = text;
    for (const char *at = kernel; *at != '\0';) {
        if (strncmp(at, from, strlen(from)) == 0) {
            end = stpcpy(end, to);
            at += strlen(from);
        } else {
            *end++ = *at++;
        }
    }
    cr_assert(strcmp(text, kernel) != 0, "%s is not there", from);
    return text;
}

static int same(const char *from, const char *to)
{
    uint64_t own[2], other[2];
    char *text = with(from, to);
    same_ptx(NULL, kernel, strlen(kernel), own);
    same_ptx(NULL, text, strlen(text), other);
    free(text);
    return memcmp(own, other, sizeof own) == 0;
}

Test(same_ptx, names_do_not_matter)
{
    cr_assert(same("%r", "%other"));
    cr_assert(same("$L__BB0_1", "$L__BB7_12"));
    cr_assert(same("_Z4scanPf", "_Z9prefixsumPf"));
}

Test(same_ptx, lines_comments_and_blanks_do_not_matter)
{
    cr_assert(same(".loc 1 7 3", ".loc 2 99 1"));
    cr_assert(same(".loc 1 7 3", "// a comment"));
    cr_assert(same(".loc 1 7 3", "/* a\n comment */"));
    cr_assert(same("\tadd.s32 %r2, %r1, 1;", "  add.s32   %r2,%r1,1 ;"));
    cr_assert(same("\t.loc 1 7 3\n", ".file 1 \"/etc/passwd\"\n"));
}

Test(same_ptx, instructions_matter)
{
    cr_assert(!same("add.s32", "sub.s32"));
    cr_assert(!same(", 1;", ", 2;"));
    cr_assert(!same("%tid.x", "%ctaid.x"));
    cr_assert(!same("%tid", "%laneid"));
    cr_assert(!same("add.s32 %r2, %r1, 1", "add.s32 %r1, %r2, 1"));
    cr_assert(!same("\tbra $L__BB0_1;\n", ""));
}

/* Two texts, by the kernels of lab 5, which are scan_block and uniform_add. */
static int same_for_lab(const char *left, const char *right)
{
    uint64_t own[2], other[2];
    same_ptx(lab_find(5), left, strlen(left), own);
    same_ptx(lab_find(5), right, strlen(right), other);
    cr_assert(own[0] != 0 && other[0] != 0);
    return memcmp(own, other, sizeof own) == 0;
}

#define SCAN  ".visible .entry scan_block(.param .u64 a) { .reg .b32 %r<2>; mov.u32 %r1, 1; }\n"
#define ADD   ".visible .entry uniform_add(.param .u64 b) { bar.sync 0; ret; }\n"
#define OTHER ".visible .entry other() { { trap; } ret; }\n"
#define CALL  ".visible .entry scan_block() { call _Z1fv, (); ret; }\n"

/* What can be added to a copy without any effect. */
Test(same_ptx, what_is_not_launched_does_not_matter)
{
    cr_expect(same_for_lab(SCAN ADD, ADD SCAN));
    cr_expect(same_for_lab(SCAN ADD, ".version 9.0\n" OTHER ADD OTHER SCAN));
    cr_expect(same_for_lab(SCAN ADD, ".visible .global .align 4 .b8 unused[4];\n" SCAN ADD));
    cr_expect(same_for_lab(SCAN ADD, ".func _Z1fv() { trap; }\n" SCAN ADD));
    cr_expect_not(same_for_lab(SCAN ADD, SCAN));
    cr_expect_not(same_for_lab(SCAN OTHER, ADD OTHER));
}

/* A function that is called belongs to the kernel, wherever it stands. */
Test(same_ptx, called_functions_matter)
{
    const char *const traps = ".func (.param .b32 r) _Z1fv() { trap; }\n" CALL;
    cr_expect(same_for_lab(traps, ".func _Z1fv();\n" CALL ".func _Z1fv() { trap; }\n"));
    cr_expect_not(same_for_lab(traps, ".func (.param .b32 r) _Z1fv() { exit; }\n" CALL));
    cr_expect_not(same_for_lab(traps, ".extern .func _Z1fv();\n" CALL));
    /* One that calls itself. */
    cr_expect(
        same_for_lab(CALL ".func _Z1fv() { call _Z1fv; }", ".func _Z1fv() { call _Z1fv; }" CALL));
}

/* Any bytes do. Without a kernel nothing is the same. */
Test(same_ptx, what_is_no_ptx)
{
    static const char *const texts[] = {"",         "/* no end",    "\xff%$_\n.section", ".entry",
                                        ".entry {", ".func (",      ".func f",           ".func f(",
                                        ".entry }", "entry f() { }"};
    uint64_t bits[2];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t size = strlen(texts[i]);
        char *copy = malloc(size ? size : 1); /* so that sanitizers see a read behind it */
        memcpy(copy, texts[i], size);
        same_ptx(NULL, copy, size, bits);
        free(copy);
        cr_expect(bits[0] == 0 || strchr(texts[i], '{') != NULL, "%s", texts[i]);
    }
    same_ptx(NULL, "\0.entry\0{\0", 11, bits);
}
