/* dwarf.c — reads what nvcc -G writes into PTX of variables, types and scopes: DWARF 2. */
#include "debug.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- sections -------------------------------------------------------------------------------- */

struct bytes {
    uint8_t *at;
    size_t size, capacity;
};

/* A name that stands for an address of 8 bytes (or a section's offset of 4). */
struct dwarf_name {
    size_t offset;
    const char *name;
};

struct dwarf {
    const char *text;
    struct bytes info, abbreviations, lists;
    struct references {
        struct dwarf_name *at;
        size_t count;
    } in_info, in_lists;
};

static void put(struct bytes *b, uint64_t value, unsigned count)
{
    while (count--) {
        if (b->size == b->capacity) {
            b->capacity = b->capacity ? 2 * b->capacity : 4096;
            b->at = allocated(realloc(b->at, b->capacity));
        }
        b->at[b->size++] = (uint8_t)value;
        value >>= 8;
    }
}

static bool is_name(int c) { return isalnum(c) || c == '_' || c == '$' || c == '.' || c == '%'; }

static char *name_at(const char **at)
{
    const char *begin = *at;
    while (is_name((unsigned char)**at)) ++*at;
    char *name = allocated(calloc((size_t)(*at - begin) + 1, 1));
    memcpy(name, begin, (size_t)(*at - begin));
    return name;
}

/* Appends a section's bytes: ".b8 1,2", ".b64 label". */
static void read_section(const char *at, struct bytes *to, struct references *names)
{
    unsigned unit = 1;
    while (*at && *at != '}') {
        if (!strncmp(at, ".b", 2) && isdigit((unsigned char)at[2])) {
            unit = (unsigned)strtoul(at + 2, (char **)&at, 10) / 8;
        } else if (isdigit((unsigned char)*at) || *at == '-') {
            put(to, (uint64_t)strtoll(at, (char **)&at, 0), unit);
        } else if (is_name((unsigned char)*at)) {
            if (names) {
                names->at = allocated(realloc(names->at, (names->count + 1) * sizeof *names->at));
                names->at[names->count++] = (struct dwarf_name){to->size, name_at(&at)};
            } else {
                free(name_at(&at));
            }
            put(to, *at == '+' ? strtoull(at + 1, (char **)&at, 10) : 0, unit);
        } else {
            at++;
        }
    }
}

static void read_sections(struct dwarf *d)
{
    static const char key[] = ".section";
    for (const char *at = d->text; (at = strstr(at, key));) {
        at += sizeof key - 1;
        while (*at == ' ' || *at == '\t') at++;
        char *name = name_at(&at);
        const char *brace = strchr(at, '{');
        if (!brace) break;
        if (!strcmp(name, ".debug_info")) read_section(brace + 1, &d->info, &d->in_info);
        if (!strcmp(name, ".debug_abbrev")) read_section(brace + 1, &d->abbreviations, NULL);
        if (!strcmp(name, ".debug_loc")) read_section(brace + 1, &d->lists, &d->in_lists);
        free(name);
        at = brace;
    }
}

const struct dwarf *dwarf_of(const struct ptx_text *text, unsigned unit)
{
    static struct dwarf **all;
    static size_t count;
    const char *source = text->units[unit].text;
    for (size_t i = 0; i < count; i++)
        if (all[i]->text == source) return all[i]->info.size ? all[i] : NULL;
    struct dwarf *d = allocated(calloc(1, sizeof *d));
    d->text = source;
    read_sections(d);
    all = allocated(realloc(all, (count + 1) * sizeof(struct dwarf *)));
    all[count++] = d;
    return d->info.size ? d : NULL;
}

