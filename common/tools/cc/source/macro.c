/*
 * macro.c — macros.
 *
 * A token that a macro has made remembers the macro in `hidden`, so that it is not expanded in its
 * own text again (Dave Prosser's algorithm, from which the standard's words were made). It stands
 * where the macro is used; a token of an argument stands where it is written.
 */
#include "source.h"

#include <string.h>

enum { MOST_MADE = 300000, DEEPEST = 100, MOST_HIDDEN = 5000 };

struct macro {
    const struct token *name;
    bool is_function, takes_more; /* takes_more: its last parameter is `...` */
    const struct token **parameters;
    int parameter_count;
    struct token *body; /* up to TOKEN_END */
    struct macro *next;
};

struct hidden {
    const struct macro *macro;
    const struct hidden *next;
    int count;
};

struct argument {
    struct token *tokens, *expanded; /* up to TOKEN_END; `expanded` when it is needed */
};

/* ---- the table ------------------------------------------------------------------------------- */

static bool same_text(const struct token *a, const struct token *b)
{
    return a->length == b->length && memcmp(a->text, b->text, (size_t)a->length) == 0;
}

static struct macro **find(const struct macros *macros, const struct token *name)
{
    unsigned hash = 5381;
    for (int i = 0; i < name->length; i++) hash = hash * 33 + (unsigned char)name->text[i];
    struct macro **at = (struct macro **)&macros->buckets[hash % MACRO_BUCKETS];
    while (*at != NULL && !same_text((*at)->name, name)) at = &(*at)->next;
    return at;
}

bool macro_is_defined(const struct macros *macros, const struct token *name)
{
    return *find(macros, name) != NULL;
}

void macro_undefine(struct macros *macros, const struct token *name)
{
    struct macro **at = find(macros, name);
    if (*at != NULL) *at = (*at)->next;
}

/* ---- #define --------------------------------------------------------------------------------- */

/* Reads `(a, b, ...)`; NULL after an error. */
static struct token *read_parameters(struct macros *macros, struct macro *macro, struct token *at)
{
    for (at = at->next; !is_token(at, ")"); at = at->next) {
        macro->takes_more = is_token(at, "...");
        bool last = macro->takes_more || is_token(at->next, ")");
        if ((at->kind != TOKEN_NAME && !macro->takes_more) ||
            (last ? !is_token(at->next, ")") : !is_token(at->next, ","))) {
            error_at(macros->diagnostics, at->at,
                     "as in #define LARGER(a, b) ((a) > (b) ? (a) : (b))",
                     "a macro's parameters are names with commas between them");
            return NULL;
        }
        macro->parameters = cc_grow(macros->arena, macro->parameters,
                                    (size_t)macro->parameter_count, sizeof(struct token *));
        macro->parameters[macro->parameter_count++] = at;
        if (!last) at = at->next;
    }
    return at->next;
}

void macro_define(struct macros *macros, struct token *name)
{
    if (name->kind != TOKEN_NAME) {
        error_at(macros->diagnostics, name->at, NULL, "#define needs a name");
        return;
    }
    struct macro *macro = ARENA_NEW(macros->arena, struct macro);
    macro->name = name;
    macro->body = name->next;
    macro->is_function = is_token(name->next, "(") && !name->next->after_space;
    if (macro->is_function) macro->body = read_parameters(macros, macro, name->next);
    if (macro->body == NULL) return;
    struct macro **at = find(macros, name);
    macro->next = *at != NULL ? (*at)->next : NULL;
    *at = macro;
}

/* ---- tokens that a macro makes --------------------------------------------------------------- */

static bool is_hidden(const struct hidden *hidden, const struct macro *macro)
{
    while (hidden != NULL && hidden->macro != macro) hidden = hidden->next;
    return hidden != NULL;
}

static const struct hidden *hide(struct arena *arena, const struct hidden *hidden,
                                 const struct macro *macro)
{
    if (is_hidden(hidden, macro)) return hidden;
    struct hidden *more = ARENA_NEW(arena, struct hidden);
    *more = (struct hidden){macro, hidden, hidden == NULL ? 1 : hidden->count + 1};
    return more;
}

/* Does the list end with the other one? Lists that grow with each macro share their ends. */
static bool ends_with(const struct hidden *list, const struct hidden *end)
{
    int more = end == NULL ? 0 : list == NULL ? -1 : list->count - end->count;
    for (; end != NULL && more > 0; more--) list = list->next;
    return end == NULL || list == end;
}

static const struct hidden *hide_all(struct arena *arena, const struct hidden *hidden,
                                     const struct hidden *others)
{
    if (ends_with(others, hidden)) return others;
    for (; others != NULL; others = others->next) hidden = hide(arena, hidden, others->macro);
    return hidden;
}

static const struct hidden *hidden_in_both(struct arena *arena, const struct hidden *a,
                                           const struct hidden *b)
{
    const struct hidden *both = NULL;
    if (ends_with(b, a)) return a;
    for (; a != NULL; a = a->next)
        if (is_hidden(b, a->macro)) both = hide(arena, both, a->macro);
    return both;
}

