/*
 * emu_command.c — see emu_command.h.
 *
 * The CUDA programs that a command starts may have their output redirected, and may run at the same
 * time. So each adds its report to a file in memory, which is printed when the command has ended.
 * Another such file gets a byte from each (runtime/cudart_parent.c). The programs find them by the
 * names that Linux gives to open files, in EMU_REPORTS and EMU_SEEN.
 */
#define _GNU_SOURCE /* memfd_create, asprintf */
#include "emu_command.h"
#include "common/files/whole_file.h"
#include "emu_options.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t child;

/* ---- the files in memory --------------------------------------------------------------------- */

static int open_memory(const char *variable)
{
    char *name;
    int file = memfd_create(variable, MFD_CLOEXEC);
    if (file < 0) emu_refuse("cannot make a file in memory: %s", strerror(errno));
    if (asprintf(&name, "/proc/%ld/fd/%d", (long)getpid(), file) < 0) emu_refuse("out of memory");
    emu_set(variable, name);
    free(name);
    return file;
}

static size_t size_of(int file)
{
    struct stat status;
    return fstat(file, &status) == 0 ? (size_t)status.st_size : 0;
}

/* Each report is whole; the log file is, too. */
static void print_reports(int file, const char *log)
{
    size_t size = size_of(file);
    int error = 0;
    if (size == 0 && log == NULL) return;
    char *text = size > 0 ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0) : "";
    if (text == MAP_FAILED) error = errno;
    if (error == 0) error = whole_file_write(log, text, size);
    if (error != 0)
        emu_refuse("the report is not written to %s: %s", log != NULL ? log : "stdout",
                   strerror(error));
}

/* ---- the command ----------------------------------------------------------------------------- */

static void pass_on(int number) { kill((pid_t)child, number); }

/* Ctrl-C reaches the command, too, which decides what it does. Other signals are passed on. */
static void set_signals(void)
{
    static const int passed[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) signal(passed[i], pass_on);
}

/* Becomes the command. A file that Linux cannot execute is taken for a script, as by a shell. */
_Noreturn static void become(const char *path, char **arguments)
{
    execv(path, arguments);
    if (errno == ENOEXEC) {
        size_t count = 0;
        while (arguments[count] != NULL) count++;
        char **shell = calloc(count + 2, sizeof *shell);
        if (shell == NULL) emu_refuse("out of memory");
        shell[0] = "sh";
        shell[1] = (char *)path;
        for (size_t i = 1; i < count; i++) shell[i + 1] = arguments[i];
        execv("/bin/sh", shell);
    }
    emu_refuse("cannot run %s: %s", path, strerror(errno));
}

static int wait_for_child(void)
{
    int status;
    while (waitpid((pid_t)child, &status, 0) < 0)
        if (errno != EINTR) emu_refuse("cannot wait for the command: %s", strerror(errno));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The programs add to the checkers' log: it is emptied once, here. */
static void empty_check_log(void)
{
    const char *log = getenv("EMU_CHECK_LOG");
    if (log == NULL || strcmp(log, "stdout") == 0 || strcmp(log, "stderr") == 0) return;
    int file = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) emu_refuse("cannot write the log file %s: %s", log, strerror(errno));
    close(file);
}

int emu_command(const char *path, char **arguments)
{
    char *log = getenv("EMU_LOG_FILE");
    if (log != NULL && (log = strdup(log)) == NULL) emu_refuse("out of memory");
    int reports = open_memory("EMU_REPORTS"), seen = open_memory("EMU_SEEN");
    unsetenv("EMU_LOG_FILE");
    empty_check_log();
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) emu_refuse("cannot start %s: %s", path, strerror(errno));
    if (pid == 0) become(path, arguments);
    child = pid;
    set_signals();
    int code = wait_for_child();
    bool counts = strcmp(getenv("EMU_COUNTERS"), "0") != 0;
    if (size_of(seen) == 0)
        emu_note("%s started no program that uses CUDA's runtime, so nothing was emulated", path);
    else if (counts)
        print_reports(reports, log);
    free(log);
    return code;
}
