// decode: the shortest lists of a batch, tile by tile, to docIDs.
//
// Computes  out[t*TILE + i] = docID first+i of the list of tile t = todo[group],
//           for the elements that the tile has; the rest of the tile is
//           undefined. Raw lists need no decoding and are not in todo.
// Source    Ao et al. 2011, appendix D.2 (ParaPFor), with the prefix sum of
//           d-gaps over one segment.
// Phases    SCAN_LOCAL: SEGMENT/4 work-items a segment, four values each:
//           (1) read the values in place, (2) add the overflow of exceptions
//           through local memory, only when a segment of the group has any,
//           (3) scan the sums of four over the segment, (4) one 16-byte store.
//           SCAN_SERIAL: one work-item a tile, no barrier.
// Batch     one upload: term records from uint4 terms_at on, tiles from uint4
//           tiles_at on, todo from word todo_at on.
// Launch    one group of WG work-items a tile (SCAN_SERIAL: of one).
// Local     5*WG words (SCAN_SERIAL: none).
// Bounds    any list bytes: loads are clamped to the list, stores to the tile.
#ifndef HEDDLE_COMMON
#include "common.cl"
#endif
#ifndef NV_SHUFFLE
#define NV_SHUFFLE 0 // 1: scan over warp shuffles in inline PTX (NVIDIA only)
#endif

// select_bit returns the position of set bit r (0-based) of a bitset of
// `blocks` blocks of 512 bits whose rank directory lies behind the bits.
static inline uint select_bit(words_t p, uint blocks, uint r) {
    words_t rank = p + 16 * (size_t)blocks;
    uint lo = 0, hi = blocks; // first block whose rank is above r
    while (lo < hi) {
        uint mid = lo + (hi - lo) / 2;
        if (rank[mid] > r) hi = mid; else lo = mid + 1;
    }
    if (lo == 0)
        return 0; // no encoder writes this
    uint block = lo - 1, left = r - rank[block], k = 0, w = 0;
    for (; k < 16; k++) {
        w = p[16 * (size_t)block + k];
        uint c = popcount(w);
        if (left < c)
            break;
        left -= c;
    }
    for (; left > 0 && w; left--)
        w &= w - 1;
    return block * 512 + k * 32 + (w ? 31 - clz(w & -w) : 0);
}

#if SCAN_SERIAL

__kernel void decode(ARENA, __global const uint4 *batch, uint terms_at, uint tiles_at, uint todo_at,
                     __global uint *out) {
    uint t = ((__global const uint *)batch)[todo_at + get_global_id(0)];
    uint4 tile = batch[tiles_at + t], r = batch[terms_at + 2 * tile.x];
    words_t p = list_words(ARENA_ARGS, r);
    __global uint *dst = out + (size_t)t * TILE;
    if ((r.w & 0xff) == CODEC_BITSET) {
        for (uint i = 0; i < tile.w; i++)
            dst[i] = select_bit(p, r.z / 17, tile.z + i);
        return;
    }
    uint segments = (r.y + SEGMENT - 1) / SEGMENT;
    for (uint i = 0; i < tile.w; i += SEGMENT) {
        uint s = (tile.z + i) / SEGMENT;
        segment_t g = packed_segment(p, r.z, segments, r.y, s);
        uint doc = s ? p[min(s - 1, r.z - 1)] : 0xffffffffu;
        uint e = 0, next = g.en ? exception_index(p, r.z, g, 0) : SEGMENT;
        for (uint j = 0; j < g.count && i + j < TILE; j++) {
            uint v = bits_at(p, r.z, g.at, j * g.b, g.b);
            if (j == next) {
                v |= exception_overflow(p, r.z, g, e);
                next = ++e < g.en ? exception_index(p, r.z, g, e) : SEGMENT;
            }
            doc += v + 1;
            dst[i + j] = doc;
        }
    }
}

#else // SCAN_LOCAL

#define LANES (SEGMENT / 4)

// inclusive_scan adds up s over the LANES work-items of a segment. Every
// work-item of the group calls it.
static inline uint inclusive_scan(uint s, uint lane, __local uint *sums) {
#if NV_SHUFFLE
    for (uint d = 1; d < LANES; d *= 2) {
        uint o;
        asm volatile("shfl.sync.up.b32 %0, %1, %2, 0, 0xffffffff;" : "=r"(o) : "r"(s), "r"(d));
        if (lane >= d) s += o;
    }
    return s;
#else
    uint lid = get_local_id(0);
    for (uint d = 1; d < LANES; d *= 2) {
        sums[lid] = s;
        barrier(CLK_LOCAL_MEM_FENCE);
        uint o = lane >= d ? sums[lid - d] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        s += o;
    }
    return s;
#endif
}

