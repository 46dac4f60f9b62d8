// rows: selections over the vectors of a table, tile by tile of their rows.
//
// Computes  for each selection and tile of TILE_GROUPS groups the rows that its steps
//           leave (plan.SelectBatch): its count goes up by how many, from zeros of the
//           host's; where `stride` is not 0, the rows of the tile as plain bits:
//           out[4*out_at + number*stride ...], row r at bit r%32 of word r/32.
// Source    Nelson et al. 2020, where vectors are decompressed and the results reduced.
//           Here no decompressed vector is written: a group of work-items holds a tile
//           in registers, and finds the word of each group of rows of each vector by a
//           directory (directory.cl) that the host made once, in place of the scans of
//           Algorithm 2. Tiles of a vector with a number in `plain`, from 1 on, are
//           there as groups: `plain` is numbers by tile and vector, then, plain_at
//           units of four words from its beginning, tiles. Where counts_at is not NO_COUNTS, out[4*counts_at + t]
//           is the number of rows of the only selection in tile t.
// Batch     see step.cl. An operand of STEP_ANY is {words of the vector in units of four words of 32 bits, its
//           number, its part of `fine` in such units, arena buffer}.
// Phases    step by step. STEP_ANY is any.cl's (any_serial.cl's). Other steps concern a work-item's own groups.
//           Then counts and plain bits.
// Launch    a group of TABLE_WG work-items (SCAN_SERIAL: of one) for each tile and each
//           selection from `first` on: group g has selection first + g % selections.
// Local     TILE_GROUPS words, and as many for each set of the stack but the top, sized
//           by the host; a word, and the local memory of any.cl.
// Bounds    steps, operands and directory are the host's, which has validated vectors.
#ifndef HEDDLE_TILE
#include "tile.cl"
#endif
#ifndef HEDDLE_STEP
#include "step.cl"
#endif
#ifndef HEDDLE_ANY_SERIAL
#include "any_serial.cl"
#endif
#ifndef HEDDLE_ANY
#include "any.cl"
#endif

// Parts of some programs only: bits of checks (slices.cl), columns of earlier kernels.
#ifndef USE_CHECKS
#define USE_CHECKS 0
#endif
#if USE_CHECKS
#define CHECKS , __global const uint *restrict checks
#else
#define CHECKS
#endif
#if USE_COLUMNS
#define COLUMNS , __global const word_t *restrict columns, uint column_stride
#else
#define COLUMNS
#endif

#if !SCAN_SERIAL
__attribute__((reqd_work_group_size(TABLE_WG, 1, 1)))
#endif
__kernel void rows(BUFFERS, __global const uint2 *restrict coarse, __global const uint4 *restrict fine,
                   __global const uint4 *restrict plain, uint plain_at, uint vectors, uint row_count, __global uint4 *batch,
                   uint selections_at, uint first, uint selections, __global uint *restrict out, uint out_at, uint stride, uint counts_at,
                   __local word_t *tile CHECKS COLUMNS) {
    __local uint total;
#if !SCAN_SERIAL
    __local shared_t shared;
#endif
    uint lid = get_local_id(0), t = GROUP_ID(0) / selections;
    uint first_group = t * TILE_GROUPS, depth = 0, loads = 0;
    __local word_t *stack = tile + TILE_GROUPS; // the sets below the top
    volatile __global uint *head = (volatile __global uint *)batch;
    __global const uint *numbers = (__global const uint *)plain + (size_t)t * vectors;
    uint4 selection = batch[selections_at + first + GROUP_ID(0) % selections];
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
        uint left = step.w ? TILE_ROWS(set) : 0;
        if (step.x == STEP_ANY || step.x == STEP_ALL || step.x == STEP_LOAD) {
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
            or_any(BUFFER_ARGS, coarse + (size_t)t * vectors, fine, numbers, (vector_t)(plain + plain_at), batch + step.y,
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
        case STEP_ALL:
            EACH_OWN(k) set[k] = GROUP_ONES;
            break;
        case STEP_BITS: {
            __global const uint *bits = out;
#if USE_CHECKS
            if (step.z)
                bits = checks;
#endif
            EACH_OWN(k) set[k] &= bits_of(bits + (size_t)step.y * 4, first_group + OWN_GROUP(k), row_count);
            LOADS(loads, OWN * (WORD_BITS / 32 + 1));
            break;
        }
        case STEP_NOT:
            EACH_OWN(k) set[k] = ~set[k];
            break;
        default:
            depth--;
            EACH_OWN(k) {
                word_t below = stack[(depth - 1) * TILE_GROUPS + OWN_GROUP(k)];
                set[k] = step.x == STEP_AND ? below & set[k] : step.x == STEP_OR ? below | set[k] : below & ~set[k];
            }
        }
        if (step.x == STEP_ANY || step.x == STEP_ALL || step.x == STEP_NOT) { // nothing behind the last row
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
                out[(size_t)out_at * 4 + (size_t)selection.w * stride + t * TILE_WORDS + j] = plain_word(tile, j);
        LOADS(loads, (TILE_WORDS + TABLE_WG - 1 - lid) / TABLE_WG);
    }
    SYNC;
    if (lid == 0 && total)
        atomic_add(head + 4 + selection.z, total);
    if (lid == 0 && counts_at != NO_COUNTS)
        out[(size_t)counts_at * 4 + t] = total;
#if COUNT_LOADS
    uint old = atomic_add(head, loads);
    if (old + loads < old)
        atomic_inc(head + 1);
#endif
}
