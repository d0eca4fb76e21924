/* check.c — the findings of the checkers: collecting and printing them. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "check.h"
#include "common/tools/emu/machine/events.h"
#include <inttypes.h>

enum { BUCKETS = 1024, DEFAULT_LIMIT = 100 };

struct check_entry {
    struct emu_finding finding; /* the entry owns its strings */
    const char *kernel;         /* only compared as a pointer */
    char *same;
    struct check_place place, other;
    bool per_thread;
    struct check_entry *next; /* in its bucket */
};

void check_open(struct check_log *log, size_t limit)
{
    log->limit = limit ? limit : DEFAULT_LIMIT;
    log->buckets = allocated(calloc(BUCKETS, sizeof *log->buckets));
    pthread_mutex_init(&log->lock, NULL);
}

static char *copy_of(const char *text) { return text ? allocated(strdup(text)) : NULL; }

static void entry_free(struct check_entry *entry)
{
    free((char *)entry->finding.title);
    free((char *)entry->finding.kernel);
    free((char *)entry->finding.other_kernel);
    free((char *)entry->finding.place.file);
    free((char *)entry->finding.other.file);
    free((char *)entry->finding.head);
    free((char *)entry->finding.detail);
    free(entry->same);
    free(entry);
}

void check_close(struct check_log *log)
{
    for (size_t i = 0; i < log->count; i++) entry_free(log->entries[i]);
    free(log->entries);
    free(log->buckets);
    pthread_mutex_destroy(&log->lock);
}

/* ---- equal findings -------------------------------------------------------------------------- */

