/* output.c — what a run writes: the document, the files for it, the trace. */
#define _GNU_SOURCE /* ftello, program_invocation_short_name, open_memstream */
#include "cudart.h"
#include "common/tools/emu/report/report.h"
#include "common/files/files.h"
#include "common/files/visible.h"
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <regex.h>
#include <unistd.h>

/* ---- the files that EMU_* variables name for the emulator to write --------------------------- */

/* None of them may be a program or a source file. The command emu also sees to it that no two are
 * one file.
 *
 * If mpirun has started several ranks, each writes a file of its own: NAME.RANK, or NAME.RANK.html
 * of NAME.html. A forked process does so with its number in place of the rank. */

static const enum setting_id path_settings[] = {SETTING_LOG_FILE, SETTING_CHECK_LOG, SETTING_TRACE,
                                                SETTING_SARIF, SETTING_HTML};
enum { PATH_SETTINGS = sizeof path_settings / sizeof *path_settings };

/* ---- their names ----------------------------------------------------------------------------- */

/* The number of a forked process, or the rank of this process, as Open MPI and MPICH say it. NULL:
 * it is the only one. */
static const char *rank_of_several(void)
{
    static char forked[16];
    static const char *const names[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                           {"PMI_RANK", "PMI_SIZE"}};
    snprintf(forked, sizeof forked, "%ld", (long)getpid());
    if (cudart_is_forked()) return forked;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *rank = cudart_environment(names[i][0]),
                   *ranks = cudart_environment(names[i][1]);
        if (rank == NULL || ranks == NULL || atoi(ranks) < 2) continue;
        if (rank[strspn(rank, "0123456789")] == '\0') return rank;
    }
    return NULL;
}

/* Do ranks share it? What is no regular file is written as it is. The programs of a command add to
 * one log of the checkers (command/run.c). */
static bool is_shared(enum setting_id id, const char *path)
{
    if (strcmp(path, "stdout") == 0 || strcmp(path, "stderr") == 0) return true;
    if (id == SETTING_CHECK_LOG && cudart_parent_takes(CUDART_REPORT)) return true;
    return !replacement_is_file(path);
}

/* The path of this process, or NULL. It may lie in `own`. */
static const char *path_of(enum setting_id id, char own[PATH_MAX])
{
    const char *path = setting_text(id), *rank = rank_of_several();
    if (path == NULL || rank == NULL || is_shared(id, path)) return path;
    const char *slash = strrchr(path, '/'), *file = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(file, '.'), *ending = dot > file ? dot : file + strlen(file);
    snprintf(own, PATH_MAX, "%.*s.%s%s", (int)(ending - path), path, rank, ending);
    return own;
}

/* ---- what they must not be ------------------------------------------------------------------- */

/* Prints "emu: WORDS NAME=PATH"; control characters in the path are replaced. */
static void print_output(const char *words, enum setting_id id, const char *path)
{
    fprintf(stderr, "emu: %s%s=", words, settings[id].variable);
    visible_print(stderr, path, strlen(path));
}

_Noreturn static void refuse(const char *words, enum setting_id id, const char *path, int error)
{
    print_output(words, id, path);
    fprintf(stderr, ": %s\n", strerror(error));
    cudart_exit(EXIT_USAGE);
}

const char *cudart_output(enum setting_id id)
{
    static char own[PATH_SETTINGS][PATH_MAX];
    size_t i = 0;
    while (path_settings[i] != id) i++;
    const char *path = path_of(id, own[i]), *why = output_refusal(path, "/proc/self/exe", NULL);
    if (why == NULL) return path;
    print_output("", id, path);
    fprintf(stderr, " is not written: the file %s\n", why);
    cudart_exit(EXIT_USAGE);
}

