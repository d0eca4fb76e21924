/* visible.h — text for people to read: safe bytes, lines that a screen holds, programs in PATH. */
#ifndef VISIBLE_H
#define VISIBLE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- makes any bytes, such as a file's name, safe for people to read ------------------------- */

/* A terminal obeys control characters, and some characters of Unicode hide or reorder the
 * characters beside them. Such characters, and bytes that are not UTF-8, are written as C writes
 * them: \n, \x1b, \u202e. */

/* Writes the visible form of the text into to[size]. If there is not enough room, it ends after the
 * last character that fits. size > 0. */
void visible(char *to, size_t size, const char *text);

/* Writes the visible form of the first `length` bytes of a text into a stream. */
void visible_print(FILE *to, const char *text, size_t length);

/* The most bytes that visible() makes of one byte. */
#define VISIBLE_GROWTH 4

/* The number of bytes of the first character of a text, and the character itself. 0 bytes: it is
 * not UTF-8. The text is not empty. */
size_t visible_decode(const char *text, uint32_t *character);

/* Is it a character with an effect of its own (a control character or a mark of the direction of
 * writing) rather than one to be seen? */
bool visible_is_control(uint32_t character);

/* ---- text in lines that a screen holds ------------------------------------------------------- */

/* Prints the words of a text, and a newline, in lines of at most `width` columns. All lines but the
 * first begin with `margin` blanks; the first goes on in a line that has `margin` columns already.
 * A word that is too long for a line stands alone in one. */
void wrapped_print(FILE *, const char *text, int margin, int width);

/* ---- where a program is that is named without a slash ---------------------------------------- */

/* Finds it in the folders of PATH; `path` has PATH_MAX bytes. False: it is in none of them. */
bool program_path(const char *name, char *path);

#endif
