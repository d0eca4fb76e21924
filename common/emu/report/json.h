/*
 * json.h — writes JSON (RFC 8259), value by value.
 *
 * Commas and indentation come by themselves. A text may hold any bytes: quotes and control
 * characters are escaped, and each byte that is not UTF-8 becomes U+FFFD, so that the document is
 * valid whatever names it holds. Errors are those of the stream.
 */
#ifndef EMU_JSON_H
#define EMU_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
    FILE *out;
    unsigned depth; /* of open objects and arrays */
    bool has_value; /* the innermost one holds a value */
};

/* An object, '{', or an array, '['. `key` is the name in the object around it; NULL in an array,
 * and for the whole document. */
void json_open(struct json *, const char *key, char bracket);
/* Closes the innermost one: '}' or ']'. */
void json_close(struct json *, char bracket);
/* text NULL: null. */
void json_text(struct json *, const char *key, const char *text);
void json_number(struct json *, const char *key, uint64_t);
/* A finite number, with nine digits. */
void json_real(struct json *, const char *key, double);
/* An array of numbers, in one line. */
void json_numbers(struct json *, const char *key, const uint64_t *, size_t count);
void json_bool(struct json *, const char *key, bool);

#endif
