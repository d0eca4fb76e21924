/* traced.c — runs this program once more, with --trace, and shows its levels. */
#define _GNU_SOURCE
#include "traced.h"
#include "common/files/allocated.h"
#include "common/harness/print/print.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- traced ---------------------------------------------------------------------------------- */

bool access_is(const struct access *a, const char *operation, const char *space)
{
    return strcmp(a->operation, operation) == 0 && strcmp(a->space, space) == 0;
}

bool access_has(const struct access *a, unsigned lane) { return a->mask >> lane & 1; }

unsigned access_lanes(const struct access *a) { return (unsigned)__builtin_popcount(a->mask); }

/* ---- a row of the trace ---------------------------------------------------------------------- */

enum {
    LAUNCH,
    KERNEL,
    BLOCK,
    WARP,
    EPOCH,
    LINE,
    OPERATION,
    SPACE,
    BYTES,
    MASK,
    WAVEFRONTS,
    IDEAL,
    SECTORS,
    ADDRESSES,
    VALUES,
    COLUMNS
};

static bool split(char *text, char *column[COLUMNS])
{
    text[strcspn(text, "\n")] = '\0';
    for (int i = 0; i < COLUMNS; i++)
        if (!(column[i] = strsep(&text, "\t"))) return false;
    return !text;
}

static unsigned number(const char *text) { return (unsigned)strtoul(text, NULL, 10); }

#define COPY(to, from) snprintf(to, sizeof(to), "%s", from)

/* Both lists have an entry for each lane of the mask, lowest lane first. */
static void read_lanes(struct access *a, char *addresses, char *values)
{
    for (unsigned lane = 0; lane < TRACED_LANES; lane++) {
        if (!access_has(a, lane)) continue;
        const char *address = strsep(&addresses, " "), *value = strsep(&values, " ");
        a->address[lane] = address ? strtoull(address, NULL, 16) : 0;
        a->value[lane] = value ? (uint32_t)strtoul(value, NULL, 16) : 0;
    }
}

bool access_read(char *text, struct access *a)
{
    char *column[COLUMNS];
    if (!split(text, column) || !isdigit((unsigned char)*column[LAUNCH])) return false;
    *a = (struct access){.launch = number(column[LAUNCH]),
                         .block = number(column[BLOCK]),
                         .warp = number(column[WARP]),
                         .epoch = number(column[EPOCH]),
                         .bytes = number(column[BYTES]),
                         .mask = (uint32_t)strtoul(column[MASK], NULL, 16),
                         .wavefronts = number(column[WAVEFRONTS]),
                         .ideal = number(column[IDEAL]),
                         .sectors = number(column[SECTORS])};
    format_kernel(column[KERNEL], a->kernel, sizeof a->kernel);
    COPY(a->line, column[LINE]);
    COPY(a->operation, column[OPERATION]);
    COPY(a->space, column[SPACE]);
    read_lanes(a, column[ADDRESSES], column[VALUES]);
    return true;
}

/* ---- the other run --------------------------------------------------------------------------- */

/* The program again, with its streams. `report` takes what it says besides the trace. */
struct run {
    pid_t id;
    FILE *trace, *report;
};

static int cannot_run(struct fault *fault)
{
    return fail(fault, EXIT_DEVICE, "the program cannot be run again with a trace: %s.",
                strerror(errno));
}

static int start(struct run *run, char *const *arguments, const char *numbers, struct fault *fault)
{
    int ends[2];
    FILE *input = tmpfile();
    *run = (struct run){.report = tmpfile()};
    if (!input || !run->report || pipe2(ends, O_CLOEXEC)) return cannot_run(fault);
    if (numbers) fputs(numbers, input);
    rewind(input);
    run->id = fork();
    if (!run->id) {
        if (numbers) dup2(fileno(input), STDIN_FILENO);
        dup2(ends[1], STDOUT_FILENO);
        dup2(fileno(run->report), STDERR_FILENO);
        unsetenv("EMU_TRACE");         /* there is one trace */
        setenv("EMU_THREADS", "1", 1); /* blocks write their rows one after the other */
        execv("/proc/self/exe", arguments);
        _exit(EXIT_DEVICE);
    }
    close(ends[1]);
    fclose(input);
    run->trace = fdopen(ends[0], "r");
    return run->id > 0 && run->trace ? 0 : cannot_run(fault);
}

/* The last line of its report, without the program's name, is its complaint. */
static int complain(struct run *run, int status, struct fault *fault)
{
    char text[FAULT_TEXT] = "", line[FAULT_TEXT];
    rewind(run->report);
    while (fgets(line, sizeof line, run->report)) COPY(text, line);
    text[strcspn(text, "\n")] = '\0';
    const char *sentence = strstr(text, ": ");
    return fail(fault, WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_DEVICE, "%s",
                sentence ? sentence + 2 : "the run that is traced has failed.");
}

static int finish(struct run *run, struct fault *fault)
{
    int status = 0;
    fclose(run->trace);
    while (waitpid(run->id, &status, 0) < 0 && errno == EINTR) {}
    int code = status ? complain(run, status, fault) : 0;
    fclose(run->report);
    return code;
}

