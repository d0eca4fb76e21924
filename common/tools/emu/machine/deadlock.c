/* deadlock.c — launches whose threads cannot go on: how that is found, and what is reported. */
#include "async.h"
#include "events.h"
#include "schedule.h"
#include "common/files/visible.h"
#include <stdarg.h>

/* ---- states that repeat ---------------------------------------------------------------------- */

/* A larger state is not checked: its digest would take longer than a turn. After a digest of many
 * bytes come turns without one, so that they do not take longer than the turns. */
enum { LARGEST_STATE = 4 << 20, BYTES_A_TURN = 32 << 10 };

/* splitmix64's step */
static uint64_t mix(uint64_t digest, uint64_t value)
{
    uint64_t z = (digest ^ value) * UINT64_C(0xbf58476d1ce4e5b9);
    return z ^ z >> 31;
}

/* Four digests of interleaved words, which the processor computes at once. Up to 7 bytes at
 * the end are left out. */
static uint64_t digest_bytes(uint64_t digest, const uint8_t *bytes, size_t size)
{
    uint64_t a = digest, b = 1, c = 2, d = 3, word[4];
    for (; size >= sizeof word; bytes += sizeof word, size -= sizeof word) {
        memcpy(word, bytes, sizeof word);
        a = mix(a, word[0]);
        b = mix(b, word[1]);
        c = mix(c, word[2]);
        d = mix(d, word[3]);
    }
    for (; size >= sizeof *word; bytes += sizeof *word, size -= sizeof *word) {
        memcpy(word, bytes, sizeof *word);
        a = mix(a, *word);
    }
    return mix(mix(mix(a, b), c), d);
}

/* The frames of a call and its callers; the kernel's own is part of the block's memory. */
static uint64_t digest_frames(uint64_t digest, const struct frame *frame)
{
    for (; frame->caller; frame = frame->caller) {
        digest = mix(digest, frame->return_pc);
        digest = digest_bytes(digest, frame->registers, frame->callee->register_bytes);
        digest = digest_bytes(digest, frame->area, frame->area_bytes * WARP);
    }
    return digest;
}

static uint64_t digest_warp(uint64_t digest, const struct warp *w)
{
    digest = mix(digest, (uint64_t)w->live << 32 | w->carry);
    digest = mix(digest, (uint64_t)w->cluster_arrived << 32 | w->cluster_owes);
    for (unsigned k = 0; k < w->fragment_count; k++) {
        const struct fragment *f = &w->fragments[k];
        digest = mix(digest, (uint64_t)f->pc << 32 | f->mask);
        digest = mix(digest, (uint64_t)f->state << 32 | f->barrier);
        digest = digest_frames(digest, f->frame);
    }
    return digest;
}

static size_t state_bytes(const struct cluster *cluster)
{
    size_t size = 0;
    for (unsigned rank = 0; rank < cluster->size; rank++)
        size += cluster->blocks[rank]->memory_bytes;
    return size;
}

/* Never 0. Asynchronous copies in flight are not part of it; one that arrives changes memory. */
static uint64_t digest_of(const struct cluster *cluster)
{
    uint64_t digest = cluster->parity;
    for (unsigned rank = 0; rank < cluster->size; rank++) {
        const struct block *block = cluster->blocks[rank];
        if (block->ended) continue;
        digest = digest_bytes(digest, block->shared, block->memory_bytes);
        for (unsigned i = 0; i < block->warp_count; i++)
            digest = digest_warp(digest, &block->warps[i]);
        for (unsigned number = 0; number < MAX_BARRIERS; number++)
            digest = mix(digest, block->barriers[number].arrived);
    }
    return digest | !digest;
}

/* Has another cluster changed memory since this one's last turn? */
static bool memory_is_new(struct cluster *cluster)
{
    struct launch *launch = cluster->launch;
    struct repeat fresh = {.pause = cluster->repeat.pause};
    pthread_mutex_lock(&launch->lock);
    fresh.new_values = launch->new_values;
    pthread_mutex_unlock(&launch->lock);
    if (fresh.new_values == cluster->repeat.new_values) return false;
    cluster->repeat = fresh; /* what it did before proves nothing */
    return true;
}

