/*
 * grade_others.c — removes results that do not count: those of earlier gradings, and those of
 * submissions that are not handed in any more.
 */
#define _GNU_SOURCE
#include "grader.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_listed(const struct submission *list, size_t count, const char *id)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].id, id) == 0) return true;
    return false;
}

void state_remove_results(const struct grader *grader, const struct submission *submission)
{
    static const enum state_file all[] = {STATE_ROW, FILE_TEXT, FILE_HTML}; /* the row first */
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        state_path(grader, submission, all[i], path);
        unlink(path);
    }
}

size_t state_remove_others(const struct grader *grader, const struct submission *list, size_t count)
{
    static const char ending[] = ".html";
    char path[PATH_MAX];
    struct submission gone = {.files = 0};
    size_t removed = 0;
    snprintf(path, sizeof path, "%s/reports", grader->out);
    DIR *entries = opendir(path);
    if (entries == NULL) return 0;
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        size_t length = strlen(entry->d_name), end = strlen(ending);
        if (length <= end || length - end >= sizeof gone.id) continue;
        snprintf(gone.id, sizeof gone.id, "%.*s", (int)(length - end), entry->d_name);
        if (strcmp(entry->d_name + length - end, ending) != 0 || is_listed(list, count, gone.id))
            continue;
        state_remove_results(grader, &gone);
        removed++;
    }
    closedir(entries);
    return removed;
}
