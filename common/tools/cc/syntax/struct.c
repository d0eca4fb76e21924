/*
 * struct.c — structs, and the vector types that CUDA has built in: float4 is one of x, y, z, w.
 */
#include "parser.h"
#include <string.h>

/* ---- float4 and the like --------------------------------------------------------------------- */

/* "CUDA C++ Programming Guide", section on built-in vector types: two and four elements are aligned
 * to their size, up to 16 bytes, so that one access moves them. */
static const struct type *vector_type(struct parser *p, const char *name,
                                      const struct type *element, int count)
{
    static const char *const NAMES[] = {"x", "y", "z", "w"};
    struct member *members = arena_take(p->arena, (size_t)count * sizeof(*members));
    int64_t size = type_size(element), align = count % 2 == 0 ? count * size : size;
    for (int i = 0; i < count; i++) members[i] = (struct member){NAMES[i], element, i * size};
    struct type *type = ARENA_NEW(p->arena, struct type);
    *type = (struct type){.kind = TYPE_STRUCT,
                          .length = count * size,
                          .align = align < 16 ? align : 16,
                          .name = name,
                          .members = members,
                          .member_count = count};
    return type;
}

void declare_vectors(struct parser *p)
{
    static const struct {
        const char *name;
        enum type_kind kind;
    } ELEMENTS[] = {{"char", TYPE_SIGNED_CHAR},
                    {"uchar", TYPE_UNSIGNED_CHAR}, {"short", TYPE_SHORT},
                    {"ushort", TYPE_UNSIGNED_SHORT}, {"int", TYPE_INT}, {"uint", TYPE_UNSIGNED},
                    {"long", TYPE_LONG}, {"ulong", TYPE_UNSIGNED_LONG},
                    {"longlong", TYPE_LONG_LONG}, {"ulonglong", TYPE_UNSIGNED_LONG_LONG},
                    {"float", TYPE_FLOAT},
                    {"double", TYPE_DOUBLE}};
    for (size_t i = 0; i < sizeof(ELEMENTS) / sizeof(ELEMENTS[0]); i++)
        for (int count = 1; count <= 4; count++) {
            const char *text = cc_format(p->arena, "%s%d", ELEMENTS[i].name, count);
            const struct token name = {
                .kind = TOKEN_NAME, .text = text, .length = (int)strlen(text)};
            add_name(p, NAME_TYPE, &name)->type =
                vector_type(p, text, type_basic(ELEMENTS[i].kind), count);
        }
}

struct expr *read_make(struct parser *p, struct token *name)
{
    static const char MAKE[] = "make_";
    struct token type_name = *name;
    if (name->length <= 5 || strncmp(name->text, MAKE, 5) != 0) return NULL;
    type_name.text += 5;
    type_name.length -= 5;
    const struct name *found = find_name(p, &type_name);
    if (found == NULL || found->kind != NAME_TYPE || found->type->kind != TYPE_STRUCT) return NULL;
    struct expr *e = new_expr(p, EXPR_STRUCT, found->type, name->at);
    read_arguments(p, e);
    if (p->stumbled_at != NULL) return unknown(p, name->at);
    if (e->argument_count != found->type->member_count) {
        wrong_count(p, e, text_of(p, name), found->type->member_count);
        return unknown(p, name->at);
    }
    for (int i = 0; i < e->argument_count; i++) {
        e->arguments[i] = fit(p, e->arguments[i], found->type->members[i].type, "this argument");
        if (is_unknown(e->arguments[i])) return e->arguments[i];
    }
    return e;
}

/* ---- structs of one's own -------------------------------------------------------------------- */

/* Members of one declaration: float x, *y; False: there is something that the subset has not. */
static bool read_members(struct parser *p, struct type *type)
{
    const struct specifiers s = read_specifiers(p);
    do {
        const struct declarator d = read_declarator(p, &s);
        bool simple = type_is_arithmetic(d.type) || type_is_pointer(d.type);
        if (d.name == NULL || !simple || type->member_count == MOST_MEMBERS) return false;
        int64_t size = type_size(d.type);
        struct member member = {text_of(p, d.name), d.type,
                                (type->length + size - 1) / size * size};
        struct member *members = (struct member *)(uintptr_t)type->members;
        members[type->member_count++] = member;
        type->length = member.offset + size;
        if (size > type->align) type->align = size;
    } while (takes(p, ","));
    return takes(p, ";");
}

const struct type *read_struct(struct parser *p)
{
    struct token *begin = p->token;
    struct type *type = ARENA_NEW(p->arena, struct type);
    *type = (struct type){.kind = TYPE_STRUCT, .name = ""};
    type->members = arena_take(p->arena, MOST_MEMBERS * sizeof(*type->members));
    try_quietly(p);
    needs(p, "struct");
    if (p->token->kind == TOKEN_NAME) type->name = text_of(p, p->token), go_past(p);
    bool simple = takes(p, "{");
    while (simple && !sees(p, "}") && p->stumbled_at == NULL) simple = read_members(p, type);
    simple = simple && takes(p, "}") && type->member_count > 0;
    if (!was_right(p, begin) || !simple) {
        p->token = begin;
        return NULL;
    }
    type->length = (type->length + type->align - 1) / type->align * type->align;
    return type;
}

/* ---- members --------------------------------------------------------------------------------- */

struct expr *read_member(struct parser *p, struct expr *e)
{
    bool follows = sees(p, "->");
    struct position position = p->token->at;
    go_past(p);
    struct token *name = p->token;
    if (name->kind != TOKEN_NAME) {
        stumble(p, name->at, NULL, "the name of a member is missing before `%s`", text_of(p, name));
        return unknown(p, name->at);
    }
    go_past(p);
    if (follows) e = value_of(p, e);
    const struct type *type = follows && type_is_pointer(e->type) ? e->type->base : e->type;
    bool is_right = type->kind == TYPE_STRUCT && follows == (type != e->type);
    if (!is_right) {
        bool other = type_is_pointer(e->type) && e->type->base->kind == TYPE_STRUCT;
        complain(p, position, other ? "write -> after a pointer" : NULL, "`%s` has no member `%s`",
                 type_text(p->arena, e->type), text_of(p, name));
        return unknown(p, position);
    }
    if (follows) e = dereference(p, e, position);
    for (int i = 0; i < type->member_count; i++) {
        if (!is_token(name, type->members[i].name)) continue;
        const struct type *of = type->members[i].type;
        if (type->is_const) of = type_with_const(p->arena, of);
        if (type->is_volatile) of = type_with_volatile(p->arena, of);
        struct expr *member = new_expr(p, EXPR_MEMBER, of, position);
        member->left = e;
        member->member = i;
        return member;
    }
    complain(p, name->at, NULL, "`%s` has no member `%s`", type_text(p->arena, type),
             text_of(p, name));
    return unknown(p, position);
}
