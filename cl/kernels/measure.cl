// measure_groups: the numbers of selected rows, and sums of codes, of groups of rows.
//
// Computes  for the groups of the rows whose bits are 1: cells, which are planes of one number a group.
//           Plane 0 has the rows. A measured column has planes from `own` on: with COLUMN_VALUES the rows with
//           a value, with COLUMN_SUM the sum of their codes times a factor, as a plane of lower halves and one of
//           upper halves. The place of a group is its number in the first grouping times the numbers of the
//           second one, plus its number there; a number is 0 for rows without a value, else 1 more than the
//           code or bin. The cell behind all planes counts codes, times the factor, above the last one.
//           Cells are zero before. Behind this cell, without groupings, each work-group has two ulong a column: with
//           COLUMN_ENDS the least and the greatest code, all ones and 0 if no row has a value.
// Source    none.
// Batch     at `at` uint4 {groupings, columns, places, cells}, then columns (column.cl): groupings, then
//           measured ones. Bounds of bins at their places. Cells at word cells_at.
// Phases    (1) local cells are cleared; (2) each work-item takes every MEASURE_WG-th word of bits, turns its slices
//           to codes and adds its rows, in local memory if the cells fit, else in global memory. Without
//           groupings, sums come from the numbers of rows in each slice, and the ends of codes from the rows that
//           are left slice by slice; (3) local cells are added to the
//           global ones. A lower half that overflows adds 1 to its upper half.
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

// add_codes adds the codes, times the factor, of a set of rows of word g to a sum. It returns how many are above the last
// one of the column.
static inline uint add_codes(slices_t t, column_t c, uint g, uint set, ulong *sum) {
    codes_t codes;
    uint above = 0;
    codes_of(t, g, &codes);
    for (; set; set &= set - 1) {
        ulong code = code_of(t, &codes, 31 - clz(set & -set)) * c.factor;
        above += code > c.last;
        *sum += code;
    }
    return above;
}

