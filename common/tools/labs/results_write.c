/* results_write.c — writes the results of a submission. */
#define _POSIX_C_SOURCE 200809L /* write */
#include "results.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int write_all(int fd, const void *bytes, size_t size)
{
    const char *from = bytes;
    while (size > 0) {
        ssize_t written = write(fd, from, size);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        from += written;
        size -= (size_t)written;
    }
    return 0;
}

int results_write_begin(int fd, const struct lab *lab, uint64_t seed, bool handed_out)
{
    struct frame_begin begin;
    memset(&begin, 0, sizeof begin);
    memcpy(begin.tag, TAG_BEGIN, sizeof begin.tag);
    begin.version = RESULTS_VERSION;
    begin.lab = (uint32_t)lab->number;
    begin.seed = seed;
    begin.handed_out = handed_out;
    return write_all(fd, &begin, sizeof begin);
}

int results_write_case(int fd, const struct lab_case_result *result)
{
    struct frame_case frame;
    memset(&frame, 0, sizeof frame);
    memcpy(frame.tag, TAG_CASE, sizeof frame.tag);
    frame.is = result->is;
    frame.end = result->end;
    frame.words = result->out ? lab_output_words(&result->is) : 0;
    frame.line_count = (uint32_t)result->line_count;
    frame.operation_count = (uint32_t)result->operation_count;
    frame.finding_count = (uint32_t)result->finding_count;
    frame.errors = result->errors;
    frame.warnings = result->warnings;
    frame.dropped = result->dropped;
    frame.printed = result->printed;
    frame.longest_warps = result->longest_warps;
    frame.total = result->total;
    memcpy(frame.message, result->message, sizeof frame.message);

    const struct {
        const void *bytes;
        size_t size;
    } parts[] = {
        {&frame, sizeof frame},
        {result->out, frame.words * sizeof *result->out},
        {result->lines, result->line_count * sizeof *result->lines},
        {result->operations, result->operation_count * sizeof *result->operations},
        {result->findings, result->finding_count * sizeof *result->findings},
    };
    int error = 0;
    for (size_t i = 0; !error && i < sizeof parts / sizeof *parts; i++)
        error = write_all(fd, parts[i].bytes, parts[i].size);
    return error;
}

int results_write_end(int fd) { return write_all(fd, TAG_END, TAG_BYTES); }
