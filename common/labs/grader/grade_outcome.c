/*
 * grade_outcome.c — runs a program of the grader in the sandbox, and says whose fault it is if the
 * program was ended.
 */
#define _GNU_SOURCE
#include "grader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the program does that a submission must not make it do; NULL: nothing of that kind. */
static const char *misdeed(const struct sandbox_result *result)
{
    switch (result->ending) {
    case SANDBOX_OUTPUT:
        return result->descriptor == SANDBOX_RESULTS ? "leaves more bytes than any solution needs"
                                                     : "prints too many messages";
    case SANDBOX_MEMORY: return "needs too much memory";
    case SANDBOX_IDLE: return "waits for something that never comes";
    default: return NULL;
    }
}

bool outcome_of_ending(const struct sandbox_result *result, const char *text, const char *what,
                       struct outcome *outcome)
{
    enum { CONFINE_FAILED = 125 };
    const char *why = misdeed(result);
    outcome->kind = why != NULL ? OUTCOME_REFUSED : OUTCOME_FAILED;
    if (why != NULL)
        snprintf(outcome->why, sizeof outcome->why, "With this file, %s %s.", what, why);
    else if (result->ending == SANDBOX_WALL)
        snprintf(outcome->why, sizeof outcome->why,
                 "The time for %s is over; this machine is too busy or too slow.", what);
    else if (result->ending == SANDBOX_NOT_BEGUN || result->status == CONFINE_FAILED)
        snprintf(outcome->why, sizeof outcome->why, "The sandbox did not start: %.*s",
                 (int)strcspn(text, "\n"), text);
    else
        return false;
    return true;
}

void outcome_run(const struct grader *grader, struct sandbox_command *command, judge_fn *judge,
                 struct outcome *outcome)
{
    char confine[PATH_MAX];
    struct sandbox_result result;
    struct fault fault;
    snprintf(confine, sizeof confine, "%s/confine", grader->programs);
    command->bwrap = grader->bwrap;
    command->unprotected = grader->unprotected;
    command->container = grader->container;
    command->confine = confine;
    *outcome = (struct outcome){.kind = OUTCOME_FAILED};
    if (sandbox_run(command, &result, &fault) != 0)
        snprintf(outcome->why, sizeof outcome->why, "%s", fault.text);
    else
        judge(&result, command->outputs, outcome);
    outcome->messages = command->outputs[0].bytes;
    outcome->bytes = command->outputs[1].bytes;
    outcome->size = command->outputs[1].size;
}

void outcome_end(struct outcome *outcome)
{
    free(outcome->bytes);
    free(outcome->messages);
    outcome->bytes = outcome->messages = NULL;
}
