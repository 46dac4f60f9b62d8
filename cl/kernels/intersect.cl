// intersect: looks the elements of the shortest lists up in the longer ones.
//
// Computes  for every tile t: survivors[t*TILE ...] = the elements of the tile
//           that are in all lists of its query, ascending; counts[t] = how many;
//           sums[sums_at + t/BLOCK] += how many, on zeros of the host's.
//           With count_only nothing is written to survivors.
// Source    PARA, Wu et al. 2010, section IV, and Ao et al. 2011, section 4.1:
//           an element is one work-item's. BS, LR and HS: section 4.2 to 4.4.
//           Compressed lists: the skip entries are searched first and only
//           segments that are hit are read (Ding et al. 2009, section 8.1).
// Phases    SCAN_LOCAL: (1) list by list, shortest first, the elements that are
//           found move together in local memory, in any order, so that the next
//           list is probed by full warps; (2) each survivor sets the bit of its
//           place in the tile, and (3) the bits before it say where to store it.
//           SCAN_SERIAL: one work-item takes element after element through all
//           lists.
// Batch     one upload: term records, and tiles from uint4 tiles_at on.
// Launch    one group of WG work-items a tile (SCAN_SERIAL: of one).
// Local     4*TILE + TILE/32 + 3 words (SCAN_SERIAL: none).
// Bounds    any list bytes: loads are clamped to the list or table, loops are
//           bounded by log2 of the list and by SEGMENT, stores by the tile.
#ifndef HEDDLE_COMMON
#include "common.cl"
#endif
#ifndef NEAR
#define NEAR 8 // elements, at least 4; a range as short is compared at once
#endif

// find says whether x is in p[lo, hi). Binary search goes on until the range is
// no longer than NEAR; what is left is compared four at a time, so that the last
// loads do not wait for each other.
static inline bool find(words_t p, uint n, uint lo, uint hi, uint x, uint *loads) {
    while (hi - lo > NEAR) {
        uint mid = lo + (hi - lo) / 2;
        bool less = p[min(mid, n - 1)] < x;
        LOADS(*loads, 1);
        lo = less ? mid + 1 : lo;
        hi = less ? hi : mid + 1; // keeps p[mid], which may be x
    }
    __global const uint4 *q = (__global const uint4 *)p; // lists are aligned and padded
    int4 hits = 0;
    uint last = (n - 1) / 4, first = lo / 4;
    for (uint k = 0; k <= NEAR / 4; k++) {
        uint i = min(first + k, last);
        LOADS(*loads, 4);
        // Words behind the end of the list belong to others.
        hits |= (q[i] == x) & ((uint4)(4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3) < n);
    }
    return any(hits) && lo < hi;
}

// range_of narrows the places of x in the list of record r to [*lo, *hi).
static inline void range_of(uint4 r, uint4 s, words_t aux, uint x, uint *lo, uint *hi, uint *loads) {
    uint kind = (r.w >> 16) & 0xff, n = r.y;
    words_t t = aux + s.x;
    *lo = 0;
    *hi = n;
    if (kind == PROBE_HS) {
        uint h = x >> (r.w >> 24);
        if (s.y > 1 && h < s.y - 1) {
            LOADS(*loads, 2);
            *hi = min(t[h + 1], n);
            *lo = min(t[h], *hi);
        } else {
            *hi = 0;
        }
    } else if (kind == PROBE_LR) { // the same integers as codec.Line.Range
        LOADS(*loads, 8);
        long slope = (long)((ulong)t[1] << 32 | t[0]), intercept = (long)((ulong)t[3] << 32 | t[2]);
        long left = (long)((ulong)t[5] << 32 | t[4]), right = (long)((ulong)t[7] << 32 | t[6]);
        long at = ((long)x * slope + intercept) >> 30;
        *lo = (uint)clamp(at - left, (long)0, (long)n);
        *hi = (uint)clamp(at + right + 1, (long)*lo, (long)n);
    }
}

// in_segment walks segment s of a compressed list to the first docID >= x and
// says whether it is x.
static inline bool in_segment(words_t p, uint4 r, uint segments, uint s, uint x, uint *loads) {
    uint words = r.z, doc = s ? p[min(s - 1, words - 1)] : 0xffffffffu;
    segment_t g = packed_segment(p, words, segments, r.y, s);
    uint e = 0, next = g.en ? exception_index(p, words, g, 0) : SEGMENT;
    LOADS(*loads, 3);
    for (uint i = 0; i < g.count; i++) {
        uint v = bits_at(p, words, g.at, i * g.b, g.b);
        LOADS(*loads, 1);
        if (i == next) {
            v |= exception_overflow(p, words, g, e);
            next = ++e < g.en ? exception_index(p, words, g, e) : SEGMENT;
            LOADS(*loads, 2);
        }
        doc += v + 1;
        if (doc >= x)
            return doc == x;
    }
    return false;
}

