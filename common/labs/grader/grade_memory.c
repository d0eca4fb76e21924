/*
 * grade_memory.c — how many submissions can be compiled or run at a time without running short of
 * memory.
 */
#include "grader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The number behind a name in a file; false: it does not hold one. A file of one number has no
 * name. */
static bool read_bytes(const char *path, const char *name, uint64_t *bytes)
{
    char line[128];
    bool found = false;
    FILE *file = fopen(path, "re");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL)
        found = strncmp(line, name, strlen(name)) == 0 &&
                sscanf(line + strlen(name), "%" SCNu64, bytes) == 1;
    if (file != NULL) fclose(file);
    return found;
}

/* What is left of a limit of a container. */
static uint64_t left_of(const char *limit, const char *used)
{
    uint64_t most, now;
    if (!read_bytes(limit, "", &most) || !read_bytes(used, "", &now)) return UINT64_MAX;
    return most > now ? most - now : 0;
}

/* Bytes of memory that are available. Containers have limits of their own, in files of the second
 * or of the first version of control groups. Their count of used bytes includes the cache of
 * files, so the number of jobs may become lower than it has to be. */
static uint64_t available(void)
{
    uint64_t kibibytes, least = UINT64_MAX;
    if (read_bytes("/proc/meminfo", "MemAvailable:", &kibibytes)) least = kibibytes << 10;
    const uint64_t left[] = {
        left_of("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        left_of("/sys/fs/cgroup/memory/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    };
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        if (left[i] < least) least = left[i];
    return least;
}

unsigned jobs_within(unsigned processors, uint64_t memory)
{
    uint64_t jobs = memory / GRADER_JOB_BYTES;
    if (jobs > processors) jobs = processors;
    return jobs == 0 ? 1 : (unsigned)jobs;
}

unsigned jobs_here(void)
{
    return jobs_within((unsigned)sysconf(_SC_NPROCESSORS_ONLN), available());
}
