/* expression.c — values of C expressions in one lane: variables, members, elements, arithmetic. */
#include "debug.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- memory, as a lane sees it --------------------------------------------------------------- */

static bool in_window(uint64_t address, uint64_t window)
{
    return address >= window && address - window < WINDOW_BYTES;
}

/* The host's byte of a generic address; NULL: nothing is there. */
static uint8_t *byte_at(const struct lane *l, uint64_t address)
{
    struct block *block = l->warp->block;
    struct launch *launch = block->launch;
    struct range range;
    if (in_window(address, SHARED_WINDOW)) {
        uint64_t rank = (address - SHARED_WINDOW) >> RANK_SHIFT, offset = shared_offset(address);
        if (rank >= block->cluster->size) return NULL;
        struct block *owner = block->cluster->blocks[rank];
        return offset < owner->shared_bytes ? owner->shared + offset : NULL;
    }
    if (in_window(address, LOCAL_WINDOW)) {
        uint64_t offset = address - LOCAL_WINDOW;
        return offset < launch->kernel->stack_bytes ? local_byte(l->warp, offset, l->lane) : NULL;
    }
    if (in_window(address, PARAM_WINDOW)) {
        uint64_t offset = address - PARAM_WINDOW;
        return offset < launch->kernel->param_bytes ? launch->params + offset : NULL;
    }
    if (!device_range(launch->emu, address, &range)) return NULL;
    return (uint8_t *)(uintptr_t)(address + (uint64_t)range.delta);
}

bool lane_read(const struct lane *l, uint64_t address, void *to, size_t bytes)
{
    for (size_t k = 0; k < bytes; k++) {
        const uint8_t *byte = byte_at(l, address + k);
        if (!byte) return false;
        ((uint8_t *)to)[k] = *byte;
    }
    return true;
}

static bool lane_write(const struct lane *l, uint64_t address, const void *from, size_t bytes)
{
    for (size_t k = 0; k < bytes; k++)
        if (!byte_at(l, address + k)) return false;
    for (size_t k = 0; k < bytes; k++) *byte_at(l, address + k) = ((const uint8_t *)from)[k];
    return true;
}

/* ---- registers ------------------------------------------------------------------------------- */

const struct ptx_function *lane_function(const struct lane *l)
{
    const struct frame *frame = l->fragment ? l->fragment->frame : &l->warp->root;
    return frame->callee ? frame->callee->function : l->warp->block->launch->kernel->function;
}

unsigned lane_line(const struct lane *l)
{
    const struct emu_kernel *kernel = l->warp->block->launch->kernel;
    const struct insn *at = l->fragment ? &kernel->code[l->fragment->pc] : NULL;
    return at && at->source ? at->source->line : 0;
}

/* The register of a name: its slot, as the decoder lays registers out in their order, and its
 * bytes, 0 for a predicate. False: the function has none of the name. */
static bool find_register(const struct ptx_function *f, const char *name, slot *found,
                          unsigned *bytes)
{
    uint32_t end = 0;
    for (size_t i = 0; i < f->register_count; i++) {
        enum ptx_type type = f->registers[i].type;
        size_t size = ptx_type_size(type);
        *bytes = type == PTX_PRED ? 0 : size >= 8 ? (unsigned)size : 4;
        if (*bytes) end = (end + SLOT_ALIGNMENT - 1) / SLOT_ALIGNMENT * SLOT_ALIGNMENT;
        *found = end;
        if (!strcmp(f->registers[i].name, name)) return true;
        end += *bytes ? *bytes * WARP : sizeof(uint32_t);
    }
    return false;
}

