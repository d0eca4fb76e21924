/*
 * test_ptx_textures.c — textures and surfaces, what the checkers find in them, and what is kept of
 * a run for pictures.
 */
#define _GNU_SOURCE
#include "tests/cases/ptx/ptx_run.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- kernels that read textures -------------------------------------------------------------- */

/* A texture of floats without gaps, whose outside is the nearest element; it has no memory yet. */
static struct emu_texture floats(enum emu_texture_shape shape, const uint64_t size[3],
                                 unsigned channels)
{
    struct emu_texture t = {.shape = shape,
                            .size = {size[0], size[1], size[2]},
                            .row = size[0] * channels * sizeof(float),
                            .channels = channels,
                            .channel_bytes = sizeof(float),
                            .channel = EMU_CHANNEL_FLOAT};
    t.slice = size[1] * t.row;
    for (int k = 0; k < 3; k++) t.outside[k] = EMU_OUTSIDE_CLAMP;
    return t;
}

#define PARAMETERS(name)                                                                           \
    PTX_HEADER ".visible .entry " name                                                             \
               "(.param .u64 p_out, .param .u64 p_in, .param .u64 p_object)"                       \
               " {\n.reg .pred %%p<8>;\n.reg .b16 %%h<8>;\n.reg .b32 %%r<8>, %%c<4>, %%d<4>;\n"    \
               ".reg .b64 %%l<8>, %%out, %%in, %%object;\nld.param.u64 %%out, [p_out];\n"          \
               "ld.param.u64 %%in, [p_in];\nld.param.u64 %%object, [p_object];\n"

/* Reads a texture in `count` threads, at most 256, by an instruction of this geometry. A thread's
 * four coordinates are in %c0 to %c3. */
static void read_texture(struct emu *emu, const struct emu_texture *t, const char *geometry,
                         const char *coordinates, unsigned count, union value (*in)[4],
                         union value (*out)[4])
{
    char text[2048];
    uint32_t words[256][4];
    uint64_t object;
    snprintf(text, sizeof text,
             PARAMETERS("k") "mov.u32 %%r0, %%tid.x;\nmul.wide.u32 %%l0, %%r0, 16;\n"
                             "add.u64 %%out, %%out, %%l0;\nadd.u64 %%in, %%in, %%l0;\n"
                             "ld.global.v4.b32 {%%c0, %%c1, %%c2, %%c3}, [%%in];\n"
                             "tex.%s.v4.f32.f32 {%%d0, %%d1, %%d2, %%d3}, [%%object, {%s}];\n"
                             "st.global.v4.b32 [%%out], {%%d0, %%d1, %%d2, %%d3};\nret;\n}\n",
             geometry, coordinates);
    for (unsigned i = 0; i < count; i++)
        for (int k = 0; k < 4; k++) words[i][k] = in[i][k].u32;
    size_t bytes = count * sizeof *words;
    emu_addr from = device_copy(emu, words, bytes), to = device_copy(emu, NULL, bytes);
    struct emu_kernel *kernel = load_kernel(emu, text, "k");
    cr_assert(!emu_texture_open(emu, t, &object));
    cr_assert(!launch(emu, kernel, 1, count, 0, 3, (uint64_t[]){to, from, object}), "%s",
              emu_message(emu));
    cr_assert(!emu_texture_close(emu, object));
    cr_assert(!emu_read(emu, words, to, bytes));
    for (unsigned i = 0; i < count; i++)
        for (int k = 0; k < 4; k++) out[i][k] = (union value){.u32 = words[i][k]};
    emu_free(emu, from);
    emu_free(emu, to);
}

/* Runs a body that names its object %object and its memory %out, with one thread; returns the
 * launch's error. */
static int run_with_object(struct emu *emu, uint64_t object, const char *body, emu_addr out)
{
    char text[2048];
    snprintf(text, sizeof text, PARAMETERS("k") "%s\nret;\n}\n", body);
    return launch(emu, load_kernel(emu, text, "k"), 1, 1, 0, 3, (uint64_t[]){out, 0, object});
}

