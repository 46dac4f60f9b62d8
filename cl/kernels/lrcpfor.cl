// Lists of lrcpfor: where a segment lies, and its exceptions.
//
// A list of n docIDs is one line of eight words, the first docID of each of
// LINE_SEGMENTS(n) segments, {offset, header} of each, and their payloads. Header and
// payload are those of packed values (common.cl), with LINE_SEGMENT values a segment.
// DocID i = (uint)((slope*i + intercept) >> 30) + value i, modulo 2^32 (Ao et al. 2011,
// section 5.2 and appendix D; codec/lrcpfor.go).
//
// Bounds    any list bytes: good_lrcpfor checks the tables. A payload that would leave the
//           list is read as width 0, and loads of exceptions are clamped to the list.
#ifndef HEDDLE_LRCPFOR
#define HEDDLE_LRCPFOR
#ifndef HEDDLE_COMMON
#include "common.cl"
#endif

#define CODEC_LRCPFOR 14

// good_lrcpfor says whether the tables of the list of record r end inside the list.
static inline bool good_lrcpfor(uint4 r) { return r.z >= 8 && (r.z - 8) / 3 >= LINE_SEGMENTS(r.y); }

// lrcpfor_segment reads the header of segment s < LINE_SEGMENTS(r.y) of a list of good_lrcpfor.
static inline segment_t lrcpfor_segment(words_t p, uint4 r, uint s) {
    uint segments = LINE_SEGMENTS(r.y), h = p[9 + segments + 2 * s];
    segment_t g;
    g.b = min(h & 63, 32u);
    g.hb = min(h >> 6 & 63, 32u);
    g.ib = min(h >> 12 & 15, 8u);
    g.count = min(r.y - s * LINE_SEGMENT, (uint)LINE_SEGMENT);
    g.en = min(h >> 16 & 255, g.count);
    g.at = 8 + 3 * segments + p[8 + segments + 2 * s];
    return inside_of(g, r.z);
}

#endif
