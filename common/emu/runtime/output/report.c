/*
 * report.c — the counters of every launch, printed when the program ends.
 *
 * EMU_COUNTERS, EMU_CSV and EMU_METRICS ask for a report. The counts are copied when a launch ends,
 * because a program that uses emu.h may discard the emulator's records. report_text.c prints the
 * tables.
 */
#define _GNU_SOURCE /* program_invocation_short_name, open_memstream */
#include "common/emu/runtime/process/process.h"
#include "report.h"
#include "common/emu/ptx/kernel_name.h"
#include "common/files/visible.h"
#include "common/files/whole_file.h"

#include <errno.h>
#include <pthread.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum report_page { REPORT_NONE, REPORT_RAW, REPORT_SOURCE };

static struct {
    enum report_page page;
    bool csv;
    const char *log_file; /* NULL: stdout */
    bool kernel_is_regex;
    regex_t kernel_regex;
    bool has_head;  /* of the rows as CSV: no other program has written it */
    bool agreement; /* a column with it in CSV, unless metrics are asked for by name */
    bool is_written;
} wanted;

static struct launch_report report;
static bool rows_lost;                                    /* out of host memory */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* protects the rows */

/* ---- what is wanted -------------------------------------------------------------------------- */

static void choose_kernels(const char *value)
{
    static const char prefix[] = "regex:";
    report.kernel = value;
    wanted.kernel_is_regex = value != NULL && strncmp(value, prefix, strlen(prefix)) == 0;
    if (wanted.kernel_is_regex &&
        regcomp(&wanted.kernel_regex, value + strlen(prefix), REG_EXTENDED | REG_NOSUB) != 0)
        cudart_refuse(SETTING_KERNEL_NAME, value, settings[SETTING_KERNEL_NAME].takes);
}

static void choose_log_file(void)
{
    wanted.log_file = cudart_output(SETTING_LOG_FILE);
    cudart_keep_apart(SETTING_LOG_FILE, SETTING_TRACE);
    if (setting_text(SETTING_TOOL) != NULL) cudart_keep_apart(SETTING_LOG_FILE, SETTING_CHECK_LOG);
    int error = whole_file_check(wanted.log_file);
    if (error == 0) return;
    fprintf(stderr, "emu: cannot write EMU_LOG_FILE=%s: %s\n", wanted.log_file, strerror(error));
    cudart_exit(EXIT_USAGE);
}

static enum report_page read_page(void)
{
    if (setting_is(SETTING_COUNTERS, "lines")) return REPORT_SOURCE;
    return setting_is(SETTING_COUNTERS, "1") ? REPORT_RAW : REPORT_NONE;
}

void cudart_report_settings(void)
{
    const char *metrics = setting_text(SETTING_METRICS);
    enum report_page page = read_page();
    wanted.csv = setting_is(SETTING_CSV, "1");
    report.all_launches = setting_is(SETTING_LAUNCHES, "1");
    if (page == REPORT_NONE && (wanted.csv || metrics != NULL)) page = REPORT_RAW;

    char wrong[128];
    report.metric_count = metrics_choose(metrics, report.metrics, wrong, sizeof wrong);
    if (report.metric_count == 0)
        cudart_refuse(SETTING_METRICS, wrong, settings[SETTING_METRICS].takes);
    wanted.agreement = metrics == NULL;
    report.work = metrics == NULL && !wanted.csv;
    choose_kernels(setting_text(SETTING_KERNEL_NAME));
    if (cudart_document_replaces_report()) page = REPORT_NONE;
    if (page == REPORT_NONE) return;
    choose_log_file();
    cudart_observe_end();
    wanted.page = page;
    report.by_line = page == REPORT_SOURCE;
}

bool cudart_report_wanted(void) { return wanted.page != REPORT_NONE || cudart_document_wanted(); }

static bool is_wanted(const char *kernel)
{
    if (report.kernel == NULL) return true;
    if (wanted.kernel_is_regex) return regexec(&wanted.kernel_regex, kernel, 0, NULL, 0) == 0;
    return strcmp(report.kernel, kernel) == 0;
}

/* ---- what was counted ------------------------------------------------------------------------ */

/* Copies the counts of each line. False: out of memory. */
static bool copy_lines(struct launch_row *row, const struct emu_launch_record *record)
{
    if (wanted.page != REPORT_SOURCE || record->line_count == 0) return true;
    row->lines = malloc(record->line_count * sizeof *row->lines);
    if (row->lines == NULL) return false;
    for (size_t i = 0; i < record->line_count; i++) {
        row->lines[i] = record->lines[i];
        row->lines[i].file = strdup(record->lines[i].file);
        if (row->lines[i].file == NULL) return false;
    }
    row->line_count = record->line_count;
    return true;
}

