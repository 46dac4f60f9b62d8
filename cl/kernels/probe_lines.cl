// probe_lines: whether one docID is in a list under regression lines.
//
// Computes  probe_line for lists of lrc, lrcseg and seglrc, probe_buckets for
//           lists of hslrc.
// Source    Ao et al. 2011, section 5.3, Algorithm 1. Any element can be decoded
//           by itself, so the safe range is searched in the key list (the first
//           docID of every segment), and then the segment, where its own line
//           narrows the range once more: with residuals of b bits, element i can
//           be x only if x - 2^b < line(i) <= x. hslrc finds its bucket by one
//           load in place of the search in the key list.
// Bounds    any list bytes: headers are checked against the list, a payload that
//           would leave it is read as b = 0; loops are bounded by log2.
#ifndef HEDDLE_PROBE_LINES
#define HEDDLE_PROBE_LINES
#ifndef HEDDLE_COMMON
#include "common.cl"
#endif
#ifndef LINE_NEAR
#define LINE_NEAR 4 // elements, a multiple of 4; as many are compared at once
#endif

// A segment or bucket under a line: docID of element i of `count` = base +
// (uint)((slope*i + at) >> shift) + the b bits at i*b behind word `word`, modulo
// 2^32; base is `below` under x as a true integer.
typedef struct {
    ulong slope, at;
    long below;
    uint shift, base, b, word, count;
} stretch_t;

static inline ulong long_at(words_t p) { return (ulong)p[1] << 32 | p[0]; }

// stretch_doc decodes element i < g.count.
static inline uint stretch_doc(words_t p, stretch_t g, uint i) {
    ulong bit = (ulong)i * g.b;
    words_t q = p + g.word + (uint)(bit >> 5);
    uint v = (uint)(((ulong)q[1] << 32 | q[0]) >> (bit & 31)) & low_mask(g.b);
    return g.base + (uint)((g.slope * i + g.at) >> g.shift) + v;
}

// stretch_docs decodes elements i to i+3, i < g.count; values behind the last are
// undefined, and loads for them end in the pad behind the list.
static inline uint4 stretch_docs(words_t p, stretch_t g, uint i) {
    ulong bit = (ulong)i * g.b, at = g.slope * i + g.at;
    uint4 v = wide4(window(p, g.word + (uint)(bit >> 5), bit & 31, g.b, false), g.b);
    return v + g.base + (uint4)((uint)(at >> g.shift), (uint)((at + g.slope) >> g.shift),
                                (uint)((at + 2 * g.slope) >> g.shift), (uint)((at + 3 * g.slope) >> g.shift));
}

// floor_within is v rounded down to 0 .. most; NaN gives 0.
static inline uint floor_within(float v, uint most) { return v >= (float)most ? most : v > 0 ? (uint)v : 0; }

// narrow cuts [*lo, *hi) to the elements i with t - 2^b < slope*i + at >> shift <=
// t. The quotients are taken in floats, which are right to 2^-21 of themselves;
// that is less than the 1 + 2^-20 by which the range is widened, and the docIDs in
// it decide.
static inline void narrow(long t, ulong slope, ulong at, uint shift, uint b, uint *lo, uint *hi) {
    long top = (long)(((ulong)t << shift) - at);
    float inverse = 1 / (float)slope;
    uint most = *hi;
    uint from = floor_within((float)(top - (long)((((ulong)1 << b) - 1) << shift)) * inverse, most);
    long end = top + (long)(((ulong)1 << shift) - 1);
    uint to = floor_within((float)end * inverse, most);
    from -= min(from, 1 + (from >> 20));
    to = end < 0 ? 0 : to + min(most - to, 2 + (to >> 20));
    *lo = max(*lo, from);
    *hi = max(*lo, to);
}

// set_payload says where the payload of a stretch lies, `off` words behind word
// `payload` of the list.
static inline void set_payload(stretch_t *g, uint words, uint payload, uint off, uint b) {
    uint room = words - payload; // callers have payload <= words
    bool inside = b <= 32 && off <= room && ((ulong)g->count * b + 31) / 32 <= room - off;
    g->b = inside ? b : 0;
    g->word = payload + (inside ? off : 0);
}

// set_record sets line and payload from a record of seglrc or hslrc: m in bits 0
// to 15, e in 16 to 20, b in 21 to 26.
static inline void set_record(stretch_t *g, uint words, uint payload, uint base, uint line, uint off) {
    g->base = base;
    g->slope = (ulong)(line & 0xffff) << (line >> 16 & 31);
    g->at = 0;
    g->shift = 16;
    set_payload(g, words, payload, off, line >> 21 & 63);
}

