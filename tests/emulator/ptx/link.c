/* link.c — several PTX texts as one module, as nvcc -rdc=true makes them; and lazy reading. */
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <string.h>

/* Links up to three texts. */
static int try_link(struct emu *emu, const char *a, const char *b, const char *c,
                    struct emu_module **module)
{
    const char *texts[] = {a, b, c}, *names[] = {"a.ptx", "b.ptx", "c.ptx"};
    struct emu_ptx parts[3];
    size_t count = 0;
    for (; count < 3 && texts[count]; count++)
        parts[count] = (struct emu_ptx){texts[count], strlen(texts[count]), names[count], false};
    return emu_link(emu, parts, count, module);
}

#define KERNEL(body)                                                                               \
    ".visible .entry k(.param .u64 out)\n{\n.reg .b64 %l<8>;\n.reg .b32 %r<8>;\n"                  \
    "ld.param.u64 %l0, [out];\n" body "st.global.u32 [%l0], %r0;\nret;\n}\n"
#define FUNCTION(linkage, name, value)                                                             \
    linkage " .func (.param .b32 r) " name "()\n{\n.reg .b32 %r<2>;\nmov.u32 %r0, " value ";\n"    \
            "st.param.b32 [r], %r0;\nret;\n}\n"
#define DECLARED(name) ".extern .func (.param .b32 r) " name "();\n"
#define CALL(name)     "{\n.param .b32 a;\ncall (a), " name ";\nld.param.b32 %r0, [a];\n}\n"
#define LOAD(name)     "ld.global.u32 %r0, [" name "];\n"

static const struct {
    const char *name, *a, *b, *c;
    uint32_t want;
} linked[] = {
    {"a function of another text", PTX_HEADER DECLARED("f") KERNEL(CALL("f")),
     PTX_HEADER FUNCTION(".visible", "f", "7"), NULL, 7},
    {"the definition may come first", PTX_HEADER FUNCTION(".visible", "f", "8"),
     PTX_HEADER DECLARED("f") KERNEL(CALL("f")), NULL, 8},
    {"a variable of another text", PTX_HEADER ".extern .global .u32 v;\n" KERNEL(LOAD("v")),
     PTX_HEADER ".visible .global .u32 v = 9;\n", NULL, 9},
    {"private names are each text's own",
     PTX_HEADER ".global .u32 v = 1;\n" FUNCTION("", "f", "1") KERNEL(LOAD("v")),
     PTX_HEADER ".global .u32 v = 2;\n" FUNCTION("", "f", "2"), NULL, 1},
    {"a private function goes before a shared one", PTX_HEADER FUNCTION(".visible", "f", "1"),
     PTX_HEADER FUNCTION("", "f", "2") KERNEL(CALL("f")), NULL, 2},
    {"of weak definitions the first", PTX_HEADER ".weak .global .u32 v = 1;\n",
     PTX_HEADER ".weak .global .u32 v = 2;\n",
     PTX_HEADER ".extern .global .u32 v;\n" KERNEL(LOAD("v")), 1},
    {"weak ones are one variable",
     PTX_HEADER ".weak .global .u32 v = 1;\n" DECLARED("f") KERNEL(CALL("f")),
     PTX_HEADER ".weak .global .u32 v = 2;\n.visible .func (.param .b32 r) f()\n{\n"
                ".reg .b32 %r<2>;\nld.global.u32 %r0, [v];\nst.param.b32 [r], %r0;\nret;\n}\n",
     NULL, 1},
    {"a strong definition goes before a weak one", PTX_HEADER FUNCTION(".weak", "f", "1"),
     PTX_HEADER FUNCTION(".visible", "f", "2"), PTX_HEADER DECLARED("f") KERNEL(CALL("f")), 2},
    {"of common ones the largest", PTX_HEADER ".common .global .u32 v[1];\n",
     PTX_HEADER ".common .global .u32 v[4];\n",
     PTX_HEADER ".extern .global .u32 v[4];\n" KERNEL("ld.global.u32 %r0, [v+12];\n"), 0},
    {"a pointer to a function of another text",
     PTX_HEADER DECLARED("f") ".global .u64 p = f;\n" KERNEL(
         "ld.global.u64 %l1, [p];\n{\n.param .b32 a;\n"
         "proto: .callprototype (.param .b32 _) _ ();\ncall (a), %l1, (), proto;\n"
         "ld.param.b32 %r0, [a];\n}\n"),
     PTX_HEADER FUNCTION(".visible", "f", "5"), NULL, 5},
    {"the address of a variable of another text",
     PTX_HEADER ".extern .global .u32 v[2];\n.global .u64 p = generic(v)+4;\n" KERNEL(
         "ld.global.u64 %l1, [p];\nld.u32 %r0, [%l1];\n"),
     PTX_HEADER ".visible .global .u32 v[2] = {1, 3};\n", NULL, 3},
    {"declared, then defined, in one text",
     PTX_HEADER ".visible .func (.param .b32 r) f();\n" KERNEL(CALL("f"))
         FUNCTION(".visible", "f", "6"),
     PTX_HEADER DECLARED("f"), NULL, 6},
};

