#define _GNU_SOURCE
#include "surroundings.h"

#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const int noted_signals[] = {SIGPIPE, SIGXFSZ};
enum { SIGNALS = sizeof noted_signals / sizeof *noted_signals };

static struct {
    int folder; /* -1: it cannot be opened */
    mode_t mask;
    char locale[256];
    int rounding;
    struct sigaction actions[SIGNALS];
} noted = {.folder = -1};

void surroundings_note(void)
{
    if (noted.folder < 0) noted.folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    noted.mask = umask(0);
    umask(noted.mask);
    snprintf(noted.locale, sizeof noted.locale, "%s", setlocale(LC_ALL, NULL));
    noted.rounding = fegetround();
    for (int i = 0; i < SIGNALS; i++) sigaction(noted_signals[i], NULL, &noted.actions[i]);
}

/* If the folder has been removed, the paths of files do not exist, and writing them says so. */
void surroundings_restore(void)
{
    if (noted.folder >= 0 && fchdir(noted.folder) != 0) return;
    umask(noted.mask);
    setlocale(LC_ALL, noted.locale);
    fesetround(noted.rounding);
    for (int i = 0; i < SIGNALS; i++) sigaction(noted_signals[i], &noted.actions[i], NULL);
}
