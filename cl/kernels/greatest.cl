// greatest: the k-th greatest of numbers that groups of a launch have published, see group_last in
// group.cl. Helpers of coarse.cl and complete.cl, no kernel of its own.
//
// Computes  greatest_of: the k-th greatest of sums of 16 bits, or a little less for a k of up to an eighth of the
//           work-items; or of distinct keys, the lower word first, the upper bits of the k-th greatest, as many
//           as it takes until the k greatest alone come to them. 0 if fewer than k numbers are not 0.
// Source    radix selection, see select.cl.
// Phases    few sums: (1) each work-item takes the greatest of its sums; (2) the k-th greatest of these is the
//           one that k - 1 others exceed. Else a digit of 8 bits after the other, from the highest one on:
//           (1) numbers that begin with the digits so far are counted by their next digit, and by the upper
//           half of it; (2) both counts are walked through from the greatest digit on.
// Bounds    any numbers.
#ifndef HEDDLE_GREATEST
#define HEDDLE_GREATEST
#ifndef HEDDLE_GROUP
#include "group.cl"
#endif
#if SCAN_SERIAL
#define COUNT_ONE(p) ((*(p))++)
#else
#define COUNT_ONE(p) atomic_inc(p)
#endif
#define GREATEST_BINS (256 + 16) // words of local memory
#define WORDS_TOGETHER 16        // words that a work-item loads together

// bin_from returns the bin of 16 that the k-th greatest number lies in, and takes the numbers in greater bins off *k.
static inline uint bin_from(__local const uint *bins, uint *k) {
    uint b = 15;
    for (; b > 0 && bins[b] < *k; b--)
        *k -= bins[b];
    return b;
}

// count_digit counts a number whose bits above `shift` + 8 are `above`.
static inline void count_digit(ulong v, uint shift, ulong above, __local uint *bins) {
    if (v && v >> shift >> 8 == above) {
        uint digit = v >> shift & 255;
        COUNT_ONE(&bins[digit]);
        COUNT_ONE(&bins[256 + digit / 16]);
    }
}

static inline ulong key_at(state_t p) { return ASK(p) | (ulong)ASK(p + 1) << 32; }

// READ_TOGETHER reads some of n numbers for a work-item, from number i on, wg numbers apart: 0 behind the last one.
#define READ_TOGETHER(v, i)                                                            \
    ulong v[WORDS_TOGETHER];                                                           \
    _Pragma("unroll")                                                                  \
    for (uint r = 0; r < together; r++) {                                              \
        state_t p = numbers + (size_t)((i) + r * wg) * stride;                         \
        v[r] = (i) + r * wg >= n ? 0 : keys ? key_at(p) : ASK(p);                      \
    }

// greatest_of takes n keys, or n words of two sums each, `stride` words apart. All `wg` work-items of the group
// call it.
static inline ulong greatest_of(state_t numbers, uint n, bool keys, uint stride, uint k, uint wg, __local uint *bins) {
    uint lid = get_local_id(0), shift = keys ? 64 : 16, in = 0, together = WORDS_TOGETHER / stride;
    ulong above = 0;
    if (!keys && 8 * k <= wg) {
        uint most = 0, greater = 0;
        for (uint i = lid; i < n; i += together * wg) {
            READ_TOGETHER(v, i)
#pragma unroll
            for (uint r = 0; r < together; r++)
                most = max(most, max((uint)v[r] & 0xffff, (uint)v[r] >> 16));
        }
        bins[lid] = most = most << 16 | lid; // all differ
        GROUP_SYNC;
        for (uint i = 0; i < wg; i++)
            greater += bins[i] > most;
        GROUP_SYNC;
        if (greater == k - 1)
            bins[0] = most;
        GROUP_SYNC;
        return bins[0] >> 16;
    }
    while (n > 0 && shift > 0 && !(keys && in == k)) {
        shift -= 8;
        for (uint b = lid; b < GREATEST_BINS; b += wg)
            bins[b] = 0;
        GROUP_SYNC;
        for (uint i = lid; i < n; i += together * wg) {
            READ_TOGETHER(v, i)
#pragma unroll
            for (uint r = 0; r < together; r++) {
                count_digit(keys ? v[r] : v[r] & 0xffff, shift, above, bins);
                if (!keys)
                    count_digit(v[r] >> 16, shift, above, bins);
            }
        }
        GROUP_SYNC;
        uint digit = 16 * bin_from(bins + 256, &k);
        digit += bin_from(bins + digit, &k);
        in = bins[digit];
        above = above << 8 | digit;
        GROUP_SYNC; // before the bins are cleared
    }
    return above << shift;
}

#endif
