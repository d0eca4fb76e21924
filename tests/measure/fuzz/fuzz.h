/*
 * fuzz.h — what the fuzzers call.
 *
 * Each target takes any bytes and must return, without a crash, a hang, a report of a sanitizer, or
 * an allocation out of proportion to its input. `make fuzz` links each with libFuzzer, which
 * generates the bytes; test_fuzz.c gives it the seeds that tests/measure/fuzz/seeds.py makes, among
 * them the inputs that once broke something.
 *
 * So far, on two busy cores: 19 million containers, 1.5 million compressed texts, 15 million PTX
 * texts, 0.6 million cubins and 0.3 million pictures. Found and corrected: a
 * text size out of proportion to the compressed bytes, for which a gigabyte was allocated;
 * undefined behaviour in two places that used empty lists; samples of a PGM above a maximum below
 * 9; and rows of a PNG for which libpng allocated gigabytes before the size of the picture was
 * checked.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

int fuzz_fatbin(const uint8_t *data, size_t size);  /* the container that holds PTX */
int fuzz_unpack(const uint8_t *data, size_t size);  /* its compression: LZ4, zstd */
int fuzz_ptx(const uint8_t *data, size_t size);     /* parser, decoder, and a short run */
int fuzz_cubin(const uint8_t *data, size_t size);   /* machine code, compared with PTX */
int fuzz_cuda(const uint8_t *data, size_t size);    /* the compiler of CUDA C */
int fuzz_picture(const uint8_t *data, size_t size); /* the readers of PGM, PPM and PNG */

#endif
