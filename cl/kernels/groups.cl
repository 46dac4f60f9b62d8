// code_groups: the numbers of selected rows, and sums of codes, of groups of rows by narrow columns.
//
// Computes  for the rows that a selection leaves, a cell of `planes` words for each group: at word 0 the rows; at its words,
//           for each measured field, the rows with a value (FIELD_VALUES) and the sum of their codes, lower and upper half
//           (FIELD_SUM, an even word), the greatest complement of a code (FIELD_LEAST) and the greatest code (FIELD_GREATEST).
//           The place of a group is its number in the first grouping, times
//           the numbers of the second one, plus its number there, and so on; a number is 0 for rows without a value, else 1
//           more than the code. Cells are zero before.
// Source    the bits of 32 rows are transposed to their codes (Warren, Hacker's Delight, 7-3), several columns together.
// Batch     at `at` uint4 {fields, places, planes, planes in local memory}, the selection (step.cl) and two steps, then two
//           uint4 a field: {column, first bit, bits, flags} and {numbers of a grouping or words: of the rows with a value in
//           bits 0-7 and of the sum in bits 8-15, last code, words of ends in the same way, 0}. Groupings come first. Fields whose bits fit 32 make a
//           pass: bits 8-15 of the flags have its number, bits 16-23 of the first one how many they are. Cells at word
//           cells_at, which is even.
// Phases    for some tiles at a time: (1) a work-item selects the rows of a part (selection.cl), and finds where slots lie:
//           the slice of each bit of a pass; (2) of each word with rows, pass by pass, it turns slots to codes in registers and
//           adds its rows to cells: without USE_GLOBAL in local memory, where neighbours have copies of the cells, and a
//           sum is the sums of the lower `limb` bits and of those above, so that no addition carries; (3) copies and
//           halves are added up to the cells in global memory. With USE_GLOBAL and FIELD_PACKED the rows of a group and the sum
//           of this field are one number of 64 bits, the rows from bit `limb` on, in so many copies behind the cells,
//           zeros before: each row is one addition. packed_groups (packed.cl) then adds up copies to cells.
// Launch    groups of GROUP_WG work-items (SCAN_SERIAL: of one), `span` times GROUP_TILES tiles each: at most 2^(32-limb) rows.
// Local     2.5 KiB, and without USE_GLOBAL four bytes for each local cell and copy.
// Bounds    columns are narrow: no code of a tile is above 2^32-1, its bits without the least code fit the field; no code is
//           above the last one of a grouping (the host's, from the tiles). There are GROUP_FIELDS fields at most, of GROUP_PASSES
//           passes; tiles as in slice.cl.
#ifndef HEDDLE_SELECTION
#include "selection.cl"
#endif
#ifndef HEDDLE_FIELD
#include "field.cl"
#endif
#ifndef USE_GLOBAL
#define USE_GLOBAL 0 // 1: cells do not fit local memory
#endif
#ifndef USE_ONE
#define USE_ONE 0 // 1: one pass, and one grouping, which all rows have a value of: places need no registers
#endif
#define GROUP_FIELDS 16
#define GROUP_PASSES 4
#if SCAN_SERIAL
#define GROUP_WG 1
#define GROUP_TILES 1
#define GROUP_BARRIER
#define GROUP_SHAPE
#else
#define GROUP_WG 64
#define GROUP_TILES (GROUP_WG / PARTS)
#define GROUP_BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define GROUP_SHAPE __attribute__((reqd_work_group_size(GROUP_WG, 1, 1)))
#endif
#define GROUP_WORDS (GROUP_TILES * SLICE_WORDS)

#define EACH_ROW _Pragma("unroll") for (uint r = 0; r < 32; r++)
#define EACH_IN(set) EACH_ROW if ((set) >> r & 1)
#define CODE(r) (x[r] >> field.y & mask)
#if !USE_ONE
#define PLACE(r) cell[r]
#elif USE_GLOBAL
#define PLACE(r) ((x[r] & group_mask) + group_first)
#else
#define PLACE(r) (((x[r] & group_mask) << copies) + group_first)
#endif

