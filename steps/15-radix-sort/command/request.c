/*
 * request.c — the options that only step 15 has.
 */
#include "request.h"

#include <string.h>

static const struct {
    const char *name;
    enum element element;
} types[] = {{"u32", ELEMENT_U32}, {"i32", ELEMENT_I32}, {"f32", ELEMENT_F32},
             {"u64", ELEMENT_U64}, {"i64", ELEMENT_I64}, {"f64", ELEMENT_F64}};

static const char *set_type(void *self, const char *value)
{
    struct request *r = self;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(value, types[i].name) == 0) {
            r->element = types[i].element;
            r->typed = true;
            return NULL;
        }
    return "this type is unknown; choose u32, i32, f32, u64, i64 or f64.";
}

static const char *set_values(void *self, const char *value)
{
    struct request *r = self;
    if (!*value) return "the file name is empty.";
    r->values = value;
    return NULL;
}

#define MEMBER(name) offsetof(struct request, name)

const struct step_option sort_options[] = {
    {.name = "type",
     .argument = "T",
     .help = "type of the keys: u32, i32, f32, u64, i64 or f64 (default: a .npy file's, or u32)",
     .set = set_type},
    {.name = "pairs",
     .help = "move a value with each key: the key's place in the input",
     .member = MEMBER(pairs)},
    {.name = "values",
     .argument = "FILE",
     .help = "with --pairs, write the values: .npy if so named, else text; - is stdout",
     .set = set_values},
    {.name = "descending",
     .help = "sort the largest key to the front",
     .member = MEMBER(descending)},
    {.name = "lines",
     .help = "sort the lines of the --input file by their bytes",
     .member = MEMBER(lines)},
    {.name = NULL}};
