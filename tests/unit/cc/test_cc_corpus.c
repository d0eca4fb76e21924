/*
 * test_cc_corpus.c — the compiler of CUDA C on the kernels of the book: it takes them all, names
 * them as nvcc does, and neither crashes nor hangs on what is left of them when something is lost.
 */
#define _GNU_SOURCE
#include "compiled.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const FILES[] = {
    "steps/02-naive/scan.cu",           "steps/03-work-efficient/scan.cu",
    "steps/04-conflict-free/scan.cu",   "steps/04-conflict-free/variants.cu",
    "steps/05-arbitrary-size/scan.cu",  "steps/05-arbitrary-size/variants.cu",
    "steps/first-kernel/first1.cu",     "steps/first-kernel/first2.cu",
    "steps/first-kernel/first3.cu",     "steps/first-kernel/first4.cu",
    "steps/first-kernel/first5.cu",     "steps/first-kernel/indices.cu",
    "steps/first-kernel/neighbours.cu", "steps/first-kernel/sums.cu",
};
enum { FILE_COUNT = sizeof FILES / sizeof FILES[0] };

static void expect_right(const char *name, const char *text)
{
    struct cc_result *result = compiled(name, text);
    cr_expect(result->count == 0, "%s:%d: %s", name, result->diagnostics[0].line,
              result->diagnostics[0].text);
    cr_expect(result->ptx != NULL, "%s", name);
    cc_free(result);
}

Test(cc_corpus, the_steps_and_first_kernels_are_compiled)
{
    for (int i = 0; i < FILE_COUNT; i++) {
        char *text = file_text(FILES[i]);
        expect_right(FILES[i], text);
        free(text);
    }
}

Test(cc_corpus, so_are_the_labs_2_to_5)
{
    static const char *const SOLVED[] = {"--solution", ""};
    for (int lab = 2; lab <= 5; lab++)
        for (int i = 0; i < 2; i++) {
            char command[200], *text = NULL;
            size_t size = 0;
            snprintf(command, sizeof command,
                     "common/tools/labs/skeleton.sh %s %d steps/0%d-*/scan.cu",
                     SOLVED[i], lab, lab);
            FILE *skeleton = popen(command, "r");
            cr_assert(getdelim(&text, &size, '\0', skeleton) > 0 && pclose(skeleton) == 0);
            expect_right("lab.cu", text);
            free(text);
        }
}

/* What nvcc calls them, and no kernel besides. */
Test(cc_corpus, kernels_are_named_as_by_nvcc)
{
    static const char *const rows[][2] = {
        {"steps/04-conflict-free/variants.cu",
         " _Z10scan_blockIL7padding1EEvPfPKfi _Z10scan_blockIL7padding2EEvPfPKfi"},
        {"steps/05-arbitrary-size/scan.cu", " _Z10scan_blockPfPKfS_mi _Z11uniform_addPfPKfm"},
        {"steps/05-arbitrary-size/variants.cu",
         " _Z16scan_block_naivePfPKfS_mi _Z10scan_blockILb1ELb0EEvPfPKfS0_mi"
         " _Z10scan_blockILb1ELb1EEvPfPKfS0_mi _Z10scan_blockILb0ELb1EEvPfPKfS0_mi"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text = file_text(rows[i][0]), found[1000] = "";
        struct cc_result *result = compiled(rows[i][0], text);
        cr_assert(result->ptx != NULL);
        for (const char *at = result->ptx; (at = strstr(at, ".entry"));) {
            at += strlen(".entry");
            strncat(found, at, strcspn(at, "(")); /* with the blank before it */
        }
        cr_expect_str_eq(found, rows[i][1], "%s:%s", rows[i][0], found);
        cc_free(result);
        free(text);
    }
}

Test(cc_corpus, types_in_names)
{
    struct cc_result *result = compiled(
        "text.cu",
        "enum e { A, B = -1 };\n"
        "template <int N, bool C, enum e E> __global__ void f(enum e *y, float **b, float *c) {}\n"
        "template __global__ void f<-5, true, B>(enum e *, float **, float *);\n"
        "__global__ void g(const float *const *a, float *const *b, const int (*c)[3], int "
        "d[4][5],\n"
        "                  unsigned char e, long long f, unsigned long g, const float *h) {}\n"
        "extern \"C\" __global__ void h(int *o) { __shared__ int s[4]; s[o[1]] = 1;\n"
        "    __syncthreads(); o[0] = s[o[2]]; }\n");
    cr_assert(result->ptx != NULL);
    cr_expect(strstr(result->ptx, ".entry _Z1fILin5ELb1EL1en1EEvPS0_PPfS2_(") != NULL);
    cr_expect(strstr(result->ptx, ".entry _Z1gPKPKfPKPfPA3_KiPA5_ihxmS0_(") != NULL);
    cr_expect(strstr(result->ptx, ".entry h(") != NULL);
    cr_expect(strstr(result->ptx, "_ZZ1hE1s") != NULL);
    cc_free(result);
}

/* ---- crude fuzzing --------------------------------------------------------------------------- */

static size_t word_length(const char *text)
{
    size_t length = 1;
    if (!isalnum((unsigned char)*text) && *text != '_') return 1;
    while (isalnum((unsigned char)text[length]) || text[length] == '_') length++;
    return length;
}

/* Without what is between them: the text ends there, or goes on. */
static void try_without(const char *name, const char *text, size_t begin, size_t end)
{
    char *left = malloc(strlen(text) + 1);
    memcpy(left, text, begin);
    left[begin] = '\0';
    cc_free(checked(name, left));
    strcpy(left + begin, text + end);
    cc_free(compiled(name, left));
    free(left);
}

Test(cc_corpus, texts_that_end_early_or_lack_a_word_end_the_compilation_slow, .timeout = 300)
{
    for (int i = 0; i < FILE_COUNT; i++) {
        char *text = file_text(FILES[i]);
        for (size_t at = 0, length; text[at] != '\0'; at += length) {
            length = word_length(text + at);
            if (!isspace((unsigned char)text[at])) try_without(FILES[i], text, at, at + length);
        }
        free(text);
    }
}
