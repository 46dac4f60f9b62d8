// decode: the shortest lists of a batch to docIDs.
//
// Computes  out[4*to + i] = docID number first+i of a list, for the elements of
//           a run. Raw lists need no decoding. The words behind the elements, up
//           to whole segments, are undefined.
//           With DECODE_GAPS, of a gap codec, what the list holds in place of docIDs:
//           docID i less docID i-1 less 1, and the first docID.
// Source    Ao et al. 2011, appendix D.2 (ParaPFor), with the prefix sum of
//           d-gaps over one segment. DECODE_GAPS: Ding et al. 2009, Figure 4, "GPU".
// Phases    SCAN_LOCAL: LANES = SEGMENT/4 work-items a segment, four values of
//           ROWS segments each, so that loads of several segments are in flight:
//           (1) read headers, then the values in place, (2) add the overflow of
//           exceptions through local memory, only where a segment has any,
//           (3) scan the sums of four over each segment, (4) 16-byte stores.
//           SCAN_SERIAL: one work-item a run, no barrier.
// Batch     one upload; runs begin at uint4 runs_at.
// Launch    one group of DECODE_WG work-items a run (SCAN_SERIAL: of one).
// Local     4*DECODE_WG words, and 4*DECODE_WG+1 more without NV_SHUFFLE (SCAN_SERIAL:
//           none).
// Bounds    any list bytes: loads are clamped to the list, stores to the run.
#ifndef HEDDLE_COMMON
#include "common.cl"
#endif
#ifndef DECODE_GAPS
#define DECODE_GAPS 0 // 1: decoders write gaps in place of docIDs, for measurements
#endif

#if SCAN_SERIAL

__kernel void decode(ARENA, __global const uint4 *runs, uint runs_at, __global uint *restrict out) {
    uint4 r = runs[runs_at + 2 * get_global_id(0)], run = runs[runs_at + 2 * get_global_id(0) + 1];
    words_t p = list_words(ARENA_ARGS, r);
    __global uint *dst = out + (size_t)run.z * 4;
    if ((r.w & 0xff) == CODEC_BITSET) {
        uint blocks = r.z / 17, block = block_of(p, blocks, run.x), i = 0;
        uint before = blocks ? run.x - p[16 * (size_t)blocks + block] : 0;
        for (uint w = 16 * block; w < 16 * blocks && i < run.y; w++) {
            uint v = p[w];
            for (; before && v; before--)
                v &= v - 1;
            for (; v && i < run.y; v &= v - 1)
                dst[i++] = 32 * w + 31 - clz(v & -v);
        }
        return;
    }
    uint segments = SEGMENTS(r.y);
    if (r.z / 3 < segments)
        return; // no encoder wrote this; there is no barrier to miss
    for (uint i = 0; i < run.y; i += SEGMENT) {
        uint s = (run.x + i) / SEGMENT;
        segment_t g = packed_segment(p, r.z, segments, r.y, s);
        uint doc = s ? p[min(s - 1, r.z - 1)] : 0xffffffffu;
        segment_t in = inside_of(g, r.z);
        uint v[SEGMENT];
        for (uint j = 0; j < SEGMENT; j++)
            v[j] = j < g.count ? value_in(p, in, j) : 0;
        for (uint e = 0; e < g.en; e++)
            v[exception_index(p, r.z, g, e)] |= exception_overflow(p, r.z, g, e);
        for (uint j = 0; j < g.count; j++)
            dst[i + j] = DECODE_GAPS ? v[j] : (doc += v[j] + 1);
    }
}

#else // SCAN_LOCAL

#define LANES (SEGMENT / 4)

