/*
 * options.c — the options of the command emu. Each option sets an EMU_* variable.
 */
#define _GNU_SOURCE /* asprintf */
#include "options.h"
#include "common/command/option_table.h"
#include "common/emu/check/tools.h"
#include "common/emu/count/metrics.h"
#include "common/emu/report/budget.h"
#include "common/files/replacement.h"
#include "common/files/visible.h"
#include "common/files/whole_file.h"
#include "common/emu/emu.h"
#include "folders.h"

#include <errno.h>
#include <limits.h>
#include <regex.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    USAGE_ERROR = 2,
    MAX_THREADS = 1024,
    MAX_SECONDS = 1000000,
    MAX_DEVICES = EMU_MAX_PEERS + 1,
    HELP_COLUMN = 22
};

static void print_sentence(const char *format, va_list args)
{
    char sentence[2 * PATH_MAX];
    vsnprintf(sentence, sizeof sentence, format, args);
    fputs("emu: ", stderr);
    visible_print(stderr, sentence, strlen(sentence));
    fputc('\n', stderr);
}

void emu_refuse(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_sentence(format, args);
    va_end(args);
    exit(USAGE_ERROR);
}

void emu_note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_sentence(format, args);
    va_end(args);
}

void emu_set(const char *name, const char *value)
{
    if (setenv(name, value, 1) != 0) emu_refuse("cannot set %s: %s", name, strerror(errno));
}

/* ---- files and names ------------------------------------------------------------------------- */

/* Makes a relative path absolute, because the program may change its working directory. */
static void set_path(const char *name, const char *path)
{
    char folder[PATH_MAX], *whole;
    if (path[0] == '/') {
        emu_set(name, path);
        return;
    }
    if (getcwd(folder, sizeof folder) == NULL || asprintf(&whole, "%s/%s", folder, path) < 0)
        emu_refuse("cannot find the working directory: %s", strerror(errno));
    emu_set(name, whole);
    free(whole);
}

static void refuse_empty(const char *option, const char *what, const char *value)
{
    if (*value == '\0') emu_refuse("%s takes %s, not \"\"", option, what);
}

static int set_log_file(void *to, const char *path, struct fault *fault)
{
    (void)fault, (void)to;
    refuse_empty("--log-file", "a file's name", path);
    int error = whole_file_check(path);
    if (error != 0) emu_refuse("cannot write the log file %s: %s", path, strerror(error));
    if (strcmp(path, "stdout") == 0 || strcmp(path, "stderr") == 0)
        emu_set("EMU_LOG_FILE", path);
    else
        set_path("EMU_LOG_FILE", path);
    return 0;
}

static int set_trace(void *to, const char *path, struct fault *fault)
{
    (void)fault, (void)to;
    refuse_empty("--trace", "a file's name", path);
    int error = replacement_check(path);
    if (error != 0) emu_refuse("cannot write the trace %s: %s", path, strerror(error));
    set_path("EMU_TRACE", path);
    return 0;
}

/* ---- what is counted ------------------------------------------------------------------------- */

static int set_csv(void *to, const char *value, struct fault *fault)
{
    (void)value, (void)fault;
    ((struct emu_wanted *)to)->counts = true;
    emu_set("EMU_CSV", "1");
    return 0;
}

static int set_launches(void *to, const char *value, struct fault *fault)
{
    (void)value, (void)fault;
    ((struct emu_wanted *)to)->counts = true;
    emu_set("EMU_LAUNCHES", "1");
    return 0;
}

static int set_json(void *to, const char *value, struct fault *fault)
{
    (void)to, (void)value, (void)fault;
    emu_set("EMU_JSON", "1");
    return 0;
}

static int set_annotate(void *to, const char *path, struct fault *fault)
{
    (void)to, (void)fault;
    refuse_empty("--annotate", "a source file or a folder", path);
    if (access(path, R_OK) != 0) emu_refuse("cannot read %s: %s", path, strerror(errno));
    set_path("EMU_ANNOTATE", path);
    return 0;
}

static int set_warnings(void *to, const char *value, struct fault *fault)
{
    (void)to, (void)value, (void)fault;
    emu_set("EMU_WARNINGS", "1");
    return 0;
}

/* An option that takes a file, which is written if `is_output`. An emu that has started this one
 * does not take the part of the report that goes there, or the kernels for the limits. */
