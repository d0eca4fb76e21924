/* score_parts.h — what the files of the scorer share. */
#ifndef LAB_SCORE_PARTS_H
#define LAB_SCORE_PARTS_H

#include "score.h"

/* score_part.c: adds a reason; one beyond VERDICT_LINES is dropped. The place may be set
 * afterwards. */
struct verdict_line *add_line(struct lab_verdict *, enum lab_criterion, double lost,
                              const char *format, ...) __attribute__((format(printf, 4, 5)));

/* score_sizes.c: compares the outputs with sums of its own, fills `sizes`, `cases` and
 * `right_cases`, and adds a line for each size that is not right. */
void score_sizes(struct lab_verdict *, const struct lab_results *,
                 const struct lab_results *reference);

/* What is wrong with an output: where, and the likely cause or "". */
struct wrong_output {
    char text[VERDICT_TEXT], cause[VERDICT_TEXT];
};

/* Is the output of a case right? Needs no reference. */
bool output_is_right(const struct lab *, const struct lab_case_result *, struct wrong_output *);

/* score_kept.c: the same of a case's output and input where the result is LAB_KEPT. An element, the
 * number of kept elements, or what is stored behind them may be wrong. */
bool kept_is_right(const struct lab *, const struct lab_case_result *, const float *in,
                   struct wrong_output *);

/* score_text.c: are two texts the same but for their numbers, up to `end` where they have it? */
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
