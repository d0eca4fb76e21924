/*
 * driver.c — step 17's descriptor and verbs: a rank's part of the input and of the output, its
 * calls of the scan, and what the report says of the ranks.
 */
#define _POSIX_C_SOURCE 200809L /* fileno, fseeko */
#include "common/files/option_table.h"
#include "common/harness/print/print.h"
#include "common/harness/report/report.h"
#include "common/step/cuda_check.h"
#include "parts/exchange.h"
#include "request.h"
#include "scan.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WAIT_SECONDS 300   /* ranks begin and verify a scan at different times */
#define WAIT_MOST    1e9
#define SECOND_SEED  0x2ED /* b is independent of a, as in step 16 */

static enum element element_of(const struct request *r) { return many_element[r->op]; }

static bool is_affine(const struct request *r) { return r->op == MANY_AFFINE_F32; }

/* ---- the options ----------------------------------------------------------------------------- */

/* In the order of enum many_exchange. */
const char *const exchange_names[EXCHANGE_ANY] = {"mpi", "nccl", "peer", "exscan"};

static const char *set_wait(void *self, const char *value)
{
    struct request *r = self;
    if (option_real(value, &r->wait) && r->wait >= 0 && r->wait <= WAIT_MOST) return NULL;
    return "this is no number of seconds; give one, or 0 to wait without a limit.";
}

#define MEMBER(name) offsetof(struct request, name)
static const struct step_option options[] = {
    {"op", "OP", "sum (default) or affine", .member = MEMBER(op_name)},
    {"type", "T", "f32, f64, i32 or i64 (default: a .npy file's, or f32); affine has f32",
     VALUE_TYPE, .member = MEMBER(type),
     .wrong = "this type is unknown; choose f32, f64, i32 or i64.",
     .types = 1 << ELEMENT_F32 | 1 << ELEMENT_F64 | 1 << ELEMENT_I32 | 1 << ELEMENT_I64},
    {"second", "FILE", "with affine and --input: the elements b, a .npy file",
     .member = MEMBER(second)},
    {"exchange", "HOW", "mpi, nccl, peer or exscan (default: peer if it is possible, else mpi)",
     .member = MEMBER(exchange_name)},
    {"wait", "S", "end if a rank lets the others wait for S seconds (default: 300; 0: never)",
     .set = set_wait},
    {.name = NULL}};

static bool ends_in_npy(const char *path)
{
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".npy") == 0;
}

static bool is_stdin(const char *path) { return path && strcmp(path, "-") == 0; }

/* Finds the exchange. Returns whether there is one of this name. */
static bool find_exchange(struct request *r)
{
    int at = r->exchange_name ? 0 : EXCHANGE_ANY;
    while (at < EXCHANGE_ANY && strcmp(r->exchange_name, exchange_names[at]) != 0) at++;
    r->exchange = (enum many_exchange)at;
    return at < EXCHANGE_ANY || !r->exchange_name;
}

/* Finds the operator for the type that --type or the file says. */
static bool find_op(struct request *r, const struct options *o, bool affine)
{
    if (!r->type.given && o->input) input_npy_type(o->input, &r->type.element);
    for (int op = affine ? MANY_AFFINE_F32 : MANY_SUM_F32; op < MANY_OPS; op++) {
        r->op = (enum many_op)op;
        if (many_element[op] == r->type.element) return true;
    }
    return false;
}

