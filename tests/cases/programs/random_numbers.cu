/* random_numbers.cu — cuRAND's host interface. The sequences begin with published numbers, and are
 * those of NVIDIA's library for the host (curandCreateGeneratorHost of cuRAND 10.4), by a checksum.
 * On a GPU (run.sh native) the program says whether NVIDIA's generators there write the same. */
#include "check.cuh"

#include <cstring>
#include <curand.h>

#define RAND(call) EXPECT((call) == CURAND_STATUS_SUCCESS)

static const unsigned long long SEED = 20260229;

static curandGenerator_t make(curandRngType_t type, unsigned long long seed = SEED)
{
    curandGenerator_t generator;
    RAND(curandCreateGenerator(&generator, type));
    if (type < CURAND_RNG_QUASI_DEFAULT) RAND(curandSetPseudoRandomGeneratorSeed(generator, seed));
    return generator;
}

/* n numbers of a new generator. */
template <typename T, typename... A>
static std::vector<T> numbers(curandStatus_t generate(curandGenerator_t, T *, size_t, A...),
                              curandGenerator_t generator, size_t n, A... arguments)
{
    T *device = device_array<T>(n);
    RAND(generate(generator, device, n, arguments...));
    std::vector<T> host = host_copy(device, n);
    CUDA(cudaFree(device));
    RAND(curandDestroyGenerator(generator));
    return host;
}

/* ---- published numbers ----------------------------------------------------------------------- */

static void try_published()
{
    /* The first known answer of Random123 for Philox4x32-10: key and counter 0. */
    std::vector<unsigned> philox =
        numbers(curandGenerate, make(CURAND_RNG_PSEUDO_PHILOX4_32_10, 0), 4);
    expect_same("Philox", philox,
                std::vector<unsigned>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});

    /* MRG32k3a from 12345, …: the first numbers that L'Ecuyer prints. A thread's second number
     * comes after the first ones of all threads. (cuRAND's factor differs in the tenth digit.) */
    std::vector<double> mrg =
        numbers(curandGenerateUniformDouble, make(CURAND_RNG_PSEUDO_MRG32K3A, 0), 81921);
    EXPECT(fabs(mrg[0] - 0.127011122046577) < 1e-9 && fabs(mrg[81920] - 0.318527565396795) < 1e-9);

    /* XORWOW as Marsaglia defines it, from the state that cuRAND makes of the seed. */
    unsigned low = ((unsigned)SEED ^ 0xaad26b49) * 1099087573u, high = 0xf7dcefddu * 2591861531u;
    unsigned x = 123456789 + low, y = 362436069 ^ low, z = 521288629 + high, w = 88675123 ^ high,
             v = 5783321 + low, d = 6615241 + low + high;
    std::vector<unsigned> xorwow =
        numbers(curandGenerate, make(CURAND_RNG_PSEUDO_DEFAULT), 4 * 4096);
    for (int i = 0; i < 4; i++) {
        unsigned t = x ^ (x >> 2);
        x = y, y = z, z = w, w = v;
        v = (v ^ (v << 4)) ^ (t ^ (t << 1));
        d += 362437;
        EXPECT(xorwow[i * 4096] == v + d);
    }

    /* Sobol: the first points in three dimensions. */
    curandGenerator_t sobol = make(CURAND_RNG_QUASI_DEFAULT);
    RAND(curandSetQuasiRandomGeneratorDimensions(sobol, 3));
    std::vector<float> points = numbers(curandGenerateUniform, sobol, 15);
    std::vector<double> expected = {0,   .5,   .75, .25, .375, 0,   .5,  .25,
                                    .75, .375, 0,   .5,  .25,  .75, .625};
    expect_same("Sobol", points, expected, 1e-9);
}

/* ---- checksums of NVIDIA's library ----------------------------------------------------------- */

/* FNV-1a */
template <typename T> static uint64_t checksum(const std::vector<T> &values)
{
    uint64_t sum = 0xcbf29ce484222325u;
    const unsigned char *bytes = (const unsigned char *)values.data();
    for (size_t i = 0; i < values.size() * sizeof(T); i++) sum = (sum ^ bytes[i]) * 0x100000001b3u;
    return sum;
}

