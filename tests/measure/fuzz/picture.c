/* picture.c — fuzzes the readers of pictures: the bytes are a file. */
#define _POSIX_C_SOURCE 200809L /* fmemopen */
#include "fuzz.h"

#include "common/harness/pictures/picture.h"

#include <stdlib.h>
#include <string.h>

/* Takes the place of host_memory() in run-picture: larger pictures, which a
 * header may promise, are refused before memory is taken. */
size_t fuzz_host_memory(void);
size_t fuzz_host_memory(void) { return (size_t)1 << 24; }

/* ---- PNG ------------------------------------------------------------------------------------- */

enum { SIGNATURE = 8, FRAME = 12 }; /* bytes: of a chunk its length, name and checksum */

static uint32_t big_endian(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static uint32_t checksum(const uint8_t *at, size_t count) /* CRC-32 */
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        crc ^= at[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    return ~crc;
}

/* Corrects the checksums of a PNG's chunks: otherwise libpng would refuse nearly every changed file
 * there. */
static void mend_checksums(uint8_t *png, size_t size)
{
    for (size_t at = SIGNATURE; at + FRAME <= size;) {
        size_t length = big_endian(png + at);
        if (length > size - at - FRAME) return;
        uint32_t crc = checksum(png + at + 4, 4 + length);
        for (int i = 0; i < 4; i++) png[at + 8 + length + i] = (uint8_t)(crc >> (24 - 8 * i));
        at += FRAME + length;
    }
}

/* ---- the target ------------------------------------------------------------------------------ */

/* Asserts the properties that the other parts of a program rely on. */
static void check(const struct picture *p)
{
    size_t count = picture_samples(p);
    if (p->width == 0 || p->height == 0) abort();
    if (p->bits != 8 && p->bits != 16 && p->bits != 32) abort();
    if (p->channels != 1 && p->channels != 3 && p->channels != 4) abort();
    if (p->bits == 32) return;
    for (size_t i = 0; i < count; i++) {
        unsigned sample = p->bits == 8 ? ((uint8_t *)p->samples)[i] : ((uint16_t *)p->samples)[i];
        if (sample > p->maximum) abort();
    }
}

int fuzz_picture(const uint8_t *data, size_t size)
{
    struct fault fault;
    struct picture p;
    uint8_t *copy = size > 0 ? malloc(size) : NULL;
    if (copy == NULL) return 0;
    memcpy(copy, data, size);
    if (copy[0] == 0x89) mend_checksums(copy, size);
    FILE *file = fmemopen(copy, size, "rb");
    if (file != NULL && picture_read_file(&p, file, "fuzz", &fault) == 0) {
        check(&p);
        picture_free(&p);
    }
    if (file != NULL) fclose(file);
    free(copy);
    return 0;
}
