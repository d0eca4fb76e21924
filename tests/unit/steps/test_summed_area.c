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

TestSuite(summed_area, .timeout = 60);

/* ---- one table ------------------------------------------------------------------------------- */

/* A picture on the host and, displaced by `offset` samples, on the device. */
struct sample_picture {
    struct sat_size size;
    enum element element;
    size_t samples, bytes, offset;
    void *pixels, *room, *on_device;
};

static uint32_t next_random(uint32_t *state) { return *state = *state * 1664525 + 1013904223; }

/* `white`: every sample is the largest; else they are random. */
static struct sample_picture make(struct sat_size size, enum element element, size_t offset,
                                  bool white)
{
    struct sample_picture p = {.size = size, .element = element, .offset = offset};
    size_t one = element_size(element);
    uint32_t state = (uint32_t)(size.width * 31 + size.height);
    p.samples = size.width * size.height * size.channels;
    p.bytes = p.samples * one;
    p.pixels = malloc(p.bytes);
    for (size_t i = 0; i < p.samples; i++) {
        uint32_t random = white ? UINT32_MAX : next_random(&state);
        if (element == ELEMENT_I8) ((uint8_t *)p.pixels)[i] = (uint8_t)(random >> 24);
        if (element == ELEMENT_I16) ((uint16_t *)p.pixels)[i] = (uint16_t)(random >> 16);
        if (element == ELEMENT_F32)
            ((float *)p.pixels)[i] = (float)((int32_t)random >> 8) * 0x1p-20f;
    }
    p.room = device_memory(p.bytes + (offset + 1) * one);
    p.on_device = (char *)p.room + offset * one;
    ok(cudaMemcpy(p.on_device, p.pixels, p.bytes, cudaMemcpyHostToDevice));
    return p;
}

static void unmake(struct sample_picture *p)
{
    free(p->pixels);
    ok(cudaFree(p->room));
}

static cudaError_t sat(void *workspace, size_t *bytes, void *table, const struct sample_picture *p)
{
    switch (p->element) {
    case ELEMENT_I8: return sat_u8(workspace, bytes, table, p->on_device, p->size, NULL);
    case ELEMENT_I16: return sat_u16(workspace, bytes, table, p->on_device, p->size, NULL);
    default: return sat_f32(workspace, bytes, table, p->on_device, p->size, NULL);
    }
}

/* The table on the device, after a workspace and a table full of 0xff. */
static void *make_table(const struct sample_picture *p, enum variant variant, size_t offset,
                        void **room)
{
    size_t entries = judge_entries(variant, p->size), bytes = 0;
    *room = device_memory((entries + offset + 1) * 4);
    ok(cudaMemset(*room, 0xff, (entries + offset + 1) * 4));
    char *table = (char *)*room + 4 * offset;
    if (variant == FAST)
        ok(sat(NULL, &bytes, NULL, p));
    else
        bytes = sat_document_workspace(p->size);
    void *workspace = device_memory(bytes);
    ok(cudaMemset(workspace, 0xff, bytes));
    if (variant == FAST)
        ok(sat(workspace, &bytes, table, p));
    else
        ok(sat_document_table((float *)table, p->on_device, p->element, p->size, variant == SHUFFLE,
                              workspace, NULL));
    ok(cudaFree(workspace));
    return table;
}

/* judge.c's verdict on a table, and on a filtered picture. */
static struct verdict verdict_of(const struct sample_picture *p, enum variant variant,
                                 const void *table, const void *picture, struct window window)
{
    size_t entries = judge_entries(variant, p->size);
    void *own = malloc(entries * 4 + 4);
    struct verdict verdict = {0};
    /* One entry behind the end of the table: it must stay as it was. */
    ok(cudaMemcpy(own, table, entries * 4 + 4, cudaMemcpyDeviceToHost));
    cr_expect_eq(((uint32_t *)own)[entries], UINT32_MAX, "written behind the table");
    struct judged judged = {variant, p->size, p->element, p->pixels, own, picture, window};
    sat_judge(&verdict, &judged);
    free(own);
    return verdict;
}

