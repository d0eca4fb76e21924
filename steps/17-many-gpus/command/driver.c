/* Step 17's descriptor: a scan between ranks. program.c runs it, in place of the harness. */
#include "common/step/step.h"
#include "request.h"

#include <stdlib.h>

static size_t files(const void *self, struct own_file files[OWN_FILES])
{
    files[0] = (struct own_file){"--second", ((const struct request *)self)->second, false};
    return 1;
}

/* Each rank has its part only, in one process of many. */
static const char *const unused[] = {"offset", "counters", "trace", "in-place", NULL};

static const struct verbs verbs = {
    .open = many_request_open,
    .close = free,
    .files = files,
    .unused = unused,
    .input_help = "scan the numbers of FILE, a .npy file",
    .output_help = "write the result, as a .npy file",
    .files_help =
        "Ranks: mpirun -np 4 ./step17 has four, and make run17 P=4 passes mpirun the options\n"
        "that one machine without a GPU needs. Without mpirun there is one rank.\n"
        "Operators: sum, and affine (h = a h + b).\n"
        "Files: 1-D .npy, which the ranks read and write by parts.\n",
};

const struct step step17 = {
    .number = 17,
    .name = "many-gpus",
    .title = "A scan between ranks",
    .teaches = "each rank sums its part; the sums are exchanged; each rank scans its part",
    .default_n = 1 << 20,
    .element = ELEMENT_F32,
    .options = many_options,
    .verbs = &verbs,
};
