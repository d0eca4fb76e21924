/*
 * declaration.c — declarations and variables.
 */
#include "parser.h"
#include <string.h>

/* ---- the words before a name (static, const, unsigned …), and what is around it -------------- */

enum { LONGEST_ARRAY = 1 << 28 };

/* ---- words of a type ------------------------------------------------------------------------- */

/* How often each word may stand in a type, as numbers of two bits that are added up. */
enum type_word {
    WORD_VOID = 1,
    WORD_BOOL = 1 << 2,
    WORD_CHAR = 1 << 4,
    WORD_SHORT = 1 << 6,
    WORD_INT = 1 << 8,
    WORD_LONG = 1 << 10,
    WORD_FLOAT = 1 << 12,
    WORD_DOUBLE = 1 << 14,
    WORD_SIGNED = 1 << 16,
    WORD_UNSIGNED = 1 << 18,
};

static const struct {
    const char *text;
    int word;
} TYPE_WORDS[] = {{"void", WORD_VOID},         {"bool", WORD_BOOL},       {"char", WORD_CHAR},
                  {"short", WORD_SHORT},       {"int", WORD_INT},         {"long", WORD_LONG},
                  {"float", WORD_FLOAT},       {"double", WORD_DOUBLE},   {"signed", WORD_SIGNED},
                  {"unsigned", WORD_UNSIGNED}, {"__int64", 2 * WORD_LONG}};

static int type_word(const struct token *token)
{
    for (size_t i = 0; token->kind == TOKEN_NAME && i < sizeof(TYPE_WORDS) / sizeof(TYPE_WORDS[0]);
         i++)
        if (is_token(token, TYPE_WORDS[i].text)) return TYPE_WORDS[i].word;
    return 0;
}

/* The type that the words say together; TYPE_UNKNOWN: none. */
static enum type_kind kind_of_words(int words)
{
    switch (words) {
    case WORD_VOID: return TYPE_VOID;
    case WORD_BOOL: return TYPE_BOOL;
    case WORD_CHAR: return TYPE_CHAR;
    case WORD_SIGNED + WORD_CHAR: return TYPE_SIGNED_CHAR;
    case WORD_UNSIGNED + WORD_CHAR: return TYPE_UNSIGNED_CHAR;
    case WORD_FLOAT: return TYPE_FLOAT;
    case WORD_DOUBLE: return TYPE_DOUBLE;
    }
    bool is_unsigned = (words & WORD_UNSIGNED) != 0;
    switch (words & ~(WORD_UNSIGNED | WORD_SIGNED | WORD_INT)) {
    case WORD_SHORT: return is_unsigned ? TYPE_UNSIGNED_SHORT : TYPE_SHORT;
    case 0: return is_unsigned ? TYPE_UNSIGNED : TYPE_INT;
    case WORD_LONG: return is_unsigned ? TYPE_UNSIGNED_LONG : TYPE_LONG;
    case 2 * WORD_LONG: return is_unsigned ? TYPE_UNSIGNED_LONG_LONG : TYPE_LONG_LONG;
    }
    return TYPE_UNKNOWN;
}

static bool is_word_among(const struct token *token, const char *const *words)
{
    for (; *words != NULL; words++)
        if (is_token(token, *words)) return true;
    return false;
}

bool is_type(const struct parser *p)
{
    static const char *const WORDS[] = {
        "const",        "static",     "extern",          "inline",
        "constexpr",    "__shared__", "__constant__",    "__device__",
        "__align__",    "alignas",    "__forceinline__", "__restrict__",
        "enum",         "struct",     "union",           "class",
        "auto",         "volatile",   "typedef",         "register",
        "__global__",   "__host__",   "__inline__",      "__noinline__",
        "thread_local", NULL};
    const struct token *token = p->token;
    if (token->kind != TOKEN_NAME) return false;
    if (type_word(token) != 0 || is_word_among(token, WORDS)) return true;
    const struct name *name = find_name(p, token);
    return name != NULL ? name->kind == NAME_TYPE : find_tag(p, token) != NULL;
}

bool begins_type(const struct parser *p)
{
    bool unknown = p->token->kind == TOKEN_NAME && p->token->next->kind == TOKEN_NAME &&
                   find_name(p, p->token) == NULL;
    return unknown || is_type(p);
}

