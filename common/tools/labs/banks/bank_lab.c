/*
 * bank_lab.c — the labs predict, detective and swizzle:
 *
 *     bank-lab predict|detective write|check SHEET BANKS.ptx
 *     bank-lab swizzle check SOURCE.cu SOURCE.ptx
 *
 * In two of them the answer is text: predict the counter, and the bank detective. In the third it
 * is a line of a kernel, which has to have no conflicts. The emulator counts what is right. The
 * exit code is 0 if all answers are right, 1 if not, 2 for a wrong command line or sheet, and 3 if
 * the emulator fails.
 */
#include "common/files/fault.h"
#include "common/tools/labs/run_case.h"
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bank conflicts of one launch. */
struct conflicts {
    uint64_t loads, stores;
};

/* A kernel of banks.cu with one block. */
struct bank_launch {
    const char *kernel;
    unsigned threads;
    int arguments[2];
};

/* ---- counting -------------------------------------------------------------------------------- */

enum { SHARED_BYTES = 36 << 10 };

static uint64_t conflicts_of(const struct emu_shared *s) { return s->wavefronts - s->ideal; }

/* A kernel of a PTX text, on a device of its own. */
struct bench {
    struct lab_ptx ptx;
    struct emu *emu;
    struct emu_kernel *kernel;
};

/* Returns 0 or an exit code. close_bench() is called in both cases. */
static int open_bench(struct bench *b, const char *path, const char *source, const char *kernel,
                      struct fault *fault)
{
    struct emu_config config = {.threads = 1, .counters = true};
    struct emu_module *module;
    char message[FAULT_TEXT], name[EMU_NAME_SIZE];
    size_t at = 0;
    *b = (struct bench){.emu = NULL};
    int code = ptx_read(path, &b->ptx, fault);
    if (code) return code;
    if (!next_entry(&b->ptx, &at, kernel, name))
        return fail(fault, EXIT_WRONG, "There is no kernel called %s; change place() only.",
                    kernel);
    b->emu = emu_open(&config, message, sizeof message);
    if (!b->emu) return fail(fault, EXIT_DEVICE, "%s", message);
    if (emu_load(b->emu, b->ptx.text, b->ptx.length, source, &module) ||
        emu_kernel(b->emu, module, name, &b->kernel))
        return fail(fault, EXIT_WRONG, "The kernel cannot be run: %s", emu_message(b->emu));
    return 0;
}

static void close_bench(struct bench *b)
{
    if (b->emu) emu_close(b->emu);
    free(b->ptx.text);
}

static int count_conflicts_of(const char *path, const struct bank_launch *l,
                              struct conflicts *conflicts, struct fault *fault)
{
    struct bench b;
    int code = open_bench(&b, path, "banks.cu", l->kernel, fault);
    int values[] = {l->arguments[0], l->arguments[1]};
    void *arguments[] = {&values[0], &values[1]};
    if (!code && emu_launch(b.emu, b.kernel, (struct emu_dim){1, 1, 1},
                            (struct emu_dim){l->threads, 1, 1}, SHARED_BYTES, arguments, false))
        code = fail(fault, EXIT_DEVICE, "Kernel %s cannot be run: %s", l->kernel,
                    emu_message(b.emu));
    if (!code) {
        const struct emu_counts *total = &emu_record(b.emu, 0)->total;
        *conflicts =
            (struct conflicts){conflicts_of(&total->shared_ld), conflicts_of(&total->shared_st)};
    }
    close_bench(&b);
    return code;
}

/* ---- predict the counter: the bank conflicts of each level of step 3's up-sweep -------------- */

enum { ELEMENTS = 1024, LINE_BYTES = 200 };

static int count_level(const char *ptx, int d, struct conflicts *conflicts, struct fault *fault)
{
    struct bank_launch launch = {"level", ELEMENTS / 2, {d, ELEMENTS / 2 / d}};
    return count_conflicts_of(ptx, &launch, conflicts, fault);
}

static int predict_write(const char *ptx, FILE *sheet, struct fault *fault)
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

static int predict_check(const char *ptx, FILE *sheet, struct fault *fault)
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

/* ---- which kernel made these counters? ------------------------------------------------------- */

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

static int detective_write(const char *ptx, FILE *sheet, struct fault *fault)
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

static int detective_check(const char *ptx, FILE *sheet, struct fault *fault)
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

/* ---- make these conflicts zero: a product by ldmatrix ---------------------------------------- */

/* The product of swizzle.cu: N x N elements; a block of one warp computes SIDE x SIDE of them, and
 * has two tiles of SIDE rows of ROW_BYTES in shared memory. */
enum { N = 64, SIDE = 32, ROW_BYTES = 64, TILES = 2, LANES = 32 };
/* Wavefronts of 128 bytes that the stores need without conflicts, and ldmatrix as well. */
enum { WAVEFRONTS = N / SIDE * (N / SIDE) * TILES * SIDE * N * 2 / 128 };

/* Two matrices of whole numbers from 0 to 7, whose products' sums are exact in any order. */
struct product {
    uint16_t a[N * N], b[N * N]; /* as 16-bit floats */
    float expected[N * N], got[N * N];
    struct emu_counts counts;
};

