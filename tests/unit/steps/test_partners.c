/*
 * test_partners.c — what step 16's scan.h promises of partners: those of texts beside those of a
 * stack on the host, workspaces that are used again, graphs, and the calls that it refuses.
 */
#include "tests/support/cudart_check.h"
#include "common/tools/library/scan/scan.h"


#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

TestSuite(partners, .timeout = 300);

/* ---- texts ----------------------------------------------------------------------------------- */

enum kind {
    ANY,       /* all characters are random */
    CLOSED,    /* every bracket is closed */
    LEFT_OPEN, /* no bracket closes nothing; some are left open */
    LATE,      /* CLOSED, but the last character closes nothing */
    LETTERS,
    OPENING, /* brackets that open, and no other characters */
    CLOSING,
    NESTED, /* the first half opens, and the second half closes */
    KINDS
};

static unsigned random_below(unsigned limit) { return (unsigned)(random_bits() % limit); }

static uint8_t one_of(const char *characters)
{
    return (uint8_t)characters[random_below((unsigned)strlen(characters))];
}

/* Brackets of which none closes nothing. close: every one is closed at the end. */
static void make_matching(uint8_t *text, size_t n, bool close)
{
    size_t depth = 0;
    for (size_t i = 0; i < n; i++) {
        size_t left = n - i;
        unsigned wish = random_below(3);
        if ((close && depth == left) || (wish == 0 && depth > 0))
            text[i] = one_of(")]}"), depth--;
        else if (wish == 1 && (!close || depth + 2 <= left))
            text[i] = one_of("([{"), depth++;
        else
            text[i] = one_of("ab \n");
    }
}

static uint8_t *make_text(enum kind kind, size_t n)
{
    static const char *const characters[KINDS] = {
        [ANY] = "([{)]}ab \n", [LETTERS] = "ab \n", [OPENING] = "([{", [CLOSING] = ")]}"};
    uint8_t *text = malloc(n + 1);
    cr_assert(text != NULL);
    if (kind == CLOSED || kind == LEFT_OPEN || kind == LATE) {
        make_matching(text, n, kind != LEFT_OPEN);
        if (kind == LATE && n > 0) {
            make_matching(text, n - 1, true);
            text[n - 1] = one_of(")]}");
        }
    } else {
        for (size_t i = 0; i < n; i++)
            text[i] = one_of(kind == NESTED ? i < n / 2 ? "([{" : ")]}" : characters[kind]);
    }
    return text;
}

