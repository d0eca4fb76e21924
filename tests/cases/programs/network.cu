/*
 * network.cu — training steps of a network of two layers, as courses on deep learning do them:
 * weights and inputs by cuRAND, products by cuBLAS, the rest by kernels. A plain reference in
 * double begins with the same weights and inputs. A column of a matrix is a sample.
 *
 * After one step no weight may differ by more than BOUND from the reference's: a weight is about 1,
 * and is rounded to float once, by 2^-25; its gradient is a sum of at most 64 products of float,
 * whose roundings are below 64 × 2^-24 times a magnitude of less than 1, times RATE. Later steps
 * begin with what differs, so they only have to reach the same loss.
 */
#include "check.cuh"

#include <cublas_v2.h>
#include <curand.h>

#define BLAS(call) EXPECT((call) == CUBLAS_STATUS_SUCCESS)
#define RAND(call) EXPECT((call) == CURAND_STATUS_SUCCESS)

static const int INPUTS = 20, HIDDEN = 48, CLASSES = 4, SAMPLES = 64, STEPS = 60, THREADS = 64;
static const float RATE = 0.5f;
static const double BOUND = 1e-6;

/* ---- on the device --------------------------------------------------------------------------- */

static __global__ void relu(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] < 0) x[i] = 0;
}

/* gradient = 0 where relu gave 0 */
static __global__ void relu_backward(float *gradient, const float *after, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && after[i] == 0) gradient[i] = 0;
}

/* A thread a sample: scores become the gradient of the mean loss, (softmax - label) / SAMPLES. */
static __global__ void softmax_loss(float *scores, const int *labels, float *loss)
{
    int sample = threadIdx.x;
    float *mine = scores + sample * CLASSES, most = mine[0], sum = 0;
    for (int c = 1; c < CLASSES; c++) most = fmaxf(most, mine[c]);
    for (int c = 0; c < CLASSES; c++) sum += expf(mine[c] - most);
    loss[sample] = most + logf(sum) - mine[labels[sample]];
    for (int c = 0; c < CLASSES; c++)
        mine[c] = (expf(mine[c] - most) / sum - (c == labels[sample])) / SAMPLES;
}

struct network {
    float *w1, *w2, *bias;                   /* HIDDEN×INPUTS, CLASSES×HIDDEN, HIDDEN */
    float *x, *ones, *loss;                  /* INPUTS×SAMPLES, SAMPLES, SAMPLES */
    float *hidden, *scores, *back, *change1; /* HIDDEN×SAMPLES, CLASSES×SAMPLES, … */
    float *change2, *change_bias;
    int *labels;
};

static float train(cublasHandle_t blas, const network &n)
{
    const float one = 1, none = 0, down = -RATE;
    float loss;
    /* Forwards: hidden = relu(w1 x + bias ones'), scores = w2 hidden */
    BLAS(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, HIDDEN, SAMPLES, INPUTS, &one, n.w1, HIDDEN,
                     n.x, INPUTS, &none, n.hidden, HIDDEN));
    BLAS(cublasSger(blas, HIDDEN, SAMPLES, &one, n.bias, 1, n.ones, 1, n.hidden, HIDDEN));
    relu<<<blocks_for(HIDDEN * SAMPLES, THREADS), THREADS>>>(n.hidden, HIDDEN * SAMPLES);
    BLAS(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, CLASSES, SAMPLES, HIDDEN, &one, n.w2, CLASSES,
                     n.hidden, HIDDEN, &none, n.scores, CLASSES));
    softmax_loss<<<1, SAMPLES>>>(n.scores, n.labels, n.loss);
    CUDA(cudaGetLastError());

    /* Backwards: gradients of w2, of hidden, of w1 and of bias */
    BLAS(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_T, CLASSES, HIDDEN, SAMPLES, &one, n.scores,
                     CLASSES, n.hidden, HIDDEN, &none, n.change2, CLASSES));
    BLAS(cublasSgemm(blas, CUBLAS_OP_T, CUBLAS_OP_N, HIDDEN, SAMPLES, CLASSES, &one, n.w2, CLASSES,
                     n.scores, CLASSES, &none, n.back, HIDDEN));
    relu_backward<<<blocks_for(HIDDEN * SAMPLES, THREADS), THREADS>>>(n.back, n.hidden,
                                                                      HIDDEN * SAMPLES);
    CUDA(cudaGetLastError());
    BLAS(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_T, HIDDEN, INPUTS, SAMPLES, &one, n.back, HIDDEN,
                     n.x, INPUTS, &none, n.change1, HIDDEN));
    BLAS(cublasSgemv(blas, CUBLAS_OP_N, HIDDEN, SAMPLES, &one, n.back, HIDDEN, n.ones, 1, &none,
                     n.change_bias, 1));

    BLAS(cublasSaxpy(blas, HIDDEN * INPUTS, &down, n.change1, 1, n.w1, 1));
    BLAS(cublasSaxpy(blas, CLASSES * HIDDEN, &down, n.change2, 1, n.w2, 1));
    BLAS(cublasSaxpy(blas, HIDDEN, &down, n.change_bias, 1, n.bias, 1));
    BLAS(cublasSasum(blas, SAMPLES, n.loss, 1, &loss)); /* no loss is negative */
    return loss / SAMPLES;
}

/* ---- the reference --------------------------------------------------------------------------- */

typedef std::vector<double> vec;

