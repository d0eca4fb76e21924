/* texture.c — a device's texture and surface objects, by number. */
#include "device.h"
#include <stdlib.h>

/* The upper half of an object's number tells the device, so that no other device has it. */
static uint64_t first_number(const struct emu *emu) { return (emu->number + UINT64_C(1)) << 32; }

/* The place of an object's number, which may be beyond the last. */
static uint64_t place_of(const struct emu *emu, uint64_t object)
{
    return object - first_number(emu) - 1;
}

const struct emu_texture *device_texture(const struct emu *emu, uint64_t object)
{
    uint64_t place = place_of(emu, object);
    return place < emu->textures.count ? emu->textures.all[place] : NULL;
}

const char *device_describe_object(const struct emu *emu, uint64_t object)
{
    if (!object) return "it is 0";
    if (place_of(emu, object) < emu->textures.count) return "it has been destroyed";
    return "it was not made on this device";
}

void device_close_textures(struct emu *emu)
{
    for (size_t k = 0; k < emu->textures.count; k++) free(emu->textures.all[k]);
    free(emu->textures.all);
}

/* Adds an object, which it then owns. False: out of memory. */
static bool add(struct textures *textures, struct emu_texture *texture)
{
    enum { FIRST_ROOM = 16 };
    if (textures->count == textures->room) {
        size_t room = textures->room ? 2 * textures->room : FIRST_ROOM;
        struct emu_texture **grown = realloc(textures->all, room * sizeof *grown);
        if (!grown) return false;
        textures->all = grown;
        textures->room = room;
    }
    textures->all[textures->count++] = texture;
    return true;
}

int emu_texture_open(struct emu *emu, const struct emu_texture *texture, uint64_t *object)
{
    struct emu_texture *kept = malloc(sizeof *kept);
    if (!kept) return EMU_OUT_OF_MEMORY;
    *kept = *texture;
    pthread_mutex_lock(&emu->lock);
    bool added = add(&emu->textures, kept);
    if (added) *object = first_number(emu) + emu->textures.count;
    pthread_mutex_unlock(&emu->lock);
    if (!added) free(kept);
    return added ? EMU_OK : EMU_OUT_OF_MEMORY;
}

int emu_texture_close(struct emu *emu, uint64_t object)
{
    int error = EMU_OK;
    pthread_mutex_lock(&emu->lock);
    if (device_texture(emu, object)) {
        free(emu->textures.all[place_of(emu, object)]);
        emu->textures.all[place_of(emu, object)] = NULL;
    } else {
        error = device_failed(emu, EMU_INVALID_VALUE, "0x%llx is no texture or surface object: %s",
                              (unsigned long long)object, device_describe_object(emu, object));
    }
    pthread_mutex_unlock(&emu->lock);
    return error;
}
