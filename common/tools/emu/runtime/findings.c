/* findings.c — what a run prints while it lasts: findings as they come, and progress. */
#define _GNU_SOURCE /* flockfile */
#include "graph.h"
#include "common/files/visible.h"
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <unistd.h>

/* ---- prints the findings of the checkers in compute-sanitizer's format ----------------------- */

/* The findings of a launch are printed when it ends, the summary when the program ends. */

static struct {
    unsigned checks;
    bool lenient; /* without checks: print what a GPU lets pass */
    bool leaks, api_errors, colour, warnings_count;
    int exit_code;
    FILE *log;
} wanted;

static uint64_t leaked_bytes;
static size_t leaks;

static bool ended;             /* the summary has been printed */
static size_t printed;         /* findings so far, of all devices */
static size_t hazards;         /* racecheck's findings among them */
static atomic_size_t failures; /* launches that did not come to their end */
static atomic_size_t refusals; /* those of kernels that the emulator cannot run */

/* ---- what is wanted -------------------------------------------------------------------------- */

/* Opens the log. It is not buffered, so it also has the findings of a program that crashes. Below a
 * command that emu runs, other programs may have written to it. */
static FILE *open_log(void)
{
    const char *path = cudart_output(SETTING_CHECK_LOG);
    if (path == NULL || strcmp(path, "stderr") == 0) return stderr;
    if (strcmp(path, "stdout") == 0) return stdout;
    FILE *log = fopen(path, cudart_parent_takes(CUDART_REPORT) ? "a" : "w");
    if (log != NULL) return log;
    fprintf(stderr, "emu: cannot write EMU_CHECK_LOG=%s: %s\n", path, strerror(errno));
    cudart_exit(EXIT_USAGE);
}

static unsigned read_tools(void)
{
    const char *tool = setting_text(SETTING_TOOL);
    unsigned checks = tool != NULL ? check_tools(tool) : 0;
    if (tool != NULL && checks == 0)
        cudart_refuse(SETTING_TOOL, tool, settings[SETTING_TOOL].takes);
    return checks;
}

void cudart_check_settings(void)
{
    uint64_t schedule = setting_number(SETTING_SCHEDULE);
    wanted.exit_code = (int)setting_number(SETTING_ERROR_EXITCODE);
    wanted.leaks = setting_is(SETTING_LEAK_CHECK, "full");
    wanted.api_errors = setting_is(SETTING_API_ERRORS, "explicit");
    wanted.warnings_count = setting_is(SETTING_WARNINGS_COUNT, "1");
    wanted.checks = read_tools();
    if (schedule != 0)
        fprintf(stderr, "emu: random scheduling; --schedule %" PRIu64 " repeats it%s\n", schedule,
                wanted.checks & EMU_CHECK_SYNC ? "; with synccheck lanes part at branches only"
                                               : "");
    if (wanted.checks != 0 || wanted.exit_code != 0) cudart_observe_end();
    wanted.lenient = wanted.checks == 0 && setting_is(SETTING_LENIENT, "1");
    wanted.log = wanted.checks != 0 ? open_log() : stderr;
    if (wanted.checks == 0) return;
    wanted.colour = isatty(fileno(wanted.log)) && cudart_environment("NO_COLOR") == NULL;
    cudart_check_begin();
}

bool cudart_check_wanted(void) { return wanted.checks != 0; }

void cudart_check_begin(void)
{
    if (wanted.checks == 0) return;
    fputs("========= EMU (checks as compute-sanitizer does)", wanted.log);
    if (cudart_is_forked()) fprintf(wanted.log, ", in the forked process %ld", (long)getpid());
    fputc('\n', wanted.log);
}

void cudart_check_flush(void)
{
    if (wanted.checks != 0) fflush(wanted.log);
}

void cudart_check_config(struct emu_config *config)
{
    config->checks = wanted.checks;
    config->stream_ops = wanted.checks & EMU_CHECK_RACE ? cudart_order_open() : NULL;
    size_t limit = (size_t)setting_number(SETTING_PRINT_LIMIT);
    config->finding_limit = limit ? limit : SIZE_MAX;
    config->schedule = setting_number(SETTING_SCHEDULE);
    config->descending = setting_is(SETTING_BLOCKS, "descending");
    config->strict_readers = setting_is(SETTING_STRICT_READERS, "yes") ||
                             wanted.checks & EMU_CHECK_ORDER; /* else no such fence is needed */
    config->host_place = cudart_place;
    config->describe_host_place = cudart_describe_place;
}

