/* ptx_run.c — wraps instructions of a test in a kernel, and runs it. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 128, SLOT = sizeof(union value), DEVICE_BYTES = 64 << 20 };

struct class
{
    char letter;
    const char *reg;  /* how it is declared */
    const char *move; /* the type of its loads and stores */
    unsigned bytes;
};

static const struct class classes[] = {
    {'h', ".b16", "b16", 2}, {'r', ".b32", "b32", 4}, {'l', ".b64", "b64", 8},
    {'f', ".f32", "f32", 4}, {'d', ".f64", "f64", 8}, {'p', ".pred", "b32", 4},
};

static const struct class *class_of(char letter)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (classes[i].letter == letter) return &classes[i];
    cr_assert_fail("no operand class '%c'", letter);
    abort();
}

unsigned ptx_outputs(const char *operands) { return (unsigned)strcspn(operands, "="); }

unsigned ptx_inputs(const char *operands)
{
    return (unsigned)strlen(operands) - ptx_outputs(operands) - 1;
}

char *ptx_text(const char *body, const char *operands)
{
    unsigned outputs = ptx_outputs(operands), inputs = ptx_inputs(operands);
    cr_assert(outputs + inputs <= PTX_RUN_OPERANDS);

    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    cr_assert(f);

    const char *newer = strncmp(body, NEWER, strlen(NEWER)) ? "" : NEWER;
    body += strlen(newer);
    fputs(*newer ? ".version 9.0\n.target sm_100\n.address_size 64\n" : PTX_HEADER, f);
    fputs(".visible .entry op(.param .u64 p_out, .param .u64 p_in) {\n"
          ".reg .b32 %t<4>;\n.reg .b64 %out, %in;\n",
          f);
    for (unsigned i = 0; i < outputs + inputs; i++) {
        char letter = operands[i < outputs ? i : i + 1];
        fprintf(f, ".reg %s %%%c%u;\n", class_of(letter)->reg, letter, i);
    }
    fprintf(f,
            "ld.param.u64 %%out, [p_out];\nld.param.u64 %%in, [p_in];\n"
            "mov.u32 %%t0, %%ctaid.x;\nmov.u32 %%t1, %%ntid.x;\nmov.u32 %%t2, %%tid.x;\n"
            "mad.lo.u32 %%t0, %%t0, %%t1, %%t2;\n"
            "mad.wide.u32 %%out, %%t0, %u, %%out;\nmad.wide.u32 %%in, %%t0, %u, %%in;\n",
            outputs * SLOT, inputs * SLOT);
    for (unsigned i = 0; i < inputs; i++) {
        const struct class *c = class_of(operands[outputs + 1 + i]);
        if (c->letter == 'p')
            fprintf(f, "ld.global.b32 %%t3, [%%in+%u];\nsetp.ne.s32 %%p%u, %%t3, 0;\n", i * SLOT,
                    outputs + i);
        else
            fprintf(f, "ld.global.%s %%%c%u, [%%in+%u];\n", c->move, c->letter, outputs + i,
                    i * SLOT);
    }
    for (const char *s = body; *s; s++) {
        if (*s == '$' && s[1] >= '0' && s[1] <= '9') {
            unsigned i = (unsigned)(*++s - '0');
            cr_assert(i < outputs + inputs);
            fprintf(f, "%%%c%u", operands[i < outputs ? i : i + 1], i);
        } else
            fputc(*s, f);
    }
    fputc('\n', f);
    for (unsigned i = 0; i < outputs; i++) {
        const struct class *c = class_of(operands[i]);
        if (c->letter == 'p')
            fprintf(f, "selp.b32 %%t3, 1, 0, %%p%u;\nst.global.b32 [%%out+%u], %%t3;\n", i,
                    i * SLOT);
        else
            fprintf(f, "st.global.%s [%%out+%u], %%%c%u;\n", c->move, i * SLOT, c->letter, i);
    }
    fputs("ret;\n}\n", f);
    fclose(f);
    return text;
}

