/* needed.c — `--tool order`: which barriers, fences and waits does the program need?
 *
 * Each launch is executed again by copies of the process (fork), and in each of them one source
 * line's barriers and fences are left out of racecheck's clocks. They still hold threads up, so the
 * copy executes what the program has executed; but nothing counts as ordered by that line. If
 * racecheck then finds a hazard that the launch does not have anyway, the line is needed.
 *
 * A line that is not needed may order accesses that another line orders, too. To know, one copy
 * leaves all lines out, and one leaves out all but this line: a hazard that only the first of the
 * two has is ordered by the line.
 *
 * Limits: a barrier may be wanted for what it does and not for what it orders, as to keep warps
 * close together. Launches of a kernel in kernels are not executed apart. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "race.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MOST_PLACES = 255,
    MOST_PAIRS = 512, /* of a launch's hazards */
    MOST_ALIKE = 4,   /* launches of one kernel and shape that are looked at */
    MOST_SHAPES = 1024,
    MOST_MET = 4096, /* hazards by the thousand take long: a copy ends after this many barriers */
};

/* A source line, or without -lineinfo an instruction. Its number is 1 + its index; 0 is none. */
struct order_place {
    const char *kernel, *file, *what; /* kernel: mangled, the first one that has the line */
    unsigned line, ptx_line;
};

/* Two instructions between which a hazard was found. by_reader: only the reader's fence is missing.
 * Without the writer's, too, it is another hazard, which needs no --strict-readers to be one. */
struct hazard_pair {
    uint32_t now, before;
    bool by_reader;
};
struct pairs {
    unsigned count;
    struct hazard_pair at[MOST_PAIRS];
};

/* What the processes share. */
struct shared_results {
    struct pairs own, without_any; /* hazards: of the launch itself, and if nothing orders it */
    struct {
        bool is_executed, is_needed, is_compared; /* compared: by a copy WITH_ONE */
        bool is_met;                              /* executed by the launch that is looked at */
        bool is_answered; /* a copy without it has come to the launch's end, without a hazard */
        uint64_t threads; /* is_needed: of the smallest launch that shows it */
        char why[CHECK_TEXT];
    } of[MOST_PLACES + 1];
};

/* What this process leaves out: WITHOUT_ONE a place, WITH_ONE all others. */
enum job { WITHOUT_ONE, WITHOUT_ANY, WITH_ONE };

struct order_check {
    struct order_place places[MOST_PLACES + 1];
    unsigned place_count;
    bool is_full,
        shares; /* shares: a launch was passed over, since other processes see its memory */
    struct order_kernel {
        const struct emu_kernel *kernel;
        uint8_t *place_of; /* by instruction: the number of its place */
    } * kernels;
    size_t kernel_count;
    struct launch_shape {
        uint64_t key;
        unsigned times;
    } shapes[MOST_SHAPES];
    struct shared_results *results;
    /* The launch that runs, while a copy of the process stands still at its begin. */
    const struct launch *launch;
    int to_copy;
    pid_t other; /* the copy; in the copy, the program */
    bool is_copy;
    enum job job;
    unsigned place;
    struct pairs seen; /* of a copy WITH_ONE */
    unsigned met;      /* of one that is not WITHOUT_ONE: what could order accesses, so far */
};

