/* commands.c — the debugger's commands, with gdb's words where gdb has one. See debug.h. */
#define _POSIX_C_SOURCE 200809L /* MSG_NOSIGNAL */
#include "debug.h"
#include "common/files/json.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- the other end --------------------------------------------------------------------------- */

enum { LONGEST = 1 << 16 }; /* bytes of a message */

static void send_message(char kind, const char *text)
{
    char message[LONGEST];
    int length = snprintf(message, sizeof message, "%c%s", kind, text);
    if (length >= LONGEST) length = LONGEST - 1;
    if (send(session->socket, message, (size_t)length, MSG_NOSIGNAL) < 0) history_leave();
}

void say(const char *format, ...)
{
    char text[LONGEST - 1];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    send_message('o', text);
}

/* The next line. Without the other end there is nobody to debug for. */
static void ask(char line[LONGEST])
{
    ssize_t length;
    send_message('p', "");
    do length = recv(session->socket, line, LONGEST - 1, 0);
    while (length < 0 && errno == EINTR);
    if (length <= 0) history_leave();
    line[length] = '\0';
}

/* ---- what a command gets --------------------------------------------------------------------- */

struct at_stop {
    const struct lane *lane; /* NULL: no thread is there */
    struct lane own;
};

/* A command's function returns whether the run goes on. */
typedef bool command_fn(struct at_stop *, char *words);

static bool needs_lane(const struct at_stop *c)
{
    if (c->lane) return true;
    say(session_launch() ? "The block of the thread in focus has not begun, or has ended. `blocks` "
                           "says which are there, and `focus` chooses one.\n"
                         : "No kernel is running here: `back` goes to the end of the "
                           "one before.\n");
    return false;
}

static const char *named(struct emu_dim d, char text[48])
{
    snprintf(text, 48, "(%u,%u,%u)", d.x, d.y, d.z);
    return text;
}

/* ---- where the run stands -------------------------------------------------------------------- */

/* The kernel, the thread in focus, and its source line. */
static void say_place(const struct at_stop *c)
{
    const struct launch *launch = session_launch();
    char block[48], thread[48], name[200], text[LONGEST / 2];
    const char *file;
    if (!launch) return;
    kernel_base_name(launch->kernel->info.name, name, sizeof name);
    named(dim_at(session->block, launch->grid), block);
    named(dim_at(session->thread, launch->block), thread);
    if (!c->lane || !c->lane->fragment) {
        say("%s, block %s, thread %s, which %s\n", name, block, thread,
            c->lane ? "has exited" : "is not there: its block has not begun, or has ended");
        return;
    }
    unsigned line = line_at(launch->kernel, own_place(launch->kernel, c->lane->fragment), &file);
    if (line)
        say("%s, block %s, thread %s, at %s:%u\n", name, block, thread, source_name(file), line);
    else
        say("%s, block %s, thread %s, at PTX line %u\n", name, block, thread, lane_line(c->lane));
    if (source_line(file, line, text, sizeof text)) say("%u\t%s\n", line, text);
}

/* Visits the functions that a thread is in, the innermost first. */
typedef void frame_fn(void *to, unsigned number, const char *name, const char *file, unsigned line);
static void each_frame(const struct lane *lane, frame_fn *visit, void *to)
{
    const struct emu_kernel *kernel = session_launch()->kernel;
    char name[200];
    const char *file;
    uint32_t pc = lane->fragment->pc;
    unsigned number = 0;
    for (const struct frame *f = lane->fragment->frame; f; f = f->caller) {
        unsigned line = line_at(kernel, pc, &file);
        kernel_base_name(f->callee ? f->callee->function->name : kernel->info.name, name,
                         sizeof name);
        visit(to, number++, name, file, line);
        pc = f->caller ? f->return_pc - 1 : 0;
    }
}

static void say_frame(void *to, unsigned number, const char *name, const char *file, unsigned line)
{
    (void)to;
    say("#%u  %s at %s:%u\n", number, name, source_name(file), line);
}

static bool do_where(struct at_stop *c, char *words)
{
    (void)words;
    if (!needs_lane(c) || !c->lane->fragment)
        say_place(c);
    else
        each_frame(c->lane, say_frame, NULL);
    return false;
}

/* ---- the stop for programs ------------------------------------------------------------------- */

static const char *reason_of(const char *why)
{
    if (!why) return "focus";
    if (session->is_over && history_is_present()) return "end";
    if (session->place.inside) return "exception";
    if (strstr(why, "reakpoint ")) return "breakpoint";
    if (strstr(why, "Watchpoint ")) return "data breakpoint";
    if (!strcmp(why, "Interrupted")) return "pause";
    return session_launch() ? "step" : "entry";
}

static void put_frame(void *to, unsigned number, const char *name, const char *file, unsigned line)
{
    enum { MOST_FRAMES = 64 }; /* more may not fit into a message */
    struct json *j = to;
    if (number >= MOST_FRAMES) return;
    json_put(j, "{function$ file$ line#}", name, file, (uint64_t)line);
}

