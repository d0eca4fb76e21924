/*
 * fuzz.c — gives the compiler changed sources: it must neither crash nor hang on any of them.
 *
 *     fuzz COUNT FILE.cu...            as many inputs, by all processors
 *     fuzz --print NUMBER FILE.cu...   prints one of them
 *     fuzz --try NUMBER FILE.cu...     compiles one of them, here, for a debugger
 *
 * An input is a file with a few changes: bytes or lines that are left out, doubled, exchanged or
 * cut off, and words put in. It depends on its number and the files alone. Processes take BATCH
 * inputs each; one that a signal ends (also that of the clock, after SECONDS of computing) is told
 * by its number. Beside that, a compilation must hold its promise: errors, or PTX.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "common/cc/cc.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BATCH = 500, SECONDS = 10, MOST_BYTES = 1 << 16, CHANGES = 4, UNPROMISED = 3 };
#ifndef __SANITIZE_ADDRESS__                     /* which takes terabytes of addresses */
static const rlim_t addresses = (rlim_t)1 << 30; /* a compilation takes a few MB */
#endif

struct source {
    const char *path;
    char text[MOST_BYTES];
    size_t size;
};

static struct source *sources;
static size_t source_count;

/* ---- random numbers -------------------------------------------------------------------------- */

static uint64_t state;

static uint64_t bits(void)
{
    uint64_t z = (state += 0x9E3779B97F4A7C15); /* splitmix64 */
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
}

/* 0 to most - 1; 0 if there is none. */
static size_t below(size_t most) { return most ? bits() % most : 0; }

/* ---- changes --------------------------------------------------------------------------------- */

/* Each word of the language once, and what nests or does not end. */
static const char *const words[] = {
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    ",",
    "<",
    ">",
    "<<<",
    ">>>",
    "=",
    "+=",
    "?",
    ":",
    "*",
    "&",
    "&&",
    "||",
    "!",
    "~",
    "-",
    "++",
    "%",
    ">>",
    "<<",
    "/*",
    "//",
    "\"",
    "'",
    "\\\n",
    "#",
    "##",
    "#define ",
    "#include ",
    "#if 1\n",
    "#endif ",
    "#else ",
    "\n",
    "0",
    "1",
    "0x",
    "1e",
    "4294967296",
    "1.0f",
    "08",
    "1u",
    "int ",
    "float ",
    "unsigned",
    "size_t ",
    "const ",
    "static ",
    "void ",
    "bool ",
    "for (;;)",
    "while ",
    "do ",
    "if (",
    "else ",
    "return ",
    "break;",
    "continue;",
    "switch ",
    "goto ",
    "struct ",
    "enum ",
    "union ",
    "auto ",
    "sizeof",
    "typedef ",
    "extern ",
    "inline",
    "template",
    "typename",
    "__global__",
    "class ",
    "::",
    "->",
    "__shared__ ",
    "__device__ ",
    "__syncthreads();",
    "threadIdx",
    ".x",
    "blockIdx.x",
    "warpSize",
    "(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((",
    "{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{",
    "- - - - - - - - - - - - - - - - - - - - - - - ",
    "/ 0",
    "% 0",
    "<< 99",
    "[1 << 30]",
    "[-1]",
    "\xC3\xA4",
    "\x01",
};

/* Replaces `gone` bytes at `at` by others; what does not fit is left out. */
static void replace(struct source *s, size_t at, size_t gone, const char *by, size_t size)
{
    if (at > s->size) at = s->size;
    if (gone > s->size - at) gone = s->size - at;
    if (s->size - gone + size >= MOST_BYTES) return;
    memmove(s->text + at + size, s->text + at + gone, s->size - at - gone);
    memcpy(s->text + at, by, size);
    s->size += size - gone;
}

/* Where the line with a byte begins, and how long it is, with its end. */
static size_t line_at(const struct source *s, size_t at, size_t *length)
{
    while (at > 0 && s->text[at - 1] != '\n') at--;
    const char *end = memchr(s->text + at, '\n', s->size - at);
    *length = end ? (size_t)(end - s->text) + 1 - at : s->size - at;
    return at;
}

static void change_line(struct source *s, size_t at, bool is_double)
{
    static char copy[MOST_BYTES];
    size_t length, from = line_at(s, at, &length);
    memcpy(copy, s->text + from, length);
    if (!is_double) replace(s, from, length, "", 0);
    replace(s, below(s->size), 0, copy, length);
}

/* A piece of any source, as large as a statement. */
static void put_piece(struct source *s, size_t at)
{
    const struct source *from = &sources[below(source_count)];
    size_t begin = below(from->size), size = below(64);
    if (size > from->size - begin) size = from->size - begin;
    replace(s, at, below(2) * size, from->text + begin, size);
}

static void change(struct source *s)
{
    enum { TAKE, EXCHANGE, WORD, OVER_WORD, LINE, DOUBLE_LINE, PIECE, CUT, KINDS };
    size_t at = below(s->size);
    const char *word = words[below(sizeof words / sizeof *words)];
    char byte = (char)bits();
    switch (below(KINDS)) {
    case TAKE: replace(s, at, 1 + below(8), "", 0); break;
    case EXCHANGE: replace(s, at, 1, &byte, 1); break;
    case WORD: replace(s, at, 0, word, strlen(word)); break;
    case OVER_WORD: replace(s, at, strlen(word), word, strlen(word)); break;
    case LINE: change_line(s, at, false); break;
    case DOUBLE_LINE: change_line(s, at, true); break;
    case PIECE: put_piece(s, at); break;
    case CUT:
        if (below(8) == 0) s->size = at;
        break;
    default: break;
    }
}

