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
//             y  their number, z that of the vectors of the pass before it
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
//           groups each; in wah_sizes, wah_expand and wah_recall a row of
//           groups a vector.
// Local     none.
// Host      stride is a multiple of 16 bytes; the groups of a pass, and its words, fit
//           into 32 bits.
// Bounds    any words: places that a vector does not have become its last one. The
//           directory is that of the vectors.
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
__kernel void wah_sizes(ARENA, __global const uint4 *records, uint first, uint groups, __global uint *sizes) {
    uint4 r = records[first + get_group_id(1)];
    vector_t v = (vector_t)arena_at(ARENA_ARGS, r.w, r.x);
    EACH_OF_CHUNK(i, r.y)
        sizes[r.z + i] = IS_FILL(v[i]) ? (uint)min(v[i] & (GROUP_ONES >> 1), (word_t)groups) : 1;
}

// wah_ends marks the ends of n words in `groups` end points.
CHUNK_GROUP
__kernel void wah_ends(__global const uint *starts, uint n, __global uint *ends, uint groups) {
    EACH_OF_CHUNK(i, n) {
        uint end = starts[i] - 1;
        if (i > 0 && end < groups)
            ends[end] = 1;
    }
}

CHUNK_GROUP
__kernel void wah_expand(ARENA, __global const uint4 *records, uint first, uint groups, __global const uint *index,
                         __global word_t *columns, uint stride, uint to) {
    uint c = get_group_id(1);
    uint4 r = records[first + c];
    vector_t v = (vector_t)arena_at(ARENA_ARGS, r.w, r.x);
    __global word_t *column = columns + (size_t)(to + c) * stride;
    index += (size_t)c * groups;
    EACH_OF_CHUNK(g, stride)
        column[g] = g < groups ? group_of(v[min(index[g] - r.z, r.y - 1)]) & GROUP_ONES : 0;
}

CHUNK_GROUP
__kernel void wah_recall(ARENA, __global const uint2 *coarse, __global const uint *fine, uint vectors, __global const uint4 *records,
                         uint first, uint groups, __global word_t *columns, uint stride, uint to) {
    uint c = get_group_id(1);
    uint4 r = records[first + c];
    vector_t v = (vector_t)arena_at(ARENA_ARGS, r.w, r.x);
    __global word_t *column = columns + (size_t)(to + c) * stride;
    fine += (size_t)r.z * 4;
    EACH_OF_CHUNK(g, stride)
        column[g] = g < groups ? tile_group(v, coarse[(size_t)(g / TILE_GROUPS) * vectors + r.y], fine, g % TILE_GROUPS) & GROUP_ONES : 0;
}
