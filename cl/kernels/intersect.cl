// intersect: looks the elements of the shortest lists up in the longer ones.
//
// Computes  for every tile t: matches[t*TILE ...] = the elements of the tile
//           that are in all lists of its query, ascending; counts[t] = how many;
//           sums[sums_at + t/BLOCK] += how many, on zeros of the host's.
//           With count_only nothing is written to matches.
// Source    PARA, Wu et al. 2010, section IV, and Ao et al. 2011, section 4.1:
//           an element is one work-item's. How it is looked up: probe.cl.
// Phases    SCAN_LOCAL: (1) list by list, shortest first, the elements that are
//           found move together in local memory, in any order, so that the next
//           list is probed by full warps; (2) each match sets the bit of its
//           place in the tile, and (3) the bits before it say where to store it.
//           SCAN_SERIAL: one work-item takes element after element through all
//           lists.
//           Elements in a bitset (ELEMENTS_BITS), whose query has bitsets only: the words of all
//           lists are joined, in place of (1), and only matches become docIDs.
//           USE_PART: a group walks all tiles of a query, one after the other, and
//           leaves the matches of the query together in the place of its first
//           tile; counts has an entry a query (PART, Wu et al. 2010,
//           section IV, kept for comparison).
// Batch     one upload: term records, and tiles from uint4 tiles_at on; with
//           USE_PART also {first tile, tiles, 0, 0} a query, from uint4 sums_at on.
// Launch    one group of WG work-items a tile, or a query (SCAN_SERIAL: of one).
// Local     4*TILE + TILE/32 + 3 words (SCAN_SERIAL: none).
// Bounds    any list bytes: see probe.cl; stores are bounded by the tile.
#ifndef HEDDLE_PROBE
#include "probe.cl"
#endif
#ifndef USE_PART
#define USE_PART 0
#endif

// elements returns where the elements of a tile lie.
static inline words_t elements(ARENA, words_t decoded, uint4 tile) {
    uint buffer = tile.w >> 16;
    return buffer == ELEMENTS_DECODED ? decoded + (size_t)tile.z * 4 : arena_at(ARENA_ARGS, buffer, tile.z);
}

// joined returns the elements of word w of a tile in a bitset that all lists of the query have.
static inline uint joined(ARENA, words_t aux, __global const uint4 *batch, uint4 tile, uint w, uint own, uint *loads) {
    for (uint j = tile.x + 1; j < tile.x + tile.y && own; j++)
        own &= bits_word(ARENA_ARGS, batch[2 * j], batch[2 * j + 1], aux, w, loads);
    return own;
}

#if SCAN_SERIAL

// walk_bits is walk for a tile in a bitset.
static inline uint walk_bits(ARENA, words_t aux, __global const uint4 *batch, uint4 tile,
                             __global uint *to, uint count_only, uint *loads) {
    uint4 r = batch[2 * tile.x];
    words_t p = list_words(ARENA_ARGS, r);
    uint blocks = r.z / 17, block = block_of(p, blocks, tile.z), end = tile.z + (tile.w & 0xffff);
    uint at = blocks ? p[16 * (size_t)blocks + block] : end, found = 0; // at: number of the next element
    for (uint w = 16 * block; w < 16 * blocks && at < end; w++) {
        uint own = p[w], all = at + popcount(own);
        LOADS(*loads, 1);
        uint v = all > tile.z ? joined(ARENA_ARGS, aux, batch, tile, w, own, loads) : 0;
        for (; v; v &= v - 1) {
            uint low = v & -v, i = at + popcount(own & (low - 1));
            if (i < tile.z || i >= end)
                continue;
            if (!count_only)
                to[found] = 32 * w + 31 - clz(low);
            found++;
        }
        at = all;
    }
    LOADS(*loads, found);
    return found;
}

// walk looks the elements of a tile up, writes the matches to `to` and returns
// their number.
static inline uint walk(ARENA, words_t aux, __global const uint4 *batch, words_t decoded, uint4 tile,
                        __global uint *to, uint count_only, uint *loads) {
    if (tile.w >> 16 == ELEMENTS_BITS)
        return walk_bits(ARENA_ARGS, aux, batch, tile, to, count_only, loads);
    words_t from = elements(ARENA_ARGS, decoded, tile);
    uint found = 0;
    for (uint i = 0; i < (tile.w & 0xffff); i++) {
        uint x = from[i], j = tile.x;
        LOADS(*loads, 1);
        while (j < tile.x + tile.y && probe(ARENA_ARGS, batch[2 * j], batch[2 * j + 1], aux, x, loads))
            j++;
        if (j < tile.x + tile.y)
            continue;
        if (!count_only)
            to[found] = x;
        found++;
    }
    LOADS(*loads, found);
    return found;
}
#define WALK(tile, to) walk(ARENA_ARGS, aux, batch, decoded, tile, to, count_only, &loads)
#define ITEM 0
#define GROUP get_global_id(0)

#else // SCAN_LOCAL

