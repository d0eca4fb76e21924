/*
 * refusals.c — PTX and programs that are refused, and how.
 */
#include "ptx_run.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* ---- texts that cannot be read as PTX: the exact message for each ---------------------------- */

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

/* ---- statements that are not PTX ------------------------------------------------------------- */

/*
 * Statements that are not PTX, or that the emulator does not know: the exact message
 * for each. (Legal PTX that is not supported is in ops_rare.c.)
 */

#define KERNEL                                                                                     \
    PTX_HEADER ".const .b8 c[16]; .visible .entry k(.param .u64 p) {\n"                            \
               ".reg .pred %%p<4>; .reg .b16 %%h<4>; .reg .b32 %%r<4>; .reg .f32 %%f<4>; "         \
               ".reg .b64 %%l<4>; .reg .f64 %%d<4>; .reg .b128 %%q<4>; .shared .b8 s[64]; "        \
               ".local .b8 loc[16];\nL:\n%s\nret;\n}\n"

#define NO_WARP_GROUPS                                                                             \
    "the emulator has no products of matrices by several warps (wgmma, tcgen05); multiply by "     \
    "wmma or mma.sync instead"
#define NO_SHAPE "it has no such shape for elements of this type"
#define NO_TYPES "it needs types that go together"
#define NO_REFERENCES                                                                              \
    "the emulator has no texture and surface references; pass a texture object to the kernel "     \
    "instead"
#define NO_SUCH_SURFACE "it is .b, has no cubes, and is one of .trap, .clamp and .zero"
#define NO_SUCH_TEXTURE                                                                            \
    "it is supported for four elements of 32 bits (.v4) and coordinates of type .f32 or .s32"

