/*
 * textures.h — what the tests of textures and surfaces have in common.
 */
#ifndef TEXTURES_H
#define TEXTURES_H

#include "ptx_run.h"

/* A texture of floats without gaps, whose outside is the nearest element; it has no memory yet. */
struct emu_texture floats(enum emu_texture_shape, const uint64_t size[3], unsigned channels);

/* Reads a texture in `count` threads, at most 256, by an instruction ("tex" or "tld4.r") of this
 * geometry; `result` is the type of its results, or s32 for integer coordinates. A thread's four
 * coordinates are in %c0 to %c3. Aborts the test after an error. */
void read_texture_by(struct emu *, const struct emu_texture *, const char *instruction,
                     const char *geometry, const char *type, const char *coordinates,
                     unsigned count, union value (*in)[4], union value (*out)[4]);
void read_texture(struct emu *, const struct emu_texture *, const char *geometry, const char *type,
                  const char *coordinates, unsigned count, union value (*in)[4],
                  union value (*out)[4]);

/* Runs a body that names its object %object and its memory %out, with one thread; returns the
 * launch's error. */
int run_with_object(struct emu *, uint64_t object, const char *body, emu_addr out);

#endif
