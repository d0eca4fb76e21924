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

/* The properties that an H200 reports. */
static const struct device gpu = {.name = "NVIDIA H200",
                                  .major = 9,
                                  .sms = 132,
                                  .threads_per_sm = 2048,
                                  .warp_size = 32};

static const struct step step = {.number = 9,
                                 .name = "nine",
                                 .title = "Nine",
                                 .teaches = "something",
                                 .still_bad = "everything: step 10"};

/* 2^28 floats in 1 ms, where a copy takes 0.5 ms. */
static const struct outcome outcome = {
    .n = (size_t)1 << 28,
    .launches = {1, 3, {{"scan_block", 3, 1 << 19, 256, 2048, 8}}},
    .verified = true,
    .verdict = {.right = true, .exact = true, .checked = (size_t)1 << 28},
    .right = true,
    .timing = {.reps = 15, .median = 1e-3, .lower = 0.9e-3, .upper = 1.2e-3},
    .roofed = true,
    .roof = {.bytes = (size_t)1 << 30, .timing = {.median = 0.5e-3}, .how = "float4 kernel"},
    .description = {.least_bytes = 0x1p31},
};

static struct subject subject_of(const struct options *options)
{
    return (struct subject){
        .step = &step, .options = options, .verbs = &scan_verbs, .element = step.element};
}

Test(report, of_a_gpu)
{
    static const char *const parts[] = {
        "Step 9 · Nine",
        "NVIDIA H200 (132 SMs, compute capability 9.0)",
        "scan_block: 524 288 blocks of 256 threads and 2 KiB of shared memory each; the largest of "
        "3 launches",
        "100 % (theoretical): 8 blocks per SM",
        "268 435 456 floats, random integers, seed 7",
        "right: every element, exactly, in each timed run, too",
        "1.00 ms, median of 15 (quartiles 900 µs to 1.20 ms)",
        "2147 GB/s, 50.0 % of the roof (copy: 500 µs, 4295 GB/s, float4 kernel)",
        "run this under ncu, or with --device emu",
        "Still bad: everything: step 10",
    };
    char text[4000] = "";
    FILE *file = fmemopen(text, sizeof text, "w");
    struct options options = {.seed = 7};
    report_heading(file, &step, &gpu);
    struct subject subject = subject_of(&options);
    report_outcome(file, &subject, &gpu, &outcome);
    report_still_bad(file, &step);
    fclose(file);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        cr_expect(strstr(text, parts[i]), "\"%s\" is not in:\n%s", parts[i], text);
}

static const char *value_of(const struct record *record, const char *key)
{
    for (size_t i = 0; i < record->count; i++)
        if (strcmp(record->fields[i].key, key) == 0)
            return record->fields[i].kind == FIELD_NULL ? "null" : record->fields[i].text;
    cr_assert_fail("there is no key %s", key);
    return "";
}

Test(report, record_of_a_gpu)
{
    struct record record;
    struct options options = {.seed = 7};
    struct subject subject = subject_of(&options);
    report_record(&record, &subject, &gpu, &outcome);
    cr_expect_lt(record.count, RECORD_FIELDS, "a field may be missing");
    cr_expect_str_eq(value_of(&record, "n"), "268435456");
    cr_expect_str_eq(value_of(&record, "bytes_moved"), "2147483648");
    cr_expect_str_eq(value_of(&record, "gb_per_s"), "2147.48365");
    cr_expect_str_eq(value_of(&record, "roof_fraction"), "0.5");
    cr_expect_str_eq(value_of(&record, "emulated"), "false");
    cr_expect_str_eq(value_of(&record, "adds_counted"), "null");
    cr_expect_str_eq(value_of(&record, "conflicts_ld"), "null");
}

/* No rate is computed from the emulator's time. */
Test(report, no_rate_of_the_emulator)
{
    struct device emulated = gpu;
    struct record record;
    struct options options = {.seed = 7};
    emulated.emulated = true;
    struct subject subject = subject_of(&options);
    report_record(&record, &subject, &emulated, &outcome);
    cr_expect_str_eq(value_of(&record, "gb_per_s"), "null");
    cr_expect_str_eq(value_of(&record, "roof_fraction"), "null");
    cr_expect_str_eq(value_of(&record, "seconds"), "0.001");
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