/* With a stack. */
static void find_partners(int32_t *partner, const uint8_t *text, size_t n)
{
    int32_t *stack = malloc(n * sizeof *stack + 1);
    size_t depth = 0, i = 0;
    cr_assert(stack != NULL);
    memset(partner, 0xFF, n * sizeof *partner);
    for (bool right = true; i < n && right; i++) {
        bool closes = text[i] == ')' || text[i] == ']' || text[i] == '}';
        if (text[i] == '(' || text[i] == '[' || text[i] == '{') stack[depth++] = (int32_t)i;
        right = !closes || depth > 0;
        if (!closes || !right) continue;
        partner[i] = stack[--depth];
        partner[partner[i]] = (int32_t)i;
    }
    free(stack);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static size_t workspace_bytes(size_t n)
{
    size_t bytes = 0;
    ok(scan_bracket_partners(NULL, &bytes, NULL, NULL, n, NULL));
    return bytes;
}

static void compare(const int32_t *got, const int32_t *want, size_t n, const char *what)
{
    for (size_t i = 0; i < n; i++)
        cr_assert_eq(got[i], want[i], "%s, n = %zu: the partner of %zu is %d, not %d", what, n, i,
                     (int)got[i], (int)want[i]);
}

/* In a workspace of *bytes bytes; NULL: one of this call's own. The arrays are displaced by `shift`
 * elements. */
static void expect_in(void *workspace, size_t bytes, const uint8_t *text, size_t n, size_t shift,
                      const char *what)
{
    int32_t *got = malloc(n * 4 + 4), *want = malloc(n * 4 + 4);
    struct guarded own = {0}, in = guarded(text, n, shift), to = guarded(NULL, n * 4, shift * 4);
    cr_assert(got && want);
    if (!workspace) {
        bytes = workspace_bytes(n);
        own = guarded(NULL, bytes, 256 - GUARD); /* aligned; it needs no clearing */
        workspace = own.data;
    }
    ok(scan_bracket_partners(workspace, &bytes, (int32_t *)to.data, in.data, n, NULL));
    ok(cudaMemcpy(got, to.data, n * 4, cudaMemcpyDeviceToHost));
    release(&to, NULL, "the partners");
    release(&in, text, "the text");
    if (own.base) release(&own, NULL, "the workspace");
    find_partners(want, text, n);
    compare(got, want, n, what);
    free(got), free(want);
}

static void expect_kind_in(void *workspace, size_t bytes, enum kind kind, size_t n, size_t shift)
{
    char what[20];
    uint8_t *text = make_text(kind, n);
    snprintf(what, sizeof what, "kind %d", (int)kind);
    expect_in(workspace, bytes, text, n, shift, what);
    free(text);
}

static void expect_kind(enum kind kind, size_t n) { expect_kind_in(NULL, 0, kind, n, 0); }

/* ---- right ----------------------------------------------------------------------------------- */

/* Partners that are written down here. */
static void expect_text(const char *text, const int32_t *want)
{
    size_t n = strlen(text), bytes = workspace_bytes(n);
    int32_t got[32];
    void *workspace = device_memory(bytes), *in = device_memory(n), *out = device_memory(n * 4);
    cr_assert(n <= LENGTH(got));
    ok(cudaMemcpy(in, text, n, cudaMemcpyHostToDevice));
    ok(scan_bracket_partners(workspace, &bytes, out, in, n, NULL));
    ok(cudaMemcpy(got, out, n * 4, cudaMemcpyDeviceToHost));
    compare(got, want, n, text);
    ok(cudaFree(workspace)), ok(cudaFree(in)), ok(cudaFree(out));
}

Test(partners, of_texts)
{
    expect_text("(a[]){)()", (int32_t[]){4, -1, 3, 2, 0, 6, 5, 8, 7});
    expect_text("f(x[1], {2})", (int32_t[]){-1, 11, -1, 5, -1, 3, -1, -1, 10, -1, 8, 1});
    expect_text("((]", (int32_t[]){-1, 2, 1});
    expect_text("()[](", (int32_t[]){1, 0, 3, 2, -1});
    expect_text(")", (int32_t[]){-1});
    expect_text("{", (int32_t[]){-1});
    expect_text("<\xA8\xFF", (int32_t[]){-1, -1, -1});
}

/* From the first closing bracket without an opening one on there are no partners. */
Test(partners, of_texts_that_go_wrong)
{
    expect_text("[]())()[]", (int32_t[]){1, 0, 3, 2, -1, -1, -1, -1, -1});
    expect_text(")()", (int32_t[]){-1, -1, -1});
    expect_text("(a))(b)", (int32_t[]){2, -1, 0, -1, -1, -1, -1});
}

/* In the workspace the index 1 comes directly behind the level of the bracket, which is 1, too. */
Test(partners, a_bracket_that_is_sorted_last)
{
    uint8_t text[64];
    memset(text, 'a', sizeof text);
    text[0] = '{';
    expect_in(NULL, 0, text, sizeof text, 0, "a bracket and letters");
}

/* Around warps and blocks; tiles of the scan, of 1024 and 2048 elements; and sorts by one block, by
 * a cluster, and by a launch for each digit, from 2^16 + 1 on. */
Test(partners, sizes_slow)
{
    static const size_t sizes[] = {0,   1,    2,    3,    31,   32,   33,   255,  256,  257,  511,
                                   513, 1023, 1024, 1025, 2047, 2048, 2049, 4095, 4097, 10007};
    for (size_t i = 0; i < LENGTH(sizes); i++)
        for (int kind = 0; kind < KINDS; kind++) expect_kind((enum kind)kind, sizes[i]);
}

Test(partners, the_largest_sort_in_one_launch_slow)
{
    for (size_t n = (1 << 16) - 1; n <= (1 << 16) + 1; n++)
        for (int kind = CLOSED; kind <= LATE; kind++) expect_kind((enum kind)kind, n);
}

/* 100 000 levels need three digits; one level, or none, leaves no digit to sort by. */
Test(partners, of_200000_characters_slow)
{
    for (int kind = 0; kind < KINDS; kind++) expect_kind((enum kind)kind, 200000);
}

Test(partners, at_odd_addresses_slow)
{
    for (size_t shift = 1; shift <= 3; shift++) {
        expect_kind_in(NULL, 0, CLOSED, 5000, shift);
        expect_kind_in(NULL, 0, LEFT_OPEN, 70000, shift);
    }
}

/* ---- refused --------------------------------------------------------------------------------- */

Test(partners, refuses)
{
    enum { N = 100 };
    size_t bytes = workspace_bytes(N), less = bytes - 1, huge = SIZE_MAX;
    char *workspace = device_memory(bytes + 128);
    uint8_t *text = device_memory(N);
    int32_t *out = device_memory(N * sizeof *out);
    is(scan_bracket_partners(workspace, &less, out, text, N, NULL), cudaErrorInvalidValue);
    is(scan_bracket_partners(workspace + 128, &bytes, out, text, N, NULL), cudaErrorInvalidValue);
    is(scan_bracket_partners(workspace, &huge, out, text, (size_t)INT32_MAX + 1, NULL),
       cudaErrorInvalidValue);
    is(scan_bracket_partners(NULL, &bytes, NULL, NULL, (size_t)INT32_MAX + 1, NULL),
       cudaErrorInvalidValue);
    bytes = 0;
    ok(scan_bracket_partners(NULL, &bytes, NULL, NULL, INT32_MAX, NULL));
    cr_expect(bytes > (size_t)INT32_MAX * 8);
    ok(scan_bracket_partners(workspace, &bytes, NULL, NULL, 0, NULL));
    ok(cudaFree(workspace)), ok(cudaFree(text)), ok(cudaFree(out));
}
