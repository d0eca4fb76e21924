/*
 * grade_labs.c — `make grade`: judges the submissions of a class.
 *
 *     grade-labs LAB FOLDER [--out FOLDER] [--seed S] [--jobs J] [--weights FILE] [--nvcc NVCC]
 *                [--bwrap FILE] [--no-sandbox]
 */
#define _GNU_SOURCE
#include "grader.h"
#include "common/files/option_table.h"
#include "common/files/visible.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct arguments {
    struct grader grader;
    const char *weights, *roster, *nvcc;
    const char *names[2]; /* LAB, FOLDER */
    bool help, again;
    char programs[PATH_MAX], out[PATH_MAX], weights_path[PATH_MAX];
};

/* ---- the command line ------------------------------------------------------------------------ */

static int read_number(const char *value, uint64_t most, uint64_t *number, struct fault *fault)
{
    if (option_whole(value, most, number)) return 0;
    return fail(fault, EXIT_USAGE, "\"%s\" is not a number from 0 to %llu", value,
                (unsigned long long)most);
}

static int set_seed(void *to, const char *value, struct fault *fault)
{
    struct grader *grader = &((struct arguments *)to)->grader;
    grader->seed_given = true;
    return read_number(value, UINT64_MAX, &grader->seed, fault);
}

static int set_jobs(void *to, const char *value, struct fault *fault)
{
    enum { MOST_JOBS = 256 };
    uint64_t jobs;
    int code = read_number(value, MOST_JOBS, &jobs, fault);
    if (code == 0) ((struct arguments *)to)->grader.jobs = (unsigned)jobs;
    return code;
}

static int set_compiler(void *to, const char *value, struct fault *fault)
{
    ((struct arguments *)to)->grader.own_compiler = !strcmp(value, "own");
    if (!strcmp(value, "own") || !strcmp(value, "nvcc")) return 0;
    return fail(fault, EXIT_USAGE, "there is no compiler \"%s\"; give nvcc or own", value);
}

static int set_return(void *to, const char *value, struct fault *fault)
{
    ((struct arguments *)to)->grader.returns = value;
    return return_check(value, fault);
}

static const struct option_row rows[] = {
    OPTION_TEXT("out", "FOLDER", "where grades.csv and reports go; default: grades/labN",
                struct arguments, grader.out),
    OPTION("seed", "S", "repeat the grading that had this seed; default: a fresh one", set_seed),
    OPTION("jobs", "J",
           "submissions at a time; default: one for each processor and for each 2 GiB of memory",
           set_jobs),
    OPTION_FLAG("again", "judge again what has the status \"look at it\"", struct arguments, again),
    OPTION_TEXT("weights", "FILE", "what each criterion is worth; default: "
                                  "common/tools/labs/weights.txt",
                struct arguments, weights),
    OPTION_TEXT("roster", "FILE",
                "names of the class, one a line: each gets a row of grades.csv; after a\n"
                "tab may follow by what Moodle identifies the student",
                struct arguments, roster),
    OPTION("return", "FOLDER", "copy reports to a new FOLDER/NAME, to give them back", set_return),
    OPTION_FLAG("bom", "begin grades.csv with the mark by which Excel recognises UTF-8",
                struct arguments, grader.bom),
    OPTION("compiler", "WHICH", "nvcc, or own: this repository's, which compiles labs 2 to 5",
           set_compiler),
    OPTION_TEXT("nvcc", "NVCC", "where nvcc is; default: nvcc", struct arguments, nvcc),
    OPTION_TEXT("bwrap", "FILE", "the program of bubblewrap; default: bwrap", struct arguments,
                grader.bwrap),
    OPTION_FLAG("no-sandbox", "run submissions without protection, if you trust them all",
                struct arguments, grader.unprotected),
    OPTION_FLAG("help", "print this help", struct arguments, help),
};
static const struct option_table table = {rows, sizeof rows / sizeof *rows};

static int read_options(int count, char **argument, struct arguments *to, struct fault *fault)
{
    struct command_line line = {.count = count, .arguments = argument, .at = 1};
    int code = option_take_all(table, &line, to, to->names, 2, fault);
    if (code || to->help || to->names[1]) return code;
    return fail(fault, EXIT_USAGE, "LAB and FOLDER are missing; --help says more");
}

static int print_help(void)
{
    puts(
        "grade-labs LAB FOLDER [options]: judges the submissions in FOLDER, which are files "
        "NAME.cu\n"
        "and folders NAME with a file labN.cu or with one file that ends in .cu. It writes\n"
        "grades.csv and a report for each. The exit code is 0 if all are judged, 2 if the command\n"
        "is wrong, and 3 if the machine failed; the same command again goes on then.\n"
        "notes/instructor.md says more.\n");
    option_print(table, 20, stdout);
    return 0;
}

/* ---- what is needed -------------------------------------------------------------------------- */