static uint8_t *register_at(const struct lane *l, slot s, unsigned bytes)
{
    uint8_t *row = frame_slot(l->warp, l->fragment, s);
    return bytes ? row + (size_t)l->lane * bytes : row;
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool is_number(const struct type *t)
{
    return t->kind == TYPE_INT || t->kind == TYPE_CHAR || t->kind == TYPE_BOOL ||
           t->kind == TYPE_FLOAT;
}

static int64_t integer_of(const struct typed_value *v)
{
    uint64_t bits = 0;
    unsigned bytes = v->type.bytes > 8 ? 8 : v->type.bytes;
    if (v->type.kind == TYPE_ARRAY) return (int64_t)v->address;
    memcpy(&bits, v->bytes, bytes);
    if (v->type.is_signed && bytes && bytes < 8 && bits >> (8 * bytes - 1) & 1)
        bits |= UINT64_MAX << 8 * bytes;
    return (int64_t)bits;
}

static double number_of(const struct typed_value *v)
{
    float single;
    double whole;
    if (v->type.kind != TYPE_FLOAT)
        return v->type.is_signed ? (double)integer_of(v) : (double)(uint64_t)integer_of(v);
    if (v->type.bytes == sizeof single) {
        memcpy(&single, v->bytes, sizeof single);
        return (double)single;
    }
    memcpy(&whole, v->bytes, sizeof whole);
    return whole;
}

static struct typed_value integer(int64_t number)
{
    struct typed_value v = {.type = {.kind = TYPE_INT, .is_signed = true, .bytes = 8},
                            .slot = NO_SLOT};
    memcpy(v.bytes, &number, sizeof number);
    return v;
}

static struct typed_value real(double number)
{
    struct typed_value v = {.type = {.kind = TYPE_FLOAT, .bytes = 8}, .slot = NO_SLOT};
    memcpy(v.bytes, &number, sizeof number);
    return v;
}

static struct typed_value triple(uint64_t x, uint64_t y, uint64_t z)
{
    return (struct typed_value){.type.kind = TYPE_TRIPLE, .triple = {x, y, z}, .slot = NO_SLOT};
}

static struct typed_value triple_of(struct emu_dim d) { return triple(d.x, d.y, d.z); }

static bool is_true(const struct typed_value *v)
{
    return v->type.kind == TYPE_FLOAT ? number_of(v) != 0 : integer_of(v) != 0;
}

/* ---- the parser: precedence climbing --------------------------------------------------------- */

struct expression {
    const struct lane *lane;
    const char *at;
    char *message; /* of the first mistake; "": none */
    unsigned depth;
};

__attribute__((format(printf, 2, 3))) static struct typed_value wrong(struct expression *p,
                                                                      const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!*p->message) vsnprintf(p->message, MESSAGE, format, arguments);
    va_end(arguments);
    return integer(0);
}

static void skip(struct expression *p)
{
    while (isspace((unsigned char)*p->at)) p->at++;
}

/* Takes a word or sign; a sign that is the beginning of a longer one is not taken. */
static bool take(struct expression *p, const char *sign)
{
    size_t length = strlen(sign);
    skip(p);
    if (strncmp(p->at, sign, length) != 0) return false;
    char next = p->at[length];
    if (isalpha((unsigned char)*sign) && (isalnum((unsigned char)next) || next == '_'))
        return false;
    if (length == 1 && strchr("<>&|=", *sign) && (next == *sign || next == '=')) return false;
    if (length == 1 && strchr("!*/%+-", *sign) && next == '=') return false;
    p->at += length;
    return true;
}

static struct typed_value load(struct expression *p, struct type type, uint64_t address);

/* What a reference stands for; other values as they are. */
static struct typed_value referred(struct expression *p, struct typed_value v)
{
    return v.type.is_reference ? load(p, type_element(&v.type), (uint64_t)integer_of(&v)) : v;
}

static struct typed_value load(struct expression *p, struct type type, uint64_t address)
{
    struct typed_value v = {.type = type, .has_address = true, .address = address, .slot = NO_SLOT};
    bool is_whole = type.kind == TYPE_ARRAY || type.kind == TYPE_STRUCT;
    if (type.kind == TYPE_NONE) return wrong(p, "the type there is unknown");
    if (!is_whole && !lane_read(p->lane, address, v.bytes, type.bytes))
        return wrong(p, "no memory is at 0x%" PRIx64, address);
    return referred(p, v);
}

