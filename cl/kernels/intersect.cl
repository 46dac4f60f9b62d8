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
//           that are not found; (3) scan the numbers of survivors over the group;
//           (4) store. SCAN_SERIAL: one work-item a tile, without barriers.
// Batch     as in decode.cl.
// Launch    one group of WG work-items a tile (SCAN_SERIAL: of one).
// Local     WG words (SCAN_SERIAL: none).
// Bounds    any list bytes: loads are clamped to the list or table, loops are
//           bounded by log2 of the list and by SEGMENT, stores by the tile.
#ifndef HEDDLE_COMMON
#include "common.cl"
#endif
#ifndef NV_SHUFFLE
#define NV_SHUFFLE 0 // 1: scan over warp shuffles in inline PTX (NVIDIA only)
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
    if (codec == CODEC_RAW) {
        uint4 i = lower_bound4(p, n, lo, hi, x, loads);
        uint4 v = gather4(p, min(i, n - 1));
        LOADS(*loads, popcount(alive));
        v = as_uint4(i < hi) & as_uint4(v == x) & 1;
        return v.x | v.y << 1 | v.z << 2 | v.w << 3;
    }
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

// survivors4 takes the elements 4*i to 4*i+3 of a tile through all lists.
static inline uint survivors4(ARENA, __global const uint4 *terms, words_t aux, words_t decoded,
                       uint t, uint4 tile, uint i, uint4 *x, uint *loads) {
    uint e = 4 * i;
    if (e >= tile.w)
        return 0;
    uint4 r = terms[2 * tile.x];
    uint alive = tile.w - e >= 4 ? 15 : (1u << (tile.w - e)) - 1;
    // Lists and tiles are padded to four words, so whole loads stay inside.
    if ((r.w & 0xff) == CODEC_RAW)
        *x = *(__global const uint4 *)(list_words(ARENA_ARGS, r) + tile.z + e);
    else
        *x = *(__global const uint4 *)(decoded + (size_t)t * TILE + e);
    LOADS(*loads, 4);
    for (uint j = 1; j < tile.y && alive; j++)
        alive = probe4(ARENA_ARGS, terms[2 * (tile.x + j)], terms[2 * (tile.x + j) + 1], aux, *x, alive, loads);
    LOADS(*loads, popcount(alive));
    return alive;
}

// put4 stores the elements of x named by alive from at on.
static inline void put4(__global uint *at, uint4 x, uint alive) {
    if (alive & 1) *at++ = x.x;
    if (alive & 2) *at++ = x.y;
    if (alive & 4) *at++ = x.z;
    if (alive & 8) *at++ = x.w;
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

__kernel void intersect(ARENA, __global const uint *aux, __global const uint4 *batch, uint terms_at, uint tiles_at,
                        __global const uint *decoded, __global uint *survivors, __global uint *counts,
                        uint count_only COUNT_ARG) {
    uint t = get_global_id(0), n = 0, loads = 0;
    uint4 tile = batch[tiles_at + t], x = 0;
    __global uint *dst = survivors + (size_t)t * TILE;
    for (uint i = 0; 4 * i < tile.w; i++) {
        uint alive = survivors4(ARENA_ARGS, batch + terms_at, aux, decoded, t, tile, i, &x, &loads);
        if (!count_only)
            put4(dst + n, x, alive);
        n += popcount(alive);
    }
    counts[t] = n;
#if COUNT_LOADS
    add_loads(loads_total, loads);
#endif
}

#else // SCAN_LOCAL

// group_scan returns the sum of c over lower work-items and, in *total, over all.
static inline uint group_scan(uint c, uint *total, __local uint *sums) {
    uint lid = get_local_id(0), s = c;
#if NV_SHUFFLE
    uint lane = lid & 31;
    for (uint d = 1; d < 32; d *= 2) {
        uint o;
        asm volatile("shfl.sync.up.b32 %0, %1, %2, 0, 0xffffffff;" : "=r"(o) : "r"(s), "r"(d));
        if (lane >= d) s += o;
    }
    if (lane == 31) sums[lid / 32] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint before = 0, all = 0;
    for (uint w = 0; w < WG / 32; w++) {
        uint v = sums[w];
        if (w < lid / 32) before += v;
        all += v;
    }
    *total = all;
    return before + s - c;
#else
    for (uint d = 1; d < WG; d *= 2) {
        sums[lid] = s;
        barrier(CLK_LOCAL_MEM_FENCE);
        uint o = lid >= d ? sums[lid - d] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        s += o;
    }
    sums[lid] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    *total = sums[WG - 1];
    return s - c;
#endif
}

__attribute__((reqd_work_group_size(WG, 1, 1)))
__kernel void intersect(ARENA, __global const uint *aux, __global const uint4 *batch, uint terms_at, uint tiles_at,
                        __global const uint *decoded, __global uint *survivors, __global uint *counts,
                        uint count_only COUNT_ARG) {
    __local uint sums[WG];
    uint lid = get_local_id(0), t = get_group_id(0), loads = 0, n = 0;
    uint4 tile = batch[tiles_at + t];
    for (uint first = 0; first < TILE / 4; first += WG) { // once where WG is TILE/4
        uint4 x = 0;
        uint total, alive = survivors4(ARENA_ARGS, batch + terms_at, aux, decoded, t, tile, first + lid, &x, &loads);
        uint before = group_scan(popcount(alive), &total, sums);
        if (!count_only)
            put4(survivors + (size_t)t * TILE + n + before, x, alive);
        n += total;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0)
        counts[t] = n;
#if COUNT_LOADS
    add_loads(loads_total, loads);
#endif
}

#endif
