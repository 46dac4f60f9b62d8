// check: the rows of a tile whose stored values lie in the ranges of a STEP_CHECK. A helper of rows.cl, no kernel
// of its own.
//
// Computes  checked: of few rows of a group, one by one. check_tile: of all rows of a tile, as plain bits.
// Operands  see rows.cl.
// Local     a tile of plain bits, and TABLE_WG * PACKED_ROWS bytes, the caller's.
// Barriers  check_tile: two for each TABLE_WG * PACKED_ROWS rows.
// Bounds    packed values may be any words: see packed_at and packed.cl.
#ifndef HEDDLE_CHECK
#define HEDDLE_CHECK
#ifndef HEDDLE_TILE
#include "tile.cl"
#endif
#ifndef HEDDLE_PACKED
#include "packed.cl"
#endif

#if USE_STORED
// in_ranges tells whether a code lies in one of n ascending ranges. `only` is the range of n = 1.
static inline bool in_ranges(__global const uint4 *range, uint n, uint4 only, ulong code) {
    if (n == 1)
        return as_ulong(only.xy) <= code & code <= as_ulong(only.zw);
    uint lo = 0, hi = n; // the first one that does not end below the code
    while (lo < hi) {
        uint mid = lo + (hi - lo) / 2;
        if (as_ulong(range[mid].zw) < code)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < n && as_ulong(range[lo].xy) <= code;
}

#if SCAN_SERIAL
#define CHECKED 4 // rows whose codes are loaded together
#else
#define CHECKED 1 // more were slower on an H200, and so were neighbours that share out rows
#endif

// codes_at returns values of n packed ones, whose directory begins at their first word.
static inline void codes_at(words_t p, uint words, uint n, const uint *row, uint *code) {
    segment_t g[CHECKED];
    #pragma unroll
    for (uint u = 0; u < CHECKED; u++)
        g[u] = packed_segment(p, words, 0, n, row[u] / SEGMENT);
    #pragma unroll
    for (uint u = 0; u < CHECKED; u++)
        code[u] = bits_at(p, words, g[u].at, row[u] % SEGMENT * g[u].b, g[u].b);
    #pragma unroll
    for (uint u = 0; u < CHECKED; u++)
        code[u] |= exception_of(p, words, g[u], row[u] % SEGMENT);
}

// checked returns the rows of a group, the first of which is row `first`, whose codes
// lie in the ranges of a step.
static inline word_t checked(ARENA, __global const uint4 *batch, uint4 step, word_t set, uint first, uint rows, uint *loads) {
    uint4 values = batch[step.y], range = batch[step.y + min(step.z, 1u)];
    words_t low = arena_at(ARENA_ARGS, step.w & 0xff, values.x), high = arena_at(ARENA_ARGS, step.w >> 8 & 0xff, values.z);
    for (word_t rest = set; rest;) {
        word_t bit[CHECKED]; // 0 behind the last row, whose code is loaded again
        uint row[CHECKED], code[CHECKED], upper[CHECKED] = {0};
        #pragma unroll
        for (uint u = 0; u < CHECKED; u++) {
            bit[u] = rest & (0 - rest);
            row[u] = bit[u] ? first + (uint)popcount(bit[u] - 1) : row[u ? u - 1 : 0];
            rest &= rest - 1;
        }
        codes_at(low, values.y, rows, row, code);
        LOADS(*loads, 4 * CHECKED);
        if (values.w) {
            codes_at(high, values.w, rows, row, upper);
            LOADS(*loads, 4 * CHECKED);
        }
        #pragma unroll
        for (uint u = 0; u < CHECKED; u++)
            if (!in_ranges(batch + step.y + 1, step.z, range, (ulong)upper[u] << 32 | code[u]))
                set &= ~bit[u];
    }
    return set;
}

// check_tile gives the rows of a tile, the first of which is row `first`, whose codes lie in the ranges of
// a step, as plain bits. Work-items note a row as a byte of 0 or 1, eight of which become a byte of bits.
static inline void check_tile(ARENA, __global const uint4 *batch, uint4 step, uint first, uint rows, __local uchar *plain,
                              __local ulong *flags, uint *loads) {
    uint4 values = batch[step.y], range = batch[step.y + min(step.z, 1u)];
    words_t low = arena_at(ARENA_ARGS, step.w & 0xff, values.x), high = arena_at(ARENA_ARGS, step.w >> 8 & 0xff, values.z);
    uint lid = get_local_id(0), near = NEAR_OF(TABLE_WG), own = near_row(lid, near);
    for (uint from = 0; from < TILE_WORDS * 32; from += TABLE_WG * PACKED_ROWS) {
        uint row[PACKED_ROWS], code[PACKED_ROWS], upper[PACKED_ROWS];
        #pragma unroll
        for (uint u = 0; u < PACKED_ROWS; u++) { // the last row again behind it
            row[u] = min(first + from + own + u * near, rows - 1);
            upper[u] = 0;
        }
        packed_rows(low, values.y, rows, row, code);
        if (values.w)
            packed_rows(high, values.w, rows, row, upper);
        LOADS(*loads, (values.w ? 4 : 2) * (PACKED_ROWS + 1));
        #pragma unroll
        for (uint u = 0; u < PACKED_ROWS; u++)
            ((__local uchar *)flags)[own + u * near] = in_ranges(batch + step.y + 1, step.z, range, (ulong)upper[u] << 32 | code[u]);
        SYNC;
        for (uint i = lid; i < TABLE_WG * PACKED_ROWS / 8 && from / 8 + i < TILE_WORDS * 4; i += TABLE_WG)
            plain[from / 8 + i] = (uchar)(flags[i] * 0x0102040810204080UL >> 56); // byte k becomes bit k
        SYNC;
    }
}

// group_at returns group g of plain bits.
static inline word_t group_at(__local const uint *plain, uint g) {
    uint w = g * GROUP_BITS / 32, s = g * GROUP_BITS % 32;
    word_t group = plain[w] >> s;
    for (uint n = 32 - s; n < GROUP_BITS; n += 32)
        group |= (word_t)plain[++w] << n;
    return group & GROUP_ONES;
}
#endif
#endif