/* The address of a variable of the PTX. */
static bool symbol_address(const struct lane *l, const char *name, uint64_t *address)
{
    const struct emu_kernel *kernel = l->warp->block->launch->kernel;
    const struct frame *frame = l->fragment ? l->fragment->frame : &l->warp->root;
    const struct ptx_function *f = lane_function(l);
    const struct ptx_text *text = &kernel->module->text;
    const size_t *offsets =
        frame->callee ? frame->callee->variable_offset : kernel->variable_offset;
    uint64_t shared = SHARED_WINDOW + shared_window(l->warp->block->rank);
    for (size_t i = 0; i < f->variable_count; i++) {
        if (strcmp(f->variables[i].name, name) != 0) continue;
        uint64_t base = frame->callee ? frame->local_end - frame->callee->local_bytes : 0;
        *address = f->variables[i].space == PTX_SHARED ? shared : LOCAL_WINDOW + base;
        *address += offsets[i];
        return true;
    }
    for (size_t i = 0; !frame->callee && i < f->param_count; i++) {
        if (strcmp(f->params[i].name, name) != 0) continue;
        *address = PARAM_WINDOW + kernel->info.param_offset[i];
        return true;
    }
    const struct ptx_symbol *symbol = ptx_find(text, f->unit, name);
    if (!symbol || symbol->is_function) return false;
    bool is_shared = text->variables[symbol->index].space == PTX_SHARED;
    *address = is_shared ? shared + kernel->shared_offset[symbol->index]
                         : kernel->module->addresses[symbol->index];
    return is_shared || *address;
}

static struct typed_value variable_value(struct expression *p, const struct known_variable *v)
{
    uint64_t address;
    struct typed_value value = {.type = v->type, .slot = NO_SLOT};
    unsigned bytes;
    if (v->where == IN_REGISTER && p->lane->fragment &&
        find_register(lane_function(p->lane), v->symbol, &value.slot, &bytes)) {
        if (bytes)
            memcpy(value.bytes, register_at(p->lane, value.slot, bytes), bytes);
        else
            value.bytes[0] =
                *(uint32_t *)(void *)register_at(p->lane, value.slot, 0) >> p->lane->lane & 1;
        if (v->type.kind == TYPE_NONE)
            value.type = (struct type){.kind = TYPE_INT, .is_signed = true, .bytes = bytes};
        return referred(p, value);
    }
    if (v->where == AT_SYMBOL && symbol_address(p->lane, v->symbol, &address))
        return load(p, v->type, address + (uint64_t)v->offset);
    return wrong(p, "%s has no value here: the compiler keeps it nowhere at this line", v->name);
}

/* How much a name is like another, for a proposal: letters of one that the other has in the same
 * order count twice, letters of the other alone against it. */
static int likeness(const char *a, const char *b)
{
    int same = 0;
    const char *rest = b;
    for (; *a; a++) {
        const char *found = strchr(rest, *a);
        if (found) same++, rest = found + 1;
    }
    return 3 * same - (int)strlen(b);
}

static void unknown(struct expression *p, const char *name, const struct known_variable *all,
                    size_t count, bool has_dwarf)
{
    const char *nearest = NULL;
    int best = 0;
    for (size_t i = 0; i < count; i++)
        if (likeness(name, all[i].name) > best) {
            best = likeness(name, all[i].name);
            nearest = all[i].name;
        }
    if (!has_dwarf)
        wrong(p,
              "no names of variables: compile with nvcc -G (`emu debug FILE.cu` does), or name a "
              "register, such as %%r1");
    else if (nearest)
        wrong(p, "there is no variable %s here; is it %s?", name, nearest);
    else
        wrong(p, "there is no variable %s here", name);
}

static struct typed_value variable_named(struct expression *p, const char *name);

