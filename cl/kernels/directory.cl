// directory: where the words of vectors lie, tile by tile of their groups, as the host
// has found once (cl/internal/bitmap/directory.go). No kernel of its own.
//
// Computes  the word that has a group of a vector, by random access.
// Layout    coarse[tile*vectors + v] = {before, class | n << 3 | index << 10}: so many
//           words of v start before the tile. At index units of four words behind the
//           part of v in `fine` lie the data of some classes:
//             CLASS_ZERO, CLASS_ONE  no row, all rows
//             CLASS_DENSE   each group starts a word: group g is word before + g
//             CLASS_MIXED   TILE_MASKS masks of the groups at which a word starts, then
//                           as many ushorts, the words that start in the tile before
//                           these 32 groups
//             CLASS_SPARSE  n words, from word `before` on: as many ushorts, the groups
//                           at which they start, the first one 0
//           `fine` begins with the masks and starts of a dense tile, at ALL_START.
//           A last tile that is not whole is neither dense nor beyond its groups ones.
// Bounds    words and directory are the host's, which has validated them together.
#ifndef HEDDLE_DIRECTORY
#define HEDDLE_DIRECTORY
#ifndef HEDDLE_WAH
#include "wah.cl"
#endif

#ifndef TABLE_TILE
#define TABLE_TILE 512 // groups of a tile, a multiple of 128
#endif
#define TILE_GROUPS TABLE_TILE
#define TILE_MASKS (TILE_GROUPS / 32)

#define CLASS_ZERO 0
#define CLASS_ONE 1
#define CLASS_DENSE 2
#define CLASS_MIXED 3
#define CLASS_SPARSE 4

#define ALL_START 0

// The parts of an entry of `coarse`.
#define CLASS_OF(entry) ((entry).y & 7)
#define WORDS_OF(entry) ((entry).y >> 3 & 127)
#define INDEX_OF(entry) ((entry).y >> 10)

typedef __global const word_t *vector_t;

// mixed_word returns the number of the word that has group g of a mixed tile, whose
// masks begin at p.
static inline uint mixed_word(uint2 entry, __global const uint *p, uint g) {
    uint before = ((__global const ushort *)(p + TILE_MASKS))[g / 32];
    return entry.x + before + popcount(p[g / 32] & (0xffffffffu >> (31 - g % 32))) - 1;
}

// sparse_word does the same for a sparse tile, whose starts begin at p.
static inline uint sparse_word(uint2 entry, __global const uint *p, uint g) {
    uint lo = 0, hi = WORDS_OF(entry);
    while (lo + 1 < hi) { // the last word that starts at or before g
        uint mid = (lo + hi) / 2;
        if (((__global const ushort *)p)[mid] <= g) lo = mid; else hi = mid;
    }
    return entry.x + lo;
}

#endif
