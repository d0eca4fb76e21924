/* score_text.c — texts of reasons: are two the same but for their numbers? And places in them. */
#include "score_parts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *after_number(const char *text)
{
    bool begins = isdigit((unsigned char)text[*text == '-']);
    char *end = (char *)(uintptr_t)text;
    if (begins) strtod(text, &end);
    return end;
}

static bool is_end(const char *text, const char *end)
{
    return !*text || (*end && !strncmp(text, end, strlen(end)));
}

bool same_but_numbers(const char *a, const char *b, const char *end)
{
    while (!is_end(a, end) && !is_end(b, end)) {
        const char *next_a = after_number(a), *next_b = after_number(b);
        if ((next_a == a) != (next_b == b) || (next_a == a && *a != *b)) return false;
        a = next_a == a ? a + 1 : next_a;
        b = next_b == b ? b + 1 : next_b;
    }
    return is_end(a, end) && is_end(b, end);
}

#define PTX_LINE  " (PTX line "
#define AT_A_LINE ", at "

/* Where the file's path begins in "… at labs/lab3.cu:52 (PTX line 79)", and the number of the line.
 * NULL: it is another file. */
static char *place_before(char *text, char *ptx_line, const char *file, unsigned *line)
{
    char *colon = ptx_line, *at = NULL;
    while (colon > text && isdigit((unsigned char)colon[-1])) colon--;
    if (colon == text || *--colon != ':') return NULL;
    size_t length = strlen(file);
    if ((size_t)(colon - text) < length || memcmp(colon - length, file, length) != 0) return NULL;
    for (char *c = text; (c = strstr(c, " at ")) && c < colon; c++) at = c;
    *line = (unsigned)strtoul(colon + 1, NULL, 10);
    return at ? at + strlen(" at ") : NULL;
}

void shorten_places(char *text, const char *file, unsigned line)
{
    for (char *ptx; *file && (ptx = strstr(text, PTX_LINE));) {
        unsigned own;
        char *behind = strchr(ptx, ')'), *path = place_before(text, ptx, file, &own), number[32];
        if (!behind) return;
        behind++;
        if (!path) {
            memmove(ptx, behind, strlen(behind) + 1);
            continue;
        }
        /* The line stands before the text already. */
        size_t before = strlen(AT_A_LINE);
        bool is_said = own == line && (size_t)(path - text) >= before &&
                       !strncmp(path - before, AT_A_LINE, before);
        char *from = is_said ? path - before : path;
        int size = is_said ? 0 : snprintf(number, sizeof number, "line %u", own);
        memcpy(from, number, (size_t)size); /* no longer than ":52 (PTX line 79)" */
        memmove(from + size, behind, strlen(behind) + 1);
    }
}
