/*
 * driver.c — the options that only step 17 has, a rank's part of the input, and the descriptor.
 */
#include "common/files/option_table.h"
#include "common/harness/input/input.h"
#include "common/harness/print/print.h"
#include "common/step/step.h"
#include "parts/shape.h"
#include "request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_MOST    1e9
#define WAIT_SECONDS 300 /* ranks begin and verify a scan at different times */

const char *const exchange_names[] = {[CHOOSE_MPI] = "mpi",
                                      [CHOOSE_NCCL] = "nccl",
                                      [CHOOSE_PEER] = "peer",
                                      [CHOOSE_EXSCAN] = "exscan"};

static const enum element types[] = {ELEMENT_F32, ELEMENT_F64, ELEMENT_I32, ELEMENT_I64};
static const enum many_op sums[] = {MANY_SUM_F32, MANY_SUM_F64, MANY_SUM_I32, MANY_SUM_I64};
enum { TYPES = sizeof types / sizeof *types };

/* ---- the options ----------------------------------------------------------------------------- */

static const char *set_op(void *self, const char *value)
{
    struct request *r = self;
    r->affine = strcmp(value, "affine") == 0;
    if (r->affine || strcmp(value, "sum") == 0) return NULL;
    return "this operator is unknown; choose sum or affine.";
}

static const char *set_type(void *self, const char *value)
{
    struct request *r = self;
    enum element element;
    if (!element_choose(value, types, TYPES, &element))
        return "this type is unknown; choose f32, f64, i32 or i64.";
    r->type = element_short(element);
    return NULL;
}

static const char *set_exchange(void *self, const char *value)
{
    struct request *r = self;
    for (int i = 0; i < CHOOSE_ANY; i++)
        if (strcmp(value, exchange_names[i]) == 0) {
            r->exchange = (enum exchange_choice)i;
            return NULL;
        }
    return "this exchange is unknown; choose mpi, nccl, peer or exscan.";
}

static const char *set_wait(void *self, const char *value)
{
    struct request *r = self;
    double seconds;
    if (!option_real(value, &seconds) || !(seconds >= 0 && seconds <= WAIT_MOST))
        return "this is no number of seconds; give one, or 0 to wait without a limit.";
    r->wait = seconds;
    return NULL;
}

static const char *set_second(void *self, const char *value)
{
    struct request *r = self;
    if (!*value) return "the file name is empty.";
    r->second = value;
    return NULL;
}

const struct step_option many_options[] = {
    {.name = "op", .argument = "OP", .help = "sum (default) or affine", .set = set_op},
    {.name = "type",
     .argument = "T",
     .help = "f32, f64, i32 or i64 (default: a .npy file's, or f32); affine has f32",
     .set = set_type},
    {.name = "second",
     .argument = "FILE",
     .help = "with affine and --input: the elements b, a .npy file",
     .set = set_second},
    {.name = "exchange",
     .argument = "HOW",
     .help = "mpi, nccl, peer or exscan (default: peer if it is possible, else mpi)",
     .set = set_exchange},
    {.name = "wait",
     .argument = "S",
     .help = "end if a rank lets the others wait for S seconds (default: 300; 0: never)",
     .set = set_wait},
    {.name = NULL}};

/* ---- do they go together? -------------------------------------------------------------------- */

/* The type that --type or the file says. */
static int find_type(struct request *r, const struct options *o, struct fault *fault)
{
    struct npy_file file;
    r->element = ELEMENT_F32;
    if (!r->type && o->input) {
        int code = npy_file_open(&file, o->input, fault);
        if (code) return code;
        r->element = npy_file_type(&file);
        npy_file_close(&file);
    }
    if (r->type) element_choose(r->type, types, TYPES, &r->element);
    for (size_t i = 0; i < TYPES; i++)
        if (types[i] == r->element) {
            r->op = r->affine ? MANY_AFFINE_F32 : sums[i];
            return 0;
        }
    return fail(fault, EXIT_USAGE,
                "%s has elements of %s, and step 17 has f32, f64, i32 or i64; add --type.",
                o->input, element_name(r->element));
}

