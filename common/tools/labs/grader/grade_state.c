/*
 * grade_state.c — the grader's files: state, seed, basis, and results that do not count.
 */
#define _GNU_SOURCE
#include "grader.h"
#include "common/files/files.h"
#include "common/tools/labs/compile.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Are there rows of any kind? */
static bool state_has_rows(const struct grader *);

static int state_store_seed(const struct grader *, uint64_t seed, struct fault *);

static enum stored state_seed(const struct grader *, int *lab, uint64_t *seed);

/* ---- what points depend on besides a submission ---------------------------------------------- */

/*
 * Rows and PTX that were made with something else are made again, so that one table never mixes
 * two ways of grading.
 */

/* A file that cannot be read adds nothing: what needs it fails later, and says why. */
static uint64_t add_file(uint64_t bits, const char *folder, const char *name)
{
    char path[PATH_MAX];
    struct stat status;
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= PATH_MAX) return bits;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return bits;
    void *bytes = MAP_FAILED;
    if (fstat(file, &status) == 0 && status.st_size > 0)
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (bytes == MAP_FAILED) return bits;
    bits = hash_bytes(bits, bytes, (size_t)status.st_size);
    munmap(bytes, (size_t)status.st_size);
    return bits;
}

static uint64_t solution_of(const struct grader *grader)
{
    char source[32];
    snprintf(source, sizeof source, "reference%d.cu", grader->lab->number);
    return add_file(grader->compiler, grader->programs, source);
}

/* The labs' table and the scorer are in the programs. */
static uint64_t scorer_of(const struct grader *grader)
{
    uint64_t bits = hash_bytes(grader->solution, &grader->weights, sizeof grader->weights);
    bits = add_file(bits, grader->programs, "grade-labs");
    return add_file(bits, grader->programs, "run-lab");
}

/* A compiler's own program differs from version to version. */
static uint64_t compiler_of(const struct grader *grader)
{
    const char *arguments[COMPILE_ARGUMENTS];
    if (grader->own_compiler) return add_file(HASH_NONE, grader->programs, "../cc/upcc");
    uint64_t bits = add_file(HASH_NONE, grader->toolkit.folder, "bin/nvcc");
    compile_arguments("nvcc", SOURCE_INSIDE, "ptx", arguments);
    for (size_t i = 0; arguments[i] != NULL; i++)
        bits = hash_bytes(bits, arguments[i], strlen(arguments[i]) + 1);
    return bits;
}

void grade_basis(struct grader *grader)
{
    grader->compiler = compiler_of(grader);
    grader->solution = solution_of(grader);
    grader->scorer = scorer_of(grader);
}

/* ---- the seed of a grading ------------------------------------------------------------------- */

/*
 * It is drawn when all submissions have been compiled, so that none can contain it. An interrupted
 * grading keeps its seed.
 */

int seed_check(const struct grader *grader, struct fault *fault)
{
    int lab;
    uint64_t seed;
    enum stored stored = state_seed(grader, &lab, &seed);
    if (stored == STATE_STORED && lab != grader->lab->number)
        return fail(fault, EXIT_USAGE, "%s holds grades of lab %d: give another --out", grader->out,
                    lab);
    if (stored == STATE_STORED && grader->seed_given && seed != grader->seed)
        return fail(fault, EXIT_USAGE,
                    "%s holds grades of seed %llu: remove it, or give another --out", grader->out,
                    (unsigned long long)seed);
    if (stored == STATE_STORED || grader->seed_given || !state_has_rows(grader)) return 0;
    return fail(fault, EXIT_USAGE,
                "%s holds grades, but their seed in %s/state/seed is lost: give it by --seed, or "
                "give another --out",
                grader->out, grader->out);
}

int seed_choose(struct grader *grader, struct fault *fault)
{
    int lab;
    uint64_t seed;
    if (state_seed(grader, &lab, &seed) == STATE_STORED) {
        grader->seed = seed;
        return 0;
    }
    if (!grader->seed_given &&
        getrandom(&grader->seed, sizeof grader->seed, 0) != sizeof grader->seed)
        return fail(fault, EXIT_DEVICE, "no seed can be drawn: %s", strerror(errno));
    return state_store_seed(grader, grader->seed, fault);
}

/* ---- removes results that do not count ------------------------------------------------------- */

/*
 * Removes results that do not count: those of earlier gradings, and those of
 * submissions that are not handed in any more.
 */

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

/* ---- the grader's files ---------------------------------------------------------------------- */

/*
 * The grader's files: what is known about each submission, so that an interrupted
 * grader goes on where it was.
 */

enum {
    COMPILED_BYTES = 1 << 20,
    SEED_BYTES = 64,
    SOLUTION_BYTES = 8 << 20,
    ROW_BYTES = 1 << 14,
    HEAD_BYTES = 100,
};

