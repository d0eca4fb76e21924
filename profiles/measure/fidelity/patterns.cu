/*
 * patterns.cu — memory instructions of one warp, in many patterns, for comparing counters.
 *
 *   patterns [SPACE [OPERATION [TYPE]]]       loads, stores and atomics
 *   patterns copies [OPERATION [BYTES]]       asynchronous copies (cp.async, LDGSTS)
 *   patterns matrices [OPERATION [SHAPE]]     ldmatrix, stmatrix, and wmma's loads and stores
 *
 * make a launch for each instruction and pattern: one warp that makes one access. A table in
 * constant memory says which bytes each lane accesses, and which lanes take part. (Patterns of
 * accesses to constant memory are in global memory.) fidelity.py runs this program under ncu on a
 * GPU; tests/docs/test_fidelity.py runs it on the emulator and compares the counters.
 *
 *   patterns --list copies [...]              prints what is launched, as CSV
 *   patterns --joined [...]                   a launch for each instruction, with all its patterns
 *
 * The patterns are part of the recording: a change to them needs a new one.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mma.h>
#include <string>

enum { LANES = 32 };
enum mode { SEPARATE, JOINED, LIST };

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            fprintf(stderr, "patterns: %s: %s\n", #call, cudaGetErrorString(error_));              \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static void finish()
{
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
}

static char *zeros(size_t bytes)
{
    char *memory;
    CHECK(cudaMalloc(&memory, bytes));
    CHECK(cudaMemset(memory, 0, bytes));
    return memory;
}

static uint32_t state;

static uint32_t random_below(uint32_t limit)
{
    state = state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)state * limit >> 32);
}

/* At most MOST patterns, with their names. */
template <typename Places, int MOST> struct list {
    struct {
        char name[60];
        Places places;
    } all[MOST];
    int count;

    Places *add(const char *format, int a = 0, int b = 0)
    {
        if (count == MOST) exit(1); // there are more patterns than MOST says
        snprintf(all[count].name, sizeof all->name, format, a, b);
        return &all[count++].places;
    }
    char *name() { return all[count - 1].name; } /* of the newest */
};

/* If the words name it, as far as they go: launches each pattern, or prints its name. */
template <typename Patterns, typename Launch>
static void take(char **words, enum mode mode, std::initializer_list<std::string> names,
                 const Patterns &patterns, const Launch &launch)
{
    for (const std::string &name : names)
        if (*words && name != *words++) return;
    for (int p = 0; p < patterns.count; p++) {
        if (mode != LIST) {
            launch(p);
            continue;
        }
        for (const std::string &name : names) printf("%s,", name.c_str());
        printf("\"%s\"\n", patterns.all[p].name);
    }
}

/* Bytes of memory that patterns reach, and of local memory. */
enum { WINDOW = 16384, LOCAL_BYTES = 1024 };

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

static struct list<struct places, PATTERNS> patterns;

/* The element that each lane accesses is element_of(lane). */
template <typename Element>
static struct places *add(uint32_t bytes, const char *format, int number, const Element &element_of)
{
    struct places *p = patterns.add(format, number);
    for (int l = 0; l < LANES; l++) p->at[l] = element_of(l) * bytes % WINDOW;
    p->active = 0xffffffff;
    return p;
}

/* Some lanes of a stride, or of pairs. */
static void some_lanes(const char *name, uint32_t active, int stride, int lanes, uint32_t bytes)
{
    add(bytes, name, stride, [=](int l) { return l / lanes * stride; })->active = active;
}
static void at_random(int number, uint32_t bytes)
{
    uint32_t range = 1u << random_below(8);
    struct places *p =
        add(bytes, "random lanes and places %d", number, [=](int) { return random_below(range); });
    p->active = random_below(0xffffffff) | 1;
}

