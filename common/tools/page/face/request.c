/* request.c — reads a request, which is lines of words, and prints values. */
#define _GNU_SOURCE /* strndup */
#include "face.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* What is read, and where the reader is: in one line of it. `next` is where it goes on. */
struct reader {
    const char *at, *end, *next;
    char *message;
    size_t size;
};

static bool fail(struct reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(struct reader *r, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!*r->message) vsnprintf(r->message, r->size, format, arguments);
    va_end(arguments);
    return false;
}

/* ---- types of values ------------------------------------------------------------------------- */

/* NULL: unknown. */
static const struct value_type *value_type(const char *name, size_t length)
{
    static const struct value_type all[] = {{"u8", 1},  {"s8", 1},  {"u16", 2}, {"s16", 2},
                                            {"u32", 4}, {"s32", 4}, {"u64", 8}, {"s64", 8},
                                            {"f32", 4}, {"f64", 8}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (strlen(all[k].name) == length && !strncmp(all[k].name, name, length)) return &all[k];
    return NULL;
}

static void print_float(FILE *out, const struct value_type *type, const void *value)
{
    float single;
    double number;
    if (type->bytes == sizeof single) {
        memcpy(&single, value, sizeof single);
        fprintf(out, "%.9g", (double)single);
        return;
    }
    memcpy(&number, value, sizeof number);
    fprintf(out, "%.17g", number);
}

void value_print(FILE *out, const struct value_type *type, const void *value)
{
    if (*type->name == 'f') {
        print_float(out, type, value);
        return;
    }
    uint64_t bits = 0;
    memcpy(&bits, value, type->bytes); /* the host has its lowest byte first, as a GPU */
    unsigned unused = 64 - 8 * type->bytes;
    if (*type->name == 's')
        fprintf(out, "%" PRId64, (int64_t)(bits << unused) >> unused);
    else
        fprintf(out, "%" PRIu64, bits);
}

/* ---- words ----------------------------------------------------------------------------------- */

/* The next word of the line; an empty one at its end. */
static bool word(struct reader *r, char *to, size_t size)
{
    while (r->at < r->end && *r->at == ' ') r->at++;
    size_t length = 0;
    while (r->at < r->end && *r->at != ' ') {
        if (length + 1 == size) return fail(r, "a word of the request is too long");
        to[length++] = *r->at++;
    }
    to[length] = 0;
    return true;
}

static bool number(struct reader *r, const char *what, uint64_t *value)
{
    char text[40], *end;
    if (!word(r, text, sizeof text)) return false;
    errno = 0;
    *value = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && !errno) return true;
    return fail(r, "%s must be a whole number, and is \"%s\"", what, text);
}

static bool bytes(struct reader *r, const char *what, size_t *value)
{
    uint64_t wide;
    if (!number(r, what, &wide)) return false;
    *value = (size_t)wide;
    return *value == wide || fail(r, "%s is too large", what);
}

