// Segments of the gap codecs, decoded by LANES work-items, a whole work-group.
//
// Computes  the gaps of values 4*lane to 4*lane+3 of segment s of the list of
//           record r. Gaps behind the last value are undefined.
// Source    Ding et al. 2009, section 6: a number in unary ends at a bit, a
//           variable byte at a byte; how many end before says whose it is, so a
//           prefix sum over counts puts every end in its place. Ao et al. 2011,
//           section 5.1, for exceptions. In pfd exceptions are a linked list, which
//           one work-item follows.
// Phases    ends or exceptions into local memory, then each work-item's four.
//           Every work-item of the group makes every call; conditions of
//           barriers are the same for all of them.
// Local     LANE_WORDS words of `work`, handed in by the kernel.
// Bounds    see gaps.cl; stores to local memory are below SEGMENT.
#if !SCAN_SERIAL && !defined HEDDLE_SEGMENTS
#define HEDDLE_SEGMENTS
#ifndef HEDDLE_GAPS
#include "gaps.cl"
#endif
#ifndef RICE_BITS
#define RICE_BITS 16 // bits of the unary vector that a work-item reads at once: 8, 16 or 32
#endif

#define LANES (SEGMENT / 4)
#define LANE_WORDS (2 * SEGMENT + LANES)

// segment_barrier orders local memory among the work-items of one segment.
static inline void segment_barrier(void) {
#if NV_SHUFFLE
    asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
#else
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
}

// lanes_sum adds up over the work-items before this one and itself, and over all.
static inline uint2 lanes_sum(uint v, uint lane, __local uint *sums) {
    uint total;
#if NV_SHUFFLE
    for (uint d = 1; d < LANES; d *= 2) {
        uint o;
        asm volatile("shfl.sync.up.b32 %0, %1, %2, 0, 0xffffffff;" : "=r"(o) : "r"(v), "r"(d));
        if (lane >= d) v += o;
    }
    asm volatile("shfl.sync.idx.b32 %0, %1, 31, 31, 0xffffffff;" : "=r"(total) : "r"(v));
#else
    // Few barriers count for more than few additions.
    sums[lane] = v;
    segment_barrier();
    total = 0;
    for (uint i = 0; i < LANES; i++) {
        total += sums[i];
        v = i == lane ? total : v;
    }
    segment_barrier();
#endif
    return (uint2)(v, total);
}

// lanes_count is lanes_sum of 1 where `yes` holds, 0 elsewhere.
static inline uint2 lanes_count(bool yes, uint lane, __local uint *sums) {
#if NV_SHUFFLE
    uint all, one = yes;
    asm volatile("{.reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff;}" : "=r"(all) : "r"(one));
    return (uint2)(popcount(all << (LANES - 1 - lane)), popcount(all));
#else
    return lanes_sum(yes, lane, sums);
#endif
}

// sums4 turns four values of a work-item into sums over all values of the segment
// up to each.
static inline uint4 sums4(uint4 v, uint lane, __local uint *sums) {
    v.y += v.x;
    v.z += v.y;
    v.w += v.z;
    return v + (lanes_sum(v.w, lane, sums).x - v.w);
}

// ends puts the places of set bits of marks in order behind the `found` that are
// there, up to `count` of them: pos[i] = from + (bit >> log). It returns how many
// have been found then, by all work-items.
static inline uint ends(uint marks, uint log, uint from, uint found, uint count, uint lane, __local uint *pos,
                        __local uint *sums) {
    uint here = popcount(marks);
    uint2 sum = lanes_sum(here, lane, sums);
    uint at = found + sum.x - here;
    for (; marks && at < count; marks &= marks - 1)
        pos[at++] = from + ((31 - clz(marks & -marks)) >> log);
    return found + sum.y;
}

