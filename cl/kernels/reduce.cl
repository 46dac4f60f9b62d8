// reduce_pairs, reduce_tiles: the OR of columns of groups.
//
// Computes  column `first` = the OR of columns first, first + step, ... of m columns of
//           `packs` times 16 bytes each, whose words mean nothing here. The others are
//           undefined then where the reduction has more than one round.
// Source    Nelson et al. 2020: reduce_pairs is a level of column-oriented access
//           (Algorithm 3), in place: column c is ORed with column c + s, for each of
//           the pairs; an odd one out stays for the next level. reduce_tiles is the
//           others: a work-group is a tile of j rows and `span` columns, and leaves
//           their OR in the first of these. With
//             j = 1, all columns   row-oriented access (Algorithm 4)
//             2k columns           hybrid (Algorithm 5); again over the first columns
//                                  of the tiles, `step` being the span of one
//             all columns          ideal hybrid (Algorithm 6)
//           A row is TABLE_ROW bytes of each column here, not a word. A tile may span more
//           than two columns a work-item: it ORs them while it loads them.
// Phases    reduce_tiles: (1) each work-item loads its columns, k apart; (2) a tree
//           over the k of them in local memory, low half by high half.
// Launch    reduce_pairs: groups of CHUNK_WG work-items for CHUNK rows of a pair, a
//           row of groups a pair. reduce_tiles: groups of j times k work-items, at most
//           CHUNK_WG, k a power of two; a row of groups a tile of columns, rows of data
//           from first_row on (SCAN_SERIAL: groups of one, which walks the j rows).
// Local     reduce_tiles TABLE_ROW*CHUNK_WG bytes (SCAN_SERIAL: none).
// Host      first + m*step columns are there; span > 0; a column is whole rows.
#ifndef HEDDLE_CHUNK
#include "chunk.cl"
#endif
#ifndef TABLE_ROW
#define TABLE_ROW 16 // bytes of a row of a tile: 8, 16, 32 or 64
#endif
#if TABLE_ROW == 8
typedef uint2 row_t;
#elif TABLE_ROW == 16
typedef uint4 row_t;
#elif TABLE_ROW == 32
typedef uint8 row_t;
#else
typedef uint16 row_t;
#endif

CHUNK_GROUP
__kernel void reduce_pairs(__global uint4 *columns, uint packs, uint first, uint s) {
    __global uint4 *low = columns + (size_t)(first + GROUP_ID(1)) * packs;
    __global const uint4 *high = low + (size_t)s * packs;
    EACH_OF_CHUNK(i, packs)
        low[i] |= high[i];
}

__kernel void reduce_tiles(__global row_t *columns, uint rows, uint first, uint step, uint m, uint span, uint j,
                           uint first_row) {
    uint from = GROUP_ID(1) * span, end = from + min(m - from, span);
    uint row = first_row + GROUP_ID(0) * j;
    columns += (size_t)first * rows;
#if SCAN_SERIAL
    for (uint last = row + min(rows - row, j); row < last; row++) {
        row_t v = 0;
        for (uint c = from; c < end; c++)
            v |= columns[(size_t)c * step * rows + row];
        columns[(size_t)from * step * rows + row] = v;
    }
#else
    __local row_t box[CHUNK_WG];
    uint k = get_local_size(1), lane = get_local_id(0), pair = get_local_id(1);
    row_t v = 0;
    row += lane;
    if (row < rows)
        for (uint c = from + pair; c < end; c += k)
            v |= columns[(size_t)c * step * rows + row];
    box[pair * j + lane] = v;
    for (uint s = k / 2; s > 0; s /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (pair < s)
            box[pair * j + lane] |= box[(pair + s) * j + lane];
    }
    if (pair == 0 && row < rows)
        columns[(size_t)from * step * rows + row] = box[lane];
#endif
}
