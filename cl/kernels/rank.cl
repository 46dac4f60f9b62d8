// accumulate: scores of the documents of ranked OR queries, by ranges of documents.
//
// Computes  for each query of a round and each range of a pass the scores of its
//           documents, and appends to keys[q*capacity ...] the key of each whose score
//           is above the query's threshold: score << 32 | ~document.
// Source    Ding et al. 2009, section 8: a group owns a range of documents, and all
//           lists of the query pass by; so no score is written but those that count.
// Batch     see posting.cl.
// State     uint4 a query (select.cl): THETA, the score that a document must pass, is
//           read, COUNT goes up by the documents that do, also by those for which
//           there is no place any more.
// Phases    (1) the range in up to RANK_PAGE lists at once; (2) the postings of all of
//           them, one after the other, are shared out among the work-items, so that
//           short lists do not leave most of a group idle; each adds its contribution;
//           (3) documents that passed the threshold were noted on the way, unless they
//           are many or there is none: then all are looked through.
//           SCAN_SERIAL: list by list, then all documents.
// Launch    a group of RANK_WG work-items (SCAN_SERIAL: of one) for each query and
//           range: group g has query g % queries and range `range` + g / queries, so
//           that groups at work at a time share what they read.
// Local     RANK_RANGE + 3*RANK_PAGE + RANK_NOTES + 4 words.
// Bounds    any starts, docIDs and shares: parts of lists are clamped to the list and
//           to RANK_RANGE, documents outside of the range are passed over.
#ifndef HEDDLE_POSTING
#include "posting.cl"
#endif

#define RANK_PAGE 128      // lists that are looked up together
#define RANK_NOTES RANK_WG // documents that passed the threshold, noted at most
#define RANK_ROWS 4        // postings of a work-item that are loaded together

#if !SCAN_SERIAL
__attribute__((reqd_work_group_size(RANK_WG, 1, 1)))
#endif
__kernel void accumulate(__global const uint4 *batch, uint terms_at, uint queries_at, uint queries,
                         __global const uint *restrict docs, __global const uint *restrict shares,
                         __global const uint *restrict starts, uint first_doc, uint range, uint doc_count,
                         volatile __global uint *state, __global ulong *keys, uint capacity) {
    __local uint acc[RANK_RANGE];
    uint g = get_group_id(0);
    uint q = g % queries, r = range + g / queries;
    uint4 query = batch[queries_at + q];
    uint theta = state[THETA_OF(q)], base = first_doc + r * RANK_RANGE;
    uint limit = min(doc_count - base, (uint)RANK_RANGE);
#if SCAN_SERIAL
    bool any = false;
    for (uint t = 0; t < query.y && !any; t++) {
        uint4 term = batch[terms_at + 2 * (query.x + t)];
        any = min(starts[term.x + r], term.z) < min(starts[term.x + r + 1], term.z);
    }
    if (!any)
        return; // there is no barrier to miss
    for (uint x = 0; x < RANK_RANGE; x++)
        acc[x] = 0;
    for (uint t = 0; t < query.y; t++) {
        uint4 term = batch[terms_at + 2 * (query.x + t)];
        uint i = min(starts[term.x + r], term.z), end = min(starts[term.x + r + 1], term.z);
        __global const uint *doc = docs + (size_t)term.y * 4, *share = shares + (size_t)term.y * 4;
        for (; i < end; i++) {
            uint x = doc[i] - base;
            if (x < limit)
                acc[x] += contribution(term.w, share[i]);
        }
    }
    for (uint x = 0; x < limit; x++)
        if (acc[x] > theta)
            put_key(keys, capacity, q, atomic_inc(&state[COUNT_OF(q)]), acc[x], base + x);
#else
    __local uint at[RANK_PAGE], ends[RANK_PAGE], weights[RANK_PAGE], noted[RANK_NOTES];
    __local uint notes, total, place;
    uint lid = get_local_id(0);
    for (uint x = lid; x < RANK_RANGE / 4; x += RANK_WG)
        vstore4((uint4)0, x, acc);
    if (lid == 0) {
        notes = 0;
        total = 0;
    }
    uint any = 0;
    for (uint page = 0; page < query.y; page += RANK_PAGE) {
        uint n = min(query.y - page, (uint)RANK_PAGE);
        barrier(CLK_LOCAL_MEM_FENCE); // the page before is done with
        for (uint t = lid; t < n; t += RANK_WG) {
            uint4 term = batch[terms_at + 2 * (query.x + page + t)];
            uint from = min(starts[term.x + r], term.z), end = min(starts[term.x + r + 1], term.z);
            at[t] = term.y * 4 + from;
            ends[t] = end > from ? min(end - from, (uint)RANK_RANGE) : 0;
            weights[t] = term.w;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        // Where the postings of a list end among those of all: each work-item needs
        // the next one's, later the next but one's, and so on.
        uint t = 0, begin = 0, elements = 0;
        for (uint k = 0; k < n; k++)
            elements += ends[k];
        any += elements;
        uint end = ends[0], off = at[0], w = weights[0];
        for (uint i = lid; i < elements; i += RANK_ROWS * RANK_WG) {
            uint x[RANK_ROWS], s[RANK_ROWS], c[RANK_ROWS];
            #pragma unroll
            for (uint k = 0; k < RANK_ROWS; k++) {
                uint j = i + k * RANK_WG;
                x[k] = 0xffffffff;
                if (j < elements) {
                    while (j >= end) {
                        t++;
                        begin = end;
                        end += ends[t];
                        off = at[t] - begin;
                        w = weights[t];
                    }
                    x[k] = docs[off + j] - base;
                    s[k] = shares[off + j];
                    c[k] = w;
                }
            }
            #pragma unroll
            for (uint k = 0; k < RANK_ROWS; k++) {
                if (x[k] < limit) {
                    uint more = contribution(c[k], s[k]), old = atomic_add(&acc[x[k]], more);
                    if (theta && old <= theta && old + more > theta) {
                        uint m = atomic_inc(&notes);
                        if (m < RANK_NOTES)
                            noted[m] = x[k];
                    }
                }
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    bool scan = theta == 0 || notes > RANK_NOTES;
    uint mine = 0, put;
    if (!scan) {
        mine = lid < notes;
    } else if (any) {
        for (uint x = lid; x < limit; x += RANK_WG)
            mine += acc[x] > theta;
    }
    put = mine ? atomic_add(&total, mine) : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid == 0 && total)
        place = atomic_add(&state[COUNT_OF(q)], total);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (mine) {
        put += place;
        if (scan) {
            for (uint x = lid; x < limit; x += RANK_WG)
                if (acc[x] > theta)
                    put_key(keys, capacity, q, put++, acc[x], base + x);
        } else {
            uint x = noted[lid];
            put_key(keys, capacity, q, put, acc[x], base + x);
        }
    }
#endif
}
