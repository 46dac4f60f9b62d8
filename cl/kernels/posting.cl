// posting: the contribution of a posting to a score, in integers, and the layout of the
// data of ranked queries. Helpers of tf.cl, rank.cl and rank_and.cl, no kernel of its own.
//
// Computes  tf_of(norm, f, length): the fraction of a list's weight that a posting of
//           frequency f has in a document of so many tokens, as plan.Norm.TF does;
//           contribution(weight, component) as plan.Contribution; frequency_at: one value
//           of packed frequencies by random access (Ding et al. 2009, section 8.2).
// Batch     one upload of uint4. First {base, slope, shift, impacts}: fields of
//           plan.Norm. Then three a list, each list once:
//             [0] its record (common.cl)
//             [1] {first element, elements, to in units of four words, first run}
//             [2] its frequencies: x their offset in units of four words, y their
//                 number of words, w the rest of the offset (bits 0-7) and the buffer
//                 (8-15) of the four that hold them; z where the starts of the list lie
//           At terms_at two a term of a query:
//             [0] {starts, to, elements: as above, weight}
//             [1] {list, weights of the query's terms behind it, 1 if it is not decoded |
//                 words of its bitset << 1, where in `bits` its bitset begins}
//           At queries_at {first term, terms, where its filter begins in units of four words of the
//           buffer of filters, words of it: 0 without a filter} a query.
// State     uint4 a query: see select.cl.
// Bounds    any words: loads are clamped to the list's.
#ifndef HEDDLE_POSTING
#define HEDDLE_POSTING
#ifndef HEDDLE_COMMON
#include "common.cl"
#endif

#define LISTS_AT 1 // uint4 of the batch where lists begin
#define LIST_RECORD(l) (LISTS_AT + 3 * (l))

#ifndef RANK_RANGE
#define RANK_RANGE 4096 // documents of a range of accumulate, a power of two
#endif
#if SCAN_SERIAL
#undef RANK_WG
#define RANK_WG 1
#endif
#ifndef RANK_WG
#define RANK_WG 128 // work-group size of accumulate and rank_and, a power of two, 32 to 512
#endif

// The state of query q, in words.
#define COUNT_OF(q) (4 * (q))
#define THETA_OF(q) (4 * (q) + 1) // two words: the k-th key, 0 where there are fewer
#define HIGHER_OF(q) (4 * (q) + 2) // the threshold of coarse sums: see raise.cl
#define SUM_THRESHOLD_OF(q) (4 * (q) + 3)

// Units of four words of query q in the batch of coarse.cl, and words of its progress.
#define COARSE_QUERY(q) (queries_at + 3 * (q))
#define COARSE_FILTER_OF(q) (queries_at + 3 * (q) + 1)
#define PROGRESS_OF(q, of) (4 * (queries_at + 3 * (q) + 2) + (of))
#define FOUND 0 // documents
#define SAMPLED 1 // groups
#define SCORED 2
#define REACHED 3 // the greatest limit of sums: see coarse_serial.cl

// A pass takes all ranges, or, where `every` is not 1, the ones whose number is a multiple
// of it (`only`), or the rest.
static inline bool of_pass(uint r, uint every, uint only) { return every == 1 || (r % every == 0) == only; }

// is_better tells whether the key of a document is greater than another one.
static inline bool is_better(uint score, uint doc, uint2 key) {
    return score > key.x || (score == key.x && 0xffffffff - doc > key.y);
}

#define FREQUENCIES                                                                    \
    __global const uint *restrict f0, __global const uint *restrict f1,                \
    __global const uint *restrict f2, __global const uint *restrict f3
#define FREQUENCY_ARGS f0, f1, f2, f3

static inline words_t frequency_words(FREQUENCIES, uint4 place) {
    return arena_at(FREQUENCY_ARGS, place.w >> 8, place.x) + (place.w & 0xff);
}

#if NV_SHUFFLE
#define RECIPROCAL(x) native_recip(x) // NVIDIA: one instruction, within one unit in the last place
#else
#define RECIPROCAL(x) (1.0f / (x))
#endif

