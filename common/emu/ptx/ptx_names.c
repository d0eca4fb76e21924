/* ptx_names.c — registers and labels, and the scopes in which their names hold. */
#include "parser.h"
#include <string.h>

static unsigned parent(struct parser *p, unsigned scope)
{
    return ((unsigned *)p->scopes.items)[scope];
}

void open_scope(struct parser *p)
{
    if (p->scopes.count > 1 << 20)
        parse_fail(p, p->token.line, EMU_INVALID_PTX, "too many { } scopes");
    unsigned *outer = list_add(p, &p->scopes);
    *outer = p->scope;
    p->scope = (unsigned)p->scopes.count - 1;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static unsigned hash(const char *name, size_t length)
{
    unsigned h = 5381;
    for (size_t i = 0; i < length; i++) h = h * 33 + (unsigned char)name[i];
    return h % REGISTER_BUCKETS;
}

/* The index of a name in a range of registers, such as 12 of %r12 in %r<20>; UINT64_MAX: it is not
 * in one of this name. As in ptxas, a range whose own name ends with a digit has no registers. */
static uint64_t index_in(const char *range, size_t range_length, const char *name, size_t length)
{
    enum { MOST_DIGITS = 9 };
    uint64_t index = 0;
    if (length <= range_length || length - range_length > MOST_DIGITS ||
        memcmp(name, range, range_length) || is_digit(range[range_length - 1]))
        return UINT64_MAX;
    for (size_t k = range_length; k < length; k++) {
        if (!is_digit(name[k])) return UINT64_MAX;
        index = index * 10 + (uint64_t)(name[k] - '0');
    }
    return index;
}

/* Finds the declaration that covers a register's name, in this scope or one around it. */
static const struct declaration *find_declaration(struct parser *p, const char *name, size_t length)
{
    for (unsigned scope = p->scope;; scope = parent(p, scope)) {
        const struct declaration *d = p->declarations.items;
        for (size_t i = p->declarations.count; i-- > 0;) {
            if (d[i].scope != scope) continue;
            if (d[i].count ? index_in(d[i].name, d[i].length, name, length) < d[i].count
                           : same(d[i].name, d[i].length, name, length))
                return &d[i];
        }
        if (!scope) return NULL;
    }
}

int find_register(struct parser *p, const char *name, size_t length)
{
    /* Most functions have one scope, so first search the registers that were used there. */
    const struct used_register *used = p->used.items;
    unsigned bucket = hash(name, length);
    if (p->scopes.count == 1)
        for (int i = p->buckets[bucket]; i >= 0; i = used[i].next)
            if (same(used[i].name, used[i].length, name, length)) return (int)used[i].index;

    const struct declaration *declaration = find_declaration(p, name, length);
    if (!declaration) return -1;
    for (int i = p->buckets[bucket]; i >= 0; i = used[i].next)
        if (used[i].scope == declaration->scope && same(used[i].name, used[i].length, name, length))
            return (int)used[i].index;

    enum ptx_type type = declaration->type;
    unsigned scope = declaration->scope;
    struct ptx_register *reg = list_add(p, &p->registers);
    reg->name = copy_text(p, name, length);
    reg->type = type;
    struct used_register *entry = list_add(p, &p->used);
    *entry = (struct used_register){name, length, scope, (unsigned)p->registers.count - 1,
                                    p->buckets[bucket]};
    p->buckets[bucket] = (int)p->used.count - 1;
    return (int)entry->index;
}

/* ---- each name once in a scope --------------------------------------------------------------- */

static const struct label *find_name(const struct list *list, unsigned scope, const char *name,
                                     size_t length)
{
    const struct label *names = list->items;
    for (size_t i = 0; i < list->count; i++)
        if (names[i].scope == scope && same(names[i].name, names[i].length, name, length))
            return &names[i];
    return NULL;
}

/* Adds a name to the labels, or to the other names, of this scope. */
static void add_name(struct parser *p, struct list *list, const char *what, struct label added)
{
    const struct label *first = find_name(&p->labels, p->scope, added.name, added.length);
    if (!first) first = find_name(&p->names, p->scope, added.name, added.length);
    if (first)
        parse_fail(p, added.line, EMU_INVALID_PTX,
                   "%s '%.*s' is declared a second time (first on line %u)", what,
                   (int)added.length, added.name, first->line);
    *(struct label *)list_add(p, list) = added;
}

static _Noreturn void refuse_second(struct parser *p, const char *what, const char *name,
                                    size_t length, unsigned line)
{
    parse_fail(p, line, EMU_INVALID_PTX, "%s '%.*s' is declared a second time", what, (int)length,
               name);
}

void declare_name(struct parser *p, const char *what, const char *name, size_t length,
                  unsigned line)
{
    const struct declaration *range = find_declaration(p, name, length);
    if (range && range->count && range->scope == p->scope)
        refuse_second(p, what, name, length, line);
    add_name(p, &p->names, what, (struct label){name, length, p->scope, 0, line});
}

/* A range may not have a name that has been declared. As in ptxas, its first register, and one with
 * a 0 before its number, may. */
static void check_range(struct parser *p, const struct token *range, uint64_t count)
{
    const struct declaration *d = p->declarations.items;
    const struct label *names = p->names.items;
    for (size_t i = 0; i < p->declarations.count; i++)
        if (d[i].scope == p->scope && d[i].count &&
            same(d[i].name, d[i].length, range->start, range->length))
            refuse_second(p, "register", range->start, range->length, range->line);
    for (size_t i = 0; i < p->names.count; i++)
        if (names[i].scope == p->scope && names[i].length > range->length &&
            names[i].name[range->length] != '0' &&
            index_in(range->start, range->length, names[i].name, names[i].length) < count)
            refuse_second(p, "register", names[i].name, names[i].length, range->line);
}

static void parse_register(struct parser *p, enum ptx_type type)
{
    struct token name = p->token;
    uint64_t count = 0;
    if (name.kind != TOKEN_WORD) fail_expected(p, "a register's name");
    advance(p);
    if (accept(p, "<")) {
        count = expect_integer(p);
        if (!count || count > MAX_REGISTERS)
            parse_fail(p, p->token.line, EMU_INVALID_PTX,
                       "%llu registers in one declaration; at most %d", (unsigned long long)count,
                       MAX_REGISTERS);
        expect(p, ">");
        check_range(p, &name, count);
    } else {
        declare_name(p, "register", name.start, name.length, name.line);
    }
    *(struct declaration *)list_add(p, &p->declarations) =
        (struct declaration){name.start, name.length, (unsigned)count, p->scope, type};
}

void parse_register_declaration(struct parser *p)
{
    enum ptx_type type = type_of_directive(&p->token);
    if (type == PTX_NONE || !ptx_type_has_registers(type)) fail_expected(p, "a register's type");
    advance(p);
    do parse_register(p, type);
    while (accept(p, ","));
    expect(p, ";");
}

void define_label(struct parser *p, const char *name, size_t length)
{
    unsigned position = (unsigned)p->instructions.count;
    struct label label = {name, length, p->scope, position, p->token.line};
    add_name(p, &p->labels, "label", label);
}

void resolve_labels(struct parser *p)
{
    const struct reference *references = p->references.items;
    for (size_t r = 0; r < p->references.count; r++) {
        const struct reference *of = &references[r];
        for (unsigned scope = of->scope;; scope = parent(p, scope)) {
            const struct label *label = find_name(&p->labels, scope, of->name, of->length);
            if (label) {
                of->operand->kind = PTX_LABEL;
                of->operand->index = label->position;
            }
            if (label || !scope) break;
        }
    }
}
