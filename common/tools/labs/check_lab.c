/*
 * check_lab.c — `make checkN`: compiles a student's file, runs it on the emulator, and prints what
 * is right, what is not, and what it costs.
 *
 *     check-lab LAB SOURCE.cu [--json] [--seed S] [--drawn] [--compiler own] [--hint LEVEL] …
 *     check-lab LAB SOURCE.cu --results FILE --reference FILE
 *     check-lab --compile SOURCE.cu OUTPUT [--nvcc NVCC]
 *
 * It runs the file of its own user, so it needs no sandbox. But run-lab is a process of its own
 * here as well. With --results it runs nothing, and judges for the grader (grader/judge.py).
 */
#define _GNU_SOURCE /* readlink, mkdtemp, asprintf */
#include "common/files/option_table.h"
#include "common/files/visible.h"
#include "common/tools/emu/report/report.h"
#include "common/tools/labs/score.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct arguments {
    bool json, drawn, no_gpu, compile, facts, is_own, help;
    uint64_t seed;
    unsigned hint; /* 0: the verdict */
    const char *weights, *nvcc;
    /* Of the grader: what run-lab left of the file, or why the file has no points, or no verdict;
     * and what it left of the step's solution. */
    const char *results, *refused, *unjudged, *reference;
    const char *names[2]; /* LAB SOURCE, or SOURCE FILE */
};

/* Where things are: the programs' folder, and one for this run, which is removed at the end. */
struct places {
    char programs[PATH_MAX], work[PATH_MAX];
};

/* ---- the command line ------------------------------------------------------------------------ */

static int set_seed(void *to, const char *value, struct fault *fault)
{
    if (option_whole(value, UINT64_MAX, &((struct arguments *)to)->seed)) return 0;
    return fail(fault, EXIT_USAGE, "\"%s\" is not a seed; give a number from 0 to 2^64 - 1.",
                value);
}

static int set_hint(void *to, const char *value, struct fault *fault)
{
    ((struct arguments *)to)->hint = (unsigned)(*value - '0');
    if (*value >= '1' && *value <= '3' && !value[1]) return 0;
    return fail(fault, EXIT_USAGE, "\"%s\" is not a level of hints; give 1, 2 or 3.", value);
}

static int set_compiler(void *to, const char *value, struct fault *fault)
{
    ((struct arguments *)to)->is_own = !strcmp(value, "own");
    if (!strcmp(value, "own") || !strcmp(value, "nvcc")) return 0;
    return fail(fault, EXIT_USAGE, "There is no compiler \"%s\"; give nvcc or own.", value);
}

static const struct option_row rows[] = {
    OPTION_FLAG("json", "print the verdict as one JSON object", struct arguments, json),
    OPTION("seed", "S", "seed of inputs, orders of warps, and drawn sizes; default: 1", set_seed),
    OPTION_FLAG("drawn", "draw sizes near those handed out, as the grader does", struct arguments,
                drawn),
    OPTION_TEXT("weights", "FILE", "what each criterion is worth; default: "
                                  "common/tools/labs/weights.txt",
                struct arguments, weights),
    OPTION("hint", "LEVEL", "print a hint in place of the verdict; 1 to 3: the more, the clearer",
           set_hint),
    OPTION_FLAG("no-gpu", "leave out the second check, on a GPU", struct arguments, no_gpu),
    OPTION("compiler", "WHICH", "nvcc, or own: this repository's",
           set_compiler),
    OPTION_TEXT("nvcc", "NVCC", "where nvcc is; default: nvcc", struct arguments, nvcc),
    OPTION_FLAG("compile", "compile SOURCE.cu to PTX, and do nothing else", struct arguments,
                compile),
    OPTION_TEXT("results", "FILE", "for the grader: judge what run-lab left, and run nothing",
                struct arguments, results),
    OPTION_TEXT("reference", "FILE", "for the grader: what run-lab left of the step's solution",
                struct arguments, reference),
    OPTION_TEXT("refused", "WHY", "for the grader: the verdict on what has no points",
                struct arguments, refused),
    OPTION_TEXT("unjudged", "WHY", "for the grader: the verdict on what a person has to look at",
                struct arguments, unjudged),
    OPTION_FLAG("facts", "for the grader: print labs and how they are compiled", struct arguments,
                facts),
    OPTION_FLAG("help", "print this help", struct arguments, help),
};
static const struct option_table table = {rows, sizeof rows / sizeof *rows};

