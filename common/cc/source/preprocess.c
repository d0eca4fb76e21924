/*
 * preprocess.c — follows the directives, and hands on all other lines with their macros expanded.
 */
#include "source.h"

#include <string.h>

enum { DEEPEST_INCLUDE = 40, MOST_FILES = 200 };

/* An #if without its #endif so far. */
struct condition {
    const struct token *begin;
    bool taken; /* a branch of it was */
    bool has_else;
    struct condition *outer;
};

struct preprocessor {
    struct arena *arena;
    struct diagnostics *diagnostics;
    const struct cc_options *options;
    struct macros macros;
    struct condition *condition;
    bool *once; /* by file: #pragma once was seen */
    int depth;  /* of includes */
    struct token *first, **last;
};

static void put(struct preprocessor *pp, struct token *token)
{
    struct token *copy = token_before(pp->arena, token, NULL);
    *pp->last = copy;
    pp->last = &copy->next;
    const char *said = NULL;
    if (token->kind == TOKEN_WRONG) said = "this character means nothing here";
    if (is_token(token, "\"")) said = "this string has no \" at its end, in its line";
    if (is_token(token, "'")) said = "this character has no ' at its end";
    if (said != NULL) error_at(pp->diagnostics, token->at, NULL, "%s", said);
}

/* ---- files ----------------------------------------------------------------------------------- */

static int open_file(struct diagnostics *d, const char *name, const char *text)
{
    struct source_files *sources = d->sources;
    for (int i = 0; i < sources->count; i++)
        if (strcmp(sources->files[i].name, name) == 0 && sources->files[i].text == text) return i;
    sources->files =
        cc_grow(d->arena, sources->files, (size_t)sources->count, sizeof(*sources->files));
    sources->files[sources->count] = (struct source_file){name, text};
    return sources->count++;
}

static void read_file(struct preprocessor *, int file);

/* The end of the line, which becomes a TOKEN_END; returns the first token of the next line. */
static struct token *cut_line(struct arena *arena, struct token *token)
{
    while (token->kind != TOKEN_END && (token->next == NULL || !token->next->begins_line) &&
           token->next->kind != TOKEN_END)
        token = token->next;
    if (token->kind == TOKEN_END) return token;
    struct token *next = token->next;
    token->next = token_before(arena, next, NULL);
    token->next->kind = TOKEN_END;
    token->next->at = token->at;
    return next;
}

/* ---- #include -------------------------------------------------------------------------------- */

/* The name of a header between its marks; NULL after an error. */
static const char *header_name(struct preprocessor *pp, const struct token *token, char *mark)
{
    *mark = *token->text;
    const char *begin = token->text + 1, *end = NULL;
    if (token->kind == TOKEN_STRING)
        end = begin + token->length - 2;
    else if (is_token(token, "<"))
        end = begin + strcspn(begin, ">\n");
    if (end != NULL && *end != '\n' && *end != 0 && end > begin)
        return cc_text(pp->arena, begin, (size_t)(end - begin));
    error_at(pp->diagnostics, token->at, NULL,
             "#include needs the name of a header, as \"scan.h\" or <stdio.h>");
    return NULL;
}

/* The header beside the file that includes it, with what is `./` and `folder/../` left out. */
static const char *path_beside(struct preprocessor *pp, const char *from, const char *name)
{
    const char *slash = strrchr(from, '/');
    int folder = slash == NULL ? 0 : (int)(slash - from) + 1;
    while (strncmp(name, "./", 2) == 0 || (strncmp(name, "../", 3) == 0 && folder > 0)) {
        if (name[1] == '/') {
            name += 2;
            continue;
        }
        name += 3;
        for (folder--; folder > 0 && from[folder - 1] != '/';) folder--;
    }
    return cc_format(pp->arena, "%.*s%s", folder, from, name);
}

