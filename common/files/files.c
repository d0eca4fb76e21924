/* files.c — whole files or none: in their folder, put into their place, removed if a signal
 * comes. */
#define _GNU_SOURCE /* mkostemp */
#include "files.h"
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- see files.h ----------------------------------------------------------------------------- */

/* The names of the new files, for a signal handler, which may not allocate. */
static struct new_file {
    atomic_flag taken;
    pid_t process;       /* that made the file: a forked child must leave it alone */
    char name[PATH_MAX]; /* "": there is no file */
} new_files[8];

/* ---- paths ----------------------------------------------------------------------------------- */

int replacement_descriptor(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "/dev/stdin") == 0) return STDIN_FILENO;
    if (strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t length = strlen(folders[i]);
        if (strncmp(path, folders[i], length) != 0) continue;
        char *end;
        long number = strtol(path + length, &end, 10);
        if (path[length] >= '0' && path[length] <= '9' && *end == '\0' && number <= INT_MAX)
            return (int)number;
    }
    return -1;
}

/* The folder of a path; false: it does not exist. */
static bool stat_folder(const char *path, struct stat *status)
{
    char copy[PATH_MAX];
    return snprintf(copy, sizeof copy, "%s", path) < (int)sizeof copy &&
           stat(dirname(copy), status) == 0;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* Do two paths mean the same regular file, or the same file that does not exist yet? Symbolic and
 * hard links are the same file. */
static bool replacement_same(const char *path, const char *other)
{
    struct stat a, b;
    bool exists = stat(path, &a) == 0, other_exists = stat(other, &b) == 0;
    if (exists != other_exists || (exists && !S_ISREG(a.st_mode))) return false;
    if (!exists && (strcmp(last_part(path), last_part(other)) != 0 || !stat_folder(path, &a) ||
                    !stat_folder(other, &b)))
        return false;
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool replacement_is_file(const char *path)
{
    struct stat status;
    if (replacement_descriptor(path) >= 0) return false;
    return stat(path, &status) != 0 || S_ISREG(status.st_mode);
}

/* ---- the new file ---------------------------------------------------------------------------- */

/* A free entry; NULL and errno if there is none. */
static struct new_file *take_entry(void)
{
    for (size_t i = 0; i < sizeof new_files / sizeof *new_files; i++)
        if (!atomic_flag_test_and_set(&new_files[i].taken)) return &new_files[i];
    errno = EMFILE;
    return NULL;
}

/* It gets the permissions of the old file, or those of any new one. */
static FILE *open_new(struct replacement *new)
{
    struct stat old;
    struct new_file *entry = new->made = take_entry();
    if (entry == NULL) return NULL;
    mode_t mask = umask(0);
    umask(mask);
    mode_t mode = stat(new->target, &old) == 0 ? old.st_mode & 0777 : 0666 & ~mask;
    const char *name = last_part(new->target);
    int length = snprintf(entry->name, sizeof entry->name, "%.*s%.100s.new-XXXXXX",
                          (int)(name - new->target), new->target, name);
    entry->process = getpid();
    errno = ENAMETOOLONG;
    int file = length < (int)sizeof entry->name ? mkostemp(entry->name, O_CLOEXEC) : -1;
    if (file < 0) *entry->name = '\0';
    if (file >= 0) (void)!fchmod(file, mode);
    return file >= 0 ? fdopen(file, "wb") : NULL;
}

static FILE *open_descriptor(int descriptor)
{
    int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    return copy >= 0 ? fdopen(copy, "wb") : NULL;
}

int replacement_begin(struct replacement *new, const char *path)
{
    *new = (struct replacement){.file = NULL};
    int descriptor = replacement_descriptor(path);
    if (descriptor >= 0) {
        new->file = open_descriptor(descriptor);
    } else if (!replacement_is_file(path)) {
        new->file = fopen(path, "wbe");
    } else {
        new->target = realpath(path, NULL);
        if (new->target == NULL && errno == ENOENT) new->target = strdup(path);
        new->file = new->target != NULL ? open_new(new) : NULL;
    }
    if (new->file != NULL) return 0;
    int error = errno;
    replacement_drop(new);
    return error;
}

const char *replacement_name(const struct replacement *new)
{
    return new->made != NULL ? new->made->name : NULL;
}

/* Completes the new file, but not in its place. */
static int replacement_close(struct replacement *new)
{
    int error = ferror(new->file) ? EIO : 0;
    if (fflush(new->file) != 0) error = errno;
    if (fclose(new->file) != 0 && error == 0) error = errno;
    new->file = NULL;
    if (error != 0) replacement_drop(new);
    return error;
}

int replacement_end(struct replacement *new)
{
    int error = new->file != NULL ? replacement_close(new) : 0;
    if (error == 0 && new->made != NULL && rename(new->made->name, new->target) != 0)
        error = errno;
    if (error == 0 && new->made != NULL) *new->made->name = '\0';
    replacement_drop(new);
    return error;
}

void replacement_drop(struct replacement *new)
{
    struct new_file *entry = new->made;
    bool inherited = entry != NULL && entry->process != getpid();
    if (inherited && new->file != NULL) __fpurge(new->file);
    if (new->file != NULL) fclose(new->file);
    if (entry != NULL && *entry->name && !inherited) unlink(entry->name);
    if (entry != NULL) *entry->name = '\0', atomic_flag_clear(&entry->taken);
    free(new->target);
    *new = (struct replacement){.file = NULL};
}

void replacement_drop_all(void)
{
    for (size_t i = 0; i < sizeof new_files / sizeof *new_files; i++)
        if (*new_files[i].name && new_files[i].process == getpid()) unlink(new_files[i].name);
}

/* ---- before a long run ----------------------------------------------------------------------- */

int replacement_check(const char *path)
{
    struct stat status;
    size_t length = strlen(path);
    int descriptor = replacement_descriptor(path);
    if (descriptor >= 0) {
        int flags = fcntl(descriptor, F_GETFL);
        return flags < 0 ? errno : (flags & O_ACCMODE) == O_RDONLY ? EBADF : 0;
    }
    bool exists = stat(path, &status) == 0;
    if (!exists && errno != ENOENT) return errno;
    if (exists ? S_ISDIR(status.st_mode) : length > 0 && path[length - 1] == '/') return EISDIR;
    if (exists && access(path, W_OK) != 0) return errno;
    if (!replacement_is_file(path)) return 0;
    struct replacement trial;
    int error = replacement_begin(&trial, path);
    if (error == 0) replacement_drop(&trial);
    return error;
}

/* ---- finds out which files must not be overwritten ------------------------------------------- */

static bool is_stream(const char *path)
{
    return path == NULL || strcmp(path, "stdout") == 0 || strcmp(path, "stderr") == 0;
}

bool output_is_same(const char *path, const char *other)
{
    return !is_stream(path) && !is_stream(other) && replacement_same(path, other);
}

/* The first bytes of programs, libraries and objects for Linux. */
static bool is_elf(const char *path)
{
    static const char magic[4] = {0x7f, 'E', 'L', 'F'};
    char head[sizeof magic];
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return false;
    FILE *file = fopen(path, "r");
    if (file == NULL) return false;
    bool is =
        fread(head, 1, sizeof head, file) == sizeof head && memcmp(head, magic, sizeof magic) == 0;
    fclose(file);
    return is;
}

/* An existing file that is called like a source of C, C++, CUDA or Python. */
static bool is_source(const char *path)
{
    static const char *const endings[] = {".cu",  ".cuh", ".c",   ".h",   ".cc", ".cpp",
                                          ".cxx", ".hpp", ".hxx", ".inl", ".py", ".ptx"};
    struct stat status;
    const char *ending = strrchr(path, '.');
    if (ending == NULL || stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (strcmp(ending, endings[i]) == 0) return true;
    return false;
}

const char *output_refusal(const char *path, const char *program, char *const *arguments)
{
    if (is_stream(path)) return NULL;
    if (output_is_same(path, program)) return "is the program itself";
    if (is_elf(path)) return "is a program or a library";
    for (; arguments != NULL && *arguments != NULL; arguments++) {
        const char *value = strchr(*arguments, '=');
        if (output_is_same(path, *arguments) || (value != NULL && output_is_same(path, value + 1)))
            return "is named by the program's arguments, too";
    }
    return is_source(path) ? "is a source file" : NULL;
}

/* ---- see files.h ----------------------------------------------------------------------------- */

/* Writes to an open stream, which it leaves open. */
static int write_stream(FILE *out, const char *text, size_t length)
{
    if (fwrite(text, 1, length, out) != length || fflush(out) != 0) return errno;
    return 0;
}

static FILE *standard_stream(const char *path)
{
    if (path == NULL || strcmp(path, "stdout") == 0) return stdout;
    return strcmp(path, "stderr") == 0 ? stderr : NULL;
}

int whole_file_write(const char *path, const char *text, size_t length)
{
    FILE *standard = standard_stream(path);
    if (standard != NULL) return write_stream(standard, text, length);
    struct replacement file;
    int error = replacement_begin(&file, path);
    if (error != 0) return error;
    error = write_stream(file.file, text, length);
    if (error == 0) return replacement_end(&file);
    replacement_drop(&file);
    return error;
}

int whole_file_check(const char *path)
{
    return standard_stream(path) != NULL ? 0 : replacement_check(path);
}