struct file {
    const char *option, *variable, *parts;
    bool is_output;
    struct budget *(*read)(const char *path, char *message, size_t size); /* NULL: no limits */
};
static struct file sarif = {"--sarif", "EMU_SARIF", "EMU_SARIF_PARTS", true, NULL},
                   html = {"--html", "EMU_HTML", "EMU_HTML_PARTS", true, NULL},
                   budget = {"--budget", "EMU_BUDGET", "EMU_KERNELS", false, budget_read},
                   baseline = {"--baseline", "EMU_BASELINE", "EMU_KERNELS", false, baseline_read};

static void check_limits(const struct file *file, const char *path)
{
    char message[1000];
    struct budget *limits = file->read(path, message, sizeof message);
    if (limits == NULL) emu_refuse("%s cannot be used: %s", file->option, message);
    budget_free(limits);
}

static int set_file(void *to, const char *path, struct fault *fault)
{
    const struct file *file = to;
    (void)fault;
    refuse_empty(file->option, "a file's name", path);
    if (file->is_output) {
        int error = whole_file_check(path);
        if (error != 0) emu_refuse("cannot write %s: %s", path, strerror(error));
    } else if (access(path, R_OK) != 0) {
        emu_refuse("cannot read %s: %s", path, strerror(errno));
    }
    if (file->read != NULL) check_limits(file, path);
    set_path(file->variable, path);
    unsetenv(file->parts);
    return 0;
}

static int set_metrics(void *to, const char *names, struct fault *fault)
{
    (void)fault;
    ((struct emu_wanted *)to)->counts = true;
    const struct metric *chosen[MAX_METRICS], *m;
    char wrong[128];
    if (metrics_choose(names, chosen, wrong, sizeof wrong) > 0) {
        emu_set("EMU_METRICS", names);
        return 0;
    }
    fprintf(stderr, "emu: there is no metric \"%s\"; these are known:\n", wrong);
    for (size_t i = 0; (m = metric_at(i)) != NULL; i++) fprintf(stderr, "  %s\n", m->name);
    exit(USAGE_ERROR);
}

static int set_kernel_name(void *to, const char *name, struct fault *fault)
{
    (void)fault;
    ((struct emu_wanted *)to)->counts = true;
    static const char prefix[] = "regex:";
    refuse_empty("--kernel-name", "a kernel's name, or regex: and an expression", name);
    if (strncmp(name, prefix, strlen(prefix)) == 0) {
        regex_t regex;
        char problem[128];
        int error = regcomp(&regex, name + strlen(prefix), REG_EXTENDED | REG_NOSUB);
        if (error != 0) {
            regerror(error, &regex, problem, sizeof problem);
            emu_refuse("--kernel-name %s is not a regular expression: %s", name, problem);
        }
        regfree(&regex);
    }
    emu_set("EMU_KERNEL_NAME", name);
    return 0;
}

static int set_page(void *to, const char *page, struct fault *fault)
{
    (void)fault;
    ((struct emu_wanted *)to)->counts = true;
    if (strcmp(page, "raw") == 0)
        emu_set("EMU_COUNTERS", "1");
    else if (strcmp(page, "source") == 0)
        emu_set("EMU_COUNTERS", "lines");
    else
        emu_refuse("--page takes raw or source, not \"%s\"", page);
    return 0;
}

static int set_per_line(void *to, const char *value, struct fault *fault)
{
    (void)value;
    return set_page(to, "source", fault);
}

/* ---- the GPU --------------------------------------------------------------------------------- */

static int set_gpu(void *to, const char *key, struct fault *fault)
{
    (void)fault, (void)to;
    if (emu_gpu_find(key) == NULL) emu_refuse("there is no model \"%s\"; see emu --help", key);
    emu_set("EMU_GPU", key);
    return 0;
}

static int set_model(void *to, const char *key, struct fault *fault)
{
    (void)fault, (void)to;
    if (emu_model_find(key) == NULL)
        emu_refuse("there is no set of rules \"%s\"; see emu --help", key);
    emu_set("EMU_MODEL", key);
    return 0;
}

/* ---- what is checked ------------------------------------------------------------------------- */

