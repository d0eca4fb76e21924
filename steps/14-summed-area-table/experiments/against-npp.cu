/*
 * against-npp: step 14 compared with NVIDIA's NPP and with a copy, and the times of the document's
 * phases.
 *
 * What it shows: tables of a grey picture of 8 bits, by NPP's nppiIntegral_8u32s_C1R_Ctx and by the
 * fast variant. Beside them run copies that move as many bytes as such a table has to (5 a pixel),
 * and "traffic": two kernels with the loads and stores of the fast variant's first and third, which
 * add nothing. For a picture of RGB it times the columns of the document's table of times:
 * de-interleave and interleave, transpose, and the six scans. All results are checked. Wrong
 * entries of NPP's are printed, modulo 2^32, and those of this step are an error.
 * NPP is looked for when the program runs (libnppist.so of CUDA 12 or 13, in LD_LIBRARY_PATH), so
 * it is built without it. The emulator cannot run NPP.
 * In README: fast and NPP at grey 4096x4096: 4096 x 4096 pixels, grey.
 * How to run it: make experiment-14-against-npp
 */
#include "common/experiment/experiment.h"
#include "common/harness/run/device.h"
#include "common/harness/verify/verify.h"
#include "steps/14-summed-area-table/step14.h"

#include <dlfcn.h>
#include <stdlib.h>

/* ---- NPP ------------------------------------------------------------------------------------- */

/* Declared as in NPP's headers. */
struct npp_size {
    int width, height;
};

struct npp_context {
    cudaStream_t stream;
    int device, multiprocessors, threads_per_multiprocessor, threads_per_block;
    size_t shared_per_block;
    int major, minor;
    unsigned flags;
    int reserved;
};

typedef int npp_integral(const uint8_t *, int step, int32_t *, int out_step, npp_size,
                         int32_t value, npp_context);

/* Loads NPP's function; NULL: NPP is not installed. */
static npp_integral *find_npp(void)
{
    static const char *const names[] = {"libnppist.so.13", "libnppist.so.12", "libnppist.so"};
    for (const char *name : names) {
        void *library = dlopen(name, RTLD_NOW);
        void *found = library ? dlsym(library, "nppiIntegral_8u32s_C1R_Ctx") : NULL;
        if (found) return (npp_integral *)found;
    }
    return NULL;
}

static int fill_context(npp_context *context, cudaStream_t stream, struct fault *fault)
{
    cudaDeviceProp about;
    *context = {};
    CUDA_CHECK(fault, cudaGetDevice(&context->device));
    CUDA_CHECK(fault, cudaGetDeviceProperties(&about, context->device));
    CUDA_CHECK(fault, cudaStreamGetFlags(stream, &context->flags));
    context->stream = stream;
    context->multiprocessors = about.multiProcessorCount;
    context->threads_per_multiprocessor = about.maxThreadsPerMultiProcessor;
    context->threads_per_block = about.maxThreadsPerBlock;
    context->shared_per_block = about.sharedMemPerBlock;
    context->major = about.major;
    context->minor = about.minor;
    return 0;
}

/* ---- what is compared ------------------------------------------------------------------------ */

/* A picture, its tables, and one operation on them. */
struct job {
    request asked; // its size, samples and variant
    uint8_t *pixels;
    void *table, *workspace;
    size_t bytes; /* of the workspace */
    npp_integral *npp;
    npp_context context;
    phase only;
    copy_fn *copy;
    size_t copied;
};

static cudaError_t run_npp(void *context, cudaStream_t)
{
    job *j = (job *)context;
    npp_size size = {(int)j->asked.size.width, (int)j->asked.size.height};
    int row = (size.width + 1) * (int)sizeof(int32_t);
    int error = j->npp(j->pixels, size.width, (int32_t *)j->table, row, size, 0, j->context);
    return error ? cudaErrorUnknown : cudaSuccess;
}

static cudaError_t run_fast(void *context, cudaStream_t stream)
{
    job *j = (job *)context;
    return sat_u8(j->workspace, &j->bytes, (uint32_t *)j->table, j->pixels, j->asked.size, stream);
}