struct order_check *order_open(void)
{
    struct order_check *o = allocated(calloc(1, sizeof *o));
    o->results =
        mmap(NULL, sizeof *o->results, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (o->results == MAP_FAILED) abort();
    return o;
}

void order_close(struct order_check *o)
{
    if (!o) return;
    for (size_t i = 0; i < o->kernel_count; i++) free(o->kernels[i].place_of);
    free(o->kernels);
    munmap(o->results, sizeof *o->results);
    free(o);
}

/* ---- places ---------------------------------------------------------------------------------- */

/* What puts accesses in order, by the first words of its instruction. */
static const struct {
    const char *words[3], *what;
} kinds[] = {
    {{"bar", "warp"}, "__syncwarp()"},
    {{"bar", "arrive"}, "an arrival at a barrier"},
    {{"barrier", "arrive"}, "an arrival at a barrier"},
    {{"barrier", "cta", "arrive"}, "an arrival at a barrier"},
    {{"barrier", "cluster", "arrive"}, "an arrival at a cluster's barrier"},
    {{"barrier", "cluster"}, "a wait at a cluster's barrier"},
    {{"bar"}, "a barrier"},
    {{"barrier"}, "a barrier"},
    {{"fence", "proxy"}, "a fence between threads and copies"},
    {{"fence"}, "a fence"},
    {{"membar"}, "a fence"},
    {{"mbarrier", "arrive"}, "an arrival at an mbarrier"},
    {{"mbarrier", "arrive_drop"}, "an arrival at an mbarrier"},
    {{"mbarrier", "test_wait"}, "a wait at an mbarrier"},
    {{"mbarrier", "try_wait"}, "a wait at an mbarrier"},
};

static bool begins_with(const struct ptx_instruction *i, const char *const words[3])
{
    for (unsigned k = 0; k < 3 && words[k]; k++)
        if (k >= i->word_count || strcmp(i->words[k], words[k]) != 0) return false;
    return true;
}

/* cp.async.wait_group, cp.async.bulk.wait_group.read */
static bool waits_for_copies(const struct ptx_instruction *i)
{
    for (unsigned k = 1; k < i->word_count && !strcmp(i->words[0], "cp"); k++)
        if (!strncmp(i->words[k], "wait_", strlen("wait_"))) return true;
    return false;
}

/* NULL: the instruction orders nothing. */
static const char *what_orders(const struct insn *i)
{
    bool is_access = i->family == FAMILY_MEMORY || i->family == FAMILY_ATOMIC;
    if (!i->source) return NULL;
    if (is_access && i->order & ORDER_RELEASE)
        return i->order & ORDER_ACQUIRE ? "an acquire and release" : "a release";
    if (is_access && i->order & ORDER_ACQUIRE) return "an acquire";
    if (waits_for_copies(i->source)) return "a wait for copies";
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (begins_with(i->source, kinds[k].words)) return kinds[k].what;
    return NULL;
}

static const char *file_of(const struct emu_kernel *kernel, const struct insn *i)
{
    const struct ptx_text *text = &kernel->module->text;
    bool has_line = i->source->source_line && i->source->file < text->file_count;
    return has_line ? text->files[i->source->file] : NULL;
}

/* The number of an instruction's place, a new one if need be. 0: there are too many. */
static unsigned place_number(struct order_check *o, const struct emu_kernel *kernel,
                             const struct insn *i, const char *what)
{
    const char *file = file_of(kernel, i);
    for (unsigned k = 1; k <= o->place_count; k++) {
        const struct order_place *p = &o->places[k];
        bool is_same = file ? p->file && p->line == i->source->source_line && !strcmp(p->file, file)
                            : !p->file && p->ptx_line == i->source->line &&
                                  !strcmp(p->kernel, kernel->info.name);
        if (is_same) return k;
    }
    o->is_full = o->is_full || o->place_count == MOST_PLACES;
    if (o->is_full) return 0;
    o->places[++o->place_count] =
        (struct order_place){.kernel = allocated(strdup(kernel->info.name)),
                             .file = file ? allocated(strdup(file)) : NULL,
                             .what = what,
                             .line = file ? i->source->source_line : 0,
                             .ptx_line = i->source->line};
    return o->place_count;
}

static struct order_kernel *find_kernel(struct order_check *o, const struct emu_kernel *kernel)
{
    for (size_t k = o->kernel_count; k-- > 0;)
        if (o->kernels[k].kernel == kernel) return &o->kernels[k];
    return NULL;
}

/* Finds the places of a kernel that is launched: where it lies, an unloaded one may have lain. */
static const uint8_t *find_places(struct order_check *o, const struct emu_kernel *kernel)
{
    struct order_kernel *known = find_kernel(o, kernel);
    uint8_t *place_of = allocated(calloc(kernel->code_count, 1));
    for (size_t k = 0; k < kernel->code_count; k++) {
        const char *what = what_orders(&kernel->code[k]);
        if (what) place_of[k] = (uint8_t)place_number(o, kernel, &kernel->code[k], what);
    }
    if (!known) {
        o->kernels = grown(o->kernels, o->kernel_count, sizeof *o->kernels);
        known = &o->kernels[o->kernel_count++];
        *known = (struct order_kernel){.kernel = kernel};
    }
    free(known->place_of);
    return known->place_of = place_of;
}

/* ---- what a copy leaves out ------------------------------------------------------------------ */

static _Noreturn void end_copy(struct order_check *, const struct launch *);

bool order_skips(const struct launch *launch, const struct insn *i)
{
    struct order_check *o = launch->emu->checkers->order;
    if (!o) return false;
    unsigned place = find_kernel(o, launch->kernel)->place_of[i - launch->kernel->code];
    if (!o->is_copy) {
        o->results->of[place].is_executed = true;
        o->results->of[place].is_met |= launch == o->launch;
        return false;
    }
    bool is_enough = o->job != WITHOUT_ONE && ++o->met == MOST_MET;
    if (o->job == WITHOUT_ONE || is_enough) /* one hazard is enough, too */
        race_reports_flush(launch->emu->checkers->race->reports, launch);
    if (is_enough) end_copy(o, launch);
    return place && (o->job == WITHOUT_ANY || (o->job == WITHOUT_ONE) == (place == o->place));
}

/* ---- copies of the process ------------------------------------------------------------------- */

/* Ends a copy without what the program and the runtime do at an exit. */
static _Noreturn void leave(void)
{
    for (;;) kill(getpid(), SIGKILL);
}

/* Waits for a child; 0: for any. A handler of the program may interrupt that, or have waited. */
static void wait_for(pid_t child)
{
    while (waitpid(child ? child : -1, NULL, 0) < 0 && errno == EINTR) continue;
}

static void wait_for_all(unsigned *running)
{
    for (; *running; --*running) wait_for(0);
}

/* Starts a copy for a job, after waiting for one of those that run if they are too many. Returns
 * true in the copy. */
static bool start(struct order_check *o, enum job job, unsigned place, unsigned *running)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    for (; *running && *running >= (unsigned)cores; --*running) wait_for(0);
    if (getppid() != o->other) leave(); /* the program has been killed */
    pid_t process = fork();
    if (process > 0) ++*running;
    if (process != 0) return false;
    o->is_copy = true;
    o->job = job;
    o->place = place;
    return true;
}

