// coarse_complete: the exact scores of the documents that coarse.cl found.
//
// Computes  for each docID at found[q * most ...], pairs of a docID and its sum of bounds,
//           whose sum comes to the least one, its score by all lists of the query.
//           Where it comes to the threshold, its key is appended to keys[q * capacity ...], with
//           `all` if all lists have the document, and COUNT goes up.
//           Unless k is 0, then the min(k, n) greatest of the n keys of a query, in descending order, behind
//           the states of the queries, at place q * k, and their number as its COUNT.
//           A query with more than `most` documents found, or `capacity` keys, gets LOST as its COUNT.
// Source    Ding et al. 2009, sections 8.1 and 8.2: segments that are hit are decoded,
//           frequencies by random access. A bitset, blocks (SCAN_SERIAL) or the packets of a range give
//           the index of a document without decoding: few loads depend on each other then.
// Batch     see coarse.cl.
// Packets   see packets.cl: the first posting of each range, and the packets of lists that are
//           not dense, with SCAN_SERIAL of all lists.
// Progress  see coarse.cl.
// State     see coarse.cl. Keys: see select.cl.
// Phases    TEAM work-items take a document: (1) each takes a list, and every TEAM-th one
//           after it; (2) their sum is compared. The last group of a query (3) takes the best keys.
// Launch    `groups` groups of COMPLETE_WG work-items (SCAN_SERIAL: of one) a query.
// Local     2.2 KiB.
// Host      k is at most BEST_KEYS.
// Bounds    any docIDs, lists and frequencies: loads are clamped to the lists.
#ifndef HEDDLE_SEEK
#include "seek.cl"
#endif
#ifndef HEDDLE_GREATEST
#include "greatest.cl"
#endif
#if SCAN_SERIAL
#define COMPLETE_WG 1
#define TEAM 1
#define ADD_SCORE(p, v) (*(p) += (v))
#else
#define COMPLETE_WG 64
#define TEAM 4
#define ADD_SCORE(p, v) atomic_add(p, v)
#endif
#ifndef HEDDLE_BLOCKS
#include "blocks.cl"
#endif
#define COMPLETE_DOCS (COMPLETE_WG / TEAM) // documents of a group at a time
#define COMPLETE_LOST 0x80000000u          // LOST in select.cl
#define BEST_KEYS 256                      // keys that are compared with each other at most

#define RANGE_ROWS (PACKET_RANGE / 128) // rows of a range: four words of a bitset each

#if !SCAN_SERIAL
// index_by_bits is the index of document x in a list with a bitset of `words` words, in range r with
// the postings first to end-1: the bits before x count from the nearer end of the range.
static inline uint index_by_bits(__global const uint *bits, uint words, uint r, uint first, uint end, uint x) {
    __global const uint4 *row = (__global const uint4 *)bits;
    uint from = r * RANGE_ROWS, to = min(from + RANGE_ROWS, words / 4), own = x / 128, n = 0;
    bool late = own - from >= RANGE_ROWS / 2;
    from = late ? own : from;
    to = late ? to : own;
    for (uint i = from; i < to; i += 8)
#pragma unroll
        for (uint k = 0; k < 8; k++) {
            uint4 some = popcount(row[min(i + k, to - 1)]);
            n += i + k < to ? some.x + some.y + some.z + some.w : 0;
        }
    n = late ? end - n : first + n;
    for (uint w = own * 4; w < x / 32; w++)
        n += popcount(bits[w]);
    return n + popcount(bits[x / 32] & ((1u << (x & 31)) - 1));
}
#endif

// index_by_packets tells whether one of n packets of a list that is not dense has a document, by its
// offset in the range, and returns its index among their postings.
static inline bool index_by_packets(__global const uint4 *p, uint n, uint offset, uint *index) {
    uint at = 0; // the last packet that begins at or before the offset
    for (uint step = n; step > 1;) {
        uint next = step / 2;
        at += (p[at + next].x & 0xffffff) <= offset ? next : 0;
        step -= next;
    }
    uint4 v = n ? p[at] : (uint4)0;
    uint4 is = as_uint4((v & 0xffffff) == offset & (v >> 24) != 0) & 1;
    *index = 4 * at + is.y + 2 * is.z + 3 * is.w;
    return is.x + is.y + is.z + is.w;
}

