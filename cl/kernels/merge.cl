// merge: looks the elements of the shortest lists up in lists of like length, which
// are read from front to end.
//
// Computes  the results of intersect, for tiles of MERGE_TILE elements whose other lists
//           are raw or bitsets. merge: matches[t*MERGE_TILE ...], counts[t],
//           sums[sums_at + t/BLOCK]. merge_ahead: counts[t], and the matches of
//           all tiles, in order, from word docs_at of `out` on, at most `room`; a
//           count of 2^32-1 says that its group waited in vain for another.
// Source    tiles by the merge path (Odeh, Green et al. 2012) with the cut of the
//           second list taken from its bucket table, or by a search as wide as the
//           group (Ding et al. 2009, section 7.2), so that both parts fit local
//           memory for every cut. Look-back: group.cl.
// Phases    (1) the elements of a tile into registers, MERGE_ROWS a work-item;
//           where the second list has bits, (2) one load a row, else (2) the range
//           of the second list between the first and the last element into local
//           memory, by loads of 16 bytes, and (3) a search there. Neighbours search
//           side by side, so their loads meet different banks. Where the range does
//           not fit, elements are probed one by one. (4) The matches move together
//           in order; (5) further lists are probed, with (4) after each; (6) they
//           are stored.
//           SCAN_SERIAL: one work-item merges a tile with its range.
// Batch     one upload, as for intersect; tiles from uint4 tiles_at on.
// Launch    one group of MERGE_WG work-items a tile (SCAN_SERIAL: of one).
// Local     4*MERGE_WINDOW bytes, 16*MERGE_WG more (MERGE_WG/2 with NV_SHUFFLE), and
//           260 (SCAN_SERIAL: none).
// Bounds    any list bytes: see probe.cl; the range is clamped to the list, stores
//           to the tile or to `room`.
#ifndef HEDDLE_WINDOW
#include "window.cl"
#endif
#ifndef HEDDLE_GROUP
#include "group.cl"
#endif

// merge_elements returns where the elements of a tile lie.
static inline words_t merge_elements(ARENA, words_t decoded, uint4 tile) {
    uint buffer = tile.w >> 16;
    return buffer == ELEMENTS_DECODED ? decoded + (size_t)tile.z * 4 : arena_at(ARENA_ARGS, buffer, tile.z);
}

#if COUNT_LOADS
#define ADD_LOADS(n) add_loads(loads_total, n);
#else
#define ADD_LOADS(n)
#endif

#if SCAN_SERIAL

__kernel void merge(ARENA, __global const uint *aux, __global const uint4 *batch, __global const uint *decoded,
                    __global uint *matches, __global uint *counts, volatile __global uint *sums, uint tiles_at,
                    uint sums_at, uint count_only COUNT_ARG) {
    uint t = get_global_id(0), loads = 0, found = 0;
    uint4 tile = batch[tiles_at + t];
    words_t from = merge_elements(ARENA_ARGS, decoded, tile);
    __global uint *to = matches + (size_t)t * MERGE_TILE;
    uint n = tile.w & 0xffff, words = 0;
    LOADS(loads, n);
    if (tile.y && n) {
        uint4 r = batch[2 * tile.x], s = batch[2 * tile.x + 1];
        words_t bits = bits_of(ARENA_ARGS, r, s, aux, &words), p = list_words(ARENA_ARGS, r);
        uint2 range = words ? (uint2)0 : range_between(r, s, aux, from[0], from[n - 1]);
        range.x = not_below(p, range.x, range.y, from[0]);
        range.y = not_below(p, range.x, range.y, from[n - 1] + 1);
        if (words || range.y - range.x > 16 * MERGE_TILE) {
            for (uint i = 0; i < n; i++) {
                uint x = from[i], w = x >> 5;
                to[found] = x;
                found += words ? w < words && (bits[w] >> (x & 31) & 1) : probe(ARENA_ARGS, r, s, aux, x, &loads);
            }
        } else {
            uint b = range.x;
            LOADS(loads, range.y - range.x);
            for (uint i = 0; i < n && b < range.y;) {
                uint x = from[i], y = p[b];
                to[found] = x;
                found += x == y;
                i += x <= y;
                b += y <= x;
            }
        }
    } else {
        for (; found < n; found++)
            to[found] = from[found];
    }
    for (uint j = 1; j < tile.y; j++) {
        uint4 r = batch[2 * (tile.x + j)], s = batch[2 * (tile.x + j) + 1];
        uint kept = 0;
        for (uint i = 0; i < found; i++) {
            uint x = to[i];
            to[kept] = x;
            kept += probe(ARENA_ARGS, r, s, aux, x, &loads);
        }
        found = kept;
    }
    counts[t] = found;
    if (found)
        atomic_add(sums + sums_at + t / BLOCK, found);
    ADD_LOADS(loads + found)
}

#else // SCAN_LOCAL

#if NV_SHUFFLE
#define MERGE_SUMS (MERGE_WG / 32) // members that group_scan needs
#else
#define MERGE_SUMS MERGE_WG
#endif
#define PER_ROW (128 / MERGE_ROWS) // bits of a row's count
#define ROW_MASK (0xffffffffu >> (32 - PER_ROW))