static int read_options(int count, char **argument, struct arguments *arguments,
                        struct fault *fault)
{
    struct command_line line = {.count = count, .arguments = argument, .at = 1};
    int code = option_take_all(table, &line, arguments, arguments->names, 2, fault);
    if (code) return code;
    if (arguments->json && arguments->hint)
        return fail(fault, EXIT_USAGE, "A hint is no JSON; give --json or --hint.");
    if (arguments->help || arguments->facts || arguments->names[1]) return 0;
    return fail(fault, EXIT_USAGE, "Two names are missing: LAB SOURCE.cu; --help says more.");
}

static int print_help(void)
{
    puts("check-lab LAB SOURCE.cu [options]: compile a lab's file, run it on the emulator, and\n"
         "print its points. A file that ends in .ptx is run as it is. The exit code is 0 for full\n"
         "points, 1 for fewer, 2 if the command is wrong, and 3 if the machine failed.\n"
         "notes/labs.md explains the table.\n");
    option_print(table, 20, stdout);
    return 0;
}

/* ---- places ---------------------------------------------------------------------------------- */

static int find_places(struct places *places, struct fault *fault)
{
    const char *temporary = getenv("TMPDIR");
    ssize_t length = readlink("/proc/self/exe", places->programs, PATH_MAX - 1);
    if (length <= 0) return fail(fault, EXIT_DEVICE, "The folder of this program is not known.");
    places->programs[length] = '\0';
    *strrchr(places->programs, '/') = '\0';
    snprintf(places->work, PATH_MAX, "%s/check-lab-XXXXXX", temporary ? temporary : "/tmp");
    if (mkdtemp(places->work)) return 0;
    return fail(fault, EXIT_DEVICE, "A temporary folder cannot be made: %s.", strerror(errno));
}

static void path_of(char path[PATH_MAX], const char *folder, const char *name)
{
    if (snprintf(path, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX) *path = '\0';
}

/* reference3.ptx, or reference-exercise4.ptx; reference3.own.ptx without nvcc. */
static void path_of_solution(char path[PATH_MAX], const struct places *places,
                             const struct lab *lab, bool is_own)
{
    char own[LAB_NAME], name[64];
    snprintf(name, sizeof name, "reference%s%s%s.ptx", lab->exercise ? "-" : "",
             lab_name(lab, own), is_own ? ".own" : "");
    path_of(path, places->programs, name);
}

static void remove_work(const struct places *places)
{
    static const char *const names[] = {"lab.ptx",   "nvcc.txt", "printf.txt",
                                        "order.txt", "results",  "lab.cu"};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        path_of(path, places->work, names[i]);
        unlink(path);
    }
    rmdir(places->work);
}

/* ---- compiling ------------------------------------------------------------------------------- */

/* What the compiler has printed, up to one byte more than is allowed. */
struct messages {
    char bytes[COMPILE_MESSAGES + 2];
    size_t size;
};

static void read_messages(const char *path, struct messages *messages)
{
    FILE *file = fopen(path, "rb");
    messages->size = file ? fread(messages->bytes, 1, COMPILE_MESSAGES + 1, file) : 0;
    messages->bytes[messages->size] = '\0';
    if (file) fclose(file);
}

/* The first ones: thousands of errors have one cause. */
static void print_messages(const struct messages *messages)
{
    enum { SHOWN = 1 << 14 };
    size_t shown = messages->size;
    if (shown > SHOWN)
        for (shown = SHOWN; shown > 0 && messages->bytes[shown - 1] != '\n';) shown--;
    fwrite(messages->bytes, 1, shown, stderr);
    if (shown < messages->size) fputs("(The compiler's other messages are left out.)\n", stderr);
}

