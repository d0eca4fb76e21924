#define _GNU_SOURCE
#include "fault.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int fail(struct fault *fault, int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->text, sizeof fault->text, format, arguments);
    va_end(arguments);
    fault->code = code;
    return code;
}

int fault_say(const struct fault *fault)
{
    fflush(stdout); /* what was printed before comes first, also where both go to one file */
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, fault->text);
    return fault->code;
}
