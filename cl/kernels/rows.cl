// rows: selections over the vectors of a table, tile by tile of their rows.
//
// Computes  for each selection and tile of TILE_GROUPS groups the rows that its steps
//           leave (plan.SelectBatch): its count goes up by how many, from zeros of the
//           host's; where `stride` is not 0, the rows of the tile as plain bits:
//           out[4*out_at + selection*stride ...], row r at bit r%32 of word r/32.
// Source    Nelson et al. 2020, where vectors are decompressed and the results reduced.
//           Here no decompressed vector is written: a group of work-items holds a tile
//           in registers, and finds the word of each group of rows of each vector by a
//           directory (directory.cl) that the host made once, in place of the scans of
//           Algorithm 2. Tiles of a vector with a number in `plain`, from 1 on, are
//           there as groups: `plain` is numbers by tile and vector, then, plain_at
//           units of four words from its beginning, tiles. Where counts_at is not NO_COUNTS, out[4*counts_at + t]
//           is the number of rows of the only selection in tile t.
// Batch     one upload of uint4: {loads, carries, turn, 0}, counts, selections {first step,
//           steps, 0, 0}, steps, operands. A step is {code, first operand, operands, w}.
//           An operand is
//             of STEP_ANY    {words of the vector in units of four words of 32 bits, its
//                            number, its part of `fine` in such units, arena buffer};
//                            w of the step: how many steps to leave out, this one
//                            included, where the top of the stack has no row (0: none)
//             of STEP_CHECK  first {low, words, high, words} of packed values, their
//                            buffers in the step's w (bits 0-7, 8-15); no high ones
//                            without words. Then ranges {Lo, Hi}, ascending
//           STEP_LOAD {code, column, 0, w as of STEP_ANY} pushes a column of `columns`,
//           groups as words. STEP_BITS {code, at, 0, 0} keeps the rows that plain bits have,
//           at units of four words from the beginning of `out`.
// Phases    step by step. STEP_ANY is any.cl's (any_serial.cl's). STEP_CHECK of many rows of a tile
//           checks all of its rows, in their order, into plain bits in local memory. Other steps concern a
//           work-item's own groups. Then counts and plain bits.
// Launch    a group of TABLE_WG work-items (SCAN_SERIAL: of one) for each tile and each
//           selection from `first` on: group g has selection first + g % selections.
// Local     TILE_GROUPS words, and as many for each set of the stack but the top, sized
//           by the host; a word, and the local memory of any.cl.
// Bounds    steps, operands and directory are the host's, which has validated vectors;
//           packed values may be any words.
#ifndef HEDDLE_TILE
#include "tile.cl"
#endif
#ifndef HEDDLE_ANY_SERIAL
#include "any_serial.cl"
#endif
#ifndef HEDDLE_ANY
#include "any.cl"
#endif

// Parts of some programs only: stored values, columns of earlier kernels.
#ifndef USE_STORED
#define USE_STORED 0
#endif
#ifndef USE_COLUMNS
#define USE_COLUMNS 0
#endif
#if USE_STORED
#define STORED                                                                    \
    , __global const uint *restrict v0, __global const uint *restrict v1,         \
        __global const uint *restrict v2, __global const uint *restrict v3
#else
#define STORED
#endif
#if USE_COLUMNS
#define COLUMNS , __global const word_t *restrict columns, uint column_stride
#else
#define COLUMNS
#endif

#define STEP_ANY 0
#define STEP_AND 1
#define STEP_OR 2
#define STEP_ANDNOT 3
#define STEP_NOT 4
#define STEP_CHECK 5
#define STEP_LOAD 6
#define STEP_BITS 7

#define NO_COUNTS 0xffffffff

