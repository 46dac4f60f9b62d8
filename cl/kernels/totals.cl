// measure_rows: the number of selected rows, and numbers, sums and ends of their codes in some columns.
//
// Computes  for the rows that a selection leaves: word 0 of the cells goes up by their number. From word 2 on a column has four
//           words: with COLUMN_VALUES word 0 goes up by the rows with a value, with COLUMN_SUM words 2 and 3 by the
//           lower and upper half of the sum of their codes, without carries above: with COLUMN_LOWER and COLUMN_UPPER of the lower
//           or upper 32 bits of codes. Cells are zero before. Behind all cells each work-group has two ulong a column: with
//           COLUMN_ENDS the least and the greatest code, all ones and 0 if no row has a value.
// Source    O'Neil and Quass 1997: the number of rows in each slice gives the sum. The ends of codes follow from the rows that
//           are left slice by slice.
// Batch     at `at` uint4 {columns, 0, 0, 0}, the selection (step.cl), then columns (column.cl). Cells at word cells_at.
// Phases    (1) a work-item selects the rows of a part (selection.cl) and adds up its slices, column by column; (2) a tree in
//           local memory for each column.
// Launch    groups of TOTAL_WG work-items (SCAN_SERIAL: of one), `span` times tiles_at_once tiles each, at most
//           TOTAL_TILES.
// Local     8*TOTAL_WG bytes.
// Bounds    columns are at most TOTAL_COLUMNS; tiles as in slice.cl.
#ifndef HEDDLE_SELECTION
#include "selection.cl"
#endif
#ifndef HEDDLE_COLUMN
#include "column.cl"
#endif
#define TOTAL_COLUMNS 16
#define TOGETHER 8 // slices that are loaded together
#if SCAN_SERIAL
#define TOTAL_WG 1
#define TOTAL_TILES 1
#define TOTAL_SYNC
#define TOTAL_GROUP
#else
#define TOTAL_WG 256
#define TOTAL_TILES (TOTAL_WG / PARTS)
#define TOTAL_SYNC barrier(CLK_LOCAL_MEM_FENCE)
#define TOTAL_GROUP __attribute__((reqd_work_group_size(TOTAL_WG, 1, 1)))
#endif

// sum_of returns the sum of the codes, or of their lower or upper halves, of a set of rows of part q.
static inline ulong sum_of(slices_t t, uint q, part_t set, uint flags) {
    ulong sum = 0;
    uint loads = 0, s = first_bit(t), b = t.width, upper = t.width - min(t.width, 32u);
    if (flags & COLUMN_UPPER) { // a sum of sums: no carry goes from half to half
        t.least >>= 32;
        b = upper;
    } else if (flags & COLUMN_LOWER) {
        t.least &= 0xffffffff;
        s += upper;
        b -= upper;
    }
#if !SCAN_SERIAL
    if (t.flags & FLAG_PLAIN)
        for (uint n; b > 0; b -= n, s += n) { // slices that are loaded together
            part_t x[TOGETHER];
            n = min(b, (uint)TOGETHER);
            _Pragma("unroll") for (uint i = 0; i < TOGETHER; i++)
                x[i] = i < n ? t.words[(s + i) * t.plain + q] : (part_t)0;
            _Pragma("unroll") for (uint i = 0; i < TOGETHER; i++)
                if (i < n)
                    sum = 2 * sum + rows_in(set & x[i]);
        }
#endif
    for (; b > 0; b--)
        sum = 2 * sum + rows_in(set & slice_rows(t, s++, q, &loads));
    return rows_in(set) * t.least + sum;
}

// end_of returns the least code of a set of rows of part q, which has some, or the greatest one.
static inline ulong end_of(slices_t t, uint q, part_t set, bool greatest) {
    ulong code = 0;
    uint loads = 0;
    for (uint b = t.width, s = first_bit(t); b > 0; b--) {
        part_t x = slice_rows(t, s++, q, &loads), better = set & (greatest ? x : ~x);
        bool some = !none(better);
        if (some)
            set = better;
        code = code << 1 | (some == greatest);
    }
    return t.least + code;
}

