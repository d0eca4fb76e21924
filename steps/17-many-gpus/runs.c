/* runs.c — runs and times the scan of a rank's part. */
#include "program.h"

#include "parts/exchange.h"
#include "common/step/cuda_check.h"
#include "common/harness/print/print.h"

#include <stdlib.h>
#include <string.h>

#define PIECE ((size_t)1 << 20) /* results on the host at a time */

/* ---- memory ---------------------------------------------------------------------------------- */

static size_t inputs(enum many_op op) { return op == MANY_AFFINE_F32 ? 2 : 1; }

bool part_runs_memory(const struct ranks *r, enum many_op op, enum many_exchange exchange, size_t n,
                      size_t flush, size_t *device, size_t *host)
{
    size_t size = many_element_bytes(op), bytes;
    if (__builtin_mul_overflow(n, 4 * size, &bytes)) return false;
    struct many_part part = many_part_of(n, r->count, r->rank);
    bytes = part.count * size;
    *device = many_bytes(op, exchange, n, r->count, r->rank) + flush +
              (inputs(op) + 1) * buffer_room(bytes, 0);
    *host = inputs(op) * bytes + PIECE * size + (r->emulated ? *device : 0);
    return true;
}

static int make_buffers(struct part_runs *r, struct fault *fault)
{
    size_t bytes = r->part.count * many_element_bytes(r->request->op);
    int code = buffer_make(&r->device_in, bytes, 0, false, "the input", fault);
    if (!code && inputs(r->request->op) == 2)
        code = buffer_make(&r->device_second, bytes, 0, false, "the second input", fault);
    if (!code) code = buffer_make(&r->out, bytes, 0, false, "the result", fault);
    if (code || bytes == 0) return code;
    CUDA_CHECK(fault, buffer_upload(&r->device_in, 0, r->in.data, bytes));
    if (inputs(r->request->op) == 2)
        CUDA_CHECK(fault, buffer_upload(&r->device_second, 0, r->second.data, bytes));
    return 0;
}

int part_runs_open(struct part_runs *r, struct fault *fault)
{
    MPI_Comm comm = r->ranks->comm;
    int code = make_buffers(r, fault);
    if (!code) code = timer_open(&r->timer, false, fault);
    if (!code) code = fingerprinter_open(&r->fingerprinter, false, fault);
    code = agree(comm, code, fault);
    if (!code)
        code =
            many_create(&r->scan, comm, r->request->op, r->exchange, r->n, r->request->wait, fault);
    code = agree(comm, code, fault);
    if (code) part_runs_close(r);
    return code;
}

void part_runs_close(struct part_runs *r)
{
    struct fault fault;
    if (many_destroy(r->scan, &fault)) watch_give_up(&fault);
    r->scan = NULL;
    fingerprinter_close(&r->fingerprinter);
    timer_close(&r->timer);
    buffer_free(&r->out);
    buffer_free(&r->device_second);
    buffer_free(&r->device_in);
}

/* ---- one run --------------------------------------------------------------------------------- */

static cudaError_t launch(void *context, cudaStream_t stream)
{
    struct part_runs *r = context;
    bool empty = r->part.count == 0;
    r->code =
        many_run(r->scan, empty ? NULL : r->out.data, empty ? NULL : r->device_in.data,
                 empty ? NULL : r->device_second.data, r->options->inclusive, stream, &r->fault);
    return r->code ? cudaErrorUnknown : cudaSuccess;
}

/* NCCL's kernel waits for the other ranks without a limit, and so does the host for the kernel. */
static int time_launch(struct part_runs *r, double *seconds, struct fault *fault)
{
    if (r->exchange == EXCHANGE_NCCL) watch_begin_wait();
    int code = timer_once(&r->timer, launch, r, seconds, fault);
    if (r->exchange == EXCHANGE_NCCL) watch_end_wait();
    return code;
}

/* Poisons the output, and times a run from when all ranks are ready. */
static int run_once(struct part_runs *r, double *seconds, struct fault *fault)
{
    cudaError_t error = buffer_poison(&r->out, r->timer.stream);
    if (!error) error = cudaStreamSynchronize(r->timer.stream);
    int code = error ? cuda_fault(fault, error, "filling the output with poison") : 0;
    code = agree(r->ranks->comm, code, fault);
    if (code) return code;
    code = time_launch(r, seconds, fault);
    if (r->code) *fault = r->fault;
    if (!code) code = many_check(r->scan, fault);
    watch_reason(code ? fault : NULL);
    return agree(r->ranks->comm, code, fault);
}

int part_runs_result(const struct part_runs *r, size_t start, size_t count, void *to,
                     struct fault *fault)
{
    size_t size = many_element_bytes(r->request->op);
    if (count) CUDA_CHECK(fault, buffer_download(&r->out, start * size, to, count * size));
    return 0;
}

