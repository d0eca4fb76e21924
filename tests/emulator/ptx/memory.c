/*
 * memory.c — loads and stores of every width in every space, in every form of PTX; accesses at the
 * edges of an allocation; and the memory calls of emu.h.
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 64 };

/* ---- every width in every space -------------------------------------------------------------- */

struct access {
    const char *type;
    char reg;
    unsigned bytes, vector;
};

static const struct access accesses[] = {
    {"b8", 'h', 1, 1},  {"u8", 'h', 1, 1},  {"s8", 'r', 1, 1},  {"b8", 'h', 1, 2},
    {"u8", 'h', 1, 4},  {"b16", 'h', 2, 1}, {"u16", 'r', 2, 1}, {"s16", 'h', 2, 1},
    {"u16", 'h', 2, 2}, {"b16", 'h', 2, 4}, {"b32", 'r', 4, 1}, {"u32", 'r', 4, 1},
    {"s32", 'r', 4, 1}, {"f32", 'f', 4, 1}, {"f32", 'f', 4, 2}, {"b32", 'r', 4, 4},
    {"f32", 'f', 4, 4}, {"b64", 'l', 8, 1}, {"u64", 'l', 8, 1}, {"f64", 'd', 8, 1},
    {"u64", 'l', 8, 2}, {"f64", 'd', 8, 2},
};

/* A space that a kernel can write: how its buffer is declared and how a thread gets its address. */
struct space {
    const char *name, *declare, *address; /* address: of the buffer, into %a3 */
    bool shared;                          /* threads can read each other's elements */
    size_t dynamic;
};

static const struct space spaces[] = {
    {".shared", ".shared .align 16 .b8 buf[1024];\n", "mov.u64 %a3, buf;\n", true, 0},
    {".shared", "", "mov.u64 %a3, dyn;\n", true, THREADS * 16},
    {".local", ".local .align 16 .b8 buf[1024];\n", "mov.u64 %a3, buf;\n", false, 0},
    {"", ".shared .align 16 .b8 buf[1024];\n", "mov.u64 %a3, buf;\ncvta.shared.u64 %a3, %a3;\n",
     true, 0},
    {"", "", "mov.u64 %a3, dyn;\ncvta.shared.u64 %a3, %a3;\n", true, THREADS * 16},
    {"", ".local .align 16 .b8 buf[1024];\n", "mov.u64 %a3, buf;\ncvta.local.u64 %a3, %a3;\n",
     false, 0},
    {"", "", "mov.u64 %a3, glob;\ncvta.global.u64 %a3, %a3;\n", true, 0},
    {".global", "", "mov.u64 %a3, glob;\n", true, 0},
    {".shared::cta", ".shared .align 16 .b8 buf[1024];\n", "mov.u64 %a3, buf;\n", true, 0},
};

/* One register operand, or a vector of them. */
static void print_registers(FILE *f, const struct access *a)
{
    if (a->vector == 1) {
        fprintf(f, "%%%c0", a->reg);
        return;
    }
    for (unsigned i = 0; i < a->vector; i++) fprintf(f, "%s%%%c%u", i ? ", " : "{", a->reg, i);
    fputc('}', f);
}

static void print_load(FILE *f, const char *space, const struct access *a, const char *address)
{
    fprintf(f, "ld%s%s.%s ", space, a->vector == 2 ? ".v2" : a->vector == 4 ? ".v4" : "", a->type);
    print_registers(f, a);
    fprintf(f, ", [%s];\n", address);
}

static void print_store(FILE *f, const char *space, const struct access *a, const char *address)
{
    fprintf(f, "st%s%s.%s [%s], ", space,
            a->vector == 2   ? ".v2"
            : a->vector == 4 ? ".v4"
                             : "",
            a->type, address);
    print_registers(f, a);
    fputs(";\n", f);
}

#define SPACES_KERNEL                                                                              \
    PTX_HEADER ".extern .shared .align 16 .b8 dyn[];\n.global .align 16 .b8 glob[1024];\n"         \
               ".visible .entry k(.param .u64 p_out, .param .u64 p_in) {\n"                        \
               ".reg .b16 %h<4>;\n.reg .b32 %r<8>;\n.reg .f32 %f<4>;\n.reg .b64 %l<8>;\n"          \
               ".reg .f64 %d<4>;\n.reg .b32 %t<4>;\n.reg .b64 %a<8>;\n"

/* in → the space → (from the neighbour's element, where there is one) → out: the bytes of thread t
 * must arrive at its neighbour unchanged. The stores or the loads are in the order of the threads:
 * an access to consecutive addresses is done another way than one to exchanged ones. */
static void check_space(struct emu *emu, const struct space *s, const struct access *a,
                        bool stores_exchanged)
{
    unsigned size = a->bytes * a->vector;
    char *text;
    size_t length;
    FILE *f = open_memstream(&text, &length);
    cr_assert(f);
    fputs(SPACES_KERNEL, f);
    fprintf(f,
            "%sld.param.u64 %%a0, [p_out];\nld.param.u64 %%a1, [p_in];\n"
            "mov.u32 %%t0, %%tid.x;\n%s",
            s->declare, s->address);
    fprintf(f,
            "mad.wide.u32 %%a0, %%t0, %u, %%a0;\nmad.wide.u32 %%a1, %%t0, %u, %%a1;\n"
            "mad.wide.u32 %%a4, %%t0, %u, %%a3;\n",
            size, size, size);
    fprintf(f, "xor.b32 %%t1, %%t0, %d;\nmad.wide.u32 %%a5, %%t1, %u, %%a3;\n", s->shared, size);
    print_load(f, ".global", a, "%a1");
    print_store(f, s->name, a, stores_exchanged ? "%a5" : "%a4");
    fputs("bar.sync 0;\n", f);
    print_load(f, s->name, a, stores_exchanged ? "%a4" : "%a5");
    print_store(f, ".global", a, "%a0");
    fputs("ret;\n}\n", f);
    fclose(f);

    uint8_t in[THREADS * 16], out[THREADS * 16];
    for (size_t i = 0; i < sizeof in; i++) in[i] = (uint8_t)(i * 167 + 13);
    struct emu_kernel *kernel = load_kernel(emu, text, "k");
    emu_addr in_device = device_copy(emu, in, THREADS * size);
    emu_addr out_device = device_copy(emu, NULL, THREADS * size);
    int e = launch(emu, kernel, 1, THREADS, s->dynamic, 2, (uint64_t[]){out_device, in_device});
    cr_assert(!e, "%s\n%s", emu_message(emu), text);
    cr_assert(!emu_read(emu, out, out_device, THREADS * size));
    for (unsigned t = 0; t < THREADS; t++) {
        unsigned from = t ^ s->shared;
        if (!memcmp(out + t * size, in + from * size, size)) continue;
        cr_expect(false, "%s v%u.%s: thread %u got other bytes\n%s", *s->name ? s->name : "generic",
                  a->vector, a->type, t, text);
        break;
    }
    emu_free(emu, in_device);
    emu_free(emu, out_device);
    free(text);
}