/* ---- specifiers ------------------------------------------------------------------------------ */

/* `(n)` or `(n, m)` after __launch_bounds__ and __align__. */
static void read_numbers(struct parser *p, int64_t *first, int64_t *second)
{
    needs(p, "(");
    *first = read_constant(p, "a number of threads, or of bytes,");
    if (second != NULL && takes(p, ",")) *second = read_constant(p, "a number of blocks");
    needs(p, ")");
}

static bool read_bounds(struct parser *p, struct specifiers *s)
{
    int64_t threads = 0, blocks = 0;
    if (!takes(p, "__launch_bounds__")) return false;
    read_numbers(p, &threads, &blocks);
    if (threads < 0 || threads > 1024 || blocks < 0 || blocks > 32)
        complain(p, p->previous->at, NULL, "a block has 1 to 1024 threads");
    s->max_threads = (int)threads;
    s->min_blocks = (int)blocks;
    return true;
}

static bool read_align(struct parser *p, struct specifiers *s)
{
    if (!takes(p, "__align__") && !takes(p, "alignas")) return false;
    read_numbers(p, &s->align, NULL);
    if (s->align <= 0 || s->align > 1024 || (s->align & (s->align - 1)) != 0)
        complain(p, p->previous->at, NULL, "an alignment is a power of two");
    return true;
}

/* Words that set a flag of the specifiers. */
static bool read_flag(struct parser *p, struct specifiers *s)
{
    struct {
        const char *text;
        bool *flag;
    } flags[] = {{"static", &s->is_static},       {"extern", &s->is_extern},
                 {"typedef", &s->is_typedef},     {"const", &s->is_const},
                 {"volatile", &s->is_volatile},
                 {"constexpr", &s->is_constexpr}, {"__global__", &s->is_global},
                 {"__device__", &s->is_device},   {"__host__", &s->is_host},
                 {"__shared__", &s->is_shared},   {"__constant__", &s->is_constant}};
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        if (takes(p, flags[i].text)) return *flags[i].flag = true;
    return false;
}

/* Every call is inlined, whatever these words ask for. */
static bool skip_inlining(struct parser *p)
{
    return takes(p, "inline") || takes(p, "__inline__") || takes(p, "__forceinline__") ||
           takes(p, "__noinline__");
}

/* A type that is one name, or an enum. */
static bool read_named_type(struct parser *p, struct specifiers *s)
{
    if (sees(p, "enum")) return s->type = read_enum(p), true;
    if (sees(p, "struct") && p->token->next->kind == TOKEN_NAME && find_tag(p, p->token->next))
        go_past(p);
    const struct name *name = find_name(p, p->token);
    if (name == NULL) name = find_tag(p, p->token);
    if (name == NULL || (name->kind != NAME_TYPE && name->kind != NAME_TAG)) return false;
    if (name->type->kind == TYPE_HOST)
        refuse(p, p->token, cc_format(p->arena, "the type %s in device code", name->text));
    s->type = name->type;
    go_past(p);
    return true;
}

static void no_type(struct parser *p, const struct specifiers *s)
{
    const struct token *token = p->token;
    const char *text = text_of(p, token);
    if (token->kind == TOKEN_NAME && refused_word(p, token) != NULL)
        refuse(p, token, refused_word(p, token));
    else if (token->kind == TOKEN_NAME &&
             (token->next->kind == TOKEN_NAME || is_token(token->next, "*"))) {
        unknown_name(p, token);
        go_past(p);
    } else if (s->is_global && token->next != NULL && is_token(token->next, "("))
        complain(p, token->at, "write void before it", "the kernel `%s` has no type", text);
    else
        stumble(p, token->at, NULL, "a type is missing before `%s`", text);
}