int ptx_run(struct emu *emu, const char *body, const char *operands, size_t count,
            const union value *in, union value *out)
{
    unsigned outputs = ptx_outputs(operands), inputs = ptx_inputs(operands);
    size_t padded = (count + BLOCK - 1) / BLOCK * BLOCK; /* a whole number of blocks */
    size_t in_bytes = padded * inputs * SLOT, out_bytes = padded * outputs * SLOT;

    struct emu_module *module = NULL;
    struct emu_kernel *kernel = NULL;
    emu_addr in_device = 0, out_device = 0;
    char *text = ptx_text(body, operands);

    int e = emu_load(emu, text, strlen(text), "op", &module);
    if (!e) e = emu_kernel(emu, module, "op", &kernel);
    /* Memory of at least one byte, so that a statement without inputs needs no special case. */
    if (!e) e = emu_alloc(emu, in_bytes + 1, &in_device);
    if (!e) e = emu_alloc(emu, out_bytes, &out_device);
    if (!e) e = emu_fill(emu, in_device, 0, in_bytes + 1);
    if (!e) e = emu_fill(emu, out_device, 0, out_bytes);
    if (!e && inputs) e = emu_write(emu, in_device, in, count * inputs * SLOT);
    if (!e) {
        struct emu_dim grid = {(unsigned)(padded / BLOCK), 1, 1}, block = {BLOCK, 1, 1};
        e = emu_launch(emu, kernel, grid, block, 0, (void *[]){&out_device, &in_device}, false);
    }
    if (!e) e = emu_read(emu, out, out_device, count * outputs * SLOT);

    if (in_device) emu_free(emu, in_device);
    if (out_device) emu_free(emu, out_device);
    if (module && !e) emu_unload(emu, module); /* keeps the message of a failure */
    free(text);
    return e;
}

struct emu *open_emu(void)
{
    return open_emu_with(&(struct emu_config){.threads = 1, .memory = DEVICE_BYTES});
}

struct emu *open_emu_with(const struct emu_config *config)
{
    char message[256] = "";
    struct emu *emu = emu_open(config, message, sizeof message);
    cr_assert(emu, "emu_open: %s", message);
    return emu;
}

struct emu_kernel *load_kernel(struct emu *emu, const char *ptx, const char *name)
{
    struct emu_module *module;
    struct emu_kernel *kernel;
    cr_assert(!emu_load(emu, ptx, strlen(ptx), "test.ptx", &module), "%s", emu_message(emu));
    cr_assert(!emu_kernel(emu, module, name, &kernel), "%s", emu_message(emu));
    return kernel;
}

emu_addr device_copy(struct emu *emu, const void *host, size_t bytes)
{
    emu_addr address = 0;
    cr_assert(!emu_alloc(emu, bytes, &address), "%s", emu_message(emu));
    cr_assert(!(host ? emu_write(emu, address, host, bytes) : emu_fill(emu, address, 0, bytes)),
              "%s", emu_message(emu));
    return address;
}

int launch(struct emu *emu, struct emu_kernel *kernel, unsigned grid, unsigned block, size_t shared,
           unsigned count, const uint64_t *args)
{
    void *pointers[8] = {NULL};
    cr_assert(count <= 8);
    for (unsigned i = 0; i < count; i++) pointers[i] = (void *)&args[i];
    return emu_launch(emu, kernel, (struct emu_dim){grid, 1, 1}, (struct emu_dim){block, 1, 1},
                      shared, pointers, false);
}

char *ptx_kernel(const char *format, ...)
{
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    cr_assert(f);
    fputs(PTX_PROLOGUE("k"), f);
    va_list args;
    va_start(args, format);
    vfprintf(f, format, args);
    va_end(args);
    fputs("\n}\n", f);
    fclose(f);
    return text;
}

void run_kernel(struct emu *emu, const char *ptx, unsigned threads, unsigned block, uint32_t *out,
                const uint32_t *in)
{
    size_t bytes = threads * sizeof *out;
    struct emu_kernel *kernel = load_kernel(emu, ptx, "k");
    emu_addr out_device = device_copy(emu, NULL, bytes), in_device = device_copy(emu, in, bytes);
    cr_assert(
        !launch(emu, kernel, threads / block, block, 0, 2, (uint64_t[]){out_device, in_device}),
        "%s", emu_message(emu));
    cr_assert(!emu_read(emu, out, out_device, bytes), "%s", emu_message(emu));
    emu_free(emu, out_device);
    emu_free(emu, in_device);
}

uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}