static const struct {
    curandRngType_t type;
    size_t n;
    uint64_t words, floats, doubles;
} sequences[] = {
    {CURAND_RNG_PSEUDO_XORWOW, 300006, 0x3be315ea2bab7ef8, 0xace6d57f21db7cc8, 0x491bdaaad8a3c8a2},
    {CURAND_RNG_PSEUDO_MRG32K3A, 300006, 0x8a8d13d99231f60b, 0xb7d8b705f2a28ce2,
     0xf4d3f1697dbd1ac8},
    {CURAND_RNG_PSEUDO_PHILOX4_32_10, 300006, 0x58dd2acd306714e1, 0x7dd4009234b89f44,
     0xe2036f3af62acd12},
    {CURAND_RNG_QUASI_SOBOL32, 21000, 0x4278a1b0c62d0425, 0x84c3ff115f650345, 0x520e51eecc1f60ed}};

static curandGenerator_t again(curandRngType_t type)
{
    curandGenerator_t generator = make(type);
    if (type == CURAND_RNG_QUASI_SOBOL32)
        RAND(curandSetQuasiRandomGeneratorDimensions(generator, 21));
    return generator;
}

static void try_checksums()
{
    for (const auto &s : sequences) {
        std::vector<unsigned> words = numbers(curandGenerate, again(s.type), s.n);
        uint64_t sums[] = {checksum(words),
                           checksum(numbers(curandGenerateUniform, again(s.type), s.n)),
                           checksum(numbers(curandGenerateUniformDouble, again(s.type), s.n))};
        uint64_t expected[] = {s.words, s.floats, s.doubles};
        for (int i = 0; i < 3; i++) {
            if (sums[i] == expected[i]) continue;
            printf("type %d, %s: checksum %llx, not %llx\n", s.type,
                   i == 0   ? "words"
                   : i == 1 ? "floats"
                            : "doubles",
                   (unsigned long long)sums[i], (unsigned long long)expected[i]);
            exit(EXIT_WRONG);
        }

        /* In two parts, and from an offset. */
        curandGenerator_t parts = again(s.type), late = again(s.type);
        unsigned *device = device_array<unsigned>(100007);
        size_t first = s.type == CURAND_RNG_QUASI_SOBOL32 ? 21 : 100007;
        RAND(curandGenerate(parts, device, first));
        RAND(curandGenerate(parts, device, 8190));
        std::vector<unsigned> second = host_copy(device, 8190);
        RAND(curandDestroyGenerator(parts));
        RAND(curandSetGeneratorOffset(late, first == 21 ? 1 : first));
        EXPECT(numbers(curandGenerate, late, 8190) == second);
        for (int i = 0; first != 21 && i < 8190; i++) EXPECT(second[i] == words[first + i]);
        CUDA(cudaFree(device));

        /* A generator of the host writes the same. */
        curandGenerator_t host;
        std::vector<unsigned> there(4200);
        RAND(curandCreateGeneratorHost(&host, s.type));
        if (first == 21)
            RAND(curandSetQuasiRandomGeneratorDimensions(host, 21));
        else
            RAND(curandSetPseudoRandomGeneratorSeed(host, SEED));
        RAND(curandGenerate(host, there.data(), there.size()));
        for (size_t i = 0; i < there.size(); i++)
            EXPECT(there[i] == (first == 21 ? words[i / 200 * 1000 + i % 200] : words[i]));
        RAND(curandDestroyGenerator(host));
    }
}

/* ---- distributions --------------------------------------------------------------------------- */

/* Mean and variance, within 5 standard errors of the mean and of a normal one's variance. */
template <typename T>
static void expect_moments(const char *what, const std::vector<T> &x, double mean, double variance)
{
    double sum = 0, squares = 0, n = (double)x.size();
    for (T value : x) sum += value;
    for (T value : x) squares += (value - sum / n) * (value - sum / n);
    if (fabs(sum / n - mean) <= 5 * sqrt(variance / n) &&
        fabs(squares / n / variance - 1) <= 5 * sqrt(2 / n) + 20 / n)
        return;
    printf("%s: mean %g, variance %g, not %g, %g\n", what, sum / n, squares / n, mean, variance);
    exit(EXIT_WRONG);
}

static void try_distributions(curandRngType_t type)
{
    static const size_t N = 40000;
    std::vector<float> uniform = numbers(curandGenerateUniform, make(type), N);
    for (float u : uniform) EXPECT(u > 0 && u <= 1);
    expect_moments("uniform", uniform, 0.5, 1 / 12.);
    std::vector<float> normal = numbers(curandGenerateNormal, make(type), N, 3.f, 2.f),
                       log_normal = numbers(curandGenerateLogNormal, make(type), N, 3.f, 2.f);
    expect_moments("normal", normal, 3, 4);
    for (size_t i = 0; i < N; i++) EXPECT(fabs(log(log_normal[i]) - normal[i]) < 1e-4);
    std::vector<double> doubles = numbers(curandGenerateNormalDouble, make(type), N, -1., 0.5);
    expect_moments("normal, double", doubles, -1, 0.25);
    std::vector<double> logs = numbers(curandGenerateLogNormalDouble, make(type), N, -1., 0.5);
    for (size_t i = 0; i < N; i++) EXPECT(fabs(log(logs[i]) - doubles[i]) < 1e-9);
    for (double lambda : {0.5, 20., 5000.})
        expect_moments("Poisson", numbers(curandGeneratePoisson, make(type), N, lambda), lambda,
                       lambda);
}

