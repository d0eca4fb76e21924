/* calls.c — calls that do not fit the function, which nvcc does not write. Those that fit:
 * test_device_code.c. */
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
