// coarse_sums: the documents that may be among the best of ranked
// queries, by sums of upper bounds in few bits.
//
// Computes  coarse_sums: docIDs whose sum of upper bounds comes to the query's threshold,
//           appended with the sums to found[q * capacity ...], pairs of words, their number in
//           counts[q]. Of a query that seeks all documents of its filter, with the sum 0.
//           With COARSE_SAMPLE: of each range whose number is a multiple of `every` the
//           greatest sums of lower bounds in `cells` sets of documents, at found[q * capacity
//           + the range's number in the sample * cells ...]; zeros for a query that seeks.
//           Documents that the query's filter lacks do not count.
// Source    a prototype: see the measurements in engine/bench/RESULTS.md. Bounds come from
//           the 8-bit components s of packets: (s-1)/255.004 <= share / 2^32 < s/255.
//           Upper: a posting adds ceil(w s / 256), w = ceil(256 weight / (255 unit)). A score
//           is less than its real sum + terms, since contributions are rounded up. So a
//           document with a sum below (THETA - terms) / unit is not among the best k.
//           Lower: a posting adds w (s-1) >> 16, w = 257 floor(weight / unit). The host chooses
//           units so that no sum leaves its bits. threshold.cl takes the threshold from the sums.
//           With `all`, which needs sums of 16 bits, a posting also adds each_of, which no sum of
//           bounds comes to. Then the documents in all lists have the greatest sums.
// Batch     see posting.cl, but a term is {offset of its packets, their buffer | 256 if
//           dense, w of the upper bounds, w of the lower ones}, {list, weight, words of its bitset << 1,
//           where in `bits` its bitset begins}, a query
//           {first term, terms, unit of the upper bounds, unit of the lower ones}. With
//           COARSE_FILTER, from filters_at on, its filter: {where it begins in units of four words
//           of the buffer of filters, words: 0 without a filter, 1 if the query seeks, 0}.
// Packets   see packets.cl.
// State     see select.cl.
// Phases    coarse_sums: (1) where the ranges of the group lie in the lists; then range by
//           range (2) the packets of all lists are divided among the work-items, which add
//           to sums, two or four a word, while the next packet is on its way; (3) sums are
//           compared, several at a time (SCAN_SERIAL: first BLOCK_ROWS rows), and cleared.
// Launch    a group of COARSE_WG work-items (SCAN_SERIAL: of one) for a query and `span` ranges, at
//           most COARSE_SPAN (COARSE_SAMPLE: one): group g has query query_from + g % queries.
// Local     8.4 KiB; 19 KiB with COARSE_WIDE, 21 KiB with COARSE_SAMPLE.
// Host      queries have at most COARSE_TERMS terms, cells is a power of two up to CELLS.
// Bounds    packets come from packets.cl: their offsets lie in the range.
#ifndef HEDDLE_POSTING
#include "posting.cl"
#endif
#ifndef PACKET_RANGE
#define PACKET_RANGE 8192
#endif
#ifndef COARSE_SAMPLE
#define COARSE_SAMPLE 0
#endif
#ifndef COARSE_FILTER
#define COARSE_FILTER 0 // queries have filters
#endif
#ifndef COARSE_WIDE
#define COARSE_WIDE COARSE_SAMPLE // sums of 16 bits, for many terms
#endif
#if COARSE_WIDE
#define COARSE_TERMS 64
#else
#define COARSE_TERMS 8
#endif
#define COARSE_SPAN 8
#define PACKET_HEADS(ranges) ((2 * (ranges) + 5) / 4) // see packets.cl
#define CELLS 512
#if SCAN_SERIAL
#define COARSE_WG 1
#define COARSE_SYNC
#define MAX_LOCAL(p, v) (*(p) = max(*(p), v))
#else
#ifndef COARSE_WG
#define COARSE_WG (COARSE_WIDE ? 128 : 64) // few groups of many sums fit
#endif
#define COARSE_SYNC barrier(CLK_LOCAL_MEM_FENCE)
#define MAX_LOCAL(p, v) atomic_max(p, v)
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