static void put_dim(struct json *j, const char *key, struct emu_dim d)
{
    json_numbers(j, key, (const uint64_t[]){d.x, d.y, d.z}, 3);
}

/* `why` is what is said of the stop, NULL for another thread in focus; `stop` the number of the
 * breakpoint, or 0. */
static void send_stop(const struct at_stop *c, const char *why, int stop)
{
    const struct launch *launch = session_launch();
    const struct fragment *f = c->lane ? c->lane->fragment : NULL;
    char *text, name[200];
    const char *file;
    size_t size;
    struct json j = {.out = allocated(open_memstream(&text, &size)), .depth = JSON_IN_LINE};
    json_put(&j, "{reason$ text$ launch# instruction#", reason_of(why), why, session->place.launch,
             session->place.time);
    if (stop) json_number(&j, "breakpoint", (uint64_t)stop);
    if (launch) {
        kernel_base_name(launch->kernel->info.name, name, sizeof name);
        json_text(&j, "kernel", name);
        put_dim(&j, "gridDim", launch->grid);
        put_dim(&j, "blockDim", launch->block);
        put_dim(&j, "block", dim_at(session->block, launch->grid));
        put_dim(&j, "thread", dim_at(session->thread, launch->block));
    }
    if (f) {
        uint64_t line = line_at(launch->kernel, f->pc, &file);
        json_put(&j, "file$ line#", file, line);
    }
    json_put(&j, "stack[");
    if (f) each_frame(c->lane, put_frame, &j);
    json_put(&j, "] }");
    fclose(j.out);
    send_message('s', text);
    free(text);
}

/* Which lanes of the warp are at a line of the file. */
static uint32_t lanes_at(const struct at_stop *c, unsigned line)
{
    uint32_t lanes = 0;
    const char *file;
    for (unsigned k = 0; c->lane && k < c->lane->warp->fragment_count; k++) {
        const struct fragment *f = &c->lane->warp->fragments[k];
        if (line_at(session_launch()->kernel, own_place(session_launch()->kernel, f), &file) ==
            line)
            lanes |= f->mask;
    }
    return lanes;
}

static const char *ranges(uint32_t lanes, char text[100])
{
    *text = '\0';
    for (int l = 0; l < WARP; l++) {
        int end = l;
        if (!(lanes >> l & 1)) continue;
        while (end + 1 < WARP && lanes >> (end + 1) & 1) end++;
        size_t used = strlen(text);
        snprintf(text + used, 100 - used, end > l ? "%s%d-%d" : "%s%d", used ? "," : "", l, end);
        l = end;
    }
    return text;
}

static bool do_list(struct at_stop *c, char *words)
{
    enum { AROUND = 5 };
    const char *file = NULL;
    char text[100];
    if (!needs_lane(c)) return false;
    const struct emu_kernel *kernel = session_launch()->kernel;
    const struct fragment *f = c->lane->fragment ? c->lane->fragment : c->lane->warp->fragments;
    unsigned line = line_at(kernel, own_place(kernel, f), &file);
    if (isdigit((unsigned char)*words)) line = (unsigned)strtoul(words, NULL, 10);
    char source[LONGEST / 2];
    for (unsigned n = line > AROUND ? line - AROUND : 1; n <= line + AROUND; n++) {
        if (!source_line(file, n, source, sizeof source)) break;
        uint32_t lanes = lanes_at(c, n);
        bool is_focus = c->lane->fragment && lanes >> c->lane->lane & 1;
        say("%-10s %c %u\t%s\n", lanes == ALL_LANES ? "all lanes" : ranges(lanes, text),
            is_focus ? '>' : ' ', n, source);
    }
    return false;
}

/* ---- breakpoints ----------------------------------------------------------------------------- */

static struct stop_point *free_stop(void)
{
    for (int k = 0; k < MOST_STOPS; k++)
        if (!session->stops[k].number) return &session->stops[k];
    say("There are %d breakpoints and watchpoints already; `delete` one.\n", MOST_STOPS);
    return NULL;
}

static char *trimmed(char *text)
{
    while (isspace((unsigned char)*text)) text++;
    size_t length = strlen(text);
    while (length && isspace((unsigned char)text[length - 1])) text[--length] = '\0';
    return text;
}

/* Where a breakpoint will be: in the kernel that runs, or in one that comes. */
static void say_breakpoint(const struct stop_point *stop)
{
    const struct launch *launch = session_launch();
    unsigned moved = 0;
    const char *file;
    uint32_t pc = 0;
    if (launch)
        while (pc < launch->kernel->code_count &&
               !session_matches(launch->kernel, stop->where, pc, &moved))
            pc++;
    if (launch && pc < launch->kernel->code_count) {
        line_at(launch->kernel, pc, &file);
        say("Breakpoint %d at %s:%u", stop->number, source_name(file), moved);
        const char *digits =
            strrchr(stop->where, ':') ? strrchr(stop->where, ':') + 1 : stop->where;
        bool has_moved = isdigit((unsigned char)*digits) && strtoul(digits, NULL, 10) != moved;
        say(has_moved ? ", the next line with code.\n" : ".\n");
    } else {
        say("Breakpoint %d at %s%s.\n", stop->number, stop->where,
            launch ? ", where the kernel that runs has no code; another one may" : "");
    }
}

