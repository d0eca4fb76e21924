/* step.c — how a step's program is called, and what a step is for one variant,
 * and how it adds. */
#include "step.h"
#include "tree.h"

#include <stdio.h>

struct program_name step_program(const struct step *step)
{
    struct program_name program;
    if (step->program)
        snprintf(program.name, sizeof program.name, "%s", step->program);
    else
        snprintf(program.name, sizeof program.name, "step%d", step->number);
    return program;
}

struct tree step_tree(const struct step *step, size_t n, int variant)
{
    struct tree tree = {.depth = step->depth ? step->depth(n, variant) : (double)n};
    if (step->tree) step->tree(&tree, n, variant);
    return tree;
}

struct step step_for(const struct step *step, int variant)
{
    struct step chosen = *step;
    if (step->elements) chosen.element = step->elements[variant];
    return chosen;
}
