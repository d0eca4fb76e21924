/* ---- the program: what ./step1 does at large ------------------------------------------------- */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1 << 20;
    float *in = malloc((n + 1) * sizeof *in), *out = malloc((n + 1) * sizeof *out);
    if (!in || !out) return fprintf(stderr, "no memory for %zu elements\n", n), 1;

    /* Small integers: a float holds each of their sums, so that any order of additions is exact. */
    for (size_t i = 0; i < n; i++) in[i] = (float)(i * 7 % 11) - 5;

    /* What the scan does not write must not look right, nor what it writes beyond the end. */
    for (size_t i = 0; i <= n; i++) out[i] = NAN;

    /* The first call touches all memory; the second one is timed. */
    if (n > 0) scan_exclusive(out, in, n);
    clock_t begin = clock();
    if (n > 0) scan_exclusive(out, in, n);
    double milliseconds = 1e3 * (double)(clock() - begin) / CLOCKS_PER_SEC;

    double want = 0;
    for (size_t i = 0; i < n; i++) {
        if (out[i] != want)
            return printf("wrong: element %zu is %g, not %g\n", i, out[i], want), 1;
        want += in[i];
    }
    if (!isnan(out[n])) return printf("wrong: element %zu is behind the end\n", n), 1;
    printf("right: %zu elements, %.3f ms\n", n, milliseconds);
}
