// select: the best k of the keys of each of many queries.
//
// Computes  of the n keys of a query, at keys + q*capacity, the min(k, n) greatest;
//           they come to stand at the front, in any order, and in the last selection
//           at best[best_at + q*k ...], in descending order where they are SORT_MOST at most.
//           A key is a score in its
//           upper half and the complement of a docID in its lower one, so keys are
//           distinct and not 0.
// State     uint4 a query: COUNT, the keys that there are; where that is more than
//           capacity, the rest was lost. select_best leaves min(k, n) there, or LOST
//           if some were ever lost, and in THETA and THETA_LOW the k-th key, 0 where
//           there are fewer. KEPT counts from select_count to select_best.
// Source    radix selection (Alabi et al. 2012, "Fast k-selection algorithms for
//           graphics processors"); Ding et al. 2009, section 8.2, has levels of
//           maxima, see accumulate_global.cl. A bin is a digit of the difference of a key and
//           `base`, the least key of the bin that the boundary was found in; keys
//           beyond all bins, which are in anyway, count to the best one.
// Phases    select_best: (1) drop keys below base, in place, and count the others by
//           bin; (2) find the bin of the k-th, which gives the next base. Both are
//           repeated until k keys are left, once a digit at most, or so few that (3)
//           they are sorted. The last selection from few keys is (3) alone.
//           For queries of more than SELECT_WIDE keys the kernels of select_wide.cl
//           run before it. Where they keep more than SELECT_KEPT keys, select_best
//           begins anew with all.
// Launch    a group of SELECT_WG work-items a query (SCAN_SERIAL: of one, which sorts
//           nothing).
// Local     32*SELECT_WG bytes (16.5*SELECT_WG with NV_SHUFFLE; SCAN_SERIAL: 4096).
// Host      k >= 1; bins has BINS words a query, zero before the first launch and
//           between launches; capacity and groups*CHUNK are at most 2^31.
// Bounds    any counts and keys: all loops end, all stores are inside a query's part.
#define HEDDLE_SELECT
#ifndef HEDDLE_COMMON
#include "common.cl"
#endif
#ifndef HEDDLE_GROUP
#include "group.cl"
#endif
#ifndef SCAN_SERIAL
#define SCAN_SERIAL 0
#endif
#ifndef SELECT_WG
#define SELECT_WG 256 // a power of two, 32 to 1024
#endif
#if SCAN_SERIAL
#undef SELECT_WG
#define SELECT_WG 1
#define BINS 1024
#define SELECT_KEYS 1
#define SELECT_SYNC
#define SELECT_GROUP
#define SELECT_ADD(p, v) select_add(p, v)
static inline uint select_add(__local uint *p, uint v) { return (*p += v) - v; }
#else
#define BINS (4 * SELECT_WG)
#define SELECT_KEYS 8 // keys that a work-item loads together
#define SELECT_GROUP __attribute__((reqd_work_group_size(SELECT_WG, 1, 1)))
#define SELECT_SYNC barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define SELECT_ADD(p, v) atomic_add(p, v)
#endif
#if NV_SHUFFLE
#define SELECT_SUMS (SELECT_WG / 32) // members that group_scan needs
#else
#define SELECT_SUMS SELECT_WG
#endif
#define CHUNK (SELECT_WG * SELECT_KEYS)
#define DIGIT (31 - clz((uint)BINS)) // bits of a digit

#ifndef SELECT_WIDE
#define SELECT_WIDE 16384 // keys of a query that one group takes alone
#endif
#define SELECT_KEPT 32768 // keys of a query in `kept`
#define SORT_MOST (BINS / 2) // results that a group sorts, in the place of bins

// Words of the state of a query.
#define COUNT 0
#define THETA 1
#define THETA_LOW 2
#define KEPT 3
#define LOST 0x80000000u // in COUNT

// Words that a group components.
#define BOX_KEPT 0     // keys kept so far
#define BOX_LEAST 1    // the least score among them
#define BOX_BOUNDARY 2 // bin of the k-th
#define BOX_TO 3       // place in `kept`
#define BOX_LOW 4      // the lower half of the least key
#define BOX 5

