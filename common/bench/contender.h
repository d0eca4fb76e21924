/*
 * contender.h — the contenders of ./bench: the steps that take any n, CUB's scan, and the ways to
 * copy that make the roof. Each of these that is linked into the program takes part.
 */
#ifndef CONTENDER_H
#define CONTENDER_H

#include "common/command/fault.h"
#include "common/harness/run/roof.h"
#include "common/step/step.h"

#include <stdio.h>

#define CONTENDERS 64 /* at most, of one element type */

struct contender {
    const struct step *step; /* NULL: a way to copy */
    int variant;
    const struct roof_way *way;
};

/* Its name, such as "step 7", "CUB" or "cudaMemcpyAsync", and the name of its variant ("" without
 * variants). */
struct contender_name {
    char name[24];
};
struct contender_name contender_name(const struct contender *);
const char *contender_variant(const struct contender *);

bool contender_is_cub(const struct contender *);
/* Is its output a copy of its input? This is so for step 0 and for the ways of the roof. */
bool contender_copies(const struct contender *);

/*
 * Fills in the contenders of `list` that scan `element`. The list is "all", or items with commas
 * between: a number ("7": its first variant of this type), a number and a variant ("5:naive" or
 * "5:all"), a range ("5-9"), "cub", "roof". Each contender is there once, in the order of "all".
 * Returns 0, or EXIT_USAGE if an item is unknown.
 */
int contenders_find(struct contender found[CONTENDERS], size_t *count, const char *list,
                    enum element, struct fault *);

/*
 * Steps that apply scan are not contenders: each is timed by an experiment of its own. *found
 * becomes the one that `list` asks for, or NULL if it asks for contenders only. Returns 0, or
 * EXIT_USAGE if an item is unknown, or if the list asks for more beside such a step.
 */
int contenders_application(const struct step **found, const char *list, struct fault *);

/* The one after `last`, or the first one if `last` is NULL. NULL: there are no more. */
const struct step *contenders_next_application(const struct step *last);

/* Prints a line for each of them: what to ask for, and what runs then. */
void contenders_print_applications(FILE *);

#endif