static int set_tool(void *to, const char *names, struct fault *fault)
{
    (void)fault;
    ((struct emu_wanted *)to)->checks = true;
    if (check_tools(names) == 0) emu_refuse("--tool takes " CHECK_TOOLS ", not \"%s\"", names);
    emu_set("EMU_TOOL", names);
    return 0;
}

static int set_strict_readers(void *to, const char *value, struct fault *fault)
{
    (void)to, (void)value, (void)fault;
    emu_set("EMU_STRICT_READERS", "yes");
    return 0;
}

static int set_report(void *to, const char *value, struct fault *fault)
{
    (void)value, (void)fault;
    ((struct emu_wanted *)to)->report = true;
    return 0;
}

/* ---- numbers and words ----------------------------------------------------------------------- */

/* An option that takes a whole number in digits. */
struct number {
    const char *option, *variable;
    unsigned long long least, most;
};
static struct number devices = {"--devices", "EMU_DEVICES", 1, MAX_DEVICES},
                     threads = {"--threads", "EMU_THREADS", 1, MAX_THREADS},
                     exit_code = {"--error-exitcode", "EMU_ERROR_EXITCODE", 0, 255},
                     print_limit = {"--print-limit", "EMU_PRINT_LIMIT", 0, 1000000},
                     progress = {"--progress", "EMU_PROGRESS", 0, MAX_SECONDS},
                     instructions = {"--kernel-instructions", "EMU_KERNEL_INSTRUCTIONS", 1,
                                     ULLONG_MAX},
                     clock_seed = {"--clock-seed", "EMU_CLOCK_SEED", 1, ULLONG_MAX},
                     schedule = {"--schedule", "EMU_SCHEDULE", 0, ULLONG_MAX};

static int set_number(void *to, const char *text, struct fault *fault)
{
    const struct number *n = to;
    (void)fault;
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || text[0] < '0' || text[0] > '9' || number < n->least ||
        number > n->most)
        emu_refuse("%s takes a number from %llu to %llu, not \"%s\"", n->option, n->least, n->most,
                   text);
    emu_set(n->variable, text);
    return 0;
}

static int set_schedule(void *to, const char *seed, struct fault *fault)
{
    char chosen[16];
    if (strcmp(seed, "random") == 0) {
        snprintf(chosen, sizeof chosen, "%u",
                 1 + ((unsigned)time(NULL) ^ (unsigned)getpid()) % 1000000);
        seed = chosen;
    }
    return set_number(to, seed, fault);
}

/* An option that takes one of two words. */
struct word_option {
    const char *option, *variable, *one, *other;
};
static struct word_option leak_check = {"--leak-check", "EMU_LEAK_CHECK", "full", "no"},
                          api_errors = {"--report-api-errors", "EMU_API_ERRORS", "explicit", "no"},
                          blocks = {"--blocks", "EMU_BLOCKS", "ascending", "descending"};

static int set_word(void *to, const char *word, struct fault *fault)
{
    const struct word_option *w = to;
    (void)fault;
    if (strcmp(word, w->one) != 0 && strcmp(word, w->other) != 0)
        emu_refuse("%s takes %s or %s, not \"%s\"", w->option, w->one, w->other, word);
    emu_set(w->variable, word);
    return 0;
}

/* ---- what is printed in place of a run ------------------------------------------------------- */

/* Prints flags for nvcc. Paths with spaces are refused: nvcc splits NVCC_PREPEND_FLAGS at spaces
 * and knows no quotes there. */
static int print_nvcc_flags(void *to, const char *value, struct fault *fault)
{
    (void)to, (void)value, (void)fault;
    char folder[PATH_MAX];
    emu_library_folder(folder);
    if (strpbrk(folder, "\"$`\\") != NULL)
        emu_refuse(
            "nvcc misreads \", $, ` and \\ in these flags, and the emulator is in %s; move it"
            " to another folder, or link with -cudart shared in place of the flags",
            folder);
    /* nvcc splits its variable at spaces, except between double quotes. */
    printf(strpbrk(folder, " \t") != NULL ? "-L\"%s\"\n" : "-L%s\n", folder);
    exit(EXIT_SUCCESS);
}

static int print_version(void *to, const char *value, struct fault *fault)
{
    (void)to, (void)value, (void)fault;
    puts("emu " EMU_VERSION " (Upsweep), for programs of CUDA 13");
    exit(EXIT_SUCCESS);
}

static option_fn print_help;

/* ---- the table, in the order of --help ------------------------------------------------------- */

