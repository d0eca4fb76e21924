/* report.h — the document of a run, its sums, and its writers. */
#ifndef EMU_REPORT_H
#define EMU_REPORT_H

#include "common/files/json.h"
#include "common/tools/emu/watch/count.h"

/* ---- what a program's kernels have done ------------------------------------------------------ */

/* What a program's kernels have done, and what is wrong with them: the data that all
 * writers of this folder print.
 *
 * The runtime (runtime/output.c) collects it. It is the same in every run of a
 * deterministic program: no times, addresses of the host or process numbers are in it. */

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

/* Adds a launch; the record is copied, or NULL if it failed. */
void document_add_launch(struct document *, const struct document_launch *,
                         const struct emu_launch_record *);
void document_add_finding(struct document *, int device, const struct emu_finding *);
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

/* ---- a document's counters, summed over its launches ----------------------------------------- */

void sum_add(struct emu_counts *to, const struct emu_counts *);

/* A source line. */
struct line_sum {
    const char *file; /* the record's */
    unsigned line;
    struct emu_counts counts;
};
/* In order of file and line, malloc'd. */
struct line_sum *line_sums(const struct document *, size_t *count);

/* The launches of kernels with one base name. */
struct kernel_sum {
    char name[256];
    size_t launches; /* that have ended */
    struct emu_counts counts;
};
/* In the order of their first launch, malloc'd. */
struct kernel_sum *kernel_sums(const struct document *, size_t *count);

/* Bank conflicts of loads, stores, atomics and copies: wavefronts beyond the ideal. */
uint64_t sum_conflicts(const struct emu_counts *);
uint64_t sum_wavefronts(const struct emu_counts *);
/* Sectors of loads, copies, stores and atomics; and those beyond what their bytes would fill. */
uint64_t sum_sectors(const struct emu_counts *);
uint64_t sum_excess_sectors(const struct emu_counts *);

/* What source text is shown with. */
enum { LINE_COLUMNS = 6 };
extern const struct line_column {
    const char *title, *help;
    uint64_t (*value)(const struct emu_counts *);
    bool is_bad; /* if it is not 0 */
} line_columns[LINE_COLUMNS];

/* The lines with the most bank conflicts and excess sectors together, the worst first; only lines
 * that have any. malloc'd. */
struct line_sum *worst_lines(const struct document *, size_t most, size_t *count);
/* "14 bank conflicts (16 wavefronts, of which 2 would do), 48 excess sectors (64, …)" */
void describe_line_sum(const struct emu_counts *, char *text, size_t size);

/* ---- how reports name source files ----------------------------------------------------------- */

/* A file's path as it is seen from the absolute path "root" of a folder: relative if the file lies
 * in the folder, and otherwise absolute. A relative path is taken to begin at that folder. With
 * "root" NULL, and for paths that are too long, it is the path as it is. `seen` has room for
 * PATH_MAX bytes. */
void source_path(const char *path, const char *root, char *seen);

/* Does an absolute path without "." and ".." lie in that folder? */
bool source_path_is_in(const char *path, const char *root);

/* ---- driver_init.c, text.c: tables of the counters of launches, for people and in the layout of
 * ncu -- */

/* What a table has. */
struct tables {
    const struct metric *metrics[MAX_METRICS];
    size_t metric_count;
    bool is_default;    /* no metrics were asked for by name: operations and the verdict, too */
    bool by_line;       /* counts of each source line, not of each launch or kernel */
    bool csv;           /* not text */
    bool is_summary;    /* text: one line */
    bool all_launches;  /* text: each launch by itself, not the launches of a kernel together */
    bool has_head;      /* CSV: no other program has written the names of the columns */
    const char *kernel; /* the document holds only kernels that this asks for; NULL: all */
};

void tables_write_text(FILE *, const struct document *, const struct tables *);
void tables_write_csv(FILE *, const struct document *, const struct tables *);

/* ---- text.c: the PTX instructions of one or more launches in two short lines for people - */

/* Sums of operations. Begins as zeros; `all` is malloc'd, and the caller frees it. */
struct work_sum {
    struct emu_operation *all; /* names and types are those of the records */
    size_t count;
};

/* Adds the operations of a launch. */
void work_sum_add(struct work_sum *, const struct emu_operation *, size_t count);

/* "PTX instructions by class: …" and "arithmetic, in elements of all threads: …", without what is
 * zero, in lines of at most 100 columns with an indentation of 4. */
void work_text_print(FILE *, const struct work_sum *);

/* ---- json_document.c, sarif.c, html.c: parts, of which document.c makes one document --------- */

void json_write_part(FILE *, const struct document *);
void sarif_write_part(FILE *, const struct document *);
void html_write_part(FILE *, const struct document *);

/* What stands before the first part and after the last one. */
void sarif_begin(FILE *, const char *title);
void sarif_end(FILE *);
void html_begin(FILE *, const char *title);
void html_end(FILE *);

/* ---- a line of CSV, taken apart -------------------------------------------------------------- */

/* Splits a line at its commas, in place. Quotes around a field go away, and "" inside of them is
 * one. A newline may end the line. Returns the malloc'd array of fields; NULL: out of memory, or a
 * quote is not closed. */
char **csv_line_split(char *text, size_t *count);

/* ---- limits on what kernels may count, and an earlier run that they are compared with -------- */

/* A budget is a text file. Each line has a kernel's base name, or * for each kernel; a counter; and
 * the largest number that one launch may have. # begins a comment. A counter is the name of a
 * metric (emu --help), or conflicts, wavefronts, sectors or excess_sectors: of loads, stores and
 * atomics together.
 *
 * A baseline is what emu --csv has written of an earlier run. Its columns of bank conflicts,
 * wavefronts and sectors are compared, as sums over all launches of a kernel. */

struct budget;

/* Read a file. NULL: it cannot be read or is malformed, and one sentence is in message[size]. */
struct budget *budget_read(const char *path, char *message, size_t size);
struct budget *baseline_read(const char *path, char *message, size_t size);
void budget_free(struct budget *);

/* Prints a sentence for each excess, and for each limit of a kernel that failed. Returns how many
 * sentences these are. */
size_t budget_check(FILE *, const struct budget *, const struct document *);

/* The base names of the kernels that were launched, each with a newline behind it. */
void budget_write_kernels(FILE *, const struct document *);
/* Prints a sentence for each kernel of a budget that is not among these. Returns how many sentences
 * these are. */
size_t budget_check_missing(FILE *, const struct budget *, const char *kernels, size_t length);

#endif