static bool set_break(struct at_stop *c, char *words, bool is_temporary)
{
    char *condition = strstr(words, " if "), here[TEXT];
    const char *file;
    if (condition) *condition = '\0', condition += strlen(" if ");
    words = trimmed(words);
    if (!*words && c->lane && c->lane->fragment) {
        unsigned line = line_at(session_launch()->kernel, c->lane->fragment->pc, &file);
        snprintf(here, sizeof here, "%s:%u", source_name(file), line);
        words = here;
    }
    struct stop_point *stop = *words ? free_stop() : NULL;
    if (!*words)
        say("Where? break FILE.cu:LINE, break LINE or break KERNEL, then perhaps if ...\n");
    if (!stop) return false;
    *stop = (struct stop_point){.number = ++session->last_number, .is_temporary = is_temporary};
    snprintf(stop->where, sizeof stop->where, "%s", words);
    snprintf(stop->condition, sizeof stop->condition, "%s", condition ? trimmed(condition) : "");
    session->changes++;
    say_breakpoint(stop);
    return false;
}

static bool do_break(struct at_stop *c, char *words) { return set_break(c, words, false); }
static bool do_tbreak(struct at_stop *c, char *words) { return set_break(c, words, true); }

static bool do_delete(struct at_stop *c, char *words)
{
    int number = atoi(words);
    bool has_found = false;
    (void)c;
    for (int k = 0; k < MOST_STOPS; k++) {
        struct stop_point *stop = &session->stops[k];
        if (!stop->number || (*words && stop->number != number)) continue;
        stop->number = 0;
        has_found = true;
    }
    session->changes++;
    if (!has_found)
        say(*words ? "There is no breakpoint %s.\n" : "There are no breakpoints.\n", words);
    return false;
}

/* The word of memory that an expression names, for watch and who. */
static bool find_word(struct at_stop *c, const char *text, struct stop_point *word)
{
    struct typed_value value;
    char message[MESSAGE];
    if (!needs_lane(c)) return false;
    if (!*text) {
        say("Which variable? For example temp[5].\n");
        return false;
    }
    if (!expression_value(c->lane, text, &value, message)) {
        say("%s.\n", message);
        return false;
    }
    bool is_shared = value.address >= SHARED_WINDOW && value.address < LOCAL_WINDOW;
    if (!value.has_address || value.address >= LOCAL_WINDOW) {
        say("%s is a thread's own: in a register or in local memory. Only shared and global memory "
            "can be watched.\n",
            text);
        return false;
    }
    const struct block *block = c->lane->warp->block;
    word->is_shared = is_shared;
    word->address = is_shared ? shared_offset(value.address) : value.address;
    if (is_shared) block = block->cluster->blocks[(value.address - SHARED_WINDOW) >> RANK_SHIFT];
    word->block = block->index;
    word->bytes = value.type.bytes;
    snprintf(word->where, sizeof word->where, "%s", text);
    return true;
}

static bool set_watch(struct at_stop *c, char *words, bool is_read)
{
    struct stop_point word = {.is_watch = true, .is_read = is_read}, *stop;
    if (!find_word(c, words, &word) || !(stop = free_stop())) return false;
    word.number = ++session->last_number;
    *stop = word;
    session->changes++;
    say("Watchpoint %d: %s\n", word.number, words);
    return false;
}

static bool do_watch(struct at_stop *c, char *words) { return set_watch(c, words, false); }
static bool do_rwatch(struct at_stop *c, char *words) { return set_watch(c, words, true); }

static void say_breakpoints(void)
{
    bool has_some = false;
    for (int k = 0; k < MOST_STOPS; k++) {
        const struct stop_point *stop = &session->stops[k];
        if (!stop->number) continue;
        has_some = true;
        say("%-3d %s %s%s%s, hit %u times\n", stop->number,
            stop->is_watch       ? stop->is_read ? "rwatch" : "watch"
            : stop->is_temporary ? "tbreak"
                                 : "break",
            stop->where, *stop->condition ? " if " : "", stop->condition, stop->hits);
    }
    if (!has_some) say("There are no breakpoints.\n");
}

/* ---- values ---------------------------------------------------------------------------------- */

static void say_registers(const struct at_stop *c)
{
    const struct ptx_function *f = c->lane->fragment ? lane_function(c->lane) : NULL;
    char message[MESSAGE], text[MESSAGE];
    struct typed_value value;
    for (size_t k = 0; f && k < f->register_count; k++)
        if (expression_value(c->lane, f->registers[k].name, &value, message)) {
            value_print(c->lane, &value, text, sizeof text);
            say("%-8s %s\n", f->registers[k].name, text);
        }
}

