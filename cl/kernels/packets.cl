// packets_count, packets_fill: posting lists as packets, for coarse.cl.
//
// Computes  of each list and each range of PACKET_RANGE documents the packets of its postings.
//           A packet is four words. A dense list has up to eight postings in a packet: the
//           offset of the first document in its range (13 bits: x 28-31, y 21-31), seven
//           gaps of 7 bits (x 0-27, y 0-20) and eight components of 8 bits (z, w). A larger
//           gap begins a new packet; with SCAN_SERIAL, blocks.cl describes them. Other lists have up
//           to four, a word each: component << 24 | offset. A component of 0 is padding.
//           The component of share s is floor(255 s / 2^32) + 1, see coarse.cl.
//           packets_count: counts[l * ranges + r], the packets of list l in range r.
//           packets_fill: the list's place: the first packet of each range and the end, the
//           first posting of each range and the end, both as words, rounded up to whole
//           packets, then the packets.
// Source    none; docIDs and components come from decode.cl and tf.cl.
// Batch     see posting.cl: the lists alone, their docIDs and components in scratch.
// Places    uint4 a list: {offset in packets, buffer, above 3 for a list to pass over, 1 if
//           dense, 0}; behind them, for
//           packets_fill, the first packets of ranges, ranges + 1 words a list.
// Phases    a work-item takes the postings of one list and range.
// Launch    any.
// Local     none.
// Bounds    any starts, docIDs and components: parts of lists are clamped to the list,
//           documents outside of the range are passed over, no packet is written behind
//           the ones of the range.
#ifndef HEDDLE_POSTING
#include "posting.cl"
#endif
#ifndef HEDDLE_BLOCKS
#include "blocks.cl"
#endif

static inline uint component_of(uint share) { return (uint)(((ulong)share * 255) >> 32) + 1; }

#if SCAN_SERIAL
// pack_blocks is pack for a dense list. Postings that no encoder wrote become postings of component 0.
static inline uint pack_blocks(__global const uint *docs, __global const uint *components, uint i, uint end, uint base,
                               __global uint *to, uint most) {
    uint m = end > i ? end - i : 0, packets = block_packets(m), n = 0, least = 0, blocks = 0; // blocks that have begun
    if (packets == 0 || most < packets)
        return packets;
    __global uchar *greatest = (__global uchar *)to, *parts = (__global uchar *)BLOCK_COMPONENTS((__global uint4 *)to);
    __global ushort *offsets = (__global ushort *)BLOCK_OFFSETS((__global uint4 *)to, m);
    for (; i < end; i++) {
        uint x = docs[i] - base;
        if (x >= PACKET_RANGE || x < least)
            continue;
        least = x + 1;
        put_block_heads(to, blocks, x / BLOCK_DOCS + 1, n);
        blocks = x / BLOCK_DOCS + 1;
        uchar c = (uchar)component_of(components[i]);
        greatest[blocks - 1] = max(greatest[blocks - 1], c);
        parts[n] = c;
        offsets[n++] = (ushort)x;
    }
    put_block_heads(to, blocks, RANGE_BLOCKS, n);
    for (; n < m; n++)
        parts[n] = offsets[n] = 0;
    return packets;
}
#endif

// pack writes the packets of postings i to end-1 to `to`, at most `most` of them, and
// returns how many there are. With most 0 it counts only.
static inline uint pack(__global const uint *docs, __global const uint *components, uint i, uint end, uint base, bool dense,
                        __global uint *to, uint most) {
#if SCAN_SERIAL
    if (dense)
        return pack_blocks(docs, components, i, end, base, to, most);
#endif
    uint n = 0, used = 0, last = 0;
    uint4 v = 0;
    for (; i < end; i++) {
        uint x = docs[i] - base;
        if (x >= PACKET_RANGE)
            continue; // the list is corrupt
        uint c = component_of(components[i]), gap = x - last;
        if (used == (dense ? 8 : 4) || (dense && used && gap > 127)) {
            if (n < most)
                vstore4(v, n, to);
            n++;
            used = 0;
        }
        if (!dense) {
            uint word = c << 24 | x;
            v = used == 0 ? (uint4)(word, 0, 0, 0) : used == 1 ? (uint4)(v.x, word, 0, 0)
              : used == 2 ? (uint4)(v.x, v.y, word, 0) : (uint4)(v.x, v.y, v.z, word);
        } else if (used == 0) {
            v = (uint4)(x >> 11 << 28, x << 21, c, 0);
        } else {
            if (used < 5) v.x |= gap << (7 * (used - 1)); else v.y |= gap << (7 * (used - 5));
            if (used < 4) v.z |= c << (8 * used); else v.w |= c << (8 * (used - 4));
        }
        last = x;
        used++;
    }
    if (used) {
        if (n < most)
            vstore4(v, n, to);
        n++;
    }
    return n;
}

#define PACKETS_ARGUMENTS                                                                         \
    __global const uint4 *batch, uint lists, __global const uint *docs, __global const uint *components, \
        __global const uint *starts, uint ranges, __global const uint *places

__kernel void packets_count(PACKETS_ARGUMENTS, __global uint *counts) {
    uint g = get_global_id(0), l = g / ranges, r = g % ranges;
    if (l >= lists)
        return;
    uint4 part = batch[LIST_RECORD(l) + 1], place = vload4(l, places);
    uint at = batch[LIST_RECORD(l) + 2].z + r;
    counts[g] = pack(docs + (size_t)part.z * 4, components + (size_t)part.z * 4, min(starts[at], part.y),
                     min(starts[at + 1], part.y), r * PACKET_RANGE, place.z, 0, 0);
}

__kernel void packets_fill(PACKETS_ARGUMENTS, __global uint *p0, __global uint *p1, __global uint *p2, __global uint *p3) {
    uint g = get_global_id(0), l = g / ranges, r = g % ranges;
    if (l >= lists)
        return;
    uint4 part = batch[LIST_RECORD(l) + 1], place = vload4(l, places);
    uint at = batch[LIST_RECORD(l) + 2].z + r;
    if (place.y > 3)
        return;
    __global const uint *first = places + 4 * lists + (size_t)l * (ranges + 1);
    __global uint *list = (place.y == 0 ? p0 : place.y == 1 ? p1 : place.y == 2 ? p2 : p3) + (size_t)place.x * 4;
    uint begin = min(starts[at], part.y), end = min(starts[at + 1], part.y);
    list[r] = first[r];
    list[ranges + 1 + r] = begin;
    if (r == ranges - 1) {
        list[ranges] = first[ranges];
        list[2 * ranges + 1] = end;
    }
    pack(docs + (size_t)part.z * 4, components + (size_t)part.z * 4, begin, end, r * PACKET_RANGE, place.z,
         list + ((size_t)PACKET_HEADS(ranges) + first[r]) * 4, first[r + 1] - first[r]);
}
