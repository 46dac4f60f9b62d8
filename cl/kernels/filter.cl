// filter_count, filter_list: sets of documents that restrict queries.
//
// Computes  of the bits of a set: filter_count: the documents that the set at with_at has, too (the
//           set itself: all), zeros from the word behind the last document on, and the documents of
//           each of the groups. filter_list: the documents, ascending, unless there are more than
//           `room`, and their number at word total_at of `counted` (NO_TOTAL: no number).
// Source    scan and compaction by counts of groups, as in compact.cl.
// Region    in units of four words of the shared buffer: bits of `padded` words at `at`, counts at
//           counts_at, docIDs at docs_at. See cl/internal/filter.
// Phases    a group takes `span` words, a multiple of FILTER_WG. filter_list: (1) sum over the
//           groups before, and over all; (2) each work-item counts its span / FILTER_WG words, and a scan
//           gives their places; (3) docIDs.
// Launch    up to 1024 groups of FILTER_WG work-items (SCAN_SERIAL: of one).
// Local     2 words and one per work-item.
// Host      bits behind `words` need no value; padded covers the spans of all groups but the last.
// Bounds    stores are bounded by padded and room.
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

#define NO_TOTAL 0xffffffff

FILTER_GROUP
__kernel void filter_count(__global uint *region, uint at, uint with_at, uint words, uint padded, uint span, uint counts_at) {
    __local uint total;
    uint lid = get_local_id(0), g = get_group_id(0), n = 0;
    __global uint *bits = region + (size_t)at * 4, *with = region + (size_t)with_at * 4;
    if (lid == 0)
        total = 0;
    FILTER_SYNC;
    for (uint i = g * span + lid; i < min((g + 1) * span, padded); i += FILTER_WG) {
        if (i >= words) {
            bits[i] = 0;
            continue;
        }
        uint own = bits[i], both = own & with[i];
        n += popcount(both);
        if (both != own)
            bits[i] = both;
    }
    if (n)
        FILTER_ADD(&total, n);
    FILTER_SYNC;
    if (lid == 0)
        region[(size_t)counts_at * 4 + g] = total;
}

FILTER_GROUP
__kernel void filter_list(__global uint *region, uint at, uint padded, uint span, uint counts_at, uint docs_at, uint room,
                        __global uint *counted, uint total_at) {
    __local uint before, total, ends[FILTER_WG];
    uint lid = get_local_id(0), g = get_group_id(0), own = 0, all = 0;
    __global const uint *bits = region + (size_t)at * 4, *counts = region + (size_t)counts_at * 4;
    __global uint *docs = region + (size_t)docs_at * 4;
    if (lid == 0)
        before = total = 0;
    FILTER_SYNC;
    for (uint i = lid; i < get_num_groups(0); i += FILTER_WG) {
        all += counts[i];
        own += i < g ? counts[i] : 0;
    }
    if (all)
        FILTER_ADD(&total, all);
    if (own)
        FILTER_ADD(&before, own);
    FILTER_SYNC;
    if (g == 0 && lid == 0 && total_at != NO_TOTAL)
        counted[total_at] = total;
    if (total <= room) { // in all work-items
        uint each = span / FILTER_WG, first = g * span + lid * each, end = min(first + each, padded), n = 0;
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
