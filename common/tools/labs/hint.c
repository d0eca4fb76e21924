/*
 * hint.c — one hint, chosen by what the check has found, and what a text shows of it.
 */
#define _GNU_SOURCE /* open_memstream */
#include "score.h"
#include "common/tools/emu/emu.h"
#include "common/files/visible.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which gaps of a student's file are still empty? skeleton.sh writes the comments --------- */

#define BEGINS "// ---- gap "
#define ENDS   "// ---- end of gap "

enum { GAP_LINE = 1000 };

/* Is there anything but blanks and a comment? */
static bool is_code(const char *line)
{
    while (isspace((unsigned char)*line)) line++;
    return *line && strncmp(line, "//", 2) != 0;
}

/* The gap that the reader is in; number 0: none. */
struct open_gap {
    struct empty_gap is;
    bool has_code;
};

static void end_gap(struct open_gap *gap, struct lab_verdict *v)
{
    if (gap->is.number && !gap->has_code && v->gap_count < VERDICT_GAPS)
        v->gaps[v->gap_count++] = gap->is;
    *gap = (struct open_gap){.has_code = false};
}

static void read_line(const char *text, unsigned line, struct open_gap *gap, struct lab_verdict *v)
{
    const char *begins = strstr(text, BEGINS);
    if (begins)
        *gap = (struct open_gap){.is = {(unsigned)atoi(begins + strlen(BEGINS)), line}};
    else if (strstr(text, ENDS))
        end_gap(gap, v);
    else
        gap->has_code |= is_code(text);
}

void find_gaps(FILE *source, struct lab_verdict *v)
{
    char text[GAP_LINE];
    struct open_gap gap = {.has_code = false};
    v->gap_count = 0;
    for (unsigned line = 1; source && fgets(text, sizeof text, source);) {
        read_line(text, line, &gap, v);
        line += strchr(text, '\n') != NULL;
    }
}

/* ---- does a line of a CUDA file stand in an `if`? -------------------------------------------- */

/* It is read as text: strings with braces and macros that hold any are not understood. */

enum { SOURCE_LINE = 1000, DEPTH = 64, HEAD_BYTES = 16 };

struct reader {
    char head[HEAD_BYTES]; /* the first letters of the statement that is being read */
    size_t length;
    unsigned round; /* open parentheses */
    unsigned open;  /* open braces, of which the first DEPTH are kept */
    bool is_branch[DEPTH];
    bool in_comment;
};

static bool begins_with(const struct reader *r, const char *word)
{
    size_t length = strlen(word);
    return !strncmp(r->head, word, length) && !isalnum((unsigned char)r->head[length]) &&
           r->head[length] != '_';
}

static bool is_branch(const struct reader *r)
{
    return begins_with(r, "if") || begins_with(r, "else");
}

static void begin_statement(struct reader *r)
{
    memset(r->head, 0, sizeof r->head);
    r->length = 0;
}

static void read_character(struct reader *r, char c)
{
    r->round += c == '(';
    r->round -= c == ')' && r->round > 0;
    if (c == '{') {
        if (r->open < DEPTH) r->is_branch[r->open] = is_branch(r);
        r->open++;
        begin_statement(r);
    } else if (c == '}') {
        r->open -= r->open > 0;
        begin_statement(r);
    } else if (c == ';' && !r->round) {
        begin_statement(r);
    } else if (r->length + 1 < sizeof r->head && (r->length || !isspace((unsigned char)c))) {
        r->head[r->length++] = c;
    }
}

/* Reads a line up to `end`, without its comments. Lines of the preprocessor are left out. */
static void read_text(struct reader *r, const char *text, const char *end)
{
    if (text[strspn(text, " \t")] == '#') return;
    for (; *text && text != end; text++) {
        bool is_mark = !strncmp(text, r->in_comment ? "*/" : "/*", 2);
        if (!r->in_comment && !strncmp(text, "//", 2)) return;
        if (is_mark) r->in_comment = !r->in_comment, text++;
        if (!is_mark && !r->in_comment) read_character(r, *text);
    }
}

