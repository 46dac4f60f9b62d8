// conjoin: scores of the documents of ranked AND queries, by ranges of documents.
//
// Computes  what accumulate (rank.cl) computes, for the documents that all lists of a
//           query have.
// Source    Ding et al. 2009, section 8.2: the documents of the shortest list, looked
//           up in the longer ones; frequencies by random access, of matches alone.
// Batch     see posting.cl.
// State     as in rank.cl.
// Phases    a work-item takes a posting of the shortest list: (1) it is searched in one
//           list after the other, in the part that its range of 2^bits documents has
//           there; (2) of a match the positions are searched again, for frequencies.
// Launch    a group of RANK_WG work-items (SCAN_SERIAL: of one) for each query and
//           `span` ranges of 2^bits documents: group g has query g % queries and the
//           ranges from range + g / queries * span on, up to `end`.
// Local     none.
// Bounds    any starts, docIDs and frequencies: parts of lists are clamped to the list.
#ifndef HEDDLE_POSTING
#include "posting.cl"
#endif

// part_of returns where range r of a term's list begins and ends in its docIDs.
static inline uint2 part_of(uint4 term, __global const uint *starts, uint r, uint end) {
    uint from = min(starts[term.x + r], term.z);
    return (uint2)(from, max(min(starts[term.x + end], term.z), from));
}

__kernel void conjoin(FREQUENCIES, __global const uint4 *batch, uint terms_at, uint queries_at, uint queries,
                      __global const uint *restrict docs, __global const uint *restrict starts,
                      __global const uint *lengths, uint narrow, uint first_doc, uint bits, uint range,
                      uint end, uint span, uint doc_count,
                      volatile __global uint *state, __global ulong *keys, uint capacity) {
    uint g = get_group_id(0), q = g % queries, r = range + g / queries * span;
    uint4 query = batch[queries_at + q], norm = batch[0];
    uint theta = state[THETA_OF(q)], loads = 0;
    __global const uint4 *terms = batch + terms_at + 2 * query.x;
    uint4 shortest = terms[0];
    uint2 mine = part_of(shortest, starts, r, min(r + span, end));
    for (uint i = mine.x + get_local_id(0); i < mine.y; i += RANK_WG) {
        uint x = docs[(size_t)shortest.y * 4 + i], of = (x - first_doc) >> bits;
        if (x < first_doc || of >= end || x >= doc_count)
            continue; // of a list that is corrupt
        bool all = true;
        for (uint t = 1; t < query.y && all; t++) {
            uint4 term = terms[2 * t];
            uint2 part = part_of(term, starts, of, of + 1);
            __global const uint *doc = docs + (size_t)term.y * 4;
            uint at = lower_bound(doc, part.x, part.y, x, &loads);
            all = at < part.y && doc[at] == x;
        }
        if (!all)
            continue;
        uint length = norm.w ? 0 : length_of(lengths, narrow, x), score = 0;
        for (uint t = 0; t < query.y; t++) {
            uint4 term = terms[2 * t];
            uint at = i, l = terms[2 * t + 1].x;
            if (t > 0) {
                uint2 part = part_of(term, starts, of, of + 1);
                at = lower_bound(docs + (size_t)term.y * 4, part.x, part.y, x, &loads);
            }
            uint4 record = batch[LIST_RECORD(l)], place = batch[LIST_RECORD(l) + 2];
            uint f = frequency_at(frequency_words(FREQUENCY_ARGS, place), place.y, record.y,
                                  min(batch[LIST_RECORD(l) + 1].x + at, record.y - 1));
            score += contribution(term.w, share_of(norm, f, length));
        }
        if (score > theta)
            put_key(keys, capacity, q, atomic_inc(&state[COUNT_OF(q)]), score, x);
    }
}
