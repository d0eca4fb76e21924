/* builtin.c — printf, assert, malloc and free in kernels. */
#include "ops.h"
#include "common/tools/emu/machine/device.h"
#include "common/tools/emu/machine/events.h"
#include <inttypes.h>

/* vprintf */
static void builtin_printf(struct warp *, const struct insn *, uint32_t mask);

/* ---- __assertfail, malloc and free in kernels ------------------------------------------------ */

uint64_t builtin_argument(const struct warp *w, const struct insn *i, int lane, unsigned index,
                          size_t bytes)
{
    uint64_t value = 0;
    if (index >= i->call->arguments || i->call->argument_size[index] < bytes) return 0;
    area_read(w->frame, lane, i->call->argument_offset[index], &value, bytes);
    return value;
}

void builtin_set_result(struct warp *w, const struct insn *i, int lane, const void *value,
                        size_t bytes)
{
    if (i->call->result_size >= bytes)
        area_write(w->frame, lane, i->call->result_offset, value, bytes);
}

/* The address of `bytes` bytes at an offset of a space of `size` bytes; NULL if they do not lie
 * inside. */
static const void *inside(const uint8_t *space, size_t size, uint64_t offset, size_t bytes)
{
    return bytes <= size && offset <= size - bytes ? space + offset : NULL;
}

static const void *view_shared(const struct warp *w, uint64_t address, size_t bytes)
{
    const struct cluster *cluster = w->block->cluster;
    uint64_t rank = address >> RANK_SHIFT;
    if (rank >= cluster->size || cluster->blocks[rank]->ended) return NULL;
    const struct block *owner = cluster->blocks[rank];
    return inside(owner->shared, owner->shared_bytes, shared_offset(address), bytes);
}

static bool read_local(const struct warp *w, int lane, uint64_t offset, void *to, size_t bytes)
{
    if (!inside(w->local, w->block->launch->kernel->stack_bytes, offset, bytes)) return false;
    for (size_t k = 0; k < bytes; k++) ((uint8_t *)to)[k] = *local_byte(w, offset + k, lane);
    return true;
}

/* NULL: the address is not in these spaces, or the bytes may not be read. */
static const void *view(const struct warp *w, uint64_t address, size_t bytes)
{
    const struct launch *launch = w->block->launch;
    struct range range;
    if (address - SHARED_WINDOW < WINDOW_BYTES)
        return view_shared(w, address - SHARED_WINDOW, bytes);
    if (address - PARAM_WINDOW < WINDOW_BYTES)
        return inside(launch->params, launch->kernel->param_bytes, address - PARAM_WINDOW, bytes);
    if (!device_range(launch->emu, address, &range) || bytes > range.bytes - (address - range.base))
        return NULL;
    return (const void *)(uintptr_t)(address + (uint64_t)range.delta);
}

bool builtin_read(const struct warp *w, int lane, uint64_t address, void *to, size_t bytes)
{
    if (address - LOCAL_WINDOW < WINDOW_BYTES)
        return read_local(w, lane, address - LOCAL_WINDOW, to, bytes);
    const void *from = view(w, address, bytes);
    if (from) memcpy(to, from, bytes);
    return from;
}

bool builtin_write(struct warp *w, int lane, uint64_t address, const void *from, size_t bytes)
{
    uint64_t offset = address - LOCAL_WINDOW;
    if (offset < WINDOW_BYTES) {
        if (!inside(w->local, w->block->launch->kernel->stack_bytes, offset, bytes)) return false;
        for (size_t k = 0; k < bytes; k++)
            *local_byte(w, offset + k, lane) = ((const uint8_t *)from)[k];
        return true;
    }
    void *to = (void *)(uintptr_t)view(w, address, bytes);
    if (!to) return false;
    memcpy(to, from, bytes);
    event_host_write(w->block->launch->emu, address, bytes);
    return true;
}

void builtin_read_string(const struct warp *w, int lane, uint64_t address, char *text)
{
    size_t length = 0;
    while (length < STRING_BYTES - 1 && builtin_read(w, lane, address + length, text + length, 1) &&
           text[length])
        length++;
    text[length] = '\0';
}

