#define _GNU_SOURCE
#include "source_line.h"

#include "common/files/visible.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *source_name(const char *file)
{
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0) return file;
    program[length] = '\0';
    size_t folder = (size_t)(strrchr(program, '/') + 1 - program);
    return strncmp(file, program, folder) == 0 ? file + folder : file;
}

void source_text(const char *file, unsigned line, char *text, size_t size)
{
    text[0] = '\0';
    FILE *source = fopen(file, "r");
    if (!source) return;
    char row[512];
    for (unsigned at = 1; fgets(row, sizeof row, source); at++) {
        if (at != line) continue;
        const char *start = row;
        while (isspace((unsigned char)*start)) start++;
        row[strcspn(row, "\n")] = '\0';
        for (char *tab = row; (tab = strchr(tab, '\t'));) *tab = ' ';
        visible(text, size, start);
        break;
    }
    fclose(source);
}