/* The variables of the thread in focus, those of inner scopes last. Returns how many there are. */
static size_t visible_variables(const struct at_stop *c, const struct known_variable **found)
{
    enum { MOST = 256 };
    static struct known_variable all[MOST];
    const struct ptx_function *function = lane_function(c->lane);
    const struct dwarf *d = dwarf_of(&session_launch()->kernel->module->text, function->unit);
    *found = d ? all : NULL;
    return dwarf_variables(d, function, lane_line(c->lane), all, MOST);
}

static void say_variables(const struct at_stop *c)
{
    char message[MESSAGE], text[4 * MESSAGE];
    struct typed_value value;
    const struct known_variable *all;
    size_t count = visible_variables(c, &all);
    if (!all) {
        say("No names of variables: compile with nvcc -G, as `emu debug FILE.cu` does. `info "
            "registers` shows registers.\n");
        return;
    }
    for (size_t k = 0; k < count; k++) {
        bool is_known = expression_value(c->lane, all[k].name, &value, message);
        if (is_known) value_print(c->lane, &value, text, sizeof text);
        say("%s = %s\n", all[k].name, is_known ? text : "not kept here");
    }
}

static bool do_info(struct at_stop *c, char *words)
{
    size_t length = strlen(words);
    if (length && !strncmp("breakpoints", words, length))
        say_breakpoints();
    else if (length && !strncmp("watchpoints", words, length))
        say_breakpoints();
    else if (length && !strncmp("place", words, length))
        say("launch %" PRIu64 ", before warp instruction %" PRIu64 ": goto %" PRIu64 ":%" PRIu64
            "\n",
            session->place.launch, session->place.time, session->place.launch, session->place.time);
    else if (length && !strncmp("registers", words, length) && needs_lane(c))
        say_registers(c);
    else if (length &&
             (!strncmp("locals", words, length) || !strncmp("variables", words, length)) &&
             needs_lane(c))
        say_variables(c);
    else if (!length || session_launch())
        say("info breakpoints, info locals, info registers, or info place\n");
    return false;
}

/* print EXPR, print ARRAY[FIRST..LAST] */
static bool do_print(struct at_stop *c, char *words)
{
    char message[MESSAGE], text[4 * MESSAGE], one[TEXT];
    struct typed_value value;
    char *dots = strstr(words, ".."), *bracket = dots ? strrchr(words, '[') : NULL;
    if (!needs_lane(c)) return false;
    if (!dots || !bracket || bracket > dots) {
        if (!expression_value(c->lane, words, &value, message)) {
            say("%s.\n", message);
            return false;
        }
        value_print(c->lane, &value, text, sizeof text);
        say("%s = %s\n", words, text);
        return false;
    }
    *dots = *bracket = '\0';
    long first = strtol(bracket + 1, NULL, 0), last = strtol(dots + 2, NULL, 0);
    for (long k = first; k <= last && k - first < 1024; k++) {
        snprintf(one, sizeof one, "%s[%ld]", words, k);
        if (!expression_value(c->lane, one, &value, message)) {
            say("%s.\n", message);
            break;
        }
        value_print(c->lane, &value, text, sizeof text);
        say("%s = %s\n", one, text);
    }
    return false;
}

/* An expression's value in the 32 lanes. */
static bool do_lanes(struct at_stop *c, char *words)
{
    enum { COLUMNS = 8 };
    char message[MESSAGE] = "", text[MESSAGE], values[WARP][32];
    struct typed_value value;
    size_t width = 1;
    if (!needs_lane(c)) return false;
    bool is_same = !strcmp(session->of_lanes, words), has_some = false;
    for (int l = 0; l < WARP; l++) { /* a lane elsewhere may not have the variables */
        const struct lane one = {c->lane->warp, fragment_of(c->lane->warp, l), l};
        bool has_value = one.fragment && expression_value(&one, words, &value, message);
        has_some |= has_value;
        snprintf(text, sizeof text, "-");
        if (has_value) value_print(&one, &value, text, sizeof text);
        snprintf(values[l], sizeof values[l], "%.30s", text);
        if (strlen(values[l]) > width) width = strlen(values[l]);
    }
    if (!has_some) {
        say("%s.\n", message);
        return false;
    }
    uint32_t active = c->lane->fragment ? c->lane->fragment->mask : 0;
    bool has_changed = false, has_inactive = false;
    unsigned threads = c->lane->warp->block->threads - c->lane->warp->index * WARP;
    for (int row = 0; row < WARP && row < (int)threads; row += COLUMNS) {
        char line[COLUMNS * 40 + 32];
        int used = snprintf(line, sizeof line, "lanes %2d-%-2d ", row, row + COLUMNS - 1);
        for (int l = row; l < row + COLUMNS; l++) {
            bool differs =
                is_same && strcmp(values[l], session->lanes[l]) != 0 && *values[l] != '-';
            bool is_active = active >> l & 1;
            has_changed |= differs;
            has_inactive |= !is_active;
            used += snprintf(line + used, sizeof line - (size_t)used, " %s%*s%s%s",
                             is_active ? " " : "(", (int)width, values[l], is_active ? " " : ")",
                             differs ? "*" : " ");
        }
        while (used && line[used - 1] == ' ') line[--used] = '\0';
        say("%s\n", line);
    }
    if (has_inactive) say("( ): the lane is elsewhere\n");
    if (has_changed) say("*: another value than at the last `lanes %s`\n", words);
    snprintf(session->of_lanes, sizeof session->of_lanes, "%s", words);
    memcpy(session->lanes, values, sizeof values);
    return false;
}