static struct verdict table_verdict(const struct sample_picture *p, enum variant variant,
                                    size_t offset)
{
    void *room, *table = make_table(p, variant, offset, &room);
    struct verdict verdict = verdict_of(p, variant, table, NULL, (struct window){0});
    ok(cudaFree(room));
    return verdict;
}

static void expect_table(struct sat_size size, enum element element, enum variant variant,
                         size_t offset)
{
    struct sample_picture p = make(size, element, offset, false);
    struct verdict v = table_verdict(&p, variant, offset);
    cr_assert(v.right, "variant %d, element %d, %zu x %zu x %u, offset %zu: [%zu] is %s, not %s",
              (int)variant, (int)element, size.width, size.height, size.channels, offset,
              v.first[0].index, v.first[0].got, v.first[0].want);
    cr_expect_eq(v.checked, p.samples);
    cr_expect(v.exact || element == ELEMENT_F32 || variant != FAST);
    unmake(&p);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static const unsigned channel_counts[] = {1, 3, 4};

Test(summed_area, every_width_up_to_100)
{
    for (size_t width = 1; width <= 100; width++)
        for (size_t c = 0; c < LENGTH(channel_counts); c++) {
            struct sat_size size = {width, 3, channel_counts[c]};
            expect_table(size, ELEMENT_I8, FAST, 0);
        }
}

Test(summed_area, every_width_up_to_100_of_the_document)
{
    for (size_t width = 1; width <= 100; width++)
        expect_table((struct sat_size){width, 5, 3}, ELEMENT_I8, width % 2 ? DOCUMENT : SHUFFLE, 0);
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
            expect_table((struct sat_size){20, heights[h], channel_counts[c]}, ELEMENT_I16, FAST,
                         0);
            expect_table((struct sat_size){21, heights[h], channel_counts[c]}, ELEMENT_F32, FAST,
                         0);
            expect_table((struct sat_size){20, heights[h], channel_counts[c]}, ELEMENT_F32, FAST,
                         0);
            expect_table((struct sat_size){9, heights[h], channel_counts[c]}, ELEMENT_F32, DOCUMENT,
                         0);
        }
}

