/* variable.c — variables: of functions, shared ones, and those of the whole GPU. */
#include "parser.h"

#include <string.h>

enum {
    MOST_INITIALS = 1 << 20,
    DYNAMIC_ALIGN = 16, /* nvcc's, of each dynamic shared array */
};

/* ---- initialisers ---------------------------------------------------------------------------- */

/* Where the values of an initialiser go, in the order of their offsets. */
struct filling {
    struct symbol *symbol;
    struct initial **last;
    int count;
};

static void add_initial(struct parser *p, struct filling *filling, int64_t offset,
                        struct expr *value)
{
    if (++filling->count > MOST_INITIALS) return;
    struct initial *initial = ARENA_NEW(p->arena, struct initial);
    *initial = (struct initial){offset, value, NULL};
    *filling->last = initial;
    filling->last = &initial->next;
}

/* Braces are counted, so that the parser finds its way out of them after an error. */
static bool open_brace(struct parser *p)
{
    bool open = takes(p, "{");
    p->open_braces += open;
    return open;
}

static void close_brace(struct parser *p)
{
    needs(p, "}");
    if (p->stumbled_at == NULL) p->open_braces--;
}

static void read_value(struct parser *p, struct filling *filling, const struct type *type,
                       int64_t offset)
{
    bool braces = open_brace(p);
    if (braces && sees(p, "}")) { /* x = {} is zero */
        close_brace(p);
        return;
    }
    struct expr *value = fit(p, read_assignment(p), type, "the initial value");
    bool local = filling->symbol->kind == SYMBOL_LOCAL;
    if (!local && !is_unknown(value) && !is_constant(value))
        complain(p, value->at, NULL, "`%s` begins with a constant", filling->symbol->name);
    add_initial(p, filling, offset, value);
    if (braces) close_brace(p);
}

static int64_t read_elements(struct parser *, struct filling *, const struct type *, int64_t offset,
                             bool braces);

static void read_element(struct parser *p, struct filling *filling, const struct type *type,
                         int64_t offset)
{
    if (type->kind != TYPE_ARRAY)
        read_value(p, filling, type, offset);
    else if (open_brace(p))
        read_elements(p, filling, type, offset, true);
    else
        read_elements(p, filling, type, offset, false);
}

/* Reads the elements of an array, with the } if it has braces of its own; returns how many. */
static int64_t read_elements(struct parser *p, struct filling *filling, const struct type *type,
                             int64_t offset, bool braces)
{
    int64_t count = 0;
    while (!sees(p, "}") && p->stumbled_at == NULL) {
        if (type->length != NO_LENGTH && count == type->length) {
            if (!braces) return count;
            stumble(p, p->token->at, NULL, "the array has %lld elements, and here is one more",
                    (long long)type->length);
            return count;
        }
        if (sees(p, ".") || sees(p, "[")) refuse(p, p->token, "an initialiser with a designator");
        read_element(p, filling, type->base, offset + count++ * type_size(type->base));
        bool last = !braces && type->length == count;
        if (last || !takes(p, ",")) break;
    }
    if (braces) close_brace(p);
    return count;
}

static void read_initializer(struct parser *p, struct symbol *symbol)
{
    struct filling filling = {symbol, &symbol->initials, 0};
    symbol->initialized = true;
    if (symbol->type->kind != TYPE_ARRAY) {
        read_value(p, &filling, symbol->type, 0);
    } else if (open_brace(p)) {
        int64_t count = read_elements(p, &filling, symbol->type, 0, true);
        if (symbol->type->length == NO_LENGTH)
            symbol->type = type_array(p->arena, symbol->type->base, count > 0 ? count : 1);
    } else if (p->token->kind == TOKEN_STRING) {
        refuse(p, p->token, "an array that begins with a string");
    } else {
        stumble(p, p->token->at, NULL, "an array begins with values in { and }");
    }
}

/* A const variable that begins with a constant is one itself. */
static void remember_value(struct name *name, const struct symbol *symbol)
{
    bool simple = symbol->type->is_const && symbol->initials != NULL;
    if (simple && is_constant(symbol->initials->value)) name->value = symbol->initials->value;
}

/* ---- kinds of variables ---------------------------------------------------------------------- */

/* Where the declaration says the variable lies; complains where it cannot. */
static enum symbol_kind kind_of(struct parser *p, const struct specifiers *s,
                                const struct token *name)
{
    bool inside = p->function != NULL;
    const char *text = text_of(p, name);
    if (s->is_shared) return s->is_extern ? SYMBOL_SHARED_DYNAMIC : SYMBOL_SHARED;
    if (s->is_extern) refuse(p, s->begin, "extern of a variable that is not __shared__");
    if (inside && (s->is_constant || s->is_device))
        complain(p, name->at, "move it before the function",
                 "`%s` is __device__ or __constant__, and such a variable stands outside of "
                 "functions",
                 text);
    if (inside && s->is_static && !s->is_const && !s->is_constexpr)
        refuse(p, s->begin, "a static variable of a function");
    if (s->is_constant) return SYMBOL_CONSTANT;
    return inside ? SYMBOL_LOCAL : SYMBOL_GLOBAL;
}