/* x,y,z */
static bool dimensions(struct reader *r, const char *what, struct emu_dim *dim)
{
    enum { AXES = 3, DECIMAL = 10 };
    uint32_t *to[AXES] = {&dim->x, &dim->y, &dim->z};
    char text[80], *at = text;
    if (!word(r, text, sizeof text)) return false;
    for (int k = 0; k < AXES; k++) {
        bool is_digit = *at >= '0' && *at <= '9';
        unsigned long long value = strtoull(at, &at, DECIMAL);
        if (!is_digit || value > UINT32_MAX || *at++ != (k + 1 < AXES ? ',' : 0))
            return fail(r, "%s must be three numbers with commas between them, and is \"%s\"", what,
                        text);
        *to[k] = (uint32_t)value;
    }
    return true;
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool put_number(struct reader *r, const struct value_type *type, const char *text, void *to)
{
    enum { DECIMAL = 10 };
    char *end;
    bool is_float = *type->name == 'f';
    double real = strtod(text, &end);
    if (end == text || *end) return fail(r, "\"%s\" is not a number", text);
    float single = (float)real;
    if (is_float) {
        if (type->bytes == sizeof single)
            memcpy(to, &single, sizeof single);
        else
            memcpy(to, &real, sizeof real);
        return true;
    }
    bool is_negative = *text == '-', is_signed = *type->name == 's';
    errno = 0;
    uint64_t bits = strtoull(text + is_negative, &end, DECIMAL);
    if (*end) return fail(r, "\"%s\" is not a whole number", text);
    uint64_t most = UINT64_MAX >> (64 - 8 * type->bytes + is_signed);
    if (errno || bits > most + (is_negative && is_signed) || (is_negative && !is_signed && bits))
        return fail(r, "\"%s\" does not fit into the type %s", text, type->name);
    if (is_negative) bits = -bits;
    memcpy(to, &bits, type->bytes);
    return true;
}

static bool put_values(struct reader *r, struct request_buffer *b)
{
    char text[64];
    for (size_t k = 0; k < b->count; k++) {
        if (!word(r, text, sizeof text)) return false;
        if (!*text)
            return fail(r, "buffer %s has %zu elements, and %zu values are given", b->name,
                        b->count, k);
        if (!put_number(r, b->type, text, (char *)b->values + k * b->type->bytes)) return false;
    }
    return true;
}

/* A pattern: element k has the value start + step · k, or a digit that only depends on k. */
static bool put_pattern(struct reader *r, struct request_buffer *b, const char *fill)
{
    enum { DIGITS = 10, TEXT = 24 };
    bool digits = !strcmp(fill, "digits"), ramp = !strcmp(fill, "ramp");
    if (!digits && !ramp && strcmp(fill, "zero") && strcmp(fill, "one"))
        return fail(r, "buffer %s cannot be filled with \"%s\"", b->name, fill);
    uint32_t state = 1;
    for (size_t k = 0; k < b->count; k++) {
        char text[TEXT], *to = (char *)b->values + k * b->type->bytes;
        state = state * 1664525 + 1013904223; /* Numerical Recipes' generator */
        uint64_t value = digits ? (state >> 16) % DIGITS : ramp ? k : !strcmp(fill, "one");
        snprintf(text, sizeof text, "%" PRIu64, value);
        if (*b->type->name == 'f')
            put_number(r, b->type, text, to);
        else
            memcpy(to, &value, b->type->bytes); /* a ramp begins anew after the largest value */
    }
    return true;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static bool read_buffer(struct reader *r, struct request *q)
{
    char type[8], fill[16];
    if (q->buffer_count == REQUEST_BUFFERS)
        return fail(r, "there are more than %d buffers", REQUEST_BUFFERS);
    struct request_buffer *b = &q->buffers[q->buffer_count];
    if (!word(r, b->name, sizeof b->name) || !word(r, type, sizeof type)) return false;
    b->type = value_type(type, strlen(type));
    if (!b->type) return fail(r, "buffer %s has the unknown type \"%s\"", b->name, type);
    if (!bytes(r, "the number of elements", &b->count) || !word(r, fill, sizeof fill)) return false;
    if (!b->count) return fail(r, "buffer %s has no elements", b->name);
    if (b->count > q->config.memory / b->type->bytes)
        return fail(r, "buffer %s has %zu elements of %u bytes, and the device has %zu bytes",
                    b->name, b->count, b->type->bytes, q->config.memory);
    q->buffer_count++;
    if (!strcmp(fill, "none")) return true;
    b->values = malloc(b->count * b->type->bytes);
    if (!b->values) return fail(r, "out of memory");
    return !strcmp(fill, "values") ? put_values(r, b) : put_pattern(r, b, fill);
}

static int find_buffer(const struct request *q, const char *name, size_t length)
{
    for (size_t k = 0; k < q->buffer_count; k++)
        if (strlen(q->buffers[k].name) == length && !strncmp(q->buffers[k].name, name, length))
            return (int)k;
    return -1;
}

/* NAME or NAME+BYTES. The offset is the argument's value until the buffer has an address. */
static bool read_address(struct reader *r, const struct request *q, struct request_launch *l,
                         unsigned k, const char *text)
{
    static const struct value_type offset = {"u64", sizeof(uint64_t)};
    size_t length = strcspn(text, "+");
    l->buffer[k] = find_buffer(q, text, length);
    if (l->buffer[k] < 0) return fail(r, "there is no buffer \"%.*s\"", (int)length, text);
    return !text[length] || put_number(r, &offset, text + length + 1, &l->argument[k]);
}

static bool read_argument(struct reader *r, const struct request *q, struct request_launch *l,
                          const char *text)
{
    unsigned k = l->argument_count;
    if (k == REQUEST_ARGUMENTS) return fail(r, "a launch has too many arguments");
    l->argument_count++;
    l->argument[k] = 0;
    l->buffer[k] = -1;
    if (*text == '@') return read_address(r, q, l, k, text + 1);
    const char *colon = strchr(text, ':');
    const struct value_type *type = colon ? value_type(text, (size_t)(colon - text)) : NULL;
    if (!type) return fail(r, "the argument \"%s\" is neither @BUFFER nor TYPE:NUMBER", text);
    return put_number(r, type, colon + 1, &l->argument[k]);
}

static bool read_launch(struct reader *r, struct request *q)
{
    char text[REQUEST_NAME + 1];
    if (q->launch_count == REQUEST_LAUNCHES)
        return fail(r, "there are more than %d launches", REQUEST_LAUNCHES);
    struct request_launch *l = &q->launches[q->launch_count++];
    if (!word(r, text, sizeof text)) return false;
    l->cooperative = *text == '+';
    if (strlen(text + l->cooperative) >= REQUEST_NAME)
        return fail(r, "a kernel's name has more than %d characters", REQUEST_NAME - 1);
    strcpy(l->kernel, text + l->cooperative);
    if (!dimensions(r, "the grid", &l->grid) || !dimensions(r, "the block", &l->block) ||
        !bytes(r, "the dynamic shared memory", &l->shared))
        return false;
    for (;;) {
        if (!word(r, text, sizeof text)) return false;
        if (!*text) return true;
        if (!read_argument(r, q, l, text)) return false;
    }
}

static bool read_model(struct reader *r, struct emu_config *config, bool is_gpu)
{
    char key[40];
    if (!word(r, key, sizeof key)) return false;
    if (is_gpu)
        config->gpu = emu_gpu_find(key);
    else
        config->model = emu_model_find(key);
    return (is_gpu ? (const void *)config->gpu : (const void *)config->model) ||
           fail(r, "\"%s\" is not the name of %s", key, is_gpu ? "a GPU" : "a GPU's rules");
}

static bool read_trace(struct reader *r, struct request *q)
{
    q->wants_trace = q->config.trace_steps = true;
    return r->at == r->end || number(r, "the number of events", &q->config.trace_limit);
}

/* Its text is the next lines. */
static bool read_header(struct reader *r, struct request *q)
{
    uint64_t lines;
    if (q->header_count == REQUEST_HEADERS)
        return fail(r, "there are more than %d headers", REQUEST_HEADERS);
    struct request_header *h = &q->headers[q->header_count];
    if (!word(r, h->path, sizeof h->path) || !number(r, "the number of lines", &lines))
        return false;
    const char *begin = r->next;
    while (lines-- && *r->next) {
        r->next += strcspn(r->next, "\n");
        r->next += *r->next != 0;
    }
    h->text = strndup(begin, (size_t)(r->next - begin));
    if (!h->text) return fail(r, "out of memory");
    q->header_count++;
    return true;
}

/* The rest of the request is the source. */
static bool read_source(struct reader *r, struct request *q)
{
    q->source = r->next;
    r->next += strlen(r->next);
    return word(r, q->source_name, sizeof q->source_name);
}

static bool read_lab(struct reader *r, struct request *q)
{
    return word(r, q->lab, sizeof q->lab) && read_source(r, q);
}

static bool read_line(struct reader *r, struct request *q)
{
    char key[16];
    uint64_t check = 0;
    if (!word(r, key, sizeof key)) return false;
    if (!strcmp(key, "buffer")) return read_buffer(r, q);
    if (!strcmp(key, "launch")) return read_launch(r, q);
    if (!strcmp(key, "gpu")) return read_model(r, &q->config, true);
    if (!strcmp(key, "rules")) return read_model(r, &q->config, false);
    if (!strcmp(key, "unordered")) {
        const char *name = r->at + (r->at < r->end); /* a file's name may have spaces */
        snprintf(q->unordered, sizeof q->unordered, "%.*s", (int)(r->end - name), name);
        q->config.unordered = q->unordered;
        return q->config.strict_readers = true;
    }
    if (!strcmp(key, "schedule")) return number(r, "the seed", &q->config.schedule);
    if (!strcmp(key, "limit")) return number(r, "the limit", &q->config.instruction_limit);
    if (!strcmp(key, "memory")) return bytes(r, "the memory", &q->config.memory);
    if (!strcmp(key, "program")) return q->is_program = true;
    if (!strcmp(key, "trace")) return read_trace(r, q);
    if (!strcmp(key, "header")) return read_header(r, q);
    if (!strcmp(key, "compile")) return read_source(r, q);
    if (!strcmp(key, "lab")) return read_lab(r, q);
    if (strcmp(key, "check")) return fail(r, "a line begins with the unknown word \"%s\"", key);
    if (!number(r, "the checkers", &check)) return false;
    q->config.checks = (unsigned)check & EMU_CHECK_ALL;
    return true;
}

bool request_read(struct request *q, const char *text, char *message, size_t size)
{
    enum { MEMORY = 16 << 20 };
    *message = 0;
    *q = (struct request){.config = {.threads = 1, .memory = MEMORY, .counters = true}, .ptx = ""};
    while (*text) {
        const char *end = strchr(text, '\n');
        if (!end) end = text + strlen(text);
        if (end - text == 3 && !strncmp(text, "ptx", 3)) {
            q->ptx = *end ? end + 1 : end;
            return true;
        }
        struct reader r = {.at = text, .end = end, .message = message, .size = size};
        r.next = *end ? end + 1 : end;
        if (end > text && !read_line(&r, q)) return false;
        text = r.next;
    }
    return true;
}

const char *request_header(const struct request *q, const char *path)
{
    for (size_t k = 0; k < q->header_count; k++)
        if (!strcmp(q->headers[k].path, path)) return q->headers[k].text;
    return NULL;
}

void request_free(struct request *q)
{
    for (size_t k = 0; k < q->buffer_count; k++) free(q->buffers[k].values);
    for (size_t k = 0; k < q->header_count; k++) free(q->headers[k].text);
}
