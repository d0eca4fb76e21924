/* process_tree.c — see process_tree.h. */
#define _GNU_SOURCE
#include "process_tree.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/* Deeper trees are not followed: each level holds a process, and their number is limited. */
enum { DEEPEST = 128, PATH_SIZE = 64 };

static uint64_t resident_of(pid_t process)
{
    char path[PATH_SIZE];
    uint64_t pages = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)process);
    FILE *file = fopen(path, "re");
    if (file == NULL) return 0;
    if (fscanf(file, "%*u %" SCNu64, &pages) != 1) pages = 0;
    fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t resident_below(pid_t process, int depth);

/* The children that one thread of a process has started. */
static uint64_t resident_of_children(pid_t process, const char *thread, int depth)
{
    char path[2 * PATH_SIZE];
    uint64_t bytes = 0;
    int child;
    snprintf(path, sizeof path, "/proc/%d/task/%.16s/children", (int)process, thread);
    FILE *file = fopen(path, "re");
    if (file == NULL) return 0;
    while (fscanf(file, "%d", &child) == 1) bytes += resident_below(child, depth + 1);
    fclose(file);
    return bytes;
}

static uint64_t resident_below(pid_t process, int depth)
{
    if (depth > DEEPEST) return 0;
    char path[PATH_SIZE];
    uint64_t bytes = resident_of(process);
    snprintf(path, sizeof path, "/proc/%d/task", (int)process);
    DIR *threads = opendir(path);
    if (threads == NULL) return bytes;
    for (struct dirent *thread; (thread = readdir(threads)) != NULL;)
        if (thread->d_name[0] != '.') bytes += resident_of_children(process, thread->d_name, depth);
    closedir(threads);
    return bytes;
}

uint64_t process_tree_resident(pid_t root) { return resident_below(root, 0); }