static void keep_source(const char *path)
{
    char own[PATH_MAX];
    for (size_t i = 0; i < PATH_SETTINGS; i++) {
        const struct setting *s = &settings[path_settings[i]];
        if (!output_is_same(path_of(path_settings[i], own), path)) continue;
        fputs("emu: ", stderr);
        visible_print(stderr, path, strlen(path));
        fprintf(stderr,
                " is a source file of the program and is not written; choose another file for %s"
                " (%s)\n",
                s->option != NULL ? s->option : settings[SETTING_LOG_FILE].option, s->variable);
        cudart_exit(EXIT_USAGE);
    }
}

void cudart_keep_sources(const struct emu_module *module)
{
    const char *path;
    for (size_t i = 0; (path = emu_source(module, i)) != NULL; i++) keep_source(path);
}

/* ---- the file of EMU_TRACE, to which the devices write (watch/trace.h) ---------------------- */

/* The trace is a temporary file that replaces the named file when the program ends. This also
 * happens after an error, because the trace shows what led to it. If the program failed before the
 * first access of a kernel, the named file stays as it was. */

static struct replacement trace;
static pid_t process; /* that began it */

void cudart_check_trace(void)
{
    const char *path = cudart_output(SETTING_TRACE);
    int error = path != NULL ? replacement_check(path) : 0;
    if (error != 0) refuse("cannot write the trace, ", SETTING_TRACE, path, error);
}

FILE *cudart_open_trace(void)
{
    const char *path = cudart_output(SETTING_TRACE);
    if (path == NULL) return NULL;
    cudart_check_trace();
    process = getpid();
    cudart_observe_end();
    int error = replacement_begin(&trace, path);
    if (error != 0) refuse("cannot write the trace, ", SETTING_TRACE, path, error);
    return trace.file;
}

void cudart_end_trace(int status)
{
    if (trace.file == NULL) return;
    bool unused = ftello(trace.file) == 0 && status != 0;
    if (getpid() != process || unused) {
        replacement_drop(&trace);
        return;
    }
    int error = replacement_end(&trace);
    if (error == 0) return;
    fprintf(stderr, "emu: the trace is not complete: %s\n", strerror(error));
    cudart_exit(EXIT_USAGE);
}

/* ---- the document ---------------------------------------------------------------------------- */

/* The document of a run: what kernels have done and what is wrong with them, for the
 * writers of common/tools/emu/report/.
 *
 * A launch is copied when it ends, because a program that uses emu.h may discard the emulator's
 * records. Everything is written when the program ends: first the tables, and the rest behind what
 * the checkers find last, which is leaks. A file is written whole or not at all. */

static struct tables table_choice;

static void write_tables(FILE *out, const struct document *d)
{
    (table_choice.csv ? tables_write_csv : tables_write_text)(out, d, &table_choice);
}

/* What is written, and where to. */
struct output {
    enum setting_id setting; /* that names its file */
    enum cudart_part part;   /* for a process that puts parts together */
    void (*write)(FILE *, const struct document *);
    bool has_form; /* parts become one document; other parts follow each other */
    enum document_form form;
    const char *path; /* NULL: stdout */
    bool is_wanted;
};
enum { TABLES, JSON, ANNOTATED, SARIF, HTML, OUTPUTS };
static struct output outputs[OUTPUTS] = {
    [TABLES] = {SETTING_LOG_FILE, CUDART_REPORT, write_tables},
    [JSON] = {SETTING_LOG_FILE, CUDART_REPORT, document_write_json, true, DOCUMENT_JSON},
    [ANNOTATED] = {SETTING_LOG_FILE, CUDART_REPORT, document_write_annotated},
    [SARIF] = {SETTING_SARIF, CUDART_SARIF, document_write_sarif, true, DOCUMENT_SARIF},
    [HTML] = {SETTING_HTML, CUDART_HTML, document_write_html, true, DOCUMENT_HTML},
};
static bool wants_warnings;
static struct budget *budget, *baseline; /* NULL: not asked for */

static bool kernel_is_regex; /* of EMU_KERNEL_NAME */
static regex_t kernel_regex;

static struct document document;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of the document */
static bool is_written, tables_are_written;

/* ---- what is wanted -------------------------------------------------------------------------- */

