/* command.h — what the files of the command emu offer each other. */
#ifndef EMU_COMMAND_H
#define EMU_COMMAND_H

#include "settings.h"
#include "common/emu/emu.h"
#include "common/emu/ptx/emu_elf.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* ---- options.c: the command line of emu ------------------------------------------------------ */

/* Printed by emu --version, and part of the name of the tarball that `make dist` makes. */
#define EMU_VERSION "1.0"

/* Reads the options, sets the EMU_* variables, and reads these (settings.h). Returns the index of
 * PROGRAM in argv. *report: --report. Ends the process after --help and the like, and with one
 * sentence if an option is wrong. */
int emu_options(int argc, char **argv, bool *report);

/* Ends the process with exit code 2 and "emu: sentence". */
__attribute__((format(printf, 1, 2), noreturn)) void emu_refuse(const char *format, ...);

/* Prints "emu: sentence" on stderr. */
__attribute__((format(printf, 1, 2))) void emu_note(const char *format, ...);

/* A text that is printed so, to be freed. */
__attribute__((format(printf, 1, 2))) char *emu_text(const char *format, ...);

/* Sets an environment variable. */
void emu_set(const char *name, const char *value);

/* ---- folders.c: where the command emu and the emulator's libraries lie ----------------------- */

/* This command's file. Ends the process with one sentence if it cannot be found. */
void emu_own_file(char path[PATH_MAX]);

/* The folder of this command. Ends the process with one sentence if it cannot be found. */
void emu_own_folder(char folder[PATH_MAX]);

/* The folder of the emulator's libraries: that of this command, as in build/emu, or else
 * ../lib/upsweep beside it, as `make install` lays them out. So an installed tree may be moved. */
void emu_library_folder(char folder[PATH_MAX]);

/* ---- environment.c: the environment in which programs run on the emulator -------------------- */

/* Puts the emulator's runtime in the place of NVIDIA's, for this process's program and for all that
 * are started by it. Ends the process if the emulator is not built. */
void emu_environment(void);

/* ---- command_nvcc.c: finds nvcc for `emu run` and for what other commands compile ------------ */

/* Finds nvcc: beside the Python package of this command, in $CUDA_HOME, in PATH, in
 * /usr/local/cuda, where `make setup` puts it, or where pip installs the package of PyPI. False: it
 * is in none of these places. */
bool nvcc_find(char path[PATH_MAX]);

/* Of the nvcc that pip installs with CUDA 13's package nvidia-cuda-nvcc: stores two words for it,
 * -L and a folder of libraries that the linker does not find by itself, nvcc's own, and the
 * emulator's in place of libcudart.so, which pip's packages do not have. Returns their number; 0:
 * it is another nvcc. */
size_t nvcc_pip_folders(const char *nvcc, char **words);

/* If there is no nvcc in PATH, and nvcc_find finds one: puts its folder at the end of PATH, and
 * sets CUDA_HOME and CUDA_PATH unless they are set. One beside this command's Python package comes
 * first in PATH. */
void nvcc_offer(void);

/* Of an nvcc whose toolkit has no cuBLAS or cuRAND: stores NVCC_STAND_INS words by which it finds
 * the emulator's headers and libraries, after all others. Returns their number; 0: the toolkit has
 * both. */
enum { NVCC_STAND_INS = 3 };
size_t nvcc_stand_ins(const char *nvcc, char **words);

/* ---- command_tools.c: changes the words of nvcc and of linkers below `emu make` -------------- */

/* With these words, makefiles for older toolkits, and for GPUs, make programs for the emulator. */

/* words[0] is the path of nvcc or of a linker, and what follows are its own words, from argv[0] on.
 * Becomes this program, with words that may be changed. */
_Noreturn void emu_start_tool(char **words);

/* Says a sentence on stderr: once for all tools below a command, when the command has ended. */
__attribute__((format(printf, 1, 2))) void emu_say_change(const char *format, ...);

/* ---- nvcc.c: the words of a command line, as they are changed for command_tools.c ------------ */

/* A list of words that ends with NULL. */
struct word_list {
    char **at;
    size_t count;
};

/* Adds a word, which is not copied. */
void words_add(struct word_list *, const char *word);

/* Adds words of nvcc, whose path is given, with what has to be changed in them. Does the same in
 * NVCC_PREPEND_FLAGS and NVCC_APPEND_FLAGS. */
void words_add_nvccs(struct word_list *, const char *nvcc, char *const *own);

/* Adds words of a linker, in which NVIDIA's static runtime becomes the shared one. */
void words_add_linkers(struct word_list *, char *const *own);

/* Does a word end so? */
bool word_ends(const char *word, const char *end);

/* ---- architectures.c: names of architectures in nvcc's words: sm_35, compute_35 -------------- */

enum named_by { BY_ARCH, BY_CODE, BY_GENCODE }; /* nvcc's options */

/* A copy of an option's value, to be freed, in which each architecture that this nvcc no longer
 * knows has become the next one that it knows. Each change is said once. */
char *architectures_known(const char *nvcc, const char *text, enum named_by);

/* What -gencode has to add, since these options would leave no PTX that the emulated GPU can run:
 * that of the newest architecture that they name. NULL: nothing. */
const char *architectures_ptx(void);

/* ---- children.c: running a command that is no CUDA program: a script, make, an interpreter --- */

/* Runs the file with these arguments to its end, and prints what the CUDA programs that it started
 * have reported, or in one sentence that it started none. Returns the exit code: the command's, or
 * 128 and the number of the signal that ended it. */
int emu_command(const char *path, char **arguments);

/* Opens a file in memory, and sets the variable to its name for the programs that this process
 * starts. */
int emu_open_memory(enum setting_id);

/* ---- run.c: `emu run FILE.cu`: compiles a source file, and runs what was made of it ---------- */

/* Compiles a CUDA source file, which may be NULL for none, into a temporary folder that is removed
 * when the process exits, and stores the program's path. Prints the command on stderr. Ends the
 * process with exit code 2 if there is no such file, no nvcc, or if nvcc finds mistakes. */
void emu_run_compile(const char *file, char program[PATH_MAX]);

/* Says that no kernel was launched, unless tables on stdout say it. */
void emu_tell_no_run(const char *program);

/* Runs the program with these arguments, as execv does, waits for it, and ends the process with its
 * exit code, or by the signal that ended the program. */
__attribute__((noreturn)) void emu_run_wait(const char *program, char *const *arguments);

/* ---- agreement.c: the option --report: how exact are the counters of a program's kernels? ---- */

/* Prints a line for each kernel that the program holds for a GPU; the program does not run. Returns
 * how many kernels there were, or -1 after writing one sentence into message[size]. */
int report_agreement(const struct elf *program, const struct emu_gpu *, FILE *out, char *message,
                     size_t size);

#endif
