/* contender.c — the contenders of ./bench, and their data. */
#include "bench.h"
#include "common/harness/input/input.h"
#include "common/step/cuda_check.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- data ------------------------------------------------------------------------------------ */

#define SEED 1

/* The exclusive scan with which all outputs are compared. */
static void sum_up(int32_t *sums, const int8_t *numbers, size_t n)
{
    int32_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        sums[i] = sum;
        sum += numbers[i];
    }
}

static int upload(struct data *d, struct fault *fault)
{
    CUDA_CHECK(fault, cudaMalloc((void **)&d->small, d->n));
    CUDA_CHECK(fault, cudaMalloc((void **)&d->small_sums, d->n * sizeof *d->small_sums));
    CUDA_CHECK(fault, cudaMalloc(&d->found, sizeof(struct difference)));
    CUDA_CHECK(fault, cudaMemcpy(d->small, d->host, d->n, cudaMemcpyHostToDevice));
    CUDA_CHECK(fault, cudaMemcpy(d->small_sums, d->host_sums, d->n * sizeof *d->small_sums,
                                 cudaMemcpyHostToDevice));
    return 0;
}

int data_open(struct data *d, size_t n, struct fault *fault)
{
    struct input input;
    *d = (struct data){.n = n};
    int code = input_generate(&input, ELEMENT_I8, n, RANDOM_INTEGERS, SEED, fault);
    if (code) return code;
    d->host = input.data;
    d->host_sums = allocated(malloc(n * sizeof *d->host_sums));
    sum_up(d->host_sums, d->host, n);
    code = upload(d, fault);
    if (code) data_close(d);
    return code;
}

int data_convert(struct data *d, enum element element, struct fault *fault)
{
    cudaFree(d->in);
    cudaFree(d->sums);
    d->in = d->sums = NULL;
    d->element = element;
    CUDA_CHECK(fault, cudaMalloc(&d->in, d->n * element_size(element)));
    CUDA_CHECK(fault, cudaMalloc(&d->sums, d->n * element_size(element_of_sum(element))));
    CUDA_CHECK(fault, cast_numbers(element, d->in, d->small, d->n));
    CUDA_CHECK(fault, cast_sums(element, d->sums, d->small_sums, d->n));
    CUDA_CHECK(fault, cudaDeviceSynchronize());
    return 0;
}

static void fill_host_in(const struct data *d)
{
    for (size_t i = 0; i < d->n; i++) d->host_in[i] = d->host[i];
}

void data_on_host(struct data *d)
{
    if (d->host_in) return;
    d->host_in = allocated(malloc(d->n * sizeof *d->host_in));
    fill_host_in(d);
}

cudaError_t data_restore_input(const struct data *d)
{
    if (d->host_in) fill_host_in(d);
    CUDA_TRY(cast_numbers(d->element, d->in, d->small, d->n));
    return cudaDeviceSynchronize();
}

void data_close(struct data *d)
{
    cudaFree(d->small);
    cudaFree(d->small_sums);
    cudaFree(d->in);
    cudaFree(d->sums);
    cudaFree(d->found);
    free(d->host);
    free(d->host_sums);
    free(d->host_in);
    *d = (struct data){0};
}

/* ---- comparisons --------------------------------------------------------------------------- */

static const struct difference none = {0, ~0ull};

static const void *element_at(const void *array, enum element element, size_t index)
{
    return (const char *)array + index * element_size(element);
}

static cudaError_t begin(const struct data *d)
{
    return cudaMemcpy(d->found, &none, sizeof none, cudaMemcpyHostToDevice);
}

static cudaError_t end(const struct data *d, struct difference *found)
{
    return cudaMemcpy(found, d->found, sizeof *found, cudaMemcpyDeviceToHost);
}

cudaError_t data_compare(const struct data *d, const void *out, size_t start, size_t n, bool copied,
                         struct difference *found)
{
    const void *want = element_at(d->sums, element_of_sum(d->element), start);
    CUDA_TRY(begin(d));
    CUDA_TRY(compare_sums(d->element, out, want, copied ? NULL : want, n, d->found));
    return end(d, found);
}

cudaError_t data_compare_input(const struct data *d, const void *out, size_t start, size_t n,
                               struct difference *found)
{
    CUDA_TRY(begin(d));
    CUDA_TRY(compare_numbers(d->element, out, d->small + start, n, d->found));
    return end(d, found);
}

/* ---- contender ------------------------------------------------------------------------------- */