struct specifiers read_specifiers(struct parser *p)
{
    struct specifiers s = {.begin = p->token};
    int words = 0, word;
    for (;;) {
        if ((word = s.type == NULL ? type_word(p->token) : 0) != 0) {
            words += word;
            go_past(p);
        } else if (!read_flag(p, &s) && !skip_inlining(p) && !read_align(p, &s) &&
                   !read_bounds(p, &s) && !takes(p, "__restrict__") &&
                   (words != 0 || s.type != NULL || !read_named_type(p, &s))) {
            break;
        }
    }
    if (words == 0 && s.type == NULL) {
        s.type = type_basic(TYPE_UNKNOWN);
        no_type(p, &s);
    } else if (words != 0) {
        s.type = type_basic(kind_of_words(words));
        if (s.type->kind == TYPE_UNKNOWN)
            complain(p, s.begin->at, NULL, "these words are no type together");
    }
    if (s.is_const || s.is_constexpr) s.type = type_with_const(p->arena, s.type);
    if (s.is_volatile) s.type = type_with_volatile(p->arena, s.type);
    return s;
}

/* ---- declarators ----------------------------------------------------------------------------- */

static const struct type *read_stars(struct parser *p, const struct type *type)
{
    for (;;) {
        if (takes(p, "*"))
            type = type_pointer(p->arena, type);
        else if (takes(p, "const"))
            type = type_with_const(p->arena, type);
        else if (sees(p, "&") || sees(p, "&&"))
            refuse(p, p->token, "a reference");
        else if (takes(p, "volatile"))
            type = type_with_volatile(p->arena, type);
        else if (!takes(p, "__restrict__") && !takes(p, "__restrict"))
            return type;
    }
}

static int64_t read_length(struct parser *p, const struct specifiers *s)
{
    struct expr *size = value_of(p, read_conditional(p));
    if (is_unknown(size) || p->stumbled_at != NULL) return 1;
    if (size->kind != EXPR_INTEGER) {
        const char *hint = s->is_shared ? "extern __shared__ TYPE name[]; takes its size from "
                                          "the third number in <<< >>>"
                                        : "use a #define, an enum, or a template's parameter";
        complain(p, size->at, hint, "the size of %s array has to be a constant",
                 s->is_shared ? "a __shared__" : "an");
        return 1;
    }
    if (size->integer > 0 && size->integer <= LONGEST_ARRAY) return size->integer;
    complain(p, size->at, NULL, "an array cannot have %lld elements", (long long)size->integer);
    return 1;
}

static const struct type *read_lengths(struct parser *p, const struct specifiers *s,
                                       const struct type *type)
{
    if (!sees(p, "[") || !enter(p)) return type;
    go_past(p);
    struct token *open = p->previous;
    int64_t length = sees(p, "]") ? NO_LENGTH : read_length(p, s);
    needs(p, "]");
    type = read_lengths(p, s, type);
    leave(p);
    if (type->kind == TYPE_VOID || (type->kind == TYPE_ARRAY && type->length == NO_LENGTH)) {
        complain(p, open->at, NULL, "there is no array of `%s`", type_text(p->arena, type));
        return type_basic(TYPE_UNKNOWN);
    }
    if (length * type_size(type) > LONGEST_ARRAY)
        complain(p, open->at, NULL, "this array is too large");
    return type_array(p->arena, type, length);
}

struct declarator read_declarator(struct parser *p, const struct specifiers *s)
{
    struct declarator d = {read_stars(p, s->type), NULL};
    if (sees(p, "(") && next_is(p, "*")) { /* (*name)[n] */
        go_past(p);
        go_past(p);
        bool is_const = takes(p, "const");
        if (p->token->kind == TOKEN_NAME) {
            d.name = p->token;
            go_past(p);
        }
        needs(p, ")");
        if (sees(p, "(")) refuse(p, p->token, "a pointer to a function");
        d.type = type_pointer(p->arena, read_lengths(p, s, d.type));
        if (is_const) d.type = type_with_const(p->arena, d.type);
        return d;
    }
    if (p->token->kind == TOKEN_NAME) {
        d.name = p->token;
        go_past(p);
    }
    d.type = read_lengths(p, s, d.type);
    return d;
}

const struct type *read_type_name(struct parser *p)
{
    struct specifiers s = read_specifiers(p);
    struct declarator d = read_declarator(p, &s);
    if (d.name != NULL)
        stumble(p, d.name->at, NULL, "a type stands here, and `%s` is too much",
                text_of(p, d.name));
    return d.type;
}

