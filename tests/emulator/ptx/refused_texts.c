/* refused_texts.c — texts that cannot be read as PTX: the exact message for each. */
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define EMPTY_KERNEL                                                                               \
    PTX_HEADER ".visible .entry k() {\n"                                                           \
               ".reg .pred %%p<4>; .reg .b32 %%r<4>; .reg .b64 %%l<4>; .shared .b8 s[64]; "        \
               ".local .b8 loc[16];\nL:\n%s\nret;\n}\n"

#define NO_TOKEN                                                                                   \
    "this is not PTX: a stray byte, a malformed number or one of more than 64 bits, or a string "  \
    "or comment that does not end"

#define NO_TEXTURE_REFERENCES                                                                      \
    "the emulator has no texture and surface references (texture<...>), which CUDA 12 removed; "   \
    "make a texture object by cudaCreateTextureObject and pass it to the kernel instead"

/* The text, and the line and the rest of the message. */
struct refusal {
    const char *text;
    unsigned line;
    const char *says;
};

static const struct refusal texts[] = {
    {".file 65537 \"a.cu\"", 4, "file number too large"},
    {".file x \"a.cu\"", 4, "expected a number, not 'x'"},
    {".file 1 a.cu", 4, "expected a file's name in quotes, not 'a.cu'"},
    {".file 1", 4, "expected a file's name in quotes, but the text ends here"},
    {".section .debug_str", 4, "expected {, but the text ends here"},
    {".section .debug_str { .b8 1", 4, "a section does not end: a } is missing"},
    {".section .debug_str { /* .b8 1 }", 4, "a section does not end: a } is missing"},
    {".frobnicate 3;", 4, "expected a directive, not '.frobnicate'"},
    {".address_size 32", 4, "only .address_size 64 is supported"},
    {"frobnicate", 4, "expected a directive, not 'frobnicate'"},
    {".target sm_90, debug, texmode_unified\n.address_size", 4,
     "expected a directive, not '.target'"},
    {".target frob", 4, "expected a directive, not '.target'"},
    {".target sm_90,", 4, "expected a directive, not '.target'"},
    {".global .u32 v;\n.global .u32 v;", 5,
     "variable 'v' is defined a second time (first in k.ptx, line 4)"},
    {".visible .entry k() { ret; }\n.visible .entry k() { ret; }", 5,
     "function 'k' is defined a second time (first in k.ptx, line 4)"},
    {".global .u32 v[-1];", 4, "expected a number, not '-'"},
    {".global .u32 v[2] = {1, 2, 3};", 4, "'v' has more initial values than elements"},
    {".global .u32 v = {1, 2};", 4, "'v' has more initial values than elements"},
    {".global .u32 v[2] = "
     "{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{1",
     4, "initial values nested too deeply"},
    {".global .align 0 .u32 v;", 4, "an alignment of 0"},
    {".global .align 3 .u32 v;", 4, "the alignment of 'v' is not a power of two up to 4096"},
    {".global .align 8192 .u32 v;", 4, "the alignment of 'v' is not a power of two up to 4096"},
    {".global .align x .u32 v;", 4, "expected a number, not 'x'"},
    {".global .frob v;", 4, "expected a type, not '.frob'"},
    {".global .texref t;", 4, NO_TEXTURE_REFERENCES},
    {".visible .entry k(.param .u64 p, .param .samplerref s) { ret; }", 4, NO_TEXTURE_REFERENCES},
    {".global .surfref s;", 4, NO_TEXTURE_REFERENCES},
    {".global .u32 5;", 4, "expected a variable's name, not '5'"},
    {".global .u32 v[9223372036854775807];", 4, "'v' is larger than 1073741824 bytes"},
    {".global .b8 v[2147483648];", 4, "'v' is larger than 1073741824 bytes"},
    {".global .u32 v[2;", 4, "expected ], not ';'"},
    {".global .attribute .u32 v;", 4, "expected (, not '.u32'"},
    {".global .attribute(.managed .u32 v;", 4, "expected ), but the text ends here"},
    {".global .u32 v = 1/0;", 4, "a constant expression divides by zero"},
    {".global .u32 v = 1%0;", 4, "a constant expression divides by zero"},
    {".global .u32 v = (1+2;", 4, "expected ), not ';'"},
    {".global .u32 v = 1 ? 2;", 4, "expected :, not ';'"},
    {".global .f32 v = 1.0 % 2.0;", 4, "operator % is not for floating-point numbers"},
    {".global .f32 v = 0f3F800000 + 1;", 4, "expected ;, not '+'"},
    {".global .f64 v = ~1.5;", 4, "expected an integer behind ~, not ';'"},
    {".global .u32 v = "
     "((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1",
     4, "constants nested too deeply"},
    {".global .u32 v = 1 ? 1 : 1 ? 1 : nothing;", 4, "expected a number, not 'nothing'"},
    {".global .u32 v = 99999999999999999999;", 4, NO_TOKEN},
    {".global .u32 v = 0x;", 4, NO_TOKEN},
    {".global .u32 v = 0x11112222333344445;", 4, NO_TOKEN},
    {".global .u32 v = 0b2;", 4, NO_TOKEN},
    {".global .u32 v = 089;", 4, NO_TOKEN},
    {".global .f32 v = 0f3F;", 4, NO_TOKEN},
    {".global .u64 v = generic(w;", 4, "expected ), not ';'"},
    {".global .u64 v = mask(w);", 4, "expected ;, not '('"},
    {".global .u32 v\n.global .u32 w;", 5, "expected ;, not '.global'"},
    {".visible .entry k(.u32 x) { ret; }", 4, "expected .param, not '.u32'"},
    {".visible .entry k(.param .u32 x { ret; }", 4, "expected ), not '{'"},
    {".visible .entry k(.param x) { ret; }", 4, "expected a type, not 'x'"},
    {".visible .entry k(.param .u32 x) ret;", 4, "expected a function's body or ;, not 'ret'"},
    {".visible .entry k() {", 4, "expected an instruction or a directive, but the text ends here"},
    {".visible .entry k() { \"}", 4, NO_TOKEN},
    {".visible .entry (.param .u32 x) { ret; }", 4, "expected a function's name, not '{'"},
    {".func (.reg .u32 x f() { ret; }", 4, "expected ), not 'f'"},
    {".visible .entry k() .maxntid x { ret; }", 4, "expected a function's body or ;, not 'x'"},
    {".alias a;", 4, "expected a directive, not '.alias'"},
    {".pragma 5;", 4, "expected a pragma in quotes, not '5'"},
    {".extern .entry", 4, "expected a function's name, but the text ends here"},
    {"\x01", 4, NO_TOKEN},
    {"\"never closed", 4, NO_TOKEN},
    {"/* never closed", 4, NO_TOKEN},
};

