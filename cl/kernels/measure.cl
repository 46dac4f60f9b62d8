// measure_groups: the numbers of selected rows, and sums of codes, of groups of rows.
//
// Computes  for the groups of the rows whose bits are 1: cells, which are planes of one number a group.
//           Plane 0 has the rows. A measured column has planes from `own` on: with flag 1 the rows with a
//           value, with flag 2 the sum of their codes times a factor, as a plane of lower halves and one of
//           upper halves. The place of a group is its number in the first grouping times the numbers of the
//           second one, plus its number there; a number is 0 for rows without a value, else 1 more than the
//           code or bin. The cell behind all planes counts codes, times the factor, above the last one.
//           Cells are zero before.
// Source    none.
// Batch     at `at` uint4 {groupings, columns, places, cells}, then columns (column.cl): groupings, then
//           measured ones. Bounds of bins at their places. Cells at word cells_at.
// Phases    (1) local cells are cleared; (2) each work-item takes every MEASURE_WG-th word of bits and adds
//           its rows, in local memory if the cells fit, else in global memory; (3) local cells are added
//           to the global ones. A lower half that overflows adds 1 to its upper half.
// Launch    groups of MEASURE_WG work-items (SCAN_SERIAL: of one), `span` words of bits each.
// Local     4*MEASURE_CELLS + 64*MEASURE_COLUMNS bytes.
// Bounds    columns are at most MEASURE_COLUMNS; any bits below row_count and any packed values.
#ifndef HEDDLE_COLUMN
#include "column.cl"
#endif
#define MEASURE_CELLS 3840 // that fit local memory
#define MEASURE_COLUMNS 16
#if SCAN_SERIAL
#define MEASURE_WG 1
#define MEASURE_SYNC
#define MEASURE_GROUP
#else
#define MEASURE_WG 256
#define MEASURE_SYNC barrier(CLK_LOCAL_MEM_FENCE)
#define MEASURE_GROUP __attribute__((reqd_work_group_size(MEASURE_WG, 1, 1)))
#endif
#define FLAG_VALUES 1
#define FLAG_SUM 2

static inline column_t local_column(__local const uint4 *r) { return column_of(r[0], r[1], r[2], r[3]); }

// add_own adds to a local cell and returns the number before.
static inline uint add_own(__local uint *cell, uint n) {
#if SCAN_SERIAL
    uint old = *cell;
    *cell = old + n;
    return old;
#else
    return atomic_add(cell, n);
#endif
}

// sum_own and sum_all add to a sum whose halves are so many cells apart.
static inline void sum_own(__local uint *cell, uint apart, ulong n) {
    uint low = (uint)n, old = add_own(cell, low), high = (uint)(n >> 32) + (old + low < old);
    if (high)
        add_own(cell + apart, high);
}

static inline void sum_all(volatile __global uint *cell, uint apart, ulong n) {
    uint low = (uint)n, old = atomic_add(cell, low), high = (uint)(n >> 32) + (old + low < old);
    if (high)
        atomic_add(cell + apart, high);
}

MEASURE_GROUP
__kernel void measure_groups(ARENA, __global const uint4 *batch, __global const uint *restrict bits,
                             __global const uint *restrict filters, volatile __global uint *counts, uint at,
                             uint words, uint span, uint row_count, uint cells_at) {
    __local uint own[MEASURE_CELLS];
    __local uint4 records[4 * MEASURE_COLUMNS];
    uint lid = get_local_id(0), first = get_group_id(0) * span;
    uint4 shape = batch[at];
    uint groupings = shape.x, columns = shape.y, places = shape.z;
    volatile __global uint *all = counts + cells_at;
    bool fits = shape.w <= MEASURE_CELLS;
    for (uint i = lid; i < shape.w && fits; i += MEASURE_WG)
        own[i] = 0;
    for (uint i = lid; i < 4 * columns; i += MEASURE_WG)
        records[i] = batch[at + 1 + i];
    MEASURE_SYNC;
    for (uint w = first + lid; w < min(first + span, words); w += MEASURE_WG) {
        for (uint rest = bits[w]; rest; rest &= rest - 1) {
            uint row = w * 32 + 31 - clz(rest & -rest), place = 0;
            ulong code;
            bool damaged = false;
            for (uint k = 0; k < groupings; k++) {
                column_t c = local_column(records + 4 * k);
                uint n = has_value(filters, c, row, &code, ARENA_ARGS, row_count) ? number_of(batch, c, code) : 0;
                damaged |= n == c.low.w + 2;
                place = place * (c.low.w + 2) + n;
            }
            if (damaged) {
                atomic_inc(&all[shape.w]);
                continue;
            }
            if (fits)
                add_own(&own[place], 1);
            else
                atomic_inc(&all[place]);
            for (uint k = groupings; k < columns; k++) {
                column_t c = local_column(records + 4 * k);
                if (!has_value(filters, c, row, &code, ARENA_ARGS, row_count))
                    continue;
                code *= (ulong)c.binned << 32 | c.bounds;
                if (code > c.last)
                    atomic_inc(&all[shape.w]);
                uint cell = c.own * places + place;
                if (c.high.w & FLAG_VALUES) {
                    if (fits)
                        add_own(&own[cell], 1);
                    else
                        atomic_inc(&all[cell]);
                    cell += places;
                }
                if (c.high.w & FLAG_SUM) {
                    if (fits)
                        sum_own(&own[cell], places, code);
                    else
                        sum_all(&all[cell], places, code);
                }
            }
        }
    }
    MEASURE_SYNC;
    for (uint place = lid; place < places && fits; place += MEASURE_WG) {
        if (own[place] == 0)
            continue;
        atomic_add(&all[place], own[place]);
        for (uint k = groupings; k < columns; k++) {
            column_t c = local_column(records + 4 * k);
            uint cell = c.own * places + place;
            if (c.high.w & FLAG_VALUES) {
                atomic_add(&all[cell], own[cell]);
                cell += places;
            }
            if (c.high.w & FLAG_SUM)
                sum_all(&all[cell], places, (ulong)own[cell + places] << 32 | own[cell]);
        }
    }
}