/* Why there is no PTX to judge, as the grader says it; or NULL. */
static const char *compile_failure(int code, const struct messages *messages)
{
    if (messages->size > COMPILE_MESSAGES)
        return "With this file, the compiler prints too many messages.";
    if (code == 0) return NULL;
    if (compile_exceeded(code, messages->bytes))
        return "It does not compile: the compiler needs too much time or memory.";
    return COMPILE_REFUSED;
}

static const char *compiler_of(const struct arguments *a) { return a->nvcc ? a->nvcc : "nvcc"; }

/* The command that compiles; `upcc` is the room for the path of the own compiler. */
static void fill_arguments(const struct arguments *a, const struct places *places, const char *ptx,
                           char upcc[PATH_MAX], const char *argv[COMPILE_ARGUMENTS])
{
    path_of(upcc, places->programs, "../cc/upcc");
    if (a->is_own)
        compile_own_arguments(upcc, a->names[1], ptx, argv);
    else
        compile_arguments(compiler_of(a), a->names[1], ptx, argv);
}

static int compile_only(const struct arguments *a, struct fault *fault)
{
    const char *argv[COMPILE_ARGUMENTS];
    compile_arguments(compiler_of(a), a->names[0], a->names[1], argv);
    int code = run_program(argv, NULL);
    if (code == 0) return 0;
    return fail(fault, EXIT_USAGE, "%s cannot be compiled.", a->names[0]);
}

/* ---- running --------------------------------------------------------------------------------- */

static int run_lab(const struct places *places, const struct arguments *a, const char *ptx,
                   const char *results, bool is_order)
{
    char program[PATH_MAX], printed[PATH_MAX], seed[32], fd_text[16];
    int fd = open(results, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0) return -1;
    path_of(program, places->programs, "run-lab");
    path_of(printed, places->work, is_order ? "order.txt" : "printf.txt");
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)a->seed);
    snprintf(fd_text, sizeof fd_text, "%d", fd);
    const char *what = is_order ? "--order" : a->drawn ? NULL : "--handed-out";
    const char *argv[] = {program, a->names[0],
                          ptx,     "--seed",
                          seed,    "--results-fd",
                          fd_text, "--printf",
                          printed, what,
                          NULL};
    int code = run_program(argv, NULL);
    close(fd);
    return code;
}

/* Runs one PTX and reads its results; is_order: of the one run that says what is needed. */
static int results_of(const struct places *places, const struct arguments *a, const char *ptx,
                      bool is_order, struct lab_results *results, struct fault *fault)
{
    char path[PATH_MAX], why[VERDICT_TEXT];
    path_of(path, places->work, "results");
    int code = run_lab(places, a, ptx, path, is_order);
    if (code) return fail(fault, EXIT_DEVICE, "run-lab failed with code %d for %s.", code, ptx);
    if (!results_read_file(path, results, why, sizeof why)) return 0;
    return fail(fault, EXIT_DEVICE, "%s", why);
}

static bool has_no_mistake(const struct lab_verdict *verdict)
{
    for (size_t i = 0; i < verdict->size_count; i++)
        if (!verdict->sizes[i].right || verdict->sizes[i].errors) return false;
    return verdict->size_count > 0;
}

static int judge(const struct places *places, const struct arguments *a, const struct lab *lab,
                 const struct lab_weights *weights, const char *ptx, struct lab_verdict *verdict,
                 struct fault *fault)
{
    char solution[PATH_MAX];
    struct lab_results own = {0}, reference = {0};
    path_of_solution(solution, places, lab, a->is_own);
    int code = results_of(places, a, solution, false, &reference, fault);
    if (!code) code = results_of(places, a, ptx, false, &own, fault);
    if (!code) score_lab(lab, &own, &reference, weights, verdict);
    results_free(&own);
    results_free(&reference);
    /* Points do not depend on it: if it fails, only the remark is missing. */
    if (code || a->hint || !has_no_mistake(verdict)) return code;
    if (!results_of(places, a, ptx, true, &own, &(struct fault){0})) note_order(verdict, &own);
    results_free(&own);
    return 0;
}

static bool is_ptx(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && !strcmp(dot, ".ptx");
}

