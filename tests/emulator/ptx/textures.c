/*
 * textures.c — textures and pictures of them.
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "textures.h"
#include "ptx_run.h"
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is kept of a run for pictures (emu_bank_picture, emu_timeline) --------------------- */

enum { LANES = 32, WARPS = 2, MOST_LINES = 256, MOST_TURNS = 2000 };

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
    struct emu *emu = run_pictured(
        PTX_KERNEL("k", "mov.u32 %r0, %tid.x;\nand.b32 %r1, %r0, 33;\nsetp.ne.u32 %p0, %r1, 33;\n"
                        "@%p0 bra even;\nadd.u32 %r2, %r2, 1;\nadd.u32 %r2, %r2, 1;\n"
                        "add.u32 %r2, %r2, 1;\neven:\nbar.sync 0;\nst.global.u32 [%out], %r0;\n"
                        "ret;"),
        1, 2);
    cr_assert_eq(emu_timelines(emu), 1);
    const struct emu_timeline *t = emu_timeline(emu, 0);
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
    cr_expect_null(emu_timeline(emu, 1));
    emu_close(emu);
}

Test(emu_pictures, long_timelines_are_cut)
{
    struct emu *emu =
        run_pictured(PTX_KERNEL("k", "mov.u32 %r0, 0;\nagain:\nbar.sync 0;\nadd.u32 %r0, %r0, 1;\n"
                                     "setp.lt.u32 %p0, %r0, 3000;\n@%p0 bra again;\nret;"),
                     1, 1);
    const struct emu_timeline *t = emu_timeline(emu, 0);
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
        cr_assert_eq(emu_bank_pictures(emu), 1);
        const struct emu_bank_picture *p = emu_bank_picture(emu, 0);
        cr_expect(!strcmp(p->file, "pictures.cu") && p->line == 7 && !strcmp(p->kernel, "k"));
        cr_expect(p->wavefronts == 8 && p->ideal == 1 && !p->is_load && !p->is_atomic);
        cr_expect(p->block == 0 && p->warp == 0 && p->bytes == 4 && p->mask == UINT32_MAX);
        for (unsigned l = 0; l < LANES; l++) cr_expect_eq(p->address[l] - p->address[0], 32 * l);
        emu_close(emu);
    }
}

Test(emu_pictures, many_lines)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fputs(PTX_PROLOGUE("k") ".shared .align 4 .b8 s[4096];\nmov.u32 %r0, %laneid;\n"
                            "mov.u64 %l0, s;\nmad.wide.u32 %l1, %r0, 8, %l0;\n",
          out);
    for (unsigned line = 1; line <= MOST_LINES + 20; line++)
        fprintf(out, ".loc 1 %u 0\nld.shared.u32 %%r1, [%%l1];\n", line);
    fputs("ret;\n}\n" FILES, out);
    fclose(out);
    struct emu *emu = run_pictured(text, 1, 1);
    cr_expect_eq(emu_bank_pictures(emu), MOST_LINES);
    cr_expect_eq(emu_bank_picture(emu, MOST_LINES - 1)->line, MOST_LINES);
    cr_expect_null(emu_bank_picture(emu, MOST_LINES));
    emu_close(emu);
    free(text);
}

/* Nothing is kept unless it is asked for. */
Test(emu_pictures, off)
{
    struct emu *emu = open_emu();
    cr_expect(emu_bank_pictures(emu) == 0 && emu_timelines(emu) == 0);
    cr_expect(!emu_bank_picture(emu, 0) && !emu_timeline(emu, 0));
    emu_close(emu);
}

/* ---- textures -------------------------------------------------------------------------------- */

