/*
 * end.c — a program that ends by _exit, _Exit, quick_exit or exec, which call no destructors: the
 * reports are written before.
 *
 * Programs find these functions here and not in the C library, because the dynamic linker looks
 * into libcudart.so first. It does so only if the version is the C library's. The versions are
 * marked as old ones ("@", not "@@"): so a linker does not take them, and the program runs on a
 * machine with NVIDIA's library, too. If a program loads libcudart.so with dlopen, or asks the
 * kernel itself, it is not noticed here: then only the command emu knows (report/outcome.h).
 */
#define _GNU_SOURCE /* RTLD_NEXT, environ, AT_EMPTY_PATH, on_exit */
#include "process.h"
#include "common/files/program_path.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __aarch64__
#define FIRST  "GLIBC_2.17"
#define SECOND FIRST
#else
#define FIRST  "GLIBC_2.2.5"
#define SECOND "GLIBC_2.11"
#endif
#define IN_PLACE_OF(name, version)                                                                 \
    __asm__(".symver cudart_" #name ", " #name "@" version);                                       \
    extern __typeof__(name) cudart_##name

IN_PLACE_OF(_exit, FIRST);
IN_PLACE_OF(_Exit, FIRST);
IN_PLACE_OF(execv, FIRST);
IN_PLACE_OF(execve, FIRST);
IN_PLACE_OF(execvp, FIRST);
IN_PLACE_OF(execl, FIRST);
IN_PLACE_OF(execlp, FIRST);
IN_PLACE_OF(execle, FIRST);
IN_PLACE_OF(fexecve, FIRST);
IN_PLACE_OF(execvpe, SECOND);

static int status;       /* the exit code */
static bool is_replaced; /* by exec */

int cudart_end_status(void) { return status; }

void cudart_end_with(int code) { status = code; }

static void note_status(int code, void *unused)
{
    (void)unused;
    status = code;
}

void cudart_observe_status(void) { on_exit(note_status, NULL); }

bool cudart_is_replaced(void) { return is_replaced; }

/* ---- exit ------------------------------------------------------------------------------------ */

/* Runs when the program ends by exit or by returning from main. It is the last to run (101),
 * because it may set the exit code. */
__attribute__((destructor(101))) static void end(void)
{
    cudart_leave_end_to_finish();
    cudart_go_on_at_end();
    cudart_end_trace(status);
    cudart_tables_write();
    cudart_check_end();
}

/* ---- _exit ----------------------------------------------------------------------------------- */

_Noreturn void cudart_leave(int code)
{
    for (;;) syscall(SYS_exit_group, code);
}

void cudart__exit(int code)
{
    status = code;
    cudart_write_before_end();
    cudart_leave(code);
}

void cudart__Exit(int code) { cudart__exit(code); }

/* Runs when the library is loaded: quick_exit calls last what was registered first. */
__attribute__((constructor)) static void observe_quick_exit(void)
{
    at_quick_exit(cudart_write_before_end);
}

/* ---- exec ------------------------------------------------------------------------------------ */

/* Is there such a program, in PATH if the name has no slash? */
static bool is_there(const char *file)
{
    char path[PATH_MAX];
    if (file == NULL) return false;
    return strchr(file, '/') != NULL ? access(file, X_OK) == 0 : program_path(file, path);
}

/* A program that has not used the device leaves the reports to the one that it becomes. */
static void before_exec(bool is_possible)
{
    int error = errno;
    if (!is_possible || !cudart_has_devices()) return;
    is_replaced = true;
    cudart_write_before_end();
    errno = error;
}

static int after_exec(void)
{
    int error = errno;
    if (is_replaced && cudart_is_owner()) {
        is_replaced = false;
        cudart_end_has_failed();
        cudart_print("exec has failed after the reports were written: what follows is not in them");
    }
    errno = error;
    return -1;
}

int cudart_execve(const char *path, char *const words[], char *const environment[])
{
    before_exec(is_there(path));
    syscall(SYS_execve, path, words, environment);
    return after_exec();
}

int cudart_execv(const char *path, char *const words[])
{
    return cudart_execve(path, words, environ);
}

int cudart_fexecve(int file, char *const words[], char *const environment[])
{
    before_exec(fcntl(file, F_GETFD) >= 0);
    syscall(SYS_execveat, file, "", words, environment, AT_EMPTY_PATH);
    return after_exec();
}

/* A file without #! is a script for the C library's function. */
int cudart_execvpe(const char *file, char *const words[], char *const environment[])
{
    static __typeof__(execvpe) *next;
    if (next == NULL) next = (__typeof__(execvpe) *)dlsym(RTLD_NEXT, "execvpe");
    before_exec(is_there(file));
    next(file, words, environment);
    return after_exec();
}

int cudart_execvp(const char *file, char *const words[])
{
    return cudart_execvpe(file, words, environ);
}

/* The arguments of execl and its like, up to NULL, as an array on the caller's stack. */
enum { MOST_WORDS = 4096 };

static void collect(char *words[MOST_WORDS], const char *first, va_list *rest)
{
    size_t count = 0;
    for (const char *word = first; word != NULL && count < MOST_WORDS - 1;
         word = va_arg(*rest, const char *))
        words[count++] = (char *)word;
    words[count] = NULL;
}

#define COLLECT(rest)                                                                              \
    char *words[MOST_WORDS];                                                                       \
    va_list rest;                                                                                  \
    va_start(rest, word);                                                                          \
    collect(words, word, &rest)

int cudart_execl(const char *path, const char *word, ...)
{
    COLLECT(rest);
    va_end(rest);
    return cudart_execv(path, words);
}

int cudart_execlp(const char *file, const char *word, ...)
{
    COLLECT(rest);
    va_end(rest);
    return cudart_execvp(file, words);
}

int cudart_execle(const char *path, const char *word, ...)
{
    COLLECT(rest);
    char *const *environment = va_arg(rest, char *const *);
    va_end(rest);
    return cudart_execve(path, words, environment);
}