/* Words from an address on, as integers and floats. */
static void say_words(const struct lane *l, uint64_t address, size_t count, uint64_t named)
{
    enum { A_LINE = 4 };
    for (size_t k = 0; k < count; k += A_LINE) {
        char line[200];
        int used = snprintf(line, sizeof line, "0x%" PRIx64 ":", named + k * 4);
        for (size_t n = k; n < k + A_LINE && n < count; n++) {
            char one[40];
            uint32_t word;
            if (!lane_read(l, address + n * 4, &word, sizeof word)) {
                say("%s%s\n", line, n > k ? "" : " no memory is there");
                return;
            }
            word_print(word, one, sizeof one);
            used += snprintf(line + used, sizeof line - (size_t)used, "  %s", one);
        }
        say("%s\n", line);
    }
}

static bool do_shared(struct at_stop *c, char *words)
{
    if (!needs_lane(c)) return false;
    const struct block *block = c->lane->warp->block;
    size_t count = block->reserved_offset / 4, most = *words ? strtoul(words, NULL, 0) : 64;
    if (!count) say("The block has no shared memory.\n");
    say_words(c->lane, SHARED_WINDOW + shared_window(block->rank), count < most ? count : most, 0);
    if (count > most) say("... of %zu words; `shared %zu` shows all\n", count, count);
    return false;
}

static bool do_memory(struct at_stop *c, char *words)
{
    char message[MESSAGE];
    struct typed_value value;
    size_t count = 16;
    char *comma = strrchr(words, ',');
    if (comma) *comma = '\0', count = strtoul(comma + 1, NULL, 0);
    if (!needs_lane(c)) return false;
    if (!*words) {
        say("memory ADDRESS, or memory ADDRESS, WORDS\n");
    } else if (!expression_value(c->lane, words, &value, message)) {
        say("%s.\n", message);
    } else {
        uint64_t address = value.address;
        if (value.type.kind != TYPE_ARRAY && value.type.kind != TYPE_STRUCT)
            memcpy(&address, value.bytes, sizeof address);
        say_words(c->lane, address, count ? count : 1, address);
    }
    return false;
}

static bool do_set(struct at_stop *c, char *words)
{
    char message[MESSAGE] = "", *sign = strchr(words, '=');
    if (!strncmp(words, "var ", 4)) words += 4;
    if (!sign) {
        say("set var VARIABLE = EXPRESSION\n");
    } else if (!history_is_present()) {
        say("The past cannot be changed: `continue` to where the history ends, and set it "
            "there.\n");
    } else if (needs_lane(c)) {
        *sign = '\0';
        if (!expression_assign(c->lane, trimmed(words), sign + 1, message))
            say("%s.\n", *message ? message : "No memory is there");
        else
            say("Earlier places do not have this change.\n");
    }
    return false;
}

/* ---- threads --------------------------------------------------------------------------------- */

/* What a fragment waits for. */
static void describe_state(const struct fragment *f, char *text, size_t size)
{
    switch (f->state) {
    case FRAGMENT_READY: *text = '\0'; break;
    case FRAGMENT_AT_BARRIER: snprintf(text, size, ", waits at barrier %u", f->barrier); break;
    case FRAGMENT_WAITING_FOR_PHASE:
        snprintf(text, size, ", waits for an mbarrier or a cluster");
        break;
    case FRAGMENT_WAITING_FOR_LANES:
        snprintf(text, size, ", waits for other lanes of its mask");
        break;
    }
}

static bool do_warps(struct at_stop *c, char *words)
{
    char lanes[100], waits[100];
    const char *file;
    (void)words;
    if (!needs_lane(c)) return false;
    const struct block *block = c->lane->warp->block;
    const struct emu_kernel *kernel = block->launch->kernel;
    for (unsigned k = 0; k < block->warp_count; k++) {
        const struct warp *w = &block->warps[k];
        if (!w->fragment_count) say("%c warp %u has ended\n", w == c->lane->warp ? '*' : ' ', k);
        for (unsigned n = 0; n < w->fragment_count; n++) {
            const struct fragment *f = &w->fragments[n];
            unsigned line = line_at(kernel, own_place(kernel, f), &file);
            describe_state(f, waits, sizeof waits);
            say("%c warp %u, lanes %s, at %s:%u%s\n", f == c->lane->fragment ? '*' : ' ', k,
                ranges(f->mask, lanes), source_name(file), line, waits);
        }
    }
    return false;
}