static int check(const struct places *places, const struct arguments *a, const struct lab *lab,
                 const struct lab_weights *weights, struct lab_verdict *verdict,
                 struct fault *fault)
{
    static struct messages messages;
    char ptx[PATH_MAX], log[PATH_MAX], upcc[PATH_MAX];
    const char *argv[COMPILE_ARGUMENTS], *failure;
    path_of(ptx, places->work, "lab.ptx");
    path_of(log, places->work, "nvcc.txt");
    if (is_ptx(a->names[1])) return judge(places, a, lab, weights, a->names[1], verdict, fault);
    fill_arguments(a, places, ptx, upcc, argv);
    int code = run_compiler(argv, log);
    if (code == 127)
        return fail(fault, EXIT_DEVICE, "%s cannot be started.", a->is_own ? "upcc" : "nvcc");
    read_messages(log, &messages);
    print_messages(&messages);
    failure = compile_failure(code, &messages);
    if (!failure && access(ptx, R_OK))
        return fail(fault, EXIT_DEVICE, "%s left no PTX; is it nvcc?", compiler_of(a));
    if (!failure) return judge(places, a, lab, weights, ptx, verdict, fault);
    score_nothing(lab, weights, failure, verdict);
    verdict->seed = a->seed;
    verdict->handed_out = !a->drawn;
    return 0;
}

/* The first lines of what the student's kernels printed. */
static void print_printed(const struct places *places)
{
    enum { LINES = 20, LINE_BYTES = 200 };
    char path[PATH_MAX], line[LINE_BYTES];
    path_of(path, places->work, "printf.txt");
    FILE *file = fopen(path, "r");
    for (int i = 0; file && i < LINES && fgets(line, sizeof line, file); i++) {
        if (i == 0) printf("\nThe kernels printed (at most %d lines are shown):\n", LINES);
        visible_print(stdout, line, strcspn(line, "\n"));
        putchar('\n');
    }
    if (file) fclose(file);
}

/* Only kernels that end on the emulator are run on a GPU, where nothing could stop them. */
static bool has_ended(const struct lab_verdict *verdict)
{
    for (size_t i = 0; i < verdict->size_count; i++)
        if (verdict->sizes[i].end != LAB_RAN) return false;
    return verdict->size_count > 0;
}

/* The second check, on a GPU if there is one. It gives no points. Returns an exit code. */
static int check_on_gpu(const struct places *places, const struct arguments *a,
                        const struct lab_verdict *verdict)
{
    char program[PATH_MAX], solution[PATH_MAX], ptx[PATH_MAX], seed[32];
    path_of(program, places->programs, "gpu-lab");
    path_of_solution(solution, places, verdict->lab, false);
    path_of(ptx, places->work, "lab.ptx");
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)a->seed);
    const char *argv[] = {program,  a->names[0], is_ptx(a->names[1]) ? a->names[1] : ptx,
                          solution, seed,        a->drawn ? "drawn" : "handed-out",
                          NULL};
    fflush(stdout);
    return run_program(argv, NULL) == EXIT_WRONG ? EXIT_WRONG : EXIT_RIGHT;
}

static const double shown = 0.01; /* points have two decimals, and the rest is rounded */

static int hint(const struct places *places, const struct arguments *a,
                const struct lab_verdict *verdict, FILE *source, struct fault *fault)
{
    char path[PATH_MAX];
    path_of(path, places->programs, "hints.txt");
    FILE *hints = fopen(path, "r");
    if (!hints) return fail(fault, EXIT_USAGE, "%s cannot be opened: %s.", path, strerror(errno));
    int code = print_hint(stdout, verdict, hints, a->hint, a->names[1], source, fault);
    fclose(hints);
    return code;
}

/* After full points. */
static void print_next(const struct lab *lab)
{
    const struct lab *next = NULL;
    for (size_t i = 0; lab_at(i); i++)
        if (lab_at(i) == lab) next = lab_at(i + 1);
    printf("\nCompare with %s, and read on in %s.", lab->source, lab->chapter);
    if (next) printf(" Next: make lab%d", next->number);
    putchar('\n');
}

/* "labs/bug1.cu" is made by `make bug1`, and "labs/exercise3.cu" by `make exercise3`. */
static bool is_made(const char *path, const char *what, int *number)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strlen(what);
    int end = 0;
    return strncmp(name, what, length) == 0 &&
           sscanf(name + length, "%d.cu%n", number, &end) == 1 && end > 0 && !name[length + end];
}

