/* process_fork.c — several processes of one run: forks, and programs that a script starts. */
#define _GNU_SOURCE /* memfd_create, MAP_ANONYMOUS, O_CLOEXEC, flock */
#include "cudart.h"
#include "common/tools/emu/report/report.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the processes that a program forks without exec ----------------------------------------- */

/* CUDA belongs to one process: on a GPU, a process that was forked after its parent had used CUDA
 * gets cudaErrorInitializationError from its calls, and it does so here. A process that was forked
 * before that may use CUDA. Then it opens devices of its own, and is observed like a program. It
 * prints its findings. What it would write into files it adds to files in memory, which the first
 * process puts into its own reports. If that has ended, a forked process writes its reports
 * itself. */

/* What the processes share. */
struct fork_totals {
    atomic_bool has_ended;  /* the first process writes its reports */
    atomic_ulong processes; /* that were forked and have used CUDA */
    atomic_ulong errors, excesses;
};

static struct fork_totals *shared; /* NULL: nothing was forked */
static int parts[CUDART_PARTS];
static pid_t first, owner; /* the process that began; this one, if it has reports to write */
static bool has_devices, is_too_late;

/* Programs may rely on low descriptors being free. */
static int open_memory(void)
{
    enum { HIGH = 512 };
    int low = memfd_create("emu", MFD_CLOEXEC);
    int high = low >= 0 ? fcntl(low, F_DUPFD_CLOEXEC, HIGH) : -1;
    if (high >= 0) close(low);
    return high >= 0 ? high : low;
}

/* Without memory for them, forked processes write their reports themselves. */
static void before_fork(void)
{
    cudart_check_flush();
    if (shared != NULL || (!cudart_report_wanted() && !cudart_check_wanted())) return;
    int error = errno;
    void *memory =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) shared = memory;
    for (int i = 0; i < CUDART_PARTS && shared != NULL; i++) parts[i] = open_memory();
    errno = error;
}

static void in_child(void)
{
    owner = 0;
    is_too_late |= has_devices;
}

/* Runs when the library is loaded. */
__attribute__((constructor)) static void observe_forks(void)
{
    first = owner = getpid();
    pthread_atfork(before_fork, NULL, in_child);
}

bool cudart_is_owner(void) { return owner == getpid(); }

bool cudart_is_forked(void) { return owner != first; }

bool cudart_has_devices(void) { return has_devices && cudart_is_owner(); }

void cudart_fork_claim(void)
{
    has_devices = true;
    if (cudart_is_owner()) return;
    owner = getpid();
    if (shared != NULL) shared->processes++;
    cudart_check_begin();
}

bool cudart_is_forked_too_late(void)
{
    static atomic_bool is_told;
    if (!is_too_late) return false;
    if (atomic_exchange(&is_told, true)) return true;
    cudart_print("this process was forked after its parent had used CUDA, which CUDA does not "
                 "allow: its calls return cudaErrorInitializationError; fork before the first "
                 "call");
    cudart_fork_add(1, 0);
    cudart_parent_tell(OUTCOME_ERROR);
    return true;
}

/* ---- what the first process is given --------------------------------------------------------- */

void cudart_fork_add(unsigned long errors, unsigned long excesses)
{
    if (shared == NULL || getpid() == first) return;
    shared->errors += errors;
    shared->excesses += excesses;
}

void cudart_fork_end(void)
{
    if (shared != NULL && getpid() == first) shared->has_ended = true;
}

unsigned long cudart_fork_errors(void)
{
    return shared != NULL && getpid() == first ? shared->errors : 0;
}

unsigned long cudart_fork_excesses(void)
{
    return shared != NULL && getpid() == first ? shared->excesses : 0;
}

bool cudart_has_forked(void) { return shared != NULL && shared->processes > 0; }

static const char *cudart_fork_path(enum cudart_part part, char path[CUDART_FORK_PATH])
{
    if (shared == NULL || getpid() == first || shared->has_ended || parts[part] < 0) return NULL;
    snprintf(path, CUDART_FORK_PATH, "/proc/self/fd/%d", parts[part]);
    return path;
}

char *cudart_fork_take(enum cudart_part part, size_t *length)
{
    struct stat status;
    *length = 0;
    if (shared == NULL || getpid() != first || fstat(parts[part], &status) != 0) return NULL;
    size_t size = (size_t)status.st_size;
    if (size == 0) return NULL;
    char *text = allocated(malloc(size));
    if (pread(parts[part], text, size, 0) == (ssize_t)size) {
        *length = size;
        return text;
    }
    free(text);
    return NULL;
}

/* ---- programs of one run --------------------------------------------------------------------- */

/* What the processes of one run put together: the programs that a script has started, which the
 * command emu waits for (command/run.c), and the processes that a program forks
 *
 * The settings for emu name open files of another process, as /proc has them. If they cannot be
 * opened, as in another namespace, the program writes its report by itself. */

static const enum setting_id takers[CUDART_PARTS] = {[CUDART_REPORT] = SETTING_REPORTS,
                                                     [CUDART_SARIF] = SETTING_SARIF_PARTS,
                                                     [CUDART_HTML] = SETTING_HTML_PARTS,
                                                     [CUDART_KERNELS] = SETTING_KERNELS};

static int open_to_add(const char *path)
{
    return path != NULL ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
}

/* If it fails, the command says that it saw no program, or no kernel. */
static void add_byte(const char *path, char byte)
{
    int file = open_to_add(path);
    if (file >= 0 && write(file, &byte, 1) != 1) errno = 0;
    if (file >= 0) close(file);
}

void cudart_parent_tell(enum outcome outcome)
{
    static atomic_bool is_told[UCHAR_MAX + 1];
    if (outcome == OUTCOME_WRITTEN && cudart_is_forked()) return;
    if (atomic_exchange(&is_told[outcome], true)) return;
    add_byte(setting_text(SETTING_SEEN), (char)outcome);
    add_byte(setting_text(SETTING_OUTCOME), (char)outcome);
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
