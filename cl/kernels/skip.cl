// skip: looks the elements of the shortest lists up in lists of coded gaps.
//
// Computes  the results of intersect, in rounds with lists of the gap codecs; lists of
//           other codecs may be among them (probe.cl).
// Source    Ding et al. 2009, section 8.1: the last docIDs of segments are searched
//           first, and a segment is decoded only where an element may lie in it,
//           once for all elements that may.
// Phases    The elements of a tile stay in order, list by list, shortest first.
//           SCAN_LOCAL: (1) the segments of the first and the last element, under
//           HS from their buckets; (2) the segment of every element, between them,
//           four searches at once; (3) the first element of every segment that is
//           hit, and all such segments asked for; (4) segment by segment: decode it into local memory
//           (segments.cl), search it; (5) elements found move together.
//           SCAN_SERIAL: one work-item keeps the segment that it decoded last.
// Batch     as in intersect.
// Launch    one group of LANES work-items a tile (SCAN_SERIAL: of one).
// Local     2.5*TILE + WORK_WORDS words (SCAN_SERIAL: none, but `matches` also as
//           scratch).
// Bounds    any list bytes: see probe.cl and gaps.cl; searches are bounded by log2
//           of the list, segments decoded by the elements.
#ifndef HEDDLE_PROBE
#include "probe.cl"
#endif
#if SCAN_SERIAL && !defined HEDDLE_SEGMENTS
#include "segments_serial.cl"
#endif
#if !SCAN_SERIAL && !defined HEDDLE_SEGMENT_GAPS
#include "segments_any.cl"
#endif
// by_segments says whether the list of record r is looked up by its segments.
static inline bool by_segments(uint4 r) { return is_gaps(r.w & 0xff) && (r.w >> 16 & 0xff) != PROBE_BITS; }

// bucket_segments returns the range of segments that has the segment of x, first
// and behind the last: under HS the segments of its bucket, else all.
static inline uint2 bucket_segments(uint4 r, uint4 s, words_t aux, uint x, uint *loads) {
    uint2 all = (uint2)(0, SEGMENTS(r.y));
    if ((r.w >> 16 & 0xff) == PROBE_HS && s.y > 1) {
        uint h = min(x >> (r.w >> 24), s.y - 2);
        LOADS(*loads, 2);
        all.x = min(aux[s.x + h] / SEGMENT, all.y);
        if (x >> (r.w >> 24) < s.y - 1) // or x is behind the last bucket
            all.y = clamp(aux[s.x + h + 1] / SEGMENT, all.x, all.y);
    }
    return all;
}

#if SCAN_SERIAL

// keep_segments looks n ascending elements up in a list and leaves those that it
// has in `to`, which may be their own array. It returns their number.
static inline uint keep_segments(words_t p, uint4 r, uint4 s, words_t aux, __global const uint *x, uint n,
                                 __global uint *to, uint *loads) {
    uint docs[SEGMENT], segments = SEGMENTS(r.y), found = 0;
    uint now = segments, count = 0, j = 0; // segment in docs, its docIDs, of which j are done
    if (r.y == 0 || r.z < segments)
        return 0; // an empty list, or no encoder wrote this
    for (uint i = 0; i < n; i++) {
        uint e = x[i];
        if (now == segments || p[now] < e) {
            uint2 among = bucket_segments(r, s, aux, e, loads);
            now = lower_bound(p, among.x, among.y, e, loads);
            if (now == segments)
                break; // nothing further on either
            count = segment_docs(p, r, now, docs);
            LOADS(*loads, r.z / segments);
            LOADS(loads[1], 1);
            j = 0;
        }
        while (j < count && docs[j] < e)
            j++;
        if (j < count && docs[j] == e)
            to[found++] = e;
    }
    return found;
}

