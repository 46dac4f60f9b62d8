// code_groups: the numbers of selected rows, and sums of codes, of groups of rows by narrow columns.
//
// Computes  for the rows that a selection leaves, a cell of `planes` words for each group: at word 0 the rows; at its words,
//           for each measured field, the rows with a value (FIELD_VALUES) and the sum of their codes times a factor,
//           lower and upper half (FIELD_SUM, an even word). The place of a group is its number in the first grouping, times
//           the numbers of the second one, plus its number there, and so on; a number is 0 for rows without a value, else 1
//           more than the code. Cells are zero before. The word behind all cells counts the codes, times the factor,
//           above the last one of their field.
// Source    the bits of 32 rows are transposed to their codes (Warren, Hacker's Delight, 7-3), several columns together.
// Batch     at `at` uint4 {fields, places, planes, planes in local memory}, the selection (step.cl), then two uint4 a field:
//           {column, first bit, bits, flags} and {numbers of a grouping or words: of the rows with a value in bits 0-7 and
//           of the sum in bits 8-15, last code, factor, 0}. Groupings come first. Fields whose bits fit 32 make a pass: the first of
//           them has their number in bits 8-15 of its flags. Cells at word cells_at, which is even.
// Phases    for some tiles at a time: (1) a work-item selects the rows of a part (selection.cl); (2) of each word with
//           rows, pass by pass, it turns slices to codes in registers and adds its rows to cells: without
//           USE_GLOBAL in local memory, where neighbours have copies of the cells, and a sum is the sums of the
//           lower `limb` bits and of those above, so that no addition carries; (3) copies and halves are added up
//           to the cells in global memory.
// Launch    groups of GROUP_WG work-items (SCAN_SERIAL: of one), `span` times GROUP_TILES tiles each: at most 2^(32-limb) rows.
// Local     4*GROUP_WORDS bytes, and without USE_GLOBAL 4*GROUP_CELLS.
// Bounds    columns are narrow: no code of a tile is above 2^32-1, its bits without the least code fit the field
//           (the host's, from the tiles); places*(1 + words of fields) << copies is at most GROUP_CELLS; tiles as in slice.cl.
#ifndef HEDDLE_SELECTION
#include "selection.cl"
#endif
#ifndef HEDDLE_COLUMN
#include "column.cl"
#endif
#ifndef USE_GLOBAL
#define USE_GLOBAL 0 // 1: cells do not fit local memory
#endif
#define GROUP_CELLS 3584
#if SCAN_SERIAL
#define GROUP_WG 1
#define GROUP_TILES 1
#define GROUP_BARRIER
#define GROUP_SHAPE
#else
#define GROUP_WG 128
#define GROUP_TILES (GROUP_WG / PARTS)
#define GROUP_BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define GROUP_SHAPE __attribute__((reqd_work_group_size(GROUP_WG, 1, 1)))
#endif
#define GROUP_WORDS (GROUP_TILES * SLICE_WORDS)

// Flags of a field.
#define FIELD_VALUES 1
#define FIELD_SUM 2
#define FIELD_GROUP 4 // a grouping
#define FIELD_LAST 8  // the last one

#if NV_SHUFFLE && defined(cl_khr_int64_base_atomics) // others have them in other forms, or not at all
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#define SUM_CELL(p, n) atom_add((volatile __global ulong *)(p), n)
#else
#define SUM_CELL(p, n) sum_all(p, 1, n)
#endif
#if SCAN_SERIAL
#define ADD_OWN(p, n) (*(p) += (n))
#else
#define ADD_OWN(p, n) atomic_add(p, n)
#endif

// Local cells lie plane by plane: rows, then what fields have, one copy beside the other.
#define OWN(plane, place) own[(((plane) * places + (place)) << copies) + copy]

#define EACH_ROW _Pragma("unroll") for (uint r = 0; r < 32; r++)

// slices_into puts the slices of word g of a tile into bits `first` on of the words of a square.
static inline void slices_into(slices_t t, uint first, uint g, uint *x) {
    uint rare[32], s = first_bit(t) + t.width - 1; // the slice of bit 0
    if (!(t.flags & FLAG_PLAIN))
        for (uint b = 0; b < t.width; b++)
            if (FORM_OF(entry_of(t, s - b)) == FORM_SPARSE)
                rare[first + b] = slice_word(t, s - b, g);
    EACH_ROW {
        if (r - first < t.width) {
            uint e = entry_of(t, s - (r - first)), form = FORM_OF(e);
            if (form == FORM_PLAIN)
                x[r] = ((__global const uint *)(t.words + START_OF(e)))[g];
            else
                x[r] = form == FORM_SPARSE ? rare[r] : form == FORM_ONES ? 0xffffffff : 0;
        }
    }
}

static inline void turn_square(uint *x) {
    TURN(16, 0x0000ffff)
    TURN(8, 0x00ff00ff)
    TURN(4, 0x0f0f0f0f)
    TURN(2, 0x33333333)
    TURN(1, 0x55555555)
}

