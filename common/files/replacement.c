/*
 * replacement.c — see replacement.h.
 *
 * The names of the new files stand in an array of fixed size, so that a signal handler can remove
 * them: it may neither allocate nor lock.
 */
#define _GNU_SOURCE /* asprintf */
#include "replacement.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SLOTS = 8,        /* new files at a time */
    SHOWN_NAME = 100, /* bytes of the target's name that stand in the new name */
    ATTEMPTS = 100,   /* attempts to find a name that is not taken */
};

enum slot_state { SLOT_FREE, SLOT_TAKEN, SLOT_NAMED };

static struct slot {
    _Atomic int state;
    pid_t process; /* the process that made the file: a forked child must leave it alone */
    char name[PATH_MAX];
} slots[SLOTS];

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

/* The path itself if it is absolute, otherwise the path within the folder of `beside`. The caller
 * frees it. */
static char *in_folder_of(const char *beside, const char *path)
{
    const char *slash = strrchr(beside, '/');
    char *whole = NULL;
    if (path[0] == '/' || slash == NULL) return strdup(path);
    return asprintf(&whole, "%.*s/%s", (int)(slash - beside), beside, path) < 0 ? NULL : whole;
}

/* The path of a file that does not exist, in a folder that does. */
static char *resolve_folder(const char *path)
{
    char *first = strdup(path), *second = strdup(path), *result = NULL;
    char *folder = first != NULL && second != NULL ? realpath(dirname(first), NULL) : NULL;
    if (folder != NULL && asprintf(&result, "%s/%s", folder, basename(second)) < 0) result = NULL;
    int error = errno;
    free(first);
    free(second);
    free(folder);
    errno = error;
    return result;
}

/* The path without symbolic links. Its last part may be missing, or be a link to a missing file.
 * NULL and errno if the folder does not exist. The caller frees it. */
static char *resolve(const char *path)
{
    char *whole = realpath(path, NULL), link[PATH_MAX];
    if (whole != NULL || errno != ENOENT) return whole;
    ssize_t length = readlink(path, link, sizeof link - 1);
    if (length < 0) return resolve_folder(path);
    link[length] = '\0';
    char *next = in_folder_of(path, link); /* a loop is ELOOP, not ENOENT */
    whole = next != NULL ? resolve(next) : NULL;
    int error = errno;
    free(next);
    errno = error;
    return whole;
}

