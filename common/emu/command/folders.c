/* folders.c — where the command emu and the emulator's libraries are. */
#define _GNU_SOURCE /* realpath */
#include "command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* Where /proc is not mounted, as in a bare chroot, the kernel has still said under which path the
 * command was started. */
void emu_own_file(char path[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (length >= 0) {
        path[length] = '\0';
        return;
    }
    const char *started = (const char *)getauxval(AT_EXECFN);
    if (started == NULL || realpath(started, path) == NULL)
        emu_refuse("cannot find its own folder: %s", strerror(errno));
}

void emu_own_folder(char folder[PATH_MAX])
{
    emu_own_file(folder);
    *strrchr(folder, '/') = '\0';
}

void emu_library_folder(char folder[PATH_MAX])
{
    char own[PATH_MAX], beside[PATH_MAX + 32], installed[PATH_MAX + 32], *lib = NULL;
    emu_own_folder(own);
    snprintf(beside, sizeof beside, "%s/libcudart.so.13", own);
    snprintf(installed, sizeof installed, "%s/../lib/upsweep", own);
    if (access(beside, F_OK) != 0) lib = realpath(installed, NULL);
    snprintf(folder, PATH_MAX, "%s", lib != NULL ? lib : own);
    free(lib);
}