/* ---- what is kept of a run for pictures (emu_bank_pictures, emu_timelines) ------------------- */

enum { LANES = 32, WARPS = 2, MOST_TURNS = 2000 };

#define FILES ".file 1 \"pictures.cu\"\n"

/* Runs it with two warps in each block. */
static struct emu *run_pictured(const char *text, unsigned threads, unsigned blocks)
{
    struct emu *emu = open_emu_with(
        &(struct emu_config){.threads = threads, .memory = 16 << 20, .pictures = true});
    emu_addr memory = device_copy(emu, NULL, 1 << 16);
    cr_assert(!launch(emu, load_kernel(emu, text, "k"), blocks, WARPS * LANES, 0, 2,
                      (uint64_t[]){memory, memory}),
              "%s", emu_message(emu));
    return emu;
}

/* ---- timelines ------------------------------------------------------------------------------- */

/* Parts follow each other without gaps; returns how many there are of a warp with this end. */
static unsigned count_ends(const struct emu_timeline *t, unsigned warp, enum emu_turn_end end)
{
    unsigned count = 0;
    uint64_t at = 0;
    for (size_t i = 0; i < t->turn_count; i++) {
        const struct emu_turn *turn = &t->turns[i];
        cr_expect(turn->from == at && turn->to > turn->from, "part %zu", i);
        at = turn->to;
        count += turn->warp == warp && turn->end == end;
    }
    if (!t->is_cut) cr_expect_eq(at, t->steps);
    return count;
}

/* In warp 1 the odd lanes execute 3 instructions by themselves. */
Test(emu_pictures, turns_of_warps)
{
    size_t count;
    struct emu *emu = run_pictured(
        PTX_KERNEL("k", "mov.u32 %r0, %tid.x;\nand.b32 %r1, %r0, 33;\nsetp.ne.u32 %p0, %r1, 33;\n"
                        "@%p0 bra even;\nadd.u32 %r2, %r2, 1;\nadd.u32 %r2, %r2, 1;\n"
                        "add.u32 %r2, %r2, 1;\neven:\nbar.sync 0;\nst.global.u32 [%out], %r0;\n"
                        "ret;"),
        1, 2);
    const struct emu_timeline *t = emu_timelines(emu, &count);
    cr_assert_eq(count, 1);
    cr_expect(!strcmp(t->kernel, "k") && t->warps == WARPS && !t->is_cut);
    for (unsigned w = 0; w < WARPS; w++) cr_expect_eq(count_ends(t, w, EMU_TURN_EXITED), 1);
    cr_expect_eq(count_ends(t, 0, EMU_TURN_AT_BARRIER), 1); /* warp 1 comes last, and goes on */
    unsigned divergent = 0;
    for (size_t i = 0; i < t->turn_count; i++) {
        if (!t->turns[i].is_divergent) continue;
        divergent++;
        cr_expect(t->turns[i].warp == 1 && t->turns[i].to - t->turns[i].from == 3);
    }
    cr_expect_eq(divergent, 1);
    emu_close(emu);
}

Test(emu_pictures, long_timelines_are_cut)
{
    struct emu *emu =
        run_pictured(PTX_KERNEL("k", "mov.u32 %r0, 0;\nagain:\nbar.sync 0;\nadd.u32 %r0, %r0, 1;\n"
                                     "setp.lt.u32 %p0, %r0, 3000;\n@%p0 bra again;\nret;"),
                     1, 1);
    size_t count;
    const struct emu_timeline *t = emu_timelines(emu, &count);
    cr_expect(t->is_cut && t->turn_count == MOST_TURNS, "%zu turns", t->turn_count);
    emu_close(emu);
}

/* ---- banks ----------------------------------------------------------------------------------- */

