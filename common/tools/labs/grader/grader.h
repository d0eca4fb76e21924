/*
 * grader.h — how `make grade` judges one submission after the other.
 */
#ifndef LAB_GRADER_H
#define LAB_GRADER_H

#include "sandbox.h"
#include "common/files/fault.h"
#include "common/tools/labs/lab.h"
#include "common/tools/labs/score.h"
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- FNV-1a, which tells texts apart --------------------------------------------------------- */

/*
 * It protects from nothing: two texts with the same hash are easily made.
 */

/* The hash of no bytes. */
#define HASH_NONE UINT64_C(0xcbf29ce484222325)

static inline uint64_t hash_mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x100000001b3);
}

/* The hash of what `hash` is of, and then of these bytes. */
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    for (const unsigned char *at = bytes, *end = at + size; at < end; at++)
        hash = hash_mix(hash, *at);
    return hash;
}

/* ---- are two PTX texts the same but for names? ----------------------------------------------- */

/*
 * Computes 128 bits from the kernels that a lab launches (NULL: from all kernels), and from the
 * functions that they call. The order of kernels, other kernels and functions, and variables
 * outside of them do not matter. Two texts give the same bits if their kernels differ only in
 * blanks, comments, line numbers, names of files, and names of registers, labels, kernels,
 * parameters and variables: names are numbered in the order in which they occur. Other texts hardly
 * ever give the same bits. Without a kernel, both words are 0.
 */
void same_ptx(const struct lab *, const char *ptx, size_t size, uint64_t bits[2]);

/* ---- the names of all students of a class, so that grades.csv has a row for each of them ----- */

/* `names` are in the order of the file, all different, and owned by the roster, as are the
 * `identifiers`: what another system calls the student, or else the name. */
struct roster {
    char **names, **identifiers;
    size_t count;
};

/* Reads a file with one name a line, which a tab and an identifier may follow. Empty lines and
 * lines that begin with # do not count. Returns 0 or EXIT_USAGE; roster_end() frees all in both
 * cases. */
int roster_read(const char *path, struct roster *, struct fault *);
void roster_end(struct roster *);

/*
 * The student whom a submission belongs to: its name is the student's, or begins with it and goes
 * on with _, as "Anna Berg_123_assignsubmission_file" does. The longest such name counts.
 * roster->count: the submission belongs to none.
 */
size_t roster_find(const struct roster *, const char *submission);

/*
 * Does a submission's name look like the student's, though its bytes differ? Accents, upper and
 * lower case of a to z, and blanks in place of _ - . do not count. So "Åsa" with one character for
 * Å looks like "Åsa" with an A and a ring, which is how macOS writes it. Accents are known on Latin
 * letters only.
 */
bool roster_looks_alike(const char *student, const char *submission);

/* ---- finds what students have handed in, and copies it --------------------------------------- */

/*
 * Nothing here trusts a name or a file: names may hold any bytes, only regular files are read, and
 * links are not followed.
 */

enum {
    SUBMISSION_BYTES = 1 << 18, /* of a source file */
    SUBMISSION_NAME = 2 * (NAME_MAX + 1),
    SUBMISSION_ID = 160,
};

struct submission {
    char name[NAME_MAX + 1];    /* of the student: NAME of NAME.cu, NAME.zip, or the folder NAME */
    char path[SUBMISSION_NAME]; /* from the folder of all submissions */
    char id[SUBMISSION_ID];     /* made of the name; safe as the name of a file, and unique */
    unsigned files;             /* in a folder: how many of its entries end in .cu */
    unsigned others;            /* in a folder: how many do not */
    /* Something is there, and which file counts is for a person to say: another file than NAME.cu,
     * or a folder without one that counts. It is not read. */
    bool unclear;
};

/*
 * Lists the submissions of a folder in the order of their paths: files NAME.cu, and folders NAME.
 * Of a folder the file labN.cu counts, or its only file that ends in .cu. Upper and lower case of
 * .cu are the same. All other files are listed as unclear, so that nothing is passed over in
 * silence. Names that begin with a dot are left out. Returns 0 or EXIT_USAGE. The caller frees
 * *list.
 */
