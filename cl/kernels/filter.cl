// filter_list: completes a set of documents that restricts queries.
//
// Computes  from the bits of a set, the number of documents of each of its spans of words, and the number of all, at
//           word total_at of `totals`: zeros from the word behind the last document on, and the documents,
//           ascending, unless there are more than `room`.
// Source    scan and compaction by counts, as in compact.cl.
// Region    in units of four words of the shared buffer: bits of `padded` words at `at`, counts of spans at
//           counts_at, docIDs at docs_at. See cl/internal/filter.
// Phases    a group takes `each` spans of `span` words: (1) sum over the spans before; (2) each work-item counts its
//           part of the words, and a scan gives their places; (3) docIDs.
// Launch    up to 1024 groups of FILTER_WG work-items (SCAN_SERIAL: of one).
// Local     a word and one per work-item.
// Host      bits behind `words` need no value.
// Bounds    stores are bounded by padded and room, if the counts are right.
#ifndef HEDDLE_COMMON
#include "common.cl"
#endif
#if SCAN_SERIAL
#define FILTER_WG 1
#define FILTER_SYNC
#define FILTER_GROUP
#define FILTER_ADD(p, v) (*(p) += (v))
#else
#define FILTER_WG 128
#define FILTER_SYNC barrier(CLK_LOCAL_MEM_FENCE)
#define FILTER_GROUP __attribute__((reqd_work_group_size(FILTER_WG, 1, 1)))
#define FILTER_ADD(p, v) atomic_add(p, v)
#endif

FILTER_GROUP
__kernel void filter_list(__global uint *region, __global const uint *totals, uint at, uint words, uint padded,
                          uint span, uint each, uint counts_at, uint docs_at, uint room, uint total_at) {
    __local uint before, ends[FILTER_WG];
    uint lid = get_local_id(0), g = GROUP_ID(0);
    __global const uint *counts = region + (size_t)counts_at * 4;
    __global uint *bits = region + (size_t)at * 4, *docs = region + (size_t)docs_at * 4;
    if (g == 0)
        for (uint i = words + lid; i < padded; i += FILTER_WG)
            bits[i] = 0;
    if (totals[total_at] <= room) { // in all work-items
        uint own = 0, n = 0, from = g * each * span, share = (each * span + FILTER_WG - 1) / FILTER_WG;
        uint first = from + lid * share, end = min(min(first + share, from + each * span), words);
        if (lid == 0)
            before = 0;
        FILTER_SYNC;
        for (uint i = lid; i < g * each; i += FILTER_WG)
            own += counts[i];
        if (own)
            FILTER_ADD(&before, own);
        for (uint i = first; i < end; i++)
            n += popcount(bits[i]);
        ends[lid] = n;
        FILTER_SYNC;
        for (uint d = 1; d < FILTER_WG; d *= 2) {
            uint more = lid >= d ? ends[lid - d] : 0;
            FILTER_SYNC;
            ends[lid] += more;
            FILTER_SYNC;
        }
        uint next = before + ends[lid] - n;
        for (uint i = first; i < end; i++)
            for (uint word = bits[i]; word; word &= word - 1)
                docs[next++] = i * 32 + 31 - clz(word & -word);
    }
}
