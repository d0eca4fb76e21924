/*
 * report.h — what a program's kernels have done, and what is wrong with them: the data that all
 * writers of this folder print.
 *
 * The runtime (runtime/output.c) collects it. It is the same in every run of a
 * deterministic program: no times, addresses of the host or process numbers are in it.
 */
#ifndef EMU_DOCUMENT_H
#define EMU_DOCUMENT_H

#include "common/emu/emu.h"

#include <stdio.h>

struct document_launch {
    struct emu_launch_record record; /* with its own copies, but for the names of operations */
    const void *kernel;              /* the same for the launches of one kernel on one device */
    int device;
    unsigned long long stream;
    /* CUDA's name of it and sentence about it; then nothing was counted. NULL: it has ended */
    const char *error, *error_text;
};

struct document_finding {
    int device;
    const struct emu_finding *finding;
};

struct document {
    const char *program; /* its name, without folders */
    const struct emu_gpu *gpu;
    const char *rules; /* by which memory is counted: emu_model_info; NULL: the GPU's */
    const char
        *root; /* the folder in which the program was started; files in it are named from it */
    const char *annotated; /* for document_write_annotated: a source file, or a folder of them */
    bool colour;           /* for the same: on a terminal */
    bool omits_lines, omits_operations; /* of launches that are added: no writer needs them */
    unsigned checks;                    /* the checkers that were on: bits of enum emu_check */
    struct document_launch *launches;   /* oldest first */
    size_t launch_count;
    struct document_finding *findings; /* those whose text is kept */
    size_t finding_count;
    uint64_t errors, warnings;     /* distinct findings, whether they are kept or not */
    const struct emu *const *emus; /* for the pictures of a page */
    size_t emu_count;
};

/* Adds a launch; the record is copied, or NULL if it failed. False: out of memory. */
bool document_add_launch(struct document *, const struct document_launch *,
                         const struct emu_launch_record *);
bool document_add_finding(struct document *, int device, const struct emu_finding *);
void document_free(struct document *);

/* "memcheck", "racecheck", … */
const char *document_tool_name(enum emu_check);
/* "error" or "warning" */
const char *document_severity_name(enum emu_severity);

/* ---- writers: errors are those of the stream ------------------------------------------------- */

void document_write_json(FILE *, const struct document *);
void document_write_sarif(FILE *, const struct document *);
void document_write_warnings(FILE *, const struct document *);
void document_write_html(FILE *, const struct document *);
void document_write_annotated(FILE *, const struct document *);

/* ---- the documents of several programs as one ------------------------------------------------ */

enum document_form { DOCUMENT_JSON, DOCUMENT_SARIF, DOCUMENT_HTML, DOCUMENT_FORMS };

/* Writes one program's part. */
void document_write_part(FILE *, enum document_form, const struct document *);
/* What stands between two parts. */
const char *document_separator(enum document_form);
/* Writes one document of parts with separators between them: an array in JSON, a log with a run for
 * each program in SARIF, a page with this title in HTML. parts[length] may be empty. */
void document_join(FILE *, enum document_form, const char *title, const char *parts, size_t length);

#endif
