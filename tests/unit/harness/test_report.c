/*
 * test_report.c — numbers for people to read; the lines of a report and of the table of counters,
 * exact to the character, and every key of a record, for invented runs.
 */
#define _GNU_SOURCE
#include "common/harness/report/report.h"
#include "common/harness/print/print.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static char text[8000];

/* The output between these two calls goes into `text`. */
static FILE *begin(void)
{
    memset(text, 0, sizeof text);
    return fmemopen(text, sizeof text - 1, "w");
}

/* Asserts that `text` has this line. */
static void expect_line(const char *line)
{
    char whole[200];
    snprintf(whole, sizeof whole, "\n%s\n", line);
    cr_expect(strstr(text, whole), "the line \"%s\" is not in:\n%s", line, text);
}

static void expect_no(const char *part)
{
    cr_expect(!strstr(text, part), "\"%s\" is in:\n%s", part, text);
}

/* ---- what was run ---------------------------------------------------------------------------- */

static const char *const variants[] = {"one", "two", NULL};
static const struct step step = {.number = 4,
                                 .name = "four",
                                 .title = "Four",
                                 .teaches = "a thing",
                                 .variants = variants,
                                 .element = ELEMENT_F32};

static const struct device gpu = {.name = "GPU",
                                  .major = 9,
                                  .sms = 132,
                                  .threads_per_sm = 2048,
                                  .warp_size = 32};
static const struct device emulated = {.name = "GPU",
                                       .emulated = true,
                                       .why = "no driver",
                                       .threads_per_sm = 2048,
                                       .warp_size = 32};

static char file_a[] = "/none/a.cu", file_b[] = "/none/b.cu";
static struct counter_line lines[] = {
    {.file = file_a,
     .line = 7,
     .counts = {.shared_ld = {.instructions = 10, .wavefronts = 30, .ideal = 12},
                .adds = {[EMU_ADD_F32] = 5}}},
    {.file = file_a,
     .line = 9,
     .counts = {.shared_st = {.instructions = 4, .wavefronts = 8, .ideal = 8},
                .global_ld = {.requests = 2, .sectors = 9, .bytes = 64}}},
    {.file = file_a, .line = 10, .counts = {.instructions = 3}},
    {.file = file_b,
     .line = 11,
     .counts = {.shared_st = {.instructions = 1, .wavefronts = 40, .ideal = 1},
                .global_st = {.requests = 3, .sectors = 12, .bytes = 96}}},
};

/* A run on the emulator, with all that it counts. */
static struct outcome counted_run(void)
{
    return (struct outcome){.n = 1000,
                            .launches = {1, 1, {{"scan", 1, 1, 33, 132, 32}}},
                            .verified = true,
                            .right = true,
                            .verdict = {.right = true, .exact = true, .checked = 1000},
                            .counted = true,
                            .counters = {.total = {.adds = {[EMU_ADD_F32] = 1998},
                                                   .shared_ld = {10, 30, 12},
                                                   .shared_st = {5, 48, 9},
                                                   .shared_copy = {1, 5, 4},
                                                   .global_ld = {2, 9, 64},
                                                   .global_st = {3, 12, 96},
                                                   .barriers = 77},
                                         .line_count = 4,
                                         .lines = lines},
                            .timing = {.reps = 1, .median = 2e-3, .lower = 1e-3, .upper = 3e-3},
                            .description = {.least_bytes = 8000}};
}

/* A run on a GPU, with a roof. */
static struct outcome timed_run(void)
{
    return (struct outcome){
        .n = 500000,
        .launches = {2, 3, {{"scan", 2, 10000, 256, 1024, 8}, {"add", 1, 9999, 64, 0, 16}}},
        .verified = true,
        .right = true,
        .verdict = {.right = true, .checked = 500000, .worst = 0.25},
        .timing = {.reps = 15, .median = 20e-6, .lower = 10e-6, .upper = 1e-3},
        .roofed = true,
        .roof = {.bytes = 2000000, .timing = {.median = 4e-6}, .how = "a copy"},
        .description = {.least_bytes = 4e6}};
}

static struct subject subject_of(const struct step *step, const struct options *options)
{
    return (struct subject){
        .step = step, .options = options, .verbs = &scan_verbs, .element = step->element};
}

