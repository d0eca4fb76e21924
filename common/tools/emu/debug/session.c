/* session.c — where a run stops: breakpoints, steps, watchpoints, findings; and the search for
 * earlier places. See debug.h. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "common/tools/emu/ptx/binary.h"
#include "debug.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* By this ELF note, the command emu recognizes programs that are linked with libcudart_static.a, or
 * that have the debugger in them without the runtime. */
__attribute__((used, aligned(4), section(EMU_NOTE_SECTION))) static const struct {
    unsigned name_size, description_size, type;
    char name[8];
} note = {.name_size = sizeof note.name, .name = "Upsweep"};

struct session *session;

/* This process's part. A copy that runs again has the same, as it was. */
static struct {
    struct launch *launch;
    struct stepper stepper;
    uint8_t *marks;
    size_t mark_count;
    const struct emu_kernel *marked; /* for whose code the marks are, and for which breakpoints */
    unsigned marked_changes;
    unsigned announced;     /* what the launch announces without the debugger */
    uint64_t launches, end; /* end: the time when the stepper has nothing left */
    uint64_t inside;        /* findings since the last step */
    uint64_t earlier;       /* instructions of launches that have ended */
    const struct stop_point
        *hit;           /* a watchpoint that an access has just met, and of which thread */
    uint64_t hit_block; /* the same of a finding */
    unsigned hit_thread;
    bool is_answering;
} state;

static uint64_t now(void) { return state.end - state.stepper.left; }

/* Limits of time are limits of instructions, so that they repeat. */
static double clock_of_instructions(void)
{
    static const double per_second = 5e7;
    return (double)(state.earlier + now()) / per_second;
}

struct launch *session_launch(void) { return state.launch; }

/* ---- source lines ---------------------------------------------------------------------------- */

unsigned line_at(const struct emu_kernel *kernel, uint32_t pc, const char **file)
{
    const struct source_line *line = &kernel->lines[kernel->code[pc].line];
    const struct ptx_text *text = &kernel->module->text;
    *file = line->file < text->file_count ? text->files[line->file] : NULL;
    return line->line;
}

uint32_t own_place(const struct emu_kernel *kernel, const struct fragment *f)
{
    const struct ptx_text *text = &kernel->module->text;
    unsigned home = kernel->function->home_file;
    const char *file, *own = home < text->file_count ? text->files[home] : NULL;
    uint32_t pc = f->pc;
    for (const struct frame *frame = f->frame; frame->caller; frame = frame->caller) {
        if (line_at(kernel, pc, &file) && !ptx_counts_at_caller(file, own)) return pc;
        pc = frame->return_pc - 1;
    }
    return pc;
}

bool source_line(const char *file, unsigned line, char *text, size_t size)
{
    FILE *in = file ? fopen(file, "r") : NULL;
    bool has_read = false;
    for (unsigned n = 1; in && n <= line; n++) has_read = fgets(text, (int)size, in) != NULL;
    if (in) fclose(in);
    if (!has_read) return false;
    text[strcspn(text, "\r\n")] = '\0';
    return true;
}

const char *source_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "?";
}

/* Does the instruction begin a piece of code of its source line? */
static bool begins_line(const struct emu_kernel *kernel, uint32_t pc)
{
    const struct insn *i = &kernel->code[pc];
    if (!i->source || !kernel->lines[i->line].line) return false;
    return pc == 0 || !i[-1].source || i[-1].line != i->line;
}

/* The first instruction of a function's body: after what nvcc may put before it, which belongs to
 * the line of the function's name. */
static uint32_t body_of(const struct emu_kernel *kernel, const struct callee *callee)
{
    const struct ptx_function *f = callee ? callee->function : kernel->function;
    uint32_t entry = callee ? callee->entry : 0, end = entry + (uint32_t)f->instruction_count;
    uint32_t first = entry;
    const char *file;
    while (first < end && !begins_line(kernel, first)) first++;
    for (uint32_t pc = first; pc < end; pc++)
        if (begins_line(kernel, pc) && line_at(kernel, pc, &file) != f->home_line) return pc;
    return first < end ? first : entry;
}

