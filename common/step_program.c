/* step_program.c — how a step's program is called. */
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
