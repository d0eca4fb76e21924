/* source_path.c — see source_path.h. */
#include "source_path.h"

#include <string.h>

const char *source_path_in(const char *path, const char *root)
{
    size_t length = root != NULL ? strlen(root) : 0;
    while (length > 0 && root[length - 1] == '/') length--;
    if (length == 0 || strncmp(path, root, length) != 0 || path[length] != '/') return path;
    path += length;
    while (*path == '/') path++;
    return path;
}