/* The same name in the function that has called this one. */
static struct typed_value outer_value(struct expression *p, const char *name)
{
    const struct frame *frame = p->lane->fragment->frame;
    struct fragment outer = *p->lane->fragment;
    const struct lane caller = {p->lane->warp, &outer, p->lane->lane};
    struct expression inside = {&caller, "", p->message, 0};
    outer.frame = frame->caller;
    outer.pc = frame->return_pc - 1;
    struct typed_value v = variable_named(&inside, name);
    v.slot = NO_SLOT; /* a register of another frame */
    return v;
}

static struct typed_value named(struct expression *p, const char *name)
{
    const struct lane *l = p->lane;
    const struct launch *launch = l->warp->block->launch;
    if (!strcmp(name, "threadIdx")) return triple_of(thread_of(l->warp, l->lane));
    if (!strcmp(name, "blockIdx") || !strcmp(name, "block")) return triple_of(l->warp->block->id);
    if (!strcmp(name, "blockDim")) return triple_of(launch->block);
    if (!strcmp(name, "gridDim")) return triple_of(launch->grid);
    if (!strcmp(name, "warpSize")) return integer(WARP);
    return variable_named(p, name);
}

/* The variable that a name means at an instruction of a function. What was found is kept: the
 * condition of a breakpoint asks a million times. NULL: it means none; then the message names the
 * nearest, if a message is wanted. */
static const struct known_variable *find_variable(struct expression *p, const char *name,
                                                  bool says_nearest)
{
    enum { MOST = 256, KEPT = 64 };
    static struct {
        const struct ptx_function *function;
        unsigned line;
        char name[64];
        bool is_there;
        struct known_variable variable;
    } kept[KEPT], *own;
    const struct lane *l = p->lane;
    const struct emu_kernel *kernel = l->warp->block->launch->kernel;
    const struct ptx_function *f = lane_function(l);
    unsigned line = lane_line(l);
    own = &kept[(line * 31 + (unsigned char)name[0] * 7 + strlen(name)) % KEPT];
    if (own->function == f && own->line == line && !strcmp(own->name, name) &&
        (own->is_there || !says_nearest))
        return own->is_there ? &own->variable : NULL;
    struct known_variable *all = allocated(malloc(MOST * sizeof *all)), *found = NULL;
    const struct dwarf *d = dwarf_of(&kernel->module->text, f->unit);
    size_t count = dwarf_variables(d, f, line, all, MOST);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(all[i].name, name) && (!found || all[i].depth >= found->depth)) found = &all[i];
    own->function = f;
    own->line = line;
    own->is_there = found;
    snprintf(own->name, sizeof own->name, "%s", name);
    if (found) own->variable = *found;
    if (!found && says_nearest) unknown(p, name, all, count, d != NULL);
    free(all);
    return found ? &own->variable : NULL;
}

static struct typed_value variable_named(struct expression *p, const char *name)
{
    const struct lane *l = p->lane;
    const struct launch *launch = l->warp->block->launch;
    bool is_called = l->fragment && l->fragment->frame->caller;
    bool is_ours = !strcmp(name, "thread") || !strcmp(name, "lane") || !strcmp(name, "warp");
    const struct known_variable *found = find_variable(p, name, !is_ours && !is_called);
    if (found) return variable_value(p, found);
    if (!is_ours) return is_called ? outer_value(p, name) : integer(0);
    if (*name == 'l') return integer(l->lane);
    if (*name == 'w') return integer(l->warp->index);
    return integer((int64_t)index_of(thread_of(l->warp, l->lane), launch->block));
}