/* __assertfail(condition, file, line, function, character size) */
static void builtin_assert(struct warp *w, const struct insn *i, uint32_t mask)
{
    int lane = __builtin_ctz(mask);
    char condition[STRING_BYTES], file[STRING_BYTES], function[STRING_BYTES];
    builtin_read_string(w, lane, builtin_argument(w, i, lane, 0, 8), condition);
    builtin_read_string(w, lane, builtin_argument(w, i, lane, 1, 8), file);
    builtin_read_string(w, lane, builtin_argument(w, i, lane, 3, 8), function);
    struct emu_dim size = w->block->launch->block, id = w->block->id;
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned thread = w->index * WARP + (unsigned)__builtin_ctz(left);
        fprintf(stderr,
                "%s:%" PRIu64
                ": %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
                file, builtin_argument(w, i, lane, 2, 4), function, id.x, id.y, id.z,
                thread % size.x, thread / size.x % size.y, thread / size.x / size.y, condition);
    }
    fault(w, i, lane, EMU_ASSERT, "assertion `%.100s` failed", condition);
}

uint64_t builtin_allocate(struct warp *w, uint64_t bytes)
{
    struct emu *emu = w->block->launch->emu;
    uint64_t address = heap_alloc(&emu->heap, bytes);
    struct range range;
    charge_bytes(w, address ? bytes : 0);
    if (address && bytes && device_range(emu, address, &range))
        memset((void *)(uintptr_t)(address + (uint64_t)range.delta), FRESH_BYTE(emu), bytes);
    if (address) event_renew(emu, address, bytes);
    if (address) w->block->changed = true;
    return address;
}

/* malloc(bytes): returns 0 if the heap is exhausted */
void builtin_malloc(struct warp *w, const struct insn *i, uint32_t mask)
{
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        uint64_t address = builtin_allocate(w, builtin_argument(w, i, lane, 0, 8));
        builtin_set_result(w, i, lane, &address, sizeof address);
    }
}

bool builtin_release(struct warp *w, const struct insn *i, int lane, uint64_t address)
{
    struct emu *emu = w->block->launch->emu;
    uint64_t bytes;
    if (!address) return true;
    const char *wrong = heap_free(&emu->heap, address, &bytes);
    if (wrong)
        fault(w, i, lane, EMU_LAUNCH_FAILURE, "free of 0x%llx, %s", (unsigned long long)address,
              wrong);
    else if (bytes)
        event_drop(emu, address, bytes);
    w->block->changed = true;
    return !wrong;
}

void builtin_free(struct warp *w, const struct insn *i, uint32_t mask)
{
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        if (!builtin_release(w, i, lane, builtin_argument(w, i, lane, 0, 8))) return;
    }
}

void (*builtin_find(const char *name))(struct warp *, const struct insn *, uint32_t)
{
    if (!strcmp(name, "vprintf")) return builtin_printf;
    if (!strcmp(name, "__assertfail")) return builtin_assert;
    if (!strcmp(name, "malloc")) return builtin_malloc;
    if (!strcmp(name, "free")) return builtin_free;
    if (!strcmp(name, "host_call")) return builtin_host_call;
    return NULL;
}

/* ---- printf ---------------------------------------------------------------------------------- */

/* Vprintf, the device's printf (CUDA C++ Programming Guide, "Formatted Output").
 *
 * A conversion is formatted only if it is in the table below. The host's printf gets a
 * specification that is made here and takes only flags from the program's text. All other
 * conversions are printed unchanged, and so are those that the guide does not have (%zu, %.*f); %n
 * and %ls still consume their argument. Widths and precisions are limited to the length of a line.
 *
 * On a GPU the kernel copies up to 32 arguments to a buffer, for the conversions that it knows, and
 * the host formats them later. For a further argument the host reads on in the buffer, where the
 * format follows. So it is done here. The host knows %hhd, but the kernel does not.
 *
 * A call passes only the address of its arguments, not their number. So missing arguments are
 * reported only if the thread has no memory where they would lie. */

enum { LINE_BYTES = 4096 }; /* longer output is cut */
enum { MOST_ARGUMENTS = 32 };

enum conversion_kind {
    UNKNOWN,
    SIGNED,
    UNSIGNED,
    CHARACTER,
    FLOATING,
    STRING,
    POINTER,
    PERCENT,
    SKIPPED
};

