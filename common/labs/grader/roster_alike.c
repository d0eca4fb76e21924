/*
 * roster_alike.c — do two names look alike? A hint for a person: nothing is decided by it.
 */
#include "roster.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

enum {
    ACCENTED = 1,          /* no character of a name is U+0001 */
    NO_CHARACTER = 1 << 24 /* and a byte that is not UTF-8 is this one and those behind it */
};

/* The next character of a text in UTF-8. A byte that is not UTF-8 is a character of its own. */
static uint32_t next_character(const char **text)
{
    const unsigned char *at = (const unsigned char *)*text;
    unsigned more = *at >= 0xf0 ? 3 : *at >= 0xe0 ? 2 : *at >= 0xc0 ? 1 : 0;
    uint32_t character = more == 0 ? *at : *at & (0x3fu >> more);
    if (more == 0 && *at >= 0x80) character += NO_CHARACTER;
    for (unsigned i = 1; i <= more; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            more = 0;
            character = NO_CHARACTER + *at;
            break;
        }
        character = character << 6 | (at[i] & 0x3f);
    }
    *text += 1 + more;
    return character;
}

static bool is_combining(uint32_t character) { return character >= 0x300 && character <= 0x36f; }

/* Latin letters that have an accent of their own. */
static bool is_accented(uint32_t character)
{
    return (character >= 0xc0 && character <= 0x24f) ||
           (character >= 0x1e00 && character <= 0x1eff);
}

static bool skip_accents(const char **text)
{
    bool skipped = false;
    for (const char *at = *text; is_combining(next_character(&at)); *text = at) skipped = true;
    return skipped;
}

/* The next letter: ACCENTED for a Latin letter with an accent, whichever. 0 at the end. */
static uint32_t next_letter(const char **text)
{
    if (**text == '\0') return 0;
    uint32_t character = next_character(text);
    bool accent = skip_accents(text);
    if (character < 0x80 && isalpha((int)character) && accent) return ACCENTED;
    if (is_accented(character)) return ACCENTED;
    if (character < 0x80 && strchr("_-. ", (int)character) != NULL) return ' ';
    return character < 0x80 ? (uint32_t)tolower((int)character) : character;
}

bool roster_looks_alike(const char *student, const char *submission)
{
    if (*student == '\0') return false;
    for (;;) {
        uint32_t expected = next_letter(&student), got = next_letter(&submission);
        if (expected == 0) return got == 0 || got == ' ';
        if (expected != got) return false;
    }
}
