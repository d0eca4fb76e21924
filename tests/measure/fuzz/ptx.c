/*
 * ptx.c — fuzzes the PTX parser and the decoder: the bytes are a text, and every kernel of it is
 * decoded. A kernel without loops and calls is also run, which must not access memory outside its
 * registers. Such a run ends by itself.
 */
#include "fuzz.h"

#include "common/tools/emu/ptx/insn.h"

enum { DEVICE_BYTES = 1 << 20, BUFFER_BYTES = 1 << 12, PARAM_BYTES = 1 << 15, THREADS = 40 };

static struct emu *emu; /* one for all inputs: to open a device takes longer than to parse */
static emu_addr buffer;

static bool ready(void)
{
    char message[200];
    struct emu_config config = {.threads = 1, .memory = DEVICE_BYTES, .counters = true};
    if (emu != NULL) return true;
    emu = emu_open(&config, message, sizeof message);
    return emu != NULL && emu_alloc(emu, BUFFER_BYTES, &buffer) == 0;
}

static bool ends_by_itself(const struct emu_kernel *kernel)
{
    for (size_t i = 0; i < kernel->code_count; i++) {
        enum control control = kernel->code[i].control;
        if (control == CONTROL_CALL || control == CONTROL_TABLE) return false;
        if (control == CONTROL_BRANCH && kernel->code[i].target <= i) return false;
    }
    return true;
}

/* Every 64-bit parameter is the address of a buffer. */
static void run(struct emu_kernel *kernel)
{
    static emu_addr bytes[PARAM_BYTES / sizeof(emu_addr)];
    static void *arguments[256];
    const struct emu_kernel_info *info = emu_kernel_info(kernel);
    if (info->params > sizeof arguments / sizeof *arguments) return;
    for (unsigned i = 0; i < info->params; i++) {
        if (info->param_size[i] > sizeof bytes) return;
        arguments[i] = bytes;
    }
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) bytes[i] = buffer;
    struct emu_dim grid = {2, 1, 1}, block = {THREADS, 1, 1};
    emu_launch(emu, kernel, grid, block, 64, arguments, false);
    emu_forget(emu);
}

int fuzz_ptx(const uint8_t *data, size_t size)
{
    struct emu_module *module;
    struct emu_kernel *kernel;
    if (!ready() || emu_load(emu, (const char *)data, size, "fuzz", &module) != 0) return 0;
    for (size_t i = 0; i < module->text.function_count; i++) {
        const struct ptx_function *function = &module->text.functions[i];
        if (!function->is_entry || !function->has_body) continue;
        if (emu_kernel(emu, module, function->name, &kernel) == 0 && ends_by_itself(kernel))
            run(kernel);
    }
    emu_unload(emu, module);
    return 0;
}