static void print_report(const struct device *device, const struct options *options,
                         const struct outcome *outcome)
{
    FILE *to = begin();
    report_heading(to, &step, device);
    struct subject subject = subject_of(&step, options);
    report_outcome(to, &subject, device, outcome);
    fclose(to);
}

/* The report has this line. */
static void expect_report(const struct device *device, struct options options,
                          const struct outcome *outcome, const char *line)
{
    print_report(device, &options, outcome);
    expect_line(line);
}

/* ---- reports --------------------------------------------------------------------------------- */

Test(report_text, on_the_emulator)
{
    struct outcome outcome = counted_run();
    print_report(&emulated, &(struct options){.seed = 3}, &outcome);
    cr_expect(strncmp(text, "Step 4 · Four\na thing\n\n", 24) == 0, "%s", text);
    expect_line("  device      GPU on the CPU: no driver");
    expect_line("  launch      scan: 1 block of 33 threads and 132 bytes of shared memory");
    expect_line("  occupancy   100 % (theoretical): 32 blocks per SM; registers estimated");
    expect_line("  input       1000 floats, random integers, seed 3");
    expect_line("  variant     one");
    expect_line("  verified    right: every element, exactly, in each timed run, too");
    expect_line("  additions   1998 counted, 999 sequentially (2.00 times as many)");
    expect_line("  time        2.00 ms: the emulator's own, not a GPU's");
    expect_line("  conflicts   18 in loads, 39 in stores (of 30 and 48 wavefronts)");
    expect_line("  copies      conflicts: 1 of 5 wavefronts of asynchronous copies");
    expect_line("              most in /none/b.cu:11: 0 + 39");
    expect_line("  sectors     4.50 per request for loads, 4.00 for stores");
    expect_no("speed");
}

Test(report_text, on_a_gpu)
{
    struct outcome outcome = timed_run();
    print_report(&gpu, &(struct options){.input = "-", .variant = 1}, &outcome);
    expect_line("  device      GPU (132 SMs, compute capability 9.0)");
    expect_line("  launch      scan: 10 000 blocks of 256 threads and 1 KiB of shared memory each; "
                "the largest of 2 launches");
    expect_line("              add: 9999 blocks of 64 threads");
    expect_line("  occupancy   scan: 100 % (theoretical): 8 blocks per SM");
    expect_line("              add: 50.0 % (theoretical): 16 blocks per SM");
    expect_line("  input       500 000 floats, from stdin");
    expect_line("  variant     two");
    expect_line("  verified    right: every element, worst error 25.0 % of the bound, in each "
                "timed run, too");
    expect_no("additions");
    expect_line("  time        20.0 µs, median of 15 (quartiles 10.0 µs to 1.00 ms)");
    expect_line("  speed       200 GB/s, 20.0 % of the roof (copy: 4.00 µs, 1000 GB/s, a copy)");
    expect_line("  counters    run this under ncu, or with --device emu");
    expect_no("conflicts");
}

Test(report_text, without_a_roof_and_without_a_gpu)
{
    struct outcome outcome = timed_run();
    struct options options = {.seed = 1};
    outcome.roofed = false;
    expect_report(&gpu, options, &outcome, "  speed       200 GB/s");
    outcome.launches = (struct launches){0};
    expect_report(NULL, options, &outcome, "  speed       200 GB/s, caches warm");
    expect_no("launch");
    expect_no("occupancy");
    expect_no("counters");
    expect_report(NULL, (struct options){.counters = true}, &outcome,
                  "  counters    none: this step runs on the CPU itself");
    outcome.timing.reps = 0;
    print_report(&gpu, &options, &outcome);
    expect_no("time  ");
}

Test(report_text, how_the_input_was_changed)
{
    struct outcome outcome = counted_run();
    expect_report(&emulated, (struct options){.real = true, .seed = 9, .in_place = true}, &outcome,
                  "  input       1000 floats, random reals, seed 9, in place");
    expect_report(
        &emulated, (struct options){.input = "a", .in_place = true, .inclusive = true, .offset = 3},
        &outcome, "  input       1000 floats, from a, in place, made inclusive, displaced by 3");
    expect_report(&emulated, (struct options){.input = "a", .input_rounded = true}, &outcome,
                  "  input       1000 floats, from a, rounded to the nearest");
    outcome.n = 1;
    expect_report(&emulated, (struct options){.seed = 3}, &outcome,
                  "  input       1 float, random integers, seed 3");
}