GROUP_SHAPE
__kernel void code_groups(BUFFERS, __global const uint4 *restrict tiles, uint tile_count, uint row_count,
                          __global const uint4 *batch, __global const uint *restrict bits, volatile __global uint *counts, uint at,
                          uint cells_at, uint span, uint limb, uint copies) {
    __local uint chosen[GROUP_WORDS];
    uint lid = get_local_id(0), damaged = 0, loads = 0;
    uint4 shape = batch[at], selection = batch[at + 1];
    __global const uint4 *fields = batch + at + 4; // behind two steps of the selection
    uint places = shape.y, planes = shape.z;
    volatile __global uint *all = counts + cells_at;
#if !USE_GLOBAL
    __local uint own[GROUP_CELLS];
    uint copy = lid & ((1u << copies) - 1), cells = places * shape.w << copies;
    for (uint i = lid; i < cells; i += GROUP_WG)
        own[i] = 0;
#endif
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
        GROUP_BARRIER;
        for (uint w = lid; w < GROUP_WORDS; w += GROUP_WG) {
            uint set = chosen[w], g = w % SLICE_WORDS, x[32], place[32];
            if (set == 0)
                continue;
            EACH_ROW place[r] = 0;
#if !USE_GLOBAL
            uint plane = 1;
#endif
            #pragma unroll 1
            for (uint k = 0; k < shape.x; k++) {
                uint4 field = fields[2 * k], more = fields[2 * k + 1];
                if (field.w >> 8) {
                    EACH_ROW x[r] = 0;
                    #pragma unroll 1
                    for (uint j = 0; j < field.w >> 8; j++) {
                        uint4 one = fields[2 * (k + j)];
                        slices_into(slices_at(BUFFER_ARGS, tiles, one.x * tile_count + from + w / SLICE_WORDS), one.y, g, x);
                    }
                    turn_square(x);
                }
                slices_t t = slices_at(BUFFER_ARGS, tiles, field.x * tile_count + from + w / SLICE_WORDS);
                uint has = first_bit(t) ? set & slice_word(t, 0, g) : set, least = (uint)t.least, mask = low_mask(field.z);
                if (field.w & FIELD_GROUP) {
                    EACH_ROW {
                        uint code = (x[r] >> field.y & mask) + least, bit = has >> r & 1;
                        place[r] = place[r] * more.x + (bit ? code + 1 : 0);
                        if (bit && code > more.y) {
                            damaged++;
                            set &= ~(1u << r);
                        }
                    }
                    if (!(field.w & FIELD_LAST))
                        continue;
                    EACH_ROW
                        if (set >> r & 1) {
#if USE_GLOBAL
                            atomic_inc(all + place[r] * planes);
#else
                            ADD_OWN(&OWN(0, place[r]), 1);
#endif
                        }
                    continue;
                }
                if (field.w & FIELD_VALUES) {
                    EACH_ROW
                        if (has >> r & 1) {
#if USE_GLOBAL
                            atomic_inc(all + place[r] * planes + (more.x & 0xff));
#else
                            ADD_OWN(&OWN(plane, place[r]), 1);
#endif
                        }
#if !USE_GLOBAL
                    plane++;
#endif
                }
                if (field.w & FIELD_SUM) {
                    EACH_ROW
                        if (has >> r & 1) {
                            uint code = ((x[r] >> field.y & mask) + least) * more.z;
                            damaged += code > more.y;
#if USE_GLOBAL
                            SUM_CELL(all + place[r] * planes + (more.x >> 8), code);
#else
                            ADD_OWN(&OWN(plane, place[r]), code & low_mask(limb));
                            if (more.y >> limb)
                                ADD_OWN(&OWN(plane + 1, place[r]), code >> limb);
#endif
                        }
#if !USE_GLOBAL
                    plane += 1 + (more.y >> limb > 0);
#endif
                }
            }
        }
    }
    if (damaged)
        atomic_add(all + places * planes, damaged);
#if !USE_GLOBAL
    GROUP_BARRIER;
    for (uint place = lid; place < places; place += GROUP_WG) {
        uint rows = 0, plane = 1;
        volatile __global uint *cell = all + place * planes;
        for (copy = 0; copy < 1u << copies; copy++)
            rows += OWN(0, place);
        if (rows == 0)
            continue;
        atomic_add(cell, rows);
        for (uint k = 0; k < shape.x; k++) {
            uint flags = fields[2 * k].w;
            uint4 more = fields[2 * k + 1];
            if (flags & FIELD_VALUES) {
                uint n = 0;
                for (copy = 0; copy < 1u << copies; copy++)
                    n += OWN(plane, place);
                atomic_add(cell + (more.x & 0xff), n);
                plane++;
            }
            if (flags & FIELD_SUM) {
                ulong n = 0;
                for (copy = 0; copy < 1u << copies; copy++) {
                    n += OWN(plane, place);
                    if (more.y >> limb)
                        n += (ulong)OWN(plane + 1, place) << limb;
                }
                SUM_CELL(cell + (more.x >> 8), n);
                plane += 1 + (more.y >> limb > 0);
            }
        }
    }
#endif
}
