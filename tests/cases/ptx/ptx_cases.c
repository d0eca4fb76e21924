/*
 * ptx_cases.c — runs the cases of tests/cases/ptx/?*.ptx. Directives, which begin with "//:",
 * say how; what follows them is PTX. Fields are two blanks apart.
 *
 *   //: let NAME                        what $NAME stands for: the lines up to the next directive
 *   //: frame NAME                      what stands around the following cases, with $body in it;
 *                                       without lines: kernel (PTX_KERNEL), text (PTX_HEADER), raw
 *   //: case NAME  FIELD  FIELD ...     and PTX; more fields may follow in lines "//:   FIELD ...";
 *                                       lines "//:     ..." go on with the last field
 *   //: row A  B ...                    the case is run with $1 = A, $2 = B ("" is empty; \n; \x80)
 *   //: each X/Y  A/B  C/D ...          and with $X = A, $Y = B; with $X = C, $Y = D
 *
 * $op is the opcode in $1, $(N TEXT) is N times TEXT with its number instead of #, and a line $next
 * begins the next text of a program of several. The fields:
 *
 *   launch GxB, GxB+SHARED, X,Y,ZxX,Y,Z   1x32 if it is not said     cluster X,Y,Z    launches N
 *   entry NAME (k)   words N: of the buffers out and in; otherwise one for each thread
 *   threads N   lenient   patience N   limit N   descending   seed N   gpu NAME   slow
 *   check race init memory sync                                       (see struct emu_config)
 *   in LIST     words before the launch (0);   in new N: only N bytes are written;   out new
 *   out LIST, after LIST                  the words of out, and of in, after the launch
 *   out[K] E, after[K] E, holds E         one word; an expression that is true for every thread
 *   error NAME   says TEXT                of the launch; its message is TEXT (after =), or has it
 *   invalid TEXT, unsupported TEXT, refused TEXT, taken     of loading it; then nothing is launched
 *   found N   find TEXT   copied N        findings, the first one's text; after reading `in`, too
 *   info F=N   total F=N F=N ...   lines N   line FILE:N F=N ...   operation NAME TYPE CLASS F=N
 *
 * Expressions are C's, of t (the thread or the word), b and u (its block and its number there), in
 * (in[t]), in[E], out[E], after[E], s32(E), float(E) (its bits), and sum(i, N, E) with min, max,
 * and, or, xor in the same form. A LIST has an expression for all words, or one for each.
 */
#define _GNU_SOURCE /* open_memstream, strchrnul */
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <ctype.h>
#include <glob.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- expressions ----------------------------------------------------------------------------- */

enum { OUT, IN, AFTER, BUFFERS, MOST_BOUND = 6 };

struct scope {
    const char *at;
    int64_t t, block;           /* the thread, and the threads of a block */
    const uint32_t *w[BUFFERS]; /* `words` each */
    int64_t words;
    int bound; /* variables of sums */
    char name[MOST_BOUND];
    int64_t value[MOST_BOUND];
};

static int64_t expression(struct scope *);

static bool take(struct scope *s, const char *word)
{
    s->at += strspn(s->at, " ");
    size_t length = strlen(word);
    if (strncmp(s->at, word, length)) return false;
    if (isalpha((unsigned char)*word) && isalnum((unsigned char)s->at[length])) return false;
    s->at += length;
    return true;
}

static void need(struct scope *s, const char *word)
{
    cr_assert(take(s, word), "\"%s\" is expected at: %s", word, s->at);
}

static int64_t reduce(const char *how, int64_t a, int64_t b)
{
    return !strcmp(how, "sum")   ? a + b
           : !strcmp(how, "min") ? (a < b ? a : b)
           : !strcmp(how, "max") ? (a > b ? a : b)
           : !strcmp(how, "and") ? (a & b)
           : !strcmp(how, "or")  ? (a | b)
                                 : a ^ b;
}

/* sum(i, n, e): e for i = 0 … n - 1. */
static int64_t reduction(struct scope *s, const char *how)
{
    need(s, "(");
    s->at += strspn(s->at, " ");
    cr_assert(s->bound < MOST_BOUND);
    s->name[s->bound] = *s->at++;
    need(s, ",");
    int64_t n = expression(s), result = 0;
    need(s, ",");
    const char *body = s->at;
    s->bound++;
    for (int64_t i = 0; i < n || i == 0; i++) { /* without elements, too, it is parsed */
        s->at = body;
        s->value[s->bound - 1] = i;
        int64_t e = expression(s);
        if (n > 0) result = i ? reduce(how, result, e) : e;
    }
    s->bound--;
    need(s, ")");
    return result;
}

