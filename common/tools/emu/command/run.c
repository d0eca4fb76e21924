/* run.c — runs a source file, or a command that is no CUDA program. */
#define _GNU_SOURCE /* asprintf, memfd_create */
#include "command.h"
#include "common/tools/emu/report/report.h"
#include "common/files/visible.h"
#include "common/files/files.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the files in memory --------------------------------------------------------------------- */

/* Its name is in the variable, for them. */
static int emu_open_memory(enum setting_id id)
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

/* ---- `emu run FILE.cu`: compiles a source file, and runs the program ------------------------- */

enum { NOT_RUN = 127, MAX_WORDS = 24 };

static char temporary_folder[PATH_MAX / 2], temporary_program[PATH_MAX];

static void remove_temporary(void)
{
    unlink(temporary_program);
    rmdir(temporary_folder);
}

/* The program is called as its source, without ".cu": reports name it. */
static void make_temporary(const char *file)
{
    const char *parent = getenv("TMPDIR"), *name = strrchr(file, '/');
    if (parent == NULL || *parent == '\0') parent = "/tmp";
    snprintf(temporary_folder, sizeof temporary_folder, "%s/emu-run-XXXXXX", parent);
    if (mkdtemp(temporary_folder) == NULL)
        emu_refuse("cannot make a folder in %s: %s; set TMPDIR to a folder that can be written",
                   parent, strerror(errno));
    name = name != NULL ? name + 1 : file;
    snprintf(temporary_program, sizeof temporary_program, "%s/%.*s", temporary_folder,
             (int)(strlen(name) - strlen(".cu")), name);
    atexit(remove_temporary);
}

/* ---- running and waiting --------------------------------------------------------------------- */

static const int passed_on[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM};
enum { PASSED_ON = sizeof passed_on / sizeof *passed_on };
static struct sigaction before[PASSED_ON];
static volatile sig_atomic_t child, received;

/* A terminal sends Ctrl-C to the child, too (SI_KERNEL); a signal from a process is handed on. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    (void)context;
    received = number;
    if (child > 0 && info->si_code != SI_KERNEL) kill((pid_t)child, number);
}

/* From here to the end of the process, handles the signals of passed_on[], except those that were
 * ignored when emu was started. */
static void handle_signals(void)
{
    static bool are_handled;
    if (are_handled) return;
    are_handled = true;
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART};
    action.sa_sigaction = pass_on;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < PASSED_ON; i++) {
        sigaction(passed_on[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN) sigaction(passed_on[i], &action, NULL);
    }
}

/* Blocks or unblocks these signals; stores the mask before. */
static void set_blocked(int how, sigset_t *mask)
{
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < PASSED_ON; i++) sigaddset(&set, passed_on[i]);
    sigprocmask(how, &set, mask);
}

/* Ends emu by a signal, without a core file of its own. */
__attribute__((noreturn)) static void end_by(int number)
{
    remove_temporary();
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    signal(number, SIG_DFL);
    set_blocked(SIG_UNBLOCK, NULL);
    raise(number);
    _exit(128 + number);
}

/* In the child: becomes the program. It is killed if emu is killed. */
static void become(const char *program, char *const *arguments, bool to_stderr,
                   const sigset_t *mask)
{
    for (int i = 0; i < PASSED_ON; i++) sigaction(passed_on[i], &before[i], NULL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (to_stderr) dup2(STDERR_FILENO, STDOUT_FILENO);
    execvp(program, arguments); /* as a shell does, with /bin/sh for a file without #! */
    fprintf(stderr, "emu: cannot run %s: %s\n", program, strerror(errno));
    _exit(NOT_RUN);
}

/* Runs a program and returns how it ended, as waitpid does. A signal that came before ends emu; one
 * that comes while the child is made waits until the child can get it. */
static int run_child(const char *program, char *const *arguments, bool to_stderr)
{
    sigset_t mask;
    int status;
    set_blocked(SIG_BLOCK, &mask);
    if (received) end_by(received);
    child = fork();
    if (child == 0) become(program, arguments, to_stderr, &mask);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    if (child < 0) emu_refuse("cannot start %s: %s", program, strerror(errno));
    while (waitpid((pid_t)child, &status, 0) < 0 && errno == EINTR) continue;
    child = 0;
    return status;
}

/* ---- compiling ------------------------------------------------------------------------------- */

static void check_file(const char *file)
{
    if (file == NULL) emu_refuse("which file? usage: emu [options] run FILE.cu [arguments]");
    size_t length = strlen(file);
    if (file[0] == '-')
        emu_refuse("emu run takes a file first, not %s; options of emu stand before run", file);
    if (length <= strlen(".cu") || strcmp(file + length - strlen(".cu"), ".cu") != 0 ||
        file[length - strlen("/.cu")] == '/')
        emu_refuse("emu run compiles a file FILE.cu, not %s; a program that is called run is ./run",
                   file);
    if (access(file, R_OK) != 0) emu_refuse("cannot read %s: %s", file, strerror(errno));
}

/* -arch=sm_90 for the GPU that is emulated: its machine code, and PTX. */
static void set_arch(char *text, size_t size)
{
    const char *key = setting_text(SETTING_GPU);
    const struct emu_gpu *gpu = key != NULL ? emu_gpu_find(key) : emu_gpu_at(0);
    if (gpu == NULL) emu_refuse("there is no model \"%s\"; see emu --help", key);
    snprintf(text, size, "-arch=sm_%d%d", gpu->major, gpu->minor);
}

/* Prints a command. Words with other characters than these are quoted. */
static void print_command(char *const *words)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_=./+,:@%";
    fputs("emu:", stderr);
    for (; *words != NULL; words++) {
        bool quoted = (*words)[strspn(*words, plain)] != '\0';
        fputs(quoted ? " '" : " ", stderr);
        visible_print(stderr, *words, strlen(*words));
        if (quoted) fputc('\'', stderr);
    }
    fputc('\n', stderr);
}

