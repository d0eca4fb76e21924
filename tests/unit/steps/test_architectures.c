/*
 * test_architectures.c — the libraries of steps 12 to 16 run code for older GPUs on a newer one.
 * `make test-architectures` also compiles them for other architectures, and runs them on more GPUs.
 */
#define _GNU_SOURCE
#include "common/tools/emu/ptx/binary.h"
#include "common/tools/emu/emu.h"
#include "tests/support/command.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(architectures, .init = command_init, .fini = command_fini, .timeout = 240);

/* As if the programs held only PTX for compute_75. */
Test(architectures, code_for_a_t4_on_an_h200_slow)
{
    expect_status(0, "EMU_PTX=75 $emu --log-file /dev/null build/architectures/usual/run 75 2>&1");
    expect("scan_pipeline                    9437185  right\n");
    expect("\nright\n");
}

/* The runtime says for which GPU the code is that it has chosen. A GPU runs machine code of its own
 * generation; of other PTX its driver makes some. */
Test(architectures, the_chosen_code_slow)
{
    static const struct {
        const char *program, *setting, *code;
    } runs[] = {{"shared", "EMU_GPU=h200", "PTX 90, machine code 90\n"},
                {"shared", "EMU_GPU=h200 EMU_PTX=89", "PTX 75, machine code 90\n"},
                {"shared", "EMU_GPU=t4", "PTX 75, machine code 75\n"},
                {"shared", "EMU_GPU=rtx4090", "PTX 75, machine code 89\n"},
                {"shared", "EMU_GPU=b200", "PTX 90, machine code 100\n"},
                {"sm_80", "EMU_GPU=a100", "PTX 80, machine code 80\n"},
                {"sm_80", "EMU_GPU=rtx4090", "PTX 80, machine code 80\n"},
                {"sm_80", "EMU_GPU=h200", "PTX 80, machine code 90\n"}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        expect_status(0, "%s $emu --log-file /dev/null $p/%s 0 versions", runs[i].setting,
                      runs[i].program);
        expect(runs[i].code);
    }
}

/* ---- bodies that were left out --------------------------------------------------------------- */

/* Kernels whose body needs compute_90, or, if a grid has several blocks, a cluster. The host never
 * launches them where they were compiled for less. */
static struct {
    const char *name; /* a part of the mangled one */
    unsigned found;
} left_out[] = {
    {"scan_pipeline", 0}, {"select_pipeline", 0}, {"sort_resident", 0}, {"copy_bulk", 0}};
enum { LEFT_OUT = sizeof left_out / sizeof *left_out };

/* All arguments are zeros. */
static int launch_with_zeros(struct emu *emu, struct emu_module *module, const char *name)
{
    enum { MOST_BYTES = 4096 };
    static char zeros[MOST_BYTES];
    struct emu_kernel *kernel;
    cr_assert_eq(emu_kernel(emu, module, name, &kernel), EMU_OK, "%s", emu_message(emu));
    const struct emu_kernel_info *info = emu_kernel_info(kernel);
    void **args = malloc((info->params + 1) * sizeof *args);
    for (unsigned i = 0; i < info->params; i++) {
        cr_assert_leq(info->param_size[i], MOST_BYTES);
        args[i] = zeros;
    }
    int error = emu_launch(emu, kernel, (struct emu_dim){2, 1, 1}, (struct emu_dim){32, 1, 1}, 0,
                           args, false);
    free(args);
    return error;
}

static void expect_trap(struct emu *emu, struct emu_module *module, const char *name)
{
    for (int i = 0; i < LEFT_OUT; i++) {
        if (!strstr(name, left_out[i].name)) continue;
        int error = launch_with_zeros(emu, module, name);
        cr_expect_eq(error, EMU_LAUNCH_FAILURE, "%s: error %d", name, error);
        cr_expect(strstr(emu_message(emu), "stopped itself with a trap"), "%s: %s", name,
                  emu_message(emu));
        left_out[i].found++;
    }
}

/* Each `.entry NAME(` of a text. */
static void expect_traps(struct emu *emu, const struct fatbin_ptx *ptx)
{
    struct emu_module *module;
    cr_assert_eq(emu_load(emu, ptx->text, ptx->length, "left out", &module), EMU_OK, "%s",
                 emu_message(emu));
    for (const char *at = ptx->text; (at = strstr(at, ".entry ")) != NULL;) {
        at += strlen(".entry ");
        char *name = strndup(at, strcspn(at, "("));
        expect_trap(emu, module, name);
        free(name);
    }
    emu_unload(emu, module);
}

static void *map_file(const char *path, size_t *size)
{
    struct stat status;
    int file = open(path, O_RDONLY);
    cr_assert(file >= 0 && fstat(file, &status) == 0, "cannot read %s", path);
    *size = (size_t)status.st_size;
    void *map = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, file, 0);
    cr_assert(map != MAP_FAILED);
    close(file);
    return map;
}

Test(architectures, a_body_that_was_left_out_ends_the_launch_with_an_error_slow)
{
    char message[512];
    size_t size, left, bytes;
    struct elf program;
    struct fatbin_ptx ptx;
    struct emu *emu = emu_open(NULL, message, sizeof message);
    void *file = map_file(ORDINARY_BUILD "/architectures/usual/run", &size);
    cr_assert(emu && elf_read(&program, file, size) == ELF_FINE);
    const unsigned char *at = elf_section(&program, ".nv_fatbin", &left);
    for (; left > 0 && (bytes = fatbin_size(at, left)) > 0; at += bytes, left -= bytes) {
        if (fatbin_extract(at, left, 75, &ptx, message, sizeof message) != EMU_OK) continue;
        expect_traps(emu, &ptx);
        free(ptx.text);
    }
    for (int i = 0; i < LEFT_OUT; i++)
        cr_expect_gt(left_out[i].found, 0, "no kernel %s was found", left_out[i].name);
    emu_close(emu);
    munmap(file, size);
}
