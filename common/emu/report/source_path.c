#define _XOPEN_SOURCE 700 /* realpath */
#include "source_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The length of a folder's path without the slashes at its end. */
static size_t length_of(const char *root)
{
    size_t length = strlen(root);
    while (length > 0 && root[length - 1] == '/') length--;
    return length;
}

bool source_path_is_in(const char *path, const char *root)
{
    size_t length = length_of(root);
    return strncmp(path, root, length) == 0 && path[length] == '/';
}

/* Removes ".", ".." and doubled slashes from an absolute path. */
static void simplify(char *path)
{
    char *end = path;
    for (const char *next = path; *next != '\0';) {
        next += strspn(next, "/");
        size_t length = strcspn(next, "/");
        if (length == 2 && strncmp(next, "..", 2) == 0) {
            while (end > path && *--end != '/') continue;
        } else if (length > 0 && !(length == 1 && *next == '.')) {
            *end++ = '/';
            memmove(end, next, length);
            end += length;
        }
        next += length;
    }
    if (end == path) *end++ = '/';
    *end = '\0';
}

static bool has_parent(const char *path)
{
    const char *dots = strstr(path, "/..");
    while (dots != NULL && dots[3] != '/' && dots[3] != '\0') dots = strstr(dots + 1, "/..");
    return dots != NULL;
}

/* Behind a symbolic link, ".." is not the folder before it in the path: then the file system has to
 * say what the path means. A path without ".." stays as the compiler has it, unless only the file
 * system shows that it lies in the root. */
void source_path(const char *path, const char *root, char *seen)
{
    char whole[PATH_MAX], real[PATH_MAX];
    bool is_whole = *path == '/';
    if (root == NULL ||
        snprintf(whole, sizeof whole, "%s/%s", is_whole ? "" : root, path) >= (int)sizeof whole) {
        snprintf(seen, PATH_MAX, "%s", path);
        return;
    }
    bool is_real = realpath(whole, real) != NULL;
    const char *shown = is_real && has_parent(whole) ? real : whole;
    if (shown == whole) simplify(whole);
    if (is_real && !source_path_is_in(shown, root) && source_path_is_in(real, root)) shown = real;
    if (source_path_is_in(shown, root)) shown += length_of(root) + 1;
    snprintf(seen, PATH_MAX, "%s", shown);
}
