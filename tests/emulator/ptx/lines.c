/* lines.c — to which source lines counts belong, in modules with several functions. */
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <string.h>

#define STORE "ld.param.u64 %l, [p];\ncvta.to.global.u64 %l, %l;\nst.global.u32 [%l], 1;\n"
#define FUNCTION(name, body)                                                                       \
    ".visible .entry " name "(.param .u64 p) {\n.reg .b64 %l;\n" body "ret;\n}\n"
#define FILES ".file 1 \"one.cu\"\n.file 2 \"two.cu\"\n"

/* Launches a kernel of one thread, and returns its record. */
static const struct emu_launch_record *record_of(struct emu *emu, const char *text,
                                                 const char *name)
{
    emu_addr out = device_copy(emu, NULL, 4);
    emu_forget(emu);
    cr_assert(!launch(emu, load_kernel(emu, text, name), 1, 1, 0, 1, (uint64_t[]){out}), "%s",
              emu_message(emu));
    return emu_record(emu, 0);
}

/* Line marks hold until the end of their function, not in the next one. */
Test(emu_lines, of_one_function_are_not_the_next_ones)
{
    static const char text[] = PTX_HEADER FUNCTION("first", ".loc 1 7 3\n" STORE)
        FUNCTION("second", STORE) FUNCTION("third", STORE ".loc 2 9 1\n" STORE) FILES;
    struct emu *emu = open_emu();
    emu_count(emu, true);
    const struct emu_launch_record *r = record_of(emu, text, "first");
    cr_assert_eq(r->line_count, 1);
    cr_expect(!strcmp(r->lines[0].file, "one.cu") && r->lines[0].line == 7);
    cr_expect_eq(r->lines[0].counts.global_st.requests, 1);
    r = record_of(emu, text, "second");
    cr_expect_eq(r->line_count, 0);
    cr_expect_eq(r->total.global_st.requests, 1);
    r = record_of(emu, text, "third");
    cr_assert_eq(r->line_count, 1);
    cr_expect(!strcmp(r->lines[0].file, "two.cu") && r->lines[0].line == 9);
    cr_expect_eq(r->lines[0].counts.global_st.requests, 1);
    cr_expect_eq(r->total.global_st.requests, 2);
    emu_close(emu);
}

/* They are in order of file and line, whatever the order of the marks; a line's marks add up. */
Test(emu_lines, are_in_order)
{
    static const char text[] = PTX_HEADER FUNCTION(
        "k", "ld.param.u64 %l, [p];\n.loc 2 5 1\nst.global.u32 [%l], 1;\n"
             ".loc 1 300 1\nst.global.u32 [%l], 1;\n.loc 2 4 1\nst.global.u32 [%l], 1;\n"
             ".loc 1 20 1\nst.global.u32 [%l], 1;\n.loc 2 5 9\nst.global.u32 [%l], 1;\n") FILES;
    static const struct {
        const char *file;
        unsigned line, stores;
    } expected[] = {{"one.cu", 20, 1}, {"one.cu", 300, 1}, {"two.cu", 4, 1}, {"two.cu", 5, 2}};
    struct emu *emu = open_emu();
    emu_count(emu, true);
    const struct emu_launch_record *r = record_of(emu, text, "k");
    cr_assert_eq(r->line_count, 4);
    for (int i = 0; i < 4; i++) {
        cr_expect_str_eq(r->lines[i].file, expected[i].file);
        cr_expect_eq(r->lines[i].line, expected[i].line);
        cr_expect_eq(r->lines[i].counts.global_st.requests, expected[i].stores);
    }
    emu_close(emu);
}
