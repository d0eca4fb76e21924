/* value.c — the types of a request's values, and their text. See request.h. */
#include "request.h"
#include <inttypes.h>
#include <string.h>

const struct value_type *value_type(const char *name, size_t length)
{
    static const struct value_type all[] = {{"u8", 1},  {"s8", 1},  {"u16", 2}, {"s16", 2},
                                            {"u32", 4}, {"s32", 4}, {"u64", 8}, {"s64", 8},
                                            {"f32", 4}, {"f64", 8}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (strlen(all[k].name) == length && !strncmp(all[k].name, name, length)) return &all[k];
    return NULL;
}

static void print_float(FILE *out, const struct value_type *type, const void *value)
{
    float single;
    double number;
    if (type->bytes == sizeof single) {
        memcpy(&single, value, sizeof single);
        fprintf(out, "%.9g", (double)single);
        return;
    }
    memcpy(&number, value, sizeof number);
    fprintf(out, "%.17g", number);
}

void value_print(FILE *out, const struct value_type *type, const void *value)
{
    if (*type->name == 'f') {
        print_float(out, type, value);
        return;
    }
    uint64_t bits = 0;
    memcpy(&bits, value, type->bytes); /* the host has its lowest byte first, as a GPU */
    unsigned unused = 64 - 8 * type->bytes;
    if (*type->name == 's')
        fprintf(out, "%" PRId64, (int64_t)(bits << unused) >> unused);
    else
        fprintf(out, "%" PRIu64, bits);
}
