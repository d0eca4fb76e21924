/* progress.c — the bar that shows how far a long run is. */
#define _GNU_SOURCE
#include "print.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
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
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool running, stop;
    bool is_terminal; /* stderr is one; otherwise plain lines are printed */
    const char *label;
    size_t total;
    atomic_size_t done;
    struct timespec start;
} bar = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static double elapsed(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - bar.start.tv_sec) +
           1e-9 * (double)(now.tv_nsec - bar.start.tv_nsec);
}

static void draw(void)
{
    fprintf(stderr, "\r\033[K%s ", bar.label);
    if (bar.total) {
        double fraction = (double)bar.done / (double)bar.total;
        int filled = (int)(fraction * BAR_WIDTH);
        for (int i = 0; i < BAR_WIDTH; i++) fputs(i < filled ? "━" : "─", stderr);
        fprintf(stderr, " %3.0f %%", 100 * fraction);
    }
    fprintf(stderr, " %.0f s", elapsed());
    fflush(stderr);
}

/* For stderr that is a file or a pipe: "timed runs: 40 % after 8 s, about 12 s are left". */
static void print_line(void)
{
    double seconds = elapsed(), fraction = bar.total ? (double)bar.done / (double)bar.total : 0;
    if (fraction > 0)
        fprintf(stderr, "%s: %.0f %% after %.0f s, about %.0f s are left\n", bar.label,
                100 * fraction, seconds, seconds * (1 - fraction) / fraction);
    else
        fprintf(stderr, "%s for %.0f s\n", bar.label, seconds);
}

static void wait_for_stop(void)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)(INTERVAL * 1e9);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&bar.wake, &bar.mutex, &until);
}

/* A bar is drawn anew at each interval. Lines are printed each time that the time has doubled; of
 * work whose total is unknown, one. The emulator says more of its launches. */
static void *draw_until_stopped(void *unused)
{
    (void)unused;
    bool drawn = false;
    double next = PATIENCE;
    pthread_mutex_lock(&bar.mutex);
    while (!bar.stop) {
        wait_for_stop();
        if (bar.stop || elapsed() < next) continue;
        if (bar.is_terminal)
            draw();
        else
            print_line(), next = bar.total ? 2 * next : HUGE_VAL;
        drawn = bar.is_terminal;
    }
    pthread_mutex_unlock(&bar.mutex);
    if (drawn) fputs("\r\033[K", stderr);
    return NULL;
}

void progress_begin(const char *label, size_t total)
{
    /* EMU_PROGRESS is the emulator's variable for its own lines. 0 also turns these off. */
    const char *seconds = getenv("EMU_PROGRESS");
    bar.is_terminal = isatty(STDERR_FILENO);
    if (bar.running || (!bar.is_terminal && seconds && strcmp(seconds, "0") == 0)) return;
    bar.label = label;
    bar.total = total;
    bar.done = 0;
    bar.stop = false;
    clock_gettime(CLOCK_MONOTONIC, &bar.start);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&bar.wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    /* If the thread cannot start, there is no bar; nothing else depends on it. */
    bar.running = pthread_create(&bar.thread, NULL, draw_until_stopped, NULL) == 0;
}

void progress_at(size_t done) { bar.done = done; }

void progress_end(void)
{
    if (!bar.running) return;
    pthread_mutex_lock(&bar.mutex);
    bar.stop = true;
    pthread_cond_signal(&bar.wake);
    pthread_mutex_unlock(&bar.mutex);
    pthread_join(bar.thread, NULL);
    pthread_cond_destroy(&bar.wake);
    bar.running = false;
}