int many_request_check(struct request *r, const struct options *o, struct fault *fault)
{
    bool affine = strcmp(r->op_name, "affine") == 0;
    const struct refusal refusals[] = {
        {!affine && strcmp(r->op_name, "sum") != 0,
         "--op: this operator is unknown; choose sum or affine."},
        {!find_exchange(r),
         "--exchange: this exchange is unknown; choose mpi, nccl, peer or exscan."},
        /* Each rank reads and writes its part, so a file has to have places. */
        {is_stdin(o->input) || is_stdin(r->second),
         "stdin cannot be read by parts; write the numbers into a .npy file."},
        {r->second && !(affine && o->input),
         "--second has the elements b of affine; add --op affine and --input a.npy."},
        {affine && o->input && !r->second,
         "--op affine takes two files, --input a.npy and --second b.npy."},
        {affine && o->real,
         "--real: the random numbers of affine are real already; leave it out."},
        {0}};
    int code = options_refuse(refusals, fault);
    if (code) return code;
    if (o->output && !(ends_in_npy(o->output) && replacement_is_file(o->output)))
        return fail(fault, EXIT_USAGE,
                    "%s cannot be written by parts; give --output the name of a .npy file.",
                    output_is_stdout(o->output) ? "stdout" : o->output);
    if (!find_op(r, o, affine))
        return fail(fault, EXIT_USAGE, "%s has no elements of %s; choose another --type.",
                    affine ? "--op affine" : "step 17", element_name(r->type.element));
    if (!o->real || element_is_real(element_of(r))) return 0;
    return fail(fault, EXIT_USAGE, "--real: this scan takes %s.", element_plural(element_of(r)));
}

int choose_exchange(const struct surroundings *s, enum many_exchange asked,
                    enum many_exchange *chosen, struct fault *fault)
{
    bool own = s->gpus >= s->ranks, near = s->machines == 1 && s->ranks <= MANY_PEERS;
    bool nccl = asked == EXCHANGE_NCCL, peer = asked == EXCHANGE_PEER;
    const struct {
        bool holds;
        const char *why;
    } refusals[] = {
        {nccl && !s->nccl, "needs NCCL, and this program was built without; choose peer or mpi"},
        {nccl && s->emulated, "needs GPUs, and these are emulated; choose peer or mpi"},
        {(nccl || peer) && !own, "needs a GPU for each rank; choose mpi, or start fewer ranks"},
        {peer && !near, "takes at most 32 ranks, on one machine; choose mpi or nccl"},
        {peer && s->emulated && !s->peers,
         "needs emulated GPUs of one model; choose mpi, or give all ranks the same EMU_GPU"},
        {peer && !s->peers, "needs GPUs that reach each other's memory; choose mpi or nccl"}};
    *chosen = asked;
    if (asked == EXCHANGE_ANY) *chosen = own && near && s->peers ? EXCHANGE_PEER : EXCHANGE_MPI;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (refusals[i].holds)
            return fail(fault, EXIT_USAGE, "--exchange %s %s.", exchange_names[asked],
                        refusals[i].why);
    return 0;
}

/* ---- an open step ---------------------------------------------------------------------------- */

static void *open_request(void)
{
    struct request *r = allocated(calloc(1, sizeof *r));
    ranks_prepare();
    *r = (struct request){.op_name = "sum", .wait = WAIT_SECONDS};
    return r;
}

static void close_request(void *self)
{
    struct request *r = self;
    struct fault fault;
    int begun; /* by ranks_join */
    MPI_Initialized(&begun);
    wait_begin(NULL);
    many_destroy(r->scan, &fault); /* if it fails, other ranks have ended */
    cudaFree(r->more_on_device);
    input_free(&r->more);
    if (begun) MPI_Finalize();
    wait_end();
    free(r);
}

/* ---- a part of the input --------------------------------------------------------------------- */

static void divide(struct request *r, size_t n)
{
    r->n = n;
    r->part = many_part_of(n, r->ranks.count, r->ranks.rank);
}

static int plan(const struct subject *s, struct input *input, struct fault *fault)
{
    struct request *r = s->self;
    (void)fault;
    divide(r, s->options->n);
    *input = (struct input){.element = element_of(r), .n = r->part.count};
    return 0;
}

/* Reads this rank's part of a file that has as many elements as others; *n becomes how many. */
static int read_part(struct request *r, const char *path, size_t *n, struct input *to,
                     struct fault *fault)
{
    struct npy_file file;
    int code = npy_file_open(&file, path, fault);
    if (code) return code;
    if (*n && *n != file.header.n)
        code = fail(fault, EXIT_USAGE, "%s has %zu elements, and --input %zu; they have to agree.",
                    path, file.header.n, *n);
    *n = file.header.n;
    divide(r, *n);
    struct input_part part = {.first = r->part.begin, .count = r->part.count, .whole = *n};
    if (!code) code = npy_file_read(&file, to, element_of(r), part, fault);
    npy_file_close(&file);
    return code;
}

