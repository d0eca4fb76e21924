/* ptx_names.c — registers and labels, and the scopes in which their names hold. */
#include "ptx_parser.h"
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

static unsigned hash(const char *name, size_t length)
{
    unsigned h = 5381;
    for (size_t i = 0; i < length; i++) h = h * 33 + (unsigned char)name[i];
    return h % REGISTER_BUCKETS;
}

/* Finds the declaration that covers a register's name, in this scope or one around it. */
static const struct declaration *find_declaration(struct parser *p, const char *name, size_t length)
{
    size_t digits = 0;
    while (digits < length && digits < 9 && name[length - digits - 1] >= '0' &&
           name[length - digits - 1] <= '9')
        digits++;
    for (unsigned scope = p->scope;; scope = parent(p, scope)) {
        const struct declaration *d = p->declarations.items;
        for (size_t i = p->declarations.count; i-- > 0;) {
            if (d[i].scope != scope) continue;
            if (!d[i].count && same(d[i].name, d[i].length, name, length)) return &d[i];
            if (d[i].count && d[i].length < length && length - d[i].length <= digits &&
                !memcmp(d[i].name, name, d[i].length)) {
                uint64_t index = 0;
                for (size_t k = d[i].length; k < length; k++)
                    index = index * 10 + (uint64_t)(name[k] - '0');
                if (index < d[i].count) return &d[i];
            }
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

/* As in ptxas, a register may not be in a range before it, but a range may cover registers. */
static void refuse_second_declaration(struct parser *p)
{
    struct lexer ahead = p->lexer;
    struct token name = p->token, next = lexer_next(&ahead);
    bool is_range = token_is(&next, "<");
    const struct declaration *d = p->declarations.items;
    bool found = false;
    for (size_t i = 0; i < p->declarations.count && !found; i++)
        found = d[i].scope == p->scope && is_range == (d[i].count > 0) &&
                same(d[i].name, d[i].length, name.start, name.length);
    if (!found && !is_range) {
        const struct declaration *of = find_declaration(p, name.start, name.length);
        found = of && of->scope == p->scope;
    }
    if (found)
        parse_fail(p, name.line, EMU_INVALID_PTX, "register '%.*s' is declared a second time",
                   (int)name.length, name.start);
}

void parse_register_declaration(struct parser *p)
{
    enum ptx_type type = type_of_directive(&p->token);
    if (type == PTX_NONE || !ptx_type_has_registers(type)) fail_expected(p, "a register's type");
    advance(p);
    do {
        if (p->token.kind != TOKEN_WORD) fail_expected(p, "a register's name");
        refuse_second_declaration(p);
        struct declaration *declaration = list_add(p, &p->declarations);
        *declaration = (struct declaration){
            .name = p->token.start, .length = p->token.length, .scope = p->scope, .type = type};
        advance(p);
        if (accept(p, "<")) {
            uint64_t count = expect_integer(p);
            if (!count || count > MAX_REGISTERS)
                parse_fail(p, p->token.line, EMU_INVALID_PTX,
                           "%llu registers in one declaration; at most %d",
                           (unsigned long long)count, MAX_REGISTERS);
            declaration->count = (unsigned)count;
            expect(p, ">");
        }
    } while (accept(p, ","));
    expect(p, ";");
}

void define_label(struct parser *p, const char *name, size_t length)
{
    const struct label *labels = p->labels.items;
    for (size_t i = 0; i < p->labels.count; i++)
        if (labels[i].scope == p->scope && same(labels[i].name, labels[i].length, name, length))
            parse_fail(p, p->token.line, EMU_INVALID_PTX,
                       "label '%.*s' is defined a second time (first on line %u)", (int)length,
                       name, labels[i].line);
    struct label *label = list_add(p, &p->labels);
    *label = (struct label){name, length, p->scope, (unsigned)p->instructions.count, p->token.line};
}

void resolve_labels(struct parser *p)
{
    const struct label *labels = p->labels.items;
    const struct reference *references = p->references.items;
    for (size_t r = 0; r < p->references.count; r++) {
        bool found = false;
        for (unsigned scope = references[r].scope; !found; scope = parent(p, scope)) {
            for (size_t i = 0; i < p->labels.count && !found; i++)
                if (labels[i].scope == scope && same(labels[i].name, labels[i].length,
                                                     references[r].name, references[r].length)) {
                    references[r].operand->kind = PTX_LABEL;
                    references[r].operand->index = labels[i].position;
                    found = true;
                }
            if (!scope) break;
        }
    }
}
