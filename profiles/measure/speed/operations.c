/*
 * operations.c — how fast each operation and each shape of access is: a kernel of one instruction,
 * repeated, for each row. The kernels are generated here as PTX, since nvcc would remove such code.
 */
#include "bench.h"
#include "common/emu/emu.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    COPIES = 64, /* of the instruction in the loop's body */
    LOOPS = 32,
    BLOCK = 256,
    GRID = 16,
    TEXT = 16384, /* characters of a kernel */
    BUFFER = 1 << 20,
    TILE_BYTES = 16384, /* of shared and of local memory */
};

/* Operands as letters, the result first: r and d for integers of 32 and 64 bits, h for 16 bits, f
 * and g for floats of 32 and 64 bits, p for a predicate, t for a truth table. Operations that
 * differ in their type alone share a row of the table: "add" with "u32 rrr, u64 ddd". */
static const struct {
    const char *name;
    const char *types; /* a type, its operands, and so on */
} operations[] = {
    {"add", "u16 hhh u32 rrr u64 ddd f32 fff f64 ggg f16x2 rrr"},
    {"sub", "u16 hhh u32 rrr u64 ddd f32 fff f64 ggg"},
    {"add.sat", "s32 rrr f32 fff"},
    {"add.ftz", "f32 fff"},
    {"add.rz", "f32 fff f64 ggg"},
    {"mul.lo", "u16 hhh u32 rrr u64 ddd"},
    {"mul.hi", "u32 rrr s32 rrr u64 ddd"},
    {"mul.wide", "u16 rhh u32 drr s32 drr"},
    {"mul", "f32 fff f64 ggg f16x2 rrr"},
    {"mul.ftz", "f32 fff"},
    {"mad.lo", "u16 hhhh u32 rrrr u64 dddd"},
    {"mad.hi", "u32 rrrr"},
    {"mad.wide", "u32 drrd"},
    {"fma.rn", "f32 ffff f64 gggg f16x2 rrrr"},
    {"fma.rn.ftz", "f32 ffff"},
    {"div", "u16 hhh u32 rrr s32 rrr u64 ddd s64 ddd"},
    {"rem", "u16 hhh u32 rrr s32 rrr u64 ddd s64 ddd"},
    {"div.rn", "f32 fff f64 ggg"},
    {"div.approx", "f32 fff"},
    {"sqrt.rn", "f32 ff f64 gg"},
    {"sqrt.approx", "f32 ff"},
    {"rcp.rn", "f32 ff f64 gg"},
    {"rsqrt.approx", "f32 ff f64 gg"},
    {"ex2.approx", "f32 ff"},
    {"lg2.approx", "f32 ff"},
    {"sin.approx", "f32 ff"},
    {"cos.approx", "f32 ff"},
    {"tanh.approx", "f32 ff"},
    {"abs", "s32 rr s64 dd f32 ff f64 gg"},
    {"neg", "s32 rr s64 dd f32 ff f64 gg"},
    {"min", "u16 hhh u32 rrr s32 rrr u64 ddd s64 ddd f32 fff f64 ggg"},
    {"max", "u16 hhh u32 rrr s32 rrr u64 ddd s64 ddd f32 fff f64 ggg"},
    {"and", "b16 hhh b32 rrr b64 ddd"},
    {"or", "b16 hhh b32 rrr b64 ddd"},
    {"xor", "b16 hhh b32 rrr b64 ddd"},
    {"not", "b16 hh b32 rr b64 dd"},
    {"and", "pred ppp"},
    {"shl", "b16 hhr b32 rrr b64 ddr"},
    {"shr", "u16 hhr u32 rrr s32 rrr u64 ddr s64 ddr"},
    {"lop3", "b32 rrrrt"},
    {"shf.l.wrap", "b32 rrrr"},
    {"shf.r.clamp", "b32 rrrr"},
    {"popc", "b32 rr b64 rd"},
    {"clz", "b32 rr b64 rd"},
    {"brev", "b32 rr b64 dd"},
    {"bfind", "u32 rr"},
    {"bfe", "u32 rrrr s32 rrrr u64 ddrr"},
    {"bfi", "b32 rrrrr b64 dddrr"},
    {"prmt", "b32 rrrr"},
    {"dp4a.s32", "s32 rrrr"},
    {"setp.lt", "u16 phh u32 prr s32 prr u64 pdd s64 pdd f32 pff f64 pgg"},
    {"setp.eq", "u16 phh u32 prr u64 pdd f32 pff f64 pgg"},
    {"setp.lt.ftz", "f32 pff"},
    {"setp.neu", "f32 pff"},
    {"setp.ne", "f32 pff"},
    {"selp", "b16 hhhp b32 rrrp b64 dddp f32 fffp f64 gggp"},
    {"mov", "b16 hh b32 rr b64 dd f32 ff f64 gg pred pp"},
    {"cvt", "u64.u32 dr s64.s32 dr u32.u64 rd u16.u32 hr u32.u16 rh"},
    {"cvt.rn", "f32.u32 fr f32.s32 fr f64.s32 gr f32.f64 fg f64.s64 gd f32.u64 fd"},
    {"cvt.rzi", "u32.f32 rf s32.f32 rf s32.f64 rg s64.f64 dg"},
    {"cvt", "f64.f32 gf"},
    {"cvt.rni", "f32.f32 ff"},
};