// scan4 adds up, over the LANES work-items of a segment, four sums at once.
// Every work-item of the group calls it.
static inline uint4 scan4(uint4 s, uint lane, __local uint4 *sums) {
#if NV_SHUFFLE
    for (uint d = 1; d < LANES; d *= 2) {
        uint4 o;
        asm volatile("shfl.sync.up.b32 %0, %1, %2, 0, 0xffffffff;" : "=r"(o.x) : "r"(s.x), "r"(d));
        asm volatile("shfl.sync.up.b32 %0, %1, %2, 0, 0xffffffff;" : "=r"(o.y) : "r"(s.y), "r"(d));
        asm volatile("shfl.sync.up.b32 %0, %1, %2, 0, 0xffffffff;" : "=r"(o.z) : "r"(s.z), "r"(d));
        asm volatile("shfl.sync.up.b32 %0, %1, %2, 0, 0xffffffff;" : "=r"(o.w) : "r"(s.w), "r"(d));
        if (lane >= d) s += o;
    }
#else
    uint lid = get_local_id(0);
    for (uint d = 1; d < LANES; d *= 2) {
        sums[lid] = s;
        barrier(CLK_LOCAL_MEM_FENCE);
        uint4 o = lane >= d ? sums[lid - d] : (uint4)0;
        barrier(CLK_LOCAL_MEM_FENCE);
        s += o;
    }
#endif
    return s;
}

// segment_barrier orders local memory among the work-items of one segment.
static inline void segment_barrier(void) {
#if NV_SHUFFLE
    asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
#else
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
}

// Where a work-item reads a segment: `b` is 0 for work-items behind the last value.
typedef struct {
    uint b, at; // width in place, first payload word
} row_t;

// row_of makes sense of a directory entry {off, h} of a segment of `count` values
// and adds its exceptions to *any. A payload that would leave the list is read as
// width 0, so that later loads need no clamp: they stay inside the list or in the
// pad of four words behind it.
static inline row_t row_of(uint off, uint h, uint words, uint payload, uint count, uint lane, uint *any) {
    row_t x;
    uint b = h & 63, room = words - payload;
    bool inside = b <= 32 && off <= room && (count * b + 31) / 32 <= room - off;
    *any |= (h >> 16) & 0xff;
    x.at = payload + (inside ? off : 0);
    x.b = inside && (count == SEGMENT || 4 * lane < count) ? b : 0;
    return x;
}

// decode_bitset gives the bits of a run, word by word: the number of bits before a word
// follows from its block and the words between.
static inline void decode_bitset(words_t p, uint4 r, uint4 run, __global uint *dst) {
    uint blocks = r.z / 17;
    if (blocks == 0 || run.y == 0)
        return; // no encoder wrote this
    uint end = 16 * (block_of(p, blocks, run.x + run.y - 1) + 1);
    for (uint w = 16 * block_of(p, blocks, run.x) + get_local_id(0); w < end; w += DECODE_WG) {
        uint v = p[w], i = p[16 * (size_t)blocks + w / 16] - run.x;
        if (v == 0)
            continue;
        for (uint k = w / 16 * 16; k < w; k++)
            i += popcount(p[k]);
        for (; v; v &= v - 1, i++) // before the run i wraps
            if (i < run.y)
                dst[i] = 32 * w + 31 - clz(v & -v);
    }
}

