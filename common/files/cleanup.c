#define _GNU_SOURCE
#include "cleanup.h"

#include "replacement.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGXCPU};
#define NUMBERS (sizeof numbers / sizeof *numbers)

static struct sigaction before[NUMBERS];

/* The signal comes again, to what was there before, when this handler returns. */
static void remove_files(int number)
{
    replacement_drop_all();
    for (size_t i = 0; i < NUMBERS; i++)
        if (numbers[i] == number) sigaction(number, &before[i], NULL);
    raise(number);
}

void cleanup_begin(void)
{
    struct sigaction action = {.sa_handler = remove_files};
    for (size_t i = 0; i < NUMBERS; i++) {
        sigaction(numbers[i], NULL, &before[i]);
        bool ignored = !(before[i].sa_flags & SA_SIGINFO) && before[i].sa_handler == SIG_IGN;
        if (!ignored) sigaction(numbers[i], &action, NULL);
    }
}

void cleanup_end(void)
{
    for (size_t i = 0; i < NUMBERS; i++) sigaction(numbers[i], &before[i], NULL);
}
