#define _GNU_SOURCE
#include "source_line.h"

#include "common/files/visible.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Writes this program's folder with a slash at its end; returns its length, or 0 if it is not
 * known. */
static size_t program_folder(char path[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (length < 0) return 0;
    path[length] = '\0';
    char *name = strrchr(path, '/') + 1;
    *name = '\0';
    return (size_t)(name - path);
}

/* Appends `name` to a folder of this length. Returns whether there is such a file. */
static bool is_file_in(char path[PATH_MAX], size_t folder, const char *name)
{
    int length = snprintf(path + folder, PATH_MAX - folder, "%s", name);
    return length >= 0 && (size_t)length < PATH_MAX - folder && access(path, R_OK) == 0;
}

/* A kernel keeps the path at which its source was compiled. If the tree was moved later, the end of
 * that path still leads to the file. */
const char *source_name(const char *file)
{
    char path[PATH_MAX];
    size_t folder = program_folder(path);
    if (folder && strncmp(file, path, folder) == 0) return file + folder;
    for (const char *end = file; folder && (end = strchr(end, '/')) && strchr(end + 1, '/');)
        if (is_file_in(path, folder, ++end)) return end;
    return file;
}

/* Opens the file in this program's tree or, if it lies elsewhere, where it was compiled. */
static FILE *open_source(const char *file)
{
    char path[PATH_MAX];
    size_t folder = program_folder(path);
    return folder && is_file_in(path, folder, source_name(file)) ? fopen(path, "r")
                                                                 : fopen(file, "r");
}

void source_text(const char *file, unsigned line, char *text, size_t size)
{
    text[0] = '\0';
    FILE *source = open_source(file);
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
