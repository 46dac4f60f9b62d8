// count_codes: the numbers of selected rows by their codes in some columns, or by bins of codes.
//
// Computes  counts[place + n + 1] goes up by the selected rows with code n, counts[place] by
//           those without a value, and counts[place + top + 2] by those whose code is above
//           the last one, for each column. The counts are zero before. With bounds, n is the
//           number of bounds that are not above the code.
// Source    none.
// Batch     one upload of uint4: four a column, {offset of its packed values in units of four words,
//           words, arena buffer, top: the greatest n}, {place, the rows without a value as bits: where
//           they begin in units of four words of the buffer of filters, words of them, where the
//           bounds begin in pairs of words}, {the same of the upper halves of values: offset, words,
//           buffer, 0; no words: all are 0}, {last code: lower and upper half, bounds: their number,
//           1 with bounds}; bounds of two words each; counts, which lie at their places in words of
//           the upload; from bits_at on the rows as bits.
// Phases    (1) local counts are cleared; (2) each work-item takes every FACET_WG-th word of bits and
//           counts its rows, in local memory if the counts fit, else in global memory; (3) local
//           counts are added to the global ones.
// Launch    groups of FACET_WG work-items (SCAN_SERIAL: of one): group g has column g % columns and
//           `span` words of bits.
// Local     4*FACET_COUNTS bytes.
// Bounds    any bits below row_count and any packed values: see packed_at.
#ifndef HEDDLE_POSTING
#include "posting.cl"
#endif
#define FACET_COUNTS 4096 // of a column that fit local memory
#if SCAN_SERIAL
#define FACET_WG 1
#define FACET_SYNC
#define FACET_GROUP
#define FACET_ADD(p, v) (*(p) += (v))
#else
#define FACET_WG 256
#define FACET_SYNC barrier(CLK_LOCAL_MEM_FENCE)
#define FACET_GROUP __attribute__((reqd_work_group_size(FACET_WG, 1, 1)))
#define FACET_ADD(p, v) atomic_add(p, v)
#endif

// bin_of returns the number of n ascending bounds that are not above a code.
static inline uint bin_of(__global const ulong *bounds, uint n, ulong code) {
    uint lo = 0, hi = n;
    while (lo < hi) {
        uint mid = lo + (hi - lo) / 2;
        if (bounds[mid] <= code)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

FACET_GROUP
__kernel void count_codes(ARENA, __global const uint4 *batch, uint columns, uint bits_at, uint words, uint span, uint row_count,
                          __global const uint *restrict filters, volatile __global uint *counts) {
    __local uint own[FACET_COUNTS];
    uint lid = get_local_id(0), g = get_group_id(0), c = g % columns, first = g / columns * span;
    uint4 values = batch[4 * c], more = batch[4 * c + 1], upper = batch[4 * c + 2], limit = batch[4 * c + 3];
    __global const ulong *bounds = (__global const ulong *)batch + more.w;
    ulong last = (ulong)limit.y << 32 | limit.x;
    __global const uint *bits = (__global const uint *)(batch + bits_at);
    words_t packed = arena_at(ARENA_ARGS, values.z, values.x), high = arena_at(ARENA_ARGS, upper.z, upper.x);
    volatile __global uint *all = counts + more.x;
    uint places = values.w + 3;
    bool fits = places <= FACET_COUNTS;
    for (uint i = lid; i < places && fits; i += FACET_WG)
        own[i] = 0;
    FACET_SYNC;
    for (uint w = first + lid; w < min(first + span, words); w += FACET_WG) {
        for (uint rest = bits[w]; rest; rest &= rest - 1) {
            uint row = w * 32 + 31 - clz(rest & -rest), place = 0;
            if (more.z == 0 || !passes(filters, more.y, more.z, row)) {
                ulong code = packed_at(packed, values.y, row_count, row);
                if (upper.y)
                    code |= (ulong)packed_at(high, upper.y, row_count, row) << 32;
                if (code > last)
                    place = values.w + 2;
                else
                    place = (limit.w ? bin_of(bounds, limit.z, code) : (uint)code) + 1;
            }
            if (fits)
                FACET_ADD(&own[place], 1);
            else
                atomic_inc(&all[place]);
        }
    }
    FACET_SYNC;
    for (uint i = lid; i < places && fits; i += FACET_WG)
        if (own[i])
            atomic_add(&all[i], own[i]);
}
