// measure_groups: the numbers of selected rows, and sums of codes, of groups of rows.
//
// Computes  for the groups of the rows whose bits are 1: cells, which are planes of one number a group.
//           Plane 0 has the rows. A measured column has planes from `own` on: with COLUMN_VALUES the rows with
//           a value, with COLUMN_SUM the sum of their codes times a factor, as a plane of lower halves and one of
//           upper halves; with COLUMN_LOWER or COLUMN_UPPER of the lower or upper 32 bits of codes; with COLUMN_LEAST the
//           greatest complement of a code, with COLUMN_GREATEST the greatest code, in two planes each. The place of a group is its number in the first grouping times the numbers of the
//           second one, plus its number there; a number is 0 for rows without a value, else 1 more than the
//           code or bin. The cell behind all planes counts codes, times the factor, above the last one.
//           Cells are zero before. groups.cl has narrow columns without bins, totals.cl columns without groupings.
// Source    none.
// Batch     at `at` uint4 {groupings, columns, places, cells}, then columns (column.cl): groupings, then
//           measured ones. Bounds of bins at their places. Cells at word cells_at.
// Phases    (1) local cells are cleared; (2) each work-item takes every MEASURE_WG-th word of bits, turns its slices
//           to codes and adds its rows, in local memory if the cells fit, else in global memory; (3) local cells are
//           added to the global ones. A lower half that overflows adds 1 to its upper half. Of ends a launch finds the
//           upper halves, and one more, with lower_ends, their lower halves and nothing else.
// Launch    groups of MEASURE_WG work-items (SCAN_SERIAL: of one), `span` words of bits each.
// Local     4*MEASURE_CELLS + 48*MEASURE_COLUMNS bytes.
// Bounds    columns are at most MEASURE_COLUMNS; any bits below the last row; tiles as in slice.cl.
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

static inline column_t local_column(__local const uint4 *records, uint k) {
    return column_of(records[3 * k], records[3 * k + 1], records[3 * k + 2]);
}

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

// sum_own is sum_all of a local sum.
static inline void sum_own(__local uint *cell, uint apart, ulong n) {
    uint low = (uint)n, old = add_own(cell, low), high = (uint)(n >> 32) + (old + low < old);
    if (high)
        add_own(cell + apart, high);
}

// UP_TO raises a cell to a number.
#if SCAN_SERIAL
#define UP_TO(cell, n) (*(cell) = max(*(cell), n))
#else
#define UP_TO(cell, n) atomic_max(cell, n)
#endif

MEASURE_GROUP
__kernel void measure_groups(BUFFERS, __global const uint4 *restrict tiles, uint tile_count, __global const uint4 *batch,
                             __global const uint *restrict bits, volatile __global uint *counts, uint at, uint words, uint span, uint cells_at,
                             uint lower_ends) {
    __local uint own[MEASURE_CELLS];
    __local uint4 records[3 * MEASURE_COLUMNS];
    uint lid = get_local_id(0), first = GROUP_ID(0) * span, end = min(first + span, words), damaged = 0;
    uint4 shape = batch[at];
    uint groupings = shape.x, columns = shape.y, places = shape.z;
    volatile __global uint *all = counts + cells_at;
    bool fits = shape.w <= MEASURE_CELLS;
    for (uint i = lid; i < shape.w && fits; i += MEASURE_WG)
        own[i] = 0;
    for (uint i = lid; i < 3 * columns; i += MEASURE_WG)
        records[i] = batch[at + 1 + i];
    MEASURE_SYNC;
    for (uint w = first + lid; w < end; w += MEASURE_WG) {
        uint set = bits[w], place[32];
        codes_t codes;
        if (set == 0)
            continue;
        for (uint r = 0; r < 32; r++)
            place[r] = 0;
        for (uint k = 0; k < groupings; k++) {
            column_t c = local_column(records, k);
            slices_t t = slices_of(BUFFER_ARGS, tiles, tile_count, c, w);
            uint has = with_value(t, w, set);
            if (has)
                codes_of(t, w % SLICE_WORDS, &codes);
            for (uint rest = set; rest; rest &= rest - 1) {
                uint r = 31 - clz(rest & -rest), n = has >> r & 1 ? number_of(batch, c, code_of(t, &codes, r)) : 0;
                if (n == c.top + 2) {
                    damaged++;
                    set &= ~(1u << r);
                }
                place[r] = place[r] * (c.top + 2) + n;
            }
        }
        for (uint rest = lower_ends ? 0 : set; rest; rest &= rest - 1) {
            uint r = 31 - clz(rest & -rest);
            if (fits)
                add_own(&own[place[r]], 1);
            else
                atomic_inc(&all[place[r]]);
        }
        for (uint k = groupings; k < columns; k++) {
            column_t c = local_column(records, k);
            slices_t t = slices_of(BUFFER_ARGS, tiles, tile_count, c, w);
            uint has = with_value(t, w, set);
            if (has)
                codes_of(t, w % SLICE_WORDS, &codes);
            for (; has; has &= has - 1) {
                uint r = 31 - clz(has & -has), cell = c.own * places + place[r];
                ulong stored = code_of(t, &codes, r), code = stored * c.factor;
                if (c.flags & (COLUMN_LOWER | COLUMN_UPPER))
                    code = c.flags & COLUMN_UPPER ? stored >> 32 : stored & 0xffffffff;
                damaged += code > c.last && !lower_ends;
                if (c.flags & COLUMN_VALUES) {
                    if (lower_ends)
                        ;
                    else if (fits)
                        add_own(&own[cell], 1);
                    else
                        atomic_inc(&all[cell]);
                    cell += places;
                }
                if (c.flags & COLUMN_SUM) {
                    if (lower_ends)
                        ;
                    else if (fits)
                        sum_own(&own[cell], places, code);
                    else
                        sum_all(&all[cell], places, code);
                    cell += 2 * places;
                }
                for (uint end = COLUMN_LEAST; end <= COLUMN_GREATEST; end *= 2) {
                    if (!(c.flags & end))
                        continue;
                    ulong n = end == COLUMN_LEAST ? ~stored : stored;
                    uint upper = (uint)(n >> 32), number = lower_ends ? (uint)n : upper, to = lower_ends ? cell : cell + places;
                    cell += 2 * places;
                    if (lower_ends && all[cell - places] != upper)
                        continue;
                    if (fits)
                        UP_TO(&own[to], number);
                    else
                        atomic_max(&all[to], number);
                }
            }
        }
    }
    if (damaged)
        atomic_add(&all[shape.w], damaged);
    MEASURE_SYNC;
    for (uint place = lid; place < places && fits; place += MEASURE_WG) {
        if (own[place] == 0 && !lower_ends)
            continue;
        atomic_add(&all[place], own[place]);
        for (uint k = groupings; k < columns; k++) {
            column_t c = local_column(records, k);
            uint cell = c.own * places + place;
            if (c.flags & COLUMN_VALUES) {
                atomic_add(&all[cell], own[cell]);
                cell += places;
            }
            if (c.flags & COLUMN_SUM) {
                sum_all(&all[cell], places, (ulong)own[cell + places] << 32 | own[cell]);
                cell += 2 * places;
            }
            for (uint end = COLUMN_LEAST; end <= COLUMN_GREATEST; end *= 2)
                if (c.flags & end) {
                    atomic_max(&all[lower_ends ? cell : cell + places], own[lower_ends ? cell : cell + places]);
                    cell += 2 * places;
                }
        }
    }
}
