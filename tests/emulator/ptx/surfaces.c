/*
 * surfaces.c — reads and writes of surfaces; what is said of objects that do not fit; and what the
 * checkers find in textures and surfaces.
 */
#define _POSIX_C_SOURCE 200809L
#include "textures.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 8, HEIGHT = 4, DEPTH = 3, BYTES = WIDTH * HEIGHT * DEPTH };

/* A surface of bytes in memory that holds the numbers from 0 on. */
static struct emu_texture bytes_of(struct emu *emu, enum emu_texture_shape shape)
{
    static const uint64_t size[] = {WIDTH, HEIGHT, DEPTH};
    struct emu_texture t = floats(shape, size, 1);
    unsigned char data[BYTES];
    for (int i = 0; i < BYTES; i++) data[i] = (unsigned char)i;
    t.is_surface = true;
    t.channel = EMU_CHANNEL_UNSIGNED;
    t.channel_bytes = 1;
    t.row = WIDTH;
    t.slice = WIDTH * HEIGHT;
    t.base = device_copy(emu, data, sizeof data);
    return t;
}

static uint64_t open_object(struct emu *emu, const struct emu_texture *t)
{
    uint64_t object;
    cr_assert(!emu_texture_open(emu, t, &object));
    return object;
}

/* ---- reads and writes ------------------------------------------------------------------------ */

static const struct {
    const char *geometry, *coordinates;
    enum emu_texture_shape shape;
    int x, y, z; /* of the first byte; y or z < 0: the geometry does not have it */
} places[] = {
    {"1d", "4", EMU_TEXTURE_1D, 4, 0, 0},
    {"2d", "4, 2", EMU_TEXTURE_2D, 4, 2, 0},
    {"3d", "4, 2, 1, 0", EMU_TEXTURE_3D, 4, 2, 1},
    {"a1d", "2, 4", EMU_TEXTURE_1D_LAYERED, 4, 0, 2},
    {"a2d", "1, 4, 2, 0", EMU_TEXTURE_2D_LAYERED, 4, 2, 1},
    {"a2d", "2, 0, 3, 0", EMU_TEXTURE_CUBE, 0, 3, 2},
};

static const struct {
    const char *type, *registers;
    int bytes;
} kinds[] = {{"b8", "%h0", 1},
             {"b16", "%h0", 2},
             {"b32", "%r0", 4},
             {"v4.b8", "%h0, %h1, %h2, %h3", 4},
             {"v2.b16", "%h0, %h1", 4}};

/* Reads some bytes of a surface, and writes them 4 bytes before, or behind if there is no such. */
Test(surfaces, every_geometry_and_size)
{
    struct emu *emu = open_emu();
    for (size_t p = 0; p < sizeof places / sizeof *places; p++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            char body[512], to[32];
            unsigned char data[BYTES], model[BYTES];
            struct emu_texture t = bytes_of(emu, places[p].shape);
            int first = (places[p].z * HEIGHT + places[p].y) * WIDTH + places[p].x;
            int target = places[p].x ? first - 4 : first + 4, moved = places[p].x ? 0 : 4;
            snprintf(to, sizeof to, "%s", places[p].coordinates);
            *strchr(to + (places[p].geometry[0] == 'a' ? 3 : 0), places[p].x ? '4' : '0') =
                (char)('0' + moved);
            snprintf(body, sizeof body,
                     "suld.b.%s.%s.trap {%s}, [%%object, {%s}];\n"
                     "sust.b.%s.%s.trap [%%object, {%s}], {%s};",
                     places[p].geometry, kinds[k].type, kinds[k].registers, places[p].coordinates,
                     places[p].geometry, kinds[k].type, to, kinds[k].registers);
            int error = run_with_object(emu, open_object(emu, &t), body, t.base);
            cr_assert(!error, "%s: %s", body, emu_message(emu));
            for (int i = 0; i < BYTES; i++) model[i] = (unsigned char)i;
            memcpy(model + target, model + first, (size_t)kinds[k].bytes);
            cr_assert(!emu_read(emu, data, t.base, sizeof data));
            cr_expect(!memcmp(data, model, BYTES), "%s", body);
            emu_free(emu, t.base);
        }
    emu_close(emu);
}

