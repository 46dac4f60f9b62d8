// accumulate: scores of the documents of ranked OR queries, by ranges of documents.
//
// Computes  for each query of a round and each range of a pass the scores of its
//           documents, and appends to keys[q*capacity ...] the key of each that is
//           greater than the query's threshold and that its filter has: score << 32 | ~document.
// Source    Ding et al. 2009, section 8: a group owns a range of documents, and all
//           lists of the query pass by; so only scores that count are written.
// Batch     see posting.cl.
// State     uint4 a query (select.cl): THETA, the key that candidates must exceed, is
//           read, COUNT goes up by the candidates, also by the ones without a
//           place.
// Phases    (1) where the ranges of the group lie in up to RANK_PAGE lists;
//           then range by range (2) the postings of the lists, one after the other, are
//           divided among the work-items, so that short lists do not leave most of a
//           group idle; each adds its contribution; (3) documents that came to the
//           threshold are candidates, unless they are many or there is none: then
//           all are scanned. SCAN_SERIAL: list by list, then all documents.
// Launch    a group of RANK_WG work-items (SCAN_SERIAL: of one) for each query and
//           range, or `span` of them, at most RANK_SPAN: group g has query g % queries
//           and the ranges from `first_range` + g / queries * span on, so that groups at work
//           at a time read the same words; with `only`, range `first_range` + g / queries *
//           every.
// Local     RANK_RANGE + RANK_PAGE*(3 + RANK_SPAN) + RANK_CANDIDATES + 1 words.
// Bounds    any starts, docIDs and components: parts of lists are clamped to the list,
//           documents outside of the range are passed over.
#ifndef HEDDLE_POSTING
#include "posting.cl"
#endif

#define RANK_PAGE 64   // lists that are looked up together
#define RANK_CANDIDATES 128 // candidates of a range that are remembered: documents that came to the threshold
#define RANK_ROWS 4    // postings of a work-item that are loaded together
#ifndef RANK_SPAN // the host sets it
#define RANK_SPAN 8 // ranges of a group at most
#endif

#define RESULTS volatile __global uint *state, __global ulong *keys, uint capacity

// PUTS tells whether document x of a range is appended.
#define PUTS(x) (acc[x] >= max(theta.x, 1u) && is_better(acc[x], base + (x), theta) && passes(filters, query.z, query.w, base + (x)))

// put_better appends the documents of a range whose keys are greater than theta, as far as the
// filter of the query has them.
static inline void put_better(__local const uint *acc, uint limit, uint base, uint2 theta, uint q, uint4 query,
                              __global const uint *filters, RESULTS) {
    uint mine = 0;
    for (uint x = get_local_id(0); x < limit; x += RANK_WG)
        mine += PUTS(x);
    uint to = mine ? atomic_add(&state[COUNT_OF(q)], mine) : 0;
    for (uint x = get_local_id(0); mine && x < limit; x += RANK_WG)
        if (PUTS(x))
            put_key(keys, capacity, q, to++, acc[x], base + x);
}

#define ACCUMULATE_ARGUMENTS                                                                        \
    __global const uint4 *batch, uint terms_at, uint queries_at, uint queries,                      \
        __global const uint *restrict docs, __global const uint *restrict starts, uint first_doc,   \
        __global const uint *restrict components, uint first_range, uint end_range, uint span, uint every,    \
        uint only, uint doc_count, __global const uint *restrict filters, RESULTS

#if SCAN_SERIAL

__kernel void accumulate(ACCUMULATE_ARGUMENTS) {
    __local uint acc[RANK_RANGE];
    uint g = GROUP_ID(0), q = g % queries, r = first_range + g / queries * (only ? every : span);
    uint4 query = batch[queries_at + q];
    uint2 theta = (uint2)(state[THETA_OF(q)], state[THETA_OF(q) + 1]);
    for (uint last = min(r + span, end_range); r < last; r++) {
        uint base = first_doc + r * RANK_RANGE, limit = min(doc_count - base, (uint)RANK_RANGE);
        bool any = false;
        for (uint t = 0; t < query.y && !any && of_pass(r, every, only); t++) {
            uint4 term = batch[terms_at + 2 * (query.x + t)];
            any = min(starts[term.x + r], term.z) < min(starts[term.x + r + 1], term.z);
        }
        if (!any)
            continue;
        for (uint x = 0; x < RANK_RANGE; x++)
            acc[x] = 0;
        for (uint t = 0; t < query.y; t++) {
            uint4 term = batch[terms_at + 2 * (query.x + t)];
            uint i = min(starts[term.x + r], term.z), end = min(starts[term.x + r + 1], term.z);
            __global const uint *doc = docs + (size_t)term.y * 4, *share = components + (size_t)term.y * 4;
            for (; i < end; i++) {
                uint x = doc[i] - base;
                if (x < limit)
                    acc[x] += contribution(term.w, share[i]);
            }
        }
        put_better(acc, limit, base, theta, q, query, filters, state, keys, capacity);
    }
}

