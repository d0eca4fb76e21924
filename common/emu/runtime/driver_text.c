/* driver_text.c — reads files of code. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>

char *driver_read_file(const char *path, size_t *bytes)
{
    char part[1 << 14], *text = NULL;
    size_t size, got;
    FILE *file = fopen(path, "rb"), *copy = file != NULL ? open_memstream(&text, &size) : NULL;
    while (copy != NULL && (got = fread(part, 1, sizeof part, file)) > 0)
        fwrite(part, 1, got, copy);
    int failed = file == NULL || ferror(file) || copy == NULL || ferror(copy);
    if (file != NULL) fclose(file);
    if (copy != NULL && fclose(copy) != 0) failed = 1;
    if (failed) {
        free(text);
        return NULL;
    }
    *bytes = size;
    return text;
}