/* The other run's arguments, to be freed. */
static char **arguments_of(char *const *own)
{
    static char *const more[] = {"--device", "emu", "--trace", "-"};
    size_t count = 0, used = 0;
    while (own[count]) count++;
    char **all = allocated(calloc(count + sizeof more / sizeof *more + 1, sizeof *all));
    for (size_t i = 0; i < count; i++)
        if (strcmp(own[i], "--levels") != 0) all[used++] = own[i];
    memcpy(all + used, more, sizeof more);
    return all;
}

int traced(char *const *arguments, const char *numbers, access_fn *take, void *context,
           struct fault *fault)
{
    char **all = arguments_of(arguments), *text = NULL;
    size_t size = 0;
    struct access a;
    struct run run;
    int code = start(&run, all, numbers, fault);
    free(all);
    if (code) return code;
    while (getline(&text, &size, run.trace) >= 0)
        if (access_read(text, &a)) take(context, &a);
    free(text);
    return finish(&run, fault);
}

/* ---- by level -------------------------------------------------------------------------------- */

enum { SUM_WORDS, SUM_WAVEFRONTS, SUM_CONFLICTS, PARTS }; /* of loads, and of stores */
enum { WARPS, LOADS, STORES = LOADS + PARTS, COUNTS = STORES + PARTS };

/* What all blocks of a launch do with shared memory after `epoch` barriers. */
struct level {
    unsigned launch, epoch;
    char kernel[48];
    unsigned long long counts[COUNTS];
    uint32_t *seen; /* these warps, a bit each, of each of the first `blocks` blocks */
    size_t blocks;
};

struct levels {
    struct level *of;
    size_t count;
};

static struct level *level_of(struct levels *all, unsigned launch, unsigned epoch)
{
    for (size_t i = all->count; i-- > 0;)
        if (all->of[i].launch == launch && all->of[i].epoch == epoch) return &all->of[i];
    all->of = allocated(realloc(all->of, (all->count + 1) * sizeof *all->of));
    all->of[all->count] = (struct level){.launch = launch, .epoch = epoch};
    return &all->of[all->count++];
}

/* Each warp counts once in a level. */
static void count_warp(struct level *level, unsigned block, unsigned warp)
{
    while (block >= level->blocks) {
        level->seen = grown(level->seen, level->blocks, sizeof *level->seen);
        level->seen[level->blocks++] = 0;
    }
    level->counts[WARPS] += !(level->seen[block] >> warp & 1);
    level->seen[block] |= UINT32_C(1) << warp;
}

static void add(void *context, const struct access *a)
{
    struct levels *all = context;
    if (strcmp(a->space, "shared") != 0) return;
    struct level *level = level_of(all, a->launch, a->epoch);
    count_warp(level, a->block, a->warp);
    snprintf(level->kernel, sizeof level->kernel, "%s", a->kernel);
    unsigned long long *sums = level->counts + (strcmp(a->operation, "ld") == 0 ? LOADS : STORES);
    sums[SUM_WORDS] += access_lanes(a) * ((a->bytes + 3) / 4);
    sums[SUM_WAVEFRONTS] += a->wavefronts;
    sums[SUM_CONFLICTS] += a->wavefronts - a->ideal;
}

static int compare_levels(const void *a, const void *b)
{
    const struct level *x = a, *y = b;
    if (x->launch != y->launch) return x->launch < y->launch ? -1 : 1;
    return x->epoch < y->epoch ? -1 : x->epoch > y->epoch;
}

static void print_level(const char *barriers, const unsigned long long counts[COUNTS], FILE *to)
{
    static const int widths[COUNTS] = {7, 8, 11, 10, 9, 11, 10};
    fprintf(to, "  %8s", barriers);
    for (int k = 0; k < COUNTS; k++) fprintf(to, "%*llu", widths[k], counts[k]);
    fputc('\n', to);
}

/* The levels of one launch, from the first on; returns their number. */
static size_t print_launch(const struct level *first, size_t count, FILE *to)
{
    unsigned long long all[COUNTS] = {0};
    size_t i = 0;
    fprintf(to,
            "\n%s (launch %u)\n"
            "  barriers  warps  loaded                        stored\n"
            "    passed  using   words wavefronts conflicts    words wavefronts conflicts\n",
            first->kernel, first->launch + 1);
    for (; i < count && first[i].launch == first->launch; i++) {
        char barriers[16];
        snprintf(barriers, sizeof barriers, "%u", first[i].epoch);
        print_level(barriers, first[i].counts, to);
        for (int k = 0; k < COUNTS; k++) all[k] += first[i].counts[k];
    }
    print_level("all", all, to);
    return i;
}

int levels_show(const struct step *step, const struct options *o, FILE *to, struct fault *fault)
{
    struct levels all = {0};
    int code = traced(o->argv, NULL, add, &all, fault);
    if (!code) {
        if (all.count) qsort(all.of, all.count, sizeof *all.of, compare_levels);
        fprintf(to, "Step %d · %s\nwhat the warps do with shared memory between two barriers\n",
                step->number, step->title);
        for (size_t i = 0; i < all.count;) i += print_launch(&all.of[i], all.count - i, to);
        if (!all.count) fprintf(to, "\nNo kernel uses shared memory.\n");
    }
    for (size_t i = 0; i < all.count; i++) free(all.of[i].seen);
    free(all.of);
    return code;
}
