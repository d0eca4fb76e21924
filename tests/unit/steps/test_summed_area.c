/*
 * test_summed_area.c — step 14: its tables for every width, its filters compared with filters that
 * add up each window, its errors.
 */
#define _GNU_SOURCE
#include "steps/14-summed-area-table/step14.h"
#include "common/harness/verify/verify.h"
#include "common/step/element.h"
#include "tests/support/cudart_check.h"

#include <math.h>
#include <stdlib.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

extern const struct step step14;

TestSuite(summed_area, .timeout = 60);

/* ---- one result ------------------------------------------------------------------------------ */

enum content { RANDOM, WHITE, WITH_DEPTHS };

/* A picture, and behind it its depths if there are any, on the host and, displaced by `offset`
 * samples, on the device. */
struct sample_picture {
    struct request asked;
    size_t samples, n; /* without and with the depths */
    void *pixels;
    struct guarded on_device;
};

static struct sample_picture make(struct sat_size size, enum element element, size_t offset,
                                  enum content content)
{
    struct sample_picture p = {.asked = {.size = size, .element = element, .maximum = UINT16_MAX}};
    bool depths = content == WITH_DEPTHS;
    p.samples = sat_samples(size), p.n = p.samples + (depths ? size.width * size.height : 0);
    p.pixels = malloc(p.n * element_size(element));
    if (element == ELEMENT_I8) p.asked.maximum = UINT8_MAX;
    if (depths) p.asked.depth = "depths";
    for (size_t i = 0; i < p.n; i++) {
        uint64_t random = content == WHITE ? UINT64_MAX : random_bits();
        if (element == ELEMENT_I8) ((uint8_t *)p.pixels)[i] = (uint8_t)random;
        if (element == ELEMENT_I16) ((uint16_t *)p.pixels)[i] = (uint16_t)random;
        if (element == ELEMENT_F32)
            ((float *)p.pixels)[i] = (float)((int32_t)random >> 8) * 0x1p-20f;
    }
    p.on_device = guarded(p.pixels, p.n * element_size(element), offset * element_size(element));
    return p;
}

static void unmake(struct sample_picture *p)
{
    release(&p->on_device, p->pixels, "the picture");
    free(p->pixels);
}

/* The table and the filtered picture of a variant on the device, `offset` entries off their
 * alignment, after a workspace full of 0xA5. */
static struct guarded make_result(struct sample_picture *p, enum variant variant, size_t offset)
{
    struct subject s = {.step = &step14, .self = &p->asked};
    p->asked.variant = variant;
    struct needs needs = step14.verbs->needs(&s, p->n);
    struct guarded out = guarded(NULL, needs.result, offset * needs.result_element);
    struct guarded workspace = guarded(NULL, needs.workspace, 0);
    struct call call = {out.data, p->on_device.data, p->n, workspace.data, NULL};
    ok(step14.verbs->launch(&s, &call));
    release(&workspace, NULL, "the workspace");
    return out;
}

static void *on_host(const struct guarded *result)
{
    void *own = malloc(result->bytes);
    ok(cudaMemcpy(own, result->data, result->bytes, cudaMemcpyDeviceToHost));
    return own;
}

static struct verdict verdict_of(const struct sample_picture *p, const void *result)
{
    struct verdict verdict = {.right = true, .exact = true};
    sat_judge(&verdict, &p->asked, p->pixels, result);
    return verdict;
}

static struct verdict result_verdict(struct sample_picture *p, enum variant variant, size_t offset)
{
    struct guarded result = make_result(p, variant, offset);
    void *own = on_host(&result);
    struct verdict verdict = verdict_of(p, own);
    free(own);
    release(&result, NULL, "the result");
    return verdict;
}