static bool stands_in_branch(const struct reader *r)
{
    bool found = is_branch(r);
    for (unsigned i = 0; i < r->open && i < DEPTH; i++) found |= r->is_branch[i];
    return found;
}

bool is_in_branch(FILE *source, unsigned line)
{
    char text[SOURCE_LINE];
    struct reader reader = {.length = 0};
    unsigned at = 1;
    if (source) rewind(source);
    while (source && at < line && fgets(text, sizeof text, source)) {
        read_text(&reader, text, NULL);
        at += strchr(text, '\n') != NULL;
    }
    /* The barrier itself, or whatever the line has first. */
    bool found = source && at == line && fgets(text, sizeof text, source);
    if (found) read_text(&reader, text, strstr(text, "__sync"));
    return found && stands_in_branch(&reader);
}

/* ---- one hint of hints.txt, chosen by what the check has found ------------------------------- */

enum { LINE_BYTES = 300, TOPIC_BYTES = 60, COLUMNS = 100 };

/* A topic, more about it or "", the smallest size that has the fault, and the line. */
struct subject {
    char topic[TOPIC_BYTES];
    const char *detail;
    const struct lab_verdict *verdict;
    const struct verdict_size *size; /* NULL: it is about no size */
    size_t n;
    const char *file;
    unsigned line, other_line; /* a race has two */
    unsigned caller_line;
};

/* ---- the topic ------------------------------------------------------------------------------- */

static void choose(struct subject *s, const char *topic, const struct verdict_size *size)
{
    snprintf(s->topic, sizeof s->topic, "%s", topic);
    if (!size) return;
    s->size = size;
    s->n = size->n;
    s->file = size->error_file;
    s->line = size->error_line;
    s->other_line = size->other_line;
    s->caller_line = size->caller_line;
}

static const char *tool_topic(const struct verdict_size *size)
{
    switch (size->error_tool) {
    case EMU_CHECK_MEMORY: return strcmp(size->error_kind, "fault") ? "memcheck" : "stopped";
    case EMU_CHECK_RACE: return "racecheck";
    case EMU_CHECK_INIT: return "initcheck";
    case EMU_CHECK_SYNC: return "synccheck";
    default: return NULL;
    }
}

/* Causes are the guesses of verify_facts.c and score_sizes.c. Where there is none, the words are
 * those for what is wrong. NULL: neither says what the fault may be. */
static const char *cause_topic(const struct verdict_size *size)
{
    static const struct {
        const char *says, *topic;
    } causes[] = {
        {"never written", "unwritten"},     {"was copied", "copied"},
        {"for exclusive", "inclusive"},     {"right neighbour's", "inclusive"},
        {"left neighbour's", "shifted"},    {"one place too far", "inclusive"},
        {"begin at 0 again", "no carries"}, {"carr", "carries"},
        {"sum of block", "sums"},           {"zeros", "zeros"},
        {"another order", "order"},         {"is kept", "kept"},
        {"elements again", "repeated"},
    };
    static const struct {
        const char *says, *topic;
    } wrongs[] = {{"element 0 is ", "element 0"},
                  {"the number of kept", "number"},
                  {"was written, although", "kept"}};
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        if (strstr(size->cause, causes[i].says)) return causes[i].topic;
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++)
        if (!strncmp(size->wrong, wrongs[i].says, strlen(wrongs[i].says)) ||
            (i > 0 && strstr(size->wrong, wrongs[i].says)))
            return wrongs[i].topic;
    return NULL;
}

/* A likely cause says more than a checker's warning, or an error that did not stop the kernel. But
 * of a value that was never stored, the line that reads it says more than the element's number. */
