/*
 * A block is a row of sequences. Each is a token byte, literals to copy from the input, and a
 * match: bytes to copy from `offset` bytes back in the output. The last sequence ends after its
 * literals.
 */
#include "lz4.h"

#include <stdint.h>
#include <string.h>

enum {
    NIBBLE_FULL = 15, /* a length of 15 in the token continues in the bytes that follow */
    BYTE_FULL = 255,  /* after a length byte of 255 another one follows */
    MIN_MATCH = 4,    /* a match is longer than its length field by this many bytes */
};

struct input {
    const unsigned char *at, *end;
};

/* Adds the bytes that continue a length. False at the end of the input or if the sum overflows. */
static bool read_long_length(struct input *in, size_t *length)
{
    unsigned char byte;
    do {
        if (in->at == in->end) return false;
        byte = *in->at++;
        if (*length > SIZE_MAX - MIN_MATCH - byte) return false;
        *length += byte;
    } while (byte == BYTE_FULL);
    return true;
}

bool lz4_decode(unsigned char *to, size_t to_size, const unsigned char *from, size_t from_size)
{
    struct input in = {from, from + from_size};
    size_t done = 0; /* bytes written to `to` */

    while (in.at < in.end) {
        unsigned char token = *in.at++;

        size_t literals = token >> 4;
        if (literals == NIBBLE_FULL && !read_long_length(&in, &literals)) return false;
        if (literals > (size_t)(in.end - in.at) || literals > to_size - done) return false;
        memcpy(to + done, in.at, literals);
        in.at += literals;
        done += literals;
        if (in.at == in.end) break;

        if (in.end - in.at < 2) return false;
        size_t offset = in.at[0] | (size_t)in.at[1] << 8;
        in.at += 2;
        size_t match = token & NIBBLE_FULL;
        if (match == NIBBLE_FULL && !read_long_length(&in, &match)) return false;
        match += MIN_MATCH;
        if (offset == 0 || offset > done || match > to_size - done) return false;
        /* Byte by byte, because a match may overlap its own output, which then repeats a
         * pattern. */
        for (; match > 0; match--, done++) to[done] = to[done - offset];
    }
    return done == to_size;
}