struct token *token_before(struct arena *arena, const struct token *token, struct token *next)
{
    struct token *copy = ARENA_NEW(arena, struct token);
    *copy = *token;
    copy->next = next;
    return copy;
}

/* The use of a macro that is being expanded, and the end of what it has made so far. */
struct use {
    struct macros *macros;
    const struct macro *macro;
    const struct token *name;
    struct argument *arguments;
    const struct hidden *hidden;
    struct token *first, **last;
};

static struct token *put(struct use *use, const struct token *token)
{
    struct token *copy = token_before(use->macros->arena, token, NULL);
    if (use->macros->made >= MOST_MADE) return copy; // it is too much, and leads nowhere
    copy->hidden = hide_all(use->macros->arena, copy->hidden, use->hidden);
    copy->begins_line = false;
    *use->last = copy;
    use->last = &copy->next;
    use->macros->made++;
    return copy;
}

/* A token of the macro's body stands where the macro is used. */
static struct token at_use(const struct use *use, const struct token *token)
{
    struct token moved = *token;
    moved.at = use->name->at;
    if (moved.at.macro == NULL)
        moved.at.macro = arena_text(use->macros->arena, use->name->text, (size_t)use->name->length);
    return moved;
}

static void put_list(struct use *use, const struct token *token)
{
    for (; token->kind != TOKEN_END; token = token->next) put(use, token);
}

/* ---- # and ## -------------------------------------------------------------------------------- */

/* The argument for a name of the body; NULL: it is no parameter. */
static struct argument *argument_for(const struct use *use, const struct token *name)
{
    const struct macro *macro = use->macro;
    for (int i = 0; name->kind == TOKEN_NAME && i < macro->parameter_count; i++) {
        bool rest = macro->takes_more && i == macro->parameter_count - 1;
        if (rest ? is_token(name, "__VA_ARGS__") : same_text(macro->parameters[i], name))
            return &use->arguments[i];
    }
    return NULL;
}

/* An argument as a string, for #parameter. */
static void put_string(struct use *use, const struct token *token, struct token place)
{
    size_t length = 3;
    for (const struct token *t = token; t->kind != TOKEN_END; t = t->next)
        length += 2 * (size_t)t->length + 1;
    char *text = arena_take(use->macros->arena, length), *to = text;
    *to++ = '"';
    for (const struct token *t = token; t->kind != TOKEN_END; t = t->next) {
        if (t != token && t->after_space) *to++ = ' ';
        bool quoted = t->kind == TOKEN_STRING || t->kind == TOKEN_CHARACTER;
        for (int i = 0; i < t->length; i++) {
            if (quoted && strchr("\"\\", t->text[i]) != NULL) *to++ = '\\';
            *to++ = t->text[i];
        }
    }
    *to++ = '"';
    place.kind = TOKEN_STRING;
    place.text = text;
    place.length = (int)(to - text);
    put(use, &place);
}

/* Joins the last token that was put, if there is one, with `right`. */
static void paste(struct use *use, struct token *left, const struct token *right)
{
    struct arena *arena = use->macros->arena;
    char *text = cc_format(arena, "%.*s%.*s", left->length, left->text, right->length, right->text);
    struct token *joined = lex_piece(arena, text, left->at);
    if (joined->kind == TOKEN_END || joined->next->kind != TOKEN_END) {
        error_at(use->macros->diagnostics, left->at, NULL, "## makes %s, which is no token", text);
        return;
    }
    left->kind = joined->kind;
    left->text = joined->text;
    left->length = joined->length;
}

/* What stands on a side of ##: an argument as it is written, or a token and an end. */
static struct token *unexpanded(struct use *use, const struct token *token)
{
    struct argument *argument = argument_for(use, token);
    if (argument != NULL) return argument->tokens;
    struct token moved = at_use(use, token);
    return token_before(use->macros->arena, &moved, ARENA_NEW(use->macros->arena, struct token));
}

/* `a ## b ## c`, from a on; returns its last token. */
static const struct token *put_pasted(struct use *use, const struct token *token)
{
    struct token *left = NULL;
    for (;; token = token->next->next) {
        struct token *side = unexpanded(use, token);
        if (left != NULL && side->kind != TOKEN_END) {
            paste(use, left, side);
            side = side->next;
        }
        for (; side->kind != TOKEN_END; side = side->next) left = put(use, side);
        if (!is_token(token->next, "##") || token->next->next->kind == TOKEN_END) return token;
    }
}

/* ---- expansion ------------------------------------------------------------------------------- */

static void put_argument(struct use *use, struct argument *argument, const struct token *name)
{
    if (argument->expanded == NULL)
        argument->expanded = macro_expand_all(use->macros, argument->tokens);
    struct token **begin = use->last;
    put_list(use, argument->expanded);
    if (*begin != NULL) (*begin)->after_space = name->after_space;
}

