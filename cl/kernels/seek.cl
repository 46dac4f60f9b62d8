// seek: random access to a document in a compressed list. Helpers of rank_and.cl and
// complete.cl, no kernel of its own.
//
// Computes  seek and find: whether a list has document x, and its index: seek in the segments
//           lo to hi-1 of a list of ParaPFor, find in the postings lo to hi-1 of a list of
//           ParaPFor, a raw list or a bitset.
// Source    Ding et al. 2009, section 8.1.
// Bounds    any words: loads are clamped to the list. The index may be any number for a list
//           that no encoder wrote.
#ifndef HEDDLE_SEEK
#define HEDDLE_SEEK
#ifndef HEDDLE_POSTING
#include "posting.cl"
#endif

// seek finds x in a list of ParaPFor: the segment that can hold it by the last docIDs
// of segments, then gap by gap. *at is the index of x.
static inline bool seek(words_t p, uint4 r, uint lo, uint hi, uint x, uint *at) {
    uint segments = SEGMENTS(r.y), loads = 0;
    if (r.z / 3 < segments)
        return false; // no encoder wrote this
    hi = min(hi, segments);
    uint s = lower_bound(p, min(lo, hi), hi, x, &loads);
    if (s == hi)
        return false;
    segment_t g = packed_segment(p, r.z, segments, r.y, s);
    segment_t in = inside_of(g, r.z);
    uint doc = s ? p[s - 1] : 0xffffffff, e = 0, next = g.en ? exception_index(p, r.z, g, 0) : SEGMENT;
    for (uint j = 0; j < g.count; j++) {
        uint v = value_in(p, in, j);
        if (j == next) {
            v |= exception_overflow(p, r.z, g, e);
            next = ++e < g.en ? exception_index(p, r.z, g, e) : SEGMENT;
        }
        doc += v + 1;
        if (doc >= x) {
            *at = s * SEGMENT + j;
            return doc == x;
        }
    }
    return false;
}

// seek_bits finds x in a bitset: blocks of 16 words, then the rank of each block.
static inline bool seek_bits(words_t p, uint4 r, uint x, uint *at) {
    uint blocks = r.z / 17, block = x >> 9, w = x >> 5;
    if (block >= blocks || !(p[w] >> (x & 31) & 1))
        return false;
    uint n = p[blocks * 16 + block] + popcount(p[w] & ((1u << (x & 31)) - 1));
    for (uint i = block * 16; i < w; i++)
        n += popcount(p[i]);
    *at = n;
    return true;
}

static inline bool find(words_t p, uint4 r, uint lo, uint hi, uint x, uint *at) {
    uint codec = r.w & 0xff, loads = 0;
    hi = min(hi, r.y);
    if (lo >= hi)
        return false;
    if (codec == CODEC_BITSET)
        return seek_bits(p, r, x, at);
    if (codec == CODEC_PARAPFOR)
        return seek(p, r, lo / SEGMENT, (hi - 1) / SEGMENT + 1, x, at);
    hi = min(hi, r.z);
    *at = lower_bound(p, min(lo, hi), hi, x, &loads);
    return *at < hi && p[*at] == x;
}

#endif
