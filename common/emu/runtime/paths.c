/*
 * paths.c — the files that EMU_* variables name for the emulator to write. None of them may be a
 * program, a source file, or another file that the emulator reads or writes.
 *
 * If mpirun has started several ranks, each writes a file of its own: NAME.RANK, or NAME.RANK.html
 * of NAME.html.
 */
#include "process.h"

#include "common/files/output_file.h"
#include "common/files/replacement.h"
#include "common/files/visible.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const enum setting_id path_settings[] = {SETTING_LOG_FILE, SETTING_CHECK_LOG, SETTING_TRACE,
                                                SETTING_SARIF, SETTING_HTML};
enum { PATH_SETTINGS = sizeof path_settings / sizeof *path_settings };

/* ---- their names ----------------------------------------------------------------------------- */

/* The rank of this process, as Open MPI and MPICH say it. NULL: it is the only one. */
static const char *rank_of_several(void)
{
    static const char *const names[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                           {"PMI_RANK", "PMI_SIZE"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *rank = cudart_environment(names[i][0]),
                   *ranks = cudart_environment(names[i][1]);
        if (rank == NULL || ranks == NULL || atoi(ranks) < 2) continue;
        if (rank[strspn(rank, "0123456789")] == '\0') return rank;
    }
    return NULL;
}

/* Do ranks share it? What is no regular file is written as it is. The programs of a command add to
 * one log of the checkers (command/children.c). */
static bool is_shared(enum setting_id id, const char *path)
{
    if (strcmp(path, "stdout") == 0 || strcmp(path, "stderr") == 0) return true;
    if (id == SETTING_CHECK_LOG && cudart_has_parent()) return true;
    return !replacement_is_file(path);
}

/* The path of this process, or NULL. It may lie in `own`. */
static const char *path_of(enum setting_id id, char own[PATH_MAX])
{
    const char *path = setting_text(id), *rank = rank_of_several();
    if (path == NULL || rank == NULL || is_shared(id, path)) return path;
    const char *slash = strrchr(path, '/'), *file = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(file, '.'), *ending = dot > file ? dot : file + strlen(file);
    snprintf(own, PATH_MAX, "%.*s.%s%s", (int)(ending - path), path, rank, ending);
    return own;
}

/* ---- what they must not be ------------------------------------------------------------------- */

/* Prints "emu: NAME=PATH"; control characters in the path are replaced. */
static void print_output(enum setting_id id, const char *path)
{
    fprintf(stderr, "emu: %s=", settings[id].variable);
    visible_print(stderr, path, strlen(path));
}

const char *cudart_output(enum setting_id id)
{
    static char own[PATH_SETTINGS][PATH_MAX];
    size_t i = 0;
    while (path_settings[i] != id) i++;
    const char *path = path_of(id, own[i]), *why = output_refusal(path, "/proc/self/exe", NULL);
    if (why == NULL) return path;
    print_output(id, path);
    fprintf(stderr, " is not written: the file %s\n", why);
    cudart_exit(EXIT_USAGE);
}

void cudart_keep_apart(enum setting_id id, enum setting_id other)
{
    const char *path = setting_text(id);
    if (!output_is_same(path, setting_text(other))) return;
    print_output(id, path);
    fprintf(stderr, " and %s are the same file; choose another one\n", settings[other].variable);
    cudart_exit(EXIT_USAGE);
}

static void keep_source(const char *path)
{
    char own[PATH_MAX];
    for (size_t i = 0; i < PATH_SETTINGS; i++) {
        const struct setting *s = &settings[path_settings[i]];
        if (!output_is_same(path_of(path_settings[i], own), path)) continue;
        fputs("emu: ", stderr);
        visible_print(stderr, path, strlen(path));
        fprintf(stderr,
                " is a source file of the program and is not written; choose another file for %s"
                " (%s)\n",
                s->option != NULL ? s->option : settings[SETTING_LOG_FILE].option, s->variable);
        cudart_exit(EXIT_USAGE);
    }
}

void cudart_keep_sources(const struct emu_module *module)
{
    const char *path;
    for (size_t i = 0; (path = emu_source(module, i)) != NULL; i++) keep_source(path);
}