static int64_t in_brackets(struct scope *s, const char *open, const char *close)
{
    need(s, open);
    int64_t e = expression(s);
    need(s, close);
    return e;
}

static int64_t word(struct scope *s, int buffer)
{
    int64_t i = *s->at == '[' ? in_brackets(s, "[", "]") : s->t;
    return s->w[buffer] && i >= 0 && i < s->words ? s->w[buffer][i] : 0;
}

static int64_t primary(struct scope *s)
{
    static const char *const reductions[] = {"sum", "min", "max", "and", "or", "xor"};
    if (take(s, "(")) {
        s->at--;
        return in_brackets(s, "(", ")");
    }
    if (take(s, "-")) return -primary(s);
    if (take(s, "~")) return ~primary(s);
    if (take(s, "!")) return !primary(s);
    if (isdigit((unsigned char)*s->at)) return (int64_t)strtoull(s->at, (char **)&s->at, 0);
    for (size_t k = 0; k < sizeof reductions / sizeof *reductions; k++)
        if (take(s, reductions[k])) return reduction(s, reductions[k]);
    if (take(s, "out")) return word(s, OUT);
    if (take(s, "in")) return word(s, IN);
    if (take(s, "after")) return word(s, AFTER);
    if (take(s, "s32")) return (int32_t)in_brackets(s, "(", ")");
    if (take(s, "float")) return (union value){.f32 = (float)in_brackets(s, "(", ")")}.u32;
    for (int k = s->bound; k-- > 0;)
        if (take(s, (char[]){s->name[k], '\0'})) return s->value[k];
    if (take(s, "t")) return s->t;
    if (take(s, "b")) return s->t / s->block;
    if (take(s, "u")) return s->t % s->block;
    cr_assert_fail("no expression: %s", s->at);
    return 0;
}

static int64_t apply(char op, bool is_double, int64_t a, int64_t b)
{
    switch (op) {
    case '|': return is_double ? a || b : a | b;
    case '&': return is_double ? a && b : a & b;
    case '^': return a ^ b;
    case '=': return a == b;
    case '!': return a != b;
    case '+': return (int64_t)((uint64_t)a + (uint64_t)b);
    case '-': return (int64_t)((uint64_t)a - (uint64_t)b);
    case '*': return (int64_t)((uint64_t)a * (uint64_t)b);
    case '/': return b ? a / b : 0;
    default: return b ? a % b : 0;
    }
}

/* The operators of a level bind closer than those of the levels before. */
static int64_t binary(struct scope *s, int level)
{
    static const char *const operators[][4] = {{"||"},
                                               {"&&"},
                                               {"|"},
                                               {"^"},
                                               {"&"},
                                               {"==", "!="},
                                               {"<=", ">=", "<", ">"},
                                               {"<<", ">>"},
                                               {"+", "-"},
                                               {"*", "/", "%"}};
    if (level == sizeof operators / sizeof *operators) return primary(s);
    int64_t a = binary(s, level + 1);
    for (int k = 0; k < 4 && operators[level][k];) {
        const char *op = operators[level][k];
        s->at += strspn(s->at, " ");
        bool longer = !op[1] && strchr("|&<>", *op) && *s->at == *op && s->at[1] == *op;
        if (longer || !take(s, op)) {
            k++;
            continue;
        }
        int64_t b = binary(s, level + 1);
        if (level == 6)
            a = op[1] ? (*op == '<' ? a <= b : a >= b) : *op == '<' ? a < b : a > b;
        else if (level == 7)
            a = *op == '<' ? (int64_t)((uint64_t)a << (b & 63)) : a >> (b & 63);
        else
            a = apply(*op, op[1] == *op, a, b);
        k = 0;
    }
    return a;
}

static int64_t expression(struct scope *s)
{
    int64_t condition = binary(s, 0);
    if (!take(s, "?")) return condition;
    int64_t yes = expression(s);
    need(s, ":");
    int64_t no = expression(s);
    return condition ? yes : no;
}

/* Element t of a list; false: it is shorter. A list of one element is that for all t. */
static bool element(struct scope *s, const char *list, int64_t t, int64_t *value)
{
    s->at = list;
    s->t = t;
    *value = expression(s);
    bool single = !take(s, ",");
    for (int64_t k = 1; k <= t && !single; k++) {
        *value = expression(s);
        if (!take(s, ",") && k < t) return false;
    }
    cr_assert(!single || !*s->at, "what is \"%s\" in: %s", s->at, list);
    return true;
}

/* ---- the texts ------------------------------------------------------------------------------- */

enum { MOST_NAMES = 100, MOST_FIELDS = 40, NAME = 80 };