/* C (m×n) = A (m×k) B (k×n), each by columns; a row and a column of A are `ra` and `ca` apart. */
static vec times(int m, int n, int k, const vec &a, int ra, int ca, const vec &b, int rb, int cb)
{
    vec c(m * n);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            for (int l = 0; l < k; l++) c[i + j * m] += a[i * ra + l * ca] * b[l * rb + j * cb];
    return c;
}

static double reference(vec &w1, vec &w2, vec &bias, const vec &x, const std::vector<int> &labels)
{
    double loss = 0;
    vec hidden = times(HIDDEN, SAMPLES, INPUTS, w1, 1, HIDDEN, x, 1, INPUTS);
    for (int i = 0; i < HIDDEN * SAMPLES; i++) hidden[i] = fmax(0, hidden[i] + bias[i % HIDDEN]);
    vec scores = times(CLASSES, SAMPLES, HIDDEN, w2, 1, CLASSES, hidden, 1, HIDDEN);
    for (int s = 0; s < SAMPLES; s++) {
        double sum = 0, *mine = &scores[s * CLASSES];
        for (int c = 0; c < CLASSES; c++) sum += exp(mine[c]);
        loss += log(sum) - mine[labels[s]];
        for (int c = 0; c < CLASSES; c++)
            mine[c] = (exp(mine[c]) / sum - (c == labels[s])) / SAMPLES;
    }
    vec change2 = times(CLASSES, HIDDEN, SAMPLES, scores, 1, CLASSES, hidden, HIDDEN, 1);
    vec back = times(HIDDEN, SAMPLES, CLASSES, w2, CLASSES, 1, scores, 1, CLASSES);
    for (int i = 0; i < HIDDEN * SAMPLES; i++) back[i] *= hidden[i] > 0;
    vec change1 = times(HIDDEN, INPUTS, SAMPLES, back, 1, HIDDEN, x, INPUTS, 1);
    for (int i = 0; i < HIDDEN * INPUTS; i++) w1[i] -= RATE * change1[i];
    for (int i = 0; i < CLASSES * HIDDEN; i++) w2[i] -= RATE * change2[i];
    for (int i = 0; i < HIDDEN * SAMPLES; i++) bias[i % HIDDEN] -= RATE * back[i];
    return loss / SAMPLES;
}

/* ---- both ------------------------------------------------------------------------------------ */

static vec copied(const float *device, int n)
{
    std::vector<float> host = host_copy(device, n);
    return vec(host.begin(), host.end());
}

/* Which of four inputs is the largest? */
static std::vector<int> labels_of(const vec &x)
{
    std::vector<int> labels(SAMPLES);
    for (int s = 0; s < SAMPLES; s++)
        for (int c = 1; c < CLASSES; c++)
            if (x[s * INPUTS + c] > x[s * INPUTS + labels[s]]) labels[s] = c;
    return labels;
}

static void fill_in(const network &n)
{
    curandGenerator_t random;
    RAND(curandCreateGenerator(&random, CURAND_RNG_PSEUDO_XORWOW));
    RAND(curandSetPseudoRandomGeneratorSeed(random, 2026));
    RAND(curandGenerateUniform(random, n.x, INPUTS * SAMPLES));
    RAND(curandGenerateNormal(random, n.w1, HIDDEN * INPUTS, 0, 0.3f));
    RAND(curandGenerateNormal(random, n.w2, CLASSES * HIDDEN, 0, 0.2f));
    RAND(curandDestroyGenerator(random));
    CUDA(cudaMemset(n.bias, 0, HIDDEN * sizeof(float)));
}

static int run()
{
    network n;
    for (float **matrix : {&n.hidden, &n.back}) *matrix = device_array<float>(HIDDEN * SAMPLES);
    for (float **matrix : {&n.w1, &n.change1}) *matrix = device_array<float>(HIDDEN * INPUTS);
    for (float **matrix : {&n.w2, &n.change2}) *matrix = device_array<float>(CLASSES * HIDDEN);
    for (float **vector : {&n.bias, &n.change_bias}) *vector = device_array<float>(HIDDEN);
    n.x = device_array<float>(INPUTS * SAMPLES);
    n.scores = device_array<float>(CLASSES * SAMPLES);
    n.loss = device_array<float>(SAMPLES);
    n.ones = device_copy(std::vector<float>(SAMPLES, 1.f));
    fill_in(n);
    vec x = copied(n.x, INPUTS * SAMPLES), w1 = copied(n.w1, HIDDEN * INPUTS),
        w2 = copied(n.w2, CLASSES * HIDDEN), bias(HIDDEN);
    std::vector<int> labels = labels_of(x);
    n.labels = device_copy(labels);

    cublasHandle_t blas;
    double first = 0, last = 0, expected = 0;
    BLAS(cublasCreate(&blas));
    for (int step = 0; step < STEPS; step++) {
        last = train(blas, n);
        expected = reference(w1, w2, bias, x, labels);
        if (step > 0) continue;
        first = last;
        EXPECT(fabs(last - expected) < BOUND);
        expect_same("w1", copied(n.w1, HIDDEN * INPUTS), w1, BOUND);
        expect_same("w2", copied(n.w2, CLASSES * HIDDEN), w2, BOUND);
        expect_same("bias", copied(n.bias, HIDDEN), bias, BOUND);
    }
    BLAS(cublasDestroy(blas));
    EXPECT(fabs(last - expected) < 1e-3 && last < first / 2);
    return right("loss %.3f, after %d steps %.3f", first, STEPS - 1, last);
}

PROGRAMS({"network", run})
