// slice: codes as bit slices in tiles of 4,096 rows (package codec/bitslice). Helpers of slices.cl and column.cl,
// no kernel of its own.
//
// Computes  slice_rows, slice_word: a slice, of the rows of a part of a tile and of 32 rows; between: the rows of a
//           part whose codes lie in a range; code_at: the code of a row; turned: bits of the codes of 32 rows.
// Source    O'Neil and Quass 1997; Li and Patel 2013: from the most significant slice on, until all rows are decided.
// Tiles     two uint4: {where the words of the tile begin in units of four words of its buffer, the buffer, least
//           code: lower and upper half}, {width (bits 0-7), flags (8-15), rows - 1 (16-31), words, rows with a value,
//           0}. Slices hold code - least code.
// Bounds    tiles are the host's, which has validated their words.
#ifndef HEDDLE_SLICE
#define HEDDLE_SLICE
#ifndef HEDDLE_COMMON
#include "common.cl"
#endif

#define SLICE_WORDS 128 // words of a plain slice of a whole tile

#define FLAG_MISSING 1 // the first slice tells which rows have a value
#define FLAG_PLAIN 2   // no directory, all slices are plain

// Forms of slices. A sparse one is a ushort with the rarer bit and the number of its rows, then the rows.
#define FORM_PLAIN 0
#define FORM_ZEROS 1
#define FORM_ONES 2
#define FORM_SPARSE 3

// A part is the rows of a tile that a work-item has at a time, 32 in each word of a vector.
#if SCAN_SERIAL
#define LANES 8
typedef uint8 part_t;
#define LANE ((uint8)(0, 1, 2, 3, 4, 5, 6, 7))
#define as_part as_uint8
#define part_load vload8
#define part_of(p) vload8(0, p) // global memory at a multiple of 16 bytes
#define part_store vstore8
#else
#define LANES 4
typedef uint4 part_t;
#define LANE ((uint4)(0, 1, 2, 3))
#define as_part as_uint4
#define part_load vload4
#define part_of(p) (*(__global const uint4 *)(p))
#define part_store vstore4
#endif
#define PART_ROWS (32 * LANES)
#define PARTS (SLICE_WORDS / LANES) // parts of a whole tile

typedef struct {
    __global const uint4 *words;
    ulong least;
    uint width, flags, rows;
    uint plain; // uint4 of a plain slice
} slices_t;

static inline slices_t slices_at(BUFFERS, __global const uint4 *tiles, uint i) {
    uint4 place = tiles[2 * (size_t)i], shape = tiles[2 * (size_t)i + 1];
    slices_t t;
    t.words = (__global const uint4 *)buffer_at(place.y, place.x);
    t.least = (ulong)place.w << 32 | place.z;
    t.width = shape.x & 0xff;
    t.flags = shape.x >> 8 & 0xff;
    t.rows = (shape.x >> 16) + 1;
    t.plain = (t.rows + 127) / 128;
    return t;
}

// first_bit is the number of slice 0 of the codes.
static inline uint first_bit(slices_t t) { return t.flags & FLAG_MISSING; }

// entry_of gives the form of slice s (FORM_OF), and where it begins in uint4 of the tile (START_OF).
#define FORM_OF(entry) ((entry) >> 14)
#define START_OF(entry) ((entry) & 0x3fff)
static inline uint entry_of(slices_t t, uint s) {
    return t.flags & FLAG_PLAIN ? s * t.plain : ((__global const ushort *)t.words)[s];
}

