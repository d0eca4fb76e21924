/* npy.c — fuzzes the reader of .npy files: the bytes are a file. */
#define _POSIX_C_SOURCE 200809L /* fmemopen */
#include "fuzz.h"

#include "common/harness/input/input.h"

#include <stdio.h>
#include <stdlib.h>

/* A header may promise any number of elements. More are refused before memory is taken. */
enum { MOST = 1 << 16 };

int fuzz_npy(const uint8_t *data, size_t size)
{
    struct fault fault;
    struct reader reader = {.name = "fuzz", .element = ELEMENT_F64, .max_n = MOST, .round = true};
    struct input input = {.element = ELEMENT_F64};
    reader.file = size > 0 ? fmemopen((void *)(uintptr_t)data, size, "rb") : NULL;
    if (reader.file == NULL) return 0;
    int code = input_read_npy(&reader, &input, &fault);
    if (code == 0 && input.n <= MOST && 4 * input.n > size) abort(); /* not in the file */
    input_free(&input);
    fclose(reader.file);
    return 0;
}
