/* same_ptx.c — compares two PTX texts without regard to their names. */
#define _GNU_SOURCE
#include "grader.h"
#include "common/tools/labs/run_case.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct name {
    const char *text;
    size_t length;
};

/* A kernel or another function with a body, from its parameters to its last brace. */
struct function {
    struct name name;
    const char *at, *end;
    bool is_kernel, is_known, is_open; /* open: its bits are being computed */
    uint64_t bits[2];
};

/* Functions of a PTX text. */
struct functions {
    struct function *all;
    size_t count;
};

struct text {
    const char *start, *at, *end;
    struct name *names; /* a table by hash, of a power of two */
    unsigned *numbers;
    size_t room, count;
    uint64_t bits[2];
    struct functions *functions; /* whose bodies stand for their names */
};

static void take(struct text *text, uint64_t value)
{
    text->bits[0] = hash_mix(text->bits[0], value);
    text->bits[1] = hash_mix(text->bits[1], value + (text->bits[1] >> 29));
}

static uint64_t hash_of(const char *word, size_t length)
{
    uint64_t hash = hash_bytes(HASH_NONE, word, length);
    return hash ^ hash >> 32;
}

static size_t place_of(const struct text *text, const char *word, size_t length)
{
    size_t at = hash_of(word, length) & (text->room - 1);
    while (text->names[at].text != NULL &&
           (text->names[at].length != length || memcmp(text->names[at].text, word, length) != 0))
        at = (at + 1) & (text->room - 1);
    return at;
}

static void grow(struct text *text)
{
    struct text old = *text;
    text->room = old.room == 0 ? 1024 : 2 * old.room;
    text->names = calloc(text->room, sizeof *text->names);
    text->numbers = calloc(text->room, sizeof *text->numbers);
    if (text->names == NULL || text->numbers == NULL) abort();
    for (size_t i = 0; i < old.room; i++) {
        if (old.names[i].text == NULL) continue;
        size_t at = place_of(text, old.names[i].text, old.names[i].length);
        text->names[at] = old.names[i];
        text->numbers[at] = old.numbers[i];
    }
    free(old.names);
    free(old.numbers);
}

/* The number of a name: 0 for the first one that occurs. */
static unsigned number_of(struct text *text, const char *word, size_t length)
{
    if (2 * (text->count + 1) > text->room) grow(text);
    size_t at = place_of(text, word, length);
    if (text->names[at].text == NULL) {
        text->names[at] = (struct name){word, length};
        text->numbers[at] = (unsigned)text->count++;
    }
    return text->numbers[at];
}

static bool is_word(char byte)
{
    return isalnum((unsigned char)byte) || byte == '_' || byte == '$' || byte == '%';
}

/* Special registers keep their names: %tid, %laneid. Other registers end with a number, and a
 * declaration gives the first part of their names: %r<12>. */
static bool is_special(const char *word, size_t length)
{
    static const char *const all[] = {"%tid",     "%ntid",  "%ctaid",  "%nctaid",     "%laneid",
                                      "%warpid",  "%smid",  "%gridid", "%clock",      "%clock64",
                                      "%nwarpid", "%nsmid", "%envreg", "%globaltimer"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strlen(all[i]) == length && memcmp(all[i], word, length) == 0) return true;
    return length > strlen("%lanemask_") && memcmp(word, "%lanemask_", strlen("%lanemask_")) == 0;
}

/* Names of the program: registers and labels, and mangled or generated names. Other words are
 * opcodes, types and numbers. */
static bool is_name(const char *word, size_t length)
{
    if (word[0] == '%') return !is_special(word, length);
    return word[0] == '$' || word[0] == '_';
}

static struct name next_word(struct text *text)
{
    struct name word = {text->at, 0};
    while (text->at < text->end && is_word(*text->at)) text->at++;
    word.length = (size_t)(text->at - word.text);
    return word;
}

static struct function *function_of(const struct functions *functions, struct name name)
{
    for (size_t i = 0; i < functions->count; i++)
        if (functions->all[i].name.length == name.length &&
            memcmp(functions->all[i].name.text, name.text, name.length) == 0)
            return &functions->all[i];
    return NULL;
}

static void compute_bits(struct functions *functions, struct function *function);

/* A function that is called stands for its body. One that calls itself is a name there. */
static void take_word(struct text *text)
{
    struct name word = next_word(text);
    bool named = is_name(word.text, word.length);
    struct function *called = named ? function_of(text->functions, word) : NULL;
    if (called != NULL && !called->is_open) {
        compute_bits(text->functions, called);
        take(text, called->bits[0]);
    } else if (named) {
        take(text, 0x100000000 + number_of(text, word.text, word.length));
    } else {
        take(text, hash_of(word.text, word.length) | 1ULL << 63);
    }
}

static bool starts(const struct text *text, const char *with)
{
    size_t length = strlen(with);
    return (size_t)(text->end - text->at) >= length && memcmp(text->at, with, length) == 0;
}

static void skip_past(struct text *text, const char *mark)
{
    const char *found = memmem(text->at, (size_t)(text->end - text->at), mark, strlen(mark));
    text->at = found == NULL ? text->end : found + strlen(mark);
}

