// packed_groups, clear_cells: the cells of groups whose rows and sum are one number (groups.cl).
//
// Computes  for each place, from its numbers in some copies behind the cells: word 0 of its cell, the rows, which are the bits
//           from `limb` on; words sum_at and sum_at + 1, the sum, which is the bits below.
//           clear_cells: zeros in words from `at` on (Oclgrind takes those of a fill for uninitialised).
// Source    none.
// Launch    groups of JOIN_WG work-items (SCAN_SERIAL: of one), JOINED places or words each.
// Local     none.
// Bounds    0 < limb < 64; sums of all copies fit 64 bits; cells_at and planes are even.
#ifndef HEDDLE_COMMON
#include "common.cl"
#endif
#define JOINED 256
#if SCAN_SERIAL
#define JOIN_WG 1
#define JOIN_SHAPE
#else
#define JOIN_WG 64
#define JOIN_SHAPE __attribute__((reqd_work_group_size(JOIN_WG, 1, 1)))
#endif

JOIN_SHAPE
__kernel void packed_groups(__global uint *counts, uint cells_at, uint places, uint planes, uint sum_at, uint limb, uint copies) {
    __global const uint2 *packed = (__global const uint2 *)(counts + cells_at + places * planes);
    uint first = GROUP_ID(0) * JOINED, end = min(first + JOINED, places);
    for (uint place = first + get_local_id(0); place < end; place += JOIN_WG) {
        __global uint *cell = counts + cells_at + place * planes;
        uint rows = 0;
        ulong sum = 0;
        for (uint c = 0; c < copies; c++) {
            ulong n = as_ulong(packed[c * places + place]);
            rows += (uint)(n >> limb);
            sum += n & ((1UL << limb) - 1);
        }
        cell[0] = rows;
        cell[sum_at] = (uint)sum;
        cell[sum_at + 1] = (uint)(sum >> 32);
    }
}

JOIN_SHAPE
__kernel void clear_cells(__global uint *counts, uint at, uint words) {
    uint first = GROUP_ID(0) * JOINED, end = min(first + JOINED, words);
    for (uint i = first + get_local_id(0); i < end; i += JOIN_WG)
        counts[at + i] = 0;
}
