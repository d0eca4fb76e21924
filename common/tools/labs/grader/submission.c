/* submission.c — finds what students have handed in, and copies it. */
#define _GNU_SOURCE
#include "grader.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- names ---------------------------------------------------------------------------------- */

/* Letters, digits and - _ . of a text stay; any other byte becomes ~ and two hexadecimal digits. So
 * do - and . at the beginning, where they have a meaning. */
static void make_id(struct submission *submission, const char *text)
{
    enum { HASH = 17, BYTE = 3 }; /* a dash and the hash's digits; what one byte becomes at most */
    char *to = submission->id;
    const char *last = to + sizeof submission->id - 1 - HASH - BYTE;
    const char *at = text;
    for (; *at != '\0' && to < last; at++) {
        bool plain = isascii(*at) && (isalnum(*at) || strchr("-_.", *at) != NULL);
        if (plain && !(at == text && strchr("-.", *at) != NULL))
            *to++ = *at;
        else
            to += sprintf(to, "~%02X", (unsigned char)*at);
    }
    if (*at != '\0') to += sprintf(to, "-%016" PRIx64, hash_bytes(HASH_NONE, text, strlen(text)));
    *to = '\0';
}

/* Upper and lower case are the same: some systems write LAB3.CU. */
static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), least = strlen(end);
    return length > least && strcasecmp(text + length - least, end) == 0;
}

/* The folder's file of the lab: labN.cu, or the only one that ends in .cu, since browsers and
 * students call files as they like. */
static void choose_file(int folder, int lab, struct submission *submission)
{
    char own[32], only[NAME_MAX + 1];
    bool has_own = false;
    snprintf(own, sizeof own, "lab%d.cu", lab);
    snprintf(submission->path, sizeof submission->path, "%s/%s", submission->name, own);
    int inner = openat(folder, submission->name, O_RDONLY | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = inner < 0 ? NULL : fdopendir(inner);
    if (entries == NULL) return;
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        if (entry->d_name[0] == '.') continue;
        submission->others += !ends_with(entry->d_name, ".cu");
        if (!ends_with(entry->d_name, ".cu")) continue;
        has_own = has_own || strcmp(entry->d_name, own) == 0;
        snprintf(only, sizeof only, "%s", entry->d_name);
        submission->files++;
    }
    closedir(entries);
    submission->unclear =
        !has_own && submission->files != 1 && submission->files + submission->others > 0;
    if (submission->files == 0)
        snprintf(submission->path, sizeof submission->path, "%s/", submission->name);
    if (!has_own && submission->files == 1)
        snprintf(submission->path, sizeof submission->path, "%s/%s", submission->name, only);
}

/* The report of NAME is called NAME, unless there is a file NAME.cu beside the folder NAME. */
static void make_folder_id(int folder, struct submission *submission)
{
    char text[SUBMISSION_NAME];
    struct stat status;
    snprintf(text, sizeof text, "%s.cu", submission->name);
    bool twice = fstatat(folder, text, &status, AT_SYMLINK_NOFOLLOW) == 0;
    snprintf(text, sizeof text, "%s%s", submission->name, twice ? "/" : "");
    make_id(submission, text);
}

/* A file that is no NAME.cu, such as NAME.zip or NAME.cu.txt, which mail programs make. The slash
 * keeps its report apart from that of a file whose NAME ends in .zip. */
static void take_other_file(const char *name, struct submission *submission)
{
    char text[SUBMISSION_NAME];
    char *dot = strrchr(submission->name, '.');
    if (dot != NULL) *dot = '\0';
    if (ends_with(submission->name, ".cu"))
        submission->name[strlen(submission->name) - strlen(".cu")] = '\0';
    snprintf(text, sizeof text, "%s/", name);
    make_id(submission, text);
    submission->unclear = true;
}

/* Files such as .DS_Store, and those with "._" before the name of another one, which macOS writes,
 * are not a student's. */
static bool is_systems(const char *name)
{
    return name[0] == '.' && (name[1] == '_' || !ends_with(name, ".cu"));
}

/* Is an entry a submission? A folder counts if its name is no NAME.cu; what is called NAME.cu
 * counts, whatever it is, so that its student gets a reason. */
static bool take_entry(int folder, const char *name, int lab, struct submission *submission)
{
    struct stat status;
    *submission = (struct submission){.files = 0};
    if (is_systems(name)) return false;
    snprintf(submission->name, sizeof submission->name, "%s", name);
    snprintf(submission->path, sizeof submission->path, "%s", name);
    if (ends_with(name, ".cu")) {
        submission->name[strlen(name) - strlen(".cu")] = '\0';
        /* NAME.CU keeps its suffix: its report is not that of NAME.cu or of the folder NAME. */
        bool usual = strcmp(name + strlen(name) - strlen(".cu"), ".cu") == 0;
        make_id(submission, usual ? submission->name : name);
        return true;
    }
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return false;
    if (S_ISREG(status.st_mode)) {
        take_other_file(name, submission);
        return true;
    }
    choose_file(folder, lab, submission);
    make_folder_id(folder, submission);
    return true;
}