/* The same of each operation; their names stay with the device. */
static bool copy_operations(struct launch_row *row, const struct emu_launch_record *record)
{
    size_t bytes = record->operation_count * sizeof *row->operations;
    if (!report.work || report.by_line || bytes == 0) return true;
    row->operations = malloc(bytes);
    if (row->operations == NULL) return false;
    memcpy(row->operations, record->operations, bytes);
    row->operation_count = record->operation_count;
    return true;
}

/* Room for one more. False: out of memory. The array doubles whenever its length is a power of
 * two. */
static bool grow(void)
{
    if ((report.row_count & (report.row_count - 1)) != 0) return true;
    size_t room = report.row_count == 0 ? 1 : 2 * report.row_count;
    struct launch_row *grown = realloc(report.rows, room * sizeof *grown);
    if (grown != NULL) report.rows = grown;
    return grown != NULL;
}

/* Adds a launch, with what it counted; `record` is NULL if it failed. False: out of memory. */
static bool keep(const struct cudart_launch *launch, const struct emu_launch_record *record,
                 cudaError_t error)
{
    struct launch_row row = {.function = launch->function,
                             .stream = launch->stream,
                             .device = cudart_device()->number,
                             .grid = launch->grid,
                             .block = launch->block,
                             .error = record != NULL ? cudaSuccess : error};
    kernel_base_name(launch->function->name, row.kernel, sizeof row.kernel);
    if (!is_wanted(row.kernel)) return true;
    cudart_document_add(launch, record, error);
    if (wanted.page == REPORT_NONE) return true;
    if (!grow()) return false;
    bool complete = true;
    if (record != NULL) {
        row.total = record->total;
        row.agreement = record->agreement;
        complete = copy_lines(&row, record) && copy_operations(&row, record);
        row.agreement.text = strdup(record->agreement.text);
        if (row.agreement.text == NULL) return false;
    }
    report.rows[report.row_count++] = row;
    return complete;
}

int cudart_report_launch(const struct cudart_launch *launch)
{
    if (!cudart_report_wanted()) return launch->run(launch->context);

    struct emu *emu = emu_runtime();
    struct device *device = cudart_device();
    pthread_mutex_lock(&device->report); /* then the newest record is this launch's */
    bool was_on = emu_count(emu, true);
    size_t before = emu_records(emu);
    int error = launch->run(launch->context);
    size_t after = emu_records(emu);
    const struct emu_launch_record *record = after > before ? emu_record(emu, after - 1) : NULL;
    pthread_mutex_lock(&mutex);
    if ((record != NULL || cudart_is_kernel_fault(error) || error == cudaErrorNotSupported) &&
        !keep(launch, record, (cudaError_t)error))
        rows_lost = true;
    pthread_mutex_unlock(&mutex);
    emu_count(emu, was_on);
    pthread_mutex_unlock(&device->report);
    return error;
}

/* ---- printing -------------------------------------------------------------------------------- */

static void print_value(FILE *out, const struct metric *metric, const struct emu_counts *counts)
{
    fprintf(out, "%.*f", metric->is_ratio ? 2 : 0, metric->value(counts));
}

/* Prints a field in quotes; quotes inside are doubled. */
static void print_quoted(FILE *out, const char *text)
{
    fputc('"', out);
    for (;;) {
        size_t length = strcspn(text, "\"");
        visible_print(out, text, length);
        text += length;
        if (*text++ == '\0') break;
        fputs("\"\"", out);
    }
    fputc('"', out);
}

static void print_csv_metrics(FILE *out, const struct emu_counts *counts)
{
    for (size_t i = 0; i < report.metric_count; i++) {
        fputs(",\"", out);
        print_value(out, report.metrics[i], counts);
        fputc('"', out);
    }
}

/* Prints the two rows above the values: names, then units. */
static void print_csv_head(FILE *out, const char *const *leading, const char *last)
{
    if (!wanted.has_head) return;
    for (size_t i = 0; leading[i] != NULL; i++) fprintf(out, "%s\"%s\"", i ? "," : "", leading[i]);
    for (size_t i = 0; i < report.metric_count; i++)
        fprintf(out, ",\"%s\"", report.metrics[i]->name);
    if (last != NULL) fprintf(out, ",\"%s\"", last);
    fputc('\n', out);
    for (size_t i = 0; leading[i] != NULL; i++) fprintf(out, "%s\"\"", i ? "," : "");
    for (size_t i = 0; i < report.metric_count; i++)
        fprintf(out, ",\"%s\"", report.metrics[i]->unit);
    if (last != NULL) fprintf(out, ",\"\"");
    fputc('\n', out);
}

