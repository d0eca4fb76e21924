/*
 * debug_lab.c — `make debugN`: runs a lab's file up to the first run that is wrong, says which this
 * is, and then runs it under the debugger, which is told of the wrong element.
 *
 *     emu debug debug-lab LAB FILE.ptx
 *
 * The file is its own user's, and has no points here: so this process runs it and judges it, too.
 */
#include "common/tools/emu/command/settings.h"
#include "common/tools/emu/debug/debug.h"
#include "run_case.h"
#include "score.h"
#include <stdio.h>
#include <stdlib.h>

static const char not_debugged[] =
    "debug-lab: it runs under the debugger: emu debug debug-lab LAB FILE.ptx.";

struct search {
    const struct lab *lab;
    size_t looked_at, first; /* first: the run to begin with, from 0 */
    size_t n;
    uint64_t findings; /* of a run with the right output */
    bool is_wrong;
    struct wrong_output wrong;
};

/* Chooses the first run that is wrong, or else the first one with findings, or else the first. */
static int choose(void *to, struct lab_case_result *r)
{
    struct search *s = to;
    uint64_t findings = r->errors + r->warnings;
    s->is_wrong = !output_is_right(s->lab, r, &s->wrong);
    if (s->is_wrong || s->looked_at == 0 || (findings && !s->findings)) {
        s->first = s->looked_at;
        s->n = r->is.n;
        s->findings = findings;
    }
    s->looked_at++;
    return s->is_wrong;
}

static void say_run(const struct search *s)
{
    if (s->is_wrong)
        printf("Run %zu, with n = %zu, is wrong: %s.\n", s->first + 1, s->n, s->wrong.text);
    else
        printf("The output of all %zu runs is right with nvcc -G. Run %zu, with n = %zu, %s.\n",
               s->looked_at, s->first + 1, s->n,
               s->findings ? "has findings of the checkers" : "begins");
}

static void attach(struct emu *emu)
{
    debug_attach(emu, atoi(setting_text(SETTING_DEBUG)), setting_number(SETTING_HISTORY) << 20);
}

/* The program has an element that is wrong only if its kernels have ended. */
static int tell(void *to, struct lab_case_result *r)
{
    struct wrong_output wrong;
    const struct search *s = to;
    if (r->out && !output_is_right(s->lab, r, &wrong) && wrong.word != SIZE_MAX)
        debug_wrong(r->out_address + wrong.word * sizeof *r->out, sizeof *r->out,
                    wrong.word < r->is.n, wrong.text);
    return EXIT_WRONG;
}

int main(int count, char **argument)
{
    struct lab_ptx ptx;
    struct fault fault = {0};
    FILE *terminal = stdout;
    struct search search = {.lab = count == 3 ? lab_named(argument[1]) : NULL};
    struct lab_runs runs = {
        .lab = search.lab, .seed = 1, .handed_out = true, .take = choose, .to = &search};
    settings_read();
    if (!search.lab || !setting_text(SETTING_DEBUG)) {
        fprintf(stderr, "%s\n", not_debugged);
        return EXIT_USAGE;
    }
    if (ptx_read(argument[2], &ptx, &fault)) return fault_say(&fault);
    stdout = fopen("/dev/null", "w"); /* for a kernel's printf, until the run is chosen */
    run_cases(&runs, &ptx);
    fclose(stdout);
    stdout = terminal;
    setvbuf(stdout, NULL, _IOLBF, 0); /* before the debugger says anything */
    say_run(&search);
    runs.first = search.first;
    runs.opened = attach;
    runs.take = tell;
    run_cases(&runs, &ptx);
    return EXIT_RIGHT;
}
