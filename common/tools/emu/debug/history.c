/* history.c — copies of the process at earlier points of its run, by fork, and control that goes
 * from one to another. See debug.h. */
#define _GNU_SOURCE /* syscall, MAP_ANONYMOUS */
#include "debug.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_COPIES = 96, OF_ONE_LAUNCH = 48 };
#define FIRST_INTERVAL UINT64_C(1000000) /* warp instructions between two copies, at first */

/* A copy that stands still. */
struct past {
    bool is_used, ends; /* ends: it is to end when it wakes; then it is not used any more */
    pid_t process;
    struct run_place place;
    sem_t wake;
};

/* What the copies share. */
static struct history {
    struct past copies[MOST_COPIES];
    uint64_t interval, next; /* the next copy's time in the launch that runs */
    uint64_t faults; /* page faults of the process itself when its memory was last counted */
    struct run_place front;
    pid_t process, again; /* the process itself; the one that runs again, if one does */
    sem_t wake;
} * history;

static enum { PRESENT, COPY, RUNS_AGAIN } role;

bool history_is_present(void) { return role == PRESENT; }
struct run_place history_front(void) { return history->front; }
uint64_t history_next(void) { return role == PRESENT ? history->next : UINT64_MAX; }

void history_open(void)
{
    history =
        mmap(NULL, sizeof *history, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (history == MAP_FAILED) abort();
    sem_init(&history->wake, 1, 0);
    history->process = getpid();
}

void history_launch(void)
{
    history->interval = FIRST_INTERVAL;
    history->next = 0;
}

/* The system's own: _exit of this library is the runtime's, which writes reports. */
void history_leave(void)
{
    for (;;) syscall(SYS_exit_group, EXIT_SUCCESS);
}

/* ---- which copies are kept ------------------------------------------------------------------- */

/* Bytes that a process uses, each page divided by the number of processes that share it, and with
 * `all` undivided. */
static uint64_t memory_of(pid_t process, bool all)
{
    char path[64], line[128];
    unsigned long kilobytes = 0;
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)process);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, all ? "Rss: %lu" : "Pss: %lu", &kilobytes) == 1) break;
    if (file) fclose(file);
    return (uint64_t)kilobytes << 10;
}

/* What the copies take: the memory of all together, less that of the process itself. */
static uint64_t memory_of_copies(void)
{
    uint64_t sum = memory_of(history->process, false), own = memory_of(history->process, true);
    for (unsigned k = 0; k < MOST_COPIES; k++)
        if (history->copies[k].is_used) sum += memory_of(history->copies[k].process, false);
    return sum > own ? sum - own : 0;
}

/* Page faults tell when it is worth counting: each page that is written after a copy was made is
 * one. */
static bool is_too_large(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    uint64_t faults = (uint64_t)usage.ru_minflt,
             grown = (faults - history->faults) * (uint64_t)sysconf(_SC_PAGESIZE);
    if (grown < session->history_bytes / 4) return false;
    history->faults = faults;
    return memory_of_copies() > session->history_bytes;
}

static void end_copy(struct past *copy)
{
    copy->ends = true;
    sem_post(&copy->wake);
}

/* Of the launch that runs every second copy ends, and later ones are further apart; if it has few,
 * the oldest launch's copies end. */
static void thin_out(uint64_t launch)
{
    unsigned own = 0;
    uint64_t oldest = UINT64_MAX;
    struct run_place last = {0};
    for (unsigned k = 0; k < MOST_COPIES; k++) {
        const struct past *copy = &history->copies[k];
        if (!copy->is_used) continue;
        own += copy->place.launch == launch;
        if (copy->place.launch < oldest) oldest = copy->place.launch;
    }
    bool halves = own > OF_ONE_LAUNCH || oldest == launch;
    if (halves) history->interval *= 2;
    while (halves) { /* in order of their places, all that are too close to the one before */
        struct past *next = NULL;
        for (unsigned k = 0; k < MOST_COPIES; k++) {
            struct past *copy = &history->copies[k];
            bool is_meant = copy->is_used && !copy->ends && copy->place.launch == launch &&
                            place_compare(&last, &copy->place) < 0;
            if (is_meant && (!next || place_compare(&copy->place, &next->place) < 0)) next = copy;
        }
        if (!next) break;
        bool is_close = last.launch && next->place.time - last.time < history->interval;
        if (is_close)
            end_copy(next);
        else
            last = next->place;
    }
    for (unsigned k = 0; !halves && k < MOST_COPIES; k++)
        if (history->copies[k].is_used && history->copies[k].place.launch == oldest)
            end_copy(&history->copies[k]);
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* The process ends when its parent does, also if that has been before this call. */
static void end_with(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) history_leave();
}

