// any, serial: the OR of vectors in a tile, by one work-item: vector by vector, in loops
// that compile to vector instructions. A helper of rows.cl for SCAN_SERIAL; any.cl is
// the shape with work-groups, of the same contract. Once the tile has all rows, no more
// mixed vectors are read.
#ifndef HEDDLE_ANY_SERIAL
#define HEDDLE_ANY_SERIAL
#ifndef HEDDLE_TILE
#include "tile.cl"
#endif
#if SCAN_SERIAL

// or_mixed ORs a vector of which the words up to this tile lie before p. Most masks are
// of 32 words, or of none.
static inline void or_mixed(vector_t p, __global const uint *mask, word_t *set) {
    __global const ushort *start = (__global const ushort *)(mask + TILE_MASKS);
    for (uint m = 0; m < TILE_MASKS; m++) {
        uint bits = mask[m];
        int at = start[m];
        word_t *to = set + 32 * m;
        if (bits == 0xffffffff) {
            for (uint g = 0; g < 32; g++)
                to[g] |= group_of(p[at + (int)g]);
        } else if (bits == 0) {
            word_t w = group_of(p[at - 1]);
            for (uint g = 0; g < 32; g++)
                to[g] |= w;
        } else {
            for (uint g = 0; g < 32; g++)
                to[g] |= group_of(p[at + (int)popcount(bits & (0xffffffffu >> (31 - g))) - 1]);
        }
    }
}

// has_all tells whether groups of the tile have all rows.
static inline bool has_all(const word_t *set) {
    word_t all = GROUP_ONES;
    for (uint g = 0; g < TILE_GROUPS; g++)
        all &= set[g];
    return all == GROUP_ONES;
}

// or_any ORs the vectors of n operands into `set`, groups of the tile.
static inline void or_any(BUFFERS, __global const uint2 *entries, __global const uint4 *fine, __global const uint *numbers, vector_t plain,
                          __global const uint4 *operand, uint n, word_t *set, uint *loads) {
    for (uint i = 0; i < n; i++) {
        uint4 r = operand[i];
        uint2 e = entries[r.y];
        vector_t p = vector_of(r) + e.x;
        __global const uint *mask = (__global const uint *)(fine + r.z + INDEX_OF(e));
        __global const ushort *start = (__global const ushort *)mask;
        uint number = numbers[r.y];
        LOADS(*loads, 3);
        if (number) {
            p = plain + (size_t)(number - 1) * TILE_GROUPS;
            for (uint g = 0; g < TILE_GROUPS; g++)
                set[g] |= p[g];
            LOADS(*loads, TILE_GROUPS * (WORD_BITS / 32));
            continue;
        }
        switch (CLASS_OF(e)) {
        case CLASS_ONE:
            for (uint g = 0; g < TILE_GROUPS; g++)
                set[g] = GROUP_ONES;
            return;
        case CLASS_DENSE:
            for (uint g = 0; g < TILE_GROUPS; g++)
                set[g] |= group_of(p[g]);
            LOADS(*loads, TILE_GROUPS * (WORD_BITS / 32));
            break;
        case CLASS_SPARSE:
            for (uint j = 0; j < WORDS_OF(e); j++) {
                uint g = start[j], end = j + 1 < WORDS_OF(e) ? start[j + 1] : TILE_GROUPS;
                word_t w = group_of(p[j]);
                for (end = w ? end : 0; g < end; g++)
                    set[g] |= w;
            }
            LOADS(*loads, WORDS_OF(e) * (WORD_BITS / 32) + (WORDS_OF(e) + 1) / 2);
            break;
        case CLASS_MIXED: // takes so long that the look at all groups is little
            if (has_all(set))
                return;
            or_mixed(p, mask, set);
            LOADS(*loads, TILE_MASKS * 3 / 2);
            LOADS(*loads, TILE_GROUPS * (WORD_BITS / 32));
            break;
        }
    }
}

// tile_rows returns the number of rows of a set in the tile.
static inline uint tile_rows(const word_t *set) {
    uint n = 0;
    for (uint g = 0; g < TILE_GROUPS; g++)
        n += (uint)popcount(set[g]);
    return n;
}
#define TILE_ROWS(set) tile_rows(set)
#define SHARED

#endif
#endif