static struct typed_value take_register(struct expression *p)
{
    char name[64];
    size_t length = strspn(p->at + 1, "abcdefghijklmnopqrstuvwxyzSPL0123456789") + 1;
    snprintf(name, sizeof name, "%%%.*s", (int)length - 1, p->at + 1);
    p->at += length;
    if (!p->lane->fragment) return wrong(p, "the thread has exited");
    const struct known_variable v = {.where = IN_REGISTER};
    struct known_variable named = v;
    snprintf(named.symbol, sizeof named.symbol, "%s", name);
    snprintf(named.name, sizeof named.name, "%s", name);
    struct typed_value value = variable_value(p, &named);
    if (name[1] == 'f') value.type.kind = TYPE_FLOAT;
    if (value.type.kind == TYPE_INT && !value.type.bytes)
        value.type = (struct type){.kind = TYPE_INT, .bytes = 1};
    return value;
}

static struct typed_value expression(struct expression *p, int least);

/* (expression) or a triple, as (1,0,0) */
static struct typed_value take_parentheses(struct expression *p)
{
    struct typed_value v = expression(p, 0);
    if (take(p, ",")) {
        struct typed_value y = expression(p, 0), z = integer(0);
        if (take(p, ",")) z = expression(p, 0);
        v = triple((uint64_t)integer_of(&v), (uint64_t)integer_of(&y), (uint64_t)integer_of(&z));
    }
    if (!take(p, ")")) return wrong(p, "a ) is missing in front of \"%s\"", p->at);
    return v;
}

static struct typed_value take_number(struct expression *p)
{
    char *end, *whole;
    double number = strtod(p->at, &end);
    int64_t integral = (int64_t)strtoull(p->at, &whole, 0);
    bool is_real = end > whole;
    struct typed_value v = is_real ? real(number) : integer(integral);
    p->at = is_real ? end : whole;
    while (strchr("uUlLfF", *p->at) && *p->at) p->at++;
    return v;
}

/* Takes a name; "": none is there. One that is too long for any variable is cut. */
static void take_name(struct expression *p, char name[64])
{
    size_t length = 0;
    skip(p);
    for (; isalnum((unsigned char)*p->at) || *p->at == '_'; p->at++)
        if (length < 63) name[length++] = *p->at;
    name[length] = '\0';
}

static struct typed_value primary(struct expression *p)
{
    char name[64];
    skip(p);
    if (take(p, "(")) return take_parentheses(p);
    if (isdigit((unsigned char)*p->at) || (*p->at == '.' && isdigit((unsigned char)p->at[1])))
        return take_number(p);
    if (*p->at == '%' || *p->at == '$') return take_register(p);
    take_name(p, name);
    if (*name) return named(p, name);
    return *p->at ? wrong(p, "\"%s\" is not understood", p->at)
                  : wrong(p, "the expression ends too early");
}

static struct typed_value element(struct expression *p, const struct typed_value *v,
                                  const struct typed_value *index)
{
    struct type type = type_element(&v->type);
    uint64_t base = (uint64_t)integer_of(v);
    if (v->type.kind != TYPE_ARRAY && v->type.kind != TYPE_POINTER)
        return wrong(p, "only an array or a pointer has elements");
    if (!is_number(&index->type)) return wrong(p, "the index is no number");
    return load(p, type, base + (uint64_t)(integer_of(index) * (int64_t)type.bytes));
}

static struct typed_value member(struct expression *p, const struct typed_value *v)
{
    char name[64];
    struct type type;
    uint32_t offset;
    take_name(p, name);
    if (v->type.kind == TYPE_TRIPLE && *name >= 'x' && *name <= 'z' && !name[1])
        return integer((int64_t)v->triple[*name - 'x']);
    if (v->type.kind != TYPE_STRUCT) return wrong(p, "only a struct has a member %s", name);
    if (!type_member(&v->type, name, 0, &type, &offset, NULL, 0))
        return wrong(p, "the struct has no member %s", name);
    return load(p, type, v->address + offset);
}