/* In the copy that stands still: waits until the launch has ended, and starts a copy for each
 * question. Returns in each of these. */
static void ask_all(struct order_check *o, uint64_t threads)
{
    char go;
    unsigned running = 0;
    const struct shared_results *r = o->results;
    ssize_t got;
    signal(SIGCHLD, SIG_DFL);
    do got = read(o->to_copy, &go, 1);
    while (got < 0 && errno == EINTR);
    if (got != 1) leave();
    int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    for (unsigned p = 1; p <= o->place_count; p++) {
        bool is_open = !r->of[p].is_needed || threads < r->of[p].threads;
        bool asks = r->of[p].is_met && is_open;
        if (asks && start(o, WITHOUT_ONE, p, &running)) return;
    }
    wait_for_all(&running);
    bool has_all = false;
    for (unsigned p = 1; p <= o->place_count; p++) {
        bool asks = r->of[p].is_met && !r->of[p].is_needed;
        if (!asks || r->of[p].is_compared) continue;
        if (!has_all && start(o, WITHOUT_ANY, 0, &running)) return;
        if (!has_all) wait_for_all(&running);
        has_all = true;
        if (r->without_any.count && start(o, WITH_ONE, p, &running)) return;
    }
    wait_for_all(&running);
    leave();
}

/* A lock that another host thread held at this moment would stay locked in the copy. */
static pid_t fork_with_locks(struct checkers *c)
{
    if (c->race->ops) pthread_mutex_lock(&c->race->ops->lock);
    pthread_mutex_lock(&c->findings.lock);
    pid_t process = fork();
    pthread_mutex_unlock(&c->findings.lock);
    if (c->race->ops) pthread_mutex_unlock(&c->race->ops->lock);
    return process;
}

/* Has this kernel not been launched so too often? */
static bool is_rare(struct order_check *o, const struct launch *launch)
{
    uint64_t key = (uint64_t)(uintptr_t)launch->kernel;
    const unsigned sizes[] = {launch->grid.x,  launch->grid.y,  launch->grid.z,
                              launch->block.x, launch->block.y, launch->block.z};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) key = random_mixed(key + sizes[k]);
    struct launch_shape *shape = &o->shapes[key % MOST_SHAPES];
    if (shape->key != key) *shape = (struct launch_shape){.key = key};
    return shape->times++ < MOST_ALIKE;
}

