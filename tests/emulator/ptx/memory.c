/*
 * memory.c — loads and stores of every width in every space, in every form of PTX; accesses at the
 * edges of an allocation; and the memory calls of emu.h.
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 64 };

/* ---- parameters, constants, variables -------------------------------------------------------- */

static const char variables[] = PTX_HEADER
    ".const .align 8 .b8 table[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9};\n"
    ".const .align 4 .u32 words[4] = {0x11111111, 22, 33};\n"
    ".global .align 4 .f32 scale = 0f40200000;\n"
    ".global .align 4 .s32 numbers[3] = {-1, -2, -3};\n"
    ".global .align 8 .u64 where = generic(numbers);\n"
    ".visible .global .align 4 .b8 zeros[64];\n"
    ".visible .entry k(.param .u64 p_out, .param .align 8 .b8 p[24], .param .u8 p_byte,\n"
    ".param .s16 p_short, .param .f32 p_float, .param .f64 p_double) {\n"
    ".reg .b16 %h<4>;\n.reg .b32 %r<16>;\n.reg .f32 %f<4>;\n.reg .b64 %l<8>;\n"
    ".reg .f64 %d<2>;\n"
    "ld.param.u64 %l0, [p_out];\n"
    "ld.param.u32 %r0, p[4];\nst.global.u32 [%l0], %r0;\n"
    "ld.param.v2.u16 {%h0, %h1}, [p+8];\ncvt.u32.u16 %r1, %h1;\n"
    "st.global.u32 [%l0+4], %r1;\n"
    "mov.b64 %l1, p;\nld.param.u32 %r2, [%l1+12];\nst.global.u32 [%l0+8], %r2;\n"
    "cvta.param.u64 %l2, %l1;\nld.u32 %r3, [%l2+16];\nst.global.u32 [%l0+12], %r3;\n"
    "ld.param.u8 %r4, [p_byte];\nst.global.u32 [%l0+16], %r4;\n"
    "ld.param.s16 %r5, [p_short];\nst.global.u32 [%l0+20], %r5;\n"
    "ld.param.f32 %f0, [p_float];\nst.global.f32 [%l0+24], %f0;\n"
    "ld.param.f64 %d0, [p_double];\ncvt.rn.f32.f64 %f1, %d0;\n"
    "st.global.f32 [%l0+28], %f1;\n"
    "ld.const.u8 %r6, [table+8];\nst.global.u32 [%l0+32], %r6;\n"
    "mov.u64 %l3, words;\nld.const.u32 %r7, [%l3+4];\nst.global.u32 [%l0+36], %r7;\n"
    "cvta.const.u64 %l3, %l3;\nld.u32 %r8, [%l3];\nst.global.u32 [%l0+40], %r8;\n"
    "ld.global.f32 %f2, [scale];\nst.global.f32 [%l0+44], %f2;\n"
    "ld.global.u64 %l4, [where];\nld.u32 %r9, [%l4+8];\nst.global.u32 [%l0+48], %r9;\n"
    "ld.const.u32 %r10, [words+12];\nst.global.u32 [%l0+52], %r10;\n"
    "ld.global.u32 %r11, [zeros+60];\nst.global.u32 [%l0+56], %r11;\nret;\n}\n";

Test(emu_memory, parameters_constants_and_variables)
{
    struct emu *emu = open_emu();
    struct emu_kernel *kernel = load_kernel(emu, variables, "k");
    emu_addr out = device_copy(emu, NULL, 64);
    uint32_t structure[6] = {1, 2, 0xbeef0007, 4, 5, 6};
    uint8_t byte = 200;
    int16_t half = -300;
    float single = 1.25f;
    double real = -0.5;
    void *args[] = {&out, structure, &byte, &half, &single, &real};
    struct emu_dim one = {1, 1, 1};

    const struct emu_kernel_info *info = emu_kernel_info(kernel);
    cr_expect(info->params == 6);
    static const unsigned offsets[] = {0, 8, 32, 34, 36, 40}, sizes[] = {8, 24, 1, 2, 4, 8};
    for (unsigned i = 0; i < 6 && info->params == 6; i++)
        cr_expect(info->param_offset[i] == offsets[i] && info->param_size[i] == sizes[i],
                  "parameter %u lies at %u and has %u bytes", i, info->param_offset[i],
                  info->param_size[i]);

    cr_assert(!emu_launch(emu, kernel, one, one, 0, args, false), "%s", emu_message(emu));
    static const uint32_t want[15] = {
        2,          0xbeef, 4,  5,          200,        (uint32_t)-300, 0x3fa00000,
        0xbf000000, 9,      22, 0x11111111, 0x40200000, (uint32_t)-3,   0,
        0};
    uint32_t got[16];
    cr_assert(!emu_read(emu, got, out, sizeof got));
    for (int i = 0; i < 15; i++)
        cr_expect(got[i] == want[i], "word %d: got 0x%x, want 0x%x", i, got[i], want[i]);
    emu_close(emu);
}