static void say_block(struct block *block, void *unused)
{
    char name[48];
    unsigned ended = 0;
    (void)unused;
    for (unsigned k = 0; k < block->warp_count; k++) ended += !block->warps[k].fragment_count;
    if (block->ended) return;
    say("%c block %s, %u of %u warps have ended\n", block->index == session->block ? '*' : ' ',
        named(block->id, name), ended, block->warp_count);
}

static bool do_blocks(struct at_stop *c, char *words)
{
    (void)c;
    (void)words;
    session_blocks(say_block, NULL);
    return false;
}

/* "37", "(1,0,0)" */
static bool read_dim(const char **at, struct emu_dim *d)
{
    unsigned x, y = 0, z = 0;
    int used = 0;
    if (sscanf(*at, " ( %u , %u , %u )%n", &x, &y, &z, &used) < 3 || !used) {
        y = z = 0;
        if (sscanf(*at, " ( %u , %u )%n", &x, &y, &used) < 2 || !used) {
            y = 0;
            if (sscanf(*at, " %u%n", &x, &used) < 1) return false;
        }
    }
    *at += used;
    *d = (struct emu_dim){x, y, z};
    return true;
}

static bool do_focus(struct at_stop *c, char *words)
{
    const struct launch *launch = session_launch();
    const char *at = words;
    struct emu_dim d;
    if (!launch) {
        say("No kernel is running here.\n");
        return false;
    }
    uint64_t block = session->block;
    uint64_t thread = session->thread;
    while (*at) {
        while (isspace((unsigned char)*at)) at++;
        bool is_block = !strncmp(at, "block", 5), is_thread = !strncmp(at, "thread", 6);
        at += is_block ? 5 : is_thread ? 6 : 0;
        if (!*at || !read_dim(&at, &d)) {
            say("focus block (1,0,0) thread 37, or one of the two\n");
            return false;
        }
        if (is_block)
            block = index_of(d, launch->grid);
        else
            thread = index_of(d, launch->block);
    }
    bool has_block = block < dim_count(launch->grid);
    if (!has_block || thread >= dim_count(launch->block)) {
        say("The launch has no such %s.\n", has_block ? "thread" : "block");
        return false;
    }
    session->block = block;
    session->thread = (unsigned)thread;
    c->lane = session_lane(&c->own) ? &c->own : NULL;
    send_stop(c, NULL, 0);
    say_place(c);
    return false;
}

/* ---- going on, and back ---------------------------------------------------------------------- */

/* Sets the goal. Of a step, the depth of calls where it begins. */
static bool set_goal(struct at_stop *c, enum go go, bool is_backward)
{
    struct goal *goal = &session->goal;
    *goal = (struct goal){.go = go, .from = session->place, .until = session->place};
    if (is_backward) goal->search = FOR_STOP;
    goal->is_in_thread = c->lane && c->lane->fragment;
    if (goal->is_in_thread) goal->depth = depth_of(c->lane->warp, c->lane->fragment);
    return true;
}

static bool do_continue(struct at_stop *c, char *w) { return (void)w, set_goal(c, GO_ON, false); }
static bool do_step(struct at_stop *c, char *w) { return (void)w, set_goal(c, GO_STEP, false); }
static bool do_next(struct at_stop *c, char *w) { return (void)w, set_goal(c, GO_NEXT, false); }
static bool do_back(struct at_stop *c, char *w) { return (void)w, set_goal(c, GO_STEP, true); }
static bool do_back_next(struct at_stop *c, char *w) { return (void)w, set_goal(c, GO_NEXT, true); }
static bool do_back_on(struct at_stop *c, char *w) { return (void)w, set_goal(c, GO_ON, true); }

static bool do_finish(struct at_stop *c, char *words)
{
    (void)words;
    if (!needs_lane(c)) return false;
    set_goal(c, GO_FINISH, false);
    if (session->goal.depth) return true;
    say("The thread is in no function that the kernel has called.\n");
    return false;
}

/* ---- who wrote it ---------------------------------------------------------------------------- */

