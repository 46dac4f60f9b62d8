// top: the first rows of a selection in the order of the codes of a column (ORDER BY ... LIMIT k).
//
// Computes  best_keys: of each unit, which is `each` parts of tiles that follow each other, {key: lower and upper half, rows
//           with this key (bits 0-15) and rows with a value (16-31), rows}: the greatest key of its selected rows. A
//           key tells the place of a row: greater keys come first. It is code + 2, or last + 2 - code where codes
//           ascend; a row without a value has 1, or last + 3 where such rows come first. 0: no row. Without a column all
//           rows have the key 2.
//           rows_above: of the listed units the selected rows with a key above a bound, and the rows with this key. Words 0
//           and 1 of `out`, zeros before, go up by their numbers; up to `room` rows of each kind follow from word 4 on,
//           in any order.
// Source    O'Neil and Quass 1997: the greatest code follows from the rows that are left slice by slice.
// Bytes     best_keys reads the slices of the column in each part with a selected row, 16 bytes a slice, and writes 16 a
//           unit; rows_above reads the listed units alone, with early stop. Both read what the selection needs.
// Batch     the selection (step.cl) at selections_at. At `at` uint4 {column, flags, last: lower and upper half}, for rows_above
//           then the ranges of codes {lowest, highest} of the rows above the bound and of the rows at it, {units, 0, 0,
//           0}, and the numbers of the units.
// Phases    a work-item selects the rows of a part (selection.cl) and goes through its slices; a tree in local memory for
//           each unit.
// Launch    groups of TOP_WG work-items, a part each (SCAN_SERIAL: of one; best_keys: a tile each). `each` divides PARTS.
// Local     16*TOP_WG + 8*TOP_WG bytes.
// Bounds    units and ranges are the host's; tiles as in slice.cl; stores of rows are bounded by `room`.
#ifndef HEDDLE_SELECTION
#include "selection.cl"
#endif
#define TOP_TOGETHER 8 // slices that are loaded together
#if SCAN_SERIAL
#define TOP_WG 1
#define TOP_GROUP
#else
#define TOP_WG 256 // a multiple of PARTS
#define TOP_GROUP __attribute__((reqd_work_group_size(TOP_WG, 1, 1)))
#endif

// Flags of an order.
#define ORDER_COLUMN 1         // rows have codes
#define ORDER_DESCENDING 2     // the greatest code comes first
#define ORDER_MISSING_FIRST 4  // rows without a value come first
#define ORDER_MISSING_ABOVE 8  // rows_above: they are above the bound
#define ORDER_MISSING_EQUAL 16 // rows_above: they are at the bound

typedef struct {
    ulong key;
    uint ties, values, rows;
} best_t;

// joined is the best of two sets of rows.
static inline best_t joined(best_t a, best_t b) {
    best_t c = {max(a.key, b.key), 0, a.values + b.values, a.rows + b.rows};
    c.ties = (a.key == c.key ? a.ties : 0) + (b.key == c.key ? b.ties : 0);
    return c;
}

// first_code returns the greatest code of a set of rows of part q, which has some, or the least one, and keeps the rows with it.
static inline ulong first_code(slices_t t, uint q, part_t *set, bool greatest, uint *loads) {
    ulong code = 0;
    uint s = first_bit(t), b = t.width;
#define FIRST_STEP(slice)                                              \
    {                                                                  \
        part_t next = (slice), better = *set & (greatest ? next : ~next); \
        bool some = !none(better);                                     \
        if (some)                                                      \
            *set = better;                                             \
        code = code << 1 | (some == greatest);                         \
    }
#if !SCAN_SERIAL
    if (t.flags & FLAG_PLAIN)
        for (uint n; b > 0; b -= n, s += n) {
            part_t x[TOP_TOGETHER];
            n = min(b, (uint)TOP_TOGETHER);
            LOADS(*loads, n * LANES);
            _Pragma("unroll") for (uint i = 0; i < TOP_TOGETHER; i++)
                x[i] = i < n ? t.words[(s + i) * t.plain + q] : (part_t)0;
            _Pragma("unroll") for (uint i = 0; i < TOP_TOGETHER; i++)
                if (i < n)
                    FIRST_STEP(x[i])
        }
#endif
    for (; b > 0; b--)
        FIRST_STEP(slice_rows(t, s++, q, loads))
    return t.least + code;
}

// best_of returns the best of the rows of a set in part q of tile t.
static inline best_t best_of(BUFFERS, __global const uint4 *tiles, uint tile_count, uint4 order, uint t, uint q, part_t set, uint *loads) {
    best_t b = {2, 0, 0, rows_in(set)};
    b.ties = b.values = b.rows;
    if (b.rows == 0)
        b.key = 0;
    if (b.rows == 0 || !(order.y & ORDER_COLUMN))
        return b;
    ulong last = (ulong)order.w << 32 | order.z;
    slices_t x = slices_at(BUFFER_ARGS, tiles, order.x * tile_count + t);
    if (first_bit(x)) {
        set &= slice_rows(x, 0, q, loads);
        b.values = rows_in(set);
        if (b.values < b.rows && (order.y & ORDER_MISSING_FIRST || b.values == 0)) {
            b.ties = b.rows - b.values;
            b.key = order.y & ORDER_MISSING_FIRST ? last + 3 : 1;
            return b;
        }
    }
    bool greatest = (order.y & ORDER_DESCENDING) != 0;
    ulong code = min(first_code(x, q, &set, greatest, loads), last);
    b.key = 2 + (greatest ? code : last - code);
    b.ties = rows_in(set);
    return b;
}

