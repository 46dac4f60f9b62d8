// pair_groups: the rows of groups by one narrow column, and the sum of another one, if there is one.
//
// Computes  for the rows that a selection leaves a cell of `planes` words for each group: word 0 has the rows, words 2 and 3
//           the sum of codes. The place of a group is 1 more than its code. Cells are zero before.
// Source    the bits of 32 rows are transposed to their codes (Warren, Hacker's Delight, 7-3): with USE_ONE in one square for both
//           columns, else one after the other. Codes of the summed column lie at the upper end.
// Rows      of plain bits with has_bits, else all; of these the ones with a code from `from` to `to` of the column of groups
//           (`bound` 1) or of sums (2), or all (0).
// Cells     without USE_GLOBAL in local memory, where neighbours have copies; with `two` a sum is the sums of the lower
//           `limb` bits and of those above, so that no addition carries. With USE_GLOBAL the rows and the sum are one number of
//           64 bits, the rows from bit `limb` on, in so many copies behind the cells (packed.cl), zeros before. With `part`
//           a work-group first adds up numbers of 32 bits in local memory, the rows from bit `part` on. Where a group
//           overflows, fewer rows come out than went in, never more: the total tells. Then the work-group adds these rows
//           again, and all later ones, to global memory. The first `head` words are a trial.
// Launch    groups of PAIR_WG work-items, `span` words of 32 rows each: at most 2^(32-limb) rows without USE_GLOBAL.
// Local     16 bytes, and without USE_GLOBAL four for each number and copy, with `part` four for each place.
// Bounds    columns are narrow, all rows have a value, and no code is above the last one of the host's; with USE_ONE the bits of
//           both fit 32. With USE_GLOBAL, sums of a copy fit `limb` bits and its rows those above; with `part`, 32 - part and the
//           bits of the greatest code are `part` bits at most. Tiles as in slice.cl.
#ifndef HEDDLE_SLICE
#include "slice.cl"
#endif
#ifndef HEDDLE_FIELD
#include "field.cl"
#endif
#ifndef USE_GLOBAL
#define USE_GLOBAL 0 // 1: cells do not fit local memory
#endif
#ifndef USE_ONE
#define USE_ONE 0 // 1: the bits of both columns fit 32
#endif
#define PAIR_WG 256
#define NO_COLUMN 0xffffffff // of the sum: codes are 0
#define BOUND_GROUP 1
#define BOUND_SUM 2

#define EACH_ROW _Pragma("unroll") for (uint r = 0; r < 32; r++)
#define EACH_SLICE(t)                                                     \
    _Pragma("unroll") for (uint i = 0; i < 32; i += 4) if (i < (t).width) \
        _Pragma("unroll") for (uint s = i; s < i + 4; s++) if (s < (t).width)
#define EACH_SELECTED(add)                              \
    EACH_ROW {                                          \
        uint code = x[r] >> shift;                      \
        if ((set >> r & 1) && code - lower <= range) {  \
            code += (uint)b.least;                      \
            add;                                        \
        }                                               \
    }
#if USE_ONE
#define GROUP(r) (x[r] & low_mask(a.width))
#else
#define GROUP(r) group[r]
#endif

// load_slices puts the slices of 32 rows to x: with `upper` the most significant one to x[31], else the least significant one to x[0].
static inline void load_slices(slices_t t, uint g, bool upper, uint *x) {
    __global const uint *first = (__global const uint *)t.words + g;
    if (!(t.flags & FLAG_PLAIN)) {
        uint some[32] = {0};
        for (uint s = 0; s < t.width; s++)
            some[upper ? 31 - s : t.width - 1 - s] = slice_word(t, s, g);
        EACH_ROW x[r] |= some[r];
    } else if (upper) {
        EACH_SLICE(t) x[31 - s] = first[s * 4 * t.plain];
    } else {
        EACH_SLICE(t) x[s] = first[(t.width - 1 - s) * 4 * t.plain];
    }
}

