/* deadlock.c — finds the fragment that explains best why the cluster cannot go on. */
#include "events.h"
#include "deadlock.h"
#include "common/emu/ptx/kernel_name.h"
#include "barrier.h"
#include "member_mask.h"
#include "device.h"
#include <stdarg.h>
#include <string.h>
#include "phase_wait.h"

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