// in_stretch says whether x is among elements [lo, hi) of g, hi <= g.count.
static inline bool in_stretch(words_t p, stretch_t g, uint lo, uint hi, uint x, uint *loads) {
    narrow(g.below, g.slope, g.at, g.shift, g.b, &lo, &hi);
    while (hi - lo > LINE_NEAR) {
        uint mid = lo + (hi - lo) / 2;
        bool less = stretch_doc(p, g, mid) < x;
        LOADS(*loads, 2);
        lo = less ? mid + 1 : lo;
        hi = less ? hi : mid + 1; // keeps the element in the middle, which may be x
    }
    int4 hits = 0;
    for (uint i = lo; i < hi; i += 4) { // once or twice
        LOADS(*loads, 4);
        hits |= (stretch_docs(p, g, i) == x) & ((uint4)(i, i + 1, i + 2, i + 3) < hi);
    }
    return any(hits);
}

// probe_buckets says whether x is in a list of hslrc whose header the host has
// checked: s.y buckets, of docIDs that are equal above the hash shift.
static inline bool probe_buckets(words_t p, uint4 r, uint4 s, uint x, uint *loads) {
    uint shift = r.w >> 24, h = x >> shift;
    if (h >= s.y)
        return false;
    __global const uint4 *records = (__global const uint4 *)p + 1 + h;
    uint4 rec = records[0];
    uint end = records[1].x;
    LOADS(*loads, 5);
    stretch_t g;
    g.count = end > rec.x ? end - rec.x : 0;
    if (g.count == 0)
        return false;
    set_record(&g, r.z, 8 + 4 * s.y, rec.y, rec.z, rec.w);
    g.below = (long)(x & ((1u << shift) - 1)) - (long)(int)(rec.y - (h << shift));
    return in_stretch(p, g, 0, g.count, x, loads);
}

// behind_key returns the segment behind the last one among [lo, hi) whose first docID is
// not above x, lo where none is.
static inline uint behind_key(words_t key, uint lo, uint hi, uint x, uint *loads) {
    while (lo < hi) {
        uint mid = lo + (hi - lo) / 2;
        LOADS(*loads, 1);
        if (key[mid] <= x)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

// probe_line says whether x is among elements [lo, hi) of a list of lrc, lrcseg or
// seglrc.
static inline bool probe_line(words_t p, uint4 r, uint lo, uint hi, uint x, uint *loads) {
    uint codec = r.w & 0xff, words = r.z, n = r.y;
    uint segments = LINE_SEGMENTS(n), keys = codec == CODEC_SEGLRC ? 0 : 8;
    uint payload = keys + segments * (codec == CODEC_LRC ? 1 : 4);
    if (lo >= hi || words < keys || (words - keys) / (codec == CODEC_LRC ? 1 : 4) < segments)
        return false; // an empty range, or no encoder wrote this
    ulong slope = 0, intercept = 0;
    if (codec != CODEC_SEGLRC) { // one line for the list
        slope = long_at(p);
        intercept = long_at(p + 2);
        narrow(x, slope, intercept, 30, min(p[4], 32u), &lo, &hi);
        LOADS(*loads, 5);
        if (lo >= hi)
            return false;
    }
    words_t key = p + keys;
    uint first = lo / LINE_SEGMENT, behind = behind_key(key, first, LINE_SEGMENTS(hi), x, loads);
    if (behind == first)
        return false;
    uint k = behind - 1, at = k * LINE_SEGMENT;
    stretch_t g;
    g.count = min(n - at, (uint)LINE_SEGMENT);
    words_t rec = key + segments + 3 * (size_t)k;
    LOADS(*loads, 3);
    if (codec == CODEC_SEGLRC) {
        uint base = rec[0], first = key[k];
        set_record(&g, words, payload, base, rec[1], rec[2]);
        g.below = (long)(x - first) + (long)(uint)(first - base);
    } else {
        uint b = codec == CODEC_LRC ? p[4] : rec[1];
        g.shift = 30;
        g.slope = slope;
        g.at = slope * at + intercept;
        g.base = codec == CODEC_LRC ? 0 : rec[0];
        g.below = (long)x - (long)g.base;
        set_payload(&g, words, payload, codec == CODEC_LRC ? 8 * b * k : rec[2], b);
    }
    return in_stretch(p, g, lo > at ? min(lo - at, g.count) : 0, min(hi - at, g.count), x, loads);
}

#endif
