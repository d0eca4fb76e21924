/* same_ptx.c — see same_ptx.h. */
#define _GNU_SOURCE
#include "same_ptx.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct name {
    const char *text;
    size_t length;
};

struct text {
    const char *at, *end;
    struct name *names; /* a table by hash, of a power of two */
    unsigned *numbers;
    size_t room, count;
    uint64_t bits[2];
};

static uint64_t mix(uint64_t hash, uint64_t value) { return (hash ^ value) * 0x100000001b3; }

static void take(struct text *text, uint64_t value)
{
    text->bits[0] = mix(text->bits[0], value);
    text->bits[1] = mix(text->bits[1], value + (text->bits[1] >> 29));
}

static uint64_t hash_of(const char *word, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < length; i++) hash = mix(hash, (unsigned char)word[i]);
    return hash ^ hash >> 32;
}

static size_t place_of(const struct text *text, const char *word, size_t length)
{
    size_t at = hash_of(word, length) & (text->room - 1);
    while (text->names[at].text != NULL &&
           (text->names[at].length != length || memcmp(text->names[at].text, word, length) != 0))
        at = (at + 1) & (text->room - 1);
    return at;
}

static void grow(struct text *text)
{
    struct text old = *text;
    text->room = old.room == 0 ? 1024 : 2 * old.room;
    text->names = calloc(text->room, sizeof *text->names);
    text->numbers = calloc(text->room, sizeof *text->numbers);
    if (text->names == NULL || text->numbers == NULL) abort();
    for (size_t i = 0; i < old.room; i++) {
        if (old.names[i].text == NULL) continue;
        size_t at = place_of(text, old.names[i].text, old.names[i].length);
        text->names[at] = old.names[i];
        text->numbers[at] = old.numbers[i];
    }
    free(old.names);
    free(old.numbers);
}

/* The number of a name: 0 for the first one that occurs. */
static unsigned number_of(struct text *text, const char *word, size_t length)
{
    if (2 * (text->count + 1) > text->room) grow(text);
    size_t at = place_of(text, word, length);
    if (text->names[at].text == NULL) {
        text->names[at] = (struct name){word, length};
        text->numbers[at] = (unsigned)text->count++;
    }
    return text->numbers[at];
}

static bool is_word(char byte)
{
    return isalnum((unsigned char)byte) || byte == '_' || byte == '$' || byte == '%';
}

/* Special registers keep their names: %tid, %laneid. Other registers end with a number, and a
 * declaration gives the first part of their names: %r<12>. */
static bool is_special(const char *word, size_t length)
{
    static const char *const all[] = {"%tid",     "%ntid",  "%ctaid",  "%nctaid",     "%laneid",
                                      "%warpid",  "%smid",  "%gridid", "%clock",      "%clock64",
                                      "%nwarpid", "%nsmid", "%envreg", "%globaltimer"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strlen(all[i]) == length && memcmp(all[i], word, length) == 0) return true;
    return length > strlen("%lanemask_") && memcmp(word, "%lanemask_", strlen("%lanemask_")) == 0;
}

/* Names of the program: registers and labels, and mangled or generated names. Other words are
 * opcodes, types and numbers. */
static bool is_name(const char *word, size_t length)
{
    if (word[0] == '%') return !is_special(word, length);
    return word[0] == '$' || word[0] == '_';
}

static void take_word(struct text *text)
{
    const char *word = text->at;
    while (text->at < text->end && is_word(*text->at)) text->at++;
    size_t length = (size_t)(text->at - word);
    if (is_name(word, length))
        take(text, 0x100000000 + number_of(text, word, length));
    else
        take(text, hash_of(word, length) | 1ULL << 63);
}

static bool starts(const struct text *text, const char *with)
{
    size_t length = strlen(with);
    return (size_t)(text->end - text->at) >= length && memcmp(text->at, with, length) == 0;
}

static void skip_past(struct text *text, const char *mark)
{
    const char *found = memmem(text->at, (size_t)(text->end - text->at), mark, strlen(mark));
    text->at = found == NULL ? text->end : found + strlen(mark);
}

/* Skips a comment or a line about source files. Returns whether there was one. */
static bool skip(struct text *text)
{
    if (starts(text, "/*"))
        skip_past(text, "*/");
    else if (starts(text, "//") || starts(text, ".loc") || starts(text, ".file"))
        skip_past(text, "\n");
    else if (starts(text, ".section"))
        skip_past(text, "}");
    else
        return false;
    return true;
}

void same_ptx(const char *ptx, size_t size, uint64_t bits[2])
{
    struct text text = {
        .at = ptx, .end = ptx + size, .bits = {0xcbf29ce484222325, 0x9e3779b97f4a7c15}};
    while (text.at < text.end) {
        if (skip(&text)) continue;
        if (is_word(*text.at)) {
            take_word(&text);
            continue;
        }
        if (!isspace((unsigned char)*text.at)) take(&text, (unsigned char)*text.at);
        text.at++;
    }
    memcpy(bits, text.bits, sizeof text.bits);
    free(text.names);
    free(text.numbers);
}
