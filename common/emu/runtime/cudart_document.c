/*
 * cudart_document.c — what kernels have done and what is wrong with them, for the writers of
 * common/emu/report/.
 *
 *   EMU_JSON=1         one JSON document, in place of the tables of cudart_report.c: to EMU_LOG_FILE,
 *                      or to stdout
 *
 * Launches are counted, and copied as each one ends. Everything is written when the program ends,
 * behind what the checkers find last: leaks. A file is written whole or not at all.
 */
#define _GNU_SOURCE /* program_invocation_short_name, open_memstream */
#include "common/emu/report/document.h"
#include "common/files/visible.h"
#include "common/files/whole_file.h"
#include "cudart.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is written, and where to. */
struct output {
    const char *variable;
    void (*write)(FILE *, const struct document *);
    const char *path; /* NULL: stdout */
    bool is_wanted;
};
static struct output json = {.variable = "EMU_LOG_FILE", .write = document_write_json};

static struct document document;
static bool is_lost;                                      /* a launch, for want of host memory */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of both */
static pid_t process; /* the one that began: a child that it forks writes nothing */

/* ---- what is wanted -------------------------------------------------------------------------- */

_Noreturn static void refuse(const struct output *output, const char *reason)
{
    fprintf(stderr, "emu: cannot write %s=", output->variable);
    visible_print(stderr, output->path, strlen(output->path));
    fprintf(stderr, ": %s\n", reason);
    cudart_exit(EXIT_USAGE);
}

/* A file that another report goes to would lose one of them. */
static void choose_path(struct output *output)
{
    static const char *const others[] = {"EMU_LOG_FILE", "EMU_TRACE", "EMU_CHECK_LOG"};
    output->path = cudart_output(output->variable);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i], output->variable) != 0)
            cudart_keep_apart(output->variable, others[i]);
    int error = whole_file_check(output->path);
    if (error != 0) refuse(output, strerror(error));
}

__attribute__((constructor)) static void read_settings(void)
{
    process = getpid();
    json.is_wanted = cudart_switch("EMU_JSON");
    if (json.is_wanted) choose_path(&json);
}

bool cudart_document_wanted(void) { return json.is_wanted; }

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

static void complete_document(void)
{
    const char *key = cudart_setting("EMU_MODEL");
    const struct emu_model *model = key != NULL ? emu_model_find(key) : NULL;
    add_findings();
    document.program = program_invocation_short_name;
    document.gpu = emu_gpu(emu_runtime());
    document.rules = model != NULL ? emu_model_info(model)->rules : NULL;
}

/* To the command of emu that has started the program by way of another one, if it takes reports. */
static int put_text(const struct output *output, const char *text, size_t length)
{
    bool is_first;
    int parent = output->path == NULL ? cudart_parent_open(&is_first) : -1;
    return parent >= 0 ? cudart_parent_write(parent, text, length)
                       : whole_file_write(output->path, text, length);
}

/* Writes it whole, or ends the process with a sentence. */
static void write_output(const struct output *output)
{
    char *text = NULL;
    size_t length;
    FILE *memory = output->is_wanted ? open_memstream(&text, &length) : NULL;
    if (!output->is_wanted) return;
    int error = memory == NULL ? errno : 0;
    if (memory != NULL) {
        output->write(memory, &document);
        if (fclose(memory) != 0) error = errno;
    }
    if (error == 0) error = put_text(output, text, length);
    free(text);
    if (error == 0) return;
    fflush(NULL);
    fprintf(stderr, "emu: the report is not written to %s: %s\n",
            output->path != NULL ? output->path : "stdout", strerror(error));
    cudart_exit(EXIT_USAGE);
}

void cudart_document_write(void)
{
    if (!cudart_document_wanted() || process != getpid()) return;
    process = 0; /* only once */
    complete_document();
    if (is_lost) {
        fputs("emu: nothing is written: there was no host memory to keep all launches\n", stderr);
        cudart_exit(EXIT_USAGE);
    }
    write_output(&json);
    document_free(&document);
}
