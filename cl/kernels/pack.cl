// pack: matches of all tiles to one result, in few bits each, for devices whose memory
// the host reads over a bus.
//
// Computes  for each tile t of n = counts[t] matches, which counts of `out` hold: a block of
//           words from word docs_at + p of `out` on, p in out[places_at + t]; and in out[t]
//           n | b << 16. A block has the first match as its base, then the
//           differences of all n from it in b bits each, a multiple of 4: those of even matches as one
//           stream of bits, those of odd matches as another one, in words in turns. So two
//           words of 32 bits unpack together as one of 64. Where this does not make
//           n words less, b is 32 and the block is the matches as they are.
//           taken[taken_at] is the number of words of all blocks; the order of blocks is any.
// Source    binary packing in lanes (Lemire and Boytsov 2015), with a frame of reference.
// Phases    (1) the size of each tile's block, from its first and its last match; (2) a
//           place for the blocks of a group; (3) each word from the values that it has bits of.
// Launch    groups of WG work-items, PACK of them a tile (SCAN_SERIAL: one work-item a
//           tile).
// Local     4*WG/PACK + 4 bytes (SCAN_SERIAL: none).
// Host      taken[taken_at] is 0 before.
// Bounds    counts[t] <= tile is guaranteed by intersect and merge. Blocks take at most one
//           word for each match, whatever the matches are.
#ifndef HEDDLE_COMMON
#include "common.cl"
#endif
#if SCAN_SERIAL
#define PACK 1
#else
#define PACK 16 // most tiles keep few elements
#endif

// width_of is the number of bits of a block's values, a multiple of 4; 32 for matches as
// they are.
static inline uint width_of(__global const uint *matches, uint n) {
    uint b = (35 - clz(matches[n - 1] - matches[0] | 1)) & ~3u;
    return 1 + ((n + 1) / 2 * b + 31) / 32 * 2 < n ? b : 32;
}

// words_of is the number of words of a block.
static inline uint words_of(uint n, uint b) { return b < 32 ? 1 + ((n + 1) / 2 * b + 31) / 32 * 2 : n; }

// packed_word is word w of both streams of n values of b bits.
static inline uint packed_word(__global const uint *matches, uint n, uint b, uint w) {
    uint base = matches[0], from = w / 2 * 32, word = 0;
    for (uint i = from / b; i * b < from + 32 && 2 * i + w % 2 < n; i++) {
        uint v = matches[2 * i + w % 2] - base, at = i * b;
        word |= at >= from ? v << (at - from) : v >> (from - at);
    }
    return word;
}

// write_block writes a block, every PACK-th word from the one of `member` on.
static inline void write_block(__global uint *to, __global const uint *matches, uint n, uint b, uint member) {
    if (b == 32) {
        for (uint i = member; i < n; i += PACK)
            to[i] = matches[i];
        return;
    }
    uint words = words_of(n, b);
    if (member == 0)
        to[0] = matches[0];
    for (uint w = member; w + 1 < words; w += PACK)
        to[1 + w] = packed_word(matches, n, b, w);
}

#if SCAN_SERIAL

__kernel void pack(__global const uint *matches, volatile __global uint *taken, __global uint *out, uint taken_at,
                   uint places_at, uint docs_at, uint tiles, uint tile) {
    uint t = get_global_id(0), n = out[t];
    uint b = 32, to = 0;
    if (n) {
        matches += (size_t)t * tile;
        b = width_of(matches, n);
        to = atomic_add(taken + taken_at, words_of(n, b));
        write_block(out + docs_at + to, matches, n, b, 0);
    }
    out[t] = n | b << 16;
    out[places_at + t] = to;
}

#else // SCAN_LOCAL

__attribute__((reqd_work_group_size(WG, 1, 1)))
__kernel void pack(__global const uint *matches, volatile __global uint *taken, __global uint *out, uint taken_at,
                   uint places_at, uint docs_at, uint tiles, uint tile) {
    __local uint words[WG / PACK + 1]; // of the blocks, then the place of the first one
    uint lid = get_local_id(0), own = lid / PACK, member = lid % PACK, t = get_group_id(0) * (WG / PACK) + own;
    uint n = t < tiles ? out[t] : 0, b = 32;
    matches += (size_t)t * tile;
    if (n)
        b = width_of(matches, n);
    if (member == 0)
        words[own] = words_of(n, b);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid == 0) {
        uint sum = 0;
        for (uint i = 0; i < WG / PACK; i++)
            sum += words[i];
        words[WG / PACK] = sum ? atomic_add(taken + taken_at, sum) : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint to = words[WG / PACK];
    for (uint i = 0; i < own; i++)
        to += words[i];
    if (n)
        write_block(out + docs_at + to, matches, n, b, member);
    if (t < tiles && member == 0) {
        out[t] = n | b << 16;
        out[places_at + t] = to;
    }
}

#endif
