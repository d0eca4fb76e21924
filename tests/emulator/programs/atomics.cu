/* atomics.cu — every atomic function on integers, in global and in shared memory, by many threads
 * on one word each. The results do not depend on the order of the threads. */
#include "check.cuh"

static const int BLOCKS = 4, THREADS = 160;
enum { ADD, SUB, MAX, MIN, AND, OR, XOR, INC, DEC, EXCHANGE, SWAP, WORDS };

static __device__ void all_kinds(int *word, int i)
{
    atomicAdd(&word[ADD], i);
    atomicSub(&word[SUB], i);
    atomicMax(&word[MAX], i);
    atomicMin(&word[MIN], -i);
    atomicAnd(&word[AND], ~(1 << i % 31));
    atomicOr(&word[OR], 1 << i % 31);
    atomicXor(&word[XOR], i * 77);
    atomicInc((unsigned *)&word[INC], 16);                  /* 0, 1, … 16, 0, 1, … */
    atomicDec((unsigned *)&word[DEC], 16);                  /* 0, 16, 15, … 0, 16, … */
    atomicAdd(&word[EXCHANGE], atomicExch(&word[SWAP], i)); /* all i but the last add up */
}

static __global__ void in_global(int *word)
{
    all_kinds(word, blockIdx.x * blockDim.x + threadIdx.x);
}

static __global__ void in_shared(int *word)
{
    __shared__ int mine[WORDS];
    if (threadIdx.x < WORDS) mine[threadIdx.x] = threadIdx.x == AND ? -1 : 0;
    __syncthreads();
    all_kinds(mine, threadIdx.x);
    __syncthreads();
    if (threadIdx.x < WORDS) word[threadIdx.x] = mine[threadIdx.x];
}

/* A maximum of doubles, for which CUDA has no atomic: compare and swap until no other thread was
 * faster. */
static __global__ void max_by_cas(double *max, unsigned long long *sum)
{
    double mine = (threadIdx.x * 37 + blockIdx.x * 11) % 101 * 0.5;
    unsigned long long *word = (unsigned long long *)max, old = *word, seen;
    do {
        seen = old;
        if (__longlong_as_double(seen) >= mine) break;
        old = atomicCAS(word, seen, __double_as_longlong(mine));
    } while (old != seen);
    atomicAdd(sum, 0x100000001ull);
}

static std::vector<int> expected(int threads)
{
    std::vector<int> word(WORDS, 0);
    word[AND] = -1;
    for (int i = 0; i < threads; i++) {
        word[ADD] += i, word[SUB] -= i, word[MAX] = i, word[MIN] = -i;
        word[AND] &= ~(1 << i % 31), word[OR] |= 1 << i % 31, word[XOR] ^= i * 77;
    }
    word[INC] = threads % 17;
    word[DEC] = (17 - threads % 17) % 17;
    return word;
}

static void check(const char *what, std::vector<int> got, int threads)
{
    std::vector<int> word = expected(threads);
    got[EXCHANGE] += got[SWAP]; /* each i occurs once, in any order */
    got[SWAP] = 0;
    word[EXCHANGE] = word[ADD];
    expect_same(what, got, word);
}

int main()
{
    std::vector<int> start(WORDS, 0);
    start[AND] = -1;
    int *word = device_copy(start);
    in_global<<<BLOCKS, THREADS>>>(word);
    CUDA_LAUNCHED();
    check("global", host_copy(word, WORDS), BLOCKS * THREADS);
    in_shared<<<1, THREADS>>>(word);
    CUDA_LAUNCHED();
    check("shared", host_copy(word, WORDS), THREADS);

    double *max = device_copy(std::vector<double>(1, 0.0));
    unsigned long long *sum = device_copy(std::vector<unsigned long long>(1, 0));
    max_by_cas<<<BLOCKS, THREADS>>>(max, sum);
    CUDA_LAUNCHED();
    EXPECT(host_copy(max, 1)[0] == 50);
    EXPECT(host_copy(sum, 1)[0] == 0x100000001ull * BLOCKS * THREADS);
    return right("eleven atomic functions in global and shared memory");
}