/* A conversion of the format. */
struct conversion {
    size_t length; /* of its text in the format */
    enum conversion_kind kind;
    char type;
    char flags[6];            /* each at most once */
    int64_t width, precision; /* precision -1: none */
    bool width_is_argument;
    bool is_foreign;      /* C has it, and CUDA's guide does not */
    unsigned bytes;       /* of the argument; 0: no argument */
    unsigned value_bytes; /* of an integer */
};

/* The text of one lane so far, and its arguments. */
struct line {
    struct warp *warp;
    const struct insn *insn;
    int lane;
    const char *format;
    uint64_t at; /* address of the next argument; each is aligned to its size */
    uint64_t buffer[MOST_ARGUMENTS];
    uint32_t arguments, taken;
    size_t used;
    char text[LINE_BYTES];
};

/* ---- reading a conversion -------------------------------------------------------------------- */

/* A number in decimal, or '*'. */
static const char *read_number(const char *c, int64_t *number, bool *is_argument)
{
    *number = 0;
    *is_argument = *c == '*';
    if (*is_argument) return c + 1;
    for (; *c >= '0' && *c <= '9'; c++)
        if (*number < LINE_BYTES) *number = 10 * *number + (*c - '0');
    return c;
}

static const char *read_flags(const char *c, char flags[6])
{
    size_t count = 0;
    for (; *c && strchr("-+ #0", *c); c++)
        if (!memchr(flags, *c, count)) flags[count++] = *c;
    flags[count] = '\0';
    return c;
}

/* Reads one of C's length modifiers. */
static const char *read_modifier(const char *c, const char **modifier)
{
    static const char *const all[] = {"hh", "h", "ll", "l", ""};
    size_t i = 0;
    while (strncmp(c, all[i], strlen(all[i]))) i++;
    *modifier = all[i];
    return c + strlen(all[i]);
}

static enum conversion_kind kind_of(char type, bool is_long)
{
    switch (type) {
    case 'd':
    case 'i': return SIGNED;
    case 'u':
    case 'o':
    case 'x':
    case 'X': return UNSIGNED;
    case 'c': return CHARACTER;
    case 's': return is_long ? SKIPPED : STRING;
    case 'n': return SKIPPED;
    case 'p': return POINTER;
    case '%': return PERCENT;
    default: return type && strchr("fFeEgGaA", type) ? FLOATING : UNKNOWN;
    }
}

/* Finds the size of the argument from modifier and type. On the device, long and pointers have 8
 * bytes. */
static void measure(struct conversion *conversion, const char *modifier)
{
    bool is_long = *modifier == 'l';
    conversion->bytes = sizeof(uint64_t);
    conversion->value_bytes = is_long                   ? sizeof(uint64_t)
                              : !strcmp(modifier, "hh") ? sizeof(char)
                              : *modifier == 'h'        ? sizeof(short)
                                                        : sizeof(int);
    switch (conversion->kind) {
    case SIGNED:
    case UNSIGNED:
    case CHARACTER: conversion->bytes = is_long ? sizeof(uint64_t) : sizeof(uint32_t); break;
    case UNKNOWN:
    case PERCENT: conversion->bytes = 0; break;
    default: break;
    }
}

/* Reads the conversion that begins with the '%' at `c`. */
static struct conversion read_conversion(const char *c)
{
    struct conversion conversion = {.precision = -1};
    bool is_star = false;
    const char *end = read_flags(c + 1, conversion.flags), *modifier;
    end = read_number(end, &conversion.width, &conversion.width_is_argument);
    if (*end == '.')
        end = read_number(end + 1, &conversion.precision, &is_star);
    end = read_modifier(end, &modifier);
    conversion.type = *end;
    conversion.kind = kind_of(*end, *modifier == 'l');
    bool is_other = conversion.kind == UNKNOWN && *end && strchr("jztLq", *end);
    conversion.is_foreign = is_star || is_other || !strcmp(modifier, "hh");
    if (is_star) conversion.kind = UNKNOWN;
    measure(&conversion, modifier);
    conversion.length = conversion.kind == UNKNOWN ? 1 : (size_t)(end + 1 - c);
    return conversion;
}

