/*
 * type.c — types, and names for the linker.
 */
#include "ast.h"
#include "parser.h"
#include <string.h>

/* ---- types: making, comparing, measuring and naming them ------------------------------------- */

/* Enums are measured as their base. `letter` stands for the type in a name for the linker. */
static const struct {
    const char *name;
    int size;
    bool is_signed;
    char letter;
} BASIC[] = {
    [TYPE_VOID] = {"void", 0, false, 'v'},
    [TYPE_BOOL] = {"bool", 1, false, 'b'},
    [TYPE_CHAR] = {"char", 1, true, 'c'},
    [TYPE_SIGNED_CHAR] = {"signed char", 1, true, 'a'},
    [TYPE_UNSIGNED_CHAR] = {"unsigned char", 1, false, 'h'},
    [TYPE_SHORT] = {"short", 2, true, 's'},
    [TYPE_UNSIGNED_SHORT] = {"unsigned short", 2, false, 't'},
    [TYPE_INT] = {"int", 4, true, 'i'},
    [TYPE_UNSIGNED] = {"unsigned", 4, false, 'j'},
    [TYPE_LONG] = {"long", 8, true, 'l'},
    [TYPE_UNSIGNED_LONG] = {"unsigned long", 8, false, 'm'},
    [TYPE_LONG_LONG] = {"long long", 8, true, 'x'},
    [TYPE_UNSIGNED_LONG_LONG] = {"unsigned long long", 8, false, 'y'},
    [TYPE_FLOAT] = {"float", 4, true, 'f'},
    [TYPE_DOUBLE] = {"double", 8, true, 'd'},
    [TYPE_POINTER] = {NULL, 8, false, 0},
    [TYPE_NULL] = {"nullptr", 8, false, 0},
    [TYPE_UNKNOWN] = {"unknown", 0, false, 0},
};

const struct type *type_basic(enum type_kind kind)
{
#define OWN(name) [name] = {.kind = name}
    static const struct type types[] = {
        OWN(TYPE_VOID), OWN(TYPE_BOOL), OWN(TYPE_CHAR), OWN(TYPE_SIGNED_CHAR),
        OWN(TYPE_UNSIGNED_CHAR), OWN(TYPE_SHORT), OWN(TYPE_UNSIGNED_SHORT), OWN(TYPE_INT),
        OWN(TYPE_UNSIGNED), OWN(TYPE_LONG), OWN(TYPE_UNSIGNED_LONG), OWN(TYPE_LONG_LONG),
        OWN(TYPE_UNSIGNED_LONG_LONG), OWN(TYPE_FLOAT), OWN(TYPE_DOUBLE), OWN(TYPE_NULL),
        OWN(TYPE_UNKNOWN)};
    return &types[kind];
}

static struct type *new_type(struct arena *arena, struct type content)
{
    struct type *type = ARENA_NEW(arena, struct type);
    *type = content;
    return type;
}

const struct type *type_pointer(struct arena *arena, const struct type *base)
{
    return new_type(arena, (struct type){.kind = TYPE_POINTER, .base = base});
}

const struct type *type_array(struct arena *arena, const struct type *base, int64_t length)
{
    return new_type(arena, (struct type){.kind = TYPE_ARRAY, .base = base, .length = length});
}

const struct type *type_with_const(struct arena *arena, const struct type *type)
{
    if (type->is_const) return type;
    struct type *other = new_type(arena, *type);
    other->is_const = true;
    return other;
}

const struct type *type_with_volatile(struct arena *arena, const struct type *type)
{
    struct type *other = new_type(arena, *type);
    other->is_volatile = true;
    return other;
}

const struct type *type_plain(struct arena *arena, const struct type *type)
{
    if (!type->is_const && !type->is_volatile) return type;
    struct type *other = new_type(arena, *type);
    other->is_const = other->is_volatile = false;
    return other;
}

bool type_same(const struct type *a, const struct type *b)
{
    if (a == b) return true;
    if (a->kind != b->kind || a->length != b->length || a->name != b->name) return false;
    if (a->members != b->members) return false;
    if (a->kind != TYPE_POINTER && a->kind != TYPE_ARRAY) return true;
    return a->base->is_const == b->base->is_const && a->base->is_volatile == b->base->is_volatile &&
           type_same(a->base, b->base);
}

int64_t type_size(const struct type *type)
{
    if (type->kind == TYPE_ENUM) return type_size(type->base);
    if (type->kind == TYPE_HOST) return 0;
    if (type->kind == TYPE_STRUCT) return type->length;
    if (type->kind != TYPE_ARRAY) return BASIC[type->kind].size;
    return type->length == NO_LENGTH ? 0 : type->length * type_size(type->base);
}

int64_t type_align(const struct type *type)
{
    if (type->kind == TYPE_STRUCT) return type->align;
    return type->kind == TYPE_ARRAY ? type_align(type->base) : type_size(type);
}

bool type_is_integer(const struct type *type)
{
    return (type->kind >= TYPE_BOOL && type->kind <= TYPE_UNSIGNED_LONG_LONG) ||
           type->kind == TYPE_ENUM;
}

bool type_is_signed(const struct type *type)
{
    return BASIC[type->kind == TYPE_ENUM ? type->base->kind : type->kind].is_signed;
}

bool type_is_real(const struct type *type)
{
    return type->kind == TYPE_FLOAT || type->kind == TYPE_DOUBLE;
}

bool type_is_arithmetic(const struct type *type)
{
    return type_is_integer(type) || type_is_real(type);
}

bool type_is_pointer(const struct type *type) { return type->kind == TYPE_POINTER; }

/* ---- as text --------------------------------------------------------------------------------- */

