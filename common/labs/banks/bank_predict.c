/* bank_predict.c — predict the counter: the bank conflicts of each level of step 3's up-sweep. */
#include "banks.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

enum { ELEMENTS = 1024, LINE_BYTES = 200 };

static int count_level(const char *ptx, int d, struct conflicts *conflicts, struct fault *fault)
{
    struct bank_launch launch = {"level", ELEMENTS / 2, {d, ELEMENTS / 2 / d}};
    return count_conflicts_of(ptx, &launch, conflicts, fault);
}

int predict_write(const char *ptx, FILE *sheet, struct fault *fault)
{
    (void)ptx, (void)fault;
    fprintf(
        sheet,
        "# Predict the counter: step 3's up-sweep with n = %d, one block of %d threads.\n"
        "# At each level d threads execute, each for its own thid,\n"
        "#     ai = offset * (2 * thid + 1) - 1; bi = offset * (2 * thid + 2) - 1;\n"
        "#     temp[bi] = temp[bi] + temp[ai];\n"
        "# How many bank conflicts have the two loads together, in all warps, and how many has\n"
        "# the store? Write a number in place of each ?, and then: make check-predict\n"
        "#\n# offset  d  loads  stores\n",
        ELEMENTS, ELEMENTS / 2);
    for (int d = ELEMENTS / 2; d > 0; d /= 2)
        fprintf(sheet, "%8d %4d      ?      ?\n", ELEMENTS / 2 / d, d);
    return 0;
}

/* "12" is right if 12 was counted. */
static bool is_right(const char *answer, uint64_t counted)
{
    char want[24];
    snprintf(want, sizeof want, "%" PRIu64, counted);
    return !strcmp(answer, want);
}

/* A line of the sheet: its level, and both answers. */
struct answer {
    int offset, d;
    char loads[12], stores[12];
};

static int check_level(const char *ptx, const struct answer *a, unsigned *right,
                       struct fault *fault)
{
    struct conflicts counted;
    int code = count_level(ptx, a->d, &counted, fault);
    if (code) return code;
    bool loads = is_right(a->loads, counted.loads), stores = is_right(a->stores, counted.stores);
    *right += (unsigned)loads + stores;
    printf("%8d %4d  loads %-11s %-6s stores %-11s %s\n", a->offset, a->d, a->loads,
           loads ? "right" : "wrong", a->stores, stores ? "right" : "wrong");
    return 0;
}

static bool is_level(const struct answer *a)
{
    return a->d > 0 && a->d <= ELEMENTS / 2 && a->offset == ELEMENTS / 2 / a->d &&
           a->offset * a->d == ELEMENTS / 2;
}

int predict_check(const char *ptx, FILE *sheet, struct fault *fault)
{
    char text[LINE_BYTES];
    unsigned right = 0, all = 0, seen = 0;
    for (int d = ELEMENTS / 2; d > 0; d /= 2) all += 2;
    while (fgets(text, sizeof text, sheet)) {
        struct answer a;
        if (*text == '#' || text[strspn(text, " \t\r\n")] == '\0') continue;
        if (sscanf(text, "%d %d %11s %11s", &a.offset, &a.d, a.loads, a.stores) != 4 ||
            !is_level(&a) || seen & (unsigned)a.d)
            return fail(fault, EXIT_USAGE,
                        "A line is not one of the sheet's, with two answers: \"%.40s\".", text);
        seen |= (unsigned)a.d;
        int code = check_level(ptx, &a, &right, fault);
        if (code) return code;
    }
    printf("%u of %u right%s\n", right, all,
           right == all ? "" : "; see notes/03-work-efficient.md for how conflicts arise");
    return right == all ? EXIT_RIGHT : EXIT_WRONG;
}