/* Outside: .zero reads 0 and writes nothing, .clamp goes to the nearest element, .trap ends. */
Test(surfaces, boundaries)
{
    static const struct {
        const char *coordinates;
        int nearest;
        const char *outside;
    } cases[] = {{"-2, 0", 0, "byte in the row is -2"},
                 {"8, 1", 14, "byte in the row is 8"},
                 {"2, -1", 2, "row is -1"},
                 {"2, 4", 26, "row is 4"}};
    struct emu *emu = open_emu();
    struct emu_texture t = bytes_of(emu, EMU_TEXTURE_2D);
    uint64_t object = open_object(emu, &t);
    emu_addr out = device_copy(emu, NULL, 4);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int mode = 0; mode < 3; mode++) {
            static const char *const modes[] = {"zero", "clamp", "trap"};
            char body[512];
            uint16_t read[2], there,
                want = (uint16_t)(cases[i].nearest | (cases[i].nearest + 1) << 8);
            snprintf(body, sizeof body,
                     "mov.b16 %%h0, 0xabcd;\nsuld.b.2d.b16.%s {%%h0}, [%%object, {%s}];\n"
                     "st.global.b16 [%%out], %%h0;\nmov.b16 %%h1, 0x5a5a;\n"
                     "sust.b.2d.b16.%s [%%object, {%s}], {%%h1};",
                     modes[mode], cases[i].coordinates, modes[mode], cases[i].coordinates);
            int error = run_with_object(emu, object, body, out);
            cr_expect_eq(error, mode == 2 ? EMU_ILLEGAL_ADDRESS : EMU_OK, "%s", emu_message(emu));
            if (mode == 2) {
                char says[120];
                snprintf(says, sizeof says,
                         "a load of 2 bytes is outside of a surface of 8 bytes x 4 x 3: its %s",
                         cases[i].outside);
                cr_expect(strstr(emu_message(emu), says), "%s", emu_message(emu));
                continue;
            }
            cr_assert(!emu_read(emu, read, out, 2));
            cr_assert(!emu_read(emu, &there, t.base + (emu_addr)cases[i].nearest, 2));
            cr_expect_eq(read[0], mode ? want : 0, "%s: %x", body, read[0]);
            cr_expect_eq(there, mode ? 0x5a5a : want, "%s: %x", body, there);
            cr_assert(!emu_write(emu, t.base + (emu_addr)cases[i].nearest, &want, 2));
        }
    emu_close(emu);
}

/* A program that forgets sizeof. */
Test(surfaces, the_first_coordinate_counts_bytes)
{
    struct emu *emu = open_emu();
    struct emu_texture t = bytes_of(emu, EMU_TEXTURE_2D);
    int error = run_with_object(emu, open_object(emu, &t),
                                "sust.b.2d.v2.b16.zero [%object, {-1, 0}], {%h0, %h0};", t.base);
    cr_expect_eq(error, EMU_MISALIGNED_ADDRESS);
    cr_expect(strstr(emu_message(emu),
                     "byte -1 of a surface's row is not a multiple of the 4 bytes "
                     "accessed; its first coordinate counts bytes, not elements"),
              "%s", emu_message(emu));
    emu_close(emu);
}

/* ---- objects that do not fit ----------------------------------------------------------------- */

static void expect_fault(struct emu *emu, uint64_t object, const char *body, const char *says)
{
    int error = run_with_object(emu, object, body, device_copy(emu, NULL, 4));
    cr_expect_eq(error, EMU_ILLEGAL_ADDRESS, "%s: %d", body, error);
    cr_expect(strstr(emu_message(emu), says), "%s: %s", body, emu_message(emu));
}