static const char *const refusals[][2] = {
    {"@%r0 mov.u32 %r1, 1;", "the guard is not a predicate"},
    {"add.s32 %r0, !%r1, %r2;", "a negated or paired operand is not supported here"},
    {"add.s32 %r0, %r1|%p0, %r2;", "a negated or paired operand is not supported here"},
    {"div.f32 %f0, %f1, %f2;", "it needs one of .rn, .rz, .rm, .rp, .approx, .full"},
    {"sqrt.f32 %f0, %f1;", "it needs one of .rn, .rz, .rm, .rp, .approx"},
    {"rcp.f64 %d0, %d1;", "it needs one of .rn, .rz, .rm, .rp, .approx"},
    {"fma.f32 %f0, %f1, %f2, %f3;", "it needs one of .rn, .rz, .rm, .rp"},
    {"add.rz.f16 %h0, %h1, %h2;", "it has no .rz with .f16"},
    {"fma.rm.f16x2 %r0, %r1, %r2, %r3;", "it has no .rm with .f16x2"},
    {"add.frob.s32 %r0, %r1, %r2;", "it has no .frob with .s32"},
    {"add %r0, %r1, %r2;", "PTX has no such operation"},
    {"add.s32.s32 %r0, %r1, %r2;", "PTX has no such operation"},
    {"add.s32 %r0, %r1;", "2 operands, but 3 are expected"},
    {"add.s32 %r0, %r1, %r2, %r3;", "4 operands, but 3 are expected"},
    {"add.s32 %r0;", "1 operands, but 3 are expected"},
    {"add.s8 %r0, %r1, %r2;", "PTX has no such operation"},
    {"mul.s32 %r0, %r1, %r2;", "it needs one of .lo, .hi, .wide"},
    {"set.eq.f64.s32 %d0, %r1, %r2;", "set to .f64 is not supported"},
    {"setp.s32 %p0, %r1, %r2;", "it needs one of .eq, .ne, .lt, .le, .gt, .ge"},
    {"setp.frob.s32 %p0, %r1, %r2;", "it has no .frob with .s32"},
    {"setp.eq.and.s32 %p0, %r1, %r2;", "3 operands, but 4 are expected"},
    {"setp.eq.s32 %r0, %r1, %r2;", "register %r0 is of type .b32, which does not fit here"},
    {"selp.b32 %r0, %r1, %r2;", "3 operands, but 4 are expected"},
    {"selp.b32 %r0, %r1, %r2, %r3;", "register %r3 is of type .b32, which does not fit here"},
    {"slct.s32.s32 %r0, %r1, %r2;", "3 operands, but 4 are expected"},
    {"cvt.s32.f32 %r0, %f0;", "a conversion to an integer needs .rni, .rzi, .rmi or .rpi"},
    {"cvt.f32.s32 %f0, %r0;", "a conversion from an integer needs .rn, .rz, .rm or .rp"},
    {"cvt.u32 %r0, %r1;", "PTX has no such operation"},
    {"cvt.rn.f32.s32 %f0;", "1 operands, but 2 are expected"},
    {"cvt.rn.q32.s32 %f0, %r0;", "modifier '.q32' is not supported"},
    {"mov.b128 %q0, 1;", "a constant of 128 bits is not supported"},
    {"mov.b64 %l0, {%r0, %r1, %r2};", "PTX has no such operation"},
    {"mov.b32 %r0, {%h0, %h1, %h2};", "PTX has no such operation"},
    {"mov.u32 %r0, %clock64;", "register %r0 is of type .b32, which does not fit here"},
    {"mov.u64 %l0, %tid.x;", "special register %tid.x is read as 8 bytes"},
    {"mov.u32 %r0, %nothing;",
     "%nothing is neither a declared register nor a special register that is supported"},
    {"mov.u32 %r0;", "1 operands, but 2 are expected"},
    {"mov.u32 5, %r0;", "the destination is not a register"},
    {"mov.u64 %l0, nowhere;", "'nowhere' is not declared"},
    {"barrier.cluster;", "a barrier.cluster is either .arrive or .wait"},
    {"barrier.cluster.arrive.wait;", "a barrier.cluster is either .arrive or .wait"},
    {"barrier.cluster.arrive %r0;", "1 operands, but 0 are expected"},
    {"mapa.u16 %h0, %h1, %r0;", "it is for .u32 and .u64"},
    {"mapa.u32 %r0, %r1;", "2 operands, but 3 are expected"},
    {"getctarank.s32 %r0, %r1;", "it is for .u32 and .u64"},
    {"getctarank.u32 %r0;", "1 operands, but 2 are expected"},
    {"shfl.up.b32 %r0, %r1, 1, 0;", "without .sync it does not exist on today's GPUs"},
    {"shfl.sync.up.b64 %l0, %l1, 1, 0, -1;", "it is not supported for .b64"},
    {"shfl.sync.frob.b32 %r0, %r1, 1, 0, -1;", "PTX has no such operation"},
    {"shfl.sync.up.b32 %r0, %r1, 1, 0;", "4 operands, but 5 are expected"},
    {"vote.all.pred %p0, %p1;", "without .sync it does not exist on today's GPUs"},
    {"vote.sync.frob.pred %p0, %p1, -1;", "PTX has no such operation"},
    {"vote.sync.all.b32 %r0, %p1, -1;", "it is not supported for .b32"},
    {"vote.sync.ballot.b32 %r0, %p1;", "2 operands, but 3 or more are expected"},
    {"match.any.b32 %r0, %r1;", "without .sync it does not exist on today's GPUs"},
    {"match.sync.any.sync.b16 %r0, %h1, -1;", "modifier '.sync' is not supported"},
    {"redux.add.s32 %r0, %r1, -1;", "without .sync it does not exist on today's GPUs"},
    {"redux.sync.add.f32 %f0, %f1, -1;", "it is not supported for .f32"},
    {"redux.sync.frob.s32 %r0, %r1, -1;", "PTX has no such operation"},
    {"elect.sync %r0|%p0;", "1 operands, but 2 or more are expected"},
    {"bra NOWHERE;", "label 'NOWHERE' is not defined"},
    {"bra %r0;", "label '?' is not defined"},
    {"bra.uni L, L;", "2 operands, but 1 are expected"},
    {"brx.idx %r0, TABLE;", "table 'TABLE' is not defined"},
    {"brx.idx %r0;", "1 operands, but 2 are expected"},
    {"ret 5;", "1 operands, but 0 are expected"},
    {"exit %r0;", "1 operands, but 0 are expected"},
    {"bar.sync;", "0 operands, but 1 or more are expected"},
    {"bar.sync 0, 32, 5;", "3 operands, but 1 or more are expected"},
    {"bar.frob 0;", "this kind of barrier is not supported"},
    {"barrier.red.popc.u32 %r0, 0;", "2 operands, but 3 or more are expected"},
    {"bar.arrive 1;", "1 operands, but 2 are expected"},
    {"bar.warp.sync;", "0 operands, but 1 are expected"},
    {"barrier.frob 0;", "this kind of barrier is not supported"},
    {"fence.frob.cta;", "modifier '.frob' is not supported"},
    {"membar.cta %r0;", "1 operands, but 0 are expected"},
    {"trap 1;", "1 operands, but 0 are expected"},
    {"brkpt 1;", "1 operands, but 0 are expected"},
    {"call nowhere;", "function 'nowhere' is not declared"},
    {"call (%r0), nowhere, (%r1);", "an argument that is not a .param variable is not supported"},
    {"call;", "a call of nothing"},
    {"call %l0, (%r0);", "an argument that is not a .param variable is not supported"},
    {"cp.async.frob.shared.global [%r0], [%l0], 4;", "this asynchronous copy is not supported"},
    {"cp.async.ca.shared.shared [%r0], [%r1], 4;", "modifier '.shared' is not supported"},
    {"cp.async.ca.global.shared [%l0], [%r0], 4;", "it goes from .global to .shared"},
    {"cp.async.cg.global.shared::cta [%l0], [%r0], 16;", "it goes from .global to .shared"},
    {"cp.async.ca.shared.global [%r0], [%l0], 5;", "a copy of 5 bytes; it can be 4, 8 or 16"},
    {"cp.async.cg.shared.global [%r0], [%l0], 8;", "a copy of 8 bytes; it can be 16"},
    {"cp.async.ca.shared.global [%r0], [%l0];", "2 operands, but 3 or more are expected"},
    {"cp.async.ca.shared.global [%r0], [%l0], %r1;", "an operand must be a constant here"},
    {"cp.async.mbarrier.frob.b64 [%r0];", "it is .arrive and .b64"},
    {"cp.async.mbarrier.arrive.noinc.b32 [%r0];", "it is .arrive and .b64"},
    {"cp.async.mbarrier.arrive.b64;", "0 operands, but 1 are expected"},
    {"cp.async.wait_group;", "0 operands, but 1 are expected"},
    {"cp.async.wait_group %r0;", "an operand must be a constant here"},
    {"cp.async.commit_group 1;", "1 operands, but 0 are expected"},
    {"cp.async.wait_all 1;", "1 operands, but 0 are expected"},
    {"cp.async.bulk.global.shared::cta [%l0], [%r0], 16;",
     "copies to .global complete by .bulk_group, those to shared memory at an mbarrier"},
    {"cp.async.bulk.shared::cta.global.bulk_group [%r0], [%l0], 16;",
     "copies to .global complete by .bulk_group, those to shared memory at an mbarrier"},
    {"cp.async.bulk.global [%l0], [%r0], 16;", "two state spaces are needed"},
    {"cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r0], [%l0], 16;",
     "3 operands, but 4 are expected"},
    {"cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r0], "
     "[%l0, {%r1, %r1, %r1}], [%r2], {%h0};",
     "the emulator has no copies of tensors by .im2col; copy tiles (.tile) instead"},
    {"cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes "
     "[%r0], [%l0, {%r1, %r1, %r1, %r1, %r1}], [%r2];",
     "the emulator has no copies of tensors by .tile::gather4; copy tiles (.tile) instead"},
    {"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0], "
     "[%l0, {%r1}], [%r2];",
     "it is .1d to .5d, with a coordinate for each dimension"},
    {"cp.async.bulk.tensor.6d.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], "
     "[%l0, {%r1}], [%r2];",
     "it is .1d to .5d, with a coordinate for each dimension"},
    {"cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%l0], [%r0];",
     "[tensor map, {coordinates}] is missing"},
    {"cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%l0, {%r1}], [%r0], 16;",
     "3 operands, but 2 are expected"},
    {"cp.reduce.async.bulk.tensor.1d.global.shared::cta.exch.bulk_group [%l0, {%r1}], [%r0];",
     "it does not exchange"},
    {"cp.async.bulk.prefetch.tensor.1d.L2.global.tile [%l0, {%r1}], [%l0];",
     "2 operands, but 1 are expected"},
    {"prefetch.tensormap;", "0 operands, but 1 are expected"},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.frob.u32 [%l0], [%r0], 16;",
     "this atomic operation is not supported"},
    {"cp.sync [%r0], [%l0], 4;", "only asynchronous copies are supported"},
    {"cp.async.bulk.commit_group 1;", "1 operands, but 0 are expected"},
    {"cp.async.bulk.wait_group;", "0 operands, but 1 are expected"},
    {"lop3.or.b32 %r0, %r1, %r2, %r3, 0x40, %p0;", "the predicate behind | is missing"},
    {"lop3.b32 %r0, %r1, %r2, %r3;", "4 operands, but 5 are expected"},
    {"mbarrier.init.shared.b32 [%r0], 1;", "it is for .b64"},
    {"mbarrier.frob.shared.b64 [%r0];", "this operation on an mbarrier is not supported"},
    {"mbarrier.init.shared.b64 [%r0];", "1 operands, but 2 are expected"},
    {"mbarrier.inval.shared.b64 [%r0], 1;", "2 operands, but 1 are expected"},
    {"mbarrier.arrive.expect_tx.shared.b64 %l0, [%r0];", "2 operands, but 3 are expected"},
    {"mbarrier.test_wait.shared.b64 %p0, [%r0];", "2 operands, but 3 are expected"},
    {"mbarrier.pending_count.b64 %r0;", "1 operands, but 2 are expected"},
    {"mbarrier.pending_count.b64 %l0, %l1;",
     "register %l0 is of type .b64, which does not fit here"},
    {"mbarrier.expect_tx.shared.b64 [%r0];", "1 operands, but 2 are expected"},
    {"ld.global.v2.u32 {%r0, %r1, %r2}, [%l0];", "3 values for 2 elements"},
    {"ld.global.v4.u32 %r0, [%l0];", "1 values for 4 elements"},
    {"ld.global.u32 {%r0, %r1}, [%l0];", "2 values for 1 elements"},
    {"ld.global.u64 %r0, [%l0];", "register %r0 is of type .b32, which does not fit here"},
    {"ld.global.pred %p0, [%l0];", "accesses of type .pred are not supported"},
    {"ld.global.v8.f64 {%d0, %d0, %d0, %d0, %d0, %d0, %d0, %d0}, [%l0];",
     "there are no accesses of 64 bytes a lane here"},
    {"ld.shared.v8.b32 {%r0, %r0, %r0, %r0, %r0, %r0, %r0, %r0}, [%r0];",
     "there are no accesses of 32 bytes a lane here"},
    {"ld.global.u32 %r0;", "1 operands, but 2 are expected"},
    {"ld.global.u32 %r0, %l0;", "an address in [ ] is missing"},
    {"ld.global.u32 %r0, [%p0];", "a predicate is no address"},
    {"ld.global.u32 %r0, [nowhere];", "'nowhere' is not declared"},
    {"ld.frob.u32 %r0, [%l0];", "modifier '.frob' is not supported"},
    {"ld.param.u64 %l0, [q];", "'q' is not declared"},
    {"st.param.u64 [p], %l0;", "parameters cannot be written"},
    {"st.global.u32 [%l0];", "1 operands, but 2 are expected"},
    {"st.global.v2.u32 [%l0], {%r0};", "1 values for 2 elements"},
    {"st.global.u32 %l0, %r0;", "an address in [ ] is missing"},
    {"ld.global %r0, [%l0];", "accesses of type . are not supported"},
    {"atom.global.frob.u32 %r0, [%l0], 1;", "this atomic operation is not supported"},
    {"atom.global.add.u8 %r0, [%l0], 1;", "register %r0 is of type .b32, which does not fit here"},
    {"atom.global.and.f32 %f0, [%l0], 1;", "it needs one of .b32, .b64"},
    {"atom.global.exch.f16x2 %r0, [%l0], %r1;", "it needs .noftz"},
    {"atom.global.cas.f16 %h0, [%l0], %h1, %h2;", "it needs .noftz"},
    {"atom.global.exch.noftz.f16x2 %r0, [%l0], %r1;", "it needs one of .b16, .b32, .b64, .b128"},
    {"atom.global.min.f32 %f0, [%l0], %f1;", "this atomic operation is not supported for .f32"},
    {"atom.global.add.b128 %q0, [%l0], %q1;", "this atomic operation is not supported for .b128"},
    {"atom.global.cas.b16 %h0, [%l0], %h1;", "3 operands, but 4 are expected"},
    {"atom.global.add.v2.f64 {%d0, %d1}, [%l0], {%d0, %d1};",
     "this atomic operation is not supported for .f64"},
    {"atom.global.cas.b32 %r0, [%l0], %r1;", "3 operands, but 4 are expected"},
    {"atom.global.add.u32 %r0, [%l0];", "2 operands, but 3 are expected"},
    {"red.global.add.u32 [%l0], %r0, %r1;", "3 operands, but 2 are expected"},
    {"red.async.relaxed.cluster.mbarrier::complete_tx::bytes.shared::cluster.add.f32 [%r0], %r1, "
     "[%r2];",
     "only operations on one integer of 32 bits, and .add.u64, are asynchronous"},
    {"red.async.relaxed.cluster.shared::cluster.add.u32 [%r0], %r1, [%r2];",
     "it changes .shared::cluster and is .mbarrier::complete_tx::bytes"},
    {"red.global.add.noftz.v8.f16 [%l0], {%h0, %h0, %h0, %h0, %h0, %h0, %h0, %h0};",
     "vectors of more than 4 elements are not supported"},
    {"cvta.to.global.u32 %r0, %r1;", "only 64-bit addresses are supported"},
    {"cvta.global.u64 %l0;", "1 operands, but 2 are expected"},
    {"cvta.global.frob.u64 %l0, %l1;", "modifier '.frob' is not supported"},
    {"isspacep.global %p0;", "1 operands, but 2 are expected"},
    {"isspacep.frob %p0, %l0;", "modifier '.frob' is not supported"},
    {"alloca.u32 %r0, %r1;", "only 64-bit addresses are supported"},
    {"alloca.u64 %l0;", "1 operands, but 2 or more are expected"},
    {"alloca.u64 %l0, %l1, 0;", "an alignment of 0"},
    {"stacksave.u32 %r0;", "only 64-bit addresses are supported"},
    {"stacksave.u64 %l0, %l1;", "2 operands, but 1 are expected"},
    {"stackrestore.u32 %r0;", "only 64-bit addresses are supported"},
    {"createpolicy.fractional.L2::evict_last.b64;", "0 operands, but 1 or more are expected"},
    {"activemask.b32;", "0 operands, but 1 are expected"},
    {"activemask.b64 %l0;", "PTX has no such operation"},
    {"bfind.s16 %r0, %h0;", "PTX has no such operation"},
    {"prmt.frob.b32 %r0, %r1, %r2, %r3;", "it has no .frob with .b32"},
    {"dp4a.u32.u32 %r0, %r1, %r2;", "3 operands, but 4 are expected"},
    {"testp.frob.f32 %p0, %f0;", "it has no .frob with .f32"},
    {"copysign.f16 %h0, %h1, %h2;", "PTX has no such operation"},
    {"wgmma.fence.sync.aligned;", NO_WARP_GROUPS},
    {"tcgen05.frob;", NO_WARP_GROUPS},
    {"mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r0, %r0}, {%r0, %r0}, {%r0, %r0}, "
     "{%r0, %r0}, %r0, 0;",
     "the emulator has no products of sparse matrices (mma.sp); multiply the whole matrix by "
     "mma.sync instead"},
    {"mma.aligned.m8n8k4.row.col.f64.f64.f64.f64 %d0, %d0, %d0, %d0;", "it needs .sync.aligned"},
    {"mma.sync.aligned.m8n8k4.row.f64.f64.f64.f64 %d0, %d0, %d0, %d0;",
     "it needs the layouts of a and b"},
    {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64 %d0, %d0, %d0, %d0;",
     "it needs the types of d, a, b and c"},
    {"mma.sync.aligned.m8n8k8.row.col.f64.f64.f64.f64 %d0, %d0, %d0, %d0;", NO_SHAPE},
    {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r0, %r1}, {%f0, %f1}, {%r0}, {%r0, %r1};",
     "register %f0 is of type .f32, which does not fit here"},
    {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r0, %r1}, {%r0, 0}, {%r0}, {%r0, %r1};",
     "a fragment of these elements needs registers"},
    {"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%f0, %f1}, {%r0}, {%r0}, {%r0, %r1};",
     "register %f0 is of type .f32, which does not fit here"},
    {"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r0, %r1}, {%h0}, {%r0}, {%r0, %r1};",
     "register %h0 is of type .b16, which does not fit here"},
    {"wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32 {%r0, %r0, %r0, %r0, %r0, %r0, %r0, "
     "%r0}, {%f0, %f0}, {%r0, %r0}, {%r0, %r0, %r0, %r0, %r0, %r0, %r0, %r0};",
     "register %f0 is of type .f32, which does not fit here"},
    {"wmma.load.c.sync.aligned.row.m16n16k16.f16 {%f0, %f0, %f0, %f0}, [%l0];",
     "register %f0 is of type .f32, which does not fit here"},
    {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%h0}, [%l0];",
     "register %h0 is of type .b16, which does not fit here"},
    {"mma.sync.aligned.m16n8k8.row.col.f32.f64.f64.f32 %f0, %d0, %d0, %f0;", NO_TYPES},
    {"mma.sync.aligned.m16n8k8.row.col.f32.f16.bf16.f32 %f0, %r0, %r0, %f0;", NO_TYPES},
    {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f16 %f0, %r0, %r0, %r0;", NO_TYPES},
    {"mma.sync.aligned.m16n8k8.row.row.f16.f16.f16.f16 %r0, %r0, %r0, %r0;",
     "it needs .row.col for this shape and type"},
    {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r0, %r1}, {%r0}, {%r0}, {%r0, %r1};",
     "1 registers, but a fragment has 2"},
    {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r0, %r1}, {%r0, %l0}, {%r0}, {%r0, %r1};",
     "register %l0 is of type .b64, which does not fit here"},
    {"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor {%r0, %r0}, %r0, %r0, {%r0, %r0};",
     "it needs .xor.popc or .and.popc"},
    {"mma.sync.aligned.m8n8k16.row.col.rn.s32.s8.s8.s32 {%r0, %r0}, %r0, %r0, {%r0, %r0};",
     "modifier '.rn' is not supported"},
    {"wmma.load.f.sync.aligned.row.m8n8k4.f64 %d0, [%l0];", "it needs a matrix: a, b, c or d"},
    {"wmma.load.a.sync.aligned.m8n8k4.f64 %d0, [%l0];", "it needs a layout and a type"},
    {"wmma.load.a.sync.aligned.row.m8n8k4.f16 %r0, [%l0];", NO_SHAPE},
    {"wmma.load.c.sync.aligned.row.m16n16k16.s8 {%r0, %r1}, [%l0];", NO_SHAPE},
    {"wmma.store.d.sync.aligned.row.m16n16k16.bf16 [%l0], {%r0, %r1, %r2, %r3};", NO_SHAPE},
    {"wmma.load.c.sync.aligned.row.m8n8k4.f32 {%f0, %f1}, [%l0];", NO_SHAPE},
    {"wmma.load.a.sync.aligned.row.m16n16k16.s32 {%r0, %r1}, [%l0];", NO_SHAPE},
    {"ldmatrix.sync.aligned.m8n8.x3.shared.b16 %r0, [%r0];", "it needs .x1, .x2 or .x4"},
    {"ldmatrix.sync.aligned.m8n8.x1.global.b16 %r0, [%l0];", "it needs an address in .shared"},
    {"ldmatrix.sync.aligned.m8n16.x1.shared.b8 %r0, [%r0];", "it needs .m8n8 and .b16"},
    {"movmatrix.sync.aligned.m8n8.b16 %r0, %r1;", "it needs .m8n8.trans.b16"},
    {"frobnicate.u32 %r0, %r1;", "PTX has no such operation"},
    {"tex.1d.v4.f32.s32 {%f0, %f0, %f0, %f0}, [s, {%r0}];", NO_REFERENCES},
    {"tex.1d.v4.f32.s32 {%f0, %f0, %f0, %f0}, [%r0, {%r0}];",
     "register %r0 is of type .b32, which does not fit here"},
    {"tex.1d.v4.f32.s32 {%f0, %f0, %f0, %f0}, %l0;", "an object in [ ] is missing"},
    {"tex.1d.v4.f32.s32 {%f0, %f0, %f0, %f0}, [%l0];", "it needs 1 coordinates in { }"},
    {"tex.2d.v4.f32.f32 {%f0, %f0, %f0, %f0}, [%l0, {%f0}];", "it needs 2 coordinates in { }"},
    {"tex.1d.v4.f32.s32 {%f0, %f0}, [%l0, {%r0}];", "2 values for 4 elements"},
    {"tex.1d.v2.f16x2.f32 {%r0, %r0}, [%l0, {%f0}];", NO_SUCH_TEXTURE},
    {"tex.1d.v4.f32.u32 {%f0, %f0, %f0, %f0}, [%l0, {%r0}];", NO_SUCH_TEXTURE},
    {"tex.cube.v4.f32.s32 {%f0, %f0, %f0, %f0}, [%l0, {%r0, %r0, %r0, %r0}];",
     "a cube has no integer coordinates"},
    {"tex.2dms.v4.f32.s32 {%f0, %f0, %f0, %f0}, [%l0, {%r0, %r0}];",
     "it needs a geometry that is supported: .1d, .2d, .3d, .a1d, .a2d, .cube or .acube"},
    {"tex.level.2d.v4.f32.f32 {%f0, %f0, %f0, %f0}, [%l0, {%f0, %f0}];",
     "2 operands, but 3 are expected"},
    {"tld4.r.a2d.v4.f32.f32 {%f0, %f0, %f0, %f0}, [%l0, {%r0, %f0, %f0, %f0}];",
     "it is supported for a channel (.r, .g, .b or .a) of a texture that is .2d"},
    {"suld.b.1d.b32.trap {%r0}, [s, {%r0}];", NO_REFERENCES},
    {"suld.b.1d.b32 {%r0}, [%l0, {%r0}];", NO_SUCH_SURFACE},
    {"suld.b.cube.b32.trap {%r0}, [%l0, {%r0, %r0, %r0, %r0}];", NO_SUCH_SURFACE},
    {"sust.b.1d.v4.b64.trap [%l0, {%r0}], {%l0, %l0, %l0, %l0};",
     "4 elements of type .b64; it accesses up to 16 bytes"},
    {"sust.p.1d.b32.trap [%l0, {%r0}], {%r0};",
     "the emulator has no surfaces whose stores convert (sust.p); store the bits by surf1Dwrite, "
     "surf2Dwrite and so on instead"},
    {"txq.width.b32 %r0, [%l0];",
     "the emulator has no queries of textures; pass what is asked for to the kernel instead"},
    {"multimem.ld_reduce.global.add.f32 %f0, [%l0];",
     "the emulator has no multicast memory; access the memory of each GPU by itself instead"},
};

