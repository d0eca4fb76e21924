/*
 * ptx_link.c — resolves names across texts, as nvlink does for the objects of nvcc -rdc=true.
 *
 * A local name belongs to its unit. All other names are shared and have one definition for all
 * units: the first of several weak ones, the largest of several common ones. A name that is only
 * declared .extern stays without a definition, which is an error only where it is used.
 */
#include "parser.h"
#include <string.h>

static size_t hash_in_unit(const char *name, int unit)
{
    size_t h = 5381 + (size_t)unit;
    for (; *name; name++) h = h * 33 + (unsigned char)*name;
    return h;
}

static struct ptx_symbol *find_in(const struct ptx_text *text, int unit, const char *name)
{
    size_t bucket = hash_in_unit(name, unit) % text->bucket_count;
    for (int i = text->buckets[bucket]; i >= 0; i = text->symbols[i].next)
        if (text->symbols[i].unit == unit && !strcmp(text->symbols[i].name, name))
            return &text->symbols[i];
    return NULL;
}

const struct ptx_symbol *ptx_find(const struct ptx_text *text, unsigned unit, const char *name)
{
    const struct ptx_symbol *own = find_in(text, (int)unit, name), *shared;
    if (own && (!own->is_function || text->functions[own->index].has_body)) return own;
    shared = find_in(text, PTX_ALL_UNITS, name);
    return shared ? shared : own;
}

/* A definition or declaration of a name. */
struct occurrence {
    const char *name;
    unsigned unit, line;
    enum ptx_linkage linkage;
    bool is_function, is_definition;
    size_t index, bytes;
};

static struct occurrence of_variable(const struct ptx_text *out, size_t index)
{
    const struct ptx_variable *v = &out->variables[index];
    /* The launch gives `.extern .shared x[]` its size; no other unit defines it. */
    bool by_launch = v->space == PTX_SHARED && !v->bytes;
    return (struct occurrence){.name = v->name,
                               .unit = v->unit,
                               .line = v->line,
                               .linkage = by_launch ? PTX_PRIVATE : v->linkage,
                               .is_definition = by_launch || v->linkage != PTX_EXTERN,
                               .index = index,
                               .bytes = v->bytes};
}

static struct occurrence of_function(const struct ptx_text *out, size_t index)
{
    const struct ptx_function *f = &out->functions[index];
    return (struct occurrence){.name = f->name,
                               .unit = f->unit,
                               .line = f->line,
                               .linkage = f->linkage,
                               .is_function = true,
                               .is_definition = f->has_body,
                               .index = index};
}

static struct occurrence of_symbol(const struct ptx_text *out, const struct ptx_symbol *symbol)
{
    return symbol->is_function ? of_function(out, symbol->index) : of_variable(out, symbol->index);
}

/* Does the second definition or declaration of a name replace the first? */
static bool replaces(struct parser *p, const struct ptx_text *out, const struct occurrence *first,
                     const struct occurrence *second)
{
    const char *kind = second->is_function ? "function" : "variable";
    p->name = out->units[second->unit].name;
    if (first->is_function != second->is_function)
        parse_fail(p, second->line, EMU_INVALID_PTX,
                   "'%s' is a %s here, and something else in %s, line %u", second->name, kind,
                   out->units[first->unit].name, first->line);
    if (!first->is_definition || !second->is_definition) return second->is_definition;
    if (second->linkage == PTX_WEAK) return false;
    if (first->linkage == PTX_WEAK) return true;
    if (first->linkage == PTX_COMMON && second->linkage == PTX_COMMON)
        return second->bytes > first->bytes;
    if (second->linkage == PTX_COMMON || first->linkage == PTX_COMMON)
        return first->linkage == PTX_COMMON;
    parse_fail(p, second->line, EMU_INVALID_PTX,
               "%s '%s' is defined a second time (first in %s, line %u)", kind, second->name,
               out->units[first->unit].name, first->line);
}

static void add(struct parser *p, struct ptx_text *out, const struct occurrence *new)
{
    int unit = new->linkage == PTX_PRIVATE ? (int)new->unit : PTX_ALL_UNITS;
    struct ptx_symbol *known = find_in(out, unit, new->name);
    if (known) {
        struct occurrence first = of_symbol(out, known);
        if (replaces(p, out, &first, new)) known->index = new->index;
        return;
    }
    size_t bucket = hash_in_unit(new->name, unit) % out->bucket_count;
    out->symbols[out->symbol_count] =
        (struct ptx_symbol){new->name, unit, new->is_function, new->index, out->buckets[bucket]};
    out->buckets[bucket] = (int)out->symbol_count++;
}

void link_names(struct parser *p, struct ptx_text *out)
{
    size_t most = out->variable_count + out->function_count;
    out->symbols = take(p, (most + 1) * sizeof *out->symbols);
    out->bucket_count = 2 * most + 1;
    out->buckets = take(p, out->bucket_count * sizeof *out->buckets);
    for (size_t i = 0; i < out->bucket_count; i++) out->buckets[i] = -1;
    for (size_t i = 0; i < out->variable_count; i++) {
        struct occurrence variable = of_variable(out, i);
        add(p, out, &variable);
    }
    for (size_t i = 0; i < out->function_count; i++) {
        struct occurrence function = of_function(out, i);
        add(p, out, &function);
    }
}
