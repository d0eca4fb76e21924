/*
 * files.h — writes a new file in the same folder, and puts it into its place when it is
 * complete.
 *
 * Until then the old file stays as it is, also for programs that are reading it. The new file has
 * another name beside its place; a process that is killed leaves it there. Only regular files are
 * replaced. A device, a pipe, or a descriptor (/dev/stdout, /dev/fd/3) is written directly. The
 * harness writes its files in this way, and so does the emulator.
 */
#ifndef EMU_REPLACEMENT_H
#define EMU_REPLACEMENT_H

#include <stdbool.h>
#include <stdio.h>

struct new_file;

struct replacement {
    FILE *file;   /* to be written to; NULL: nothing was begun, or it has been closed */
    char *target; /* the place: the path with symbolic links followed; NULL: nothing is replaced */
    struct new_file *made; /* its name; NULL: there is no new file */
};

/*
 * Begins a new file for a path. It gets the permissions of the file that it will replace, or those
 * of any new file. Returns 0 or an errno; after an errno there is nothing to end.
 */
int replacement_begin(struct replacement *, const char *path);

/* The name under which another process may write to the new file, too, until replacement_close;
 * NULL if the file is written directly. */
const char *replacement_name(const struct replacement *);

/* Completes the new file, but not in its place. A full disk shows here at the latest. Returns 0, or
 * an errno; after an errno the new file has been removed. */
int replacement_close(struct replacement *);

/* Puts the new file, closed or not, into its place. Returns 0, or an errno; after an errno the old
 * file is unchanged and the new one has been removed. */
int replacement_end(struct replacement *);

/* Removes the new file, if there is one. In a child that has inherited it by fork, it forgets the
 * file and leaves it to the parent. */
void replacement_drop(struct replacement *);

/* Removes the new files of all replacements that this process has begun. A signal handler may call
 * it; the process has to end then. */
void replacement_drop_all(void);

/* Tests whether replacement_begin would succeed. Returns 0 or an errno, and leaves no file behind.
 * A file without permission to write is not replaced either. */
int replacement_check(const char *path);

/* Is it, or will it be, a regular file, which is replaced? */
bool replacement_is_file(const char *path);

/* The descriptor that a path names: 1 for /dev/stdout, 3 for /dev/fd/3; -1: none. */
int replacement_descriptor(const char *path);

/* Do two paths mean the same regular file, or the same file that does not exist yet? Symbolic and
 * hard links are the same file. */
bool replacement_same(const char *path, const char *other);

#endif
