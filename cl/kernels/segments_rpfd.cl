// Segments of rpfd, in both shapes.
//
// Computes  the gaps of segment s of the list of record r in work[0] to
//           work[count-1], by one work-item (SCAN_SERIAL, lane = 0) or by LANES, a
//           whole work-group.
// Source    Ding et al. 2009, section 6.2: values, offsets and overflows of the
//           exceptions are arrays of one format, each of one level less, plain
//           words in the end. A block of 128 values has at most 128 exceptions;
//           they lie in two blocks of the arrays inside at most.
// Phases    for each block: values in place; offsets and overflows of its
//           exceptions, a level deeper; their places by a prefix sum; overflows
//           added. The state of each level stands on a stack, so that the
//           barriers stand once (PoCL 3.1 crashes over a call for each level).
// Local     RPFD_WORDS words of `work`: the values, and two times SEGMENT a level;
//           and `sums`, LANES words (SCAN_SERIAL: all private).
// Bounds    see gaps.cl; stores to `work` are below SEGMENT in each part. A block
//           has two blocks inside at each of two arrays at most: the loop ends.
#ifndef HEDDLE_RPFD
#define HEDDLE_RPFD
#ifndef HEDDLE_GAPS
#include "gaps.cl"
#endif
#if !SCAN_SERIAL && !defined HEDDLE_SEGMENTS
#include "segments.cl"
#endif

#define RPFD_WORDS (SEGMENT + 2 * SEGMENT * (RPFD_LEVELS + 1))

#if SCAN_SERIAL
typedef uint *work_t;
#define LANES 1
static inline void segment_barrier(void) {}
#else
typedef __local uint *work_t;
#endif

// Elements from to end-1 of the array of m values at word a, to be read to work[to].
typedef struct {
    uint a, m, from, end, to;
    uint phase; // state of the block at from: 0 nothing is there, 1 offsets are, 2 overflows too
} array_t;

// patch adds overflow j to value i of a block, of which n from `first` on are in v.
static inline void patch(work_t v, uint first, uint n, uint i, work_t overflows, uint j, uint b) {
    if (i - first < n)
        v[i - first] |= above(overflows[j] + 1, b);
}

// patches adds the overflows of `count` exceptions.
static inline void patches(work_t v, uint first, uint n, uint b, work_t offsets, uint count, uint lane, work_t sums) {
    work_t overflows = offsets + SEGMENT;
#if SCAN_SERIAL
    for (uint j = 0, i = 0xffffffffu; j < count; j++) {
        i += offsets[j] + 1;
        patch(v, first, n, i, overflows, j, b);
    }
#else
    uint4 i = indexes(offsets, count, lane, sums);
    patch(v, first, n, i.x, overflows, 4 * lane, b);
    patch(v, first, n, i.y, overflows, 4 * lane + 1, b);
    patch(v, first, n, i.z, overflows, 4 * lane + 2, b);
    patch(v, first, n, i.w, overflows, 4 * lane + 3, b);
#endif
}

static inline void rpfd_gaps(words_t p, uint4 r, uint s, uint count, uint lane, work_t work, work_t sums) {
    uint words = r.z, depth = 0, levels = rpfd_level(p, r), more = 1;
    array_t arrays[RPFD_LEVELS + 1];
    arrays[0] = (array_t){SEGMENTS(r.y), r.y, s * SEGMENT, s * SEGMENT + count, 0, 0};
    while (more) {
        array_t f = arrays[depth];
        rpfd_t x = rpfd_of(p, words, f.a, f.m);
        uint k = f.from / SEGMENT, first = f.from % SEGMENT, n = min(f.end - f.from, SEGMENT - first);
        uint2 e = rpfd_exceptions(p, words, x, k, f.m);
        if (f.phase == 0) {
            uint at = clamp_at(words, x.slots + 4 * (ulong)x.b * k);
            for (uint i = lane; i < n; i += LANES)
                work[f.to + i] = bits_at(p, words, at, (first + i) * x.b, x.b);
        }
        if (e.y && f.phase < 2) {
            uint a = f.phase ? x.overflows : x.offsets, to = SEGMENT * (1 + 2 * depth + f.phase);
            arrays[depth].phase = f.phase + 1;
            if (depth < levels)
                arrays[++depth] = (array_t){a, x.exceptions, e.x, e.x + e.y, to, 0};
            else
                for (uint i = lane; i < e.y; i += LANES)
                    work[to + i] = load(p, words, (ulong)a + e.x + i);
        } else {
            segment_barrier();
            patches(work + f.to, first, n, x.b, work + SEGMENT * (1 + 2 * depth), e.y, lane, sums);
            segment_barrier();
            arrays[depth].from += n;
            arrays[depth].to += n;
            arrays[depth].phase = 0;
            if (f.from + n >= f.end) {
                more = depth;
                depth -= depth > 0;
            }
        }
    }
}

#if !SCAN_SERIAL
// rpfd_lanes gives the gaps of values 4*lane to 4*lane+3.
static inline uint4 rpfd_lanes(words_t p, uint4 r, uint s, uint count, uint lane, __local uint *work) {
    vstore4((uint4)0, lane, work); // behind the last value
    segment_barrier();
    rpfd_gaps(p, r, s, count, lane, work, work + RPFD_WORDS);
    uint4 v = vload4(lane, work);
    segment_barrier();
    return v;
}
#endif

#endif