#define FIRST_KEY 1ul // the least key

// bin_of numbers the bins from the best one on.
static inline uint bin_of(ulong key, ulong base, uint shift) {
    return BINS - 1 - (uint)min((key - base) >> shift, (ulong)BINS - 1);
}

// base_of is the least key of a bin.
static inline ulong base_of(uint bin, ulong base, uint shift) { return base + ((ulong)(BINS - 1 - bin) << shift); }

static inline void clear_bins(__local uint *bins, __local uint *box) {
    for (uint b = get_local_id(0); b < BINS; b += SELECT_WG)
        bins[b] = 0;
    if (get_local_id(0) == 0) {
        box[BOX_KEPT] = box[BOX_BOUNDARY] = 0;
        box[BOX_LEAST] = box[BOX_LOW] = 0xffffffffu;
    }
}

// read_chunk reads the keys of a work-item in the chunk at `at`, 0 behind the end.
static inline void read_chunk(__global const ulong *p, uint n, uint at, ulong key[SELECT_KEYS]) {
    for (uint r = 0; r < SELECT_KEYS; r++) {
        uint i = at + r * SELECT_WG + get_local_id(0);
        key[r] = i < n ? p[i] : 0;
    }
}

static inline bool is_wide(uint n, uint k) { return n > max(k, (uint)SELECT_WIDE); }

// keys_of is how many keys there are under a COUNT: of a query that has lost some, the
// ones that the selection before has left.
static inline uint keys_of(uint count, uint capacity, uint k) {
    return min(count < LOST ? count : k, capacity);
}

// boundary finds the bin in which the k-th best key lies; `bins` count at least k.
static inline uint boundary(__local const uint *bins, uint k, __local uint4 *sums, __local uint *box) {
#if SCAN_SERIAL
    uint b = 0;
    for (uint n = bins[0]; n < k && b < BINS - 1; n += bins[b])
        b++;
    return b;
#else
    uint lid = get_local_id(0);
    uint4 total, x = (uint4)(bins[lid], bins[lid + SELECT_WG], bins[lid + 2 * SELECT_WG], bins[lid + 3 * SELECT_WG]);
    uint4 upto = group_scan(x, SELECT_WG, sums, &total);
    upto += rows_before(total);
    uint4 before = upto - x;
    if (before.x < k && upto.x >= k) box[BOX_BOUNDARY] = lid;
    if (before.y < k && upto.y >= k) box[BOX_BOUNDARY] = lid + SELECT_WG;
    if (before.z < k && upto.z >= k) box[BOX_BOUNDARY] = lid + 2 * SELECT_WG;
    if (before.w < k && upto.w >= k) box[BOX_BOUNDARY] = lid + 3 * SELECT_WG;
    SELECT_SYNC;
    return box[BOX_BOUNDARY];
#endif
}

// narrow keeps the keys among n that are not below base, moves them to the front, and
// counts them by bin. It returns their number.
static inline uint narrow(__global ulong *p, uint n, ulong base, uint shift, __local uint *bins, __local uint *box) {
    uint least = 0xffffffffu;
    SELECT_SYNC;
    clear_bins(bins, box);
    SELECT_SYNC;
    for (uint at = 0; at < n; at += CHUNK) {
        ulong key[SELECT_KEYS];
        read_chunk(p, n, at, key);
        SELECT_SYNC; // no more keys are written than were read
        for (uint r = 0; r < SELECT_KEYS; r++)
            if (key[r] >= base) {
                least = min(least, (uint)(key[r] >> 32));
                SELECT_ADD(&bins[bin_of(key[r], base, shift)], 1u);
                if (base > FIRST_KEY)
                    p[SELECT_ADD(&box[BOX_KEPT], 1u)] = key[r];
            }
    }
#if SCAN_SERIAL
    box[BOX_LEAST] = least;
#else
    if (least != 0xffffffffu)
        atomic_min(&box[BOX_LEAST], least);
#endif
    SELECT_SYNC;
    return base > FIRST_KEY ? box[BOX_KEPT] : n;
}