static void expect_table(struct sat_size size, enum element element, enum variant variant,
                         size_t offset)
{
    struct sample_picture p = make(size, element, offset, RANDOM);
    struct verdict v = result_verdict(&p, variant, offset);
    cr_assert(v.right, "variant %d, element %d, %zu x %zu x %u, offset %zu: [%zu] is %s, not %s",
              (int)variant, (int)element, size.width, size.height, size.channels, offset,
              v.first[0].index, v.first[0].got, v.first[0].want);
    cr_expect_eq(v.checked, p.samples);
    cr_expect(v.exact || element == ELEMENT_F32 || variant != FAST);
    unmake(&p);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static const unsigned channel_counts[] = {1, 3, 4};

/* Before Hopper no grey picture is small enough for one cluster. */
static void expect_every_width_up_to_100(void)
{
    for (size_t width = 1; width <= 100; width++) {
        for (size_t c = 0; c < LENGTH(channel_counts); c++)
            expect_table((struct sat_size){width, 3, channel_counts[c]}, ELEMENT_I8, FAST, 0);
        expect_table((struct sat_size){width, 5, 3}, ELEMENT_I8, width % 2 ? DOCUMENT : SHUFFLE, 0);
    }
}

Test(summed_area, every_width_up_to_100) { expect_every_width_up_to_100(); }

Test(summed_area, every_width_up_to_100_in_three_launches_slow)
{
    setenv("EMU_GPU", "t4", 1);
    expect_every_width_up_to_100();
}

/* The largest pictures of one cluster, and some that are just too large; bands of rows that are
 * full, not full, and empty. */
Test(summed_area, one_cluster_slow)
{
    static const size_t sides[][2] = {{512, 512}, {511, 509}, {513, 7}, {7, 513},
                                      {1, 512},   {512, 1},   {129, 33}, {400, 300}};
    for (size_t i = 0; i < LENGTH(sides); i++)
        for (size_t offset = 0; offset < 2; offset++) {
            struct sat_size size = {sides[i][0], sides[i][1], 1};
            expect_table(size, ELEMENT_I8, FAST, offset);
            expect_table(size, ELEMENT_I16, FAST, offset);
            expect_table(size, ELEMENT_F32, FAST, offset);
        }
}

/* OpenCV's integral was wrong for three of four of these (opencv issue 7378). */
Test(summed_area, widths_that_are_multiples_of_16)
{
    for (size_t width = 16; width <= 512; width += 16) {
        expect_table((struct sat_size){width, 35, 1}, ELEMENT_I8, FAST, 0);
        expect_table((struct sat_size){width, 2, 1}, ELEMENT_I16, FAST, 0);
        expect_table((struct sat_size){width, 2, 1}, ELEMENT_I8, DOCUMENT, 0);
    }
}

Test(summed_area, every_height_around_a_tile_and_each_type)
{
    static const size_t heights[] = {1, 2, 4, 5, 7, 8, 9, 31, 32, 33, 63, 64, 65};
    for (size_t h = 0; h < LENGTH(heights); h++)
        for (size_t c = 0; c < LENGTH(channel_counts); c++) {
            struct sat_size size = {20, heights[h], channel_counts[c]};
            struct sat_size odd = {21, heights[h], channel_counts[c]};
            expect_table(size, ELEMENT_I16, FAST, 0);
            expect_table(size, ELEMENT_F32, FAST, 0);
            expect_table(odd, ELEMENT_F32, FAST, 0);
            expect_table(odd, ELEMENT_F32, DOCUMENT, 0);
        }
}

/* Beyond one round of scan_down, which takes 256 rows, or columns, of tiles; and more rows than a
 * grid has. */
Test(summed_area, very_high_and_very_wide)
{
    expect_table((struct sat_size){3, 8225, 1}, ELEMENT_I8, FAST, 0);
    expect_table((struct sat_size){131600, 2, 1}, ELEMENT_I8, FAST, 0);
    expect_table((struct sat_size){33000, 3, 3}, ELEMENT_I8, FAST, 0);
    expect_table((struct sat_size){1, 70000, 1}, ELEMENT_I8, DOCUMENT, 0);
    expect_table((struct sat_size){1030, 3, 4}, ELEMENT_I8, DOCUMENT, 0);
}

Test(summed_area, displaced_memory)
{
    for (size_t offset = 1; offset <= 3; offset++)
        for (size_t c = 0; c < LENGTH(channel_counts); c++) {
            struct sat_size size = {36, 5, channel_counts[c]};
            expect_table(size, ELEMENT_I8, FAST, offset);
            expect_table(size, ELEMENT_F32, FAST, offset);
            expect_table(size, ELEMENT_I16, DOCUMENT, offset);
            expect_table(size, ELEMENT_I8, SHUFFLE, offset);
        }
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* The total is beyond 2^32, as that of 8192 x 8192 white pixels of 8 bits is. */
Test(summed_area, boxes_are_exact_where_the_table_overflows)
{
    enum { SIDE = 300, BOX = 256 };
    struct sample_picture p = make((struct sat_size){SIDE, SIDE, 1}, ELEMENT_I16, 0, WHITE);
    p.asked.box = p.asked.window.width = BOX;
    cr_assert_gt((double)p.samples * UINT16_MAX, 0x1p32);
    struct guarded result = make_result(&p, FAST, 0);
    char *own = on_host(&result);
    cr_expect(verdict_of(&p, own).right);
    cr_expect_arr_eq(own + sat_table_bytes(&p.asked), p.pixels, 2 * p.samples, "not white");
    free(own);
    release(&result, NULL, "the result");
    unmake(&p);
}

/* 256 x 258 white pixels have a sum beyond 2^24. */
Test(summed_area, floats_are_exact_up_to_two_to_the_24)
{
    for (size_t height = 257; height <= 266; height += 9) {
        struct sample_picture p = make((struct sat_size){256, height, 1}, ELEMENT_I8, 0, WHITE);
        struct verdict v = result_verdict(&p, DOCUMENT, 0);
        cr_expect(v.right && v.exact == (height == 257) && (v.bound > 0) == (height == 266));
        unmake(&p);
    }
}

Test(summed_area, floats_are_the_same_in_every_run)
{
    struct sample_picture p = make((struct sat_size){530, 70, 1}, ELEMENT_F32, 0, RANDOM);
    struct guarded first = make_result(&p, FAST, 0), again = make_result(&p, FAST, 0);
    void *want = on_host(&first);
    release(&first, NULL, "the table");
    release(&again, want, "the table of the second run");
    free(want);
    unmake(&p);
}

/* A wrong entry is found, as is one in the fourth channel that the document's entries have. */
Test(summed_area, wrong_tables_are_found)
{
    static const size_t entries[] = {30, 7, 12}; /* 7: of the fourth channel */
    struct sample_picture p = make((struct sat_size){20, 20, 3}, ELEMENT_I8, 0, RANDOM);
    for (size_t i = 0; i < LENGTH(entries); i++) {
        struct guarded table = make_result(&p, i == 0 ? FAST : DOCUMENT, 0);
        uint32_t *own = on_host(&table);
        own[entries[i]] ^= 1u << 23;
        struct verdict v = verdict_of(&p, own);
        cr_expect(!v.right && v.wrong == 1 && v.first[0].index == entries[i], "%zu", entries[i]);
        free(own);
        release(&table, NULL, "the table");
    }
    unmake(&p);
}

/* ---- filters --------------------------------------------------------------------------------- */

static unsigned sample(const void *samples, enum element element, size_t i)
{
    return element == ELEMENT_I8 ? ((const uint8_t *)samples)[i] : ((const uint16_t *)samples)[i];
}

/* The mean of a window, pixel by pixel. */
static unsigned direct_mean(const struct sample_picture *p, long x, long y, long before,
                            long behind, unsigned channel)
{
    long width = (long)p->asked.size.width, height = (long)p->asked.size.height;
    uint64_t sum = 0, pixels = 0;
    for (long j = y - before; j <= y + behind; j++)
        for (long i = x - before; i <= x + behind; i++)
            if (i >= 0 && j >= 0 && i < width && j < height) {
                size_t at = (size_t)(j * width + i) * p->asked.size.channels + channel;
                sum += sample(p->pixels, p->asked.element, at);
                pixels++;
            }
    return (unsigned)((sum + pixels / 2) / pixels);
}

/* How far a window reaches: by the depth, or the same everywhere. */
static void reach(const struct sample_picture *p, size_t pixel, long *before, long *behind)
{
    struct sat_focus w = p->asked.window;
    *before = ((long)w.width - 1) / 2, *behind = (long)w.width / 2;
    if (!p->asked.depth) return;
    double focus = w.focus, far = w.farthest;
    double most = focus > far - focus ? focus : far - focus;
    double away = fabs(sample(p->pixels, p->asked.element, p->samples + pixel) - focus);
    *before = *behind = (long)floor(fmin(away, most) / most * (double)(w.width / 2) + 0.5);
}

static void expect_filtered(const struct sample_picture *p, const void *picture)
{
    for (size_t i = 0; i < p->samples; i++) {
        long before, behind;
        size_t pixel = i / p->asked.size.channels;
        size_t x = pixel % p->asked.size.width, y = pixel / p->asked.size.width;
        unsigned c = (unsigned)(i % p->asked.size.channels);
        reach(p, pixel, &before, &behind);
        int want = (int)direct_mean(p, (long)x, (long)y, before, behind, c);
        int got = (int)sample(picture, p->asked.element, i);
        cr_assert(abs(got - want) <= (p->asked.variant == FAST ? 0 : 1),
                  "variant %d, width %zu, (%zu, %zu, %u): %d, not %d", (int)p->asked.variant,
                  p->asked.window.width, x, y, c, got, want);
    }
}

/* Filters by both tables, compares with the direct filter, and asks judge.c. */
static void expect_filters(struct sample_picture *p, struct sat_focus window)
{
    p->asked.window = window;
    p->asked.box = p->asked.depth ? 0 : window.width;
    for (enum variant variant = FAST; variant <= DOCUMENT; variant++) {
        struct guarded result = make_result(p, variant, 0);
        uint8_t *own = on_host(&result), *picture = own + sat_table_bytes(&p->asked);
        expect_filtered(p, picture);
        struct verdict v = verdict_of(p, own);
        cr_expect(v.right, "width %zu: [%zu] is %s, not %s", window.width, v.first[0].index,
                  v.first[0].got, v.first[0].want);
        cr_expect_eq(v.checked, 2 * p->samples);
        picture[0] ^= 0x40; /* a changed pixel must be found */
        cr_expect(!verdict_of(p, own).right);
        free(own);
        release(&result, NULL, "the result");
    }
}

Test(summed_area, box_filters_of_any_width)
{
    static const size_t widths[] = {1, 2, 3, 8, 19, 24, 40, 200};
    for (size_t c = 0; c < LENGTH(channel_counts); c++)
        for (int wide = 0; wide < 2; wide++) {
            struct sat_size size = {23, 19, channel_counts[c]};
            struct sample_picture p = make(size, wide ? ELEMENT_I16 : ELEMENT_I8, 0, RANDOM);
            for (size_t w = 0; w < LENGTH(widths); w++)
                expect_filters(&p, (struct sat_focus){.width = widths[w]});
            unmake(&p);
        }
}

Test(summed_area, depth_of_field)
{
    for (size_t c = 0; c < LENGTH(channel_counts); c++)
        for (int wide = 0; wide < 2; wide++) {
            struct sat_size size = {29, 17, channel_counts[c]};
            struct sample_picture p = make(size, wide ? ELEMENT_I16 : ELEMENT_I8, 0, WITH_DEPTHS);
            unsigned white = p.asked.maximum;
            for (unsigned focus = 0; focus <= white; focus += white / 3) {
                expect_filters(&p, (struct sat_focus){focus, white, 15});
                /* samples beyond the farthest one count as that */
                expect_filters(&p, (struct sat_focus){focus, white / 2, 15});
            }
            unmake(&p);
        }
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* Windows whose sums may reach 2^32 are refused before any memory is accessed. */
Test(summed_area, windows_that_are_too_wide)
{
    struct sat_size large = {5000, 5000, 1}, narrow = {5000, 3, 1};
    struct sat_focus even = {0, 255, 4}, wide = {0, 255, 4105};
    uint8_t bytes[1] = {0};
    uint16_t words[1];
    uint32_t table[1] = {0};
    is(sat_box_u8(bytes, table, large, 4105, NULL), cudaErrorInvalidValue);
    is(sat_box_u16(words, table, large, 257, NULL), cudaErrorInvalidValue);
    is(sat_blur_u8(bytes, table, bytes, large, wide, NULL), cudaErrorInvalidValue);
    is(sat_blur_u8(bytes, table, bytes, narrow, even, NULL), cudaErrorInvalidValue);
}