// PASSING returns the filter's bits of row i of range r, from bit 0 on; SEEKS: the query seeks.
#if COARSE_FILTER
#define PASSING(r, i) (filter.y ? filters[(size_t)filter.x * 4 + min((r) * (PACKET_RANGE / 32) + (i) * SUMS / 8, filter.y - 1)] \
                                      >> ((i) * 4 * SUMS & 31) : 0xffffffff)
#define SEEKS filter.z
#else
#define PASSING(r, i) 0xffffffffu
#define SEEKS 0
#endif

#if COARSE_SAMPLE
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

// PUT_FOUND appends a document and its sum, if there is room.
#define PUT_FOUND(doc, sum)                                                                   \
    { uint n = atomic_inc(&counts[q]);                                                        \
      if (n < capacity) vstore2((uint2)(doc, sum), (size_t)q * capacity + n, found); }

// BOUND_OF is the first packet of range r of the group in list t.
#define BOUND_OF(t, r) bound[(t) * (COARSE_SPAN + 1) + (r)]
#define LENGTH_OF(t, r) (BOUND_OF(t, (r) + 1) - BOUND_OF(t, r))

// ENTER_RANGE counts the packets of range r and reads the first one of a work-item.
#define ENTER_RANGE(r)                       \
    packets = 0;                             \
    for (uint k = 0; k < terms; k++)         \
        packets += LENGTH_OF(k, r);          \
    t = begin = end = 0;                     \
    READ_PACKET(lid, r)

// READ_PACKET reads packet i of range r, behind the one that was read last.
#define READ_PACKET(i, r)                                                                     \
    if ((i) < packets) {                                                                      \
        for (; t < terms && (i) >= end; t++) {                                                \
            uint b = buffer[t] & 255;                                                         \
            list = (b == 0 ? p0 : b == 1 ? p1 : b == 2 ? p2 : p3) + at[t] + BOUND_OF(t, r);   \
            begin = end;                                                                      \
            end += LENGTH_OF(t, r);                                                           \
            dense = buffer[t] >> 8;                                                           \
            w = weights[t];                                                                   \
        }                                                                                     \
        v = list[(i) - begin];                                                                \
    }

