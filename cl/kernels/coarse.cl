// coarse_sums: the documents that may be among the best of ranked
// queries, by sums of upper bounds in few bits.
//
// Computes  coarse_sums: the documents whose sums of upper bounds come to the threshold of the query. They
//           are appended to found[q * capacity ...], each with its sum, as pairs of words. FOUND is their number.
//           A query may seek: it takes all documents of its filter, each with the sum 0.
//           With COARSE_SAMPLE: the sums of lower bounds in each range whose number is a multiple of `every`.
//           The documents of a range form `cells` sets, and the greatest sum of each set is kept, two sums a
//           word, at found[q * capacity + (number of the range in the sample) * cells / 2 ...]. A query that
//           seeks has zeros there. The threshold is the k-th greatest of these sums, or a little less: see
//           greatest.cl. Documents that are not in the filter of the query do not count.
// Source    a prototype: see the measurements in engine/bench/RESULTS.md. A packet holds the component of a
//           posting, its share of the weight of the list, in 8 bits (packets.cl). Component s says that
//           (s-1)/255.004 <= share / 2^32 < s/255.
//           Upper bounds: a posting adds ceil(w s / 256), where w = ceil(256 weight / (255 unit)). A score is
//           less than the exact sum of its contributions plus the number of terms, because contributions are
//           rounded up. So a document with a sum below (THETA - terms) / unit is not among the best k.
//           Lower bounds: a posting adds w (s-1) >> 16, where w = 257 floor(weight / unit).
//           The host chooses the units of a query so that sums fit SUM_BITS bits. No two sums of the sample
//           are of the same document, so at least k documents have scores that are not below the threshold.
//           With `all` only documents in all lists count. Then sums have 16 bits, and each posting adds the
//           constant each_of (posting.cl), which is more than the sum of all bounds of a document. So a
//           document in all lists has a greater sum than a document that a list lacks.
// Batch     see posting.cl, with other records. Of a term: {offset of its packets, their buffer | 256 if
//           dense, w of the upper bounds, w of the lower bounds}, {list, weight, words of its bitset << 1,
//           where in `bits` its bitset begins}. Of a query: {first term, terms, unit of the upper bounds, unit
//           of the lower bounds}, {where its filter begins in units of four words of the buffer of filters,
//           words of the filter: 0 without one, 1 if the query seeks, 0}, its progress.
// Packets   see packets.cl.
// Progress  of a query, in the batch, 0 before the first launch: FOUND, and the groups that are through
//           with the sample and with the scores.
// State     uint4 a query: COUNT, the keys that there are, 0; the threshold of the sample; the
//           threshold; the least sum of a document found that comes to it: see raise.cl.
// Phases    coarse_sums: (1) where the ranges of the group lie in the lists; then range by
//           range (2) the packets of all lists are divided among the work-items, which add
//           to sums, two or four a word, while the next packet is on its way; (3) sums are
//           compared, several at a time, and cleared. With COARSE_SAMPLE the last group of a query (4)
//           takes the threshold. SCAN_SERIAL: see coarse_serial.cl.
// Launch    a group of COARSE_WG work-items for a query and `span` ranges, at
//           most COARSE_SPAN: group g has query query_from + g % queries.
// Local     8.4 KiB; 19 KiB with COARSE_WIDE, 21 KiB with COARSE_SAMPLE.
// Host      queries have at most COARSE_TERMS terms, cells is a power of two from 2 to CELLS.
// Bounds    packets come from packets.cl: their offsets lie in the range.
#ifndef HEDDLE_SUMS
#include "sums.cl"
#endif
#ifndef HEDDLE_GREATEST
#include "greatest.cl"
#endif
#ifndef HEDDLE_COARSE_SERIAL
#include "coarse_serial.cl"
#endif
#if !SCAN_SERIAL
#if COARSE_SAMPLE
#define COARSE_SPAN 4
#define BOUNDS 2 // places of a range: where it begins and where it ends
#else
#define COARSE_SPAN 8
#define BOUNDS 1 // places of a range: where it begins, which is where the range before ends
#endif
#define CELLS 512
#ifndef COARSE_WG
#define COARSE_WG (COARSE_WIDE ? 128 : 64) // few groups of many sums fit
#endif

