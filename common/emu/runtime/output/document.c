/*
 * document.c — what kernels have done and what is wrong with them, for the writers of
 * common/emu/report/.
 *
 * Launches are counted, and copied as each one ends. Everything is written when the program ends,
 * behind what the checkers find last: leaks. A file is written whole or not at all.
 */
#define _GNU_SOURCE /* program_invocation_short_name, open_memstream */
#include "common/emu/report/budget.h"
#include "common/emu/report/document.h"
#include "common/files/visible.h"
#include "common/files/whole_file.h"
#include "common/emu/runtime/process/process.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is written, and where to. With `form`, several processes write one document. */
struct output {
    enum setting_id setting; /* that names its file */
    void (*write)(FILE *, const struct document *);
    const char *path; /* NULL: stdout */
    bool is_wanted, has_form;
    enum document_form form;
    enum cudart_part part;
};
static struct output json = {.setting = SETTING_LOG_FILE,
                             .write = document_write_json,
                             .has_form = true,
                             .form = DOCUMENT_JSON,
                             .part = CUDART_REPORT},
                     annotated = {.setting = SETTING_LOG_FILE,
                                  .write = document_write_annotated,
                                  .part = CUDART_REPORT},
                     sarif = {.setting = SETTING_SARIF,
                              .write = document_write_sarif,
                              .has_form = true,
                              .form = DOCUMENT_SARIF,
                              .part = CUDART_SARIF},
                     html = {.setting = SETTING_HTML,
                             .write = document_write_html,
                             .has_form = true,
                             .form = DOCUMENT_HTML,
                             .part = CUDART_HTML},
                     warnings = {.setting = SETTINGS,
                                 .path = "stderr",
                                 .write = document_write_warnings},
                     *const outputs[] = {&json, &annotated, &sarif, &html, &warnings};
enum { OUTPUTS = sizeof outputs / sizeof *outputs };
static struct budget *budget, *baseline; /* NULL: not asked for */

static struct document document;
static bool is_lost;                                      /* a launch, for want of host memory */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of both */
static bool is_written;

/* ---- what is wanted -------------------------------------------------------------------------- */

_Noreturn static void refuse(const struct output *output, const char *reason)
{
    fprintf(stderr, "emu: cannot write %s=", settings[output->setting].variable);
    visible_print(stderr, output->path, strlen(output->path));
    fprintf(stderr, ": %s\n", reason);
    cudart_exit(EXIT_USAGE);
}

/* A file that another report goes to would lose one of them. */
static void choose_path(struct output *output)
{
    static const enum setting_id others[] = {SETTING_LOG_FILE, SETTING_TRACE, SETTING_CHECK_LOG,
                                             SETTING_SARIF,    SETTING_HTML,  SETTING_BUDGET,
                                             SETTING_BASELINE};
    output->path = cudart_output(output->setting);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i] != output->setting) cudart_keep_apart(output->setting, others[i]);
    int error = whole_file_check(output->path);
    if (error != 0) refuse(output, strerror(error));
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

void cudart_document_settings(void)
{
    document.annotated = setting_text(SETTING_ANNOTATE);
    json.is_wanted = setting_is(SETTING_JSON, "1");
    annotated.is_wanted = document.annotated != NULL;
    sarif.is_wanted = setting_text(SETTING_SARIF) != NULL || cudart_parent_takes(CUDART_SARIF);
    html.is_wanted = setting_text(SETTING_HTML) != NULL || cudart_parent_takes(CUDART_HTML);
    warnings.is_wanted = setting_is(SETTING_WARNINGS, "1");
    if (json.is_wanted && annotated.is_wanted)
        cudart_refuse(SETTING_ANNOTATE, document.annotated,
                      "no file together with EMU_JSON: both go to one place");
    for (size_t i = 0; i < OUTPUTS; i++)
        if (outputs[i]->is_wanted && outputs[i]->setting != SETTINGS) choose_path(outputs[i]);
    budget = read_limits(SETTING_BUDGET, budget_read);
    baseline = read_limits(SETTING_BASELINE, baseline_read);
    if (!cudart_document_wanted()) return;
    cudart_observe_end();
    document.root = getcwd(NULL, 0);
    document.colour =
        annotated.path == NULL && isatty(STDOUT_FILENO) && cudart_environment("NO_COLOR") == NULL;
}

bool cudart_document_wanted(void)
{
    for (size_t i = 0; i < OUTPUTS; i++)
        if (outputs[i]->is_wanted) return true;
    return budget != NULL || baseline != NULL;
}

bool cudart_document_has_pictures(void) { return html.is_wanted; }

bool cudart_document_replaces_report(void)
{
    return setting_is(SETTING_JSON, "1") || setting_text(SETTING_ANNOTATE) != NULL;
}

/* ---- what was counted ------------------------------------------------------------------------ */

