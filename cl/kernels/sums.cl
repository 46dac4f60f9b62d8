// sums: sums of bounds of the documents of a range in local memory. Helpers of coarse.cl, no kernel of its
// own.
//
// Computes  add_packet: adds the bounds of the postings of a packet, see packets.cl, under the weight w, and `each`
//           for each posting; reached and is_below: which sums come to a threshold; greatest and sixteen: the greatest
//           sums of sets of documents.
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
typedef ushort sum_t;
#else
#define SUM_BITS 8
#define ONES 0x01010101u
typedef uchar sum_t;
#endif
#define SUMS (32 / SUM_BITS) // of a word
#define SUM_MASK ((1u << SUM_BITS) - 1)
#define SUM_TOP (1u << (SUM_BITS - 1))

// COMPONENT_BOUND is the bound of component s, a number or a vector, and `each` unless s is padding. IS_POSTING
// is 1, but 0 for padding: Oclgrind 21.10 computes min of a vector and a number wrongly.
#define IS_POSTING(s) (SCAN_SERIAL ? ((s) + 255) >> 8 : min(s, 1u))
#if COARSE_SAMPLE
#define COMPONENT_BOUND(w, s, each) (((w) * ((s) - IS_POSTING(s)) >> 16) + (each) * IS_POSTING(s))
#elif COARSE_WIDE
#define COMPONENT_BOUND(w, s, each) ((((w) * (s) + 255) >> 8) + (each) * IS_POSTING(s))
#else
#define COMPONENT_BOUND(w, s, each) (((w) * (s) + 255) >> 8)
#endif
static inline void add(__local uint *acc, uint x, uint v) {
#if SCAN_SERIAL // on little-endian devices
    // volatile: without it, NVIDIA 580 compiles the additions of a packet to an illegal access
    ((volatile __local sum_t *)acc)[x] += (sum_t)v;
#else
    atomic_add(&acc[x / SUMS], v << (x % SUMS * SUM_BITS));
#endif
}

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
#if SCAN_SERIAL // eight bounds together
    ulong2 bounds = as_ulong2(convert_ushort8(COMPONENT_BOUND(w, convert_uint8(as_uchar8(v.zw)), each)));
#pragma unroll
    for (uint k = 0; k < 8; x += (k < 4 ? v.x >> 7 * k : v.y >> 7 * (k & 3)) & 127, k++)
        add(acc, x, (uint)((k < 4 ? bounds.x : bounds.y) >> 16 * (k & 3)) & 0xffff);
#else
    add(acc, x, COMPONENT_BOUND(w, v.z & 255, each));
    add(acc, x += v.x & 127, COMPONENT_BOUND(w, v.z >> 8 & 255, each));
    add(acc, x += v.x >> 7 & 127, COMPONENT_BOUND(w, v.z >> 16 & 255, each));
    add(acc, x += v.x >> 14 & 127, COMPONENT_BOUND(w, v.z >> 24, each));
    add(acc, x += v.x >> 21 & 127, COMPONENT_BOUND(w, v.w & 255, each));
    add(acc, x += v.y & 127, COMPONENT_BOUND(w, v.w >> 8 & 255, each));
    add(acc, x += v.y >> 7 & 127, COMPONENT_BOUND(w, v.w >> 16 & 255, each));
    add(acc, x + (v.y >> 14 & 127), COMPONENT_BOUND(w, v.w >> 24, each));
#endif
}

#if COARSE_SAMPLE
// sixteen has all bits of element j where bit j of `of` is set.
static inline ushort16 sixteen(uint of) {
    short16 bits = (short16)(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, -32768);
    return as_ushort16(((short16)((short)of) & bits) != (short16)0);
}

// greatest is the greatest of the sums of a row whose documents have bits in `of`.
static inline uint greatest(uint4 row, uint of) {
    short8 in = ((short8)((short)of) & (short8)(1, 2, 4, 8, 16, 32, 64, 128)) != (short8)0;
    ushort8 v = as_ushort8(row) & as_ushort8(in);
    ushort4 m = max(v.lo, v.hi);
    return max(max(m.x, m.y), max(m.z, m.w));
}
#else
// reached marks the sums of four words that are at least `least`: their top bits.
static inline uint4 reached(uint4 v, uint least) {
    uint4 low = (v & ~(SUM_TOP * ONES)) + (SUM_TOP - (least & (SUM_TOP - 1))) * ONES;
    return ((low & v) | ((low | v) & (least & SUM_TOP ? 0 : ~0u))) & (SUM_TOP * ONES);
}

#if SCAN_SERIAL
#define BLOCK_ROWS 4 // rows that are compared together
// is_below: all sums of a block of rows are less than `least`.
static inline bool is_below(__local const uint4 *rows, uint least) {
    uint16 v = *(__local const uint16 *)rows, low = (v & ~(SUM_TOP * ONES)) + (SUM_TOP - (least & (SUM_TOP - 1))) * ONES;
    uint16 hit = (low & v) | ((low | v) & (least & SUM_TOP ? 0 : ~0u));
    ulong4 four = as_ulong8(hit).lo | as_ulong8(hit).hi; // not of uint16: Oclgrind 21.10 takes its element 11 for undefined
    return ((four.x | four.y | four.z | four.w) & SUM_TOP * ONES * 0x100000001ul) == 0;
}
#endif
#endif
#endif