static const char *reference_at(const struct references *names, size_t offset)
{
    size_t low = 0, high = names->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (names->at[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < names->count && names->at[low].offset == offset ? names->at[low].name : NULL;
}

static uint64_t number_at(const struct bytes *b, size_t *at, unsigned count)
{
    uint64_t value = 0;
    for (unsigned k = 0; k < count && *at < b->size; k++)
        value |= (uint64_t)b->at[(*at)++] << 8 * k;
    return value;
}

static uint64_t leb_at(const struct bytes *b, size_t *at, bool is_signed)
{
    uint64_t value = 0, byte = 0;
    unsigned shift = 0;
    while (*at < b->size) {
        byte = b->at[(*at)++];
        if (shift < 64) value |= (byte & 127) << shift;
        shift += 7;
        if (byte < 128) break;
    }
    if (is_signed && shift < 64 && byte & 64) value |= UINT64_MAX << shift;
    return value;
}

/* ---- entries --------------------------------------------------------------------------------- */

/* DWARF 2, section 7.5: the tags, attributes and forms that nvcc uses. */
enum tag {
    TAG_ARRAY = 0x01,
    TAG_CLASS = 0x02,
    TAG_ENUMERATION = 0x04,
    TAG_PARAMETER = 0x05,
    TAG_BLOCK = 0x0b,
    TAG_MEMBER = 0x0d,
    TAG_POINTER = 0x0f,
    TAG_REFERENCE = 0x10,
    TAG_STRUCTURE = 0x13,
    TAG_TYPEDEF = 0x16,
    TAG_UNION = 0x17,
    TAG_INLINED = 0x1d,
    TAG_BASE = 0x24,
    TAG_CONST = 0x26,
    TAG_FUNCTION = 0x2e,
    TAG_VARIABLE = 0x34,
    TAG_VOLATILE = 0x35
};
enum attribute {
    AT_LOCATION = 0x02,
    AT_NAME = 0x03,
    AT_BYTES = 0x0b,
    AT_BITS = 0x0d,
    AT_LOW = 0x11,
    AT_HIGH = 0x12,
    AT_ORIGIN = 0x31,
    AT_COUNT = 0x37,
    AT_MEMBER = 0x38,
    AT_ENCODING = 0x3e,
    AT_TYPE = 0x49
};
enum dwarf_form {
    FORM_ADDRESS = 0x01,
    FORM_DATA2 = 0x05,
    FORM_DATA4 = 0x06,
    FORM_STRING = 0x08,
    FORM_BLOCK1 = 0x0a,
    FORM_DATA1 = 0x0b,
    FORM_FLAG = 0x0c,
    FORM_SDATA = 0x0d,
    FORM_UDATA = 0x0f,
    FORM_REF4 = 0x13
};
enum { OP_ADDRESS = 0x03, OP_PLUS = 0x23, OP_REGISTER = 0x90, SYMBOL_BYTES = 8 };
enum { HEADER = 11, REGISTER_FORM_BYTES = 1 }; /* a unit's header: length, version, offset, size */

struct die {
    uint32_t offset, next; /* of the entry behind it: its first child, or what follows */
    enum tag tag;
    bool has_children, is_list, is_bits;
    const char *name, *low, *high;
    uint32_t type, origin;
    uint64_t bytes, count, encoding, list;
    bool has_location;
    size_t location, location_end;
    uint64_t member;
};

/* A block's bytes, of which a member's offset or a variable's location is made. */
static void read_block(const struct dwarf *d, struct die *e, uint64_t attribute, size_t *at,
                       size_t length)
{
    size_t begin = *at, end = begin + length;
    if (attribute == AT_LOCATION) {
        e->has_location = true;
        e->location = begin;
        e->location_end = end;
    } else if (attribute == AT_MEMBER && length && d->info.at[begin] == OP_PLUS) {
        begin++;
        e->member = leb_at(&d->info, &begin, false);
    }
    *at = end;
}

static void read_attribute(const struct dwarf *d, struct die *e, uint64_t attribute, uint64_t form,
                           size_t *at)
{
    const struct bytes *b = &d->info;
    const char *symbol = reference_at(&d->in_info, *at), *text = NULL;
    uint64_t value = 0;
    switch ((enum dwarf_form)form) {
    case FORM_ADDRESS: value = number_at(b, at, 8); break;
    case FORM_DATA4:
    case FORM_REF4: value = number_at(b, at, 4); break;
    case FORM_DATA2: value = number_at(b, at, 2); break;
    case FORM_DATA1:
    case FORM_FLAG: value = number_at(b, at, 1); break;
    case FORM_SDATA: value = leb_at(b, at, true); break;
    case FORM_UDATA: value = leb_at(b, at, false); break;
    case FORM_STRING:
        text = (const char *)b->at + *at;
        while (*at < b->size && b->at[*at]) ++*at;
        ++*at;
        break;
    case FORM_BLOCK1: read_block(d, e, attribute, at, (size_t)number_at(b, at, 1)); return;
    }
    switch ((enum attribute)attribute) {
    case AT_NAME: e->name = text; break;
    case AT_LOW: e->low = symbol; break;
    case AT_HIGH: e->high = symbol; break;
    case AT_TYPE: e->type = (uint32_t)value; break;
    case AT_ORIGIN: e->origin = (uint32_t)value; break;
    case AT_BYTES: e->bytes = value; break;
    case AT_COUNT: e->count = value; break;
    case AT_ENCODING: e->encoding = value; break;
    case AT_BITS: e->is_bits = true; break;
    case AT_LOCATION: /* nvcc writes the offset after the section's name, or as a number */
        e->has_location = e->is_list = true;
        e->list = value;
        break;
    case AT_MEMBER: e->member = value; break;
    }
}

/* Reads the entry at an offset. False: it ends a list of children, or the section ends. */
static bool read_entry(const struct dwarf *d, uint32_t offset, struct die *e)
{
    size_t at = offset, in = 0;
    *e = (struct die){.offset = offset, .next = offset + 1};
    if (offset >= d->info.size) return false;
    uint64_t code = leb_at(&d->info, &at, false);
    if (!code) return false;
    for (;;) { /* the abbreviation with this code: its tag, then pairs up to (0, 0) */
        if (in >= d->abbreviations.size) return false;
        uint64_t own = leb_at(&d->abbreviations, &in, false);
        if (!own) return false;
        e->tag = (enum tag)leb_at(&d->abbreviations, &in, false);
        e->has_children = d->abbreviations.at[in++];
        for (;;) {
            uint64_t attribute = leb_at(&d->abbreviations, &in, false);
            uint64_t form = leb_at(&d->abbreviations, &in, false);
            if (!attribute && !form) break;
            if (own == code) read_attribute(d, e, attribute, form, &at);
        }
        if (own == code) break;
    }
    e->next = (uint32_t)at;
    return true;
}

/* The offset behind an entry and all that is inside it. */
static uint32_t behind(const struct dwarf *d, const struct die *e)
{
    struct die inner;
    uint32_t at = e->next;
    if (!e->has_children) return at;
    while (read_entry(d, at, &inner)) at = behind(d, &inner);
    return at + 1;
}

/* ---- types ----------------------------------------------------------------------------------- */

/* The type of an entry, with typedefs and qualifiers left out. */
static struct type type_at(const struct dwarf *, uint32_t die);

/* An array without its first `level` dimensions, which are the entry's children. */
static struct type array_at(const struct dwarf *d, const struct die *e, unsigned level)
{
    struct type type = {.kind = TYPE_ARRAY, .dwarf = d, .die = e->offset, .level = level};
    struct die range;
    unsigned number = 0;
    type.bytes = type_at(d, e->type).bytes;
    for (uint32_t at = e->next; e->has_children && read_entry(d, at, &range);
         at = behind(d, &range)) {
        if (number == level) type.count = (uint32_t)range.count;
        if (number++ >= level) type.bytes *= (unsigned)range.count;
    }
    return type;
}

struct type type_element(const struct type *type)
{
    struct die e, range;
    unsigned dimensions = 0;
    if (type->kind != TYPE_ARRAY || !read_entry(type->dwarf, type->die, &e))
        return type_at(type->dwarf, type->die);
    for (uint32_t at = e.next; e.has_children && read_entry(type->dwarf, at, &range);
         at = behind(type->dwarf, &range))
        dimensions++;
    return type->level + 1 < dimensions ? array_at(type->dwarf, &e, type->level + 1)
                                        : type_at(type->dwarf, e.type);
}

static struct type type_at(const struct dwarf *d, uint32_t offset)
{
    enum { ENCODED_BOOL = 2, ENCODED_FLOAT = 4, ENCODED_SIGNED = 5, SIGNED_CHAR = 6, CHAR = 8 };
    struct die e;
    struct type type = {.dwarf = d, .die = offset};
    if (!d || !offset || !read_entry(d, offset, &e)) return type;
    type.bytes = (unsigned)e.bytes;
    switch (e.tag) {
    case TAG_TYPEDEF:
    case TAG_CONST:
    case TAG_VOLATILE: return type_at(d, e.type);
    case TAG_BASE:
        type.kind = e.encoding == ENCODED_FLOAT                       ? TYPE_FLOAT
                    : e.encoding == ENCODED_BOOL                      ? TYPE_BOOL
                    : e.encoding == SIGNED_CHAR || e.encoding == CHAR ? TYPE_CHAR
                                                                      : TYPE_INT;
        type.is_signed = e.encoding == ENCODED_SIGNED || e.encoding == SIGNED_CHAR;
        return type;
    case TAG_ENUMERATION: type.kind = TYPE_INT; return type;
    case TAG_POINTER:
    case TAG_REFERENCE:
        type.kind = TYPE_POINTER;
        type.is_reference = e.tag == TAG_REFERENCE;
        type.bytes = 8;
        type.die = e.type;
        return type;
    case TAG_STRUCTURE:
    case TAG_CLASS:
    case TAG_UNION: type.kind = TYPE_STRUCT; return type;
    case TAG_ARRAY: return array_at(d, &e, 0);
    default: return type;
    }
}

void type_name(const struct type *type, char *text, size_t size)
{
    struct die e = {0};
    char inner[MESSAGE];
    if (type->kind == TYPE_POINTER || type->kind == TYPE_ARRAY) {
        const struct type of = type_element(type);
        type_name(&of, inner, sizeof inner);
        if (type->kind == TYPE_POINTER)
            snprintf(text, size, "%s *", of.kind == TYPE_NONE ? "void" : inner);
        else
            snprintf(text, size, "%s [%u]", inner, type->count);
        return;
    }
    if (type->dwarf && type->die) read_entry(type->dwarf, type->die, &e);
    snprintf(text, size, "%s%s", type->kind == TYPE_STRUCT ? "struct " : "",
             e.name ? e.name : "value");
}

bool type_member(const struct type *type, const char *name, unsigned number, struct type *member,
                 uint32_t *offset, char *found, size_t size)
{
    struct die e, inner;
    if (type->kind != TYPE_STRUCT || !read_entry(type->dwarf, type->die, &e)) return false;
    for (uint32_t at = e.next; e.has_children && read_entry(type->dwarf, at, &inner);
         at = behind(type->dwarf, &inner)) {
        if (inner.tag != TAG_MEMBER) continue;
        bool is_meant = name ? inner.name && !strcmp(inner.name, name) : number == 0;
        if (!is_meant) {
            number--;
            continue;
        }
        *member = inner.is_bits ? (struct type){0} : type_at(type->dwarf, inner.type);
        *offset = (uint32_t)inner.member;
        if (found) snprintf(found, size, "%s", inner.name ? inner.name : "");
        return true;
    }
    return false;
}

/* ---- variables ------------------------------------------------------------------------------- */

/* The line of the PTX at which a label of a function is defined; 0: it is not. */
static unsigned label_line(const struct ptx_function *f, const char *label)
{
    size_t length = label ? strlen(label) : 0;
    unsigned line = f->body_line;
    if (!length) return 0;
    for (const char *at = f->body; at < f->body_end; at++) {
        if (*at == '\n') line++;
        if ((at == f->body || !is_name((unsigned char)at[-1])) && !strncmp(at, label, length) &&
            at[length] == ':')
            return line;
    }
    return 0;
}

static bool is_inside(const struct ptx_function *f, const char *low, const char *high,
                      unsigned line)
{
    unsigned first = label_line(f, low), end = label_line(f, high);
    return first && first <= line && (!end || line < end);
}

/* "%r2" from the number whose bytes it is, the last one lowest. */
static void register_name(uint64_t number, char *text)
{
    int shift = 56;
    while (shift > 0 && !(number >> shift & 255)) shift -= 8;
    for (; shift >= 0; shift -= 8) *text++ = (char)(number >> shift & 255);
    *text = '\0';
}

/* A location: a register, or an address and an offset. */
static void place(struct known_variable *v, const struct bytes *b, const struct references *names,
                  size_t at, size_t end)
{
    while (at < end) {
        uint8_t operation = b->at[at++];
        if (operation == OP_REGISTER) {
            v->where = IN_REGISTER;
            register_name(leb_at(b, &at, false), v->symbol);
        } else if (operation == OP_ADDRESS) {
            const char *symbol = reference_at(names, at);
            v->where = AT_SYMBOL;
            snprintf(v->symbol, sizeof v->symbol, "%s", symbol ? symbol : "");
            at += SYMBOL_BYTES;
        } else if (operation == OP_PLUS) {
            v->offset += (int64_t)leb_at(b, &at, false);
        } else {
            return;
        }
    }
}

/* A list: pairs of labels, and the location between them, up to (0, 0). */
static void place_by_list(struct known_variable *v, const struct dwarf *d,
                          const struct ptx_function *f, size_t at, unsigned line)
{
    while (at + 2 * SYMBOL_BYTES <= d->lists.size) {
        const char *low = reference_at(&d->in_lists, at),
                   *high = reference_at(&d->in_lists, at + SYMBOL_BYTES);
        at += 2 * SYMBOL_BYTES;
        if (!low) return;
        size_t length = (size_t)number_at(&d->lists, &at, 2);
        if (is_inside(f, low, high, line)) {
            place(v, &d->lists, &d->in_lists, at, at + length);
            return;
        }
        at += length;
    }
}

struct search {
    const struct dwarf *dwarf;
    const struct ptx_function *function;
    unsigned line;
    struct known_variable *found;
    size_t count, most;
};

static void note_variable(struct search *s, const struct die *e, unsigned depth)
{
    struct die origin = {0};
    if (e->origin) read_entry(s->dwarf, e->origin, &origin);
    const char *name = e->name ? e->name : origin.name;
    if (!name || s->count == s->most) return;
    struct known_variable *v = &s->found[s->count];
    *v = (struct known_variable){.depth = depth,
                                 .type = type_at(s->dwarf, e->type ? e->type : origin.type)};
    snprintf(v->name, sizeof v->name, "%s", name);
    if (e->has_location && !e->is_list)
        place(v, &s->dwarf->info, &s->dwarf->in_info, e->location, e->location_end);
    else if (e->has_location && s->function)
        place_by_list(v, s->dwarf, s->function, e->list, s->line);
    s->count++;
}

static void search_scope(struct search *s, const struct die *scope, unsigned depth)
{
    struct die e;
    for (uint32_t at = scope->next; scope->has_children && read_entry(s->dwarf, at, &e);
         at = behind(s->dwarf, &e)) {
        if (e.tag == TAG_VARIABLE || e.tag == TAG_PARAMETER) note_variable(s, &e, depth);
        bool is_scope = e.tag == TAG_BLOCK || e.tag == TAG_INLINED;
        if (is_scope && (!e.low || is_inside(s->function, e.low, e.high, s->line)))
            search_scope(s, &e, depth + 1);
    }
}

static bool is_function(const struct die *e, const struct ptx_function *f)
{
    if (e->tag != TAG_FUNCTION || !e->low) return false;
    return label_line(f, e->low) != 0;
}

size_t dwarf_variables(const struct dwarf *d, const struct ptx_function *function, unsigned line,
                       struct known_variable *found, size_t most)
{
    struct search s = {d, function, line, found, 0, most};
    struct die unit, e;
    if (!d || !read_entry(d, HEADER, &unit)) return 0;
    for (uint32_t at = unit.next; read_entry(d, at, &e); at = behind(d, &e))
        if (e.tag == TAG_VARIABLE) note_variable(&s, &e, 0);
    for (uint32_t at = unit.next; function && read_entry(d, at, &e); at = behind(d, &e))
        if (is_function(&e, function)) search_scope(&s, &e, 1);
    return s.count;
}
