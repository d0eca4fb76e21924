/*
 * test_ptx_printf.c — the device's printf, with formats and arguments that are wrong: it reads only
 * memory that the kernel may read, and writes none.
 */
#include "tests/cases/ptx/ptx_run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* printf(in, out), with both pointers as they are. Its return value is stored to `result`. */
#define PRINTS(before)                                                                             \
    PTX_HEADER ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n"           \
               ".visible .global .u32 result;\n"                                                   \
               ".visible .entry k(.param .u64 p_out, .param .u64 p_in) {\n"                        \
               ".shared .align 8 .b8 s[8];\n.local .align 8 .b8 l[32];\n"                          \
               ".reg .b64 %l<4>;\n.reg .b32 %r<4>;\n" before                                      \
               "{\n.param .b64 f;\n.param .b64 a;\n.param .b32 r;\n"                              \
               "st.param.b64 [f], %l0;\nst.param.b64 [a], %l1;\n"                                  \
               "call.uni (r), vprintf, (f, a);\nld.param.b32 %r0, [r];\n}\n"                       \
               "st.global.u32 [result], %r0;\nret;\n}\n"
static const char prints[] =
    PRINTS("ld.param.u64 %l0, [p_in];\nld.param.u64 %l1, [p_out];\n");

static char printed[20000];
static int32_t result;

/* Launches the kernel; `printed` gets its output, `result` the return value of printf. */
static int launch_with(struct emu *emu, const char *text, emu_addr format, emu_addr arguments)
{
    struct emu_module *module;
    struct emu_kernel *kernel;
    emu_addr place;
    size_t size;
    FILE *file = tmpfile(), *before = stdout;
    cr_assert(file && !emu_load(emu, text, strlen(text), "test", &module), "%s", emu_message(emu));
    cr_assert(!emu_kernel(emu, module, "k", &kernel), "%s", emu_message(emu));
    stdout = file;
    int error = launch(emu, kernel, 1, 1, 0, 2, (uint64_t[]){arguments, format});
    stdout = before;
    rewind(file);
    printed[fread(printed, 1, sizeof printed - 1, file)] = '\0';
    fclose(file);
    cr_assert(!emu_symbol(emu, module, "result", &place, &size));
    cr_assert(!emu_read(emu, &result, place, sizeof result));
    emu_unload(emu, module);
    return error;
}

/* One format, and the arguments as they lie in memory. */
static void print(struct emu *emu, const char *format, const void *arguments, size_t bytes)
{
    emu_addr f = device_copy(emu, format, strlen(format) + 1),
             a = bytes ? device_copy(emu, arguments, bytes) : 0;
    cr_assert(!launch_with(emu, prints, f, a), "\"%s\": %s", format, emu_message(emu));
    emu_free(emu, f);
    if (a) emu_free(emu, a);
}

struct printing {
    const char *format;
    uint64_t words[4];
    const char *expected;
    int arguments;
};