void cudart_document_add(const struct cudart_launch *launch, const struct emu_launch_record *record,
                         int error)
{
    if (!cudart_document_wanted()) return;
    const struct document_launch kept = {
        .record = {.kernel = launch->function->name, .grid = launch->grid, .block = launch->block},
        .device = cudart_device()->number,
        .stream = launch->stream,
        .error = record != NULL ? NULL : cudaGetErrorName((cudaError_t)error)};
    pthread_mutex_lock(&mutex);
    if (!document_add_launch(&document, &kept, record)) is_lost = true;
    pthread_mutex_unlock(&mutex);
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
            if (!document_add_finding(&document, i, emu_finding(emu, k))) is_lost = true;
    }
}

static void add_pictures(void)
{
    static const struct emu *emus[MAX_DEVICES];
    document.emus = emus;
    for (int i = 0; i < cudart_device_count(); i++) emus[i] = cudart_device_at(i)->emu;
    document.emu_count = (size_t)cudart_device_count();
}

static void complete_document(void)
{
    const struct emu_model *model = cudart_model();
    add_findings();
    add_pictures();
    document.program = program_invocation_short_name;
    document.gpu = emu_gpu(emu_runtime());
    document.rules = model != NULL ? emu_model_info(model)->rules : NULL;
}

/* A part for another process, which makes one document of all. */
static void write_part(FILE *out, const struct output *output, bool is_first)
{
    if (!output->has_form) {
        output->write(out, &document);
        return;
    }
    if (!is_first) fputs(document_separator(output->form), out);
    document_write_part(out, output->form, &document);
}

/* The document, together with those of forked processes. */
static void write_whole(FILE *out, const struct output *output)
{
    size_t length, parts_length;
    char *forked = cudart_fork_take(output->part, &length), *parts;
    FILE *memory = forked != NULL ? open_memstream(&parts, &parts_length) : NULL;
    if (memory == NULL) {
        output->write(out, &document);
        free(forked);
        return;
    }
    fwrite(forked, 1, length, memory);
    write_part(memory, output, false);
    fclose(memory);
    if (output->has_form)
        document_join(out, output->form, document.program, parts, parts_length);
    else
        fwrite(parts, 1, parts_length, out);
    free(parts);
    free(forked);
}

/* Writes it whole, or ends the process with a sentence. */
static void write_output(const struct output *output)
{
    char *text = NULL;
    size_t length;
    bool is_first = true, is_alone = output->setting == SETTINGS;
    if (!output->is_wanted) return;
    int file = is_alone ? -1 : cudart_parent_open(output->part, output->path != NULL, &is_first);
    FILE *memory = open_memstream(&text, &length);
    int error = memory == NULL ? errno : 0;
    if (memory != NULL) {
        if (file >= 0)
            write_part(memory, output, is_first);
        else if (is_alone)
            output->write(memory, &document);
        else
            write_whole(memory, output);
        if (fclose(memory) != 0) error = errno;
    }
    if (error == 0)
        error = file >= 0 ? cudart_parent_write(file, text, length)
                          : whole_file_write(output->path, text, length);
    free(text);
    if (error == 0) return;
    fflush(NULL);
    fprintf(stderr, "emu: the report is not written to %s: %s\n",
            output->path != NULL ? output->path : "stdout", strerror(error));
    cudart_exit(EXIT_USAGE);
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* Has every kernel run that the limits name? Another process finds out about all processes
 * together, if one takes the names. */
static size_t check_missing(void)
{
    char *forked, *names = NULL;
    size_t length, missing = 0;
    bool is_first;
    int file = cudart_parent_open(CUDART_KERNELS, false, &is_first);
    FILE *memory = open_memstream(&names, &length);
    if (memory == NULL) return 0;
    forked = cudart_fork_take(CUDART_KERNELS, &length);
    if (forked != NULL) fwrite(forked, 1, length, memory);
    budget_write_kernels(memory, &document);
    fclose(memory);
    if (file >= 0)
        cudart_parent_write(file, names, length);
    else if (budget != NULL)
        missing = budget_check_missing(stderr, budget, names, length);
    if (file < 0 && baseline != NULL)
        missing += budget_check_missing(stderr, baseline, names, length);
    free(names);
    free(forked);
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

void cudart_document_write(void)
{
    if (!cudart_document_wanted() || is_written || !cudart_is_owner()) return;
    is_written = true;
    cudart_fork_end();
    complete_document();
    if (is_lost) {
        fputs("emu: nothing is written: there was no host memory to keep all launches\n", stderr);
        cudart_exit(EXIT_USAGE);
    }
    for (size_t i = 0; i < OUTPUTS; i++) write_output(outputs[i]);
    size_t excesses = check_limits();
    cudart_fork_add(0, excesses);
    excesses += cudart_fork_excesses();
    document_free(&document);
    if (excesses > 0 && cudart_end_status() == 0 && !cudart_is_replaced()) cudart_exit(EXIT_EXCESS);
}
