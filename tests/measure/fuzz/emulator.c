/*
 * emulator.c — fuzzes what the emulator reads: the containers that hold PTX, their compression, the
 * text itself, and machine code.
 */
#include "fuzz.h"

#include "common/tools/emu/emu.h"
#include "common/tools/emu/ptx/binary.h"
#include "common/tools/emu/ptx/insn.h"

#include <stdlib.h>
#include <string.h>

/* ---- containers ------------------------------------------------------------------------------ */

/* The bytes are a container. */
int fuzz_fatbin(const uint8_t *data, size_t size)
{
    struct fatbin_ptx ptx;
    char message[300];
    if (fatbin_extract(data, size, 90, &ptx, message, sizeof message) == 0) free(ptx.text);
    struct fatbin_code code;
    if (fatbin_machine_code(data, size, 90, &code)) free(code.allocated);
    return 0;
}

/* A valid container is put around the bytes, so that only the compressed bytes can be wrong. The
 * first byte chooses LZ4 or zstd, the next three say how long the text claims to be. */
enum {
    CHOICE = 4,
    CONTAINER = 16,
    ENTRY = 64,
    KIND_PTX = 1,
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000
};

static void put(uint8_t *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) at[i] = (uint8_t)(value >> 8 * i);
}

int fuzz_unpack(const uint8_t *data, size_t size)
{
    if (size < CHOICE) return 0;
    uint64_t claimed = data[1] | (uint64_t)data[2] << 8 | (uint64_t)data[3] << 16;
    size_t packed = size - CHOICE, total = CONTAINER + ENTRY + packed;
    uint8_t *fatbin = calloc(1, total);
    if (fatbin == NULL) return 0;
    put(fatbin, 0xBA55ED50, 4);
    put(fatbin + 6, CONTAINER, 2);
    put(fatbin + 8, ENTRY + packed, 8);
    uint8_t *entry = fatbin + CONTAINER;
    put(entry, KIND_PTX, 2);
    put(entry + 4, ENTRY, 4);
    put(entry + 8, packed, 8);
    put(entry + 16, packed, 4);
    put(entry + 28, 90, 4);
    put(entry + 40, data[0] & 1 ? FLAG_ZSTD : FLAG_LZ4, 8);
    put(entry + 56, claimed, 8);
    if (packed > 0) memcpy(entry + ENTRY, data + CHOICE, packed);
    fuzz_fatbin(fatbin, total);
    free(fatbin);
    return 0;
}

/* ---- PTX ------------------------------------------------------------------------------------- */

/* The bytes are a text, and every kernel of it is decoded. A kernel without loops and calls is also
 * run, which must not access memory outside its registers. Such a run ends by itself. */
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

/* ---- machine code ---------------------------------------------------------------------------- */

/* The first byte is the architecture, the others are a cubin, with which the kernel below is
 * compared. nvcc makes the seeds from CUBIN of seeds.py, whose lines are the comments below. */
static const char cubin_ptx[] =
    ".version 9.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 p) {\n"
    ".reg .f32 %f<6>;\n.reg .b32 %r<7>;\n.reg .b64 %rd<5>;\n.shared .align 4 .b8 words[256];\n"
    ".loc 1 4 5\n" /* words[threadIdx.x] = p[threadIdx.x]; */
    "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 4;\n"
    "add.s64 %rd4, %rd1, %rd3;\nld.global.f32 %f1, [%rd4];\nshl.b32 %r2, %r1, 2;\n"
    "mov.u32 %r3, words;\nadd.s32 %r4, %r3, %r2;\nst.shared.f32 [%r4], %f1;\n"
    ".loc 1 5 5\nbar.sync 0;\n"
    ".loc 1 6 5\n" /* p[threadIdx.x] = words[2 * threadIdx.x] + */
    "shl.b32 %r5, %r1, 3;\nadd.s32 %r6, %r3, %r5;\nld.shared.f32 %f2, [%r6];\n"
    ".loc 1 7 22\n" /* words[2 * threadIdx.x + 1]; */
    "ld.shared.f32 %f3, [%r6+4];\nadd.f32 %f4, %f2, %f3;\n"
    ".loc 1 6 5\nst.global.f32 [%rd4], %f4;\n"
    ".loc 1 8 5\nred.global.add.f32 [%rd1], 0f3F800000;\n"
    "ret;\n}\n.file 1 \"cubin.cu\"\n";

int fuzz_cubin(const uint8_t *data, size_t size)
{
    static struct emu *coder; /* counts nothing */
    struct emu_module *module;
    struct emu_kernel *kernel;
    char message[200];
    struct emu_config config = {.threads = 1, .memory = 1 << 20};
    if (coder == NULL) coder = emu_open(&config, message, sizeof message);
    if (coder == NULL || size == 0) return 0;
    if (emu_load(coder, cubin_ptx, strlen(cubin_ptx), "fuzz", &module) != 0) return 0;
    emu_machine_code(coder, module, data + 1, size - 1, data[0]);
    if (emu_kernel(coder, module, "k", &kernel) == 0) emu_agreement(coder, kernel);
    emu_unload(coder, module);
    return 0;
}
