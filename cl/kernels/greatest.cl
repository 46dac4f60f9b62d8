// greatest: the k-th greatest of numbers that groups of a launch have published, see group_last in
// group.cl. Helpers of coarse.cl and complete.cl, no kernel of its own.
//
// Computes  greatest_of: a number that the k greatest of n numbers come to, and no other one. It is the
//           k-th greatest of sums of up to 16 bits; of keys, the lower word first, its upper bits, as many as
//           needed.
// Source    radix selection, see select.cl.
// Phases    a digit of 8 bits after the other, from the highest one on: (1) numbers that begin with the
//           digits so far are counted by their next digit, and by the upper half of it; (2) both counts are
//           walked through from the greatest digit on.
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
#define WORDS_TOGETHER 16        // of a work-item that are on their way together

static inline ulong number_at(state_t p, uint words) { return ASK(p) | (words > 1 ? (ulong)ASK(p + 1) << 32 : 0); }

// bin_from returns the bin of 16 that the k-th greatest number lies in, and takes the numbers in greater bins off *k.
static inline uint bin_from(__local const uint *bins, uint *k) {
    uint b = 15;
    for (; b > 0 && bins[b] < *k; b--)
        *k -= bins[b];
    return b;
}

// greatest_of is 0 where n is less than k. Numbers are `stride` words apart: sums with one word, or keys with two.
// All `wg` work-items of the group call it.
static inline ulong greatest_of(state_t numbers, uint n, uint words, uint stride, uint k, uint wg, __local uint *bins) {
    uint lid = get_local_id(0), shift = words > 1 ? 64 : 16, in = 0, together = WORDS_TOGETHER / words;
    ulong above = 0;
    while (n >= k && shift > 0 && (words == 1 || in != k)) {
        shift -= 8;
        for (uint b = lid; b < GREATEST_BINS; b += wg)
            bins[b] = 0;
        GROUP_SYNC;
        for (uint i = lid; i < n; i += together * wg) {
            ulong v[WORDS_TOGETHER];
#pragma unroll
            for (uint r = 0; r < together; r++)
                v[r] = i + r * wg < n ? number_at(numbers + (size_t)(i + r * wg) * stride, words) : 0;
#pragma unroll
            for (uint r = 0; r < together; r++)
                if (i + r * wg < n && v[r] >> shift >> 8 == above) {
                    uint digit = v[r] >> shift & 255;
                    COUNT_ONE(&bins[digit]);
                    COUNT_ONE(&bins[256 + digit / 16]);
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
