// rank_and: scores of the documents of ranked AND queries, by ranges of documents.
//
// Computes  the results of accumulate (rank.cl), for the documents that all lists of a
//           query and its filter have.
// Source    Ding et al. 2009, section 8.2: the documents of the shortest list, looked
//           up in the longer ones; frequencies by random access, of matches alone.
// Batch     see posting.cl.
// State     as in rank.cl.
//           Of a list in which few documents are looked up only the segments that they hit
//           are decoded, section 8.1: the words of its term are {0, 0, 0, weight}, {list, weights
//           behind it, 1 | words of its bitset << 1, place of its bitset}.
// Phases    a work-item takes a posting of the shortest list: (1) the filter and the lists with
//           bitsets are asked for the document. Then one list after the other: (2) it is searched in the
//           part that its range of 2^log_range documents has there; (3) its contribution is added.
//           It gives up where the weights of the lists to come cannot lift it above the
//           threshold.
// Launch    a group of RANK_WG work-items (SCAN_SERIAL: of one) for each query and
//           range of a pass: group g has query g % queries and range `first_range` +
//           g / queries, or `every` times that if `only`.
// Local     none.
// Bounds    any starts, docIDs and frequencies: parts of lists are clamped to the list.
#ifndef HEDDLE_SEEK
#include "seek.cl"
#endif

__kernel void rank_and(ARENA, FREQUENCIES, __global const uint4 *batch, uint terms_at, uint queries_at, uint queries,
                      __global const uint *restrict docs, __global const uint *restrict starts, uint first_doc,
                      __global const uint *lengths, uint narrow, __global const uint *restrict bits, uint log_range,
                      uint first_range, uint every, uint only, uint doc_count, volatile __global uint *state, __global ulong *keys, uint capacity) {
    uint g = GROUP_ID(0), q = g % queries, r = first_range + g / queries * (only ? every : 1), loads = 0;
    if (!of_pass(r, every, only))
        return;
    uint4 query = batch[queries_at + q], norm = batch[0];
    uint2 theta = (uint2)(state[THETA_OF(q)], state[THETA_OF(q) + 1]);
    uint base = first_doc + (r << log_range);
    uint limit = min(doc_count - base, 1u << log_range);
    __global const uint4 *terms = batch + terms_at + 2 * query.x;
    uint4 shortest = terms[0];
    uint first = min(starts[shortest.x + r], shortest.z), end = min(starts[shortest.x + r + 1], shortest.z);
    for (uint i = first + get_local_id(0); i < end; i += RANK_WG) {
        uint x = docs[(size_t)shortest.y * 4 + i];
        if (x - base >= limit)
            continue; // the list is corrupt
        if (!passes(arena_at(ARENA_ARGS, FILTER_ARENA, 0), query.z, query.w, x))
            continue;
        uint asked = 1;
        while (asked < query.y && may_have(bits, terms[2 * asked + 1], x))
            asked++;
        if (asked < query.y)
            continue;
        uint length = norm.w ? 0 : length_of(lengths, narrow, x), score = 0, at = i, t = 0;
        for (;;) {
            uint4 term = terms[2 * t], more = terms[2 * t + 1];
            uint4 record = batch[LIST_RECORD(more.x)], part = batch[LIST_RECORD(more.x) + 1];
            uint4 place = batch[LIST_RECORD(more.x) + 2];
            uint f = frequency_at(frequency_words(FREQUENCY_ARGS, place), place.y, record.y, min(part.x + at, record.y - 1));
            score += contribution(term.w, tf_of(norm, f, length));
            if (++t == query.y || score + more.y < theta.x)
                break;
            term = terms[2 * t];
            more = terms[2 * t + 1];
            if (more.z & 1) {
                record = batch[LIST_RECORD(more.x)];
                if (!seek(list_words(ARENA_ARGS, record), record, 0, 0xffffffff, x, &at))
                    break;
                continue;
            }
            uint to = min(starts[term.x + r + 1], term.z);
            __global const uint *doc = docs + (size_t)term.y * 4;
            at = lower_bound(doc, min(starts[term.x + r], to), to, x, &loads);
            if (at == to || doc[at] != x)
                break;
        }
        // It has not come to the end if it was given up, or a list has not the document.
        if (t == query.y && is_better(score, x, theta))
            put_key(keys, capacity, q, atomic_inc(&state[COUNT_OF(q)]), score, x);
    }
}
