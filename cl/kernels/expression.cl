// evaluate, expand: boolean expressions over lists, by ranges of documents.
//
// Computes  evaluate: for work-group g the documents of one range of RANGE that an
//           expression has, as bits: words[g*RANGE_WORDS ...]; counts[g] = how many;
//           sums[sums_at + g/BLOCK] += how many, on zeros of the host's.
//           expand: docIDs of the groups from `first` on, ascending, group after
//           group: out[before(g) - skip + i] is document i of group g, where
//           before(g) counts the documents of all groups before.
// Source    a group owns a range of documents and holds all results for them
//           in local memory, as Ding et al. 2009, section 8, proposes for OR; the
//           sets are bits here. A stack of sets in postfix order (plan.Op).
// Batch     one upload of uint4: operands, steps, groups. An operand is
//             x  where its words lie: in units of four words, or of one in `aux`
//             y  their number: docIDs, or words of a bitset
//             w  1 for a bitset (bits 0-7), buffer (8-15): an arena, FROM_DECODED
//                or FROM_AUX
//           A step is
//             x  the action (bits 0-7) on the set at a height of the stack (8-)
//             y  first operand, z their number, w their place among the found ones
//           A group is {first step, steps, range, 0}.
// Phases    evaluate: step by step, a barrier before each. FIND looks up where the
//           range begins and ends in up to PAGE lists at once, so that no step
//           waits for a search; SET and UNSET divide lists, and the docIDs of
//           each, among the work-items; all other steps go word by word, a word
//           being one work-item's.
//           expand: (1) sum over the groups before, as in gather; (2) scan of the
//           bits of each work-item's words; (3) docIDs.
// Launch    one group of SET_WG work-items for each group record, or of them from
//           `first` on (SCAN_SERIAL: of one).
// Local     stack: RANGE_WORDS words a set, sized by the host; 2*PAGE + 1 words and
//           in expand SET_WG + 1.
// Bounds    any list bytes: operands lie inside their buffers by their records;
//           docIDs outside of the range are passed over, at most RANGE are read of
//           a list; bits at and above `docs` are not given. Steps are the host's.
#ifndef HEDDLE_COMMON
#include "common.cl"
#endif

#define RANGE 8192 // documents of a group
#define RANGE_WORDS (RANGE / 32)
#define PAGE 128 // lists that are looked up together
#define FROM_DECODED 4
#define FROM_AUX 5

#define STEP_FIND 0   // find the operands in the range
#define STEP_CLEAR 1  // empty the set
#define STEP_SET 2    // the set OR the docIDs of operands
#define STEP_UNSET 3  // the set AND NOT the docIDs of operands
#define STEP_OR 4     // the set OR the bits of operands
#define STEP_AND 5    // the set AND the bits of operands
#define STEP_ANDNOT 6 // the set AND NOT the bits of operands
#define STEP_AND2 7   // the set AND the one above
#define STEP_OR2 8
#define STEP_ANDNOT2 9
#define STEP_NOTAND2 10 // the one above AND NOT the set

#if SCAN_SERIAL
#undef SET_WG
#define SET_WG 1
#define SYNC
#define SET_BITS(p, v) (*(p) |= (v))
#define UNSET_BITS(p, v) (*(p) &= ~(v))
#define ADD_TO(p, v) (*(p) += (v))
#else
#ifndef SET_WG
#define SET_WG 128 // a power of two, 32 to RANGE_WORDS
#endif
#define SYNC barrier(CLK_LOCAL_MEM_FENCE)
#define SET_BITS(p, v) atomic_or(p, v)
#define UNSET_BITS(p, v) atomic_and(p, ~(v))
#define ADD_TO(p, v) atomic_add(p, v)
#endif
#define EACH_WORD(w) for (uint w = get_local_id(0); w < RANGE_WORDS; w += SET_WG)

static inline words_t operand_words(ARENA, words_t aux, words_t decoded, uint4 r) {
    uint buffer = r.w >> 8;
    if (buffer == FROM_AUX)
        return aux + r.x;
    if (buffer == FROM_DECODED)
        return decoded + (size_t)r.x * 4;
    return arena_at(ARENA_ARGS, buffer, r.x);
}

// not_below returns the first of n ascending docIDs that is not below x.
static inline uint not_below(words_t p, uint n, ulong x) {
    uint lo = 0, hi = n;
    while (lo < hi) {
        uint mid = lo + (hi - lo) / 2;
        if (p[mid] < x) lo = mid + 1; else hi = mid;
    }
    return lo;
}

// join_bits joins a set with the bits of n operands, from word `first` of them on.
// A work-group goes word by word, so that the loads of several operands are on
// their way at once; a serial one operand by operand, which compiles to vectors.
static inline void join_bits(ARENA, words_t aux, words_t decoded, __global const uint4 *operands, uint n, uint first,
                             uint does, __local uint *set) {
    uint flip = does == STEP_ANDNOT ? 0xffffffffu : 0;
#if SCAN_SERIAL
    for (uint k = 0; k < n; k++) {
        uint4 r = operands[k];
        words_t p = operand_words(ARENA_ARGS, aux, decoded, r) + first;
        uint inside = r.y > first ? min(r.y - first, (uint)RANGE_WORDS) : 0;
        if (does == STEP_OR) {
            for (uint w = 0; w < inside; w++)
                set[w] |= p[w];
            continue;
        }
        for (uint w = 0; w < inside; w++)
            set[w] &= p[w] ^ flip;
        for (uint w = inside; w < RANGE_WORDS; w++)
            set[w] &= flip;
    }
#else
    EACH_WORD(w) {
        uint at = first + w, v = set[w];
        #pragma unroll 4
        for (uint k = 0; k < n; k++) {
            uint4 r = operands[k];
            words_t p = operand_words(ARENA_ARGS, aux, decoded, r);
            uint b = at < r.y ? p[at] : 0;
            v = does == STEP_OR ? v | b : v & (b ^ flip);
        }
        set[w] = v;
    }
#endif
}

