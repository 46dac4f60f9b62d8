// Segments of the gap codecs: where their parts lie.
//
// A list of n docIDs is ceil(n/SEGMENT) segments of gaps v_i = docID_i -
// docID_(i-1) - 1. The last docID of every segment stands first, in the words 0 to
// SEGMENTS(n)-1; the rest depends on the codec (codec/parapfor.go to rpfd.go). The
// functions here read headers of segment s of the list of record r, s <
// SEGMENTS(r.y), r.y > 0.
//
// Bounds    any list bytes: loads are clamped to the list, and results are safe
//           for later loads and stores: offsets are at most the length of
//           the list, widths at most 32, counts at most the segment's.
#ifndef HEDDLE_GAPS
#define HEDDLE_GAPS
#ifndef HEDDLE_COMMON
#include "common.cl"
#endif
#ifndef DECODE_GAPS
#define DECODE_GAPS 0 // 1: decoders write gaps in place of docIDs, for measurements
#endif

static inline bool is_gaps(uint codec) { return codec == CODEC_PARAPFOR || (codec >= CODEC_VBYTE && codec <= CODEC_RPFD); }

static inline uint segment_count(uint4 r, uint s) { return min(r.y - s * SEGMENT, (uint)SEGMENT); }

// load reads word `at` of a list, the last one where the list is shorter.
static inline uint load(words_t p, uint words, ulong at) { return p[(uint)min(at, (ulong)words - 1)]; }

// segment_base returns the docID before segment s.
static inline uint segment_base(words_t p, uint4 r, uint s) { return s ? load(p, r.z, s - 1) : 0xffffffffu; }

// clamp_at keeps an offset in the list.
static inline uint clamp_at(uint words, ulong at) { return (uint)min(at, (ulong)words); }

// packed_words is the length of count values of b bits.
static inline ulong packed_words(uint count, uint b) { return ((ulong)count * b + 31) / 32; }

// vbyte_at returns the word where the bytes of segment s begin.
static inline uint vbyte_at(words_t p, uint4 r, uint s) {
    uint segments = SEGMENTS(r.y);
    return clamp_at(r.z, 2 * (ulong)segments + load(p, r.z, (ulong)segments + s));
}

// Both vectors of rice.
typedef struct {
    uint b, low;  // width of the low bits, first word of the segment's low bits
    uint at, bit; // word and bit of it where the quotients begin, in unary
} rice_t;

static inline rice_t rice_of(words_t p, uint4 r, uint s) {
    ulong segments = SEGMENTS(r.y), vectors = 2 * segments + 1;
    rice_t x;
    x.b = load(p, r.z, 2 * segments) & 31;
    x.low = clamp_at(r.z, vectors + 4 * (ulong)x.b * s);
    ulong bit = 128 * (ulong)s + load(p, r.z, segments + s);
    x.at = clamp_at(r.z, vectors + packed_words(r.y, x.b) + (bit >> 5));
    x.bit = bit & 31;
    return x;
}

// A segment of pfd or newpfd.
typedef struct {
    uint b, at;     // width and first word of the values in place
    uint en, first; // exceptions; pfd: index of the first one
    uint pw;        // newpfd: words of positions
    uint behind;    // word behind the values in place
} pfd_t;

static inline pfd_t pfd_of(words_t p, uint4 r, uint s) {
    ulong segments = SEGMENTS(r.y);
    uint count = segment_count(r, s), h = load(p, r.z, segments + 2 * (ulong)s + 1);
    pfd_t x;
    x.b = min(h & 63, 32u);
    x.at = clamp_at(r.z, 3 * segments + load(p, r.z, segments + 2 * (ulong)s));
    x.behind = clamp_at(r.z, x.at + packed_words(count, x.b));
    bool linked = (r.w & 0xff) == CODEC_PFD;
    x.first = h >> 8 & 255;
    x.en = min((linked ? h >> 16 : h >> 8) & 255, count);
    x.pw = min(h >> 16 & 255, (uint)SEGMENT);
    return x;
}

