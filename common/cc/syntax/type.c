/* type.c — types: making, comparing, measuring and naming them. */
#include "type.h"

/* Enums are measured as their base. */
static const struct {
    const char *name;
    int size;
    bool is_signed;
} BASIC[] = {
    [TYPE_VOID] = {"void", 0, false},
    [TYPE_BOOL] = {"bool", 1, false},
    [TYPE_CHAR] = {"char", 1, true},
    [TYPE_SIGNED_CHAR] = {"signed char", 1, true},
    [TYPE_UNSIGNED_CHAR] = {"unsigned char", 1, false},
    [TYPE_SHORT] = {"short", 2, true},
    [TYPE_UNSIGNED_SHORT] = {"unsigned short", 2, false},
    [TYPE_INT] = {"int", 4, true},
    [TYPE_UNSIGNED] = {"unsigned", 4, false},
    [TYPE_LONG] = {"long", 8, true},
    [TYPE_UNSIGNED_LONG] = {"unsigned long", 8, false},
    [TYPE_LONG_LONG] = {"long long", 8, true},
    [TYPE_UNSIGNED_LONG_LONG] = {"unsigned long long", 8, false},
    [TYPE_FLOAT] = {"float", 4, true},
    [TYPE_DOUBLE] = {"double", 8, true},
    [TYPE_POINTER] = {NULL, 8, false},
    [TYPE_NULL] = {"nullptr", 8, false},
    [TYPE_UNKNOWN] = {"unknown", 0, false},
};

const struct type *type_basic(enum type_kind kind)
{
    static const struct type types[] = {
        [TYPE_VOID] = {.kind = TYPE_VOID},
        [TYPE_BOOL] = {.kind = TYPE_BOOL},
        [TYPE_CHAR] = {.kind = TYPE_CHAR},
        [TYPE_SIGNED_CHAR] = {.kind = TYPE_SIGNED_CHAR},
        [TYPE_UNSIGNED_CHAR] = {.kind = TYPE_UNSIGNED_CHAR},
        [TYPE_SHORT] = {.kind = TYPE_SHORT},
        [TYPE_UNSIGNED_SHORT] = {.kind = TYPE_UNSIGNED_SHORT},
        [TYPE_INT] = {.kind = TYPE_INT},
        [TYPE_UNSIGNED] = {.kind = TYPE_UNSIGNED},
        [TYPE_LONG] = {.kind = TYPE_LONG},
        [TYPE_UNSIGNED_LONG] = {.kind = TYPE_UNSIGNED_LONG},
        [TYPE_LONG_LONG] = {.kind = TYPE_LONG_LONG},
        [TYPE_UNSIGNED_LONG_LONG] = {.kind = TYPE_UNSIGNED_LONG_LONG},
        [TYPE_FLOAT] = {.kind = TYPE_FLOAT},
        [TYPE_DOUBLE] = {.kind = TYPE_DOUBLE},
        [TYPE_NULL] = {.kind = TYPE_NULL},
        [TYPE_UNKNOWN] = {.kind = TYPE_UNKNOWN},
    };
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

static const struct type *set_const(struct arena *arena, const struct type *type, bool is_const)
{
    if (type->is_const == is_const) return type;
    struct type *other = new_type(arena, *type);
    other->is_const = is_const;
    return other;
}

const struct type *type_with_const(struct arena *arena, const struct type *type)
{
    return set_const(arena, type, true);
}

const struct type *type_plain(struct arena *arena, const struct type *type)
{
    return set_const(arena, type, false);
}

bool type_same(const struct type *a, const struct type *b)
{
    if (a == b) return true;
    if (a->kind != b->kind || a->length != b->length || a->name != b->name) return false;
    if (a->kind != TYPE_POINTER && a->kind != TYPE_ARRAY) return true;
    return a->base->is_const == b->base->is_const && type_same(a->base, b->base);
}

int64_t type_size(const struct type *type)
{
    if (type->kind == TYPE_ENUM) return type_size(type->base);
    if (type->kind == TYPE_HOST) return 0;
    if (type->kind != TYPE_ARRAY) return BASIC[type->kind].size;
    return type->length == NO_LENGTH ? 0 : type->length * type_size(type->base);
}

int64_t type_align(const struct type *type)
{
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
                           arena_format(arena, brackets ? "(*%s%s)" : "*%s%s",
                                        type->is_const ? "const " : "", middle));
    }
    if (type->kind == TYPE_ARRAY && type->length == NO_LENGTH)
        return text_around(arena, type->base, arena_format(arena, "%s[]", middle));
    if (type->kind == TYPE_ARRAY)
        return text_around(arena, type->base,
                           arena_format(arena, "%s[%lld]", middle, (long long)type->length));
    return arena_format(
        arena, "%s%s%s%s%s", type->is_const ? "const " : "", type->kind == TYPE_ENUM ? "enum " : "",
        type->name != NULL ? type->name : BASIC[type->kind].name, *middle != 0 ? " " : "", middle);
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