// folded joins a number of each work-item of the group: their sum, the least or the greatest. All work-items call it.
#define FOLD_SUM 0
#define FOLD_LEAST 1
#define FOLD_GREATEST 2
static inline ulong folded(__local ulong *box, ulong n, uint how) {
#if !SCAN_SERIAL
    uint lid = get_local_id(0);
    box[lid] = n;
    TOTAL_SYNC;
    for (uint apart = TOTAL_WG / 2; apart > 0; apart /= 2) {
        if (lid < apart) {
            ulong own = box[lid], other = box[lid + apart];
            box[lid] = how == FOLD_SUM ? own + other : how == FOLD_LEAST ? min(own, other) : max(own, other);
        }
        TOTAL_SYNC;
    }
    n = box[0];
    TOTAL_SYNC;
#endif
    return n;
}

TOTAL_GROUP
__kernel void measure_rows(BUFFERS, __global const uint4 *restrict tiles, uint tile_count, uint row_count,
                           __global const uint4 *batch, __global const uint *restrict bits, volatile __global uint *counts, uint at,
                           uint cells_at, uint span, uint tiles_at_once) {
    __local ulong box[TOTAL_WG];
    ulong sums[TOTAL_COLUMNS], least[TOTAL_COLUMNS], greatest[TOTAL_COLUMNS];
    uint values[TOTAL_COLUMNS];
    uint lid = get_local_id(0), columns = batch[at].x, n = 0, loads = 0;
    uint4 selection = batch[at + 1];
    __global const uint4 *records = batch + at + 4; // behind two steps of the selection
    for (uint k = 0; k < columns; k++) {
        values[k] = 0;
        sums[k] = greatest[k] = 0;
        least[k] = ~0UL;
    }
    for (uint run = GROUP_ID(0) * span, last = run + span; run < last; run++) {
        uint t = run * tiles_at_once + lid / PARTS;
        uint rows = lid / PARTS < tiles_at_once && t < tile_count ? min(row_count - t * SLICE_WORDS * 32, (uint)SLICE_WORDS * 32) : 0;
        EACH_PART(q) {
            if (q * PART_ROWS >= rows)
                continue;
            part_t all = selected(BUFFER_ARGS, tiles, tile_count, batch, selection, bits, t, q, valid_part(rows, q), &loads);
            if (none(all))
                continue;
            n += rows_in(all);
            for (uint k = 0; k < columns; k++) {
                column_t c = column_of(records[3 * k], records[3 * k + 1], records[3 * k + 2]);
                slices_t x = slices_at(BUFFER_ARGS, tiles, c.number * tile_count + t);
                part_t set = first_bit(x) ? all & slice_rows(x, 0, q, &loads) : all;
                if (none(set))
                    continue;
                values[k] += rows_in(set);
                if (c.flags & COLUMN_SUM)
                    sums[k] += sum_of(x, q, set, c.flags);
                if (!(c.flags & COLUMN_ENDS))
                    continue;
                if (x.least < least[k])
                    least[k] = min(least[k], end_of(x, q, set, false));
                if (x.least + low_bits(x.width) > greatest[k] || x.least + low_bits(x.width) < x.least)
                    greatest[k] = max(greatest[k], end_of(x, q, set, true));
            }
        }
    }
    volatile __global uint *cells = counts + cells_at;
    n = (uint)folded(box, n, FOLD_SUM);
    if (lid == 0 && n)
        atomic_add(cells, n);
    for (uint k = 0; k < columns; k++) {
        uint flags = records[3 * k].w;
        volatile __global uint *cell = cells + 2 + 4 * k;
        if (flags & COLUMN_VALUES) {
            uint has = (uint)folded(box, values[k], FOLD_SUM);
            if (lid == 0 && has)
                atomic_add(cell, has);
        }
        if (flags & COLUMN_SUM) {
            ulong sum = folded(box, sums[k], FOLD_SUM);
            if (lid == 0 && sum)
                sum_all(cell + 2, 1, sum);
        }
        if (flags & COLUMN_ENDS) {
            volatile __global uint *end = cells + 2 + 4 * columns + 4 * (GROUP_ID(0) * columns + k);
            ulong low = folded(box, least[k], FOLD_LEAST), high = folded(box, greatest[k], FOLD_GREATEST);
            if (lid == 0) {
                end[0] = (uint)low;
                end[1] = (uint)(low >> 32);
                end[2] = (uint)high;
                end[3] = (uint)(high >> 32);
            }
        }
    }
}