static const char *wrong_topic(const struct verdict_size *size)
{
    const char *tool = tool_topic(size);
    if (size->end == LAB_REFUSED) return "refused";
    if (size->end == LAB_INSTRUCTIONS)
        return strstr(size->wrong, "printed") ? "printed" : "endless";
    if (tool && !strcmp(tool, "initcheck") && strstr(size->wrong, "never stored")) return tool;
    const char *cause = size->end == LAB_RAN ? cause_topic(size) : NULL;
    bool is_guess = cause && !strcmp(cause, "element 0");
    if (cause && (!tool || size->only_warning || !is_guess)) return cause;
    if (tool) return tool;
    if (size->end == LAB_RAN) return "wrong";
    return strstr(size->wrong, "deadlock") ? "synccheck" : "stopped";
}

/* How much a topic says about the fault: 2 for a likely cause. What a checker reports, or what
 * stops a kernel, at larger sizes only, may follow from that. */
static int rank_of(const char *topic)
{
    static const char *const some[] = {"element 0", "racecheck", "initcheck", "synccheck",
                                       "memcheck",  "stopped",   "endless",   "printed"};
    if (!strcmp(topic, "wrong")) return 0;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        if (!strcmp(topic, some[i])) return 1;
    return 2;
}

static unsigned wrong_runs(const struct lab_verdict *v, const char *topic)
{
    unsigned runs = 0;
    for (size_t i = 0; i < v->size_count; i++)
        if (!v->sizes[i].right && !strcmp(wrong_topic(&v->sizes[i]), topic))
            runs += v->sizes[i].wrong_cases;
    return runs;
}

/* The first size with the topic that says most. Of several, it is the one with most wrong runs, or
 * the one of larger sizes: at n = 1 or 2, a wrong element does not show its cause. But what is
 * stopped at the first wrong size comes before all. */
static const struct verdict_size *first_wrong(const struct lab_verdict *v)
{
    const struct verdict_size *best = NULL;
    for (size_t i = 0; i < v->size_count; i++) {
        const struct verdict_size *size = &v->sizes[i];
        if (size->right) continue;
        if (!best && size->end != LAB_RAN) return size;
        const char *topic = wrong_topic(size), *before = best ? wrong_topic(best) : "wrong";
        int more = rank_of(topic) - rank_of(before);
        bool is_named = rank_of(topic) == 2;
        if (!best || more > 0 ||
            (more == 0 && is_named && strcmp(topic, before) != 0 &&
             wrong_runs(v, topic) >= wrong_runs(v, before)))
            best = size;
    }
    return best;
}

static const struct verdict_size *first_error(const struct lab_verdict *v)
{
    for (size_t i = 0; i < v->size_count; i++)
        if (v->sizes[i].errors > 0) return &v->sizes[i];
    return NULL;
}

/* The criterion's line that costs most. */
static void choose_criterion(struct subject *s, const struct lab_verdict *v)
{
    const struct verdict_line *worst = NULL;
    for (size_t i = 0; i < v->line_count; i++)
        if (v->lines[i].lost > (worst ? worst->lost : 0)) worst = &v->lines[i];
    if (!worst) return;
    /* Without an error or a warning, the points for hazards lack parallel work. */
    bool alone = worst->criterion == LAB_HAZARDS;
    choose(s, lab_criterion_name(alone ? LAB_WORK : worst->criterion), NULL);
    s->file = worst->file;
    s->line = worst->line;
}

/* ---- more about a topic ---------------------------------------------------------------------- */

static void detail_race(struct subject *s)
{
    bool is_same = s->line == s->other_line && !strcmp(s->size->error_kind, "write-after-write");
    if (s->size->one_store_line) {
        s->detail = "one store";
        s->line = s->size->one_store_line;
    } else if (s->size->in_global) {
        s->detail = is_same ? "global store" : "global"; /* blocks may run into each other */
    } else if (is_same) {
        s->detail = "same store";
    }
}

/* Threads wait at two barriers, or have exited. The one in a branch is that which not all reach. If
 * neither stands in one, threads have returned before. */