/* Each block loads at strides of 2, 8 and 4 words in one line, and at none in another. */
Test(emu_pictures, the_worst_access_of_a_line)
{
    static const char text[] =
        PTX_KERNEL("k", ".shared .align 4 .b8 s[4096];\nmov.u32 %r0, %laneid;\nmov.u64 %l0, s;\n"
                        "mad.wide.u32 %l1, %r0, 8, %l0;\nmad.wide.u32 %l2, %r0, 32, %l0;\n"
                        "mad.wide.u32 %l3, %r0, 16, %l0;\nmad.wide.u32 %l4, %r0, 4, %l0;\n"
                        ".loc 1 7 0\nld.shared.u32 %r1, [%l1];\nst.shared.u32 [%l2], %r0;\n"
                        "ld.shared.u32 %r3, [%l3];\n.loc 1 8 0\nld.shared.u32 %r4, [%l4];\nret;")
            FILES;
    for (unsigned threads = 1; threads <= 4; threads += 3) {
        struct emu *emu = run_pictured(text, threads, 9);
        size_t count;
        const struct emu_bank_picture *p = emu_bank_pictures(emu, &count);
        cr_assert_eq(count, 1);
        cr_expect(!strcmp(p->file, "pictures.cu") && p->line == 7 && !strcmp(p->kernel, "k"));
        cr_expect(p->wavefronts == 8 && p->ideal == 1 && !p->is_load && !p->is_atomic);
        cr_expect(p->block == 0 && p->warp == 0 && p->bytes == 4 && p->mask == UINT32_MAX);
        for (unsigned l = 0; l < LANES; l++) cr_expect_eq(p->address[l] - p->address[0], 32 * l);
        emu_close(emu);
    }
}

/* Nothing is kept unless it is asked for. */
Test(emu_pictures, off)
{
    struct emu *emu = open_emu();
    size_t count;
    cr_expect(!emu_bank_pictures(emu, &count) && count == 0);
    cr_expect(!emu_timelines(emu, &count) && count == 0);
    emu_close(emu);
}

/* ---- textures -------------------------------------------------------------------------------- */

/*
 * Reads of textures against a reference that follows the CUDA C++ Programming Guide
 * ("Texture Fetching"), written without the emulator's code: every shape and address mode. Filters,
 * formats, cubes, gathers and fetches are held to a GPU's bits by tests/docs/test_fidelity.py.
 */

enum { THREADS = 256, CHANNELS = 4, MOST = 100 };

/* ---- the reference --------------------------------------------------------------------------- */

/* The element that is meant by the index i of an axis: outside of 0 to n - 1, by the address mode.
 * -1: the border. */
