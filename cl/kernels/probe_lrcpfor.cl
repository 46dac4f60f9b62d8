// probe_lrcpfor: whether one docID is in a list of lrcpfor.
//
// Computes  probe_lrcpfor.
// Source    Ao et al. 2011, section 5.3, Algorithm 1, as in probe_lines.cl, which has more
//           about it. The algorithm forbids exceptions. In a segment that has any, the
//           index of an element is looked up among theirs, by binary search, to decode it.
// Bounds    see lrcpfor.cl; loops are bounded by log2.
#ifndef HEDDLE_PROBE_LRCPFOR
#define HEDDLE_PROBE_LRCPFOR
#ifndef HEDDLE_PROBE_LINES
#include "probe_lines.cl"
#endif
#ifndef HEDDLE_LRCPFOR
#include "lrcpfor.cl"
#endif

// probe_lrcpfor says whether x is among elements [lo, hi) of a list.
static inline bool probe_lrcpfor(words_t p, uint4 r, uint lo, uint hi, uint x, uint *loads) {
    if (lo >= hi || !good_lrcpfor(r))
        return false; // an empty range, or no encoder wrote this
    ulong slope = long_at(p), intercept = long_at(p + 2);
    narrow(x, slope, intercept, 30, min(p[4], 32u), &lo, &hi);
    LOADS(*loads, 5);
    if (lo >= hi)
        return false;
    uint first = lo / LINE_SEGMENT, behind = behind_key(p + 8, first, LINE_SEGMENTS(hi), x, loads);
    if (behind == first)
        return false;
    uint at = (behind - 1) * LINE_SEGMENT;
    segment_t s = lrcpfor_segment(p, r, behind - 1);
    LOADS(*loads, 2);
    stretch_t g;
    g.shift = 30;
    g.slope = slope;
    g.at = slope * at + intercept;
    g.base = 0;
    g.below = x;
    g.count = s.count;
    g.b = s.b;
    g.word = s.at;
    lo = lo > at ? min(lo - at, s.count) : 0;
    hi = min(hi - at, s.count);
    if (s.en == 0)
        return in_stretch(p, g, lo, hi, x, loads);
    narrow(g.below, slope, g.at, 30, min(s.b + s.hb, 32u), &lo, &hi);
    bool found = false;
    while (lo < hi) { // looks at x if it is there
        uint mid = lo + (hi - lo) / 2, d = stretch_doc(p, g, mid) + exception_of(p, r.z, s, mid);
        LOADS(*loads, 4);
        found = found || d == x;
        lo = d < x ? mid + 1 : lo;
        hi = d < x ? hi : mid;
    }
    return found;
}

#endif