/* ---- its arguments --------------------------------------------------------------------------- */

/* Says what is wrong with a format, once per kernel however often it is launched. */
static void warn(const struct line *line, const char *what)
{
    struct emu *emu = line->warp->block->launch->emu;
    const struct emu_kernel *kernel = line->warp->block->launch->kernel;
    if (atomic_exchange(&emu->warned, kernel) == kernel) return;
    char place[500], name[200];
    describe_place(kernel, line->insn, place, sizeof place);
    kernel_base_name(kernel->info.name, name, sizeof name);
    fprintf(stderr, "emu: warning: printf's format %s, at %s in kernel %s\n", what, place, name);
}

/* Copies the next argument to the buffer; 0 if no memory is there. */
static void copy_argument(struct line *line, size_t bytes)
{
    if (line->arguments == MOST_ARGUMENTS) {
        warn(line, "has more than 32 arguments: for the others, text of the format is printed");
        return;
    }
    uint64_t bits = 0, at = (line->at + bytes - 1) / bytes * bytes;
    if (!builtin_read(line->warp, line->lane, at, &bits, bytes))
        warn(line,
             "takes more arguments than there are, and 0 is printed for each that is missing");
    line->at = at + bytes;
    line->buffer[line->arguments++] = bits;
}

static void copy_arguments(struct line *line)
{
    for (const char *c = strchr(line->format, '%'); c; c = strchr(c, '%')) {
        struct conversion conversion = read_conversion(c);
        c += conversion.length;
        if (conversion.type == 'n')
            warn(line, "has a %n, which CUDA does not support: nothing is stored");
        if (conversion.is_foreign)
            warn(line, "has a conversion that CUDA's printf does not have (hh, j, z, t, L or .*)");
        if (conversion.is_foreign || conversion.kind == UNKNOWN) continue;
        if (conversion.width_is_argument) copy_argument(line, sizeof(int32_t));
        if (conversion.bytes) copy_argument(line, conversion.bytes);
    }
}

static uint64_t next_argument(struct line *line)
{
    uint32_t k = line->taken++;
    if (k < line->arguments) return line->buffer[k];
    uint64_t bits = 0;
    size_t at = sizeof bits * (k - line->arguments), length = strlen(line->format);
    if (at < length)
        memcpy(&bits, line->format + at, length - at < sizeof bits ? length - at : sizeof bits);
    return bits;
}

static int cut(int64_t number) { return number > LINE_BYTES ? LINE_BYTES : (int)number; }

/* Takes a width from the arguments. A negative one means the flag '-' and its absolute value. */
static void take_width(struct line *line, struct conversion *conversion)
{
    if (conversion->width_is_argument) conversion->width = (int32_t)next_argument(line);
    if (conversion->width < 0) {
        conversion->width = -conversion->width;
        if (!strchr(conversion->flags, '-')) strcat(conversion->flags, "-");
    }
}

static void fault_of(struct line *line, const char *what, uint64_t address, const char *why)
{
    char nearest[300];
    device_describe_address(line->warp->block->launch->emu, address, nearest, sizeof nearest);
    fault(line->warp, line->insn, line->lane, EMU_ILLEGAL_ADDRESS,
          "the string at 0x%" PRIx64 " of printf's %s %s (%s)", address, what, why, nearest);
}

/* Reads a string and cuts it after `most` bytes or when the line is full. False after a fault. */
static bool take_string(struct line *line, const char *what, uint64_t address, size_t most,
                        char text[LINE_BYTES])
{
    size_t length = 0;
    if (most > LINE_BYTES - 1) most = LINE_BYTES - 1;
    for (; length < most; length++) {
        char byte;
        if (!builtin_read(line->warp, line->lane, address + length, &byte, 1)) {
            fault_of(line, what, address + length,
                     length ? "does not end in its memory" : "is in no memory");
            return false;
        }
        if (!byte) break;
        text[length] = byte;
    }
    text[length] = '\0';
    return true;
}

/* ---- printing -------------------------------------------------------------------------------- */

static int64_t sign_extended(uint64_t bits, unsigned bytes)
{
    unsigned unused = 8 * ((unsigned)sizeof bits - bytes);
    return (int64_t)(bits << unused) >> unused;
}

