/* agreement.c — how exact the counters of a program's kernels are (--report).
 *
 * nvcc puts the fat binaries of a program one after the other into one section of its file. In a
 * program built with -rdc=true, that section has only the linked machine code, and another section
 * has the PTX of each source file. */
#include "command.h"
#include "common/tools/emu/ptx/insn.h"

#include <string.h>

enum { NAME_SIZE = 1024, NO_KERNEL_IMAGE = 209, ALIGNMENT = 8 };

/* What is being reported. */
struct report {
    struct emu *emu;
    unsigned arch;
    FILE *out;
    int kernels;
    const void *linked; /* linked machine code; it may belong to PTX of any container */
    size_t linked_size;
    char *message;
    size_t size;
};

/* The size of the container at `data`, with the padding before the next one; 0 at the end. */
static size_t container_room(const unsigned char *data, size_t left)
{
    size_t bytes = fatbin_size(data, left);
    bytes += -bytes % ALIGNMENT;
    return bytes < left ? bytes : left;
}

/* Does the machine code contain a kernel of this module? */
static bool belongs(const struct fatbin_code *code, const struct emu_module *module)
{
    struct cubin cubin;
    bool found = false;
    if (cubin_open(&cubin, code->data, code->size) != NULL) return false;
    for (size_t i = 0; i < module->text.function_count && !found; i++)
        found = module->text.functions[i].is_entry &&
                cubin_section(&cubin, ".text.", module->text.functions[i].name) != 0;
    cubin_close(&cubin);
    return found;
}

/* Finds the machine code of a module: in its own container, or linked. */
static void find_code(const struct report *report, const void *container, size_t left,
                      const struct emu_module *module, struct fatbin_code *code)
{
    if (fatbin_machine_code(container, left, report->arch, code) && belongs(code, module)) return;
    const unsigned char *at = report->linked;
    size_t rest = report->linked != NULL ? report->linked_size : 0;
    for (size_t bytes; rest > 0; at += bytes, rest -= bytes) {
        free(code->allocated);
        if (fatbin_machine_code(at, rest, report->arch, code) && belongs(code, module)) return;
        bytes = container_room(at, rest);
        if (bytes == 0) break;
    }
    free(code->allocated);
    *code = (struct fatbin_code){0};
}

static void print_kernel(struct report *report, struct emu_module *module, const char *mangled)
{
    struct emu_kernel *kernel;
    char name[NAME_SIZE];
    kernel_whole_name(mangled, name, sizeof name);
    fprintf(report->out, "%s\n", name);
    report->kernels++;
    if (emu_kernel(report->emu, module, mangled, &kernel) != EMU_OK) {
        fprintf(report->out, "    not emulated: %s\n", emu_message(report->emu));
        return;
    }
    const struct emu_agreement *agreement = emu_agreement(report->emu, kernel);
    fprintf(report->out, "    %s", agreement->text);
    if (agreement->label != EMU_UNCHECKED) fprintf(report->out, " (sm_%u)", agreement->arch);
    fputc('\n', report->out);
}

/* Prints the kernels of texts that form one module. False: they cannot be read. */
static bool print_texts(struct report *report, const struct emu_ptx *texts, size_t count,
                        const void *container, size_t left)
{
    struct emu_module *module;
    struct fatbin_code code;
    if (emu_link(report->emu, texts, count, &module) != EMU_OK) {
        snprintf(report->message, report->size, "%s", emu_message(report->emu));
        return false;
    }
    find_code(report, container, left, module, &code);
    if (code.data != NULL) emu_machine_code(report->emu, module, code.data, code.size, code.arch);
    for (size_t i = 0; i < module->text.function_count; i++)
        if (module->text.functions[i].is_entry && module->text.functions[i].has_body)
            print_kernel(report, module, module->text.functions[i].name);
    emu_unload(report->emu, module);
    free(code.allocated);
    return true;
}

/* Reads the PTX from the containers of a section. Prints the kernels of each container, or, if the
 * containers are `linked`, those of all as one module. False: the section is damaged. */
static bool print_section(struct report *report, const struct elf *program, const char *name,
                          bool linked)
{
    size_t left, count = 0, bytes;
    const unsigned char *at = elf_section(program, name, &left);
    struct emu_ptx *texts = NULL;
    bool whole = true;
    for (; at != NULL && left > 0 && whole; at += bytes, left -= bytes) {
        struct fatbin_ptx ptx;
        bytes = container_room(at, left);
        if (bytes == 0) break;
        texts = grown(texts, count, sizeof *texts);
        int error = fatbin_extract(at, left, report->arch, &ptx, report->message, report->size);
        if (error == NO_KERNEL_IMAGE) continue; /* no PTX that the emulator can run */
        whole = error == EMU_OK;
        if (!whole) break;
        texts[count++] = (struct emu_ptx){ptx.text, ptx.length, "the program's PTX",
                                          ptx.never_fuses};
        if (linked) continue;
        whole = print_texts(report, texts, count, at, left);
        free((char *)texts[--count].text);
    }
    if (count > 0 && whole) whole = print_texts(report, texts, count, NULL, 0);
    while (count > 0) free((char *)texts[--count].text);
    free(texts);
    return whole;
}

int report_agreement(const struct elf *program, const struct emu_gpu *gpu, FILE *out, char *message,
                     size_t size)
{
    struct emu_config config = {.gpu = gpu};
    struct report report = {
        .emu = emu_open(&config, message, size), .out = out, .message = message, .size = size};
    if (report.emu == NULL) return -1;
    gpu = emu_gpu(report.emu);
    report.arch = (unsigned)(10 * gpu->major + gpu->minor);
    report.linked = elf_section(program, ".nv_fatbin", &report.linked_size);
    bool whole = print_section(&report, program, ".nv_fatbin", false) &&
                 print_section(&report, program, "__nv_relfatbin", true);
    emu_close(report.emu);
    return whole ? report.kernels : -1;
}