void state_path(const struct grader *grader, const struct submission *submission,
                enum state_file which, char path[PATH_MAX])
{
    static const struct {
        const char *folder, *ending;
    } all[] = {[STATE_SOURCE] = {"state", "cu"},    [STATE_PTX] = {"state", "ptx"},
               [STATE_COMPILED] = {"state", "txt"}, [STATE_ROW] = {"state", "row"},
               [FILE_TEXT] = {"reports", "txt"},    [FILE_HTML] = {"reports", "html"},
               [STATE_FIRST] = {"state", "first"}};
    snprintf(path, PATH_MAX, "%s/%s/%s.%s", grader->out, all[which].folder, submission->id,
             all[which].ending);
}

/* Makes a folder, and those above it. */
static int make_folders(const char *path)
{
    char part[PATH_MAX];
    for (const char *at = path; at != NULL; at = strchr(at + 1, '/')) {
        const char *end = strchr(at + 1, '/');
        size_t length = end == NULL ? strlen(path) : (size_t)(end - path);
        snprintf(part, sizeof part, "%.*s", (int)length, path);
        if (mkdir(part, 0777) != 0 && errno != EEXIST) return errno;
    }
    return 0;
}

/* The workers of a grader that has been killed end a moment later. */
static bool lock_soon(int file)
{
    enum { TRIES = 20 };
    static const struct timespec pause = {.tv_nsec = 100000000};
    for (int i = 0; i < TRIES; i++) {
        if (flock(file, LOCK_EX | LOCK_NB) == 0) return true;
        if (errno != EWOULDBLOCK) return false;
        nanosleep(&pause, NULL);
    }
    return false;
}

/* Two graders in one folder would mix their seeds. The file stays open, and so locked, until the
 * last process that has it ends; programs in the sandbox do not get it. */
static int lock(const struct grader *grader, struct fault *fault)
{
    enum { MODE = 0666 };
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/state/lock", grader->out);
    int file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, MODE);
    if (file < 0) return fail(fault, EXIT_USAGE, "%s cannot be opened: %s", path, strerror(errno));
    if (lock_soon(file)) return 0;
    close(file);
    return fail(fault, EXIT_DEVICE,
                "another grader works in %s: wait until it has ended, or give another --out",
                grader->out);
}

int state_begin(const struct grader *grader, struct fault *fault)
{
    static const char *const folders[] = {"state", "reports"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", grader->out, folders[i]);
        int error = make_folders(path);
        if (error != 0)
            return fail(fault, EXIT_USAGE, "the folder %s cannot be made: %s", path,
                        strerror(error));
    }
    return lock(grader, fault);
}

char *state_read(const char *path, size_t most, size_t *size)
{
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    struct stat status;
    if (file < 0) return NULL;
    char *bytes = NULL;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && (size_t)status.st_size <= most)
        bytes = calloc(1, (size_t)status.st_size + 1);
    *size = 0;
    for (ssize_t got; bytes != NULL && *size < (size_t)status.st_size; *size += (size_t)got)
        if ((got = read(file, bytes + *size, (size_t)status.st_size - *size)) <= 0) break;
    close(file);
    return bytes;
}

int state_write(const char *path, const char *bytes, size_t size, struct fault *fault)
{
    int error = whole_file_write(path, bytes, size);
    if (error == 0) return 0;
    return fail(fault, EXIT_USAGE, "%s cannot be written: %s", path, strerror(error));
}

/* ---- the seed ------------------------------------------------------------------------------- */

static void seed_path(const struct grader *grader, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/state/seed", grader->out);
}

/* Reads "lab 3 seed 7" and a newline, and nothing else. */
static bool read_seed(const char *text, int *lab, uint64_t *seed)
{
    int at = 0;
    char *end;
    if (sscanf(text, "lab %d seed %n", lab, &at) != 1 || text[at] < '0' || text[at] > '9')
        return false;
    errno = 0;
    *seed = strtoull(text + at, &end, 10);
    return errno == 0 && strcmp(end, "\n") == 0;
}

static enum stored state_seed(const struct grader *grader, int *lab, uint64_t *seed)
{
    char path[PATH_MAX];
    size_t size;
    seed_path(grader, path);
    if (access(path, F_OK) != 0 && errno == ENOENT) return STATE_NONE;
    char *text = state_read(path, SEED_BYTES, &size);
    bool read = text != NULL && read_seed(text, lab, seed);
    free(text);
    return read ? STATE_STORED : STATE_DAMAGED;
}

static int state_store_seed(const struct grader *grader, uint64_t seed, struct fault *fault)
{
    char path[PATH_MAX], text[SEED_BYTES];
    seed_path(grader, path);
    int length =
        snprintf(text, sizeof text, "lab %d seed %" PRIu64 "\n", grader->lab->number, seed);
    return state_write(path, text, (size_t)length, fault);
}

