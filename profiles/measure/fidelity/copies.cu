/*
 * copies.cu — asynchronous copies (cp.async, LDGSTS) of one warp, in many patterns, for comparing
 * counters.
 *
 * Each launch is one warp that makes one copy from global to shared memory. A table in constant
 * memory says which byte each lane reads and which it writes, how many bytes it reads, and which
 * lanes take part. measure.py runs this program under ncu on a GPU; tests/docs/test_fidelity.py
 * runs it on the emulator and compares the counters.
 *
 *   copies [OPERATION [BYTES]]   a launch for each kind of copy and pattern
 *   copies --list [...]          prints what it launches, as CSV: operation,bytes,pattern
 *
 * The patterns are part of the recording: a change to them needs a new one.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

/* Lanes of a warp; bytes of shared and of global memory that patterns reach. */
enum { LANES = 32, TO_BYTES = 32768, FROM_BYTES = 65536 };

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            fprintf(stderr, "copies: %s: %s\n", #call, cudaGetErrorString(error_));                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* A pattern: where each lane reads and writes, how many bytes it reads, and which lanes copy. */
struct places {
    uint32_t from[LANES], to[LANES], bytes[LANES];
    uint32_t active;
};

static __constant__ struct places chosen;

/* ---- the copies ------------------------------------------------------------------------------ */

/* One kind of copy, as text of PTX in which %0 is the address in shared memory, %1 that in global
 * memory, and %2 the number of bytes to be read. WARM: lanes have loaded their bytes before. */
#define COPY(NAME, BYTES, WARM, TEXT)                                                              \
    struct NAME##_##BYTES {                                                                        \
        enum { is_warm = WARM };                                                                   \
        static __device__ void run(uint32_t to, const char *from, uint32_t bytes)                  \
        {                                                                                          \
            asm volatile(TEXT ::"r"(to), "l"(from), "r"(bytes) : "memory");                        \
        }                                                                                          \
    };
#define ONE(CACHE, HINT, BYTES)   "cp.async." CACHE ".shared.global" HINT " [%0], [%1], " #BYTES
#define PLAIN(NAME, CACHE, BYTES) COPY(NAME, BYTES, false, ONE(CACHE, "", BYTES) ";")
#define ZEROS(NAME, CACHE, BYTES) COPY(NAME##_zeros, BYTES, false, ONE(CACHE, "", BYTES) ", %2;")
#define AHEAD(NAME, CACHE, BYTES)                                                                  \
    COPY(NAME##_prefetch, BYTES, false, ONE(CACHE, ".L2::128B", BYTES) ";")
#define LATER(NAME, CACHE, BYTES) COPY(NAME##_loaded, BYTES, true, ONE(CACHE, "", BYTES) ";")
#define KINDS(X)                                                                                   \
    X(ca, "ca", 4)                                                                                 \
    X(ca, "ca", 8)                                                                                 \
    X(ca, "ca", 16)                                                                                \
    X(cg, "cg", 16)
KINDS(PLAIN)
KINDS(ZEROS)
KINDS(AHEAD)
KINDS(LATER)

template <typename Copy> static __global__ void of_copy(const char *memory)
{
    extern __shared__ __align__(128) char shared[];
    unsigned lane = threadIdx.x;
    if (!(chosen.active >> lane & 1)) return;
    const char *from = memory + chosen.from[lane];
    if (Copy::is_warm) {
        uint32_t word;
        asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(word) : "l"(from) : "memory");
        if (word == 77) __trap(); // the memory holds zeros; this waits for the load
    }
    Copy::run((uint32_t)__cvta_generic_to_shared(shared) + chosen.to[lane], from,
              chosen.bytes[lane]);
    asm volatile("cp.async.wait_all;" ::: "memory");
}

/* ---- the patterns ---------------------------------------------------------------------------- */

enum { MOST = 160 };

struct pattern {
    char name[60];
    struct places places;
};

static struct pattern patterns[MOST];
static int count;
static uint32_t unit; /* bytes of a lane's copy */
static uint32_t state;

static uint32_t random_below(uint32_t limit)
{
    state = state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)state * limit >> 32);
}

/* Shuffles the numbers 0 to LANES - 1. */
static void shuffle(uint32_t order[LANES])
{
    for (uint32_t l = 0; l < LANES; l++) order[l] = l;
    for (uint32_t l = LANES - 1; l > 0; l--) {
        uint32_t other = random_below(l + 1), mine = order[l];
        order[l] = order[other], order[other] = mine;
    }
}

/* All lanes copy, one element after the other. */
static struct places *new_pattern(const char *format, int a = 0, int b = 0)
{
    if (count == MOST) exit(1); // there are more patterns than MOST says
    struct pattern *p = &patterns[count++];
    snprintf(p->name, sizeof p->name, format, a, b);
    for (uint32_t l = 0; l < LANES; l++)
        p->places.from[l] = p->places.to[l] = l * unit, p->places.bytes[l] = unit;
    p->places.active = 0xffffffff;
    return &p->places;
}

