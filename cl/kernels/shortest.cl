// coarse_shortest: the documents of the shortest list of ranked ANDs, for complete.cl.
//
// Computes  docIDs of the first list of a query, which is its shortest one, that its filter has and that
//           the bitsets of its other lists do not exclude. They are appended to found[q * capacity
//           ...], pairs of a docID and 0, their number is added to counts[q].
// Source    Ding et al. 2009, section 8.1: the documents of the shortest list are looked up.
// Batch     see coarse.cl; filters_at is 0 if no query has a filter.
// Packets   see packets.cl.
// Phases    SHORTEST_TEAM work-items take a range, each of them a packet and every
//           SHORTEST_TEAM-th one after it.
// Launch    a group of SHORTEST_WG work-items (SCAN_SERIAL: of one) for a query and `span` ranges: group
//           g has query g % queries.
// Local     none.
// Bounds    packets come from packets.cl: their offsets lie in the range.
#ifndef HEDDLE_POSTING
#include "posting.cl"
#endif
#ifndef PACKET_RANGE
#define PACKET_RANGE 8192
#endif
#define PACKET_HEADS(ranges) ((2 * (ranges) + 5) / 4) // see packets.cl
#if SCAN_SERIAL
#define SHORTEST_WG 1
#define SHORTEST_TEAM 1
#else
#define SHORTEST_WG 64
#define SHORTEST_TEAM 8
#endif

#if !SCAN_SERIAL
__attribute__((reqd_work_group_size(SHORTEST_WG, 1, 1)))
#endif
__kernel void coarse_shortest(__global const uint4 *restrict p0, __global const uint4 *restrict p1,
                              __global const uint4 *restrict p2, __global const uint4 *restrict p3,
                              __global const uint4 *batch, uint terms_at, uint queries_at, uint queries, uint ranges, uint span,
                              __global const uint *restrict bits, volatile __global uint *counts, __global uint *found,
                              uint capacity, uint filters_at, __global const uint *restrict filters) {
    uint g = get_group_id(0), q = g % queries, first = g / queries * span, lid = get_local_id(0);
    uint4 query = batch[queries_at + q], filter = filters_at ? batch[filters_at + q] : (uint4)0;
    __global const uint4 *terms = batch + terms_at + 2 * query.x;
    uint buffer = terms[0].y & 255, dense = terms[0].y >> 8;
    __global const uint4 *list = (buffer == 0 ? p0 : buffer == 1 ? p1 : buffer == 2 ? p2 : p3) + terms[0].x;
    __global const uint *heads = (__global const uint *)list;
    list += PACKET_HEADS(ranges);
    uint end = query.y ? min(first + span, ranges) : 0;
    for (uint r = first + lid / SHORTEST_TEAM; r < end; r += SHORTEST_WG / SHORTEST_TEAM)
        for (uint i = heads[r] + lid % SHORTEST_TEAM; i < heads[r + 1]; i += SHORTEST_TEAM) {
            uint4 v = list[i];
            uint x = r * PACKET_RANGE + (v.y >> 21 | v.x >> 28 << 11);
            for (uint j = 0; j < (dense ? 8 : 4); j++) {
                uint word = j == 0 ? v.x : j == 1 ? v.y : j == 2 ? v.z : v.w, component = word >> 24;
                if (dense) {
                    x += j == 0 ? 0 : j < 5 ? v.x >> 7 * (j - 1) & 127 : v.y >> 7 * (j - 5) & 127;
                    component = (j < 4 ? v.z : v.w) >> 8 * (j % 4) & 255;
                } else {
                    x = r * PACKET_RANGE + (word & 0xffffff);
                }
                bool has = component && passes(filters, filter.x, filter.y, x);
                for (uint t = 1; t < query.y && has; t++)
                    has = may_have(bits, terms[2 * t + 1], x);
                if (has)
                    put_found(counts, found, capacity, q, x, 0);
            }
        }
}
