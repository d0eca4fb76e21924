/*
 * lz4.h — decoding one LZ4 block: the compression that `nvcc --compress-mode=speed` uses.
 */
#ifndef EMU_LZ4_H
#define EMU_LZ4_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Decodes the block at from[0..from_size) into to[0..to_size). True if the block is well-formed and
 * fills `to` exactly. Never reads or writes outside the two ranges. The format: "LZ4 Block Format
 * Description", lz4/doc/lz4_Block_format.md.
 */
bool lz4_decode(unsigned char *to, size_t to_size, const unsigned char *from, size_t from_size);

#endif