static const char *find_header(struct preprocessor *pp, const struct token *token, char mark,
                               const char **name)
{
    cc_header_fn *header = pp->options->header;
    const char *from = pp->diagnostics->sources->files[token->at.file].name, *text = NULL;
    if (header != NULL && mark == '"') {
        const char *path = path_beside(pp, from, *name);
        text = header(pp->options->context, path);
        if (text != NULL) *name = path;
    }
    if (text == NULL && header != NULL) text = header(pp->options->context, *name);
    return text != NULL ? text : built_in_header(*name);
}

static void include(struct preprocessor *pp, const struct token *token)
{
    char mark;
    const char *name = header_name(pp, token, &mark);
    if (name == NULL) return;
    const char *text = find_header(pp, token, mark, &name);
    if (text == NULL) {
        if (mark == '<')
            error_at(pp->diagnostics, token->at, NULL,
                     "the header <%s>: the page's compiler does not have it", name);
        else
            error_at(pp->diagnostics, token->at, NULL, "the header \"%s\" was not found", name);
        return;
    }
    if (pp->depth >= DEEPEST_INCLUDE || pp->diagnostics->sources->count >= MOST_FILES) {
        error_at(pp->diagnostics, token->at, "is it guarded by #ifndef?",
                 "headers include each other too deeply");
        return;
    }
    int file = open_file(pp->diagnostics, name, text);
    if (!pp->once[file]) read_file(pp, file);
}

/* ---- #if ------------------------------------------------------------------------------------- */

static bool is_directive(const struct token *token)
{
    return token->begins_line && is_token(token, "#");
}

/* Skips lines up to a directive that ends or continues the innermost #if; returns its #. */
static struct token *skip_branch(struct token *token)
{
    for (int depth = 0; token->kind != TOKEN_END; token = token->next) {
        if (!is_directive(token)) continue;
        const struct token *word = token->next;
        bool ends = is_token(word, "endif");
        if (depth == 0 && (ends || is_token(word, "else") || is_token(word, "elif"))) return token;
        depth += is_token(word, "if") || is_token(word, "ifdef") || is_token(word, "ifndef");
        depth -= ends;
    }
    return token;
}

static struct token *take_branch(struct preprocessor *pp, bool holds, struct token *next)
{
    pp->condition->taken |= holds;
    return holds ? next : skip_branch(next);
}

static struct token *begin_if(struct preprocessor *pp, struct token *word, struct token *next)
{
    struct condition *condition = ARENA_NEW(pp->arena, struct condition);
    *condition = (struct condition){.begin = word, .outer = pp->condition};
    pp->condition = condition;
    if (is_token(word, "if"))
        return take_branch(pp, condition_holds(&pp->macros, word->next), next);
    if (word->next->kind != TOKEN_NAME)
        error_at(pp->diagnostics, word->at, NULL, "the name of a macro is missing");
    return take_branch(pp, macro_is_defined(&pp->macros, word->next) == is_token(word, "ifdef"),
                       next);
}

static struct token *go_on_if(struct preprocessor *pp, struct token *word, struct token *next)
{
    struct condition *condition = pp->condition;
    if (condition == NULL || (condition->has_else && !is_token(word, "endif"))) {
        error_at(pp->diagnostics, word->at, NULL, "this #%.*s has no #if before it", word->length,
                 word->text);
        return next;
    }
    if (is_token(word, "endif")) {
        pp->condition = condition->outer;
        return next;
    }
    condition->has_else = is_token(word, "else");
    if (condition->taken) return skip_branch(next);
    return take_branch(pp, condition->has_else || condition_holds(&pp->macros, word->next), next);
}

/* ---- directives ------------------------------------------------------------------------------ */

static void pragma(struct preprocessor *pp, struct token *word)
{
    struct token *what = word->next;
    if (is_token(what, "once")) pp->once[what->at.file] = true;
    if (!is_token(what, "unroll") && !is_token(what, "nounroll")) return;
    struct token *number = macro_expand_all(&pp->macros, what->next);
    what->kind = TOKEN_PRAGMA;
    put(pp, what);
    for (; number->kind != TOKEN_END; number = number->next) put(pp, number);
    struct token end = *what;
    end.text = END_OF_PRAGMA;
    end.length = (int)strlen(END_OF_PRAGMA);
    put(pp, &end);
}

