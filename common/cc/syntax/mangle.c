/*
 * mangle.c — names for the linker, as nvcc makes them: by the Itanium C++ ABI, "Mangling". A type that was in the name before is written as S_, S0_, S1_ …
 */
#include "parser.h"

#include <string.h>

struct mangler {
    struct arena *arena;
    const char *text;
    const char *
        *before; /* what may be written as S_: the name of a template, or a type's own name */
    int count;
};

static const char LETTERS[] = {
    [TYPE_VOID] = 'v',
    [TYPE_BOOL] = 'b',
    [TYPE_CHAR] = 'c',
    [TYPE_SIGNED_CHAR] = 'a',
    [TYPE_UNSIGNED_CHAR] = 'h',
    [TYPE_SHORT] = 's',
    [TYPE_UNSIGNED_SHORT] = 't',
    [TYPE_INT] = 'i',
    [TYPE_UNSIGNED] = 'j',
    [TYPE_LONG] = 'l',
    [TYPE_UNSIGNED_LONG] = 'm',
    [TYPE_LONG_LONG] = 'x',
    [TYPE_UNSIGNED_LONG_LONG] = 'y',
    [TYPE_FLOAT] = 'f',
    [TYPE_DOUBLE] = 'd',
};

static void put(struct mangler *m, const char *text)
{
    m->text = arena_format(m->arena, "%s%s", m->text, text);
}

static void put_name(struct mangler *m, const char *name)
{
    m->text = arena_format(m->arena, "%s%d%s", m->text, (int)strlen(name), name);
}

static void remember(struct mangler *m, const char *full)
{
    m->before = arena_grow(m->arena, m->before, (size_t)m->count, sizeof(*m->before));
    m->before[m->count++] = full;
}

/* Writes S_ … if it was there before. */
static bool put_again(struct mangler *m, const char *full)
{
    static const char DIGITS[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (int i = 0; i < m->count; i++) {
        if (strcmp(m->before[i], full) != 0) continue;
        char again[] = {'S', i == 0 ? '_' : DIGITS[(i - 1) % 36], i == 0 ? 0 : '_', 0};
        put(m, again);
        return true;
    }
    return false;
}

/* The type's name without S_, by which types are compared. */
static const char *full_name(struct arena *arena, const struct type *type)
{
    if (type->is_const)
        return arena_format(arena, "K%s", full_name(arena, type_plain(arena, type)));
    switch (type->kind) {
    case TYPE_POINTER: return arena_format(arena, "P%s", full_name(arena, type->base));
    case TYPE_ARRAY:
        return arena_format(arena, "A%lld_%s", (long long)type->length,
                            full_name(arena, type->base));
    case TYPE_ENUM: return arena_format(arena, "%d%s", (int)strlen(type->name), type->name);
    default: break;
    }
    size_t kind = type->kind;
    return arena_format(arena, "%c", kind < sizeof(LETTERS) ? LETTERS[kind] : '?');
}

static void put_type(struct mangler *m, const struct type *type)
{
    const char *full = full_name(m->arena, type);
    if (full[1] == 0) { /* a type of one letter is never written as S_ */
        put(m, full);
        return;
    }
    if (put_again(m, full)) return;
    if (type->is_const) {
        put(m, "K");
        put_type(m, type_plain(m->arena, type));
    } else if (type->kind == TYPE_POINTER) {
        put(m, "P");
        put_type(m, type->base);
    } else if (type->kind == TYPE_ARRAY) {
        put(m, arena_format(m->arena, "A%lld_", (long long)type->length));
        put_type(m, type->base);
    } else {
        put(m, full);
    }
    remember(m, full);
}

static void put_argument(struct mangler *m, const struct expr *argument)
{
    put(m, "L");
    put_type(m, argument->type);
    bool negative = type_is_signed(argument->type) && argument->integer < 0;
    uint64_t size = (uint64_t)argument->integer;
    if (negative) size = 0 - size;
    put(m, arena_format(m->arena, "%s%lluE", negative ? "n" : "", (unsigned long long)size));
}

const char *mangle_function(struct arena *arena, const struct function *function,
                            const struct template *template, struct expr **arguments)
{
    struct mangler m = {.arena = arena, .text = "_Z"};
    put_name(&m, function->name);
    if (template != NULL) {
        remember(&m, m.text + 2);
        put(&m, "I");
        for (int i = 0; i < template->parameter_count; i++) put_argument(&m, arguments[i]);
        put(&m, "E");
        put_type(&m, function->result);
    }
    for (const struct symbol *s = function->parameters; s != NULL; s = s->next)
        put_type(&m, type_plain(arena, s->type));
    if (function->parameters == NULL) put(&m, "v");
    return m.text;
}

const char *mangle_local(struct arena *arena, const struct function *function, const char *name,
                         int nth)
{
    struct mangler m = {.arena = arena, .text = "_ZZ"};
    bool is_c = strncmp(function->mangled, "_Z", 2) != 0;
    if (is_c)
        put_name(&m, function->mangled);
    else
        put(&m, function->mangled + 2);
    put(&m, "E");
    put_name(&m, name);
    if (nth > 0) put(&m, arena_format(arena, nth > 10 ? "__%d_" : "_%d", nth - 1));
    return m.text;
}