static int meant(enum emu_outside outside, int i, int n)
{
    while (outside == EMU_OUTSIDE_WRAP && i < 0) i += n;
    while (outside == EMU_OUTSIDE_WRAP && i >= n) i -= n;
    while (outside == EMU_OUTSIDE_MIRROR && (i < 0 || i >= n)) i = i < 0 ? -1 - i : 2 * n - 1 - i;
    if (outside == EMU_OUTSIDE_BORDER && (i < 0 || i >= n)) return -1;
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

static float element(const struct emu_texture *t, const float *data, const int *at, int channel)
{
    int x = meant(t->outside[0], at[0], (int)t->size[0]);
    int y = meant(t->outside[1], at[1], (int)t->size[1]);
    int z = meant(t->outside[2], at[2], (int)t->size[2]);
    if (x < 0 || y < 0 || z < 0) return t->border[channel];
    size_t place = ((size_t)z * t->size[1] + (size_t)y) * t->size[0] + (size_t)x;
    return data[place * t->channels + (size_t)channel];
}

/* What a texture of this many axes reads without a filter: in the axes beyond, `layer`. */
static float expected(const struct emu_texture *t, const float *data, int axes, const float *x,
                      int layer, int channel)
{
    int at[3] = {0, 0, layer};
    for (int k = 0; k < axes; k++)
        at[k] = (int)floor((double)x[k] * (t->is_normalized ? (double)t->size[k] : 1));
    return element(t, data, at, channel);
}

/* ---- every way to read ----------------------------------------------------------------------- */

static const struct shape {
    enum emu_texture_shape shape;
    const char *geometry, *coordinates; /* of the instruction; %c0 to %c3 are loaded */
    int axes;
    uint64_t size[3];
} shapes[] = {
    {EMU_TEXTURE_1D, "1d", "%c0", 1, {7, 1, 1}},
    {EMU_TEXTURE_2D, "2d", "%c0, %c1", 2, {5, 6, 1}},
    {EMU_TEXTURE_3D, "3d", "%c0, %c1, %c2, %c2", 3, {4, 3, 5}},
    {EMU_TEXTURE_1D_LAYERED, "a1d", "%c3, %c0", 1, {7, 1, 4}},
    {EMU_TEXTURE_2D_LAYERED, "a2d", "%c3, %c0, %c1, %c1", 2, {3, 4, 4}},
};

static uint64_t random_state = 1;

static float random_float(float from, float to)
{
    return from + (to - from) * (float)(next_random(&random_state) >> 40) / (float)(1 << 24);
}

/* Coordinates in and around the texture, some of them at elements' edges and centres. */
static void take_coordinates(const struct emu_texture *t, union value (*in)[4])
{
    for (int i = 0; i < THREADS; i++) {
        for (int k = 0; k < 3; k++) {
            float size = (float)t->size[k], x = random_float(-1.5f * size, 2.5f * size);
            if (i % 4 == 0) x = roundf(2 * x) / 2;
            in[i][k].f32 = t->is_normalized ? x / size : x;
        }
        in[i][3].s32 = (int)(next_random(&random_state) % 7) - 1;
    }
}

/* An element's layer: a number beyond the last, and a negative one, is the last. */
static int layer_of(const struct emu_texture *t, const struct shape *s, int asked)
{
    bool is_layered = s->shape >= EMU_TEXTURE_1D_LAYERED;
    int last = (int)t->size[2] - 1;
    return !is_layered ? 0 : asked < 0 || asked > last ? last : asked;
}

static void expect_reads(struct emu *emu, const struct shape *s, struct emu_texture t)
{
    float data[8 * 8 * 8 * CHANNELS];
    union value in[THREADS][4], out[THREADS][4];
    size_t count = t.size[0] * t.size[1] * t.size[2] * t.channels;
    for (size_t i = 0; i < count; i++) data[i] = random_float(-MOST, MOST);
    t.base = device_copy(emu, data, count * sizeof *data);
    take_coordinates(&t, in);
    read_texture(emu, &t, s->geometry, s->coordinates, THREADS, in, out);
    for (int i = 0; i < THREADS; i++)
        for (int c = 0; c < CHANNELS; c++) {
            float x[3] = {in[i][0].f32, in[i][1].f32, in[i][2].f32};
            int layer = layer_of(&t, s, in[i][3].s32);
            float want = c < (int)t.channels ? expected(&t, data, s->axes, x, layer, c) : 0;
            cr_assert(out[i][c].f32 == want,
                      "%s, normalised %d, outside %d, at (%a, %a, %a), layer %d: channel %d is %a, "
                      "not %a",
                      s->geometry, t.is_normalized, t.outside[0], x[0], x[1], x[2], layer, c,
                      out[i][c].f32, want);
        }
    emu_free(emu, t.base);
}

Test(textures, every_shape_and_address_mode)
{
    struct emu *emu = open_emu();
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (unsigned mode = 0; mode < 8 * 3; mode++) {
            const struct shape *s = &shapes[k];
            struct emu_texture t = floats(s->shape, s->size, 1u << mode / 8);
            t.is_normalized = mode & 1;
            enum emu_outside outside = (enum emu_outside)(mode / 2 % 4);
            bool is_periodic = outside == EMU_OUTSIDE_WRAP || outside == EMU_OUTSIDE_MIRROR;
            if (is_periodic && !t.is_normalized) continue; /* the runtime makes no such object */
            for (int axis = 0; axis < s->axes; axis++) t.outside[axis] = outside;
            for (int c = 0; c < CHANNELS; c++) t.border[c] = 0.5f + (float)c;
            expect_reads(emu, s, t);
        }
    emu_close(emu);
}

/* Coordinates of which nothing can be computed end no program. */
Test(textures, coordinates_that_are_no_places)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, 3e38f, -3e38f, 1e-40f, -0.0f, 65536.5f};
    enum { ODD = sizeof odd / sizeof *odd };
    struct emu *emu = open_emu();
    uint64_t size[] = {4, 4, 4};
    float data[4 * 4 * 4];
    union value in[ODD][4], out[ODD][4];
    for (int i = 0; i < 64; i++) data[i] = (float)i;
    for (int i = 0; i < ODD; i++)
        for (int k = 0; k < 4; k++) in[i][k].f32 = odd[(i + 3 * k) % ODD];
    for (unsigned mode = 0; mode < 16; mode++) {
        struct emu_texture t = floats(EMU_TEXTURE_3D, size, 1);
        t.is_filtered = mode & 1;
        t.is_normalized = mode & 2;
        for (int k = 0; k < 3; k++) t.outside[k] = (enum emu_outside)(mode / 4);
        t.base = device_copy(emu, data, sizeof data);
        read_texture(emu, &t, "3d", "%c0, %c1, %c2, %c2", ODD, in, out);
        for (int i = 0; i < ODD; i++)
            cr_assert(out[i][0].f32 >= 0 && out[i][0].f32 <= 63, "%a", out[i][0].f32);
        emu_free(emu, t.base);
    }
    emu_close(emu);
}

