#include "host.h"

#include <stdio.h>
#include <unistd.h>

size_t host_memory(void)
{
    FILE *file = fopen("/proc/meminfo", "r");
    char line[80];
    size_t kib = 0;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %zu kB", &kib) == 1) break;
    if (file) fclose(file);
    if (kib) return kib * 1024;
    return (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}