#if !SCAN_SERIAL
__attribute__((reqd_work_group_size(COARSE_WG, 1, 1)))
#endif
__kernel void coarse_sums(__global const uint4 *restrict p0, __global const uint4 *restrict p1,
                          __global const uint4 *restrict p2, __global const uint4 *restrict p3,
                          __global const uint4 *batch, uint terms_at, uint queries_at, uint query_from, uint queries,
                          uint ranges, uint every, uint span, uint all, __global const uint *state,
                          volatile __global uint *counts, __global uint *found, uint capacity, uint cells,
                          uint filters_at, __global const uint *restrict filters) {
    __local uint acc[PACKET_RANGE / SUMS] __attribute__((aligned(64)));
    __local uint at[COARSE_TERMS], buffer[COARSE_TERMS], weights[COARSE_TERMS], bound[COARSE_TERMS * (COARSE_SPAN + 1)];
#if COARSE_SAMPLE
    __local uint maxima[CELLS];
#endif
    uint lid = get_local_id(0), g = get_group_id(0), q = query_from + g % queries, first = g / queries * span * every;
    uint4 query = batch[queries_at + q];
#if COARSE_FILTER
    uint4 filter = batch[filters_at + q];
#endif
    uint terms = min(query.y, (uint)COARSE_TERMS), heads = PACKET_HEADS(ranges), each = each_of(all, terms);
#if !COARSE_SAMPLE
    uint theta = state[THETA_OF(q)], least = max(all_of(all, terms) + (theta - min(theta, terms)) / max(query.z, 1u), 1u);
#endif
    terms = SEEKS ? 0 : terms;
    __local uint4 *rows = (__local uint4 *)acc;
    span = min(span, min(ranges - first, (uint)COARSE_SPAN));
    for (uint i = lid; i < PACKET_RANGE / SUMS / 4; i += COARSE_WG)
        rows[i] = 0;
#if COARSE_SAMPLE
    cells = min(cells, (uint)CELLS);
    for (uint i = lid; i < cells; i += COARSE_WG)
        maxima[i] = 0;
#endif
    for (uint i = lid; i < terms * (span + 1); i += COARSE_WG) {
        uint t = i / (span + 1), r = i % (span + 1);
        uint4 term = batch[terms_at + 2 * (query.x + t)];
        uint b = term.y & 255;
        __global const uint *list = (__global const uint *)((b == 0 ? p0 : b == 1 ? p1 : b == 2 ? p2 : p3) + term.x);
        BOUND_OF(t, r) = list[first + r];
        if (r == 0) {
            at[t] = term.x + heads;
            buffer[t] = term.y;
            weights[t] = COARSE_SAMPLE ? term.w : term.z;
        }
    }
    COARSE_SYNC;
    uint packets, t, begin, end, w = 0;
    bool dense = false;
    __global const uint4 *list = p0;
    uint4 v = 0;
    ENTER_RANGE(0)
    for (uint r = 0; r < span; r++) {
        uint any = packets;
        for (uint i = lid; i < any;) {
            uint4 now = v;
            uint weight = w;
            bool eight = dense;
            i += COARSE_WG;
            READ_PACKET(i, r)
            add_packet(acc, now, eight, weight, each);
        }
        if (r + 1 < span) { ENTER_RANGE(r + 1) }
        COARSE_SYNC;
        for (uint i = lid; i < PACKET_RANGE / SUMS / 4 && any; i += COARSE_WG) {
#if SCAN_SERIAL && !COARSE_SAMPLE
            if (i % BLOCK_ROWS == 0 && is_below(rows + i, least)) {
                *(__local uint16 *)(rows + i) = 0;
                i += BLOCK_ROWS - 1;
                continue;
            }
#endif
            uint4 row = rows[i];
#if COARSE_SAMPLE
            uint of = PASSING(first + r, i) & 255, m = of ? greatest(row, of) : 0;
            if (m)
                MAX_LOCAL(&maxima[i & (cells - 1)], m);
#else
            uint4 hit = reached(row, least);
            uint of = hit.x | hit.y | hit.z | hit.w ? PASSING(first + r, i) : 0;
            for (uint k = 0; k < 4 && (hit.x | hit.y | hit.z | hit.w); k++, hit = hit.yzwx, row = row.yzwx)
                for (; hit.x; hit.x &= hit.x - 1) {
                    uint j = popcount(hit.x - 1 & ~hit.x) / SUM_BITS;
                    if (of >> (k * SUMS + j) & 1)
                        PUT_FOUND((first + r) * PACKET_RANGE + (i * 4 + k) * SUMS + j, row.x >> j * SUM_BITS & SUM_MASK);
                }
#endif
            rows[i] = 0;
        }
#if COARSE_FILTER && !COARSE_SAMPLE
        for (uint i = lid; i < PACKET_RANGE / 32 && SEEKS; i += COARSE_WG) {
            uint w = (first + r) * (PACKET_RANGE / 32) + i;
            for (uint v = w < filter.y ? filters[(size_t)filter.x * 4 + w] : 0; v; v &= v - 1)
                PUT_FOUND(w * 32 + 31 - clz(v & -v), 0);
        }
#endif
        COARSE_SYNC;
    }
#if COARSE_SAMPLE
    for (uint i = lid; i < cells; i += COARSE_WG)
        found[(size_t)q * capacity + g / queries * cells + i] = maxima[i];
#endif
}