static inline uint4 packed_best(best_t b) { return (uint4)((uint)b.key, (uint)(b.key >> 32), b.ties | b.values << 16, b.rows); }

TOP_GROUP
__kernel void best_keys(BUFFERS, __global const uint4 *restrict tiles, uint tile_count, uint row_count,
                        __global const uint4 *batch, uint selections_at, __global const uint *restrict bits,
                        __global uint4 *restrict out, uint at, uint each) {
    uint lid = get_local_id(0), loads = 0;
    uint4 selection = batch[selections_at], order = batch[at];
    uint t = GROUP_ID(0) * max((uint)TOP_WG / PARTS, 1u) + lid / PARTS;
    uint rows = t < tile_count ? min(row_count - t * SLICE_WORDS * 32, (uint)SLICE_WORDS * 32) : 0;
    best_t best = {0, 0, 0, 0};
#if !SCAN_SERIAL
    __local best_t box[TOP_WG];
#endif
    EACH_PART(q) {
        best_t own = {0, 0, 0, 0};
        if (q * PART_ROWS < rows) {
            part_t set = selected(BUFFER_ARGS, tiles, tile_count, batch, selection, bits, t, q, valid_part(rows, q), &loads);
            own = best_of(BUFFER_ARGS, tiles, tile_count, order, t, q, set, &loads);
        }
        best = joined(best, own);
#if SCAN_SERIAL
        if ((q + 1) % each == 0) {
            out[(t * PARTS + q) / each] = packed_best(best);
            best.key = best.ties = best.values = best.rows = 0;
        }
#endif
    }
#if !SCAN_SERIAL
    box[lid] = best;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint apart = each / 2; apart > 0; apart /= 2) {
        if (lid % each < apart)
            box[lid] = joined(box[lid], box[lid + apart]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid % each == 0 && t < tile_count)
        out[(t * PARTS + lid % PARTS) / each] = packed_best(box[lid]);
#endif
}

// append_rows adds the rows of a set, the first of which is `first`, to a list of `room` rows.
static inline void append_rows(volatile __global uint *count, __global uint *list, uint room, part_t set, uint first) {
    uint n = rows_in(set);
    if (n == 0)
        return;
    uint next = atomic_add(count, n), words[LANES];
    part_store(set, 0, words);
    for (uint l = 0; l < LANES && next < room; l++)
        for (uint rest = words[l]; rest && next < room; rest &= rest - 1)
            list[next++] = first + 32 * l + 31 - clz(rest & -rest);
}

TOP_GROUP
__kernel void rows_above(BUFFERS, __global const uint4 *restrict tiles, uint tile_count, uint row_count,
                         __global const uint4 *batch, uint selections_at, __global const uint *restrict bits,
                         __global uint *restrict out, uint at, uint each, uint room) {
    uint loads = 0, item = GROUP_ID(0) * TOP_WG + get_local_id(0);
    uint4 selection = batch[selections_at], order = batch[at], above = batch[at + 1], equal = batch[at + 2];
    if (item / each < batch[at + 3].x) {
        uint unit = ((__global const uint *)(batch + at + 4))[item / each];
        uint p = unit * each + item % each, t = p / PARTS, q = p % PARTS;
        uint rows = min(row_count - t * SLICE_WORDS * 32, (uint)SLICE_WORDS * 32);
        part_t set = 0, over = 0, at_bound = 0;
        if (q * PART_ROWS < rows)
            set = selected(BUFFER_ARGS, tiles, tile_count, batch, selection, bits, t, q, valid_part(rows, q), &loads);
        if (!none(set)) {
            if (order.y & ORDER_COLUMN) {
                slices_t x = slices_at(BUFFER_ARGS, tiles, order.x * tile_count + t);
                if (as_ulong(above.xy) <= as_ulong(above.zw))
                    over = between(x, set, as_ulong(above.xy), as_ulong(above.zw), q, &loads);
                if (as_ulong(equal.xy) <= as_ulong(equal.zw))
                    at_bound = between(x, set & ~over, as_ulong(equal.xy), as_ulong(equal.zw), q, &loads);
                if (first_bit(x) && order.y & (ORDER_MISSING_ABOVE | ORDER_MISSING_EQUAL)) {
                    part_t missing = set & ~slice_rows(x, 0, q, &loads);
                    if (order.y & ORDER_MISSING_ABOVE)
                        over |= missing;
                    else
                        at_bound |= missing;
                }
            } else if (order.y & ORDER_MISSING_ABOVE) {
                over = set;
            } else {
                at_bound = set;
            }
            uint first = t * SLICE_WORDS * 32 + q * PART_ROWS;
            append_rows(out, out + 4, room, over, first);
            append_rows(out + 1, out + 4 + room, room, at_bound, first);
        }
    }
}
