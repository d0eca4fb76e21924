/*
 * fuzz.h — what the fuzzers call.
 *
 * Each target takes any bytes at all and must come back: no crash, no hang, no sanitizer's report,
 * no memory out of proportion. `make fuzz` links each with libFuzzer, which makes up the bytes;
 * tests/fuzz/test_fuzz.c gives it the files of tests/fuzz/corpus/NAME, among them the inputs that
 * once broke something.
 *
 * So far, on two busy cores: 19 million containers, 1.5 million compressed texts, 15 million PTX
 * texts, 0.6 million cubins, a million .npy files and 0.3 million pictures. Found and mended: a
 * text size out of proportion to what is compressed, for which a gigabyte was taken; two steps
 * outside of C in empty lists; samples of a PGM above a maximum below 9; and rows of a PNG for
 * which libpng took gigabytes before it was known that the picture does not fit.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

int fuzz_fatbin(const uint8_t *data, size_t size); /* the container with PTX in it */
int fuzz_unpack(const uint8_t *data, size_t size); /* its compression: LZ4, zstd */
int fuzz_ptx(const uint8_t *data, size_t size);    /* parser, decoder, and a short run */
int fuzz_cubin(const uint8_t *data, size_t size);  /* machine code, compared with PTX */
int fuzz_npy(const uint8_t *data, size_t size);    /* the harness's reader of .npy files */
int fuzz_picture(const uint8_t *data, size_t size); /* and those of PGM, PPM and PNG */

#endif