Test(emu_memory, every_width_in_every_space)
{
    struct emu *emu = open_emu();
    for (size_t s = 0; s < sizeof spaces / sizeof *spaces; s++)
        for (size_t a = 0; a < sizeof accesses / sizeof *accesses; a++)
            for (int exchanged = 0; exchanged < 2; exchanged++)
                check_space(emu, &spaces[s], &accesses[a], exchanged);
    emu_close(emu);
}

/* A narrow load fills a wider register: with copies of the sign or with zeros. */
Test(emu_memory, narrow_loads_extend)
{
    static const struct {
        const char *load, *store;
        uint64_t want;
    } loads[] = {
        {"ld.global.u8 %h0, [%in];", "cvt.u64.u16 %l0, %h0;", 0x80},
        {"ld.global.s8 %h0, [%in];", "cvt.u64.u16 %l0, %h0;", 0xff80},
        {"ld.global.u8 %r0, [%in];", "cvt.u64.u32 %l0, %r0;", 0x80},
        {"ld.global.s8 %r0, [%in];", "cvt.u64.u32 %l0, %r0;", 0xffffff80},
        {"ld.global.s8 %l0, [%in];", "", 0xffffffffffffff80},
        {"ld.global.u16 %r0, [%in];", "cvt.u64.u32 %l0, %r0;", 0x9180},
        {"ld.global.s16 %r0, [%in];", "cvt.u64.u32 %l0, %r0;", 0xffff9180},
        {"ld.global.s16 %l0, [%in];", "", 0xffffffffffff9180},
        {"ld.global.u32 %l0, [%in];", "", 0xb3a29180},
        {"ld.global.s32 %l0, [%in];", "", 0xffffffffb3a29180},
        {"ld.global.b8 %r0, [%in+1];", "cvt.u64.u32 %l0, %r0;", 0x91},
    };
    struct emu *emu = open_emu();
    const uint8_t bytes[] = {0x80, 0x91, 0xa2, 0xb3, 0xc4, 0xd5, 0xe6, 0xf7};
    emu_addr in = device_copy(emu, bytes, sizeof bytes), out = device_copy(emu, NULL, 8);
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        char *text = ptx_kernel("%s\n%s\nst.global.u64 [%%out], %%l0;\nret;\n", loads[i].load,
                                loads[i].store);
        uint64_t got = 0;
        struct emu_kernel *kernel = load_kernel(emu, text, "k");
        cr_assert(!launch(emu, kernel, 1, 1, 0, 2, (uint64_t[]){out, in}), "%s", emu_message(emu));
        cr_assert(!emu_read(emu, &got, out, sizeof got));
        free(text);
        cr_expect(got == loads[i].want, "%s got 0x%llx", loads[i].load, (unsigned long long)got);
    }
    emu_close(emu);
}

/* ---- parameters, constants, variables -------------------------------------------------------- */

static const char variables[] = PTX_HEADER
    ".const .align 8 .b8 table[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9};\n"
    ".const .align 4 .u32 words[4] = {0x11111111, 22, 33};\n"
    ".global .align 4 .f32 scale = 0f40200000;\n"
    ".global .align 4 .s32 numbers[3] = {-1, -2, -3};\n"
    ".global .align 8 .u64 where = generic(numbers);\n"
    ".visible .global .align 4 .b8 zeros[64];\n"
    ".visible .entry k(.param .u64 p_out, .param .align 8 .b8 p[24], .param .u8 p_byte,\n"
    ".param .s16 p_short, .param .f32 p_float, .param .f64 p_double) {\n"
    ".reg .b16 %h<4>;\n.reg .b32 %r<16>;\n.reg .f32 %f<4>;\n.reg .b64 %l<8>;\n"
    ".reg .f64 %d<2>;\n"
    "ld.param.u64 %l0, [p_out];\n"
    "ld.param.u32 %r0, p[4];\nst.global.u32 [%l0], %r0;\n"
    "ld.param.v2.u16 {%h0, %h1}, [p+8];\ncvt.u32.u16 %r1, %h1;\n"
    "st.global.u32 [%l0+4], %r1;\n"
    "mov.b64 %l1, p;\nld.param.u32 %r2, [%l1+12];\nst.global.u32 [%l0+8], %r2;\n"
    "cvta.param.u64 %l2, %l1;\nld.u32 %r3, [%l2+16];\nst.global.u32 [%l0+12], %r3;\n"
    "ld.param.u8 %r4, [p_byte];\nst.global.u32 [%l0+16], %r4;\n"
    "ld.param.s16 %r5, [p_short];\nst.global.u32 [%l0+20], %r5;\n"
    "ld.param.f32 %f0, [p_float];\nst.global.f32 [%l0+24], %f0;\n"
    "ld.param.f64 %d0, [p_double];\ncvt.rn.f32.f64 %f1, %d0;\n"
    "st.global.f32 [%l0+28], %f1;\n"
    "ld.const.u8 %r6, [table+8];\nst.global.u32 [%l0+32], %r6;\n"
    "mov.u64 %l3, words;\nld.const.u32 %r7, [%l3+4];\nst.global.u32 [%l0+36], %r7;\n"
    "cvta.const.u64 %l3, %l3;\nld.u32 %r8, [%l3];\nst.global.u32 [%l0+40], %r8;\n"
    "ld.global.f32 %f2, [scale];\nst.global.f32 [%l0+44], %f2;\n"
    "ld.global.u64 %l4, [where];\nld.u32 %r9, [%l4+8];\nst.global.u32 [%l0+48], %r9;\n"
    "ld.const.u32 %r10, [words+12];\nst.global.u32 [%l0+52], %r10;\n"
    "ld.global.u32 %r11, [zeros+60];\nst.global.u32 [%l0+56], %r11;\nret;\n}\n";

