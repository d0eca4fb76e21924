/* run_kernel.c — finds the kernels of a lab in a submission's PTX. */
#define _GNU_SOURCE /* memmem */
#include "common/emu/ptx/kernel_name.h"
#include "run_case.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define ENTRY ".entry"

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$'; }

/* The next entry's name after `at`, or false. What a comment of the PTX says is found too, so a
 * name found here need not be a kernel's. */
static bool next_entry(const struct lab_ptx *ptx, size_t *at, char name[EMU_NAME_SIZE])
{
    const char *end = ptx->text + ptx->length;
    const char *from = memmem(ptx->text + *at, ptx->length - *at, ENTRY, strlen(ENTRY));
    if (!from) return false;
    from += strlen(ENTRY);
    while (from < end && isspace((unsigned char)*from)) from++;
    size_t length = 0;
    while (from + length < end && is_name(from[length])) length++;
    snprintf(name, EMU_NAME_SIZE, "%.*s", (int)(length < EMU_NAME_SIZE ? length : 0), from);
    *at = (size_t)(from + length - ptx->text);
    return true;
}

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
    char mangled[EMU_NAME_SIZE], base[EMU_NAME_SIZE];
    struct emu_kernel *kernel;
    snprintf(why, why_size, "There is no kernel called %s; keep the names of the lab's kernels.",
             launch->kernel);
    for (size_t at = 0; next_entry(ptx, &at, mangled);) {
        kernel_base_name(mangled, base, sizeof base);
        if (strcmp(base, launch->kernel)) continue;
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