/* The addresses that the lanes of a warp access. */
static const struct shape {
    const char *name;
    unsigned stride; /* from one lane to the next, in elements, modulo the memory's size */
} shapes[] = {{"broadcast", 0}, {"consecutive", 1}, {"strided", 3}, {"scattered", 2654435761u}};

static const struct {
    const char *name;
    bool stores;
    size_t shapes; /* the first ones */
} spaces[] = {{"global", true, 4}, {"shared", true, 4}, {"local", true, 4}, {"param", false, 1}};

static const struct {
    const char *type, *letters;
    unsigned bytes;
} elements[] = {
    {"u8", "h", 1}, {"u32", "r", 4}, {"u64", "d", 8}, {"v2.u32", "rr", 8}, {"v4.u32", "rrrr", 16}};

/* ---- text of a kernel ---------------------------------------------------------------------- */

struct text {
    char *at, *end;
};

static void __attribute__((format(printf, 2, 3))) add(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text->at, (size_t)(text->end - text->at), format, arguments);
    va_end(arguments);
    if (length < 0 || length >= text->end - text->at) {
        fprintf(stderr, "bench: a kernel of more than %d characters\n", TEXT);
        exit(1);
    }
    text->at += length;
}

/* Registers numbered from 0, which is for results; the others hold a different value in each lane.
 * No value slows a CPU down: all are near 1, and none is denormal. r2 and r3 are small, for
 * shifts. */
static void add_registers(struct text *text)
{
    add(text, ".reg .b32 r<16>;\n.reg .b64 d<16>;\n.reg .b16 h<16>;\n.reg .f32 f<16>;\n"
              ".reg .f64 g<16>;\n.reg .pred p<16>;\n.reg .b32 i;\n.reg .pred more;\n"
              "mov.u32 r1, %%tid.x;\nadd.u32 r1, r1, 1000;\nmov.u32 r2, 7;\nmov.u32 r3, 5;\n"
              "mov.u32 r4, 3;\n");
    for (int k = 1; k <= 4; k++)
        add(text,
            "cvt.u64.u32 d%d, r%d;\ncvt.u16.u32 h%d, r%d;\ncvt.rn.f32.u32 f%d, r%d;\n"
            "mul.f32 f%d, f%d, 0f3A83126F;\ncvt.f64.f32 g%d, f%d;\nsetp.lt.u32 p%d, r%d, 1020;\n",
            k, k, k, k, k, k, k, k, k, k, k, k);
}

static void begin(struct text *text)
{
    add(text, ".version 8.0\n.target sm_90\n.address_size 64\n"
              ".visible .entry bench(.param .u64 buffer)\n{\n");
    add_registers(text);
}

static void begin_loop(struct text *text) { add(text, "mov.u32 i, %d;\nagain:\n", LOOPS); }

static void end_loop(struct text *text)
{
    add(text, "sub.u32 i, i, 1;\nsetp.ne.u32 more, i, 0;\n@more bra again;\nret;\n}\n");
}

/* ---- running a kernel ---------------------------------------------------------------------- */

struct run {
    struct emu_kernel *kernel;
    emu_addr buffer;
};

static cudaError_t launch(void *argument)
{
    struct run *run = argument;
    void *args[] = {&run->buffer};
    return (cudaError_t)emu_launch(emu_runtime(), run->kernel, (struct emu_dim){GRID, 1, 1},
                                   (struct emu_dim){BLOCK, 1, 1}, 0, args, false);
}

static void measure_text(const char *group, const char *name, const char *ptx, emu_addr buffer)
{
    struct emu *emu = emu_runtime();
    struct emu_module *module;
    struct run run = {NULL, buffer};
    if (emu_load(emu, ptx, strlen(ptx), name, &module) != EMU_OK ||
        emu_kernel(emu, module, "bench", &run.kernel) != EMU_OK) {
        fprintf(stderr, "bench: %s: %s\n", name, emu_message(emu));
        exit(1);
    }
    measure(&(struct bench_case){group, name, GRID * BLOCK, BLOCK}, launch, &run);
    emu_unload(emu, module);
}