/* Adds the libraries that the source file names by their headers, and the folder where the emulator
 * has its own in place of the first three. */
static size_t add_libraries(const char *nvcc, const char *file, char **words)
{
    enum { CUBLAS, CURAND, DRIVER, NVRTC, LIBRARIES };
    static const char *const options[] = {"-lcublas", "-lcurand", "-lcuda", "-lnvrtc"};
    static const char *const headers[] = {"cublas", "curand", "<cuda.h>", "<nvrtc.h>"};
    bool is_named[LIBRARIES] = {false};
    char line[4096], folder[PATH_MAX];
    FILE *source = fopen(file, "r");
    size_t count = 0;
    while (source != NULL && fgets(line, sizeof line, source) != NULL)
        for (int i = 0; i < LIBRARIES; i++)
            if (strstr(line, headers[i]) != NULL) is_named[i] = true;
    if (source != NULL) fclose(source);
    emu_library_folder(folder);
    if (is_named[CUBLAS] || is_named[CURAND]) count = nvcc_stand_ins(nvcc, words);
    is_named[DRIVER] |= is_named[NVRTC]; /* what NVRTC makes is loaded by the driver API */
    if (is_named[DRIVER]) words[count++] = emu_text("-L%s/libraries/lib", folder);
    for (int i = 0; i < LIBRARIES; i++)
        if (is_named[i]) words[count++] = (char *)options[i];
    return count;
}

/* Runs nvcc. Its messages go to stderr, as they are. */
static void compile(char *nvcc, char *file, bool debugs)
{
    char arch[32], *lines = debugs ? "-G" : "-lineinfo";
    char *words[MAX_WORDS] = {nvcc, arch, lines, "-cudart", "shared", "-g"};
    size_t count = 6;
    set_arch(arch, sizeof arch);
    count += nvcc_pip_folders(nvcc, words + count);
    words[count++] = "-o";
    words[count++] = temporary_program;
    words[count++] = file;
    count += add_libraries(nvcc, file, words + count);
    print_command(words);
    int status = run_child(nvcc, words, true);
    if (received) end_by(received);
    if (status != 0) emu_refuse("%s was not compiled; nvcc says above why", file);
}