static cudaError_t run_document(void *context, cudaStream_t stream)
{
    job *j = (job *)context;
    return sat_document_table((float *)j->table, j->pixels, &j->asked, j->workspace, stream);
}

static cudaError_t run_phase(void *context, cudaStream_t stream)
{
    job *j = (job *)context;
    return sat_document_phase(j->only, (float *)j->table, j->pixels, &j->asked, j->workspace,
                              stream);
}

static cudaError_t run_copy(void *context, cudaStream_t stream)
{
    job *j = (job *)context;
    return j->copy(j->table, j->workspace, j->copied, stream);
}

/* ---- the fast variant's loads and stores, without sums --------------------------------------- */

#define STRIP_WORDS 128 /* of four pixels: a warp's part of a row */
#define STRIP_ROWS  32
#define STRIP_WARPS 4
#define STRIP_AHEAD 8

/* The word of its strip's first row that the calling lane loads first. */
static __device__ size_t first_word(size_t words)
{
    size_t strip = (size_t)blockIdx.x * STRIP_WARPS + threadIdx.x / 32;
    size_t in_row = words / STRIP_WORDS;
    return strip / in_row * STRIP_ROWS * words + strip % in_row * STRIP_WORDS + threadIdx.x % 32;
}

static __device__ void load_rows(uint32_t to[STRIP_AHEAD][STRIP_WORDS / 32], const uint32_t *from,
                                 size_t words)
{
#pragma unroll
    for (int r = 0; r < STRIP_AHEAD; r++)
#pragma unroll
        for (int g = 0; g < STRIP_WORDS / 32; g++) to[r][g] = from[r * words + g * 32];
}

/* Loads a picture of `words` words a row. The store is never made; it keeps the loads. */
static __global__ void load_strips(uint32_t *table, const uint32_t *pixels, size_t words)
{
    size_t at = first_word(words);
    uint32_t any = 0, v[STRIP_AHEAD][STRIP_WORDS / 32];
    for (int row = 0; row < STRIP_ROWS; row += STRIP_AHEAD) {
        load_rows(v, pixels + at + row * words, words);
        for (int r = 0; r < STRIP_AHEAD; r++)
            for (int g = 0; g < STRIP_WORDS / 32; g++) any |= v[r][g];
    }
    if (words == 0) *table = any;
}

/* Loads it again, and stores four words for each. */
static __global__ void store_strips(uint4 *table, const uint32_t *pixels, size_t words)
{
    size_t at = first_word(words);
    uint32_t v[STRIP_AHEAD][STRIP_WORDS / 32];
    for (int row = 0; row < STRIP_ROWS; row += STRIP_AHEAD) {
        load_rows(v, pixels + at + row * words, words);
#pragma unroll
        for (int r = 0; r < STRIP_AHEAD; r++)
#pragma unroll
            for (int g = 0; g < STRIP_WORDS / 32; g++) {
                uint32_t w = v[r][g];
                __stcg(table + at + (row + r) * words + g * 32, make_uint4(w, w, w, w));
            }
    }
}

/* Pictures whose sides are multiples of a strip's. */
static bool has_strips(sat_size size)
{
    return size.width % (4 * STRIP_WORDS * STRIP_WARPS) == 0 && size.height % STRIP_ROWS == 0;
}

static cudaError_t run_traffic(void *context, cudaStream_t stream)
{
    job *j = (job *)context;
    size_t words = j->asked.size.width / 4;
    size_t strips = words / STRIP_WORDS * (j->asked.size.height / STRIP_ROWS);
    const uint32_t *pixels = (const uint32_t *)j->pixels;
    unsigned blocks = (unsigned)(strips / STRIP_WARPS);
    load_strips<<<blocks, STRIP_WARPS * 32, 0, stream>>>((uint32_t *)j->table, pixels, words);
    CUDA_TRY(cudaGetLastError());
    store_strips<<<blocks, STRIP_WARPS * 32, 0, stream>>>((uint4 *)j->table, pixels, words);
    return cudaGetLastError();
}

/* ---- results --------------------------------------------------------------------------------- */

/* NPP's table has an additional row and column of zeros. Entries that differ are printed and are
 * not an error of this program. */
