// slices: selections whose steps are checks of stored codes, joined by AND, OR and NOT.
//
// Computes  for each selection and tile of 4,096 rows the rows that its steps leave (plan.SelectBatch): its count
//           goes up by how many, from zeros of the host's; where `stride` is not 0, the rows as plain bits:
//           out[4*out_at + number*stride ...], row r at bit r%32 of word r/32. Where counts_at is not NO_COUNTS,
//           out[4*counts_at + t] is the number of rows of the only selection in tile t.
// Source    O'Neil and Quass 1997; Li and Patel 2013: see slice.cl. Bounds of the codes of a tile decide it
//           without its slices where they can.
// Batch     see step.cl. Tile t of column c is number c*tile_count + t of `tiles` (slice.cl).
// Phases    step by step on a part of a tile in registers; then counts and bits. With USE_CODES a check of more than
//           SLICE_RANGES ranges that meet the tile turns slices to codes, 32 rows at a time; that takes registers,
//           so other rounds have a program without it.
// Launch    groups of SLICE_WG work-items (SCAN_SERIAL: of one), so many for each selection from `first` on: group g
//           has selection first + g % selections, and every so manieth run of SLICE_TILES tiles.
// Local     4*SLICE_WG bytes.
// Bounds    steps and tiles are the host's, which has validated words and ranges.
#ifndef HEDDLE_SLICE
#include "slice.cl"
#endif
#ifndef HEDDLE_STEP
#include "step.cl"
#endif

#if SCAN_SERIAL
#define SLICE_WG 1
#define SLICE_TILES 1
#define SLICE_SYNC
#define SLICE_GROUP
#define EACH_PART(q) for (uint q = 0; q < PARTS; q++)
#else
#ifndef SLICE_WG
#define SLICE_WG 256 // a multiple of PARTS
#endif
#define SLICE_TILES (SLICE_WG / PARTS)
#define SLICE_SYNC barrier(CLK_LOCAL_MEM_FENCE)
#define SLICE_GROUP __attribute__((reqd_work_group_size(SLICE_WG, 1, 1)))
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

SLICE_GROUP
__kernel void slices(BUFFERS, __global const uint4 *restrict tiles, uint tile_count, uint row_count, __global uint4 *batch,
                     uint selections_at, uint first, uint selections, __global uint *restrict out, uint out_at, uint stride,
                     uint counts_at) {
    __local uint sums[SLICE_WG];
    volatile __global uint *head = (volatile __global uint *)batch;
    uint lid = get_local_id(0), g = get_group_id(0), total = 0, loads = 0;
    uint4 selection = batch[selections_at + first + g % selections];
    __global uint *bits = out + (size_t)out_at * 4 + (size_t)selection.w * stride;
    for (uint run = g / selections; run * SLICE_TILES < tile_count; run += get_num_groups(0) / selections) {
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