static const struct option_row rows[] = {
    OPTION("csv", NULL, "as CSV, in the layout of ncu --csv --page raw: a row for each launch",
           set_csv),
    OPTION("launches", NULL,
           "each launch by itself; default: the launches of a kernel together, as\n"
           "their sum and the largest value of one launch",
           set_launches),
    OPTION("json", NULL,
           "as one JSON document: launches, counters, and with --tool findings\n"
           "(notes/emulator.md); of a command, an array with one for each program;\n"
           "apart from the program's output with --log-file FILE",
           set_json),
    OPTION("annotate", "FILE|FOLDER", "as source text, with counters beside each line",
           set_annotate),
    OPTION_TO("sarif", "FILE", "also write findings and the worst lines as SARIF 2.1.0", set_file,
              &sarif),
    OPTION_TO("html", "FILE",
              "also write one page for a browser: kernels, findings, source lines,\n"
              "pictures of bank conflicts and of when warps run",
              set_file, &html),
    OPTION("warnings", NULL,
           "also print at most ten lines ::warning on stderr, for the logs of hosted\n"
           "CI: first the findings, then the worst source lines",
           set_warnings),
    OPTION_TO("budget", "FILE",
              "exit with 4 if a launch exceeds a limit; lines are KERNEL COUNTER\n"
              "NUMBER, such as: scan conflicts 0 (notes/emulator.md)",
              set_file, &budget),
    OPTION_TO("baseline", "CSV",
              "exit with 4 if a kernel has more bank conflicts, wavefronts or sectors\n"
              "than in this output of emu --csv",
              set_file, &baseline),
    OPTION("log-file", "FILE",
           "into FILE, or stdout (the default), or stderr (the default with --tool)", set_log_file),
    OPTION("metrics", "M,...", "these metrics", set_metrics),
    {.name = "kernel-name",
     .argument = "NAME|regex:EXPRESSION",
     .help = "only kernels whose function has this name",
     .set = set_kernel_name,
     .letter = 'k'},
    OPTION("page", "raw|source", "totals, or the counts of each source line", set_page),
    OPTION("per-line", NULL, "the same as --page source", set_per_line),
    OPTION("trace", "FILE", "write every access to shared and global memory, as text", set_trace),
    OPTION("gpu", "MODEL", "GPU to emulate", set_gpu),
    OPTION("model", "RULES", "count memory by the rules of g80, gt200, fermi, kepler4, kepler8",
           set_model),
    OPTION_TO("devices", "N", "number of emulated GPUs, 1 to 16; default: 1", set_number, &devices),
    OPTION_TO("threads", "N", "host threads, 1 to 1024; default: every core", set_number, &threads),
    OPTION_TO(
        "progress", "SECONDS",
        "report on stderr how far a kernel is, once it has run for these seconds;\ndefault: 5; 0: "
        "never",
        set_number, &progress),
    OPTION_TO("kernel-instructions", "N",
              "end a kernel that executes more than N warp instructions, the same on\n"
              "every machine; default: no limit",
              set_number, &instructions),
    OPTION_TO("clock-seed", "SEED",
              "make %clock, %globaltimer and %smid from this number, so that they\nrepeat",
              set_number, &clock_seed),
    OPTION(NULL, NULL, NULL, NULL),
    OPTION("tool", "TOOL,...",
           "check, as compute-sanitizer does, in place of the tables of counters;\n"
           "tools: memcheck, racecheck, initcheck, synccheck, all",
           set_tool),
    OPTION_TO("error-exitcode", "N",
              "exit with N if there were errors (without --tool: if a kernel failed);\n"
              "default 0: with the program's own code",
              set_number, &exit_code),
    OPTION_TO("print-limit", "N", "findings to print, 0: all; default: 100", set_number,
              &print_limit),
    OPTION_TO("leak-check", "full|no",
              "memcheck: list the memory that the program did not free; default: no", set_word,
              &leak_check),
    OPTION_TO("report-api-errors", "explicit|no",
              "memcheck: report runtime functions that return an error; default:\nexplicit",
              set_word, &api_errors),
    OPTION("strict-readers", NULL,
           "racecheck: a volatile or relaxed load of a flag orders nothing until a\n"
           "fence, as PTX has it; default: the writer's fence is enough",
           set_strict_readers),
    OPTION_TO("schedule", "SEED",
              "random scheduling of lanes, warps and blocks, which the same SEED (from 1\n"
              "on) repeats; random: a seed is picked and printed",
              set_schedule, &schedule),
    OPTION_TO("blocks", "ORDER",
              "begin blocks in ascending order of their index (the default), or in\n"
              "descending order, which a GPU may do as well",
              set_word, &blocks),
    OPTION(NULL, NULL, NULL, NULL),
    OPTION("report", NULL,
           "run nothing: list PROGRAM's kernels, and whether ptxas kept their\n"
           "accesses as they are in PTX, so that a GPU counts what is counted here",
           set_report),
    OPTION(NULL, NULL, NULL, NULL),
    OPTION("nvcc-flags", NULL,
           "print the flags that make nvcc link the emulator into a program:\n"
           "NVCC_PREPEND_FLAGS=\"$(emu --nvcc-flags)\" make",
           print_nvcc_flags),
    {.name = "help", .argument = NULL, .help = "this text", .set = print_help, .letter = 'h'},
    OPTION("version", NULL, "the version", print_version),
};
static const struct option_table table = {rows, sizeof rows / sizeof *rows};