// sort_soon is how many keys are sorted for the best k of them, rather than looked
// through digit by digit.
static inline uint sort_soon(uint k) {
    return SCAN_SERIAL ? 0 : min(max(2 * k, 128u), (uint)SORT_MOST);
}

// sort puts n keys in descending order in `key`, which has places for a power of two
// that is not less, by a bitonic sort.
static inline void sort(__global const ulong *p, uint n, __local ulong *key) {
    uint lid = get_local_id(0), size = 2;
    while (size < n)
        size *= 2;
    for (uint i = lid; i < size; i += SELECT_WG)
        key[i] = i < n ? p[i] : 0;
    SELECT_SYNC;
    for (uint run = 2; run <= size; run *= 2)
        for (uint apart = run / 2; apart > 0; apart /= 2) {
            for (uint i = lid; i < size / 2; i += SELECT_WG) {
                uint at = 2 * i - (i & (apart - 1)), to = at + apart;
                ulong x = key[at], y = key[to];
                if ((x < y) == !(at & run)) {
                    key[at] = y;
                    key[to] = x;
                }
            }
            SELECT_SYNC;
        }
}

SELECT_GROUP
__kernel void select_best(__global ulong *keys, __global uint *state, __global uint *bins, __global ulong *kept,
                          __global ulong *best, uint capacity, uint k, uint best_at, uint wide, uint last) {
    __local ulong room[SORT_MOST];
    __local uint box[BOX], *digits = (__local uint *)room;
    __local uint4 sums[SELECT_SUMS];
    uint lid = get_local_id(0), q = GROUP_ID(0);
    __global uint *own = state + 4 * (size_t)q;
    __global ulong *front = keys + (size_t)q * capacity, *p = front;
    uint count = own[COUNT], n = keys_of(count, capacity, k);
    if (wide && is_wide(n, k)) {
        uint few = own[KEPT];
        if (few <= SELECT_KEPT) {
            p = kept + (size_t)q * SELECT_KEPT;
            n = few;
        }
        for (uint b = lid; b < BINS; b += SELECT_WG)
            bins[(size_t)q * BINS + b] = 0;
    }
    ulong base = FIRST_KEY;
    bool at_once = !SCAN_SERIAL && last && n <= SORT_MOST / 2;
    if (lid == 0)
        box[BOX_LOW] = 0xffffffffu;
    for (uint left = 64; !at_once;) { // bits of a key that are not decided
        uint shift = left > DIGIT ? left - DIGIT : 0;
        n = narrow(p, n, base, shift, digits, box);
        if (n <= k || left == 0 || n <= sort_soon(k))
            break;
        base = base_of(boundary(digits, k, sums, box), base, shift);
        left = shift;
    }
    bool sorted = !SCAN_SERIAL && n <= SORT_MOST && (last || n > k);
    uint least;
    if (sorted) {
        sort(p, n, room);
        least = room[max(min(n, k), 1u) - 1] >> 32;
    } else
        least = box[BOX_LEAST];
    n = min(n, k);
    uint low = 0xffffffffu; // the lower half of the k-th key
    for (uint i = lid; i < n; i += SELECT_WG) {
        ulong key = sorted ? room[i] : p[i];
        if ((uint)(key >> 32) == least)
            low = min(low, (uint)key);
        if (sorted || p != front)
            front[i] = key;
        if (last)
            best[best_at + (size_t)q * k + i] = key;
    }
#if SCAN_SERIAL
    box[BOX_LOW] = low;
#else
    if (low != 0xffffffffu)
        atomic_min(&box[BOX_LOW], low);
#endif
    SELECT_SYNC;
    if (lid == 0) {
        own[COUNT] = count > capacity ? LOST : n;
        own[THETA] = n == k ? least : 0;
        own[THETA_LOW] = n == k ? box[BOX_LOW] : 0;
    }
}
