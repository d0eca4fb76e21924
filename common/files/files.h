/* files.h — whole files or none: in their folder, put into their place, removed if a signal
 * comes. */
#ifndef FILES_H
#define FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* ---- writes a new file in the same folder, and puts it into its place when it is complete ---- */

/* Until then the old file stays as it is, also for programs that are reading it. The new file has
 * another name beside its place; a process that is killed leaves it there. Only regular files are
 * replaced. A device, a pipe, or a descriptor (/dev/stdout, /dev/fd/3) is written directly. The
 * harness writes its files in this way, and so does the emulator. */

struct new_file;

struct replacement {
    FILE *file;   /* to be written to; NULL: nothing was begun, or it has been closed */
    char *target; /* the place: the path with symbolic links followed; NULL: nothing is replaced */
    struct new_file *made; /* its name; NULL: there is no new file */
};

/* Begins a new file for a path. It gets the permissions of the file that it will replace, or those
 * of any new file. Returns 0 or an errno; after an errno there is nothing to end. */
int replacement_begin(struct replacement *, const char *path);

/* The name under which another process may write to the new file, too, until replacement_end;
 * NULL if the file is written directly. */
const char *replacement_name(const struct replacement *);

/* Puts the new file into its place. A full disk shows here at the latest. Returns 0, or an errno;
 * after an errno the old file is unchanged and the new one has been removed. */
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

/* ---- finds out which files must not be overwritten ------------------------------------------- */

/* Do two paths lead to the same file, through any links, also if it does not exist yet? Devices and
 * pipes never count as the same, nor do the words stdout and stderr. NULL is not the same as any
 * path. */
bool output_is_same(const char *path, const char *other);

/* The reason why a file must not be written, such as "is the program itself"; NULL: it may be
 * written. A file must not be written if it is the program that runs, or any other program or
 * library, or a source file by its name. It must not be written either if one of the program's
 * arguments names it, alone or behind '=', since the program may read that file. `arguments` ends
 * with NULL; if it is NULL, the arguments are not known. */
const char *output_refusal(const char *path, const char *program, char *const *arguments);

/* ---- writes a file completely or not at all -------------------------------------------------- */

/* Writes text[0..length) to a path; NULL or "stdout" is the standard output, "stderr" the standard
 * error. A regular file is first written as a new one beside it and then put into its place, so
 * that its old content stays if anything fails; a device or a pipe is written as it is.
 * Returns 0 or an errno. */
int whole_file_write(const char *path, const char *text, size_t length);

/* Tests whether whole_file_write would succeed. Returns 0 or an errno, and leaves no file
 * behind. */
int whole_file_check(const char *path);

#endif