Test(emu_link, names_across_texts)
{
    for (size_t i = 0; i < sizeof linked / sizeof *linked; i++) {
        struct emu *emu = open_emu();
        struct emu_module *module;
        struct emu_kernel *kernel;
        uint32_t got = 0;
        int e = try_link(emu, linked[i].a, linked[i].b, linked[i].c, &module);
        if (!e) e = emu_kernel(emu, module, "k", &kernel);
        emu_addr out = device_copy(emu, NULL, sizeof got);
        if (!e) e = launch(emu, kernel, 1, 1, 0, 1, &out);
        cr_assert(!e, "%s: error %d: %s", linked[i].name, e, emu_message(emu));
        emu_read(emu, &got, out, sizeof got);
        cr_expect(got == linked[i].want, "%s: got %u", linked[i].name, got);
        emu_close(emu);
    }
}

static const struct {
    const char *name, *a, *b, *says;
} refused[] = {
    {"two definitions of a function", PTX_HEADER FUNCTION(".visible", "f", "1"),
     PTX_HEADER FUNCTION(".visible", "f", "2"),
     "b.ptx, line 4: function 'f' is defined a second time (first in a.ptx, line 4)"},
    {"two definitions of a variable", PTX_HEADER ".visible .global .u32 v;\n",
     PTX_HEADER "\n.visible .global .u32 v;\n",
     "b.ptx, line 5: variable 'v' is defined a second time (first in a.ptx, line 4)"},
    {"a function that nobody defines", PTX_HEADER DECLARED("f") KERNEL(CALL("f")), PTX_HEADER,
     "function 'f' is defined elsewhere"},
    {"a variable that nobody defines", PTX_HEADER ".extern .global .u32 v;\n" KERNEL(LOAD("v")),
     PTX_HEADER, "no object of the program defines it"},
    {"another text's private function", PTX_HEADER DECLARED("f") KERNEL(CALL("f")),
     PTX_HEADER FUNCTION("", "f", "1"), "function 'f' is defined elsewhere"},
    {"a function here, a variable there", PTX_HEADER ".visible .global .u32 f;\n",
     PTX_HEADER FUNCTION(".visible", "f", "1"), "'f' is a function here, and something else in"},
    {"the address of nothing", PTX_HEADER ".extern .global .u32 v;\n.global .u64 p = v;\n",
     PTX_HEADER, "has the address of 'v', which is defined nowhere"},
};

Test(emu_link, what_does_not_fit_is_refused)
{
    struct emu *emu = open_emu();
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct emu_module *module;
        struct emu_kernel *kernel;
        int e = try_link(emu, refused[i].a, refused[i].b, NULL, &module);
        if (!e) e = emu_kernel(emu, module, "k", &kernel);
        const char *message = emu_message(emu);
        cr_expect(e == EMU_INVALID_PTX || e == EMU_SYMBOL_NOT_FOUND, "%s: error %d",
                  refused[i].name, e);
        cr_expect(strstr(message, refused[i].says), "%s: %s", refused[i].name, message);
    }
    emu_close(emu);
}

/* The numbers of source files start again in each text. */
Test(emu_link, source_lines_are_those_of_their_text)
{
    static const char first[] =
        PTX_HEADER DECLARED("f") KERNEL(".loc 1 5 0\n" CALL("f")) "\t.file\t1 \"first.cu\"\n";
    static const char second[] =
        PTX_HEADER ".visible .func (.param .b32 r) f()\n{\n.loc 1 77 0\ntrap;\n}\n"
                   "\t.file\t1 \"second.cu\"\n";
    struct emu *emu = open_emu();
    struct emu_module *module;
    struct emu_kernel *kernel;
    cr_assert(!try_link(emu, first, second, NULL, &module), "%s", emu_message(emu));
    cr_assert(!emu_kernel(emu, module, "k", &kernel), "%s", emu_message(emu));
    emu_addr out = device_copy(emu, NULL, 4);
    cr_assert(launch(emu, kernel, 1, 1, 0, 1, &out) == EMU_LAUNCH_FAILURE);
    cr_expect(strstr(emu_message(emu), "second.cu:77"), "%s", emu_message(emu));
    emu_close(emu);
}

/* ---- reading when needed --------------------------------------------------------------------- */

Test(emu_link, a_body_is_read_when_it_is_run)
{
    static const char text[] = PTX_HEADER
        ".visible .entry bad()\n{\n.reg .b32 %r<2>;\n// a brace in a comment: }\n/* and { here */\n"
        ".pragma \"and } here\";\n{ { mov.u32 %r0, what is this } }\n}\n"
        ".visible .entry k()\n{\nret;\n}\n";
    struct emu *emu = open_emu();
    struct emu_module *module;
    struct emu_kernel *kernel;
    cr_assert(!try_link(emu, text, NULL, NULL, &module), "%s", emu_message(emu));
    cr_assert(!emu_kernel(emu, module, "k", &kernel), "%s", emu_message(emu));
    cr_expect(!launch(emu, kernel, 1, 32, 0, 0, NULL), "%s", emu_message(emu));
    for (int again = 0; again < 2; again++) {
        cr_expect(emu_kernel(emu, module, "bad", &kernel) == EMU_INVALID_PTX);
        cr_expect(strstr(emu_message(emu), "a.ptx, line 10: "), "%s", emu_message(emu));
    }
    emu_close(emu);
}
