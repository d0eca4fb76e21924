/* results.c — writes the results of a submission, and reads them. The bytes that are read are
 * claims of a process that ran it. */
#define _POSIX_C_SOURCE 200809L /* write */
#include "results.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- writing --------------------------------------------------------------------------------- */

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

/* ---- reading --------------------------------------------------------------------------------- */

struct cursor {
    const unsigned char *bytes;
    size_t size, at;
};

static size_t left(const struct cursor *c) { return c->size - c->at; }

/* Copies the next bytes. False: there are not enough of them. */
static bool take(struct cursor *c, void *to, size_t size)
{
    if (left(c) < size) return false;
    if (size) memcpy(to, c->bytes + c->at, size);
    c->at += size;
    return true;
}

/* Copies the next `count` items into new memory; *to is NULL if count is 0. */
static bool take_array(struct cursor *c, void **to, size_t count, size_t size)
{
    *to = NULL;
    if (count == 0) return true;
    if (left(c) / size < count) return false;
    *to = malloc(count * size);
    return *to && take(c, *to, count * size);
}

static bool is_next(const struct cursor *c, const char *tag)
{
    return left(c) >= TAG_BYTES && !memcmp(c->bytes + c->at, tag, TAG_BYTES);
}

static void end_texts(struct lab_case_result *r)
{
    r->message[sizeof r->message - 1] = '\0';
    for (size_t i = 0; i < r->line_count; i++) {
        r->lines[i].kernel[RESULTS_NAME - 1] = '\0';
        r->lines[i].file[RESULTS_NAME - 1] = '\0';
    }
    for (size_t i = 0; i < r->operation_count; i++) r->operations[i].name[RESULTS_NAME - 1] = '\0';
    for (size_t i = 0; i < r->finding_count; i++) {
        r->findings[i].kind[RESULTS_NAME - 1] = '\0';
        r->findings[i].file[RESULTS_NAME - 1] = '\0';
        r->findings[i].text[RESULTS_TEXT - 1] = '\0';
    }
}

static bool is_within_limits(const struct frame_case *f)
{
    bool has_output = f->end == LAB_RAN;
    return f->end <= LAB_NOT_RUN && f->words <= RESULTS_WORDS && f->is.n <= RESULTS_WORDS &&
           f->words == (has_output ? lab_output_words(&f->is) : 0) &&
           f->line_count <= RESULTS_LINES && f->operation_count <= RESULTS_OPERATIONS &&
           f->finding_count <= RESULTS_FINDINGS;
}

void results_free_case(struct lab_case_result *r)
{
    free(r->out);
    free(r->lines);
    free(r->operations);
    free(r->findings);
    *r = (struct lab_case_result){.end = LAB_NOT_RUN};
}

/* ---- counters that no run can have ----------------------------------------------------------- */

/* Far more than a run can count, and so little that no sum of these numbers wraps around. */
#define COUNT_MOST ((uint64_t)1 << 48)
enum { WARP = 32 };

/* Every member of emu_counts is a uint64_t. */
static bool is_possible(const struct emu_counts *c)
{
    const uint64_t *all = (const uint64_t *)c;
    for (size_t i = 0; i < sizeof *c / sizeof *all; i++)
        if (all[i] > COUNT_MOST) return false;
    return c->lanes <= WARP * c->instructions && c->shared_ld.ideal <= c->shared_ld.wavefronts &&
           c->shared_st.ideal <= c->shared_st.wavefronts &&
           c->shared_atom.ideal <= c->shared_atom.wavefronts &&
           c->shared_copy.ideal <= c->shared_copy.wavefronts;
}

static bool operations_agree(const struct lab_case_result *r)
{
    uint64_t instructions = 0, lanes = 0;
    for (size_t i = 0; i < r->operation_count; i++) {
        const struct lab_operation *o = &r->operations[i];
        if (o->instructions > COUNT_MOST || o->elements > COUNT_MOST) return false;
        if (o->lanes > WARP * o->instructions) return false;
        instructions += o->instructions;
        lanes += o->lanes;
    }
    return instructions <= r->total.instructions && lanes <= r->total.lanes &&
           (r->dropped > 0 || lanes == r->total.lanes);
}

static bool lines_agree(const struct lab_case_result *r)
{
    uint64_t lanes = 0;
    for (size_t i = 0; i < r->line_count; i++) {
        if (!is_possible(&r->lines[i].counts)) return false;
        lanes += r->lines[i].counts.lanes;
    }
    return lanes <= r->total.lanes;
}