#if !SCAN_SERIAL
__attribute__((reqd_work_group_size(SET_WG, 1, 1)))
#endif
__kernel void evaluate(ARENA, __global const uint *aux, __global const uint *decoded, __global const uint4 *batch,
                       __global uint *words, __global uint *counts, volatile __global uint *sums, uint steps_at,
                       uint groups_at, uint docs, uint sums_at, __local uint *stack) {
    __local uint2 found[PAGE]; // begin and end in the list
    __local uint total;
    uint lid = get_local_id(0), g = GROUP_ID(0);
    uint4 group = batch[groups_at + g];
    uint base = group.z * RANGE;
    if (lid == 0)
        total = 0;
    for (uint s = 0; s < group.y; s++) {
        uint4 step = batch[steps_at + group.x + s];
        uint does = step.x & 0xff;
        __local uint *set = stack + (step.x >> 8) * RANGE_WORDS, *above = set + RANGE_WORDS;
        SYNC;
        if (does == STEP_FIND) {
            for (uint i = lid; i < step.z; i += SET_WG) {
                uint4 r = batch[step.y + i];
                words_t p = operand_words(ARENA_ARGS, aux, decoded, r);
                uint from = r.w & 0xff ? 0 : not_below(p, r.y, base);
                uint most = r.w & 0xff ? 0 : min(r.y - from, (uint)RANGE);
                found[i] = (uint2)(from, from + not_below(p + from, most, (ulong)base + RANGE));
            }
        } else if (does == STEP_CLEAR) {
            EACH_WORD(w) set[w] = 0;
        } else if (does <= STEP_UNSET) {
            // Rows of work-items take lists in turn; there are as many as lists, so
            // that short ones do not leave most of a group idle.
            uint rows = 1;
            while (2 * rows <= min(step.z, (uint)SET_WG / 16))
                rows *= 2;
            uint width = SET_WG / rows;
            for (uint k = lid / width; k < step.z; k += rows) {
                words_t p = operand_words(ARENA_ARGS, aux, decoded, batch[step.y + k]);
                uint2 part = found[step.w + k];
                for (uint i = part.x + lid % width; i < part.y; i += width) {
                    uint x = p[i] - base;
                    if (x >= RANGE)
                        continue; // the list is corrupt
                    if (does == STEP_SET)
                        SET_BITS(&set[x / 32], 1u << (x & 31));
                    else
                        UNSET_BITS(&set[x / 32], 1u << (x & 31));
                }
            }
        } else if (does <= STEP_ANDNOT) {
            join_bits(ARENA_ARGS, aux, decoded, batch + step.y, step.z, base / 32, does, set);
        } else {
            EACH_WORD(w) {
                uint x = set[w], y = above[w];
                set[w] = does == STEP_AND2 ? x & y : does == STEP_OR2 ? x | y : does == STEP_ANDNOT2 ? x & ~y : y & ~x;
            }
        }
    }
    SYNC;
    uint n = 0;
    EACH_WORD(w) {
        uint v = stack[w], from = base + 32 * w;
        if (from + 31 >= docs) // the last document is below 2^32-1, so this does not wrap
            v = from < docs ? v & low_mask(docs - from) : 0;
        n += popcount(v);
        words[(size_t)g * RANGE_WORDS + w] = v;
    }
    if (n)
        ADD_TO(&total, n);
    SYNC;
    if (lid == 0) {
        counts[g] = total;
        if (total)
            atomic_add(sums + sums_at + g / BLOCK, total);
    }
}

#if !SCAN_SERIAL
__attribute__((reqd_work_group_size(SET_WG, 1, 1)))
#endif
__kernel void expand(__global const uint4 *batch, __global const uint *words, __global const uint *counts,
                     __global const uint *sums, __global uint *out, uint groups_at, uint sums_at, uint first,
                     uint skip) {
    __local uint before, ends[SET_WG];
    uint lid = get_local_id(0), g = first + GROUP_ID(0);
#if SCAN_SERIAL
    if (counts[g] == 0)
        return; // there is no barrier to miss
#endif
    if (lid == 0)
        before = 0;
    SYNC;
    uint sum = 0;
    for (uint b = lid; b < g / BLOCK; b += SET_WG)
        sum += sums[sums_at + b];
    for (uint i = g / BLOCK * BLOCK + lid; i < g; i += SET_WG)
        sum += counts[i];
    if (sum)
        ADD_TO(&before, sum);
    __global const uint *mine = words + (size_t)g * RANGE_WORDS + lid * (RANGE_WORDS / SET_WG);
    uint own = 0;
    for (uint k = 0; k < RANGE_WORDS / SET_WG; k++)
        own += popcount(mine[k]);
    ends[lid] = own;
    SYNC;
    for (uint d = 1; d < SET_WG; d *= 2) {
        uint o = lid >= d ? ends[lid - d] : 0;
        SYNC;
        ends[lid] += o;
        SYNC;
    }
    uint to = before - skip + ends[lid] - own;
    uint doc = batch[groups_at + g].z * RANGE + lid * RANGE / SET_WG;
    for (uint k = 0; k < RANGE_WORDS / SET_WG; k++, doc += 32)
        for (uint v = mine[k]; v; v &= v - 1)
            out[to++] = doc + 31 - clz(v & -v);
}