/* ---- printing -------------------------------------------------------------------------------- */

/* Prints lines, each behind compute-sanitizer's mark, or without a checker behind the emulator's;
 * the first line of an error is red. */
static void print_lines(const char *text, const char *colour)
{
    for (const char *line = text; line != NULL;) {
        const char *end = strchr(line, '\n');
        int length = end != NULL ? (int)(end - line) : (int)strlen(line);
        const char *before = wanted.colour && line == text ? colour : "";
        const char *mark = wanted.lenient ? "emu: " : "========= ";
        fprintf(wanted.log, "%s%s%.*s%s", mark, before, length, line, *before ? "\033[0m" : "");
        line = end != NULL ? end + 1 : NULL;
        if (line != NULL) fputc('\n', wanted.log);
    }
}

/* The allocation in a detail of memcheck; "" if none is named. */
static const char *allocation_in(const struct emu_finding *f, size_t *length)
{
    const char *found = f->detail != NULL ? strstr(f->detail, "allocation at 0x") : NULL;
    *length = found != NULL ? strcspn(found, "(\n") : 0;
    return found != NULL ? found : "";
}

/* Are they the same invalid access, of two threads? */
static bool is_of_next_thread(const struct emu_finding *f, const struct emu_finding *next)
{
    const struct emu_place *a = &f->place, *b = &next->place;
    size_t length, other;
    const char *one = allocation_in(f, &length), *two = allocation_in(next, &other);
    return f->tool == EMU_CHECK_MEMORY && f->unit == NULL && f->space && next->space &&
           f->launch == next->launch && a->line == b->line &&
           (a->line != 0 || a->ptx_line == b->ptx_line) && strcmp(f->title, next->title) == 0 &&
           length == other && strncmp(one, two, length) == 0;
}

/* `threads`: it and the next findings differ only in their thread. */
static void print_finding(const struct emu_finding *f, size_t threads)
{
    printed += threads;
    hazards += f->tool == EMU_CHECK_RACE;
    static const char red[] = "\033[31m", yellow[] = "\033[33m";
    print_lines(f->head, f->severity == EMU_FINDING_ERROR     ? red
                         : f->severity == EMU_FINDING_WARNING ? yellow
                                                              : "");
    bool counts = f->unit != NULL && (f->count > 1 || f->tool == EMU_CHECK_RACE);
    if (counts) fprintf(wanted.log, " [%" PRIu64 " %s]", f->count, f->unit);
    if (threads > 1) fprintf(wanted.log, " [%zu threads]", threads);
    fputc('\n', wanted.log);
    if (f->detail != NULL) {
        print_lines(f->detail, "");
        fputc('\n', wanted.log);
    }
    if (!wanted.lenient) fputs("=========\n", wanted.log);
}

/* Of all devices. */
static uint64_t count_findings(enum emu_severity severity)
{
    uint64_t count = 0;
    for (int i = 0; i < cudart_device_count(); i++)
        count += emu_finding_count(cudart_device_at(i)->emu, severity);
    return count;
}

/* Those that the exit code depends on. */
static uint64_t count_deciding(void)
{
    return count_findings(EMU_FINDING_ERROR) +
           (wanted.warnings_count ? count_findings(EMU_FINDING_WARNING) : 0);
}

void cudart_check_print(void)
{
    if ((wanted.checks == 0 && !wanted.lenient) || !cudart_is_owner()) return;
    flockfile(wanted.log);
    for (int i = 0; i < cudart_device_count(); i++) {
        struct device *device = cudart_device_at(i);
        for (size_t first, end = emu_findings(device->emu); (first = device->printed) < end;) {
            const struct emu_finding *f = emu_finding(device->emu, first);
            do
                device->printed++;
            while (device->printed < end &&
                   is_of_next_thread(f, emu_finding(device->emu, device->printed)));
            print_finding(f, device->printed - first);
        }
    }
    if (count_deciding() > 0) cudart_parent_tell(OUTCOME_ERROR);
    fflush(wanted.log);
    funlockfile(wanted.log);
}

static const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }

