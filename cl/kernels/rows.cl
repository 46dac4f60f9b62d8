// rows: selections over the vectors of a table, tile by tile of their rows.
//
// Computes  for each selection and tile of TILE_GROUPS groups the rows that its steps
//           leave (plan.Selections): its count goes up by how many, from zeros of the
//           host's; where `out` is wanted, the rows of the tile as plain bits:
//           out[selection*stride ...], row r at bit r%32 of word r/32.
// Source    Nelson et al. 2020, where vectors are decompressed and the results reduced.
//           Here no decompressed vector is written: a group of work-items holds a tile
//           in registers, and finds the word of each group of rows of each vector by a
//           directory that the host made once, of what Algorithm 2 scans for.
// Directory see directory.cl.
// Batch     one upload of uint4: {loads, carries, 0, 0}, counts, selections {first step,
//           steps, 0, 0}, steps, operands. A step is {code, first operand, operands,
//           column}. An operand is
//             of STEP_ANY    {words of the vector in units of four words of 32 bits, its
//                            number, its part of `fine` in such units, arena buffer}
//             of STEP_CHECK  first {low, words, high, words} of packed values, their
//                            buffers in the step's column (bits 0-7, 8-15); no high
//                            ones without words. Then ranges {Lo, Hi}, ascending
//           STEP_LOAD pushes column `column` of `columns`, groups as words.
// Phases    STEP_ANY: (1) work-items look operands up in the directory and list those
//           that have rows in the tile; one that has all ends the step; (2) words of
//           sparse vectors are shared out and ORed in local memory; (3) each work-item
//           ORs the words of its groups, OWN a vector, in registers. Other steps concern
//           a work-item's own groups. SCAN_SERIAL: operand by operand, word by word.
// Launch    a group of TABLE_WG work-items (SCAN_SERIAL: of one) for each tile and each
//           selection from `first` on: group g has selection first + g % selections.
// Local     TILE_GROUPS words, and as many for each set of the stack but the top, sized
//           by the host; 32 bytes a work-item and 32.
// Bounds    steps, operands and directory are the host's, which has validated vectors;
//           packed values may be any words.
#ifndef HEDDLE_DIRECTORY
#include "directory.cl"
#endif

#ifndef TABLE_LOADS
#define TABLE_LOADS 4 // vectors whose words are loaded together
#endif
#if SCAN_SERIAL
#undef TABLE_WG
#define TABLE_WG 1
#define SYNC
#else
#ifndef TABLE_WG
#define TABLE_WG 256 // a power of two, TABLE_TILE/8 to TABLE_TILE/2
#endif
#define SYNC barrier(CLK_LOCAL_MEM_FENCE)
#endif

#define TILE_WORDS (TILE_MASKS * GROUP_BITS) // of plain bits
#define OWN (TILE_GROUPS / TABLE_WG)         // groups of a work-item

#define STEP_ANY 0
#define STEP_AND 1
#define STEP_OR 2
#define STEP_ANDNOT 3
#define STEP_NOT 4
#define STEP_CHECK 5
#define STEP_LOAD 6

#if SCAN_SERIAL

#define EACH_OWN(k) for (uint k = 0; k < OWN; k++)
#define OWN_GROUP(k) (k)

// or_any ORs the vectors of n operands into `set`, groups of the tile.
static inline void or_any(ARENA, __global const uint2 *entries, __global const uint *fine, __global const uint4 *operand, uint n,
                          word_t *set, uint *loads) {
    for (uint i = 0; i < n; i++) {
        uint4 r = operand[i];
        uint2 e = entries[r.y];
        vector_t p = (vector_t)arena_at(ARENA_ARGS, r.w, r.x) + e.x;
        __global const uint *mask = fine + ((size_t)r.z + INDEX_OF(e)) * 4;
        __global const ushort *start = (__global const ushort *)mask;
        LOADS(*loads, 2);
        switch (CLASS_OF(e)) {
        case CLASS_ONE:
            for (uint g = 0; g < TILE_GROUPS; g++)
                set[g] = GROUP_ONES;
            return;
        case CLASS_DENSE:
            for (uint g = 0; g < TILE_GROUPS; g++)
                set[g] |= group_of(p[g]);
            LOADS(*loads, TILE_GROUPS * (WORD_BITS / 32));
            break;
        case CLASS_SPARSE:
            for (uint j = 0; j < WORDS_OF(e); j++) {
                uint g = start[j], end = j + 1 < WORDS_OF(e) ? start[j + 1] : TILE_GROUPS;
                word_t w = group_of(p[j]);
                for (end = w ? end : 0; g < end; g++)
                    set[g] |= w;
            }
            LOADS(*loads, WORDS_OF(e) * (WORD_BITS / 32) + (WORDS_OF(e) + 1) / 2);
            break;
        case CLASS_MIXED:
            // Up to the first word that starts here the one before goes on.
            for (uint g = 0, m = mask[0], w = (m & 1) - 1; g < TILE_GROUPS; m = g < TILE_GROUPS ? mask[g / 32] : 0) {
                LOADS(*loads, 1);
                for (uint end = g + 32; g < end; g++, m >>= 1) {
                    w += g > 0 ? m & 1 : 0;
                    set[g] |= group_of(p[(int)w]);
                }
            }
            LOADS(*loads, TILE_GROUPS * (WORD_BITS / 32));
            break;
        }
    }
}

