#include "traced.h"

#include <stdlib.h>
#include <string.h>

/* Loads, or stores. */
struct sum {
    unsigned long long words, wavefronts, conflicts;
};

/* What all blocks of a launch do with shared memory after `epoch` barriers. */
struct level {
    unsigned launch, epoch;
    char kernel[48];
    unsigned long long warps; /* that use it */
    struct sum loads, stores;
};

/* A warp that uses shared memory; in `all` it may stand several times. */
struct use {
    unsigned launch, epoch, block, warp;
};

struct levels {
    struct level *of;
    struct use *uses;
    size_t count, use_count, use_room;
};

static struct level *level_of(struct levels *all, unsigned launch, unsigned epoch)
{
    for (size_t i = all->count; i-- > 0;)
        if (all->of[i].launch == launch && all->of[i].epoch == epoch) return &all->of[i];
    all->of = allocated(realloc(all->of, (all->count + 1) * sizeof *all->of));
    all->of[all->count] = (struct level){.launch = launch, .epoch = epoch};
    return &all->of[all->count++];
}

static int compare_uses(const void *a, const void *b) { return memcmp(a, b, sizeof(struct use)); }

static void add_use(struct levels *all, const struct access *a)
{
    struct use use = {a->launch, a->epoch, a->block, a->warp};
    if (all->use_count && compare_uses(&all->uses[all->use_count - 1], &use) == 0) return;
    if (all->use_count == all->use_room) {
        all->use_room = all->use_room ? 2 * all->use_room : 1024;
        all->uses = allocated(realloc(all->uses, all->use_room * sizeof *all->uses));
    }
    all->uses[all->use_count++] = use;
}

static void add(void *context, const struct access *a)
{
    struct levels *all = context;
    if (strcmp(a->space, "shared") != 0) return;
    struct level *level = level_of(all, a->launch, a->epoch);
    add_use(all, a);
    snprintf(level->kernel, sizeof level->kernel, "%s", a->kernel);
    struct sum *sum = strcmp(a->operation, "ld") == 0 ? &level->loads : &level->stores;
    sum->words += access_lanes(a) * ((a->bytes + 3) / 4);
    sum->wavefronts += a->wavefronts;
    sum->conflicts += a->wavefronts - a->ideal;
}

/* Each warp counts once in a level. */
static void count_warps(struct levels *all)
{
    if (all->use_count) qsort(all->uses, all->use_count, sizeof *all->uses, compare_uses);
    for (size_t i = 0; i < all->use_count; i++)
        if (i == 0 || compare_uses(&all->uses[i - 1], &all->uses[i]) != 0)
            level_of(all, all->uses[i].launch, all->uses[i].epoch)->warps++;
}

static int compare_levels(const void *a, const void *b)
{
    const struct level *x = a, *y = b;
    if (x->launch != y->launch) return x->launch < y->launch ? -1 : 1;
    return x->epoch < y->epoch ? -1 : x->epoch > y->epoch;
}

static void print_level(const struct level *l, const char *barriers, FILE *to)
{
    fprintf(to, "  %8s %6llu %7llu %10llu %9llu %8llu %10llu %9llu\n", barriers, l->warps,
            l->loads.words, l->loads.wavefronts, l->loads.conflicts, l->stores.words,
            l->stores.wavefronts, l->stores.conflicts);
}

static void add_level(struct level *sum, const struct level *l)
{
    sum->warps += l->warps;
    sum->loads.words += l->loads.words;
    sum->loads.wavefronts += l->loads.wavefronts;
    sum->loads.conflicts += l->loads.conflicts;
    sum->stores.words += l->stores.words;
    sum->stores.wavefronts += l->stores.wavefronts;
    sum->stores.conflicts += l->stores.conflicts;
}

/* The levels of one launch, from the first on; returns their number. */
static size_t print_launch(const struct level *first, size_t count, FILE *to)
{
    struct level sum = {0};
    size_t i = 0;
    fprintf(to,
            "\n%s (launch %u)\n"
            "  barriers  warps  loaded                        stored\n"
            "    passed  using   words wavefronts conflicts    words wavefronts conflicts\n",
            first->kernel, first->launch + 1);
    for (; i < count && first[i].launch == first->launch; i++) {
        char barriers[16];
        snprintf(barriers, sizeof barriers, "%u", first[i].epoch);
        print_level(&first[i], barriers, to);
        add_level(&sum, &first[i]);
    }
    print_level(&sum, "all", to);
    return i;
}

int levels_show(const struct step *step, const struct options *o, FILE *to, struct fault *fault)
{
    struct levels all = {0};
    int code = traced(o->argv, NULL, add, &all, fault);
    if (!code) {
        count_warps(&all);
        if (all.count) qsort(all.of, all.count, sizeof *all.of, compare_levels);
        fprintf(to, "Step %d · %s\nwhat the warps do with shared memory between two barriers\n",
                step->number, step->title);
        for (size_t i = 0; i < all.count;) i += print_launch(&all.of[i], all.count - i, to);
        if (!all.count) fprintf(to, "\nNo kernel uses shared memory.\n");
    }
    free(all.of);
    free(all.uses);
    return code;
}
