/*
 * progress.c — a line on stderr where kernels run for long: which kernel runs, how many of its
 * blocks are done, how long the rest will take, and what makes it faster.
 *
 * A thread looks at the devices once a second. So launches themselves have nothing to do for it,
 * and the seconds are those in which it found a kernel running. On a terminal the line is drawn
 * anew each time, and removed when the kernel ends. Elsewhere it is repeated whenever the time has
 * doubled.
 */
#define _GNU_SOURCE /* flockfile */
#include "common/emu/ptx/kernel_name.h"
#include "common/files/visible.h"
#include "cudart.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE_SIZE = 1024 };

static unsigned patience;    /* seconds */
static atomic_bool is_drawn; /* on the terminal's last line */

void cudart_progress_settings(void) { patience = (unsigned)setting_number(SETTING_PROGRESS); }

/* ---- the sentences --------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void append(char line[LINE_SIZE], const char *format,
                                                         ...)
{
    size_t used = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + used, LINE_SIZE - used, format, arguments);
    va_end(arguments);
}

/* "2 h 5 min", "61 s" */
static void append_time(char line[LINE_SIZE], double seconds)
{
    enum { MINUTE = 60, HOUR = 3600 };
    long whole = (long)(seconds + 0.5);
    if (whole >= HOUR)
        append(line, "%ld h %ld min", whole / HOUR, whole % HOUR / MINUTE);
    else if (whole >= 2 * MINUTE)
        append(line, "%ld min", whole / MINUTE);
    else
        append(line, "%ld s", whole);
}

/* Blocks take turns, so that many may have begun before the first has ended. The estimate takes
 * them for not begun: the rest is rather less. There is none if no block has ended in the second
 * half of the time, because the others may never end. */
static void append_rest(char line[LINE_SIZE], const struct emu_progress *p)
{
    append(line, "%" PRIu64 " of %" PRIu64 " blocks are done after ", p->done, p->blocks);
    append_time(line, p->seconds);
    if (p->done == 0 || 2 * p->advanced < p->seconds) {
        append(line, ", %" PRIu64 " have begun", p->begun);
        return;
    }
    append(line, ", about ");
    append_time(line, p->seconds * (double)(p->blocks - p->done) / (double)p->done);
    append(line, " are left");
}

static void append_kernel(char line[LINE_SIZE], const struct emu_progress *p)
{
    char name[EMU_NAME_SIZE];
    kernel_base_name(p->kernel, name, sizeof name);
    append(line, "kernel %s", name);
    if (p->launch > 0) append(line, " (launch %u)", p->launch);
}

static void append_advice(char line[LINE_SIZE], const struct emu_progress *p)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    append(line, "; faster: a smaller problem");
    if (setting_text(SETTING_TOOL) != NULL) append(line, ", no --tool");
    if (setting_text(SETTING_TRACE) != NULL) append(line, ", no --trace");
    if (setting_text(SETTING_SCHEDULE) != NULL) append(line, ", no --schedule");
    if (setting_text(SETTING_THREADS) != NULL && p->threads < cores && p->threads < p->blocks)
        append(line, ", --threads %ld", cores);
    append(line, " (EMU_PROGRESS=0: no such lines)");
}

/* Many short launches take long, too: then the line says so. */
static void describe(char line[LINE_SIZE], const struct emu_progress *p, unsigned busy)
{
    bool is_short = 2 * p->seconds < busy; /* others have run for most of the time */
    line[0] = '\0';
    if (is_short) {
        append(line, "kernels have run for ");
        append_time(line, busy);
        append(line, " in all, now ");
        append_kernel(line, p);
    } else {
        append_kernel(line, p);
        append(line, ": ");
        append_rest(line, p);
    }
}

/* ---- printing -------------------------------------------------------------------------------- */

static void put(const char *before, const char *line, char after)
{
    flockfile(stderr);
    fputs(before, stderr);
    visible_print(stderr, line, strlen(line));
    fputc(after, stderr);
    fflush(stderr);
    funlockfile(stderr);
}

static void print(const char *line) { put("emu: ", line, '\n'); }

/* The cursor goes back to the line's beginning, so that what the program prints replaces it. */
static void draw(const char *line)
{
    put("\r\033[Kemu: ", line, '\r');
    is_drawn = true;
}

void cudart_progress_remove(void)
{
    if (!is_drawn) return;
    flockfile(stderr);
    fputs("\033[K", stderr);
    fflush(stderr);
    is_drawn = false;
    funlockfile(stderr);
}

/* ---- the thread ------------------------------------------------------------------------------ */

static bool find_running(struct emu_progress *progress)
{
    for (int i = 0; i < cudart_device_count(); i++)
        if (emu_progress(cudart_device_at(i)->emu, progress)) return true;
    return false;
}

static void tell(const struct emu_progress *progress, unsigned busy, bool is_terminal)
{
    static unsigned next; /* the time of the next line */
    char line[LINE_SIZE];
    if (next == 0) next = patience;
    bool is_first = busy == patience;
    if (busy < next && !(is_terminal && busy > patience)) return;
    describe(line, progress, busy);
    if (is_first) append_advice(line, progress);
    if (is_first || !is_terminal)
        print(line);
    else
        draw(line);
    if (busy == next) next *= 2;
}

static void *watch(void *unused)
{
    struct emu_progress progress;
    bool is_terminal = isatty(STDERR_FILENO);
    unsigned busy = 0; /* seconds at which a kernel ran */
    for (;;) {
        const struct timespec second = {.tv_sec = 1};
        nanosleep(&second, NULL);
        if (!find_running(&progress)) continue;
        if (++busy >= patience) tell(&progress, busy, is_terminal);
    }
    return unused;
}

void cudart_progress_watch(void)
{
    pthread_t thread;
    sigset_t all, old;
    if (patience == 0) return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); /* signals are for the program's own threads */
    bool has_thread = pthread_create(&thread, NULL, watch, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (has_thread) pthread_detach(thread);
}
