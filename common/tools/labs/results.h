/*
 * results.h — what run-lab found out about a submission, as a stream of bytes between two
 * processes. results.c writes and reads it.
 *
 * The writer has executed a submission's code, so the reader trusts nothing: every length and every
 * number has a limit, all texts end with NUL, and what remains is a claim. A text may hold any
 * bytes, because names come from the submission. Print it with visible() (visible.h).
 */
#ifndef LAB_RESULTS_H
#define LAB_RESULTS_H

#include "lab.h"
#include "common/tools/emu/emu.h"

enum {
    RESULTS_NAME = 128,   /* bytes of a name, with its NUL */
    RESULTS_TEXT = 512,   /* bytes of a sentence */
    RESULTS_LINES = 4096, /* of a case */
    RESULTS_OPERATIONS = 1024,
    RESULTS_FINDINGS = 32,
};

/* How a case ended. */
enum lab_end {
    LAB_RAN,          /* all kernels have ended */
    LAB_REFUSED,      /* PTX or a kernel could not be loaded, or its parameters are other ones */
    LAB_FAULT,        /* a kernel was stopped: a bad address, a deadlock, an assertion … */
    LAB_INSTRUCTIONS, /* a kernel exceeded lab_instruction_limit() */
    LAB_SECONDS,      /* a wall-clock limit: the machine's fault, and not the student's */
    LAB_NOT_RUN,      /* an earlier case ended with LAB_REFUSED, LAB_SECONDS, a fault on the small
                         device, or, of no more elements, LAB_INSTRUCTIONS; it has this message */
};

/* Counters of one source line in one kernel. */
struct lab_line {
    char kernel[RESULTS_NAME]; /* as in the source */
    char file[RESULTS_NAME];   /* the last part of its path */
    unsigned line;
    struct emu_counts counts;
};

/* What emu_operation says, summed over the launches of a case. */
struct lab_operation {
    char name[RESULTS_NAME]; /* with its type: "add.f32" */
    uint32_t work_class;     /* enum emu_class */
    uint64_t instructions, lanes, elements;
};

struct lab_finding {
    uint32_t tool, severity; /* enum emu_check, emu_severity */
    char kind[RESULTS_NAME], file[RESULTS_NAME], text[RESULTS_TEXT];
    unsigned line, other_line; /* 0: not known */
    unsigned caller_line;      /* of the call that `line` was inlined through; 0: none */
    uint64_t count;
};

struct lab_case_result {
    struct lab_case is;
    enum lab_end end;
    char message[RESULTS_TEXT]; /* why it did not end as LAB_RAN; or "" */
    uint32_t *out;              /* lab_output_words(&is) of them; NULL unless LAB_RAN */
    struct emu_counts total;    /* of all launches */
    uint64_t longest_warps;     /* warp instructions of each launch's longest warp, added up */
    size_t line_count, operation_count, finding_count;
    struct lab_line *lines;
    struct lab_operation *operations;
    struct lab_finding *findings;
    uint64_t errors, warnings; /* numbers of distinct findings, also of those without a text */
    uint64_t dropped;          /* elements of operations beyond RESULTS_OPERATIONS */
    uint64_t printed;          /* lines that the kernels' printf has made */
    emu_addr out_address;      /* of the output, while its device is open */
};

struct lab_results {
    int lab;
    uint64_t seed;
    bool handed_out;
    bool complete; /* the end of the stream was there */
    size_t case_count;
    struct lab_case_result cases[LAB_CASES];
};

/* ---- reading, defensively -------------------------------------------------------------------- */

/* Reads a stream. Returns 0. Otherwise returns -1, *out is empty, and `why` says in one sentence
 * what is wrong with it. A stream that ends after a whole case is read, and is not complete.
 * results_free gives the memory back. */
int results_read(const void *bytes, size_t size, struct lab_results *out, char *why,
                 size_t why_size);
/* Reads a file as results_read reads a stream. */
int results_read_file(const char *path, struct lab_results *out, char *why, size_t why_size);
void results_free(struct lab_results *);
void results_free_case(struct lab_case_result *);

/* ---- writing --------------------------------------------------------------------------------- */

/* Each returns 0, or an errno. Cases are written in order, whole, and then the end. */
int results_write_begin(int fd, const struct lab *, uint64_t seed, bool handed_out);
int results_write_case(int fd, const struct lab_case_result *);
int results_write_end(int fd);

/* ---- the bytes of the stream ----------------------------------------------------------------- */

/*
 * Both are programs of the same build, so numbers and structs stand there as they are in memory.
 *
 * frame_begin, then for each case a frame_case with its output, lines, operations and findings
 * behind it, then TAG_END.
 */

#define TAG_BEGIN "upsw"
#define TAG_CASE  "case"
#define TAG_END   "end."

enum { TAG_BYTES = 4, RESULTS_VERSION = 7, RESULTS_WORDS = 1 << 20 };

struct frame_begin {
    char tag[TAG_BYTES];
    uint32_t version, lab, handed_out;
    uint64_t seed;
};

struct frame_case {
    char tag[TAG_BYTES];
    uint32_t end;
    struct lab_case is;
    uint64_t words; /* of the output; 0: none */
    uint32_t line_count, operation_count, finding_count, unused;
    uint64_t errors, warnings, dropped, printed, longest_warps;
    struct emu_counts total;
    char message[RESULTS_TEXT];
};

#endif