/* Cheap bounds on claims: they make forged counters a little harder, and sums of them safe. */
static bool counts_agree(const struct lab_case_result *r)
{
    return is_possible(&r->total) && operations_agree(r) && lines_agree(r) &&
           r->errors <= COUNT_MOST && r->warnings <= COUNT_MOST && r->dropped <= COUNT_MOST &&
           r->printed <= COUNT_MOST && r->longest_warps <= COUNT_MOST;
}

static const char *read_case(struct cursor *c, struct lab_case_result *r)
{
    struct frame_case f;
    if (!take(c, &f, sizeof f)) return "it ends in the middle of a case";
    if (memcmp(f.tag, TAG_CASE, TAG_BYTES)) return "a case does not begin as it should";
    if (!is_within_limits(&f)) return "a number in it is beyond its limit";
    *r = (struct lab_case_result){.is = f.is,
                                  .end = (enum lab_end)f.end,
                                  .total = f.total,
                                  .errors = f.errors,
                                  .warnings = f.warnings,
                                  .dropped = f.dropped,
                                  .printed = f.printed,
                                  .longest_warps = f.longest_warps};
    r->line_count = f.line_count;
    r->operation_count = f.operation_count;
    r->finding_count = f.finding_count;
    memcpy(r->message, f.message, sizeof r->message);
    if (!take_array(c, (void **)&r->out, f.words, sizeof *r->out) ||
        !take_array(c, (void **)&r->lines, f.line_count, sizeof *r->lines) ||
        !take_array(c, (void **)&r->operations, f.operation_count, sizeof *r->operations) ||
        !take_array(c, (void **)&r->findings, f.finding_count, sizeof *r->findings)) {
        results_free_case(r);
        return "it ends in the middle of a case";
    }
    end_texts(r);
    if (counts_agree(r)) return NULL;
    results_free_case(r);
    return "its counters contradict each other";
}

static const char *read_stream(struct cursor *c, struct lab_results *out)
{
    struct frame_begin begin;
    if (!take(c, &begin, sizeof begin)) return "it is too short";
    if (memcmp(begin.tag, TAG_BEGIN, TAG_BYTES) || begin.version != RESULTS_VERSION)
        return "it does not begin as it should";
    out->lab = (int)(begin.lab & 0xff);
    out->seed = begin.seed;
    out->handed_out = begin.handed_out == 1;
    while (left(c) > 0 && !is_next(c, TAG_END)) {
        if (out->case_count == LAB_CASES) return "it has too many cases";
        const char *why = read_case(c, &out->cases[out->case_count]);
        if (why) return why;
        out->case_count++;
    }
    char end[TAG_BYTES];
    out->complete = take(c, end, TAG_BYTES);
    return left(c) ? "bytes follow its end" : NULL;
}

int results_read(const void *bytes, size_t size, struct lab_results *out, char *why,
                 size_t why_size)
{
    struct cursor cursor = {.bytes = bytes, .size = size};
    *out = (struct lab_results){0};
    const char *wrong = read_stream(&cursor, out);
    if (why_size) *why = '\0';
    if (!wrong) return 0;
    snprintf(why, why_size, "The results cannot be read: %s.", wrong);
    results_free(out);
    return -1;
}

void results_free(struct lab_results *results)
{
    for (size_t i = 0; i < LAB_CASES; i++) results_free_case(&results->cases[i]);
    *results = (struct lab_results){0};
}

/* The most bytes that a complete stream has, roughly. */
#define STREAM_MOST ((size_t)1 << 28)

static void *read_bytes(FILE *file, size_t *size)
{
    char *bytes = NULL;
    *size = 0;
    for (size_t room = 1 << 16;; room *= 2) {
        char *grown = room <= STREAM_MOST ? realloc(bytes, room) : NULL;
        if (!grown) break;
        bytes = grown;
        *size += fread(bytes + *size, 1, room - *size, file);
        if (*size < room) return bytes;
    }
    free(bytes);
    return NULL;
}

int results_read_file(const char *path, struct lab_results *out, char *why, size_t why_size)
{
    size_t size = 0;
    FILE *file = fopen(path, "rb");
    *out = (struct lab_results){0};
    if (!file) {
        snprintf(why, why_size, "The results cannot be read: %s.", strerror(errno));
        return -1;
    }
    void *bytes = read_bytes(file, &size);
    fclose(file);
    if (!bytes) {
        snprintf(why, why_size, "The results cannot be read: they have too many bytes.");
        return -1;
    }
    int code = results_read(bytes, size, out, why, why_size);
    free(bytes);
    return code;
}
