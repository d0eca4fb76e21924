#include "csv_line.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Reads a field to its end. Returns what stands behind it: a comma, a newline or the end. NULL: a
 * quote is not closed. */
static char *take_field(char *text)
{
    char *to = text;
    if (*text != '"') return text + strcspn(text, ",\r\n");
    for (char *from = text + 1; *from != '\0'; from++) {
        if (*from == '"' && from[1] != '"') {
            *to = '\0';
            return from + 1;
        }
        if (*from == '"') from++;
        *to++ = *from;
    }
    return NULL;
}

char **csv_line_split(char *text, size_t *count)
{
    size_t most = 1;
    for (const char *c = text; *c != '\0'; c++) most += *c == ',';
    char **fields = malloc(most * sizeof *fields);
    for (*count = 0; fields != NULL;) {
        fields[(*count)++] = text;
        char *end = take_field(text);
        if (end == NULL || (*end != ',' && *end != '\n' && *end != '\r' && *end != '\0')) break;
        bool is_last = *end != ',';
        *end = '\0';
        if (is_last) return fields;
        text = end + 1;
    }
    free(fields);
    return NULL;
}
