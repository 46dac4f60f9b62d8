// compact: survivors of all tiles to one result, query after query.
//
// offsets   Computes  tile_offset[t] = sum of counts of the tiles before t, and
//                     starts[q] = where query q begins in the result: the offset
//                     of its first tile, starts[queries] = all matches.
//           first_tile has queries+1 entries; a query without tiles begins where
//           the next one does.
//           Launch    one group of SCAN_WG work-items (SCAN_SERIAL: of one); each
//                     takes a run of tiles, then the runs' sums are scanned.
//           Local     SCAN_WG words (SCAN_SERIAL: none).
// gather    Computes  out[docs_at + tile_offset[t] + i] = survivors[t*TILE + i], i < counts[t].
//           Launch    groups of WG work-items, GATHER of them a tile
//                     (SCAN_SERIAL: one work-item a tile).
//           Local     none.
// Source    scan and compaction of PARA, Wu et al. 2010, section IV. The tiles are
//           compact already, so the scan runs over tiles, not over elements.
// Bounds    counts[t] <= TILE is guaranteed by intersect.
#ifndef HEDDLE_COMMON
#include "common.cl"
#endif
#ifndef SCAN_WG
#define SCAN_WG 256
#endif

#if SCAN_SERIAL

__kernel void offsets(__global const uint *counts, __global const uint *first_tile, __global uint *tile_offset,
                      __global uint *starts, uint tiles, uint queries) {
    uint sum = 0;
    for (uint t = 0; t < tiles; t++) {
        tile_offset[t] = sum;
        sum += counts[t];
    }
    for (uint q = 0; q <= queries; q++)
        starts[q] = first_tile[q] < tiles ? tile_offset[first_tile[q]] : sum;
}

__kernel void gather(__global const uint *survivors, __global const uint *counts, __global const uint *tile_offset,
                     __global uint *out, uint docs_at, uint tiles) {
    size_t t = get_global_id(0);
    uint n = counts[t];
    __global uint *to = out + docs_at + tile_offset[t];
    for (uint i = 0; i < n; i++)
        to[i] = survivors[t * TILE + i];
}

#else // SCAN_LOCAL

__attribute__((reqd_work_group_size(SCAN_WG, 1, 1)))
__kernel void offsets(__global const uint *counts, __global const uint *first_tile, __global uint *tile_offset,
                      __global uint *starts, uint tiles, uint queries) {
    __local uint sums[SCAN_WG];
    uint lid = get_local_id(0);
    // Runs of whole uint4, so that loads and stores are; counts and tile_offset
    // are allocated up to the last run.
    uint quads = (tiles + 3) / 4, run = (quads + SCAN_WG - 1) / SCAN_WG;
    uint from = min(lid * run, quads), to = min(from + run, quads);
    uint sum = 0;
    for (uint i = from; i < to; i++) {
        uint4 c = vload4(i, counts);
        uint4 k = (uint4)(4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3);
        c = select((uint4)0, c, as_uint4(k < tiles));
        sum += c.x + c.y + c.z + c.w;
    }
    uint own = sum;
    for (uint d = 1; d < SCAN_WG; d *= 2) {
        sums[lid] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        uint o = lid >= d ? sums[lid - d] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += o;
    }
    sums[lid] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint all = sums[SCAN_WG - 1];
    sum -= own;
    for (uint i = from; i < to; i++) {
        uint4 c = vload4(i, counts);
        uint4 k = (uint4)(4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3);
        c = select((uint4)0, c, as_uint4(k < tiles));
        vstore4((uint4)(sum, sum + c.x, sum + c.x + c.y, sum + c.x + c.y + c.z), i, tile_offset);
        sum += c.x + c.y + c.z + c.w;
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (uint q = lid; q <= queries; q += SCAN_WG)
        starts[q] = first_tile[q] < tiles ? tile_offset[first_tile[q]] : all;
}

#define GATHER 16 // work-items a tile: most tiles keep few elements

__attribute__((reqd_work_group_size(WG, 1, 1)))
__kernel void gather(__global const uint *survivors, __global const uint *counts, __global const uint *tile_offset,
                     __global uint *out, uint docs_at, uint tiles) {
    size_t t = get_global_id(0) / GATHER;
    if (t < tiles) {
        uint n = counts[t], to = docs_at + tile_offset[t];
        for (uint i = get_local_id(0) % GATHER; i < n; i += GATHER)
            out[to + i] = survivors[t * TILE + i];
    }
}

#endif
