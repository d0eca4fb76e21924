/* Step 17's descriptor: a scan between ranks. program.c runs it, in place of the harness. */
#include "common/step/application.h"
#include "common/step/step.h"
#include "request.h"

static size_t own_files(struct application_file files[APPLICATION_FILES])
{
    files[0] = (struct application_file){"--second", many_request.second, false};
    return 1;
}

/* Each rank has its part only, in one process of many. */
static const char *const unused[] = {"sweep", "offset", "counters", "trace", NULL};

static const struct application step17_application = {
    .takes_inclusive = true,
    .unused = unused,
    .own_files = own_files,
    .input_help = "scan the numbers of FILE, a .npy file",
    .output_help = "write the result, as a .npy file",
    .files = "Ranks: mpirun -np 4 ./step17 has four, and make run17 P=4 passes mpirun the options\n"
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
    .application = &step17_application,
};
