/* wrapped.h — text in lines that a screen holds. */
#ifndef WRAPPED_H
#define WRAPPED_H

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Prints the words of a text, and a newline, in lines of at most `width` columns. All lines but the
 * first begin with `margin` blanks; the first goes on in a line that has `margin` columns already.
 * A word that is too long for a line stands alone in one. */
void wrapped_print(FILE *, const char *text, int margin, int width);

#ifdef __cplusplus
}
#endif

#endif