static void print_hazards(uint64_t errors, uint64_t warnings)
{
    fprintf(wanted.log,
            "========= RACECHECK SUMMARY: %zu hazard%s displayed (%" PRIu64 " error%s, %" PRIu64
            " warning%s)\n",
            hazards, plural(hazards), errors, plural(errors), warnings, plural(warnings));
}

static void print_errors(uint64_t errors, uint64_t warnings)
{
    fprintf(wanted.log, "========= ERROR SUMMARY: %" PRIu64 " error%s", errors, plural(errors));
    if (warnings > 0) fprintf(wanted.log, ", %" PRIu64 " warning%s", warnings, plural(warnings));
    fputc('\n', wanted.log);
}

/* Where racecheck is alone its hazards are counted apart from faults, which all checkers report. */
static void print_summary(uint64_t errors, uint64_t warnings, uint64_t races)
{
    bool is_alone = wanted.checks == EMU_CHECK_RACE;
    if (is_alone) print_hazards(races, warnings);
    if (!is_alone)
        print_errors(errors, warnings);
    else if (errors > races)
        print_errors(errors - races, 0);
    uint64_t all = errors + warnings;
    if (all > printed)
        fprintf(wanted.log,
                "========= ERROR SUMMARY: %" PRIu64 " error%s not printed. Use --print-limit"
                " option to adjust the number of printed errors\n",
                all - printed, all - printed == 1 ? " was" : "s were");
}

/* ---- the program's own mistakes -------------------------------------------------------------- */

void cudart_check_failure(void)
{
    failures++;
    if (wanted.checks == 0) cudart_parent_tell(OUTCOME_ERROR);
}

void cudart_check_refusal(void)
{
    failures++;
    refusals++;
    cudart_parent_tell(OUTCOME_ERROR);
}

/* Appends where the program has called the runtime, or a library. */
static void append_call(char *detail, size_t size)
{
    struct emu_host_place place;
    char where[512];
    size_t used = strlen(detail);
    cudart_place(&place);
    cudart_describe_place(&place, where, sizeof where);
    used += (size_t)snprintf(detail + used, size - used, "%s    The call was made at",
                             used ? "\n" : "");
    for (char *rest, *line = strtok_r(where, "\n", &rest); line && used < size;
         line = strtok_r(NULL, "\n", &rest))
        used += (size_t)snprintf(detail + used, size - used, "\n        Host Frame: %s", line);
}

void cudart_check_library(const char *sentence)
{
    char detail[2048] = "";
    cudart_check_failure();
    if (!(wanted.checks & EMU_CHECK_MEMORY)) {
        cudart_print(sentence);
        return;
    }
    append_call(detail, sizeof detail);
    emu_add_finding(emu_runtime(), EMU_CHECK_MEMORY, EMU_FINDING_ERROR, "out-of-bounds", sentence,
                    detail);
    cudart_check_print();
}

void cudart_check_api(cudaError_t error, const void *pointer)
{
    if (!(wanted.checks & EMU_CHECK_MEMORY) || !wanted.api_errors) return;
    char function[64], head[256], detail[2048] = "";
    cudart_function_name(function, sizeof function);
    int code = cudart_in_driver ? cudart_driver_error((int)error) : (int)error;
    const char *name = cudart_in_driver ? cudart_driver_error_name(code) : cudaGetErrorName(error);
    snprintf(head, sizeof head, "Program hit %s (error %d) due to \"%s\" on CUDA API call to %s.",
             name, code, cudaGetErrorString((cudaError_t)code), function);
    if (pointer != NULL)
        emu_describe_bad_free(emu_runtime(), (emu_addr)pointer, detail, sizeof detail);
    append_call(detail, sizeof detail);
    emu_add_finding(emu_runtime(), EMU_CHECK_MEMORY, EMU_FINDING_ERROR, "api-error", head, detail);
    cudart_check_print();
}

void cudart_check_leaks(void)
{
    if (!(wanted.checks & EMU_CHECK_MEMORY) || !wanted.leaks) return;
    uint64_t bytes;
    size_t count = emu_report_leaks(emu_runtime(), &bytes);
    cudart_check_print();
    leaked_bytes += bytes;
    leaks += count;
}

