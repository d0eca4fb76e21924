/*
 * translated.c — what the emulator could gain by compiling PTX: the 512 x 512 matrix product of
 * micro.cu, whose PTX is translated here to C by hand, instruction by instruction.
 *
 * Each register is an array of 32 lanes, each instruction a loop over them. It keeps what the
 * emulator does for the program: it checks the shape (one address or consecutive ones), the bounds
 * and the alignment of every access, and makes NaNs canonical. It leaves out the interpreter: to
 * find the next instruction, its operands and its function, masks, and the schedule of warps. The C
 * compiler may also keep registers of PTX in registers of the CPU.
 */
#include "bench.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LANES = 32,
    WARPS = 32, /* of a block */
    TILE = 32,
    SIDE = 512,
    TILES = SIDE / TILE,
    GRID = TILES * TILES,
    ELEMENTS = SIDE * SIDE,
    TILE_BYTES = TILE * TILE * (int)sizeof(float),
    SHARED_BYTES = 2 * TILE_BYTES, /* a, then b */
};

#define EACH(...)                                                                                  \
    do {                                                                                           \
        _Pragma("GCC ivdep") for (int l = 0; l < LANES; l++) __VA_ARGS__;                          \
    } while (0)
#define INLINE static inline __attribute__((always_inline))

/* The registers of PTX that live across a barrier, under their numbers there. */
struct warp {
    uint32_t r1[LANES], r2[LANES], r3[LANES], r4[LANES], r5[LANES], r6[LANES];
    uint32_t r38[LANES], r39[LANES], r40[LANES];
    float f101[LANES];
};

struct memory {
    uint8_t *bytes;
    uint64_t first, size; /* its first address */
};

/* ---- accesses of all lanes to one word each ---- */

INLINE bool is_inside(const struct memory *memory, uint64_t address, uint64_t bytes)
{
    uint64_t at = address - memory->first;
    return at < memory->size && memory->size - at >= bytes && address % sizeof(float) == 0;
}

/* Where the lanes' words begin, and how far each is from the one before: 0 or 4 bytes. */
struct run {
    uint64_t first, stride;
};

/* Do the lanes access one word, or consecutive ones? As in the emulator, an offset that is added to
 * a register does not matter for it. */
INLINE bool find_run_u64(const uint64_t *base, struct run *run)
{
    uint64_t first = base[0], differs = 0, apart = 0 - (uint64_t)(base[1] != first);
    EACH(differs |= base[l] - first - ((uint64_t)l * sizeof(float) & apart));
    *run = (struct run){first, sizeof(float) & apart};
    return differs == 0;
}

INLINE bool find_run_u32(const uint32_t *base, uint32_t offset, struct run *run)
{
    uint32_t first = base[0], differs = 0, apart = 0 - (uint32_t)(base[1] != first);
    EACH(differs |= base[l] - first - ((uint32_t)l * (uint32_t)sizeof(float) & apart));
    *run = (struct run){first + offset, sizeof(float) & apart};
    return differs == 0;
}

INLINE bool is_run_inside(const struct memory *memory, const struct run *run)
{
    return is_inside(memory, run->first, (LANES - 1) * run->stride + sizeof(float));
}

INLINE float *word_at(const struct memory *memory, uint64_t address)
{
    return (float *)(memory->bytes + (address - memory->first));
}

INLINE void load_run(const struct memory *memory, const struct run *run, float *to)
{
    const float *from = word_at(memory, run->first);
    float first = *from;
    if (run->stride == 0)
        EACH(to[l] = first);
    else
        EACH(to[l] = from[l]);
}

/* Of lanes that store to one address the last one wins. */
INLINE void store_run(const struct memory *memory, const struct run *run, const float *from)
{
    float *to = word_at(memory, run->first);
    if (run->stride == 0)
        *to = from[LANES - 1];
    else
        EACH(to[l] = from[l]);
}

/* The accesses of other shapes: each lane's address is checked. The matrix product has none. */
static __attribute__((noinline)) bool
move_lanes(const struct memory *memory, const uint64_t *address, float *lanes, bool is_store)
{
    for (int l = 0; l < LANES; l++) {
        if (!is_inside(memory, address[l], sizeof(float))) return false;
        float *word = word_at(memory, address[l]);
        *(is_store ? word : &lanes[l]) = *(is_store ? &lanes[l] : word);
    }
    return true;
}

