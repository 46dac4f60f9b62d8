// sums: sums of bounds of the documents of a range in local memory. Helpers of coarse.cl, no kernel of its
// own.
//
// Computes  add_packet: adds the bounds of the postings of a packet, see packets.cl, under the weight w, and `each`
//           for each posting; reached: which sums come to a threshold; greatest: the greatest sum of a set of documents.
// Source    see coarse.cl.
// Bounds    offsets of postings lie in the range.
#ifndef HEDDLE_SUMS
#define HEDDLE_SUMS
#ifndef HEDDLE_POSTING
#include "posting.cl"
#endif
#ifndef PACKET_RANGE
#define PACKET_RANGE 8192
#endif
#ifndef COARSE_SAMPLE
#define COARSE_SAMPLE 0
#endif
#ifndef COARSE_WIDE
#define COARSE_WIDE COARSE_SAMPLE // sums of 16 bits, for many terms
#endif

#if COARSE_WIDE
#define SUM_BITS 16
#define ONES 0x00010001u
#else
#define SUM_BITS 8
#define ONES 0x01010101u
#endif
#define COARSE_TERMS (COARSE_WIDE || SCAN_SERIAL ? 64 : 8) // terms of a query at most
#define SUMS (32 / SUM_BITS) // sums in a word
#define SUM_MASK ((1u << SUM_BITS) - 1)
#define SUM_TOP (1u << (SUM_BITS - 1))

// COMPONENT_BOUND is the bound of component s, and `each` unless s is padding. IS_POSTING is 1, but 0 for padding.
#define IS_POSTING(s) min(s, 1u)
#if COARSE_SAMPLE
#define COMPONENT_BOUND(w, s, each) (((w) * ((s) - IS_POSTING(s)) >> 16) + (each) * IS_POSTING(s))
#elif COARSE_WIDE
#define COMPONENT_BOUND(w, s, each) ((((w) * (s) + 255) >> 8) + (each) * IS_POSTING(s))
#else
#define COMPONENT_BOUND(w, s, each) (((w) * (s) + 255) >> 8)
#endif
static inline void add(__local uint *acc, uint x, uint v) { atomic_add(&acc[x / SUMS], v << (x % SUMS * SUM_BITS)); }

// add_packet adds the postings of a packet.
static inline void add_packet(__local uint *acc, uint4 v, bool dense, uint w, uint each) {
    if (!dense) {
        add(acc, v.x & 0xffffff, COMPONENT_BOUND(w, v.x >> 24, each));
        add(acc, v.y & 0xffffff, COMPONENT_BOUND(w, v.y >> 24, each));
        add(acc, v.z & 0xffffff, COMPONENT_BOUND(w, v.z >> 24, each));
        add(acc, v.w & 0xffffff, COMPONENT_BOUND(w, v.w >> 24, each));
        return;
    }
    uint x = v.y >> 21 | v.x >> 28 << 11;
    add(acc, x, COMPONENT_BOUND(w, v.z & 255, each));
    add(acc, x += v.x & 127, COMPONENT_BOUND(w, v.z >> 8 & 255, each));
    add(acc, x += v.x >> 7 & 127, COMPONENT_BOUND(w, v.z >> 16 & 255, each));
    add(acc, x += v.x >> 14 & 127, COMPONENT_BOUND(w, v.z >> 24, each));
    add(acc, x += v.x >> 21 & 127, COMPONENT_BOUND(w, v.w & 255, each));
    add(acc, x += v.y & 127, COMPONENT_BOUND(w, v.w >> 8 & 255, each));
    add(acc, x += v.y >> 7 & 127, COMPONENT_BOUND(w, v.w >> 16 & 255, each));
    add(acc, x + (v.y >> 14 & 127), COMPONENT_BOUND(w, v.w >> 24, each));
}

#if COARSE_SAMPLE
// greatest is the greatest of the sums of a row whose documents have bits in `of`.
static inline uint greatest(uint4 row, uint of) {
    short8 in = ((short8)((short)of) & (short8)(1, 2, 4, 8, 16, 32, 64, 128)) != (short8)0;
    ushort8 v = as_ushort8(row) & as_ushort8(in);
    ushort4 m = max(v.lo, v.hi);
    return max(max(m.x, m.y), max(m.z, m.w));
}
#else
// reached marks the sums of four words that are at least `threshold`: their top bits.
static inline uint4 reached(uint4 v, uint threshold) {
    uint4 low = (v & ~(SUM_TOP * ONES)) + (SUM_TOP - (threshold & (SUM_TOP - 1))) * ONES;
    return ((low & v) | ((low | v) & (threshold & SUM_TOP ? 0 : ~0u))) & (SUM_TOP * ONES);
}
#endif
#endif
