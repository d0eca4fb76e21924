/*
 * visible.h — makes any bytes, such as a file's name, safe for people to read.
 *
 * A terminal obeys control characters, and some characters of Unicode hide or reorder the
 * characters beside them. Such characters, and bytes that are not UTF-8, are written as C writes
 * them: \n, \x1b, \u202e.
 */
#ifndef EMU_VISIBLE_H
#define EMU_VISIBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Writes the text into to[size], as much of it as there is room for, without a part of a character
 * at the end. size > 0. */
void visible(char *to, size_t size, const char *text);

/* The same for the first `length` bytes of a text, into a stream. */
void visible_print(FILE *to, const char *text, size_t length);

/* The most bytes that visible() makes of one, for a buffer's size. */
#define VISIBLE_GROWTH 4

/* The bytes of the first character of a text, and what it is; 0 bytes: no UTF-8. The text is not
 * empty. */
size_t visible_decode(const char *text, uint32_t *character);

/* Is it a character that does something other than to be seen? */
bool visible_is_control(uint32_t character);

#endif
