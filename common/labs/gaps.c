/* gaps.c — which gaps of a student's file are still empty? skeleton.sh writes the comments. */
#include "score.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
