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
// Batch     one upload of uint4: {loads, carries, turn, 0}, counts, selections {first step,
//           steps, 0, 0}, steps, operands. A step is {code, first operand, operands, w}.
//           An operand is
//             of STEP_ANY    {words of the vector in units of four words of 32 bits, its
//                            number, its part of `fine` in such units, arena buffer};
//                            w of the step: how many steps to leave out, this one
//                            included, where the top of the stack has no row (0: none)
//             of STEP_CHECK  first {low, words, high, words} of packed values, their
//                            buffers in the step's w (bits 0-7, 8-15); no high ones
//                            without words. Then ranges {Lo, Hi}, ascending
//           STEP_LOAD {code, column, 0, w as of STEP_ANY} pushes a column of `columns`,
//           groups as words.
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
#define TABLE_PAGE (TABLE_WG < 64 ? TABLE_WG : 64) // vectors that are looked up together
#if SCAN_SERIAL
#undef TABLE_WG
#define TABLE_WG 1
#define SYNC
#else
#ifndef TABLE_WG
#define TABLE_WG 128 // a power of two, TABLE_TILE/8 to TABLE_TILE/2
#endif
#define SYNC barrier(CLK_LOCAL_MEM_FENCE)
#endif

#define TILE_WORDS (TILE_MASKS * GROUP_BITS) // of plain bits
#define OWN (TILE_GROUPS / TABLE_WG)         // groups of a work-item

// What some programs have besides: more than one buffer of vectors, stored values,
// columns that others made.
#ifndef USE_ARENAS
#define USE_ARENAS 0
#endif
#ifndef USE_STORED
#define USE_STORED 0
#endif
#ifndef USE_COLUMNS
#define USE_COLUMNS 0
#endif
#if USE_ARENAS
#define VECTORS ARENA
#define VECTOR_ARGS ARENA_ARGS
#define vector_of(r) ((vector_t)arena_at(ARENA_ARGS, (r).w, (r).x))
#else
#define VECTORS __global const uint *restrict a0
#define VECTOR_ARGS a0
#define vector_of(r) ((vector_t)(a0 + (size_t)(r).x * 4))
#endif
#if USE_STORED
#define STORED                                                                    \
    , __global const uint *restrict v0, __global const uint *restrict v1,         \
        __global const uint *restrict v2, __global const uint *restrict v3
#else
#define STORED
#endif
#if USE_COLUMNS
#define COLUMNS , __global const word_t *restrict columns, uint column_stride
#else
#define COLUMNS
#endif

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

// or_mixed ORs a vector of which the words up to this tile lie before p. Most masks are
// of 32 words, or of none.
static inline void or_mixed(vector_t p, __global const uint *mask, word_t *set) {
    __global const ushort *start = (__global const ushort *)(mask + TILE_MASKS);
    for (uint m = 0; m < TILE_MASKS; m++) {
        uint bits = mask[m];
        int at = start[m];
        word_t *to = set + 32 * m;
        if (bits == 0xffffffff) {
            for (uint g = 0; g < 32; g++)
                to[g] |= group_of(p[at + (int)g]);
        } else if (bits == 0) {
            word_t w = group_of(p[at - 1]);
            for (uint g = 0; g < 32; g++)
                to[g] |= w;
        } else {
            for (uint g = 0; g < 32; g++)
                to[g] |= group_of(p[at + (int)popcount(bits & (0xffffffffu >> (31 - g))) - 1]);
        }
    }
}

// or_any ORs the vectors of n operands into `set`, groups of the tile.
static inline void or_any(VECTORS, __global const uint2 *entries, __global const uint4 *fine, __global const uint *numbers, vector_t plain,
                          __global const uint4 *operand, uint n, word_t *set, uint *loads) {
    for (uint i = 0; i < n; i++) {
        uint4 r = operand[i];
        uint2 e = entries[r.y];
        vector_t p = vector_of(r) + e.x;
        __global const uint *mask = (__global const uint *)(fine + r.z + INDEX_OF(e));
        __global const ushort *start = (__global const ushort *)mask;
        uint number = numbers[r.y];
        LOADS(*loads, 3);
        if (number) {
            p = plain + (size_t)(number - 1) * TILE_GROUPS;
            for (uint g = 0; g < TILE_GROUPS; g++)
                set[g] |= p[g];
            LOADS(*loads, TILE_GROUPS * (WORD_BITS / 32));
            continue;
        }
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
            or_mixed(p, mask, set);
            LOADS(*loads, TILE_MASKS * 3 / 2);
            LOADS(*loads, TILE_GROUPS * (WORD_BITS / 32));
            break;
        }
    }
}