// unpacked4 reads four values of b bits from word `at` on.
static inline uint4 unpacked4(words_t p, uint words, uint at, uint b, uint count, uint lane) {
    // A payload that leaves the list is read as zeros, so that nothing is clamped.
    bool inside = packed_words(count, b) <= words - at && 4 * lane < count;
    b = inside ? b : 0;
    return wide4(window(p, inside ? at : 0, 4 * lane * b, b, b <= 8), b);
}

static inline uint4 parapfor_lanes(words_t p, uint4 r, uint s, uint count, uint lane, __local uint *work) {
    segment_t g = packed_segment(p, r.z, SEGMENTS(r.y), r.y, s);
    uint4 v = unpacked4(p, r.z, min(g.at, r.z), g.b, count, lane);
    if (g.en) {
        vstore4((uint4)0, lane, work);
        segment_barrier();
        for (uint e = lane; e < g.en; e += LANES)
            work[exception_index(p, r.z, g, e)] = exception_overflow(p, r.z, g, e);
        segment_barrier();
        v |= vload4(lane, work);
        segment_barrier();
    }
    return v;
}

static inline uint4 vbyte_lanes(words_t p, uint4 r, uint s, uint count, uint lane, __local uint *work) {
    __local uint *pos = work, *sums = work + SEGMENT;
    uint at = vbyte_at(p, r, s), found = 0;
    vstore4((uint4)0, lane, pos);
    segment_barrier();
    for (uint k = 0; k < 5 && found < count; k++) { // no value has more than five bytes
        uint w = load(p, r.z, (ulong)at + k * LANES + lane);
        found = ends(~w & 0x80808080, 3, 4 * (k * LANES + lane), found, count, lane, pos, sums);
    }
    segment_barrier();
    uint4 end = vload4(lane, pos);
    uint begin = lane ? pos[4 * lane - 1] + 1 : 0;
    segment_barrier();
    uint4 v;
#define BYTES(x)                                                                                       \
    {                                                                                                  \
        ulong k = (ulong)at + begin / 4;                                                               \
        ulong bytes = (ulong)load(p, r.z, k + 1) << 32 | load(p, r.z, k);                              \
        bytes = begin % 4 ? bytes >> (8 * (begin % 4)) | (ulong)load(p, r.z, k + 2) << (64 - 8 * (begin % 4)) : bytes; \
        bytes &= ~(ulong)0 >> (64 - 8 * clamp(end.x + 1 - begin, 1u, 5u));                             \
        v.x = (uint)(bytes & 0x7f) | (uint)(bytes >> 1 & 0x3f80) | (uint)(bytes >> 2 & 0x1fc000) |     \
              (uint)(bytes >> 3 & 0xfe00000) | (uint)(bytes >> 4 & 0xf0000000);                        \
        begin = end.x + 1;                                                                             \
    }
    BYTES(x)
    BYTES(y)
    BYTES(z)
    BYTES(w)
    return v;
}

static inline uint4 rice_lanes(words_t p, uint4 r, uint s, uint count, uint lane, __local uint *work) {
    __local uint *pos = work, *sums = work + SEGMENT;
    rice_t x = rice_of(p, r, s);
    uint4 low = unpacked4(p, r.z, x.low, x.b, count, lane);
    uint found = 0, rounds = (r.z - x.at) / RICE_BITS + 1;
    vstore4((uint4)0, lane, pos);
    segment_barrier();
    for (uint k = 0; k < rounds && found < count; k++) {
        uint bit = (k * LANES + lane) * RICE_BITS; // behind x.bit
        ulong at = (ulong)x.at + ((x.bit + (ulong)bit) >> 5);
        uint w = align_words(load(p, r.z, at + 1), load(p, r.z, at), (x.bit + bit) & 31);
        found = ends(~w & low_mask(RICE_BITS), 0, bit, found, count, lane, pos, sums);
    }
    segment_barrier();
    uint4 end = vload4(lane, pos);
    uint before = lane ? pos[4 * lane - 1] : 0xffffffffu;
    segment_barrier();
    // A quotient is the number of ones between two zeros.
    return low + ((end - (uint4)(before, end.x, end.y, end.z) - 1) << x.b);
}

