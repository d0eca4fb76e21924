/* machine_code.c — the machine code that belongs to a module, read when a kernel is first compared
 * with it. */
#define _GNU_SOURCE /* memmem */
#include "common/emu/machine/device.h"
#include "common/emu/machine/events.h"
#include "count.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct machine_code {
    const void *data;
    size_t size;
    unsigned arch; /* 90 for sm_90 */
    bool opened;
    struct cubin cubin;  /* if opened */
    const char *problem; /* why it cannot be read; NULL: no problem */
};

/* Did ptxas have an option with which it makes no fma? A note of the file holds its options. */
static bool never_fuses(const void *data, size_t size)
{
    static const char *const options[] = {"-O 0 ", "-fmad false "};
    struct elf file;
    size_t length;
    if (elf_read(&file, data, size) != ELF_FINE) return false;
    const unsigned char *note =
        elf_content(&file, elf_find(&file, ".note.nv.tkinfo", ""), &length);
    for (size_t k = 0; note && k < sizeof options / sizeof *options; k++)
        if (memmem(note, length, options[k], strlen(options[k]))) return true;
    return false;
}

/* Without host memory for it, the module has no machine code and its kernels are not compared. */
void emu_machine_code(struct emu *emu, struct emu_module *module, const void *data, size_t size,
                      unsigned arch)
{
    struct machine_code *code = calloc(1, sizeof *code);
    if (code) *code = (struct machine_code){.data = data, .size = size, .arch = arch};
    pthread_mutex_lock(&emu->lock);
    event_module_close(module);
    module->machine_code = code;
    module->never_fuses = code && never_fuses(data, size);
    pthread_mutex_unlock(&emu->lock);
}

void event_module_close(struct emu_module *module)
{
    struct machine_code *code = module->machine_code;
    if (code) cubin_close(&code->cubin);
    free(code);
    module->machine_code = NULL;
}

static const struct emu_agreement *unchecked(struct emu_kernel *kernel, const char *why)
{
    char text[200];
    int length = snprintf(text, sizeof text, "unchecked: %s", why);
    struct emu_agreement *agreement = arena_take(kernel->module->arena, sizeof *agreement);
    if (!agreement) return NULL;
    agreement->text = arena_text(kernel->module->arena, text, (size_t)length);
    return agreement->text ? agreement : NULL;
}

static const struct emu_agreement *compare(struct emu_kernel *kernel)
{
    struct machine_code *code = kernel->module->machine_code;
    if (!code || !code->data) return unchecked(kernel, "there is no machine code");
    if (code->arch < SASS_OLDEST || code->arch > SASS_NEWEST)
        return unchecked(kernel, "the machine code is of an architecture that is not known here");
    if (!code->opened) {
        code->opened = true;
        code->problem = cubin_open(&code->cubin, code->data, code->size);
    }
    if (code->problem) return unchecked(kernel, code->problem);
    return compare_code(kernel, &code->cubin, code->arch);
}

const struct emu_agreement *kernel_agreement(struct emu_kernel *kernel)
{
    static const struct emu_agreement no_memory = {.text = "unchecked: out of host memory"};
    if (!kernel->agreement) kernel->agreement = compare(kernel);
    if (!kernel->agreement) kernel->agreement = &no_memory;
    return kernel->agreement;
}

const struct emu_agreement *emu_agreement(struct emu *emu, struct emu_kernel *kernel)
{
    pthread_mutex_lock(&emu->lock);
    const struct emu_agreement *agreement = kernel_agreement(kernel);
    pthread_mutex_unlock(&emu->lock);
    return agreement;
}