Test(emu_memory, symbols_are_found_by_name)
{
    struct emu *emu = open_emu();
    struct emu_module *module;
    cr_assert(!emu_load(emu, variables, strlen(variables), "variables.ptx", &module), "%s",
              emu_message(emu));
    emu_addr address = 0;
    size_t bytes = 0;
    cr_assert(!emu_symbol(emu, module, "numbers", &address, &bytes), "%s", emu_message(emu));
    cr_expect(bytes == 12);
    int32_t numbers[3] = {0};
    cr_assert(!emu_read(emu, numbers, address, sizeof numbers), "%s", emu_message(emu));
    cr_expect(numbers[0] == -1 && numbers[1] == -2 && numbers[2] == -3);
    cr_expect(!emu_write(emu, address, &(int32_t){9}, 4), "%s", emu_message(emu));

    cr_assert(!emu_symbol(emu, module, "words", &address, &bytes), "%s", emu_message(emu));
    uint32_t word = 0;
    cr_expect(bytes == 16 && !emu_read(emu, &word, address, 4) && word == 0x11111111);

    cr_expect(emu_symbol(emu, module, "nothing", &address, &bytes) == EMU_SYMBOL_NOT_FOUND);
    cr_expect(strstr(emu_message(emu), "nothing"), "%s", emu_message(emu));
    struct emu_kernel *kernel;
    cr_expect(emu_kernel(emu, module, "nobody", &kernel) == EMU_INVALID_DEVICE_FUNCTION);
    cr_expect(strstr(emu_message(emu), "nobody"), "%s", emu_message(emu));
    emu_close(emu);
}

/* ---- faults ---------------------------------------------------------------------------------- */

/* Those of other addresses are in memory.ptx. */
Test(emu_memory, faults_of_freed_memory_and_of_the_host)
{
    for (int is_host = 0; is_host < 2; is_host++) {
        struct emu *emu = open_emu();
        struct emu_kernel *kernel = load_kernel(
            emu, PTX_KERNEL("k", "ld.global.u32 %r3, [%in];\nret;\n"), "k");
        uint32_t host = 0;
        emu_addr freed = device_copy(emu, NULL, 64);
        cr_assert(!emu_free(emu, freed));
        uint64_t args[] = {0, is_host ? (uintptr_t)&host : freed};
        cr_expect_eq(launch(emu, kernel, 1, 1, 0, 2, args), EMU_ILLEGAL_ADDRESS);
        emu_close(emu);
    }
}

/* ---- the memory calls ------------------------------------------------------------------------ */

Test(emu_memory, allocation)
{
    struct emu *emu = open_emu();
    size_t before, total, now;
    emu_memory_info(emu, &before, &total);
    cr_expect(before <= total && total >= 1 << 20);

    emu_addr a = 0, b = 0, base = 0;
    size_t bytes = 0;
    cr_assert(!emu_alloc(emu, 1000, &a) && !emu_alloc(emu, 1, &b));
    cr_expect(a && b && a % 256 == 0 && b % 256 == 0);
    cr_expect(b >= a + 1000 || a >= b + 1);
    emu_memory_info(emu, &now, &total);
    cr_expect(now < before, "%zu bytes were free, now %zu", before, now);

    uint8_t fresh[1000];
    cr_expect(!emu_read(emu, fresh, a, sizeof fresh));
    for (size_t i = 0; i < sizeof fresh; i++)
        cr_assert(fresh[i] == 0xCD, "byte %zu: %u", i, fresh[i]);

    cr_expect(emu_find(emu, a + 999, &base, &bytes) && base == a && bytes == 1000);
    cr_expect(!emu_find(emu, a + 1000, &base, &bytes));
    cr_expect(emu_is_device(emu, a) && emu_is_device(emu, a + 5000));
    cr_expect(!emu_is_device(emu, 0) && !emu_is_device(emu, (uintptr_t)fresh));

    cr_expect(emu_free(emu, a + 256) == EMU_INVALID_VALUE, "freed from the middle");
    cr_expect(!emu_free(emu, a));
    cr_expect(emu_free(emu, a) == EMU_INVALID_VALUE, "freed twice");
    cr_expect(emu_free(emu, (uintptr_t)fresh) == EMU_INVALID_VALUE, "freed host memory");
    cr_expect(!emu_find(emu, a, &base, &bytes));
    cr_expect(!emu_free(emu, b));
    emu_memory_info(emu, &now, &total);
    cr_expect(now == before, "%zu bytes were free, after freeing all %zu", before, now);

    cr_expect(emu_alloc(emu, total + 1, &a) == EMU_OUT_OF_MEMORY);
    cr_expect(strlen(emu_message(emu)) > 0);
    cr_expect(emu_alloc(emu, SIZE_MAX, &a) == EMU_OUT_OF_MEMORY);
    cr_expect(emu_alloc(emu, SIZE_MAX - 255, &a) == EMU_OUT_OF_MEMORY);
    cr_expect(!emu_alloc(emu, total / 2, &a), "%s", emu_message(emu));
    emu_close(emu);
}

