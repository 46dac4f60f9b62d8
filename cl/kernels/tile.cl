// tile: how a tile of rows is divided among work-items, where vectors lie, and groups of
// plain bits, for the kernels over tables that work tile by tile. No kernel of its own.
#ifndef HEDDLE_TILE
#define HEDDLE_TILE
#ifndef HEDDLE_DIRECTORY
#include "directory.cl"
#endif

#ifndef USE_COLUMNS
#define USE_COLUMNS 0
#endif
#if SCAN_SERIAL
#undef TABLE_WG
#define TABLE_WG 1
#define SYNC
#else
#ifndef TABLE_WG
#define TABLE_WG 128 // a power of two, TABLE_TILE/8 to TABLE_TILE/2
#endif
#define SYNC barrier(CLK_LOCAL_MEM_FENCE)
#endif

// A set of rows of a tile is OWN groups of each work-item.
#define OWN (TILE_GROUPS / TABLE_WG)
#if SCAN_SERIAL
#define EACH_OWN(k) for (uint k = 0; k < OWN; k++)
#define OWN_GROUP(k) (k)
#else
#define EACH_OWN(k) _Pragma("unroll") for (uint k = 0; k < OWN; k++)
// The groups of 32 work-items are consecutive, so that they share masks.
#define OWN_GROUP(k) (get_local_id(0) / 32 * (32 * OWN) + (k) * 32 + get_local_id(0) % 32)
#endif

#define vector_of(r) ((vector_t)buffer_at((r).w, (r).x))

// Plain bits have row r at bit r%32 of word r/32.
#define TILE_WORDS (TILE_MASKS * GROUP_BITS) // words of plain bits in a tile

// bits_of returns group g of plain bits of a table of so many rows.
static inline word_t bits_of(__global const uint *bits, uint g, uint rows) {
    ulong first = (ulong)g * GROUP_BITS;
    uint w = (uint)(first / 32), s = (uint)(first % 32), last = (rows - 1) / 32;
    ulong pair = (ulong)bits[min(w + 1, last)] << 32 | bits[min(w, last)];
    word_t found = (word_t)(pair >> s);
#if USE_WIDE
    found |= (ulong)bits[min(w + 2, last)] << 1 << (63 - s);
#endif
    return found & valid_rows(g, rows);
}

// plain_word returns word j of the plain bits of a tile of groups.
static inline uint plain_word(__local const word_t *tile, uint j) {
    uint g = j * 32 / GROUP_BITS, s = j * 32 % GROUP_BITS;
    word_t w = tile[g] >> s;
    if (s + 32 > GROUP_BITS)
        w |= tile[g + 1] << (GROUP_BITS - s);
    return (uint)w;
}

#endif