/* nvcc says of a missing g++ only that it cannot execute something. Variables may name another. */
static void check_host_compiler(void)
{
    static const char *const naming[] = {"NVCC_CCBIN", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"};
    char path[PATH_MAX];
    for (int i = 0; i < 3; i++)
        if (getenv(naming[i]) != NULL) return;
    if (!program_path("g++", path))
        emu_refuse("nvcc needs g++, which is not in PATH; install the package g++ (gcc-c++ on"
                   " Fedora and RHEL)");
}

void emu_run_compile(const char *file, bool debugs, char program[PATH_MAX])
{
    char nvcc[PATH_MAX];
    check_file(file);
    if (!nvcc_find(nvcc))
        emu_refuse("emu run needs nvcc, which is not in $CUDA_HOME, PATH or /usr/local/cuda;"
                   " pip install \"upsweep[nvcc]\" (if emu is a wheel's), or install a CUDA 13"
                   " toolkit, or nvidia-cuda-nvcc with pip, or set CUDA_HOME");
    check_host_compiler();
    handle_signals();
    make_temporary(file);
    compile(nvcc, (char *)file, debugs);
    snprintf(program, PATH_MAX, "%s", temporary_program);
}

/* ---- limits ---------------------------------------------------------------------------------- */

enum { EXIT_EXCESS = 4 }; /* as of a program that exceeds a limit */

/* The kernels of a budget or baseline that no program has run. The programs have read the same file
 * before, so it can be read. */
static size_t count_missing_in(enum setting_id id,
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

static size_t count_missing(int kernels)
{
    return count_missing_in(SETTING_BUDGET, budget_read, kernels) +
           count_missing_in(SETTING_BASELINE, baseline_read, kernels);
}

/* ---- the program ----------------------------------------------------------------------------- */

/* Did the program say so? */
static bool has_told(int outcome, enum outcome what)
{
    size_t size;
    const char *told = content_of(outcome, &size);
    return memchr(told, what, size) != NULL;
}

/* Says that no kernel was launched, unless tables on stdout say it. */
static void emu_tell_no_run(const char *program)
{
    if (setting_text(SETTING_TOOL) != NULL || setting_text(SETTING_LOG_FILE) != NULL ||
        setting_text(SETTING_CSV) != NULL || setting_text(SETTING_JSON) != NULL)
        emu_note("no kernel was launched by %s", program);
}

/* A checker may say more of a program that has copied fresh memory, or has failed although the
 * emulator has found no error: its results may be wrong. */
static void name_checkers(int outcome, int status)
{
    bool has_failed = WIFEXITED(status) && status != 0 && !has_told(outcome, OUTCOME_ERROR);
    if (!has_told(outcome, OUTCOME_RUN) || setting_text(SETTING_TOOL) != NULL) return;
    if (setting_text(SETTING_BUDGET) != NULL || setting_text(SETTING_BASELINE) != NULL) return;
    if (has_told(outcome, OUTCOME_FRESH))
        emu_note("the program has copied words 0xcdcdcdcd to the host: memory in which nothing has"
                 " been stored holds them; --tool all says where");
    else if (has_failed)
        emu_note("the kernels have run; if results are wrong, --tool all looks for races and memory"
                 " that is not set");
}

void emu_run_wait(const char *program, char *const *arguments)
{
    int outcome = emu_open_memory(SETTING_OUTCOME), kernels = emu_open_memory(SETTING_KERNELS);
    int code = (int)setting_number(SETTING_ERROR_EXITCODE);
    handle_signals();
    int status = run_child(program, arguments, false);
    if (status == 0 && !has_told(outcome, OUTCOME_RUN)) emu_tell_no_run(program);
    name_checkers(outcome, status);
    bool is_excess = (has_told(outcome, OUTCOME_LOADED) && count_missing(kernels) > 0) ||
                     has_told(outcome, OUTCOME_EXCESS);
    if (code != 0 && has_told(outcome, OUTCOME_ERROR)) exit(code);
    if (status == 0 && is_excess) exit(EXIT_EXCESS);
    if (WIFSIGNALED(status)) end_by(WTERMSIG(status));
    exit(WEXITSTATUS(status));
}

/* ---- runs a command that is no CUDA program -------------------------------------------------- */

/* The CUDA programs that a command starts may have their output redirected, and may run at the same
 * time. So each adds its parts of the reports to files in memory, which become one report of each
 * form when the command has ended. Another such file gets a byte from each program
 * (runtime/process.c). The programs find them by the names that Linux gives to open files,
 * in EMU_REPORTS and other variables. */

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
    c->path = path != NULL ? allocated(strdup(path)) : NULL;
    c->file = emu_open_memory(c->parts);
    unsetenv(settings[c->setting].variable);
}

static void write_collected(const struct collected *c, const char *title)
{
    size_t size, length;
    const char *parts = content_of(c->file, &size);
    char *text;
    FILE *memory = allocated(open_memstream(&text, &length));
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

/* ---- the command ----------------------------------------------------------------------------- */

/* The programs add to the checkers' log: it is emptied once, here. */
static void empty_check_log(void)
{
    const char *log = setting_text(SETTING_CHECK_LOG);
    if (log == NULL || strcmp(log, "stdout") == 0 || strcmp(log, "stderr") == 0) return;
    int file = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) emu_refuse("cannot write the log file %s: %s", log, strerror(errno));
    close(file);
}

/* What nvcc.c has changed. */
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
    handle_signals();
    int status = run_child(path, arguments, false);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    print_changes(changes);
    size_t size;
    const char *bytes = content_of(seen, &size);
    if (size == 0)
        emu_note("%s started no program that uses CUDA's runtime, so nothing was emulated"
                 " (a program that is linked statically with the C library, too, is not always"
                 " noticed)",
                 path);
    else if (code == 0 && memchr(bytes, OUTCOME_RUN, size) == NULL)
        emu_tell_no_run(path);
    for (int i = 0; i < FORMS; i++) {
        bool is_wanted = i == REPORT ? counts && (size > 0 || all[i].has_form) : true;
        if (all[i].file >= 0 && is_wanted) write_collected(&all[i], path);
        free(all[i].path);
    }
    return count_missing(kernels) > 0 && code == 0 ? EXIT_EXCESS : code;
}