static uint64_t threads_of(const struct launch *launch)
{
    return (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z * launch->block.x *
           launch->block.y * launch->block.z;
}

void order_begin(struct launch *launch)
{
    struct order_check *o = launch->emu->checkers->order;
    bool has_open = false;
    int to_copy[2];
    const uint8_t *place_of = find_places(o, launch->kernel);
    if (o->is_copy || o->launch) return;
    for (size_t k = 0; k < launch->kernel->code_count; k++) {
        unsigned p = place_of[k];
        has_open |=
            p && (!o->results->of[p].is_needed || threads_of(launch) < o->results->of[p].threads);
    }
    if (launch->emu->memory.areas) o->shares = true;
    if (!has_open || launch->depth || launch->emu->memory.areas || !is_rare(o, launch)) return;
    o->results->own.count = o->results->without_any.count = 0;
    for (unsigned p = 0; p <= o->place_count; p++) o->results->of[p].is_met = false;
    if (pipe(to_copy) != 0) return;
    o->other = fork_with_locks(launch->emu->checkers);
    if (o->other == 0) {
        o->other = getppid();
        close(to_copy[1]);
        o->to_copy = to_copy[0];
        launch->may_suspend = false;
        o->launch = launch;
        ask_all(o, threads_of(launch));
        return;
    }
    close(to_copy[0]);
    o->to_copy = to_copy[1];
    if (o->other > 0)
        o->launch = launch;
    else
        close(o->to_copy);
}

/* ---- hazards --------------------------------------------------------------------------------- */

/* The pair, or the same one without any fence? */
static bool has_pair(const struct pairs *pairs, struct hazard_pair pair)
{
    for (unsigned k = 0; k < pairs->count; k++) {
        const struct hazard_pair *p = &pairs->at[k];
        bool is_same = p->now == pair.now && p->before == pair.before;
        if (is_same && (pair.by_reader || !p->by_reader)) return true;
    }
    return false;
}

static void add_pair(struct pairs *pairs, struct hazard_pair pair)
{
    if (!has_pair(pairs, pair) && pairs->count < MOST_PAIRS) pairs->at[pairs->count++] = pair;
}

/* "Write access at kernel(int *) in file.cu:12 by thread (1,0,0) in block (0,0,0)" */
static void append_access(const struct launch *launch, const struct check_place *place, char *text)
{
    char where[900], thread[80];
    check_describe_insn(launch->kernel, place->insn, where, sizeof where);
    check_describe_thread(place, thread, sizeof thread);
    device_append(text, CHECK_TEXT, "%s at %s%s%s", place->access ? place->access : "access", where,
                  place->has_thread ? " by " : "", place->has_thread ? thread : "");
}

void order_hazard(const struct launch *launch, const struct check_report *r)
{
    struct order_check *o = launch->emu->checkers->order;
    const struct insn *code = launch->kernel->code;
    if (!o || launch != o->launch || !r->place.insn || !r->other.insn) return;
    struct hazard_pair pair = {(uint32_t)(r->place.insn - code), (uint32_t)(r->other.insn - code),
                               r->by_reader};
    struct shared_results *results = o->results;
    if (!o->is_copy) add_pair(&results->own, pair);
    if (!o->is_copy || has_pair(&results->own, pair)) return;
    if (o->job == WITHOUT_ANY) add_pair(&results->without_any, pair);
    if (o->job == WITH_ONE) add_pair(&o->seen, pair);
    if (o->job != WITHOUT_ONE) return;
    char *why = results->of[o->place].why;
    snprintf(why, CHECK_TEXT, "    without it, ");
    append_access(launch, &r->other, why);
    device_append(why, CHECK_TEXT, "\n        and ");
    append_access(launch, &r->place, why);
    device_append(why, CHECK_TEXT,
                  " have no order\n        in launch %u, grid (%u,%u,%u), block "
                  "(%u,%u,%u)",
                  launch->id, launch->grid.x, launch->grid.y, launch->grid.z, launch->block.x,
                  launch->block.y, launch->block.z);
    results->of[o->place].threads = threads_of(launch);
    results->of[o->place].is_needed = true;
    leave();
}

/* A copy WITH_ONE place has ended: which hazards did the place prevent? */
static void compare(struct order_check *o, const struct launch *launch)
{
    char one[900], two[900];
    o->results->of[o->place].is_compared = true;
    for (unsigned k = 0; k < o->results->without_any.count; k++) {
        struct hazard_pair pair = o->results->without_any.at[k];
        if (has_pair(&o->seen, pair)) continue;
        check_describe_insn(launch->kernel, &launch->kernel->code[pair.before], one, sizeof one);
        check_describe_insn(launch->kernel, &launch->kernel->code[pair.now], two, sizeof two);
        char *why = o->results->of[o->place].why;
        *why = '\0';
        device_append(why, CHECK_TEXT, "    it orders an access at %s\n        and one at %s, ",
                      one, two);
        device_append(why, CHECK_TEXT, "which something else orders, too");
        return;
    }
}

static void end_copy(struct order_check *o, const struct launch *launch)
{
    if (o->job == WITH_ONE) compare(o, launch);
    if (o->job == WITHOUT_ONE) o->results->of[o->place].is_answered = true;
    leave();
}

void order_end(struct launch *launch)
{
    struct order_check *o = launch->emu->checkers->order;
    if (launch != o->launch) return;
    if (o->is_copy) end_copy(o, launch);
    o->launch = NULL;
    if (write(o->to_copy, "g", 1) == 1) wait_for(o->other);
    close(o->to_copy);
}

/* ---- the report ------------------------------------------------------------------------------ */

static const struct {
    const char *kind, *words;
} answers[EMU_ORDER_ANSWERS] = {
    [EMU_ORDER_NEEDED] = {"needed", "needed"},
    [EMU_ORDER_NOT_NEEDED] = {"not-needed", "not needed in these runs"},
    [EMU_ORDER_NEVER_EXECUTED] = {"never-executed", "never executed"},
    [EMU_ORDER_NOT_LOOKED_AT] = {"not-looked-at", "not looked at"},
};

/* A line is not looked at if only launches have executed it that are passed over, or if no copy
 * could be made, or has come to its end. */
static enum emu_order_answer answer_of(const struct shared_results *r, unsigned p)
{
    return r->of[p].is_needed      ? EMU_ORDER_NEEDED
           : r->of[p].is_answered  ? EMU_ORDER_NOT_NEEDED
           : !r->of[p].is_executed ? EMU_ORDER_NEVER_EXECUTED
                                   : EMU_ORDER_NOT_LOOKED_AT;
}

void emu_report_order(struct emu *emu, struct emu *to, enum emu_order_answer answer, size_t *count)
{
    struct order_check *o = emu->checkers->order;
    bool is_first = answer == EMU_ORDER_NEEDED;
    if (!o) return;
    if (o->is_full && is_first)
        emu_add_finding(emu, EMU_CHECK_ORDER, EMU_FINDING_NOTE, "too-many-places",
                        "the kernels have more places that order accesses than are looked at",
                        NULL);
    if (o->shares && is_first)
        emu_add_finding(emu, EMU_CHECK_ORDER, EMU_FINDING_NOTE, "shared-memory",
                        "launches are not looked at whose memory other processes share", NULL);
    for (unsigned p = 1; p <= o->place_count; p++) {
        const struct order_place *place = &o->places[p];
        char title[200], where[800], head[1200], same[800];
        size_t before = to->checkers->findings.count;
        if (answer_of(o->results, p) != answer) continue;
        snprintf(title, sizeof title, "%s: %s", answers[answer].words, place->what);
        describe_source(place->file, place->line, place->ptx_line, where, sizeof where);
        snprintf(head, sizeof head, "%s at %s", title, where);
        snprintf(same, sizeof same, "%s:%u", place->file ? place->file : place->kernel,
                 place->file ? place->line : place->ptx_line);
        const struct check_sources sources = {.kernel = place->kernel,
                                              .place = {.is_known = true,
                                                        .file = place->file,
                                                        .line = place->line,
                                                        .ptx_line = place->ptx_line}};
        check_report(to, NULL,
                     &(struct check_report){.tool = EMU_CHECK_ORDER,
                                            .severity = EMU_FINDING_NOTE,
                                            .kind = answers[answer].kind,
                                            .title = title,
                                            .same = same,
                                            .head = head,
                                            .sources = &sources,
                                            .detail = *o->results->of[p].why ? o->results->of[p].why
                                                                             : NULL});
        *count += to->checkers->findings.count - before;
    }
}