struct names {
    int count;
    struct {
        const char *name, *value;
    } all[MOST_NAMES];
};

/* Texts are kept to the end of the process. */
static char *keep(char *text)
{
    static struct kept {
        struct kept *next;
        char *text;
    } * all;
    struct kept *one = malloc(sizeof *one);
    *one = (struct kept){all, text};
    all = one;
    return text;
}

static char *print(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *print(const char *format, ...)
{
    char *text;
    va_list args;
    va_start(args, format);
    cr_assert(vasprintf(&text, format, args) >= 0);
    va_end(args);
    return keep(text);
}

static void name(struct names *names, const char *name, const char *value)
{
    cr_assert(names->count < MOST_NAMES);
    names->all[names->count].name = name;
    names->all[names->count++].value = strcmp(value, "\"\"") ? value : "";
}

static const char *find(const struct names *names, const char *name, size_t length)
{
    for (int k = names->count; k-- > 0;)
        if (strlen(names->all[k].name) == length && !strncmp(names->all[k].name, name, length))
            return names->all[k].value;
    return NULL;
}

static bool begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

static char *expand(const char *text, size_t length, const struct names *names);

/* $(N TEXT), at its (; returns its end. */
static const char *repeat(FILE *f, const char *at, const struct names *names)
{
    size_t digits = strcspn(at, " ");
    const char *text = at + digits + 1, *end = text;
    for (int depth = 1; depth; depth += *end == '(' ? 1 : *end == ')' ? -1 : 0, end++) {}
    const char *body = expand(text, (size_t)(end - 1 - text), names);
    for (long k = 0, n = atol(expand(at + 1, digits - 1, names)); k < n; k++)
        for (const char *c = body; *c; c++) *c == '#' ? fprintf(f, "%ld", k) : fputc(*c, f);
    return end;
}

static char *expand(const char *text, size_t length, const struct names *names)
{
    char *result;
    size_t size;
    FILE *f = open_memstream(&result, &size);
    for (const char *s = text, *end = text + length; s < end;) {
        size_t n = 0;
        if (begins(s, "$(")) {
            s = repeat(f, s + 1, names);
            continue;
        }
        while (*s == '$' && (isalnum((unsigned char)s[1 + n]) || s[1 + n] == '_')) n++;
        bool is_op = n == 2 && begins(s, "$op");
        const char *value = is_op ? find(names, "1", 1) : n ? find(names, s + 1, n) : NULL;
        if (is_op && *value == '@') value = strchr(value, ' ') + 1;
        if (value) fputs(expand(value, is_op ? strcspn(value, " ;") : strlen(value), names), f);
        if (!value) fputc(*s, f);
        s += value ? 1 + n : 1;
    }
    fclose(f);
    return keep(result);
}

#define MORE "//:   "   /* a line that goes on with the fields of the one before; with 5 blanks */
#define SAME "//:     " /* it goes on with its last field */

static const char *next_line(const char *at)
{
    at += strcspn(at, "\n");
    return *at ? at + 1 : at;
}

/* The next field of a line of directives; NULL: there is none. */
static char *next_field(const char **at)
{
    char *field, *to;
    size_t size;
    const char *s = *at + strspn(*at, " ");
    if (*s == '\n' && begins(s + 1, MORE)) s += strlen("\n" MORE), s += strspn(s, " ");
    if (!*s || *s == '\n') return NULL;
    FILE *f = open_memstream(&field, &size);
    for (; *s && (*s != '\n' || begins(s + 1, SAME)) && !begins(s, "  "); s++)
        if (*s == '\n')
            fputc(' ', f), s += strlen(SAME);
        else
            fputc(*s, f);
    fclose(f);
    *at = s;
    to = keep(field);
    if (!strcmp(field, "\"\"")) *field = '\0';
    for (const char *from = field; (*to = *from); from++, to++) {
        if (*from != '\\' || !strchr("nx", from[1])) continue;
        *to = from[1] == 'n' ? '\n' : (char)strtoul((char[]){from[2], from[3], 0}, NULL, 16);
        from += from[1] == 'n' ? 1 : 3;
    }
    return field;
}

struct section { /* a case as the file has it; its lines end with \n */
    const char *file;
    int line, fields, rows, sets;
    char *field[MOST_FIELDS];
    const char *row[1000], *set[4];
    struct names names; /* the lets before it */
    char *frame, *body;
};

/* The lines up to the next directive, without comments. */
static char *lines_of(const char *at, const char **end)
{
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    for (; *at && !begins(at, "//:"); at = next_line(at))
        if (*at != '\n' && !begins(at, "// "))
            fprintf(f, "%s%.*s", ftell(f) ? "\n" : "", (int)strcspn(at, "\n"), at);
    fclose(f);
    *end = at;
    return keep(text);
}

/* Every frame but a raw one has a header, and what is in no kernel is put into one. */
static char *frame_of(const char *head, const char *body)
{
    bool is_text = !strcmp(head, "frame text") || strstr(body, ".entry"),
         is_raw = !strcmp(head, "frame raw") || begins(body, ".version");
    return print("%s%s%s",
                 is_raw    ? ""
                 : is_text ? PTX_HEADER
                           : PTX_PROLOGUE("k"),
                 *body ? body : "$body", is_raw || is_text ? "" : "\n}\n.file 1 \"k.cu\"\n");
}

/* Calls `each` with every case of a file, or with the one in a line. */
static void read_sections(const char *path, int line, void (*each)(const struct section *))
{
    struct names lets = {0};
    char *frame = frame_of("", ""), *text = NULL;
    size_t size = 0;
    FILE *f = fopen(path, "r");
    if (!f || getdelim(&text, &size, EOF, f) < 0) abort();
    fclose(f);
    keep(text);
    int number = 1;
    for (const char *at = text, *counted = text; *at;) {
        struct section s = {.file = path};
        for (; counted < at; counted++) number += *counted == '\n';
        s.line = number;
        if (!begins(at, "//: ")) {
            at = next_line(at);
            continue;
        }
        at += strlen("//: ");
        for (const char *rest = at; (s.field[s.fields] = next_field(&rest));) s.fields++;
        for (at = next_line(at); begins(at, "//:"); at = next_line(at))
            if (begins(at, "//: row "))
                s.row[s.rows++] = at + strlen("//: row ");
            else if (begins(at, "//: each "))
                s.set[s.sets++] = at + strlen("//: each ");
            else if (!begins(at, MORE))
                break;
        char *body = lines_of(at, &at), *head = s.field[0];
        if (begins(head, "let "))
            name(&lets, head + 4, *body ? body : s.field[1]);
        else if (begins(head, "frame "))
            frame = frame_of(head, body);
        else if (!line || line == s.line) {
            s.names = lets, s.frame = frame, s.body = body;
            each(&s);
        }
    }
}

/* ---- a run ----------------------------------------------------------------------------------- */

struct run {
    const char *where; /* the file, the line, the case and its row, for messages */
    const struct section *section;
    char *field[MOST_FIELDS];
    struct emu *emu;
    struct emu_module *module;
    struct emu_kernel *kernel;
    struct emu_shape shape;
    size_t words;
    emu_addr place[2];
    int error;
};

/* The value of the field called `key`; NULL: there is none. `from` is where to go on. */
static const char *value_after(const struct run *r, const char *key, int *from)
{
    size_t length = strlen(key);
    for (; *from < r->section->fields; ++*from) {
        const char *field = r->field[*from];
        if (strncmp(field, key, length) || !strchr(" [", field[length])) continue;
        ++*from;
        return field[length] == ' ' ? field + length + 1 : field + length;
    }
    return NULL;
}

static const char *value_of(const struct run *r, const char *key)
{
    return value_after(r, key, &(int){1});
}

static unsigned long number_of(const struct run *r, const char *key, unsigned long otherwise)
{
    const char *value = value_of(r, key);
    return !value ? otherwise : *value ? strtoul(value, NULL, 0) : 1;
}

static void expect_text(const struct run *r, const char *got, const char *want)
{
    bool is_right = *want == '=' ? !strcmp(got, want + 1) : strstr(got, want) != NULL;
    cr_expect(is_right, "%s: \"%s\" is wanted, and it is: %s", r->where, want, got);
}

static struct emu_dim dim_of(const char *text)
{
    struct emu_dim d = {1, 1, 1};
    sscanf(text, "%u,%u,%u", &d.x, &d.y, &d.z);
    return d;
}

static size_t size_of(struct emu_dim d) { return (size_t)d.x * d.y * d.z; }

static void open_run(struct run *r)
{
    const char *checks = value_of(r, "check"), *gpu = value_of(r, "gpu"),
               *launch = value_of(r, "launch"), *cluster = value_of(r, "cluster");
    static const char *const names[] = {"memory", "race", "init", "sync"};
    struct emu_config config = {
        .threads = (unsigned)number_of(r, "threads", 1),
        .memory = 64 << 20,
        .lenient = value_of(r, "lenient"),
        .patience = (unsigned)number_of(r, "patience", 0),
        .instruction_limit = number_of(r, "limit", 0),
        .descending = value_of(r, "descending"),
        .clock_seed = number_of(r, "seed", 0),
        .gpu = gpu ? emu_gpu_find(gpu) : NULL,
        .counters = value_of(r, "total") || value_of(r, "line") || value_of(r, "operation"),
    };
    for (unsigned k = 0; k < 4 && checks; k++)
        if (strstr(checks, names[k])) config.checks |= 1u << k;
    r->emu = open_emu_with(&config);
    r->shape = (struct emu_shape){.grid = {1, 1, 1}, .block = {32, 1, 1}};
    if (launch) {
        r->shape.grid = dim_of(launch);
        r->shape.block = dim_of(strchr(launch, 'x') + 1);
        if (strchr(launch, '+')) r->shape.dynamic_shared = strtoul(strchr(launch, '+'), NULL, 0);
    }
    if (cluster) r->shape.cluster = dim_of(cluster);
    r->words = number_of(r, "words", size_of(r->shape.grid) * size_of(r->shape.block));
}

/* Loads the text, or the texts between the lines $next, and asks for the kernel. */
static int load(struct run *r, char *text)
{
    static const char *const names[] = {"a.ptx", "b.ptx", "c.ptx"};
    struct emu_ptx parts[3];
    size_t count = 0;
    for (char *at = text, *next; at; at = next) {
        if ((next = strstr(at, "$next\n"))) *next = '\0', next += strlen("$next\n");
        parts[count] = (struct emu_ptx){.text = at, .length = strlen(at), .name = names[count]};
        count++;
    }
    int e = count > 1 ? emu_link(r->emu, parts, count, &r->module)
                      : emu_load(r->emu, text, strlen(text), "k.ptx", &r->module);
    const char *entry = value_of(r, "entry");
    return e ? e : emu_kernel(r->emu, r->module, entry ? entry : "k", &r->kernel);
}

/* True if the case is about the loading alone. */
static bool is_refusal(const struct run *r, int error)
{
    static const struct {
        const char *key;
        int errors[4];
    } kinds[] = {{"taken", {EMU_OK}},
                 {"invalid", {EMU_INVALID_PTX}},
                 {"unsupported", {EMU_UNSUPPORTED_PTX}},
                 {"refused",
                  {EMU_INVALID_PTX, EMU_UNSUPPORTED_PTX, EMU_SYMBOL_NOT_FOUND,
                   EMU_INVALID_DEVICE_FUNCTION}}};
    const char *message = error ? emu_message(r->emu) : "(it was taken)", *want;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (!(want = value_of(r, kinds[k].key))) continue;
        bool is_kind = false;
        for (int i = 0; i < 4; i++) is_kind |= error == kinds[k].errors[i] && (!i || error);
        cr_expect(is_kind, "%s: %s: error %d: %s", r->where, kinds[k].key, error, message);
        expect_text(r, message, want);
        for (int i = 1; (want = value_after(r, "says", &i));) expect_text(r, message, want);
        return true;
    }
    cr_expect(!error, "%s: error %d: %s", r->where, error, message);
    return error;
}