/* For atomics, a third of them: there are many operations. */
static void make_patterns(uint32_t bytes, bool few)
{
    static const int strides[] = {1, 2, 3, 8, 32, 33, 4, 5, 6, 7, 9, 12, 15, 16, 17, 24, 31, 64};
    patterns.count = 0, state = bytes;
    for (int i = 0; i < (few ? 6 : 18); i++)
        add(bytes, "stride %d", strides[i], [=](int l) { return l * strides[i]; });
    for (int lanes = 2; lanes <= LANES; lanes *= few ? 4 : 2)
        add(bytes, "%d lanes a place", lanes, [=](int l) { return l / lanes; });
    for (int bit = 1; bit < LANES; bit *= few ? 16 : 2)
        add(bytes, "same with lane ^ %d", bit, [=](int l) { return l & ~bit; });
    for (int range = 4; range <= 1024; range *= 4)
        add(bytes, "scattered over %d", range, [=](int) { return random_below(range); });
    some_lanes("lane 0, stride %d", 1, 1, 1, bytes);
    some_lanes("even lanes, stride %d", 0x55555555, 1, 1, bytes);
    some_lanes("upper half, stride %d", 0xffff0000, 2, 1, bytes);
    at_random(0, bytes);
    if (few) return;
    for (int row = 1; row <= 4; row++) // pairs whose places lie in two rows of banks
        add(bytes, "pairs, rows %d apart", row,
            [=](int l) { return l / 2 + (l >= 16 ? row * 128 / bytes : 0); });
    for (int step = 1; step <= 4; step *= 2)
        add(bytes, "consecutive from byte %d", step * bytes, [=](int l) { return step + l; });
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
    for (int k = 0; k < number; k++) p[k] = patterns.all[first + k].places;
    if (strcmp(i->space, "const") == 0)
        CHECK(cudaMemcpy(memory, p, number * sizeof *p, cudaMemcpyHostToDevice));
    else
        CHECK(cudaMemcpyToSymbol(chosen, p, number * sizeof *p));
    run<<<1, LANES, strcmp(i->space, "shared") == 0 ? 2 * WINDOW : 0>>>(memory);
    finish();
}

static void take_all(enum mode mode, char **wanted, char *memory)
{
    if (mode == LIST) printf("space,operation,type,pattern\n");
    for (const struct instruction &i : instructions) {
        make_patterns(bytes_of(i.type), strchr(i.operation, '.') != NULL);
        take(wanted, mode, {i.space, i.operation, i.type}, patterns, [&](int p) {
            if (mode == SEPARATE)
                launch(&i, i.one, p, 1, memory);
            else if (p == 0)
                launch(&i, i.joined, 0, patterns.count, memory);
        });
    }
}

/* ==== asynchronous copies ===================================================================== */

