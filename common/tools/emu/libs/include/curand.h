/* curand.h — what the emulator offers of cuRAND's host interface. It is not NVIDIA's header: it
 * declares the functions of the emulator's libcurand.so.10 by the names, parameters and values that
 * NVIDIA documents. A toolkit's own header, where there is one, serves as well. */
#ifndef CURAND_H_
#define CURAND_H_

#include <cuda_runtime_api.h>
#include <library_types.h>
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef enum curandStatus {
    CURAND_STATUS_SUCCESS = 0,
    CURAND_STATUS_VERSION_MISMATCH = 100,
    CURAND_STATUS_NOT_INITIALIZED = 101,
    CURAND_STATUS_ALLOCATION_FAILED = 102,
    CURAND_STATUS_TYPE_ERROR = 103,
    CURAND_STATUS_OUT_OF_RANGE = 104,
    CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
    CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
    CURAND_STATUS_LAUNCH_FAILURE = 201,
    CURAND_STATUS_PREEXISTING_FAILURE = 202,
    CURAND_STATUS_INITIALIZATION_FAILED = 203,
    CURAND_STATUS_ARCH_MISMATCH = 204,
    CURAND_STATUS_INTERNAL_ERROR = 999
} curandStatus_t;

typedef enum curandRngType {
    CURAND_RNG_TEST = 0,
    CURAND_RNG_PSEUDO_DEFAULT = 100, /* XORWOW */
    CURAND_RNG_PSEUDO_XORWOW = 101,
    CURAND_RNG_PSEUDO_MRG32K3A = 121,
    CURAND_RNG_PSEUDO_MTGP32 = 141,  /* refused */
    CURAND_RNG_PSEUDO_MT19937 = 142, /* refused */
    CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
    CURAND_RNG_QUASI_DEFAULT = 200, /* SOBOL32 */
    CURAND_RNG_QUASI_SOBOL32 = 201,
    CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 = 202, /* refused, as the next two */
    CURAND_RNG_QUASI_SOBOL64 = 203,
    CURAND_RNG_QUASI_SCRAMBLED_SOBOL64 = 204
} curandRngType_t;

typedef enum curandOrdering {
    CURAND_ORDERING_PSEUDO_BEST = 100,
    CURAND_ORDERING_PSEUDO_DEFAULT = 101,
    CURAND_ORDERING_PSEUDO_SEEDED = 102, /* refused, as the next two */
    CURAND_ORDERING_PSEUDO_LEGACY = 103,
    CURAND_ORDERING_PSEUDO_DYNAMIC = 104,
    CURAND_ORDERING_QUASI_DEFAULT = 201
} curandOrdering_t;

typedef struct curandGenerator_st *curandGenerator_t;

#define CURAND_VER_MAJOR 10
#define CURAND_VER_MINOR 4
#define CURAND_VER_PATCH 0
#define CURAND_VERSION   (CURAND_VER_MAJOR * 1000 + CURAND_VER_MINOR * 100 + CURAND_VER_PATCH)

/* Generators that write to device memory, in a stream; and to memory of the host. */
curandStatus_t curandCreateGenerator(curandGenerator_t *, curandRngType_t);
curandStatus_t curandCreateGeneratorHost(curandGenerator_t *, curandRngType_t);
curandStatus_t curandDestroyGenerator(curandGenerator_t);
curandStatus_t curandGetVersion(int *version);
curandStatus_t curandGetProperty(libraryPropertyType, int *value);
curandStatus_t curandSetStream(curandGenerator_t, cudaStream_t);
/* Both begin the sequence anew, at the offset. */
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t, unsigned long long seed);
curandStatus_t curandSetGeneratorOffset(curandGenerator_t, unsigned long long offset);
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t, curandOrdering_t);
/* At most 21 dimensions, where NVIDIA's has 20 000. */
curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t, unsigned int dimensions);
curandStatus_t curandGenerateSeeds(curandGenerator_t);

/* n numbers: words, floats in (0, 1], normally and log-normally distributed ones (of a
 * pseudo-random generator an even number), Poisson-distributed ones. A quasi-random generator
 * writes all numbers of one dimension, then those of the next. */
curandStatus_t curandGenerate(curandGenerator_t, unsigned int *, size_t n);
curandStatus_t curandGenerateUniform(curandGenerator_t, float *, size_t n);
curandStatus_t curandGenerateUniformDouble(curandGenerator_t, double *, size_t n);
curandStatus_t curandGenerateNormal(curandGenerator_t, float *, size_t n, float mean,
                                    float deviation);
curandStatus_t curandGenerateNormalDouble(curandGenerator_t, double *, size_t n, double mean,
                                          double deviation);
curandStatus_t curandGenerateLogNormal(curandGenerator_t, float *, size_t n, float mean,
                                       float deviation);
curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t, double *, size_t n, double mean,
                                             double deviation);
curandStatus_t curandGeneratePoisson(curandGenerator_t, unsigned int *, size_t n, double lambda);

/* Refused. */
#ifdef __cplusplus
#define CURAND_REFUSED ...
#else
#define CURAND_REFUSED
#endif
curandStatus_t curandGenerateLongLong(CURAND_REFUSED);
curandStatus_t curandGeneratePoissonMethod(CURAND_REFUSED);
curandStatus_t curandCreatePoissonDistribution(CURAND_REFUSED);
curandStatus_t curandDestroyDistribution(CURAND_REFUSED);
curandStatus_t curandGetDirectionVectors32(CURAND_REFUSED);
curandStatus_t curandGetDirectionVectors64(CURAND_REFUSED);
curandStatus_t curandGetScrambleConstants32(CURAND_REFUSED);
curandStatus_t curandGetScrambleConstants64(CURAND_REFUSED);

#ifdef __cplusplus
}
#endif

#endif