static bool is_known_to_repeat(struct repeat *repeat)
{
    if (!repeat->left) return false;
    repeat->left--;
    return true;
}

/* Brent's algorithm for cycles: an earlier state is kept for twice as many turns as the one before.
 * While other clusters change memory a wait may end, and no digest is made, which would take long.
 */
bool repeats(struct cluster *cluster)
{
    struct repeat *repeat = &cluster->repeat;
    size_t size = state_bytes(cluster);
    repeat->turns++;
    if (memory_is_new(cluster) || size > LARGEST_STATE) return false;
    if (repeat->pause) {
        repeat->pause--;
        return is_known_to_repeat(repeat);
    }
    uint64_t digest = digest_of(cluster);
    repeat->pause = (unsigned)(size / BYTES_A_TURN);
    if (digest == repeat->digest) {
        repeat->left = repeat->turns; /* until it returns to this state */
        repeat->turns = 0;
        return true;
    }
    if (repeat->turns >= repeat->most) {
        repeat->digest = digest;
        repeat->most = 2 * repeat->turns;
        repeat->turns = 0;
    }
    return is_known_to_repeat(repeat);
}

/* ---- draws where each lane of a cluster waits ------------------------------------------------ */

enum { LABEL = 13, ROW = 200 };

/* A text that grows until it is full. */
struct picture {
    char *text;
    size_t used, size;
    bool is_full;
};

__attribute__((format(printf, 2, 3))) static void put(struct picture *picture, const char *format,
                                                      ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length =
        vsnprintf(picture->text + picture->used, picture->size - picture->used, format, arguments);
    va_end(arguments);
    if (picture->is_full || (size_t)length >= picture->size - picture->used) {
        picture->text[picture->used] = '\0'; /* drops the part that does not fit */
        picture->is_full = true;
    } else {
        picture->used += (size_t)length;
    }
}

static void put_lanes(struct picture *picture, uint32_t lanes, char mark)
{
    char row[WARP + 1];
    for (int l = 0; l < WARP; l++) row[l] = lanes >> l & 1 ? mark : '.';
    row[WARP] = '\0';
    put(picture, "%s  ", row);
}

/* "scan.cu:12", without folders */
static void put_place(struct picture *picture, const struct emu_kernel *kernel,
                      const struct insn *insn)
{
    const struct ptx_text *ptx = &kernel->module->text;
    const struct ptx_instruction *source = insn->source;
    const char *file = source && source->file < ptx->file_count ? ptx->files[source->file] : NULL;
    char name[ROW];
    visible(name, sizeof name,
            file && strrchr(file, '/') ? strrchr(file, '/') + 1
            : file                     ? file
                                       : "");
    if (file && source->source_line)
        put(picture, "%s:%u", name, source->source_line);
    else if (source)
        put(picture, "PTX line %u", source->line);
    else
        put(picture, "the end");
}

static void put_fragment(struct picture *picture, const struct warp *w, const struct fragment *f)
{
    const struct block *block = w->block;
    const struct insn *insn = &block->launch->kernel->code[f->pc];
    put_lanes(picture, f->mask, '#');
    put_place(picture, block->launch->kernel, insn);
    if (f->state == FRAGMENT_AT_BARRIER) {
        const struct barrier *barrier = &block->barriers[f->barrier];
        put(picture, "  waits at barrier %u (%u of %u threads)", f->barrier, barrier->arrived,
            barrier->expected);
    } else if (f->state == FRAGMENT_WAITING_FOR_LANES) {
        uint32_t members = member_mask_of(w, f, __builtin_ctz(f->mask));
        put(picture, "  waits for lanes 0x%08x of its member mask 0x%08x",
            members & w->live & ~f->mask, members);
    } else if (f->state == FRAGMENT_WAITING_FOR_PHASE) {
        put(picture, insn->control == CONTROL_WAIT_CLUSTER ? "  waits for its cluster"
                                                           : "  waits for an mbarrier");
    } else {
        put(picture, "  runs");
    }
}