/* `middle` is what stands around the name: "*" for a pointer. */
static const char *text_around(struct arena *arena, const struct type *type, const char *middle)
{
    if (type->kind == TYPE_POINTER) {
        bool brackets = type->base->kind == TYPE_ARRAY;
        return text_around(arena, type->base,
                           cc_format(arena, brackets ? "(*%s%s)" : "*%s%s",
                                     type->is_const ? "const " : "", middle));
    }
    if (type->kind == TYPE_ARRAY && type->length == NO_LENGTH)
        return text_around(arena, type->base, cc_format(arena, "%s[]", middle));
    if (type->kind == TYPE_ARRAY)
        return text_around(arena, type->base,
                           cc_format(arena, "%s[%lld]", middle, (long long)type->length));
    return cc_format(arena, "%s%s%s%s%s%s", type->is_const ? "const " : "",
                     type->is_volatile ? "volatile " : "", type->kind == TYPE_ENUM ? "enum " : "",
                     type->name != NULL ? type->name : BASIC[type->kind].name,
                     *middle != 0 ? " " : "", middle);
}

const char *type_text(struct arena *arena, const struct type *type)
{
    return text_around(arena, type, "");
}

int64_t type_wrap(const struct type *type, int64_t value)
{
    int64_t bytes = type_size(type);
    if (type->kind == TYPE_BOOL) return value != 0;
    if (bytes == 0 || bytes == 8) return value;
    uint64_t mask = ((uint64_t)1 << (8 * bytes)) - 1, low = (uint64_t)value & mask;
    bool negative = type_is_signed(type) && (low >> (8 * bytes - 1)) != 0;
    return (int64_t)(negative ? low | ~mask : low);
}

/* ---- names for the linker -------------------------------------------------------------------- */

/* As nvcc makes them: by the Itanium C++ ABI, "Mangling". A type that was in the name before is
 * written as S_, S0_, S1_ … */

struct mangler {
    struct arena *arena;
    const char *text;
    const char *
        *before; /* what may be written as S_: the name of a template, or a type's own name */
    int count;
};

static void put(struct mangler *m, const char *text)
{
    m->text = cc_format(m->arena, "%s%s", m->text, text);
}

static void put_name(struct mangler *m, const char *name)
{
    m->text = cc_format(m->arena, "%s%d%s", m->text, (int)strlen(name), name);
}

static void remember(struct mangler *m, const char *full)
{
    m->before = cc_grow(m->arena, m->before, (size_t)m->count, sizeof(*m->before));
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

static bool is_qualified(const struct type *type) { return type->is_const || type->is_volatile; }
#define QUALIFIER(type) (!(type)->is_volatile ? "K" : (type)->is_const ? "VK" : "V")

/* The type's name without S_, by which types are compared. */
static const char *full_name(struct arena *arena, const struct type *type)
{
    if (is_qualified(type))
        return cc_format(arena, "%s%s", QUALIFIER(type), full_name(arena, type_plain(arena, type)));
    if (type->parameter == 1) return "T_";
    if (type->parameter > 1) return cc_format(arena, "T%d_", type->parameter - 2);
    switch (type->kind) {
    case TYPE_POINTER: return cc_format(arena, "P%s", full_name(arena, type->base));
    case TYPE_ARRAY:
        return cc_format(arena, "A%lld_%s", (long long)type->length, full_name(arena, type->base));
    case TYPE_ENUM:
    case TYPE_STRUCT: return cc_format(arena, "%d%s", (int)strlen(type->name), type->name);
    default: break;
    }
    size_t kind = type->kind;
    char letter = kind < sizeof BASIC / sizeof *BASIC ? BASIC[kind].letter : 0;
    return cc_format(arena, "%c", letter ? letter : '?');
}

static void put_type(struct mangler *m, const struct type *type)
{
    const char *full = full_name(m->arena, type);
    if (full[1] == 0) { /* a type of one letter is never written as S_ */
        put(m, full);
        return;
    }
    if (put_again(m, full)) return;
    if (is_qualified(type)) {
        put(m, QUALIFIER(type));
        put_type(m, type_plain(m->arena, type));
    } else if (type->parameter > 0) {
        put(m, full);
    } else if (type->kind == TYPE_POINTER) {
        put(m, "P");
        put_type(m, type->base);
    } else if (type->kind == TYPE_ARRAY) {
        put(m, cc_format(m->arena, "A%lld_", (long long)type->length));
        put_type(m, type->base);
    } else {
        put(m, full);
    }
    remember(m, full);
}

static void put_argument(struct mangler *m, const struct expr *argument, bool is_type)
{
    if (is_type) {
        struct type type = *argument->type;
        type.parameter = 0;
        put_type(m, &type);
        return;
    }
    put(m, "L");
    put_type(m, argument->type);
    bool negative = type_is_signed(argument->type) && argument->integer < 0;
    uint64_t size = (uint64_t)argument->integer;
    if (negative) size = 0 - size;
    put(m, cc_format(m->arena, "%s%lluE", negative ? "n" : "", (unsigned long long)size));
}

const char *mangle_function(struct arena *arena, const struct function *function,
                            const struct template *template, struct expr **arguments)
{
    struct mangler m = {.arena = arena, .text = "_Z"};
    put_name(&m, function->name);
    if (template != NULL) {
        remember(&m, m.text + 2);
        put(&m, "I");
        for (int i = 0; i < template->parameter_count; i++)
            put_argument(&m, arguments[i], template->parameters[i].type == NULL);
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
    if (nth > 0) put(&m, cc_format(arena, nth > 10 ? "__%d_" : "_%d", nth - 1));
    return m.text;
}
