/* output_file.c — finds out which files must not be overwritten. */
#include "output_file.h"
#include "files.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool is_stream(const char *path)
{
    return path == NULL || strcmp(path, "stdout") == 0 || strcmp(path, "stderr") == 0;
}

bool output_is_same(const char *path, const char *other)
{
    return !is_stream(path) && !is_stream(other) && replacement_same(path, other);
}

/* The first bytes of programs, libraries and objects for Linux. */
static bool is_elf(const char *path)
{
    static const char magic[4] = {0x7f, 'E', 'L', 'F'};
    char head[sizeof magic];
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return false;
    FILE *file = fopen(path, "r");
    if (file == NULL) return false;
    bool is =
        fread(head, 1, sizeof head, file) == sizeof head && memcmp(head, magic, sizeof magic) == 0;
    fclose(file);
    return is;
}

/* An existing file that is called like a source of C, C++, CUDA or Python. */
static bool is_source(const char *path)
{
    static const char *const endings[] = {".cu",  ".cuh", ".c",   ".h",   ".cc", ".cpp",
                                          ".cxx", ".hpp", ".hxx", ".inl", ".py", ".ptx"};
    struct stat status;
    const char *ending = strrchr(path, '.');
    if (ending == NULL || stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (strcmp(ending, endings[i]) == 0) return true;
    return false;
}

const char *output_refusal(const char *path, const char *program, char *const *arguments)
{
    if (is_stream(path)) return NULL;
    if (output_is_same(path, program)) return "is the program itself";
    if (is_elf(path)) return "is a program or a library";
    for (; arguments != NULL && *arguments != NULL; arguments++) {
        const char *value = strchr(*arguments, '=');
        if (output_is_same(path, *arguments) || (value != NULL && output_is_same(path, value + 1)))
            return "is named by the program's arguments, too";
    }
    return is_source(path) ? "is a source file" : NULL;
}