static void put_body(struct use *use)
{
    for (const struct token *t = use->macro->body; t->kind != TOKEN_END; t = t->next) {
        struct argument *argument = argument_for(use, t);
        struct token moved = at_use(use, t);
        if (use->macro->is_function && is_token(t, "#") && argument_for(use, t->next) != NULL) {
            t = t->next;
            put_string(use, argument_for(use, t)->tokens, moved);
        } else if (is_token(t->next, "##") && t->next->next->kind != TOKEN_END) {
            t = put_pasted(use, t);
        } else if (argument != NULL) {
            put_argument(use, argument, t);
        } else {
            put(use, &moved);
        }
    }
}

/* Reads one argument, up to the comma or the ) after it. NULL: the text ends before. */
static struct token *read_argument(struct use *use, struct token *token, bool rest,
                                   struct argument *argument)
{
    struct token **last = &argument->tokens;
    struct arena *arena = use->macros->arena;
    for (int depth = 0; depth > 0 || !is_token(token, ")"); token = token->next) {
        if (depth == 0 && !rest && is_token(token, ",")) break;
        if (token->kind == TOKEN_END || (token->begins_line && is_token(token, "#"))) return NULL;
        depth += is_token(token, "(") - is_token(token, ")");
        *last = token_before(arena, token, NULL);
        last = &(*last)->next;
    }
    *last = token_before(arena, token, NULL);
    (*last)->kind = TOKEN_END;
    return token;
}

/* Reads `(a, b)` for a macro; returns the ), or NULL after an error. */
static struct token *read_arguments(struct use *use, struct token *token)
{
    const struct macro *macro = use->macro;
    int wanted = macro->parameter_count, count = 0;
    struct argument extra = {0};
    use->arguments = arena_take(use->macros->arena, (size_t)wanted * sizeof(struct argument));
    do {
        bool rest = macro->takes_more && count == wanted - 1;
        struct argument *to = count < wanted ? &use->arguments[count] : &extra;
        *to = (struct argument){0};
        token = read_argument(use, token->next, rest, to);
        if (token == NULL) {
            error_at(use->macros->diagnostics, use->name->at, NULL,
                     "the ) after the arguments of the macro %.*s is missing", use->name->length,
                     use->name->text);
            return NULL;
        }
        count += count > 0 || wanted > 0 || to->tokens->kind != TOKEN_END || is_token(token, ",");
    } while (is_token(token, ","));
    if (count == wanted) return token;
    error_at(use->macros->diagnostics, use->name->at, NULL,
             "the macro %.*s takes %d argument%s, and here are %d", use->name->length,
             use->name->text, wanted, wanted == 1 ? "" : "s", count);
    return NULL;
}

/* `__LINE__` and `__FILE__`. */
static struct token *own_macro(struct macros *macros, struct token *token)
{
    const char *text = NULL;
    if (is_token(token, "__LINE__"))
        text = cc_format(macros->arena, "%d", token->at.line);
    else if (is_token(token, "__FILE__"))
        text = cc_format(macros->arena, "\"%s\"",
                         macros->diagnostics->sources->files[token->at.file].name);
    if (text == NULL) return NULL;
    struct token *made = lex_piece(macros->arena, text, token->at);
    made->next = token->next;
    return made;
}

/* Says so once: after that, no macro is expanded. */
static bool is_too_much(struct macros *macros, const struct token *token)
{
    int hidden = token->hidden == NULL ? 0 : token->hidden->count;
    if (macros->made < MOST_MADE && macros->depth < DEEPEST && hidden < MOST_HIDDEN) return false;
    if (!macros->is_too_much)
        error_at(macros->diagnostics, token->at, NULL,
                 "macros are nested more than %d deep, or make more than %d words",
                 macros->depth < DEEPEST ? MOST_HIDDEN : DEEPEST, MOST_MADE);
    return macros->is_too_much = true;
}

bool macro_expand(struct macros *macros, struct token **token)
{
    if ((*token)->kind != TOKEN_NAME) return false;
    struct token *own = own_macro(macros, *token);
    if (own != NULL) return *token = own, true;

    struct macro *macro = *find(macros, *token);
    if (macro == NULL || is_hidden((*token)->hidden, macro)) return false;
    if (macro->is_function && !is_token((*token)->next, "(")) return false;
    if (macros->is_too_much || is_too_much(macros, *token)) return false;

    struct use use = {.macros = macros, .macro = macro, .name = *token};
    struct token *end = *token;
    use.last = &use.first;
    if (macro->is_function && (end = read_arguments(&use, end->next)) == NULL) return false;
    const struct hidden *before = (*token)->hidden;
    if (macro->is_function) before = hidden_in_both(macros->arena, before, end->hidden);
    use.hidden = hide(macros->arena, before, macro);
    put_body(&use);
    is_too_much(macros, *token);
    *use.last = end->next;
    if (use.first != end->next) {
        use.first->begins_line = (*token)->begins_line;
        use.first->after_space = (*token)->after_space;
    }
    *token = use.first;
    return true;
}

struct token *macro_expand_all(struct macros *macros, struct token *token)
{
    struct token *first = NULL, **last = &first;
    macros->depth++;
    while (token->kind != TOKEN_END) {
        if (macro_expand(macros, &token)) continue;
        *last = token_before(macros->arena, token, NULL);
        last = &(*last)->next;
        token = token->next;
    }
    *last = token;
    macros->depth--;
    return first;
}
