/* operators.c — a program that uses scan.h: the moving average of the second column of a CSV file.
 * `make example` builds it, `build/example16 FILE.csv` runs it on a GPU, and `build/emu/emu
 * build/example16 FILE.csv` without one. */
#include "check.h"
#include "common/tools/library/scan/scan.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    enum { MOST = 1 << 20 };
    char line[4096];
    size_t n = 0, bytes;
    float *price, *average;
    void *workspace;
    FILE *csv = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!csv) return fprintf(stderr, "usage: example16 FILE.csv\n"), 2;

    /* Managed memory is read and written by the CPU as well. */
    CHECK(cudaMallocManaged((void **)&price, MOST * sizeof *price, cudaMemAttachGlobal));
    CHECK(cudaMallocManaged((void **)&average, MOST * sizeof *average, cudaMemAttachGlobal));
    while (n < MOST && fgets(line, sizeof line, csv)) /* the heading has no number */
        if (sscanf(line, "%*[^,],%f", &price[n]) == 1) n++;
    if (n == MOST || ferror(csv))
        return fprintf(stderr, "%s: has %d prices or more, or cannot be read\n", argv[1], MOST), 2;
    fclose(csv);

    /* average = 0.75 average + 0.25 price, from the first price on */
    struct upsweep_scan_options options = {.inclusive = true, .initial = price};
    CHECK(scan_decay_f32(NULL, &bytes, NULL, NULL, 0.75f, 0.25f, n, &options, NULL));
    CHECK(cudaMalloc(&workspace, bytes));
    CHECK(scan_operators_init(workspace, bytes, NULL)); /* once */
    CHECK(scan_decay_f32(workspace, &bytes, average, price, 0.75f, 0.25f, n, &options, NULL));
    CHECK(cudaDeviceSynchronize());
    for (size_t i = 0; i < n; i++) printf("%g %g\n", (double)price[i], (double)average[i]);
    CHECK(cudaFree(workspace));
    CHECK(cudaFree(average));
    CHECK(cudaFree(price));
    return 0;
}