Test(emu_memory, parameters_constants_and_variables)
{
    struct emu *emu = open_emu();
    struct emu_kernel *kernel = load_kernel(emu, variables, "k");
    emu_addr out = device_copy(emu, NULL, 64);
    uint32_t structure[6] = {1, 2, 0xbeef0007, 4, 5, 6};
    uint8_t byte = 200;
    int16_t half = -300;
    float single = 1.25f;
    double real = -0.5;
    void *args[] = {&out, structure, &byte, &half, &single, &real};
    struct emu_dim one = {1, 1, 1};

    const struct emu_kernel_info *info = emu_kernel_info(kernel);
    cr_expect(info->params == 6);
    static const unsigned offsets[] = {0, 8, 32, 34, 36, 40}, sizes[] = {8, 24, 1, 2, 4, 8};
    for (unsigned i = 0; i < 6 && info->params == 6; i++)
        cr_expect(info->param_offset[i] == offsets[i] && info->param_size[i] == sizes[i],
                  "parameter %u lies at %u and has %u bytes", i, info->param_offset[i],
                  info->param_size[i]);

    cr_assert(!emu_launch(emu, kernel, one, one, 0, args, false), "%s", emu_message(emu));
    static const uint32_t want[15] = {
        2,          0xbeef, 4,  5,          200,        (uint32_t)-300, 0x3fa00000,
        0xbf000000, 9,      22, 0x11111111, 0x40200000, (uint32_t)-3,   0,
        0};
    uint32_t got[16];
    cr_assert(!emu_read(emu, got, out, sizeof got));
    for (int i = 0; i < 15; i++)
        cr_expect(got[i] == want[i], "word %d: got 0x%x, want 0x%x", i, got[i], want[i]);
    emu_close(emu);
}

Test(emu_memory, symbols_are_found_by_name)
{
    struct emu *emu = open_emu();
    struct emu_module *module;
    cr_assert(!emu_load(emu, variables, strlen(variables), "variables.ptx", &module), "%s",
              emu_message(emu));
    emu_addr address = 0;
    size_t bytes = 0;
    cr_assert(!emu_symbol(emu, module, "numbers", &address, &bytes), "%s", emu_message(emu));
    cr_expect(bytes == 12);
    int32_t numbers[3] = {0};
    cr_assert(!emu_read(emu, numbers, address, sizeof numbers), "%s", emu_message(emu));
    cr_expect(numbers[0] == -1 && numbers[1] == -2 && numbers[2] == -3);
    cr_expect(!emu_write(emu, address, &(int32_t){9}, 4), "%s", emu_message(emu));

    cr_assert(!emu_symbol(emu, module, "words", &address, &bytes), "%s", emu_message(emu));
    uint32_t word = 0;
    cr_expect(bytes == 16 && !emu_read(emu, &word, address, 4) && word == 0x11111111);

    cr_expect(emu_symbol(emu, module, "nothing", &address, &bytes) == EMU_SYMBOL_NOT_FOUND);
    cr_expect(strstr(emu_message(emu), "nothing"), "%s", emu_message(emu));
    struct emu_kernel *kernel;
    cr_expect(emu_kernel(emu, module, "nobody", &kernel) == EMU_INVALID_DEVICE_FUNCTION);
    cr_expect(strstr(emu_message(emu), "nobody"), "%s", emu_message(emu));
    emu_close(emu);
}

/* Several extern arrays are one array, after the static ones. */
Test(emu_memory, static_and_dynamic_shared_memory_do_not_overlap)
{
    static const char text[] = PTX_HEADER
        ".extern .shared .align 16 .b8 first[];\n.extern .shared .align 4 .b8 second[];\n"
        ".visible .entry k(.param .u64 p_out) {\n.shared .align 4 .b8 fixed[20];\n"
        ".reg .b32 %r<8>;\n.reg .b64 %l<4>;\nld.param.u64 %l0, [p_out];\n"
        "mov.u32 %r0, fixed;\nmov.u32 %r1, first;\nmov.u32 %r2, second;\n"
        "st.global.u32 [%l0], %r0;\nst.global.u32 [%l0+4], %r1;\nst.global.u32 [%l0+8], %r2;\n"
        "mov.u32 %r3, %dynamic_smem_size;\nst.global.u32 [%l0+12], %r3;\n"
        "mov.u32 %r4, %total_smem_size;\nst.global.u32 [%l0+16], %r4;\nret;\n}\n";
    struct emu *emu = open_emu();
    struct emu_kernel *kernel = load_kernel(emu, text, "k");
    emu_addr out = device_copy(emu, NULL, 20);
    cr_expect(emu_kernel_info(kernel)->shared_bytes == 32, "%zu",
              emu_kernel_info(kernel)->shared_bytes);
    cr_assert(!launch(emu, kernel, 1, 1, 100, 1, (uint64_t[]){out}), "%s", emu_message(emu));
    uint32_t got[5];
    cr_assert(!emu_read(emu, got, out, sizeof got));
    cr_expect(got[1] >= got[0] + 20 && got[1] % 16 == 0, "fixed at %u, dynamic at %u", got[0],
              got[1]);
    cr_expect(got[1] == got[2], "two extern arrays at %u and %u", got[1], got[2]);
    cr_expect(got[3] == 100, "dynamic size %u", got[3]);
    emu_close(emu);
}