/* The lines of one warp. Lines after the first are behind `indent` + LABEL spaces. */
static void put_warp(struct picture *picture, const struct warp *w, int indent)
{
    unsigned rows = 0;
    uint32_t drawn = 0;
    for (;;) { /* the fragment with the lowest lane first */
        const struct fragment *next = NULL;
        for (unsigned k = 0; k < w->fragment_count; k++) {
            const struct fragment *f = &w->fragments[k];
            if (!(f->mask & drawn) && (!next || __builtin_ctz(f->mask) < __builtin_ctz(next->mask)))
                next = f;
        }
        if (!next) break;
        if (rows++) put(picture, "\n%*s", indent + LABEL, "");
        put_fragment(picture, w, next);
        drawn |= next->mask;
    }
    if (!w->exited) return;
    if (rows) put(picture, "\n%*s", indent + LABEL, "");
    put_lanes(picture, w->exited, 'x');
    put(picture, "exited");
}

static void put_group(struct picture *picture, int indent, unsigned first, unsigned last,
                      const char *rows)
{
    char label[LABEL + 1];
    if (first == last)
        snprintf(label, sizeof label, "warp %u", first);
    else
        snprintf(label, sizeof label, "warps %u-%u", first, last);
    put(picture, "\n%*s%-*s%s", indent, "", LABEL, label, rows);
}

static void put_block(struct picture *picture, const struct block *block, int indent)
{
    char rows[2][WARP * ROW];
    unsigned first = 0, now = 0;
    put(picture, "%s%*sblock (%u,%u,%u):", picture->used ? "\n" : "", indent, "", block->id.x,
        block->id.y, block->id.z);
    for (unsigned i = 0; i < block->warp_count; i++, now = !now) {
        struct picture own = {.text = rows[now], .size = sizeof rows[now]};
        put_warp(&own, &block->warps[i], indent + 2);
        if (i == first || !strcmp(rows[now], rows[!now])) continue;
        put_group(picture, indent + 2, first, i - 1, rows[!now]);
        first = i;
    }
    put_group(picture, indent + 2, first, block->warp_count - 1, rows[!now]);
}

/* Draws into `text`, each line after `indent` spaces. A picture that does not fit is cut, and says
 * so. */
static void deadlock_picture_draw(const struct cluster *cluster, int indent, char *text,
                                  size_t size)
{
    static const char more[] = "\n(and more)";
    struct picture picture = {.text = text, .size = size - sizeof more};
    text[0] = '\0';
    for (unsigned b = 0; b < cluster->size; b++)
        if (!cluster->blocks[b]->ended) put_block(&picture, cluster->blocks[b], indent);
    if (picture.is_full) strcpy(text + picture.used, more);
}

/* ---- finds the fragment that explains best why the cluster cannot go on ---------------------- */

/* The fragment that the message is about, and how many threads of its block have exited. */
struct stuck_fragment {
    struct warp *warp;
    const struct fragment *fragment;
    const struct insn *insn;
    unsigned exited;
};

static unsigned threads_exited(const struct block *block)
{
    unsigned exited = 0;
    for (unsigned i = 0; i < block->warp_count; i++)
        exited += (unsigned)__builtin_popcount(block->warps[i].exited);
    return exited;
}

/* Does a barrier for all threads of the block go on without those that have exited? PTX lets it
 * (PTX ISA, "exit"), and so do today's GPUs. Here that holds for whole warps: a bar.sync that some
 * lanes of a warp do not reach is undefined. */
static bool goes_on_without(const struct block *block)
{
    bool goes_on = true;
    for (unsigned i = 0; i < block->warp_count; i++)
        goes_on = goes_on && (!block->warps[i].exited || !block->warps[i].live);
    return goes_on;
}

/* The order of enum fragment_state: a fragment that waits for lanes of its own warp explains more
 * than one that waits for a phase, and this one more than one at a barrier. */