namespace copying
{
/* Bytes of shared and of global memory that patterns reach. */
enum { TO_BYTES = 32768, FROM_BYTES = 65536 };

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
#define OF_CACHE(CACHE, HINT, BYTES) "cp.async." CACHE ".shared.global" HINT " [%0], [%1], " #BYTES
#define PLAIN(NAME, CACHE, BYTES) COPY(NAME, BYTES, false, OF_CACHE(CACHE, "", BYTES) ";")
#define ZEROS(NAME, CACHE, BYTES)                                                                  \
    COPY(NAME##_zeros, BYTES, false, OF_CACHE(CACHE, "", BYTES) ", %2;")
#define AHEAD(NAME, CACHE, BYTES)                                                                  \
    COPY(NAME##_prefetch, BYTES, false, OF_CACHE(CACHE, ".L2::128B", BYTES) ";")
#define LATER(NAME, CACHE, BYTES) COPY(NAME##_loaded, BYTES, true, OF_CACHE(CACHE, "", BYTES) ";")
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

static struct list<struct places, 160> patterns;
static uint32_t unit; /* bytes of a lane's copy */

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
    struct places *p = patterns.add(format, a, b);
    for (uint32_t l = 0; l < LANES; l++) p->from[l] = p->to[l] = l * unit, p->bytes[l] = unit;
    p->active = 0xffffffff;
    return p;
}

/* The byte that each lane reads first is from(lane). */
template <typename From> static struct places *sources(const char *format, int a, const From &from)
{
    struct places *p = new_pattern(format, a);
    for (int l = 0; l < LANES; l++) p->from[l] = from(l);
    return p;
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
        snprintf(patterns.name(), sizeof patterns.all->name, "%s:%s%s", name,
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
        sources("%d lanes a source", lanes, [=](int l) { return l / lanes * unit; });
        sources("%d sources in turn", lanes, [=](int l) { return l % lanes * unit; });
    }
}

/* The warp reads from this number of lines of 128 bytes, each by neighbours or in turn. */
static void lines(void)
{
    enum { LINE = 128 };
    for (int lines = 2; lines <= LANES; lines += lines / 2) {
        sources("%d lines in turn", lines,
                [=](int l) { return l % lines * LINE + l / lines * unit % LINE; });
        sources("%d lines, same place", lines, [=](int l) { return l * lines / LANES * LINE; });
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
            strcat(strcat(patterns.name(), ", "), s.name);
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
        strcat(patterns.name(), ", even lanes read");
        for (int l = 1; l < LANES; l += 2) p->bytes[l] = 0;
        p = strided(1, stride);
        strcat(patterns.name(), ", lower half reads");
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
    patterns.count = 0, state = unit;
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

static void take_all(enum mode mode, char **wanted, char *memory)
{
    if (mode == LIST) printf("operation,bytes,pattern\n");
    for (const struct copy &copy : copies) {
        unit = copy.bytes;
        make_patterns(copy.operation);
        take(wanted, mode, {copy.operation, std::to_string(unit)}, patterns, [&](int p) {
            CHECK(cudaMemcpyToSymbol(chosen, &patterns.all[p].places, sizeof chosen));
            copy.run<<<1, LANES, TO_BYTES>>>(memory);
            finish();
        });
    }
}
} // namespace copying

/* ==== moves of matrices ======================================================================= */

/* For ldmatrix and stmatrix a pattern says where each row of 16 bytes begins; for wmma, where the
 * matrix begins, and how far apart its rows are. */
namespace moving
{
using namespace nvcuda;

/* Bytes of a matrix's row; rows of a matrix; bytes that rows reach. */
enum { ROW = 16, ROWS = 8, WINDOW = 32768 };

/* Where each lane's row begins; for wmma, at[0] is where the matrix begins. */
struct places {
    uint32_t at[LANES];
    uint32_t stride; /* of wmma, in elements */
};

static __constant__ struct places chosen;

/* ---- the moves ------------------------------------------------------------------------------- */

/* One kind of move; TEXT of PTX has the address %4 and the registers %0 to %3. */
#define LDMATRIX(NAME, SHAPE, LIST)                                                                \
    static __global__ void NAME(uint32_t *out)                                                     \
    {                                                                                              \
        extern __shared__ __align__(128) char shared[];                                            \
        uint32_t r[4] = {}, at = __cvta_generic_to_shared(shared) + chosen.at[threadIdx.x];        \
        asm volatile("ldmatrix.sync.aligned.m8n8." SHAPE ".shared.b16 " LIST ", [%4];"             \
                     : "+r"(r[0]), "+r"(r[1]), "+r"(r[2]), "+r"(r[3])                              \
                     : "r"(at)                                                                     \
                     : "memory");                                                                  \
        if ((r[0] ^ r[1] ^ r[2] ^ r[3]) == 77) *out = 0; /* which waits for the loads */           \
    }
#define STMATRIX(NAME, SHAPE, LIST)                                                                \
    static __global__ void NAME(uint32_t *out)                                                     \
    {                                                                                              \
        extern __shared__ __align__(128) char shared[];                                            \
        uint32_t at = __cvta_generic_to_shared(shared) + chosen.at[threadIdx.x];                   \
        uint32_t r = threadIdx.x + (out == nullptr);                                               \
        asm volatile("stmatrix.sync.aligned.m8n8." SHAPE ".shared.b16 [%4], " LIST ";" ::"r"(r),   \
                     "r"(r), "r"(r), "r"(r), "r"(at)                                               \
                     : "memory");                                                                  \
    }
#define ONE  "{%0}"
#define TWO  "{%0, %1}"
#define FOUR "{%0, %1, %2, %3}"
#define SHAPES(X, NAME)                                                                            \
    X(NAME##_x1, "x1", ONE)                                                                        \
    X(NAME##_x2, "x2", TWO)                                                                        \
    X(NAME##_x4, "x4", FOUR)                                                                       \
    X(NAME##_x1_trans, "x1.trans", ONE)                                                            \
    X(NAME##_x2_trans, "x2.trans", TWO)                                                            \
    X(NAME##_x4_trans, "x4.trans", FOUR)
SHAPES(LDMATRIX, ldmatrix)
SHAPES(STMATRIX, stmatrix)

/* A fragment of c needs a layout. */
template <typename Fragment, typename T, wmma::layout_t... layout>
static __global__ void wmma_load(uint32_t *out)
{
    extern __shared__ __align__(128) char shared[];
    Fragment f;
    wmma::load_matrix_sync(f, (const T *)(shared + chosen.at[0]), chosen.stride, layout...);
    for (int e = 0; e < f.num_elements; e++)
        if ((float)f.x[e] == 77) *out = 0;
}

template <typename Fragment, typename T, wmma::layout_t layout>
static __global__ void wmma_store(uint32_t *out)
{
    extern __shared__ __align__(128) char shared[];
    Fragment f;
    wmma::fill_fragment(f, (T)(out == nullptr ? 1 : 2));
    wmma::store_matrix_sync((T *)(shared + chosen.at[0]), f, chosen.stride, layout);
}

/* ---- the patterns ---------------------------------------------------------------------------- */

static struct list<struct places, 100> patterns;

/* The rows follow each other. */
static struct places *new_pattern(const char *format, int a = 0, int b = 0)
{
    struct places *p = patterns.add(format, a, b);
    for (int l = 0; l < LANES; l++) p->at[l] = l * ROW;
    return p;
}

/* Where each lane's row begins is at(lane). */
template <typename At> static void add(const char *format, int a, int b, const At &at)
{
    struct places *p = new_pattern(format, a, b);
    for (int l = 0; l < LANES; l++) p->at[l] = at(l);
}

static void strided(int rows)
{
    add("stride %d rows", rows, 0, [=](int l) { return l * rows * ROW; });
}

/* Matrices that lie side by side in a tile whose rows are `bytes` apart: each of `rows` rows. */
static void tile(int rows, int bytes)
{
    add("tile of %d rows, %d bytes apart", rows, bytes,
        [=](int l) { return l % rows * bytes + l / rows * ROW; });
}

/* A tile whose chunks of 16 bytes are exchanged within rows of `bytes` bytes, as TMA does it. */
static void swizzled(int bytes)
{
    add("tile of 8 rows, swizzled in %d bytes", bytes, 0, [=](int l) {
        uint32_t at = l % ROWS * bytes + l / ROWS * ROW % bytes;
        return at ^ (at / 128 % (bytes / ROW) * ROW);
    });
}

/* Lanes that have the same row: neighbours, or those in turn. */
static void repeated(int lanes)
{
    add("%d lanes a row", lanes, 0, [=](int l) { return l / lanes * ROW; });
    add("%d rows in turn", lanes, 0, [=](int l) { return l % lanes * ROW; });
}

/* Some rows in a second line of banks: `line` lines away, for lanes with `bit`. */
static void displaced(int bit, int line)
{
    add("lanes with bit %d, %d lines further", bit, line,
        [=](int l) { return (l & ~bit) * ROW + (l & bit ? line * 128 : 0); });
}

static void at_random(int number, int range)
{
    add("random %d of %d rows", number, range, [=](int) { return random_below(range) * ROW; });
}

static void few_patterns(void)
{
    for (int rows : {1, 2, 8, 9}) strided(rows);
    tile(8, 128), tile(8, 144), swizzled(128);
    repeated(2), repeated(8);
    at_random(0, 16), at_random(1, 64);
}

static void all_patterns(void)
{
    for (int rows : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 24, 32, 33}) strided(rows);
    for (int bytes : {64, 80, 128, 144, 256, 272}) tile(8, bytes);
    for (int bytes : {32, 64, 80, 128, 144}) tile(16, bytes);
    for (int bytes : {32, 64, 128}) swizzled(bytes);
    for (int start : {16, 32, 48, 64, 112})
        add("from byte %d", start, 0, [=](int l) { return l * ROW + start; });
    for (int lanes : {2, 4, 8, 16, 32}) repeated(lanes);
    for (int bit = 1; bit < LANES; bit *= 2)
        add("same with lane ^ %d", bit, 0, [=](int l) { return (l & ~bit) * ROW; });
    for (int bit = 1; bit < LANES; bit *= 2) displaced(bit, 8);
    for (int bit = 1; bit < 8; bit *= 2) displaced(bit, 1);
    add("rows of a matrix in reverse", 0, 0, [](int l) { return (l ^ 7) * ROW; });
    add("two rows of each matrix in one bank", 0, 0,
        [](int l) { return l * ROW + (l % ROWS == 5 ? 1024 - 16 : 0); });
    add("one matrix repeated with another's row", 0, 0,
        [](int l) { return l % ROWS * ROW + (l == 9 ? 1024 : 0); });
    for (int range = 8; range <= 512; range *= 4)
        for (int number = 0; number < 4; number++) at_random(number, range);
}

/* wmma: the rows' distance in elements, which must be a multiple of 16 bytes. */
static void wmma_patterns(uint32_t bytes, uint32_t least)
{
    for (uint32_t more : {0, 1, 2, 3, 4, 5, 8, 16}) {
        uint32_t stride = least + more * ROW / bytes;
        if (stride * bytes % ROW) stride = (stride * bytes / ROW + 1) * ROW / bytes;
        new_pattern("rows %d elements apart", stride)->stride = stride;
    }
    struct places *p = new_pattern("from byte 32, rows %d elements apart", 64);
    p->stride = 64, p->at[0] = 32;
}

/* ---- the launches ---------------------------------------------------------------------------- */

#define HALF_A(LAYOUT) wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::LAYOUT>, __half
#define HALF_B(LAYOUT) wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::LAYOUT>, __half
#define BYTE_A(LAYOUT)                                                                             \
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::LAYOUT>, signed char
#define TF32_A(LAYOUT)                                                                             \
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::LAYOUT>, float
#define DOUBLE_A(LAYOUT) wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::LAYOUT>, double
#define SUM(TYPE)        wmma::fragment<wmma::accumulator, 16, 16, 16, TYPE>, TYPE

static const struct move {
    const char *operation, *shape;
    void (*run)(uint32_t *);
    uint32_t bytes, least; /* of wmma: of an element; elements of a row */
} moves[] = {
#define LOADS(NAME, SHAPE, LIST)  {"ldmatrix", SHAPE, NAME, 0, 0},
#define STORES(NAME, SHAPE, LIST) {"stmatrix", SHAPE, NAME, 0, 0},
    SHAPES(LOADS, ldmatrix) SHAPES(STORES, stmatrix)
    {"wmma.load", "a.row.f16", wmma_load<HALF_A(row_major)>, 2, 16},
    {"wmma.load", "a.col.f16", wmma_load<HALF_A(col_major)>, 2, 16},
    {"wmma.load", "b.row.f16", wmma_load<HALF_B(row_major)>, 2, 16},
    {"wmma.load", "b.col.f16", wmma_load<HALF_B(col_major)>, 2, 16},
    {"wmma.load", "a.row.s8", wmma_load<BYTE_A(row_major)>, 1, 16},
    {"wmma.load", "a.col.s8", wmma_load<BYTE_A(col_major)>, 1, 16},
    {"wmma.load", "a.row.tf32", wmma_load<TF32_A(row_major)>, 4, 8},
    {"wmma.load", "a.col.tf32", wmma_load<TF32_A(col_major)>, 4, 16},
    {"wmma.load", "a.row.f64", wmma_load<DOUBLE_A(row_major)>, 8, 4},
    {"wmma.load", "a.col.f64", wmma_load<DOUBLE_A(col_major)>, 8, 8},
    {"wmma.load", "c.row.f32", wmma_load<SUM(float), wmma::mem_row_major>, 4, 16},
    {"wmma.load", "c.col.f32", wmma_load<SUM(float), wmma::mem_col_major>, 4, 16},
    {"wmma.load", "c.row.f16", wmma_load<SUM(__half), wmma::mem_row_major>, 2, 16},
    {"wmma.load", "c.col.f16", wmma_load<SUM(__half), wmma::mem_col_major>, 2, 16},
    {"wmma.store", "d.row.f32", wmma_store<SUM(float), wmma::mem_row_major>, 4, 16},
    {"wmma.store", "d.col.f32", wmma_store<SUM(float), wmma::mem_col_major>, 4, 16},
    {"wmma.store", "d.row.f16", wmma_store<SUM(__half), wmma::mem_row_major>, 2, 16},
    {"wmma.store", "d.col.f16", wmma_store<SUM(__half), wmma::mem_col_major>, 2, 16},
};

static void make_patterns(const struct move *move)
{
    memset(&patterns, 0, sizeof patterns);
    state = move->shape[1];
    if (move->bytes) return wmma_patterns(move->bytes, move->least);
    if (strchr(move->shape, '.')) return few_patterns();
    all_patterns();
}

static void take_all(enum mode mode, char **wanted, char *memory)
{
    if (mode == LIST) printf("operation,shape,pattern\n");
    for (const struct move &move : moves) {
        make_patterns(&move);
        take(wanted, mode, {move.operation, move.shape}, patterns, [&](int p) {
            CHECK(cudaMemcpyToSymbol(chosen, &patterns.all[p].places, sizeof chosen));
            move.run<<<1, LANES, WINDOW>>>((uint32_t *)memory);
            finish();
        });
    }
}
} // namespace moving

int main(int argc, char **argv)
{
    char **wanted = argv + 1, *memory = zeros(copying::FROM_BYTES);
    enum mode mode = SEPARATE;
    if (argc > 1 && strcmp(argv[1], "--list") == 0) mode = LIST, wanted++;
    if (argc > 1 && strcmp(argv[1], "--joined") == 0) mode = JOINED, wanted++;
    if (*wanted && strcmp(*wanted, "copies") == 0)
        copying::take_all(mode, wanted + 1, memory);
    else if (*wanted && strcmp(*wanted, "matrices") == 0)
        moving::take_all(mode, wanted + 1, memory);
    else
        take_all(mode, wanted, memory);
    return 0;
}