#define TEX_1D  "tex.1d.v4.u32.f32 {%r0, _, _, _}, [%object, {0f00000000}];"
#define TEX_2D  "tex.2d.v4.u32.f32 {%r0, _, _, _}, [%object, {0f00000000, 0f00000000}];"
#define FETCH   "tex.1d.v4.u32.s32 {%r0, _, _, _}, [%object, {0}];"
#define SULD_2D "suld.b.2d.b8.trap {%h0}, [%object, {0, 0}];"

Test(surfaces, objects_that_do_not_fit)
{
    struct emu *emu = open_emu();
    struct emu_texture t = bytes_of(emu, EMU_TEXTURE_2D);
    uint64_t surface = open_object(emu, &t), texture, linear, old;
    t.is_surface = false;
    texture = open_object(emu, &t);
    old = open_object(emu, &t);
    t.shape = EMU_TEXTURE_LINEAR;
    linear = open_object(emu, &t);
    cr_assert(!emu_texture_close(emu, old));
    cr_expect_eq(emu_texture_close(emu, old), EMU_INVALID_VALUE);
    cr_expect_eq(emu_texture_close(emu, 0), EMU_INVALID_VALUE);
    expect_fault(emu, 0, TEX_1D, "0x0 is no texture object: it is 0");
    expect_fault(emu, 0, SULD_2D, "0x0 is no surface object: it is 0");
    expect_fault(emu, old, TEX_2D, "is no texture object: it has been destroyed");
    expect_fault(emu, linear + 1, TEX_2D, "is no texture object: it was not made on this device");
    expect_fault(emu, UINT64_MAX, TEX_2D, "is no texture object: ");
    expect_fault(emu, surface, TEX_2D, "is a surface object, not a texture object");
    expect_fault(emu, texture, SULD_2D, "is a texture object, not a surface object");
    expect_fault(emu, texture, TEX_1D,
                 "the instruction is for a texture that is one-dimensional, "
                 "but the object is two-dimensional");
    expect_fault(emu, linear, TEX_1D, "but the object is linear memory, which tex1Dfetch reads");
    cr_expect(!run_with_object(emu, linear, FETCH, t.base), "%s", emu_message(emu));
    cr_assert(!emu_free(emu, t.base));
    expect_fault(emu, texture, TEX_2D, "is out of bounds");
    emu_close(emu);
}

/* ---- the checkers, and the counters ---------------------------------------------------------- */

static struct emu *open_checking(unsigned checks)
{
    return open_emu_with(&(struct emu_config){.memory = 8 << 20, .checks = checks});
}

static void expect_finding(struct emu *emu, size_t count, const char *says)
{
    cr_assert_eq(emu_findings(emu), count, "%zu findings", emu_findings(emu));
    if (count) cr_expect(strstr(emu_finding(emu, 0)->head, says), "%s", emu_finding(emu, 0)->head);
}

/* A filter that would give the next element the weight 0 does not read it. */
Test(surfaces, initcheck_finds_elements_that_nothing_has_written)
{
    static const char *const bodies[] = {
        "tex.1d.v4.f32.f32 {%r0, _, _, _}, [%object, {0f3F000000}];",  /* 0.5 */
        "tex.1d.v4.f32.f32 {%r0, _, _, _}, [%object, {0f3F800000}];"}; /* 1 */
    for (size_t k = 0; k < 2; k++) {
        struct emu *emu = open_checking(EMU_CHECK_INIT);
        uint64_t size[] = {4, 1, 1};
        struct emu_texture t = floats(EMU_TEXTURE_1D, size, 1);
        t.is_filtered = true;
        cr_assert(!emu_alloc(emu, 16, &t.base));
        cr_assert(!emu_fill(emu, t.base, 0, 4));
        cr_assert(!run_with_object(emu, open_object(emu, &t), bodies[k], t.base));
        expect_finding(emu, k, "Uninitialized __global__ memory read of size 4 bytes");
        emu_close(emu);
    }
}