/* 64-bit words, each of which also begins with a 32-bit one. */
static const struct printing cases[] = {
    /* %n writes nothing, but takes its argument */
    {"a%nb|%lld", {0, 5}, "a%nb|5", 2},
    {"%ln%lld", {0, 5}, "%ln5", 2},
    {"%lln%hn%hn|", {0, 0, 0, 0}, "%lln%hn%hn|", 3},
    {"%-5n%*n|%lld", {0, 3, 0, 7}, "%-5n%*n|7", 4},
    /* every conversion that C has */
    {"%lld %lli %llu", {(uint64_t)-1, (uint64_t)-2, 3}, "-1 -2 3", 3},
    {"%llo %llx %llX %#llx", {8, 255, 255, 255}, "10 ff FF 0xff", 4},
    {"%hd %hd %hu", {0xffff00018000, 0}, "-32768 -1 0", 3},
    /* conversions that CUDA does not have: the kernel copies no argument, and the host, which knows
     * %hhd, reads on in the format: an H200 prints the same */
    {"%jd %zu %td %Lf %.*f", {1}, "%jd %zu %td %Lf %.*f", 0},
    {"%qd", {7}, "%qd", 0},
    {"%hhd|%hd|", {300 | (uint64_t)70000 << 32}, "44|26661|", 1},
    {"%hhu|", {300}, "37|", 0},
    {"%hhx %d|", {300 | (uint64_t)5 << 32}, "2c 2020108325|", 1},
    {"9 %hhd|%d|%d|", {300 | (uint64_t)5 << 32, 6}, "9 44|5|1747263545|", 2},
    {"%c|%5c|%-5c|", {'a' | (uint64_t)'b' << 32, 'c'}, "a|    b|c    |", 3},
    {"%p", {0x1234}, "0x1234", 1},
    {"%f %.1f %e %G",
     {0x3ff0000000000000, 0x3ff8000000000000, 0, 0},
     "1.000000 1.5 0.000000e+00 0",
     4},
    {"%a %F", {0x3ff0000000000000, 0x4000000000000000}, "0x1p+0 2.000000", 2},
    {"100%% %5%-", {0}, "100% %-", 0},
    /* wide strings are not printed; a wide character has 8 bytes */
    {"%ls|%lld", {1, 5}, "%ls|5", 2},
    {"%lc|%d", {65, 66}, "A|66", 2},
    /* texts that are not conversions */
    {"%y %k %Q%", {0}, "%y %k %Q%", 0},
    {"%1$d %2$s", {1, 2}, "%1$d %2$s", 0},
    {"%-", {0}, "%-", 0},
    {"%lll %hhhd %llhd", {1}, "%lll %hhhd %llhd", 0},
    {"%S %C %m %v", {1, 2}, "%S %C %m %v", 0},
    {"%.*", {1}, "%.*", 0},
    /* widths from arguments */
    {"%*d|", {6 | (uint64_t)42 << 32}, "    42|", 2},
    {"%*d|", {(uint32_t)-6 | (uint64_t)42 << 32}, "42    |", 2},
    {"%-*d|", {4 | (uint64_t)1 << 32}, "1   |", 2},
    {"%+-5d|% d|%05d|%-05d|",
     {1 | (uint64_t)2 << 32, 3 | (uint64_t)4 << 32},
     "+1   | 2|00003|4    |",
     4},
    {"%5.3d|%.0f|%.f|", {7, 0x3ff8000000000000, 0x3ff8000000000000}, "  007|2|2|", 3},
    /* a null pointer is not a string */
    {"%s|%5.3s|%p", {0, 0, 0}, "(null)|  (nu|(nil)", 3},
};

Test(emu_printf, every_conversion_is_printed_or_is_text)
{
    struct emu *emu = open_emu();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        print(emu, cases[i].format, cases[i].words, sizeof cases[i].words);
        cr_expect_str_eq(printed, cases[i].expected, "\"%s\": \"%s\"", cases[i].format, printed);
        cr_expect_eq(result, cases[i].arguments, "\"%s\": %d arguments", cases[i].format, result);
    }
    emu_close(emu);
}

Test(emu_printf, nothing_is_written_where_n_points)
{
    static const char *const formats[] = {"abc%n",  "abc%ln", "abc%lln", "abc%hn", "abc%hhn",
                                          "abc%jn", "abc%zn", "abc%tn",  "abc%3n"};
    struct emu *emu = open_emu();
    static uint64_t host = 0x55;
    uint64_t device;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        print(emu, formats[i], &(uint64_t){(uint64_t)(uintptr_t)&host}, 8);
        cr_expect_eq(host, 0x55, "%s", formats[i]);
        emu_addr target = device_copy(emu, &host, sizeof host);
        print(emu, formats[i], &target, 8);
        cr_assert(!emu_read(emu, &device, target, sizeof device));
        cr_expect_eq(device, 0x55, "%s", formats[i]);
        cr_expect_str_eq(printed, formats[i]);
    }
    emu_close(emu);
}