#else

// BEGIN_OF is where range r of the group begins in list t of the page, LENGTH_OF how
// many postings it has.
#define BEGIN_OF(t, r) begins[(t) * (RANK_SPAN + 1) + (r)]
#define LENGTH_OF(t, r) (max(BEGIN_OF(t, (r) + 1), BEGIN_OF(t, r)) - BEGIN_OF(t, r))

__attribute__((reqd_work_group_size(RANK_WG, 1, 1)))
__kernel void accumulate(ACCUMULATE_ARGUMENTS) {
    __local uint acc[RANK_RANGE];
    __local uint at[RANK_PAGE], weights[RANK_PAGE], begins[RANK_PAGE * (RANK_SPAN + 1)], candidates[RANK_CANDIDATES];
    __local uint notes;
    uint lid = get_local_id(0), g = GROUP_ID(0), q = g % queries, first = first_range + g / queries * (only ? every : span);
    uint4 query = batch[queries_at + q];
    uint2 theta = (uint2)(state[THETA_OF(q)], state[THETA_OF(q) + 1]);
    span = min(span, min(end_range - first, (uint)RANK_SPAN));
    for (uint x = lid; x < RANK_RANGE / 4; x += RANK_WG)
        vstore4((uint4)0, x, acc);
    if (lid == 0)
        notes = 0;
    for (uint r = 0; r < span; r++) {
        uint base = first_doc + (first + r) * RANK_RANGE, limit = min(doc_count - base, (uint)RANK_RANGE);
        uint any = 0;
        for (uint page = 0; page < query.y; page += RANK_PAGE) {
            uint n = min(query.y - page, (uint)RANK_PAGE);
            barrier(CLK_LOCAL_MEM_FENCE); // the page before is done with, and sums are 0
            if (r == 0 || query.y > RANK_PAGE)
                for (uint i = lid; i < n * (span + 1); i += RANK_WG) {
                    uint t = i / (span + 1), k = i % (span + 1);
                    uint4 term = batch[terms_at + 2 * (query.x + page + t)];
                    BEGIN_OF(t, k) = min(starts[term.x + first + k], term.z);
                    if (k == 0) {
                        at[t] = term.y * 4;
                        weights[t] = term.w;
                    }
                }
            barrier(CLK_LOCAL_MEM_FENCE);
            // The end of a list's postings among all postings: each work-item needs
            // the next one's, later the next but one's, and so on.
            uint elements = 0;
            for (uint t = 0; t < n && of_pass(first + r, every, only); t++)
                elements += LENGTH_OF(t, r);
            any += elements;
            uint t = 0, begin = 0, end = LENGTH_OF(0, r), off = at[0] + BEGIN_OF(0, r), w = weights[0];
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
                            end += LENGTH_OF(t, r);
                            off = at[t] + BEGIN_OF(t, r) - begin;
                            w = weights[t];
                        }
                        x[k] = docs[off + j] - base;
                        s[k] = components[off + j];
                        c[k] = w;
                    }
                }
                #pragma unroll
                for (uint k = 0; k < RANK_ROWS; k++) {
                    if (x[k] < limit) {
                        uint more = contribution(c[k], s[k]), old = atomic_add(&acc[x[k]], more);
                        if (theta.x && old < theta.x && old + more >= theta.x && passes(filters, query.z, query.w, base + x[k])) {
                            uint m = atomic_inc(&notes);
                            if (m < RANK_CANDIDATES)
                                candidates[m] = x[k];
                        }
                    }
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint passed = notes;
        if (theta.x && passed <= RANK_CANDIDATES) {
            for (uint m = lid; m < passed; m += RANK_WG) {
                uint x = candidates[m];
                if (is_better(acc[x], base + x, theta))
                    put_key(keys, capacity, q, atomic_inc(&state[COUNT_OF(q)]), acc[x], base + x);
            }
        } else if (any) {
            put_better(acc, limit, base, theta, q, query, filters, state, keys, capacity);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint x = lid; any && x < RANK_RANGE / 4; x += RANK_WG)
            vstore4((uint4)0, x, acc);
        if (lid == 0)
            notes = 0;
    }
}

#endif
