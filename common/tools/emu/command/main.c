/* main.c — the command `emu`: its folders and environment, and what it runs. */
#define _GNU_SOURCE /* realpath, unsetenv */
#include "command.h"
#include "common/files/files.h"
#include "common/files/visible.h"
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- folders --------------------------------------------------------------------------------- */

/* Where /proc is not mounted, as in a bare chroot, the kernel has still said under which path the
 * command was started. */
static void emu_own_file(char path[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (length >= 0) {
        path[length] = '\0';
        return;
    }
    const char *started = (const char *)getauxval(AT_EXECFN);
    if (started == NULL || realpath(started, path) == NULL)
        emu_refuse("cannot find its own folder: %s", strerror(errno));
}

void emu_own_folder(char folder[PATH_MAX])
{
    emu_own_file(folder);
    *strrchr(folder, '/') = '\0';
}

void emu_library_folder(char folder[PATH_MAX])
{
    char own[PATH_MAX], beside[PATH_MAX + 32], installed[PATH_MAX + 32], *lib = NULL;
    emu_own_folder(own);
    snprintf(beside, sizeof beside, "%s/libcudart.so.13", own);
    snprintf(installed, sizeof installed, "%s/../lib/upsweep", own);
    if (access(beside, F_OK) != 0) lib = realpath(installed, NULL);
    snprintf(folder, PATH_MAX, "%s", lib != NULL ? lib : own);
    free(lib);
}

/* ---- the environment ------------------------------------------------------------------------- */

/* LD_LIBRARY_PATH, by which programs find the emulator's libcudart.so.13, and
 * LD_AUDIT, by which also those find it that have an RPATH (audit.c). */

/* Sets a variable that is a list to `first` and what it holds already. */
static void set_in_front(const char *name, const char *first)
{
    const char *others = getenv(name);
    bool alone = others == NULL || others[0] == '\0';
    char *value = emu_text("%s%s%s", first, alone ? "" : ":", alone ? "" : others);
    emu_set(name, value);
    free(value);
}

static char *own_file(const char *folder, const char *name)
{
    char *path = emu_text("%s/%s", folder, name);
    if (access(path, R_OK) != 0) emu_refuse("%s is missing; make emu builds it", path);
    return path;
}

/* With LD_AUDIT, glibc makes room for the thread-local memory of libraries before it knows them.
 * Its default is less than some libraries need. Much more would not fit on small stacks of
 * threads. */
#define TLS_ROOM "glibc.rtld.optional_static_tls=8192"

/* nvcc and linkers are started by this command, unless they are to stay unchanged (nvcc.c). */
static void set_tools(void)
{
    char own[PATH_MAX];
    unsetenv(settings[SETTING_CHANGER].variable);
    if (setting_is(SETTING_UNCHANGED, "1")) return;
    emu_own_file(own);
    emu_set(settings[SETTING_CHANGER].variable, own);
}

/* Puts the emulator's runtime in the place of NVIDIA's, for this process's program and for all that
 * are started by it. Ends the process if the emulator is not built. */
static void emu_environment(void)
{
    char folder[PATH_MAX];
    set_tools();
    emu_library_folder(folder);
    char *library = own_file(folder, "libcudart.so.13"),
         *audit = own_file(folder, "libemu_audit.so"),
         *drivers = emu_text("%s/libraries/lib", folder);
    set_in_front("LD_LIBRARY_PATH", drivers); /* for those who look for libcuda.so by themselves */
    set_in_front("LD_LIBRARY_PATH", folder);
    set_in_front("LD_AUDIT", audit);
    if (getenv("GLIBC_TUNABLES") == NULL) emu_set("GLIBC_TUNABLES", TLS_ROOM);
    emu_set(settings[SETTING_LIBRARY].variable, library);
    free(library);
    free(audit);
    free(drivers);
}

/* ---- the command `emu` ----------------------------------------------------------------------- */

/* It is used like ncu, and with --tool like compute-sanitizer.
 *
 * It checks that the program will load the emulator's runtime library, sets the EMU_* variables as
 * the options say, and runs the program. The library does the rest. The command waits for the
 * program, because that may end without telling the library (run.c), and for any other program,
 * because that may start CUDA programs (run.c). It also takes the place of nvcc and of linkers
 * for a moment (nvcc.c). */

/* ---- the program ----------------------------------------------------------------------------- */

static bool is_source(const char *name)
{
    size_t length = strlen(name);
    return length > 3 && strcmp(name + length - 3, ".cu") == 0;
}

/* Finds a program as a shell does: a name with a slash is a path, another is looked up in PATH. */
static void find_program(const char *name, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s", name);
    if (is_source(name) && access(name, R_OK) == 0 && access(name, X_OK) != 0)
        emu_refuse("%s is a source file: emu run %s", name, name);
    if (strchr(name, '/') == NULL) {
        if (program_path(name, path)) return;
        if (access(name, X_OK) == 0)
            emu_refuse("%s is not in PATH; for the one in this folder say ./%s", name, name);
        emu_refuse("there is no program %s in PATH", name);
    }
    if (access(path, X_OK) != 0) emu_refuse("cannot run %s: %s", path, strerror(errno));
}

/* Is it a file that a shell would read as a script? */
static bool is_script(const char *path)
{
    struct stat status;
    char magic[SELFMAG] = "";
    FILE *file = stat(path, &status) == 0 && S_ISREG(status.st_mode) ? fopen(path, "r") : NULL;
    if (file == NULL) return false;
    size_t length = fread(magic, 1, sizeof magic, file);
    fclose(file);
    return length > 0 && memcmp(magic, ELFMAG, length) != 0;
}

/* Is it a CUDA program itself, that will run on the emulator? Otherwise it is a command that may
 * start some; what stands in the way of both is refused. */
static bool is_emulated(const char *path)
{
    enum runtime runtime = elf_runtime(path);
    const char *why = elf_refusal(runtime);
    if (why != NULL) emu_refuse("%s %s", path, why);
    if (runtime == RUNTIME_UNREADABLE) emu_refuse("cannot read %s: %s", path, strerror(errno));
    if (runtime == RUNTIME_NO_PROGRAM && !is_script(path))
        emu_refuse("%s is not a program (ELF) for this machine, nor a script", path);
    return runtime == RUNTIME_SHARED || runtime == RUNTIME_OURS;
}

/* Refuses an output that is the program, a source file, or a file that the program's arguments
 * name, and refuses two that are the same file or a file that is read. */
static void check_outputs(const char *program, char *const *arguments)
{
    enum { WRITTEN = 4 };
    static const struct {
        const char *what;
        enum setting_id id;
    } files[] = {{"log file", SETTING_LOG_FILE},       {"trace", SETTING_TRACE},
                 {"SARIF file", SETTING_SARIF},        {"HTML file", SETTING_HTML},
                 {"annotated file", SETTING_ANNOTATE}, {"budget", SETTING_BUDGET},
                 {"baseline", SETTING_BASELINE}};
    for (size_t i = 0; i < WRITTEN; i++) {
        const char *path = setting_text(files[i].id),
                   *why = output_refusal(path, program, arguments);
        if (why != NULL) emu_refuse("the %s %s %s; choose another file", files[i].what, path, why);
        for (size_t k = i + 1; k < sizeof files / sizeof *files; k++)
            if (output_is_same(path, setting_text(files[k].id)))
                emu_refuse("the %s and the %s are one file, %s; choose another one", files[i].what,
                           files[k].what, path);
    }
}

/* --report */
static void print_agreement(const char *path)
{
    char message[2048];
    struct elf program;
    if (elf_open(path, &program) != RUNTIME_NONE)
        emu_refuse("%s is not a program (ELF) for this machine", path);
    const char *key = setting_text(SETTING_GPU);
    const struct emu_gpu *gpu = key != NULL ? emu_gpu_find(key) : emu_gpu_at(0);
    if (gpu == NULL) emu_refuse("there is no model \"%s\"; see emu --help", key);
    int kernels = report_agreement(&program, gpu, stdout, message, sizeof message);
    if (kernels < 0) emu_refuse("%s", message);
    if (kernels == 0) emu_refuse("%s holds no PTX that an emulated %s could run", path, gpu->name);
    elf_close(&program);
}

/* Finds the program that words[0] names, or makes it, where the words are `run FILE.cu`. Returns
 * the program's own words, words[0] being its name. */
static char **get_program(char **words, bool debugs, char path[PATH_MAX])
{
    bool runs = strcmp(words[0], "run") == 0;
    if (!runs && !(debugs && is_source(words[0]))) {
        find_program(words[0], path);
        return words;
    }
    words += runs;
    check_outputs("", words);
    emu_run_compile(words[0], debugs, path);
    words[0] = path;
    return words;
}

/* `emu dap`: what an editor asks (dap.py). */
_Noreturn static void become_adapter(void)
{
    char own[PATH_MAX], folder[PATH_MAX];
    emu_own_file(own);
    emu_library_folder(folder);
    execlp("python3", "python3", own_file(folder, "dap.py"), own, NULL);
    emu_refuse("emu dap needs python3, and cannot run it: %s; install the package python3",
               strerror(errno));
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[0], "emu-tool") == 0) emu_start_tool(argv + 1);
    bool report = false, debugs = false;
    char path[PATH_MAX], **given = argv + emu_options(argc, argv, &report);
    if (strcmp(given[0], "dap") == 0) become_adapter();
    if (strcmp(given[0], "debug") == 0) { /* options may follow this word, too */
        debugs = true;
        given[0] = argv[0];
        given += emu_options(argc - (int)(given - argv), given, &report);
    }
    char **words = get_program(given, debugs, path);
    if (report) {
        print_agreement(path);
        return EXIT_SUCCESS;
    }
    bool emulated = is_emulated(path);
    check_outputs(path, words + 1);
    emu_environment();
    if (debugs && !emulated) emu_refuse("%s is no CUDA program", path);
    if (debugs) emu_debug(path, words);
    if (!emulated) return emu_command(path, words);
    emu_run_wait(path, words);
}
