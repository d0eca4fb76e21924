/* test_cc_source.c — tokens, directives and macros of the compiler of CUDA C. */
#include "common/tools/cc/source/source.h"
#include "compiled.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The tokens of a text after the directives, with blanks between them. */
static char *expanded(const char *text)
{
    static char joined[2000];
    struct arena arena = {0};
    struct source_files sources = {0};
    struct diagnostics d = {.arena = &arena, .sources = &sources};
    const struct cc_options none = {0};
    joined[0] = '\0';
    for (struct token *t = preprocess(&d, "text.cu", text, &none); t->kind != TOKEN_END;
         t = t->next)
        if (t->at.file == 0) {
            strncat(joined, t->text, (size_t)t->length);
            strcat(joined, " ");
        }
    if (joined[0] != '\0') joined[strlen(joined) - 1] = '\0';
    for (size_t i = 0; i < d.count; i++) strcat(strcat(joined, " !"), d.found[i].text);
    arena_free(&arena);
    return joined;
}

/* Texts, and their tokens. */
static const char *const texts[][2] = {
    /* Tokens */
    {"a+++b", "a ++ + b"},
    {"f<g><<<1,2>>>(x)", "f < g > <<< 1 , 2 >>> ( x )"},
    {"a>>=1;x<<=2", "a >>= 1 ; x <<= 2"},
    {"1e-5f 0x1p+3 .5 1'000 1.e2 3u", "1e-5f 0x1p+3 .5 1'000 1.e2 3u"},
    {"\"a\\\"b\" 'c' '\\''", "\"a\\\"b\" 'c' '\\''"},
    {"a/* b */c // d\ne", "a c e"},
    {"a // b \\\n c\nd", "a d"},
    {"a \\\n b", "a b"},
    {"a /* b", "a !this comment has no end"},
    {"a \"b\nc", "a \" c !this string has no \" at its end, in its line"},
    {"a @ b", "a @ b !this character means nothing here"},
    /* Macros */
    {"#define N 3\nN + N", "3 + 3"},
    {"#define F(a, b) ((a) * b)\nF(1 + 2, G(3, 4))", "( ( 1 + 2 ) * G ( 3 , 4 ) )"},
    {"#define F(a) a\nF (1) F\n(2) F", "1 2 F"},
    {"#define F(a) G(a)\n#define G(a) F(a)\nF(1)", "F ( 1 )"},
    {"#define x x + y\n#define y x\nx", "x + x"},
    {"#define S(a) #a\nS(b  \"c\" d)", "\"b \\\"c\\\" d\""},
    {"#define J(a, b) a##b\nJ(x, 1) J(, y) J(x, )", "x1 y x"},
    {"#define V(a, ...) a(__VA_ARGS__)\nV(f, 1, 2)", "f ( 1 , 2 )"},
    {"#define E\nE a E", "a"},
    {"#define N 1\n#undef N\nN", "N"},
    {"__LINE__\n__LINE__ __FILE__", "1 2 \"text.cu\""},
    {"#define F(a) a\nF(1, 2)", "F ( 1 , 2 ) !the macro F takes 1 argument, and here are 2"},
    {"#define F(a) a\nF(1", "F ( 1 !the ) after the arguments of the macro F is missing"},
    /* Conditions */
    {"#if 1 + 1 == 2 && !defined X\na\n#else\nb\n#endif", "a"},
    {"#ifdef X\na\n#elif defined(__CUDACC__)\nb\n#else\nc\n#endif", "b"},
    {"#if 0\n#if 1\na\n#endif\ndon't\n#else\nb\n#endif", "b"},
    {"#define N 3\n#if N << 2 == 12 ? N > 2 : 0\na\n#endif", "a"},
    {"#ifndef X\n#define X\na\n#endif\n#ifndef X\nb\n#endif", "a"},
    {"#if 1 +\n#endif", " !a number is missing in the condition of #if"},
    {"#if -1 > 0u\n#endif", " !an unsigned number: nvcc accepts this, the page's compiler does not,"
                            " in the condition of #if"},
    {"#if 'a' == 97 && '\\n' == 10 && '\\x41' == 65\na\n#endif", "a"},
    {"#if 'ab'\n#endif",
     " !what stands between ' and ' is not one character in the condition of #if"},
    {"#if (0 && 1 / 0) || (1 || 1 % 0) ? 1 : 1 / 0\na\n#endif", "a"},
    {"#if 0 ? 1 / 0 : 0 || 1 / 0\n#endif", " !0 is divided by in the condition of #if"},
    {"#if 1 / 0\n#endif", " !0 is divided by in the condition of #if"},
    {"#if 1\na", "a !this #if has no #endif"},
    {"#endif", " !this #endif has no #if before it"},
    {"#error no way", " !#error no way"},
    {"#fi", " !there is no directive #fi"},
    {"#include <nowhere.h>", " !the header <nowhere.h>: the page's compiler does not have it"},
    {"#include \"scan.h\"", " !the header \"scan.h\" was not found"},
};

Test(cc_source, tokens_macros_and_conditions)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *found = expanded(texts[i][0]);
        cr_expect_str_eq(found, texts[i][1], "of \"%s\":\n%s", texts[i][0], found);
    }
}

/* Ten lines that would make 10^9 tokens. */
Test(cc_source, macros_that_make_too_much_end)
{
    char text[2000] = "#define A0 x x x x x x x x x x\n";
    for (int i = 1; i < 10; i++)
        sprintf(text + strlen(text), "#define A%d A%d A%d A%d A%d A%d A%d A%d A%d\n", i, i - 1,
                i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    char *said = said_of(strcat(text, "A9\n"));
    cr_assert(strstr(said, "or make more than 300000 words") != NULL, "%s", said);
    free(said);
}

/* Time and memory grow no faster than the text. */
Test(cc_source, long_chains_of_macros_and_many_names, .timeout = 20)
{
    enum { CHAIN = 4000, LOCALS = 20000, ROOM = 40 * LOCALS };
    char *text = malloc(ROOM), *to = text + sprintf(text, "#define C0(x) x\n");
    for (int i = 1; i <= CHAIN; i++) to += sprintf(to, "#define C%d(x) C%d(x)\n", i, i - 1);
    sprintf(to, "C%d(7)", CHAIN);
    cr_expect_str_eq(expanded(text), "7");
    to = text + sprintf(text, "__global__ void k(int *p) {\n");
    for (int i = 0; i < LOCALS; i++) to += sprintf(to, "int a%d = p[%d];\n", i, i);
    sprintf(to, "p[0] = a%d;\n}\n", LOCALS - 1);
    struct cc_result *result = compiled("text.cu", text);
    cr_expect(result->ptx != NULL && strstr(result->ptx, "+79996]") != NULL);
    cc_free(result);
    to = text + sprintf(text, "#define D(x) x x\n");
    for (int i = 0; i < 30; i++) to += sprintf(to, "D(");
    to += sprintf(to, "1");
    for (int i = 0; i < 30; i++) to += sprintf(to, ")");
    char *said = said_of(text);
    cr_expect(strstr(said, "or make more than 300000 words") != NULL, "%s", said);
    free(said);
    free(text);
}

Test(cc_source, what_a_macro_makes_stands_at_its_use)
{
    char *said = said_of("#define TWICE(a) (2 * a + b)\n__global__ void k(int *o)\n{\n"
                         "    o[0] = TWICE(\n        c);\n    o[1] = TWICE(1);\n}\n");
    cr_expect_str_eq(said, "4:12 `b` is not declared here (in what the macro TWICE makes)\n"
                           "5:9 `c` is not declared here");
    free(said);
}
