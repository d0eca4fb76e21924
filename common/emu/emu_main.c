/*
 * emu_main.c — the command `emu`, which is used like ncu, and with --tool like compute-sanitizer.
 *
 * It checks that the program will find the emulator's runtime library, describes in EMU_* variables
 * what is wanted, and becomes the program. The library does the rest.
 */
#define _GNU_SOURCE /* asprintf */
#include "common/emu/check/check_tools.h"
#include "emu.h"
#include "common/emu/binary/emu_elf.h"
#include "common/files/output_file.h"
#include "common/emu/count/emu_report.h"
#include "common/emu/count/metrics.h"
#include "common/files/replacement.h"
#include "common/files/visible.h"
#include "common/files/whole_file.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { USAGE_ERROR = 2, MAX_THREADS = 1024, MAX_DEVICES = EMU_MAX_PEERS + 1 };

__attribute__((format(printf, 1, 2), noreturn)) static void refuse(const char *format, ...)
{
    char sentence[2 * PATH_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    fputs("emu: ", stderr);
    visible_print(stderr, sentence, strlen(sentence));
    fputc('\n', stderr);
    exit(USAGE_ERROR);
}

static void set(const char *name, const char *value)
{
    if (setenv(name, value, 1) != 0) refuse("cannot set %s: %s", name, strerror(errno));
}

/* ---- help ------------------------------------------------------------------------------------ */

static const char usage[] =
    "usage: emu [options] PROGRAM [arguments]\n"
    "Runs a CUDA program on an emulated GPU and prints what its kernels did, as ncu would,\n"
    "or with --tool what is wrong with them, as compute-sanitizer would.\n"
    "\n"
    "  --csv               as CSV, in the layout of ncu --csv --page raw\n"
    "  --log-file FILE     into FILE, or stdout (the default), or stderr\n"
    "  --metrics M,...     these metrics\n"
    "  -k, --kernel-name NAME|regex:EXPRESSION\n"
    "                      only kernels whose function has this name\n"
    "  --page raw|source   totals of each launch, or the counts of each source line\n"
    "  --per-line          the same as --page source\n"
    "  --trace FILE        write every access to shared and global memory, as text\n"
    "  --gpu MODEL         the GPU to be\n"
    "  --model RULES       count memory by the rules of g80, gt200, fermi, kepler4, kepler8\n"
    "  --devices N         how many of them, 1 to 16; default: 1\n"
    "  --threads N         host threads, 1 to 1024; default: every core\n"
    "\n"
    "  --tool TOOL,...     check, as compute-sanitizer does, in place of counting; tools:\n"
    "                      memcheck, racecheck, initcheck, synccheck, all\n"
    "  --error-exitcode N  exit with N if there were errors (without --tool: if a kernel failed);\n"
    "                      0, the default: as the program does\n"
    "  --print-limit N     findings to print, 0: all; default: 100\n"
    "  --leak-check full|no\n"
    "                      memcheck: list the memory that the program did not free; default: no\n"
    "  --report-api-errors explicit|no\n"
    "                      memcheck: report runtime functions that return an error; default:\n"
    "                      explicit\n"
    "  --schedule SEED     let lanes, warps and blocks take turns by chance: the same for the "
    "same\n"
    "                      number, from 1 on; random: for one that is printed\n"
    "  --blocks ORDER      begin blocks in ascending order of their index (the default), or in\n"
    "                      descending order, which a GPU may do as well\n"
    "  --log-file FILE     the findings into FILE, or stdout, or stderr (the default with --tool)\n"
    "\n"
    "  --report            run nothing: list PROGRAM's kernels, and whether ptxas kept their "
    "accesses\n"
    "                      as they are in PTX, so that a GPU counts what is counted here\n"
    "\n"
    "  --nvcc-flags        print the flags that make nvcc link the emulator into a program:\n"
    "                      NVCC_PREPEND_FLAGS=\"$(emu --nvcc-flags)\" make\n"
    "  --help, --version\n"
    "\n"
    "PROGRAM must be linked with nvcc -cudart shared, or with the flags above. Its output and\n"
    "exit code are its own; the report follows when it ends by exit or return. Kernel names are\n"
    "those of ncu --print-kernel-base function. Exit code 2: wrong usage.\n";

static void print_help(void)
{
    fputs(usage, stdout);
    puts("\nModels:");
    const struct emu_gpu *gpu;
    for (size_t i = 0; (gpu = emu_gpu_at(i)) != NULL; i++)
        printf("  %-10s %s, compute capability %d.%d%s\n", gpu->key, gpu->name, gpu->major,
               gpu->minor, i == 0 ? " (default)" : "");
    puts("\nRules (--model), by which wavefronts are passes and sectors are transactions:");
    const struct emu_model *model;
    for (size_t i = 0; (model = emu_model_at(i)) != NULL; i++)
        printf("  %-10s %s\n", emu_model_info(model)->key, emu_model_info(model)->rules);
    puts("\nMetrics (* printed by default; emu__ are the emulator's own, the others ncu's):");
    const struct metric *m;
    for (size_t i = 0; (m = metric_at(i)) != NULL; i++)
        printf("%c %s\n      %s\n", m->by_default ? '*' : ' ', m->name, m->help);
}

/* ---- options --------------------------------------------------------------------------------- */

/* Where this command, and so the library, lies. */
static void find_own_folder(char folder[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    if (length < 0) refuse("cannot find its own folder: %s", strerror(errno));
    folder[length] = '\0';
    char *slash = strrchr(folder, '/');
    *slash = '\0';
}

/* The flags for nvcc. It splits NVCC_PREPEND_FLAGS at spaces and takes no quotes there. */
static void print_nvcc_flags(void)
{
    char folder[PATH_MAX];
    find_own_folder(folder);
    if (strchr(folder, ' ') != NULL)
        refuse("nvcc cannot take a folder with a space in its name: %s", folder);
    printf("-L%s\n", folder);
}

/* The program may change its working directory: relative paths must be made absolute before. */
static void set_path(const char *name, const char *path)
{
    char folder[PATH_MAX], *whole;
    if (path[0] == '/') {
        set(name, path);
        return;
    }
    if (getcwd(folder, sizeof folder) == NULL || asprintf(&whole, "%s/%s", folder, path) < 0)
        refuse("cannot find the working directory: %s", strerror(errno));
    set(name, whole);
    free(whole);
}

static void refuse_empty(const char *option, const char *what, const char *value)
{
    if (*value == '\0') refuse("%s takes %s, not \"\"", option, what);
}

static void set_log_file(const char *path)
{
    refuse_empty("--log-file", "a file's name", path);
    int error = whole_file_check(path);
    if (error != 0) refuse("cannot write the log file %s: %s", path, strerror(error));
    if (strcmp(path, "stdout") == 0 || strcmp(path, "stderr") == 0)
        set("EMU_LOG_FILE", path);
    else
        set_path("EMU_LOG_FILE", path);
}

static void set_trace(const char *path)
{
    refuse_empty("--trace", "a file's name", path);
    int error = replacement_check(path);
    if (error != 0) refuse("cannot write the trace %s: %s", path, strerror(error));
    set_path("EMU_TRACE", path);
}

static void set_metrics(const char *names)
{
    const struct metric *chosen[MAX_METRICS], *m;
    char wrong[128];
    if (metrics_choose(names, chosen, wrong, sizeof wrong) > 0) {
        set("EMU_METRICS", names);
        return;
    }
    fprintf(stderr, "emu: there is no metric \"%s\"; these are known:\n", wrong);
    for (size_t i = 0; (m = metric_at(i)) != NULL; i++) fprintf(stderr, "  %s\n", m->name);
    exit(USAGE_ERROR);
}

static void set_kernel_name(const char *name)
{
    static const char prefix[] = "regex:";
    refuse_empty("--kernel-name", "a kernel's name, or regex: and an expression", name);
    if (strncmp(name, prefix, strlen(prefix)) == 0) {
        regex_t regex;
        char problem[128];
        int error = regcomp(&regex, name + strlen(prefix), REG_EXTENDED | REG_NOSUB);
        if (error != 0) {
            regerror(error, &regex, problem, sizeof problem);
            refuse("--kernel-name %s is not a regular expression: %s", name, problem);
        }
        regfree(&regex);
    }
    set("EMU_KERNEL_NAME", name);
}

static void set_gpu(const char *key)
{
    if (emu_gpu_find(key) == NULL) refuse("there is no model \"%s\"; see emu --help", key);
    set("EMU_GPU", key);
}

static void set_model(const char *key)
{
    if (emu_model_find(key) == NULL) refuse("there is no set of rules \"%s\"; see emu --help", key);
    set("EMU_MODEL", key);
}

static void set_page(const char *page)
{
    if (strcmp(page, "raw") == 0)
        set("EMU_COUNTERS", "1");
    else if (strcmp(page, "source") == 0)
        set("EMU_COUNTERS", "lines");
    else
        refuse("--page takes raw or source, not \"%s\"", page);
}

static void set_tool(const char *names)
{
    if (check_tools(names) == 0) refuse("--tool takes " CHECK_TOOLS ", not \"%s\"", names);
    set("EMU_TOOL", names);
}

/* A whole number in digits. */
static void set_number(const char *option, const char *variable, unsigned long long least,
                       unsigned long long most, const char *text)
{
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || text[0] < '0' || text[0] > '9' || number < least ||
        number > most)
        refuse("%s takes a number from %llu to %llu, not \"%s\"", option, least, most, text);
    set(variable, text);
}

static void set_schedule(const char *seed)
{
    char chosen[16];
    if (strcmp(seed, "random") == 0) {
        snprintf(chosen, sizeof chosen, "%u",
                 1 + ((unsigned)time(NULL) ^ (unsigned)getpid()) % 1000000);
        seed = chosen;
    }
    set_number("--schedule", "EMU_SCHEDULE", 0, ULLONG_MAX, seed);
}

/* One of two words. */
static void set_word(const char *option, const char *variable, const char *one, const char *other,
                     const char *word)
{
    if (strcmp(word, one) != 0 && strcmp(word, other) != 0)
        refuse("%s takes %s or %s, not \"%s\"", option, one, other, word);
    set(variable, word);
}

/* Counting and checking are two things: their options do not go together. */
static void settle(bool checks, bool counts)
{
    const char *log = getenv("EMU_LOG_FILE");
    if (checks && counts)
        refuse("--tool checks and does not count: leave --csv, --metrics, --page, --per-line and"
               " --kernel-name away");
    if (checks) set("EMU_COUNTERS", "0");
    if (checks && log != NULL) set("EMU_CHECK_LOG", log);
}

/* Reads the options and returns the index of PROGRAM in argv. *report: is it to be looked at only?
 */
static int read_options(int argc, char **argv, bool *report)
{
    enum {
        CSV = 256,
        LOG_FILE,
        METRICS,
        PAGE,
        PER_LINE,
        TRACE,
        GPU,
        MODEL,
        THREADS,
        DEVICES,
        FLAGS,
        VERSION,
        TOOL,
        EXIT_CODE,
        LIMIT,
        LEAKS,
        API_ERRORS,
        SCHEDULE,
        BLOCKS,
        REPORT
    };
    static const struct option options[] = {
        {"csv", no_argument, NULL, CSV},
        {"log-file", required_argument, NULL, LOG_FILE},
        {"metrics", required_argument, NULL, METRICS},
        {"kernel-name", required_argument, NULL, 'k'},
        {"page", required_argument, NULL, PAGE},
        {"per-line", no_argument, NULL, PER_LINE},
        {"trace", required_argument, NULL, TRACE},
        {"gpu", required_argument, NULL, GPU},
        {"model", required_argument, NULL, MODEL},
        {"threads", required_argument, NULL, THREADS},
        {"devices", required_argument, NULL, DEVICES},
        {"tool", required_argument, NULL, TOOL},
        {"error-exitcode", required_argument, NULL, EXIT_CODE},
        {"print-limit", required_argument, NULL, LIMIT},
        {"leak-check", required_argument, NULL, LEAKS},
        {"report-api-errors", required_argument, NULL, API_ERRORS},
        {"schedule", required_argument, NULL, SCHEDULE},
        {"blocks", required_argument, NULL, BLOCKS},
        {"report", no_argument, NULL, REPORT},
        {"nvcc-flags", no_argument, NULL, FLAGS},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, VERSION},
        {NULL, 0, NULL, 0},
    };
    bool counts = false, checks = false;
    set("EMU_COUNTERS", "1");
    opterr = 0;
    int option;
    /* "+": what follows PROGRAM belongs to it. ":": tell a missing value from a wrong option. */
    while ((option = getopt_long(argc, argv, "+:k:h", options, NULL)) != -1) {
        counts |= option == CSV || option == METRICS || option == 'k' || option == PAGE ||
                  option == PER_LINE;
        switch (option) {
        case CSV: set("EMU_CSV", "1"); break;
        case LOG_FILE: set_log_file(optarg); break;
        case METRICS: set_metrics(optarg); break;
        case 'k': set_kernel_name(optarg); break;
        case PAGE: set_page(optarg); break;
        case PER_LINE: set_page("source"); break;
        case TRACE: set_trace(optarg); break;
        case GPU: set_gpu(optarg); break;
        case MODEL: set_model(optarg); break;
        case THREADS: set_number("--threads", "EMU_THREADS", 1, MAX_THREADS, optarg); break;
        case DEVICES: set_number("--devices", "EMU_DEVICES", 1, MAX_DEVICES, optarg); break;
        case TOOL: checks = true, set_tool(optarg); break;
        case EXIT_CODE: set_number("--error-exitcode", "EMU_ERROR_EXITCODE", 0, 255, optarg); break;
        case LIMIT: set_number("--print-limit", "EMU_PRINT_LIMIT", 0, 1000000, optarg); break;
        case LEAKS: set_word("--leak-check", "EMU_LEAK_CHECK", "full", "no", optarg); break;
        case API_ERRORS:
            set_word("--report-api-errors", "EMU_API_ERRORS", "explicit", "no", optarg);
            break;
        case SCHEDULE: set_schedule(optarg); break;
        case BLOCKS: set_word("--blocks", "EMU_BLOCKS", "ascending", "descending", optarg); break;
        case REPORT: *report = true; break;
        case FLAGS: print_nvcc_flags(); exit(EXIT_SUCCESS);
        case 'h': print_help(); exit(EXIT_SUCCESS);
        case VERSION: puts("emu (Upsweep), for programs of CUDA 13"); exit(EXIT_SUCCESS);
        case ':': refuse("%s needs a value; see emu --help", argv[optind - 1]);
        default: refuse("there is no option %s; see emu --help", argv[optind - 1]);
        }
    }
    if (optind == argc) refuse("which program? usage: emu [options] PROGRAM [arguments]");
    settle(checks, counts);
    return optind;
}

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
            refuse("%s is not in PATH; for the one in this folder say ./%s", name, name);
        refuse("there is no program %s in PATH", name);
    }
    if (access(path, X_OK) != 0) refuse("cannot run %s: %s", path, strerror(errno));
}

