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
    size_t samples, bytes;
    void *pixels;
    struct guarded on_device;
};

/* `white`: every sample is the largest; else they are random. */
static struct sample_picture make(struct sat_size size, enum element element, size_t offset,
                                  bool white)
{
    struct sample_picture p = {.size = size, .element = element, .samples = sat_samples(size)};
    p.bytes = p.samples * element_size(element);
    p.pixels = malloc(p.bytes);
    for (size_t i = 0; i < p.samples; i++) {
        uint64_t random = white ? UINT64_MAX : random_bits();
        if (element == ELEMENT_I8) ((uint8_t *)p.pixels)[i] = (uint8_t)random;
        if (element == ELEMENT_I16) ((uint16_t *)p.pixels)[i] = (uint16_t)random;
        if (element == ELEMENT_F32)
            ((float *)p.pixels)[i] = (float)((int32_t)random >> 8) * 0x1p-20f;
    }
    p.on_device = guarded(p.pixels, p.bytes, offset * element_size(element));
    return p;
}

static void unmake(struct sample_picture *p)
{
    release(&p->on_device, p->pixels, "the picture");
    free(p->pixels);
}

static cudaError_t sat(void *workspace, size_t *bytes, void *table, const struct sample_picture *p)
{
    const void *pixels = p->on_device.data;
    switch (p->element) {
    case ELEMENT_I8: return sat_u8(workspace, bytes, table, pixels, p->size, NULL);
    case ELEMENT_I16: return sat_u16(workspace, bytes, table, pixels, p->size, NULL);
    default: return sat_f32(workspace, bytes, table, pixels, p->size, NULL);
    }
}

/* The table on the device, `offset` entries off its alignment, after a workspace full of 0xA5. */
static struct guarded make_table(const struct sample_picture *p, enum variant variant,
                                 size_t offset)
{
    size_t bytes = sat_document_workspace(p->size);
    struct guarded table = guarded(NULL, judge_entries(variant, p->size) * 4, offset * 4);
    if (variant == FAST) ok(sat(NULL, &bytes, NULL, p));
    struct guarded workspace = guarded(NULL, bytes, 0);
    if (variant == FAST)
        ok(sat(workspace.data, &bytes, table.data, p));
    else
        ok(sat_document_table((float *)table.data, p->on_device.data, p->element, p->size,
                              variant == SHUFFLE, workspace.data, NULL));
    release(&workspace, NULL, "the workspace");
    return table;
}

/* judge.c's verdict on a table, and on a filtered picture. */
static struct verdict verdict_of(const struct sample_picture *p, enum variant variant,
                                 const struct guarded *table, const void *picture,
                                 struct window window)
{
    void *own = malloc(table->bytes);
    struct verdict verdict = {0};
    ok(cudaMemcpy(own, table->data, table->bytes, cudaMemcpyDeviceToHost));
    struct judged judged = {variant, p->size, p->element, p->pixels, own, picture, window};
    sat_judge(&verdict, &judged);
    free(own);
    return verdict;
}

static struct verdict table_verdict(const struct sample_picture *p, enum variant variant,
                                    size_t offset)
{
    struct guarded table = make_table(p, variant, offset);
    struct verdict verdict = verdict_of(p, variant, &table, NULL, (struct window){0});
    release(&table, NULL, "the table");
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
    struct guarded table = make_table(&p, FAST, 0), out = guarded(NULL, p.bytes, 0);
    cr_expect(verdict_of(&p, FAST, &table, NULL, (struct window){0}).right);
    ok(sat_box_u16((uint16_t *)out.data, (uint32_t *)table.data, size, BOX, NULL));
    release(&out, p.pixels, "the white picture"); /* it is as white as before */
    release(&table, NULL, "the table");
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
    struct guarded first = make_table(&p, FAST, 0), again = make_table(&p, FAST, 0);
    void *want = malloc(first.bytes);
    ok(cudaMemcpy(want, first.data, first.bytes, cudaMemcpyDeviceToHost));
    release(&first, NULL, "the table");
    release(&again, want, "the table of the second run");
    free(want);
    unmake(&p);
}

/* Makes an entry of the table another one, and expects that one to be the first wrong one. */
static void expect_found(const struct sample_picture *p, enum variant variant,
                         struct guarded *table, size_t entry, uint32_t bits, size_t wrong)
{
    ok(cudaMemcpy((uint32_t *)table->data + entry, &bits, sizeof bits, cudaMemcpyHostToDevice));
    struct verdict v = verdict_of(p, variant, table, NULL, (struct window){0});
    cr_expect(!v.right && v.wrong == wrong && v.first[0].index == entry, "entry %zu", entry);
}

/* A wrong entry is found, as is one in the fourth channel that the document's entries have. */
Test(summed_area, wrong_tables_are_found)
{
    enum { ONE = 0x3f800000 }; /* the bits of 1.0f */
    struct sample_picture p = make((struct sat_size){20, 20, 3}, ELEMENT_I8, 0, false);
    struct guarded floats = make_table(&p, DOCUMENT, 0), whole = make_table(&p, FAST, 0);
    expect_found(&p, DOCUMENT, &floats, 7, ONE, 1);
    expect_found(&p, DOCUMENT, &floats, 12, ONE, 2);
    expect_found(&p, FAST, &whole, 30, 1 + (uint32_t)value_at((int *)whole.data + 30), 1);
    release(&floats, NULL, "the table"), release(&whole, NULL, "the table");
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
    struct guarded table = make_table(p, variant, 0), out = guarded(NULL, p->bytes, 0);
    uint8_t *picture = malloc(p->bytes);
    w.depths = depth ? depth->on_device.data : NULL;
    ok(filter(p, variant, out.data, table.data, w));
    ok(cudaMemcpy(picture, out.data, p->bytes, cudaMemcpyDeviceToHost));
    w.depths = depth ? depth->pixels : NULL;
    expect_filtered(p, variant, w, picture);
    struct verdict v = verdict_of(p, variant, &table, picture, w);
    cr_expect(v.right, "width %zu: [%zu] is %s, not %s", w.width, v.first[0].index, v.first[0].got,
              v.first[0].want);
    cr_expect_eq(v.checked, 2 * p->samples);
    picture[0] ^= 0x40; /* a changed pixel must be found */
    cr_expect(!verdict_of(p, variant, &table, picture, w).right);
    free(picture);
    release(&out, NULL, "the filtered picture");
    release(&table, NULL, "the table");
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
