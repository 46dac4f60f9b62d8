// scan: exclusive prefix sums, and compaction, of an array in device memory.
//
// Computes  scan     out[i] = in[0] + ... + in[i-1] modulo 2^32
//           compact  out = the in[i] that are kept, in order: values of a
//                    closed range, or elements whose bit is set in flags
// Source    the plain form is reduce-then-scan; the other one is decoupled look-back
//           (group.cl). Each needs one value of a tile: its sum.
// Phases    plain, chunk after chunk of tiles, so small that the second read of a
//           chunk hits the cache: (1) scan_sums adds up each tile, (2) scan_tiles or
//           compact_tiles reads the tile again, adds up the sums before it, and
//           writes; the last tile leaves the sum of all so far to the next chunk.
//           look-back: scan_ahead or compact_ahead reads each element once.
// Launch    groups of SCAN_WG work-items, one a tile of SCAN_TILE elements
//           (SCAN_SERIAL: of one, which walks the tile; no look-back).
// Local     scan 16*SCAN_WG bytes (SCAN_WG/2 with NV_SHUFFLE) and 256, compact
//           64*SCAN_WG more (SCAN_SERIAL: none).
// Host      pads in, out and flags to 16 bytes; n < 2^32 - SCAN_TILE. Arrays do not
//           overlap. Words of out behind the result, up to the pad, are undefined.
// Bounds    stores of compact are below n, whatever the sums say.
#ifndef HEDDLE_COMMON
#include "common.cl"
#endif
#ifndef HEDDLE_GROUP
#include "group.cl"
#endif
#ifndef SCAN_SERIAL
#define SCAN_SERIAL 0
#endif
#ifndef SCAN_WG
#define SCAN_WG 256 // a multiple of 32, at most 1024
#endif
#define SCAN_TILE (16 * SCAN_WG)

// The summands, chosen by the host: the elements themselves (scan), or 1 for each kept
// element.
#define ADD_VALUES 0 // {0, 0, 0, 0}
#define ADD_RANGE 1  // {1, least, greatest - least, 0}
#define ADD_FLAGS 2  // {2, 0, 0, 0}

#if SCAN_SERIAL
static inline bool kept(uint x, uint4 what, __global const uint *flags, uint i) {
    return what.x == ADD_FLAGS ? flags[i / 32] >> (i % 32) & 1 : x - what.y <= what.z;
}

__kernel void scan_sums(__global const uint *in, __global const uint *flags, __global uint *sums, uint n, uint first,
                        uint4 what) {
    uint i = (first + get_global_id(0)) * SCAN_TILE, end = min(n, i + SCAN_TILE), sum = 0;
    if (what.x == ADD_VALUES) {
        for (; i < end; i++)
            sum += in[i];
    } else {
        for (; i < end; i++)
            sum += kept(in[i], what, flags, i);
    }
    sums[get_global_id(0)] = sum;
}

// sum_before adds up the sums of the tiles of the chunk before tile t of it.
static inline uint sum_before(__global const uint *sums, uint t, __global const uint *carry) {
    uint sum = *carry;
    for (uint k = 0; k < t; k++)
        sum += sums[k];
    return sum;
}

__kernel void scan_tiles(__global const uint *in, __global uint *out, __global const uint *sums, __global uint *carry,
                         uint n, uint first, uint tiles, uint carry_at) {
    uint t = get_global_id(0), i = (first + t) * SCAN_TILE, end = min(n, i + SCAN_TILE);
    uint sum = sum_before(sums, t, carry + carry_at);
    for (; i < end; i++) {
        uint x = in[i];
        out[i] = sum;
        sum += x;
    }
    if (t == tiles - 1)
        carry[carry_at ^ 1] = sum;
}

__kernel void compact_tiles(__global const uint *in, __global const uint *flags, __global uint *out,
                            __global const uint *sums, __global uint *carry, uint n, uint first, uint tiles,
                            uint carry_at, uint4 what) {
    uint t = get_global_id(0), i = (first + t) * SCAN_TILE, end = min(n, i + SCAN_TILE);
    uint to = sum_before(sums, t, carry + carry_at), stop = to + sums[t];
    // Every element is written and the next one over it where it is not kept: a
    // branch would be mispredicted. Elements behind `stop` belong to the next tile.
    for (; i < end && to < stop && to < n; i++) {
        uint x = in[i];
        out[to] = x;
        to += kept(x, what, flags, i);
    }
    if (t == tiles - 1)
        carry[carry_at ^ 1] = stop;
}

#else // SCAN_LOCAL

#if NV_SHUFFLE
#define SCAN_SUMS (SCAN_WG / 32) // members that group_scan needs
#else
#define SCAN_SUMS SCAN_WG
#endif

// A work-item has four rows of four elements, SCAN_WG rows of four apart.
#define ROW(k) (q + (k) * SCAN_WG)

