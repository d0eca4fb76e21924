/*
 * score.h — the scorer, what its files share, and how files are compiled.
 */
#ifndef LAB_SCORE_H
#define LAB_SCORE_H

#include "lab.h"
#include "results.h"
#include "common/files/fault.h"
#include <stdio.h>

/* ---- the scorer ------------------------------------------------------------------------------ */

/*
 * The scorer: from results to points, with a reason for each lost point. `make check` and
 * `make grade` judge by this code, in a process that runs no submission.
 *
 * Correctness comes first, and it multiplies all other points. It is the fraction of cases with a
 * right output, but no more than that of the cases whose size is not handed out: a submission
 * that is right for known sizes only has no points. The other criteria compare the submission's
 * counters with those of the step's own solution, which has run on the same cases. Every criterion
 * is a fraction from 0 to 1, so points are continuous.
 */

enum lab_criterion {
    LAB_WORK,      /* additions, and everything else that is executed */
    LAB_CONFLICTS, /* wavefronts of shared memory */
    LAB_SECTORS,   /* 32-byte sectors of global and local memory */
    LAB_HAZARDS,   /* findings of the checkers, in every order of warps and blocks */
    LAB_CRITERIA,
};
const char *lab_criterion_name(enum lab_criterion); /* "work", "conflicts", … */

/* ---- score.c --------------------------------------------------------------------------------- */

/* Points that each criterion is worth. */
struct lab_weights {
    double points[LAB_CRITERIA];
};

/* Reads the weights of a lab from a file such as weights.txt. Returns 0. Otherwise returns -1, and
 * `why` is a sentence with the line of the file. lab_weights_take reads a file that is open, and
 * `path` is what to call it. */
int lab_weights_read(const char *path, const struct lab *, struct lab_weights *, char *why,
                     size_t why_size);
int lab_weights_take(FILE *, const char *path, const struct lab *, struct lab_weights *, char *why,
                     size_t why_size);

enum { VERDICT_LINES = 64, VERDICT_TEXT = 600 };

/* How a likely cause begins if it is a finding of the checkers. */
#define LAB_FINDING_CAUSE "the error that the checkers report"

/* What became of one size. Counters are those of the case with schedule 0. */
struct verdict_size {
    size_t n;
    enum lab_end end;         /* the worst of its cases */
    bool right;               /* in every case */
    char wrong[VERDICT_TEXT]; /* if it is not: the first wrong element, or why it did not run */
    char cause[VERDICT_TEXT]; /* the likely cause, or "" */
    char error_file[RESULTS_NAME]; /* where a checker has found an error; a claim */
    unsigned error_line;           /* 0: not known */
    unsigned other_line;           /* of a race's other access; 0: not known */
    unsigned barrier_line;         /* where others wait at another barrier; 0: not known */
    unsigned caller_line;          /* of the call that error_line was inlined through; 0: none */
    unsigned one_store_line;       /* of a race: lanes store to one address there; 0: no line */
    uint32_t error_tool;           /* enum emu_check; 0: no error */
    char error_kind[RESULTS_NAME]; /* of the finding, such as "misaligned" */
    bool only_warning;             /* it is a warning, as there is no error */
    bool in_global;                /* it is about global memory */
    uint64_t adds, expected_adds;  /* of the submission and of the reference */
    uint64_t conflicts, expected_conflicts;
    uint64_t sectors, expected_sectors;
    uint64_t errors;             /* errors and warnings, in the case that has most */
    unsigned cases, wrong_cases; /* runs, in different orders */
};

/* One reason for lost points, or a note that costs none. */
struct verdict_line {
    enum lab_criterion criterion; /* LAB_CRITERIA: correctness */
    double lost;                  /* points; 0: a note */
    char file[RESULTS_NAME];      /* "": no place. A claim of the submission's PTX */
    unsigned line;                /* 0: no line */
    char text[VERDICT_TEXT];      /* one sentence; may hold any bytes, see results.h */
    const char *chapter;          /* with a section: "notes/04-conflict-free.md" */
};

/* A gap of a skeleton in which nothing is written yet. */
struct empty_gap {
    unsigned number, line;
};
enum { VERDICT_GAPS = 8 };

