/* options.c — the options of the command emu. Each sets an EMU_* variable: settings.inc is the
 * table of both. */
#define _GNU_SOURCE /* vasprintf */
#include "command.h"
#include "common/files/option_table.h"
#include "common/tools/emu/report/report.h"
#include "common/files/files.h"
#include "common/files/visible.h"

#include <errno.h>
#include <inttypes.h>
#include <regex.h>
#include <stdarg.h>
#include <time.h>
#include <unistd.h>

enum { USAGE_ERROR = 2, HELP_COLUMN = 22 };

/* Options have set these variables: the others may be from the user's environment. */
static bool is_given[SETTINGS];

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

char *emu_text(const char *format, ...)
{
    char *text;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    return allocated(length >= 0 ? text : NULL);
}

void emu_set(const char *name, const char *value)
{
    if (setenv(name, value, 1) != 0) emu_refuse("cannot set %s: %s", name, strerror(errno));
}

/* ---- what an option sets --------------------------------------------------------------------- */

/* What an option does, as an option_fn; s is the row of its variable. */
#define SETTER(name)                                                                               \
    static int name##_of(const struct setting *s, const char *value);                              \
    static int name(void *to, const char *value, struct fault *fault)                              \
    {                                                                                              \
        (void)fault;                                                                               \
        return name##_of((const struct setting *)to, value);                                       \
    }                                                                                              \
    static int name##_of(const struct setting *s __attribute__((unused)),                          \
                         const char *value __attribute__((unused)))

static int give(const struct setting *s, const char *value)
{
    emu_set(s->variable, value);
    is_given[s - settings] = true;
    return 0;
}

SETTER(set_flag) { return give(s, "1"); }
SETTER(set_yes) { return give(s, "yes"); }
SETTER(set_per_line) { return give(&settings[SETTING_COUNTERS], "lines"); }

SETTER(set_number)
{
    uint64_t number;
    if (!setting_accepts(s, value, &number))
        emu_refuse("%s takes a number from %" PRIu64 " to %" PRIu64 ", not \"%s\"", s->option,
                   s->least, s->most, value);
    return give(s, value);
}

SETTER(set_schedule)
{
    if (strcmp(value, "random") != 0) return set_number_of(s, value);
    char seed[16];
    snprintf(seed, sizeof seed, "%u", 1 + ((unsigned)time(NULL) ^ (unsigned)getpid()) % 1000000);
    return give(s, seed);
}

/* Gives a value that is right; s->takes says what is. */
static int give_right(const struct setting *s, const char *value, bool is_right)
{
    if (!is_right) emu_refuse("%s takes %s, not \"%s\"", s->option, s->takes, value);
    return give(s, value);
}

SETTER(set_word) { return give_right(s, value, setting_accepts(s, value, NULL)); }
SETTER(set_tool) { return give_right(s, value, check_tools(value) != 0); }

/* ---- files ----------------------------------------------------------------------------------- */

/* Makes a relative path absolute, because the program may change its working directory. */
static int give_path(const struct setting *s, const char *path)
{
    char folder[PATH_MAX];
    if (path[0] == '/') return give(s, path);
    if (getcwd(folder, sizeof folder) == NULL)
        emu_refuse("cannot find the working directory: %s", strerror(errno));
    char *whole = emu_text("%s/%s", folder, path);
    give(s, whole);
    free(whole);
    return 0;
}

static void refuse_empty(const struct setting *s, const char *value)
{
    if (*value == '\0') give_right(s, value, false);
}

/* Refuses a path with which one cannot do what `what` says. */
static void need(int error, const char *what, const char *path)
{
    if (error != 0) emu_refuse("cannot %s%s: %s", what, path, strerror(error));
}

static void need_readable(const struct setting *s, const char *path)
{
    refuse_empty(s, path);
    need(access(path, R_OK) != 0 ? errno : 0, "read ", path);
}

SETTER(set_log_file)
{
    refuse_empty(s, value);
    need(whole_file_check(value), "write the log file ", value);
    bool is_stream = strcmp(value, "stdout") == 0 || strcmp(value, "stderr") == 0;
    return (is_stream ? give : give_path)(s, value);
}

SETTER(set_trace)
{
    refuse_empty(s, value);
    need(replacement_check(value), "write the trace ", value);
    return give_path(s, value);
}

SETTER(set_annotate)
{
    need_readable(s, value);
    return give_path(s, value);
}

/* An emu that has started this one does not take the part of the report that goes there. */
SETTER(set_output)
{
    refuse_empty(s, value);
    need(whole_file_check(value), "write ", value);
    unsetenv(settings[s == &settings[SETTING_SARIF] ? SETTING_SARIF_PARTS : SETTING_HTML_PARTS]
                 .variable);
    return give_path(s, value);
}

/* Nor does it take the kernels for the limits. */
SETTER(set_limits)
{
    char message[1000];
    need_readable(s, value);
    struct budget *limits = (s == &settings[SETTING_BUDGET] ? budget_read : baseline_read)(
        value, message, sizeof message);
    if (limits == NULL) emu_refuse("%s cannot be used: %s", s->option, message);
    budget_free(limits);
    unsetenv(settings[SETTING_KERNELS].variable);
    return give_path(s, value);
}