// four reads the elements at 4*q; elements from n on count as 0.
static inline uint4 four(__global const uint4 *in, size_t q, uint n) {
    if (4 * q >= n)
        return 0;
    uint4 x = in[q];
    uint left = n - 4 * (uint)q;
    return (uint4)(x.x, left > 1 ? x.y : 0, left > 2 ? x.z : 0, left > 3 ? x.w : 0);
}

// read_tile reads the rows of a work-item of tile t.
static inline void read_tile(__global const uint *in, uint n, uint t, uint4 x[4]) {
    __global const uint4 *in4 = (__global const uint4 *)in;
    size_t q = (size_t)t * (SCAN_TILE / 4) + get_local_id(0);
    if (t < n / SCAN_TILE) {
        x[0] = in4[ROW(0)];
        x[1] = in4[ROW(1)];
        x[2] = in4[ROW(2)];
        x[3] = in4[ROW(3)];
    } else {
        x[0] = four(in4, ROW(0), n);
        x[1] = four(in4, ROW(1), n);
        x[2] = four(in4, ROW(2), n);
        x[3] = four(in4, ROW(3), n);
    }
}

// kept4 has a bit for each of the four elements at 4*q that is kept.
static inline uint kept4(uint4 x, uint4 what, __global const uint *flags, size_t q) {
    if (what.x == ADD_FLAGS)
        return flags[q / 8] >> (q % 8 * 4) & 15;
    uint4 d = x - what.y;
    return (d.x <= what.z) | (d.y <= what.z) << 1 | (d.z <= what.z) << 2 | (d.w <= what.z) << 3;
}

// keep_tile has the bits of kept4 for the rows of a work-item of tile t.
static inline uint4 keep_tile(const uint4 x[4], uint4 what, __global const uint *flags, uint n, uint t) {
    size_t q = (size_t)t * (SCAN_TILE / 4) + get_local_id(0);
    uint4 m = 0;
    if (4 * ROW(0) < n) m.x = kept4(x[0], what, flags, ROW(0));
    if (4 * ROW(1) < n) m.y = kept4(x[1], what, flags, ROW(1));
    if (4 * ROW(2) < n) m.z = kept4(x[2], what, flags, ROW(2));
    if (4 * ROW(3) < n) m.w = kept4(x[3], what, flags, ROW(3));
    if (t == n / SCAN_TILE) { // the last tile, not a whole one: no bits behind n
        uint4 i = 4 * ((uint4)(0, 1, 2, 3) * SCAN_WG + (uint)get_local_id(0)), end = n % SCAN_TILE, left = end - min(i, end);
        m &= ((uint4)1 << min(left, (uint4)4)) - 1;
    }
    return m;
}

static inline uint4 sums_of(const uint4 x[4]) { return (uint4)(sum4(x[0]), sum4(x[1]), sum4(x[2]), sum4(x[3])); }

static inline void write4(__global uint4 *out, size_t q, uint n, uint before, uint4 x) {
    if (4 * q < n)
        out[q] = (uint4)(before, before + x.x, before + x.x + x.y, before + x.x + x.y + x.z);
}

// write_scan stores the prefix sums of the rows, b the sums before each.
static inline void write_scan(__global uint *out, uint n, uint t, const uint4 x[4], uint4 b) {
    __global uint4 *out4 = (__global uint4 *)out;
    size_t q = (size_t)t * (SCAN_TILE / 4) + get_local_id(0);
    write4(out4, ROW(0), n, b.x, x[0]);
    write4(out4, ROW(1), n, b.y, x[1]);
    write4(out4, ROW(2), n, b.z, x[2]);
    write4(out4, ROW(3), n, b.w, x[3]);
}

static inline void stage4(__local uint *stage, uint4 x, uint kept, uint at) {
    if (kept & 1) stage[at++] = x.x;
    if (kept & 2) stage[at++] = x.y;
    if (kept & 4) stage[at++] = x.z;
    if (kept & 8) stage[at] = x.w;
}

static inline void write_compact(__global uint *out, uint n, uint to, uint many, __local const uint *stage) {
    for (uint i = get_local_id(0); i < many; i += SCAN_WG)
        if (to + i < n)
            out[to + i] = stage[i];
}

// sum_before adds up the sums of the tiles of the chunk before tile t of it.
static inline uint sum_before(__global const uint *sums, uint t, __global const uint *carry, __local uint *box) {
    uint sum = 0;
    if (get_local_id(0) == 0)
        box[0] = *carry;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = get_local_id(0); k < t; k += SCAN_WG)
        sum += sums[k];
    if (sum)
        atomic_add(box, sum);
    barrier(CLK_LOCAL_MEM_FENCE);
    return box[0];
}

__attribute__((reqd_work_group_size(SCAN_WG, 1, 1)))
__kernel void scan_sums(__global const uint *in, __global const uint *flags, __global uint *sums, uint n, uint first,
                        uint4 what) {
    __local uint sum;
    uint4 x[4];
    if (get_local_id(0) == 0)
        sum = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    read_tile(in, n, first + GROUP_ID(0), x);
    uint4 s = what.x == ADD_VALUES ? sums_of(x) : popcount(keep_tile(x, what, flags, n, first + GROUP_ID(0)));
    atomic_add(&sum, sum4(s));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        sums[GROUP_ID(0)] = sum;
}