static void choose_path(struct output *output)
{
    output->path = cudart_output(output->setting);
    int error = whole_file_check(output->path);
    if (error != 0) refuse("cannot write ", output->setting, output->path, error);
}

/* Reads limits before the program does anything. */
static struct budget *read_limits(enum setting_id id,
                                  struct budget *(*read)(const char *, char *message, size_t size))
{
    char message[1000];
    const char *path = setting_text(id);
    struct budget *limits = path != NULL ? read(path, message, sizeof message) : NULL;
    if (path == NULL || limits != NULL) return limits;
    fprintf(stderr, "emu: %s cannot be used: %s\n", settings[id].variable, message);
    cudart_exit(EXIT_USAGE);
}

/* The program's locale is not ours: numbers have a point. Returns this thread's for uselocale(). */
static locale_t leave_locale(void) { return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0)); }

/* Other forms than the tables. */
static bool has_others(void)
{
    for (size_t i = TABLES + 1; i < OUTPUTS; i++)
        if (outputs[i].is_wanted) return true;
    return wants_warnings || budget != NULL || baseline != NULL;
}

void cudart_document_paths(void)
{
    for (size_t i = 0; i < OUTPUTS; i++)
        if (outputs[i].is_wanted) choose_path(&outputs[i]);
}

void cudart_document_settings(void)
{
    document.annotated = setting_text(SETTING_ANNOTATE);
    outputs[JSON].is_wanted = setting_is(SETTING_JSON, "1");
    outputs[ANNOTATED].is_wanted = document.annotated != NULL;
    for (size_t i = SARIF; i <= HTML; i++)
        outputs[i].is_wanted =
            setting_text(outputs[i].setting) != NULL || cudart_parent_takes(outputs[i].part);
    wants_warnings = setting_is(SETTING_WARNINGS, "1");
    if (outputs[JSON].is_wanted && outputs[ANNOTATED].is_wanted)
        cudart_refuse(SETTING_ANNOTATE, document.annotated,
                      "no file together with EMU_JSON: both go to one place");
    cudart_document_paths();
    locale_t own = leave_locale();
    budget = read_limits(SETTING_BUDGET, budget_read);
    baseline = read_limits(SETTING_BASELINE, baseline_read);
    uselocale(own);
    if (!has_others()) return;
    cudart_observe_end();
    document.root = getcwd(NULL, 0);
    document.colour = outputs[ANNOTATED].path == NULL && isatty(STDOUT_FILENO) &&
                      cudart_environment("NO_COLOR") == NULL;
}

bool cudart_document_has_pictures(void) { return outputs[HTML].is_wanted; }

static void choose_kernels(const char *value)
{
    static const char prefix[] = "regex:";
    table_choice.kernel = value;
    kernel_is_regex = value != NULL && strncmp(value, prefix, strlen(prefix)) == 0;
    if (kernel_is_regex &&
        regcomp(&kernel_regex, value + strlen(prefix), REG_EXTENDED | REG_NOSUB) != 0)
        cudart_refuse(SETTING_KERNEL_NAME, value, settings[SETTING_KERNEL_NAME].takes);
}

/* JSON and annotated source stand in the place of the tables. */
void cudart_tables_settings(void)
{
    struct tables *t = &table_choice;
    const char *metrics = setting_text(SETTING_METRICS);
    char wrong[128];
    t->csv = setting_is(SETTING_CSV, "1");
    t->all_launches = setting_is(SETTING_LAUNCHES, "1");
    t->by_line = setting_is(SETTING_COUNTERS, "lines");
    t->is_summary = setting_is(SETTING_COUNTERS, "summary");
    t->is_default = metrics == NULL;
    t->metric_count = metrics_choose(metrics, t->metrics, wrong, sizeof wrong);
    if (t->metric_count == 0)
        cudart_refuse(SETTING_METRICS, wrong, settings[SETTING_METRICS].takes);
    choose_kernels(setting_text(SETTING_KERNEL_NAME));
    t->has_head = true;
    outputs[TABLES].is_wanted =
        (t->by_line || t->is_summary || setting_is(SETTING_COUNTERS, "1") || t->csv ||
         metrics != NULL) &&
        !outputs[JSON].is_wanted && !outputs[ANNOTATED].is_wanted;
    bool is_alone = !has_others();
    document.omits_lines = is_alone && !t->by_line;
    document.omits_operations =
        is_alone && (t->by_line || t->is_summary || t->csv || !t->is_default);
    if (!outputs[TABLES].is_wanted) return;
    choose_path(&outputs[TABLES]);
    cudart_observe_end();
}