/* ---- enum ------------------------------------------------------------------------------------ */

static void read_enumerators(struct parser *p, const struct type *type)
{
    int64_t value = 0;
    while (!sees(p, "}") && p->token->kind != TOKEN_END) {
        struct token *token = p->token;
        if (token->kind != TOKEN_NAME) {
            stumble(p, token->at, NULL, "the name of a constant is missing before `%s`",
                    text_of(p, token));
            return;
        }
        go_past(p);
        if (takes(p, "=")) value = read_constant(p, "the value of an enumerator");
        struct name *name = add_name(p, NAME_CONSTANT, token);
        if (value != (int32_t)value)
            complain(p, token->at, NULL, "an enumerator of the page's compiler is an int");
        name->constant = integer(p, type, value++, token->at);
        if (!takes(p, ",")) break;
    }
    needs(p, "}");
}

const struct type *read_enum(struct parser *p)
{
    needs(p, "enum");
    if (sees(p, "class") || sees(p, "struct")) refuse(p, p->token, "an enum class");
    struct token *tag = p->token->kind == TOKEN_NAME ? p->token : NULL;
    if (tag != NULL) go_past(p);
    if (sees(p, ":")) refuse(p, p->token, "an enum with a type of its own");
    if (!sees(p, "{")) {
        struct name *name = tag != NULL ? find_tag(p, tag) : NULL;
        if (name == NULL && tag != NULL)
            complain(p, tag->at, NULL, "there is no enum `%s`", text_of(p, tag));
        else if (name == NULL)
            stumble(p, p->token->at, NULL, "an enum needs a name, or { and its constants");
        return name != NULL ? name->type : type_basic(TYPE_UNKNOWN);
    }
    go_past(p);
    struct type *type = ARENA_NEW(p->arena, struct type);
    *type = (struct type){.kind = TYPE_ENUM, .base = type_basic(TYPE_INT)};
    type->name = tag != NULL ? text_of(p, tag) : "";
    if (tag != NULL) add_name(p, NAME_TAG, tag)->type = type;
    read_enumerators(p, type);
    return type;
}

/* ---- static_assert --------------------------------------------------------------------------- */

void read_static_assert(struct parser *p)
{
    struct token *begin = p->token;
    go_past(p);
    needs(p, "(");
    struct expr *holds = condition(p, read_conditional(p));
    const char *said = "";
    if (takes(p, ",") && p->token->kind == TOKEN_STRING) said = text_of(p, p->token), go_past(p);
    needs(p, ")");
    needs(p, ";");
    if (is_unknown(holds)) return;
    if (holds->kind != EXPR_INTEGER)
        complain(p, holds->at, NULL, "the condition of static_assert has to be a constant");
    else if (holds->integer == 0)
        complain(p, begin->at, NULL, "static_assert does not hold%s%s", *said ? ": " : "", said);
}

/* ---- variables: of functions, shared ones, and those of the whole GPU ------------------------ */

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
    if (braces && type->kind == TYPE_STRUCT) {
        for (int i = 0; i < type->member_count && !sees(p, "}") && p->stumbled_at == NULL; i++) {
            read_value(p, filling, type->members[i].type, offset + type->members[i].offset);
            if (!takes(p, ",")) break;
        }
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
    bool simple = symbol->type->is_const && symbol->initials != NULL &&
                  symbol->type->kind != TYPE_STRUCT;
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
    if (symbol->type->kind != TYPE_ARRAY || other->type->kind != TYPE_ARRAY)
        return other; /* of which something has been said */
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
    symbol->is_of_gpu = s->is_device || s->is_constant;
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
    if (is_dim3(symbol->type) && (sees(p, "(") || sees(p, "=") || sees(p, "{"))) {
        struct filling filling = {symbol, &symbol->initials, 0};
        struct expr *parts[3];
        read_dim3(p, parts, !takes(p, "=") || sees(p, "{"));
        symbol->initialized = true;
        for (int k = 0; k < 3; k++) add_initial(p, &filling, 4 * k, parts[k]);
    } else if (sees(p, "(")) {
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
    if (sees(p, "(") && !is_dim3(d->type)) {
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
