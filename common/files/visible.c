/* visible.c — see visible.h. */
#define _POSIX_C_SOURCE 200809L /* PATH_MAX */
#include "visible.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Ranges of characters: the first and the last of each. */
static const uint32_t controls[][2] = {
    {0x00, 0x1F},     /* C0 */
    {0x7F, 0x9F},     /* DEL, C1 */
    {0x61C, 0x61C},   /* these and the next: marks of the direction of writing, and others that */
    {0x180E, 0x180E}, /* have no width */
    {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F},
    {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F},
};

bool visible_is_control(uint32_t character)
{
    for (size_t i = 0; i < sizeof controls / sizeof *controls; i++)
        if (character >= controls[i][0] && character <= controls[i][1]) return true;
    return false;
}

size_t visible_decode(const char *text, uint32_t *character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; /* of 1, 2, 3 and 4 bytes */
    const unsigned char *byte = (const unsigned char *)text;
    size_t length = byte[0] < 0x80                      ? 1
                    : byte[0] >= 0xC0 && byte[0] < 0xE0 ? 2
                    : byte[0] >= 0xE0 && byte[0] < 0xF0 ? 3
                    : byte[0] >= 0xF0 && byte[0] < 0xF8 ? 4
                                                        : 0;
    if (length == 0) return 0;
    *character = length == 1 ? byte[0] : byte[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((byte[i] & 0xC0) != 0x80) return 0; /* also the end of the text */
        *character = *character << 6 | (byte[i] & 0x3F);
    }
    bool surrogate = *character >= 0xD800 && *character <= 0xDFFF;
    return *character < least[length] || *character > 0x10FFFF || surrogate ? 0 : length;
}

enum { PIECE = 16 }; /* more than any character becomes */

/* Writes the visible form of the first character of a text. Returns the number of bytes of that
 * character in the text. */
static size_t show(char piece[PIECE], const char *text)
{
    static const char letters[] = {['\a'] = 'a', ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n',
                                   ['\v'] = 'v', ['\f'] = 'f', ['\r'] = 'r'};
    uint32_t character = 0;
    size_t length = visible_decode(text, &character);
    if (length == 0)
        snprintf(piece, PIECE, "\\x%02x", (unsigned char)*text);
    else if (!visible_is_control(character))
        snprintf(piece, PIECE, "%.*s", (int)length, text);
    else if (character < sizeof letters && letters[character] != 0)
        snprintf(piece, PIECE, "\\%c", letters[character]);
    else
        snprintf(piece, PIECE, character < 0x80 ? "\\x%02x" : "\\u%04x", character);
    return length > 0 ? length : 1;
}

void visible(char *to, size_t size, const char *text)
{
    size_t used = 0;
    while (*text != '\0') {
        char piece[PIECE];
        text += show(piece, text);
        size_t length = strlen(piece);
        if (used + length >= size) break;
        memcpy(to + used, piece, length);
        used += length;
    }
    to[used] = '\0';
}

void visible_print(FILE *to, const char *text, size_t length)
{
    const char *end = text + length;
    while (text < end) {
        char piece[PIECE];
        size_t plain = 0;
        while (text + plain < end && text[plain] >= ' ' && text[plain] <= '~') plain++;
        fwrite(text, 1, plain, to);
        text += plain;
        if (text == end) break;
        text += show(piece, text);
        fputs(piece, to);
    }
}

/* ---- text in lines --------------------------------------------------------------------------- */

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

/* ---- programs in PATH ------------------------------------------------------------------------ */

bool program_path(const char *name, char *path)
{
    for (const char *folders = getenv("PATH"); folders != NULL && *folders != '\0';) {
        int length = (int)strcspn(folders, ":");
        bool fits = snprintf(path, PATH_MAX, "%.*s/%s", length, folders, name) < PATH_MAX;
        if (length > 0 && fits && access(path, X_OK) == 0) return true;
        folders += length + (folders[length] == ':');
    }
    return false;
}