static void detail_barrier(struct subject *s, FILE *source)
{
    unsigned own = s->line, other = s->size->barrier_line;
    const char *wrong = s->size->wrong;
    bool have_exited =
        !strncmp(s->size->error_kind, "exited", 6) ||
        (s->size->end != LAB_RAN && (strstr(wrong, "have exited") || strstr(wrong, "has exited")));
    if (!other || other == own) {
        if (have_exited && !is_in_branch(source, own)) s->detail = "exited";
        return;
    }
    bool is_own = is_in_branch(source, own), is_other = is_in_branch(source, other);
    if (is_other && !is_own) s->line = other;
    if (is_own != is_other) return;
    s->detail = "two barriers";
    s->other_line = other;
}

/* A tree or a sweep of more elements than this is too large for paper. */
enum { PAPER = 16 };

static void find_detail(struct subject *s, FILE *source)
{
    size_t block = s->verdict->lab->block;
    if (!s->size) return;
    if (!strcmp(s->topic, "racecheck"))
        detail_race(s);
    else if (!strcmp(s->topic, "synccheck"))
        detail_barrier(s, source);
    else if (!strcmp(s->topic, "memcheck") && !strcmp(s->size->error_kind, "misaligned"))
        s->detail = "misaligned";
    else if (!strcmp(s->topic, "memcheck") && strstr(s->size->wrong, "null pointer"))
        s->detail = "null";
    else if (!strcmp(s->topic, "initcheck") && s->size->in_global)
        s->detail = "global";
    else if ((!strcmp(s->topic, "wrong") || !strcmp(s->topic, "element 0")) && block &&
             s->n > block)
        s->detail = "blocks";
    else if (s->n > PAPER)
        s->detail = "large";
    else if (!strcmp(s->topic, "wrong") && s->size->adds > 0 &&
             2 * s->size->adds == s->size->expected_adds)
        s->detail = "half"; /* of the additions: those on one way through a tree */
}

static struct subject subject_of(const struct lab_verdict *v, FILE *source)
{
    struct subject s = {.n = v->lab->least, .detail = "", .verdict = v};
    const struct verdict_size *wrong = first_wrong(v), *error = first_error(v);
    if (v->size_count == 0)
        choose(&s, "compile", NULL);
    else if (wrong && v->gap_count > 0)
        snprintf(s.topic, sizeof s.topic, "lab%d gap %u", v->lab->number, v->gaps[0].number);
    else if (wrong)
        choose(&s, wrong_topic(wrong), wrong);
    else if (error && tool_topic(error))
        choose(&s, tool_topic(error), error);
    else
        choose_criterion(&s, v);
    find_detail(&s, source);
    return s;
}

/* ---- the text -------------------------------------------------------------------------------- */

static void print_place(FILE *out, const struct subject *s, const char *source)
{
    const char *slash = strrchr(source, '/'), *base = slash ? slash + 1 : source;
    if (s->line == 0) {
        fputs("the line with the fault", out);
        return;
    }
    const char *file = s->file && strcmp(s->file, base) ? s->file : source;
    visible_print(out, file, strlen(file));
    fprintf(out, ":%u", s->line);
    if (s->caller_line) fprintf(out, " (in the call at line %u)", s->caller_line);
}

static void print_visible(FILE *out, const char *text) { visible_print(out, text, strlen(text)); }

/* What the check says about the size: the first wrong element, and the likely cause. */
static void print_said(FILE *out, const struct subject *s)
{
    if (!s->size) return;
    print_visible(out, s->size->wrong);
    if (*s->size->cause) fputs("; ", out), print_visible(out, s->size->cause);
}

