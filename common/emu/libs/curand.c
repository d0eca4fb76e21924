/*
 * curand.c — cuRAND's host interface: generators, and filling memory with their numbers.
 */
#include "curand_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct curandGenerator_st {
    struct stand_in_handle listed; /* must be first */
    curandRngType_t type;
    bool is_host;
    cudaStream_t stream;
    uint64_t seed, offset;
    unsigned dimensions;
    bool is_started;
    union engine *threads; /* of XORWOW and MRG32k3a */
    /* The thread that writes the next item. Of Philox, a thread writes four numbers: `at` counts
     * numbers, and `block` is the one from which the threads go on when all have written. Of Sobol,
     * `at` is the index of the next point. */
    uint64_t at, block;
};

/* ---- generators ------------------------------------------------------------------------------ */

#define NEED_GENERATOR(generator)                                                                  \
    do {                                                                                           \
        if (!stand_in_has(generator)) return CURAND_STATUS_NOT_INITIALIZED;                        \
    } while (0)

static curandStatus_t wrong(curandStatus_t status, const char *name, const char *what)
{
    stand_in_say("%s: %s", name, what);
    return status;
}

static curandStatus_t refuse(const char *name)
{
    if (stand_in_introduce("libcurand.so.10"))
        emu_library_refuse(name, "the emulator's cuRAND has XORWOW, MRG32k3a, Philox4x32-10 and "
                                 "Sobol32 in the default order, by the functions that fill memory; "
                                 "use these, or run the program on a GPU");
    return CURAND_STATUS_TYPE_ERROR;
}

static bool is_quasi(curandGenerator_t g) { return g->type == CURAND_RNG_QUASI_SOBOL32; }

/* How many threads with a state of their own it has. */
static size_t threads_of(curandRngType_t type)
{
    return type == CURAND_RNG_PSEUDO_XORWOW     ? XORWOW_THREADS
           : type == CURAND_RNG_PSEUDO_MRG32K3A ? MRG_THREADS
                                                : 0;
}

static curandStatus_t make(curandGenerator_t *generator, curandRngType_t type, bool is_host)
{
    if (type == CURAND_RNG_PSEUDO_DEFAULT) type = CURAND_RNG_PSEUDO_XORWOW;
    if (type == CURAND_RNG_QUASI_DEFAULT) type = CURAND_RNG_QUASI_SOBOL32;
    curandGenerator_t new = calloc(1, sizeof *new);
    size_t threads = threads_of(type);
    if (new != NULL && threads > 0) new->threads = malloc(threads * sizeof *new->threads);
    if (new == NULL || (threads > 0 && new->threads == NULL)) {
        free(new);
        return CURAND_STATUS_ALLOCATION_FAILED;
    }
    new->type = type;
    new->is_host = is_host;
    new->dimensions = 1;
    stand_in_add(&new->listed);
    *generator = new;
    return CURAND_STATUS_SUCCESS;
}

static curandStatus_t create(const char *name, curandGenerator_t *generator, curandRngType_t type,
                             bool is_host)
{
    if (generator == NULL)
        return wrong(CURAND_STATUS_OUT_OF_RANGE, name, "there is no place for the generator");
    if (!stand_in_introduce("libcurand.so.10") || cudaFree(NULL) != cudaSuccess)
        return CURAND_STATUS_INITIALIZATION_FAILED;
    switch (type) {
    case CURAND_RNG_PSEUDO_DEFAULT:
    case CURAND_RNG_PSEUDO_XORWOW:
    case CURAND_RNG_PSEUDO_MRG32K3A:
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
    case CURAND_RNG_QUASI_DEFAULT:
    case CURAND_RNG_QUASI_SOBOL32: return make(generator, type, is_host);
    case CURAND_RNG_PSEUDO_MTGP32: return refuse("a generator of the type MTGP32");
    case CURAND_RNG_PSEUDO_MT19937: return refuse("a generator of the type MT19937");
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL32:
    case CURAND_RNG_QUASI_SOBOL64:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL64:
        return refuse("a generator of a scrambled or 64-bit Sobol sequence");
    default: return wrong(CURAND_STATUS_TYPE_ERROR, name, "there is no such type of generators");
    }
}

curandStatus_t curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type)
{
    return create(__func__, generator, type, false);
}

curandStatus_t curandCreateGeneratorHost(curandGenerator_t *generator, curandRngType_t type)
{
    return create(__func__, generator, type, true);
}