/* "instruction 'ld.global.u32' in kernel k (k.ptx, line 7): ", and then the error. */
static void expect_message(const char *message, const char *statement, const char *says)
{
    char whole[400];
    const char *opcode = *statement == '@' ? strchr(statement, ' ') + 1 : statement;
    snprintf(whole, sizeof whole, "instruction '%.*s' in kernel k (k.ptx, line 7): %s",
             (int)strcspn(opcode, " ;"), opcode, says);
    cr_expect_str_eq(message, whole, "%s", statement);
}

static int load_statement(struct emu *emu, const char *statement)
{
    char text[1000];
    struct emu_module *module;
    struct emu_kernel *kernel;
    snprintf(text, sizeof text, KERNEL ".func (.param .b32 r) f(.param .b32 a) { ret; }\n",
             statement);
    int e = emu_load(emu, text, strlen(text), "k.ptx", &module);
    return e ? e : emu_kernel(emu, module, "k", &kernel);
}

Test(emu_refusals, say_what_is_wrong)
{
    struct emu *emu = open_emu();
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        int e = load_statement(emu, refusals[i][0]);
        expect_message(e ? emu_message(emu) : "(it was taken)", refusals[i][0], refusals[i][1]);
    }
    emu_close(emu);
}

/* Forms that PTX does not have, each beside one that it has. */
static const struct {
    const char *wrong, *says, *right;
} forms[] = {
    /* modifiers of a type */
    {"add.ftz.f64 %d0, %d1, %d2;", "it has no .ftz with .f64", "add.ftz.f32 %f0, %f1, %f2;"},
    {"mul.sat.f64 %d0, %d1, %d2;", "it has no .sat with .f64", "mul.sat.f32 %f0, %f1, %f2;"},
    {"sub.sat.bf16 %h0, %h1, %h2;", "it has no .sat with .bf16", "sub.sat.f16 %h0, %h1, %h2;"},
    {"ex2.approx.ftz.f16 %h0, %h1;", "it has no .ftz with .f16", "ex2.approx.f16 %h0, %h1;"},
    {"ex2.approx.bf16 %h0, %h1;", "it needs .ftz", "ex2.approx.ftz.bf16 %h0, %h1;"},
    {"mad.f32 %f0, %f1, %f2, %f3;", "it needs one of .rn, .rz, .rm, .rp",
     "mad.rn.f32 %f0, %f1, %f2, %f3;"},
    {"setp.lt.ftz.f64 %p0, %d0, %d1;", "it has no .ftz with .f64",
     "setp.lt.ftz.f32 %p0, %f0, %f1;"},
    {"setp.lt.b32 %p0, %r0, %r1;", "it has no .lt with .b32", "setp.ne.b32 %p0, %r0, %r1;"},
    {"setp.lo.s32 %p0, %r0, %r1;", "it has no .lo with .s32", "setp.lo.u32 %p0, %r0, %r1;"},
    {"set.num.u32.s32 %r0, %r0, %r1;", "it has no .num with .s32",
     "set.num.u32.f32 %r0, %f0, %f1;"},
    /* types of an operation */
    {"popc.u32 %r0, %r1;", "PTX has no such operation", "popc.b64 %r0, %l1;"},
    {"selp.f16 %h0, %h1, %h2, %p0;", "PTX has no such operation", "selp.b16 %h0, %h1, 1, !%p0;"},
    {"shl.u32 %r0, %r1, 5;", "PTX has no such operation", "shr.u32 %r0, %r1, 5;"},
    {"add.b32 %r0, %r1, %r2;", "PTX has no such operation", "add.u32 %r0, %r1, %r2;"},
    {"mov.u32 {%h0, %h1}, %r0;", "PTX has no such operation", "mov.b32 {%h0, %h1}, %r0;"},
    /* registers and constants of a type */
    {"add.s32 %f0, %r1, %r2;", "register %f0 is of type .f32, which does not fit here",
     "and.b32 %f0, %r1, %r2;"},
    {"add.s32 %r0, %r1, %h2;", "register %h2 is of type .b16, which does not fit here",
     "add.s16 %h0, %h1, %h2;"},
    {"mov.u32 %f0, %r1;", "register %f0 is of type .f32, which does not fit here",
     "mov.f32 %f0, %r1;"},
    {"shl.b64 %l0, %l1, %l2;", "register %l2 is of type .b64, which does not fit here",
     "shl.b64 %l0, %l1, %r2;"},
    {"mul.wide.s32 %d0, %r1, %r2;", "register %d0 is of type .f64, which does not fit here",
     "mul.wide.s32 %l0, %r1, %r2;"},
    {"slct.b32.f32 %r0, %r1, %r2, 1;", "an integer constant does not fit type .f32",
     "slct.b32.f32 %r0, %r1, %r2, 1.0;"},
    {"ld.global.u32 %f0, [%l0];", "register %f0 is of type .f32, which does not fit here",
     "ld.global.b32 %f0, [%l0];"},
    {"ld.global.f32 %d0, [%l0];", "register %d0 is of type .f64, which does not fit here",
     "ld.global.b8 %l1, [%l0];"},
    {"ld.global.u32 %r0, [%d0];", "register %d0 is of type .f64, which does not fit here",
     "ld.global.v2.f32 {%r0, %f0}, [%l0];"},
    {"st.global.f32 [%l0], 1;", "an integer constant does not fit type .f32",
     "st.global.b32 [%l0], 0f3F800000;"},
    {"atom.global.add.u32 %r0, [%l0], %f1;",
     "register %f1 is of type .f32, which does not fit here",
     "atom.global.exch.b32 %r0, [%l0], %f1;"},
    {"st.global.v2.f32 [%l0], {1, 1};", "an integer constant does not fit type .f32",
     "st.global.v2.f32 [%l0], {1.5, 0f3F800000};"},
    {"mov.b64 {%h0, %r0}, %l0;", "register %h0 is of type .b16, which does not fit here",
     "mov.b64 {%f0, %r0}, %d0;"},
    {"cvt.rn.f32.s32 %f0, %f1;", "register %f1 is of type .f32, which does not fit here",
     "cvt.u32.u8 %l0, %h1;"},
    {"add.f64 %d0, %d1, 1;", "an integer constant does not fit type .f64",
     "add.f64 %d0, %d1, 0f3F800000;"},
    {"add.s32 %r0, %r1, 1.5;", "a floating-point constant does not fit type .s32",
     "mov.b64 %l0, 1.5;"},
    {"shfl.sync.idx.b32 %r0, %h1, 1, 31, -1;",
     "register %h1 is of type .b16, which does not fit here",
     "shfl.sync.idx.b32 %r0, %f1, 1, 31, -1;"},
    {"shfl.sync.idx.b32 %r0, %r1, 1, 31, %f0;",
     "register %f0 is of type .f32, which does not fit here",
     "shfl.sync.idx.b32 %r0, %r1, 1, 31, %r2;"},
    {"cvta.global.u64 %l0, %d1;", "register %d1 is of type .f64, which does not fit here",
     "cvta.global.u64 %l0, %l1;"},
    {"bar.sync %f0;", "register %f0 is of type .f32, which does not fit here", "bar.sync %r0;"},
    {".reg .bf16 %b; ret;", NULL, ".reg .f16 %b; ret;"},
    /* conversions */
    {"cvt.f32.f64 %f0, %d1;", "a conversion to fewer bits needs a rounding, such as .rn",
     "cvt.bf16.f16 %h0, %h1;"},
    {"cvt.rn.f64.f32 %d0, %f1;", "a conversion that loses nothing has no rounding",
     "cvt.f64.f32 %d0, %f1;"},
    {"cvt.rn.f32.f32 %f0, %f1;", "a conversion that loses nothing has no rounding",
     "cvt.rni.f32.f32 %f0, %f1;"},
    {"cvt.rn.e4m3x2.f32 %h0, %f1, %f2;", "it needs .satfinite",
     "cvt.rn.satfinite.e4m3x2.f32 %h0, %f1, %f2;"},
    {"cvt.rzi.ftz.s32.f64 %r0, %d1;", "only conversions from or to .f32 have .ftz",
     "cvt.rzi.ftz.s32.f32 %r0, %f1;"},
    /* accesses, barriers, calls */
    {"ld.acquire.global.b32 %r0, [%l0];", "it needs one of .cta, .cluster, .gpu, .sys",
     "ld.acquire.gpu.global.b32 %r0, [%l0];"},
    {"st.acquire.gpu.global.b32 [%l0], %r0;", "it has no .acquire",
     "st.release.gpu.global.b32 [%l0], %r0;"},
    {"ld.volatile.const.b32 %r0, [%l0];", "it has no .const with .volatile",
     "ld.volatile.local.b32 %r0, [%l0];"},
    {"ld.global.b32 %r0, [s];", "'s' is in .shared, not in .global", "ld.b32 %r0, [s];"},
    {"ld.global.L2::cache_hint.b32 %r0, [%l0];", "2 operands, but 3 are expected",
     "ld.global.L2::cache_hint.b32 %r0, [%l0], %l1;"},
    {"atom.global.inc.s32 %r0, [%l0], %r1;", "it needs .u32",
     "atom.global.inc.u32 %r0, [%l0], %r1;"},
    {"atom.global.add.s64 %l1, [%l0], %l2;", "it has no .s64 with .add",
     "atom.global.max.s64 %l1, [%l0], %l2;"},
    {"atom.global.add.f16 %h1, [%l0], %h2;", "it needs .noftz",
     "atom.global.add.noftz.f16 %h1, [%l0], %h2;"},
    {"red.global.exch.b32 [%l0], %r1;", "it has no .exch", "red.global.and.b32 [%l0], %r1;"},
    {"fence.sc;", "it needs one of .cta, .cluster, .gpu, .sys", "fence.sc.cta;"},
    {"membar.gpu;", "it needs one of .cta, .gl, .sys, .proxy", "membar.gl;"},
    {"exit.uni;", "it has no .uni", "ret.uni;"},
    {"bar.sync 16;", "a block has the barriers 0 to 15", "bar.sync 15;"},
    {"bar.sync 0, 33;", "the number of threads is not a multiple of 32", "bar.sync 0, %r1;"},
    {"elect.sync %r0, -1;", "the predicate behind | is missing", "elect.sync %r0|%p0, -1;"},
    {"call %l0, ();", "a call by address needs a prototype",
     "P: .callprototype _ (); call %l0, P;"},
    {"{ .param .b32 a; call f, (a); }", NULL,
     "{ .param .b32 a; .param .b32 b; call (b), f, (a); }"},
    /* names and addresses */
    {".reg .b32 %r0; ret;", NULL, "{ .reg .b32 %r0; } ret;"},
    {".reg .b32 %n<2>, %n<3>; ret;", NULL, ".reg .b32 %n0, %n<2>; ret;"},
    {".reg .b32 %n<2>, %n1; ret;", NULL, ".reg .b32 %n<2>, %n2; ret;"},
    {".reg .b32 %n1, %n<2>; ret;", NULL, ".reg .b32 %n2, %n<2>; ret;"},
    {".reg .b32 %n1<3>; mov.b32 %n12, 1;", NULL, ".reg .b32 %n<13>; mov.b32 %n12, 1;"},
    {".reg .b32 s; ret;", NULL, "{ .reg .b32 s; } ret;"},
    {".reg .b32 p; ret;", NULL, "{ .reg .b32 p; } ret;"},
    {".reg .b32 L; ret;", NULL, "{ .reg .b32 L; } ret;"},
    {".shared .b32 %r1; ret;", NULL, ".shared .b32 %r4; ret;"},
    {".reg .b32 M; M: ret;", NULL, ".reg .b32 M<2>; M1: ret;"},
    {"{ .local .b32 v; .shared .b32 v; } ret;", NULL,
     "{ .local .b32 v; } { .shared .b32 v; } ret;"},
    {"{ .param .b32 v; .param .b32 v; } ret;", NULL, "{ .param .b32 v; } { .param .b32 v; } ret;"},
    {"ld.shared.u32 %r0, [%r1-4];", NULL, "ld.shared.u32 %r0, [%r1+-4];"},
    {"ld.shared.u32 %r0, [s-4];", NULL, "ld.shared.u32 %r0, [s+8-4];"},
    {"ld.global.u32 %r0, [%r1];", "an address of 32 bits, where addresses of global memory have 64",
     "ld.shared.u32 %r0, [%r1];"},
    {"st.u32 [%r1], %r0;", "an address of 32 bits, where addresses of global memory have 64",
     "st.local.u32 [%r1], %r0;"},
    {"atom.add.u32 %r0, [%r1], 1;",
     "an address of 32 bits, where addresses of global memory have 64",
     "atom.shared.add.u32 %r0, [%r1], 1;"},
    {"ld.global.f16 %h0, [%l0];", "it has no .f16", "ld.global.b16 %h0, [%l0];"},
    {"st.shared.bf16x2 [s], %r0;", "it has no .bf16x2", "st.shared.b32 [s], %r0;"},
    {"ld.global.u64 %l0, [p];", "'p' is in .param, not in .global", "ld.param.u64 %l0, [p];"},
    {"ld.u64 %l0, [p];", "'p' is in .param, not in .global, .shared or .local",
     "ld.param.u64 %l0, [p];"},
    {"ld.relaxed.gpu.u32 %r0, [c];", "'c' is in .const, not in .global, .shared or .local",
     "ld.relaxed.gpu.u32 %r0, [s];"},
    {"atom.add.u32 %r0, [c], 1;", "'c' is in .const, not in .global, .shared or .local",
     "atom.add.u32 %r0, [s], 1;"},
    {"prefetch.L1 [c];", "'c' is in .const, not in .global, .shared or .local",
     "prefetch.L1 [loc];"},
    {"ld.u32 %r0, [f];", "'f' is a function, not a variable", "mov.u64 %l0, f;"},
    {"st.shared.u32 [0], %r0;", "only addresses in .local can be constants",
     "st.local.u32 [0], %r0;"},
    {"ld.const.u32 %r0, [-4];", "only addresses in .local can be constants",
     "ld.const.u32 %r0, [c+4];"},
    {"ld.global.u32 %r0, [%q0];", "register %q0 is of type .b128, which does not fit here",
     "ld.global.b128 %q0, [%l0];"},
    /* what has no effect */
    {"prefetch.global [%l0];", "PTX has no such operation", "prefetch.local.L2 [%r0];"},
    {"prefetch.L2 [%r0];", "an address of 32 bits, where addresses of global memory have 64",
     "prefetch.L2 [%l0];"},
    {"prefetchu.L2 [%l0];", "PTX has no such operation", "prefetchu.L1 [%l0];"},
    {"prefetch.shared.tensormap [%l0];", "modifier '.shared' is not supported",
     "prefetch.const.tensormap [%l0];"},
    {"applypriority.global.L2::evict_normal [%l0], 64;", "the number of bytes is 128",
     "applypriority.global.L2::evict_normal [%l0], 128;"},
    {"discard.global.L2 [%l0], %r0;", "an operand must be a constant here",
     "discard.global.L2 [%l0], 128;"},
    {"pmevent 16;", "an event is a number from 0 to 15", "pmevent 15;"},
    {"pmevent -1;", "an event is a number from 0 to 15", "pmevent.mask 65535;"},
    {"griddepcontrol.launch_dependants;", "PTX has no such operation",
     "griddepcontrol.launch_dependents;"},
    {"griddepcontrol.wait 4;", "1 operands, but 0 are expected", "griddepcontrol.wait;"},
    {"cp.async.bulk.prefetch.global [%l0], 16;", "it needs .L2",
     "cp.async.bulk.prefetch.L2.global.L2::cache_hint [%l0], %r0, %l1;"},
    {"fence.proxy;", "these proxies are not supported", "fence.proxy.alias;"},
    {"fence.proxy.async.shared;", "modifier '.shared' is not supported",
     "fence.proxy.async.shared::cta;"},
    {"fence.proxy.async [%l0];", "1 operands, but 0 are expected",
     "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;"},
    {"fence.proxy.tensormap::generic.gpu;", "it needs .acquire or .release",
     "fence.proxy.tensormap::generic.release.gpu;"},
    {"fence.proxy.tensormap::generic.acquire.gpu [%l0], 64;", "a tensor map has 128 bytes",
     "fence.proxy.tensormap::generic.acquire.gpu [%l0], 128;"},
    /* asynchronous copies and matrices */
    {"mbarrier.arrive.shared::cluster.b64 %l0, [%r0];",
     "an arrival in .shared::cluster has no result but _",
     "mbarrier.arrive.shared::cluster.b64 _, [%r0];"},
    {"cp.async.bulk.global.shared::cluster.bulk_group [%l0], [%r0], %r1;",
     "a copy to .global comes from .shared::cta",
     "cp.async.bulk.global.shared::cta.bulk_group [%l0], [%r0], %r1;"},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s64 [%l0], [%r0], %r1;",
     "PTX has no such operation",
     "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u64 [%l0], [%r0], %r1;"},
    {"cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.min.u64 "
     "[%r0], [%r1], %r2, [%r3];",
     "PTX has no such operation",
     "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.min.u32 "
     "[%r0], [%r1], %r2, [%r3];"},
    {"cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%l0+64, {1}], [%r0];",
     "[tensor map, {coordinates}] is missing",
     "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%l0, {1}], [%r0];"},
    {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 %r0, [%r1];", "a fragment's registers stand in { }",
     "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r1];"},
    {"movmatrix.sync.aligned.m8n8.trans.b16 {%r0}, {%r1};", NULL,
     "movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;"},
    {"wmma.load.a.sync.aligned.col.m8n8k32.s4 {%r0}, [%l0], 128;", NULL,
     "wmma.load.b.sync.aligned.col.m8n8k32.s4 {%r0}, [%l0], 128;"},
    {"cvt.rn.bf16.s8 %h0, %h1;", "register %h1 is of type .b16, which does not fit here",
     "cvt.rn.bf16.s16 %h0, %h1;"},
    {"cvt.rzi.u8.bf16 %h0, %h1;", "register %h0 is of type .b16, which does not fit here",
     "cvt.rzi.u16.bf16 %h0, %h1;"},
    {"cvt.rm.bf16.bf16 %h0, %h1;", "a conversion that loses nothing has no rounding",
     "cvt.rm.f32.bf16 %f0, %h1;"},
    {"cvt.rn.f64.f16 %d0, %h1;", "a conversion that loses nothing has no rounding",
     "cvt.rn.f64.bf16 %d0, %h1;"},
    {"cvt.rn.sat.bf16.f32 %h0, %f1;", "it has no .sat with .f32", "cvt.rn.sat.f16.f32 %h0, %f1;"},
    {"cvt.sat.s32.u16 %r0, %h1;", "it has no .sat with .u16", "cvt.sat.s32.u32 %r0, %r1;"},
    {"cvt.rn.relu.f16.f64 %h0, %d1;", "it has no .relu with .f64", "cvt.rn.relu.f16.f32 %h0, %f1;"},
    {"cvt.rm.relu.bf16.f32 %h0, %f1;", "it needs one of .rn, .rz",
     "cvt.rz.relu.bf16.f32 %h0, %f1;"},
    {"setmaxnreg.inc.sync.aligned.u32 40;", "it needs .target sm_90a", "ret;"},
    /* results */
    {"set.lt.f16x2.f16 %r0, %h1, %h2;", "it has no result .f16x2 with .f16",
     "set.lt.f16.f16 %h0, %h1, %h2;"},
    {"set.lt.f16.f16x2 %h0, %r1, %r2;", "it has no result .f16 with .f16x2",
     "set.lt.f16x2.f16x2 %r0, %r1, %r2;"},
    {"set.eq.bf16x2.u32 %r0, %r1, %r2;", "it has no result .bf16x2 with .u32",
     "set.eq.bf16.u32 %h0, %r1, %r2;"},
    {"set.eq.u16.s32 %h0, %r1, %r2;", "it has no result .u16 with .s32",
     "set.eq.u16.bf16 %h0, %h1, %h2;"},
    {"set.lt.f32.bf16x2 %f0, %r1, %r2;", "it has no result .f32 with .bf16x2",
     "set.lt.u32.bf16x2 %r0, %r1, %r2;"},
    {"set.lt.ftz.bf16.f32 %h0, %f1, %f2;", "it has no .ftz with .bf16",
     "set.lt.ftz.f16.f32 %h0, %f1, %f2;"},
    {"setp.lt.f16 %p0|%p1, %h1, %h2;", "it has no second result with .f16",
     "setp.lt.f16x2 %p0|%p1, %r1, %r2;"},
    {"add.s32 _, %r1, %r2;", "its result needs a register, not _", "setp.eq.s32 _|%p0, %r1, %r2;"},
    {"mbarrier.test_wait.shared.b64 _, [s], %l0;", "its result needs a register, not _",
     "mbarrier.arrive.shared.b64 _, [s];"},
    {"match.any.sync.b32 _, %r1, -1;", "its result needs a register, not _",
     "match.all.sync.b32 _|%p0, %r1, -1;"},
    {"match.any.sync.b32 %r0|%p0, %r1, -1;", "it has no second result",
     "match.all.sync.b32 %r0|%p0, %r1, -1;"},
    {"match.any.sync.u32 %r0, %r1, -1;", "it is not supported for .u32",
     "match.any.sync.b64 %r0, %l1, -1;"},
    {"shfl.sync.up.u32 %r0, %r1, 1, 0, -1;", "it is not supported for .u32",
     "shfl.sync.up.b32 %r0, %r1, 1, 0, -1;"},
    {"redux.sync.min.b32 %r0, %r1, -1;", "it is not supported for .b32",
     "redux.sync.min.u32 %r0, %r1, -1;"},
    {"redux.sync.and.u32 %r0, %r1, -1;", "it is not supported for .u32",
     "redux.sync.and.b32 %r0, %r1, -1;"},
    {"redux.sync.and.b32 %r0, %f1, -1;", "register %f1 is of type .f32, which does not fit here",
     "match.any.sync.b32 %r0, %f1, -1;"},

    /* caches and orders */
    {"ld.relaxed.gpu.global.ca.b32 %r0, [%l0];", "it has no .ca with .relaxed",
     "ld.relaxed.gpu.global.L1::evict_last.b32 %r0, [%l0];"},
    {"ld.volatile.global.L1::no_allocate.b32 %r0, [%l0];",
     "it has no .L1::no_allocate with .volatile", "ld.volatile.global.L2::128B.b32 %r0, [%l0];"},
    {"ld.shared.L1::evict_last.b32 %r0, [%r1];", "it has no .L1::evict_last with .shared",
     "ld.shared.lu.b32 %r0, [%r1];"},
    {"ld.const.L2::256B.b32 %r0, [c];", "it has no .L2::256B with .const",
     "ld.L2::256B.b32 %r0, [%l0];"},
    {"st.global.L2::64B.b32 [%l0], %r0;", "it has no .L2::64B",
     "st.global.L1::evict_first.b32 [%l0], %r0;"},
    {"ld.mmio.relaxed.sys.shared.b32 %r0, [%r1];", "it has no .shared with .mmio",
     "ld.mmio.relaxed.sys.global.b32 %r0, [%l0];"},
    {"ldu.global.f16 %h0, [%l0];", "it has no .f16", "ldu.global.b16 %h0, [%l0];"},
    {"ldu.shared.b32 %r0, [%r1];", "it has no .shared", "ldu.b32 %r0, [%l0];"},
    {"fence;", "it needs one of .cta, .cluster, .gpu, .sys, .proxy", "fence.gpu;"},
    {"fence.mbarrier_init.cluster;", "it needs .release", "fence.mbarrier_init.release.cluster;"},
    {"fence.release.sync_restrict::shared::cluster.cluster;", "it needs .acquire",
     "fence.acquire.sync_restrict::shared::cluster.cluster;"},
    {"fence.acq_rel.sync_restrict::shared::cta.cluster;", "it needs .release",
     "fence.release.sync_restrict::shared::cta.cluster;"},
    {"fence.mbarrier_init.release.gpu;", "it has no .gpu with .mbarrier_init",
     "fence.release.gpu;"},
    {"membar;", "it needs one of .cta, .gl, .sys, .proxy", "membar.sys;"},
    {"mbarrier.arrive.acquire.cta.shared.b64 %l0, [s];", "it has no .acquire with .arrive",
     "mbarrier.arrive.relaxed.cta.shared.b64 %l0, [s];"},
    {"mbarrier.test_wait.release.cta.shared.b64 %p0, [s], %l0;",
     "it has no .release with .test_wait",
     "mbarrier.test_wait.acquire.cta.shared.b64 %p0, [s], %l0;"},
    {"mbarrier.arrive.release.shared.b64 %l0, [s];", "it needs one of .cta, .cluster",
     "mbarrier.arrive.release.cluster.shared.b64 %l0, [s];"},
    {"mbarrier.init.shared.b64 [s], %h0;", "register %h0 is of type .b16, which does not fit here",
     "mbarrier.init.shared.b64 [s], %r0;"},
    {"cp.async.bulk.prefetch.L2.global [%l0], 15;",
     "the number of bytes is a multiple of 16, up to 1048560",
     "cp.async.bulk.prefetch.L2.global [%l0], 1048560;"},
};

