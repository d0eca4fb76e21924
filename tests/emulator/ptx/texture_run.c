/* texture_run.c — kernels that read textures, for textures.c and surfaces.c. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "textures.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct emu_texture floats(enum emu_texture_shape shape, const uint64_t size[3], unsigned channels)
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

void read_texture_by(struct emu *emu, const struct emu_texture *t, const char *instruction,
                     const char *geometry, const char *type, const char *coordinates,
                     unsigned count, union value (*in)[4], union value (*out)[4])
{
    char text[2048];
    uint32_t words[256][4];
    uint64_t object;
    bool by_integers = !strcmp(type, "s32");
    snprintf(text, sizeof text,
             PARAMETERS("k") "mov.u32 %%r0, %%tid.x;\nmul.wide.u32 %%l0, %%r0, 16;\n"
                             "add.u64 %%out, %%out, %%l0;\nadd.u64 %%in, %%in, %%l0;\n"
                             "ld.global.v4.b32 {%%c0, %%c1, %%c2, %%c3}, [%%in];\n"
                             "%s.%s.v4.%s.%s {%%d0, %%d1, %%d2, %%d3}, [%%object, {%s}];\n"
                             "st.global.v4.b32 [%%out], {%%d0, %%d1, %%d2, %%d3};\nret;\n}\n",
             instruction, geometry, by_integers ? "f32" : type, by_integers ? "s32" : "f32",
             coordinates);
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

void read_texture(struct emu *emu, const struct emu_texture *t, const char *geometry,
                  const char *type, const char *coordinates, unsigned count, union value (*in)[4],
                  union value (*out)[4])
{
    read_texture_by(emu, t, "tex", geometry, type, coordinates, count, in, out);
}

int run_with_object(struct emu *emu, uint64_t object, const char *body, emu_addr out)
{
    char text[2048];
    snprintf(text, sizeof text, PARAMETERS("k") "%s\nret;\n}\n", body);
    return launch(emu, load_kernel(emu, text, "k"), 1, 1, 0, 3, (uint64_t[]){out, 0, object});
}