// share_quotient returns a * 2^32 / d, rounded down, for a < d and d of at least 2^31.
// CPUs divide; GPUs have no such instruction: two estimates in floats leave an error
// of one, which the remainder shows.
static inline uint share_quotient(uint a, uint d) {
#if SCAN_SERIAL
    return (uint)(((ulong)a << 32) / d);
#else
    float r = RECIPROCAL((float)d);
    uint q = (uint)min((float)a * 4294967296.0f * r, 4294967040.0f);
    long rest = (long)((ulong)a << 32) - (long)((ulong)q * d); // within 2^43 of 0
    int more = (int)((float)(int)(rest >> 16) * 65536.0f * r);
    q += (uint)more;
    rest -= (long)more * d;
    if (rest < 0)
        return q - 1;
    return rest >= d ? q + 1 : q;
#endif
}

// common_share is the component of a frequency below 64 under a norm n of 2^10 to 2^30,
// which most are: f 2^56 / (f 2^24 + n), rounded down. It lies between 2^32 / 65 and
// 2^32 - 2^11. The first estimate is a whole number, the second one is within 2^-7, so
// that both together, less 2^-6, are the result or one less, as a remainder of 32
// bits shows.
static inline uint common_share(uint f, uint n) {
    uint d = (f << 24) + n;
#if SCAN_SERIAL
    return (uint)(((ulong)f << 56) / d);
#else
    float a = (float)f * 16777216.0f, high = (float)(d & ~0xffu), low = (float)(d & 0xff); // all exact
    float r = RECIPROCAL(high + low), q = a * r;
    float rest = fma(-q, low, fma(-q, high, a));
    uint share = (uint)(q * 4294967296.0f) + (uint)convert_int_rtn(rest * r * 4294967296.0f - 0.015625f);
    return share + (0 - share * d >= d);
#endif
}

static inline uint tf_of(uint4 norm, uint f, uint length) {
    if (norm.w)
        return max((uint)min((ulong)f << (32 - norm.w), (ulong)0xffffffff), 1u);
    ulong n = (ulong)norm.y * length >> norm.z;
    if (norm.z < 8) // only then it may be as large
        n = min(n, (ulong)1 << 56);
    n += norm.x;
    if (f < 64 && n - 1024 < (1 << 30) - 1024)
        return common_share(f, (uint)n);
    ulong a = (ulong)f << 24, d = a + n;
    uint s = clz(d); // both move so that the divisor has 32 bits
    uint dividend = (uint)(s < 32 ? a >> (32 - s) : a << (s - 32));
    uint divisor = (uint)(s < 32 ? d >> (32 - s) : d << (s - 32));
    return dividend < divisor ? max(share_quotient(dividend, divisor), 1u) : 0xffffffff;
}

static inline uint contribution(uint weight, uint share) {
    return (uint)(((ulong)weight * share + 0xffffffff) >> 32);
}

// frequency_at returns frequency i of n.
static inline uint frequency_at(words_t p, uint words, uint n, uint i) { return packed_at(p, words, n, i) + 1; }

// each_of is what each posting adds to a sum of 16 bits in coarse.cl for AND, and all_of what
// a document in all lists gets: more than any other one has.
static inline uint each_of(uint all, uint terms) { return all ? 0xffff / (terms + 1) : 0; }
static inline uint all_of(uint all, uint terms) { return each_of(all, terms) * terms; }

// may_have tells whether document x can be in the list of a term with the words `more`: by
// its bitset, or always without one.
static inline bool may_have(__global const uint *bits, uint4 more, uint x) {
    uint words = more.z >> 1, w = x >> 5;
    return words == 0 || (w < words && bits[more.w + w] >> (x & 31) & 1);
}

// passes tells whether the bits of a filter, `words` words at `at` in units of four words, have
// document x. Without words all documents pass.
static inline bool passes(__global const uint *filters, uint at, uint words, uint x) {
    return words == 0 || (x >> 5 < words && filters[(size_t)at * 4 + (x >> 5)] >> (x & 31) & 1);
}

// length_of returns the length of a document: of 16 bits each where `narrow`.
static inline uint length_of(__global const uint *lengths, uint narrow, uint doc) {
    return narrow ? ((__global const ushort *)lengths)[doc] : lengths[doc];
}

// put_key stores the key of a document as number `at` of query q, if there is room.
static inline void put_key(__global ulong *keys, uint capacity, uint q, uint at, uint score, uint doc) {
    if (at < capacity)
        keys[(size_t)q * capacity + at] = (ulong)score << 32 | (0xffffffff - doc);
}

#endif