enum verdict_status {
    VERDICT_JUDGED,
    VERDICT_UNJUDGED, /* the machine or the grader failed (LAB_SECONDS, a broken stream) */
};

struct lab_verdict {
    const struct lab *lab;
    uint64_t seed;
    bool handed_out;
    enum verdict_status status;
    char failure[VERDICT_TEXT]; /* VERDICT_UNJUDGED, or a submission that did not run: why */
    double points, most;        /* most: the sum of the weights */
    double correctness;         /* 0 to 1 */
    unsigned right_cases, cases;
    unsigned right_unseen, unseen; /* of these, the ones whose size is not handed out */
    double fraction[LAB_CRITERIA]; /* 0 to 1, before they are multiplied by correctness */
    double weight[LAB_CRITERIA];
    size_t size_count;
    struct verdict_size sizes[LAB_SIZES];
    size_t line_count;
    struct verdict_line lines[VERDICT_LINES];
    size_t gap_count; /* set by find_gaps(), not by the scorer */
    struct empty_gap gaps[VERDICT_GAPS];
    bool own_compiler; /* set by check-lab: common/tools/cc has compiled both, and not nvcc */
};

/*
 * Judges results. `reference` are those of the step's own solution with the same seed. Returns 0,
 * or -1 if the two do not belong together or the results are not of the lab's cases; then the
 * status is VERDICT_UNJUDGED and `failure` says why. A case that is missing counts as wrong.
 */
int score_lab(const struct lab *, const struct lab_results *, const struct lab_results *reference,
              const struct lab_weights *, struct lab_verdict *);

/* Notes which barriers the submission did not need in a run of `run-lab --order`. */
void note_order(struct lab_verdict *, const struct lab_results *);

/* A verdict of 0 points for a submission that could not be run, such as one that does not compile,
 * and one of VERDICT_UNJUDGED, which a person has to look at. `why` is one sentence. */
void score_nothing(const struct lab *, const struct lab_weights *, const char *why,
                   struct lab_verdict *);
void leave_open(const struct lab *, const struct lab_weights *, const char *why,
                struct lab_verdict *);

/* ---- hint.c ---------------------------------------------------------------------------------- */

/* Finds the gaps of a student's file that hold nothing but comments. A file without the skeleton's
 * comments has none, and neither has NULL. */
void find_gaps(FILE *source, struct lab_verdict *);

/* Does a line of a CUDA file stand in an `if` or an `else`, as far as its braces show? NULL: no. */
bool is_in_branch(FILE *source, unsigned line);

/* Prints a hint of a level from 1 to 3 on what the verdict complains about most. `hints` has the
 * texts, as hints.txt; `name` is what to call the student's file, which `source` reads (NULL: it is
 * not known). Both are read from their beginnings. Returns 0, or an exit code. */
int print_hint(FILE *, const struct lab_verdict *, FILE *hints, unsigned level, const char *name,
               FILE *source, struct fault *);

/* ---- verdict.c ------------------------------------------------------------------------------- */

/* `source` is what to call the student's file: "labs/lab3.cu". Nothing of the submission is printed
 * without visible(). */
void lab_verdict_text(FILE *, const struct lab_verdict *, const char *source);
/* One JSON object and a newline; `is_exact` as in report.h. */
void lab_verdict_json(FILE *, const struct lab_verdict *, const char *source, bool is_exact);

/* ---- compile.c ------------------------------------------------------------------------------- */

/* How a lab's file is compiled to PTX: by nvcc with these options, for `check`, for the step's own
 * solution, and in the grader's sandbox; or, for `check` without nvcc, by common/tools/cc. */
enum { COMPILE_ARGUMENTS = 16 };

/* What the compiler may use for a student's file, in a check and in a grading: bytes of addresses
 * and seconds of processor time of a process, bytes of a file, and bytes of messages. A lab's file
 * takes nvcc 2 s, 250 MB and 20 kB of PTX. */
#define COMPILE_ADDRESSES (2ULL << 30)
enum { COMPILE_SECONDS = 10, COMPILE_FILE = 128 << 20, COMPILE_MESSAGES = 1 << 16 };

