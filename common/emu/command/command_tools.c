/*
 * command_tools.c — changes the words of nvcc and of linkers below `emu make`.
 *
 * The dynamic linker starts this part of emu in place of each nvcc and each linker below a command
 * (audit_tools.c). It becomes that program, which then runs in the same process: signals and exit
 * codes are its own, and nothing is left to remove.
 */
#define _GNU_SOURCE /* O_CLOEXEC */
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* ---- saying each change once ----------------------------------------------------------------- */

/* Adds a line to the file in memory, if it is not yet there. Several tools may do so at a time.
 * False: there is no such file, for example because the command emu has ended. */
static bool add_line(const char *path, const char *sentence)
{
    char line[2 * PATH_MAX];
    bool is_said = false;
    int file = open(path, O_RDWR | O_APPEND | O_CLOEXEC);
    FILE *said = file >= 0 ? fdopen(file, "r+") : NULL;
    if (said == NULL) return false;
    flock(file, LOCK_EX);
    while (fgets(line, sizeof line, said) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        is_said = is_said || strcmp(line, sentence) == 0;
    }
    if (!is_said) {
        fseek(said, 0, SEEK_END);
        fprintf(said, "%s\n", sentence);
    }
    fclose(said);
    return true;
}

void emu_say_change(const char *format, ...)
{
    char sentence[2 * PATH_MAX];
    const char *file = getenv(settings[SETTING_CHANGES].variable);
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    if (file == NULL || !add_line(file, sentence)) emu_note("%s", sentence);
}

/* ---- nvcc ------------------------------------------------------------------------------------ */

/* Does nvcc compile or link anything? Otherwise it prints its version, for example. What a file of
 * options or -x stands for has any name. */
static bool has_input(char *const *own)
{
    static const char *const inputs[] = {".cu", ".cpp", ".cc", ".cxx", ".c",
                                         ".C",  ".o",   ".a",  ".so",  ".obj"};
    static const char *const options[] = {"-x", "--x", "-optf", "--options-file"};
    for (; *own != NULL; own++) {
        size_t length = strcspn(*own, "=");
        for (size_t i = 0; i < sizeof options / sizeof *options; i++)
            if (strlen(options[i]) == length && strncmp(*own, options[i], length) == 0) return true;
        for (size_t i = 0; **own != '-' && i < sizeof inputs / sizeof *inputs; i++)
            if (word_ends(*own, inputs[i])) return true;
    }
    return false;
}

/* Does nvcc link no shared runtime? Of a second -cudart it would warn, and a program that is linked
 * statically with the C library cannot have it. */
static bool has_no_shared(char *const *own)
{
    for (; *own != NULL; own++)
        if (word_ends(*own, "-cudart=none") || word_ends(*own, "-static") ||
            (own[1] != NULL && word_ends(*own, "-cudart") && strcmp(own[1], "none") == 0))
            return true;
    return false;
}

static void add_runtime(struct word_list *words)
{
    words_add(words, "-cudart");
    words_add(words, "shared");
    emu_say_change("nvcc gets -cudart shared, so that the emulator can take the place of NVIDIA's"
                   " runtime");
}

/* Words before nvcc's own: later ones win. */
static void add_nvccs(struct word_list *words, const char *nvcc, char *const *own,
                      const char *folder)
{
    char *header = emu_text("%s/removed.h", folder), *pips[2], *stand_ins[NVCC_STAND_INS];
    if (has_input(own)) {
        if (!has_no_shared(own)) add_runtime(words);
        words_add(words, "-include");
        words_add(words, header);
        for (size_t i = 0, count = nvcc_pip_folders(nvcc, pips); i < count; i++)
            words_add(words, pips[i]);
        size_t count = nvcc_stand_ins(nvcc, stand_ins);
        for (size_t i = 0; i < count; i++) words_add(words, stand_ins[i]);
        if (count > 0)
            emu_say_change("nvcc gets -isystem and -L with folders of %s/libraries, where it finds"
                           " the emulator's cuBLAS and cuRAND",
                           folder);
        emu_say_change("nvcc gets -include %s, which brings back what CUDA 12 and 13 removed from"
                       " the runtime API",
                       header);
    }
    words_add_nvccs(words, nvcc, own);
    bool has_room = has_input(own); /* for PTX: a cubin has none */
    for (; *own != NULL; own++) has_room &= !word_ends(*own, "-cubin");
    const char *ptx = has_room ? architectures_ptx() : NULL;
    if (ptx != NULL) words_add(words, "-gencode"), words_add(words, ptx);
}

/* ---- linkers --------------------------------------------------------------------------------- */

/* The emulator's folder comes after all others, for toolkits without libcudart.so. A program
 * without any shared library stays so. */
static void add_linkers(struct word_list *words, char *const *own, const char *folder)
{
    bool is_static = false;
    for (size_t i = 0; own[i] != NULL; i++) is_static |= strcmp(own[i], "-static") == 0;
    for (; is_static && *own != NULL; own++) words_add(words, *own);
    if (is_static) return;
    words_add_linkers(words, own);
    words_add(words, emu_text("-L%s", folder));
    words_add(words, emu_text("-L%s/libraries/lib", folder));
}

/* ---- the tool -------------------------------------------------------------------------------- */

void emu_start_tool(char **own)
{
    char *path = own[0], folder[PATH_MAX];
    struct word_list words = {0};
    emu_library_folder(folder);
    words_add(&words, own[1]);
    if (word_ends(path, "nvcc"))
        add_nvccs(&words, path, own + 2, folder);
    else
        add_linkers(&words, own + 2, folder);
    emu_set(settings[SETTING_CHANGED].variable, emu_text("%ld", (long)getpid()));
    execv(path, words.at);
    emu_refuse("cannot run %s: %s", path, strerror(errno));
}