static struct typed_value postfix(struct expression *p)
{
    struct typed_value v = primary(p);
    while (!*p->message) {
        if (take(p, "[")) {
            struct typed_value index = expression(p, 0);
            if (!take(p, "]")) return wrong(p, "a ] is missing in front of \"%s\"", p->at);
            v = element(p, &v, &index);
        } else if (take(p, "->")) {
            const struct typed_value none = integer(0);
            v = element(p, &v, &none);
            v = *p->message ? v : member(p, &v);
        } else if (!strncmp(p->at, "..", 2)) {
            return v;
        } else if (take(p, ".")) {
            v = member(p, &v);
        } else {
            return v;
        }
    }
    return v;
}

static struct typed_value unary(struct expression *p)
{
    enum { MOST = 1000 };
    if (++p->depth > MOST) return wrong(p, "the expression is nested too deeply");
    if (take(p, "-")) {
        struct typed_value v = unary(p);
        return v.type.kind == TYPE_FLOAT ? real(-number_of(&v)) : integer(-integer_of(&v));
    }
    if (take(p, "!")) {
        struct typed_value v = unary(p);
        return integer(!is_true(&v));
    }
    if (take(p, "~")) {
        struct typed_value v = unary(p);
        return integer(~integer_of(&v));
    }
    if (take(p, "*")) {
        struct typed_value v = unary(p), none = integer(0);
        return element(p, &v, &none);
    }
    if (take(p, "&")) {
        struct typed_value v = unary(p);
        if (!v.has_address) return wrong(p, "it has no address: it is in a register");
        uint64_t address = v.address;
        struct typed_value pointer = integer((int64_t)address);
        pointer.type = (struct type){
            .kind = TYPE_POINTER, .bytes = 8, .die = v.type.die, .dwarf = v.type.dwarf};
        return pointer;
    }
    return postfix(p);
}

