/* run_entry.c — loads a submission's PTX, and finds where its kernels begin. */
#define _GNU_SOURCE /* memmem */
#include "run_case.h"

#include "common/tools/emu/ptx/ptx.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY ".entry"

enum { PTX_BYTES = 64 << 20 };

int ptx_read(const char *path, struct lab_ptx *ptx, struct fault *fault)
{
    FILE *file = fopen(path, "rb");
    if (!file) return fail(fault, EXIT_USAGE, "%s cannot be opened: %s.", path, strerror(errno));
    ptx->text = malloc(PTX_BYTES);
    ptx->length = ptx->text ? fread(ptx->text, 1, PTX_BYTES, file) : 0;
    fclose(file);
    if (!ptx->text || ptx->length == PTX_BYTES)
        return fail(fault, EXIT_DEVICE, "%s has %d bytes or more; a lab's PTX has far fewer.", path,
                    PTX_BYTES);
    ptx->text[ptx->length] = '\0';
    return 0;
}

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$'; }

static bool any_entry(const struct lab_ptx *ptx, size_t *at, char name[EMU_NAME_SIZE])
{
    const char *end = ptx->text + ptx->length;
    const char *from = memmem(ptx->text + *at, ptx->length - *at, ENTRY, strlen(ENTRY));
    if (!from) return false;
    from += strlen(ENTRY);
    while (from < end && isspace((unsigned char)*from)) from++;
    size_t length = 0;
    while (from + length < end && is_name(from[length])) length++;
    snprintf(name, EMU_NAME_SIZE, "%.*s", (int)(length < EMU_NAME_SIZE ? length : 0), from);
    *at = (size_t)(from + length - ptx->text);
    return true;
}

bool next_entry(const struct lab_ptx *ptx, size_t *at, const char *kernel, char name[EMU_NAME_SIZE])
{
    char base[EMU_NAME_SIZE];
    while (any_entry(ptx, at, name)) {
        kernel_base_name(name, base, sizeof base);
        if (!strcmp(base, kernel)) return true;
    }
    return false;
}