#else

#define EACH_OWN(k) _Pragma("unroll") for (uint k = 0; k < OWN; k++)
// The groups of 32 work-items are consecutive, so that they share masks.
#define OWN_GROUP(k) (get_local_id(0) / 32 * (32 * OWN) + (k) * 32 + get_local_id(0) % 32)

#if OWN == 8
typedef uint8 masks_t;
typedef ushort8 starts_t;
#elif OWN == 4
typedef uint4 masks_t;
typedef ushort4 starts_t;
#elif OWN == 2
typedef uint2 masks_t;
typedef ushort2 starts_t;
#else
typedef uint masks_t;
typedef ushort starts_t;
#endif

// What places of OWN groups in a vector are made of.
typedef union {
    masks_t all;
    uint of[OWN];
} mask_t;
typedef union {
    starts_t all;
    ushort of[OWN];
} start_t;

// or_dense ORs the words of some listed vectors whose groups all start words.
static inline void or_dense(ARENA, __local const uint4 *list, uint some, word_t *set) {
    word_t w[TABLE_LOADS][OWN];
    #pragma unroll
    for (uint u = 0; u < some; u++) {
        uint4 e = list[u];
        vector_t p = (vector_t)arena_at(ARENA_ARGS, e.w, e.x) + e.y;
        EACH_OWN(k) w[u][k] = p[OWN_GROUP(k)];
    }
    #pragma unroll
    for (uint u = 0; u < some; u++)
        EACH_OWN(k) set[k] |= group_of(w[u][k]);
}

// or_mixed does the same for any vectors, by their masks.
static inline void or_mixed(ARENA, __global const uint *fine, __local const uint4 *list, uint some, word_t *set) {
    uint lid = get_local_id(0), upto = 0xffffffffu >> (31 - lid % 32);
    mask_t mask[TABLE_LOADS];
    start_t start[TABLE_LOADS];
    word_t w[TABLE_LOADS][OWN];
    #pragma unroll
    for (uint u = 0; u < some; u++) {
        __global const uint *p = fine + (size_t)list[u].z * 4;
        mask[u].all = ((__global const masks_t *)p)[lid / 32];
        start[u].all = ((__global const starts_t *)(p + TILE_MASKS))[lid / 32];
    }
    #pragma unroll
    for (uint u = 0; u < some; u++) {
        uint4 e = list[u];
        vector_t p = (vector_t)arena_at(ARENA_ARGS, e.w, e.x);
        EACH_OWN(k) w[u][k] = p[e.y + start[u].of[k] + popcount(mask[u].of[k] & upto) - 1];
    }
    #pragma unroll
    for (uint u = 0; u < some; u++)
        EACH_OWN(k) set[k] |= group_of(w[u][k]);
}

// or_word ORs a word into groups from..to-1 of a tile that work-items share.
static inline void or_word(volatile __local uint *tile, word_t w, uint from, uint to) {
    w = group_of(w);
    if (w == 0)
        return;
    for (uint g = from; g < to; g++) {
#if USE_WIDE
        atomic_or(tile + 2 * g, (uint)w);
        atomic_or(tile + 2 * g + 1, (uint)(w >> 32));
#else
        atomic_or(tile + g, w);
#endif
    }
}

#define SPARSE_LANES 16 // work-items that share the words of a sparse vector

enum { DENSE, MIXED, SPARSE, FULL, LISTS };

