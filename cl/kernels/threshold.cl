// coarse_threshold, coarse_raise: thresholds of ranked queries, by the sums of coarse.cl.
//
// Computes  coarse_threshold: the k-th greatest of the sums of lower bounds that the sample has
//           left, in units of the score, as THETA of the query's state; the other words and
//           counts[q] become 0.
//           coarse_raise: a higher THETA, by the k-th greatest sum of upper bounds of the
//           documents found, and in the next word the least sum that comes to it: 0 for a query
//           that seeks.
// Source    the sums of the sample belong to different documents, so k documents have the
//           threshold or more. A sum u of upper bounds is less than the real sum of weight s /
//           (255 unit) + 2 terms, see coarse.cl, and a score is at least the real sum of
//           weight (s-1)/255, so at least (u - 2 terms) unit - weights/255.
// Batch     see coarse.cl.
// State     see select.cl.
// Phases    two bits of the k-th greatest sum after two. SCAN_SERIAL: a histogram of the upper
//           half of the bits, then one of the lower half.
// Launch    a group of THRESHOLD_WG work-items (SCAN_SERIAL: of one) a query.
// Local     32*THRESHOLD_WG bytes (THRESHOLD_WG with NV_SHUFFLE; SCAN_SERIAL: 1 KiB).
// Bounds    any sums and counts.
#ifndef HEDDLE_GROUP
#include "group.cl"
#endif
#ifndef HEDDLE_POSTING
#include "posting.cl"
#endif
#define BITS 16 // of a sum
#if SCAN_SERIAL
#define THRESHOLD_WG 1
#define THRESHOLD_GROUP
#define REACH (1 << BITS / 2)
#define REACH_T uint

// digit_of finds the k-th greatest sum among the sums whose bits above `shift` + 8 are `above`: the
// next eight bits. It returns bits that no sum has where there are fewer than *k sums, and
// takes the sums with greater bits off *k.
static inline uint digit_of(__global const uint *sums, uint n, uint stride, uint shift, uint above, uint *k, __local uint *bins) {
    for (uint b = 0; b < REACH; b++)
        bins[b] = 0;
    for (uint i = 0; i < n; i++) {
        uint v = sums[(size_t)i * stride] >> shift;
        bins[v % REACH] += v / REACH == above;
    }
    uint b = REACH - 1;
    for (; b > 0 && bins[b] < *k; b--)
        *k -= bins[b];
    return b;
}

// greatest_of is the k-th greatest of n sums, each the first of `stride` words; 0 if there
// are fewer.
static inline uint greatest_of(__global const uint *sums, uint n, uint stride, uint k, __local uint *bins) {
    if (n < k)
        return 0;
    uint high = digit_of(sums, n, stride, BITS / 2, 0, &k, bins);
    return high << BITS / 2 | digit_of(sums, n, stride, 0, high, &k, bins);
}
#else
#define THRESHOLD_WG 256
#define THRESHOLD_GROUP __attribute__((reqd_work_group_size(THRESHOLD_WG, 1, 1)))
#define REACH_T uint4
#if NV_SHUFFLE
#define REACH_SUMS (THRESHOLD_WG / 32) // members that group_total needs
#else
#define REACH_SUMS THRESHOLD_WG
#endif
#define REACH (2 * REACH_SUMS) // each half is read while the other one is written

#define HELD 32 // sums of a work-item that are on their way together

// hold reads the sums of a work-item from number `from` on, 0 behind the end.
static inline void hold(__global const uint *sums, uint n, uint stride, uint from, uint held[HELD]) {
#pragma unroll
    for (uint i = 0; i < HELD; i++) {
        uint at = from + i * THRESHOLD_WG + get_local_id(0);
        held[i] = at < n ? sums[(size_t)at * stride] : 0;
    }
}

// reaching counts the sums that come to `least` with the values 1, 2 and 3 at bit b.
static inline uint4 reaching(const uint held[HELD], uint least, uint b) {
    uint4 some = 0;
#pragma unroll
    for (uint i = 0; i < HELD; i++) {
        some.x += held[i] >= (least | 1u << b);
        some.y += held[i] >= (least | 2u << b);
        some.z += held[i] >= (least | 3u << b);
    }
    return some;
}

// greatest_of is the k-th greatest of n sums, each the first of `stride` words; 0 if there
// are fewer. The first sums stay in registers.
static inline uint greatest_of(__global const uint *sums, uint n, uint stride, uint k, __local uint4 *reach) {
    uint least = 0, first[HELD], more[HELD];
    hold(sums, n, stride, 0, first);
    for (uint b = BITS; b > 0;) {
        b -= 2;
        uint4 reached = reaching(first, least, b);
        for (uint from = HELD * THRESHOLD_WG; from < n; from += HELD * THRESHOLD_WG) {
            hold(sums, n, stride, from, more);
            reached += reaching(more, least, b);
        }
        reached = group_total(reached, THRESHOLD_WG, reach + b / 2 % 2 * REACH_SUMS);
        least |= (reached.z >= k ? 3u : reached.y >= k ? 2u : reached.x >= k ? 1u : 0u) << b;
    }
    return least;
}
#endif

THRESHOLD_GROUP
__kernel void coarse_threshold(__global const uint4 *batch, uint queries_at, uint all, __global const uint *cells, uint n,
                               uint k, __global uint *state, __global uint *counts) {
    __local REACH_T reach[REACH];
    uint q = get_group_id(0), least = greatest_of(cells + (size_t)q * n, n, 1, k, reach);
    if (get_local_id(0) == 0) {
        uint4 query = batch[queries_at + q];
        least -= min(least, all_of(all, query.y));
        vstore4((uint4)(0, least * query.w, 0, 0), q, state);
        counts[q] = 0;
    }
}

THRESHOLD_GROUP
__kernel void coarse_raise(__global const uint4 *batch, uint terms_at, uint queries_at, uint narrow, uint all,
                           __global const uint *counts, __global const uint *found, uint capacity, uint k, uint filters_at,
                           __global uint *state) {
    __local REACH_T reach[REACH];
    uint q = get_group_id(0), n = counts[q];
    uint least = greatest_of(found + 2 * (size_t)q * capacity + 1, n > capacity ? 0 : n, 2, k, reach);
    if (get_local_id(0) == 0) {
        uint4 query = batch[queries_at + q];
        uint weights = 0, full = q < narrow ? 0 : all_of(all, query.y), theta = state[THETA_OF(q)];
        for (uint t = 0; t < query.y; t++)
            weights += batch[terms_at + 2 * (query.x + t) + 1].y;
        uint sum = least - min(least, full + 2 * query.y), score = sum * query.z, error = weights / 255 + 1;
        theta = max(theta, score - min(score, error));
        bool seeks = filters_at && batch[filters_at + q].z;
        state[THETA_OF(q)] = theta;
        state[THETA_OF(q) + 1] = seeks ? 0 : full + (theta - min(theta, query.y)) / max(query.z, 1u);
    }
}
