// blocks: the postings of a dense list in a range of documents on CPU devices (SCAN_SERIAL), block by block.
// Helpers of packets.cl, coarse_serial.cl and complete.cl, no kernel of its own.
//
// Layout    in place of the packets of a range with n postings, each part in whole packets: the greatest component
//           of each block of BLOCK_DOCS documents, a byte, 0 without postings; the number of postings of the range
//           before each block, a ushort; the components of the postings, a byte each; their offsets in the range,
//           a ushort each.
// Computes  put_block_heads: the first two parts, from one block to another one; block_packets: the packets of n
//           postings; index_by_blocks: whether one of n postings of a range has a document, by its offset in
//           the range, and its index among them.
// Bounds    blocks come from packets.cl: offsets ascend, and numbers of postings from block to block.
#ifndef HEDDLE_BLOCKS
#define HEDDLE_BLOCKS
#ifndef PACKET_RANGE
#define PACKET_RANGE 8192
#endif
// PACKET_HEADS is the number of packets that the words before the packets of a list take: two numbers a range and
// one pair more, see packets.cl.
#define PACKET_HEADS(ranges) ((2 * (ranges) + 5) / 4)
#define BLOCK_DOCS 64
#define RANGE_BLOCKS (PACKET_RANGE / BLOCK_DOCS)
#define BLOCK_HEADS (3 * RANGE_BLOCKS / 16) // packets before the components
#define BLOCK_STARTS(range) ((__global const ushort *)(range) + RANGE_BLOCKS / 2)
#define BLOCK_COMPONENTS(range) ((__global const uchar *)((range) + BLOCK_HEADS))
#define BLOCK_OFFSETS(range, n) ((__global const ushort *)((range) + BLOCK_HEADS + ((n) + 15) / 16))

static inline uint block_packets(uint n) { return n ? BLOCK_HEADS + (n + 15) / 16 + (n + 7) / 8 : 0; }

static inline void put_block_heads(__global uint *range, uint from, uint to, uint postings) {
    for (uint b = from; b < to; b++) {
        ((__global uchar *)range)[b] = 0;
        ((__global ushort *)range)[RANGE_BLOCKS / 2 + b] = (ushort)postings;
    }
}

// block_end is the number of postings up to block b, of n in the range.
static inline uint block_end(__global const ushort *starts, uint b, uint n) { return b + 1 < RANGE_BLOCKS ? starts[b + 1] : n; }

static inline bool index_by_blocks(__global const uint4 *range, uint n, uint offset, uint *index) {
    if (n == 0)
        return false;
    __global const ushort *starts = BLOCK_STARTS(range), *offsets = BLOCK_OFFSETS(range, n);
    uint b = offset / BLOCK_DOCS, i = starts[b], end = block_end(starts, b, n);
    while (end - i > 8) { // the posting is not before i, nor from end on
        uint mid = i + (end - i) / 2;
        if (offsets[mid] <= offset) i = mid; else end = mid;
    }
    while (i < end && offsets[i] < offset)
        i++;
    *index = i;
    return i < end && offsets[i] == offset;
}

#endif