static struct scope scope_of(const struct run *r, uint32_t *w[BUFFERS])
{
    return (struct scope){.block = (int64_t)size_of(r->shape.block),
                          .w = {w[OUT], w[IN], w[AFTER]},
                          .words = (int64_t)r->words};
}

/* Fills the buffers, launches, and reads them. */
static void launch_run(struct run *r, uint32_t *w[BUFFERS])
{
    const char *in = value_of(r, "in"), *out = value_of(r, "out");
    size_t bytes = r->words * 4;
    struct scope s = scope_of(r, w);
    for (size_t k = 0; k < r->words && in && strncmp(in, "new", 3); k++) {
        int64_t value = 0;
        element(&s, in, (int64_t)k, &value);
        w[IN][k] = (uint32_t)value;
    }
    for (int k = OUT; k <= IN; k++) {
        const char *text = k == OUT ? out : in;
        bool is_new = text && !strncmp(text, "new", 3);
        cr_assert(!emu_alloc(r->emu, bytes, &r->place[k]), "%s", emu_message(r->emu));
        cr_assert(is_new ? !emu_fill(r->emu, r->place[k], 0, strtoul(text + 3, NULL, 0))
                         : !emu_write(r->emu, r->place[k], w[k], bytes));
    }
    for (unsigned long k = number_of(r, "launches", 1); k > 0 && !r->error; k--)
        r->error = emu_launch_shape(r->emu, r->kernel, &r->shape,
                                    (void *[]){&r->place[OUT], &r->place[IN]});
}

