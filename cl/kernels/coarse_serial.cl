// coarse_sums, serial: the documents that may be among the best of ranked queries, by one work-item that reads the
// blocks that may hold one of them. coarse.cl is the shape with work-groups: bounds and batch are the same.
//
// Computes  docIDs whose sum of upper bounds comes to the threshold of the moment, appended with the sums to
//           found[q * capacity ...], pairs of words, their number in FOUND. A query that seeks takes all documents
//           of its filter, each with the sum 0. Documents that are not in the filter of the query do not count.
//           The threshold rises with the k-th greatest sum so far, see raise.cl: k documents have a
//           score that comes to it. So the best k documents are among the ones found.
//           All sums have 16 bits. `every` and `cells` have no use.
// Source    block-max indexes (Ding and Suel 2011, "Faster top-k document retrieval using block-max indexes").
// State     a query's is cleared.
// Progress  of a query, see coarse.cl; REACHED is the greatest limit of sums so far.
// Phases    range by range: (1) the greatest bounds of the lists are added up for each block of BLOCK_DOCS
//           documents; (2) block by block whose sum comes to the limit, the bounds of its documents are added
//           up and compared; (3) sums found are counted by their upper bits, and the limit rises.
// Launch    a group of one work-item for a query and `span` ranges, the groups of a query together.
// Local     none.
// Host      queries have at most COARSE_TERMS terms.
// Bounds    packets and blocks come from packets.cl: their offsets lie in the range.
#ifndef HEDDLE_COARSE_SERIAL
#define HEDDLE_COARSE_SERIAL
#ifndef HEDDLE_POSTING
#include "posting.cl"
#endif
#ifndef HEDDLE_GROUP
#include "group.cl"
#endif
#ifndef HEDDLE_SUMS_SERIAL
#include "sums_serial.cl"
#endif
#ifndef COARSE_FILTER
#define COARSE_FILTER 0 // queries have filters
#endif
#if SCAN_SERIAL
#define SUM_BINS (1 << (16 - SUM_SHIFT)) // numbers of sums, by their upper bits
#define SUM_SHIFT 5
#define TOGETHER (HALF_BLOCKS / 2) // blocks of a half of a range whose postings take no less time than all
#define SPLIT_SAMPLE 8
#define SPLIT_BLOCKS(k) ((k) / 16 + 16)

// bits_of has bit i where element i is -1, not 0. Oclgrind 21.10 takes halves of a short16 for undefined.
static inline uint bits_of(short16 is) {
    ulong4 own = as_ulong4(is & (short16)(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, -32768));
    ulong2 two = own.lo | own.hi;
    ulong bits = two.x | two.y;
    bits |= bits >> 32;
    return (bits | bits >> 16) & 0xffff;
}

static inline uint lowest_bit(uint bits) { return popcount(~bits & (bits - 1)); }

// LIVE has a bit of each of 16 blocks, of given sums, that the pass reads.
#define LIVE(sums) bits_of(pass == 0 ? sums >= LANES_OF(max(limit, split)) : (sums >= LANES_OF(limit)) & (sums < LANES_OF(split)))

// limit_of is the least sum of a document that may have the score theta: see coarse.cl.
static inline uint limit_of(uint theta, uint4 query, uint full) {
    return clamp(full + (theta - min(theta, query.y)) / max(query.z, 1u), 1u, 0xffffu);
}

// keep_found moves the documents of n whose sums come to the limit to the front, and returns their number.
static inline uint keep_found(__global uint *found, uint n, uint limit) {
    uint kept = 0;
    for (uint i = 0; i < n; i++) {
        uint2 one = vload2(i, found);
        if (one.y >= limit)
            vstore2(one, kept++, found);
    }
    return kept;
}

