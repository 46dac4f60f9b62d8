// probe: whether one docID is in one list, for kernels that look docIDs up.
//
// Computes  probe(list record, table record, x) = x is in the list. Under
//           USE_LINES also lists of lrc, lrcseg, seglrc and hslrc. Of the gap
//           codecs, which skip.cl looks up by segments, only a bitset is probed.
//           USE_IS, USE_LRSEG and USE_LRSPLIT add their algorithms, USE_LRCPFOR lists
//           of lrcpfor.
// Source    Ao et al. 2011: BS and HS, section 4.2 and 4.4; IS, LR and LRSPLIT, section
//           4.3, where "local safe range" is LRSPLIT. LRSEG has one line for all segments.
// Bounds    any list bytes: loads are clamped to the list or table, loops are
//           bounded by log2 of the list.
#ifndef HEDDLE_PROBE
#define HEDDLE_PROBE
#ifndef HEDDLE_COMMON
#include "common.cl"
#endif
#ifndef USE_LINES
#define USE_LINES 0
#endif
#ifndef USE_LRCPFOR
#define USE_LRCPFOR 0
#endif
#ifndef USE_IS
#define USE_IS 0
#endif
#ifndef USE_LRSEG
#define USE_LRSEG 0
#endif
#ifndef USE_LRSPLIT
#define USE_LRSPLIT 0
#endif
#define PROBE_LRSPLIT 8 // table: first docIDs of segments, then slope, intercept, left, right of each
#define SPLIT_LEN 256   // docIDs of a segment
#if USE_LINES
#ifndef HEDDLE_PROBE_LINES
#include "probe_lines.cl"
#endif
#endif
#if USE_LRCPFOR
#ifndef HEDDLE_PROBE_LRCPFOR
#include "probe_lrcpfor.cl"
#endif
#endif
#ifndef NEAR
#define NEAR 8 // elements, at least 4; a range as short is compared at once
#endif

// find says whether x is in p[lo, hi). Binary search goes on until the range is
// no longer than NEAR; the rest is compared four at a time, so that the last
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

#if USE_IS
#ifndef IS_STEPS
#define IS_STEPS 6 // guesses; a list that is no line is halved after them
#endif

// interpolate narrows the places of x in p[0, n), n > 0, by guesses on the line
// between the ends of the present range, in integers.
static inline void interpolate(words_t p, uint n, uint x, uint *lo, uint *hi, uint *loads) {
    uint a = 0, b = n - 1, va = p[a], vb = p[b]; // x is in p[a, b] or nowhere
    LOADS(*loads, 2);
    for (uint k = 0; k < IS_STEPS && b - a > NEAR && va <= x && x <= vb; k++) {
        uint mid = a + (uint)((ulong)(x - va) * (b - a) / max(vb - va, 1u));
        mid = min(mid, b - 1); // holds for unsorted words too, and p[b] is known
        uint v = p[mid];
        LOADS(*loads, 2);
        if (v < x) {
            a = mid + 1;
            va = p[a];
        } else {
            b = mid;
            vb = v;
        }
    }
    *lo = a;
    *hi = va <= x && x <= vb ? b + 1 : a;
}
#endif

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
#if USE_LRSEG
    else if (kind == PROBE_LRSEG && s.y >= 4 + 2 * LRSEG_SEGMENTS(n)) {
        LOADS(*loads, 6);
        long slope = (long)((ulong)t[1] << 32 | t[0]), intercept = (long)((ulong)t[3] << 32 | t[2]);
        uint at = (uint)clamp(((long)x * slope + intercept) >> 30, (long)0, (long)n - 1);
        words_t range = t + 4 + 2 * (at / LRSEG_SEGMENT);
        *lo = at - min(at, range[0]);
        *hi = at + 1 + min(n - 1 - at, range[1]);
    }
#endif
#if USE_LRSPLIT
    else if (kind == PROBE_LRSPLIT && s.y / 6 > (n - 1) / SPLIT_LEN) { // the same integers as codec.SplitLines.Range
        uint segments = (n - 1) / SPLIT_LEN + 1, k = lower_bound(t, 0, segments, x, loads);
        if (k == segments || t[k] != x)
            k = max(k, 1u) - 1;
        words_t line = t + segments + 5 * (size_t)k;
        LOADS(*loads, 7);
        uint first = k * SPLIT_LEN, count = min(n - first, (uint)SPLIT_LEN);
        long at = ((long)((ulong)(x - t[k]) * line[0]) + (long)((ulong)line[2] << 32 | line[1])) >> 30;
        *lo = first + (uint)clamp(at - line[3], (long)0, (long)count);
        *hi = t[k] <= x ? first + (uint)clamp(at + line[4] + 1, (long)(*lo - first), (long)count) : *lo;
    }
#endif
}

// bits_word returns word w of the bits of a list that has a bitset.
static inline uint bits_word(ARENA, uint4 r, uint4 s, words_t aux, uint w, uint *loads) {
    bool bitset = (r.w & 0xff) == CODEC_BITSET;
    words_t bits = bitset ? list_words(ARENA_ARGS, r) : aux + s.x;
    uint limit = bitset ? r.z / 17 * 16 : s.y;
    LOADS(*loads, 1);
    return w < limit ? bits[w] : 0;
}

// probe says whether x is in the list of record (r, s).
static inline bool probe(ARENA, uint4 r, uint4 s, words_t aux, uint x, uint *loads) {
    uint codec = r.w & 0xff, kind = (r.w >> 16) & 0xff, n = r.y;
    if (codec == CODEC_BITSET || kind == PROBE_BITS)
        return bits_word(ARENA_ARGS, r, s, aux, x >> 5, loads) >> (x & 31) & 1;
    words_t p = list_words(ARENA_ARGS, r);
    if (n == 0)
        return false;
#if USE_LINES
    if (kind == PROBE_OWN)
        return probe_buckets(p, r, s, x, loads);
#endif
    uint lo, hi;
    range_of(r, s, aux, x, &lo, &hi, loads);
#if USE_LINES
    if (codec >= CODEC_LRC && codec <= CODEC_SEGLRC)
        return probe_line(p, r, lo, hi, x, loads);
#endif
#if USE_LRCPFOR
    if (codec == CODEC_LRCPFOR)
        return probe_lrcpfor(p, r, lo, hi, x, loads);
#endif
#if USE_IS
    if (kind == PROBE_IS)
        interpolate(p, n, x, &lo, &hi, loads);
#endif
    return codec == CODEC_RAW && find(p, n, lo, hi, x, loads);
}

#endif