/* ---- fingerprints ---------------------------------------------------------------------------- */

enum array { ARRAY_IN, ARRAY_SECOND, ARRAY_OUT, ARRAYS };

static int take_marks(struct part_runs *r, uint64_t marks[ARRAYS], struct fault *fault)
{
    const struct span spans[ARRAYS] = {
        [ARRAY_IN] = {r->device_in.base, r->device_in.whole, false},
        [ARRAY_SECOND] = {r->device_second.base, r->device_second.whole, false},
        [ARRAY_OUT] = {r->out.base, r->out.whole, false}};
    return fingerprints(&r->fingerprinter, spans, ARRAYS, r->timer.stream, marks, fault);
}

/* Has a run changed an input, or its surroundings? */
static const char *changed_input(const uint64_t before[ARRAYS], const uint64_t after[ARRAYS])
{
    if (before[ARRAY_IN] != after[ARRAY_IN]) return "the scan wrote to its input, or near it";
    if (before[ARRAY_SECOND] != after[ARRAY_SECOND])
        return "the scan wrote to its second input, or near it";
    return NULL;
}

/* ---- the first run --------------------------------------------------------------------------- */

/* What a rank finds, for rank 0. */
struct found {
    struct verdict verdict;
    char damage[DAMAGE_TEXT];
};

static int check_guards(const struct part_runs *r, struct found *found, struct fault *fault)
{
    cudaError_t error;
    long away = buffer_damage(&r->out, &error);
    if (error) return cuda_fault(fault, error, "reading the surroundings of the output");
    if (away)
        snprintf(found->damage, DAMAGE_TEXT, "the scan wrote %ld byte%s %s the output", labs(away),
                 labs(away) > 1 ? "s" : "", away < 0 ? "before" : "behind");
    return 0;
}

/* The loop's state passes from rank to rank, and comes back as it was before this rank's part. */
static int pass_reference(const struct part_runs *r, struct reference *before, struct fault *fault)
{
    const struct ranks *ranks = r->ranks;
    int bytes = (int)sizeof *before;
    enum many_op op = r->request->op;
    struct reference own = reference_begin();
    *before = reference_begin();
    if (op != MANY_AFFINE_F32) reference_pass(&own, op, r->in.data, r->second.data, r->part.count);
    if (ranks->rank > 0)
        MPI_Recv(before, bytes, MPI_BYTE, ranks->rank - 1, 0, ranks->comm, MPI_STATUS_IGNORE);
    struct reference after = *before;
    if (op == MANY_AFFINE_F32)
        reference_pass(&after, op, r->in.data, r->second.data, r->part.count);
    else
        reference_join(&after, &own);
    if (ranks->rank < ranks->count - 1)
        MPI_Send(&after, bytes, MPI_BYTE, ranks->rank + 1, 0, ranks->comm);
    int code = reference_check(&after, op, fault);
    return agree(ranks->comm, code, fault);
}

/* Reads the results once: for the checksum, and for the judge if there is one. */
static int read_results(const struct part_runs *r, struct judge *judge, uint64_t *checksum,
                        struct fault *fault)
{
    size_t size = many_element_bytes(r->request->op), words = size / sizeof(uint32_t);
    size_t room = r->part.count < PIECE ? r->part.count : PIECE;
    void *piece = allocated(malloc(room ? room * size : 1));
    int code = 0;
    progress_begin(judge ? "verifying" : "reading", r->part.count);
    for (size_t at = 0; at < r->part.count && !code; at += PIECE) {
        size_t left = r->part.count - at, count = left < PIECE ? left : PIECE;
        code = part_runs_result(r, at, count, piece, fault);
        if (code) break;
        *checksum += fingerprint_on_host(piece, count * size, (r->part.begin + at) * words);
        if (judge) judge_piece(judge, piece, count);
        progress_at(at + count);
    }
    progress_end();
    free(piece);
    return code;
}

static double depth_of(const struct part_runs *r)
{
    double more = r->exchange == EXCHANGE_EXSCAN ? (double)r->ranks->count : 0;
    return (double)many_depth(r->n) + more;
}

static int look_at_results(const struct part_runs *r, struct found *found, uint64_t *checksum,
                           struct fault *fault)
{
    bool verify = r->options->verify == VERIFY_FULL;
    struct judge judge = {.op = r->request->op,
                          .inclusive = r->options->inclusive,
                          .first = r->part.begin,
                          .depth = depth_of(r),
                          .in = r->in.data,
                          .in2 = r->second.data};
    struct reference before = reference_begin();
    uint64_t own = 0;
    int code = verify ? pass_reference(r, &before, fault) : 0;
    if (code) return code;
    judge_begin(&judge, &before);
    code = read_results(r, verify ? &judge : NULL, &own, fault);
    if (!code && verify) code = check_guards(r, found, fault);
    code = agree(r->ranks->comm, code, fault);
    found->verdict = judge.verdict;
    if (!code) MPI_Allreduce(&own, checksum, 1, MPI_UINT64_T, MPI_SUM, r->ranks->comm);
    return code;
}

