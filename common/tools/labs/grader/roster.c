/*
 * roster.c — the names of all students of a class, and names that look alike.
 */
#define _GNU_SOURCE
#include "grader.h"
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- do two names look alike? A hint for a person: nothing is decided by it ------------------ */

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

/* ---- reads the names of all students of a class ---------------------------------------------- */

/* The name in a line, without blanks, a carriage return and the mark of UTF-8 round it. */
static char *name_in(char *line)
{
    static const char mark[] = "\uFEFF";
    if (strncmp(line, mark, strlen(mark)) == 0) line += strlen(mark);
    line += strspn(line, " \t");
    size_t length = strcspn(line, "\r\n");
    while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\t')) length--;
    line[length] = '\0';
    return line;
}

static bool has(char *const *texts, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(texts[i], text) == 0) return true;
    return false;
}

/* Two students under one identifier would overwrite each other's points. */
static int add(struct roster *roster, char *name, const char *path, unsigned line,
               struct fault *fault)
{
    char *tab = strchr(name, '\t'), *identifier = name;
    if (tab != NULL) {
        identifier = tab + strspn(tab, " \t");
        identifier[strcspn(identifier, "\t")] = '\0'; /* what other columns hold is not read */
        while (tab > name && tab[-1] == ' ') tab--;
        *tab = '\0';
    }
    bool again = has(roster->names, roster->count, name);
    if (again || has(roster->identifiers, roster->count, identifier))
        return fail(fault, EXIT_USAGE,
                    "line %u of %s holds \"%s\" for a second time; make the names differ as the "
                    "submissions' names do",
                    line, path, again ? name : identifier);
    size_t size = (roster->count + 1) * sizeof *roster->names;
    roster->names = realloc(roster->names, size);
    roster->identifiers = realloc(roster->identifiers, size);
    if (roster->names == NULL || roster->identifiers == NULL) abort();
    roster->names[roster->count] = strdup(name);
    roster->identifiers[roster->count] = strdup(identifier);
    if (roster->names[roster->count] == NULL || roster->identifiers[roster->count] == NULL) abort();
    roster->count++;
    return 0;
}

static int read_lines(FILE *file, const char *path, struct roster *roster, struct fault *fault)
{
    char *line = NULL;
    size_t size = 0;
    int code = 0;
    for (unsigned number = 1; code == 0 && getline(&line, &size, file) >= 0; number++) {
        char *name = name_in(line);
        if (*name != '\0' && *name != '#') code = add(roster, name, path, number, fault);
    }
    if (code == 0 && ferror(file))
        code = fail(fault, EXIT_USAGE, "%s cannot be read: %s", path, strerror(errno));
    free(line);
    return code;
}

int roster_read(const char *path, struct roster *roster, struct fault *fault)
{
    *roster = (struct roster){.count = 0};
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return fail(fault, EXIT_USAGE, "%s cannot be opened: %s", path, strerror(errno));
    int code = read_lines(file, path, roster, fault);
    fclose(file);
    if (code != 0 || roster->count > 0) return code;
    return fail(fault, EXIT_USAGE, "%s holds no name", path);
}

void roster_end(struct roster *roster)
{
    for (size_t i = 0; i < roster->count; i++) {
        free(roster->names[i]);
        free(roster->identifiers[i]);
    }
    free(roster->names);
    free(roster->identifiers);
    *roster = (struct roster){.count = 0};
}

static bool belongs(const char *submission, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(submission, name, length) != 0) return false;
    return submission[length] == '\0' || submission[length] == '_';
}

size_t roster_find(const struct roster *roster, const char *submission)
{
    size_t best = roster->count, longest = 0;
    for (size_t i = 0; i < roster->count; i++) {
        size_t length = strlen(roster->names[i]);
        if (length <= longest || !belongs(submission, roster->names[i])) continue;
        best = i;
        longest = length;
    }
    return best;
}
