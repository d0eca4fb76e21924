/* statement.c — the grammar of statements. */
#include "parser.h"

static struct stmt *read_statement(struct parser *);

static struct stmt *new_stmt(struct parser *p, enum stmt_kind kind, const struct token *begin)
{
    struct stmt *stmt = ARENA_NEW(p->arena, struct stmt);
    stmt->kind = kind;
    stmt->at = begin->at;
    return stmt;
}

/* ---- expressions as statements --------------------------------------------------------------- */

static bool has_effect(const struct expr *e)
{
    switch (e->kind) {
    case EXPR_ASSIGN:
    case EXPR_UPDATE:
    case EXPR_CALL:
    case EXPR_BUILTIN:
    case EXPR_COMMA: return true;
    case EXPR_PTX: return e->ptx->effect != PTX_NONE;
    case EXPR_AND_THEN:
    case EXPR_OR_ELSE: return has_effect(e->right);
    case EXPR_CONDITIONAL: return has_effect(e->left) || has_effect(e->right);
    case EXPR_CONVERT: return has_effect(e->left);
    default: return false;
    }
}

static struct expr *read_effect(struct parser *p)
{
    struct expr *e = value_of(p, read_expression(p));
    if (is_unknown(e) || has_effect(e) || p->stumbled_at != NULL) return e;
    bool compares = e->kind == EXPR_BINARY && e->op == OP_EQUAL;
    remark(p, e->at, compares ? "= assigns, == compares" : NULL,
           "the value of this is computed, and not used");
    return e;
}

static struct stmt *read_expression_statement(struct parser *p)
{
    struct stmt *stmt = new_stmt(p, STMT_EXPR, p->token);
    stmt->value = read_effect(p);
    needs(p, ";");
    return stmt;
}

/* ---- conditions ------------------------------------------------------------------------------ */

/* `(a == b)`; `(a = b)` gets a warning, and `((a = b))` says that it is meant so. */
static struct expr *read_condition(struct parser *p)
{
    needs(p, "(");
    if (begins_type(p)) refuse(p, p->token, "a declaration in a condition");
    bool meant = sees(p, "(");
    struct expr *e = read_expression(p);
    if (e->kind == EXPR_ASSIGN && !meant)
        remark(p, e->at, "== compares", "this = assigns, and does not compare");
    e = condition(p, e);
    needs(p, ")");
    return e;
}

static void remark_on_empty(struct parser *p, const char *word)
{
    if (sees(p, ";") && !p->token->begins_line)
        remark(p, p->token->at, "leave out this ;", "after this ; the %s has no statement", word);
}

static struct stmt *read_if(struct parser *p)
{
    struct stmt *stmt = new_stmt(p, STMT_IF, p->token);
    go_past(p);
    if (sees(p, "constexpr")) refuse(p, p->token, "if constexpr");
    stmt->value = read_condition(p);
    remark_on_empty(p, "if");
    stmt->body = read_statement(p);
    if (takes(p, "else")) stmt->otherwise = read_statement(p);
    return stmt;
}

/* ---- loops ----------------------------------------------------------------------------------- */

static struct stmt *read_loop_body(struct parser *p, const char *word)
{
    remark_on_empty(p, word);
    p->loops++;
    struct stmt *outer = p->in_switch, *body;
    p->in_switch = NULL;
    body = read_statement(p);
    p->in_switch = outer;
    p->loops--;
    return body;
}

static struct stmt *read_while(struct parser *p)
{
    struct stmt *stmt = new_stmt(p, STMT_FOR, p->token);
    go_past(p);
    stmt->value = read_condition(p);
    stmt->body = read_loop_body(p, "while");
    return stmt;
}

static struct stmt *read_do(struct parser *p)
{
    struct stmt *stmt = new_stmt(p, STMT_DO, p->token);
    go_past(p);
    stmt->body = read_loop_body(p, "do");
    needs(p, "while");
    stmt->value = read_condition(p);
    needs(p, ";");
    return stmt;
}

/* What stands before the first semicolon of a for. */
static struct stmt *read_first(struct parser *p)
{
    if (takes(p, ";")) return NULL;
    if (!begins_type(p)) return read_expression_statement(p);
    struct stmt *first = new_stmt(p, STMT_BLOCK, p->token);
    const struct specifiers s = read_specifiers(p);
    struct declarator d = read_declarator(p, &s);
    if (sees(p, ":")) refuse(p, p->token, "a for over a range");
    first->body = read_variables(p, &s, d);
    return first;
}

static struct stmt *read_for(struct parser *p)
{
    struct stmt *stmt = new_stmt(p, STMT_FOR, p->token);
    go_past(p);
    begin_scope(p);
    needs(p, "(");
    stmt->first = read_first(p);
    if (!sees(p, ";")) stmt->value = condition(p, read_expression(p));
    needs(p, ";");
    if (!sees(p, ")")) stmt->step = read_effect(p);
    needs(p, ")");
    p->scope->body = p->token;
    stmt->body = read_loop_body(p, "for");
    end_scope(p);
    return stmt;
}