/* How many places got each answer of --tool order. */
static void print_orders(const size_t counts[EMU_ORDER_ANSWERS])
{
    fprintf(wanted.log,
            "========= ORDER SUMMARY: %zu needed, %zu not needed in these runs, %zu never executed",
            counts[EMU_ORDER_NEEDED], counts[EMU_ORDER_NOT_NEEDED],
            counts[EMU_ORDER_NEVER_EXECUTED]);
    size_t passed_over = counts[EMU_ORDER_NOT_LOOKED_AT];
    if (passed_over) fprintf(wanted.log, ", %zu not looked at", passed_over);
    fputc('\n', wanted.log);
}

/* Prints the summary and closes the log, which may fail on a full disk. */
static void end_report(void)
{
    size_t orders[EMU_ORDER_ANSWERS] = {0};
    ON_EACH_DEVICE(i, cudart_check_leaks());
    for (enum emu_order_answer a = 0; a < EMU_ORDER_ANSWERS; a++)
        ON_EACH_DEVICE(i, emu_report_order(emu_runtime(), cudart_device_at(0)->emu, a, &orders[a]));
    cudart_check_print();
    if (wanted.leaks)
        fprintf(wanted.log, "========= LEAK SUMMARY: %" PRIu64 " bytes leaked in %zu allocations\n",
                leaked_bytes, leaks);
    if (wanted.checks & EMU_CHECK_RACE && cudart_has_devices() && cudart_order_is_off())
        fputs(
            "========= RACECHECK has stopped comparing operations of streams and graphs: too many "
            "could run at the same time, or memory ran out\n",
            wanted.log);
    uint64_t errors = count_findings(EMU_FINDING_ERROR), races = 0;
    for (int i = 0; i < cudart_device_count(); i++)
        races += emu_race_count(cudart_device_at(i)->emu);
    if (wanted.checks & EMU_CHECK_ORDER) print_orders(orders);
    print_summary(errors, count_findings(EMU_FINDING_WARNING), races);
    bool failed = fflush(wanted.log) != 0 || ferror(wanted.log) != 0;
    if (failed) {
        fprintf(stderr, "emu: the report is not complete: %s\n", strerror(errno));
        cudart_exit(EXIT_USAGE);
    }
}

/* Without a checker, the errors are the launches that did not come to their end, and what a GPU
 * lets pass. A kernel that could not run was not checked, which is an error for every checker. */
void cudart_check_end(void)
{
    if (!cudart_is_owner() || ended) return;
    ended = true;
    uint64_t errors = wanted.checks != 0 ? refusals : failures;
    if (wanted.checks != 0) end_report();
    if (wanted.checks != 0 || (wanted.lenient && cudart_has_devices())) errors += count_deciding();
    cudart_document_write();
    if (errors > 0 && wanted.exit_code != 0) cudart_exit(wanted.exit_code);
}

/* ---- progress -------------------------------------------------------------------------------- */

/* A line on stderr where kernels run for long: which kernel runs, how many of its
 * blocks are done, how long the rest will take, and what makes it faster.
 *
 * A thread looks at the devices once a second. So launches themselves have nothing to do for it,
 * and the seconds are those in which it found a kernel running. On a terminal the line is drawn
 * anew each time, and removed when the kernel ends. Elsewhere it is repeated whenever the time has
 * doubled. */

enum { LINE_SIZE = 1024 };

static unsigned patience;    /* seconds */
static atomic_bool is_drawn; /* on the terminal's last line */

/* The thread holds locks, which copies of the process for --tool order would find locked. */
void cudart_progress_settings(void)
{
    patience = wanted.checks & EMU_CHECK_ORDER ? 0 : (unsigned)setting_number(SETTING_PROGRESS);
}

/* ---- the sentences --------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void append(char line[LINE_SIZE], const char *format,
                                                         ...)
{
    size_t used = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + used, LINE_SIZE - used, format, arguments);
    va_end(arguments);
}

/* "2 h 5 min", "61 s" */
static void append_time(char line[LINE_SIZE], double seconds)
{
    enum { MINUTE = 60, HOUR = 3600 };
    long whole = (long)(seconds + 0.5);
    if (whole >= HOUR)
        append(line, "%ld h %ld min", whole / HOUR, whole % HOUR / MINUTE);
    else if (whole >= 2 * MINUTE)
        append(line, "%ld min", whole / MINUTE);
    else
        append(line, "%ld s", whole);
}

/* Blocks take turns, so that many may have begun before the first has ended. The estimate takes
 * them for not begun: the rest is rather less. There is none if no block has ended in the second
 * half of the time, because the others may never end. */
