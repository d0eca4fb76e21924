/*
 * step18.c — a wrong scan (wrong.h) as a step of one's own in ./bench: that which WRONG_SCAN names.
 */
#include "tests/wrong/wrong.h"

#include <stdlib.h>

static cudaError_t scan(void *out, const void *in, size_t n, int variant, void *workspace,
                        cudaStream_t stream)
{
    const char *name = getenv("WRONG_SCAN");
    const struct step *step = name != NULL ? wrong_find(name) : NULL;
    if (step == NULL) return cudaErrorInvalidValue;
    return step->scan(out, in, n, variant, workspace, stream);
}

static double depth(size_t n, int variant)
{
    (void)variant;
    return (double)n;
}

extern const struct step step18;
const struct step step18 = {
    .number = 18,
    .name = "own",
    .title = "own",
    .element = ELEMENT_F32,
    .scan = scan,
    .depth = depth,
};
