/* stack.c — parameters whose address is taken, and alloca. */
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <string.h>

enum { LANES = 32 };

/* A structure of four words by value: one is chosen by an index, another is written. */
static const char by_address[] = PTX_HEADER
    ".func (.param .b32 r) f(.param .b32 i, .param .align 4 .b8 s[16])\n{\n.reg .b32 %r<8>;\n"
    ".reg .b64 %l<8>;\nmov.b64 %l0, s;\nld.param.u32 %r0, [i];\nmul.wide.u32 %l1, %r0, 4;\n"
    "add.u64 %l2, %l0, %l1;\nld.param.u32 %r1, [%l2];\n"
    "cvta.local.u64 %l3, %l0;\nst.u32 [%l3+4], 1000;\nld.param.u32 %r2, [s+4];\n"
    "ld.local.u32 %r3, [%l0+12];\n"
    "add.u32 %r1, %r1, %r2;\nadd.u32 %r1, %r1, %r3;\nst.param.b32 [r], %r1;\nret;\n}\n"
    ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<8>;\n.reg .b64 %l<4>;\n"
    "ld.param.u64 %l0, [out];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %l1, %r0, 4;\n"
    "add.u64 %l0, %l0, %l1;\nand.b32 %r1, %r0, 3;\nadd.u32 %r2, %r0, 10;\nadd.u32 %r3, %r0, 30;\n"
    "add.u32 %r4, %r0, 40;\n{\n.param .b32 a;\n.param .align 4 .b8 b[16];\n.param .b32 c;\n"
    "st.param.b32 [a], %r1;\nst.param.b32 [b], %r2;\nst.param.b32 [b+4], %r2;\n"
    "st.param.b32 [b+8], %r3;\nst.param.b32 [b+12], %r4;\ncall (c), f, (a, b);\n"
    "ld.param.b32 %r5, [c];\n}\nst.global.u32 [%l0], %r5;\nret;\n}\n";

Test(emu_stack, a_function_takes_the_address_of_its_parameter)
{
    struct emu *emu = open_emu();
    struct emu_kernel *kernel = load_kernel(emu, by_address, "k");
    uint32_t got[LANES];
    emu_addr out = device_copy(emu, NULL, sizeof got);
    cr_assert(!launch(emu, kernel, 1, LANES, 0, 1, &out), "%s", emu_message(emu));
    emu_read(emu, got, out, sizeof got);
    for (uint32_t t = 0; t < LANES; t++) {
        uint32_t words[] = {t + 10, t + 10, t + 30, t + 40}, want = words[t % 4] + 1000 + t + 40;
        cr_expect(got[t] == want, "thread %u: got %u, want %u", t, got[t], want);
    }
    emu_close(emu);
}

/* Each lane allocates a different size, twice. In between, the stack is restored. */
#define ALLOCA(bytes)                                                                              \
    PTX_KERNEL("k", "ld.global.u32 %r0, [%in];\ncvt.u64.u32 %l0, %r0;\nstacksave.u64 %l5;\n"       \
                    "alloca.u64 %l1, " bytes ", 8;\nst.local.u32 [%l1], %r0;\n"                    \
                    "alloca.u64 %l2, %l0, 16;\nst.local.u32 [%l2], 7;\n"                           \
                    "ld.local.u32 %r1, [%l1];\nstackrestore.u64 %l5;\n"                            \
                    "alloca.u64 %l3, 8, 8;\ncvta.local.u64 %l3, %l3;\nst.u32 [%l3+4], 5;\n"        \
                    "ld.u32 %r2, [%l3+4];\nadd.u32 %r1, %r1, %r2;\nsub.u64 %l4, %l2, %l1;\n"       \
                    "setp.lt.u64 %p0, %l4, %l0;\n@%p0 mov.u32 %r1, 0;\n"                           \
                    "st.global.u32 [%out], %r1;\nret;\n")

Test(emu_stack, alloca_gives_every_lane_its_own)
{
    struct emu *emu = open_emu();
    uint32_t in[2 * LANES], out[2 * LANES];
    for (uint32_t t = 0; t < 2 * LANES; t++) in[t] = 4 + t * 5 % 90;
    run_kernel(emu, ALLOCA("%l0"), 2 * LANES, LANES, out, in);
    for (uint32_t t = 0; t < 2 * LANES; t++)
        cr_expect(out[t] == in[t] + 5, "thread %u: got %u, want %u", t, out[t], in[t] + 5);
    emu_close(emu);
}

Test(emu_stack, too_much_is_a_fault)
{
    struct emu *emu = open_emu();
    struct emu_kernel *kernel = load_kernel(emu, ALLOCA("1000000"), "k");
    uint32_t in[LANES] = {0};
    emu_addr words = device_copy(emu, in, sizeof in);
    int e = launch(emu, kernel, 1, LANES, 0, 2, (uint64_t[]){words, words});
    cr_expect(e == EMU_ILLEGAL_ADDRESS, "error %d", e);
    cr_expect(strstr(emu_message(emu), "stack overflow: alloca of 1000000 bytes"), "%s",
              emu_message(emu));
    emu_close(emu);
}