static bool says_more(const struct fragment *a, const struct fragment *b)
{
    return !b || (a->state > b->state);
}

/* A running fragment explains more than any other, if the cluster is ended from outside. */
static bool runs_rather(const struct fragment *a, const struct fragment *b)
{
    return !b || (a->state == FRAGMENT_READY && b->state != FRAGMENT_READY);
}

/* The first of the cluster's fragments that explain most. */
static struct stuck_fragment
look_around(struct cluster *cluster, bool (*more)(const struct fragment *, const struct fragment *))
{
    struct stuck_fragment stuck = {0};
    for (unsigned b = 0; b < cluster->size; b++) {
        struct block *block = cluster->blocks[b];
        for (unsigned i = 0; i < block->warp_count; i++) {
            struct warp *w = &block->warps[i];
            for (unsigned k = 0; k < w->fragment_count; k++) {
                const struct fragment *f = &w->fragments[k];
                if (!more(f, stuck.fragment)) continue;
                stuck = (struct stuck_fragment){w, f, &block->launch->kernel->code[f->pc],
                                                threads_exited(block)};
            }
        }
    }
    return stuck;
}

/* Ends the launch with a message and a picture, and announces the fault. */
__attribute__((format(printf, 5, 6))) static void report(struct cluster *cluster,
                                                         const struct stuck_fragment *s, int error,
                                                         enum fault_kind kind, const char *format,
                                                         ...)
{
    char why[1000], picture[3000];
    struct launch *launch = cluster->launch;
    int lane = __builtin_ctz(s->fragment->mask);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    deadlock_picture_draw(cluster, 4, picture, sizeof picture);
    if (!fault_found(s->warp, s->insn, lane, error, "%s", why)) return;
    event_fault(launch, &(struct fault_event){.warp = s->warp,
                                              .insn = s->insn,
                                              .lane = lane,
                                              .error = error,
                                              .kind = kind,
                                              .what = why,
                                              .picture = picture});
    pthread_mutex_lock(&launch->lock);
    device_append(launch->message, sizeof launch->message, "\n%s", picture);
    pthread_mutex_unlock(&launch->lock);
}

/* Describes where a lane of the same warp is, and at which instruction. */
static void describe_lane(const struct warp *w, int lane, char *text, size_t size)
{
    char place[400];
    for (unsigned k = 0; k < w->fragment_count; k++) {
        const struct fragment *f = &w->fragments[k];
        if (!(f->mask >> lane & 1)) continue;
        const struct insn *i = &w->block->launch->kernel->code[f->pc];
        describe_place(w->block->launch->kernel, i, place, sizeof place);
        size_t used = (size_t)snprintf(text, size, "lane %d waits in ", lane);
        for (unsigned n = 0; i->source && n < i->source->word_count && used < size; n++)
            used += (size_t)snprintf(text + used, size - used, "%s%s", n ? "." : "",
                                     i->source->words[n]);
        if (f->state == FRAGMENT_WAITING_FOR_LANES && used < size)
            used += (size_t)snprintf(text + used, size - used, " with mask 0x%08x",
                                     member_mask_of(w, f, lane));
        if (used < size) snprintf(text + used, size - used, " at %s", place);
        return;
    }
    snprintf(text, size, "lane %d is not there", lane);
}

static void report_lanes(struct cluster *cluster, const struct stuck_fragment *s)
{
    char where[600];
    uint32_t active = member_mask_active(s->warp, s->fragment), here = 0;
    int lane = __builtin_ctz(active);
    uint32_t members = member_mask_of(s->warp, s->fragment, lane);
    for (int l = 0; l < WARP; l++) /* the lanes that wait with this mask */
        if (active >> l & 1 && member_mask_of(s->warp, s->fragment, l) == members)
            here |= UINT32_C(1) << l;
    uint32_t missing = members & s->warp->live & ~here;
    describe_lane(s->warp, __builtin_ctz(missing | UINT32_C(1) << 31), where, sizeof where);
    report(
        cluster, s, EMU_LAUNCH_FAILURE, FAULT_DIVERGENT_IN_WARP,
        "deadlock: lanes 0x%08x wait here for lanes 0x%08x of their member mask 0x%08x (%s; lanes "
        "meet only in the same operation with the same mask)",
        here, missing, members, where);
}