/* clang-format off */
/* DO(00) to DO(99). */
#define TEN(DO, t) DO(t##0) DO(t##1) DO(t##2) DO(t##3) DO(t##4) \
                   DO(t##5) DO(t##6) DO(t##7) DO(t##8) DO(t##9)
#define HUNDRED(DO) TEN(DO, 0) TEN(DO, 1) TEN(DO, 2) TEN(DO, 3) TEN(DO, 4) \
                    TEN(DO, 5) TEN(DO, 6) TEN(DO, 7) TEN(DO, 8) TEN(DO, 9)

/* Every number that a step may have. Steps that are not linked in have no address. */
#define DECLARE(n) extern const struct step step##n __attribute__((weak));
#define ADDRESS(n) &step##n,
HUNDRED(DECLARE)
extern const struct step cub __attribute__((weak));
extern const int cub_version __attribute__((weak)); /* 300001 is 3.0.1 */
static const struct step *const linked[] = {HUNDRED(ADDRESS) &cub};
/* clang-format on */
#define LINKED (sizeof linked / sizeof *linked)

static bool is_step0(const struct step *step) { return step->number == 0 && !step->program; }

/* A step has a reference of its own if some of its variants are not plain exclusive sums. The first
 * variant always is. */
static bool is_plain(const struct step *step, int variant)
{
    return !step->reference || variant == 0 || is_step0(step);
}

/* Steps that apply scan do something else, and are not compared with it. */
static bool takes_any_n(const struct step *step)
{
    return step->max_n == 0 && !step->power_of_two && !step->verbs;
}

static int variants_of(const struct step *step)
{
    int count = 0;
    while (step->variants && step->variants[count]) count++;
    return count ? count : 1;
}

const char *contender_variant(const struct contender *c)
{
    return c->step && c->step->variants ? c->step->variants[c->variant] : "";
}

/* Step 0 is an experiment with many patterns. The bench takes one of them: the copy, which no scan
 * can beat. */
#define STEP0_VARIANT "float4"

bool contender_is_cub(const struct contender *c) { return c->step && c->step->program; }
bool contender_copies(const struct contender *c) { return c->way || is_step0(c->step); }

struct contender_name contender_name(const struct contender *c)
{
    struct contender_name name;
    if (c->way)
        snprintf(name.name, sizeof name.name, "%s", c->way->name);
    else if (contender_is_cub(c))
        snprintf(name.name, sizeof name.name, "CUB");
    else
        snprintf(name.name, sizeof name.name, "step %d", c->step->number);
    return name;
}

struct contender_name contender_cub_version(void)
{
    struct contender_name name = {""};
    int v = &cub_version ? cub_version : 0;
    if (v) snprintf(name.name, sizeof name.name, "%d.%d.%d", v / 100000, v / 100 % 1000, v % 100);
    return name;
}

/* ---- the list of contenders ---------------------------------------------------------------- */

/* One item of the list. */
struct item {
    bool roof, cub;
    int from, to;        /* numbers of steps */
    const char *variant; /* NULL: the first of the type */
    size_t length;       /* of its name */
};

static bool is_word(const char *word, const char *text, size_t length)
{
    return strlen(word) == length && memcmp(word, text, length) == 0;
}

static bool read_item(struct item *item, const char *text, size_t length)
{
    const char *colon = memchr(text, ':', length);
    size_t name = colon ? (size_t)(colon - text) : length;
    char word[8];
    int end = 0;
    *item = (struct item){.from = 1, .to = 0};
    if (name >= sizeof word) return false;
    snprintf(word, sizeof word, "%.*s", (int)name, text);
    if (colon) {
        item->variant = colon + 1;
        item->length = length - name - 1;
    }
    bool all = strcmp(word, "all") == 0;
    item->roof = all || strcmp(word, "roof") == 0;
    item->cub = all || strcmp(word, "cub") == 0;
    if (all) item->from = 0, item->to = (int)LINKED;
    if (item->roof) return !colon;
    if (item->cub) return true;
    if (!isdigit((unsigned char)word[0])) return false;
    if (sscanf(word, "%d-%d%n", &item->from, &item->to, &end) < 2) {
        sscanf(word, "%d%n", &item->from, &end);
        item->to = item->from;
    }
    return end > 0 && !word[end] && item->to >= item->from;
}

/* Does the item ask for this variant? `first`: it is the first variant of its type. */
static bool wants(const struct item *item, const struct step *step, int variant, bool first)
{
    bool same = step->program ? item->cub : step->number >= item->from && step->number <= item->to;
    if (!same) return false;
    const char *name = step->variants ? step->variants[variant] : "";
    if (item->variant)
        return is_word("all", item->variant, item->length) ||
               is_word(name, item->variant, item->length);
    if (is_step0(step)) return strcmp(name, STEP0_VARIANT) == 0;
    return first;
}

/* Does any item ask for this contender? Marks the items that have found a contender. */
static bool wanted(const struct item *items, bool *used, size_t count, const struct step *step,
                   int variant, bool first)
{
    bool any = false;
    for (size_t i = 0; i < count; i++)
        if (wants(&items[i], step, variant, first)) any = used[i] = true;
    return any;
}

static void add_steps(struct contender found[CONTENDERS], size_t *count, const struct item *items,
                      bool *used, size_t item_count, enum element element)
{
    for (size_t s = 0; s < LINKED; s++) {
        const struct step *step = linked[s];
        bool first = true;
        if (!step || !takes_any_n(step)) continue;
        for (int v = 0; v < variants_of(step); v++) {
            bool fits = step_element(step, v) == element && is_plain(step, v);
            bool is_wanted = wanted(items, used, item_count, step, v, first && fits);
            if (fits && is_wanted && *count < CONTENDERS)
                found[(*count)++] = (struct contender){.step = step, .variant = v};
            if (fits) first = false;
        }
    }
}

static bool any_between(int from, int to)
{
    for (size_t s = 0; s < LINKED; s++)
        if (linked[s] && takes_any_n(linked[s]) && !linked[s]->program &&
            linked[s]->number >= from && linked[s]->number <= to)
            return true;
    return false;
}

static int read_items(struct item items[CONTENDERS], size_t *count, const char *list,
                      struct fault *fault)
{
    *count = 0;
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        size_t length = strcspn(at, ",");
        if (*count == CONTENDERS || !read_item(&items[*count], at, length))
            return fail(fault, EXIT_USAGE,
                        "--steps: \"%.*s\" is none of: all, cub, roof, a number (7), a number and "
                        "a variant (5:naive, 5:all), a range (5-9).",
                        (int)(length < 60 ? length : 60), at);
        ++*count;
    }
    return 0;
}

