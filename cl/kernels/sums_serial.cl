// sums, serial: sums of bounds of the documents of a range by one work-item. Helpers of coarse_serial.cl, no kernel of
// its own.
//
// Computes  enter_range: the parts of the lists of a query in a range, and sums of the greatest bounds in each block;
//           add_block, add_half: the sums of bounds of the documents of a block, and of half of a range: of the
//           upper ones in the upper 16 bits, of the lower ones in the other bits.
// Source    see coarse.cl.
// Bounds    packets and blocks come from packets.cl: their offsets lie in the range.
#ifndef HEDDLE_SUMS_SERIAL
#define HEDDLE_SUMS_SERIAL
#ifndef HEDDLE_BLOCKS
#include "blocks.cl"
#endif
#ifndef HEDDLE_SUMS
#include "sums.cl"
#endif
#if SCAN_SERIAL
#define IS_DENSE(term) ((term).y >> 8)
#define HALF_BLOCKS (RANGE_BLOCKS / 2)
#define HALF_DOCS (PACKET_RANGE / 2)
#define LANES_OF(x) ((ushort16)((ushort)(x)))

// query_t is a query: its lists, and the parts of those with postings in a range.
typedef struct {
    __global const uint4 *lists[COARSE_TERMS], *parts[COARSE_TERMS];
    uint4 terms[COARSE_TERMS], of[COARSE_TERMS]; // see coarse.cl; of: the terms of parts
    uint count[COARSE_TERMS], next[COARSE_TERMS]; // postings of parts; the first one behind the last block added
    uint n, parts_n, each; // numbers of terms, of parts
} query_t;

// add_bounds adds the bounds of a list to the sums of blocks, by the greatest components in them. A bound is up to
// one more than that of a posting.
static inline void add_bounds(ushort16 *sums, const uchar16 *greatest, uint w, uint each) {
    for (uint i = 0; i < RANGE_BLOCKS / 16; i++) {
        ushort16 s = convert_ushort16(greatest[i]);
        ushort16 bounds = mul_hi(s << LANES_OF(8), LANES_OF(w)) + LANES_OF(each + 1);
        sums[i] = add_sat(sums[i], bounds & as_ushort16(s != LANES_OF(0)));
    }
}

// enter_range sets the parts of range r, and the sums of the greatest bounds in each block.
static inline void enter_range(query_t *x, uint r, uint ranges, ushort16 *sums) {
    uint n = 0, heads = PACKET_HEADS(ranges);
    for (uint i = 0; i < RANGE_BLOCKS / 16; i++)
        sums[i] = 0;
    for (uint t = 0; t < x->n; t++) {
        __global const uint *head = (__global const uint *)x->lists[t] + r;
        uint packets = head[1] - head[0], count;
        if (packets == 0)
            continue;
        __global const uint4 *part = x->lists[t] + heads + head[0];
        uchar16 greatest[RANGE_BLOCKS / 16];
        if (IS_DENSE(x->terms[t])) {
            count = head[ranges + 2] - head[ranges + 1];
            for (uint i = 0; i < RANGE_BLOCKS / 16; i++)
                greatest[i] = ((__global const uchar16 *)part)[i];
        } else {
            __global const uint *words = (__global const uint *)part;
            for (count = 4 * packets; words[count - 1] < 1 << 24; count--) // padding
                ;
            for (uint i = 0; i < RANGE_BLOCKS / 16; i++)
                greatest[i] = 0;
            for (uint i = 0; i < count; i++) {
                uchar *of = (uchar *)greatest + (words[i] & 0xffffff) / BLOCK_DOCS;
                *of = max(*of, (uchar)(words[i] >> 24));
            }
        }
        add_bounds(sums, greatest, x->terms[t].z, x->each);
        x->parts[n] = part;
        x->of[n] = x->terms[t];
        x->count[n] = count;
        x->next[n] = 0;
        n++;
    }
    x->parts_n = n;
}

// BOUNDS adds both bounds of a component, or of a vector of them, and `each`: the upper one is in the upper 16 bits.
#define BOUNDS(term, s, each) ((((((term).z * (s) + 255) >> 8) + (each)) << 16) + ((term).w * ((s) - 1) >> 16) + (each))

// add_block adds the bounds of the postings in block b to the sums of its documents.
static inline void add_block(query_t *x, uint b, uint *acc) {
    for (uint p = 0; p < x->parts_n; p++) {
        uint4 term = x->of[p];
        uint count = x->count[p];
        if (IS_DENSE(term)) {
            __global const ushort *starts = BLOCK_STARTS(x->parts[p]), *offsets = BLOCK_OFFSETS(x->parts[p], count);
            __global const uchar *components = BLOCK_COMPONENTS(x->parts[p]);
            uint end = block_end(starts, b, count);
            for (uint i = starts[b]; i < end; i++)
                acc[offsets[i] % BLOCK_DOCS] += BOUNDS(term, (uint)components[i], x->each);
        } else {
            __global const uint *words = (__global const uint *)x->parts[p];
            uint i = x->next[p];
            while (i < count && (words[i] & 0xffffff) < b * BLOCK_DOCS)
                i++;
            for (; i < count && (words[i] & 0xffffff) < (b + 1) * BLOCK_DOCS; i++)
                acc[words[i] % BLOCK_DOCS] += BOUNDS(term, words[i] >> 24, x->each);
            x->next[p] = i;
        }
    }
}

// add_half adds the bounds of the postings in a half of the range to the sums of its documents.
static inline void add_half(const query_t *x, uint part, uint *acc) {
    for (uint p = 0; p < x->parts_n; p++) {
        uint4 term = x->of[p];
        uint count = x->count[p];
        if (IS_DENSE(term)) {
            __global const ushort *starts = BLOCK_STARTS(x->parts[p]), *offsets = BLOCK_OFFSETS(x->parts[p], count);
            __global const uchar *components = BLOCK_COMPONENTS(x->parts[p]);
            uint end = part ? count : starts[HALF_BLOCKS];
            for (uint i = part ? starts[HALF_BLOCKS] : 0; i < end; i += 16) { // no load leaves the part: offsets are behind
                uint bounds[16];
                vstore16(BOUNDS(term, convert_uint16(vload16(0, components + i)), x->each), 0, bounds);
                if (end - i >= 16) {
                    for (uint j = 0; j < 16; j++)
                        acc[offsets[i + j] % HALF_DOCS] += bounds[j];
                } else {
                    for (uint j = 0; j < end - i; j++)
                        acc[offsets[i + j] % HALF_DOCS] += bounds[j];
                }
            }
        } else {
            __global const uint *words = (__global const uint *)x->parts[p];
            for (uint i = 0; i < count; i++) {
                uint offset = words[i] & 0xffffff;
                if (offset / HALF_DOCS == part)
                    acc[offset % HALF_DOCS] += BOUNDS(term, words[i] >> 24, x->each);
            }
        }
    }
}

#endif
#endif