void deadlock_resolve(struct cluster *cluster)
{
    struct stuck_fragment s = look_around(cluster, says_more);
    if (s.fragment->state == FRAGMENT_WAITING_FOR_PHASE) {
        cluster_report(s.warp, s.insn, __builtin_ctz(s.fragment->mask));
        return;
    }
    if (s.fragment->state == FRAGMENT_WAITING_FOR_LANES) {
        report_lanes(cluster, &s);
        return;
    }
    struct block *block = s.warp->block;
    const struct barrier *barrier = &block->barriers[s.fragment->barrier];
    // A barrier that names a number of threads waits for that many, whoever has exited.
    bool exits_explain =
        s.insn->barrier.threads == NO_SLOT && barrier->arrived + s.exited >= barrier->expected;
    bool parted = !goes_on_without(block);
    if (exits_explain && (block->launch->lenient || !parted)) {
        event_barrier_exited(s.warp, s.insn, barrier->arrived, s.exited, parted);
        barrier_release(block, s.fragment->barrier);
    } else if (exits_explain)
        report(cluster, &s, EMU_LAUNCH_FAILURE, FAULT_DIVERGENT_IN_BLOCK,
               "a barrier that not all threads reach: %u of %u threads wait here, %u %s exited "
               "(today's GPUs let this pass, and so does emu --lenient; it is undefined all the "
               "same)",
               barrier->arrived, barrier->expected, s.exited, s.exited == 1 ? "has" : "have");
    else
        report(cluster, &s, EMU_LAUNCH_FAILURE, FAULT_DIVERGENT_IN_BLOCK,
               "deadlock: %u of %u threads wait at this barrier, number %u, and the others wait "
               "elsewhere%s",
               barrier->arrived, barrier->expected, s.fragment->barrier,
               s.exited ? " or have exited" : "");
}

void give_up_launch(struct launch *launch, int error, const char *sentence)
{
    pthread_mutex_lock(&launch->lock);
    bool is_first = !launch->error;
    if (is_first) {
        snprintf(launch->message, sizeof launch->message, "%s", sentence);
        launch->error = error;
    }
    pthread_mutex_unlock(&launch->lock);
    if (is_first)
        event_fault(launch,
                    &(struct fault_event){
                        .error = error, .kind = FAULT_ENDLESS, .what = sentence, .picture = ""});
}

/* The cluster has just ended and has no place in the code: the message names the kernel only. */
static void give_up_nowhere(struct launch *launch, int error, const char *why)
{
    char kernel[200], sentence[LAUNCH_MESSAGE];
    kernel_base_name(launch->kernel->info.name, kernel, sizeof kernel);
    snprintf(sentence, sizeof sentence, "%s, between two blocks of kernel %s", why, kernel);
    give_up_launch(launch, error, sentence);
}

void describe_loop(struct cluster *cluster, char *text, size_t size)
{
    struct stuck_fragment s = look_around(cluster, runs_rather);
    char place[480];
    snprintf(text, size, "each loop");
    if (!s.warp || !s.insn->source || !s.insn->source->source_line) return;
    describe_place(cluster->launch->kernel, s.insn, place, sizeof place);
    snprintf(text, size, "the loop around %s", place);
}

void give_up_cluster(struct cluster *cluster, int error, const char *why)
{
    if (phase_wait_give_up(cluster, error, why)) return;
    struct stuck_fragment s = look_around(cluster, runs_rather);
    if (!s.warp)
        give_up_nowhere(cluster->launch, error, why);
    else if (error == EMU_INTERRUPTED)
        fault_found(s.warp, s.insn, __builtin_ctz(s.fragment->mask), error, "%s", why);
    else
        report(cluster, &s, error, FAULT_ENDLESS, "%s", why);
}
