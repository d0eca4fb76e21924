/* command.h — what the files of the command emu offer each other. */
#ifndef EMU_COMMAND_H
#define EMU_COMMAND_H

#include "settings.h"
#include "common/tools/emu/emu.h"
#include "common/tools/emu/ptx/binary.h"

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

/* ---- main.c: where the command emu and the emulator's libraries lie -------------------------- */

/* The folder of this command. Ends the process with one sentence if it cannot be found. */
void emu_own_folder(char folder[PATH_MAX]);

/* The folder of the emulator's libraries: that of this command, as in build/emu, or else
 * ../lib/upsweep beside it, as `make install` lays them out. So an installed tree may be moved. */
void emu_library_folder(char folder[PATH_MAX]);

/* ---- nvcc.c: finds nvcc for `emu run` and for what other commands compile -------------------- */

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

/* ---- nvcc.c: changes the words of nvcc and of linkers below `emu make` ----------------------- */

/* With these words, makefiles for older toolkits, and for GPUs, make programs for the emulator. */

/* words[0] is the path of nvcc or of a linker, and what follows are its own words, from argv[0] on.
 * Becomes this program, with words that may be changed. */
_Noreturn void emu_start_tool(char **words);

/* ---- run.c: running a command that is no CUDA program: a script, make, an interpreter -------- */

/* Runs the file with these arguments to its end, and prints what the CUDA programs that it started
 * have reported, or in one sentence that it started none. Returns the exit code: the command's, or
 * 128 and the number of the signal that ended it. */
int emu_command(const char *path, char **arguments);

/* ---- run.c: `emu run FILE.cu`: compiles a source file, and runs what was made of it ---------- */

/* Compiles a CUDA source file, which may be NULL for none, into a temporary folder that is removed
 * when the process exits, and stores the program's path. Prints the command on stderr. Ends the
 * process with exit code 2 if there is no such file, no nvcc, or if nvcc finds mistakes. */
void emu_run_compile(const char *file, bool debugs, char program[PATH_MAX]);

/* Runs the program with these arguments, as execv does, waits for it, and ends the process with its
 * exit code, or by the signal that ended the program. */
__attribute__((noreturn)) void emu_run_wait(const char *program, char *const *arguments);

/* ---- debug.c: `emu debug` -------------------------------------------------------------------- */

/* Adds a line that the debugger is given before all others: of --command, or those of a file. */
void emu_debug_command(const char *line);
void emu_debug_commands(const char *path);
/* Runs the program under the debugger, and ends the process with its exit code. */
__attribute__((noreturn)) void emu_debug(const char *program, char *const *arguments);

/* ---- agreement.c: the option --report: how exact are the counters of a program's kernels? ---- */

/* Prints a line for each kernel that the program holds for a GPU; the program does not run. Returns
 * how many kernels there were, or -1 after writing one sentence into message[size]. */
int report_agreement(const struct elf *program, const struct emu_gpu *, FILE *out, char *message,
                     size_t size);

#endif