int submissions_find(const char *folder, int lab, struct submission **list, size_t *count,
                     struct fault *);

/* The one submission that is called by the path of its folder or file, and the folder round it.
 * Returns 0 or EXIT_USAGE. */
int submission_at(const char *path, int lab, char folder[PATH_MAX], struct submission *,
                  struct fault *);

/* Reads a submission. Returns its bytes, with a NUL behind, which the caller frees; or NULL, and
 * `why` says in one sentence why it cannot be graded. */
char *submission_read(const char *folder, const struct submission *, size_t *size, char *why,
                      size_t why_size);

/* ---- how `make grade` judges one submission after the other ---------------------------------- */

/*
 * 1. Every submission is copied and compiled (grade_jobs.c), in a sandbox.
 * 2. A seed is drawn, and the step's own solution runs on the cases that the seed gives.
 * 3. Every PTX runs on these cases (grade_worker.c), in a sandbox, and a worker process of the
 * grader
 *    judges the results by the scorer that `make check` uses. It leaves the reports and a row.
 * 4. The rows become grades.csv.
 *
 * All files lie in one folder. A row that is there says that its submission is judged, so that an
 * interrupted grader goes on where it was. Its first line says with which lab, seed and scorer; a
 * row with others does not count.
 */

struct grader {
    const struct lab *lab;
    struct lab_weights weights;
    const char *folder;    /* of the submissions */
    const char *out;       /* of grades.csv, reports/ and state/ */
    const char *returns;   /* of reports to give back; NULL: none */
    const char *programs;  /* of run-lab, confine and the solutions' PTX */
    const char *bwrap;     /* NULL: in PATH */
    bool unprotected;      /* --no-sandbox */
    const char *container; /* of check-lab --format, where no sandbox can be started: sandbox.h */
    bool own_compiler;     /* common/tools/cc compiles, and not nvcc */
    bool seed_given;       /* --seed */
    bool bom;              /* --bom */
    uint64_t seed;
    uint64_t scorer, compiler, solution; /* bits of what points and PTX depend on: grade_basis() */
    unsigned jobs;                       /* worker processes at a time */
    bool alone;           /* this is the second try, with one job: what is doubtful counts */
    struct roster roster; /* --roster; count 0: none */
    struct toolkit toolkit;
    struct lab_results reference; /* of the step's own solution, with the seed */
};

/* What became of a step of grading. */
enum outcome_kind {
    OUTCOME_DONE,
    OUTCOME_REFUSED, /* the submission's fault: it has 0 points */
    OUTCOME_FAILED,  /* the machine's or the grader's: it is not judged */
    /* The submission's or the machine's. It is tried again, alone. If compiling is doubtful twice,
     * the submission needs too much and has 0 points; if running is, a person has to look at it. */
    OUTCOME_DOUBTFUL,
};

/* `why` is one sentence unless it is done. `bytes` are the result, PTX or a stream of results, and
 * `messages` those of the compiler; both belong to the caller, and outcome_end() frees them. */
struct outcome {
    enum outcome_kind kind;
    char why[FAULT_TEXT];
    char *bytes, *messages;
    size_t size;
};

/* ---- grade_state.c --------------------------------------------------------------------------- */

/* Sets grader->compiler to bits of nvcc and its arguments, grader->solution to bits of these and of
 * the step's own solution, and grader->scorer to bits of all that, the weights and the programs.
 */
void grade_basis(struct grader *);

/* ---- grade_jobs.c, grade_worker.c ------------------------------------------------------------ */

/* Compiles a copied source file to PTX. */
void grade_compile(const struct grader *, const char *source, struct outcome *);

/* Runs PTX on the cases of the grader's seed. */
void grade_run(const struct grader *, const char *ptx, struct outcome *);

/* ---- grade_worker.c -------------------------------------------------------------------------- */

/* Compiles the step's own solution, in the sandbox. Returns 0, or EXIT_DEVICE if the compiler is
 * not in order. */