static int print_help(void *to, const char *value, struct fault *fault)
{
    (void)to, (void)value, (void)fault;
    puts("usage: emu [options] COMMAND [arguments]\n"
         "       emu [options] run FILE.cu [arguments]\n"
         "Runs a CUDA program on an emulated GPU and prints what its kernels did, as ncu would,\n"
         "or with --tool what is wrong with them, as compute-sanitizer would. COMMAND may be any\n"
         "other command, such as make or a script: then all CUDA programs that it starts run so,\n"
         "and their reports follow when it has ended.\n");
    option_print(table, HELP_COLUMN, stdout);
    puts(
        "\nCUDA programs must be linked with nvcc -cudart shared, with g++ and -lcudart, or with "
        "the\n"
        "flags above. Output and exit code are the program's own; the report follows when it\n"
        "ends, also by a signal other than SIGKILL. Kernel names are those of ncu\n"
        "--print-kernel-base function. Exit code 2: wrong usage; 4: a limit of --budget or\n"
        "--baseline is exceeded; 130: Ctrl-C. If mpirun has started several ranks, each writes\n"
        "files of its own: FILE.0, FILE.1, and so on.");
    puts("\nemu run compiles FILE.cu with nvcc, says with which command, and runs the program.\n"
         "nvcc also reads its own variables, such as NVCC_APPEND_FLAGS. A program that is called\n"
         "run is ./run.");
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
    exit(EXIT_SUCCESS);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A run either counts or checks: refuses options of both kinds together. */
static void settle(bool checks, bool counts)
{
    const char *log = getenv("EMU_LOG_FILE");
    if (checks && counts)
        emu_refuse("--tool checks and does not count: leave --csv, --launches, --metrics, --page,"
                   " --per-line and --kernel-name away");
    if (getenv("EMU_JSON") != NULL && getenv("EMU_CSV") != NULL)
        emu_refuse("--json and --csv are two forms of one report; choose one");
    if (getenv("EMU_ANNOTATE") != NULL && (getenv("EMU_JSON") != NULL || getenv("EMU_CSV") != NULL))
        emu_refuse("--annotate prints source text; leave --json and --csv away");
    if (checks) emu_set("EMU_COUNTERS", "0");
    if (checks && log != NULL && getenv("EMU_JSON") == NULL) emu_set("EMU_CHECK_LOG", log);
}

int emu_options(int argc, char **argv, struct emu_wanted *wanted)
{
    struct command_line line = {.count = argc, .arguments = argv, .at = 1};
    struct fault fault = {0};
    emu_set("EMU_COUNTERS", "1");
    while (line.at < argc && argv[line.at][0] == '-') {
        bool taken;
        if (strcmp(argv[line.at], "--") == 0) {
            line.at++;
            break;
        }
        if (option_take(table, &line, wanted, &taken, &fault)) emu_refuse("%s", fault.text);
        if (!taken) emu_refuse("there is no option %s; see emu --help", argv[line.at]);
    }
    if (line.at == argc) emu_refuse("which program? usage: emu [options] COMMAND [arguments]");
    settle(wanted->checks, wanted->counts);
    return line.at;
}