Test(emu_memory, freed_memory_is_used_again)
{
    struct emu *emu = open_emu_with(&(struct emu_config){.threads = 1, .memory = 4 << 20});
    size_t free_bytes, total;
    emu_memory_info(emu, &free_bytes, &total);
    for (int i = 0; i < 100; i++) { /* together far more than the device has */
        emu_addr a, b;
        cr_assert(!emu_alloc(emu, total / 3, &a), "round %d: %s", i, emu_message(emu));
        cr_assert(!emu_alloc(emu, total / 3, &b), "round %d: %s", i, emu_message(emu));
        cr_assert(!emu_free(emu, i % 2 ? a : b) && !emu_free(emu, i % 2 ? b : a));
    }
    emu_close(emu);
}

Test(emu_memory, copies_stay_inside_an_allocation)
{
    struct emu *emu = open_emu();
    uint8_t host[512], back[512];
    for (int i = 0; i < 512; i++) host[i] = (uint8_t)(i * 3);
    emu_addr a = device_copy(emu, host, 256), b = device_copy(emu, NULL, 256);

    cr_expect(emu_write(emu, a, host, 257) == EMU_INVALID_VALUE);
    cr_expect(emu_write(emu, a - 1, host, 4) == EMU_INVALID_VALUE);
    cr_expect(emu_write(emu, a + 255, host, 2) == EMU_INVALID_VALUE);
    cr_expect(emu_write(emu, a, host, SIZE_MAX) == EMU_INVALID_VALUE);
    cr_expect(emu_read(emu, back, a + 1, 256) == EMU_INVALID_VALUE);
    cr_expect(emu_read(emu, back, 0, 1) == EMU_INVALID_VALUE);
    cr_expect(emu_fill(emu, a + 200, 1, 100) == EMU_INVALID_VALUE);
    cr_expect(emu_copy(emu, b, a, 257) == EMU_INVALID_VALUE);
    cr_expect(emu_copy(emu, b + 1, a, 256) == EMU_INVALID_VALUE);
    cr_expect(!emu_read(emu, back, a, 256) && !memcmp(back, host, 256),
              "a refused copy changed it");

    cr_expect(!emu_copy(emu, b + 6, a + 3, 100));
    cr_expect(!emu_read(emu, back, b + 6, 100) && !memcmp(back, host + 3, 100));
    cr_expect(!emu_copy(emu, a + 10, a, 200), "overlapping");
    cr_expect(!emu_read(emu, back, a + 10, 200) && !memcmp(back, host, 200));
    cr_expect(!emu_fill(emu, b, 0xAB, 256) && !emu_read(emu, back, b, 256));
    cr_expect(back[0] == 0xAB && back[255] == 0xAB);
    emu_close(emu);
}

/* Kernels access mapped host memory by its own address, until it is unmapped. */
Test(emu_memory, mapped_host_memory)
{
    struct emu *emu = open_emu();
    uint32_t host[THREADS];
    struct emu_kernel *kernel =
        load_kernel(emu,
                    PTX_KERNEL("k", "ld.global.u32 %r0, [%in];\nadd.u32 %r0, %r0, 5;\n"
                                    "st.global.u32 [%out], %r0;\nret;\n"),
                    "k");
    for (unsigned t = 0; t < THREADS; t++) host[t] = t;
    uint64_t args[] = {(uintptr_t)host, (uintptr_t)host};
    cr_assert(!emu_map_host(emu, host, sizeof host), "%s", emu_message(emu));
    cr_expect(!launch(emu, kernel, 1, THREADS, 0, 2, args), "%s", emu_message(emu));
    for (unsigned t = 0; t < THREADS; t++) cr_expect(host[t] == t + 5);
    cr_expect(!emu_unmap_host(emu, host));
    cr_expect(emu_unmap_host(emu, host) == EMU_INVALID_VALUE);
    cr_expect(launch(emu, kernel, 1, THREADS, 0, 2, args) == EMU_ILLEGAL_ADDRESS);
    cr_expect(host[0] == 5);
    emu_close(emu);
}