/* ---- operations ---------------------------------------------------------------------------- */

static void measure_operation(const char *name, const char *type, const char *operands)
{
    char buffer[TEXT], title[64];
    struct text text = {buffer, buffer + sizeof buffer};
    begin(&text);
    begin_loop(&text);
    snprintf(title, sizeof title, "%s.%s", name, type);
    for (int k = 0; k < COPIES; k++) {
        add(&text, "%s %c0", title, operands[0]);
        for (int o = 1; operands[o] != '\0'; o++)
            if (operands[o] == 't')
                add(&text, ", 0x96");
            else
                add(&text, ", %c%d", operands[o], o);
        add(&text, ";\n");
    }
    end_loop(&text);
    measure_text("operation", title, buffer, 0);
}

void measure_operations(void)
{
    for (size_t k = 0; k < sizeof operations / sizeof *operations; k++) {
        char type[16], operands[8];
        int length;
        for (const char *rest = operations[k].types;
             sscanf(rest, " %15s %7s%n", type, operands, &length) == 2; rest += length)
            measure_operation(operations[k].name, type, operands);
    }
}

/* ---- accesses ------------------------------------------------------------------------------ */

/* d5 = the lane's offset, within the buffer; d6 and r6 = its address. */
static void add_address(struct text *text, const char *space, const struct shape *shape,
                        unsigned bytes)
{
    add(text,
        "mov.u32 r5, %%tid.x;\nmul.lo.u32 r5, r5, %u;\nmul.lo.u32 r5, r5, %u;\n"
        "and.b32 r5, r5, %u;\ncvt.u64.u32 d5, r5;\n",
        shape->stride, bytes, (unsigned)TILE_BYTES - bytes);
    if (!strcmp(space, "global"))
        add(text, "ld.param.u64 d6, [buffer];\n");
    else if (!strcmp(space, "param"))
        add(text, "mov.u64 d6, 0;\n");
    else
        add(text, "mov.u64 d6, place;\n");
    add(text, "add.u64 d6, d6, d5;\ncvt.u32.u64 r6, d6;\n");
}

static void add_access(struct text *text, bool store, const char *space, const char *type,
                       const char *letters)
{
    char values[64];
    int length = 0;
    for (int k = 0; letters[k] != '\0'; k++)
        length += snprintf(values + length, sizeof values - (size_t)length, "%s%c%d", k ? ", " : "",
                           letters[k], k + 7);
    const char *address = !strcmp(space, "param")    ? "buffer"
                          : !strcmp(space, "shared") ? "r6" /* as nvcc does */
                                                     : "d6";
    bool vector = letters[1] != '\0';
    const char *open = vector ? "{" : "", *close = vector ? "}" : "";
    if (store)
        add(text, "st.%s.%s [%s], %s%s%s;\n", space, type, address, open, values, close);
    else
        add(text, "ld.%s.%s %s%s%s, [%s];\n", space, type, open, values, close, address);
}

static void measure_access(bool store, const char *space, const struct shape *shape, size_t element,
                           emu_addr memory)
{
    char buffer[TEXT], title[64];
    struct text text = {buffer, buffer + sizeof buffer};
    const char *type = elements[element].type;
    begin(&text);
    if (!strcmp(space, "shared") || !strcmp(space, "local"))
        add(&text, ".%s .align 16 .b8 place[%d];\n", space, TILE_BYTES);
    add_address(&text, space, shape, elements[element].bytes);
    begin_loop(&text);
    for (int k = 0; k < COPIES; k++)
        add_access(&text, store, space, type, elements[element].letters);
    end_loop(&text);
    snprintf(title, sizeof title, "%s.%s.%s %s", store ? "st" : "ld", space, type, shape->name);
    measure_text("access", title, buffer, memory);
}

void measure_accesses(void)
{
    emu_addr memory;
    if (emu_alloc(emu_runtime(), BUFFER, &memory) != EMU_OK) exit(1);
    emu_fill(emu_runtime(), memory, 0, BUFFER);
    for (size_t s = 0; s < sizeof spaces / sizeof *spaces; s++)
        for (size_t e = 0; e < sizeof elements / sizeof *elements; e++)
            for (int store = 0; store <= spaces[s].stores; store++)
                for (size_t k = 0; k < spaces[s].shapes; k++)
                    if (strcmp(spaces[s].name, "param") || elements[e].letters[1] == '\0')
                        measure_access(store, spaces[s].name, &shapes[k], e, memory);
    emu_free(emu_runtime(), memory);
}
