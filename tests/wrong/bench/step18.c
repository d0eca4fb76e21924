/*
 * step18.c — a wrong scan (wrong.h) as a step of one's own in ./bench: that which WRONG_SCAN names.
 */
#include "tests/wrong/wrong.h"

#include <stdlib.h>

static const struct step *chosen(void)
{
    const char *name = getenv("WRONG_SCAN");
    return name != NULL ? wrong_find(name) : NULL;
}

static size_t workspace(size_t n, int variant)
{
    const struct step *step = chosen();
    return step != NULL ? step->workspace(n, variant) : 0;
}

static cudaError_t scan(void *out, const void *in, size_t n, int variant, void *memory,
                        cudaStream_t stream)
{
    const struct step *step = chosen();
    if (step == NULL) return cudaErrorInvalidValue;
    return step->scan(out, in, n, variant, memory, stream);
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
    .workspace = workspace,
};