#if !SCAN_SERIAL
__attribute__((reqd_work_group_size(COMPLETE_WG, 1, 1)))
#endif
__kernel void coarse_complete(ARENA, FREQUENCIES, __global const uint4 *restrict p0,
                              __global const uint4 *restrict p1, __global const uint4 *restrict p2,
                              __global const uint4 *restrict p3, __global uint4 *batch, __global const uint *lengths,
                              __global const uint *restrict bits, __global const uint *found, state_t state,
                              state_t keys, uint ranges, uint terms_at, uint queries_at, uint queries, uint groups, uint doc_count,
                              uint most, uint capacity, uint k, uint narrow, uint all) {
    __local uint scores[COMPLETE_DOCS], absent[COMPLETE_DOCS]; // lists that have not the document
    __local ulong top[BEST_KEYS];
    __local uint box[1];
    uint lid = get_local_id(0), q = GROUP_ID(0) / groups, g = GROUP_ID(0) % groups;
    uint own = lid / TEAM, member = lid % TEAM;
    uint4 query = batch[COARSE_QUERY(q)], norm = batch[0];
    state_t progress = (state_t)batch;
    state_t own_keys = keys + 2 * (size_t)q * capacity;
    uint theta = max(state[HIGHER_OF(q)], 1u), sum_threshold = state[SUM_THRESHOLD_OF(q)], n = progress[PROGRESS_OF(q, FOUND)];
    if (n > most) {
        n = 0;
        if (lid == 0 && g == 0)
            atomic_xchg(&state[COUNT_OF(q)], COMPLETE_LOST);
    }
    for (uint b = g * COMPLETE_DOCS; b < n; b += groups * COMPLETE_DOCS) {
        uint2 one = b + own < n ? vload2((size_t)q * most + b + own, found) : (uint2)(0, 0);
        uint x = b + own < n && one.y >= sum_threshold ? one.x : doc_count;
        uint length = x < doc_count && !norm.w ? length_of(lengths, narrow, x) : 0; // early: it comes from memory
        if (member == 0)
            scores[own] = absent[own] = 0;
        GROUP_SYNC;
        for (uint t = member; t < query.y && x < doc_count; t += TEAM) {
            uint4 packets = batch[terms_at + 2 * (query.x + t)], term = batch[terms_at + 2 * (query.x + t) + 1];
            uint buffer = packets.y & 255, r = x / PACKET_RANGE, i = 0;
            __global const uint4 *own_packets = (buffer == 0 ? p0 : buffer == 1 ? p1 : buffer == 2 ? p2 : p3) + packets.x;
            __global const uint *heads = (__global const uint *)own_packets + r;
            uint first = heads[ranges + 1], end = heads[ranges + 2];
            uint4 record = batch[LIST_RECORD(term.x)], place = batch[LIST_RECORD(term.x) + 2];
            if (!may_have(bits, term, x)) {
                ADD_SCORE(&absent[own], all);
                continue;
            }
            bool has = true;
#if SCAN_SERIAL
            if (packets.y >> 8) {
                if ((has = index_by_blocks(own_packets + PACKET_HEADS(ranges) + heads[0], end - first, x % PACKET_RANGE, &i)))
                    i += first;
            }
#else
            if (term.z >> 1) // by may_have
                i = index_by_bits(bits + term.w, term.z >> 1, r, first, end, x);
            else if (packets.y >> 8)
                has = find(list_words(ARENA_ARGS, record), record, first, end, x, &i);
#endif
            else if ((has = index_by_packets(own_packets + PACKET_HEADS(ranges) + heads[0], heads[1] - heads[0], x % PACKET_RANGE, &i)))
                i += first;
            if (has) {
                uint f = frequency_at(frequency_words(FREQUENCY_ARGS, place), place.y, record.y, min(i, record.y - 1));
                ADD_SCORE(&scores[own], contribution(term.y, tf_of(norm, f, length)));
            } else {
                ADD_SCORE(&absent[own], all);
            }
        }
        GROUP_SYNC;
        if (member == 0 && x < doc_count && scores[own] >= theta && absent[own] == 0) {
            uint at = atomic_inc(&state[COUNT_OF(q)]);
            if (at < capacity) {
                PUBLISH(own_keys + 2 * at, ~x);
                PUBLISH(own_keys + 2 * at + 1, scores[own]);
            }
        }
        GROUP_SYNC;
    }
    if (k && group_last(progress + PROGRESS_OF(q, SCORED), groups, box)) {
        uint count = ASK(&state[COUNT_OF(q)]);
        n = count > capacity ? 0 : count;
        ulong least_key = n > BEST_KEYS ? greatest_of(own_keys, n, true, 2, k, COMPLETE_WG, (__local uint *)top) : 0;
        __global uint *best = (__global uint *)state + 4 * queries + 2 * (size_t)q * k;
        GROUP_SYNC; // all have read the box
        if (lid == 0)
            *box = 0;
        GROUP_SYNC;
        for (uint i = lid; i < n; i += COMPLETE_WG) {
            ulong key = key_at(own_keys + 2 * i);
            uint at = key >= least_key ? COUNT_ONE(box) : BEST_KEYS;
            if (at < BEST_KEYS)
                top[at] = key;
        }
        GROUP_SYNC;
        n = min(*box, (uint)BEST_KEYS);
        for (uint i = lid; i < n; i += COMPLETE_WG) {
            uint place = 0; // the number of greater keys
            for (uint j = 0; j < n; j++)
                place += top[j] > top[i];
            if (place < k)
                vstore2(as_uint2(top[i]), place, best);
        }
        if (lid == 0)
            atomic_xchg(&state[COUNT_OF(q)], count > capacity ? COMPLETE_LOST : min(n, k));
    }
}