static void expect_error(struct run *r)
{
    static const struct {
        const char *name;
        int error;
    } names[] = {{"ADDRESS", EMU_ILLEGAL_ADDRESS},
                 {"MISALIGNED", EMU_MISALIGNED_ADDRESS},
                 {"SPACE", EMU_INVALID_ADDRESS_SPACE},
                 {"INSTRUCTION", EMU_ILLEGAL_INSTRUCTION},
                 {"FAILURE", EMU_LAUNCH_FAILURE},
                 {"TIMEOUT", EMU_LAUNCH_TIMEOUT},
                 {"RESOURCES", EMU_LAUNCH_OUT_OF_RESOURCES},
                 {"INVALID", EMU_INVALID_VALUE},
                 {"OK", EMU_OK}};
    const char *name = value_of(r, "error"), *says;
    int want = 0;
    for (size_t k = 0; name && k < sizeof names / sizeof *names; k++)
        if (!strcmp(name, names[k].name)) want = names[k].error, name = NULL;
    cr_assert(!name, "%s: what is error %s?", r->where, name);
    cr_expect(r->error == want, "%s: error %d is wanted, and it is %d: %s", r->where, want,
              r->error, r->error ? emu_message(r->emu) : "");
    for (int i = 1; want && (says = value_after(r, "says", &i));)
        expect_text(r, emu_message(r->emu), says);
    if (!r->error) return;
    uint32_t out = 0, in = 1; /* the device still works */
    run_kernel(r->emu, PTX_KERNEL("k", "st.global.u32 [%out], 9;\nret;\n"), 1, 1, &out, &in);
    cr_expect(out == 9, "%s: after the error", r->where);
}