/* Each thread writes its word of a surface, and reads that of the other warp as a texture: one warp
 * reads before it is written, the other one after. All instructions are of one source line. */
Test(surfaces, racecheck_finds_hazards)
{
    static const char format[] =
        PTX_HEADER ".visible .entry k(.param .u64 p_surface, .param .u64 p_texture) {\n"
                   ".reg .b64 %%l<2>;\n.reg .b32 %%r<4>;\n.loc 1 7 0\n"
                   "ld.param.u64 %%l0, [p_surface];\nld.param.u64 %%l1, [p_texture];\n"
                   "mov.u32 %%r0, %%tid.x;\n"
                   "shl.b32 %%r1, %%r0, 2;\nsust.b.1d.b32.trap [%%l0, {%%r1}], {%%r0};\n%s\n"
                   "xor.b32 %%r0, %%r0, 32;\ntex.1d.v4.u32.s32 {%%r2, _, _, _}, [%%l1, {%%r0}];\n"
                   "ret;\n}\n.file 1 \"surface.cu\"\n";
    for (int barrier = 0; barrier < 2; barrier++) {
        char text[1024];
        struct emu *emu = open_checking(EMU_CHECK_RACE);
        uint64_t size[] = {64, 1, 1};
        struct emu_texture t = floats(EMU_TEXTURE_1D, size, 1);
        t.base = device_copy(emu, NULL, 256);
        uint64_t texture = open_object(emu, &t);
        t.is_surface = true;
        uint64_t surface = open_object(emu, &t);
        snprintf(text, sizeof text, format, barrier ? "bar.sync 0;" : "");
        cr_assert(
            !launch(emu, load_kernel(emu, text, "k"), 1, 64, 0, 2, (uint64_t[]){surface, texture}),
            "%s", emu_message(emu));
        expect_finding(emu, barrier ? 0 : 2, "Race reported between Read access at k in ");
        if (!barrier) {
            const char *head = emu_finding(emu, 0)->head;
            cr_expect(strstr(head, "(PTX line 15)\n    and Write access at k in "), "%s", head);
            cr_expect(strstr(head, "surface.cu:7 (PTX line 12)"), "%s", head);
        }
        emu_close(emu);
    }
}

Test(surfaces, memcheck_finds_faults)
{
    struct emu *emu = open_checking(EMU_CHECK_MEMORY);
    struct emu_texture t = bytes_of(emu, EMU_TEXTURE_2D);
    uint64_t surface = open_object(emu, &t);
    cr_assert_eq(
        run_with_object(emu, surface, "suld.b.2d.b8.trap {%h0}, [%object, {8, 0}];", t.base),
        EMU_ILLEGAL_ADDRESS);
    expect_finding(emu, 1, "a load of 1 bytes is outside of a surface");
    emu_close(emu);
}

/* Memory that textures and surfaces access is not counted as global memory, nor traced. */
Test(surfaces, are_not_counted)
{
    char *trace;
    size_t length;
    FILE *file = open_memstream(&trace, &length);
    struct emu *emu =
        open_emu_with(&(struct emu_config){.memory = 1 << 20, .counters = true, .trace = file});
    struct emu_texture t = bytes_of(emu, EMU_TEXTURE_2D);
    uint64_t surface = open_object(emu, &t);
    cr_assert(!run_with_object(emu, surface,
                               SULD_2D "\nsust.b.2d.b8.trap [%object, {1, 0}], {%h0};", t.base));
    const struct emu_counts *total = &emu_record(emu, 0)->total;
    cr_expect_eq(total->global_ld.requests + total->global_st.requests, 0);
    cr_expect(total->classes[EMU_CLASS_STORE] == 1, "sust is an instruction, too");
    emu_close(emu);
    fclose(file);
    cr_expect(!strstr(trace, "global"), "%s", trace);
    free(trace);
}
