/*
 * start.c — programs that are started without a dynamic linker, which so cannot load audit.c.
 *
 * Calls that start a program, of the programs that the command emu runs, go through the functions
 * of this file. They look at the file, and say so if it has CUDA code and is linked statically with
 * the C library. The program is started in any case.
 *
 * Not noticed: a program that is started by one that is itself linked statically, by the functions
 * execl*, or from inside of the C library.
 */
#define _GNU_SOURCE
#include "start.h"
#include "common/emu/ptx/emu_elf.h"
#include "common/files/program_path.h"

#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Is it a program that is started without the dynamic linker? */
static bool is_static(const char *path)
{
    struct elf elf;
    size_t size;
    if (elf_open(path, &elf) != RUNTIME_NONE) return false;
    bool has_linker = elf_section(&elf, ".interp", &size) != NULL;
    elf_close(&elf);
    return !has_linker;
}

static void look_at(const char *path)
{
    if (!is_static(path) || elf_runtime(path) != RUNTIME_NVIDIA) return;
    audit_say("%s is linked statically with the C library and has NVIDIA's runtime linked into it: "
              "it runs without the emulator, and needs a GPU; relink it without -static, with nvcc "
              "-cudart shared",
              path);
    audit_tell_of_refusal();
}

/* Looks at the file of a name without a slash in the folders of PATH. */
static void look_for(const char *name)
{
    char path[PATH_MAX];
    if (strchr(name, '/') != NULL)
        look_at(name);
    else if (program_path(name, path))
        look_at(path);
}

/* ---- the functions, with those whose place they take ----------------------------------------- */

static __typeof__(&execv) real_execv, real_execvp;
static __typeof__(&execve) real_execve, real_execvpe;
static __typeof__(&posix_spawn) real_spawn, real_spawnp;

static int start_execv(const char *path, char *const *arguments)
{
    look_at(path);
    return real_execv(path, arguments);
}

static int start_execvp(const char *name, char *const *arguments)
{
    look_for(name);
    return real_execvp(name, arguments);
}

static int start_execve(const char *path, char *const *arguments, char *const *environment)
{
    look_at(path);
    return real_execve(path, arguments, environment);
}

static int start_execvpe(const char *name, char *const *arguments, char *const *environment)
{
    look_for(name);
    return real_execvpe(name, arguments, environment);
}

static int start_spawn(pid_t *process, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const *arguments,
                       char *const *environment)
{
    look_at(path);
    return real_spawn(process, path, actions, attributes, arguments, environment);
}

static int start_spawnp(pid_t *process, const char *name, const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attributes, char *const *arguments,
                        char *const *environment)
{
    look_for(name);
    return real_spawnp(process, name, actions, attributes, arguments, environment);
}

uintptr_t start_replaced(const char *function, uintptr_t real)
{
#define REPLACED(name, own, kept)                                                                  \
    if (strcmp(function, name) == 0) return kept = (__typeof__(kept))real, (uintptr_t)own;
    REPLACED("execv", start_execv, real_execv)
    REPLACED("execvp", start_execvp, real_execvp)
    REPLACED("execve", start_execve, real_execve)
    REPLACED("execvpe", start_execvpe, real_execvpe)
    REPLACED("posix_spawn", start_spawn, real_spawn)
    REPLACED("posix_spawnp", start_spawnp, real_spawnp)
#undef REPLACED
    return real;
}
