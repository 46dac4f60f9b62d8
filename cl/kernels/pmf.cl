// pmf: looks the elements of the shortest lists up by parallel merge find.
//
// Computes  the results of intersect.
// Source    Ding et al. 2009, section 7.2. A tile is a section of the shortest list.
//           Its two ends are looked for in the whole longer list (level 1), every
//           quarter of it between them (level 2), every quarter of a quarter between
//           its neighbours, and so on; at last each element between the two splitters around
//           it. With 0 levels each element is looked for in the whole list.
// Phases    list by list: (1) a level of splitters after the other; (2) elements;
//           (3) found elements move together, in order. Lists that are no plain docIDs
//           or have a bitset are probed element by element in (2).
// Batch     one upload: term records, and tiles from uint4 tiles_at on.
// Launch    one group of WG work-items a tile (SCAN_SERIAL: of one).
// Local     3*TILE + 2*TILE/32 + 2 words (SCAN_SERIAL: as many private ones).
// Bounds    any list bytes: loads are clamped to the list, loops are bounded by log2
//           of it, stores by the tile.
#ifndef HEDDLE_PROBE
#include "probe.cl"
#endif

#if SCAN_SERIAL
#define ITEM 0
#define ITEMS 1
#define GROUP get_global_id(0)
#define SHARED
#define TOGETHER
#else
#define ITEM get_local_id(0)
#define ITEMS WG
#define GROUP GROUP_ID(0)
#define SHARED __local
#define TOGETHER barrier(CLK_LOCAL_MEM_FENCE)
#endif
#define EACH(i, n) for (uint i = ITEM; i < (n); i += ITEMS)

// section returns the range of p, of `many` docIDs, between the splitters of
// distance `step` around element i of n; place[TILE] is behind the last element.
// Splitters in words that are not sorted may be out of order.
static inline uint2 section(SHARED const uint *place, uint step, uint i, uint n) {
    uint before = i / step * step, after = before + step;
    uint lo = place[before], hi = place[after < n ? after : TILE];
    return (uint2)(lo, max(lo, hi));
}

// splitters finds the places in p of splitters among n ascending elements, level
// after level. Every work-item of the group calls it.
static inline void splitters(words_t p, uint many, uint levels, SHARED const uint *x, uint n, SHARED uint *place, uint *loads) {
    EACH(i, 2) {
        uint at = levels == 0 ? i * many : lower_bound(p, 0, many, x[i ? n - 1 : 0], loads);
        place[i ? TILE : 0] = min(at + (levels && i), many); // behind the last one, which may be there
    }
    TOGETHER;
    uint step = TILE / 4;
    for (uint level = 1; level < levels; level++) {
        EACH(k, (n - 1) / step + 1) {
            if (k % 4) {
                uint2 s = section(place, 4 * step, k * step, n);
                place[k * step] = lower_bound(p, s.x, s.y, x[k * step], loads);
            }
        }
        TOGETHER;
        step /= 4;
    }
}

#if !SCAN_SERIAL
__attribute__((reqd_work_group_size(WG, 1, 1)))
#endif
__kernel void intersect(ARENA, __global const uint *aux, __global const uint4 *batch, __global const uint *decoded,
                        __global uint *matches, __global uint *counts, volatile __global uint *sums, uint tiles_at,
                        uint sums_at, uint count_only COUNT_ARG) {
    SHARED uint alive[2 * TILE]; // elements, ascending; read one half, write the other
    SHARED uint place[TILE + 1]; // places of splitters
    SHARED uint bits[TILE / 32];
    uint t = GROUP, loads = 0;
    uint4 tile = batch[tiles_at + t];
    uint buffer = tile.w >> 16, n = tile.w & 0xffff;
    words_t from = buffer == ELEMENTS_DECODED ? decoded + (size_t)tile.z * 4 : arena_at(ARENA_ARGS, buffer, tile.z);
    EACH(i, n) {
        alive[i] = from[i];
        LOADS(loads, 1);
    }
    TOGETHER;
    uint j = 0;
    for (; j < tile.y && n; j++) {
        uint4 r = batch[2 * (tile.x + j)], s = batch[2 * (tile.x + j) + 1];
        SHARED uint *x = alive + (j & 1) * TILE, *next = alive + (~j & 1) * TILE;
        bool plain = (r.w >> 16 & 0xff) == PROBE_PMF && (r.w & 0xff) == CODEC_RAW && r.y > 0;
        words_t p = list_words(ARENA_ARGS, r);
        uint levels = min(s.z, 4u), step = levels ? max(TILE >> 2 * (levels - 1), 1) : TILE;
        EACH(w, TILE / 32)
            bits[w] = 0;
        splitters(p, plain ? r.y : 0, plain ? levels : 0, x, n, place, &loads); // with a barrier
        EACH(i, n) {
            bool found;
            if (plain) {
                uint2 at = section(place, step, i, n);
                found = find(p, r.y, at.x, at.y, x[i], &loads);
            } else {
                found = probe(ARENA_ARGS, r, s, aux, x[i], &loads);
            }
            if (found)
#if SCAN_SERIAL
                bits[i / 32] |= 1u << (i & 31);
#else
                atomic_or(&bits[i / 32], 1u << (i & 31));
#endif
        }
        TOGETHER;
        EACH(i, n) {
            if (bits[i / 32] >> (i & 31) & 1) {
                uint at = popcount(bits[i / 32] & ((1u << (i & 31)) - 1));
                for (uint w = 0; w < i / 32; w++)
                    at += popcount(bits[w]);
                next[at] = x[i];
            }
        }
        n = 0;
        for (uint w = 0; w < TILE / 32; w++)
            n += popcount(bits[w]);
        TOGETHER;
    }
    if (!count_only) {
        EACH(i, n) {
            matches[(size_t)t * TILE + i] = alive[(j & 1) * TILE + i];
            LOADS(loads, 1);
        }
    }
    if (ITEM == 0) {
        counts[t] = n;
        if (n)
            atomic_add(sums + sums_at + t / BLOCK, n);
    }
#if COUNT_LOADS
    add_loads(loads_total, loads);
#endif
}
