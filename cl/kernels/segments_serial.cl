// Segments of the gap codecs, decoded by one work-item.
//
// Computes  docs[i] = docID i of segment s of the list of record r, i < the count
//           that comes back, which is 0 where no encoder wrote the list. With
//           DECODE_GAPS the gaps.
// Source    Ding et al. 2009, section 6; Ao et al. 2011, section 5.1.
// Bounds    see gaps.cl; loops over unary numbers end with the list.
#if SCAN_SERIAL && !defined HEDDLE_SEGMENTS
#define HEDDLE_SEGMENTS
#ifndef HEDDLE_RPFD
#include "segments_rpfd.cl"
#endif

static inline void unpack_serial(words_t p, uint words, uint at, uint b, uint count, uint *v) {
    for (uint i = 0; i < count; i++)
        v[i] = bits_at(p, words, at, i * b, b);
}

static inline void parapfor_serial(words_t p, uint4 r, uint s, uint count, uint *v) {
    segment_t g = packed_segment(p, r.z, SEGMENTS(r.y), r.y, s);
    unpack_serial(p, r.z, g.at, g.b, count, v);
    for (uint e = 0; e < g.en; e++) {
        uint i = exception_index(p, r.z, g, e);
        if (i < count)
            v[i] |= exception_overflow(p, r.z, g, e);
    }
}

static inline void vbyte_serial(words_t p, uint4 r, uint s, uint count, uint *v) {
    uint at = vbyte_at(p, r, s), k = 0;
    for (uint i = 0; i < count; i++) {
        uint x = 0, shift = 0, byte;
        do {
            byte = load(p, r.z, (ulong)at + k / 4) >> (8 * (k % 4));
            x |= (byte & 127) << shift;
            shift += 7;
            k++;
        } while ((byte & 128) && shift < 35);
        v[i] = x;
    }
}

static inline void rice_serial(words_t p, uint4 r, uint s, uint count, uint *v) {
    rice_t x = rice_of(p, r, s);
    uint at = x.at, w = ~load(p, r.z, at) >> x.bit, left = 32 - x.bit; // zeros of the vector as ones
    for (uint i = 0; i < count; i++) {
        uint q = 0;
        while (w == 0 && at < r.z) {
            q += left;
            w = ~load(p, r.z, ++at);
            left = 32;
        }
        uint ones = w ? 31 - clz(w & -w) : 0; // before the zero
        w = ones < 31 ? w >> (ones + 1) : 0;
        left = max(left, ones + 1) - ones - 1;
        v[i] = (q + ones) << x.b | bits_at(p, r.z, x.low, i * x.b, x.b);
    }
}

static inline void pfd_serial(words_t p, uint4 r, uint s, uint count, uint *v) {
    pfd_t x = pfd_of(p, r, s);
    unpack_serial(p, r.z, x.at, x.b, count, v);
    for (uint e = 0, i = x.first; e < x.en && i < count; e++) {
        uint next = i + v[i] + 1;
        v[i] = load(p, r.z, (ulong)x.behind + e);
        i = next > i ? next : count;
    }
}

// s16_serial reads count values at word `at` and returns the word behind.
static inline uint s16_serial(words_t p, uint words, uint at, uint count, uint *v) {
    uint i = 0;
    while (i < count) {
        uint w = load(p, words, at++), n = s16_count(w), bit = 0;
        for (uint j = 0; j < n && i < count; j++) {
            uint b = s16_width(w, j);
            v[i++] = w >> bit & low_mask(b);
            bit += b;
        }
    }
    return at;
}

static inline void newpfd_serial(words_t p, uint4 r, uint s, uint count, uint *v) {
    pfd_t x = pfd_of(p, r, s);
    unpack_serial(p, r.z, x.at, x.b, count, v);
    uint gaps[SEGMENT], overflows[SEGMENT], i = 0xffffffffu;
    s16_serial(p, r.z, x.behind, x.en, gaps);
    s16_serial(p, r.z, x.behind + x.pw, x.en, overflows);
    for (uint e = 0; e < x.en; e++) {
        i += gaps[e] + 1;
        if (i < count)
            v[i] |= above(overflows[e] + 1, x.b);
    }
}

static inline void rpfd_serial(words_t p, uint4 r, uint s, uint count, uint *v) {
    uint work[RPFD_WORDS];
    rpfd_gaps(p, r, s, count, 0, work, 0);
    for (uint i = 0; i < count; i++)
        v[i] = work[i];
}

// segment_docs decodes segment s, for s < SEGMENTS(r.y).
static inline uint segment_docs(words_t p, uint4 r, uint s, uint *docs) {
    uint segments = SEGMENTS(r.y), count = segment_count(r, s);
    if (r.z < segments)
        return 0; // no encoder wrote this
    switch (r.w & 0xff) {
    case CODEC_PARAPFOR:
        if (r.z / 3 < segments)
            return 0;
        parapfor_serial(p, r, s, count, docs);
        break;
    case CODEC_VBYTE: vbyte_serial(p, r, s, count, docs); break;
    case CODEC_RICE: rice_serial(p, r, s, count, docs); break;
    case CODEC_PFD: pfd_serial(p, r, s, count, docs); break;
    case CODEC_NEWPFD: newpfd_serial(p, r, s, count, docs); break;
    case CODEC_RPFD: rpfd_serial(p, r, s, count, docs); break;
    default: return 0;
    }
    uint doc = segment_base(p, r, s);
    for (uint i = 0; i < count; i++)
        docs[i] = DECODE_GAPS ? docs[i] : (doc += docs[i] + 1);
    return count;
}

#endif