INLINE bool access_shared(const struct memory *shared, const uint32_t *base, uint32_t offset,
                          float *lanes, bool is_store)
{
    struct run run;
    if (find_run_u32(base, offset, &run) && is_run_inside(shared, &run)) {
        if (is_store)
            store_run(shared, &run, lanes);
        else
            load_run(shared, &run, lanes);
        return true;
    }
    uint64_t address[LANES];
    EACH(address[l] = (uint32_t)(base[l] + offset));
    return move_lanes(shared, address, lanes, is_store);
}

/* mul.wide.u32 and add.s64, then ld.global.f32 or st.global.f32 */
INLINE bool access_global(const struct memory *global, const uint32_t *index, float *lanes,
                          bool is_store)
{
    struct run run;
    uint64_t address[LANES];
    EACH(address[l] = global->first + (uint64_t)index[l] * 4);
    if (!find_run_u64(address, &run) || !is_run_inside(global, &run))
        return move_lanes(global, address, lanes, is_store);
    if (is_store)
        store_run(global, &run, lanes);
    else
        load_run(global, &run, lanes);
    return true;
}

/* ---- the kernel, in parts that end at a barrier ---- */

/* The instructions before the loop. bfi of 4 bits from bit 5 on takes column and tile together. */
INLINE void start(struct warp *w, uint32_t warp, uint32_t ctaid)
{
    enum { A = 0, B = TILE_BYTES }; /* the tiles' addresses in shared memory */
    EACH({
        uint32_t tid = warp * LANES + (uint32_t)l, x = tid & 31, y = tid >> 5;
        uint32_t tile_row = ctaid >> 4, tile_column = ctaid & 15, across = ctaid << 5 & 480;
        w->r1[l] = (tile_column & 15) << 5 | (x & ~(15U << 5));
        w->r2[l] = ((tile_row << 5) + y) << 9;
        w->r5[l] = A + (y << 7);
        w->r3[l] = w->r5[l] + (tid << 2 & 124);
        w->r4[l] = B + (y << 7) + (tid << 2 & 124);
        w->r6[l] = B + (tid << 2 & 124);
        w->r39[l] = (across | y << 9) | x;
        w->r38[l] = ((tile_row << 14) + (y << 9)) | x;
        w->f101[l] = 0;
        w->r40[l] = 0;
    });
}

INLINE bool load_tiles(struct warp *w, const struct memory *global, const struct memory *shared)
{
    float f4[LANES], f5[LANES];
    return access_global(global, w->r38, f4, false) && access_shared(shared, w->r3, 0, f4, true) &&
           access_global(global, w->r39, f5, false) && access_shared(shared, w->r4, 0, f5, true);
}

/* ld.shared, ld.shared, fma.rn: 32 times, as nvcc unrolls the loop. */
INLINE bool multiply_tiles(struct warp *w, const struct memory *shared)
{
    float b[LANES], a[LANES];
    for (uint32_t k = 0; k < TILE; k++) {
        if (!access_shared(shared, w->r6, 128 * k, b, false) ||
            !access_shared(shared, w->r5, 4 * k, a, false))
            return false;
        EACH({
            float sum = __builtin_fmaf(a[l], b[l], w->f101[l]);
            w->f101[l] = sum == sum ? sum : __builtin_nanf("0x3fffff");
        });
    }
    return true;
}

/* After the second barrier. Returns the lanes that go back to the loop's beginning. */
INLINE uint32_t next_tiles(struct warp *w)
{
    uint32_t p1 = 0;
    EACH(w->r39[l] += TILE * SIDE);
    EACH(w->r38[l] += TILE);
    EACH(w->r40[l] += TILE);
    for (int l = 0; l < LANES; l++) p1 |= (uint32_t)(w->r40[l] < SIDE) << l;
    return p1;
}

INLINE bool store_sums(struct warp *w, const struct memory *global)
{
    uint32_t r37[LANES];
    EACH(r37[l] = w->r1[l] + w->r2[l] + ELEMENTS);
    return access_global(global, r37, w->f101, true);
}

#define EACH_WARP(call)                                                                            \
    for (uint32_t n = 0; n < WARPS; n++)                                                           \
        if (!(call)) return false