__attribute__((reqd_work_group_size(PAIR_WG, 1, 1)))
__kernel void pair_groups(BUFFERS, __global const uint4 *restrict tiles, uint tile_count, uint row_count, __global const uint *restrict bits,
                          volatile __global uint *counts, uint has_bits, uint cells_at, uint span, uint by, uint of, uint places, uint planes,
                          uint bound, uint from, uint to, uint limb, uint two, uint copies, uint part, uint head, __local uint *restrict own) {
    uint lid = get_local_id(0), words = (row_count + 31) / 32, first = GROUP_ID(0) * span, last = min(first + span, words), end = last;
    volatile __global uint *all = counts + cells_at;
#if USE_GLOBAL
    __local uint lost; // rows that went in, less those that come out
    volatile __global uint *packed = all + places * (planes + 2 * (GROUP_ID(0) % copies));
    bool trial = part > 0;
    uint plane = trial ? places : 0;
    if (trial)
        end = min(first + head, last);
#else
    uint plane = places << copies, copy = lid & ((1u << copies) - 1);
#endif
    for (uint i = lid; i < plane * (two + 2 - USE_GLOBAL); i += PAIR_WG)
        own[i] = 0;
    while (first < last) {
#if USE_GLOBAL
        uint added = 0;
        if (lid == 0)
            lost = 0;
#endif
        barrier(CLK_LOCAL_MEM_FENCE);
        #pragma unroll 1
        for (uint w = first + lid; w < end; w += PAIR_WG) {
            uint tile = w / SLICE_WORDS, g = w % SLICE_WORDS, set = has_bits ? bits[w] : 0xffffffff;
            if (row_count - 32 * w < 32)
                set &= low_mask(row_count - 32 * w);
            slices_t a = slices_at(BUFFER_ARGS, tiles, by * tile_count + tile), b = a;
            if (of != NO_COLUMN) {
                b = slices_at(BUFFER_ARGS, tiles, of * tile_count + tile);
            } else {
                b.width = 0;
                b.least = 0;
            }
            uint x[32], lower = 0, range = 0xffffffff, shift = 32 - max(b.width, 1u);
            if (bound) { // codes without the least one of the tile
                uint least = (uint)(bound == BOUND_SUM ? b.least : a.least), low = max(from, least);
                if (to < low || low - least > low_bits(bound == BOUND_SUM ? b.width : a.width))
                    continue;
                lower = low - least;
                range = to - low;
            }
            if (set == 0)
                continue;
            EACH_ROW x[r] = 0;
            load_slices(a, g, false, x);
#if !USE_ONE
            uint group[32];
            turn_square(x);
            EACH_ROW group[r] = x[r];
            EACH_ROW x[r] = 0;
#endif
            load_slices(b, g, true, x);
            turn_square(x);
            if (bound == BOUND_GROUP) {
                uint in = 0;
                EACH_ROW in |= (uint)(GROUP(r) - lower <= range) << r;
                set &= in;
                lower = 0;
                range = 0xffffffff;
            }
            uint place = (uint)a.least + 1;
#if USE_GLOBAL
            if (trial) {
                EACH_SELECTED(atomic_add(own + place + GROUP(r), (1u << part) + code); added++)
            } else {
                EACH_SELECTED(SUM_CELL(packed + 2 * (place + GROUP(r)), (1UL << limb) + code))
            }
#else
            __local uint *cells = own + (place << copies) + copy;
            if (two) {
                EACH_SELECTED(__local uint *cell = cells + (GROUP(r) << copies); atomic_inc(cell);
                              atomic_add(cell + plane, code & low_mask(limb)); atomic_add(cell + 2 * plane, code >> limb))
            } else {
                EACH_SELECTED(__local uint *cell = cells + (GROUP(r) << copies); atomic_inc(cell); atomic_add(cell + plane, code))
            }
#endif
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#if USE_GLOBAL
        if (trial) {
            for (uint i = lid; i < places; i += PAIR_WG)
                added -= own[i] >> part;
            atomic_add(&lost, added);
            barrier(CLK_LOCAL_MEM_FENCE);
            trial = lost == 0;
            for (uint i = lid; trial && i < places; i += PAIR_WG) {
                uint n = own[i];
                own[i] = 0;
                if (n)
                    SUM_CELL(packed + 2 * i, ((ulong)(n >> part) << limb) + (n & low_mask(part)));
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            if (!trial)
                continue;
        }
#endif
        first = end;
        end = last;
    }
#if !USE_GLOBAL
    for (uint i = lid; i < places; i += PAIR_WG) {
        uint rows = 0;
        ulong sum = 0;
        for (uint c = i << copies; c < (i + 1) << copies; c++) {
            rows += own[c];
            sum += own[plane + c] + (two ? (ulong)own[2 * plane + c] << limb : 0);
        }
        if (rows) {
            atomic_add(all + i * planes, rows);
            SUM_CELL(all + i * planes + 2, sum);
        }
    }
#endif
}
