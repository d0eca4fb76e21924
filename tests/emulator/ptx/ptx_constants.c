/* ptx_constants.c — constant expressions, in instructions, addresses and initial values. */
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How far an element is from the array's beginning, as on an H200. */
#define DISTANCE(variable, element)                                                                \
    ".reg .b64 a;\n" variable ";\nmov.u64 a, v;\nmov.u64 $0, " element ";\nsub.s64 $0, $0, a"

static const struct {
    const char *text; /* an expression, or instructions without the last semicolon */
    uint64_t want;
} integers[] = {
    {"4*3+1", 13},
    {"1+2*3", 7},
    {"(1+2)*3", 9},
    {"(2<<4)|1", 33},
    {"2<<4|1", 33},
    {"~0", UINT64_MAX},
    {"-5", (uint64_t)-5},
    {"- -5", 5},
    {"+5", 5},
    {"-7/2", (uint64_t)-3},
    {"-7%3", (uint64_t)-1},
    {"-1>>1", UINT64_MAX},
    {"-1U>>1", INT64_MAX},
    {"(.u64)-1>>63", 1},
    {"(.s64)0xffffffffffffffff/2", 0},
    {"0xffffffffffffffff/2", INT64_MAX},
    {"(.s64)0x8000000000000000/-1", UINT64_C(1) << 63},
    {"(.s64)0x8000000000000000%-1", 0},
    {"1<<64", 0},
    {"5>3", 1},
    {"-1<0U", 0},
    {"3>=4", 0},
    {"4<=4", 1},
    {"1==1 && 2!=3", 1},
    {"0||!4", 0},
    {"6^3", 5},
    {"6&3", 2},
    {"1 ? 2 : 3", 2},
    {"0 ? 2 : 0 ? 3 : 4", 4},
    {"WARP_SZ-1", 31},
    {"(1.5 < 2.0) + 010 + 0b11", 12},
    {"1-2-3", (uint64_t)-4},
    {DISTANCE(".shared .b8 v[8]", "v[3]"), 3},
    {DISTANCE(".shared .v4 .f32 v[8]", "v[3]"), 12},
    {DISTANCE(".local .f64 v[4][8]", "v[99+1]"), 800},
    {DISTANCE(".local .u32 v[8]", "v[-1]"), 0xfffffffc},
    {".shared .u64 v[8];\nst.shared.u64 v[3], 7;\nld.shared.u64 $0, [v+24]", 7},
    {".local .u64 v[8];\nst.local.u64 [v+24], 7;\nld.local.u64 $0, v[3]", 7},
};

Test(emu_constants, integers)
{
    struct emu *emu = open_emu();
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        char text[200];
        union value out = {0};
        snprintf(text, sizeof text, "%s%s;", strchr(integers[i].text, ';') ? "" : "mov.u64 $0, ",
                 integers[i].text);
        int e = ptx_run(emu, text, "l=", 1, NULL, &out);
        cr_expect(!e && out.u64 == integers[i].want, "%s: error %d, got %#llx, want %#llx: %s",
                  integers[i].text, e, (unsigned long long)out.u64,
                  (unsigned long long)integers[i].want, e ? emu_message(emu) : "");
    }
    emu_close(emu);
}

static const struct {
    const char *text;
    double want;
} reals[] = {{"1.5+2.25", 3.75}, {"-1.5", -1.5},       {"3.0/4", 0.75}, {"2*0d3FF8000000000000", 3},
             {"1.0-0.5", 0.5},   {"0 ? 1.0 : 2.0", 2}, {"-0.0", -0.0}};

Test(emu_constants, reals)
{
    struct emu *emu = open_emu();
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        char text[100];
        union value out[2] = {{0}};
        snprintf(text, sizeof text, "mov.f64 $0, %s;\nmov.f32 $1, %s;", reals[i].text,
                 reals[i].text);
        int e = ptx_run(emu, text, "df=", 1, NULL, out);
        cr_expect(!e && out[0].f64 == reals[i].want && out[1].f32 == (float)reals[i].want &&
                      signbit(out[0].f64) == signbit(reals[i].want),
                  "%s: error %d, got %g and %g: %s", reals[i].text, e, out[0].f64, out[1].f32,
                  emu_message(emu));
    }
    emu_close(emu);
}

