// selection: the rows that the steps of a selection in stored codes leave (plan.SelectBatch). Helpers of slices.cl,
// groups.cl and totals.cl, no kernel of its own.
//
// Computes  selected: of a part of a tile, step by step in registers.
// Source    O'Neil and Quass 1997; Li and Patel 2013: see slice.cl. Bounds of the codes of a tile decide it
//           without its slices where they can.
// Batch     see step.cl. Tile t of column c is number c*tile_count + t of `tiles` (slice.cl).
// Ranges    with USE_CODES a check of more than SLICE_RANGES ranges that meet the tile turns slices to codes, 32 rows at
//           a time; that takes registers, so other rounds have a program without it.
// Bounds    steps and tiles are the host's, which has validated words and ranges.
#ifndef HEDDLE_SELECTION
#define HEDDLE_SELECTION
#ifndef HEDDLE_SLICE
#include "slice.cl"
#endif
#ifndef HEDDLE_STEP
#include "step.cl"
#endif

// EACH_PART runs for the parts of a tile that a work-item has, one of a work-group of some tiles.
#if SCAN_SERIAL
#define EACH_PART(q) for (uint q = 0; q < PARTS; q++)
#else
#define EACH_PART(q) for (uint q = get_local_id(0) % PARTS, once = 1; once; once = 0)
#endif
#ifndef USE_CODES
#define USE_CODES 0 // 1: some check has more than SLICE_RANGES ranges
#endif
#define SLICE_RANGES 4 // ranges that are evaluated one after the other
#define SETS 8         // plan.MaxSets

// valid_part is the mask of the rows of part q of a tile of so many rows.
static inline part_t valid_part(uint rows, uint q) {
    part_t n = rows - min(rows, q * PART_ROWS);
    n = min(n - min(n, 32 * LANE), (part_t)32);
    return select(((part_t)1 << (n & 31)) - 1, (part_t)0xffffffff, n == (part_t)32);
}

#if USE_CODES
// first_range is the first of n ascending ranges that does not end below a code.
static inline uint first_range(__global const uint4 *ranges, uint n, ulong code) {
    uint lo = 0, hi = n;
    while (lo < hi) {
        uint mid = lo + (hi - lo) / 2;
        if (as_ulong(ranges[mid].zw) < code)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

// listed returns the rows of a set in part q whose codes lie in one of many ranges.
static inline part_t listed(slices_t t, __global const uint4 *ranges, uint n, part_t set, uint q, uint *loads) {
    if (first_bit(t))
        set &= slice_rows(t, 0, q, loads);
    uint words[LANES];
    part_store(set, 0, words);
    for (uint l = 0; l < LANES; l++) {
        if (words[l] == 0)
            continue;
        codes_t c;
        codes_of(t, q * LANES + l, &c);
        LOADS(*loads, t.width);
        for (uint rest = words[l]; rest; rest &= rest - 1) {
            uint r = 31 - clz(rest & -rest);
            ulong code = code_of(t, &c, r);
            uint i = first_range(ranges, n, code);
            if (i == n || as_ulong(ranges[i].xy) > code)
                words[l] &= ~(1u << r);
        }
    }
    return part_load(0, words);
}
#endif

// checked returns the rows of a set in part q whose codes lie in one of n ascending ranges.
static inline part_t checked(slices_t t, __global const uint4 *ranges, uint n, part_t set, uint q, uint *loads) {
#if USE_CODES
    if (n > SLICE_RANGES) { // those that meet the tile
        uint before = first_range(ranges, n, t.least);
        ranges += before;
        n -= before;
        ulong top = t.least + low_bits(t.width), last = top < t.least ? ~0UL : top;
        uint meet = first_range(ranges, n, last);
        n = meet < n && as_ulong(ranges[meet].xy) <= last ? meet + 1 : meet;
    }
    if (n > SLICE_RANGES)
        return listed(t, ranges, n, set, q, loads);
#endif
    part_t found = 0;
    for (uint i = 0; i < n; i++)
        found |= between(t, set & ~found, as_ulong(ranges[i].xy), as_ulong(ranges[i].zw), q, loads);
    return found;
}

// selected returns the rows of part q of tile t that the steps of a selection leave.
static inline part_t selected(BUFFERS, __global const uint4 *tiles, uint tile_count, __global const uint4 *batch, uint4 selection,
                              __global const uint *out, uint t, uint q, part_t valid, uint *loads) {
    part_t set = 0, stack[SETS - 1]; // the sets below the top
    uint depth = 0;
    for (uint s = 0; s < selection.y; s++) {
        uint4 step = batch[selection.x + s];
        switch (step.x) {
        case STEP_ANY:
        case STEP_ALL:
            if (step.w && none(set)) {
                s += step.w - 1;
                break;
            }
            if (depth > 0)
                stack[depth - 1] = set;
            depth++;
            set = step.x == STEP_ALL ? valid : (part_t)0;
            break;
        case STEP_NOT:
            set = ~set & valid;
            break;
        case STEP_CHECK:
            if (!none(set))
                set = checked(slices_at(BUFFER_ARGS, tiles, step.w * tile_count + t), batch + step.y, step.z, set, q, loads);
            break;
        case STEP_BITS:
            set &= part_of(out + (size_t)step.y * 4 + t * SLICE_WORDS + q * LANES); // bits of whole parts are there
            LOADS(*loads, LANES);
            break;
        default: {
            depth--;
            part_t below = stack[depth - 1];
            set = step.x == STEP_AND ? below & set : step.x == STEP_OR ? below | set : below & ~set;
        }
        }
    }
    return set;
}
#endif