// together stores the rows of a work-item whose bits are set in `alive` in the
// order of the tile, and returns how many all work-items have. All call it; its
// barrier stands before the stores.
static inline uint together(const uint x[MERGE_ROWS], uint alive, __local uint4 *add, __local uint *to) {
    uint at = 0;
    uint4 own = 0, all;
#pragma unroll
    for (uint k = 0; k < MERGE_ROWS; k += 4)
        own |= ((uint4)(alive >> k, alive >> (k + 1), alive >> (k + 2), alive >> (k + 3)) & 1) << (k / 4 * PER_ROW);
    uint4 upto = group_scan(own, MERGE_WG, add, &all) - own;
#pragma unroll
    for (uint k = 0; k < MERGE_ROWS; k += 4) {
        uint shift = k / 4 * PER_ROW;
        uint4 before = upto >> shift & ROW_MASK, many = all >> shift & ROW_MASK;
        if (alive >> k & 1) to[at + before.x] = x[k];
        at += many.x;
        if (alive >> (k + 1) & 1) to[at + before.y] = x[k + 1];
        at += many.y;
        if (alive >> (k + 2) & 1) to[at + before.z] = x[k + 2];
        at += many.z;
        if (alive >> (k + 3) & 1) to[at + before.w] = x[k + 3];
        at += many.w;
    }
    return at;
}

// merge_tile leaves the matches of a tile in `window`, in order, and returns their
// number. All work-items call it; a barrier is needed before others read them.
static inline uint merge_tile(ARENA, words_t aux, __global const uint4 *batch, words_t decoded, uint4 tile,
                              __local uint *window, __local uint4 *add, __local uint *box, uint *loads) {
    words_t from = merge_elements(ARENA_ARGS, decoded, tile);
    uint lid = get_local_id(0), n = tile.w & 0xffff, alive = 0, x[MERGE_ROWS];
#pragma unroll
    for (uint k = 0; k < MERGE_ROWS; k++) {
        uint i = lid + k * MERGE_WG;
        x[k] = i < n ? from[i] : 0xfffffffeu;
        alive |= (uint)(i < n) << k;
    }
    LOADS(*loads, popcount(alive));
    if (tile.y && n)
        alive = found_of(ARENA_ARGS, batch[2 * tile.x], batch[2 * tile.x + 1], aux, from, n, x, alive, window, box, loads);
    n = together(x, alive, add, window);
    for (uint j = 1; j < tile.y && n; j++) {
        uint4 r = batch[2 * (tile.x + j)], s = batch[2 * (tile.x + j) + 1];
        alive = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 1
        for (uint k = 0, i = lid; i < n; k++, i += MERGE_WG)
            alive |= (uint)probe(ARENA_ARGS, r, s, aux, window[i], loads) << k;
#pragma unroll
        for (uint k = 0; k < MERGE_ROWS; k++)
            x[k] = window[lid + k * MERGE_WG];
        n = together(x, alive, add, window);
    }
    return n;
}

__attribute__((reqd_work_group_size(MERGE_WG, 1, 1)))
__kernel void merge(ARENA, __global const uint *aux, __global const uint4 *batch, __global const uint *decoded,
                    __global uint *matches, __global uint *counts, volatile __global uint *sums, uint tiles_at,
                    uint sums_at, uint count_only COUNT_ARG) {
    __local uint4 add[MERGE_SUMS], window[MERGE_WINDOW / 4];
    __local uint box[1];
    uint lid = get_local_id(0), t = GROUP_ID(0), loads = 0;
    uint n = merge_tile(ARENA_ARGS, aux, batch, decoded, batch[tiles_at + t], (__local uint *)window, add, box, &loads);
    if (lid == 0) {
        counts[t] = n;
        if (n)
            atomic_add(sums + sums_at + t / BLOCK, n);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint write = count_only ? 0 : n;
    for (uint i = lid; i < write; i += MERGE_WG)
        matches[(size_t)t * MERGE_TILE + i] = ((__local uint *)window)[i];
    LOADS(loads, lid < write ? (write - lid - 1) / MERGE_WG + 1 : 0);
    ADD_LOADS(loads)
}

__attribute__((reqd_work_group_size(MERGE_WG, 1, 1)))
__kernel void merge_ahead(ARENA, __global const uint *aux, __global const uint4 *batch, __global const uint *decoded,
                          __global uint *out, state_t state, uint tiles_at, uint ticket, uint epoch, uint docs_at,
                          uint room COUNT_ARG) {
    __local uint4 add[MERGE_SUMS], window[MERGE_WINDOW / 4];
    __local uint box[2 * WINDOW];
    uint lid = get_local_id(0), loads = 0, t = group_ticket(state, ticket, box);
    barrier(CLK_LOCAL_MEM_FENCE); // box is used again
    uint n = merge_tile(ARENA_ARGS, aux, batch, decoded, batch[tiles_at + t], (__local uint *)window, add, box, &loads);
    group_publish(state, epoch, t, n);
    uint before = group_before(state, epoch, t, n, box);
    barrier(CLK_LOCAL_MEM_FENCE); // for the first tile, which does not look back
    for (uint i = lid; i < n && before + i < room; i += MERGE_WG)
        out[docs_at + before + i] = ((__local uint *)window)[i];
    if (lid == 0)
        out[t] = state[STATE_FAILED] ? 0xffffffffu : n;
    LOADS(loads, lid < n ? (n - lid - 1) / MERGE_WG + 1 : 0);
    ADD_LOADS(loads)
}

#endif
