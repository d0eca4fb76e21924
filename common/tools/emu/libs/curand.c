/* curand.c — cuRAND: generators, distributions. */
#include "libs.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- from words to numbers of a distribution ------------------------------------------------- */

/* Uniform numbers are exactly those of cuRAND. Normal ones are made as there (Box and Muller; for
 * quasi-random words the inverse of the distribution function, by Wichura's AS 241), with the C
 * library's functions: the last bits may differ. Poisson's are found in a table of the
 * distribution function, by one uniform number each. */

#define TWO_PI 6.283185307179586

static size_t distribution_bytes(enum distribution d) { return is_double(d) ? 8 : 4; }

/* How many words an item takes, of XORWOW or Philox. */
static unsigned distribution_words(enum distribution d)
{
    return (is_paired(d) ? 2 : 1) * (is_double(d) ? 2 : 1);
}

/* ---- uniform --------------------------------------------------------------------------------- */

/* In (0, 1]. */
static float uniform_float(uint32_t word) { return (float)word * 0x1p-32f + 0x1p-33f; }

static double uniform_double(uint32_t low, uint32_t high)
{
    return (double)((uint64_t)low ^ (uint64_t)high << 21) * 0x1p-53 + 0x1p-54;
}

static double uniform_mrg(struct mrg *g) { return mrg_next(g) * 2.3283065498378288e-10; }

/* ---- normal ---------------------------------------------------------------------------------- */

static double shaped(const struct shape *s, double normal)
{
    double value = s->mean + s->deviation * normal;
    return s->is_log ? exp(value) : value;
}

static float shaped_float(const struct shape *s, float normal)
{
    float value = (float)s->mean + (float)s->deviation * normal;
    return s->is_log ? expf(value) : value;
}

/* `angle` in radians. */
static void write_pair(const struct shape *s, float u, float angle, float *to)
{
    float radius = sqrtf(-2 * logf(u));
    to[0] = shaped_float(s, radius * sinf(angle));
    to[1] = shaped_float(s, radius * cosf(angle));
}

/* `angle` in turns. */
static void write_pair_double(const struct shape *s, double u, double angle, double *to)
{
    double radius = sqrt(-2 * log(u));
    to[0] = shaped(s, radius * sin(angle * TWO_PI));
    to[1] = shaped(s, radius * cos(angle * TWO_PI));
}

static double polynomial(const double *c, int degree, double x)
{
    double sum = c[degree];
    while (degree > 0) sum = sum * x + c[--degree];
    return sum;
}

/* The normal deviate below which a fraction p of all lie. (Wichura, PPND16) */
static double inverse_normal(double p)
{
    /* clang-format off */
    static const double
        a[] = {3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3,
               1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
               3.3430575583588128105e+4, 2.5090809287301226727e+3},
        b[] = {1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2,
               5.3941960214247511077e+3, 2.1213794301586595867e+4, 3.9307895800092710610e+4,
               2.8729085735721942674e+4, 5.2264952788528545610e+3},
        c[] = {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
               3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
               2.27238449892691845833e-2, 7.74545014278341407640e-4},
        d[] = {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0,
               6.89767334985100004550e-1, 1.48103976427480074590e-1, 1.51986665636164571966e-2,
               5.47593808499534494600e-4, 1.05075007164441684324e-9},
        e[] = {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
               2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
               2.71155556874348757815e-5, 2.01033439929228813265e-7},
        f[] = {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1,
               1.48753612908506148525e-2, 7.86869131145613259100e-4, 1.84631831751005468180e-5,
               1.42151175831644588870e-7, 2.04426310338993978564e-15};
    /* clang-format on */
    double q = p - 0.5;
    if (fabs(q) <= 0.425) {
        double r = 0.180625 - q * q;
        return q * polynomial(a, 7, r) / polynomial(b, 7, r);
    }
    double r = sqrt(-log(q < 0 ? p : 1 - p));
    double x = r <= 5 ? polynomial(c, 7, r - 1.6) / polynomial(d, 7, r - 1.6)
                      : polynomial(e, 7, r - 5) / polynomial(f, 7, r - 5);
    return q < 0 ? -x : x;
}

/* ---- Poisson --------------------------------------------------------------------------------- */

/* The values that are at most 12 standard deviations from lambda; beyond lie less than 2^-64. */
static double *poisson_table(struct shape *s)
{
    double reach = 12 * sqrt(s->mean) + 40, sum = 0;
    s->first = s->mean > reach ? (size_t)(s->mean - reach) : 0;
    s->count = (size_t)(s->mean + reach) - s->first + 1;
    double *table = stand_in_kept(malloc(s->count * sizeof *table));
    for (size_t i = 0; i < s->count; i++) {
        double k = (double)(s->first + i);
        sum += exp(k * log(s->mean) - s->mean - lgamma(k + 1));
        table[i] = sum;
    }
    s->cumulated = table;
    return table;
}