curandStatus_t curandDestroyGenerator(curandGenerator_t generator)
{
    if (!stand_in_remove(generator)) return CURAND_STATUS_NOT_INITIALIZED;
    free(generator->threads);
    free(generator);
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGetVersion(int *version)
{
    if (version == NULL) return CURAND_STATUS_OUT_OF_RANGE;
    *version = CURAND_VERSION;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGetProperty(libraryPropertyType type, int *value)
{
    static const int values[] = {CURAND_VER_MAJOR, CURAND_VER_MINOR, CURAND_VER_PATCH};
    if (type > PATCH_LEVEL || value == NULL) return CURAND_STATUS_OUT_OF_RANGE;
    *value = values[type];
    return CURAND_STATUS_SUCCESS;
}

/* ---- options --------------------------------------------------------------------------------- */

curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream)
{
    NEED_GENERATOR(generator);
    generator->stream = stream;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                  unsigned long long seed)
{
    NEED_GENERATOR(generator);
    if (is_quasi(generator))
        return wrong(CURAND_STATUS_TYPE_ERROR, __func__, "a quasi-random generator has no seed");
    generator->seed = seed;
    generator->is_started = false;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset)
{
    NEED_GENERATOR(generator);
    generator->offset = offset;
    generator->is_started = false;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t ordering)
{
    NEED_GENERATOR(generator);
    bool is_for_quasi = ordering == CURAND_ORDERING_QUASI_DEFAULT;
    if (is_for_quasi != is_quasi(generator))
        return wrong(CURAND_STATUS_OUT_OF_RANGE, __func__,
                     "the order is not one of this type of generators");
    if (is_for_quasi || ordering == CURAND_ORDERING_PSEUDO_BEST ||
        ordering == CURAND_ORDERING_PSEUDO_DEFAULT)
        return CURAND_STATUS_SUCCESS;
    refuse("an order of random numbers other than the default");
    return CURAND_STATUS_OUT_OF_RANGE;
}

curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator,
                                                       unsigned int dimensions)
{
    NEED_GENERATOR(generator);
    if (!is_quasi(generator))
        return wrong(CURAND_STATUS_TYPE_ERROR, __func__,
                     "a pseudo-random generator has no dimensions");
    if (dimensions == 0 || dimensions > MOST_DIMENSIONS)
        return wrong(CURAND_STATUS_OUT_OF_RANGE, __func__,
                     "the emulator's Sobol sequence has 1 to 21 dimensions");
    generator->dimensions = dimensions;
    generator->is_started = false;
    return CURAND_STATUS_SUCCESS;
}

/* ---- the threads ----------------------------------------------------------------------------- */

/* Sets the threads to where number `offset` of the sequence is the next. */
static void start(curandGenerator_t g)
{
    uint64_t threads = threads_of(g->type);
    if (g->is_started) return;
    g->is_started = true;
    g->at = g->offset;
    if (g->type == CURAND_RNG_PSEUDO_XORWOW) xorwow_start(g->threads, g->seed);
    if (g->type == CURAND_RNG_PSEUDO_MRG32K3A) mrg_start(g->threads, g->seed);
    for (uint64_t i = 0; i < threads && g->offset > i; i++) {
        uint64_t steps = g->offset / threads + (i < g->offset % threads);
        if (g->type == CURAND_RNG_PSEUDO_XORWOW)
            xorwow_skip(&g->threads[i].xorwow, steps);
        else
            mrg_skip(&g->threads[i].mrg, steps);
    }
    if (threads > 0) g->at %= threads;
    g->block = 0;
    if (g->type == CURAND_RNG_PSEUDO_PHILOX4_32_10) {
        g->block = g->offset / (4 * PHILOX_THREADS);
        g->at %= 4 * PHILOX_THREADS;
    }
}

/* Each thread in turn writes an item. */
static void fill_by_threads(curandGenerator_t g, const struct shape *s, void *to, size_t n)
{
    uint64_t threads = threads_of(g->type);
    unsigned words = distribution_words(s->distribution),
             numbers = is_paired(s->distribution) ? 2 : 1;
    for (size_t i = 0; i < n; i += numbers) {
        union engine *engine = &g->threads[g->at];
        uint32_t w[4];
        g->at = (g->at + 1) % threads;
        if (g->type == CURAND_RNG_PSEUDO_MRG32K3A) {
            write_mrg(s, &engine->mrg, to, i);
            continue;
        }
        for (unsigned k = 0; k < words; k++) w[k] = xorwow_next(&engine->xorwow);
        write_words(s, w, to, i);
    }
}

/* A thread writes four numbers, of 32 bits from one block, of 64 bits from two. */
static void fill_by_philox(curandGenerator_t g, const struct shape *s, void *to, size_t n)
{
    unsigned numbers = is_paired(s->distribution) ? 2 : 1,
             each = is_double(s->distribution) ? 2 : 1;
    for (size_t i = 0; i < n; i += numbers) {
        uint32_t words[12];
        unsigned first = (unsigned)(g->at % 4) * each;
        unsigned end = first + distribution_words(s->distribution);
        for (unsigned k = first / 4; 4 * k < end; k++)
            philox_block(g->seed, g->at / 4, g->block + k, words + 4 * k);
        write_words(s, words + first, to, i);
        g->at += numbers;
        if (g->at < 4 * PHILOX_THREADS) continue;
        g->at -= 4 * PHILOX_THREADS;
        g->block += each;
    }
}