// PASSING returns the filter's bits of row i of range r, from bit 0 on; SEEKS: the query seeks.
#if COARSE_FILTER
#define PASSING(r, i) (filter.y ? filters[(size_t)filter.x * 4 + min((r) * (PACKET_RANGE / 32) + (i) * SUMS / 8, filter.y - 1)] \
                                      >> ((i) * 4 * SUMS & 31) : 0xffffffff)
#define SEEKS filter.z
#else
#define PASSING(r, i) 0xffffffffu
#define SEEKS 0
#endif

// PUT_FOUND appends a document and its sum, if there is room.
#define PUT_FOUND(doc, sum)                                                                   \
    { uint n = atomic_inc(&progress[PROGRESS_OF(q, FOUND)]);                                  \
      if (n < capacity) vstore2((uint2)(doc, sum), (size_t)q * capacity + n, (__global uint *)found); }

// RANGE is the number of range r of the group.
#define RANGE(r) ((first + (r)) * every)

// BEGIN_OF is a place of list t in packets: where range i of the group begins; with COARSE_SAMPLE where range i / 2
// begins or ends.
#define BEGIN_OF(t, i) begins[(t) * (BOUNDS * COARSE_SPAN + 1) + (i)]
#define LENGTH_OF(t, r) (BEGIN_OF(t, BOUNDS * (r) + 1) - BEGIN_OF(t, BOUNDS * (r)))

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
            list = (b == 0 ? p0 : b == 1 ? p1 : b == 2 ? p2 : p3) + at[t] + BEGIN_OF(t, BOUNDS * (r)); \
            begin = end;                                                                      \
            end += LENGTH_OF(t, r);                                                           \
            dense = buffer[t] >> 8;                                                           \
            w = weights[t];                                                                   \
        }                                                                                     \
        v = list[(i) - begin];                                                                \
    }

