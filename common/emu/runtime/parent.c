/*
 * parent.c — what the processes of one run put together: the programs that a script has started,
 * which the command emu waits for (command/children.c), and the processes that a program forks
 * (process_fork.c).
 *
 * The settings for emu name open files of another process, as /proc has them. If they cannot be
 * opened, as in another namespace, the program writes its report by itself.
 */
#define _GNU_SOURCE /* O_CLOEXEC, flock */
#include "common/emu/report/outcome.h"
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const enum setting_id takers[CUDART_PARTS] = {[CUDART_REPORT] = SETTING_REPORTS,
                                                     [CUDART_SARIF] = SETTING_SARIF_PARTS,
                                                     [CUDART_HTML] = SETTING_HTML_PARTS,
                                                     [CUDART_KERNELS] = SETTING_KERNELS};

static int open_to_add(const char *path)
{
    return path != NULL ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
}

static void add_to_seen(const char *byte)
{
    int file = open_to_add(setting_text(SETTING_SEEN));
    if (file < 0) return;
    /* If it fails, the command says that it saw no program, or no kernel. */
    if (write(file, byte, 1) != 1) errno = 0;
    close(file);
}

void cudart_parent_tell(void) { add_to_seen("1"); }

/* NULL: nothing asks for it. */
static struct outcome *map_outcome(void)
{
    const char *path = setting_text(SETTING_OUTCOME);
    int file = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return NULL;
    void *memory = mmap(NULL, sizeof(struct outcome), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return memory != MAP_FAILED ? memory : NULL;
}

void cudart_parent_add(unsigned long errors)
{
    struct outcome *outcome = errors > 0 ? map_outcome() : NULL;
    if (outcome == NULL) return;
    outcome->errors += errors;
    munmap(outcome, sizeof *outcome);
}

void cudart_parent_note_end(void)
{
    struct outcome *outcome = !cudart_is_forked() ? map_outcome() : NULL;
    if (outcome == NULL) return;
    outcome->is_written = true;
    munmap(outcome, sizeof *outcome);
}

void cudart_parent_note_run(void)
{
    static atomic_bool is_noted;
    if (atomic_exchange(&is_noted, true)) return;
    add_to_seen("k");
    struct outcome *outcome = map_outcome();
    if (outcome == NULL) return;
    outcome->has_run = true;
    munmap(outcome, sizeof *outcome);
}

void cudart_parent_note_fresh(void)
{
    struct outcome *outcome = map_outcome();
    if (outcome == NULL) return;
    outcome->is_fresh = true;
    munmap(outcome, sizeof *outcome);
}

bool cudart_has_parent(void) { return setting_text(SETTING_SEEN) != NULL; }

bool cudart_parent_takes(enum cudart_part part) { return setting_text(takers[part]) != NULL; }

/* Other programs wait while the file is locked. */
int cudart_parent_open(enum cudart_part part, bool has_path, bool *is_first)
{
    struct stat status;
    char forked[CUDART_FORK_PATH];
    int file = has_path ? -1 : open_to_add(setting_text(takers[part]));
    if (file < 0) file = open_to_add(cudart_fork_path(part, forked));
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