/* #pragma unroll, before a loop. */
static struct stmt *read_pragma(struct parser *p)
{
    int unroll = sees(p, "nounroll") ? UNROLL_NOT : UNROLL_FULLY;
    struct token *pragma = p->token;
    if (pragma->length == 8) unroll = UNROLL_NOT; /* "nounroll" */
    go_past(p);
    if (p->token->kind != TOKEN_PRAGMA) {
        int64_t times = read_constant(p, "how often to unroll");
        if (times < 1 || times > 1024)
            complain(p, pragma->at, NULL, "a loop is unrolled 1 to 1024 times");
        unroll = (int)times;
    }
    if (p->token->kind == TOKEN_PRAGMA) go_past(p);
    struct stmt *loop = read_statement(p);
    if (loop->kind == STMT_FOR || loop->kind == STMT_DO)
        loop->unroll = unroll;
    else
        complain(p, pragma->at, NULL, "#pragma unroll stands before a loop");
    return loop;
}

/* ---- switch ---------------------------------------------------------------------------------- */

static struct stmt *read_switch(struct parser *p)
{
    struct stmt *stmt = new_stmt(p, STMT_SWITCH, p->token), *outer = p->in_switch;
    go_past(p);
    needs(p, "(");
    stmt->value = promote(p, value_of(p, read_expression(p)));
    needs(p, ")");
    if (!is_unknown(stmt->value) && !type_is_integer(stmt->value->type))
        complain(p, stmt->value->at, NULL, "a switch chooses by an integer");
    if (!sees(p, "{")) {
        stumble(p, p->token->at, NULL, "a switch needs { and its cases");
        return stmt;
    }
    int outer_depth = p->switch_depth;
    p->in_switch = stmt;
    p->switch_depth = p->depth;
    stmt->body = read_block(p);
    p->in_switch = outer;
    p->switch_depth = outer_depth;
    return stmt;
}

/* Is the value the same number as one of the type by which the switch chooses? */
static void check_range(struct parser *p, const struct expr *e, const struct type *type)
{
    bool may_differ = type_is_signed(type) != type_is_signed(e->type) && e->integer < 0;
    bool is_long = type_size(type) == 8 && type_size(e->type) == 8;
    if (type_wrap(type, e->integer) == e->integer &&
        !(may_differ && (is_long || !type_is_signed(type))))
        return;
    complain(p, e->at, NULL, "this value does not fit into `%s`, by which the switch chooses",
             type_text(p->arena, type));
}

static void check_label(struct parser *p, const struct stmt *label)
{
    if (p->in_switch == NULL || p->depth != p->switch_depth + 1) {
        complain(p, label->at, NULL, "a label stands directly between { and } of its switch");
        return;
    }
    for (struct stmt *other = p->in_switch->first; other != NULL; other = other->first)
        if (other->kind == label->kind && other->integer == label->integer)
            complain(p, label->at, NULL, "this label stands in the switch a second time");
}

/* The labels of a switch are linked by `first` while it is read. */
static struct stmt *read_label(struct parser *p)
{
    struct stmt *label = new_stmt(p, sees(p, "case") ? STMT_CASE : STMT_DEFAULT, p->token);
    go_past(p);
    if (label->kind == STMT_CASE) {
        const struct expr *e = read_constant_node(p, "the value after case");
        const struct expr *value = p->in_switch == NULL ? NULL : p->in_switch->value;
        if (e != NULL && value != NULL && type_is_integer(value->type))
            check_range(p, e, value->type);
        label->integer = e == NULL ? 0 : e->integer;
    }
    if (sees(p, "...")) refuse(p, p->token, "case with ...");
    needs(p, ":");
    check_label(p, label);
    if (p->in_switch != NULL) {
        const struct expr *value = p->in_switch->value;
        if (type_is_integer(value->type)) label->integer = type_wrap(value->type, label->integer);
        label->first = p->in_switch->first;
        p->in_switch->first = label;
    }
    return label;
}

/* ---- leaving --------------------------------------------------------------------------------- */

static struct stmt *read_return(struct parser *p)
{
    struct stmt *stmt = new_stmt(p, STMT_RETURN, p->token);
    const struct type *result = p->function->result;
    go_past(p);
    if (!sees(p, ";")) stmt->value = read_expression(p);
    if (stmt->value == NULL && result->kind != TYPE_VOID)
        complain(p, stmt->at, NULL, "`%s` returns a `%s`, which is missing here", p->function->name,
                 type_text(p->arena, result));
    else if (stmt->value != NULL && result->kind == TYPE_VOID) {
        if (!is_unknown(stmt->value))
            complain(p, stmt->value->at, NULL,
                     p->function->is_kernel ? "a kernel returns nothing: it stores its results"
                                            : "a void function returns nothing");
    } else if (stmt->value != NULL) {
        stmt->value = fit(p, stmt->value, result, "what is returned");
    }
    needs(p, ";");
    return stmt;
}