bool cudart_report_wanted(void) { return outputs[TABLES].is_wanted || has_others(); }

/* ---- what was counted ------------------------------------------------------------------------ */

static bool is_of_wanted_kernel(const char *mangled)
{
    char name[256];
    if (table_choice.kernel == NULL) return true;
    kernel_base_name(mangled, name, sizeof name);
    if (kernel_is_regex) return regexec(&kernel_regex, name, 0, NULL, 0) == 0;
    return strcmp(table_choice.kernel, name) == 0;
}

/* Keeps what a launch has counted; record NULL: it failed with that error. A kernel that it has
 * launched is kept, too, with its own record, which says if it failed. */
static void keep(const struct cudart_launch *launch, const struct emu_launch_record *record,
                 cudaError_t error)
{
    const struct function *function = launch->function;
    if (record != NULL && record->launched_by != NULL)
        function = cudart_function_named(record->kernel, function);
    if (record != NULL) error = (cudaError_t)record->error;
    const struct document_launch kept = {
        .record = {.kernel = function->name, .grid = launch->grid, .block = launch->block},
        .kernel = function,
        .device = cudart_device()->number,
        .stream = launch->stream,
        .error = error == cudaSuccess ? NULL : cudaGetErrorName(error),
        .error_text = cudaGetErrorString(error)};
    if (!is_of_wanted_kernel(record != NULL ? record->kernel : function->name)) return;
    pthread_mutex_lock(&mutex);
    document_add_launch(&document, &kept, record);
    pthread_mutex_unlock(&mutex);
}

static void tell_of_others(const struct cudart_launch *launch, uint64_t others)
{
    char name[256];
    if (others == 0) return;
    kernel_base_name(launch->function->name, name, sizeof name);
    cudart_printf("kernel %s led to more launches in kernels than the reports hold: they lack the "
                  "last %" PRIu64,
                  name, others);
}