static void expect_findings(struct run *r)
{
    const char *want = value_of(r, "found"), *text;
    if (!want && !value_of(r, "check")) return;
    const struct emu_finding *f = emu_findings(r->emu) ? emu_finding(r->emu, 0) : NULL;
    const char *first = f ? print("%s\n%s", f->head, f->detail ? f->detail : "") : "";
    cr_expect(emu_findings(r->emu) == number_of(r, "found", value_of(r, "find") ? 1 : 0),
              "%s: %zu findings: %s", r->where, emu_findings(r->emu), first);
    for (int i = 1; (text = value_after(r, "find", &i));) expect_text(r, first, text);
}

static void expect_words(const struct run *r, const char *key, uint32_t *w[BUFFERS], int buffer)
{
    struct scope s = scope_of(r, w);
    const char *list;
    int64_t want;
    for (int i = 1; (list = value_after(r, key, &i));) {
        bool is_one = *list == '[';
        size_t first = is_one ? strtoul(list + 1, NULL, 0) : 0;
        if (is_one) list = strchr(list, ']') + 1;
        for (size_t k = first; k < (is_one ? first + 1 : r->words); k++) {
            if (!strncmp(list, "new", 3) || !element(&s, list, is_one ? 0 : (int64_t)k, &want))
                break;
            if (buffer == BUFFERS ? want != 0 : w[buffer][k] == (uint32_t)want) continue;
            cr_expect(false, "%s: %s: word %zu is 0x%x (%d), and 0x%x (%d) is wanted: %s", r->where,
                      key, k, buffer == BUFFERS ? 0 : w[buffer][k],
                      buffer == BUFFERS ? 0 : (int)w[buffer][k], (unsigned)want, (int)want, list);
            break;
        }
    }
}

/* ---- counts ---------------------------------------------------------------------------------- */

struct number {
    const char *name;
    size_t offset;
};
/* clang-format off */
#define COUNT(member)  {#member, offsetof(struct emu_counts, member)}
#define SHARED(member) COUNT(member.instructions), COUNT(member.wavefronts), COUNT(member.ideal), \
                       COUNT(member.source_ideal)
#define GLOBAL(member) COUNT(member.requests), COUNT(member.sectors), COUNT(member.bytes)
static const struct number numbers[] = {
    COUNT(instructions), COUNT(lanes), COUNT(barriers), SHARED(shared_ld), SHARED(shared_st),
    SHARED(shared_atom), SHARED(shared_copy), COUNT(copies.requests),
    COUNT(copies.sectors), COUNT(copies.cached_requests), COUNT(copies.cached_sectors),
    SHARED(ldmatrix), SHARED(stmatrix), GLOBAL(global_ld), GLOBAL(global_st),
    GLOBAL(global_atom), GLOBAL(global_red), GLOBAL(local_ld), GLOBAL(local_st),
    {"adds.f32", offsetof(struct emu_counts, adds[EMU_ADD_F32])},
    {"adds.f64", offsetof(struct emu_counts, adds[EMU_ADD_F64])},
    {"adds.f16", offsetof(struct emu_counts, adds[EMU_ADD_F16])},
    {"adds.i32", offsetof(struct emu_counts, adds[EMU_ADD_I32])},
    {"adds.i64", offsetof(struct emu_counts, adds[EMU_ADD_I64])}};
