/* fault.c — an error: its exit code and its sentence. */
#define _GNU_SOURCE
#include "fault.h"

#include "common/files/visible.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#define SENTENCE_MAX (2 * PATH_MAX) /* bytes, with the longest path in it */

int fail(struct fault *fault, int code, const char *format, ...)
{
    char sentence[SENTENCE_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    visible(fault->text, sizeof fault->text, sentence);
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