/* The own compiler compiles a subset, to which the solutions of some labs belong. */
static int find_own_solution(struct arguments *a, struct fault *fault)
{
    uint64_t bits[2];
    if (solution_bits(&a->grader, a->grader.lab, bits)) return 0;
    return fail(fault, EXIT_USAGE, "lab %d needs nvcc: the own compiler compiles labs 2 to 5",
                a->grader.lab->number);
}

static int find_programs(struct arguments *a, struct fault *fault)
{
    ssize_t length = readlink("/proc/self/exe", a->programs, PATH_MAX - 1);
    if (length <= 0) return fail(fault, EXIT_DEVICE, "the folder of this program is not known");
    a->programs[length] = '\0';
    *strrchr(a->programs, '/') = '\0';
    a->grader.programs = a->programs;
    if (a->grader.own_compiler) return find_own_solution(a, fault);
    return toolkit_find(&a->grader.toolkit, a->nvcc == NULL ? "nvcc" : a->nvcc, fault);
}

static int read_weights(struct arguments *a, struct fault *fault)
{
    char why[VERDICT_TEXT];
    snprintf(a->weights_path, PATH_MAX, "%.*s/weights.txt", PATH_MAX - 16, a->programs);
    if (a->weights == NULL) a->weights = a->weights_path;
    if (lab_weights_read(a->weights, a->grader.lab, &a->grader.weights, why, sizeof why) == 0)
        return 0;
    return fail(fault, EXIT_USAGE, "%s", why);
}

static int test_sandbox(const struct grader *grader, struct fault *fault)
{
    char confine[PATH_MAX], why[256];
    snprintf(confine, sizeof confine, "%.*s/confine", PATH_MAX - 16, grader->programs);
    if (grader->unprotected) {
        fputs("grade-labs: no sandbox: what is handed in may read your files\n", stderr);
        return 0;
    }
    if (sandbox_works(grader->bwrap, confine, why, sizeof why)) return 0;
    return fail(fault, EXIT_DEVICE,
                "no sandbox can be started (%s): `make setup-labs` installs bubblewrap, "
                "notes/instructor.md says what the system has to allow, and --no-sandbox does "
                "without",
                why);
}

static int prepare(struct arguments *a, struct fault *fault)
{
    struct grader *grader = &a->grader;
    grader->lab = lab_named(a->names[0]);
    grader->folder = a->names[1];
    if (grader->lab == NULL) return fail(fault, EXIT_USAGE, "there is no lab \"%s\"", a->names[0]);
    if (grader->out == NULL) {
        snprintf(a->out, PATH_MAX, "grades/lab%d", grader->lab->number);
        grader->out = a->out;
    }
    if (grader->jobs == 0) grader->jobs = jobs_here();
    int code = find_programs(a, fault);
    if (code == 0) code = read_weights(a, fault);
    if (code == 0 && a->roster != NULL) code = roster_read(a->roster, &grader->roster, fault);
    if (code == 0) code = test_sandbox(grader, fault);
    if (code == 0) code = state_begin(grader, fault);
    if (code == 0) grade_basis(grader);
    return code != 0 ? code : seed_check(grader, fault);
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Says that rows are judged again, and why. */
static void tell_old_rows(const struct grader *grader, const struct submission *list, size_t count)
{
    size_t all = 0;
    for (size_t i = 0; i < count; i++) {
        bool old;
        free(state_row(grader, &list[i], &old));
        all += old;
    }
    if (all > 0)
        fprintf(stderr,
                "grade-labs: the weights, the seed or the programs are not those of %zu rows in %s;"
                " these submissions are judged again\n",
                all, grader->out);
}

/* Reports of what is no longer handed in would be given back by mistake. */
static void remove_withdrawn(const struct grader *grader, const struct submission *list,
                             size_t count)
{
    size_t others = state_remove_others(grader, list, count);
    if (others > 0)
        fprintf(stderr,
                "grade-labs: %zu submissions are no longer in %s; their reports are removed\n",
                others, grader->folder);
}

/* Says what stands in the column of notes. */
static void tell_notes(const struct grader *grader, const struct submission *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *note;
        size_t size;
        FILE *to = open_memstream(&note, &size);
        if (to == NULL) abort();
        print_note(to, grader, list, count, i);
        fclose(to);
        if (size > 0) {
            fputs("grade-labs: ", stderr);
            visible_print(stderr, list[i].path, strlen(list[i].path));
            fputs(": ", stderr);
            visible_print(stderr, note, size);
            fputc('\n', stderr);
        }
        free(note);
    }
}

/* ---- grading --------------------------------------------------------------------------------- */

typedef bool is_open_fn(const struct grader *, const struct submission *);

static bool is_not_compiled(const struct grader *grader, const struct submission *submission)
{
    struct compiled compiled;
    if (!state_compiled(grader, submission, &compiled)) return true;
    free(compiled.messages);
    return compiled.kind == OUTCOME_DOUBTFUL;
}

static bool is_not_judged(const struct grader *grader, const struct submission *submission)
{
    char *row = state_row(grader, submission, NULL);
    free(row);
    return row == NULL;
}

