/*
 * request.c — the options that only step 15 has.
 */
#include "request.h"

#include <string.h>

struct sort_request sort_request = {.element = ELEMENT_U32};

static const struct {
    const char *name;
    enum element element;
} types[] = {{"u32", ELEMENT_U32}, {"i32", ELEMENT_I32}, {"f32", ELEMENT_F32},
             {"u64", ELEMENT_U64}, {"i64", ELEMENT_I64}, {"f64", ELEMENT_F64}};

static const char *set_type(const char *value)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(value, types[i].name) == 0) {
            sort_request.element = types[i].element;
            sort_request.typed = true;
            return NULL;
        }
    return "this type is unknown; choose u32, i32, f32, u64, i64 or f64.";
}

static const char *set_pairs(const char *value)
{
    (void)value;
    sort_request.pairs = true;
    return NULL;
}

static const char *set_descending(const char *value)
{
    (void)value;
    sort_request.descending = true;
    return NULL;
}

static const char *set_lines(const char *value)
{
    (void)value;
    sort_request.lines = true;
    return NULL;
}

static const char *set_values(const char *value)
{
    if (!*value) return "the file name is empty.";
    sort_request.values = value;
    return NULL;
}

const struct step_option sort_options[] = {
    {.name = "type",
     .argument = "T",
     .help = "type of the keys: u32, i32, f32, u64, i64 or f64 (default: a .npy file's, or u32)",
     .set = set_type},
    {.name = "pairs",
     .help = "move a value with each key: the key's place in the input",
     .set = set_pairs},
    {.name = "values",
     .argument = "FILE",
     .help = "with --pairs, write the values: .npy if so named, else text; - is stdout",
     .set = set_values},
    {.name = "descending", .help = "sort the largest key to the front", .set = set_descending},
    {.name = "lines",
     .help = "sort the lines of the --input file by their bytes",
     .set = set_lines},
    {.name = NULL}};