static void make_input(uint64_t number, struct source *s)
{
    state = number;
    *s = sources[below(source_count)];
    for (size_t i = 1 + below(CHANGES); i > 0; i--) change(s);
    s->text[s->size] = '\0';
}

/* ---- compiling ------------------------------------------------------------------------------- */

/* The headers of the steps, which stand among the files. */
static const char *find_header(void *context, const char *path)
{
    (void)context;
    for (size_t i = 0; i < source_count; i++) {
        size_t whole = strlen(sources[i].path), part = strlen(path);
        if (whole >= part && !strcmp(sources[i].path + whole - part, path)) return sources[i].text;
    }
    return NULL;
}

/* Promised are PTX and no error, or errors, each with a place and a sentence. */
static bool is_promised(const struct cc_result *r)
{
    size_t errors = 0;
    if (!r) return true; /* no memory */
    for (size_t i = 0; i < r->count; i++) {
        const struct cc_diagnostic *d = &r->diagnostics[i];
        errors += d->severity == CC_ERROR;
        if (!d->text || !*d->text || d->line < 1 || d->column < 1) return false;
    }
    return errors == r->errors && (r->ptx != NULL) == (errors == 0);
}

static bool compile(const struct source *s)
{
    struct cc_options options = {.header = find_header};
    struct cc_result *r = cc_compile(s->path, s->text, &options);
    bool is_good = is_promised(r);
    if (r) cc_free(r);
    return is_good;
}

/* ---- batches --------------------------------------------------------------------------------- */

/* What the parent reads of a process that has ended: the number of its last input. */
static uint64_t *at_work;

static void run_batch(uint64_t first, uint64_t end, uint64_t *now)
{
    static struct source input;
#ifndef __SANITIZE_ADDRESS__
    setrlimit(RLIMIT_AS, &(struct rlimit){addresses, addresses});
#endif
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    if (!freopen("/dev/null", "w", stderr)) _exit(EXIT_FAILURE);
    for (*now = first; *now < end; ++*now) {
        make_input(*now, &input);
        // Not of waiting: a busy machine is no hang.
        setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = SECONDS}, NULL);
        if (!compile(&input)) _exit(UNPROMISED);
    }
    _exit(EXIT_SUCCESS);
}

/* Waits for a process; returns its slot. Prints what has ended it. */
static size_t wait_batch(pid_t *pids, size_t slots, unsigned *failures)
{
    int status;
    pid_t pid = wait(&status);
    size_t slot = 0;
    while (slot < slots && pids[slot] != pid) slot++;
    if (slot == slots) return 0;
    pids[slot] = 0;
    if (status == 0) return slot;
    ++*failures;
    bool is_alarm = WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF;
    bool is_unpromised = WIFEXITED(status) && WEXITSTATUS(status) == UNPROMISED;
    printf("input %llu: %s\n", (unsigned long long)at_work[slot],
           is_unpromised ? "neither errors nor PTX, or an error without a place"
           : is_alarm    ? "the compiler does not end"
                         : "the compiler crashes");
    fflush(stdout);
    return slot;
}

static unsigned run_all(uint64_t count)
{
    enum { MOST_SLOTS = 64 };
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t slots = processors < 1 ? 1 : processors > MOST_SLOTS ? MOST_SLOTS : (size_t)processors;
    pid_t pids[MOST_SLOTS] = {0};
    unsigned failures = 0;
    at_work = mmap(NULL, sizeof *at_work * MOST_SLOTS, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at_work == MAP_FAILED) return 1;
    size_t running = 0;
    for (uint64_t first = 0; first < count; first += BATCH) {
        size_t slot = running < slots ? running++ : wait_batch(pids, slots, &failures);
        uint64_t end = first + BATCH < count ? first + BATCH : count;
        pids[slot] = fork();
        if (pids[slot] == 0) run_batch(first, end, &at_work[slot]);
    }
    while (running-- > 0) wait_batch(pids, slots, &failures);
    return failures;
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool read_sources(char **paths, size_t count)
{
    sources = calloc(count, sizeof *sources);
    for (size_t i = 0; sources && i < count; i++) {
        FILE *file = fopen(paths[i], "rb");
        if (!file) return fprintf(stderr, "fuzz: %s cannot be read\n", paths[i]), false;
        sources[i].path = paths[i];
        sources[i].size = fread(sources[i].text, 1, MOST_BYTES - 1, file);
        fclose(file);
    }
    source_count = count;
    return sources != NULL && count > 0;
}

int main(int count, char **argument)
{
    bool prints = count > 3 && !strcmp(argument[1], "--print");
    bool tries = count > 3 && !strcmp(argument[1], "--try");
    int first = prints || tries ? 3 : 2;
    if (count <= first || !read_sources(argument + first, (size_t)(count - first))) {
        fputs("fuzz: give COUNT, --print NUMBER or --try NUMBER, and files\n", stderr);
        return 2;
    }
    uint64_t number = strtoull(argument[first - 1], NULL, 10);
    if (prints || tries) {
        static struct source input;
        make_input(number, &input);
        if (tries) return !compile(&input);
        return fwrite(input.text, 1, input.size, stdout) != input.size;
    }
    unsigned failures = run_all(number);
    printf("inputs %llu, failures %u\n", (unsigned long long)number, failures);
    return failures > 0;
}