/* After a wrong result, if it is one of those that `make debugN` finds in labs/. */
static void print_debug(const struct arguments *a, const struct lab_verdict *v)
{
    static const struct {
        const char *file, *goal;
    } made[] = {{"lab", "debug"}, {"bug", "debug-bug"}, {"exercise", "debug-exercise"}};
    static const char folder[] = "labs/";
    int number;
    if (v->status != VERDICT_JUDGED || v->right_cases == v->cases) return;
    if (a->drawn || a->is_own || strncmp(a->names[1], folder, strlen(folder)) != 0) return;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (is_made(a->names[1], made[i].file, &number))
            printf("\n`make %s%d` opens the first wrong run in the debugger, which stops where it "
                   "is wrong, and steps back.\n",
                   made[i].goal, number);
}

static int report(const struct places *places, const struct arguments *a,
                  const struct lab_verdict *verdict, FILE *source, struct fault *fault)
{
    if (a->hint) return hint(places, a, verdict, source, fault);
    bool is_full = verdict->points >= verdict->most - shown / 2;
    if (a->json)
        lab_verdict_json(stdout, verdict, a->names[1], false);
    else if (verdict->cases == 0 && verdict->line_count == 1) /* it has no points to lose */
        printf("%s Nothing has run, so no points are taken off.\n", verdict->lines[0].text);
    else
        lab_verdict_text(stdout, verdict, a->names[1]);
    if (!a->json) print_printed(places);
    if (!a->json) print_debug(a, verdict);
    if (!a->json && is_full && !verdict->lab->exercise) print_next(verdict->lab);
    if (verdict->status == VERDICT_UNJUDGED) return EXIT_DEVICE;
    if (!a->json && !a->no_gpu && !a->is_own && has_ended(verdict) &&
        check_on_gpu(places, a, verdict) == EXIT_WRONG)
        return EXIT_WRONG;
    return is_full ? EXIT_RIGHT : EXIT_WRONG;
}

static int weights_of(const struct places *places, const struct arguments *a, const struct lab *lab,
                      struct lab_weights *weights, struct fault *fault)
{
    char path[PATH_MAX], why[VERDICT_TEXT];
    path_of(path, places->programs, "weights.txt");
    if (!lab_weights_read(a->weights ? a->weights : path, lab, weights, why, sizeof why)) return 0;
    return fail(fault, EXIT_USAGE, "%s", why);
}

static int no_source(const char *path, const struct lab *lab, struct fault *fault)
{
    static const char *const made[] = {"bug", "exercise"};
    int number, error = errno;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (is_made(path, made[i], &number))
            return fail(fault, EXIT_USAGE, "%s cannot be read: %s; `make %s%d` writes it.", path,
                        strerror(error), made[i], number);
    return fail(fault, EXIT_USAGE, "%s cannot be read: %s; `make lab%d` writes a skeleton.", path,
                strerror(error), lab->number);
}

static int test_source(const char *path, const struct lab *lab, struct fault *fault)
{
    struct stat status;
    if (access(path, R_OK) || stat(path, &status)) return no_source(path, lab, fault);
    if (!S_ISDIR(status.st_mode)) return 0;
    return fail(fault, EXIT_USAGE, "%s is a folder; give a file, such as %s/lab%d.cu.", path, path,
                lab->number);
}

/* ---- for the grader -------------------------------------------------------------------------- */

#define SOURCE_NAME "lab.cu" /* what the PTX of each submission calls its source */

static int score_results(const struct arguments *a, const struct lab *lab,
                         const struct lab_weights *weights, struct lab_verdict *verdict,
                         struct fault *fault)
{
    char why[VERDICT_TEXT];
    struct lab_results own = {0}, reference = {0};
    int code = 0;
    if (results_read_file(a->results, &own, why, sizeof why))
        leave_open(lab, weights, why, verdict);
    else if (!a->reference || results_read_file(a->reference, &reference, why, sizeof why))
        code = fail(fault, EXIT_DEVICE, "%s", a->reference ? why : "--reference is missing.");
    else
        score_lab(lab, &own, &reference, weights, verdict);
    results_free(&own);
    results_free(&reference);
    return code;
}