static inline uint4 pfd_lanes(words_t p, uint4 r, uint s, uint count, uint lane, __local uint *work) {
    __local uint *values = work, *index = work + SEGMENT;
    pfd_t x = pfd_of(p, r, s);
    uint4 v = unpacked4(p, r.z, x.at, x.b, count, lane);
    if (x.en) {
        vstore4(v, lane, values);
        segment_barrier();
        if (lane == 0) {
            uint i = x.first;
            for (uint e = 0; e < x.en; e++) {
                index[e] = i;
                i = i < count ? i + 1 + values[i] : i;
            }
        }
        segment_barrier();
        for (uint e = lane; e < x.en; e += LANES)
            if (index[e] < count)
                values[index[e]] = load(p, r.z, (ulong)x.behind + e);
        segment_barrier();
        v = vload4(lane, values);
        segment_barrier();
    }
    return v;
}

// s16_lanes reads count values of Simple16 words from word `at` on, one word a
// work-item at a time.
static inline void s16_lanes(words_t p, uint words, uint at, uint count, uint lane, __local uint *v, __local uint *sums) {
    for (uint k = 0, found = 0; k < SEGMENT / LANES && found < count; k++) {
        uint w = load(p, words, (ulong)at + k * LANES + lane), n = s16_count(w), bit = 0;
        uint2 sum = lanes_sum(n, lane, sums);
        uint i = found + sum.x - n;
        for (uint j = 0; j < n && i < count; j++) {
            uint b = s16_width(w, j);
            v[i++] = w >> bit & low_mask(b);
            bit += b;
        }
        found += sum.y;
    }
}

// indexes turns the distances of `count` exceptions into places, UINT_MAX behind
// the last one.
static inline uint4 indexes(__local const uint *distance, uint count, uint lane, __local uint *sums) {
    uint k = 4 * lane;
    uint4 d = 0; // no read behind the last value, where no work-item has written
    if (k < count) d.x = distance[k] + 1;
    if (k + 1 < count) d.y = distance[k + 1] + 1;
    if (k + 2 < count) d.z = distance[k + 2] + 1;
    if (k + 3 < count) d.w = distance[k + 3] + 1;
    uint4 i = sums4(d, lane, sums) - 1;
    return k + (uint4)(0, 1, 2, 3) < count ? i : (uint4)0xffffffffu;
}

static inline uint4 newpfd_lanes(words_t p, uint4 r, uint s, uint count, uint lane, __local uint *work) {
    __local uint *a = work, *b = work + SEGMENT, *sums = work + 2 * SEGMENT;
    pfd_t x = pfd_of(p, r, s);
    uint4 v = unpacked4(p, r.z, x.at, x.b, count, lane);
    if (x.en) {
        vstore4((uint4)0, lane, a);
        vstore4((uint4)0, lane, b);
        segment_barrier();
        for (uint which = 0; which < 2; which++) // one call: two of them crash PoCL 3.1
            s16_lanes(p, r.z, clamp_at(r.z, (ulong)x.behind + which * x.pw), x.en, lane, work + which * SEGMENT, sums);
        segment_barrier();
        uint4 i = indexes(a, x.en, lane, sums), over = vload4(lane, b) + 1;
        segment_barrier();
        vstore4((uint4)0, lane, a);
        segment_barrier();
        if (i.x < SEGMENT) a[i.x] = above(over.x, x.b);
        if (i.y < SEGMENT) a[i.y] = above(over.y, x.b);
        if (i.z < SEGMENT) a[i.z] = above(over.z, x.b);
        if (i.w < SEGMENT) a[i.w] = above(over.w, x.b);
        segment_barrier();
        v |= vload4(lane, a);
        segment_barrier();
    }
    return v;
}

#endif
