/*
 * segment.cuh — what one warp does with one segment: it counts the elements that are kept, and
 * stores them one behind the other, or puts them together in shared memory.
 *
 * A segment is ITEMS rows of 32 elements. Lane l has element l of each row. The vote of a warp
 * (ballot) says in one word which elements of a row are kept; the bits below a lane's own are the
 * kept elements before it, and popc counts them. So one vote scans a row.
 */
#ifndef STEP13_SEGMENT_CUH
#define STEP13_SEGMENT_CUH

#include "steps/12-pipeline/parts/segment.cuh"
#include "steps/12-pipeline/parts/states.cuh"
#include "keep.cuh"

/* Counts of elements are carried from tile to tile in 64 bits. */
template <> struct carry_of<unsigned> {
    typedef uint64_t type;
};

/* Which elements of each row are kept: a bit a lane. Elements from `left` on do not exist. Returns
 * how many are kept. `begin` is the index of the segment's first element. */
template <int ITEMS, typename Keep, typename T>
static __device__ unsigned vote(unsigned (&kept)[ITEMS], const T (&x)[ITEMS], size_t begin,
                                unsigned left, const Keep &keep)
{
    unsigned count = 0;
    if (left == ITEMS * LANES) { // asked once, not in each row
#pragma unroll
        for (int k = 0; k < ITEMS; k++)
            kept[k] = __ballot_sync(ALL_LANES, keep(x[k], begin + k * LANES + threadIdx.x % LANES));
    } else {
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            unsigned i = k * LANES + threadIdx.x % LANES;
            kept[k] = __ballot_sync(ALL_LANES, i < left && keep(x[k], begin + i));
        }
    }
#pragma unroll
    for (int k = 0; k < ITEMS; k++) count += __popc(kept[k]);
    return count;
}

/* Stores the kept elements of all rows, one row behind the other, from `to` on. */
template <int ITEMS, typename Out, typename Rows>
static __device__ void store_kept(Out *to, const Rows &x, const unsigned (&kept)[ITEMS])
{
    unsigned own = 1u << threadIdx.x % LANES, lanes_before = own - 1, at = 0;
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        if (kept[k] & own) to[at + __popc(kept[k] & lanes_before)] = x[k];
        at += __popc(kept[k]);
    }
}

/* Loads a segment. Elements from `left` on do not exist and become 0. */
template <int ITEMS, typename T>
static __device__ void fetch(T (&x)[ITEMS], const T *in, unsigned left)
{
    unsigned lane = threadIdx.x % LANES;
    if (left == ITEMS * LANES) {
#pragma unroll
        for (int k = 0; k < ITEMS; k++) x[k] = in[k * LANES + lane];
    } else {
#pragma unroll
        for (int k = 0; k < ITEMS; k++) x[k] = k * LANES + lane < left ? in[k * LANES + lane] : T();
    }
}

/* How many of the SEGMENT elements from index `begin` on exist. */
static __device__ unsigned left_of(size_t begin, size_t n, unsigned segment)
{
    size_t left = begin < n ? n - begin : 0;
    return left < segment ? (unsigned)left : segment;
}

/* ---- vectors: put together in shared memory -------------------------------------------------- */

/* Here a lane has four vectors of neighbours, not one element of each row. So there are no votes:
 * each lane counts what it keeps, and one scan over the lanes serves the whole segment. The counts
 * of the four vectors are the bytes of one word, and are added by one instruction. No byte
 * overflows, because 32 lanes have 128 elements in a vector each, at most. What is still bad: lanes
 * store at distances that depend on what is kept. If nearly all elements are kept, there are
 * four-way bank conflicts. */

#define PICK_VECTORS 4 /* of a lane: the bytes of a word */

/* Elements of a vector, and of a segment. Vector r of lane l is vector r * 32 + l of the segment.
 * A byte of `kept` (below) has a bit for each element of a vector, and may be 4 times 32. */
template <typename T> constexpr unsigned VECTOR_OF = sizeof(T) < 4 ? 4 : 16 / sizeof(T);
template <typename T> constexpr unsigned SEGMENT_OF = PICK_VECTORS *LANES *VECTOR_OF<T>;

/* What a lane has of a segment. Bit k of byte r of `kept`: element k of vector r is kept. */
template <typename T> struct picked {
    vector<T, VECTOR_OF<T>> x[PICK_VECTORS];
    uint32_t kept;
};

/* The place of an element in the segment. */
template <typename T> static __device__ unsigned place_of(int r, unsigned k)
{
    return (r * LANES + threadIdx.x % LANES) * VECTOR_OF<T> + k;
}

/* Loads a segment, of which `left` elements exist. The others become 0. Whole segments that are
 * aligned to vectors are loaded in vectors. */
template <typename T>
static __device__ void load_segment(picked<T> &p, const T *segment, unsigned left, bool aligned)
{
    if (aligned && left >= SEGMENT_OF<T>) {
#pragma unroll
        for (int r = 0; r < PICK_VECTORS; r++)
            p.x[r] = *(const vector<T, VECTOR_OF<T>> *)(segment + place_of<T>(r, 0));
    } else {
#pragma unroll
        for (int r = 0; r < PICK_VECTORS; r++)
#pragma unroll
            for (unsigned k = 0; k < VECTOR_OF<T>; k++)
                p.x[r].e[k] = place_of<T>(r, k) < left ? segment[place_of<T>(r, k)] : T();
    }
}