/* Random bits become real numbers from -1 to 1, as in step 16. */
static int make_factors(struct input *input, struct input_part part, uint64_t seed,
                        struct fault *fault)
{
    int code = input_generate_part(input, ELEMENT_F32, part, RANDOM_BITS, seed, fault);
    for (size_t i = 0; i < part.count && !code; i++) {
        uint32_t bits = ((const uint32_t *)input->data)[i];
        ((float *)input->data)[i] = (float)((double)(bits >> 8) * 0x1p-23 - 1);
    }
    return code;
}

static int read_or_make(struct request *r, const struct options *o, struct input *input,
                        struct fault *fault)
{
    struct input_part part = {.first = r->part.begin, .count = r->part.count, .whole = r->n};
    size_t n = 0;
    int code;
    if (o->input) {
        code = read_part(r, o->input, &n, input, fault);
        return code || !r->second ? code : read_part(r, r->second, &n, &r->more, fault);
    }
    enum random kind = o->real ? RANDOM_REALS : RANDOM_INTEGERS;
    if (!is_affine(r))
        return input_generate_part(input, element_of(r), part, kind, o->seed, fault);
    code = make_factors(input, part, o->seed, fault);
    return code ? code : make_factors(&r->more, part, o->seed ^ SECOND_SEED, fault);
}