/* Without a new text the compiler is not needed, and so need not be tested. */
static bool needs_compiler(const struct grader *grader, const struct submission *list, size_t count)
{
    struct grader alone = *grader; /* what is in doubt is compiled once more, alone */
    alone.alone = true;
    if (!solution_is_compiled(grader)) return true;
    for (size_t i = 0; i < count; i++)
        if (worker_has_new(&alone, &list[i])) return true;
    return false;
}

/* Does a job for all, and then once more for those that are still open, one at a time: the machine
 * may have been too busy, or short of memory. Returns how many have failed for good. */
static size_t do_twice(const struct grader *grader, const struct submission *list, size_t count,
                       const char *label, job_fn *job, is_open_fn *is_open)
{
    struct grader alone = *grader;
    struct submission *open = calloc(count, sizeof *open);
    size_t open_count = 0, failed = 0;
    char again[64];
    if (open == NULL) abort();
    run_jobs(grader, list, count, label, job);
    for (size_t i = 0; i < count; i++)
        if (is_open(grader, &list[i])) open[open_count++] = list[i];
    alone.alone = true;
    alone.jobs = 1;
    snprintf(again, sizeof again, "again, alone: %s", label);
    if (open_count > 0) failed = run_jobs(&alone, open, open_count, again, job);
    free(open);
    return failed;
}

static void tell_to_look(const struct grader *grader, const struct submission *submission)
{
    char why[FAULT_TEXT] = "tried twice without a result; look at it, or try once more with "
                           "--again";
    size_t size;
    if (submission->unclear)
        free(submission_read(grader->folder, submission, &size, why, sizeof why));
    fputs("grade-labs: ", stderr);
    visible_print(stderr, submission->path, strlen(submission->path));
    fprintf(stderr, ": %s%s\n", submission->unclear ? "not graded; look at it: " : "", why);
}

/* Says which submissions a person has to look at; with `again`, forgets that. */
static void look_at(const struct grader *grader, const struct submission *list, size_t count,
                    bool again)
{
    for (size_t i = 0; i < count; i++) {
        char *row = state_row(grader, &list[i], NULL);
        bool look = row != NULL && strncmp(row, STATUS_LOOK, strlen(STATUS_LOOK)) == 0;
        free(row);
        if (look && again) state_remove_results(grader, &list[i]);
        if (look && !again) tell_to_look(grader, &list[i]);
    }
}

static int judge_all(struct grader *grader, const struct submission *list, size_t count, bool again,
                     size_t *failed, struct fault *fault)
{
    int code = seed_choose(grader, fault);
    if (code == 0) tell_old_rows(grader, list, count);
    if (code == 0) code = solution_run(grader, NULL, fault);
    if (code != 0) return code;
    if (again) look_at(grader, list, count, true);
    *failed += do_twice(grader, list, count, "judge", worker_judge, is_not_judged);
    results_free(&grader->reference);
    return 0;
}

static int grade_all(struct grader *grader, const struct submission *list, size_t count, bool again,
                     struct fault *fault)
{
    size_t failed;
    int code = needs_compiler(grader, list, count) ? solution_compile(grader, fault) : 0;
    if (code != 0) return code;
    failed = do_twice(grader, list, count, "compile", worker_compile, is_not_compiled);
    code = judge_all(grader, list, count, again, &failed, fault);
    if (code != 0) return code;
    remove_withdrawn(grader, list, count);
    code = csv_write(grader, list, count, fault);
    if (code == 0) code = moodle_write(grader, list, count, fault);
    tell_notes(grader, list, count);
    look_at(grader, list, count, false);
    if (code == 0 && failed == 0 && grader->returns != NULL)
        code = return_reports(grader, grader->returns, list, count, fault);
    if (code != 0 || failed == 0) return code;
    return fail(fault, EXIT_DEVICE,
                "%zu jobs failed for the reasons above; the same command again does the rest",
                failed);
}

static int grade(struct arguments *a, struct fault *fault)
{
    struct submission *list;
    size_t count;
    int code = prepare(a, fault);
    if (code == 0)
        code = submissions_find(a->grader.folder, a->grader.lab->number, &list, &count, fault);
    if (code != 0) return code;
    if (count == 0)
        code = fail(fault, EXIT_USAGE, "%s holds no file NAME.cu and no folder NAME",
                    a->grader.folder);
    else
        code = grade_all(&a->grader, list, count, a->again, fault);
    free(list);
    if (code == 0)
        printf("%zu submissions, seed %llu: %s/grades.csv\n", count,
               (unsigned long long)a->grader.seed, a->grader.out);
    return code;
}

int main(int count, char **argument)
{
    static struct arguments arguments;
    struct fault fault = {0};
    int code = read_options(count, argument, &arguments, &fault);
    if (code == 0 && arguments.help) return print_help();
    if (code == 0) code = grade(&arguments, &fault);
    roster_end(&arguments.grader.roster);
    return code == 0 ? 0 : fault_say(&fault);
}
