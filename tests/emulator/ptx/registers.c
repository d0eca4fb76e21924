/* registers.c — the number of registers that the emulator reports for a thread: the most that are
 * in use at a time. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

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