/* The sign of a binary operator at the parser's place, if it binds at least as strongly. */
static const struct operator
{
    const char *sign;
    int strength;
}
operators[] = {{"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6}, {"<<", 8}, {">>", 8},
               {"<=", 7}, {">=", 7}, {"|", 3},  {"^", 4},  {"&", 5},  {"<", 7},
               {">", 7},  {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10}};

static struct typed_value compute_integers(struct expression *p, const char *sign, int64_t a,
                                           int64_t b)
{
    if (!strcmp(sign, "<<")) return integer((int64_t)((uint64_t)a << (b & 63)));
    if (!strcmp(sign, ">>")) return integer(a >> (b & 63));
    switch (*sign) {
    case '|': return integer(a | b);
    case '^': return integer(a ^ b);
    case '&': return integer(a & b);
    case '+': return integer((int64_t)((uint64_t)a + (uint64_t)b));
    case '-': return integer((int64_t)((uint64_t)a - (uint64_t)b));
    case '*': return integer((int64_t)((uint64_t)a * (uint64_t)b));
    }
    if (!b) return wrong(p, "a division by 0");
    if (b == -1) return integer(*sign == '/' ? (int64_t)(0 - (uint64_t)a) : 0);
    return integer(*sign == '/' ? a / b : a % b);
}

static struct typed_value compute_reals(struct expression *p, const char *sign, double a, double b)
{
    switch (*sign) {
    case '+': return real(a + b);
    case '-': return real(a - b);
    case '*': return real(a * b);
    case '/': return b != 0 ? real(a / b) : wrong(p, "a division by 0");
    }
    return wrong(p, "%s needs integers", sign);
}

static bool is_comparison(const char *sign)
{
    return strchr("=!", *sign) || (strchr("<>", *sign) && (!sign[1] || sign[1] == '='));
}

static struct typed_value compare(const char *sign, const struct typed_value *a,
                                  const struct typed_value *b)
{
    int order;
    if (a->type.kind == TYPE_FLOAT || b->type.kind == TYPE_FLOAT) {
        double x = number_of(a), y = number_of(b);
        if (x != x || y != y) return integer(*sign == '!');
        order = x < y ? -1 : x > y;
    } else {
        int64_t x = integer_of(a), y = integer_of(b);
        order = x < y ? -1 : x > y;
    }
    switch (*sign) {
    case '=': return integer(order == 0);
    case '!': return integer(order != 0);
    case '<': return integer(sign[1] ? order <= 0 : order < 0);
    default: return integer(sign[1] ? order >= 0 : order > 0);
    }
}

static struct typed_value combine(struct expression *p, const char *sign, struct typed_value a,
                                  struct typed_value b)
{
    if (*p->message) return a;
    if (a.type.kind == TYPE_TRIPLE || b.type.kind == TYPE_TRIPLE) {
        if (a.type.kind != TYPE_TRIPLE) a = triple((uint64_t)integer_of(&a), 0, 0);
        if (b.type.kind != TYPE_TRIPLE) b = triple((uint64_t)integer_of(&b), 0, 0);
        bool is_same = !memcmp(a.triple, b.triple, sizeof a.triple);
        if (strcmp(sign, "==") && strcmp(sign, "!="))
            return wrong(p, "of three coordinates only == and != are known; is it .x?");
        return integer(is_same == (*sign == '='));
    }
    if (a.type.kind == TYPE_STRUCT || b.type.kind == TYPE_STRUCT)
        return wrong(p, "%s is not for a struct", sign);
    if (!strcmp(sign, "||")) return integer(is_true(&a) || is_true(&b));
    if (!strcmp(sign, "&&")) return integer(is_true(&a) && is_true(&b));
    if (is_comparison(sign)) return compare(sign, &a, &b);
    bool is_pointer = a.type.kind == TYPE_POINTER || a.type.kind == TYPE_ARRAY;
    if (is_pointer && strchr("+-", *sign) && is_number(&b.type)) {
        struct type of = type_element(&a.type);
        int64_t step = integer_of(&b) * (int64_t)of.bytes;
        struct typed_value moved = integer(integer_of(&a) + (*sign == '+' ? step : -step));
        moved.type =
            (struct type){.kind = TYPE_POINTER, .bytes = 8, .die = of.die, .dwarf = a.type.dwarf};
        return moved;
    }
    if (a.type.kind == TYPE_FLOAT || b.type.kind == TYPE_FLOAT)
        return compute_reals(p, sign, number_of(&a), number_of(&b));
    return compute_integers(p, sign, integer_of(&a), integer_of(&b));
}

static struct typed_value expression(struct expression *p, int least)
{
    struct typed_value v = unary(p);
    for (size_t i = 0; !*p->message && i < sizeof operators / sizeof *operators; i++) {
        if (operators[i].strength < least || !take(p, operators[i].sign)) continue;
        struct typed_value right = expression(p, operators[i].strength + 1);
        v = combine(p, operators[i].sign, v, right);
        i = (size_t)-1; /* look for the next operator */
    }
    return v;
}

bool expression_value(const struct lane *l, const char *text, struct typed_value *v,
                      char message[MESSAGE])
{
    struct expression p = {l, text, message, 0};
    *message = '\0';
    *v = expression(&p, 0);
    skip(&p);
    if (!*message && *p.at) wrong(&p, "\"%s\" is not understood", p.at);
    return !*message;
}

bool expression_holds(const struct lane *l, const char *text, char message[MESSAGE])
{
    struct typed_value v;
    return expression_value(l, text, &v, message) && is_true(&v);
}

bool expression_assign(const struct lane *l, const char *target, const char *text,
                       char message[MESSAGE])
{
    struct typed_value to, from;
    if (!expression_value(l, target, &to, message) || !expression_value(l, text, &from, message))
        return false;
    if (!is_number(&to.type) && to.type.kind != TYPE_POINTER) {
        snprintf(message, MESSAGE, "%s is no number", target);
        return false;
    }
    float single = (float)number_of(&from);
    double whole = number_of(&from);
    int64_t bits = from.type.kind == TYPE_FLOAT ? (int64_t)whole : integer_of(&from);
    const void *bytes = to.type.kind != TYPE_FLOAT ? (const void *)&bits
                        : to.type.bytes == 4       ? (const void *)&single
                                                   : (const void *)&whole;
    if (to.has_address) return lane_write(l, to.address, bytes, to.type.bytes);
    if (to.slot != NO_SLOT && to.type.bytes >= 4 && l->fragment) {
        memcpy(register_at(l, to.slot, to.type.bytes), bytes, to.type.bytes);
        return true;
    }
    snprintf(message, MESSAGE, "%s is no variable", target);
    return false;
}

/* ---- printing -------------------------------------------------------------------------------- */

enum { MOST_ELEMENTS = 64 };

static void append(char *text, size_t size, const char *more)
{
    static const char rest[] = "...";
    size_t used = strlen(text);
    if (used + strlen(more) < size)
        strcpy(text + used, more);
    else
        strcpy(text + (used + sizeof rest < size ? used : size - sizeof rest), rest);
}

/* The elements of an array, or the members of a struct. */
static void print_parts(const struct lane *l, const struct typed_value *v, char *text, size_t size)
{
    char part[MESSAGE], name[64], message[MESSAGE] = "";
    struct type type = type_element(&v->type);
    uint32_t offset = 0;
    struct expression p = {l, "", message, 0};
    append(text, size, "{");
    for (unsigned k = 0;; k++) {
        if (v->type.kind == TYPE_ARRAY) {
            if (k == v->type.count) break;
            offset = k * type.bytes;
            *name = '\0';
        } else if (!type_member(&v->type, NULL, k, &type, &offset, name, sizeof name)) {
            break;
        }
        if (k) append(text, size, ", ");
        if (k == MOST_ELEMENTS) {
            append(text, size, "...");
            break;
        }
        if (*name) append(text, size, name), append(text, size, " = ");
        const struct typed_value inner = load(&p, type, v->address + offset);
        value_print(l, &inner, part, sizeof part);
        append(text, size, *message ? "?" : part);
    }
    append(text, size, "}");
}

void word_print(uint32_t word, char *text, size_t size)
{
    enum { SMALLEST = 64, LARGEST = 191 }; /* exponents of what is likely to be a float */
    unsigned exponent = word >> 23 & 255;
    float real;
    memcpy(&real, &word, sizeof real);
    snprintf(text, size, exponent >= SMALLEST && exponent <= LARGEST ? "%d (%g)" : "%d",
             (int32_t)word, (double)real);
}

void value_print(const struct lane *l, const struct typed_value *v, char *text, size_t size)
{
    char name[MESSAGE];
    *text = '\0';
    switch (v->type.kind) {
    case TYPE_NONE: snprintf(text, size, "?"); break;
    case TYPE_BOOL: snprintf(text, size, integer_of(v) ? "true" : "false"); break;
    case TYPE_CHAR:
        if (isprint((int)integer_of(v) & 255))
            snprintf(text, size, "%" PRId64 " '%c'", integer_of(v), (char)integer_of(v));
        else
            snprintf(text, size, "%" PRId64, integer_of(v));
        break;
    case TYPE_INT:
        if (v->type.is_signed)
            snprintf(text, size, "%" PRId64, integer_of(v));
        else
            snprintf(text, size, "%" PRIu64, (uint64_t)integer_of(v));
        break;
    case TYPE_FLOAT: snprintf(text, size, "%.*g", v->type.bytes == 4 ? 9 : 17, number_of(v)); break;
    case TYPE_POINTER:
        type_name(&v->type, name, sizeof name);
        snprintf(text, size, "(%s) 0x%" PRIx64, name, (uint64_t)integer_of(v));
        break;
    case TYPE_TRIPLE:
        snprintf(text, size, "(%" PRIu64 ",%" PRIu64 ",%" PRIu64 ")", v->triple[0], v->triple[1],
                 v->triple[2]);
        break;
    case TYPE_ARRAY:
    case TYPE_STRUCT: print_parts(l, v, text, size); break;
    }
}