/* Normal numbers by the definition of Box and Muller, from the words of two threads' turns. */
static void try_box_muller()
{
    std::vector<unsigned> w = numbers(curandGenerate, make(CURAND_RNG_PSEUDO_XORWOW), 2 * 4096);
    std::vector<float> normal =
        numbers(curandGenerateNormal, make(CURAND_RNG_PSEUDO_XORWOW), 2 * 4096, 0.f, 1.f);
    for (int i = 0; i < 4096; i++) {
        double radius = sqrt(-2 * log(w[i] * 0x1p-32 + 0x1p-33)),
               angle = 6.283185307179586 * (w[i + 4096] * 0x1p-32 + 0x1p-33);
        EXPECT(fabs(normal[2 * i] - radius * sin(angle)) < 1e-5 &&
               fabs(normal[2 * i + 1] - radius * cos(angle)) < 1e-5);
    }
}

/* ---- streams, errors ------------------------------------------------------------------------- */

static __global__ void negate(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = -x[i];
}

static void try_stream()
{
    static const int N = 1000;
    cudaStream_t stream;
    float *device = device_array<float>(N);
    curandGenerator_t generator = make(CURAND_RNG_PSEUDO_PHILOX4_32_10);
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    RAND(curandSetStream(generator, stream));
    RAND(curandGenerateUniform(generator, device, N));
    negate<<<blocks_for(N, 128), 128, 0, stream>>>(device, N);
    CUDA(cudaGetLastError());
    CUDA(cudaStreamSynchronize(stream));
    std::vector<float> got = host_copy(device, N),
                       expected =
                           numbers(curandGenerateUniform, make(CURAND_RNG_PSEUDO_PHILOX4_32_10), N);
    for (int i = 0; i < N; i++) EXPECT(got[i] == -expected[i]);
    RAND(curandDestroyGenerator(generator));
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaFree(device));
}

static void try_errors()
{
    float *device = device_array<float>(8);
    curandGenerator_t pseudo = make(CURAND_RNG_PSEUDO_DEFAULT),
                      quasi = make(CURAND_RNG_QUASI_DEFAULT);
    EXPECT(curandGenerateNormal(pseudo, device, 7, 0, 1) == CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    RAND(curandGenerateNormal(quasi, device, 7, 0, 1));
    RAND(curandSetQuasiRandomGeneratorDimensions(quasi, 3));
    EXPECT(curandGenerateUniform(quasi, device, 8) == CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    EXPECT(curandSetQuasiRandomGeneratorDimensions(quasi, 0) == CURAND_STATUS_OUT_OF_RANGE);
    EXPECT(curandSetPseudoRandomGeneratorSeed(quasi, 1) == CURAND_STATUS_TYPE_ERROR);
    EXPECT(curandSetQuasiRandomGeneratorDimensions(pseudo, 1) == CURAND_STATUS_TYPE_ERROR);
    EXPECT(curandSetGeneratorOrdering(pseudo, CURAND_ORDERING_QUASI_DEFAULT) ==
           CURAND_STATUS_OUT_OF_RANGE);
    RAND(curandSetGeneratorOrdering(pseudo, CURAND_ORDERING_PSEUDO_BEST));
    EXPECT(curandGenerateUniform(NULL, device, 8) == CURAND_STATUS_NOT_INITIALIZED);
    RAND(curandGenerateUniform(pseudo, device, 0));
    RAND(curandDestroyGenerator(pseudo));
    RAND(curandDestroyGenerator(quasi));
    EXPECT(curandDestroyGenerator(NULL) == CURAND_STATUS_NOT_INITIALIZED);
    EXPECT(curandCreateGenerator(&pseudo, (curandRngType_t)77) == CURAND_STATUS_TYPE_ERROR);
    CUDA(cudaFree(device));
}

static int run()
{
    try_published();
    try_checksums();
    for (const auto &s : sequences) try_distributions(s.type);
    try_box_muller();
    try_stream();
    try_errors();
    return right("four generators, checksums, distributions");
}

PROGRAMS({"random_numbers", run})