/* The rest of a line, as it is written. */
static const char *line_text(struct arena *arena, const struct token *token)
{
    if (token->kind == TOKEN_END) return "";
    return cc_text(arena, token->text, strcspn(token->text, "\r\n"));
}

static void other_directive(struct preprocessor *pp, struct token *word)
{
    struct diagnostics *d = pp->diagnostics;
    if (is_token(word, "define"))
        macro_define(&pp->macros, word->next);
    else if (is_token(word, "undef"))
        macro_undefine(&pp->macros, word->next);
    else if (is_token(word, "include"))
        include(pp, word->next);
    else if (is_token(word, "pragma"))
        pragma(pp, word);
    else if (is_token(word, "error"))
        error_at(d, word->at, NULL, "#error %s", line_text(pp->arena, word->next));
    else if (is_token(word, "warning"))
        warn_at(d, word->at, NULL, "#warning %s", line_text(pp->arena, word->next));
    else if (word->kind != TOKEN_END)
        error_at(d, word->at, NULL, "there is no directive #%.*s", word->length, word->text);
}

/* Follows the directive at `mark`, its #; returns where to go on. */
static struct token *directive(struct preprocessor *pp, struct token *mark)
{
    struct token *next = cut_line(pp->arena, mark), *word = mark->next;
    if (is_token(word, "if") || is_token(word, "ifdef") || is_token(word, "ifndef"))
        return begin_if(pp, word, next);
    if (is_token(word, "elif") || is_token(word, "else") || is_token(word, "endif"))
        return go_on_if(pp, word, next);
    other_directive(pp, word);
    return next;
}

static void read_file(struct preprocessor *pp, int file)
{
    struct condition *outer = pp->condition;
    struct token *token = lex(pp->diagnostics, file);
    pp->condition = NULL;
    pp->depth++;
    while (token->kind != TOKEN_END && !enough_errors(pp->diagnostics)) {
        if (is_directive(token)) {
            token = directive(pp, token);
        } else if (!macro_expand(&pp->macros, &token)) {
            put(pp, token);
            token = token->next;
        }
    }
    if (pp->condition != NULL)
        error_at(pp->diagnostics, pp->condition->begin->at, NULL, "this #%.*s has no #endif",
                 pp->condition->begin->length, pp->condition->begin->text);
    pp->condition = outer;
    pp->depth--;
    *pp->last = token_before(pp->arena, token, NULL);
    (*pp->last)->kind = TOKEN_END;
}

/* ---- the whole text -------------------------------------------------------------------------- */

/* The macros of -D, as #define lines. */
static const char *option_text(struct arena *arena, const struct cc_options *options)
{
    const char *text = "";
    for (size_t i = 0; i < options->define_count; i++) {
        const char *define = options->defines[i], *sign = strchr(define, '=');
        int name = sign == NULL ? (int)strlen(define) : (int)(sign - define);
        text = cc_format(arena, "%s#define %.*s %s\n", text, name, define,
                         sign == NULL ? "1" : sign + 1);
    }
    return text;
}

struct token *preprocess(struct diagnostics *d, const char *name, const char *text,
                         const struct cc_options *options)
{
    struct preprocessor *pp = ARENA_NEW(d->arena, struct preprocessor);
    *pp = (struct preprocessor){.arena = d->arena, .diagnostics = d, .options = options};
    pp->macros = (struct macros){.arena = d->arena, .diagnostics = d};
    pp->once = cc_take(d->arena, (MOST_FILES + 3) * sizeof(bool));
    pp->last = &pp->first;
    int file = open_file(d, name, text);
    read_file(pp, open_file(d, "<built in>", BEGINNING));
    read_file(pp, open_file(d, "<options>", option_text(d->arena, options)));
    read_file(pp, file);
    return pp->first;
}

struct token *preprocess_more(struct diagnostics *d, const char *name, const char *text)
{
    return lex(d, open_file(d, name, text));
}