// above puts the overflow of an exception above the b bits in place.
static inline uint above(uint overflow, uint b) { return b < 32 ? overflow << b : 0; }

// Simple16: the values of a word lie in up to three groups, by its upper four
// bits: how many and how wide, five bits each, first group lowest.
#define S16_GROUPS(n1, w1, n2, w2, n3, w3) ((n1) | (w1) << 5 | (n2) << 10 | (w2) << 15 | (n3) << 20 | (w3) << 25)
__constant uint s16_groups[16] = {
    S16_GROUPS(28, 1, 0, 0, 0, 0), S16_GROUPS(7, 2, 14, 1, 0, 0), S16_GROUPS(7, 1, 7, 2, 7, 1), S16_GROUPS(14, 1, 7, 2, 0, 0),
    S16_GROUPS(14, 2, 0, 0, 0, 0), S16_GROUPS(1, 4, 8, 3, 0, 0),  S16_GROUPS(1, 3, 4, 4, 3, 3), S16_GROUPS(7, 4, 0, 0, 0, 0),
    S16_GROUPS(4, 5, 2, 4, 0, 0),  S16_GROUPS(2, 4, 4, 5, 0, 0),  S16_GROUPS(3, 6, 2, 5, 0, 0), S16_GROUPS(2, 5, 3, 6, 0, 0),
    S16_GROUPS(4, 7, 0, 0, 0, 0),  S16_GROUPS(1, 10, 2, 9, 0, 0), S16_GROUPS(2, 14, 0, 0, 0, 0), S16_GROUPS(1, 28, 0, 0, 0, 0)};

static inline uint s16_count(uint w) {
    uint g = s16_groups[w >> 28];
    return (g & 31) + (g >> 10 & 31) + (g >> 20 & 31);
}

// s16_width returns how wide value i of word w is.
static inline uint s16_width(uint w, uint i) {
    uint g = s16_groups[w >> 28], n1 = g & 31, n2 = g >> 10 & 31;
    return i < n1 ? g >> 5 & 31 : i < n1 + n2 ? g >> 15 & 31 : g >> 25;
}

// An array of rpfd: m values of b bits, exceptions by offsets and overflows, which
// are arrays of one level less, plain words at level 0.
typedef struct {
    uint b, exceptions;
    uint starts, slots, offsets, overflows; // first words
} rpfd_t;

#define RPFD_LEVELS 4 // most levels below the values

// rpfd_of reads the header of the array of m values at word a.
static inline rpfd_t rpfd_of(words_t p, uint words, uint a, uint m) {
    rpfd_t x;
    x.b = min(load(p, words, a) & 63, 32u);
    x.exceptions = min(load(p, words, (ulong)a + 1), m);
    x.starts = clamp_at(words, (ulong)a + 3);
    x.slots = clamp_at(words, x.exceptions ? (ulong)a + 3 + SEGMENTS(m) : (ulong)a + 2);
    x.offsets = clamp_at(words, x.slots + packed_words(m, x.b));
    x.overflows = clamp_at(words, (ulong)a + load(p, words, (ulong)a + 2));
    return x;
}

// rpfd_level returns the levels below the values of the list of record r.
static inline uint rpfd_level(words_t p, uint4 r) {
    return min(load(p, r.z, SEGMENTS(r.y)) >> 8 & 7, (uint)RPFD_LEVELS);
}

// rpfd_exceptions returns the first exception of block k of an array and how many
// there are, at most SEGMENT.
static inline uint2 rpfd_exceptions(words_t p, uint words, rpfd_t x, uint k, uint m) {
    if (x.exceptions == 0)
        return 0;
    uint from = min(load(p, words, (ulong)x.starts + k), x.exceptions);
    uint to = (k + 1) * SEGMENT < m ? min(load(p, words, (ulong)x.starts + k + 1), x.exceptions) : x.exceptions;
    return (uint2)(from, to > from ? min(to - from, (uint)SEGMENT) : 0);
}

#endif
