/* step_program.c — how a step's program is called, and what a step is for one variant. */
#include "step.h"

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

struct step step_for(const struct step *step, int variant)
{
    struct step chosen = *step;
    if (step->elements) chosen.element = step->elements[variant];
    return chosen;
}