/* ---- verdicts -------------------------------------------------------------------------------- */

Test(report_text, a_wrong_result)
{
    struct outcome outcome = counted_run();
    outcome.right = false;
    outcome.verdict = (struct verdict){
        .checked = 1000,
        .wrong = 2,
        .shown = 2,
        .first = {{.index = 5, .got = "1", .want = "2"}, {.index = 77, .got = "-3", .want = "4.5"}},
        .cause = "it is so"};
    print_report(&emulated, &(struct options){.seed = 3}, &outcome);
    expect_line("  verified    WRONG");
    expect_line("              2 of 1000 elements");
    expect_line("                     index                 got            expected");
    expect_line("                         5                   1                   2");
    expect_line("                        77                  -3                 4.5");
    expect_line("              likely cause: it is so");
    expect_line(
        "              to look for hazards and bad accesses: build/emu/emu --tool all ./step4");
    outcome.verdict = (struct verdict){.checked = 1, .wrong = 1};
    print_report(&emulated, &(struct options){.seed = 3}, &outcome);
    expect_line("              1 of 1 element");
    strcpy(outcome.run, "timed run 3 of 12");
    strcpy(outcome.damage, "a guard was written");
    outcome.verdict = (struct verdict){.right = true, .checked = 1000};
    print_report(&emulated, &(struct options){.seed = 3}, &outcome);
    expect_line("  verified    WRONG in timed run 3 of 12");
    expect_line("              a guard was written");
    expect_no("of 1000 elements");
}

Test(report_text, what_was_verified)
{
    struct outcome outcome = counted_run();
    struct options options = {.seed = 3};
    outcome.n = outcome.verdict.checked = 1;
    expect_report(&emulated, options, &outcome,
                  "  verified    right: the one element, exactly, in each timed run, too");
    expect_line("  additions   1998 counted, 0 sequentially");
    outcome.verified = false;
    expect_report(&emulated, options, &outcome, "  verified    not at all (--verify none)");
}

/* ---- counters by line ------------------------------------------------------------------------ */

Test(report_text, counters_by_line)
{
    struct outcome outcome = counted_run();
    FILE *to = begin();
    report_lines(to, &outcome.counters);
    fclose(to);
    cr_expect_str_eq(
        text,
        "\n"
        "           shared loads     shared stores    global loads   global stores\n"
        " line  wavefr. conflict  wavefr. conflict  sectors  /req.  sectors  /req.       adds\n"
        "/none/a.cu\n"
        "    7       30       18        .        .        .      .        .      .          5  \n"
        "    9        .        .        8        .        9   4.50        .      .          .  \n"
        "/none/b.cu\n"
        "   11        .        .       40       39        .      .       12   4.00          .  \n");
}

/* ---- records --------------------------------------------------------------------------------- */

static void expect_record(const struct record *record, const char *const expected[][2])
{
    for (size_t i = 0; expected[i][0]; i++) {
        size_t k = 0;
        while (k < record->count && strcmp(record->fields[k].key, expected[i][0]) != 0) k++;
        cr_assert(k < record->count, "there is no key %s", expected[i][0]);
        cr_expect_str_eq(record->fields[k].kind == FIELD_NULL ? "null" : record->fields[k].text,
                         expected[i][1], "%s", expected[i][0]);
    }
}

