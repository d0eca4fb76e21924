/* test_lab_results.c — the stream of results: what was written is read, and other bytes
 * are refused without harm. */
#define _POSIX_C_SOURCE 200809L
#include "common/labs/results.h"
#include "common/labs/score.h"
#include "results_made.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The stream of a right solution of lab 3. */
struct stream {
    unsigned char *bytes;
    size_t size;
};

static void write_all(int fd, const struct lab_results *results)
{
    cr_assert_eq(results_write_begin(fd, lab_find(3), results->seed, results->handed_out), 0);
    for (size_t i = 0; i < results->case_count; i++)
        cr_assert_eq(results_write_case(fd, &results->cases[i]), 0);
    cr_assert_eq(results_write_end(fd), 0);
}

static struct stream make_stream(void)
{
    struct lab_results results;
    struct stream stream;
    FILE *file = tmpfile();
    make_results(lab_find(3), 5, true, &results);
    make_finding(&results.cases[0], 7);
    write_all(fileno(file), &results);
    stream.size = (size_t)lseek(fileno(file), 0, SEEK_END);
    stream.bytes = malloc(stream.size);
    cr_assert_eq(pread(fileno(file), stream.bytes, stream.size, 0), (ssize_t)stream.size);
    fclose(file);
    results_free(&results);
    return stream;
}

static void expect_same(const struct lab_case_result *got, const struct lab_case_result *want)
{
    cr_expect_eq(memcmp(&got->is, &want->is, sizeof got->is), 0);
    cr_expect_eq(got->end, want->end);
    cr_expect_eq(memcmp(&got->total, &want->total, sizeof got->total), 0);
    cr_expect_eq(memcmp(got->out, want->out, want->is.n * sizeof *got->out), 0);
    cr_assert_eq(got->line_count, want->line_count);
    cr_expect_eq(memcmp(got->lines, want->lines, want->line_count * sizeof *got->lines), 0);
    cr_assert_eq(got->operation_count, want->operation_count);
    cr_expect_str_eq(got->operations[1].name, want->operations[1].name);
    cr_assert_eq(got->finding_count, want->finding_count);
}

Test(lab_results, what_is_written_is_read)
{
    struct stream stream = make_stream();
    struct lab_results got, want;
    char why[RESULTS_TEXT];
    cr_assert_eq(results_read(stream.bytes, stream.size, &got, why, sizeof why), 0, "%s", why);
    make_results(lab_find(3), 5, true, &want);
    make_finding(&want.cases[0], 7);
    cr_expect(got.complete && got.lab == 3 && got.seed == 5 && got.handed_out);
    cr_assert_eq(got.case_count, want.case_count);
    for (size_t i = 0; i < want.case_count; i++) expect_same(&got.cases[i], &want.cases[i]);
    cr_expect_eq(got.cases[0].findings[0].line, 7);
    results_free(&got);
    results_free(&want);
    free(stream.bytes);
}

/* The bytes are copied, so that the sanitizers notice a read beyond their end. */
static int read_copy(const void *bytes, size_t size, struct lab_results *got, char *why)
{
    void *copy = malloc(size ? size : 1);
    memcpy(copy, bytes, size);
    int code = results_read(copy, size, got, why, RESULTS_TEXT);
    free(copy);
    return code;
}

/* Cut anywhere, it is refused, or read up to the last whole case and not complete. */
Test(lab_results, every_beginning_is_read_or_refused)
{
    struct stream stream = make_stream();
    struct lab_results got;
    char why[RESULTS_TEXT];
    unsigned read = 0;
    for (size_t size = 0; size < stream.size; size += size < 2000 ? 1 : 97) {
        if (read_copy(stream.bytes, size, &got, why)) {
            cr_expect(strstr(why, "The results cannot be read: "), "%zu: %s", size, why);
            cr_expect_eq(got.case_count, 0);
            continue;
        }
        read++;
        cr_expect_not(got.complete, "%zu bytes", size);
        results_free(&got);
    }
    cr_expect_gt(read, 0);
    free(stream.bytes);
}

/* Whatever was read can be scored, and the verdict printed. */
static void score_and_print(const struct lab_results *results, FILE *out)
{
    static const struct lab_weights weights = {{40, 20, 20, 20}};
    static struct lab_verdict verdict;
    static struct lab_results reference;
    if (!reference.case_count) make_results(lab_find(3), 5, true, &reference);
    score_lab(lab_find(3), results, &reference, &weights, &verdict);
    cr_expect(verdict.points >= 0 && verdict.points <= 100, "%g points", verdict.points);
    lab_verdict_text(out, &verdict, "labs/lab3.cu");
    lab_verdict_json(out, &verdict, "labs/lab3.cu");
}