/* clang-format on */

/* NAME=N of the counts; an operation's have three names of their own. */
static void expect_counts(const struct run *r, const char *of, const char *wanted,
                          const struct emu_counts *c, const struct emu_operation *o)
{
    char name[NAME];
    unsigned long want;
    for (const char *at = wanted; (at = strpbrk(at, " ")) && *++at;) {
        if (sscanf(at, "%79[^= ]=%lu", name, &want) != 2) continue;
        uint64_t got = UINT64_MAX;
        for (size_t k = 0; c && k < sizeof numbers / sizeof *numbers; k++)
            if (!strcmp(name, numbers[k].name))
                got = *(const uint64_t *)((const char *)c + numbers[k].offset);
        if (o) got = *name == 'i' ? o->instructions : *name == 'l' ? o->lanes : o->elements;
        cr_expect(got == want, "%s: %s: %s is %lld, and %lu is wanted", r->where, of, name,
                  (long long)got, want);
    }
}

/* No instruction is left out or counted twice: each is in one class and in one operation. */
static void expect_sums(const struct run *r, const struct emu_launch_record *record)
{
    uint64_t classes = 0, instructions = 0, lanes = 0;
    for (int c = 0; c < EMU_CLASSES; c++) classes += record->total.classes[c];
    for (size_t i = 0; i < record->operation_count; i++) {
        instructions += record->operations[i].instructions;
        lanes += record->operations[i].lanes;
    }
    cr_expect(classes == record->total.instructions && instructions == classes &&
                  lanes == record->total.lanes,
              "%s: %llu in classes, %llu in operations", r->where, (unsigned long long)classes,
              (unsigned long long)instructions);
}

static void expect_counters(const struct run *r)
{
    const char *text;
    char name[NAME], type[NAME], kind[NAME];
    unsigned line;
    if (!emu_records(r->emu)) return;
    const struct emu_launch_record *record = emu_record(r->emu, 0);
    expect_sums(r, record);
    if ((text = value_of(r, "lines")))
        cr_expect(record->line_count == strtoul(text, NULL, 0), "%s: %zu lines", r->where,
                  record->line_count);
    for (int i = 1; (text = value_after(r, "total", &i));)
        expect_counts(r, "total", text - 1, &record->total, NULL);
    for (int i = 1; (text = value_after(r, "line", &i));) {
        const struct emu_counts *found = NULL;
        cr_assert(sscanf(text, "%79[^:]:%u", name, &line) == 2, "%s: %s", r->where, text);
        for (size_t k = 0; k < record->line_count; k++)
            if (record->lines[k].line == line && !strcmp(record->lines[k].file, name))
                found = &record->lines[k].counts;
        cr_expect(found, "%s: nothing is counted for %s:%u", r->where, name, line);
        expect_counts(r, text, text, found, NULL);
    }
    for (int i = 1; (text = value_after(r, "operation", &i));) {
        const struct emu_operation *found = NULL;
        cr_assert(sscanf(text, "%79s %79s %79s", name, type, kind) == 3, "%s", text);
        for (size_t k = 0; k < record->operation_count; k++)
            if (!strcmp(record->operations[k].name, name) &&
                !strcmp(record->operations[k].type, strcmp(type, "-") ? type : ""))
                found = &record->operations[k];
        cr_expect(found && !strcmp(emu_class_name(found->work_class), kind),
                  "%s: %s of %s is not counted as %s", r->where, name, type, kind);
        expect_counts(r, name, text, NULL, found);
    }
}

