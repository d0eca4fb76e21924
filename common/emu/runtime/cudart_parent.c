/*
 * cudart_parent.c — what a program tells the command emu when that runs a script or another command
 * that has started it (common/emu/emu_command.c).
 *
 *   EMU_SEEN=file      gets a byte: a program that uses this library has run
 *   EMU_REPORTS=file   takes the report of counters, behind those of other programs
 *
 * Both are open files of that command, under the names in /proc. If they cannot be opened, as in
 * another namespace, the report goes to stdout.
 */
#define _GNU_SOURCE /* O_CLOEXEC, flock */
#include "cudart.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_to_add(const char *variable)
{
    const char *path = cudart_setting(variable);
    return path != NULL ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
}

/* Runs when the program is loaded. */
__attribute__((constructor)) static void tell(void)
{
    int file = open_to_add("EMU_SEEN");
    if (file < 0) return;
    if (write(file, "1", 1) != 1) errno = 0; /* the command then says that it has seen none */
    close(file);
}

bool cudart_has_parent(void) { return cudart_setting("EMU_SEEN") != NULL; }

/* Other programs wait while the file is locked. */
int cudart_parent_open(bool *is_first)
{
    struct stat status;
    int file = open_to_add("EMU_REPORTS");
    if (file < 0) return -1;
    while (flock(file, LOCK_EX) != 0 && errno == EINTR) continue;
    *is_first = fstat(file, &status) == 0 && status.st_size == 0;
    return file;
}

int cudart_parent_write(int file, const char *text, size_t length)
{
    int error = 0;
    while (length > 0 && error == 0) {
        ssize_t written = write(file, text, length);
        if (written < 0 && errno != EINTR) error = errno;
        if (written < 0) continue;
        text += written;
        length -= (size_t)written;
    }
    close(file);
    return error;
}
