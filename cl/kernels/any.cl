// any: the OR of vectors in a tile, by a group of work-items. A helper of rows.cl, no
// kernel of its own.
//
// Computes  or_any: the OR of n vectors, in registers of the work-items that own the groups.
//           tile_rows: the number of rows of a set in the tile.
// Operands  see rows.cl; entries and numbers are for the tile, by vector.
// Phases    a page of TABLE_PAGE operands at a time: (1) work-items look them up in the
//           directory and list the ones with rows in the tile; one with all rows ends
//           it; (2) each work-item ORs its groups of plain vectors, and the words of its
//           groups of mixed and dense ones, TABLE_LOADS vectors together so that many
//           loads are under way. It loads nothing for a group that has all rows already;
//           (3) unless all groups do, words of sparse vectors are divided, a TEAM a
//           vector, and ORed in local memory.
// Local     shared_t, 24 bytes a vector of a page; a tile of words, the caller's.
// Barriers  three a page and one more, one for tile_rows.
#ifndef HEDDLE_ANY
#define HEDDLE_ANY
#ifndef HEDDLE_TILE
#include "tile.cl"
#endif
#if !SCAN_SERIAL

#ifndef TABLE_LOADS
#define TABLE_LOADS 4 // vectors whose words are loaded together
#endif
#define TABLE_PAGE (TABLE_WG < 64 ? TABLE_WG : 64) // vectors that are looked up together

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

// Parts of the places of OWN groups in a vector.
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

// Data of all work-items of a group: the operands of a page with rows in the tile, which
// are PLAIN, WALKED (mixed and dense, from the front of the list) or
// SPARSE (from its end), and the groups that the last fill.
enum { PLAIN, WALKED, SPARSE, FULL, LISTS };
typedef struct {
    vector_t plain[TABLE_PAGE]; // tiles of the plain ones
    vector_t words[TABLE_PAGE]; // where the words of each vector begin that start in the tile
    uint2 places[TABLE_PAGE];   // {index in fine, n}
    uint full[TILE_MASKS];
    uint listed[LISTS]; // how many; 0 between steps
    uint open;          // work-items with a group that lacks rows
    uint rows[3];       // counters of tile_rows, in turn; 0 before their use
} shared_t;

// tile_rows returns the number of rows of a set in the tile. All work-items call it, and count
// the calls in *turn. A number is cleared during the call before its own, when the reads of
// the earlier one have ended.
static inline uint tile_rows(const word_t *set, uint *turn, __local shared_t *shared) {
    uint at = *turn, next = at == 2 ? 0 : at + 1, n = 0;
    EACH_OWN(k) n += (uint)popcount(set[k]);
    if (n)
        atomic_add(&shared->rows[at], n);
    if (get_local_id(0) == 0)
        shared->rows[next] = 0;
    SYNC;
    *turn = next;
    return shared->rows[at];
}
#define TILE_ROWS(set) tile_rows(set, &turn, &shared)
#define SHARED &shared, tile,

// list_operand lists an operand.
static inline void list_operand(BUFFERS, uint4 r, uint2 e, __local shared_t *shared) {
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

// find_open finds the groups of a work-item that lack rows, and tells whether there are any.
static inline bool find_open(const word_t *set, bool *open) {
    bool any = false;
    EACH_OWN(k) {
        open[k] = set[k] != GROUP_ONES;
        any |= open[k];
    }
    return any;
}

// or_plain ORs groups of plain vectors into `set`; the last one again is no other OR.
static inline void or_plain(uint n, __local const shared_t *shared, word_t *set, uint *loads) {
    bool open[OWN];
    for (uint i = 0; i < n && find_open(set, open); i += TABLE_LOADS) {
        word_t w[TABLE_LOADS][OWN];
        #pragma unroll
        for (uint u = 0; u < TABLE_LOADS; u++) {
            vector_t p = shared->plain[min(i + u, n - 1)] + OWN_GROUP(0);
            EACH_OWN(k) w[u][k] = open[k] ? p[32 * k] : 0;
        }
        EACH_OWN(k) LOADS(*loads, open[k] * TABLE_LOADS * (WORD_BITS / 32));
        #pragma unroll
        for (uint u = 0; u < TABLE_LOADS; u++)
            EACH_OWN(k) set[k] |= w[u][k];
    }
}

// or_walked ORs the words of a work-item's groups of walked vectors into `set`.
static inline void or_walked(__global const uint4 *fine, uint n, __local const shared_t *shared, word_t *set, uint *loads) {
    uint upto = 0xffffffffu >> (31 - get_local_id(0) % 32);
    bool open[OWN];
    for (uint i = 0; i < n && find_open(set, open); i += TABLE_LOADS) {
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
            EACH_OWN(k) w[u][k] = open[k] ? p[start[u].of[k] + popcount(mask[u].of[k] & upto)] : 0;
        }
        EACH_OWN(k) LOADS(*loads, open[k] * TABLE_LOADS * (WORD_BITS / 32));
        LOADS(*loads, TABLE_LOADS * (OWN + (OWN + 1) / 2));
        #pragma unroll
        for (uint u = 0; u < TABLE_LOADS; u++)
            EACH_OWN(k) set[k] |= group_of(w[u][k]);
    }
}

// or_any ORs the vectors of n operands into `set`, a work-item's own groups. All
// work-items call it; `tile` is theirs to use.
static inline void or_any(BUFFERS, __global const uint2 *entries, __global const uint4 *fine, __global const uint *numbers,
                          vector_t plain, __global const uint4 *operand, uint n, __local shared_t *shared,
                          __local word_t *tile, word_t *set, uint *loads) {
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
        if (lid == 0)
            shared->open = 0;
        if (one && number)
            shared->plain[atomic_inc(&shared->listed[PLAIN])] = plain + (size_t)(number - 1) * TILE_GROUPS;
        else if (one)
            list_operand(BUFFER_ARGS, r, e, shared);
        SYNC;
        uint sparse = shared->listed[SPARSE];
        bool full = shared->listed[FULL], open[OWN];
        if (!full) {
            or_plain(shared->listed[PLAIN], shared, set, loads);
            or_walked(fine, shared->listed[WALKED], shared, set, loads);
            if (find_open(set, open))
                atomic_inc(&shared->open);
        }
        SYNC;
        if (lid < LISTS)
            shared->listed[lid] = 0;
        if (full) {
            EACH_OWN(k) set[k] = GROUP_ONES;
            return;
        }
        if (shared->open && sparse) {
            or_sparse(fine, sparse, shared, tile, loads);
            scattered = true;
        }
    }
    SYNC;
    if (scattered) {
        EACH_OWN(k) {
            uint m = shared->full[get_local_id(0) / 32 * OWN + k] << (31 - get_local_id(0) % 32);
            set[k] |= tile[OWN_GROUP(k)] | ((int)m < 0 ? GROUP_ONES : 0);
        }
    }
}

#endif
#endif