/* Skips a comment or a line about source files. Returns whether there was one. */
static bool skip(struct text *text)
{
    if (starts(text, "/*"))
        skip_past(text, "*/");
    else if (starts(text, "//") || starts(text, ".loc") || starts(text, ".file"))
        skip_past(text, "\n");
    else if (starts(text, ".section"))
        skip_past(text, "}");
    else
        return false;
    return true;
}

#define ENTRY ".entry "

/* ---- functions ------------------------------------------------------------------------------- */

/* Takes all that is left of a text. */
static void take_all(struct text *text)
{
    while (text->at < text->end) {
        if (skip(text)) continue;
        if (is_word(*text->at)) {
            take_word(text);
            continue;
        }
        if (!isspace((unsigned char)*text->at)) take(text, (unsigned char)*text->at);
        text->at++;
    }
}

static void compute_bits(struct functions *functions, struct function *function)
{
    if (function->is_known) return;
    struct text text = {.at = function->at,
                        .end = function->end,
                        .bits = {HASH_NONE, 0x9e3779b97f4a7c15},
                        .functions = functions};
    function->is_open = true;
    take_all(&text);
    function->is_open = false;
    function->is_known = true;
    memcpy(function->bits, text.bits, sizeof text.bits);
    free(text.names);
    free(text.numbers);
}

/* Moves on to one of these bytes outside of comments, or to the end. */
static void seek(struct text *text, const char *bytes)
{
    while (text->at < text->end) {
        if (skip(text)) continue;
        if (*text->at != '\0' && strchr(bytes, *text->at) != NULL) return;
        text->at++;
    }
}

/* Moves behind the brace that closes the one that is next. */
static void pass_body(struct text *text)
{
    size_t depth = 0;
    do {
        depth += *text->at == '{' ? 1 : -(size_t)1;
        text->at++;
        if (depth > 0) seek(text, "{}");
    } while (depth > 0 && text->at < text->end);
}

/* Behind `.entry` or `.func`. A function's result stands before its name, in parentheses. */
static void add_function(struct text *text, bool is_kernel)
{
    while (text->at < text->end && isspace((unsigned char)*text->at)) text->at++;
    if (text->at < text->end && *text->at == '(') skip_past(text, ")");
    while (text->at < text->end && !is_word(*text->at)) text->at++;
    struct function function = {.name = next_word(text), .is_kernel = is_kernel};
    function.at = text->at;
    seek(text, "{;");
    if (text->at >= text->end || *text->at == ';') return; /* a declaration */
    pass_body(text);
    function.end = text->at;
    struct functions *functions = text->functions;
    functions->all = realloc(functions->all, (functions->count + 1) * sizeof function);
    if (functions->all == NULL) abort();
    functions->all[functions->count++] = function;
}

static void find_functions(struct text *text)
{
    enum { MOST = 256 }; /* each word is compared with their names */
    while (text->at < text->end && text->functions->count < MOST) {
        if (skip(text)) continue;
        if (!is_word(*text->at)) {
            text->at++;
            continue;
        }
        bool directive = text->at > text->start && text->at[-1] == '.';
        struct name word = next_word(text);
        bool is_kernel = word.length == strlen("entry") && memcmp(word.text, "entry", 5) == 0;
        bool is_function = word.length == strlen("func") && memcmp(word.text, "func", 4) == 0;
        if (directive && (is_kernel || is_function)) add_function(text, is_kernel);
    }
}

/* Is the function called `kernel` in the source? */
static bool is_called(const struct function *function, const char *kernel)
{
    char declared[EMU_NAME_SIZE + sizeof ENTRY], mangled[EMU_NAME_SIZE];
    int length = snprintf(declared, sizeof declared, ENTRY "%.*s", (int)function->name.length,
                          function->name.text);
    if (length < 0 || (size_t)length >= sizeof declared) return false;
    struct lab_ptx ptx = {.text = declared, .length = (size_t)length};
    return next_entry(&ptx, &(size_t){0}, kernel, mangled);
}

/* Does the lab launch the kernel? Without a lab, all kernels count. */
static bool is_launched(const struct lab *lab, const struct function *function)
{
    struct lab_plan plan = {0};
    if (!function->is_kernel || lab == NULL) return function->is_kernel;
    lab->plan(lab->most, &plan);
    for (unsigned i = 0; i < plan.launch_count; i++)
        if (is_called(function, plan.launches[i].kernel)) return true;
    return false;
}

void same_ptx(const struct lab *lab, const char *ptx, size_t size, uint64_t bits[2])
{
    struct functions functions = {0};
    struct text text = {.at = ptx, .start = ptx, .end = ptx + size, .functions = &functions};
    bits[0] = bits[1] = 0;
    find_functions(&text);
    for (size_t i = 0; i < functions.count; i++) {
        struct function *function = &functions.all[i];
        if (!is_launched(lab, function)) continue;
        compute_bits(&functions, function);
        bits[0] += function->bits[0];
        bits[1] += function->bits[1];
    }
    free(functions.all);
}