// match_bits puts the elements of a tile in a bitset that all lists have to `alive`, in any order.
static inline void match_bits(ARENA, words_t aux, __global const uint4 *batch, uint4 tile, uint *loads,
                              __local uint2 *alive, __local uint *many) {
    uint4 r = batch[2 * tile.x];
    words_t p = list_words(ARENA_ARGS, r);
    uint blocks = r.z / 17, n = tile.w & 0xffff;
    for (uint w = 16 * block_of(p, blocks, tile.z) + get_local_id(0); w < 16 * blocks; w += WG) {
        uint at = p[16 * (size_t)blocks + w / 16] - tile.z; // place in the tile of the word's first element
        if ((int)at >= (int)n)
            break;
        uint own = p[w];
        LOADS(*loads, 2);
        for (uint k = w / 16 * 16; k < w; k++)
            at += popcount(p[k]);
        for (uint v = joined(ARENA_ARGS, aux, batch, tile, w, own, loads); v; v &= v - 1) {
            uint low = v & -v, i = at + popcount(own & (low - 1));
            if (i >= n)
                continue; // it belongs to the tile before or behind
            uint k = atomic_inc(many);
            if (k < TILE) // or no encoder wrote this
                alive[k] = (uint2)(32 * w + 31 - clz(low), i);
        }
    }
}

// walk looks the elements of a tile up, writes the matches to `to` and returns
// their number, to all work-items of the group.
static inline uint walk(ARENA, words_t aux, __global const uint4 *batch, words_t decoded, uint4 tile,
                        __global uint *to, uint count_only, uint *loads,
                        __local uint2 (*alive)[TILE], __local uint *many, __local uint *bits) {
    uint lid = get_local_id(0);
    words_t from = elements(ARENA_ARGS, decoded, tile);
    bool bits_only = tile.w >> 16 == ELEMENTS_BITS;
    uint size = tile.w & 0xffff, n = bits_only ? 0 : size, terms = bits_only ? 0 : tile.y, j = 0;
    if (lid < 3)
        many[lid] = 0;
    for (uint i = lid; i < TILE / 32; i += WG)
        bits[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (bits_only)
        match_bits(ARENA_ARGS, aux, batch, tile, loads, alive[0], many);
    // The first list is probed by elements as they come from memory.
    for (uint i = lid; i < n; i += WG) {
        uint x = from[i];
        LOADS(*loads, 1);
        if (terms == 0 || probe(ARENA_ARGS, batch[2 * tile.x], batch[2 * tile.x + 1], aux, x, loads))
            alive[0][atomic_inc(&many[0])] = (uint2)(x, i);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    n = min(many[0], size);
    for (j = 1; j < terms && n; j++) {
        uint4 r = batch[2 * (tile.x + j)], s = batch[2 * (tile.x + j) + 1];
        for (uint i = lid; i < n; i += WG) {
            uint2 e = alive[(j + 1) & 1][i];
            if (probe(ARENA_ARGS, r, s, aux, e.x, loads))
                alive[j & 1][atomic_inc(&many[j % 3])] = e;
        }
        if (lid == 0)
            many[(j + 1) % 3] = 0; // read last before the barrier of the list before
        barrier(CLK_LOCAL_MEM_FENCE);
        n = many[j % 3];
    }
    // The barrier stands outside of the branches: with one inside and work after
    // it, PoCL 3.1 loses a match of every tile.
    __local uint2 *found = alive[(j + 1) & 1];
    uint write = count_only ? 0 : n;
    for (uint i = lid; i < write; i += WG)
        atomic_or(&bits[found[i].y / 32], 1u << (found[i].y & 31));
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lid; i < write; i += WG) {
        uint2 e = found[i];
        uint at = popcount(bits[e.y / 32] & ((1u << (e.y & 31)) - 1));
        for (uint w = 0; w < e.y / 32; w++)
            at += popcount(bits[w]);
        to[at] = e.x;
        LOADS(*loads, 1);
    }
    return n;
}
#define WALK(tile, to) walk(ARENA_ARGS, aux, batch, decoded, tile, to, count_only, &loads, alive, many, bits)
#define ITEM get_local_id(0)
#define GROUP GROUP_ID(0)

#endif

#if !SCAN_SERIAL
__attribute__((reqd_work_group_size(WG, 1, 1)))
#endif
__kernel void intersect(ARENA, __global const uint *aux, __global const uint4 *batch, __global const uint *decoded,
                        __global uint *matches, __global uint *counts, volatile __global uint *sums, uint tiles_at,
                        uint sums_at, uint count_only COUNT_ARG) {
#if !SCAN_SERIAL
    __local uint2 alive[2][TILE]; // element and its place in the tile; read one, write the other
    __local uint many[3];         // elements alive: of this list, the next, the one after
    __local uint bits[TILE / 32];
#endif
    uint loads = 0, group = GROUP, n = 0;
#if USE_PART
    uint4 part = batch[sums_at + group];
    for (uint t = part.x; t < part.x + part.y; t++) {
        n += WALK(batch[tiles_at + t], matches + (size_t)part.x * TILE + n);
#if !SCAN_SERIAL
        barrier(CLK_LOCAL_MEM_FENCE); // before local memory is used again
#endif
    }
    if (ITEM == 0)
        counts[group] = n;
#else
    n = WALK(batch[tiles_at + group], matches + (size_t)group * TILE);
    if (ITEM == 0) {
        counts[group] = n;
        if (n)
            atomic_add(sums + sums_at + group / BLOCK, n);
    }
#endif
#if COUNT_LOADS
    add_loads(loads_total, loads);
#endif
}
