/* test_report.c — numbers for people to read, and the report of an invented run on a GPU. */
#define _GNU_SOURCE
#include "common/harness/report/report.h"

#include "common/harness/print/print.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

Test(report, numbers)
{
    cr_expect_str_eq(format_count(0).s, "0");
    cr_expect_str_eq(format_count(1024).s, "1024");
    cr_expect_str_eq(format_count(10000).s, "10 000");
    cr_expect_str_eq(format_count(1048576).s, "1 048 576");
    cr_expect_str_eq(plural(0), "s");
    cr_expect_str_eq(plural(1), "");
    cr_expect_str_eq(plural(2), "s");
    cr_expect_str_eq(format_count(UINT64_MAX).s, "18 446 744 073 709 551 615");
    cr_expect_str_eq(format_bytes(0).s, "0 bytes");
    cr_expect_str_eq(format_bytes(1023).s, "1023 bytes");
    cr_expect_str_eq(format_bytes(2048).s, "2 KiB");
    cr_expect_str_eq(format_bytes(2111).s, "2.1 KiB");
    cr_expect_str_eq(format_bytes((uint64_t)3 << 30).s, "3 GiB");
    cr_expect_str_eq(format_seconds(2.5e-9).s, "2.50 ns");
    cr_expect_str_eq(format_seconds(12.34e-6).s, "12.3 µs");
    cr_expect_str_eq(format_seconds(0.123).s, "123 ms");
    cr_expect_str_eq(format_seconds(75).s, "75.0 s");
    cr_expect_str_eq(format_duration(9.4).s, "9 s");
    cr_expect_str_eq(format_duration(119).s, "119 s");
    cr_expect_str_eq(format_duration(1010).s, "17 min");
    cr_expect_str_eq(format_duration(7530).s, "2 h 5 min");
    cr_expect_str_eq(format_rate(3.125e12).s, "3125 GB/s");
    cr_expect_str_eq(format_percent(0.934).s, "93.4 %");
    cr_expect_str_eq(format_percent(1).s, "100 %");
}

Test(report, medians_and_quartiles)
{
    struct timing t;
    double one[] = {3}, five[] = {5, 1, 4, 2, 3}, four[] = {4, 3, 2, 1};
    timing_summarize(&t, one, 1);
    cr_expect(t.median == 3 && t.lower == 3 && t.upper == 3 && t.least == 3);
    timing_summarize(&t, five, 5);
    cr_expect(t.median == 3 && t.lower == 2 && t.upper == 4 && t.least == 1);
    timing_summarize(&t, four, 4);
    cr_expect(t.median == 2.5 && t.lower == 1.75 && t.upper == 3.25);
    timing_summarize(&t, NULL, 0);
    cr_expect_eq(t.reps, 0);
}

Test(report, text_in_json_and_csv)
{
    struct record record = {0};
    char text[400] = "";
    FILE *file = fmemopen(text, sizeof text, "w");
    record_text(&record, "a", "quote \" comma , backslash \\ newline \n");
    record_number(&record, "b", NAN);
    record_bool(&record, "c", true);
    record_print(file, REPORT_JSON, &record, 0);
    fputs("\n--\n", file);
    record_print(file, REPORT_CSV, &record, 0);
    fclose(file);
    cr_expect_str_eq(text, "{\n  \"a\": \"quote \\\" comma , backslash \\\\ newline \\u000a\",\n"
                           "  \"b\": null,\n  \"c\": true\n}\n--\na,b,c\n"
                           "\"quote \"\" comma , backslash \\ newline \\n\",,true\n");
}

Test(report, why_there_is_no_gpu)
{
    static const struct {
        cudaError_t error;
        int count, driver;
        const char *part;
    } cases[] = {
        {cudaErrorInsufficientDriver, 0, 0, "no NVIDIA driver is installed"},
        {cudaErrorInsufficientDriver, 0, 12040,
         "made for CUDA 12.4, older than this program's runtime 13.0 (update the driver)"},
        {cudaErrorNoDevice, 0, 13000, "no GPU that it may use"},
        {cudaSuccess, 0, 13000, "no GPU that it may use"},
        {cudaErrorSystemDriverMismatch, 0, 13000, "CUDA says: "},
    };
    char text[200];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        device_problem(cases[i].error, cases[i].count, cases[i].driver, 13000, text, sizeof text);
        cr_expect(strstr(text, cases[i].part), "%s", text);
    }
    device_problem(cudaSuccess, 1, 13000, 13000, text, sizeof text);
    cr_expect_str_empty(text);
}