static inline uint walk(ARENA, words_t aux, __global const uint4 *terms, uint count, words_t from, uint n,
                        __global uint *to, uint *loads) {
    for (uint j = 0; j < count && n; j++) {
        uint4 r = terms[2 * j], s = terms[2 * j + 1];
        if (by_segments(r)) {
            n = keep_segments(list_words(ARENA_ARGS, r), r, s, aux, from, n, to, loads);
        } else {
            uint found = 0;
            for (uint i = 0; i < n; i++) {
                uint e = from[i];
                if (probe(ARENA_ARGS, r, s, aux, e, loads))
                    to[found++] = e;
            }
            n = found;
        }
        from = to;
    }
    if (count == 0)
        for (uint i = 0; i < n; i++)
            to[i] = from[i];
    return n;
}

#else // SCAN_LOCAL

// places finds the segments of n elements, four at once, so that the searches wait
// for memory together. The segments of the first and the last element bound the rest:
// odd work-items look for one of them, even ones for the other.
static inline void places(words_t p, uint4 r, uint4 s, words_t aux, __local const uint *x, uint n, __local uint *place,
                          uint lane, __local uint *work, uint *loads) {
    uint e = x[lane & 1 ? n - 1 : 0];
    uint2 among = bucket_segments(r, s, aux, e, loads);
    e = lower_bound(p, among.x, among.y, e, loads);
    if (lane < 2) work[lane] = e;
    segment_barrier();
    uint last = SEGMENTS(r.y) - 1, begin = min(work[0], last), end = min(max(work[1], begin), last) + 1;
    for (uint i = lane; i < n; i += 4 * LANES) {
        uint4 at = begin, k = min(i + LANES * (uint4)(0, 1, 2, 3), (uint4)(n - 1)); // operands of min are vectors: Oclgrind 21.10 reads a scalar as one
        uint4 y = (uint4)(x[k.x], x[k.y], x[k.z], x[k.w]);
        for (uint left = end - begin; left > 0;) { // as many steps for all
            uint step = (left + 1) / 2;
            uint4 mid = at + step - 1;
            uint4 doc = (uint4)(p[mid.x], p[mid.y], p[mid.z], p[mid.w]);
            LOADS(*loads, 4);
            at = doc < y ? at + step : at;
            left -= step;
        }
        place[k.x] = at.x;
        if (i + LANES < n) place[k.y] = at.y;
        if (i + 2 * LANES < n) place[k.z] = at.z;
        if (i + 3 * LANES < n) place[k.w] = at.w;
    }
}

// has says whether x is in docs, SEGMENT ascending words.
static inline bool has(__local const uint *docs, uint x) {
    uint at = 0;
    for (uint step = SEGMENT / 2; step; step /= 2)
        at += docs[at + step - 1] < x ? step : 0;
    return docs[at] == x;
}

// mark_segments sets place[i] to whether the list has element i of n. Every
// work-item of the group calls it.
static inline void mark_segments(words_t p, uint4 r, uint4 s, words_t aux, __local const uint *x, uint n,
                                 __local uint *place, __local ushort *heads, __local uint *work, uint *loads) {
    uint lane = get_local_id(0), segments = SEGMENTS(r.y), hits = 0;
    places(p, r, s, aux, x, n, place, lane, work, loads);
    segment_barrier();
    for (uint from = 0; from < n; from += LANES) {
        uint i = from + lane;
        bool head = i < n && place[i] < segments && (i == 0 || place[i] != place[i - 1]);
        uint2 sum = lanes_count(head, lane, work);
        if (head) heads[hits + sum.x - 1] = i;
        hits += sum.y;
    }
    segment_barrier();
    LOADS(loads[1], lane ? 0 : hits);
    for (uint h = lane; h < hits; h += LANES)
        touch_segment(p, r, place[heads[h]]);
    if (hits == 0) // behind the end of the list
        for (uint i = lane; i < n; i += LANES)
            place[i] = 0;
    for (uint h = 0; h < hits; h++) {
        uint from = heads[h], stop = h + 1 < hits ? heads[h + 1] : n, segment = place[from];
        uint count = segment_count(r, segment), base = segment_base(p, r, segment);
        uint4 d = sums4(gaps_of(p, r, segment, count, lane, work) + 1, lane, work) + base;
        d = 4 * lane + (uint4)(0, 1, 2, 3) < count ? d : (uint4)0xffffffffu;
        vstore4(d, lane, work);
        segment_barrier();
        for (uint i = from + lane; i < stop; i += LANES)
            place[i] = has(work, x[i]);
        segment_barrier();
        LOADS(*loads, lane ? 0 : r.z / segments);
    }
}