GROUP_SHAPE
__kernel void code_groups(BUFFERS, __global const uint4 *restrict tiles, uint tile_count, uint row_count,
                          __global const uint4 *batch, __global const uint *restrict bits, volatile __global uint *counts, uint at,
                          uint cells_at, uint span, uint limb, uint copies, __local uint *restrict own) {
    __local uint chosen[GROUP_WORDS];
    __local uint4 slots[GROUP_TILES * GROUP_PASSES * 8];
    __local uint2 facts[GROUP_TILES * GROUP_FIELDS]; // of a field in a tile: the least code, whether rows have no value
    __local uint sparse[GROUP_TILES * GROUP_PASSES]; // 1 more than the run whose slots of a pass have sparse slices
#if USE_ARENAS
    __local uchar buffers[GROUP_TILES * GROUP_PASSES * 32];
#endif
    uint lid = get_local_id(0), loads = 0;
    uint4 shape = batch[at], selection = batch[at + 1];
    __global const uint4 *fields = batch + at + 4; // behind two steps of the selection
    uint planes = shape.z;
    volatile __global uint *all = counts + cells_at;
#if USE_GLOBAL
    volatile __global uint *packed = all + shape.y * (planes + 2 * (GROUP_ID(0) % max(copies, 1u)));
#else
    uint copy = lid & ((1u << copies) - 1), places = shape.y, plane_cells = places << copies;
    for (uint i = lid; i < shape.w * plane_cells; i += GROUP_WG)
        own[i] = 0;
#endif
    for (uint i = lid; i < GROUP_TILES * GROUP_PASSES; i += GROUP_WG)
        sparse[i] = 0;
    for (uint run = GROUP_ID(0) * span, last = run + span; run < last; run++) {
        GROUP_BARRIER;
        uint from = run * GROUP_TILES, mine = from + lid / PARTS;
        uint rows = mine < tile_count ? min(row_count - mine * SLICE_WORDS * 32, (uint)SLICE_WORDS * 32) : 0;
        EACH_PART(q) {
            part_t set = 0;
            if (q * PART_ROWS < rows)
                set = selected(BUFFER_ARGS, tiles, tile_count, batch, selection, bits, mine, q, valid_part(rows, q), &loads);
            part_store(set, 0, chosen + lid / PARTS * SLICE_WORDS + q * LANES);
        }
        for (uint i = lid; i < GROUP_TILES * GROUP_PASSES * 8; i += GROUP_WG)
            slots[i] = SLOT_ZEROS;
        GROUP_BARRIER;
        for (uint i = lid; i < GROUP_TILES * shape.x * 32; i += GROUP_WG) {
            uint bit = i % 32, k = i / 32 % shape.x, tile = i / 32 / shape.x;
            if (from + tile >= tile_count)
                continue;
            uint4 field = fields[2 * k];
            slices_t t = slices_at(BUFFER_ARGS, tiles, field.x * tile_count + from + tile);
            if (bit == 0)
                facts[tile * GROUP_FIELDS + k] = (uint2)((uint)t.least, first_bit(t));
            if (bit >= t.width)
                continue;
            uint e = entry_of(t, first_bit(t) + t.width - 1 - bit), form = FORM_OF(e), pass = tile * GROUP_PASSES + (field.w >> 8 & 0xff);
            uint4 place = tiles[2 * (size_t)(field.x * tile_count + from + tile)];
            ((__local uint *)slots)[pass * 32 + field.y + bit] = form == FORM_PLAIN    ? place.x + START_OF(e)
                                               : form == FORM_SPARSE ? SLOT_SPARSE
                                               : form == FORM_ONES   ? SLOT_ONES
                                                                     : SLOT_ZEROS;
#if USE_ARENAS
            buffers[pass * 32 + field.y + bit] = (uchar)place.y;
#endif
            if (form == FORM_SPARSE)
                sparse[pass] = run + 1;
        }
        GROUP_BARRIER;
        #pragma unroll 1
        for (uint w = lid; w < GROUP_WORDS; w += GROUP_WG) {
            uint set = chosen[w], g = w % SLICE_WORDS, tile = w / SLICE_WORDS, x[32];
            if (set == 0)
                continue;
#if USE_ONE
            uint group_mask = 0, group_first = 0;
#else
            uint cell[32];
            EACH_ROW cell[r] = 0;
#endif
#if !USE_GLOBAL
            uint plane = plane_cells;
#endif
            #pragma unroll 1
            for (uint k = 0; k < shape.x; k++) {
                uint4 field = fields[2 * k], more = fields[2 * k + 1];
                uint mask = low_mask(field.z);
                if (field.w >> 16) {
                    uint pass = tile * GROUP_PASSES + (field.w >> 8 & 0xff), rare[32];
                    if (sparse[pass] == run + 1)
                        for (uint j = k; j < k + (field.w >> 16); j++) {
                            uint4 one = fields[2 * j];
                            slices_t t = slices_at(BUFFER_ARGS, tiles, one.x * tile_count + from + tile);
                            for (uint b = 0; b < t.width; b++)
                                if (((__local uint *)slots)[pass * 32 + one.y + b] == SLOT_SPARSE)
                                    rare[one.y + b] = slice_word(t, first_bit(t) + t.width - 1 - b, g);
                        }
                    _Pragma("unroll") for (uint i = 0; i < 8; i++) {
                        uint4 four = slots[pass * 8 + i];
                        uint each[4] = {four.x, four.y, four.z, four.w};
                        _Pragma("unroll") for (uint j = 0; j < 4; j++) {
                            uint r = 4 * i + j;
                            if (each[j] < SLOT_SPARSE)
                                x[r] = SLOT_WORDS(pass * 32 + r, each[j])[g];
                            else
                                x[r] = each[j] == SLOT_SPARSE ? rare[r] : 0 - (SLOT_ZEROS - each[j]);
                        }
                    }
                    turn_square(x);
                }
                uint2 fact = facts[tile * GROUP_FIELDS + k];
                uint has = set;
                if (fact.y)
                    has &= slice_word(slices_at(BUFFER_ARGS, tiles, field.x * tile_count + from + tile), 0, g);
                if (field.w & FIELD_GROUP) {
#if USE_ONE
                    group_mask = mask;
#if USE_GLOBAL
                    group_first = fact.x + 1;
#else
                    group_first = ((fact.x + 1) << copies) + copy;
#endif
#else
                    if (has == set)
                        EACH_ROW cell[r] = cell[r] * more.x + CODE(r) + (fact.x + 1);
                    else
                        EACH_ROW cell[r] = cell[r] * more.x + (has >> r & 1 ? CODE(r) + (fact.x + 1) : 0);
                    if (!(field.w & FIELD_LAST))
                        continue;
#if !USE_GLOBAL
                    EACH_ROW cell[r] = (cell[r] << copies) + copy;
#endif
#endif
#if USE_GLOBAL
                    if (copies == 0)
                        EACH_IN(set) atomic_inc(all + planes * PLACE(r));
#else
                    EACH_IN(set) ADD_OWN(own + PLACE(r), 1);
#endif
                }
                if (field.w & FIELD_VALUES) {
#if USE_GLOBAL
                    EACH_IN(has) atomic_inc(all + (more.x & 0xff) + planes * PLACE(r));
#else
                    EACH_IN(has) ADD_OWN(own + plane + PLACE(r), 1);
                    plane += plane_cells;
#endif
                }
                if (field.w & FIELD_SUM) {
#if USE_GLOBAL
                    if (field.w & FIELD_PACKED) {
                        EACH_IN(set) SUM_CELL(packed + 2 * PLACE(r), (1UL << limb) + (CODE(r) + fact.x));
                    } else {
                        EACH_IN(has) SUM_CELL(all + (more.x >> 8) + planes * PLACE(r), (ulong)(CODE(r) + fact.x));
                    }
#else
                    if (more.y >> limb) {
                        EACH_IN(has) {
                            ADD_OWN(own + plane + PLACE(r), (CODE(r) + fact.x) & low_mask(limb));
                            ADD_OWN(own + plane + plane_cells + PLACE(r), (CODE(r) + fact.x) >> limb);
                        }
                        plane += plane_cells;
                    } else {
                        EACH_IN(has) ADD_OWN(own + plane + PLACE(r), CODE(r) + fact.x);
                    }
                    plane += plane_cells;
#endif
                }
                #pragma unroll 1
                for (uint end = FIELD_LEAST, word = more.z; end <= FIELD_GREATEST; end *= 2, word >>= 8) {
                    if (!(field.w & end))
                        continue;
                    uint turn = end == FIELD_LEAST ? 0xffffffff : 0;
#if USE_GLOBAL
                    EACH_IN(has) atomic_max(all + (word & 0xff) + planes * PLACE(r), (CODE(r) + fact.x) ^ turn);
#else
                    EACH_IN(has) UP_TO(own + plane + PLACE(r), (CODE(r) + fact.x) ^ turn);
                    plane += plane_cells;
#endif
                }
            }
        }
    }
#if !USE_GLOBAL
    GROUP_BARRIER;
    for (uint place = lid; place < places; place += GROUP_WG) {
        __local uint *cell = own + (place << copies);
        volatile __global uint *to = all + place * planes;
        uint n = 0;
        for (uint c = 0; c < 1u << copies; c++)
            n += cell[c];
        if (n == 0)
            continue;
        atomic_add(to, n);
        for (uint k = 0; k < shape.x; k++) {
            uint flags = fields[2 * k].w;
            uint4 more = fields[2 * k + 1];
            if (flags & FIELD_VALUES) {
                n = 0;
                cell += plane_cells;
                for (uint c = 0; c < 1u << copies; c++)
                    n += cell[c];
                atomic_add(to + (more.x & 0xff), n);
            }
            if (flags & FIELD_SUM) {
                ulong sum = 0;
                cell += plane_cells;
                for (uint c = 0; c < 1u << copies; c++)
                    sum += cell[c];
                if (more.y >> limb) {
                    cell += plane_cells;
                    for (uint c = 0; c < 1u << copies; c++)
                        sum += (ulong)cell[c] << limb;
                }
                SUM_CELL(to + (more.x >> 8), sum);
            }
            for (uint end = FIELD_LEAST, word = more.z; end <= FIELD_GREATEST; end *= 2, word >>= 8)
                if (flags & end) {
                    n = 0;
                    cell += plane_cells;
                    for (uint c = 0; c < 1u << copies; c++)
                        n = max(n, cell[c]);
                    atomic_max(to + (word & 0xff), n);
                }
        }
    }
#endif
}