/*
 * Reads of textures against a reference that follows the CUDA C++ Programming Guide
 * ("Texture Fetching"), written without the emulator's code: every shape, address mode and filter.
 * The last bits of filters are held to a GPU's by tests/docs/test_fidelity.py.
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

static double element(const struct emu_texture *t, const float *data, const int *at, int channel)
{
    int x = meant(t->outside[0], at[0], (int)t->size[0]);
    int y = meant(t->outside[1], at[1], (int)t->size[1]);
    int z = meant(t->outside[2], at[2], (int)t->size[2]);
    if (x < 0 || y < 0 || z < 0) return (double)t->border[channel];
    size_t place = ((size_t)z * t->size[1] + (size_t)y) * t->size[0] + (size_t)x;
    return (double)data[place * t->channels + (size_t)channel];
}

/* What a texture of this many axes reads: in the axes beyond, `layer`. */
static float expected(const struct emu_texture *t, const float *data, int axes, const float *x,
                      int layer, int channel)
{
    int first[3] = {0, 0, layer}, corners = t->is_filtered ? 1 << axes : 1;
    double weight[3] = {0}, sum = 0;
    for (int k = 0; k < axes; k++) {
        double place = (double)x[k] * (t->is_normalized ? (double)t->size[k] : 1);
        if (t->is_filtered) place -= 0.5;
        first[k] = (int)floor(place);
        if (t->is_filtered) weight[k] = round((place - first[k]) * 256) / 256;
    }
    for (int corner = 0; corner < corners; corner++) {
        int at[3];
        double part = 1;
        for (int k = 0; k < 3; k++) {
            bool next = corner >> k & 1;
            at[k] = first[k] + next;
            part *= next ? weight[k] : 1 - weight[k];
        }
        sum += part * element(t, data, at, channel);
    }
    return (float)sum;
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

/* Elements are between -MOST and MOST. A weight of several axes is rounded for each axis but one,
 * each time by at most half of 1/256. A sum is rounded to a float. */
static float bound(const struct emu_texture *t, int axes)
{
    if (!t->is_filtered) return 0;
    return MOST * (0x1p-23f + (float)((1 << axes) * (axes - 1)) / 512);
}

static void expect_reads(struct emu *emu, const struct shape *s, struct emu_texture t)
{
    float data[8 * 8 * 8 * CHANNELS];
    union value in[THREADS][4], out[THREADS][4];
    size_t count = t.size[0] * t.size[1] * t.size[2] * t.channels;
    for (size_t i = 0; i < count; i++) data[i] = random_float(-MOST, MOST);
    t.base = device_copy(emu, data, count * sizeof *data);
    take_coordinates(&t, in);
    read_texture(emu, &t, s->geometry, "f32", s->coordinates, THREADS, in, out);
    for (int i = 0; i < THREADS; i++)
        for (int c = 0; c < CHANNELS; c++) {
            float x[3] = {in[i][0].f32, in[i][1].f32, in[i][2].f32};
            int layer = layer_of(&t, s, in[i][3].s32);
            float want = c < (int)t.channels ? expected(&t, data, s->axes, x, layer, c) : 0;
            cr_assert(
                fabsf(out[i][c].f32 - want) <= bound(&t, s->axes),
                "%s, filter %d, normalised %d, outside %d, at (%a, %a, %a), layer %d: channel "
                "%d is %a, not %a",
                s->geometry, t.is_filtered, t.is_normalized, t.outside[0], x[0], x[1], x[2], layer,
                c, out[i][c].f32, want);
        }
    emu_free(emu, t.base);
}

Test(textures, every_shape_filter_and_address_mode)
{
    struct emu *emu = open_emu();
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (unsigned mode = 0; mode < 16 * 3; mode++) {
            const struct shape *s = &shapes[k];
            struct emu_texture t = floats(s->shape, s->size, 1u << mode / 16);
            t.is_filtered = mode & 1;
            t.is_normalized = mode & 2;
            enum emu_outside outside = (enum emu_outside)(mode / 4 % 4);
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
        read_texture(emu, &t, "3d", "f32", "%c0, %c1, %c2, %c2", ODD, in, out);
        for (int i = 0; i < ODD; i++)
            cr_assert(out[i][0].f32 >= 0 && out[i][0].f32 <= 63, "%a", out[i][0].f32);
        emu_free(emu, t.base);
    }
    emu_close(emu);
}

/* ---- cubes ----------------------------------------------------------------------------------- */

/* Directions, and the face, column and row that the guide's table says; the cube has 2 x 2 elements
 * a face. */
Test(textures, cubes)
{
    static const struct {
        float direction[3];
        int face, x, y;
    } cases[] = {
        {{2, 0.5f, 1}, 0, 0, 0},   {{2, -0.5f, -1}, 0, 1, 1}, {{-2, 0.5f, 1}, 1, 1, 0},
        {{-2, 0.5f, -1}, 1, 0, 0}, {{1, 3, -1}, 2, 1, 0},     {{-1, 3, 1}, 2, 0, 1},
        {{1, -3, -1}, 3, 1, 1},    {{-1, -3, 1}, 3, 0, 0},    {{1, 1, 4}, 4, 1, 0},
        {{-1, -1, 4}, 4, 0, 1},    {{1, 1, -4}, 5, 0, 0},     {{-1, -1, -4}, 5, 1, 1},
        {{1, 1, 1}, 4, 1, 0},      {{0.5f, 1, 1}, 4, 1, 0},   {{1, 1, 0.5f}, 2, 1, 1},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    struct emu *emu = open_emu();
    float data[3 * 24];
    union value in[CASES][4], out[CASES][4];
    for (int i = 0; i < 3 * 24; i++) data[i] = (float)i;
    for (int layers = 1; layers <= 3; layers += 2) {
        uint64_t size[] = {2, 2, 6 * (uint64_t)layers};
        enum emu_texture_shape shape = layers == 1 ? EMU_TEXTURE_CUBE : EMU_TEXTURE_CUBE_LAYERED;
        struct emu_texture t = floats(shape, size, 1);
        t.is_normalized = true;
        t.base = device_copy(emu, data, sizeof data);
        for (int i = 0; i < CASES; i++) {
            for (int k = 0; k < 3; k++) in[i][k].f32 = cases[i].direction[k];
            in[i][3].s32 = i % 4; /* 3 is beyond the last layer, which stands for it */
        }
        read_texture(emu, &t, layers == 1 ? "cube" : "acube", "f32",
                     layers == 1 ? "%c0, %c1, %c2, %c2" : "%c3, %c0, %c1, %c2", CASES, in, out);
        for (int i = 0; i < CASES; i++) {
            int layer = layers == 1 ? 0 : i % 4 < 3 ? i % 4 : 2;
            int place = 24 * layer + 4 * cases[i].face + 2 * cases[i].y + cases[i].x;
            cr_expect_eq(out[i][0].f32, (float)place, "direction %d: %g, not %d", i,
                         (double)out[i][0].f32, place);
        }
        emu_free(emu, t.base);
    }
    emu_close(emu);
}

/* ---- formats --------------------------------------------------------------------------------- */

/* The bits of an element, and what a register gets. */
Test(textures, formats)
{
    static const struct {
        enum emu_channel channel;
        unsigned bytes, fractions;
        uint32_t bits, want; /* `want`: the register's bits; of fractions, those of a float */
    } cases[] = {
        {EMU_CHANNEL_UNSIGNED, 1, 0, 0xfe, 0xfe},
        {EMU_CHANNEL_SIGNED, 1, 0, 0xfe, 0xfffffffe},
        {EMU_CHANNEL_UNSIGNED, 2, 0, 0xfffe, 0xfffe},
        {EMU_CHANNEL_SIGNED, 2, 0, 0xfffe, 0xfffffffe},
        {EMU_CHANNEL_UNSIGNED, 4, 0, 0x89abcdef, 0x89abcdef},
        {EMU_CHANNEL_FLOAT, 4, 0, 0x7fa00001, 0x7fa00001},
        {EMU_CHANNEL_FLOAT, 4, 1, 0x3fc00000, 0x3fc00000},
        {EMU_CHANNEL_FLOAT, 2, 0, 0x3e00, 0x3fc00000},    /* 1.5 */
        {EMU_CHANNEL_UNSIGNED, 1, 1, 0xff, 0x3f800000},   /* 1 */
        {EMU_CHANNEL_UNSIGNED, 1, 1, 51, 0x3e4ccccd},     /* 0.2 */
        {EMU_CHANNEL_SIGNED, 1, 1, 0x7f, 0x3f800000},     /* 1 */
        {EMU_CHANNEL_SIGNED, 1, 1, 0x81, 0xbf800000},     /* -1 */
        {EMU_CHANNEL_SIGNED, 1, 1, 0x80, 0xbf800000},     /* also -1 */
        {EMU_CHANNEL_UNSIGNED, 2, 1, 0xffff, 0x3f800000}, /* 1 */
        {EMU_CHANNEL_UNSIGNED, 2, 1, 0x3333, 0x3e4ccccd}, /* 0.2 */
        {EMU_CHANNEL_SIGNED, 2, 1, 0x8000, 0xbf800000},   /* -1 */
    };
    struct emu *emu = open_emu();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned channels = 1; channels <= 4; channels *= 2) {
            unsigned char data[32] = {0};
            uint64_t size[] = {2, 1, 1};
            union value in[1][4] = {{{.f32 = 1.25f}}}, out[1][4];
            struct emu_texture t = floats(EMU_TEXTURE_1D, size, channels);
            t.channel = cases[i].channel;
            t.channel_bytes = cases[i].bytes;
            t.reads_fractions = cases[i].fractions;
            for (unsigned c = 0; c < channels; c++)
                memcpy(data + (channels + c) * cases[i].bytes, &cases[i].bits, cases[i].bytes);
            t.base = device_copy(emu, data, sizeof data);
            read_texture(emu, &t, "1d", "u32", "%c0", 1, in, out);
            for (unsigned c = 0; c < 4; c++)
                cr_expect_eq(out[0][c].u32, c < channels ? cases[i].want : 0,
                             "format %zu, channel %u of %u: 0x%x", i, c, channels, out[0][c].u32);
            emu_free(emu, t.base);
        }
    emu_close(emu);
}

/* ---- other instructions ---------------------------------------------------------------------- */

/* tex1Dfetch: beyond the last element, and before the first, there are zeros. */
Test(textures, linear_memory)
{
    struct emu *emu = open_emu();
    static const int places[] = {0, 4, 5, -1, 1 << 30, INT32_MIN};
    enum { PLACES = sizeof places / sizeof *places };
    float data[] = {10, 11, 12, 13, 14};
    uint64_t size[] = {5, 1, 1};
    union value in[PLACES][4] = {{{0}}}, out[PLACES][4];
    struct emu_texture t = floats(EMU_TEXTURE_LINEAR, size, 1);
    t.outside[0] = EMU_OUTSIDE_BORDER;
    t.base = device_copy(emu, data, sizeof data);
    for (int i = 0; i < PLACES; i++) in[i][0].s32 = places[i];
    read_texture(emu, &t, "1d", "s32", "%c0", PLACES, in, out);
    for (int i = 0; i < PLACES; i++)
        cr_expect_eq(out[i][0].f32,
                     i == 0   ? 10
                     : i == 1 ? 14
                              : 0,
                     "at %d: %g", places[i], (double)out[i][0].f32);
    emu_close(emu);
}

/* The four elements of a filter's square, counted from the lower left against the clock. */
Test(textures, gather)
{
    struct emu *emu = open_emu();
    float data[4 * 3 * 2];
    uint64_t size[] = {4, 3, 1};
    union value in[1][4] = {{{.f32 = 2.1f}, {.f32 = 1.4f}}}, out[1][4];
    struct emu_texture t = floats(EMU_TEXTURE_2D, size, 2);
    for (int i = 0; i < 24; i++) data[i] = (float)i;
    t.base = device_copy(emu, data, sizeof data);
    static const float want[2][4] = {{10, 12, 4, 2}, {11, 13, 5, 3}};
    for (int channel = 0; channel < 2; channel++) {
        read_texture_by(emu, &t, channel ? "tld4.g" : "tld4.r", "2d", "f32", "%c0, %c1", 1, in,
                        out);
        for (int i = 0; i < 4; i++) cr_expect_eq(out[0][i].f32, want[channel][i]);
    }
    emu_close(emu);
}

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
