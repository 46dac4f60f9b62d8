// intersect: looks the elements of the shortest lists up in the longer ones.
//
// Computes  for every tile t: survivors[t*TILE ...] = the elements of the tile
//           that are in all lists of its query, ascending; counts[t] = how many.
//           With count_only nothing is written to survivors.
// Source    PARA, Wu et al. 2010, section IV, and Ao et al. 2011, section 4.1:
//           an element is one work-item's; here four, so that four searches are
//           in flight. BS, LR and HS: section 4.2 to 4.4. Compressed lists: the
//           skip entries are searched first and only segments that are hit are
//           read (Ding et al. 2009, section 8.1).
// Phases    (1) load four elements; (2) list by list, shortest first, drop those
//           that are not found; (3) set a bit for each survivor in local memory:
//           the bits before it say (4) where to store it. SCAN_SERIAL: one work-item a tile, without barriers.
// Batch     one upload: term records, and tiles from uint4 tiles_at on.
// Launch    one group of WG work-items a tile (SCAN_SERIAL: of one).
// Local     TILE/32 words (SCAN_SERIAL: none).
// Bounds    any list bytes: loads are clamped to the list or table, loops are
//           bounded by log2 of the list and by SEGMENT, stores by the tile.
#ifndef HEDDLE_COMMON
#include "common.cl"
#endif
#ifndef WITH_PARAPFOR
#define WITH_PARAPFOR 1 // 0: no list is compressed; saves registers
#endif

static inline uint4 gather4(words_t p, uint4 i) { return (uint4)(p[i.x], p[i.y], p[i.z], p[i.w]); }

// lower_bound4 finds, for each of four elements, the first i in [lo, hi) with
// p[i] >= x, or hi. No load goes beyond p[n-1].
static inline uint4 lower_bound4(words_t p, uint n, uint4 lo, uint4 hi, uint4 x, uint *loads) {
    while (any(lo < hi)) {
        uint4 mid = lo + (hi - lo) / 2;
        uint4 v = gather4(p, min(mid, n - 1));
        uint4 open = as_uint4(lo < hi), less = as_uint4(v < x);
        LOADS(*loads, popcount(open.x & 1) + popcount(open.y & 1) + popcount(open.z & 1) + popcount(open.w & 1));
        lo = select(lo, mid + 1, open & less);
        hi = select(hi, mid, open & ~less);
    }
    return lo;
}

// find4 says which of four elements are in p[lo, hi). Binary search goes on until
// a range is no longer than NEAR; what is left is compared at once, so the last
// loads do not wait for each other.
#ifndef NEAR
#define NEAR 8 // elements, at least 4; NEAR/4+1 loads of four words
#endif
static inline uint find4(words_t p, uint n, uint4 lo, uint4 hi, uint4 x, uint *loads) {
    while (any(hi - lo > NEAR)) {
        uint4 mid = lo + (hi - lo) / 2;
        uint4 far = as_uint4(hi - lo > NEAR);
        uint4 v = gather4(p, min(mid, n - 1)), less = as_uint4(v < x);
        LOADS(*loads, popcount(far.x & 1) + popcount(far.y & 1) + popcount(far.z & 1) + popcount(far.w & 1));
        lo = select(lo, mid + 1, far & less);
        hi = select(hi, mid + 1, far & ~less); // keeps p[mid], which may be x
    }
    __global const uint4 *q = (__global const uint4 *)p; // lists are aligned and padded
    uint4 hits = 0;
    for (uint k = 0; k < NEAR / 4 + 1; k++) {
        uint4 i = lo / 4 + k, last = (uint4)((n - 1) / 4);
        uint4 in = as_uint4(4 * i < hi);
        i = min(i, last);
        // Words behind the end of the list belong to others.
        uint4 at0 = 4 * i, at1 = at0 + 1, at2 = at0 + 2, at3 = at0 + 3;
        uint4 w0 = q[i.x], w1 = q[i.y], w2 = q[i.z], w3 = q[i.w];
        LOADS(*loads, 4 * (popcount(in.x & 1) + popcount(in.y & 1) + popcount(in.z & 1) + popcount(in.w & 1)));
        uint4 c0 = (uint4)(w0.x, w1.x, w2.x, w3.x), c1 = (uint4)(w0.y, w1.y, w2.y, w3.y);
        uint4 c2 = (uint4)(w0.z, w1.z, w2.z, w3.z), c3 = (uint4)(w0.w, w1.w, w2.w, w3.w);
        hits |= in & ((as_uint4(c0 == x) & as_uint4(at0 < n)) | (as_uint4(c1 == x) & as_uint4(at1 < n)) |
                      (as_uint4(c2 == x) & as_uint4(at2 < n)) | (as_uint4(c3 == x) & as_uint4(at3 < n)));
    }
    return (hits.x & 1) | (hits.y & 2) | (hits.z & 4) | (hits.w & 8);
}

