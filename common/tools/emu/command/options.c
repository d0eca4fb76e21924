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

/* Each function gets the row of its option's variable in `to`. */
static int give(const struct setting *s, const char *value)
{
    emu_set(s->variable, value);
    is_given[s - settings] = true;
    return 0;
}

static int set_flag(void *to, const char *value, struct fault *fault)
{
    (void)value, (void)fault;
    return give(to, "1");
}

static int set_yes(void *to, const char *value, struct fault *fault)
{
    (void)value, (void)fault;
    return give(to, "yes");
}

static int set_number(void *to, const char *text, struct fault *fault)
{
    const struct setting *s = to;
    uint64_t number;
    (void)fault;
    if (!setting_accepts(s, text, &number))
        emu_refuse("%s takes a number from %" PRIu64 " to %" PRIu64 ", not \"%s\"", s->option,
                   s->least, s->most, text);
    return give(s, text);
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

static int set_word(void *to, const char *word, struct fault *fault)
{
    const struct setting *s = to;
    (void)fault;
    if (!setting_accepts(s, word, NULL))
        emu_refuse("%s takes %s, not \"%s\"", s->option, s->takes, word);
    return give(s, word);
}

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
    if (*value == '\0') emu_refuse("%s takes %s, not \"\"", s->option, s->takes);
}

static int set_log_file(void *to, const char *path, struct fault *fault)
{
    (void)fault;
    refuse_empty(to, path);
    int error = whole_file_check(path);
    if (error != 0) emu_refuse("cannot write the log file %s: %s", path, strerror(error));
    bool is_stream = strcmp(path, "stdout") == 0 || strcmp(path, "stderr") == 0;
    return (is_stream ? give : give_path)(to, path);
}

static int set_trace(void *to, const char *path, struct fault *fault)
{
    (void)fault;
    refuse_empty(to, path);
    int error = replacement_check(path);
    if (error != 0) emu_refuse("cannot write the trace %s: %s", path, strerror(error));
    return give_path(to, path);
}

static int set_annotate(void *to, const char *path, struct fault *fault)
{
    (void)fault;
    refuse_empty(to, path);
    if (access(path, R_OK) != 0) emu_refuse("cannot read %s: %s", path, strerror(errno));
    return give_path(to, path);
}

/* An emu that has started this one does not take the part of the report that goes there. */
static int set_output(void *to, const char *path, struct fault *fault)
{
    const struct setting *s = to;
    (void)fault;
    refuse_empty(s, path);
    int error = whole_file_check(path);
    if (error != 0) emu_refuse("cannot write %s: %s", path, strerror(error));
    unsetenv(settings[s == &settings[SETTING_SARIF] ? SETTING_SARIF_PARTS : SETTING_HTML_PARTS]
                 .variable);
    return give_path(s, path);
}

/* Nor does it take the kernels for the limits. */
static int set_limits(void *to, const char *path, struct fault *fault)
{
    const struct setting *s = to;
    char message[1000];
    (void)fault;
    refuse_empty(s, path);
    if (access(path, R_OK) != 0) emu_refuse("cannot read %s: %s", path, strerror(errno));
    struct budget *limits = (s == &settings[SETTING_BUDGET] ? budget_read : baseline_read)(
        path, message, sizeof message);
    if (limits == NULL) emu_refuse("%s cannot be used: %s", s->option, message);
    budget_free(limits);
    unsetenv(settings[SETTING_KERNELS].variable);
    return give_path(s, path);
}

/* ---- names ----------------------------------------------------------------------------------- */

static int set_metrics(void *to, const char *names, struct fault *fault)
{
    const struct metric *chosen[MAX_METRICS], *m;
    char wrong[128];
    (void)fault;
    if (metrics_choose(names, chosen, wrong, sizeof wrong) > 0) return give(to, names);
    fprintf(stderr, "emu: there is no metric \"%s\"; these are known:\n", wrong);
    for (size_t i = 0; (m = metric_at(i)) != NULL; i++) fprintf(stderr, "  %s\n", m->name);
    exit(USAGE_ERROR);
}

static int set_kernel_name(void *to, const char *name, struct fault *fault)
{
    static const char prefix[] = "regex:";
    (void)fault;
    refuse_empty(to, name);
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
    return give(to, name);
}

static int set_page(void *to, const char *page, struct fault *fault)
{
    (void)fault;
    if (strcmp(page, "raw") == 0) return give(to, "1");
    if (strcmp(page, "source") == 0) return give(to, "lines");
    emu_refuse("--page takes raw or source, not \"%s\"", page);
}

static int set_per_line(void *to, const char *value, struct fault *fault)
{
    (void)to, (void)value, (void)fault;
    return give(&settings[SETTING_COUNTERS], "lines");
}

static int set_gpu(void *to, const char *key, struct fault *fault)
{
    (void)fault;
    if (emu_gpu_find(key) == NULL) emu_refuse("there is no model \"%s\"; see emu --help", key);
    return give(to, key);
}

static int set_model(void *to, const char *key, struct fault *fault)
{
    (void)fault;
    if (emu_model_find(key) == NULL)
        emu_refuse("there is no set of rules \"%s\"; see emu --help", key);
    return give(to, key);
}

static int set_tool(void *to, const char *names, struct fault *fault)
{
    const struct setting *s = to;
    (void)fault;
    if (check_tools(names) == 0) emu_refuse("%s takes %s, not \"%s\"", s->option, s->takes, names);
    return give(s, names);
}

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
    end_printing();
}

static int print_version(void *to, const char *value, struct fault *fault)
{
    (void)to, (void)value, (void)fault;
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

static int print_help(void *to, const char *value, struct fault *fault)
{
    (void)to, (void)value, (void)fault;
    puts("usage: emu [options] COMMAND [arguments]\n"
         "       emu [options] run FILE.cu [arguments]\n"
         "Runs a CUDA program on an emulated GPU and prints what its kernels did, as ncu would,\n"
         "or with --tool what is wrong with them, as compute-sanitizer would. COMMAND may be any\n"
         "other command, such as make or a script: then all CUDA programs that it starts run so,\n"
         "and their reports follow when it has ended.\n\n"
         "Examples:\n"
         "  emu run my.cu              compile my.cu, run it, count what its kernels do\n"
         "  emu --tool all run my.cu   look for races and memory errors\n"
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
