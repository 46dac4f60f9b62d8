// Common to the kernels over posting lists: where a list lies, how packed
// values are read. Kernel files include it when they are compiled alone; the
// host puts its text in front of theirs, after the defines of the tuning row.
//
// Records are uint4. The host writes them (cl/internal/lists/record.go, cl/internal/match/round.go). A list is
//   x  its offset in its arena buffer, in units of four words
//   y  number of docIDs
//   z  length in words; no load goes beyond it and the pad of four words behind
//   w  codec (bits 0-7), arena buffer (8-15), probe kind (16-23), hash shift (24-31)
// A term record is a list and {offset of the auxiliary table in words, entries of
// it, 0, 0}. A tile is TILE consecutive elements of the shortest list of a query:
//   x  first term record, of the second shortest list
//   y  number of term records
//   z  where the elements lie: offset in units of four words
//   w  number of elements (bits 0-15), buffer (16-23): an arena, or ELEMENTS_DECODED
// With ELEMENTS_BITS for the buffer the elements lie in a bitset, the first term record, from
// element z on.
// A run is a list and {first element, elements, where to, 0}: up to RUN elements
// of one list that is to be decoded, to an offset in units of four words.
#ifndef HEDDLE_COMMON
#define HEDDLE_COMMON

#ifndef WG
#define WG 128 // work-group size of intersect and gather, a multiple of 32
#endif
#ifndef TILE
#define TILE 512 // elements of a tile, a multiple of SEGMENT
#endif
#ifndef SCAN_SERIAL
#define SCAN_SERIAL 0 // 1: one work-item walks a tile, no barriers (CPU devices)
#endif
#ifndef NV_SHUFFLE
#define NV_SHUFFLE 0 // 1: scan over warp shuffles in inline PTX (NVIDIA only)
#endif
#ifndef COUNT_LOADS
#define COUNT_LOADS 0 // 1: tile kernels add up the words that they ask for
#endif

// GROUP_ID is the number of a work-group in dimension d. The host cuts a long launch into several, which begin at an
// offset below 2^32 (cl/internal/device/pace.go): get_group_id counts from 0 in each.
#define GROUP_ID(d) ((uint)get_group_id(d) + (uint)get_global_offset(d) / (uint)get_local_size(d))

#ifndef RUN
#define RUN 1024 // elements of a run
#endif

#define ROWS 4 // 16-byte stores of a work-item, DECODE_WG apart
#define DECODE_WG (RUN / 4 / ROWS)
#define FOUR(row) row(0) row(1) row(2) row(3)
#define BLOCK 64 // tiles whose matches are added up together
#define ELEMENTS_DECODED 4
#define ELEMENTS_BITS 5
#define FILTER_ARENA 3 // the arena buffer of filters
#define SEGMENT 128
#define SEGMENTS(n) ((n) / SEGMENT + ((n) % SEGMENT != 0)) // segments of n values; n may be 2^32-1

#define LINE_SEGMENT 256 // docIDs under one line
#define LINE_SEGMENTS(n) ((n) / LINE_SEGMENT + ((n) % LINE_SEGMENT != 0))

#define CODEC_RAW 1
#define CODEC_PARAPFOR 2
#define CODEC_BITSET 3
#define CODEC_VBYTE 4
#define CODEC_RICE 5
#define CODEC_PFD 6
#define CODEC_NEWPFD 7
#define CODEC_RPFD 8
#define CODEC_LRC 9
#define CODEC_LRCSEG 10
#define CODEC_SEGLRC 11
#define CODEC_HSLRC128 12
#define CODEC_HSLRC256 13

#define PROBE_BS 0   // no table
#define PROBE_HS 1   // table: bucket starts
#define PROBE_LR 2   // table: slope, intercept, left, right as 64-bit integers
#define PROBE_BITS 3 // table: a bitset of s1.y words
#define PROBE_OWN 4  // hslrc, which has buckets itself: s1.y of them
#define PROBE_LRSEG 5 // table: slope, intercept, then left, right a segment of positions
#define PROBE_IS 6   // no table
#define PROBE_PMF 7  // no table; s1.z levels of splitters