int solution_compile(const struct grader *, struct fault *);
/* Has solution_compile() succeeded in this folder, with this solution and this compiler? */
bool solution_is_compiled(const struct grader *);
/* Runs it with the grader's seed, which gives grader->reference. `ptx` NULL: what
 * solution_compile() has made. Returns 0 or EXIT_DEVICE. */
int solution_run(struct grader *, const char *ptx, struct fault *);

/* The most bytes of PTX that a submission may compile to. */
enum { GRADER_PTX_BYTES = 8 << 20 };

/* ---- grade_jobs.c ---------------------------------------------------------------------------- */

/* The most memory that a submission may use while it is compiled or run. */
#define GRADER_JOB_BYTES (2ULL << 30)
/* Jobs at a time: as many as there are processors, unless memory is too short for them; at least
 * one. jobs_here() asks the machine for both numbers. */
unsigned jobs_within(unsigned processors, uint64_t memory);
unsigned jobs_here(void);

/* ---- grade_worker.c -------------------------------------------------------------------------- */

/* Finds the kind and the reason of an outcome: how a program has ended, and what it left. */
typedef void judge_fn(const struct sandbox_result *, struct sandbox_output *, struct outcome *);

/* Runs a command, which has two outputs: its messages, and its result. */
void outcome_run(const struct grader *, struct sandbox_command *, judge_fn *, struct outcome *);

/* Fills an outcome unless the program has ended by itself, and returns whether it has been filled.
 * `what` is "the compiler" or "the emulator"; `text` is what it wrote to stderr. */
bool outcome_of_ending(const struct sandbox_result *, const char *text, const char *what,
                       struct outcome *);

void outcome_end(struct outcome *);

/* ---- grade_state.c: files -------------------------------------------------------------------- */

/* The path of a submission's file: "state/ID.ptx" for STATE_PTX. */
enum state_file {
    STATE_SOURCE,
    STATE_PTX,
    STATE_COMPILED,
    STATE_ROW,
    FILE_TEXT,
    FILE_HTML,
    STATE_FIRST, /* the first version whose report shows results, and so sizes and inputs */
};
void state_path(const struct grader *, const struct submission *, enum state_file,
                char path[PATH_MAX]);

/* Makes the folders, and locks them for as long as this process and its workers live. Returns 0,
 * EXIT_USAGE, or EXIT_DEVICE if another grader has locked them. */
int state_begin(const struct grader *, struct fault *);

/* The seed that is stored, and the lab that it is for. STATE_DAMAGED: the file says neither. */
enum stored { STATE_NONE, STATE_STORED, STATE_DAMAGED };

/* Reads a file of at most `most` bytes. NULL: it is not there, or too long. The caller frees it;
 * there is a NUL behind the bytes. */
char *state_read(const char *path, size_t most, size_t *size);
/* Writes a file completely or not at all. Returns 0 or EXIT_USAGE. */
int state_write(const char *path, const char *bytes, size_t size, struct fault *);

/* The cells of a submission's row, which the caller frees, or NULL. `old`, unless it is NULL, says
 * whether there is a row of another lab, seed or scorer, which does not count. */
char *state_row(const struct grader *, const struct submission *, bool *old);
/* The line with which a row of this lab, seed and scorer begins. */
void state_row_head(FILE *, const struct grader *);
/* Is a submission another version than the first one whose report shows results? */
bool state_is_later(const struct grader *, const struct submission *);
/* Removes a submission's row and reports. The source and its PTX stay. */
void state_remove_results(const struct grader *, const struct submission *);
/* Removes rows and reports of submissions that are not in the list, and returns how many
 * submissions had some. */
size_t state_remove_others(const struct grader *, const struct submission *, size_t count);

/* What has been found out when compiling, as it is stored. What another compiler has made does not
 * count. */
struct compiled {
    enum outcome_kind kind;
    char why[FAULT_TEXT];
    uint64_t same[2]; /* the bits of its PTX, as same_ptx() gives them; 0: no PTX */
    uint64_t ptx;     /* hash of the PTX that is stored; 0: no PTX */
    char *messages;   /* freed by the caller */
};
bool state_compiled(const struct grader *, const struct submission *, struct compiled *);
int state_store_compiled(const struct grader *, const struct submission *, const struct compiled *,
                         struct fault *);