__attribute__((reqd_work_group_size(SCAN_WG, 1, 1)))
__kernel void scan_tiles(__global const uint *in, __global uint *out, __global const uint *sums, __global uint *carry,
                         uint n, uint first, uint tiles, uint carry_at) {
    __local uint4 add[SCAN_SUMS];
    __local uint box[1];
    uint4 x[4], total;
    uint t = GROUP_ID(0), before = sum_before(sums, t, carry + carry_at, box);
    read_tile(in, n, first + t, x);
    uint4 s = sums_of(x), upto = group_scan(s, SCAN_WG, add, &total);
    write_scan(out, n, first + t, x, before + rows_before(total) + upto - s);
    if (t == tiles - 1 && get_local_id(0) == 0)
        carry[carry_at ^ 1] = before + sum4(total);
}

__attribute__((reqd_work_group_size(SCAN_WG, 1, 1)))
__kernel void compact_tiles(__global const uint *in, __global const uint *flags, __global uint *out,
                            __global const uint *sums, __global uint *carry, uint n, uint first, uint tiles,
                            uint carry_at, uint4 what) {
    __local uint4 add[SCAN_SUMS];
    __local uint box[1], stage[SCAN_TILE];
    uint4 x[4], total;
    uint t = GROUP_ID(0), before = sum_before(sums, t, carry + carry_at, box);
    read_tile(in, n, first + t, x);
    uint4 m = keep_tile(x, what, flags, n, first + t), s = popcount(m), upto = group_scan(s, SCAN_WG, add, &total);
    uint4 at = rows_before(total) + upto - s;
    stage4(stage, x[0], m.x, at.x);
    stage4(stage, x[1], m.y, at.y);
    stage4(stage, x[2], m.z, at.z);
    stage4(stage, x[3], m.w, at.w);
    barrier(CLK_LOCAL_MEM_FENCE);
    write_compact(out, n, before, sum4(total), stage);
    if (t == tiles - 1 && get_local_id(0) == 0)
        carry[carry_at ^ 1] = before + sum4(total);
}

__attribute__((reqd_work_group_size(SCAN_WG, 1, 1)))
__kernel void scan_ahead(__global const uint *in, __global uint *out, state_t state, __global uint *carry, uint n,
                         uint ticket, uint epoch) {
    __local uint4 add[SCAN_SUMS];
    __local uint box[2 * WINDOW];
    uint4 x[4], total;
    uint t = group_ticket(state, ticket, box);
    read_tile(in, n, t, x);
    uint4 s = sums_of(x), upto = group_scan(s, SCAN_WG, add, &total);
    group_publish(state, epoch, t, sum4(total));
    uint before = group_before(state, epoch, t, sum4(total), box);
    write_scan(out, n, t, x, before + rows_before(total) + upto - s);
    if (t == (n - 1) / SCAN_TILE && get_local_id(0) == 0)
        carry[0] = before + sum4(total);
}

__attribute__((reqd_work_group_size(SCAN_WG, 1, 1)))
__kernel void compact_ahead(__global const uint *in, __global const uint *flags, __global uint *out, state_t state,
                            __global uint *carry, uint n, uint ticket, uint epoch, uint4 what) {
    __local uint4 add[SCAN_SUMS];
    __local uint box[2 * WINDOW], stage[SCAN_TILE];
    uint4 x[4], total;
    uint t = group_ticket(state, ticket, box);
    read_tile(in, n, t, x);
    uint4 m = keep_tile(x, what, flags, n, t), s = popcount(m), upto = group_scan(s, SCAN_WG, add, &total);
    group_publish(state, epoch, t, sum4(total));
    uint4 at = rows_before(total) + upto - s;
    stage4(stage, x[0], m.x, at.x);
    stage4(stage, x[1], m.y, at.y);
    stage4(stage, x[2], m.z, at.z);
    stage4(stage, x[3], m.w, at.w);
    uint before = group_before(state, epoch, t, sum4(total), box);
    barrier(CLK_LOCAL_MEM_FENCE); // for the first tile, which does not look back
    write_compact(out, n, before, sum4(total), stage);
    if (t == (n - 1) / SCAN_TILE && get_local_id(0) == 0)
        carry[0] = before + sum4(total);
}

// progress: every tile has the sum 1, so out[t] = t where look-back works.
__attribute__((reqd_work_group_size(SCAN_WG, 1, 1)))
__kernel void progress(__global uint *out, state_t state, uint ticket, uint epoch) {
    __local uint box[2 * WINDOW];
    uint t = group_ticket(state, ticket, box);
    barrier(CLK_LOCAL_MEM_FENCE);
    group_publish(state, epoch, t, 1);
    uint before = group_before(state, epoch, t, 1, box);
    if (get_local_id(0) == 0 && t < get_num_groups(0))
        out[t] = before;
}

#endif