INLINE bool run_block(struct warp *w, const struct memory *global, uint32_t ctaid)
{
    _Alignas(64) uint8_t bytes[SHARED_BYTES];
    struct memory shared = {bytes, 0, SHARED_BYTES};
    uint32_t again = UINT32_MAX;
    for (uint32_t n = 0; n < WARPS; n++) start(&w[n], n, ctaid);
    while (again != 0) {
        EACH_WARP(load_tiles(&w[n], global, &shared));
        EACH_WARP(multiply_tiles(&w[n], &shared));
        for (uint32_t n = 0; n < WARPS; n++) again = next_tiles(&w[n]);
        if (again != 0 && again != UINT32_MAX) return false; /* lanes never diverge here */
    }
    EACH_WARP(store_sums(&w[n], global));
    return true;
}

INLINE bool run_blocks(const struct memory *global)
{
    static struct warp warps[WARPS];
    for (uint32_t ctaid = 0; ctaid < GRID; ctaid++)
        if (!run_block(warps, global, ctaid)) return false;
    return true;
}

/* The emulator's operations are compiled for the same two kinds of processors. */
#if defined __x86_64__
static __attribute__((target("arch=x86-64-v3"))) bool run_v3(const struct memory *global)
{
    return run_blocks(global);
}
#endif

static bool run_base(const struct memory *global) { return run_blocks(global); }

static cudaError_t product_in_c(void *argument)
{
    bool (*run)(const struct memory *) = run_base;
#if defined __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi2"))
        run = run_v3;
#endif
    return run(argument) ? cudaSuccess : cudaErrorIllegalAddress;
}

/* ---- comparison and measurement ---- */

struct product {
    const struct micro *micro;
    void *buffer;
};

static cudaError_t product_in_ptx(void *argument)
{
    const struct product *p = argument;
    return p->micro->launch(p->buffer, p->micro->n, p->micro->block);
}

static void fail(const char *what)
{
    fprintf(stderr, "bench: the translated matrix product: %s\n", what);
    exit(1);
}

/* Different numbers, some of them infinite or NaN, so that bits show a difference. */
static void fill(float *data)
{
    enum { RARE = 100003 };
    uint32_t random = 1;
    for (int k = 0; k < ELEMENTS; k++) {
        random = random * 1664525 + 1013904223;
        data[k] = k % RARE == RARE - 1 ? INFINITY : ((float)(random >> 8) - 0x1p23f) * 0x1p-20f;
    }
}

/* Both programs on the same numbers: every bit has to agree. */
static void compare(struct product *p, float *data, const struct memory *global)
{
    size_t bytes = ELEMENTS * sizeof(float);
    float *result = malloc(bytes);
    if (result == NULL) fail("no memory");
    if (cudaMemcpy(p->buffer, data, bytes, cudaMemcpyHostToDevice) != cudaSuccess ||
        product_in_ptx(p) != cudaSuccess ||
        cudaMemcpy(result, (float *)p->buffer + ELEMENTS, bytes, cudaMemcpyDeviceToHost) !=
            cudaSuccess)
        fail("the emulator's run failed");
    if (product_in_c((void *)(uintptr_t)global) != cudaSuccess) fail("an access out of bounds");
    if (memcmp(result, data + ELEMENTS, bytes) != 0) fail("its result is not the emulator's");
    free(result);
}

void measure_translation(void *buffer)
{
    struct product p = {micros, buffer};
    while (p.micro->name != NULL && strcmp(p.micro->name, "large product") != 0) p.micro++;
    if (p.micro->name == NULL) fail("micro.cu has no \"large product\"");
    size_t bytes = 2 * ELEMENTS * sizeof(float);
    float *data = aligned_alloc(64, bytes);
    if (data == NULL) fail("no memory");
    struct memory global = {(uint8_t *)data, (uintptr_t)data, bytes};
    fill(data);
    compare(&p, data, &global);

    struct bench_case interpreted = {"micro", p.micro->name, p.micro->n, p.micro->block};
    struct bench_case translated = {"micro", "large product in C", p.micro->n, p.micro->block};
    double work = count_instructions(&interpreted, product_in_ptx, &p);
    measure_work(&translated, work, product_in_c, &global);
    free(data);
}