// rare_from is the place of the first row of a sparse slice that is not below `row`.
static inline uint rare_from(__global const ushort *rare, uint row) {
    uint lo = 1, hi = (rare[0] & 0x7fff) + 1;
    while (lo < hi) {
        uint mid = (lo + hi) / 2;
        if (rare[mid] < row)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

// part_at returns the part at word w of plain bits of so many words, which begin at a multiple of 16 bytes. Bits behind
// them are 0.
static inline part_t part_at(__global const uint *bits, uint w, uint words) {
    if (w + LANES <= words)
        return part_of(bits + w);
    uint some[LANES];
    for (uint l = 0; l < LANES; l++)
        some[l] = w + l < words ? bits[w + l] : 0;
    return part_load(0, some);
}

// slice_rows returns slice s of part q. Bits behind the last row are any.
static inline part_t slice_rows(slices_t t, uint s, uint q, uint *loads) {
    uint e = entry_of(t, s), form = FORM_OF(e);
    if (form == FORM_PLAIN) {
        LOADS(*loads, LANES);
#if SCAN_SERIAL
        return part_at((__global const uint *)(t.words + START_OF(e)), q * LANES, 4 * t.plain);
#else
        return t.words[START_OF(e) + q];
#endif
    }
    if (form != FORM_SPARSE)
        return (part_t)(form == FORM_ONES ? 0xffffffff : 0);
    __global const ushort *rare = (__global const ushort *)(t.words + START_OF(e));
    part_t rows = 0;
    for (uint i = rare_from(rare, q * PART_ROWS), n = rare[0] & 0x7fff; i <= n && rare[i] < (q + 1) * PART_ROWS; i++) {
        uint row = rare[i] - q * PART_ROWS;
        rows |= as_part(LANE == (part_t)(row / 32)) & 1u << row % 32;
        LOADS(*loads, 1);
    }
    return rare[0] >> 15 ? rows : ~rows;
}

// slice_word returns slice s of the rows of word g of the tile.
static inline uint slice_word(slices_t t, uint s, uint g) {
    uint e = entry_of(t, s), form = FORM_OF(e);
    if (form == FORM_PLAIN)
        return ((__global const uint *)(t.words + START_OF(e)))[g];
    if (form != FORM_SPARSE)
        return form == FORM_ONES ? 0xffffffff : 0;
    __global const ushort *rare = (__global const ushort *)(t.words + START_OF(e));
    uint rows = 0;
    for (uint i = rare_from(rare, 32 * g), n = rare[0] & 0x7fff; i <= n && rare[i] < 32 * (g + 1); i++)
        rows |= 1u << rare[i] % 32;
    return rare[0] >> 15 ? rows : ~rows;
}

static inline bool none(part_t set) {
#if SCAN_SERIAL
    uint4 some = set.lo | set.hi;
#else
    uint4 some = set;
#endif
    ulong2 all = as_ulong2(some);
    return (all.x | all.y) == 0;
}

// rows_in is the number of rows of a set.
static inline uint rows_in(part_t set) {
#if SCAN_SERIAL
    ulong4 n = popcount(as_ulong4(set));
    return (uint)(n.x + n.y + n.z + n.w);
#else
    uint4 n = popcount(set);
    return n.x + n.y + n.z + n.w;
#endif
}

static inline ulong low_bits(uint n) { return n ? ~0UL >> (64 - n) : 0; }

// low_zeros is the number of bits below the lowest 1 of x.
static inline uint low_zeros(ulong x) { return x ? 63 - (uint)clz(x & (0 - x)) : 64; }

// between returns the rows of a set whose codes lie in lo to hi.
static inline part_t between(slices_t t, part_t set, ulong lo, ulong hi, uint q, uint *loads) {
    ulong top = low_bits(t.width);
    if (hi < t.least || (lo > t.least && lo - t.least > top))
        return (part_t)0;
    lo = lo > t.least ? lo - t.least : 0;
    hi = min(hi - t.least, top);
    uint s = first_bit(t), b = t.width, same = 64 - (uint)clz(lo ^ hi); // bits that differ, and all below
    uint any_low = low_zeros(lo), any_high = low_zeros(~hi);           // lower bits that bound no code
    if (s)
        set &= slice_rows(t, 0, q, loads);
    while (b > same) {
        part_t x = slice_rows(t, s++, q, loads);
        set &= lo >> --b & 1 ? x : ~x;
        if (none(set))
            return set;
    }
    if (b <= min(any_low, any_high))
        return set;
    part_t high = slice_rows(t, s++, q, loads), low = set & ~high, in = 0; // rows that agree so far with hi, with lo
    high &= set;
    for (b--;; b--) {
        if (b <= any_low) {
            in |= low;
            low = 0;
        }
        if (b <= any_high) {
            in |= high;
            high = 0;
        }
        if (none(low | high))
            return in;
        part_t x = slice_rows(t, s++, q, loads);
        if (lo >> (b - 1) & 1) {
            low &= x;
        } else {
            in |= low & x;
            low &= ~x;
        }
        if (hi >> (b - 1) & 1) {
            in |= high & ~x;
            high &= x;
        } else {
            high &= ~x;
        }
    }
}

// code_at returns the code of a row of the tile without its least code.
static inline ulong code_at(slices_t t, uint row) {
    uint s = first_bit(t), g = row / 32;
    ulong code = 0;
    if (t.flags & FLAG_PLAIN) {
        __global const uint *word = (__global const uint *)(t.words + s * t.plain) + g;
        #pragma unroll 8
        for (uint b = 0; b < t.width; b++)
            code = code << 1 | (word[b * 4 * t.plain] >> row % 32 & 1);
    } else {
        for (uint b = 0; b < t.width; b++)
            code = code << 1 | (slice_word(t, s + b, g) >> row % 32 & 1);
    }
    return code;
}

// TURN exchanges bits of the words of a square of 32 × 32 bits: a step of its transposition.
#define TURN(by, mask)                                                        \
    _Pragma("unroll") for (uint i = 0; i < 16; i++) {                         \
        uint k = i / (by) * 2 * (by) + i % (by), low = x[k], high = x[k + (by)]; \
        x[k] = bitselect(low, high << (by), (uint)(mask) << (by));            \
        x[k + (by)] = bitselect(high, low >> (by), (uint)(mask));             \
    }

static inline void turn_square(uint *x) {
    TURN(16, 0x0000ffff)
    TURN(8, 0x00ff00ff)
    TURN(4, 0x0f0f0f0f)
    TURN(2, 0x33333333)
    TURN(1, 0x55555555)
}

// turned gives, of the rows of word g, the numbers whose n bits (32 at most) lie in the slices from s on, the most
// significant one first. A sparse slice counts as its frequent bit until its rare rows change.
static inline void turned(slices_t t, uint s, uint n, uint g, uint *number) {
    uint x[32], sparse = 0;
    #pragma unroll
    for (uint j = 0; j < 32; j++) {
        x[j] = 0;
        if (j < n) {
            uint e = entry_of(t, s + n - 1 - j), form = FORM_OF(e);
            if (form == FORM_PLAIN) {
                x[j] = ((__global const uint *)(t.words + START_OF(e)))[g];
            } else if (form == FORM_SPARSE) {
                sparse |= 1u << j;
                x[j] = ((__global const ushort *)(t.words + START_OF(e)))[0] >> 15 ? 0 : 0xffffffff;
            } else if (form == FORM_ONES) {
                x[j] = 0xffffffff;
            }
        }
    }
    turn_square(x);
    #pragma unroll
    for (uint r = 0; r < 32; r++)
        number[r] = x[r];
    for (; sparse; sparse &= sparse - 1) {
        uint j = 31 - clz(sparse & -sparse);
        __global const ushort *rare = (__global const ushort *)(t.words + START_OF(entry_of(t, s + n - 1 - j)));
        for (uint i = rare_from(rare, 32 * g), last = rare[0] & 0x7fff; i <= last && rare[i] < 32 * (g + 1); i++)
            number[rare[i] % 32] ^= 1u << j;
    }
}

// Codes of 32 rows without the least code of their tile: lower halves, and upper ones where the width is above 32.
typedef struct {
    uint part[2][32];
} codes_t;

// codes_of has one copy of `turned`, which compilers take long for.
static inline void codes_of(slices_t t, uint g, codes_t *c) {
    uint s = first_bit(t), upper = t.width > 32 ? t.width - 32 : 0;
    #pragma unroll 1
    for (uint h = 0; h < 1 + (t.width > 32); h++)
        turned(t, h ? s : s + upper, h ? upper : t.width - upper, g, c->part[h]);
}

static inline ulong code_of(slices_t t, const codes_t *c, uint r) {
    return t.least + c->part[0][r] + (t.width > 32 ? (ulong)c->part[1][r] << 32 : 0);
}
#endif