/* Is it the first instruction of the body of the function with that name? */
static bool begins_function(const struct emu_kernel *kernel, const char *where, uint32_t pc)
{
    char own[200], name[TEXT];
    const char *scope = strrchr(where, ':');
    snprintf(name, sizeof name, "%s", scope ? scope + 1 : where);
    name[strcspn(name, "<")] = '\0'; /* "tile<int>", "ns::scan" */
    kernel_base_name(kernel->info.name, own, sizeof own);
    if (!strcmp(own, name)) return pc == body_of(kernel, NULL);
    for (size_t k = 0; k < kernel->function_count; k++) {
        if (!kernel->callees[k] || !kernel->callees[k]->function->has_body) continue;
        kernel_base_name(kernel->callees[k]->function->name, own, sizeof own);
        if (!strcmp(own, name)) return pc == body_of(kernel, kernel->callees[k]);
    }
    return false;
}

/* Is a line of the file whose name is the first `length` letters of `where`? 0: of the kernel's. */
static bool is_file_of(const struct emu_kernel *kernel, const struct source_line *line,
                       const char *where, size_t length)
{
    const struct ptx_text *text = &kernel->module->text;
    if (!length) return line->file == kernel->function->home_file;
    const char *name = source_name(line->file < text->file_count ? text->files[line->file] : NULL);
    return strlen(name) == length && !strncmp(name, where, length);
}

bool session_matches(const struct emu_kernel *kernel, const char *where, uint32_t pc,
                     unsigned *moved)
{
    const char *colon = strrchr(where, ':'), *digits = colon ? colon + 1 : where, *file;
    size_t length = colon ? (size_t)(colon - where) : 0;
    *moved = 0;
    if (!*digits || digits[strspn(digits, "0123456789")]) {
        bool begins = begins_function(kernel, where, pc);
        if (begins) *moved = line_at(kernel, pc, &file);
        return begins;
    }
    unsigned wanted = (unsigned)strtoul(digits, NULL, 10), nearest = 0;
    bool is_above = true; /* all code of this kernel: the line is in another one */
    for (size_t k = 0; k < kernel->line_count; k++) {
        const struct source_line *line = &kernel->lines[k];
        if (!line->line || !is_file_of(kernel, line, where, length)) continue;
        is_above &= line->line > wanted;
        if (line->line >= wanted && (!nearest || line->line < nearest)) nearest = line->line;
    }
    if (is_above) nearest = 0;
    *moved = nearest;
    const struct source_line *own = &kernel->lines[kernel->code[pc].line];
    return nearest && own->line == nearest && is_file_of(kernel, own, where, length) &&
           begins_line(kernel, pc);
}

/* ---- threads --------------------------------------------------------------------------------- */

uint64_t index_of(struct emu_dim at, struct emu_dim size)
{
    return at.x + (uint64_t)size.x * (at.y + (uint64_t)size.y * at.z);
}

struct emu_dim dim_at(uint64_t index, struct emu_dim size)
{
    return (struct emu_dim){(unsigned)(index % size.x), (unsigned)(index / size.x % size.y),
                            (unsigned)(index / size.x / size.y)};
}

uint64_t dim_count(struct emu_dim size) { return (uint64_t)size.x * size.y * size.z; }

void session_blocks(void (*visit)(struct block *, void *), void *argument)
{
    struct launch *launch = state.launch;
    const struct cluster *running = launch ? state.stepper.cluster : NULL;
    for (unsigned r = 0; running && r < running->size; r++) visit(running->blocks[r], argument);
    for (struct cluster *c = launch ? launch->waiting : NULL; c; c = c->next)
        for (unsigned r = 0; r < c->size; r++) visit(c->blocks[r], argument);
}

static void look_for_block(struct block *block, void *found)
{
    if (block->index == session->block && !block->ended) *(struct block **)found = block;
}

const struct fragment *fragment_of(const struct warp *w, int lane)
{
    for (unsigned k = 0; k < w->fragment_count; k++)
        if (w->fragments[k].mask >> lane & 1) return &w->fragments[k];
    return NULL;
}

bool session_lane(struct lane *lane)
{
    struct block *block = NULL;
    session_blocks(look_for_block, &block);
    if (!block || session->thread >= block->threads) return false;
    lane->warp = &block->warps[session->thread / WARP];
    lane->lane = (int)(session->thread % WARP);
    lane->fragment = fragment_of(lane->warp, lane->lane);
    return true;
}

static void focus(const struct warp *w, int lane)
{
    session->block = w->block->index;
    session->thread = w->index * WARP + (unsigned)lane;
}