static int check_second(const struct request *r, const struct options *o, struct fault *fault)
{
    const char *second = r->second;
    if (second && !r->affine)
        return fail(fault, EXIT_USAGE, "--second has the elements b of affine; add --op affine.");
    if (second && !o->input)
        return fail(fault, EXIT_USAGE,
                    "--second has the elements b, and --input those of a; add --input.");
    if (r->affine && o->input && !second)
        return fail(fault, EXIT_USAGE,
                    "--op affine takes two files, --input a.npy and --second b.npy.");
    return 0;
}

static bool ends_in_npy(const char *path)
{
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".npy") == 0;
}

static int check_files(const struct request *r, const struct options *o, struct fault *fault)
{
    const char *const in[] = {o->input, r->second};
    for (int i = 0; i < 2; i++)
        if (in[i] && strcmp(in[i], "-") == 0)
            return fail(fault, EXIT_USAGE,
                        "stdin cannot be read by parts; write the numbers into a .npy file.");
    if (o->output && output_is_stdout(o->output))
        return fail(fault, EXIT_USAGE,
                    "stdout cannot be written by parts; give --output the name of a .npy file.");
    if (o->output && !ends_in_npy(o->output))
        return fail(fault, EXIT_USAGE,
                    "--output %s: text cannot be written by parts; take a name that ends in .npy.",
                    o->output);
    return 0;
}

void *many_request_open(void)
{
    struct request *r = calloc(1, sizeof *r);
    if (r) *r = (struct request){.exchange = CHOOSE_ANY, .wait = WAIT_SECONDS};
    return r;
}

int many_request_check(struct request *r, const struct options *o, struct fault *fault)
{
    int code = check_files(r, o, fault);
    if (!code) code = check_second(r, o, fault);
    if (!code && r->affine && r->type && strcmp(r->type, "f32") != 0)
        code = fail(fault, EXIT_USAGE, "--op affine has --type f32 only, not %s.", r->type);
    if (!code && r->affine && o->real)
        code = fail(fault, EXIT_USAGE,
                    "--real: the random numbers of affine are real already; leave it out.");
    if (!code) code = find_type(r, o, fault);
    if (!code && r->affine && r->element != ELEMENT_F32)
        code = fail(fault, EXIT_USAGE,
                    "%s has elements of %s, and --op affine has f32 only; add --type f32.",
                    o->input, element_name(r->element));
    if (!code && o->real && !element_is_real(r->element))
        code = fail(fault, EXIT_USAGE, "--real: this scan takes %s.", element_plural(r->element));
    return code;
}

/* ---- the exchange ---------------------------------------------------------------------------- */

static int check_nccl(const struct surroundings *s, struct fault *fault)
{
    if (!s->nccl)
        return fail(fault, EXIT_USAGE,
                    "--exchange nccl: this program was built without NCCL; choose peer or mpi.");
    if (s->emulated)
        return fail(fault, EXIT_USAGE,
                    "--exchange nccl needs GPUs, and these are emulated; choose peer or mpi.");
    return 0;
}

static int check_own_gpu(const struct surroundings *s, const char *name, struct fault *fault)
{
    if (s->gpus >= s->ranks) return 0;
    return fail(fault, EXIT_USAGE,
                "--exchange %s needs a GPU for each rank, and %d ranks share %d GPU%s; choose mpi, "
                "or start fewer ranks.",
                name, s->ranks, s->gpus, s->gpus > 1 ? "s" : "");
}