// values4 reads values 4*lane to 4*lane+3 in place: one to five words.
static inline uint4 values4(words_t p, uint words, segment_t g, uint lane) {
    uint bit = 4 * lane * g.b, k = g.at + (bit >> 5), s = bit & 31, last = words - 1;
    uint end = s + 4 * g.b; // bits from word k on
    ulong m = low_mask(g.b);
    ulong lo = p[min(k, last)];
    if (end > 32) lo |= (ulong)p[min(k + 1, last)] << 32;
    if (g.b <= 8) { // four values in 32 bits behind s < 32
        lo >>= s;
        return (uint4)(lo & m, (lo >> g.b) & m, (lo >> 2 * g.b) & m, (lo >> 3 * g.b) & m);
    }
    ulong hi = 0;
    uint top = 0;
    if (end > 64) hi = p[min(k + 2, last)];
    if (end > 96) hi |= (ulong)p[min(k + 3, last)] << 32;
    if (end > 128) top = p[min(k + 4, last)];
    if (s) {
        lo = lo >> s | hi << (64 - s);
        hi = hi >> s | (ulong)top << (64 - s);
    }
    uint2 a = (uint2)(lo & m, (lo >> g.b) & m);
    uint b2 = 2 * g.b; // 18 to 64
    ulong rest = b2 < 64 ? lo >> b2 | hi << (64 - b2) : hi;
    return (uint4)(a.x, a.y, rest & m, (rest >> g.b) & m);
}

// decode_bitset selects the set bits of a tile, four a work-item.
static inline void decode_bitset(words_t p, uint4 r, uint4 tile, __global uint4 *dst) {
    uint blocks = r.z / 17;
    for (uint i = get_local_id(0); i < TILE / 4; i += WG) {
        uint4 d = 0;
        uint e = 4 * i;
        if (e < tile.w) d.x = select_bit(p, blocks, tile.z + e);
        if (e + 1 < tile.w) d.y = select_bit(p, blocks, tile.z + e + 1);
        if (e + 2 < tile.w) d.z = select_bit(p, blocks, tile.z + e + 2);
        if (e + 3 < tile.w) d.w = select_bit(p, blocks, tile.z + e + 3);
        dst[i] = d;
    }
}

// decode_segments decodes the segments of a tile, WG/LANES at a time.
static inline void decode_segments(words_t p, uint4 r, uint4 tile, __global uint4 *dst,
                            __local uint *overflow, __local uint *sums) {
    uint lid = get_local_id(0), lane = lid % LANES, row = lid / LANES;
    uint segments = (r.y + SEGMENT - 1) / SEGMENT, first = tile.z / SEGMENT;
    uint in_tile = (tile.w + SEGMENT - 1) / SEGMENT;
    // Any exceptions in the segments of this tile? Every work-item looks at all
    // the headers, so that the branch with barriers is uniform.
    uint any = 0;
    for (uint i = 0; i < in_tile; i++)
        any |= (p[min(segments + 2 * (first + i) + 1, r.z - 1)] >> 16) & 0xff;

    for (uint group = 0; group < in_tile; group += WG / LANES) {
        uint i = group + row, s = first + i;
        bool here = i < in_tile;
        segment_t g;
        uint base = 0xffffffffu;
        uint4 v = 0;
        g.en = 0;
        if (here) {
            g = packed_segment(p, r.z, segments, r.y, s);
            if (s) base = p[min(s - 1, r.z - 1)];
            v = values4(p, r.z, g, lane);
        }
        if (any) {
            __local uint *o = overflow + row * SEGMENT;
            vstore4((uint4)0, lane, o);
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint e = lane; e < g.en; e += LANES)
                o[exception_index(p, r.z, g, e)] = exception_overflow(p, r.z, g, e);
            barrier(CLK_LOCAL_MEM_FENCE);
            v |= vload4(lane, o);
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        v += 1;
        v.y += v.x;
        v.z += v.y;
        v.w += v.z;
        uint sum = inclusive_scan(v.w, lane, sums);
        if (here)
            dst[i * LANES + lane] = v + (base + sum - v.w);
    }
}

__attribute__((reqd_work_group_size(WG, 1, 1)))
__kernel void decode(ARENA, __global const uint4 *batch, uint terms_at, uint tiles_at, uint todo_at,
                     __global uint *out) {
    __local uint overflow[WG * 4];
    __local uint sums[WG];
    uint t = ((__global const uint *)batch)[todo_at + get_group_id(0)];
    uint4 tile = batch[tiles_at + t], r = batch[terms_at + 2 * tile.x];
    words_t p = list_words(ARENA_ARGS, r);
    __global uint4 *dst = (__global uint4 *)(out + (size_t)t * TILE);
    if ((r.w & 0xff) == CODEC_BITSET) // the same for the whole group
        decode_bitset(p, r, tile, dst);
    else
        decode_segments(p, r, tile, dst, overflow, sums);
}

#endif