Test(emu_memory, address_spaces_are_told_apart)
{
    static const char text[] = PTX_KERNEL(
        "k", ".shared .align 4 .b8 s[4];\n.local .align 4 .b8 v[4];\n"
             "mov.u64 %l0, s;\ncvta.shared.u64 %l1, %l0;\ncvta.to.shared.u64 %l2, %l1;\n"
             "mov.u64 %l3, v;\ncvta.local.u64 %l4, %l3;\nmov.u32 %r0, 0;\n"
             "isspacep.shared %p0, %l1;\nselp.b32 %r1, 1, 0, %p0;\nor.b32 %r0, %r0, %r1;\n"
             "isspacep.local %p0, %l4;\nselp.b32 %r1, 2, 0, %p0;\nor.b32 %r0, %r0, %r1;\n"
             "isspacep.global %p0, %out;\nselp.b32 %r1, 4, 0, %p0;\nor.b32 %r0, %r0, %r1;\n"
             "isspacep.global %p0, %l1;\nselp.b32 %r1, 8, 0, %p0;\nor.b32 %r0, %r0, %r1;\n"
             "isspacep.shared %p0, %out;\nselp.b32 %r1, 16, 0, %p0;\nor.b32 %r0, %r0, %r1;\n"
             "isspacep.global %p0, %l4;\nselp.b32 %r1, 32, 0, %p0;\nor.b32 %r0, %r0, %r1;\n"
             "setp.eq.u64 %p0, %l0, %l2;\nselp.b32 %r1, 64, 0, %p0;\nor.b32 %r0, %r0, %r1;\n"
             "st.global.u32 [%out], %r0;\nret;\n");
    struct emu *emu = open_emu();
    uint32_t out, in = 0;
    run_kernel(emu, text, 1, 1, &out, &in);
    cr_expect(out == (1 | 2 | 4 | 64), "got %u", out);
    emu_close(emu);
}

/* ---- the forms of an access in PTX ----------------------------------------------------------- */

/* Orders, scopes and cache operators do not change the values that a single thread loads. */
Test(emu_memory, orders_and_cache_operators)
{
    static const char *const loads[] = {
        "ld.global.u32",
        "ld.u32",
        "ld.volatile.global.u32",
        "ld.volatile.u32",
        "ld.weak.global.u32",
        "ld.relaxed.cta.global.u32",
        "ld.relaxed.gpu.u32",
        "ld.relaxed.sys.global.u32",
        "ld.acquire.cta.u32",
        "ld.acquire.gpu.global.u32",
        "ld.acquire.sys.u32",
        "ld.global.ca.u32",
        "ld.global.cg.u32",
        "ld.global.cs.u32",
        "ld.global.lu.u32",
        "ld.global.cv.u32",
        "ld.global.nc.u32",
        "ld.global.ca.nc.u32",
        "ldu.global.u32",
        "ld.global.L1::no_allocate.u32",
        "ld.global.L2::128B.u32",
        "ld.global.nc.L1::evict_last.u32",
        "ld.global.L1::evict_first.L2::64B.u32",
    };
    static const char *const stores[] = {
        "st.global.u32",
        "st.u32",
        "st.volatile.global.u32",
        "st.volatile.u32",
        "st.weak.global.u32",
        "st.relaxed.cta.u32",
        "st.relaxed.gpu.global.u32",
        "st.relaxed.sys.u32",
        "st.release.cta.u32",
        "st.release.gpu.global.u32",
        "st.release.sys.u32",
        "st.global.wb.u32",
        "st.global.cg.u32",
        "st.global.cs.u32",
        "st.global.wt.u32",
        "st.global.L1::no_allocate.u32",
    };
    static const char *const fences[] = {
        "membar.cta",        "membar.gl",         "membar.sys",
        "fence.sc.cta",      "fence.sc.gpu",      "fence.sc.sys",
        "fence.acq_rel.cta", "fence.acq_rel.gpu", "fence.acq_rel.sys",
    };
    enum { LOADS = sizeof loads / sizeof *loads, STORES = sizeof stores / sizeof *stores };
    struct emu *emu = open_emu();
    for (unsigned i = 0; i < LOADS || i < STORES; i++) {
        char *text =
            ptx_kernel("%s %%r0, [%%in];\n%s;\n%s [%%out], %%r0;\nret;\n", loads[i % LOADS],
                       fences[i % (sizeof fences / sizeof *fences)], stores[i % STORES]);
        uint32_t in[THREADS], out[THREADS];
        for (unsigned t = 0; t < THREADS; t++) in[t] = t * 7 + i;
        run_kernel(emu, text, THREADS, THREADS, out, in);
        free(text);
        cr_expect(!memcmp(in, out, sizeof in), "%s or %s", loads[i % LOADS], stores[i % STORES]);
    }
    emu_close(emu);
}

/* A grid begins when the one before it has ended, so there is nothing to wait for. */
Test(emu_memory, prefetches_and_waits_for_another_grid_do_nothing)
{
    struct emu *emu = open_emu();
    uint32_t in = 3, out;
    run_kernel(emu,
               PTX_KERNEL("k", "prefetch.global.L1 [%in];\nprefetch.global.L2 [%in];\n"
                               "prefetchu.L1 [%in];\ngriddepcontrol.wait;\n"
                               "griddepcontrol.launch_dependents;\n"
                               "ld.global.u32 %r0, [%in];\nst.global.u32 [%out], %r0;\nret;\n"),
               1, 1, &out, &in);
    cr_expect(out == 3);
    emu_close(emu);
}

/* ---- faults ---------------------------------------------------------------------------------- */

enum { BUFFER = 1024 };

/* Thread (5,0,0) of block (1,0,0) alone does the access, in line 42. */
#define FAULT(access)                                                                              \
    PTX_HEADER ".visible .entry fault(.param .u64 p_buffer, .param .u64 p_address) {\n"            \
               ".shared .align 16 .b8 s[64];\n.local .align 16 .b8 v[64];\n"                       \
               ".reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %l<8>;\n.reg .b16 %h<2>;\n"         \
               ".loc 1 40 0\nld.param.u64 %l0, [p_buffer];\nld.param.u64 %l1, [p_address];\n"      \
               "mov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, 77;\n"                  \
               "st.global.u32 [%l0], %r2;\n"                                                       \
               "setp.ne.u32 %p0, %r0, 1;\nsetp.ne.u32 %p1, %r1, 5;\nor.pred %p0, %p0, %p1;\n"      \
               "@%p0 bra DONE;\n.loc 1 42 0\n" access "\n.loc 1 43 0\nDONE: ret;\n}\n"             \
               ".file 1 \"fault.cu\"\n"

/* Where the second parameter points, relative to a buffer of BUFFER bytes. */
enum { AT_BUFFER, AT_FREED, AT_NULL, AT_HUGE, AT_HOST };