/* These bits of a lab's solution. False: its PTX has not been built. */
bool solution_bits(const struct grader *, const struct lab *, uint64_t bits[2]);

/* ---- grade_state.c --------------------------------------------------------------------------- */

/* Refuses to go on with grades of another lab or of another seed. Returns 0 or EXIT_USAGE. */
int seed_check(const struct grader *, struct fault *);
/* Takes the seed that is stored or given, or draws one, and stores it. To be called when all
 * submissions have been compiled. */
int seed_choose(struct grader *, struct fault *);

/* ---- grade_worker.c -------------------------------------------------------------------------- */

/* The first words of a row: what has become of the submission. */
#define STATUS_JUDGED "judged"
#define STATUS_LOOK   "look at it"

/* Is there a text that has still to be compiled? */
bool worker_has_new(const struct grader *, const struct submission *);
/* Copies and compiles a submission, unless that has been done. Returns 0 or an exit code. */
int worker_compile(const struct grader *, const struct submission *, struct fault *);
/* Runs and judges a compiled submission, and writes its reports and its row, unless it has a
 * row. A row of STATUS_LOOK has no points. */
int worker_judge(const struct grader *, const struct submission *, struct fault *);

/* ---- grade_jobs.c ---------------------------------------------------------------------------- */

typedef int job_fn(const struct grader *, const struct submission *, struct fault *);

/* Does the job for every submission, in processes of their own, of which grader->jobs run at a
 * time, and shows progress under the label. Prints why a job failed, and returns how many did. */
size_t run_jobs(const struct grader *, const struct submission *, size_t count, const char *label,
                job_fn *);

/* ---- grade_report.c -------------------------------------------------------------------------- */

/* Prints what an instructor has to know of list[of] before the points are used, or nothing. Without
 * a newline, and as it is, with whatever bytes names hold. */
void print_note(FILE *, const struct grader *, const struct submission *list, size_t count,
                size_t of);

/* ---- grade_report.c -------------------------------------------------------------------------- */

/* Refuses a folder that holds something. Returns 0 or EXIT_USAGE. */
int return_check(const char *folder, struct fault *);
/* Copies the reports of all submissions to FOLDER/NAME/report.html and report.txt. Returns 0 or
 * EXIT_USAGE. */
int return_reports(const struct grader *, const char *folder, const struct submission *list,
                   size_t count, struct fault *);

/* ---- grade_report.c, grade_csv.c, grade_csv.c ------------------------------------------------ */

/* What a report is made of. */
struct report {
    const struct grader *grader;
    const struct submission *submission;
    const struct lab_verdict *verdict;
    const char *messages; /* of the compiler, or "" */
    const char *source;   /* our copy; "" without a copy */
    size_t source_size;
};
void report_text(FILE *, const struct report *);
void report_html(FILE *, const struct report *);

/* A text in quotes. It does not become a formula in a program that opens the table, whatever
 * separator that program splits lines at, and no control characters are left in it. */
void csv_cell(FILE *, const char *text);
/* The cells of a verdict, without those of the name, and without a newline. */
void csv_verdict(FILE *, const struct lab_verdict *);
/* Writes moodle.csv: identifier, points and feedback of each student. Says on stderr how many
 * students have no row, since a person has to look at what they handed in. Returns 0 or EXIT_USAGE.
 */
int moodle_write(const struct grader *, const struct submission *, size_t count, struct fault *);
/* Writes grades.csv from the rows: with a roster in its order, with a row for each student, and
 * then submissions of others. Returns 0 or EXIT_USAGE. */
int csv_write(const struct grader *, const struct submission *, size_t count, struct fault *);

/* The path where our copy of every source is mounted, and thus what its PTX calls it. */
#define SOURCE_INSIDE "/lab.cu"
#define SOURCE_NAME   "lab.cu"

#endif
