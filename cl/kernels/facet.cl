// count_codes: the numbers of selected rows by their codes in some columns, or by bins of codes.
//
// Computes  counts[place + n + 1] goes up by the selected rows with code n, counts[place] by
//           those without a value, and counts[place + top + 2] by those whose code is above
//           the last one, for each column. The counts are zero before. With bounds, n is the
//           number of bounds that are not above the code.
// Source    none.
// Batch     one upload of uint4: columns (column.cl; `own` is the place of their counts); bounds of two
//           words each; counts, which lie at their places in words of the upload; from bits_at on the
//           rows as bits.
// Phases    (1) local counts are cleared; (2) each work-item takes every FACET_WG-th word of bits and
//           turns its slices to codes and counts its rows, in local memory if the counts fit, else in global memory; (3) local
//           counts are added to the global ones.
// Launch    groups of FACET_WG work-items (SCAN_SERIAL: of one): group g has column g % columns and
//           `span` words of bits.
// Local     4*FACET_COUNTS bytes.
// Bounds    any bits below the last row; tiles as in slice.cl.
#ifndef HEDDLE_COLUMN
#include "column.cl"
#endif
#define FACET_COUNTS 4096 // counters of a column that fit local memory
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

FACET_GROUP
__kernel void count_codes(BUFFERS, __global const uint4 *restrict tiles, uint tile_count, __global const uint4 *batch,
                          volatile __global uint *counts, uint columns, uint bits_at, uint words, uint span) {
    __local uint own[FACET_COUNTS];
    uint lid = get_local_id(0), g = GROUP_ID(0), first = g / columns * span;
    __global const uint4 *record = batch + 3 * (g % columns);
    column_t c = column_of(record[0], record[1], record[2]);
    __global const uint *bits = (__global const uint *)(batch + bits_at);
    volatile __global uint *all = counts + c.own;
    uint places = c.top + 3, missing = 0;
    bool fits = places <= FACET_COUNTS;
    for (uint i = lid; i < places && fits; i += FACET_WG)
        own[i] = 0;
    FACET_SYNC;
    for (uint w = first + lid; w < min(first + span, words); w += FACET_WG) {
        uint set = bits[w];
        if (set == 0)
            continue;
        slices_t t = slices_of(BUFFER_ARGS, tiles, tile_count, c, w);
        uint has = with_value(t, w, set);
        missing += popcount(set & ~has);
        if (has == 0)
            continue;
        codes_t codes;
        codes_of(t, w % SLICE_WORDS, &codes);
        for (uint rest = has; rest; rest &= rest - 1) {
            uint place = number_of(batch, c, code_of(t, &codes, 31 - clz(rest & -rest)));
            if (fits)
                FACET_ADD(&own[place], 1);
            else
                atomic_inc(&all[place]);
        }
    }
    if (missing && fits)
        FACET_ADD(&own[0], missing);
    else if (missing)
        atomic_add(&all[0], missing);
    FACET_SYNC;
    for (uint i = lid; i < places && fits; i += FACET_WG)
        if (own[i])
            atomic_add(&all[i], own[i]);
}
