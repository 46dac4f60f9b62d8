// coarse_raise: higher thresholds of ranked queries, by the sums of coarse.cl.
//
// Computes  the threshold of each query, by the k-th greatest sum of upper bounds of the documents found,
//           if it is higher, and the least sum that comes to it: 0 for a query that seeks.
// Source    a sum u of upper bounds is less than the real sum of weight s / (255 unit) + 2 terms, see
//           coarse.cl, and a score is at least the real sum of weight (s-1)/255, so at least
//           (u - 2 terms) unit - weights/255.
//           SCAN_SERIAL: coarse_serial.cl has raised the threshold by sums of lower bounds, which are nearer to scores.
// Batch     see coarse.cl. Queries from number `narrow` on have sums of 16 bits.
// State     see coarse.cl.
// Launch    a group of RAISE_WG work-items (SCAN_SERIAL: of one) a query.
// Local     1.1 KiB.
// Bounds    any sums and counts.
#ifndef HEDDLE_GREATEST
#include "greatest.cl"
#endif
#ifndef HEDDLE_POSTING
#include "posting.cl"
#endif
#if SCAN_SERIAL
#define RAISE_WG 1
#else
#define RAISE_WG 256
__attribute__((reqd_work_group_size(RAISE_WG, 1, 1)))
#endif
__kernel void coarse_raise(__global uint4 *batch, state_t found, __global uint *state, uint terms_at, uint queries_at,
                           uint narrow, uint capacity, uint k, uint all) {
    __local uint bins[GREATEST_BINS];
    state_t progress = (state_t)batch;
    uint q = GROUP_ID(0), n = progress[PROGRESS_OF(q, FOUND)];
    uint sum = SCAN_SERIAL ? 0 : greatest_of(found + 2 * (size_t)q * capacity + 1, n > capacity ? 0 : n, false, 2, k, RAISE_WG, bins);
    if (get_local_id(0) == 0) {
        uint4 query = batch[COARSE_QUERY(q)];
        uint weights = 0, full = q < narrow ? 0 : all_of(all, query.y), theta = SCAN_SERIAL ? progress[PROGRESS_OF(q, REACHED)] : state[THETA_OF(q)];
        for (uint t = 0; t < query.y; t++)
            weights += batch[terms_at + 2 * (query.x + t) + 1].y;
        sum -= min(sum, full + 2 * query.y);
        uint score = sum * query.z;
        theta = max(theta, score - min(score, weights / 255 + 1));
        state[HIGHER_OF(q)] = theta;
        state[SUM_THRESHOLD_OF(q)] = batch[COARSE_FILTER_OF(q)].z ? 0 : full + (theta - min(theta, query.y)) / max(query.z, 1u);
    }
}