#define LRSEG_SEGMENT 256 // positions that share a safe range
#define LRSEG_SEGMENTS(n) (((n) - 1) / LRSEG_SEGMENT + 1) // n > 0

typedef __global const uint *words_t;

#define ARENA                                                                          \
    __global const uint *restrict a0, __global const uint *restrict a1,                \
    __global const uint *restrict a2, __global const uint *restrict a3
#define ARENA_ARGS a0, a1, a2, a3

#if COUNT_LOADS
#define LOADS(counter, n) (counter) += (n)
#define COUNT_ARG , volatile __global uint *loads_total // words loaded, then segments decoded: low word, carries
static inline void add_loads(volatile __global uint *total, uint n) {
    uint old = atomic_add(total, n);
    if (old + n < old)
        atomic_inc(total + 1);
}
#else
#define LOADS(counter, n)
#define COUNT_ARG
#endif

static inline words_t arena_at(ARENA, uint buffer, uint off) {
    words_t base = buffer == 0 ? a0 : buffer == 1 ? a1 : buffer == 2 ? a2 : a3;
    return base + (size_t)off * 4;
}

// Most tables have one arena buffer.
#ifndef USE_ARENAS
#define USE_ARENAS 0
#endif
#if USE_ARENAS
#define BUFFERS ARENA
#define BUFFER_ARGS ARENA_ARGS
#define buffer_at(buffer, off) arena_at(ARENA_ARGS, buffer, off)
#else
#define BUFFERS __global const uint *restrict a0
#define BUFFER_ARGS a0
#define buffer_at(buffer, off) (a0 + (size_t)(off) * 4)
#endif

// list_words returns the first word of the list of record r.
static inline words_t list_words(ARENA, uint4 r) { return arena_at(ARENA_ARGS, (r.w >> 8) & 0xff, r.x); }

