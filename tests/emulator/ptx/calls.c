/* calls.c — calls that do not fit the function, which nvcc does not write. Those that fit:
 * test_device_code_part.c. */
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <string.h>

#define FUNCTION                                                                                   \
    PTX_HEADER ".func (.param .b64 r) f(.param .b64 x)\n{\n.reg .b64 %l<2>;\n"                     \
               "ld.param.b64 %l0, [x];\nst.param.b64 [r], %l0;\nret;\n}\n"
#define CALL(declarations)                                                                         \
    FUNCTION ".visible .entry k()\n{\n.reg .b64 %l<2>;\n{\n" declarations                          \
             "call.uni (b), f, (a);\n}\nret;\n}\n"

static const struct {
    const char *name, *text, *says;
} misfits[] = {
    {"argument too small", CALL(".param .b32 a;\n.param .b64 b;\n"),
     "argument 0 of 'f' has 4 bytes"},
    {"result too small", CALL(".param .b64 a;\n.param .b32 b;\n"), "the result of 'f' has 8 bytes"},
    {"argument that is no parameter", CALL(".param .b64 b;\n.local .b64 a;\n"),
     "not a .param variable"},
    {"argument too many",
     FUNCTION
     ".visible .entry k()\n{\n{\n.param .b64 a;\n.param .b64 b;\ncall f, (a, b);\n}\nret;\n}\n",
     "2 arguments for the 1 parameters of 'f'"},
};

Test(emu_calls, that_do_not_fit_are_refused)
{
    struct emu *emu = open_emu();
    for (size_t i = 0; i < sizeof misfits / sizeof *misfits; i++) {
        struct emu_module *module;
        struct emu_kernel *kernel;
        int e = emu_load(emu, misfits[i].text, strlen(misfits[i].text), "k.ptx", &module);
        if (!e) e = emu_kernel(emu, module, "k", &kernel);
        const char *message = emu_message(emu);
        cr_expect(e == EMU_INVALID_PTX || e == EMU_UNSUPPORTED_PTX, "%s: error %d", misfits[i].name,
                  e);
        cr_expect(strstr(message, misfits[i].says) && strstr(message, "line "), "%s: %s",
                  misfits[i].name, message);
    }
    emu_close(emu);
}

/* For a call by pointer the error shows only when the kernel runs: the function is only declared,
 * or the address is not that of a function. */
static const char *const addresses[] = {"mov.u64 %l0, g;\n", "mov.u64 %l0, 12345;\n"};

Test(emu_calls, of_no_function_are_faults)
{
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        char text[600];
        snprintf(text, sizeof text,
                 PTX_HEADER
                 ".extern .func g();\n.visible .entry k()\n{\n.reg .b64 %%l<2>;\n%s"
                 "prototype: .callprototype ()_ ();\ncall %%l0, (), prototype;\nret;\n}\n",
                 addresses[i]);
        struct emu *emu = open_emu();
        struct emu_kernel *kernel = load_kernel(emu, text, "k");
        int e = launch(emu, kernel, 1, 32, 0, 0, NULL);
        const char *message = emu_message(emu);
        cr_expect(e == EMU_LAUNCH_FAILURE, "%zu: error %d", i, e);
        cr_expect(strstr(message, "where no function is"), "%zu: %s", i, message);
        emu_close(emu);
    }
}

/* ---- parameters of every size, and a structure whose elements lie in the middle of its words. The
 * lanes' values differ, and only the lanes in `callers` call. ---- */

enum { THREADS = 64 };