/* Prints the verdict as one JSON object, and after it for people. */
static int judge_for_grader(const struct arguments *a, const struct lab *lab,
                            const struct lab_weights *weights, struct fault *fault)
{
    static struct lab_verdict verdict;
    int code = 0;
    if (a->results)
        code = score_results(a, lab, weights, &verdict, fault);
    else if (a->refused)
        score_nothing(lab, weights, a->refused, &verdict);
    else
        leave_open(lab, weights, a->unjudged, &verdict);
    if (code) return code;
    FILE *source = fopen(a->names[1], "r");
    find_gaps(source, &verdict);
    if (source) fclose(source);
    verdict.own_compiler = a->is_own;
    lab_verdict_json(stdout, &verdict, SOURCE_NAME, true);
    lab_verdict_text(stdout, &verdict, SOURCE_NAME);
    return 0;
}

static void put_words(struct json *j, const char *key, const char *const *words)
{
    json_open(j, key, '[');
    for (; *words; words++) json_text(j, NULL, *words);
    json_close(j, ']');
}

static void put_lab(struct json *j, const struct lab *lab)
{
    struct lab_plan plan = {0};
    lab->plan(lab->most, &plan);
    json_open(j, NULL, '{');
    json_number(j, "number", (uint64_t)lab->number);
    json_text(j, "title", lab->title);
    json_open(j, "kernels", '[');
    for (unsigned i = 0; i < plan.launch_count; i++) json_text(j, NULL, plan.launches[i].kernel);
    json_close(j, ']');
    json_close(j, '}');
}

/* The labs, with the kernels that they launch; and how a file is compiled, within which limits. */
static int print_facts(void)
{
    const char *argv[COMPILE_ARGUMENTS];
    struct json j = {.out = stdout};
    json_open(&j, NULL, '{');
    json_open(&j, "labs", '[');
    for (size_t i = 0; lab_at(i); i++) put_lab(&j, lab_at(i));
    json_close(&j, ']');
    compile_arguments("COMPILER", "SOURCE", "PTX", argv);
    put_words(&j, "nvcc", argv);
    compile_own_arguments("COMPILER", "SOURCE", "PTX", argv);
    put_words(&j, "own", argv);
    json_number(&j, "addresses", COMPILE_ADDRESSES);
    json_number(&j, "seconds", COMPILE_SECONDS);
    json_number(&j, "file", COMPILE_FILE);
    json_number(&j, "messages", COMPILE_MESSAGES);
    json_close(&j, '}');
    return 0;
}

static int run(const struct arguments *a, const struct places *places, struct fault *fault)
{
    const struct lab *lab = lab_named(a->names[0]);
    struct lab_weights weights;
    static struct lab_verdict verdict;
    if (!lab) return fail(fault, EXIT_USAGE, "There is no lab \"%s\".", a->names[0]);
    int code = weights_of(places, a, lab, &weights, fault);
    if (!code && (a->results || a->refused || a->unjudged))
        return judge_for_grader(a, lab, &weights, fault);
    if (!code) code = test_source(a->names[1], lab, fault);
    if (!code) code = check(places, a, lab, &weights, &verdict, fault);
    if (code) return code;
    FILE *source = fopen(a->names[1], "r");
    find_gaps(source, &verdict);
    verdict.own_compiler = a->is_own;
    code = report(places, a, &verdict, source, fault);
    if (source) fclose(source);
    return code;
}

int main(int count, char **argument)
{
    struct arguments arguments = {.seed = 1};
    struct places places;
    struct fault fault = {0};
    int code = read_options(count, argument, &arguments, &fault);
    if (!code && arguments.help) return print_help();
    if (!code && arguments.facts) return print_facts();
    if (!code && arguments.compile) {
        code = compile_only(&arguments, &fault);
    } else if (!code) {
        code = find_places(&places, &fault);
        if (!code) {
            code = run(&arguments, &places, &fault);
            remove_work(&places);
        }
    }
    return *fault.text ? fault_say(&fault) : code;
}