static const struct {
    const char *text, *says;
} wrong[] = {
    {"1/0", "divides by zero"}, {"1%(2-2)", "divides by zero"}, {"(1+2", "expected )"},
    {"1+", "a number"},         {"1.5%2.0", "operator %"},      {"~1.5", "an integer"},
    {"1?2", "expected :"},      {"1+0f3F800000", "computed"},
};

Test(emu_constants, mistakes)
{
    struct emu *emu = open_emu();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[100];
        union value out = {0};
        snprintf(text, sizeof text, "mov.u64 $0, %s;", wrong[i].text);
        int e = ptx_run(emu, text, "l=", 1, NULL, &out);
        cr_expect(e == EMU_INVALID_PTX && strstr(emu_message(emu), wrong[i].says),
                  "%s: error %d: %s", wrong[i].text, e, emu_message(emu));
    }
    emu_close(emu);
}

/* Deep nesting is refused, not a crash. */
Test(emu_constants, nesting)
{
    enum { DEPTH = 100000 };
    struct emu *emu = open_emu();
    char *text = malloc(DEPTH + 100);
    union value out = {0};
    strcpy(text, "mov.u64 $0, ");
    memset(text + strlen(text), '(', DEPTH);
    strcpy(text + strlen("mov.u64 $0, ") + DEPTH, "1;");
    int e = ptx_run(emu, text, "l=", 1, NULL, &out);
    cr_expect(e == EMU_INVALID_PTX && strstr(emu_message(emu), "nested"), "error %d: %s", e,
              emu_message(emu));
    free(text);
    emu_close(emu);
}

Test(emu_constants, in_addresses_and_initial_values)
{
    struct emu *emu = open_emu();
    static const char text[] = PTX_HEADER
        ".global .b32 words[4] = {4*3+1, (2<<4)|1, -1, 1 ? 5 : 6};\n"
        ".global .f32 real = 1.5;\n"
        ".global .b16 counted[] = {1, 2, 3};\n"
        ".global .b8 bytes[16] = {7, 0xFF(generic(words)+4), 0xFF00(words), 0xFF0000(words),\n"
        "0xFF000000(words), 0xFF00000000(words), 0xFF0000000000(words), 0xFF000000000000(words),\n"
        "0xFF00000000000000(words), 9};\n"
        ".visible .entry k(.param .u64 out)\n{\n.reg .b64 %l<4>;\n.reg .b32 %r<9>;\n"
        "ld.param.u64 %l0, [out];\n"
        "ld.global.u32 %r0, [words];\nld.global.u32 %r1, [words+2*2];\n"
        "mov.u64 %l1, words+4*2;\nld.global.u32 %r2, [%l1];\nld.global.u32 %r3, [%l1+8-4];\n"
        "ld.global.u32 %r4, [real];\nld.global.u8 %r5, [bytes];\nld.global.u8 %r6, [bytes+9];\n"
        /* the pointer in bytes[1] to bytes[8], made of eight masks */
        "ld.global.v4.u8 {_, %r7, _, _}, [bytes];\n"
        "st.global.v4.u32 [%l0], {%r0, %r1, %r2, %r3};\n"
        "st.global.v4.u32 [%l0+(3+1)*4], {%r4, %r5, %r6, %r7};\n"
        "ld.global.u16 %r8, [counted+4];\n"
        "st.global.u64 [%l0+32], %l1;\nst.global.u32 [%l0+40], %r8;\nret;\n}\n";
    uint32_t got[11];
    struct emu_kernel *kernel = load_kernel(emu, text, "k");
    emu_addr out = device_copy(emu, NULL, sizeof got);
    cr_assert(!launch(emu, kernel, 1, 1, 0, 1, &out), "%s", emu_message(emu));
    cr_assert(!emu_read(emu, got, out, sizeof got));
    static const uint32_t want[] = {13, 33, UINT32_MAX, 5, 0x3fc00000, 7, 9};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        cr_expect(got[i] == want[i], "%zu: got %u, want %u", i, got[i], want[i]);
    cr_expect(got[7] == ((got[8] - 4) & 0xff), "a byte of an address");
    cr_expect_eq(got[10], 3, "of an array that its initial values count");
    emu_close(emu);
}
