/*
 * cubin.c — fuzzes the reader of machine code: the first byte is the architecture, the others are a
 * cubin, with which the kernel below is compared. nvcc makes the seeds from seeds/cubin.cu, whose
 * lines are the comments below.
 */
#include "fuzz.h"

#include "common/tools/emu/emu.h"

#include <string.h>

static const char ptx[] =
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
    static struct emu *emu;
    struct emu_module *module;
    struct emu_kernel *kernel;
    char message[200];
    struct emu_config config = {.threads = 1, .memory = 1 << 20};
    if (emu == NULL) emu = emu_open(&config, message, sizeof message);
    if (emu == NULL || size == 0 || emu_load(emu, ptx, strlen(ptx), "fuzz", &module) != 0) return 0;
    emu_machine_code(emu, module, data + 1, size - 1, data[0]);
    if (emu_kernel(emu, module, "k", &kernel) == 0) emu_agreement(emu, kernel);
    emu_unload(emu, module);
    return 0;
}