static bool check_type(struct parser *p, enum symbol_kind kind, const struct declarator *d)
{
    const struct type *type = d->type;
    bool no_length = type->kind == TYPE_ARRAY && type->length == NO_LENGTH;
    const char *text = text_of(p, d->name);
    if (type->kind == TYPE_VOID)
        complain(p, d->name->at, NULL, "`%s` is of type void, which has no values", text);
    else if (kind == SYMBOL_SHARED && no_length)
        complain(p, d->name->at, "write extern before __shared__, and give the size at the launch",
                 "the size of `%s` is missing", text);
    else if (kind == SYMBOL_SHARED_DYNAMIC && !no_length)
        complain(p, d->name->at, "leave out extern, or the size between [ and ]",
                 "`%s` gets its size at the launch, so it is declared with []", text);
    else if (kind != SYMBOL_SHARED_DYNAMIC && no_length && !sees(p, "="))
        complain(p, d->name->at, NULL, "the size of `%s` is missing", text);
    else
        return true;
    return false;
}

/* The dynamic array of this name that another function declares; NULL: none does. */
static struct symbol *other_dynamic(struct parser *p, const struct symbol *symbol)
{
    struct symbol *other = p->unit->globals;
    while (other != NULL &&
           (other->kind != SYMBOL_SHARED_DYNAMIC || strcmp(other->name, symbol->name) != 0))
        other = other->next;
    if (other == NULL) return NULL;
    if (!type_same(other->type->base, symbol->type->base))
        complain(p, symbol->at, "give it another name",
                 "`%s` is an array of `%s` in another function", other->name,
                 type_text(p->arena, other->type->base));
    if (symbol->align > other->align) other->align = symbol->align;
    return other;
}

static void append(struct symbol **list, struct symbol *symbol)
{
    while (*list != NULL) list = &(*list)->next;
    *list = symbol;
}

/* Shared variables of one name in a function, as in two blocks, or in instances, are told apart. */
static void add_shared(struct parser *p, struct symbol *symbol)
{
    int nth = 0;
    for (struct symbol *s = p->function->shared; s != NULL; s = s->next)
        nth += strcmp(s->name, symbol->name) == 0;
    symbol->mangled = mangle_local(p->arena, p->function, symbol->name, nth);
    append(&p->function->shared, symbol);
}

static struct symbol *new_symbol(struct parser *p, enum symbol_kind kind,
                                 const struct specifiers *s, const struct declarator *d)
{
    struct symbol *symbol = ARENA_NEW(p->arena, struct symbol);
    symbol->kind = kind;
    symbol->name = symbol->mangled = text_of(p, d->name);
    symbol->type = d->type;
    symbol->align = s->align > type_align(d->type) ? s->align : type_align(d->type);
    symbol->at = d->name->at;
    symbol->is_static = s->is_static;
    symbol->addressed = d->type->kind == TYPE_ARRAY;
    if (kind == SYMBOL_SHARED_DYNAMIC) {
        if (symbol->align < DYNAMIC_ALIGN) symbol->align = DYNAMIC_ALIGN;
        struct symbol *other = other_dynamic(p, symbol);
        if (other != NULL) return other;
    }
    if (kind == SYMBOL_SHARED && p->function != NULL)
        add_shared(p, symbol);
    else if (kind != SYMBOL_LOCAL)
        append(&p->unit->globals, symbol);
    return symbol;
}

/* ---- declarations ---------------------------------------------------------------------------- */

static void read_beginning(struct parser *p, struct symbol *symbol, struct token *name)
{
    bool shared = symbol->kind == SYMBOL_SHARED || symbol->kind == SYMBOL_SHARED_DYNAMIC;
    if (sees(p, "(")) {
        refuse(p, p->token, "an initial value in parentheses");
    } else if (sees(p, "=") || sees(p, "{")) {
        if (shared)
            stumble(p, p->token->at, "let threads store its values, then wait: __syncthreads();",
                    "`%s` is __shared__, and begins without values", symbol->name);
        takes(p, "=");
        read_initializer(p, symbol);
    } else if (symbol->type->is_const && symbol->kind == SYMBOL_LOCAL) {
        complain(p, name->at, NULL, "`%s` is const, and needs a value to begin with", symbol->name);
    }
}

static struct stmt *read_variable(struct parser *p, const struct specifiers *s,
                                  struct declarator *d)
{
    if (d->name == NULL) {
        const char *word = text_of(p, p->token);
        stumble(p, p->token->at, NULL, "a name is missing before `%s`", word);
        return NULL;
    }
    if (sees(p, "(")) {
        refuse(p, p->token,
               p->function != NULL ? "an initial value in parentheses" : "this declaration");
        return NULL;
    }
    enum symbol_kind kind = kind_of(p, s, d->name);
    if (p->stumbled_at != NULL) return NULL;
    if (!check_type(p, kind, d)) d->type = type_basic(TYPE_UNKNOWN);
    struct symbol *symbol = new_symbol(p, kind, s, d);
    struct name *name = add_name(p, NAME_SYMBOL, d->name);
    name->symbol = symbol;
    read_beginning(p, symbol, d->name);
    remember_value(name, symbol);
    if (kind != SYMBOL_LOCAL) return NULL;
    struct stmt *stmt = ARENA_NEW(p->arena, struct stmt);
    *stmt = (struct stmt){.kind = STMT_DECLARE, .at = s->begin->at, .symbol = symbol};
    return stmt;
}

struct stmt *read_variables(struct parser *p, const struct specifiers *s, struct declarator d)
{
    struct stmt *first = NULL, **last = &first;
    for (;;) {
        struct stmt *stmt = read_variable(p, s, &d);
        if (stmt != NULL) {
            *last = stmt;
            last = &stmt->next;
        }
        if (!takes(p, ",")) break;
        d = read_declarator(p, s);
    }
    needs(p, ";");
    return first;
}