static void make_inputs(struct product *p)
{
    static const uint16_t halves[] = {0,      0x3c00, 0x4000, 0x4200,
                                      0x4400, 0x4500, 0x4600, 0x4700}; /* 0 to 7 */
    unsigned a[N * N], b[N * N], state = 1;
    for (int i = 0; i < N * N; i++) {
        a[i] = (state = state * 1664525 + 1013904223) >> 29;
        b[i] = (state = state * 1664525 + 1013904223) >> 29;
        p->a[i] = halves[a[i]], p->b[i] = halves[b[i]];
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            unsigned sum = 0;
            for (int k = 0; k < N; k++) sum += a[i * N + k] * b[j * N + k];
            p->expected[i * N + j] = (float)sum;
        }
}

static int launch_swizzle(struct emu *emu, struct emu_kernel *kernel, struct product *p)
{
    emu_addr a, b, c;
    int n = N;
    void *arguments[] = {&c, &a, &b, &n};
    int error = emu_alloc(emu, sizeof p->a, &a);
    if (!error) error = emu_alloc(emu, sizeof p->b, &b);
    if (!error) error = emu_alloc(emu, sizeof p->got, &c);
    if (!error) error = emu_write(emu, a, p->a, sizeof p->a);
    if (!error) error = emu_write(emu, b, p->b, sizeof p->b);
    if (!error)
        error =
            emu_launch(emu, kernel, (struct emu_dim){N / SIDE, N / SIDE, 1},
                       (struct emu_dim){LANES, 1, 1}, TILES * SIDE * ROW_BYTES, arguments, false);
    if (!error) error = emu_read(emu, p->got, c, sizeof p->got);
    if (!error) p->counts = emu_record(emu, 0)->total;
    return error;
}

/* Prints a row, and returns whether all is well. `is_used`: the accesses are still those of
 * swizzle.cu. */
static bool judge(const char *what, const struct emu_shared *s, bool is_used)
{
    uint64_t conflicts = s->wavefronts - s->ideal;
    printf("%-9s %5" PRIu64 " wavefronts, %5" PRIu64 " conflicts", what, s->wavefronts, conflicts);
    if (!is_used) {
        printf(": they are not those of the lab's kernel; change place() only\n");
    } else if (conflicts) {
        printf(": 128 bytes take %.2f wavefronts, where 1 would do\n",
               (double)s->wavefronts / (double)s->ideal);
    } else {
        printf(": right\n");
    }
    return is_used && !conflicts;
}

static bool judge_result(const struct product *p)
{
    for (int i = 0; i < N * N; i++)
        if (p->got[i] != p->expected[i]) {
            printf("result    row %d, column %d is %g, not %g: do two chunks of a row get one "
                   "place?\n",
                   i / N, i % N, (double)p->got[i], (double)p->expected[i]);
            return false;
        }
    printf("result    right\n");
    return true;
}

static int judge_all(const struct product *p)
{
    const struct emu_counts *c = &p->counts;
    bool stores = judge("stores", &c->shared_st, c->shared_st.ideal == WAVEFRONTS);
    bool loads = judge("ldmatrix", &c->shared_ld,
                       c->ldmatrix.ideal == WAVEFRONTS && c->shared_ld.ideal == WAVEFRONTS);
    bool result = judge_result(p);
    if (stores && loads && result) return EXIT_RIGHT;
    printf("See notes/more/ldmatrix.md for which rows share banks.\n");
    return EXIT_WRONG;
}

static int swizzle_check(const char *path, FILE *source, struct fault *fault)
{
    (void)source; /* the PTX is made of it */
    static struct product p;
    struct bench b;
    int code = open_bench(&b, path, "swizzle.cu", "product", fault);
    make_inputs(&p);
    if (!code && launch_swizzle(b.emu, b.kernel, &p))
        code = fail(fault, EXIT_WRONG, "The kernel cannot be run: %s", emu_message(b.emu));
    if (!code) code = judge_all(&p);
    close_bench(&b);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Writes the sheet to be filled in, or checks one that has been. Returns 0 or an exit code; a wrong
 * answer is EXIT_WRONG. `ptx` is the path of PTX. */
typedef int exercise_fn(const char *ptx, FILE *sheet, struct fault *);

static exercise_fn *find(const char *exercise, const char *action)
{
    static const struct {
        const char *exercise, *action;
        exercise_fn *run;
    } all[] = {
        {"predict", "write", predict_write},     {"predict", "check", predict_check},
        {"detective", "write", detective_write}, {"detective", "check", detective_check},
        {"swizzle", "check", swizzle_check},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(exercise, all[i].exercise) && !strcmp(action, all[i].action)) return all[i].run;
    return NULL;
}

static int run(int count, char **argument, struct fault *fault)
{
    exercise_fn *exercise = count == 5 ? find(argument[1], argument[2]) : NULL;
    if (!exercise)
        return fail(fault, EXIT_USAGE,
                    "Give predict|detective write|check SHEET BANKS.ptx, or swizzle check "
                    "SOURCE.cu SOURCE.ptx.");
    FILE *sheet = fopen(argument[3], *argument[2] == 'w' ? "wx" : "r");
    if (!sheet)
        return fail(fault, EXIT_USAGE, "%s cannot be opened: %s; `make %s` writes it once.",
                    argument[3], strerror(errno), argument[1]);
    int code = exercise(argument[4], sheet, fault);
    if (fclose(sheet) && !code)
        return fail(fault, EXIT_USAGE, "%s cannot be written: %s.", argument[3], strerror(errno));
    return code;
}

int main(int count, char **argument)
{
    struct fault fault = {0};
    int code = run(count, argument, &fault);
    return *fault.text ? fault_say(&fault) : code;
}
