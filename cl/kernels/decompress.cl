// wah_clear, wah_sizes, wah_ends, wah_expand, wah_recall: vectors of a table to columns
// of groups.
//
// Computes  columns[(to + c)*stride + g] = group g of vector c of a pass, in the lowest
//           GROUP_BITS bits of a word; groups from `groups` up to stride are 0.
// Source    Nelson et al. 2020, Algorithms 1 and 2. All vectors of a pass are taken as
//           one: each stands for `groups` groups, so that the scans need not know where
//           one begins.
//           wah_recall is the last loop over word indices that were found once, when
//           the table was loaded (directory.cl).
// Batch     one uint4 a vector, from records[first] on:
//             x  where its words lie, in units of 16 bytes
//             y  their number, z the number of words of earlier vectors of the pass
//                (wah_recall: the number of the vector, and where its part of `fine`
//                begins, in units of four words)
//             w  the arena buffer
// Phases    (1) wah_sizes: the groups that a word stands for (lines 2 to 8); (2)
//           exclusive scan (scan.cl): starting points; (3) wah_clear: end points are
//           none (line 10); (4) wah_ends: the last group of each word but the last
//           (lines 11 to 13); (5) exclusive scan: word indices; (6) wah_expand (lines
//           15 to 26). Sizes and end points may share an array, starting points and
//           word indices too.
// Launch    groups of CHUNK_WG work-items (SCAN_SERIAL: of one) for CHUNK words or
//           groups each; in wah_recall of RECALL_WG for a tile each. In wah_sizes,
//           wah_expand and wah_recall a row of groups a vector. A work-item loads all
//           that it needs before it stores.
// Local     none.
// Host      stride is a multiple of 16 bytes; the groups of a pass, and its words, fit
//           into 32 bits.
// Bounds    any words: places that a vector does not have become its last one. The
//           directory belongs to the vectors.
#ifndef HEDDLE_DIRECTORY
#include "directory.cl"
#endif
#ifndef HEDDLE_CHUNK
#include "chunk.cl"
#endif

// wah_clear empties n times 16 bytes of p, behind `first` times as many.
CHUNK_GROUP
__kernel void wah_clear(__global uint4 *p, uint first, uint n) {
    p += (size_t)first * n;
    EACH_OF_CHUNK(i, n)
        p[i] = 0;
}

CHUNK_GROUP
__kernel void wah_sizes(ARENA, __global const uint4 *records, __global uint *restrict sizes, uint first, uint groups) {
    uint4 r = records[first + GROUP_ID(1)];
    vector_t v = (vector_t)arena_at(ARENA_ARGS, r.w, r.x);
    word_t w[CHUNK_OWN];
    EACH_OWN(k) w[k] = OWN_NUMBER(k) < r.y ? v[OWN_NUMBER(k)] : 0;
    EACH_OWN(k) if (OWN_NUMBER(k) < r.y)
        sizes[r.z + OWN_NUMBER(k)] = IS_FILL(w[k]) ? (uint)min(w[k] & (GROUP_ONES >> 1), (word_t)groups) : 1;
}

// wah_ends marks the ends of n words in `groups` end points.
CHUNK_GROUP
__kernel void wah_ends(__global const uint *restrict starts, __global uint *restrict ends, uint n, uint groups) {
    uint end[CHUNK_OWN];
    EACH_OWN(k) end[k] = OWN_NUMBER(k) < n ? starts[OWN_NUMBER(k)] - 1 : groups;
    EACH_OWN(k) if (OWN_NUMBER(k) > 0 && end[k] < groups)
        ends[end[k]] = 1;
}

CHUNK_GROUP
__kernel void wah_expand(ARENA, __global const uint4 *records, __global const uint *restrict index,
                         __global word_t *restrict columns, uint first, uint groups, uint stride, uint to) {
    uint c = GROUP_ID(1);
    uint4 r = records[first + c];
    vector_t v = (vector_t)arena_at(ARENA_ARGS, r.w, r.x);
    __global word_t *column = columns + (size_t)(to + c) * stride;
    uint at[CHUNK_OWN];
    word_t w[CHUNK_OWN];
    index += (size_t)c * groups;
    EACH_OWN(k) at[k] = OWN_NUMBER(k) < groups ? index[OWN_NUMBER(k)] - r.z : 0;
    EACH_OWN(k) w[k] = OWN_NUMBER(k) < groups ? v[min(at[k], r.y - 1)] : 0;
    EACH_OWN(k) if (OWN_NUMBER(k) < stride)
        column[OWN_NUMBER(k)] = group_of(w[k]) & GROUP_ONES;
}

#if SCAN_SERIAL
#define RECALL_WG 1
#define RECALL_GROUP
#else
#define RECALL_WG 128
#define RECALL_GROUP __attribute__((reqd_work_group_size(RECALL_WG, 1, 1)))
#endif
// The groups of a work-item in a tile.
#define EACH_GROUP(k) UNROLL for (uint k = 0; k < TILE_GROUPS / RECALL_WG; k++)
#define OWN_GROUP(k) ((k) * RECALL_WG + (uint)get_local_id(0))

RECALL_GROUP
__kernel void wah_recall(ARENA, __global const uint2 *restrict coarse, __global const uint *restrict fine,
                         __global const uint4 *restrict records, __global word_t *restrict columns, uint vectors,
                         uint first, uint groups, uint stride, uint to) {
    uint c = GROUP_ID(1), from = GROUP_ID(0) * TILE_GROUPS;
    uint4 r = records[first + c];
    uint2 e = coarse[(size_t)GROUP_ID(0) * vectors + r.y];
    vector_t v = (vector_t)arena_at(ARENA_ARGS, r.w, r.x);
    __global const uint *p = fine + ((size_t)r.z + INDEX_OF(e)) * 4;
    word_t w[TILE_GROUPS / RECALL_WG];
    switch (CLASS_OF(e)) {
    case CLASS_DENSE:
        EACH_GROUP(k) w[k] = v[e.x + OWN_GROUP(k)];
        break;
    case CLASS_MIXED:
        EACH_GROUP(k) w[k] = v[mixed_word(e, p, OWN_GROUP(k))];
        break;
    case CLASS_SPARSE:
        EACH_GROUP(k) w[k] = v[sparse_word(e, p, OWN_GROUP(k))];
        break;
    default:
        EACH_GROUP(k) w[k] = CLASS_OF(e) == CLASS_ONE ? GROUP_ONES : 0;
    }
    columns += (size_t)(to + c) * stride;
    EACH_GROUP(k) if (from + OWN_GROUP(k) < stride)
        columns[from + OWN_GROUP(k)] = from + OWN_GROUP(k) < groups ? group_of(w[k]) & GROUP_ONES : 0;
}
