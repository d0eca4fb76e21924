/* in_branch.c — does a line of a CUDA file stand in an `if`? Read as text: strings with braces and
 * macros that hold any are not understood. */
#include "score.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

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