/* What a verdict says of a file that does not compile. */
#define COMPILE_REFUSED "It does not compile; the compiler says where, above."

/* Fills argv, which ends with NULL: nvcc, its options, source and output. The strings are the
 * caller's or constants. */
void compile_arguments(const char *nvcc, const char *source, const char *ptx,
                       const char *argv[COMPILE_ARGUMENTS]);
/* The same for upcc, the compiler of common/tools/cc. */
void compile_own_arguments(const char *upcc, const char *source, const char *ptx,
                           const char *argv[COMPILE_ARGUMENTS]);

/* Has a limit of a process ended the compiler, by its exit code, which is 128 and more after a
 * signal, or a part of it, by its messages? If a submission says so itself, by #error, it only gets
 * another reason. ptxas and nvcc exit with 255 after an error. */
bool compile_exceeded(int code, const char *messages);

/* Runs a program to its end, with stdout and stderr in the file `log` (NULL: as they are).
 * Returns its exit code, 128 + the number of a signal that ended it, or -1 and errno. */
int run_program(const char *const *argv, const char *log);
/* Runs a compiler to its end, within the limits above, except that of messages. */
int run_compiler(const char *const *argv, const char *log);

/* ---- what the files of the scorer share ------------------------------------------------------ */

/* score.c: adds a reason; one beyond VERDICT_LINES is dropped. The place may be set
 * afterwards. */
struct verdict_line *add_line(struct lab_verdict *, enum lab_criterion, double lost,
                              const char *format, ...) __attribute__((format(printf, 4, 5)));

/* score_sizes.c: compares the outputs with sums of its own, fills `sizes`, `cases` and
 * `right_cases`, and adds a line for each size that is not right. */
void score_sizes(struct lab_verdict *, const struct lab_results *,
                 const struct lab_results *reference);

/* What is wrong with an output: which word is, where, and the likely cause or "". */
struct wrong_output {
    size_t word; /* SIZE_MAX: none is wrong, such as of a run that did not end */
    char text[VERDICT_TEXT], cause[VERDICT_TEXT];
};

/* Is the output of a case right? Needs no reference. */
bool output_is_right(const struct lab *, const struct lab_case_result *, struct wrong_output *);

/* score.c: are two texts the same but for their numbers, up to `end` where they have it? */
bool same_but_numbers(const char *, const char *, const char *end);
/* In a message of the emulator, shortens places in a file to "line 52", and leaves out those in the
 * PTX. ", at line 52" is left out as well if `line`, where the reason begins with it, is 52. */
void shorten_places(char *message, const char *file, unsigned line);

/* score_criteria.c: fills `fraction`, and adds a line for each reason why a point is lost. */
void score_criteria(struct lab_verdict *, const struct lab_results *,
                    const struct lab_results *reference);

/* score.c: sums of counters. */
struct lab_sums {
    uint64_t adds;             /* elements of expected operations */
    uint64_t add_instructions; /* and the warp instructions that compute them */
    uint64_t unexpected;       /* elements of operations that may hide additions */
    uint64_t unexpected_instructions;
    const char *worst;         /* the name of that operation with most elements; NULL: none */
    uint32_t worst_class;
    uint64_t other;    /* lanes of all instructions but the expected operations */
    uint64_t other_instructions; /* and these warp instructions */
    uint64_t borrowed; /* elements of operations that are harmless in small numbers only */
    uint64_t shuffles; /* warp instructions */
    uint64_t longest_warps; /* instructions of each launch's longest warp, added up */
    uint64_t wavefronts, conflicts, sectors;
};
/* Sums the counters of a case. `reference` are the sums of the step's own solution: what that one
 * uses may be used up to twice as often. NULL: these are the sums of the step's own solution. */
struct lab_sums lab_sums(const struct lab *, const struct lab_case_result *,
                         const struct lab_sums *reference);
uint64_t count_wavefronts(const struct emu_counts *);
uint64_t count_conflicts(const struct emu_counts *);
uint64_t count_sectors(const struct emu_counts *);
/* Sectors that the bytes asked for would fill. */
uint64_t count_ideal_sectors(const struct emu_counts *);

#endif
