/*
 * input_input.c — opens a file of numbers and recognizes its format.
 */
#include "input.h"

#include "common/harness/host/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NPY_FIRST_BYTE 0x93 /* of "\x93NUMPY"; no text begins so */

int input_read(struct input *input, enum element element, const char *path, size_t max_n,
               struct fault *fault)
{
    bool is_stdin = strcmp(path, "-") == 0;
    struct reader reader = {.file = is_stdin ? stdin : fopen(path, "rb"),
                            .name = is_stdin ? "stdin" : path,
                            .element = element,
                            .max_n = max_n};
    *input = (struct input){.element = element};
    if (!reader.file) return fail(fault, EXIT_USAGE, "cannot open %s: %s.", path, strerror(errno));

    int first = getc(reader.file);
    if (first != EOF) ungetc(first, reader.file);
    int code;
    if (first == EOF && ferror(reader.file))
        code = fail(fault, EXIT_USAGE, "cannot read %s: %s.", reader.name, strerror(errno));
    else if (first == EOF)
        code = fail(fault, EXIT_USAGE, "%s is empty; there is nothing to scan.", reader.name);
    else if (first == NPY_FIRST_BYTE)
        code = input_read_npy(&reader, input, fault);
    else
        code = input_read_text(&reader, input, fault);
    if (!is_stdin) fclose(reader.file);
    input->rounded = reader.has_rounded;
    if (code) input_free(input);
    return code;
}

int input_reserve(struct reader *reader, struct input *input, size_t n, struct fault *fault)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, element_size(reader->element), &bytes) ||
        bytes > host_memory())
        return fail(fault, EXIT_USAGE, "%s has %zu or more numbers, which do not fit into memory.",
                    reader->name, n);
    void *data = realloc(input->data, bytes ? bytes : 1);
    if (!data)
        return fail(fault, EXIT_USAGE, "%zu numbers of %s do not fit into memory.", n,
                    reader->name);
    input->data = data;
    return 0;
}

bool input_takes(struct reader *reader, enum conversion conversion)
{
    reader->has_rounded |= conversion == CONVERT_ROUNDED;
    if (conversion == CONVERT_ROUNDED) return element_is_real(reader->element);
    return conversion == CONVERT_EXACT;
}

int input_refuse(const struct reader *reader, enum conversion conversion, size_t index,
                 const char *shown, struct fault *fault)
{
    const char *type = element_name(reader->element);
    if (conversion == CONVERT_NAN)
        return fail(fault, EXIT_USAGE,
                    "%s: number %zu is %s, which type %s does not have; remove it, or take a real "
                    "type where the step has one.",
                    reader->name, index + 1, shown, type);
    if (conversion == CONVERT_OUT_OF_RANGE)
        return fail(fault, EXIT_USAGE, "%s: number %zu, %s, is beyond the range of %s.",
                    reader->name, index + 1, shown, type);
    return fail(fault, EXIT_USAGE,
                "%s: number %zu, %s, cannot be held exactly in type %s.", reader->name, index + 1,
                shown, type);
}

void input_free(struct input *input)
{
    free(input->data);
    *input = (struct input){.element = input->element};
}