static int by_path(const void *left, const void *right)
{
    return strcmp(((const struct submission *)left)->path,
                  ((const struct submission *)right)->path);
}

int submissions_find(const char *folder, int lab, struct submission **list, size_t *count,
                     struct fault *fault)
{
    *list = NULL;
    *count = 0;
    DIR *entries = opendir(folder);
    if (entries == NULL)
        return fail(fault, EXIT_USAGE, "the folder %s cannot be read: %s", folder, strerror(errno));
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        *list = realloc(*list, (*count + 1) * sizeof **list);
        if (*list == NULL) abort();
        if (take_entry(dirfd(entries), entry->d_name, lab, &(*list)[*count])) ++*count;
    }
    closedir(entries);
    if (*count > 0) qsort(*list, *count, sizeof **list, by_path);
    return 0;
}

int submission_at(const char *path, int lab, char folder[PATH_MAX], struct submission *submission,
                  struct fault *fault)
{
    char *slash, name[NAME_MAX + 1];
    if (realpath(path, folder) == NULL)
        return fail(fault, EXIT_USAGE, "%s cannot be read: %s", path, strerror(errno));
    slash = strrchr(folder, '/');
    snprintf(name, sizeof name, "%s", slash + 1);
    slash[slash == folder] = '\0';
    int above = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool found = above >= 0 && take_entry(above, name, lab, submission);
    if (above >= 0) close(above);
    return found ? 0 : fail(fault, EXIT_USAGE, "%s is neither a folder nor a file", path);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Opens a path of at most two parts below a folder; neither part may be a link. */
static int open_below(int folder, const char *path)
{
    const char *slash = strchr(path, '/');
    int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
    if (slash == NULL) return openat(folder, path, flags);
    char first[NAME_MAX + 1];
    snprintf(first, sizeof first, "%.*s", (int)(slash - path), path);
    int inner = openat(folder, first, flags | O_DIRECTORY);
    if (inner < 0) return -1;
    int file = openat(inner, slash + 1, flags);
    int error = errno;
    close(inner);
    errno = error;
    return file;
}

static char *refuse(char *why, size_t size, const char *sentence)
{
    snprintf(why, size, "%s", sentence);
    return NULL;
}

/* Why nothing in a folder can be graded, or why a file is not. */
static char *refuse_unclear(const struct submission *submission, char *why, size_t size)
{
    if (strchr(submission->path, '/') == NULL)
        return refuse(why, size, "The name of the file does not end in .cu.");
    if (submission->files < 2) {
        snprintf(why, size, "The folder holds no file that ends in .cu%s.",
                 submission->others > 0 ? ", but other files or folders" : "");
        return NULL;
    }
    snprintf(why, size, "The folder holds %u files that end in .cu, and none of them is %s.",
             submission->files, strrchr(submission->path, '/') + 1);
    return NULL;
}

/* Reads at most the allowed bytes and one more, also if the file grows meanwhile. */
static char *read_all(int file, size_t *size)
{
    char *bytes = malloc(SUBMISSION_BYTES + 2);
    if (bytes == NULL) abort();
    *size = 0;
    for (ssize_t got; *size <= SUBMISSION_BYTES; *size += (size_t)got)
        if ((got = read(file, bytes + *size, SUBMISSION_BYTES + 1 - *size)) <= 0) break;
    bytes[*size] = '\0';
    return bytes;
}

static char *read_regular(int file, size_t *size, char *why, size_t why_size)
{
    struct stat status;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode))
        return refuse(why, why_size, "What was handed in is not a regular file.");
    char *bytes = read_all(file, size);
    if (*size <= SUBMISSION_BYTES) return bytes;
    free(bytes);
    return refuse(why, why_size, "The file has more than 256 KiB; a lab's file has far fewer.");
}

char *submission_read(const char *folder, const struct submission *submission, size_t *size,
                      char *why, size_t why_size)
{
    if (submission->unclear) return refuse_unclear(submission, why, why_size);
    int below = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int file = below < 0 ? -1 : open_below(below, submission->path);
    int error = errno;
    if (below >= 0) close(below);
    if (file < 0 && (error == ELOOP || error == ENOTDIR))
        return refuse(why, why_size, "What was handed in is a link, which is not followed.");
    if (file < 0 && error == ENOENT) return refuse_unclear(submission, why, why_size);
    if (file < 0) {
        snprintf(why, why_size, "The file cannot be read: %s.", strerror(error));
        return NULL;
    }
    char *bytes = read_regular(file, size, why, why_size);
    close(file);
    return bytes;
}