Test(emu_refusals, of_forms_that_ptx_does_not_have)
{
    struct emu *emu = open_emu();
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        cr_expect_eq(load_statement(emu, forms[i].wrong), EMU_INVALID_PTX, "%s", forms[i].wrong);
        if (forms[i].says) expect_message(emu_message(emu), forms[i].wrong, forms[i].says);
        cr_expect(!load_statement(emu, forms[i].right), "%s: %s", forms[i].right, emu_message(emu));
    }
    emu_close(emu);
}

/* Right instructions of every kind, which one more modifier makes wrong. */
Test(emu_refusals, of_one_more_modifier)
{
    static const char *const right[] = {
        "bra L;",
        "ret;",
        "exit;",
        "brx.idx %r0, T;",
        "call f;",
        "bar.sync 0;",
        "barrier.cta.sync.aligned 0;",
        "bar.arrive 1, 32;",
        "bar.red.popc.u32 %r0, 0, %p0;",
        "bar.warp.sync -1;",
        "barrier.cluster.arrive;",
        "barrier.cluster.wait;",
        "mapa.u64 %l0, %l1, 0;",
        "getctarank.u64 %r0, %l1;",
        "membar.gl;",
        "fence.acq_rel.gpu;",
        "activemask.b32 %r0;",
        "shfl.sync.idx.b32 %r0, %r1, 1, 31, -1;",
        "vote.sync.any.pred %p0, %p1, -1;",
        "match.any.sync.b32 %r0, %r1, -1;",
        "redux.sync.add.s32 %r0, %r1, -1;",
        "elect.sync %r0|%p0, -1;",
        "mov.u32 %r0, %r1;",
        "add.s32 %r0, %r1, %r2;",
        "fma.rn.f32 %f0, %f1, %f2, %f3;",
        "setp.lt.s32 %p0, %r0, %r1;",
        "set.lt.u32.s32 %r0, %r1, %r2;",
        "selp.b32 %r0, 1, 2, %p0;",
        "lop3.b32 %r0, %r1, %r2, %r3, 1;",
        "cvt.rn.f32.s32 %f0, %r0;",
        "ld.shared.u32 %r0, [s];",
        "st.shared.u32 [s], %r0;",
        "ld.global.nc.u32 %r0, [%l0];",
        "atom.global.add.u32 %r0, [%l0], 1;",
        "red.global.add.u32 [%l0], 1;",
        "cvta.to.global.u64 %l0, %l1;",
        "isspacep.global %p0, %l0;",
        "cp.async.ca.shared.global [%r0], [%l0], 4;",
        "cp.async.commit_group;",
        "cp.async.wait_group 0;",
        "cp.async.wait_all;",
        "cp.async.mbarrier.arrive.shared.b64 [%r0];",
        "cp.async.bulk.commit_group;",
        "cp.async.bulk.wait_group 0;",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%l0], 16, "
        "[%r1];",
        "mbarrier.init.shared.b64 [%r0], 1;",
        "mbarrier.inval.shared.b64 [%r0];",
        "prefetch.global.L1 [%l0];",
        "prefetchu.L1 [%l0];",
        "pmevent 3;",
        "griddepcontrol.wait;",
        "discard.L2 [%l0], 128;",
        "cp.async.bulk.prefetch.L2.global [%l0], 16;",
        "fence.proxy.async;",
        "fence.proxy.tensormap::generic.release.gpu;",
        "mbarrier.arrive.shared.b64 %l0, [%r0];",
        "mbarrier.expect_tx.shared.b64 [%r0], 4;",
        "mbarrier.test_wait.shared.b64 %p0, [%r0], %l0;",
        "alloca.u64 %l0, 16;",
        "stacksave.u64 %l0;",
        "stackrestore.u64 %l0;",
        "tex.a1d.v4.f32.f32 {%f0, _, _, _}, [%l0, {%r0, %f0}];",
        "tld4.a.2d.v4.u32.f32 {%r0, %r1, %r2, %r3}, [%l0, {%f0, %f0}];",
        "suld.b.2d.v2.b16.zero {%h0, %h1}, [%l0, {%r0, %r1}];",
        "sust.b.1d.b64.clamp [%l0, {%r0}], {%l1};"};
    struct emu *emu = open_emu();
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        for (int more = 0; more < 2; more++) {
            char statement[300], text[1200];
            struct emu_module *module;
            struct emu_kernel *kernel;
            int length = (int)strcspn(right[i], " ;");
            snprintf(statement, sizeof statement, "T: .branchtargets L;\n%.*s%s%s", length,
                     right[i], more ? ".frob" : "", right[i] + length);
            snprintf(text, sizeof text, KERNEL ".func f() { ret; }\n", statement);
            int e = emu_load(emu, text, strlen(text), "k.ptx", &module);
            if (!e) e = emu_kernel(emu, module, "k", &kernel);
            cr_expect((e != 0) == more, "%s: %s", statement, e ? emu_message(emu) : "taken");
        }
    emu_close(emu);
}

