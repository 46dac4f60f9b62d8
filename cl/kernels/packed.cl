// packed: neighbouring values of a packed list. A helper of check.cl, no kernel of its own.
//
// Computes  PACKED_ROWS values of a segment. NEAR_OF work-items share the segment: they have a value each, then
//           the next one each, and so on. No branch stands between the loads of a work-item, so that all of them
//           are under way together.
// Bounds    any words: loads are clamped to the list's, and to the pad behind it.
#ifndef HEDDLE_PACKED
#define HEDDLE_PACKED
#ifndef HEDDLE_COMMON
#include "common.cl"
#endif

#define PACKED_ROWS 8
#define NEAR_OF(group) ((group) < SEGMENT / PACKED_ROWS ? (group) : SEGMENT / PACKED_ROWS) // segments near a work-group of `group` work-items

// near_row is the first of the values of work-item i; the next ones are `near` values apart.
static inline uint near_row(uint i, uint near) { return i / near * (near * PACKED_ROWS) + i % near; }

// add_exceptions adds the exceptions of the values at some places.
static inline void add_exceptions(words_t p, uint words, uint n, const uint *row, uint *value) {
    uint turned[PACKED_ROWS];
    #pragma unroll
    for (uint u = 0; u < PACKED_ROWS; u++)
        turned[u] = row[u];
    for (uint i = 0; i < PACKED_ROWS; i++) { // the first one; then all move up, so that registers hold them
        uint r = turned[0], v = value[0] | exception_of(p, words, packed_segment(p, words, 0, n, r / SEGMENT), r % SEGMENT);
        #pragma unroll
        for (uint u = 0; u + 1 < PACKED_ROWS; u++) {
            turned[u] = turned[u + 1];
            value[u] = value[u + 1];
        }
        turned[PACKED_ROWS - 1] = r;
        value[PACKED_ROWS - 1] = v;
    }
}

// packed_rows gives the values at some places of one segment, of n packed ones, whose directory begins at their
// first word.
static inline void packed_rows(words_t p, uint words, uint n, const uint *row, uint *value) {
    uint2 entry = ((__global const uint2 *)p)[min(row[0] / SEGMENT, (words - 1) / 2)]; // directory entry of the segment
    uint b = min(entry.y & 63, 32u), payload = 2 * SEGMENTS(n) + entry.x;
    #pragma unroll
    for (uint u = 0; u < PACKED_ROWS; u++) {
        uint bit = row[u] % SEGMENT * b, at = min(payload + bit / 32, words - 1);
        value[u] = align_words(p[at + 1], p[at], bit % 32) & low_mask(b);
    }
    if (entry.y >> 16 & 255)
        add_exceptions(p, words, n, row, value);
}
#endif
