/*
 * test_fuzz.c — the emulator's readers take any bytes: the seeds of tests/measure/fuzz/seeds.py,
 * and each of them cut off in its middle. `make fuzz` looks for more.
 */
#define _POSIX_C_SOURCE 200809L
#include "fuzz.h"

#include <criterion/criterion.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

/* Calls a target with a copy of exactly `size` bytes, so that a sanitizer sees a step beyond. */
static void give(int (*target)(const uint8_t *, size_t), const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + !size);
    cr_assert(copy != NULL);
    for (size_t i = 0; i < size; i++) copy[i] = data[i];
    target(copy, size);
    free(copy);
}

static void replay(const char *pattern, int (*target)(const uint8_t *, size_t))
{
    enum { MOST = 1 << 16 };
    static uint8_t data[MOST];
    glob_t files;
    cr_assert(glob(pattern, 0, NULL, &files) == 0, "no file is %s", pattern);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        FILE *file = fopen(files.gl_pathv[i], "rb");
        cr_assert(file != NULL);
        size_t size = fread(data, 1, MOST, file);
        fclose(file);
        give(target, data, size);
        give(target, data, size / 2);
    }
    globfree(&files);
}

Test(fuzz, fat_binaries) { replay("build/tests/measure/fuzz/corpus/fatbin/*", fuzz_fatbin); }
Test(fuzz, compressed_texts) { replay("build/tests/measure/fuzz/corpus/unpack/*", fuzz_unpack); }
Test(fuzz, ptx_slow) { replay("build/tests/measure/fuzz/corpus/ptx/*", fuzz_ptx); }
Test(fuzz, machine_code_slow) { replay("build/tests/measure/fuzz/corpus/cubin/*", fuzz_cubin); }
Test(fuzz, cuda) { replay("build/tests/measure/fuzz/corpus/cuda/*", fuzz_cuda); }
Test(fuzz, pictures) { replay("build/tests/measure/fuzz/corpus/picture/*", fuzz_picture); }