static bool same_dim(struct emu_dim a, struct emu_dim b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static bool same_place(const struct check_place *a, const struct check_place *b, bool per_thread)
{
    if (a->insn != b->insn) return false;
    return !per_thread || (same_dim(a->block, b->block) && same_dim(a->thread, b->thread));
}

static const char *same_of(const struct check_report *r) { return r->same ? r->same : r->title; }

static bool is_same(const struct check_entry *e, const struct check_report *r, const char *kernel)
{
    return e->finding.tool == r->tool && e->per_thread == r->per_thread && e->kernel == kernel &&
           same_place(&e->place, &r->place, r->per_thread) &&
           same_place(&e->other, &r->other, r->per_thread) && !strcmp(e->same, same_of(r));
}

static size_t bucket_of(const struct check_report *r)
{
    uint64_t hash = (uint64_t)(uintptr_t)r->place.insn * 31 + (uint64_t)(uintptr_t)r->other.insn;
    if (r->per_thread)
        hash += r->place.thread.x + 33 * (uint64_t)r->place.block.x + 67 * r->place.thread.y;
    hash *= UINT64_C(0x9E3779B97F4A7C15); /* mixes it into the high bits */
    return hash >> 54;                    /* 10 of them: BUCKETS */
}

/* ---- keeping --------------------------------------------------------------------------------- */

/* The line of the call through which code was inlined, if it is a line of the code's own file. */
static unsigned caller_line(const struct ptx_instruction *source)
{
    const struct ptx_location *call = source->location ? source->location->caller : NULL;
    while (call && call->home.file == source->file && call->home.line == source->source_line)
        call = call->caller; /* a header of the toolkit: its code counts for this line already */
    return call && call->home.file == source->file ? call->home.line : 0;
}

/* The module may be unloaded before the finding is read: it has its own copies of names. */
static struct emu_place describe_check_place(const struct launch *launch,
                                             const struct check_place *place)
{
    if (!launch || !place->is_known) return (struct emu_place){0};
    const struct ptx_text *text = &launch->kernel->module->text;
    const struct ptx_instruction *source = place->insn ? place->insn->source : NULL;
    const char *file = source && source->source_line && source->file < text->file_count
                           ? text->files[source->file]
                           : NULL;
    return (struct emu_place){.is_known = true,
                              .file = copy_of(file),
                              .line = file ? source->source_line : 0,
                              .caller_line = file ? caller_line(source) : 0,
                              .ptx_line = source ? source->line : 0,
                              .access = place->access,
                              .is_copy = place->is_copy,
                              .has_thread = place->has_thread,
                              .block = place->block,
                              .thread = place->thread};
}

/* A place with its own copy of the file's name. */
static struct emu_place copy_place(struct emu_place place)
{
    place.file = copy_of(place.file);
    return place;
}

static void fill_sources(struct emu_finding *f, const struct check_report *r,
                         const struct launch *launch)
{
    const struct check_sources *s = r->sources;
    const char *kernel = s ? s->kernel : launch ? launch->kernel->info.name : NULL;
    f->kernel = copy_of(kernel);
    f->other_kernel = s ? copy_of(s->other_kernel) : NULL;
    f->place = s ? copy_place(s->place) : describe_check_place(launch, &r->place);
    f->other = s ? copy_place(s->other) : describe_check_place(launch, &r->other);
}

/* The fields and texts of a finding that is kept to be read. */
static void fill_finding(struct emu_finding *f, const struct check_report *r,
                         const struct launch *launch)
{
    char head[CHECK_TEXT];
    f->kind = r->kind;
    f->title = copy_of(r->title);
    fill_sources(f, r, launch);
    f->space = r->has_address ? ptx_space_name(r->space) : NULL;
    f->address = r->address;
    f->bytes = r->bytes;
    f->detail = copy_of(r->detail);
    if (!r->head) finding_head(f, head, sizeof head);
    f->head = copy_of(r->head ? r->head : head);
}

static struct check_entry *entry_new(const struct check_report *r, const struct launch *launch,
                                     bool with_text)
{
    struct check_entry *e = allocated(calloc(1, sizeof *e));
    *e = (struct check_entry){
        .finding = {.tool = r->tool,
                    .severity = r->severity,
                    .unit = r->unit,
                    .launch = launch ? launch->id : EMU_NO_LAUNCH},
        .kernel = launch ? launch->kernel->info.name : NULL,
        .same = copy_of(same_of(r)),
        .place = r->place,
        .other = r->other,
        .per_thread = r->per_thread,
    };
    if (with_text) fill_finding(&e->finding, r, launch);
    return e;
}

void check_report(struct emu *emu, const struct launch *launch, const struct check_report *r)
{
    struct check_log *log = &emu->checkers->findings;
    if (launch && r->tool == EMU_CHECK_RACE) order_hazard(launch, r);
    const char *kernel = launch ? launch->kernel->info.name : NULL;
    pthread_mutex_lock(&log->lock);
    struct check_entry **bucket = &log->buckets[bucket_of(r)], *e = NULL;
    /* Events on the host have no instruction: they are equal only if something identifies them. */
    for (e = launch || r->same ? *bucket : NULL; e && !is_same(e, r, kernel);) e = e->next;
    if (!e) {
        if (r->severity == EMU_FINDING_ERROR) log->errors++;
        if (r->severity == EMU_FINDING_ERROR && r->tool == EMU_CHECK_RACE) log->races++;
        if (r->severity == EMU_FINDING_WARNING) log->warnings++;
        e = entry_new(r, launch, log->count < log->limit);
        log->entries = grown(log->entries, log->count, sizeof *log->entries);
        log->entries[log->count++] = e;
        e->next = *bucket;
        *bucket = e;
    }
    bool is_new = e->finding.count == 0;
    e->finding.count += r->times ? r->times : 1;
    pthread_mutex_unlock(&log->lock);
    if (is_new && launch && emu->debugger)
        emu->debugger->finding(launch, &(struct found){.text = e->finding.head,
                                                       .block = r->place.block,
                                                       .thread = r->place.thread});
}

bool check_is_first_at(const struct launch *launch, const struct insn *i)
{
    struct checkers *checkers = launch->emu->checkers;
    const struct source_line *line = &launch->kernel->lines[i->line];
    bool has_line = i->source && i->source->source_line;
    enum { BITS = 4 };
    _Static_assert(TALLY_COPY < 1 << BITS, "a source line has a key for each tally");
    uint64_t key = (uint64_t)(has_line ? (uintptr_t)line : (uintptr_t)i) << BITS;
    if (has_line) key |= check_tally(i);
    pthread_mutex_lock(&checkers->findings.lock);
    bool is_first = !address_table_find(&checkers->said, key);
    if (is_first) address_table_set(&checkers->said, key, checkers);
    pthread_mutex_unlock(&checkers->findings.lock);
    return is_first;
}

void check_host_place(const struct emu *emu, struct emu_host_place *place)
{
    place->count = 0;
    if (emu->checks && emu->host_place) emu->host_place(place);
}

/* ---- reading --------------------------------------------------------------------------------- */

size_t emu_findings(const struct emu *emu)
{
    const struct check_log *log = &emu->checkers->findings;
    return log->count < log->limit ? log->count : log->limit;
}

const struct emu_finding *emu_finding(const struct emu *emu, size_t index)
{
    return index < emu_findings(emu) ? &emu->checkers->findings.entries[index]->finding : NULL;
}

uint64_t emu_finding_count(const struct emu *emu, enum emu_severity severity)
{
    return severity == EMU_FINDING_ERROR     ? emu->checkers->findings.errors
           : severity == EMU_FINDING_WARNING ? emu->checkers->findings.warnings
                                             : 0;
}

uint64_t emu_race_count(const struct emu *emu) { return emu->checkers->findings.races; }

unsigned emu_checks(const struct emu *emu) { return emu->checks; }

void emu_add_finding(struct emu *emu, enum emu_check tool, enum emu_severity severity,
                     const char *kind, const char *title, const char *detail)
{
    check_report(
        emu, NULL,
        &(struct check_report){
            .tool = tool, .severity = severity, .kind = kind, .title = title, .detail = detail});
}

/* ---- for texts ------------------------------------------------------------------------------- */

struct check_place check_place(const struct warp *w, const struct insn *insn, int lane)
{
    return (struct check_place){.is_known = true,
                                .has_thread = true,
                                .insn = insn,
                                .block = w->block->id,
                                .thread = thread_of(w, lane)};
}

void check_describe_insn(const struct emu_kernel *kernel, const struct insn *insn, char *text,
                         size_t size)
{
    char place[500], name[300];
    describe_place(kernel, insn, place, sizeof place);
    kernel_whole_name(kernel->info.name, name, sizeof name);
    snprintf(text, size, "%s in %s", name, place);
}

void check_describe_thread(const struct check_place *place, char *text, size_t size)
{
    snprintf(text, size, "thread (%u,%u,%u) in block (%u,%u,%u)", place->thread.x, place->thread.y,
             place->thread.z, place->block.x, place->block.y, place->block.z);
}

void check_append_host_place(const struct emu *emu, const struct emu_host_place *place,
                             const char *title, char *text, size_t size)
{
    char lines[CHECK_TEXT] = "";
    if (!place->count || !emu->describe_host_place) return;
    emu->describe_host_place(place, lines, sizeof lines);
    device_append(text, size, "\n    %s", title);
    for (char *rest, *line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        device_append(text, size, "\n        Host Frame: %s", line);
}

void check_append_launch(const struct launch *launch, char *text, size_t size)
{
    char title[500] = "The kernel was launched at", name[300];
    if (launch->launched_by) {
        kernel_whole_name(launch->launched_by->info.name, name, sizeof name);
        snprintf(title, sizeof title,
                 "The kernel was launched by %s; what the host launched was launched at", name);
    }
    check_append_host_place(launch->emu, &launch->host_place, title, text, size);
}

uint32_t check_used_bytes(const struct insn *i)
{
    if (i->tally != TALLY_LOAD) return UINT32_MAX;
    uint32_t used = i->memory.used_bytes ? i->memory.used_bytes : UINT32_MAX;
    for (unsigned k = 0; k < i->elements; k++)
        if (i->memory.value[k] == NO_SLOT)
            used &= ~(((UINT32_C(1) << i->element_bytes) - 1) << k * i->element_bytes);
    return used;
}

enum tally check_tally(const struct insn *i)
{
    bool is_matrix = i->family == FAMILY_MATRIX && i->matrix->address.base != NO_SLOT;
    if (i->order == ORDER_CONSTANT) return TALLY_LOAD; /* ld.const has no tally */
    if (i->family != FAMILY_TEXTURE && !is_matrix) return i->tally;
    bool stores = is_matrix ? i->matrix->stores : i->texture.stores;
    return stores ? TALLY_STORE : TALLY_LOAD;
}

uint32_t *check_first_of_lines(const struct emu_kernel *kernel)
{
    enum { TALLIES = TALLY_ATOMIC + 1 };
    uint32_t *of_line = allocated(calloc(kernel->line_count * TALLIES + 1, sizeof *of_line));
    uint32_t *first = allocated(malloc(kernel->code_count * sizeof *first));
    for (size_t i = 0; i < kernel->code_count; i++) {
        const struct insn *insn = &kernel->code[i];
        bool has_line = insn->source && insn->source->source_line;
        uint32_t *of_this = has_line ? &of_line[insn->line * TALLIES + check_tally(insn)] : NULL;
        if (of_this && !*of_this) *of_this = (uint32_t)i + 1;
        first[i] = of_this ? *of_this - 1 : (uint32_t)i;
    }
    free(of_line);
    return first;
}
