// select_count, select_keep: the first steps of a selection among many keys.
//
// Computes  select_count: the number of keys in each bin, added to bins. KEPT becomes 0.
//           select_keep: the keys at or above the boundary, at kept + q*SELECT_KEPT, as
//           many as there is room for, and their number in KEPT of the state.
// State     see select.cl.
// Source    radix selection, see select.cl: its first digit, by many groups a query.
// Phases    select_count: (1) bins of a group's keys in local memory; (2) their sum.
//           select_keep: (1) the boundary from the bins; (2) chunk by chunk, keys at or
//           above it move together.
// Launch    `groups` groups of SELECT_WG work-items a query (SCAN_SERIAL: of one).
// Local     4*BINS bytes, and in select_keep 16*SELECT_SUMS more.
// Host      see select.cl. Queries of at most SELECT_WIDE keys, or of k, have no work.
// Bounds    any counts and keys: all loops end, all stores are inside a query's part.
#ifndef HEDDLE_SELECT
#include "select.cl"
#endif

// wide_count is how many keys of query q there are for many groups.
static inline uint wide_count(__global const uint *state, uint q, uint capacity, uint k) {
    uint n = keys_of(state[4 * (size_t)q + COUNT], capacity, k);
    return is_wide(n, k) ? n : 0;
}

SELECT_GROUP
__kernel void select_count(__global const ulong *keys, __global uint *state, __global uint *bins, uint capacity,
                           uint k, uint groups) {
    __local uint digits[BINS], box[BOX];
    uint q = GROUP_ID(0) / groups, g = GROUP_ID(0) % groups, n = wide_count(state, q, capacity, k);
    clear_bins(digits, box);
    SELECT_SYNC;
    for (uint at = g * CHUNK; at < n; at += groups * CHUNK) {
        ulong key[SELECT_KEYS];
        read_chunk(keys + (size_t)q * capacity, n, at, key);
        for (uint r = 0; r < SELECT_KEYS; r++)
            if (key[r] >= FIRST_KEY)
                SELECT_ADD(&digits[bin_of(key[r], FIRST_KEY, 64 - DIGIT)], 1u);
    }
    SELECT_SYNC;
    if (get_local_id(0) == 0 && g == 0)
        state[4 * (size_t)q + KEPT] = 0;
    for (uint b = get_local_id(0); b < BINS; b += SELECT_WG)
        if (digits[b])
            atomic_add(bins + (size_t)q * BINS + b, digits[b]);
}

SELECT_GROUP
__kernel void select_keep(__global const ulong *keys, __global uint *state, __global const uint *bins, uint capacity,
                          uint k, uint groups, __global ulong *kept) {
    __local uint digits[BINS], box[BOX];
    __local uint4 sums[SELECT_SUMS];
    uint lid = get_local_id(0), q = GROUP_ID(0) / groups, g = GROUP_ID(0) % groups, n = wide_count(state, q, capacity, k);
    clear_bins(digits, box);
    SELECT_SYNC;
    for (uint b = lid; b < BINS; b += SELECT_WG)
        digits[b] = bins[(size_t)q * BINS + b];
    SELECT_SYNC;
    ulong base = base_of(boundary(digits, k, sums, box), FIRST_KEY, 64 - DIGIT);
    for (uint at = g * CHUNK; at < n; at += groups * CHUNK) {
        ulong key[SELECT_KEYS];
        uint mine = 0;
        read_chunk(keys + (size_t)q * capacity, n, at, key);
        for (uint r = 0; r < SELECT_KEYS; r++)
            mine += key[r] >= base;
        uint to = mine ? SELECT_ADD(&box[BOX_KEPT], mine) : 0;
        SELECT_SYNC;
        if (lid == 0) {
            box[BOX_TO] = box[BOX_KEPT] ? atomic_add(state + 4 * (size_t)q + KEPT, box[BOX_KEPT]) : 0;
            box[BOX_KEPT] = 0;
        }
        SELECT_SYNC;
        to += box[BOX_TO];
        for (uint r = 0; r < SELECT_KEYS; r++)
            if (key[r] >= base && to < SELECT_KEPT)
                kept[(size_t)q * SELECT_KEPT + to++] = key[r];
    }
}
