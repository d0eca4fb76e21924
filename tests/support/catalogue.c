/* catalogue.c — the pairs in the catalogues of tests/cases/checks. */
#include "catalogue.h"

#include <criterion/criterion.h>
#include <glob.h>
#include <string.h>

/* Reads a pair's first line. */
static bool begins(const char *line, char name[60])
{
    int end = 0;
    sscanf(line, "/* %59[a-z-]%n", name, &end);
    return end > 0 && strncmp(line + end, " — ", strlen(" — ")) == 0;
}

size_t find_pairs(const char *begin, struct checked pairs[MAX_PAIRS])
{
    glob_t files;
    size_t n = 0;
    char line[500];
    cr_assert(glob("tests/cases/checks/*.cu", 0, NULL, &files) == 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        FILE *file = fopen(files.gl_pathv[i], "r");
        cr_assert(file, "%s", files.gl_pathv[i]);
        for (struct checked p = {.line = 1}; fgets(line, sizeof line, file); p.line++) {
            if (begins(line, p.name) && strncmp(p.name, begin, strlen(begin)) == 0) {
                sscanf(files.gl_pathv[i], "tests/cases/checks/%29[^.]", p.catalogue);
                cr_assert(n < MAX_PAIRS);
                pairs[n++] = p;
            }
            p.offset = ftell(file);
        }
        fclose(file);
    }
    globfree(&files);
    return n;
}

struct checked find_pair(const char *name)
{
    static struct checked pairs[MAX_PAIRS];
    size_t n = find_pairs(name, pairs), i = 0;
    while (i < n && strcmp(pairs[i].name, name) != 0) i++;
    cr_assert(i < n, "tests/cases/checks has no %s", name);
    return pairs[i];
}

FILE *open_pair(const struct checked *pair)
{
    char path[60];
    snprintf(path, sizeof path, "tests/cases/checks/%s.cu", pair->catalogue);
    FILE *file = fopen(path, "r");
    cr_assert(file && fseek(file, pair->offset, SEEK_SET) == 0, "%s", path);
    return file;
}