/* Puts the emulator's library in front of NVIDIA's. */
static void set_library_path(void)
{
    char folder[PATH_MAX], *library, *value;
    find_own_folder(folder);
    const char *others = getenv("LD_LIBRARY_PATH");
    if (asprintf(&library, "%s/libcudart.so.13", folder) < 0 ||
        asprintf(&value, "%s%s%s", folder, others != NULL ? ":" : "", others ? others : "") < 0)
        refuse("out of memory");
    if (access(library, R_OK) != 0) refuse("%s is missing; make emu builds it", library);
    set("LD_LIBRARY_PATH", value);
    free(library);
    free(value);
}

/* Makes sure that the program will run on the emulator, or says what stands in the way. */
static void prepare(const char *path)
{
    switch (elf_runtime(path)) {
    case RUNTIME_SHARED: set_library_path(); return;
    case RUNTIME_OURS: return;
    case RUNTIME_NVIDIA:
        refuse("%s has NVIDIA's runtime linked into it, which needs a GPU; relink it with nvcc"
               " -cudart shared, or with the flags that emu --nvcc-flags prints",
               path);
    case RUNTIME_OLD_SHARED:
        refuse("%s was not built with CUDA 13, whose libcudart.so.13 the emulator replaces;"
               " rebuild it",
               path);
    case RUNTIME_FIXED:
        refuse("%s always takes the libcudart.so.13 of its RPATH; relink it with -Xlinker"
               " --enable-new-dtags",
               path);
    case RUNTIME_NONE:
        refuse("%s is not a CUDA program: it neither needs libcudart.so.13 nor holds kernels",
               path);
    case RUNTIME_NO_PROGRAM: refuse("%s is not a program (ELF) for this machine", path);
    case RUNTIME_UNREADABLE: refuse("cannot read %s: %s", path, strerror(errno));
    }
}