static int check_npp(struct experiment *e, const job *j, const double *want, struct fault *fault)
{
    sat_size size = j->asked.size;
    size_t row = size.width + 1, entries = row * (size.height + 1), wrong = 0;
    uint32_t *got = (uint32_t *)malloc(entries * 4);
    if (!got) return fail(fault, EXIT_USAGE, "no memory left for NPP's table.");
    CUDA_CHECK(fault, cudaMemcpy(got, j->table, entries * 4, cudaMemcpyDeviceToHost));
    for (size_t y = 0; y < size.height; y++)
        for (size_t x = 0; x < size.width; x++)
            wrong += got[(y + 1) * row + x + 1] != (uint32_t)(uint64_t)want[y * size.width + x];
    free(got);
    snprintf(e->variant, sizeof e->variant, "NPP");
    experiment_value(e, "entries_wrong", (double)wrong, "");
    return 0;
}

static int check_own(const job *j, const uint8_t *pixels, struct fault *fault)
{
    size_t bytes = sat_table_bytes(&j->asked);
    void *table = malloc(bytes);
    struct verdict verdict = {};
    verdict.right = true;
    if (!table) return fail(fault, EXIT_USAGE, "no memory left for a table.");
    CUDA_CHECK(fault, cudaMemcpy(table, j->table, bytes, cudaMemcpyDeviceToHost));
    sat_judge(&verdict, &j->asked, pixels, table);
    free(table);
    if (!verdict.right)
        return fail(fault, EXIT_WRONG, "variant %d: %zu entries are wrong.", (int)j->asked.variant,
                    verdict.wrong);
    return 0;
}

/* Runs the operation once and waits for it. */
static int run_once(struct experiment *e, run_fn *work, job *j, struct fault *fault)
{
    CUDA_CHECK(fault, work(j, e->timer.stream));
    CUDA_CHECK(fault, cudaDeviceSynchronize());
    return 0;
}

static int check_npp_once(struct experiment *e, job *j, const uint8_t *pixels, struct fault *fault)
{
    double *want = (double *)malloc(j->asked.size.width * j->asked.size.height * sizeof *want);
    if (!want) return fail(fault, EXIT_USAGE, "no memory left for the reference.");
    sat_reference(want, pixels, ELEMENT_I8, j->asked.size, false);
    int code = run_once(e, run_npp, j, fault);
    if (!code) code = check_npp(e, j, want, fault);
    free(want);
    return code;
}

/* ---- one size -------------------------------------------------------------------------------- */

/* Memory for the grey and for the RGB picture: pixels, tables, workspaces. */
struct memory {
    uint8_t *host, *pixels;
    void *table, *workspace;
};

/* NPP reads rows in vectors, and so beyond the end of the last row. */
#define BEHIND 256

static int allocate(memory *m, size_t side, struct fault *fault)
{
    size_t count = 3 * side * side, document = sat_document_workspace({side, side, 3});
    size_t table = 4 * sizeof(float) * side * side; // the document's
    uint32_t state = 1;
    m->host = (uint8_t *)malloc(count);
    if (!m->host) return fail(fault, EXIT_USAGE, "no memory left for a picture.");
    for (size_t i = 0; i < count; i++)
        m->host[i] = (uint8_t)((state = state * 1664525 + 1013904223) >> 24);
    CUDA_CHECK(fault, cudaMalloc(&m->pixels, count + BEHIND));
    CUDA_CHECK(fault, cudaMalloc(&m->table, table + BEHIND));
    CUDA_CHECK(fault, cudaMalloc(&m->workspace, document));
    CUDA_CHECK(fault, cudaMemcpy(m->pixels, m->host, count, cudaMemcpyHostToDevice));
    return 0;
}

static void release(memory *m)
{
    free(m->host);
    cudaFree(m->pixels);
    cudaFree(m->table);
    cudaFree(m->workspace);
}

static job make_job(const memory *m, size_t side, unsigned channels, variant variant)
{
    job j = {};
    j.asked.variant = variant, j.asked.element = ELEMENT_I8;
    j.asked.size = {side, side, channels};
    j.pixels = m->pixels, j.table = m->table, j.workspace = m->workspace;
    sat_u8(NULL, &j.bytes, NULL, NULL, j.asked.size, NULL);
    return j;
}

