/* test_in_branch.c — which line of a CUDA file stands in an `if`? */
#define _GNU_SOURCE /* memmem, fmemopen */
#include "common/labs/score.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>

/* Of each line that has a barrier: the end of its comment says whether it stands in a branch. */
static const char source[] = "#define IF if (x) {\n"
                             "__global__ void k(int n)\n"
                             "{\n"
                             "    __syncthreads(); // out\n"
                             "    if (n > 1) { // if (n) {\n"
                             "        n = 2;\n"
                             "        __syncthreads(); // in\n"
                             "    }\n"
                             "    __syncthreads(); // out\n"
                             "    for (int i = 0; i < n; i++) {\n"
                             "        if (i) n++;\n"
                             "        __syncthreads(); // out\n"
                             "        if (i < 3)\n"
                             "            __syncthreads(); // in\n"
                             "        else {\n"
                             "            while (n)\n"
                             "            {\n"
                             "                __syncthreads(); // in\n"
                             "            }\n"
                             "        }\n"
                             "        if (i < 4) __syncthreads(); // in\n"
                             "        /* if (n) { */ __syncthreads(); // out\n"
                             "        iffy = 1; __syncthreads(); // out\n"
                             "    }\n"
                             "    __syncthreads(); // out\n"
                             "}\n";

Test(in_branch, braces_and_statements_without_them)
{
    FILE *file = fmemopen((void *)(uintptr_t)source, sizeof source - 1, "r");
    cr_assert(file);
    unsigned line = 1, barriers = 0;
    for (const char *text = source; *text; line++) {
        size_t length = strcspn(text, "\n");
        bool has_barrier = memmem(text, length, "__sync", 6) != NULL;
        bool is_in = text[length - 1] == 'n' && text[length - 2] == 'i';
        if (has_barrier) cr_expect_eq(is_in_branch(file, line), is_in, "line %u", line);
        barriers += has_barrier;
        text += length + 1;
    }
    cr_expect_eq(barriers, 10);
    cr_expect_not(is_in_branch(file, line + 1));
    fclose(file);
    cr_expect_not(is_in_branch(NULL, 7));
}
