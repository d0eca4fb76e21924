/* test_same_ptx.c — which PTX counts as the same. */
#define _GNU_SOURCE
#include "common/labs/grader/same_ptx.h"

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
    same_ptx(kernel, strlen(kernel), own);
    same_ptx(text, strlen(text), other);
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

/* Any bytes do. */
Test(same_ptx, what_is_no_ptx)
{
    uint64_t bits[2];
    same_ptx("", 0, bits);
    same_ptx("/* no end", 9, bits);
    same_ptx("\xff%\0$_\n.section", 14, bits);
    cr_assert(bits[0] != 0);
}