static bool is_in_focus(const struct warp *w, uint32_t lanes)
{
    return w->block->index == session->block && w->index == session->thread / WARP &&
           lanes >> session->thread % WARP & 1;
}

unsigned depth_of(const struct warp *w, const struct fragment *f)
{
    const struct insn *i = &w->block->launch->kernel->code[f->pc];
    const struct ptx_location *location = i->source ? i->source->location : NULL;
    return f->frame->depth + (location ? location->depth : 0);
}

/* ---- marks ----------------------------------------------------------------------------------- */

enum { SEVERAL = MOST_STOPS + 1 }; /* breakpoints; else the mark is the number of its row, plus 1 */

static void mark(const struct emu_kernel *kernel)
{
    unsigned moved;
    if (state.marked == kernel && state.marked_changes == session->changes) return;
    if (state.mark_count < kernel->code_count) {
        state.mark_count = kernel->code_count;
        state.marks = allocated(realloc(state.marks, state.mark_count));
    }
    memset(state.marks, 0, kernel->code_count);
    for (int k = 0; k < MOST_STOPS; k++) {
        const struct stop_point *stop = &session->stops[k];
        if (!stop->number || stop->is_watch) continue;
        for (uint32_t pc = 0; pc < kernel->code_count; pc++)
            if (session_matches(kernel, stop->where, pc, &moved))
                state.marks[pc] = state.marks[pc] ? SEVERAL : (uint8_t)(k + 1);
    }
    state.stepper.marks = state.marks;
    state.marked = kernel;
    state.marked_changes = session->changes;
}

/* Are accesses looked at? */
static bool watches(void)
{
    for (int k = 0; k < MOST_STOPS; k++)
        if (session->stops[k].number && session->stops[k].is_watch) return true;
    return session->goal.search > FOR_STOP;
}