/* The grey picture: NPP, this step, and copies of 2.5 bytes per pixel, which move 5. */
static int compare_grey(struct experiment *e, const memory *m, size_t side, npp_integral *npp,
                        struct fault *fault)
{
    job own = make_job(m, side, 1, FAST), other = own, copies[ROOF_WAYS];
    experiment_work works[3 + ROOF_WAYS];
    size_t count = 0;
    int code = run_once(e, run_fast, &own, fault);
    if (!code) code = check_own(&own, m->host, fault);
    other.npp = npp;
    if (!code && npp) code = fill_context(&other.context, e->timer.stream, fault);
    if (!code && npp) code = check_npp_once(e, &other, m->host, fault);
    works[count++] = {"fast", NULL, run_fast, &own, 0};
    if (npp) works[count++] = {"NPP", NULL, run_npp, &other, 0};
    if (has_strips(own.asked.size)) works[count++] = {"traffic", NULL, run_traffic, &own, 0};
    for (int way = 0; way < ROOF_WAYS; way++) {
        copies[way] = own;
        copies[way].copy = roof_ways[way].copy;
        copies[way].copied = side * side * 5 / 2;
        works[count++] = {roof_ways[way].name, NULL, run_copy, &copies[way], 0};
    }
    return code ? code : experiment_side_by_side(e, works, count, fault);
}

/* The document's phases for an RGB picture. */
static int compare_phases(struct experiment *e, const memory *m, size_t side, struct fault *fault)
{
    static const char *const names[PHASES] = {"de-interleave", "scan rows", "transpose",
                                              "scan columns", "interleave"};
    job jobs[PHASES + 3];
    experiment_work works[PHASES + 3];
    for (job &j : jobs) j = make_job(m, side, 3, DOCUMENT);
    int code = 0;
    for (int shuffle = 0; shuffle < 2 && !code; shuffle++) {
        job &whole = jobs[PHASES + shuffle];
        whole.asked.variant = shuffle ? SHUFFLE : DOCUMENT;
        code = run_once(e, run_document, &whole, fault);
        if (!code) code = check_own(&whole, m->host, fault);
        works[PHASES + shuffle] = {shuffle ? "document-shuffle" : "document", NULL, run_document,
                                   &whole, 0};
    }
    for (int p = 0; p < PHASES; p++) {
        jobs[p].only = (phase)p;
        works[p] = {names[p], NULL, run_phase, &jobs[p], 0};
    }
    jobs[PHASES + 2].asked.variant = SHUFFLE;
    works[PHASES + 2] = {"de-interleave by shuffles", NULL, run_phase, &jobs[PHASES + 2], 0};
    return code ? code : experiment_side_by_side(e, works, PHASES + 3, fault);
}

static int compare(struct experiment *e, size_t side, npp_integral *npp, struct fault *fault)
{
    memory m = {};
    int code = allocate(&m, side, fault);
    experiment_at(e, "", "grey %zux%zu", side, side);
    if (!code) code = compare_grey(e, &m, side, npp, fault);
    experiment_at(e, "", "RGB %zux%zu", side, side);
    if (!code) code = compare_phases(e, &m, side, fault);
    release(&m);
    return code;
}

static int run(struct experiment *e, struct fault *fault)
{
    e->lesson = "`fast` takes up to 2.5 times as long as a copy when small, and less than "
                "twice when large.";
    static const size_t on_gpu[] = {256, 512, 1024, 4096, 8192}, emulated[] = {64, 96};
    npp_integral *npp = e->emulated ? NULL : find_npp();
    size_t count = e->emulated ? 2 : 5;
    int code = 0;
    experiment_at(e, "NPP", "library");
    experiment_value(e, "found", npp != NULL, "");
    for (size_t i = 0; i < count && !code; i++)
        code = compare(e, e->emulated ? emulated[i] : on_gpu[i], npp, fault);
    return code;
}

int main(int argc, char **argv)
{
    return experiment_main("14-against-npp",
                           "Summed-area tables compared with NPP and a copy, by phases", run, argc,
                           argv);
}