/* ---- names ----------------------------------------------------------------------------------- */

SETTER(set_metrics)
{
    const struct metric *chosen[MAX_METRICS], *m;
    char wrong[128];
    if (metrics_choose(value, chosen, wrong, sizeof wrong) > 0) return give(s, value);
    fprintf(stderr, "emu: there is no metric \"%s\"; these are known:\n", wrong);
    for (size_t i = 0; (m = metric_at(i)) != NULL; i++) fprintf(stderr, "  %s\n", m->name);
    exit(USAGE_ERROR);
}

SETTER(set_kernel_name)
{
    static const char prefix[] = "regex:";
    refuse_empty(s, value);
    if (strncmp(value, prefix, strlen(prefix)) == 0) {
        regex_t regex;
        char problem[128];
        int error = regcomp(&regex, value + strlen(prefix), REG_EXTENDED | REG_NOSUB);
        if (error != 0) {
            regerror(error, &regex, problem, sizeof problem);
            emu_refuse("--kernel-name %s is not a regular expression: %s", value, problem);
        }
        regfree(&regex);
    }
    return give(s, value);
}

SETTER(set_page)
{
    if (strcmp(value, "raw") == 0) return give(s, "1");
    if (strcmp(value, "source") == 0) return give(s, "lines");
    emu_refuse("--page takes raw or source, not \"%s\"", value);
}

/* Gives the name of a model, or of rules, if it was found. */
static int give_found(const struct setting *s, const char *key, const void *found, const char *kind)
{
    if (found == NULL) emu_refuse("there is no %s \"%s\"; see emu --help", kind, key);
    return give(s, key);
}

SETTER(set_gpu) { return give_found(s, value, emu_gpu_find(value), "model"); }
SETTER(set_model) { return give_found(s, value, emu_model_find(value), "set of rules"); }

static int set_report(void *to, const char *value, struct fault *fault)
{
    (void)value, (void)fault;
    *(bool *)to = true;
    return 0;
}

/* ---- what is printed in place of a run ------------------------------------------------------- */

/* After --help and its like: what could not be written is an error. */
_Noreturn static void end_printing(void)
{
    if (fflush(stdout) != 0) emu_refuse("stdout cannot be written: %s", strerror(errno));
    exit(EXIT_SUCCESS);
}

/* Prints flags for nvcc. Paths with spaces are refused: nvcc splits NVCC_PREPEND_FLAGS at spaces
 * and knows no quotes there. */
SETTER(print_nvcc_flags)
{
    char folder[PATH_MAX];
    emu_library_folder(folder);
    if (strpbrk(folder, "\"$`\\") != NULL)
        emu_refuse(
            "nvcc misreads \", $, ` and \\ in these flags, and the emulator is in %s; move it"
            " to another folder, or link with -cudart shared in place of the flags",
            folder);
    /* nvcc splits its variable at spaces, except between double quotes. */
    printf(strpbrk(folder, " \t") != NULL ? "-L\"%s\"\n" : "-L%s\n", folder);
    end_printing();
}

SETTER(add_command)
{
    emu_debug_command(value);
    return 0;
}

SETTER(add_commands)
{
    emu_debug_commands(value);
    return 0;
}

SETTER(print_version)
{
    puts("emu " EMU_VERSION " (Upsweep), for programs of CUDA 13");
    end_printing();
}

static option_fn print_help;

/* ---- --help ---------------------------------------------------------------------------------- */