#if USE_STORED
// in_ranges tells whether a code lies in one of n ascending ranges. `only` is the range of n = 1.
static inline bool in_ranges(__global const uint4 *range, uint n, uint4 only, ulong code) {
    if (n == 1)
        return as_ulong(only.xy) <= code && code <= as_ulong(only.zw);
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
// a step, as plain bits. A work-item reads eight rows at a time, and its neighbour the next eight.
static inline void check_tile(ARENA, __global const uint4 *batch, uint4 step, uint first, uint rows, __local uchar *plain, uint *loads) {
    uint4 values = batch[step.y], range = batch[step.y + min(step.z, 1u)];
    words_t low = arena_at(ARENA_ARGS, step.w & 0xff, values.x), high = arena_at(ARENA_ARGS, step.w >> 8 & 0xff, values.z);
    for (uint byte = get_local_id(0); byte < TILE_WORDS * 4; byte += TABLE_WG) {
        uint at = first + byte * 8, n = at < rows ? min(rows - at, 8u) : 0, in = 0;
        if (n) {
            segment_t g = inside_of(packed_segment(low, values.y, 0, rows, at / SEGMENT), values.y), h = g;
            if (values.w)
                h = inside_of(packed_segment(high, values.w, 0, rows, at / SEGMENT), values.w);
            for (uint i = 0; i < n; i += 4) {
                uint4 code = packed_four(low, values.y, g, at % SEGMENT + i), upper = 0;
                if (values.w)
                    upper = packed_four(high, values.w, h, at % SEGMENT + i);
                LOADS(*loads, values.w ? 14 : 7);
                in |= (in_ranges(batch + step.y + 1, step.z, range, (ulong)upper.x << 32 | code.x) |
                       in_ranges(batch + step.y + 1, step.z, range, (ulong)upper.y << 32 | code.y) << 1 |
                       in_ranges(batch + step.y + 1, step.z, range, (ulong)upper.z << 32 | code.z) << 2 |
                       in_ranges(batch + step.y + 1, step.z, range, (ulong)upper.w << 32 | code.w) << 3) << i;
            }
        }
        plain[byte] = (uchar)(in & low_mask(n));
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

#if !SCAN_SERIAL
__attribute__((reqd_work_group_size(TABLE_WG, 1, 1)))
#endif
__kernel void rows(VECTORS, __global const uint2 *restrict coarse, __global const uint4 *restrict fine,
                   __global const uint4 *restrict plain, uint plain_at, uint vectors, uint row_count, __global uint4 *batch,
                   uint selections_at, uint first, uint selections, __global uint *restrict out, uint out_at, uint stride, uint counts_at,
                   __local word_t *tile STORED COLUMNS) {
    __local uint total;
#if !SCAN_SERIAL
    __local shared_t shared;
#endif
    uint lid = get_local_id(0), q = first + get_group_id(0) % selections, t = get_group_id(0) / selections;
    uint first_group = t * TILE_GROUPS, depth = 0, loads = 0;
    __local word_t *stack = tile + TILE_GROUPS; // of the sets below the top
    volatile __global uint *head = (volatile __global uint *)batch;
    __global const uint *numbers = (__global const uint *)plain + (size_t)t * vectors;
    uint4 selection = batch[selections_at + q];
    word_t set[OWN];
    EACH_OWN(k) set[k] = 0;
    if (lid == 0)
        total = 0;
#if !SCAN_SERIAL
    uint turn = 0;
    if (lid < LISTS)
        shared.listed[lid] = 0;
    if (lid == 0)
        shared.rows[0] = 0;
    SYNC;
#endif
    LOADS(loads, 4);
    for (uint s = 0; s < selection.y; s++) {
        uint4 step = batch[selection.x + s];
        LOADS(loads, 4);
        uint left = step.x == STEP_CHECK || step.w ? TILE_ROWS(set) : 0;
        if (step.x == STEP_ANY || step.x == STEP_LOAD) {
            if (step.w && left == 0) {
                s += step.w - 1;
                continue;
            }
            if (depth > 0) {
                EACH_OWN(k) stack[(depth - 1) * TILE_GROUPS + OWN_GROUP(k)] = set[k];
            }
            depth++;
        }
        switch (step.x) {
        case STEP_ANY:
            EACH_OWN(k) set[k] = 0;
            or_any(VECTOR_ARGS, coarse + (size_t)t * vectors, fine, numbers, (vector_t)(plain + plain_at), batch + step.y,
                   step.z, SHARED set, &loads);
            break;
#if USE_COLUMNS
        case STEP_LOAD:
            EACH_OWN(k) {
                uint g = first_group + OWN_GROUP(k);
                set[k] = valid_rows(g, row_count) ? columns[(size_t)step.y * column_stride + g] : 0;
            }
            LOADS(loads, OWN * (WORD_BITS / 32));
            break;
#endif
        case STEP_BITS:
            EACH_OWN(k) set[k] &= bits_of(out + (size_t)step.y * 4, first_group + OWN_GROUP(k), row_count);
            LOADS(loads, OWN * (WORD_BITS / 32 + 1));
            break;
        case STEP_NOT:
            EACH_OWN(k) set[k] = ~set[k];
            break;
#if USE_STORED
        case STEP_CHECK: {
            bool dense = left >= TILE_GROUPS * GROUP_BITS / 8;
            if (dense)
                check_tile(v0, v1, v2, v3, batch, step, first_group * GROUP_BITS, row_count, (__local uchar *)tile, &loads);
            SYNC;
            EACH_OWN(k) {
                if (dense)
                    set[k] &= group_at((__local const uint *)tile, OWN_GROUP(k));
                else
                    set[k] = checked(v0, v1, v2, v3, batch, step, set[k], (first_group + OWN_GROUP(k)) * GROUP_BITS, row_count, &loads);
            }
            SYNC;
            break;
        }
#endif
        default:
            depth--;
            EACH_OWN(k) {
                word_t below = stack[(depth - 1) * TILE_GROUPS + OWN_GROUP(k)];
                set[k] = step.x == STEP_AND ? below & set[k] : step.x == STEP_OR ? below | set[k] : below & ~set[k];
            }
        }
        if (step.x == STEP_ANY || step.x == STEP_NOT) { // nothing behind the last row
            EACH_OWN(k) set[k] &= valid_rows(first_group + OWN_GROUP(k), row_count);
        }
    }
    uint n = 0;
    EACH_OWN(k) n += (uint)popcount(set[k]);
#if SCAN_SERIAL
    total = n;
#else
    SYNC; // total is 0
    if (n)
        atomic_add(&total, n);
#endif
    if (stride) {
        EACH_OWN(k) tile[OWN_GROUP(k)] = set[k];
        SYNC;
        for (uint j = lid; j < TILE_WORDS; j += TABLE_WG)
            if (t * TILE_WORDS + j < stride)
                out[(size_t)out_at * 4 + (size_t)q * stride + t * TILE_WORDS + j] = plain_word(tile, j);
        LOADS(loads, (TILE_WORDS + TABLE_WG - 1 - lid) / TABLE_WG);
    }
    SYNC;
    if (lid == 0 && total)
        atomic_add(head + 4 + q, total);
    if (lid == 0 && counts_at != NO_COUNTS)
        out[(size_t)counts_at * 4 + t] = total;
#if COUNT_LOADS
    uint old = atomic_add(head, loads);
    if (old + loads < old)
        atomic_inc(head + 1);
#endif
}