__kernel void coarse_sums(__global const uint4 *restrict p0, __global const uint4 *restrict p1,
                          __global const uint4 *restrict p2, __global const uint4 *restrict p3, __global uint4 *batch,
                          __global uint *state, state_t found, __global const uint *restrict filters, uint terms_at,
                          uint queries_at, uint query_from, uint queries, uint ranges, uint every, uint span,
                          uint capacity, uint cells, uint k, uint all) {
    state_t progress = (state_t)batch;
    query_t x;
    uint bins[SUM_BINS];
    ushort16 sums[RANGE_BLOCKS / 16];
    uint16 both[HALF_DOCS / 16];
    bool together = false; // all postings of a half of a range are added up
    uint groups = (ranges + span - 1) / span, q = query_from + GROUP_ID(0) / groups;
    uint first = GROUP_ID(0) % groups * span, end = min(first + span, ranges);
    uint4 query = batch[COARSE_QUERY(q)];
    x.n = min(query.y, (uint)COARSE_TERMS);
    x.each = each_of(all, x.n);
    uint full = all_of(all, x.n), theta = 0, limit = max(full, 1u);
    if (first == 0)
        vstore4((uint4)0, q, state);
    for (uint t = 0; t < x.n; t++) {
        uint4 term = x.terms[t] = batch[terms_at + 2 * (query.x + t)];
        uint b = term.y & 255;
        x.lists[t] = (b == 0 ? p0 : b == 1 ? p1 : b == 2 ? p2 : p3) + term.x;
    }
#if COARSE_FILTER
    uint4 filter = batch[COARSE_FILTER_OF(q)];
    __global const uint *passing = filters + (size_t)filter.x * 4;
    for (uint i = first * (PACKET_RANGE / 32); filter.z && i < min(end * (PACKET_RANGE / 32), filter.y); i++)
        for (uint v = passing[i]; v; v &= v - 1) {
            uint n = atomic_inc(&progress[PROGRESS_OF(q, FOUND)]);
            if (n < capacity)
                vstore2((uint2)(i * 32 + lowest_bit(v), 0), (size_t)q * capacity + n, (__global uint *)found);
        }
    end = filter.z ? first : end;
#endif
    for (uint i = 0; i < SUM_BINS; i++)
        bins[i] = 0;
    for (uint r = first; r < end; r += SPLIT_SAMPLE) {
        enter_range(&x, r, ranges, sums);
        for (uint b = 0; b < RANGE_BLOCKS; b++)
            bins[((const ushort *)sums)[b] >> SUM_SHIFT]++;
    }
    uint split = SUM_BINS - 1;
    for (uint blocks = bins[split]; blocks < SPLIT_BLOCKS(k) / SPLIT_SAMPLE && split > 0; blocks += bins[split])
        split--;
    split <<= SUM_SHIFT;
    for (uint i = 0; i < SUM_BINS; i++)
        bins[i] = 0;
    __global uint *own = (__global uint *)found + 2 * (size_t)q * capacity;
    uint n = 0, kept_from = limit; // n: documents found by the only group of a query, above capacity if some were lost; kept_from: the limit at the last keep_found
    uint level = 0, above = 0; // k documents found have sums from level << SUM_SHIFT on, `above` of them have greater bins
    for (uint pass = 0; pass < 2; pass++)
        for (uint r = first; r < end; r++) {
            enter_range(&x, r, ranges, sums);
            if (x.parts_n == 0 || (all && x.parts_n < x.n))
                continue;
            if (groups > 1) {
                theta = max(theta, ASK(&progress[PROGRESS_OF(q, REACHED)]));
                limit = limit_of(theta, query, full);
            }
            for (uint i = 0; i < RANGE_BLOCKS / 16; i++) {
                if (i % (HALF_BLOCKS / 16) == 0) {
                    uint blocks = 0;
                    for (uint j = i; j < i + HALF_BLOCKS / 16; j++)
                        blocks += popcount(LIVE(sums[j]));
                    if ((together = blocks >= TOGETHER)) {
                        for (uint j = 0; j < HALF_DOCS / 16; j++)
                            both[j] = 0;
                        add_half(&x, i / (HALF_BLOCKS / 16), (uint *)both);
                    }
                }
                for (uint live = LIVE(sums[i]); live; live &= live - 1) {
                    uint b = 16 * i + lowest_bit(live), hits = 0, bits[BLOCK_DOCS / 16];
                    uint16 block[BLOCK_DOCS / 16] = {0, 0, 0, 0}, *rows = together ? both + b % HALF_BLOCKS * (BLOCK_DOCS / 16) : block;
                    short16 is[BLOCK_DOCS / 16];
                    if (!together)
                        add_block(&x, b, (uint *)block);
                    for (uint j = 0; j < BLOCK_DOCS / 16; j++)
                        is[j] = convert_ushort16(rows[j] >> 16) >= LANES_OF(limit);
                    if (bits_of((is[0] | is[1]) | (is[2] | is[3])) == 0)
                        continue;
                    for (uint j = 0; j < BLOCK_DOCS / 16; j++) {
                        bits[j] = bits_of(is[j]);
#if COARSE_FILTER
                        uint word = (r * PACKET_RANGE + b * BLOCK_DOCS) / 32 + j / 2;
                        bits[j] &= filter.y ? (word < filter.y ? passing[word] : 0) >> j % 2 * 16 : 0xffff;
#endif
                        hits += popcount(bits[j]);
                    }
                    if (hits == 0)
                        continue;
                    if (groups == 1 && n <= capacity && n + hits > capacity && limit > kept_from) {
                        n = keep_found(own, n, limit);
                        kept_from = limit;
                    }
                    uint to = groups > 1 ? atomic_add(&progress[PROGRESS_OF(q, FOUND)], hits) : n;
                    n += hits;
                    for (uint j = 0; j < BLOCK_DOCS / 16; j++)
                        for (uint v = bits[j]; v; v &= v - 1, to++) {
                            uint of = 16 * j + lowest_bit(v), bounds = ((const uint *)rows)[of], bin = (bounds & 0xffff) >> SUM_SHIFT;
                            if (to < capacity)
                                vstore2((uint2)(r * PACKET_RANGE + b * BLOCK_DOCS + of, bounds >> 16), to, own);
                            bins[bin]++;
                            above += bin > level;
                        }
                    if (above >= k) {
                        while (above >= k)
                            above -= bins[++level];
                        theta = max(theta, ((level << SUM_SHIFT) - min(level << SUM_SHIFT, full)) * query.w);
                        limit = limit_of(theta, query, full);
                        atomic_max(&progress[PROGRESS_OF(q, REACHED)], theta);
                    }
                }
            }
        }
    if (groups == 1 && end > first)
        progress[PROGRESS_OF(q, FOUND)] = n > capacity ? n : keep_found(own, n, limit);
}

#endif
#endif
