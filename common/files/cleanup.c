#define _GNU_SOURCE
#include "cleanup.h"

#include "replacement.h"

#include <signal.h>
#include <stddef.h>

static struct sigaction before[NSIG];
static bool is_caught[NSIG];
static int depth; /* calls of cleanup_begin() that have not ended */

bool cleanup_ends_program(int number)
{
    static const int others[] = {SIGKILL, SIGSTOP, SIGCHLD, SIGCONT, SIGTSTP,
                                 SIGTTIN, SIGTTOU, SIGURG,  SIGWINCH};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i] == number) return false;
    return number > 0 && number < NSIG;
}

/* Then comes the action that was set before: at once if it asks where the signal comes from, else
 * when this handler returns, because the signal is delivered again. */
static void remove_files(int number, siginfo_t *info, void *context)
{
    replacement_drop_all();
    if (before[number].sa_flags & SA_SIGINFO) {
        before[number].sa_sigaction(number, info, context);
        return;
    }
    sigaction(number, &before[number], NULL);
    raise(number);
}

static bool is_ignored(const struct sigaction *action)
{
    return !(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_IGN;
}

/* The signals that the C library keeps for itself cannot be caught. No other program sends them. */
void cleanup_begin(void)
{
    struct sigaction action = {.sa_sigaction = remove_files, .sa_flags = SA_SIGINFO};
    if (depth++ > 0) return;
    for (int number = 1; number < NSIG; number++)
        is_caught[number] = cleanup_ends_program(number) &&
                            sigaction(number, NULL, &before[number]) == 0 &&
                            !is_ignored(&before[number]) && sigaction(number, &action, NULL) == 0;
}

void cleanup_end(void)
{
    if (--depth > 0) return;
    for (int number = 1; number < NSIG; number++)
        if (is_caught[number]) sigaction(number, &before[number], NULL);
}