// lr_range4 gives the safe range of the regression line at t: the same integers
// as codec.Line.Range.
static inline void lr_range1(words_t t, uint x, uint n, uint *lo, uint *hi) {
    long slope = (long)((ulong)t[1] << 32 | t[0]), intercept = (long)((ulong)t[3] << 32 | t[2]);
    long left = (long)((ulong)t[5] << 32 | t[4]), right = (long)((ulong)t[7] << 32 | t[6]);
    long at = ((long)x * slope + intercept) >> 30;
    *lo = (uint)clamp(at - left, (long)0, (long)n);
    *hi = (uint)clamp(at + right + 1, (long)*lo, (long)n);
}

static inline void range4(uint4 r, uint4 s, words_t aux, uint4 x, uint4 *lo, uint4 *hi, uint *loads) {
    uint kind = (r.w >> 16) & 0xff, shift = r.w >> 24, n = r.y;
    *lo = 0;
    *hi = n;
    if (kind == PROBE_HS) {
        words_t t = aux + s.x;
        uint4 h = shift < 32 ? x >> shift : (uint4)0;
        uint4 inside = as_uint4(h < s.y - 1), k = min(h, s.y - 2);
        LOADS(*loads, 8);
        *lo = min(gather4(t, k), n);
        *hi = select((uint4)0, min(gather4(t, k + 1), n), inside);
    } else if (kind == PROBE_LR) {
        words_t t = aux + s.x;
        uint l[4], h[4];
        LOADS(*loads, 8);
        lr_range1(t, x.x, n, l, h);
        lr_range1(t, x.y, n, l + 1, h + 1);
        lr_range1(t, x.z, n, l + 2, h + 2);
        lr_range1(t, x.w, n, l + 3, h + 3);
        *lo = vload4(0, l);
        *hi = vload4(0, h);
    }
}

#if WITH_PARAPFOR
// A place in a compressed list: `doc` is docID number `done`-1 of segment
// `segment`; exception e is at value `next`.
typedef struct {
    uint segment, done, doc, e, next;
    segment_t g;
} cursor_t;

// walk advances c to the first docID >= x of segment s and says whether it is x.
// Elements come ascending, so elements of one segment share one walk.
static inline bool walk(words_t p, uint4 r, uint segments, uint s, uint x, cursor_t *c, uint *loads) {
    uint words = r.z;
    if (c->segment != s) {
        c->segment = s;
        c->done = 0;
        c->doc = s ? p[min(s - 1, words - 1)] : 0xffffffffu;
        c->g = packed_segment(p, words, segments, r.y, s);
        c->e = 0;
        c->next = c->g.en ? exception_index(p, words, c->g, 0) : SEGMENT;
        LOADS(*loads, 3);
    }
    while (c->done < c->g.count && (c->done == 0 || c->doc < x)) {
        uint v = bits_at(p, words, c->g.at, c->done * c->g.b, c->g.b);
        LOADS(*loads, 1);
        if (c->done == c->next) {
            v |= exception_overflow(p, words, c->g, c->e);
            c->e++;
            c->next = c->e < c->g.en ? exception_index(p, words, c->g, c->e) : SEGMENT;
            LOADS(*loads, 2);
        }
        c->doc += v + 1;
        c->done++;
    }
    return c->done > 0 && c->doc == x;
}
#endif

// probe4 looks four ascending elements up in the list of record (r, s); the bits
// of alive say which of them are asked for, the result which were found.
static inline uint probe4(ARENA, uint4 r, uint4 s, words_t aux, uint4 x, uint alive, uint *loads) {
    uint codec = r.w & 0xff, kind = (r.w >> 16) & 0xff, n = r.y;
    words_t p = list_words(ARENA_ARGS, r);
    if (codec == CODEC_BITSET || kind == PROBE_BITS) {
        words_t bits = codec == CODEC_BITSET ? p : aux + s.x;
        uint limit = codec == CODEC_BITSET ? r.z / 17 * 16 : s.y;
        if (limit == 0)
            return 0;
        uint4 w = x >> 5;
        uint4 in = as_uint4(w < limit);
        // Elements that are out already load what their neighbour loads.
        uint4 v = gather4(bits, min(w, limit - 1)) >> (x & 31);
        v &= in & 1;
        LOADS(*loads, popcount(alive));
        return alive & (v.x | v.y << 1 | v.z << 2 | v.w << 3);
    }
    if (n == 0)
        return 0;
    uint4 lo, hi;
    range4(r, s, aux, x, &lo, &hi, loads);
    uint4 live = (uint4)(alive & 1, (alive >> 1) & 1, (alive >> 2) & 1, (alive >> 3) & 1);
    hi = select((uint4)0, hi, 0 - live); // an element that is out searches nothing
    lo = min(lo, hi);
    if (codec == CODEC_RAW)
        return alive & find4(p, n, lo, hi, x, loads);
#if WITH_PARAPFOR
    uint segments = (n + SEGMENT - 1) / SEGMENT;
    if (codec != CODEC_PARAPFOR || r.z < 3 * segments)
        return 0; // no encoder writes this
    uint4 end = select((uint4)0, (hi + (SEGMENT - 1)) / SEGMENT, as_uint4(lo < hi));
    uint4 g = lower_bound4(p, segments, lo / SEGMENT, end, x, loads);
    uint4 hit = as_uint4(g < end) & live;
    cursor_t c;
    c.segment = 0xffffffffu;
    uint found = 0;
    if (hit.x && walk(p, r, segments, g.x, x.x, &c, loads)) found |= 1;
    if (hit.y && walk(p, r, segments, g.y, x.y, &c, loads)) found |= 2;
    if (hit.z && walk(p, r, segments, g.z, x.z, &c, loads)) found |= 4;
    if (hit.w && walk(p, r, segments, g.w, x.w, &c, loads)) found |= 8;
    return found;
#else
    return 0;
#endif
}