static const struct refusal statements[] = {

    {"mov.u32 %r0, 1 mov.u32 %r1, 2;", 7, "expected ;, not 'mov.u32'"},
    {"mov.u32 %r0, ;", 7, "expected an operand, not ';'"},
    {"mov.u32 %r0, [%l0;", 7, "expected ], not ';'"},
    {"mov.u32 %r0, [%l0+];", 7, "expected a number, not ']'"},
    {"mov.u32 %r0, [%l0+1.5];", 7, "expected an integer, not ']'"},
    {"ld.v2.u32 {%r0, %r1, [%l0];", 7, "expected }, not ';'"},
    {"mov.u32 %r0|, 1;", 7, "expected an operand, not ','"},
    {"@ mov.u32 %r0, 1;", 7, "register 'mov.u32' is not declared"},
    {"@%p9 mov.u32 %r0, 1;", 7, "register '%p9' is not declared"},
    {"@!5 mov.u32 %r0, 1;", 7, "expected a guard predicate, not '5'"},
    {"@%p0 .reg .b32 %x;", 7, "expected an instruction, not '.reg'"},
    {"mov.a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.u32 %r0, 1;", 7,
     "an opcode of more than 16 parts"},
    {"add.s32 %r0, %r1, %r2, %r3, %r0, %r1, %r2, %r3, %r0, %r1, %r2, %r3, %r0, %r1, %r2, %r3, "
     "%r0, %r1;",
     7, "more than 8 operands"},
    {"mov.u32 %r0, "
     "{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{%r1",
     7, "operands nested too deeply"},
    {".reg .b32 %r<2>;", 7, "register '%r' is declared a second time"},
    {".reg .frob %x;", 7, "expected a register's type, not '.frob'"},
    {".reg .b32 5;", 7, "expected a register's name, not '5'"},
    {".reg .b32 %x<4000000000>;", 7, "4000000000 registers in one declaration; at most 1048576"},
    {".reg .b32 %x<2;", 7, "expected >, not ';'"},
    {".reg .b32 %x", 8, "expected ;, not 'ret'"},
    {".pragma 5;", 7, "expected a pragma in quotes, not '5'"},
    {".loc 1 x 3", 7, "expected a number, not 'x'"},
    {".loc 1", 8, "expected a number, not 'ret'"},
    {".frobnicate 3;", 7, "expected an instruction or a directive, not '.frobnicate'"},
    {".shared .b8 s[4];", 7, "variable 's' is declared a second time (first on line 5)"},
    {".local .b8 loc[4];", 7, "variable 'loc' is declared a second time (first on line 5)"},
    {"L:", 7, "label 'L' is declared a second time (first on line 6)"},
    {"HERE: HERE:", 7, "label 'HERE' is declared a second time (first on line 7)"},
    {"T: .branchtargets L", 8, "expected ;, not 'ret'"},
    {"{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{", 7,
     "scopes nested too deeply"},
    {"5;", 7, "expected an instruction or a directive, not '5'"},
    {";", 7, "expected an instruction or a directive, not ';'"},
    {"call (%r0, nowhere;", 7, "expected ), not ';'"},
    {"mov.u32 %r0, 1//", 8, "expected ;, not 'ret'"},
    {"mov.u64 %l0, L[1];", 7, "'L' is no variable"},
    {"ld.shared.b8 %r0, [s[1]];", 7, "expected ], not '['"},
    {"mov.u32 %r0, \x80;", 7, NO_TOKEN},
};

static void expect_refusal(const char *format, const struct refusal *refusal)
{
    char text[1000], whole[400];
    struct emu *emu = open_emu();
    struct emu_module *module;
    struct emu_kernel *kernel;
    snprintf(text, sizeof text, format, refusal->text);
    snprintf(whole, sizeof whole, "k.ptx, line %u: %s", refusal->line, refusal->says);
    int e = emu_load(emu, text, strlen(text), "k.ptx", &module);
    if (!e) e = emu_kernel(emu, module, "k", &kernel);
    cr_expect_str_eq(e ? emu_message(emu) : "(it was taken)", whole, "%s", refusal->text);
    emu_close(emu);
}

Test(emu_refusals, of_texts)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        expect_refusal(PTX_HEADER "%s", &texts[i]);
}

Test(emu_refusals, of_statements_that_are_none)
{
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        expect_refusal(EMPTY_KERNEL, &statements[i]);
}