static int check_peer(const struct surroundings *s, struct fault *fault)
{
    if (s->machines > 1)
        return fail(fault, EXIT_USAGE,
                    "--exchange peer needs all ranks on one machine, and they are on %d; choose "
                    "mpi or nccl.",
                    s->machines);
    if (s->ranks > MANY_PEERS)
        return fail(fault, EXIT_USAGE,
                    "--exchange peer takes at most %d ranks, not %d; choose mpi or nccl.",
                    MANY_PEERS, s->ranks);
    if (s->peers) return 0;
    if (s->emulated)
        return fail(fault, EXIT_USAGE,
                    "--exchange peer needs emulated GPUs of one model; choose mpi, or give all "
                    "ranks the same EMU_GPU.");
    return fail(fault, EXIT_USAGE,
                "--exchange peer needs GPUs that reach each other's memory; choose mpi or nccl.");
}

int choose_exchange(const struct surroundings *s, enum exchange_choice asked,
                    enum exchange_choice *chosen, struct fault *fault)
{
    bool possible = s->peers && s->machines == 1 && s->gpus >= s->ranks;
    int code = 0;
    *chosen = asked;
    if (asked == CHOOSE_ANY) *chosen = possible ? CHOOSE_PEER : CHOOSE_MPI;
    if (asked == CHOOSE_NCCL) code = check_nccl(s, fault);
    if (!code && (asked == CHOOSE_NCCL || asked == CHOOSE_PEER))
        code = check_own_gpu(s, exchange_names[asked], fault);
    if (!code && asked == CHOOSE_PEER) code = check_peer(s, fault);
    return code;
}

/* ---- a part of the input --------------------------------------------------------------------- */

#define SECOND_SEED 0x2ED /* b is independent of a, as in step 16 */

int source_open(struct source *s, const struct request *request, const struct options *options,
                struct fault *fault)
{
    *s = (struct source){.request = request, .options = options, .n = options->n};
    if (!options->input) return 0;
    int code = npy_file_open(&s->input, options->input, fault);
    if (code) return code;
    s->n = s->input.header.n;
    if (!request->second) return 0;
    code = npy_file_open(&s->second, request->second, fault);
    if (!code && s->second.header.n != s->n)
        code = fail(fault, EXIT_USAGE, "%s has %zu element%s, and %s %zu; they have to agree.",
                    request->second, s->second.header.n, plural(s->second.header.n), options->input,
                    s->n);
    if (code) source_close(s);
    return code;
}

void source_close(struct source *s)
{
    npy_file_close(&s->input);
    npy_file_close(&s->second);
}

/* Random bits become real numbers from -1 to 1, as in step 16. */
static void make_reals(struct input *input)
{
    for (size_t i = 0; i < input->n; i++) {
        uint32_t bits = ((const uint32_t *)input->data)[i];
        ((float *)input->data)[i] = (float)((double)(bits >> 8) * 0x1p-23 - 1);
    }
}

static int make_factors(struct input *input, struct input_part part, uint64_t seed,
                        struct fault *fault)
{
    int code = input_generate_bits_part(input, ELEMENT_F32, part, seed, fault);
    if (!code) make_reals(input);
    return code;
}

int source_read(struct source *s, struct many_part mine, struct input *in, struct input *second,
                struct fault *fault)
{
    const struct options *o = s->options;
    enum element element = s->request->element;
    struct input_part part = {.first = mine.begin, .count = mine.count, .whole = s->n};
    *in = *second = (struct input){.element = element};
    if (o->input) {
        int code = npy_file_read(&s->input, in, element, part, fault);
        if (!code && s->request->second)
            code = npy_file_read(&s->second, second, element, part, fault);
        return code;
    }
    if (!s->request->affine) return input_generate_part(in, element, part, o->real, o->seed, fault);
    int code = make_factors(in, part, o->seed, fault);
    return code ? code : make_factors(second, part, o->seed ^ SECOND_SEED, fault);
}

/* ---- the descriptor -------------------------------------------------------------------------- */

/* Step 17's descriptor: a scan between ranks. program.c runs it, in place of the harness. */

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