static const char all_sizes[] = PTX_HEADER
    ".func (.param .align 4 .b8 r[12]) f(.param .b8 a, .param .b8 b, .param .b16 c, .param .b32 "
    "d,\n"
    "    .param .b64 e, .param .align 8 .b8 s[24])\n{\n"
    ".reg .b16 %h<4>;\n.reg .b32 %r<9>;\n.reg .b64 %l<3>;\n"
    "ld.param.u8 %h0, [a];\nld.param.s8 %h1, [b];\nld.param.u16 %h2, [c];\nld.param.u32 %r0, [d];\n"
    "ld.param.u64 %l0, [e];\nld.param.v2.u32 {%r1, %r2}, [s];\nld.param.s16 %r3, [s+10];\n"
    "ld.param.u8 %r4, [s+13];\nld.param.u64 %l1, [s+16];\n"
    "cvt.u32.u16 %r5, %h0;\ncvt.s32.s16 %r6, %h1;\ncvt.u32.u16 %r7, %h2;\n"
    "add.u32 %r5, %r5, %r6;\nadd.u32 %r5, %r5, %r7;\nadd.u32 %r5, %r5, %r0;\n"
    "xor.b32 %r1, %r1, %r2;\nadd.u32 %r1, %r1, %r3;\nadd.u32 %r1, %r1, %r4;\n"
    "add.u64 %l0, %l0, %l1;\ncvt.u32.u64 %r8, %l0;\nshr.u64 %l0, %l0, 32;\ncvt.u32.u64 %r3, %l0;\n"
    "add.u32 %r8, %r8, %r3;\n"
    "st.param.u32 [r], %r5;\nst.param.v2.u32 [r+4], {%r1, %r8};\nret;\n}\n"
    ".visible .entry k(.param .u64 p_out)\n{\n"
    ".reg .b32 %r<9>;\n.reg .b64 %l<5>;\n.reg .b16 %h<2>;\n.reg .pred %p;\n"
    "mov.u32 %r0, %tid.x;\nmul.wide.u32 %l0, %r0, 12;\nld.param.u64 %l1, [p_out];\n"
    "add.u64 %l0, %l0, %l1;\nmul.lo.u32 %r1, %r0, 2654435761;\ncvt.u64.u32 %l2, %r1;\n"
    "mul.lo.u64 %l2, %l2, 6364136223846793005;\ncvt.u16.u32 %h0, %r1;\n"
    "and.b32 %r2, %r0, 1;\nsetp.eq.u32 %p, %r2, 1;\n@%p bra CALL;\nsetp.lt.u32 %p, %r0, 32;\n"
    "@!%p bra END;\nCALL:\n{\n"
    ".param .b8 a;\n.param .b8 b;\n.param .b16 c;\n.param .b32 d;\n.param .b64 e;\n"
    ".param .align 8 .b8 s[24];\n.param .align 4 .b8 r[12];\n"
    "st.param.u8 [a], %h0;\nst.param.b8 [b], %r1;\nst.param.b16 [c], %h0;\nst.param.b32 [d], %r1;\n"
    "st.param.b64 [e], %l2;\nst.param.v2.u32 [s], {%r0, %r1};\nst.param.b64 [s+8], %l2;\n"
    "st.param.b64 [s+16], %l2;\n"
    "call.uni (r), f, (a, b, c, d, e, s);\nld.param.u32 %r3, [r];\nld.param.v2.u32 {%r4, %r5}, "
    "[r+4];\n}\nst.global.u32 [%l0], %r3;\nst.global.u32 [%l0+4], %r4;\n"
    "st.global.u32 [%l0+8], %r5;\nEND:\nret;\n}\n";

/* What the function returns to a thread. */
static void expected(uint32_t thread, uint32_t *result)
{
    uint32_t x = thread * 2654435761u;
    uint64_t y = x * UINT64_C(6364136223846793005), z = 2 * y;
    result[0] = (uint32_t)(uint8_t)x + (uint32_t)(int8_t)x + (uint16_t)x + x;
    result[1] = (thread ^ x) + (uint32_t)(int16_t)(y >> 16) + (uint8_t)(y >> 40);
    result[2] = (uint32_t)z + (uint32_t)(z >> 32);
}

/* Of the second warp only the odd lanes call. */
Test(emu_calls, pass_parameters_of_every_size_and_offset)
{
    struct emu *emu = open_emu();
    struct emu_kernel *kernel = load_kernel(emu, all_sizes, "k");
    uint32_t results[THREADS][3];
    uint64_t out = device_copy(emu, NULL, sizeof results);
    cr_assert(!launch(emu, kernel, 1, THREADS, 0, 1, &out), "%s", emu_message(emu));
    cr_assert(!emu_read(emu, results, out, sizeof results));
    for (uint32_t t = 0; t < THREADS; t++) {
        uint32_t right[3] = {0};
        if (t < 32 || t % 2) expected(t, right);
        cr_expect(!memcmp(results[t], right, sizeof right),
                  "thread %u: %08x %08x %08x, not %08x "
                  "%08x %08x",
                  t, results[t][0], results[t][1], results[t][2], right[0], right[1], right[2]);
    }
    emu_close(emu);
}
