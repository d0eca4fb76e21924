/* request.c — the options that only step 17 has, and whether they are possible. */
#include "request.h"

#include "common/files/option_table.h"
#include "common/harness/print/print.h"

#include <string.h>

#define WAIT_MOST 1e9

const char *const exchange_names[] = {[EXCHANGE_MPI] = "mpi",
                                      [EXCHANGE_NCCL] = "nccl",
                                      [EXCHANGE_PEER] = "peer",
                                      [EXCHANGE_EXSCAN] = "exscan"};

static const enum element types[] = {ELEMENT_F32, ELEMENT_F64, ELEMENT_I32, ELEMENT_I64};
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
    r->typed = element_choose(value, types, TYPES, &r->element);
    return r->typed ? NULL : "this type is unknown; choose f32, f64, i32 or i64.";
}

static const char *set_exchange(void *self, const char *value)
{
    struct request *r = self;
    for (int i = 0; i < EXCHANGE_ANY; i++) {
        r->exchange = (enum many_exchange)i;
        if (strcmp(value, exchange_names[i]) == 0) return NULL;
    }
    return "this exchange is unknown; choose mpi, nccl, peer or exscan.";
}

static const char *set_wait(void *self, const char *value)
{
    struct request *r = self;
    if (option_real(value, &r->wait) && r->wait >= 0 && r->wait <= WAIT_MOST) return NULL;
    return "this is no number of seconds; give one, or 0 to wait without a limit.";
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
     .member = offsetof(struct request, second)},
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

static bool ends_in_npy(const char *path)
{
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".npy") == 0;
}

/* Each rank reads and writes its part, so a file has to have places. */
static int check_files(const struct request *r, const struct options *o, struct fault *fault)
{
    const char *in = o->input, *second = r->second;
    if ((in && strcmp(in, "-") == 0) || (second && strcmp(second, "-") == 0))
        return fail(fault, EXIT_USAGE,
                    "stdin cannot be read by parts; write the numbers into a .npy file.");
    if (o->output && !(ends_in_npy(o->output) && replacement_is_file(o->output)))
        return fail(fault, EXIT_USAGE,
                    "%s cannot be written by parts; give --output the name of a .npy file.",
                    output_is_stdout(o->output) ? "stdout" : o->output);
    if (second && !(r->affine && in))
        return fail(fault, EXIT_USAGE,
                    "--second has the elements b of affine; add --op affine and --input a.npy.");
    if (r->affine && in && !second)
        return fail(fault, EXIT_USAGE,
                    "--op affine takes two files, --input a.npy and --second b.npy.");
    return 0;
}

/* Finds the operator for the type that --type or the file says. */
static int find_op(struct request *r, const struct options *o, struct fault *fault)
{
    static const enum many_op sums[] = {MANY_SUM_F32, MANY_SUM_F64, MANY_SUM_I32, MANY_SUM_I64};
    const char *who = r->affine ? "--op affine" : "step 17";
    struct npy_file file;
    if (!r->typed && o->input) {
        int code = npy_file_open(&file, o->input, fault);
        if (code) return code;
        r->element = npy_file_type(&file);
        npy_file_close(&file);
    }
    for (size_t i = 0; i < (r->affine ? 1 : TYPES); i++) {
        if (types[i] != r->element) continue;
        r->op = r->affine ? MANY_AFFINE_F32 : sums[i];
        return 0;
    }
    return fail(fault, EXIT_USAGE, "%s has no elements of %s; choose another --type.", who,
                element_name(r->element));
}

int many_request_check(struct request *r, const struct options *o, struct fault *fault)
{
    int code = check_files(r, o, fault);
    if (!code) code = find_op(r, o, fault);
    if (code || !o->real) return code;
    if (r->affine)
        return fail(fault, EXIT_USAGE,
                    "--real: the random numbers of affine are real already; leave it out.");
    if (element_is_real(r->element)) return 0;
    return fail(fault, EXIT_USAGE, "--real: this scan takes %s.", element_plural(r->element));
}

/* ---- the exchange ---------------------------------------------------------------------------- */

int choose_exchange(const struct surroundings *s, enum many_exchange asked,
                    enum many_exchange *chosen, struct fault *fault)
{
    bool own = s->gpus >= s->ranks, near = s->machines == 1 && s->ranks <= MANY_PEERS;
    const struct {
        bool of_nccl, of_peer, is_so;
        const char *why;
    } refusals[] = {
        {true, false, !s->nccl,
         "needs NCCL, and this program was built without; choose peer or mpi"},
        {true, false, s->emulated, "needs GPUs, and these are emulated; choose peer or mpi"},
        {true, true, !own, "needs a GPU for each rank; choose mpi, or start fewer ranks"},
        {false, true, !near, "takes at most 32 ranks, on one machine; choose mpi or nccl"},
        {false, true, s->emulated && !s->peers,
         "needs emulated GPUs of one model; choose mpi, or give all ranks the same EMU_GPU"},
        {false, true, !s->peers, "needs GPUs that reach each other's memory; choose mpi or nccl"}};
    *chosen = asked;
    if (asked == EXCHANGE_ANY) *chosen = own && near && s->peers ? EXCHANGE_PEER : EXCHANGE_MPI;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (refusals[i].is_so && ((asked == EXCHANGE_NCCL && refusals[i].of_nccl) ||
                                  (asked == EXCHANGE_PEER && refusals[i].of_peer)))
            return fail(fault, EXIT_USAGE, "--exchange %s %s.", exchange_names[asked],
                        refusals[i].why);
    return 0;
}