// has_rows tells whether a set has a row in the tile.
static inline bool has_rows(const word_t *set) {
    word_t any = 0;
    for (uint g = 0; g < TILE_GROUPS; g++)
        any |= set[g];
    return any != 0;
}
#define HAS_ROWS(set) has_rows(set)

#else

#define EACH_OWN(k) _Pragma("unroll") for (uint k = 0; k < OWN; k++)
// The groups of 32 work-items are consecutive, so that they share masks.
#define OWN_GROUP(k) (get_local_id(0) / 32 * (32 * OWN) + (k) * 32 + get_local_id(0) % 32)

#if OWN == 8
typedef struct {
    uint4 low, high;
} masks_t;
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

#define TEAM 32     // work-items that share the words of a sparse vector
#define TEAM_ROWS 4 // vectors whose words they load together

// What the work-items of a group share: of a page of operands those that have rows in
// the tile, which are PLAIN, WALKED (mixed and dense, from the front of the list) or
// SPARSE (from its end), and the groups that the last fill.
enum { PLAIN, WALKED, SPARSE, FULL, LISTS };
typedef struct {
    vector_t plain[TABLE_PAGE]; // tiles of the plain ones
    vector_t words[TABLE_PAGE]; // of the vectors, from those of the tile on
    uint2 places[TABLE_PAGE];   // {index in fine, n}
    uint full[TILE_MASKS];
    uint listed[LISTS]; // how many; 0 between steps
    uint votes[3];      // in turn; 0 before theirs
} shared_t;

// has_rows tells whether a set has a row in the tile. All work-items call it, and count
// the calls in *turn. A vote is cleared while the one before it is taken, when nobody
// reads the one before that any more.
static inline bool has_rows(const word_t *set, uint *turn, __local shared_t *shared) {
    uint at = *turn, next = at == 2 ? 0 : at + 1;
    word_t any = 0;
    EACH_OWN(k) any |= set[k];
    if (any)
        atomic_or(&shared->votes[at], 1);
    if (get_local_id(0) == 0)
        shared->votes[next] = 0;
    SYNC;
    *turn = next;
    return shared->votes[at] != 0;
}
#define HAS_ROWS(set) has_rows(set, &turn, &shared)

// list_operand lists an operand.
static inline void list_operand(VECTORS, uint4 r, uint2 e, __local shared_t *shared) {
    uint class = CLASS_OF(e), at;
    if (class == CLASS_ZERO)
        return;
    if (class == CLASS_ONE) {
        atomic_inc(&shared->listed[FULL]);
        return;
    }
    if (class == CLASS_SPARSE)
        at = TABLE_PAGE - 1 - atomic_inc(&shared->listed[SPARSE]);
    else
        at = atomic_inc(&shared->listed[WALKED]);
    shared->words[at] = vector_of(r) + e.x;
    shared->places[at] = (uint2)(class == CLASS_DENSE ? ALL_START : r.z + INDEX_OF(e), WORDS_OF(e));
}

// or_word ORs a word into groups from..to-1 of a tile.
static inline void or_word(volatile __local uint *tile, volatile __local uint *full, word_t w, uint from, uint to) {
    if (!IS_FILL(w)) {
#if USE_WIDE
        atomic_or(tile + 2 * from, (uint)w);
        atomic_or(tile + 2 * from + 1, (uint)(w >> 32));
#else
        atomic_or(tile + from, w);
#endif
    } else if (group_of(w)) {
        for (uint m = from / 32; m * 32 < to; m++) {
            uint lo = from > m * 32 ? from - m * 32 : 0, hi = min(to - m * 32, 32u);
            atomic_or(full + m, (0xffffffff << lo) & (0xffffffff >> (32 - hi)));
        }
    }
}

