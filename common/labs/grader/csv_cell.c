/*
 * csv_cell.c — writes a text as a cell of a table that a spreadsheet opens.
 *
 * A spreadsheet takes a cell that begins with = + - @, or with their wide forms, as a formula, also
 * behind blanks and quotes. And it may split the lines elsewhere than at commas: in many countries
 * it splits at semicolons, where our quotes no longer hold. So a ' stands before such a character
 * wherever a cell could begin.
 */
#define _GNU_SOURCE
#include "grader.h"
#include "common/files/visible.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_one_of(const uint32_t *all, uint32_t character)
{
    while (*all != 0 && *all != character) all++;
    return *all != 0;
}

static bool begins_formula(uint32_t character)
{
    static const uint32_t all[] = {'=', '+', '-', '@', 0xFF1D, 0xFF0B, 0xFF0D, 0xFF20, 0};
    return is_one_of(all, character);
}

static bool separates(uint32_t character)
{
    static const uint32_t all[] = {',', ';', '|', '\t', 0};
    return is_one_of(all, character);
}

/* A blank or a quote, which leaves the beginning of a cell where it is. 0xA0 and 0x3000 are blanks,
 * too. */
static bool is_skipped(uint32_t character)
{
    static const uint32_t all[] = {' ', '"', 0xA0, 0x3000, 0};
    return is_one_of(all, character);
}

static void put_guarded(FILE *out, const char *text)
{
    bool begins = true; /* could a cell begin here? */
    while (*text != '\0') {
        uint32_t character = 0;
        size_t length = visible_decode(text, &character);
        if (begins && begins_formula(character)) fputc('\'', out);
        begins = separates(character) || (begins && is_skipped(character));
        if (character == '"') fputc('"', out);
        fwrite(text, 1, length > 0 ? length : 1, out);
        text += length > 0 ? length : 1;
    }
}

void csv_cell(FILE *out, const char *text)
{
    size_t size = VISIBLE_GROWTH * strlen(text) + 1;
    char *safe = malloc(size);
    if (safe == NULL) abort();
    visible(safe, size, text);
    fputc('"', out);
    put_guarded(out, safe);
    fputc('"', out);
    free(safe);
}