static uint64_t lesser(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Sets how far the launch runs until event_step() is called again. */
static void arm(struct warp *w)
{
    enum { ATTENTION = 1 << 20 }; /* instructions after which an interrupt is seen */
    const struct goal *goal = &session->goal;
    struct launch *launch = state.launch;
    const struct run_place front = history_front();
    uint64_t time = now(), next = lesser(history_next(), time + ATTENTION);
    bool steps = goal->go != GO_ON && goal->go != GO_TO;
    mark(launch->kernel);
    launch->announced = state.announced | (watches() ? ANNOUNCE_ACCESSES : 0);
    if (w) w->observed = w->counts || launch->announced & ANNOUNCE_ACCESSES;
    if (goal->search && goal->until.launch == state.launches) next = lesser(next, goal->until.time);
    if (!goal->search && goal->go == GO_TO && goal->target.launch == state.launches)
        next = lesser(next, goal->target.time);
    if (!history_is_present() && front.launch == state.launches && goal->search != FOR_LOADS)
        next = lesser(next, front.time);
    state.stepper.left = steps || next <= time ? 1 : next - time;
    state.end = time + state.stepper.left;
}

/* ---- reasons to stop ------------------------------------------------------------------------- */

/* Does a breakpoint's condition hold for a lane? One that cannot be evaluated goes. */
static bool condition_holds(struct stop_point *stop, const struct lane *lane)
{
    char message[MESSAGE];
    if (!*stop->condition || expression_holds(lane, stop->condition, message)) return true;
    if (!*message) return false;
    say("Breakpoint %d: %s; its condition is removed.\n", stop->number, message);
    *stop->condition = '\0';
    return true;
}

/* The breakpoint that a fragment has come to; *lane: a lane for which its condition holds, that in
 * focus if it can be. */
static struct stop_point *breakpoint_at(struct warp *w, const struct fragment *f, int *lane)
{
    unsigned moved;
    if (!state.marks[f->pc]) return NULL;
    for (int k = 0; k < MOST_STOPS; k++) {
        struct stop_point *stop = &session->stops[k];
        if (!stop->number || stop->is_watch) continue;
        if (state.marks[f->pc] == SEVERAL
                ? !session_matches(w->block->launch->kernel, stop->where, f->pc, &moved)
                : state.marks[f->pc] != k + 1)
            continue;
        *lane = (int)(session->thread % WARP);
        if (is_in_focus(w, f->mask) && condition_holds(stop, &(struct lane){w, f, *lane}))
            return stop;
        for (uint32_t left = f->mask; left; left &= left - 1) {
            *lane = __builtin_ctz(left);
            if (condition_holds(stop, &(struct lane){w, f, *lane})) return stop;
        }
    }
    return NULL;
}

/* Has a step of the thread in focus come to its end? */
static bool has_stepped(const struct warp *w, const struct fragment *f)
{
    const struct goal *goal = &session->goal;
    if (goal->go == GO_ON || !is_in_focus(w, f->mask)) return false;
    unsigned depth = depth_of(w, f);
    if (goal->go == GO_FINISH) return depth < goal->depth;
    if (goal->go == GO_NEXT && depth > goal->depth) return false;
    const struct emu_kernel *kernel = w->block->launch->kernel;
    return begins_line(kernel, f->pc) && f->pc >= body_of(kernel, f->frame->callee) &&
           own_place(kernel, f) == f->pc;
}

/* Has the thread in focus exited during a step? */
static bool has_exited(void)
{
    struct lane lane;
    const struct goal *goal = &session->goal;
    bool steps = !goal->search && goal->go != GO_ON && goal->go != GO_TO;
    return steps && goal->is_in_thread && (!session_lane(&lane) || !lane.fragment);
}

/* Does the run stop before the instruction of a fragment? Says why, and *lane, of which lane; -1:
 * of that in focus. */
static bool stops_at(struct warp *w, const struct fragment *f, char *why, int *lane)
{
    *why = '\0';
    *lane = -1;
    if (session->is_interrupted) {
        session->is_interrupted = false;
        *lane = __builtin_ctz(f->mask);
        snprintf(why, MESSAGE, "Interrupted");
        return true;
    }
    if (state.hit && state.hit->number) {
        snprintf(why, MESSAGE, "Watchpoint %d: %s was %s", state.hit->number, state.hit->where,
                 state.hit->is_read ? "read" : "written");
        return true;
    }
    if (has_exited()) {
        snprintf(why, MESSAGE, "The thread has exited");
        return true;
    }
    const struct stop_point *stop = breakpoint_at(w, f, lane);
    if (stop)
        snprintf(why, MESSAGE, "%s %d", stop->is_temporary ? "Temporary breakpoint" : "Breakpoint",
                 stop->number);
    else
        *lane = -1;
    return stop || has_stepped(w, f);
}

/* Counts a stop at a breakpoint, and removes a temporary one. Returns its number; 0: it is none. */
static int count_hit(const char *why)
{
    static const char word[] = "point "; /* Breakpoint, Temporary breakpoint, Watchpoint */
    const char *found = session->place.inside ? NULL : strstr(why, word);
    int number = found ? atoi(found + strlen(word)) : 0;
    if (!number) return 0;
    for (int k = 0; k < MOST_STOPS; k++) {
        struct stop_point *stop = &session->stops[k];
        if (stop->number != number) continue;
        stop->hits++;
        if (!stop->is_temporary) continue;
        stop->number = 0;
        session->changes++;
    }
    return number;
}

/* ---- going ----------------------------------------------------------------------------------- */

/* The run stops: says why and where, and answers commands, which set the goal. */
static void answer(const char *why)
{
    struct lane lane;
    int stop = count_hit(why);
    session->goal = (struct goal){.go = GO_ON, .from = session->place};
    state.is_answering = true;
    commands_answer(session_lane(&lane) ? &lane : NULL, why, stop);
    state.is_answering = false;
}

/* A launch may be too small for the thread in focus: then it is one that is about to run. */
static void focus_inside(const struct warp *w, const struct fragment *f)
{
    const struct launch *launch = w->block->launch;
    if (session->thread >= w->block->threads || session->block >= dim_count(launch->grid))
        focus(w, __builtin_ctz(f->mask));
}

static void go_to(const struct run_place *place, const char *why)
{
    struct goal goal = {.go = GO_TO, .target = *place};
    snprintf(goal.why, sizeof goal.why, "%s", why);
    session->goal = goal;
}

/* The part of the run from goal->begin to goal->until has been searched. */
static void end_part(void)
{
    struct goal *goal = &session->goal;
    char why[MESSAGE];
    memcpy(why, goal->why, sizeof why);
    if (goal->search == FOR_STORES && session->write_count) {
        if (goal->stands_at_end) { /* `back` then follows the thread that stored last */
            session->block = session->writes[0].block;
            session->thread = session->writes[0].thread;
        }
        go_to(goal->stands_at_end ? &goal->end : &goal->target, why);
    } else if (goal->search == FOR_LOADS) {
        const struct run_place front = history_front();
        goal->search = FOR_DIFFERENCE;
        if (front.launch == goal->until.launch) goal->until = front;
        if (!differ_is_whole())
            say("The launch has too many loads: only the first are compared.\n");
        history_go(&goal->begin, false);
    } else if (goal->search == FOR_DIFFERENCE && !goal->has_found) {
        snprintf(why, sizeof why, "No load %sreads another value in that order",
                 goal->until.time < UINT64_MAX ? "up to here " : "of the launch ");
        go_to(&goal->target, why);
    } else if (goal->has_found) {
        struct run_place found = goal->found;
        session->block = goal->block;
        session->thread = goal->thread;
        go_to(&found, why);
    } else {
        goal->until = goal->begin;
        goal->is_under_way = false;
    }
}

/* Begins to search the part before goal->until. */
static void begin_part(void)
{
    struct goal *goal = &session->goal;
    struct run_place first = history_first();
    if (goal->search == FOR_LOADS) {
        goal->is_under_way = true;
        history_go(&goal->begin, false);
        return;
    }
    goal->is_under_way = history_before(&goal->until, &goal->begin);
    if (goal->is_under_way)
        history_go(&goal->until, true);
    else if (goal->search == FOR_STORES)
        go_to(&goal->target, goal->why);
    else
        go_to(&first, "This is as far back as the history goes");
}

/* Notes that the run would stop here, for a lane; -1: the thread in focus. w NULL: the thread of
 * what has been found. */
static void note_stop(const struct warp *w, const char *why, int lane)
{
    struct goal *goal = &session->goal;
    bool has_lane = w && lane >= 0;
    goal->found = session->place;
    goal->has_found = true;
    goal->block = has_lane ? w->block->index : w ? session->block : state.hit_block;
    goal->thread = has_lane ? w->index * WARP + (unsigned)lane
                   : w      ? session->thread
                            : state.hit_thread;
    snprintf(goal->why, sizeof goal->why, "%s", why);
}

/* Goes on by a goal that has a target. False: it lies ahead, in this launch. */
static bool go_by_target(void)
{
    const struct run_place target = session->goal.target, front = history_front();
    if (place_compare(&target, &session->place) == 0) {
        char why[MESSAGE];
        memcpy(why, session->goal.why, sizeof why);
        answer(why);
        return true;
    }
    bool is_ahead = place_compare(&target, &session->place) > 0;
    if (!history_is_present() && place_compare(&target, &front) >= 0) history_return();
    if (is_ahead && (history_is_present() || target.launch == state.launches)) return false;
    if (!history_go(&target, false)) go_to(&session->place, "The history does not reach so far");
    return true;
}

/* The run has come to session->place: before the instruction of a fragment, or (w NULL) somewhere
 * else, with a sentence about it, or NULL. Stops there if it must, and returns when the run goes on
 * from here. */
static void arrive(struct warp *w, const struct fragment *f, const char *event)
{
    struct goal *goal = &session->goal;
    char why[MESSAGE];
    int lane;
    if (w) focus_inside(w, f);
    if (w) mark(w->block->launch->kernel); /* this process may have older marks */
    for (;;) {
        if (goal->search && !goal->is_under_way) {
            begin_part();
        } else if (goal->search) {
            bool has_differed = goal->search == FOR_DIFFERENCE && goal->has_found;
            if (place_compare(&session->place, &goal->until) < 0 && !has_differed) {
                bool finds = goal->search == FOR_STOP &&
                             (w ? stops_at(w, f, why, &lane) : event && goal->go == GO_ON);
                if (finds) note_stop(w, w ? why : event, w ? lane : -1);
                break;
            }
            end_part();
        } else if (goal->go == GO_TO) {
            if (!go_by_target()) break;
        } else {
            const struct run_place front = history_front();
            bool is_front = place_compare(&session->place, &front) >= 0;
            if (!history_is_present() && is_front && !state.hit) history_return();
            if (place_compare(&session->place, &goal->from) == 0) break;
            if (!(w ? stops_at(w, f, why, &lane) : event != NULL)) break;
            if (w && lane >= 0) focus(w, lane);
            answer(w ? why : event);
        }
    }
    state.hit = NULL;
}

/* ---- events ---------------------------------------------------------------------------------- */

static void on_launch_begin(struct launch *launch)
{
    state.launch = launch;
    state.launches++;
    state.announced = launch->announced;
    state.stepper.left = state.end = 0;
    state.inside = 0;
    launch->stepper = &state.stepper;
    launch->may_suspend = false;
    if (history_is_present()) history_launch();
    mark(launch->kernel);
}

/* A launch begins whose loads are recorded, in another order, or compared. */
static void begin_to_differ(uint64_t time)
{
    const struct goal *goal = &session->goal;
    bool records = goal->search == FOR_LOADS;
    if (time || !goal->is_under_way || (!records && goal->search != FOR_DIFFERENCE)) return;
    if (records) random_begin(state.launch, goal->schedule);
    differ_begin(records);
}

static void on_step(struct warp *w, const struct fragment *f)
{
    const struct run_place place = {state.launches, now(), 0};
    state.inside = 0;
    if (history_is_present() && now() >= history_next()) history_keep(place);
    session->place = place;
    begin_to_differ(place.time);
    arrive(w, f, NULL);
    arm(w);
}

/* A part of the run that is executed again ends here: the next launch's begin goes on, or the
 * process itself. */
static void go_to_next_launch(void)
{
    const struct run_place front = history_front();
    struct run_place next;
    if (front.launch > state.launches && history_next_launch(state.launches, &next))
        history_go(&next, false);
    history_return();
}

static void on_launch_end(struct launch *launch)
{
    char text[MESSAGE], name[200];
    const struct goal *goal = &session->goal;
    session->place = (struct run_place){state.launches, now(), 0};
    kernel_base_name(launch->kernel->info.name, name, sizeof name);
    snprintf(text, sizeof text, "Kernel %s has ended%s", name,
             launch->error ? " with an error" : "");
    session->goal.end = session->place;
    if (!history_is_present() && goal->search && goal->is_under_way) end_part();
    bool misses = !goal->search && goal->go == GO_TO && goal->target.launch == state.launches &&
                  place_compare(&goal->target, &session->place) > 0;
    if (misses) go_to(&session->place, "The launch ends before that instruction");
    bool steps = !goal->search && goal->go != GO_ON && goal->go != GO_TO;
    state.launch = NULL;
    arrive(NULL, NULL, steps ? text : NULL);
    if (!history_is_present()) go_to_next_launch();
    state.earlier += now();
    state.stepper.left = state.end = 0;
}

static bool touches(const struct stop_point *word, const struct access *a, int lane)
{
    bool is_shared = a->space == PTX_SHARED || a->space == PTX_SHARED_CLUSTER;
    if (is_shared != word->is_shared || (is_shared && a->owner->index != word->block)) return false;
    return a->address[lane] < word->address + word->bytes &&
           word->address < a->address[lane] + a->bytes;
}

/* The value that a plain store writes to the word. */
static bool stored_value(struct warp *w, const struct insn *i, const struct access *a, int lane,
                         uint8_t *value)
{
    const struct stop_point *word = &session->goal.word;
    bool is_plain = i->family == FAMILY_MEMORY && a->operation == OPERATION_STORE &&
                    word->address >= a->address[lane] && i->element_bytes <= 8;
    uint64_t k = is_plain ? (word->address - a->address[lane]) / i->element_bytes : 0;
    if (!is_plain || k >= i->elements || i->memory.value[k] == NO_SLOT) return false;
    unsigned lane_bytes = i->element_bytes > 4 ? 8 : 4,
             inside = (unsigned)((word->address - a->address[lane]) % i->element_bytes);
    if (inside + word->bytes > i->element_bytes) return false;
    memcpy(value, (uint8_t *)slot_at(w, i->memory.value[k]) + (unsigned)lane * lane_bytes + inside,
           word->bytes);
    return true;
}

/* Does a lower lane change the same word in the same instruction? It comes first. */
static bool comes_later(const struct access *a, int lane)
{
    for (uint32_t left = a->mask & ((UINT32_C(1) << lane) - 1); left; left &= left - 1)
        if (a->address[__builtin_ctz(left)] == a->address[lane]) return true;
    return false;
}

static uint64_t operand_of(struct warp *w, const struct insn *i, const struct access *a, int lane)
{
    uint64_t operand = 0;
    memcpy(&operand, (uint8_t *)slot_at(w, i->b) + (unsigned)lane * i->lane_bytes, a->bytes);
    return operand;
}

/* Does an atomic that is no atomicCAS leave the word as it is? */
static bool keeps(const struct insn *i, const struct access *a, uint64_t old, uint64_t operand)
{
    uint64_t sign = i->is_signed ? UINT64_C(1) << (8 * a->bytes - 1) : 0; /* moves -1 below 0 */
    switch ((enum atomic)i->atomic.operation) {
    case ATOMIC_ADD:
    case ATOMIC_XOR: return operand == 0;
    case ATOMIC_OR: return !(operand & ~old);
    case ATOMIC_AND: return !(old & ~operand);
    case ATOMIC_MAX: return (operand ^ sign) <= (old ^ sign);
    case ATOMIC_MIN: return (operand ^ sign) >= (old ^ sign);
    default: return false;
    }
}

/* Does it, after the lower lanes? An atomicMax does if one of them has a larger value. */
static bool changes_nothing(struct warp *w, const struct insn *i, const struct access *a, int lane)
{
    uint64_t old = 0;
    if (i->family != FAMILY_ATOMIC || i->b == NO_SLOT || a->bytes > i->lane_bytes) return false;
    uint64_t operand = operand_of(w, i, a, lane);
    memcpy(&old, (const void *)(uintptr_t)(a->host + a->address[lane]), a->bytes);
    if (i->atomic.operation == ATOMIC_CAS) return old != operand || comes_later(a, lane);
    bool changes = !keeps(i, a, old, operand);
    for (int l = 0; l < lane; l++)
        if (a->mask >> l & 1 && a->address[l] == a->address[lane])
            changes &= !keeps(i, a, operand_of(w, i, a, l), operand);
    return !changes;
}

static void note_write(struct warp *w, const struct insn *i, const struct access *a, int lane)
{
    const char *file;
    const struct emu_kernel *kernel = w->block->launch->kernel;
    const struct fragment *f = fragment_of(w, lane);
    if (changes_nothing(w, i, a, lane)) return;
    struct write *new = &session->writes[0];
    struct run_place place = {state.launches, now() - 1, 0};
    if (place_compare(&place, &session->goal.until) >= 0) return;
    memmove(new + 1, new, (MOST_WRITES - 1) * sizeof *new);
    *new = (struct write){.place = place,
                          .block = w->block->index,
                          .thread = w->index * WARP + (unsigned)lane,
                          .block_id = w->block->id,
                          .thread_id = thread_of(w, lane),
                          .is_atomic = a->operation == OPERATION_ATOMIC};
    new->has_value = stored_value(w, i, a, lane, new->value);
    if (new->is_atomic && a->bytes <= sizeof new->value && !comes_later(a, lane)) {
        memcpy(new->value, (const void *)(uintptr_t)(a->host + a->address[lane]), a->bytes);
        new->has_value = true;
    }
    new->line = line_at(kernel, f ? own_place(kernel, f) : (uint32_t)(i - kernel->code), &file);
    snprintf(new->file, sizeof new->file, "%s", source_name(file));
    if (session->write_count < MOST_WRITES) session->write_count++;
}

static void note_watched(const struct warp *w, const struct access *a, int lane)
{
    for (int k = 0; k < MOST_STOPS; k++) {
        const struct stop_point *stop = &session->stops[k];
        bool is_meant =
            stop->number && stop->is_watch && (stop->is_read ? access_reads(a) : access_writes(a));
        if (!is_meant || !touches(stop, a, lane)) continue;
        if (session->goal.search == FOR_STOP) { /* it stands before the access then */
            session->place = (struct run_place){state.launches, now() - 1, 0};
            char why[MESSAGE];
            snprintf(why, sizeof why, "Watchpoint %d: %s is about to be %s", stop->number,
                     stop->where, stop->is_read ? "read" : "written");
            note_stop(w, why, lane);
            continue;
        }
        state.hit = stop;
        state.hit_block = w->block->index;
        state.hit_thread = w->index * WARP + (unsigned)lane;
        if (!session->goal.search && session->goal.go != GO_TO) focus(w, lane);
        state.end = now(); /* stop before the next instruction, whichever warp's */
        state.stepper.left = 0;
    }
}

/* The access that `other` looks for. */
static void note_access(const struct warp *w, int lane)
{
    struct goal *goal = &session->goal;
    struct run_place place = {state.launches, now() - 1, 0};
    if (w->block->index != goal->block || w->index * WARP + (unsigned)lane != goal->thread ||
        place_compare(&place, &goal->until) >= 0)
        return;
    goal->found = place;
    goal->has_found = true;
}

/* A load of a thread, which is recorded or compared. */
static void note_load(const struct warp *w, const struct insn *i, const struct access *a, int lane)
{
    struct goal *goal = &session->goal;
    char why[MESSAGE];
    bool records = goal->search == FOR_LOADS;
    if (a->operation != OPERATION_LOAD || a->agent != BY_THREAD || goal->has_found) return;
    if (!differ_load(w, i, a, lane, records, why) || records) return;
    session->place = (struct run_place){state.launches, now() - 1, 0};
    note_stop(w, why, lane);
    state.end = now();
    state.stepper.left = 0;
}

static void on_access(struct warp *w, const struct insn *i, const struct access *a)
{
    const struct goal *goal = &session->goal;
    for (uint32_t left = a->mask; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        bool touches_word = goal->search && touches(&goal->word, a, lane);
        if (goal->search == FOR_STORES && touches_word && access_writes(a))
            note_write(w, i, a, lane);
        else if (goal->search == FOR_ACCESS && touches_word)
            note_access(w, lane);
        else if (goal->search >= FOR_LOADS)
            note_load(w, i, a, lane);
        else if (goal->search != FOR_STORES)
            note_watched(w, a, lane);
    }
}

static void on_finding(const struct launch *launch, const struct found *found)
{
    if (launch != state.launch || state.is_answering) return;
    session->place = (struct run_place){state.launches, now() - 1, ++state.inside};
    state.hit_block = index_of(found->block, launch->grid);
    state.hit_thread = (unsigned)index_of(found->thread, launch->block);
    if (!session->goal.search && session->goal.go != GO_TO) {
        session->block = state.hit_block;
        session->thread = state.hit_thread;
    }
    session->found = *found;
    char text[FINDING];
    snprintf(text, sizeof text, "%s", found->text);
    char *place = strstr(text, ", at PTX line"); /* what stands below may have the source line */
    if (place) *place = '\0';
    arrive(NULL, NULL, text);
    arm(NULL);
}

static const struct debugger debugger = {
    .launch_begin = on_launch_begin,
    .launch_end = on_launch_end,
    .step = on_step,
    .access = on_access,
    .finding = on_finding,
};

/* ---- the begin and the end ------------------------------------------------------------------- */

static void on_interrupt(int number)
{
    (void)number;
    session->is_interrupted = true;
}

static void debug_end(void)
{
    if (!session || !history_is_present()) return;
    session->place = (struct run_place){state.launches + 1, 0, 0};
    if (session->goal.go == GO_TO) session->goal = (struct goal){.go = GO_ON};
    session->is_over = true;
    arrive(NULL, NULL, "The program has ended");
}

void debug_wrong(uint64_t address, unsigned bytes, bool is_float, const char *what)
{
    struct goal *goal = &session->goal;
    session->word = (struct stop_point){.address = address,
                                        .bytes = bytes,
                                        .where = "this element",
                                        .kind = is_float ? TYPE_FLOAT : TYPE_INT};
    session->write_count = 0;
    session->says_writes = true;
    *goal = (struct goal){.search = FOR_STORES,
                          .word = session->word,
                          .until = session->place,
                          .target = session->place,
                          .stands_at_end = true};
    snprintf(goal->why, sizeof goal->why, "%s", what);
    arrive(NULL, NULL, what);
}

void debug_attach(struct emu *emu, int socket, uint64_t history_bytes)
{
    emu->debugger = &debugger;
    emu->threads = 1;
    if (session) return;
    session =
        mmap(NULL, sizeof *session, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (session == MAP_FAILED) abort();
    session->history_bytes = history_bytes;
    session->socket = socket;
    history_open();
    differ_open();
    device_set_clock(clock_of_instructions);
    signal(SIGINT, on_interrupt);
    atexit(debug_end);
    answer("");
}