// or_any ORs the vectors of n operands into `set`, a work-item's own groups. All
// work-items call it; `tile` is theirs to use.
static inline void or_any(ARENA, __global const uint2 *entries, __global const uint *fine, __global const uint4 *operand, uint n,
                          __local uint4 *list, __local uint4 *few, __local uint *listed, __local word_t *tile, word_t *set,
                          uint *loads) {
    uint lid = get_local_id(0);
    bool shared = false;
    for (uint page = 0; page < n; page += TABLE_WG) {
        if (lid < LISTS)
            listed[lid] = 0;
        SYNC;
        if (page + lid < n) {
            uint4 r = operand[page + lid];
            uint2 e = entries[r.y];
            uint4 found = (uint4)(r.x, e.x, r.z + INDEX_OF(e), r.w);
            LOADS(*loads, 6);
            switch (CLASS_OF(e)) {
            case CLASS_ONE: listed[FULL] = 1; break;
            case CLASS_DENSE: list[atomic_inc(&listed[DENSE])] = found; break;
            case CLASS_MIXED: list[TABLE_WG - 1 - atomic_inc(&listed[MIXED])] = found; break;
            case CLASS_SPARSE: few[atomic_inc(&listed[SPARSE])] = (uint4)(found.xyz, r.w | WORDS_OF(e) << 8); break;
            }
        }
        SYNC;
        uint dense = listed[DENSE], mixed = listed[MIXED], sparse = listed[SPARSE];
        if (listed[FULL]) {
            EACH_OWN(k) set[k] = GROUP_ONES;
            shared = false;
            break;
        }
        if (sparse) {
            if (!shared) {
                EACH_OWN(k) tile[OWN_GROUP(k)] = 0;
                SYNC;
            }
            shared = true;
            for (uint i = lid / SPARSE_LANES; i < sparse; i += TABLE_WG / SPARSE_LANES) {
                uint4 e = few[i];
                uint words = e.w >> 8;
                vector_t p = (vector_t)arena_at(ARENA_ARGS, e.w & 0xff, e.x) + e.y;
                __global const ushort *start = (__global const ushort *)(fine + (size_t)e.z * 4);
                for (uint j = lid % SPARSE_LANES; j < words; j += SPARSE_LANES) {
                    or_word((volatile __local uint *)tile, p[j], start[j], j + 1 < words ? start[j + 1] : TILE_GROUPS);
                    LOADS(*loads, 1 + WORD_BITS / 32);
                }
            }
        }
        LOADS(*loads, dense * OWN * (WORD_BITS / 32) + mixed * (OWN * (WORD_BITS / 32) + OWN + (OWN + 1) / 2));
        uint i = 0;
        for (; i + TABLE_LOADS <= dense; i += TABLE_LOADS)
            or_dense(ARENA_ARGS, list + i, TABLE_LOADS, set);
        for (; i < dense; i++)
            or_dense(ARENA_ARGS, list + i, 1, set);
        for (i = TABLE_WG - mixed; i + TABLE_LOADS <= TABLE_WG; i += TABLE_LOADS)
            or_mixed(ARENA_ARGS, fine, list + i, TABLE_LOADS, set);
        for (; i < TABLE_WG; i++)
            or_mixed(ARENA_ARGS, fine, list + i, 1, set);
        SYNC;
    }
    if (shared) {
        EACH_OWN(k) set[k] |= tile[OWN_GROUP(k)];
    }
}

#endif

