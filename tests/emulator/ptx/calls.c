/*
 * calls.c — calls, the stack, and registers.
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "ptx_run.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- parameters whose address is taken, and alloca ------------------------------------------- */

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

/* ---- the number of registers that the emulator reports for a thread -------------------------- */

/*
 * The number of registers that the emulator reports for a thread: the most that are
 * in use at a time.
 */

enum { OVERHEAD = 4, MAXIMUM = 255 }; /* ptxas uses 4 itself; a thread has at most 255 */

static unsigned registers_of(const char *body)
{
    struct emu *emu = open_emu();
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fprintf(out,
            PTX_HEADER ".visible .entry k(.param .u64 p) {\n.reg .pred %%p<4>;\n"
                       ".reg .b32 %%r<400>;\n.reg .b64 %%l<8>;\n.reg .b128 %%q<2>;\n%sret;\n}\n",
            body);
    fclose(out);
    unsigned registers = emu_kernel_info(load_kernel(emu, text, "k"))->registers;
    emu_close(emu);
    free(text);
    return registers;
}

/* `count` values are loaded, and all of them are stored afterwards. */
static unsigned registers_of_values(unsigned count)
{
    char *body;
    size_t size;
    FILE *out = open_memstream(&body, &size);
    for (unsigned i = 0; i < count; i++) fprintf(out, "mov.u32 %%r%u, %%tid.x;\n", i);
    for (unsigned i = 0; i < count; i++) fprintf(out, "st.local.u32 [0], %%r%u;\n", i);
    fclose(out);
    unsigned registers = registers_of(body);
    free(body);
    return registers;
}

Test(emu_stack, registers_that_are_in_use_at_a_time)
{
    static const struct {
        const char *body;
        unsigned registers;
    } cases[] = {
        {"", 0},
        {"mov.u32 %r1, 1;\n", 1},
        /* each value is used by the next instruction, and no more */
        {"mov.u32 %r1, 1;\nadd.u32 %r2, %r1, 1;\nadd.u32 %r3, %r2, 1;\nadd.u32 %r4, %r3, 1;\n", 2},
        /* the address is in use from the first instruction to the last */
        {"ld.param.u64 %l1, [p];\nmov.u32 %r1, %tid.x;\nadd.u32 %r2, %r1, 1;\n"
         "mul.lo.u32 %r3, %r1, %r2;\nst.global.u32 [%l1+4], %r3;\n",
         5},
        {"mov.u64 %l1, 1;\nmov.u64 %l2, 2;\nadd.u64 %l3, %l1, %l2;\nmov.u32 %r1, 1;\n", 6},
        {"mov.u32 %r1, 1;\nmov.u32 %r2, 1;\nmov.u32 %r3, 1;\nmov.u32 %r4, 1;\n"
         "st.local.v4.u32 [0], {%r1, %r2, %r3, %r4};\nmov.u32 %r5, 1;\nmov.u32 %r6, %r5;\n",
         4},
        {"mov.u64 %l1, 1;\nmov.u64 %l2, 2;\nmov.b128 %q1, {%l1, %l2};\n", 8},
        {"mov.u32 %r1, 1;\nsetp.eq.u32 %p1, %r1, 0;\nmov.u32 %r2, 1;\nmov.u32 %r3, %r2;\n", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(registers_of(cases[i].body), cases[i].registers + OVERHEAD, "%s: %u",
                     cases[i].body, registers_of(cases[i].body));
}

Test(emu_stack, registers_are_at_most_as_many_as_a_gpu_has)
{
    static const unsigned counts[] = {1, 100, 249, 250, 251, 252, 390};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        unsigned want = counts[i] + OVERHEAD < MAXIMUM ? counts[i] + OVERHEAD : MAXIMUM;
        cr_expect_eq(registers_of_values(counts[i]), want, "%u values", counts[i]);
    }
}

/* ---- calls that do not fit the function, which nvcc does not write --------------------------- */

/*
 * Those that fit: test_device_code.c.
 */

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
