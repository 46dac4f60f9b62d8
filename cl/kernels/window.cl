// window: whether docIDs of a tile are in a list, by the part of the list between
// the first and the last of them. Helpers of merge.cl, no kernel of their own.
//
// Computes  found_of(list record, table record, rows) = the rows of a work-item
//           that are in the list, raw or with bits.
// Local     MERGE_WINDOW words and one.
// Bounds    any list bytes: the part is clamped to the list, probes see probe.cl.
#ifndef HEDDLE_WINDOW
#define HEDDLE_WINDOW
#ifndef HEDDLE_PROBE
#include "probe.cl"
#endif
#ifndef MERGE_WG
#define MERGE_WG 128 // 32, 64, 128 or 256
#endif
#ifndef MERGE_ROWS
#define MERGE_ROWS 8 // elements of a work-item: 4, 8, or 16 where MERGE_WG is below 256
#endif
#define MERGE_TILE (MERGE_WG * MERGE_ROWS)
#ifndef MERGE_WINDOW
#define MERGE_WINDOW (2 * MERGE_TILE) // words of the second list, a power of two, at least MERGE_TILE
#endif

// bits_of returns the bits of record (r, s) and how many words they are; 0 words
// where it has none.
static inline words_t bits_of(ARENA, uint4 r, uint4 s, words_t aux, uint *words) {
    if ((r.w & 0xff) == CODEC_BITSET) {
        *words = r.z / 17 * 16;
        return list_words(ARENA_ARGS, r);
    }
    *words = (r.w >> 16 & 0xff) == PROBE_BITS ? s.y : 0;
    return aux + s.x;
}

// range_between gives the places of docIDs from first to last in the list of record
// (r, s), by its bucket table where there is one.
static inline uint2 range_between(uint4 r, uint4 s, words_t aux, uint first, uint last) {
    uint n = r.y, shift = r.w >> 24, a = first >> shift, b = last >> shift;
    if ((r.w >> 16 & 0xff) != PROBE_HS || s.y < 2)
        return (uint2)(0, n);
    uint hi = b < s.y - 1 ? min(aux[s.x + b + 1], n) : n;
    return (uint2)(a < s.y - 1 ? min(aux[s.x + a], hi) : hi, hi);
}

#if SCAN_SERIAL

// not_below returns the place of the first docID in p[lo, hi) that is not below x.
static inline uint not_below(words_t p, uint lo, uint hi, uint x) {
    while (lo < hi) {
        uint mid = lo + (hi - lo) / 2;
        bool less = p[mid] < x;
        lo = less ? mid + 1 : lo;
        hi = less ? hi : mid;
    }
    return lo;
}

#else // SCAN_LOCAL

// narrow_range cuts range to the places of docIDs from first to last, MERGE_WG sections
// at a time. All work-items call it; it has barriers.
static inline uint2 narrow_range(words_t p, uint2 range, uint first, uint last, __local uint *box) {
    uint lid = get_local_id(0), x = first;
    for (uint end = 0; end < 2; end++) {
        uint lo = range.x, hi = range.y;
        while (lo < hi) {
            uint step = (hi - lo - 1) / MERGE_WG + 1, at = lo + lid * step;
            if (lid == 0)
                box[0] = 0;
            barrier(CLK_LOCAL_MEM_FENCE);
            if (lid <= (hi - lo - 1) / step && p[at] < x)
                atomic_inc(box);
            barrier(CLK_LOCAL_MEM_FENCE);
            uint less = box[0];
            barrier(CLK_LOCAL_MEM_FENCE);
            hi = less <= (hi - lo - 1) / step ? lo + less * step : hi; // the first that is not less
            lo = less ? lo + (less - 1) * step + 1 : hi;
        }
        range = end ? (uint2)(range.x, lo) : (uint2)(lo, range.y);
        x = last + 1;
    }
    return range;
}

// load_window copies words lo to lo+m-1 of a list of n to the window, from a
// multiple of four on, and fills the rest with a value that no docID has.
static inline void load_window(words_t p, uint n, uint lo, uint m, __local uint4 *window) {
    __global const uint4 *q = (__global const uint4 *)p + lo / 4; // lists are aligned and padded
    uint whole = m / 4, left = n - lo / 4 * 4;                    // words behind n belong to other lists
    for (uint i = get_local_id(0); i < MERGE_WINDOW / 4; i += MERGE_WG) {
        uint4 v = 0xffffffffu;
        if (i < whole && 4 * i + 3 < left)
            v = q[i];
        else if (4 * i < m)
            v = select((uint4)0xffffffffu, q[i], (uint4)(4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3) < left);
        window[i] = v;
    }
}

// found_of gives the rows of a work-item that are in the list of record (r, s), among
// the rows whose bits are set in `alive`. x are the rows, the n elements of the tile
// lie in `from`. All work-items call it; it has barriers.
static inline uint found_of(ARENA, uint4 r, uint4 s, words_t aux, words_t from, uint n, const uint x[MERGE_ROWS],
                            uint alive, __local uint *window, __local uint *box, uint *loads) {
    uint words, hits = 0, first = from[0], last = from[n - 1];
    words_t bits = bits_of(ARENA_ARGS, r, s, aux, &words), p = list_words(ARENA_ARGS, r);
    uint2 range = words ? (uint2)0 : range_between(r, s, aux, first, last);
    if (range.y - range.x > MERGE_WINDOW - 4)
        range = narrow_range(p, range, first, last, box);
    uint lo = range.x & ~3u, m = range.y - lo; // the window begins at a multiple of four
    bool fits = m <= MERGE_WINDOW;
    if (!words && fits)
        load_window(p, r.y, lo, m, (__local uint4 *)window);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (words) {
        uint w[MERGE_ROWS];
        LOADS(*loads, popcount(alive));
#pragma unroll
        for (uint k = 0; k < MERGE_ROWS; k++)
            w[k] = bits[min(x[k] >> 5, words - 1)];
#pragma unroll
        for (uint k = 0; k < MERGE_ROWS; k++)
            hits |= (x[k] >> 5 < words ? w[k] >> (x[k] & 31) & 1 : 0) << k;
    } else if (fits) {
        uint at[MERGE_ROWS];
        LOADS(*loads, get_local_id(0) < m ? (m - get_local_id(0) - 1) / MERGE_WG + 1 : 0);
#pragma unroll
        for (uint k = 0; k < MERGE_ROWS; k++)
            at[k] = 0;
#pragma unroll
        for (uint h = MERGE_WINDOW / 2; h; h /= 2)
#pragma unroll
            for (uint k = 0; k < MERGE_ROWS; k++)
                at[k] += window[at[k] + h - 1] < x[k] ? h : 0;
#pragma unroll
        for (uint k = 0; k < MERGE_ROWS; k++)
            hits |= (uint)(window[at[k]] == x[k]) << k;
    } else {
#pragma unroll 1 // it is rare, and long; registers have no index, so memory is read again
        for (uint k = 0; k < MERGE_ROWS; k++)
            if (alive >> k & 1)
                hits |= (uint)probe(ARENA_ARGS, r, s, aux, from[get_local_id(0) + k * MERGE_WG], loads) << k;
    }
    return hits & alive;
}

#endif
#endif
