/*
 * cudart_output.c — the files that EMU_* variables name for the emulator to write. None of them may
 * be a program, a source file, or another file that the emulator reads or writes.
 */
#include "cudart.h"

#include "common/files/output_file.h"
#include "common/files/visible.h"

#include <stdio.h>
#include <string.h>

/* Prints "emu: NAME=PATH"; control characters in the path are replaced. */
static void print_output(const char *name)
{
    const char *path = cudart_setting(name);
    fprintf(stderr, "emu: %s=", name);
    visible_print(stderr, path, strlen(path));
}

const char *cudart_output(const char *name)
{
    const char *path = cudart_setting(name), *why = output_refusal(path, "/proc/self/exe", NULL);
    if (why == NULL) return path;
    print_output(name);
    fprintf(stderr, " is not written: the file %s\n", why);
    cudart_exit(EXIT_USAGE);
}

void cudart_keep_apart(const char *name, const char *other)
{
    if (!output_is_same(cudart_setting(name), cudart_setting(other))) return;
    print_output(name);
    fprintf(stderr, " and %s are the same file; choose another one\n", other);
    cudart_exit(EXIT_USAGE);
}

static void keep_source(const char *path)
{
    static const char *const outputs[][2] = {{"EMU_LOG_FILE", "--log-file"},
                                             {"EMU_CHECK_LOG", "--log-file"},
                                             {"EMU_TRACE", "--trace"},
                                             {"EMU_SARIF", "--sarif"},
                                             {"EMU_HTML", "--html"}};
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        if (!output_is_same(cudart_setting(outputs[i][0]), path)) continue;
        fputs("emu: ", stderr);
        visible_print(stderr, path, strlen(path));
        fprintf(stderr,
                " is a source file of the program and is not written; choose another file for %s"
                " (%s)\n",
                outputs[i][1], outputs[i][0]);
        cudart_exit(EXIT_USAGE);
    }
}

void cudart_keep_sources(const struct emu_module *module)
{
    const char *path;
    for (size_t i = 0; (path = emu_source(module, i)) != NULL; i++) keep_source(path);
}