static void append_rest(char line[LINE_SIZE], const struct emu_progress *p)
{
    append(line, "%" PRIu64 " of %" PRIu64 " blocks are done after ", p->done, p->blocks);
    append_time(line, p->seconds);
    if (p->done == 0 || 2 * p->advanced < p->seconds) {
        append(line, ", %" PRIu64 " have begun", p->begun);
        return;
    }
    append(line, ", about ");
    append_time(line, p->seconds * (double)(p->blocks - p->done) / (double)p->done);
    append(line, " are left");
}

static void append_kernel(char line[LINE_SIZE], const struct emu_progress *p)
{
    char name[EMU_NAME_SIZE];
    kernel_base_name(p->kernel, name, sizeof name);
    append(line, "kernel %s", name);
    if (p->launch > 0) append(line, " (launch %u)", p->launch);
}

static void append_advice(char line[LINE_SIZE], const struct emu_progress *p)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    append(line, "; faster: a smaller problem");
    if (setting_text(SETTING_TOOL) != NULL) append(line, ", no --tool");
    if (setting_text(SETTING_TRACE) != NULL) append(line, ", no --trace");
    if (setting_text(SETTING_SCHEDULE) != NULL) append(line, ", no --schedule");
    if (setting_text(SETTING_THREADS) != NULL && p->threads < cores && p->threads < p->blocks)
        append(line, ", --threads %ld", cores);
    append(line, " (EMU_PROGRESS=0: no such lines)");
}

/* Many short launches take long, too: then the line says so. */
static void describe(char line[LINE_SIZE], const struct emu_progress *p, unsigned busy)
{
    bool is_short = 2 * p->seconds < busy; /* others have run for most of the time */
    line[0] = '\0';
    if (is_short) {
        append(line, "kernels have run for ");
        append_time(line, busy);
        append(line, " in all, now ");
        append_kernel(line, p);
    } else {
        append_kernel(line, p);
        append(line, ": ");
        append_rest(line, p);
    }
}

/* ---- printing -------------------------------------------------------------------------------- */

static void put(const char *before, const char *line, char after)
{
    flockfile(stderr);
    fputs(before, stderr);
    visible_print(stderr, line, strlen(line));
    fputc(after, stderr);
    fflush(stderr);
    funlockfile(stderr);
}

static void print(const char *line) { put("emu: ", line, '\n'); }

/* The cursor goes back to the line's beginning, so that what the program prints replaces it. */
static void draw(const char *line)
{
    put("\r\033[Kemu: ", line, '\r');
    is_drawn = true;
}

void cudart_progress_remove(void)
{
    if (!is_drawn) return;
    flockfile(stderr);
    fputs("\033[K", stderr);
    fflush(stderr);
    is_drawn = false;
    funlockfile(stderr);
}

/* ---- the thread ------------------------------------------------------------------------------ */

static bool find_running(struct emu_progress *progress)
{
    for (int i = 0; i < cudart_device_count(); i++)
        if (emu_progress(cudart_device_at(i)->emu, progress)) return true;
    return false;
}

static void tell(const struct emu_progress *progress, unsigned busy, bool is_terminal)
{
    static unsigned next; /* the time of the next line */
    char line[LINE_SIZE];
    if (next == 0) next = patience;
    bool is_first = busy == patience;
    if (busy < next && !(is_terminal && busy > patience)) return;
    describe(line, progress, busy);
    if (is_first) append_advice(line, progress);
    if (is_first || !is_terminal)
        print(line);
    else
        draw(line);
    if (busy == next) next *= 2;
}

static void *watch(void *unused)
{
    struct emu_progress progress;
    bool is_terminal = isatty(STDERR_FILENO);
    unsigned busy = 0; /* seconds at which a kernel ran */
    for (;;) {
        const struct timespec second = {.tv_sec = 1};
        nanosleep(&second, NULL);
        if (!find_running(&progress)) continue;
        if (++busy >= patience) tell(&progress, busy, is_terminal);
    }
    return unused;
}

void cudart_progress_watch(void)
{
    pthread_t thread;
    sigset_t all, old;
    if (patience == 0) return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); /* signals are for the program's own threads */
    bool has_thread = pthread_create(&thread, NULL, watch, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (has_thread) pthread_detach(thread);
}