/* Random bytes are changed. Whatever is read then keeps the limits, and its texts end. */
Test(lab_results, changed_bytes_do_no_harm)
{
    struct stream stream = make_stream();
    unsigned char *changed = malloc(stream.size);
    struct lab_results got;
    FILE *out = fopen("/dev/null", "w");
    unsigned scored = 0;
    char why[RESULTS_TEXT];
    srand(1);
    for (int round = 0; round < 300; round++) {
        memcpy(changed, stream.bytes, stream.size);
        for (int k = 0; k < 1 + round % 30; k++)
            changed[(size_t)rand() % (round % 2 ? stream.size : 3000)] = (unsigned char)rand();
        if (read_copy(changed, stream.size, &got, why)) continue;
        cr_expect_leq(got.case_count, LAB_CASES);
        for (size_t i = 0; i < got.case_count; i++) {
            cr_expect_lt(strlen(got.cases[i].message), RESULTS_TEXT);
            cr_expect_leq(got.cases[i].finding_count, RESULTS_FINDINGS);
            cr_expect_eq(got.cases[i].out != NULL, got.cases[i].end == LAB_RAN);
        }
        score_and_print(&got, out);
        scored += got.case_count > 0;
        results_free(&got);
    }
    cr_expect_gt(scored, 50);
    fclose(out);
    free(changed);
    free(stream.bytes);
}

Test(lab_results, more_cases_than_allowed_are_refused)
{
    struct lab_results results, got;
    char why[RESULTS_TEXT] = "", path[] = "/tmp/lab-results-XXXXXX";
    int fd = mkstemp(path);
    make_results(lab_find(3), 5, true, &results);
    results_write_begin(fd, lab_find(3), 5, true);
    for (int i = 0; i <= LAB_CASES; i++) results_write_case(fd, &results.cases[0]);
    results_write_end(fd);
    cr_expect_eq(results_read_file(path, &got, why, sizeof why), -1);
    cr_expect_str_eq(why, "The results cannot be read: it has too many cases.");
    close(fd);
    unlink(path);
    results_free(&results);
    cr_expect_eq(results_read_file(path, &got, why, sizeof why), -1);
    cr_expect(strstr(why, "No such file"), "%s", why);
}

Test(lab_results, a_full_disk_is_an_errno)
{
    FILE *full = fopen("/dev/full", "w");
    cr_assert(full);
    cr_expect_neq(results_write_begin(fileno(full), lab_find(3), 1, true), 0);
    fclose(full);
}

/* Counters that no run can have, one at a time. */
static void more_lanes_than_a_warp(struct lab_case_result *r)
{
    r->operations[0].lanes = r->operations[0].instructions * 32 + 1;
}
static void more_than_in_total(struct lab_case_result *r) { r->total.lanes--; }
static void less_than_in_total(struct lab_case_result *r) { r->operations[1].lanes--; }
static void instructions_not_in_total(struct lab_case_result *r) { r->total.instructions--; }
static void better_than_ideal(struct lab_case_result *r) { r->total.shared_ld.wavefronts = 0; }
static void line_better_than_ideal(struct lab_case_result *r)
{
    r->lines[0].counts.shared_st.ideal++;
}
static void copies_better_than_ideal(struct lab_case_result *r) { r->total.shared_copy.ideal++; }
static void lines_beyond_total(struct lab_case_result *r) { r->lines[0].counts.lanes++; }
static void wraps_around(struct lab_case_result *r) { r->total.global_ld.sectors = UINT64_MAX; }
static void elements_wrap(struct lab_case_result *r) { r->operations[0].elements = UINT64_MAX / 2; }
static void findings_wrap(struct lab_case_result *r) { r->errors = r->warnings = UINT64_MAX; }

/* What a process says that a submission has taken over. */
Test(lab_results, counters_that_contradict_each_other_are_refused)
{
    static void (*const forge[])(struct lab_case_result *) = {
        more_lanes_than_a_warp,  more_than_in_total,
        less_than_in_total,      instructions_not_in_total,
        better_than_ideal,       line_better_than_ideal,
        lines_beyond_total,      wraps_around,
        elements_wrap,           findings_wrap,
        copies_better_than_ideal};
    for (size_t i = 0; i < sizeof forge / sizeof *forge; i++) {
        struct lab_results results, got;
        char why[RESULTS_TEXT];
        FILE *file = tmpfile();
        make_results(lab_find(3), 5, true, &results);
        forge[i](&results.cases[3]);
        write_all(fileno(file), &results);
        results_free(&results);
        static unsigned char bytes[1 << 20];
        ssize_t size = pread(fileno(file), bytes, sizeof bytes, 0);
        fclose(file);
        cr_assert_eq(read_copy(bytes, (size_t)size, &got, why), -1, "forgery %zu", i);
        cr_expect(strstr(why, "its counters contradict each other"), "%zu: %s", i, why);
    }
}