static void expect_info(const struct run *r)
{
    const struct emu_kernel_info *k = emu_kernel_info(r->kernel);
    const char *text = value_of(r, "info");
    char name[NAME];
    unsigned long want;
    if (!text) return;
    cr_assert(sscanf(text, "%79[^=]=%lu", name, &want) == 2, "%s", text);
    size_t got = *name == 'r' ? k->registers : *name == 'm' ? k->max_threads : k->shared_bytes;
    cr_expect(got == want, "%s: %s is %zu, and %lu is wanted", r->where, name, got, want);
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* A field that is written wrongly would expect nothing. */
static void expect_known(const char *where, const char *field)
{
    static const char keys[] =
        " launch cluster launches entry words threads lenient patience limit descending seed gpu"
        " slow check in out after holds error says invalid unsupported refused taken found find"
        " copied info total lines line operation ";
    const char *key = print(" %.*s ", (int)strcspn(field, " ["), field);
    cr_assert(strstr(keys, key) || *field == ' ', "%s: what is \"%s\"?", where, field);
}

static void run_one(struct run *r, const struct names *names)
{
    const struct section *s = r->section;
    struct names all = *names;
    name(&all, "body", s->body);
    for (int k = 0; k < s->fields; k++) {
        char *field = expand(s->field[k], strlen(s->field[k]), names);
        r->field[k] = strchr(field, ' ') ? field : print("%s ", field);
        if (k) expect_known(r->where, r->field[k]);
    }
    open_run(r);
    r->error = load(r, expand(s->frame, strlen(s->frame), &all));
    if (!r->error) expect_info(r);
    if (!is_refusal(r, r->error)) {
        uint32_t *w[BUFFERS];
        for (int k = 0; k < BUFFERS; k++) w[k] = calloc(r->words + 1, 4);
        launch_run(r, w);
        expect_findings(r);
        expect_counters(r);
        cr_assert(!emu_read(r->emu, w[OUT], r->place[OUT], r->words * 4));
        cr_assert(!emu_read(r->emu, w[AFTER], r->place[IN], r->words * 4));
        if (value_of(r, "copied"))
            cr_expect(emu_findings(r->emu) == number_of(r, "copied", 0),
                      "%s: %zu findings after the copies", r->where, emu_findings(r->emu));
        expect_words(r, "out", w, OUT);
        expect_words(r, "after", w, AFTER);
        expect_words(r, "holds", w, BUFFERS);
        expect_error(r);
        for (int k = 0; k < BUFFERS; k++) free(w[k]);
    }
    emu_close(r->emu);
}

/* Runs it with each combination of the sets from `set` on; `where` names the row and those before.
 */
static void run_sets(const struct section *s, struct names names, int set, const char *where)
{
    if (set == s->sets) {
        run_one(&(struct run){.section = s, .where = where}, &names);
        return;
    }
    const char *at = s->set[set], *heads = next_field(&at);
    char *value;
    while ((value = next_field(&at))) {
        struct names more = names;
        const char *place = print("%s: %s", where, value);
        for (char *head = print("%s", heads), *one; (one = strsep(&head, "/"));) {
            cr_assert(value, "%s", place);
            name(&more, one, head ? strsep(&value, "/") : value);
        }
        run_sets(s, more, set + 1, place);
    }
}

static void run_section(const struct section *s)
{
    cr_assert(begins(s->field[0], "case "), "%s:%d: %s", s->file, s->line, s->field[0]);
    for (int k = 0; k < s->rows || k == 0; k++) {
        struct names names = s->names;
        const char *at = s->rows ? s->row[k] : "", *value;
        const char *where =
            print("%s:%d: %s: %.*s", s->file, s->line, s->field[0] + 5, (int)strcspn(at, "\n"), at);
        for (int n = 1; (value = next_field(&at)); n++) name(&names, print("%d", n), value);
        run_sets(s, names, 0, where);
    }
}

struct parameter {
    char file[60];
    int line;
};
enum { MOST_CASES = 400 };
static struct {
    struct parameter all[MOST_CASES];
    size_t count;
} cases[2]; /* quick ones and slow ones */

/* Nothing is asserted here, outside of a test. */
static void add_case(const struct section *s)
{
    bool is_slow = false;
    for (int k = 0; k < s->fields; k++) is_slow |= !strcmp(s->field[k], "slow");
    if (cases[is_slow].count == MOST_CASES) abort();
    struct parameter *p = &cases[is_slow].all[cases[is_slow].count++];
    snprintf(p->file, sizeof p->file, "%s", s->file);
    p->line = s->line;
}

static struct criterion_test_params find_cases(bool is_slow)
{
    glob_t found;
    cases[0].count = cases[1].count = 0;
    if (glob("tests/cases/ptx/*.ptx", 0, NULL, &found)) abort();
    for (size_t k = 0; k < found.gl_pathc; k++) read_sections(found.gl_pathv[k], 0, add_case);
    globfree(&found);
    return cr_make_param_array(struct parameter, cases[is_slow].all, cases[is_slow].count);
}

static void run_case(const struct parameter *p) { read_sections(p->file, p->line, run_section); }

ParameterizedTestParameters(ptx, cases) { return find_cases(false); }
ParameterizedTest(struct parameter *p, ptx, cases, .timeout = 60) { run_case(p); }

ParameterizedTestParameters(ptx, cases_slow) { return find_cases(true); }
ParameterizedTest(struct parameter *p, ptx, cases_slow, .timeout = 60) { run_case(p); }
