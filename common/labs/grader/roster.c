/* roster.c — reads the names of all students of a class. */
#define _GNU_SOURCE
#include "roster.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
