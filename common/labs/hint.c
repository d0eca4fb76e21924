/* hint.c — one hint, chosen by what the check has found. The texts are in hints.txt. */
#include "common/emu/emu.h"
#include "common/files/visible.h"
#include "score.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 300, TOPIC_BYTES = 60 };

/* A topic, the smallest size that has the fault, and the line. */
struct subject {
    char topic[TOPIC_BYTES];
    size_t n;
    const char *file;
    unsigned line, other_line; /* a race has two */
};

/* ---- the topic ------------------------------------------------------------------------------- */

static void choose(struct subject *s, const char *topic, const struct verdict_size *size)
{
    snprintf(s->topic, sizeof s->topic, "%s", topic);
    if (!size) return;
    s->n = size->n;
    s->file = size->error_file;
    s->line = size->error_line;
    s->other_line = size->other_line;
}

static const char *tool_topic(const struct verdict_size *size)
{
    switch (size->error_tool) {
    case EMU_CHECK_MEMORY: return "memcheck";
    case EMU_CHECK_RACE: return "racecheck";
    case EMU_CHECK_INIT: return "initcheck";
    case EMU_CHECK_SYNC: return "synccheck";
    default: return NULL;
    }
}

/* Causes are the guesses of verify_cause.c. */
static const char *cause_topic(const char *cause)
{
    static const struct {
        const char *says, *topic;
    } causes[] = {
        {"never written", "unwritten"},  {"was copied", "copied"}, {"for exclusive", "inclusive"},
        {"shifted by one", "inclusive"}, {"carr", "carries"},      {"sum of block", "carries"},
    };
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        if (strstr(cause, causes[i].says)) return causes[i].topic;
    return "wrong";
}

static const char *wrong_topic(const struct verdict_size *size)
{
    const char *tool = tool_topic(size);
    if (size->end == LAB_REFUSED) return "refused";
    if (size->end == LAB_INSTRUCTIONS) return "endless";
    if (tool) return tool;
    return size->end == LAB_RAN ? cause_topic(size->cause) : "memcheck";
}

static const struct verdict_size *first_with(const struct lab_verdict *v, bool wrong)
{
    for (size_t i = 0; i < v->size_count; i++)
        if (wrong ? !v->sizes[i].right : v->sizes[i].errors > 0) return &v->sizes[i];
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

static struct subject subject_of(const struct lab_verdict *v)
{
    struct subject s = {.n = v->lab->least};
    const struct verdict_size *wrong = first_with(v, true), *error = first_with(v, false);
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
        if (!strncmp(text, "{place}", 7))
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
    char text[LINE_BYTES], heading[TOPIC_BYTES + 4];
    bool in_topic = false, in_level = false, found = false;
    snprintf(heading, sizeof heading, "[%s]\n", topic);
    rewind(hints);
    while (fgets(text, sizeof text, hints)) {
        if (*text == '[') in_topic = !strcmp(text, heading);
        if (*text != ' ') in_level = in_topic && *text == (char)('0' + level);
        if (!in_level) continue;
        print_text(out, text + 2, s, lab, source);
        found = true;
    }
    return found;
}

/* The lab's own topic comes first. */
static bool print_subject(FILE *out, FILE *hints, const struct subject *s, unsigned level, int lab,
                          const char *source)
{
    char own[TOPIC_BYTES + 8];
    snprintf(own, sizeof own, "lab%d %s", lab, s->topic);
    return print_topic(out, hints, own, level, s, lab, source) ||
           print_topic(out, hints, s->topic, level, s, lab, source);
}

int print_hint(FILE *out, const struct lab_verdict *v, const char *hints_path, unsigned level,
               const char *source, struct fault *fault)
{
    struct subject s = subject_of(v);
    if (v->status == VERDICT_UNJUDGED) return fail(fault, EXIT_DEVICE, "%s", v->failure);
    if (!*s.topic) {
        fprintf(out, "Full points: there is nothing to hint at. Read %s.\n", v->lab->chapter);
        return 0;
    }
    FILE *hints = fopen(hints_path, "r");
    if (!hints)
        return fail(fault, EXIT_USAGE, "%s cannot be opened: %s.", hints_path, strerror(errno));
    bool found = print_subject(out, hints, &s, level, v->lab->number, source);
    fclose(hints);
    if (found) return 0;
    return fail(fault, EXIT_USAGE, "%s has no hint of level %u on [%s].", hints_path, level,
                s.topic);
}