#define SETTING(variable, kind, least, most, takes, standard, option, letter, argument, set,       \
                meaning)                                                                           \
    {option, argument, meaning, set, (void *)&settings[SETTING_##variable], letter, 0},
#define OPTION_ALONE(option, letter, argument, set, meaning)                                       \
    {option, argument, meaning, set, NULL, letter, 0},
#define GAP() {NULL, NULL, NULL, NULL, NULL, 0, 0},
#define VARIABLE(...)
#define FOR_EMU(...)
static const struct option_row rows[] = {
#include "settings.inc"
};
enum { ROWS = sizeof rows / sizeof *rows };
static const struct option_table table = {rows, ROWS};

/* The meaning of a setting, its range and what holds without it. */
static void describe(const struct setting *s, char *text, size_t size)
{
    char range[60] = "";
    bool has_range = s->kind == SETTING_IS_NUMBER && s->takes == NULL;
    if (has_range) setting_takes(s, range, sizeof range);
    snprintf(text, size, "%s%s%s%s%s", s->meaning, has_range ? ", " : "", range,
             s->standard != NULL ? "; default: " : "", s->standard != NULL ? s->standard : "");
}

static void print_options(void)
{
    static char help[ROWS][400];
    struct option_row shown[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        shown[i] = rows[i];
        if (rows[i].to == NULL || rows[i].argument == NULL) continue;
        describe(rows[i].to, help[i], sizeof help[i]);
        shown[i].help = help[i];
    }
    option_print((struct option_table){shown, ROWS}, HELP_COLUMN, stdout);
}

/* Of a variable with an option, only the option is named. */
static void print_variables(void)
{
    enum { NAME = 24 };
    for (const struct setting *s = settings; s < settings + SETTINGS; s++) {
        char text[400], *rest;
        if (s->is_for_emu) continue;
        if (s->option != NULL)
            snprintf(text, sizeof text, "as %s", s->option);
        else
            describe(s, text, sizeof text);
        printf("  %-*s%s\n", NAME, s->variable, strtok_r(text, "\n", &rest));
        for (const char *line; (line = strtok_r(NULL, "\n", &rest)) != NULL;)
            printf("  %*s%s\n", NAME, "", line);
    }
}

SETTER(print_help)
{
    puts("usage: emu [options] COMMAND [arguments]\n"
         "       emu [options] run FILE.cu [arguments]\n"
         "       emu debug [options] FILE.cu|PROGRAM [arguments]\n"
         "       emu dap\n"
         "Runs a CUDA program on an emulated GPU and prints what its kernels did, as ncu would,\n"
         "or with --tool what is wrong with them, as compute-sanitizer would. COMMAND may be any\n"
         "other command, such as make or a script: then all CUDA programs that it starts run so,\n"
         "and their reports follow when it has ended.\n\n"
         "Examples:\n"
         "  emu run my.cu              compile my.cu, run it, count what its kernels do\n"
         "  emu --tool all run my.cu   look for races and memory errors\n"
         "  emu debug my.cu            stop in a kernel, look, and step back\n"
         "  emu dap                    the same from an editor (Debug Adapter Protocol)\n"
         "  emu --per-line ./program   the counts of each source line\n");
    print_options();
    puts("\nCUDA programs must be linked with nvcc -cudart shared, with g++ and -lcudart, or with "
         "the\n"
         "flags above. Output and exit code are the program's own; the report follows when it\n"
         "ends, also by a signal other than SIGKILL. Kernel names are those of ncu\n"
         "--print-kernel-base function. Exit code 2: wrong usage; 4: a limit of --budget or\n"
         "--baseline is exceeded; 130: Ctrl-C. If mpirun has started several ranks, each writes\n"
         "files of its own: FILE.0, FILE.1, and so on.");
    puts("\nemu run compiles FILE.cu with nvcc, says with which command, and runs the program.\n"
         "nvcc also reads its own variables, such as NVCC_APPEND_FLAGS. A program that is called\n"
         "run is ./run.");
    puts("\nVariables, which programs obey without emu, too:");
    print_variables();
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
    end_printing();
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A run either counts or checks: refuses options of both kinds together. */
static void settle(void)
{
    bool counts = is_given[SETTING_CSV] || is_given[SETTING_LAUNCHES] ||
                  is_given[SETTING_METRICS] || is_given[SETTING_KERNEL_NAME] ||
                  is_given[SETTING_COUNTERS];
    bool checks = is_given[SETTING_TOOL], json = setting_text(SETTING_JSON) != NULL,
         csv = setting_text(SETTING_CSV) != NULL;
    const char *log = setting_text(SETTING_LOG_FILE);
    if (checks && counts)
        emu_refuse("--tool checks and does not count: leave --csv, --launches, --metrics, --page,"
                   " --per-line and --kernel-name away");
    if (json && csv) emu_refuse("--json and --csv are two forms of one report; choose one");
    if (setting_text(SETTING_ANNOTATE) != NULL && (json || csv))
        emu_refuse("--annotate prints source text; leave --json and --csv away");
    if (checks) emu_set(settings[SETTING_COUNTERS].variable, "0");
    static const enum setting_id tables[] = {SETTING_LOG_FILE, SETTING_LAUNCHES, SETTING_METRICS,
                                             SETTING_KERNEL_NAME};
    bool is_summary = !checks && !counts;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (setting_text(tables[i]) != NULL) is_summary = false;
    if (is_summary)
        emu_set(settings[SETTING_COUNTERS].variable, "summary");
    if (checks && log != NULL && !json) emu_set(settings[SETTING_CHECK_LOG].variable, log);
}

int emu_options(int argc, char **argv, bool *report)
{
    struct command_line line = {.count = argc, .arguments = argv, .at = 1};
    struct fault fault = {0};
    emu_set(settings[SETTING_COUNTERS].variable, "1");
    while (line.at < argc && argv[line.at][0] == '-') {
        bool taken;
        if (strcmp(argv[line.at], "--") == 0) {
            line.at++;
            break;
        }
        if (option_take(table, &line, report, &taken, &fault)) emu_refuse("%s", fault.text);
        if (!taken) emu_refuse("there is no option %s; see emu --help", argv[line.at]);
    }
    if (line.at == argc) emu_refuse("which program? usage: emu [options] COMMAND [arguments],"
                                      " or emu [options] run FILE.cu [arguments]; see emu --help");
    settings_read(); /* programs refuse wrong values */
    settle();
    settings_read();
    return line.at;
}
