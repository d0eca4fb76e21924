/*
 * emu_main.c — the command `emu`. It is used like ncu, and with --tool like compute-sanitizer.
 *
 * It checks that the program will load the emulator's runtime library, sets the EMU_* variables as
 * the options say, and executes the program in its own process. The library does the rest.
 */
#define _GNU_SOURCE /* asprintf */
#include "emu.h"
#include "emu_options.h"
#include "common/emu/binary/emu_elf.h"
#include "common/files/output_file.h"
#include "emu_report.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the program ----------------------------------------------------------------------------- */

/* Finds a program as a shell does: a name with a slash is a path, another is looked up in PATH. */
static void find_program(const char *name, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s", name);
    if (strchr(name, '/') == NULL) {
        const char *folders = getenv("PATH");
        if (folders == NULL) folders = "";
        for (;;) {
            size_t length = strcspn(folders, ":");
            snprintf(path, PATH_MAX, "%.*s/%s", (int)length, folders, name);
            if (length > 0 && access(path, X_OK) == 0) return;
            if (folders[length] == '\0') break;
            folders += length + 1;
        }
        if (access(name, X_OK) == 0)
            emu_refuse("%s is not in PATH; for the one in this folder say ./%s", name, name);
        emu_refuse("there is no program %s in PATH", name);
    }
    if (access(path, X_OK) != 0) emu_refuse("cannot run %s: %s", path, strerror(errno));
}

/* Lets the program find the emulator's library before NVIDIA's. */
static void set_library_path(void)
{
    char folder[PATH_MAX], *library, *value;
    emu_own_folder(folder);
    const char *others = getenv("LD_LIBRARY_PATH");
    if (asprintf(&library, "%s/libcudart.so.13", folder) < 0 ||
        asprintf(&value, "%s%s%s", folder, others != NULL ? ":" : "", others ? others : "") < 0)
        emu_refuse("out of memory");
    if (access(library, R_OK) != 0) emu_refuse("%s is missing; make emu builds it", library);
    emu_set("LD_LIBRARY_PATH", value);
    free(library);
    free(value);
}

/* Ends the process with one sentence unless the program will run on the emulator. */
static void prepare(const char *path)
{
    switch (elf_runtime(path)) {
    case RUNTIME_SHARED: set_library_path(); return;
    case RUNTIME_OURS: return;
    case RUNTIME_NVIDIA:
        emu_refuse("%s has NVIDIA's runtime linked into it, which needs a GPU; relink it with nvcc"
                   " -cudart shared, or with the flags that emu --nvcc-flags prints",
                   path);
    case RUNTIME_OLD_SHARED:
        emu_refuse("%s was not built with CUDA 13, whose libcudart.so.13 the emulator replaces;"
                   " rebuild it",
                   path);
    case RUNTIME_FIXED:
        emu_refuse("%s always takes the libcudart.so.13 of its RPATH; relink it with -Xlinker"
                   " --enable-new-dtags",
                   path);
    case RUNTIME_NONE:
        emu_refuse("%s is not a CUDA program: it neither needs libcudart.so.13 nor holds kernels",
                   path);
    case RUNTIME_NO_PROGRAM: emu_refuse("%s is not a program (ELF) for this machine", path);
    case RUNTIME_UNREADABLE: emu_refuse("cannot read %s: %s", path, strerror(errno));
    }
}

/* Refuses a log or trace file that is the program, or a file that its arguments name, and refuses
 * the same file for both. */
static void check_outputs(const char *program, char *const *arguments)
{
    const struct {
        const char *what, *path;
    } outputs[] = {{"log file", getenv("EMU_LOG_FILE")}, {"trace", getenv("EMU_TRACE")}};
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        const char *path = outputs[i].path, *why = output_refusal(path, program, arguments);
        if (why != NULL)
            emu_refuse("the %s %s %s; choose another file", outputs[i].what, path, why);
    }
    if (output_is_same(outputs[0].path, outputs[1].path))
        emu_refuse("the log file and the trace are one file, %s; choose another one",
                   outputs[0].path);
}

/* --report */
static void print_agreement(const char *path)
{
    char message[2048];
    struct elf program;
    if (elf_open(path, &program) != RUNTIME_NONE)
        emu_refuse("%s is not a program (ELF) for this machine", path);
    const char *key = getenv("EMU_GPU");
    const struct emu_gpu *gpu = key != NULL ? emu_gpu_find(key) : emu_gpu_at(0);
    if (gpu == NULL) emu_refuse("there is no model \"%s\"; see emu --help", key);
    int kernels = report_agreement(&program, gpu, stdout, message, sizeof message);
    if (kernels < 0) emu_refuse("%s", message);
    if (kernels == 0) emu_refuse("%s holds no PTX that an emulated %s could run", path, gpu->name);
    elf_close(&program);
}

int main(int argc, char **argv)
{
    struct emu_wanted wanted = {0};
    int first = emu_options(argc, argv, &wanted);
    char path[PATH_MAX];
    find_program(argv[first], path);
    if (wanted.report) {
        print_agreement(path);
        return EXIT_SUCCESS;
    }
    prepare(path);
    check_outputs(path, argv + first + 1);
    execv(path, argv + first);
    emu_refuse("cannot run %s: %s", path, strerror(errno));
}
