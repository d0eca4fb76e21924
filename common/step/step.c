/* step.c — how a step's program is called, which type a variant has, and how it adds. */
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

enum element step_element(const struct step *step, int variant)
{
    return step->elements ? step->elements[variant] : step->element;
}