/* How the sizes below {n} are: a sentence, or nothing if some are wrong as well. */
static void print_smaller(FILE *out, const struct subject *s)
{
    size_t largest = 0;
    for (size_t i = 0; i < s->verdict->size_count; i++) {
        const struct verdict_size *size = &s->verdict->sizes[i];
        if (size->n < s->n && !size->right) return;
        if (size->n < s->n && size->n > largest) largest = size->n;
    }
    if (largest)
        fprintf(out, "All sizes up to n = %zu are right.", largest);
    else
        fprintf(out, "n = %zu is the smallest size of all.", s->n);
}

/* The lines of both accesses of a race. */
static void print_places(FILE *out, const struct subject *s, const char *source)
{
    print_place(out, s, source);
    if (s->other_line == s->line && s->line != 0)
        fputs(", in different threads", out);
    else if (s->other_line != 0)
        fprintf(out, " and line %u", s->other_line);
}

/* Prints a line of a hint with {place}, {places}, {n} and {N} filled in. */
static void print_text(FILE *out, const char *text, const struct subject *s, int lab,
                       const char *source)
{
    while (*text) {
        if (!strncmp(text, "{said}", 6))
            print_said(out, s), text += 6;
        else if (!strncmp(text, "{smaller}", 9))
            print_smaller(out, s), text += 9;
        else if (!strncmp(text, "{place}", 7))
            print_place(out, s, source), text += 7;
        else if (!strncmp(text, "{places}", 8))
            print_places(out, s, source), text += 8;
        else if (!strncmp(text, "{n}", 3))
            fprintf(out, "%zu", s->n), text += 3;
        else if (!strncmp(text, "{N}", 3))
            fprintf(out, "%d", lab), text += 3;
        else
            fputc(*text++, out);
    }
}

/* Prints one level of a topic. False: the file has no such topic. */
static bool print_topic(FILE *out, FILE *hints, const char *topic, unsigned level,
                        const struct subject *s, int lab, const char *source)
{
    char text[LINE_BYTES], heading[2 * TOPIC_BYTES + 4];
    bool in_topic = false, in_level = false, found = false;
    char *whole = NULL;
    size_t size;
    FILE *memory = open_memstream(&whole, &size);
    if (!memory) return false;
    snprintf(heading, sizeof heading, "[%s]\n", topic);
    rewind(hints);
    while (fgets(text, sizeof text, hints)) {
        if (*text == '[') in_topic = !strcmp(text, heading);
        if (*text != ' ') in_level = in_topic && *text == (char)('0' + level);
        if (!in_level) continue;
        print_text(memory, text + 2, s, lab, source);
        found = true;
    }
    fclose(memory);
    if (found) wrapped_print(out, whole, 0, COLUMNS);
    free(whole);
    return found;
}

/* The lab's own topic comes first, and the one that says more. */
static bool print_subject(FILE *out, FILE *hints, const struct subject *s, unsigned level, int lab,
                          const char *source)
{
    char own[16], name[2 * TOPIC_BYTES];
    snprintf(own, sizeof own, "lab%d ", lab);
    for (int i = 0; i < 4; i++) {
        bool is_own = i < 2, says_more = i % 2 == 0;
        snprintf(name, sizeof name, "%s%s%s%s", is_own ? own : "", s->topic, says_more ? " " : "",
                 says_more ? s->detail : "");
        if (says_more && !*s->detail) continue;
        if (print_topic(out, hints, name, level, s, lab, source)) return true;
    }
    return false;
}

int print_hint(FILE *out, const struct lab_verdict *v, FILE *hints, unsigned level,
               const char *name, FILE *source, struct fault *fault)
{
    struct subject s = subject_of(v, source);
    if (v->status == VERDICT_UNJUDGED) return fail(fault, EXIT_DEVICE, "%s", v->failure);
    if (!*s.topic) {
        fprintf(out, "Full points: there is nothing to hint at. Read %s.\n", v->lab->chapter);
        return 0;
    }
    if (print_subject(out, hints, &s, level, v->lab->number, name)) return 0;
    return fail(fault, EXIT_USAGE, "There is no hint of level %u on [%s].", level, s.topic);
}