int contenders_find(struct contender found[CONTENDERS], size_t *count, const char *list,
                    enum element element, struct fault *fault)
{
    struct item items[CONTENDERS];
    bool used[CONTENDERS] = {false}, roof = false;
    size_t item_count;
    *count = 0;
    int code = read_items(items, &item_count, list, fault);
    if (code) return code;
    for (size_t i = 0; i < item_count; i++) roof |= items[i].roof;
    for (int way = 0; roof && way < ROOF_WAYS; way++)
        found[(*count)++] = (struct contender){.way = &roof_ways[way]};
    add_steps(found, count, items, used, item_count, element);
    for (size_t i = 0; i < item_count; i++) {
        if (items[i].variant && !used[i])
            return fail(fault, EXIT_USAGE, "--steps: there is no variant \"%.*s\" there.",
                        (int)items[i].length, items[i].variant);
        if (items[i].from <= items[i].to && !items[i].cub &&
            !any_between(items[i].from, items[i].to))
            return fail(fault, EXIT_USAGE,
                        "--steps: of steps %d to %d none is here that takes any n.", items[i].from,
                        items[i].to);
    }
    return 0;
}

/* ---- steps that apply scan ------------------------------------------------------------------- */

static bool is_timed_alone(const struct step *step)
{
    return step && step->verbs && step->verbs->experiment;
}

/* Does the item name this step? "all" does not. */
static bool names(const struct item *item, const struct step *step)
{
    bool all = item->roof && item->cub;
    return !all && step->number >= item->from && step->number <= item->to;
}

const struct step *contenders_next_application(const struct step *last)
{
    for (size_t s = 0; s < LINKED; s++) {
        if (is_timed_alone(linked[s]) && !last) return linked[s];
        if (linked[s] == last) last = NULL;
    }
    return NULL;
}

int contenders_application(const struct step **found, const char *list, struct fault *fault)
{
    struct item items[CONTENDERS];
    size_t count;
    int code = read_items(items, &count, list, fault);
    *found = NULL;
    for (size_t s = 0; s < LINKED; s++)
        for (size_t i = 0; i < count && !code; i++)
            if (is_timed_alone(linked[s]) && names(&items[i], linked[s])) *found = linked[s];
    if (code || !*found) return code;
    if (count == 1 && items[0].from == items[0].to && !items[0].variant) return 0;
    return fail(fault, EXIT_USAGE,
                "--steps %.60s: step %d applies scan, and is timed by a program of its own; ask "
                "for it alone: --steps %d.",
                list, (*found)->number, (*found)->number);
}

void contenders_print_applications(FILE *to)
{
    for (const struct step *s = NULL; (s = contenders_next_application(s));)
        fprintf(to, "  ./bench --steps %d   %s, by build/experiments/%s\n", s->number, s->name,
                s->verbs->experiment);
    fprintf(to, "  ./bench --steps applications   all of these, one after the other\n");
}