static void fill_by_sobol(curandGenerator_t g, const struct shape *s, void *to, size_t n)
{
    size_t each = n / g->dimensions;
    for (unsigned d = 0; d < g->dimensions; d++) {
        uint32_t directions[SOBOL_BITS];
        sobol_directions(d, directions);
        for (size_t i = 0; i < each; i++)
            write_quasi(s, sobol_point(directions, g->at + i), to, d * each + i);
    }
    g->at += each;
}

curandStatus_t curandGenerateSeeds(curandGenerator_t generator)
{
    NEED_GENERATOR(generator);
    start(generator);
    return CURAND_STATUS_SUCCESS;
}

/* ---- filling memory -------------------------------------------------------------------------- */

/* Finds the memory to fill, on the host, or as work in the generator's stream. */
static curandStatus_t begin(curandGenerator_t g, const char *name, void **to, size_t bytes)
{
    if (*to == NULL) return wrong(CURAND_STATUS_OUT_OF_RANGE, name, "the memory is NULL");
    if (g->is_host && stand_in_is_device(*to))
        return wrong(CURAND_STATUS_OUT_OF_RANGE, name,
                     "the memory is the device's, and the generator is the host's; make it by "
                     "curandCreateGenerator");
    if (g->is_host) return CURAND_STATUS_SUCCESS;
    struct emu_area area = {*to, {.bytes = bytes, .rows = 1, .slices = 1}, false, true, NULL};
    if (emu_library_work(g->stream, name, &area, 1) != cudaSuccess)
        return CURAND_STATUS_LAUNCH_FAILURE;
    *to = area.host;
    return CURAND_STATUS_SUCCESS;
}

static curandStatus_t fill(curandGenerator_t g, const char *name, struct shape shape, void *to,
                           size_t n)
{
    double *table = NULL;
    NEED_GENERATOR(g);
    if (is_quasi(g) && n % g->dimensions != 0)
        return wrong(CURAND_STATUS_LENGTH_NOT_MULTIPLE, name,
                     "n is no multiple of the number of dimensions");
    if (!is_quasi(g) && is_paired(shape.distribution) && n % 2 != 0)
        return wrong(CURAND_STATUS_LENGTH_NOT_MULTIPLE, name,
                     "n is odd, and normally distributed numbers are made in pairs");
    if (n == 0) return CURAND_STATUS_SUCCESS;
    curandStatus_t status = begin(g, name, &to, n * distribution_bytes(shape.distribution));
    if (status != CURAND_STATUS_SUCCESS) return status;
    if (shape.distribution == POISSON && (table = poisson_table(&shape)) == NULL)
        return CURAND_STATUS_ALLOCATION_FAILED;
    start(g);
    if (is_quasi(g))
        fill_by_sobol(g, &shape, to, n);
    else if (g->type == CURAND_RNG_PSEUDO_PHILOX4_32_10)
        fill_by_philox(g, &shape, to, n);
    else
        fill_by_threads(g, &shape, to, n);
    free(table);
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int *to, size_t n)
{
    return fill(generator, __func__, (struct shape){.distribution = WORDS}, to, n);
}

curandStatus_t curandGenerateUniform(curandGenerator_t generator, float *to, size_t n)
{
    return fill(generator, __func__, (struct shape){.distribution = UNIFORM}, to, n);
}

curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double *to, size_t n)
{
    return fill(generator, __func__, (struct shape){.distribution = UNIFORM_DOUBLE}, to, n);
}

#define GENERATE(name, T, kind, logarithm)                                                         \
    curandStatus_t name(curandGenerator_t generator, T *to, size_t n, T mean, T deviation)         \
    {                                                                                              \
        return fill(generator, __func__,                                                           \
                    (struct shape){kind, logarithm, mean, deviation, NULL, 0, 0}, to, n);          \
    }
GENERATE(curandGenerateNormal, float, NORMAL, false)
GENERATE(curandGenerateNormalDouble, double, NORMAL_DOUBLE, false)
GENERATE(curandGenerateLogNormal, float, NORMAL, true)
GENERATE(curandGenerateLogNormalDouble, double, NORMAL_DOUBLE, true)

curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned int *to, size_t n,
                                     double lambda)
{
    enum { MOST = 1 << 24 };
    if (!(lambda > 0) || lambda > MOST)
        return wrong(CURAND_STATUS_OUT_OF_RANGE, __func__, "lambda is not in (0, 2^24]");
    return fill(generator, __func__, (struct shape){.distribution = POISSON, .mean = lambda}, to,
                n);
}

#define REFUSED(name)                                                                              \
    curandStatus_t name(void) { return refuse(#name); }
REFUSED(curandGenerateLongLong)
REFUSED(curandGeneratePoissonMethod)
REFUSED(curandCreatePoissonDistribution)
REFUSED(curandDestroyDistribution)
REFUSED(curandGetDirectionVectors32)
REFUSED(curandGetDirectionVectors64)
REFUSED(curandGetScrambleConstants32)
REFUSED(curandGetScrambleConstants64)