__attribute__((reqd_work_group_size(COARSE_WG, 1, 1)))
__kernel void coarse_sums(__global const uint4 *restrict p0, __global const uint4 *restrict p1,
                          __global const uint4 *restrict p2, __global const uint4 *restrict p3, __global uint4 *batch,
                          __global uint *state, state_t found, __global const uint *restrict filters, uint terms_at,
                          uint queries_at, uint query_from, uint queries, uint ranges, uint every, uint span,
                          uint capacity, uint cells, uint k, uint all) {
    state_t progress = (state_t)batch; // each argument that is a buffer costs the host a third of a microsecond
    __local uint acc[PACKET_RANGE / SUMS] __attribute__((aligned(64)));
    __local uint at[COARSE_TERMS], buffer[COARSE_TERMS], weights[COARSE_TERMS], begins[COARSE_TERMS * (BOUNDS * COARSE_SPAN + 1)];
#if COARSE_SAMPLE
    __local uint maxima[CELLS];
#endif
    uint lid = get_local_id(0), g = GROUP_ID(0), q = query_from + g % queries, first = g / queries * span;
    uint4 query = batch[COARSE_QUERY(q)];
#if COARSE_FILTER
    uint4 filter = batch[COARSE_FILTER_OF(q)];
#endif
#if COARSE_SAMPLE
    uint groups = ((ranges + every - 1) / every + span - 1) / span; // for each query
#endif
    uint terms = min(query.y, (uint)COARSE_TERMS), heads = PACKET_HEADS(ranges), each = each_of(all, terms);
#if !COARSE_SAMPLE
    every = 1;
    uint theta = state[THETA_OF(q)], sum_threshold = max(all_of(all, terms) + (theta - min(theta, terms)) / max(query.z, 1u), 1u);
#endif
    terms = SEEKS ? 0 : terms;
    __local uint4 *rows = (__local uint4 *)acc;
    span = min(span, min((ranges + every - 1) / every - first, (uint)COARSE_SPAN));
    for (uint i = lid; i < PACKET_RANGE / SUMS / 4; i += COARSE_WG)
        rows[i] = 0;
#if COARSE_SAMPLE
    cells = min(cells, (uint)CELLS);
    for (uint i = lid; i < cells; i += COARSE_WG)
        maxima[i] = 0;
#endif
    uint bounds = BOUNDS * span + (BOUNDS == 1);
    for (uint i = lid; i < terms * bounds; i += COARSE_WG) {
        uint t = i / bounds, r = i % bounds;
        uint4 term = batch[terms_at + 2 * (query.x + t)];
        uint b = term.y & 255;
        __global const uint *list = (__global const uint *)((b == 0 ? p0 : b == 1 ? p1 : b == 2 ? p2 : p3) + term.x);
        BEGIN_OF(t, r) = list[RANGE(r / BOUNDS) + r % BOUNDS];
        if (r == 0) {
            at[t] = term.x + heads;
            buffer[t] = term.y;
            weights[t] = COARSE_SAMPLE ? term.w : term.z;
        }
    }
    GROUP_SYNC;
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
        GROUP_SYNC;
        for (uint i = lid; i < PACKET_RANGE / SUMS / 4 && any; i += COARSE_WG) {
            uint4 row = rows[i];
#if COARSE_SAMPLE
            uint of = PASSING(RANGE(r), i) & 255, m = of ? greatest(row, of) : 0;
            if (m)
                atomic_max(&maxima[i & (cells - 1)], m);
#else
            uint4 hit = reached(row, sum_threshold);
            uint of = hit.x | hit.y | hit.z | hit.w ? PASSING(RANGE(r), i) : 0;
            for (uint k = 0; k < 4 && (hit.x | hit.y | hit.z | hit.w); k++, hit = hit.yzwx, row = row.yzwx)
                for (; hit.x; hit.x &= hit.x - 1) {
                    uint j = popcount(hit.x - 1 & ~hit.x) / SUM_BITS;
                    if (of >> (k * SUMS + j) & 1)
                        PUT_FOUND(RANGE(r) * PACKET_RANGE + (i * 4 + k) * SUMS + j, row.x >> j * SUM_BITS & SUM_MASK);
                }
#endif
            rows[i] = 0;
        }
#if COARSE_FILTER && !COARSE_SAMPLE
        for (uint i = lid; i < PACKET_RANGE / 32 && SEEKS; i += COARSE_WG) {
            uint w = RANGE(r) * (PACKET_RANGE / 32) + i;
            for (uint v = w < filter.y ? filters[(size_t)filter.x * 4 + w] : 0; v; v &= v - 1)
                PUT_FOUND(w * 32 + 31 - clz(v & -v), 0);
        }
#endif
        GROUP_SYNC;
#if COARSE_SAMPLE
        for (uint i = lid; i < cells / 2; i += COARSE_WG) {
            PUBLISH(found + (size_t)q * capacity + (first + r) * (cells / 2) + i, maxima[2 * i] | maxima[2 * i + 1] << 16);
            maxima[2 * i] = maxima[2 * i + 1] = 0;
        }
#endif
    }
#if COARSE_SAMPLE
    if (group_last(progress + PROGRESS_OF(q, SAMPLED), groups, begins)) {
        uint sum = greatest_of(found + (size_t)q * capacity, capacity, false, 1, k, COARSE_WG, acc);
        uint theta = (sum - min(sum, all_of(all, query.y))) * query.w;
        if (lid == 0)
            vstore4((uint4)(0, theta, theta, 0), q, state);
    }
#endif
}
#endif