/* Strides of the sources and of the targets, in elements. */
static struct places *strided(int from, int to)
{
    struct places *p = new_pattern("from stride %d to stride %d", from, to);
    for (int l = 0; l < LANES; l++) p->from[l] = l * from * unit, p->to[l] = l * to * unit;
    return p;
}

static void strides(void)
{
    static const int numbers[] = {2, 3, 4, 5, 8, 16, 24, 32, 33};
    static const int pairs[][2] = {{2, 2},  {4, 4}, {8, 8}, {33, 33}, {2, 32},
                                   {32, 2}, {2, 8}, {8, 2}, {0, 2}};
    strided(1, 1);
    strided(0, 1);
    for (int stride : numbers) strided(stride, 1);
    for (int stride : numbers) strided(1, stride);
    for (const int *pair : pairs) strided(pair[0], pair[1]);
}

/* Sources and targets that begin some bytes after an aligned address. */
static void behind(void)
{
    static const int starts[] = {4, 16, 32, 48, 64};
    for (int start : starts) {
        if (start % unit) continue;
        struct places *p = new_pattern("from byte %d", start);
        for (uint32_t &from : p->from) from += start;
        p = new_pattern("to byte %d", start);
        for (uint32_t &to : p->to) to += start;
        p = new_pattern("from byte %d to byte %d", start, start);
        for (int l = 0; l < LANES; l++) p->from[l] += start, p->to[l] += start;
    }
}

/* Other orders of the lanes: on one side, or on both. */
static void reordered(const char *name, const uint32_t order[LANES])
{
    for (int sides = 1; sides <= 3; sides++) {
        struct places *p = new_pattern("");
        snprintf(patterns[count - 1].name, sizeof patterns->name, "%s:%s%s", name,
                 sides & 1 ? " from" : "", sides & 2 ? " to" : "");
        for (int l = 0; l < LANES; l++) {
            if (sides & 1) p->from[l] = order[l] * unit;
            if (sides & 2) p->to[l] = order[l] * unit;
        }
    }
}

static void orders(void)
{
    uint32_t order[LANES];
    static const int bits[] = {1, 2, 4, 31};
    for (int bit : bits) {
        char name[20];
        for (uint32_t l = 0; l < LANES; l++) order[l] = l ^ bit;
        snprintf(name, sizeof name, "lane ^ %d", bit);
        reordered(name, order);
    }
    shuffle(order);
    reordered("shuffled", order);
}

/* Neighbours, and lanes that are far apart, that read the same element. */
static void same_source(void)
{
    for (int lanes = 2; lanes <= 16; lanes *= 2) {
        struct places *p = new_pattern("%d lanes a source", lanes);
        for (int l = 0; l < LANES; l++) p->from[l] = l / lanes * unit;
        p = new_pattern("%d sources in turn", lanes);
        for (int l = 0; l < LANES; l++) p->from[l] = l % lanes * unit;
    }
}

/* The warp reads from this number of lines of 128 bytes, each by neighbours or in turn. */
static void lines(void)
{
    enum { LINE = 128 };
    for (int lines = 2; lines <= LANES; lines += lines / 2) {
        struct places *p = new_pattern("%d lines in turn", lines);
        for (int l = 0; l < LANES; l++) p->from[l] = l % lines * LINE + l / lines * unit % LINE;
        p = new_pattern("%d lines, same place", lines);
        for (int l = 0; l < LANES; l++) p->from[l] = l * lines / LANES * LINE;
    }
}

static void some_lanes(void)
{
    static const struct {
        const char *name;
        uint32_t active;
    } some[] = {{"lane 0", 1},
                {"upper half", 0xffff0000},
                {"first quarter", 0xff},
                {"even lanes", 0x55555555},
                {"odd lanes", 0xaaaaaaaa},
                {"a lane in 8", 0x01010101},
                {"all but lane 5", 0xffffffdf},
                {"lanes 3 to 12", 0x1ff8}};
    static const int pairs[][2] = {{1, 1}, {2, 1}, {1, 32}};
    for (const int *pair : pairs)
        for (const auto &s : some) {
            strided(pair[0], pair[1])->active = s.active;
            char *name = patterns[count - 1].name;
            size_t used = strlen(name);
            snprintf(name + used, sizeof patterns->name - used, ", %s", s.name);
        }
}

/* Targets never overlap: which of two lanes wins is not defined. */
static struct places *at_random(const char *name, int number, bool sources, bool targets)
{
    struct places *p = new_pattern(name, number);
    uint32_t range = 4u << random_below(8), spread = 1u << random_below(5), order[LANES];
    shuffle(order);
    for (int l = 0; l < LANES; l++) {
        if (sources) p->from[l] = random_below(range) * unit;
        if (targets) p->to[l] = (order[l] * spread + random_below(spread)) * unit;
    }
    return p;
}

