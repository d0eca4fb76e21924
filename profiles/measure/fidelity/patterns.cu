/*
 * patterns.cu — memory instructions of one warp, in many patterns, for comparing counters.
 *
 * Each launch is one warp that accesses shared, global, local or constant memory by one
 * instruction. A table in constant memory says which byte each lane accesses, and which lanes take
 * part. (Patterns of accesses to constant memory lie in global memory.) measure.py runs this
 * program under ncu on a GPU; tests/docs/test_fidelity.py runs it on the emulator and compares the
 * counters.
 *
 *   patterns [SPACE [OPERATION [TYPE]]]     a launch for each instruction and pattern
 *   patterns --joined [...]                 a launch for each instruction, with all its patterns
 *   patterns --list [...]                   prints what the first form launches, as CSV:
 *                                           space,operation,type,pattern
 *
 * The patterns are part of the recording: a change to them needs a new one.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

/* Lanes of a warp; bytes of memory that patterns reach, and of local memory. */
enum { LANES = 32, WINDOW = 16384, LOCAL_BYTES = 1024 };

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            fprintf(stderr, "patterns: %s: %s\n", #call, cudaGetErrorString(error_));              \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* A pattern: the byte that each lane accesses first, and which lanes do. */
struct places {
    uint32_t at[LANES];
    uint32_t active;
};

/* How many patterns there are: of loads and stores, and of atomics. */
enum { PATTERNS = 59, FEW = 20 };

/* The patterns of a launch lie in constant memory, or for accesses to that, in global memory. */
static __constant__ struct places chosen[PATTERNS];
static __constant__ uint4 table[WINDOW / sizeof(uint4)];

/* ---- the instructions ------------------------------------------------------------------------ */

/* Where a lane's access begins; all spaces' addresses fit. */
typedef uint64_t address;

/* One instruction, as text of PTX in which %0 is the address. */
#define INSTRUCTION(NAME, TEXT)                                                                    \
    struct NAME {                                                                                  \
        static __device__ void run(address at) { asm volatile(TEXT ::"l"(at) : "memory"); }        \
    };

/* A load or an atomic, whose result is used, so that ptxas keeps it. NEVER: no result. */
#define USE(REGISTER, NEVER)                                                                       \
    "xor." REGISTER " a, a, b; xor." REGISTER " c, c, d; xor." REGISTER                            \
    " a, a, c; setp.eq." REGISTER " p, a, " NEVER "; @p trap;}"
#define DECLARE(REGISTER)                                                                          \
    "{.reg .pred p; .reg ." REGISTER " a, b, c, d; mov." REGISTER " a, 1; mov." REGISTER           \
    " b, 1; mov." REGISTER " c, 1; mov." REGISTER " d, 1; "
#define LOAD(SPACE, NAME, VECTOR, TYPE, REGISTER, LIST)                                            \
    INSTRUCTION(SPACE##_ld_##NAME, DECLARE(REGISTER) "ld." #SPACE VECTOR "." TYPE " " LIST         \
                                                     ", [%0];" USE(REGISTER, "77"))
#define STORE(SPACE, NAME, VECTOR, TYPE, REGISTER, LIST)                                           \
    INSTRUCTION(SPACE##_st_##NAME,                                                                 \
                DECLARE(REGISTER) "st." #SPACE VECTOR "." TYPE " [%0], " LIST ";}")
#define ACCESSES(X, SPACE)                                                                         \
    X(SPACE, u8, "", "u8", "b16", "a")                                                             \
    X(SPACE, u16, "", "u16", "b16", "a")                                                           \
    X(SPACE, u32, "", "u32", "b32", "a")                                                           \
    X(SPACE, u64, "", "u64", "b64", "a")                                                           \
    X(SPACE, v2u32, ".v2", "u32", "b32", "{a, b}")                                                 \
    X(SPACE, v4u32, ".v4", "u32", "b32", "{a, b, c, d}")                                           \
    X(SPACE, v2u64, ".v2", "u64", "b64", "{a, b}")
ACCESSES(LOAD, shared)
ACCESSES(STORE, shared)
ACCESSES(LOAD, global)
ACCESSES(STORE, global)
ACCESSES(LOAD, local)
ACCESSES(STORE, local)
LOAD(const, u32, "", "u32", "b32", "a")
LOAD(const, u64, "", "u64", "b64", "a")

/* Atomics with a result, and the same without. */
#define ATOM(SPACE, OPERATION, TYPE, REGISTER)                                                     \
    INSTRUCTION(SPACE##_atom_##OPERATION##_##TYPE,                                                 \
                DECLARE(REGISTER) "atom." #SPACE "." #OPERATION "." #TYPE                          \
                                  " a, [%0], b;" USE(REGISTER, "23456"))
#define RED(SPACE, OPERATION, TYPE, REGISTER)                                                      \
    INSTRUCTION(SPACE##_red_##OPERATION##_##TYPE,                                                  \
                DECLARE(REGISTER) "red." #SPACE "." #OPERATION "." #TYPE " [%0], b;}")
#define CAS(SPACE, TYPE)                                                                           \
    INSTRUCTION(SPACE##_atom_cas_##TYPE,                                                           \
                DECLARE(#TYPE) "atom." #SPACE ".cas." #TYPE " a, [%0], b, c;" USE(#TYPE, "23456"))
#define EXCHANGES(X, SPACE) X(SPACE, exch, b32, "b32") X(SPACE, exch, b64, "b64")
#define REDUCTIONS(X, SPACE)                                                                       \
    X(SPACE, add, u32, "b32")                                                                      \
    X(SPACE, add, u64, "b64")                                                                      \
    X(SPACE, add, f32, "b32")                                                                      \
    X(SPACE, add, f64, "b64")                                                                      \
    X(SPACE, min, u32, "b32")                                                                      \
    X(SPACE, max, s32, "b32")                                                                      \
    X(SPACE, max, u64, "b64")                                                                      \
    X(SPACE, and, b32, "b32")                                                                      \
    X(SPACE, xor, b64, "b64")                                                                      \
    X(SPACE, inc, u32, "b32")
REDUCTIONS(ATOM, shared)
REDUCTIONS(RED, shared)
EXCHANGES(ATOM, shared)
CAS(shared, b32)
CAS(shared, b64)
REDUCTIONS(ATOM, global)
REDUCTIONS(RED, global)
EXCHANGES(ATOM, global)
CAS(global, b32)
CAS(global, b64)

/* ---- one kernel for each space --------------------------------------------------------------- */

/* Makes the access of `count` patterns, each by an instruction of its own in the machine code. The
 * barrier of the warp keeps them in order. */
template <typename Instruction, int COUNT>
static __device__ void run_all(address memory, const struct places *patterns, uint32_t limit)
{
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
        if (patterns[k].active >> threadIdx.x & 1)
            Instruction::run(memory + patterns[k].at[threadIdx.x] % limit);
        __syncwarp();
    }
}

template <typename Instruction, int COUNT> static __global__ void of_shared(const char *)
{
    extern __shared__ char memory[];
    run_all<Instruction, COUNT>(__cvta_generic_to_shared(memory), chosen, 2 * WINDOW);
}

template <typename Instruction, int COUNT> static __global__ void of_global(const char *memory)
{
    run_all<Instruction, COUNT>((address)memory, chosen, 2 * WINDOW);
}

/* Each lane has an array of its own. */
template <typename Instruction, int COUNT> static __global__ void of_local(const char *)
{
    uint64_t own[2 * LOCAL_BYTES / sizeof(uint64_t)];
    run_all<Instruction, COUNT>(__cvta_generic_to_local(own), chosen, LOCAL_BYTES);
}

template <typename Instruction, int COUNT> static __global__ void of_const(const char *memory)
{
    run_all<Instruction, COUNT>(__cvta_generic_to_constant(table), (const struct places *)memory,
                                WINDOW);
}

/* ---- the patterns ---------------------------------------------------------------------------- */

struct pattern {
    char name[40];
    struct places places;
};

static struct pattern patterns[PATTERNS];
static int count;
static uint32_t state = 1;

static uint32_t random_below(uint32_t limit)
{
    state = state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)state * limit >> 32);
}

static struct pattern *new_pattern(const char *format, int number)
{
    if (count == PATTERNS) exit(1); // there are more patterns than PATTERNS says
    struct pattern *p = &patterns[count++];
    snprintf(p->name, sizeof p->name, format, number);
    p->places.active = 0xffffffff;
    return p;
}

static void strided(int stride, uint32_t bytes)
{
    struct pattern *p = new_pattern("stride %d", stride);
    for (int l = 0; l < LANES; l++) p->places.at[l] = l * stride * bytes % WINDOW;
}

/* Lanes that share: each `lanes` neighbours, or those that have all but bit `lanes` in common. */
static void shared_by(int lanes, uint32_t bytes)
{
    struct pattern *p = new_pattern("%d lanes a place", lanes);
    for (int l = 0; l < LANES; l++) p->places.at[l] = l / lanes * bytes;
}
static void without_bit(int bit, uint32_t bytes)
{
    struct pattern *p = new_pattern("same with lane ^ %d", bit);
    for (int l = 0; l < LANES; l++) p->places.at[l] = (l & ~bit) * bytes;
}
/* Pairs whose places lie in two rows of banks. */
static void rows_apart(int row, uint32_t bytes)
{
    struct pattern *p = new_pattern("pairs, rows %d apart", row);
    for (int l = 0; l < LANES; l++)
        p->places.at[l] = (l / 2 * bytes + (l >= 16 ? row * 128 : 0)) % WINDOW;
}
static void scattered(int range, uint32_t bytes)
{
    struct pattern *p = new_pattern("scattered over %d", range);
    for (int l = 0; l < LANES; l++) p->places.at[l] = random_below(range) * bytes % WINDOW;
}
static void behind(int start, uint32_t bytes)
{
    struct pattern *p = new_pattern("consecutive from byte %d", start);
    for (int l = 0; l < LANES; l++) p->places.at[l] = start + l * bytes;
}
/* Some lanes of a stride, or of pairs. */
static void some_lanes(const char *name, uint32_t active, int stride, int lanes, uint32_t bytes)
{
    struct pattern *p = new_pattern(name, stride);
    for (int l = 0; l < LANES; l++) p->places.at[l] = l / lanes * stride * bytes % WINDOW;
    p->places.active = active;
}
static void at_random(int number, uint32_t bytes)
{
    struct pattern *p = new_pattern("random lanes and places %d", number);
    uint32_t range = 1u << random_below(8);
    for (int l = 0; l < LANES; l++) p->places.at[l] = random_below(range) * bytes % WINDOW;
    p->places.active = random_below(0xffffffff) | 1;
}

/* For atomics, a third of them: there are many operations. */
static void make_patterns(uint32_t bytes, bool few)
{
    static const int strides[] = {1, 2, 3, 8, 32, 33, 4, 5, 6, 7, 9, 12, 15, 16, 17, 24, 31, 64};
    count = 0, state = bytes;
    for (int i = 0; i < (few ? 6 : 18); i++) strided(strides[i], bytes);
    for (int lanes = 2; lanes <= LANES; lanes *= few ? 4 : 2) shared_by(lanes, bytes);
    for (int bit = 1; bit < LANES; bit *= few ? 16 : 2) without_bit(bit, bytes);
    for (int range = 4; range <= 1024; range *= 4) scattered(range, bytes);
    some_lanes("lane 0, stride %d", 1, 1, 1, bytes);
    some_lanes("even lanes, stride %d", 0x55555555, 1, 1, bytes);
    some_lanes("upper half, stride %d", 0xffff0000, 2, 1, bytes);
    at_random(0, bytes);
    if (few) return;
    for (int row = 1; row <= 4; row++) rows_apart(row, bytes);
    for (int step = 1; step <= 4; step *= 2) behind(step * bytes, bytes);
    some_lanes("odd lanes, stride %d", 0xaaaaaaaa, 1, 1, bytes);
    some_lanes("even lanes, stride %d", 0x55555555, 2, 1, bytes);
    some_lanes("lower half, stride %d", 0xffff, 1, 1, bytes);
    some_lanes("a lane in 8, stride %d", 0x01010101, 1, 1, bytes);
    some_lanes("a lane in 4, stride %d", 0x11111111, 32, 1, bytes);
    some_lanes("pairs but lane 5, stride %d", 0xffffffdf, 1, 2, bytes);
    some_lanes("pairs but lane 5, stride %d", 0xffffffdf, 16, 2, bytes);
    for (int number = 1; number <= 8; number++) at_random(number, bytes);
}

/* ---- the launches ---------------------------------------------------------------------------- */

typedef void kernel(const char *);

struct instruction {
    const char *space, *operation, *type;
    kernel *one, *joined;
};

#define BOTH(SPACE, NAME, COUNT) of_##SPACE<NAME, 1>, of_##SPACE<NAME, COUNT>
#define LOADED(SPACE, NAME, ...) {#SPACE, "ld", #NAME, BOTH(SPACE, SPACE##_ld_##NAME, PATTERNS)},
#define STORED(SPACE, NAME, ...) {#SPACE, "st", #NAME, BOTH(SPACE, SPACE##_st_##NAME, PATTERNS)},
#define ATOMIC(SPACE, OPERATION, TYPE, ...)                                                        \
    {#SPACE, "atom." #OPERATION, #TYPE, BOTH(SPACE, SPACE##_atom_##OPERATION##_##TYPE, FEW)},
#define REDUCED(SPACE, OPERATION, TYPE, ...)                                                       \
    {#SPACE, "red." #OPERATION, #TYPE, BOTH(SPACE, SPACE##_red_##OPERATION##_##TYPE, FEW)},

// clang-format off
static const struct instruction instructions[] = {
    ACCESSES(LOADED, shared) ACCESSES(STORED, shared)
    ACCESSES(LOADED, global) ACCESSES(STORED, global)
    ACCESSES(LOADED, local) ACCESSES(STORED, local)
    LOADED(const, u32) LOADED(const, u64)
    REDUCTIONS(ATOMIC, shared) REDUCTIONS(REDUCED, shared) EXCHANGES(ATOMIC, shared)
    ATOMIC(shared, cas, b32) ATOMIC(shared, cas, b64)
    REDUCTIONS(ATOMIC, global) REDUCTIONS(REDUCED, global) EXCHANGES(ATOMIC, global)
    ATOMIC(global, cas, b32) ATOMIC(global, cas, b64)
};
// clang-format on

/* The bytes of a type, from its name: [vN](u|s|b|f)BITS. */
static uint32_t bytes_of(const char *type)
{
    int vector = 1;
    if (*type == 'v') vector = type[1] - '0', type += 2;
    return vector * atoi(type + 1) / 8;
}

/* Launches an instruction in one pattern, or a kernel of `number` instructions in one each. */
static void launch(const struct instruction *i, kernel *run, int first, int number, char *memory)
{
    struct places p[PATTERNS];
    for (int k = 0; k < number; k++) p[k] = patterns[first + k].places;
    if (strcmp(i->space, "const") == 0)
        CHECK(cudaMemcpy(memory, p, number * sizeof *p, cudaMemcpyHostToDevice));
    else
        CHECK(cudaMemcpyToSymbol(chosen, p, number * sizeof *p));
    run<<<1, LANES, strcmp(i->space, "shared") == 0 ? 2 * WINDOW : 0>>>(memory);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
}

enum mode { SEPARATE, JOINED, LIST };

static void take(const struct instruction *i, enum mode mode, char *memory)
{
    make_patterns(bytes_of(i->type), strchr(i->operation, '.') != NULL);
    if (mode == JOINED) return launch(i, i->joined, 0, count, memory);
    for (int p = 0; p < count; p++)
        if (mode == LIST)
            printf("%s,%s,%s,\"%s\"\n", i->space, i->operation, i->type, patterns[p].name);
        else
            launch(i, i->one, p, 1, memory);
}

static bool is_wanted(const char *name, char **wanted)
{
    return !*wanted || !strcmp(*wanted, name);
}

int main(int argc, char **argv)
{
    char **wanted = argv + 1, *memory = NULL;
    enum mode mode = SEPARATE;
    if (argc > 1 && strcmp(argv[1], "--list") == 0) mode = LIST, wanted++;
    if (argc > 1 && strcmp(argv[1], "--joined") == 0) mode = JOINED, wanted++;
    if (mode == LIST) {
        printf("space,operation,type,pattern\n");
    } else {
        CHECK(cudaMalloc(&memory, 2 * WINDOW));
        CHECK(cudaMemset(memory, 0, 2 * WINDOW));
    }
    for (const struct instruction &i : instructions)
        if (is_wanted(i.space, wanted) && (!*wanted || is_wanted(i.operation, wanted + 1)) &&
            (!*wanted || !wanted[1] || is_wanted(i.type, wanted + 2)))
            take(&i, mode, memory);
    return 0;
}
