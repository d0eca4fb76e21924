/* process_tree.c — adds up what a process and all its descendants use, from /proc. */
#define _GNU_SOURCE
#include "sandbox.h"

#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Deeper trees are not followed: each level holds a process, and their number is limited. */
enum { DEEPEST = 128, PATH_SIZE = 64, STAT_SIZE = 1024 };

static void add_resident(pid_t process, struct tree_usage *sum)
{
    char path[PATH_SIZE];
    uint64_t pages;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)process);
    FILE *file = fopen(path, "re");
    if (file == NULL) return;
    if (fscanf(file, "%*u %" SCNu64, &pages) == 1)
        sum->resident += pages * (uint64_t)sysconf(_SC_PAGESIZE);
    fclose(file);
}

/* The name of a thread stands in parentheses and may hold any bytes, so the last ) ends it. */
static void add_thread(const char *folder, const char *thread, struct tree_usage *sum)
{
    char path[2 * PATH_SIZE], text[STAT_SIZE], state;
    uint64_t user, system;
    snprintf(path, sizeof path, "%s/%.16s/stat", folder, thread);
    FILE *file = fopen(path, "re");
    if (file == NULL) return;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    const char *rest = strrchr(text, ')');
    if (rest == NULL ||
        sscanf(rest + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64, &state,
               &user, &system) != 3)
        return;
    sum->ticks += user + system;
    sum->active += state == 'R' || state == 'D';
}

static void add_below(pid_t process, int depth, struct tree_usage *sum);

/* The children that one thread of a process has started. */
static void add_children(const char *folder, const char *thread, int depth, struct tree_usage *sum)
{
    char path[2 * PATH_SIZE];
    int child;
    snprintf(path, sizeof path, "%s/%.16s/children", folder, thread);
    FILE *file = fopen(path, "re");
    if (file == NULL) return;
    while (fscanf(file, "%d", &child) == 1) add_below(child, depth + 1, sum);
    fclose(file);
}

static void add_below(pid_t process, int depth, struct tree_usage *sum)
{
    char folder[PATH_SIZE];
    if (depth > DEEPEST) return;
    add_resident(process, sum);
    snprintf(folder, sizeof folder, "/proc/%d/task", (int)process);
    DIR *threads = opendir(folder);
    if (threads == NULL) return;
    sum->processes++;
    for (struct dirent *thread; (thread = readdir(threads)) != NULL;) {
        if (thread->d_name[0] == '.') continue;
        add_thread(folder, thread->d_name, sum);
        add_children(folder, thread->d_name, depth, sum);
    }
    closedir(threads);
}

struct tree_usage process_tree_usage(pid_t root)
{
    struct tree_usage sum = {0};
    add_below(root, 0, &sum);
    return sum;
}

bool process_tree_works(void)
{
    pid_t child = fork();
    if (child == 0)
        for (;;) pause();
    if (child < 0) return false;
    struct tree_usage usage = process_tree_usage(getpid());
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return usage.processes >= 2 && usage.resident > 0;
}