static const struct fault {
    const char *name, *text;
    int base;
    int64_t offset;
    int want;
} faults[] = {
    {"one element past", FAULT("ld.global.u32 %r3, [%l1];"), AT_BUFFER, BUFFER, 700},
    {"store one element past", FAULT("st.global.u32 [%l1], %r3;"), AT_BUFFER, BUFFER, 700},
    {"one byte past", FAULT("ld.global.u8 %r3, [%l1];"), AT_BUFFER, BUFFER, 700},
    {"one byte before", FAULT("st.global.u8 [%l1], %r3;"), AT_BUFFER, -1, 700},
    {"generic one past", FAULT("ld.u32 %r3, [%l1];"), AT_BUFFER, BUFFER, 700},
    {"vector whose end lies outside", FAULT("ld.global.v4.u8 {%h0, %h0, %h1, %h1}, [%l1];"),
     AT_BUFFER, BUFFER, 700},
    {"atomic one past", FAULT("atom.global.add.u32 %r3, [%l1], 1;"), AT_BUFFER, BUFFER, 700},
    {"reduction one past", FAULT("red.global.add.u32 [%l1], 1;"), AT_BUFFER, BUFFER, 700},
    {"freed", FAULT("ld.global.u32 %r3, [%l1];"), AT_FREED, 0, 700},
    {"null", FAULT("ld.global.u32 %r3, [%l1];"), AT_NULL, 0, 700},
    {"null store", FAULT("st.global.u32 [%l1], %r3;"), AT_NULL, 0, 700},
    {"generic null", FAULT("ld.u32 %r3, [%l1];"), AT_NULL, 0, 700},
    {"nearly null", FAULT("ld.global.u32 %r3, [%l1];"), AT_NULL, 16, 700},
    {"huge", FAULT("ld.global.u32 %r3, [%l1];"), AT_HUGE, 0, 700},
    {"end of the address space", FAULT("ld.global.u32 %r3, [%l1];"), AT_NULL, -4, 700},
    {"host memory", FAULT("ld.global.u32 %r3, [%l1];"), AT_HOST, 0, 700},
    {"misaligned 2", FAULT("ld.global.u16 %r3, [%l1];"), AT_BUFFER, 1, 716},
    {"misaligned 4", FAULT("ld.global.u32 %r3, [%l1];"), AT_BUFFER, 2, 716},
    {"misaligned store 8", FAULT("st.global.u64 [%l1], %l0;"), AT_BUFFER, 4, 716},
    {"misaligned vector 8", FAULT("ld.global.v2.u32 {%r3, %r4}, [%l1];"), AT_BUFFER, 4, 716},
    {"misaligned vector 16", FAULT("ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%l1];"), AT_BUFFER, 8,
     716},
    {"misaligned atomic", FAULT("atom.global.add.u32 %r3, [%l1], 1;"), AT_BUFFER, 2, 716},
    {"misaligned generic", FAULT("ld.u32 %r3, [%l1];"), AT_BUFFER, 2, 716},
    {"shared, past the block's", FAULT("mov.u64 %l2, s;\nld.shared.u32 %r3, [%l2+64];"), AT_NULL, 0,
     700},
    {"shared, store past", FAULT("mov.u64 %l2, s;\nst.shared.u32 [%l2+64], %r3;"), AT_NULL, 0, 700},
    {"shared, far past", FAULT("mov.u64 %l2, s;\nst.shared.u8 [%l2+1000000], %r3;"), AT_NULL, 0,
     700},
    {"shared, before", FAULT("mov.u64 %l2, s;\nld.shared.u32 %r3, [%l2+-4];"), AT_NULL, 0, 700},
    {"shared, misaligned", FAULT("mov.u64 %l2, s;\nld.shared.u32 %r3, [%l2+2];"), AT_NULL, 0, 716},
    {"shared atomic past", FAULT("mov.u64 %l2, s;\natom.shared.add.u32 %r3, [%l2+64], 1;"), AT_NULL,
     0, 700},
    {"generic shared past",
     FAULT("mov.u64 %l2, s;\ncvta.shared.u64 %l2, %l2;\nld.u32 %r3, [%l2+64];"), AT_NULL, 0, 700},
    {"local, past", FAULT("mov.u64 %l2, v;\nst.local.u32 [%l2+65536], %r3;"), AT_NULL, 0, 700},
    {"local, misaligned", FAULT("mov.u64 %l2, v;\nst.local.u32 [%l2+1], %r3;"), AT_NULL, 0, 716},
    {"atomic on a local address",
     FAULT("mov.u64 %l2, v;\ncvta.local.u64 %l2, %l2;\natom.add.u32 %r3, [%l2], 1;"), AT_NULL, 0,
     717},
};

static void check_fault(const struct fault *f)
{
    struct emu *emu = open_emu();
    struct emu_kernel *kernel = load_kernel(emu, f->text, "fault");
    emu_addr buffer = device_copy(emu, NULL, BUFFER), freed = device_copy(emu, NULL, BUFFER);
    uint32_t host = 5;
    emu_free(emu, freed);
    const uint64_t bases[] = {[AT_BUFFER] = buffer,
                              [AT_FREED] = freed,
                              [AT_NULL] = 0,
                              [AT_HUGE] = UINT64_C(0x4000000000000000),
                              [AT_HOST] = (uintptr_t)&host & ~UINT64_C(3)};
    uint64_t address = bases[f->base] + (uint64_t)f->offset;

    int e = launch(emu, kernel, 2, 64, 0, 2, (uint64_t[]){buffer, address});
    const char *message = emu_message(emu);
    cr_expect(e == f->want, "%s: error %d, want %d: %s", f->name, e, f->want, message);
    static const char *const parts[] = {"fault", "fault.cu:42", "block (1,0,0)", "thread (5,0,0)"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        cr_expect(strstr(message, parts[i]), "%s: no \"%s\" in the message: %s", f->name, parts[i],
                  message);

    /* Words that were written before the fault can be read, and the device still works. */
    uint32_t word = 0;
    cr_expect(!emu_read(emu, &word, buffer, 4) && word == 77, "%s: read %u: %s", f->name, word,
              emu_message(emu));
    uint32_t in = 1, out = 0;
    run_kernel(emu, PTX_KERNEL("k", "st.global.u32 [%out], 9;\nret;\n"), 1, 1, &out, &in);
    cr_expect(out == 9);
    emu_close(emu);
}

Test(emu_memory, faults)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) check_fault(&faults[i]);
}

/* ---- the memory calls ------------------------------------------------------------------------ */

