// coarse_complete: the exact scores of the documents that coarse.cl found.
//
// Computes  for each docID at found[q * most ...], pairs of a docID and its sum of bounds,
//           whose sum comes to the least one, its score by all lists of the query.
//           Where it comes to the threshold, its key is appended to keys[q * capacity ...], with
//           `all` if all lists have the document.
//           A query with more than `most` documents found gets LOST as its COUNT.
// Source    Ding et al. 2009, sections 8.1 and 8.2: segments that are hit are decoded,
//           frequencies by random access.
// Batch     see coarse.cl.
// Packets   see packets.cl: the first posting of each range.
// State     see select.cl: THETA and behind it the least sum are read, COUNT goes up by the keys.
// Phases    TEAM work-items take a document: (1) each takes a list, and every TEAM-th one
//           after it; (2) their sum is compared.
// Launch    `groups` groups of COMPLETE_WG work-items (SCAN_SERIAL: of one) a query.
// Local     8 * COMPLETE_WG / TEAM bytes.
// Bounds    any docIDs, lists and frequencies: loads are clamped to the lists.
#ifndef HEDDLE_SEEK
#include "seek.cl"
#endif
#if SCAN_SERIAL
#define COMPLETE_WG 1
#define TEAM 1
#define COMPLETE_SYNC
#define ADD_SCORE(p, v) (*(p) += (v))
#else
#define COMPLETE_WG 64
#define TEAM 4
#define COMPLETE_SYNC barrier(CLK_LOCAL_MEM_FENCE)
#define ADD_SCORE(p, v) atomic_add(p, v)
#endif
#ifndef PACKET_RANGE
#define PACKET_RANGE 8192
#endif
#define COMPLETE_DOCS (COMPLETE_WG / TEAM) // of a group at a time
#define COMPLETE_LOST 0x80000000u          // LOST in select.cl

#if !SCAN_SERIAL
__attribute__((reqd_work_group_size(COMPLETE_WG, 1, 1)))
#endif
__kernel void coarse_complete(ARENA, FREQUENCIES, __global const uint4 *restrict p0, __global const uint4 *restrict p1,
                              __global const uint4 *restrict p2, __global const uint4 *restrict p3, uint ranges,
                              __global const uint4 *batch, uint terms_at, uint queries_at, uint groups,
                              __global const uint *lengths, uint narrow, uint doc_count, __global const uint *counts,
                              __global const uint *restrict bits, __global const uint *found, uint most, volatile __global uint *state,
                              __global ulong *keys, uint capacity, uint k, uint all) {
    __local uint scores[COMPLETE_DOCS], absent[COMPLETE_DOCS]; // lists that have not the document
    uint lid = get_local_id(0), q = get_group_id(0) / groups, g = get_group_id(0) % groups;
    uint own = lid / TEAM, member = lid % TEAM;
    uint4 query = batch[queries_at + q], norm = batch[0];
    uint theta = max(state[THETA_OF(q)], 1u), least = state[THETA_OF(q) + 1], n = counts[q];
    if (n > most) {
        n = 0;
        for (uint i = lid; i < min(k, capacity) && g == 0; i += COMPLETE_WG)
            keys[(size_t)q * capacity + i] = 0;
        if (lid == 0 && g == 0)
            state[COUNT_OF(q)] = COMPLETE_LOST;
    }
    for (uint b = g * COMPLETE_DOCS; b < n; b += groups * COMPLETE_DOCS) {
        uint2 one = b + own < n ? vload2((size_t)q * most + b + own, found) : (uint2)(0, 0);
        uint x = b + own < n && one.y >= least ? one.x : doc_count;
        if (member == 0)
            scores[own] = absent[own] = 0;
        COMPLETE_SYNC;
        for (uint t = member; t < query.y && x < doc_count; t += TEAM) {
            uint4 packets = batch[terms_at + 2 * (query.x + t)], term = batch[terms_at + 2 * (query.x + t) + 1];
            if (!may_have(bits, term, x)) {
                ADD_SCORE(&absent[own], all);
                continue;
            }
            uint buffer = packets.y & 255, r = x / PACKET_RANGE;
            __global const uint *first =
                (__global const uint *)((buffer == 0 ? p0 : buffer == 1 ? p1 : buffer == 2 ? p2 : p3) + packets.x) + ranges + 1;
            uint4 record = batch[LIST_RECORD(term.x)], place = batch[LIST_RECORD(term.x) + 2];
            uint i;
            if (find(list_words(ARENA_ARGS, record), record, first[r], first[r + 1], x, &i)) {
                uint f = frequency_at(frequency_words(FREQUENCY_ARGS, place), place.y, record.y, min(i, record.y - 1));
                ADD_SCORE(&scores[own], contribution(term.y, tf_of(norm, f, norm.w ? 0 : length_of(lengths, narrow, x))));
            } else {
                ADD_SCORE(&absent[own], all);
            }
        }
        COMPLETE_SYNC;
        if (member == 0 && x < doc_count && scores[own] >= theta && absent[own] == 0)
            put_key(keys, capacity, q, atomic_inc(&state[COUNT_OF(q)]), scores[own], x);
        COMPLETE_SYNC;
    }
}
