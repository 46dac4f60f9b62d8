// Lists under regression lines: where element i lies, and its line.
//
// Computes  docID i = base + (uint)(at >> shift) + the b bits at `bit` behind
//           word `word`, modulo 2^32, where at = slope*i + intercept modulo 2^64
//           (Ao et al. 2011, section 5.2 and 5.3; codec/lrc.go to hslrc.go).
//           lrc has one line and one b for the list, lrcseg one line, and base
//           and b a segment, seglrc all a segment, hslrc all a bucket of docIDs.
// Bounds    any list bytes: a header or record that no encoder writes gives b =
//           0 or base = 0; a payload that would leave the list is read as b = 0,
//           so that loads of four values need no clamp: they stay inside the
//           list or in the pad of four words behind it.
#ifndef HEDDLE_LINES
#define HEDDLE_LINES
#ifndef HEDDLE_COMMON
#include "common.cl"
#endif

typedef struct {
    ulong slope, at; // at: of the element asked for
    uint shift, base;
    uint b, word, bit; // bits of a residual, and where the element's lie
} line_t;

static inline ulong word64(words_t p) { return (ulong)p[1] << 32 | p[0]; }

// line_payload says where value e of `count` values of b bits lies that begin
// `off` words behind word `payload`.
static inline void line_payload(line_t *l, uint words, uint payload, uint off, uint count, uint b, uint e) {
    uint room = words - payload;
    bool inside = e < count && b <= 32 && off <= room && ((ulong)count * b + 31) / 32 <= room - off;
    ulong bit = (ulong)e * b;
    l->b = inside ? b : 0;
    l->word = payload + (inside ? off + (uint)(bit >> 5) : 0);
    l->bit = bit & 31;
}

// record_line sets the line of element e of a segment or bucket of `count`
// docIDs: m in bits 0 to 15, e in 16 to 20, b in 21 to 26.
static inline void record_line(line_t *l, uint words, uint payload, uint base, uint line, uint off, uint count, uint e) {
    l->shift = 16;
    l->base = base;
    l->slope = (ulong)(line & 0xffff) << (line >> 16 & 31);
    l->at = l->slope * e;
    line_payload(l, words, payload, off, count, line >> 21 & 63, e);
}

// bucket_start returns the index of the first docID of bucket k, at most the
// number of buckets, where the index of the last docID + 1 stands.
static inline uint bucket_start(words_t p, uint k) { return p[4 + 4 * (size_t)k]; }

// line_of finds element i of the list of record r, i < r.y. `bucket` is the
// bucket that holds it, for hslrc alone.
static inline line_t line_of(words_t p, uint4 r, uint i, uint bucket) {
    uint codec = r.w & 0xff, n = r.y, words = r.z;
    uint segments = LINE_SEGMENTS(n), s = i / LINE_SEGMENT;
    uint count = min(n - s * LINE_SEGMENT, (uint)LINE_SEGMENT);
    line_t l = {0, 0, 0, 0, 0, 0, 0};
    if (codec == CODEC_LRC) {
        if (words >= 8 && words - 8 >= segments) {
            l.shift = 30;
            l.slope = word64(p);
            l.at = l.slope * i + word64(p + 2);
            line_payload(&l, words, 8 + segments, 0, n, p[4], i);
        }
    } else if (codec == CODEC_LRCSEG) {
        if (words >= 8 && (words - 8) / 4 >= segments) {
            words_t rec = p + 8 + segments + 3 * s;
            l.shift = 30;
            l.slope = word64(p);
            l.at = l.slope * i + word64(p + 2);
            l.base = rec[0];
            line_payload(&l, words, 8 + 4 * segments, rec[2], count, rec[1], i % LINE_SEGMENT);
        }
    } else if (codec == CODEC_SEGLRC) {
        if (words / 4 >= segments) {
            words_t rec = p + segments + 3 * s;
            record_line(&l, words, 4 * segments, rec[0], rec[1], rec[2], count, i % LINE_SEGMENT);
        }
    } else { // hslrc: the caller has checked the buckets
        uint4 x = ((__global const uint4 *)p)[1 + (size_t)bucket];
        uint end = bucket_start(p, bucket + 1);
        record_line(&l, words, 8 + 4 * p[1], x.y, x.z, x.w, end > x.x ? end - x.x : 0, i - x.x);
    }
    return l;
}

// along gives four points of a line.
static inline uint4 along(line_t l) {
    return l.base + (uint4)((uint)(l.at >> l.shift), (uint)((l.at + l.slope) >> l.shift),
                            (uint)((l.at + 2 * l.slope) >> l.shift), (uint)((l.at + 3 * l.slope) >> l.shift));
}

// line_buckets returns the number of buckets of a list of hslrc, 0 where its
// records would leave the list.
static inline uint line_buckets(words_t p, uint4 r) {
    uint nb = r.z >= 8 ? p[1] : 0;
    return nb <= (r.z - 8) / 4 ? nb : 0;
}

// bucket_of returns the bucket in [lo, hi) that holds element i, the last one
// whose start is not above i; lo where all are.
static inline uint bucket_of(words_t p, uint lo, uint hi, uint i) {
    while (hi - lo > 1) {
        uint mid = lo + (hi - lo) / 2;
        if (bucket_start(p, mid) <= i) lo = mid; else hi = mid;
    }
    return lo;
}

#endif