// decode_segments decodes the segments of a run, ROWS a work-item. Its barriers
// stand once in the kernel: PoCL 3.1 made wrong code of two branches with
// barriers each, although a group takes only one of them.
static inline void decode_segments(words_t p, uint4 r, uint4 run, __global uint4 *dst,
                                   __local uint *overflow, __local uint4 *sums, __local uint *exceptions) {
    uint lid = get_local_id(0), lane = lid % LANES, row = lid / LANES;
    uint segments = SEGMENTS(r.y), payload = 3 * segments;
    uint first = run.x / SEGMENT, here = SEGMENTS(run.y);
    row_t g[ROWS];
    uint4 v[ROWS];
    uint any = 0, base[ROWS];
    // Segment of row k; the rows of a work-item are STRIDE segments apart.
#define STRIDE (DECODE_WG / LANES)
#define NUMBER(k) (first + min(row + k * STRIDE, here - 1))
    if (run.y == RUN) { // most runs: headers at constant distances, no clamps
        words_t d = p + (size_t)(segments + 2 * (first + row)), l = p + (size_t)(first + row);
#define FULL_HEADER(k) g[k] = row_of(d[2 * STRIDE * k], d[2 * STRIDE * k + 1], r.z, payload, SEGMENT, lane, &any);
        FOUR(FULL_HEADER)
        base[0] = first + row ? l[-1] : 0xffffffffu;
        base[1] = l[STRIDE - 1];
        base[2] = l[2 * STRIDE - 1];
        base[3] = l[3 * STRIDE - 1];
    } else {
#define HEADER(k)                                                                                     \
    {                                                                                                 \
        uint s = NUMBER(k), d = segments + 2 * s;                                                     \
        g[k] = row_of(p[d], p[d + 1], r.z, payload, min(r.y - s * SEGMENT, (uint)SEGMENT), lane, &any); \
        base[k] = s ? p[s - 1] : 0xffffffffu;                                                         \
    }
        FOUR(HEADER)
    }
    if (max(max(g[0].b, g[1].b), max(g[2].b, g[3].b)) <= 8) {
        // All loads of all rows first: they need not wait for each other.
        window_t w[ROWS];
#define NARROW_LOAD(k) w[k] = window(p, g[k].at, 4 * lane * g[k].b, g[k].b, true);
#define NARROW(k) v[k] = narrow4(w[k], g[k].b);
        FOUR(NARROW_LOAD)
        FOUR(NARROW)
    } else {
#define WIDE(k) v[k] = wide4(window(p, g[k].at, 4 * lane * g[k].b, g[k].b, false), g[k].b);
        FOUR(WIDE)
    }
#if !NV_SHUFFLE
    // The branch below has barriers: the whole group takes it or none.
    if (lid == 0) *exceptions = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (any) *exceptions = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    any = *exceptions;
#endif
    if (any) {
        __local uint *o = overflow + row * SEGMENT;
#define PATCH(k)                                                                                       \
    {                                                                                                  \
        segment_t x = packed_segment(p, r.z, segments, r.y, NUMBER(k));                                \
        vstore4((uint4)0, lane, o);                                                                    \
        segment_barrier();                                                                             \
        for (uint e = lane; e < x.en; e += LANES)                                                      \
            o[exception_index(p, r.z, x, e)] = exception_overflow(p, r.z, x, e);                       \
        segment_barrier();                                                                             \
        v[k] |= vload4(lane, o);                                                                       \
        segment_barrier();                                                                             \
    }
        FOUR(PATCH)
    }
#define ADD_UP(k) v[k] = (uint4)(v[k].x + 1, v[k].x + v[k].y + 2, v[k].x + v[k].y + v[k].z + 3, v[k].x + v[k].y + v[k].z + v[k].w + 4);
    if (!DECODE_GAPS) {
        FOUR(ADD_UP)
    }
    uint4 own = (uint4)(v[0].w, v[1].w, v[2].w, v[3].w);
    uint4 before = DECODE_GAPS ? (uint4)0 : scan4(own, lane, sums) - own + (uint4)(base[0], base[1], base[2], base[3]);
    __global uint4 *to = dst + row * LANES + lane;
    if (row < here) to[0] = v[0] + before.x;
    if (row + STRIDE < here) to[STRIDE * LANES] = v[1] + before.y;
    if (row + 2 * STRIDE < here) to[2 * STRIDE * LANES] = v[2] + before.z;
    if (row + 3 * STRIDE < here) to[3 * STRIDE * LANES] = v[3] + before.w;
}

__attribute__((reqd_work_group_size(DECODE_WG, 1, 1)))
__kernel void decode(ARENA, __global const uint4 *runs, uint runs_at, __global uint *restrict out) {
    __local uint overflow[DECODE_WG * 4];
#if NV_SHUFFLE
    __local uint4 *sums = 0;
    __local uint *exceptions = 0;
#else
    __local uint4 sums[DECODE_WG];
    __local uint exceptions[1];
#endif
    uint4 r = runs[runs_at + 2 * GROUP_ID(0)], run = runs[runs_at + 2 * GROUP_ID(0) + 1];
    words_t p = list_words(ARENA_ARGS, r);
    __global uint4 *dst = (__global uint4 *)(out + (size_t)run.z * 4);
    uint codec = r.w & 0xff; // the same for the whole group
    if (codec == CODEC_BITSET)
        decode_bitset(p, r, run, (__global uint *)dst);
    else if (r.z / 3 >= SEGMENTS(r.y)) // or no encoder wrote this
        decode_segments(p, r, run, dst, overflow, sums, exceptions);
}

#endif