/* A line has at most 4095 characters, for any width or precision. */
Test(emu_printf, huge_widths_are_cut, .timeout = 20)
{
    static const struct {
        const char *format;
        uint32_t words[4];
    } wide[] = {
        {"%999999999d", {7}},
        {"%.999999999d", {7}},
        {"%99999999999999999999d", {7}},
        {"%-2147483648d", {7}},
        {"%*d", {INT32_MAX, 7}},
        {"%*d", {(uint32_t)INT32_MIN, 7}},
        {"%.999999999f", {0, 0x3ff00000}},
        {"%999999999s", {0}},
        {"%999999999c", {65}},
        {"%999999999p", {65}},
        {"%0*f", {INT32_MAX, 0, 0, 0x3ff00000}},
    };
    struct emu *emu = open_emu();
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
        print(emu, wide[i].format, wide[i].words, sizeof wide[i].words);
        cr_expect_eq(strlen(printed), 4095, "\"%s\": %zu", wide[i].format, strlen(printed));
    }
    emu_close(emu);
}

/* The host reads on in the format, in words of 8 bytes: an H200 prints the same. */
Test(emu_printf, the_33rd_argument_is_text_of_the_format)
{
    char format[200] = "";
    uint32_t words[35];
    for (uint32_t k = 0; k < 32; k++) strcat(format, "%d "), words[k] = k + 1;
    strcat(format, "|%x|%x|%llx\n");
    struct emu *emu = open_emu();
    print(emu, format, words, sizeof words);
    const char *last = strchr(printed, '|');
    cr_expect_str_eq(last ? last : printed, "|25206425|20642520|2064252064252064\n");
    cr_expect_eq(result, 32);
    emu_close(emu);
}

/* Missing arguments are 0: those behind the end of the memory that holds the arguments, and all if
 * there is no such memory. */
Test(emu_printf, missing_arguments_are_0)
{
    struct emu *emu = open_emu();
    print(emu, "%d %d %lld %f %s|", (uint32_t[]){1, 2}, 8);
    cr_expect_str_eq(printed, "1 2 0 0.000000 (null)|");
    print(emu, "%d %*d %lld %s|", NULL, 0);
    cr_expect_str_eq(printed, "0 0 0 (null)|");
    emu_addr format = device_copy(emu, "%d %lld|", 9);
    cr_assert(!launch_with(emu, prints, format, UINT64_MAX - 2));
    cr_expect_str_eq(printed, "0 0|", "an address that has no next one");
    emu_close(emu);
}

/* The output on stderr of two launches of a kernel with this format and 4 bytes of arguments. */
static void expect_warning(const char *format, const char *says)
{
    struct emu *emu = open_emu();
    struct emu_kernel *kernel = load_kernel(emu, prints, "k");
    uint64_t arguments[] = {device_copy(emu, &(uint32_t){7}, 4),
                            device_copy(emu, format, strlen(format) + 1)};
    char warned[2000] = "", *first;
    FILE *text = tmpfile(), *lines = tmpfile(), *errors_before = stderr, *before = stdout;
    cr_assert(text && lines);
    stderr = text;
    stdout = lines;
    int error = 0;
    for (int k = 0; k < 2 && !error; k++) error = launch(emu, kernel, 1, 2, 0, 2, arguments);
    stderr = errors_before;
    stdout = before;
    rewind(text);
    warned[fread(warned, 1, sizeof warned - 1, text)] = '\0';
    fclose(text);
    fclose(lines);
    emu_close(emu);
    cr_assert(!error);
    first = strstr(warned, says);
    cr_expect(*says ? first && !strstr(first + 1, says) : !*warned, "\"%s\": %s", format, warned);
    if (*says) cr_expect(strstr(warned, ", at PTX line "), "%s", warned);
}

/* The message is printed once for a kernel, for any number of threads and launches. */
Test(emu_printf, wrong_formats_are_warned_of)
{
    static const char missing[] =
        "emu: warning: printf's format takes more arguments than there are";
    expect_warning("%d %d\n", missing);
    expect_warning("%s\n", missing);
    expect_warning("%hd%n\n", "emu: warning: printf's format has a %n");
    expect_warning("%.*f\n", "emu: warning: printf's format has a conversion that CUDA's printf");
    expect_warning("%d %%\n", "");
    expect_warning("%y\n", "");
}

/* ---- strings --------------------------------------------------------------------------------- */

static emu_addr new_words(struct emu *emu, uint64_t first, uint64_t second)
{
    return device_copy(emu, (uint64_t[]){first, second}, 16);
}

