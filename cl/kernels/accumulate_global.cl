// global_clear, global_add, global_filter, global_maxima, global_best: ranked OR queries over
// accumulators in global memory, one of each document. The baseline of accumulate.
//
// Computes  scores[d] = the sum of the contributions of the lists of a query to d,
//           one list at a time; then the best k of them, in descending order, at
//           best[best_at + q*k ...], and in COUNT of the query's state how many they are.
// Source    Ding et al. 2009, section 8.3 for the accumulators, 8.2 for the choice of
//           the best: maxima of FAN documents each, of FAN such maxima each, and so on;
//           then the greatest is taken out, and the branch that it came from updated,
//           k times. The document in a key names its branch.
// Batch     see posting.cl.
// Phases    global_clear, global_add for each list, global_filter for a query with a filter,
//           global_maxima for each level, global_best: launches in this order, for one query
//           after the other.
// Launch    groups of GLOBAL_WG work-items (SCAN_SERIAL: of one): clear, add and filter share
//           out FAN documents or elements each, maxima makes one, best is one group.
// Local     8*GLOBAL_WG bytes.
// Host      maxima has room for all levels, the lowest one first.
// Bounds    any docIDs and components; docIDs that repeat in a list may lose additions.
#ifndef HEDDLE_POSTING
#include "posting.cl"
#endif

#define FAN 512
#if SCAN_SERIAL
#define GLOBAL_WG 1
#define GLOBAL_GROUP
#define GLOBAL_SYNC
#else
#define GLOBAL_WG 128 // a power of two, a divisor of FAN
#define GLOBAL_GROUP __attribute__((reqd_work_group_size(GLOBAL_WG, 1, 1)))
#define GLOBAL_SYNC barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#endif
// The numbers of a work-item among the FAN of group g that are below n.
#define EACH_OF_FAN(i, g, n) \
    for (ulong i = (ulong)(g) * FAN + get_local_id(0); i < min((ulong)(n), ((ulong)(g) + 1) * FAN); i += GLOBAL_WG)

// group_max gives every work-item the greatest v. All work-items call it.
static inline ulong group_max(ulong v, __local ulong *box) {
    uint lid = get_local_id(0);
    GLOBAL_SYNC;
    box[lid] = v;
    for (uint d = GLOBAL_WG / 2; d > 0; d /= 2) {
        GLOBAL_SYNC;
        if (lid < d)
            box[lid] = max(box[lid], box[lid + d]);
    }
    GLOBAL_SYNC;
    return box[0];
}

// max_of is the greatest of the FAN numbers of branch g of n: of keys of documents,
// `lowest`, or of maxima. It is 0 where none has a score.
static inline ulong max_of(__global const uint *scores, __global const ulong *maxima, bool lowest, uint n, uint g,
                           __local ulong *box) {
    ulong best = 0;
    EACH_OF_FAN(i, g, n) {
        if (!lowest)
            best = max(best, maxima[i]);
        else if (scores[i])
            best = max(best, (ulong)scores[i] << 32 | (0xffffffff - (uint)i));
    }
    return group_max(best, box);
}

static inline uint level_above(uint n) { return n / FAN + (n % FAN != 0); }

GLOBAL_GROUP
__kernel void global_clear(__global uint *scores, uint n) {
    EACH_OF_FAN(d, GROUP_ID(0), n)
        scores[d] = 0;
}

// global_add adds the contributions of the list of the term with record batch[term] to the n
// documents from `first` on.
GLOBAL_GROUP
__kernel void global_add(__global const uint4 *batch, __global const uint *docs, __global const uint *components,
                         __global uint *scores, uint term, uint first, uint n) {
    uint4 r = batch[term];
    EACH_OF_FAN(i, GROUP_ID(0), r.z) {
        uint d = docs[(size_t)r.y * 4 + i];
        if (d - first < n)
            scores[d] += contribution(r.w, components[(size_t)r.y * 4 + i]);
    }
}

// global_filter clears the scores of the documents that a filter lacks: see passes.
GLOBAL_GROUP
__kernel void global_filter(__global uint *scores, __global const uint *filters, uint n, uint at, uint words) {
    EACH_OF_FAN(d, GROUP_ID(0), n)
        if (!passes(filters, at, words, (uint)d))
            scores[d] = 0;
}

// global_maxima makes the level at maxima + to from the level below: the n scores, or n
// maxima at maxima + from.
GLOBAL_GROUP
__kernel void global_maxima(__global const uint *scores, __global ulong *maxima, uint n, uint from, uint to) {
    __local ulong box[GLOBAL_WG];
    uint g = GROUP_ID(0);
    ulong best = max_of(scores, maxima + from, to == 0, n, g, box);
    if (get_local_id(0) == 0)
        maxima[to + g] = best;
}

GLOBAL_GROUP
__kernel void global_best(__global uint *scores, __global ulong *maxima, __global ulong *best, __global uint *state,
                          uint n, uint q, uint k, uint best_at) {
    __local ulong box[GLOBAL_WG];
    uint lid = get_local_id(0), top = 0, tops = level_above(n), count = 0;
    while (tops > FAN) {
        top += tops;
        tops = level_above(tops);
    }
    ulong key = max_of(scores, maxima + top, false, tops, 0, box);
    for (; count < k && key; count++) {
        uint branch = 0xffffffff - (uint)key, from = 0, to = 0, size = n;
        if (lid == 0) {
            best[best_at + (size_t)q * k + count] = key;
            scores[branch] = 0;
        }
        GLOBAL_SYNC;
        do {
            branch /= FAN;
            ulong next = max_of(scores, maxima + from, to == 0, size, branch, box);
            if (lid == 0)
                maxima[to + branch] = next;
            from = to;
            size = level_above(size);
            to += size;
            GLOBAL_SYNC; // also ends the last turn: without it PoCL 3.1 loses stored values
        } while (size > FAN);
        key = max_of(scores, maxima + from, false, size, 0, box);
    }
    if (lid == 0)
        state[COUNT_OF(q)] = count;
}