Test(emu_memory, allocation)
{
    struct emu *emu = open_emu();
    size_t before, total, now;
    emu_memory_info(emu, &before, &total);
    cr_expect(before <= total && total >= 1 << 20);

    emu_addr a = 0, b = 0, base = 0;
    size_t bytes = 0;
    cr_assert(!emu_alloc(emu, 1000, &a) && !emu_alloc(emu, 1, &b));
    cr_expect(a && b && a % 256 == 0 && b % 256 == 0);
    cr_expect(b >= a + 1000 || a >= b + 1);
    emu_memory_info(emu, &now, &total);
    cr_expect(now < before, "%zu bytes were free, now %zu", before, now);

    uint8_t fresh[1000];
    cr_expect(!emu_read(emu, fresh, a, sizeof fresh));
    for (size_t i = 0; i < sizeof fresh; i++)
        cr_assert(fresh[i] == 0xCD, "byte %zu: %u", i, fresh[i]);

    cr_expect(emu_find(emu, a + 999, &base, &bytes) && base == a && bytes == 1000);
    cr_expect(!emu_find(emu, a + 1000, &base, &bytes));
    cr_expect(emu_is_device(emu, a) && emu_is_device(emu, a + 5000));
    cr_expect(!emu_is_device(emu, 0) && !emu_is_device(emu, (uintptr_t)fresh));

    cr_expect(emu_free(emu, a + 256) == EMU_INVALID_VALUE, "freed from the middle");
    cr_expect(!emu_free(emu, a));
    cr_expect(emu_free(emu, a) == EMU_INVALID_VALUE, "freed twice");
    cr_expect(emu_free(emu, (uintptr_t)fresh) == EMU_INVALID_VALUE, "freed host memory");
    cr_expect(!emu_find(emu, a, &base, &bytes));
    cr_expect(!emu_free(emu, b));
    emu_memory_info(emu, &now, &total);
    cr_expect(now == before, "%zu bytes were free, after freeing all %zu", before, now);

    cr_expect(emu_alloc(emu, total + 1, &a) == EMU_OUT_OF_MEMORY);
    cr_expect(strlen(emu_message(emu)) > 0);
    cr_expect(emu_alloc(emu, SIZE_MAX, &a) == EMU_OUT_OF_MEMORY);
    cr_expect(emu_alloc(emu, SIZE_MAX - 255, &a) == EMU_OUT_OF_MEMORY);
    cr_expect(!emu_alloc(emu, total / 2, &a), "%s", emu_message(emu));
    emu_close(emu);
}

Test(emu_memory, freed_memory_is_used_again)
{
    struct emu *emu = open_emu_with(&(struct emu_config){.threads = 1, .memory = 4 << 20});
    size_t free_bytes, total;
    emu_memory_info(emu, &free_bytes, &total);
    for (int i = 0; i < 100; i++) { /* together far more than the device has */
        emu_addr a, b;
        cr_assert(!emu_alloc(emu, total / 3, &a), "round %d: %s", i, emu_message(emu));
        cr_assert(!emu_alloc(emu, total / 3, &b), "round %d: %s", i, emu_message(emu));
        cr_assert(!emu_free(emu, i % 2 ? a : b) && !emu_free(emu, i % 2 ? b : a));
    }
    emu_close(emu);
}

Test(emu_memory, copies_stay_inside_an_allocation)
{
    struct emu *emu = open_emu();
    uint8_t host[512], back[512];
    for (int i = 0; i < 512; i++) host[i] = (uint8_t)(i * 3);
    emu_addr a = device_copy(emu, host, 256), b = device_copy(emu, NULL, 256);

    cr_expect(emu_write(emu, a, host, 257) == EMU_INVALID_VALUE);
    cr_expect(emu_write(emu, a - 1, host, 4) == EMU_INVALID_VALUE);
    cr_expect(emu_write(emu, a + 255, host, 2) == EMU_INVALID_VALUE);
    cr_expect(emu_write(emu, a, host, SIZE_MAX) == EMU_INVALID_VALUE);
    cr_expect(emu_read(emu, back, a + 1, 256) == EMU_INVALID_VALUE);
    cr_expect(emu_read(emu, back, 0, 1) == EMU_INVALID_VALUE);
    cr_expect(emu_fill(emu, a + 200, 1, 100) == EMU_INVALID_VALUE);
    cr_expect(emu_copy(emu, b, a, 257) == EMU_INVALID_VALUE);
    cr_expect(emu_copy(emu, b + 1, a, 256) == EMU_INVALID_VALUE);
    cr_expect(!emu_read(emu, back, a, 256) && !memcmp(back, host, 256),
              "a refused copy changed it");

    cr_expect(!emu_copy(emu, b + 6, a + 3, 100));
    cr_expect(!emu_read(emu, back, b + 6, 100) && !memcmp(back, host + 3, 100));
    cr_expect(!emu_copy(emu, a + 10, a, 200), "overlapping");
    cr_expect(!emu_read(emu, back, a + 10, 200) && !memcmp(back, host, 200));
    cr_expect(!emu_fill(emu, b, 0xAB, 256) && !emu_read(emu, back, b, 256));
    cr_expect(back[0] == 0xAB && back[255] == 0xAB);
    emu_close(emu);
}

/* Kernels access mapped host memory by its own address, until it is unmapped. */
Test(emu_memory, mapped_host_memory)
{
    struct emu *emu = open_emu();
    uint32_t host[THREADS];
    struct emu_kernel *kernel =
        load_kernel(emu,
                    PTX_KERNEL("k", "ld.global.u32 %r0, [%in];\nadd.u32 %r0, %r0, 5;\n"
                                    "st.global.u32 [%out], %r0;\nret;\n"),
                    "k");
    for (unsigned t = 0; t < THREADS; t++) host[t] = t;
    uint64_t args[] = {(uintptr_t)host, (uintptr_t)host};
    cr_assert(!emu_map_host(emu, host, sizeof host), "%s", emu_message(emu));
    cr_expect(!launch(emu, kernel, 1, THREADS, 0, 2, args), "%s", emu_message(emu));
    for (unsigned t = 0; t < THREADS; t++) cr_expect(host[t] == t + 5);
    cr_expect(!emu_unmap_host(emu, host));
    cr_expect(emu_unmap_host(emu, host) == EMU_INVALID_VALUE);
    cr_expect(launch(emu, kernel, 1, THREADS, 0, 2, args) == EMU_ILLEGAL_ADDRESS);
    cr_expect(host[0] == 5);
    emu_close(emu);
}