/* ---- rows ------------------------------------------------------------------------------------ */

void state_row_head(FILE *out, const struct grader *grader)
{
    fprintf(out, "lab %d seed %" PRIu64 " scorer %016" PRIx64 "\n", grader->lab->number,
            grader->seed, grader->scorer);
}

char *state_row(const struct grader *grader, const struct submission *submission, bool *old)
{
    char path[PATH_MAX], head[HEAD_BYTES] = "";
    size_t size;
    FILE *to = fmemopen(head, sizeof head, "w");
    if (to == NULL) abort();
    state_row_head(to, grader);
    fclose(to);
    state_path(grader, submission, STATE_ROW, path);
    char *row = state_read(path, ROW_BYTES, &size);
    size_t length = strlen(head);
    bool counts = row != NULL && strncmp(row, head, length) == 0;
    if (old != NULL) *old = !counts && access(path, F_OK) == 0;
    if (counts) memmove(row, row + length, strlen(row + length) + 1);
    if (counts) return row;
    free(row);
    return NULL;
}

bool state_is_later(const struct grader *grader, const struct submission *submission)
{
    char path[PATH_MAX];
    size_t size = 0, first_size = 0;
    state_path(grader, submission, STATE_FIRST, path);
    char *first = state_read(path, SUBMISSION_BYTES, &first_size);
    state_path(grader, submission, STATE_SOURCE, path);
    char *source = state_read(path, SUBMISSION_BYTES, &size);
    bool same =
        source != NULL && first != NULL && size == first_size && memcmp(source, first, size) == 0;
    bool later = first != NULL && source != NULL && !same;
    free(source);
    free(first);
    return later;
}

static bool state_has_rows(const struct grader *grader)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/state", grader->out);
    DIR *entries = opendir(path);
    bool found = false;
    for (struct dirent *entry; entries != NULL && !found && (entry = readdir(entries)) != NULL;) {
        const char *dot = strrchr(entry->d_name, '.');
        found = dot != NULL && strcmp(dot, ".row") == 0;
    }
    if (entries != NULL) closedir(entries);
    return found;
}

/* ---- what compiling has found out ------------------------------------------------------------ */

/* Two lines, then the compiler's messages. */
static const char format[] = "%016" PRIx64 " %d %016" PRIx64 " %016" PRIx64 " %016" PRIx64 "\n%s\n";

bool state_compiled(const struct grader *grader, const struct submission *submission,
                    struct compiled *compiled)
{
    char path[PATH_MAX];
    size_t size;
    int kind;
    uint64_t compiler;
    state_path(grader, submission, STATE_COMPILED, path);
    char *text = state_read(path, COMPILED_BYTES, &size);
    const char *why = text == NULL ? NULL : strchr(text, '\n');
    const char *messages = why == NULL ? NULL : strchr(why + 1, '\n');
    bool read = messages != NULL &&
                sscanf(text, "%" SCNx64 " %d %" SCNx64 " %" SCNx64 " %" SCNx64, &compiler, &kind,
                       &compiled->same[0], &compiled->same[1], &compiled->ptx) == 5 &&
                compiler == grader->compiler;
    if (read) {
        compiled->kind = (enum outcome_kind)kind;
        snprintf(compiled->why, sizeof compiled->why, "%.*s", (int)(messages - why - 1), why + 1);
        compiled->messages = strdup(messages + 1);
    }
    free(text);
    return read;
}

int state_store_compiled(const struct grader *grader, const struct submission *submission,
                         const struct compiled *compiled, struct fault *fault)
{
    char path[PATH_MAX], *text;
    state_path(grader, submission, STATE_COMPILED, path);
    int head = asprintf(&text, format, grader->compiler, (int)compiled->kind, compiled->same[0],
                        compiled->same[1], compiled->ptx, compiled->why);
    if (head < 0) abort();
    for (char *at = strchr(text, '\n') + 1; at < text + head - 1; at++)
        if (*at == '\n') *at = ' ';
    size_t rest = strlen(compiled->messages);
    text = realloc(text, (size_t)head + rest + 1);
    if (text == NULL) abort();
    memcpy(text + head, compiled->messages, rest + 1);
    int code = state_write(path, text, (size_t)head + rest, fault);
    free(text);
    return code;
}

bool solution_bits(const struct grader *grader, const struct lab *lab, uint64_t bits[2])
{
    char path[PATH_MAX];
    size_t size;
    snprintf(path, sizeof path, "%s/reference%d%s.ptx", grader->programs, lab->number,
             grader->own_compiler ? ".own" : "");
    char *ptx = state_read(path, SOLUTION_BYTES, &size);
    if (ptx != NULL) same_ptx(lab, ptx, size, bits);
    free(ptx);
    return ptx != NULL;
}