/* The stores that a search has found. */
static void say_writes(const struct at_stop *c)
{
    char block[48], thread[48], value[MESSAGE] = "";
    struct typed_value v;
    char message[MESSAGE];
    const struct stop_point *word = &session->word;
    bool is_known = word->kind;
    if (is_known)
        v.type = (struct type){.kind = word->kind, .bytes = word->bytes, .is_signed = true};
    else
        is_known = c->lane && expression_value(c->lane, word->where, &v, message);
    if (!session->write_count)
        say("No thread has stored in %s, as far as the history goes back.\n", word->where);
    for (unsigned k = 0; k < session->write_count; k++) {
        const struct write *w = &session->writes[k];
        *value = '\0';
        if (w->has_value && is_known && v.type.bytes <= sizeof w->value) {
            memcpy(v.bytes, w->value, v.type.bytes);
            value_print(c->lane, &v, value, sizeof value);
        }
        say("%u  block %s, thread %s, %s:%u %s%s%s\n", k + 1, named(w->block_id, block),
            named(w->thread_id, thread), w->file, w->line,
            !w->is_atomic ? "stored"
            : *value      ? "changed it atomically from"
                          : "changed it atomically",
            *value ? " " : "", value);
    }
    if (session->write_count) say("`goto N` goes to one of them; ask there for earlier ones.\n");
}

static bool do_who(struct at_stop *c, char *words)
{
    struct stop_point word = {0};
    if (!find_word(c, words, &word)) return false;
    session->goal = (struct goal){.search = FOR_STORES,
                                  .word = word,
                                  .from = session->place,
                                  .until = session->place,
                                  .target = session->place};
    session->word = word;
    session->write_count = 0;
    session->says_writes = true;
    return true;
}

static bool do_goto(struct at_stop *c, char *words)
{
    unsigned number = (unsigned)strtoul(words, NULL, 10);
    struct goal place = {.go = GO_TO, .from = session->place};
    (void)c;
    if (sscanf(words, "%" SCNu64 ":%" SCNu64, &place.target.launch, &place.target.time) == 2) {
        session->goal = place;
        return true;
    }
    if (!number || number > session->write_count) {
        say("goto N goes to a store that `who` has listed; goto LAUNCH:INSTRUCTION to a place, as "
            "`info place` names it.\n");
        return false;
    }
    const struct write *w = &session->writes[number - 1];
    session->block = w->block;
    session->thread = w->thread;
    session->goal = (struct goal){.go = GO_TO, .from = session->place, .target = w->place};
    return true;
}

/* To the other access of a race, back in time. */
static bool do_other(struct at_stop *c, char *words)
{
    const struct found *found = &session->found;
    const struct launch *launch = session_launch();
    (void)c;
    (void)words;
    if (!launch || !found->has_other) {
        say("No race has been found here. `emu debug --tool racecheck` stops at each.\n");
        return false;
    }
    session->goal = (struct goal){.search = FOR_ACCESS,
                                  .from = session->place,
                                  .until = session->place,
                                  .block = index_of(found->other_block, launch->grid),
                                  .thread = (unsigned)index_of(found->other_thread, launch->block),
                                  .word = {.is_shared = found->is_shared,
                                           .address = found->address,
                                           .block = found->owner,
                                           .bytes = 1}};
    snprintf(session->goal.why, sizeof session->goal.why, "The other access");
    return true;
}

/* diff schedule N: the launch runs again in another order; where is the first load that differs? */
static bool do_diff(struct at_stop *c, char *words)
{
    uint64_t seed = 0, launch = session->place.launch;
    struct run_place begin, after = {launch, 0, 1};
    (void)c;
    if (sscanf(words, "schedule %" SCNu64, &seed) != 1 || !seed) {
        say("diff schedule N, where N is any number but 0: the seed of another order\n");
        return false;
    }
    if (!session_launch() || !history_before(&after, &begin) || begin.launch != launch) {
        say(session_launch() ? "The history does not reach back to where this launch begins.\n"
                             : "No kernel is running here.\n");
        return false;
    }
    session->goal = (struct goal){.search = FOR_LOADS,
                                  .schedule = seed,
                                  .from = session->place,
                                  .begin = begin,
                                  .until = {launch, UINT64_MAX, 0},
                                  .target = session->place};
    return true;
}

/* ---- the table ------------------------------------------------------------------------------- */

static bool do_quit(struct at_stop *c, char *words)
{
    (void)words;
    if (session->is_over && history_is_present()) return set_goal(c, GO_ON, false);
    send_message('q', "");
    for (;;) pause(); /* the other end ends all */
    return false;
}

static bool do_help(struct at_stop *, char *);
static bool do_complete(struct at_stop *, char *);