/* Waits until it is woken. Meanwhile, has the process that runs again crashed? */
static void wait_as_copy(struct past *copy)
{
    for (;;) {
        struct timespec until;
        int status;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec++;
        if (sem_timedwait(&copy->wake, &until) == 0) return;
        pid_t ended = waitpid(-1, &status, WNOHANG);
        if (ended > 0 && ended == history->again && WIFSIGNALED(status)) {
            say("The part of the run that was executed again has crashed (signal %d).\n",
                WTERMSIG(status));
            session->goal = (struct goal){.go = GO_TO, .target = history->front};
            sem_post(&history->wake);
        }
    }
}

/* What is executed again prints nothing. */
static void be_silent(void)
{
    int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
}

/* In a new copy. Returns in the process that runs again. */
static void stand_still(struct past *copy)
{
    role = COPY;
    end_with(history->process);
    for (;;) {
        wait_as_copy(copy);
        while (waitpid(-1, NULL, WNOHANG) > 0) continue;
        if (copy->ends) {
            copy->is_used = false;
            history_leave();
        }
        pid_t again = fork();
        if (again == 0) break;
        if (again > 0) continue;
        say("No process can be started to execute the run again: %s.\n", strerror(errno));
        session->goal = (struct goal){.go = GO_TO, .target = history->front};
        sem_post(&history->wake);
    }
    role = RUNS_AGAIN;
    end_with(copy->process);
    history->again = getpid();
    be_silent();
}

bool history_keep(struct run_place place)
{
    struct past *copy = NULL;
    history->next = place.time + history->interval;
    if (is_too_large()) thin_out(place.launch);
    for (unsigned k = 0; k < MOST_COPIES && !copy; k++)
        if (!history->copies[k].is_used) copy = &history->copies[k];
    if (!copy) {
        thin_out(place.launch);
        return false;
    }
    if (copy->process > 0) waitpid(copy->process, NULL, WNOHANG); /* one that has ended */
    *copy = (struct past){.is_used = true, .place = place};
    sem_init(&copy->wake, 1, 0);
    pid_t process = fork();
    if (process == 0) {
        stand_still(copy);
        return true;
    }
    if (process < 0) {
        copy->is_used = false;
        history->interval *= 2;
    } else {
        copy->process = process;
    }
    return false;
}

/* ---- going ----------------------------------------------------------------------------------- */

/* The last copy before a place, or at it. */
static struct past *last_copy(const struct run_place *place, bool before)
{
    struct past *best = NULL;
    for (unsigned k = 0; k < MOST_COPIES; k++) {
        struct past *copy = &history->copies[k];
        int order = place_compare(&copy->place, place);
        if (!copy->is_used || copy->ends || order > 0 || (before && order == 0)) continue;
        if (!best || place_compare(&copy->place, &best->place) > 0) best = copy;
    }
    return best;
}

bool history_before(const struct run_place *place, struct run_place *found)
{
    const struct past *copy = last_copy(place, true);
    if (copy) *found = copy->place;
    return copy;
}

bool history_next_launch(uint64_t launch, struct run_place *found)
{
    bool has_found = false;
    for (unsigned k = 0; k < MOST_COPIES; k++) {
        const struct past *copy = &history->copies[k];
        if (!copy->is_used || copy->ends || copy->place.launch <= launch) continue;
        if (!has_found || place_compare(&copy->place, found) < 0) *found = copy->place;
        has_found = true;
    }
    return has_found;
}

struct run_place history_first(void)
{
    struct run_place first = history->front;
    history_next_launch(0, &first);
    return first;
}

void history_return(void)
{
    sem_post(&history->wake);
    history_leave();
}

bool history_go(const struct run_place *place, bool before)
{
    struct past *copy = last_copy(place, before);
    if (!copy) return false;
    if (role == PRESENT) history->front = session->place;
    sem_post(&copy->wake);
    if (role != PRESENT) history_leave();
    while (sem_wait(&history->wake) && errno == EINTR) continue;
    session->place = history->front; /* the others have set it to theirs */
    return true;
}
