/* hazards.c — see hazards.h. */
#include "hazards.h"
#include "tests/fixtures/programs/programs.h"
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static char *read_ptx(void)
{
    static const char path[] = PROGRAMS "/hazards.ptx";
    FILE *file = fopen(path, "rb");
    cr_assert(file, "%s", path);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = calloc(1, (size_t)size + 1);
    cr_assert(text && fread(text, 1, (size_t)size, file) == (size_t)size);
    fclose(file);
    return text;
}

int hazards_result(struct emu *emu, const char *kernel, unsigned grid, unsigned block, int *data,
                   int *flags)
{
    static int numbers[HAZARD_WORDS];
    for (int i = 0; i < HAZARD_WORDS; i++) numbers[i] = i;
    char *text = read_ptx();
    struct emu_kernel *k = load_kernel(emu, text, kernel);
    uint64_t args[] = {device_copy(emu, numbers, sizeof numbers),
                       device_copy(emu, NULL, sizeof numbers)};
    int e = emu_launch(emu, k, (struct emu_dim){grid, 1, 1}, (struct emu_dim){block, 1, 1}, 0,
                       (void *[]){&args[0], &args[1]}, true);
    if (!e && data) cr_assert(!emu_read(emu, data, args[0], sizeof numbers));
    if (!e && flags) cr_assert(!emu_read(emu, flags, args[1], sizeof numbers));
    free(text);
    return e;
}

int hazards_run(struct emu *emu, const char *kernel, unsigned grid, unsigned block)
{
    return hazards_result(emu, kernel, grid, block, NULL, NULL);
}