/* Neither the log nor the trace may be the program or a file that its arguments name, and they must
 * not be one file. */
static void check_outputs(const char *program, char *const *arguments)
{
    const struct {
        const char *what, *path;
    } outputs[] = {{"log file", getenv("EMU_LOG_FILE")}, {"trace", getenv("EMU_TRACE")}};
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        const char *path = outputs[i].path, *why = output_refusal(path, program, arguments);
        if (why != NULL) refuse("the %s %s %s; choose another file", outputs[i].what, path, why);
    }
    if (output_is_same(outputs[0].path, outputs[1].path))
        refuse("the log file and the trace are one file, %s; choose another one", outputs[0].path);
}

/* --report */
static void print_agreement(const char *path)
{
    char message[2048];
    struct elf program;
    if (elf_open(path, &program) != RUNTIME_NONE)
        refuse("%s is not a program (ELF) for this machine", path);
    const char *key = getenv("EMU_GPU");
    const struct emu_gpu *gpu = key != NULL ? emu_gpu_find(key) : emu_gpu_at(0);
    if (gpu == NULL) refuse("there is no model \"%s\"; see emu --help", key);
    int kernels = report_agreement(&program, gpu, stdout, message, sizeof message);
    if (kernels < 0) refuse("%s", message);
    if (kernels == 0) refuse("%s holds no PTX that an emulated %s could run", path, gpu->name);
    elf_close(&program);
}

int main(int argc, char **argv)
{
    bool report = false;
    int first = read_options(argc, argv, &report);
    char path[PATH_MAX];
    find_program(argv[first], path);
    if (report) {
        print_agreement(path);
        return EXIT_SUCCESS;
    }
    prepare(path);
    check_outputs(path, argv + first + 1);
    execv(path, argv + first);
    refuse("cannot run %s: %s", path, strerror(errno));
}
