/*
 * type.h — the types of the language. Sizes are those of nvcc on 64-bit Linux.
 */
#ifndef CC_TYPE_H
#define CC_TYPE_H

#include "common/cc/source/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* Arithmetic types stand in the order of their rank: char has the same values as signed char, and
 * unsigned types come after the signed ones of their size. */
enum type_kind {
    TYPE_VOID,
    TYPE_BOOL,
    TYPE_CHAR,
    TYPE_SIGNED_CHAR,
    TYPE_UNSIGNED_CHAR,
    TYPE_SHORT,
    TYPE_UNSIGNED_SHORT,
    TYPE_INT,
    TYPE_UNSIGNED,
    TYPE_LONG,
    TYPE_UNSIGNED_LONG, /* size_t */
    TYPE_LONG_LONG,
    TYPE_UNSIGNED_LONG_LONG,
    TYPE_FLOAT,
    TYPE_DOUBLE,
    TYPE_ENUM,    /* computed with as the int, or unsigned, `base` */
    TYPE_POINTER, /* 8 bytes, to `base` */
    TYPE_ARRAY,   /* of `length` elements `base` */
    TYPE_NULL,    /* of nullptr and NULL; no variable and no loaded value has it */
    TYPE_HOST,    /* of host code: a struct, or another type that only has a name */
    TYPE_UNKNOWN, /* after an error, which was reported; never in a tree that is lowered */
};

/* Length of an array whose size is given at the launch, or by its initialiser. */
enum { NO_LENGTH = -1 };

struct type {
    enum type_kind kind;
    bool is_const;
    const struct type *base;
    int64_t length;
    const char *name; /* of an enum, a host type */
};

/* The types without a base, not const. */
const struct type *type_basic(enum type_kind);
const struct type *type_pointer(struct arena *, const struct type *base);
const struct type *type_array(struct arena *, const struct type *base, int64_t length);
const struct type *type_with_const(struct arena *, const struct type *);
/* Without its own const. */
const struct type *type_plain(struct arena *, const struct type *);

/* The same but for const at the top. */
bool type_same(const struct type *, const struct type *);

/* In bytes; 0 for void, functions, host types, and arrays without a length. */
int64_t type_size(const struct type *);
int64_t type_align(const struct type *);

bool type_is_integer(const struct type *);    /* also bool, char and enums */
bool type_is_signed(const struct type *);     /* of an integer type, also an enum */
bool type_is_real(const struct type *);       /* float, double */
bool type_is_arithmetic(const struct type *); /* integers and reals */
bool type_is_pointer(const struct type *);

/* "const float *", as it is written. */
const char *type_text(struct arena *, const struct type *);

/* An integer as a value of the type: cut to its width, then extended by its sign. */
int64_t type_wrap(const struct type *, int64_t value);

#endif
