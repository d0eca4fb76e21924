/* bank_count.c — runs a kernel of banks.cu on the emulator and counts its bank conflicts. */
#include "banks.h"
#include "common/labs/run_entry.h"

#include <stdlib.h>

enum { SHARED_BYTES = 36 << 10 };

static uint64_t conflicts_of(const struct emu_shared *s) { return s->wavefronts - s->ideal; }

static int launch(struct emu *emu, const struct lab_ptx *ptx, const struct bank_launch *l)
{
    struct emu_module *module;
    struct emu_kernel *kernel;
    char name[EMU_NAME_SIZE];
    size_t at = 0;
    int values[] = {l->arguments[0], l->arguments[1]};
    void *arguments[] = {&values[0], &values[1]};
    int error = emu_load(emu, ptx->text, ptx->length, "banks.cu", &module);
    if (error) return error;
    if (!next_entry(ptx, &at, l->kernel, name)) return EMU_INVALID_DEVICE_FUNCTION;
    error = emu_kernel(emu, module, name, &kernel);
    if (error) return error;
    return emu_launch(emu, kernel, (struct emu_dim){1, 1, 1}, (struct emu_dim){l->threads, 1, 1},
                      SHARED_BYTES, arguments, false);
}

int count_conflicts_of(const char *path, const struct bank_launch *l, struct conflicts *conflicts,
                       struct fault *fault)
{
    struct lab_ptx ptx;
    struct emu_config config = {.threads = 1, .counters = true};
    char message[FAULT_TEXT];
    int code = ptx_read(path, &ptx, fault);
    if (code) return code;
    struct emu *emu = emu_open(&config, message, sizeof message);
    if (!emu) {
        code = fail(fault, EXIT_DEVICE, "%s", message);
    } else if (launch(emu, &ptx, l)) {
        code = fail(fault, EXIT_DEVICE, "Kernel %s cannot be run: %s", l->kernel, emu_message(emu));
    } else {
        const struct emu_counts *total = &emu_record(emu, 0)->total;
        *conflicts =
            (struct conflicts){conflicts_of(&total->shared_ld), conflicts_of(&total->shared_st)};
    }
    if (emu) emu_close(emu);
    free(ptx.text);
    return code;
}