int cudart_report_launch(const struct cudart_launch *launch)
{
    if (!cudart_report_wanted()) return launch->run(launch->context);

    struct emu *emu = emu_runtime();
    struct device *device = cudart_device();
    /* Then the newest records are of this launch, and of those that its kernel has made. */
    pthread_mutex_lock(&device->report);
    bool was_on = emu_count(emu, true);
    size_t before = emu_records(emu);
    uint64_t left_out = emu_records_left_out(emu);
    int error = launch->run(launch->context);
    size_t after = emu_records(emu);
    bool is_failure = cudart_is_kernel_fault(error) || error == cudaErrorNotSupported;
    if (after == before && is_failure) keep(launch, NULL, (cudaError_t)error);
    for (size_t i = before; i < after; i++) keep(launch, emu_record(emu, i), cudaSuccess);
    tell_of_others(launch, emu_records_left_out(emu) - left_out);
    if (!was_on) emu_forget_but(emu, before); /* the program itself does not count */
    emu_count(emu, was_on);
    pthread_mutex_unlock(&device->report);
    return error;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* The devices, as far as the program has come to use them. */
static void add_findings(void)
{
    for (int i = 0; i < cudart_device_count(); i++) {
        const struct emu *emu = cudart_device_at(i)->emu;
        document.checks = emu_checks(emu);
        document.errors += emu_finding_count(emu, EMU_FINDING_ERROR);
        document.warnings += emu_finding_count(emu, EMU_FINDING_WARNING);
        for (size_t k = 0; k < emu_findings(emu); k++)
            document_add_finding(&document, i, emu_finding(emu, k));
    }
}

static void add_pictures(void)
{
    static const struct emu *emus[MAX_DEVICES];
    document.emus = emus;
    for (int i = 0; i < cudart_device_count(); i++) emus[i] = cudart_device_at(i)->emu;
    document.emu_count = (size_t)cudart_device_count();
}

static void add_gpu(void)
{
    const struct emu_model *model = cudart_model();
    document.gpu = emu_gpu(emu_runtime());
    document.rules = model != NULL ? emu_model_info(model)->rules : NULL;
}

/* A part for another process, which makes one document of all. */
static void write_part(FILE *out, const struct output *output, bool is_first)
{
    table_choice.has_head = is_first;
    if (!output->has_form) {
        output->write(out, &document);
        return;
    }
    if (!is_first) fputs(document_separator(output->form), out);
    document_write_part(out, output->form, &document);
}

/* Writes it whole, or ends the process with a sentence. */
static void write_output(const struct output *output)
{
    char *text;
    size_t length;
    bool is_first;
    if (!output->is_wanted) return;
    int file = output->path == NULL ? cudart_parent_open(output->part, &is_first) : -1;
    FILE *memory = allocated(open_memstream(&text, &length));
    if (file >= 0)
        write_part(memory, output, is_first);
    else
        output->write(memory, &document);
    fclose(memory);
    int error = file >= 0 ? cudart_parent_write(file, text, length)
                          : whole_file_write(output->path, text, length);
    free(text);
    if (error == 0) return;
    fflush(NULL);
    fprintf(stderr, "emu: the report is not written to %s: %s\n",
            output->path != NULL ? output->path : "stdout", strerror(error));
    cudart_exit(EXIT_USAGE);
}

/* In one piece: other programs may print at the same time. */
static void print_warnings(void)
{
    char *text;
    size_t length;
    FILE *memory = allocated(open_memstream(&text, &length));
    document_write_warnings(memory, &document);
    fclose(memory);
    fwrite(text, 1, length, stderr);
    free(text);
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* Counts the kernels that the limits name and that have not run. If the command emu takes the names
 * of the kernels, it does this for all processes together. */
static size_t check_missing(void)
{
    char *names = NULL;
    size_t length, missing = 0;
    bool is_first;
    int file = cudart_parent_open(CUDART_KERNELS, &is_first);
    FILE *memory = allocated(open_memstream(&names, &length));
    budget_write_kernels(memory, &document);
    fclose(memory);
    if (file >= 0)
        cudart_parent_write(file, names, length);
    else if (budget != NULL)
        missing = budget_check_missing(stderr, budget, names, length);
    if (file < 0 && baseline != NULL)
        missing += budget_check_missing(stderr, baseline, names, length);
    free(names);
    return missing;
}

static size_t check_limits(void)
{
    size_t excesses = budget != NULL ? budget_check(stderr, budget, &document) : 0;
    if (baseline != NULL) excesses += budget_check(stderr, baseline, &document);
    if (budget != NULL || baseline != NULL) excesses += check_missing();
    budget_free(budget);
    budget_free(baseline);
    return excesses;
}

void cudart_tables_write(void)
{
    if (!outputs[TABLES].is_wanted || tables_are_written || !cudart_is_owner()) return;
    tables_are_written = true;
    if (document.launch_count > 0) add_gpu();
    locale_t own = leave_locale();
    write_output(&outputs[TABLES]);
    uselocale(own);
}

void cudart_document_write(void)
{
    if (!has_others() || is_written || !cudart_is_owner()) return;
    is_written = true;
    add_gpu();
    add_findings();
    add_pictures();
    document.program = program_invocation_short_name;
    locale_t own = leave_locale();
    for (size_t i = TABLES + 1; i < OUTPUTS; i++) write_output(&outputs[i]);
    if (wants_warnings) print_warnings();
    size_t excesses = check_limits();
    uselocale(own);
    document_free(&document);
    if (excesses > 0) cudart_parent_tell(OUTCOME_EXCESS);
    if (excesses > 0 && cudart_end_status() == 0) cudart_exit(EXIT_EXCESS);
}
