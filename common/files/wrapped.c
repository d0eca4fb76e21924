/* wrapped.c — text in lines that a screen holds. */
#include "visible.h"

#include <stddef.h>
#include <string.h>

static const char blanks[] = " \n";

/* A character of UTF-8 is one column. */
static int columns_of(const char *word, size_t bytes)
{
    int columns = 0;
    for (size_t i = 0; i < bytes; i++) columns += (word[i] & 0xc0) != 0x80;
    return columns;
}

void wrapped_print(FILE *to, const char *text, int margin, int width)
{
    int column = margin;
    text += strspn(text, blanks);
    while (*text) {
        size_t bytes = strcspn(text, blanks);
        int columns = columns_of(text, bytes);
        if (column > margin && column + 1 + columns > width) {
            fprintf(to, "\n%*s", margin, "");
            column = margin;
        } else if (column > margin) {
            fputc(' ', to);
            column++;
        }
        fprintf(to, "%.*s", (int)bytes, text);
        column += columns;
        text += bytes;
        text += strspn(text, blanks);
    }
    fputc('\n', to);
}