// or_sparse ORs the words of sparse vectors into the tile.
static inline void or_sparse(__global const uint4 *fine, uint sparse, __local shared_t *shared, __local word_t *tile,
                             uint *loads) {
    uint lane = get_local_id(0) % TEAM, teams = TABLE_WG / TEAM;
    for (uint i = get_local_id(0) / TEAM; i < sparse; i += TEAM_ROWS * teams) {
        vector_t p[TEAM_ROWS];
        __global const ushort *start[TEAM_ROWS];
        uint n[TEAM_ROWS], most = 0;
        #pragma unroll
        for (uint u = 0; u < TEAM_ROWS; u++) {
            uint at = i + u * teams;
            uint2 place = shared->places[TABLE_PAGE - 1 - min(at, sparse - 1)];
            p[u] = shared->words[TABLE_PAGE - 1 - min(at, sparse - 1)];
            start[u] = (__global const ushort *)(fine + place.x);
            n[u] = at < sparse ? place.y : 0;
            most = max(most, n[u]);
        }
        for (uint j = lane; j < most; j += TEAM) {
            word_t w[TEAM_ROWS];
            uint from[TEAM_ROWS], to[TEAM_ROWS];
            #pragma unroll
            for (uint u = 0; u < TEAM_ROWS; u++) {
                w[u] = 0;
                from[u] = to[u] = 0;
                if (j < n[u]) {
                    w[u] = p[u][j];
                    from[u] = start[u][j];
                    to[u] = j + 1 < n[u] ? start[u][j + 1] : TILE_GROUPS;
                    LOADS(*loads, 1 + WORD_BITS / 32);
                }
            }
            #pragma unroll
            for (uint u = 0; u < TEAM_ROWS; u++)
                if (w[u])
                    or_word((volatile __local uint *)tile, shared->full, w[u], from[u], to[u]);
        }
    }
}

// or_plain ORs groups of plain vectors into `set`; the last one again is no other OR.
static inline void or_plain(uint n, __local const shared_t *shared, word_t *set) {
    for (uint i = 0; i < n; i += TABLE_LOADS) {
        word_t w[TABLE_LOADS][OWN];
        #pragma unroll
        for (uint u = 0; u < TABLE_LOADS; u++) {
            vector_t p = shared->plain[min(i + u, n - 1)] + OWN_GROUP(0);
            EACH_OWN(k) w[u][k] = p[32 * k];
        }
        #pragma unroll
        for (uint u = 0; u < TABLE_LOADS; u++)
            EACH_OWN(k) set[k] |= w[u][k];
    }
}

// or_walked ORs the words of a work-item's groups of walked vectors into `set`.
static inline void or_walked(__global const uint4 *fine, uint n, __local const shared_t *shared, word_t *set) {
    uint upto = 0xffffffffu >> (31 - get_local_id(0) % 32);
    for (uint i = 0; i < n; i += TABLE_LOADS) {
        mask_t mask[TABLE_LOADS];
        start_t start[TABLE_LOADS];
        word_t w[TABLE_LOADS][OWN];
        #pragma unroll
        for (uint u = 0; u < TABLE_LOADS; u++) {
            __global const uint *p = (__global const uint *)(fine + shared->places[min(i + u, n - 1)].x);
            mask[u].all = ((__global const masks_t *)p)[get_local_id(0) / 32];
            start[u].all = ((__global const starts_t *)(p + TILE_MASKS))[get_local_id(0) / 32];
        }
        #pragma unroll
        for (uint u = 0; u < TABLE_LOADS; u++) {
            vector_t p = shared->words[min(i + u, n - 1)] - 1;
            EACH_OWN(k) w[u][k] = p[start[u].of[k] + popcount(mask[u].of[k] & upto)];
        }
        #pragma unroll
        for (uint u = 0; u < TABLE_LOADS; u++)
            EACH_OWN(k) set[k] |= group_of(w[u][k]);
    }
}