Test(report_text, record_of_the_emulator)
{
    static const char *const expected[][2] = {
        {"step", "4"},              {"name", "four"},
        {"variant", "two"},         {"n", "1000"},
        {"element", "float"},       {"input", "random integers"},
        {"seed", "3"},              {"inclusive", "true"},
        {"in_place", "false"},      {"offset", "2"},
        {"device", "GPU"},          {"emulated", "true"},
        {"kernel", "scan"},         {"grid", "1"},
        {"block", "33"},            {"shared_bytes", "132"},
        {"launches", "1"},          {"occupancy", "1"},
        {"verify", "full"},         {"right", "true"},
        {"exact", "true"},          {"checked", "1000"},
        {"wrong", "0"},             {"first_wrong", "null"},
        {"got", "null"},            {"expected", "null"},
        {"cause", "null"},          {"worst_of_bound", "null"},
        {"adds_counted", "1998"},   {"adds_sequential", "999"},
        {"reps", "1"},              {"seconds", "0.002"},
        {"seconds_lower", "0.001"}, {"seconds_upper", "0.003"},
        {"bytes_moved", "8000"},    {"gb_per_s", "null"},
        {"roof_gb_per_s", "null"},  {"roof_fraction", "null"},
        {"roof_how", "null"},       {"conflicts_ld", "18"},
        {"conflicts_st", "39"},     {"wavefronts_ld", "30"},
        {"wavefronts_st", "48"},    {"worst_line", "/none/b.cu:11"},
        {"requests_ld", "2"},       {"sectors_ld", "9"},
        {"requests_st", "3"},       {"sectors_st", "12"},
        {"barriers", "77"},         {"variant_remark", "null"},
        {NULL, NULL},
    };
    struct record record;
    struct outcome outcome = counted_run();
    struct options options = {.seed = 3, .variant = 1, .inclusive = true, .offset = 2};
    struct subject subject = subject_of(&step, &options);
    report_record(&record, &subject, &emulated, &outcome);
    expect_record(&record, expected);
}

Test(report_text, record_of_a_gpu)
{
    static const char *const expected[][2] = {
        {"input", "a.npy"},       {"seed", "null"},          {"in_place", "true"},
        {"emulated", "false"},    {"exact", "false"},        {"worst_of_bound", "0.25"},
        {"adds_counted", "null"}, {"seconds", "2e-05"},      {"gb_per_s", "200"},
        {"roof_gb_per_s", "1000"}, {"roof_fraction", "0.2"}, {"roof_how", "a copy"},
        {"conflicts_ld", "null"}, {"barriers", "null"},      {NULL, NULL},
    };
    struct record record;
    struct outcome outcome = timed_run();
    struct options options = {.input = "a.npy", .in_place = true};
    struct subject subject = subject_of(&step, &options);
    report_record(&record, &subject, &gpu, &outcome);
    expect_record(&record, expected);
}

#define LINES                                                                                      \
    "{\n  \"n\": 5,\n  \"lines\": [\n"                                                             \
    "    {\"file\": \"/none/a.cu\", \"line\": 7, \"conflicts_ld\": 18, \"conflicts_st\": 0, "      \
    "\"wavefronts_ld\": 30, \"wavefronts_st\": 0, \"requests_ld\": 0, \"sectors_ld\": 0, "         \
    "\"requests_st\": 0, \"sectors_st\": 0, \"adds\": 5},\n"                                       \
    "    {\"file\": \"/none/a.cu\", \"line\": 9, \"conflicts_ld\": 0, \"conflicts_st\": 0, "       \
    "\"wavefronts_ld\": 0, \"wavefronts_st\": 8, \"requests_ld\": 2, \"sectors_ld\": 9, "          \
    "\"requests_st\": 0, \"sectors_st\": 0, \"adds\": 0}\n"                                        \
    "  ]\n}"

Test(report_text, lines_of_a_record)
{
    struct record record = {0};
    struct outcome outcome = counted_run();
    struct options options = {.format = REPORT_JSON, .counters = true};
    record_integer(&record, "n", 5);
    outcome.counters.line_count = 2;
    FILE *to = begin();
    report_print_record(to, &record, &options, &outcome, 0);
    report_print_record(to, &record, &options, &outcome, 1);
    fclose(to);
    cr_expect_str_eq(text, LINES ",\n" LINES);
    options.counters = false;
    to = begin();
    report_print_record(to, &record, &options, &outcome, 0);
    fclose(to);
    cr_expect_str_eq(text, "{\n  \"n\": 5\n}");
}

Test(report, numbers_and_names)
{
    char name[20];
    format_kernel("_ZL5byval3VecPi", name, sizeof name); /* Vec is a parameter's type */
    cr_expect_str_eq(name, "byval");
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
