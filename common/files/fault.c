/* fault.c — an error: its exit code and its sentence. */
#define _GNU_SOURCE
#include "fault.h"

#include "common/files/visible.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define SENTENCE_MAX (2 * PATH_MAX) /* bytes, with the longest path in it */
#define REASON_KEPT  200            /* bytes of the end of a sentence that is too long */

static bool is_middle(char byte) { return (byte & 0xC0) == 0x80; } /* of a character in UTF-8 */

/* Copies a sentence. If it is too long, its middle is left out, because that is usually a path, and
 * the error stands at the end. */
static void shorten(char to[FAULT_TEXT], const char *sentence)
{
    static const char gap[] = " … ";
    size_t length = strlen(sentence), first = FAULT_TEXT - sizeof gap - REASON_KEPT;
    if (length < FAULT_TEXT) {
        strcpy(to, sentence);
        return;
    }
    const char *reason = sentence + length - REASON_KEPT;
    while (is_middle(*reason)) reason++;
    while (is_middle(sentence[first])) first--;
    snprintf(to, FAULT_TEXT, "%.*s%s%s", (int)first, sentence, gap, reason);
}

int fail(struct fault *fault, int code, const char *format, ...)
{
    char sentence[SENTENCE_MAX], shown[VISIBLE_GROWTH * SENTENCE_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    visible(shown, sizeof shown, sentence);
    shorten(fault->text, shown);
    fault->code = code;
    return code;
}

int fault_say(const struct fault *fault)
{
    char program[NAME_MAX + 1];
    visible(program, sizeof program, program_invocation_short_name);
    fflush(stdout); /* flushed first, so that the order is right if both go to one file */
    fprintf(stderr, "%s: %s\n", program, fault->text);
    return fault->code;
}

/* Before main, in every program that has this file: a stack that is too small (ulimit -s) would
 * only say "Segmentation fault" later. */
__attribute__((constructor)) static void check_stack(void)
{
    enum { KIB = 1024, LEAST = 1024 * KIB }; /* twice what the programs have been found to need */
    struct rlimit limit;
    struct fault fault;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= LEAST) return;
    fail(&fault, EXIT_USAGE,
         "the stack may take %llu KiB, and %d are needed; allow more with ulimit -s 8192.",
         (unsigned long long)limit.rlim_cur / KIB, LEAST / KIB);
    exit(fault_say(&fault));
}
