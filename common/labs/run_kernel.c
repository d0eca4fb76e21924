/* run_kernel.c — finds the kernels of a lab in a submission's PTX. */
#include "run_case.h"

#include <stdio.h>

static unsigned size_of(const struct lab_argument *argument)
{
    return argument->kind == LAB_INT ? sizeof(int32_t) : sizeof(uint64_t);
}

static bool takes_arguments(const struct emu_kernel_info *info, const struct lab_launch *launch)
{
    if (info->params != launch->argument_count) return false;
    for (unsigned i = 0; i < info->params; i++)
        if (info->param_size[i] != size_of(&launch->arguments[i])) return false;
    return true;
}

struct emu_kernel *find_kernel(struct emu *emu, struct emu_module *module,
                               const struct lab_ptx *ptx, const struct lab_launch *launch,
                               char *why, size_t why_size)
{
    char mangled[EMU_NAME_SIZE];
    struct emu_kernel *kernel;
    snprintf(why, why_size, "There is no kernel called %s; keep the names of the lab's kernels.",
             launch->kernel);
    for (size_t at = 0; next_entry(ptx, &at, launch->kernel, mangled);) {
        int error = emu_kernel(emu, module, mangled, &kernel);
        if (error == EMU_INVALID_DEVICE_FUNCTION) continue;
        if (error) {
            snprintf(why, why_size, "Kernel %s cannot be run: %s", launch->kernel,
                     emu_message(emu));
            return NULL;
        }
        if (takes_arguments(emu_kernel_info(kernel), launch)) return kernel;
        snprintf(why, why_size,
                 "Kernel %s has other parameters than the lab passes; put back those of the "
                 "skeleton.",
                 launch->kernel);
    }
    return NULL;
}