// add_part is add_codes of part q. Without a factor the number of rows in each slice gives the sum.
static inline uint add_part(slices_t t, column_t c, uint q, part_t set, ulong *sum) {
    uint above = 0, loads = 0;
    if (c.factor == 1) {
        *sum += rows_in(set) * t.least;
        for (uint b = t.width, s = first_bit(t); b > 0; s++)
            *sum += (ulong)rows_in(set & slice_rows(t, s, q, &loads)) << --b;
        return c.last + 1 ? rows_in(between(t, set, c.last + 1, ~0UL, q, &loads)) : 0;
    }
    uint words[LANES];
    part_store(set, 0, words);
    for (uint l = 0; l < LANES; l++)
        if (words[l])
            above += add_codes(t, c, q * LANES + l, words[l], sum);
    return above;
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

MEASURE_GROUP
__kernel void measure_groups(BUFFERS, __global const uint4 *restrict tiles, uint tile_count, __global const uint4 *batch,
                             __global const uint *restrict bits, __global const uint *restrict filters,
                             volatile __global uint *counts, uint at, uint words, uint span, uint cells_at) {
    __local uint own[MEASURE_CELLS] __attribute__((aligned(8)));
    __local ulong *ends = (__local ulong *)(own + 4 * MEASURE_COLUMNS); // behind the cells without groupings
    __local uint4 records[3 * MEASURE_COLUMNS];
    uint lid = get_local_id(0), first = GROUP_ID(0) * span, end = min(first + span, words), damaged = 0, loads = 0;
    uint4 shape = batch[at];
    uint groupings = shape.x, columns = shape.y, places = shape.z;
    volatile __global uint *all = counts + cells_at;
    bool fits = shape.w <= MEASURE_CELLS;
    for (uint i = lid; i < shape.w && fits; i += MEASURE_WG)
        own[i] = 0;
    for (uint i = lid; i < 3 * columns; i += MEASURE_WG)
        records[i] = batch[at + 1 + i];
    MEASURE_SYNC;
    for (uint w = first + lid; w < end && groupings; w += MEASURE_WG) {
        uint set = bits[w], place[32];
        codes_t codes;
        if (set == 0)
            continue;
        for (uint k = 0; k < groupings; k++) {
            column_t c = local_column(records, k);
            slices_t t = slices_of(BUFFER_ARGS, tiles, tile_count, c, w);
            uint has = with_value(filters, c, t, w, set);
            if (has)
                codes_of(t, w % SLICE_WORDS, &codes);
            for (uint rest = set; rest; rest &= rest - 1) {
                uint r = 31 - clz(rest & -rest), n = has >> r & 1 ? number_of(batch, c, code_of(t, &codes, r)) : 0;
                if (n == c.top + 2) {
                    damaged++;
                    set &= ~(1u << r);
                }
                place[r] = (k ? place[r] : 0) * (c.top + 2) + n;
            }
        }
        for (uint rest = set; rest; rest &= rest - 1) {
            uint r = 31 - clz(rest & -rest);
            if (fits)
                add_own(&own[place[r]], 1);
            else
                atomic_inc(&all[place[r]]);
        }
        for (uint k = groupings; k < columns; k++) {
            column_t c = local_column(records, k);
            slices_t t = slices_of(BUFFER_ARGS, tiles, tile_count, c, w);
            uint has = with_value(filters, c, t, w, set);
            if (has)
                codes_of(t, w % SLICE_WORDS, &codes);
            for (; has; has &= has - 1) {
                uint r = 31 - clz(has & -has), cell = c.own * places + place[r];
                ulong code = code_of(t, &codes, r) * c.factor;
                damaged += code > c.last;
                if (c.flags & COLUMN_VALUES) {
                    if (fits)
                        add_own(&own[cell], 1);
                    else
                        atomic_inc(&all[cell]);
                    cell += places;
                }
                if (c.flags & COLUMN_SUM) {
                    if (fits)
                        sum_own(&own[cell], places, code);
                    else
                        sum_all(&all[cell], places, code);
                }
            }
        }
    }
    if (groupings == 0) {
        uint rows = 0;
        for (uint w = first + lid; w < end; w += MEASURE_WG)
            rows += popcount(bits[w]);
        add_own(&own[0], rows);
    }
    for (uint k = 0; k < columns && groupings == 0; k++) {
        column_t c = local_column(records, k);
        uint values = 0, cell = c.own;
        ulong sum = 0, least = ~0UL, greatest = 0;
        for (uint w = first + lid * LANES; w < end; w += MEASURE_WG * LANES) {
            part_t set = part_at(bits, w, words);
            if (none(set))
                continue;
            slices_t t = slices_of(BUFFER_ARGS, tiles, tile_count, c, w);
            uint q = w % SLICE_WORDS / LANES;
            if (c.absent_words)
                set &= ~part_at(filters + (size_t)c.absent_at * 4, w, c.absent_words);
            if (first_bit(t))
                set &= slice_rows(t, 0, q, &loads);
            values += rows_in(set);
            if ((c.flags & COLUMN_SUM) && !none(set))
                damaged += add_part(t, c, q, set, &sum);
            if (!(c.flags & COLUMN_ENDS) || none(set))
                continue;
            if (t.least < least)
                least = min(least, end_of(t, q, set, false));
            if (t.least + low_bits(t.width) > greatest || t.least + low_bits(t.width) < t.least)
                greatest = max(greatest, end_of(t, q, set, true));
        }
        if (c.flags & COLUMN_VALUES)
            add_own(&own[cell++], values);
        if (c.flags & COLUMN_SUM)
            sum_own(&own[cell], 1, sum);
        if (c.flags & COLUMN_ENDS) {
            ends[lid] = least;
            ends[MEASURE_WG + lid] = greatest;
            MEASURE_SYNC;
            for (uint apart = MEASURE_WG / 2; apart > 0; apart /= 2) {
                if (lid < apart) {
                    ends[lid] = min(ends[lid], ends[lid + apart]);
                    ends[MEASURE_WG + lid] = max(ends[MEASURE_WG + lid], ends[MEASURE_WG + lid + apart]);
                }
                MEASURE_SYNC;
            }
            if (lid == 0)
                for (uint i = 0; i < 2; i++) {
                    ulong end = ends[i * MEASURE_WG];
                    uint to = shape.w + 1 + 4 * (GROUP_ID(0) * columns + k) + 2 * i;
                    all[to] = (uint)end;
                    all[to + 1] = (uint)(end >> 32);
                }
            MEASURE_SYNC;
        }
    }
    if (damaged)
        atomic_add(&all[shape.w], damaged);
    MEASURE_SYNC;
    for (uint place = lid; place < places && fits; place += MEASURE_WG) {
        if (own[place] == 0)
            continue;
        atomic_add(&all[place], own[place]);
        for (uint k = groupings; k < columns; k++) {
            column_t c = local_column(records, k);
            uint cell = c.own * places + place;
            if (c.flags & COLUMN_VALUES) {
                atomic_add(&all[cell], own[cell]);
                cell += places;
            }
            if (c.flags & COLUMN_SUM)
                sum_all(&all[cell], places, (ulong)own[cell + places] << 32 | own[cell]);
        }
    }
}