// keep moves the elements with a mark together and returns how many there are.
static inline uint keep(__local uint *x, __local const uint *mark, uint n, uint lane, __local uint *work) {
    uint kept = 0;
    for (uint from = 0; from < n; from += LANES) {
        uint i = from + lane, e = i < n ? x[i] : 0;
        bool alive = i < n && mark[i];
        uint2 sum = lanes_count(alive, lane, work);
        segment_barrier();
        if (alive) x[kept + sum.x - 1] = e;
        kept += sum.y;
    }
    segment_barrier();
    return kept;
}

static inline uint walk(ARENA, words_t aux, __global const uint4 *terms, uint count, __local uint *x, uint n,
                        __local uint *place, __local ushort *heads, __local uint *work, uint *loads) {
    uint lane = get_local_id(0);
    for (uint j = 0; j < count && n; j++) {
        uint4 r = terms[2 * j], s = terms[2 * j + 1];
        uint m = n; // elements to be marked by their segments
        if (!by_segments(r)) {
            for (uint i = lane; i < n; i += LANES)
                place[i] = probe(ARENA_ARGS, r, s, aux, x[i], loads);
            m = 0;
        } else if (r.y == 0 || r.z < SEGMENTS(r.y)) {
            n = m = 0; // an empty list, or no encoder wrote this
        }
        if (m)
            mark_segments(list_words(ARENA_ARGS, r), r, s, aux, x, m, place, heads, work, loads);
        segment_barrier();
        n = keep(x, place, n, lane, work);
    }
    return n;
}

#endif

#if !SCAN_SERIAL
__attribute__((reqd_work_group_size(LANES, 1, 1)))
#endif
__kernel void intersect(ARENA, __global const uint *aux, __global const uint4 *batch, __global const uint *decoded,
                        __global uint *matches, __global uint *counts, volatile __global uint *sums, uint tiles_at,
                        uint sums_at, uint count_only COUNT_ARG) {
    uint loads[2] = {0, 0}; // words, and segments that the group decoded
#if SCAN_SERIAL
    uint t = get_global_id(0), lane = 0;
#else
    __local uint x[TILE];       // elements, ascending
    __local uint place[TILE];   // segment of each, then whether it was found
    __local ushort heads[TILE]; // first element of each segment that is hit
    __local uint work[WORK_WORDS];
    uint t = GROUP_ID(0), lane = get_local_id(0);
#endif
    uint4 tile = batch[tiles_at + t];
    uint buffer = tile.w >> 16, n = tile.w & 0xffff;
    words_t from = buffer == ELEMENTS_DECODED ? decoded + (size_t)tile.z * 4 : arena_at(ARENA_ARGS, buffer, tile.z);
    __global uint *to = matches + (size_t)t * TILE;
    LOADS(loads[0], lane ? 0 : n);
#if SCAN_SERIAL
    n = walk(ARENA_ARGS, aux, batch + 2 * tile.x, tile.y, from, n, to, loads);
#else
    for (uint i = lane; i < n; i += LANES)
        x[i] = from[i];
    segment_barrier();
    n = walk(ARENA_ARGS, aux, batch + 2 * tile.x, tile.y, x, n, place, heads, work, loads);
    for (uint i = lane; i < n && !count_only; i += LANES)
        to[i] = x[i];
#endif
    if (lane == 0) {
        counts[t] = n;
        LOADS(loads[0], count_only ? 0 : n);
        if (n)
            atomic_add(sums + sums_at + t / BLOCK, n);
    }
#if COUNT_LOADS
    add_loads(loads_total, loads[0]);
    if (lane == 0 && loads[1])
        add_loads(loads_total + 2, loads[1]);
#endif
}
