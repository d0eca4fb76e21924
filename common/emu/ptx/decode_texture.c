/* decode_texture.c — decodes reads of textures, and reads and writes of surfaces: tex, tld4, suld,
 * sust. */
#include "decode_words.h"
#include "operations.h"
#include <string.h>

/* Modifiers for caches, which the emulator does not need. */
static const char *const texture_hints[] = {"ca", "cg", "cs", "cv", "wb", "wt", NULL};

/* The number of coordinates: where it is 4, PTX has one or more that mean nothing. */
struct geometry {
    const char *word;
    enum emu_texture_shape shape;
    unsigned coordinates;
};

static const struct geometry *take_geometry(struct decoder *d, struct words *words)
{
    static const struct geometry all[] = {
        {"1d", EMU_TEXTURE_1D, 1},
        {"2d", EMU_TEXTURE_2D, 2},
        {"3d", EMU_TEXTURE_3D, 4},
        {"a1d", EMU_TEXTURE_1D_LAYERED, 2},
        {"a2d", EMU_TEXTURE_2D_LAYERED, 4},
        {"cube", EMU_TEXTURE_CUBE, 4},
        {"acube", EMU_TEXTURE_CUBE_LAYERED, 4},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (take_word(words, all[k].word)) return &all[k];
    decode_fail(d, EMU_UNSUPPORTED_PTX,
                "it needs a geometry that is supported: .1d, .2d, .3d, .a1d, .a2d, .cube or "
                ".acube");
}

/* The object and the coordinates in [object, {coordinates}]. */
static void take_object(struct decoder *d, const struct ptx_operand *operand,
                        const struct geometry *geometry, struct insn *i)
{
    const struct ptx_operand *base = operand->kind == PTX_ADDRESS ? operand->base : NULL;
    if (base && base->kind == PTX_SYMBOL)
        decode_fail(d, EMU_UNSUPPORTED_PTX,
                    "the emulator has no texture and surface references; pass a texture object to "
                    "the kernel instead");
    if (!base || base->kind != PTX_REGISTER)
        decode_fail(d, EMU_INVALID_PTX, "an object in [ ] is missing");
    const struct ptx_operand *all = base->other;
    if (!all || all->kind != PTX_VECTOR || all->count != geometry->coordinates)
        decode_fail(d, EMU_INVALID_PTX, "it needs %u coordinates in { }", geometry->coordinates);
    i->family = FAMILY_TEXTURE;
    i->texture.shape = (uint8_t)geometry->shape;
    i->texture.object = source_slot(d, base, 8);
    i->texture.resident = NO_SLOT;
    for (unsigned k = 0; k < MAX_ATOMIC_VECTOR; k++) i->texture.value[k] = NO_SLOT;
    for (unsigned k = 0; k < all->count; k++)
        i->texture.coordinate[k] = source_slot(d, all->items[k], 4);
}

/* Four 32-bit results, and perhaps a predicate. */
static void take_results(struct decoder *d, const struct ptx_operand *operand, struct words *words,
                         struct insn *i)
{
    bool four = take_word(words, "v4");
    enum ptx_type result = take_type(words), coordinate = take_type(words);
    if (!four || ptx_type_size(result) != 4 || (coordinate != PTX_F32 && coordinate != PTX_S32))
        decode_fail(d, EMU_UNSUPPORTED_PTX,
                    "it is supported for four elements of 32 bits (.v4) and coordinates of type "
                    ".f32 or .s32");
    refuse_rest(d, words);
    i->elements = i->element_bytes = 4;
    decode_values(d, operand, true, i, i->texture.value);
    i->texture.resident = second_destination_slot(d, operand);
    i->texture.by_integers = coordinate == PTX_S32;
}

/* tex{.level|.grad}.geometry.v4.type.type d{|p}, [a, c]{, level | gradients}; without mipmaps
 * neither matters */
void decode_texture(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    struct words words = all_words(source);
    bool has_level = take_word(&words, "level"), has_gradients = take_word(&words, "grad");
    const struct geometry *geometry = take_geometry(d, &words);
    unsigned count = has_level ? 3 : has_gradients ? 4 : 2;
    need_operands(d, source, count, count);
    take_object(d, &source->operands[1], geometry, i);
    take_results(d, &source->operands[0], &words, i);
    if (i->texture.by_integers && geometry->shape >= EMU_TEXTURE_CUBE)
        decode_fail(d, EMU_INVALID_PTX, "a cube has no integer coordinates");
    i->fn = op_find("tex")->fn;
}

/* tld4.channel.2d.v4.type.f32 d{|p}, [a, c]; */
void decode_gather(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    static const char *const channels[] = {"r", "g", "b", "a"};
    enum { CHANNELS = sizeof channels / sizeof *channels };
    struct words words = all_words(source);
    unsigned channel = 0;
    while (channel < CHANNELS && !take_word(&words, channels[channel])) channel++;
    const struct geometry *geometry = take_geometry(d, &words);
    if (channel == CHANNELS || geometry->shape != EMU_TEXTURE_2D)
        decode_fail(d, EMU_UNSUPPORTED_PTX,
                    "it is supported for a channel (.r, .g, .b or .a) of a texture that is .2d");
    need_operands(d, source, 2, 2);
    take_object(d, &source->operands[1], geometry, i);
    take_results(d, &source->operands[0], &words, i);
    i->texture.channel = (uint8_t)channel;
    i->fn = op_find("tld4")->fn;
}

/* suld.b.geometry{.cop}{.vec}.type.boundary d, [a, b]; and sust.b.… [a, b], c; */
void decode_surface(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    struct words words = all_words(source);
    bool stores = !strcmp(source->words[0], "sust"), plain = take_word(&words, "b");
    bool traps = take_word(&words, "trap"), clamps = take_word(&words, "clamp");
    bool zero = take_word(&words, "zero");
    drop_words(&words, texture_hints);
    const struct geometry *geometry = take_geometry(d, &words);
    i->elements = take_word(&words, "v2") ? 2 : take_word(&words, "v4") ? 4 : 1;
    enum ptx_type type = take_type(&words);
    refuse_rest(d, &words);
    i->element_bytes = (uint8_t)ptx_type_size(type);
    if (!plain || traps + clamps + zero != 1 || geometry->shape >= EMU_TEXTURE_CUBE)
        decode_fail(d, EMU_INVALID_PTX,
                    "it is .b, has no cubes, and is one of .trap, .clamp and .zero");
    if (!i->element_bytes || i->element_bytes * i->elements > 16)
        decode_fail(d, EMU_INVALID_PTX, "%u elements of type .%s; it accesses up to 16 bytes",
                    i->elements, ptx_type_name(type));
    need_operands(d, source, 2, 2);
    take_object(d, &source->operands[stores ? 0 : 1], geometry, i);
    decode_values(d, &source->operands[stores ? 1 : 0], !stores, i, i->texture.value);
    i->texture.boundary = clamps ? BOUNDARY_CLAMP : zero ? BOUNDARY_ZERO : BOUNDARY_TRAP;
    i->texture.stores = stores;
    i->fn = op_find(stores ? "sust" : "suld")->fn;
}
