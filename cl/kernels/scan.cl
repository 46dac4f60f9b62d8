// scan: exclusive prefix sums, and compaction, of an array in device memory.
//
// Computes  scan     out[i] = in[0] + ... + in[i-1] modulo 2^32
//           compact  out = the in[i] that are kept, in order: those of a closed
//                    range of values, or those whose bit is set in flags
// Source    the plain form is reduce-then-scan; the other one is decoupled look-back
//           (group.cl). Each needs what is known of a tile alone: its sum.
// Phases    plain, chunk after chunk of tiles, so small that the second read of a
//           chunk hits the cache: (1) scan_sums adds up each tile, (2) scan_tiles or
//           compact_tiles reads the tile again, adds up the sums before it, and
//           writes; the last tile leaves the sum of all so far to the next chunk.
//           look-back: scan_ahead or compact_ahead reads each element once.
// Launch    groups of SCAN_WG work-items, one a tile of SCAN_TILE elements
//           (SCAN_SERIAL: of one, which walks the tile; no look-back).
// Local     scan 4*SCAN_ROWS*SCAN_WG bytes (none with NV_SHUFFLE), compact
//           17*SCAN_ROWS*SCAN_WG (16 of them with NV_SHUFFLE), and each SCAN_WG/8
//           and 256 more (SCAN_SERIAL: none).
// Host      pads in, out and flags to 16 bytes; n < 2^32 - SCAN_TILE. Arrays do not
//           overlap. Words of out behind the result, up to the pad, are undefined.
// Bounds    stores of compact are below n, whatever the sums say.
#ifndef HEDDLE_ROWS
#include "rows.cl"
#endif

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

__kernel void scan_tiles(__global const uint *in, __global uint *out, __global const uint *sums, uint n, uint first,
                         __global uint *carry, uint carry_at) {
    uint t = get_global_id(0), i = (first + t) * SCAN_TILE, end = min(n, i + SCAN_TILE);
    uint sum = sum_before(sums, t, carry + carry_at);
    for (; i < end; i++) {
        uint x = in[i];
        out[i] = sum;
        sum += x;
    }
    if (t == get_global_size(0) - 1)
        carry[carry_at ^ 1] = sum;
}

__kernel void compact_tiles(__global const uint *in, __global const uint *flags, __global uint *out,
                            __global const uint *sums, uint n, uint first, __global uint *carry, uint carry_at, uint4 what) {
    uint t = get_global_id(0), i = (first + t) * SCAN_TILE, end = min(n, i + SCAN_TILE);
    uint to = sum_before(sums, t, carry + carry_at), stop = to + sums[t];
    // Every element is written and the next one over it where it is not kept: a
    // branch would be mispredicted. What is behind `stop` belongs to the next tile.
    for (; i < end && to < stop && to < n; i++) {
        uint x = in[i];
        out[to] = x;
        to += kept(x, what, flags, i);
    }
    if (t == get_global_size(0) - 1)
        carry[carry_at ^ 1] = stop;
}

#else // SCAN_LOCAL

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
__kernel void scan_sums(__global const uint *in, __global const uint *flags, __global uint *sums, uint n, uint first, uint4 what) {
    __local uint warps[SCAN_WARPS];
    uint4 x[SCAN_ROWS];
    uint s[SCAN_ROWS], warp_before;
    read_tile(in, n, first + get_group_id(0), x);
    uint own = what.x == ADD_VALUES ? sums_of(x, s) : popcount(keep_tile(x, what, flags, n, first + get_group_id(0)));
    uint sum = group_sum(own, warps, &warp_before);
    if (get_local_id(0) == 0)
        sums[get_group_id(0)] = sum;
}

__attribute__((reqd_work_group_size(SCAN_WG, 1, 1)))
__kernel void scan_tiles(__global const uint *in, __global uint *out, __global const uint *sums, uint n, uint first,
                         __global uint *carry, uint carry_at) {
    __local uint warps[SCAN_WARPS], rows[BOX(SCAN_ROWS)], box[1];
    uint4 x[SCAN_ROWS];
    uint s[SCAN_ROWS], warp_before, t = get_group_id(0), before = sum_before(sums, t, carry + carry_at, box);
    read_tile(in, n, first + t, x);
    uint sum = group_sum(sums_of(x, s), warps, &warp_before);
    sums_before(s, rows);
    write_scan(out, n, first + t, x, s, before + warp_before);
    if (t == get_num_groups(0) - 1 && get_local_id(0) == 0)
        carry[carry_at ^ 1] = before + sum;
}

__attribute__((reqd_work_group_size(SCAN_WG, 1, 1)))
__kernel void compact_tiles(__global const uint *in, __global const uint *flags, __global uint *out,
                            __global const uint *sums, uint n, uint first, __global uint *carry, uint carry_at, uint4 what) {
    __local uint warps[SCAN_WARPS], rows[BOX(SCAN_ROWS / 4)], box[1], stage[SCAN_TILE];
    uint4 x[SCAN_ROWS];
    uint warp_before, t = get_group_id(0), before = sum_before(sums, t, carry + carry_at, box);
    read_tile(in, n, first + t, x);
    uint m = keep_tile(x, what, flags, n, first + t), many = group_sum(popcount(m), warps, &warp_before);
    stage_kept(x, m, warp_before, rows, stage);
    barrier(CLK_LOCAL_MEM_FENCE);
    write_compact(out, n, before, many, stage);
    if (t == get_num_groups(0) - 1 && get_local_id(0) == 0)
        carry[carry_at ^ 1] = before + many;
}

// The sum of a tile is published before anything else is made of it: others wait.
__attribute__((reqd_work_group_size(SCAN_WG, 1, 1)))
__kernel void scan_ahead(__global const uint *restrict in, __global uint *restrict out, uint n, state_t state, uint ticket,
                         uint epoch, __global uint *carry) {
    __local uint warps[SCAN_WARPS], rows[BOX(SCAN_ROWS)], box[2 * WINDOW];
    uint4 x[SCAN_ROWS];
    uint s[SCAN_ROWS], warp_before, t = group_ticket(state, ticket, box);
    read_tile(in, n, t, x);
    uint sum = group_sum(sums_of(x, s), warps, &warp_before);
    group_publish(state, epoch, t, sum);
    sums_before(s, rows);
    uint before = group_before(state, epoch, t, sum, box);
    write_scan(out, n, t, x, s, before + warp_before);
    if (t == get_num_groups(0) - 1 && get_local_id(0) == 0)
        carry[0] = before + sum;
}

__attribute__((reqd_work_group_size(SCAN_WG, 1, 1)))
__kernel void compact_ahead(__global const uint *restrict in, __global const uint *restrict flags,
                            __global uint *restrict out, uint n, state_t state, uint ticket, uint epoch,
                            __global uint *carry, uint4 what) {
    __local uint warps[SCAN_WARPS], rows[BOX(SCAN_ROWS / 4)], box[2 * WINDOW], stage[SCAN_TILE];
    uint4 x[SCAN_ROWS];
    uint warp_before, t = group_ticket(state, ticket, box);
    read_tile(in, n, t, x);
    uint m = keep_tile(x, what, flags, n, t), many = group_sum(popcount(m), warps, &warp_before);
    group_publish(state, epoch, t, many);
    stage_kept(x, m, warp_before, rows, stage);
    uint before = group_before(state, epoch, t, many, box);
    barrier(CLK_LOCAL_MEM_FENCE); // of the first tile, which need not look back
    write_compact(out, n, before, many, stage);
    if (t == get_num_groups(0) - 1 && get_local_id(0) == 0)
        carry[0] = before + many;
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