/* ---- local memory, all lanes at one offset or at consecutive ones ---- */

enum { LOCAL_WORDS = 128, LOCAL_THREADS = 64 };

/* Every thread writes its number and the word's into each word, changes some by stores of all
 * widths, and adds up what loads of all widths find. */
static const char local_text[] = PTX_KERNEL(
    "k",
    ".local .align 16 .b8 place[512];\nmov.u64 %l0, place;\nmov.u32 %r0, 0;\n"
    "FILL:\nmul.lo.u32 %r1, %id, 1000;\nadd.u32 %r1, %r1, %r0;\nmul.wide.u32 %l1, %r0, 4;\n"
    "add.u64 %l1, %l0, %l1;\nst.local.u32 [%l1], %r1;\nadd.u32 %r0, %r0, 1;\n"
    "setp.lt.u32 %p0, %r0, 128;\n@%p0 bra FILL;\n"
    "mov.u32 %r2, 7;\nadd.u32 %r3, %id, 9;\nmov.b64 %l2, {%r3, %r2};\n"
    "st.local.v4.u32 [%l0+16], {%r3, %id, %r2, %r1};\nst.local.v2.u32 [%l0+40], {%id, %r3};\n"
    "st.local.u64 [%l0+56], %l2;\nst.local.u8 [%l0+65], %r3;\n"
    "and.b32 %r4, %id, 31;\nmul.wide.u32 %l3, %r4, 4;\nadd.u64 %l3, %l3, %l0;\n"
    "mul.wide.u32 %l4, %r4, 8;\nadd.u64 %l4, %l4, %l0;\nmul.wide.u32 %l5, %r4, 16;\n"
    "add.u64 %l5, %l5, %l0;\nst.local.u32 [%l3+256], %r3;\n"
    "ld.local.u32 %r5, [%l3];\nld.local.v2.u32 {%r6, %r7}, [%l4];\n"
    "ld.local.v4.u32 {%r8, %r9, %r10, %r11}, [%l5];\nld.local.u64 %l6, [%l4+64];\n"
    "ld.local.v4.u32 {%r12, %r13, %r14, %r15}, [%l0+16];\nld.local.u8 %r16, [%l0+65];\n"
    "mov.b64 {%r17, %r18}, %l6;\n"
    "mad.lo.u32 %r5, %r5, 3, %r6;\nmad.lo.u32 %r5, %r5, 3, %r7;\nmad.lo.u32 %r5, %r5, 3, %r8;\n"
    "mad.lo.u32 %r5, %r5, 3, %r9;\nmad.lo.u32 %r5, %r5, 3, %r10;\nmad.lo.u32 %r5, %r5, 3, %r11;\n"
    "mad.lo.u32 %r5, %r5, 3, %r12;\nmad.lo.u32 %r5, %r5, 3, %r13;\nmad.lo.u32 %r5, %r5, 3, %r14;\n"
    "mad.lo.u32 %r5, %r5, 3, %r15;\nmad.lo.u32 %r5, %r5, 3, %r16;\nmad.lo.u32 %r5, %r5, 3, %r17;\n"
    "mad.lo.u32 %r5, %r5, 3, %r18;\nst.global.u32 [%out], %r5;\nret;");

static uint32_t local_sum(uint32_t id)
{
    uint32_t word[LOCAL_WORDS], lane = id % 32, sum = 0;
    for (uint32_t k = 0; k < LOCAL_WORDS; k++) word[k] = id * 1000 + k;
    const uint32_t quad[] = {id + 9, id, 7, id * 1000 + LOCAL_WORDS - 1};
    memcpy(word + 4, quad, sizeof quad);
    word[10] = id, word[11] = id + 9;
    word[14] = id + 9, word[15] = 7;
    ((uint8_t *)word)[65] = (uint8_t)(id + 9);
    word[64 + lane] = id + 9;
    const uint32_t found[] = {word[lane],
                              word[2 * lane],
                              word[2 * lane + 1],
                              word[4 * lane],
                              word[4 * lane + 1],
                              word[4 * lane + 2],
                              word[4 * lane + 3],
                              word[4],
                              word[5],
                              word[6],
                              word[7],
                              ((uint8_t *)word)[65],
                              word[16 + 2 * lane],
                              word[17 + 2 * lane]};
    for (size_t k = 0; k < sizeof found / sizeof *found; k++) sum = sum * 3 + found[k];
    return sum;
}

/* With counters, each access passes the door; without, the usual ones do not. */
Test(emu_memory, local_accesses_of_all_widths)
{
    for (int counters = 0; counters < 2; counters++) {
        uint32_t out[LOCAL_THREADS], in[LOCAL_THREADS] = {0};
        struct emu *emu = open_emu_with(
            &(struct emu_config){.memory = 64 << 20, .threads = 1, .counters = counters});
        run_kernel(emu, local_text, LOCAL_THREADS, LOCAL_THREADS, out, in);
        for (uint32_t id = 0; id < LOCAL_THREADS; id++)
            cr_expect_eq(out[id], local_sum(id), "counters %d, thread %u: %u, not %u", counters, id,
                         out[id], local_sum(id));
        emu_close(emu);
    }
}

