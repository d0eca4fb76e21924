/*
 * children.c — runs a command that is no CUDA program.
 *
 * The CUDA programs that a command starts may have their output redirected, and may run at the same
 * time. So each adds its parts of the reports to files in memory, which become one report of each
 * form when the command has ended. Another such file gets a byte from each program
 * (runtime/parent.c). The programs find them by the names that Linux gives to open files,
 * in EMU_REPORTS and other variables.
 */
#define _GNU_SOURCE /* memfd_create */
#include "command.h"
#include "common/emu/report/budget.h"
#include "common/files/whole_file.h"

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

enum { EXIT_EXCESS = 4 }; /* as of a program that exceeds a limit */

static volatile sig_atomic_t child;

/* ---- the files in memory --------------------------------------------------------------------- */

int emu_open_memory(enum setting_id id)
{
    const char *variable = settings[id].variable;
    int file = memfd_create(variable, MFD_CLOEXEC);
    if (file < 0) emu_refuse("cannot make a file in memory: %s", strerror(errno));
    char *name = emu_text("/proc/%ld/fd/%d", (long)getpid(), file);
    emu_set(variable, name);
    free(name);
    return file;
}

static size_t size_of(int file)
{
    struct stat status;
    return fstat(file, &status) == 0 ? (size_t)status.st_size : 0;
}

/* The file's content, and its size; "" if it is empty. */
static const char *content_of(int file, size_t *size)
{
    *size = size_of(file);
    const char *text = *size > 0 ? mmap(NULL, *size, PROT_READ, MAP_PRIVATE, file, 0) : "";
    if (text == MAP_FAILED) emu_refuse("cannot read the reports: %s", strerror(errno));
    return text;
}

/* ---- the reports ----------------------------------------------------------------------------- */

/* What the programs put together, and where it goes. */
struct collected {
    enum setting_id parts, setting; /* of the parts' file, and of the path that the user gave */
    bool has_form;                  /* it is one document, and not one text after the other */
    enum document_form form;
    int file; /* -1: not wanted */
    char *path;
};

static bool is_set(enum setting_id id) { return setting_text(id) != NULL && !setting_is(id, "0"); }

/* The programs are not told the path: what they write goes into the parts. */
static void begin_collecting(struct collected *c)
{
    const char *path = setting_text(c->setting);
    c->path = path != NULL ? strdup(path) : NULL;
    if (path != NULL && c->path == NULL) emu_refuse("out of memory");
    c->file = emu_open_memory(c->parts);
    unsetenv(settings[c->setting].variable);
}

static void write_collected(const struct collected *c, const char *title)
{
    size_t size, length;
    const char *parts = content_of(c->file, &size);
    char *text;
    FILE *memory = open_memstream(&text, &length);
    if (memory == NULL) emu_refuse("out of memory");
    if (c->has_form)
        document_join(memory, c->form, title, parts, size);
    else
        fwrite(parts, 1, size, memory);
    int error = fclose(memory) == 0 ? 0 : errno;
    if (error == 0 && (length > 0 || c->path != NULL))
        error = whole_file_write(c->path, text, length);
    if (error != 0)
        emu_refuse("the report is not written to %s: %s", c->path != NULL ? c->path : "stdout",
                   strerror(error));
    free(text);
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* The kernels of a budget or baseline that no program has run. The programs have read the same file
 * before, so it can be read. */
static size_t count_missing(enum setting_id id,
                            struct budget *(*read)(const char *, char *message, size_t size),
                            int kernels)
{
    char message[1000];
    size_t size, missing;
    const char *path = setting_text(id), *names = content_of(kernels, &size);
    struct budget *limits = path != NULL ? read(path, message, sizeof message) : NULL;
    if (path != NULL && limits == NULL) emu_refuse("%s", message);
    missing = limits != NULL ? budget_check_missing(stderr, limits, names, size) : 0;
    budget_free(limits);
    return missing;
}

/* ---- the command ----------------------------------------------------------------------------- */

static void pass_to_child(int number) { kill((pid_t)child, number); }

/* Ctrl-C reaches the command, too, which decides what it does. Other signals are passed on. */
static void set_signals(void)
{
    static const int passed[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) signal(passed[i], pass_to_child);
}

/* Becomes the command. A file that Linux cannot execute is taken for a script, as by a shell. */
_Noreturn static void become_child(const char *path, char **arguments)
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
    const char *log = setting_text(SETTING_CHECK_LOG);
    if (log == NULL || strcmp(log, "stdout") == 0 || strcmp(log, "stderr") == 0) return;
    int file = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) emu_refuse("cannot write the log file %s: %s", log, strerror(errno));
    close(file);
}

/* Runs it, and returns its exit code. */
static int run_in_child(const char *path, char **arguments)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) emu_refuse("cannot start %s: %s", path, strerror(errno));
    if (pid == 0) become_child(path, arguments);
    child = pid;
    set_signals();
    return wait_for_child();
}

/* What command_tools.c has changed. */
static void print_changes(int changes)
{
    size_t size;
    const char *line = content_of(changes, &size), *end = line + size;
    if (size == 0) return;
    for (const char *next; line < end; line = next + 1) {
        next = memchr(line, '\n', (size_t)(end - line));
        emu_note("%.*s", (int)(next - line), line);
    }
    emu_note("with --unchanged, nvcc and the linker get their words as they are");
}

int emu_command(const char *path, char **arguments)
{
    enum { REPORT, SARIF, HTML, FORMS };
    struct collected all[FORMS] = {
        {SETTING_REPORTS, SETTING_LOG_FILE, is_set(SETTING_JSON), DOCUMENT_JSON, -1, NULL},
        {SETTING_SARIF_PARTS, SETTING_SARIF, true, DOCUMENT_SARIF, -1, NULL},
        {SETTING_HTML_PARTS, SETTING_HTML, true, DOCUMENT_HTML, -1, NULL}};
    bool counts = is_set(SETTING_COUNTERS) || is_set(SETTING_JSON) || is_set(SETTING_ANNOTATE);
    int seen = emu_open_memory(SETTING_SEEN), kernels = emu_open_memory(SETTING_KERNELS),
        changes = emu_open_memory(SETTING_CHANGES);
    for (int i = 0; i < FORMS; i++)
        if (i == REPORT || is_set(all[i].setting)) begin_collecting(&all[i]);
    empty_check_log();
    if (!setting_is(SETTING_UNCHANGED, "1")) nvcc_offer();
    int code = run_in_child(path, arguments);
    print_changes(changes);
    size_t size;
    const char *bytes = content_of(seen, &size);
    if (size == 0)
        emu_note("%s started no program that uses CUDA's runtime, so nothing was emulated"
                 " (a program that is linked statically with the C library, too, is not always"
                 " noticed)",
                 path);
    else if (code == 0 && memchr(bytes, 'k', size) == NULL)
        emu_tell_no_run(path);
    for (int i = 0; i < FORMS; i++) {
        bool is_wanted = i == REPORT ? counts && (size > 0 || all[i].has_form) : true;
        if (all[i].file >= 0 && is_wanted) write_collected(&all[i], path);
        free(all[i].path);
    }
    size_t missing = count_missing(SETTING_BUDGET, budget_read, kernels) +
                     count_missing(SETTING_BASELINE, baseline_read, kernels);
    return missing > 0 && code == 0 ? EXIT_EXCESS : code;
}