/* ncu's columns. Context, device and host name have the values that ncu shows for one local GPU. */
static const char *const raw_columns[] = {"ID",          "Process ID", "Process Name", "Host Name",
                                          "Kernel Name", "Context",    "Stream",       "Block Size",
                                          "Grid Size",   "Device",     "CC",           NULL};
#define HOST_NAME "127.0.0.1"
/* The emulator's own column, behind ncu's and the metrics: see emu_agreement in emu.h. */
#define AGREEMENT "emu__machine_code"

static void print_csv_raw(FILE *out)
{
    print_csv_head(out, raw_columns, wanted.agreement ? AGREEMENT : NULL);
    if (report.row_count == 0) return;
    const struct emu_gpu *gpu = emu_gpu(emu_runtime());
    for (size_t i = 0; i < report.row_count; i++) {
        const struct launch_row *r = &report.rows[i];
        if (r->error != cudaSuccess) continue;
        fprintf(out, "\"%zu\",\"%ld\",", i, (long)getpid());
        print_quoted(out, program_invocation_short_name);
        fprintf(out, ",\"%s\",", HOST_NAME);
        print_quoted(out, r->kernel);
        fprintf(out, ",\"1\",\"%llu\",\"(%u, %u, %u)\",\"(%u, %u, %u)\",\"%d\",\"%d.%d\"",
                r->stream, r->block.x, r->block.y, r->block.z, r->grid.x, r->grid.y, r->grid.z,
                r->device, gpu->major, gpu->minor);
        print_csv_metrics(out, &r->total);
        if (wanted.agreement) {
            fputc(',', out);
            print_quoted(out, r->agreement.text);
        }
        fputc('\n', out);
    }
}

static const char *const source_columns[] = {"ID", "Kernel Name", "File", "Line", NULL};

static void print_csv_source(FILE *out)
{
    print_csv_head(out, source_columns, NULL);
    for (size_t i = 0; i < report.row_count; i++) {
        for (size_t k = 0; k < report.rows[i].line_count; k++) {
            const struct emu_line *line = &report.rows[i].lines[k];
            fprintf(out, "\"%zu\",", i);
            print_quoted(out, report.rows[i].kernel);
            fputc(',', out);
            print_quoted(out, line->file);
            fprintf(out, ",\"%u\"", line->line);
            print_csv_metrics(out, &line->counts);
            fputc('\n', out);
        }
    }
}

static void print_report(FILE *out)
{
    if (!wanted.csv)
        cudart_report_text(out, &report);
    else if (wanted.page == REPORT_RAW)
        print_csv_raw(out);
    else
        print_csv_source(out);
}

/* Ends the process with an error because the report cannot be written completely. */
static void give_up(const char *reason)
{
    fflush(NULL);
    fprintf(stderr, "emu: the report is not written to %s: %s\n",
            wanted.log_file != NULL ? wanted.log_file : "stdout", reason);
    cudart_exit(EXIT_USAGE);
}

/* The reports of forked processes stand before the process's own. */
static void print_forked(FILE *out)
{
    size_t length;
    char *text = cudart_fork_take(CUDART_REPORT, &length);
    if (text == NULL) return;
    fwrite(text, 1, length, out);
    wanted.has_head = false;
    free(text);
}

void cudart_report_write(void)
{
    if (wanted.page == REPORT_NONE || wanted.is_written || !cudart_is_owner()) return;
    wanted.is_written = true;
    cudart_fork_end();
    if (rows_lost) give_up("there was no host memory to keep all launches");

    char *text;
    size_t length;
    wanted.has_head = true;
    int file = cudart_parent_open(CUDART_REPORT, wanted.log_file != NULL, &wanted.has_head);
    FILE *memory = open_memstream(&text, &length);
    if (memory == NULL) give_up(strerror(errno));
    print_forked(memory);
    print_report(memory);
    if (fclose(memory) != 0) give_up(strerror(errno));
    int error = file >= 0 ? cudart_parent_write(file, text, length)
                          : whole_file_write(wanted.log_file, text, length);
    if (error != 0) give_up(strerror(error));
    free(text);
}
