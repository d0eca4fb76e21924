/*
 * grade_return.c — a folder for each student with the report, to be given back. The folders are
 * called as the submissions are, since programs for courses take feedback under these names.
 */
#define _GNU_SOURCE
#include "grader.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MODE = 0777, REPORT_BYTES = 64 << 20 };

static bool is_empty(DIR *entries)
{
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) return false;
    return true;
}

int return_check(const char *folder, struct fault *fault)
{
    DIR *entries = opendir(folder);
    if (entries == NULL && errno == ENOENT) return 0;
    if (entries == NULL)
        return fail(fault, EXIT_USAGE, "the folder %s cannot be read: %s", folder, strerror(errno));
    bool empty = is_empty(entries);
    closedir(entries);
    if (empty) return 0;
    return fail(fault, EXIT_USAGE, "%s is not empty: give a new folder by --return", folder);
}

static int make_folder(const char *path, struct fault *fault)
{
    if (mkdir(path, MODE) == 0 || errno == EEXIST) return 0;
    return fail(fault, EXIT_USAGE, "the folder %s cannot be made: %s", path, strerror(errno));
}

static int copy(const struct grader *grader, const struct submission *submission,
                enum state_file which, const char *to, struct fault *fault)
{
    char from[PATH_MAX];
    size_t size;
    state_path(grader, submission, which, from);
    char *bytes = state_read(from, REPORT_BYTES, &size);
    if (bytes == NULL) return fail(fault, EXIT_USAGE, "%s cannot be read", from);
    int code = state_write(to, bytes, size, fault);
    free(bytes);
    return code;
}

static bool has_twin(const struct submission *list, size_t count, size_t of)
{
    for (size_t i = 0; i < count; i++)
        if (i != of && strcmp(list[i].name, list[of].name) == 0) return true;
    return false;
}

/* If a student has handed in NAME.cu and a folder NAME, the reports' own names differ. */
static int give_back(const struct grader *grader, const char *folder, bool by_id,
                     const struct submission *submission, struct fault *fault)
{
    char path[PATH_MAX], to[PATH_MAX + 16];
    if (snprintf(path, sizeof path, "%s/%s", folder, by_id ? submission->id : submission->name) >=
        PATH_MAX)
        return fail(fault, EXIT_USAGE, "the name of %s/%s is too long", folder, submission->name);
    int code = make_folder(path, fault);
    snprintf(to, sizeof to, "%s/report.html", path);
    if (code == 0) code = copy(grader, submission, FILE_HTML, to, fault);
    snprintf(to, sizeof to, "%s/report.txt", path);
    return code != 0 ? code : copy(grader, submission, FILE_TEXT, to, fault);
}

int return_reports(const struct grader *grader, const char *folder, const struct submission *list,
                   size_t count, struct fault *fault)
{
    int code = make_folder(folder, fault);
    for (size_t i = 0; code == 0 && i < count; i++)
        code = give_back(grader, folder, has_twin(list, count, i), &list[i], fault);
    return code;
}
