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
// Phases    step by step. STEP_ANY is any.cl's (any_serial.cl's), STEP_CHECK is check.cl's: of many rows of a
//           tile it checks all rows. Other steps concern a work-item's own groups. Then counts and plain bits.
// Launch    a group of TABLE_WG work-items (SCAN_SERIAL: of one) for each tile and each
//           selection from `first` on: group g has selection first + g % selections.
// Local     TILE_GROUPS words, and as many for each set of the stack but the top, sized
//           by the host; a word, and the local memory of any.cl and check.cl.
// Bounds    steps, operands and directory are the host's, which has validated vectors;
//           packed values may be any words.
#ifndef HEDDLE_TILE
#include "tile.cl"
#endif
#ifndef HEDDLE_CHECK
#include "check.cl"
#endif
#ifndef HEDDLE_ANY_SERIAL
#include "any_serial.cl"
#endif
#ifndef HEDDLE_ANY
#include "any.cl"
#endif

// Parts of some programs only: stored values (check.cl), columns of earlier kernels.
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

#if !SCAN_SERIAL
__attribute__((reqd_work_group_size(TABLE_WG, 1, 1)))
#endif
__kernel void rows(VECTORS, __global const uint2 *restrict coarse, __global const uint4 *restrict fine,
                   __global const uint4 *restrict plain, uint plain_at, uint vectors, uint row_count, __global uint4 *batch,
                   uint selections_at, uint first, uint selections, __global uint *restrict out, uint out_at, uint stride, uint counts_at,
                   __local word_t *tile STORED COLUMNS) {
    __local uint total;
#if USE_STORED
    __local ulong flags[TABLE_WG * PACKED_ROWS / 8];
#endif
#if !SCAN_SERIAL
    __local shared_t shared;
#endif
    uint lid = get_local_id(0), q = first + get_group_id(0) % selections, t = get_group_id(0) / selections;
    uint first_group = t * TILE_GROUPS, depth = 0, loads = 0;
    __local word_t *stack = tile + TILE_GROUPS; // the sets below the top
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
                check_tile(v0, v1, v2, v3, batch, step, first_group * GROUP_BITS, row_count, (__local uchar *)tile, flags, &loads);
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