/* A word stands for the first command that begins with it, as in gdb. */
static const struct command {
    const char *name;
    command_fn *run;
    const char *words, *what; /* what: NULL for another name of the command before */
} commands[] = {
    {"break", do_break, "[FILE:]LINE|KERNEL [if EXPR]", "stop there"},
    {"tbreak", do_tbreak, "...", "the same, once"},
    {"delete", do_delete, "[N]", "remove a breakpoint or watchpoint, or all"},
    {"info", do_info, "breakpoints|locals|registers|place", "show them"},
    {"run", do_continue, "", "start"},
    {"continue", do_continue, "", "go on to the next stop"},
    {"step", do_step, "", "to the thread's next line, also in a function that it calls"},
    {"next", do_next, "", "to the thread's next line, past calls"},
    {"finish", do_finish, "", "out of the function"},
    {"back", do_back, "", "step backward"},
    {"reverse-step", do_back, "", NULL},
    {"rs", do_back, "", NULL},
    {"reverse-next", do_back_next, "", "next, backward"},
    {"rn", do_back_next, "", NULL},
    {"reverse-continue", do_back_on, "", "to the stop before"},
    {"rc", do_back_on, "", NULL},
    {"print", do_print, "EXPR|ARRAY[A..B]", "a value in the thread in focus"},
    {"lanes", do_lanes, "EXPR", "its value in the 32 lanes of the warp"},
    {"list", do_list, "[LINE]", "the source, with the lanes at each line"},
    {"who", do_who, "VARIABLE", "which threads have stored in it, the last one first"},
    {"goto", do_goto, "N|LAUNCH:INSTRUCTION", "to a store that `who` has listed, or to a place"},
    {"other", do_other, "", "to the other access of the race that has been found"},
    {"diff", do_diff, "schedule N", "the first load that reads another value in another order"},
    {"watch", do_watch, "VARIABLE", "stop when it is written (shared and global memory)"},
    {"rwatch", do_rwatch, "VARIABLE", "stop when it is read"},
    {"where", do_where, "", "the functions that the thread is in"},
    {"backtrace", do_where, "", NULL},
    {"bt", do_where, "", NULL},
    {"focus", do_focus, "[block (X,Y,Z)] [thread N]", "look at another thread"},
    {"warps", do_warps, "", "where each warp of the block is, and what it waits for"},
    {"blocks", do_blocks, "", "which blocks are there"},
    {"shared", do_shared, "[WORDS]", "the block's shared memory"},
    {"memory", do_memory, "ADDRESS[, WORDS]", "words from an address on"},
    {"x", do_memory, "", NULL},
    {"set", do_set, "var VARIABLE = EXPR", "store a value"},
    {"complete", do_complete, "LINE", "how its last word may go on, as Tab does"},
    {"help", do_help, "", "this list"},
    {"quit", do_quit, "", "end the program and the debugger"},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static bool do_help(struct at_stop *c, char *words)
{
    (void)c;
    (void)words;
    for (int k = 0; k < COMMANDS; k++) {
        char left[100];
        snprintf(left, sizeof left, "%s %s", commands[k].name, commands[k].words);
        if (commands[k].what) say("%-38s %s\n", left, commands[k].what);
    }
    say("EXPR is C: variables, x[i], p->x, threadIdx.x, block == (1,0,0) && thread == 37, %%r1\n"
        "A word may be shortened. An empty line repeats.\n");
    return false;
}

static void say_if_it_goes_on(const char *word, const char *name)
{
    if (!strncmp(name, word, strlen(word))) say("%s\n", name);
}

/* A line's first word is a command, and others are variables. */
static bool do_complete(struct at_stop *c, char *words)
{
    static const char *const known[] = {"threadIdx", "blockIdx", "blockDim", "gridDim",
                                        "warpSize",  "thread",   "block",    "lane"};
    const char *word = words + strlen(words);
    while (word > words && (isalnum((unsigned char)word[-1]) || word[-1] == '_')) word--;
    for (int k = 0; word == words && k < COMMANDS; k++) say_if_it_goes_on(word, commands[k].name);
    if (word == words || !c->lane) return false;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) say_if_it_goes_on(word, known[k]);
    const struct known_variable *all;
    for (size_t k = visible_variables(c, &all); k-- > 0;) say_if_it_goes_on(word, all[k].name);
    return false;
}

/* Names the command that is most like a word. */
static void refuse(const char *word)
{
    for (int k = 0; k < COMMANDS; k++)
        if (strlen(word) > 2 && !strncmp(commands[k].name, word, 3)) {
            say("There is no command %.60s; is it %s?\n", word, commands[k].name);
            return;
        }
    say("There is no command %.60s; `help` lists them.\n", word);
}

/* Executes a line. Returns whether the run goes on. */
static bool execute(struct at_stop *c, char *line)
{
    char *word = trimmed(line), *rest = word + strcspn(word, " \t");
    if (*rest) *rest++ = '\0';
    for (int k = 0; k < COMMANDS && *word; k++)
        if (!strncmp(commands[k].name, word, strlen(word)))
            return commands[k].run(c, trimmed(rest));
    if (*word) refuse(word);
    return false;
}

void commands_answer(const struct lane *lane, const char *why, int stop)
{
    static char line[LONGEST];
    struct at_stop c = {.lane = lane};
    if (lane) c.own = *lane, c.lane = &c.own;
    session->is_interrupted = false; /* the run has stopped, as an interrupt wants it */
    send_stop(&c, why, stop);
    if (*why) say("%s\n", why);
    bool has_moved = !session->says_writes || *why;
    if (session_launch() && has_moved) say_place(&c);
    if (session->says_writes) say_writes(&c);
    session->says_writes = false;
    do ask(line);
    while (!execute(&c, line));
}