// lower_bound returns the first place in p[lo, hi) whose number is not below x, or
// hi.
static inline uint lower_bound(words_t p, uint lo, uint hi, uint x, uint *loads) {
    while (lo < hi) {
        uint mid = lo + (hi - lo) / 2;
        LOADS(*loads, 1);
        if (p[mid] < x)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

// block_of returns the block that has element e of a bitset of `blocks` blocks of 512
// bits, behind which lie the elements before each.
static inline uint block_of(words_t p, uint blocks, uint e) {
    words_t rank = p + 16 * (size_t)blocks;
    uint lo = 0, hi = blocks; // first block whose rank is above e
    while (lo < hi) {
        uint mid = lo + (hi - lo) / 2;
        if (rank[mid] > e) hi = mid; else lo = mid + 1;
    }
    return max(lo, 1u) - 1;
}

static inline uint low_mask(uint b) { return b ? 0xffffffffu >> (32 - b) : 0; }

// A segment of packed values: its header, checked against the widths that a
// header can mean, and where its payload begins.
typedef struct {
    uint b, hb, ib, en; // width in place, of overflows, of indexes; exceptions
    uint at;            // first payload word
    uint count;         // values
} segment_t;

// packed_segment reads directory entry s of n packed values whose directory
// begins at word dir of a list of `words` words.
static inline segment_t packed_segment(words_t p, uint words, uint dir, uint n, uint s) {
    uint segments = SEGMENTS(n);
    uint last = words - 1;
    uint off = p[min(dir + 2 * s, last)];
    uint h = p[min(dir + 2 * s + 1, last)];
    segment_t g;
    g.b = min(h & 63, 32u);
    g.hb = min((h >> 6) & 63, 32u);
    g.ib = min((h >> 12) & 15, 7u);
    g.count = min(n - s * SEGMENT, (uint)SEGMENT);
    g.en = min((h >> 16) & 255, g.count);
    g.at = dir + 2 * segments + off;
    return g;
}

// bits_at reads b bits (0 to 32) at bit `bit` behind word `at`.
static inline uint bits_at(words_t p, uint words, uint at, uint bit, uint b) {
    uint k = at + (bit >> 5), s = bit & 31;
    uint v = p[min(k, words - 1)] >> s;
    if (s + b > 32)
        v |= p[min(k + 1, words - 1)] << (32 - s);
    return v & low_mask(b);
}

// inside_of gives a segment whose payload would leave its list the width 0, so that value_in
// stays inside the list or in the pad of four words behind it.
static inline segment_t inside_of(segment_t g, uint words) {
    if (g.at > words || (g.count * g.b + 31) / 32 > words - g.at)
        g.at = g.b = 0;
    return g;
}

// value_in returns value j of a segment of inside_of without its exception.
static inline uint value_in(words_t p, segment_t g, uint j) {
    uint bit = j * g.b;
    return (uint)(as_ulong(vload2(0, p + g.at + (bit >> 5))) >> (bit & 31)) & low_mask(g.b);
}

// The words that hold four values of b bits, from bit `shift` of w0 on.
typedef struct {
    uint w0, w1, w2, w3, w4, shift;
} window_t;

// window reads the words of four values at bit `bit` behind word `at`: one or two
// where b is at most 8, else up to five. Nothing is clamped.
static inline window_t window(words_t p, uint at, uint bit, uint b, bool narrow) {
    window_t w;
    p += at + (bit >> 5);
    w.shift = bit & 31;
    uint end = w.shift + 4 * b;
    w.w1 = w.w2 = w.w3 = w.w4 = 0;
    w.w0 = p[0];
    if (end > 32) w.w1 = p[1];
    if (!narrow) {
        if (end > 64) w.w2 = p[2];
        if (end > 96) w.w3 = p[3];
        if (end > 128) w.w4 = p[4];
    }
    return w;
}

static inline uint align_words(uint hi, uint lo, uint s) { return (uint)(((ulong)hi << 32 | lo) >> s); }

static inline uint4 narrow4(window_t w, uint b) {
    uint v = align_words(w.w1, w.w0, w.shift);
    return (uint4)(v, v >> b, v >> (2 * b), v >> (3 * b & 31)) & low_mask(b);
}

static inline uint4 wide4(window_t w, uint b) {
    uint v0 = align_words(w.w1, w.w0, w.shift), v1 = align_words(w.w2, w.w1, w.shift);
    uint v2 = align_words(w.w3, w.w2, w.shift), v3 = align_words(w.w4, w.w3, w.shift);
    ulong lo = (ulong)v1 << 32 | v0, hi = (ulong)v3 << 32 | v2;
    uint b2 = 2 * b;
    ulong rest = b2 >= 64 ? hi : b2 ? lo >> b2 | hi << (64 - b2) : lo;
    return (uint4)((uint)lo, (uint)(lo >> b), (uint)rest, (uint)(rest >> b)) & low_mask(b);
}

// Exceptions lie behind the values in place, from a word boundary.
static inline uint exceptions_at(segment_t g) { return g.at + (g.count * g.b + 31) / 32; }

static inline uint exception_index(words_t p, uint words, segment_t g, uint e) {
    return bits_at(p, words, exceptions_at(g), e * g.ib, g.ib);
}

// exception_overflow gives the bits of exception e above the b in place, in
// their place; a width of 32 leaves nothing above.
static inline uint exception_overflow(words_t p, uint words, segment_t g, uint e) {
    uint h = bits_at(p, words, exceptions_at(g), g.en * g.ib + e * g.hb, g.hb);
    return g.b < 32 ? h << g.b : 0;
}

// exception_of returns the bits of a value in a slot of a segment above the bits in place.
static inline uint exception_of(words_t p, uint words, segment_t g, uint slot) {
    uint lo = 0, hi = g.en; // the first exception whose index is not below slot
    while (lo < hi) {
        uint mid = (lo + hi) / 2;
        if (exception_index(p, words, g, mid) < slot) lo = mid + 1; else hi = mid;
    }
    return lo < g.en && exception_index(p, words, g, lo) == slot ? exception_overflow(p, words, g, lo) : 0;
}

// packed_at returns value i of n packed ones, whose directory begins at their first
// word (Ding et al. 2009, section 8.2).
static inline uint packed_at(words_t p, uint words, uint n, uint i) {
    segment_t g = packed_segment(p, words, 0, n, i / SEGMENT);
    uint slot = i % SEGMENT;
    return bits_at(p, words, g.at, slot * g.b, g.b) | exception_of(p, words, g, slot);
}

#endif