/* The bits of the elements of a segment that exist: the first `left` ones. */
template <typename T> static __device__ uint32_t bits_of_first(unsigned left)
{
    uint32_t exist = 0;
    if (left >= SEGMENT_OF<T>) return 0x01010101u * ((1u << VECTOR_OF<T>)-1);
#pragma unroll
    for (int r = 0; r < PICK_VECTORS; r++)
#pragma unroll
        for (unsigned k = 0; k < VECTOR_OF<T>; k++)
            if (place_of<T>(r, k) < left) exist |= 1u << (8 * r + k);
    return exist;
}

/* Finds out which elements are kept, of the `left` that exist. `begin` is the index of the first. A
 * Keep is also asked for elements that do not exist. */
template <typename T, typename Keep>
static __device__ void pick(picked<T> &p, size_t begin, unsigned left, const Keep &keep)
{
    uint32_t kept = 0;
#pragma unroll
    for (int r = 0; r < PICK_VECTORS; r++)
#pragma unroll
        for (unsigned k = 0; k < VECTOR_OF<T>; k++)
            if (keep(p.x[r].e[k], begin + place_of<T>(r, k))) kept |= 1u << (8 * r + k);
    p.kept = kept & bits_of_first<T>(left);
}

/* The bits of four flags, the bytes of a word, that are not 0. */
static __device__ uint32_t bits_of_flags(uint32_t word)
{
    // Bit 7 of each byte: adding 0x7f carries into it from any lower bit.
    uint32_t set = ((word & 0x7f7f7f7f) + 0x7f7f7f7f | word) & 0x80808080;
    return (set >> 7) * 0x01020408 >> 24; // byte i goes to bit 24 + i
}

/* The same by the flags of the segment. */
template <typename T, typename Keep>
static __device__ void pick_flagged(picked<T> &p, const uint8_t *flags, unsigned left,
                                    const Keep &keep)
{
    const unsigned V = VECTOR_OF<T>;
    uint32_t set = 0;
#pragma unroll
    for (int r = 0; r < PICK_VECTORS; r++) {
        if (V == 4 && left >= SEGMENT_OF<T>) {
            set |= bits_of_flags(*(const uint32_t *)(flags + place_of<T>(r, 0))) << (8 * r);
        } else {
#pragma unroll
            for (unsigned k = 0; k < V; k++)
                if (place_of<T>(r, k) < left && flags[place_of<T>(r, k)]) set |= 1u << (8 * r + k);
        }
    }
    p.kept = flags_of<Keep>::kept(keep, set) & bits_of_first<T>(left);
}

/* The place of a lane's first kept element of each vector, among all that are kept of the segment,
 * and how many these are. */
struct places {
    unsigned first[PICK_VECTORS], count;
};

static __device__ unsigned byte_of(uint32_t word, int r) { return word >> 8 * r & 0xff; }

static __device__ struct places find_places(uint32_t kept)
{
    // Count the ones in the lower half of each byte, first in pairs. The upper halves are 0.
    uint32_t pairs = kept - (kept >> 1 & 0x05050505);
    uint32_t own = (pairs & 0x03030303) + (pairs >> 2 & 0x03030303);
    uint32_t all = warp_scan(own), before = all - own;
    uint32_t rows = __shfl_sync(ALL_LANES, all, LANES - 1);
    struct places p;
    p.count = 0;
#pragma unroll
    for (int r = 0; r < PICK_VECTORS; r++) {
        p.first[r] = p.count + byte_of(before, r);
        p.count += byte_of(rows, r);
    }
    return p;
}

/* Puts the kept elements together, from `list` on. `before` elements of the tile come before the
 * segment. */
template <typename Stored, typename T>
static __device__ void put_together(typename Stored::held *list, const picked<T> &p,
                                    const struct places &places, unsigned before)
{
#pragma unroll
    for (int r = 0; r < PICK_VECTORS; r++) {
        typename Stored::held *next = list + places.first[r];
#pragma unroll
        for (unsigned k = 0; k < VECTOR_OF<T>; k++)
            if (p.kept & 1u << (8 * r + k))
                *next++ = Stored::hold(p.x[r].e[k], before + place_of<T>(r, k));
    }
}

/* Stores `count` elements that are together, by `threads` threads, of which the calling one is
 * number `thread`. Thread 0 begins at a line of the cache, so that no sector is divided between two
 * stores of a warp but at the ends. Four stores follow four loads, which so overlap. `begin` is the
 * index of the tile's first element. */
template <typename Stored>
static __device__ void store_list(typename Stored::type *to, const typename Stored::held *list,
                                  unsigned count, size_t begin, unsigned thread, unsigned threads)
{
    const int TOGETHER = 4;
    int head = (int)((uintptr_t)to / sizeof(*to) % LANES);
#pragma unroll 1
    for (int i = (int)thread - head; i < (int)count; i += TOGETHER * threads) {
        typename Stored::held x[TOGETHER];
#pragma unroll
        for (int k = 0; k < TOGETHER; k++)
            if (i + k * threads < count) x[k] = list[i + k * threads]; // unsigned: not below 0
#pragma unroll
        for (int k = 0; k < TOGETHER; k++)
            if (i + k * threads < count) to[(int)(i + k * threads)] = Stored::release(x[k], begin);
    }
}

#endif
