/* json.c — a program that uses scan.h: do the brackets of a JSON file match in number?
 * `make example` builds it, `build/example16-json FILE.json` runs it on a GPU, and `build/emu/emu
 * build/example16-json FILE.json` without one. */
#include "check.h"
#include "common/tools/library/scan/scan.h"

#include <stdio.h>

/* Brackets in strings do not count. */
static void blank_strings(uint8_t *text, size_t n)
{
    bool inside = false;
    for (size_t i = 0; i < n; i++) {
        bool quote = text[i] == '"', escape = inside && text[i] == '\\';
        if (inside && text[i] != '\n') text[i] = ' ';
        if (escape && i + 1 < n) text[++i] = ' ';
        inside ^= quote;
    }
}

int main(int argc, char **argv)
{
    enum { MOST = 1 << 24 };
    const struct upsweep_scan_options inclusive = {.inclusive = true};
    uint8_t *text;
    int32_t *depth, greatest = 0;
    size_t n, bytes, i, line = 1, column = 0;
    void *workspace;
    FILE *json = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!json) return fprintf(stderr, "usage: example16-json FILE.json\n"), 2;

    CHECK(cudaMallocManaged((void **)&text, MOST, cudaMemAttachGlobal));
    n = fread(text, 1, MOST, json);
    if (n == MOST || ferror(json))
        return fprintf(stderr, "%s: has %d bytes or more, or cannot be read\n", argv[1], MOST), 2;
    fclose(json);
    blank_strings(text, n);
    CHECK(cudaMallocManaged((void **)&depth, (n + 1) * sizeof *depth, cudaMemAttachGlobal));
    CHECK(scan_brackets(NULL, &bytes, NULL, NULL, n, &inclusive, NULL));
    CHECK(cudaMalloc(&workspace, bytes));
    CHECK(scan_operators_init(workspace, bytes, NULL)); /* once */
    CHECK(scan_brackets(workspace, &bytes, depth, text, n, &inclusive, NULL));
    CHECK(cudaDeviceSynchronize());

    for (i = 0; i < n && depth[i] >= 0; i++) {
        if (depth[i] > greatest) greatest = depth[i];
        if (text[i] == '\n')
            line++, column = 0;
        else
            column++;
    }
    int32_t open = i == n && n > 0 ? depth[n - 1] : 0;
    printf("greatest depth: %d\n", (int)greatest);
    if (i < n) printf("line %zu, column %zu: this bracket closes nothing\n", line, column + 1);
    if (open) printf("open at the end: %d\n", (int)open);
    CHECK(cudaFree(workspace));
    CHECK(cudaFree(depth));
    CHECK(cudaFree(text));
    return i < n || open > 0;
}
