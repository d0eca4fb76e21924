/* progress.c — the bar that shows how far a long run is. */
#define _POSIX_C_SOURCE 200809L
#include "print.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE  2.0 /* seconds before a bar or a line appears */
#define INTERVAL  0.1 /* seconds between two pictures */
#define BAR_WIDTH 30

/* The one bar of the program's one terminal. */
static struct {
    bool running, drawn;
    bool is_terminal; /* stderr is one; otherwise plain lines are printed */
    const char *label;
    size_t total;
    double begin, next; /* on the clock: of the work, and of the next picture or line */
} bar;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void draw(double fraction, double seconds)
{
    int filled = (int)(fraction * BAR_WIDTH);
    fprintf(stderr, "\r\033[K%s ", bar.label);
    for (int i = 0; i < BAR_WIDTH; i++) fputs(i < filled ? "━" : "─", stderr);
    fprintf(stderr, " %3.0f %% %.0f s", 100 * fraction, seconds);
    fflush(stderr);
    bar.drawn = true;
}

void progress_begin(const char *label, size_t total)
{
    /* EMU_PROGRESS is the emulator's variable for its own lines. 0 also turns these off. */
    const char *seconds = getenv("EMU_PROGRESS");
    if (bar.running) return;
    bar.is_terminal = isatty(STDERR_FILENO);
    bar.running = bar.is_terminal || !seconds || strcmp(seconds, "0") != 0;
    bar.label = label;
    bar.total = total;
    bar.begin = now();
    bar.next = bar.begin + PATIENCE;
}

/* A bar is drawn anew at each interval. Lines are printed each time that the time has doubled. */
void progress_at(size_t done)
{
    if (!bar.running || done == 0) return;
    double time = now(), seconds = time - bar.begin, fraction = (double)done / (double)bar.total;
    if (time < bar.next) return;
    if (bar.is_terminal)
        draw(fraction, seconds);
    else
        fprintf(stderr, "%s: %.0f %% after %.0f s, about %.0f s are left\n", bar.label,
                100 * fraction, seconds, seconds * (1 - fraction) / fraction);
    bar.next = bar.is_terminal ? time + INTERVAL : bar.begin + 2 * seconds;
}

void progress_end(void)
{
    if (bar.drawn) fputs("\r\033[K", stderr);
    bar.running = bar.drawn = false;
}
