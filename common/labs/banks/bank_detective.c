/* bank_detective.c — which kernel made these counters? */
#include "banks.h"

#include <inttypes.h>
#include <string.h>

enum { THREADS = 256, ANSWER_LINE = 200, SUSPECTS = 6 };

/* The sheet has them in this order; the answers are in another one. */
static const struct {
    const char *kernel, *code;
} suspects[SUSPECTS] = {
    {"suspect_a", "temp[thid] = temp[2 * thid];"},
    {"suspect_b", "temp[2 * thid] = temp[thid];"},
    {"suspect_c", "temp[33 * thid] = temp[32 * thid];"},
    {"suspect_d", "temp[32 * (thid % 32) + thid / 32] = temp[thid];"},
    {"suspect_e", "temp[thid] = temp[thid / 2];"},
    {"suspect_f", "temp[thid] = temp[4 * thid % 1024];"},
};
static const int order[SUSPECTS] = {3, 0, 5, 4, 2, 1};

static int count(const char *ptx, int suspect, struct conflicts *conflicts, struct fault *fault)
{
    struct bank_launch launch = {suspects[suspect].kernel, THREADS, {0, 0}};
    return count_conflicts_of(ptx, &launch, conflicts, fault);
}

int detective_write(const char *ptx, FILE *sheet, struct fault *fault)
{
    fprintf(sheet,
            "# The bank detective: each of these kernels ran once, with one block of %d threads.\n",
            THREADS);
    for (int i = 0; i < SUSPECTS; i++) fprintf(sheet, "#   %c  %s\n", 'A' + i, suspects[i].code);
    fprintf(sheet, "# Which kernel made which bank conflicts? Write a letter in place of each ?,\n"
                   "# and then: make check-detective\n#\n# row  loads  stores  kernel\n");
    for (int row = 0; row < SUSPECTS; row++) {
        struct conflicts c;
        int code = count(ptx, order[row], &c, fault);
        if (code) return code;
        fprintf(sheet, "%5d  %5" PRIu64 "  %6" PRIu64 "       ?\n", row + 1, c.loads, c.stores);
    }
    return 0;
}

int detective_check(const char *ptx, FILE *sheet, struct fault *fault)
{
    char text[ANSWER_LINE], letter;
    int row, right = 0, next = 1;
    unsigned long loads, stores;
    (void)ptx;
    while (fgets(text, sizeof text, sheet)) {
        if (*text == '#' || text[strspn(text, " \t\r\n")] == '\0') continue;
        if (sscanf(text, "%d %lu %lu %c", &row, &loads, &stores, &letter) != 4 || row != next++ ||
            row > SUSPECTS)
            return fail(fault, EXIT_USAGE,
                        "A line is not the sheet's next one, with a letter: \"%.40s\".", text);
        int is_right = letter == 'A' + order[row - 1];
        right += is_right;
        printf("row %d: %c is %s\n", row, letter, is_right ? "right" : "wrong");
    }
    printf("%d of %d right%s\n", right, SUSPECTS,
           right == SUSPECTS ? "" : "; see notes/04-conflict-free.md for how banks are used");
    return right == SUSPECTS ? EXIT_RIGHT : EXIT_WRONG;
}