/* ---- timed runs ------------------------------------------------------------------------------ */

/* A run must give the same bits as the first one, and leave the inputs alone. */
static int compare_run(struct part_runs *r, const uint64_t first[ARRAYS], int run,
                       struct found *found, struct fault *fault)
{
    uint64_t marks[ARRAYS];
    int code = take_marks(r, marks, fault);
    if (code || *found->damage) return code;
    const char *changed = changed_input(first, marks);
    if (changed)
        snprintf(found->damage, DAMAGE_TEXT, "timed run %d: %s", run, changed);
    else if (marks[ARRAY_OUT] != first[ARRAY_OUT])
        snprintf(found->damage, DAMAGE_TEXT, "timed run %d gave other bits than the first run",
                 run);
    return 0;
}

static int reps_of(const struct part_runs *r, double once)
{
    double slowest;
    MPI_Allreduce(&once, &slowest, 1, MPI_DOUBLE, MPI_MAX, r->ranks->comm);
    if (r->options->reps != REPS_DEFAULT) return r->options->reps;
    return timing_default_reps(r->ranks->emulated, slowest);
}

static int time_runs(struct part_runs *r, double once, const uint64_t first[ARRAYS],
                     struct found *found, struct timing *timing, struct fault *fault)
{
    int reps = reps_of(r, once), code = 0;
    double *seconds = allocated(calloc(2 * (size_t)reps + 1, sizeof *seconds));
    double *slowest = seconds + reps;
    progress_begin("timed runs", (size_t)reps);
    for (int i = 0; i < reps && !code; i++) {
        code = run_once(r, &seconds[i], fault);
        bool compared = !code && r->options->verify == VERIFY_FULL;
        if (compared) code = compare_run(r, first, i + 1, found, fault);
        if (compared) code = agree(r->ranks->comm, code, fault);
        progress_at((size_t)i + 1);
    }
    progress_end();
    if (!code) {
        MPI_Allreduce(seconds, slowest, reps, MPI_DOUBLE, MPI_MAX, r->ranks->comm);
        timing_summarize(timing, slowest, reps);
    }
    free(seconds);
    return code;
}

/* ---- all ranks together ---------------------------------------------------------------------- */

static void add_verdict(struct outcome17 *o, const struct found *f, int rank)
{
    struct verdict *all = &o->verdict;
    const struct verdict *v = &f->verdict;
    bool right = v->right && !*f->damage;
    if (!right && o->right) {
        o->right = false;
        o->wrong_rank = rank;
        strcpy(o->damage, f->damage);
        memcpy(all->first, v->first, sizeof all->first);
        all->shown = v->shown;
    }
    all->right = all->right && v->right;
    all->exact = all->exact && v->exact;
    all->checked += v->checked;
    all->wrong += v->wrong;
    if (v->worst > all->worst) all->worst = v->worst;
    if (v->bound > all->bound) all->bound = v->bound;
    if (v->least < all->least) all->least = v->least;
}

static void collect(const struct part_runs *r, const struct found *found, struct outcome17 *o)
{
    int ranks = r->ranks->count, bytes = (int)sizeof *found;
    struct found *all = allocated(malloc((size_t)ranks * sizeof *all));
    MPI_Allgather(found, bytes, MPI_BYTE, all, bytes, MPI_BYTE, r->ranks->comm);
    o->right = true;
    o->verdict = (struct verdict){.right = true, .exact = true, .least = all[0].verdict.least};
    for (int i = 0; i < ranks; i++) add_verdict(o, &all[i], i);
    free(all);
}

int part_runs_do(struct part_runs *r, struct outcome17 *o, struct fault *fault)
{
    struct found found = {.verdict = {.right = true}};
    uint64_t before[ARRAYS], first[ARRAYS];
    double once;
    *o = (struct outcome17){.right = true};
    int code = take_marks(r, before, fault);
    code = agree(r->ranks->comm, code, fault);
    progress_begin(r->ranks->emulated ? "emulating" : "running", 0);
    if (!code) code = run_once(r, &once, fault);
    progress_end();
    if (!code) code = look_at_results(r, &found, &o->checksum, fault);
    if (code) return code;
    code = take_marks(r, first, fault);
    const char *changed = changed_input(before, first);
    if (!code && changed) snprintf(found.damage, DAMAGE_TEXT, "%s", changed);
    code = agree(r->ranks->comm, code, fault);
    if (!code) code = time_runs(r, once, first, &found, &o->timing, fault);
    if (!code) collect(r, &found, o);
    return code;
}