static void expect_fault(struct emu *emu, emu_addr format, emu_addr arguments, const char *text)
{
    cr_expect_eq(launch_with(emu, prints, format, arguments), EMU_ILLEGAL_ADDRESS);
    cr_expect(strstr(emu_message(emu), text), "%s", emu_message(emu));
}

Test(emu_printf, a_string_that_is_not_in_memory_is_a_fault)
{
    static const uint64_t wrong[] = {1,
                                     0x7fff00000000,
                                     UINT64_MAX,
                                     UINT64_C(0x0100000000ffffff),
                                     UINT64_C(0x02000000ffffffff),
                                     UINT64_C(0x0300000000ffffff)};
    struct emu *emu = open_emu();
    emu_addr format = device_copy(emu, "<%s>", 5);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        emu_addr arguments = device_copy(emu, &wrong[i], 8);
        expect_fault(emu, format, arguments, "of printf's %s");
        expect_fault(emu, wrong[i], 0, "of printf's format");
        emu_free(emu, arguments);
    }
    emu_close(emu);
}

Test(emu_printf, a_string_without_an_end_is_a_fault_unless_a_precision_ends_it)
{
    struct emu *emu = open_emu();
    emu_addr word = device_copy(emu, "abcd", 4), format = device_copy(emu, "<%s>", 5),
             cut = device_copy(emu, "<%.4s><%.2s>", 13), arguments = new_words(emu, word, word);
    expect_fault(emu, format, arguments, "of printf's %s");
    cr_expect(strstr(emu_message(emu), "does not end"), "%s", emu_message(emu));
    expect_fault(emu, word, 0, "of printf's format");
    cr_expect(!launch_with(emu, prints, cut, arguments), "%s", emu_message(emu));
    cr_expect_str_eq(printed, "<abcd><ab>");
    emu_close(emu);
}

Test(emu_printf, no_format_is_no_line)
{
    struct emu *emu = open_emu();
    cr_expect(!launch_with(emu, prints, 0, 0), "%s", emu_message(emu));
    cr_expect_str_eq(printed, "");
    cr_expect_eq(result, -1);
    emu_close(emu);
}

/* A long string is printed up to the end of the line. */
Test(emu_printf, long_strings_and_formats)
{
    enum { LONG = 10000 };
    struct emu *emu = open_emu();
    char *text = malloc(LONG);
    memset(text, 'x', LONG - 1);
    text[LONG - 1] = '\0';
    emu_addr word = device_copy(emu, text, LONG), format = device_copy(emu, "<%s>", 5);
    cr_expect(!launch_with(emu, prints, format, new_words(emu, word, 0)), "%s", emu_message(emu));
    cr_expect_eq(strlen(printed), 4095);
    cr_expect(!launch_with(emu, prints, word, 0), "%s", emu_message(emu));
    cr_expect_eq(strlen(printed), 4095);
    free(text);
    emu_close(emu);
}

/* Format and string in shared memory, in local memory, and in a parameter. */
Test(emu_printf, strings_in_every_space)
{
    static const char text[] = PRINTS(
        "mov.b32 %r1, 0x0a73253c;\nst.local.u32 [l], %r1;\n"   /* "<%s\n" */
        "mov.b32 %r1, 0x0073253e;\nst.local.u32 [l+4], %r1;\n" /* ">%s" */
        "mov.b32 %r1, 0x00006968;\nst.shared.u32 [s], %r1;\n"  /* "hi" */
        "mov.u64 %l0, s;\ncvta.shared.u64 %l0, %l0;\nst.local.u64 [l+8], %l0;\n"
        "mov.b64 %l1, p_in;\ncvta.param.u64 %l1, %l1;\nst.local.u64 [l+16], %l1;\n"
        "mov.u64 %l0, l;\ncvta.local.u64 %l0, %l0;\nadd.u64 %l1, %l0, 8;\n");
    struct emu *emu = open_emu();
    cr_assert(!launch_with(emu, text, 0x006b6f, 0), "%s", emu_message(emu)); /* "ok" */
    cr_expect_str_eq(printed, "<hi\n>ok");
    cr_expect_eq(result, 2);
    emu_close(emu);
}