/* Lanes 2n and 2n + 1 copy neighbours to neighbours, or exchange them. */
static void random_pairs(int number)
{
    struct places *p = at_random("random pairs %d", number, true, true);
    for (int l = 0; l < LANES; l += 2) {
        uint32_t second = random_below(2) * unit;
        p->from[l] = p->from[l] / unit / 2 * 2 * unit + second;
        p->from[l + 1] = p->from[l] + unit - 2 * second;
        p->to[l] *= 2;
        p->to[l + 1] = p->to[l] + unit;
    }
}

static void random_ones(int number)
{
    at_random("random sources %d", number, true, false);
    at_random("random targets %d", number, false, true);
    at_random("random sources and targets %d", number, true, true);
    at_random("random sources, targets and lanes %d", number, true, true)->active =
        random_below(0xffffffff) | 1;
    random_pairs(number);
}

/* Lanes that read less than they write; the rest becomes zero. */
static void shorter(void)
{
    struct places *p;
    for (int half = 2; half >= 0; half--) {
        p = new_pattern("%d halves of the bytes", half);
        for (uint32_t &bytes : p->bytes) bytes = unit * half / 2;
    }
    for (int stride = 1; stride <= 8; stride *= 2) {
        strided(stride, 1);
        p = strided(stride, stride);
        strcat(patterns[count - 1].name, ", even lanes read");
        for (int l = 1; l < LANES; l += 2) p->bytes[l] = 0;
        p = strided(1, stride);
        strcat(patterns[count - 1].name, ", lower half reads");
        for (int l = LANES / 2; l < LANES; l++) p->bytes[l] = 0;
    }
    for (int number = 0; number < 4; number++) {
        p = at_random("random bytes %d", number, true, true);
        for (uint32_t &bytes : p->bytes) bytes = random_below(2) * random_below(unit + 1);
    }
}

/* What is done otherwise with the same copies, at few patterns. */
static void few_patterns(void)
{
    static const int pairs[][2] = {{1, 1}, {0, 1}, {2, 1}, {3, 1}, {8, 1}, {32, 1}, {1, 32}};
    for (const int *pair : pairs) strided(pair[0], pair[1]);
    at_random("random sources and targets %d", 0, true, true);
}

static void make_patterns(const char *operation)
{
    enum { RANDOM = 6 };
    count = 0, state = unit;
    if (strstr(operation, ".zeros")) return shorter();
    if (strchr(operation, '.')) return few_patterns();
    strides();
    behind();
    orders();
    same_source();
    lines();
    some_lanes();
    for (int number = 0; number < RANDOM; number++) random_ones(number);
}

/* ---- the launches ---------------------------------------------------------------------------- */

typedef void kernel(const char *);

static const struct copy {
    const char *operation;
    uint32_t bytes;
    kernel *run;
} copies[] = {
#define PLAIN_ROW(NAME, CACHE, BYTES) {#NAME, BYTES, of_copy<NAME##_##BYTES>},
#define ZEROS_ROW(NAME, CACHE, BYTES) {#NAME ".zeros", BYTES, of_copy<NAME##_zeros_##BYTES>},
#define AHEAD_ROW(NAME, CACHE, BYTES) {#NAME ".prefetch", BYTES, of_copy<NAME##_prefetch_##BYTES>},
#define LATER_ROW(NAME, CACHE, BYTES) {#NAME ".loaded", BYTES, of_copy<NAME##_loaded_##BYTES>},
    KINDS(PLAIN_ROW) KINDS(ZEROS_ROW) KINDS(AHEAD_ROW) KINDS(LATER_ROW)};

static void take(const struct copy *copy, bool is_list, char *memory)
{
    unit = copy->bytes;
    make_patterns(copy->operation);
    for (int p = 0; p < count; p++) {
        if (is_list) {
            printf("%s,%u,\"%s\"\n", copy->operation, copy->bytes, patterns[p].name);
            continue;
        }
        CHECK(cudaMemcpyToSymbol(chosen, &patterns[p].places, sizeof chosen));
        copy->run<<<1, LANES, TO_BYTES>>>(memory);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
    }
}

int main(int argc, char **argv)
{
    char **wanted = argv + 1, *memory = NULL;
    bool is_list = argc > 1 && strcmp(argv[1], "--list") == 0;
    wanted += is_list;
    if (is_list) {
        printf("operation,bytes,pattern\n");
    } else {
        CHECK(cudaMalloc(&memory, FROM_BYTES));
        CHECK(cudaMemset(memory, 0, FROM_BYTES));
    }
    for (const struct copy &copy : copies)
        if (!wanted[0] || (strcmp(wanted[0], copy.operation) == 0 &&
                           (!wanted[1] || atoi(wanted[1]) == (int)copy.bytes)))
            take(&copy, is_list, memory);
    return 0;
}
