// gather: matches of all tiles to one result, query after query.
//
// Computes  out[docs_at + before(t) + i] = matches[t*tile + i], i < counts[t],
//           where before(t) is the sum of counts of the tiles before t: the sums
//           of whole blocks of BLOCK tiles, which intersect adds up, are in sums.
// Source    scan and compaction of PARA, Wu et al. 2010, section IV. Tiles are
//           compact already, so the rest of the scan is a sum over blocks; each
//           group computes it for itself, which is cheaper than a launch.
// Phases    (1) sum over blocks before, and over tiles before in the block;
//           (2) copy.
// Launch    groups of WG work-items, GATHER of them a tile (SCAN_SERIAL: one
//           work-item a tile).
// Local     one word (SCAN_SERIAL: none).
// Bounds    counts[t] <= tile is guaranteed by intersect.
#ifndef HEDDLE_COMMON
#include "common.cl"
#endif

#if SCAN_SERIAL

__kernel void gather(__global const uint *matches, __global const uint *sums, __global uint *out, uint sums_at,
                     uint docs_at, uint tiles, uint tile) {
    uint t = get_global_id(0), to = docs_at, n = out[t]; // counts stand before the docIDs
    for (uint b = 0; b < t / BLOCK; b++)
        to += sums[sums_at + b];
    for (uint i = t / BLOCK * BLOCK; i < t; i++)
        to += out[i];
    for (uint i = 0; i < n; i++)
        out[to + i] = matches[(size_t)t * tile + i];
}

#else // SCAN_LOCAL

#define GATHER 16 // most tiles keep few elements

__attribute__((reqd_work_group_size(WG, 1, 1)))
__kernel void gather(__global const uint *matches, __global const uint *sums, __global uint *out, uint sums_at,
                     uint docs_at, uint tiles, uint tile) {
    __local uint before;
    uint lid = get_local_id(0), first = GROUP_ID(0) * (WG / GATHER); // tile of the group
    if (lid == 0)
        before = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint sum = 0;
    for (uint b = lid; b < first / BLOCK; b += WG)
        sum += sums[sums_at + b];
    for (uint i = first / BLOCK * BLOCK + lid; i < first; i += WG)
        sum += out[i];
    if (sum)
        atomic_add(&before, sum);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint t = first + lid / GATHER;
    if (t < tiles) {
        uint n = out[t], to = docs_at + before;
        for (uint i = first; i < t; i++)
            to += out[i];
        for (uint i = lid % GATHER; i < n; i += GATHER)
            out[to + i] = matches[(size_t)t * tile + i];
    }
}

#endif
