/* program_path.c — finding a program in PATH. */
#include "visible.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool program_path(const char *name, char *path)
{
    for (const char *folders = getenv("PATH"); folders != NULL && *folders != '\0';) {
        int length = (int)strcspn(folders, ":");
        bool fits = snprintf(path, PATH_MAX, "%.*s/%s", length, folders, name) < PATH_MAX;
        if (length > 0 && fits && access(path, X_OK) == 0) return true;
        folders += length + (folders[length] == ':');
    }
    return false;
}
