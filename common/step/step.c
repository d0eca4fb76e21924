/* step.c — how a step's program is called, which type a variant has, and how it adds. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "cuda_check.h"
#include "step.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Additions that join a tree's levels, a block's start and an element; and levels of blocks that
 * are not full. Steps 2 to 9 make fewer. */
#define JOINS 24

struct program_name step_program(const struct step *step)
{
    struct program_name program;
    if (step->program)
        snprintf(program.name, sizeof program.name, "%s", step->program);
    else
        snprintf(program.name, sizeof program.name, "step%d", step->number);
    return program;
}

double step_tree_depth(size_t n, int variant)
{
    double levels = 0;
    (void)variant;
    for (size_t reached = 1; reached < n; reached *= 2) levels++;
    return 2 * levels + JOINS;
}

double step_depth(const struct step *step, size_t n, int variant)
{
    return step->depth ? step->depth(n, variant) : (double)n;
}

enum element step_element(const struct step *step, int variant)
{
    return step->elements ? step->elements[variant] : step->element;
}

/* ---- errors of CUDA -------------------------------------------------------------------------- */

/* Only the emulator's runtime has this function (emu.h). */
bool cuda_emulated(void) { return dlsym(RTLD_DEFAULT, "emu_runtime") != NULL; }

int cuda_fault(struct fault *fault, cudaError_t error, const char *call)
{
    /* "cudaMemcpy(to, from, …)" → "cudaMemcpy" */
    int name = (int)strcspn(call, "(");
    /* The emulator has already printed the kernel, the thread and the source line. */
    const char *where = cuda_emulated() ? "; see the emulator's line above" : "";
    return fail(fault, EXIT_DEVICE, "%.*s failed: %s (%s)%s.", name, call,
                cudaGetErrorString(error), cudaGetErrorName(error), where);
}