static struct stmt *read_leaving(struct parser *p)
{
    bool breaks = sees(p, "break");
    struct stmt *stmt = new_stmt(p, breaks ? STMT_BREAK : STMT_CONTINUE, p->token);
    if (p->loops == 0 && !(breaks && p->in_switch != NULL))
        complain(p, stmt->at, NULL, "%s stands outside of a loop", text_of(p, p->token));
    go_past(p);
    needs(p, ";");
    return stmt;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static bool ends_block(struct parser *p)
{
    if (p->token->kind == TOKEN_END || sees(p, "}") || p->leaves_function) return true;
    if (!is_outside(p->token)) return false;
    complain(p, p->token->at, NULL,
             "a } is missing before this: the function `%s` of line %d has no end",
             p->function->name, p->function->at.line);
    return p->leaves_function = true;
}

/* A statement, or a declaration, which may be several statements. */
static struct stmt *read_item(struct parser *p)
{
    if (sees(p, "static_assert")) return read_static_assert(p), NULL;
    if (sees(p, "typedef") || sees(p, "using")) {
        refuse(p, p->token, "a typedef in a function");
        return NULL;
    }
    bool label = p->token->kind == TOKEN_NAME && next_is(p, ":") && !sees(p, "default");
    if (label) refuse(p, p->token, "a label for goto");
    bool word = sees(p, "return") || sees(p, "if") || sees(p, "else") || sees(p, "case") ||
                sees(p, "goto") || sees(p, "do") || sees(p, "sizeof") || sees(p, "asm");
    if (word || !begins_type(p)) return read_statement(p);
    struct token *begin = p->token;
    const struct specifiers s = read_specifiers(p);
    if (sees(p, ";") && s.type->kind == TYPE_ENUM) return go_past(p), NULL;
    struct declarator d = read_declarator(p, &s);
    struct stmt *list = read_variables(p, &s, d);
    if (p->stumbled_at != NULL) add_refused(p, declared_name(begin));
    return list;
}

static void read_items(struct parser *p, struct stmt **last)
{
    while (!ends_block(p)) {
        const struct token *begin = p->token;
        *last = read_item(p);
        get_up(p);
        while (*last != NULL) last = &(*last)->next;
        if (p->token == begin) go_past(p);
    }
}

struct stmt *read_block(struct parser *p)
{
    struct stmt *block = new_stmt(p, STMT_BLOCK, p->token);
    needs(p, "{");
    bool outermost = p->depth == 0; /* in the scope of the parameters */
    bool is_body = p->scope->body != NULL && p->scope->body == p->previous;
    if (!outermost) begin_scope(p);
    p->scope->is_body |= is_body;
    read_items(p, &block->body);
    if (!outermost) end_scope(p);
    block->end = p->token->at;
    if (!p->leaves_function && !takes(p, "}")) {
        complain(p, p->function->at, "each { needs its }",
                 "a } is missing: the function `%s` has no end", p->function->name);
        p->leaves_function = true;
    }
    return block;
}

/* ---- statements ------------------------------------------------------------------------------ */

static struct stmt *read_keyword(struct parser *p)
{
    static const struct {
        const char *word;
        struct stmt *(*read)(struct parser *);
    } STATEMENTS[] = {{"{", read_block},       {"if", read_if},           {"for", read_for},
                      {"while", read_while},   {"do", read_do},           {"switch", read_switch},
                      {"case", read_label},    {"default", read_label},   {"return", read_return},
                      {"break", read_leaving}, {"continue", read_leaving}, {"asm", read_assembly}};
    if (p->token->kind == TOKEN_PRAGMA) return read_pragma(p);
    for (size_t i = 0; i < sizeof(STATEMENTS) / sizeof(STATEMENTS[0]); i++)
        if (sees(p, STATEMENTS[i].word)) return STATEMENTS[i].read(p);
    return NULL;
}

static struct stmt *read_statement_inside(struct parser *p)
{
    if (sees(p, "else"))
        stumble(p, p->token->at, "if there are two statements before it, write { and } around them",
                "this else has no if before it");
    if (p->token->kind == TOKEN_NAME && !sees(p, "default") && next_is(p, ":"))
        refuse(p, p->token, "a label for goto");
    if (sees(p, "goto")) refuse(p, p->token, "goto");
    struct token *begin = p->token;
    if (takes(p, ";")) return new_stmt(p, STMT_BLOCK, begin);
    struct stmt *stmt = read_keyword(p);
    return stmt != NULL ? stmt : read_expression_statement(p);
}

static struct stmt *read_statement(struct parser *p)
{
    if (!enter(p)) return new_stmt(p, STMT_EXPR, p->token);
    struct stmt *stmt = read_statement_inside(p);
    leave(p);
    return stmt;
}