/* Beyond one round of scan_down: more than 256 rows, or columns, of tiles. */
Test(summed_area, very_high_and_very_wide)
{
    expect_table((struct sat_size){3, 8225, 1}, ELEMENT_I8, FAST, 0);
    expect_table((struct sat_size){131600, 2, 1}, ELEMENT_I8, FAST, 0);
    expect_table((struct sat_size){33000, 3, 3}, ELEMENT_I8, FAST, 0);
    expect_table((struct sat_size){1, 70000, 1}, ELEMENT_I8, DOCUMENT,
                 0); /* more rows than a grid */
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
    struct sat_size size = {SIDE, SIDE, 1};
    struct sample_picture p = make(size, ELEMENT_I16, 0, true);
    cr_assert_gt((double)p.samples * UINT16_MAX, 0x1p32);
    void *room, *table = make_table(&p, FAST, 0, &room);
    cr_expect(verdict_of(&p, FAST, table, NULL, (struct window){0}).right);
    uint16_t *out = device_memory(p.bytes), *picture = malloc(p.bytes);
    ok(sat_box_u16(out, table, size, BOX, NULL));
    ok(cudaMemcpy(picture, out, p.bytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < p.samples; i++) cr_assert_eq(picture[i], UINT16_MAX);
    free(picture);
    ok(cudaFree(out));
    ok(cudaFree(room));
    unmake(&p);
}

/* 256 x 258 white pixels have a sum beyond 2^24. */
Test(summed_area, floats_are_exact_up_to_two_to_the_24)
{
    struct sample_picture small = make((struct sat_size){256, 257, 1}, ELEMENT_I8, 0, true);
    struct sample_picture large = make((struct sat_size){256, 266, 1}, ELEMENT_I8, 0, true);
    struct verdict v = table_verdict(&small, DOCUMENT, 0);
    cr_expect(v.right && v.exact);
    v = table_verdict(&large, DOCUMENT, 0);
    cr_expect(v.right && !v.exact && v.bound > 0);
    unmake(&small);
    unmake(&large);
}

Test(summed_area, floats_are_the_same_in_every_run)
{
    struct sample_picture p = make((struct sat_size){530, 70, 1}, ELEMENT_F32, 0, false);
    size_t bytes = p.samples * 4;
    float *first = malloc(bytes), *again = malloc(bytes);
    void *room, *table = make_table(&p, FAST, 0, &room);
    ok(cudaMemcpy(first, table, bytes, cudaMemcpyDeviceToHost));
    ok(cudaFree(room));
    table = make_table(&p, FAST, 0, &room);
    ok(cudaMemcpy(again, table, bytes, cudaMemcpyDeviceToHost));
    cr_expect_arr_eq(first, again, bytes);
    ok(cudaFree(room));
    free(first);
    free(again);
    unmake(&p);
}

/* A wrong entry is found, as is an entry that is off by more than the bound. */
Test(summed_area, wrong_tables_are_found)
{
    struct sample_picture p = make((struct sat_size){20, 20, 3}, ELEMENT_I8, 0, false);
    void *room, *table = make_table(&p, DOCUMENT, 0, &room);
    float one = 1;
    ok(cudaMemcpy((float *)table + 7, &one, sizeof one, cudaMemcpyHostToDevice));
    struct verdict v = verdict_of(&p, DOCUMENT, table, NULL, (struct window){0});
    cr_expect(!v.right && v.wrong == 1 && v.first[0].index == 7, "the fourth channel");
    ok(cudaMemcpy((float *)table + 12, &one, sizeof one, cudaMemcpyHostToDevice));
    v = verdict_of(&p, DOCUMENT, table, NULL, (struct window){0});
    cr_expect(!v.right && v.wrong == 2 && v.first[0].index == 12);
    ok(cudaFree(room));
    table = make_table(&p, FAST, 0, &room);
    uint32_t entry = 1 + (uint32_t)value_at((int *)table + 30);
    ok(cudaMemcpy((uint32_t *)table + 30, &entry, sizeof entry, cudaMemcpyHostToDevice));
    v = verdict_of(&p, FAST, table, NULL, (struct window){0});
    cr_expect(!v.right && v.wrong == 1 && v.first[0].index == 30);
    ok(cudaFree(room));
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
    long width = (long)p->size.width, height = (long)p->size.height;
    uint64_t sum = 0, pixels = 0;
    for (long j = y - before; j <= y + behind; j++)
        for (long i = x - before; i <= x + behind; i++)
            if (i >= 0 && j >= 0 && i < width && j < height) {
                size_t at = (size_t)(j * width + i) * p->size.channels + channel;
                sum += sample(p->pixels, p->element, at);
                pixels++;
            }
    return (unsigned)((sum + pixels / 2) / pixels);
}

/* How far a window reaches: by the depth, or `width` everywhere. */
static void reach(struct window w, enum element element, size_t pixel, long *before, long *behind)
{
    *before = ((long)w.width - 1) / 2, *behind = (long)w.width / 2;
    if (!w.depths) return;
    double focus = w.focus.focus, far = w.focus.farthest, d = sample(w.depths, element, pixel);
    double most = focus > far - focus ? focus : far - focus;
    *before = *behind =
        (long)floor(fmin(fabs(d - focus), most) / most * (double)(w.focus.width / 2) + 0.5);
}

static void expect_filtered(const struct sample_picture *p, enum variant variant, struct window w,
                            const void *picture)
{
    for (size_t y = 0; y < p->size.height; y++)
        for (size_t x = 0; x < p->size.width; x++)
            for (unsigned c = 0; c < p->size.channels; c++) {
                long before, behind;
                size_t pixel = y * p->size.width + x;
                reach(w, p->element, pixel, &before, &behind);
                int want = (int)direct_mean(p, (long)x, (long)y, before, behind, c);
                int got = (int)sample(picture, p->element, pixel * p->size.channels + c);
                cr_assert(abs(got - want) <= (variant == FAST ? 0 : 1),
                          "variant %d, width %zu, (%zu, %zu, %u): %d, not %d", (int)variant,
                          w.width, x, y, c, got, want);
            }
}

static cudaError_t filter(const struct sample_picture *p, enum variant variant, void *out,
                          const void *table, struct window w)
{
    bool bytes = p->element == ELEMENT_I8;
    unsigned maximum = bytes ? UINT8_MAX : UINT16_MAX;
    if (variant != FAST)
        return sat_document_filter(out, table, p->element, p->size, w, maximum, NULL);
    if (w.depths)
        return bytes ? sat_blur_u8(out, table, w.depths, p->size, w.focus, NULL)
                     : sat_blur_u16(out, table, w.depths, p->size, w.focus, NULL);
    return bytes ? sat_box_u8(out, table, p->size, w.width, NULL)
                 : sat_box_u16(out, table, p->size, w.width, NULL);
}

/* Filters, compares with the direct filter, and asks judge.c. `w.depths` is a picture's. */
static void expect_filter(const struct sample_picture *p, enum variant variant, struct window w,
                          const struct sample_picture *depth)
{
    void *room, *table = make_table(p, variant, 0, &room), *picture = malloc(p->bytes);
    void *out = device_memory(p->bytes);
    w.depths = depth ? depth->on_device : NULL;
    ok(filter(p, variant, out, table, w));
    ok(cudaMemcpy(picture, out, p->bytes, cudaMemcpyDeviceToHost));
    w.depths = depth ? depth->pixels : NULL;
    expect_filtered(p, variant, w, picture);
    struct verdict v = verdict_of(p, variant, table, picture, w);
    cr_expect(v.right, "width %zu: [%zu] is %s, not %s", w.width, v.first[0].index, v.first[0].got,
              v.first[0].want);
    cr_expect_eq(v.checked, 2 * p->samples);
    ((uint8_t *)picture)[0] ^= 0x40; /* a changed pixel must be found */
    cr_expect(!verdict_of(p, variant, table, picture, w).right);
    free(picture);
    ok(cudaFree(out));
    ok(cudaFree(room));
}

Test(summed_area, box_filters_of_any_width)
{
    static const size_t widths[] = {1, 2, 3, 8, 19, 24, 40, 200};
    for (size_t c = 0; c < LENGTH(channel_counts); c++)
        for (int wide = 0; wide < 2; wide++) {
            struct sat_size size = {23, 19, channel_counts[c]};
            struct sample_picture p = make(size, wide ? ELEMENT_I16 : ELEMENT_I8, 0, false);
            for (size_t w = 0; w < LENGTH(widths); w++)
                for (enum variant v = FAST; v <= DOCUMENT; v++)
                    expect_filter(&p, v, (struct window){.width = widths[w]}, NULL);
            unmake(&p);
        }
}

Test(summed_area, depth_of_field)
{
    for (size_t c = 0; c < LENGTH(channel_counts); c++)
        for (int wide = 0; wide < 2; wide++) {
            enum element element = wide ? ELEMENT_I16 : ELEMENT_I8;
            unsigned white = wide ? UINT16_MAX : UINT8_MAX;
            struct sample_picture p =
                make((struct sat_size){29, 17, channel_counts[c]}, element, 0, false);
            struct sample_picture depth = make((struct sat_size){29, 17, 1}, element, 0, false);
            for (unsigned focus = 0; focus <= white; focus += white / 3)
                for (enum variant v = FAST; v <= DOCUMENT; v++) {
                    expect_filter(&p, v, (struct window){.focus = {focus, white, 15}}, &depth);
                    /* samples beyond the farthest one count as that */
                    expect_filter(&p, v, (struct window){.focus = {focus, white / 2, 15}}, &depth);
                }
            unmake(&p);
            unmake(&depth);
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