// survivors4 takes the elements e.x to e.w of a tile through all lists. Elements
// behind the tile's last are out from the start.
static inline uint survivors4(ARENA, __global const uint4 *terms, words_t aux, words_t decoded,
                              uint4 tile, uint4 e, uint4 *x, uint *loads) {
    uint n = tile.w & 0xffff, buffer = tile.w >> 16;
    words_t p = buffer == ELEMENTS_DECODED ? decoded + (size_t)tile.z * 4 : arena_at(ARENA_ARGS, buffer, tile.z);
    uint4 in = as_uint4(e < n);
    uint alive = (in.x & 1) | (in.y & 2) | (in.z & 4) | (in.w & 8);
    *x = gather4(p, min(e, n - 1));
    LOADS(*loads, 4);
    for (uint j = tile.x; j < tile.x + tile.y && alive; j++)
        alive = probe4(ARENA_ARGS, terms[2 * j], terms[2 * j + 1], aux, *x, alive, loads);
    LOADS(*loads, popcount(alive));
    return alive;
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
    uint t = get_global_id(0), n = 0, loads = 0;
    uint4 tile = batch[tiles_at + t], x = 0;
    __global uint *dst = survivors + (size_t)t * TILE;
    for (uint i = 0; i < (tile.w & 0xffff); i += 4) {
        uint alive = survivors4(ARENA_ARGS, batch, aux, decoded, tile, i + (uint4)(0, 1, 2, 3), &x, &loads);
        if (!count_only) {
            uint k = n;
            if (alive & 1) dst[k++] = x.x;
            if (alive & 2) dst[k++] = x.y;
            if (alive & 4) dst[k++] = x.z;
            if (alive & 8) dst[k++] = x.w;
        }
        n += popcount(alive);
    }
    counts[t] = n;
    if (n)
        atomic_add(sums + sums_at + t / BLOCK, n);
#if COUNT_LOADS
    add_loads(loads_total, loads);
#endif
}

#else // SCAN_LOCAL

#define MASKS (TILE / 32)

__attribute__((reqd_work_group_size(WG, 1, 1)))
__kernel void intersect(ARENA, __global const uint *aux, __global const uint4 *batch, uint tiles_at,
                        __global const uint *decoded, __global uint *survivors, __global uint *counts,
                        volatile __global uint *sums, uint sums_at, uint count_only COUNT_ARG) {
    __local uint masks[MASKS]; // a bit an element: it survives
    uint lid = get_local_id(0), t = get_group_id(0), loads = 0;
    uint4 tile = batch[tiles_at + t], x = 0;
    for (uint i = lid; i < MASKS; i += WG)
        masks[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    // Neighbours take neighbouring elements, so that their searches meet in the
    // same cache lines; the four of one work-item are WG apart.
    uint4 e = lid + (uint4)(0, WG, 2 * WG, 3 * WG);
    uint alive = survivors4(ARENA_ARGS, batch, aux, decoded, tile, e, &x, &loads);
    uint bit = 1u << (lid & 31), m = lid / 32;
    if (alive & 1) atomic_or(masks + m, bit);
    if (alive & 2) atomic_or(masks + m + WG / 32, bit);
    if (alive & 4) atomic_or(masks + m + 2 * (WG / 32), bit);
    if (alive & 8) atomic_or(masks + m + 3 * (WG / 32), bit);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint4 before = 0;
    uint total = 0;
    for (uint i = 0; i < MASKS; i++) {
        uint c = popcount(masks[i]);
        total += c;
        before += select((uint4)0, (uint4)c, as_uint4(i < m + (uint4)(0, WG / 32, 2 * (WG / 32), 3 * (WG / 32))));
    }
    if (!count_only) {
        __global uint *to = survivors + (size_t)t * TILE;
        if (alive & 1) to[before.x + popcount(masks[m] & (bit - 1))] = x.x;
        if (alive & 2) to[before.y + popcount(masks[m + WG / 32] & (bit - 1))] = x.y;
        if (alive & 4) to[before.z + popcount(masks[m + 2 * (WG / 32)] & (bit - 1))] = x.z;
        if (alive & 8) to[before.w + popcount(masks[m + 3 * (WG / 32)] & (bit - 1))] = x.w;
    }
    if (lid == 0) {
        counts[t] = total;
        if (total)
            atomic_add(sums + sums_at + t / BLOCK, total);
    }
#if COUNT_LOADS
    add_loads(loads_total, loads);
#endif
}

#endif
