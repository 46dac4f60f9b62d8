// selection: the rows that the steps of a selection in stored codes leave (plan.SelectBatch). Helpers of slices.cl,
// groups.cl and totals.cl, no kernel of its own.
//
// Computes  selected: of a part of a tile, step by step in registers.
// Source    O'Neil and Quass 1997; Li and Patel 2013: see slice.cl. Bounds of the codes of a tile decide it
//           without its slices where they can.
// Batch     see step.cl. Tile t of column c is number c*tile_count + t of `tiles` (slice.cl).
// Ranges    with USE_CODES a check of more than SLICE_RANGES ranges that meet the tile looks codes up: in the listed bits
//           of STEP_LISTED, else among the ranges. Of a tile of few codes the slices choose among the bits, as inputs of
//           a tree of multiplexers. Of another one the codes of few rows are read bit by bit, of more slices are turned to
//           codes, 32 rows at a time. That takes registers, so other rounds have a program without it, and without STEP_COMPARE.
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
#define USE_CODES 0 // 1: some check has more than SLICE_RANGES ranges, or a step compares columns
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

// searched returns the rows of a set in part q whose codes lie in one of many ranges.
static inline part_t searched(slices_t t, __global const uint4 *ranges, uint n, part_t set, uint q, uint *loads) {
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

// Bits of the codes from `first` to first + span.
typedef struct {
    __global const uint *bits;
    ulong first;
    uint span;
} list_t;

// word_of returns the bits of 32 codes from first + at on. Codes outside of the list have 0.
static inline uint word_of(list_t list, long at) {
    long w = at >> 5, last = list.span / 32;
    uint low = w >= 0 && w <= last ? list.bits[w] : 0, high = w >= -1 && w < last ? list.bits[w + 1] : 0;
    return at & 31 ? low >> (at & 31) | high << (32 - (at & 31)) : low;
}

#define CHOICE_BITS 6 // bits of a code that choose among the 64 bits of a tree
#define CHOICE_MOST 8 // width of tiles that have trees at most
#define FEW_ROWS (2 * LANES) // rows of a part whose codes are read bit by bit, at most

// chosen returns the rows of a set in part q whose codes are in a list, of a tile of few codes: a tree of multiplexers for
// each 64 of them.
static inline part_t chosen(slices_t t, list_t list, part_t set, uint q, uint *loads) {
    uint s = first_bit(t);
    if (s)
        set &= slice_rows(t, 0, q, loads);
    part_t x[CHOICE_BITS], found = 0;
    #pragma unroll
    for (uint k = 0; k < CHOICE_BITS; k++)
        x[k] = k < t.width ? slice_rows(t, s + t.width - 1 - k, q, loads) : (part_t)0;
    for (uint from = 0; from >> t.width == 0; from += 1 << CHOICE_BITS) {
        long at = (long)(t.least - list.first) + from;
        ulong bits = (ulong)word_of(list, at + 32) << 32 | word_of(list, at);
        part_t rows = set;
        for (uint k = CHOICE_BITS; k < t.width; k++) {
            part_t upper = slice_rows(t, s + t.width - 1 - k, q, loads);
            rows &= from >> k & 1 ? upper : ~upper;
        }
        if (bits == 0 || none(rows))
            continue;
        part_t below[CHOICE_BITS], top = 0; // below[k]: a result of 2^(k+1) codes that waits for the next one
        #pragma unroll
        for (uint i = 0; i < 1 << (CHOICE_BITS - 1); i++) {
            uint two = (uint)(bits >> 2 * i) & 3;
            top = bitselect((part_t)(0 - (two & 1)), (part_t)(0 - (two >> 1)), x[0]);
            #pragma unroll
            for (uint k = 1; k < CHOICE_BITS; k++) {
                if ((i & ((1 << k) - 1)) == (1 << k) - 1)
                    top = bitselect(below[k - 1], top, x[k]);
                else if ((i & ((1 << (k - 1)) - 1)) == (1 << (k - 1)) - 1)
                    below[k - 1] = top;
            }
        }
        found |= rows & top;
    }
    return found;
}

// listed returns the rows of a set in part q whose codes are in a list.
static inline part_t listed(slices_t t, list_t list, part_t set, uint q, uint *loads) {
    if (t.width <= CHOICE_MOST)
        return chosen(t, list, set, q, loads);
    if (t.width >= 32) // else an offset in the list has 32 bits, since the tile meets it
        set = between(t, set, list.first, list.first + list.span, q, loads);
    else if (first_bit(t))
        set &= slice_rows(t, 0, q, loads);
    uint words[LANES], n = min(t.width, 32u), above = (uint)(t.least - list.first); // lower halves decide
    part_store(set, 0, words);
    if (rows_in(set) <= FEW_ROWS) {
        uint found[LANES] = {0}, l = 0;
        for (uint rest = rows_in(set); rest; rest--) {
            while (words[l] == 0)
                l++;
            uint r = 31 - clz(words[l] & -words[l]), at = above + (uint)code_at(t, 32 * (q * LANES + l) + r);
            words[l] &= words[l] - 1;
            LOADS(*loads, t.width);
            if (at <= list.span)
                found[l] |= (list.bits[at / 32] >> at % 32 & 1) << r;
        }
        return part_load(0, found);
    }
    #pragma unroll 1
    for (uint l = 0; l < LANES; l++) {
        if (words[l] == 0)
            continue;
        uint code[32], in = 0;
        turned(t, first_bit(t) + t.width - n, n, q * LANES + l, code);
        LOADS(*loads, n);
        #pragma unroll
        for (uint r = 0; r < 32; r++) {
            uint at = above + code[r];
            if ((words[l] >> r & 1) && at <= list.span)
                in |= (list.bits[at / 32] >> at % 32 & 1) << r;
        }
        words[l] = in;
    }
    return part_load(0, words);
}

// compared returns the rows of a set in part q whose numbers, base plus code, are in one of some orders.
// From the most significant slice on, two sets of rows are undecided: where the higher bits of the number of `a`, as a
// number, are as large as the ones of the number of `b`, and where they are 1 more. The difference of the bases and the
// least codes takes part as bits of the number of `b`: with them a row that is 2 ahead, or behind, stays so.
static inline part_t compared(slices_t a, slices_t b, ulong base_a, ulong base_b, uint orders, part_t set, uint q, uint *loads) {
    if (first_bit(a))
        set &= slice_rows(a, 0, q, loads);
    if (first_bit(b))
        set &= slice_rows(b, 0, q, loads);
    if (none(set))
        return set;
    base_a += a.least;
    base_b += b.least;
    if (base_a > base_b) {
        slices_t c = a;
        a = b;
        b = c;
        ulong base = base_a;
        base_a = base_b;
        base_b = base;
        orders = (orders & ORDER_LESS ? ORDER_GREATER : 0) | (orders & ORDER_EQUAL) | (orders & ORDER_GREATER ? ORDER_LESS : 0);
    }
    ulong by = base_b - base_a;
    part_t even = set, ahead = 0, greater = 0;
    if (by > low_bits(a.width))
        even = 0;
    for (uint bit = max(a.width, b.width); bit > 0 && !none(even | ahead);) {
        bit--;
        part_t x = bit < a.width ? slice_rows(a, first_bit(a) + a.width - 1 - bit, q, loads) : (part_t)0;
        part_t y = bit < b.width ? slice_rows(b, first_bit(b) + b.width - 1 - bit, q, loads) : (part_t)0;
        part_t more = x & ~y, fewer = ~x & y, same = ~(x ^ y);
        if (by >> bit & 1) {
            greater |= ahead & more;
            even = (even & more) | (ahead & fewer);
            ahead &= same;
        } else {
            greater |= ahead & ~fewer;
            ahead = (even & more) | (ahead & fewer);
            even &= same;
        }
    }
    greater |= ahead;
    return (orders & ORDER_LESS ? set & ~(greater | even) : (part_t)0) | (orders & ORDER_EQUAL ? even : (part_t)0) |
           (orders & ORDER_GREATER ? greater : (part_t)0);
}
#endif

// checked returns the rows of a set in part q whose codes lie in one of n ascending ranges. With has_list, bits of all codes
// from the first to the last one of the ranges follow them.
static inline part_t checked(slices_t t, __global const uint4 *ranges, uint n, bool has_list, part_t set, uint q, uint *loads) {
#if USE_CODES
    if (n > SLICE_RANGES) { // those that meet the tile
        list_t list = {(__global const uint *)(ranges + n), as_ulong(ranges[0].xy), 0};
        if (has_list)
            list.span = (uint)(as_ulong(ranges[n - 1].zw) - list.first);
        uint before = first_range(ranges, n, t.least);
        ranges += before;
        n -= before;
        ulong top = t.least + low_bits(t.width), last = top < t.least ? ~0UL : top;
        uint meet = first_range(ranges, n, last);
        n = meet < n && as_ulong(ranges[meet].xy) <= last ? meet + 1 : meet;
        if (n > SLICE_RANGES)
            return has_list ? listed(t, list, set, q, loads) : searched(t, ranges, n, set, q, loads);
    }
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
        case STEP_LISTED:
            if (!none(set))
                set = checked(slices_at(BUFFER_ARGS, tiles, step.w * tile_count + t), batch + step.y, step.z, step.x == STEP_LISTED, set, q, loads);
            break;
#if USE_CODES
        case STEP_COMPARE: {
            uint4 columns = batch[step.y], bases = batch[step.y + 1];
            if (!none(set))
                set = compared(slices_at(BUFFER_ARGS, tiles, columns.x * tile_count + t), slices_at(BUFFER_ARGS, tiles, columns.y * tile_count + t),
                               as_ulong(bases.xy), as_ulong(bases.zw), step.w, set, q, loads);
            break;
        }
#endif
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