/* The judge's loop passes from rank to rank. */
static int pass_reference(struct request *r, const struct input *input, struct fault *fault)
{
    int bytes = (int)sizeof r->before, rank = r->ranks.rank;
    r->before = reference_begin();
    wait_begin(NULL);
    if (rank > 0)
        MPI_Recv(&r->before, bytes, MPI_BYTE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wait_end();
    struct reference after = r->before;
    reference_pass(&after, r->op, input->data, r->more.data, r->part.count);
    if (rank + 1 < r->ranks.count) MPI_Send(&after, bytes, MPI_BYTE, rank + 1, 0, MPI_COMM_WORLD);
    return reference_check(&after, r->op, fault);
}

static int upload_more(struct request *r, struct fault *fault)
{
    size_t bytes = r->part.count * sizeof(float);
    if (!is_affine(r) || bytes == 0) return 0;
    CUDA_CHECK(fault, cudaMalloc(&r->more_on_device, bytes));
    CUDA_CHECK(fault, cudaMemcpy(r->more_on_device, r->more.data, bytes, cudaMemcpyHostToDevice));
    return 0;
}

static int input(const struct subject *s, struct input *input, struct fault *fault)
{
    struct request *r = s->self;
    const struct options *o = s->options;
    *input = (struct input){.element = element_of(r)};
    divide(r, o->n);
    int code = ranks_agree(s->ranks, read_or_make(r, o, input, fault), fault);
    if (!code && o->verify == VERIFY_FULL) code = pass_reference(r, input, fault);
    if (!code) code = upload_more(r, fault);
    code = ranks_agree(s->ranks, code, fault);
    wait_begin(NULL);
    if (!code)
        code = many_create(&r->scan, MPI_COMM_WORLD, r->op, r->exchange, r->n, r->wait, fault);
    wait_end();
    input->rounded = ranks_largest(s->ranks, input->rounded || r->more.rounded) > 0;
    if (code) input_free(input);
    return code;
}

/* ---- a call ---------------------------------------------------------------------------------- */

static size_t part_bytes(const struct request *r)
{
    return r->part.count * many_element_bytes(r->op);
}

static struct needs needs(const struct subject *s, size_t n)
{
    const struct request *r = s->self;
    size_t element = many_element_bytes(r->op), bytes = n * element;
    size_t of_sums = part_bytes(r) / 1024 + (4 << 20); /* of tiles and nodes, and the exchange's */
    return (struct needs){.result = bytes,
                          .result_element = element,
                          .own = (is_affine(r) ? bytes : 0) + of_sums};
}

/* A fault is returned by `ended`, when all ranks have come there. NCCL's kernel waits for the other
 * ranks without a limit, and so does the host for the kernel. */
static cudaError_t launch(const struct subject *s, const struct call *c)
{
    struct request *r = s->self;
    bool empty = r->part.count == 0;
    if (r->exchange == EXCHANGE_NCCL) wait_begin(NULL);
    r->fault.code = many_run(r->scan, empty ? NULL : c->out, empty ? NULL : c->in,
                             r->more_on_device, s->options->inclusive, c->stream, &r->fault);
    return cudaSuccess;
}

static int ended(const struct subject *s, int code, struct fault *fault)
{
    struct request *r = s->self;
    wait_end();
    if (r->fault.code) *fault = r->fault, code = fault->code;
    if (!code) code = many_check(r->scan, fault);
    return ranks_agree(s->ranks, code, fault);
}

/* ---- the result ------------------------------------------------------------------------------ */

static void judge(const struct subject *s, const struct problem *problem, const void *out,
                  struct verdict *verdict)
{
    struct request *r = s->self;
    size_t first_word = r->part.begin * many_element_bytes(r->op) / sizeof(uint32_t);
    uint64_t own = fingerprint_on_host(out, part_bytes(r), first_word);
    struct verdict *all = allocated(malloc((size_t)r->ranks.count * sizeof *all));
    int bytes = (int)sizeof *all;
    judge_part(r, s->options->inclusive, problem->in, out, verdict);
    wait_begin(NULL);
    MPI_Allreduce(&own, &r->checksum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allgather(verdict, bytes, MPI_BYTE, all, bytes, MPI_BYTE, MPI_COMM_WORLD);
    wait_end();
    *verdict = all[0];
    for (int i = 1; i < r->ranks.count; i++) judge_add(verdict, &all[i]);
    free(all);
}

/* The new file, as all ranks know it. */
struct place {
    char name[PATH_MAX];
    off_t start; /* the first element's place */
};

static bool write_part(const struct request *r, const void *from, const struct place *place)
{
    size_t bytes = part_bytes(r);
    FILE *file = fopen(place->name, "r+b");
    if (!file) return false;
    off_t at = place->start + (off_t)(r->part.begin * many_element_bytes(r->op));
    bool written = fseeko(file, at, SEEK_SET) == 0 && fwrite(from, 1, bytes, file) == bytes &&
                   fflush(file) == 0 && fsync(fileno(file)) == 0;
    int error = errno;
    bool closed = fclose(file) == 0;
    if (!written) errno = error;
    return written && closed;
}

/* Rank 0 makes the file, each rank writes its part, and rank 0 completes it, or none of it. */
static int write_parts(const struct subject *s, const struct input *input, const void *out,
                       struct fault *fault)
{
    const struct request *r = s->self;
    const char *path = s->options->output;
    struct output output;
    struct place place = {.start = 0};
    (void)input;
    int code = r->ranks.rank == 0 ? output_begin(&output, path, element_of(r), r->n, fault) : 0;
    bool begun = r->ranks.rank == 0 && !code;
    if (begun) {
        snprintf(place.name, sizeof place.name, "%s", replacement_name(&output.replacement));
        place.start = ftell(output.file); /* after the header, which is written at the end */
    }
    code = ranks_agree(s->ranks, code, fault);
    if (code) return code;
    MPI_Bcast(&place, (int)sizeof place, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (!write_part(r, out, &place))
        code = fail(fault, EXIT_USAGE, "cannot write %s: %s.", path, strerror(errno));
    code = ranks_agree(s->ranks, code, fault);
    if (begun && code) output_abandon(&output);
    if (begun && !code) code = output_end(&output, fault);
    return ranks_agree(s->ranks, code, fault);
}

/* ---- the report ------------------------------------------------------------------------------ */

/* Do the bits of the result depend on the number of ranks? */
static bool depends(const struct request *r)
{
    return r->exchange == EXCHANGE_EXSCAN && element_is_real(element_of(r));
}

/* The kernels read each input twice, and write each result once. */
static void describe(const struct subject *s, size_t n, struct description *d)
{
    const struct request *r = s->self;
    double arrays = is_affine(r) ? 2 : 1, bytes = (double)r->n * (double)many_element_bytes(r->op);
    (void)n;
    d->n = r->n;
    d->least_bytes = (arrays + 1) * bytes;
    d->moved_bytes = (2 * arrays + 1) * bytes;
    snprintf(d->variant, sizeof d->variant, "%s, %s", is_affine(r) ? "affine (h = a h + b)" : "sum",
             s->options->inclusive ? "inclusive" : "exclusive");
    snprintf(d->result, sizeof d->result, "checksum %016llx, %s", (unsigned long long)r->checksum,
             depends(r) ? "of bits that depend on the number of ranks"
                        : "the same for any number of ranks");
    if (is_affine(r) && !s->options->input)
        snprintf(d->input, sizeof d->input, "%s pair%s of floats, random reals, seed %llu",
                 format_count(r->n).s, plural(r->n), (unsigned long long)s->options->seed);
}

static void print_rows(FILE *to, const struct request *r)
{
    static const char *const how[] = {
        [EXCHANGE_MPI] = "MPI_Allgather of the nodes' sums, through the host's memory",
        [EXCHANGE_NCCL] = "ncclAllGather of the nodes' sums, from GPU to GPU",
        [EXCHANGE_PEER] = "GPUs store the nodes' sums into each other's memory",
        [EXCHANGE_EXSCAN] = "MPI_Exscan of one sum per rank, through the host's memory"};
    const struct surroundings *a = &r->around;
    struct many_shape shape = many_shape_of(r->n);
    size_t least = r->n, most = 0;
    for (int rank = 0; rank < a->ranks; rank++) {
        size_t count = many_part_of(r->n, a->ranks, rank).count;
        if (count < least) least = count;
        if (count > most) most = count;
    }
    report_row(to, "ranks",
               "%d on %d machine%s, with %d %sGPU%s%s; launches and counters are rank 0's",
               a->ranks, a->machines, plural((uint64_t)a->machines), a->gpus,
               a->emulated ? "emulated " : "", plural((uint64_t)a->gpus),
               a->alike ? "" : ", not all like rank 0's");
    report_row(to, "parts", "%s to %s elements per rank; the tree has %s node%s of at most %s",
               format_count(least).s, format_count(most).s, format_count(shape.nodes).s,
               plural(shape.nodes), format_count(shape.node_tiles * MANY_TILE).s);
    report_row(to, "exchange", "%s: %s", exchange_names[r->exchange], how[r->exchange]);
}

/*
 * Keys of the record that only step 17 has (report.h has the others):
 *   op, second               sum or affine; the file of b
 *   ranks, machines, gpus    numbers of ranks, of machines, and of different GPUs
 *   exchange                 mpi, nccl, peer or exscan
 *   checksum                 of all bits of the result, as 16 hexadecimal digits; null if it is not
 *                            verified
 *   checksum_of_ranks        true if other numbers of ranks may have other bits
 */
static void report(const struct subject *s, FILE *to, struct record *record)
{
    const struct request *r = s->self;
    char checksum[20];
    if (!record) {
        print_rows(to, r);
        return;
    }
    snprintf(checksum, sizeof checksum, "%016llx", (unsigned long long)r->checksum);
    record_text(record, "op", "%s", is_affine(r) ? "affine" : "sum");
    record_known_text(record, r->second, "second", r->second);
    record_integer(record, "ranks", (uint64_t)r->ranks.count);
    record_integer(record, "machines", (uint64_t)r->around.machines);
    record_integer(record, "gpus", (uint64_t)r->around.gpus);
    record_text(record, "exchange", "%s", exchange_names[r->exchange]);
    record_known_text(record, s->options->verify == VERIFY_FULL, "checksum", checksum);
    record_bool(record, "checksum_of_ranks", depends(r));
}

/* ---- the descriptor -------------------------------------------------------------------------- */

static const char *const unused[] = {"offset", "trace", "in-place", "levels", "quiz", NULL};

static const struct verbs verbs = {
    .open = open_request,
    .close = close_request,
    .join = ranks_join,
    .plan = plan,
    .input = input,
    .needs = needs,
    .launch = launch,
    .ended = ended,
    .judge = judge,
    .write = write_parts,
    .describe = describe,
    .report = report,
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
    .options = options,
    .verbs = &verbs,
};
