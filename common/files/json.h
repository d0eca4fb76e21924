/* json.h — writes JSON (RFC 8259), value by value. Commas and indentation come by themselves. A
 * text may hold any bytes: quotes and control characters are escaped, and each byte that is not
 * UTF-8 becomes U+FFFD, so that the document is valid whatever names it holds. Errors are those of
 * the stream. */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A document that begins at this depth stands in one line. */
enum { JSON_IN_LINE = 5 };

struct json {
    FILE *out;
    unsigned depth; /* of open objects and arrays */
    bool has_value; /* the innermost one holds a value */
    bool is_exact;  /* real numbers have all digits, and bytes that are not UTF-8 become surrogates
                       from U+DC80 on, as Python's surrogateescape has them */
};

/* An object, '{', or an array, '['. `key` is the name in the object around it; NULL in an array,
 * and for the whole document. */
void json_open(struct json *, const char *key, char bracket);
/* Closes the innermost one: '}' or ']'. */
void json_close(struct json *, char bracket);
/* text NULL: null. */
void json_text(struct json *, const char *key, const char *text);
void json_number(struct json *, const char *key, uint64_t);
/* A finite number, with nine digits unless it is_exact. */
void json_real(struct json *, const char *key, double);
/* An array of numbers, in one line. */
void json_numbers(struct json *, const char *key, const uint64_t *, size_t count);
void json_bool(struct json *, const char *key, bool);
/* Several at once: "{id# name$ is_new? list[ $ $ ] old! }" has the keys, and says where a number
 * (uint64_t), a text, a truth value, or a text that is JSON already stands. */
void json_put(struct json *, const char *format, ...);

#endif