// or_any ORs the vectors of n operands into `set`, a work-item's own groups. All
// work-items call it; `tile` is theirs to use.
static inline void or_any(VECTORS, __global const uint2 *entries, __global const uint4 *fine, __global const uint *numbers,
                          vector_t plain, __global const uint4 *operand, uint n, __local shared_t *shared, __local word_t *tile, word_t *set, uint *loads) {
    uint lid = get_local_id(0);
    bool scattered = false;
    EACH_OWN(k) tile[OWN_GROUP(k)] = 0;
    for (uint page = 0; page < n; page += TABLE_PAGE) {
        bool one = lid < TABLE_PAGE && page + lid < n;
        uint4 r;
        uint2 e;
        uint number;
        if (one) {
            r = operand[page + lid];
            e = entries[r.y];
            number = numbers[r.y];
            LOADS(*loads, 7);
        }
        SYNC; // the page or the step before is done with
        if (page == 0 && lid < TILE_MASKS)
            shared->full[lid] = 0;
        if (one && number)
            shared->plain[atomic_inc(&shared->listed[PLAIN])] = plain + (size_t)(number - 1) * TILE_GROUPS;
        else if (one)
            list_operand(VECTOR_ARGS, r, e, shared);
        SYNC;
        uint walked = shared->listed[WALKED], sparse = shared->listed[SPARSE], full = shared->listed[FULL], plains = shared->listed[PLAIN];
        if (!full) {
            or_sparse(fine, sparse, shared, tile, loads);
            scattered |= sparse > 0;
            LOADS(*loads, (plains + TABLE_LOADS - 1) / TABLE_LOADS * TABLE_LOADS * OWN * (WORD_BITS / 32));
            LOADS(*loads, (walked + TABLE_LOADS - 1) / TABLE_LOADS * TABLE_LOADS * (OWN * (WORD_BITS / 32) + OWN + (OWN + 1) / 2));
        }
        SYNC;
        if (lid < LISTS)
            shared->listed[lid] = 0;
        if (full) {
            EACH_OWN(k) set[k] = GROUP_ONES;
            return;
        }
        or_plain(plains, shared, set);
        or_walked(fine, walked, shared, set);
    }
    if (scattered) {
        EACH_OWN(k) {
            uint m = shared->full[get_local_id(0) / 32 * OWN + k] << (31 - get_local_id(0) % 32);
            set[k] |= tile[OWN_GROUP(k)] | ((int)m < 0 ? GROUP_ONES : 0);
        }
    }
}

#endif

#if USE_STORED
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
#endif

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
__kernel void rows(VECTORS, __global const uint2 *restrict coarse, __global const uint4 *restrict fine,
                   __global const uint4 *restrict plain, uint plain_at, uint vectors, uint row_count, __global uint4 *batch,
                   uint selections_at, uint first, uint selections, __global uint *restrict out, uint stride, uint want,
                   __local word_t *tile STORED COLUMNS) {
    __local uint total;
#if !SCAN_SERIAL
    __local shared_t shared;
#endif
    uint lid = get_local_id(0), q = first + get_group_id(0) % selections, t = get_group_id(0) / selections;
    uint first_group = t * TILE_GROUPS, depth = 0, loads = 0;
    __local word_t *stack = tile + TILE_GROUPS; // of the sets below the top
    volatile __global uint *head = (volatile __global uint *)batch;
    __global const uint *numbers = (__global const uint *)plain + (size_t)t * vectors;
    uint4 selection = batch[selections_at + q];
    word_t set[OWN];
    EACH_OWN(k) set[k] = 0;
    if (lid == 0)
        total = 0;
#if !SCAN_SERIAL
    uint turn = 0;
    if (lid < LISTS)
        shared.listed[lid] = 0;
    if (lid == 0)
        shared.votes[0] = 0;
    SYNC;
#endif
    LOADS(loads, 4);
    for (uint s = 0; s < selection.y; s++) {
        uint4 step = batch[selection.x + s];
        LOADS(loads, 4);
        if (step.x == STEP_ANY || step.x == STEP_LOAD) {
            if (step.w && !HAS_ROWS(set)) {
                s += step.w - 1;
                continue;
            }
            if (depth > 0) {
                EACH_OWN(k) stack[(depth - 1) * TILE_GROUPS + OWN_GROUP(k)] = set[k];
            }
            depth++;
        }
        switch (step.x) {
        case STEP_ANY:
            EACH_OWN(k) set[k] = 0;
#if SCAN_SERIAL
            or_any(VECTOR_ARGS, coarse + (size_t)t * vectors, fine, numbers, (vector_t)(plain + plain_at), batch + step.y, step.z, set, &loads);
#else
            or_any(VECTOR_ARGS, coarse + (size_t)t * vectors, fine, numbers, (vector_t)(plain + plain_at), batch + step.y, step.z, &shared, tile, set,
                   &loads);
#endif
            break;
#if USE_COLUMNS
        case STEP_LOAD:
            EACH_OWN(k) {
                uint g = first_group + OWN_GROUP(k);
                set[k] = valid_rows(g, row_count) ? columns[(size_t)step.y * column_stride + g] : 0;
            }
            LOADS(loads, OWN * (WORD_BITS / 32));
            break;
#endif
        case STEP_NOT:
            EACH_OWN(k) set[k] = ~set[k];
            break;
#if USE_STORED
        case STEP_CHECK:
            EACH_OWN(k) set[k] = checked(v0, v1, v2, v3, batch, step, set[k], (first_group + OWN_GROUP(k)) * GROUP_BITS, row_count, &loads);
            break;
#endif
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
