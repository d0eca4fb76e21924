/* bank_lab.c — make these conflicts zero: runs a product by ldmatrix, and judges its result and
 * its bank conflicts. */
#include "banks.h"
#include "common/labs/run_entry.h"

#include <inttypes.h>
#include <stdlib.h>

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

static int launch_swizzle(struct emu *emu, const struct lab_ptx *ptx, const char *name,
                          struct product *p)
{
    struct emu_module *module;
    struct emu_kernel *kernel;
    emu_addr a, b, c;
    int n = N;
    void *arguments[] = {&c, &a, &b, &n};
    int error = emu_load(emu, ptx->text, ptx->length, "swizzle.cu", &module);
    if (!error) error = emu_kernel(emu, module, name, &kernel);
    if (!error) error = emu_alloc(emu, sizeof p->a, &a);
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

static int run_swizzle(const struct lab_ptx *ptx, struct product *p, struct fault *fault)
{
    struct emu_config config = {.threads = 1, .counters = true};
    char message[FAULT_TEXT], name[EMU_NAME_SIZE];
    size_t at = 0;
    if (!next_entry(ptx, &at, "product", name))
        return fail(fault, EXIT_WRONG, "There is no kernel called product; change place() only.");
    struct emu *emu = emu_open(&config, message, sizeof message);
    if (!emu) return fail(fault, EXIT_DEVICE, "%s", message);
    int code = 0;
    if (launch_swizzle(emu, ptx, name, p))
        code = fail(fault, EXIT_WRONG, "The kernel cannot be run: %s", emu_message(emu));
    emu_close(emu);
    return code;
}

int swizzle_check(const char *path, FILE *source, struct fault *fault)
{
    (void)source; /* the PTX is made of it */
    struct lab_ptx ptx;
    int code = ptx_read(path, &ptx, fault);
    if (code) return code;
    struct product *p = malloc(sizeof *p);
    if (!p) {
        code = fail(fault, EXIT_DEVICE, "There is no memory for two matrices.");
    } else {
        make_inputs(p);
        code = run_swizzle(&ptx, p, fault);
        if (!code) code = judge_all(p);
    }
    free(p);
    free(ptx.text);
    return code;
}