static uint32_t poisson(const struct shape *s, double u)
{
    size_t low = 0, high = s->count - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (s->cumulated[middle] >= u)
            high = middle;
        else
            low = middle + 1;
    }
    return (uint32_t)(s->first + low);
}

/* ---- items ----------------------------------------------------------------------------------- */

/* Write one item (two numbers if it is a pair) at index `at`, made of words, of two values of
 * MRG32k3a's, or of one word of a quasi-random generator. */
static void write_words(const struct shape *s, const uint32_t *w, void *to, size_t at)
{
    switch (s->distribution) {
    case WORDS: ((uint32_t *)to)[at] = w[0]; break;
    case UNIFORM: ((float *)to)[at] = uniform_float(w[0]); break;
    case UNIFORM_DOUBLE: ((double *)to)[at] = uniform_double(w[0], w[1]); break;
    case NORMAL:
        write_pair(s, uniform_float(w[0]),
                   (float)w[1] * (0x1p-32f * (float)TWO_PI) + 0x1p-32f * (float)TWO_PI / 2,
                   (float *)to + at);
        break;
    case NORMAL_DOUBLE:
        write_pair_double(s, uniform_double(w[0], w[1]), uniform_double(w[2], w[3]),
                          (double *)to + at);
        break;
    case POISSON: ((uint32_t *)to)[at] = poisson(s, w[0] * 0x1p-32 + 0x1p-33); break;
    }
}

static void write_mrg(const struct shape *s, struct mrg *g, void *to, size_t at)
{
    double u = s->distribution != WORDS ? uniform_mrg(g) : 0;
    switch (s->distribution) {
    case WORDS: ((uint32_t *)to)[at] = (uint32_t)(mrg_next(g) * 1.000000048662); break;
    case UNIFORM: ((float *)to)[at] = (float)u; break;
    case UNIFORM_DOUBLE: ((double *)to)[at] = u; break;
    case NORMAL:
        write_pair(s, (float)u, (float)uniform_mrg(g) * (float)TWO_PI, (float *)to + at);
        break;
    case NORMAL_DOUBLE: write_pair_double(s, u, uniform_mrg(g), (double *)to + at); break;
    case POISSON: ((uint32_t *)to)[at] = poisson(s, u); break;
    }
}

static void write_quasi(const struct shape *s, uint32_t word, void *to, size_t at)
{
    double u = word * 0x1p-32 + 0x1p-33;
    switch (s->distribution) {
    case UNIFORM_DOUBLE: ((double *)to)[at] = word * 0x1p-32 + 0x1p-32; break;
    case NORMAL: ((float *)to)[at] = shaped_float(s, (float)inverse_normal(u)); break;
    case NORMAL_DOUBLE: ((double *)to)[at] = shaped(s, inverse_normal(u)); break;
    default: write_words(s, &word, to, at);
    }
}

/* ---- cuRAND's host interface: generators, and filling memory with their numbers -------------- */

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
    curandGenerator_t new = stand_in_kept(calloc(1, sizeof *new));
    size_t threads = threads_of(type);
    if (threads > 0) new->threads = stand_in_kept(malloc(threads * sizeof *new->threads));
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
    if (shape.distribution == POISSON) table = poisson_table(&shape);
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

#define GENERATE(name, T, kind, logarithm, mean, deviation, ...)                                   \
    curandStatus_t name(curandGenerator_t generator, T *to, size_t n, ##__VA_ARGS__)               \
    {                                                                                              \
        return fill(generator, __func__,                                                           \
                    (struct shape){kind, logarithm, mean, deviation, NULL, 0, 0}, to, n);          \
    }
GENERATE(curandGenerate, unsigned, WORDS, false, 0, 0)
GENERATE(curandGenerateUniform, float, UNIFORM, false, 0, 0)
GENERATE(curandGenerateUniformDouble, double, UNIFORM_DOUBLE, false, 0, 0)
GENERATE(curandGenerateNormal, float, NORMAL, false, m, d, float m, float d)
GENERATE(curandGenerateNormalDouble, double, NORMAL_DOUBLE, false, m, d, double m, double d)
GENERATE(curandGenerateLogNormal, float, NORMAL, true, m, d, float m, float d)
GENERATE(curandGenerateLogNormalDouble, double, NORMAL_DOUBLE, true, m, d, double m, double d)

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