// probe says whether x is in the list of record (r, s).
static inline bool probe(ARENA, uint4 r, uint4 s, words_t aux, uint x, uint *loads) {
    uint codec = r.w & 0xff, kind = (r.w >> 16) & 0xff, n = r.y;
    words_t p = list_words(ARENA_ARGS, r);
    if (codec == CODEC_BITSET || kind == PROBE_BITS) {
        words_t bits = codec == CODEC_BITSET ? p : aux + s.x;
        uint limit = codec == CODEC_BITSET ? r.z / 17 * 16 : s.y, w = x >> 5;
        LOADS(*loads, 1);
        return w < limit && (bits[w] >> (x & 31) & 1);
    }
    if (n == 0)
        return false;
    uint lo, hi;
    range_of(r, s, aux, x, &lo, &hi, loads);
    if (codec == CODEC_RAW)
        return find(p, n, lo, hi, x, loads);
    uint segments = SEGMENTS(n);
    if (codec != CODEC_PARAPFOR || r.z / 3 < segments || lo >= hi)
        return false; // an empty range, or no encoder wrote this
    uint end = SEGMENTS(hi);
    lo /= SEGMENT;
    hi = end;
    while (lo < hi) { // the first segment whose last docID is >= x
        uint mid = lo + (hi - lo) / 2;
        LOADS(*loads, 1);
        if (p[mid] < x)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < end && in_segment(p, r, segments, lo, x, loads);
}

// elements returns where the elements of a tile lie.
static inline words_t elements(ARENA, words_t decoded, uint4 tile) {
    uint buffer = tile.w >> 16;
    return buffer == ELEMENTS_DECODED ? decoded + (size_t)tile.z * 4 : arena_at(ARENA_ARGS, buffer, tile.z);
}

#if COUNT_LOADS
#define COUNT_ARG , volatile __global uint *loads_total // two words: low, carries
static inline void add_loads(volatile __global uint *total, uint n) {
    uint old = atomic_add(total, n);
    if (old + n < old)
        atomic_inc(total + 1);
}
#else
#define COUNT_ARG
#endif

#if SCAN_SERIAL

__kernel void intersect(ARENA, __global const uint *aux, __global const uint4 *batch, uint tiles_at,
                        __global const uint *decoded, __global uint *survivors, __global uint *counts,
                        volatile __global uint *sums, uint sums_at, uint count_only COUNT_ARG) {
    uint t = get_global_id(0), found = 0, loads = 0;
    uint4 tile = batch[tiles_at + t];
    words_t from = elements(ARENA_ARGS, decoded, tile);
    for (uint i = 0; i < (tile.w & 0xffff); i++) {
        uint x = from[i], j = tile.x;
        LOADS(loads, 1);
        while (j < tile.x + tile.y && probe(ARENA_ARGS, batch[2 * j], batch[2 * j + 1], aux, x, &loads))
            j++;
        if (j < tile.x + tile.y)
            continue;
        if (!count_only)
            survivors[(size_t)t * TILE + found] = x;
        found++;
    }
    counts[t] = found;
    if (found)
        atomic_add(sums + sums_at + t / BLOCK, found);
#if COUNT_LOADS
    add_loads(loads_total, loads + found);
#endif
}

#else // SCAN_LOCAL

__attribute__((reqd_work_group_size(WG, 1, 1)))
__kernel void intersect(ARENA, __global const uint *aux, __global const uint4 *batch, uint tiles_at,
                        __global const uint *decoded, __global uint *survivors, __global uint *counts,
                        volatile __global uint *sums, uint sums_at, uint count_only COUNT_ARG) {
    __local uint2 alive[2][TILE]; // element and its place in the tile; read one, write the other
    __local uint many[3];         // elements alive: of this list, the next, the one after
    __local uint bits[TILE / 32];
    uint lid = get_local_id(0), t = get_group_id(0), loads = 0;
    uint4 tile = batch[tiles_at + t];
    words_t from = elements(ARENA_ARGS, decoded, tile);
    uint n = tile.w & 0xffff, terms = tile.y, j = 0;
    if (lid < 3)
        many[lid] = 0;
    for (uint i = lid; i < TILE / 32; i += WG)
        bits[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    // The first list is probed by elements as they come from memory.
    for (uint i = lid; i < n; i += WG) {
        uint x = from[i];
        LOADS(loads, 1);
        if (terms == 0 || probe(ARENA_ARGS, batch[2 * tile.x], batch[2 * tile.x + 1], aux, x, &loads))
            alive[0][atomic_inc(&many[0])] = (uint2)(x, i);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    n = many[0];
    for (j = 1; j < terms && n; j++) {
        uint4 r = batch[2 * (tile.x + j)], s = batch[2 * (tile.x + j) + 1];
        for (uint i = lid; i < n; i += WG) {
            uint2 e = alive[(j + 1) & 1][i];
            if (probe(ARENA_ARGS, r, s, aux, e.x, &loads))
                alive[j & 1][atomic_inc(&many[j % 3])] = e;
        }
        if (lid == 0)
            many[(j + 1) % 3] = 0; // read last before the barrier of the list before
        barrier(CLK_LOCAL_MEM_FENCE);
        n = many[j % 3];
    }
    if (lid == 0) {
        counts[t] = n;
        if (n)
            atomic_add(sums + sums_at + t / BLOCK, n);
    }
    // The barrier stands outside of the branches: with one inside and work after
    // it, PoCL 3.1 loses a survivor of every tile.
    __local uint2 *found = alive[(j + 1) & 1];
    uint write = count_only ? 0 : n;
    for (uint i = lid; i < write; i += WG)
        atomic_or(&bits[found[i].y / 32], 1u << (found[i].y & 31));
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lid; i < write; i += WG) {
        uint2 e = found[i];
        uint at = popcount(bits[e.y / 32] & ((1u << (e.y & 31)) - 1));
        for (uint w = 0; w < e.y / 32; w++)
            at += popcount(bits[w]);
        survivors[(size_t)t * TILE + at] = e.x;
        LOADS(loads, 1);
    }
#if COUNT_LOADS
    add_loads(loads_total, loads);
#endif
}

#endif