/* ---- several objects ------------------------------------------------------------------------- */

/* Lanes with different objects each read their own. A level does not matter. */
Test(textures, several_objects_and_a_level)
{
    struct emu *emu = open_emu();
    uint64_t size[] = {4, 3, 1}, objects[2];
    uint32_t out[8];
    for (int k = 0; k < 2; k++) {
        float data[12] = {[5] = 7 + (float)k};
        struct emu_texture t = floats(EMU_TEXTURE_2D, size, 1);
        t.base = device_copy(emu, data, sizeof data);
        cr_assert(!emu_texture_open(emu, &t, &objects[k]));
    }
    char *text = ptx_kernel(
        "and.b32 %%r0, %%id, 1;\nsetp.eq.u32 %%p0, %%r0, 0;\nmul.wide.u32 %%l2, %%id, 4;\n"
        "sub.u64 %%in, %%in, %%l2;\nld.global.v2.u64 {%%l0, %%l1}, [%%in];\n"
        "selp.b64 %%l0, %%l0, %%l1, %%p0;\nmov.f32 %%f0, 0f3FA00000;\n"
        "mov.f32 %%f1, 0f40000000;\n"
        "tex.level.2d.v4.f32.f32 {%%f2, _, _, _}|%%p1, [%%l0, {%%f0, %%f0}], %%f1;\n"
        "selp.f32 %%f2, %%f2, 0f00000000, %%p1;\nst.global.f32 [%%out], %%f2;\nret;");
    struct emu_kernel *kernel = load_kernel(emu, text, "k");
    emu_addr in = device_copy(emu, objects, sizeof objects);
    emu_addr to = device_copy(emu, NULL, sizeof out);
    cr_assert(!launch(emu, kernel, 1, 8, 0, 2, (uint64_t[]){to, in}), "%s", emu_message(emu));
    cr_assert(!emu_read(emu, out, to, sizeof out));
    for (int i = 0; i < 8; i++) {
        union value value = {.u32 = out[i]};
        cr_expect_eq(value.f32, 7 + (float)(i % 2), "lane %d: %g", i, (double)value.f32);
    }
    free(text);
    emu_close(emu);
}

/* ---- surfaces -------------------------------------------------------------------------------- */

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
 * reads before it is written, the other one after: with a barrier both after, which does not help a
 * texture. All instructions are of one source line. */
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
        expect_finding(emu, barrier ? 1 : 2,
                       barrier ? "Race reported between Write access at k in "
                               : "Race reported between Read access at k in ");
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