static bool same_inode(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Two resolved paths of files that do not exist: the same name in the same folder? */
static bool same_place(char *path, char *other)
{
    struct stat folder, other_folder;
    if (path == NULL || other == NULL) return false;
    if (strcmp(strrchr(path, '/'), strrchr(other, '/')) != 0) return false;
    return stat(dirname(path), &folder) == 0 && stat(dirname(other), &other_folder) == 0 &&
           same_inode(&folder, &other_folder);
}

bool replacement_same(const char *path, const char *other)
{
    struct stat status, other_status;
    bool exists = stat(path, &status) == 0, other_exists = stat(other, &other_status) == 0;
    if (exists && other_exists)
        return S_ISREG(status.st_mode) && same_inode(&status, &other_status);
    if (exists || other_exists) return false;
    char *place = resolve(path), *other_place = resolve(other);
    bool same = same_place(place, other_place);
    free(place);
    free(other_place);
    return same;
}

bool replacement_is_file(const char *path)
{
    struct stat status;
    if (replacement_descriptor(path) >= 0) return false;
    return stat(path, &status) != 0 || S_ISREG(status.st_mode);
}

/* ---- the new file ---------------------------------------------------------------------------- */

/* A free slot; -1 and errno if all are taken. */
static int take_slot(void)
{
    for (int i = 0; i < SLOTS; i++) {
        int expected = SLOT_FREE;
        if (!atomic_compare_exchange_strong(&slots[i].state, &expected, SLOT_TAKEN)) continue;
        slots[i].process = getpid();
        return i;
    }
    errno = EMFILE;
    return -1;
}

/* A file's name, as long as a process has it open. */
struct open_name {
    char text[40];
};

static struct open_name name_of_open(pid_t process, int file)
{
    struct open_name name;
    snprintf(name.text, sizeof name.text, "/proc/%ld/fd/%d", (long)process, file);
    return name;
}

/* Opens a new file without a name in the target's folder. Returns -1 where it could not get a name
 * later: the file system has no such files, or there is no /proc. */
static int open_nameless(const char *target, mode_t mode)
{
    char *copy = strdup(target);
    int file = copy ? open(dirname(copy), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode) : -1;
    free(copy);
    if (file < 0 || access(name_of_open(getpid(), file).text, F_OK) == 0) return file;
    close(file);
    return -1;
}

/* Gives a file without a name this one, which must not be taken. */
static int link_nameless(int file, const char *name)
{
    return linkat(AT_FDCWD, name_of_open(getpid(), file).text, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

/* Gives a file another name beside the target: that of the slot. The file `nameless` gets it, or,
 * if that is -1, a new file is opened. The name is recorded for the signal handler before the file
 * has it. Returns a descriptor, or -1. */
static int name_beside(struct slot *slot, const char *target, mode_t mode, int nameless)
{
    const char *name = strrchr(target, '/') + 1;
    for (int i = 0; i < ATTEMPTS; i++) {
        int length = snprintf(slot->name, sizeof slot->name, "%.*s%.*s.%ld-%d.new",
                              (int)(name - target), target, SHOWN_NAME, name, (long)getpid(), i);
        if (length >= (int)sizeof slot->name) {
            errno = ENAMETOOLONG;
            return -1;
        }
        slot->state = SLOT_NAMED;
        int file = nameless;
        if (nameless < 0)
            file = open(slot->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        else if (link_nameless(nameless, slot->name) != 0)
            file = -1;
        if (file >= 0) return file;
        slot->state = SLOT_TAKEN;
        if (errno != EEXIST) return -1;
    }
    return -1;
}

/* Gives the new file the owner and permissions of the old one, as far as that is allowed and the
 * file system has them. */
static void take_over(int file, const struct stat *old)
{
    struct stat new;
    if (fstat(file, &new) != 0) return;
    if ((new.st_uid != old->st_uid || new.st_gid != old->st_gid) &&
        fchown(file, old->st_uid, old->st_gid) != 0)
        return;
    (void)!fchmod(file, old->st_mode & 0777);
}

static FILE *open_stream(int descriptor)
{
    FILE *file = fdopen(descriptor, "wb");
    if (file == NULL) close(descriptor);
    return file;
}

static FILE *open_new(struct replacement *new)
{
    struct stat old;
    bool exists = stat(new->target, &old) == 0;
    new->slot = take_slot();
    if (new->slot < 0) return NULL;
    mode_t mode = exists ? old.st_mode & 0777 : 0666;
    int file = open_nameless(new->target, mode);
    if (file < 0) file = name_beside(&slots[new->slot], new->target, mode, -1);
    if (file < 0) return NULL;
    if (exists) take_over(file, &old);
    return open_stream(file);
}

static FILE *open_descriptor(int descriptor)
{
    int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    return copy >= 0 ? open_stream(copy) : NULL;
}

int replacement_begin(struct replacement *new, const char *path)
{
    *new = (struct replacement){.slot = -1, .nameless = -1};
    int descriptor = replacement_descriptor(path);
    if (descriptor >= 0) {
        new->file = open_descriptor(descriptor);
    } else if (!replacement_is_file(path)) {
        new->file = fopen(path, "wbe");
    } else {
        new->target = resolve(path);
        new->file = new->target != NULL ? open_new(new) : NULL;
    }
    if (new->file != NULL) return 0;
    int error = errno;
    replacement_drop(new);
    return error;
}

const char *replacement_name(struct replacement *new, bool for_other_machines)
{
    if (new->target == NULL) return NULL;
    struct slot *slot = &slots[new->slot];
    int file = fileno(new->file);
    if (slot->state == SLOT_NAMED) return slot->name;
    if (for_other_machines) return name_beside(slot, new->target, 0, file) >= 0 ? slot->name : NULL;
    strcpy(slot->name, name_of_open(slot->process, file).text);
    return slot->name;
}

static void forget(struct replacement *new)
{
    if (new->nameless >= 0) close(new->nameless);
    if (new->slot >= 0) slots[new->slot].state = SLOT_FREE;
    free(new->target);
    *new = (struct replacement){.slot = -1, .nameless = -1};
}

int replacement_close(struct replacement *new)
{
    int error = ferror(new->file) ? EIO : 0;
    if (fflush(new->file) != 0) error = errno;
    if (error == 0 && new->target != NULL && fsync(fileno(new->file)) != 0) error = errno;
    if (error == 0 && new->target != NULL && slots[new->slot].state != SLOT_NAMED &&
        (new->nameless = fcntl(fileno(new->file), F_DUPFD_CLOEXEC, 0)) < 0)
        error = errno;
    if (fclose(new->file) != 0 && error == 0) error = errno;
    new->file = NULL;
    if (error != 0) replacement_drop(new);
    return error;
}

/* Puts the closed file into its place. A file without a name can get one that is not taken: if the
 * target exists, it needs another name in between. Returns 0 or -1. */
static int put_into_place(const struct replacement *new)
{
    struct slot *slot = &slots[new->slot];
    if (slot->state != SLOT_NAMED) {
        if (link_nameless(new->nameless, new->target) == 0) return 0;
        if (errno != EEXIST || name_beside(slot, new->target, 0, new->nameless) < 0) return -1;
    }
    return rename(slot->name, new->target);
}

int replacement_end(struct replacement *new)
{
    int error = new->file != NULL ? replacement_close(new) : 0;
    if (error == 0 && new->target != NULL && put_into_place(new) != 0) error = errno;
    if (error != 0)
        replacement_drop(new);
    else
        forget(new);
    return error;
}

void replacement_drop(struct replacement *new)
{
    bool inherited = new->slot >= 0 && slots[new->slot].process != getpid();
    if (inherited && new->file != NULL) __fpurge(new->file);
    if (new->file != NULL) fclose(new->file);
    if (new->slot >= 0 && !inherited && slots[new->slot].state == SLOT_NAMED)
        unlink(slots[new->slot].name);
    forget(new);
}

void replacement_drop_all(void)
{
    for (int i = 0; i < SLOTS; i++)
        if (slots[i].state == SLOT_NAMED && slots[i].process == getpid()) unlink(slots[i].name);
}

/* ---- before a long run ----------------------------------------------------------------------- */

static int check_descriptor(int descriptor)
{
    int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0) return errno;
    return (flags & O_ACCMODE) == O_RDONLY ? EBADF : 0;
}

int replacement_check(const char *path)
{
    struct stat status;
    size_t length = strlen(path);
    int descriptor = replacement_descriptor(path);
    if (descriptor >= 0) return check_descriptor(descriptor);
    bool exists = stat(path, &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) return EISDIR;
    if (!exists && length > 0 && path[length - 1] == '/') return EISDIR;
    if (exists && access(path, W_OK) != 0) return errno;
    if (!replacement_is_file(path)) return 0;
    struct replacement trial;
    int error = replacement_begin(&trial, path);
    if (error == 0) replacement_drop(&trial);
    return error;
}