// in_ranges tells whether a code lies in one of n ascending ranges.
static inline bool in_ranges(__global const uint4 *range, uint n, ulong code) {
    uint lo = 0, hi = n; // the first one that does not end below the code
    while (lo < hi) {
        uint mid = lo + (hi - lo) / 2;
        if (as_ulong(range[mid].zw) < code)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < n && as_ulong(range[lo].xy) <= code;
}

// checked returns the rows of a group, the first of which is row `first`, whose codes
// lie in the ranges of a step.
static inline word_t checked(ARENA, __global const uint4 *batch, uint4 step, word_t set, uint first, uint rows, uint *loads) {
    uint4 values = batch[step.y];
    words_t low = arena_at(ARENA_ARGS, step.w & 0xff, values.x), high = arena_at(ARENA_ARGS, step.w >> 8 & 0xff, values.z);
    for (word_t rest = set; rest; rest &= rest - 1) {
        word_t bit = rest & (0 - rest);
        uint row = first + (uint)popcount(bit - 1);
        ulong code = packed_at(low, values.y, rows, row);
        LOADS(*loads, 4);
        if (values.w) {
            code |= (ulong)packed_at(high, values.w, rows, row) << 32;
            LOADS(*loads, 4);
        }
        if (!in_ranges(batch + step.y + 1, step.z, code))
            set ^= bit;
    }
    return set;
}

// plain_word returns word j of the plain bits of a tile of groups.
static inline uint plain_word(__local const word_t *tile, uint j) {
    uint g = j * 32 / GROUP_BITS, s = j * 32 % GROUP_BITS;
    word_t w = tile[g] >> s;
    if (s + 32 > GROUP_BITS)
        w |= tile[g + 1] << (GROUP_BITS - s);
    return (uint)w;
}

#if !SCAN_SERIAL
__attribute__((reqd_work_group_size(TABLE_WG, 1, 1)))
#endif
__kernel void rows(ARENA, __global const uint *restrict v0, __global const uint *restrict v1, __global const uint *restrict v2,
                   __global const uint *restrict v3, __global const uint2 *restrict coarse, __global const uint *restrict fine,
                   uint vectors, uint row_count, __global const uint4 *batch, volatile __global uint *head, uint selections_at,
                   uint first, uint selections, __global const word_t *columns, uint column_stride, __global uint *out, uint stride,
                   uint want, __local word_t *tile) {
    __local uint total;
#if !SCAN_SERIAL
    __local uint4 list[TABLE_WG], few[TABLE_WG];
    __local uint listed[LISTS];
#endif
    uint lid = get_local_id(0), q = first + get_group_id(0) % selections, t = get_group_id(0) / selections;
    uint first_group = t * TILE_GROUPS, depth = 0, loads = 0;
    __local word_t *stack = tile + TILE_GROUPS; // of the sets below the top
    uint4 selection = batch[selections_at + q];
    word_t set[OWN];
    EACH_OWN(k) set[k] = 0;
    if (lid == 0)
        total = 0;
    LOADS(loads, 4);
    for (uint s = 0; s < selection.y; s++) {
        uint4 step = batch[selection.x + s];
        LOADS(loads, 4);
        if (step.x == STEP_ANY || step.x == STEP_LOAD) {
            if (depth > 0) {
                EACH_OWN(k) stack[(depth - 1) * TILE_GROUPS + OWN_GROUP(k)] = set[k];
            }
            depth++;
        }
        switch (step.x) {
        case STEP_ANY:
            EACH_OWN(k) set[k] = 0;
#if SCAN_SERIAL
            or_any(ARENA_ARGS, coarse + (size_t)t * vectors, fine, batch + step.y, step.z, set, &loads);
#else
            or_any(ARENA_ARGS, coarse + (size_t)t * vectors, fine, batch + step.y, step.z, list, few, listed, tile, set, &loads);
#endif
            break;
        case STEP_LOAD:
            EACH_OWN(k) {
                uint g = first_group + OWN_GROUP(k);
                set[k] = valid_rows(g, row_count) ? columns[(size_t)step.w * column_stride + g] : 0;
            }
            LOADS(loads, OWN * (WORD_BITS / 32));
            break;
        case STEP_NOT:
            EACH_OWN(k) set[k] = ~set[k];
            break;
        case STEP_CHECK:
            EACH_OWN(k) set[k] = checked(v0, v1, v2, v3, batch, step, set[k], (first_group + OWN_GROUP(k)) * GROUP_BITS, row_count, &loads);
            break;
        default:
            depth--;
            EACH_OWN(k) {
                word_t below = stack[(depth - 1) * TILE_GROUPS + OWN_GROUP(k)];
                set[k] = step.x == STEP_AND ? below & set[k] : step.x == STEP_OR ? below | set[k] : below & ~set[k];
            }
        }
        if (step.x == STEP_ANY || step.x == STEP_NOT) { // nothing behind the last row
            EACH_OWN(k) set[k] &= valid_rows(first_group + OWN_GROUP(k), row_count);
        }
    }
    uint n = 0;
    EACH_OWN(k) n += (uint)popcount(set[k]);
#if SCAN_SERIAL
    total = n;
#else
    SYNC; // total is 0
    if (n)
        atomic_add(&total, n);
#endif
    if (want) {
        EACH_OWN(k) tile[OWN_GROUP(k)] = set[k];
        SYNC;
        for (uint j = lid; j < TILE_WORDS; j += TABLE_WG)
            if (t * TILE_WORDS + j < stride)
                out[(size_t)q * stride + t * TILE_WORDS + j] = plain_word(tile, j);
        LOADS(loads, (TILE_WORDS + TABLE_WG - 1 - lid) / TABLE_WG);
    }
    SYNC;
    if (lid == 0 && total)
        atomic_add(head + 4 + q, total);
#if COUNT_LOADS
    uint old = atomic_add(head, loads);
    if (old + loads < old)
        atomic_inc(head + 1);
#endif
}