/* The registers of a warp group: only a text for one architecture may ask for them. */
Test(refusals, numbers_of_registers)
{
    static const int wrong[] = {16, 41, 264}, right[] = {24, 40, 256};
    struct emu *emu = open_emu();
    for (int i = 0; i < 6; i++) {
        char text[300];
        struct emu_module *module;
        struct emu_kernel *kernel;
        int length = snprintf(text, sizeof text,
                              ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k() "
                              "{\nsetmaxnreg.dec.sync.aligned.u32 %d;\nret;\n}\n",
                              i < 3 ? wrong[i] : right[i - 3]);
        int error = emu_load(emu, text, (size_t)length, "k.ptx", &module);
        if (!error) error = emu_kernel(emu, module, "k", &kernel);
        cr_expect_eq(error, i < 3 ? EMU_INVALID_PTX : EMU_OK, "%s", emu_message(emu));
    }
    emu_close(emu);
}

/* What ptxas refuses, although each instruction is right: 0 bytes more than fit, and one. */
Test(refusals, more_than_a_gpu_has)
{
    static const struct {
        const char *format, *says;
        unsigned most;
    } cases[] = {
        {PTX_HEADER ".visible .entry k() {\n.shared .b8 s[%u];\n.reg .b32 %%r;\nmov.u32 %%r, s;\n"
                    "ret;\n}\n",
         "kernel k uses too much shared data (0xc001 bytes, 0xc000 max); ptxas refuses it", 0xc000},
        {PTX_HEADER ".const .b8 c[%u];\n.visible .entry k() {\nret;\n}\n",
         "k.ptx uses too much global constant data (0x10001 bytes, 0x10000 max); ptxas refuses it",
         0x10000},
    };
    struct emu *emu = open_emu();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned more = 0; more < 2; more++) {
            char text[512];
            struct emu_module *module = NULL;
            struct emu_kernel *kernel;
            int length = snprintf(text, sizeof text, cases[i].format, cases[i].most + more);
            int error = emu_load(emu, text, (size_t)length, "k.ptx", &module);
            if (!error) error = emu_kernel(emu, module, "k", &kernel);
            cr_expect_eq(error, more ? EMU_INVALID_PTX : EMU_OK, "%s", emu_message(emu));
            if (more) cr_expect(strstr(emu_message(emu), cases[i].says), "%s", emu_message(emu));
        }
    emu_close(emu);
}