/* The same of some lanes, by generic addresses, and at other offsets in each lane. */
static const char local_lanes_text[] = PTX_KERNEL(
    "k",
    ".local .align 16 .b8 place[512];\nmov.u64 %l0, place;\nmov.u32 %r0, 0;\n"
    "FILL:\nmul.lo.u32 %r1, %id, 1000;\nadd.u32 %r1, %r1, %r0;\nmul.wide.u32 %l1, %r0, 4;\n"
    "add.u64 %l1, %l0, %l1;\nst.local.u32 [%l1], %r1;\nadd.u32 %r0, %r0, 1;\n"
    "setp.lt.u32 %p0, %r0, 128;\n@%p0 bra FILL;\n"
    "mul.lo.u32 %r2, %id, 5;\nand.b32 %r2, %r2, 7;\nmul.wide.u32 %l1, %r2, 48;\n"
    "add.u64 %l1, %l0, %l1;\ncvta.local.u64 %l2, %l1;\nadd.u32 %r3, %id, 60009;\n"
    "add.u32 %r4, %id, 70009;\nmov.b64 %l3, {%r3, %r4};\nadd.u64 %l4, %l3, 1;\n"
    "and.b32 %r5, %id, 1;\nsetp.ne.u32 %p1, %r5, 0;\n"
    "@%p1 st.u64 [%l2+8], %l3;\n@%p1 st.local.v2.u64 [%l1+16], {%l3, %l4};\n"
    "st.local.v4.u16 [%l1+32], {%r3, %r4, %id, %r2};\n@%p1 st.local.u16 [%l0+386], %r3;\n"
    "@%p1 st.u8 [%l2+45], %r4;\n"
    "ld.v4.u32 {%r6, %r7, %r8, %r9}, [%l2+16];\nld.local.v4.u16 {%r10, %r11, %r12, %r13}, "
    "[%l1+32];\nld.local.u64 %l5, [%l1+8];\nmov.b64 {%r14, %r15}, %l5;\n"
    "ld.local.s16 %r16, [%l0+386];\nld.local.s8 %r17, [%l0+387];\nld.s8 %r18, [%l2+45];\n"
    "mad.lo.u32 %r6, %r6, 3, %r7;\nmad.lo.u32 %r6, %r6, 3, %r8;\nmad.lo.u32 %r6, %r6, 3, %r9;\n"
    "mad.lo.u32 %r6, %r6, 3, %r10;\nmad.lo.u32 %r6, %r6, 3, %r11;\nmad.lo.u32 %r6, %r6, 3, %r12;\n"
    "mad.lo.u32 %r6, %r6, 3, %r13;\nmad.lo.u32 %r6, %r6, 3, %r14;\nmad.lo.u32 %r6, %r6, 3, %r15;\n"
    "mad.lo.u32 %r6, %r6, 3, %r16;\nmad.lo.u32 %r6, %r6, 3, %r17;\nmad.lo.u32 %r6, %r6, 3, %r18;\n"
    "st.global.u32 [%out], %r6;\nret;");

static uint32_t local_lanes_sum(uint32_t id)
{
    uint32_t word[LOCAL_WORDS], sum = 0, place = id * 5 % 8 * 12;
    for (uint32_t k = 0; k < LOCAL_WORDS; k++) word[k] = id * 1000 + k;
    typedef uint16_t part __attribute__((may_alias));
    part *half = (part *)word;
    const uint16_t parts[] = {(uint16_t)(id + 60009), (uint16_t)(id + 70009), (uint16_t)id,
                              (uint16_t)(id * 5 % 8)};
    if (id & 1) {
        const uint32_t pair[] = {id + 60009, id + 70009, id + 60009,
                                 id + 70009, id + 60010, id + 70009};
        memcpy(word + place + 2, pair, sizeof pair);
        half[193] = (uint16_t)(id + 60009);
    }
    memcpy(word + place + 8, parts, sizeof parts);
    if (id & 1) ((uint8_t *)(word + place))[45] = (uint8_t)(id + 70009);
    const uint32_t *at = word + place;
    const part *quad = (const part *)(at + 8);
    const uint32_t found[] = {at[4],
                              at[5],
                              at[6],
                              at[7],
                              quad[0],
                              quad[1],
                              quad[2],
                              quad[3],
                              at[2],
                              at[3],
                              (uint32_t)(int16_t)half[193],
                              (uint32_t)(int8_t)(half[193] >> 8),
                              (uint32_t)((const int8_t *)at)[45]};
    for (size_t k = 0; k < sizeof found / sizeof *found; k++) sum = sum * 3 + found[k];
    return sum;
}

Test(emu_memory, local_accesses_of_some_lanes)
{
    for (int counters = 0; counters < 2; counters++) {
        uint32_t out[LOCAL_THREADS], in[LOCAL_THREADS] = {0};
        struct emu *emu = open_emu_with(
            &(struct emu_config){.memory = 64 << 20, .threads = 1, .counters = counters});
        run_kernel(emu, local_lanes_text, LOCAL_THREADS, LOCAL_THREADS, out, in);
        for (uint32_t id = 0; id < LOCAL_THREADS; id++)
            cr_expect_eq(out[id], local_lanes_sum(id), "counters %d, thread %u: %u, not %u",
                         counters, id, out[id], local_lanes_sum(id));
        emu_close(emu);
    }
}

/* Each thread stores and loads the word at in[thread] of an array. */
static const char local_words_text[] = PTX_KERNEL(
    "k", ".local .align 16 .b8 place[512];\nmov.u64 %l0, place;\nld.global.u32 %r1, [%in];\n"
         "cvt.u64.u32 %l1, %r1;\nadd.u64 %l1, %l0, %l1;\nadd.u32 %r2, %id, 70001;\n"
         "st.local.u32 [%l1], %r2;\nld.local.u32 %r3, [%l1];\nst.global.u32 [%out], %r3;\nret;");

Test(emu_memory, local_words_anywhere_and_one_lane_where_it_must_not_be)
{
    enum { BYTES = 512, ODD = 37 };
    const struct {
        uint32_t at;
        int error;
    } lanes[] = {{BYTES - 4, 0}, {0, 0}, {BYTES, 700}, {BYTES - 3, 716}, {(uint32_t)-4, 700}};
    for (size_t c = 0; c < sizeof lanes / sizeof *lanes; c++) {
        struct emu *emu = open_emu();
        uint32_t out[LOCAL_THREADS], in[LOCAL_THREADS];
        for (uint32_t id = 0; id < LOCAL_THREADS; id++) in[id] = id * 5 % (BYTES / 4) * 4;
        in[ODD] = lanes[c].at;
        emu_addr to = device_copy(emu, NULL, sizeof out), from = device_copy(emu, in, sizeof in);
        int error = launch(emu, load_kernel(emu, local_words_text, "k"), 1, LOCAL_THREADS, 0, 2,
                           (uint64_t[]){to, from});
        cr_assert_eq(error, lanes[c].error, "%d: %s", (int)lanes[c].at, emu_message(emu));
        cr_expect(!error || strstr(emu_message(emu), "thread (37,0,0)"), "%s", emu_message(emu));
        cr_expect(!emu_read(emu, out, to, sizeof out));
        for (uint32_t id = 0; id < LOCAL_THREADS && !error; id++) cr_expect_eq(out[id], id + 70001);
        emu_close(emu);
    }
}