/* Prints a value with a specification made of the conversion's flags and `form`. */
#define PRINT(line, conversion, form, value)                                                       \
    do {                                                                                           \
        char spec[sizeof(conversion)->flags + sizeof "%*.*jX"];                                    \
        size_t room = LINE_BYTES - (line)->used;                                                   \
        snprintf(spec, sizeof spec, "%%%s*.*%s%c", (conversion)->flags, form, (conversion)->type); \
        int length = snprintf((line)->text + (line)->used, room, spec, cut((conversion)->width),   \
                              cut((conversion)->precision), value);                                \
        if (length > 0) (line)->used += (size_t)length < room ? (size_t)length : room - 1;         \
    } while (0)

static void print_integer(struct line *line, const struct conversion *conversion, uint64_t bits)
{
    int64_t value = sign_extended(bits, conversion->value_bytes);
    unsigned unused = 8 * ((unsigned)sizeof bits - conversion->value_bytes);
    if (conversion->kind == SIGNED)
        PRINT(line, conversion, "j", (intmax_t)value);
    else
        PRINT(line, conversion, "j", (uintmax_t)(bits << unused >> unused));
}

/* False after a fault. */
static bool print_string(struct line *line, const struct conversion *conversion, uint64_t address)
{
    char text[LINE_BYTES] = "(null)";
    size_t most = conversion->precision < 0 ? LINE_BYTES : (size_t)conversion->precision;
    if (address && !take_string(line, "%s", address, most, text)) return false;
    PRINT(line, conversion, "", text);
    return true;
}

static void print_text(struct line *line, const char *text, size_t length)
{
    size_t room = LINE_BYTES - 1 - line->used;
    if (length > room) length = room;
    memcpy(line->text + line->used, text, length);
    line->used += length;
}

/* Prints the conversion that begins at `c`. False after a fault. */
static bool print_conversion(struct line *line, const char *c, struct conversion *conversion)
{
    double value;
    uint64_t bits = 0;
    if (conversion->kind != UNKNOWN) take_width(line, conversion);
    if (conversion->bytes) bits = next_argument(line);
    memcpy(&value, &bits, sizeof value);
    switch (conversion->kind) {
    case SIGNED:
    case UNSIGNED: print_integer(line, conversion, bits); break;
    case CHARACTER: PRINT(line, conversion, "", (int)(unsigned char)bits); break;
    case FLOATING: PRINT(line, conversion, "", value); break;
    case STRING: return print_string(line, conversion, bits);
    case POINTER: PRINT(line, conversion, "", (void *)(uintptr_t)bits); break;
    case PERCENT: print_text(line, "%", 1); break;
    default: print_text(line, c, conversion->length);
    }
    return true;
}

/* False after a fault. */
static bool print_line(struct line *line)
{
    for (const char *c = line->format; *c && line->used < LINE_BYTES - 1;) {
        size_t plain = strcspn(c, "%");
        print_text(line, c, plain);
        c += plain;
        if (!*c) break;
        struct conversion conversion = read_conversion(c);
        if (!print_conversion(line, c, &conversion)) return false;
        c += conversion.length;
    }
    return true;
}

/* vprintf(format, arguments): each lane prints its own text, the lowest lane first. The result is
 * the number of arguments, unlike the host's printf, or -1 if the format is NULL. */
static void builtin_printf(struct warp *w, const struct insn *i, uint32_t mask)
{
    for (; mask; mask &= mask - 1) {
        struct line line = {.warp = w, .insn = i, .lane = __builtin_ctz(mask)};
        char format[LINE_BYTES];
        uint64_t address = builtin_argument(w, i, line.lane, 0, sizeof address);
        int32_t result = -1;
        line.at = builtin_argument(w, i, line.lane, 1, sizeof line.at);
        if (address) {
            line.format = format;
            if (!take_string(&line, "format", address, LINE_BYTES, format)) return;
            copy_arguments(&line);
            if (!print_line(&line)) return;
            fwrite(line.text, 1, line.used, stdout);
            result = (int32_t)line.arguments;
        }
        builtin_set_result(w, i, line.lane, &result, sizeof result);
    }
}
