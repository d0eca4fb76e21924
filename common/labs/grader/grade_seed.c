/*
 * grade_seed.c — the seed of a grading. It is drawn when all submissions have been compiled, so
 * that none can contain it. An interrupted grading keeps its seed.
 */
#define _GNU_SOURCE
#include "grader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

int seed_check(const struct grader *grader, struct fault *fault)
{
    int lab;
    uint64_t seed;
    enum stored stored = state_seed(grader, &lab, &seed);
    if (stored == STATE_STORED && lab != grader->lab->number)
        return fail(fault, EXIT_USAGE, "%s holds grades of lab %d: give another --out", grader->out,
                    lab);
    if (stored == STATE_STORED && grader->seed_given && seed != grader->seed)
        return fail(fault, EXIT_USAGE,
                    "%s holds grades of seed %llu: remove it, or give another --out", grader->out,
                    (unsigned long long)seed);
    if (stored == STATE_STORED || grader->seed_given || !state_has_rows(grader)) return 0;
    return fail(fault, EXIT_USAGE,
                "%s holds grades, but their seed in %s/state/seed is lost: give it by --seed, or "
                "give another --out",
                grader->out, grader->out);
}

int seed_choose(struct grader *grader, struct fault *fault)
{
    int lab;
    uint64_t seed;
    if (state_seed(grader, &lab, &seed) == STATE_STORED) {
        grader->seed = seed;
        return 0;
    }
    if (!grader->seed_given &&
        getrandom(&grader->seed, sizeof grader->seed, 0) != sizeof grader->seed)
        return fail(fault, EXIT_DEVICE, "no seed can be drawn: %s", strerror(errno));
    return state_store_seed(grader, grader->seed, fault);
}
