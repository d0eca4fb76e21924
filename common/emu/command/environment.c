/*
 * environment.c — LD_LIBRARY_PATH, by which programs find the emulator's libcudart.so.13, and
 * LD_AUDIT, by which also those find it that have an RPATH (audit.c).
 */
#define _GNU_SOURCE /* unsetenv */
#include "command.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Sets a variable that is a list to `first` and what it holds already. */
static void set_in_front(const char *name, const char *first)
{
    const char *others = getenv(name);
    bool alone = others == NULL || others[0] == '\0';
    char *value = emu_text("%s%s%s", first, alone ? "" : ":", alone ? "" : others);
    emu_set(name, value);
    free(value);
}

static char *own_file(const char *folder, const char *name)
{
    char *path = emu_text("%s/%s", folder, name);
    if (access(path, R_OK) != 0) emu_refuse("%s is missing; make emu builds it", path);
    return path;
}

/* With LD_AUDIT, glibc makes room for the thread-local memory of libraries before it knows them.
 * Its default is less than some libraries need. Much more would not fit on small stacks of
 * threads. */
#define TLS_ROOM "glibc.rtld.optional_static_tls=8192"

/* nvcc and linkers are started by this command, unless they are to stay unchanged
 * (command_tools.c). */
static void set_tools(void)
{
    char own[PATH_MAX];
    unsetenv(settings[SETTING_CHANGER].variable);
    if (setting_is(SETTING_UNCHANGED, "1")) return;
    emu_own_file(own);
    emu_set(settings[SETTING_CHANGER].variable, own);
}

void emu_environment(void)
{
    char folder[PATH_MAX];
    set_tools();
    emu_library_folder(folder);
    char *library = own_file(folder, "libcudart.so.13"),
         *audit = own_file(folder, "libemu_audit.so"),
         *drivers = emu_text("%s/libraries/lib", folder);
    set_in_front("LD_LIBRARY_PATH", drivers); /* for those who look for libcuda.so by themselves */
    set_in_front("LD_LIBRARY_PATH", folder);
    set_in_front("LD_AUDIT", audit);
    if (getenv("GLIBC_TUNABLES") == NULL) emu_set("GLIBC_TUNABLES", TLS_ROOM);
    emu_set(settings[SETTING_LIBRARY].variable, library);
    free(library);
    free(audit);
    free(drivers);
}
