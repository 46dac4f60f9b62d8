// slices: selections whose steps are checks of stored codes, joined by AND, OR and NOT.
//
// Computes  for each selection and tile of 4,096 rows the rows that its steps leave (plan.SelectBatch): its count
//           goes up by how many, from zeros of the host's; where `stride` is not 0, the rows as plain bits:
//           out[4*out_at + number*stride ...], row r at bit r%32 of word r/32. Where counts_at is not NO_COUNTS,
//           out[4*counts_at + t] is the number of rows of the only selection in tile t.
// Source    O'Neil and Quass 1997; Li and Patel 2013: see slice.cl. Bounds of the codes of a tile decide it
//           without its slices where they can.
// Batch     see step.cl. Tile t of column c is number c*tile_count + t of `tiles` (slice.cl).
// Phases    step by step on a part of a tile in registers (selection.cl); then counts and bits.
// Launch    groups of SLICE_WG work-items (SCAN_SERIAL: of one), `groups` for each selection from `first` on: group g
//           has selection first + g % selections, and every `groups`th run of SLICE_TILES tiles.
// Local     4*SLICE_WG bytes.
// Bounds    steps and tiles are the host's, which has validated words and ranges.
#ifndef HEDDLE_SELECTION
#include "selection.cl"
#endif

#if SCAN_SERIAL
#define SLICE_WG 1
#define SLICE_TILES 1
#define SLICE_SYNC
#define SLICE_GROUP
#else
#ifndef SLICE_WG
#define SLICE_WG 256 // a multiple of PARTS
#endif
#define SLICE_TILES (SLICE_WG / PARTS)
#define SLICE_SYNC barrier(CLK_LOCAL_MEM_FENCE)
#define SLICE_GROUP __attribute__((reqd_work_group_size(SLICE_WG, 1, 1)))
#endif
SLICE_GROUP
__kernel void slices(BUFFERS, __global const uint4 *restrict tiles, uint tile_count, uint row_count, __global uint4 *batch,
                     uint selections_at, uint first, uint selections, uint groups, __global uint *restrict out, uint out_at,
                     uint stride, uint counts_at) {
    __local uint sums[SLICE_WG];
    volatile __global uint *head = (volatile __global uint *)batch;
    uint lid = get_local_id(0), g = GROUP_ID(0), total = 0, loads = 0;
    uint4 selection = batch[selections_at + first + g % selections];
    __global uint *bits = out + (size_t)out_at * 4 + (size_t)selection.w * stride;
    for (uint run = g / selections; run * SLICE_TILES < tile_count; run += groups) {
        uint t = run * SLICE_TILES + lid / PARTS, n = 0;
        uint rows = t < tile_count ? min(row_count - t * SLICE_WORDS * 32, (uint)SLICE_WORDS * 32) : 0;
        EACH_PART(q) {
            if (q * PART_ROWS >= rows)
                continue;
            part_t set = selected(BUFFER_ARGS, tiles, tile_count, batch, selection, out, t, q, valid_part(rows, q), &loads);
            n += rows_in(set);
            uint at = t * SLICE_WORDS + q * LANES;
            if (at + LANES <= stride) {
#if !SCAN_SERIAL
                if ((selection.w * stride & 3) == 0)
                    *(__global uint4 *)(bits + at) = set;
                else
#endif
                    part_store(set, 0, bits + at);
            } else if (at < stride) {
                uint words[LANES];
                part_store(set, 0, words);
                for (uint l = 0; at + l < stride; l++)
                    bits[at + l] = words[l];
            }
        }
        total += n;
        if (counts_at != NO_COUNTS) {
            sums[lid] = n;
            SLICE_SYNC;
#if !SCAN_SERIAL
            if (lid % PARTS == 0)
                for (uint l = 1; l < PARTS; l++)
                    n += sums[lid + l];
#endif
            if (lid % PARTS == 0 && t < tile_count)
                out[(size_t)counts_at * 4 + t] = n;
            SLICE_SYNC;
        }
    }
    sums[lid] = total;
    SLICE_SYNC;
    for (uint apart = SLICE_WG / 2; apart > 0; apart /= 2) {
        if (lid < apart)
            sums[lid] += sums[lid + apart];
        SLICE_SYNC;
    }
    if (lid == 0 && sums[0])
        atomic_add(head + 4 + selection.z, sums[0]);
#if COUNT_LOADS
    uint old = atomic_add(head, loads);
    if (old + loads < old)
        atomic_inc(head + 1);
#endif
}
